//! The second version of asciinema's format: a line of JSON about the terminal, then one for each piece of output.

use serde_json::json;

/// What a terminal of so many columns and rows was sent, as a cast. The times are seconds since the beginning.
pub(crate) fn cast((columns, rows): (u16, u16), title: &str, sent: &[(f64, Vec<u8>)]) -> String {
    let head = json!({
        "version": 2, "width": columns, "height": rows, "title": title, "env": {"TERM": "xterm-256color"},
    });
    let mut lines = vec![head.to_string()];
    // A letter may be cut between two pieces: its beginning waits for its end.
    let mut waiting = Vec::new();
    for (at, bytes) in sent {
        waiting.extend_from_slice(bytes);
        let rest = waiting.split_off(whole(&waiting));
        let text = String::from_utf8_lossy(&waiting).into_owned();
        if !text.is_empty() {
            lines.push(json!([(at * 1000.0).round() / 1000.0, "o", text]).to_string());
        }
        waiting = rest;
    }
    lines.join("\n") + "\n"
}

/// How many bytes are whole letters.
fn whole(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}
