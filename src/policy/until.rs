//! Which of two ends of a hold counts.
//!
//! While a hold lasts, more news of its end arrives: from calls that were already under way, from other processes, from
//! probes. Some of it is guesswork. Trust decides first and lateness second: whoever obeys the soonest word asks again
//! into the same limit, and whoever obeys the latest one can be benched for a day by a guess.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::Provenance;

/// An end and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// The end.
    pub(super) until: Timestamp,
    /// How it is known.
    pub(super) provenance: Provenance,
}

impl Known {
    /// The end that counts after `newer` arrives while this one still holds: the more trusted one, and of two equally
    /// trusted ones the later. So a shorter hint never shortens a hold that is known to be longer, a guess never
    /// replaces a fact, and a precise reset replaces a guess even when it is sooner.
    pub(super) fn and(self, newer: Self) -> Self {
        match newer.provenance.cmp(&self.provenance) {
            std::cmp::Ordering::Greater => newer,
            std::cmp::Ordering::Less => self,
            std::cmp::Ordering::Equal => Self { until: self.until.max(newer.until), ..self },
        }
    }
}

/// `now` plus a span, staying within what a time can hold.
pub(super) fn later(now: Timestamp, span: Duration) -> Timestamp {
    now.checked_add(span).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(second: i64, provenance: Provenance) -> Known {
        Known { until: Timestamp::from_second(second).expect("a time"), provenance }
    }

    #[test]
    fn trust_first_then_the_later_end() {
        use Provenance::{Documented, Fact, Guess};
        for (old, new, kept) in [
            (known(90, Fact), known(10, Fact), known(90, Fact)),
            (known(10, Fact), known(90, Fact), known(90, Fact)),
            (known(10, Fact), known(90, Guess), known(10, Fact)),
            (known(10, Documented), known(90, Guess), known(10, Documented)),
            (known(90, Guess), known(10, Fact), known(10, Fact)),
            (known(90, Documented), known(10, Fact), known(10, Fact)),
        ] {
            assert_eq!(old.and(new), kept, "{old:?} then {new:?}");
        }
    }
}
