//! What every backend keeps beside holds, usage and the log.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;

use super::contract::{at, attempt, on_both, request};
use super::{Batch, Claim, Claiming, OpenOptions, SqliteStore, Store};
use crate::domain::{
    AttemptKind, AttemptRecord, Class, Deployment, GivenUp, KeptAnswer, LadderName, Prefix, RequestId, RequestRecord,
    Usage,
};
use crate::policy::{About, Finding, TrackRecord};

fn id(text: &str) -> RequestId {
    RequestId::new(text)
}

#[test]
fn the_budget_grants_so_many_retries_and_counts_none_that_it_denied() {
    on_both(|store| {
        let take = |seconds, budget| store.take_retry(&id("r"), at(seconds), at(seconds - 60), budget).expect("told");
        let granted: Vec<bool> = [0, 1, 2, 3].map(|seconds| take(seconds, 2)).to_vec();
        assert_eq!(granted, [true, true, false, false]);
        assert!(!take(60, 2), "the first is just a minute old");
        assert!(take(61, 2));
        assert!(!take(61, 2));
        assert!(!take(9999, 0));
    });
}

#[test]
fn retries_that_a_clock_ran_ahead_for_are_not_counted_for_ever() {
    on_both(|store| {
        let take = |seconds| store.take_retry(&id("r"), at(seconds), at(seconds - 60), 1).expect("told");
        assert!(take(100_000));
        assert!(take(0), "the clock was put right");
        assert!(!take(-30), "a clock that is behind a little still shares the budget");
    });
}

