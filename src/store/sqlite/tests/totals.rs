//! Counters never fall and count nothing twice, whatever the log forgets.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::domain::{Defect, Extraction, Outcome, came_whole};
use crate::store::sqlite::prune::Retention;
use crate::store::sqlite::totals::{count_ahead, readers_of_waiting_rows};
use crate::store::{Came, Claiming, Totals, Verdict};

/// Something that happens to a log.
#[derive(Debug, Clone)]
enum Step {
    /// An attempt of a request, at a position where there may be one already.
    Attempt { id: u8, position: u32, class: Option<Class>, at: i64 },
    /// A request ends, for the first time or once more.
    End { id: u8, outcome: Outcome, attempts: u32, at: i64 },
    /// A request is made under an id that may be known.
    Claim { id: u8, at: i64 },
    /// A retry is asked for.
    Retry,
    /// Rows that are older than this go.
    Prune { before: i64, chunk: u32 },
    /// Rows are counted ahead; `killed` says that the process dies before it commits.
    Count { most: u32, killed: bool },
    /// A process dies while it writes.
    Killed { id: u8 },
    /// Another process goes on.
    Reopen,
    /// A person empties the log by hand.
    Empty,
}

fn class() -> impl Strategy<Value = Option<Class>> {
    proptest::option::of((0..Class::ALL.len()).prop_map(|at| Class::ALL[at]))
}

fn step() -> impl Strategy<Value = Step> {
    let outcomes = (0..Outcome::ALL.len()).prop_map(|at| Outcome::ALL[at]);
    prop_oneof![
        6 => (0..6_u8, 0..3_u32, class(), 0..100_i64)
            .prop_map(|(id, position, class, at)| Step::Attempt { id, position, class, at }),
        4 => (0..6_u8, outcomes, 0..3_u32, 0..100_i64)
            .prop_map(|(id, outcome, attempts, at)| Step::End { id, outcome, attempts, at }),
        2 => (0..6_u8, 0..100_i64).prop_map(|(id, at)| Step::Claim { id, at }),
        1 => Just(Step::Retry),
        2 => (0..120_i64, 1..5_u32).prop_map(|(before, chunk)| Step::Prune { before, chunk }),
        3 => (1..6_u32, any::<bool>()).prop_map(|(most, killed)| Step::Count { most, killed }),
        1 => (0..6_u8).prop_map(|id| Step::Killed { id }),
        1 => Just(Step::Reopen),
        1 => Just(Step::Empty),
    ]
}

fn name(id: u8) -> RequestId {
    RequestId::new(format!("r{id}"))
}

fn tried(class: Option<Class>, at: i64) -> AttemptRecord {
    let mut tried = attempt("groq/llama@team", AttemptKind::First, class, at);
    tried.cost_usd = Some(0.1 + 0.001 * at as f64);
    tried.status = Some(if at % 2 == 0 { 200 } else { 503 });
    tried.extracted = (class.is_none() && at % 3 > 0).then_some(Extraction::Fenced);
    tried.judged = at % 4 == 0 && matches!(class, None | Some(Class::InvalidOutput));
    tried.kind = if at % 8 == 0 { AttemptKind::Repair } else { AttemptKind::First };
    tried.rule = class.map(|_| if at % 3 == 0 { "answer.schema" } else { "words.any" }.to_owned());
    tried
}

/// What there must be, counted by hand as it happens.
#[derive(Default)]
struct Expected {
    attempts: BTreeMap<Option<Class>, u64>,
    whole: u64,
    extracted: u64,
    judged: BTreeMap<Verdict, u64>,
    defects: BTreeMap<Defect, u64>,
    ends: BTreeMap<Outcome, u64>,
    nano_usd: u64,
    retries: u64,
}

impl Expected {
    fn attempt(&mut self, tried: &AttemptRecord) {
        *self.attempts.entry(tried.class).or_default() += 1;
        self.whole += u64::from(came_whole(tried.class, tried.status));
        self.extracted += u64::from(tried.extracted.is_some());
        let (is_repair, is_good) = (tried.kind == AttemptKind::Repair, tried.class.is_none());
        let of = [
            (Verdict::Judged, !is_repair),
            (Verdict::Valid, !is_repair && is_good),
            (Verdict::Helped, is_repair && is_good),
        ];
        for (verdict, _) in of.into_iter().filter(|(_, counts)| tried.judged && *counts) {
            *self.judged.entry(verdict).or_default() += 1;
        }
        if let Some(defect) = Defect::found(tried.class, tried.rule.as_deref()) {
            *self.defects.entry(defect).or_default() += 1;
        }
        self.nano_usd += (tried.cost_usd.expect("a cost") * 1e9).round() as u64;
    }
}

