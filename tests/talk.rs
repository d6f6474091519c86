//! Conversations with tools as a person sees them: each side effect once, whoever dies, and whoever of the ladder goes on.
#![cfg(test)]

use std::path::Path;
use std::time::Duration;

use llmr::catalog::Wire;
use llmr::clock::{Clock, Rng};
use llmr::domain::ToolCall;
use llmr::rehearsal::{Case, Provider, Reply, Script};
use serde_json::{Value, json};

use crate::stage::{Done, Stage, config, finish, openai, signal, until};

fn call(id: &str, tool: &str, arguments: &Value) -> ToolCall {
    ToolCall { id: id.to_owned(), name: tool.to_owned(), arguments: arguments.to_string() }
}

fn when(contains: &str, reply: Reply) -> Case {
    Case { contains: Some(contains.to_owned()), replies: vec![reply], ..Case::default() }
}

fn overloaded() -> Reply {
    Reply::status(503, json!({"error": {"message": "The model is overloaded. Please try again later."}}))
}

/// Wants a note, after it another one and a look, and then says so. Calls have the ids of who makes them.
fn worker(name: &str) -> Script {
    let note = |n: u32| call(&format!("{name}{n}"), "note", &json!({"n": n}));
    let look = call(&format!("{name}look"), "look", &json!({}));
    Script {
        cases: vec![
            when("noted 2", Reply::answer("all done")),
            when("noted 1", Reply::tool_calls(vec![note(2), look])),
        ],
        replies: vec![Reply::tool_calls(vec![note(1)])],
    }
}

/// The same, but it dies once the first note is taken.
fn dying(name: &str) -> Script {
    let mut script = worker(name);
    script.cases = vec![when("noted 1", overloaded())];
    script
}

/// The tools: one that appends to a file, and one that looks. `before` and `after` are shell code around the effect.
fn tools(before: &str, after: &str) -> String {
    format!(
        r#"
[tools.note]
description = "Notes a number"
command = ["sh", "-c", 'read -r a; {before} echo "$a $LLMR_IDEMPOTENCY_KEY" >> notes; {after} n=${{a#*:}}; echo "noted ${{n%\}}}}"']
schema = {{ type = "object", properties = {{ n = {{ type = "integer" }} }}, required = ["n"] }}

[tools.look]
description = "Looks at the notes"
command = ["sh", "-c", 'echo looked >> looks; wc -l < notes']
effect = "pure"
"#
    )
}

/// A stage whose ladder may use both tools.
fn stage(providers: &[(&str, &Provider)], tools: &str) -> Stage {
    let text = config(providers).replace("[ladders.main]\n", "[ladders.main]\ntools = [\"note\", \"look\"]\n");
    Stage::with(&format!("{text}{tools}"))
}

