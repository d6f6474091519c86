//! The page and the table, from a small journal.

use std::time::Duration;

use jiff::Timestamp;

use super::{Budget, Grouping, MARKS, Marks, Stats, ends, equal_ends, rows, usual_bucket};
use crate::domain::{AttemptKind, Class, Defect, Dimension, Outcome, Provenance, Scope};
use crate::metrics::{Figures, Journal, Slice};
use crate::policy::{Cooldown, HoldRecord, Versioned};
use crate::store::{AttemptFact, Fact, RequestFact, RetryCount, Spent, Who};

const HOUR: u64 = 3600;

fn now() -> Timestamp {
    "2026-08-23T03:00:00Z".parse().expect("a time")
}

fn at(minutes: u64) -> Timestamp {
    now() - Duration::from_secs(24 * HOUR) + Duration::from_secs(60 * minutes)
}

const fn who(name: &str) -> Who<'_> {
    Who { provider: name, model: "llama-3.3-70b-versatile", credential: "team" }
}

const fn spent(tries: u64) -> Spent {
    Spent { input: Some(900 * tries), output: Some(120), cached: Some(300), usd: Some(0.0004 * tries as f64) }
}

/// A night with a request every three minutes; for six hours the first provider limits the rate, and for one of them the
/// second answers in another shape.
fn journal() -> Journal {
    let mut journal = Journal::default();
    for n in 0..480_u64 {
        let (minutes, id) = (3 * n, n.to_string());
        let ladder = if n % 5 == 0 { "summaries" } else { "main" };
        let (limited, broken) = ((120..240).contains(&n), (200..220).contains(&n));
        let mut try_at = |name: &str, step: u32, class: Option<Class>| {
            journal.push(Fact::Attempt(AttemptFact {
                request: &id,
                ladder,
                who: who(name),
                step,
                kind: if step == 1 && broken { AttemptKind::Repair } else { AttemptKind::First },
                class,
                is_given_up: false,
                status: class.is_none().then_some(200),
                defect: (class == Some(Class::InvalidOutput)).then_some(Defect::Schema),
                extracted: None,
                judged: matches!(class, None | Some(Class::InvalidOutput)),
                started_ms: at(minutes).as_millisecond(),
                ttft_us: Some(180_000 + n * 1_000),
                latency_us: 700_000 + n * 5_000,
                spent: spent(1),
            }));
        };
        try_at("groq", 0, limited.then_some(Class::RateLimit));
        if limited {
            try_at("cerebras", 1, broken.then_some(Class::InvalidOutput));
        }
        journal.push(Fact::Request(RequestFact {
            id: &id,
            ladder,
            started_ms: at(minutes).as_millisecond(),
            latency_us: 800_000 + n * 5_000,
            outcome: if broken { Outcome::Exhausted } else { Outcome::Answered },
            who: (!broken).then(|| who(if limited { "cerebras" } else { "groq" })),
            step: (!broken).then_some(u32::from(limited)),
            spent: spent(1 + u64::from(limited)),
            retries_denied: u64::from(broken),
        }));
    }
    journal
}

fn hold() -> Versioned {
    let cooldown = Cooldown {
        scope: Scope { credential: Some("team".into()), ..Scope::provider("groq".into()) },
        dimension: Dimension::Rpm,
        class: Class::RateLimit,
        since: now() - Duration::from_secs(4),
        until: now() + Duration::from_secs(26),
        provenance: Provenance::Fact,
        streak: 1,
        obeyed: 0,
        obeyed_since: None,
        evidence: String::new(),
        request_id: None,
    };
    Versioned { id: 7, version: 1, record: HoldRecord::Cooldown(cooldown) }
}

