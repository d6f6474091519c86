//! Cuts a stream into blocks that can be read by themselves.
//!
//! A block ends where a new record or entry begins. Between them a failure may take many lines; so when no such place is
//! near the end of what was read, more is read, up to a bound.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::{cut, har};

/// How much is read before a block is given, in bytes.
const BLOCK: usize = 1 << 20;

/// How much is asked for at once.
const PIECE: usize = 1 << 18;

/// The longest line that is kept. What is beyond is dropped up to the line's end.
const LONGEST_LINE: usize = 32 << 20;

/// From this size on a text is cut at any line, for want of a better place.
const PATIENCE: usize = 4 << 20;

/// How far back from the end a place to cut is looked for, in bytes.
const LOOK_BACK: usize = 1 << 16;

/// Some lines of a file, whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The number of the first of its lines, from 1.
    pub first_line: usize,
    /// Its text.
    pub bytes: Vec<u8>,
    /// Whether the file begins with it.
    pub first: bool,
    /// Whether the file ends with it.
    pub last: bool,
}

impl Block {
    /// All of a text.
    pub fn whole(bytes: Vec<u8>) -> Self {
        Self { first_line: 1, bytes, first: true, last: true }
    }
}

/// Reads a stream block by block.
#[derive(Debug)]
pub struct Splitter<R> {
    source: R,
    /// What was read and is not given yet, and room behind it.
    kept: Vec<u8>,
    /// How much of it was read.
    filled: usize,
    /// The room of blocks that are done with.
    spare: Arc<Spare>,
    line: usize,
    first: bool,
    ended: bool,
    /// What kept the stream from being read on.
    failed: Option<io::Error>,
    /// Whether all of the stream is one document, which can't be cut.
    one_document: bool,
}

impl<R: Read> Splitter<R> {
    /// A splitter at the start of the stream. When the stream says that it would block, what is there is given: someone
    /// may be watching its end.
    pub fn new(source: R) -> Self {
        Self::with_spare(source, Arc::default())
    }

    /// A splitter that uses the room of blocks again which others are done with: to get and clear new memory for each
    /// takes longer than to find its lines.
    pub fn with_spare(source: R, spare: Arc<Spare>) -> Self {
        Self {
            source,
            kept: Vec::new(),
            filled: 0,
            spare,
            line: 1,
            first: true,
            ended: false,
            failed: None,
            one_document: false,
        }
    }

    /// The next block; none at the end.
    ///
    /// # Errors
    /// When the stream can't be read.
    pub fn next_block(&mut self) -> io::Result<Option<Block>> {
        let mut target = BLOCK;
        loop {
            if let Some(error) = self.failed.take_if(|_| self.filled == 0) {
                return Err(error);
            }
            let drained = self.fill(target);
            if self.failed.is_some() {
                // What came before is not lost.
                if self.filled == 0 {
                    continue;
                }
                return Ok(Some(self.give(self.filled)));
            }
            if self.ended {
                return Ok((self.filled > 0 || self.first).then(|| self.give(self.filled)));
            }
            let text = self.kept.get(..self.filled).unwrap_or(&[]);
            if self.first && har::looks_like_one(text) {
                self.one_document = true;
            }
            if !self.one_document
                && let Some(cut) = place(text, drained)
            {
                return Ok(Some(self.give(cut)));
            }
            target = self.filled + BLOCK;
        }
    }

    /// Reads until there are `target` bytes, the stream ends, or has no more for now; says whether the latter.
    fn fill(&mut self, target: usize) -> bool {
        while self.filled < target {
            if self.kept.len() < self.filled + PIECE {
                self.kept.resize(self.filled + PIECE, 0);
            }
            let read = match self.source.read(self.kept.get_mut(self.filled..).unwrap_or(&mut [])) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(error) => {
                    self.failed = Some(error);
                    return false;
                }
                Ok(read) => read,
            };
            self.filled += read;
            self.ended = read == 0;
            self.drop_overlong();
            if self.ended {
                break;
            }
        }
        false
    }

    /// Drops the middle of a line that is longer than any record.
    fn drop_overlong(&mut self) {
        if self.one_document || self.filled <= LONGEST_LINE + PIECE {
            return;
        }
        let text = self.kept.get(..self.filled).unwrap_or(&[]);
        let start = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
        self.filled = self.filled.min(start + LONGEST_LINE);
    }

    fn give(&mut self, cut: usize) -> Block {
        let mut room = self.spare.take();
        let rest = self.kept.get(cut..self.filled).unwrap_or(&[]);
        if room.len() < rest.len() {
            room.resize(rest.len(), 0);
        }
        if let Some(start) = room.get_mut(..rest.len()) {
            start.copy_from_slice(rest);
        }
        self.filled = rest.len();
        let mut bytes = std::mem::replace(&mut self.kept, room);
        bytes.truncate(cut);
        let block = Block { first_line: self.line, first: self.first, last: self.ended, bytes };
        self.line += memchr::memchr_iter(b'\n', &block.bytes).count();
        self.first = false;
        block
    }
}

/// Room that blocks and their results no longer need.
#[derive(Debug, Default)]
pub struct Spare(Mutex<Vec<Vec<u8>>>);

