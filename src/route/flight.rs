//! Exchanges under way: one as a rule, two where a step is started beside one that is slow.
//!
//! The race is for the first content. Who has it is read to the end, and the other one is given up on the spot, which
//! closes its connection. One that fails while the other still runs is settled as always, but not tried again: the other
//! one is its second try.
//!
//! A request writes its row when something is known of it, and so one that is killed before would leave no trace. To write
//! before it is sent would make everybody wait for the sake of the few that die. So it is written while there is nothing to
//! do but wait: once the request is under way for [`LATE`], and not at all where an answer is quicker.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use jiff::Timestamp;

use crate::clock::Clock;
use crate::domain::{AttemptKind, GivenUp, RequestId, RequestRecord};
use crate::ladder::{Exchange, StepSpec};
use crate::store::{Batch, Store, StoreError};

use super::drive::{Drive, Stop, rest};
use super::exchange::{Call, Came, Opened};

/// A request that is under way for so long is written down as begun.
const LATE: Duration = Duration::from_secs(1);

/// An exchange that was sent.
pub(super) struct Flight {
    pub(super) exchange: Exchange,
    pub(super) step: StepSpec,
    pub(super) started_at: Timestamp,
}

impl Flight {
    /// The id under which it counts as under way: a request may have two.
    pub(super) fn id(exchange: &Exchange, request: &RequestId) -> RequestId {
        match exchange.kind {
            AttemptKind::Hedge => RequestId::new(format!("{request}~hedge")),
            _ => request.clone(),
        }
    }
}

/// A flight and what it waits for.
type Racer<'a> = (Flight, Pin<Box<dyn Future<Output = Opened<'a>> + 'a>>);

/// What happens next in a race.
enum Next<'a> {
    Opened(usize, Opened<'a>),
    /// The first one is slow.
    Slow,
    /// The user stops it.
    Stopped,
}

impl<'a, S: Store> Drive<'a, S> {
    /// Waits for what comes of the exchange, and of the one that is started beside it if it is slow.
    pub(super) async fn fly(&mut self, flight: Flight, call: Call<'a>) -> Result<(), StoreError> {
        let mut hedge_after = flight.step.hedge_after;
        let watch = self.router.clock.stopwatch();
        let mut racers: Vec<Racer<'a>> = vec![(flight, Box::pin(call.open()))];
        loop {
            let hedge = hedge_after.map(|after| after.saturating_sub(watch.elapsed()));
            let late = self.until_late();
            let patience = hedge.into_iter().chain(late).min();
            match next(self.router.clock, &mut racers, patience, self.stop.clone()).await {
                Next::Stopped => return self.stop_all(racers),
                Next::Slow if late.is_some() && late == patience => {
                    self.made.is_noted = true;
                    self.router.store.commit(&self.begun())?;
                }
                Next::Slow => {
                    hedge_after = None;
                    racers.extend(self.beside(&racers)?);
                }
                Next::Opened(at, opened) => {
                    let (flight, _) = racers.swap_remove(at);
                    match opened {
                        Opened::Done(measured) if !racers.is_empty() && !matches!(measured.came, Came::Answer(_)) => {
                            self.settle(&flight, *measured, false).await?;
                            if self.machine.end().is_some() {
                                return self.give_up(racers, GivenUp::Outrun);
                            }
                        }
                        opened => {
                            self.give_up(racers, GivenUp::Outrun)?;
                            return self.land(&flight, opened).await;
                        }
                    }
                }
            }
        }
    }

    /// The step that is started beside one that is slow, if the ladder has one.
    fn beside(&mut self, racers: &[Racer<'a>]) -> Result<Option<Racer<'a>>, StoreError> {
        let Some((slow, _)) = racers.first() else { return Ok(None) };
        let snapshot = self.router.store.snapshot(&self.accounts)?;
        let hedge = self.machine.hedge(&slow.exchange, &self.view(&snapshot));
        let Some(exchange) = hedge else { return Ok(None) };
        // One call more than the request needs is paid for like a retry, or a slow hour would double what everybody sends.
        if !self.grant()? {
            return Ok(None);
        }
        let departed = self.depart(&exchange, &snapshot.usage)?;
        Ok(departed.map(|(flight, call)| -> Racer<'a> { (flight, Box::pin(call.open())) }))
    }

    /// How long until the request is late; none where a row of it is there. Invented time kills nobody.
    fn until_late(&self) -> Option<Duration> {
        let is_there = self.made.is_noted || !self.made.attempts.is_empty();
        let counts = !is_there && self.router.clock.source().is_none();
        counts.then(|| LATE.saturating_sub(self.watch.elapsed()))
    }

    /// The request's own row while nothing is known of it.
    fn begun(&self) -> Batch {
        let row = RequestRecord::begun(self.job.id.clone(), self.job.spec.name.clone(), self.started_at);
        Batch { request: Some(row), ..Batch::default() }
    }

    /// Reads what has begun and settles it.
    async fn land(&mut self, flight: &Flight, opened: Opened<'a>) -> Result<(), StoreError> {
        let measured = match opened {
            Opened::Done(measured) => Some(*measured),
            Opened::Stream(opening) => {
                let (mut late, begun, mut stop) = (self.until_late(), self.begun(), self.stop.clone());
                let mut reading = pin!(opening.read(self.observer));
                loop {
                    tokio::select! {
                        measured = &mut reading => break Some(measured),
                        Ok(_) = stop.wait_for(|stopped| *stopped) => break None,
                        () = rest(self.router.clock, late.unwrap_or_default()), if late.is_some() => {
                            late = None;
                            self.router.store.commit(&begun)?;
                        }
                    }
                }
            }
        };
        let Some(measured) = measured else {
            self.machine.on_interrupt();
            return self.abandon(flight, GivenUp::Interrupted);
        };
        self.settle(flight, measured, true).await
    }

    fn stop_all(&mut self, racers: Vec<Racer<'a>>) -> Result<(), StoreError> {
        self.machine.on_interrupt();
        self.give_up(racers, GivenUp::Interrupted)
    }

    /// Closes the connections of those that are left.
    fn give_up(&mut self, racers: Vec<Racer<'a>>, why: GivenUp) -> Result<(), StoreError> {
        for (flight, call) in racers {
            drop(call);
            self.abandon(&flight, why)?;
        }
        Ok(())
    }
}

/// Waits for the first of the racers to come to its first content, but not longer than the patience lasts.
async fn next<'a>(clock: Clock, racers: &mut [Racer<'a>], patience: Option<Duration>, mut stop: Stop) -> Next<'a> {
    let opened = poll_fn(|context| {
        for (at, (_, racer)) in racers.iter_mut().enumerate() {
            if let Poll::Ready(opened) = racer.as_mut().poll(context) {
                return Poll::Ready(Next::Opened(at, opened));
            }
        }
        Poll::Pending
    });
    tokio::select! {
        biased;
        Ok(_) = stop.wait_for(|stopped| *stopped) => Next::Stopped,
        opened = opened => opened,
        () = rest(clock, patience.unwrap_or_default()), if patience.is_some() => Next::Slow,
    }
}
