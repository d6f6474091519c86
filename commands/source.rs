//! The files of `llmr classify`, one after another, as blocks.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use llmr::classify::capture::{Block, Spare, Splitter};
use llmr::domain::printable;

use crate::error::CliError;

/// A block with the name of its file, if that must be told.
pub struct Part {
    /// The block.
    pub block: Block,
    /// The file's name, if there are several.
    pub name: Arc<str>,
    /// Whether nothing comes after it.
    pub last: bool,
}

/// A file that is being read.
struct Open {
    splitter: Splitter<Box<dyn Read>>,
    name: Arc<str>,
    /// What error messages call it.
    what: String,
}

/// The files that are left to read.
pub struct Source {
    paths: std::vec::IntoIter<PathBuf>,
    several: bool,
    current: Option<Open>,
    read: Arc<AtomicU64>,
    total: Option<u64>,
    lines: usize,
    spare: Arc<Spare>,
}

impl Source {
    /// Looks whether all the files can be read; `-` or none is standard input.
    ///
    /// # Errors
    /// When a file cannot be read, which is named; nothing was read then.
    pub fn open(files: &[PathBuf]) -> Result<Self, CliError> {
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
        Ok(Self { paths, several, current: None, read, total, lines: 0, spare: Arc::default() })
    }

    /// How many bytes were read of how many, as far as that is known.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.read.load(Ordering::Relaxed), self.total)
    }

    /// Where room goes that is no longer needed.
    pub fn spare(&self) -> Arc<Spare> {
        Arc::clone(&self.spare)
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
        let raw: Box<dyn Read> = match is_stdin {
            true => Box::new(Live::stdin()),
            false => Box::new(File::open(path).map_err(|error| unreadable(&what, &error))?),
        };
        let counted = Counted { source: raw, read: Arc::clone(&self.read) };
        let plain = unpacked(counted).map_err(|error| unreadable(&what, &error))?;
        let name = if self.several { printable(&path.display().to_string()) } else { String::new() };
        let spare = self.spare();
        let splitter = Splitter::with_spare(plain, spare);
        self.current = Some(Open { splitter, name: name.into(), what });
        Ok(())
    }
}

fn unreadable(what: &str, error: &io::Error) -> CliError {
    CliError::trouble(format!("cannot read {}: {error}", printable(what)))
}

/// The stream, unpacked if it begins as gzip does.
fn unpacked(mut source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut head = Vec::new();
    while head.len() < 2 {
        let mut byte = [0];
        match source.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => head.extend(byte),
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
    if head == [0xff, 0xfe] || head == [0xfe, 0xff] {
        let message = "it is UTF-16; turn it into UTF-8 first (iconv -f UTF-16 -t UTF-8)";
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let packed = head == [0x1f, 0x8b];
    let whole = Joined { head, at: 0, source };
    Ok(if packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}

/// How long a pipe must be silent before what came so far is worked on.
const SILENCE: Duration = Duration::from_millis(200);

/// How much is read from a pipe at once: as much as it holds.
const PIPE: usize = 1 << 16;

/// Standard input, of which someone may be watching the end: after a while of silence it says once that it would block,
/// and waits from then on.
struct Live {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    at: usize,
    /// Whether something came since it last said so.
    fresh: bool,
}

impl Live {
    fn stdin() -> Self {
        let (give, pieces) = sync_channel(8);
        // It ends with the stream, or with the process.
        thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut piece = vec![0; PIPE];
                let read = match stdin.read(&mut piece) {
                    Ok(0) => return,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let failed = read.is_err();
                let given = give.send(read.map(|length| {
                    piece.truncate(length);
                    piece
                }));
                if failed || given.is_err() {
                    return;
                }
            }
        });
        Self { pieces, piece: Vec::new(), at: 0, fresh: false }
    }
}

impl Read for Live {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.piece.len() {
            let next = match self.fresh {
                true => self.pieces.recv_timeout(SILENCE),
                false => self.pieces.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            self.fresh = next.is_ok();
            match next {
                Ok(piece) => (self.piece, self.at) = (piece?, 0),
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let copied = self.piece.get(self.at..).unwrap_or(&[]).read(buffer)?;
        self.at += copied;
        Ok(copied)
    }
}

/// A stream whose first bytes were read already.
struct Joined<R> {
    head: Vec<u8>,
    at: usize,
    source: R,
}

impl<R: Read> Read for Joined<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let copied = self.head.get(self.at..).unwrap_or(&[]).read(buffer)?;
        self.at += copied;
        if copied > 0 { Ok(copied) } else { self.source.read(buffer) }
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
