//! Writing down what came of an exchange, together with what it changes.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::catalog::Price;
use crate::domain::{
    AttemptRecord, Class, Deployment, Execution, Failure, Finish, Message, Redactor, RequestRecord, ToolCall, Usage,
    excerpt, printable,
};
use crate::ladder::{End, Skip};
use crate::policy::{Change, holds_now, returns_at};
use crate::validate::DECLINES;

/// How long the evidence in the store may be, in characters.
const EVIDENCE: usize = 240;

/// What came of a request, for the one who asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What the log keeps.
    pub record: RequestRecord,
    /// How it ended.
    pub end: End,
    /// Who gave the answer; also one that is not as asked, where it is handed out as it is.
    pub by: Option<Deployment>,
    /// The words of the answer, or what there is of them.
    pub text: String,
    /// The answer parsed, when a shape was asked for.
    pub parsed: Option<Value>,
    /// What the model thought, as far as it shows it.
    pub reasoning: String,
    /// The tools that the model wants to be run.
    pub tool_calls: Vec<ToolCall>,
    /// The answer as the assistant's turn, its thoughts with who made them, ready to be appended to the conversation.
    /// None when nobody answered. Of a stream that was shown as it came it holds no more of the words than is kept.
    pub message: Option<Message>,
    /// Why the answer ended.
    pub finish: Option<Finish>,
    /// Time to the first content of the attempt that answered.
    pub ttft: Option<Duration>,
    /// The steps that were not asked.
    pub skipped: Vec<Skip>,
    /// Whether its ladder was open, so that nobody was asked.
    pub turned_away: bool,
    /// Whether the reader closed the pipe before the end.
    pub consumer_gone: bool,
    /// Why the answer could not be checked, where that ended the request.
    pub trouble: Option<String>,
}

impl Report {
    /// One that ended so, without a word of an answer.
    pub(crate) fn wordless(record: RequestRecord, end: End) -> Self {
        Self {
            record,
            end,
            by: None,
            text: String::new(),
            parsed: None,
            reasoning: String::new(),
            tool_calls: Vec::new(),
            message: None,
            finish: None,
            ttft: None,
            skipped: Vec::new(),
            turned_away: false,
            consumer_gone: false,
            trouble: None,
        }
    }
}

/// The failure of a request that is told: the latest, for the one line that says why it ended.
#[derive(Clone)]
pub(super) struct Blame {
    /// Who failed; none when the request was at fault before anyone was asked.
    pub(super) deployment: Option<Deployment>,
    pub(super) class: Class,
    pub(super) evidence: String,
}

/// Until when the changes of one failure hold anything back.
pub(super) fn held_until(changes: &[Change], now: Timestamp) -> Option<Timestamp> {
    let records = changes.iter().filter_map(|change| change.record.as_ref());
    records.filter(|record| holds_now(record, now)).filter_map(returns_at).max()
}

/// What the tokens cost, in USD; none when the price or the tokens are not known.
pub(super) fn cost(price: Option<Price>, usage: &Usage) -> Option<f64> {
    let price = price?;
    let (input, output) = (usage.input_tokens?, usage.output_tokens?);
    let cached = usage.cached_tokens.unwrap_or(0).min(input);
    let fresh = (input - cached) as f64 * price.input;
    Some((fresh + cached as f64 * price.cached.unwrap_or(price.input) + output as f64 * price.output) / 1e6)
}

/// The failure with evidence that may be stored and shown: no secret, no control sequence, bounded.
pub(super) fn presentable(mut failure: Failure, redactor: &Redactor) -> Failure {
    failure.evidence = excerpt(&redactor.redact(&printable(&failure.evidence)), EVIDENCE);
    failure
}

/// Fills in what the failure says; `unsent` says that the request never left.
pub(super) fn note(attempt: &mut AttemptRecord, failure: &Failure, unsent: bool) {
    attempt.execution = Execution::of_failure(failure.class, attempt.status, unsent);
    attempt.class = Some(failure.class);
    attempt.scope = Some(failure.scope);
    attempt.dimension = failure.dimension;
    attempt.rule = Some(failure.rule.clone());
    attempt.evidence = Some(failure.evidence.clone());
}

/// Why the request failed, in one line. `unanswered` was being asked when the request was given up; it is named but not
/// blamed.
pub(super) fn reason(end: End, blame: Option<&Blame>, unanswered: Option<&Deployment>) -> Option<String> {
    let while_asking = |head: &str| match unanswered {
        Some(who) => format!("{head} while {who} was being asked"),
        None => head.to_owned(),
    };
    let with_last = |head: &str| match blame {
        Some(Blame { deployment: Some(who), class, evidence }) => format!("{head}: {who} says {class}: {evidence}"),
        Some(Blame { deployment: None, evidence, .. }) => format!("{head}: {evidence}"),
        None => head.to_owned(),
    };
    let text = match end {
        End::Answered { .. } => return None,
        End::Refused(Class::InvalidRequest) => with_last("the request is malformed"),
        End::Refused(Class::ContextOverflow) => with_last("the request is too large for every step"),
        End::Refused(Class::ContentPolicy) if blame.is_some_and(|blame| blame.evidence.starts_with(DECLINES)) => {
            with_last("the model refused to answer at every step")
        }
        End::Refused(Class::ContentPolicy) => with_last("a content filter refused the request at every step"),
        End::Refused(Class::Unknown) => with_last("stopped at a failure that is not understood"),
        End::Refused(_) => with_last("no step supports what the request asks for"),
        End::NoneAllowed => "no step may be asked for this request".to_owned(),
        End::WrongShape => with_last("answered, but never in the asked shape"),
        End::AsItIs => with_last("the answer is handed out as it is, and not as asked"),
        End::Rejected => with_last("stopped: the answer is not as asked, and `on_invalid` is \"fail\""),
        End::Deadline => while_asking("the deadline of the request passed"),
        End::Exhausted { .. } => "exhausted: every step is resting or failed just now".to_owned(),
        End::NeedsPerson => "exhausted: a person must act on all that is left".to_owned(),
        End::MayHaveRun => with_last("stopped: the request may have run, and `on_may_have_run` is \"stop\""),
        End::Partial => with_last("the stream broke after its first byte"),
        End::Interrupted => while_asking("interrupted"),
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_declines_is_no_filter() {
        let end = End::Refused(Class::ContentPolicy);
        let told = |evidence: &str| {
            let deployment = "a/m".parse().ok();
            let blame = Blame { deployment, class: Class::ContentPolicy, evidence: evidence.to_owned() };
            reason(end, Some(&blame), None).unwrap_or_default()
        };
        assert!(told("the model declines: Sorry").starts_with("the model refused to answer at every step: a/m says"));
        assert!(told("blocked by policy").starts_with("a content filter refused the request at every step"));
    }

    #[test]
    fn cached_tokens_cost_their_own_price() {
        let usage = Usage { input_tokens: Some(1_000_000), output_tokens: Some(500_000), cached_tokens: Some(400_000) };
        let price = Price { input: 2.0, output: 8.0, cached: Some(0.5) };
        assert_eq!(cost(Some(price), &usage), Some(0.6 * 2.0 + 0.4 * 0.5 + 4.0));
        assert_eq!(cost(None, &usage), None);
        assert_eq!(cost(Some(price), &Usage::default()), None);
    }
}
