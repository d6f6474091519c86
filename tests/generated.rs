//! A generated night: a hundred thousand attempts over several ladders and deployments, with every class, kind and ending,
//! written past the library, so that figures can be counted by hand in SQL. It is the same night every time.
#![cfg(test)]

use llmr::store::{OpenOptions, SqliteStore};
use rusqlite::Connection;
use std::path::Path;

/// Two attempts a request in the mean: of ten requests four have one, three two, two three, and one four.
const REQUESTS: i64 = 50_000;

/// What stands in both: requests `q` of a night that ends at `:end`, each with its ladder, its ending and a number that
/// looks drawn.
const NIGHT: &str = "WITH RECURSIVE counted (q) AS (SELECT 0 UNION ALL SELECT q + 1 FROM counted WHERE q < :count - 1), \
     night (q, id, at, draw, tries, outcome, ladder) AS (SELECT q, printf('%s%06d', :prefix, q), \
     :end - 86400000 + q * 86400000 / :count, q * 2654435761 % 4294967296, \
     CASE q % 10 WHEN 9 THEN 4 WHEN 8 THEN 3 WHEN 7 THEN 3 WHEN 6 THEN 2 WHEN 5 THEN 2 WHEN 4 THEN 2 ELSE 1 END, \
     CASE q * 2654435761 % 4294967296 % 60 WHEN 0 THEN 'exhausted' WHEN 1 THEN 'needs_person' WHEN 2 THEN 'refused' \
     WHEN 3 THEN 'wrong_shape' WHEN 4 THEN 'deadline' WHEN 5 THEN 'partial' WHEN 6 THEN 'interrupted' \
     WHEN 7 THEN 'unfinished' ELSE 'answered' END, \
     CASE q % 7 WHEN 0 THEN 'fast' WHEN 1 THEN 'cheap, \"odd\"' WHEN 2 THEN '=large' ELSE 'main' END FROM counted) ";

const ATTEMPTS: &str = "INSERT INTO attempts (request_id, position, provider, model, credential, account, step, kind, \
     class, given_up, scope, status, started_at, ttft_us, latency_us, input_tokens, output_tokens, cached_tokens, cost_usd) \
     SELECT id, p, printf('lab%d', draw % 3), iif(draw % 5 = 0, 'mod\"el\\', printf('model%d', draw % 4)), \
     iif(draw % 3 = 0, '', 'team'), 'own', p, \
     iif(p = 0, 'first', CASE (draw + p) % 9 WHEN 0 THEN 'retry' WHEN 1 THEN 'retry' WHEN 2 THEN 'repair' WHEN 3 THEN 'hedge' \
     WHEN 4 THEN 'probe' ELSE 'first' END), \
     CASE WHEN is_last AND outcome IN ('answered', 'unfinished', 'interrupted', 'deadline') THEN NULL \
     ELSE (SELECT class FROM classes WHERE at = (draw / 7 + p) % 16) END, \
     CASE WHEN is_last AND outcome = 'interrupted' THEN 'interrupted' WHEN is_last AND outcome = 'deadline' THEN 'deadline' END, \
     'model', 200, at + p * 700, iif(draw % 11 = 0, NULL, 50000 + draw % 4000000), 100000 + draw % 90000000, \
     iif(draw % 13 = 0, NULL, 100 + draw % 900), draw % 300, iif(draw % 4 = 0, draw % 100, NULL), \
     iif(draw % 6 = 0, NULL, (draw % 1000) / 100000.0) \
     FROM (SELECT night.*, p, p = tries - 1 AS is_last FROM night JOIN (SELECT 0 AS p UNION SELECT 1 UNION SELECT 2 UNION \
     SELECT 3) ON p < tries) ORDER BY q, p";

