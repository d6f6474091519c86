//! The ladders, each with its steps, one line a deployment.
//!
//! All lines share their columns, so that the eye can run down one of them. When the terminal is narrow, space is saved
//! where it costs least: between the columns, in the words for how a time is known, in the middle of long names, and at
//! last by leaving out columns that the list of holds repeats.

use jiff::Timestamp;

use crate::domain::{LadderName, Provenance};
use crate::policy::returns_at;

use super::{Known, NEAR_LIMIT, Status, hold_id};
use crate::ladder::Access;
use crate::report::grade::grade_text;
use crate::report::ladder::cascade_pieces;
use crate::report::layout::{columns, cut, cut_middle, flowed, padded};
use crate::report::moment::{distance, seconds_of};
use crate::report::tone::{Tone, Toned};

/// The columns of a line.
const COLUMNS: usize = 7;

/// The columns by their places.
const NAME: usize = 2;
const BACK: usize = 4;
const KNOWN_BY: usize = 5;
const LAST: usize = 6;

/// The words above the columns.
const TITLES: [&str; COLUMNS] = ["", "", "", "why", "back", "known by", "last answer"];

/// Names are not cut below this width before other columns go.
const NAME_MIN: usize = 28;

/// And never below this one.
const NAME_LEAST: usize = 12;

/// One line.
struct Row {
    tone: Tone,
    cells: [String; COLUMNS],
}

/// Some deployments under a heading.
struct Group {
    tone: Tone,
    /// What it says, in pieces.
    heading: Vec<String>,
    /// Whether it is a ladder that turns requests away, which is told even if none of its steps is to be shown.
    rests: bool,
    rows: Vec<Row>,
}

