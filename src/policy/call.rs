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

/// With what a deployment is asked. A hold that a person must lift is about one of these, so who asks with another one
/// may try at once. Both are salted fingerprints; what is not known is taken for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Caller<'a> {
    /// Of the key.
    pub key: Option<&'a str>,
    /// Of what the config says of the provider.
    pub entry: Option<&'a str>,
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
    /// With what it was asked.
    pub caller: Caller<'a>,
    /// The fingerprints of the account's other keys: what stops the account stops them as well.
    pub siblings: &'a [&'a str],
    /// When this key last got an answer.
    pub last_success: Option<Timestamp>,
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
