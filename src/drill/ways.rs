//! The ways in which a provider fails, in the words of its own wire.

use serde_json::{Value, json};

use crate::catalog::Wire;
use crate::domain::Usage;
use crate::rehearsal::Reply;

/// How a provider fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// What the account may use in a day is used.
    DailyQuota,
    /// The key is no longer known.
    DeadKey,
    /// Nothing is paid.
    EmptyWallet,
    /// It is overloaded and says so.
    Overloaded,
    /// It has an error of its own.
    ServerError,
    /// It takes the request and says nothing.
    Hang,
    /// It resets the connection.
    Reset,
    /// It says 200, and the body is an error.
    ErrorIn200,
    /// It closes the connection in the middle of a stream.
    CutStream,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::DailyQuota,
        Self::DeadKey,
        Self::EmptyWallet,
        Self::Overloaded,
        Self::ServerError,
        Self::Hang,
        Self::Reset,
        Self::ErrorIn200,
        Self::CutStream,
    ];

    /// The name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DailyQuota => "daily quota",
            Self::DeadKey => "dead key",
            Self::EmptyWallet => "empty wallet",
            Self::Overloaded => "overloaded",
            Self::ServerError => "500",
            Self::Hang => "hang",
            Self::Reset => "reset",
            Self::ErrorIn200 => "error in a 200",
            Self::CutStream => "cut stream",
        }
    }

    /// What it says on the wire.
    pub(super) fn reply(self, wire: Wire) -> Reply {
        match self {
            Self::Hang => Reply::Hang,
            Self::Reset => Reply::Reset,
            Self::ErrorIn200 => Reply::ErrorEvent { chunks: Vec::new(), error: Value::Null },
            Self::CutStream => Reply::CutStream { chunks: vec!["It is ".to_owned(), "almost".to_owned()] },
            Self::DailyQuota => daily_quota(wire),
            Self::DeadKey => dead_key(wire),
            Self::EmptyWallet => empty_wallet(wire),
            Self::Overloaded => overloaded(wire),
            Self::ServerError => server_error(wire),
        }
    }
}

/// A good answer of an ordinary length.
pub(super) fn answer() -> Reply {
    let usage = Usage { input_tokens: Some(400), output_tokens: Some(200), cached_tokens: None };
    Reply::Answer {
        text: "Noon.".to_owned(),
        reasoning: None,
        tool_calls: Vec::new(),
        finish: None,
        usage: Some(usage),
        headers: Default::default(),
    }
}

fn daily_quota(wire: Wire) -> Reply {
    let said = match wire {
        Wire::OpenAi => json!({"error": {
            "message": "Rate limit reached on requests per day (RPD): Limit 1000, Used 1000, Requested 1.",
            "type": "requests", "code": "rate_limit_exceeded",
        }}),
        Wire::Anthropic => {
            anthropic("rate_limit_error", "Number of request tokens has exceeded your daily rate limit.")
        }
        Wire::Gemini => json!({"error": {
            "code": 429, "status": "RESOURCE_EXHAUSTED",
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{
                "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
            }]}],
        }}),
    };
    Reply::status(429, said)
}

fn dead_key(wire: Wire) -> Reply {
    match wire {
        Wire::OpenAi => {
            Reply::status(401, openai("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"))
        }
        Wire::Anthropic => Reply::status(401, anthropic("authentication_error", "invalid x-api-key")),
        Wire::Gemini => Reply::status(
            400,
            json!({"error": {
                "code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid. Please pass a valid API key.",
                "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
            }}),
        ),
    }
}

fn empty_wallet(wire: Wire) -> Reply {
    match wire {
        Wire::OpenAi => Reply::status(402, openai("Insufficient Balance", "unknown_error", "invalid_request_error")),
        Wire::Anthropic => Reply::status(
            400,
            anthropic(
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or \
             purchase credits.",
            ),
        ),
        Wire::Gemini => Reply::status(402, gemini(402, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.")),
    }
}

fn overloaded(wire: Wire) -> Reply {
    match wire {
        Wire::OpenAi => Reply::status(
            503,
            openai(
                "The server is currently overloaded with other requests. Sorry about that! You can retry your request.",
                "server_error",
                "server_overloaded",
            ),
        ),
        Wire::Anthropic => Reply::status(529, anthropic("overloaded_error", "Overloaded")),
        Wire::Gemini => {
            Reply::status(503, gemini(503, "UNAVAILABLE", "The model is overloaded. Please try again later."))
        }
    }
}

fn server_error(wire: Wire) -> Reply {
    let said = match wire {
        Wire::OpenAi => {
            openai("The server had an error while processing your request.", "server_error", "internal_error")
        }
        Wire::Anthropic => anthropic("api_error", "Internal server error"),
        Wire::Gemini => gemini(500, "INTERNAL", "An internal error has occurred."),
    };
    Reply::status(500, said)
}

fn openai(message: &str, kind: &str, code: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn anthropic(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn gemini(code: u16, status: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message, "status": status}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::classify::Classifier;
    use crate::domain::{Class, Evidence};

    /// A way that is taken for something else would drill something else.
    #[test]
    fn each_wire_says_what_is_meant() {
        let catalog = Catalog::builtin().expect("the catalogue");
        let classifier = Classifier::new(Vec::new());
        let now = "2026-08-23T03:00:00Z".parse().expect("a time");
        for (way, class) in [
            (Way::DailyQuota, Class::QuotaExhausted),
            (Way::DeadKey, Class::Auth),
            (Way::EmptyWallet, Class::Billing),
            (Way::Overloaded, Class::Overloaded),
            (Way::ServerError, Class::ServerError),
        ] {
            for (wire, provider) in [(Wire::OpenAi, "lab"), (Wire::Anthropic, "anthropic"), (Wire::Gemini, "gemini")] {
                let Reply::Status { status, body, .. } = way.reply(wire) else { panic!("{way:?} has no status") };
                let evidence = Evidence {
                    status: Some(status),
                    body: body.to_string(),
                    provider: Some(provider.into()),
                    ..Evidence::default()
                };
                let failure = classifier.classify(&evidence, &catalog, now);
                assert_eq!(failure.class, class, "{way:?} of {wire:?}: {}", failure.rule);
            }
        }
    }
}
