//! `llmr stats` against what SQL counts by hand in a generated night, and what it shows of nothing.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::domain::{Class, Outcome};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::generated::night;
use crate::stage::{NOW, Stage};

/// A config that knows some of who was asked in the night, and one ladder that nobody used.
pub const CONFIG: &str = r#"
default_ladder = "main"
[limits]
retry_budget = 40
[ladders.main]
steps = ["lab0/model0", "lab1/model1"]
[ladders.idle]
steps = ["lab9/model9"]
[providers.lab0]
base_url = "http://127.0.0.1:9/v1"
wire = "openai"
[providers.lab1]
base_url = "http://127.0.0.1:9/v1"
wire = "openai"
[providers.lab9]
base_url = "http://127.0.0.1:9/v1"
wire = "openai"
"#;

pub fn stage() -> (Stage, Connection) {
    let stage = Stage::with(CONFIG);
    let conn = night(&stage.state(), NOW);
    (stage, conn)
}

pub fn number(conn: &Connection, sql: &str) -> f64 {
    conn.query_row(sql, [], |row| row.get::<_, Option<f64>>(0)).unwrap_or_else(|e| panic!("{sql}: {e}")).unwrap_or(0.0)
}

/// The rows of the night, under a condition of their own.
fn of(table: &str, condition: &str) -> String {
    format!("FROM {table} WHERE started_at >= 1787367600000 AND started_at < 1787454000001 AND {condition}")
}

