//! What must hold of every request.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::config::Config;
use crate::domain::{AttemptKind, Class, Deployment, Outcome, RequestRecord, Target};
use crate::ladder::ATTEMPTS;
use crate::policy::{HoldRecord, Versioned, holds_now, is_transient};
use crate::route::Report;

use super::draw::Draw;
use super::replies::said;

/// A deployment may be asked once more for each way in which a request can be made to fit it.
const REMEDIES: usize = 3;

/// An exchange that was about to be made.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) deployment: Deployment,
    pub(super) kind: AttemptKind,
    pub(super) at: Timestamp,
    pub(super) elapsed: Duration,
    /// The hold that should have kept it back.
    pub(super) held: Option<String>,
}

/// What was seen of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub(super) sent: Vec<Sent>,
    /// Who was done, with what, and when.
    pub(super) ended: Vec<(Deployment, Option<Class>, Timestamp)>,
    /// What was shown; a new element begins where it was said that everything before is void.
    pub(super) shown: Vec<String>,
    /// Whether anything may be shown before the end.
    pub(super) shows: bool,
    /// Its rows in the log.
    pub(super) logged: Vec<RequestRecord>,
}

/// What the ladder of a night promises.
#[derive(Debug)]
pub(super) struct Promised {
    attempts: u32,
    deadline: Duration,
    restarts: bool,
    configured: Vec<String>,
    last_resort: Option<String>,
    /// All texts of the script, with whether they are said to their end.
    texts: Vec<(String, bool)>,
}

impl Promised {
    pub(super) fn of(draw: &Draw, config: &Config) -> Self {
        assert_eq!(config.limits.attempts, draw.attempts, "the config says what was drawn");
        let replies = draw.parts.iter().flat_map(|part| part.replies.iter().flatten());
        Self {
            attempts: draw.attempts,
            deadline: draw.deadline,
            restarts: draw.stream == "restart",
            configured: draw.configured(),
            last_resort: draw.last_resort(),
            texts: replies.filter_map(said).collect(),
        }
    }

    /// The hold under which the deployment must not be asked by this request.
    pub(super) fn kept_back(&self, holds: &[Versioned], to: &Target, id: &str, now: Timestamp) -> Option<String> {
        let is_resort = self.last_resort.as_ref().is_some_and(|resort| *resort == to.deployment.to_string());
        let leased = |record: &HoldRecord| {
            let lease = match record {
                HoldRecord::Cooldown(_) => None,
                HoldRecord::Quarantine(quarantine) => quarantine.lease.as_ref(),
                HoldRecord::Circuit(circuit) => circuit.lease.as_ref(),
            };
            lease.is_some_and(|lease| lease.holder.as_str() == id && lease.until > now)
        };
        let records = holds.iter().map(|held| &held.record).filter(|record| record.scope().covers(to));
        let mut against = records.filter(|record| holds_now(record, now) && !leased(record));
        against.find(|record| !(is_resort && is_transient(record))).map(|record| format!("{record:?}"))
    }

    /// What of it is broken.
    pub(super) fn broken(&self, trace: &Trace, report: &Report) -> Vec<String> {
        let mut wrong = Vec::new();
        self.asks(trace, report, &mut wrong);
        self.shows(trace, report, &mut wrong);
        logs(trace, report, &mut wrong);
        wrong
    }

    /// 13 and 15: who is asked, how often, and until when.
    fn asks(&self, trace: &Trace, report: &Report, wrong: &mut Vec<String>) {
        if trace.sent.len() > self.attempts as usize {
            wrong.push(format!("attempts: {} of {}", trace.sent.len(), self.attempts));
        }
        if report.record.latency > self.deadline {
            wrong.push(format!("deadline: it took {:?} of {:?}", report.record.latency, self.deadline));
        }
        let mut counts: BTreeMap<&Deployment, (usize, usize, usize)> = BTreeMap::new();
        for Sent { deployment, kind, elapsed, held, .. } in &trace.sent {
            let count = counts.entry(deployment).or_default();
            match kind {
                AttemptKind::Retry => count.1 += 1,
                AttemptKind::Repair | AttemptKind::Adjusted => count.2 += 1,
                _ => count.0 += 1,
            }
            if let Some(held) = held {
                wrong.push(format!("holds: {deployment} was asked under {held}"));
            }
            if *elapsed >= self.deadline {
                wrong.push(format!("deadline: {deployment} was asked after {elapsed:?}"));
            }
            if !self.configured.contains(&deployment.to_string()) {
                wrong.push(format!("steps: {deployment} is none"));
            }
        }
        for (deployment, (first, retries, repairs)) in counts {
            if first > 1 || first + retries > ATTEMPTS as usize || repairs > REMEDIES {
                wrong.push(format!("once: {deployment} {first} + {retries} + {repairs}"));
            }
        }
    }

