//! What a person is asked at a terminal before a side effect, and what counts as a yes.
#![cfg(test)]

use llmr::domain::ToolCall;
use llmr::rehearsal::{Provider, Reply};
use serde_json::json;

use crate::stage::{Stage, config, openai, until};
use crate::terminal::Show;

const ASKS: &str = "run it? [y/N]";

/// A model that wants a line to be written into `effects`, and the ladder that lets it.
fn stage() -> (Provider, Stage) {
    stage_with("{}")
}

/// The same, with these arguments. What the command gets stands in `got`.
fn stage_with(arguments: &str) -> (Provider, Stage) {
    let call = ToolCall { id: "c1".to_owned(), name: "note".to_owned(), arguments: arguments.to_owned() };
    let lab = openai(vec![Reply::tool_calls(vec![call]), Reply::answer("all is done")]);
    let text = config(&[("lab", &lab)]).replace("[ladders.main]\n", "[ladders.main]\ntools = [\"note\"]\n");
    let tool = "[tools.note]\ndescription = \"A note\"\nschema = { type = \"object\" }\n\
                command = [\"sh\", \"-c\", \"cat > got; echo noted >> effects; echo noted\"]\n";
    let mut stage = Stage::with(&format!("{text}\n{tool}"));
    stage.set("TERM", "xterm-256color");
    (lab, stage)
}

fn asked(stage: &Stage) -> Show {
    let show = Show::start(stage, (100, 30), &["chat", "--session", "s", "?"]);
    show.shows(ASKS);
    show
}

fn effects(stage: &Stage) -> usize {
    std::fs::read_to_string(stage.path("effects")).map_or(0, |text| text.lines().count())
}

#[test]
fn a_yes_runs_it_and_all_else_does_not() {
    for (keys, count, code) in
        [("y\r", 1, 0), ("\r", 0, 0), ("n\r", 0, 0), ("yess\r", 0, 0), ("\x04", 0, 5), ("\x03", 0, 130)]
    {
        let (_lab, stage) = stage();
        let mut show = asked(&stage);
        show.press(keys);
        show.ends_with(code);
        assert_eq!(effects(&stage), count, "{keys:?}");
    }
}

#[test]
fn what_was_left_open_is_asked_again() {
    let (lab, stage) = stage();
    let mut show = asked(&stage);
    show.press("\x04");
    show.ends_with(5);
    let mut show = asked(&stage);
    show.press("y\r");
    show.shows("all is done");
    show.ends_with(0);
    assert_eq!((effects(&stage), lab.hits()), (1, 2), "the model was not asked for the call again");
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let (lab, stage) = stage();
    let gate = stage.path("gate");
    // The first tool waits until something was typed; the question comes after it.
    let text = std::fs::read_to_string(stage.path("llmr.toml")).expect("a config");
    let first = format!(
        "[tools.wait]\ndescription = \"Waits\"\nschema = {{ type = \"object\" }}\neffect = \"pure\"\n\
         command = [\"sh\", \"-c\", \"touch begun; until [ -e '{}' ]; do :; done\"]\n",
        gate.display()
    );
    let call = |id: &str, name: &str| ToolCall { id: id.into(), name: name.into(), arguments: "{}".to_owned() };
    lab.play(vec![Reply::tool_calls(vec![call("c1", "wait"), call("c2", "note")]), Reply::answer("all is done")]);
    std::fs::write(stage.path("llmr.toml"), text.replace("[\"note\"]", "[\"wait\", \"note\"]") + &first)
        .expect("written");
    let mut show = Show::start(&stage, (100, 30), &["chat", "--session", "s", "?"]);
    until("the first tool runs", || stage.path("begun").exists());
    show.press("y\ry");
    std::fs::write(&gate, "").expect("opened");
    show.shows(ASKS);
    show.press("\r");
    show.ends_with(0);
    assert_eq!(effects(&stage), 0);
}

#[test]
fn what_is_shown_is_what_runs() {
    let arguments = json!({"n": "ls \u{202e}\u{200b}x \u{9b}5 rm"}).to_string();
    let (_lab, stage) = stage_with(&arguments);
    let mut show = asked(&stage);
    show.shows(r#"arguments: {"n":"ls \u202e\u200bx \u009b5 rm"}"#);
    show.press("y\r");
    show.ends_with(0);
    assert_eq!(std::fs::read_to_string(stage.path("got")).expect("a file"), arguments, "the command gets the original");
}

#[test]
fn a_hole_in_what_is_shown_needs_the_whole_word() {
    // As the model wrote it, it does not look like a key; as the command gets it, it does.
    let arguments = r#"{"n":"\u0073k-0123456789abcdef0123"}"#;
    for (keys, count) in [("y\r", 0), ("yes\r", 1)] {
        let (_lab, stage) = stage_with(arguments);
        let mut show = Show::start(&stage, (100, 30), &["chat", "--session", "s", "?"]);
        show.shows("run it, with what is not shown? [yes/N]");
        show.press(keys);
        show.ends_with(0);
        assert_eq!(effects(&stage), count, "{keys:?}");
    }
}