/// The figures of some attempts and some requests, one after the other, counted by hand.
fn by_hand(conn: &Connection, attempts: &str, requests: &str) -> BTreeMap<String, f64> {
    // Copies, so that a hundred questions need not look for the same rows again.
    let copies = format!(
        "DROP TABLE IF EXISTS some; DROP TABLE IF EXISTS ended; CREATE TEMP TABLE some AS SELECT * {}; \
         CREATE TEMP TABLE ended AS SELECT * {}",
        of("attempts", attempts),
        of("requests", &format!("{requests} AND outcome <> 'unfinished'"))
    );
    conn.execute_batch(&copies).expect("copied");
    let mut all = BTreeMap::new();
    let mut put = |name: &str, sql: &str| {
        all.insert(name.to_owned(), number(conn, &format!("SELECT {sql}")));
    };
    put("requests", "count(*) FROM ended");
    put("answered", "sum(outcome = 'answered') FROM ended");
    put("exhausted", "sum(outcome IN ('exhausted', 'needs_person')) FROM ended");
    put("success_rate", "round(avg(outcome = 'answered'), 6) FROM ended WHERE outcome <> 'interrupted'");
    let exhausted = "round(avg(outcome IN ('exhausted', 'needs_person')), 6) FROM ended WHERE outcome <> 'interrupted'";
    put("exhaustion_rate", exhausted);
    put("depth/mean", "round(avg(step), 6) FROM ended WHERE outcome = 'answered'");
    for step in 0..4 {
        let sql = format!("count(*) FROM ended WHERE outcome = 'answered' AND step = {step}");
        put(&format!("depth/steps/{step}"), &sql);
    }
    for outcome in Outcome::ALL.iter().filter(|outcome| **outcome != Outcome::Unfinished) {
        put(&format!("outcomes/{outcome}"), &format!("sum(outcome = '{outcome}') FROM ended"));
    }
    put("attempts", "count(*) FROM some");
    put("attempts_failed", "sum(class IS NOT NULL AND given_up IS NULL) FROM some");
    put("attempts_given_up", "sum(given_up IS NOT NULL) FROM some");
    put("attempt_success_rate", "round(avg(class IS NULL), 6) FROM some WHERE given_up IS NULL");
    for (name, kind) in [("retries", "retry"), ("repairs", "repair"), ("hedges", "hedge"), ("probes", "probe")] {
        put(name, &format!("sum(kind = '{kind}') FROM some"));
    }
    put("retries_denied", "sum(retries_denied) FROM ended");
    for class in Class::ALL {
        put(&format!("classes/{class}"), &format!("sum(class = '{class}') FROM some WHERE given_up IS NULL"));
    }
    let shaped = "given_up IS NULL AND (class IS NULL OR class = 'invalid_output')";
    put("schema_failure_rate", &format!("round(avg(class IS NOT NULL), 6) FROM some WHERE {shaped}"));
    let answered = "FROM some WHERE class IS NULL AND given_up IS NULL";
    for (name, rows, column) in [
        ("ttft", format!("{answered} AND ttft_us IS NOT NULL"), "ttft_us"),
        ("attempt_latency", answered.to_owned(), "latency_us"),
        ("latency", "FROM ended WHERE outcome = 'answered'".to_owned(), "latency_us"),
    ] {
        put(&format!("{name}/samples"), &format!("count(*) {rows}"));
        for percent in [50, 95, 99] {
            let rank = format!("(SELECT (count(*) * {percent} + 99) / 100 - 1 {rows})");
            let sql = format!("SELECT round({column} / 1e6, 3) {rows} ORDER BY {column} LIMIT 1 OFFSET max(0, {rank})");
            put(&format!("{name}/p{percent}_s"), &format!("({sql})"));
        }
    }
    for (name, column) in [("input", "input_tokens"), ("output", "output_tokens"), ("cached", "cached_tokens")] {
        put(&format!("tokens/{name}"), &format!("sum({column}) FROM some"));
    }
    for (name, count) in [("per_request", "count(*)"), ("per_success", "sum(outcome = 'answered')")] {
        for direction in ["input", "output"] {
            let sql = format!("round(1.0 * sum({direction}_tokens) / {count}, 6) FROM ended");
            put(&format!("tokens/{name}/{direction}"), &sql);
        }
    }
    let whole = "(class IS NULL OR (class = 'invalid_output' AND ifnull(status, 200) = 200) OR \
                 (status = 200 AND class NOT IN ('network', 'timeout')))";
    put("transport_successes", &format!("sum({whole}) FROM some WHERE given_up IS NULL"));
    put("transport_success_rate", &format!("round(avg({whole}), 6) FROM some WHERE given_up IS NULL"));
    put("application_success_rate", "round(avg(class IS NULL), 6) FROM some WHERE given_up IS NULL");
    let trials = "FROM some WHERE judged AND kind <> 'repair' AND given_up IS NULL";
    put("judged", &format!("count(*) {trials}"));
    put("valid_at_once_rate", &format!("round(avg(class IS NULL), 6) {trials}"));
    put("repairs_helped", "sum(kind = 'repair' AND judged AND class IS NULL AND given_up IS NULL) FROM some");
    put("repair_cost_usd", "sum(cost_usd) FROM some WHERE kind = 'repair'");
    let invalid = "FROM some WHERE class = 'invalid_output' AND given_up IS NULL";
    for rule in ["answer.schema", "answer.truncated"] {
        put(&format!("invalid/{rule}"), &format!("sum(rule = '{rule}') {invalid}"));
    }
    for place in ["whole", "fenced", "surrounded"] {
        put(&format!("extracted/{place}"), &format!("sum(extracted = '{place}') FROM some"));
    }
    put("invalid/other", &format!("sum(rule IS NULL OR rule NOT LIKE 'answer.%') {invalid}"));
    put("cost_usd/total", "sum(cost_usd) FROM some");
    put("cost_usd/per_request", "sum(cost_usd) / count(cost_usd) FROM ended");
    put("cost_usd/per_success", "sum(cost_usd) / sum(outcome = 'answered') FROM ended");
    all
}

#[track_caller]
fn agree(figures: &Value, hand: &BTreeMap<String, f64>, of: &str) {
    for (name, wanted) in hand {
        let found = figures.pointer(&format!("/{name}")).and_then(Value::as_f64).unwrap_or(0.0);
        assert!(
            (found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0) + 2e-6,
            "{of}: {name} is {found}, by hand {wanted}"
        );
    }
}

