//! Programs that make their own calls: they ask with `guard`, they tell with `record`, and `chat` knows what they know.
#![cfg(test)]

use std::path::Path;
use std::process::Child;
use std::time::Duration;

use llmr::catalog::Catalog;
use llmr::classify::Classifier;
use llmr::clock::Clock;
use llmr::domain::{Evidence, Redactor, RequestId, Target, Usage};
use llmr::policy::{BreakerSettings, Caller, PolicySettings};
use llmr::rehearsal::{Provider, Reply};
use llmr::route::{Asked, Ledger, OutsideCall, told};
use llmr::store::{OpenOptions, SqliteStore};
use serde_json::{Value, json};

use crate::stage::{Done, NOW, Stage, config, declared, finish, keys, names, openai};

/// When the circuit of [`broken`] lets its probe pass.
const DUE: &str = "2026-08-23T03:01:00Z";

/// It looks like nobody's key, so that only its value gives it away.
const KEY: &str = "Zq7xW2pL9vT4mR8kY3nB6cJ1hF5dS0";

/// A ladder of one step, `lab/m`, whose circuit three reports have opened.
fn broken(lab: &Provider) -> Stage {
    let stage = Stage::of(&[("lab", lab)]);
    for _ in 0..3 {
        stage.run(&["record", "lab/m", "--status", "500"]).exits(0);
    }
    stage
}

/// A ladder of one step, `lab/m@own`, with a key.
fn keyed(lab: &Provider) -> Stage {
    let text = format!("[limits]\nretry_budget = 0\n[ladders.main]\nsteps = [\"lab/m\"]\n{}", declared("lab", lab));
    let mut stage = Stage::with(&format!("{text}{}", keys("lab", &[("own", "{ env = \"LAB_KEY\" }")])));
    stage.set("LAB_KEY", KEY);
    stage
}

fn number(stage: &Stage, query: &str) -> u32 {
    stage.sql().query_row(query, [], |row| row.get(0)).expect(query)
}

/// The second word after `ok`: the id under which the probe is told of.
fn pass(done: &Done) -> String {
    let words: Vec<&str> = done.out.split_whitespace().collect();
    assert_eq!(words[0], "ok", "{}", done.out);
    words[2].to_owned()
}

#[test]
fn what_is_not_held_may_be_called_and_no_file_is_made() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    let done = stage.run(&["guard", "lab/m"]).exits(0).prints("ok lab/m\n");
    assert_eq!(done.err, "");
    let told = stage.json(&["guard", "lab/m", "--json"]);
    assert_eq!(names(&told), "deployment eligible probe request_id reason kind until provenance evidence");
    assert_eq!((&told["eligible"], &told["probe"], &told["reason"]), (&json!(true), &json!(false), &Value::Null));
    assert!(!stage.state().exists());
    assert_eq!(lab.hits(), 0);
}

#[test]
fn what_a_program_reports_holds_back_chat_and_guard_until_the_time_that_was_told() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    let body = json!({"error": {"message": "Rate limit reached for requests"}}).to_string();
    let report = ["record", "lab/m", "--status", "429", "--headers", "Retry-After: 20\r\nx-a: b", "--body", &body];
    let done = stage.run(&report).exits(0);
    assert!(done.out.starts_with("recorded lab/m: rate_limit ("), "{}", done.out);
    assert!(done.out.contains("until 2026-08-23T03:00:20Z (in 20s), fact"), "{}", done.out);
    stage.run(&["chat", "?"]).exits(4);
    assert_eq!(lab.hits(), 0, "a stated wait is obeyed by all");
    let done = stage.run(&["guard", "lab/m"]).exits(4);
    let words = "held lab/m rate_limit cooldown until 2026-08-23T03:00:20Z (in 20s), fact: Rate limit reached";
    assert!(done.out.starts_with(words), "{}", done.out);
    assert_eq!(done.err, "", "a wait is no error");
    let told = stage.run(&["guard", "lab/m", "--json"]).exits(4).json();
    assert_eq!((&told["eligible"], &told["reason"]), (&json!(false), &json!("rate_limit")));
    assert_eq!((&told["kind"], &told["until"]), (&json!("cooldown"), &json!("2026-08-23T03:00:20Z")));
    stage.run_at("2026-08-23T03:00:20Z", &["guard", "lab/m"]).exits(0);
    stage.run_at("2026-08-23T03:00:20Z", &["chat", "?"]).exits(0).prints("yes\n");
    let log = stage.run(&["log", "--json", "-n", "9"]).exits(0).out;
    let first: Value = serde_json::from_str(log.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["ladder"], &first["outcome"]), (&json!("record"), &json!("exhausted")));
    assert_eq!(first["attempts"][0]["held_until"], json!("2026-08-23T03:00:20Z"));
    assert_eq!(first["retry_at"], json!("2026-08-23T03:00:20Z"));
}

