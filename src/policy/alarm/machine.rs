//! Brings what is known of alarms into line with what is so.

use std::time::Duration;

use jiff::Timestamp;

use super::super::gate::was_ahead;
use super::super::until::later;
use super::{Alarm, AlarmEvent, AlarmKind, AlarmSettings, Sighting, Standing, Words};

/// What looks over must look so for this long.
const CALM: Duration = Duration::from_secs(300);

/// What comes back within this time after its end is flapping.
const FLAPPING: Duration = Duration::from_secs(1800);

/// How long the calm must last after the first time that it came back; it doubles.
const FIRST_SETTLE: Duration = Duration::from_secs(120);

/// The longest such calm.
const LONGEST_SETTLE: Duration = Duration::from_secs(1800);

/// A ladder that is in nobody's config any more, and was not met for so long, is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a look changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reconciled {
    /// The alarms that are new or different.
    pub alarms: Vec<Alarm>,
    /// What is to be told now; of each the alarm as it is written.
    pub tell: Vec<Telling>,
}

/// A message that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telling {
    /// What happened.
    pub event: AlarmEvent,
    /// To which alarm.
    pub alarm: Alarm,
    /// Whether its words are of now; else they are of when it was last met.
    pub is_current: bool,
    /// What was told with it and still is so.
    pub parts: Vec<Alarm>,
}

/// What becomes of the known alarms, given what somebody saw now. Kinds that do not ring are left as they are: they may
/// be another config's.
pub fn reconcile(known: &[Alarm], seen: &[Sighting], settings: &AlarmSettings, now: Timestamp) -> Reconciled {
    let rings = |kind: AlarmKind| settings.on.contains(&kind);
    let mut alarms: Vec<(Option<&Alarm>, Alarm)> = Vec::new();
    for alarm in known.iter().filter(|alarm| rings(alarm.kind)) {
        let sighting = seen.iter().find(|sighting| alarm.is(sighting.kind, &sighting.subject));
        alarms.push((Some(alarm), moved(alarm, sighting, now)));
    }
    for sighting in seen.iter().filter(|sighting| rings(sighting.kind)) {
        let is_known = known.iter().any(|alarm| alarm.is(sighting.kind, &sighting.subject));
        if let (Standing::Bad { met }, false) = (sighting.standing, is_known) {
            alarms.push((None, fresh(sighting, met, now)));
        }
    }
    join_ladders(&mut alarms, seen, settings, now);
    let parts: Vec<Alarm> = alarms.iter().map(|(_, alarm)| alarm).filter(|alarm| alarm.is_raised()).cloned().collect();
    let others: Vec<&Alarm> = known.iter().filter(|alarm| !rings(alarm.kind)).collect();
    leave_ladders(&mut alarms, &others);
    let mut told = Reconciled::default();
    for (before, mut alarm) in alarms {
        if let Some(event) = due(&alarm, settings, now) {
            note(&mut alarm, event, now);
            let words = words_now(&alarm, seen);
            let is_current = words.is_some();
            alarm.words = words.cloned().unwrap_or(alarm.words);
            let is_ladder = alarm.kind == AlarmKind::Exhausted;
            let of_it = |part: &&Alarm| is_ladder && part.part_of.as_ref() == Some(&alarm.subject);
            let parts = parts.iter().filter(of_it).cloned().collect();
            told.tell.push(Telling { event, alarm: alarm.clone(), is_current, parts });
        } else if alarm.part_of.is_some() && !alarm.is_raised() && alarm.told_over_at.is_none() {
            // It was told with its ladder, and so is its end.
            alarm.told_over_at = Some(now);
        }
        if before != Some(&alarm) {
            told.alarms.push(alarm);
        }
    }
    told
}

/// What there is to say of it now. In between an alarm keeps its words, for they change with each look at the clock.
fn words_now<'a>(alarm: &Alarm, seen: &'a [Sighting]) -> Option<&'a Words> {
    let sighting = seen.iter().find(|sighting| alarm.is(sighting.kind, &sighting.subject))?;
    matches!(sighting.standing, Standing::Bad { .. }).then_some(&sighting.words)
}

