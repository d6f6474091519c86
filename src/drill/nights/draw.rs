//! Any ladder with any providers, and any requests for it.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::catalog::{Catalog, Wire};
use crate::rehearsal::{Reply, Voices};

use super::replies::reply;

/// Providers that the catalogue knows, and one that it does not.
pub(super) const NAMES: [&str; 4] = ["openai", "anthropic", "gemini", "lab"];

/// What each of them has.
const MODELS: [&str; 2] = ["gpt-5-nano", "m"];

/// One night.
#[derive(Debug, Clone)]
pub(super) struct Draw {
    pub(super) parts: Vec<Part>,
    /// The ladder, then its three chains.
    ladders: Vec<Vec<Step>>,
    chained: [bool; 3],
    last_resort: Option<Step>,
    strategy: &'static str,
    pub(super) stream: &'static str,
    on_unknown: &'static str,
    on_may_have_run: &'static str,
    pub(super) attempts: u32,
    retries: Option<u32>,
    pub(super) retry_budget: u32,
    pub(super) deadline: Duration,
    wait: Duration,
    hedge: Option<Duration>,
    timers: (Duration, Duration, Duration),
    pub(super) questions: Vec<Question>,
}

/// One provider.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) wire: usize,
    /// Whether its keys share one account.
    shares: bool,
    /// What is said to each key.
    pub(super) replies: Vec<Vec<Reply>>,
}

/// A step: provider, model and key, each taken modulo what there is.
type Step = (usize, usize, usize);

/// Requests at one moment.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// After the ones before.
    pub(super) after: Duration,
    pub(super) together: usize,
    pub(super) stream: bool,
    pub(super) schema: bool,
    pub(super) words: usize,
    pub(super) max_tokens: Option<u32>,
    pub(super) seed: u64,
}

/// What the catalogue knows of the providers.
pub(super) fn catalog() -> Catalog {
    Catalog::builtin_of(|name| NAMES.contains(&name)).expect("the catalogue")
}

/// The value of a key.
pub(super) fn key(part: usize, key: usize) -> String {
    format!("key-of-{}-{key}", NAMES[part])
}

fn between(from: u64, to: u64) -> impl Strategy<Value = Duration> {
    (from..to).prop_map(Duration::from_millis)
}

fn question() -> impl Strategy<Value = Question> {
    let after = prop_oneof![3 => between(0, 5000), 2 => between(0, 600_000), 1 => between(0, 21_600_000)];
    let together = prop_oneof![6 => Just(1_usize), 1 => 2..4_usize];
    let (words, max) = (prop_oneof![40 => 1..9_usize, 1 => 2000..9000_usize], option::of(1..5000_u32));
    (after, together, any::<bool>(), prop::bool::weighted(0.1), words, max, any::<u64>()).prop_map(
        |(after, together, stream, schema, words, max_tokens, seed)| Question {
            after,
            together,
            stream,
            schema,
            words,
            max_tokens,
            seed,
        },
    )
}

fn part() -> impl Strategy<Value = Part> {
    (0..Wire::ALL.len(), any::<bool>(), vec(vec(reply(), 1..8), 1..4)).prop_map(|(wire, shares, replies)| Part {
        wire,
        shares,
        replies,
    })
}

/// Any night.
pub(super) fn draws() -> impl Strategy<Value = Draw> {
    let step = || (0..NAMES.len(), 0..MODELS.len(), 0..3_usize);
    let ladders = (vec(step(), 1..7), vec(vec(step(), 1..3), 3))
        .prop_map(|(main, chains)| std::iter::once(main).chain(chains).collect::<Vec<_>>());
    let words = (
        prop_oneof![2 => Just("ordered"), 1 => Just("shuffle"), 1 => Just("latency"), 1 => Just("least_busy")],
        prop_oneof![Just("fail"), Just("buffer"), Just("restart")],
        prop_oneof![Just("stop"), Just("next")],
        prop_oneof![Just("retry"), Just("next"), Just("stop")],
    );
    let numbers = (1..8_u32, option::of(0..4_u32), 0..5_u32, between(1000, 60_000));
    let times = (
        prop_oneof![1 => Just(Duration::ZERO), 1 => between(1, 30_000)],
        option::weighted(0.3, between(1, 3000)),
        (between(100, 20_000), between(100, 20_000), between(500, 30_000)),
    );
    let cast = (vec(part(), 1..=NAMES.len()), ladders, any::<[bool; 3]>(), option::weighted(0.3, step()));
    (cast, words, numbers, times, vec(question(), 1..24)).prop_map(|(cast, words, numbers, times, questions)| Draw {
        parts: cast.0,
        ladders: cast.1,
        chained: cast.2,
        last_resort: cast.3,
        strategy: words.0,
        stream: words.1,
        on_unknown: words.2,
        on_may_have_run: words.3,
        attempts: numbers.0,
        retries: numbers.1,
        retry_budget: numbers.2,
        deadline: numbers.3,
        wait: times.0,
        hedge: times.1,
        timers: times.2,
        questions,
    })
}

