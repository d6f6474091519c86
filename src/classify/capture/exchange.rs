//! Exchanges as `curl -i` and `curl -v` show them: a status line, headers, and the body.
//!
//! A file may hold several, one after another or between other lines. Interim answers (100, a proxy's 200 to CONNECT)
//! and redirects are no outcome; the last status of a request is.

use std::sync::LazyLock;

use regex::Regex;

use crate::catalog::Catalog;
use crate::classify::{provider, text};
use crate::domain::{Evidence, ProviderName};

use super::line::Line;

/// The longest body that is looked for, in lines.
const LONGEST: usize = 5000;

/// `HTTP/1.1 429 Too Many Requests`, with `< ` before it when curl is verbose.
static STATUS: LazyLock<Option<Regex>> =
    LazyLock::new(|| text::expression(r"^(?:< )?HTTP/[\d.]{1,3} (\d{3})(?:[ \r]|$)"));

/// What verbose curl tells of the connection.
static VERBOSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"^(?:\* (?:Host |Trying|  Trying|Connected|Connection|TCP_NODELAY|ALPN|SSL|TLS|Server|Using|Mark|old SSL|Request|upload|",
        r"  ?[Ss]ubject|  start|  expire|  issuer|h2|HTTP|\[HTTP|We are|Re-using|Establish|CONNECT|Issue|Added|Uses|Closing|using|Curl|IPv|shutting|Could)",
        r"|> [A-Z]{3,7} \S+ HTTP/|\* {2,}|[{}] \[\d+ bytes)"
    ))
});

/// An exchange, and how many lines it takes.
#[derive(Debug)]
pub(super) struct Exchange {
    /// What is known of it; none when no answer came or only an interim one.
    pub(super) evidence: Option<Evidence>,
    /// The line of the status among the lines given.
    pub(super) status_at: usize,
    /// The last line that belongs to the answer.
    pub(super) last: usize,
    /// The first line after all that belongs to the exchange.
    pub(super) end: usize,
}

/// The exchange that begins with the first of the lines, if one does; an error says how many of them tell of a
/// connection on which nothing was answered.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Result<Exchange, usize>> {
    let first = lines.first()?.text.as_ref();
    if !first.starts_with(['H', '<', '*', '>']) || !(is_status(first) || is_verbose(first)) {
        return None;
    }
    let mut seen = Seen::default();
    let mut at = 0;
    while let Some(line) = lines.get(at).map(|line| line.text.as_ref()) {
        if let Some(status) = status(line) {
            if seen.answered() {
                break;
            }
            seen.begin(status, at);
            at += 1;
            at = seen.headers(lines, at);
            at = seen.body(lines, at);
        } else if seen.answered() && !is_epilogue(line) {
            break;
        } else if is_verbose(line)
            || line.starts_with("> ")
            || line.trim_end() == ">"
            || is_progress(line)
            || is_epilogue(line)
        {
            seen.connection(line);
            at += 1;
        } else {
            break;
        }
    }
    // Nothing but the first words of a connection: what comes of it is told elsewhere.
    match seen.status {
        0 => (at > 0).then_some(Err(at)),
        _ => Some(Ok(seen.exchange(at))),
    }
}

fn status(line: &str) -> Option<u16> {
    STATUS.as_ref()?.captures(line)?.get(1)?.as_str().parse().ok()
}

fn is_status(line: &str) -> bool {
    status(line).is_some()
}