    /// 17: an answer is one that came whole, and nothing is put together of two.
    fn shows(&self, trace: &Trace, report: &Report, wrong: &mut Vec<String>) {
        let is_marked = |text: &str| text.contains("whole-") || text.contains("part-");
        let begins = |text: &String| self.texts.iter().any(|(known, _)| known.starts_with(text.as_str()));
        let is_answer = report.record.outcome == Outcome::Answered;
        let came_whole = || self.texts.iter().any(|(known, whole)| *whole && *known == report.text);
        if is_answer && is_marked(&report.text) && !came_whole() {
            wrong.push(format!("answer: {:?} never came whole", report.text));
        }
        wrong.extend(
            trace.shown.iter().filter(|text| is_marked(text) && !begins(text)).map(|text| format!("spliced: {text:?}")),
        );
        let most = match (trace.shows, self.restarts) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => usize::MAX,
        };
        if trace.shown.len() > most {
            wrong.push(format!("shown: {:?}", trace.shown));
        }
        let last = trace.shown.last().cloned().unwrap_or_default();
        if is_answer && trace.shows && last != report.text {
            wrong.push(format!("shown: {last:?} for {:?}", report.text));
        }
    }
}

/// The log has what happened.
fn logs(trace: &Trace, report: &Report, wrong: &mut Vec<String>) {
    let record = &report.record;
    let sent: Vec<&Deployment> = trace.sent.iter().map(|sent| &sent.deployment).collect();
    let mut told: Vec<&Deployment> = record.attempts.iter().map(|attempt| &attempt.deployment).collect();
    // Of two that race the second may be done first.
    let mut sorted = sent.clone();
    sorted.sort();
    told.sort();
    if sorted != told {
        wrong.push(format!("report: {sent:?} were asked and {told:?} told"));
    }
    let [row] = trace.logged.as_slice() else {
        wrong.push(format!("log: {} rows", trace.logged.len()));
        return;
    };
    if row.outcome != record.outcome || row.deployment != record.deployment || row.attempts != record.attempts {
        wrong.push(format!("log: {row:?} is not {record:?}"));
    }
}

/// When the shared budget granted a retry, over all requests.
#[derive(Debug, Default)]
pub(super) struct Retries(Vec<Timestamp>);

impl Retries {
    /// A retry after a failure that may pass is granted with that failure; one after a wait, when it is made.
    pub(super) fn add(&mut self, trace: &Trace) {
        for sent in trace.sent.iter().filter(|sent| sent.kind == AttemptKind::Retry) {
            let before =
                trace.ended.iter().rev().find(|(deployment, _, at)| *deployment == sent.deployment && *at <= sent.at);
            self.0.push(match before {
                Some((_, class, at)) if *class != Some(Class::RateLimit) => *at,
                _ => sent.at,
            });
        }
    }

