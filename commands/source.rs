//! The files of `llmr classify`, one after another, as blocks.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use llmr::classify::capture::{Block, Splitter};
use llmr::domain::printable;

use crate::error::CliError;

/// A block with the name of its file, if that must be told.
pub struct Part {
    /// The block.
    pub block: Block,
    /// What stands before line numbers: the file's name if there are several.
    pub name: Arc<str>,
    /// Whether nothing comes after it.
    pub last: bool,
}

/// A file that is being read.
struct Open<'a> {
    splitter: Splitter<Box<dyn Read + 'a>>,
    name: Arc<str>,
    /// What error messages call it.
    what: String,
}

/// The files that are left to read.
pub struct Source<'a> {
    paths: std::vec::IntoIter<PathBuf>,
    several: bool,
    stdin: Option<&'a mut dyn Read>,
    current: Option<Open<'a>>,
    read: Arc<AtomicU64>,
    total: Option<u64>,
    lines: usize,
}

impl<'a> Source<'a> {
    /// Looks whether all the files can be read; `-` or none is standard input.
    ///
    /// # Errors
    /// When a file cannot be read, which is named; nothing was read then.
    pub fn open(files: &[PathBuf], stdin: &'a mut dyn Read) -> Result<Self, CliError> {
        let paths = if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() };
        let mut total = Some(0);
        for path in &paths {
            if path.as_os_str() == "-" {
                total = None;
                continue;
            }
            let file = File::open(path).and_then(|file| file.metadata());
            let meta = file.map_err(|error| unreadable(&path.display().to_string(), &error))?;
            if meta.is_dir() {
                let message = format!("cannot read {}: it is a directory", printable(&path.display().to_string()));
                return Err(CliError::trouble(message).hint("name its files"));
            }
            total = total.filter(|_| meta.is_file()).map(|total| total + meta.len());
        }
        let several = paths.len() > 1;
        let read = Arc::new(AtomicU64::new(0));
        let paths = paths.into_iter();
        Ok(Self { paths, several, stdin: Some(stdin), current: None, read, total, lines: 0 })
    }

    /// How many bytes were read of how many, as far as that is known.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.read.load(Ordering::Relaxed), self.total)
    }

    /// How many lines were read.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The next block of the files.
    ///
    /// # Errors
    /// When a file cannot be read on.
    pub fn next_part(&mut self) -> Result<Option<Part>, CliError> {
        loop {
            let Some(Open { splitter, name, what }) = &mut self.current else {
                match self.paths.next() {
                    Some(path) => self.begin(&path)?,
                    None => return Ok(None),
                }
                continue;
            };
            match splitter.next_block().map_err(|error| unreadable(what, &error))? {
                Some(block) => {
                    let last = block.last && self.paths.len() == 0;
                    if block.last {
                        let unended = usize::from(block.bytes.last().is_some_and(|byte| *byte != b'\n'));
                        let ends = block.bytes.iter().filter(|byte| **byte == b'\n').count();
                        self.lines += block.first_line - 1 + ends + unended;
                    }
                    return Ok(Some(Part { block, name: Arc::clone(name), last }));
                }
                None => self.current = None,
            }
        }
    }

    fn begin(&mut self, path: &Path) -> Result<(), CliError> {
        let is_stdin = path.as_os_str() == "-";
        let what = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let raw: Box<dyn Read + 'a> = match (is_stdin, self.stdin.take()) {
            (true, Some(stdin)) => Box::new(stdin),
            // A second `-` has nothing left.
            (true, None) => Box::new(io::empty()),
            (false, stdin) => {
                self.stdin = stdin;
                Box::new(File::open(path).map_err(|error| unreadable(&what, &error))?)
            }
        };
        let counted = Counted { source: raw, read: Arc::clone(&self.read) };
        let plain = unpacked(counted).map_err(|error| unreadable(&what, &error))?;
        let name = if self.several { format!("{}: ", printable(&path.display().to_string())) } else { String::new() };
        self.current = Some(Open { splitter: Splitter::new(plain), name: name.into(), what });
        Ok(())
    }
}

fn unreadable(what: &str, error: &io::Error) -> CliError {
    CliError::trouble(format!("cannot read {}: {error}", printable(what)))
}

/// The stream, unpacked if it begins as gzip does.
fn unpacked<'a>(mut source: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut head = Vec::new();
    while head.len() < 2 {
        let mut byte = [0];
        match source.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => head.extend(byte),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let packed = head == [0x1f, 0x8b];
    let whole = Joined { head, at: 0, source };
    Ok(if packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}

/// A stream whose first bytes were read already.
struct Joined<R> {
    head: Vec<u8>,
    at: usize,
    source: R,
}

impl<R: Read> Read for Joined<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut rest = self.head.get(self.at..).unwrap_or(&[]);
        let copied = rest.read(buffer)?;
        self.at += copied;
        // With what follows in one go: a read that gives two bytes looks like an empty pipe.
        let room = buffer.get_mut(copied..).unwrap_or(&mut []);
        if room.is_empty() { Ok(copied) } else { self.source.read(room).map(|read| read + copied) }
    }
}

/// Counts what is read.
struct Counted<R> {
    source: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
