//! What a ladder says after which ends of requests, by example and after any history.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::cascade::*;
use super::settings::CascadeSettings;
use super::world::at;
use crate::domain::{LadderName, RequestId};

const SETTINGS: CascadeSettings =
    CascadeSettings { after: 3, open: Duration::from_secs(30), open_max: Duration::from_secs(100) };

/// How long a lease lives, in seconds.
const LEASE: i64 = 40;

/// A store with the record of one ladder.
#[derive(Default)]
struct World {
    there: Option<VersionedCascade>,
    version: i64,
    writes: usize,
}

impl World {
    fn write(&mut self, cascade: Option<Cascade>) {
        self.version += 1;
        self.writes += 1;
        self.there = cascade.map(|cascade| VersionedCascade { version: self.version, cascade });
    }

    fn ends(&mut self, who: &str, ending: &Ending, now: i64) {
        let (ladder, id) = (LadderName::new("main"), RequestId::new(who));
        let tally = Tally { ladder: &ladder, request_id: &id, settings: &SETTINGS, now: at(now) };
        if let Some(change) = after(self.there.as_ref(), ending, &tally) {
            assert_eq!(change.expected, self.there.as_ref().map(|there| there.version));
            self.write(change.cascade);
        }
    }

    fn says(&self, who: &str, is_news: bool, now: i64) -> Passage {
        let id = RequestId::new(who);
        self.there.as_ref().map_or(Passage::Free, |there| there.cascade.may_pass(&id, is_news, at(now)))
    }

    /// Goes if it may; says whether it does.
    fn passes(&mut self, who: &str, is_news: bool, now: i64) -> bool {
        match (self.says(who, is_news, now), &self.there) {
            (Passage::Free, _) => true,
            (Passage::Slot, Some(there)) => {
                let entered = there.cascade.entered(&RequestId::new(who), at(now + LEASE), at(now));
                self.write(Some(entered));
                true
            }
            _ => false,
        }
    }

    /// Three falls at second 0, the last of which opens it up to second 30.
    fn open() -> Self {
        let mut world = Self::default();
        (0..3).for_each(|_| world.ends("r", &fall(&["a"], None), 0));
        world
    }

    fn state(&self) -> Option<(CascadeState, u32, u32)> {
        self.there.as_ref().map(|there| (there.cascade.state, there.cascade.streak, there.cascade.slots))
    }
}

fn fall(failed: &[&str], retry_at: Option<i64>) -> Ending {
    let failed = failed.iter().map(|&print| print.to_owned()).collect();
    Ending::FellThrough(Fall { asked: true, retry_at: retry_at.map(at), failed, evidence: Some("it failed".into()) })
}

fn all_held() -> Ending {
    Ending::FellThrough(Fall::default())
}

fn refused(until: i64, is_looked_at: bool) -> Passage {
    Passage::Refused { until: at(until), is_looked_at }
}

#[test]
fn so_many_in_a_row_open_it_and_an_answer_in_between_starts_the_row_anew() {
    let mut world = World::default();
    world.ends("r", &Ending::Answered, 0);
    world.ends("r", &Ending::Neither, 0);
    assert_eq!((world.writes, world.state()), (0, None), "an ordinary answer costs no write");
    for ending in [fall(&[], None), all_held(), Ending::Neither] {
        world.ends("r", &ending, 0);
    }
    assert_eq!((world.state(), world.says("x", false, 1)), (Some((CascadeState::Closed, 2, 1)), Passage::Free));
    world.ends("r", &Ending::Answered, 1);
    assert_eq!(world.state(), None);
    (0..3).for_each(|_| world.ends("r", &fall(&["a"], None), 2));
    assert_eq!(world.state(), Some((CascadeState::Open, 3, 1)));
    assert_eq!((world.says("x", false, 31), world.says("x", false, 32)), (refused(32, false), Passage::Slot));
}

