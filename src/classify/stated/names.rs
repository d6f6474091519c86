//! Names of headers, read as words.
//!
//! `x-ratelimit-remaining-tokens-day`, `anthropic-ratelimit-input-tokens-limit` and `x-ratelimit-minute-reset` say the
//! same things in other orders, so order does not matter: one word says what is stated, others of which unit, in which
//! window, and whose. A word that is not known could mean anything (a model, a service, a price), so its header is left
//! alone.

use super::unit::{MINUTE, Unit, window_of_word};

/// What the value of a header is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// The limit.
    Limit,
    /// What is left.
    Remaining,
    /// What was used.
    Used,
    /// When it is back.
    Reset,
    /// How long the window is.
    Window,
}

/// A name that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// What the value is.
    pub(super) field: Field,
    /// What is counted; none when the name does not say.
    pub(super) unit: Option<Unit>,
    /// In which window, in seconds, when the name says it.
    pub(super) window: Option<u64>,
    /// In which window the whole family counts.
    pub(super) usual: Option<u64>,
    /// Which of several limits of one kind: of the project, of uncached tokens.
    pub(super) which: String,
}

/// Families whose names hold no word for a limit, or whose window is known, in seconds.
const FAMILIES: &[(&str, Option<u64>)] = &[
    ("anthropic-ratelimit-", Some(MINUTE)),
    ("x-trial-endpoint-call-", Some(MINUTE)),
    ("x-endpoint-monthly-call-", None),
    ("x-codex-", None),
];

/// The longest name that is read.
const LONGEST: usize = 80;

/// Whether a header of that name, in any case, may state a limit. Quick, because every header of every answer is asked.
pub(super) fn may_state(name: &str) -> bool {
    let bytes = name.as_bytes();
    let limits = bytes.windows(5).any(|part| part.eq_ignore_ascii_case(b"limit"));
    let starts =
        |family: &str| bytes.get(..family.len()).is_some_and(|head| head.eq_ignore_ascii_case(family.as_bytes()));
    bytes.len() <= LONGEST && (limits || FAMILIES.iter().any(|(family, _)| starts(family)))
}

/// Reads a name in lower case; none when it names no limit, or holds a word that is not known.
pub(super) fn read(name: &str) -> Option<Name> {
    let family = FAMILIES.iter().find(|(family, _)| name.starts_with(family));
    let mut known = family.is_some();
    let mut field = None;
    let mut read = Name {
        field: Field::Limit,
        unit: None,
        window: None,
        usual: family.and_then(|family| family.1),
        which: String::new(),
    };
    let mut before = "";
    for word in name.split(['-', '_']) {
        match word {
            "x" | "rate" | "anthropic" | "per" | "after" | "in" | "at" => {}
            "limit" if before == "rate" => known = true,
            "ratelimit" => known = true,
            "ratelimitbysize" | "tokenlimit" => {
                known = true;
                read.unit = Some(Unit::Tokens);
            }
            "input" | "prompt" => read.unit = Some(Unit::Input),
            "output" | "generated" | "completion" => read.unit = Some(Unit::Output),
            "window" | "period" | "renewalperiod" => field = Some(Field::Window),
            "limit" => field = field.or(Some(Field::Limit)),
            "remaining" | "left" => field = Some(Field::Remaining),
            "used" => field = Some(Field::Used),
            "reset" | "resets" | "timeremaining" => field = Some(Field::Reset),
            "project" | "org" | "organization" | "key" | "model" | "team" | "user" | "account" | "global" | "total"
            | "usage" | "based" | "uncached" | "cached" | "cache" | "adjusted" | "endpoint" | "trial" => {
                read.which.push_str(word);
            }
            other => match (window_of_word(other), Unit::of_word(other)) {
                (Some(window), _) => read.window = Some(window),
                (_, Some(unit)) => read.unit = Some(read.unit.map_or(unit, |own| own.and(unit))),
                _ => return None,
            },
        }
        before = word;
    }
    read.field = field.filter(|_| known)?;
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::stated::unit::{DAY, MONTH};

    #[test]
    fn words_are_read_in_any_order() {
        let told = |name: &str| read(name).map(|name| (name.field, name.unit, name.window.or(name.usual)));
        for (name, wanted) in [
            ("x-ratelimit-limit-requests", Some((Field::Limit, Some(Unit::Requests), None))),
            ("x-ratelimit-remaining-tokens-day", Some((Field::Remaining, Some(Unit::Tokens), Some(DAY)))),
            ("x-ratelimit-limit-req-minute", Some((Field::Limit, Some(Unit::Requests), Some(MINUTE)))),
            ("x-ratelimit-minute-reset", Some((Field::Reset, None, Some(MINUTE)))),
            ("anthropic-ratelimit-input-tokens-limit", Some((Field::Limit, Some(Unit::Input), Some(MINUTE)))),
            ("x-ratelimit-limit-tokens-generated", Some((Field::Limit, Some(Unit::Output), None))),
            ("x-ratelimit-renewalperiod-tokens", Some((Field::Window, Some(Unit::Tokens), None))),
            ("x-ratelimit-limit-window", Some((Field::Window, None, None))),
            ("x-rate-limit-limit", Some((Field::Limit, None, None))),
            ("x-ratelimit-limit-concurrent-requests", Some((Field::Limit, Some(Unit::Concurrency), None))),
            ("x-tokenlimit-remaining", Some((Field::Remaining, Some(Unit::Tokens), None))),
            ("x-endpoint-monthly-call-limit", Some((Field::Limit, Some(Unit::Requests), Some(MONTH)))),
            ("x-trial-endpoint-call-remaining", Some((Field::Remaining, Some(Unit::Requests), Some(MINUTE)))),
            ("ratelimit-reset", Some((Field::Reset, None, None))),
            ("x-ratelimit-tokens-query-cost", None),
            ("x-ratelimit-limit-gpt5", None),
            ("x-request-limit", None),
            ("x-ratelimit-exceeded", None),
            ("retry-after", None),
            ("", None),
        ] {
            assert_eq!(told(name), wanted, "{name}");
        }
    }

    #[test]
    fn few_headers_are_looked_at() {
        for (name, may) in [
            ("X-RateLimit-Limit", true),
            ("X-CODEX-primary-used-percent", true),
            ("x-trial-endpoint-call-remaining", true),
            ("content-type", false),
            ("é", false),
        ] {
            assert_eq!(may_state(name), may, "{name}");
        }
        assert!(!may_state(&"limit-".repeat(1000)));
    }
}
