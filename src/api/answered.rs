//! What came of a request: the answer, or why there is none, and who was asked on the way.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::domain::{
    AttemptKind, AttemptRecord, Class, Deployment, Finish, LadderName, Message, Provenance, RequestId, Role, ToolCall,
    Usage,
};
use crate::ladder::{End, Skip};
use crate::route::Report;
use crate::session::was_as_it_is;
use crate::store::{Store, Talk};
use crate::validate::json_in;

use super::error::Error;
use super::session::{Turn, turns};
use super::tool::ToolRun;

/// An answer, and the way to it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answered {
    /// The id under which the log has it.
    pub request_id: RequestId,
    /// The ladder that was walked.
    pub ladder: LadderName,
    /// The words.
    pub text: String,
    /// The answer parsed, where a shape was asked for.
    pub parsed: Option<Value>,
    /// What the model thought, as far as it shows it.
    pub reasoning: String,
    /// The calls of tools in the answer itself: those that nobody ran.
    pub tool_calls: Vec<ToolCall>,
    /// The tools that were run on the way, in order.
    pub tools: Vec<ToolRun>,
    /// Why the answer ended, where the provider says it.
    pub finish: Option<Finish>,
    /// Who answered.
    pub deployment: Deployment,
    /// At which step of the ladder; 0 is the first.
    pub step: usize,
    /// Tokens over all attempts.
    pub usage: Usage,
    /// What all attempts cost, in USD, as far as prices are known.
    pub cost_usd: Option<f64>,
    /// How long the whole request took.
    pub latency: Duration,
    /// How long the attempt that answered took to its first content.
    pub ttft: Option<Duration>,
    /// All exchanges in their order; the last one that did not fail gave the answer.
    pub attempts: Vec<Attempt>,
    /// The steps that were not asked, and why.
    pub skipped: Vec<Skipped>,
    turn: Message,
}

impl Answered {
    /// The answer as a turn of a conversation, with the thoughts that its maker wants back.
    pub fn message(&self) -> Message {
        self.turn.clone()
    }

    /// The attempts that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|attempt| attempt.class.is_some())
    }
}

impl fmt::Display for Answered {
    /// The words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// No answer as asked. It reads as one line; the trail stands in `attempts` and `skipped`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Unanswered {
    /// The id under which the log has it.
    pub request_id: RequestId,
    /// The ladder that was walked.
    pub ladder: LadderName,
    /// How it ended.
    pub ending: Ending,
    /// The same in words.
    pub message: String,
    /// When the first step returns, as far as anyone knows.
    pub retry_at: Option<Timestamp>,
    /// What there is of the words, where a stream broke or the shape was wrong.
    pub text: String,
    /// The tools that were run on the way, in order. In a conversation none of them is run again.
    pub tools: Vec<ToolRun>,
    /// All exchanges in their order.
    pub attempts: Vec<Attempt>,
    /// The steps that were not asked, and why.
    pub skipped: Vec<Skipped>,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.retry_at {
            Some(at) => write!(f, "; the first step returns at {at}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Unanswered {}

/// How a request ended that was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Every step is resting or failed just now; some return by themselves.
    Exhausted,
    /// A person must act on all that is left: keys, billing, permissions.
    NeedsPerson,
    /// The request itself was refused: it is malformed, too large or filtered everywhere, or nobody understands the
    /// failure.
    Refused(Class),
    /// What the request demands rules every step out.
    NoneAllowed,
    /// Answered, but never in the asked shape.
    WrongShape,
    /// The deadline passed.
    Deadline,
    /// The provider may have done the work, and the config wants nobody else to do it again.
    MayHaveRun,
    /// The stream broke after its first words, and the config's policy is to say so.
    Partial,
    /// It was stopped.
    Interrupted,
}

/// One exchange with a deployment.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Attempt {
    /// Who was asked.
    pub deployment: Deployment,
    /// Its step in the ladder; 0 is the first.
    pub step: usize,
    /// Why it was asked.
    pub kind: AttemptKind,
    /// What went wrong; none when it was answered or given up.
    pub class: Option<Class>,
    /// The HTTP status, when one came.
    pub status: Option<u16>,
    /// Which rule said what went wrong.
    pub rule: Option<String>,
    /// What the rule saw: redacted, bounded, printable.
    pub evidence: Option<String>,
    /// When it was sent.
    pub started_at: Timestamp,
    /// How long it took.
    pub latency: Duration,
    /// Until when the deployment, or more than it, is not asked because of this.
    pub held_until: Option<Timestamp>,
    /// Tokens.
    pub usage: Usage,
    /// USD.
    pub cost_usd: Option<f64>,
}

impl fmt::Display for Attempt {
    /// `groq/llama@team: quota_exhausted (429), held until 2026-08-24T00:00:00Z: the words`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(class) = self.class else { return write!(f, "{}: answered", self.deployment) };
        write!(f, "{}: {class}", self.deployment)?;
        if let Some(status) = self.status {
            write!(f, " ({status})")?;
        }
        if let Some(until) = self.held_until {
            write!(f, ", held until {until}")?;
        }
        match self.evidence.as_deref().unwrap_or_default() {
            "" => Ok(()),
            evidence => write!(f, ": {evidence}"),
        }
    }
}

