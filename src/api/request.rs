//! What is asked, of whom, and within which bounds.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::domain::{AskedFor, ChatRequest, Message, ProviderName, Role, TalkSettings, ToolChoice};
use crate::host::Bounds;
use crate::ladder::Directives;

use super::tool::{PendingCall, Tool};
use super::toolbox::Tooling;

/// What is asked, of whom, and within which bounds. A text alone will do where a request is wanted.
///
/// ```
/// use std::time::Duration;
///
/// let request = llmr::Request::new("Name three rivers.")
///     .system("Answer in one line.")
///     .to("cheap") // a ladder of the config, or provider/model[@credential]
///     .max_tokens(100)
///     .deadline(Duration::from_secs(20));
/// # drop(request);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Request {
    pub(super) chat: ChatRequest,
    pub(super) to: Option<String>,
    pub(super) directives: Directives,
    pub(super) bounds: Bounds,
    pub(super) checks: Vec<String>,
    pub(super) tooling: Tooling,
}

impl Request {
    /// One question.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self::conversation([Message::text(Role::User, prompt)])
    }

    /// A whole conversation, the last message being the question.
    pub fn conversation(messages: impl IntoIterator<Item = Message>) -> Self {
        let chat = ChatRequest { messages: messages.into_iter().collect(), ..ChatRequest::default() };
        Self { chat, ..Self::default() }
    }

    /// One more message at the end.
    pub fn message(mut self, message: Message) -> Self {
        self.chat.messages.push(message);
        self
    }

    /// Standing instructions, instead of those of the ladder and its steps.
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.chat.system = Some(text.into());
        self
    }

    /// Whom to ask: a ladder of the config, or `provider/model[@credential]` alone; else the config's default ladder.
    pub fn to(mut self, ladder: impl Into<String>) -> Self {
        self.to = Some(ladder.into());
        self
    }

    /// The JSON Schema that the answer must satisfy; one that does not is asked for once more, then of the next step.
    pub fn schema(mut self, schema: Value) -> Self {
        self.chat.schema = Some(schema);
        self
    }

    /// What must be true of the answer, in CEL: of `answer` (its JSON), `text` and `input`; one more with each call. What is
    /// not true is asked for once more, then of the next step.
    pub fn check(mut self, expression: impl Into<String>) -> Self {
        self.checks.push(expression.into());
        self
    }

    /// The longest answer, in tokens.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.chat.max_tokens = Some(tokens);
        self
    }

    /// Randomness, 0 to 2 with most providers.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.chat.temperature = Some(temperature);
        self
    }

    /// A text at which the answer ends; one more with each call.
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.chat.stop.push(text.into());
        self
    }

    /// A further field of the provider's request, passed as it is.
    pub fn option(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.chat.options.insert(name.into(), value.into());
        self
    }

    /// The answer comes piece by piece, for [`Router::chat_with`](super::Router::chat_with).
    pub fn stream(mut self) -> Self {
        self.chat.stream = true;
        self
    }

    /// How long the whole request may take.
    pub fn deadline(mut self, length: Duration) -> Self {
        self.bounds.deadline = Some(length);
        self
    }

    /// How long to wait for the first step to return when all are held; else not at all.
    pub fn wait(mut self, length: Duration) -> Self {
        self.bounds.wait = Some(length);
        self
    }

    /// What the request may cost, in USD; a step that could exceed it is skipped.
    pub fn max_cost_usd(mut self, usd: f64) -> Self {
        self.bounds.max_cost_usd = Some(usd);
        self
    }

    /// Asks only this provider.
    pub fn pin(mut self, provider: &str) -> Self {
        self.directives.pin = Some(ProviderName::new(provider));
        self
    }

    /// Does not ask this provider; one more with each call.
    pub fn exclude(mut self, provider: &str) -> Self {
        self.directives.exclude.push(ProviderName::new(provider));
        self
    }

    /// Asks only deployments that can do this: `tools`, `json_schema`, `images`; one more with each call.
    pub fn require(mut self, capability: impl Into<String>) -> Self {
        self.directives.require.push(capability.into());
        self
    }

    /// Asks only the first eligible step.
    pub fn no_fallback(mut self) -> Self {
        self.directives.no_fallback = true;
        self
    }

    /// A function that the model may have called; one more with each call. It stands before a tool of the config that has
    /// the same name.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tooling.own.push(tool);
        self
    }

    /// A tool of the config (`[tools.NAME]`) that the model may have run, beside those of its ladder; one more with each
    /// call. Its command runs beside the router's thread. One that has a side effect needs to be
    /// [allowed](Self::allow_tools).
    pub fn config_tool(mut self, name: impl Into<String>) -> Self {
        self.tooling.named.push(name.into());
        self
    }

    /// No tools, not even those of the ladder.
    pub fn no_tools(mut self) -> Self {
        self.tooling.none = true;
        self
    }

    /// Whether the model begins with a tool; in later rounds it does as it likes.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tooling.choice = Some(choice);
        self
    }

    /// How often in a row the model may have tools run before it must answer in words; else as the config says.
    pub fn max_tool_rounds(mut self, rounds: u32) -> Self {
        self.tooling.rounds = Some(rounds);
        self
    }

    /// All tools may have their side effects. Without it functions of the program may, because the program gave them, and
    /// commands of the config may not: a model that wants one gets [`Error::NeedsConsent`](super::Error::NeedsConsent).
    pub fn allow_tools(self) -> Self {
        self.allow_tools_if(|_| true)
    }

    /// The function says of each call with a side effect, of functions and of commands, whether it may be run; of one that
    /// may not the model is told so, and goes on. It is called on the router's thread and should be quick.
    pub fn allow_tools_if(mut self, may: impl Fn(&PendingCall) -> bool + Send + Sync + 'static) -> Self {
        self.tooling.consent = Some(Arc::new(may));
        self
    }

    /// The same, but with what a conversation goes on with where nothing else is said.
    /// The same, with what was asked of the answer that is still to come, where nothing is asked of it now.
    pub(super) fn asking_again(mut self, asked: &AskedFor) -> Self {
        if self.asked().is_empty() {
            self.chat.schema.clone_from(&asked.schema);
            self.checks.clone_from(&asked.checks);
        }
        self
    }

    /// What is asked of the answer, for who goes on.
    pub(super) fn asked(&self) -> AskedFor {
        AskedFor { schema: self.chat.schema.clone(), checks: self.checks.clone() }
    }

    pub(super) fn going_on_with(mut self, settings: &TalkSettings) -> Self {
        self.to = self.to.or_else(|| settings.ladder.as_ref().map(ToString::to_string));
        self.chat.system = self.chat.system.or_else(|| settings.system.clone());
        self.tooling.kept.clone_from(&settings.tools);
        self
    }
}

impl From<&str> for Request {
    fn from(prompt: &str) -> Self {
        Self::new(prompt)
    }
}

impl From<String> for Request {
    fn from(prompt: String) -> Self {
        Self::new(prompt)
    }
}
