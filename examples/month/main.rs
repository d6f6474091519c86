//! Plays a month of five providers on invented time, by llmr and by routers that bench whatever fails for a fixed time,
//! and prints what each of them wasted.
//!
//! ```sh
//! cargo run --release --example month -- 7        # the seed; 1 when none is given
//! ```
//!
//! The ladder: a quota of 3,000 requests a month (UTC), one of 250 a day (Los Angeles, in the month in which the clocks
//! go back), a provider with outages, one with 5 requests a minute, and a last one that always works. A request comes
//! every minute, and now and then ten at once.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a program of its own that may just end"
)]
#![expect(clippy::print_stdout, reason = "this is its output")]

mod simulation;

use std::time::Duration;

use simulation::{DAYS, Knows, Llmr, Naive, Router, START, STEPS, Tally, play};

fn main() {
    let seed = std::env::args().nth(1).map_or(1, |text| text.parse().expect("a seed"));
    let routers: [(&str, Box<dyn Router>); 6] = [
        ("llmr, resets stated", Box::new(Llmr::new(Knows::Stated, seed))),
        ("llmr, resets in the catalogue", Box::new(Llmr::new(Knows::Documented, seed))),
        ("llmr, limits in the config", Box::new(Llmr::new(Knows::Limits, seed))),
        ("llmr, nobody says", Box::new(Llmr::new(Knows::Nothing, seed))),
        ("benches for 60 s", Box::new(Naive::new(Duration::from_secs(60)))),
        ("benches for 5 s", Box::new(Naive::new(Duration::from_secs(5)))),
    ];
    let rows: Vec<(&str, Tally)> =
        routers.into_iter().map(|(name, mut router)| (name, play(router.as_mut(), seed))).collect();
    let requests = rows.first().map_or(0, |(_, tally)| tally.requests);
    println!("{DAYS} days from {START}, seed {seed}: {requests} requests\n");
    wasted(&rows);
    missed(&rows);
    calls(&rows);
}

const NAME: usize = 30;
const COLUMN: usize = 11;

fn head(title: &str, columns: &[&str]) {
    let columns: String = columns.iter().map(|column| format!("{column:>COLUMN$}")).collect();
    println!("{title:NAME$}{columns}");
}

fn row(name: &str, steps: &[&str], cell: impl Fn(&str) -> String, more: &[u32]) {
    let cells = steps.iter().map(|step| cell(step)).chain(more.iter().map(u32::to_string));
    let cells: String = cells.map(|cell| format!("{cell:>COLUMN$}")).collect();
    println!("{name:NAME$}{cells}");
}

/// The steps that are not always there.
fn limited() -> &'static [&'static str] {
    &STEPS[..STEPS.len() - 1]
}

fn wasted(rows: &[(&str, Tally)]) {
    head("wasted calls a day", limited());
    for (name, tally) in rows {
        row(name, limited(), |step| format!("{:.1}", tally.of(step).wasted_a_day()), &[]);
    }
    println!();
}

fn missed(rows: &[(&str, Tally)]) {
    println!("requests of the month for which a better step was free but not asked; those that nobody answered");
    println!("at all, and those that were answered after more than ten seconds");
    let columns: Vec<&str> = limited().iter().copied().chain(["unanswered", "late"]).collect();
    head("", &columns);
    for (name, tally) in rows {
        row(name, limited(), |step| tally.of(step).missed.to_string(), &[tally.unanswered, tally.late]);
    }
    println!();
}

fn calls(rows: &[(&str, Tally)]) {
    head("calls of the month", &STEPS);
    for (name, tally) in rows {
        row(name, &STEPS, |step| tally.of(step).calls.to_string(), &[]);
    }
    println!();
    head("of these failed", &STEPS);
    for (name, tally) in rows {
        row(name, &STEPS, |step| tally.of(step).failed.to_string(), &[]);
    }
}
