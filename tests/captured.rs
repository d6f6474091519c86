//! `llmr classify` on files as people have them: mixed, packed, long, on all cores.
#![cfg(test)]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::stage::Stage;

/// A record, an exchange of curl, a line of a container, a trace and a sentence, with calm lines between.
const MIXED: &str = r#"{"id":"r1","provider":"groq","status":401,"body":"{\"error\":{\"message\":\"Invalid API Key\"}}"}

> POST /v1/chat/completions HTTP/1.1
> Host: api.openai.com
>
< HTTP/1.1 429 Too Many Requests
< retry-after: 20
<
{
  "error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}
}
* Connection #0 to host api.openai.com left intact
{"log":"2026-08-23T02:00:00Z INFO ready\n","stream":"stdout","time":"2026-08-23T02:00:00Z"}
{"log":"anthropic.InternalServerError: Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}\n","stream":"stderr","time":"2026-08-23T02:00:05Z"}
2026-08-23 02:10:00,000 ERROR app: call failed
Traceback (most recent call last):
  File "app.py", line 9, in ask
groq.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached on tokens per minute (TPM): Limit 6000, Used 5900, Requested 300. Please try again in 12s.'}}
2026-08-23 02:20:00,000 INFO all is well
"#;

fn results(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn packed(text: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text.as_bytes()).expect("packed");
    packer.finish().expect("packed")
}

#[test]
fn forms_are_mixed_in_one_file_and_found_without_a_flag() {
    let done = Stage::bare().run_with(MIXED.as_bytes(), &["classify", "--json"]).exits(0);
    let found = results(&done.out);
    let told: Vec<Value> =
        found.iter().map(|one| json!([one["class"], one["provider"], one["line"], one["end_line"]])).collect();
    let wanted = json!([
        ["auth", "groq", 1, 1],
        ["billing", "openai", 6, 11],
        ["overloaded", "anthropic", 14, 14],
        ["rate_limit", "groq", 15, 18]
    ]);
    assert_eq!(json!(told), wanted, "{}", done.out);
    assert_eq!(found[3]["retry_at"], "2026-08-23T02:10:12Z", "the time of the line counts");
    assert_eq!(found[3]["limits"], json!({"limit": 6000, "used": 5900, "requested": 300, "remaining": null}));
    let done = Stage::bare().run_with(MIXED.as_bytes(), &["classify", "--json", "--tz", "Asia/Shanghai"]).exits(0);
    assert_eq!(results(&done.out)[3]["retry_at"], "2026-08-22T18:10:12Z");
}

#[test]
fn packed_files_are_unpacked_and_torn_ones_say_so() {
    let stage = Stage::bare();
    std::fs::write(stage.path("night.log.gz"), packed(MIXED)).expect("written");
    let done = stage.run(&["classify", "--json", "night.log.gz"]).exits(0);
    assert_eq!(results(&done.out).len(), 4);
    let done = stage.run_with(&packed(MIXED), &["classify", "--summary", "-"]).exits(0);
    assert!(done.out.starts_with("4 failures\n"), "{}", done.out);
    let whole = packed(MIXED);
    std::fs::write(stage.path("torn.gz"), &whole[..whole.len() / 2]).expect("written");
    stage.run(&["classify", "torn.gz"]).exits(1).says(&["error: cannot read torn.gz"]);
    // What could be read is not lost.
    let line = |id: usize| format!("{{\"id\":{id},\"status\":529,\"body\":\"{}\"}}\n", id * 7_919 % 10_007);
    let whole = packed(&(0..50_000).map(line).collect::<String>());
    std::fs::write(stage.path("torn.gz"), &whole[..whole.len() - 50]).expect("written");
    let done = stage.run(&["classify", "--json", "torn.gz"]).exits(1).says(&["error: cannot read torn.gz"]);
    assert!(done.out.lines().count() > 10_000, "{}", done.out.lines().count());
    std::fs::write(stage.path("wide.log"), b"\xff\xfeE\0r\0").expect("written");
    stage.run(&["classify", "wide.log"]).exits(1).says(&["UTF-16", "iconv"]);
    stage.run(&["classify", "."]).exits(1).says(&["directory"]);
}