#[test]
fn figures_of_a_night_agree_with_sql_counted_by_hand() {
    let (stage, conn) = stage();
    let stats = stage.json(&["stats", "--json"]);
    let all = by_hand(&conn, "TRUE", "TRUE");
    assert!(
        all["attempts"] > 99_990.0 && all["classes/unknown"] > 1_000.0 && all["outcomes/partial"] > 100.0,
        "{all:?}"
    );
    agree(&stats["figures"], &all, "all");
    assert_eq!(stats["week_before"]["depth"]["mean"], json!(0.0));
    assert_eq!(stats["depth_drift"], stats["figures"]["depth"]["mean"]);
    let granted =
        number(&conn, &format!("SELECT count(*) {}", of("retries", "granted = 1").replace("started_at", "at")));
    assert_eq!(stats["retry_budget"]["granted"].as_f64(), Some(granted));
    assert_eq!(stats["retry_budget"]["limits"][0]["per_minute"], json!(40));

    let ladders = stage.json(&["stats", "--json", "--by", "ladder"]);
    assert_eq!(ladders["groups"].as_array().map(Vec::len), Some(4));
    for group in ladders["groups"].as_array().expect("groups") {
        let ladder = group["ladder"].as_str().expect("a name");
        let attempts = format!("request_id IN (SELECT id FROM requests WHERE ladder = '{ladder}')");
        agree(&group["figures"], &by_hand(&conn, &attempts, &format!("ladder = '{ladder}'")), ladder);
    }
    let deployments = stage.json(&["stats", "--json", "--by", "deployment"]);
    let groups = deployments["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 15);
    for group in [&groups[0], &groups[7], &groups[14]] {
        let name = group["deployment"].as_str().expect("a name");
        let is = "provider || '/' || model || iif(credential = '', '', '@' || credential)";
        let condition = format!("{is} = '{name}'");
        agree(&group["figures"], &by_hand(&conn, &condition, &condition), name);
    }
    let failed: Vec<u64> = groups.iter().filter_map(|g| g["figures"]["attempts_failed"].as_u64()).collect();
    assert!(failed.is_sorted_by(|one, next| one >= next), "the worst first: {failed:?}");
    let classes = stage.json(&["stats", "--json", "--by", "class"]);
    for group in classes["groups"].as_array().expect("groups") {
        let class = group["class"].as_str().expect("a word");
        let condition = format!("class = '{class}' AND given_up IS NULL");
        let counted = number(&conn, &format!("SELECT count(*) {}", of("attempts", &condition)));
        assert_eq!(group["figures"]["attempts"].as_f64(), Some(counted), "{class}");
    }
}

#[test]
fn buckets_divide_a_night_and_narrowing_takes_parts_of_it() {
    let (stage, conn) = stage();
    let hours = stage.json(&["stats", "--json", "--by", "time", "--bucket", "1h", "--since", "2026-08-22T03:30:00Z"]);
    let hours = hours["groups"].as_array().expect("groups");
    assert_eq!(
        (hours.len(), &hours[0]["from"], &hours[1]["from"]),
        (25, &json!("2026-08-22T03:30:00Z"), &json!("2026-08-22T04:00:00Z"))
    );
    for (hour, from) in [(&hours[0], "2026-08-22T03:30:00Z"), (&hours[9], "2026-08-22T12:00:00Z")] {
        let until = hour["until"].as_str().expect("a time");
        let ms = |text: &str| text.parse::<jiff::Timestamp>().expect("a time").as_millisecond();
        let condition = format!("started_at >= {} AND started_at < {}", ms(from), ms(until));
        agree(&hour["figures"], &by_hand(&conn, &condition, &condition), from);
    }
    let csv = stage.run(&["stats", "--format", "csv", "--by", "ladder", "--bucket", "6h"]).exits(0).out;
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 1 + 4 * 5, "four ladders in five pieces: {csv}");
    assert!(lines[0].starts_with("ladder,from,until,requests,answered,success_rate,"), "{}", lines[0]);
    assert!(csv.contains("\r\n\"cheap, \"\"odd\"\"\",") && csv.contains("\r\n'=large,"), "{csv}");
    let commas = |line: &str| line.replace("cheap, ", "").matches(',').count();
    assert!(lines.iter().all(|line| commas(line) == commas(lines[0])), "{csv}");
    let sums = |column: usize, ladder: &str| -> f64 {
        let of = lines.iter().filter(|line| line.starts_with(ladder));
        of.filter_map(|line| line.split(',').nth(column)?.parse::<f64>().ok()).sum()
    };
    assert_eq!(sums(3, "main,"), by_hand(&conn, "TRUE", "ladder = 'main'")["requests"]);

    let limited = stage.json(&["stats", "--json", "--class", "rate_limit,auth", "lab1"]);
    let condition = "class IN ('rate_limit', 'auth') AND given_up IS NULL AND provider = 'lab1'";
    let counted = number(&conn, &format!("SELECT count(*) {}", of("attempts", condition)));
    assert_eq!((limited["figures"]["attempts"].as_f64(), &limited["figures"]["requests"]), (Some(counted), &json!(0)));
    assert_eq!(limited["retry_budget"]["granted"], Value::Null, "the budget is nobody's alone");
}

