//! Which model hides behind an id: the same weights have another name with every host.
//!
//! What refuses a text under one name refuses it under the next, and a ladder whose steps all ask one model hangs on that
//! model, so ids are compared by family. A family is the model's line, generation and size: vendors, hosts, dates,
//! previews, number formats and words for the host's speed are taken off; whatever else an id says is left on, because to
//! take two models for one is worse than the reverse. An id that only points somewhere (`default`, an endpoint's number)
//! has no known family.

use crate::domain::ModelName;

/// Clouds put the region and the vendor in front, with dots.
const BEFORE_A_DOT: &[&str] = &[
    "us",
    "eu",
    "apac",
    "jp",
    "au",
    "global",
    "anthropic",
    "meta",
    "amazon",
    "mistral",
    "cohere",
    "ai21",
    "qwen",
    "openai",
    "google",
    "moonshot",
    "minimax",
    "nvidia",
    "zai",
];

/// Vendors in front of a name of their own models, with a dash.
const BEFORE_A_DASH: &[&str] =
    &["meta", "zai", "mistralai", "openai", "google", "anthropic", "cohere", "amazon", "xai", "ai21", "microsoft"];

/// What may stand at the end of any name without telling of other weights.
const ENDINGS: &[&str] = &[
    "latest",
    "default",
    "preview",
    "exp",
    "experimental",
    "beta",
    "instruct",
    "it",
    "hf",
    "maas",
    "tee",
    "cloud",
    "gguf",
    "gptq",
    "awq",
    "fp16",
    "bf16",
    "fp8",
    "fp4",
    "nvfp4",
    "mxfp4",
    "int8",
    "int4",
    "8192",
    "32768",
];

/// What hosts of open weights add for their speed. In a name without a size it is the maker's, and another model
/// (`gpt-4-turbo`, `grok-4-fast`).
const SPEEDS: &[&str] = &["versatile", "instant", "specdec", "turbo", "fast", "lite", "reference"];

/// Ids that stand for whatever the server has or chooses.
const POINTERS: &[&str] = &["default", "auto", "free", "router", "model-router"];

/// Who runs the service of the makers of a family, by its beginning; the longest counts, and open weights alone have none.
const MAKERS: &[(&str, &[&str])] = &[
    ("claude", &["anthropic"]),
    ("gpt", &["openai"]),
    ("gpt-oss", &[]),
    ("o1", &["openai"]),
    ("o3", &["openai"]),
    ("o4", &["openai"]),
    ("gemini", &["gemini", "vertex"]),
    ("grok", &["xai"]),
    ("mistral", &["mistral"]),
    ("codestral", &["mistral"]),
    ("deepseek", &["deepseek"]),
    ("kimi", &["moonshot"]),
    ("glm", &["zhipu", "zai"]),
    ("qwen", &["dashscope"]),
    ("minimax", &["minimax"]),
    ("command", &["cohere"]),
    ("sonar", &["perplexity"]),
];

/// The family of a model, as a name that all its ids share; none for an id that does not tell.
pub fn model_family(model: &ModelName) -> Option<String> {
    let id = model.as_str().trim().to_lowercase();
    // A tuned model has weights of its own.
    if id.starts_with("ft:") {
        return Some(id);
    }
    let (name, numbered) = without_tag(id.rsplit('/').next()?);
    let mut words = words(&without_vendor(&name));
    if numbered && words.len() > 1 && words.last().is_some_and(|word| is_number(word.trim_start_matches('v'))) {
        words.pop();
    }
    while let Some(taken) = Some(ending(&words)).filter(|taken| (1..words.len()).contains(taken)) {
        words.truncate(words.len() - taken);
    }
    let family = words.join("-");
    let endpoint = family.strip_prefix("ep-").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!family.is_empty() && !endpoint && !POINTERS.contains(&family.as_str())).then_some(family)
}

/// Whether the provider is known as the one whose makers run the family's own service.
pub fn makes(provider: &str, family: &str) -> bool {
    let fits = MAKERS.iter().filter(|(start, _)| family.starts_with(start));
    fits.max_by_key(|(start, _)| start.len()).is_some_and(|(_, makers)| makers.contains(&provider))
}

/// The name with what a `:` adds to it if that is a size (`qwen3:14b`), else without it (`:free`, `:0`); true when it was
/// the number of a revision, which has another one in the name then (`-v1:0`).
fn without_tag(name: &str) -> (String, bool) {
    match name.split_once(':') {
        Some((name, tag)) if tag.split('-').any(is_size) => (format!("{name}-{tag}"), false),
        Some((name, tag)) => (name.to_owned(), is_number(tag)),
        None => (name.to_owned(), false),
    }
}

