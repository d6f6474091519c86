//! Application success beside transport success: an answer that came is not yet an answer as asked.
#![cfg(test)]

use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::exposition::read;
use crate::stage::{Stage, config, openai};

fn of<'v>(stats: &'v Value, provider: &str) -> &'v Value {
    let groups = stats["groups"].as_array().expect("groups");
    let mut found =
        groups.iter().filter(|one| one["deployment"].as_str().is_some_and(|name| name.starts_with(provider)));
    found.next().unwrap_or_else(|| panic!("{provider}: {stats:#}"))
}

/// The night's two broken answers: 200 each time, and never as asked.
#[test]
fn broken_answers_of_the_night_are_schema_failures_and_no_failures_of_the_transport() {
    let mut stage = Stage::bare();
    stage.set("LLMR_STATE", stage.state().to_str().expect("a plain path").to_owned());
    let state = stage.state();
    let state = state.to_str().expect("a plain path");
    stage.run(&["demo", "--state", state]).exits(0);
    let stats = stage.json(&["stats", "--json", "--by", "deployment"]);
    for provider in ["mistral", "openrouter"] {
        let figures = &of(&stats, provider)["figures"];
        let tried = figures["attempts"].as_u64().expect("a count");
        assert!(tried >= 2 && figures["repairs"].as_u64() == Some(tried / 2), "{figures:#}");
        assert_eq!(
            (
                &figures["transport_success_rate"],
                &figures["application_success_rate"],
                &figures["classes"]["invalid_output"]
            ),
            (&json!(1.0), &json!(0.0), &json!(tried)),
            "{provider}"
        );
        let rules = figures["invalid"].as_object().expect("rules").values().filter_map(Value::as_u64).sum::<u64>();
        assert_eq!((rules, &figures["invalid"]["other"], &figures["repairs_helped"]), (tried, &json!(0), &json!(0)));
    }
    let good = &of(&stats, "local")["figures"];
    assert_eq!((&good["transport_success_rate"], &good["application_success_rate"]), (&json!(1.0), &json!(1.0)));
    let auth = &of(&stats, "cloudflare")["figures"];
    assert_eq!((&auth["transport_success_rate"], &auth["invalid"]["answer.schema"]), (&json!(0.0), &json!(0)));

    let page = stage.run(&["stats"]).exits(0).out;
    for said in ["transport ", "application ", "not as asked: answer.", "tried, 0 helped"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let table = stage.run(&["stats", "--by", "deployment"]).exits(0).out;
    assert!(table.contains("transport  answered") && table.contains("100 %       0 %"), "{table}");
    let families = read(&stage.run(&["stats", "--format", "prometheus"]).exits(0).out, false);
    let sum = |family: &str, provider: &str| -> f64 {
        let samples = families[family].samples.iter();
        samples.filter(|one| one.labels["provider"] == provider).map(|one| one.value).sum()
    };
    let tried = of(&stats, "mistral")["figures"]["attempts"].as_f64().expect("a count");
    assert_eq!(sum("llmr_transport_successes_total", "mistral"), tried);
    assert_eq!(
        (sum("llmr_invalid_answers_total", "mistral"), sum("llmr_attempt_answers_total", "mistral")),
        (tried, 0.0)
    );
    assert_eq!(
        (sum("llmr_repairs_helped_total", "mistral"), sum("llmr_transport_successes_total", "cloudflare")),
        (0.0, 0.0)
    );
}

/// What an invalid answer does, and that a deployment whose answers are seldom as asked goes last for all to see.
#[test]
fn a_deployment_below_the_bar_goes_last_and_everybody_says_so() {
    let bad = openai(Reply::answer("Sure! It is noon."));
    let good = openai(Reply::answer(r#"{"time": "noon"}"#));
    let text =
        config(&[("bad", &bad), ("good", &good)]).replace("[ladders.main]\n", "[ladders.main]\nmin_valid = 0.9\n");
    let other = "\n[ladders.other]\nsteps = [\"bad/m\", \"good/m\"]\nmin_valid = 0.9\n";
    let stage = Stage::with(&format!("{text}{other}"));
    let schema = stage.file("schema.json", r#"{"type": "object", "required": ["time"]}"#);
    let ask = ["chat", "--no-repair", "--schema", &schema, "?"];
    // One slip is no habit.
    stage.run(&ask).exits(0);
    assert_eq!((bad.hits(), good.hits()), (1, 1));
    stage.run(&ask).exits(0);
    assert_eq!((bad.hits(), good.hits()), (2, 2), "without a repair the next step is asked at once");
    stage.run(&ask).exits(0);
    assert_eq!((bad.hits(), good.hits()), (2, 3), "now it goes last");

    let plan = stage.json(&["plan", "--json", "--schema", &schema]);
    let last = &plan["order"][1];
    assert_eq!((&plan["order"][0]["deployment"], &last["deployment"]), (&json!("good/m"), &json!("bad/m")));
    assert_eq!(
        (&last["quality"]["of"], &last["quality"]["judged"], &last["quality"]["rate"]),
        (&json!("ladder"), &json!(2), &json!(0.0))
    );
    let text = stage.run(&["plan", "--schema", &schema]).exits(0).out;
    let told = "0 of its last 2 answers were as asked at once, the bar is 90 %";
    assert!(text.contains(told) && text.contains("valid 0 % of 2"), "{text}");
    // A ladder without figures of its own goes by those of all.
    let elsewhere = stage.json(&["plan", "--json", "-m", "other", "--schema", &schema]);
    let last = &elsewhere["order"][1];
    assert_eq!((&last["deployment"], &last["quality"]["of"]), (&json!("bad/m"), &json!("all")));
    assert!(last["put_last"].as_str().is_some_and(|why| why.contains("of all ladders")), "{last}");
    // Who asks for no shape cannot miss it.
    assert_eq!(stage.json(&["plan", "--json"])["order"][0]["deployment"], json!("bad/m"));

    let status = stage.json(&["status", "--json", "bad"]);
    let quality = &status["deployments"][0]["quality"];
    assert_eq!((&quality[0]["ladder"], &quality[0]["judged"]), (&json!("main"), &json!(2)));
    assert!(quality[0]["put_last"].as_str().is_some_and(|why| why.contains("the bar is 90 %")), "{quality}");
    let shown = stage.run(&["status"]).exits(0).out;
    assert!(shown.contains("put last: valid 0 % of 2"), "{shown}");
    let table = stage.run(&["stats", "--by", "deployment"]).exits(0).out;
    assert!(table.contains("bad/m is put last by ladder main"), "{table}");
    let top = stage.run(&["top"]).exits(0).out;
    assert!(top.contains("put last"), "{top}");
}

/// Two deployments of a ladder with a bar, and the schema that is asked for.
fn barred(bar: f64, first: &Provider, second: &Provider) -> (Stage, String) {
    let text = config(&[("first", first), ("second", second)]);
    let bar = format!("[ladders.main]\nmin_valid = {bar}\n");
    let stage = Stage::with(&text.replace("[ladders.main]\n", &bar));
    let schema = stage.file("schema.json", r#"{"type": "object", "required": ["time"]}"#);
    (stage, schema)
}

const NOON: &str = r#"{"time": "noon"}"#;

/// A provider that cannot be paid for a long answer gives a shorter one, and it is as asked at once.
#[test]
fn what_is_asked_for_in_another_form_was_no_answer_that_had_to_be_repaired() {
    let message = "This request requires more credits, or fewer max_tokens. You requested up to 4000 tokens, but can only afford 2000.";
    let refusal = || Reply::status(402, json!({"error": {"message": message, "code": 402}}));
    let thrifty = openai(vec![refusal(), Reply::answer(NOON), refusal(), Reply::answer(NOON)]);
    let other = openai(Reply::answer(NOON));
    let (stage, schema) = barred(0.9, &thrifty, &other);
    for _ in 0..2 {
        let ask = ["chat", "--json", "--max-tokens", "4000", "--schema", &schema, "?"];
        let attempts = &stage.run(&ask).exits(0).json()["attempts"];
        let told = |at: usize| ["kind", "adjusted", "judged"].map(|key| attempts[at][key].clone());
        assert_eq!(told(0), [json!("first"), json!(false), json!(false)]);
        assert_eq!(told(1), [json!("repair"), json!(true), json!(true)], "scripts know five kinds");
    }
    assert_eq!(other.hits(), 0);
    let plan = stage.json(&["plan", "--json", "--schema", &schema]);
    let first = &plan["order"][0];
    assert_eq!(first["deployment"], json!("first/m"), "{plan:#}");
    let quality = &first["quality"];
    assert_eq!((&quality["judged"], &quality["valid"], &quality["repairs"]), (&json!(2), &json!(2), &json!(0)));
    let stats = stage.json(&["stats", "--json"]);
    let figures = &stats["figures"];
    assert_eq!((&figures["repairs"], &figures["adjusted"], &figures["judged"]), (&json!(0), &json!(2), &json!(2)));
    let page = stage.run(&["stats"]).exits(0).out;
    assert!(page.contains("2 adjusted") && page.contains("100 % of 2 judged answers"), "{page}");
}

/// Prose of which nothing is asked cannot miss it, and hides nothing.
#[test]
fn only_answers_of_which_something_was_asked_count_for_the_bar() {
    let prose = openai(Reply::answer("Sure! It is noon."));
    let good = openai(Reply::answer(NOON));
    let (stage, schema) = barred(0.5, &prose, &good);
    for _ in 0..3 {
        stage.run(&["chat", "?"]).exits(0).prints("Sure! It is noon.\n");
        stage.run(&["record", "first/m", "--ok"]).exits(0);
    }
    let plan = || stage.json(&["plan", "--json", "--schema", &schema])["order"].clone();
    assert_eq!(plan()[0]["quality"], Value::Null, "nothing was asked: {:#}", plan());
    for _ in 0..2 {
        stage.run(&["chat", "--no-repair", "--schema", &schema, "?"]).exits(0);
    }
    let last = &plan()[1];
    assert_eq!((&last["deployment"], &last["quality"]["judged"]), (&json!("first/m"), &json!(2)), "{last:#}");
    assert!(last["put_last"].as_str().is_some_and(|why| why.contains("0 of its last 2 answers")), "{last}");
    // A check in words is something that is asked as well.
    stage.run(&["chat", "--check", "text.contains('noon')", "?"]).exits(0);
    let stats = stage.json(&["stats", "--json", "--by", "deployment"]);
    let judged = |name: &str| of(&stats, name)["figures"]["judged"].clone();
    assert_eq!([judged("first"), judged("second")], [json!(2), json!(3)], "two shapes, and the check");
}

/// One request is one trial: its answer and what was said after the repair hang together.
#[test]
fn a_request_that_was_mended_puts_nobody_last_and_everybody_has_the_same_share() {
    let slips = openai(vec![Reply::answer("Sure!"), Reply::answer(NOON)]);
    let other = openai(Reply::answer(NOON));
    let (stage, schema) = barred(0.5, &slips, &other);
    stage.run(&["chat", "--schema", &schema, "?"]).exits(0).prints(&format!("{NOON}\n"));
    let plan = stage.run(&["plan", "--schema", &schema]).exits(0).out;
    assert!(plan.contains("valid 0 % of 1, 1 of 1 repaired") && !plan.contains("put last"), "{plan}");
    let stats = stage.json(&["stats", "--json", "--by", "deployment"]);
    let figures = &of(&stats, "first")["figures"];
    let repairs = (&figures["repairs"], &figures["repairs_helped"]);
    assert_eq!((repairs, &figures["valid_at_once_rate"]), ((&json!(1), &json!(1)), &json!(0.0)));
    let top = stage.json(&["top", "--json"]);
    let line =
        top["deployments"].as_array().and_then(|all| all.iter().find(|one| one["deployment"] == json!("first/m")));
    assert_eq!(line.map(|line| &line["valid"]), Some(&json!(0.0)), "{top:#}");
}

#[test]
fn an_invalid_answer_goes_on_is_handed_out_or_stops_as_the_flag_says() {
    let bad = openai(Reply::answer(r#"{"time": 12}"#));
    let good = openai(Reply::answer(r#"{"time": "noon"}"#));
    let stage = Stage::of(&[("bad", &bad), ("good", &good)]);
    let schema = stage.file("schema.json", r#"{"type": "object", "properties": {"time": {"type": "string"}}}"#);
    let ask = |flags: &[&str]| stage.run(&[&["chat", "--schema", &schema], flags, &["?"]].concat());
    ask(&[]).exits(0).prints("{\"time\": \"noon\"}\n");
    assert_eq!((bad.hits(), good.hits()), (2, 1));
    let wrong = ["handed out as it is", "answer.schema", "hint: "];
    ask(&["--on-invalid", "return"]).exits(7).prints("{\"time\": 12}\n").says(&wrong);
    assert_eq!((bad.hits(), good.hits()), (4, 1));
    ask(&["--on-invalid", "fail", "--no-repair"]).exits(7).prints("").says(&["stopped: the answer is not as asked"]);
    assert_eq!((bad.hits(), good.hits()), (5, 1));
    let object = ask(&["--on-invalid", "return", "--no-repair", "--json"]).exits(7).json();
    assert_eq!(
        (&object["text"], &object["parsed"], &object["deployment"]),
        (&json!(r#"{"time": 12}"#), &Value::Null, &json!("bad/m"))
    );
    assert!(object["error"].as_str().is_some_and(|error| error.contains("not as asked")), "{object}");
    let kept = Stage::with(&format!("{}\n[store]\ncontent = true\n", config(&[("bad", &bad)])));
    let flags = ["chat", "--schema", &schema, "--on-invalid", "return", "--no-repair", "--request-id", "r", "?"];
    let hits = bad.hits();
    for _ in 0..2 {
        kept.run(&flags).exits(7).prints("{\"time\": 12}\n").says(&["handed out as it is"]);
    }
    assert_eq!(bad.hits(), hits + 1, "the second time it is told again");
    let object = ask(&["--on-invalid", "fail", "--json"]).exits(7).json();
    assert_eq!((&object["text"], object["attempts"].as_array().map(Vec::len)), (&json!(""), Some(2)));
}

/// What is handed out, and what is said of it, are of one exchange.
#[test]
fn an_answer_without_words_does_not_take_the_blame_for_the_words_of_another() {
    let schema = r#"{"type": "object", "required": ["time"]}"#;
    for (flags, code, text) in [
        (&["--no-repair"][..], 7, "nope"),
        (&[], 7, "nope"),
        (&["--on-invalid", "return"], 7, "nope"),
        (&["--on-invalid", "fail"], 7, ""),
    ] {
        for nothing in [Reply::answer(""), Reply::status(200, json!({"id": "x", "choices": []}))] {
            // The repair or the next step comes without words.
            let m = openai(vec![Reply::answer("nope"), nothing.clone()]);
            let n = openai(nothing);
            let stage = Stage::of(&[("m", &m), ("n", &n)]);
            let schema = stage.file("schema.json", schema);
            let ask = [&["chat", "--json", "--schema", &schema], flags, &["?"]].concat();
            let object = stage.run(&ask).exits(code).json();
            assert_eq!(object["text"], json!(text), "{flags:?}: {object:#}");
            let error = object["error"].as_str().expect("an error");
            assert!(error.contains("m/m says") && !error.contains("without words"), "{flags:?}: {error}");
        }
    }
}

/// Where no answer had words, nothing is handed out for one.
#[test]
fn a_failure_on_the_way_hands_out_nothing_that_was_said_before() {
    let m = openai(vec![Reply::answer(""), Reply::answer("")]);
    let n = openai(Reply::status(503, json!({"error": {"message": "The server is overloaded"}})));
    let stage = Stage::of(&[("m", &m), ("n", &n)]);
    let object = stage.run(&["chat", "--json", "--on-invalid", "return", "?"]).exits(7).json();
    assert_eq!((&object["text"], &object["parsed"]), (&json!(""), &Value::Null));
    assert!(object["error"].as_str().is_some_and(|error| error.contains("m/m says")), "{object:#}");
}
