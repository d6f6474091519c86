//! One exchange over the wire: from the request to an answer, a failure, or a reason that is nobody's fault.
//!
//! It has two halves. Until the first content nobody has seen anything: the exchange can be given up for another one that
//! runs beside it. From then on it is read to its end, and its words are shown, or held back, as the policy wants.

use std::time::Duration;

use crate::catalog::Wire;
use crate::clock::Stopwatch;
use crate::config::StreamPolicy;
use crate::domain::{Answer, Evidence, StreamEvent, Timeouts, TransportFault};
use crate::transport::{Body, Carrier, Fault, Limit, PLAIN_BODY, Reply};
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
    /// The request's own deadline passed: no evidence against the deployment.
    GaveUp,
    /// Nobody reads any more: no evidence either. What was shown so far.
    ConsumerGone(Answer),
    /// The stream broke after its first content was shown: what failed, and what was shown.
    Broke(Box<Evidence>, Answer),
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
    pub(super) transport: &'a dyn Carrier,
    pub(super) http: HttpRequest,
    pub(super) lane: &'a Lane,
    pub(super) timeouts: Timeouts,
    /// What counts as an answer that comes whole.
    pub(super) wanted: Wanted,
    /// How the answer streams; none when it comes whole.
    pub(super) stream: Option<StreamPolicy>,
    /// How much of an answer may be held back, in bytes.
    pub(super) buffer: u64,
    /// Whether all of a stream is wanted at its end, beside what is shown of it.
    pub(super) keeps_all: bool,
    /// What is left of the request's own deadline.
    pub(super) time_left: Duration,
    pub(super) watch: Stopwatch,
}

/// An exchange at its first content.
pub(super) enum Opened<'a> {
    /// A stream that has begun to answer.
    Stream(Box<Opening<'a>>),
    /// It is over.
    Done(Box<Measured>),
}

/// A stream that has begun.
pub(super) struct Opening<'a> {
    call: Call<'a>,
    learned: Learned,
    body: Body,
    policy: StreamPolicy,
    decoder: StreamDecoder,
    assembler: Assembler,
    /// When content last came; comments and pings leave it where it is.
    last_content: Option<Duration>,
    /// Words that came and were not shown yet.
    words: String,
    /// Set once nothing follows, with what kept the rest from coming.
    ended: Option<Option<Missing>>,
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

    fn measured(self, came: Came, watch: Stopwatch) -> Measured {
        let Self { status, headers, ttft } = self;
        Measured { came, status, headers, ttft, latency: watch.elapsed() }
    }
}

