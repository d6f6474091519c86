//! Which rows count, and into which pile each goes.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;

use crate::domain::{Class, Deployment, LadderName, Selector};

use super::journal::{AttemptRow, Journal, RequestRow};
use super::tally::Tally;

/// Which rows count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// What started at or after this.
    pub since: Timestamp,
    /// What started before this.
    pub until: Timestamp,
    /// What went down this ladder.
    pub ladder: Option<LadderName>,
    /// Attempts at, and requests answered by, a deployment that one of these matches; empty: any.
    pub asked: Vec<Selector>,
    /// Attempts that failed so, and no request; empty: any.
    pub classes: Vec<Class>,
}

impl Slice {
    /// All of a span of time.
    pub const fn of(since: Timestamp, until: Timestamp) -> Self {
        Self { since, until, ladder: None, asked: Vec::new(), classes: Vec::new() }
    }
}

/// By what rows are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Not at all.
    All,
    /// By the ladder that the request went down.
    Ladder,
    /// Attempts by who was asked, requests by who answered; those that nobody answered are left out.
    Deployment,
    /// Attempts that failed by their class; requests are left out.
    Class,
}

/// What a pile is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Everything.
    All,
    /// One ladder.
    Ladder(LadderName),
    /// One deployment.
    Deployment(Deployment),
    /// One class.
    Class(Class),
}

/// A pile.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What it is of.
    pub key: Key,
    /// All of the span.
    pub total: Tally,
    /// The same by time: as many as were asked for, each an equal part of the span, the oldest first.
    pub parts: Vec<Tally>,
}

impl Journal {
    /// The rows of the slice, told apart and counted, sorted by key; `parts` says into how many parts of time each pile
    /// is divided besides, 0 into none. Of [`By::All`] there is always one, and it may be empty.
    pub fn groups(&self, slice: &Slice, by: By, parts: usize) -> Vec<Group> {
        self.piles(slice, by, &equal(slice, parts))
    }

    /// The same with parts of time that end where they are told to: `ends`, from the oldest on.
    pub fn groups_until(&self, slice: &Slice, by: By, ends: &[Timestamp]) -> Vec<Group> {
        let ends: Vec<i64> = ends.iter().map(|end| end.as_millisecond()).collect();
        self.piles(slice, by, &ends)
    }

    fn piles(&self, slice: &Slice, by: By, ends: &[i64]) -> Vec<Group> {
        let sieve = Sieve::new(self, slice);
        let mut piles = Piles { all: BTreeMap::new(), ends };
        if by == By::All {
            piles.at(0);
        }
        for row in self.attempts.iter().filter(|row| sieve.takes_attempt(row)) {
            if let Some(number) = attempt_number(row, by) {
                piles.add(number, row.started_ms, |tally| tally.add_attempt(row));
            }
        }
        for row in self.requests.iter().filter(|row| sieve.takes_request(row)) {
            if let Some(number) = request_number(row, by) {
                piles.add(number, row.started_ms, |tally| tally.add_request(row));
            }
        }
        let named = |(number, (total, parts))| Some(Group { key: self.key(by, number)?, total, parts });
        let mut groups: Vec<Group> = piles.all.into_iter().filter_map(named).collect();
        groups.sort_by(|one, other| one.key.cmp(&other.key));
        groups
    }

    /// All of the slice in one.
    pub fn total(&self, slice: &Slice) -> Tally {
        self.groups(slice, By::All, 0).into_iter().next().map(|group| group.total).unwrap_or_default()
    }

    /// The ladder without a name is nobody's: its attempts belong to requests that have not ended.
    fn key(&self, by: By, number: u32) -> Option<Key> {
        let at = usize::try_from(number).ok()?;
        match by {
            By::All => Some(Key::All),
            By::Ladder => self.ladders().get(at).filter(|name| !name.as_str().is_empty()).cloned().map(Key::Ladder),
            By::Deployment => self.deployments().get(at).cloned().map(Key::Deployment),
            By::Class => Class::ALL.get(at).copied().map(Key::Class),
        }
    }
}

