//! All that is known of what is under the cursor, as lines.

use jiff::Timestamp;

use crate::domain::{LadderName, RequestRecord, printable};
use crate::ladder::eligibility;
use crate::policy::{Versioned, holds_now};
use crate::report::{Tone, Toned, distance, hold_id, hold_line, request_text, rfc3339, span};

use super::advice::frees;
use super::board::{Board, DeploymentLine, LadderLine, QuotaLine};
use super::reading::Reading;

/// Of what details are shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Subject {
    /// A deployment, by its name.
    Deployment(String),
    /// A ladder, by its name.
    Ladder(String),
    /// A request, by its id.
    Request(String),
    /// An allowance: its scope and dimension.
    Quota(String, String),
}

/// So many of the latest attempts are told of a deployment.
const HISTORY: usize = 12;

/// The words in front of facts stand in a column of this width.
const LABEL: usize = 12;

/// The title and the lines; none when it is gone.
pub(super) fn told(subject: &Subject, reading: &Reading, board: &Board, width: u16) -> Option<(String, Toned)> {
    match subject {
        Subject::Deployment(name) => {
            let line = board.deployments.iter().find(|line| line.name == *name)?;
            Some((line.name.clone(), deployment(line, reading)))
        }
        Subject::Ladder(name) => {
            let line = board.ladders.iter().find(|line| line.ladder == *name.as_str())?;
            Some((format!("ladder {name}"), ladder(line, reading.now)))
        }
        Subject::Request(id) => {
            let request = reading.recent.iter().find(|request| request.id == *id.as_str())?;
            Some((format!("request {id}"), told_request(request, reading, width)))
        }
        Subject::Quota(name, dimension) => {
            let line = board.quotas.iter().find(|line| line.name == *name && line.dimension.as_str() == dimension)?;
            Some((format!("{name} {dimension}"), quota(line, reading.now)))
        }
    }
}

fn fact(out: &mut Toned, label: &str, tone: Tone, text: &str) {
    out.push(Tone::Faint, format!("{label:<LABEL$}"));
    out.line(tone, printable(text).replace(['\n', '\t'], " "));
}

fn deployment(line: &DeploymentLine, reading: &Reading) -> Toned {
    let mut out = Toned::default();
    let now = reading.now;
    let word =
        if line.why.is_empty() { line.state.word().to_owned() } else { format!("{}: {}", line.state.word(), line.why) };
    fact(&mut out, "state", line.state.tone(), &word);
    fact(&mut out, "account", Tone::Plain, line.target.account.as_str());
    let ladders: Vec<&str> = line.ladders.iter().map(LadderName::as_str).collect();
    let ladders = if ladders.is_empty() { "none".to_owned() } else { ladders.join(", ") };
    fact(&mut out, "ladders", Tone::Plain, &ladders);
    fact(&mut out, "last answer", Tone::Plain, &line.last_success.map_or("never".to_owned(), |at| moment(at, now)));
    figures(&mut out, line);
    holds(&mut out, line, reading);
    history(&mut out, line, reading);
    out
}

fn figures(out: &mut Toned, line: &DeploymentLine) {
    let figures = &line.figures;
    if figures.attempts == 0 {
        return;
    }
    let rate = figures.attempt_success.map_or("-".to_owned(), |rate| format!("{:.1} %", rate * 100.0));
    fact(out, "attempts", Tone::Plain, &format!("{} in this span, {rate} answered", figures.attempts));
    if let (Some(ttft), Some(total)) = (figures.ttft, figures.attempt_latency) {
        let text = format!(
            "first content p50 {} p95 {} p99 {}; whole p95 {}",
            span(ttft.p50),
            span(ttft.p95),
            span(ttft.p99),
            span(total.p95)
        );
        fact(out, "times", Tone::Plain, &text);
    }
    let failed = figures.classes.iter().filter(|(_, count)| *count > 0);
    let failed: Vec<String> = failed.map(|(class, count)| format!("{class} {count}")).collect();
    if !failed.is_empty() {
        fact(out, "failures", Tone::Plain, &failed.join(", "));
    }
}

/// Every hold that covers it, with what would free it.
fn holds(out: &mut Toned, line: &DeploymentLine, reading: &Reading) {
    let covering: Vec<&Versioned> =
        reading.snapshot.holds.iter().filter(|held| held.record.scope().covers(&line.target)).collect();
    let (active, past): (Vec<&Versioned>, Vec<&Versioned>) =
        covering.into_iter().partition(|held| holds_now(&held.record, reading.now));
    for held in active {
        out.line(Tone::Plain, "");
        hold(out, held, reading.now);
    }
    if let Some(known) = reading.known.get(line.known)
        && let crate::ladder::Eligibility::Probe(_) =
            eligibility(&reading.snapshot.holds, &line.target, reading.now, known.caller())
    {
        fact(out, "", Tone::Warning, "the next request is the probe");
    }
    let counting = past.iter().filter_map(|held| held.record.as_circuit()).find(|circuit| circuit.consecutive > 0);
    if let Some(circuit) = counting {
        fact(out, "breaker", Tone::Plain, &format!("closed; {} failures in a row", circuit.consecutive));
    }
}

