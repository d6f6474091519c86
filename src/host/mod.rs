//! What only a process has: its environment, the keys that it fetched, its clock and its luck.
//!
//! The floors below take all of that as arguments, so that they can be tested by data. Here it is put together, once, for
//! whoever runs requests: the program, which is a process for each of them, and a program of somebody else, which lives
//! long and makes many. What leads from a config to a request that can be sent stands here as well, for both.

mod hidden;
mod job;
mod keys;
mod local;
mod places;
mod reported;
mod roots;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;

use crate::clock::{Clock, Rng};
use crate::domain::{Redactor, RequestId, Secret};

pub use hidden::hidden_variables;
pub use job::{Bounds, JobError, Wish, job};
pub use keys::{Known, assembled, candidate, fetch, fingerprint_of, learn_all};
pub use local::{LOCAL_PROBE, local_servers};
pub use places::{config_place, retention, state_place};
pub use reported::{Desk, ReportError, Reported, report};
pub use roots::{RootsError, transport_options};

/// Reads a variable of the environment.
pub type Env = Box<dyn Fn(&str) -> Option<String> + Send>;

/// What a process has.
pub struct Host {
    /// The clocks.
    pub clock: Clock,
    /// Jitter and ids.
    pub rng: Rng,
    env: Env,
    /// Variables that were set here, before those of the environment.
    set: BTreeMap<String, String>,
    secrets: Vec<Secret>,
    redactor: OnceCell<Redactor>,
}

impl fmt::Debug for Host {
    /// The environment holds keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("clock", &self.clock).field("secrets", &self.secrets.len()).finish_non_exhaustive()
    }
}

impl Host {
    /// A process with this environment.
    pub fn new(env: Env, clock: Clock, rng: Rng) -> Self {
        Self { clock, rng, env, set: BTreeMap::new(), secrets: Vec::new(), redactor: OnceCell::new() }
    }

    /// A variable of the environment.
    pub fn env(&self, name: &str) -> Option<String> {
        self.set.get(name).cloned().or_else(|| (self.env)(name))
    }

    /// Sets a variable, for a config that was made here.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.set.insert(name.to_owned(), value.to_owned());
    }

    /// What knows the secrets that were fetched so far.
    pub fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| Redactor::new(self.secrets.iter().cloned()))
    }

    /// Remembers a secret, so that it is found in whatever leaves the process.
    pub fn learn_secret(&mut self, secret: &Secret) {
        // One key often serves many deployments, and each new secret costs a new search for all of them.
        if self.secrets.iter().any(|known| known.expose() == secret.expose()) {
            return;
        }
        self.secrets.push(secret.clone());
        self.redactor = OnceCell::new();
    }

    /// A new id for a request.
    pub fn request_id(&mut self) -> RequestId {
        let at = u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0);
        // Ids that begin with the time stand side by side in the store's index. The rest is drawn anew in each process,
        // whatever the seed: two runs with one seed are still two requests.
        RequestId::new(format!("req_{at:011x}{}", Rng::new(None).token(6)))
    }
}

/// The environment of this process as it is now. Variables that are no text are left out.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
