//! The file that `llmr init` writes.

use crate::catalog::Catalog;
use crate::domain::ProviderName;

/// The alias that the template gives to a provider's first key.
const ALIAS: &str = "own";

/// A commented llmr.toml with a step for each key found, given as the provider and the environment variable that holds
/// it. Without a key, the ladder asks a local server.
pub fn template(found: &[(ProviderName, String)], catalog: &Catalog) -> String {
    let mut steps = Vec::new();
    let mut providers = String::new();
    for (index, (provider, variable)) in found.iter().enumerate() {
        let earlier = found.iter().take(index).filter(|(other, _)| other == provider).count();
        let alias = if earlier == 0 { ALIAS.to_owned() } else { format!("{ALIAS}{}", earlier + 1) };
        let model = catalog.provider(provider).and_then(|info| info.default_model.as_ref());
        steps.push(match model {
            Some(model) => format!("  {},\n", quoted(&format!("{provider}/{model}@{alias}"))),
            None => format!("  # {},\n", quoted(&format!("{provider}/MODEL@{alias}"))),
        });
        providers.push_str(&format!(
            "\n[[providers.{provider}.credentials]]\nname = {}\nkey = {{ env = {} }}\n",
            quoted(&alias),
            quoted(variable)
        ));
    }
    if steps.iter().all(|step| step.trim_start().starts_with('#')) {
        steps.push("  \"ollama/llama3.2\",\n".to_owned());
    }
    let steps: String = steps.concat();
    if providers.is_empty() {
        providers.push_str(NO_KEYS);
    }
    format!("{HEAD}steps = [\n{steps}]\n{LADDER}\n{KEYS}{providers}{REST}")
}

/// The text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

const HEAD: &str = r##"# llmr.toml: who is asked, in which order, and what a request may take.
# `llmr check` finds mistakes, `llmr plan` shows what would be asked now, `llmr caps` what is known of limits.
# Durations are "750ms", "30s", "5m", "6h", "7d".

default_ladder = "main"

# A ladder is asked from the top; a step is "provider/model" or "provider/model@credential". Without a credential it
# stands for one step per credential of the provider.
[ladders.main]
"##;

const LADDER: &str = r##"strategy = "ordered"                  # ordered | shuffle | latency | usage | least_busy | cost
# context_window = "wide"             # the ladder for a request that is too large for a step
# content_policy = "lenient"          # the ladder for a request that a filter refused
# last_resort = "ollama/llama3.2"     # asked when nothing else is left
# system = "Answer in one sentence."
"##;

const KEYS: &str = r##"# Keys are named here, never written: { env = "VARIABLE" }, { file = "PATH" } or { command = ["pass", "show", "groq"] }.
# Keys that share one quota get the same account = "NAME".
"##;

const NO_KEYS: &str = r##"
# [[providers.groq.credentials]]
# name = "own"
# key = { env = "GROQ_API_KEY" }
"##;

const REST: &str = r##"
# A server of your own:
# [providers.lab]
# base_url = "http://127.0.0.1:8080/v1"   # with the version part of the path
# wire = "openai"                         # openai | anthropic | gemini
# [[providers.lab.models]]
# id = "qwen3-8b"
# context = 32768
# price = { input = 0.0, output = 0.0 }   # USD per million tokens

# These are the defaults.
# [limits]
# attempts = 8                          # per request, over all steps
# retry_budget = 60                     # retries per minute, all processes together
# deadline = "120s"                     # the whole request
# timeout = { connect = "5s", first = "30s", idle = "30s", total = "90s" }
# wait = "0s"                           # how long a request may wait when all steps are held
# max_cost_usd = 0.50                   # per request; a step that could exceed it is skipped
# stream = "restart"                    # fail | buffer | restart: when a stream breaks after its first byte
# on_unknown = "stop"                   # stop | next
# on_may_have_run = "retry"             # retry | next | stop: when a connection broke after the request was sent
# hedge = "off"                         # or "p95" or a delay: when the next step starts beside a slow one
# tool_rounds = 8                       # how often in a row the model may have tools run
# cache = "off"                         # off | prefer | require: who has the prompt's beginning in its cache

# [alarm]                               # who is told, once for all processes; `llmr alarm test` tries it
# command = ["notify-send", "{summary}"]  # also {text}, {kind}, {ladder}; all of it as JSON on its standard input
# webhook = { url = "https://HOST/PATH", secret = { env = "LLMR_WEBHOOK_SECRET" } }   # signed, as Standard Webhooks
# on = ["exhausted", "hold", "budget", "forecast"]
# hold_from = "10m"                     # holds that last so long ring, besides those that a person must lift
# forecast = "24h"                      # a limit that runs out within this time rings
# repeat = "off"                        # or after how long it is told again while it holds
# quiet = [{ from = "22:00", to = "07:00", zone = "Europe/Berlin", except = ["exhausted"] }]   # also days = ["sat"]
# timeout = "10s"                       # of one delivery; what fails is tried again, `tries` times
# tries = 8

# [[rules]]                             # your own classification rules, before the built-in ones
# provider = "lab"
# status = 500
# contains = "kv cache full"
# class = "overloaded"

# [[rules]]                             # all that is asked for must be there; the first rule that fits decides
# status = [429, "5xx"]
# header = { name = "x-queue-depth", above = 100 }
# without = "per day"
# class = "overloaded"
# retry_after = "5m"                    # when the payload does not say

# [[caps]]                              # a limit that you know better
# provider = "groq"
# model = "llama-3.3-70b-versatile"
# dimension = "tpd"                     # rpm, tpm, rpd, tpd, weekly, monthly, concurrency, …
# limit = 100000

# [tools.disk_usage]                    # what a model may have run: `llmr chat --tool disk_usage`, or tools = [..] of a ladder
# description = "How full the disks are"
# command = ["df", "--output=target,pcent"]   # gets the arguments as JSON on its standard input
# schema = { type = "object", properties = { path = { type = "string" } } }   # of the arguments; or the path of a file
# effect = "pure"                       # or side_effecting, the default: never run twice, and asks before it runs
# timeout = "30s"
# idempotency_key = "{fingerprint}"     # also {session}, {tool}, {args.FIELD}; the command finds it as LLMR_IDEMPOTENCY_KEY

# [usage]                               # how near a limit may come
# skip = 0.97                           # a step that a request would bring beyond it is passed over
# put_last = 0.80                       # beyond this others go first

# [store]
# retention = "30d"                     # how long the log is kept
# max_size = "500MB"                    # how large it may grow
# sessions = "90d"                      # how long conversations stay that nobody goes on with
# baselines = "180d"                    # how long verdicts of `--baseline` stay that nothing is compared with
# content = false                       # whether answers are kept, for a second `--request-id`
"##;