/// One flat list of all counters.
fn counters(totals: &Totals) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for (key, sum) in &totals.attempts {
        let parts = [sum.attempts, sum.input, sum.output, sum.cached, sum.nano_usd];
        all.extend(parts.into_iter().zip(0..).map(|(part, at)| (format!("{key:?} {at}"), part)));
    }
    all.extend(totals.requests.iter().map(|(key, count)| (format!("{key:?}"), *count)));
    let times = [("ttft", &totals.ttft), ("attempt", &totals.attempt_times)];
    let histograms = times.iter().flat_map(|(what, of)| of.iter().map(move |(who, h)| (format!("{what} {who}"), h)));
    let ladders = totals.request_times.iter().map(|(ladder, h)| (format!("ladder {ladder}"), h));
    for (key, histogram) in histograms.chain(ladders) {
        all.extend(histogram.within.iter().zip(0..).map(|(count, at)| (format!("{key} {at}"), *count)));
        all.extend([(format!("{key} count"), histogram.count), (format!("{key} sum"), histogram.sum_us)]);
    }
    all.extend(totals.whole.iter().map(|(who, count)| (format!("whole {who}"), *count)));
    all.extend(totals.extracted.iter().map(|(key, count)| (format!("{key:?}"), *count)));
    all.extend(totals.judged.iter().map(|(key, count)| (format!("{key:?}"), *count)));
    all.extend(totals.defects.iter().map(|(key, count)| (format!("{key:?}"), *count)));
    all.extend([("granted".to_owned(), totals.retries_granted), ("denied".to_owned(), totals.retries_denied)]);
    all
}

struct History {
    place: Place,
    store: SqliteStore,
    expected: Expected,
}

impl History {
    fn has(&self, sql: &str, values: impl rusqlite::Params) -> bool {
        raw(&self.place.path).prepare(sql).expect("a statement").exists(values).expect("an answer")
    }

    fn has_attempt(&self, id: &RequestId, position: u32) -> bool {
        self.has("SELECT 1 FROM attempts WHERE request_id = ?1 AND position = ?2", (id.as_str(), position))
    }