#[test]
fn it_opens_for_longer_each_time_but_never_beyond_the_return_of_a_step() {
    for (retry_at, lasts) in [(None, [30, 60, 100, 100]), (Some(45), [30, 45, 45, 45]), (Some(0), [0, 0, 0, 0])] {
        let (mut world, mut now) = (World::default(), 0);
        (0..2).for_each(|_| world.ends("r", &fall(&["a"], None), 0));
        for (nth, lasts) in lasts.into_iter().enumerate() {
            let who = nth.to_string();
            assert!(world.passes(&who, false, now));
            world.ends(&who, &fall(&["a"], retry_at.map(|after| now + after)), now);
            assert_eq!(
                world.there.as_ref().map(|there| there.cascade.until),
                Some(at(now + lasts)),
                "{retry_at:?} {nth}"
            );
            now += lasts;
        }
    }
}

#[test]
fn one_looks_and_each_answer_doubles_how_many_may() {
    let mut world = World::open();
    assert!(world.passes("first", false, 30));
    assert_eq!(world.says("other", false, 31), refused(70, true));
    assert_eq!(world.says("first", false, 31), Passage::Free, "it has its slot");
    world.ends("first", &Ending::Answered, 31);
    for slots in [2, 4, 8, 16] {
        let passed: Vec<String> =
            (0..40).map(|n| format!("{slots}-{n}")).filter(|who| world.passes(who, false, 40)).collect();
        assert_eq!((passed.len(), world.state()), (slots, Some((CascadeState::Recovering, 3, slots as u32))));
        world.ends(&passed[0], &Ending::Answered, 41);
        passed[1..].iter().for_each(|who| world.ends(who, &Ending::Neither, 42));
    }
    assert_eq!(world.state(), None);
}

#[test]
fn a_lease_ends_by_itself_or_with_its_request() {
    let mut world = World::open();
    assert!(world.passes("killed", false, 30));
    assert_eq!((world.says("x", false, 69), world.says("x", false, 70)), (refused(70, true), Passage::Slot));
    assert!(world.passes("given up", false, 70));
    world.ends("given up", &Ending::Neither, 71);
    assert_eq!(world.says("x", false, 71), Passage::Slot);
}

#[test]
fn what_could_answer_is_looked_at_before_the_time_and_changes_it_not() {
    let mut world = World::open();
    assert_eq!((world.says("old", false, 5), world.says("new", true, 5)), (refused(30, false), Passage::Slot));
    assert!(world.passes("new", true, 5));
    world.ends("new", &fall(&["b"], None), 6);
    assert_eq!(world.says("old", false, 6), refused(30, false), "the time of the others stands");
    let cascade = &world.there.as_ref().expect("a record").cascade;
    assert_eq!((cascade.failed.join(" "), cascade.opens), ("b a".to_owned(), 1), "neither is news any more");
}

#[test]
fn late_falls_say_nothing_new_and_late_answers_do() {
    let mut world = World::open();
    world.ends("late", &fall(&["c"], None), 10);
    world.ends("held", &all_held(), 10);
    assert_eq!((world.writes, world.state()), (3, Some((CascadeState::Open, 3, 1))));
    assert!(world.passes("one", false, 30));
    world.ends("late", &fall(&["c"], None), 31);
    world.ends("held", &all_held(), 31);
    assert_eq!(world.state(), Some((CascadeState::Recovering, 3, 1)), "one is still out to look");
    world.ends("one", &fall(&["a"], None), 32);
    assert_eq!(world.state(), Some((CascadeState::Open, 4, 1)));
    world.ends("late", &Ending::Answered, 33);
    assert_eq!(world.state(), Some((CascadeState::Recovering, 4, 2)));
}

#[test]
fn with_nobody_to_ask_when_the_time_has_come_it_opens_again() {
    let mut world = World::open();
    world.ends("held", &all_held(), 30);
    assert_eq!((world.state(), world.says("x", false, 89)), (Some((CascadeState::Open, 4, 1)), refused(90, false)));
}

