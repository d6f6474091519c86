//! Readers of captured failures, in whatever form people have them: JSONL records, HAR files, dumps of curl and of event
//! streams, structured logs, and free text.
//!
//! Forms may be mixed in one file. A line that is a record of ours is one; what stands between records is text, in which
//! the failures must be found. A file is read in blocks of some hundred kilobytes, cut where no failure can lie across
//! the cut, so that memory is bounded and blocks can be read at the same time.

mod cut;
mod exchange;
#[cfg(test)]
mod files;
mod har;
mod jsonl;
mod line;
mod log;
mod regions;
mod split;
mod stamp;
mod structured;
mod tells;

use serde_json::Value;

use crate::domain::Evidence;

pub use split::{Block, Spare, Splitter};
pub use stamp::Reading;

/// The form of captured failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// Free text, in which the failures must be found.
    Text,
    /// What browsers and proxies export.
    Har,
    /// Whichever of these it looks like, also mixed.
    #[default]
    Auto,
}

/// One captured failure.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The id that came with it, as it was.
    pub id: Option<Value>,
    /// The line on which it starts, from 1.
    pub line: usize,
    /// The line on which it ends.
    pub end_line: usize,
    /// What is known of it.
    pub evidence: Evidence,
}

/// A record that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Broken {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// Takes what is found in a block, in order.
pub trait Sink {
    /// Whether this line of JSON was a record before and need not be read again; if so it counts as found.
    fn knows(&mut self, _line: &[u8], _number: usize) -> bool {
        false
    }

    /// A failure, or a record that cannot be read. `line` is the record's line as it stands, where it is one line.
    fn found(&mut self, one: Result<Capture, Broken>, line: Option<&[u8]>);
}

impl Sink for Vec<Result<Capture, Broken>> {
    fn found(&mut self, one: Result<Capture, Broken>, _line: Option<&[u8]>) {
        self.push(one);
    }
}

/// The captured failures in the text, in order.
///
/// # Errors
/// Each record that cannot be read is one error in its place; the others are read all the same.
pub fn read(text: &[u8], format: Format, reading: &Reading) -> Vec<Result<Capture, Broken>> {
    let mut found = Vec::new();
    read_block(&Block::whole(text.to_vec()), format, reading, &mut found);
    found
}

/// Finds the captured failures in one block and hands them to the sink, in order.
pub fn read_block(block: &Block, format: Format, reading: &Reading, sink: &mut dyn Sink) {
    match format {
        Format::Har => har::read(&block.bytes, block.first_line).into_iter().for_each(|one| sink.found(one, None)),
        format => Reader { block, format, reading, sink, text: Vec::new(), records: false }.read(),
    }
}

/// Goes through the lines of a block.
struct Reader<'r> {
    block: &'r Block,
    format: Format,
    reading: &'r Reading,
    sink: &'r mut dyn Sink,
    /// Lines since the last record.
    text: Vec<(usize, &'r [u8])>,
    /// Whether there was a record.
    records: bool,
}

impl<'r> Reader<'r> {
    fn read(mut self) {
        let mut number = self.block.first_line;
        let block = self.block;
        let mut rest = block.bytes.as_slice();
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let (line, after) = rest.split_at(end);
            match self.format {
                Format::Text => self.text.push((number, line)),
                _ => self.line(number, line),
            }
            rest = after.get(1..).unwrap_or(&[]);
            number += 1;
        }
        self.flush(true);
    }

    fn line(&mut self, number: usize, raw: &'r [u8]) {
        let line = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw).trim_ascii();
        let strict = self.format == Format::Jsonl;
        if line.is_empty() && strict {
            return;
        }
        let looks_whole = line.first() == Some(&b'{') && (strict || line.last() == Some(&b'}'));
        if !strict && !looks_whole {
            let torn = self.records && self.text.is_empty() && line.first() == Some(&b'{');
            return match torn {
                true => self.sink.found(Err(Broken { line: number, message: jsonl::what_is_wrong(line) }), None),
                false => self.text.push((number, raw)),
            };
        }
        if self.text.is_empty() && self.sink.knows(line, number) {
            self.records = true;
            return;
        }
        match jsonl::line(line, number, strict) {
            Some(one) => {
                self.flush(false);
                self.records = true;
                self.sink.found(one, Some(line));
            }
            None => self.text.push((number, raw)),
        }
    }

    /// Reads the text since the last record.
    fn flush(&mut self, last: bool) {
        if self.text.is_empty() {
            return;
        }
        let raw: Vec<_> = self.text.drain(..).map(|(number, bytes)| (number, String::from_utf8_lossy(bytes))).collect();
        let mut lines = Vec::new();
        for (number, text) in &raw {
            line::add(*number, text, self.reading, &mut lines);
        }
        let whole = self.block.first && self.block.last && !self.records && last;
        let text = regions::Text { lines: &lines, whole, last: last && self.block.last };
        for one in regions::read(&text, self.reading) {
            self.sink.found(one, None);
        }
    }
}

#[cfg(test)]
mod tests;