#[test]
fn of_fifty_that_ask_when_a_probe_is_due_one_may_call() {
    let lab = openai(Reply::answer("yes"));
    let stage = broken(&lab);
    let start = |_| stage.command(&["guard", "lab/m"]).env("LLMR_NOW", DUE).spawn().expect("started");
    let children: Vec<Child> = (0..50).map(start).collect();
    let done: Vec<Done> = children.into_iter().map(finish).collect();
    let winners: Vec<&Done> = done.iter().filter(|done| done.code == Some(0)).collect();
    assert_eq!(winners.len(), 1, "{done:?}");
    let held = "held lab/m server_error circuit until 2026-08-23T03:03:00Z (in 2m), its one probe is under way";
    for other in done.iter().filter(|done| done.code != Some(0)) {
        assert_eq!(other.code, Some(4), "{}", other.err);
        assert!(other.out.starts_with(held), "{}", other.out);
        assert_eq!(other.err, "");
    }
    assert_eq!(number(&stage, "SELECT count(*) FROM circuits WHERE state = 'half_open'"), 1);
    stage.run_at(DUE, &["chat", "?"]).exits(4);
    assert_eq!(lab.hits(), 0, "the probe is the program's");
}

#[test]
fn a_caller_that_never_comes_back_frees_its_probe_by_time() {
    let lab = openai(Reply::answer("yes"));
    let stage = broken(&lab);
    let first = pass(&stage.run_at(DUE, &["guard", "lab/m", "--lease", "10s"]).exits(0));
    stage.run_at("2026-08-23T03:01:09Z", &["guard", "lab/m"]).exits(4);
    let second = pass(&stage.run_at("2026-08-23T03:01:10Z", &["guard", "lab/m"]).exits(0));
    assert_ne!(first, second);
    // What the first one has to say comes too late to be the probe's outcome.
    let late = ["record", "lab/m", "--request-id", &first, "--status", "500"];
    stage.run_at("2026-08-23T03:01:11Z", &late).exits(0);
    assert_eq!(number(&stage, "SELECT count(*) FROM circuits WHERE state = 'half_open' AND opens = 1"), 1);
}

#[test]
fn the_probes_success_closes_and_its_failure_opens_for_longer() {
    let lab = openai(Reply::answer("yes"));
    for named in [true, false] {
        let stage = broken(&lab);
        let done = stage.run_at(DUE, &["guard", "lab/m"]).exits(0).says(&["hint:", "llmr record lab/m --request-id"]);
        let id = pass(&done);
        let report = |end: &[&str], now: &str| {
            let mut args = vec!["record", "lab/m"];
            if named {
                args.extend(["--request-id", &id]);
            }
            args.extend(end);
            stage.run_at(now, &args).exits(0)
        };
        let done = report(&["--transport", "timeout"], "2026-08-23T03:01:05Z");
        assert!(done.out.starts_with("recorded lab/m (the probe): timeout ("), "{}", done.out);
        assert_eq!(number(&stage, "SELECT opens FROM circuits"), 2);
        stage.run_at("2026-08-23T03:01:45Z", &["guard", "lab/m"]).exits(4);
        let id = pass(&stage.run_at("2026-08-23T03:03:00Z", &["guard", "lab/m"]).exits(0));
        let args = ["record", "lab/m", "--ok", "--request-id", &id, "--input-tokens", "7", "--output-tokens", "2"];
        let args = if named { &args[..] } else { &args[..3] };
        let done = stage.run_at("2026-08-23T03:03:04Z", args).exits(0);
        done.prints("recorded lab/m (the probe): answered, ends its circuit\n");
        let log = stage.json(&["log", &id, "--json"]);
        assert_eq!(
            (&log["outcome"], &log["latency_s"]),
            (&json!("answered"), &json!(4.0)),
            "sent when it was let pass"
        );
        assert_eq!((&log["attempts"][0]["kind"], &log["deployment"]), (&json!("probe"), &json!("lab/m")));
        assert_eq!(log["usage"]["input_tokens"], if named { json!(7) } else { Value::Null });
        stage.run_at("2026-08-23T03:03:04Z", &["guard", "lab/m"]).exits(0).prints("ok lab/m\n");
    }
}

