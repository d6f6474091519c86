//! A call that another program made, from what it tells of it to what is written down.

use std::time::Duration;

use jiff::Timestamp;

use crate::catalog::Catalog;
use crate::classify::Classify;
use crate::config::{Config, KeySource};
use crate::domain::{Answer, Deployment, Evidence, LadderName, RequestId, RequestRecord, Target, Usage};
use crate::policy::Caller;
use crate::route::{
    Asked, Ledger, OutsideCall, Told, Written, entry, flight_of, gauges, issued_at, may_join, probe_of, told,
};
use crate::store::{Accounts, LogFilter, Snapshot, Store, StoreError};

use super::Host;
use super::keys::{fingerprint_of, learn_all};

/// What a program tells of its call.
#[derive(Debug, Clone, Default)]
pub struct Reported {
    /// What there is to be judged; none for a plain success.
    pub evidence: Option<Evidence>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The headers, which tell of limits also where nothing is to be judged.
    pub headers: Vec<(String, String)>,
    /// Tokens, as far as they are known.
    pub usage: Usage,
    /// The id of its request, if it says one.
    pub id: Option<RequestId>,
    /// When the call was sent.
    pub sent_at: Option<Timestamp>,
    /// How long it took.
    pub latency: Option<Duration>,
}

/// Why a call cannot be written down.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The id is that of a request that went down a ladder.
    #[error("`{id}` is a request of ladder `{ladder}` already")]
    Taken {
        /// The id.
        id: RequestId,
        /// The ladder.
        ladder: LadderName,
    },
}

/// By what a call is judged and written down.
pub struct Desk<'a> {
    /// What knows providers.
    pub catalog: &'a Catalog,
    /// What the config says, if there is one.
    pub config: Option<&'a Config>,
    /// What knows failures.
    pub classifier: &'a dyn Classify,
    /// The state.
    pub store: &'a dyn Store,
}

/// Judges the call and writes it down with all that follows.
///
/// # Errors
/// When the state cannot be read or written, or the id is taken; nothing is written then.
pub fn report(
    target: &Target,
    reported: Reported,
    desk: &Desk<'_>,
    host: &mut Host,
) -> Result<(RequestId, Written), ReportError> {
    let call = Call::new(target, &reported, desk.store, host)?;
    write(call, reported, desk, host)
}

/// Which call it was.
struct Call<'a> {
    target: &'a Target,
    id: RequestId,
    started_at: Timestamp,
    latency: Duration,
    probe: bool,
    /// The call that a guard let pass under another id.
    lands: Option<RequestId>,
    before: Option<RequestRecord>,
}

impl<'a> Call<'a> {
    fn new(target: &'a Target, reported: &Reported, store: &dyn Store, host: &mut Host) -> Result<Self, ReportError> {
        let Reported { sent_at, latency, id: chosen, .. } = reported;
        let (sent_at, latency) = (*sent_at, *latency);
        let now = host.clock.now();
        let Snapshot { holds, usage, .. } = store.snapshot(&Accounts::of([target]))?;
        let probe = probe_of(&holds, target, sent_at);
        let passed = flight_of(&usage, target, now).filter(|id| sent_at >= issued_at(id) || sent_at.is_none());
        let id = chosen.clone().or_else(|| probe.clone()).or_else(|| passed.clone());
        let id = id.unwrap_or_else(|| host.request_id());
        let before = chosen.as_ref().map(|id| joined(id, store)).transpose()?.flatten();
        let sent_at = sent_at.or_else(|| latency.and_then(|took| now.checked_sub(took).ok()));
        // The second of two calls under one id was not sent when the first was let through.
        let started_at = sent_at.or_else(|| issued_at(&id).filter(|_| before.is_none())).unwrap_or(now).min(now);
        let took = Duration::try_from(now.duration_since(started_at)).unwrap_or_default();
        // Under an id of its own it is still the call that a guard let pass.
        let is_up = usage.flights.iter().any(|flight| flight.id == id);
        let lands = passed.filter(|_| !is_up && before.is_none());
        let probe = probe.as_ref() == Some(&id);
        Ok(Self { target, probe, id, started_at, latency: latency.unwrap_or(took), lands, before })
    }
}

