//! One exchange over the wire: from the request to an answer, a failure, or a reason that is nobody's fault.

use std::time::Duration;

use crate::catalog::Wire;
use crate::clock::Stopwatch;
use crate::config::StreamPolicy;
use crate::domain::{Answer, Evidence, StreamEvent, Timeouts, TransportFault};
use crate::transport::{Body, Fault, Limit, PLAIN_BODY, Reply, Transport};
use crate::wire::{Assembled, Assembler, Decoded, HttpRequest, StreamDecoder, decode, decode_sign};

use super::job::{Lane, Wanted};
use super::observer::Observer;
use super::reply::{Remains, remains};

/// What came of an exchange.
#[derive(Debug)]
pub(super) enum Came {
    /// An answer, not yet judged.
    Answer(Answer),
    /// What failed, not yet classified.
    Failed(Box<Evidence>),
    /// The request's own deadline passed, or the user stopped it: no evidence against the deployment.
    GaveUp,
    /// Nobody reads any more: no evidence either. What was shown so far.
    ConsumerGone(String),
    /// The stream broke after its first content was shown: what failed, and what was shown.
    Broke(Box<Evidence>, String),
}

/// An exchange with what is measured of it.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) came: Came,
    pub(super) status: Option<u16>,
    /// What stands in the head of the reply, beside the evidence of a failure.
    pub(super) headers: Vec<(String, String)>,
    pub(super) ttft: Option<Duration>,
    pub(super) latency: Duration,
}

/// One exchange about to be made.
pub(super) struct Call<'a> {
    pub(super) transport: &'a Transport,
    pub(super) http: &'a HttpRequest,
    pub(super) lane: &'a Lane,
    /// What counts as an answer that comes whole.
    pub(super) wanted: Wanted,
    /// How the answer streams; none when it comes whole.
    pub(super) stream: Option<StreamPolicy>,
    /// What is left of the request's own deadline.
    pub(super) time_left: Duration,
    pub(super) watch: Stopwatch,
}

/// Why a piece did not come.
enum Missing {
    Fault(Fault),
    Deadline,
}

/// What was learned before the exchange was over.
#[derive(Default)]
struct Learned {
    status: Option<u16>,
    headers: Vec<(String, String)>,
    ttft: Option<Duration>,
}

impl Learned {
    fn evidence(&self, body: String, transport: Option<TransportFault>, log: String) -> Box<Evidence> {
        Box::new(Evidence {
            status: self.status,
            headers: self.headers.clone(),
            body,
            log,
            transport,
            ..Evidence::default()
        })
    }
}

