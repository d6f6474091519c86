//! The lines of a text, cut into what must be read in different ways: exchanges as curl shows them, dumps of event
//! streams, documents of several lines, and the log around them.

use serde_json::Value;

use crate::catalog::Catalog;
use crate::classify::{Classifier, provider};
use crate::domain::{Class, Evidence, ProviderName};

use super::exchange::{self, is_event};
use super::line::Line;
use super::stamp::Reading;
use super::tells::is_description;
use super::{Broken, Capture, har, jsonl, log, structured};

/// A text between records.
pub(super) struct Text<'t> {
    /// Its lines.
    pub(super) lines: &'t [Line<'t>],
    /// Whether it is all that there is.
    pub(super) whole: bool,
    /// Whether nothing comes after it.
    pub(super) last: bool,
}

/// Reads the failures, in order.
pub(super) fn read(text: &Text<'_>, reading: &Reading) -> Vec<Result<Capture, Broken>> {
    let mut out = Out { reading, found: Vec::new() };
    let mut start = 0;
    let mut at = 0;
    // Documents that do not end must not be read again from each of their lines.
    let mut budget = text.lines.iter().map(|line| line.text.len() + 1).sum::<usize>() * 4 + 4096;
    while at < text.lines.len() {
        let lines = text.lines.get(at..).unwrap_or(&[]);
        let dump = exchange::read(lines);
        if let Some(Err(passed)) = dump {
            at += passed;
            continue;
        }
        let end = if let Some(Ok(exchange)) = dump {
            out.log(text.lines.get(start..at));
            let before = at.checked_sub(1).and_then(|before| text.lines.get(before)).map_or("", |line| &line.text);
            out.exchange(lines, exchange, before)
        } else if let Some((end, holds_data)) = events(lines) {
            if !holds_data {
                at += end;
                continue;
            }
            out.log(text.lines.get(start..at));
            out.events(lines, end, text.last && at + end == text.lines.len())
        } else if let Some((value, joined, end)) = document(lines, &mut budget)
            && out.takes(&value, text.whole && is_all(text.lines, at, at + end))
        {
            out.log(text.lines.get(start..at));
            out.document(&value, &joined, lines, end);
            end
        } else {
            at += 1;
            continue;
        };
        at += end;
        start = at;
    }
    out.log(text.lines.get(start..));
    out.found
}

