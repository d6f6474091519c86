//! The flags that `chat` and `plan` share, and the request that they make.

use std::path::{Path, PathBuf};
use std::time::Duration;

use llmr::config::{CachePreference, Config, OnInvalid, parse_duration};
use llmr::domain::{
    AskedFor, ChatRequest, LadderName, Message, Part, ProviderName, RequestId, Role, TalkSettings, excerpt,
};
use llmr::host::{Bounds, Wish};
use llmr::ladder::Directives;
use llmr::route::{FallbackStore, Job, direct};
use llmr::store::SqliteStore;
use llmr::validate::Rule;

use crate::content::{conversation, image, option, schema_file};
use crate::context::{Context, nearest_provider, read_named};
use crate::error::{CliError, Code};
use crate::tools::TalkArgs;

/// How much is told of what a file says and is not read, in characters.
const LEFT_OUT: usize = 200;

/// What is asked, of whom, and within which bounds.
#[derive(Debug, Default, Clone, clap::Args)]
pub struct RequestArgs {
    /// The prompt; what comes on stdin is joined to it as context
    pub prompt: Option<String>,
    /// A ladder, or provider/model[@credential] to ask just that
    #[arg(short, long, value_name = "LADDER|PROVIDER/MODEL")]
    pub model: Option<String>,
    /// Standing instructions; @FILE reads them from a file
    #[arg(short, long, value_name = "TEXT|@FILE")]
    system: Option<String>,
    /// A file appended to the prompt as context (repeatable)
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)
    #[arg(short = 'a', long = "image", value_name = "IMAGE")]
    image: Vec<PathBuf>,
    /// A JSON Schema that the answer must satisfy
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// What must be true of the answer, in CEL: of `answer` (its JSON), `text` and `input` (repeatable)
    #[arg(long, value_name = "EXPR", value_parser = rule)]
    check: Vec<Rule>,
    /// A whole conversation as JSON: [{"role": "user", "content": "…"}, …]
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// The longest answer, in tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,
    /// Randomness of the answer
    #[arg(long, value_name = "T", value_parser = amount)]
    temperature: Option<f64>,
    /// A text at which the answer ends (repeatable)
    #[arg(long, value_name = "TEXT")]
    stop: Vec<String>,
    /// A further field of the provider's request; VALUE is JSON, or else taken as a string (repeatable)
    #[arg(short, long, value_name = "KEY=VALUE")]
    option: Vec<String>,
    /// Show the answer as it comes (default on a terminal)
    #[arg(long, conflicts_with = "no_stream")]
    stream: bool,
    /// Show the answer when it is whole
    #[arg(long)]
    no_stream: bool,
    /// One JSON object instead of the answer
    #[arg(long)]
    pub json: bool,
    /// The id that the log keeps of this request
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// How long the whole request may take
    #[arg(long, value_name = "DUR", value_parser = duration)]
    deadline: Option<Duration>,
    /// How long to wait for the first step to return when all are held
    #[arg(long, value_name = "DUR", value_parser = duration)]
    wait: Option<Duration>,
    /// Ask only this provider
    #[arg(long, value_name = "PROVIDER")]
    pin: Option<String>,
    /// Do not ask this provider (repeatable)
    #[arg(long, value_name = "PROVIDER")]
    exclude: Vec<String>,
    /// USD that the request may cost at most; a step that could exceed it is skipped
    #[arg(long, value_name = "USD", value_parser = amount)]
    max_cost: Option<f64>,
    /// USD that 1,000 tokens of prompt and answer may cost at most; a step that costs more is skipped
    #[arg(long = "max-cost-per-1k", value_name = "USD", value_parser = amount)]
    max_cost_per_1k: Option<f64>,
    /// How long an answer may usually take: a step of which one in 20 lately took longer is skipped
    #[arg(long, value_name = "DUR", value_parser = duration)]
    max_latency: Option<Duration>,
    /// Ask those first that lately served the beginning of this prompt and may have it in their cache
    #[arg(long, conflicts_with = "require_cache")]
    prefer_cache: bool,
    /// Ask nobody else, where there is one that lately served the beginning of this prompt
    #[arg(long)]
    require_cache: bool,
    /// Ask only deployments that can do this: tools, json_schema, images (repeatable)
    #[arg(long, value_name = "CAP")]
    require: Vec<String>,
    /// Ask only the first eligible step
    #[arg(long)]
    no_fallback: bool,
    /// What becomes of an answer that is not as asked, once it was repaired in vain: ask the next step, hand it out as
    /// it is (exit code 7), or stop (7)
    #[arg(long, value_name = "WHAT", value_enum)]
    on_invalid: Option<Invalid>,
    /// Do not tell a deployment what was wrong with its answer, to have it mended
    #[arg(long)]
    no_repair: bool,
    /// Ask at most so many different deployments
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    #[command(flatten)]
    pub talk: TalkArgs,
    /// The standing instructions that a conversation was begun with.
    #[arg(skip)]
    kept_system: Option<String>,
}

