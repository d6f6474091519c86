//! Fills a state file with a long past, to see what it costs to have one: a request with one attempt a line of the log,
//! one in five of them failed, over 200 deployments, the last one just before the given end.
//!
//! `cargo run --release --example fill -- FILE ATTEMPTS [END]`; then time `llmr --state FILE status` and others.
//!
//! It writes past the library, in SQL: each commit is a transaction of its own there, and ten million of them take long.

#![expect(clippy::expect_used, reason = "a tool for who works on this program may just end")]

use std::path::PathBuf;

use llmr::store::{OpenOptions, SqliteStore};
use rusqlite::Connection;

/// The past goes back this far, in milliseconds: what is kept by age stays.
const SPAN: i64 = 29 * 24 * 3_600_000;

/// Row `n` of `N` at a time that grows with it; ids begin with the time, as real ones do.
const ATTEMPTS: &str = "WITH RECURSIVE row (n) AS (SELECT ?4 UNION ALL SELECT n + 1 FROM row WHERE n < ?5 - 1), \
     timed (n, at) AS (SELECT n, ?1 - ?2 + ?2 * n / ?3 FROM row) \
     INSERT INTO attempts (request_id, position, provider, model, credential, account, step, kind, class, scope, \
     dimension, status, rule, evidence, started_at, latency_us, input_tokens, output_tokens) \
     SELECT printf('req_%011x%06x', at, n % 16777216), 0, printf('lab%d', n % 10), printf('model%d', n / 10 % 20), 'team', \
     'own', n % 3, iif(n % 20 = 7, 'retry', 'first'), \
     iif(n % 5 > 0, NULL, CASE n / 5 % 4 WHEN 0 THEN 'rate_limit' WHEN 1 THEN 'overloaded' WHEN 2 THEN 'timeout' \
     ELSE 'invalid_output' END), \
     iif(n % 5 > 0, NULL, 'model'), NULL, iif(n % 5 > 0, 200, 429), iif(n % 5 > 0, NULL, 'words.rate'), \
     iif(n % 5 > 0, NULL, 'Rate limit reached: Limit 12000, Used 11690, Requested 1264.'), at, 180000 + n % 99999, 900, 120 \
     FROM timed";

const REQUESTS: &str = "INSERT INTO requests (id, ladder, started_at, latency_us, outcome, provider, model, credential, \
     step, input_tokens, output_tokens, error) SELECT request_id, 'main', started_at, latency_us + 1000, \
     iif(class IS NULL, 'answered', 'exhausted'), provider, model, credential, step, input_tokens, output_tokens, \
     evidence FROM attempts WHERE place > ?1 ORDER BY place";

const DEPLOYMENTS: &str = "INSERT OR IGNORE INTO deployments (provider, model, credential, account, last_success) \
     SELECT provider, model, credential, account, started_at FROM attempts WHERE place <= 200";

/// So many rows a transaction.
const PART: i64 = 100_000;

#[expect(clippy::print_stdout, reason = "it says what it made")]
fn main() {
    let mut words = std::env::args().skip(1);
    let path = PathBuf::from(words.next().expect("FILE"));
    let attempts: i64 = words.next().expect("ATTEMPTS").parse().expect("a number of attempts");
    let end = words.next().unwrap_or_else(|| "2026-08-23T02:59:00Z".to_owned());
    let end: jiff::Timestamp = end.parse().expect("END like 2026-08-23T02:59:00Z");
    drop(SqliteStore::open(&path, OpenOptions::default()).expect("a state file"));

    let conn = Connection::open(&path).expect("a connection");
    conn.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000").expect("set");
    for from in (0..attempts).step_by(usize::try_from(PART).expect("a small number")) {
        let to = (from + PART).min(attempts);
        conn.execute_batch("BEGIN IMMEDIATE").expect("begun");
        conn.execute(ATTEMPTS, (end.as_millisecond(), SPAN, attempts, from, to)).expect("attempts");
        conn.execute(REQUESTS, [from]).expect("requests");
        conn.execute_batch("COMMIT").expect("written");
    }
    conn.execute(DEPLOYMENTS, []).expect("deployments");
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("written back");
    let bytes = std::fs::metadata(&path).expect("a size").len();
    println!("{attempts} attempts, {} MB, in {}", bytes >> 20, path.display());
}
