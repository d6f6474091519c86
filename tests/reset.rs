//! `llmr reset`: what it means, what it clears, and that a process that waits notices at once.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::{Provider, Reply};
use serde_json::json;

use crate::stage::{Stage, declared, finish, keys, openai, until};

fn stage_of_three(a: &Provider, b: &Provider) -> Stage {
    let two = [("first", "{ env = \"KEY_ONE\" }"), ("second", "{ env = \"KEY_TWO\" }")];
    let mut stage = Stage::with(&format!(
        "[limits]\nretry_budget = 0\n[ladders.main]\nsteps = [\"a/m\", \"b/m\"]\n{}{}{}{}",
        declared("a", a),
        keys("a", &two),
        declared("b", b),
        keys("b", &[("first", "{ env = \"KEY_ONE\" }")])
    ));
    stage.set("KEY_ONE", "not-a-real-key-number-one");
    stage.set("KEY_TWO", "not-a-real-key-number-two");
    stage
}

fn limited(seconds: u32) -> Reply {
    let headers = BTreeMap::from([("retry-after".to_owned(), seconds.to_string())]);
    let body = json!({"error": {"message": "Rate limit reached: too many requests per minute"}});
    Reply::Status { status: 429, headers, body }
}

fn barred() -> Reply {
    Reply::status(401, json!({"error": {"message": "Incorrect API key provided"}}))
}

fn spent() -> Reply {
    let message =
        "Rate limit reached for model m: requests per day (RPD): Limit 100, Used 100. Please try again in 2h0m0s.";
    Reply::status(429, json!({"error": {"message": message}}))
}

/// The scopes that are held, sorted.
fn held(stage: &Stage) -> Vec<String> {
    let status = stage.json(&["status", "--json"]);
    let scopes = status["holds"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|hold| hold["scope"].as_str().expect("a scope").to_owned());
    let mut scopes: Vec<String> = scopes.collect();
    scopes.sort();
    scopes
}

#[test]
fn status_tells_of_a_key_that_is_not_here() {
    let (a, b) = (openai(Reply::answer("a")), openai(Reply::answer("b")));
    let mut stage = stage_of_three(&a, &b);
    let text = stage.run(&["status"]).exits(0).out;
    assert!(text.contains("all 3 can be asked") && !text.contains("no key"), "{text}");
    stage.set("KEY_TWO", "");
    let text = stage.run(&["status"]).exits(0).out;
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("no key")).collect();
    assert!(matches!(rows[..], [row] if row.contains("a/m@second")), "{text}");
    assert!(text.contains("2 of 3 can be asked"), "{text}");
    let status = stage.json(&["status", "--json"]);
    assert_eq!(status["deployments"][1]["eligible"], json!(true), "nothing holds it for who has the key");
    stage.set("KEY_ONE", "");
    let text = stage.run(&["status"]).exits(0).out;
    assert!(text.contains("NONE of 3 can be asked") && text.contains("a person must act"), "{text}");
}

#[test]
fn a_selector_means_what_it_names() {
    for (selector, left) in [
        ("a", 1),
        ("b", 2),
        ("a/m", 1),
        ("a/m@first", 2),
        ("a@second", 2),
        ("@first", 1),
        ("@second", 2),
        ("b/m@first", 2),
        ("nobody", 3),
        ("a/other", 3),
    ] {
        let (a, b) = (openai(barred()), openai(barred()));
        let stage = stage_of_three(&a, &b);
        stage.run(&["chat", "?"]).exits(5);
        assert_eq!(held(&stage).len(), 3);
        stage.run(&["reset", selector, "--dry-run"]).exits(0);
        assert_eq!(held(&stage).len(), 3, "a dry run clears nothing");
        let done = stage.run(&["reset", selector]).exits(0);
        assert_eq!(held(&stage).len(), left, "{selector}: {}", done.out);
        assert_eq!(done.out.lines().filter(|line| line.starts_with("cleared ")).count(), 3 - left, "{}", done.out);
    }
}

#[test]
fn a_hold_is_cleared_by_its_id_alone() {
    let (a, b) = (openai(vec![limited(40), barred()]), openai(spent()));
    let stage = stage_of_three(&a, &b);
    stage.run(&["chat", "?"]).exits(4);
    let status = stage.json(&["status", "--json"]);
    let ids: Vec<&str> =
        status["holds"].as_array().expect("a list").iter().map(|hold| hold["id"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), 3);
    let text = stage.run(&["status"]).exits(0).out;
    for (cleared, id) in (1..).zip(&ids) {
        assert!(text.lines().any(|line| line.starts_with(&format!(" {id} "))), "{id} is not shown: {text}");
        let only = stage.json(&["status", "--json", id]);
        assert_eq!(only["holds"].as_array().map(Vec::len), Some(1), "{only:#}");
        let done = stage.json(&["reset", "--json", id]);
        assert_eq!((&done["dry_run"], &done["cleared"][0]["id"]), (&json!(false), &json!(id)));
        assert_eq!((&done["eligible"], &done["held"]), (&json!([only["deployments"][0]["deployment"]]), &json!([])));
        assert_eq!(held(&stage).len(), 3 - cleared);
    }
    let again = stage.run(&["reset", ids[0], "-y"]).exits(0).prints("nothing to clear\n");
    again.says(&["warning: there is no hold", ids[0]]);
    assert_eq!(stage.json(&["reset", ids[0], "--json"])["cleared"], json!([]));
}