/// A step that was not asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Skipped {
    /// Who would have been asked.
    pub deployment: Deployment,
    /// Its step in the ladder; 0 is the first.
    pub step: usize,
    /// Why it was not, in one word for programs, as `llmr plan --json` has it.
    pub word: &'static str,
    /// The same in words.
    pub reason: String,
    /// When that ends by itself.
    pub until: Option<Timestamp>,
    /// How the end is known.
    pub provenance: Option<Provenance>,
}

impl fmt::Display for Skipped {
    /// `groq/llama@team: quota_exhausted (quarantine), until 2026-08-24T00:00:00Z`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.deployment, self.reason)?;
        match self.until {
            Some(until) => write!(f, ", until {until}"),
            None => Ok(()),
        }
    }
}

impl From<&AttemptRecord> for Attempt {
    fn from(record: &AttemptRecord) -> Self {
        Self {
            deployment: record.deployment.clone(),
            step: usize::try_from(record.step).unwrap_or(usize::MAX),
            kind: record.kind,
            class: record.class,
            status: record.status,
            rule: record.rule.clone(),
            evidence: record.evidence.clone(),
            started_at: record.started_at,
            latency: record.latency,
            held_until: record.held_until,
            usage: record.usage,
            cost_usd: record.cost_usd,
        }
    }
}

impl From<&Skip> for Skipped {
    fn from(skip: &Skip) -> Self {
        let Skip { step, deployment, reason, until, provenance } = skip.clone();
        Self { deployment, step, word: reason.word(), reason: reason.to_string(), until, provenance }
    }
}

/// The report of the driver, for who asked, and the tools that were run for it.
pub(super) fn told(report: Report, tools: Vec<ToolRun>) -> Result<Answered, Error> {
    if let Some(message) = report.trouble {
        return Err(Error::Check { message });
    }
    let attempts = report.record.attempts.iter().map(Attempt::from).collect();
    let skipped = report.skipped.iter().map(Skipped::from).collect();
    let Report { record, end, text, parsed, reasoning, tool_calls, finish, ttft, message: turn, .. } = report;
    let ending = match (end, record.deployment) {
        (End::Answered { step }, Some(deployment)) => {
            return Ok(Answered {
                request_id: record.id,
                ladder: record.ladder,
                text,
                parsed,
                reasoning,
                tool_calls,
                tools,
                finish,
                deployment,
                step,
                usage: record.usage,
                cost_usd: record.cost_usd,
                latency: record.latency,
                ttft,
                attempts,
                skipped,
                turn: turn.unwrap_or_else(|| Message { role: Role::Assistant, parts: Vec::new() }),
            });
        }
        (end, _) => ending(end),
    };
    let message = record.error.unwrap_or_else(|| "there is no answer".to_owned());
    let (request_id, ladder, retry_at) = (record.id, record.ladder, record.retry_at);
    let unanswered = Unanswered { request_id, ladder, ending, message, retry_at, text, tools, attempts, skipped };
    Err(Error::Unanswered(Box::new(unanswered)))
}

/// The answer that a conversation ends with, which was never told to who asked. Of the way to it only the log knows.
///
/// # Errors
/// When it is not as asked and was handed out all the same, or what is kept cannot be read.
pub(super) fn kept(talk: &Talk, store: &dyn Store, schema: Option<&Value>) -> Result<Option<Answered>, Error> {
    let Some(Turn { message, from: Some(deployment), request_id }) = turns(talk)?.pop() else { return Ok(None) };
    let ladder = talk.session.settings.ladder.clone().unwrap_or_else(|| LadderName::new(""));
    let text = message.words();
    if was_as_it_is(store, request_id.as_ref())? {
        return Err(Error::Unanswered(Box::new(Unanswered {
            request_id: request_id.unwrap_or_else(|| RequestId::new("")),
            ladder,
            ending: Ending::WrongShape,
            message: "the answer is not as it was asked for".to_owned(),
            retry_at: None,
            text,
            tools: Vec::new(),
            attempts: Vec::new(),
            skipped: Vec::new(),
        })));
    }
    Ok(Some(Answered {
        request_id: request_id.unwrap_or_else(|| RequestId::new("")),
        ladder,
        parsed: schema.and_then(|schema| json_in(&text, schema)).map(|(value, _)| value),
        text,
        reasoning: String::new(),
        tool_calls: Vec::new(),
        tools: Vec::new(),
        finish: None,
        deployment,
        step: 0,
        usage: Usage::default(),
        cost_usd: None,
        latency: Duration::ZERO,
        ttft: None,
        attempts: Vec::new(),
        skipped: Vec::new(),
        turn: message,
    }))
}

const fn ending(end: End) -> Ending {
    match end {
        End::Exhausted { .. } => Ending::Exhausted,
        End::NeedsPerson => Ending::NeedsPerson,
        End::Refused(class) => Ending::Refused(class),
        End::NoneAllowed => Ending::NoneAllowed,
        End::WrongShape | End::AsItIs | End::Rejected => Ending::WrongShape,
        End::Deadline => Ending::Deadline,
        End::MayHaveRun => Ending::MayHaveRun,
        End::Partial => Ending::Partial,
        // An answer has who gave it.
        End::Interrupted | End::Answered { .. } => Ending::Interrupted,
    }
}