#[test]
fn a_call_that_was_sent_before_the_probe_is_not_taken_for_it() {
    let lab = openai(Reply::answer("yes"));
    let stage = broken(&lab);
    stage.run_at(DUE, &["guard", "lab/m"]).exits(0);
    for end in [&["--status", "500"][..], &["--ok"]] {
        let mut args = vec!["record", "lab/m", "--started-at", "2026-08-23T02:59:00Z"];
        args.extend(end);
        stage.run_at("2026-08-23T03:01:05Z", &args).exits(0);
        let one = "SELECT count(*) FROM circuits WHERE state = 'half_open' AND opens = 1";
        assert_eq!(number(&stage, one), 1, "{end:?} says nothing about now");
    }
}

#[test]
fn a_look_takes_no_probe() {
    let lab = openai(Reply::answer("yes"));
    let stage = broken(&lab);
    let looks = |args: &[&str]| stage.run_at(DUE, args).exits(0);
    looks(&["guard", "lab/m", "--dry-run"]).prints("ok lab/m as the one probe of its server_error circuit\n");
    let told = looks(&["guard", "lab/m", "--dry-run", "--json"]).json();
    assert_eq!((&told["probe"], &told["request_id"]), (&json!(true), &Value::Null));
    let told = looks(&["guard", "lab/m", "--json"]).json();
    assert_eq!((&told["probe"], &told["until"]), (&json!(true), &json!("2026-08-23T03:03:00Z")));
    assert!(told["request_id"].as_str().is_some_and(|id| id.starts_with("guard_")), "{told}");
}

#[test]
fn without_a_key_named_the_first_that_may_be_called_is_told() {
    let lab = openai(Reply::answer("yes"));
    let text = format!("[ladders.main]\nsteps = [\"lab/m\"]\n{}", declared("lab", &lab));
    let stage =
        Stage::with(&format!("{text}{}", keys("lab", &[("one", "{ env = \"ONE\" }"), ("two", "{ env = \"TWO\" }")])));
    stage.run(&["guard", "lab/m"]).exits(0).prints("ok lab/m@one\n");
    stage.run(&["record", "lab/m@one", "--status", "429", "--headers", "retry-after: 60"]).exits(0);
    stage.run(&["guard", "lab/m"]).exits(0).prints("ok lab/m@two\n");
    stage.run(&["record", "lab/m@two", "--status", "429", "--headers", "retry-after: 30"]).exits(0);
    let done = stage.run(&["guard", "lab/m"]).exits(4);
    assert!(done.out.starts_with("held lab/m@two rate_limit cooldown until 2026-08-23T03:00:30Z"), "{}", done.out);
    stage.run(&["record", "lab/m", "--ok"]).exits(2).says(&["lab/m@one, lab/m@two", "with which key"]);
}

#[test]
fn a_key_that_failed_waits_for_a_person_or_for_another_key() {
    let lab = openai(Reply::answer("yes"));
    let mut stage = keyed(&lab);
    stage.run(&["record", "lab/m", "--status", "401"]).exits(0);
    let done = stage.run(&["guard", "lab/m"]).exits(4).says(&["hint: mend the cause", "llmr reset lab/m@own"]);
    assert!(done.out.contains("auth circuit until") && done.out.contains("a person must act"), "{}", done.out);
    stage.set("LAB_KEY", "another-key-of-the-lab");
    let done = stage.run(&["guard", "lab/m"]).exits(0);
    assert!(pass(&done).starts_with("guard_"), "{}", done.out);
}

