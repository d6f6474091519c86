//! A body as it arrives, bounded in time and size.

use std::fmt;
use std::time::Duration;

use crate::clock::Clock;
use crate::domain::TransportFault;

use super::fault::{Fault, Limit};

/// The largest body of an answer that comes whole, in bytes.
pub const PLAIN_BODY: usize = 64 * 1024 * 1024;

/// The largest body that is read of an error, in bytes.
pub const ERROR_BODY: usize = 8 * 1024 * 1024;

/// The pieces of a body that no socket brings: how long after the one before each of them comes, or what comes in its
/// place. Where they end, the body has ended properly.
pub type Pieces = Box<dyn Iterator<Item = (Duration, Result<Vec<u8>, Fault>)>>;

/// A body that is still arriving. Dropping it closes the connection.
pub struct Body {
    source: Source,
    /// By which waits are bounded.
    clock: Clock,
}

enum Source {
    Socket(reqwest::Response),
    Invented(Pieces),
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}

impl Source {
    async fn next(&mut self, clock: Clock) -> Result<Option<Vec<u8>>, Fault> {
        match self {
            Self::Socket(response) => match response.chunk().await {
                Err(error) => Err(Fault::of_body(error)),
                Ok(bytes) => Ok(bytes.map(Into::into)),
            },
            Self::Invented(pieces) => {
                let Some((after, piece)) = pieces.next() else { return Ok(None) };
                if let Some(time) = clock.source() {
                    time.sleep(after).await;
                }
                piece.map(Some)
            }
        }
    }

    fn length(&self) -> Option<u64> {
        match self {
            Self::Socket(response) => response.content_length(),
            Self::Invented(_) => None,
        }
    }
}

impl Body {
    pub(super) fn new(response: reqwest::Response) -> Self {
        Self { source: Source::Socket(response), clock: Clock::new(None) }
    }

    /// A body of these pieces, on the invented time of the clock.
    pub fn of(pieces: Pieces, clock: Clock) -> Self {
        Self { source: Source::Invented(pieces), clock }
    }

    /// The next bytes, or none when the body has ended properly. A stream may be as long as it likes: who reads it keeps
    /// no more than an event.
    ///
    /// # Errors
    /// [`TransportFault::Cut`] when it ended before its time, and the limit's own fault when nothing came in time.
    pub async fn chunk(&mut self, limit: Limit) -> Result<Option<Vec<u8>>, Fault> {
        let Self { source, clock } = self;
        clock.within(limit.time, source.next(*clock)).await.unwrap_or_else(|| Err(limit.passed()))
    }

    /// The whole body, at most `max` bytes, within one limit for all of it.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk), and [`TransportFault::TooLarge`] beyond `max`.
    pub async fn whole(mut self, max: usize, limit: Limit) -> Result<Vec<u8>, Fault> {
        if self.source.length().is_some_and(|length| length > max as u64) {
            return Err(Fault::too_large(max));
        }
        let mut bytes = Vec::new();
        match self.fill(&mut bytes, max, limit).await {
            Some(fault) => Err(fault),
            None => Ok(bytes),
        }
    }

    /// What came of the body of an error, at most [`ERROR_BODY`] bytes, and what kept the rest from coming. An error
    /// whose body is cut or stalls is still an error of that status.
    pub async fn evidence(mut self, limit: Limit) -> (Vec<u8>, Option<Fault>) {
        let mut bytes = Vec::new();
        let fault = self.fill(&mut bytes, ERROR_BODY, limit).await;
        (bytes, fault)
    }

    async fn fill(&mut self, bytes: &mut Vec<u8>, max: usize, limit: Limit) -> Option<Fault> {
        // One timer over all chunks: a drip would start a timer per chunk anew each time.
        let wait = Limit { time: Duration::MAX, fault: TransportFault::Other };
        let clock = self.clock;
        let all = async {
            loop {
                match self.chunk(wait).await {
                    Err(fault) => return Some(fault),
                    Ok(None) => return None,
                    Ok(Some(chunk)) => {
                        let room = max.saturating_sub(bytes.len());
                        bytes.extend(chunk.iter().take(room));
                        if chunk.len() > room {
                            return Some(Fault::too_large(max));
                        }
                    }
                }
            }
        };
        clock.within(limit.time, all).await.unwrap_or_else(|| Some(limit.passed()))
    }
}
