//! What free text says outside of any object: statuses, codes and headers in the positions where they stand.
//!
//! A number counts as a status only as a whole token in such a position. "429" within a request id, a duration or a
//! count of tokens is no status.

use std::sync::LazyLock;

use regex::Regex;

use super::layers::status;

/// Text in the form in which phrases are looked for: lower case, one space between words, plain quotes gone.
pub(crate) fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    for character in text.chars() {
        let character = match character {
            '’' | '‘' => '\'',
            '\u{a0}' | '|' => ' ',
            '`' | '"' | '“' | '”' | '\\' | '*' => continue,
            other => other,
        };
        if character.is_whitespace() {
            space = !out.is_empty();
            continue;
        }
        if space {
            out.push(' ');
            space = false;
        }
        out.extend(character.to_lowercase());
    }
    out
}

/// Words that clients add and that say nothing of the provider; matched on normalised text.
const CLIENT_WORDS: &[&str] = &[
    "possible quota limitations in place or slow response times detected",
    "the api provider has rate limited you. try again later or check your quotas",
    "please run /login",
    "rate limited! please try again later.",
    "error: request was throttled or rate limited. please try:",
    "to increase your rate limit",
    "to discuss your options for a rate limit increase",
    "if it persists, check status.claude.com",
    "this is a server-side issue, usually temporary",
    "you can customize retry values in the configuration",
    "received model group",
    "sorry, your request failed. please try again.",
];

/// Removes what clients add.
pub(crate) fn without_client_words(mut text: String) -> String {
    for words in CLIENT_WORDS {
        if text.contains(words) {
            text = text.replace(words, " ");
        }
    }
    text
}

/// Builds an expression whose shorthands (`\d`, `\s`, `\w`, `\b`) mean ASCII alone. The digits and words of all scripts
/// would take some milliseconds to build, in processes that live for a few; no provider writes a status in them.
pub(crate) fn expression(shorthand: &str) -> Option<Regex> {
    let mut pattern = String::with_capacity(shorthand.len() * 2);
    let mut rest = shorthand.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            pattern.push(character);
            continue;
        }
        match rest.next() {
            Some('d') => pattern.push_str("[0-9]"),
            Some('s') => pattern.push_str(r"[ \t\r\n]"),
            Some('S') => pattern.push_str(r"[^ \t\r\n]"),
            Some('w') => pattern.push_str("[A-Za-z0-9_]"),
            Some('W') => pattern.push_str("[^A-Za-z0-9_]"),
            Some('b') => pattern.push_str(r"(?-u:\b)"),
            Some(other) => pattern.extend(['\\', other]),
            None => pattern.push('\\'),
        }
    }
    Regex::new(&pattern).ok()
}

/// A status with what makes it one: a word before it, or its reason phrase after it.
static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(concat!(
        r#"(?:\bhttp(?:/[0-9.]+)?|\bstatus(?:[ _-]?code)?|\bstatuscode|\berror code|\berror|\bcode|\bexception|\brequest failed|\bresponse|"#,
        r#"\bfailed with|\breturned|\breturns|\bfail(?:ed)?|\bserver error|\bunhandled|\bgot|\bhttperror|\bexhausted|\bexception:|错误|状态码)"#,
        r#"["']?\s*(?:is|was|of|from server|message|=>|not equals 200, code is)?\s*[:=(\[ ]*["'\[(<]?([1-5]\d\d)(?:["')\]>:,;. \n\\{|-]|$)"#,
        r#"|(?:^|\n|[:\[("'⎿✕■●] |\[|\(|\{|: |- |> |" )([45]\d\d)\]?(?:[ :,-]+|\()(?:too many requests|bad request|unauthorized|payment required|forbidden|"#,
        r"not found|method not allowed|request timeout|request entity too large|payload too large|unprocessable|client error|server error|internal server error|",
        r"bad gateway|service unavailable|service temporarily unavailable|gateway time-?out|status code|error|resource_exhausted|unavailable|invalid_argument|permission_denied|",
        r"deadline_exceeded|not_found|unauthenticated|internal)",
        r"|(?:^|\n)[^a-z0-9{]{0,12}(?:[a-z_.]{0,40}error:? |error: |\[?api error: )?\[?([45]\d\d)(?:[ :]| - |\])",
        r"|[:(\[] ?([45]\d\d)(?:[)\]]| \{|: ?\{|: | \]|$)",
        r"|\| ([45]\d\d) \|",
        r#"|" ([45]\d\d) [a-z]"#,
    ))
});

