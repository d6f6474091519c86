//! Time that passes only where somebody waits for it.
//!
//! Whoever waits says until when, and is not ready before. When all that runs waits, the time jumps to the first of these
//! moments. So hours take as long as what is done in them, timers run out exactly when they should, and the same run goes
//! the same way each time.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jiff::Timestamp;

use super::source::{Sleep, TimeSource};

/// An invented time; it stands still unless [`Invented::run`] moves it.
#[derive(Debug)]
pub struct Invented(Mutex<Hand>);

#[derive(Debug)]
struct Hand {
    /// Since the beginning, never moving back.
    passed: Duration,
    /// What the wall clock showed, and when it was set to that.
    wall: (Timestamp, Duration),
    /// The first moment that anybody waits for.
    next: Option<Duration>,
}

impl Invented {
    /// A time that begins at this moment. It is never given back, a few dozen bytes for each play, so that a clock of it
    /// is handed around as freely as one of the real time.
    pub fn begin(at: Timestamp) -> &'static Self {
        Box::leak(Box::new(Self(Mutex::new(Hand { passed: Duration::ZERO, wall: (at, Duration::ZERO), next: None }))))
    }

    fn hand(&self) -> MutexGuard<'_, Hand> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The wall clock.
    pub fn now(&self) -> Timestamp {
        let hand = self.hand();
        let (shown, set_at) = hand.wall;
        shown.checked_add(hand.passed.saturating_sub(set_at)).unwrap_or(Timestamp::MAX)
    }

    /// Sets the wall clock; stopwatches do not notice.
    pub fn set(&self, now: Timestamp) {
        let mut hand = self.hand();
        hand.wall = (now, hand.passed);
    }

    /// The time since the beginning.
    pub fn passed(&self) -> Duration {
        self.hand().passed
    }

    /// Lets so much time pass at once.
    pub fn jump(&self, length: Duration) {
        let mut hand = self.hand();
        hand.passed = hand.passed.saturating_add(length);
    }

    /// Waits for so long.
    pub async fn pass(&self, length: Duration) {
        let until = self.passed().saturating_add(length);
        poll_fn(|_| self.reach(until)).await;
    }

    fn reach(&self, until: Duration) -> Poll<()> {
        let mut hand = self.hand();
        if hand.passed >= until {
            return Poll::Ready(());
        }
        hand.next = Some(hand.next.map_or(until, |next| next.min(until)));
        Poll::Pending
    }

    /// Runs the future to its end, time passing whenever all of it waits. None when it waits for something that time does
    /// not bring.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            self.hand().next = None;
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return Some(value);
            }
            let mut hand = self.hand();
            hand.passed = hand.next?;
        }
    }
}

impl TimeSource for Invented {
    fn now(&self) -> Timestamp {
        Self::now(self)
    }

    fn elapsed(&self) -> Duration {
        self.passed()
    }

    fn sleep(&self, length: Duration) -> Sleep<'_> {
        let until = self.passed().saturating_add(length);
        Box::pin(poll_fn(move |_| self.reach(until)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + second).expect("a time")
    }

    #[test]
    fn time_passes_only_where_somebody_waits_and_then_to_the_first_moment() {
        let time = Invented::begin(at(0));
        let clock = Clock::of(time, None);
        let watch = clock.stopwatch();
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        let race = async {
            let slow = clock.within(hours(1), time.pass(hours(9))).await;
            let fast = clock.within(hours(9), time.pass(hours(1))).await;
            (slow, fast)
        };
        assert_eq!(time.run(race), Some((None, Some(()))));
        assert_eq!((clock.now(), watch.elapsed()), (at(7200), hours(2)));
        assert_eq!(time.run(std::future::pending::<()>()), None, "nothing that time would bring");
        time.set(at(-5));
        time.jump(hours(1));
        assert_eq!((clock.now(), watch.elapsed()), (at(3595), hours(3)));
        let standing = Clock::of(time, Some(at(7)));
        time.jump(hours(1));
        assert_eq!((standing.now(), standing.elapsed()), (at(7), hours(1)));
    }
}
