//! Everything that is known of one failed attempt.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::names::{ModelName, ProviderName};

/// Why no (whole) answer came over the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TransportFault {
    /// The name does not resolve.
    Dns,
    /// Nobody listens.
    Refused,
    /// The connection was closed or reset before the answer began.
    Reset,
    /// The certificate or the handshake.
    Tls,
    /// No connection in time.
    ConnectTimeout,
    /// Connected, but no first content in time.
    FirstTimeout,
    /// The answer stopped in the middle for too long.
    IdleTimeout,
    /// The whole attempt took too long.
    TotalTimeout,
    /// The answer was cut off after it had begun.
    Cut,
    /// The answer is larger than we take.
    TooLarge,
    /// Something else below HTTP.
    Other,
}

impl TransportFault {
    /// Whether it means that nothing was sent.
    pub const fn is_unsent(self) -> bool {
        matches!(self, Self::Dns | Self::Refused | Self::Tls | Self::ConnectTimeout)
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "name not resolved",
            Self::Refused => "connection refused",
            Self::Reset => "connection reset",
            Self::Tls => "TLS failed",
            Self::ConnectTimeout => "no connection in time",
            Self::FirstTimeout => "no first content in time",
            Self::IdleTimeout => "answer stalled",
            Self::TotalTimeout => "attempt took too long",
            Self::Cut => "answer cut off",
            Self::TooLarge => "answer too large",
            Self::Other => "transport failed",
        }
    }
}

impl fmt::Display for TransportFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Everything that is known of one failed attempt. All parts are optional: a log line has no headers, a refused
/// connection no status.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// Who was asked, by the catalogue's name.
    pub provider: Option<ProviderName>,
    /// Which model was asked.
    pub model: Option<ModelName>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The response headers, names in any case.
    pub headers: Vec<(String, String)>,
    /// The body as the wire had it, or the events of a stream.
    pub body: String,
    /// What a log says of it, where there is no body.
    pub log: String,
    /// What failed below HTTP.
    pub transport: Option<TransportFault>,
    /// When the attempt failed.
    pub at: Option<Timestamp>,
}

impl Evidence {
    /// A reply as it came, of nobody in particular.
    pub fn reply<N: Into<String>, V: Into<String>>(
        status: u16,
        headers: impl IntoIterator<Item = (N, V)>,
        body: impl Into<String>,
    ) -> Self {
        let headers = headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { status: Some(status), headers, body: body.into(), ..Self::default() }
    }

    /// The first header of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}
