//! What a run is given: the steps, the limits, and what the user said about this one request.

use std::time::Duration;

use jiff::Timestamp;

use crate::catalog::Price;
use crate::domain::{ChatRequest, Deployment, Feature, LadderName, Part, ProviderName, Target, Tool};
use crate::policy::{Caller, Demand, Finding, Gauge, TrackRecord, UsageState};

use super::end::SkipReason;
use super::rank::Measure;

/// What an answer is assumed to take at most, in tokens, when the request sets no bound.
pub(super) const LONG_ANSWER: u64 = 8192;

/// Exchanges at one step unless the config says otherwise: the first and one retry.
pub const ATTEMPTS: u32 = 2;

/// One step with what is known of its deployment.
#[derive(Debug, Clone, PartialEq)]
pub struct StepSpec {
    /// Who is asked.
    pub target: Target,
    /// The context window in tokens, where it is known.
    pub window: Option<u64>,
    /// The longest answer in tokens, where it is known.
    pub max_output: Option<u64>,
    /// What the deployment can do; none when it is not declared, which restricts nothing.
    pub capabilities: Option<Vec<String>>,
    /// What it costs, where it is known.
    pub price: Option<Price>,
    /// Exchanges at this step: the first and its retries. A repair is not counted.
    pub attempts: u32,
    /// The salted fingerprint of the key.
    pub fingerprint: Option<String>,
    /// The salted fingerprint of what the config says of it.
    pub entry: Option<String>,
    /// What is counted of its use, and the limits that config and catalogue know.
    pub gauges: Vec<Gauge>,
    /// Why there is no key although one is needed.
    pub no_key: Option<String>,
    /// Why it is asked only after the others, whatever the order.
    pub put_last: Option<String>,
    /// What its model's own refusals taught.
    pub findings: Vec<Finding>,
    /// Whether the provider charges a limit with the longest answer that a request allows, before there is any.
    pub precharges: bool,
    /// After how long without content the next step is started beside it; none: never.
    pub hedge_after: Option<Duration>,
    /// Where it stands among the others for this request, by what is known of it.
    pub standing: Standing,
}

/// Where a step stands for one request, by what the log and its ladder say of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    /// What gave it its place under its ladder's strategy.
    pub measure: Option<Measure>,
    /// How it did lately, where anything goes by it.
    pub record: Option<TrackRecord>,
    /// When it last served the beginning of this prompt, if that was lately and anything goes by it.
    pub served: Option<Served>,
    /// What the request is expected to cost there, in USD per 1,000 tokens of prompt and answer.
    pub usd_per_1k: Option<f64>,
    /// Why it is not asked for this request.
    pub barred: Option<SkipReason>,
    /// Whether its requests under way are counted although no limit of it is known.
    pub counted: bool,
}

/// That a deployment served the beginning of a prompt, which it may still have in its cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Served {
    /// When.
    pub at: Timestamp,
    /// Which share of the whole prompt came from the cache then, 0 to 1.
    pub cached: Option<f64>,
}

/// What to do when the provider may have done the work although no answer came: the connection broke or the time ran out
/// after the request was sent. Asking again may then be paid twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnMayHaveRun {
    /// Try the same step again, then the next.
    Retry,
    /// Ask the next step.
    Next,
    /// Stop and say so.
    Stop,
}

/// What becomes of an answer that is not as asked, once the one repair was made or there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnInvalid {
    /// Ask the next step.
    Next,
    /// Hand it out as it is, and say what is wrong with it.
    Return,
    /// Stop without an answer.
    Fail,
}

/// Bounds of one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLimits {
    /// Exchanges over all steps.
    pub attempts: u32,
    /// Retries over all steps; none: as many as `attempts` leaves room for.
    pub retries: Option<u32>,
    /// What to do when the provider may have done the work.
    pub on_may_have_run: OnMayHaveRun,
    /// The whole request.
    pub deadline: Duration,
    /// How long it may wait for the soonest step when all are held.
    pub wait: Duration,
    /// Whether an unknown failure with a 4xx status moves on; otherwise it stops the request.
    pub unknown_moves_on: bool,
    /// What to do with an answer that is not as asked.
    pub on_invalid: OnInvalid,
    /// Whether the deployment is told once what was wrong with its answer, before anything is done about it.
    pub repair: bool,
    /// USD that the request may cost at most, over all its exchanges.
    pub max_cost_usd: Option<f64>,
    /// USD that 1,000 tokens of prompt and answer may cost at most.
    pub max_cost_per_1k_usd: Option<f64>,
    /// How long an answer may usually take.
    pub max_latency: Option<Duration>,
    /// The wait before the first retry; doubles.
    pub backoff: Duration,
    /// The longest wait before a retry that nobody stated.
    pub backoff_max: Duration,
    /// The longest stated wait that a retry waits out.
    pub hint_max: Duration,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            attempts: 8,
            retries: None,
            on_may_have_run: OnMayHaveRun::Retry,
            deadline: Duration::from_secs(120),
            wait: Duration::ZERO,
            unknown_moves_on: false,
            on_invalid: OnInvalid::Next,
            repair: true,
            max_cost_usd: None,
            max_cost_per_1k_usd: None,
            max_latency: None,
            backoff: Duration::from_millis(500),
            backoff_max: Duration::from_secs(8),
            hint_max: Duration::from_secs(8),
        }
    }
}