impl Spare {
    /// Takes the room of a block that is done with.
    pub fn give(&self, room: Vec<u8>) {
        // More than a few are never under way; what is much larger than usual is not worth keeping.
        if room.capacity() <= 4 * BLOCK {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(room);
        }
    }

    /// Room that was given, with whatever is in it.
    pub fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }
}

/// Where the text can be cut: after its last line if that is a record, else before the last line that begins something.
fn place(text: &[u8], drained: bool) -> Option<usize> {
    let end = memchr::memrchr(b'\n', text)? + 1;
    let patient = text.len() < PATIENCE && !drained;
    let floor = if patient { end.saturating_sub(LOOK_BACK) } else { 0 };
    let cuts = || line_starts(text, end).take_while(|cut| *cut >= floor);
    cuts()
        .find(|cut| begins_anew(text, *cut, cut::is_dated))
        .or_else(|| cuts().find(|cut| begins_anew(text, *cut, cut::is_entry)))
        .or((text.len() >= PATIENCE).then_some(end))
}

/// The starts of the last lines, the last first.
fn line_starts(text: &[u8], end: usize) -> impl Iterator<Item = usize> {
    let before = |cut: &usize| {
        let rest = text.get(..cut.checked_sub(1)?)?;
        Some(memchr::memrchr(b'\n', rest).map_or(0, |at| at + 1))
    };
    std::iter::successors(Some(end), before).take_while(|cut| *cut > 0).take(400)
}

/// Whether what comes before `cut` is over, by the line before it and the line after it.
fn begins_anew(text: &[u8], cut: usize, begins: fn(&str) -> bool) -> bool {
    let (before, after) = text.split_at(cut);
    let before = before.strip_suffix(b"\n").unwrap_or(before);
    let before = before.get(memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)..).unwrap_or(b"");
    let after = after.split(|byte| *byte == b'\n').next().unwrap_or(b"");
    let after_record = before.starts_with(b"{\"") && before.trim_ascii_end().ends_with(b"}");
    if after_record && !wraps_a_line(before) {
        return true;
    }
    let after = String::from_utf8_lossy(after);
    // What a container runtime wraps may go on in the next record.
    let inner = WRAPPED.iter().find_map(|start| after.strip_prefix(*start)).unwrap_or(&after);
    begins(inner)
}

/// How the records of container runtimes begin.
const WRAPPED: [&str; 2] = ["{\"log\":\"", "{\"log\": \""];

fn wraps_a_line(line: &[u8]) -> bool {
    WRAPPED.iter().any(|start| line.starts_with(start.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its text in pieces of the given sizes, of which 0 is silence.
    struct Dribble<'a>(&'a [u8], Vec<usize>);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.1.last() == Some(&0) {
                self.1.pop();
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let size = self.1.pop().unwrap_or(usize::MAX).min(self.0.len()).min(buffer.len());
            buffer[..size].copy_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }

    fn blocks(source: impl Read) -> Vec<Block> {
        let mut splitter = Splitter::new(source);
        std::iter::from_fn(|| splitter.next_block().expect("readable")).collect()
    }

    #[test]
    fn blocks_make_up_the_text_and_know_their_lines() {
        let record = format!("{{\"status\":429,\"body\":\"{}\"}}\n", "x".repeat(700));
        let text = record.repeat(9000);
        let blocks = blocks(text.as_bytes());
        assert!(blocks.len() > 4, "{}", blocks.len());
        let mut line = 1;
        for block in &blocks {
            assert_eq!(block.first_line, line);
            assert!(block.bytes.starts_with(b"{\"status") && block.bytes.ends_with(b"}\n"));
            line += block.bytes.iter().filter(|byte| **byte == b'\n').count();
        }
        assert!(blocks[0].first && !blocks[1].first && blocks[blocks.len() - 1].last);
        assert_eq!(blocks.iter().flat_map(|block| block.bytes.clone()).collect::<Vec<_>>(), text.as_bytes());
    }

    #[test]
    fn a_trace_is_not_cut() {
        let entry =
            format!("2026-11-15 10:00:00 ERROR boom\nTraceback:\n{}Error: 429\n", "  File \"x\", line 1\n".repeat(60));
        let text = entry.repeat(2000);
        for block in blocks(text.as_bytes()) {
            assert!(block.bytes.starts_with(b"2026-11-15 10:00:00") && block.bytes.ends_with(b"Error: 429\n"));
        }
    }

    #[test]
    fn what_is_there_is_given_when_the_pipe_is_empty() {
        let text = b"{\"status\":429}\n{\"status\":500}\n{\"sta";
        let all = blocks(Dribble(text, vec![usize::MAX, 5, 15, 15]));
        assert_eq!(all.len(), 1, "pieces are no blocks");
        let blocks = blocks(Dribble(text, vec![usize::MAX, 0, 5, 0, 15, 0, 15]));
        assert_eq!(blocks.iter().map(|block| block.bytes.len()).collect::<Vec<_>>(), [15, 15, 5]);
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let text = vec![b'x'; LONGEST_LINE * 2];
        let blocks = blocks(text.as_slice());
        assert!(blocks.iter().map(|block| block.bytes.len()).sum::<usize>() <= LONGEST_LINE + 2 * PIECE);
    }

    #[test]
    fn nothing_is_one_empty_block() {
        assert_eq!(blocks(&b""[..]), [Block { first_line: 1, first: true, last: true, bytes: Vec::new() }]);
    }
}
