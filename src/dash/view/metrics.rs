//! The figures over time.

use ratatui::layout::Rect;

use crate::dash::model::{Model, Pane};
use crate::domain::Class;
use crate::metrics::{Figures, Percentiles};
use crate::report::Tone;

use super::brush::Brush;
use super::chart::bars;
use super::deployments::{dollars, short, took};
use super::layout::{below, first};

/// One row of values.
pub(in crate::dash) struct Chart {
    label: String,
    /// What it is over the whole span.
    value: String,
    tone: Tone,
    values: Vec<Option<f64>>,
}

/// The columns of a chart's name.
const NAME: u16 = 18;

/// The columns of its name and its figure, where the pane is narrow and where it is wide.
const WORDS: (u16, u16) = (34, 48);

pub(in crate::dash) fn charts(model: &Model) -> Vec<Chart> {
    let measured = &model.reading.measured;
    let total = &measured.total;
    let over = |of: &dyn Fn(&Figures) -> Option<f64>| measured.parts.iter().map(of).collect();
    let chart = |label: &str, value: String, tone: Tone, of: &dyn Fn(&Figures) -> Option<f64>| Chart {
        label: label.to_owned(),
        value,
        tone,
        values: over(of),
    };
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let depth = total.depth.mean.map_or("-".to_owned(), |mean| {
        let drift =
            measured.depth_before.map_or(String::new(), |before| format!(" ({:+.2} to last week)", mean - before));
        format!("{mean:.2}{drift}")
    });
    let exhausted = if total.exhausted > 0 { Tone::Bad } else { Tone::Plain };
    let denied = if total.retries_denied > 0 { Tone::Bad } else { Tone::Plain };
    let mut all = vec![
        chart("success", percent(total.success), Tone::Good, &|one| one.success),
        chart("requests", short(total.requests), Tone::Plain, &|one| some(one.requests)),
        chart("step depth", depth, Tone::Plain, &|one| one.depth.mean),
        chart("exhausted", total.exhausted.to_string(), exhausted, &|one| some(one.exhausted)),
        chart("retries", total.retries.to_string(), Tone::Plain, &|one| some(one.retries)),
        chart("retries denied", total.retries_denied.to_string(), denied, &|one| some(one.retries_denied)),
        chart("first content p95", times(total.ttft), Tone::Plain, &|one| p95(one.ttft)),
        chart("request p95", times(total.latency), Tone::Plain, &|one| p95(one.latency)),
        chart(
            "tokens in/out",
            format!("{}/{}", short(total.tokens.input), short(total.tokens.output)),
            Tone::Plain,
            &|one| some(one.tokens.input + one.tokens.output),
        ),
        chart("cost", cost(total), Tone::Plain, &|one| Some(one.money.total)),
        chart("transport", percent(total.transport), Tone::Good, &|one| one.transport),
        chart("as asked", percent(total.attempt_success), Tone::Good, &|one| one.attempt_success),
        chart("repairs", repairs(total), Tone::Plain, &|one| some(one.repairs)),
        chart("valid at once", percent(total.valid), Tone::Good, &|one| one.valid),
    ];
    let mix = total.classes.iter().filter(|(_, count)| *count > 0);
    all.extend(mix.map(|(class, count)| {
        let of = |one: &Figures| some(of_class(one, *class));
        chart(class.as_str(), count.to_string(), Tone::Warning, &of)
    }));
    all
}

/// How many repairs helped, of those that were tried.
fn repairs(total: &Figures) -> String {
    let cost = if total.repairs_usd > 0.0 { format!(", {}", dollars(total.repairs_usd)) } else { String::new() };
    format!("{} of {} helped{cost}", total.repaired, total.repairs)
}

fn of_class(figures: &Figures, class: Class) -> u64 {
    figures.classes.iter().find(|(one, _)| *one == class).map_or(0, |(_, count)| *count)
}

#[expect(clippy::cast_precision_loss, reason = "a figure for the eye")]
#[expect(clippy::unnecessary_wraps, reason = "as the charts want it")]
const fn some(count: u64) -> Option<f64> {
    Some(count as f64)
}

fn p95(times: Option<Percentiles>) -> Option<f64> {
    times.map(|times| times.p95.as_secs_f64())
}

fn times(times: Option<Percentiles>) -> String {
    times.map_or("-".to_owned(), |times| took(times.p95))
}

fn cost(total: &Figures) -> String {
    let each = total.money.per_success.map_or(String::new(), |each| format!(", {} each", dollars(each)));
    format!("{}{each}", dollars(total.money.total))
}

pub(super) fn metrics(model: &Model, place: Rect, brush: &mut Brush<'_>) {
    if place.height == 0 {
        return;
    }
    let is_focused = model.pane == Pane::Metrics;
    let word = model.span.as_str();
    let charts = charts(model);
    let rows = Rect { y: place.y + 1, height: place.height - 1, ..place };
    let count = u16::try_from(charts.len()).unwrap_or(u16::MAX).max(1);
    let height = (rows.height / count).clamp(1, 3);
    let shown = usize::from(rows.height / height);
    let from = first(if is_focused { model.cursor(Pane::Metrics) } else { 0 }, shown);
    let end = format!("{} [ ] other spans  {word} ago to now ", below(charts.len(), from, shown));
    let title = format!(" 5 metrics over {word} ");
    brush.rule(place, is_focused, &[(Tone::Strong, title)], &[(Tone::Faint, end)]);
    let words = (rows.width * 9 / 20).clamp(WORDS.0, WORDS.1).min(rows.width / 2);
    for ((at, chart), y) in
        charts.iter().enumerate().skip(from).take(shown).zip((rows.y..).step_by(usize::from(height)))
    {
        let foot = y + height - 1;
        let name = NAME.min(words * 3 / 5);
        brush.text((rows.x + 1, foot), name.saturating_sub(1), Tone::Plain, &chart.label);
        brush.text((rows.x + 1 + name, foot), words.saturating_sub(name + 1), Tone::Strong, &chart.value);
        let width = rows.width.saturating_sub(words + 1);
        let lines = bars(&chart.values, usize::from(width), usize::from(height), brush.letters);
        for (line, y) in lines.iter().zip(y..) {
            brush.text((rows.x + words + 1, y), width, chart.tone, line);
        }
        if is_focused && at == model.cursor(Pane::Metrics) {
            brush.cursor(Rect { y: foot, height: 1, width: words, ..rows });
        }
    }
}
