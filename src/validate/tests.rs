use serde_json::json;

use super::*;
use crate::domain::{Class, ToolCall};

const CITY: &str = r#"{"city": "Bern"}"#;

fn schema() -> Value {
    json!({"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}})
}

fn nobody(_: &CheckCommand, _: &str) -> Result<(), Fault> {
    panic!("there is no program");
}

fn judge(validation: &Validation, text: &str, finish: Finish) -> Result<Judged, Flaw> {
    let answer = Answer { text: text.into(), finish: Some(finish), ..Answer::default() };
    validation.judge(&answer, "Where does the bear live?", &nobody)
}

fn shaped() -> Validation {
    Validation::new(Some(&schema()), Demands::default()).expect("a schema")
}

fn checked(source: &str) -> Validation {
    let check = Check::of(Rule::new(source).expect("a rule"));
    Validation::new(None, Demands { checks: vec![check], ..Demands::default() }).expect("no schema")
}

/// The rule, the evidence and what the model is told.
fn wrong(came: Result<Judged, Flaw>) -> (String, Class, String, String) {
    match came {
        Err(Flaw::Answer(wrong)) => {
            let Wrong { failure, told } = *wrong;
            (failure.rule, failure.class, failure.evidence, told)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_kinds_of_bad_answers_are_told_apart() {
    let again = "the bear lives in Bern, ".repeat(30);
    for (text, finish, rule) in [
        ("  ", Finish::Stop, "answer.empty"),
        (r#"{"city": "Be"#, Finish::ContentFilter, "answer.filtered"),
        ("", Finish::ContentFilter, "answer.filtered"),
        (r#"{"city": "Be"#, Finish::Length, "answer.truncated"),
        (r#"{"city": "Be"#, Finish::Stop, "answer.truncated"),
        ("The city is", Finish::Length, "answer.truncated"),
        ("Sure! The city is Bern.", Finish::Stop, "answer.prose"),
        ("See [1, 2].", Finish::Stop, "answer.prose"),
        ("{'city': 'Bern'}", Finish::Stop, "answer.not_json"),
        (r#"{"city": "Bern"} or {"city": "Basel"}"#, Finish::Stop, "answer.several"),
        (r#"{"town": "Bern"}"#, Finish::Stop, "answer.schema"),
        (r#"{"city": 7}"#, Finish::Stop, "answer.schema"),
        ("[]", Finish::Stop, "answer.schema"),
        ("Internal Server Error", Finish::Stop, "answer.error_text"),
        (r#"{"error": {"message": "Rate limit reached", "code": 429}}"#, Finish::Stop, "answer.error_text"),
        (&again, Finish::Length, "answer.repetition"),
        ("I'm sorry, but I can't help with that.", Finish::Stop, "answer.refusal"),
    ] {
        let (found, class, ..) = wrong(judge(&shaped(), text, finish));
        assert_eq!(found, rule, "{text}");
        let of_policy = ["answer.filtered", "answer.refusal"].contains(&rule);
        assert_eq!(class, if of_policy { Class::ContentPolicy } else { Class::InvalidOutput }, "{text}");
    }
}

#[test]
fn a_good_answer_is_parsed_and_its_place_is_kept() {
    for (text, place) in [
        (CITY.to_owned(), Extraction::Whole),
        (format!("```json\n{CITY}\n```"), Extraction::Fenced),
        (format!("It is this: {CITY}."), Extraction::Surrounded),
    ] {
        let written = Some(CITY.to_owned());
        let good = Judged { parsed: Some(json!({"city": "Bern"})), written, extraction: Some(place) };
        assert_eq!(judge(&shaped(), &text, Finish::Stop), Ok(good.clone()));
        // Whole although the limit was met: nothing is missing.
        assert_eq!(judge(&shaped(), &text, Finish::Length), Ok(good));
    }
}

#[test]
fn nothing_is_asked_of_words_unless_somebody_does() {
    let plain = Validation::new(None, Demands::default()).expect("no schema");
    let all = Reject::ALL.iter().map(|(_, kind)| *kind).collect();
    let strict = Validation::new(None, Demands { reject: all, ..Demands::default() }).expect("no schema");
    for (text, finish, rule) in [
        ("Error: 500 Internal Server Error", Finish::Stop, "answer.error_text"),
        ("I'm sorry, but I can't help with that.", Finish::Stop, "answer.refusal"),
        (&"the bear lives in Bern, ".repeat(60), Finish::Stop, "answer.repetition"),
        (&"0,0,0,0\n".repeat(60), Finish::Length, "answer.repetition"),
        (&"the bear lives in Bern, ".repeat(30), Finish::Length, "answer.repetition"),
        ("The bear lives", Finish::Length, "answer.truncated"),
    ] {
        assert_eq!(judge(&plain, text, finish.clone()), Ok(Judged::default()));
        assert_eq!(wrong(judge(&strict, text, finish)).0, rule);
    }
    let (zeros, refrain) = ("0,0,0,0\n".repeat(200), "Oh, the bear lives in Bern!\n".repeat(16));
    for text in ["In Bern.", "Unauthorized", "Overloaded", "Insufficient funds", &zeros, &refrain] {
        assert_eq!(judge(&strict, text, Finish::Stop), Ok(Judged::default()), "{text}");
    }
}

#[test]
fn a_model_that_wants_a_tool_run_does_not_owe_the_shape_yet() {
    let call = ToolCall { id: "c1".into(), name: "f".into(), arguments: "{}".into() };
    let answer = Answer { tool_calls: vec![call], finish: Some(Finish::ToolCalls), ..Answer::default() };
    assert_eq!(shaped().with_tools(true).judge(&answer, "", &nobody), Ok(Judged::default()));
    assert_eq!(wrong(shaped().judge(&answer, "", &nobody)).0, "answer.tool_call");
    let thoughts = Answer { reasoning: "hm".into(), tool_calls: Vec::new(), ..answer };
    assert_eq!(wrong(Validation::default().judge(&thoughts, "", &nobody)).0, "answer.empty");
}

#[test]
fn a_rule_on_the_answer_wants_json_and_one_on_the_text_does_not() {
    let on_answer = checked("answer.city == 'Bern'");
    assert!(on_answer.needs_words_for_json());
    assert!(judge(&on_answer, CITY, Finish::Stop).is_ok());
    assert_eq!(wrong(judge(&on_answer, "Bern", Finish::Stop)).0, "answer.prose");
    let (rule, _, evidence, told) = wrong(judge(&on_answer, r#"{"city": "Basel"}"#, Finish::Stop));
    assert_eq!((rule.as_str(), evidence.as_str()), ("answer.check", "`answer.city == 'Bern'` is not true"));
    assert_eq!(told, "A rule on it is not met: `answer.city == 'Bern'` is not true.");
    let on_text = checked("text.size() < 5");
    assert!(!on_text.needs_words_for_json());
    assert_eq!(judge(&on_text, "Bern", Finish::Stop), Ok(Judged::default()));
}

#[test]
fn the_model_is_told_precisely_what_is_wrong() {
    let told = |validation: &Validation, text: &str| wrong(judge(validation, text, Finish::Stop)).3;
    let schema = json!({"type": "object", "required": ["city", "people"], "properties": {
        "city": {"type": "string"}, "people": {"type": "integer", "minimum": 1}}});
    let shape = Validation::new(Some(&schema), Demands::default()).expect("a schema");
    assert_eq!(
        told(&shape, r#"{"city": 7, "people": 0}"#),
        "It does not satisfy the JSON Schema:\n- /city: 7 is not of type \"string\"\n- /people: 0 is less than the minimum of 1"
    );
    let evidence = wrong(judge(&shape, r#"{"city": 7, "people": 0}"#, Finish::Stop)).2;
    assert_eq!(evidence, "/city: 7 is not of type \"string\" (and 1 more)");
    let many = Validation::new(Some(&json!({"items": {"type": "string"}})), Demands::default()).expect("a schema");
    assert!(told(&many, &json!(vec![1; 50]).to_string()).ends_with("\n- and 42 more"));
    assert_eq!(told(&shape, "In Bern."), "It is prose (`In Bern.`), and JSON is wanted. Write the JSON alone.");
    assert!(told(&shape, "{'city': 1}").starts_with("It is not valid JSON: key must be a string at line 1 column 2"));
    let message = Some("Quote the text word by word.".to_owned());
    let rule = Test::Rule(Rule::new("answer.city in input").expect("a rule"));
    let check = Check { name: "quotes".to_owned(), test: rule, message };
    let named = Validation::new(None, Demands { checks: vec![check], ..Demands::default() }).expect("a rule");
    assert!(told(&named, CITY).starts_with("Quote the text word by word. (`answer.city in input` "));
}

#[test]
fn a_model_that_is_not_sure_is_not_believed() {
    let confidence = Some(Confidence { field: "/how/sure".to_owned(), min: 0.7 });
    let sure = Validation::new(None, Demands { confidence, ..Demands::default() }).expect("no schema");
    assert!(judge(&sure, r#"{"how": {"sure": 0.7}}"#, Finish::Stop).is_ok());
    for (text, evidence) in [
        (r#"{"how": {"sure": 0.4}}"#, "the confidence at /how/sure is 0.4; at least 0.7 is wanted"),
        (r#"{"sure": 0.9}"#, "there is no confidence at /how/sure; at least 0.7 is wanted"),
        (r#"{"how": {"sure": "very"}}"#, "the confidence at /how/sure is no number but \"very\""),
    ] {
        let (rule, _, found, _) = wrong(judge(&sure, text, Finish::Stop));
        assert_eq!((rule.as_str(), found.as_str()), ("answer.confidence", evidence));
    }
}

#[test]
fn a_program_reads_what_was_found_and_its_trouble_is_ours() {
    let command = CheckCommand { words: vec!["judge".into()], timeout: CheckCommand::TIMEOUT };
    let check = Check { name: "judge".into(), test: Test::Command(command), message: None };
    let demands = Demands { checks: vec![check], ..Demands::default() };
    let validation = Validation::new(Some(&schema()), demands).expect("a schema");
    let answer = Answer { text: format!("So: {CITY}"), finish: Some(Finish::Stop), ..Answer::default() };
    let came = |fault: Option<Fault>| {
        validation.judge(&answer, "", &|_, given| {
            assert_eq!(given, CITY);
            fault.clone().map_or(Ok(()), Err)
        })
    };
    assert!(came(None).is_ok());
    let (rule, _, evidence, told) = wrong(came(Some(Fault::Said("there is\nno such city".into()))));
    assert_eq!((rule.as_str(), evidence.as_str()), ("answer.check_command", "judge: there is no such city"));
    assert_eq!(told, "The check `judge` rejects it: there is no such city");
    let not_run = "the check `judge` could not be made: gone".to_owned();
    assert_eq!(came(Some(Fault::NotRun("gone".into()))), Err(Flaw::Own(Trouble::NotRun(not_run))));
    assert_eq!(came(Some(Fault::Interrupted)), Err(Flaw::Own(Trouble::Interrupted)));
}
