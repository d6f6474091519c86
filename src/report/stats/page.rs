//! One page for a person: all figures of a span, each with a word of what it means and a graph of how it went.
//!
//! A figure has a label on its left and, where the terminal has room, its graph on its right; where it has not, label and
//! graph stand on lines of their own. The graphs share one span, so that a dip in one can be looked up in another.

use jiff::Timestamp;

use super::spark::{Marks, spark, spark_to_largest};
use super::words::{percent, short, time, usd, whole};
use super::{Budget, Stats, failed};
use crate::domain::{Class, Outcome};
use crate::metrics::{Figures, Percentiles};
use crate::policy::Versioned;
use crate::report::layout::{columns, flowed, padded, wrapped};
use crate::report::moment::{seconds_of, span};
use crate::report::status::hold_line;
use crate::report::tone::{Tone, Toned};

/// How wide the labels are.
const LABEL: usize = 14;

/// Narrower than this, a label stands above its figure.
const NARROW: usize = 60;

/// Text beside a graph is no narrower than this, and no wider than the second.
const TEXT: (usize, usize) = (36, 100);

/// So many steps are named one by one.
const STEPS: usize = 6;

/// Classes that have one cause, by the word for it.
const CAUSES: [(&str, &[Class]); 7] = [
    ("burst", &[Class::RateLimit]),
    ("quota", &[Class::QuotaExhausted]),
    ("auth, billing", &[Class::Auth, Class::Billing, Class::Permission, Class::ModelUnavailable]),
    ("provider", &[Class::Overloaded, Class::ServerError, Class::Timeout, Class::Network]),
    ("schema", &[Class::InvalidOutput]),
    ("request", &[Class::ContextOverflow, Class::ContentPolicy, Class::Unsupported, Class::InvalidRequest]),
    ("not known", &[Class::Unknown]),
];

pub(super) struct Page {
    out: Toned,
    width: usize,
    pub(super) marks: Marks,
    /// How wide text is, and whether graphs stand beside it.
    room: usize,
    beside: bool,
}

impl Page {
    fn new(width: usize, marks: Marks, graph: usize) -> Self {
        let left = if width < NARROW { 2 } else { LABEL };
        let rest = width.saturating_sub(left);
        let beside = rest.saturating_sub(graph + 2) >= TEXT.0 && graph > 0;
        let room = if beside { (rest - graph - 2).min(TEXT.1) } else { rest };
        Self { out: Toned::default(), width, marks, room, beside }
    }

    /// A figure in pieces that are not broken where they fit into a line. The label is empty where it goes on with what
    /// stands above.
    pub(super) fn put(&mut self, tone: Tone, label: &str, (pieces, mark): (&[String], &str), graph: &str) {
        let narrow = self.width < NARROW;
        if narrow && !label.is_empty() {
            self.out.line(Tone::Strong, label);
        }
        let indent = if narrow { 2 } else { LABEL };
        let text: String = flowed(pieces, mark, self.room).iter().map(|line| wrapped(line, 0, self.room)).collect();
        for (nth, line) in text.lines().enumerate() {
            let left = if nth == 0 && !narrow { label } else { "" };
            self.out.push(Tone::Strong, padded(left, indent));
            // Blanks at the end of a line would be copied with it.
            match nth == 0 && self.beside && !graph.trim().is_empty() {
                true => {
                    self.out.push(tone, line);
                    self.out.push(Tone::Plain, " ".repeat(self.room.saturating_sub(columns(line)) + 2));
                    self.out.line(Tone::Faint, graph.trim_end());
                }
                false => self.out.line(tone, line),
            }
        }
        if !self.beside && !graph.trim().is_empty() {
            self.out.line(Tone::Faint, format!("{:indent$}{}", "", graph.trim_end()));
        }
    }

    /// A figure in one piece.
    pub(super) fn say(&mut self, tone: Tone, label: &str, text: impl Into<String>, graph: &str) {
        self.put(tone, label, (&[text.into()], ""), graph);
    }
}

