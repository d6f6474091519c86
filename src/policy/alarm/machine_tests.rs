//! Raised once, told once, healed once, whatever comes in which order.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Time;
use proptest::prelude::*;

use super::{Alarm, AlarmEvent, AlarmKind, AlarmSettings, Quiet, Sighting, Standing, Words, reconcile};

const MAIN: (AlarmKind, &str) = (AlarmKind::Exhausted, "main");
const HOLD: (AlarmKind, &str) = (AlarmKind::Hold, "circuit openai billing");

const MET: Standing = Standing::Bad { met: 1 };
const STANDS: Standing = Standing::Bad { met: 0 };

fn at(second: i64) -> Timestamp {
    // 2026-08-23T03:00:00Z
    Timestamp::from_second(1_787_454_000 + second).expect("a time")
}

fn seen((kind, subject): (AlarmKind, &str), standing: Standing) -> Sighting {
    let words = Words { summary: subject.to_owned(), ..Words::default() };
    let ladders = if subject == "main" { Vec::new() } else { vec!["main".to_owned()] };
    let subject = subject.to_owned();
    Sighting { kind, subject, standing, answered_at: None, ladders, until: None, words }
}

/// What is known, and who looks at it.
#[derive(Default)]
struct World {
    alarms: Vec<Alarm>,
    settings: AlarmSettings,
}

impl World {
    /// One look, and what it tells.
    fn look(&mut self, second: i64, seen: &[Sighting]) -> Vec<String> {
        let told = reconcile(&self.alarms, seen, &self.settings, at(second));
        for alarm in told.alarms {
            self.alarms.retain(|known| !known.is(alarm.kind, &alarm.subject));
            self.alarms.push(alarm);
        }
        told.tell.iter().map(|telling| format!("{} {}", telling.event, telling.alarm.kind)).collect()
    }

    fn of(&self, (kind, subject): (AlarmKind, &str)) -> &Alarm {
        self.alarms.iter().find(|alarm| alarm.is(kind, subject)).expect("it is known")
    }
}

fn night(except: &[AlarmKind]) -> Quiet {
    let time = |hour| Time::new(hour, 0, 0, 0).expect("a time");
    Quiet { from: time(2), to: time(4), zone: jiff::tz::TimeZone::UTC, days: Vec::new(), except: except.to_vec() }
}

#[test]
fn an_exhausted_ladder_is_told_once_and_its_end_once() {
    let mut world = World::default();
    assert_eq!(world.look(0, &[seen(MAIN, MET)]), ["raised exhausted"]);
    for second in 1..20 {
        assert_eq!(world.look(second, &[seen(MAIN, MET)]), [""; 0]);
    }
    assert_eq!(world.of(MAIN).count, 20);
    assert_eq!(world.look(20, &[seen(MAIN, Standing::Doubtful)]), [""; 0]);
    assert_eq!(world.look(21, &[seen(MAIN, Standing::Well)]), ["healed exhausted"]);
    assert_eq!(world.look(22, &[seen(MAIN, Standing::Well)]), [""; 0]);
    assert_eq!(reconcile(&world.alarms, &[seen(MAIN, Standing::Better)], &world.settings, at(23)).alarms, []);
}

#[test]
fn what_only_looks_over_must_look_so_for_some_minutes() {
    let mut world = World::default();
    world.look(0, &[seen(MAIN, STANDS)]);
    for (second, standing, told) in [
        (10, Standing::Better, 0),
        (300, Standing::Better, 0),
        (305, Standing::Doubtful, 0),
        (310, Standing::Better, 0),
        (600, Standing::Better, 0),
        (610, Standing::Better, 1),
    ] {
        assert_eq!(world.look(second, &[seen(MAIN, standing)]).len(), told, "after {second} s");
    }
    // A probe was answered after it was met last.
    let mut world = World::default();
    world.look(0, &[seen(MAIN, STANDS)]);
    let probed = |second| Sighting { answered_at: Some(at(second)), ..seen(MAIN, Standing::Better) };
    assert_eq!(world.look(5, &[probed(0)]), [""; 0]);
    assert_eq!(world.look(6, &[probed(5)]), ["healed exhausted"]);
}

#[test]
fn a_ladder_that_comes_and_goes_is_told_ever_more_rarely() {
    let mut world = World::default();
    let mut told = 0;
    for second in 0..3600 {
        let standing = if second % 2 == 0 { MET } else { Standing::Well };
        told += world.look(second, &[seen(MAIN, standing)]).len();
    }
    assert_eq!(told, 3, "raised, healed, raised again");
    assert_eq!(world.look(3601, &[seen(MAIN, Standing::Well)]), [""; 0]);
    assert_eq!(world.look(3718, &[seen(MAIN, Standing::Well)]), [""; 0]);
    assert_eq!(world.look(3719, &[seen(MAIN, Standing::Well)]), ["healed exhausted"]);
    assert_eq!(world.look(3719 + 1800, &[seen(MAIN, MET)]), ["raised exhausted"]);
    assert_eq!(world.look(3719 + 1801, &[seen(MAIN, Standing::Well)]), ["healed exhausted"], "that was another time");
}

