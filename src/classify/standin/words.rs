//! Words that are never taken for a name.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::classify::rules;

/// What stands after "organization", "project" or "user" without naming one, and names that everybody has.
const COMMON: &str = "a access action active admin administrator after all allowance alias already also am an and anonymous any api app \
are at auto available balance be because been belongs billing budget but by can cannot cap console content context \
could credit credits current currently daily dashboard data deactivated default demo dev development did disabled \
does doesn email empty enabled error exceeded exhausted exist expired failed false feature file files for from global \
group guest had has have hit host hourly id identifier ids if in inactive info input instead invalid is it its key keys \
label level limit limits list local location login main manager max maximum may me member members message messages \
minute missing mode model models monthly must my name no none nor not null number of off on only option or org \
organisation organization other our out over owner page password per permission permissions personal plan please policy \
preferences prefix private prod production profile project projects prompt prompts provided public quota quotas rate reached \
redacted region request requests required resource resources role root routing runner scope service session \
settings shared should space spend spending staging status string subscription support suspended system team test \
than that the their then there this tier time to token tokens true turn type ubuntu unavailable unauthorized \
undefined unknown unlimited usage use used user username users uses using value version via was we were when which \
with within without workspace workspaces would xxx you your yyyy zone";

static KNOWN: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let of_rules = rules::all().flat_map(|rule| {
        let phrases = rule.words.iter().copied().flatten().chain(rule.without).chain(rule.codes).chain(rule.kinds);
        phrases.flat_map(|phrase| phrase.split(|c: char| !c.is_alphanumeric()))
    });
    let common = COMMON.split(' ');
    of_rules.chain(common).chain(PRODUCTS.split(' ')).map(str::to_owned).collect()
});

/// Providers, gateways and servers that log lines speak of.
const PRODUCTS: &str = "amazon anthropic azure baseten bedrock cerebras claude cloudflare cohere copilot databricks deepinfra deepseek \
    fireworks gemini github google groq helicone huggingface kimi langfuse litellm llamacpp lmstudio localai \
    localhost microsoft minimax mistral moonshot novita nvidia ollama openai openrouter perplexity portkey replicate \
    sambanova sglang siliconflow tgi together vercel vertex vllm xai zhipu";

/// Whether the word says something by itself: one that a rule looks for, that follows such marks in plain sentences, or
/// that is the name of a product. Neither is anybody's name, and a classifier may need it.
pub(super) fn is_common(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    word.is_empty() || KNOWN.contains(&word)
}

/// Whether these are plain words only: common ones, with anything between them.
pub(super) fn are_common(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).all(|word| word.is_empty() || is_common(word))
}

/// Pieces of which the names of models are made.
const MODEL_WORDS: &str = "ada audio babbage chat chatgpt claude codestral codex command dall davinci deepseek e embed embedding flash \
    gemini gemma gpt grok haiku high image instruct it large latest llama lite low max medium meta micro mini \
    mistral mixtral moderation nano nova o omni opus phi pro preview qwen realtime reasoner scout maverick search \
    small sonnet text thinking titan transcribe tts turbo v versatile instant vision whisper b k x oss";

/// Whether the text is made of pieces of models' names and short numbers only: `gpt-4o-mini`, `claude-3-5-sonnet-20241022`.
pub(super) fn is_model(text: &str) -> bool {
    let is_piece = |piece: &str| MODEL_WORDS.split(' ').any(|word| piece.eq_ignore_ascii_case(word));
    let mut pieces = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|piece| !piece.is_empty()).peekable();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    pieces.peek().is_some() && digits <= 12 && pieces.all(is_piece)
}

/// Whether a word holds something that plain words do not: a digit, or a mark within.
pub(super) fn is_distinct(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
        || word.trim_matches(|c: char| !c.is_alphanumeric()).contains(['-', '_', '@', '.'])
}
