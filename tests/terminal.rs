//! The program in a terminal: what it shows there, and what keys and signals do.
#![cfg(test)]

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::stage::{Stage, until};

/// The program, not yet started.
pub fn command(stage: &Stage, args: &[&str]) -> CommandBuilder {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_llmr"));
    command.env_clear();
    for (name, value) in stage.env() {
        command.env(name, value);
    }
    command.cwd(stage.path(""));
    command.args(args);
    command
}

fn lines(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("at least one")
}

/// The program in a terminal, with what is to be seen there.
pub struct Show {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn std::io::Write + Send>,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Show {
    pub fn start(stage: &Stage, (columns, rows): (u16, u16), args: &[&str]) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let child = pair.slave.spawn_command(command(stage, args)).expect("started");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(lines(rows), lines(columns), 0)));
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let seen = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                seen.lock().expect("not broken").process(&bytes[..count]);
            }
        });
        let keys = pair.master.take_writer().expect("a writer");
        Self { child, master: pair.master, keys, screen }
    }

    pub fn text(&self) -> String {
        self.screen.lock().expect("not broken").screen().contents()
    }

    pub fn shows(&self, what: &str) {
        until(&format!("{what:?} is shown"), || self.text().contains(what));
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("written");
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.screen.lock().expect("not broken").screen_mut().set_size(lines(rows), lines(columns));
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).expect("resized");
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.process_id().expect("an id").to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().expect("sent").success());
    }

    /// Waits for the end. The terminal must be as it was.
    pub fn ends_with(mut self, code: u32) {
        let status = self.child.wait().expect("ended");
        assert_eq!(status.exit_code(), code);
        until("the terminal is given back", || {
            let parser = self.screen.lock().expect("not broken");
            let screen = parser.screen();
            let mouse = screen.mouse_protocol_mode();
            !screen.alternate_screen() && !screen.hide_cursor() && mouse == vt100::MouseProtocolMode::None
        });
    }
}

impl Drop for Show {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        let _ = self.child.kill();
    }
}
