//! For programs that make their own calls: whether one may be made, and what came of it.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{Class, Deployment, Evidence, Provenance, RequestId, Target, TransportFault, Usage};
use crate::host::Reported;
use crate::policy::{HoldRecord, Tightness, Versioned};
use crate::route::{Written, passes_at};

/// A call that you want to make yourself. The name of the deployment alone will do where one is wanted.
#[derive(Debug, Clone)]
#[must_use]
pub struct Call {
    pub(super) to: String,
    pub(super) tokens: u32,
    pub(super) lease: Duration,
}

/// How long a call may take whose owner does not say.
const LEASE: Duration = Duration::from_secs(120);

/// A lease that ends later would be taken for one of a clock that was wrong.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

impl Call {
    /// A call to `provider/model`, with any of its credentials, or `provider/model@credential`.
    pub fn to(deployment: impl Into<String>) -> Self {
        Self { to: deployment.into(), tokens: 0, lease: LEASE }
    }

    /// How many tokens it will use, prompt and answer together; for limits that count tokens.
    pub fn tokens(mut self, tokens: u32) -> Self {
        self.tokens = tokens;
        self
    }

    /// How long it may take, at most 24 hours; two minutes if nothing is said. Then the next probe passes, and it counts no
    /// longer as under way.
    pub fn lease(mut self, length: Duration) -> Self {
        self.lease = length.min(LONGEST);
        self
    }
}

impl From<&str> for Call {
    fn from(deployment: &str) -> Self {
        Self::to(deployment)
    }
}

impl From<&Deployment> for Call {
    fn from(deployment: &Deployment) -> Self {
        Self::to(deployment.to_string())
    }
}

/// Whether the call may be made. There are these two and no third.
#[derive(Debug)]
pub enum Admission {
    /// It may; say what came of it with [`Router::record_outcome`](super::Router::record_outcome).
    Go(Pass),
    /// It may not.
    Held(Held),
}

/// Leave to make one call. What came of it is told once; a pass that is dropped ends with its lease.
#[derive(Debug)]
#[must_use = "say what came of the call with `record_outcome`"]
pub struct Pass {
    pub(super) target: Target,
    pub(super) id: RequestId,
    pub(super) until: Timestamp,
    pub(super) is_probe: bool,
}

impl Pass {
    /// Whom to call.
    pub fn deployment(&self) -> &Deployment {
        &self.target.deployment
    }

    /// The id under which the log will have the call.
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// When the leave ends.
    pub fn until(&self) -> Timestamp {
        self.until
    }

    /// Whether it is the one call that a hold lets through; all others wait for what comes of it.
    pub fn is_probe(&self) -> bool {
        self.is_probe
    }
}

/// Why the call may not be made now.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Held {
    /// Who would be called; of several the one that returns first.
    pub deployment: Deployment,
    /// When asking again can help; none when only a person knows.
    pub until: Option<Timestamp>,
    /// Why, in words.
    pub why: String,
    /// The failure behind it; none where a limit is too near, or a person holds it.
    pub class: Option<Class>,
    /// How the time is known.
    pub provenance: Provenance,
    /// Whether a person must act.
    pub needs_person: bool,
}

impl Held {
    pub(super) fn by_hold(deployment: Deployment, by: &Versioned, now: Timestamp) -> Self {
        let record: &HoldRecord = &by.record;
        let said = match record.evidence() {
            "" => String::new(),
            said => format!(": {said}"),
        };
        let by_hand = record.is_by_hand();
        let head = if by_hand { "held by hand".to_owned() } else { format!("{} {}", record.class(), record.kind()) };
        Self {
            deployment,
            until: passes_at(record, now),
            why: format!("{head}{said}"),
            class: (!by_hand).then(|| record.class()),
            provenance: record.provenance(),
            needs_person: by_hand || record.needs_a_person(),
        }
    }

    pub(super) fn by_limit(deployment: Deployment, tight: &Tightness) -> Self {
        let (why, provenance) = (tight.to_string(), tight.provenance);
        Self { deployment, until: tight.until, why, class: None, provenance, needs_person: false }
    }
}

/// What came of a call that you made.
///
/// ```
/// use llmr::Outcome;
///
/// let failed = Outcome::reply(429, [("retry-after", "7")], r#"{"error": {"message": "slow down"}}"#);
/// let answered = Outcome::answered().tokens(120, 80);
/// # drop((failed, answered));
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Outcome(pub(super) Reported);

impl Outcome {
    /// An answer that was good, by your own judgement.
    pub fn answered() -> Self {
        Self(Reported { status: Some(200), ..Reported::default() })
    }

    /// A reply as it came, whatever it was: it is judged like one of the router's own. A 200 that holds an error, or
    /// nothing, is a failure.
    pub fn reply<N: Into<String>, V: Into<String>>(
        status: u16,
        headers: impl IntoIterator<Item = (N, V)>,
        body: impl Into<String>,
    ) -> Self {
        let evidence = Evidence::reply(status, headers, body);
        let headers = evidence.headers.clone();
        Self(Reported { status: Some(status), headers, evidence: Some(evidence), ..Reported::default() })
    }

    /// No reply, or not all of it.
    pub fn fault(fault: TransportFault) -> Self {
        let evidence = Evidence { transport: Some(fault), ..Evidence::default() };
        Self(Reported { evidence: Some(evidence), ..Reported::default() })
    }

    /// Tokens of the prompt and of the answer, as you counted them; else those of the reply count.
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.0.usage = Usage { input_tokens: Some(input), output_tokens: Some(output), ..self.0.usage };
        self
    }

    /// How long the call took; else the time since it was let through counts.
    pub fn latency(mut self, length: Duration) -> Self {
        self.0.latency = Some(length);
        self
    }
}

/// What was made of a call that you reported.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Recorded {
    /// The id under which the log has it.
    pub request_id: RequestId,
    /// What went wrong; none when it was an answer.
    pub class: Option<Class>,
    /// Which rule said so.
    pub rule: Option<String>,
    /// What the rule saw: redacted, bounded, printable.
    pub evidence: Option<String>,
    /// Until when the deployment, or more than it, is held because of this.
    pub held_until: Option<Timestamp>,
}

impl Recorded {
    pub(super) fn of(request_id: RequestId, written: Written) -> Self {
        let Written { attempt, .. } = written;
        let (class, rule, evidence, held_until) = (attempt.class, attempt.rule, attempt.evidence, attempt.held_until);
        Self { request_id, class, rule, evidence, held_until }
    }
}