impl<'a> Call<'a> {
    /// Sends the request and waits for its first content; of an answer that comes whole that is all of it.
    pub(super) async fn open(self) -> Opened<'a> {
        let mut learned = Learned::default();
        let Reply { status, headers, body } = match self.send().await {
            Ok(reply) => reply,
            Err(missing) => {
                let came = failed(&learned, missing);
                return Opened::Done(Box::new(learned.measured(came, self.watch)));
            }
        };
        learned.status = Some(status);
        learned.headers = headers;
        let policy = self.stream.filter(|_| (200..300).contains(&status));
        match policy {
            Some(policy) => Opening::new(self, learned, body, policy).until_content().await,
            None => {
                let came = self.take_whole(body, &mut learned).await;
                Opened::Done(Box::new(learned.measured(came, self.watch)))
            }
        }
    }

    async fn take_whole(&self, body: Body, learned: &mut Learned) -> Came {
        let (limit, by_deadline) = self.next(None);
        if !learned.status.is_some_and(|status| (200..300).contains(&status)) {
            // An error whose body is cut or stalls is still an error of that status.
            let (bytes, _) = body.evidence(limit).await;
            return Came::Failed(learned.evidence(text(bytes), None, String::new()));
        }
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

    /// Sends the request and waits for the head of the reply.
    async fn send(&self) -> Result<Reply, Missing> {
        let (limit, by_deadline) = self.next(None);
        let timeouts = Timeouts { first: limit.time, total: limit.time, ..self.timeouts };
        self.transport.carry(&self.http, &timeouts).await.map_err(|fault| self.missing(fault, limit, by_deadline))
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
        let Timeouts { first, idle, total, .. } = self.timeouts;
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

impl<'a> Opening<'a> {
    fn new(call: Call<'a>, learned: Learned, body: Body, policy: StreamPolicy) -> Self {
        let decoder = StreamDecoder::new(call.wire());
        Self {
            learned,
            body,
            policy,
            decoder,
            assembler: if call.keeps_all { Assembler::default() } else { Assembler::showing() },
            call,
            last_content: None,
            words: String::new(),
            ended: None,
        }
    }

    async fn until_content(mut self) -> Opened<'a> {
        while self.ended.is_none() && !self.assembler.has_content() {
            self.take_piece().await;
        }
        if self.assembler.has_content() {
            return Opened::Stream(Box::new(self));
        }
        Opened::Done(Box::new(self.finish(false)))
    }

    /// Takes the next piece, or notes that there is none.
    async fn take_piece(&mut self) {
        let (events, last) = match self.call.piece(&mut self.body, self.last_content).await {
            Ok(Some(bytes)) => (self.decoder.push(&bytes), None),
            Ok(None) => (self.decoder.finish(), Some(None)),
            Err(missing) => (self.decoder.finish(), Some(Some(missing))),
        };
        events.iter().for_each(|event| self.assembler.push(event));
        if events.iter().any(StreamEvent::is_content) {
            self.last_content = Some(self.call.watch.elapsed());
            self.learned.ttft = self.learned.ttft.or(self.last_content);
        }
        self.words.push_str(&words(&events));
        // After an error nobody waits for the provider to hang up, and what is too long is not read to its end.
        let said_so = self.assembler.has_ended() && events.contains(&StreamEvent::End);
        let is_over = said_so || self.assembler.has_failed();
        self.ended = last.or(is_over.then_some(None));
    }

    /// Reads the rest, showing the words unless they are to be held back.
    pub(super) async fn read(mut self, observer: &mut dyn Observer) -> Measured {
        let mut shown = false;
        let mut held_back: u64 = 0;
        loop {
            let words = std::mem::take(&mut self.words);
            if self.policy == StreamPolicy::Buffer {
                held_back += words.len() as u64;
                if held_back > self.call.buffer {
                    let why = format!("more than the {} bytes that may be held back", self.call.buffer);
                    let evidence = self.learned.evidence(String::new(), Some(TransportFault::TooLarge), why);
                    return self.learned.measured(Came::Failed(evidence), self.call.watch);
                }
            } else if !words.is_empty() {
                if observer.text(&words).is_err() {
                    let so_far = self.assembler.so_far().clone();
                    return self.learned.measured(Came::ConsumerGone(so_far), self.call.watch);
                }
                shown = true;
            }
            if self.ended.is_some() {
                return self.finish(shown);
            }
            self.take_piece().await;
        }
    }

    /// What became of it, now that nothing follows.
    fn finish(self, shown: bool) -> Measured {
        let Self { call, learned, decoder, assembler, ended, .. } = self;
        let seen = decoder.evidence().to_owned();
        let so_far = if shown { assembler.so_far().clone() } else { Answer::default() };
        let came = match (assembler.finish(), ended.flatten()) {
            (Assembled::Answer(answer), _) => Came::Answer(answer),
            (Assembled::Cut(_) | Assembled::Empty(_), Some(Missing::Deadline)) => Came::GaveUp,
            (Assembled::Cut(_), Some(Missing::Fault(fault))) => {
                Came::Failed(learned.evidence(seen, Some(fault.kind), fault.detail))
            }
            (ended, _) => {
                let Remains { body, fault, log } = remains(ended, seen);
                Came::Failed(learned.evidence(body, fault, log))
            }
        };
        let came = match came {
            Came::Failed(evidence) if shown => Came::Broke(evidence, so_far),
            came => came,
        };
        learned.measured(came, call.watch)
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
