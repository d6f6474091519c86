//! What a span of the log comes to, with what is held now and what is left of the retry budget.
//!
//! One page for a person, or one row for each ladder, deployment, class or bucket of time; the same as JSON and CSV.

mod answers;
mod csv;
mod json;
mod page;
mod spark;
mod table;
#[cfg(test)]
mod tests;
mod words;

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{Deployment, LadderName};
use crate::metrics::{By, Figures, Group, Journal, Key, Slice};
use crate::policy::Versioned;
use crate::store::RetryCount;

pub use spark::Marks;

/// By what rows are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// Not at all: one page.
    None,
    /// By the ladder that requests went down.
    Ladder,
    /// Attempts by who was asked, requests by who answered.
    Deployment,
    /// Failed attempts by their class.
    Class,
    /// By time.
    Time,
}

impl Grouping {
    /// The word for it, which is the name of the column as well.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "all",
            Self::Ladder => "ladder",
            Self::Deployment => "deployment",
            Self::Class => "class",
            Self::Time => "time",
        }
    }

    const fn by(self) -> By {
        match self {
            Self::None | Self::Time => By::All,
            Self::Ladder => By::Ladder,
            Self::Deployment => By::Deployment,
            Self::Class => By::Class,
        }
    }
}

/// The figures of a part of the span.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its begin.
    pub from: Timestamp,
    /// Its end, which belongs to the next.
    pub until: Timestamp,
    /// What it comes to.
    pub figures: Figures,
}

/// The figures of one group.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What is in it.
    pub key: Key,
    /// All of the span.
    pub whole: Part,
    /// The same by time.
    pub parts: Vec<Part>,
}

/// How many retries a minute a ladder may be part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Which.
    pub ladder: LadderName,
    /// For all processes together.
    pub limit: u32,
}

/// A deployment that a ladder puts last for the answers that it gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutLast {
    /// Which.
    pub deployment: Deployment,
    /// By which ladder.
    pub ladder: LadderName,
    /// Why.
    pub why: String,
}

/// What there is to show.
#[derive(Debug)]
pub struct Stats<'a> {
    /// The moment of the look.
    pub now: Timestamp,
    /// Which rows of the log count.
    pub slice: &'a Slice,
    /// By what they are told apart.
    pub grouping: Grouping,
    /// How long the parts are, if that was asked for.
    pub bucket: Option<Duration>,
    /// All of the slice.
    pub all: &'a Row,
    /// The same, told apart; of [`Grouping::None`] nothing.
    pub rows: &'a [Row],
    /// The slice a week before; none where nothing is known of it.
    pub week_before: Option<&'a Figures>,
    /// The holds of what is shown.
    pub holds: Vec<&'a Versioned>,
    /// The retries of the span, of all ladders; none where only a part of the log was asked for.
    pub retries: Option<RetryCount>,
    /// The budgets of the ladders that are shown.
    pub budgets: Vec<Budget>,
    /// Retries that were granted within the last minute.
    pub retries_used: u64,
    /// Who goes last for answers that are not as asked, as things stand now.
    pub put_last: Vec<PutLast>,
    /// Whether there is a state file.
    pub has_state: bool,
}

/// How many marks a graph has where its parts are nobody's wish.
pub const MARKS: usize = 24;

/// What the ends of parts may be, if there is a choice, in seconds: a minute to a week.
const ROUND: [u64; 10] = [60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800];

/// A round length of time of which some thirty make up the span at most.
pub fn usual_bucket(span: Duration) -> Duration {
    let fits = |seconds: &&u64| span.as_secs() <= **seconds * 31;
    Duration::from_secs(ROUND.iter().find(fits).copied().unwrap_or(2_592_000))
}

/// Where the parts of a span end: at whole multiples of the length since 1970, and the last one with the span. None when
/// there would be more than so many.
pub fn ends(since: Timestamp, until: Timestamp, length: Duration, most: usize) -> Option<Vec<Timestamp>> {
    let step = i64::try_from(length.as_millis()).ok().filter(|step| *step > 0)?;
    let (from, to) = (since.as_millisecond(), until.as_millisecond());
    let mut ends = Vec::new();
    let mut next = (from.div_euclid(step) + 1).checked_mul(step)?;
    while next < to {
        if ends.len() >= most {
            return None;
        }
        ends.push(Timestamp::from_millisecond(next).ok()?);
        next = next.checked_add(step)?;
    }
    ends.push(until);
    (ends.len() <= most).then_some(ends)
}

/// Equal parts of a span, for graphs.
pub fn equal_ends(since: Timestamp, until: Timestamp, parts: usize) -> Vec<Timestamp> {
    let (from, to) = (i128::from(since.as_millisecond()), i128::from(until.as_millisecond()));
    let parts = i128::try_from(parts.max(1)).unwrap_or(1);
    let end = |nth: i128| i64::try_from(from + ((to - from) * nth + parts - 1) / parts).ok();
    (1..=parts).filter_map(|nth| Timestamp::from_millisecond(end(nth)?).ok()).collect()
}

/// Counts what is to be shown: all of the slice, and the rows of the grouping, each with its parts that end so.
pub fn rows(journal: &Journal, slice: &Slice, grouping: Grouping, ends: &[Timestamp]) -> (Row, Vec<Row>) {
    let all = journal.groups_until(slice, By::All, ends).into_iter().next();
    let all = all.map_or_else(|| empty(slice), |group| row(group, slice, ends));
    let rows = match grouping {
        Grouping::None => Vec::new(),
        Grouping::Time => {
            let one = |part: &Part| Row { key: Key::All, whole: part.clone(), parts: Vec::new() };
            all.parts.iter().map(one).collect()
        }
        other => {
            let groups = journal.groups_until(slice, other.by(), ends).into_iter();
            let mut rows: Vec<Row> = groups.map(|group| row(group, slice, ends)).collect();
            rows.sort_by_key(|row| std::cmp::Reverse(trouble(&row.whole.figures, other)));
            rows
        }
    };
    (all, rows)
}

/// What a person wants to see first: the most of what went wrong, and of what is equally good the busiest.
fn trouble(figures: &Figures, grouping: Grouping) -> (u64, u64) {
    let failed = figures.classes.iter().map(|(_, count)| count).sum();
    match grouping {
        Grouping::Ladder => (figures.exhausted, figures.requests),
        _ => (failed, figures.attempts),
    }
}

fn empty(slice: &Slice) -> Row {
    let whole = Part { from: slice.since, until: slice.until, figures: Figures::default() };
    Row { key: Key::All, whole, parts: Vec::new() }
}

fn row(group: Group, slice: &Slice, ends: &[Timestamp]) -> Row {
    let starts = std::iter::once(&slice.since).chain(ends);
    let part = |((tally, from), until): ((_, &Timestamp), &Timestamp)| Part {
        from: *from,
        until: *until,
        figures: Figures::of(tally),
    };
    Row {
        key: group.key,
        whole: Part { from: slice.since, until: slice.until, figures: Figures::of(&group.total) },
        parts: group.parts.iter().zip(starts).zip(ends).map(part).collect(),
    }
}

/// What a group is called.
fn name(key: &Key) -> String {
    match key {
        Key::All => "all".to_owned(),
        Key::Ladder(ladder) => ladder.to_string(),
        Key::Deployment(deployment) => Deployment::to_string(deployment),
        Key::Class(class) => class.to_string(),
    }
}

/// How many attempts failed.
fn failed(figures: &Figures) -> u64 {
    figures.classes.iter().map(|(_, count)| count).sum()
}
