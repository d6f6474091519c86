//! What a conversation with tools comes to, as the user is told.

use std::process::ExitCode;

use llmr::domain::{Outcome, SessionName};
use llmr::ladder::End;
use llmr::report::{call_name, chat_json, order_lines, question_lines, tool_json};
use llmr::route::Report;
use llmr::session::{Ended, ToolRun, may_still_run};

use crate::chat::{answer_alone, code_of, exit_code, explain, print_json, print_text};
use crate::context::Context;
use crate::error::{CliError, Code};

/// What there is to print at the end.
pub struct Told<'a> {
    pub report: &'a Report,
    pub runs: &'a [ToolRun],
    pub ended: &'a Ended,
    pub named: Option<&'a SessionName>,
    pub shown: bool,
}

impl Told<'_> {
    /// Prints it and gives the exit code.
    pub fn print(&self, json: bool, context: &Context) -> Result<ExitCode, CliError> {
        let report = self.report;
        let stop = self.stop(context);
        if json {
            self.print_json(stop.as_ref(), context)?;
        } else if (matches!(self.ended, Ended::Answered) || report.end == End::AsItIs) && !self.shown {
            print_text(&answer_alone(&report.text, report.parsed.as_ref(), &report.record.attempts), context)?;
        }
        match (self.ended, stop) {
            (Ended::Answered, _) if report.end == End::AsItIs => {
                explain(report, context);
                Ok(code_of(report))
            }
            (Ended::Answered, _) => Ok(ExitCode::SUCCESS),
            (Ended::Unanswered, _) => {
                if !matches!(report.end, End::Answered { .. }) {
                    explain(report, context);
                    self.hint_resume(context);
                }
                if report.end.is_exhaustion() && !report.turned_away {
                    crate::chat::cry(report, context);
                }
                Ok(code_of(report))
            }
            (_, Some(stop)) => Ok(stop.report(&context.output, context.redactor())),
            (_, None) => Ok(exit_code(Outcome::Interrupted)),
        }
    }

    fn print_json(&self, stop: Option<&CliError>, context: &Context) -> Result<(), CliError> {
        let mut value = chat_json(self.report);
        if let Some(object) = value.as_object_mut() {
            object.insert("session".to_owned(), serde_json::json!(self.named));
            object.insert("tools".to_owned(), self.runs.iter().map(tool_json).collect());
            if let Some(stop) = stop {
                object.insert("error".to_owned(), serde_json::json!(stop.message()));
            }
            let call = match self.ended {
                Ended::NeedsConsent(order) | Ended::NeedsWord(order, _) => Some(order),
                _ => None,
            };
            if let Some(order) = call {
                let what = if matches!(self.ended, Ended::NeedsConsent(_)) { "consent" } else { "outcome" };
                let question = serde_json::json!({
                    "about": what, "tool": order.call.name, "call": call_name(&order.fingerprint),
                    "arguments": order.arguments, "idempotency_key": order.idempotency_key,
                });
                object.insert("question".to_owned(), question);
            }
        }
        print_json(value, context)
    }

    fn hint_resume(&self, context: &Context) {
        if let Some(name) = self.named {
            let hint = context.output.label("hint");
            context.output.note(&format!("{hint} what was said is kept; `llmr chat --session {name}` asks again"));
        }
    }

    /// Why the conversation stopped before it was the user's turn, where that is no failure of a model.
    fn stop(&self, context: &Context) -> Option<CliError> {
        let go_on = |more: &str| match self.named {
            Some(name) => format!("`llmr chat --session {name}{more}` goes on"),
            None => "with --session NAME the conversation could go on afterwards".to_owned(),
        };
        match self.ended {
            Ended::Answered | Ended::Unanswered => None,
            Ended::Interrupted => Some(CliError::new(Code::Interrupted, "interrupted").hint(go_on(""))),
            Ended::TooManyRounds => {
                let error =
                    CliError::new(Code::WrongShape, "the model has not answered in words: it still wants tools");
                Some(
                    error
                        .hint("--max-tool-rounds N, or `tool_rounds` in [limits], allows more")
                        .hint(go_on(" --max-tool-rounds N")),
                )
            }
            Ended::NeedsConsent(order) => {
                let why = format!("`{}` has a side effect, and nobody has allowed it; it was not run", order.call.name);
                let mut error = CliError::new(Code::NeedsPerson, why);
                for line in order_lines(order) {
                    error = error.cause(line);
                }
                Some(match self.named {
                    Some(_) => error.hint(format!("{}, with this tool and those that follow", go_on(" --yes-tools"))),
                    None => error.hint("--yes-tools allows it; on a terminal you are asked").hint(go_on("")),
                })
            }
            Ended::NeedsWord(order, entry) => {
                let why = format!("nobody knows whether `{}` did its work, and it must not run twice", order.call.name);
                let mut error = CliError::new(Code::NeedsPerson, why);
                for line in question_lines(order, entry, context.clock.now()) {
                    error = error.cause(line);
                }
                Some(match self.named {
                    Some(name) => {
                        let settle = format!("llmr session settle {name} {}", call_name(&order.fingerprint));
                        let (over, force) =
                            if may_still_run(entry) { (", and is not running any more", " --force") } else { ("", "") };
                        error
                            .hint(format!("if it did: `{settle} --result \"what came of it\"`"))
                            .hint(format!(
                                "if it did not{over}: `{settle} --again{force}`, or `--decline` where it is not wanted any more"
                            ))
                            .hint(format!("then {}", go_on("")))
                    }
                    None => error.hint("look at what it did before you ask again").hint(go_on("")),
                })
            }
        }
    }
}