#[test]
fn a_command_for_a_key_runs_only_when_a_hold_depends_on_the_key() {
    let lab = openai(Reply::answer("yes"));
    let text = format!("[ladders.main]\nsteps = [\"lab/m\"]\n{}", declared("lab", &lab));
    let place = "{ command = [\"sh\", \"-c\", \"echo >> ran; echo key-of-a-command\"] }";
    let stage = Stage::with(&format!("{text}{}", keys("lab", &[("own", place)])));
    stage.run(&["guard", "lab/m"]).exits(0);
    stage.run(&["record", "lab/m", "--ok"]).exits(0);
    assert!(!stage.path("ran").exists());
    stage.run(&["record", "lab/m", "--status", "401"]).exits(0);
    let runs = || std::fs::read(stage.path("ran")).map_or(0, |bytes| bytes.len());
    assert_eq!(runs(), 1, "what a provider says may hold the key");
    stage.run(&["guard", "lab/m"]).exits(4);
    assert_eq!(runs(), 2, "another key would be let pass");
}

#[test]
fn a_key_in_a_report_leaves_no_trace() {
    let lab = openai(Reply::answer("yes"));
    let stage = keyed(&lab);
    let escapes = "\u{1b}[31m\u{1b}]0;title\u{7}";
    let part = KEY.get(5..20).expect("a part");
    for (status, body) in [
        ("401", json!({"error": {"message": format!("Incorrect API key provided: {KEY} {escapes}")}}).to_string()),
        ("500", format!("no idea {part} what {KEY}")),
        ("418", json!({"odd": {KEY: part}}).to_string()),
        ("200", json!({"error": {"message": format!("bad {KEY}")}}).to_string()),
    ] {
        let headers = format!("x-echo: {KEY}\nx-odd: {escapes}");
        let report = ["record", "lab/m", "--status", status, "--headers", &headers, "--body", &body];
        let shown = [stage.run(&report).exits(0), stage.run(&["guard", "lab/m"]), stage.run(&["log", "--redact"])];
        let written: String = shown.iter().flat_map(|done| [done.out.as_str(), done.err.as_str()]).collect();
        for bytes in [written.as_bytes(), &stage.state_bytes()] {
            for run in KEY.as_bytes().windows(12) {
                assert!(!bytes.windows(12).any(|window| window == run), "{status}: {}", String::from_utf8_lossy(bytes));
            }
        }
        assert!(!written.contains('\u{1b}') && !written.contains('\u{7}'), "{written:?}");
    }
}

#[test]
fn only_an_answer_counts_as_one() {
    let lab = openai(Reply::answer("yes"));
    let answer = json!({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}).to_string();
    let models = json!({"object": "list", "data": [{"id": "m"}]}).to_string();
    let failed = json!({"error": {"message": "The engine is currently overloaded"}}).to_string();
    let cut = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
    for (body, class) in [
        (answer.as_str(), None),
        (models.as_str(), Some("unknown")),
        (failed.as_str(), Some("overloaded")),
        (cut, Some("network")),
        ("", Some("invalid_output")),
    ] {
        let stage = broken(&lab);
        stage.run_at(DUE, &["guard", "lab/m"]).exits(0);
        let told = stage.run_at(DUE, &["record", "lab/m", "--status", "200", "--body", body, "--json"]).exits(0).json();
        let closed = number(&stage, "SELECT count(*) FROM circuits") == 0;
        assert_eq!(closed, class.is_none(), "{body}: {told}");
        assert_eq!(told["class"].as_str(), class, "{body}: {told}");
    }
}

/// Every report is there, and no streak lost one: `each` of sixteen, over so many deployments.
#[track_caller]
fn all_are_counted(stage: &Stage, each: u32, deployments: u32) {
    let all = 16 * each;
    assert_eq!(number(stage, "SELECT count(*) FROM attempts WHERE class = 'server_error'"), all);
    assert_eq!(number(stage, "SELECT count(*) FROM requests WHERE outcome = 'exhausted'"), all);
    assert_eq!(number(stage, "SELECT count(*) FROM circuits"), deployments);
    let streak = format!("SELECT count(*) FROM circuits WHERE consecutive = {}", all / deployments);
    assert_eq!(number(stage, &streak), deployments);
}

#[test]
fn programs_that_report_at_once_are_all_counted() {
    let lab = openai(Reply::answer("yes"));
    for deployments in [1, 16] {
        // A breaker that never opens counts them all.
        let text = format!("{}[breaker]\nfailures = 1000\nconsecutive = 1000\n", config(&[("lab", &lab)]));
        let stage = Stage::with(&text);
        let report = |name: &str| (0..5).for_each(|_| drop(stage.run(&["record", name, "--status", "500"]).exits(0)));
        std::thread::scope(|scope| {
            let report = &report;
            (0..16).for_each(|n| drop(scope.spawn(move || report(&format!("lab/m{}", n % deployments)))));
        });
        all_are_counted(&stage, 5, deployments);
    }
}

