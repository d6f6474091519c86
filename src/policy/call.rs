//! What came of a call, and when the decision about it is made.

use jiff::Timestamp;

use crate::domain::{Failure, RequestId, Target};

use super::record::Lease;
use super::settings::PolicySettings;

/// What came of a call.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A real answer.
    Success,
    /// A failure, as classified.
    Failure(&'a Failure),
    /// The caller gave up: no evidence against the deployment, but a lease must be freed.
    Abandoned,
}

/// The call that it came of.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Who was asked.
    pub target: &'a Target,
    /// The request, which is also the holder of the leases that it took.
    pub request_id: &'a RequestId,
    /// When the call was sent: what it says is true of that time, not of now.
    pub started_at: Timestamp,
    /// The salted fingerprint of the key that was used.
    pub fingerprint: Option<&'a str>,
    /// The fingerprints of the account's other keys: what stops the account stops them as well.
    pub siblings: &'a [&'a str],
    /// Whether this key ever got an answer.
    pub ever_worked: bool,
}

/// When and by which numbers a decision is made.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The wall-clock time.
    pub now: Timestamp,
    /// The numbers of the failure table.
    pub settings: &'a PolicySettings,
    /// A drawn number in 0..1.
    pub jitter: f64,
}

impl Report<'_> {
    /// Whether this call is the probe that the lease was given to.
    pub(super) fn holds(&self, lease: Option<&Lease>) -> bool {
        lease.is_some_and(|lease| lease.holder == *self.request_id)
    }
}
