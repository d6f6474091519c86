//! Conversations where something is in doubt: what a person is asked, and that nothing is done before the answer.
#![cfg(test)]

use llmr::domain::ToolCall;
use llmr::rehearsal::{Provider, Reply, Script};
use serde_json::{Value, json};

use crate::damaged_files::without_table;
use crate::stage::{Stage, config, finish, openai, signal, until};

fn wants(arguments: &Value) -> Reply {
    Reply::tool_calls(vec![ToolCall { id: "c1".to_owned(), name: "t".to_owned(), arguments: arguments.to_string() }])
}

fn once(arguments: &Value, answer: &str) -> Script {
    Script::from(vec![wants(arguments), Reply::answer(answer)])
}

/// A ladder with a tool `t` that has a side effect and runs this in a shell.
pub fn stage(lab: &Provider, more: &str, shell: &str) -> Stage {
    let text = config(&[("lab", lab)]).replace("[ladders.main]\n", "[ladders.main]\ntools = [\"t\"]\n");
    Stage::with(&format!("{text}\n[tools.t]\ndescription = \"A tool\"\ncommand = [\"sh\", \"-c\", '{shell}']\n{more}"))
}

fn effects(stage: &Stage) -> usize {
    std::fs::read_to_string(stage.path("effects")).unwrap_or_default().lines().count()
}

#[test]
fn a_parent_that_ignores_the_end_of_children_does_not_make_a_tool_look_unstarted() {
    let lab = openai(once(&json!({}), "it is done"));
    let stage = stage(&lab, "", "echo x >> effects; echo fine");
    let mut command = std::process::Command::new("bash");
    let program = env!("CARGO_BIN_EXE_llmr");
    command.args(["-c", &format!("trap '' CHLD; exec {program} chat --session s --yes-tools '?'")]);
    command.env_clear().envs(stage.env().iter().cloned()).current_dir(stage.path(""));
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    finish(command.spawn().expect("started")).exits(0).prints("it is done\n").says(&["tool t  ok"]);
    assert_eq!(effects(&stage), 1);
}

#[test]
fn a_session_that_may_have_been_lost_with_the_state_does_not_begin_anew_by_itself() {
    let lab = openai(once(&json!({}), "it is done"));
    let stage = stage(&lab, "", "echo x >> effects");
    stage.run(&["chat", "--session", "s", "--yes-tools", "?"]).exits(0);
    std::fs::remove_file(stage.path("state.db-wal")).ok();
    std::fs::write(stage.state(), "this is no database".repeat(500)).expect("damaged");
    lab.play(once(&json!({}), "it is done again"));
    for _ in 0..2 {
        let done = stage.run(&["chat", "--session", "s", "--yes-tools", "?"]).exits(1);
        done.says(&["there is no session `s`", "could repeat", ".corrupt-", "llmr session new s"]);
    }
    assert_eq!((effects(&stage), lab.hits()), (1, 2), "nobody was asked, and nothing was done");
    stage.run(&["session", "new", "s"]).exits(0);
    stage.run(&["session", "new", "s"]).exits(2).says(&["already"]);
    stage.run(&["chat", "--session", "s", "--yes-tools", "?"]).exits(0).prints("it is done again\n");
    assert_eq!(effects(&stage), 2);
}

/// The log is lost; what the tools did is not, and it is not done again.
#[test]
fn a_conversation_outlives_the_damage_of_the_log() {
    let lab = openai(vec![wants(&json!({})), Reply::status(503, "down")]);
    let stage = stage(&lab, "", "echo x >> effects; echo fine");
    stage.run(&["chat", "--session", "s", "--yes-tools", "?"]).exits(4);
    let before = stage.run(&["session", "show", "s", "--json"]).exits(0).out;
    without_table(&stage, "attempts");
    let done = stage.run(&["log"]).exits(0);
    done.says(&["warning: ", "begins anew with the one hold that could be read and one conversation"]);
    assert_eq!(stage.run(&["session", "show", "s", "--json"]).exits(0).out, before);
    lab.play(Script::from(vec![Reply::answer("it is done")]));
    stage.run(&["reset", "--all"]).exits(0);
    stage.run(&["chat", "--session", "s", "--yes-tools"]).exits(0).prints("it is done\n");
    assert_eq!(effects(&stage), 1);
}