/// What becomes of an answer that is not as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Invalid {
    Next,
    Return,
    Fail,
}

impl From<Invalid> for OnInvalid {
    fn from(invalid: Invalid) -> Self {
        match invalid {
            Invalid::Next => Self::Next,
            Invalid::Return => Self::Return,
            Invalid::Fail => Self::Fail,
        }
    }
}

pub fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| format!("`{text}` is no duration; write it like 750ms, 30s, 5m, 6h or 7d"))
}

/// A number that a bound can be: with `nan` for a ceiling every cost would pass.
fn amount(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|n| n.is_finite() && *n >= 0.0).ok_or_else(|| format!("`{text}` is no number of 0 or more"))
}

fn rule(text: &str) -> Result<Rule, String> {
    Rule::new(text)
}

/// What the user gives to a request, from the command line, files and standard input.
#[derive(Debug, Clone)]
pub struct Input {
    /// The conversation so far.
    pub before: Vec<Message>,
    /// What the user says now.
    pub question: Option<Message>,
    /// The standing instructions.
    pub system: Option<String>,
    /// What a file of messages says besides, and is not read.
    pub left_out: Vec<String>,
    /// The shape of the answer.
    pub schema: Option<serde_json::Value>,
}

/// Who is meant.
#[derive(Clone)]
pub struct Choice {
    pub ladder: LadderName,
    directives: Directives,
}

impl Choice {
    /// The ladder that is meant.
    pub fn ladder(&self) -> &LadderName {
        &self.ladder
    }
}

impl Input {
    /// Tells what of a file of messages is not read.
    pub fn tell_left_out(&self, context: &Context) {
        if !self.left_out.is_empty() {
            let names = excerpt(&context.redactor().redact(&self.left_out.join(", ")), LEFT_OUT);
            let what = "--messages: only `messages` and `system` are read; left out";
            context.output.note(&format!("{} {what}: {names}", context.output.label("warning")));
        }
    }

    /// The shape that the answer must have, where it must be JSON.
    pub fn shape(&self, config: &Config, ladder: &LadderName) -> Option<serde_json::Value> {
        let of_ladder = config.ladders.get(ladder).map(|ladder| &ladder.answer);
        let schema = self.schema.clone().or_else(|| of_ladder?.schema.clone());
        let is_json = of_ladder.is_some_and(|answer| answer.demands.need_json());
        schema.or_else(|| is_json.then(crate::retold::any_shape))
    }
}

impl RequestArgs {
    /// Nothing but a prompt.
    pub fn prompt(text: &str) -> Self {
        Self { prompt: Some(text.to_owned()), ..Self::default() }
    }

    /// Nothing but a ladder.
    pub fn on_ladder(name: &LadderName) -> Self {
        Self { model: Some(name.to_string()), ..Self::default() }
    }

    /// Whether the answer streams.
    pub fn streams(&self, context: &Context) -> bool {
        !self.no_stream && (self.stream || (context.output.stdout_is_terminal() && !self.json))
    }

