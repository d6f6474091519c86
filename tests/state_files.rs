//! State files that cannot be used: a request is answered all the same, with a warning; what is about the state fails;
//! and no byte of the file changes.
#![cfg(test)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use llmr::rehearsal::{Provider, Reply};
use serde_json::json;

use crate::stage::{Done, Stage, finish, openai, refused, until};

/// A name and the bytes of each file of a directory.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a directory").map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.is_file());
    files.map(|path| (path.display().to_string(), std::fs::read(&path).expect("bytes"))).collect()
}

/// The same for the state file and its WAL; the index of the WAL is rebuilt from it and says nothing of its own.
fn state_of(stage: &Stage) -> BTreeMap<String, Vec<u8>> {
    let mut files = contents(&stage.path(""));
    files.retain(|name, _| ["state.db", "-wal", "notes.txt"].iter().any(|end| name.ends_with(end)));
    files
}

/// A stage with a state file that has seen one request.
pub fn used(good: &Provider) -> Stage {
    let stage = Stage::of(&[("good", good)]);
    stage.run(&["chat", "?"]).exits(0);
    stage
}

/// The request is answered, and somebody is told why nothing of it is remembered.
pub fn answers_with_a_warning(done: Done, why: &str) {
    done.exits(0).prints("yes\n").says(&["warning: ", why, "memory"]);
}

fn is_left_alone(stage: &Stage, why: &str) {
    let before = state_of(stage);
    answers_with_a_warning(stage.run(&["chat", "?"]), why);
    for args in [&["status"][..], &["status", "--json"], &["log"], &["reset", "--all"]] {
        stage.run(args).exits(1).prints("").says(&["error: ", why, "hint: "]);
    }
    assert!(state_of(stage) == before, "{why}: the files changed");
}

#[test]
fn a_file_of_a_newer_program() {
    let good = openai(Reply::answer("yes"));
    for wal in [true, false] {
        let stage = used(&good);
        let sql = stage.sql();
        sql.pragma_update(None, "user_version", 99).expect("written");
        if !wal {
            sql.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("written back");
        }
        // Without this, closing would write the WAL back.
        sql.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, wal).expect("set");
        drop(sql);
        is_left_alone(&stage, "version 99");
    }
}

#[test]
fn files_that_are_no_state_of_ours() {
    let good = openai(Reply::answer("yes"));
    let mut stage = Stage::of(&[("good", &good)]);
    let notes = stage.file("notes.txt", b"dear diary\n".repeat(1000));
    stage.set("LLMR_STATE", notes);
    let before = contents(&stage.path(""));
    is_left_alone(&stage, "no SQLite database");
    assert_eq!(contents(&stage.path("")).keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());

    let stage = Stage::of(&[("good", &good)]);
    stage.sql().execute_batch("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)").expect("a database");
    is_left_alone(&stage, "another program");
}

#[test]
fn a_row_that_no_program_of_ours_wrote() {
    let bad = openai(Reply::status(401, "no"));
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("bad", &bad), ("good", &good)]);
    stage.run(&["chat", "?"]).exits(0);
    stage.sql().execute("UPDATE circuits SET state = 'ajar'", []).expect("written");
    answers_with_a_warning(stage.run(&["chat", "?"]), "ajar");
    stage.run(&["status"]).exits(1).says(&["error: ", "ajar", "hint: "]);
}

#[test]
fn a_path_that_is_no_file() {
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("good", &good)]);
    std::fs::create_dir(stage.state()).expect("a directory");
    is_left_alone(&stage, "no regular file");
    let mut stage = Stage::of(&[("good", &good)]);
    let below_a_file = format!("{}/state.db", stage.file("plain", "text"));
    stage.set("LLMR_STATE", below_a_file);
    answers_with_a_warning(stage.run(&["chat", "?"]), "plain/state.db");
    stage.run(&["status"]).exits(1).says(&["error: ", "plain/state.db", "hint: "]);
    stage.set("LLMR_STATE", "/proc/nowhere/state.db");
    answers_with_a_warning(stage.run(&["chat", "?"]), "cannot create");
}

#[test]
fn no_place_for_a_state_file_at_all() {
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("good", &good)]);
    let child =
        |args: &[&str]| stage.command(args).env_remove("HOME").env_remove("LLMR_STATE").spawn().expect("started");
    answers_with_a_warning(finish(child(&["chat", "?"])), "no place");
    finish(child(&["status"])).exits(1).says(&["error: no place"]);
}

