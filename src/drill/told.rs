//! A drill as people and programs read it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::Config;
use crate::domain::{Deployment, LadderName};
use crate::report::{span, wrapped};

use super::advice::advice;
use super::perform::Played;
use super::plot::Kind;
use super::ways::Way;

/// What stands in one row: one play, or the worst of several that differ only in how one thing fails.
struct Line {
    label: String,
    cells: [String; 7],
}

/// What stands for several ways to fail that are equally bad.
const EVERY_WAY: &str = "any way";

/// The narrowest column of names that can be read.
const NARROWEST: usize = 20;

/// The heads of the columns.
const HEADS: [&str; 7] = ["answered", "by step", "attempts", "calls", "slowest", "cost", "alarms"];

/// All plays of one ladder as a table, with what to change and whether it passed; sentences are wrapped at `width`.
pub fn drill_text(config: &Config, ladder: &LadderName, plays: &[Played], width: u16) -> String {
    let width = usize::from(width);
    let mut out = head(config, ladder, plays);
    let lines: Vec<Line> = rows(plays).into_iter().map(line).collect();
    out.push_str(&table(&lines, width));
    for played in plays {
        if let Some(back) = played.back {
            let after = back.map_or("nobody answers within a week".to_owned(), |after| match after.as_secs() {
                0 => "the first request is answered".to_owned(),
                _ => format!("the first answer comes {} later", span(after)),
            });
            out.push('\n');
            out.push_str(&wrapped(&format!("all: once every provider is well again, {after}"), 2, width));
        }
    }
    out.push_str(&changes(config, plays, width));
    out.push('\n');
    out.push_str(&wrapped(&verdict(plays), 2, width));
    out
}

/// The object of one play.
pub fn play_json(config: &Config, played: &Played) -> Value {
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for asked in &played.asked {
        *outcomes.entry(asked.report.record.outcome.as_str()).or_default() += 1;
    }
    let step = |((step, deployment), answered): (&(u32, Deployment), &usize)| json!({ "step": step, "deployment": deployment, "answered": answered });
    let calls: BTreeMap<&str, usize> = played.calls.iter().map(|(name, calls)| (name.as_str(), *calls)).collect();
    json!({
        "ladder": played.ladder,
        "scenario": played.kind.name(),
        "down": played.down,
        "way": played.way,
        "counts": played.kind.counts(),
        "ok": played.is_good(),
        "requests": played.asked.len(),
        "answered": played.answered(),
        "outcomes": outcomes,
        "by": by(played).iter().map(step).collect::<Vec<_>>(),
        "attempts": attempts(played),
        "upstream_calls": calls,
        "slowest_s": (slowest(played).as_secs_f64() * 10.0).round() / 10.0,
        "cost_usd": cost(played),
        "alarms": alarms(played),
        "back_after_s": played.back.flatten().map(|after| after.as_secs_f64()),
        "advice": advice(config, played),
    })
}

fn head(config: &Config, ladder: &LadderName, plays: &[Played]) -> String {
    let steps = config.ladders.get(ladder).map_or(0, |ladder| ladder.steps.len());
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let requests = plays.first().map_or(0, |played| played.asked.len());
    format!(
        "ladder {ladder}: {}, {}; {} in each play\n\n",
        counted(steps, "step"),
        counted(config.failure_domains(ladder), "failure domain"),
        counted(requests, "request"),
    )
}

/// The plays to show: of one thing that fails in several ways only the worst way, and its name where it is alone.
fn rows(plays: &[Played]) -> Vec<(&Played, Option<&str>)> {
    let mut rows: Vec<(&Played, Option<&str>)> = Vec::new();
    for played in plays {
        let same = |other: &Played| other.kind == Kind::Worst && other.kind == played.kind && other.down == played.down;
        match rows.iter_mut().find(|(other, _)| same(other)) {
            Some(row) if badness(played) > badness(row.0) => *row = (played, played.way),
            Some(row) if badness(played) == badness(row.0) => row.1 = Some(EVERY_WAY),
            Some(_) => {}
            None => rows.push((played, played.way)),
        }
    }
    rows
}

/// What makes one way to fail worse than another: answers that are missing, then the time, then the calls.
fn badness(played: &Played) -> (usize, Duration, usize) {
    (played.asked.len() - played.answered(), slowest(played), attempts(played))
}

