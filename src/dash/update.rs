//! What an input makes of the model, and what is to be done outside for it.

use std::time::Duration;

use crate::domain::printable;
use crate::report::Tone;

use super::details::{Subject, hold_ids};
use super::input::{Input, Key};
use super::model::{Model, Overlay, Pane};
use super::reading::Span;
use super::sort::{Column, Sort};
use super::view::{self, Hit};

/// Something that changes the state, done by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// The words of the command, behind the program's name.
    pub words: Vec<String>,
    /// What it does, for the question.
    pub does: Vec<String>,
}

impl Deed {
    /// The command as a person would type it.
    pub(super) fn command(&self) -> String {
        let quoted = |word: &String| if word.contains(' ') { format!("\"{word}\"") } else { word.clone() };
        let words: Vec<String> = self.words.iter().map(quoted).collect();
        format!("llmr {}", words.join(" "))
    }
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// End, as a person wants it.
    Quit,
    /// End, by Ctrl-C.
    Interrupt,
    /// Read the state now.
    Refresh,
    /// Read it so often from now on.
    Interval(Duration),
    /// Let the figures go back so far.
    Span(Span),
    /// Change the state.
    Do(Deed),
}

/// How often the state can be read.
const INTERVALS: [Duration; 7] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(30),
];

/// The longest filter, in letters.
const MOST_TYPED: usize = 200;

/// How far a page key goes in an overlay.
const OVERLAY_PAGE: usize = 10;

/// Changes the model.
pub fn update(model: &mut Model, input: Input) -> Vec<Effect> {
    match input {
        Input::Key(Key::Interrupt) => return vec![Effect::Interrupt],
        Input::Key(key) => return pressed(model, key),
        Input::Click(x, y) => return clicked(model, x, y),
        Input::Wheel { up } => step(model, if up { -3 } else { 3 }),
        Input::Size(width, height) => model.size = (width, height),
        // What ends by time alone is over at once, not when the state is read next.
        Input::Tick(now) if !model.is_frozen => {
            model.now = now;
            model.reading.now = now;
            model.lay_out();
        }
        Input::Tick(_) => {}
        Input::Reading(reading) if model.is_frozen => model.pending = Some(reading),
        Input::Reading(reading) => {
            model.now = model.now.max(reading.now);
            model.reading = *reading;
            model.lay_out();
        }
        Input::Done(Ok(said)) => {
            model.note = Some((Tone::Good, one_line(&said)));
            return vec![Effect::Refresh];
        }
        Input::Done(Err(why)) => model.note = Some((Tone::Bad, one_line(&why))),
    }
    Vec::new()
}