/// What was noted, line by line.
fn notes(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(stage.path("notes")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The numbers that were noted.
fn numbers(stage: &Stage) -> Vec<String> {
    notes(stage).iter().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

/// Waits until nothing that was started in this home is left: what a killed process has begun may still be at work.
fn settle_down(stage: &Stage) {
    let home = stage.path("");
    let home = home.to_str().expect("a plain path").trim_end_matches('/').as_bytes().to_vec();
    let is_ours = |path: &Path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.windows(home.len()).any(|window| window == home)
    };
    until("nothing is at work any more", || {
        let Ok(processes) = std::fs::read_dir("/proc") else { return true };
        !processes.flatten().any(|entry| is_ours(&entry.path()))
    });
}

/// Goes on with the conversation as a careful person would until it is answered; says how often a question came.
fn go_on(stage: &Stage, args: &[&str]) -> (Done, u32) {
    for questions in 0..10 {
        let done = stage.run(args);
        if done.code != Some(5) {
            return (done, questions);
        }
        settle_down(stage);
        let shown = stage.json(&["session", "show", "s", "--json"]);
        let calls = shown["calls"].as_array().expect("a list");
        let open = calls.iter().find(|call| call["state"] != "done").unwrap_or_else(|| panic!("{}", done.err));
        let (name, arguments) = (open["call"].as_str().expect("a name"), open["arguments"].as_str().expect("a text"));
        assert!(done.err.contains(&format!("session settle s {name}")), "{}", done.err);
        let said: Value = serde_json::from_str(arguments).expect("JSON");
        match numbers(stage).contains(&said.to_string()) {
            true => stage.run(&["session", "settle", "s", name, "--result", &format!("noted {}", said["n"])]).exits(0),
            false => stage.run(&["session", "settle", "s", name, "--again", "--force"]).exits(0),
        };
    }
    panic!("it never ends");
}

fn pairs() -> impl Iterator<Item = (Wire, Wire)> {
    Wire::ALL.iter().flat_map(|a| Wire::ALL.iter().map(move |b| (*a, *b)))
}

fn of(wire: Wire, script: Script) -> Provider {
    Provider::start(wire, script).expect("a provider")
}

const CHAT: &[&str] = &["chat", "--session", "s", "--yes-tools", "note two numbers"];

#[test]
fn when_one_provider_dies_the_next_goes_on_with_the_results_of_its_calls() {
    for (first, second) in pairs() {
        let (a, b) = (of(first, dying("a")), of(second, worker("b")));
        let stage = stage(&[("a", &a), ("b", &b)], &tools("", ""));
        let done = stage.run(CHAT).exits(0).prints("all done\n");
        assert!(done.err.contains("tool note  ok"), "{}", done.err);
        assert_eq!(numbers(&stage), [r#"{"n":1}"#, r#"{"n":2}"#], "{first:?} {second:?}");
        // The other one finds the call and its result in its own words, and answers to the end: nobody goes back.
        let seen = b.requests()[0].body.to_string();
        for part in ["note two numbers", "noted 1", "\"note\""] {
            assert!(seen.contains(part), "{part} is missing for {second:?}: {seen}");
        }
        assert_eq!((a.hits(), b.hits()), (2, 2), "{first:?} {second:?}");
        let states: Vec<(String, u32)> = {
            let sql = stage.sql();
            let mut rows =
                sql.prepare("SELECT tool || ' ' || state || ' ' || ending, tries FROM calls").expect("a view");
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
            rows.map(|row| row.expect("a row")).collect()
        };
        let ok = |tool: &str| (format!("{tool} done ok"), 1);
        assert_eq!(states, [ok("note"), ok("note"), ok("look")]);
    }
}

#[test]
fn a_kill_between_a_result_and_the_next_request_runs_nothing_twice() {
    for (first, second) in pairs() {
        // Killed while the next model is being asked: the result of the first note is known.
        let hanging = Script { cases: vec![when("noted 1", Reply::Hang)], ..worker("a") };
        let (a, b) = (of(first, hanging), of(second, worker("b")));
        let stage = stage(&[("a", &a), ("b", &b)], &tools("", ""));
        let child = stage.command(CHAT).spawn().expect("started");
        until("the result was sent", || a.hits() == 2);
        signal(child.id(), "KILL");
        assert_eq!(finish(child).code, None);
        a.play(dying("a"));
        let done = stage.run(&["chat", "--session", "s", "--yes-tools"]).exits(0).prints("all done\n");
        assert_eq!(numbers(&stage), [r#"{"n":1}"#, r#"{"n":2}"#], "{first:?} {second:?}: {}", done.err);
    }
}

#[test]
fn a_command_that_outlives_its_process_is_asked_about_and_not_run_again() {
    for (before, after, noted) in
        [("kill -9 $PPID;", "", true), ("", "kill -9 $PPID;", true), ("kill -9 $PPID; exit 1;", "", false)]
    {
        let lab = of(Wire::OpenAi, worker("a"));
        let once = format!("[ -e killed ] || {{ : > killed; {before} :; }};");
        let later = format!("[ -e killed2 ] || {{ : > killed2; {after} :; }};");
        let stage = stage(&[("lab", &lab)], &tools(&once, &later));
        assert_eq!(stage.run(CHAT).code, None, "it was killed");
        settle_down(&stage);
        assert_eq!(numbers(&stage).len(), usize::from(noted));
        for _ in 0..2 {
            let done = stage.run(&["chat", "--session", "s", "--yes-tools"]).exits(5);
            done.says(&[
                "nobody knows whether `note` did its work",
                "arguments: {\"n\":1}",
                "idempotency key:",
                "--again",
            ]);
        }
        let (done, questions) = go_on(&stage, CHAT);
        assert_eq!((done.code, done.out.as_str(), questions), (Some(0), "all done\n", 1), "{}", done.err);
        assert_eq!(numbers(&stage), [r#"{"n":1}"#, r#"{"n":2}"#]);
    }
}

/// Kills at moments that are spread over the whole run, and people who then say what is true.
fn killed(kills: u32, seed: u64) -> (u32, u32) {
    let mut rng = Rng::new(Some(seed));
    let pairs: Vec<(Wire, Wire)> = pairs().collect();
    let (mut questions, mut alive) = (0, 0);
    let usual = {
        let lab = of(Wire::OpenAi, worker("a"));
        let stage = stage(&[("lab", &lab)], &tools("", ""));
        let watch = Clock::new(None).stopwatch();
        stage.run(CHAT).exits(0);
        watch.elapsed()
    };
    for number in 0..kills {
        let (first, second) = pairs[number as usize % pairs.len()];
        let (a, b) = (of(first, dying("a")), of(second, worker("b")));
        let stage = stage(&[("a", &a), ("b", &b)], &tools("", ""));
        let after = usual.mul_f64(rng.unit() * 1.2);
        let child = stage.command(CHAT).spawn().expect("started");
        wait(after);
        // It may have ended by itself.
        let mut child = child;
        child.kill().expect("killed");
        alive += u32::from(finish(child).code.is_some());
        let (done, asked) = go_on(&stage, CHAT);
        questions += asked;
        assert_eq!((done.code, done.out.as_str()), (Some(0), "all done\n"), "after {after:?}: {}", done.err);
        let mut numbers = numbers(&stage);
        numbers.sort();
        assert_eq!(
            numbers,
            [r#"{"n":1}"#, r#"{"n":2}"#],
            "killed after {after:?} of {usual:?} ({first:?}, {second:?})"
        );
    }
    println!("{kills} kills over {usual:?}: {alive} came too late, {questions} questions");
    (alive, questions)
}

/// Kills in four threads. Some must have met a process that lived, and some a tool at work; else nothing was tried.
fn killed_in_all(each: u32, seeds: std::ops::Range<u64>) {
    let kills = each * u32::try_from(seeds.clone().count()).expect("few");
    let threads: Vec<_> = seeds.map(|seed| std::thread::spawn(move || killed(each, seed))).collect();
    let came = threads.into_iter().map(|thread| thread.join().expect("no panic"));
    let (alive, questions) = came.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(alive < kills, "every kill came too late");
    assert!(questions > 0, "no kill met a tool at work");
}

/// Lets so much time pass: the moment of a kill, not a wait for anything.
fn wait(length: Duration) {
    let watch = Clock::new(None).stopwatch();
    while watch.elapsed() < length {
        std::thread::park_timeout(length - watch.elapsed().min(length));
    }
}

#[test]
fn a_hundred_kills_at_any_moment_leave_each_line_once() {
    killed_in_all(25, 0..4);
}

#[test]
#[ignore = "takes a minute; run it after a change to src/session or src/store"]
fn a_thousand_kills_at_any_moment_leave_each_line_once() {
    killed_in_all(250, 10..14);
}

/// What was wrong is told once for an answer, whatever was called on the way to it.
#[test]
fn an_answer_that_takes_several_turns_is_repaired_once_by_each_deployment() {
    let look = |id: &str| Reply::tool_calls(vec![call(id, "look", &json!({}))]);
    let wordy = openai(vec![Reply::answer("It is noon."), look("a"), Reply::answer("Noon, as I said.")]);
    let good = openai(Reply::answer(r#"{"time": "noon"}"#));
    let stage = stage(&[("wordy", &wordy), ("good", &good)], &tools("", ""));
    let schema = stage.file("schema.json", r#"{"type": "object", "required": ["time"]}"#);
    let object = stage.run(&["chat", "--json", "--schema", &schema, "?"]).exits(0).json();
    let told = |attempt: &Value| {
        let part = |name: &str| attempt[name].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} {}", part("deployment"), part("kind"), part("class"), attempt["judged"])
    };
    let attempts: Vec<String> = object["attempts"].as_array().expect("a list").iter().map(told).collect();
    let expected = [
        "wordy/m first invalid_output true",
        "wordy/m repair - false",
        "wordy/m first invalid_output false",
        "good/m first - true",
    ];
    assert_eq!(attempts, expected);
    let stats = stage.json(&["stats", "--json"]);
    let figures = &stats["figures"];
    let repairs = (&figures["repairs"], &figures["repairs_helped"]);
    assert_eq!(repairs, (&json!(1), &json!(0)), "a call is not the answer that was asked for");
    assert_eq!((&figures["judged"], &figures["valid_at_once_rate"]), (&json!(2), &json!(0.5)));
}
