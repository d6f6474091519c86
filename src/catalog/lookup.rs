//! Finding things in the catalogue.

use crate::domain::{Dimension, ModelName, ProviderName};

use super::cap::{Cap, SourceKind};
use super::nearest::nearest_word;
use super::provider::{Catalog, ProviderInfo};

/// Names by which people know a provider, its maker or its models.
const ALSO_CALLED: &[(&str, &str)] = &[
    ("google", "gemini"),
    ("aistudio", "gemini"),
    ("vertexai", "vertex"),
    ("claude", "anthropic"),
    ("chatgpt", "openai"),
    ("azure-openai", "azure"),
    ("aws", "bedrock"),
    ("grok", "xai"),
    ("x.ai", "xai"),
    ("kimi", "moonshot"),
    ("glm", "zhipu"),
    ("bigmodel", "zhipu"),
    ("z.ai", "zai"),
    ("qwen", "dashscope"),
    ("alibaba", "dashscope"),
    ("nim", "nvidia"),
    ("hf", "huggingface"),
    ("workers-ai", "cloudflare"),
    ("volcengine", "ark"),
    ("doubao", "ark"),
    ("qianfan", "baidu"),
    ("github", "github-models"),
    ("llama.cpp", "llamacpp"),
    ("llama-server", "llamacpp"),
    ("lm-studio", "lmstudio"),
];

/// Whether the text has the form of the pattern, in which `*` stands for any text.
pub fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part).and_then(|at| text.get(at + part.len()..)) {
            Some(after) => text = after,
            None => return false,
        }
    }
    text.ends_with(tail)
}

/// How much a model pattern says: a full id more than any pattern, a pattern more than none.
fn specificity(pattern: Option<&str>) -> usize {
    match pattern {
        None => 0,
        Some(pattern) if pattern.contains('*') => 1 + pattern.chars().filter(|c| *c != '*').count(),
        Some(_) => usize::MAX,
    }
}

impl ProviderInfo {
    /// The limit of that dimension that says most about the model: the operator's first, then the most specific pattern,
    /// among equals the first.
    /// Without a model: the limit of all models; without that one, any, if all of them come back by the same clock.
    pub fn cap(&self, model: Option<&ModelName>, dimension: Dimension) -> Option<&Cap> {
        let caps = || self.caps.iter().filter(|cap| cap.dimension == dimension);
        let Some(model) = model else {
            let first = caps().next()?;
            let agree = || caps().all(|cap| cap.reset == first.reset);
            return caps().find(|cap| cap.model.is_none()).or_else(|| agree().then_some(first));
        };
        // What the operator says of all models is still the operator's word.
        let rank = |cap: &Cap| (cap.source == SourceKind::Config, specificity(cap.model.as_deref()));
        let mut best: Option<&Cap> = None;
        for cap in caps().filter(|cap| cap.model.as_deref().is_none_or(|m| matches_pattern(m, model.as_str()))) {
            if best.is_none_or(|best| rank(cap) > rank(best)) {
                best = Some(cap);
            }
        }
        best
    }

    /// Fills the variables of the base URL; `get` reads the environment.
    ///
    /// # Errors
    /// The name of the environment variable that is not set.
    pub fn base_url_from(&self, get: &dyn Fn(&str) -> Option<String>) -> Result<Option<String>, String> {
        let Some(mut url) = self.base_url.clone() else { return Ok(None) };
        for (name, variable) in &self.vars {
            let place = format!("{{{name}}}");
            if url.contains(&place) {
                let value = get(variable).map(|value| value.trim().trim_end_matches('/').to_owned());
                let value = value.filter(|value| !value.is_empty()).ok_or_else(|| variable.clone())?;
                url = url.replace(&place, &value);
            }
        }
        Ok(Some(url))
    }
}

impl Catalog {
    /// The limit whose reset clock holds for the provider's model in that dimension; see [`ProviderInfo::cap`].
    pub fn reset_clock(
        &self,
        provider: &ProviderName,
        model: Option<&ModelName>,
        dimension: Dimension,
    ) -> Option<&Cap> {
        self.provider(provider)?.cap(model, dimension)
    }

    /// When that limit comes back, at the latest; none when it is not known or only the provider can say.
    pub fn next_reset(
        &self,
        provider: &ProviderName,
        model: Option<&ModelName>,
        dimension: Dimension,
        now: jiff::Timestamp,
    ) -> Option<jiff::Timestamp> {
        self.reset_clock(provider, model, dimension).map(|cap| &cap.reset).and_then(|reset| reset.next_reset(now))
    }

