//! In which order the steps are asked, and what keeps some out, as a person sees it in `plan` and by flags.
#![cfg(test)]

use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::stage::{Stage, config, openai};

fn two() -> [Provider; 2] {
    [openai(Reply::answer("one")), openai(Reply::answer("two"))]
}

/// A stage with both and something more under the ladder's heading.
fn stage(providers: &[Provider; 2], ladder: &str, more: &str) -> Stage {
    let [a, b] = providers;
    let text = config(&[("a", a), ("b", b)]).replace("[ladders.main]", &format!("[ladders.main]\n{ladder}"));
    Stage::with(&format!("{text}{more}"))
}

/// Deployment, score and reason of each step of the plan.
fn order(stage: &Stage, args: &[&str]) -> Vec<(String, Value, Value)> {
    let plan = stage.json(&[&["plan", "--json"], args].concat());
    let order = plan["order"].as_array().expect("a list").iter();
    let name = |step: &Value| step["deployment"].as_str().expect("a name").to_owned();
    order.map(|step| (name(step), step["score"].clone(), step["why"].clone())).collect()
}

fn names(stage: &Stage, args: &[&str]) -> Vec<String> {
    order(stage, args).into_iter().map(|(name, ..)| name).collect()
}

/// Who is left out of the plan, and why.
fn left_out(stage: &Stage, args: &[&str]) -> Vec<String> {
    let plan = stage.json(&[&["plan", "--json"], args].concat());
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let skipped = plan["skipped"].as_array().expect("a list").iter();
    skipped.map(|skip| format!("{} {}", word(&skip["deployment"]), word(&skip["reason"]))).collect()
}

/// Writes that the deployment answered so often, each time after so long.
fn took(stage: &Stage, provider: &str, times: u32, milliseconds: u32) {
    let sql = stage.sql();
    for at in 0..times {
        sql.execute(
            "INSERT INTO attempts (request_id, position, provider, model, credential, account, step, kind, started_at, \
             ttft_us, latency_us, execution) SELECT ?1, 0, ?2, 'm', '', ?2, 0, 'first', \
             unixepoch('2026-08-23T02:00:00Z') * 1000 + ?3, ?4, ?4 * 2, 'ran'",
            (format!("{provider}{at}"), provider, at, milliseconds * 1000),
        )
        .expect("written");
    }
}

#[test]
fn a_plan_says_what_placed_each_step() {
    let prices = "[[providers.a.models]]\nid = \"m\"\nprice = { input = 10.0, output = 10.0 }\n\
                  [[caps]]\nprovider = \"a\"\ndimension = \"rpd\"\nlimit = 10\n";
    for (strategy, first, second) in [
        ("ordered", ("a/m", json!(null), json!(null)), ("b/m", json!(null), json!(null))),
        ("usage", ("b/m", json!(0.0), json!("no limit known")), ("a/m", json!(0.3), json!("30 % of rpd used"))),
        ("least_busy", ("a/m", json!(0.0), json!("0 under way")), ("b/m", json!(0.0), json!("0 under way"))),
        (
            "latency",
            ("b/m", json!(null), json!("ttft not known yet, so first")),
            ("a/m", json!(0.25), json!("p95 ttft 250ms of 6")),
        ),
    ] {
        let providers = two();
        let stage = stage(&providers, &format!("strategy = \"{strategy}\""), prices);
        for _ in 0..3 {
            stage.run(&["chat", "-m", "a/m", "?"]).exits(0);
        }
        stage.sql().execute("DELETE FROM attempts", []).expect("written");
        took(&stage, "a", 6, 250);
        let own = |(name, score, why): (&str, Value, Value)| (name.to_owned(), score, why);
        assert_eq!(order(&stage, &[]), [own(first), own(second)], "{strategy}");
        let text = stage.run(&["plan"]).exits(0).out;
        assert!(text.starts_with(&format!("ladder main ({strategy}) at 2026-08-23T03:00:00Z\n")), "{text}");
    }
}

#[test]
fn a_plan_says_what_a_good_answer_costs() {
    let providers = two();
    let prices = "[[providers.b.models]]\nid = \"m\"\nprice = { input = 1.0, output = 2.0 }\n";
    let stage = stage(&providers, "strategy = \"cost\"", prices);
    let found = order(&stage, &[]);
    assert_eq!((&found[0].0, &found[1].0), (&"b/m".to_owned(), &"a/m".to_owned()));
    assert!(found[0].1.as_f64().is_some_and(|usd| usd > 0.0008), "{found:?}");
    let why = found[0].2.as_str().expect("a reason");
    assert!(
        why.contains("a good answer: $0.00080 x 1.04 + 1 % repaired + 1 % x $0.0100 elsewhere, not asked yet"),
        "{why}"
    );
    assert_eq!((&found[1].1, &found[1].2), (&json!(null), &json!("price not known, so last")));
    let text = stage.run(&["plan"]).exits(0).out;
    assert!(text.contains(why) && text.contains("price not known, so last"), "{text}");
}

