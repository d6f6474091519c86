//! `llmr top` in a terminal of its own.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};

use llmr::clock::Stopwatch;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// What a terminal was sent, piece by piece: the seconds since the beginning, and the bytes.
pub(crate) type Sent = Vec<(f64, Vec<u8>)>;

/// A running one.
pub(crate) struct Terminal {
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    sent: Receiver<(f64, Vec<u8>)>,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Starts it; what it shows is noted with the time of this watch.
    pub(crate) fn start(words: &[PathBuf], size: (u16, u16), watch: Stopwatch) -> Self {
        let (cols, rows) = size;
        let pty = native_pty_system().openpty(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 });
        let pty = pty.expect("a pty");
        let (program, flags) = words.split_first().expect("the program's name");
        let mut command = CommandBuilder::new(program);
        command.args(flags);
        command.args(["top", "--no-mouse", "--theme", "dark"]);
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env("LC_ALL", "C.UTF-8");
        command.env_remove("NO_COLOR");
        let child = pty.slave.spawn_command(command).expect("llmr top runs");
        let mut output = pty.master.try_clone_reader().expect("its output");
        let keys = pty.master.take_writer().expect("its keys");
        let (tell, sent) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            // An error is how the end of a terminal shows.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                if tell.send((watch.elapsed().as_secs_f64(), bytes[..count].to_vec())).is_err() {
                    return;
                }
            }
        });
        Self { size, child, keys, sent, _master: pty.master }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).and_then(|()| self.keys.flush()).expect("it takes keys");
    }

    /// Leaves it; all that it was sent.
    pub(crate) fn end(mut self) -> Sent {
        self.press("q");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "llmr top: {status:?}");
        self.sent.iter().collect()
    }
}

impl Drop for Terminal {
    /// Nobody is left behind when the night breaks off.
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            drop(self.child.kill());
        }
    }
}