impl Call<'_> {
    /// Sends the request and takes what comes.
    pub(super) async fn make(&self, observer: &mut dyn Observer) -> Measured {
        let mut learned = Learned::default();
        let came = self.talk(&mut learned, observer).await;
        let Learned { status, headers, ttft } = learned;
        Measured { came, status, headers, ttft, latency: self.watch.elapsed() }
    }

    async fn talk(&self, learned: &mut Learned, observer: &mut dyn Observer) -> Came {
        let Reply { status, headers, mut body } = match self.send().await {
            Ok(reply) => reply,
            Err(missing) => return failed(learned, missing),
        };
        learned.status = Some(status);
        learned.headers = headers;
        if !(200..300).contains(&status) {
            // An error whose body is cut or stalls is still an error of that status.
            let (bytes, _) = body.evidence(self.next(None).0).await;
            return Came::Failed(learned.evidence(text(bytes), None, String::new()));
        }
        match self.stream {
            Some(policy) => self.take_stream(&mut body, policy, learned, observer).await,
            None => self.take_whole(body, learned).await,
        }
    }

    async fn take_whole(&self, body: Body, learned: &mut Learned) -> Came {
        let (limit, by_deadline) = self.next(None);
        let bytes = match body.whole(PLAIN_BODY, limit).await {
            Ok(bytes) => bytes,
            Err(fault) => return failed(learned, self.missing(fault, limit, by_deadline)),
        };
        learned.ttft = Some(self.watch.elapsed());
        let decoded = match self.wanted {
            Wanted::Words => decode(self.wire(), &bytes),
            Wanted::Sign => decode_sign(self.wire(), &bytes),
        };
        match decoded {
            Decoded::Answer(answer) => Came::Answer(answer),
            Decoded::Failure => Came::Failed(learned.evidence(text(bytes), None, String::new())),
        }
    }

    async fn take_stream(
        &self,
        body: &mut Body,
        policy: StreamPolicy,
        learned: &mut Learned,
        observer: &mut dyn Observer,
    ) -> Came {
        let mut decoder = StreamDecoder::new(self.wire());
        let mut assembler = Assembler::default();
        let mut shown = String::new();
        // When content last came; comments and pings leave it where it is.
        let mut last_content = None;
        let missing = loop {
            let (events, last) = match self.piece(body, last_content).await {
                Ok(Some(bytes)) => (decoder.push(&bytes), None),
                Ok(None) => (decoder.finish(), Some(None)),
                Err(missing) => (decoder.finish(), Some(Some(missing))),
            };
            events.iter().for_each(|event| assembler.push(event));
            if events.iter().any(StreamEvent::is_content) {
                last_content = Some(self.watch.elapsed());
            }
            let words = words(&events);
            if !words.is_empty() && policy != StreamPolicy::Buffer {
                if observer.text(&words).is_err() {
                    return Came::ConsumerGone(shown);
                }
                shown.push_str(&words);
            }
            if assembler.has_content() && learned.ttft.is_none() {
                learned.ttft = Some(self.watch.elapsed());
            }
            match last {
                Some(missing) => break missing,
                None if assembler.has_ended() && events.contains(&StreamEvent::End) => break None,
                None => {}
            }
        };
        let seen = decoder.evidence().to_owned();
        let came = match (assembler.finish(), missing) {
            (Assembled::Answer(answer), _) => return Came::Answer(answer),
            (Assembled::Cut(_) | Assembled::Empty(_), Some(Missing::Deadline)) => return Came::GaveUp,
            (Assembled::Cut(_), Some(Missing::Fault(fault))) => {
                Came::Failed(learned.evidence(seen, Some(fault.kind), fault.detail))
            }
            (ended, _) => {
                let Remains { body, fault, log } = remains(ended, seen);
                Came::Failed(learned.evidence(body, fault, log))
            }
        };
        match came {
            Came::Failed(evidence) if !shown.is_empty() => Came::Broke(evidence, shown),
            came => came,
        }
    }

    /// Sends the request and waits for the head of the reply.
    async fn send(&self) -> Result<Reply, Missing> {
        let (limit, by_deadline) = self.next(None);
        let timeouts = Timeouts { first: limit.time, total: limit.time, ..self.lane.timeouts };
        self.transport.send(self.http, &timeouts).await.map_err(|fault| self.missing(fault, limit, by_deadline))
    }

    /// The next piece of the body.
    async fn piece(&self, body: &mut Body, last_content: Option<Duration>) -> Result<Option<Vec<u8>>, Missing> {
        let (limit, by_deadline) = self.next(last_content);
        body.chunk(limit).await.map_err(|fault| self.missing(fault, limit, by_deadline))
    }

    /// What a fault is when the request's own deadline may be behind it, and with the timer that ran out.
    fn missing(&self, fault: Fault, limit: Limit, by_deadline: bool) -> Missing {
        let late = matches!(
            fault.kind,
            TransportFault::FirstTimeout | TransportFault::IdleTimeout | TransportFault::TotalTimeout
        );
        match (late, by_deadline) {
            (true, true) => Missing::Deadline,
            (true, false) => Missing::Fault(Fault { kind: limit.fault, ..fault }),
            (false, _) => Missing::Fault(fault),
        }
    }

    fn wire(&self) -> Wire {
        self.lane.provider.wire.unwrap_or(Wire::OpenAi)
    }

    /// How long the next piece may take, and whether it is the request's own deadline that bounds it. `last_content` is
    /// when content last came, since the exchange began.
    fn next(&self, last_content: Option<Duration>) -> (Limit, bool) {
        let elapsed = self.watch.elapsed();
        let Timeouts { first, idle, total, .. } = self.lane.timeouts;
        let total = Limit::total(total.saturating_sub(elapsed));
        let limit = match (self.stream, last_content) {
            // The first content of an answer that comes whole is all of it.
            (None, _) => total,
            (Some(_), Some(at)) => Limit::idle((at + idle).saturating_sub(elapsed)).or(total),
            (Some(_), None) => Limit::first(first.saturating_sub(elapsed)).or(total),
        };
        let left = self.time_left.saturating_sub(elapsed);
        if left <= limit.time { (Limit { time: left, ..limit }, true) } else { (limit, false) }
    }
}

/// The words of events that arrived together, to be shown together. What follows an error counts no more.
fn words(events: &[StreamEvent]) -> String {
    let until_error = events.iter().take_while(|event| !matches!(event, StreamEvent::Error(_)));
    let pieces = until_error.filter_map(|event| match event {
        StreamEvent::Text(piece) => Some(piece.as_str()),
        _ => None,
    });
    pieces.collect()
}

fn failed(learned: &Learned, missing: Missing) -> Came {
    match missing {
        Missing::Deadline => Came::GaveUp,
        Missing::Fault(fault) => Came::Failed(learned.evidence(String::new(), Some(fault.kind), fault.detail)),
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