fn fresh(sighting: &Sighting, met: u32, now: Timestamp) -> Alarm {
    Alarm {
        kind: sighting.kind,
        subject: sighting.subject.clone(),
        raised_at: now,
        seen_at: now,
        count: met.max(1),
        calm_since: None,
        healed_at: None,
        flaps: 0,
        told_at: None,
        told_over_at: None,
        part_of: None,
        until: sighting.until,
        words: sighting.words.clone(),
    }
}

/// The alarm after what was seen of it.
fn moved(alarm: &Alarm, sighting: Option<&Sighting>, now: Timestamp) -> Alarm {
    let alarm = in_our_time(alarm, now);
    let Some(sighting) = sighting else { return unseen(alarm, now) };
    if !alarm.is_raised() {
        return match sighting.standing {
            Standing::Bad { met } => again(alarm, sighting, met, now),
            _ => alarm,
        };
    }
    let answered = sighting.answered_at.is_some_and(|at| at > alarm.seen_at);
    match sighting.standing {
        Standing::Bad { met: 0 } => kept(alarm, sighting),
        Standing::Bad { met } => {
            let (count, words) = (alarm.count.saturating_add(met), sighting.words.clone());
            kept(Alarm { count, words, seen_at: now, ..alarm }, sighting)
        }
        Standing::Well => ended(alarm, now),
        Standing::Better | Standing::Doubtful if answered => ended(alarm, now),
        Standing::Doubtful => kept(alarm, sighting),
        Standing::Better => calmer(alarm, CALM, now),
    }
}

/// Times that a clock which ran ahead has written would keep an alarm for years.
fn in_our_time(alarm: &Alarm, now: Timestamp) -> Alarm {
    let known = |at: Timestamp| if was_ahead(at, now) { now } else { at };
    Alarm {
        raised_at: known(alarm.raised_at),
        seen_at: known(alarm.seen_at),
        calm_since: alarm.calm_since.map(known),
        healed_at: alarm.healed_at.map(known),
        told_at: alarm.told_at.map(known),
        ..alarm.clone()
    }
}

fn kept(alarm: Alarm, sighting: &Sighting) -> Alarm {
    Alarm { calm_since: None, until: sighting.until, ..alarm }
}

/// An alarm of which nothing was seen: the hold is gone. Of a ladder or an allowance that this config does not know,
/// another one may.
fn unseen(alarm: Alarm, now: Timestamp) -> Alarm {
    let over = match alarm.kind {
        AlarmKind::Hold => true,
        AlarmKind::Forecast => alarm.until.is_none_or(|at| at <= now),
        AlarmKind::Exhausted | AlarmKind::Budget => later(alarm.seen_at, FORGOTTEN) <= now,
    };
    if over && alarm.is_raised() { healed(alarm, now) } else { alarm }
}

/// It is over, unless it keeps coming back: then the calm must last.
fn ended(alarm: Alarm, now: Timestamp) -> Alarm {
    if alarm.flaps == 0 {
        return healed(alarm, now);
    }
    let length = FIRST_SETTLE.saturating_mul(1_u32.checked_shl(alarm.flaps - 1).unwrap_or(u32::MAX));
    calmer(alarm, length.min(LONGEST_SETTLE), now)
}

fn calmer(alarm: Alarm, length: Duration, now: Timestamp) -> Alarm {
    let since = alarm.calm_since.unwrap_or(now).min(now);
    if later(since, length) <= now {
        return healed(alarm, now);
    }
    Alarm { calm_since: Some(since), ..alarm }
}

fn healed(alarm: Alarm, now: Timestamp) -> Alarm {
    Alarm { healed_at: Some(now), calm_since: None, ..alarm }
}

/// An alarm that comes back. Of one whose end nobody heard nothing new is to be told.
fn again(alarm: Alarm, sighting: &Sighting, met: u32, now: Timestamp) -> Alarm {
    let was_told_over = alarm.told_over_at.is_some();
    let flaps = match alarm.healed_at {
        Some(at) if later(at, FLAPPING) > now => alarm.flaps.saturating_add(1),
        _ => 0,
    };
    if was_told_over {
        return Alarm { flaps, ..fresh(sighting, met, now) };
    }
    let count = alarm.count.saturating_add(met);
    let back = Alarm { count, flaps, seen_at: now, healed_at: None, words: sighting.words.clone(), ..alarm };
    kept(back, sighting)
}

