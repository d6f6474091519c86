//! What a scraper gets of a generated night, of nothing, and of a state that cannot be read.
#![cfg(test)]

use std::collections::BTreeMap;
use std::process::Command;

use llmr::domain::{Class, Outcome};
use serde_json::Value;

use crate::exposition::{Family, read};
use crate::figures::{CONFIG, number, stage};
use crate::stage::Stage;

fn sample(families: &BTreeMap<String, Family>, family: &str, labels: &[(&str, &str)]) -> f64 {
    let samples = &families.get(family).unwrap_or_else(|| panic!("no {family}")).samples;
    let has = |sample: &&crate::exposition::Sample| {
        labels.iter().all(|(name, value)| sample.labels.get(*name).map(String::as_str) == Some(*value))
    };
    samples.iter().filter(has).map(|sample| sample.value).sum()
}

#[test]
fn a_scraper_gets_what_sql_counts_in_the_whole_file() {
    let (stage, conn) = stage();
    let text = stage.run(&["stats", "--format", "prometheus"]).exits(0).out;
    let families = read(&text, false);
    let count = |sql: &str| number(&conn, sql);
    assert_eq!(sample(&families, "llmr_attempts_total", &[]), count("SELECT count(*) FROM attempts"));
    assert_eq!(
        sample(&families, "llmr_attempt_failures_total", &[("class", "auth"), ("provider", "lab2")]),
        count("SELECT count(*) FROM attempts WHERE class = 'auth' AND given_up IS NULL AND provider = 'lab2'")
    );
    assert_eq!(
        sample(&families, "llmr_requests_total", &[("ladder", "cheap, \"odd\""), ("outcome", "partial")]),
        count("SELECT count(*) FROM requests WHERE ladder LIKE 'cheap%' AND outcome = 'partial'")
    );
    assert_eq!(
        sample(&families, "llmr_step_answers_total", &[("ladder", "main"), ("step", "2")]),
        count("SELECT count(*) FROM requests WHERE ladder = 'main' AND outcome = 'answered' AND step = 2")
    );
    assert_eq!(
        sample(&families, "llmr_tokens_total", &[("direction", "output"), ("model", "mod\"el\\")]),
        count("SELECT sum(output_tokens) FROM attempts WHERE model = 'mod\"el\\'")
    );
    let usd = sample(&families, "llmr_cost_usd_total", &[]);
    assert!((usd - count("SELECT sum(cost_usd) FROM attempts")).abs() < 1e-6, "{usd}");
    let judged = "FROM attempts WHERE given_up IS NULL AND (class IS NULL OR \
                  (class = 'invalid_output' AND ifnull(status, 200) = 200) OR (status = 200 AND class NOT IN ('network', 'timeout')))";
    assert_eq!(sample(&families, "llmr_transport_successes_total", &[]), count(&format!("SELECT count(*) {judged}")));
    for (rule, is) in [("answer.schema", "rule = 'answer.schema'"), ("other", "ifnull(rule, '') NOT LIKE 'answer.%'")] {
        let sql = format!("SELECT count(*) FROM attempts WHERE class = 'invalid_output' AND given_up IS NULL AND {is}");
        assert_eq!(sample(&families, "llmr_invalid_answers_total", &[("rule", rule)]), count(&sql), "{rule}");
    }
    let fenced = count("SELECT count(*) FROM attempts WHERE extracted = 'fenced'");
    assert_eq!(sample(&families, "llmr_json_answers_total", &[("place", "fenced")]), fenced);
    let repairs = "FROM attempts WHERE kind = 'repair'";
    let helped = count(&format!("SELECT count(*) {repairs} AND judged AND class IS NULL AND given_up IS NULL"));
    assert_eq!(sample(&families, "llmr_repairs_helped_total", &[]), helped);
    let trials = "SELECT count(*) FROM attempts WHERE judged AND kind <> 'repair' AND given_up IS NULL";
    let valid = format!("{trials} AND class IS NULL");
    for (family, sql) in [("llmr_judged_answers_total", trials), ("llmr_valid_answers_total", valid.as_str())] {
        assert!(count(sql) > 0.0);
        assert_eq!(sample(&families, family, &[]), count(sql), "{family}");
    }
    let usd = sample(&families, "llmr_repair_cost_usd_total", &[]);
    assert!((usd - count(&format!("SELECT sum(cost_usd) {repairs}"))).abs() < 1e-6, "{usd}");
    let answered = "FROM attempts WHERE class IS NULL AND given_up IS NULL AND ttft_us IS NOT NULL";
    for bound in ["0.1", "0.5", "2", "300"] {
        let sql = format!("SELECT count(*) {answered} AND ttft_us <= {bound} * 1000000");
        assert_eq!(sample(&families, "llmr_time_to_first_token_seconds", &[("le", bound)]), count(&sql), "{bound}");
    }
    assert_eq!(
        sample(&families, "llmr_retries_denied_total", &[]),
        count("SELECT count(*) FROM retries WHERE granted = 0")
    );
    assert_eq!(sample(&families, "llmr_exhaustions_total", &[("ladder", "idle")]), 0.0);
}