    fn has_ended(&self, id: &RequestId) -> bool {
        self.has("SELECT 1 FROM requests WHERE id = ?1 AND outcome <> 'unfinished'", [id.as_str()])
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Attempt { id, position, class, at } => {
                let (id, tried) = (name(id), tried(class, at));
                if !self.has_attempt(&id, position) {
                    self.expected.attempt(&tried);
                }
                let batch = Batch { attempts: vec![(id, position, tried)], ..Batch::default() };
                self.store.commit(&batch).expect("written");
            }
            Step::End { id, outcome, attempts, at } => self.end(&name(id), outcome, attempts, at),
            Step::Claim { id, at: seconds } => {
                let (now, until) = (at(seconds), at(seconds));
                let wish = Claiming { id: &name(id), ladder: &"main".into(), asked: "x", now, until };
                self.store.claim_request(&wish).expect("an answer");
            }
            Step::Retry => {
                self.store.take_retry(&"r".into(), at(0), at(-60), 3).expect("an answer");
                self.expected.retries += 1;
            }
            Step::Prune { before, chunk } => {
                let keep = Retention { age: Duration::ZERO, size: u64::MAX, chunk, chunks: 2, ..Retention::default() };
                self.store.prune(&keep, at(before)).expect("pruned");
            }
            Step::Count { most, killed } => {
                let dies = if killed { Err(Trouble::Conflict) } else { Ok(()) };
                let mut dies = Some(dies);
                let counted = self.store.write(|conn| {
                    count_ahead(conn, most)?;
                    dies.take().unwrap_or(Ok(()))
                });
                assert_eq!(counted.is_err(), killed);
            }
            Step::Killed { id } => {
                let (id, tried) = (name(id), tried(None, 0));
                let died = self.store.write(|conn| {
                    crate::store::sqlite::log::put_attempt(conn, &id, 0, &tried)?;
                    crate::store::sqlite::log::put_request(conn, &request(id.as_str(), 0, vec![]))?;
                    Err::<(), _>(Trouble::Conflict)
                });
                died.expect_err("it died");
            }
            Step::Reopen => self.store = open(&self.place.path).expect("opened"),
            Step::Empty => self.empty(),
        }
    }

    fn end(&mut self, id: &RequestId, outcome: Outcome, attempts: u32, at: i64) {
        let attempts: Vec<_> = (0..attempts).map(|n| tried(None, at + i64::from(n))).collect();
        for (position, tried) in (0..).zip(&attempts) {
            if !self.has_attempt(id, position) {
                self.expected.attempt(tried);
            }
        }
        if outcome != Outcome::Unfinished && !self.has_ended(id) {
            *self.expected.ends.entry(outcome).or_default() += 1;
        }
        let done = RequestRecord { outcome, ..request(id.as_str(), at, attempts) };
        self.store.commit(&Batch { request: Some(done), ..Batch::default() }).expect("written");
    }

    /// Everything but the newest request goes; places must not be given twice after that.
    fn empty(&mut self) {
        let keep = Retention { age: Duration::ZERO, size: u64::MAX, chunk: 100, chunks: 10, ..Retention::default() };
        self.store.prune(&keep, at(1000)).expect("pruned");
        assert!(!self.has("SELECT 1 FROM attempts", []));
    }

    fn check(&self) -> Totals {
        let totals = self.store.totals().expect("totals");
        let mut attempts: BTreeMap<Option<Class>, u64> = BTreeMap::new();
        for ((_, _, came), sum) in &totals.attempts {
            let class = match came {
                Came::Failed(class) => Some(*class),
                Came::Answered | Came::GivenUp => None,
            };
            *attempts.entry(class).or_default() += sum.attempts;
        }
        attempts.retain(|_, count| *count > 0);
        assert_eq!(attempts, self.expected.attempts);
        assert_eq!(totals.attempts.values().map(|sum| sum.nano_usd).sum::<u64>(), self.expected.nano_usd);
        assert_eq!(totals.whole.values().sum::<u64>(), self.expected.whole);
        assert_eq!(totals.extracted.values().sum::<u64>(), self.expected.extracted);
        let mut judged: BTreeMap<Verdict, u64> = BTreeMap::new();
        for ((_, verdict), count) in totals.judged.iter().filter(|(_, count)| **count > 0) {
            *judged.entry(*verdict).or_default() += count;
        }
        assert_eq!(judged, self.expected.judged);
        let mut defects: BTreeMap<Defect, u64> = BTreeMap::new();
        for ((_, defect), count) in totals.defects.iter().filter(|(_, count)| **count > 0) {
            *defects.entry(*defect).or_default() += count;
        }
        assert_eq!(defects, self.expected.defects);
        let answered = attempts.get(&None).copied().unwrap_or(0);
        assert_eq!(totals.attempt_times.values().map(|times| times.count).sum::<u64>(), answered);
        let mut ends: BTreeMap<Outcome, u64> = BTreeMap::new();
        for ((_, outcome, _), count) in &totals.requests {
            *ends.entry(*outcome).or_default() += count;
        }
        ends.retain(|_, count| *count > 0);
        assert_eq!(ends, self.expected.ends);
        let timed: u64 = totals.request_times.values().map(|times| times.count).sum();
        assert_eq!(timed, self.expected.ends.get(&Outcome::Answered).copied().unwrap_or(0));
        assert_eq!(totals.retries_granted + totals.retries_denied, self.expected.retries);
        totals
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_counter_falls_or_counts_twice_in_any_history(steps in proptest::collection::vec(step(), 1..60)) {
        let place = place();
        let store = open(&place.path).expect("made");
        let mut history = History { place, store, expected: Expected::default() };
        let mut before: BTreeMap<String, u64> = BTreeMap::new();
        for step in &steps {
            history.take(step);
            let now: BTreeMap<String, u64> = counters(&history.check()).into_iter().collect();
            for (key, count) in &before {
                let after = now.get(key).copied().unwrap_or(0);
                prop_assert!(after >= *count, "{} fell from {} to {} by {:?}", key, count, after, step);
            }
            before = now;
        }
    }
}