fn shown<T>(grouping: Grouping, show: impl FnOnce(&Stats<'_>) -> T) -> T {
    let (slice, journal, held) = (Slice::of(at(0), now()), journal(), hold());
    let (all, rows) = rows(&journal, &slice, grouping, &equal_ends(at(0), now(), MARKS));
    let mut week_before = Figures::of(&journal.total(&Slice::of(at(0), at(600))));
    week_before.depth.at = vec![90, 10];
    week_before.depth.mean = Some(0.1);
    show(&Stats {
        now: now(),
        slice: &slice,
        grouping,
        bucket: None,
        all: &all,
        rows: &rows,
        week_before: Some(&week_before),
        holds: vec![&held],
        retries: Some(RetryCount { granted: 31, denied: 20, known_since: None }),
        budgets: vec![Budget { ladder: "main".into(), limit: 60 }, Budget { ladder: "summaries".into(), limit: 6 }],
        retries_used: 2,
        put_last: Vec::new(),
        has_state: true,
    })
}

fn page(width: u16) -> String {
    shown(Grouping::None, |stats| stats.text(width, Marks::Blocks).plain())
}

#[test]
fn the_page_at_80_columns() {
    insta::assert_snapshot!(page(80), @r"
    2026-08-22T03:00:00Z to 2026-08-23T03:00:00Z (24h); a mark is 1h

    success       95.8 % of 480 requests were answered as   ██████████▁█████████████
                  asked
                  20 exhausted
    exhausted     20 requests fell through: no step         ▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁
                  answered (4.2 %)
    step depth    mean 0.22 (0 is the primary);             ▁▁▁▁▁▁████ █▁▁▁▁▁▁▁▁▁▁▁▁
                  a week before 0.10, so 0.12 deeper
                  step 0: 360 (78.3 %, was 90.0 %),
                  step 1: 100 (21.7 %, was 10.0 %)
    attempts      600 exchanges, 76.7 % of them answered    ▅▅▅▅▅▅██████▅▅▅▅▅▅▅▅▅▅▅▅
                  20 repairs
    retry budget  31 granted, 20 denied;
                  in the last minute 2 of 60 for main, 2
                  of 6 for summaries
    transport     80.0 % came back whole with a status of   ██████▅▅▅▅▅▅████████████
                  success (480)
    application   76.7 % were answered as asked             ██████▅▅▅▅▁▅████████████
    valid         100 % of 460 judged answers               ██████████ █████████████
                  not as asked: answer.schema 20
    repairs       20 tried, 0 helped; $0.008000 for them    ▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁
    held now      cooldown c7 groq@team: rate_limit, ends
                  in 26s (2026-08-23T03:00:26Z)
    failures      140 attempts, by cause:                   ▁▁▁▁▁▁▅▅▅▅█▅▁▁▁▁▁▁▁▁▁▁▁▁
                  burst 85.7 %: rate_limit 120              ▁▁▁▁▁▁██████▁▁▁▁▁▁▁▁▁▁▁▁
                  schema 14.3 %: invalid_output 20          ▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁
    first token   p50 429 ms, p95 636 ms,                   ▄▄▄▄▄▅▅▅▅▆ ▆▆▆▇▇▇▇▇█████
                  p99 655 ms of 460 answers
    answer time   p50 1.9 s, p95 3.0 s,                     ▃▄▄▄▄▄▅▅▅▅ ▆▆▆▆▇▇▇▇█████
                  p99 3.1 s of 460 answers
    total time    p50 2.0 s, p95 3.1 s,                     ▃▄▄▄▄▅▅▅▅▅ ▆▆▆▇▇▇▇▇█████
                  p99 3.2 s of 460 answers
    tokens        540k in (33.3 % from a cache), 72.0k out  ▅▅▅▅▅▅██████▅▅▅▅▅▅▅▅▅▅▅▅
                  a request: 1,125 in, 120 out;
                  an answer as asked: 1,174 in, 125 out
    cost          $0.2400 in all; $0.000500 a request;      ▅▅▅▅▅▅██████▅▅▅▅▅▅▅▅▅▅▅▅
                  $0.000522 an answer as asked, all that
                  failed included
    schema        4.2 % of the answers were cut off, empty  ▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁
                  or of another shape (20)
    ");
}

#[test]
fn the_page_at_200_columns() {
    insta::assert_snapshot!(page(200), @r"
    2026-08-22T03:00:00Z to 2026-08-23T03:00:00Z (24h); a mark is 1h

    success       95.8 % of 480 requests were answered as asked                                                         ██████████▁█████████████
                  20 exhausted
    exhausted     20 requests fell through: no step answered (4.2 %)                                                    ▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁
    step depth    mean 0.22 (0 is the primary); a week before 0.10, so 0.12 deeper                                      ▁▁▁▁▁▁████ █▁▁▁▁▁▁▁▁▁▁▁▁
                  step 0: 360 (78.3 %, was 90.0 %), step 1: 100 (21.7 %, was 10.0 %)
    attempts      600 exchanges, 76.7 % of them answered                                                                ▅▅▅▅▅▅██████▅▅▅▅▅▅▅▅▅▅▅▅
                  20 repairs
    retry budget  31 granted, 20 denied; in the last minute 2 of 60 for main, 2 of 6 for summaries
    transport     80.0 % came back whole with a status of success (480)                                                 ██████▅▅▅▅▅▅████████████
    application   76.7 % were answered as asked                                                                         ██████▅▅▅▅▁▅████████████
    valid         100 % of 460 judged answers                                                                           ██████████ █████████████
                  not as asked: answer.schema 20
    repairs       20 tried, 0 helped; $0.008000 for them                                                                ▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁
    held now      cooldown c7 groq@team: rate_limit, ends in 26s (2026-08-23T03:00:26Z)
    failures      140 attempts, by cause:                                                                               ▁▁▁▁▁▁▅▅▅▅█▅▁▁▁▁▁▁▁▁▁▁▁▁
                  burst 85.7 %: rate_limit 120                                                                          ▁▁▁▁▁▁██████▁▁▁▁▁▁▁▁▁▁▁▁
                  schema 14.3 %: invalid_output 20                                                                      ▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁
    first token   p50 429 ms, p95 636 ms, p99 655 ms of 460 answers                                                     ▄▄▄▄▄▅▅▅▅▆ ▆▆▆▇▇▇▇▇█████
    answer time   p50 1.9 s, p95 3.0 s, p99 3.1 s of 460 answers                                                        ▃▄▄▄▄▄▅▅▅▅ ▆▆▆▆▇▇▇▇█████
    total time    p50 2.0 s, p95 3.1 s, p99 3.2 s of 460 answers                                                        ▃▄▄▄▄▅▅▅▅▅ ▆▆▆▇▇▇▇▇█████
    tokens        540k in (33.3 % from a cache), 72.0k out                                                              ▅▅▅▅▅▅██████▅▅▅▅▅▅▅▅▅▅▅▅
                  a request: 1,125 in, 120 out; an answer as asked: 1,174 in, 125 out
    cost          $0.2400 in all; $0.000500 a request; $0.000522 an answer as asked, all that failed included           ▅▅▅▅▅▅██████▅▅▅▅▅▅▅▅▅▅▅▅
    schema        4.2 % of the answers were cut off, empty or of another shape (20)                                     ▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁▁▁▁
    ");
}

#[test]
fn no_line_is_longer_than_a_narrow_terminal() {
    for width in [40_u16, 50, 60, 72, 80, 100, 140, 200] {
        for grouping in [Grouping::None, Grouping::Ladder, Grouping::Deployment, Grouping::Class, Grouping::Time] {
            let text = shown(grouping, |stats| match grouping {
                Grouping::None => stats.text(width, Marks::Blocks).plain(),
                _ => stats.table(width, Marks::Blocks).plain(),
            });
            for line in text.lines() {
                let columns = crate::report::layout::columns(line);
                assert!(columns <= usize::from(width), "{grouping:?} at {width}: {line}");
                assert_eq!(line.trim_end(), line, "{grouping:?} at {width}");
            }
        }
    }
}

fn table(grouping: Grouping, width: u16) -> String {
    shown(grouping, |stats| stats.table(width, Marks::Ascii).plain())
}

#[test]
fn of_deployments_the_worst_stands_first() {
    insta::assert_snapshot!(table(Grouping::Deployment, 100), @r"
    2026-08-22T03:00:00Z to 2026-08-23T03:00:00Z (24h)
                                  transport  answered  failed  mostly          attempts  ttft p95    p95
    groq/llama-3.3…ersatile@team     75.0 %    75.0 %     120  rate_limit           480    641 ms  3.0 s
    cerebras/llama…ersatile@team      100 %    83.3 %      20  invalid_output       120    414 ms  1.9 s
    ");
}

#[test]
fn of_ladders_the_one_that_was_exhausted_the_most_stands_first() {
    insta::assert_snapshot!(table(Grouping::Ladder, 120), @r"
    2026-08-22T03:00:00Z to 2026-08-23T03:00:00Z (24h)
               success  exhausted  requests  depth  attempts  failed  ttft p95    p95  schema     cost
    main        95.8 %         16       384   0.22       480     112    637 ms  3.1 s   4.2 %  $0.1920
    summaries   95.8 %          4        96   0.22       120      28    635 ms  3.1 s   4.2 %  $0.0480
    ");
}

#[test]
fn classes_say_what_they_mean() {
    insta::assert_snapshot!(table(Grouping::Class, 80), @r"
    2026-08-22T03:00:00Z to 2026-08-23T03:00:00Z (24h)
                    attempts   share  then
    rate_limit           120  85.7 %  rests for seconds to an hour
    invalid_output        20  14.3 %  repaired once, then the next step
    ");
}

#[test]
fn every_share_of_nothing_is_null() {
    let slice = Slice::of(at(0), now());
    let (all, rows) = rows(&Journal::default(), &slice, Grouping::None, &[]);
    let stats = Stats {
        now: now(),
        slice: &slice,
        grouping: Grouping::None,
        bucket: None,
        all: &all,
        rows: &rows,
        week_before: None,
        holds: Vec::new(),
        retries: None,
        budgets: Vec::new(),
        retries_used: 0,
        put_last: Vec::new(),
        has_state: true,
    };
    let json = stats.json();
    for pointer in ["success_rate", "exhaustion_rate", "depth/mean", "ttft", "latency", "cost_usd/per_success"] {
        assert_eq!(json.pointer(&format!("/figures/{pointer}")), Some(&serde_json::Value::Null), "{pointer}");
    }
    assert_eq!(json["figures"]["classes"]["auth"], 0);
    let text = stats.text(80, Marks::Blocks).plain();
    assert!(text.contains("no request has ended") && text.contains("a week before: no data"), "{text}");
}

#[test]
fn buckets_end_at_round_times_and_are_bounded() {
    let minute = Duration::from_secs(60);
    let text = |ends: Option<Vec<Timestamp>>| {
        ends.map(|ends| ends.iter().map(|end| end.strftime("%H:%M:%S").to_string()).collect::<Vec<_>>())
    };
    let from = at(0) + Duration::from_secs(90);
    let wanted = vec!["03:02:00".to_owned(), "03:03:00".into(), "03:03:30".into()];
    assert_eq!(text(ends(from, from + Duration::from_secs(120), minute, 9)), Some(wanted));
    assert_eq!(text(ends(at(0), at(1), minute, 1)), Some(vec!["03:01:00".to_owned()]), "a whole one");
    assert_eq!(text(ends(at(0), at(3), minute, 2)), None);
    assert_eq!(text(ends(at(0), at(3), Duration::ZERO, 2)), None);
    for (hours, seconds) in [(1, 300), (24, 3_600), (168, 21_600), (24 * 30, 86_400), (24 * 9_000, 2_592_000)] {
        assert_eq!(usual_bucket(Duration::from_secs(hours * HOUR)), Duration::from_secs(seconds), "{hours} h");
    }
}
