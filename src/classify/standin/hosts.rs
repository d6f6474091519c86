//! Names of machines: those of providers say whose error it is and stay, all others go.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, words};
use crate::classify::text::expression;

/// Domains of providers, gateways and what their errors point to. A configured catalogue is not asked: it holds the
/// user's own servers. A test sees to it that all hosts of the built-in one are known here.
const PUBLIC: &str = "openai.com chatgpt.com oai.azure.com anthropic.com claude.com claude.ai googleapis.com google.com google.dev \
    google.ai generativeai.google ai.studio goo.gle microsoft.com azure.com azure.net windows.net aka.ms groq.com \
    mistral.ai cerebras.ai cloudflare.com cloudflarestatus.com openrouter.ai nvidia.com cohere.ai cohere.com \
    together.xyz together.ai fireworks.ai deepseek.com moonshot.ai moonshot.cn kimi.com bigmodel.cn z.ai \
    aliyuncs.com aliyun.com alibabacloud.com minimax.io minimaxi.com minimax.chat x.ai perplexity.ai github.ai \
    githubcopilot.com github.com githubusercontent.com huggingface.co huggingface.cloud hf.co sambanova.ai \
    siliconflow.cn siliconflow.com volces.com volcengine.com baidubce.com modelarts-maas.com myhuaweicloud.com \
    amazonaws.com aws.amazon.com amazon.com ollama.com ollama.ai lmstudio.ai vllm.ai litellm.ai portkey.ai \
    helicone.ai langchain.com vercel.com vercel.sh replicate.com novita.ai deepinfra.com hyperbolic.xyz chutes.ai \
    nebius.com nebius.ai baseten.co modal.com runpod.io ai21.com voyageai.com jina.ai stability.ai upstage.ai \
    stepfun.com lingyiwanwu.com baichuan-ai.com xf-yun.com tencentcloudapi.com hunyuan.tencent.com ppinfra.com \
    opencode.ai continue.dev cursor.sh cursor.com mozilla.org ietf.org w3.org python.org pypi.org npmjs.com \
    nodejs.org stackoverflow.com discord.gg python-httpx.org pydantic.dev docker.com databricks.com snowflake.com \
    ibm.com watsonplatform.net oraclecloud.com scaleway.ai ovh.net inference.net friendli.ai lambdalabs.com \
    lambda.ai aimlapi.com requesty.ai glama.ai friendliai.com";

/// Domains below which each user has a name: what stands in front of them goes.
const OF_USERS: &str = "openai.azure.com cognitiveservices.azure.com services.ai.azure.com azure-api.net models.ai.azure.com \
    azuredatabricks.net azurewebsites.net cloudapp.azure.com cloud.databricks.com gcp.databricks.com vault.azure.net \
    blob.core.windows.net endpoints.huggingface.cloud elb.amazonaws.com workers.dev compute.amazonaws.com \
    cloudflareaccess.com proxy.runpod.net";

/// Ends of names that are known within one network only.
const PRIVATE: &str = "internal local localdomain lan corp intra intranet home private svc cluster consul test example invalid onion \
    docker vpn arpa domain";

/// Ends of public names, as far as they are no words and no ends of files.
const ENDS: &str = "com net org io ai dev co cloud app cn de eu uk fr jp ru xyz tech info biz ch nl se no fi dk pl es pt br ca au nz \
    kr tw hk sg us at be cz tr ua il ie in it id vn th mx ar cl za run host site online systems solutions company \
    edu gov gg sh so me tv ws cc live";

/// The same that are words or fields as well: a name of two parts with one of them is a name in an address only.
const WORDS: &str = "in it id no us at be me so is to run host site company live info app test home local domain private internal \
    cluster docker example co es ca";

fn listed(words: &'static str) -> impl Iterator<Item = &'static str> {
    words.split_ascii_whitespace()
}

/// A name with dots.
static DOTTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| expression(r"[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){1,12}"));

/// A name in an address, and behind words after which names of machines stand.
static MARKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(concat!(
        r"://(?:[^\s/@]{1,80}@)?([A-Za-z0-9_-][A-Za-z0-9_.-]{0,252})",
        r#"|(?i:\b(?:server|node|pod|peer|upstream|remote|machine)?[_-]?host(?:[_-]?name)?["']{0,8}\s?[:=]\s?["'`]{0,8})([A-Za-z0-9][A-Za-z0-9_.-]{1,252})"#,
        r#"|(?i:\b(?:ENOTFOUND|EAI_AGAIN|resolve host:?|lookup|pod(?:[_-]?name)?["']{0,8}[:=]|node(?:[_-]?name)["']{0,8}[:=]) ?["'`]{0,8})([a-z0-9][a-z0-9_.-]{1,252})"#,
        r"|(?:^|\n)(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ([a-z0-9][a-z0-9.-]{1,63}) [\w./-]{1,40}(?:\[\d{1,7}\])?:",
    ))
});