/// One thread's part of [`eight_hundred_reports_at_once_are_all_counted`], with a store of its own.
fn reports(path: &Path, name: &str, thread: u32) {
    let store = SqliteStore::open(path, OpenOptions::default()).expect("a store");
    let catalog = Catalog::builtin_of(|_| false).expect("a catalogue");
    let (classifier, redactor) = (Classifier::new(Vec::new()), Redactor::default());
    let now = NOW.parse().expect("a time");
    let breaker = BreakerSettings { failures: 1000, consecutive: 1000, ..BreakerSettings::default() };
    let settings = PolicySettings { breaker, ..PolicySettings::default() };
    let ledger = Ledger {
        store: &store,
        classifier: &classifier,
        catalog: &catalog,
        settings: &settings,
        clock: Clock::new(Some(now)),
        redactor: &redactor,
    };
    let target = Target { deployment: name.parse().expect("a name"), account: "lab".into(), region: None };
    for report in 0..50 {
        let request_id = RequestId::new(format!("{thread}-{report}"));
        let asked = Asked {
            target: &target,
            request_id: &request_id,
            started_at: now,
            caller: Caller::default(),
            siblings: &[],
            gauges: &[],
        };
        let evidence = Evidence { status: Some(500), ..Evidence::default() };
        let call = OutsideCall {
            asked,
            latency: Duration::ZERO,
            status: Some(500),
            told: told(evidence, None),
            usage: Usage::default(),
            price: None,
            stated: Vec::new(),
            probe: false,
            lands: None,
            before: None,
        };
        call.write(&ledger, 0.0).expect("written");
    }
}

#[test]
fn eight_hundred_reports_at_once_are_all_counted() {
    for deployments in [1, 16] {
        let stage = Stage::bare();
        let path = stage.state();
        std::thread::scope(|scope| {
            let path = path.as_path();
            for thread in 0..16 {
                scope.spawn(move || reports(path, &format!("lab/m{}", thread % deployments), thread));
            }
        });
        all_are_counted(&stage, 50, deployments);
    }
}

#[test]
fn several_calls_under_one_id_are_one_request() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    let first = ["record", "lab/m", "--request-id", "job-7", "--transport", "reset", "--started-at", "9s"];
    stage.run(&first).exits(0);
    stage.run(&["record", "lab/m", "--request-id", "job-7", "--ok", "--latency", "2s"]).exits(0);
    let log = stage.json(&["log", "job-7", "--json"]);
    assert_eq!((&log["outcome"], &log["latency_s"]), (&json!("answered"), &json!(9.0)));
    let kinds: Vec<&Value> = log["attempts"].as_array().expect("a list").iter().map(|a| &a["kind"]).collect();
    assert_eq!(kinds, [&json!("first"), &json!("retry")]);
    stage.run(&["chat", "--request-id", "mine", "?"]).exits(0);
    stage.run(&["record", "lab/m", "--request-id", "mine", "--ok"]).exits(2).says(&["`mine`", "ladder `main`"]);
}

