//! What is known by its form: keys, ids with a prefix, UUIDs, e-mail addresses, telephone numbers.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, words};
use crate::classify::text::expression;

/// Keys that begin with something known. Providers echo them with stars or dots in the middle.
static KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(concat!(
        r"\b(?:(?:sk|pk|rk)[-_](?:ant-|proj-|or-v1-|svcacct-|admin-|None-|lf-|live_|test_)?|gsk_|AIza|ya29\.|xai-|nvapi-|pplx-|csk-|hf_|gh[pousr]_|",
        r"github_pat_|glpat-|fw_|r8_|tgp_v1_|dop_v1_|xox[abp]-|AKIA|ASIA|AROA|AIDA|ABSK)[A-Za-z0-9_*.…•-]*[A-Za-z0-9*]",
        r"|\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,2}",
        r"|[A-Za-z0-9_-]+(?:\*{3,}|•{3,}|…)[A-Za-z0-9_-]+",
        r"|[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*\*{3,}",
    ))
});

/// Ids that begin with something known.
static IDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(concat!(
        r"\b(?:req|resp|chatcmpl|cmpl|org|proj|gen|msg|toolu|asst|acct|acc|cus|usr|user|thread|run|step|call|batch|file|sess|session|key|ak|ws|wrkspc|",
        r"ep|rs|fc|vs|trace|span|tenant|team|workspace|project|sub)[-_](?:(?:vrtx|bdrk)_)?([A-Za-z0-9][A-Za-z0-9_-]*)",
    ))
});

/// UUIDs, and addresses of network cards.
static UUIDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(
        r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}|\b[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}\b",
    )
});

/// E-mail addresses.
static MAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(r"[A-Za-z0-9._%+-]{1,64}@([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}\.[A-Za-z]{2,24})")
});

/// Telephone numbers: with a country's code, in the American form, and behind the word.
static PHONES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(concat!(
        r"(?:^|[^\w+.-])(\+[1-9]\d{0,2}(?:[ .-]?\(?\d{1,5}\)?){2,6})(?:$|[^\w])",
        r"|(?:^|[^\w.-])((?:1-)?\(?[2-9]\d{2}\)?[ -]\d{3}-\d{4})(?:$|[^\w-])",
        r#"|(?i:\b(?:phone|telephone|tel|mobile|fax)(?:[ _-]?number)?["']{0,8}\s?[:=]?\s?["']{0,8})(\+?[\d(][\d ().-]{5,20}\d)"#,
    ))
});

pub(super) fn find(shadow: &str, found: &mut Found) {
    keys(shadow, found);
    ids(shadow, found);
    for uuid in UUIDS.iter().flat_map(|pattern| pattern.find_iter(shadow)) {
        found.add((uuid.start(), uuid.end()));
    }
    for captures in MAILS.iter().flat_map(|pattern| pattern.captures_iter(shadow)) {
        let (Some(whole), Some(domain)) = (captures.get(0), captures.get(1)) else { continue };
        if !is_public_desk(whole.as_str(), domain.as_str()) {
            found.add((whole.start(), whole.end()));
        }
    }
    for captures in PHONES.iter().flat_map(|pattern| pattern.captures_iter(shadow)) {
        let number = captures.iter().skip(1).flatten().next();
        if let Some(number) = number.filter(|number| number.as_str().bytes().filter(u8::is_ascii_digit).count() >= 7) {
            found.add((number.start(), number.end()));
        }
    }
}

fn keys(shadow: &str, found: &mut Found) {
    for key in KEYS.iter().flat_map(|pattern| pattern.find_iter(shadow)) {
        let text = key.as_str();
        let is_cut = text.contains(['*', '…', '•']) || text.contains("...");
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let longest = text.split(|c: char| !c.is_alphanumeric()).map(str::len).max().unwrap_or(0);
        // `xai-grok-2`, `pplx-7b-online` and `sk-learn` are no keys.
        let is_long = longest >= 16 || (text.len() >= 24 && digits >= 3);
        let is_key = is_cut
            || is_long
            || text.starts_with("eyJ")
            || (text.starts_with("sk-") && (digits > 0 || text.len() >= 12));
        if is_key && !words::is_model(text) {
            found.add((key.start(), key.end()));
        }
    }
}

/// Words that begin so are codes and fields as well (`user_global_rate_limited`, `call-checks`).
fn ids(shadow: &str, found: &mut Found) {
    for captures in IDS.iter().flat_map(|pattern| pattern.captures_iter(shadow)) {
        let (Some(whole), Some(rest)) = (captures.get(0), captures.get(1)) else { continue };
        let drawn = |part: &str| {
            let digits = part.bytes().filter(u8::is_ascii_digit).count();
            digits > 0 && (part.len() >= 6 || digits == part.len()) || part.len() >= 20
        };
        let is_short = !rest.as_str().contains(['_', '-']) && rest.as_str().bytes().any(|byte| byte.is_ascii_digit());
        if is_short || rest.as_str().split(['_', '-']).any(drawn) {
            found.add((whole.start(), whole.end()));
        }
    }
}

/// `support@openai.com` is nobody's address.
fn is_public_desk(whole: &str, domain: &str) -> bool {
    const DESKS: &[&str] = &[
        "support", "help", "sales", "contact", "feedback", "billing", "security", "info", "noreply", "no-reply",
        "abuse", "git", "api",
    ];
    let desk = whole.split('@').next().unwrap_or("").to_ascii_lowercase();
    let is_desk = DESKS.contains(&desk.as_str()) || desk.ends_with("-feedback") || desk.ends_with("-support");
    is_desk && super::hosts::is_public(domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        Found::texts(find, text)
    }

    #[test]
    fn forms_are_told_from_words() {
        for (text, wanted) in [
            ("provided: sk-proj-ab****wxyz. You", vec!["sk-proj-ab****wxyz"]),
            ("key abcd12******wxyz.", vec!["abcd12******wxyz"]),
            ("AKIAIOSFODNN7EXAMPLE!", vec!["AKIAIOSFODNN7EXAMPLE"]),
            ("eyJhbGciOiJI.eyJzdWIiOiIx.abc-_1", vec!["eyJhbGciOiJI.eyJzdWIiOiIx.abc-_1"]),
            ("in req_011CSHoEeq or proj_x1", vec!["req_011CSHoEeq", "proj_x1"]),
            ("mail alice.b+x@acme.example.", vec!["alice.b+x@acme.example"]),
            ("call +49 30 1234567 or (555) 123-4567", vec!["+49 30 1234567", "(555) 123-4567"]),
        ] {
            assert_eq!(found(text), wanted, "{text}");
        }
        for text in [
            "user_global_rate_limited",
            "call-checks",
            "org_level_disabled",
            "key_model_access_denied",
            "file_not_found",
            "support@openai.com",
            "generative-ai@0.24.1",
            "xai-grok-2",
            "pplx-7b-online",
            "**bold**",
            "2026-08-23 10:00:00",
            "sk-learn",
            "1-2-3",
            "limit 100-200-3000",
            "+1.5",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
