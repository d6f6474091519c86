//! Asks a ladder, gets text, and learns who failed why and when it can help to ask again.
//!
//! `cargo run --example ask` needs no key and no network: two scripted providers on this machine stand for real ones.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use llmr::rehearsal::{Provider, Reply};
use llmr::{Error, Router, Wire};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spent = r#"{"error": {"message": "Quota exceeded. Please try again in 3h."}}"#;
    let cloud = Provider::start(Wire::OpenAi, Reply::status(429, spent))?;
    let lab = Provider::start(Wire::OpenAi, vec![Reply::answer("Rayleigh scattering."), Reply::status(503, "busy")])?;

    // In a program of yours this is llmr.toml, and `Router::builder().build()` finds it by itself.
    let config = format!(
        r#"
        [providers]
        cloud = {{ base_url = "{}", wire = "openai" }}
        lab = {{ base_url = "{}", wire = "openai" }}
        [ladders.main]
        steps = ["cloud/large", "lab/small"]
        [limits]
        retries = 0
        "#,
        cloud.base_url(),
        lab.base_url(),
    );
    let router = Router::builder().config_text(config).state_in_memory().build()?;

    let answered = router.chat("Why is the sky blue?").await?;
    println!("{answered}");
    for attempt in &answered.attempts {
        println!("  {} {}", attempt.deployment, attempt.class.map_or("answered", llmr::Class::as_str));
    }

    // The cloud rests now and is not asked at all; then the lab fails as well.
    match router.chat("And at dusk?").await {
        Ok(answered) => println!("{answered}"),
        Err(Error::Unanswered(why)) => {
            println!("{}", why.message);
            for attempt in &why.attempts {
                println!("  asked {}: {}", attempt.deployment, attempt.class.map_or("answered", llmr::Class::as_str));
            }
            for skipped in &why.skipped {
                println!("  passed over {}: {}", skipped.deployment, skipped.reason);
            }
            println!("ask again {}", if why.retry_at.is_some() { "when the first returns" } else { "at any time" });
        }
        Err(ours) => return Err(ours.into()),
    }
    println!("the cloud was asked {} time, the lab {} times", cloud.hits(), lab.hits());
    Ok(())
}
