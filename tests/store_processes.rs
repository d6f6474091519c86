//! Many processes on one state file: each is this very test program, started again. `kills` kills some.
#![cfg(test)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use llmr::domain::{AttemptKind, AttemptRecord, Class, Execution, Outcome, Provenance, RequestId, Scope, Usage};
use llmr::policy::{Change, Circuit, CircuitState, Family, HoldRecord, Versioned};
use llmr::store::{Batch, LogFilter, OpenOptions, SqliteStore, Store, update};

/// Tells a child what to do: its name, how many failures to note and the file, one a line.
const TASK: &str = "LLMR_TEST_STORE_TASK";

/// No end of failures.
pub const FOREVER: u32 = u32::MAX;

/// Starts a child with its name, how many failures it notes, and the file.
pub fn start(name: &str, failures: u32, path: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "store_processes::a_child_notes_failures", "--nocapture", "--test-threads=1"])
        .env(TASK, format!("{name}\n{failures}\n{}", path.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child")
}

/// Does nothing unless started as a child.
#[test]
fn a_child_notes_failures() {
    #[expect(clippy::disallowed_methods, reason = "this is how the parent talks to a child of the same program")]
    let Ok(task) = std::env::var(TASK) else { return };
    let [name, failures, path] = task.splitn(3, '\n').collect::<Vec<_>>()[..] else { panic!("no task: {task}") };
    let store = SqliteStore::open(Path::new(path), OpenOptions::default()).expect("a store");
    for number in 0..failures.parse::<u32>().expect("a number") {
        let id = format!("{name}-{number}");
        update(&store, |holds| (failure(holds, &id), ())).expect("updated");
        println!("noted {id}");
    }
}

/// One failure: the attempt, and one more in the streak of a circuit.
fn failure(holds: &[Versioned], id: &str) -> Batch {
    let (expected, streak) = streak(holds);
    let now = Timestamp::from_second(1_787_000_000).expect("a time");
    let circuit = Circuit {
        scope: Scope::provider("groq".into()),
        family: Family::Transient,
        state: CircuitState::Closed,
        class: Class::Overloaded,
        consecutive: streak + 1,
        recent: vec![now],
        opened_at: None,
        retry_at: None,
        opens: 0,
        lease: None,
        provenance: Provenance::Guess,
        fingerprint: None,
        last_failure: now,
        evidence: "503".to_owned(),
        request_id: Some(id.into()),
    };
    let attempt = AttemptRecord {
        deployment: "groq/llama@team".parse().expect("a deployment"),
        account: "own".into(),
        step: 0,
        kind: AttemptKind::First,
        class: Some(Class::Overloaded),
        scope: None,
        dimension: None,
        status: Some(503),
        rule: None,
        evidence: Some("x".repeat(300)),
        started_at: now,
        ttft: None,
        latency: Duration::from_millis(5),
        held_until: None,
        usage: Usage::default(),
        cost_usd: None,
        execution: Execution::NotRun,
        given_up: None,
        extracted: None,
        judged: false,
    };
    let record = HoldRecord::Circuit(circuit);
    Batch {
        changes: vec![Change { key: record.key(), expected, record: Some(record) }],
        attempts: vec![(RequestId::new(id), 0, attempt)],
        ..Batch::default()
    }
}

fn streak(holds: &[Versioned]) -> (Option<i64>, u32) {
    match holds {
        [] => (None, 0),
        [Versioned { version, record: HoldRecord::Circuit(circuit), .. }] => (Some(*version), circuit.consecutive),
        other => panic!("not one circuit: {other:?}"),
    }
}

/// What the children said they had noted.
pub fn noted(line: &str) -> Option<String> {
    line.split_once("noted ").map(|(_, id)| id.to_owned())
}

/// The ids in the log, sorted; the streak must be as long, as each commit has written both.
pub fn ids_in(path: &Path) -> Vec<String> {
    let store = SqliteStore::open(path, OpenOptions::default()).expect("a store");
    let requests = store.requests(&LogFilter::default()).expect("a log");
    assert!(requests.iter().all(|request| request.outcome == Outcome::Unfinished && request.attempts.len() == 1));
    let mut ids: Vec<_> = requests.iter().map(|request| request.id.to_string()).collect();
    ids.sort();
    assert_eq!(usize::try_from(streak(&store.holds().expect("holds")).1), Ok(ids.len()), "half a commit");
    ids
}

#[test]
fn thirty_two_processes_at_once_lose_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    // The file is not there yet: they also race to make it.
    let path = directory.path().join("new").join("state.db");
    let children: Vec<_> = (0..32).map(|n| start(&n.to_string(), 25, &path)).collect();
    for child in children {
        let output = child.wait_with_output().expect("an end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut expected: Vec<_> = (0..32).flat_map(|n| (0..25).map(move |number| format!("{n}-{number}"))).collect();
    expected.sort();
    assert_eq!(ids_in(&path), expected);
}
