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

#[test]
fn runs_without_an_answer_are_told_and_one_answer_alone_is_not_compared() {
    let overload = Reply::status(400, json!({"error": {"message": "max_tokens must be positive"}}));
    let good = || Reply::answer(r#"{"score": 1, "verdict": "pass"}"#);
    let lame = openai(vec![good(), overload.clone(), good()]);
    let court = Court::of(&lame, "");
    court.ask(&["--repeat", "3"], "?").exits(0).says(&["3 runs, 2 answers", "run 2 gave none"]);
    let dead = openai(vec![good(), overload]);
    let court = Court::of(&dead, "");
    let done = court.ask(&["--repeat", "2"], "?");
    assert_eq!((done.code, done.out.as_str()), (Some(6), ""), "{}", done.err);
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
    // A field that is not there is found out with the first answer.
    court.ask(&["--baseline", "b", "--band", "/nowhere=1"], "?").exits(7).says(&["has no field `/nowhere`"]);
}