#[test]
fn what_makes_no_sense_is_told_and_nothing_is_written() {
    let lab = openai(Reply::answer("yes"));
    let stage = keyed(&lab);
    for (args, code, says) in [
        (&["guard", "gorq/llama"][..], 3, &["no provider `gorq`", "`groq`"][..]),
        (&["guard", "lab/m@onw"], 3, &["no credential `onw`", "`own`"]),
        (&["guard", "lab"], 2, &["DEPLOYMENT", "`lab`", "provider/model"]),
        (&["guard", "lab/m", "--lease", "soon"], 2, &["--lease", "30s"]),
        (&["guard", "lab/m", "--lease", "25h"], 2, &["--lease", "24h"]),
        (&["guard", "lab/m", "--lease", "0s"], 2, &["--lease"]),
        (&["guard", "lab/m\u{1b}[31m"], 2, &["control character"]),
        (&["record", "gorq/llama", "--ok"], 3, &["no provider `gorq`", "`groq`"]),
        (&["record", "lab/m"], 2, &["what came of the call?", "--ok", "--transport timeout"]),
        (&["record", "lab/m", "--headers", "a: b"], 2, &["--headers alone", "--status"]),
        (&["record", "lab/m", "--status", "429", "--headers", "a b"], 2, &["--headers: line 1", "Name: value"]),
        (&["record", "lab/m", "--status", "429", "--headers", "@none"], 2, &["--headers: cannot read none"]),
        (&["record", "lab/m", "--status", "429", "--body", "@none"], 2, &["--body: cannot read none"]),
        (&["record", "lab/m", "--ok", "--transport", "dns"], 2, &["--ok and --transport dns contradict"]),
        (&["record", "lab/m", "--ok", "--status", "500"], 2, &["--ok and --status 500 contradict"]),
        (&["record", "lab/m", "--ok", "--body", "{}"], 2, &["--ok and --body contradict"]),
        (&["record", "lab/m", "--transport", "tls", "--status", "200"], 2, &["--transport tls and --status 200"]),
        (&["record", "lab/m", "--status", "200", "--headers", "HTTP/1.1 429 Slow"], 2, &["--status 200", "status 429"]),
        (&["record", "lab/m", "--status", "20"], 2, &["--status", "100..=599"]),
        (&["record", "lab/m", "--ok", "--started-at", "2026-08-24T00:00:00Z"], 2, &["--started-at", "to come"]),
        (&["record", "lab/m", "--ok", "--started-at", "noon"], 2, &["--started-at noon", "6h"]),
        (&["record", "lab/m", "--ok", "--request-id", "a b"], 2, &["--request-id", "without spaces"]),
    ] {
        let done = stage.run(args);
        assert_eq!((done.code, done.out.as_str()), (Some(code), ""), "{args:?}: {}", done.err);
        for part in says {
            assert!(done.err.contains(part), "{args:?} does not say `{part}`: {}", done.err);
        }
    }
    assert!(!stage.state().exists());
}

#[test]
fn without_a_config_the_state_is_what_is_known() {
    let mut stage = Stage::bare();
    stage.run(&["guard", "groq/llama"]).exits(0).prints("ok groq/llama\n");
    stage.run(&["guard", "gorq/llama"]).exits(3).says(&["no provider `gorq`, and there is no config", "`groq`"]);
    assert!(!stage.path(".local").exists());
    stage.run(&["record", "groq/llama@team", "--status", "429", "--headers", "retry-after: 60"]).exits(0);
    stage.run(&["guard", "groq/llama@team"]).exits(4);
    stage.run(&["guard", "groq/llama"]).exits(4);
    stage.run(&["guard", "groq/llama@other"]).exits(0);
    // With a config of the same names it is the same deployment.
    let text = format!("[ladders.main]\nsteps = [\"groq/llama\"]\n{}", keys("groq", &[("team", "{ env = \"K\" }")]));
    let path = stage.file("llmr.toml", text);
    stage.set("LLMR_CONFIG", path);
    stage.run(&["guard", "groq/llama"]).exits(4);
}

#[test]
fn a_state_that_cannot_be_used_blocks_nobody_and_nothing_is_recorded() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.sql().execute_batch("CREATE TABLE others (a)").expect("another program's database");
    stage.run(&["guard", "lab/m"]).exits(0).prints("ok lab/m\n").says(&["warning:", "is not a state file"]);
    let done = stage.run(&["record", "lab/m", "--ok"]).exits(1).prints("");
    done.says(&["error:", "is not a state file", "nothing was recorded", "hint:"]);
}

#[test]
fn reports_come_from_files_and_pipes_as_curl_leaves_them() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.file("head", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Too Many Requests\r\nRetry-After: 30\r\n\r\n");
    let body = json!({"error": {"message": "Rate limit reached"}}).to_string();
    let args = ["record", "lab/m", "--headers", "@head", "--body", "@-", "--json"];
    let told = stage.run_with(body.as_bytes(), &args).exits(0).json();
    let wanted =
        "request_id deployment attempt class action scope dimension status rule evidence kind held_until provenance";
    assert_eq!(names(&told), wanted);
    assert_eq!(
        (&told["status"], &told["class"], &told["kind"]),
        (&json!(429), &json!("rate_limit"), &json!("cooldown"))
    );
    assert_eq!(told["held_until"], json!("2026-08-23T03:00:30Z"));
    let both = ["record", "lab/m", "--headers", "@-", "--body", "@-"];
    stage.run_with(b"", &both).exits(2).says(&["both", "standard input"]);
}
