//! Classifies what is found in a block and renders it, so that blocks can be worked on at the same time.

use std::ops::Range;

use jiff::Timestamp;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::classify::capture::{self, Block, Broken, Capture, Format, Reading, Sink};
use crate::classify::{Classifier, Explanation, Standins};
use crate::domain::{Evidence, ProviderName, Redactor, printable};
use crate::report::log::record_json;

use super::json::{Parts, has_controls};
use super::mask::{self, Place};
use super::memo::{self, Heals, Memo};
use super::table::{Row, row};
use super::{Entry, Totals, broken_json, explain, explained_json, failure_json};

/// What results look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A line of JSON for each failure.
    Json,
    /// The same with all the rules that matched.
    ExplainedJson,
    /// A paragraph for each failure.
    ExplainedText,
    /// Rows of a table.
    Table,
    /// Counts alone.
    Totals,
    /// A capture for each failure, with stand-ins for what is personal.
    Redacted,
}

/// What a block gave.
#[derive(Debug, Default)]
pub struct Output {
    /// What to print, for shapes that are text.
    pub text: String,
    /// What to print, for tables.
    pub(super) rows: Vec<Row>,
    /// Records that could not be read, one line each.
    pub complaints: String,
    /// The counts.
    pub totals: Totals,
}

impl Output {
    /// The text, or the rows as the next part of a table; `last` says that nothing comes after it.
    pub fn rendered(self, table: &mut super::Table, last: bool) -> String {
        if self.rows.is_empty() { self.text } else { table.rows(&self.rows, last) }
    }
}

/// Classifies block after block, and remembers what it has seen.
#[derive(Debug)]
pub struct Worker<'a> {
    classifier: &'a Classifier,
    catalog: &'a Catalog,
    /// The provider of records that name none.
    provider: Option<ProviderName>,
    shape: Shape,
    memo: Memo,
    now: Timestamp,
    standins: Option<Standins>,
}

impl<'a> Worker<'a> {
    /// A worker that has seen nothing yet.
    pub fn new(classifier: &'a Classifier, catalog: &'a Catalog, provider: Option<ProviderName>, shape: Shape) -> Self {
        Self { classifier, catalog, provider, shape, memo: Memo::default(), now: Timestamp::UNIX_EPOCH, standins: None }
    }

    /// The same with stand-ins, for `Shape::Redacted`. Only one worker gives equal originals equal stand-ins.
    pub fn with_standins(self, standins: Standins) -> Self {
        Self { standins: Some(standins), ..self }
    }

    /// Finds, classifies and renders what is in the block. `name` is the file's, where it must be told.
    /// `room` is memory for the text, with nothing of value in it.
    pub fn read(&mut self, block: &Block, format: Format, reading: &Reading, name: &str, room: Vec<u8>) -> Output {
        // A moment that is read against the clock is another one when the clock has moved.
        if reading.now != self.now || self.memo.is_full() {
            self.memo.clear();
            self.now = reading.now;
        }
        let mut page = Page { worker: self, name, out: Output { text: emptied(room), ..Output::default() } };
        capture::read_block(block, format, reading, &mut page);
        let mut out = page.out;
        self.memo.count(|class, provider, count| out.totals.add_many(class, provider, count));
        out
    }

    /// What the capture is, of the provider that was told where it names none.
    fn explain(&self, capture: &mut Capture) -> Explanation {
        if capture.evidence.provider.is_none() {
            capture.evidence.provider.clone_from(&self.provider);
        }
        self.classifier.explain(&capture.evidence, self.catalog, self.now)
    }

    fn remembers(&self) -> bool {
        matches!(self.shape, Shape::Json | Shape::Totals)
    }

    /// Remembers the result if it follows from what the memory compares.
    fn remember(&mut self, line: &[u8], capture: &Capture, explanation: &Explanation) {
        let Some(heals) = heals(line, capture, explanation) else { return };
        let parts = Parts::of(explanation);
        if !self.holds_at_any_time(capture, &parts, heals) {
            return;
        }
        let ids = memo::ids(line);
        let places = if ids.is_empty() { None } else { self.places(line, &ids, &parts, heals) };
        let provider = explanation.provider.as_ref().map(ProviderName::as_str);
        let masked = places.map_or((&[][..], Vec::new()), |places| (ids.as_slice(), places));
        self.memo.put(line, (parts, heals, explanation.failure.class, provider), masked);
    }

    /// Whether the same record of another time would be the same: a moment that is past for one is to come for another,
    /// and five o'clock is nearer at four.
    fn holds_at_any_time(&self, capture: &Capture, parts: &Parts, known: Heals) -> bool {
        const HOURS: [i64; 7] = [-1, -50, -1_000, -7_000, -15_000, 1, 9_000];
        let Some(at) = capture.evidence.at else { return true };
        HOURS.into_iter().all(|hours| {
            let Ok(other) = at.checked_add(jiff::SignedDuration::from_hours(hours)) else { return true };
            let evidence = Evidence { at: Some(other), ..capture.evidence.clone() };
            let explanation = self.classifier.explain(&evidence, self.catalog, self.now);
            since(Some(other), &explanation) == Some(known) && Parts::of(&explanation).says_the_same(parts)
        })
    }

    /// Where the ids of the line stand in its result, if the result follows from nothing else of them.
    fn places(&self, line: &[u8], ids: &[Range<usize>], parts: &Parts, known: Heals) -> Option<Vec<Place>> {
        let others = mask::with_others(line, ids);
        let reading = Reading::at(self.now);
        let mut capture = capture::read(&others, Format::Jsonl, &reading).pop()?.ok()?;
        let explanation = self.explain(&mut capture);
        let changed = Parts::of(&explanation);
        let same = changed.is_like(parts) && heals(&others, &capture, &explanation) == Some(known);
        if same { mask::places(line, ids, parts.after(), changed.after()) } else { None }
    }
}

