//! The night of 23 August, played again.
//!
//! At three in the morning six providers failed at once, each in its own way: one wanted money, one no longer knew the
//! key, one asked for five seconds, one broke off in the middle of its JSON, one wrote prose where JSON was asked, and
//! one had spent its day on all keys while promising to be back in 36 seconds. A small model on the own machine would
//! have answered. Who can tell these six apart sleeps through such a night.

use std::io;

use serde::Deserialize;
use serde_json::Value;

use crate::catalog::Wire;

use super::script::{Reply, Script};
use super::server::Provider;

/// What was asked that night.
pub const PROMPT: &str = "Make a ticket of this incident, as JSON with `title`, `severity` and `tags`: at 03:00 the \
                          nightly import stopped because the disk was full; 40,000 records are missing.";

/// The parts, in the order of the ladder.
const PARTS: [(&str, &str); 7] = [
    ("cerebras", include_str!("../../fixtures/night/cerebras.json")),
    ("cloudflare", include_str!("../../fixtures/night/cloudflare.json")),
    ("groq", include_str!("../../fixtures/night/groq.json")),
    ("mistral", include_str!("../../fixtures/night/mistral.json")),
    ("openrouter", include_str!("../../fixtures/night/openrouter.json")),
    ("gemini", include_str!("../../fixtures/night/gemini.json")),
    ("local", include_str!("../../fixtures/night/local.json")),
];

/// The JSON Schema of the answer that was asked.
pub fn schema() -> Value {
    serde_json::from_str(include_str!("../../fixtures/night/schema.json")).unwrap_or_default()
}

/// The seven providers, as long as this lives.
#[derive(Debug)]
pub struct Night {
    /// In the order of the ladder; the last one answers well.
    pub parts: Vec<Part>,
}

/// One provider of the night.
#[derive(Debug)]
pub struct Part {
    /// The catalogue's name of it; `local` is none of the catalogue's.
    pub name: &'static str,
    /// The model that is asked.
    pub model: String,
    /// The aliases of its keys, one account for all of them; none when it takes requests without a key.
    pub credentials: Vec<String>,
    /// The wire format.
    pub wire: Wire,
    /// The base URL on this machine.
    pub base_url: String,
    /// The server itself, to count what reached it.
    pub provider: Provider,
}

/// A part as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartFile {
    model: String,
    wire: WireName,
    credentials: Vec<String>,
    replies: Vec<Reply>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WireName {
    OpenAi,
    Anthropic,
    Gemini,
}

/// Starts all seven.
///
/// # Errors
/// When a port or a thread cannot be had.
pub fn start() -> io::Result<Night> {
    let parts = PARTS.iter().map(|(name, file)| part(name, file)).collect::<io::Result<_>>()?;
    Ok(Night { parts })
}

fn part(name: &'static str, file: &str) -> io::Result<Part> {
    let PartFile { model, wire, credentials, replies } = serde_json::from_str(file)?;
    let wire = match wire {
        WireName::OpenAi => Wire::OpenAi,
        WireName::Anthropic => Wire::Anthropic,
        WireName::Gemini => Wire::Gemini,
    };
    let provider = Provider::start(wire, Script::from(replies))?;
    Ok(Part { name, model, credentials, wire, base_url: provider.base_url(), provider })
}
