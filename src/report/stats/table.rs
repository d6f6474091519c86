//! One row for each ladder, deployment, class or bucket of time.
//!
//! What went wrong the most stands first. Every column has a rank: where the terminal is narrow, the least go. Long names
//! give way before them, but stay names.

use super::page::class_count;
use super::spark::{Marks, spark_to_largest};
use super::words::{percent, short, time, usd, whole};
use super::{Grouping, Row, Stats, failed, name};
use crate::domain::Class;
use crate::metrics::{Figures, Percentiles};
use crate::report::layout::{columns, cut_middle, padded, wrapped};
use crate::report::moment::seconds_of;
use crate::report::tone::{Tone, Toned};

/// Names are not cut below this width before columns go, and never below the second.
const NAME: (usize, usize) = (26, 12);

type Cell = fn(&Figures) -> String;

/// A column: its title, its rank (the lowest stays the longest), and what stands in it.
struct Column {
    title: &'static str,
    rank: u8,
    cell: Cell,
}

const fn column(title: &'static str, rank: u8, cell: Cell) -> Column {
    Column { title, rank, cell }
}

const REQUESTS: Column = column("requests", 2, |f| whole(f.requests));
const SUCCESS: Column = column("success", 1, |f| share(f.success));
const EXHAUSTED: Column = column("exhausted", 1, |f| nonzero(f.exhausted));
const DEPTH: Column = column("depth", 3, |f| f.depth.mean.map_or("-".to_owned(), |mean| format!("{mean:.2}")));
const ATTEMPTS: Column = column("attempts", 2, |f| whole(f.attempts));
const FAILED: Column = column("failed", 1, |f| nonzero(failed(f)));
const ANSWERED: Column = column("answered", 1, |f| share(f.attempt_success));
const WORST: Column = column("mostly", 3, worst);
const GIVEN_UP: Column = column("given up", 9, |f| nonzero(f.given_up));
const RETRIES: Column = column("retries", 6, |f| nonzero(f.retries));
const TRANSPORT: Column = column("transport", 3, |f| share(f.transport));
const VALID: Column = column("valid", 6, |f| share(f.valid));
const REPAIRED: Column = column("repaired", 7, repaired);
const SCHEMA: Column = column("schema", 7, |f| share(f.schema_failures));
const TTFT_P50: Column = column("ttft p50", 8, |f| f.ttft.map_or("-".to_owned(), |times| time(times.p50)));
const TTFT: Column = column("ttft p95", 4, |f| p95(f.ttft));
const ANSWER_TIME: Column = column("p95", 5, |f| p95(f.attempt_latency));
const TOTAL_TIME: Column = column("p95", 5, |f| p95(f.latency));
const INPUT: Column = column("tokens in", 9, |f| short(f.tokens.input as f64));
const OUTPUT: Column = column("out", 9, |f| short(f.tokens.output as f64));
const COST: Column = column("cost", 6, |f| if f.money.total > 0.0 { usd(f.money.total) } else { "-".to_owned() });
const COST_PER: Column = column("per answer", 8, |f| f.money.per_success.map_or("-".to_owned(), usd));
const COUNT: Column = column("attempts", 1, |f| whole(failed(f)));

const LADDER: &[Column] = &[
    SUCCESS, EXHAUSTED, REQUESTS, DEPTH, ATTEMPTS, FAILED, RETRIES, TTFT, TOTAL_TIME, SCHEMA, INPUT, OUTPUT, COST,
    COST_PER,
];
const DEPLOYMENT: &[Column] = &[
    TRANSPORT,
    ANSWERED,
    FAILED,
    WORST,
    ATTEMPTS,
    RETRIES,
    GIVEN_UP,
    SCHEMA,
    VALID,
    REPAIRED,
    TTFT_P50,
    TTFT,
    ANSWER_TIME,
    INPUT,
    OUTPUT,
    COST,
];
const CLASS: &[Column] = &[COUNT];
const TIME: &[Column] = &[
    SUCCESS, EXHAUSTED, REQUESTS, DEPTH, ATTEMPTS, FAILED, WORST, RETRIES, TTFT, TOTAL_TIME, SCHEMA, INPUT, OUTPUT,
    COST,
];

/// How the title of graphs ends.
const OVER_TIME: &str = "over time";

/// A column as it is shown.
struct Shown {
    title: &'static str,
    rank: u8,
    cells: Vec<String>,
    flush_right: bool,
}

impl Shown {
    fn width(&self) -> usize {
        let widest = self.cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        widest.max(columns(self.title))
    }
}

