//! A program that makes its own HTTP calls, with whatever client it likes, and still knows when not to.
//!
//! Before a call it asks the guard; after it, it says what came. What one process meets so holds back all others that
//! share the state file, whether they use this crate or the program `llmr`.
//!
//! `cargo run --example own_calls` needs no key and no network.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use llmr::{Admission, Outcome, Router};

/// What your own client would do.
fn call_the_provider() -> (u16, Vec<(&'static str, &'static str)>, &'static str) {
    (429, vec![("retry-after", "120")], r#"{"error": {"message": "Rate limit reached for requests per minute"}}"#)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = r#"
        [providers]
        lab = { base_url = "http://127.0.0.1:9/v1", wire = "openai" }
        [ladders.main]
        steps = ["lab/small"]
    "#;
    let router = Router::builder().config_text(config).state_in_memory().build()?;

    for turn in 1..=2 {
        match router.guard("lab/small").await? {
            Admission::Go(pass) => {
                println!("{turn}: may call {}", pass.deployment());
                let (status, headers, body) = call_the_provider();
                let recorded = router.record_outcome(pass, Outcome::reply(status, headers, body)).await?;
                println!("{turn}: it was {}", recorded.class.map_or("an answer", llmr::Class::as_str));
            }
            // Nobody is asked in vain: the provider said when it is back, and that is known here.
            Admission::Held(held) => {
                println!("{turn}: not now, {}; known as a {}", held.why, held.provenance);
                println!("{turn}: asking again helps at a known time: {}", held.until.is_some());
            }
        }
    }
    Ok(())
}
