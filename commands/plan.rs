//! `llmr plan`

use std::process::ExitCode;

use llmr::config::Strategy;
use llmr::ladder::Run;
use llmr::report::Plan;
use llmr::route::{Outlook, grades, outlook};
use llmr::session::said;
use llmr::store::{Accounts, SessionStore, Store};

use crate::context::Context;
use crate::error::CliError;
use crate::job::RequestArgs;

/// Show who would be asked now, in which order, and why each other is skipped; sends nothing
#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    #[command(flatten)]
    request: RequestArgs,
}

/// Shows the plan.
pub fn run(args: &PlanArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    show(&args.request, context)
}

/// What `plan` and `chat --dry-run` print.
pub fn show(args: &RequestArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let talk = match args.talk.session()? {
        Some(name) => context
            .store_to_read(context.config_file()?.as_ref())?
            .map(|store| store.talk(&name))
            .transpose()?
            .flatten(),
        None => None,
    };
    let args = &talk.as_ref().map_or_else(|| args.clone(), |talk| args.going_on_with(&talk.session.settings));
    let mut request = args.request(args.input(None)?, false)?;
    if let Some(talk) = &talk {
        // What was said before is sent as well, and counts for the size.
        request.messages = said(talk)?.into_iter().chain(request.messages).collect();
    }
    let (config, choice) = args.settle(context)?;
    context.show_warnings(&config);
    let store = context.store_to_plan(&config);
    let job = args.job(request, choice, &config, &store, context)?;
    let machine = Run::new(job.spec.clone(), job.shape, job.directives.clone());
    let snapshot = store.snapshot(&Accounts::of(machine.steps().iter().map(|step| &step.target)))?;
    context.show_state_warning(&store);
    let now = context.clock.now();
    let Outlook { order, skipped, cascade } = outlook(&job, &machine, &snapshot, &config.policy.usage, now);
    let ladder = config.ladders.get_key_value(&job.spec.name);
    let grades = ladder.map_or(Ok(Vec::new()), |ladder| grades(&store, ladder, now))?;
    let plan = Plan {
        now,
        ladder: &job.spec.name,
        strategy: config.ladders.get(&job.spec.name).map_or(Strategy::Ordered, |ladder| ladder.strategy),
        steps: machine.steps(),
        order,
        skipped,
        domains: config.domains(&job.spec.name),
        cascade,
        grades: &grades,
    };
    let text = if args.json { format!("{}\n", plan.json()) } else { plan.text() };
    context.output.out(&llmr::domain::printable(&context.redactor().redact(&text)))?;
    Ok(ExitCode::SUCCESS)
}
