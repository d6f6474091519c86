//! What a hedge saves: the same requests to two providers of which each is slow now and then, without a hedge and with
//! one after a fixed delay.
//!
//! ```text
//! cargo run --release --example tail
//! ```
//!
//! Both providers stand on loopback and answer after 10 ms as a rule, but after 300 ms in one of ten requests. That is a
//! heavy tail, and a hedge is made for it: the chance that two of them are slow at once is the product of both.

#![expect(clippy::print_stdout, reason = "this is its output")]

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use llmr::catalog::{Catalog, Wire};
use llmr::classify::Classifier;
use llmr::clock::{Clock, Rng};
use llmr::config::{self, CredentialConfig};
use llmr::domain::{ChatRequest, Message, Outcome, Redactor, RequestId, Role, Secret};
use llmr::ladder::Directives;
use llmr::rehearsal::{Provider, Reply};
use llmr::route::{Facts, FallbackStore, Job, Outside, Router, Silent, assemble, run};
use llmr::store::SqliteStore;
use llmr::transport::{Transport, TransportOptions};

/// How many requests are made in each way.
const REQUESTS: usize = 300;

/// What one way of asking came to.
struct Way {
    times: Vec<Duration>,
    calls: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{REQUESTS} requests each, two providers with a heavy tail\n");
    println!("{:<14} {:>8} {:>8} {:>8} {:>8}", "hedge", "p50", "p95", "p99", "calls");
    let mut without = None;
    for hedge in ["off", "40ms", "100ms"] {
        let way = ask_all(hedge)?;
        let p95 = way.at(0.95);
        let calls = way.calls as f64 / REQUESTS as f64;
        print!("{hedge:<14} {:>8.1?} {p95:>8.1?} {:>8.1?} {calls:>8.2}", way.at(0.5), way.at(0.99));
        let before = *without.get_or_insert(p95);
        println!("   p95 {:.2}x", p95.as_secs_f64() / before.as_secs_f64());
    }
    Ok(())
}

impl Way {
    /// The time within which that share of the requests was answered.
    fn at(&self, share: f64) -> Duration {
        let place = (share * self.times.len() as f64).ceil() as usize;
        self.times.get(place.saturating_sub(1)).copied().unwrap_or_default()
    }
}

/// A provider that is slow now and then, in an order that the seed decides.
fn provider(seed: u64) -> std::io::Result<Provider> {
    let mut rng = Rng::new(Some(seed));
    let replies = (0..REQUESTS).map(|_| {
        let ms = if rng.unit() < 0.1 { 300 } else { 10 };
        Reply::answer("yes").after(ms)
    });
    Provider::start(Wire::OpenAi, replies.collect::<Vec<_>>())
}

fn ask_all(hedge: &str) -> Result<Way, Box<dyn Error>> {
    let (a, b) = (provider(1)?, provider(2)?);
    let text = format!(
        "[ladders.main]\nsteps = [\"a/m\", \"b/m\"]\nhedge = \"{hedge}\"\n[providers.a]\nbase_url = \"{}\"\nwire = \
         \"openai\"\n[providers.b]\nbase_url = \"{}\"\nwire = \"openai\"\n",
        a.base_url(),
        b.base_url()
    );
    let config = config::parse(&text, Path::new("tail.toml"), Catalog::builtin()?)
        .map_err(|problems| problems.first().map_or(String::new(), ToString::to_string))?;
    let store = FallbackStore::<SqliteStore>::empty();
    let transport = Transport::new(&TransportOptions::default())?;
    let redactor = Redactor::default();
    let router = Router {
        clock: Clock::new(None),
        store: &store,
        transport: &transport,
        classifier: &Classifier::default(),
        catalog: &config.catalog,
        settings: &config.policy,
        redactor: &redactor,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut rng = Rng::new(Some(7));
    let mut times = Vec::new();
    for number in 0..REQUESTS {
        let facts = Facts::nothing(router.clock.now());
        let (key, env) = (&|_: &CredentialConfig| Ok(Secret::new("none")), &|_: &str| None);
        let outside = Outside { key, env, salt: b"salt", shapes: &[], findings: &[], facts: &facts };
        let ladder = assemble(&config, &config.default_ladder, &outside, &mut rng).ok_or("no ladder")?;
        let request = ChatRequest { messages: vec![Message::text(Role::User, "is it?")], ..ChatRequest::default() };
        let job = Job::new(RequestId::new(format!("r{number}")), ladder, request, Directives::default());
        let (_sender, stop) = tokio::sync::watch::channel(false);
        let report = runtime.block_on(run(&router, &job, &mut rng, stop, &mut Silent))?;
        if report.record.outcome != Outcome::Answered {
            return Err(format!("request {number} was not answered").into());
        }
        times.push(report.record.latency);
    }
    times.sort_unstable();
    Ok(Way { times, calls: a.hits() + b.hits() })
}
