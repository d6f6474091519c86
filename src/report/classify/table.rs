//! Failures as a table for people, which grows as they are found.

use std::time::Duration;

use comfy_table::{ColumnConstraint, ContentArrangement, Width, presets};
use jiff::Timestamp;

use crate::classify::Explanation;
use crate::domain::{Failure, Provenance, excerpt};

use super::{Entry, place};

/// From this width on the table has all its columns.
const WIDE: u16 = 140;

/// Which columns a narrow table keeps; `--explain` and `--json` tell the others.
const NARROW: [bool; 8] = [true, true, true, true, false, true, false, true];

/// How wide the columns are at least when more is to come than is known yet.
const USUAL: [u16; 8] = [10, 13, 6, 17, 14, 10, 28, 20];

const HEADER: [&str; 8] = ["where", "provider", "status", "class", "scope", "retry", "rule", "evidence"];

/// A line of the table.
pub(super) type Row = [String; 8];

/// The table so far. The columns are as wide as the first part needs; what comes later must fit.
#[derive(Debug)]
pub struct Table {
    width: u16,
    columns: Option<Vec<u16>>,
}

impl Table {
    /// A table at most `width` columns wide.
    pub fn new(width: u16) -> Self {
        Self { width, columns: None }
    }

    /// The next rows, with the header before the first ones; `last` says that nothing comes after them. Holds no control sequences of the input.
    pub(super) fn rows(&mut self, rows: &[Row], last: bool) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let wide = self.width >= WIDE;
        let chosen =
            |cells: Vec<String>| cells.into_iter().zip(NARROW).filter(move |(_, kept)| wide || *kept).map(|(c, _)| c);
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(self.width);
        if self.columns.is_none() {
            table.set_header(chosen(HEADER.map(str::to_owned).to_vec()));
        }
        for row in rows {
            let mut row = row.to_vec();
            if let Some(place) = row.first_mut() {
                *place = tail(place, if wide { 40 } else { 20 });
            }
            table.add_row(chosen(row));
        }
        let usual = USUAL.iter().zip(NARROW).filter(|(_, kept)| wide || *kept).map(|(width, _)| *width);
        let usual: Vec<u16> = usual.map(|width| if last { 0 } else { width }).collect();
        self.constrain(&mut table, &usual);
        table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// Words that are looked up or typed again are not broken; the evidence takes what is left.
    fn constrain(&mut self, table: &mut comfy_table::Table, usual: &[u16]) {
        let widths = self.columns.get_or_insert_with(|| {
            table.column_max_content_widths().iter().zip(usual).map(|(width, usual)| *width.max(usual)).collect()
        });
        let last = table.column_count().saturating_sub(1);
        for (at, (column, width)) in table.column_iter_mut().zip(widths).enumerate() {
            column.set_constraint(match at == last {
                true => ColumnConstraint::LowerBoundary(Width::Fixed(20)),
                // Two for the padding.
                false => ColumnConstraint::Absolute(Width::Fixed(*width + 2)),
            });
        }
    }
}

/// The end of a place that is too long: the line's number is what is looked for.
fn tail(place: &str, limit: usize) -> String {
    let length = place.chars().count();
    if length <= limit {
        return place.to_owned();
    }
    std::iter::once('…').chain(place.chars().skip(length + 1 - limit)).collect()
}

/// The cells of a failure.
pub(super) fn row(entry: &Entry) -> Row {
    let Explanation { failure, provider, status, .. } = &entry.explanation;
    let scope = match failure.dimension {
        Some(dimension) => format!("{} {dimension}", failure.scope),
        None => failure.scope.to_string(),
    };
    [
        excerpt(&place(entry), 200),
        provider.as_ref().map_or_else(|| "-".to_owned(), |provider| excerpt(provider.as_str(), 24)),
        status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
        failure.class.to_string(),
        scope,
        retry(failure),
        excerpt(&failure.rule, 28),
        excerpt(&failure.evidence, 160),
    ]
}

/// When it heals, with a sign where the catalogue's clock says so.
fn retry(failure: &Failure) -> String {
    let known = if failure.provenance == Provenance::Documented { "*" } else { "" };
    match (failure.retry_after, failure.retry_at) {
        (Some(after), _) => format!("in {}{known}", words(after)),
        (None, Some(at)) => format!("{}{known}", minute(at)),
        (None, None) => "-".to_owned(),
    }
}

fn minute(at: Timestamp) -> String {
    at.strftime("%m-%d %H:%MZ").to_string()
}

/// A duration in its two largest units.
fn words(duration: Duration) -> String {
    let total = duration.as_secs();
    let (days, hours, minutes, rest) = (total / 86400, total / 3600 % 24, total / 60 % 60, total % 60);
    match (days, hours, minutes) {
        (0, 0, 0) if total < 10 && duration.subsec_millis() > 0 => format!("{:.1}s", duration.as_secs_f64()),
        (0, 0, 0) => format!("{rest}s"),
        (0, 0, _) => format!("{minutes}m{rest}s"),
        (0, ..) => format!("{hours}h{minutes}m"),
        _ => format!("{days}d{hours}h"),
    }
}
