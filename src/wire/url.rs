//! Building the URL of an endpoint. A key never stands in one.

use std::collections::BTreeMap;

use super::request::EncodeError;

/// Joins the base URL, the path below it and the query parameters. The base may hold `{model}` and a query of its own.
pub(super) fn build(
    base: &str,
    model: &str,
    path: &str,
    query: &BTreeMap<String, String>,
) -> Result<String, EncodeError> {
    let base = fill_model(base.trim(), model)?;
    check(&base)?;
    let (base, own_query) = base.split_once('?').unwrap_or((base.as_str(), ""));
    let base = base.trim_end_matches('/');
    let (path, path_query) = path.split_once('?').unwrap_or((path, ""));
    // People paste the full URL from a provider's page; the path is not added a second time.
    let mut url = if base.ends_with(path) { base.to_owned() } else { format!("{base}{path}") };
    let parameters = query.iter().map(|(name, value)| format!("{}={}", encode(name, ""), encode(value, "")));
    let parts: Vec<String> = [own_query, path_query].into_iter().map(str::to_owned).chain(parameters).collect();
    for (mark, part) in parts.iter().filter(|part| !part.is_empty()).enumerate() {
        url.push(if mark == 0 { '?' } else { '&' });
        url.push_str(part);
    }
    Ok(url)
}

/// The model id as a part of a path: slashes stay, because ids such as `org/model` are paths to the provider, all else
/// that means something in a URL is percent-encoded.
pub(super) fn model_path(model: &str) -> Result<String, EncodeError> {
    if model.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
        return Err(EncodeError::BadModel(model.to_owned()));
    }
    Ok(encode(model, "/@"))
}

fn fill_model(base: &str, model: &str) -> Result<String, EncodeError> {
    if base.contains("{model}") { Ok(base.replace("{model}", &model_path(model)?)) } else { Ok(base.to_owned()) }
}

fn check(base: &str) -> Result<(), EncodeError> {
    let bad = |why| Err(EncodeError::BadUrl(why));
    let Some((scheme, rest)) = base.split_once("://") else { return bad("it has no scheme") };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return bad("its scheme is neither http nor https");
    }
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() {
        return bad("it names no host");
    }
    if host.contains('@') {
        return bad("it holds a user name or password; a key belongs into `key`");
    }
    if rest.contains('#') {
        return bad("it holds a fragment");
    }
    if let Some((_, variable)) = rest.split_once('{') {
        let name = variable.split('}').next().unwrap_or_default();
        return Err(EncodeError::Unfilled(name.chars().take(64).collect()));
    }
    if rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return bad("it holds white space");
    }
    Ok(())
}

/// Percent-encodes all but letters, digits, `-._~` and the characters of `keep`.
fn encode(text: &str, keep: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || keep.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(base: &str, model: &str, path: &str, query: &[(&str, &str)]) -> Result<String, EncodeError> {
        let query = query.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        build(base, model, path, &query)
    }

    #[test]
    fn urls() {
        let chat = "/chat/completions";
        let azure = "https://x.openai.azure.com/openai/deployments/{model}";
        for (base, model, path, query, wanted) in [
            ("https://a.com/v1", "m", chat, [].as_slice(), "https://a.com/v1/chat/completions"),
            ("https://a.com/v1/", "m", chat, &[], "https://a.com/v1/chat/completions"),
            ("https://a.com/v1/chat/completions", "m", chat, &[], "https://a.com/v1/chat/completions"),
            (
                azure,
                "gpt 4o",
                chat,
                &[("api-version", "2024-10-21")],
                "https://x.openai.azure.com/openai/deployments/gpt%204o/chat/completions?api-version=2024-10-21",
            ),
            ("http://a/v1?tenant=x", "m", chat, &[("q", "a b&c")], "http://a/v1/chat/completions?tenant=x&q=a%20b%26c"),
            (
                "http://a/run/{model}",
                "@cf/meta/llama:8b",
                chat,
                &[],
                "http://a/run/@cf/meta/llama%3A8b/chat/completions",
            ),
            ("http://a", "m", "/m:stream?alt=sse", &[("k", "v")], "http://a/m:stream?alt=sse&k=v"),
        ] {
            assert_eq!(url(base, model, path, query).expect("a URL"), wanted);
        }
    }

    #[test]
    fn bad_urls() {
        for base in ["", "a.com/v1", "ftp://a", "http://", "http://u:p@a/v1", "http://a/v1#x", "http://a/v 1"] {
            assert!(matches!(url(base, "m", "/x", &[]), Err(EncodeError::BadUrl(_))), "{base}");
        }
        assert_eq!(url("https://a/{account}/v1", "m", "/x", &[]), Err(EncodeError::Unfilled("account".to_owned())));
        for model in ["../admin", "a//b", "", "."] {
            assert!(matches!(url("http://a/{model}", model, "", &[]), Err(EncodeError::BadModel(_))), "{model}");
        }
    }
}
