use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::moment::china;
use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

#[test]
fn durations_in_all_formats() {
    for (text, seconds) in [
        ("7m12s", 432.0),
        ("1m0.363142857s", 60.363_142_857),
        ("644ms", 0.644),
        ("161h39m41s", 581_981.0),
        ("14h29m11.04s", 52151.04),
        ("5 days 22 hours 11 minutes", 511_860.0),
        ("587 hours 33 minutes", 2_115_180.0),
        ("36s", 36.0),
        ("36.5s", 36.5),
        ("36", 36.0),
        ("0.5", 0.5),
        ("581981.300432511s", 581_981.300_432_511),
        ("22.14:18:12", 1_952_292.0),
        ("01:30:00", 5400.0),
        ("PT5M", 300.0),
        ("P1DT2H", 93600.0),
        ("2小时30分钟", 9000.0),
        ("30秒", 30.0),
        ("2時間", 7200.0),
        ("15초", 15.0),
        ("20 секунд", 20.0),
        ("3 Minuten", 180.0),
        ("45 secondes", 45.0),
        ("1 天", 86400.0),
        ("1 hour, 2 minutes and 3 seconds", 3723.0),
        ("17h 42m", 63720.0),
        ("250µs", 0.00025),
        ("2 weeks", 1_209_600.0),
        ("60 seconds.", 60.0),
    ] {
        let got = parse_duration(text).unwrap_or_else(|| panic!("{text}")).as_secs_f64();
        assert!((got - seconds).abs() < 1e-6, "{text}: {got}");
    }
}

#[test]
fn nonsense_is_absent_not_zero() {
    for text in [
        "",
        "-5",
        "-5s",
        "soon",
        "NaN",
        "inf",
        "1e400",
        "5 apples",
        "s",
        "367 days",
        "9999999999",
        "1:2",
        "P",
        "PT",
        "5m later",
        "1.2.3s",
    ] {
        assert_eq!(parse_duration(text), None, "{text}");
    }
}

#[test]
fn moments_in_all_formats() {
    let base = at("2026-04-01T12:00:00Z");
    let utc = ZoneGuess::Known(TimeZone::UTC);
    for (text, wanted) in [
        ("2026-07-14T07:49:08Z", "2026-07-14T07:49:08Z"),
        ("2026-07-14T07:49:08.123+08:00", "2026-07-13T23:49:08Z"),
        ("2026-08-03 23:59:59 +0800 CST.", "2026-08-03T15:59:59Z"),
        ("2026-07-14 07:49:08", "2026-07-14T07:49:08Z"),
        ("1777936568", "2026-05-04T23:16:08Z"),
        ("1777936568000", "2026-05-04T23:16:08Z"),
        ("Wed, 15 Apr 2026 13:31:10 GMT", "2026-04-15T13:31:10Z"),
        ("April 20, 2026 at 2:00 AM or switch", "2026-04-20T02:00:00Z"),
        ("Oct 6, 10am.", "2026-10-06T10:00:00Z"),
        ("2am (Australia/Sydney)", "2026-04-01T15:00:00Z"),
        ("3:45 PM", "2026-04-01T15:45:00Z"),
        ("11:00", "2026-04-02T11:00:00Z"),
        ("10 de jul. de 2026, 11:52.", "2026-07-10T11:52:00Z"),
        ("2026年8月25日 07:41:44 重置", "2026-08-25T07:41:44Z"),
        ("12:30am UTC", "2026-04-02T00:30:00Z"),
        ("Feb 3 at 5pm", "2027-02-03T17:00:00Z"),
        ("2026-05-01", "2026-05-01T00:00:00Z"),
    ] {
        assert_eq!(parse_moment(text, base, &utc), Some(at(wanted)), "{text}");
    }
}

#[test]
fn moments_without_a_zone_take_the_providers_or_the_later() {
    let base = at("2026-07-01T00:00:00Z");
    let text = "2026-07-14 07:49:08";
    assert_eq!(parse_moment(text, base, &ZoneGuess::Known(china())), Some(at("2026-07-13T23:49:08Z")));
    assert_eq!(parse_moment(text, base, &ZoneGuess::Latest), Some(at("2026-07-14T07:49:08Z")));
}