fn is_verbose(line: &str) -> bool {
    VERBOSE.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

/// The meter that curl shows while it loads into a file.
fn is_progress(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("% Total") || line.starts_with("Dload") || line.contains("--:--:--")
}

/// What verbose curl says after the body.
fn is_epilogue(line: &str) -> bool {
    line.starts_with("* Connection #")
        || line.starts_with("* Closing connection")
        || line.starts_with("* Issue another")
        || line.starts_with("* Ignoring the response")
        || line.starts_with("* shutting down")
}

#[derive(Default)]
struct Seen {
    host: String,
    status: u16,
    status_at: usize,
    last: usize,
    connect: bool,
    headers: Vec<(String, String)>,
    body: String,
}

impl Seen {
    /// Whether what was seen is the outcome of the request.
    fn answered(&self) -> bool {
        self.status >= 200 && !(self.connect && self.status < 300) && !(300..400).contains(&self.status)
    }

    fn begin(&mut self, status: u16, at: usize) {
        self.connect = self.connect && self.status == 0;
        self.status = status;
        self.status_at = at;
        self.last = at;
        self.headers.clear();
        self.body.clear();
    }

    fn connection(&mut self, line: &str) {
        self.connect = self.connect || line.starts_with("> CONNECT ");
        let after = |start: &str| line.strip_prefix(start).map(|rest| rest.split([' ', ':']).next().unwrap_or(""));
        let host = after("* Connected to ")
            .or_else(|| after("> Host: "))
            .or_else(|| after("> host: "))
            .or_else(|| after("* Host "))
            .or_else(|| after("* [HTTP/2] [1] [:authority: "));
        if let Some(host) = host.filter(|host| host.contains('.')) {
            host.trim_end_matches(']').clone_into(&mut self.host);
        }
    }

    /// Reads the headers from `at` on; the line after them and the empty one.
    fn headers(&mut self, lines: &[Line<'_>], mut at: usize) -> usize {
        while let Some(line) = lines.get(at).map(|line| line.text.as_ref()) {
            let bare = line.strip_prefix('<').map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest));
            if bare.trim().is_empty() {
                return at + 1;
            }
            if let Some((name, value)) = bare.split_once(':').filter(|(name, _)| is_name(name)) {
                self.headers.push((name.to_owned(), value.trim().to_owned()));
                self.last = at;
            } else if !is_verbose(line) {
                return at;
            }
            at += 1;
        }
        at
    }

    /// Reads the body from `at` on.
    fn body(&mut self, lines: &[Line<'_>], mut at: usize) -> usize {
        let mut open = 0_i64;
        let start = at;
        let mut events = false;
        while let Some(line) = lines.get(at).filter(|_| at - start < LONGEST).map(|line| line.text.as_ref()) {
            // The body and what curl says are two streams: the first may come after the last of the other.
            if self.body.is_empty() && (is_epilogue(line) || line.starts_with("{ [")) {
                at += 1;
                continue;
            }
            let ends = is_status(line)
                || is_verbose(line)
                || is_epilogue(line)
                || line.starts_with("curl: (")
                || line.starts_with("$ ");
            if ends || (open <= 0 && self.ended(line, events, lines.get(at + 1))) {
                break;
            }
            if is_progress(line) {
                at += 1;
                continue;
            }
            events = events || line.starts_with("data:") || line.starts_with("event:");
            // A body without a line end at its end has curl's next remark on the same line.
            let (text, cut) = match line.find("* Connection #") {
                Some(place) => (line.get(..place).unwrap_or(line), true),
                None => (line, false),
            };
            if !text.trim().is_empty() {
                self.last = at;
            }
            if !self.body.is_empty() {
                self.body.push('\n');
            }
            self.body.push_str(text);
            open += super::cut::balance(text);
            at += 1;
            if cut {
                break;
            }
        }
        at
    }

    /// Whether the body is over before this line.
    fn ended(&self, line: &str, events: bool, next: Option<&Line<'_>>) -> bool {
        if self.body.trim().is_empty() {
            return line.trim().is_empty()
                && next.is_none_or(|next| next.text.trim().is_empty() || is_status(&next.text));
        }
        let is_json = self.body.trim_start().starts_with(['{', '[']);
        match line.trim().is_empty() {
            true => !events || next.is_none_or(|next| !is_event(&next.text)),
            false => is_json || (!events && super::cut::is_entry(line)) || (events && !is_event(line)),
        }
    }

    fn exchange(self, end: usize) -> Exchange {
        let (status_at, last) = (self.status_at, self.last);
        let evidence = self.answered().then(|| {
            let provider = provider::recognise(&Evidence::default(), &self.host, &Catalog::default());
            Evidence {
                provider: provider.filter(|_| !self.host.is_empty()).map(ProviderName::new),
                status: Some(self.status),
                headers: self.headers,
                body: self.body.trim_end().to_owned(),
                ..Evidence::default()
            }
        });
        Exchange { evidence, status_at, last, end }
    }
}

/// A line of server-sent events.
pub(super) fn is_event(line: &str) -> bool {
    line.starts_with(':') || ["data:", "event:", "id:", "retry:"].iter().any(|start| line.starts_with(start))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
