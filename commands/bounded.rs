//! Running a program that may hang, and must not hang us.
//!
//! It gets a process group of its own: Ctrl-C at the terminal while the request is under way ends that and not the message
//! of its end, and what it started goes with it when its time is over or the user does not want to wait for it. Its pipes are read and written by threads of their own, because whoever
//! does not read or write in time would block us.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use llmr::clock::Clock;

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(5);

/// How long what it printed is waited for once it has ended: what it left behind may keep the pipe open.
const REST: Duration = Duration::from_millis(200);

/// The most bytes that are kept of what it prints, from each pipe.
const MOST: usize = 64 * 1024;

/// What came of a program.
pub struct Ran {
    /// How it ended; none when it was killed: its time was over, or Ctrl-C was heard.
    pub status: Option<ExitStatus>,
    /// What it printed.
    pub out: String,
    /// What it complained of.
    pub err: String,
}

/// Runs the program with this on its standard input, and kills it when the time is over or Ctrl-C is heard.
///
/// # Errors
/// When it cannot be started.
pub fn run(words: &[String], input: &[u8], timeout: Duration, clock: Clock) -> io::Result<Ran> {
    let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let (stdin, input) = (child.stdin.take(), input.to_vec());
    // Who does not read its input is no trouble.
    let _ = std::thread::Builder::new().spawn(move || stdin.map(|mut pipe| pipe.write_all(&input)));
    let (out, err) = (Kept::of(child.stdout.take()), Kept::of(child.stderr.take()));
    let status = wait(&mut child, timeout, clock)?;
    if status.is_none() {
        kill(&mut child);
    }
    Ok(Ran { status, out: out.text(), err: err.text() })
}

/// Waits for the end, but not longer than this, nor longer than the user wants.
fn wait(child: &mut Child, timeout: Duration, clock: Clock) -> io::Result<Option<ExitStatus>> {
    let watch = clock.stopwatch();
    // Nobody ever sends: it is a wait with an end.
    let (_silent, never) = mpsc::channel::<()>();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if watch.elapsed() >= timeout || crate::walk::is_interrupted() {
            return Ok(None);
        }
        let _ = never.recv_timeout(LOOK);
    }
}

/// Ends it with all that it started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = format!("-{}", child.id());
        let mut command = Command::new("kill");
        command.args(["-KILL", "--", &group]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Without that program the one that we started goes alone.
        let _ = command.status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// What comes out of a pipe, bounded.
struct Kept {
    bytes: Arc<Mutex<Vec<u8>>>,
    done: mpsc::Receiver<()>,
}

impl Kept {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let (sender, done) = mpsc::channel();
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bytes);
        let read = move || {
            let Some(mut pipe) = pipe else { return };
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut piece) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MOST.saturating_sub(kept.len());
                kept.extend(piece.iter().take(length.min(room)));
            }
            // The receiver may have given up.
            let _ = sender.send(());
        };
        let _ = std::thread::Builder::new().spawn(read);
        Self { bytes, done }
    }

    fn text(&self) -> String {
        let _ = self.done.recv_timeout(REST);
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}