#[test]
fn what_a_wrong_clock_wrote_or_is_a_day_old_says_nothing() {
    for (now, held) in [(0, true), (-290, true), (-310, false), (29, true), (90_000, false)] {
        let world = World::open();
        assert_eq!(world.says("x", false, now) != Passage::Free, held, "{now}");
    }
    let mut world = World::open();
    world.ends("r", &fall(&["a"], None), -400);
    assert_eq!(world.state(), Some((CascadeState::Closed, 1, 1)));
    world.ends("r", &Ending::Answered, 90_000);
    assert_eq!(world.state(), None);
}

#[derive(Debug, Clone)]
enum Does {
    /// A request comes and passes or not.
    Comes { is_news: bool },
    /// One that passed ends.
    Ends(usize, Ending),
    /// One that passed is killed.
    Dies(usize),
    /// Time passes, or the clock is set.
    Passes(i64),
}

fn ending() -> impl Strategy<Value = Ending> {
    let fell = (any::<bool>(), prop::option::of(-5..300_i64)).prop_map(|(asked, retry_at)| {
        Ending::FellThrough(Fall { asked, retry_at: retry_at.map(at), ..Fall::default() })
    });
    prop_oneof![4 => fell, 1 => Just(Ending::Answered), 1 => Just(Ending::Neither)]
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        4 => prop::bool::weighted(0.1).prop_map(|is_news| Does::Comes { is_news }),
        4 => (0..8_usize, ending()).prop_map(|(who, ending)| Does::Ends(who, ending)),
        1 => (0..8_usize).prop_map(Does::Dies),
        2 => prop_oneof![0..50_i64, Just(LEASE), Just(30), -400..0_i64].prop_map(Does::Passes),
    ]
}

/// When the ladder lets a request pass at the latest that it turns away now.
fn latest(now: i64) -> i64 {
    // What was set by a clock that ran at most five minutes ahead still counts.
    now + 300 + SETTINGS.open_max.as_secs() as i64 + LEASE
}

fn live(cascade: &Cascade, now: Timestamp) -> usize {
    cascade.leases.iter().filter(|lease| lease.until > now).count()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_any_history(moves in prop::collection::vec(does(), 1..60)) {
        let (mut world, mut now, mut out, mut next) = (World::default(), 1000, Vec::<String>::new(), 0);
        for done in moves {
            match done {
                Does::Passes(seconds) => now += seconds,
                Does::Dies(who) => drop((who < out.len()).then(|| out.remove(who))),
                Does::Ends(who, ending) if who < out.len() => {
                    let who = out.remove(who);
                    world.ends(&who, &ending, now);
                }
                Does::Ends(..) => {}
                Does::Comes { is_news } => {
                    next += 1;
                    let was = world.there.as_ref().map(|there| there.cascade.clone());
                    let who = next.to_string();
                    if world.passes(&who, is_news, now) {
                        out.push(who);
                    } else if let Some(was) = was {
                        // Whoever is turned away could not have got a slot, and is told a time to come.
                        let full = live(&was, at(now)) >= was.slots as usize;
                        prop_assert!(was.state == CascadeState::Open || full, "{was:?}");
                        let Passage::Refused { until, .. } = was.may_pass(&RequestId::new("x"), false, at(now)) else {
                            return Err(TestCaseError::fail("it was turned away"));
                        };
                        prop_assert!(until > at(now) && until <= at(latest(now)), "{until} at {}", at(now));
                    }
                }
            }
            if let Some(there) = &world.there {
                let cascade = &there.cascade;
                let slots = if cascade.state == CascadeState::Recovering { cascade.slots as usize } else { 0 };
                prop_assert!(live(cascade, at(now)) <= slots || cascade.is_void(at(now)), "{cascade:?}");
                prop_assert!(cascade.slots <= 16 && cascade.failed.len() <= 64);
            }
        }
        // Somebody passes now or at the latest then, and answers alone lead back.
        let is_shut = matches!(world.says("x", false, now), Passage::Refused { .. });
        let then = if is_shut { latest(now) } else { now };
        for nth in 0..5 {
            let who = format!("good-{nth}");
            let passed = world.passes(&who, false, then);
            prop_assert!(passed, "{:?}", world.there);
            world.ends(&who, &Ending::Answered, then);
        }
        prop_assert_eq!(world.state(), None);
    }
}