#[test]
fn a_conversation_with_a_damaged_journal_is_not_gone_on_with() {
    let lab = openai(once(&json!({}), "it is done"));
    for table in ["journal", "turns", "sessions"] {
        let stage = stage(&lab, "", "echo x >> effects");
        lab.play(once(&json!({}), "it is done"));
        stage.run(&["chat", "--session", "s", "--yes-tools", "?"]).exits(0);
        without_table(&stage, table);
        for _ in 0..2 {
            let done = stage.run(&["chat", "--session", "s", "--yes-tools", "?"]).exits(1);
            done.says(&["there is no session `s`", "could repeat", ".corrupt-"]);
        }
        assert_eq!(effects(&stage), 1, "{table}");
    }
}

#[test]
fn an_id_of_the_user_and_tools_do_not_go_together() {
    let lab = openai(Reply::answer("fine"));
    let stage = stage(&lab, "", "true");
    stage.run(&["chat", "--request-id", "r", "?"]).exits(2).says(&["cannot be used with tools", "--session NAME"]);
    let own = stage.run(&["chat", "--no-tools", "--request-id", "req_0123456789aABCDEF-2", "?"]);
    own.exits(2).says(&["an id that llmr gives itself"]);
    assert_eq!(lab.hits(), 0);
    stage.run(&["chat", "--no-tools", "--request-id", "nightly-2", "?"]).exits(0).prints("fine\n");
}

#[test]
fn a_command_that_may_still_be_at_work_is_not_run_again() {
    let lab = openai(once(&json!({}), "it is done"));
    let stage = stage(&lab, "timeout = \"10m\"\n", "echo x >> effects; exec sleep 600");
    let child = stage.command(&["chat", "--session", "s", "--yes-tools", "?"]).spawn().expect("started");
    until("the tool runs", || effects(&stage) == 1);
    signal(child.id(), "KILL");
    finish(child);
    let go_on = ["chat", "--session", "s", "--yes-tools"];
    stage.run(&go_on).exits(5).says(&["its command may still be running", "not running any more", "--again --force"]);
    let name = stage.json(&["session", "show", "s", "--json"])["calls"][0]["call"].as_str().expect("a name").to_owned();
    for word in ["--again", "--decline"] {
        stage.run(&["session", "settle", "s", &name, word]).exits(2).says(&["may still be running", "--force"]);
    }
    let listed = stage.run(&["session", "list"]).exits(0).out;
    assert!(listed.contains("a person: a tool"), "{listed}");
    stage.run(&["session", "rm", "s"]).exits(2).says(&["nothing was removed", "session settle s", "--force"]);
    // Nobody has ended it: that its time is over says nothing.
    stage.run_at("2026-08-23T03:10:00Z", &["session", "settle", "s", &name, "--again"]).exits(2).says(&["--force"]);
    stage.run(&["session", "settle", "s", &name, "--decline", "--force"]).exits(0).says(&["will not be run"]);
    stage.run(&go_on).exits(0).prints("it is done\n").says(&["declined before"]);
    assert_eq!(effects(&stage), 1);
}

#[test]
fn a_model_hears_no_demand_for_tools_from_the_process_that_goes_on() {
    let lab = openai(once(&json!({}), "it is done"));
    let stage = stage(&lab, "", "echo x >> effects");
    stage.run(&["chat", "--session", "s", "--tool-choice", "required", "?"]).exits(5);
    assert_eq!(lab.requests()[0].body["tool_choice"], "required");
    stage.run(&["chat", "--session", "s", "--tool-choice", "required", "--yes-tools", "?"]).exits(0);
    assert_eq!(lab.requests()[1].body["tool_choice"], json!(null));
}

