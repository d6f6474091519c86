//! What several answers to one request come to, and what was kept of it: as JSON and for people.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::domain::excerpt;
use crate::ladder::End;
use crate::policy::{Bands, Breach, Drift, Field, Lies};
use crate::route::Report;
use crate::store::Baseline;

use super::moment::{rfc3339, seconds_of};

/// How much of a value stands in a line, in characters.
const VALUE: usize = 40;

/// So many fields, and so many different values of one, are told in lines; JSON has them all.
const MOST: (usize, usize) = (20, 4);

/// Several runs of one request.
#[derive(Debug)]
pub struct Repeated<'a> {
    /// All of them, in order.
    pub runs: &'a [Report],
    /// The place of the run that is handed out; none where none answered.
    pub shown: Option<usize>,
    /// How many gave an answer.
    pub answered: usize,
    /// Whether they are enough to be compared with one another.
    pub is_compared: bool,
    /// Whether answers are plain text, of which it is only told whether they are equal.
    pub is_text: bool,
    /// How the answers lie, among all runs; nothing where they are not compared.
    pub fields: &'a [Field],
    /// What is allowed of each field.
    pub bands: &'a Bands,
    /// The fields that are outside of it.
    pub breaches: &'a [Breach],
}

impl Repeated<'_> {
    /// What all runs cost together, in USD, where it is known.
    fn cost(&self) -> Option<f64> {
        let known = || self.runs.iter().filter_map(|run| run.record.cost_usd);
        known().next().is_some().then(|| known().sum())
    }

    /// The runs that gave no answer, with their places.
    fn failed(&self) -> impl Iterator<Item = (usize, &Report)> {
        self.runs.iter().enumerate().filter(|(_, run)| !matches!(run.end, End::Answered { .. }))
    }

    /// The key `repeat` of `chat --json`.
    pub fn json(&self) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| drop(object.insert(key.to_owned(), value));
        put("runs", json!(self.runs.len()));
        put("answered", json!(self.answered));
        put("shown", json!(self.shown));
        put("request_ids", self.runs.iter().map(|run| json!(run.record.id)).collect());
        put("deployments", self.runs.iter().map(|run| json!(run.record.deployment)).collect());
        put("cost_usd", json!(self.cost()));
        put("within", json!(self.is_compared.then_some(self.breaches.is_empty())));
        if self.is_text {
            let agreement = self.fields.first().and_then(Field::agreement);
            put("equal", json!(agreement.map(|share| share >= 1.0)));
            put("agreement", json!(agreement));
            put("fields", json!([]));
        } else {
            put("fields", self.fields.iter().map(|field| self.field_json(field)).collect());
        }
        let told = |(at, run): (usize, &Report)| {
            let record = &run.record;
            json!({"run": at, "request_id": record.id, "outcome": record.outcome, "error": record.error})
        };
        put("failed", self.failed().map(told).collect());
        Value::Object(object)
    }

    fn field_json(&self, field: &Field) -> Value {
        let band = self.bands.0.get(&field.pointer);
        let (min, median, max) = match &field.lies {
            Lies::Numbers { min, median, max } => (Some(min), Some(median), Some(max)),
            Lies::Values { .. } => (None, None, None),
        };
        let said = match &field.lies {
            Lies::Numbers { .. } => Value::Null,
            Lies::Values { said } => {
                said.iter().map(|(value, count)| json!({"value": value, "count": count})).collect()
            }
        };
        json!({
            "field": field.pointer,
            "seen": field.seen,
            "min": min,
            "median": median,
            "max": max,
            "spread": field.spread(),
            "agreement": field.agreement(),
            "distribution": said,
            "band": band,
            "within": band.map(|band| field.is_within(*band)),
        })
    }

    /// For people: a line for all, and one for each field.
    pub fn lines(&self) -> Vec<String> {
        let cost = self.cost().map_or(String::new(), |usd| format!(", ${usd:.4}"));
        let shown = self.shown.and_then(|at| Some((at, self.runs.get(at)?)));
        let shown = shown.map_or(String::new(), |(at, run)| {
            let who = run.record.deployment.as_ref().map_or("nobody".to_owned(), ToString::to_string);
            format!("; shown is run {}, {who} ({})", at + 1, run.record.id)
        });
        let failed = self.failed().count();
        let gave_none = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        let answers = counted(self.answered, "answer");
        let mut lines = vec![format!("{}, {answers}{gave_none}{cost}{shown}", counted(self.runs.len(), "run"))];
        lines.extend(self.failed().map(|(at, run)| {
            let why = run.record.error.as_deref().unwrap_or_default();
            format!("  run {} gave none: {} ({})", at + 1, excerpt(why, 3 * VALUE), run.record.id)
        }));
        if !self.is_compared {
            lines.push("  there are too few answers to compare".to_owned());
            return lines;
        }
        if self.is_text {
            lines.extend(self.fields.first().map(|field| self.text_line(field)));
            return lines;
        }
        let (banded, others): (Vec<&Field>, Vec<&Field>) =
            self.fields.iter().partition(|field| self.bands.0.contains_key(&field.pointer));
        let width = self.fields.iter().map(|field| name(&field.pointer).len()).max().unwrap_or(0).min(VALUE);
        let all = banded.len() + others.len();
        lines.extend(banded.into_iter().chain(others).take(MOST.0).map(|field| self.line(field, width)));
        if all > MOST.0 {
            lines.push(format!("  and {} more fields; --json has them", all - MOST.0));
        }
        let missing =
            self.breaches.iter().filter(|breach| !self.fields.iter().any(|one| one.pointer == breach.pointer));
        lines.extend(missing.map(|breach| format!("  {}  no answer has it", name(&breach.pointer))));
        lines
    }

    fn text_line(&self, field: &Field) -> String {
        let said = match &field.lies {
            Lies::Values { said } => said.as_slice(),
            Lies::Numbers { .. } => &[],
        };
        match said {
            [_] if self.failed().next().is_none() => format!("  all {} answers are equal", self.answered),
            [(_, most)] => format!("  the answers that came are equal: {most} of {} runs", field.runs),
            [(_, most), ..] => {
                format!("  the answers differ: {} texts, the same one in {most} of {}", said.len(), field.runs)
            }
            [] => "  there is nothing to compare".to_owned(),
        }
    }

    fn line(&self, field: &Field, width: usize) -> String {
        let lies = match &field.lies {
            Lies::Numbers { min, median, max } if min == max => format!("{} each time", short(*median)),
            Lies::Numbers { min, median, max } => {
                format!("{} to {}, median {}, spread {}", short(*min), short(*max), short(*median), short(max - min))
            }
            Lies::Values { said } => words(said, field.runs),
        };
        let failed = self.failed().count();
        let left_out = self.answered.saturating_sub(field.seen as usize);
        let left_out = if left_out > 0 { format!(", left out by {left_out}") } else { String::new() };
        let failed = if failed > 0 { format!(", nothing from {}", counted(failed, "run")) } else { String::new() };
        let band = self.bands.0.get(&field.pointer).map_or(String::new(), |band| {
            let allowed = allowed(*band, field.spread().is_some());
            if field.is_within(*band) { format!(" ({allowed})") } else { format!("; OUTSIDE of its band ({allowed})") }
        });
        format!("  {:width$}  {lies}{left_out}{failed}{band}", name(&field.pointer))
    }
}

