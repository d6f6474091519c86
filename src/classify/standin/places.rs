//! What is known by what stands before it: fields, headers, marked words, paths, parts of resource names.

use std::sync::LazyLock;

use regex::{Captures, Match, Regex};

use super::{Found, words};
use crate::classify::text::expression;

/// How sure the place is that a name stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Whatever stands there goes: keys, cookies, ids.
    Secret,
    /// A name, unless it is a common word.
    Name,
    /// A name only if it looks like none of the plain words.
    Distinct,
    /// As `Name`, and nothing that could be a model.
    Deployment,
}

/// An expression whose first group that took part is what stands at the place.
struct Place {
    trust: Trust,
    expression: Regex,
}

/// Names of fields whose values are keys, or cookies.
const SECRETS: &str = concat!(
    "(?:[a-z0-9]{1,20}[-_]){0,3}(?:api[-_ ]?key|apikey|access[-_ ]?key(?:[-_ ]?id)?|secret(?:[-_ ]?(?:access[-_ ]?)?key)?|password|passwd|pwd|",
    "(?:access|refresh|auth|id|session|security|bearer|csrf|client)[-_ ]?(?:token|secret)|private[-_ ]?key|credential|signature|x-amz-security-token)"
);

/// Names of fields and headers whose values are ids.
const IDS: &str = concat!(
    "(?:[a-z0-9]{1,20}[-_]){0,4}(?:request|trace|span|parent|correlation|session|conversation|thread|response|generation|completion|call|event|",
    "transaction|operation|invocation|device|installation|instance|client|log|run|job|batch|ray|key|amz|amzn)[-_ ]?(?:id|uuid|ref)(?:[-_]2)?|",
    "cf-ray|traceparent|tracestate|x-request|requestid|x-cloud-trace-context|x-azure-ref|etag|x-served-by|x-amz-cf-(?:id|pop)|apim-request-id"
);

/// Names of fields and headers whose values are names.
const NAMES: &str = concat!(
    "(?:[a-z0-9]{1,20}[-_]){0,3}(?:organi[sz]ation|org|project|workspace|tenant|team|user|end[-_]?user|account|customer|company|owner|actor|principal|",
    "login|subscription|resource[-_ ]?group|resource|namespace|bucket|department|division|key|full|first|last|display|given|family|nick)",
    "(?:[-_ ]?(?:ids?|name|alias|slug|uuid|uid|number|label|display[-_]?name|login|hash|e?mail))?"
);

/// The same, but those that mean another thing as fields of their own.
const NOT_ALONE: &[&str] = &["key", "full", "first", "last", "display", "given", "family", "nick", "resource"];

/// A value in quotes, however deep they are escaped.
const QUOTED: &str = r#"(?:"{1,8}([^"\n]{1,120})"|'{1,8}([^'\n]{1,120})'|`{1,8}([^`\n]{1,120})`|“([^”\n]{1,120})”)"#;

/// A value without quotes.
const BARE: &str = r#"([^\s"'`“”,;&(){}\[\]<>=\\]{1,200})"#;

/// Words after which a name stands in a sentence.
const MARKS: &str =
    "(?:organi[sz]ation|project|workspace|tenant|team|user|account|customer|company|subscription|resource group)";

/// The same, as far as other things than names follow them without quotes.
const MARKS_OF_QUOTES: &str = "(?:org|directory|namespace|组织|项目|用户|租户|账号|账户)";

/// What may stand between such a word and the name.
const KINDS: &str = "(?:id |name |named |called |number )?";

static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let all = secrets().into_iter().chain(ids()).chain(names()).chain(marked()).chain(sentences()).chain(paths());
    all.filter_map(|(trust, text)| Some(Place { trust, expression: expression(&text)? })).collect()
});