fn without_vendor(name: &str) -> String {
    let mut name = name;
    while let Some((head, rest)) = name.split_once('.') {
        match head {
            // Its models are called by their numbers alone there: `deepseek.r1`.
            "deepseek" => return format!("{head}-{rest}"),
            _ if BEFORE_A_DOT.contains(&head) => name = rest,
            _ => break,
        }
    }
    name.to_owned()
}

/// The parts of a name, with versions always spelled the same: `llama3.1`, `llama-3-1` and `llama-v3p1` are one.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in name.split(['.', '-', '@', ' ']).flat_map(points).filter(|part| !part.is_empty()) {
        let digits = part.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
        let (letters, number) = part.split_at_checked(digits).unwrap_or(("", part));
        let family_name = letters.len() >= 3 && letters.chars().all(char::is_alphabetic) && !ENDINGS.contains(&part);
        match words.last().map(String::as_str) {
            Some("llama") if part.starts_with('v') => words.push(part.trim_start_matches('v').to_owned()),
            Some("gpt") if part == "35" => words.extend(["3", "5"].map(str::to_owned)),
            // DeepSeek's chat models are their numbered versions.
            Some("chat") if words.len() == 2 && part.starts_with('v') => {
                words.pop();
                words.push(part.to_owned());
            }
            _ if family_name => words.extend([letters, number].map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    let vendors = words.windows(2).take_while(|pair| match pair {
        [vendor, next] => BEFORE_A_DASH.contains(&vendor.as_str()) && next.starts_with(char::is_alphabetic),
        _ => false,
    });
    let vendors = vendors.count();
    words.split_off(vendors)
}

/// The part cut at a `p` that stands for a point: `v3p3`.
fn points(part: &str) -> Vec<&str> {
    let bytes = part.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let point = part.match_indices('p').find(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
    match point.and_then(|(at, _)| Some([part.get(..at)?, part.get(at + 1..)?])) {
        Some(halves) => halves.to_vec(),
        None => vec![part],
    }
}

/// How many words at the end say nothing of the weights.
fn ending(words: &[String]) -> usize {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let sized = words.split_last().is_some_and(|(_, before)| before.iter().any(|word| is_size(word)));
    match words.as_slice() {
        [.., year, month, day] if is_year(year) && is_month(month) && is_day(day) => 3,
        [.., month, end] if is_month(month) && (is_year(end) || is_day(end)) => 2,
        // The one of which it is said is a model of its own.
        [.., "turbo", "instruct"] if !sized => 0,
        [.., word] if ENDINGS.contains(word) || is_date(word) || is_quantised(word) => 1,
        [.., word] if sized && SPEEDS.contains(word) => 1,
        [.., size, "chat"] if is_size(size) => 1,
        _ => 0,
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `70b`, `8x7b`.
fn is_size(word: &str) -> bool {
    word.strip_suffix('b').is_some_and(|size| size.split('x').all(is_number))
}

/// `q4_k_m`.
fn is_quantised(word: &str) -> bool {
    word.strip_prefix('q').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.starts_with("20") && is_number(word)
}

fn is_month(word: &str) -> bool {
    word.len() == 2 && word.parse().is_ok_and(|month: u8| (1..=12).contains(&month))
}

fn is_day(word: &str) -> bool {
    word.len() == 2 && word.parse().is_ok_and(|day: u8| (1..=31).contains(&day))
}

/// A day or a month in one word (`20250929`, `250615`, `0709`, `2507`), or the number of a revision (`001`).
fn is_date(word: &str) -> bool {
    let pair = |at: usize| word.get(at..at + 2).unwrap_or_default();
    let recent = || pair(0).parse().is_ok_and(|year: u8| (22..40).contains(&year));
    is_number(word)
        && match word.len() {
            8 => is_year(word.get(..4).unwrap_or_default()) && is_month(pair(4)) && is_day(pair(6)),
            6 => recent() && is_month(pair(2)) && is_day(pair(4)),
            4 => (is_month(pair(0)) && is_day(pair(2))) || (recent() && is_month(pair(2))),
            3 => word.starts_with("00"),
            _ => false,
        }
}

#[cfg(test)]
#[path = "family_tests.rs"]
mod tests;
