//! The library as a user of the crate has it: with the names at its root and nothing else.
#![cfg(test)]

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmr::rehearsal::{Provider, Reply};
use llmr::words::{Part, Provenance};
use llmr::{
    Admission, Attempt, Call, Catalog, Class, Classifier, Classify, Ending, Error, Evidence, Failure, Message,
    NobodyReads, Outcome, Request, Role, Router, RouterBuilder, Timestamp, TransportFault, Watcher,
};
use serde_json::json;

use crate::by_hand::ByHand;
use crate::stage::{Stage, openai};

const QUOTA: &str = r#"{"error": {"message": "Quota exceeded. Please try again in 3h."}}"#;

/// A router over these providers, in one ladder, whose state nobody else sees.
pub(crate) fn over(providers: &[(&str, &Provider)]) -> RouterBuilder {
    Router::builder().config_text(text(providers)).state_in_memory().env(|_| None)
}

pub(crate) fn text(providers: &[(&str, &Provider)]) -> String {
    let declare = |(name, provider): &(&str, &Provider)| {
        format!("{name} = {{ base_url = {:?}, wire = {:?} }}\n", provider.base_url(), provider.wire().as_str())
    };
    let declared: String = providers.iter().map(declare).collect();
    let steps: Vec<String> = providers.iter().map(|(name, _)| format!("{name}/m")).collect();
    format!("[providers]\n{declared}[ladders.main]\nsteps = {steps:?}\n[limits]\nretries = 0\n")
}

/// What a user may count on at compile time.
#[test]
fn a_router_can_be_shared_and_its_futures_sent() {
    fn is_handle<T: Clone + Send + Sync + 'static>() {}
    fn is_sent<T: Send>(_: T) {}
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_handle::<Router>();
    is_error::<Error>();
    let lab = openai(Reply::answer("yes"));
    let router = over(&[("lab", &lab)]).build().expect("a router");
    is_sent(router.chat("?"));
    is_sent(router.plan(Request::new("?")));
    is_sent(router.guard("lab/m"));
    is_sent(router.session().ask("?"));
    assert_eq!(lab.hits(), 0, "a future that nobody polls does nothing");
}

#[tokio::test]
async fn the_trail_says_who_failed_why_and_until_when() {
    let (first, second) = (openai(Reply::status(429, QUOTA)), openai(Reply::answer("Hello.")));
    let router = over(&[("first", &first), ("second", &second)]).build().expect("a router");
    let answered = router.chat("?").await.expect("an answer");
    assert_eq!((answered.text.as_str(), answered.step, answered.attempts.len()), ("Hello.", 1, 2));
    let failed = answered.failures().next().expect("a failure");
    assert_eq!((failed.class, failed.status), (Some(Class::QuotaExhausted), Some(429)));
    assert!(failed.held_until.is_some() && failed.evidence.as_deref().is_some_and(|words| words.contains("Quota")));

    let plan = router.plan("?").await.expect("a plan");
    assert_eq!(plan.order.iter().map(|planned| planned.step).collect::<Vec<_>>(), [1]);
    assert_eq!((plan.skipped[0].word, plan.skipped[0].until), ("quota_exhausted", plan.retry_at()));
    assert_eq!((first.hits(), second.hits()), (1, 1), "a plan sends nothing");

    let error = router.chat(Request::new("?").pin("first")).await.expect_err("no answer");
    let why = error.unanswered().expect("the trail");
    assert_eq!((why.ending, why.attempts.len(), first.hits()), (Ending::Exhausted, 0, 1));
    let distance = error.retry_at().expect("a time").duration_since(plan.now).as_secs();
    assert!((10_700..=10_900).contains(&distance), "{distance} s");
}

#[tokio::test]
async fn what_a_request_wants_reaches_the_provider() {
    let lab = openai(Reply::answer("{\"n\": 3}"));
    let router = over(&[("lab", &lab)]).build().expect("a router");
    let request = Request::conversation([Message::text(Role::User, "One?"), Message::text(Role::Assistant, "1")])
        .message(Message::text(Role::User, "And three?"))
        .system("Count.")
        .to("lab/m")
        .schema(json!({"type": "object", "required": ["n"]}))
        .max_tokens(7)
        .temperature(0.5)
        .option("seed", 4)
        .deadline(Duration::from_secs(20));
    let answered = router.chat(request).await.expect("an answer");
    assert_eq!(answered.parsed, Some(json!({"n": 3})));
    assert_eq!(answered.message().parts, [Part::Text("{\"n\": 3}".to_owned())]);
    let body = lab.requests()[0].body.clone();
    assert!(body["messages"][0]["content"].as_str().is_some_and(|system| system.starts_with("Count.")), "{body}");
    assert_eq!((&body["seed"], &body["max_tokens"], &body["temperature"]), (&json!(4), &json!(7), &json!(0.5)));
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(4));
}

