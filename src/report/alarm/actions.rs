//! What a person can do now, chosen by what the steps died of.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{Class, Target};
use crate::ladder::SkipReason;
use crate::report::moment::span;
use crate::route::{Died, LadderLook};

use super::exhausted;

/// A step that is back within this time can be waited for.
const WORTH_WAITING: Duration = Duration::from_secs(3600);

/// Of what to do first: who needs a person, then who needs patience.
const ORDER: &[Class] = &[
    Class::Billing,
    Class::Auth,
    Class::Permission,
    Class::ModelUnavailable,
    Class::QuotaExhausted,
    Class::RateLimit,
    Class::Overloaded,
    Class::ServerError,
    Class::Timeout,
    Class::Network,
    Class::Unknown,
];

/// What can be done for a ladder, each thing once.
pub(super) fn for_steps(look: &LadderLook, first: Option<Timestamp>, now: Timestamp) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |action: String| {
        if !all.contains(&action) {
            all.push(action);
        }
    };
    for class in ORDER {
        let dead = look.steps.iter().filter(|step| step.died.class() == Some(*class));
        dead.filter_map(|step| for_class(*class, &step.target, is_held(&step.died))).for_each(&mut add);
    }
    for step in look.steps.iter().filter(|step| step.died.is_by_hand()) {
        add(by_hand(&step.target.deployment.to_string()));
    }
    for step in &look.steps {
        if let Died::Skipped(skip) = &step.died
            && let SkipReason::NoKey(why) = &skip.reason
        {
            add(format!("give {} its key: {why}", step.target.deployment));
        }
    }
    if let (None, Some(step)) = (first, exhausted::unheld(&look.steps).next()) {
        add(format!("ask again at any time: nothing is held for {}", step.target.deployment));
    }
    let wait = first.and_then(|at| Duration::try_from(at.duration_since(now)).ok());
    if let Some(wait) = wait.filter(|wait| *wait <= WORTH_WAITING) {
        let minutes = Duration::from_secs(wait.as_secs() / 60 * 60 + 60);
        add(format!(
            "let requests wait for the first that is back: `llmr chat --wait {}`",
            span(minutes).replace(' ', "")
        ));
    }
    add("add a step that shares nothing with these: another provider, or a model on your own machine as `last_resort`"
        .to_owned());
    add(match &look.request_id {
        Some(id) => format!("`llmr log {id}` shows all that was said, `llmr status` how things stand"),
        None => "`llmr status` shows how things stand".to_owned(),
    });
    all
}

/// Whether there is a hold that a reset ends.
fn is_held(died: &Died) -> bool {
    match died {
        Died::Held(_) | Died::Probe(_) => true,
        Died::Failed(attempt) => attempt.held_until.is_some(),
        Died::Skipped(skip) => matches!(skip.reason, SkipReason::Held { .. }),
        Died::Full(_) | Died::Free => false,
    }
}

/// What ends a hold by hand.
pub(super) fn by_hand(selector: &str) -> String {
    format!("`llmr reset {selector}` ends what is held by hand")
}

/// What can be done against one cause at one place; a reset only where something is held.
pub(super) fn for_class(class: Class, target: &Target, is_held: bool) -> Option<String> {
    let Target { deployment, account, .. } = target;
    let (provider, model) = (&deployment.provider, &deployment.model);
    let key = deployment
        .credential
        .as_ref()
        .map_or(format!("the key of {provider}"), |name| format!("key {name} of {provider}"));
    let reset = |before: &str, after: &str| match is_held {
        true => format!("{before}`llmr reset {deployment}`{after}"),
        false => String::new(),
    };
    Some(match class {
        Class::Billing => format!("pay: top up account {account} at {provider}{}", reset(", then ", "")),
        Class::Auth => format!("replace {key}{}", reset(": a new one is tried at once; for the same one ", "")),
        Class::Permission => format!("let {key} use {model}, or take another model{}", reset(", then ", "")),
        Class::ModelUnavailable => {
            format!("name another model instead of {provider}/{model}{}", reset(", or ", " if it is back"))
        }
        Class::QuotaExhausted => {
            let early = reset("; if it is back early, ", "");
            format!("raise the quota of account {account} at {provider}, or wait{early}")
        }
        Class::RateLimit => format!("ask {provider} less often, or raise its limit; `[[caps]]` keeps below it"),
        Class::Overloaded | Class::ServerError | Class::Timeout | Class::Network => {
            let well = reset("; when it is well, ", &format!(" or `llmr probe {provider}`"));
            format!("look at the status page of {provider}{well}")
        }
        Class::Unknown => {
            "`llmr log --class unknown` shows the failure that no rule knows; a `[[rules]]` entry names it".to_owned()
        }
        _ => return None,
    })
}