fn hold(out: &mut Toned, held: &Versioned, now: Timestamp) {
    out.line(Tone::Strong, printable(&hold_line(held, now)));
    fact(out, "since", Tone::Plain, &moment(held.record.since(), now));
    fact(out, "known by", Tone::Plain, held.record.provenance().as_str());
    if !held.record.evidence().is_empty() {
        fact(out, "it said", Tone::Plain, held.record.evidence());
    }
    if let Some(id) = held.record.request_id() {
        fact(out, "request", Tone::Plain, id.as_str());
    }
    fact(out, "to free it", Tone::Good, &frees(held, now));
}

fn history(out: &mut Toned, line: &DeploymentLine, reading: &Reading) {
    let requests = reading.recent.iter().rev();
    let attempts = requests.flat_map(|request| request.attempts.iter().rev().map(move |attempt| (request, attempt)));
    let here = attempts.filter(|(_, attempt)| attempt.deployment == line.target.deployment).take(HISTORY);
    let mut lines = here.peekable();
    if lines.peek().is_some() {
        out.line(Tone::Plain, "");
        out.line(Tone::Strong, "lately");
    }
    for (request, attempt) in lines {
        let (tone, word) = match attempt.class {
            _ if attempt.given_up.is_some() => (Tone::Faint, "given up".to_owned()),
            Some(class) => (Tone::Warning, class.to_string()),
            None => (Tone::Good, "answered".to_owned()),
        };
        out.push(Tone::Faint, format!("{:<LABEL$}", distance(attempt.started_at, reading.now)));
        out.push(tone, format!("{word:<18}"));
        let rule = attempt.rule.as_deref().map_or(String::new(), |rule| format!(", rule {rule}"));
        let text = format!("{} in {}{rule}, {}", attempt.kind, span(attempt.latency), request.id);
        out.line(Tone::Plain, printable(&text));
    }
}

fn ladder(line: &LadderLine, now: Timestamp) -> Toned {
    let mut out = Toned::default();
    let (tone, word) = match () {
        () if line.is_exhausted() => (Tone::Bad, "EXHAUSTED"),
        () if line.is_one_away() => (Tone::Warning, "one failure away from exhaustion"),
        () => (Tone::Good, "answers"),
    };
    fact(&mut out, "state", tone, word);
    fact(&mut out, "steps", Tone::Plain, &format!("{} of {} can be asked", line.available, line.steps.len()));
    fact(&mut out, "domains", Tone::Plain, &format!("{} of {} independent ones left", line.domains_left, line.domains));
    if let Some(at) = line.returns.filter(|_| line.available == 0) {
        fact(&mut out, "returns", Tone::Plain, &format!("the first step {}", moment(at, now)));
    }
    let figures = &line.pace.figures;
    fact(
        &mut out,
        "requests",
        Tone::Plain,
        &format!("{} in this span, {} exhausted", figures.requests, figures.exhausted),
    );
    if let Some(mean) = figures.depth.mean {
        let drift =
            line.drift().map_or("no figure of last week".to_owned(), |drift| format!("{drift:+.2} against last week"));
        fact(&mut out, "depth", Tone::Plain, &format!("{mean:.2} on the mean, {drift}"));
    }
    if let Some(cascade) = &line.cascade {
        fact(&mut out, "ladder", Tone::Bad, &crate::report::cascade_line(cascade, now));
    }
    out.line(Tone::Plain, "");
    for (step, at) in line.steps.iter().zip(0..).chain(line.last_resort.iter().map(|step| (step, usize::MAX))) {
        let place = if at == usize::MAX { "last".to_owned() } else { at.to_string() };
        let until = step.until.map_or(String::new(), |until| format!(", {}", distance(until, now)));
        out.push(Tone::Faint, format!("{place:>4} "));
        out.push(step.state.tone(), format!("{:<12}", step.state.word()));
        out.line(Tone::Plain, format!("{} ({}{until})", step.name, step.word));
    }
    out
}

fn told_request(request: &RequestRecord, reading: &Reading, width: u16) -> Toned {
    let mut out = Toned::default();
    for line in request_text(request, &reading.snapshot.holds, reading.now, width).lines() {
        out.line(Tone::Plain, printable(line));
    }
    out
}

fn quota(line: &QuotaLine, now: Timestamp) -> Toned {
    let mut out = Toned::default();
    let limit = line.limit.map_or("no known limit".to_owned(), |limit| format!("of {limit:.0}"));
    fact(&mut out, "used", Tone::Plain, &format!("{:.0} {limit}", line.used));
    fact(&mut out, "said by", Tone::Plain, if line.source.is_empty() { "nobody" } else { &line.source });
    if let Some(at) = line.resets_at {
        fact(&mut out, "comes back", Tone::Plain, &moment(at, now));
    }
    match line.runs_out {
        Some(at) => fact(&mut out, "runs out", Tone::Warning, &format!("{} at the present pace", moment(at, now))),
        None => fact(&mut out, "runs out", Tone::Good, "not before it comes back, as far as the present pace tells"),
    }
    out
}

fn moment(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", rfc3339(at), distance(at, now))
}

/// The id of the hold that counts for a deployment, if one does.
pub(super) fn hold_ids(line: &DeploymentLine, reading: &Reading) -> Vec<String> {
    let covering = reading.snapshot.holds.iter().filter(|held| held.record.scope().covers(&line.target));
    covering.filter(|held| holds_now(&held.record, reading.now)).map(hold_id).collect()
}
