//! The log: attempts, the rows of their requests, and what is read out of them.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;

use jiff::Timestamp;

use super::State;
use crate::domain::{AttemptKind, AttemptRecord, Deployment, LadderName, Outcome, RequestId, RequestRecord};
use crate::policy::{Sample, TrackRecord};
use crate::store::{Claim, Claiming, Health, LogFilter, LogPage, OTHER_LADDERS, tally_unfinished, unfinished};

impl State {
    /// The attempt and, with the first, a row for its request.
    pub(super) fn write_attempt(&mut self, id: &RequestId, place: u32, attempt: &AttemptRecord) {
        self.attempts.insert((id.clone(), place), attempt.clone());
        self.note_health(attempt);
        if self.place_of(id).is_none() {
            self.append(unfinished(id, attempt.started_at));
        }
    }

    pub(super) fn write_request(&mut self, request: &RequestRecord) {
        for (place, attempt) in (0_u32..).zip(&request.attempts) {
            if let Entry::Vacant(entry) = self.attempts.entry((request.id.clone(), place)) {
                entry.insert(attempt.clone());
                self.note_health(attempt);
            }
        }
        if let Some(place) = self.place_of(&request.id) {
            self.requests.remove(&place);
        }
        self.append(RequestRecord { attempts: Vec::new(), ..request.clone() });
    }

    fn append(&mut self, request: RequestRecord) {
        self.last_place += 1;
        self.requests.insert(self.last_place, request);
    }

    fn place_of(&self, id: &RequestId) -> Option<i64> {
        self.requests.iter().find(|(_, request)| request.id == *id).map(|(place, _)| *place)
    }

    fn row_of(&self, id: &RequestId) -> Option<&RequestRecord> {
        self.place_of(id).and_then(|place| self.requests.get(&place))
    }

    pub(super) fn claim(&mut self, wish: &Claiming<'_>) -> Claim {
        let Claiming { id, ladder, asked, now, until } = *wish;
        let before = self.claims.get(id);
        if before.is_some_and(|(before, _)| before != asked) {
            return Claim::Another;
        }
        let row = self.row_of(id);
        let is_under_way = before.is_some_and(|(_, until)| *until > now);
        let is_known =
            |row: &&RequestRecord| row.outcome.is_final() || (row.outcome == Outcome::Unfinished && is_under_way);
        if let Some(row) = row.filter(is_known) {
            return Claim::Known(Box::new(self.whole(row)));
        }
        let positions = self.attempts.range((id.clone(), 0)..=(id.clone(), u32::MAX));
        let attempts = positions.last().map_or(0, |((_, position), _)| position + 1);
        let begun = RequestRecord { ladder: ladder.clone(), ..unfinished(id, now) };
        match self.place_of(id).and_then(|place| self.requests.get_mut(&place)) {
            Some(row) => *row = begun,
            None => self.append(begun),
        }
        self.claims.insert(id.clone(), (asked.to_owned(), until));
        self.commits += 1;
        Claim::Taken { attempts }
    }

    fn note_health(&mut self, attempt: &AttemptRecord) {
        // One that was given up says nothing of the deployment.
        if attempt.given_up.is_some() {
            return;
        }
        let health = self.health.entry(attempt.deployment.clone()).or_insert_with(|| Health {
            deployment: attempt.deployment.clone(),
            account: attempt.account.clone(),
            last_success: None,
            last_failure: None,
        });
        health.account.clone_from(&attempt.account);
        let moment = if attempt.class.is_none() { &mut health.last_success } else { &mut health.last_failure };
        *moment = (*moment).max(Some(attempt.started_at));
    }

    pub(super) fn track_record(
        &self,
        deployment: &Deployment,
        ladder: Option<&LadderName>,
        since: Timestamp,
        most: u32,
    ) -> Option<TrackRecord> {
        let counts = |((id, place), attempt): &(&(RequestId, u32), &AttemptRecord)| {
            let next = || self.attempts.get(&(id.clone(), place + 1));
            // A refusal after which the same deployment could do the request in another form is no failure of it.
            let is_adjusted =
                || attempt.class.is_some() && next().is_some_and(|next| next.kind == AttemptKind::Adjusted);
            let is_meant = attempt.deployment == *deployment && attempt.started_at >= since;
            is_meant && attempt.given_up.is_none() && !is_adjusted()
        };
        let mut latest: Vec<_> = self.attempts.iter().filter(counts).collect();
        latest.sort_by_key(|(_, attempt)| Reverse(attempt.started_at));
        if let Some(ladder) = ladder {
            latest.truncate(usize::try_from(most.saturating_mul(OTHER_LADDERS)).unwrap_or(usize::MAX));
            latest.retain(|((id, _), _)| self.row_of(id).is_some_and(|request| request.ladder == *ladder));
        }
        latest.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        let sample = |(_, attempt): (_, &AttemptRecord)| Sample {
            kind: attempt.kind,
            class: attempt.class,
            judged: attempt.judged,
            ttft: attempt.ttft,
            latency: attempt.latency,
            output_tokens: attempt.usage.output_tokens,
            cost_usd: attempt.cost_usd,
        };
        let samples: Vec<Sample> = latest.into_iter().map(sample).collect();
        TrackRecord::of(deployment.clone(), &samples)
    }

    pub(super) fn log(&self, filter: &LogFilter) -> LogPage {
        let wanted = |place: i64, request: &RequestRecord| {
            filter.fits(request)
                && filter.after.is_none_or(|after| place > after && request.outcome != Outcome::Unfinished)
        };
        let mut found: Vec<_> = self
            .requests
            .iter()
            // By the time that the row states: the attempts of an unfinished request may know an earlier one.
            .filter(|(_, request)| filter.since.is_none_or(|since| request.started_at >= since))
            .filter(|(_, request)| filter.until.is_none_or(|until| request.started_at < until))
            .map(|(place, request)| (*place, self.whole(request)))
            .filter(|(place, request)| wanted(*place, request))
            .collect();
        let mut last = self.last_place;
        match filter.after {
            Some(after) if found.len() >= filter.limit => {
                found.truncate(filter.limit);
                last = found.last().map_or(after, |(place, _)| *place);
            }
            Some(_) => {}
            None => {
                found.drain(..found.len().saturating_sub(filter.limit));
            }
        }
        LogPage { requests: found.into_iter().map(|(_, request)| request).collect(), last }
    }

    fn whole(&self, request: &RequestRecord) -> RequestRecord {
        let all = (request.id.clone(), 0)..=(request.id.clone(), u32::MAX);
        let attempts = self.attempts.range(all).map(|(_, attempt)| attempt.clone()).collect();
        let mut request = RequestRecord { attempts, ..request.clone() };
        tally_unfinished(&mut request);
        request
    }
}
