//! One request, sent as a process of its own would send it: from the config to a job, and the job down its ladder.
//!
//! Every rehearsal of the house goes through here, so a drill can differ from the program in what it sets up, never in
//! what is done with it.

use crate::classify::Classifier;
use crate::clock::{Clock, Rng};
use crate::config::{Config, CredentialConfig, KeyError};
use crate::domain::{ChatRequest, LadderName, Redactor, RequestId, Secret};
use crate::ladder::Directives;
use crate::route::{Facts, FallbackStore, Job, Observer, Outside, Report, Router, Stop, assemble, run};
use crate::store::{SqliteStore, Store, StoreError};
use crate::transport::Carrier;

/// What all requests of a rehearsal share.
pub(super) struct Process<'a> {
    pub(super) config: &'a Config,
    pub(super) store: &'a FallbackStore<SqliteStore>,
    pub(super) transport: &'a dyn Carrier,
    pub(super) classifier: &'a Classifier,
    pub(super) redactor: &'a Redactor,
    /// Gives the key of a credential.
    pub(super) key: &'a dyn Fn(&CredentialConfig) -> Result<Secret, KeyError>,
}

/// What one of them asks.
pub(super) struct Wish<'a> {
    pub(super) id: &'a str,
    pub(super) ladder: &'a LadderName,
    pub(super) request: ChatRequest,
    pub(super) directives: Directives,
}

impl Process<'_> {
    /// All that the driver needs for the request.
    pub(super) fn job(&self, wish: Wish<'_>, clock: Clock, rng: &mut Rng) -> Result<Job, String> {
        let Wish { id, ladder: name, request, directives } = wish;
        let told = |error: StoreError| error.to_string();
        let (salt, findings) = (self.store.salt().map_err(told)?, self.store.findings(clock.now()).map_err(told)?);
        let ladder = self.config.ladders.get(name).ok_or_else(|| format!("no ladder {name}"))?;
        let (system, developer) = (ladder.system.clone(), ladder.developer.clone());
        let request = ChatRequest { system, developer, ..request };
        let facts = Facts::of(self.config, name, &request, (self.store, &salt), clock.now()).map_err(told)?;
        let (env, findings, shapes) = (&|_: &str| None, findings.as_slice(), &[]);
        let outside = Outside { key: self.key, env, salt: &salt, findings, shapes, facts: &facts };
        let ladder = assemble(self.config, name, &outside, rng).ok_or_else(|| format!("no ladder {name}"))?;
        Ok(Job { noted: facts.noted, ..Job::new(RequestId::new(id), ladder, request, directives) })
    }

    /// Sends it at the moment that the clock shows.
    pub(super) async fn send(
        &self,
        job: &Job,
        clock: Clock,
        rng: &mut Rng,
        stop: Stop,
        observer: &mut dyn Observer,
    ) -> Result<Report, String> {
        let router = Router {
            clock,
            store: self.store,
            transport: self.transport,
            classifier: self.classifier,
            catalog: &self.config.catalog,
            settings: &self.config.policy,
            redactor: self.redactor,
        };
        run(&router, job, rng, stop, observer).await.map_err(|error| error.to_string())
    }
}
