//! What a request will use, before anybody says so.
//!
//! Tokens are estimated from the length of the text, which is off by a factor that hangs on the model's tokenizer and on
//! what it is mostly asked. Each answer says what it really was, so the factor is learned for each model, and with it how
//! long answers usually are. Both move slowly: one odd request is no reason to pass over a deployment.

use crate::domain::{ModelName, ProviderName, Unit, Usage};

/// With so many samples a new one still counts a twentieth.
const MEMORY: u32 = 20;

/// How long an answer is taken to be before one was seen, in tokens.
const USUAL_ANSWER: f64 = 400.0;

/// The factor stays between these: beyond them the prompt held something that is no text.
const FACTORS: std::ops::RangeInclusive<f64> = 0.2..=8.0;

/// What a request uses, or is expected to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Demand {
    /// Calls.
    pub requests: f64,
    /// Tokens of the prompt.
    pub input: f64,
    /// Tokens of the answer.
    pub output: f64,
    /// Money, in USD.
    pub usd: f64,
}

impl Demand {
    /// How much of it counts in that unit.
    pub fn of(&self, unit: Unit) -> f64 {
        match unit {
            Unit::Requests => self.requests,
            Unit::Tokens => self.input + self.output,
            Unit::InputTokens => self.input,
            Unit::OutputTokens => self.output,
            Unit::Usd => self.usd,
        }
    }
}

/// What is known of a model's tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Where the model is.
    pub provider: ProviderName,
    /// The model.
    pub model: ModelName,
    /// Reported tokens of a prompt for each estimated one.
    pub factor: f64,
    /// The mean length of an answer, in tokens.
    pub output: f64,
    /// How many answers told.
    pub samples: u32,
}

impl Estimate {
    /// What is assumed of a model of which nothing was seen.
    pub fn new(provider: ProviderName, model: ModelName) -> Self {
        Self { provider, model, factor: 1.0, output: USUAL_ANSWER, samples: 0 }
    }

    /// What a request with a prompt of about `input` tokens will use; `max_output` is the longest answer it allows.
    pub fn demand(&self, input: u64, max_output: Option<u64>) -> Demand {
        let longest = max_output.map_or(f64::INFINITY, |max| max as f64);
        Demand { requests: 1.0, input: input as f64 * self.factor, output: self.output.min(longest), usd: 0.0 }
    }

    /// The estimate after an answer to a prompt of about `input` tokens; none when it says nothing new.
    pub fn after(&self, input: u64, usage: &Usage) -> Option<Self> {
        let (said, answered) = (usage.input_tokens?, usage.output_tokens?);
        let samples = self.samples.saturating_add(1).min(MEMORY);
        // What was assumed counts as one sample, so that not even the first answer is all that is known.
        let weight = 1.0 / f64::from(samples + 1);
        // A few tokens of framing make the factor of a tiny prompt meaningless.
        let seen = if input >= 16 {
            (said as f64 / input as f64).clamp(*FACTORS.start(), *FACTORS.end())
        } else {
            self.factor
        };
        Some(Self {
            factor: self.factor + weight * (seen - self.factor),
            output: self.output + weight * (answered as f64 - self.output),
            samples,
            ..self.clone()
        })
    }
}
