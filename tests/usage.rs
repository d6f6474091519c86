//! What was used of an allowance: counted over all processes, learned from answers, and minded before anything is sent.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::Reply;
use serde_json::{Value, json};

use crate::stage::{Stage, config, openai, until};

/// A limit of the provider `near`, in a config with a second one.
fn capped(dimension: &str, limit: u32, more: &str) -> String {
    format!("[[caps]]\nprovider = \"near\"\ndimension = \"{dimension}\"\nlimit = {limit}\n{more}\n")
}

fn stage(near: &llmr::rehearsal::Provider, far: &llmr::rehearsal::Provider, caps: &str) -> Stage {
    Stage::with(&format!("{}\n{caps}", config(&[("near", near), ("far", far)])))
}

/// An answer of so many tokens with these headers.
fn answer(text: &str, input: u64, output: u64, headers: &[(&str, &str)]) -> Reply {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": input, "completion_tokens": output}});
    let headers: BTreeMap<String, String> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Reply::Status { status: 200, headers, body }
}

fn usage<'a>(status: &'a Value, deployment: &str, dimension: &str) -> &'a Value {
    let all = status["deployments"].as_array().expect("a list");
    let found = all.iter().find(|known| known["deployment"] == deployment).expect("the deployment");
    let usage = found["usage"].as_array().expect("a list");
    usage.iter().find(|reading| reading["dimension"] == dimension).unwrap_or(&Value::Null)
}

#[test]
fn a_day_that_config_limits_is_not_asked_for_more() {
    let (near, far) = (openai(Reply::answer("near")), openai(Reply::answer("far")));
    let stage = stage(&near, &far, &capped("rpd", 10, "reset = \"midnight UTC\""));
    for n in 0..12 {
        let by = if n < 8 { "near\n" } else { "far\n" };
        stage.run(&["chat", "?"]).exits(0).prints(by);
    }
    assert_eq!((near.hits(), far.hits()), (8, 4), "from 80 % on others go first");
    let plan = stage.run(&["plan"]).exits(0).out;
    assert!(plan.contains("  2. near/m  step 0 (put last: 8 of 10 rpd used)\n"), "{plan}");
    stage.run(&["chat", "-m", "near/m", "?"]).exits(0).prints("near\n");
    stage.run(&["chat", "-m", "near/m", "?"]).exits(0).prints("near\n");
    let done = stage.run(&["chat", "-m", "near/m", "?"]).exits(4);
    assert!(done.err.contains("10 of 10 rpd used") && done.err.contains("2026-08-24T00:00:00Z"), "{}", done.err);
    assert_eq!(near.hits(), 10, "nothing was sent");

    let plan = stage.json(&["plan", "--json"]);
    assert_eq!(plan["order"][0]["deployment"], "far/m");
    let skipped = &plan["skipped"][0];
    assert_eq!((&skipped["deployment"], &skipped["reason"]), (&json!("near/m"), &json!("near_limit")));
    assert_eq!((&skipped["until"], &skipped["provenance"]), (&json!("2026-08-24T00:00:00Z"), &json!("operator")));
    let status = stage.json(&["status", "--json"]);
    let wanted = json!({"dimension": "rpd", "used": 10.0, "limit": 10.0, "resets_at": "2026-08-24T00:00:00Z", "source": "config"});
    assert_eq!(usage(&status, "near/m", "rpd"), &wanted);
    assert_eq!(usage(&status, "far/m", "rpd")["limit"], Value::Null, "counted where nobody knows a limit");
    assert_eq!(status["deployments"][1]["eligible"], json!(false), "{status:#}");
    stage.run_at("2026-08-24T00:00:00Z", &["chat", "?"]).exits(0).prints("near\n");
}

