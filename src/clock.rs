//! The only place that reads the wall clock, the stopwatch or entropy.
//!
//! State outlives the process, so it is kept in wall-clock time, and every decision takes `now` as an argument.
//! Latencies and deadlines run on the stopwatch, which never jumps. For tests the wall clock can stand still
//! (`LLMR_NOW`) and the randomness can be fixed (`LLMR_SEED`), or all time can come from another source: where it is
//! invented, it passes only where somebody waits for it, and as fast as the machine can count.

mod invented;
mod source;

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hasher};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use jiff::Timestamp;

pub use invented::Invented;
pub use source::{Sleep, TimeSource};

/// The wall clock, or one moment at which it stands.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    stands_at: Option<Timestamp>,
    started: Stopwatch,
}

impl Clock {
    /// The system's clock, or one that stands at the given moment.
    pub fn new(stands_at: Option<Timestamp>) -> Self {
        Self { stands_at, started: Stopwatch::start() }
    }

    /// A clock of another time, or one that stands at the given moment while the stopwatches of that time run.
    pub fn of(time: &'static dyn TimeSource, stands_at: Option<Timestamp>) -> Self {
        Self { stands_at, started: Stopwatch::of(time) }
    }

    /// Where the time comes from, unless it is the system's.
    pub fn source(&self) -> Option<&'static dyn TimeSource> {
        match self.started.0 {
            Since::Real(_) => None,
            Since::Other(_, time) => Some(time),
        }
    }

    /// The wall-clock time, in whole milliseconds, which is what the store keeps.
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub fn now(&self) -> Timestamp {
        let running = || self.source().map_or_else(Timestamp::now, TimeSource::now);
        let now = self.stands_at.unwrap_or_else(running);
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }

    /// How long this clock has existed, by the stopwatch.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Starts a stopwatch.
    pub fn stopwatch(&self) -> Stopwatch {
        self.source().map_or_else(Stopwatch::start, Stopwatch::of)
    }

    /// What comes of the future, if it comes within this time.
    pub async fn within<T>(&self, time: Duration, future: impl Future<Output = T>) -> Option<T> {
        let Some(source) = self.source() else { return tokio::time::timeout(time, future).await.ok() };
        let mut future = pin!(future);
        let mut end = None;
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            // What is there already needs no wait, and with some sources time passes because of one.
            Poll::Pending => end.get_or_insert_with(|| source.sleep(time)).as_mut().poll(context).map(|()| None),
        })
        .await
    }
}

/// Time since a moment, unmoved by changes of the wall clock.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Since);

#[derive(Clone, Copy)]
enum Since {
    Real(Instant),
    Other(Duration, &'static dyn TimeSource),
}

impl fmt::Debug for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real(started) => started.fmt(f),
            Self::Other(started, _) => write!(f, "{started:?} of another time"),
        }
    }
}

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    fn start() -> Self {
        Self(Since::Real(Instant::now()))
    }

    fn of(time: &'static dyn TimeSource) -> Self {
        Self(Since::Other(time.elapsed(), time))
    }

    /// The time since it was started.
    pub fn elapsed(&self) -> Duration {
        match self.0 {
            Since::Real(started) => started.elapsed(),
            Since::Other(started, time) => time.elapsed().saturating_sub(started),
        }
    }
}

/// A small generator (splitmix64) for jitter and ids; not for secrets.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// Seeded by the system, or by the given number for a run that can be repeated.
    pub fn new(seed: Option<u64>) -> Self {
        Self(seed.unwrap_or_else(|| RandomState::new().build_hasher().finish()))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, but not, 1.
    pub fn unit(&mut self) -> f64 {
        // 53 bits fill the mantissa of an f64.
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Text of `length` characters from an alphabet that reads well aloud (no 0, 1, i, l, o).
    pub fn token(&mut self, length: usize) -> String {
        const ALPHABET: &[u8; 31] = b"23456789abcdefghjkmnpqrstuvwxyz";
        let mut letter = || ALPHABET.get((self.next_u64() % 31) as usize).map_or('x', |byte| char::from(*byte));
        (0..length).map(|_| letter()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stands_stands() {
        let at: Timestamp = "2026-08-23T03:00:00Z".parse().expect("a time");
        let clock = Clock::new(Some(at));
        assert_eq!((clock.now(), clock.now()), (at, at));
    }

    #[test]
    fn a_seed_repeats_and_units_stay_in_range() {
        let (mut a, mut b) = (Rng::new(Some(7)), Rng::new(Some(7)));
        assert_eq!(a.token(12), b.token(12));
        assert!((0..1000).map(|_| a.unit()).all(|u| (0.0..1.0).contains(&u)));
    }
}