fn counted(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// What a band allows.
fn allowed(band: f64, is_number: bool) -> String {
    if is_number { format!("at most {}", short(band)) } else { format!("{} % must agree", short(band * 100.0)) }
}

/// The whole answer has a pointer that is not to be seen.
fn name(pointer: &str) -> String {
    if pointer.is_empty() { "the answer".to_owned() } else { excerpt(pointer, VALUE) }
}

/// A value as it stands in a line.
fn value(value: &Value) -> String {
    excerpt(&value.to_string(), VALUE)
}

fn words(said: &[(Value, u32)], runs: u32) -> String {
    match said {
        [(only, count)] if *count == runs => format!("{} each time", value(only)),
        [(first, count), rest @ ..] => {
            let others = rest.iter().take(MOST.1).map(|(other, count)| format!(", {} {count}", value(other)));
            let more = rest.len().saturating_sub(MOST.1);
            let more = if more > 0 { format!(" and {more} others") } else { String::new() };
            format!("{} in {count} of {runs}{}{more}", value(first), others.collect::<String>())
        }
        [] => "nothing".to_owned(),
    }
}

/// Six digits, without what says nothing.
fn short(number: f64) -> String {
    let rounded = (number * 1e6).round() / 1e6;
    if rounded == 0.0 && number != 0.0 { format!("{number:e}") } else { rounded.to_string() }
}

/// What was kept before, or is kept now.
#[derive(Debug)]
pub enum Kept<'a> {
    /// There was nothing; this is kept now.
    New(&'a Baseline),
    /// This was kept before, and so does what is said now compare with it.
    Compared(&'a Baseline, &'a [Drift]),
}

impl Kept<'_> {
    /// The key `baseline` of `chat --json`.
    pub fn json(&self) -> Value {
        let (baseline, drifts) = match self {
            Self::New(baseline) => (baseline, &[][..]),
            Self::Compared(baseline, drifts) => (baseline, *drifts),
        };
        let told = |drift: &Drift| {
            json!({
                "field": drift.pointer,
                "before": drift.before,
                "now": drift.now,
                "moved": drift.moved,
                "same": drift.same,
                "band": drift.band,
                "within": drift.is_within(),
            })
        };
        json!({
            "name": baseline.name,
            "stored": matches!(self, Self::New(_)),
            "at": rfc3339(baseline.at),
            "runs": baseline.runs,
            "request_id": baseline.request_id,
            "deployment": baseline.deployment,
            "values": values_json(&baseline.values),
            "within": drifts.iter().all(Drift::is_within),
            "drift": drifts.iter().map(told).collect::<Vec<_>>(),
        })
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::New(baseline) => {
                let values = baseline.values.iter().map(|(pointer, said)| format!("{} {}", name(pointer), value(said)));
                let values: Vec<String> = values.collect();
                vec![format!("baseline {}: kept for this input: {}", baseline.name, values.join(", "))]
            }
            Self::Compared(baseline, drifts) => {
                let head =
                    format!("baseline {} of {} ({}):", baseline.name, seconds_of(baseline.at), baseline.deployment);
                std::iter::once(head).chain(drifts.iter().map(drift_line)).collect()
            }
        }
    }
}