    /// The provider that answers at this host, given as `host` or `host:port`, in any case.
    pub fn by_host(&self, host: &str) -> Option<&ProviderInfo> {
        let host = host.trim().trim_end_matches('.').to_ascii_lowercase();
        let bare = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).trim_end_matches('.');
        let fits = |pattern: &str| {
            let below = |name: &str| name.strip_suffix(pattern).is_some_and(|head| head.ends_with('.'));
            pattern == host || matches_pattern(pattern, bare) || (!pattern.contains('*') && below(bare))
        };
        let candidates = self.providers.values().flat_map(|info| info.hosts.iter().map(move |host| (host, info)));
        candidates.filter(|(pattern, _)| fits(pattern)).max_by_key(|(pattern, _)| pattern.len()).map(|(_, info)| info)
    }

    /// The provider that a person may have meant by a name that is not known.
    pub fn nearest(&self, name: &str) -> Option<&ProviderName> {
        let plain = name.to_ascii_lowercase();
        let alias = ALSO_CALLED.iter().find(|(also, _)| *also == plain).map(|(_, provider)| *provider);
        let found = alias.or_else(|| nearest_word(name, self.providers.keys().map(ProviderName::as_str)))?;
        self.providers.get_key_value(found).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text, fits) in [
            ("gpt-4o", "gpt-4o", true),
            ("gpt-4o", "gpt-4o-mini", false),
            ("*", "", true),
            ("*:free", "meta/llama:free", true),
            ("*:free", "meta/llama", false),
            ("claude-sonnet-4*", "claude-sonnet-4-5", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
            ("bedrock-runtime.*.amazonaws.com", "bedrock-runtime.us-east-1.amazonaws.com", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn the_most_specific_limit_wins() {
        let catalog = Catalog::builtin().expect("a catalogue");
        let cap = |provider: &str, model: Option<&str>, dimension| {
            catalog.reset_clock(&provider.into(), model.map(ModelName::new).as_ref(), dimension)
        };
        let limit = |provider, model, dimension| cap(provider, Some(model), dimension).and_then(|cap| cap.limit);
        assert_eq!(limit("groq", "llama-3.3-70b-versatile", Dimension::Tpd), Some(100_000));
        assert_eq!(limit("groq", "openai/gpt-oss-20b", Dimension::Tpm), Some(8_000));
        assert_eq!(limit("groq", "unheard-of", Dimension::Tpd), None);
        assert!(cap("groq", Some("unheard-of"), Dimension::Tpd).is_some());
        assert_eq!(limit("openrouter", "x/y:free", Dimension::Rpd), Some(50));
        assert!(cap("openrouter", Some("x/y"), Dimension::Rpd).is_none());
        assert!(cap("openrouter", None, Dimension::Rpd).is_some(), "both tiers have the same clock");
        assert!(cap("nobody", None, Dimension::Rpd).is_none());
    }

    #[test]
    fn hosts_are_recognised() {
        let catalog = Catalog::builtin().expect("a catalogue");
        for (host, provider) in [
            ("api.openai.com", Some("openai")),
            ("API.OpenAI.com:443", Some("openai")),
            ("lab.openai.azure.com", Some("azure")),
            ("bedrock-runtime.eu-west-1.amazonaws.com", Some("bedrock")),
            ("us-central1-aiplatform.googleapis.com", Some("vertex")),
            ("generativelanguage.googleapis.com", Some("gemini")),
            ("gateway.ai.cloudflare.com", Some("cloudflare")),
            ("localhost:11434", Some("ollama")),
            ("localhost:9", None),
            ("notapi.openai.com.evil.example", None),
            ("fakeapi.groq.com", None),
            ("", None),
        ] {
            assert_eq!(catalog.by_host(host).map(|info| info.name.as_str()), provider, "{host}");
        }
    }

    #[test]
    fn a_slip_in_a_provider_s_name_is_understood() {
        let catalog = Catalog::builtin().expect("a catalogue");
        for (word, meant) in
            [("qroq", Some("groq")), ("Google", Some("gemini")), ("open-router", Some("openrouter")), ("xyzzy", None)]
        {
            assert_eq!(catalog.nearest(word).map(ProviderName::as_str), meant, "{word}");
        }
    }

    #[test]
    fn variables_of_a_base_url_come_from_the_environment() {
        let catalog = Catalog::builtin().expect("a catalogue");
        let azure = catalog.provider(&"azure".into()).expect("azure");
        let set = |name: &str| (name == "AZURE_OPENAI_ENDPOINT").then(|| "https://lab.openai.azure.com/".to_owned());
        assert_eq!(azure.base_url_from(&set), Ok(Some("https://lab.openai.azure.com/openai/v1".to_owned())));
        assert_eq!(azure.base_url_from(&|_| None), Err("AZURE_OPENAI_ENDPOINT".to_owned()));
    }
}