#[test]
fn what_is_wrong_is_told_before_anything_is_sent() {
    let wrong = Router::builder().config_text("[limits]\nattemps = 3\nwait = 5\n").state_in_memory().build();
    let Err(Error::Config { problems }) = wrong else { panic!("{wrong:?}") };
    assert!(problems.len() >= 2 && problems[0].contains("attempts"), "{problems:?}");

    let home = tempfile::tempdir().expect("a directory");
    let bare = home.path().to_str().expect("a plain path").to_owned();
    let nowhere = Router::builder().env(move |name| (name == "HOME").then(|| bare.clone())).state_in_memory().build();
    // A server of this machine may answer; then there is a ladder after all.
    assert!(matches!(nowhere, Err(Error::NoConfig) | Ok(_)), "{nowhere:?}");

    let folder = Router::builder().config_text("[ladders.main]\nsteps = [\"ollama/m\"]\n").state_file(home.path());
    assert!(matches!(folder.build(), Err(Error::State { .. })));
}

#[tokio::test]
async fn who_is_not_known_or_has_no_key_is_named() {
    let lab = openai(Reply::answer("yes"));
    let config = format!("{}[[providers.lab.credentials]]\nname = \"team\"\nkey = {{ env = \"LAB_KEY\" }}\n", {
        let declared = format!("[providers.lab]\nbase_url = {:?}\nwire = \"openai\"\n", lab.base_url());
        format!("[ladders.main]\nsteps = [\"lab/m\"]\n{declared}")
    });
    let build = |key: Option<&'static str>| {
        let env = move |name: &str| key.filter(|_| name == "LAB_KEY").map(str::to_owned);
        Router::builder().config_text(config.clone()).state_in_memory().env(env).build().expect("a router")
    };
    let error = build(None).chat("?").await.expect_err("no key");
    let Error::NoKey { steps, .. } = &error else { panic!("{error:?}") };
    assert!(steps[0].1.contains("LAB_KEY") && error.to_string().contains("lab/m@team"), "{error}");

    let router = build(Some("sk-of-the-lab"));
    router.chat("?").await.expect("an answer");
    assert_eq!(lab.requests()[0].key(), Some("sk-of-the-lab"));
    for (to, named) in [("mian", "main"), ("lap/m", "lab"), ("lab/m@tame", "team")] {
        let error = router.chat(Request::new("?").to(to)).await.expect_err("unknown");
        assert!(matches!(&error, Error::Unknown { message } if message.contains(named)), "{error}");
    }
    let error = router.chat(Request::new("?").exclude("lap")).await.expect_err("unknown");
    assert!(matches!(error, Error::Unknown { .. }), "{error}");
    assert_eq!(lab.hits(), 1);
}

#[tokio::test]
async fn own_calls_and_requests_and_the_program_obey_one_state() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::with(&text(&[("lab", &lab)]));
    let build = || {
        let builder = Router::builder().config_file(stage.path("llmr.toml")).state_file(stage.state());
        builder.env(|_| None).clock(ByHand::default()).build().expect("a router")
    };
    let (ours, theirs) = (build(), build());
    let Admission::Go(pass) = ours.guard("lab/m").await.expect("an answer") else { panic!("held") };
    assert!(!pass.is_probe());
    let outcome = Outcome::reply(401, [("x-request-id", "7")], r#"{"error": {"message": "Invalid API key"}}"#);
    let recorded = ours.record_outcome(pass, outcome).await.expect("recorded");
    assert_eq!(recorded.class, Some(Class::Auth));

    let error = theirs.chat("?").await.expect_err("held");
    assert_eq!((error.unanswered().map(|why| why.ending), lab.hits()), (Some(Ending::NeedsPerson), 0));
    let Admission::Held(held) = theirs.guard(Call::to("lab/m").tokens(5)).await.expect("an answer") else {
        panic!("free")
    };
    assert!(held.needs_person && held.class == Some(Class::Auth), "{held:?}");
    // The state keeps milliseconds.
    assert_eq!(held.until.map(Timestamp::as_millisecond), recorded.held_until.map(Timestamp::as_millisecond));

    stage.run(&["guard", "lab/m"]).exits(4);
    let log = stage.json(&["log", "--json", recorded.request_id.as_str()]);
    assert_eq!(log["attempts"][0]["class"], "auth");
    stage.run(&["reset", "lab", "-y"]).exits(0);
    theirs.chat("?").await.expect("free again");
}

