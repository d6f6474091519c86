//! Any ladder, any script, many requests over invented hours: what a ladder promises is looked at in each of them.
//!
//! The driver is the real one, down to the bytes that it reads; only the sockets and the time are invented. A rule is
//! asked where the request stands: before each exchange against the state of that very moment, and at the end against
//! the report, the log and the script.

mod draw;
mod replies;
mod rules;

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::sync::watch;

use super::process::{Process, Wish};
use super::pure::all;
use crate::catalog::{Catalog, Wire};
use crate::classify::Classifier;
use crate::clock::{Clock, Invented, Rng};
use crate::config::{self, Config};
use crate::domain::{AttemptKind, AttemptRecord, ChatRequest, Deployment, LadderName, Message, Redactor, Role, Secret};
use crate::ladder::Directives;
use crate::rehearsal::{Case, Script, Voices};
use crate::route::{ConsumerGone, FallbackStore, Observer};
use crate::store::{LogFilter, SqliteStore, Store};
use draw::{Draw, Question, draws};
use rules::{Promised, Retries, Sent, Trace};

/// One night under way.
struct Night<'a> {
    draw: &'a Draw,
    config: Config,
    voices: Voices,
    store: FallbackStore<SqliteStore>,
    time: &'static Invented,
    classifier: &'a Classifier,
    promised: Promised,
    retries: RefCell<Retries>,
}

impl<'a> Night<'a> {
    fn fall(draw: &'a Draw, classifier: &'a Classifier, catalog: &Catalog) -> Self {
        let time = Invented::begin("2026-08-23T03:00:00Z".parse().expect("a time"));
        let mut voices = Voices::new(time);
        for (at, part) in draw.parts.iter().enumerate() {
            let case = |(key, replies): (usize, &Vec<_>)| Case {
                key: Some(draw::key(at, key)),
                replies: replies.clone(),
                ..Case::default()
            };
            let script = Script { replies: Vec::new(), cases: part.replies.iter().enumerate().map(case).collect() };
            voices.add(draw::NAMES[at], Wire::ALL[part.wire], script);
        }
        let text = draw.config();
        let config = config::parse(&text, Path::new("night.toml"), catalog.clone());
        let config = config.unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
        let promised = Promised::of(draw, &config);
        let store = FallbackStore::empty();
        Self { draw, config, voices, store, time, classifier, promised, retries: RefCell::default() }
    }

    /// What is wrong with it.
    fn play(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (turn, question) in self.draw.questions.iter().enumerate() {
            self.time.jump(question.after);
            let asked = (0..question.together).map(|n| self.ask(question, format!("request-{turn}-{n}")));
            match self.time.run(all(asked)) {
                Some(told) => told.into_iter().for_each(|told| wrong.extend(told)),
                None => wrong.push("it waits for what time does not bring".to_owned()),
            }
        }
        wrong.extend(self.retries.borrow().over_budget(self.draw.retry_budget));
        wrong
    }

    async fn ask(&self, question: &Question, id: String) -> Vec<String> {
        let mut rng = Rng::new(Some(question.seed));
        let clock = Clock::of(self.time, None);
        let process = Process {
            config: &self.config,
            store: &self.store,
            transport: &self.voices,
            classifier: self.classifier,
            redactor: &Redactor::default(),
            key: &|credential| {
                let at = draw::NAMES.iter().position(|name| credential.provider == **name).unwrap_or_default();
                let number = credential.name.as_str().trim_start_matches('k').parse().expect("a number");
                Ok(Secret::new(&draw::key(at, number)))
            },
        };
        let request = ChatRequest {
            messages: vec![Message::text(Role::User, "tick ".repeat(question.words))],
            stream: question.stream,
            schema: question.schema.then(|| serde_json::json!({"type": "object"})),
            max_tokens: question.max_tokens,
            ..ChatRequest::default()
        };
        let ladder = LadderName::new("main");
        let wish = Wish { id: &id, ladder: &ladder, request, directives: Directives::default() };
        let job = process.job(wish, clock, &mut rng).expect("a job");
        let (_sender, stop) = watch::channel(false);
        let mut eye = Eye { night: self, clock, id: &id, trace: Trace::default() };
        let report = process.send(&job, clock, &mut rng, stop, &mut eye).await.expect("memory can be used");
        let filter = LogFilter { id: Some(job.id.clone()), ..LogFilter::default() };
        let trace = Trace {
            logged: self.store.requests(&filter).expect("memory can be read"),
            shows: job.shows_pieces(),
            ..eye.trace
        };
        let mut wrong = self.promised.broken(&trace, &report);
        wrong.iter_mut().for_each(|wrong| wrong.push_str(&format!(" in {id}")));
        self.retries.borrow_mut().add(&trace);
        wrong
    }
}

/// Watches one request.
struct Eye<'a> {
    night: &'a Night<'a>,
    clock: Clock,
    id: &'a str,
    trace: Trace,
}

impl Observer for Eye<'_> {
    fn asking(&mut self, deployment: &Deployment, _: usize, kind: AttemptKind) {
        let (night, now) = (self.night, self.clock.now());
        let holds = night.store.holds().expect("memory can be read");
        let target = night.config.target(deployment);
        let held = night.promised.kept_back(&holds, &target, self.id, now);
        let (deployment, elapsed) = (deployment.clone(), self.clock.elapsed());
        self.trace.sent.push(Sent { deployment, kind, at: now, elapsed, held });
    }

    fn asked(&mut self, attempt: &AttemptRecord) {
        self.trace.ended.push((attempt.deployment.clone(), attempt.class, self.clock.now()));
    }

    fn text(&mut self, piece: &str) -> Result<(), ConsumerGone> {
        match self.trace.shown.last_mut() {
            Some(last) => last.push_str(piece),
            None => self.trace.shown.push(piece.to_owned()),
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.trace.shown.push(String::new());
    }
}

/// Plays so many nights, prints what was in them, and fails with the smallest one that breaks a promise.
fn play_nights(cases: u32) {
    let (classifier, catalog) = (Classifier::new(Vec::new()), draw::catalog());
    let tally = RefCell::new((0_u64, 0_u64, 0_u64, Duration::ZERO));
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let played = TestRunner::new(config).run(&draws(), |draw| {
        let night = Night::fall(&draw, &classifier, &catalog);
        let (watch, before) = (Clock::new(None).stopwatch(), night.time.passed());
        let wrong = night.play();
        let log = night.store.requests(&LogFilter { limit: u32::MAX as _, ..LogFilter::default() }).expect("a log");
        let mut tally = tally.borrow_mut();
        tally.0 += log.len() as u64;
        tally.1 += log.iter().map(|row| row.attempts.len() as u64).sum::<u64>();
        tally.2 += (night.time.passed() - before).as_secs();
        tally.3 += watch.elapsed();
        prop_assert!(wrong.is_empty(), "{wrong:#?}\n{}", draw.config());
        Ok(())
    });
    let (requests, attempts, seconds, took) = *tally.borrow();
    let each_second = requests as f64 / took.as_secs_f64();
    println!(
        "{requests} requests, {attempts} exchanges, {} invented hours, {each_second:.0} requests a second",
        seconds / 3600
    );
    if let Err(error) = played {
        panic!("{error}");
    }
    assert!(attempts > u64::from(cases), "nobody was asked: nothing is tried");
}

#[test]
fn any_ladder_keeps_its_promises_on_the_pure_machine() {
    play_nights(256);
}

/// The same for as long as one likes: `cargo test --release many_pure_nights -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn many_pure_nights() {
    play_nights(20_000);
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).expect("a time")
}
