//! The alarm as a person and many processes see it: what rings, once, and when it is over.
#![cfg(test)]

use std::net::{TcpListener, TcpStream};
use std::process::Child;

use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::alarm_sinks::{read, say};
use crate::stage::{Stage, config, finish, keys, openai};

/// How many see the same.
const PROCESSES: usize = 20;

/// Writes each first line to the file `rang`.
pub const RINGS: &str = "[alarm]\ncommand = [\"sh\", \"-c\", \"printf '%s\\\\n' \\\"$0\\\" >> rang\", \"{summary}\"]\n";

pub fn error(status: u16, message: &str) -> Reply {
    Reply::status(status, json!({"error": {"message": message}}))
}

/// A ladder of these providers that goes on after what nobody understands, never opens itself, and rings.
pub fn ringing(providers: &[(&str, &Provider)], besides: &str) -> Stage {
    let ladder = "[ladders.main]\non_unknown = \"next\"\ncascade = \"off\"\n";
    let text = config(providers).replace("[ladders.main]\n", ladder);
    Stage::with(&format!("{text}{RINGS}{besides}"))
}

/// The first lines that rang.
pub fn rang(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(stage.path("rang")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The alarms that are listed.
pub fn listed(stage: &Stage, now: &str) -> Vec<Value> {
    let list = stage.run_at(now, &["alarm", "list", "--json", "--all"]).exits(0).json();
    list["alarms"].as_array().expect("a list").clone()
}

fn all_at_once(stage: &Stage, code: i32) {
    let start = |_| stage.command(&["chat", "?"]).spawn().expect("started");
    let children: Vec<Child> = (0..PROCESSES).map(start).collect();
    for child in children {
        let done = finish(child).exits(code);
        assert!(!done.err.contains("warning:"), "trouble: {}", done.err);
    }
}

/// A provider that waits until all have asked, and then refuses all of them.
fn out_of_phase() -> String {
    let socket = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let url = format!("http://{}/v1", socket.local_addr().expect("an address"));
    std::thread::spawn(move || {
        let all: Vec<TcpStream> = socket.incoming().take(PROCESSES).map(|stream| stream.expect("a stream")).collect();
        let asked = all.iter().filter(|stream| read(stream).is_some()).count();
        assert_eq!(asked, PROCESSES);
        let body = json!({"error": {"message": "The frobnicator is out of phase."}}).to_string();
        let head = format!("HTTP/1.1 418 X\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
        all.iter().for_each(|stream| say(stream, &format!("{head}\r\nconnection: close\r\n\r\n{body}")));
    });
    url
}

#[test]
fn it_rings_once_for_one_exhaustion_seen_by_twenty_processes_and_once_when_it_is_over() {
    // Of what nobody understands no hold is left, so each of them asks and fails by itself, at the same moment.
    let (url, lab) = (out_of_phase(), openai(Reply::answer("back")));
    let stage = ringing(&[("lab", &lab)], "");
    let text = std::fs::read_to_string(stage.path("llmr.toml")).expect("a config");
    stage.file("llmr.toml", text.replace(&lab.base_url(), &url));
    all_at_once(&stage, 4);
    assert_eq!(
        rang(&stage),
        ["llmr: ladder main is exhausted: its one step cannot answer, it may be asked again at any time"]
    );
    let alarm = &listed(&stage, crate::stage::NOW)[0];
    assert_eq!((&alarm["state"], &alarm["count"]), (&json!("raised"), &json!(PROCESSES)));
    assert_eq!(alarm["letters"].as_array().map(Vec::len), Some(1));

    stage.file("llmr.toml", &text);
    all_at_once(&stage, 0);
    assert_eq!(rang(&stage).len(), 2);
    assert_eq!(rang(&stage)[1], "llmr: over: ladder main is exhausted no more, after 0s");
}

#[test]
fn it_rings_once_where_the_same_death_also_leaves_holds() {
    let (broke, bad) = (openai(error(402, "Insufficient balance")), openai(error(401, "Incorrect API key provided")));
    let stage = ringing(&[("broke", &broke), ("bad", &bad)], "");
    all_at_once(&stage, 5);
    assert_eq!(rang(&stage), ["llmr: ladder main is exhausted: none of its 2 steps can answer, a person must act"]);
    let alarms = listed(&stage, crate::stage::NOW);
    let parts: Vec<&Value> = alarms.iter().map(|alarm| &alarm["part_of"]).collect();
    assert_eq!(parts.iter().filter(|part| ***part == json!("main")).count(), 2, "{alarms:#?}");
}

#[test]
fn ladders_that_share_their_steps_die_once() {
    let (broke, bad) = (openai(error(402, "Insufficient balance")), openai(error(401, "Incorrect API key provided")));
    let more = "[ladders.wide]\nsteps = [\"broke/m\"]\n[ladders.again]\nsteps = [\"bad/m\", \"broke/m\"]\n";
    let stage = ringing(&[("broke", &broke), ("bad", &bad)], more);
    stage.run(&["chat", "?"]).exits(5);
    stage.run(&["chat", "-m", "wide", "?"]).exits(5);
    stage.run(&["check", "--alarm"]).exits(0);
    assert_eq!(rang(&stage).len(), 1, "{:?}", rang(&stage));
    assert!(rang(&stage)[0].starts_with("llmr: ladder main is exhausted"), "{:?}", rang(&stage));
}

#[test]
fn the_message_says_who_died_of_what_and_holds_no_key() {
    let key = "not-a-real-key-number-one";
    let echo = openai(error(401, &format!("Incorrect API key provided: {key}")));
    let text = format!("{}{}", config(&[("echo", &echo)]), keys("echo", &[("own", "{ env = \"LAB_KEY\" }")]));
    let all = "[alarm]\ncommand = [\"sh\", \"-c\", \"cat > stdin; printf '%s|%s|%s' \\\"$@\\\" > words\", \"x\", \"{text}\", \
               \"{kind}\", \"{ladder}\"]\n";
    let mut stage = Stage::with(&format!("{text}{all}"));
    stage.set("LAB_KEY", key);
    stage.run(&["chat", "?"]).exits(5);
    let words = std::fs::read_to_string(stage.path("words")).expect("words");
    assert!(words.ends_with("|exhausted|main"), "{words}");
    assert!(words.contains("0  echo/m@own: the key is refused, until a person acts"), "{words}");
    assert!(words.contains("- replace key own of echo"), "{words}");
    let body: Value = serde_json::from_slice(&std::fs::read(stage.path("stdin")).expect("JSON")).expect("JSON");
    assert_eq!((&body["type"], &body["details"]["steps"][0]["class"]), (&json!("alarm.raised"), &json!("auth")));
    assert!(!words.contains(key) && !body.to_string().contains(key), "{words}");
    assert!(!String::from_utf8_lossy(&stage.state_bytes()).contains(key));
}

#[test]
fn a_ladder_that_nobody_calls_rings_from_cron_and_so_does_its_end() {
    for look in [&["check", "--alarm"][..], &["probe"]] {
        let lab = openai(Reply::answer("yes"));
        let silent = Stage::of(&[("lab", &lab)]);
        silent.run(&["record", "lab/m", "--status", "402"]).exits(0);
        // The config that rings is another one, of the same state.
        let mut stage = ringing(&[("lab", &lab)], "on = \"exhausted\"\n");
        stage.set("LLMR_STATE", silent.state().to_str().expect("a plain path"));
        stage.run(look).exits(0);
        stage.run(look).exits(0);
        assert_eq!(rang(&stage).len(), 1, "{look:?}: {:?}", rang(&stage));
        silent.run(&["reset", "--all"]).exits(0);
        stage.run_at("2026-08-23T03:10:00Z", look).exits(0);
        assert_eq!(rang(&stage).len(), 1, "it has only just become free");
        stage.run_at("2026-08-23T03:15:00Z", look).exits(0);
        stage.run_at("2026-08-23T03:20:00Z", look).exits(0);
        assert_eq!(rang(&stage)[1..], ["llmr: over: ladder main is exhausted no more, after 15m"], "{look:?}");
    }
}

#[test]
fn a_ladder_that_is_back_within_a_minute_rings_only_for_who_calls_it() {
    let lab = openai(Reply::answer("yes"));
    for (seconds, rings) in [("30", 0), ("59", 0), ("1200", 1)] {
        let stage = ringing(&[("lab", &lab)], "on = \"exhausted\"\n");
        let header = format!("retry-after: {seconds}");
        stage.run(&["record", "lab/m", "--status", "429", "--headers", &header]).exits(0);
        stage.run(&["check", "--alarm"]).exits(0);
        assert_eq!(rang(&stage).len(), rings, "{seconds} s: {:?}", rang(&stage));
        stage.run(&["chat", "?"]).exits(4);
        assert_eq!(rang(&stage).len(), 1, "a request was in vain");
    }
}

#[test]
fn deployments_that_a_request_named_are_over_when_any_ladder_reached_them() {
    let lab = openai(vec![error(418, "out of phase"), Reply::answer("yes")]);
    let stage = ringing(&[("lab", &lab)], "");
    let text = std::fs::read_to_string(stage.path("llmr.toml")).expect("a config");
    stage.file("llmr.toml", text.replace("retry_budget = 0", "retry_budget = 0\non_unknown = \"next\""));
    stage.run(&["chat", "-m", "lab/m", "?"]).exits(4);
    assert!(rang(&stage)[0].starts_with("llmr: ladder lab/m is exhausted"), "{:?}", rang(&stage));
    stage.run_at("2026-08-23T03:02:00Z", &["chat", "?"]).exits(0);
    assert_eq!(rang(&stage)[1..], ["llmr: over: ladder lab/m is exhausted no more, after 2m"]);
}

#[test]
fn a_probe_that_is_answered_ends_it_at_once() {
    let lab = openai(vec![error(402, "Insufficient balance"), Reply::answer("yes")]);
    let stage = ringing(&[("lab", &lab)], "");
    stage.run(&["chat", "?"]).exits(5);
    stage.run_at("2026-08-23T10:00:00Z", &["probe"]).exits(0);
    assert_eq!(rang(&stage)[1..], ["llmr: over: ladder main is exhausted no more, after 7h"]);
}

#[test]
fn holds_that_last_ring_when_they_are_set_and_when_they_are_lifted() {
    let (broke, good) = (openai(error(402, "Insufficient balance")), openai(Reply::answer("yes")));
    let stage = ringing(&[("broke", &broke), ("good", &good)], "");
    stage.run(&["chat", "?"]).exits(0).prints("yes\n");
    stage.run(&["chat", "?"]).exits(0);
    assert_eq!(rang(&stage), ["llmr: broke account=broke is held: no money on the account, a person must act"]);
    stage.run(&["reset", "--dry-run", "broke"]).exits(0);
    assert_eq!(rang(&stage).len(), 1);
    stage.run(&["reset", "broke"]).exits(0);
    assert_eq!(
        rang(&stage)[1..],
        ["llmr: over: broke account=broke is free again after 0s: it was held, no money on the account"]
    );
    stage.run(&["record", "good/m", "--status", "401"]).exits(0);
    assert_eq!(rang(&stage).len(), 3);

    let limited = openai(Reply::Status {
        status: 429,
        headers: [("retry-after".to_owned(), "60".to_owned())].into(),
        body: json!({"error": {"message": "Rate limit reached"}}),
    });
    let stage = ringing(&[("limited", &limited), ("good", &good)], "");
    stage.run(&["chat", "?"]).exits(0);
    assert_eq!(rang(&stage), [""; 0], "a minute is no news");
}

#[test]
fn a_budget_that_is_spent_rings_until_it_has_not_been_for_some_minutes() {
    let (shaky, good) = (openai(error(500, "internal error")), openai(Reply::answer("good")));
    let text = config(&[("shaky", &shaky), ("good", &good)]).replace("retry_budget = 0", "retry_budget = 1");
    let stage = Stage::with(&format!("{text}{RINGS}[breaker]\nfailures = 1000\nconsecutive = 1000\n"));
    for _ in 0..4 {
        stage.run(&["chat", "?"]).exits(0);
    }
    assert_eq!(rang(&stage), ["llmr: the budget of retries of all processes is spent, retries are denied"]);
    stage.run_at("2026-08-23T03:04:59Z", &["check", "--alarm"]).exits(0);
    assert_eq!(rang(&stage).len(), 1);
    stage.run_at("2026-08-23T03:05:00Z", &["check", "--alarm"]).exits(0);
    assert_eq!(rang(&stage)[1..], ["llmr: over: retries are granted again after 5m"]);
}

#[test]
fn a_limit_that_runs_out_before_it_is_back_rings_while_all_is_well() {
    let lab = openai(Reply::answer("yes"));
    let cap = "[[caps]]\nprovider = \"lab\"\ndimension = \"rpd\"\nlimit = 20\nreset = \"midnight UTC\"\n";
    let stage = ringing(&[("lab", &lab)], cap);
    for minute in [0, 20, 40, 50] {
        stage.run_at(&format!("2026-08-23T01:{minute:02}:00Z"), &["chat", "?"]).exits(0);
    }
    assert_eq!(rang(&stage), [""; 0], "an hour is not enough to say");
    stage.run_at("2026-08-23T02:30:00Z", &["chat", "?"]).exits(0);
    assert_eq!(rang(&stage).len(), 1, "{:?}", rang(&stage));
    let told = &rang(&stage)[0];
    assert!(
        told.starts_with("llmr: lab account=lab rpd runs out in 4h 30m at 2026-08-23T07:00:00Z, 5 of 20"),
        "{told}"
    );
    // It is back at midnight, and somebody notices.
    stage.run_at("2026-08-24T00:00:00Z", &["check", "--alarm"]).exits(0);
    assert_eq!(rang(&stage)[1..], ["llmr: over: lab account=lab rpd lasts again after 21h 30m"]);
}

const NIGHT: &str = "quiet = [{ from = \"22:00\", to = \"07:00\", zone = \"UTC\" }]\n";

#[test]
fn a_look_says_what_is_raised_and_what_was_delivered_or_that_nobody_is_told() {
    let lab = openai(Reply::answer("yes"));
    let stage = ringing(&[("lab", &lab)], "on = \"exhausted\"\n");
    let look = || stage.run(&["check", "--alarm"]).exits(0).out;
    assert!(look().ends_with("\nalarm: nothing is raised, for there is no state yet\n"), "{}", look());
    let silent = Stage::of(&[("lab", &lab)]);
    silent.run(&["record", "lab/m", "--status", "402"]).exits(0);
    silent.run(&["check", "--alarm"]).exits(0).says(&["warning: nobody is told: the config has no [alarm]", "hint: "]);

    let mut stage = ringing(&[("lab", &lab)], "on = \"exhausted\"\n");
    stage.set("LLMR_STATE", silent.state().to_str().expect("a plain path"));
    let look = |args: &[&str]| stage.run(&[&["check", "--alarm"], args].concat()).exits(0);
    let first = look(&[]).out;
    assert!(first.ends_with("\nalarm: ladder main is exhausted; 1 message delivered\n"), "{first}");
    assert!(look(&[]).out.ends_with("\nalarm: ladder main is exhausted; no message was due\n"));
    assert_eq!(look(&["--json"]).json()["ok"], true, "and nothing but JSON");
}

#[test]
fn a_quiet_time_keeps_it_for_the_morning() {
    let lab = openai(error(418, "The frobnicator is out of phase."));
    let stage = ringing(&[("lab", &lab)], NIGHT);
    stage.run(&["chat", "?"]).exits(4).says(&["alarm: llmr: ladder main is exhausted"]);
    assert_eq!(rang(&stage), [""; 0]);
    let list = stage.run(&["alarm", "list"]).exits(0).out;
    assert!(list.contains("not told yet: quiet until 2026-08-23T07:00:00Z (in 4h)"), "{list}");
    stage.run_at("2026-08-23T07:00:00Z", &["chat", "?"]).exits(4);
    stage.run_at("2026-08-23T07:00:01Z", &["chat", "?"]).exits(4);
    assert_eq!(rang(&stage).len(), 1);
    assert!(rang(&stage)[0].ends_with("since 2026-08-23T03:00:00Z"), "{:?}", rang(&stage));

    let stage = ringing(&[("lab", &lab)], NIGHT);
    stage.run(&["chat", "?"]).exits(4);
    lab.play(Reply::answer("yes"));
    stage.run_at("2026-08-23T04:00:00Z", &["chat", "?"]).exits(0);
    assert_eq!(rang(&stage), [""; 0]);
    stage.run_at("2026-08-23T07:00:00Z", &["check", "--alarm"]).exits(0);
    stage.run_at("2026-08-23T08:00:00Z", &["chat", "?"]).exits(0);
    assert_eq!(rang(&stage), ["llmr: came and went: ladder main was exhausted, for 1h"]);
}

#[test]
fn without_the_section_nothing_is_written_and_without_trouble_nothing_rings() {
    let lab = openai(vec![Reply::answer("yes"), error(402, "Insufficient balance")]);
    let stage = Stage::of(&[("lab", &lab)]);
    stage.run(&["chat", "?"]).exits(0);
    stage.run(&["chat", "?"]).exits(5).says(&["alarm:"]);
    stage.run(&["check", "--alarm"]).exits(0);
    let rows = |what: &str| {
        let sql = format!("SELECT count(*) FROM {what}");
        stage.sql().query_row(&sql, [], |row| row.get::<_, u32>(0)).expect("a count")
    };
    assert_eq!([rows("alarms"), rows("letters"), rows("meta WHERE key = 'alarms_looked_at'")], [0, 0, 0]);
    let list = stage.run(&["alarm", "list"]).exits(0).out;
    assert!(list.starts_with("nothing is raised\nnobody is told: "), "{list}");

    let good = openai(Reply::answer("yes"));
    let stage = ringing(&[("good", &good)], "");
    stage.run(&["check", "--alarm"]).exits(0);
    assert!(!stage.state().exists(), "a look makes no state file");
    stage.run(&["alarm", "list"]).exits(0).prints("nothing is raised\n");
    for _ in 0..3 {
        stage.run(&["chat", "?"]).exits(0);
    }
    assert_eq!(rang(&stage), [""; 0]);
}

#[test]
fn a_request_that_was_narrowed_says_nothing_of_a_ladder_that_could_have_answered_another() {
    let bad = openai(error(418, "out of phase"));
    let large = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens";
    let (good, small) = (openai(Reply::answer("yes")), openai(error(400, large)));
    let stage = ringing(&[("bad", &bad), ("good", &good)], "");
    for narrow in [&["--pin", "bad"][..], &["--exclude", "good"], &["--no-fallback"], &["--max-steps", "1"]] {
        let narrowed = [&["chat"], narrow, &["?"]].concat();
        stage.run(&narrowed).exits(4);
        assert_eq!(rang(&stage), [""; 0], "{narrow:?}");
    }
    let stage = ringing(&[("bad", &bad), ("small", &small)], "");
    stage.run(&["chat", "?"]).exits(4);
    assert_eq!(rang(&stage), [""; 0], "a smaller request is answered");

    // Where nobody else could have answered either, it says as much as any.
    let stage = ringing(&[("bad", &bad), ("good", &good)], "on = \"exhausted\"\n");
    stage.run(&["record", "good/m", "--status", "402"]).exits(0);
    stage.run(&["chat", "--max-steps", "1", "?"]).exits(4);
    assert_eq!(rang(&stage).len(), 1, "{:?}", rang(&stage));
}
