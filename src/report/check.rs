//! What `check` says of a config: all that is wrong, or how far each ladder can fall.
//!
//! A ladder of five steps on one account is one step: when the account is out of quota, all five are. So the count that
//! matters is that of failure domains; what several steps share is named, and above all what takes them all.

use serde_json::{Value, json};

use crate::config::{Config, Domains, Problem};
use crate::domain::LadderName;

use super::domains::{domains_json, domains_text};

/// The result of reading a config, for a person. Each problem is on a line of its own.
pub fn check_text(result: &Result<Config, Vec<Problem>>) -> String {
    match result {
        Ok(config) => good(config),
        Err(problems) => {
            let mut out: String = problems.iter().map(|problem| format!("error: {problem}\n")).collect();
            out.push_str(&format!("{}; nothing was sent and nothing was written\n", counted(problems.len(), "error")));
            out
        }
    }
}

fn good(config: &Config) -> String {
    let mut out = String::new();
    let name = config.path.as_ref().map_or("environment".to_owned(), |path| path.display().to_string());
    for warning in &config.warnings {
        out.push_str(&format!("warning: {warning}\n"));
    }
    out.push_str(&format!("{name}: good\n"));
    for (name, domains) in ladders(config) {
        let default = if *name == config.default_ladder { " (default)" } else { "" };
        let (steps, groups) = (counted(domains.steps.len(), "step"), counted(domains.independent, "failure domain"));
        out.push_str(&format!("ladder {name}{default}: {steps}, {groups}\n"));
        out.push_str(&domains_text(&domains));
    }
    out
}

/// The result of reading a config, for a program.
pub fn check_json(result: &Result<Config, Vec<Problem>>) -> Value {
    let problems = |problems: &[Problem]| problems.iter().map(object).collect::<Vec<_>>();
    match result {
        Ok(config) => {
            json!({
                "ok": true,
                "errors": [],
                "warnings": problems(&config.warnings),
                "ladders": ladders(config).map(|(name, domains)| ladder(name, &domains)).collect::<Vec<_>>(),
            })
        }
        Err(errors) => json!({ "ok": false, "errors": problems(errors), "warnings": [], "ladders": [] }),
    }
}

fn ladder(name: &LadderName, domains: &Domains) -> Value {
    let mut object = domains_json(domains);
    object.shift_insert(0, "ladder".to_owned(), json!(name));
    object.shift_insert(1, "steps".to_owned(), json!(domains.steps.len()));
    Value::Object(object)
}

fn object(problem: &Problem) -> Value {
    json!({
        "file": problem.file.display().to_string(),
        "line": problem.line,
        "key": problem.key,
        "message": problem.message,
        "hint": problem.hint,
    })
}

/// Each ladder with what its steps share.
fn ladders(config: &Config) -> impl Iterator<Item = (&LadderName, Domains)> {
    config.ladders.keys().map(|name| (name, config.domains(name)))
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use insta::assert_snapshot;

    use super::*;
    use crate::catalog::Catalog;

    fn check(text: &str) -> Result<Config, Vec<Problem>> {
        crate::config::parse(text, Path::new("llmr.toml"), Catalog::builtin().expect("the catalogue"))
    }

    const GOOD: &str = r#"
        default_ladder = "main"
        [[providers.groq.credentials]]
        name = "team"
        key = { env = "A" }
        account = "acme"
        [[providers.groq.credentials]]
        name = "own"
        key = { env = "B" }
        account = "acme"
        [providers.lab]
        base_url = "http://lab.example/v1"
        wire = "openai"
        [ladders.main]
        steps = ["groq/llama-3.1-8b-instant"]
        [ladders.wide]
        steps = ["groq/x@team", "lab/y"]
    "#;

    const BAD: &str = "[ladders.main]\nsteps = [\"qroq/x\"]\nstratgy = \"ordered\"\n";

    #[test]
    fn a_good_config_is_told_how_far_its_ladders_fall() {
        assert_snapshot!(check_text(&check(GOOD)), @r"
        warning: llmr.toml:12: providers.lab.base_url: not encrypted: keys and prompts can be read on the way
        llmr.toml: good
        ladder main (default): 2 steps, 1 failure domain
          1 provider, 1 account, 1 model, 1 network; backend and region not declared
          single failure: all steps fall with account acme at groq; one of another
            account or provider would not
        ladder wide: 2 steps, 2 failure domains
          2 providers, 2 accounts, 2 models, 1 network; backend and region not declared
          single failure: all steps fall with the internet connection; a local step
            would not
          no single account, provider or model takes all steps
        ");
        let mut json = check_json(&check(GOOD));
        for ladder in json["ladders"].as_array_mut().expect("a list") {
            let names: Vec<_> = ladder.as_object().expect("an object").keys().map(String::as_str).collect();
            assert_eq!(names.join(" "), "ladder steps domains domains_by shared single_failures unknown");
            *ladder = json!([ladder["ladder"], ladder["steps"], ladder["domains"]]);
        }
        assert_snapshot!(json, @r#"{"ok":true,"errors":[],"warnings":[{"file":"llmr.toml","line":12,"key":"providers.lab.base_url","message":"not encrypted: keys and prompts can be read on the way","hint":null}],"ladders":[["main",2,1],["wide",2,2]]}"#);
    }

    #[test]
    fn a_bad_config_is_told_all_that_is_wrong() {
        assert_snapshot!(check_text(&check(BAD)), @r"
        error: llmr.toml:2: ladders.main.steps[0]: unknown provider `qroq`; did you mean `groq`?
        error: llmr.toml:3: ladders.main.stratgy: unknown key; did you mean `strategy`?
        2 errors; nothing was sent and nothing was written
        ");
        assert_snapshot!(check_json(&check(BAD)), @r#"{"ok":false,"errors":[{"file":"llmr.toml","line":2,"key":"ladders.main.steps[0]","message":"unknown provider `qroq`","hint":"did you mean `groq`?"},{"file":"llmr.toml","line":3,"key":"ladders.main.stratgy","message":"unknown key","hint":"did you mean `strategy`?"}],"warnings":[],"ladders":[]}"#);
    }
}