/// The beginning of an expression for the value of a field.
fn field(names: &str) -> String {
    format!(r#"(?i)(?:^|[^a-z0-9_-])({names})["'`]{{0,8}}\s{{0,2}}(?:=>|[:=])\s{{0,2}}"#)
}

/// Keys and cookies.
fn secrets() -> Vec<(Trust, String)> {
    vec![
        (
            Trust::Secret,
            concat!(
                r#"(?i)(?:^|[^a-z-])(?:proxy-)?authorization["'`]{0,8}\s?[:=]\s?["'`]{0,8}"#,
                r#"(?:(?:bearer|basic|digest|token|apikey|aws4-hmac-sha256) )?([^"'`\n]{3,})"#
            )
            .to_owned(),
        ),
        (
            Trust::Secret,
            concat!(
                r#"(?i)(?:^|[^a-z-])set-cookie2?["'`]{0,8}\s?(?:=>|[:=])\s?[\["'`]{0,9}"#,
                r#"[^\s=;"'`]{1,100}=([^\s;"'`]+)"#
            )
            .to_owned(),
        ),
        (
            Trust::Secret,
            r#"(?i)(?:^|[^a-z-])cookies?["'`]{0,8}\s?(?:=>|[:=])\s?["'`]{0,8}([^\s"'`=;]{1,100}=[^\n"'`]+)"#.to_owned(),
        ),
        (Trust::Secret, r#"(?i)\b(?:bearer|basic) ([a-z0-9._~+/-]{8,}=*)"#.to_owned()),
        (Trust::Secret, format!("{}{QUOTED}", field(SECRETS))),
        (Trust::Secret, format!("{}{BARE}", field(SECRETS))),
        (
            Trust::Distinct,
            format!(
                r#"(?i)\bapi[ _-]?key(?: (?:provided|used|given|is|was|with|ending in|starting with))?:? ["'`]{{0,8}}{BARE}"#
            ),
        ),
        (
            Trust::Secret,
            r#"[?&](?:key|api[-_]?key|token|access_token|sig|signature|code|s|X-Amz-[A-Za-z-]{3,20})=([^\s&"'`<>]+)"#
                .to_owned(),
        ),
    ]
}

/// Ids of requests, traces, sessions and machines.
fn ids() -> Vec<(Trust, String)> {
    let between = r#"["'`]{0,8}\s{0,2}(?:=>|[:=]|is|of)?\s{0,2}["'`]{0,8}"#;
    vec![
        (Trust::Distinct, format!("{}{QUOTED}", field(IDS))),
        (Trust::Distinct, format!("(?i)(?:^|[^a-z0-9_-])({IDS}){between}{BARE}")),
    ]
}

/// Names in fields and headers.
fn names() -> Vec<(Trust, String)> {
    let bare = format!(r#"(?i)(?:^|[^a-z0-9_-])({NAMES})(?:["'`]{{1,8}}:\s{{0,2}}|:\s{{1,2}}){BARE}"#);
    vec![
        (Trust::Name, format!("{}{QUOTED}", field(NAMES))),
        (Trust::Name, format!("(?i)(?:^|[^a-z0-9_-])({NAMES})={BARE}")),
        (
            Trust::Name,
            format!(
                "(?im)^(?:[a-z]{{1,20}}-){{1,3}}(?:organi[sz]ation|org|project|workspace|tenant|team|user|account|customer)\
                 (?:-(?:id|name))?: ?{BARE}"
            ),
        ),
        // Words may follow that belong to no name, as in `project: not found`.
        (Trust::Name, format!(r"{bare}\s{{0,2}}(?:[,;)}}|\]\n]|$)")),
        (Trust::Distinct, bare),
    ]
}

/// Names in sentences, in quotes and brackets or unlike any word.
fn marked() -> Vec<(Trust, String)> {
    vec![
        (Trust::Name, format!(r"(?i)\b{MARKS}s? {KINDS}{QUOTED}")),
        (
            Trust::Name,
            format!(r"(?i)(?:{MARKS}|{MARKS_OF_QUOTES}) ?(?:{QUOTED}|\[([^\]\n]{{1,60}})\]|« ?([^»\n]{{1,60}})»)"),
        ),
        (Trust::Name, format!(r"(?i:{MARKS}) \(([A-Z][A-Za-z0-9&. -]{{1,60}})\)")),
        (Trust::Distinct, format!(r"{MARKS_OF_QUOTES} ?{BARE}")),
        // The number of a project needs no blank in front.
        (Trust::Distinct, format!(r"(?i)(?:^|[^a-z]){MARKS}[_ ]?(?:number|id):(\d{{5,20}})")),
        (Trust::Distinct, format!(r"(?i)\b{MARKS}s? {KINDS}{BARE}")),
        (Trust::Deployment, format!(r#"(?i)\bdeployment(?:[_ -]?(?:name|id))?["'`]{{0,8}}\s?[:= ]\s?{QUOTED}"#)),
    ]
}

/// Names in sentences, that look like words.
fn sentences() -> Vec<(Trust, String)> {
    vec![
        (
            Trust::Name,
            format!(r"\b(?i:{MARKS}) ((?:[A-Z][a-z0-9]+[A-Za-z0-9.&-]*)(?: (?:[A-Z][A-Za-z0-9.&-]+)){{0,5}})"),
        ),
        (
            Trust::Name,
            format!(
                "(?i)\\b(?:in|of|for|by|to|from|under|on) (?:the |your )?{MARKS} ([a-z][a-z0-9._-]{{1,60}})\
                 (?: (?:on|in|is|has|was|does|exceeded|hit|reached|cannot|with)\\b|[,.;:)]?(?:\\s|$))"
            ),
        ),
        (
            Trust::Name,
            format!(
                "(?i)\\b{MARKS} ([a-z][a-z0-9._-]{{1,60}}) (?:(?:is|has been|was) \
                 (?:suspended|disabled|deactivated|inactive|blocked|banned|locked|not)|does not|doesn't|has (?:no|not|exceeded)|\
                 exceeded|cannot|lacks)\\b"
            ),
        ),
    ]
}

/// Names and account numbers in paths and resource names.
fn paths() -> Vec<(Trust, String)> {
    let segment = r#"/([A-Za-z0-9][^\s/"'`,;:&?#(){}\[\]<>]{0,80})"#;
    let kinds = "organizations|projects|accounts|workspaces|users|tenants|teams|subscriptions|resourcegroups|customers|\
                 tunedmodels";
    vec![
        (Trust::Name, format!("(?i)(?:^|[^a-z])(?:{kinds}){segment}")),
        (Trust::Deployment, format!("(?i)(?:^|[^a-z])deployments{segment}")),
        (Trust::Secret, r"arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:(\d{12})".to_owned()),
        (Trust::Secret, r"(?i)\b(?:account|acct)(?:[ _-]?(?:id|number|no))?\W{0,4}(\d{4}-?\d{4}-?\d{4})\b".to_owned()),
        (
            Trust::Name,
            concat!(
                r"arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:\d{12}:(?:user|role|assumed-role|group|policy|federated-user|",
                r"instance-profile|agent|guardrail|knowledge-base|endpoint|secret|[a-z-]+-model|",
                r#"application-inference-profile)[/:]([^\s"'`,;(){}\[\]<>]{1,200})"#
            )
            .to_owned(),
        ),
        (Trust::Name, r#"(?i)(?:^|[^a-z0-9])(?:/export)?/(?:home|Users)/([^\s/\\:"'`,;(){}\[\]<>]{1,64})"#.to_owned()),
        (Trust::Distinct, format!("(?i)(?:^|[^a-z])(?:pods?|nodes?|namespaces?|containers?){segment}")),
        (Trust::Name, r#"://([^\s/@:"'`]{1,64})(?::[^\s/@"'`]{0,200})?@"#.to_owned()),
        (Trust::Secret, r#"://[^\s/@:"'`]{0,64}:([^\s/@"'`]{1,200})@"#.to_owned()),
        // What a shell says before a command.
        (Trust::Name, r"([a-z_][a-z0-9_.-]{0,31}@[A-Za-z0-9][A-Za-z0-9-]{0,62})[: ]~".to_owned()),
        // With blanks in it where the path goes on, else one word.
        (Trust::Name, r#"(?i)\b[a-z]:/{1,8}Users/{1,8}([^/:*?"'`<>|\n]{1,40})/"#.to_owned()),
        (Trust::Name, r#"(?i)\b[a-z]:/{1,8}Users/{1,8}([^\s/:*?"'`<>|,;)]{1,40})"#.to_owned()),
    ]
}

/// `ft:gpt-4o-mini:acme:support-bot:AbC123`: for whom the model was made.
static TUNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(r#"\bft:[A-Za-z0-9._-]{1,60}:([^\s:"'`,]{0,60}):([^\s:"'`,]{0,60}):?([^\s:"'`,]{0,60})"#)
});

/// The parts of resource names that models are called by.
static IN_MODELS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expression(
        r#"(?:^|[/:])(?:projects|organizations|subscriptions|resourceGroups|deployments|accounts)/([^\s/"'`:]{1,80})|arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:(\d{12})"#,
    )
});

pub(super) fn find(shadow: &str, found: &mut Found) {
    for place in PLACES.iter() {
        for captures in place.expression.captures_iter(shadow) {
            if let Some(value) = value(&captures)
                && !is_not_alone(&captures)
            {
                take(place.trust, value, found);
            }
        }
    }
    found.spans.extend(in_models(shadow));
}

/// What tells whose a model is, in its name.
pub(super) fn in_models(shadow: &str) -> Vec<super::Span> {
    let mut spans = Vec::new();
    for captures in TUNED.iter().chain(IN_MODELS.iter()).flat_map(|pattern| pattern.captures_iter(shadow)) {
        let parts = captures.iter().skip(1).flatten();
        let private = parts
            .filter(|part| !part.is_empty() && !words::are_common(part.as_str()) && !words::is_model(part.as_str()));
        spans.extend(private.map(|part| (part.start(), part.end())));
    }
    spans
}

/// The last group that took part.
fn value<'t>(captures: &Captures<'t>) -> Option<Match<'t>> {
    captures.iter().skip(1).flatten().last()
}

/// `"key": …` and `"first": …` are other things than `key_name` and `first_name`.
fn is_not_alone(captures: &Captures<'_>) -> bool {
    let mut groups = captures.iter().skip(1).flatten();
    let (Some(field), Some(_)) = (groups.next(), groups.next()) else { return false };
    NOT_ALONE.contains(&field.as_str().to_ascii_lowercase().as_str())
}

fn take(trust: Trust, value: Match<'_>, found: &mut Found) {
    let text = value.as_str().trim_end_matches(|c: char| !c.is_alphanumeric() && c != '*');
    let trimmed = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '*');
    let from = value.start() + (text.len() - trimmed.len());
    let span = (from, from + trimmed.len());
    if trimmed.is_empty() || is_placeholder(trimmed) || is_resource(trimmed) {
        return;
    }
    let is_plain = words::are_common(trimmed);
    match trust {
        Trust::Secret if !is_plain => found.add(span),
        Trust::Name if !is_plain => found.add_name(span),
        Trust::Distinct if !is_plain && is_token(trimmed) && !words::is_model(trimmed) => found.add_name(span),
        Trust::Deployment if !is_plain && !words::is_model(trimmed) => found.add_name(span),
        _ => {}
    }
}

/// A word with digits or marks in it, or with a star. Short numbers are counts and statuses.
fn is_token(text: &str) -> bool {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    let has_words_only = text
        .split(['-', '_', '.', '/'])
        .all(|part| part.bytes().all(|byte| byte.is_ascii_lowercase()) && words::is_common(part));
    if is_number { text.len() >= 5 && !text.contains(['.', ',']) } else { words::is_distinct(text) && !has_words_only }
}

fn is_placeholder(text: &str) -> bool {
    text.eq_ignore_ascii_case("[redacted]") || text.eq_ignore_ascii_case("redacted") || text.starts_with("[redacted]")
}

/// What has parts of its own, which other places and forms know.
fn is_resource(text: &str) -> bool {
    text.starts_with("arn:")
        || text.contains("://")
        || text.starts_with("projects/")
        || text.starts_with("organizations/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_can_be_built() {
        for (_, text) in
            secrets().into_iter().chain(ids()).chain(names()).chain(marked()).chain(sentences()).chain(paths())
        {
            assert!(expression(&text).is_some(), "{text}");
        }
        assert!(TUNED.is_some() && IN_MODELS.is_some());
    }
}