#[test]
fn a_text_without_failures_says_so() {
    let stage = Stage::bare();
    let calm = b"2026-08-23T02:00:00Z INFO ready\nall is well\n";
    let done = stage.run_with(calm, &["classify"]).exits(0);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("no failures found in 2 lines\n", ""));
    let done = stage.run_with(calm, &["classify", "--json"]).exits(0);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("", "no failures found in 2 lines\n"));
    stage.run_with(b"", &["classify", "--explain"]).exits(0).says(&["no failures found in 0 lines"]);
}

#[test]
fn many_blocks_on_many_cores_keep_their_order() {
    let stage = Stage::bare();
    let body = "x".repeat(700);
    let line = |id: usize| {
        let status = [401, 429, 500, 503][id % 4];
        format!("{{\"id\":{id},\"provider\":\"lab\",\"status\":{status},\"body\":\"{body} {}\"}}\n", id % 97)
    };
    let text: String = (0..6000).map(line).collect();
    std::fs::write(stage.path("many.jsonl"), &text).expect("written");
    let one = stage.run(&["classify", "--json", "--jobs", "1", "many.jsonl"]).exits(0).out;
    let many = stage.run(&["classify", "--json", "--jobs", "4", "many.jsonl"]).exits(0).out;
    assert!(one == many, "jobs change what is said");
    let found = results(&many);
    assert_eq!(found.len(), 6000);
    for (at, one) in found.iter().enumerate() {
        assert_eq!((&one["id"], &one["line"]), (&json!(at), &json!(at + 1)));
    }
    let summary = stage.run(&["classify", "--summary", "--json", "many.jsonl"]).exits(0).out;
    assert_eq!(results(&summary)[0]["failures"], 6000);
    stage.run(&["classify", "--jobs", "0", "many.jsonl"]).exits(2).says(&["--jobs"]);
}

#[test]
fn every_class_can_be_looked_up() {
    let stage = Stage::bare();
    let done = stage.run(&["classify", "--class-help", "billing"]).exits(0);
    let said = done.out.replace('\n', " ");
    assert!(said.starts_with("billing: ") && said.contains("llmr reset"), "{said}");
    stage.run(&["classify", "--class-help", "bills"]).exits(2).says(&["bills", "billing"]);
}

#[test]
fn redacted_captures_are_classified_as_before() {
    let stage = Stage::bare();
    let log = "2026-08-23 02:10:00 ERROR alice@example.org: openai 401 Incorrect API key provided: \
        sk-proj-Zx81kQmT93LpVw02Yd7R. request req_0123456789abcdef0123 from 203.0.113.9\n";
    let shared = stage.run_with(log.as_bytes(), &["classify", "--redact"]).exits(0).out;
    for secret in ["alice", "Zx81kQmT93Lp", "0123456789abcdef", "203.0.113.9"] {
        assert!(!shared.contains(secret), "{secret}: {shared}");
    }
    let again = stage.run_with(shared.as_bytes(), &["classify", "--json", "--format", "jsonl"]).exits(0);
    assert_eq!(results(&again.out)[0]["class"], "auth", "{shared}");
    stage.run(&["classify", "--redact", "--json"]).exits(2).says(&["--redact"]);
}

#[test]
fn a_pipe_gives_what_a_file_gives() {
    let stage = Stage::bare();
    std::fs::write(stage.path("mixed.log"), MIXED).expect("written");
    let file = stage.run(&["classify", "--json", "mixed.log"]).exits(0).out;
    assert_eq!(stage.run_with(MIXED.as_bytes(), &["classify", "--json"]).exits(0).out, file);
    let told_twice = "[ERROR] 2026/08/23 - 02:20:02 | 1 | no channel for model m available: 当前分组下对于模型 m 无可用渠道\n\
        [GIN] 2026/08/23 - 02:20:02 | 1 | 503 |    1.7ms | 192.0.2.1 | POST /v1/chat/completions\n";
    let found = results(&stage.run_with(told_twice.as_bytes(), &["classify", "--json"]).exits(0).out);
    assert_eq!(found.len(), 1, "{found:?}");
}
