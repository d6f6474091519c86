//! `[alarm]`.

use std::time::Duration;

use jiff::civil::{Time, Weekday};

use crate::catalog::zone;
use crate::policy::{AlarmKind, AlarmSettings, Quiet};

use super::key::read_source;
use super::limits::{positive, program};
use super::reader::{Node, Section, suggest};
use super::types::{Alarm, Webhook};
use super::url::check_url;

const KEYS: &[&str] = &["command", "webhook", "on", "hold_from", "forecast", "repeat", "quiet", "timeout", "tries"];

/// What may stand in braces in the words of the command.
const PLACEHOLDERS: &[&str] = &["{summary}", "{text}", "{kind}", "{ladder}"];

const DAYS: &[(&str, Weekday)] = &[
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

/// The longest delivery: a request waits for it at its end.
const LONGEST: Duration = Duration::from_secs(300);

/// Reads `[alarm]`.
pub(super) fn alarm(root: &Section<'_, '_>) -> Option<Alarm> {
    let section = root.section("alarm")?;
    section.allow(KEYS);
    let command = section.get("command").and_then(|node| command(&node)).unwrap_or_default();
    let webhook = section.get("webhook").and_then(|node| webhook(&node));
    if section.get("command").is_none() && section.get("webhook").is_none() {
        let hint = "give a `command`, a `webhook` or both".to_owned();
        section.reader.warn(&section.place, "nobody is told", Some(hint));
    }
    Some(Alarm { command, webhook, settings: settings(&section) })
}

fn settings(section: &Section<'_, '_>) -> AlarmSettings {
    let usual = AlarmSettings::default();
    let span = |key: &str| section.get(key).and_then(|node| positive(&node));
    let timeout = section.get("timeout").and_then(|node| {
        let timeout = positive(&node)?;
        if timeout > LONGEST {
            node.reader.error(&node.place, "must be at most 5m: who rings waits for it", None);
        }
        Some(timeout)
    });
    let tries = section.get("tries").and_then(|node| node.integer(1..=100));
    AlarmSettings {
        on: section.get("on").and_then(|node| kinds(&node)).unwrap_or(usual.on),
        hold_from: span("hold_from").unwrap_or(usual.hold_from),
        forecast: span("forecast").unwrap_or(usual.forecast),
        repeat: section.get("repeat").filter(|node| node.as_text() != Some("off")).and_then(|node| positive(&node)),
        quiet: section.sections("quiet").iter().filter_map(quiet).collect(),
        timeout: timeout.unwrap_or(usual.timeout),
        tries: tries.and_then(|tries| u32::try_from(tries).ok()).unwrap_or(usual.tries),
    }
}

/// The program with its arguments. Words of providers must not become words of a shell.
fn command(node: &Node<'_, '_>) -> Option<Vec<String>> {
    let words = program(node)?;
    let is_shell = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or_default();
        ["sh", "bash", "dash", "zsh", "ksh", "fish"].contains(&name)
    };
    let code = words.iter().zip(words.iter().skip(1)).find(|(flag, _)| flag.starts_with('-') && flag.ends_with('c'));
    if words.first().is_some_and(is_shell) && code.is_some_and(|(_, code)| code.contains("{text}")) {
        let hint =
            "write [\"sh\", \"-c\", \"… \\\"$0\\\"\", \"{text}\"], or read the JSON on standard input".to_owned();
        node.reader.error(&node.place, "`{text}` holds what providers said; a shell would run it", Some(hint));
        return None;
    }
    let unknown = words.iter().find_map(|word| unknown_placeholder(word));
    if let Some(unknown) = unknown {
        let hint = Some(format!("known are {}", PLACEHOLDERS.join(", ")));
        node.reader.warn(&node.place, format!("{} is passed on as it stands", node.reader.show(unknown)), hint);
    }
    Some(words)
}

/// A word in braces that looks like one of ours and is none.
fn unknown_placeholder(word: &str) -> Option<&str> {
    let (at, _) = word.char_indices().find(|(_, c)| *c == '{')?;
    let rest = word.get(at..)?;
    let end = rest.find('}')? + 1;
    let found = rest.get(..end)?;
    let is_plain =
        found.len() > 2 && found.trim_matches(['{', '}']).chars().all(|c| c.is_ascii_lowercase() || c == '_');
    match PLACEHOLDERS.contains(&found) || !is_plain {
        true => unknown_placeholder(rest.get(end..)?),
        false => Some(found),
    }
}

fn webhook(node: &Node<'_, '_>) -> Option<Webhook> {
    let section = node.section()?;
    section.allow(&["url", "secret"]);
    let url = section.need("url", "say where to post").and_then(|node| {
        check_url(&node, &[], "write \"https://HOST/PATH\"")?;
        // As it stands: to who listens a slash at the end may be another place.
        node.as_text().map(|text| text.trim().to_owned())
    });
    let secret = section.need("secret", "for example { env = \"LLMR_WEBHOOK_SECRET\" }");
    let secret = secret.and_then(|node| read_source(&node, "LLMR_WEBHOOK_SECRET"));
    Some(Webhook { url: url?, secret: secret? })
}

fn kinds(node: &Node<'_, '_>) -> Option<Vec<AlarmKind>> {
    let known: Vec<&str> = AlarmKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let kinds: Vec<Option<AlarmKind>> =
        node.one_or_more().iter().map(|item| item.word("kind of alarm", &known)).collect();
    kinds.into_iter().collect()
}

fn quiet(section: &Section<'_, '_>) -> Option<Quiet> {
    section.allow(&["from", "to", "zone", "days", "except"]);
    let hint = "write a time of the day, like \"22:00\"";
    let time = |key: &str| section.need(key, hint).and_then(|node| time(&node, hint));
    let (from, to) = (time("from"), time("to"));
    let place = section.need("zone", "say whose clocks count, like \"Europe/Berlin\" or \"UTC\"");
    let zone = place.and_then(|node| {
        let name = node.text()?;
        let found = zone(&name);
        if found.is_none() {
            let hint = Some("write the name of a time zone, like \"Europe/Berlin\" or \"UTC\"".to_owned());
            node.reader.error(&node.place, format!("unknown time zone {}", node.reader.show(&name)), hint);
        }
        found
    });
    let days = section.get("days").map(|node| days(&node)).unwrap_or_default();
    let except = section.get("except").and_then(|node| kinds(&node)).unwrap_or_default();
    Some(Quiet { from: from?, to: to?, zone: zone?, days, except })
}

fn time(node: &Node<'_, '_>, hint: &str) -> Option<Time> {
    let text = node.text()?;
    let parts: Vec<Option<i8>> = text.split(':').map(|part| part.parse().ok().filter(|_| part.len() == 2)).collect();
    let found = match parts.as_slice() {
        [Some(hour), Some(minute)] => Time::new(*hour, *minute, 0, 0).ok(),
        _ => None,
    };
    if found.is_none() {
        let message = format!("{} is no time of the day", node.reader.show(&text));
        node.reader.error(&node.place, message, Some(hint.to_owned()));
    }
    found
}

fn days(node: &Node<'_, '_>) -> Vec<Weekday> {
    let day = |item: &Node<'_, '_>| {
        let text = item.text()?;
        let found = DAYS.iter().find(|(word, _)| *word == text).map(|(_, day)| *day);
        if found.is_none() {
            let hint = suggest(&text, DAYS.iter().map(|(word, _)| *word));
            item.reader.error(&item.place, format!("unknown day {}", item.reader.show(&text)), hint);
        }
        found
    };
    node.one_or_more().iter().filter_map(day).collect()
}
