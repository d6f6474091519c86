//! Running a program that may hang, and must not hang us.
//!
//! It gets a process group of its own: Ctrl-C at the terminal while a request is under way ends that and not the program,
//! and what it started goes with it when its time is over or the user does not want to wait for it. Its pipes are read
//! by threads of their own, because whoever does not read in time would block it. What it prints is kept
//! up to a bound; the rest is read and thrown away, so that it is not stuck.
//!
//! If we are killed ourselves (SIGKILL), the program goes on to its own end: to have the system end it with us takes a call
//! that no safe code can make.
//!
//! A program runs by the system's stopwatch, also where all other time is invented.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
#[cfg(unix)]
use std::sync::Once;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::Clock;

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(5);

/// What any pipe takes without a reader, in bytes: one page.
const SHORT: usize = 4096;

/// How long what it printed is waited for once it has ended: what it left behind may keep the pipe open.
const REST: Duration = Duration::from_millis(200);

/// How often, at most, that is done anew because more came.
const MOST_RESTS: u32 = 10;

/// The most bytes that are kept of what it prints, where nobody says otherwise.
pub const MOST: usize = 64 * 1024;

/// What is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// The program and its arguments; no shell is between.
    pub words: &'a [String],
    /// What it reads on its standard input.
    pub input: &'a [u8],
    /// Variables in addition to those of our own environment.
    pub env: &'a [(&'a str, &'a str)],
}

/// How long it may take and how much it may say.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// When it is killed.
    pub time: Duration,
    /// The most bytes that are kept of what it prints, from each pipe.
    pub output: usize,
    /// Whether nobody wants to wait any longer; asked every few milliseconds.
    pub is_interrupted: &'a dyn Fn() -> bool,
}

/// What came of a program.
#[derive(Debug)]
pub struct Ran {
    /// How it ended; none when it was killed: its time was over, or it was interrupted.
    pub status: Option<ExitStatus>,
    /// What it printed, as far as it was kept.
    pub out: String,
    /// What it complained of, as far as it was kept.
    pub err: String,
    /// Whether it printed more than was kept.
    pub is_cut: bool,
    /// Why nobody can say how it ended, although it was begun; then there is no `status`.
    pub lost: Option<io::Error>,
}

/// Runs the program, and kills it when the time is over or it is interrupted.
///
/// # Errors
/// When it was not started. What goes wrong with one that was is told by [`Ran::lost`].
pub fn run(program: &Program<'_>, bounds: &Bounds<'_>) -> io::Result<Ran> {
    run_without(program, &[], bounds)
}

/// The same, but these variables of our own environment are not passed on.
///
/// # Errors
/// When it was not started.
pub fn run_without(program: &Program<'_>, hidden: &[String], bounds: &Bounds<'_>) -> io::Result<Ran> {
    let (name, arguments) = program.words.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
    let mut command = Command::new(name);
    command.args(arguments);
    for name in hidden {
        command.env_remove(name);
    }
    command.envs(program.env.iter().copied());
    let ((out, stdout), (err, stderr)) = (Kept::new(bounds.output)?, Kept::new(bounds.output)?);
    command.stdin(filled(program.input)?).stdout(stdout).stderr(stderr);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    listen_for_ends();
    // From here on it has begun, and nothing that goes wrong may be told as if it had not.
    let mut child = command.spawn()?;
    // Our own ends of its pipes, or they would never be seen to be closed.
    drop(command);
    let (status, lost) = match wait(&mut child, bounds) {
        Ok(status) => (status, None),
        Err(error) => (None, Some(error)),
    };
    if status.is_none() && lost.is_none() {
        kill(&mut child);
    }
    let ((out, out_cut), (err, err_cut)) = (out.text(), err.text());
    Ok(Ran { status, out, err, is_cut: out_cut || err_cut, lost })
}

/// Who starts us may ignore the signal that tells of a child's end, and we would too: the system then throws away how
/// children ended. With a listener it does not.
fn listen_for_ends() {
    #[cfg(unix)]
    {
        static LISTENS: Once = Once::new();
        LISTENS.call_once(|| {
            // Without it the end of a program is lost, and told as lost.
            let _ = signal_hook::flag::register(signal_hook::consts::SIGCHLD, Arc::default());
        });
    }
}

/// Why a program cannot be started, as far as that is seen beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// There is none.
    Program,
    /// It is a file that nobody may run.
    Permission,
}

impl Lack {
    /// What can be done about it.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Program => "install it, or give its whole path",
            Self::Permission => "make it executable: chmod +x",
        }
    }
}