#[test]
fn a_log_that_was_emptied_by_hand_is_counted_on() {
    let place = place();
    let store = open(&place.path).expect("made");
    let write = |n: i64| {
        let done = request(&n.to_string(), n, vec![tried(None, n)]);
        store.commit(&Batch { request: Some(done), ..Batch::default() }).expect("written");
    };
    (0..5).for_each(write);
    store.write(|conn| count_ahead(conn, 100)).expect("counted");
    raw(&place.path).execute_batch("DELETE FROM attempts; DELETE FROM requests").expect("emptied");
    (5..8).for_each(write);
    let totals = store.totals().expect("totals");
    assert_eq!(totals.attempts.values().map(|sum| sum.attempts).sum::<u64>(), 8);
    assert_eq!(totals.requests.values().sum::<u64>(), 8);
}

#[test]
fn an_absurd_row_does_not_stop_the_counting() {
    let place = place();
    let store = open(&place.path).expect("made");
    for n in 0..40 {
        let done = request(&n.to_string(), n, vec![tried(None, n)]);
        store.commit(&Batch { request: Some(done), ..Batch::default() }).expect("written");
    }
    raw(&place.path)
        .execute_batch(
            "UPDATE attempts SET input_tokens = 9223372036854775807, latency_us = 9223372036854775807, cost_usd = 1e308; \
             UPDATE requests SET latency_us = 9223372036854775807, step = -9",
        )
        .expect("damaged");
    let waiting = store.totals().expect("totals");
    store.write(|conn| count_ahead(conn, 7)).expect("counted");
    assert_eq!(store.totals().expect("totals"), waiting);
    assert_eq!(waiting.attempts.values().map(|sum| sum.input).sum::<u64>(), 40_000_000_000_000);
}

#[test]
fn what_the_bound_on_retries_forgets_stays_counted() {
    let place = place();
    let store = open(&place.path).expect("made");
    raw(&place.path)
        .execute_batch(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000) \
             INSERT INTO retries (at, request_id, granted) SELECT n, 'r', n % 4 > 0 FROM n",
        )
        .expect("filled");
    let span = || store.retries_between(at(-1_000_000_000), at(9)).expect("retries");
    assert_eq!(span().known_since, None, "all are known");
    for _ in 0..8 {
        store.take_retry(&"r".into(), at(0), at(-60), 100).expect("an answer");
    }
    let totals = store.totals().expect("totals");
    assert_eq!((totals.retries_granted, totals.retries_denied), (7508, 2500));
    let left: i64 = raw(&place.path).query_row("SELECT count(*) FROM retries", [], |row| row.get(0)).expect("a count");
    assert_eq!((left, span().known_since.is_some()), (10_000, true));
}

#[test]
fn rows_are_counted_ahead_once_many_wait() {
    let place = place();
    let store = open(&place.path).expect("made");
    for n in 0..300 {
        let done = request(&n.to_string(), n, vec![tried(None, n)]);
        store.commit(&Batch { request: Some(done), ..Batch::default() }).expect("written");
    }
    let upto = || -> i64 {
        raw(&place.path).query_row("SELECT min(upto) FROM counted", [], |row| row.get(0)).expect("a place")
    };
    let before = store.totals().expect("totals");
    store.prune(&Retention::default(), at(300)).expect("pruned");
    assert_eq!((upto(), store.totals().expect("totals")), (300, before));
}

#[test]
fn a_scrape_does_not_walk_through_what_is_counted() {
    let place = place();
    drop(open(&place.path).expect("made"));
    let conn = raw(&place.path);
    for sql in readers_of_waiting_rows() {
        let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("a plan");
        let steps: Vec<String> =
            plan.query_map([], |row| row.get(3)).expect("steps").map(|step| step.expect("a step")).collect();
        let table =
            steps.iter().find(|step| step.contains(" attempts ") || step.contains(" requests ")).expect("a table");
        assert!(table.contains("USING INTEGER PRIMARY KEY (rowid>?)"), "{sql}: {steps:?}");
    }
}