#[tokio::test]
async fn of_a_hold_that_wants_a_probe_one_call_passes_and_its_answer_lifts_it() {
    let lab = openai(vec![Reply::status(500, "oops"), Reply::status(500, "oops"), Reply::status(500, "oops")]);
    let time = Arc::new(ByHand::default());
    let router = over(&[("lab", &lab)]).clock(Arc::clone(&time)).build().expect("a router");
    for _ in 0..3 {
        router.chat("?").await.expect_err("an error");
    }
    assert!(matches!(router.guard("lab/m").await, Ok(Admission::Held(_))));
    time.pass(Duration::from_secs(60));
    let Ok(Admission::Go(probe)) = router.guard("lab/m").await else { panic!("held") };
    assert!(probe.is_probe());
    assert!(matches!(router.guard("lab/m").await, Ok(Admission::Held(_))), "another one is under way");
    let outcome = Outcome::answered().tokens(10, 20).latency(Duration::from_secs(1));
    let recorded = router.record_outcome(probe, outcome).await.expect("recorded");
    assert_eq!((recorded.class, recorded.held_until), (None, None));
    let Ok(Admission::Go(pass)) = router.guard("lab/m").await else { panic!("held") };
    assert!(!pass.is_probe());
    let recorded = router.record_outcome(pass, Outcome::fault(TransportFault::Refused)).await.expect("recorded");
    assert_eq!(recorded.class, Some(Class::Network));
    assert_eq!(lab.hits(), 3);
}