#[test]
fn a_hold_is_over_when_it_is_gone_and_one_of_an_exhausted_ladder_is_told_with_it() {
    let mut world = World::default();
    assert_eq!(world.look(0, &[seen(HOLD, STANDS)]), ["raised hold"]);
    assert_eq!(world.look(1, &[seen(HOLD, Standing::Doubtful)]), [""; 0]);
    assert_eq!(world.look(2, &[]), ["healed hold"]);

    let mut world = World::default();
    assert_eq!(world.look(0, &[seen(MAIN, MET), seen(HOLD, STANDS)]), ["raised exhausted"]);
    assert_eq!(world.of(HOLD).part_of.as_deref(), Some("main"));
    let other = (AlarmKind::Hold, "circuit groq auth");
    let late = [seen(MAIN, MET), seen(HOLD, STANDS), seen(other, STANDS)];
    assert_eq!(world.look(1, &late), ["raised hold"], "the ladder's message did not speak of it");
    assert_eq!(world.look(1, &[seen(MAIN, MET), seen(HOLD, STANDS)]), ["healed hold"]);
    let told = reconcile(&world.alarms, &[seen(MAIN, Standing::Well), seen(HOLD, STANDS)], &world.settings, at(2));
    assert_eq!(told.tell[0].parts.len(), 1, "what still holds is said with the end");
    assert_eq!(told.tell[0].parts[0].subject, HOLD.1);
    assert_eq!(world.look(2, &[seen(MAIN, Standing::Well), seen(HOLD, STANDS)]), ["healed exhausted"]);
    assert_eq!(world.look(3, &[]), ["healed hold"], "it outlived the ladder's death");
    assert!(!world.of(HOLD).is_open());
    assert_eq!(world.look(9, &[seen(HOLD, STANDS)]), ["raised hold"]);
}

#[test]
fn a_hold_is_told_with_its_ladder_only_if_that_speaks_of_it() {
    let hour = Some(Duration::from_secs(3600));
    // When the hold comes, after the ladder was told at 0; what is told then, and an hour later.
    for (repeat, second, told) in [
        (None, 0, &[][..]),
        (None, 60, &["raised hold"]),
        (hour, 3599, &["raised hold"]),
        (hour, 3600, &["reminder exhausted"]),
    ] {
        let mut world = World { settings: AlarmSettings { repeat, ..AlarmSettings::default() }, ..World::default() };
        let first = if second == 0 { vec![seen(MAIN, STANDS), seen(HOLD, STANDS)] } else { vec![seen(MAIN, STANDS)] };
        assert_eq!(world.look(0, &first), ["raised exhausted"]);
        assert_eq!(world.look(second, &[seen(MAIN, STANDS), seen(HOLD, STANDS)]), told, "after {second} s");
        assert_eq!(world.of(HOLD).part_of.is_some(), told != ["raised hold"]);
    }
}

#[test]
fn a_hold_that_outlives_the_death_of_its_ladder_stands_for_itself() {
    let settings = AlarmSettings { repeat: Some(Duration::from_secs(3600)), ..AlarmSettings::default() };
    let mut world = World { settings, ..World::default() };
    assert_eq!(world.look(0, &[seen(MAIN, MET), seen(HOLD, STANDS)]), ["raised exhausted"]);
    assert_eq!(world.look(60, &[seen(MAIN, Standing::Well), seen(HOLD, STANDS)]), ["healed exhausted"]);
    assert_eq!((world.of(HOLD).part_of.clone(), world.of(HOLD).told_at), (None, Some(at(0))));
    assert_eq!(world.look(3600, &[seen(HOLD, STANDS)]), ["reminder hold"]);
    assert_eq!(world.look(3700, &[]), ["healed hold"]);

    // One that is over when the ladder is has no end of its own.
    let mut world = World::default();
    world.look(0, &[seen(MAIN, MET), seen(HOLD, STANDS)]);
    assert_eq!(world.look(60, &[seen(MAIN, Standing::Well)]), ["healed exhausted"]);
    assert!(!world.of(HOLD).is_open());

    // A config for which ladders do not ring leaves it to those for which they do.
    let mut world = World::default();
    world.look(0, &[seen(MAIN, MET), seen(HOLD, STANDS)]);
    world.settings.on = vec![AlarmKind::Hold];
    assert_eq!(world.look(1, &[seen(HOLD, STANDS)]), [""; 0]);
    assert_eq!(world.of(HOLD).part_of.as_deref(), Some("main"));
}