impl Stats<'_> {
    /// The table, at most `width` columns where names leave it the choice.
    pub fn table(&self, width: u16, marks: Marks) -> Toned {
        let width = usize::from(width);
        let mut out = Toned::default();
        if self.rows.is_empty() {
            out.push(Tone::Plain, wrapped(&self.heading(false), 2, width));
            out.line(Tone::Plain, self.nothing());
            return out;
        }
        let names: Vec<String> = self.rows.iter().map(|row| self.row_name(row)).collect();
        let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        let columns = fitting(self.columns(marks), widest.min(NAME.0), width);
        let used: usize = columns.iter().map(|column| column.width() + 2).sum();
        let room = width.saturating_sub(used).clamp(NAME.1.min(widest), widest.max(1));
        let has_graphs = columns.iter().any(|column| column.title.ends_with(OVER_TIME));
        out.push(Tone::Plain, wrapped(&self.heading(has_graphs), 2, width));
        let titles = columns.iter().map(|column| (column.title.to_owned(), column));
        out.line(Tone::Faint, line(&padded("", room), titles));
        for (nth, (row, name)) in self.rows.iter().zip(&names).enumerate() {
            let cells = columns.iter().map(|column| (column.cells.get(nth).cloned().unwrap_or_default(), column));
            out.line(tone(&row.whole.figures), line(&padded(&cut_middle(name, room), room), cells));
        }
        if self.grouping == Grouping::Deployment {
            for last in &self.put_last {
                let text = format!("{} is put last by ladder {}: {}", last.deployment, last.ladder, last.why);
                out.push(Tone::Warning, wrapped(&text, 2, width));
            }
        }
        out
    }

    fn nothing(&self) -> &'static str {
        match (self.has_state, self.grouping) {
            (false, _) => "there is no state file yet: nothing was asked",
            (true, Grouping::Class) => "no attempt failed",
            (true, _) => "nothing was asked in this time",
        }
    }

    fn row_name(&self, row: &Row) -> String {
        if self.grouping == Grouping::Time { seconds_of(row.whole.from) } else { name(&row.key) }
    }

    fn columns(&self, marks: Marks) -> Vec<Shown> {
        let defined = match self.grouping {
            Grouping::None | Grouping::Ladder => LADDER,
            Grouping::Deployment => DEPLOYMENT,
            Grouping::Class => CLASS,
            Grouping::Time => TIME,
        };
        let figures = || self.rows.iter().map(|row| &row.whole.figures);
        let mut shown: Vec<Shown> = defined
            .iter()
            .map(|column| Shown {
                title: column.title,
                rank: column.rank,
                cells: figures().map(column.cell).collect(),
                flush_right: column.title != WORST.title,
            })
            .collect();
        if self.grouping == Grouping::Class {
            let all = failed(&self.all.whole.figures);
            let share = |f: &Figures| if all > 0 { percent(failed(f) as f64 / all as f64) } else { "-".to_owned() };
            shown.push(Shown { title: "share", rank: 1, cells: figures().map(share).collect(), flush_right: true });
            let action = |f: &Figures| most(f).map_or(String::new(), |(class, _)| meaning(class).to_owned());
            shown.push(Shown { title: "then", rank: 3, cells: figures().map(action).collect(), flush_right: false });
        }
        if self.grouping != Grouping::Time {
            let value = |f: &Figures| match self.grouping {
                Grouping::Ladder => f.requests as f64,
                _ => failed(f) as f64,
            };
            let title = if self.grouping == Grouping::Ladder { "requests over time" } else { "failures over time" };
            let graph = |row: &Row| {
                let values: Vec<Option<f64>> = row.parts.iter().map(|part| Some(value(&part.figures))).collect();
                spark_to_largest(&values, marks)
            };
            let cells = self.rows.iter().map(graph).collect();
            shown.push(Shown { title, rank: 7, cells, flush_right: false });
        }
        shown
    }
}

/// Without the columns for which there is no room; of equal rank the one further right goes first.
fn fitting(mut columns: Vec<Shown>, name: usize, width: usize) -> Vec<Shown> {
    // What says nothing in any row is no loss.
    columns
        .retain(|column| column.rank <= 2 || column.cells.iter().any(|cell| !matches!(cell.as_str(), "-" | "" | "0")));
    loop {
        let used: usize = columns.iter().map(|column| column.width() + 2).sum();
        let least = columns.iter().map(|column| column.rank).max().unwrap_or(0);
        if name + used <= width || columns.len() <= 1 {
            return columns;
        }
        if let Some(at) = columns.iter().rposition(|column| column.rank == least) {
            columns.remove(at);
        }
    }
}

fn line<'a>(name: &str, cells: impl Iterator<Item = (String, &'a Shown)>) -> String {
    let mut line = name.to_owned();
    for (cell, column) in cells {
        let width = column.width();
        let gap = if column.flush_right { width.saturating_sub(columns(&cell)) } else { 0 };
        let cell = format!("{:gap$}{cell}", "");
        line.push_str(&format!("  {}", padded(&cell, width)));
    }
    line.truncate(line.trim_end().len());
    line
}

fn tone(figures: &Figures) -> Tone {
    if figures.exhausted > 0 { Tone::Warning } else { Tone::Plain }
}

fn share(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), percent)
}

fn nonzero(count: u64) -> String {
    if count == 0 { "-".to_owned() } else { whole(count) }
}

/// How many repairs helped, of those that were tried.
fn repaired(figures: &Figures) -> String {
    match figures.repairs {
        0 => "-".to_owned(),
        tried => format!("{} of {}", whole(figures.repaired), whole(tried)),
    }
}

fn p95(times: Option<Percentiles>) -> String {
    times.map_or("-".to_owned(), |times| time(times.p95))
}

/// The class that occurred the most.
fn most(figures: &Figures) -> Option<(Class, u64)> {
    let found = Class::ALL.iter().map(|class| (*class, class_count(figures, *class)));
    found.filter(|(_, count)| *count > 0).min_by_key(|(_, count)| std::cmp::Reverse(*count))
}

fn worst(figures: &Figures) -> String {
    most(figures).map_or("-".to_owned(), |(class, _)| class.to_string())
}

/// What the class means for who it happens to, in a few words.
const fn meaning(class: Class) -> &'static str {
    match class {
        Class::RateLimit => "rests for seconds to an hour",
        Class::QuotaExhausted => "rests until the quota returns",
        Class::Billing | Class::Auth | Class::Permission | Class::ModelUnavailable => "a person must act",
        Class::Overloaded | Class::ServerError | Class::Timeout | Class::Network => "passes; many open the circuit",
        Class::ContextOverflow => "a larger window was needed",
        Class::ContentPolicy => "a filter refused it",
        Class::Unsupported => "the model lacks something",
        Class::InvalidRequest => "the request itself is wrong",
        Class::InvalidOutput => "repaired once, then the next step",
        Class::Unknown => "nobody knows; see `llmr log --class unknown`",
    }
}