#[test]
fn without_a_state_every_counter_is_there_and_nothing_fails() {
    let stage = Stage::with(CONFIG);
    for (format, is_open) in [("prometheus", false), ("openmetrics", true)] {
        let text = stage.run(&["stats", "--format", format]).exits(0).out;
        let families = read(&text, is_open);
        let counter = |name: &str| if is_open { name.to_owned() } else { format!("{name}_total") };
        let failures = &families[&counter("llmr_attempt_failures")].samples;
        assert_eq!(failures.len(), 3 * Class::ALL.len(), "{text}");
        assert!(failures.iter().all(|sample| sample.value == 0.0));
        let ended = &families[&counter("llmr_requests")].samples;
        assert_eq!(ended.len(), 2 * (Outcome::ALL.len() - 1), "{text}");
        assert_eq!(sample(&families, "llmr_eligible", &[]), 3.0);
        assert_eq!(sample(&families, "llmr_ladder_available_steps", &[("ladder", "main")]), 2.0);
        assert_eq!(sample(&families, "llmr_retry_budget_limit", &[("ladder", "idle")]), 40.0);
    }
    let page = stage.run(&["stats"]).exits(0).out;
    assert!(page.contains("there is no state file yet") && page.contains("no request has ended"), "{page}");
    let object = stage.json(&["stats", "--json"]);
    assert_eq!((&object["figures"]["success_rate"], &object["week_before"]), (&Value::Null, &Value::Null));
    stage.run(&["stats", "--by", "deployment"]).exits(0);
    let csv = stage.run(&["stats", "--format", "csv"]).exits(0).out;
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(!stage.state().exists(), "a look leaves no file behind");
}

#[test]
fn a_state_that_cannot_be_read_is_told_to_the_scraper_too() {
    let stage = Stage::with(CONFIG);
    std::fs::write(stage.path("other.txt"), "no state").expect("written");
    let target = stage.path("llmr.prom");
    let target = target.to_str().expect("a plain path");
    stage.run(&["--state", "other.txt", "stats", "--format", "prometheus", "-o", target]).exits(1);
    let families = read(&std::fs::read_to_string(target).expect("written"), false);
    assert_eq!(sample(&families, "llmr_state_readable", &[]), 0.0);
}

/// Debian's prometheus package brings it.
#[test]
fn promtool_finds_nothing_wrong() {
    if Command::new("promtool").arg("--version").output().is_err() {
        println!("skipped: there is no `promtool` (Debian has it in the package prometheus)");
        return;
    }
    let (stage, _) = stage();
    let bad = ["record", "lab1/model1", "--status", "429", "--body", "{\"error\": {\"message\": \"Rate limit\"}}"];
    stage.run(&bad).exits(0);
    let text = stage.run(&["stats", "--format", "prometheus"]).exits(0).out;
    let mut child = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("an end");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn a_hold_names_who_is_held_and_until_when() {
    let stage = Stage::with(CONFIG);
    let body = "{\"error\": {\"message\": \"Rate limit reached, try again in 20s\"}}";
    stage.run(&["record", "lab0/model0", "--status", "429", "--body", body]).exits(0);
    let families = read(&stage.run(&["stats", "--format", "prometheus"]).exits(0).out, false);
    let held = [("deployment", "lab0/model0"), ("kind", "cooldown"), ("class", "rate_limit")];
    assert_eq!(sample(&families, "llmr_hold", &held), 1.0);
    assert_eq!(sample(&families, "llmr_hold_until_timestamp_seconds", &held), 1_787_454_020.0);
    assert_eq!(sample(&families, "llmr_eligible", &held[..1]), 0.0);
    assert_eq!(sample(&families, "llmr_ladder_available_steps", &[("ladder", "main")]), 1.0);
    assert_eq!(
        sample(&families, "llmr_attempt_failures_total", &[("deployment", "lab0/model0"), ("class", "rate_limit")]),
        1.0
    );
    let page = stage.run(&["stats"]).exits(0).out;
    assert!(page.contains("lab0/model0") && page.contains("ends in 20s"), "{page}");
    assert!(!stage.run(&["stats", "lab1"]).exits(0).out.contains("ends in 20s"));
    assert!(!stage.run(&["stats", "--ladder", "idle"]).exits(0).out.contains("ends in 20s"));
}

#[test]
fn probes_and_reported_calls_exhaust_no_ladder_of_a_scraper() {
    let stage = Stage::with(CONFIG);
    let body = r#"{"error":{"message":"Insufficient balance"}}"#;
    assert_eq!(stage.run(&["record", "lab0/model0", "--status", "402", "--body", body]).code, Some(0));
    assert_eq!(stage.run(&["probe", "--now", "lab0/model0"]).code, Some(0));
    let scraped = stage.run(&["stats", "--format", "prometheus"]).out;
    let of = |what: &str| scraped.lines().filter(|line| line.starts_with(what)).collect::<Vec<_>>();
    for family in ["llmr_requests_total", "llmr_exhaustions_total", "llmr_request_duration_seconds_count"] {
        let lines = of(family);
        assert!(!lines.is_empty() && lines.iter().all(|line| line.ends_with(" 0")), "{lines:?}");
    }
    let failed = of("llmr_attempt_failures_total").into_iter().filter(|line| !line.ends_with(" 0")).count();
    assert_eq!(failed, 2, "the attempts are counted: {scraped}");
}