/// As what is said of the program: it "is not here".
impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Program => "is not here",
            Self::Permission => "is not executable",
        })
    }
}

/// What stands against running the program: a path, or a name that is looked for in the directories of `path` (the
/// variable `PATH`). Nothing where it may be run by somebody; whether by us is only known when it is.
pub fn lack(name: &str, path: &str) -> Option<Lack> {
    // Windows looks in further places and under further names.
    if cfg!(windows) {
        return None;
    }
    let places = match name.contains('/') {
        true => vec![PathBuf::from(name)],
        false => std::env::split_paths(path).map(|directory| directory.join(name)).collect(),
    };
    let files: Vec<Metadata> =
        places.iter().filter_map(|place| place.metadata().ok()).filter(Metadata::is_file).collect();
    match files.iter().any(may_be_run) {
        true => None,
        false if files.is_empty() => Some(Lack::Program),
        false => Some(Lack::Permission),
    }
}

#[cfg(unix)]
fn may_be_run(file: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
const fn may_be_run(_: &Metadata) -> bool {
    true
}

/// The input, all of it there before anybody reads: a program that is begun so has the whole of it whatever becomes of us;
/// else it could find half of it, or nothing, and take that for its input. What any pipe takes at once is in a pipe, what
/// is longer in a file without a name.
fn filled(input: &[u8]) -> io::Result<Stdio> {
    if input.len() > SHORT
        && let Ok(file) = file_with(input)
    {
        return Ok(file.into());
    }
    let (reader, mut writer) = io::pipe()?;
    if input.len() <= SHORT {
        writer.write_all(input)?;
        return Ok(reader.into());
    }
    // Where there is no place for files it has to be written while it is read.
    let input = input.to_vec();
    // Who does not read its input is no trouble.
    std::thread::Builder::new().spawn(move || drop(writer.write_all(&input)))?;
    Ok(reader.into())
}

fn file_with(input: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(input)?;
    file.rewind()?;
    Ok(file)
}

/// Waits for the end, but not longer than this, nor longer than the user wants.
fn wait(child: &mut Child, bounds: &Bounds<'_>) -> io::Result<Option<ExitStatus>> {
    let watch = Clock::new(None).stopwatch();
    // Nobody ever sends: it is a wait with an end.
    let (_silent, never) = mpsc::channel::<()>();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if watch.elapsed() >= bounds.time || (bounds.is_interrupted)() {
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

/// What came out of a pipe, and whether there was more than that.
type Heard = (Vec<u8>, bool);

/// What comes out of a pipe, bounded.
struct Kept {
    heard: Arc<Mutex<Heard>>,
    done: mpsc::Receiver<()>,
}

impl Kept {
    /// What comes out of a pipe, and the end into which it goes.
    fn new(most: usize) -> io::Result<(Self, io::PipeWriter)> {
        let (mut pipe, writer) = io::pipe()?;
        let (sender, done) = mpsc::channel();
        let heard = Arc::new(Mutex::new((Vec::new(), false)));
        let kept = Arc::clone(&heard);
        let read = move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut piece) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = most.saturating_sub(kept.0.len());
                kept.0.extend(piece.iter().take(length.min(room)));
                kept.1 |= length > room;
            }
            // The receiver may have given up.
            let _ = sender.send(());
        };
        std::thread::Builder::new().spawn(read)?;
        Ok((Self { heard, done }, writer))
    }

    /// What came by now. What a program left behind may keep the pipe open for ever, so it is waited for only as long as
    /// more comes.
    fn text(&self) -> (String, bool) {
        let heard = || self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let length = || heard().0.len();
        let mut before = length();
        for _ in 0..MOST_RESTS {
            let ended = self.done.recv_timeout(REST) != Err(mpsc::RecvTimeoutError::Timeout);
            if ended || length() == before {
                break;
            }
            before = length();
        }
        let heard = heard();
        (String::from_utf8_lossy(&heard.0).into_owned(), heard.1)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, input: &str, most: usize, is_interrupted: &dyn Fn() -> bool) -> Ran {
        let words = ["sh", "-c", script].map(str::to_owned);
        let program = Program { words: &words, input: input.as_bytes(), env: &[("LLMR_WORD", "bird")] };
        run(&program, &Bounds { time: Duration::from_secs(30), output: most, is_interrupted }).expect("a shell")
    }

    #[test]
    fn a_program_reads_its_input_and_its_variables_and_says_how_it_ended() {
        let ran = shell("read line; echo \"$line $LLMR_WORD\"; echo no >&2; exit 3", "a\n", MOST, &|| false);
        assert_eq!((ran.status.and_then(|status| status.code()), ran.is_cut), (Some(3), false));
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("a bird\n", "no\n"));
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_started_is_seen_beforehand() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().expect("a directory");
        let file = |directory: &str, mode: u32| {
            let directory = place.path().join(directory);
            std::fs::create_dir_all(&directory).expect("a directory");
            let file = directory.join("tool");
            std::fs::write(&file, "#!/bin/sh\n").expect("a file");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("a mode");
            (directory.to_string_lossy().into_owned(), file.to_string_lossy().into_owned())
        };
        let ((flat_in, flat), (good_in, good)) = (file("flat", 0o644), file("good", 0o755));
        let both = format!("{flat_in}:{good_in}");
        for (name, path, wanted) in [
            (good.as_str(), "", None),
            (flat.as_str(), "", Some(Lack::Permission)),
            (flat_in.as_str(), "", Some(Lack::Program)),
            ("tool", both.as_str(), None),
            ("tool", flat_in.as_str(), Some(Lack::Permission)),
            ("tool", "", Some(Lack::Program)),
            ("none", both.as_str(), Some(Lack::Program)),
        ] {
            assert_eq!(lack(name, path), wanted, "{name} in {path}");
        }
    }

    #[test]
    fn input_of_any_length_arrives_whole() {
        for length in [0, 1, SHORT, SHORT + 1, 300_000] {
            assert_eq!(shell("wc -c", &"x".repeat(length), MOST, &|| false).out.trim(), length.to_string());
        }
    }

    /// Its writer may be gone before it reads; of a file, and of what fits into a pipe, all is there then.
    #[test]
    fn what_is_longer_than_a_pipe_is_read_from_a_file() {
        for (length, place) in [(0, "pipe"), (SHORT, "pipe"), (SHORT + 1, "file"), (300_000, "file")] {
            let script = "if [ -p /dev/stdin ]; then echo pipe; else echo file; fi";
            assert_eq!(shell(script, &"x".repeat(length), MOST, &|| false).out.trim(), place, "{length}");
        }
    }

    #[test]
    fn what_was_left_behind_is_not_waited_for() {
        let ran = shell("sleep 1000 & echo done; echo $! >&2", "", MOST, &|| false);
        assert_eq!((ran.out.as_str(), ran.is_cut), ("done\n", false));
        assert!(Command::new("kill").arg(ran.err.trim()).status().is_ok_and(|status| status.success()));
    }

    #[test]
    fn what_it_prints_is_kept_up_to_a_bound() {
        let ran = shell("printf 12345; printf 123 >&2", "", 4, &|| false);
        assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.is_cut), ("1234", "123", true));
        assert!(ran.status.is_some_and(|status| status.success()));
    }

    #[test]
    fn an_interrupted_one_is_killed_with_all_that_it_started() {
        let place = tempfile::tempdir().expect("a directory");
        let fifo = place.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success()));
        let script = format!("sleep 100000 > '{}' & sleep 100000", fifo.display());
        let opened = Arc::new(Mutex::new(false));
        let told = Arc::clone(&opened);
        // It ends when nobody has the fifo open any more: neither the shell's child nor what that has left behind.
        let listener = std::thread::spawn(move || {
            let mut file = File::open(&fifo).expect("a fifo");
            *told.lock().expect("a lock") = true;
            file.read_to_end(&mut Vec::new())
        });
        let ran = shell(&script, "", MOST, &|| *opened.lock().expect("a lock"));
        assert!(ran.status.is_none());
        assert!(listener.join().expect("a thread").is_ok());
    }

    #[test]
    fn what_is_hidden_is_not_passed_on() {
        let words = ["sh", "-c", "printf '%s' \"${HOME-none} $LLMR_WORD\""].map(str::to_owned);
        let program = Program { words: &words, input: b"", env: &[("LLMR_WORD", "bird")] };
        let bounds = Bounds { time: Duration::from_secs(30), output: MOST, is_interrupted: &|| false };
        let hidden = ["HOME", "LLMR_WORD"].map(str::to_owned);
        assert_eq!(run_without(&program, &hidden, &bounds).expect("a shell").out, "none bird");
        assert_ne!(run(&program, &bounds).expect("a shell").out, "none bird");
    }

    #[test]
    fn what_cannot_be_started_is_an_error() {
        let words = ["/nonexistent/program".to_owned()];
        let bounds = Bounds { time: Duration::from_secs(1), output: MOST, is_interrupted: &|| false };
        for words in [&words[..], &[]] {
            assert!(run(&Program { words, input: b"", env: &[] }, &bounds).is_err());
        }
    }
}
