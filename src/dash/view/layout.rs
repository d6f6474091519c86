//! Where each part of the screen lies.
//!
//! What comes first when room is short: the header, the banner and a line for each ladder, because they answer whether
//! anybody would be answered now; then the pane that the person chose; then what happened lately; then all the others.

use ratatui::layout::Rect;

use crate::dash::model::{Model, Pane};
use crate::dash::sort::Column;

use super::{banner, deployments};

/// From this size on all panes are on the screen at once.
const WIDE: (u16, u16) = (130, 30);

/// Below this height of the body ladders take one line each.
const LOW: u16 = 14;

/// From this height of the body on, what happened lately has a place of its own.
const HIGH: u16 = 17;

/// The lines of what happened lately, with its title.
const LATELY: u16 = 6;

/// Where each part lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Regions {
    pub(super) header: Rect,
    pub(super) banner: Rect,
    /// All between banner and footer.
    pub(super) body: Rect,
    pub(super) footer: Rect,
    pub(super) panes: Vec<(Pane, Rect)>,
    /// Whether each ladder has one line, and the pane no title.
    pub(super) is_low: bool,
}

/// Takes lines from the top.
fn top(from: &mut Rect, lines: u16) -> Rect {
    let lines = lines.min(from.height);
    let taken = Rect { height: lines, ..*from };
    from.y += lines;
    from.height -= lines;
    taken
}

/// Takes lines from the bottom.
fn bottom(from: &mut Rect, lines: u16) -> Rect {
    let lines = lines.min(from.height);
    from.height -= lines;
    Rect { y: from.y + from.height, height: lines, ..*from }
}

impl Regions {
    pub(super) fn of(model: &Model, area: Rect) -> Self {
        let mut body = area;
        let footer = bottom(&mut body, u16::from(area.height >= 8));
        let header = top(&mut body, u16::from(area.height >= 3));
        let lines = u16::try_from(banner::lines(model).len()).unwrap_or(u16::MAX);
        let banner = top(&mut body, lines.min((area.height / 3).max(1)));
        let is_wide = area.width >= WIDE.0 && area.height >= WIDE.1;
        let is_low = !is_wide && body.height < LOW;
        let panes = match () {
            () if is_wide => wide(model, body),
            () if is_low => low(model, body),
            () => high(model, body),
        };
        Self { header, banner, body, footer, panes, is_low }
    }
}

/// How many lines the ladders want, each with so many; where there are none, that takes a line to say.
fn of_ladders(model: &Model, each: u16) -> u16 {
    u16::try_from(model.board.ladders.len()).unwrap_or(u16::MAX).saturating_mul(each).max(1)
}

/// All panes, in two columns.
fn wide(model: &Model, body: Rect) -> Vec<(Pane, Rect)> {
    let left = Rect { width: body.width * 3 / 5, ..body };
    let right = Rect { x: left.right() + 1, width: body.width - left.width - 1, ..body };
    let (mut one, mut other) = (left, right);
    let ladders = top(&mut one, (1 + of_ladders(model, 2)).clamp(3, body.height / 4));
    let known = u16::try_from(model.board.deployments.len()).unwrap_or(u16::MAX).saturating_add(3);
    let most = one.height * 3 / 5;
    let deployments = top(&mut one, known.clamp(6, most.max(6)));
    let quotas = u16::try_from(model.board.quotas.len()).unwrap_or(u16::MAX).saturating_add(3);
    let quotas = top(&mut other, quotas.clamp(5, body.height * 2 / 5));
    vec![
        (Pane::Ladders, ladders),
        (Pane::Deployments, deployments),
        (Pane::Attempts, one),
        (Pane::Quotas, quotas),
        (Pane::Metrics, other),
    ]
}

/// The ladders, the chosen pane, and what happened lately.
fn high(model: &Model, body: Rect) -> Vec<(Pane, Rect)> {
    let mut rest = body;
    if model.pane == Pane::Ladders {
        let lately = bottom(&mut rest, if body.height >= HIGH { LATELY } else { 0 });
        return vec![(Pane::Ladders, rest), (Pane::Attempts, lately)];
    }
    let ladders = top(&mut rest, (1 + of_ladders(model, 2)).min(body.height / 3));
    let mut panes = vec![(Pane::Ladders, ladders)];
    if model.pane != Pane::Attempts && body.height >= HIGH {
        panes.push((Pane::Attempts, bottom(&mut rest, LATELY)));
    }
    panes.push((model.pane, rest));
    panes
}

/// A line for each ladder, and the chosen pane.
fn low(model: &Model, body: Rect) -> Vec<(Pane, Rect)> {
    let mut rest = body;
    if model.pane == Pane::Ladders || body.height < 4 {
        return vec![(Pane::Ladders, rest)];
    }
    let ladders = top(&mut rest, of_ladders(model, 1).min(body.height / 3));
    vec![(Pane::Ladders, ladders), (model.pane, rest)]
}

/// The first of the rows that are shown, so that the cursor is among them.
pub(super) const fn first(cursor: usize, shown: usize) -> usize {
    if shown == 0 || cursor < shown { 0 } else { cursor + 1 - shown }
}

/// What is said of rows that find no room below.
pub(super) fn below(count: usize, from: usize, shown: usize) -> String {
    match count.saturating_sub(from + shown) {
        0 => String::new(),
        more => format!(" {more} more below "),
    }
}

/// What lies under a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dash) enum Hit {
    /// The title of a column of the deployments.
    Title(Column),
    /// A row of a pane.
    Row(Pane, usize),
    /// A pane, beside its rows.
    Pane(Pane),
}

/// What lies there.
pub(in crate::dash) fn hit(model: &Model, x: u16, y: u16) -> Option<Hit> {
    let area = Rect { x: 0, y: 0, width: model.size.0, height: model.size.1 };
    let regions = Regions::of(model, area);
    let (pane, place) = regions.panes.into_iter().find(|(_, place)| place.contains((x, y).into()))?;
    let line = y - place.y;
    if pane == Pane::Deployments
        && line == 1
        && let Some(column) = deployments::column_at(model, place, x)
    {
        return Some(Hit::Title(column));
    }
    // A title, and in lists the names of the columns.
    let (above, each) = match pane {
        Pane::Ladders if regions.is_low => (0, 1),
        Pane::Ladders => (1, 2),
        Pane::Metrics => return Some(Hit::Pane(pane)),
        Pane::Deployments | Pane::Quotas | Pane::Attempts => (2, 1),
    };
    let Some(line) = line.checked_sub(above) else { return Some(Hit::Pane(pane)) };
    let shown = usize::from((place.height - above) / each);
    let row = first(model.cursor(pane), shown) + usize::from(line / each);
    Some(if row < model.rows(pane) { Hit::Row(pane, row) } else { Hit::Pane(pane) })
}
