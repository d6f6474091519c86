//! A time of one's own: a quota that is back a day later is asked again a day later, without waiting for it.
//!
//! So a program can test what it does on the day after, and a simulation can play a month.
//!
//! `cargo run --example own_clock` needs no key and no network.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use llmr::rehearsal::{Provider, Reply};
use llmr::{Router, Sleep, TimeSource, Timestamp, Wire};

/// A time that passes when it is told to, and when somebody waits.
#[derive(Default)]
struct ByHand(Mutex<Duration>);

impl ByHand {
    fn pass(&self, length: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += length;
    }
}

impl TimeSource for ByHand {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH.checked_add(self.elapsed()).unwrap_or(Timestamp::MAX)
    }

    fn elapsed(&self) -> Duration {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep(&self, length: Duration) -> Sleep<'_> {
        self.pass(length);
        Box::pin(std::future::ready(()))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spent = r#"{"error": {"message": "You have used all requests of this day. Try again in 24h."}}"#;
    let lab = Provider::start(Wire::OpenAi, vec![Reply::status(429, spent), Reply::answer("Good morning.")])?;
    let config = format!(
        r#"
        [providers]
        lab = {{ base_url = "{}", wire = "openai" }}
        [ladders.main]
        steps = ["lab/small"]
        "#,
        lab.base_url(),
    );
    let time = Arc::new(ByHand::default());
    let router = Router::builder().config_text(config).state_in_memory().clock(Arc::clone(&time)).build()?;

    for hours in [0, 12, 12] {
        time.pass(Duration::from_secs(hours * 3600));
        match router.chat("Good morning?").await {
            Ok(answered) => println!("{}: {answered}", time.now()),
            Err(error) => println!("{}: {error}", time.now()),
        }
    }
    println!("asked {} times", lab.hits());
    Ok(())
}
