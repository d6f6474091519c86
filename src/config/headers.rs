//! Headers that the config names. None of them may carry a key.

use super::reader::{Node, Section};

/// The header names that carry a key.
const KEY_HEADERS: &[&str] = &["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key"];

/// Headers that carry no key.
pub(super) fn plain_headers(section: &Section<'_, '_>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for (name, node) in section.entries() {
        let name = name.to_ascii_lowercase();
        if KEY_HEADERS.contains(&name.as_str()) || node.as_text().is_some_and(|value| node.reader.looks_secret(value)) {
            let hint = "name the key in credentials, and the header in `auth`".to_owned();
            node.reader.error(&node.place, "a key in a header does not belong in this file", Some(hint));
        } else if !is_name(&name) {
            node.reader.error(&node.place, "this is no name of a header", None);
        } else if let Some(value) = node.text() {
            headers.push((name, value));
        }
    }
    headers
}

/// The name of a header that takes an id of a request; `off` takes away what the catalogue knows.
pub(super) fn id_header(node: &Node<'_, '_>) -> Option<String> {
    let name = node.text()?.to_ascii_lowercase();
    if KEY_HEADERS.contains(&name.as_str()) {
        node.reader.error(&node.place, "this header carries the key", None);
        return None;
    }
    if !is_name(&name) {
        node.reader.error(&node.place, "this is no name of a header", None);
        return None;
    }
    (name != "off").then_some(name)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}
