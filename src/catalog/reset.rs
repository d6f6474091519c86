//! The moment when an allowance comes back.
//!
//! A day is the day of the provider's zone, not 24 hours: it has 23 or 25 of them when the clocks change, and in some
//! zones the change happens at midnight itself, so that the day begins at 01:00. The zone database answers this; the
//! system's copy of it costs milliseconds to find, therefore the zones of the catalogue are compiled in and any other
//! comes from the bundled database. A rolling window and a bucket have no moment at which all is back; what is given
//! then is the latest one, counted from now.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp, ZonedDateTime};

use crate::domain::ParseNameError;

use super::cap::ResetClock;
use super::duration::{format_duration, parse_duration};

static LOS_ANGELES: TimeZone = jiff::tz::get!("America/Los_Angeles");
static NEW_YORK: TimeZone = jiff::tz::get!("America/New_York");
static SHANGHAI: TimeZone = jiff::tz::get!("Asia/Shanghai");
static BUNDLED: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The zone of that IANA name (`UTC`, `Europe/Berlin`), from the program itself; none when there is no such zone.
pub fn zone(name: &str) -> Option<TimeZone> {
    match name {
        "UTC" => Some(TimeZone::UTC),
        "America/Los_Angeles" => Some(LOS_ANGELES.clone()),
        "America/New_York" => Some(NEW_YORK.clone()),
        "Asia/Shanghai" => Some(SHANGHAI.clone()),
        _ => BUNDLED.get(name).ok(),
    }
}

impl ResetClock {
    /// The first moment after `now` at which the allowance is back, or, for windows and buckets, the last at which
    /// it can still be missing. None when only the provider or a person can say.
    pub fn next_reset(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Rolling { seconds } | Self::Refill { seconds } => {
                now.checked_add(SignedDuration::from_secs(i64::from(*seconds))).ok()
            }
            Self::Midnight { zone } => next_start(now, zone, ZonedDateTime::start_of_day, ZonedDateTime::tomorrow),
            Self::MonthStart { zone } => next_start(now, zone, start_of_month, |local| {
                let last = local.last_of_month()?;
                last.tomorrow()
            }),
            Self::Stated | Self::Never => None,
        }
    }
}

/// The first start of a period after `now`. Where a zone skipped a whole day, one step may not be enough.
fn next_start(
    now: Timestamp,
    zone: &TimeZone,
    start: impl Fn(&ZonedDateTime) -> Result<ZonedDateTime, jiff::Error>,
    next: impl Fn(&ZonedDateTime) -> Result<ZonedDateTime, jiff::Error>,
) -> Option<Timestamp> {
    let mut local = now.to_zoned_datetime(zone.clone());
    for _ in 0..3 {
        local = next(&local).ok()?;
        let at = start(&local).ok()?.timestamp();
        if at > now {
            return Some(at);
        }
    }
    None
}

fn start_of_month(local: &ZonedDateTime) -> Result<ZonedDateTime, jiff::Error> {
    local.first_of_month()?.start_of_day()
}

impl FromStr for ResetClock {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ParseNameError {
            text: text.to_owned(),
            wanted: "reset clock (rolling 1m, refill 1d, midnight ZONE, month ZONE, stated or never)",
        };
        let seconds = |text: &str| {
            let duration = parse_duration(text)?;
            u32::try_from(duration.as_secs()).ok().filter(|seconds| *seconds > 0)
        };
        match text.split_once(' ').map_or((text, ""), |(word, rest)| (word, rest.trim())) {
            ("rolling", rest) => seconds(rest).map(|seconds| Self::Rolling { seconds }),
            ("refill", rest) => seconds(rest).map(|seconds| Self::Refill { seconds }),
            ("midnight", name) => zone(name).map(|zone| Self::Midnight { zone }),
            ("month", name) => zone(name).map(|zone| Self::MonthStart { zone }),
            ("stated", "") => Some(Self::Stated),
            ("never", "") => Some(Self::Never),
            _ => None,
        }
        .ok_or_else(bad)
    }
}

