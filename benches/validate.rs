//! What it costs to look at an answer: with a small schema, with a rule besides, out of prose, and with nothing asked. A
//! request must not notice it; 5 ms are plenty.

#![expect(clippy::expect_used, reason = "a benchmark is a program of its own that may just end")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use llmr::domain::{Answer, Finish};
use llmr::validate::{Check, Demands, Rule, Validation};
use serde_json::{Value, json};

fn schema() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["city", "people", "quotes"], "properties": {
        "city": {"type": "string", "minLength": 1}, "people": {"type": "integer", "minimum": 1},
        "quotes": {"type": "array", "items": {"type": "string"}}}})
}

fn answer(text: &str) -> Answer {
    Answer { text: text.to_owned(), finish: Some(Finish::Stop), ..Answer::default() }
}

fn demands() -> Demands {
    let rule = Rule::new("answer.people > 1000 && answer.quotes.all(quote, input.contains(quote))").expect("a rule");
    Demands { checks: vec![Check::of(rule)], ..Demands::default() }
}

fn judging(c: &mut Criterion) {
    let text = r#"{"city": "Bern", "people": 134794, "quotes": ["the bear", "the river"]}"#;
    let (bare, prose) = (answer(text), answer(&format!("Sure! As [1] says:\n\n{text}\n\nAnything else?")));
    let input = "Where the bear lives, the river bends. ".repeat(50);
    let plain = Validation::default();
    let shaped = Validation::new(Some(&schema()), Demands::default()).expect("a schema");
    let checked = Validation::new(Some(&schema()), demands()).expect("a schema");
    let mut group = c.benchmark_group("judge");
    for (name, validation, answer) in [
        ("nothing", &plain, &bare),
        ("schema", &shaped, &bare),
        ("schema_in_prose", &shaped, &prose),
        ("schema_and_rule", &checked, &bare),
    ] {
        group.bench_function(name, |b| b.iter(|| validation.judge(black_box(answer), &input, &|_, _| Ok(()))));
    }
    group.finish();
}

fn compiling(c: &mut Criterion) {
    let schema = schema();
    c.bench_function("compile/schema", |b| b.iter(|| Validation::new(Some(black_box(&schema)), Demands::default())));
    c.bench_function("compile/rule", |b| b.iter(|| Rule::new(black_box("answer.people > 1000"))));
}

criterion_group!(benches, judging, compiling);
criterion_main!(benches);
