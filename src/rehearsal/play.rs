//! Playing one reply to one client.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::http::{write_chunk, write_head};
use super::speech::{Ending, Speech};

/// Plays the reply to its end, or until the client goes away.
pub(super) fn play(mut stream: TcpStream, speech: &Speech) -> io::Result<()> {
    if speech.wait_ms > 0 && !pause(&mut stream, speech.wait_ms) {
        return Ok(());
    }
    if let Some(head) = &speech.head {
        write_head(&mut stream, head)?;
    }
    let in_pieces = speech.head.as_ref().is_some_and(|head| head.in_pieces);
    for piece in &speech.pieces {
        if in_pieces {
            write_chunk(&mut stream, &piece.text)?;
        } else {
            stream.write_all(piece.text.as_bytes())?;
        }
        if piece.pause_ms > 0 && !pause(&mut stream, piece.pause_ms) {
            return Ok(());
        }
    }
    match speech.ending {
        Ending::Whole if in_pieces => write_chunk(&mut stream, "")?,
        Ending::Whole | Ending::Closed => {}
        Ending::Silent => hold(&mut stream),
        Ending::Pings { ping, every_ms } => {
            while pause(&mut stream, every_ms) {
                write_chunk(&mut stream, ping)?;
            }
        }
        Ending::Reset => return reset(stream),
    }
    Ok(())
}

/// Waits without a sleep: a read that times out. False when the client has gone or the provider was dropped.
fn pause(stream: &mut TcpStream, ms: u64) -> bool {
    if stream.set_read_timeout(Some(Duration::from_millis(ms.max(1)))).is_err() {
        return false;
    }
    match read(stream) {
        Ok(count) => count > 0,
        Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
    }
}

/// Reads what the client says meanwhile. A signal that the process gets is nothing that the client did.
fn read(stream: &mut TcpStream) -> io::Result<usize> {
    loop {
        match stream.read(&mut [0; 64]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Keeps the connection open until the client has gone or the provider was dropped.
fn hold(stream: &mut TcpStream) {
    if stream.set_read_timeout(None).is_ok() {
        while read(stream).is_ok_and(|count| count > 0) {}
    }
}

/// Closes so that the other side sees a reset instead of an end.
fn reset(stream: TcpStream) -> io::Result<()> {
    tokio::net::TcpSocket::from_std_stream(stream).set_zero_linger()
}