fn attempt_number(row: &AttemptRow, by: By) -> Option<u32> {
    match by {
        By::All => Some(0),
        By::Ladder => Some(row.ladder),
        By::Deployment => Some(row.who),
        By::Class => {
            let class = row.class.filter(|_| !row.is_given_up)?;
            Class::ALL.iter().position(|one| *one == class).and_then(|at| u32::try_from(at).ok())
        }
    }
}

const fn request_number(row: &RequestRow, by: By) -> Option<u32> {
    match by {
        By::All => Some(0),
        By::Ladder => Some(row.ladder),
        By::Deployment => row.who,
        By::Class => None,
    }
}

/// The ends of so many equal parts of the span.
fn equal(slice: &Slice, parts: usize) -> Vec<i64> {
    let (since, until) = (i128::from(slice.since.as_millisecond()), i128::from(slice.until.as_millisecond()));
    let parts = i128::try_from(parts).unwrap_or(0);
    // What starts at an end belongs to the part after it, and starts are whole milliseconds.
    let end = |nth: i128| since + ((until - since).max(0) * nth + parts - 1) / parts;
    (1..=parts).map(|nth| i64::try_from(end(nth)).unwrap_or(i64::MAX)).collect()
}

struct Piles<'a> {
    all: BTreeMap<u32, (Tally, Vec<Tally>)>,
    ends: &'a [i64],
}

impl Piles<'_> {
    fn at(&mut self, number: u32) -> &mut (Tally, Vec<Tally>) {
        let parts = self.ends.len();
        self.all.entry(number).or_insert_with(|| (Tally::default(), vec![Tally::default(); parts]))
    }

    fn add(&mut self, number: u32, started_ms: i64, mut add: impl FnMut(&mut Tally)) {
        let part = self.ends.partition_point(|end| *end <= started_ms);
        let (total, parts) = self.at(number);
        add(total);
        if let Some(tally) = parts.get_mut(part) {
            add(tally);
        }
    }
}

/// Says of a row whether it counts; names were looked up before.
struct Sieve<'a> {
    slice: &'a Slice,
    span: (i64, i64),
    ladder: Option<Option<u32>>,
    asked: Option<HashSet<u32>>,
}

impl<'a> Sieve<'a> {
    fn new(journal: &Journal, slice: &'a Slice) -> Self {
        let number = |at: usize| u32::try_from(at).ok();
        let ladder = |name: &LadderName| journal.ladders().iter().position(|one| one == name).and_then(number);
        let matches = |deployment: &Deployment| slice.asked.iter().any(|selector| selector.matches(deployment));
        let matching = journal.deployments().iter().zip(0..).filter(|(one, _)| matches(one)).map(|(_, at)| at);
        Self {
            slice,
            span: (slice.since.as_millisecond(), slice.until.as_millisecond()),
            ladder: slice.ladder.as_ref().map(ladder),
            asked: (!slice.asked.is_empty()).then(|| matching.collect()),
        }
    }

    fn takes(&self, started_ms: i64, ladder: u32, who: Option<u32>) -> bool {
        let (since, until) = self.span;
        (since..until).contains(&started_ms)
            && self.ladder.is_none_or(|wanted| wanted == Some(ladder))
            && self.asked.as_ref().is_none_or(|asked| who.is_some_and(|who| asked.contains(&who)))
    }

    fn takes_attempt(&self, row: &AttemptRow) -> bool {
        let classes = &self.slice.classes;
        self.takes(row.started_ms, row.ladder, Some(row.who))
            && (classes.is_empty() || row.class.is_some_and(|class| classes.contains(&class)))
    }

    fn takes_request(&self, row: &RequestRow) -> bool {
        self.slice.classes.is_empty() && self.takes(row.started_ms, row.ladder, row.who)
    }
}
