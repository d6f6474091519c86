//! Damaged state files: they are kept aside, a new one begins, and what is held stays held.
#![cfg(test)]

use llmr::rehearsal::Reply;
use serde_json::json;

use crate::stage::{Done, Stage, finish, openai, refused};
use crate::state_files::{answers_with_a_warning, contents, humble_once, mode, used};

/// Where a damaged file of a stage is kept.
const KEPT: &str = "state.db.corrupt-2026-08-23T03-00-00Z";

#[test]
fn a_state_that_is_no_database_any_more_is_kept_aside() {
    let good = openai(Reply::answer("yes"));
    let mut broken = b"SQLite format 3\0".to_vec();
    broken.extend((0..4080_u32).map(|n| (n * 7 % 251) as u8));
    let files = [b"x".to_vec(), b"dear diary\n".repeat(1000), vec![0; 8192], broken];
    let commands: [&[&str]; 6] =
        [&["chat", "?"], &["status"], &["log"], &["reset", "--all"], &["plan"], &["status", "--json"]];
    for (bytes, args) in files.iter().flat_map(|bytes| commands.map(|args| (bytes, args))) {
        let stage = Stage::of(&[("good", &good)]);
        stage.file("state.db", bytes);
        let kept = stage.path(KEPT);
        let done = stage.run(args).exits(0).says(&["warning: ", "state.db", kept.to_str().expect("text"), ".recover"]);
        assert_eq!(done.err.matches("warning: ").count(), 1, "{args:?}: {}", done.err);
        assert!(!done.err.contains("memory"), "{args:?}: {}", done.err);
        assert!(std::fs::read(kept).expect("kept") == *bytes, "{args:?}");
        let quiet = stage.run(&["chat", "?"]).exits(0).prints("yes\n");
        assert!(!quiet.err.contains("warning"), "{args:?}: {}", quiet.err);
    }
}

#[test]
fn a_file_that_was_cut_or_overwritten_makes_room() {
    let bad = openai(Reply::status(401, "no"));
    let good = openai(Reply::answer("yes"));
    let commands: [&[&str]; 4] = [&["chat", "?"], &["status"], &["log"], &["reset", "--all"]];
    for (damage, args) in ["cut", "overwritten"].into_iter().flat_map(|damage| commands.map(|args| (damage, args))) {
        let stage = Stage::of(&[("bad", &bad), ("good", &good)]);
        stage.run(&["chat", "?"]).exits(0);
        let bytes = damaged(&stage, |bytes| match damage {
            "cut" => bytes.truncate(bytes.len() / 2),
            _ => bytes[4096..].fill(0xa5),
        });
        stage.run(args).exits(0).says(&["warning: ", "damaged", KEPT]);
        assert!(std::fs::read(stage.path(KEPT)).expect("kept") == bytes, "{damage}: the file changed");
        let quiet = stage.run(&["chat", "?"]).exits(0).prints("yes\n");
        assert!(!quiet.err.contains("warning"), "{damage}: {}", quiet.err);
        assert!(stage.run(&["log"]).exits(0).out.contains("answered"), "{damage}: the new file is used");
    }
}

/// Damages the state file of a stage, which has no WAL then, and gives its bytes.
fn damaged(stage: &Stage, damage: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    stage.sql().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("written back");
    for rest in ["state.db-wal", "state.db-shm"] {
        let _ = std::fs::remove_file(stage.path(rest));
    }
    let mut bytes = std::fs::read(stage.state()).expect("bytes");
    damage(&mut bytes);
    stage.file("state.db", &bytes);
    bytes
}

/// Damages the first page of a table and of each of its indexes, and gives the bytes of the file.
pub fn without_table(stage: &Stage, table: &str) -> Vec<u8> {
    let roots: Vec<usize> = {
        let sql = stage.sql();
        let mut roots =
            sql.prepare("SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?1 AND rootpage > 0").expect("roots");
        let all = roots.query_map([table], |row| row.get::<_, i64>(0)).expect("roots");
        all.map(|root| usize::try_from(root.expect("a root")).expect("a page")).collect()
    };
    damaged(stage, |bytes| roots.iter().for_each(|root| bytes[(root - 1) * 1024..root * 1024].fill(0xa5)))
}

/// The log is lost in the middle of a request; what is held is not asked all the same.
#[test]
fn holds_outlive_the_damage_of_the_log() {
    let good = openai(Reply::answer("yes"));
    let (stage, bad) = refused(Some(&good));
    let bytes = without_table(&stage, "attempts");
    stage.run(&["chat", "?"]).exits(0).prints("yes\n").says(&["warning: ", "the one hold that could be read", KEPT]);
    assert_eq!(bad.hits(), 1, "a dead key is not asked again, and its fingerprint still means the same key");
    assert!(std::fs::read(stage.path(KEPT)).expect("kept") == bytes);
    assert_eq!(stage.hold()["class"], json!("auth"));
    assert!(stage.run(&["log"]).exits(0).out.contains("answered"), "the request went on in the new file");
    stage.run(&["reset", "--all"]).exits(0);
    stage.run(&["chat", "?"]).exits(0);
    assert_eq!(bad.hits(), 2);
}

#[test]
fn damage_where_nothing_can_be_moved() {
    let bad = openai(Reply::status(401, "no"));
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("bad", &bad), ("good", &good)]);
    stage.run(&["chat", "?"]).exits(0);
    let bytes = damaged(&stage, |bytes| bytes[4096..].fill(0xa5));
    mode(&stage.state(), 0o666);
    answers_with_a_warning(humble_once(&stage, &["chat", "?"]), "state file");
    humble_once(&stage, &["status"]).exits(1).prints("").says(&["error: ", "hint: "]);
    assert!(std::fs::read(stage.state()).expect("bytes") == bytes);
    assert!(!stage.path(KEPT).exists());
    mode(&stage.path(""), 0o755);
}

#[test]
fn thirty_two_processes_meet_the_damage_at_once() {
    let good = openai(Reply::answer("yes"));
    for damage in ["text", "overwritten"] {
        let stage = used(&good);
        damaged(&stage, |bytes| match damage {
            "text" => *bytes = b"dear diary\n".repeat(1000),
            _ => bytes[4096..].fill(0xa5),
        });
        let start = |n: u32| stage.command(&["chat", "--request-id", &format!("r{n}"), "?"]).spawn().expect("started");
        let children: Vec<_> = (0..32).map(start).collect();
        let ends: Vec<Done> = children.into_iter().map(|child| finish(child).exits(0).prints("yes\n")).collect();
        let warned = ends.iter().filter(|done| done.err.contains("warning")).count();
        assert_eq!(warned, 1, "one has moved it: {:?}", ends.iter().map(|done| &done.err).collect::<Vec<_>>());
        let written: u32 = stage
            .sql()
            .query_row("SELECT count(*) FROM requests WHERE outcome = 'answered'", [], |row| row.get(0))
            .expect("a count");
        assert_eq!(written, 32, "nothing that was written to the new file is lost");
        assert!(!contents(&stage.path("")).keys().any(|name| name.contains("Z-2") || name.ends_with(".new")));
    }
}