impl fmt::Display for ResetClock {
    /// In the form that [`ResetClock::from_str`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = |seconds: &u32| format_duration(Duration::from_secs(u64::from(*seconds)));
        let name = |zone: &TimeZone| zone.iana_name().unwrap_or("UTC").to_owned();
        let text = match self {
            Self::Rolling { seconds } => format!("rolling {}", span(seconds)),
            Self::Refill { seconds } => format!("refill {}", span(seconds)),
            Self::Midnight { zone } => format!("midnight {}", name(zone)),
            Self::MonthStart { zone } => format!("month {}", name(zone)),
            Self::Stated => "stated".to_owned(),
            Self::Never => "never".to_owned(),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn next(clock: &str, now: &str) -> String {
        let clock: ResetClock = clock.parse().expect("a reset clock");
        clock.next_reset(now.parse().expect("a time")).map_or("-".to_owned(), |at| at.to_string())
    }

    #[test]
    fn the_next_reset_is_the_provider_s_own_midnight() {
        let la = "midnight America/Los_Angeles";
        for (clock, now, expected) in [
            (la, "2026-01-15T12:00:00Z", "2026-01-16T08:00:00Z"),
            (la, "2026-07-15T06:59:59Z", "2026-07-15T07:00:00Z"),
            // Clocks go ahead on 2026-03-08: the day has 23 hours.
            (la, "2026-03-08T07:59:59Z", "2026-03-08T08:00:00Z"),
            (la, "2026-03-08T08:00:00Z", "2026-03-09T07:00:00Z"),
            (la, "2026-03-08T10:00:00Z", "2026-03-09T07:00:00Z"),
            (la, "2026-03-09T06:59:59.999Z", "2026-03-09T07:00:00Z"),
            // Clocks go back on 2026-11-01: the day has 25 hours, and 01:30 happens twice.
            (la, "2026-11-01T06:59:59Z", "2026-11-01T07:00:00Z"),
            (la, "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z"),
            (la, "2026-11-01T08:30:00Z", "2026-11-02T08:00:00Z"),
            (la, "2026-11-01T09:30:00Z", "2026-11-02T08:00:00Z"),
            (la, "2026-12-31T12:00:00Z", "2027-01-01T08:00:00Z"),
            ("midnight UTC", "2028-02-28T23:59:59Z", "2028-02-29T00:00:00Z"),
            ("midnight UTC", "2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z"),
            ("midnight Asia/Shanghai", "2026-08-23T15:59:59Z", "2026-08-23T16:00:00Z"),
            ("midnight Asia/Kathmandu", "2026-08-23T12:00:00Z", "2026-08-23T18:15:00Z"),
            // The clocks change at midnight itself: the day begins at 01:00.
            ("midnight America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z"),
            // Midnight happens twice: the first one counts.
            ("midnight America/Havana", "2026-10-31T12:00:00Z", "2026-11-01T04:00:00Z"),
            // A day that never was.
            ("midnight Pacific/Apia", "2011-12-30T09:30:00Z", "2011-12-30T10:00:00Z"),
        ] {
            assert_eq!(next(clock, now), expected, "{clock} at {now}");
        }
    }

    #[test]
    fn months_begin_on_their_first_in_the_zone() {
        for (clock, now, expected) in [
            ("month UTC", "2026-01-31T23:59:59Z", "2026-02-01T00:00:00Z"),
            ("month UTC", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"),
            ("month UTC", "2028-02-29T12:00:00Z", "2028-03-01T00:00:00Z"),
            ("month UTC", "2026-12-01T00:00:01Z", "2027-01-01T00:00:00Z"),
            ("month America/Los_Angeles", "2026-11-01T06:00:00Z", "2026-11-01T07:00:00Z"),
            ("month America/Los_Angeles", "2026-11-01T08:00:00Z", "2026-12-01T08:00:00Z"),
            ("month America/Los_Angeles", "2026-03-31T20:00:00Z", "2026-04-01T07:00:00Z"),
        ] {
            assert_eq!(next(clock, now), expected, "{clock} at {now}");
        }
    }

    #[test]
    fn windows_and_buckets_are_back_at_the_latest_after_their_length() {
        assert_eq!(next("rolling 1m", "2026-03-08T09:59:30Z"), "2026-03-08T10:00:30Z");
        assert_eq!(next("refill 1d", "2026-03-08T09:00:00Z"), "2026-03-09T09:00:00Z");
        assert_eq!(next("stated", "2026-03-08T09:00:00Z"), "-");
        assert_eq!(next("never", "2026-03-08T09:00:00Z"), "-");
    }

    #[test]
    fn clocks_read_back_as_they_are_written() {
        for text in
            ["rolling 1m", "refill 1d", "midnight UTC", "month UTC", "midnight Europe/Berlin", "stated", "never"]
        {
            assert_eq!(text.parse::<ResetClock>().map(|clock| clock.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "rolling", "rolling 0s", "refill 5ms", "midnight", "midnight Mars/Olympus", "never ever"] {
            assert!(text.parse::<ResetClock>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_reset_lies_ahead_and_not_too_far(
            second in 946_684_800_i64..4_102_444_800,
            name in prop::sample::select(vec![
                "UTC", "America/Los_Angeles", "Asia/Shanghai", "America/Sao_Paulo", "America/Havana", "Pacific/Apia",
                "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran",
            ]),
        ) {
            let now = Timestamp::from_second(second).expect("a time");
            let zone = zone(name).expect("a zone");
            let day = ResetClock::Midnight { zone: zone.clone() }.next_reset(now).expect("a reset");
            prop_assert!(day > now && day.duration_since(now) <= SignedDuration::from_hours(49));
            let month = ResetClock::MonthStart { zone: zone.clone() }.next_reset(now).expect("a reset");
            prop_assert!(month >= day && month.duration_since(now) <= SignedDuration::from_hours(24 * 32));
            prop_assert_eq!(month.to_zoned_datetime(zone).day(), 1);
        }
    }
}
