//! One look, for programs.

use serde_json::{Value, json};

use crate::domain::LadderName;
use crate::metrics::Percentiles;
use crate::report::rfc3339;

use super::board::{Board, DeploymentLine, LadderLine, QuotaLine, RungLine};
use super::filter::Filter;
use super::reading::Reading;
use super::sort::Sort;

/// The object of `top --json`: what the first lines of the screen say.
pub fn snapshot_json(reading: &Reading, only: Option<&LadderName>) -> Value {
    let board = Board::of(reading, &Filter::default(), Sort::default(), only);
    let total = &reading.measured.total;
    json!({
        "now": rfc3339(reading.now),
        "exhausted": board.exhausted().map(|line| &line.ladder).collect::<Vec<_>>(),
        "one_failure_away": board.one_away().map(|line| &line.ladder).collect::<Vec<_>>(),
        "ladders": board.ladders.iter().map(ladder).collect::<Vec<_>>(),
        "deployments": board.deployments.iter().map(deployment).collect::<Vec<_>>(),
        "quotas": board.quotas.iter().map(quota).collect::<Vec<_>>(),
        "retries_a_minute": {"made": reading.retries.0, "budget": reading.retries.1},
        "span": reading.measured.span.as_str(),
        "requests": total.requests,
        "answered": total.answered,
        "success": total.success,
        "exhausted_requests": total.exhausted,
        "depth": total.depth.mean,
        "depth_week_ago": reading.measured.depth_before,
        "attempts": total.attempts,
        "classes": Value::Object(total.classes.iter().map(|(class, count)| (class.to_string(), json!(count))).collect()),
        "retries_denied": total.retries_denied,
        "latency_p95_s": seconds(total.latency),
        "ttft_p95_s": seconds(total.ttft),
        "schema_failures": total.schema_failures,
        "input_tokens": total.tokens.input,
        "output_tokens": total.tokens.output,
        "cost_usd": total.money.total,
        "trouble": reading.trouble,
        "transport_success": total.transport,
        "application_success": total.attempt_success,
        "valid": total.valid,
    })
}

fn ladder(line: &LadderLine) -> Value {
    json!({
        "ladder": line.ladder,
        "exhausted": line.is_exhausted(),
        "steps": line.steps.iter().map(step).collect::<Vec<_>>(),
        "last_resort": line.last_resort.as_ref().map(step),
        "available": line.available,
        "domains": line.domains,
        "domains_left": line.domains_left,
        "returns_at": line.returns.filter(|_| line.available == 0).map(rfc3339),
        "depth": line.pace.figures.depth.mean,
        "depth_drift": line.drift(),
        "exhausted_requests": line.pace.figures.exhausted,
    })
}

fn step(step: &RungLine) -> Value {
    json!({"deployment": step.name, "state": step.state.word(), "why": step.word, "until": step.until.map(rfc3339)})
}

fn deployment(line: &DeploymentLine) -> Value {
    json!({
        "deployment": line.target.deployment,
        "state": line.state.word(),
        "why": line.why,
        "class": line.class,
        "until": line.until.map(rfc3339),
        "provenance": line.provenance,
        "hold": line.hold,
        "attempts": line.figures.attempts,
        "failures": line.failures,
        "ttft_p95_s": seconds(line.figures.ttft),
        "latency_p95_s": seconds(line.figures.attempt_latency),
        "schema_failures": line.figures.schema_failures,
        "cost_usd": line.figures.money.total,
        "transport_success": line.figures.transport,
        "application_success": line.figures.attempt_success,
        "valid": line.figures.valid,
    })
}

/// What 95 of 100 did not exceed.
fn seconds(times: Option<Percentiles>) -> Option<f64> {
    times.map(|times| times.p95.as_secs_f64())
}

fn quota(line: &QuotaLine) -> Value {
    json!({
        "scope": line.scope.to_string(),
        "account": line.scope.account,
        "dimension": line.dimension,
        "used": line.used,
        "limit": line.limit,
        "resets_at": line.resets_at.map(rfc3339),
        "runs_out_at": line.runs_out.map(rfc3339),
        "source": line.source,
    })
}