    /// A minute in which more were granted than allowed.
    pub(super) fn over_budget(&self, budget: u32) -> Option<String> {
        let mut granted = self.0.clone();
        granted.sort();
        let minute = Duration::from_secs(60);
        let later = granted.iter().skip(budget as usize);
        let found = granted.iter().zip(later).find(|(first, last)| **last <= **first + minute);
        found.map(|(first, last)| format!("budget: more than {budget} retries from {first} to {last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::at;
    use super::*;
    use crate::ladder::End;

    fn sent(deployment: &str, kind: AttemptKind, second: i64) -> Sent {
        let elapsed = Duration::from_secs(u64::try_from(second).unwrap_or(0));
        Sent { deployment: deployment.parse().expect("a name"), kind, at: at(second), elapsed, held: None }
    }

    fn promised() -> Promised {
        let texts = [("whole-1 one ".to_owned(), true), ("part-2 one ".to_owned(), false)];
        Promised {
            attempts: 3,
            deadline: Duration::from_secs(10),
            restarts: false,
            configured: vec!["lab/m@k0".to_owned()],
            last_resort: None,
            texts: texts.into(),
        }
    }

    fn report(text: &str) -> Report {
        let begun = RequestRecord::begun("r".into(), "main".into(), at(0));
        let record = RequestRecord { latency: Duration::from_secs(1), outcome: Outcome::Answered, ..begun };
        Report { text: text.to_owned(), ..Report::wordless(record, End::Answered { step: 0 }) }
    }

    /// The rules that a trace breaks, apart from those of the log, by their first words.
    fn broken(trace: &Trace, report: &Report) -> Vec<String> {
        let all = promised().broken(trace, report);
        let words = all.iter().filter_map(|wrong| Some(wrong.split_once(':')?.0.to_owned()));
        words.filter(|word| word != "log" && word != "report").collect()
    }

    #[test]
    fn every_rule_can_be_broken() {
        use AttemptKind::{First, Repair, Retry};
        let trace = |sent: &[Sent], shown: &[&str]| Trace {
            sent: sent.to_vec(),
            shown: shown.iter().map(|text| (*text).to_owned()).collect(),
            shows: true,
            ..Trace::default()
        };
        let good = ["whole-1 one "];
        let (first, again) = (sent("lab/m@k0", First, 0), sent("lab/m@k0", Retry, 1));
        let held = Sent { held: Some("a hold".to_owned()), ..first.clone() };
        let repair = sent("lab/m@k0", Repair, 2);
        for (sent, shown, text, wanted) in [
            (vec![first.clone(), again.clone(), repair.clone()], &good[..], good[0], vec![]),
            (vec![first.clone(), again.clone(), repair.clone(), repair], &good, good[0], vec!["attempts"]),
            (vec![first.clone(), first.clone()], &good, good[0], vec!["once"]),
            (vec![first.clone(), again.clone(), again], &good, good[0], vec!["once"]),
            (vec![held], &good, good[0], vec!["holds"]),
            (vec![sent("lab/m@k0", First, 10)], &good, good[0], vec!["deadline"]),
            (vec![sent("lab/other@k0", First, 0)], &good, good[0], vec!["steps"]),
            (vec![first.clone()], &["part-2 one "], "part-2 one ", vec!["answer"]),
            (vec![first.clone()], &["part-2 whole-1 one "], good[0], vec!["spliced", "shown"]),
            (vec![first.clone()], &["part-2 ", "whole-1 one "], good[0], vec!["shown"]),
            (vec![first], &[], good[0], vec!["shown"]),
        ] {
            assert_eq!(broken(&trace(&sent, shown), &report(text)), wanted, "{sent:?} {shown:?}");
        }
        let late =
            Report { record: RequestRecord { latency: Duration::from_secs(11), ..report("").record }, ..report("") };
        assert_eq!(broken(&trace(&[], &[]), &late), ["deadline"]);
    }

    #[test]
    fn a_log_that_tells_something_else_is_noticed() {
        let (trace, report) = (Trace::default(), report(""));
        let logged = |row: RequestRecord| Trace { logged: vec![row], ..trace.clone() };
        let found = |trace: &Trace| {
            let mut wrong = Vec::new();
            logs(trace, &report, &mut wrong);
            wrong.len()
        };
        assert_eq!(found(&trace), 1, "no row");
        assert_eq!(found(&logged(report.record.clone())), 0);
        assert_eq!(found(&logged(RequestRecord { outcome: Outcome::Deadline, ..report.record.clone() })), 1);
        let asked = Trace { sent: vec![sent("lab/m@k0", AttemptKind::First, 0)], ..logged(report.record.clone()) };
        assert_eq!(found(&asked), 1, "an exchange that nobody told of");
    }

    #[test]
    fn a_minute_with_too_many_retries_is_noticed() {
        let retries = |seconds: &[i64]| Retries(seconds.iter().map(|second| at(*second)).collect());
        assert_eq!(retries(&[0, 1, 61, 62]).over_budget(2), None);
        assert!(retries(&[0, 1, 60]).over_budget(2).is_some());
        assert!(retries(&[0]).over_budget(0).is_some());
        let mut granted = Retries::default();
        let retry = vec![sent("lab/m@k0", AttemptKind::Retry, 9)];
        let ended = |class| vec![("lab/m@k0".parse().expect("a name"), Some(class), at(2))];
        granted.add(&Trace { sent: retry.clone(), ended: ended(Class::ServerError), ..Trace::default() });
        granted.add(&Trace { sent: retry, ended: ended(Class::RateLimit), ..Trace::default() });
        assert_eq!(granted.0, [at(2), at(9)]);
    }
}
