//! A hold that lasts.

use jiff::Timestamp;
use serde_json::json;

use crate::domain::{Deployment, ModelName, Target};
use crate::policy::{Words, returns_at};
use crate::report::moment::{distance, rfc3339, seconds_of};
use crate::report::{hold_id, selector_of};
use crate::route::HoldLook;

use super::{actions, inert, known_by, said, time, why};

/// What there is to say of it.
pub(super) fn words(look: &HoldLook, now: Timestamp) -> Words {
    let record = &look.held.record;
    let (scope, class, why) = (record.scope(), record.class(), why(record));
    let person = record.needs_a_person();
    let until = match returns_at(record) {
        Some(at) if !person => format!("back {}, at {}", distance(at, now), seconds_of(at)),
        _ => "a person must act".to_owned(),
    };
    let summary = inert(&format!("llmr: {scope} is held: {why}, {until}"));
    let on = match look.ladders.as_slice() {
        [] => "no ladder of this config has a step under it".to_owned(),
        ladders => {
            let names: Vec<String> = ladders.iter().map(ToString::to_string).collect();
            format!("it has steps on {}", names.join(", "))
        }
    };
    let next = returns_at(record).filter(|_| person);
    let next = next.map_or(String::new(), |at| format!("It is looked at again {}.\n", distance(at, now)));
    let known = known_by(record.provenance());
    let mut text = format!(
        "{summary}\n\n{} since {} ({known}){}\n{next}Other steps are asked meanwhile; {on}.\n",
        record.reason(),
        seconds_of(record.since()),
        said(record.evidence())
    );
    let action = match record.is_by_hand() {
        true => Some(actions::by_hand(&selector_of(scope).to_string())),
        false => actions::for_class(class, &target(look), true),
    };
    let actions: Vec<String> = action.into_iter().chain(["`llmr status` shows how things stand".to_owned()]).collect();
    text.push_str("\nWhat you can do now:\n");
    actions.iter().for_each(|action| text.push_str(&format!("- {action}\n")));
    let details = json!({
        "id": hold_id(&look.held),
        "hold": record.kind().as_str(),
        "scope": scope.to_string(),
        "class": class,
        "why": why,
        "since": rfc3339(record.since()),
        "until": time(returns_at(record)),
        "provenance": record.provenance(),
        "needs_a_person": person,
        "evidence": crate::domain::excerpt(record.evidence(), super::SAID),
        "request_id": record.request_id(),
        "ladders": look.ladders,
        "actions": actions,
    });
    Words { summary, text, details: details.to_string() }
}

/// What the hold covers, as if it were one deployment.
fn target(look: &HoldLook) -> Target {
    let scope = look.held.record.scope();
    let any = || ModelName::new("*");
    Target {
        deployment: Deployment {
            provider: scope.provider.clone(),
            model: scope.model.clone().unwrap_or_else(any),
            credential: scope.credential.clone(),
        },
        account: scope.account.clone().unwrap_or_else(|| scope.provider.as_str().into()),
        region: scope.region.clone(),
    }
}