#[test]
fn what_is_told_later_says_how_it_stands_then() {
    let says = |words: &str, standing| Sighting {
        words: Words { summary: words.to_owned(), ..Words::default() },
        ..seen(MAIN, standing)
    };
    let hour = Some(Duration::from_secs(3600));
    let loud = AlarmSettings { repeat: hour, ..AlarmSettings::default() };
    let quiet = AlarmSettings { quiet: vec![night(&[])], ..AlarmSettings::default() };
    for settings in [loud, quiet] {
        for (standing, words, is_current) in [(STANDS, "late", true), (Standing::Doubtful, "first", false)] {
            let mut world = World { settings: settings.clone(), ..World::default() };
            world.look(0, &[says("first", STANDS)]);
            assert_eq!(world.look(60, &[says("between", STANDS)]), [""; 0]);
            assert_eq!(world.of(MAIN).words.summary, "first", "nothing is written for each look");
            let told = reconcile(&world.alarms, &[says("late", standing)], &world.settings, at(3600));
            let telling = &told.tell[0];
            assert_eq!((telling.alarm.words.summary.as_str(), telling.is_current), (words, is_current));
            assert_eq!(told.alarms[0].words.summary, words, "the list says the same");
        }
    }
}

#[test]
fn a_ladder_within_an_exhausted_one_is_told_with_it() {
    let mut world = World::default();
    let wide = (AlarmKind::Exhausted, "wide");
    assert_eq!(world.look(0, &[seen(wide, MET), seen(MAIN, MET), seen(HOLD, STANDS)]), ["raised exhausted"]);
    assert_eq!(world.of(wide).part_of.as_deref(), Some("main"));
    assert_eq!(world.of(HOLD).part_of.as_deref(), Some("main"));
    assert_eq!(world.look(1, &[seen(wide, Standing::Well), seen(MAIN, Standing::Well)]), ["healed exhausted"]);
    assert_eq!(world.look(9000, &[seen(wide, MET)]), ["raised exhausted"], "alone it is told");
}

#[test]
fn a_quiet_time_keeps_what_still_holds_and_what_came_and_went_for_one_message() {
    let settings = AlarmSettings { quiet: vec![night(&[])], ..AlarmSettings::default() };
    let mut world = World { settings, ..World::default() };
    assert_eq!(world.look(0, &[seen(MAIN, MET), seen(HOLD, STANDS)]), [""; 0]);
    assert!(world.of(MAIN).is_open() && world.of(MAIN).told_at.is_none());
    assert_eq!(world.look(60, &[seen(MAIN, Standing::Well), seen(HOLD, STANDS)]), [""; 0]);
    assert_eq!(world.look(90, &[seen(MAIN, MET), seen(HOLD, STANDS)]), [""; 0]);
    assert_eq!((world.of(MAIN).raised_at, world.of(MAIN).count), (at(0), 2), "one story");
    // Flapping: the calm must last.
    assert_eq!(world.look(100, &[seen(MAIN, Standing::Well), seen(HOLD, STANDS)]), [""; 0]);
    assert_eq!(world.look(220, &[seen(MAIN, Standing::Well), seen(HOLD, STANDS)]), [""; 0]);
    assert!(!world.of(MAIN).is_raised() && world.of(MAIN).is_open());
    assert_eq!(world.look(3600, &[seen(HOLD, STANDS)]), ["raised hold", "passed exhausted"]);
    assert_eq!(world.look(3601, &[]), ["healed hold"]);

    let settings = AlarmSettings { quiet: vec![night(&[AlarmKind::Exhausted])], ..AlarmSettings::default() };
    let mut world = World { settings, ..World::default() };
    let budget = (AlarmKind::Budget, "retries");
    assert_eq!(world.look(0, &[seen(MAIN, MET), seen(budget, STANDS)]), ["raised exhausted"]);
    assert_eq!(world.look(3600, &[seen(budget, STANDS)]), ["raised budget"]);
}