fn one_line(text: &str) -> String {
    printable(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn pressed(model: &mut Model, key: Key) -> Vec<Effect> {
    if model.typing.is_some() {
        typed(model, key);
        return Vec::new();
    }
    match model.overlay.take() {
        Some(Overlay::Confirm(deed)) => return answered(model, deed, key),
        Some(overlay) => {
            model.overlay = scrolled(overlay, key);
            return Vec::new();
        }
        None => model.note = None,
    }
    match key {
        Key::Char('q') => return vec![Effect::Quit],
        Key::Char('?') => model.overlay = Some(Overlay::Help(0)),
        Key::Char('/') => model.typing = Some(model.filter_text.clone()),
        Key::Esc => clear_filter(model),
        Key::Char(' ') => freeze(model),
        Key::Char('t') => model.options.theme = model.options.theme.next(model.options.has_color),
        Key::Char('+' | '=') => return interval(model, &Pace::Faster),
        Key::Char('-') => return interval(model, &Pace::Slower),
        Key::Char('[') => return span(model, model.span.previous()),
        Key::Char(']') => return span(model, model.span.next()),
        Key::Enter => model.overlay = subject(model).map(|subject| Overlay::Details(subject, 0)),
        Key::Char('r') => ask(model, reset),
        Key::Char('p') => ask(model, probe),
        Key::Char('o') => ask(model, open),
        Key::Char(letter) if letter.is_ascii_uppercase() && letter != 'G' => sort_by(model, letter),
        _ => moved(model, key),
    }
    Vec::new()
}

/// Moves the cursor, or goes to another pane.
fn moved(model: &mut Model, key: Key) {
    let page = isize::try_from(model.size.1 / 2).unwrap_or(10).max(1);
    match key {
        Key::Up | Key::Char('k') => step(model, -1),
        Key::Down | Key::Char('j') => step(model, 1),
        Key::PageUp => step(model, -page),
        Key::PageDown => step(model, page),
        Key::Home | Key::Char('g') => step(model, isize::MIN),
        Key::End | Key::Char('G') => step(model, isize::MAX),
        Key::Left | Key::Char('h') | Key::BackTab => model.pane = Pane::at(model.pane.place() + Pane::ALL.len() - 1),
        Key::Right | Key::Char('l') | Key::Tab => model.pane = Pane::at(model.pane.place() + 1),
        Key::Char(digit @ '1'..='5') => {
            let place = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
            model.pane = Pane::at(place.unwrap_or(1).saturating_sub(1));
        }
        _ => {}
    }
}

fn step(model: &mut Model, by: isize) {
    if let Some(Overlay::Help(at) | Overlay::Details(_, at)) = &mut model.overlay {
        *at = at.saturating_add_signed(by);
        return;
    }
    let last = model.rows(model.pane).saturating_sub(1);
    if let Some(cursor) = model.cursors.get_mut(model.pane.place()) {
        *cursor = cursor.saturating_add_signed(by).min(last);
    }
}

/// Esc and the key that opened it close an overlay, and so does `q`; the others scroll it.
fn scrolled(overlay: Overlay, key: Key) -> Option<Overlay> {
    let by: isize = match key {
        Key::Up | Key::Char('k') => -1,
        Key::Down | Key::Char('j') => 1,
        Key::PageUp => -isize::try_from(OVERLAY_PAGE).unwrap_or(1),
        Key::PageDown | Key::Char(' ') => isize::try_from(OVERLAY_PAGE).unwrap_or(1),
        Key::Home | Key::Char('g') => isize::MIN,
        Key::End => isize::MAX / 2,
        Key::Esc | Key::Enter | Key::Char('?' | 'q') => return None,
        _ => 0,
    };
    Some(match overlay {
        Overlay::Help(at) => Overlay::Help(at.saturating_add_signed(by)),
        Overlay::Details(subject, at) => Overlay::Details(subject, at.saturating_add_signed(by)),
        Overlay::Confirm(deed) => Overlay::Confirm(deed),
    })
}

/// The filter narrows while it is typed; Enter keeps it, Esc drops it.
fn typed(model: &mut Model, key: Key) {
    let Some(text) = &mut model.typing else { return };
    match key {
        Key::Esc => {
            model.typing = None;
            model.filter_text.clear();
        }
        Key::Enter => {
            model.filter_text = text.trim().to_owned();
            model.typing = None;
        }
        Key::Backspace => {
            text.pop();
        }
        Key::Char(letter) if text.chars().count() < MOST_TYPED => text.push(letter),
        _ => return,
    }
    model.lay_out();
}

fn clear_filter(model: &mut Model) {
    if !model.filter_text.is_empty() {
        model.filter_text.clear();
        model.lay_out();
    }
}

/// Stands still, or goes on with the latest reading.
fn freeze(model: &mut Model) {
    model.is_frozen = !model.is_frozen;
    if let Some(reading) = model.pending.take().filter(|_| !model.is_frozen) {
        model.now = reading.now;
        model.reading = *reading;
        model.lay_out();
    }
}

/// Which way the interval changes.
enum Pace {
    Faster,
    Slower,
}

fn interval(model: &mut Model, by: &Pace) -> Vec<Effect> {
    let now = model.options.interval;
    let next = match by {
        Pace::Faster => INTERVALS.iter().rev().find(|interval| **interval < now),
        Pace::Slower => INTERVALS.iter().find(|interval| **interval > now),
    };
    model.options.interval = next.copied().unwrap_or(now);
    vec![Effect::Interval(model.options.interval)]
}

fn span(model: &mut Model, span: Span) -> Vec<Effect> {
    model.span = span;
    vec![Effect::Span(span)]
}

fn sort_by(model: &mut Model, letter: char) {
    if let Some(column) = Column::ALL.into_iter().find(|column| column.letter() == letter) {
        choose_sort(model, column);
    }
}

fn choose_sort(model: &mut Model, column: Column) {
    model.sort = Sort::chosen(model.sort, column);
    model.pane = Pane::Deployments;
    model.lay_out();
}

fn clicked(model: &mut Model, x: u16, y: u16) -> Vec<Effect> {
    if model.overlay.is_some() || model.typing.is_some() {
        return Vec::new();
    }
    match view::hit(model, x, y) {
        Some(Hit::Title(column)) => choose_sort(model, column),
        Some(Hit::Row(pane, row)) => {
            let again = model.pane == pane && model.cursor(pane) == row;
            model.pane = pane;
            if let Some(cursor) = model.cursors.get_mut(pane.place()) {
                *cursor = row;
            }
            if again {
                model.overlay = subject(model).map(|subject| Overlay::Details(subject, 0));
            }
        }
        Some(Hit::Pane(pane)) => model.pane = pane,
        None => {}
    }
    Vec::new()
}

/// What is under the cursor.
fn subject(model: &Model) -> Option<Subject> {
    let at = model.cursor(model.pane);
    let board = &model.board;
    match model.pane {
        Pane::Ladders => board.ladders.get(at).map(|line| Subject::Ladder(line.ladder.to_string())),
        Pane::Deployments => board.deployments.get(at).map(|line| Subject::Deployment(line.name.clone())),
        Pane::Quotas => {
            board.quotas.get(at).map(|line| Subject::Quota(line.name.clone(), line.dimension.as_str().to_owned()))
        }
        Pane::Attempts => board.attempts.get(at).map(|line| Subject::Request(line.request.to_string())),
        Pane::Metrics => None,
    }
}

/// Asks before a deed, or says why it cannot be done.
fn ask(model: &mut Model, deed: fn(&Model) -> Result<Deed, String>) {
    if model.options.is_read_only {
        model.note = Some((Tone::Warning, "read-only: nothing can be changed from here".to_owned()));
        return;
    }
    match deed(model) {
        Ok(deed) => model.overlay = Some(Overlay::Confirm(deed)),
        Err(why) => model.note = Some((Tone::Warning, why)),
    }
}

/// Only `y` does it. Any other key leaves it.
fn answered(model: &mut Model, deed: Deed, key: Key) -> Vec<Effect> {
    if matches!(key, Key::Char('y' | 'Y')) {
        model.note = Some((Tone::Plain, format!("{} …", deed.command())));
        return vec![Effect::Do(deed)];
    }
    model.note = Some((Tone::Plain, "nothing was done".to_owned()));
    Vec::new()
}

/// The deployment under the cursor, as a selector, with the ids of what holds it.
fn chosen(model: &Model) -> Result<(String, Vec<String>), String> {
    let line = match model.pane {
        Pane::Deployments => model.board.deployments.get(model.cursor(Pane::Deployments)),
        _ => None,
    };
    let line = line.ok_or("choose a deployment first: 2, then the arrows")?;
    Ok((line.target.deployment.to_string(), hold_ids(line, &model.reading)))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn reset(model: &Model) -> Result<Deed, String> {
    if model.pane == Pane::Ladders {
        let line = model.board.ladders.get(model.cursor(Pane::Ladders)).ok_or("there is no ladder")?;
        line.cascade.as_ref().ok_or("the ladder itself turns nobody away; its steps are reset in pane 2")?;
        let name = line.ladder.to_string();
        let does = vec![format!("opens ladder {name} to all requests again, for all processes")];
        return Ok(Deed { words: words(&["reset", "-y", "--", &name]), does });
    }
    let (deployment, ids) = chosen(model)?;
    if ids.is_empty()
        && model.board.deployments.get(model.cursor(Pane::Deployments)).is_some_and(|l| l.state.is_available())
    {
        return Err(format!("nothing holds {deployment}"));
    }
    let mut does = vec![format!("clears what holds {deployment}, for all processes:")];
    let holds = model.reading.snapshot.holds.iter();
    let these = holds.filter(|held| ids.contains(&crate::report::hold_id(held)));
    does.extend(these.map(|held| one_line(&crate::report::hold_line(held, model.now))));
    does.push("what covers other deployments as well is free for them too".to_owned());
    Ok(Deed { words: words(&["reset", "-y", "--", &deployment]), does })
}

fn probe(model: &Model) -> Result<Deed, String> {
    let (deployment, ids) = chosen(model)?;
    if ids.is_empty() {
        return Err(format!("nothing holds {deployment}: there is nothing to look at"));
    }
    let does = vec![
        format!("sends one request of one word to {deployment}, now"),
        format!("an answer lifts {}; a failure holds it on, for longer", ids.join(", ")),
        "it may cost the price of a few tokens".to_owned(),
    ];
    Ok(Deed { words: words(&["probe", "--now", "--", &deployment]), does })
}

fn open(model: &Model) -> Result<Deed, String> {
    let (deployment, _) = chosen(model)?;
    let ladders = model.board.ladders.iter().filter(|line| {
        let mut left = line.left();
        left.next().is_some_and(|step| step.name == deployment) && left.next().is_none()
    });
    let mut does = vec![
        format!("bars {deployment} by hand, for all processes"),
        "until `r` or `llmr reset` clears it: no probe, no answer and no new key opens it".to_owned(),
    ];
    does.extend(ladders.map(|line| format!("ladder {} has nobody else left: it will be EXHAUSTED", line.ladder)));
    Ok(Deed { words: words(&["hold", "-y", "--why", "opened by hand in top", "--", &deployment]), does })
}
