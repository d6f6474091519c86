//! What went wrong below HTTP, read from the chain of causes.

use std::error::Error;
use std::io;
use std::time::Duration;

use crate::domain::{TransportFault, excerpt};

/// Why no (whole) reply came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub kind: TransportFault,
    /// The causes in words, on one line. Holds neither the URL nor a header of the request.
    pub detail: String,
    /// Whether the request may have reached the provider, and so may have been counted and paid.
    pub sent: bool,
}

/// How long a wait may last, and what it means when it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// How long.
    pub time: Duration,
    /// What has happened when the time is over.
    pub fault: TransportFault,
}

impl Limit {
    /// The time that is left to the first content.
    pub fn first(time: Duration) -> Self {
        Self { time, fault: TransportFault::FirstTimeout }
    }

    /// The time that is left to the next content.
    pub fn idle(time: Duration) -> Self {
        Self { time, fault: TransportFault::IdleTimeout }
    }

    /// The time that is left to the whole attempt.
    pub fn total(time: Duration) -> Self {
        Self { time, fault: TransportFault::TotalTimeout }
    }

    /// The one of two that ends first.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if other.time < self.time { other } else { self }
    }

    /// The fault of a limit that has passed.
    pub fn passed(self) -> Fault {
        Fault { kind: self.fault, detail: format!("after {:?}", self.time), sent: true }
    }
}

impl Fault {
    /// The request could not be built: nothing was sent.
    pub(super) fn unsent(error: &reqwest::Error) -> Self {
        Self { kind: TransportFault::Other, detail: words(error), sent: false }
    }

    /// No reply began.
    pub(super) fn of_send(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let connecting = error.is_connect();
        let kind = if error.is_dns() {
            TransportFault::Dns
        } else if connecting && error.is_timeout() {
            TransportFault::ConnectTimeout
        } else {
            causes(&error).find_map(|cause| kind_of(cause, connecting)).unwrap_or(TransportFault::Other)
        };
        Self { kind, detail: words(&error), sent: !connecting && !error.is_builder() }
    }

    /// A reply had begun and broke: whatever the cause, what matters is that it is not whole.
    pub(super) fn of_body(error: reqwest::Error) -> Self {
        let error = error.without_url();
        Self { kind: TransportFault::Cut, detail: words(&error), sent: true }
    }

    /// The reply is larger than `limit` bytes.
    pub(super) fn too_large(limit: usize) -> Self {
        Self { kind: TransportFault::TooLarge, detail: format!("more than {limit} bytes"), sent: true }
    }
}

/// The error and its causes, from the outside in. An I/O error does not name what it wraps as its source, but the source
/// of that, so it is opened.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
        None => error.source(),
    })
}

/// What one cause of a chain says. The HTTP library keeps its own kinds to itself, so its two sentences that matter
/// are known by their words; tests on real sockets hold them.
fn kind_of(cause: &(dyn Error + 'static), connecting: bool) -> Option<TransportFault> {
    if cause.is::<rustls::Error>() {
        return Some(TransportFault::Tls);
    }
    if let Some(error) = cause.downcast_ref::<io::Error>() {
        return match error.kind() {
            io::ErrorKind::ConnectionRefused => Some(TransportFault::Refused),
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                Some(TransportFault::Reset)
            }
            // The other side hung up: in the middle of the handshake, or after it without a word of goodbye.
            io::ErrorKind::UnexpectedEof if connecting => Some(TransportFault::Tls),
            io::ErrorKind::UnexpectedEof => Some(TransportFault::Reset),
            // Packets went unanswered until the system gave up.
            io::ErrorKind::TimedOut if connecting => Some(TransportFault::ConnectTimeout),
            io::ErrorKind::TimedOut => Some(TransportFault::Reset),
            _ => None,
        };
    }
    match cause.to_string().as_str() {
        "connection closed before message completed" => Some(TransportFault::Reset),
        "message head is too large" => Some(TransportFault::TooLarge),
        _ => None,
    }
}

/// The chain in words, from the outside in, each sentence once.
fn words(error: &reqwest::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in causes(error) {
        let text = cause.to_string();
        if parts.last() != Some(&text) {
            parts.push(text);
        }
    }
    excerpt(&parts.join(": "), 300)
}
