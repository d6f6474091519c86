//! A ladder of which no step can answer.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::ladder::SkipReason;
use crate::policy::{HoldRecord, Words};
use crate::report::moment::{distance, rfc3339, seconds_of};
use crate::route::{Died, LadderLook, StepLook};

use super::{BY_HAND, actions, in_words, inert, known_by, said, time, why};

/// So many steps are told one by one.
const MOST: usize = 40;

/// What there is to say of it.
pub(super) fn words(look: &LadderLook, now: Timestamp) -> Words {
    let first = first_back(&look.steps);
    let summary = inert(&summary(look, first, now));
    let mut text = format!("{summary}\n\nWhat its steps died of:\n");
    for (at, step) in look.steps.iter().enumerate().take(MOST) {
        text.push_str(&format!("{at}  {}: {}\n", step.target.deployment, line(step, now)));
    }
    if look.steps.len() > MOST {
        text.push_str(&format!("…  and {} more: `llmr status` lists them\n", look.steps.len() - MOST));
    }
    text.push_str(&format!("\nBack first: {}\n", first_line(look, first, now)));
    let actions = actions::for_steps(look, first.map(|(_, at)| at), now);
    text.push_str("\nWhat you can do now:\n");
    actions.iter().for_each(|action| text.push_str(&format!("- {action}\n")));
    let details = json!({
        "ladder": look.ladder,
        "ladders": [look.ladder],
        "request_id": look.request_id,
        "retry_at": time(first.map(|(_, at)| at)),
        "first": first.map(|(step, _)| step.target.deployment.to_string()),
        "steps": look.steps.iter().take(MOST).enumerate().map(|(at, step)| step_json(at, step)).collect::<Vec<_>>(),
        "actions": actions,
    });
    Words { summary, text, details: details.to_string() }
}

/// The step that returns first by itself, and when. What a person must mend does not.
fn first_back(steps: &[StepLook]) -> Option<(&StepLook, Timestamp)> {
    let back = |step| {
        let step: &StepLook = step;
        (!step.died.needs_a_person()).then(|| step.died.back().map(|(at, _)| (step, at))).flatten()
    };
    steps.iter().filter_map(back).min_by_key(|(_, at)| *at)
}

/// The steps that failed just now and for which nothing is held: the next request asks them again.
pub(super) fn unheld(steps: &[StepLook]) -> impl Iterator<Item = &StepLook> {
    let is_unheld = |step: &&StepLook| match &step.died {
        Died::Failed(attempt) => attempt.held_until.is_none() && !step.died.needs_a_person(),
        _ => false,
    };
    steps.iter().filter(is_unheld)
}

fn summary(look: &LadderLook, first: Option<(&StepLook, Timestamp)>, now: Timestamp) -> String {
    let all = match look.steps.len() {
        1 => "its one step cannot answer".to_owned(),
        many => format!("none of its {many} steps can answer"),
    };
    let person = look.steps.iter().all(|step| step.died.needs_a_person());
    let unheld: Vec<&StepLook> = unheld(&look.steps).collect();
    let when = match (first, unheld.as_slice()) {
        (Some((step, at)), _) => {
            let who = &step.target.deployment;
            format!("{who} is back first, {}, at {}", distance(at, now), seconds_of(at))
        }
        (None, [_]) if look.steps.len() == 1 => "it may be asked again at any time".to_owned(),
        (None, all) if all.len() == look.steps.len() => "they may be asked again at any time".to_owned(),
        (None, [step, ..]) => format!("{} may be asked again at any time", step.target.deployment),
        (None, []) if person => "a person must act".to_owned(),
        (None, []) => "nobody knows when the first is back".to_owned(),
    };
    format!("llmr: ladder {} is exhausted: {all}, {when}", look.ladder)
}

fn first_line(look: &LadderLook, first: Option<(&StepLook, Timestamp)>, now: Timestamp) -> String {
    let Some((step, at)) = first else {
        return match unheld(&look.steps).next() {
            Some(step) => format!("{}, at any time: nothing is held for it", step.target.deployment),
            None => "nobody by itself, as far as is known".to_owned(),
        };
    };
    let by = step.died.back().map_or("", |(_, provenance)| known_by(provenance));
    format!("{}, {} at {} ({by})", step.target.deployment, distance(at, now), seconds_of(at))
}

/// What one step died of, until when, and who says so.
pub(super) fn line(step: &StepLook, now: Timestamp) -> String {
    match &step.died {
        Died::Held(record) => {
            let why = why(record);
            format!("{why}{}, {}{}", limit(record), until(&step.died, now), said(record.evidence()))
        }
        Died::Full(tight) => {
            let back = tight.until.map_or(String::new(), |at| format!(", {}", back(at, now)));
            format!("too near its limit, {}{back}", tight.reading())
        }
        Died::Failed(attempt) => {
            let class = attempt.class.map_or("it failed", in_words);
            let status = attempt.status.map_or(String::new(), |status| format!(" (status {status})"));
            let rests = attempt.held_until.map_or("nothing is held for it".to_owned(), |at| back(at, now));
            format!("{class}{status}, {rests}{}", said(attempt.evidence.as_deref().unwrap_or_default()))
        }
        Died::Skipped(skip) => {
            let evidence = match &skip.reason {
                SkipReason::Held { evidence, .. } => evidence.as_str(),
                _ => "",
            };
            let back = skip.until.map_or(String::new(), |at| format!(", {}", back(at, now)));
            format!("not asked: {}{back}{}", skip.reason, said(evidence))
        }
        Died::Probe(record) => format!("{}, one request may look whether it is back", why(record)),
        Died::Free => "was not asked, and can be".to_owned(),
    }
}

/// Which limit, where that is known.
fn limit(record: &HoldRecord) -> String {
    use crate::domain::Dimension::Other;
    let dimension = match record {
        HoldRecord::Cooldown(cooldown) => cooldown.dimension,
        HoldRecord::Quarantine(quarantine) => quarantine.dimension,
        HoldRecord::Circuit(_) => Other,
    };
    if dimension == Other { String::new() } else { format!(" ({dimension})") }
}

fn until(died: &Died, now: Timestamp) -> String {
    let Some((at, provenance)) = died.back() else { return "until a person acts".to_owned() };
    let by = known_by(provenance);
    match died.needs_a_person() {
        true => format!("until a person acts; looked at again {}", distance(at, now)),
        false => format!("{} ({by})", back(at, now)),
    }
}

fn back(at: Timestamp, now: Timestamp) -> String {
    format!("back {} at {}", distance(at, now), seconds_of(at))
}

fn step_json(at: usize, step: &StepLook) -> Value {
    let evidence = match &step.died {
        Died::Held(record) | Died::Probe(record) => Some(record.evidence().to_owned()),
        Died::Failed(attempt) => attempt.evidence.clone(),
        Died::Skipped(skip) => Some(skip.reason.to_string()),
        Died::Full(tight) => Some(tight.reading()),
        Died::Free => None,
    };
    let known = step.died.back();
    json!({
        "step": at,
        "deployment": step.target.deployment,
        "account": step.target.account,
        "class": step.died.class(),
        "why": if step.died.is_by_hand() { Some(BY_HAND) } else { step.died.class().map(in_words) },
        "until": known.map(|(at, _)| rfc3339(at)),
        "provenance": known.map(|(_, provenance)| provenance),
        "needs_a_person": step.died.needs_a_person(),
        "evidence": evidence.map(|evidence| crate::domain::excerpt(&evidence, super::SAID)),
    })
}
