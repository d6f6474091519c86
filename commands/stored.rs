//! A request under an id that its user chose: made once, and told again from what is kept of it.

use std::process::ExitCode;

use llmr::config::Config;
use llmr::domain::{Outcome, RequestId, RequestRecord, printable};
use llmr::report::{rfc3339, stored_json};
use llmr::route::{FallbackStore, Job, asked};
use llmr::store::{Claim, Claiming, SqliteStore, Store};

use crate::chat::{answer_alone, exit_code, print_json, print_text, tell_tools};
use crate::context::Context;
use crate::error::CliError;

/// How much longer than its deadline a request may be under way before its process must be dead.
const SLACK: std::time::Duration = std::time::Duration::from_secs(10);

/// Takes the id for this job; with a request that is known already, what there is to tell of it.
///
/// # Errors
/// When that request is still under way, or nothing is kept of its answer.
pub fn claim(
    id: &RequestId,
    job: &mut Job,
    config: &Config,
    store: &FallbackStore<SqliteStore>,
    context: &Context,
) -> Result<Option<RequestRecord>, CliError> {
    let now = context.clock.now();
    let until = now.checked_add(job.spec.limits.deadline + SLACK).unwrap_or(jiff::Timestamp::MAX);
    let asked = asked(&store.salt()?, &job.request);
    let wish = Claiming { id, ladder: &job.spec.name, asked: &asked, now, until };
    match store.claim_request(&wish)? {
        Claim::Another => {
            let error = CliError::usage(format!("--request-id: `{id}` belongs to a request that asked something else"));
            Err(error.hint("give each request an id of its own; nothing was sent"))
        }
        Claim::Taken { attempts } => {
            job.first_attempt = attempts;
            Ok(None)
        }
        Claim::Known(known) if known.outcome == Outcome::Unfinished => {
            let error = CliError::usage(format!("--request-id: the request `{id}` is still under way"));
            Err(error.hint("wait for its end, or give this one another id; nothing was sent"))
        }
        Claim::Known(_) if !config.content => {
            let error = CliError::usage(format!("--request-id: there is a request `{id}` in the log already"));
            let error = error.hint(format!("`llmr log {id}` shows what came of it; answers are not kept"));
            Err(error
                .hint("`content = true` in [store] keeps them, and a second request of one id then gets the first's"))
        }
        Claim::Known(known) => Ok(Some(*known)),
    }
}

/// Tells what came of the request, without asking anybody.
///
/// # Errors
/// When its answer was not kept, because answers were not kept then.
pub fn tell(
    known: &RequestRecord,
    json: bool,
    store: &FallbackStore<SqliteStore>,
    context: &Context,
) -> Result<ExitCode, CliError> {
    let id = &known.id;
    let answer = store.answer(id)?;
    if known.outcome == Outcome::Answered && answer.is_none() {
        let error = CliError::usage(format!("--request-id: the answer of `{id}` was not kept"));
        return Err(error.hint(format!("`llmr log {id}` shows who gave it; give this request another id")));
    }
    let output = &context.output;
    let when = rfc3339(known.started_at);
    output.note(&format!("stored: {id} of {when} ended as {}; nothing was sent", known.outcome));
    if json {
        print_json(stored_json(known, answer.as_ref()), context)?;
    } else if let Some(answer) = &answer {
        print_text(&answer_alone(&answer.text, answer.parsed.as_ref(), &known.attempts), context)?;
        let calls = answer.tool_calls.iter().flat_map(|calls| calls.as_array().into_iter().flatten());
        let names: Vec<&str> = calls.filter_map(|call| call.get("name")?.as_str()).collect();
        if !names.is_empty() {
            tell_tools(names.into_iter(), context);
        }
    }
    if let Some(error) = &known.error {
        output.note(&format!("{} {}", output.label("error"), printable(&context.redactor().redact(error))));
    }
    Ok(exit_code(known.outcome))
}
