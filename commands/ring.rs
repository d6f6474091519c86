//! The alarm at the end of a command: a look, and the delivery of what waits.
//!
//! It comes after all that the user asked for was printed, and nothing of it changes the exit code. Without an `[alarm]`
//! section nothing is done. A request that was answered and met no trouble glances at two small indexes; only when
//! something is raised on its ladder or due, or nobody has looked for some minutes, it does more. That rare look is what
//! finds a limit that is about to run out while all goes well.
//!
//! Who asked a question waits for no more than one delivery's time in all, and Ctrl-C ends that at once; what was not
//! tried then waits for whoever comes next. The sinks share the time, so that one that hangs does not silence the other.

use std::time::Duration;

use jiff::Timestamp;
use llmr::clock::Rng;
use llmr::config::{Alarm, Config};
use llmr::domain::{AttemptKind, Redactor, RequestId, printable};
use llmr::policy::{Lease, Letter, LetterEnd, Standing, Words, reconcile};
use llmr::report::{alarm_letters, alarm_sightings, distance};
use llmr::route::{Ended, Report, look_around};
use llmr::store::{AlarmBatch, Pulse, Store, StoreError};

use crate::context::Context;

/// With an alarm raised, somebody looks so often.
const OFTEN: Duration = Duration::from_secs(60);

/// With none, so often.
const SELDOM: Duration = Duration::from_secs(300);

/// One process delivers at most so many messages: it has an end of its own to come to.
const MOST: usize = 20;

/// So much longer than a delivery may take nobody else takes its message.
const SPARE: Duration = Duration::from_secs(30);

/// How many deliveries' time a command takes that was called for the state's sake, by a person or by cron.
const PATIENT: u32 = 6;

/// After a request of `chat`.
pub fn after_request(report: &Report, config: &Config, store: &dyn Store, context: &mut Context) {
    let ended = Ended::of(report);
    let exhausted = report.end.is_exhaustion() && !report.turned_away;
    let met = |attempt: &llmr::domain::AttemptRecord| attempt.class.is_some() || attempt.kind == AttemptKind::Probe;
    let is_news = exhausted || report.record.retries_denied > 0 || report.record.attempts.iter().any(met);
    let ladder = report.record.ladder.as_str();
    act(is_news, ladder, ended.as_ref(), 1, config, store, context);
}

/// How many messages a process delivered, and how many it tried in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// Taken by their sinks.
    pub delivered: usize,
    /// Not taken.
    pub failed: usize,
}

/// After a command that may have changed holds, or that was asked to look. What it delivered.
pub fn after_change(config: &Config, store: &dyn Store, context: &mut Context) -> Sent {
    act(true, "", None, PATIENT, config, store, context)
}

/// After a call of another program was written down.
pub fn after_report(moved_holds: bool, config: &Config, store: &dyn Store, context: &mut Context) {
    act(moved_holds, "", None, 1, config, store, context);
}

/// Looks if there is reason to, and delivers what is due, within so many deliveries' time.
fn act(
    is_news: bool,
    ladder: &str,
    ended: Option<&Ended>,
    times: u32,
    config: &Config,
    store: &dyn Store,
    context: &mut Context,
) -> Sent {
    let Some(alarm) = &config.alarm else { return Sent::default() };
    let mut sent = Sent::default();
    let done = store.alarm_pulse(ladder, context.clock.now()).and_then(|pulse| {
        let now = context.clock.now();
        let looks = is_news || wants_look(&pulse, now);
        let written = if looks { look(alarm, config, ended, &pulse, store, context)? } else { false };
        let budget = Budget { timeout: alarm.settings.timeout, left: alarm.settings.timeout.saturating_mul(times) };
        if pulse.due || written { deliver(alarm, budget, &mut sent, config, store, context) } else { Ok(()) }
    });
    if let Err(error) = done {
        let error = printable(&error.to_string());
        context.output.note(&format!("{} the alarm: {error}", context.output.label("warning")));
    }
    sent
}

/// Whether a request that met no trouble is to look all the same.
fn wants_look(pulse: &Pulse, now: Timestamp) -> bool {
    pulse.here || (pulse.open && is_stale(pulse, OFTEN, now)) || is_stale(pulse, SELDOM, now)
}

/// Whether nobody has looked for so long. A look in the future was made by a wrong clock.
fn is_stale(pulse: &Pulse, length: Duration, now: Timestamp) -> bool {
    pulse.looked_at.is_none_or(|at| at > now || now.duration_since(at).unsigned_abs() >= length)
}

