//! What a refusal says of the request that would pass: with a shorter longest answer, or without a feature.
//!
//! Providers count the longest answer that a request allows before there is any answer: against the window, against the
//! tokens of a minute, against the money that is left. Where the refusal gives the figures, the same request with a
//! smaller bound passes, and nobody has to be asked instead. Figures that do not say so clearly say nothing.

use std::sync::LazyLock;

use regex::Regex;

use crate::domain::{Class, Failure, Feature, LimitFacts, OutputFit};

use super::signals::Signals;
use super::text;

/// The bound itself stands in the words, in the group of this number.
static STATED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    expressions(&[
        r"can only afford (\d[\d,]*)",
        r"\d[\d,]* > (\d[\d,]*), which is the maximum allowed number of output tokens",
        r"supports at most (\d[\d,]*) (?:completion|output) tokens",
        r"max(?:imum)?[_ ](?:completion[_ ]|output[_ ]|new[_ ])?tokens\b.{0,40}?\b(?:less than or equal to|at most|no more than|cannot exceed|<=) ?(\d[\d,]*)",
        r"valid range of max_tokens is ?\[\d+, ?(\d[\d,]*)\]",
    ])
});

/// A window and the prompt's tokens, in the groups 1 and 2.
static WINDOW: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    expressions(&[
        r"maximum (?:context|model) length (?:is|of) (\d[\d,]*).{0,60}?\(?\b(\d[\d,]*) (?:tokens )?(?:in|of|from) (?:the |your )?(?:messages|text input|input|prompt)",
        r"maximum context length is (\d[\d,]*) tokens and your request has (\d[\d,]*) input tokens",
        r"max_new_tokens must be <= (\d[\d,]*)\. given: (\d[\d,]*) inputs",
    ])
});

/// A prompt's tokens, the answer's and the window, in this order.
static SUM: LazyLock<Vec<Regex>> =
    LazyLock::new(|| expressions(&[r"exceed context limit: (\d[\d,]*) \+ (\d[\d,]*) > (\d[\d,]*)"]));

/// The window alone.
static WINDOW_ALONE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    expressions(&[
        r"maximum (?:context|model) length (?:is|of) (\d[\d,]*)",
        r"context (?:window|length|size) (?:is|of) (?:only )?\(?(\d[\d,]*) tokens",
        r"exceeds the available context size \((\d[\d,]*) tokens",
        r"\bn_ctx\b[ =:]{1,3}(\d[\d,]*)",
        r"\d[\d,]* tokens > (\d[\d,]*) maximum",
    ])
});

/// A smaller figure is no window that anybody serves.
const SMALLEST_WINDOW: u64 = 512;

/// Words for each feature, any of which means it in a refusal for want of it.
const FEATURES: &[(Feature, &[&str])] = &[
    (Feature::Images, &["image", "vision", "multimodal"]),
    (Feature::Tools, &["tool", "function call"]),
    (Feature::JsonSchema, &["response_format", "json_schema", "json schema", "structured output", "support json"]),
];

/// Words of a schema for answers that is more than the provider can take.
const SHAPE_REFUSED: &[&str] = &[
    "too many states for serving",
    "nesting depth",
    "too many optional parameters",
    "with union types",
    "grammar is too large",
    "schema is too complex",
    "regex lookaround",
    "array schema missing items",
    "additionalproperties",
    "failed to compile json schema",
    "failed to parse grammar",
    "unsupported json schema fields",
    "invalid schema for response",
    "contains features not supported by",
];

/// Words by which it is the schema of a tool's arguments instead: of these no model is said to take none.
const OF_TOOLS: &[&str] =
    &["for function", "functiondeclaration", "function_declaration", "input_schema", "tools[", "for tool "];

/// What is about one request or one value of a field, not about what the model can do.
const ABOUT_ONE_REQUEST: &[&str] = &[
    "tool call id",
    "tool_call_id",
    "invalid schema",
    "at most",
    "single tool",
    "thinking",
    "tool result",
    "after role",
];

fn expressions(patterns: &[&str]) -> Vec<Regex> {
    patterns.iter().filter_map(|pattern| text::expression(pattern)).collect()
}

/// Fills in what the refusal says of the request that would pass.
pub(crate) fn fill(failure: &mut Failure, signals: &Signals) {
    match failure.class {
        Class::ContextOverflow => {
            failure.fits = fits(signals);
            failure.window = signals.layers.iter().find_map(|read| window(&read.words));
        }
        Class::Billing => failure.fits = fits(signals),
        Class::Unsupported => failure.lacks = signals.layers.iter().find_map(|read| lacks(&read.words)),
        _ => {}
    }
}

fn fits(signals: &Signals) -> Option<OutputFit> {
    signals.layers.iter().find_map(|read| in_words(&read.words)).or_else(|| by_figures(&signals.limits))
}