#[test]
fn a_provider_called_like_a_hold_comes_first() {
    let (first, second) = (openai(spent()), openai(spent()));
    // The second hold of the state is q2, and the first is of the provider of that name.
    let stage = Stage::of(&[("q2", &first), ("other", &second)]);
    stage.run(&["chat", "?"]).exits(4);
    assert_eq!(held(&stage), ["other/m account=other", "q2/m account=q2"]);
    stage.run(&["reset", "q2"]).exits(0).says(&["warning: `q2` is taken for the provider", "`other/m`"]);
    assert_eq!(held(&stage), ["other/m account=other"]);
}

#[test]
fn what_nobody_knows_is_said_with_what_is_near() {
    let (a, b) = (openai(barred()), openai(barred()));
    let stage = stage_of_three(&a, &b);
    stage.run(&["chat", "?"]).exits(5);
    for (word, near) in [("@frist", "`@first`"), ("a/m@secnd", "`a/m@second`"), ("a@firts", "`a@first`")] {
        for command in ["status", "reset"] {
            stage.run(&[command, word]).exits(0).says(&["warning: nothing that is known is called", word, near]);
        }
    }
    assert_eq!(held(&stage).len(), 3);
    // Known and not held is no mistake.
    stage.run(&["reset", "a", "-y"]).exits(0);
    assert_eq!(stage.run(&["reset", "a"]).exits(0).prints("nothing to clear\n").err, "");
}

#[test]
fn a_reset_says_who_can_be_asked_and_who_still_cannot() {
    let (a, b) = (openai(barred()), openai(barred()));
    let stage = stage_of_three(&a, &b);
    stage.run(&["chat", "?"]).exits(5);
    let sql = "INSERT INTO cooldowns (id, version, provider, account, credential, model, region, dimension, class, since, \
               until, provenance, streak, evidence) VALUES (77, 1, 'a', '', '', '', '', 'rpm', 'rate_limit', ?1, ?2, \
               'fact', 0, '')";
    let now: jiff::Timestamp = crate::stage::NOW.parse().expect("a time");
    let until = now.as_millisecond() + 60_000;
    stage.sql().execute(sql, [now.as_millisecond(), until]).expect("written");
    let done = stage.run(&["reset", "a@first", "--circuit"]).exits(0);
    assert!(done.out.contains("still held: a/m@first, by cooldown c77 a: rate_limit, ends in 1m\n"), "{}", done.out);
    let done = stage.run(&["reset", "c77", "--dry-run"]).exits(0);
    assert!(done.out.contains("\ncould be asked then: a/m@first\n"), "{}", done.out);
    assert!(done.out.contains("still held: a/m@second, by circuit b"), "{}", done.out);
    let done = stage.run(&["reset", "c77"]).exits(0);
    assert!(done.out.contains("\ncan be asked now: a/m@first\n"), "{}", done.out);
}

#[test]
fn holds_of_what_no_config_names_are_shown_and_cleared() {
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("good", &good)]);
    stage.run(&["chat", "?"]).exits(0);
    let now: jiff::Timestamp = crate::stage::NOW.parse().expect("a time");
    let (since, until) = (now.as_millisecond(), now.as_millisecond() + 3_600_000);
    let scopes = [
        ("gone", "", "", "", ""),
        ("gone", "acme", "", "", ""),
        ("gone", "acme", "", "llama", ""),
        ("gone", "", "team", "", ""),
        ("gone", "", "team", "claude@2024", ""),
        ("gone", "", "", "claude@2024", ""),
        ("gone", "", "", "", "eu-west"),
    ];
    for by_id in [true, false] {
        for (id, (provider, account, credential, model, region)) in (50..).zip(scopes) {
            let sql = "INSERT INTO quarantines (id, version, provider, account, credential, model, region, dimension, since, \
                       until, provenance, streak, evidence) VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, 'rpd', ?7, ?8, 'fact', 0, '')";
            let values = rusqlite::params![id, provider, account, credential, model, region, since, until];
            stage.sql().execute(sql, values).expect("written");
            let (hold, text) = (stage.hold(), stage.run(&["status"]).exits(0).out);
            assert!(text.contains(hold["scope"].as_str().expect("a scope")), "{text}");
            let at = |sign: &str, part: &str| if part.is_empty() { String::new() } else { format!("{sign}{part}") };
            let selector = format!("{provider}{}{}", at("/", model), at("@", credential));
            let word = if by_id { hold["id"].as_str().expect("an id") } else { &selector };
            let done = stage.run(&["reset", word]).exits(0);
            assert!(done.out.starts_with("cleared quarantine "), "{word}: {}", done.out);
            assert_eq!((held(&stage).len(), done.err.as_str()), (0, ""), "{word}");
        }
    }
}

