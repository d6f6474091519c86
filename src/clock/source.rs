//! Time from elsewhere.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

/// A wait that is under way.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Where the time comes from, if not from the system: a test that lets a day pass, a simulation, a machine whose clock
/// somebody else keeps.
///
/// All that is decided goes by it: when a hold ends, how long a request may take, how long it waits. What is read from a
/// socket is waited for in real time, because no other time would bring it.
pub trait TimeSource: Send + Sync {
    /// The wall clock. It may jump.
    fn now(&self) -> Timestamp;

    /// The time since some moment that is the same for each call. It never goes back.
    fn elapsed(&self) -> Duration;

    /// Is ready when so much of this time has passed, and not before.
    fn sleep(&self, length: Duration) -> Sleep<'_>;
}

impl<T: TimeSource + ?Sized> TimeSource for Arc<T> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn elapsed(&self) -> Duration {
        (**self).elapsed()
    }

    fn sleep(&self, length: Duration) -> Sleep<'_> {
        (**self).sleep(length)
    }
}
