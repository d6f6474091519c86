//! What is told of a ladder that fell through.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::policy::{Cascade, CascadeState};

use super::moment::{distance, rfc3339, seconds_of};

/// The value of `cascade` in JSON; null for a ladder of which nothing is remembered.
pub fn cascade_json(cascade: Option<&Cascade>) -> Value {
    let Some(cascade) = cascade else { return Value::Null };
    let is_closed = cascade.state == CascadeState::Closed;
    json!({
        "state": cascade.state.as_str(),
        "streak": cascade.streak,
        "since": rfc3339(cascade.since),
        "until": (!is_closed).then(|| rfc3339(cascade.until)),
    })
}

/// How a ladder stands, for people, in two pieces; none when requests go.
pub(super) fn cascade_pieces(cascade: &Cascade, now: Timestamp) -> Option<[String; 2]> {
    let Cascade { state, until, slots, .. } = cascade;
    let row = row(cascade);
    let may = match slots {
        1 => "one request may look".to_owned(),
        slots => format!("{slots} requests may go at the same time"),
    };
    match state {
        CascadeState::Closed => None,
        CascadeState::Open if *until <= now => Some([format!("OPEN after {row}"), format!("{may} now")]),
        CascadeState::Open => {
            let (at, away) = (seconds_of(*until), distance(*until, now));
            Some([format!("OPEN until {at} ({away}) after {row}"), format!("{may} then")])
        }
        CascadeState::Recovering => Some([format!("RECOVERING after {row}"), may]),
    }
}

/// How a ladder stands, for people, in one line.
pub fn cascade_line(cascade: &Cascade, now: Timestamp) -> String {
    let stands = cascade_pieces(cascade, now).map_or_else(|| row(cascade), |pieces| pieces.join("; "));
    format!("ladder {}: {stands}", cascade.ladder)
}

fn row(cascade: &Cascade) -> String {
    match cascade.streak {
        1 => "1 exhausted request".to_owned(),
        streak => format!("{streak} exhausted requests in a row"),
    }
}