/// Brings what is known into line with what is so, and writes the messages. Whether there are any.
fn look(
    alarm: &Alarm,
    config: &Config,
    ended: Option<&Ended>,
    pulse: &Pulse,
    store: &dyn Store,
    context: &Context,
) -> Result<bool, StoreError> {
    let (settings, sinks, now) = (&alarm.settings, alarm.sinks(), context.clock.now());
    let noted = is_stale(pulse, OFTEN, now).then_some(now);
    let redactor = context.redactor();
    let written = store.look_at_alarms(&mut |view| {
        let mut seen = alarm_sightings(&look_around(config, view, ended, now), settings, now);
        for sighting in seen.iter_mut().filter(|sighting| matches!(sighting.standing, Standing::Bad { .. })) {
            sighting.words = clean(&sighting.words, redactor);
        }
        let told = reconcile(&view.alarms, &seen, settings, now);
        let letters = told.tell.iter().flat_map(|telling| alarm_letters(telling, &sinks, &new_id(now), now));
        AlarmBatch { letters: letters.collect(), alarms: told.alarms, looked_at: noted }
    })?;
    Ok(!written.letters.is_empty())
}

/// The words without secrets.
fn clean(words: &Words, redactor: &Redactor) -> Words {
    let plain = |text: &str| printable(&redactor.redact(text));
    let mut details = serde_json::from_str(&words.details).unwrap_or(serde_json::Value::Null);
    redactor.redact_json(&mut details);
    Words { summary: plain(&words.summary), text: plain(&words.text), details: details.to_string() }
}

/// An id of a message or of who delivers it. Two runs with one seed are still two.
pub fn new_id(now: Timestamp) -> String {
    let at = u64::try_from(now.as_millisecond()).unwrap_or(0);
    format!("alarm_{at:011x}{}", Rng::new(None).token(6))
}

/// How long a process may take for all that it delivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Budget {
    /// How long one delivery may take.
    timeout: Duration,
    /// What is left for all.
    left: Duration,
}

impl Budget {
    /// How long the next delivery may take where so many sinks share what is left; none when that is too little to try.
    fn next(self, sinks: usize) -> Option<Duration> {
        let share = self.left / u32::try_from(sinks).ok().filter(|sinks| *sinks > 0)?;
        let most = share.min(self.timeout);
        (most >= self.timeout / 4).then(|| Duration::from_millis(u64::try_from(most.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// Delivers what is due, the oldest first. A sink that failed is left alone by this process from then on.
fn deliver(
    alarm: &Alarm,
    mut budget: Budget,
    count: &mut Sent,
    config: &Config,
    store: &dyn Store,
    context: &mut Context,
) -> Result<(), StoreError> {
    let settings = &alarm.settings;
    let mut sinks = alarm.sinks();
    for _ in 0..MOST {
        let Some(timeout) = budget.next(sinks.len()).filter(|_| !crate::walk::is_interrupted()) else { break };
        let now = context.clock.now();
        let until = now.checked_add(settings.timeout * 2 + SPARE).unwrap_or(Timestamp::MAX);
        let lease = Lease { holder: RequestId::new(new_id(now)), until };
        let Some(letter) = store.claim_letter(&sinks, &lease, now)? else { break };
        let watch = context.clock.stopwatch();
        let sent = crate::sinks::send(letter.sink, &letter.id, &letter.body, timeout, config, context);
        budget.left = budget.left.saturating_sub(watch.elapsed());
        let (sink, now) = (letter.sink, context.clock.now());
        let settled = match sent {
            Ok(()) => {
                count.delivered += 1;
                letter.delivered(now)
            }
            Err(error) => {
                count.failed += 1;
                sinks.retain(|other| *other != sink);
                let unit = context.rng.unit();
                letter.failed(error, settings, unit, now)
            }
        };
        store.settle_letter(&settled, &lease)?;
        warn(&settled, settings.tries, context);
    }
    Ok(())
}

/// That a message was not taken is told where somebody may see it.
fn warn(letter: &Letter, most: u32, context: &Context) {
    let Some(error) = letter.error.as_deref().filter(|_| !matches!(letter.end, Some((LetterEnd::Delivered, _)))) else {
        return;
    };
    let next = match letter.end {
        None => format!(
            "try {} of {most} failed, the next is due {}",
            letter.tries,
            distance(letter.due_at, context.clock.now())
        ),
        Some(_) => format!("given up after {} tries", letter.tries),
    };
    let output = &context.output;
    let text = format!("the alarm was not delivered by {}: {error}; {next}", letter.sink);
    output.note(&format!("{} {}", output.label("warning"), printable(&text)));
    output.note(&format!("{} `llmr alarm test` tries it, `llmr alarm list` shows what waits", output.label("hint")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sinks_share_the_time_and_nobody_is_tried_with_too_little_of_it() {
        let second = |seconds: f64| Duration::from_secs_f64(seconds);
        for (left, sinks, next) in [
            (10.0, 1, Some(10.0)),
            (10.0, 2, Some(5.0)),
            (4.9, 1, Some(4.9)),
            (4.9, 2, None),
            (2.5, 1, Some(2.5)),
            (2.4, 1, None),
            (60.0, 2, Some(10.0)),
            (0.0, 1, None),
            (10.0, 0, None),
        ] {
            let budget = Budget { timeout: second(10.0), left: second(left) };
            assert_eq!(budget.next(sinks), next.map(second), "{left} s for {sinks}");
        }
    }
}
