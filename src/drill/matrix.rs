//! What a failing provider costs in calls: nine ways to fail, a burst of requests, and a fallback that works.
//!
//! The right number of calls to a provider that fails can be told beforehand. A limit that lasts a day and a key that is
//! refused are known after one; a fault that may pass is worth the three in a row that open the breaker, retries
//! counted; and a request that is wrong itself costs one call each, for the next one may be right. Whatever lies above
//! the ideal number is paid for nothing, and whatever lies below it gave up too early.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::catalog::{Catalog, Wire};
use crate::classify::Classifier;
use crate::clock::{Clock, Rng};
use crate::config::{self, Config};
use crate::domain::{ChatRequest, Message, Redactor, Role, Secret, Timeouts};
use crate::ladder::{Directives, End};
use crate::rehearsal::{Provider, Reply};
use crate::route::{FallbackStore, Job, Silent};
use crate::transport::{Transport, TransportOptions};

use super::process::{Process, Wish};
use super::ways::{Way, answer};

/// How many requests come one after the other within a second.
pub const BURST: usize = 20;

/// How long a silent provider is waited for. A burst costs three of these.
const PATIENCE: Duration = Duration::from_millis(60);

/// One row: what was counted against what is ideal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// How the primary fails.
    pub fault: &'static str,
    /// Calls that reached the primary.
    pub primary: usize,
    /// Calls that should.
    pub ideal: usize,
    /// Calls that reached the fallback.
    pub fallback: usize,
    /// Requests that were answered.
    pub answered: usize,
    /// Requests that should be: all, unless the requests themselves are wrong.
    pub answerable: usize,
}

impl Row {
    /// Whether nothing was asked for nothing, and nothing was given up too early.
    pub fn is_ideal(&self) -> bool {
        self.primary == self.ideal && self.fallback == self.answerable && self.answered == self.answerable
    }

    /// The object of `drill --matrix --json`.
    pub fn json(&self) -> Value {
        json!({
            "fault": self.fault,
            "requests": BURST,
            "primary_calls": self.primary,
            "ideal_calls": self.ideal,
            "fallback_calls": self.fallback,
            "answered": self.answered,
            "ideal": self.is_ideal(),
        })
    }
}

/// The rows as a table for people.
pub fn matrix_text(rows: &[Row]) -> String {
    let mut out = format!("{BURST} requests, a primary that fails, a fallback that works:\n\n");
    out.push_str("fault of the primary          calls to it  ideal  calls to fallback  answered\n");
    for row in rows {
        let Row { fault, primary, ideal, fallback, answered, .. } = row;
        let verdict = if row.is_ideal() { "ideal" } else { "NOT IDEAL" };
        out.push_str(&format!("{fault:<28}  {primary:>11}  {ideal:>5}  {fallback:>17}  {answered:>8}  {verdict}\n"));
    }
    out
}

/// A fault of the primary with what it should cost.
struct Fault {
    name: &'static str,
    reply: Reply,
    ideal: usize,
    streams: bool,
    /// Whether the requests themselves are at fault.
    is_the_requests: bool,
}

/// Plays all nine.
///
/// # Errors
/// When no port or thread can be had.
pub fn matrix() -> Result<Vec<Row>, String> {
    faults().into_iter().map(row).collect()
}

fn faults() -> Vec<Fault> {
    let fault = |name, way: Way, ideal| Fault {
        name,
        reply: way.reply(Wire::OpenAi),
        ideal,
        streams: false,
        is_the_requests: false,
    };
    let overloaded = || Reply::ErrorEvent { chunks: Vec::new(), error: Value::Null };
    vec![
        Fault { reply: with_header(Way::DailyQuota), ..fault("daily quota, with header", Way::DailyQuota, 1) },
        fault("daily quota, without header", Way::DailyQuota, 1),
        fault("401, key refused", Way::DeadKey, 1),
        Fault { reply: malformed(), is_the_requests: true, ..fault("400, request malformed", Way::DeadKey, BURST) },
        fault("500", Way::ServerError, 3),
        fault("200 with an error body", Way::ErrorIn200, 3),
        Fault { reply: overloaded(), streams: true, ..fault("stream begins with an error", Way::ErrorIn200, 3) },
        Fault { streams: true, ..fault("stream cut midway", Way::CutStream, 3) },
        Fault { streams: true, ..fault("silence", Way::Hang, 3) },
    ]
}

