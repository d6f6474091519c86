//! Works on the parts of a stream at the same time and gives their results in order.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::CliError;

/// How many parts each worker may have waiting: memory is bounded by them.
const WAITING: usize = 3;

/// A part with the way back for its result.
type Job<P, R> = (P, SyncSender<R>);

/// Takes the parts that `next` gives, works on them with `jobs` workers that `worker` makes, and hands the results to
/// `take` in the order of the parts. For one job, or when the first part is the only one, as `alone` says, no thread is
/// started.
///
/// # Errors
/// The first trouble of `next` or `take`. What was begun before a trouble of `next` is still finished.
pub fn in_order<P: Send, R: Send, W: FnMut(P) -> R>(
    jobs: usize,
    alone: impl Fn(&P) -> bool,
    mut next: impl FnMut() -> Result<Option<P>, CliError>,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(R) -> Result<(), CliError> + Send,
) -> Result<(), CliError> {
    let Some(first) = next()? else { return Ok(()) };
    if jobs == 1 || alone(&first) {
        let mut work = worker();
        take(work(first))?;
        while let Some(part) = next()? {
            take(work(part))?;
        }
        return Ok(());
    }
    let (work, jobs_left) = sync_channel::<Job<P, R>>(jobs * WAITING);
    let (order, results) = sync_channel::<Receiver<R>>(jobs * WAITING);
    let jobs_left = Mutex::new(jobs_left);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| serve(&jobs_left, worker()));
        }
        let taker = scope.spawn(move || {
            // A worker that is gone without a result has ended the process.
            results.into_iter().map_while(|result| result.recv().ok()).try_for_each(&mut take)
        });
        let fed = feed(first, &mut next, &work, &order);
        drop((work, order));
        taker.join().unwrap_or(Ok(())).and(fed)
    })
}

fn serve<P, R>(jobs: &Mutex<Receiver<Job<P, R>>>, mut work: impl FnMut(P) -> R) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((part, back)) = job else { return };
        // Nobody waits for it when printing has failed.
        let _ = back.send(work(part));
    }
}

fn feed<P, R>(
    first: P,
    next: &mut impl FnMut() -> Result<Option<P>, CliError>,
    work: &SyncSender<Job<P, R>>,
    order: &SyncSender<Receiver<R>>,
) -> Result<(), CliError> {
    let mut part = Some(first);
    while let Some(this) = part {
        let (back, result) = sync_channel(1);
        // The one who takes is gone when printing has failed, and says so.
        if order.send(result).is_err() || work.send((this, back)).is_err() {
            break;
        }
        part = next()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(jobs: usize, parts: usize, fail_at: Option<usize>) -> (Vec<usize>, bool) {
        let mut left = 0..parts;
        let mut taken = Vec::new();
        let done = in_order(
            jobs,
            |_| false,
            || Ok(left.next()),
            || |part: usize| part * 2,
            |result| {
                if Some(result) == fail_at {
                    return Err(CliError::trouble("full"));
                }
                taken.push(result);
                Ok(())
            },
        );
        (taken, done.is_ok())
    }

    #[test]
    fn results_come_in_the_order_of_the_parts() {
        for jobs in [1, 2, 5] {
            for parts in [0, 1, 2, 3, 100] {
                assert_eq!(run(jobs, parts, None), ((0..parts).map(|part| part * 2).collect(), true));
            }
        }
    }

    #[test]
    fn nothing_is_taken_after_a_trouble() {
        for jobs in [1, 3] {
            assert_eq!(run(jobs, 100, Some(20)), ((0..10).map(|part| part * 2).collect(), false));
        }
        let mut calls = 0;
        let mut taken = 0;
        let next = || {
            calls += 1;
            if calls > 5 { Err(CliError::trouble("torn")) } else { Ok(Some(calls)) }
        };
        let done = in_order(
            2,
            |_| false,
            next,
            || |part: i32| part,
            |_| {
                taken += 1;
                Ok(())
            },
        );
        assert!(done.is_err());
        assert_eq!(taken, 5);
    }
}