/// As a user that file modes mean something to: root may do anything, so it gives up its rights for the child.
fn humble(stage: &Stage, args: &[&str]) -> Done {
    let mut command = stage.command(args);
    let root = Command::new("id").arg("-u").output().expect("id").stdout.trim_ascii() == b"0";
    if root {
        let program = stage.path("llmr");
        std::fs::copy(env!("CARGO_BIN_EXE_llmr"), &program).expect("a copy");
        let mut copied = Command::new(program);
        copied.args(args).env_clear().current_dir(stage.path(""));
        copied.envs(command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))));
        copied.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command = copied;
        command.uid(65534).gid(65534);
    }
    finish(start(&mut command))
}

/// Starts a program that was just copied. Another thread that starts a child at this moment lends it the handle of the
/// copy until it runs its own program, and a file that somebody may write cannot be run.
fn start(command: &mut Command) -> Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            started => return started.expect("started"),
        }
    }
}

/// Sets the mode of a file.
pub fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

#[test]
fn files_that_may_not_be_read_or_written() {
    let good = openai(Reply::answer("yes"));
    for (file_mode, why) in [(0o000, "cannot read"), (0o444, "cannot write")] {
        let stage = used(&good);
        for name in ["state.db", "state.db-wal", "state.db-shm"] {
            mode(&stage.path(name), file_mode);
        }
        mode(&stage.path(""), 0o555);
        let before = (file_mode != 0).then(|| state_of(&stage));
        answers_with_a_warning(humble_once(&stage, &["chat", "?"]), why);
        humble_once(&stage, &["reset", "--all"]).exits(1).says(&["error: ", why, "hint: "]);
        if let Some(before) = before {
            assert!(state_of(&stage) == before, "{why}: the files changed");
        }
        mode(&stage.path(""), 0o755);
    }
}

#[test]
fn what_is_held_in_a_file_that_can_only_be_read_stays_held() {
    let (stage, bad) = refused(None);
    for name in ["state.db", "state.db-wal", "state.db-shm"] {
        mode(&stage.path(name), 0o444);
    }
    humble_once(&stage, &["chat", "?"]).exits(5).says(&["warning: ", "cannot write", "auth (circuit)"]);
    assert_eq!(bad.hits(), 1, "nothing is asked under a hold that can be read");
    mode(&stage.path(""), 0o755);
}

#[test]
fn what_is_held_stays_held_when_the_file_fails_half_way() {
    let answers = Reply::answer("yes");
    let limit = Reply::status(429, json!({"error": {"message": "Rate limit reached: too many requests per minute"}}));
    let (slow, good) = (openai(limit), openai(vec![answers, Reply::status(503, "overloaded"), Reply::answer("no")]));
    let stage = Stage::of(&[("slow", &slow), ("good", &good)]);
    stage.run(&["chat", "?"]).exits(0);
    // The file can be read, and from now on it takes no attempt, as when the disk is full.
    let sql = stage.sql();
    sql.execute_batch("CREATE TRIGGER full BEFORE INSERT ON attempts BEGIN SELECT RAISE(ABORT, 'full'); END")
        .expect("set");
    stage.run(&["chat", "?"]).exits(4).says(&["warning: ", "rate_limit (cooldown)"]);
    assert_eq!((slow.hits(), good.hits()), (1, 2));
}

/// Runs the program as [`humble`], in a directory that takes no new files.
pub fn humble_once(stage: &Stage, args: &[&str]) -> Done {
    mode(&stage.path(""), 0o755);
    let done = humble(stage, args);
    mode(&stage.path(""), 0o555);
    done
}

#[test]
fn a_file_that_another_program_keeps_locked() {
    let good = openai(Reply::answer("yes"));
    let stage = used(&good);
    // Before it is locked: closing a file drops all locks that this process has on it.
    let before = std::fs::read(stage.state()).expect("bytes");
    let sql = stage.sql();
    sql.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").expect("locked");
    // At once, for each waits some seconds.
    let start = |args: &[&str]| stage.command(args).spawn().expect("started");
    let (chat, reset) = (start(&["chat", "?"]), start(&["reset", "--all"]));
    answers_with_a_warning(finish(chat), "locked");
    finish(reset).exits(1).prints("").says(&["error: ", "locked", "hint: "]);
    assert!(std::fs::read(stage.state()).expect("bytes") == before, "the file changed");
    drop(sql);
}