/// The statuses in a lower-case text, in order.
pub(crate) fn statuses(lower: &str) -> Vec<u16> {
    let Some(pattern) = STATUS.as_ref() else { return Vec::new() };
    pattern
        .captures_iter(lower)
        .take(64)
        .filter_map(|captures| {
            let number = captures.iter().skip(1).flatten().next()?;
            let before = lower.get(..number.start())?;
            if counts_something(before) || names_a_place(before) {
                return None;
            }
            status(number.as_str()).filter(|status| *status >= 300)
        })
        .collect()
}

/// Whether the last word before a number makes it a count: `Limit: 500`, `line: 404`.
fn counts_something(before: &str) -> bool {
    const WORDS: &[&str] =
        &["limit", "used", "requested", "current", "max", "line", "port", "size", "cost", "budget", "column", "pid"];
    let word = before.trim_end_matches([' ', ':', '=', '"', '\'']).rsplit(|c: char| !c.is_alphanumeric()).next();
    word.is_some_and(|word| WORDS.contains(&word))
}

/// Whether what stands before a number makes it the line of a source file (`main.go:503]`) or a process (`nginx[429]:`).
fn names_a_place(before: &str) -> bool {
    const STATUS_WORDS: &[&str] = &["error", "status", "code", "http", "exception", "response"];
    if let Some(path) = before.strip_suffix(':') {
        let name = path.rsplit(char::is_whitespace).next().unwrap_or("");
        return name.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty() && (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphabetic())
        });
    }
    let Some(word) = before.strip_suffix('[').and_then(|rest| rest.rsplit(|c: char| !c.is_alphanumeric()).next())
    else {
        return false;
    };
    !word.is_empty() && !STATUS_WORDS.iter().any(|status| word.ends_with(status))
}

/// `code: x`, `ErrorCode: x`, `error_type=x`, `(code: x)`, `[code=x]` and the like.
static FIELD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(
        r#"(?:^|[^a-z0-9])(code|error[_ ]?code|error[_ ]?type|type|reason|finish_?reason|stop_?reason|block_?reason|errorcode|status)["']?\s*(?:[:=]|is)\s*["']?([a-z][a-z0-9_.-]{2,60})"#,
    )
});

/// Identifiers that stand alone: `insufficient_quota`, `throttlingException`, `RESOURCE_EXHAUSTED`, `ModelArts.81005`.
static IDENTIFIER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(r"[A-Za-z][A-Za-z0-9]*(?:[_.][A-Za-z0-9]+)+|[A-Za-z]+(?:Exception|Error|Expired)\b|E[A-Z]{4,12}\b")
});

/// Numbers of four and more digits where providers put them in text: `[1113][`, `(1008)`, `4006: `, `3040 | 429`.
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(
        r"\[(\d{4,6})\]|\((\d{4,6})\)|(?:^|\n|error |code[:= ]{1,2})(\d{4,6})(?: ?[:|]| \|)|code[:= '\x22]{1,4}(\d{4,6})\b",
    )
});

/// The codes in a text: values of fields, identifiers, and numbers in brackets, in lower case.
pub(crate) fn codes(text: &str, lower: &str) -> Vec<String> {
    let mut codes = Vec::new();
    if let Some(pattern) = FIELD.as_ref() {
        for captures in pattern.captures_iter(lower).take(40) {
            let (Some(key), Some(value)) = (captures.get(1), captures.get(2)) else { continue };
            let key = key.as_str().replace(['_', ' '], "");
            if key.ends_with("finishreason") || key == "stopreason" || key == "blockreason" {
                codes.push(format!("{key}={}", value.as_str()));
            } else {
                codes.push(value.as_str().to_owned());
            }
        }
    }
    if let Some(pattern) = IDENTIFIER.as_ref() {
        codes.extend(pattern.find_iter(text).take(120).map(|found| found.as_str().to_ascii_lowercase()));
    }
    if let Some(pattern) = NUMBER.as_ref() {
        let numbers = pattern.captures_iter(lower).take(40);
        codes.extend(
            numbers.filter_map(|captures| captures.iter().skip(1).flatten().next().map(|m| m.as_str().to_owned())),
        );
    }
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Headers in a text: `retry-after: 12`, `"x-ratelimit-reset-tokens" => ["6m0s"]`.
static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(concat!(
        r"(?i)\b((?:x-|anthropic-)?ratelimit-[a-z0-9_-]+|retry-after(?:-ms)?|x-codex-[a-z-]+|cf-mitigated|",
        r#"x-amzn-errortype|x-should-retry)["']?\s*(?:=>|[:=])\s*\[?\s*["']?([^"'\],\n;}]{1,80})"#
    ))
});

