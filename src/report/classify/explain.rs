//! Why a failure is what it is said to be, and what follows, in plain words.

use jiff::Timestamp;

use crate::classify::Explanation;
use crate::domain::{Class, Failure, LimitFacts, Provenance, ProviderName, ScopeLevel, printable};
use crate::report::moment::{distance, rfc3339};

use super::{Entry, place};

/// What was seen, every rule that matched, why the winner won, and what would be done next and until when.
pub(super) fn explained_text(entry: &Entry, now: Timestamp) -> String {
    let Explanation { failure, matches, reason, .. } = &entry.explanation;
    let mut out = format!("{}: {} ({})\n", place(entry), failure.class, failure.rule);
    out.push_str(&format!("  seen     {}\n", seen(entry)));
    out.push_str(&format!("  says     {}\n", failure.evidence));
    if let Some(figures) = figures(&failure.limits) {
        out.push_str(&format!("  figures  {figures}\n"));
    }
    for (at, one) in matches.iter().enumerate() {
        let label = if at == 0 { "rules" } else { "" };
        out.push_str(&format!(
            "  {label:<8} {:<8} {:<17} {:<30} by {}, {}\n",
            one.tier,
            one.class.as_str(),
            one.rule,
            by(&one.by),
            depth(one.depth)
        ));
    }
    out.push_str(&format!("  because  {reason}\n"));
    out.push_str(&format!("  next     {}\n", next(failure, now)));
    printable(&out)
}

fn by(by: &str) -> &str {
    if by.is_empty() { "what was seen as a whole" } else { by }
}

fn depth(depth: usize) -> String {
    match depth {
        0 => "outermost".to_owned(),
        1 => "in the error".to_owned(),
        more => format!("in the error, {more} deep"),
    }
}

/// Where it stood and what is known of the exchange.
fn seen(entry: &Entry) -> String {
    let Explanation { provider, status, .. } = &entry.explanation;
    let status = status.map_or_else(|| "no status".to_owned(), |status| format!("status {status}"));
    let provider = provider.as_ref().map(ProviderName::as_str);
    let whose = provider.map_or_else(|| "from a provider that nothing names".to_owned(), |name| format!("from {name}"));
    let lines = match entry.end_line > entry.line {
        true => format!("lines {} to {}", entry.line, entry.end_line),
        false => format!("line {}", entry.line),
    };
    format!("{status} {whose}, on {lines}")
}

fn figures(limits: &LimitFacts) -> Option<String> {
    let named = [
        ("limit", limits.limit),
        ("used", limits.used),
        ("requested", limits.requested),
        ("remaining", limits.remaining),
    ];
    let said: Vec<String> =
        named.iter().filter_map(|(name, figure)| figure.map(|figure| format!("{name} {figure}"))).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// What is done next, for whom, and until when.
fn next(failure: &Failure, now: Timestamp) -> String {
    let what = scope(failure.scope);
    let until = match (failure.retry_at, failure.provenance) {
        (Some(at), provenance) => {
            Some(format!("until {} ({}, {})", rfc3339(at), distance(at, now), who(failure, provenance)))
        }
        (None, _) => None,
    };
    let or = |usual: &str| until.clone().unwrap_or_else(|| usual.to_owned());
    match failure.class {
        Class::RateLimit => format!(
            "rest {what} {}; the next step takes the request",
            or("for a guessed 5 s, doubling while it goes on")
        ),
        Class::QuotaExhausted => format!(
            "rest {what} {}, with a rare probe before; the next step takes the request",
            or("for a guessed hour, doubling to a day")
        ),
        Class::Billing => format!(
            "rest {what} until a person pays or `llmr reset`, with a probe after 6 h; the next step takes the request"
        ),
        Class::Auth => format!(
            "rest {what} until the key changes or `llmr reset`, with rare probes; the next step takes the request"
        ),
        Class::Permission => format!(
            "rest {what} until the config changes or `llmr reset`, with a daily probe; the next step takes the request"
        ),
        Class::ModelUnavailable => format!(
            "rest {what} until the config changes or `llmr reset`, with a daily probe; the key stays good for other models"
        ),
        Class::Overloaded | Class::ServerError | Class::Timeout | Class::Network => format!(
            "count it towards the breaker of {what}; one retry if the budget allows{}, then the next step",
            failure.retry_at.map_or_else(String::new, |at| format!(" and not before {}", rfc3339(at)))
        ),
        Class::ContextOverflow => "hold nothing; a step with a larger window takes the request".to_owned(),
        Class::ContentPolicy => "hold nothing; another model takes the request, never this one again".to_owned(),
        Class::Unsupported => "hold nothing; a step that has the feature takes the request".to_owned(),
        Class::InvalidOutput => "hold nothing; one repair on the same deployment, then the next step".to_owned(),
        Class::InvalidRequest => "hold nothing and stop: it would fail everywhere".to_owned(),
        Class::Unknown => "hold nothing, count it and show it; a 4xx stops, anything else goes on".to_owned(),
    }
}

fn scope(scope: ScopeLevel) -> &'static str {
    match scope {
        ScopeLevel::Request => "this request",
        ScopeLevel::Model => "this model on this key",
        ScopeLevel::Credential => "this key",
        ScopeLevel::Account => "all keys of the account",
        ScopeLevel::Provider => "the provider",
        ScopeLevel::Region => "the region",
    }
}

fn who(failure: &Failure, provenance: Provenance) -> String {
    let source = failure.reset_source.as_ref().map(ToString::to_string).unwrap_or_default();
    match provenance {
        Provenance::Fact => format!("the {source} says so"),
        Provenance::Documented => "the provider's reset clock".to_owned(),
        Provenance::Guess => "a guess".to_owned(),
        Provenance::Operator => "your rule".to_owned(),
    }
}