#[test]
fn who_finds_it_locked_waits_until_it_is_free() {
    let good = openai(Reply::answer("yes"));
    let stage = used(&good);
    let sql = stage.sql();
    sql.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let chat = stage.command(&["chat", "?"]).spawn().expect("started");
    // It has its answer now, and cannot write it down as long as the other program likes.
    until("it was asked", || good.hits() == 2);
    sql.execute_batch("ROLLBACK").expect("unlocked");
    let done = finish(chat).exits(0).prints("yes\n");
    assert!(!done.err.contains("warning"), "{}", done.err);
    assert_eq!(stage.run(&["log", "--outcome", "answered"]).exits(0).out.lines().count(), 2);
}

/// The system takes no more bytes, as on a full disk: no file may grow beyond 32 kB, or 64 where a block is larger. The
/// WAL has more than that, and its index less.
fn without_space(stage: &Stage, args: &[&str]) -> Done {
    let command = stage.command(args);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_llmr")]).args(args);
    shell
        .env_clear()
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(stage.path(""));
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(shell.spawn().expect("started"))
}

#[test]
fn a_full_disk_costs_the_memory_of_one_request() {
    let good = openai(Reply::answer("yes"));
    let (stage, bad) = refused(Some(&good));
    let wal = || std::fs::metadata(stage.path("state.db-wal")).expect("a WAL").len();
    for _ in 0..20 {
        if wal() <= 65_536 {
            stage.run(&["chat", "?"]).exits(0);
        }
    }
    assert!(wal() > 65_536, "it has grown beyond the limit, and is not written back yet");
    answers_with_a_warning(without_space(&stage, &["chat", "?"]), "state file");
    assert_eq!(bad.hits(), 1, "what is held stays held");
    without_space(&stage, &["reset", "--all"]).exits(1).says(&["error: ", "hint: "]);
    stage.run(&["status"]).exits(0);
    let done = stage.run(&["chat", "?"]).exits(0).prints("yes\n");
    assert!(!done.err.contains("warning"), "{}", done.err);
    let whole: String = stage.sql().query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a verdict");
    assert_eq!((whole.as_str(), bad.hits()), ("ok", 1));
    // The file cannot even be begun.
    let fresh = Stage::of(&[("good", &good)]);
    answers_with_a_warning(without_space(&fresh, &["chat", "?"]), "state file");
    fresh.run(&["chat", "?"]).exits(0).prints("yes\n");
}

#[test]
fn a_newer_program_that_comes_while_a_request_is_under_way() {
    let slow = openai(Reply::SlowDrip { text: "back again at last".into(), every_ms: 60 });
    let stage = Stage::of(&[("slow", &slow)]);
    let chat = stage.command(&["chat", "--stream", "?"]).spawn().expect("started");
    until("it is under way", || slow.hits() == 1);
    stage.sql().pragma_update(None, "user_version", 99).expect("written");
    finish(chat).exits(0).says(&["warning: ", "version 99", "memory"]);
    let attempts: u32 = stage.sql().query_row("SELECT count(*) FROM attempts", [], |row| row.get(0)).expect("a count");
    assert_eq!(attempts, 0, "nothing is written into a newer file");
}

#[test]
fn an_older_file_is_brought_up_to_date_while_others_use_it() {
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("good", &good)]);
    let sql = stage.sql();
    sql.execute_batch(include_str!("../src/store/sqlite/schema_1.sql")).expect("made as then");
    sql.pragma_update(None, "application_id", 0x6c6c_6d72).expect("stamped");
    sql.pragma_update(None, "user_version", 1).expect("stamped");
    drop(sql);
    let commands: [&[&str]; 4] = [&["chat", "?"], &["status"], &["log"], &["reset", "--all"]];
    let start = |n: usize| stage.command(commands[n % 4]).spawn().expect("started");
    let children: Vec<_> = (0..16).map(start).collect();
    for child in children {
        let done = finish(child).exits(0);
        assert!(!done.err.contains("warning"), "{}", done.err);
    }
    let count: u32 = stage.sql().query_row("SELECT count(*) FROM requests", [], |row| row.get(0)).expect("a count");
    assert_eq!(count, 4, "all that came");
}

#[test]
fn on_memory_a_request_still_goes_down_the_whole_ladder() {
    let bad = openai(Reply::status(401, "no"));
    let good = openai(Reply::answer("yes"));
    let mut stage = Stage::of(&[("bad", &bad), ("good", &good)]);
    let notes = stage.file("notes", b"dear diary\n".repeat(100));
    stage.set("LLMR_STATE", notes);
    for hits in 1..=3 {
        answers_with_a_warning(stage.run(&["chat", "?"]), "no SQLite database");
        assert_eq!(bad.hits(), hits, "nothing is remembered");
    }
}
