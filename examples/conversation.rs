//! A conversation that is kept, in which a model has a function of the program called. The provider breaks down after the
//! call and before its answer; the next one, which speaks another wire format, finds the result and answers. The function
//! ran once.
//!
//! `cargo run --example conversation` needs no key and no network.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use llmr::rehearsal::{Provider, Reply};
use llmr::words::ToolCall;
use llmr::{Error, Request, Router, Tool, Wire};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The first one wants a table to be booked and is out of money then.
    let call = ToolCall { id: "call_1".into(), name: "book".into(), arguments: json!({"people": 2}).to_string() };
    let broke = Reply::status(402, r#"{"error": {"message": "Insufficient credits"}}"#);
    let first = Provider::start(Wire::OpenAi, vec![Reply::tool_calls(vec![call]), broke])?;
    let second =
        Provider::start(Wire::Anthropic, vec![Reply::answer("Booked for 8."), Reply::answer("At the Tasca.")])?;
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
    let home = tempfile::tempdir()?;
    let state = home.path().join("state.db");
    let router = || Router::builder().config_text(config.clone()).state_file(&state).build();

    // It has a side effect, so it must not run twice.
    let booked = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&booked);
    let book = Tool::new("book")
        .description("Books a table for tonight")
        .schema(json!({"properties": {"people": {"type": "integer"}}, "required": ["people"]}))
        .run(move |call| {
            let counter = Arc::clone(&counter);
            // A booking service would be given call.idempotency_key.
            async move { Ok(format!("booking {}: {}", counter.fetch_add(1, Ordering::SeqCst), call.arguments)) }
        });
    let manner = Request::default().system("Be brief.").tool(book);

    let mut session = router()?.session_named("dinner").await?.asking_like(manner.clone());
    match session.ask("A table for two tonight?").await {
        Ok(answered) => println!("{answered} (tools: {})", answered.tools.len()),
        // Nobody knows whether it was booked: ask there, then say so with session.settle(..), and go on.
        Err(Error::NeedsWord(call)) => println!("was it booked? ({})", call.idempotency_key),
        Err(error) => return Err(error.into()),
    }
    drop(session);

    // Another process would find it just so.
    let mut session = router()?.session_named("dinner").await?.asking_like(manner);
    session.ask("Where?").await?;
    for turn in session.turns().iter().filter(|turn| !turn.message.words().is_empty()) {
        let who = turn.from.as_ref().map_or("you".to_owned(), ToString::to_string);
        println!("{who}: {}", turn.message.words());
    }
    println!("booked {} time", booked.load(Ordering::SeqCst));
    Ok(())
}