impl Status<'_> {
    /// All deployments that are to be shown, by ladder.
    pub(super) fn write_ladders(&self, out: &mut Toned, width: usize) {
        let groups: Vec<Group> =
            self.groups().into_iter().filter(|group| group.rests || !group.rows.is_empty()).collect();
        let layout = Layout::fitting(&groups, width);
        for (at, group) in groups.iter().enumerate() {
            for (nth, line) in flowed(&group.heading, ";", width).into_iter().enumerate() {
                out.line(group.tone, format!("{}{line}", if nth > 0 { "  " } else { "" }));
            }
            if at == 0 && layout.shows_titles() {
                out.line(Tone::Faint, layout.parts(&TITLES.map(str::to_owned)).concat());
            }
            for row in &group.rows {
                for (part, tone) in layout.parts(&row.cells).into_iter().zip([Tone::Plain, row.tone, Tone::Plain]) {
                    out.push(tone, part);
                }
                out.line(Tone::Plain, "");
            }
            out.line(Tone::Plain, "");
        }
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = self.shown_ladders().into_iter().map(|ladder| self.ladder(ladder)).collect();
        let heading = if self.known.iter().flat_map(Known::on).next().is_none() {
            "known from the state:"
        } else {
            "on no ladder:"
        };
        let loose = self.shown().filter(|known| known.ladders.is_empty() && known.last_resort_of.is_empty());
        let rows = loose.map(|known| self.row(known, String::new())).collect();
        groups.push(Group { tone: Tone::Strong, heading: vec![heading.to_owned()], rests: false, rows });
        groups
    }

    fn ladder(&self, ladder: &LadderName) -> Group {
        let on = |known: &Known| -> Vec<usize> {
            known.ladders.iter().filter(|(name, _)| name == ladder).map(|(_, step)| *step).collect()
        };
        let mut shown: Vec<(usize, &Known)> =
            self.shown().flat_map(|known| on(known).into_iter().map(move |step| (step, known))).collect();
        shown.sort_by_key(|(step, _)| *step);
        let graded = |row: Row, known: &Known| graded(row, known, ladder);
        let mut rows: Vec<Row> =
            shown.into_iter().map(|(step, known)| graded(self.row(known, step.to_string()), known)).collect();
        let resorts = self.shown().filter(|known| known.last_resort_of.contains(ladder) && on(known).is_empty());
        rows.extend(resorts.map(|known| self.row(known, "last".to_owned())));
        // Whatever is shown, the heading speaks of the whole ladder.
        let all: Vec<&Known> = self.known.iter().flat_map(|known| on(known).into_iter().map(move |_| known)).collect();
        let (tone, can, first) = self.verdict(&all);
        let pieces = self.cascade(ladder).and_then(|cascade| cascade_pieces(cascade, self.now));
        let (rests, tone) = (pieces.is_some(), if pieces.is_some() { Tone::Bad } else { tone });
        // Without a config nobody knows its steps.
        let can = (!all.is_empty() || !rests).then_some(can);
        let mut heading: Vec<String> = pieces.into_iter().flatten().chain(can).chain(first).collect();
        if let Some(start) = heading.first_mut() {
            start.insert_str(0, &format!("ladder {ladder}: "));
        }
        Group { tone, heading, rests, rows }
    }

    /// How many of the steps can be asked; if none, when the first returns.
    fn verdict(&self, steps: &[&Known]) -> (Tone, String, Option<String>) {
        let held: Vec<Access<'_>> = steps
            .iter()
            .map(|known| (known, self.access(known)))
            .filter(|(known, access)| known.no_key || matches!(access, Access::Held(_) | Access::Full(_)))
            .map(|(_, access)| access)
            .collect();
        let all = steps.len();
        match (all, all - held.len()) {
            (0, _) => (Tone::Strong, "no steps".to_owned(), None),
            (1, 1) => (Tone::Strong, "its one step can be asked".to_owned(), None),
            (1, 0) => (Tone::Bad, "its one step can NOT be asked".to_owned(), Some(self.first_return(&held))),
            (_, 0) => (Tone::Bad, format!("NONE of {all} can be asked"), Some(self.first_return(&held))),
            (_, can) if can == all => (Tone::Strong, format!("all {all} can be asked"), None),
            (_, can) => (Tone::Strong, format!("{can} of {all} can be asked"), None),
        }
    }

    fn first_return(&self, held: &[Access<'_>]) -> String {
        let soonest = |person: bool| -> Option<Timestamp> {
            let returns = |access: &Access<'_>| match access {
                Access::Held(by) if by.record.needs_a_person() == person => returns_at(&by.record),
                Access::Full(tight) if !person => tight.until,
                _ => None,
            };
            held.iter().filter_map(returns).min()
        };
        match (soonest(false), soonest(true)) {
            (Some(at), _) => format!("the first returns {} ({})", distance(at, self.now), seconds_of(at)),
            (None, Some(at)) => format!("a person must act, the first probe is due {}", distance(at, self.now)),
            (None, None) => "a person must act".to_owned(),
        }
    }

    fn row(&self, known: &Known, place: String) -> Row {
        let name = known.target.deployment.to_string();
        let last = self.health(&known.target.deployment).and_then(|health| health.last_success);
        let last = last.map_or("-".to_owned(), |at| distance(at, self.now));
        let none = String::new();
        match self.access(known) {
            Access::Free => {
                let (tone, state) = if known.no_key { (Tone::Warning, "no key") } else { (Tone::Good, "ok") };
                Row { tone, cells: [place, state.to_owned(), name, none.clone(), none.clone(), none, last] }
            }
            Access::Probe(holds) => {
                // The one that says most: they are equally due.
                let by = holds.first();
                let state = by.map_or("probe".to_owned(), |by| format!("probe {}", hold_id(by)));
                let why = by.map_or(none.clone(), |by| by.record.class().to_string());
                Row { tone: Tone::Warning, cells: [place, state, name, why, "probe due".to_owned(), none, last] }
            }
            Access::Full(tight) => {
                let back = tight.until.map_or("nobody knows".to_owned(), |at| distance(at, self.now));
                let why = format!("{} {NEAR_LIMIT}", tight.dimension);
                let known_by = tight.provenance.to_string();
                Row { tone: Tone::Warning, cells: [place, "full".to_owned(), name, why, back, known_by, last] }
            }
            Access::Held(by) => {
                let person = by.record.needs_a_person();
                let back = match returns_at(&by.record) {
                    None => "a person acts".to_owned(),
                    Some(at) if person => format!("probe {}", distance(at, self.now)),
                    Some(at) => distance(at, self.now),
                };
                let why = if by.record.is_by_hand() { "by hand" } else { by.record.reason() }.to_owned();
                let known_by = by.record.provenance().to_string();
                let tone = if person { Tone::Bad } else { Tone::Warning };
                Row { tone, cells: [place, format!("held {}", hold_id(by)), name, why, back, known_by, last] }
            }
        }
    }
}