#[test]
fn bounds_are_the_operators() {
    let (near, far) = (openai(Reply::answer("near")), openai(Reply::answer("far")));
    let bounds = "[usage]\nskip = 0.5\nput_last = 0.5\n";
    let stage = stage(&near, &far, &format!("{bounds}{}", capped("rpd", 10, "reset = \"midnight UTC\"")));
    for _ in 0..7 {
        stage.run(&["chat", "?"]).exits(0);
    }
    assert_eq!((near.hits(), far.hits()), (5, 2));
    for (bad, says) in [
        ("skip = 97", "at most 1"),
        ("skip = 0", "more than 0"),
        ("skip = 0.5", "`put_last` must not be more than `skip`"),
        ("skipp = 1", "did you mean `skip`?"),
        ("put_last = \"x\"", "put_last"),
    ] {
        let stage = Stage::with(&format!("{}\n[usage]\n{bad}\n", config(&[("near", &near)])));
        stage.run(&["plan"]).exits(3).says(&[says]);
    }
}

#[test]
fn limits_are_learned_from_headers_and_obeyed_by_the_next_process() {
    let headers = [
        ("x-ratelimit-limit-requests", "1000"),
        ("x-ratelimit-remaining-requests", "3"),
        ("x-ratelimit-reset-requests", "6h"),
    ];
    let (near, far) = (openai(vec![answer("near", 9, 9, &headers)]), openai(Reply::answer("far")));
    let stage = stage(&near, &far, "");
    stage.run(&["chat", "?"]).exits(0).prints("near\n");
    stage.run(&["chat", "?"]).exits(0).prints("far\n");
    assert_eq!(near.hits(), 1);
    let status = stage.json(&["status", "--json"]);
    let reading = usage(&status, "near/m", "rpd");
    assert_eq!((&reading["used"], &reading["limit"]), (&json!(997.0), &json!(1000.0)), "{status:#}");
    assert_eq!(reading["resets_at"], json!("2026-08-23T09:00:00Z"));
    assert_eq!(reading["source"], json!("header x-ratelimit-limit-requests"));
    stage.run_at("2026-08-23T09:00:01Z", &["chat", "?"]).exits(0).prints("near\n");
}

#[test]
fn a_request_is_measured_by_what_the_model_said_of_others() {
    let tokens = |input| answer("near", input, 5, &[]);
    let (near, far) = (openai(vec![tokens(900)]), openai(Reply::answer("far")));
    let stage = stage(&near, &far, &capped("tpd", 3000, "reset = \"midnight UTC\""));
    // Some 80 tokens by their length, which this model calls 900.
    let prompt = "a word ".repeat(48);
    stage.run(&["chat", &prompt]).exits(0).prints("near\n");
    stage.run(&["chat", &prompt]).exits(0).prints("near\n");
    stage.run(&["chat", &prompt]).exits(0).prints("far\n");
    let factor: f64 = stage
        .sql()
        .query_row("SELECT factor FROM estimates WHERE provider = 'near'", [], |row| row.get(0))
        .expect("learned");
    assert!(factor > 5.0, "{factor}");
}

#[test]
fn what_other_processes_have_under_way_counts() {
    let slow = openai(vec![Reply::Hang]);
    let far = openai(Reply::answer("far"));
    let stage = stage(&slow, &far, &capped("concurrency", 1, ""));
    let mut first = stage.command(&["chat", "?"]).spawn().expect("started");
    until("the first is under way", || slow.hits() == 1);
    stage.run(&["chat", "?"]).exits(0).prints("far\n");
    first.kill().expect("killed");
    first.wait().expect("ended");
    // Killed, it still counts until its time is over.
    stage.run(&["chat", "?"]).exits(0).prints("far\n");
    let flights: i64 = stage.sql().query_row("SELECT count(*) FROM flights", [], |row| row.get(0)).expect("flights");
    assert_eq!((flights, slow.hits()), (1, 1));
    let later = stage.run_at("2026-08-23T03:10:00Z", &["plan", "--json"]).exits(0).json();
    assert_eq!(later["order"][0]["deployment"], "near/m");
}

#[test]
fn of_many_processes_at_once_no_more_pass_than_the_limit_allows() {
    let (near, far) = (openai(Reply::answer("near")), openai(Reply::answer("far")));
    let stage = stage(
        &near,
        &far,
        &format!("[usage]\nskip = 1\nput_last = 1\n{}", capped("rpd", 5, "reset = \"midnight UTC\"")),
    );
    let children: Vec<_> = (0..16).map(|_| stage.command(&["chat", "?"]).spawn().expect("started")).collect();
    for child in children {
        crate::stage::finish(child);
    }
    assert_eq!((near.hits(), far.hits()), (5, 11));
    let used: f64 = stage
        .sql()
        .query_row("SELECT used FROM meters WHERE provider = 'near' AND dimension = 'rpd'", [], |row| row.get(0))
        .expect("counted");
    assert_eq!(used, 5.0);
    let flights: i64 = stage.sql().query_row("SELECT count(*) FROM flights", [], |row| row.get(0)).expect("flights");
    assert_eq!(flights, 0, "all have landed");
}

