//! Recognising the provider when nobody names it: by hosts, header families, key prefixes and the names that SDKs and
//! gateways give their errors.
//!
//! This is a help for logs. Few rules depend on it, and none on a guess alone where the provider is given.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;

use crate::catalog::Catalog;
use crate::domain::Evidence;

use super::text;

/// What gives a provider away, the surest first. Gateways stand before the providers behind them.
const SIGNS: &[(&str, &str)] = &[
    ("openrouter.ai", "openrouter"),
    ("openrouterexception", "openrouter"),
    ("openai.azure.com", "azure"),
    ("azure openai", "azure"),
    ("azureexception", "azure"),
    ("azure.requestfailedexception", "azure"),
    ("cognitiveservices", "azure"),
    ("apim-request-id", "azure"),
    ("models.inference.ai.azure.com", "github-models"),
    ("models.github.ai", "github-models"),
    ("userbymodelby", "github-models"),
    ("githubcopilot.com", "copilot"),
    ("x-github-request-id", "copilot"),
    ("copilot", "copilot"),
    ("bedrock", "bedrock"),
    ("x-amzn-", "bedrock"),
    ("botocore", "bedrock"),
    ("throttlingexception", "bedrock"),
    ("aiplatform.googleapis.com", "vertex"),
    ("vertex", "vertex"),
    ("req_vrtx_", "vertex"),
    ("publisher model", "vertex"),
    ("generativelanguage", "gemini"),
    ("cloudcode-pa", "gemini"),
    ("googlegenerativeai", "gemini"),
    ("google.genai", "gemini"),
    ("geminiexception", "gemini"),
    ("ai.google.dev", "gemini"),
    ("aistudio.google.com", "gemini"),
    ("ai.studio", "gemini"),
    ("type.googleapis.com", "gemini"),
    ("resource_exhausted", "gemini"),
    ("console.groq.com", "groq"),
    ("api.groq.com", "groq"),
    ("groqexception", "groq"),
    ("x-groq-", "groq"),
    ("gsk_", "groq"),
    ("api.mistral.ai", "mistral"),
    ("mistralexception", "mistral"),
    ("cerebras", "cerebras"),
    ("integrate.api.nvidia.com", "nvidia"),
    ("nvidia_nim", "nvidia"),
    ("provider nim", "nvidia"),
    ("nvapi-", "nvidia"),
    ("api.cloudflare.com", "cloudflare"),
    ("workers ai", "cloudflare"),
    ("aierror", "cloudflare"),
    ("neurons", "cloudflare"),
    ("cohere", "cohere"),
    ("sambanova", "sambanova"),
    ("api.deepseek.com", "deepseek"),
    ("deepseekexception", "deepseek"),
    ("moonshot", "moonshot"),
    ("api.kimi.com", "moonshot"),
    ("kimi", "moonshot"),
    ("bigmodel.cn", "zhipu"),
    ("api.z.ai", "zhipu"),
    ("dashscope", "dashscope"),
    ("aliyun.com", "dashscope"),
    ("alibabacloud.com", "dashscope"),
    ("minimax", "minimax"),
    ("siliconflow", "siliconflow"),
    ("volces.com", "ark"),
    ("volcengine", "ark"),
    ("qianfan", "baidu"),
    ("erniebot", "baidu"),
    ("modelarts", "huawei"),
    ("apig.", "huawei"),
    ("api.together.xyz", "together"),
    ("together.ai", "together"),
    ("fireworks.ai", "fireworks"),
    ("huggingface.co", "huggingface"),
    ("hf_", "huggingface"),
    ("api.x.ai", "xai"),
    ("console.x.ai", "xai"),
    ("xai-", "xai"),
    ("api.perplexity.ai", "perplexity"),
    ("perplexity", "perplexity"),
    ("api.anthropic.com", "anthropic"),
    ("anthropic-ratelimit", "anthropic"),
    ("anthropicexception", "anthropic"),
    ("anthropic.", "anthropic"),
    ("claude.ai", "anthropic"),
    ("sk-ant-", "anthropic"),
    ("req_011c", "anthropic"),
    ("ollama", "ollama"),
    ("localhost:11434", "ollama"),
    ("api.openai.com", "openai"),
    ("platform.openai.com", "openai"),
    ("openaiexception", "openai"),
    ("openai-processing-ms", "openai"),
    ("chatgpt.com", "openai"),
    ("x-codex-", "openai"),
    ("sk-proj-", "openai"),
    ("lmstudio", "lmstudio"),
    ("vllm", "vllm"),
];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        // The full automaton that is chosen for few patterns takes longer to build than a short process lives.
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostFirst)
        .build(SIGNS.iter().map(|(sign, _)| *sign))
        .ok()
});

/// The provider that the evidence names, or that its text and headers give away.
pub(crate) fn recognise(evidence: &Evidence, text: &str, catalog: &Catalog) -> Option<String> {
    if let Some(provider) = &evidence.provider {
        return Some(provider.as_str().to_ascii_lowercase());
    }
    let from_headers = evidence.headers.iter().filter_map(|(name, _)| best_sign(name)).min();
    let index = [best_sign(text), from_headers].into_iter().flatten().min();
    if let Some((_, provider)) = index.and_then(|index| SIGNS.get(index)) {
        return Some((*provider).to_owned());
    }
    catalog
        .providers
        .values()
        .find(|info| info.hosts.iter().any(|host| host.len() > 6 && text.contains(host.as_str())))
        .map(|info| info.name.as_str().to_owned())
        .or_else(|| text.lines().take(200).find_map(label).map(|label| label.provider))
        .or_else(|| field(text))
}

