//! Kills at any moment: the file stays whole, nothing that was told as done is lost, and nothing is held for no reason.
//!
//! A bounded number runs with all other tests; a thousand with `cargo test -- --ignored thousand`.
#![cfg(test)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout};
use std::time::Duration;

use jiff::Timestamp;
use llmr::clock::{Clock, Rng};
use llmr::rehearsal::Reply;
use serde_json::json;

use crate::stage::{NOW, Stage, config, openai, until};
use crate::store_processes::{FOREVER, ids_in, noted, start};

/// How many run at the same time.
const TOGETHER: u32 = 4;

/// A whole number below this.
fn below(rng: &mut Rng, limit: u64) -> u64 {
    rng.next_u64() % limit.max(1)
}

fn is_whole(path: &Path) {
    let conn = rusqlite::Connection::open(path).expect("a connection");
    let verdict: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a verdict");
    assert_eq!(verdict, "ok");
}

/// Processes that write as fast as they can, four on a file, each killed after so many commits and a moment.
fn writers_are_killed(kills: u32) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut rng = Rng::new(None);
    let mut told = 0;
    for round in 0..kills / TOGETHER {
        let path = directory.path().join(format!("{round}.db"));
        let mut expected = Vec::new();
        let children: Vec<_> = (0..TOGETHER).map(|n| start(&n.to_string(), FOREVER, &path)).collect();
        for mut child in children {
            // With none it may be killed while it makes the file.
            let patience = usize::try_from(below(&mut rng, 40)).expect("a small number");
            let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
            let said = |line: std::io::Result<String>| noted(&line.expect("a line"));
            expected.extend(lines.by_ref().take(patience).filter_map(said));
            std::thread::park_timeout(Duration::from_micros(below(&mut rng, 500)));
            child.kill().expect("killed");
            expected.extend(lines.filter_map(said));
            let output = child.wait_with_output().expect("an end");
            assert_eq!(output.status.code(), None, "it failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        let ids = ids_in(&path);
        let lost: Vec<_> = expected.iter().filter(|id| ids.binary_search(id).is_err()).collect();
        assert!(lost.is_empty(), "lost {lost:?}");
        // Besides, at most the one that each had written but not yet told.
        let most = expected.len() + usize::try_from(TOGETHER).expect("a small number");
        assert!(ids.len() <= most, "{} told, {} written", expected.len(), ids.len());
        is_whole(&path);
        told += expected.len();
    }
    println!("{kills} writers killed; all of {told} commits that were told are there");
}

/// A provider that answers, is overloaded, or limits the rate, by turns that nobody can foresee.
fn moods(rng: &mut Rng, count: u32) -> Vec<Reply> {
    let limited = json!({"error": {"message": "Rate limit reached: too many requests per minute. Try again in 30s."}});
    let mut mood = || match below(rng, 4) {
        0 => Reply::status(429, limited.clone()),
        1 => Reply::status(503, json!({"error": {"message": "The server is overloaded"}})),
        2 => Reply::status(500, json!({"error": {"message": "Internal server error"}})),
        _ => Reply::answer("yes"),
    };
    (0..count).map(|_| mood()).collect()
}

struct Asked {
    id: String,
    child: Child,
    out: ChildStdout,
    after: Duration,
}

/// Real requests, four at a time on one file, each killed at some moment of its life.
fn requests_are_killed(kills: u32) {
    let mut rng = Rng::new(None);
    let (bad, worse) = (openai(moods(&mut rng, 3 * kills)), openai(moods(&mut rng, 3 * kills)));
    let stage = Stage::with(&config(&[("bad", &bad), ("worse", &worse)]));
    let from: Timestamp = NOW.parse().expect("a time");
    let mut number = 0;
    // Each at another moment, so that holds end and begin.
    let mut ask = |after: Duration| {
        number += 1;
        let id = format!("r{number}");
        let mut command = stage.command(&["chat", "--request-id", &id, "?"]);
        command.env("LLMR_NOW", (from + Duration::from_secs(7 * number)).to_string());
        let mut child = command.spawn().expect("started");
        let out = child.stdout.take().expect("a pipe");
        Asked { id, child, out, after }
    };
    let watch = Clock::new(None).stopwatch();
    ends(ask(Duration::MAX), &stage);
    let life = u64::try_from(watch.elapsed().as_micros()).expect("not so long");
    let (mut killed, mut done) = (0, 0);
    while killed < kills {
        let mut asked: Vec<_> = (0..TOGETHER).map(|_| ask(Duration::from_micros(below(&mut rng, life)))).collect();
        asked.sort_by_key(|asked| asked.after);
        let watch = Clock::new(None).stopwatch();
        for mut one in asked {
            while watch.elapsed() < one.after && one.child.try_wait().expect("a state").is_none() {
                std::thread::park_timeout(one.after.saturating_sub(watch.elapsed()).min(Duration::from_millis(1)));
            }
            // It may have ended by itself.
            one.child.kill().expect("killed");
            match ends(one, &stage) {
                true => done += 1,
                false => killed += 1,
            }
        }
        is_whole(&stage.state());
        nothing_is_invented(&stage);
    }
    println!("{killed} requests killed, {done} ended before; all of those are in the log");
}

/// Waits for its end; whether it came to it by itself. What it told by its answer or its code is in the log then.
fn ends(mut asked: Asked, stage: &Stage) -> bool {
    let status = asked.child.wait().expect("an end");
    let mut out = String::new();
    asked.out.read_to_string(&mut out).expect("text");
    if status.code().is_none() && out.is_empty() {
        return false;
    }
    let outcome = stage.sql().query_row(
        "SELECT outcome FROM requests WHERE id = ?1 AND outcome <> 'unfinished'",
        [&asked.id],
        |row| row.get::<_, String>(0),
    );
    assert!(outcome.is_ok(), "{} was told ({status}, {out:?}) and is lost: {outcome:?}", asked.id);
    status.code().is_some()
}

/// Every hold, and every streak that may become one, comes from a failure that is in the log.
fn nothing_is_invented(stage: &Stage) {
    let sql = "SELECT count(*) FROM holds AS h WHERE NOT EXISTS (SELECT 1 FROM attempts AS a \
               WHERE a.request_id = h.request_id AND a.class = h.class)";
    let invented: i64 = stage.sql().query_row(sql, [], |row| row.get(0)).expect("a count");
    assert_eq!(invented, 0, "held without a failure in the log");
    let sql = "SELECT count(*) FROM circuits AS c WHERE consecutive > (SELECT count(*) FROM attempts AS a \
               WHERE a.provider = c.provider AND a.class IS NOT NULL)";
    let invented: i64 = stage.sql().query_row(sql, [], |row| row.get(0)).expect("a count");
    assert_eq!(invented, 0, "more failures in a row than there were");
}

/// Requests that meet a damaged file, each killed while it may be moving it: the damaged bytes are there afterwards, once,
/// and a state that can be used.
fn movers_are_killed(kills: u32) {
    let mut rng = Rng::new(None);
    let good = openai(Reply::answer("yes"));
    let damaged = b"dear diary\n".repeat(1000);
    let mut moved = 0;
    for _ in 0..kills / TOGETHER {
        let stage = Stage::with(&config(&[("good", &good)]));
        stage.file("state.db", &damaged);
        let mut children: Vec<_> =
            (0..TOGETHER).map(|_| stage.command(&["status"]).spawn().expect("started")).collect();
        for child in &mut children {
            std::thread::park_timeout(Duration::from_micros(below(&mut rng, 20_000)));
            child.kill().expect("killed");
        }
        for mut child in children {
            child.wait().expect("an end");
        }
        let copies = |stage: &Stage| {
            let entries =
                std::fs::read_dir(stage.path("")).expect("a directory").map(|entry| entry.expect("an entry").path());
            entries.filter(|path| std::fs::read(path).is_ok_and(|bytes| bytes == damaged)).count()
        };
        assert_eq!(copies(&stage), 1);
        moved += u32::from(std::fs::read(stage.state()).is_ok_and(|bytes| bytes != damaged));
        stage.run(&["chat", "?"]).exits(0).prints("yes\n");
        assert_eq!(copies(&stage), 1, "it was kept");
        is_whole(&stage.state());
    }
    println!("{kills} movers killed; in {moved} of {} files the move was done by then", kills / TOGETHER);
}

#[test]
fn what_was_told_survives_kills_at_any_moment() {
    writers_are_killed(80);
}

#[test]
fn requests_that_are_killed_leave_the_truth() {
    requests_are_killed(40);
}

#[test]
fn a_damaged_file_survives_kills_of_who_moves_it() {
    movers_are_killed(40);
}

#[test]
#[ignore = "takes a minute; `cargo test -- --ignored thousand`"]
fn a_thousand_kills() {
    writers_are_killed(500);
    requests_are_killed(300);
    movers_are_killed(200);
}

/// Whether nothing was said yet, or half of an answer: who waited and was killed has left a trace. What is quick writes
/// nothing while it is under way.
#[test]
fn a_request_that_is_killed_while_it_waits_stands_in_the_log() {
    for reply in [Reply::Hang, Reply::Stall { chunks: vec!["half ".to_owned()] }] {
        let slow = openai(vec![reply]);
        let stage = Stage::of(&[("slow", &slow)]);
        let mut child = stage.command(&["chat", "--stream", "--request-id", "r1", "?"]).spawn().expect("started");
        let mut unnamed = stage.command(&["chat", "--stream", "?"]).spawn().expect("started");
        let logged = || stage.run(&["log", "--json"]).exits(0).out;
        until("both stand in the log", || logged().lines().count() == 2);
        for child in [&mut child, &mut unnamed] {
            child.kill().expect("killed");
            child.wait().expect("ended");
        }
        for line in logged().lines() {
            let request: serde_json::Value = serde_json::from_str(line).expect("JSON");
            assert_eq!((&request["outcome"], &request["ladder"]), (&json!("unfinished"), &json!("main")), "{request}");
        }
    }
}
