//! What a program says of a call that it made, read and checked.

use std::io::Read;
use std::path::Path;

use llmr::domain::{Evidence, TransportFault, Usage};
use llmr::host::Reported;

use crate::error::CliError;

/// The most bytes that are read of a body.
const MOST: u64 = 64 << 20;

/// What came of a call.
#[derive(Debug, clap::Args)]
pub struct GivenArgs {
    /// The HTTP status
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=599))]
    status: Option<u16>,
    /// The headers of the reply, one `Name: value` a line, as `curl -D FILE` writes them; @- reads standard input
    #[arg(long, value_name = "TEXT|@FILE")]
    headers: Option<String>,
    /// The body of the reply, or what there is of it; @- reads standard input
    #[arg(long, value_name = "TEXT|@FILE")]
    body: Option<String>,
    /// What kept a whole reply from coming
    #[arg(long, value_enum, value_name = "FAULT")]
    transport: Option<FaultName>,
    /// It was answered
    #[arg(long)]
    ok: bool,
    /// Tokens of the prompt
    #[arg(long, value_name = "N")]
    input_tokens: Option<u64>,
    /// Tokens of the answer
    #[arg(long, value_name = "N")]
    output_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FaultName {
    /// No answer in time
    Timeout,
    /// Nobody listens
    Refused,
    /// The connection was closed or reset
    Reset,
    /// The name does not resolve
    Dns,
    /// The certificate or the handshake
    Tls,
}

impl FaultName {
    fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Dns => "dns",
            Self::Tls => "tls",
        }
    }

    fn fault(self) -> TransportFault {
        match self {
            Self::Timeout => TransportFault::TotalTimeout,
            Self::Refused => TransportFault::Refused,
            Self::Reset => TransportFault::Reset,
            Self::Dns => TransportFault::Dns,
            Self::Tls => TransportFault::Tls,
        }
    }

    /// Whether a reply may have begun before.
    fn may_break_a_reply(self) -> bool {
        matches!(self, Self::Timeout | Self::Reset)
    }
}

impl GivenArgs {
    /// Reads the files and refuses what contradicts itself.
    ///
    /// # Errors
    /// Names the flags.
    pub fn read(&self) -> Result<Reported, CliError> {
        let stdin = |given: &Option<String>| given.as_deref() == Some("@-");
        if stdin(&self.headers) && stdin(&self.body) {
            return Err(CliError::usage("--headers and --body cannot both be read from standard input"));
        }
        let headers = self.headers.as_deref().map(|given| text("--headers", given)).transpose()?;
        let body = self.body.as_deref().map(|given| text("--body", given)).transpose()?;
        let (written, headers) = headers.as_deref().map(header_lines).transpose()?.unwrap_or_default();
        let status = self.status.or(written);
        if let Some(written) = written.filter(|written| Some(*written) != status) {
            return Err(contradiction(
                &format!("--status {}", status.unwrap_or(0)),
                &format!("status {written} in --headers"),
            ));
        }
        self.check(status, body.is_some(), !headers.is_empty())?;
        let usage = Usage { input_tokens: self.input_tokens, output_tokens: self.output_tokens, cached_tokens: None };
        let is_success = status.is_none_or(|status| (200..300).contains(&status));
        if self.ok || is_success && body.is_none() && self.transport.is_none() {
            return Ok(Reported { status, headers, usage, ..Reported::default() });
        }
        let (transport, body) = (self.transport.map(FaultName::fault), body.unwrap_or_default());
        let evidence = Evidence { status, headers: headers.clone(), body, transport, ..Evidence::default() };
        Ok(Reported { evidence: Some(evidence), status, headers, usage, ..Reported::default() })
    }

    fn check(&self, status: Option<u16>, body: bool, headers: bool) -> Result<(), CliError> {
        let shown = |status: u16| format!("--status {status}");
        let failed = status.filter(|status| !(200..300).contains(status));
        let reply = status.map(shown).or_else(|| body.then(|| "--body".to_owned()));
        match (self.ok, self.transport) {
            (true, Some(fault)) => Err(contradiction("--ok", &format!("--transport {}", fault.word()))),
            (true, None) => match failed {
                Some(status) => Err(contradiction("--ok", &shown(status))),
                None if body => {
                    let error = contradiction("--ok", "--body");
                    Err(error.hint("--ok says that it was an answer; without it the body tells whether it was"))
                }
                None => Ok(()),
            },
            (false, Some(fault)) if !fault.may_break_a_reply() => match reply {
                Some(reply) => {
                    let error = contradiction(&format!("--transport {}", fault.word()), &reply);
                    Err(error.hint("where no connection came about, there is no reply"))
                }
                None => Ok(()),
            },
            (false, Some(_)) => Ok(()),
            (false, None) if status.is_none() && !body => Err(nothing_said(headers)),
            (false, None) => Ok(()),
        }
    }
}

fn contradiction(one: &str, other: &str) -> CliError {
    CliError::usage(format!("{one} and {other} contradict each other; nothing was recorded"))
}

fn nothing_said(headers: bool) -> CliError {
    let message = if headers { "--headers alone do not say what came of the call" } else { "what came of the call?" };
    CliError::usage(message)
        .hint("--ok; or --status CODE, with --headers and --body as they came; or --transport timeout")
}

/// A text as it is given, or from the file that it names.
fn text(flag: &str, given: &str) -> Result<String, CliError> {
    let Some(path) = given.strip_prefix('@') else { return Ok(given.to_owned()) };
    let failed = |what: &str, error: &std::io::Error| CliError::usage(format!("{flag}: cannot read {what}: {error}"));
    let bytes = if path == "-" {
        bounded(std::io::stdin().lock()).map_err(|error| failed("standard input", &error))?
    } else {
        let open = |path: &Path| std::fs::File::open(path).and_then(bounded);
        open(Path::new(path)).map_err(|error| failed(path, &error))?
    };
    if bytes.len() as u64 > MOST {
        return Err(CliError::usage(format!("{flag}: {path} has more than {} MiB", MOST >> 20)));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn bounded(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A status, if a status line is among the lines, and the headers. Of several heads, as `curl` writes them of a proxy or
/// a redirect, the last one counts.
type Head = (Option<u16>, Vec<(String, String)>);

fn header_lines(text: &str) -> Result<Head, CliError> {
    let mut status = None;
    let mut headers: Vec<(String, String)> = Vec::new();
    for (number, line) in (1_usize..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with("HTTP/") {
            headers.clear();
            status = line.split_ascii_whitespace().nth(1).and_then(|code| code.parse().ok());
            continue;
        }
        let named = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
        let Some((name, value)) = named.filter(|(name, _)| !name.is_empty() && !name.contains(' ')) else {
            let error = CliError::usage(format!("--headers: line {number} is no `Name: value`"));
            return Err(error.hint("one header a line; @FILE reads them from a file"));
        };
        headers.push((name.to_owned(), value.to_owned()));
    }
    Ok((status, headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_they_come() {
        let (status, headers) =
            header_lines("HTTP/1.1 100 Continue\r\n\r\nHTTP/2 429 \r\nRetry-After: 7\r\nx-a:b:c\r\n\r\n")
                .expect("a head");
        assert_eq!(status, Some(429));
        assert_eq!(headers, [("Retry-After".to_owned(), "7".to_owned()), ("x-a".to_owned(), "b:c".to_owned())]);
        assert_eq!(header_lines("retry-after: 7").expect("a head").0, None);
        assert!(header_lines("a: b\nno header here").is_err());
    }
}