#[test]
fn tools_are_remembered_over_an_answer_without_them() {
    let lab = openai(Reply::answer("fine"));
    let stage = stage(&lab, "\n[ladders.bare]\nsteps = [\"lab/m\"]\n", "true");
    for (more, has_tools) in [(&["--tool", "t"][..], true), (&["--no-tools"], false), (&[], true)] {
        let args = ["chat", "-m", "bare", "--session", "s", if more.is_empty() { "and?" } else { more[0] }];
        stage.run(&[&args[..5], more, &[&format!("say {has_tools} {}", more.len())]].concat()).exits(0);
        let offered = lab.requests().last().expect("a request").body["tools"].is_array();
        assert_eq!(offered, has_tools, "{more:?}");
    }
}

#[test]
fn an_answer_is_told_again_as_it_was_printed() {
    let lab = openai(Reply::answer("Here it is:\n```json\n{\"ok\": true}\n```"));
    let stage = Stage::of(&[("lab", &lab)]);
    let schema = stage.file("schema.json", r#"{"type": "object", "required": ["ok"]}"#);
    let chat = ["chat", "--session", "s", "--schema", &schema];
    let first = stage.run(&[&chat[..], &["?"]].concat()).exits(0).prints("{\"ok\": true}\n");
    stage.run(&chat).exits(0).prints(&first.out);
    let again = stage.json(&[&chat[..], &["--json"]].concat());
    let other = stage.json(&["chat", "--json", "--session", "t", "--schema", &schema, "?"]);
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&again), keys(&other));
    assert_eq!((&again["parsed"], &again["deployment"]), (&json!({"ok": true}), &json!("lab/m")));
    assert_eq!(lab.hits(), 2);
}

#[test]
fn an_answer_that_is_not_as_asked_and_handed_out_is_kept() {
    let lab = openai(Reply::answer("no JSON at all"));
    let stage = Stage::of(&[("lab", &lab)]);
    let schema = stage.file("schema.json", r#"{"type": "object", "required": ["ok"]}"#);
    let chat = ["chat", "--session", "s", "--schema", &schema, "--on-invalid", "return", "--no-repair", "?"];
    stage.run(&chat).exits(7).prints("no JSON at all\n");
    let kept = stage.json(&["session", "show", "s", "--json"]);
    assert_eq!(kept["messages"].as_array().expect("a list").len(), 2, "{kept:#}");
}

#[test]
fn a_plan_for_a_session_is_one_for_its_ladder() {
    let lab = openai(Reply::answer("fine"));
    let text = format!("{}[ladders.other]\nsteps = [\"lab/other\"]\n", config(&[("lab", &lab)]));
    let stage = Stage::with(&text);
    stage.run(&["chat", "-m", "other", "--session", "s", "?"]).exits(0);
    for plan in [&["plan", "--session", "s", "and?"][..], &["chat", "--dry-run", "--session", "s", "and?"]] {
        let shown = stage.run(plan).exits(0).out;
        assert!(shown.contains("lab/other"), "{shown}");
    }
}

#[test]
fn a_failed_tool_says_why_and_a_missing_program_is_known_beforehand() {
    let lab = openai(once(&json!({}), "so be it"));
    let stage = stage(
        &lab,
        "\n[tools.gone]\ndescription = \"d\"\ncommand = [\"/nowhere/at-all\"]\n",
        "echo no room >&2; exit 3",
    );
    stage.run(&["chat", "--yes-tools", "?"]).exits(0).says(&["tool t  failed", "exit code 3: no room"]);
    let checked = stage.run(&["check"]);
    let shown = format!("{}{}", checked.out, checked.err);
    assert!(shown.contains("tools.gone") && shown.contains("it needs the program `/nowhere/at-all`"), "{shown}");
    let hits = lab.hits();
    let told = stage.run(&["chat", "--tool", "gone", "--session", "s", "?"]).exits(3);
    told.says(&[
        "the tool `gone` needs the program `/nowhere/at-all`, which is not here",
        "nothing was sent",
        "--no-tools",
    ]);
    stage.run(&["session", "show", "s"]).exits(2);
    assert_eq!(lab.hits(), hits, "nothing is sent and nothing is kept");
    stage.run(&["chat", "--no-tools", "?"]).exits(0);
}