/// With why it goes last, where nothing else is to be told.
fn graded(mut row: Row, known: &Known, ladder: &LadderName) -> Row {
    let grade = known.graded.iter().find(|graded| graded.ladder == *ladder && graded.put_last.is_some());
    if let (Some(graded), [_, _, _, why, ..]) = (grade, &mut row.cells)
        && why.is_empty()
    {
        *why = format!("put last: {}", grade_text(&graded.grade));
        row.tone = Tone::Warning;
    }
    row
}

/// How wide each column is; one of width 0 is left out.
struct Layout {
    widths: [usize; COLUMNS],
    gap: usize,
    short: bool,
    most: usize,
}

impl Layout {
    fn fitting(groups: &[Group], most: usize) -> Self {
        let mut layout = Self { widths: [0; COLUMNS], gap: 2, short: false, most };
        layout.measure(groups);
        if layout.excess() > 0 {
            layout.gap = 1;
        }
        if layout.excess() > 0 {
            layout.short = true;
            layout.measure(groups);
        }
        layout.cut_names();
        for column in [LAST, KNOWN_BY] {
            if layout.excess() > 0 {
                layout.drop(column);
                layout.cut_names();
            }
        }
        layout.cut_names_to(NAME_LEAST);
        layout
    }

    fn measure(&mut self, groups: &[Group]) {
        let rows = || groups.iter().flat_map(|group| &group.rows);
        let short = self.short;
        for ((at, width), title) in self.widths.iter_mut().enumerate().zip(TITLES) {
            let cell = |row: &Row| row.cells.get(at).map_or(0, |cell| columns(&shortened(at, cell, short)));
            let widest = rows().map(cell).max().unwrap_or(0);
            // A title stands above what is there, never alone.
            let title = columns(&shortened(at, title, short));
            *width = if widest == 0 { 0 } else { widest.max(title) };
        }
    }

    /// Names give way, as far as they stay names.
    fn cut_names(&mut self) {
        self.cut_names_to(NAME_MIN);
    }

    fn cut_names_to(&mut self, least: usize) {
        let excess = self.excess();
        if let Some(name) = self.widths.get_mut(NAME) {
            *name = name.saturating_sub(excess).max(least.min(*name));
        }
    }

    fn drop(&mut self, column: usize) {
        if let Some(width) = self.widths.get_mut(column) {
            *width = 0;
        }
    }

    /// How many columns of the terminal are missing.
    fn excess(&self) -> usize {
        let used: usize = self.widths.iter().filter(|width| **width > 0).map(|width| width + self.gap).sum();
        used.saturating_sub(self.most + self.gap - 1)
    }

    fn shows_titles(&self) -> bool {
        self.widths.iter().zip(TITLES).any(|(width, title)| *width > 0 && !title.is_empty())
    }

    /// The line in three parts: what stands before the state, the state, and what stands after it.
    fn parts(&self, cells: &[String; COLUMNS]) -> [String; 3] {
        let mut parts = [String::new(), String::new(), String::new()];
        let mut room = self.most;
        for (at, (cell, width)) in cells.iter().zip(self.widths).enumerate().filter(|(_, (_, width))| *width > 0) {
            let cell = cut_middle(&shortened(at, cell, self.short), width);
            let gap = if room == self.most { 1 } else { self.gap };
            // Numbers of steps stand flush right.
            let cell = if at == 0 { format!("{cell:>width$}") } else { padded(&cell, width) };
            let cell = cut(&format!("{:gap$}{cell}", ""), room);
            room -= columns(&cell).min(room);
            if let Some(part) = parts.get_mut(at.min(2)) {
                part.push_str(&cell);
            }
        }
        let [_, _, last] = &mut parts;
        last.truncate(last.trim_end().len());
        parts
    }
}

/// What stands in a cell when space is short.
fn shortened(column: usize, cell: &str, short: bool) -> String {
    let text = match column {
        _ if !short => cell,
        BACK if cell.starts_with("probe in ") => return cell.replacen(" in", "", 1),
        BACK => cell.strip_prefix("in ").unwrap_or(cell),
        KNOWN_BY if cell == Provenance::Documented.as_str() => "doc.",
        KNOWN_BY if cell == Provenance::Operator.as_str() => "oper.",
        KNOWN_BY => cell.strip_suffix(" by").unwrap_or(cell),
        LAST => cell.strip_suffix(" ago").or(cell.strip_suffix(" answer")).unwrap_or(cell),
        _ => cell,
    };
    text.to_owned()
}
