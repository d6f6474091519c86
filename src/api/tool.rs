//! Tools: what a model may have done, by functions of the program or by commands of the config.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::{KeyTemplate, TOOL_TIMEOUT, ToolConfig, arguments_schema, is_tool_name};
use crate::domain::{CallEnd, Effect, JournalEntry};
use crate::session::Order;

use super::error::Error;

/// What a tool does, until it is done.
pub(super) type Running = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// What is run for a tool.
pub(super) type Run = Arc<dyn Fn(Invocation) -> Running + Send + Sync>;

/// Says whether a call may have its side effect.
pub(super) type Consent = Arc<dyn Fn(&PendingCall) -> bool + Send + Sync>;

/// A function of the program that a model may have called.
///
/// ```
/// use llmr::{Request, Tool, words::Effect};
/// use serde_json::json;
///
/// let weather = Tool::new("weather")
///     .description("The weather of a place now")
///     .schema(json!({"properties": {"place": {"type": "string"}}, "required": ["place"]}))
///     .effect(Effect::Pure)
///     .run(|call| async move { Ok(format!("Sunny in {}.", call.arguments["place"])) });
/// let request = Request::new("Do I need a coat in Porto?").tool(weather);
/// # drop(request);
/// ```
///
/// What it gives back is written down before any model sees it, so a result is never asked for twice, whoever of the
/// ladder goes on. Of a tool that changes something in the world ([`Effect::SideEffecting`], unless you say otherwise)
/// each call is noted before it is begun, and one of which nobody knows whether it did its work is never run again by
/// itself: that is [`Error::NeedsWord`].
///
/// The function runs on the router's thread, on a tokio runtime: it should await what takes long, and hand work that
/// blocks to `tokio::task::spawn_blocking`.
#[derive(Clone)]
#[must_use]
pub struct Tool {
    name: String,
    description: String,
    schema: Value,
    effect: Effect,
    timeout: Duration,
    run: Option<Run>,
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).field("effect", &self.effect).finish_non_exhaustive()
    }
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Invocation {
    /// The tool.
    pub tool: String,
    /// An object as the tool's schema wants it.
    pub arguments: Value,
    /// The same for each try of this call and for no other call: hand it on to a service that knows such keys, and it does
    /// the work once even when nobody knows whether it was asked before.
    pub idempotency_key: String,
    /// Which try of the call it is; 1 is the first.
    pub number: u32,
}

impl Tool {
    /// A tool under this name: letters, digits, `_` and `-`, up to 64, the first a letter. It has no arguments and counts as
    /// one with a side effect until you say otherwise, and needs a function to [`run`](Self::run).
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            schema: json!({"type": "object", "properties": {}}),
            effect: Effect::SideEffecting,
            timeout: TOOL_TIMEOUT,
            run: None,
        }
    }

    /// What it is good for, for the model to read.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// The JSON Schema of its arguments, an object's. A call with other arguments is not run; the model is told what is
    /// wrong with them.
    pub fn schema(mut self, schema: Value) -> Self {
        self.schema = schema;
        self
    }

    /// What running it does to the world.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// How long a call may take, 30 s unless you say otherwise; its future is dropped then.
    pub fn timeout(mut self, length: Duration) -> Self {
        self.timeout = length;
        self
    }

    /// What is run: it gives back what the model is told, or why it failed, which the model is told as well. Should it panic,
    /// nobody knows what it did.
    pub fn run<F, R>(mut self, run: F) -> Self
    where
        F: Fn(Invocation) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, String>> + Send + 'static,
    {
        self.run = Some(Arc::new(move |call| Box::pin(run(call))));
        self
    }

    /// As the machine knows it, and what is run.
    pub(super) fn settled(self) -> Result<(ToolConfig, Run), Error> {
        let Self { name, description, schema, effect, timeout, run } = self;
        let wrong = |why: &str| Error::Tool { message: format!("the tool `{name}` cannot be used: {why}") };
        if !is_tool_name(&name) {
            return Err(wrong("its name needs letters, digits, `_` and `-`, up to 64, the first a letter"));
        }
        let schema = arguments_schema(schema).map_err(|(why, hint)| wrong(&format!("{why}; {hint}")))?;
        let run = run.ok_or_else(|| wrong("it has nothing to run"))?;
        let (command, idempotency_key) = (Vec::new(), KeyTemplate::default());
        Ok((ToolConfig { name, description, schema, command, timeout, effect, idempotency_key }, run))
    }
}

/// A call that was made on the way to an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolRun {
    /// The tool.
    pub tool: String,
    /// Which call it is, whatever id a provider gave it.
    pub call: String,
    /// What running it does.
    pub effect: Effect,
    /// What it came to; none when nobody knows.
    pub end: Option<CallEnd>,
    /// Whether nothing was run for it now: its result was there.
    pub replayed: bool,
    /// How long it took.
    pub latency: Duration,
}

impl From<&crate::session::ToolRun> for ToolRun {
    fn from(run: &crate::session::ToolRun) -> Self {
        let crate::session::ToolRun { tool, fingerprint, effect, end, replayed, latency, .. } = run.clone();
        Self { tool, call: fingerprint, effect, end, replayed, latency }
    }
}

/// A call for which somebody must decide something.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PendingCall {
    /// The tool.
    pub tool: String,
    /// The arguments as the model gave them.
    pub arguments: Value,
    /// By which the tool can see that it is run again.
    pub idempotency_key: String,
    /// Which call it is, for [`Session::settle`](super::Session::settle).
    pub call: String,
    /// Why nobody knows whether it did its work, where that is known.
    pub why: Option<String>,
}

impl PendingCall {
    pub(super) fn of(order: &Order, entry: Option<&JournalEntry>) -> Self {
        Self {
            tool: order.call.name.clone(),
            arguments: order.arguments.clone(),
            idempotency_key: order.idempotency_key.clone(),
            call: order.fingerprint.clone(),
            why: entry.and_then(|entry| entry.result.clone()),
        }
    }
}
