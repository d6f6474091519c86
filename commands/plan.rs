//! `llmr plan`

use std::process::ExitCode;
use std::time::Duration;

use llmr::config::Strategy;
use llmr::ladder::{Run, View};
use llmr::policy::Passage;
use llmr::report::Plan;
use llmr::route::{cascade_of, grades, passage};
use llmr::store::{Accounts, Store};

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
    args.refuse_unknown()?;
    let request = args.request(None, false)?;
    let (config, choice) = args.settle(context)?;
    context.show_warnings(&config);
    let store = context.store_to_plan(&config);
    let job = args.job(request, choice, &config, &store, context)?;
    let machine = Run::new(job.spec.clone(), job.shape, job.directives.clone());
    let snapshot = store.snapshot(&Accounts::of(machine.steps().iter().map(|step| &step.target)))?;
    context.show_state_warning(&store);
    let view = View {
        holds: &snapshot.holds,
        usage: &snapshot.usage,
        bounds: &config.policy.usage,
        now: context.clock.now(),
        elapsed: Duration::ZERO,
    };
    let cascade = cascade_of(&job, &snapshot, view.now);
    let (order, mut skipped) = match cascade.map(|cascade| passage(&job, cascade, &machine, &view)) {
        Some(Passage::Refused { until, is_looked_at }) => {
            (Vec::new(), machine.skipped_by_ladder(&view, &machine.turned_away(&view, until, is_looked_at)))
        }
        _ => (machine.plan(&view), machine.skipped(&view)),
    };
    // A last resort is asked although it is held.
    skipped.retain(|skip| !order.iter().any(|planned| planned.step == skip.step));
    let ladder = config.ladders.get_key_value(&job.spec.name);
    let grades = ladder.map_or(Ok(Vec::new()), |ladder| grades(&store, ladder, view.now))?;
    let plan = Plan {
        now: view.now,
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
