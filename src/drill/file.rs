//! What a scenario's file holds.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use crate::domain::Outcome;
use crate::rehearsal::{Case, Reply};

/// One file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What is shown, as a claim.
    pub title: String,
    /// Why it matters, in one sentence.
    pub why: String,
    /// Who is on stage.
    pub providers: BTreeMap<String, Part>,
    /// The llmr.toml, to which the player adds where each provider is and where its keys are.
    pub config: toml::Table,
    /// What happens, in order.
    pub acts: Vec<Act>,
}

/// One scripted provider.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// `openai`, `anthropic` or `gemini`.
    pub wire: String,
    /// Its keys: alias and value. Without any it is asked without a key.
    #[serde(default)]
    pub keys: BTreeMap<String, String>,
    /// The account of all its keys; each key has one of its own when it is left out.
    pub account: Option<String>,
    /// What it says, one reply after the other, the last one again and again.
    #[serde(default)]
    pub replies: Vec<Reply>,
    /// What it says to requests for one model or with one key.
    #[serde(default)]
    pub cases: Vec<Case>,
}

/// Something that is done at a moment, and then a request if anything is expected of one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// When, on the wall clock.
    pub at: Option<Timestamp>,
    /// When, after the act before.
    pub after: Option<String>,
    /// Clears all holds that the selector means, as `llmr reset` does.
    pub reset: Option<String>,
    /// Puts new values in the place of keys, by `provider@alias`.
    #[serde(default)]
    pub new_keys: BTreeMap<String, String>,
    /// How it is asked.
    #[serde(default)]
    pub ask: Ask,
    /// What must come of it.
    pub expect: Option<Expect>,
}

/// How it is asked.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ask {
    /// Which ladder; the config's default one when it is left out.
    pub ladder: Option<String>,
    /// Piece by piece.
    pub stream: bool,
    /// The longest answer.
    pub max_tokens: Option<u32>,
    /// A prompt of about so many tokens.
    pub prompt_tokens: Option<usize>,
    /// A whole conversation instead of the prompt, as JSON text.
    pub messages: Option<String>,
    /// The JSON Schema of the answer, as text.
    pub schema: Option<String>,
    /// Only this provider.
    pub pin: Option<String>,
    /// Only the first eligible step.
    pub no_fallback: bool,
    /// So many requests, one after the other.
    pub times: Option<usize>,
    /// With so much time between them.
    pub every: Option<String>,
    /// So many requests at the same moment, each a process of its own.
    pub together: Option<usize>,
    /// What happens to the one who asks, once a provider was reached or the first words were shown.
    pub then: Option<Then>,
    /// What another process clears while this one waits.
    pub reset_while_waiting: Option<String>,
    /// The wall clock runs, from now.
    pub real_time: bool,
}

/// What happens to the one who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The process dies without a word.
    Killed,
    /// The user presses Ctrl-C.
    Interrupted,
    /// Nobody reads the answer any more.
    PipeCloses,
}

/// What must come of it. What is left out must not be there, except for the words and for `attempts` of many requests.
/// Of many requests, `skipped` and `shown` are those of the last one; of many at once nobody knows which is which, so
/// only how they end and what they leave is compared.
///
/// Lines are compared word by word; a word `A..B` stands for any moment from A to B.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// How each request ends.
    pub outcome: Outcome,
    /// Who answers.
    pub by: Option<String>,
    /// How many requests reach each provider, over all of this act.
    #[serde(default)]
    pub hits: BTreeMap<String, usize>,
    /// `deployment kind status class` for each exchange; `answered` in the place of a class.
    pub attempts: Option<Vec<String>>,
    /// For each exchange the rule that decided; for an answered one where its JSON stood, `-` where none was asked for.
    pub rules: Option<Vec<String>>,
    /// `deployment reason [until time provenance]` for each step passed over; those not needed are left out.
    #[serde(default)]
    pub skipped: Vec<String>,
    /// `kind scope [limit] class until time provenance [probe time]` for each hold afterwards; circuits that count but
    /// are closed as `circuit scope closed class xN`.
    #[serde(default)]
    pub holds: Vec<String>,
    /// What is remembered of ladders afterwards: `ladder closed xN`, `ladder open xN until time` or
    /// `ladder recovering xN slots M`, N being the requests in a row that fell through.
    pub ladders: Option<Vec<String>>,
    /// When the first step returns.
    pub retry_at: Option<String>,
    /// The answer.
    pub text: Option<String>,
    /// `name(arguments)` for each tool that the answer wants to be run.
    pub calls: Option<Vec<String>>,
    /// What was shown piece by piece; a new element begins where everything before is void.
    pub shown: Option<Vec<String>>,
    /// A part of the one line that says why there is no answer.
    pub error: Option<String>,
    /// How long each request takes at most, in real time.
    pub within: Option<String>,
    /// Parts of the last request that each provider got, as JSON text.
    #[serde(default)]
    pub sent: BTreeMap<String, String>,
    /// What must not stand in the last request that each provider got.
    #[serde(default)]
    pub never_sent: BTreeMap<String, String>,
}