const ENDS: &str = "INSERT INTO requests (id, ladder, started_at, latency_us, outcome, provider, model, credential, step, \
     input_tokens, output_tokens, cached_tokens, cost_usd, retries_denied) \
     SELECT id, iif(outcome = 'unfinished', '', ladder), at, iif(outcome = 'unfinished', 0, 200000 + draw % 100000000), \
     outcome, iif(outcome = 'answered', last.provider, NULL), iif(outcome = 'answered', last.model, NULL), \
     iif(outcome = 'answered', last.credential, NULL), iif(outcome = 'answered', last.step, NULL), \
     (SELECT sum(input_tokens) FROM attempts WHERE request_id = id), \
     (SELECT sum(output_tokens) FROM attempts WHERE request_id = id), \
     (SELECT sum(cached_tokens) FROM attempts WHERE request_id = id), \
     (SELECT sum(cost_usd) FROM attempts WHERE request_id = id), draw % 97 = 0 \
     FROM night LEFT JOIN attempts AS last ON last.request_id = id AND last.position = tries - 1 ORDER BY q";

const CLASSES: &str = "CREATE TEMP TABLE classes AS SELECT key AS at, value AS class FROM json_each('[\"rate_limit\", \
     \"quota_exhausted\", \"billing\", \"auth\", \"permission\", \"model_unavailable\", \"overloaded\", \"server_error\", \"timeout\", \
     \"network\", \"context_overflow\", \"content_policy\", \"unsupported\", \"invalid_request\", \"invalid_output\", \"unknown\"]')";

/// Answers that are wrong in several ways, one of them unknown to figures, and failures with a status of their own.
const WRONG: &str = "UPDATE attempts SET rule = CASE place % 4 WHEN 0 THEN 'answer.schema' WHEN 1 THEN 'answer.truncated' \
     WHEN 2 THEN 'words.answer_unreadable' END WHERE class = 'invalid_output'; \
     UPDATE attempts SET extracted = CASE place % 5 WHEN 0 THEN 'whole' WHEN 1 THEN 'fenced' WHEN 2 THEN 'surrounded' END \
     WHERE class IS NULL AND given_up IS NULL; \
     UPDATE attempts SET judged = place % 5 < 3 WHERE class IS NULL OR class = 'invalid_output'; \
     UPDATE attempts SET status = 503 WHERE class IS NOT NULL AND class <> 'invalid_output' AND place % 3 > 0; \
     UPDATE attempts SET status = iif(place % 3 = 0, 400, NULL) WHERE class = 'invalid_output' AND place % 7 < 3";

const RETRIES: &str = "INSERT INTO retries (at, request_id, granted) \
     SELECT started_at, request_id, 1 FROM attempts WHERE kind = 'retry' UNION ALL \
     SELECT started_at, id, 0 FROM requests WHERE retries_denied > 0 ORDER BY 1 DESC LIMIT 9000";

const DEPLOYMENTS: &str = "INSERT OR IGNORE INTO deployments (provider, model, credential, account, last_success) \
     SELECT provider, model, credential, account, max(started_at) FROM attempts GROUP BY 1, 2, 3";

/// Writes the night that ends then, 100,000 attempts, and a tenth of it a week before, in which requests fell less deep.
pub fn night(path: &Path, end: &str) -> Connection {
    drop(SqliteStore::open(path, OpenOptions::default()).expect("a state file"));
    let end: jiff::Timestamp = end.parse().expect("a time");
    let conn = Connection::open(path).expect("a connection");
    conn.execute_batch("PRAGMA synchronous = OFF; BEGIN").expect("begun");
    conn.execute_batch(CLASSES).expect("classes");
    let week = 7 * 86_400_000;
    for (prefix, count, end) in
        [("w", REQUESTS / 10, end.as_millisecond() - week), ("n", REQUESTS, end.as_millisecond())]
    {
        let values = rusqlite::named_params! { ":prefix": prefix, ":count": count, ":end": end };
        conn.execute(&format!("{NIGHT}{ATTEMPTS}"), values).expect("attempts");
        conn.execute(&format!("{NIGHT}{ENDS}"), values).expect("requests");
    }
    conn.execute("UPDATE requests SET step = 0 WHERE id LIKE 'w%' AND outcome = 'answered'", []).expect("less deep");
    conn.execute_batch(WRONG).expect("what was wrong");
    conn.execute_batch(RETRIES).expect("retries");
    conn.execute_batch(DEPLOYMENTS).expect("deployments");
    conn.execute_batch("COMMIT").expect("written");
    conn
}
