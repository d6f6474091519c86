//! Times in which nobody is to be told.

use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};

use super::AlarmKind;

/// A time of the day, by the clocks of a place, in which nothing is told but what is excepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quiet {
    /// When it begins.
    pub from: Time,
    /// When it ends: on the next day, unless that is later than its beginning. With both the same it lasts a day.
    pub to: Time,
    /// Whose clocks count.
    pub zone: TimeZone,
    /// On which days it begins; on all when none is named.
    pub days: Vec<Weekday>,
    /// What is told all the same.
    pub except: Vec<AlarmKind>,
}

/// More quiet times than this, one after the other, are taken for quiet that never ends.
const MOST: usize = 64;

/// When the quiet times are over in which something of this kind is not told now; none when it is told.
pub(super) fn ends(all: &[Quiet], kind: AlarmKind, now: Timestamp) -> Option<Timestamp> {
    let meant = || all.iter().filter(|quiet| !quiet.except.contains(&kind));
    let mut until = now;
    // One may end within another.
    for _ in 0..MOST {
        match meant().filter_map(|quiet| quiet.end(until)).max() {
            Some(later) if later > until => until = later,
            _ => break,
        }
    }
    (until > now).then_some(until)
}

impl Quiet {
    /// When the one ends that lasts at this moment; none when none does.
    fn end(&self, now: Timestamp) -> Option<Timestamp> {
        let local = now.to_zoned_datetime(self.zone.clone());
        let time = local.time();
        let begins_on = |day: &ZonedDateTime| self.days.is_empty() || self.days.contains(&day.weekday());
        let over_midnight = self.to <= self.from;
        let at = |day: ZonedDateTime| day.with().time(self.to).build().ok().map(|end| end.timestamp());
        if time >= self.from && (over_midnight || time < self.to) && begins_on(&local) {
            return at(if over_midnight { local.tomorrow().ok()? } else { local });
        }
        if over_midnight && time < self.to && begins_on(&local.yesterday().ok()?) {
            return at(local);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::zone;

    fn quiet(from: i8, to: i8, days: &[Weekday], except: &[AlarmKind]) -> Quiet {
        let time = |hour| Time::new(hour, 0, 0, 0).expect("a time");
        let zone = zone("Europe/Berlin").expect("a zone");
        Quiet { from: time(from), to: time(to), zone, days: days.to_vec(), except: except.to_vec() }
    }

    #[test]
    fn nights_and_weekends_end_when_the_clocks_of_the_place_say_so() {
        use Weekday::{Friday, Saturday, Sunday};
        let (night, noon) = (quiet(22, 7, &[], &[AlarmKind::Exhausted]), quiet(12, 13, &[], &[]));
        let weekend = quiet(0, 0, &[Saturday, Sunday], &[]);
        let friday = quiet(22, 7, &[Friday], &[]);
        for (all, now, end) in [
            // 2026-08-23 is a Sunday; Berlin is two hours ahead.
            (vec![night.clone()], "2026-08-23T19:59:59Z", None),
            (vec![night.clone()], "2026-08-23T20:00:00Z", Some("2026-08-24T05:00:00Z")),
            (vec![night.clone()], "2026-08-24T04:59:59Z", Some("2026-08-24T05:00:00Z")),
            (vec![night.clone()], "2026-08-24T05:00:00Z", None),
            (vec![noon.clone()], "2026-08-24T10:30:00Z", Some("2026-08-24T11:00:00Z")),
            (vec![noon], "2026-08-24T11:00:00Z", None),
            (vec![weekend.clone()], "2026-08-21T21:59:59Z", None),
            (vec![weekend.clone()], "2026-08-21T22:00:00Z", Some("2026-08-23T22:00:00Z")),
            (vec![weekend, night.clone()], "2026-08-21T23:00:00Z", Some("2026-08-24T05:00:00Z")),
            (vec![friday.clone()], "2026-08-22T04:00:00Z", Some("2026-08-22T05:00:00Z")),
            (vec![friday], "2026-08-23T04:00:00Z", None),
            // The night in which the clocks are put back has an hour more.
            (vec![night.clone()], "2026-10-24T22:00:00Z", Some("2026-10-25T06:00:00Z")),
            (vec![quiet(0, 0, &[], &[])], "2026-08-21T21:59:59Z", Some("2026-10-23T22:00:00Z")),
        ] {
            let now: Timestamp = now.parse().expect("a time");
            let told = ends(&all, AlarmKind::Hold, now);
            assert_eq!(told, end.map(|end| end.parse().expect("a time")), "{now}");
        }
        let midnight = "2026-08-23T23:00:00Z".parse().expect("a time");
        assert_eq!(ends(&[night], AlarmKind::Exhausted, midnight), None, "it is excepted");
    }
}