/// Room for text, with nothing in it.
fn emptied(mut room: Vec<u8>) -> String {
    room.clear();
    String::from_utf8(room).unwrap_or_default()
}

/// What a block gives, as it is found.
struct Page<'p, 'a> {
    worker: &'p mut Worker<'a>,
    name: &'p str,
    out: Output,
}

impl Sink for Page<'_, '_> {
    fn knows(&mut self, line: &[u8], number: usize) -> bool {
        if !self.worker.remembers() {
            return false;
        }
        let Some(met) = self.worker.memo.get(line) else { return false };
        let id = match (&met.spans.id, memo::text(line, met.spans.id.as_ref())) {
            (None, _) => "null",
            (_, Some(id)) if !has_controls(id) => id,
            // Reading it anew says what is wrong with it.
            _ => return false,
        };
        // What has the shape of an id may be a key, and only some keys are told by how they begin.
        let redactor = Redactor::default();
        if met.ids(line).any(|(_, id)| redactor.redact(id) != id) {
            return false;
        }
        let at = memo::text(line, met.spans.at.as_ref()).map(str::parse::<Timestamp>).transpose();
        let heals = match (met.known.heals, at) {
            (Heals::AsSaid, Ok(_)) => None,
            (Heals::After(after), Ok(Some(at))) => at.checked_add(after).ok(),
            // Reading it anew says what is wrong with it.
            _ => return false,
        };
        if heals.is_none() && met.known.heals != Heals::AsSaid {
            return false;
        }
        met.known.met += 1;
        if self.worker.shape == Shape::Json {
            // `heals` is none where the moment of the verdict stands.
            met.known.parts.write(id, heals, met.ids(line), (number, number), &mut self.out.text);
            self.out.text.push('\n');
        }
        true
    }

    fn found(&mut self, one: Result<Capture, Broken>, line: Option<&[u8]>) {
        match one {
            Ok(capture) => self.capture(capture, line),
            Err(broken) => self.broken(&broken),
        }
    }
}

impl Page<'_, '_> {
    fn capture(&mut self, mut capture: Capture, line: Option<&[u8]>) {
        let worker = &mut *self.worker;
        let explanation = worker.explain(&mut capture);
        if let (Some(line), true) = (line, worker.remembers()) {
            worker.remember(line, &capture, &explanation);
        }
        self.out.totals.add(&explanation);
        if self.worker.shape == Shape::Redacted {
            return self.redacted(&capture, explanation.provider);
        }
        let place = match self.name {
            "" => format!("line {}", capture.line),
            name => format!("{name}:{}", capture.line),
        };
        let entry = Entry { id: capture.id, place, line: capture.line, end_line: capture.end_line, explanation };
        self.render(&entry);
    }

    fn render(&mut self, entry: &Entry) {
        let line = match self.worker.shape {
            Shape::Json => failure_json(entry),
            Shape::ExplainedJson => explained_json(entry),
            Shape::ExplainedText => explain::explained_text(entry, self.worker.now),
            Shape::Table => return self.out.rows.push(row(entry)),
            Shape::Totals | Shape::Redacted => return,
        };
        self.out.text.push_str(&line);
        self.out.text.push('\n');
    }

    /// The capture as it may be shared; who sent it is told if it was recognised.
    fn redacted(&mut self, capture: &Capture, provider: Option<ProviderName>) {
        let Some(standins) = &mut self.worker.standins else { return };
        let mut shared = standins.evidence(&capture.evidence);
        shared.provider = shared.provider.or(provider);
        let id = match &capture.id {
            None => Value::Null,
            Some(Value::String(id)) => Value::from(standins.text(id)),
            Some(id) => id.clone(),
        };
        let line = printable(&record_json(&id, shared).to_string());
        self.out.text.push_str(&line);
        self.out.text.push('\n');
    }

    /// Who zips the lines of input and output must not get out of step: a broken line gives a line too.
    fn broken(&mut self, broken: &Broken) {
        self.out.totals.broken += 1;
        let named = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        self.out.complaints.push_str(&format!("{named}{}\n", printable(&broken.to_string())));
        if matches!(self.worker.shape, Shape::Json | Shape::ExplainedJson) {
            self.out.text.push_str(&broken_json(broken.line, &broken.message));
            self.out.text.push('\n');
        }
    }
}

/// When what is on the line heals, if that follows from what the memory compares; none if the line is not to be
/// remembered.
fn heals(line: &[u8], capture: &Capture, explanation: &Explanation) -> Option<Heals> {
    let spans = memo::spans(line);
    let own_id = match (memo::text(line, spans.id.as_ref()), &capture.id) {
        (None, None) => true,
        (Some(text), Some(id)) => serde_json::from_str::<Value>(text).is_ok_and(|value| value == *id),
        _ => false,
    };
    let at_text = memo::text(line, spans.at.as_ref());
    let own_at = at_text.map(str::parse::<Timestamp>).transpose().is_ok_and(|at| at == capture.evidence.at);
    if own_id && own_at { since(capture.evidence.at, explanation) } else { None }
}

/// When it heals, as a time since that of its record; none if it depends on that in another way.
fn since(at: Option<Timestamp>, explanation: &Explanation) -> Option<Heals> {
    let failure = &explanation.failure;
    match (at, failure.retry_after, failure.retry_at) {
        (None, ..) | (_, None, None) => Some(Heals::AsSaid),
        (Some(at), Some(after), Some(heals)) if at.checked_add(after).ok() == Some(heals) => Some(Heals::After(after)),
        _ => None,
    }
}
