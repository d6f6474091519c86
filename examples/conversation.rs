//! A conversation that goes on when the provider changes: the second question is answered by somebody else, who is told
//! all that was said before.
//!
//! `cargo run --example conversation` needs no key and no network.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use llmr::rehearsal::{Provider, Reply};
use llmr::{Request, Router, Wire};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The first one answers once and is out of money then; the second one speaks another wire format.
    let broke = Reply::status(402, r#"{"error": {"message": "Insufficient credits"}}"#);
    let first = Provider::start(Wire::OpenAi, vec![Reply::answer("Lisbon."), broke])?;
    let second = Provider::start(Wire::Anthropic, Reply::answer("About half a million."))?;
    let config = format!(
        r#"
        [providers]
        first = {{ base_url = "{}", wire = "openai" }}
        second = {{ base_url = "{}", wire = "anthropic" }}
        [ladders.main]
        steps = ["first/large", "second/small"]
        "#,
        first.base_url(),
        second.base_url(),
    );
    let router = Router::builder().config_text(config).state_in_memory().build()?;
    let mut session = router.session().asking_like(Request::default().system("Be brief."));

    session.ask("What is the capital of Portugal?").await?;
    session.ask("How many people live there?").await?;

    for turn in session.turns() {
        let who = turn.from.as_ref().map_or("you".to_owned(), ToString::to_string);
        println!("{who}: {}", turn.message.words());
    }
    // What the second one was sent holds the first one's answer.
    let sent = second.requests().pop().ok_or("nothing was sent")?;
    println!("it was told: {}", sent.body.to_string().contains("Lisbon"));
    Ok(())
}
