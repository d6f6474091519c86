//! Mistakes of the person: each is told with the place, the nearest right word and what to do; nothing is sent.
#![cfg(test)]

use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::stage::{Stage, config, declared, keys, openai};

/// A ladder `main` with one step, whose provider `lab` has a listed model and a key in `LAB_KEY`.
fn stage(lab: &Provider) -> Stage {
    let text = format!("[ladders.main]\nsteps = [\"lab/qwen3-8b\"]\n{}", declared("lab", lab));
    let models = "[[providers.lab.models]]\nid = \"qwen3-8b\"\n";
    let mut stage = Stage::with(&format!("{text}{models}{}", keys("lab", &[("team", "{ env = \"LAB_KEY\" }")])));
    stage.set("LAB_KEY", "not-a-real-key-number-one");
    stage
}

#[test]
fn an_unknown_name_is_told_with_the_nearest_one() {
    let lab = openai(Reply::answer("yes"));
    let stage = stage(&lab);
    for (args, code, says) in [
        (&["chat", "-m", "mian", "?"][..], 3, &["no ladder `mian`", "main"][..]),
        (&["chat", "-m", "gorq/llama", "?"], 3, &["no provider `gorq`", "`groq`"]),
        (&["chat", "-m", "lab/qwen3-8", "?"], 3, &["lists no model `qwen3-8`", "`qwen3-8b`"]),
        (&["chat", "-m", "lab/qwen3-8b@teem", "?"], 3, &["no credential", "teem", "`team`"]),
        (&["chat", "-m", "lab/", "?"], 2, &["--model", "lab/"]),
        (&["chat", "--pin", "gorq", "?"], 2, &["--pin", "`gorq`", "`groq`"]),
        (&["chat", "--exclude", "lba", "?"], 2, &["--exclude", "`lba`", "`lab`"]),
        (&["chat", "--strean", "?"], 2, &["--strean", "--stream"]),
        (&["chat", "--deadline", "soon", "?"], 2, &["--deadline", "soon", "30s"]),
        (&["chat", "-o", "novalue", "?"], 2, &["KEY=VALUE"]),
        (&["chat", "-f", "nowhere.txt", "?"], 2, &["--file", "nowhere.txt"]),
        (&["chat", "-s", "@nowhere.txt", "?"], 2, &["--system", "nowhere.txt"]),
        (&["chat", "--schema", "llmr.toml", "?"], 2, &["--schema", "not JSON"]),
        (&["chat", "--check", "answer.score >=", "?"], 2, &["--check", "1:16"]),
        (&["plan", "--check", "score >= 1"], 2, &["--check", "unknown variable `score`", "answer"]),
        (&["chat", "-a", "llmr.toml", "?"], 2, &["--image", "PNG"]),
        (&["chat", "--messages", "llmr.toml", "?"], 2, &["--messages", "not JSON"]),
        (&["stauts"], 2, &["stauts", "status"]),
        (&["caps", "gorq"], 2, &["`gorq`", "`groq`"]),
        (&["log", "--class", "ratelimit"], 2, &["ratelimit", "rate_limit"]),
        (&["log", "--since", "yesterday"], 2, &["--since", "yesterday", "6h"]),
        (&["log", "--until", "noon"], 2, &["--until", "noon", "6h"]),
        (&["log", "--outcome", "anwsered"], 2, &["--outcome", "anwsered", "answered"]),
        (&["log", "--deployment", "a/"], 2, &["--deployment", "a/", "provider/model"]),
        (&["log", "--follow", "--outcome", "unfinished"], 2, &["--outcome", "--follow"]),
        (&["status", "a@b@"], 2, &["a@b@", "provider/model"]),
        (&["completions", "bahs"], 2, &["bahs", "bash"]),
    ] {
        let done = stage.run(args);
        assert_eq!((done.code, done.out.as_str()), (Some(code), ""), "{args:?}: {}", done.err);
        assert!(done.err.starts_with("error: "), "{args:?}: {}", done.err);
        for part in says {
            assert!(done.err.contains(part), "{args:?} does not say `{part}`: {}", done.err);
        }
    }
    assert_eq!(lab.hits(), 0);
    assert!(!stage.state().exists(), "what is wrong from the start leaves no trace");
}

#[test]
fn all_mistakes_of_a_config_are_told_at_once() {
    let lab = openai(Reply::answer("yes"));
    let text = config(&[("lab", &lab)])
        .replace("retry_budget = 0", "retry_budgte = 0\ndeadline = \"2 minutes\"")
        .replace("steps = [", "stratgy = \"ordered\"\nsteps = [\"gorq/llama\", ");
    let stage = Stage::with(&text);
    for args in [&["chat", "?"][..], &["plan"], &["status"], &["reset", "--all"], &["log"]] {
        let done = stage.run(args).exits(3).prints("");
        let done = done.says(&[
            "llmr.toml:3",
            "retry_budget",
            "llmr.toml:4",
            "deadline",
            "llmr.toml:6",
            "strategy",
            "llmr.toml:7",
            "groq",
        ]);
        assert_eq!(done.err.lines().filter(|line| line.contains("llmr.toml:")).count(), 4, "{}", done.err);
    }
    let check = stage.run(&["check"]).exits(3);
    assert_eq!(check.out.lines().filter(|line| line.contains("llmr.toml:")).count(), 4, "{}", check.out);
    assert_eq!(lab.hits(), 0);
    assert!(!stage.state().exists());
}