#[test]
fn an_end_in_a_quiet_time_is_told_afterwards_and_one_that_did_not_last_not_at_all() {
    let settings = AlarmSettings { quiet: vec![night(&[])], ..AlarmSettings::default() };
    let mut world = World { settings, ..World::default() };
    assert_eq!(world.look(-3601, &[seen(MAIN, MET)]), ["raised exhausted"]);
    assert_eq!(world.look(0, &[seen(MAIN, Standing::Well)]), [""; 0]);
    assert_eq!(world.look(60, &[seen(MAIN, MET)]), [""; 0]);
    assert_eq!(world.look(3600, &[seen(MAIN, MET)]), [""; 0], "it was told before, and holds");
    assert_eq!(world.look(3601, &[seen(MAIN, Standing::Well)]), [""; 0]);
    assert_eq!(world.look(3721, &[seen(MAIN, Standing::Well)]), ["healed exhausted"]);
}

#[test]
fn it_is_told_again_only_where_somebody_wants_that() {
    let settings = AlarmSettings { repeat: Some(Duration::from_secs(3600)), ..AlarmSettings::default() };
    let mut world = World { settings, ..World::default() };
    let told: Vec<usize> = (0..4 * 60).map(|minute| world.look(minute * 60, &[seen(MAIN, STANDS)]).len()).collect();
    assert_eq!(told.iter().sum::<usize>(), 4);
    assert_eq!(world.look(14_400, &[seen(MAIN, STANDS)]), ["reminder exhausted"]);
}

#[test]
fn kinds_that_do_not_ring_and_ladders_of_other_configs_are_left_alone() {
    let settings = AlarmSettings { on: vec![AlarmKind::Exhausted], ..AlarmSettings::default() };
    let mut world = World { settings, ..World::default() };
    assert_eq!(world.look(0, &[seen(HOLD, STANDS)]), [""; 0]);
    assert_eq!(world.alarms, []);
    assert_eq!(world.look(1, &[seen(MAIN, MET)]), ["raised exhausted"]);
    assert_eq!(world.look(2, &[]), [""; 0], "another config may know that ladder");
    assert_eq!(world.look(1 + 7 * 86_400, &[]), ["healed exhausted"]);
    let other = Alarm { kind: AlarmKind::Hold, healed_at: None, told_over_at: None, ..world.of(MAIN).clone() };
    assert_eq!(reconcile(&[other], &[], &world.settings, at(9)).alarms, []);
}

#[test]
fn a_clock_that_ran_ahead_keeps_no_alarm_for_years() {
    let mut world = World::default();
    let ahead = 10 * 365 * 86_400;
    assert_eq!(world.look(ahead, &[seen(MAIN, MET)]), ["raised exhausted"]);
    assert_eq!(world.look(0, &[seen(MAIN, Standing::Better)]), [""; 0]);
    assert_eq!(world.look(300, &[seen(MAIN, Standing::Better)]), ["healed exhausted"]);
}

fn standing() -> impl Strategy<Value = Option<Standing>> {
    prop::sample::select(vec![
        None,
        Some(MET),
        Some(STANDS),
        Some(Standing::Doubtful),
        Some(Standing::Better),
        Some(Standing::Well),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Of one alarm beginning and end alternate, an end never comes first, a look at the same is no news, and in a quiet
    /// time nobody is told.
    #[test]
    fn beginnings_and_ends_alternate(
        steps in prop::collection::vec((0..900_i64, standing(), prop::bool::ANY), 1..40),
        quiet in prop::bool::ANY,
    ) {
        let quiet = if quiet { vec![night(&[])] } else { Vec::new() };
        let mut world = World { settings: AlarmSettings { quiet, ..AlarmSettings::default() }, ..World::default() };
        let (mut second, mut is_told) = (0, false);
        for (passed, standing, holds) in steps {
            second += passed;
            let mut all: Vec<Sighting> = standing.map(|standing| seen(MAIN, standing)).into_iter().collect();
            all.extend(holds.then(|| seen(HOLD, STANDS)));
            let told = reconcile(&world.alarms, &all, &world.settings, at(second));
            for telling in told.tell.iter().filter(|telling| telling.alarm.kind == AlarmKind::Exhausted) {
                prop_assert!(world.settings.quiet_until(AlarmKind::Exhausted, at(second)).is_none());
                match telling.event {
                    AlarmEvent::Raised => prop_assert!(!std::mem::replace(&mut is_told, true)),
                    AlarmEvent::Healed => prop_assert!(std::mem::replace(&mut is_told, false)),
                    AlarmEvent::Passed => prop_assert!(!is_told),
                    AlarmEvent::Reminder | AlarmEvent::Test => prop_assert!(false, "nobody asked for it"),
                }
            }
            world.look(second, &all);
            let silent = |sighting: &Sighting| Sighting {
                standing: if sighting.standing == MET { STANDS } else { sighting.standing },
                ..sighting.clone()
            };
            let again: Vec<Sighting> = all.iter().map(silent).collect();
            prop_assert_eq!(world.look(second, &again), Vec::<String>::new());
        }
    }
}