/// What an older program said of its repairs stays counted, in the totals and in the rows that wait; of all other answers
/// nobody knows what was asked.
#[test]
fn repairs_that_helped_before_there_was_a_column_for_it_stay_counted() {
    let place = place();
    let old = raw(&place.path);
    let steps = crate::store::sqlite::schema::STEPS.iter().take(9);
    steps.for_each(|step| old.execute_batch(step).expect("made as then"));
    old.pragma_update(None, "application_id", crate::store::sqlite::schema::APPLICATION_ID).expect("stamped");
    old.pragma_update(None, "user_version", 9).expect("stamped");
    let rows = [
        ("first", Some("invalid_output")),
        ("repair", None),
        ("first", None),
        ("repair", Some("timeout")),
        ("repair", None),
    ];
    for (at, (kind, class)) in (0_i64..).zip(rows) {
        let sql = "INSERT INTO attempts (request_id, position, provider, model, credential, account, step, kind, class, \
                   started_at, latency_us) VALUES ('r', ?1, 'p', 'm', '', 'own', 0, ?2, ?3, 1787000000123, 5)";
        old.execute(sql, rusqlite::params![at, kind, class]).expect("written");
    }
    old.execute_batch(
        "UPDATE counted SET upto = 2 WHERE log = 'attempts'; \
         INSERT INTO attempt_totals SELECT provider, model, credential, kind, ifnull(class, 'answered'), count(*), 0, 0, 0, 0 \
         FROM attempts WHERE place <= 2 GROUP BY 1, 2, 3, 4, 5",
    )
    .expect("counted");
    old.close().expect("closed");
    let judged = open(&place.path).expect("brought up to date").totals().expect("read").judged;
    let told: Vec<(Verdict, u64)> = judged.into_iter().map(|((_, verdict), count)| (verdict, count)).collect();
    assert_eq!(told, [(Verdict::Helped, 2)]);
}

/// Every class with statuses of all kinds, each at a deployment of its own, counted by the rule, by the statements of the
/// counters, and by the step that made their table.
#[test]
fn what_came_whole_is_the_same_in_rust_in_the_counters_and_in_the_step_that_made_them() {
    let classes = std::iter::once(None).chain(Class::ALL.iter().copied().map(Some));
    let statuses =
        || [None].into_iter().chain((0..6).flat_map(|hundreds| [0, 4, 99].map(|rest| Some(hundreds * 100 + rest))));
    let cases: Vec<(Option<Class>, Option<u16>)> =
        classes.flat_map(|class| statuses().map(move |status| (class, status))).collect();
    let whole: Vec<usize> =
        cases.iter().enumerate().filter(|(_, (class, status))| came_whole(*class, *status)).map(|(at, _)| at).collect();
    assert!(!whole.is_empty() && whole.len() < cases.len());
    let insert = |conn: &Connection| {
        for (at, (class, status)) in cases.iter().enumerate() {
            let sql = "INSERT INTO attempts (request_id, position, provider, model, credential, account, step, kind, class, \
                       status, started_at, latency_us) VALUES ('r', ?1, 'p', ?2, '', 'own', 0, 'first', ?3, ?4, 1787000000123, 5)";
            let values = rusqlite::params![
                i64::try_from(at).expect("small"),
                format!("m{at}"),
                class.map(Class::as_str),
                status
            ];
            conn.execute(sql, values).expect("written");
        }
    };
    let found = |totals: Totals| -> Vec<usize> {
        let mut all: Vec<usize> =
            totals.whole.keys().filter_map(|who| who.model.as_str().strip_prefix('m')?.parse().ok()).collect();
        all.sort_unstable();
        all
    };
    let place = place();
    let store = open(&place.path).expect("a store");
    insert(&raw(&place.path));
    assert_eq!(found(store.totals().expect("read")), whole, "by the statements");
    drop(store);

    let place = self::place();
    let old = raw(&place.path);
    let steps = crate::store::sqlite::schema::STEPS.iter().take(6);
    steps.for_each(|step| old.execute_batch(step).expect("made as then"));
    old.pragma_update(None, "application_id", crate::store::sqlite::schema::APPLICATION_ID).expect("stamped");
    old.pragma_update(None, "user_version", 6).expect("stamped");
    insert(&old);
    old.execute("UPDATE counted SET upto = (SELECT max(place) FROM attempts) WHERE log = 'attempts'", [])
        .expect("counted");
    old.close().expect("closed");
    let store = open(&place.path).expect("brought up to date");
    assert_eq!(found(store.totals().expect("read")), whole, "by the step");
}