fn with_header(way: Way) -> Reply {
    match way.reply(Wire::OpenAi) {
        Reply::Status { status, body, .. } => {
            Reply::Status { status, headers: [("retry-after".to_owned(), "14400".to_owned())].into(), body }
        }
        other => other,
    }
}

fn malformed() -> Reply {
    let said = "Invalid value for 'temperature': expected a number, but got a string.";
    Reply::status(
        400,
        json!({"error": {
            "message": said, "type": "invalid_request_error", "param": "temperature", "code": "invalid_type",
        }}),
    )
}

fn row(fault: Fault) -> Result<Row, String> {
    let start = |reply: Reply| Provider::start(Wire::OpenAi, reply).map_err(|error| error.to_string());
    let (primary, fallback) = (start(fault.reply)?, start(answer())?);
    let config = config(&primary, &fallback)?;
    let answered = burst(&config, fault.streams)?;
    Ok(Row {
        fault: fault.name,
        primary: primary.hits(),
        ideal: fault.ideal,
        fallback: fallback.hits(),
        answered,
        answerable: if fault.is_the_requests { 0 } else { BURST },
    })
}

fn config(primary: &Provider, fallback: &Provider) -> Result<Config, String> {
    let mut text = String::from("[ladders.main]\nsteps = [\"primary/m\", \"fallback/m\"]\n");
    for (name, provider) in [("primary", primary), ("fallback", fallback)] {
        text.push_str(&format!("[providers.{name}]\nbase_url = \"{}\"\nwire = \"openai\"\n", provider.base_url()));
        text.push_str(&format!("[[providers.{name}.credentials]]\nname = \"own\"\nkey = {{ env = \"DRILL\" }}\n"));
    }
    config::parse(&text, Path::new("matrix.toml"), Catalog::default())
        .map_err(|problems| problems.iter().map(|problem| format!("{problem}\n")).collect())
}

/// How many of the burst are answered.
fn burst(config: &Config, streams: bool) -> Result<usize, String> {
    let transport = Transport::new(&TransportOptions::default()).map_err(|error| error.to_string())?;
    let process = Process {
        config,
        store: &FallbackStore::empty(),
        transport: &transport,
        classifier: &Classifier::new(Vec::new()),
        redactor: &Redactor::default(),
        key: &|_| Ok(Secret::new("a-key-that-opens-nothing")),
    };
    let clock = Clock::new(Some(Timestamp::UNIX_EPOCH));
    let mut rng = Rng::new(Some(7));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    let mut answered = 0;
    for turn in 0..BURST {
        let messages = vec![Message::text(Role::User, "What time is it?")];
        let request = ChatRequest { messages, stream: streams, ..ChatRequest::default() };
        let id = format!("request-{turn}");
        let ladder = &config.default_ladder;
        let wish = Wish { id: &id, ladder, request, directives: Directives::default() };
        let job = hastened(process.job(wish, clock, &mut rng)?);
        let (_sender, stop) = tokio::sync::watch::channel(false);
        let report = runtime.block_on(process.send(&job, clock, &mut rng, stop, &mut Silent))?;
        answered += usize::from(matches!(report.end, End::Answered { .. }));
    }
    Ok(answered)
}

/// The same with the wait for a silent primary, and between retries, cut short.
fn hastened(mut job: Job) -> Job {
    job.spec.limits.backoff = Duration::from_millis(1);
    job.spec.limits.backoff_max = Duration::from_millis(1);
    for (_, lane) in job.lanes.iter_mut().filter(|(deployment, _)| deployment.provider == *"primary") {
        lane.timeouts = Timeouts { first: PATIENCE, idle: PATIENCE, total: PATIENCE, ..lane.timeouts };
    }
    job
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_ideal() {
        let rows = matrix().expect("ports on loopback");
        assert_eq!(rows.len(), 9);
        assert!(rows.iter().all(Row::is_ideal), "{}", matrix_text(&rows));
    }

    #[test]
    fn a_call_too_many_or_too_few_is_not_ideal() {
        let row = Row { fault: "500", primary: 3, ideal: 3, fallback: 20, answered: 20, answerable: 20 };
        assert!(row.is_ideal());
        for wrong in [
            Row { primary: 4, ..row.clone() },
            Row { primary: 2, ..row.clone() },
            Row { fallback: 21, ..row.clone() },
            Row { answered: 19, ..row.clone() },
        ] {
            assert!(!wrong.is_ideal() && matrix_text(&[wrong]).contains("NOT IDEAL"));
        }
    }
}