    /// All that the user gives, read once: what is a pipe can be read no second time.
    ///
    /// # Errors
    /// Names the flag and the file.
    pub fn input(&self, stdin: Option<&str>) -> Result<Input, CliError> {
        let system = self.system.as_deref().map(|text| match text.strip_prefix('@') {
            Some(path) => read_named("--system", Path::new(path)),
            None => Ok(text.to_owned()),
        });
        let before = self.messages.as_deref().map(conversation).transpose()?.unwrap_or_default();
        Ok(Input {
            before: before.messages,
            question: self.question(stdin)?,
            // What is said now counts more than what the file says.
            system: system.transpose()?.or(before.system),
            left_out: before.left_out,
            schema: self.schema.as_deref().map(|path| schema_file("--schema", path)).transpose()?,
        })
    }

    /// The request.
    pub fn request(&self, input: Input, stream: bool) -> Result<ChatRequest, CliError> {
        Ok(ChatRequest {
            system: self.system_text(&input),
            developer: None,
            messages: input.before.into_iter().chain(input.question).collect(),
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            stop: self.stop.clone(),
            schema: input.schema,
            tools: Vec::new(),
            tool_choice: None,
            parallel_tools: None,
            options: self.option.iter().map(|text| option(text)).collect::<Result<_, _>>()?,
            stream,
        })
    }

    /// The standing instructions, of the user or of the conversation.
    pub fn system_text(&self, input: &Input) -> Option<String> {
        input.system.clone().or_else(|| self.kept_system.clone())
    }

    /// The prompt with its context and images as one message; none when a conversation stands for itself.
    fn question(&self, stdin: Option<&str>) -> Result<Option<Message>, CliError> {
        let mut words: Vec<String> = self.prompt.iter().cloned().collect();
        for path in &self.file {
            let text = read_named("--file", path)?;
            words.push(format!("{}:\n{}", path.display(), text.trim_end()));
        }
        words.extend(stdin.map(str::trim_end).filter(|text| !text.trim().is_empty()).map(str::to_owned));
        let mut parts = Vec::new();
        if !words.is_empty() {
            parts.push(Part::Text(words.join("\n\n")));
        }
        for path in &self.image {
            parts.push(image(path)?);
        }
        Ok((!parts.is_empty()).then_some(Message { role: Role::User, parts }))
    }

    /// The same, but with what a conversation goes on with where the user says nothing else.
    pub fn going_on_with(&self, settings: &TalkSettings) -> Self {
        let mut args = self.clone();
        args.model = args.model.or_else(|| settings.ladder.as_ref().map(ToString::to_string));
        args.kept_system = settings.system.clone();
        args.talk.go_on_with(&settings.tools);
        args
    }

    /// The same, with what was asked of the answer that is still to come, where the user asks nothing of it now.
    ///
    /// # Errors
    /// When a rule cannot be read: a newer program wrote it.
    pub fn asking_again(&self, asked: &AskedFor, input: &mut Input) -> Result<Self, CliError> {
        let mut args = self.clone();
        if input.schema.is_none() && args.check.is_empty() {
            input.schema.clone_from(&asked.schema);
            let read = |text: &String| Rule::new(text).map_err(|why| CliError::trouble(format!("--check: {why}")));
            args.check = asked.checks.iter().map(read).collect::<Result<_, _>>()?;
        }
        Ok(args)
    }

    /// What is asked of the answer, for who goes on.
    pub fn asked(&self, input: &Input) -> AskedFor {
        let checks = self.check.iter().map(|rule| rule.source().to_owned()).collect();
        AskedFor { schema: input.schema.clone(), checks }
    }

    /// The id that the user chose, if it can be one.
    pub fn chosen_id(&self) -> Result<Option<RequestId>, CliError> {
        let Some(id) = &self.request_id else { return Ok(None) };
        if id.is_empty() || id.len() > 128 || !id.chars().all(|c| c.is_ascii_graphic()) {
            return Err(CliError::usage("--request-id: up to 128 printable characters without spaces"));
        }
        let id = RequestId::new(id.as_str());
        if id.is_round() {
            let error = CliError::usage(format!("--request-id: `{id}` is an id that llmr gives itself"));
            return Err(error.hint("take another one, without a number at its end"));
        }
        Ok(Some(id))
    }

