//! Recognising the provider when nobody names it: by hosts, header families, key prefixes and the names that SDKs and
//! gateways give their errors.
//!
//! This is a help for logs. Few rules depend on it, and none on a guess alone where the provider is given.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::catalog::Catalog;
use crate::domain::Evidence;

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
    fn gateways_win_over_what_lies_behind_them() {
        let text = "OpenrouterException - see https://platform.openai.com/x";
        assert_eq!(recognise(&Evidence::default(), text, &Catalog::default()).as_deref(), Some("openrouter"));
    }
}