#[tokio::test]
async fn requests_run_side_by_side_and_one_that_is_dropped_is_nobodys_fault() {
    let (stuck, lab) = (openai(Reply::Hang), openai(Reply::answer("Hello.")));
    let stage = Stage::with(&text(&[("stuck", &stuck), ("lab", &lab)]));
    let builder = Router::builder().config_file(stage.path("llmr.toml")).state_file(stage.state());
    let router = builder.env(|_| None).clock(ByHand::default()).build().expect("a router");
    {
        let hangs = router.chat(Request::new("?").to("stuck/m"));
        let mut hangs = std::pin::pin!(hangs);
        tokio::select! {
            biased;
            ended = &mut hangs => panic!("{ended:?}"),
            answered = router.chat(Request::new("?").to("lab/m")) => assert_eq!(answered.expect("an answer").text, "Hello."),
        }
        // Dropped before it was sent it would leave nothing behind.
        while stuck.hits() == 0 {
            tokio::select! {
                biased;
                ended = &mut hangs => panic!("{ended:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    // The thread of the router ends with it, and it writes down what was given up.
    drop(router);
    let log = stage.run(&["log", "--json"]).exits(0).out;
    let stopped = log.lines().find(|line| line.contains("stuck/m")).expect("the request");
    assert!(stopped.contains("\"interrupted\""), "{stopped}");
    let status = stage.json(&["status", "--json"]);
    assert_eq!(status["holds"], json!([]));
}

#[tokio::test]
async fn a_state_file_that_failed_is_used_again_once_it_can_be() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::with(&text(&[("lab", &lab)]));
    let time = Arc::new(ByHand::default());
    let builder = Router::builder().config_file(stage.path("llmr.toml")).state_file(stage.state());
    let router = builder.env(|_| None).clock(Arc::clone(&time)).build().expect("a router");
    let logged = || stage.run(&["log", "--json"]).exits(0).out.lines().count();
    router.chat("1").await.expect("an answer");
    let rename = |from: &str, to: &str| stage.sql().execute(&format!("ALTER TABLE {from} RENAME TO {to}"), []);
    rename("circuits", "gone").expect("renamed");
    router.chat("2").await.expect("an answer all the same");
    rename("gone", "circuits").expect("renamed");
    router.chat("3").await.expect("an answer");
    assert_eq!(logged(), 1, "memory keeps what the file could not take");
    time.pass(Duration::from_secs(60));
    router.chat("4").await.expect("an answer");
    assert_eq!((logged(), lab.hits()), (2, 4));
}

/// Notes all that it is told.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, what: String) {
        self.0.lock().expect("no panic").push(what);
    }
}

impl Watcher for Notes {
    fn asking(&mut self, deployment: &llmr::Deployment, step: usize) {
        self.note(format!("{step} {deployment}"));
    }

    fn asked(&mut self, attempt: &Attempt) {
        self.note(attempt.class.map_or("answered", Class::as_str).to_owned());
    }

    fn text(&mut self, piece: &str) -> Result<(), NobodyReads> {
        self.note(format!("+{piece}"));
        Ok(())
    }

    fn restart(&mut self) {
        self.note("restart".to_owned());
    }
}

#[tokio::test]
async fn a_watcher_gets_words_as_they_come_and_hears_of_the_restart() {
    let broken = openai(Reply::CutStream { chunks: vec!["Hel".to_owned()] });
    let whole = openai(Reply::stream(["Hello ", "there."]));
    let router = over(&[("broken", &broken), ("whole", &whole)]).build().expect("a router");
    let notes = Notes::default();
    let answered = router.chat_with(Request::new("?").stream(), notes.clone()).await.expect("an answer");
    assert_eq!(answered.text, "Hello there.");
    let heard = notes.0.lock().expect("no panic").join(",");
    let words = heard.replace("+Hello ,+there.", "+Hello there.");
    assert_eq!(words, "0 broken/m,+Hel,network,restart,1 whole/m,+Hello there.,answered");
}

/// Calls every failure a rate limit of a minute, and stumbles over one word.
struct Odd(Classifier);

impl Classify for Odd {
    fn classify(&self, evidence: &Evidence, catalog: &Catalog, now: Timestamp) -> Failure {
        assert!(!evidence.body.contains("stumble"), "it stumbles");
        let usual = self.0.classify(evidence, catalog, now);
        let mut failure = Failure::new(Class::RateLimit, usual.scope, "odd", usual.evidence);
        failure.retry_at = now.checked_add(Duration::from_secs(60)).ok();
        failure.provenance = Provenance::Fact;
        failure
    }
}

#[tokio::test]
async fn a_classifier_of_ones_own_decides_and_its_panic_ends_one_request() {
    let lab = openai(vec![Reply::status(500, "stumble"), Reply::status(500, "other"), Reply::answer("never")]);
    let router = over(&[("lab", &lab)]).classifier(Odd).build().expect("a router");
    assert!(matches!(router.chat("?").await, Err(Error::BrokenOff)));
    let error = router.chat("?").await.expect_err("a failure");
    let failed = &error.unanswered().expect("the trail").attempts[0];
    assert_eq!((failed.class, failed.rule.as_deref()), (Some(Class::RateLimit), Some("odd")));
    assert!(matches!(router.guard("lab/m").await, Ok(Admission::Held(_))));
}

#[tokio::test]
async fn a_secret_that_is_named_stands_in_no_evidence() {
    let lab = openai(Reply::status(400, r#"{"error": {"message": "no such tenant: blue-heron-4711"}}"#));
    let router = over(&[("lab", &lab)]).redact("blue-heron-4711").build().expect("a router");
    let error = router.chat("?").await.expect_err("a failure");
    let told = format!("{error} {:?}", error.unanswered());
    assert!(told.contains("no such tenant") && !told.contains("heron"), "{told}");
}

#[tokio::test]
async fn a_question_that_nobody_answered_is_no_part_of_the_conversation() {
    let lab = openai(vec![Reply::answer("one"), Reply::status(400, "no"), Reply::answer("three")]);
    let router = over(&[("lab", &lab)]).build().expect("a router");
    let mut session = router.session();
    session.ask("1").await.expect("an answer");
    session.ask("2").await.expect_err("none");
    session.ask("3").await.expect("an answer");
    let said: Vec<String> = session.turns().iter().map(|turn| turn.message.words()).collect();
    assert_eq!(said, ["1", "one", "3", "three"]);
    assert_eq!(session.turns()[3].from.as_ref().map(ToString::to_string).as_deref(), Some("lab/m"));
    let last = lab.requests().pop().expect("a request");
    assert_eq!(last.body["messages"].as_array().map(Vec::len), Some(3));
}

/// Runs an example as a user would.
fn example(name: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_llmr")).with_file_name("examples").join(name);
    let told = Command::new(&program).env_clear().output();
    let told = told.unwrap_or_else(|error| panic!("{}: {error}; `cargo build --examples`", program.display()));
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    String::from_utf8(told.stdout).expect("text")
}

#[test]
fn the_examples_say_what_they_should() {
    assert_eq!(
        example("ask"),
        "Rayleigh scattering.\n  cloud/large quota_exhausted\n  lab/small answered\n\
         exhausted: every step is resting or failed just now\n  asked lab/small: overloaded\n  \
         passed over cloud/large: quota_exhausted (quarantine)\nask again when the first returns\n\
         the cloud was asked 1 time, the lab 2 times\n"
    );
    assert_eq!(
        example("own_calls"),
        "1: may call lab/small\n1: it was rate_limit\n\
         2: not now, rate_limit cooldown: Rate limit reached for requests per minute; known as a fact\n\
         2: asking again helps at a known time: true\n"
    );
    assert_eq!(example("own_classifier"), "overloaded by house.batch\nauth, as usual\n");
    let clock = example("own_clock");
    assert!(clock.ends_with("1970-01-02T00:00:00Z: Good morning.\nasked 2 times\n"), "{clock}");
    assert_eq!(
        example("conversation"),
        "Booked for 8. (tools: 1)\nyou: A table for two tonight?\nsecond/small: Booked for 8.\nyou: Where?\n\
         second/small: At the Tasca.\nbooked 1 time\n"
    );
}