fn in_words(words: &str) -> Option<OutputFit> {
    let stated = STATED.iter().find_map(|pattern| figures(pattern, words)).map(|[bound, ..]| bound);
    let window =
        || WINDOW.iter().find_map(|pattern| figures(pattern, words)).and_then(|[w, input, _]| w.checked_sub(input));
    let sum = || SUM.iter().find_map(|pattern| figures(pattern, words)).and_then(|[input, _, w]| w.checked_sub(input));
    stated.or_else(window).or_else(sum).filter(|tokens| *tokens > 0).map(OutputFit::Tokens)
}

fn window(words: &str) -> Option<u64> {
    let found = WINDOW_ALONE.iter().find_map(|pattern| figures(pattern, words));
    found.map(|[window, ..]| window).filter(|window| *window >= SMALLEST_WINDOW)
}

/// Up to three figures of the first place that has the pattern.
fn figures(pattern: &Regex, words: &str) -> Option<[u64; 3]> {
    let captures = pattern.captures(words)?;
    let figure = |group: usize| captures.get(group).and_then(|found| found.as_str().replace(',', "").parse().ok());
    Some([figure(1)?, figure(2).unwrap_or(0), figure(3).unwrap_or(0)])
}

/// More was asked for than the limit ever allows; what is over may be taken from the answer.
fn by_figures(limits: &LimitFacts) -> Option<OutputFit> {
    let (limit, requested) = limits.limit.zip(limits.requested)?;
    let over = requested - limit;
    (limit > 0.0 && over > 0.0).then(|| OutputFit::Less(over.ceil() as u64))
}

fn lacks(words: &str) -> Option<Feature> {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    if says(SHAPE_REFUSED) {
        return (!says(OF_TOOLS)).then_some(Feature::JsonSchema);
    }
    if ABOUT_ONE_REQUEST.iter().any(|phrase| words.contains(phrase)) {
        return None;
    }
    FEATURES.iter().find(|(_, names)| names.iter().any(|name| words.contains(name))).map(|(feature, _)| *feature)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::catalog::Catalog;
    use crate::classify::Classifier;
    use crate::domain::Evidence;

    fn failure(status: u16, message: &str) -> Failure {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        let evidence = Evidence { status: Some(status), body, ..Evidence::default() };
        Classifier::default().classify(&evidence, &Catalog::default(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn figures_that_say_which_answer_would_fit() {
        let tokens = |count| Some(OutputFit::Tokens(count));
        for (status, message, fits) in [
            (
                402,
                "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 2000.",
                tokens(2000),
            ),
            (
                400,
                "max_tokens: 128001 > 64000, which is the maximum allowed number of output tokens for claude-opus-4-5",
                tokens(64_000),
            ),
            (
                400,
                "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
                tokens(16_384),
            ),
            (
                400,
                "This model's maximum context length is 8192 tokens. However, you requested 9,000 tokens (5,000 in the messages, 4000 in the completion).",
                tokens(3192),
            ),
            (
                400,
                "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 5000 input tokens.",
                tokens(3192),
            ),
            (
                400,
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
                tokens(10_000),
            ),
            (
                413,
                "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9182, please reduce your message size",
                Some(OutputFit::Less(3182)),
            ),
            (400, "prompt is too long: 210000 tokens > 200000 maximum", None),
            (
                400,
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
                None,
            ),
            (402, "Insufficient Balance", None),
        ] {
            assert_eq!(failure(status, message).fits, fits, "{message}");
        }
    }

    #[test]
    fn windows_that_are_stated() {
        for (status, message, window) in [
            (
                400,
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
                Some(8192),
            ),
            (400, "prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
            (400, "the request exceeds the available context size (4096 tokens), try increasing it", Some(4096)),
            (413, "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9182", None),
            (400, "max_tokens: 128001 > 64000, which is the maximum allowed number of output tokens", None),
        ] {
            let failure = failure(status, message);
            assert_eq!((failure.class, failure.window), (Class::ContextOverflow, window), "{message}");
        }
    }

    #[test]
    fn features_that_a_model_lacks() {
        for (status, message, lacks) in [
            (400, "Invalid content type. image_url is only supported by certain models.", Some(Feature::Images)),
            (404, "No endpoints found that support image input", Some(Feature::Images)),
            (400, "`tool calling` is not supported with this model", Some(Feature::Tools)),
            (404, "No endpoints found that support tool use.", Some(Feature::Tools)),
            (400, "llama3 does not support tools", Some(Feature::Tools)),
            (400, "This response_format type is unavailable now", Some(Feature::JsonSchema)),
            (400, "Tool call id was 2968-LWy3uasib but must be a-z, A-Z, 0-9, with a length of 9.", None),
            (
                400,
                "invalid schema for response format: response_format/json_schema/next_step: minItems is not supported",
                Some(Feature::JsonSchema),
            ),
            (400, "Unsupported value: 'temperature' does not support 0.2 with this model.", None),
            (429, "image generation: rate limit reached", None),
        ] {
            assert_eq!(failure(status, message).lacks, lacks, "{message}");
        }
    }
}