impl Draw {
    /// Every deployment that the ladder may ask.
    pub(super) fn configured(&self) -> Vec<String> {
        let chains = self.ladders.iter().skip(1).zip(self.chained).filter(|(_, chained)| *chained);
        let steps = self.ladders.iter().take(1).chain(chains.map(|(ladder, _)| ladder)).flatten();
        steps.chain(&self.last_resort).map(|step| self.name(*step)).collect()
    }

    pub(super) fn last_resort(&self) -> Option<String> {
        self.last_resort.map(|step| self.name(step))
    }

    fn name(&self, (provider, model, key): Step) -> String {
        let provider = provider % self.parts.len();
        format!("{}/{}@k{}", NAMES[provider], MODELS[model], key % self.parts[provider].replies.len())
    }

    /// The llmr.toml.
    pub(super) fn config(&self) -> String {
        let ms = |time: Duration| format!("\"{}ms\"", time.as_millis());
        let (first, idle, total) = self.timers;
        let mut text = format!(
            "default_ladder = \"main\"\n[limits]\nattempts = {}\nretry_budget = {}\ndeadline = {}\nwait = {}\nstream = {:?}\n\
             on_unknown = {:?}\non_may_have_run = {:?}\ntimeout = {{ first = {}, idle = {}, total = {} }}\n",
            self.attempts,
            self.retry_budget,
            ms(self.deadline),
            ms(self.wait),
            self.stream,
            self.on_unknown,
            self.on_may_have_run,
            ms(first),
            ms(idle),
            ms(total.max(first).max(idle)),
        );
        self.retries.iter().for_each(|retries| text.push_str(&format!("retries = {retries}\n")));
        self.hedge.iter().for_each(|hedge| text.push_str(&format!("hedge = {}\n", ms(*hedge))));
        for (at, part) in self.parts.iter().enumerate() {
            let (name, wire) = (NAMES[at], Wire::ALL[part.wire]);
            let base_url = Voices::base_url(name, wire);
            text.push_str(&format!("[providers.{name}]\nbase_url = {base_url:?}\nwire = \"{}\"\n", wire.as_str()));
            for key in 0..part.replies.len() {
                let account = if part.shares { "acme".to_owned() } else { format!("account{key}") };
                text.push_str(&format!("[[providers.{name}.credentials]]\nname = \"k{key}\"\n"));
                text.push_str(&format!("key = {{ env = \"K\" }}\naccount = {account:?}\n"));
            }
        }
        let names = ["main", "wide", "lenient", "able"];
        for (name, ladder) in names.iter().zip(&self.ladders) {
            let mut steps: Vec<String> = Vec::new();
            for step in ladder.iter().map(|step| self.name(*step)) {
                if !steps.contains(&step) {
                    steps.push(step);
                }
            }
            text.push_str(&format!("[ladders.{name}]\nsteps = {steps:?}\n"));
            if *name == "main" {
                text.push_str(&format!("strategy = {:?}\n", self.strategy));
                self.last_resort().iter().for_each(|step| text.push_str(&format!("last_resort = {step:?}\n")));
                let chains = ["context_window", "content_policy", "unsupported"].iter().zip(&names[1..]);
                let wanted = chains.zip(self.chained).filter(|(_, chained)| *chained);
                wanted.for_each(|((chain, name), _)| text.push_str(&format!("{chain} = {name:?}\n")));
            }
        }
        text
    }
}
