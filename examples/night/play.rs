//! The night, in real time.

use std::time::Duration;

use llmr::clock::{Clock, Stopwatch};

use crate::recorder::Recorder;
use crate::stage::Stage;
use crate::table::{ASKED, Act, BETWEEN, LENGTH, TIMES};

/// What is done at a moment.
enum Item {
    Ask(&'static str),
    Act(Act),
}

/// Plays it to its end.
pub(crate) fn play(stage: &mut Stage, recorder: &mut Recorder) {
    let watch = Clock::new(None).stopwatch();
    recorder.begin(watch);
    for (at, item) in agenda() {
        wait_until(&watch, at);
        match item {
            Item::Ask(ladder) => stage.ask(ladder),
            Item::Act(act) => act_out(act, at, stage, recorder),
        }
    }
    wait_until(&watch, LENGTH);
}

fn act_out(act: Act, at: f64, stage: &mut Stage, recorder: &mut Recorder) {
    match act {
        Act::Turns(name, mood) => {
            tell(at, &format!("{name}: {mood:?}"));
            stage.turn(name, mood);
        }
        Act::NewKey(name) => {
            tell(at, &format!("{name}: another key is there"));
            stage.replace_key(name);
        }
        Act::Runs(words) => {
            tell(at, &format!("llmr {}", words.join(" ")));
            stage.run(words);
        }
        Act::Types(who, keys) => recorder.press(who, keys),
        Act::Shows(moment) => recorder.note(moment),
    }
}

#[expect(clippy::print_stdout, reason = "who watches wants to know what happens")]
fn tell(at: f64, what: &str) {
    println!("{at:4.1} s  {what}");
}

/// All that is done, in its order.
fn agenda() -> Vec<(f64, Item)> {
    let requests = ASKED.iter().cycle().zip(0..).map(|(ladder, number)| (BETWEEN * f64::from(number), *ladder));
    let requests = requests.take_while(|(at, _)| *at < LENGTH).map(|(at, ladder)| (at, Item::Ask(ladder)));
    let mut all: Vec<(f64, Item)> = requests.chain(TIMES.iter().map(|(at, act)| (*at, Item::Act(*act)))).collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    all
}

#[expect(clippy::disallowed_methods, reason = "a night in real time has to wait")]
fn wait_until(watch: &Stopwatch, at: f64) {
    std::thread::sleep(Duration::from_secs_f64(at).saturating_sub(watch.elapsed()));
}
