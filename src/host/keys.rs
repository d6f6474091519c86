//! Keys: fetching them, knowing them again, and a ladder with the keys of its steps.

use std::cell::RefCell;
use std::io;
use std::process::{Command, Stdio};

use crate::config::{Config, CredentialConfig, KeyError, KeySource};
use crate::domain::{Deployment, LadderName, Secret, Target};
use crate::policy::{Finding, Grade, Versioned, depends_on_caller};
use crate::route::{Assembled, Candidate, Facts, Outside, assemble, entry, fingerprint, gauges};

use super::Host;

/// Fetches the key of a credential from where the config says that it is.
///
/// # Errors
/// Names the place, the credential and what to do.
pub fn fetch(credential: &CredentialConfig, host: &Host) -> Result<Secret, KeyError> {
    credential.resolve(&|name| host.env(name), &|path| std::fs::read_to_string(path), &output_of)
}

/// The salted fingerprint of the deployment's key as it is now; none without a key, or when it cannot be had.
pub fn fingerprint_of(deployment: &Deployment, config: &Config, salt: &[u8], host: &mut Host) -> Option<String> {
    let key = fetch(config.credential(deployment)?, host).ok().filter(|key| !key.is_empty())?;
    host.learn_secret(&key);
    Some(fingerprint(salt, &key))
}

/// The target as it would be asked now, with the fingerprint of its key where a hold depends on it; no other key is
/// looked at.
pub fn candidate(
    target: Target,
    holds: &[Versioned],
    config: Option<&Config>,
    salt: impl Fn() -> Option<Vec<u8>>,
    host: &mut Host,
) -> Candidate {
    let mut covering = holds.iter().filter(|held| held.record.scope().covers(&target));
    let depends = covering.any(|held| depends_on_caller(&held.record));
    let signed = config.filter(|_| depends).and_then(|config| {
        let salt = salt()?;
        let print = fingerprint_of(&target.deployment, config, &salt, host);
        Some((print, entry(config, &target.deployment.provider, &salt)))
    });
    let (fingerprint, entry) = signed.map_or((None, None), |(print, entry)| (print, Some(entry)));
    let gauges = config.map(|config| gauges(config, &target.deployment)).unwrap_or_default();
    Candidate { target, fingerprint, entry, gauges }
}

/// What the store knows that a ladder depends on.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The salt of fingerprints.
    pub salt: &'a [u8],
    /// How good each deployment lately was at this ladder's work, where that is to change the order.
    pub shapes: &'a [Grade],
    /// What is believed of models.
    pub findings: &'a [Finding],
    /// What the order is made of.
    pub facts: &'a Facts,
}

/// Assembles the ladder of that name with the keys of its steps, which are known from then on; none when there is no such
/// ladder.
pub fn assembled(config: &Config, name: &LadderName, known: &Known<'_>, host: &mut Host) -> Option<Assembled> {
    let secrets = RefCell::new(Vec::new());
    let mut rng = host.rng.clone();
    let key = |credential: &CredentialConfig| {
        let key = fetch(credential, host)?;
        secrets.borrow_mut().push(key.clone());
        Ok(key)
    };
    let Known { salt, shapes, findings, facts } = *known;
    let outside = Outside { key: &key, env: &|name| host.env(name), salt, findings, shapes, facts };
    let assembled = assemble(config, name, &outside, &mut rng);
    host.rng = rng;
    secrets.into_inner().iter().for_each(|secret| host.learn_secret(secret));
    assembled
}

/// Makes the keys of the config known, so that they are found in whatever is about to be stored. Commands are not run:
/// they may ask for a password.
pub fn learn_all(config: &Config, host: &mut Host) {
    for credential in config.credentials.iter().filter(|credential| !matches!(credential.key, KeySource::Command(_))) {
        if let Ok(key) = fetch(credential, host) {
            host.learn_secret(&key);
        }
    }
}

/// What a command prints. Its standard error is the user's, so that a password prompt is seen.
fn output_of(words: &[String]) -> io::Result<String> {
    let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
    let output = Command::new(program).args(arguments).stdin(Stdio::inherit()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(output.status.to_string()));
    }
    String::from_utf8(output.stdout).map_err(|_| io::Error::other("it printed bytes that are no text"))
}