/// A hold that nobody was told of yet is told with the ladder that is exhausted for it, and a ladder with the one that has
/// all its steps. A hold that comes when its ladder was told already is news: that message did not speak of it.
fn join_ladders(alarms: &mut [(Option<&Alarm>, Alarm)], seen: &[Sighting], settings: &AlarmSettings, now: Timestamp) {
    // Ladders first: a hold is not told with one that is itself told with another.
    for kind in [AlarmKind::Exhausted, AlarmKind::Hold] {
        let whole = |alarm: &Alarm| alarm.kind == AlarmKind::Exhausted && alarm.is_raised() && alarm.part_of.is_none();
        let speaks = |alarm: &Alarm| alarm.told_at.is_none() || due(alarm, settings, now).is_some();
        let takes = |alarm: &Alarm| whole(alarm) && (kind == AlarmKind::Exhausted || speaks(alarm));
        let exhausted: Vec<String> =
            alarms.iter().filter(|(_, alarm)| takes(alarm)).map(|(_, alarm)| alarm.subject.clone()).collect();
        let untold = |alarm: &Alarm| alarm.kind == kind && alarm.told_at.is_none() && alarm.part_of.is_none();
        for (_, alarm) in alarms.iter_mut().filter(|(_, alarm)| untold(alarm)) {
            let sighting = seen.iter().find(|sighting| alarm.is(sighting.kind, &sighting.subject));
            let ladders = sighting.map(|sighting| sighting.ladders.as_slice()).unwrap_or_default();
            alarm.part_of = ladders.iter().find(|ladder| exhausted.contains(ladder)).cloned();
        }
    }
}

/// What still is so when the ladder with which it was told is well again stands for itself from then on: it was told when
/// the ladder was, it is told again where that is wanted, and so is its end. `others` are the alarms that do not ring
/// here; whether a ladder of them holds is as they say.
fn leave_ladders(alarms: &mut [(Option<&Alarm>, Alarm)], others: &[&Alarm]) {
    let ladders: Vec<(String, bool, Option<Timestamp>)> = alarms
        .iter()
        .map(|(_, alarm)| alarm)
        .chain(others.iter().copied())
        .filter(|alarm| alarm.kind == AlarmKind::Exhausted)
        .map(|ladder| (ladder.subject.clone(), ladder.is_raised(), ladder.told_at))
        .collect();
    for (_, alarm) in alarms.iter_mut().filter(|(_, alarm)| alarm.is_raised()) {
        let Some(part_of) = &alarm.part_of else { continue };
        let ladder = ladders.iter().find(|(subject, ..)| subject == part_of);
        if ladder.is_none_or(|(_, is_raised, _)| !is_raised) {
            alarm.told_at = alarm.told_at.or(ladder.and_then(|(.., told_at)| *told_at));
            alarm.part_of = None;
        }
    }
}

/// What is to be told of the alarm now.
fn due(alarm: &Alarm, settings: &AlarmSettings, now: Timestamp) -> Option<AlarmEvent> {
    if alarm.part_of.is_some() || settings.quiet_until(alarm.kind, now).is_some() {
        return None;
    }
    match (alarm.is_raised(), alarm.told_at) {
        (true, None) => Some(AlarmEvent::Raised),
        (true, Some(told)) => {
            settings.repeat.filter(|repeat| later(told, *repeat) <= now).map(|_| AlarmEvent::Reminder)
        }
        (false, _) if alarm.told_over_at.is_some() => None,
        (false, Some(_)) => Some(AlarmEvent::Healed),
        (false, None) => Some(AlarmEvent::Passed),
    }
}

fn note(alarm: &mut Alarm, event: AlarmEvent, now: Timestamp) {
    match event {
        AlarmEvent::Raised | AlarmEvent::Reminder => alarm.told_at = Some(now),
        AlarmEvent::Healed | AlarmEvent::Passed => alarm.told_over_at = Some(now),
        AlarmEvent::Test => {}
    }
}
