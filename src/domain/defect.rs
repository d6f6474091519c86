//! What is wrong with an answer, and whether one came at all.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::deployment::ParseNameError;
use super::failure::{Class, words};

words! {
    /// What is wrong with an answer that is not as asked. Each but the last is a rule `answer.WORD` of those that judge
    /// answers.
    Defect("defect of an answer") {
        /// There are no words in it.
        Empty = "empty",
        /// It ends in the middle.
        Truncated = "truncated",
        /// It is no JSON.
        NotJson = "not_json",
        /// Its JSON is not that of the schema.
        Schema = "schema",
        /// It is prose where JSON was asked for.
        Prose = "prose",
        /// It has more than one answer in it.
        Several = "several",
        /// It is the text of an error.
        ErrorText = "error_text",
        /// It goes round in circles.
        Repetition = "repetition",
        /// The model will not.
        Refusal = "refusal",
        /// A filter ended it.
        Filtered = "filtered",
        /// A check of its meaning failed.
        Check = "check",
        /// A program that checks it was not content.
        CheckCommand = "check_command",
        /// It is not sure enough of itself.
        Confidence = "confidence",
        /// Anything else, by the words of a client or a provider.
        Other = "other",
    }
}

impl Defect {
    /// What is wrong with the answer of an exchange; none when none came that was judged. A refusal or a filtered answer is
    /// of another class, and no answer as asked either.
    pub fn found(class: Option<Class>, rule: Option<&str>) -> Option<Self> {
        let rule = rule.unwrap_or_default();
        let is_judged = class == Some(Class::InvalidOutput) || (class.is_some() && rule.starts_with("answer."));
        is_judged.then(|| Self::of_rule(rule))
    }

    /// What the rule that found it stands for.
    pub fn of_rule(rule: &str) -> Self {
        rule.strip_prefix("answer.").and_then(|word| word.parse().ok()).unwrap_or(Self::Other)
    }

    /// The name of its rule, as figures have it.
    pub fn rule(self) -> String {
        if self == Self::Other { self.as_str().to_owned() } else { format!("answer.{self}") }
    }
}

/// Whether an exchange that was not given up came back whole, whatever was in it: it was answered, or it failed with a
/// status of success, and not on its way. An answer that was found invalid has no status where a client of its own only told
/// what was wrong with it; but a provider that checks shapes itself says so with a status of failure, and sends no answer.
pub fn came_whole(class: Option<Class>, status: Option<u16>) -> bool {
    let is_success = |status: u16| (200..300).contains(&status);
    match class {
        None => true,
        Some(Class::InvalidOutput) => status.is_none_or(is_success),
        Some(Class::Network | Class::Timeout) => false,
        Some(_) => status.is_some_and(is_success),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defect_is_known_by_its_rule() {
        for defect in Defect::ALL {
            assert_eq!(Defect::of_rule(&defect.rule()), *defect);
        }
        for rule in ["words.answer_unreadable", "answer.", "answer.of_tomorrow", ""] {
            assert_eq!(Defect::of_rule(rule), Defect::Other, "{rule}");
        }
    }

    #[test]
    fn an_answer_that_was_judged_has_a_defect_whatever_its_class() {
        let (invalid, policy) = (Some(Class::InvalidOutput), Some(Class::ContentPolicy));
        for (class, rule, defect) in [
            (invalid, Some("answer.schema"), Some(Defect::Schema)),
            (invalid, None, Some(Defect::Other)),
            (policy, Some("answer.refusal"), Some(Defect::Refusal)),
            (policy, Some("words.filtered"), None),
            (None, Some("answer.schema"), None),
            (Some(Class::Timeout), None, None),
        ] {
            assert_eq!(Defect::found(class, rule), defect, "{class:?} {rule:?}");
        }
    }

    #[test]
    fn what_came_whole_is_a_success_of_the_transport() {
        for (class, status, whole) in [
            (None, Some(200), true),
            (None, None, true),
            (Some(Class::InvalidOutput), Some(200), true),
            (Some(Class::InvalidOutput), None, true),
            // Groq's `json_validate_failed`.
            (Some(Class::InvalidOutput), Some(400), false),
            (Some(Class::InvalidOutput), Some(502), false),
            (Some(Class::ContentPolicy), Some(200), true),
            (Some(Class::Overloaded), Some(200), true),
            (Some(Class::Network), Some(200), false),
            (Some(Class::Timeout), Some(200), false),
            (Some(Class::RateLimit), Some(429), false),
            (Some(Class::ServerError), Some(503), false),
            (Some(Class::Network), None, false),
        ] {
            assert_eq!(came_whole(class, status), whole, "{class:?} {status:?}");
        }
    }
}
