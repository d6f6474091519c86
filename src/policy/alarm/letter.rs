//! One message to one sink, until it is delivered or given up.
//!
//! It is written in the same transaction as what it tells of, so neither is without the other. Who comes first takes it
//! with a lease that ends by itself: of many one delivers it, and one that is killed in between has only lent it. It can
//! therefore arrive twice, when somebody dies between the delivery and its note; it never arrives not at all without
//! anybody seeing it. Its id is the same at each try.

use std::time::Duration;

use jiff::Timestamp;

use super::super::backoff::doubled;
use super::super::record::Lease;
use super::super::until::later;
use super::{AlarmEvent, AlarmKind, AlarmSettings};
use super::{FromStr, ParseNameError, fmt, words};

/// The pause after the first failure; it doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(30);

/// The longest pause.
pub(in super::super) const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// News of yesterday is no alarm.
const OLDEST: Duration = Duration::from_secs(24 * 3600);

words! {
    /// Where messages go.
    Sink, "sink of the alarm",
    /// The program of the config.
    Command = "command",
    /// The URL of the config.
    Webhook = "webhook",
}

words! {
    /// How a message ended.
    LetterEnd, "end of a message",
    /// The sink took it.
    Delivered = "delivered",
    /// It was tried often enough, or has become too old.
    GivenUp = "given_up",
}

/// A message to one sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The same for all sinks and tries.
    pub id: String,
    /// Where it goes.
    pub sink: Sink,
    /// What it tells.
    pub event: AlarmEvent,
    /// Of which kind of alarm.
    pub kind: AlarmKind,
    /// Of whom.
    pub subject: String,
    /// When it was written.
    pub at: Timestamp,
    /// The whole message as JSON.
    pub body: String,
    /// How often it was tried, with the try under way.
    pub tries: u32,
    /// When it is to be tried.
    pub due_at: Timestamp,
    /// Who tries it now.
    pub lease: Option<Lease>,
    /// How it ended, and when.
    pub end: Option<(LetterEnd, Timestamp)>,
    /// What the latest try met.
    pub error: Option<String>,
}

impl Letter {
    /// The letter once it was taken.
    #[must_use]
    pub fn delivered(self, now: Timestamp) -> Self {
        Self { lease: None, end: Some((LetterEnd::Delivered, now)), ..self }
    }

    /// The letter after a try that failed: it waits for the next one, or is given up. `unit` is a drawn number in 0..1.
    #[must_use]
    pub fn failed(self, error: String, settings: &AlarmSettings, unit: f64, now: Timestamp) -> Self {
        let too_old = later(self.at, OLDEST) <= now;
        let is_over = self.tries >= settings.tries || too_old;
        let pause = doubled(FIRST_PAUSE, LONGEST_PAUSE, self.tries.saturating_sub(1));
        Self {
            lease: None,
            due_at: later(now, pause.mul_f64(1.0 + 0.2 * unit.clamp(0.0, 1.0))),
            end: is_over.then_some((LetterEnd::GivenUp, now)),
            error: Some(error),
            ..self
        }
    }

    /// Whether it is to be tried now. What is due much later than any pause was written by a clock that ran ahead, and so
    /// was a lease that ends much later than any delivery.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let far = later(now, LONGEST_PAUSE * 2);
        let is_held = self.lease.as_ref().is_some_and(|lease| lease.until > now && lease.until <= far);
        self.end.is_none() && !is_held && (self.due_at <= now || self.due_at > far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + second).expect("a time")
    }

    fn letter() -> Letter {
        Letter {
            id: "alarm_1".to_owned(),
            sink: Sink::Webhook,
            event: AlarmEvent::Raised,
            kind: AlarmKind::Exhausted,
            subject: "main".to_owned(),
            at: at(0),
            body: "{}".to_owned(),
            tries: 0,
            due_at: at(0),
            lease: None,
            end: None,
            error: None,
        }
    }

    #[test]
    fn pauses_double_until_it_is_given_up() {
        let settings = AlarmSettings { tries: 4, ..AlarmSettings::default() };
        let (mut letter, mut now, mut pauses) = (letter(), at(0), Vec::new());
        while letter.end.is_none() {
            letter.tries += 1;
            letter = letter.failed("500".to_owned(), &settings, 0.0, now);
            pauses.push(letter.due_at.duration_since(now).as_secs());
            now = letter.due_at;
        }
        assert_eq!(pauses, [30, 60, 120, 240]);
        assert_eq!(letter.end.map(|(end, _)| end), Some(LetterEnd::GivenUp));
        assert!(!letter.is_due(at(999_999)));
    }

    #[test]
    fn news_of_yesterday_is_given_up_and_a_lease_ends_by_itself() {
        let settings = AlarmSettings { tries: 100, ..AlarmSettings::default() };
        let tried = Letter { tries: 90, ..letter() };
        assert_eq!(tried.clone().failed(String::new(), &settings, 1.0, at(86_399)).end, None);
        assert!(tried.failed(String::new(), &settings, 1.0, at(86_400)).end.is_some());
        let lent = Letter { lease: Some(Lease { holder: "p".into(), until: at(40) }), ..letter() };
        assert_eq!([lent.is_due(at(39)), lent.is_due(at(40)), letter().is_due(at(-1))], [false, true, false]);
        let ahead =
            Letter { due_at: at(999_999), lease: Some(Lease { holder: "p".into(), until: at(999_999) }), ..lent };
        assert!(ahead.is_due(at(0)), "it was written by a clock that ran ahead");
        assert!(!letter().delivered(at(1)).is_due(at(2)));
    }
}