/// Who a line of a log says it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    /// The provider.
    pub(crate) provider: String,
    /// The label as it stands, with the model if it names one.
    pub(crate) whole: String,
}

/// The names that stand as labels, longest first where one begins another.
const NAMES: &str = concat!(
    "github-models|vercel-ai-gateway|openrouter|openai|anthropic|claude|gemini|google|vertex|groq|mistral(?:ai)?|cerebras|",
    "deepseek|moonshot|kimi|zhipu|z\\.?ai|dashscope|qwen|minimax|siliconflow|cohere|nvidia|nim|together|fireworks|perplexity|xai|grok|",
    "ollama|vllm|lmstudio|azure|bedrock|copilot|cloudflare|huggingface|sambanova|litellm|ark|baidu|novita|deepinfra|hyperbolic|chutes",
);

/// `groq: …`, `[openai] 429 …`, `step 2 mistral/small: …`, `cerebras -> HTTP 402`, after a time and a level.
static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(&format!(
        concat!(
            r"(?i)^\W{{0,3}}(?:[\d:T./Z,+ -]{{8,35}}\]?\s)?\W{{0,3}}(?:(?:error|warn(?:ing)?|info|fatal|debug)\]?:?\s+)?",
            r"(?:(?:step|attempt|try|rung|target|provider|fallback|upstream)\W{{0,2}}\d{{0,3}}[:.)]? |\d{{1,3}}[.):] )?",
            r"[\[(<]?(({})(?:/[\w.:@/-]*[\w])?)(?:[\])>]|:(?:\s|$)| ?->| ?=>| [-–|] | \(?(?:http |status )?[45]\d\d\b|",
            r" (?:returned|failed|error|responded|replied|says|answered|api error)\b|\.[A-Z]\w*(?:Error|Exception|Timeout)\b)"
        ),
        NAMES
    ))
});

/// The label with which a line begins.
pub(crate) fn label(line: &str) -> Option<Label> {
    let captures = LABEL.as_ref()?.captures(line)?;
    let whole = captures.get(1)?.as_str().to_ascii_lowercase();
    Some(Label { provider: canonical(captures.get(2)?.as_str()), whole })
}

/// `provider=groq`, `"provider": "groq"`.
static FIELD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(&format!(r#"(?i)\b(?:llm_)?provider(?:_?name|_?id)?["']?\s{{0,2}}[:=]\s{{0,2}}["']?({NAMES})\b"#))
});

fn field(text: &str) -> Option<String> {
    Some(canonical(FIELD.as_ref()?.captures(text)?.get(1)?.as_str()))
}

/// The catalogue's name for a name that people use.
fn canonical(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "claude" => "anthropic",
        "google" => "gemini",
        "mistralai" => "mistral",
        "kimi" => "moonshot",
        "zai" | "z.ai" => "zhipu",
        "qwen" => "dashscope",
        "nim" => "nvidia",
        "grok" => "xai",
        other => other,
    }
    .to_owned()
}

fn best_sign(text: &str) -> Option<usize> {
    FINDER.as_ref()?.find_iter(text).take(500).map(|found| found.pattern().as_usize()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_name_wins_over_signs() {
        let mut evidence = Evidence { log: "https://api.openai.com".into(), ..Evidence::default() };
        let log = evidence.log.clone();
        assert_eq!(recognise(&evidence, &log, &Catalog::default()).as_deref(), Some("openai"));
        evidence.provider = Some("lab".into());
        assert_eq!(recognise(&evidence, &log, &Catalog::default()).as_deref(), Some("lab"));
    }

    #[test]
    fn lines_name_whom_they_are_about() {
        for (line, wanted) in [
            ("groq: {\"error\":1}", Some("groq")),
            ("[openai] 429 insufficient_quota", Some("openai")),
            ("step 2 mistral/small: {}", Some("mistral")),
            ("cerebras -> HTTP 402", Some("cerebras")),
            ("2026-11-15 10:00:01 ERROR openrouter 402 Insufficient credits", Some("openrouter")),
            ("groq.RateLimitError: Error code: 429", Some("groq")),
            ("claude returned 529", Some("anthropic")),
            ("groq is a provider", None),
            ("a word about openai: nothing", None),
            ("google.api_core.exceptions.X", None),
        ] {
            assert_eq!(label(line).map(|label| label.provider).as_deref(), wanted, "{line}");
        }
        assert_eq!(recognise(&Evidence::default(), "x provider=Groq y", &Catalog::default()).as_deref(), Some("groq"));
    }

    #[test]
    fn gateways_win_over_what_lies_behind_them() {
        let text = "OpenrouterException - see https://platform.openai.com/x";
        assert_eq!(recognise(&Evidence::default(), text, &Catalog::default()).as_deref(), Some("openrouter"));
    }
}
