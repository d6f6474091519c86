//! Any reply that a provider may give.
//!
//! Words tell where they come from: a text that is said to its end begins with `whole-`, one that is not with `part-`, and
//! each has a number, so that what was put together of two is known.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::domain::ToolCall;
use crate::rehearsal::Reply;

/// A status with headers and a body, as somebody really got it.
type Captured = (u16, BTreeMap<String, String>, Value);

fn captured() -> &'static [Captured] {
    static ALL: OnceLock<Vec<Captured>> = OnceLock::new();
    ALL.get_or_init(|| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures");
        let files = std::fs::read_dir(folder).expect("the captures").map(|file| file.expect("a file").path());
        let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
        files.sort();
        let lines = files.iter().flat_map(|path| {
            let text = std::fs::read_to_string(path).expect("text");
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        lines.filter_map(|line| capture(&serde_json::from_str(&line).expect("JSON"))).collect()
    })
}

fn capture(line: &Value) -> Option<Captured> {
    let status = u16::try_from(line["status"].as_u64()?).ok().filter(|status| (200..600).contains(status))?;
    let body = line.get("body")?.clone();
    let headers = line["headers"].as_object().into_iter().flatten();
    let headers = headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    Some((status, headers, body))
}

fn text(head: &'static str) -> impl Strategy<Value = Vec<String>> {
    let more = ["one ", "two ", "three ", "four "];
    (any::<u16>(), 0..more.len()).prop_map(move |(number, count)| {
        let rest = more.iter().take(count).map(|word| (*word).to_owned());
        std::iter::once(format!("{head}-{number} ")).chain(rest).collect()
    })
}

fn whole() -> impl Strategy<Value = String> {
    text("whole").prop_map(|chunks| chunks.concat())
}

/// A status that says when to come back.
fn hinted() -> impl Strategy<Value = Reply> {
    let seconds = prop_oneof![0..5_u32, 5..600_u32, 600..40_000_u32];
    let words = prop_oneof![
        Just("Rate limit reached on requests per minute (RPM)"),
        Just("Rate limit reached on tokens per day (TPD)"),
        Just("The model is overloaded."),
    ];
    (prop_oneof![Just(429), Just(503), Just(529)], seconds, words).prop_map(|(status, seconds, words)| {
        let headers = BTreeMap::from([("retry-after".to_owned(), seconds.to_string())]);
        Reply::Status { status, headers, body: serde_json::json!({"error": {"message": words}}) }
    })
}

fn raw() -> impl Strategy<Value = Reply> {
    let texts =
        ["", "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 200 OK\r\nx: y", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart"];
    (0..texts.len()).prop_map(move |at| Reply::Raw { text: texts[at].to_owned() })
}

fn answered() -> impl Strategy<Value = Reply> {
    let finish = prop_oneof![8 => Just(None), 1 => Just(Some("length")), 1 => Just(Some("content_filter"))];
    let answer = (whole(), finish).prop_map(|(text, finish)| match Reply::answer(text) {
        Reply::Answer { text, headers, .. } => Reply::Answer {
            text,
            finish: finish.map(str::to_owned),
            usage: None,
            headers,
            reasoning: None,
            tool_calls: Vec::new(),
        },
        other => other,
    });
    let call = ToolCall { id: "c1".into(), name: "f".into(), arguments: "{\"at\":1}".into() };
    prop_oneof![
        4 => answer,
        4 => text("whole").prop_map(Reply::stream),
        1 => any::<u16>().prop_map(|number| Reply::answer(format!("{{\"whole-\": {number}}}"))),
        1 => (whole(), 1..3000_u64).prop_map(|(text, every_ms)| Reply::SlowDrip { text, every_ms }),
        1 => Just(Reply::tool_calls(vec![call])),
        1 => Just(Reply::answer("")),
    ]
}

fn broken() -> impl Strategy<Value = Reply> {
    let cut = || prop_oneof![1 => Just(Vec::new()), 4 => text("part")];
    prop_oneof![
        3 => cut().prop_map(|chunks| Reply::CutStream { chunks }),
        2 => cut().prop_map(|chunks| Reply::ErrorEvent { chunks, error: Value::Null }),
        2 => (cut(), any::<Index>()).prop_map(|(chunks, at)| Reply::ErrorEvent { chunks, error: error(at) }),
        2 => cut().prop_map(|chunks| Reply::Stall { chunks }),
        1 => (cut(), 200..3000_u64).prop_map(|(chunks, every_ms)| Reply::Pings { chunks, every_ms }),
        1 => Just(Reply::Hang),
        1 => Just(Reply::Reset),
        1 => Just(Reply::Refuse),
        1 => raw(),
    ]
}

/// A body that came with a status of failure; those that came with a 200 may be the end of an answer.
fn error(at: Index) -> Value {
    let failures: Vec<_> = captured().iter().filter(|(status, ..)| *status >= 400).collect();
    let (_, _, body) = at.get(&failures);
    body.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Any of all kinds.
pub(super) fn reply() -> impl Strategy<Value = Reply> {
    let real = any::<Index>().prop_map(|at| {
        let (status, headers, body) = at.get(captured()).clone();
        Reply::Status { status, headers, body }
    });
    let plain = prop_oneof![
        5 => answered().boxed(),
        4 => broken().boxed(),
        5 => real.boxed(),
        3 => hinted().boxed(),
        1 => prop_oneof![Just(500_u16), Just(502), Just(404)].prop_map(|status| Reply::status(status, "")).boxed(),
    ];
    (plain, prop_oneof![6 => Just(0), 1 => 1..20_000_u64])
        .prop_map(|(reply, ms)| if ms == 0 { reply } else { reply.after(ms) })
}

/// The text that the reply says, and whether to its end.
pub(super) fn said(reply: &Reply) -> Option<(String, bool)> {
    match reply {
        Reply::Answer { text, .. } | Reply::SlowDrip { text, .. } => Some((text.clone(), true)),
        Reply::Stream { chunks, .. } => Some((chunks.concat(), true)),
        Reply::CutStream { chunks }
        | Reply::ErrorEvent { chunks, .. }
        | Reply::Stall { chunks }
        | Reply::Pings { chunks, .. } => Some((chunks.concat(), false)),
        Reply::Delay { then, .. } => said(then),
        _ => None,
    }
}