fn drift_line(drift: &Drift) -> String {
    let now = drift.now.as_ref().map_or("nothing".to_owned(), value);
    let how = match (drift.moved, drift.same) {
        (Some(moved), _) => format!(", moved by {}", short(moved)),
        (None, Some(same)) if same < 1.0 => format!(", the same in {} %", short(same * 100.0)),
        (None, Some(_)) => String::new(),
        (None, None) => ", which cannot be compared".to_owned(),
    };
    let allowed = allowed(drift.band, drift.before.is_number());
    let verdict =
        if drift.is_within() { format!(" ({allowed})") } else { format!("; DRIFTED out of its band ({allowed})") };
    format!("  {}  {} then, {now} now{how}{verdict}", name(&drift.pointer), value(&drift.before))
}

fn values_json(values: &BTreeMap<String, Value>) -> Value {
    Value::Object(values.iter().map(|(pointer, value)| (pointer.clone(), value.clone())).collect())
}

/// The object of `baseline list --json` and `baseline show --json`.
pub fn baselines_json(all: &[Baseline]) -> Value {
    let told = |baseline: &Baseline| {
        json!({
            "name": baseline.name,
            "input": baseline.input,
            "at": rfc3339(baseline.at),
            "compared_at": rfc3339(baseline.compared_at),
            "runs": baseline.runs,
            "request_id": baseline.request_id,
            "deployment": baseline.deployment,
            "values": values_json(&baseline.values),
        })
    };
    json!({"baselines": all.iter().map(told).collect::<Vec<_>>()})
}

/// The names with their inputs, or with `whole` each input with its values.
pub fn baselines_text(all: &[Baseline], whole: bool) -> String {
    if all.is_empty() {
        return "no baseline is kept; `llmr chat --baseline NAME` makes one\n".to_owned();
    }
    if whole {
        let one = |baseline: &Baseline| {
            let values =
                baseline.values.iter().map(|(pointer, said)| format!("  {}  {}\n", name(pointer), value(said)));
            let Baseline { input, at, runs, deployment, request_id, .. } = baseline;
            let of = if *runs == 1 { String::new() } else { format!(", made of {runs} runs") };
            format!(
                "input {input}: {} by {deployment}{of} ({request_id})\n{}",
                seconds_of(*at),
                values.collect::<String>()
            )
        };
        return all.iter().map(one).collect();
    }
    let mut names: BTreeMap<&str, (u32, Timestamp)> = BTreeMap::new();
    for baseline in all {
        let (inputs, latest) = names.entry(&baseline.name).or_insert((0, baseline.at));
        *inputs += 1;
        *latest = (*latest).max(baseline.at);
    }
    let width = names.keys().map(|name| name.len()).max().unwrap_or(0);
    let line = |(name, (inputs, at)): (&str, (u32, Timestamp))| {
        let plural = if inputs == 1 { "" } else { "s" };
        format!("{name:width$}  {inputs} input{plural}, the latest kept {}\n", seconds_of(at))
    };
    names.into_iter().map(line).collect()
}
