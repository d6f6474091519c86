//! One request many times, and verdicts of before: whether the answers agree.
#![cfg(test)]

use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::stage::{Stage, config, openai};

/// A judge that says these things, one after the other.
fn judge(scores: &[(f64, &str)]) -> Provider {
    let reply = |(score, verdict): &(f64, &str)| Reply::answer(json!({"score": score, "verdict": verdict}).to_string());
    openai(scores.iter().map(reply).collect::<Vec<_>>())
}

struct Court {
    stage: Stage,
    schema: String,
}

impl Court {
    fn of(judge: &Provider, more: &str) -> Self {
        let stage = Stage::with(&format!("{}{more}", config(&[("judge", judge)])));
        let schema = stage.file("schema.json", r#"{"type": "object", "required": ["score", "verdict"]}"#);
        Self { stage, schema }
    }

    fn ask(&self, flags: &[&str], prompt: &str) -> crate::stage::Done {
        self.stage.run(&[&["chat", "--schema", &self.schema], flags, &[prompt]].concat())
    }
}

#[test]
fn the_answer_that_agrees_with_most_is_printed_and_the_spread_is_told() {
    let judge = judge(&[(0.7, "pass"), (0.9, "fail"), (0.8, "pass"), (0.75, "pass")]);
    let court = Court::of(&judge, "");
    let done = court.ask(&["--repeat", "4"], "?").exits(0);
    assert_eq!(judge.hits(), 4);
    assert_eq!(done.out, "{\"score\":0.8,\"verdict\":\"pass\"}\n");
    let told = [
        "4 runs, 4 answers",
        "shown is run 3",
        "0.7 to 0.9, median 0.775, spread 0.2",
        "\"pass\" in 3 of 4, \"fail\" 1",
    ];
    done.says(&told);
    // Each is a request of its own.
    assert_eq!(court.stage.run(&["log", "--json"]).exits(0).out.lines().count(), 4);
}

#[test]
fn a_field_outside_of_its_band_is_named_and_is_an_error() {
    let judge = judge(&[(0.7, "pass"), (0.9, "fail")]);
    let own = "\n[ladders.main.consistency]\nfields = { \"/score\" = 0.3, \"/verdict\" = 1 }\n";
    let court = Court::of(&judge, own);
    court
        .ask(&["--repeat", "2"], "?")
        .exits(7)
        .says(&["error: the answers do not agree: /verdict\n", "OUTSIDE of its band"]);
    let again = self::judge(&[(0.7, "pass"), (0.9, "fail")]);
    let court = Court::of(&again, own);
    let flags = ["--repeat", "2", "--band", "/score=0.1", "--band", "/verdict=0.5", "--json"];
    let object = court.ask(&flags, "?").exits(7).json();
    let repeat = &object["repeat"];
    assert_eq!(object.as_object().and_then(|all| all.keys().next_back()).map(String::as_str), Some("repeat"));
    assert_eq!((&repeat["runs"], &repeat["answered"], &repeat["within"]), (&json!(2), &json!(2), &json!(false)));
    let field = |name: &str| -> &Value {
        let fields = repeat["fields"].as_array().expect("fields");
        fields.iter().find(|field| field["field"] == json!(name)).expect("the field")
    };
    assert_eq!((&field("/score")["within"], &field("/verdict")["within"]), (&json!(false), &json!(true)));
    assert_eq!((&field("/score")["min"], &field("/score")["max"]), (&json!(0.7), &json!(0.9)));
    assert_eq!(field("/verdict")["distribution"][0], json!({"value": "pass", "count": 1}));
    assert_eq!(repeat["request_ids"].as_array().map(Vec::len), Some(2));
}

#[test]
fn of_plain_text_it_is_told_whether_it_is_the_same() {
    let poet = openai(vec![Reply::answer("a rose"), Reply::answer("a tulip"), Reply::answer("a rose")]);
    let stage = Stage::of(&[("poet", &poet)]);
    let done = stage.run(&["chat", "--repeat", "3", "?"]).exits(0);
    done.prints("a rose\n").says(&["the answers differ: 2 texts, the same one in 2 of 3"]);
    let object = stage.json(&["chat", "--repeat", "2", "--json", "?"]);
    assert_eq!((&object["repeat"]["equal"], &object["repeat"]["fields"]), (&json!(true), &json!([])));
}

/// What the request itself is blamed for, so that nothing is held for it.
fn refusal() -> Reply {
    Reply::status(400, json!({"error": {"message": "max_tokens must be positive"}}))
}

fn verdict(score: f64) -> Reply {
    Reply::answer(json!({"score": score, "verdict": "pass"}).to_string())
}

#[test]
fn a_run_that_failed_is_an_answer_that_agrees_with_none() {
    let replies = || vec![verdict(0.7), refusal(), verdict(0.7), refusal()];
    for (bands, code) in [
        (&[][..], 0),
        (&["--band", "/verdict=0.5"], 0),
        (&["--band", "/verdict=0.75"], 7),
        (&["--band", "/score=1"], 7),
    ] {
        let lame = openai(replies());
        let court = Court::of(&lame, "");
        let done = court.ask(&[&["--repeat", "4"], bands].concat(), "?").exits(code);
        assert_eq!(done.out, "{\"score\":0.7,\"verdict\":\"pass\"}\n");
        let done =
            done.says(&["4 runs, 2 answers, 2 failed", "run 2 gave none: ", "run 4 gave none: ", "max_tokens must be"]);
        if code == 7 {
            done.says(&["(2 of 4 runs failed, and agree with none)", "nothing from 2 runs; OUTSIDE"]);
        }
    }
    let lame = openai(replies());
    let object = Court::of(&lame, "").ask(&["--repeat", "4", "--band", "/verdict=1", "--json"], "?").exits(7).json();
    let repeat = &object["repeat"];
    let told: Vec<(&Value, &Value)> =
        repeat["failed"].as_array().expect("a list").iter().map(|one| (&one["run"], &one["outcome"])).collect();
    assert_eq!(told, [(&json!(1), &json!("refused")), (&json!(3), &json!("refused"))]);
    let first = &repeat["failed"][0];
    assert_eq!(first["request_id"], repeat["request_ids"][1]);
    assert!(first["error"].as_str().is_some_and(|error| error.contains("max_tokens")), "{first}");
    let field = repeat["fields"].as_array().and_then(|all| all.iter().find(|one| one["field"] == json!("/verdict")));
    assert_eq!(field.map(|field| &field["agreement"]), Some(&json!(0.5)));
    // Of plain text as well.
    let poet = openai(vec![Reply::answer("a rose"), refusal(), Reply::answer("a rose")]);
    let done = Stage::of(&[("poet", &poet)]).run(&["chat", "--repeat", "3", "?"]).exits(0);
    done.prints("a rose\n").says(&["the answers that came are equal: 2 of 3 runs"]);
}

#[test]
fn with_one_answer_or_none_the_failure_is_the_end_but_nothing_is_lost() {
    let flags = ["--repeat", "3", "--band", "/verdict=0.1", "--baseline", "b"];
    for (replies, out, answered) in [
        (vec![refusal(), verdict(0.7), refusal()], "{\"score\":0.7,\"verdict\":\"pass\"}\n", 1),
        (vec![refusal()], "", 0),
    ] {
        let lame = openai(replies.clone());
        let court = Court::of(&lame, "");
        let failed = 3 - answered;
        let done = court.ask(&flags, "?").exits(6).prints(out);
        let told = format!("3 runs, {answered} answer{}, {failed} failed", if answered == 1 { "" } else { "s" });
        done.says(&[&told, "too few answers to compare", "error: stopped at", "max_tokens must be"]);
        assert!(court.stage.run(&["baseline", "list"]).exits(0).out.contains("no baseline is kept"));

        let lame = openai(replies);
        let object = Court::of(&lame, "").ask(&[&flags[..], &["--json"]].concat(), "?").exits(6).json();
        let repeat = &object["repeat"];
        assert_eq!(
            (&repeat["runs"], &repeat["answered"], &repeat["within"]),
            (&json!(3), &json!(answered), &Value::Null)
        );
        assert_eq!(repeat["failed"].as_array().map(Vec::len), Some(failed));
        let has_words = object["text"].as_str().is_some_and(|text| text.contains("pass"));
        assert_eq!(has_words, answered == 1, "{object:#}");
        assert_eq!(repeat["shown"], if answered == 1 { json!(1) } else { Value::Null });
    }
}

#[test]
fn json_in_a_fence_is_printed_alone_as_without_repeating() {
    let fenced = Reply::answer("Here it is:\n```json\n{\"score\":1,\"verdict\":\"pass\"}\n```\n");
    let judge = openai(fenced);
    let court = Court::of(&judge, "");
    let once = court.ask(&[], "?").exits(0).out;
    assert!(once.starts_with('{'), "{once}");
    court.ask(&["--repeat", "2"], "?").exits(0).prints(&once);
    court.ask(&["--baseline", "b", "--band", "/verdict=1"], "?").exits(0).prints(&once);
}

#[test]
fn a_verdict_is_kept_once_and_later_ones_are_compared_with_it() {
    let judge = judge(&[(0.7, "pass"), (0.75, "pass"), (0.9, "pass"), (0.7, "fail"), (0.1, "fail")]);
    let court = Court::of(&judge, "");
    let flags = ["--baseline", "nightly", "--band", "/score=0.1", "--band", "/verdict=1"];
    court
        .ask(&flags, "the essay")
        .exits(0)
        .says(&["baseline nightly: kept for this input: /score 0.7, /verdict \"pass\""]);
    court.ask(&flags, "the essay").exits(0).says(&["0.7 then, 0.75 now, moved by 0.05 (at most 0.1)"]);
    let drifted = ["error: drifted away from the baseline: /score\n", "DRIFTED out of its band", "llmr baseline rm"];
    court.ask(&flags, "the essay").exits(7).says(&drifted);
    let object = court.ask(&[&flags[..], &["--json"]].concat(), "the essay").exits(7).json();
    assert_eq!((&object["baseline"]["stored"], &object["baseline"]["within"]), (&json!(false), &json!(false)));
    assert_eq!(object["baseline"]["drift"][1]["same"], json!(0.0));
    // Another input has a verdict of its own.
    court.ask(&flags, "another essay").exits(0).says(&["kept for this input"]);

    let list = court.stage.run(&["baseline", "list"]).exits(0).out;
    assert!(list.contains("nightly  2 inputs"), "{list}");
    let kept = court.stage.json(&["baseline", "show", "nightly", "--json"]);
    let kept = kept["baselines"].as_array().expect("a list");
    let first = json!({"/score": 0.7, "/verdict": "pass"});
    assert!(kept.len() == 2 && kept.iter().any(|one| one["values"] == first), "{kept:?}");
    let bytes = court.stage.state_bytes();
    assert!(!bytes.windows(9).any(|part| part == b"the essay"), "nothing of the input is kept");
    court.stage.run(&["baseline", "rm", "nightly"]).exits(0).prints("forgot baseline nightly: 2 inputs\n");
    court.stage.run(&["baseline", "rm", "nightly"]).exits(2).says(&["there is no baseline `nightly`"]);
    assert!(court.stage.run(&["baseline", "list"]).exits(0).out.contains("no baseline is kept"));
}

#[test]
fn a_verdict_that_is_compared_with_is_kept_longer() {
    let judge = judge(&[(0.7, "pass"), (0.7, "fail")]);
    let mut court = Court::of(&judge, "");
    let flags = ["--baseline", "b", "--band", "/verdict=1"];
    court.ask(&flags, "?").exits(0);
    let compared = |court: &Court| {
        let kept = court.stage.json(&["baseline", "show", "b", "--json"]);
        (kept["baselines"][0]["at"].clone(), kept["baselines"][0]["compared_at"].clone())
    };
    let (at, first) = compared(&court);
    assert_eq!(at, first);
    court.stage.set("LLMR_NOW", "2027-02-01T03:00:00Z");
    court.ask(&flags, "?").exits(7);
    assert_eq!(compared(&court), (at, json!("2027-02-01T03:00:00Z")));
    // Half a year after it was kept, but not after that.
    court.stage.set("LLMR_NOW", "2027-07-30T03:00:00Z");
    court.ask(&flags, "something else").exits(0);
    assert_eq!(court.stage.json(&["baseline", "show", "b", "--json"])["baselines"].as_array().map(Vec::len), Some(2));
    court.stage.set("LLMR_NOW", "2027-08-02T03:00:00Z");
    court.stage.run(&["chat", "?"]).exits(0);
    assert_eq!(court.stage.json(&["baseline", "show", "b", "--json"])["baselines"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_does_not_agree_with_itself_is_not_kept() {
    let judge = judge(&[(0.1, "pass"), (0.9, "fail"), (0.5, "pass"), (0.5, "pass")]);
    let court = Court::of(&judge, "");
    let flags = ["--repeat", "2", "--baseline", "b", "--band", "/verdict=1"];
    court.ask(&flags, "?").exits(7);
    assert!(court.stage.run(&["baseline", "list"]).exits(0).out.contains("no baseline is kept"));
    court.ask(&flags, "?").exits(0).says(&["kept for this input: /verdict \"pass\""]);
}

#[test]
fn comparisons_that_cannot_be_are_refused_before_anything_is_sent() {
    let judge = judge(&[(0.1, "pass")]);
    let court = Court::of(&judge, "");
    for (flags, says) in [
        (&["--band", "/score=0.1"][..], "nothing to compare one answer with"),
        (&["--baseline", "b"], "no field is named"),
        (&["--repeat", "1"], "not in 2..=50"),
        (&["--repeat", "2", "--request-id", "r"], "cannot be used with"),
        (&["--repeat", "2", "--band", "score=1"], "is no band"),
        (&["--repeat", "2", "--band", "/score=-1"], "is no band"),
        (&["--baseline", "", "--band", "/score=1"], "printable characters"),
    ] {
        court.ask(flags, "?").exits(2).says(&[says]);
    }
    assert_eq!(judge.hits(), 0);
}

/// Whatever there is to complain of, the answers are handed out: they were paid for.
#[test]
fn a_field_that_cannot_be_kept_is_told_after_the_answers_and_nothing_is_kept() {
    let long = "x".repeat(1001);
    let said = |verdict: &str| judge(&[(0.1, verdict), (0.1, verdict), (0.1, verdict)]);
    let judge = said("pass");
    let court = Court::of(&judge, "");
    let printed = "{\"score\":0.1,\"verdict\":\"pass\"}\n";
    let bands = ["--baseline", "b", "--band", "/verdict=1", "--band", "/nowhere=1"];
    court.ask(&bands, "?").exits(7).prints(printed).says(&["error: --baseline: the answer has no field `/nowhere`"]);
    let twice = [&bands[..], &["--repeat", "2"]].concat();
    let done = court.ask(&twice, "?").exits(7).prints(printed);
    done.says(&["2 runs, 2 answers", "/nowhere  no answer has it", "error: the answers do not agree: /nowhere\n"]);
    let object = court.ask(&[&twice[..], &["--json"]].concat(), "?").exits(7).json();
    assert_eq!((&object["repeat"]["answered"], &object["repeat"]["within"]), (&json!(2), &json!(false)));
    assert!(court.stage.run(&["baseline", "list"]).exits(0).out.contains("no baseline is kept"));

    // What was kept of other fields is still compared with.
    court.ask(&["--baseline", "b", "--band", "/verdict=1"], "?").exits(0).says(&["kept for this input"]);
    court.ask(&bands, "?").exits(7).says(&["\"pass\" then, \"pass\" now", "has no field `/nowhere`"]);
    let kept = court.stage.json(&["baseline", "show", "b", "--json"]);
    assert_eq!(kept["baselines"][0]["values"], json!({"/verdict": "pass"}));

    let wordy = said(&long);
    let court = Court::of(&wordy, "");
    let done = court.ask(&["--baseline", "b", "--band", "/verdict=1"], "?").exits(2);
    assert!(done.out.contains(&long), "{}", done.out);
    done.says(&["the value of `/verdict` is too long for a verdict"]);
    assert!(court.stage.run(&["baseline", "list"]).exits(0).out.contains("no baseline is kept"));
    // Beside one that was kept it is compared like any other.
    let changed = self::judge(&[(0.1, "pass"), (0.1, &long)]);
    let court = Court::of(&changed, "");
    court.ask(&["--baseline", "b", "--band", "/verdict=1"], "?").exits(0);
    let object = court.ask(&["--baseline", "b", "--band", "/verdict=1", "--json"], "?").exits(7).json();
    assert_eq!((&object["parsed"]["verdict"], &object["baseline"]["within"]), (&json!(long), &json!(false)));
}
