//! HAR files: the entries whose response is an error, or that got none.

use jiff::Timestamp;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::classify::provider;
use crate::domain::{Evidence, ProviderName, TransportFault};

use super::{Broken, Capture};

/// Reads the entries that failed; `line` is the number of the entry.
pub(super) fn read(text: &[u8]) -> Vec<Result<Capture, Broken>> {
    let broken = |message: String| vec![Err(Broken { line: 1, message })];
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(error) => return broken(format!("no HAR file: {error}")),
    };
    let Some(entries) = value.pointer("/log/entries").and_then(Value::as_array) else {
        return broken("no HAR file: it has no log.entries".to_owned());
    };
    let failed = entries.iter().enumerate().filter_map(|(index, entry)| Some((index, evidence(entry)?)));
    failed.map(|(index, evidence)| Ok(Capture { id: None, line: index + 1, evidence })).collect()
}

fn evidence(entry: &Value) -> Option<Evidence> {
    let word = |path: &str| entry.pointer(path).and_then(Value::as_str).unwrap_or("");
    let status =
        entry.pointer("/response/status").and_then(Value::as_u64).and_then(|s| u16::try_from(s).ok()).unwrap_or(0);
    let body = word("/response/content/text");
    let is_error = status == 0 || status >= 400 || body.contains("\"error\"");
    if !is_error {
        return None;
    }
    let headers = entry.pointer("/response/headers").and_then(Value::as_array);
    let headers = headers.into_iter().flatten().filter_map(|header| {
        Some((header.get("name")?.as_str()?.to_owned(), header.get("value")?.as_str()?.to_owned()))
    });
    let url = word("/request/url");
    Some(Evidence {
        provider: provider::recognise(&Evidence::default(), url, &Catalog::default()).map(ProviderName::new),
        model: None,
        status: (status > 0).then_some(status),
        headers: headers.collect(),
        body: body.to_owned(),
        log: word("/response/_error").to_owned(),
        transport: (status == 0).then_some(TransportFault::Other),
        at: word("/startedDateTime").parse::<Timestamp>().ok(),
    })
}
