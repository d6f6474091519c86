//! HAR files: the entries whose response is an error, or that got none.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::catalog::Catalog;
use crate::classify::provider;
use crate::domain::{Evidence, ProviderName, TransportFault};

use super::{Broken, Capture};

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    log: Log<'a>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow)]
    entries: Vec<&'a RawValue>,
}

/// Whether a text begins as a HAR file does.
pub(super) fn looks_like_one(text: &[u8]) -> bool {
    let head = text.get(..text.len().min(4096)).unwrap_or(text);
    let head = String::from_utf8_lossy(head);
    let plain = head.trim_start_matches('\u{feff}').trim_start();
    let inner = plain.strip_prefix('{').map(str::trim_start).unwrap_or("");
    // Other logs have a field of that name too, with other keys in it.
    const KEYS: &[&str] = &["\"version\"", "\"creator\"", "\"browser\"", "\"pages\"", "\"entries\"", "\"comment\""];
    let log = inner.strip_prefix("\"log\"").and_then(|rest| rest.trim_start().strip_prefix(':'));
    let log = log.and_then(|rest| rest.trim_start().strip_prefix('{')).map(str::trim_start);
    log.is_some_and(|log| KEYS.iter().any(|key| log.starts_with(key)))
}

/// Whether a value is a HAR file.
pub(super) fn is_har(value: &Value) -> bool {
    value.pointer("/log/entries").is_some_and(Value::is_array)
}

/// Reads the entries that failed; `first_line` is the number of the text's first line.
pub(super) fn read(text: &[u8], first_line: usize) -> Vec<Result<Capture, Broken>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let broken = |message: String| vec![Err(Broken { line: first_line, message })];
    let document: Document<'_> = match serde_json::from_slice(text) {
        Ok(document) => document,
        Err(error) if error.is_data() => return broken(format!("no HAR file, it has no log.entries: {error}")),
        Err(error) => return broken(format!("no HAR file: {error}")),
    };
    let mut found = Vec::new();
    let mut lines = Lines { text, at: 0, line: first_line };
    for raw in document.log.entries {
        let line = lines.of(raw.get());
        let end_line = line + raw.get().matches('\n').count();
        match serde_json::from_str(raw.get()) {
            Ok(entry) => {
                found.extend(evidence(&entry).map(|evidence| Ok(Capture { id: None, line, end_line, evidence })));
            }
            Err(error) => found.push(Err(Broken { line, message: error.to_string() })),
        }
    }
    found
}

/// Knows the lines of slices of a text, asked in their order.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, slice: &str) -> usize {
        let place = (slice.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let passed = self.text.get(self.at..place).unwrap_or(&[]);
        self.line += memchr::memchr_iter(b'\n', passed).count();
        self.at = place.max(self.at);
        self.line
    }
}

fn evidence(entry: &Value) -> Option<Evidence> {
    let word = |path: &str| entry.pointer(path).and_then(Value::as_str).unwrap_or("");
    let number = |path: &str| entry.pointer(path).and_then(Value::as_u64).and_then(|s| u16::try_from(s).ok());
    let status = number("/response/status").unwrap_or(0);
    let body = body(entry);
    let url = word("/request/url");
    let is_error = status == 0 || status >= 400 || body.contains("\"error\"");
    if !is_error || is_static(url) {
        return None;
    }
    let headers = entry.pointer("/response/headers").and_then(Value::as_array);
    let headers = headers.into_iter().flatten().filter_map(|header| {
        Some((header.get("name")?.as_str()?.to_owned(), header.get("value")?.as_str()?.to_owned()))
    });
    let said =
        [word("/response/_error"), word("/response/statusText"), word("/_error"), word("/response/_transferError")];
    Some(Evidence {
        provider: provider::recognise(&Evidence::default(), url, &Catalog::default()).map(ProviderName::new),
        model: None,
        status: (status > 0).then_some(status),
        headers: headers.collect(),
        body,
        log: said.into_iter().find(|said| !said.is_empty()).unwrap_or("").to_owned(),
        transport: (status == 0).then_some(TransportFault::Other),
        at: word("/startedDateTime").parse::<Timestamp>().ok(),
    })
}

/// Pages are full of pictures and scripts that are missing; no API is called by such names.
fn is_static(url: &str) -> bool {
    const ENDINGS: &[&str] = &[
        ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".css", ".js", ".map", ".woff", ".woff2", ".ttf", ".webp",
        ".mp4",
    ];
    let path = url.split(['?', '#']).next().unwrap_or("").to_ascii_lowercase();
    ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// The body as it was on the wire.
fn body(entry: &Value) -> String {
    use base64::Engine;
    let content = entry.pointer("/response/content");
    let text = content.and_then(|content| content.get("text")).and_then(Value::as_str).unwrap_or("");
    let encoded = content.and_then(|content| content.get("encoding")).and_then(Value::as_str) == Some("base64");
    let decoded = if encoded { base64::engine::general_purpose::STANDARD.decode(text).ok() } else { None };
    decoded.map_or_else(|| text.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}