pub(super) fn find(shadow: &str, found: &mut Found) {
    let Some((marked, dotted)) = MARKED.as_ref().zip(DOTTED.as_ref()) else { return };
    for captures in marked.captures_iter(shadow) {
        if let Some(host) = captures.iter().skip(1).flatten().next() {
            add(host.start(), host.as_str().trim_end_matches(['.', '-']), true, found);
        }
    }
    for host in dotted.find_iter(shadow) {
        // What stands behind an `@` belongs to an e-mail address.
        let before = shadow.get(..host.start()).unwrap_or("");
        let after = shadow.get(host.end()..).unwrap_or("");
        if !before.ends_with(['@', '.', '/', '\\', '#', '$']) && !after.starts_with(['(', '@', '/', '#'])
            || before.ends_with("//")
        {
            add(host.start(), host.as_str(), false, found);
        }
    }
}

/// Adds the part of the host that names somebody's.
fn add(from: usize, host: &str, is_marked: bool, found: &mut Found) {
    let length = private_part(host, is_marked);
    if length > 0 {
        found.add((from, from + length));
    }
}

/// How much of the beginning of the name goes.
fn private_part(host: &str, is_marked: bool) -> usize {
    let lower = host.to_ascii_lowercase();
    let before = |end: &str| lower.strip_suffix(end).and_then(|rest| rest.strip_suffix('.')).map(str::len);
    if let Some(length) = listed(OF_USERS).find_map(before) {
        return length;
    }
    if is_public(&lower) {
        return if lower.ends_with("amazonaws.com") && !is_service(&lower) { lower.find('.').unwrap_or(0) } else { 0 };
    }
    let Some((rest, end)) = lower.rsplit_once('.') else {
        let is_address = lower.bytes().all(|byte| byte.is_ascii_digit());
        return if is_marked && !is_address && !words::is_common(&lower) { host.len() } else { 0 };
    };
    if lower.parse::<std::net::Ipv4Addr>().is_ok() {
        return 0;
    }
    let private = listed(PRIVATE).any(|private| private == end);
    let is_word = listed(WORDS).any(|word| word == end) && !rest.contains('.');
    let is_name = private || (listed(ENDS).any(|known| known == end) && !is_package(host));
    let is_plain = host.bytes().all(|byte| !byte.is_ascii_uppercase() && byte != b'_');
    if !is_marked && (!is_name || is_word || !is_plain) {
        return 0;
    }
    let kept = if lower.ends_with(".svc.cluster.local") { ".svc.cluster.local".len() } else { end.len() + 1 };
    host.len().saturating_sub(kept)
}

/// Whether it is a name of a provider, or of a page to which its errors point; in lower case.
pub(super) fn is_public(host: &str) -> bool {
    let is_below = |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    listed(PUBLIC).any(is_below)
}

/// `org.springframework.ai` is a package.
fn is_package(host: &str) -> bool {
    const FIRST: &[&str] =
        &["com", "org", "net", "io", "ai", "dev", "java", "javax", "kotlin", "system", "cn", "co", "self", "this"];
    host.split('.').next().is_some_and(|first| FIRST.contains(&first))
}

/// Whether a name of Amazon's begins with a service and not with somebody's machine or bucket.
fn is_service(host: &str) -> bool {
    const SERVICES: &[&str] = &["bedrock", "runtime", "sts", "s3", "iam", "logs", "secretsmanager", "sagemaker", "api"];
    host.split(['.', '-']).next().is_some_and(|first| SERVICES.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn found(text: &str) -> Vec<String> {
        Found::texts(find, text)
    }

    #[test]
    fn hosts_of_the_catalogue_stay() {
        for info in Catalog::builtin().expect("a catalogue").providers.values() {
            let of_users = |host: &str| listed(OF_USERS).any(|domain| domain == host);
            for host in info.hosts.iter().map(|host| host.replace('*', "eu-west-1")).filter(|host| !of_users(host)) {
                assert_eq!(found(&format!("https://{host}/v1 at {host}")), [""; 0], "{host}");
            }
            if let Some(url) = &info.base_url {
                assert_eq!(found(&url.replace("{location}", "europe-west1")), [""; 0], "{url}");
            }
        }
    }

    #[test]
    fn machines_of_users_go_and_what_looks_alike_stays() {
        for (text, wanted) in [
            ("dial tcp: lookup gw.acme.internal on x", vec!["gw.acme"]),
            ("http://gpu-node-7:8000/v1", vec!["gpu-node-7"]),
            ("https://llm.acme-corp.com/v1/chat", vec!["llm.acme-corp"]),
            ("at llm.acme-corp.com now", vec!["llm.acme-corp"]),
            ("https://acme-prod.openai.azure.com/openai", vec!["acme-prod"]),
            ("getaddrinfo ENOTFOUND llmbox", vec!["llmbox"]),
            ("HTTPSConnectionPool(host='inference.acme.lan', port=443)", vec!["inference.acme"]),
            ("vllm.ml-team.svc.cluster.local:80", vec!["vllm.ml-team"]),
            ("Nov 15 10:00:00 gpu01 nginx[429]: x", vec!["gpu01"]),
        ] {
            assert_eq!(found(text), wanted, "{text}");
        }
        for text in [
            "http://localhost:11434",
            "http://127.0.0.1:8000",
            "http://ollama:11434",
            "java.net.SocketException",
            "main.py",
            "org.springframework.ai",
            "okhttp3.internal.http",
            "choices.message.content",
            "e.g. this",
            "node.js",
            "error.in",
            "bedrock-runtime.us-west-2.amazonaws.com",
            "https://type.googleapis.com/google.rpc.Help",
            "System.Net.Http",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
