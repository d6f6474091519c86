//! May I call now, as JSON and in one line.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::{Deployment, excerpt};
use crate::policy::{HoldRecord, Tightness};
use crate::route::{Pass, passes_at, probing};

use super::chat::until_text;
use super::choice::selector_of;
use super::moment::{rfc3339, seconds_of};

/// The word for a limit that is too near, as `plan` has it.
const NEAR_LIMIT: &str = "near_limit";

/// How much of the evidence stands in the line.
const QUOTE: usize = 120;

/// What a guard says.
#[derive(Debug)]
pub struct Guarded<'a> {
    /// The time.
    pub now: Timestamp,
    /// Who may be asked, or would be first.
    pub deployment: &'a Deployment,
    /// Whether it may.
    pub says: Says<'a>,
}

/// Whether a deployment may be asked.
#[derive(Debug)]
pub enum Says<'a> {
    /// It may; with a pass where the call counts among those under way.
    Free(Option<&'a Pass>),
    /// It may as the one probe of this hold; without a pass if the lease was not taken.
    Probe(&'a HoldRecord, Option<&'a Pass>),
    /// It may not because of this hold.
    Held(&'a HoldRecord),
    /// It may not because this limit is too near.
    Full(&'a Tightness),
}

impl Guarded<'_> {
    /// The object of `guard --json`.
    pub fn json(&self) -> Value {
        let (by, pass, until) = match &self.says {
            Says::Free(pass) => (None, *pass, pass.map(|pass| pass.until)),
            Says::Full(tight) => (None, None, tight.until),
            Says::Probe(by, pass) => (Some(*by), *pass, pass.map(|pass| pass.until)),
            Says::Held(by) => (Some(*by), None, passes_at(by, self.now)),
        };
        let full = match self.says {
            Says::Full(tight) => Some(tight),
            _ => None,
        };
        json!({
            "deployment": self.deployment,
            "eligible": full.is_none() && !matches!(self.says, Says::Held(_)),
            "probe": matches!(self.says, Says::Probe(..)),
            "request_id": pass.map(|pass| &pass.id),
            "reason": by.map(HoldRecord::reason).or(full.map(|_| NEAR_LIMIT)),
            "kind": by.map(HoldRecord::kind),
            "until": until.map(rfc3339),
            "provenance": by.map(HoldRecord::provenance).or(full.map(|tight| tight.provenance)),
            "evidence": by.map(|by| by.evidence().to_owned()).or(full.map(ToString::to_string)),
        })
    }

    /// One line: `ok` or `held`, then the deployment, then why and until when,
    /// each a word of its own.
    pub fn text(&self) -> String {
        let Self { deployment, now, .. } = self;
        match &self.says {
            Says::Free(None) => format!("ok {deployment}\n"),
            Says::Free(Some(pass)) => format!("ok {deployment} {} until {}\n", pass.id, seconds_of(pass.until)),
            Says::Full(tight) => {
                let until = tight.until.map_or("until nobody knows when".to_owned(), |at| until_text(at, *now));
                format!("held {deployment} {NEAR_LIMIT} {until}, {}: {tight}\n", tight.provenance)
            }
            Says::Probe(by, None) => format!("ok {deployment} as the one probe of its {}\n", why(by)),
            Says::Probe(by, Some(pass)) => {
                let until = seconds_of(pass.until);
                format!("ok {deployment} {} until {until}, as the one probe of its {}\n", pass.id, why(by))
            }
            Says::Held(by) => {
                let until = passes_at(by, *now).map(|at| until_text(at, *now));
                let until = until.unwrap_or_else(|| "until a person acts".to_owned());
                let note = match by {
                    by if by.is_by_hand() => "",
                    by if probing(by, *now) => ", its one probe is under way",
                    by if by.needs_a_person() => ", a person must act; a probe may look again then",
                    _ => "",
                };
                let said = excerpt(by.evidence(), QUOTE);
                let said = if said.is_empty() { said } else { format!(": {said}") };
                format!("held {deployment} {} {until}{note}, {}{said}\n", why(by), by.provenance())
            }
        }
    }

    /// What the person can do about it.
    pub fn hint(&self) -> Option<String> {
        let Self { deployment, now, .. } = self;
        match &self.says {
            Says::Probe(_, Some(pass)) => Some(format!(
                "say what comes of it: `llmr record {deployment} --request-id {} …`; who else asks before then waits for it",
                pass.id
            )),
            Says::Held(by) if by.is_by_hand() => {
                Some(format!("somebody holds it by hand; `llmr reset {}` lifts that", selector_of(by.scope())))
            }
            Says::Held(by) if by.needs_a_person() && !probing(by, *now) => {
                Some(format!("mend the cause, then `llmr reset {deployment}` lets it be asked again at once"))
            }
            _ => None,
        }
    }
}

fn why(by: &HoldRecord) -> String {
    if by.is_by_hand() { "by hand".to_owned() } else { format!("{} {}", by.class(), by.kind()) }
}