/// A ladder, ready to be walked.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its name.
    pub name: LadderName,
    /// The steps in the order in which they are asked.
    pub steps: Vec<StepSpec>,
    /// Where a request goes that is too large for a step.
    pub context_window: Vec<StepSpec>,
    /// Where a request goes that a filter refused.
    pub content_policy: Vec<StepSpec>,
    /// Where a request goes that needs what a step lacks.
    pub unsupported: Vec<StepSpec>,
    /// Asked under a transient hold when nothing else is left.
    pub last_resort: Option<StepSpec>,
    /// Bounds.
    pub limits: RunLimits,
}

impl Spec {
    /// A ladder of these steps, without chains.
    pub fn of(name: LadderName, steps: Vec<StepSpec>) -> Self {
        Self {
            name,
            steps,
            context_window: Vec::new(),
            content_policy: Vec::new(),
            unsupported: Vec::new(),
            last_resort: None,
            limits: RunLimits::default(),
        }
    }

    /// The steps of all chains.
    pub(super) fn chains(&self) -> impl Iterator<Item = &StepSpec> {
        self.context_window.iter().chain(&self.content_policy).chain(&self.unsupported)
    }
}

/// What the user said about this one request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Directives {
    /// Only this provider.
    pub pin: Option<ProviderName>,
    /// None of these providers.
    pub exclude: Vec<ProviderName>,
    /// Only deployments that can do all of this.
    pub require: Vec<String>,
    /// Only the first eligible step.
    pub no_fallback: bool,
    /// At most so many different deployments.
    pub max_steps: Option<u32>,
    /// Asked before all others while it is eligible: it answered the request before this one of the same conversation.
    pub first: Option<Deployment>,
    /// Told before what was wrong with their answers, in a request before this one of the same conversation: once is
    /// enough.
    pub repaired: Vec<Deployment>,
}

/// What can be said of the request before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestShape {
    /// Tokens of the prompt, estimated low: a step is skipped only when even that does not fit.
    pub input_tokens: u64,
    /// The longest answer wanted, in tokens.
    pub max_tokens: Option<u64>,
    /// Whether it shows a picture.
    pub images: bool,
    /// Whether it offers tools.
    pub tools: bool,
    /// Whether the thoughts of a model are part of its history.
    pub thinking: bool,
    /// Whether its answer must have the shape of a schema. No model is skipped for it: it can be asked for in words.
    pub schema: bool,
}

impl StepSpec {
    /// A step of which nothing else is known: asked once and tried once more.
    pub fn of(target: Target) -> Self {
        Self {
            target,
            window: None,
            max_output: None,
            capabilities: None,
            price: None,
            attempts: ATTEMPTS,
            fingerprint: None,
            entry: None,
            gauges: Vec::new(),
            no_key: None,
            put_last: None,
            findings: Vec::new(),
            precharges: false,
            hedge_after: None,
            standing: Standing::default(),
        }
    }

    /// With what it is asked.
    pub fn caller(&self) -> Caller<'_> {
        Caller { key: self.fingerprint.as_deref(), entry: self.entry.as_deref() }
    }
}

/// Bytes per token in the low estimate of a request's size: real texts have three to four.
const BYTES_PER_TOKEN: u64 = 4;

impl RequestShape {
    /// What can be said of the request.
    pub fn of(request: &ChatRequest) -> Self {
        let instructions = request.system.iter().chain(&request.developer);
        let mut bytes: usize = instructions.map(String::len).sum();
        bytes += request.tools.iter().map(Tool::size).sum::<usize>();
        let (mut images, mut calls) = (false, false);
        for part in request.messages.iter().flat_map(|message| &message.parts) {
            match part {
                Part::Text(text) | Part::ToolResult { content: text, .. } => bytes += text.len(),
                Part::ToolCall(call) => {
                    bytes += call.name.len() + call.arguments.len();
                    calls = true;
                }
                Part::Thinking(thinking) => bytes += thinking.text.len(),
                Part::Image { .. } => images = true,
            }
        }
        Self {
            input_tokens: u64::try_from(bytes).unwrap_or(u64::MAX) / BYTES_PER_TOKEN,
            max_tokens: request.max_tokens.map(u64::from),
            images,
            tools: calls || !request.tools.is_empty() || request.options.contains_key("tools"),
            thinking: request.has_thinking(),
            schema: request.schema.is_some(),
        }
    }

    /// What a model must be able to do for it.
    pub(super) fn needs(&self) -> impl Iterator<Item = Feature> + use<> {
        [(self.images, Feature::Images), (self.tools, Feature::Tools)].into_iter().filter(|(is, _)| *is).map(|(_, f)| f)
    }

    /// What the request is expected to use at this step, by what the model's answers have told so far.
    pub fn demand(&self, step: &StepSpec, usage: &UsageState) -> Demand {
        let longest = [self.max_tokens, step.max_output].into_iter().flatten().min();
        let demand = usage.estimate(&step.target.deployment).demand(self.input_tokens, longest);
        let usd = step.price.map_or(0.0, |price| (demand.input * price.input + demand.output * price.output) / 1e6);
        Demand { usd: if usd.is_finite() { usd } else { 0.0 }, ..demand }
    }

    /// Whether the request cannot fit this window.
    pub(super) fn overflows(&self, window: u64) -> bool {
        self.input_tokens.saturating_add(self.max_tokens.unwrap_or(1)) > window
    }

    /// What one exchange could cost, in USD; none when the price is not known.
    pub(super) fn ceiling_usd(&self, step: &StepSpec) -> Option<f64> {
        let price = step.price?;
        // Nobody asked for an answer as long as the model can give; a long one is assumed.
        let unbounded = step.max_output.unwrap_or(LONG_ANSWER).min(LONG_ANSWER);
        let output = self.max_tokens.unwrap_or(unbounded);
        Some((self.input_tokens as f64 * price.input + output as f64 * price.output) / 1e6)
    }
}