fn line((played, way): (&Played, Option<&str>)) -> Line {
    let way = way.map_or(String::new(), |way| format!(" ({way})"));
    let label = match &played.down {
        Some(down) => format!("{}: {down}{way}", played.kind.name()),
        None => played.kind.name().to_owned(),
    };
    let by: Vec<String> = by(played).iter().map(|((step, _), times)| format!("{step} x{times}")).collect();
    let took = slowest(played);
    let cells = [
        format!("{}/{}", played.answered(), played.asked.len()),
        if by.is_empty() { "nobody".to_owned() } else { by.join(", ") },
        attempts(played).to_string(),
        played.calls.values().sum::<usize>().to_string(),
        if took < Duration::from_millis(1) { "at once".to_owned() } else { span(took) },
        cost(played).map_or("-".to_owned(), |usd| format!("${usd:.4}")),
        alarms(played).to_string(),
    ];
    Line { label, cells }
}

fn table(lines: &[Line], width: usize) -> String {
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let label = widest(&mut lines.iter().map(|line| line.label.chars().count()).chain([8]));
    let widths: Vec<usize> = HEADS
        .iter()
        .enumerate()
        .map(|(at, head)| {
            widest(&mut lines.iter().filter_map(|line| line.cells.get(at)).map(String::len).chain([head.len()]))
        })
        .collect();
    // Where the terminal is narrow a long name gets a line of its own.
    let room = width.saturating_sub(widths.iter().map(|width| width + 2).sum());
    let label = label.min(room.max(NARROWEST));
    let row = |first: &str, cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths).map(|(cell, width)| format!("  {cell:<width$}"));
        let (above, beside) = if first.len() > label { (format!("{first}\n"), "") } else { (String::new(), first) };
        format!("{above}{}\n", format!("{beside:<label$}{}", cells.collect::<String>()).trim_end())
    };
    let heads = row("scenario", &mut HEADS.into_iter());
    let rows = lines.iter().map(|line| row(&line.label, &mut line.cells.iter().map(String::as_str)));
    std::iter::once(heads).chain(rows).collect()
}

/// Each thing once, whichever play said it.
fn changes(config: &Config, plays: &[Played], width: usize) -> String {
    let mut all: Vec<String> = Vec::new();
    for told in plays.iter().flat_map(|played| advice(config, played)) {
        if !all.contains(&told) {
            all.push(told);
        }
    }
    if all.is_empty() {
        return "\nwhat to change: nothing that this drill could see\n".to_owned();
    }
    let lines = all.iter().map(|told| wrapped(&format!("  - {told}"), 4, width));
    format!("\nwhat to change:\n{}", lines.collect::<String>())
}

/// What failed, with its ways where it fails in some of them only.
fn verdict(plays: &[Played]) -> String {
    let mut failed: Vec<(String, usize, Vec<&str>)> = Vec::new();
    for played in plays.iter().filter(|played| !played.is_good()) {
        let down = played.down.as_ref().map_or(String::new(), |down| format!(": {down}"));
        let label = format!("{}{down}", played.kind.name());
        let lost = played.asked.len() - played.answered();
        match failed.iter_mut().find(|(known, ..)| *known == label) {
            Some((_, most, ways)) => {
                *most = lost.max(*most);
                ways.extend(played.way);
            }
            None => failed.push((label, lost, played.way.into_iter().collect())),
        }
    }
    if failed.is_empty() {
        return "passed".to_owned();
    }
    let told = failed.iter().map(|(label, lost, ways)| {
        let ways = match ways.len() {
            0 => String::new(),
            all if all == Way::ALL.len() => " (in every way)".to_owned(),
            _ => format!(" ({})", ways.join(", ")),
        };
        format!("{label}{ways}, {lost} not answered")
    });
    format!("FAILED: {}", told.collect::<Vec<_>>().join("; "))
}

/// How many requests each step answered.
fn by(played: &Played) -> BTreeMap<(u32, Deployment), usize> {
    let mut all = BTreeMap::new();
    for record in played.asked.iter().filter(|asked| asked.is_answered()).map(|asked| &asked.report.record) {
        if let (Some(step), Some(deployment)) = (record.step, &record.deployment) {
            *all.entry((step, deployment.clone())).or_default() += 1;
        }
    }
    all
}

fn attempts(played: &Played) -> usize {
    played.asked.iter().map(|asked| asked.report.record.attempts.len()).sum()
}

fn slowest(played: &Played) -> Duration {
    played.asked.iter().map(|asked| asked.took).max().unwrap_or_default()
}

fn cost(played: &Played) -> Option<f64> {
    let costs = played.asked.iter().filter_map(|asked| asked.report.record.cost_usd);
    costs.fold(None, |sum, cost| Some(sum.unwrap_or(0.0) + cost))
}

fn alarms(played: &Played) -> usize {
    played.asked.iter().filter(|asked| asked.report.end.is_exhaustion()).count()
}