#[test]
fn programs_that_make_their_own_calls_share_the_same_limits() {
    let (near, far) = (openai(Reply::answer("near")), openai(Reply::answer("far")));
    let stage = stage(
        &near,
        &far,
        &format!("[usage]\nskip = 1\nput_last = 1\n{}", capped("rpd", 3, "reset = \"midnight UTC\"")),
    );
    let first = stage.run(&["guard", "near/m"]).exits(0).out;
    let id = first.split_whitespace().nth(2).expect("an id").to_owned();
    assert!(id.starts_with("guard_"), "{first}");
    stage.run(&["guard", "near/m"]).exits(0);
    stage.run(&["chat", "?"]).exits(0).prints("near\n");
    let full = stage.run(&["guard", "near/m", "--json"]).exits(4).json();
    assert_eq!((&full["eligible"], &full["reason"]), (&json!(false), &json!("near_limit")));
    assert_eq!(full["until"], json!("2026-08-23T03:02:00Z"), "when the first that was not recorded is over");
    stage.run(&["chat", "?"]).exits(0).prints("far\n");
    stage.run(&["record", "near/m", "--ok", "--request-id", &id, "--input-tokens", "7"]).exits(0);
    // The other was never made, or nobody said so.
    stage.run(&["guard", "near/m"]).exits(4);
    let status = stage.json(&["status", "--json"]);
    assert_eq!(usage(&status, "near/m", "rpd")["used"], json!(3.0), "two calls, and one under way");
    let later = stage.run_at("2026-08-23T03:02:01Z", &["guard", "near/m", "--dry-run", "--json"]).exits(0).json();
    assert_eq!(later["eligible"], json!(true));
}

#[test]
fn a_record_teaches_limits_as_an_answer_of_ours_does() {
    let near = openai(Reply::answer("near"));
    let stage = Stage::of(&[("near", &near)]);
    let headers = "x-ratelimit-limit-requests: 500\nx-ratelimit-remaining-requests: 1\nx-ratelimit-reset-requests: 5h";
    stage.run(&["record", "near/m", "--ok", "--headers", headers]).exits(0);
    let held = stage.run(&["guard", "near/m"]).exits(4).out;
    assert!(held.starts_with("held near/m near_limit until 2026-08-23T08:00:00Z"), "{held}");
    stage.run(&["chat", "?"]).exits(4);
    assert_eq!(near.hits(), 0);
}

#[test]
fn what_is_counted_can_be_seen_and_cleared() {
    let (near, far) = (openai(Reply::answer("near")), openai(Reply::answer("far")));
    let stage = stage(
        &near,
        &far,
        &format!("[usage]\nskip = 1\nput_last = 1\n{}", capped("rpd", 2, "reset = \"midnight UTC\"")),
    );
    for _ in 0..3 {
        stage.run(&["chat", "?"]).exits(0);
    }
    let shown = stage.run(&["status"]).exits(0).out;
    assert!(shown.contains("rpd near_limit") && shown.contains("2 of 2 rpd (100 %)"), "{shown}");
    stage.run(&["reset", "near", "--circuit"]).exits(0).prints("nothing to clear\n");
    stage.run(&["guard", "near/m"]).exits(4);
    let cleared = stage.run(&["reset", "near"]).exits(0).out;
    assert!(cleared.contains("forgot usage of near account=near: 2 rpd"), "{cleared}");
    assert!(cleared.contains("can be asked now: near/m"), "{cleared}");
    stage.run(&["chat", "?"]).exits(0).prints("near\n");
    stage.run(&["reset", "--all", "--usage", "-y"]).exits(0);
    let left: i64 = stage.sql().query_row("SELECT count(*) FROM meters", [], |row| row.get(0)).expect("meters");
    assert_eq!(left, 0);
}
