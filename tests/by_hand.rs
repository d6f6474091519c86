//! A time that passes when it is told to.
#![cfg(test)]

use std::sync::Mutex;
use std::time::Duration;

use llmr::{Sleep, TimeSource, Timestamp};

/// It begins where the tests play.
#[derive(Default)]
pub struct ByHand(Mutex<Duration>);

impl ByHand {
    /// Lets so much pass.
    pub fn pass(&self, length: Duration) {
        *self.0.lock().expect("no panic") += length;
    }
}

impl TimeSource for ByHand {
    fn now(&self) -> Timestamp {
        let begin: Timestamp = crate::stage::NOW.parse().expect("a time");
        begin.checked_add(self.elapsed()).expect("a time")
    }

    fn elapsed(&self) -> Duration {
        *self.0.lock().expect("no panic")
    }

    fn sleep(&self, length: Duration) -> Sleep<'_> {
        self.pass(length);
        Box::pin(std::future::ready(()))
    }
}
