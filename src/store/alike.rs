//! The backends must not differ: any story leads both to the same answers.

use proptest::prelude::*;

use super::contract::{at, attempt, change, circuit, cooldown, quarantine, request};
use super::contract_cascades::cascade;
use super::{Accounts, Batch, LogFilter, MemoryStore, OpenOptions, SqliteStore, Store, StoreError};
use crate::domain::{AttemptKind, AttemptRecord, Class, LadderName, RequestId};
use crate::policy::{CascadeChange, Change, Family, HoldRecord};

fn record() -> impl Strategy<Value = HoldRecord> {
    (0..6, 0..4_u32).prop_map(|(which, number)| match which {
        0 => cooldown("llama", number),
        1 => cooldown("qwen", number),
        2 => quarantine(),
        3 => circuit(Family::Auth, number),
        4 => circuit(Family::Operator, number),
        _ => circuit(Family::Transient, number),
    })
}

/// Mostly a version that may be there, sometimes one that never is.
fn any_change() -> impl Strategy<Value = Change> {
    let expected = prop_oneof![Just(None), (1..4_i64).prop_map(Some), Just(Some(99))];
    (expected, record(), prop::bool::weighted(0.8)).prop_map(|(expected, record, keep)| {
        let change = change(expected, record);
        if keep { change } else { Change { record: None, ..change } }
    })
}

fn any_cascade() -> impl Strategy<Value = CascadeChange> {
    let expected = prop_oneof![Just(None), (1..4_i64).prop_map(Some)];
    let ladder = prop::sample::select(vec!["main", "fast"]);
    (expected, ladder, prop::option::weighted(0.8, 0..4_u32)).prop_map(|(expected, ladder, streak)| CascadeChange {
        ladder: ladder.into(),
        expected,
        cascade: streak.map(|streak| cascade(ladder, streak)),
    })
}

fn any_attempt() -> impl Strategy<Value = AttemptRecord> {
    let who = prop::sample::select(vec!["groq/llama@team", "groq/llama", "lab/qwen"]);
    let kind = prop::sample::select(AttemptKind::ALL);
    let class = prop::option::of(prop::sample::select(&[Class::Timeout, Class::Auth, Class::RateLimit][..]));
    (who, kind, class, 0..50_i64).prop_map(|(who, kind, class, seconds)| attempt(who, kind, class, seconds))
}

fn id() -> impl Strategy<Value = RequestId> {
    prop::sample::select(vec!["r-1", "r-2", "r-3"]).prop_map(RequestId::from)
}

fn batch() -> impl Strategy<Value = Batch> {
    let attempts = prop::collection::vec((id(), 0..3_u32, any_attempt()), 0..3);
    let request = (id(), 0..50_i64, prop::collection::vec(any_attempt(), 0..3))
        .prop_map(|(id, seconds, attempts)| request(id.as_str(), seconds, attempts));
    let cascades = prop::collection::vec(any_cascade(), 0..2);
    (prop::collection::vec(any_change(), 0..3), cascades, attempts, prop::option::weighted(0.3, request)).prop_map(
        |(changes, cascades, attempts, request)| Batch { changes, cascades, attempts, request, ..Batch::default() },
    )
}

fn filter() -> impl Strategy<Value = LogFilter> {
    let some = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(prop::sample::select(words), 1..3)]
    };
    let time = || prop::option::weighted(0.3, 0..50_i64);
    let ended = some(&["answered", "exhausted", "unfinished"]);
    let conditions = (
        prop::option::weighted(0.2, id()),
        some(&["timeout", "auth"]),
        some(&["groq", "groq/llama", "groq/llama@team", "@team", "lab@team", "lab/qwen"]),
        prop::option::weighted(0.3, prop::sample::select(vec!["main", "", "other"])),
        ended,
    );
    (conditions, time(), time(), prop_oneof![Just(usize::MAX), 0..3_usize], prop::option::of(0..6_i64)).prop_map(
        |((id, classes, asked, ladder, outcomes), since, until, limit, after)| LogFilter {
            id,
            classes: parsed(&classes),
            since: since.map(at),
            until: until.map(at),
            asked: parsed(&asked),
            ladder: ladder.map(Into::into),
            outcomes: parsed(&outcomes),
            limit,
            after,
        },
    )
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(words: &[String]) -> Vec<T> {
    words.iter().map(|word| word.parse().expect("a good word")).collect()
}

/// The answer, with only the kind of an error.
fn kind<T>(answer: Result<T, StoreError>) -> Result<T, String> {
    answer.map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_backends_give_the_same_answers(
        batches in prop::collection::vec(batch(), 1..12),
        filters in prop::collection::vec(filter(), 6),
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let file = SqliteStore::open(&directory.path().join("state.db"), OpenOptions::default()).expect("a store");
        let memory = MemoryStore::new();
        for batch in &batches {
            prop_assert_eq!(kind(file.commit(batch)), kind(memory.commit(batch)), "{:?}", batch);
            let (of_file, of_memory) = (file.snapshot(&Accounts::None), memory.snapshot(&Accounts::None));
            prop_assert_eq!(kind(of_file), kind(of_memory));
        }
        prop_assert_eq!(kind(file.health()), kind(memory.health()));
        let asked = ["groq/llama@team", "groq/llama", "lab/qwen"].map(|who| who.parse().expect("a deployment"));
        for (since, ladder) in [(0, None), (25, None), (0, Some("main")), (0, Some(""))] {
            let ladder = ladder.map(LadderName::from);
            let of = |store: &dyn Store| kind(store.track_records(&asked, ladder.as_ref(), at(since), 200));
            prop_assert_eq!(of(&file), of(&memory));
        }
        for filter in filters.iter().chain([&LogFilter::default()]) {
            prop_assert_eq!(kind(file.log(filter)), kind(memory.log(filter)), "{:?}", filter);
        }
    }
}