#[test]
fn all_is_all_and_nothing_is_a_usage_error() {
    let (a, b) = (openai(barred()), openai(barred()));
    let stage = stage_of_three(&a, &b);
    stage.run(&["chat", "?"]).exits(5);
    stage.run(&["reset"]).exits(2).prints("");
    stage.run(&["reset", "--all", "a"]).exits(2).prints("");
    stage.run(&["reset", "a/"]).exits(2).says(&["error: "]);
    assert_eq!(held(&stage).len(), 3);
    stage.run(&["reset", "--all", "-y"]).exits(0);
    assert_eq!(held(&stage), Vec::<String>::new());
    stage.run(&["chat", "?"]).exits(5);
    assert_eq!((a.hits(), b.hits()), (4, 2), "all three were asked again");
}

#[test]
fn each_kind_can_be_cleared_alone() {
    for (flag, kind) in [("--cooldown", "cooldown"), ("--quarantine", "quarantine"), ("--circuit", "circuit")] {
        let (a, b) = (openai(vec![limited(40), barred()]), openai(spent()));
        let stage = stage_of_three(&a, &b);
        stage.run(&["chat", "?"]).exits(4);
        let kinds = |stage: &Stage| {
            let status = stage.json(&["status", "--json"]);
            let holds = status["holds"].as_array().expect("a list");
            let mut kinds: Vec<String> =
                holds.iter().map(|hold| hold["kind"].as_str().expect("a kind").to_owned()).collect();
            kinds.sort();
            kinds
        };
        assert_eq!(kinds(&stage), ["circuit", "cooldown", "quarantine"]);
        stage.run(&["reset", "--all", flag]).exits(0);
        let left: Vec<&str> = ["circuit", "cooldown", "quarantine"].into_iter().filter(|one| *one != kind).collect();
        assert_eq!(kinds(&stage), left);
    }
}

#[test]
fn a_reset_circuit_forgets_its_failures() {
    let bad = openai(Reply::status(500, "oops"));
    let stage = Stage::of(&[("bad", &bad)]);
    for hits in [1, 2] {
        stage.run(&["chat", "?"]).exits(4);
        assert_eq!(bad.hits(), hits);
    }
    stage.run(&["reset", "bad", "--circuit"]).exits(0);
    for hits in [3, 4, 5, 5] {
        stage.run(&["chat", "?"]).exits(4);
        assert_eq!(bad.hits(), hits, "the streak began anew");
    }
}

#[test]
fn there_is_nothing_to_clear_before_the_first_request() {
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("good", &good)]);
    stage.run(&["reset", "--all"]).exits(0).prints("nothing is held: there is no state file yet\n");
    assert!(!stage.state().exists());
    stage.run(&["chat", "?"]).exits(0);
    stage.run(&["reset", "--all"]).exits(0).prints("nothing to clear\n");
}

#[test]
fn a_reset_wakes_who_waits_in_another_process() {
    let slow = openai(vec![limited(3000), Reply::answer("awake")]);
    let stage = Stage::of(&[("slow", &slow)]);
    stage.run(&["chat", "?"]).exits(4);
    let mut waits = stage.command(&["chat", "--wait", "2h", "--deadline", "2h", "?"]).spawn().expect("started");
    // It says so before it sleeps.
    let mut err = std::io::BufReader::new(waits.stderr.take().expect("a pipe"));
    let mut line = String::new();
    until("it waits", || {
        line.clear();
        std::io::BufRead::read_line(&mut err, &mut line).expect("a line");
        line.contains("waiting")
    });
    assert_eq!(slow.hits(), 1);
    stage.run(&["reset", "slow"]).exits(0);
    finish(waits).exits(0).prints("awake\n");
    assert_eq!(slow.hits(), 2);
}

#[test]
fn without_time_to_wait_nobody_waits() {
    let slow = openai(limited(3000));
    let stage = Stage::of(&[("slow", &slow)]);
    stage.run(&["chat", "?"]).exits(4);
    stage.run(&["chat", "--wait", "1m", "?"]).exits(4).says(&["2026-08-23T03:50:00Z"]);
}