impl Stats<'_> {
    /// How much deeper requests fell than a week before.
    pub(super) fn drift(&self) -> Option<f64> {
        Some(self.all.whole.figures.depth.mean? - self.week_before?.depth.mean?)
    }

    /// The page, at most `width` columns where names, times and ids leave it the choice.
    pub fn text(&self, width: u16, marks: Marks) -> Toned {
        let width = usize::from(width);
        let mut page = Page::new(width, marks, self.all.parts.len());
        page.out.push(Tone::Plain, wrapped(&self.heading(true), 2, width));
        if !self.has_state {
            page.out.line(Tone::Plain, "there is no state file yet: nothing was asked");
        }
        page.out.line(Tone::Plain, "");
        let figures = &self.all.whole.figures;
        self.requests(&mut page, figures);
        self.depth(&mut page, figures);
        self.attempts(&mut page, figures);
        self.answers(&mut page, figures);
        self.breakers(&mut page);
        self.classes(&mut page, figures);
        self.times(&mut page, figures);
        self.usage(&mut page, figures);
        page.out
    }

    /// What is shown, and with graphs what a mark of them is.
    pub(super) fn heading(&self, has_graphs: bool) -> String {
        let slice = self.slice;
        let length = span(slice.until.duration_since(slice.since).unsigned_abs());
        let mut parts = vec![format!("{} to {} ({length})", second(slice.since), second(slice.until))];
        parts.extend(slice.ladder.as_ref().map(|ladder| format!("ladder {ladder}")));
        if !slice.asked.is_empty() {
            let names: Vec<String> = slice.asked.iter().map(ToString::to_string).collect();
            parts.push(format!("at {}", names.join(" or ")));
        }
        if !slice.classes.is_empty() {
            let names: Vec<&str> = slice.classes.iter().map(|class| class.as_str()).collect();
            parts.push(format!("attempts that failed as {}, no requests", names.join(" or ")));
        }
        if let Some(first) = self.all.parts.get(1).filter(|_| has_graphs) {
            parts.push(format!("a mark is {}", span(first.until.duration_since(first.from).unsigned_abs())));
        }
        parts.join("; ")
    }

    pub(super) fn graph(&self, page: &Page, value: impl Fn(&Figures) -> Option<f64>) -> String {
        spark_to_largest(&self.values(value), page.marks)
    }

    pub(super) fn values(&self, value: impl Fn(&Figures) -> Option<f64>) -> Vec<Option<f64>> {
        self.all.parts.iter().map(|part| value(&part.figures)).collect()
    }

    fn requests(&self, page: &mut Page, figures: &Figures) {
        if !self.slice.classes.is_empty() {
            return;
        }
        let text = match figures.success {
            None => "no request has ended".to_owned(),
            Some(share) => format!("{} of {} were answered as asked", percent(share), requests(of_fate(figures))),
        };
        page.say(Tone::Plain, "success", text, &spark(&self.values(|f| f.success), 1.0, page.marks));
        let other = |(outcome, count): &&(Outcome, u64)| *count > 0 && *outcome != Outcome::Answered;
        let ends: Vec<String> = figures.outcomes.iter().filter(other).map(|(of, count)| ended(*of, *count)).collect();
        if !ends.is_empty() {
            page.put(Tone::Plain, "", (&ends, ","), "");
        }
        let (tone, text) = match figures.exhausted {
            0 => (Tone::Plain, "no request fell through its ladder".to_owned()),
            count => {
                let share =
                    super::json::exhaustion(figures).map_or(String::new(), |share| format!(" ({})", percent(share)));
                (Tone::Bad, format!("{} fell through: no step answered{share}", requests(count)))
            }
        };
        let graph = if figures.exhausted > 0 { self.graph(page, |f| Some(f.exhausted as f64)) } else { String::new() };
        page.say(tone, "exhausted", text, &graph);
    }

    fn depth(&self, page: &mut Page, figures: &Figures) {
        let Some(mean) = figures.depth.mean else {
            return page.say(Tone::Plain, "step depth", format!("no data; {}", self.last_week()), "");
        };
        let pieces = [format!("mean {mean:.2} (0 is the primary)"), self.last_week()];
        page.put(Tone::Plain, "step depth", (&pieces, ";"), &self.graph(page, |f| f.depth.mean));
        page.put(Tone::Plain, "", (&self.steps(figures), ","), "");
    }

    fn last_week(&self) -> String {
        match (self.week_before.and_then(|before| before.depth.mean), self.drift()) {
            (None, _) => "a week before: no data".to_owned(),
            (Some(before), Some(drift)) if drift >= 0.005 => format!("a week before {before:.2}, so {drift:.2} deeper"),
            (Some(before), Some(drift)) if drift <= -0.005 => {
                format!("a week before {before:.2}, so {:.2} less deep", -drift)
            }
            (Some(before), _) => format!("a week before {before:.2}"),
        }
    }

    /// How many each step answered, with the share a week before where that is known. The deepest of many are one.
    fn steps(&self, figures: &Figures) -> Vec<String> {
        let before = self.week_before.map(|before| before.depth.at.as_slice()).unwrap_or_default();
        let all: u64 = figures.depth.at.iter().sum();
        let count = |at: &[u64], step: usize| at.get(step).copied().unwrap_or(0);
        let told = |name: String, now: u64, then: u64| {
            let old: u64 = before.iter().sum();
            let was = if old > 0 { format!(", was {}", percent(then as f64 / old as f64)) } else { String::new() };
            format!("{name}: {} ({}{was})", whole(now), percent(now as f64 / all.max(1) as f64))
        };
        let deepest = figures.depth.at.len().max(before.len());
        let used: Vec<usize> =
            (0..deepest).filter(|step| count(&figures.depth.at, *step) + count(before, *step) > 0).collect();
        let (shown, deeper) = used.split_at(used.len().min(STEPS));
        let one = |step: &usize| told(format!("step {step}"), count(&figures.depth.at, *step), count(before, *step));
        let mut texts: Vec<String> = shown.iter().map(one).collect();
        if !deeper.is_empty() {
            let sum = |at: &[u64]| deeper.iter().map(|step| count(at, *step)).sum();
            texts.push(told("deeper".to_owned(), sum(&figures.depth.at), sum(before)));
        }
        texts
    }

    fn attempts(&self, page: &mut Page, figures: &Figures) {
        let answered =
            figures.attempt_success.map_or(String::new(), |share| format!(", {} of them answered", percent(share)));
        let text = format!("{} exchanges{answered}", whole(figures.attempts));
        page.say(Tone::Plain, "attempts", text, &self.graph(page, |f| Some(f.attempts as f64)));
        let kinds = [
            (figures.retries, "retry", "retries"),
            (figures.repairs, "repair", "repairs"),
            (figures.adjusted, "adjusted", "adjusted"),
            (figures.hedges, "hedge", "hedges"),
            (figures.probes, "probe", "probes"),
            (figures.given_up, "given up", "given up"),
        ];
        let kinds = kinds.iter().filter(|(count, ..)| *count > 0);
        let kinds: Vec<String> = kinds
            .map(|(count, one, many)| format!("{} {}", whole(*count), if *count == 1 { one } else { many }))
            .collect();
        if !kinds.is_empty() {
            page.put(Tone::Plain, "", (&kinds, ","), "");
        }
        let mut parts: Vec<String> = self
            .retries
            .iter()
            .map(|retries| {
                let since = retries.known_since.filter(|known| *known > self.slice.since);
                let since = since.map_or(String::new(), |known| format!(" since {}", seconds_of(known)));
                format!("{} granted, {} denied{since}", whole(retries.granted), whole(retries.denied))
            })
            .collect();
        parts.extend(self.budgets().map(|text| format!("in the last minute {text}")));
        let graph = if figures.retries > 0 { self.graph(page, |f| Some(f.retries as f64)) } else { String::new() };
        page.put(Tone::Plain, "retry budget", (&parts, ";"), &graph);
    }

    /// `3 of 60`, or with the names of the ladders where their budgets differ.
    fn budgets(&self) -> Option<String> {
        let used = self.retries_used;
        let first = self.budgets.first()?;
        if self.budgets.iter().all(|budget| budget.limit == first.limit) {
            return Some(format!("{used} of {}", first.limit));
        }
        let one = |Budget { ladder, limit }: &Budget| format!("{used} of {limit} for {ladder}");
        Some(self.budgets.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    fn breakers(&self, page: &mut Page) {
        if self.holds.is_empty() {
            return page.say(Tone::Good, "held now", "nothing", "");
        }
        for (nth, held) in self.holds.iter().enumerate() {
            let label = if nth == 0 { "held now" } else { "" };
            let tone = if held.record.class().needs_a_person() { Tone::Bad } else { Tone::Warning };
            page.say(tone, label, self.held(held), "");
        }
    }

    fn held(&self, held: &Versioned) -> String {
        let until = crate::policy::returns_at(&held.record).filter(|at| *at > self.now);
        let until = until.map_or(String::new(), |at| format!(" ({})", seconds_of(at)));
        format!("{}{until}", hold_line(held, self.now))
    }

    fn classes(&self, page: &mut Page, figures: &Figures) {
        let all = failed(figures);
        if all == 0 {
            return page.say(Tone::Plain, "failures", "no attempt failed", "");
        }
        let text = format!("{} attempts, by cause:", whole(all));
        page.say(Tone::Plain, "failures", text, &self.graph(page, |f| Some(failed(f) as f64)));
        for (cause, classes) in CAUSES {
            let of = |f: &Figures| -> u64 { classes.iter().map(|class| class_count(f, *class)).sum() };
            let count = of(figures);
            if count == 0 {
                continue;
            }
            let named = classes.iter().map(|class| (class.as_str(), class_count(figures, *class)));
            let mut named: Vec<String> =
                named.filter(|(_, count)| *count > 0).map(|(word, count)| format!("{word} {}", whole(count))).collect();
            if let Some(first) = named.first_mut() {
                first.insert_str(0, &format!("{cause} {}: ", percent(count as f64 / all as f64)));
            }
            page.put(Tone::Plain, "", (&named, ","), &self.graph(page, |f| Some(of(f) as f64)));
        }
    }

    fn times(&self, page: &mut Page, figures: &Figures) {
        let p95 = |times: Option<Percentiles>| times.map(|times| times.p95.as_secs_f64());
        let rows = [
            ("first token", figures.ttft, "answers", self.graph(page, |f| p95(f.ttft))),
            ("answer time", figures.attempt_latency, "answers", self.graph(page, |f| p95(f.attempt_latency))),
            ("total time", figures.latency, "answers", self.graph(page, |f| p95(f.latency))),
        ];
        for (label, times, of, graph) in rows {
            let pieces = times.map_or(vec!["no data".to_owned()], |times| {
                let Percentiles { p50, p95, p99, samples } = times;
                let last = format!("p99 {} of {} {of}", time(p99), whole(samples));
                vec![format!("p50 {}", time(p50)), format!("p95 {}", time(p95)), last]
            });
            page.put(Tone::Plain, label, (&pieces, ","), &graph);
        }
    }

    fn usage(&self, page: &mut Page, figures: &Figures) {
        let tokens = figures.tokens;
        let cached = (tokens.cached > 0 && tokens.input > 0)
            .then(|| format!(" ({} from a cache)", percent((tokens.cached as f64 / tokens.input as f64).min(1.0))));
        let text = format!(
            "{} in{}, {} out",
            short(tokens.input as f64),
            cached.unwrap_or_default(),
            short(tokens.output as f64)
        );
        page.say(Tone::Plain, "tokens", text, &self.graph(page, |f| Some((f.tokens.input + f.tokens.output) as f64)));
        let per = [(figures.tokens_per_request, "a request"), (figures.tokens_per_success, "an answer as asked")];
        let per = per.into_iter().filter_map(|(per, what)| {
            per.map(|per| format!("{what}: {} in, {} out", short(per.input), short(per.output)))
        });
        let per: Vec<String> = per.collect();
        if !per.is_empty() {
            page.put(Tone::Plain, "", (&per, ";"), "");
        }
        self.cost(page, figures);
        let text = figures.schema_failures.map_or("no answers".to_owned(), |share| {
            let invalid = class_count(figures, Class::InvalidOutput);
            format!("{} of the answers were cut off, empty or of another shape ({})", percent(share), whole(invalid))
        });
        page.say(Tone::Plain, "schema", text, &self.graph(page, |f| f.schema_failures));
    }

    fn cost(&self, page: &mut Page, figures: &Figures) {
        let money = figures.money;
        if money.per_request.is_none() && money.total == 0.0 {
            return page.say(Tone::Plain, "cost", "no price is known of what was asked", "");
        }
        let mut parts = vec![format!("{} in all", usd(money.total))];
        parts.extend(money.per_request.map(|per| format!("{} a request", usd(per))));
        parts.extend(money.per_success.map(|per| format!("{} an answer as asked, all that failed included", usd(per))));
        page.put(Tone::Plain, "cost", (&parts, ";"), &self.graph(page, |f| Some(f.money.total)));
    }
}

/// The whole second that a time lies in.
fn second(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

/// Requests that a person did not break off.
fn of_fate(figures: &Figures) -> u64 {
    let broken_off = figures.outcomes.iter().filter(|(outcome, _)| *outcome == Outcome::Interrupted);
    figures.requests - broken_off.map(|(_, count)| count).sum::<u64>()
}

pub(super) fn class_count(figures: &Figures, class: Class) -> u64 {
    figures.classes.iter().find(|(of, _)| *of == class).map_or(0, |(_, count)| *count)
}

fn requests(count: u64) -> String {
    format!("{} {}", whole(count), if count == 1 { "request" } else { "requests" })
}

fn ended(outcome: Outcome, count: u64) -> String {
    let count = whole(count);
    match outcome {
        Outcome::Interrupted => format!("{count} interrupted (not counted)"),
        Outcome::NeedsPerson => format!("{count} exhausted until a person acts"),
        Outcome::WrongShape => format!("{count} never in the asked shape"),
        Outcome::Deadline => format!("{count} past the deadline"),
        other => format!("{count} {other}"),
    }
}