/// The request of the log that the call joins, if there is one.
fn joined(id: &RequestId, store: &dyn Store) -> Result<Option<RequestRecord>, ReportError> {
    let filter = LogFilter { id: Some(id.clone()), limit: 1, ..LogFilter::default() };
    let before = store.requests(&filter)?.pop();
    if let Some(other) = before.as_ref().filter(|request| !may_join(request)) {
        return Err(ReportError::Taken { id: id.clone(), ladder: other.ladder.clone() });
    }
    Ok(before)
}

fn write(
    call: Call<'_>,
    came: Reported,
    desk: &Desk<'_>,
    host: &mut Host,
) -> Result<(RequestId, Written), ReportError> {
    let Call { target, id, started_at, latency, probe, lands, before } = call;
    let Desk { catalog, config, classifier, store } = *desk;
    let deployment = &target.deployment;
    let wire = catalog.provider(&deployment.provider).and_then(|provider| provider.wire);
    let (usage, status) = (came.usage, came.status);
    let head = Evidence { status, headers: came.headers, ..Evidence::default() };
    // What is to be judged may tell more of limits than its head.
    let said = came.evidence.clone().unwrap_or(head);
    let told = match came.evidence {
        Some(evidence) => told(evidence, wire),
        None => Told::Answer(Answer::default()),
    };
    // Of an answer nothing is stored that could hold a key.
    let keys = match (&told, config) {
        (Told::Wrong(_) | Told::Failed(_), Some(config)) => keys(deployment, config, store, host),
        _ => Keys::default(),
    };
    let siblings: Vec<&str> = keys.siblings.iter().map(String::as_str).collect();
    let settings = config.map(|config| config.policy).unwrap_or_default();
    let jitter = host.rng.unit();
    let (clock, redactor) = (host.clock, host.redactor());
    let ledger = Ledger { store, classifier, catalog, settings: &settings, clock, redactor };
    let own_entry = config.and_then(|config| Some(entry(config, &deployment.provider, &store.salt().ok()?)));
    let caller = Caller { key: keys.own.as_deref(), entry: own_entry.as_deref() };
    let gauges = config.map(|config| gauges(config, deployment)).unwrap_or_default();
    let stated = ledger.stated(&said, deployment, clock.now());
    let price = catalog.model(&deployment.provider, &deployment.model).and_then(|model| model.price);
    let asked = Asked { target, request_id: &id, started_at, caller, siblings: &siblings, gauges: &gauges };
    let call = OutsideCall { asked, latency, status, told, usage, price, stated, probe, lands, before };
    let written = call.write(&ledger, jitter)?;
    Ok((id, written))
}

/// Fingerprints of the keys that may have failed.
#[derive(Default)]
struct Keys {
    own: Option<String>,
    siblings: Vec<String>,
}

/// The key of the deployment and the others of its account, which all become known as secrets with the rest of the
/// config's.
fn keys(deployment: &Deployment, config: &Config, store: &dyn Store, host: &mut Host) -> Keys {
    learn_all(config, host);
    let Ok(salt) = store.salt() else { return Keys::default() };
    let own = fingerprint_of(deployment, config, &salt, host);
    let account = config.target(deployment).account;
    let same = config.credentials_of(&deployment.provider).filter(|credential| {
        let is_command = matches!(credential.key, KeySource::Command(_));
        credential.account == account && Some(&credential.name) != deployment.credential.as_ref() && !is_command
    });
    let others = same.map(|other| Deployment { credential: Some(other.name.clone()), ..deployment.clone() });
    let siblings = others.filter_map(|other| fingerprint_of(&other, config, &salt, host));
    Keys { own, siblings: siblings.collect() }
}