#[test]
fn who_usually_takes_too_long_is_passed_over_by_flag_and_config() {
    let providers = two();
    let stage = stage(&providers, "", "");
    stage.run(&["chat", "-m", "b/m", "?"]).exits(0);
    took(&stage, "a", 6, 1000);
    for (flag, skipped) in [("2s", &[][..]), ("1999ms", &["a/m too_slow"])] {
        assert_eq!(left_out(&stage, &["--max-latency", flag]), skipped, "{flag}");
    }
    let chat = stage.json(&["chat", "--json", "--max-latency", "1s", "?"]);
    assert_eq!((&chat["text"], &chat["skipped"][0]["reason"]), (&json!("two"), &json!("too_slow")));
    assert!(stage.run(&["chat", "--help"]).exits(0).out.contains("--max-latency <DUR>"));
    let bounded = config(&[("a", &providers[0])]).replace("retry_budget = 0", "max_latency = \"1s\"");
    let (state, config) = (stage.state(), stage.file("bounded.toml", bounded));
    let state = state.to_str().expect("a path");
    let plan = stage.json(&["plan", "--json", "--config", &config, "--state", state]);
    assert_eq!(plan["skipped"][0]["reason"], json!("too_slow"), "{plan}");
}

#[test]
fn what_costs_too_much_for_its_tokens_is_passed_over() {
    let providers = two();
    let prices = "[[providers.a.models]]\nid = \"m\"\nprice = { input = 1.0, output = 3.0 }\n";
    let stage = stage(&providers, "", prices);
    // An answer of about 400 tokens to a prompt of none: $3 a million.
    for (flag, skipped) in [("0.0031", &[][..]), ("0.0029", &["a/m too_expensive"])] {
        assert_eq!(left_out(&stage, &["--max-cost-per-1k", flag]), skipped, "{flag}");
    }
    stage.run(&["chat", "--max-cost-per-1k", "0.001", "?"]).exits(0).prints("two\n");
}

#[test]
fn flags_choose_who_has_the_prompt_in_its_cache() {
    let [a, _] = two();
    let usage = llmr::domain::Usage { input_tokens: Some(2000), output_tokens: Some(3), cached_tokens: Some(1660) };
    let mut warm = Reply::answer("warm");
    if let Reply::Answer { usage: said, .. } = &mut warm {
        *said = Some(usage);
    }
    let providers = [a, openai(warm)];
    let stage = stage(&providers, "", "");
    let prompt = format!("{}why?", "instructions. ".repeat(400));
    let plain = ["-s", &prompt, "two"];
    stage.run(&["chat", "-m", "b/m", "-s", &prompt, "one"]).exits(0);
    let kept = order(&stage, &[&plain[..], &["--prefer-cache"]].concat());
    assert_eq!(kept[0].0, "a/m", "who never asks for the cache pays for no notes");
    stage.run(&["chat", "-m", "b/m", "-s", &prompt, "--prefer-cache", "one"]).exits(0);
    assert_eq!(names(&stage, &plain), ["a/m", "b/m"]);
    let preferred = order(&stage, &[&plain[..], &["--prefer-cache"]].concat());
    assert_eq!(preferred[0].0, "b/m");
    assert_eq!(preferred[0].2, json!("served this beginning now, 83 % from the cache"));
    assert_eq!(names(&stage, &[&plain[..], &["--require-cache"]].concat()), ["b/m"]);
    assert_eq!(left_out(&stage, &[&plain[..], &["--require-cache"]].concat()), ["a/m not_cached"]);
    assert_eq!(names(&stage, &["--require-cache", "short"]), ["a/m", "b/m"], "nobody has it");
    let other = "other words. ".repeat(400);
    assert_eq!(names(&stage, &["-s", &other, "two", "--require-cache"]), ["a/m", "b/m"], "another prompt");
    let kept = stage.state_bytes();
    let begins = |bytes: &[u8]| bytes.windows(14).any(|part| part == b"instructions. ");
    assert!(!begins(&kept), "of a prompt only a digest is kept");
    stage.run(&["plan", "--prefer-cache", "--require-cache"]).exits(2);
}
