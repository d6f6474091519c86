//! What was answered before, told again without asking anybody.

use std::process::ExitCode;

use llmr::config::Config;
use llmr::domain::{Answer, Extraction, LadderName, Message};
use llmr::report::retold_json;
use llmr::store::Talk;
use llmr::validate::{Demands, Validation, as_written};
use serde_json::{Value, json};

use crate::chat::{print_json, print_text};
use crate::context::Context;
use crate::error::CliError;
use crate::job::{Input, RequestArgs};

/// The answer that was given last, as it was printed first: who was killed before that finds it here.
pub fn last_answer(
    talk: &Talk,
    turns: &[Message],
    (args, input, config, ladder): (&RequestArgs, &Input, &Config, &LadderName),
    context: &Context,
) -> Result<ExitCode, CliError> {
    let text = turns.last().map(Message::words).unwrap_or_default();
    context.output.note("session: nothing is under way; this is its last answer, and nothing was sent");
    let shape = input.shape(config, ladder);
    let found = shape.and_then(|shape| json_in(&text, &shape));
    if args.json {
        print_json(retold_json(talk, &text, found.as_ref().map(|(value, _)| value)), context)?;
        return Ok(ExitCode::SUCCESS);
    }
    match found {
        Some((value, Extraction::Fenced | Extraction::Surrounded)) => {
            print_text(as_written(&text, &value).unwrap_or(&text), context)?;
        }
        _ => print_text(&text, context)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The JSON of the shape that stands in the text, and where.
fn json_in(text: &str, shape: &Value) -> Option<(Value, Extraction)> {
    let validation = Validation::new(Some(shape), Demands::default()).ok()?;
    let answer = Answer { text: text.to_owned(), ..Answer::default() };
    let judged = validation.judge(&answer, "", &|_, _| Ok(())).ok()?;
    Some((judged.parsed?, judged.extraction?))
}

/// Any JSON.
pub fn any_shape() -> Value {
    json!(true)
}