/// `Date: Wed, 15 Apr 2026 18:10:56 GMT`, `date: 'Wed, …'`.
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(r#"(?i)\bdate["']?\s{0,2}(?:=>|[:=])\s{0,2}\[?["']?([a-z]{3}, \d{1,2} [a-z]{3} \d{4} [\d:]{8} GMT)"#)
});

/// The headers that a text shows, names in lower case.
pub(crate) fn headers(text: &str) -> Vec<(String, String)> {
    let Some(pattern) = HEADER.as_ref() else { return Vec::new() };
    let mut found: Vec<_> = pattern
        .captures_iter(text)
        .take(80)
        .filter_map(|captures| {
            Some((captures.get(1)?.as_str().to_ascii_lowercase(), captures.get(2)?.as_str().trim().to_owned()))
        })
        .collect();
    // Only beside other headers a date is when the answer was sent.
    if !found.is_empty()
        && let Some(date) = DATE.as_ref()
    {
        let date = date.captures(text).and_then(|captures| captures.get(1));
        found.extend(date.map(|date| ("date".to_owned(), date.as_str().to_owned())));
    }
    found
}

/// The words of an HTML page: its title first, then what a reader would see.
pub(crate) fn html_words(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while out.len() < 4000 {
        let Some(open) = rest.find('<') else {
            push_words(&mut out, rest);
            break;
        };
        push_words(&mut out, rest.get(..open).unwrap_or(""));
        let tag = rest.get(open + 1..).unwrap_or("");
        let name: String = tag.chars().take(6).collect::<String>().to_ascii_lowercase();
        // What stands within these is not shown, and may hold anything.
        let close = if name.starts_with("script") {
            tag.find("</script")
        } else if name.starts_with("style") {
            tag.find("</style")
        } else {
            tag.find('>').map(|end| end + 1)
        };
        let Some(close) = close else { break };
        rest = tag.get(close..).unwrap_or("");
    }
    out
}

fn push_words(out: &mut String, words: &str) {
    let words = words.trim();
    if words.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_statuses_only_where_statuses_stand() {
        for (text, wanted) in [
            ("error code: 429 - {'error'", vec![429]),
            ("http 500: tool call id", vec![500]),
            ("failed with status 413 in 37069ms", vec![413]),
            ("[503 ] the model is overloaded", vec![503]),
            ("429 status code (no body)", vec![429]),
            ("404 no endpoints found", vec![404]),
            ("\"post /chat/completions http/1.1\" 429 too many requests", vec![429]),
            ("status: 401 (permissiondenied)", vec![401]),
            ("[gin] 2025/03/30 - 03:20:02 | x | 503 |    1.786116ms", vec![503]),
            ("api error: 520 status code (no body)", vec![520]),
            ("503 unavailable. {'error'", vec![503]),
            ("limit: 500 / min. current: 501 / min", vec![]),
            ("req_429429 took 404ms and 503 tokens", vec![]),
            ("you requested 400 tokens", vec![]),
            ("at line 429 column 500", vec![]),
            ("i1115 10:00:00.000000 1 main.go:503] cache warm", vec![]),
            ("host nginx[429]: get / ok", vec![]),
            ("error[429]: slow down", vec![429]),
        ] {
            assert_eq!(statuses(text), wanted, "{text}");
        }
    }

    #[test]
    fn codes_stand_in_fields_brackets_and_alone() {
        let found = codes(
            "[1113][x] (code: credit_balance_exhausted) ThrottlingException ModelArts.81005 model (1008)",
            "[1113][x] (code: credit_balance_exhausted) throttlingexception modelarts.81005 model (1008)",
        );
        for code in ["1113", "1008", "credit_balance_exhausted", "throttlingexception", "modelarts.81005"] {
            assert!(found.iter().any(|c| c == code), "{code}: {found:?}");
        }
    }

    #[test]
    fn html_gives_its_visible_words() {
        let page = "<html><head><title>502 Bad Gateway</title><style>a{b:c}</style></head><body><script>x<1</script><h1>Oops</h1>";
        assert_eq!(html_words(page), "502 Bad Gateway\nOops");
    }
}
