//! A provider on a port of this machine.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::catalog::Wire;

use super::http::{self, Seen};
use super::play::play;
use super::script::{Prompter, Reply, Script};
use super::speech::{models, not_found, speech};
use super::voices::wire_version;

/// How many requests are kept for [`Provider::requests`].
const KEPT: usize = 10_000;

/// A scripted provider. It ends, and hangs up on everybody, when it is dropped.
#[derive(Debug)]
pub struct Provider {
    wire: Wire,
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
    /// Keeps the port of a provider that refuses from being given to somebody else.
    _reserved: Option<tokio::net::TcpSocket>,
}

#[derive(Debug)]
struct Shared {
    wire: Wire,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    prompter: Prompter,
    stopped: bool,
    hits: usize,
    seen: Vec<Seen>,
    /// The open connections by number, to hang up on.
    open: HashMap<usize, TcpStream>,
    accepted: usize,
}

impl Provider {
    /// Starts on a free port.
    ///
    /// # Errors
    /// When no port can be had or no thread can be started.
    pub fn start(wire: Wire, script: impl Into<Script>) -> io::Result<Self> {
        let prompter = Prompter::new(script.into());
        let refuses = prompter.refuses();
        let shared = Arc::new(Shared { wire, state: Mutex::new(State { prompter, ..State::default() }) });
        if refuses {
            let socket = tokio::net::TcpSocket::new_v4()?;
            socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
            let address = socket.local_addr()?;
            return Ok(Self { wire, address, shared, listener: None, _reserved: Some(socket) });
        }
        let socket = TcpListener::bind(("127.0.0.1", 0))?;
        let address = socket.local_addr()?;
        let own = Arc::clone(&shared);
        let listener = thread::Builder::new().name("rehearsal".to_owned()).spawn(move || own.listen(&socket))?;
        Ok(Self { wire, address, shared, listener: Some(listener), _reserved: None })
    }

    /// The base URL, with the version part of the path that is usual for the wire.
    pub fn base_url(&self) -> String {
        format!("http://{}/{}", self.address, wire_version(self.wire))
    }

    /// The wire format that it speaks.
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// Says from now on what this script says, from its beginning. One that refuses must have done so from the start.
    pub fn play(&self, script: impl Into<Script>) {
        self.shared.lock().prompter = Prompter::new(script.into());
    }

    /// How many requests for an answer have arrived.
    pub fn hits(&self) -> usize {
        self.shared.lock().hits
    }

    /// How many connections were accepted, whatever was said on them.
    pub fn connections(&self) -> usize {
        self.shared.lock().accepted
    }

    /// The requests for an answer, in the order in which they arrived.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.lock().seen.clone()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.stopped = true;
            state.open.values().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        }
        if let Some(listener) = self.listener.take() {
            // Wakes the listener, which then sees that it is over.
            drop(TcpStream::connect(self.address));
            drop(listener.join());
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(self: &Arc<Self>, socket: &TcpListener) {
        for stream in socket.incoming() {
            let stream = match stream {
                Ok(stream) => stream,
                Err(_) if self.lock().stopped => return,
                Err(_) => continue,
            };
            let Some(number) = self.register(&stream) else { return };
            let own = Arc::clone(self);
            let served = thread::Builder::new().name("rehearsal-call".to_owned()).spawn(move || {
                // A client that goes away in the middle is part of the play.
                drop(own.serve(stream));
                own.lock().open.remove(&number);
            });
            if served.is_err() {
                self.lock().open.remove(&number);
            }
        }
    }

    /// Notes the connection; none when the provider is being dropped.
    fn register(&self, stream: &TcpStream) -> Option<usize> {
        let mut state = self.lock();
        if state.stopped {
            return None;
        }
        state.accepted += 1;
        let number = state.accepted;
        if let Ok(stream) = stream.try_clone() {
            state.open.insert(number, stream);
        }
        Some(number)
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let Some(seen) = http::read(&stream)? else { return Ok(()) };
        if seen.method == "GET" && seen.path.ends_with("/models") {
            return play(stream, &models());
        }
        if !seen.asks(self.wire) {
            return play(stream, &not_found());
        }
        let reply = self.reply_to(&seen);
        play(stream, &speech(self.wire, &seen, &reply))
    }

    fn reply_to(&self, seen: &Seen) -> Reply {
        let mut state = self.lock();
        state.hits += 1;
        if state.seen.len() < KEPT {
            state.seen.push(seen.clone());
        }
        state.prompter.reply_to(seen)
    }
}