/// Whether there are only blank lines before `from` and from `to` on.
fn is_all(lines: &[Line<'_>], from: usize, to: usize) -> bool {
    lines.iter().enumerate().all(|(at, line)| (from..to).contains(&at) || line.text.trim().is_empty())
}

/// How many lines look like a dump of events that begins here, and whether they hold data: `data:` alone may begin a
/// sentence.
fn events(lines: &[Line<'_>]) -> Option<(usize, bool)> {
    let first = lines.first()?.text.as_ref();
    if !(first.starts_with("data:") || first.starts_with("event:")) {
        return None;
    }
    let mut end = 0;
    for (at, line) in lines.iter().enumerate() {
        if is_event(&line.text) {
            end = at + 1;
        } else if !line.text.trim().is_empty() {
            break;
        }
    }
    let holds_data = lines
        .iter()
        .take(end)
        .any(|line| line.text.strip_prefix("data:").is_some_and(|data| data.trim_start().starts_with(['{', '['])));
    Some((end.max(1), holds_data))
}

/// The JSON document that begins here and takes several lines, or the whole line.
fn document(lines: &[Line<'_>], budget: &mut usize) -> Option<(Value, String, usize)> {
    let first = lines.first()?.text.trim_end();
    if !first.starts_with(['{', '[']) || *budget == 0 {
        return None;
    }
    let next = lines.get(1).map_or("", |line| line.text.trim_start());
    // `[2026-01-01 …]` and `{x} failed` begin lines of logs.
    let opens =
        first.len() < 3 || next.starts_with(['"', '{', '[', '}', ']']) || first.ends_with(['}', ']', '{', '[', ',']);
    if !opens {
        return None;
    }
    // Most that is not whole says so early; the whole rest is looked at only if that may help.
    [FIRST_LOOK, usize::MAX].into_iter().find_map(|limit| parsed(lines, limit, budget)).flatten()
}

/// How much of a document is looked at first, in bytes.
const FIRST_LOOK: usize = 2048;

/// The document within the first `limit` bytes; an outer none says that more of them may hold one.
#[expect(clippy::option_option, reason = "whether it is known, and what it is")]
fn parsed(lines: &[Line<'_>], limit: usize, budget: &mut usize) -> Option<Option<(Value, String, usize)>> {
    let mut joined = String::new();
    let mut rest = lines.iter();
    while joined.len() < limit.min(*budget) {
        let Some(line) = rest.next() else { break };
        joined.push_str(&line.text);
        joined.push('\n');
    }
    let cut = rest.next().is_some();
    *budget = budget.saturating_sub(joined.len());
    let mut values = serde_json::Deserializer::from_str(&joined).into_iter::<Value>();
    let value = match values.next()? {
        Err(error) if error.is_eof() && cut && *budget > 0 => return None,
        value => value.ok().filter(|value| value.is_object() || value.is_array()),
    };
    let end = values.byte_offset();
    let Some(value) = value else { return Some(None) };
    let rest_of_line = joined.get(end..).and_then(|rest| rest.split('\n').next()).unwrap_or("");
    if !rest_of_line.trim().is_empty() {
        return Some(None);
    }
    let taken = joined.get(..end).map_or(0, |text| text.matches('\n').count()) + 1;
    joined.truncate(end);
    Some(Some((value, joined, taken)))
}

struct Out<'r> {
    reading: &'r Reading,
    found: Vec<Result<Capture, Broken>>,
}

impl Out<'_> {
    fn log(&mut self, lines: Option<&[Line<'_>]>) {
        let lines = lines.unwrap_or(&[]);
        if lines.iter().all(|line| line.text.trim().is_empty()) {
            return;
        }
        let mut captures = log::read(lines, self.reading).into_iter().peekable();
        // curl's own last word repeats what the exchange before it has shown.
        if let (Some(Ok(before)), Some(next)) = (self.found.last(), captures.peek())
            && !before.evidence.body.is_empty() | !before.evidence.headers.is_empty()
            && next.evidence.log.starts_with("curl: (22)")
        {
            captures.next();
        }
        self.found.extend(captures.map(Ok));
    }

    /// Adds the exchange, if it failed, and says how many lines it takes.
    /// `before` is the line before it: the command, which names the host that a plain dump does not.
    fn exchange(&mut self, lines: &[Line<'_>], exchange: exchange::Exchange, before: &str) -> usize {
        let Some(mut evidence) = exchange.evidence.filter(|evidence| failed(evidence, true)) else {
            return exchange.end;
        };
        let number = |at: usize| lines.get(at).map_or(0, |line| line.number);
        if evidence.provider.is_none() && before.contains("://") {
            let named = provider::recognise(&Evidence::default(), before, &Catalog::default());
            evidence.provider = named.map(ProviderName::new);
        }
        evidence.at = lines.first().and_then(|line| line.at);
        let mut capture =
            Capture { id: None, line: number(exchange.status_at), end_line: number(exchange.last), evidence };
        self.merge_before(&mut capture, number(0));
        self.found.push(Ok(capture));
        exchange.end
    }

    fn events(&mut self, lines: &[Line<'_>], end: usize, at_end: bool) -> usize {
        let dump = lines.get(..end).unwrap_or(&[]);
        let body: Vec<&str> = dump.iter().map(|line| line.text.as_ref()).collect();
        let evidence = Evidence { body: body.join("\n") + "\n", ..Evidence::default() };
        if let (Some(first), Some(last)) = (dump.first(), dump.last())
            && failed(&evidence, at_end)
        {
            let mut capture = Capture { id: None, line: first.number, end_line: last.number, evidence };
            self.merge_before(&mut capture, first.number);
            self.found.push(Ok(capture));
        }
        end
    }

    /// A line of the log right before a dump tells of the same failure.
    fn merge_before(&mut self, capture: &mut Capture, starts: usize) {
        let Some(Ok(before)) = self.found.last() else { return };
        let near = !before.evidence.log.is_empty() && before.end_line + 2 >= starts;
        if !near {
            return;
        }
        let (told, shown) = (judged(&before.evidence), judged(&capture.evidence));
        let status_told = before.evidence.log.lines().last().unwrap_or("").to_lowercase();
        let statuses = crate::classify::text::statuses(&status_told);
        let agrees = statuses.is_empty() || capture.evidence.status.is_none_or(|status| statuses.contains(&status));
        if agrees && (told == shown || told == Class::Unknown || status_told.trim_end().ends_with(':')) {
            capture.line = before.line;
            capture.evidence.at = capture.evidence.at.or(before.evidence.at);
            self.found.pop();
        }
    }

    /// Whether a document is read as a whole. An error on its own is, when there is nothing else; within a log it is
    /// part of the log.
    fn takes(&self, value: &Value, whole: bool) -> bool {
        match value {
            Value::Object(map) => {
                whole || har::is_har(value) || jsonl::is_record(map) || {
                    let mut lines = Vec::new();
                    structured::add_object(0, map, self.reading, &mut lines)
                }
            }
            Value::Array(items) => whole || items.iter().any(|item| item.as_object().is_some_and(jsonl::is_record)),
            _ => false,
        }
    }

    fn document(&mut self, value: &Value, text: &str, lines: &[Line<'_>], end: usize) {
        let first = lines.first().map_or(1, |line| line.number);
        let last = lines.get(end.saturating_sub(1)).map_or(first, |line| line.number);
        match value {
            Value::Object(_) if har::is_har(value) => self.found.extend(har::read(text.as_bytes(), first)),
            Value::Object(map) if jsonl::is_record(map) => self.record(map, first, last),
            Value::Array(items) if items.iter().any(|item| item.as_object().is_some_and(jsonl::is_record)) => {
                items.iter().filter_map(Value::as_object).for_each(|map| self.record(map, first, last));
            }
            Value::Object(map) => {
                let mut lines = Vec::new();
                match structured::add_object(first, map, self.reading, &mut lines) {
                    true => {
                        number(&mut lines, text, first);
                        self.log(Some(&lines));
                    }
                    false => self.body(value, text, first, last),
                }
            }
            _ => self.body(value, text, first, last),
        }
    }

    fn record(&mut self, map: &serde_json::Map<String, Value>, line: usize, end_line: usize) {
        self.found.push(jsonl::of_object(map.clone(), line).map(|capture| Capture { end_line, ..capture }));
    }

    fn body(&mut self, value: &Value, text: &str, line: usize, end_line: usize) {
        let evidence = Evidence { body: text.to_owned(), ..Evidence::default() };
        if !is_description(value) && failed(&evidence, true) {
            self.found.push(Ok(Capture { id: None, line, end_line, evidence }));
        }
    }
}

/// Gives lines that come from a document the numbers of the lines on which their texts stand there.
fn number(lines: &mut [Line<'_>], document: &str, first: usize) {
    let mut place = 0;
    let mut line = first;
    for one in lines {
        // As the document spells it, up to where it may be cut differently.
        let spelled = Value::from(one.text.trim_start_matches(|c: char| c.is_ascii_uppercase()).trim()).to_string();
        let spelled: String = spelled.trim_matches('"').chars().take(60).collect();
        let rest = document.get(place..).unwrap_or("");
        if let Some(at) = rest.find(&spelled).filter(|_| spelled.len() > 3) {
            line += rest.get(..at).map_or(0, |passed| passed.matches('\n').count());
            place += at + spelled.len();
        }
        one.number = line;
    }
}

fn judged(evidence: &Evidence) -> Class {
    // The class does not depend on the time.
    Classifier::default().classify(evidence, &Catalog::default(), jiff::Timestamp::UNIX_EPOCH).class
}

/// Whether what came over the wire is a failure: its status is, or there is an error in it, or it is no whole answer.
/// `at_end` says that nothing comes after it, so that a stream without an end was cut.
pub(super) fn failed(evidence: &Evidence, at_end: bool) -> bool {
    match evidence.status {
        Some(400..) => return true,
        Some(..200 | 300..400) => return false,
        _ => {}
    }
    let failure = Classifier::default().classify(evidence, &Catalog::default(), jiff::Timestamp::UNIX_EPOCH);
    match failure.rule.as_str() {
        "answer.not_as_asked" | "answer.not_json" | "answer.nothing" => false,
        "answer.cut" => at_end,
        _ => failure.class != Class::Unknown || log::holds_error(&evidence.body),
    }
}