#[test]
fn a_file_is_replaced_in_one_step_and_nothing_else_stays() {
    let stage = Stage::with(CONFIG);
    std::fs::create_dir(stage.path("collector")).expect("made");
    let target = stage.path("collector/llmr.prom");
    let text = target.to_str().expect("a plain path");
    std::fs::write(&target, "old").expect("written");
    let old = std::fs::File::open(&target).expect("opened");
    stage.run(&["stats", "--format", "prometheus", "--output", text]).exits(0);
    // Who had the old file open still reads all of it: it was not written over.
    assert_eq!(std::io::read_to_string(old).expect("read"), "old");
    assert!(std::fs::read_to_string(&target).expect("read").contains("llmr_state_readable 1"));
    let names: Vec<_> = std::fs::read_dir(stage.path("collector")).expect("a directory").collect();
    assert_eq!(names.len(), 1, "{names:?}");
    stage.run(&["stats", "--format", "prometheus", "-o", "nowhere/llmr.prom"]).exits(1).says(&["cannot write nowhere"]);
    stage.run(&["stats", "-o", "/dev/null"]).exits(0);
}

#[test]
fn flags_that_make_no_sense_are_refused() {
    let stage = Stage::with(CONFIG);
    for (args, says) in [
        (&["--format", "prometheus", "--since", "1h"][..], "--since: a scraper gets all counters"),
        (&["--format", "openmetrics", "lab0"], "a selector: a scraper"),
        (&["--since", "1h", "--until", "2h"], "before it begins"),
        (&["--since", "soon"], "neither a time nor a duration"),
        (&["--bucket", "0s"], "no length of time"),
        (&["--bucket", "1s", "--json"], "more than 2000 parts"),
        (&["--bucket", "15m"], "a graph has room for 24 parts, not for 97"),
        (&["--json", "--format", "csv"], "cannot be used with"),
    ] {
        stage.run(&[&["stats"], args].concat()).exits(2).says(&[says]);
    }
    stage.run(&["stats", "--bucket", "1h"]).exits(0);
    stage.run(&["stats", "--ladder", "mian"]).exits(0).says(&["no ladder `mian`"]);
    assert_eq!(stage.run(&["stats", "--ladder", "idle"]).exits(0).err, "");
}

#[test]
fn graphs_are_plain_where_the_terminal_is() {
    let mut stage = Stage::with(CONFIG);
    stage.run(&["record", "lab0/model0", "--ok"]).exits(0);
    let has_blocks = |stage: &Stage, args: &[&str]| stage.run(args).exits(0).out.contains('█');
    assert!(has_blocks(&stage, &["stats"]) && !has_blocks(&stage, &["stats", "--ascii"]));
    stage.set("LANG", "C");
    assert!(!has_blocks(&stage, &["stats"]));
    stage.set("LC_ALL", "de_DE.UTF-8");
    assert!(has_blocks(&stage, &["stats"]));
}
