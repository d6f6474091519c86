//! A body as it arrives, bounded in time and size.

use crate::domain::TransportFault;

use super::fault::{Fault, Limit};

/// The largest body of an answer that comes whole, in bytes.
pub const PLAIN_BODY: usize = 64 * 1024 * 1024;

/// The largest body that is read of an error, in bytes.
pub const ERROR_BODY: usize = 8 * 1024 * 1024;

/// A body that is still arriving. Dropping it closes the connection.
#[derive(Debug)]
pub struct Body {
    response: reqwest::Response,
}

impl Body {
    pub(super) fn new(response: reqwest::Response) -> Self {
        Self { response }
    }

    /// The next bytes, or none when the body has ended properly. A stream may be as long as it likes: who reads it keeps
    /// no more than an event.
    ///
    /// # Errors
    /// [`TransportFault::Cut`] when it ended before its time, and the limit's own fault when nothing came in time.
    pub async fn chunk(&mut self, limit: Limit) -> Result<Option<Vec<u8>>, Fault> {
        match tokio::time::timeout(limit.time, self.response.chunk()).await {
            Err(_) => Err(limit.passed()),
            Ok(Err(error)) => Err(Fault::of_body(error)),
            Ok(Ok(None)) => Ok(None),
            Ok(Ok(Some(bytes))) => Ok(Some(bytes.into())),
        }
    }

    /// The whole body, at most `max` bytes, within one limit for all of it.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk), and [`TransportFault::TooLarge`] beyond `max`.
    pub async fn whole(mut self, max: usize, limit: Limit) -> Result<Vec<u8>, Fault> {
        if self.response.content_length().is_some_and(|length| length > max as u64) {
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
        let wait = Limit { time: std::time::Duration::MAX, fault: TransportFault::Other };
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
        match tokio::time::timeout(limit.time, all).await {
            Err(_) => Some(limit.passed()),
            Ok(fault) => fault,
        }
    }
}