#[test]
fn moments_that_make_no_sense_are_absent() {
    let base = at("2026-04-01T12:00:00Z");
    for text in [
        "",
        "2026-03-31T00:00:00Z",
        "2028-01-01T00:00:00Z",
        "5",
        "May",
        "2026-13-40",
        "25:99",
        "later today",
        "2am (No/Where)",
    ] {
        let got = parse_moment(text, base, &ZoneGuess::Latest);
        assert!(got.is_none() || text.starts_with("2am"), "{text}: {got:?}");
    }
}

#[test]
fn hints_in_messages() {
    let base = at("2026-04-01T12:00:00Z");
    let wait = |text: &str| match find_hint(text, base, &ZoneGuess::Latest) {
        Some(Hint::After(wait)) => Some(wait.as_secs_f64()),
        _ => None,
    };
    for (text, seconds) in [
        ("Requested 1. Please try again in 7m12s. Visit https://x", 432.0),
        ("Please retry in 51.606382486s.", 51.606_382_486),
        ("please try again after 1 seconds", 1.0),
        ("slow down and try again after 51.84 seconds", 51.84),
        ("Please retry after 26 seconds.", 26.0),
        ("Please wait 587 hours 33 minutes before trying again.", 2_115_180.0),
        ("Quota will be replenished in 22.14:18:12", 1_952_292.0),
        ("queue full (reset after 3s)", 3.0),
        ("请在 30 秒后重试", 30.0),
        ("请求过于频繁，5分钟后再试", 300.0),
        ("or try again in 5 days 22 hours 11 minutes.", 511_860.0),
        ("retry_after: 12", 12.0),
    ] {
        assert_eq!(wait(text), Some(seconds), "{text}");
    }
    for text in [
        "Retrying in 4.0 seconds as it raised Timeout",
        "add credits [retrying in 17h 42m attempt #1]",
        "total retry wait time: 5.8 seconds",
        "Please wait a moment before trying again",
        "try again later",
        "'totalRetryDelay': 274",
    ] {
        assert_eq!(find_hint(text, base, &ZoneGuess::Latest), None, "{text}");
    }
    assert_eq!(
        find_hint("You will regain access on 2026-05-01 at 00:00 UTC.", base, &ZoneGuess::Latest),
        Some(Hint::At(at("2026-05-01T00:00:00Z")))
    );
    assert_eq!(
        find_hint("您的限额将在 2026-08-25 07:41:44 重置。", base, &ZoneGuess::Known(china())),
        Some(Hint::At(at("2026-08-24T23:41:44Z")))
    );
}

proptest::proptest! {
    #[test]
    fn durations_are_bounded_and_never_panic(text in "\\PC{0,60}", soup in "[0-9hmsd. :PT年秒-]{0,40}") {
        for text in [text, soup] {
            if let Some(duration) = parse_duration(&text) {
                assert!(duration <= LONGEST);
            }
        }
    }

    #[test]
    fn go_durations_round_trip(hours in 0_u64..2000, minutes in 0_u64..60, seconds in 0_u64..60, millis in 0_u64..1000) {
        let wanted = Duration::from_millis(((hours * 60 + minutes) * 60 + seconds) * 1000 + millis);
        let got = parse_duration(&format!("{hours}h{minutes}m{seconds}.{millis:03}s")).expect("a duration");
        assert!(got.abs_diff(wanted) < Duration::from_millis(1));
    }

    #[test]
    fn moments_are_bounded_and_never_panic(text in "\\PC{0,60}", soup in "[0-9apmT:/ ,+.-]{0,40}", second in 0_i64..4_000_000_000) {
        let base = Timestamp::from_second(second).expect("a time");
        for text in [text, soup] {
            if let Some(moment) = parse_moment(&text, base, &ZoneGuess::Latest) {
                assert!(moment >= base && moment.duration_since(base) <= LONGEST.try_into().expect("a span"));
            }
            find_hint(&format!("try again at {text}"), base, &ZoneGuess::Latest);
        }
    }
}