    fn directives(&self, config: &Config) -> Result<Directives, CliError> {
        let known = |flag: &str, name: &String| {
            let name = ProviderName::new(name.as_str());
            if config.provider(&name).is_some() {
                return Ok(name);
            }
            let error = CliError::usage(format!("{flag}: there is no provider `{name}`"));
            Err(match nearest_provider(name.as_str(), config) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error,
            })
        };
        Ok(Directives {
            pin: self.pin.as_ref().map(|name| known("--pin", name)).transpose()?,
            exclude: self.exclude.iter().map(|name| known("--exclude", name)).collect::<Result<_, _>>()?,
            require: self.require.clone(),
            no_fallback: self.no_fallback,
            max_steps: self.max_steps,
            ..Directives::default()
        })
    }

    /// The ladder that is meant: one of the config, or the named deployments alone.
    fn chosen(&self, config: &mut Config) -> Result<LadderName, CliError> {
        let Some(wanted) = &self.model else { return Ok(config.default_ladder.clone()) };
        let name = LadderName::new(wanted.as_str());
        if config.ladders.contains_key(&name) {
            return Ok(name);
        }
        if !wanted.contains('/') {
            let names: Vec<&str> = config.ladders.keys().map(LadderName::as_str).collect();
            let error = CliError::new(Code::Config, format!("there is no ladder `{wanted}`"));
            return Err(error.hint(format!("ladders: {}; or name provider/model", names.join(", "))));
        }
        let deployments = crate::named::deployments(config, "--model", wanted)?;
        let ladder = direct(&deployments, config);
        config.ladders.insert(name.clone(), ladder);
        Ok(name)
    }

    /// Who is meant, so that a slip is told before anything is written.
    pub fn choice(&self, config: &mut Config) -> Result<Choice, CliError> {
        let directives = self.directives(config)?;
        let ladder = self.chosen(config)?;
        self.bound(config, &ladder);
        Ok(Choice { ladder, directives })
    }

    /// The bounds that decide who is asked and in which order, in the place of the ladder's own.
    fn bound(&self, config: &mut Config, ladder: &LadderName) {
        let Some(ladder) = config.ladders.get_mut(ladder) else { return };
        let limits = &mut ladder.limits;
        limits.max_cost_per_1k_usd = self.max_cost_per_1k.or(limits.max_cost_per_1k_usd);
        limits.max_latency = self.max_latency.or(limits.max_latency);
        limits.on_invalid = self.on_invalid.map_or(limits.on_invalid, OnInvalid::from);
        limits.repair = limits.repair && !self.no_repair;
        limits.cache = match (self.prefer_cache, self.require_cache) {
            (_, true) => CachePreference::Require,
            (true, false) => CachePreference::Prefer,
            (false, false) => limits.cache,
        };
    }

    /// The config and who is meant by it. A slip is told with the names of the whole catalogue.
    pub fn settle(&self, context: &Context) -> Result<(Config, Choice), CliError> {
        let mut config = context.config()?;
        if let Ok(choice) = self.choice(&mut config) {
            return Ok((config, choice));
        }
        let mut config = context.whole_config_file()?.unwrap_or(config);
        let choice = self.choice(&mut config)?;
        Ok((config, choice))
    }

    /// Everything that the driver needs.
    pub fn job(
        &self,
        mut request: ChatRequest,
        choice: Choice,
        config: &Config,
        store: &FallbackStore<SqliteStore>,
        context: &mut Context,
    ) -> Result<Job, CliError> {
        let Choice { ladder, directives } = choice;
        let offered = self.talk.tools(config, &ladder)?;
        let commands = offered.iter().filter_map(|name| config.tools.get(name));
        llmr::session::startable(commands, &context.env("PATH").unwrap_or_default())?;
        request.tools = llmr::session::declared(&config.tools, &offered);
        request.tool_choice = self.talk.choice(&offered)?;
        let bounds = Bounds { deadline: self.deadline, wait: self.wait, max_cost_usd: self.max_cost };
        let (id, checks) = (self.chosen_id()?, self.check.clone());
        let wish = Wish { request, ladder, directives, bounds, checks, id };
        Ok(llmr::host::job(wish, config, store, context)?)
    }
}
