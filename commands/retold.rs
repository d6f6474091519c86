//! What was answered before, told again without asking anybody.

use std::process::ExitCode;

use llmr::config::Config;
use llmr::domain::{Extraction, LadderName, Message};
use llmr::report::retold_json;
use llmr::route::FallbackStore;
use llmr::session::was_as_it_is;
use llmr::store::{SqliteStore, Talk};
use llmr::validate::{as_written, json_in};
use serde_json::{Value, json};

use crate::chat::{print_json, print_text};
use crate::context::Context;
use crate::error::{CliError, Code};
use crate::job::{Input, RequestArgs};

/// The answer that was given last, as it was printed first: who was killed before that finds it here.
pub fn last_answer(
    talk: &Talk,
    turns: &[Message],
    (args, input, config, ladder): (&RequestArgs, &Input, &Config, &LadderName),
    (store, context): (&FallbackStore<SqliteStore>, &Context),
) -> Result<ExitCode, CliError> {
    let text = turns.last().map(Message::words).unwrap_or_default();
    context.output.note("session: nothing is under way; this is its last answer, and nothing was sent");
    let shape = input.shape(config, ladder);
    let found = shape.and_then(|shape| json_in(&text, &shape));
    match found {
        found if args.json => {
            print_json(retold_json(talk, &text, found.as_ref().map(|(value, _)| value)), context)?;
        }
        Some((value, Extraction::Fenced | Extraction::Surrounded)) => {
            print_text(as_written(&text, &value).unwrap_or(&text), context)?;
        }
        _ => print_text(&text, context)?,
    }
    if was_as_it_is(store, talk.turns.last().and_then(|turn| turn.request_id.as_ref()))? {
        context.output.note("it is not as it was asked for, and was handed out as it is");
        return Ok(Code::WrongShape.into());
    }
    Ok(ExitCode::SUCCESS)
}

/// Any JSON.
pub fn any_shape() -> Value {
    json!(true)
}