#[test]
fn of_many_that_want_the_last_retries_each_is_granted_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("state.db");
    SqliteStore::open(&path, OpenOptions::default()).expect("a store");
    let granted = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let store = SqliteStore::open(&path, OpenOptions::default()).expect("a store");
                for _ in 0..5 {
                    let took = store.take_retry(&id("r"), at(0), at(-60), 13).expect("told");
                    granted.fetch_add(u32::from(took), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(granted.into_inner(), 13);
}

#[test]
fn an_id_is_taken_once_and_again_only_when_its_process_must_be_dead() {
    on_both(|store| {
        let claim_for = |name: &str, asked: &str, seconds: i64, span: i64| {
            let (id, ladder) = (id(name), "main".into());
            let wish = Claiming { id: &id, ladder: &ladder, asked, now: at(seconds), until: at(seconds + span) };
            store.claim_request(&wish).expect("told")
        };
        let claim = |name: &str, seconds| claim_for(name, "a prompt", seconds, 100);
        assert_eq!(claim("a", 0), Claim::Taken { attempts: 0 });
        let Claim::Known(known) = claim("a", 50) else { panic!("it is under way") };
        assert_eq!((known.outcome.as_str(), known.ladder.as_str(), known.started_at), ("unfinished", "main", at(0)));
        let attempts = vec![(id("a"), 0, attempt("groq/llama", AttemptKind::First, None, 1))];
        store.commit(&Batch { attempts, ..Batch::default() }).expect("written");
        let hasty = claim_for("a", "a prompt", 60, 1);
        assert!(matches!(hasty, Claim::Known(_)), "how long the other one takes is not for this one to say");
        assert_eq!(claim("a", 101), Claim::Taken { attempts: 1 }, "the next attempt has the next place");
        assert!(matches!(claim("a", 102), Claim::Known(_)));
        store.commit(&Batch { request: Some(request("a", 101, vec![])), ..Batch::default() }).expect("written");
        let Claim::Known(known) = claim("a", 9999) else { panic!("it has ended") };
        assert_eq!((known.outcome.as_str(), known.attempts.len()), ("answered", 1));
    });
}

#[test]
fn an_answer_is_kept_with_its_request() {
    on_both(|store| {
        let answer = KeptAnswer {
            text: "12 Uhr \u{1f55b}".to_owned(),
            reasoning: "hm".to_owned(),
            tool_calls: Some(json!([{"id": "a"}])),
            parsed: Some(json!({"time": null})),
            finish: Some("stop".to_owned()),
        };
        assert_eq!(store.answer(&id("a")).expect("read"), None);
        let batch = Batch {
            answer: Some((id("a"), answer.clone())),
            request: Some(request("a", 0, vec![])),
            ..Batch::default()
        };
        store.commit(&batch).expect("written");
        assert_eq!(store.answer(&id("a")).expect("read"), Some(answer));
    });
}

fn finding(model: &str, about: About, seconds: i64) -> Finding {
    Finding {
        provider: "lab".into(),
        model: model.into(),
        about,
        since: at(seconds),
        until: at(seconds + 100),
        evidence: "no images here".to_owned(),
        request_id: Some(id("r-1")),
    }
}

#[test]
fn findings_are_kept_by_model_and_word_until_their_time_is_over() {
    on_both(|store| {
        let images = finding("m", About::Lacks("images".to_owned()), 0);
        let findings = vec![images.clone(), finding("m", About::Window(8192), 0), finding("n", About::Window(1), 0)];
        store.commit(&Batch { findings, ..Batch::default() }).expect("written");
        let newer = finding("m", About::Window(4096), 50);
        store.commit(&Batch { findings: vec![newer.clone()], ..Batch::default() }).expect("written");
        let known = |seconds| store.findings(at(seconds)).expect("read");
        assert_eq!(known(99), [images, newer.clone(), finding("n", About::Window(1), 0)]);
        assert_eq!(known(100), [newer]);
        store.commit(&Batch { forgotten: vec![("lab".into(), "m".into())], ..Batch::default() }).expect("written");
        assert_eq!(known(99).len(), 1);
    });
}

#[test]
fn the_latest_who_served_a_prompt_comes_first() {
    on_both(|store| {
        let prefix = |digest: &str, who: &str, seconds| Prefix {
            digest: digest.to_owned(),
            deployment: who.parse().expect("a deployment"),
            at: at(seconds),
            input_tokens: Some(2000),
            cached_tokens: None,
        };
        let prefixes = vec![prefix("p", "a/m@k", 0), prefix("p", "b/m", 5), prefix("q", "c/m", 9)];
        store.commit(&Batch { prefixes, ..Batch::default() }).expect("written");
        let again = Prefix { cached_tokens: Some(1500), ..prefix("p", "a/m@k", 7) };
        store.commit(&Batch { prefixes: vec![again.clone()], ..Batch::default() }).expect("written");
        assert_eq!(store.prefixes("p", at(0)).expect("read"), [again.clone(), prefix("p", "b/m", 5)]);
        assert_eq!(store.prefixes("p", at(6)).expect("read"), [again]);
        assert_eq!(store.prefixes("x", at(0)).expect("read"), []);
    });
}

#[test]
fn what_was_given_up_says_nothing_of_the_deployment() {
    on_both(|store| {
        let given_up =
            AttemptRecord { given_up: Some(GivenUp::Outrun), ..attempt("groq/llama", AttemptKind::Hedge, None, 3) };
        store.commit(&Batch { attempts: vec![(id("a"), 0, given_up.clone())], ..Batch::default() }).expect("written");
        assert_eq!(store.health().expect("read"), []);
        assert_eq!(store.track_records(std::slice::from_ref(&given_up.deployment), None, at(0), 9).expect("read"), []);
        let logged = store.requests(&super::LogFilter::default()).expect("read");
        assert_eq!(logged[0].attempts, [given_up]);
    });
}

#[test]
fn a_track_record_is_made_of_the_latest_attempts_at_each_deployment() {
    on_both(|store| {
        let (lame, fine) = ("groq/llama@team", "lab/qwen");
        let who = |name: &str| name.parse::<Deployment>().expect("a deployment");
        let answered = |seconds, milliseconds| AttemptRecord {
            ttft: Some(Duration::from_millis(milliseconds)),
            usage: Usage { output_tokens: Some(milliseconds), ..Usage::default() },
            cost_usd: Some(0.5),
            ..attempt(lame, AttemptKind::First, None, seconds)
        };
        let attempts = [
            attempt(lame, AttemptKind::First, Some(Class::Timeout), 0),
            answered(10, 100),
            attempt(fine, AttemptKind::First, Some(Class::Auth), 15),
            answered(20, 300),
            attempt(lame, AttemptKind::First, Some(Class::InvalidOutput), 25),
            AttemptRecord { kind: AttemptKind::Repair, ..answered(26, 200) },
        ];
        let attempts = attempts.into_iter().zip(0..).map(|(attempt, place)| (id("r"), place, attempt)).collect();
        store.commit(&Batch { attempts, ..Batch::default() }).expect("written");
        let records = |names: &[&str], since, most| {
            let of: Vec<Deployment> = names.iter().map(|name| who(name)).collect();
            store.track_records(&of, None, at(since), most).expect("read")
        };
        let all = records(&[fine, "nobody/x", lame], 0, 200);
        assert_eq!(all.iter().map(|record| &record.deployment).collect::<Vec<_>>(), [&who(fine), &who(lame)]);
        let counts = |record: &TrackRecord| (record.answered, record.transient, record.failed, record.invalid);
        assert_eq!(all.iter().map(counts).collect::<Vec<_>>(), [(0, 0, 1, 0), (3, 1, 0, 1)]);
        let ms = Duration::from_millis;
        let ttft = all[1].ttft.expect("times");
        assert_eq!((ttft.median, ttft.p95, ttft.samples), (ms(200), ms(300), 3));
        assert_eq!((all[1].quality.repairs, all[1].output_tokens, all[1].cost_usd), (1, Some(200.0), Some(0.5)));
        for (since, most, counted) in [(10, 200, (3, 0, 0, 1)), (21, 200, (1, 0, 0, 1)), (0, 1, (1, 0, 0, 0))] {
            assert_eq!(
                records(&[lame], since, most).iter().map(counts).collect::<Vec<_>>(),
                [counted],
                "{since} {most}"
            );
        }
        assert_eq!(records(&[lame], 27, 200), []);
    });
}

#[test]
fn what_could_be_done_in_another_form_is_no_failure() {
    on_both(|store| {
        let who = "groq/llama".parse::<Deployment>().expect("a deployment");
        for (name, then, failed) in [("a", AttemptKind::Adjusted, 0), ("b", AttemptKind::Retry, 1)] {
            let refused = attempt("groq/llama", AttemptKind::First, Some(Class::Billing), 0);
            let attempts = vec![(id(name), 0, refused), (id(name), 1, attempt("groq/llama", then, None, 1))];
            store.commit(&Batch { attempts, ..Batch::default() }).expect("written");
            let records = store.track_records(std::slice::from_ref(&who), None, at(0), 9).expect("read");
            assert_eq!(records.first().map(|record| record.failed), Some(failed), "{then}");
        }
    });
}

#[test]
fn a_track_record_may_be_of_one_ladder_and_other_traffic_does_not_make_it_slow() {
    on_both(|store| {
        let who = "lab/qwen".parse::<Deployment>().expect("a deployment");
        let at_once = |class, second| attempt("lab/qwen", AttemptKind::First, class, second);
        for (name, ladder, seconds, class) in
            [("m", "main", 0..2, None), ("o", "other", 2..9, Some(Class::InvalidOutput)), ("l", "main", 9..10, None)]
        {
            let attempts = seconds.clone().map(|second| at_once(class, second)).collect();
            let request = RequestRecord { ladder: ladder.into(), attempts, ..request(name, seconds.start, Vec::new()) };
            store.commit(&Batch { request: Some(request), ..Batch::default() }).expect("written");
        }
        let counts = |ladder: Option<&str>, most| {
            let ladder = ladder.map(LadderName::from);
            let records = store.track_records(std::slice::from_ref(&who), ladder.as_ref(), at(0), most).expect("read");
            records.first().map_or((0, 0), |record| (record.answered, record.invalid))
        };
        assert_eq!([counts(None, 200), counts(None, 2)], [(3, 7), (1, 1)]);
        assert_eq!(
            [counts(Some("main"), 200), counts(Some("other"), 200), counts(Some("no"), 200)],
            [(3, 0), (0, 7), (0, 0)]
        );
        assert_eq!(counts(Some("main"), 5), (3, 0), "of the latest ten");
        assert_eq!(counts(Some("main"), 4), (1, 0), "of the latest eight");
        assert_eq!(counts(Some("other"), 1), (0, 1));
    });
}