#[test]
fn a_config_that_is_no_toml_says_where() {
    Stage::with("[ladders.main]\nsteps = [\"a/b\"\n\n[limits]\n").run(&["chat", "?"]).exits(3).says(&["llmr.toml:"]);
    Stage::with("\u{0}\u{1b}[2J").run(&["chat", "?"]).exits(3).says(&["llmr.toml:1"]);
    let stage = Stage::bare();
    let file = stage.file("latin.toml", b"system = \"\xe4\"\n");
    stage.run(&["chat", "--config", &file, "?"]).exits(3).says(&["latin.toml"]);
    stage
        .run(&["chat", "--config", stage.path("").to_str().expect("a plain path"), "?"])
        .exits(3)
        .says(&["cannot read config"]);
}

#[test]
fn a_missing_key_names_the_variable_the_credential_and_the_way_out() {
    let lab = openai(Reply::answer("yes"));
    for (place, says) in [
        ("{ env = \"LAB_KEY\" }", &["LAB_KEY is not set"][..]),
        ("{ file = \"nowhere.txt\" }", &["nowhere.txt", "permissions"]),
        ("{ command = [\"false\"] }", &["`false`", "by hand"]),
        ("{ command = [\"no-such-program\"] }", &["`no-such-program`"]),
        ("{ env = \"BLANK\" }", &["BLANK"]),
    ] {
        let text = format!("[ladders.main]\nsteps = [\"lab/m\"]\n{}", declared("lab", &lab));
        let mut stage = Stage::with(&format!("{text}{}", keys("lab", &[("team", place)])));
        stage.set("BLANK", " ");
        let done = stage.run(&["chat", "?"]).exits(3).prints("");
        done.says(&["error: ", "lab/m@team", "hint: "]).says(says);
    }
    assert_eq!(lab.hits(), 0);
}

#[test]
fn a_missing_key_of_one_step_leaves_the_others() {
    let (lab, good) = (openai(Reply::answer("lab")), openai(Reply::answer("yes")));
    let text = config(&[("lab", &lab), ("good", &good)]);
    let stage = Stage::with(&format!("{text}{}", keys("lab", &[("team", "{ env = \"LAB_KEY\" }")])));
    let chat = stage.json(&["chat", "--json", "?"]);
    assert_eq!((&chat["text"], &chat["skipped"][0]["reason"]), (&json!("yes"), &json!("no_key")));
    assert!(stage.run(&["plan"]).exits(0).out.contains("LAB_KEY is not set"));
    assert_eq!(lab.hits(), 0);
}

#[test]
fn broken_lines_cost_nothing_but_themselves() {
    let stage = Stage::bare();
    let lines = b"{\"id\": 1, \"provider\": \"groq\", \"status\": 429, \"body\": \"Rate limit reached for model `m` on requests per minute (RPM)\"}\n\
        {\"id\": 2, \"status\": \n\
        [1, 2]\n\
        \xff\xfe\n\
        {\"id\": 5, \"status\": \"teapot\"}\n\
        {\"id\": 6, \"at\": \"tomorrow\"}\n\
        \n\
        {\"id\": 8, \"body\": {\"error\": {\"message\": \"Overloaded\"}}, \"status\": 529}";
    let done = stage.run_with(lines, &["classify", "--format", "jsonl", "--json"]).exits(0);
    let found: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // One line for each line, so that who zips them keeps in step; a blank one is none.
    let lines: Vec<&Value> = found.iter().map(|one| &one["line"]).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 6, 8], "{}", done.out);
    let told: Vec<(&Value, &Value)> =
        found.iter().filter(|one| !one["class"].is_null()).map(|one| (&one["id"], &one["class"])).collect();
    assert_eq!(told, [(&json!(1), &json!("rate_limit")), (&json!(8), &json!("overloaded"))], "{}", done.out);
    assert!(found[1]["error"].as_str().is_some_and(|why| why.contains("JSON")), "{}", done.out);
    for line in 2..=6 {
        assert!(done.err.contains(&format!("line {line}")), "{line}: {}", done.err);
    }
    assert_eq!(done.err.lines().count(), 5, "{}", done.err);
}

#[test]
fn classify_names_the_file_that_it_cannot_read() {
    let done = Stage::bare().run(&["classify", "nowhere.jsonl"]).exits(1).says(&["error: ", "nowhere.jsonl"]);
    assert!(!done.err.contains("write"), "{}", done.err);
}

#[test]
fn fail_on_is_1_when_the_class_occurs() {
    let stage = Stage::bare();
    let line = br#"{"status": 529, "body": "Overloaded"}"#;
    stage.run_with(line, &["classify", "--fail-on", "auth,overloaded"]).exits(1);
    stage.run_with(line, &["classify", "--fail-on", "auth"]).exits(0);
    stage.run_with(line, &["classify", "--fail-on", "overlode"]).exits(2).says(&["overlode", "overloaded"]);
}

#[test]
fn variables_of_our_own_that_make_no_sense() {
    let mut stage = Stage::bare();
    stage.set("LLMR_NOW", "tomorrow");
    stage.run(&["plan"]).exits(2).says(&["error: LLMR_NOW", "hint: "]);
    stage.set("LLMR_NOW", crate::stage::NOW);
    stage.set("LLMR_SEED", "x");
    stage.run(&["plan"]).exits(2).says(&["error: LLMR_SEED"]);
}

#[test]
fn bounds_that_bound_nothing_are_no_bounds() {
    let lab = openai(Reply::answer("yes"));
    let stage = stage(&lab);
    for (flag, value) in [
        ("--max-cost", "nan"),
        ("--max-cost", "-1"),
        ("--max-cost", "inf"),
        ("--temperature", "nan"),
        ("--max-steps", "0"),
    ] {
        stage.run(&["chat", &format!("{flag}={value}"), "?"]).exits(2).prints("").says(&["error: ", flag, value]);
    }
    assert_eq!(lab.hits(), 0);
}
