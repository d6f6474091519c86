//! Where config and state are looked for, and how long the log is kept.

use std::path::PathBuf;

use crate::config::{Config, at_home};
use crate::store::Retention;

use super::Host;

impl Host {
    /// A variable that holds a path; an empty one is none.
    pub fn env_path(&self, name: &str) -> Option<PathBuf> {
        self.env(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }
}

/// Where the config is: the path, and whether somebody named it. `named` comes before `LLMR_CONFIG` and the usual place.
pub fn config_place(named: Option<PathBuf>, host: &Host) -> (Option<PathBuf>, bool) {
    if let Some(path) = named.or_else(|| host.env_path("LLMR_CONFIG")) {
        return (Some(path), true);
    }
    let home = || host.env_path("HOME").map(|home| home.join(".config"));
    let base = host.env_path("XDG_CONFIG_HOME").or_else(home);
    (base.map(|base| base.join("llmr").join("llmr.toml")), false)
}

/// The state file: `named`, else `LLMR_STATE`, else what the config says, else its usual place; none when there is no
/// usual place.
pub fn state_place(named: Option<PathBuf>, config: Option<&Config>, host: &Host) -> Option<PathBuf> {
    let named = named.or_else(|| host.env_path("LLMR_STATE"));
    if let Some(path) = named.or_else(|| config.and_then(|config| config.store.clone())) {
        return Some(at_home(&path, &|name| host.env(name)));
    }
    let home = || host.env_path("HOME").map(|home| home.join(".local").join("state"));
    let base = host.env_path("XDG_STATE_HOME").or_else(home);
    base.map(|base| base.join("llmr").join("state.db"))
}

/// How long and how large the log is kept.
pub fn retention(config: Option<&Config>) -> Retention {
    let usual = Retention::default();
    let age = config.and_then(|config| config.retention).unwrap_or(usual.age);
    let size = config.and_then(|config| config.max_size).unwrap_or(usual.size);
    let sessions = config.and_then(|config| config.sessions).unwrap_or(usual.sessions);
    let baselines = config.and_then(|config| config.baselines).unwrap_or(usual.baselines);
    Retention { age, size, sessions, baselines, ..usual }
}
