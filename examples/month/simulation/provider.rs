//! The providers: what each of them truly has left, and what it says when it has nothing.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use llmr::catalog;
use llmr::clock::Rng;
use llmr::domain::Class;

/// What an exchange came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Answer,
    /// The allowance of the month or day is used up; it is back then.
    Spent {
        back: Timestamp,
    },
    /// The window of a minute is full; there is room then.
    Limited {
        back: Timestamp,
    },
    /// The provider's own trouble.
    Broken(Class),
}

/// One provider with its own state.
#[derive(Debug)]
pub(crate) enum Provider {
    /// So many requests in each calendar month.
    Monthly(Quota),
    /// So many requests in each day.
    Daily(Quota),
    /// So many requests within any minute.
    Minute { most: usize, taken: VecDeque<Timestamp> },
    /// Down for minutes or hours at a time, and wrong once in a while when it is up.
    Flaky { outages: Vec<Outage>, seed: u64 },
    /// Works.
    Last,
}

/// A counter that starts over when the calendar of its zone says so.
#[derive(Debug)]
pub(crate) struct Quota {
    zone: TimeZone,
    most: u32,
    used: u32,
    /// The period that was counted last.
    period: Option<(i16, i8, i8)>,
}

/// A time in which nothing works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outage {
    begins: Timestamp,
    ends: Timestamp,
    /// Whether calls hang until the caller gives up; otherwise they are refused at once.
    hangs: bool,
}

/// How long a caller waits for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

impl Quota {
    pub(crate) fn new(zone: &str, most: u32, used: u32) -> Self {
        Self { zone: catalog::zone(zone).expect("a zone"), most, used, period: None }
    }

    fn local(&self, now: Timestamp) -> ZonedDateTime {
        now.to_zoned_datetime(self.zone.clone())
    }

    /// Starts over when another period has begun.
    fn turn(&mut self, period: (i16, i8, i8)) {
        if self.period.is_some_and(|counted| counted != period) {
            self.used = 0;
        }
        self.period = Some(period);
    }
}

impl Provider {
    /// What somebody who asks now is told, and whether that uses something up.
    pub(crate) fn ask(&mut self, now: Timestamp) -> Reply {
        let reply = self.would_say(now);
        match self {
            Self::Monthly(quota) | Self::Daily(quota) if reply == Reply::Answer => quota.used += 1,
            Self::Minute { taken, .. } if reply == Reply::Answer => taken.push_back(now),
            _ => {}
        }
        reply
    }

    /// What somebody who asks now would be told.
    pub(crate) fn would_say(&mut self, now: Timestamp) -> Reply {
        match self {
            Self::Monthly(quota) => {
                let local = quota.local(now);
                quota.turn((local.year(), local.month(), 0));
                let next =
                    local.last_of_month().and_then(|last| last.tomorrow()).and_then(|first| first.start_of_day());
                quota.says(&next.expect("a next month"))
            }
            Self::Daily(quota) => {
                let local = quota.local(now);
                quota.turn((local.year(), local.month(), local.day()));
                let next = local.tomorrow().and_then(|day| day.start_of_day());
                quota.says(&next.expect("a next day"))
            }
            Self::Minute { most, taken } => {
                let minute = Duration::from_secs(60);
                while taken.front().is_some_and(|first| *first + minute <= now) {
                    taken.pop_front();
                }
                match taken.front() {
                    Some(first) if taken.len() >= *most => Reply::Limited { back: *first + minute },
                    _ => Reply::Answer,
                }
            }
            Self::Flaky { outages, seed } => match outage(outages, now) {
                Some(outage) if outage.hangs => Reply::Broken(Class::Timeout),
                Some(_) => Reply::Broken(Class::Overloaded),
                None if drawn(*seed, now) < 0.02 => Reply::Broken(Class::ServerError),
                None => Reply::Answer,
            },
            Self::Last => Reply::Answer,
        }
    }

    /// What makes it fail now, as a number that is another one for each new cause; none when nothing but bad luck does.
    pub(crate) fn cause(&mut self, now: Timestamp) -> Option<i64> {
        match (self.would_say(now), &*self) {
            (Reply::Answer, _) => None,
            (Reply::Spent { back } | Reply::Limited { back }, _) => Some(back.as_millisecond()),
            (Reply::Broken(_), Self::Flaky { outages, .. }) => outage(outages, now).map(|o| o.begins.as_millisecond()),
            (Reply::Broken(_), _) => None,
        }
    }
}

impl Quota {
    fn says(&self, next: &ZonedDateTime) -> Reply {
        if self.used < self.most { Reply::Answer } else { Reply::Spent { back: next.timestamp() } }
    }
}

fn outage(outages: &[Outage], now: Timestamp) -> Option<Outage> {
    outages.iter().copied().find(|outage| outage.begins <= now && now < outage.ends)
}

/// A number in 0..1 that depends on nothing but the seed and the second.
pub(crate) fn drawn(seed: u64, now: Timestamp) -> f64 {
    Rng::new(Some(seed ^ now.as_second().unsigned_abs().rotate_left(17))).unit()
}

/// Outages of three minutes to six hours, one or two a day.
pub(crate) fn outages(seed: u64, start: Timestamp, days: u32) -> Vec<Outage> {
    let mut rng = Rng::new(Some(seed ^ 0xf1a2));
    let end = start + Duration::from_secs(u64::from(days) * 86_400);
    let mut all = Vec::new();
    let mut at = start;
    while at < end {
        let begins = at + Duration::from_secs_f64(-rng.unit().max(1e-6).ln() * 14.0 * 3600.0);
        let ends = begins + Duration::from_secs_f64(180.0 * 120_f64.powf(rng.unit()));
        all.push(Outage { begins, ends, hangs: rng.unit() < 0.5 });
        at = ends;
    }
    all
}
