//! Whether what came back is the answer that was asked for.
//!
//! Providers answer 200 with nothing, with half an object, or with prose around it. With a schema the answer must be
//! JSON that satisfies it, with or without a fence around it; nothing is mended, because mended JSON is invented data.
//! What is wrong is said so that the model can repair it.

use serde_json::Value;

use crate::domain::{Answer, Class, Failure, Finish, ScopeLevel, excerpt};

/// How much of an answer stands in the evidence.
const QUOTE: usize = 120;

/// A compiled schema, or none.
pub(super) struct Shape(Option<jsonschema::Validator>);

impl Shape {
    /// Anything goes.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Compiles the schema.
    ///
    /// # Errors
    /// When it is no valid JSON Schema.
    pub(super) fn new(schema: Option<&Value>) -> Result<Self, String> {
        let compile = |schema| jsonschema::validator_for(schema).map_err(|error| error.to_string());
        schema.map(compile).transpose().map(Self)
    }

    /// The parsed answer, when one was asked for, or what is wrong with it.
    pub(super) fn check(&self, answer: &Answer) -> Result<Option<Value>, Box<Failure>> {
        // The shape is due when the tools have been run.
        if answer.finish == Some(Finish::ToolCalls) && !answer.tool_calls.is_empty() {
            return Ok(None);
        }
        if answer.text.trim().is_empty() {
            return Err(wrong("answer.empty", "the answer is empty"));
        }
        // Before its shape: what a filter cut off would read as broken JSON, and be asked for again in vain.
        if answer.finish == Some(Finish::ContentFilter) {
            let words = "the answer was filtered";
            return Err(Box::new(Failure::new(Class::ContentPolicy, ScopeLevel::Request, "answer.filtered", words)));
        }
        let Some(schema) = &self.0 else { return Ok(None) };
        let quote = excerpt(&answer.text, QUOTE);
        let value: Value = match serde_json::from_str(unfenced(&answer.text)) {
            Ok(value) => value,
            Err(error) if error.is_eof() || answer.finish == Some(Finish::Length) => {
                return Err(wrong("answer.truncated", &format!("JSON is cut off ({error}): {quote}")));
            }
            Err(error) => return Err(wrong("answer.not_json", &format!("not JSON ({error}): {quote}"))),
        };
        match schema.validate(&value) {
            Ok(()) => Ok(Some(value)),
            Err(error) => {
                let at = error.instance_path().to_string();
                let place = if at.is_empty() { "the answer".to_owned() } else { at };
                Err(wrong("answer.schema", &format!("{place}: {}", excerpt(&error.to_string(), QUOTE))))
            }
        }
    }
}

fn wrong(rule: &str, evidence: &str) -> Box<Failure> {
    Box::new(Failure::new(Class::InvalidOutput, ScopeLevel::Request, rule, evidence))
}

/// The inside of a Markdown fence, if the whole text is one fenced block; models add it although nobody asked.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let body = inside.and_then(|rest| rest.split_once('\n')).filter(|(tag, _)| tag.trim().len() <= 8);
    body.map_or(text, |(_, body)| body.trim())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::ToolCall;

    fn rule(text: &str, finish: Option<Finish>) -> Result<Option<Value>, String> {
        let schema = json!({"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}});
        let shape = Shape::new(Some(&schema)).expect("a schema");
        let answer = Answer { text: text.into(), finish, ..Answer::default() };
        shape.check(&answer).map_err(|failure| failure.rule)
    }

    #[test]
    fn answers_are_told_apart() {
        let good = Ok(Some(json!({"city": "Bern"})));
        assert_eq!(rule(r#"{"city": "Bern"}"#, Some(Finish::Stop)), good);
        assert_eq!(rule("```json\n{\"city\": \"Bern\"}\n```", Some(Finish::Stop)), good);
        for (text, finish, expected) in [
            (r#"{"city": "Be"#, Some(Finish::Length), "answer.truncated"),
            (r#"{"city": "Be"#, Some(Finish::Stop), "answer.truncated"),
            ("Sure! The city is Bern.", Some(Finish::Stop), "answer.not_json"),
            (r#"{"town": "Bern"}"#, Some(Finish::Stop), "answer.schema"),
            (r#"{"city": 7}"#, Some(Finish::Stop), "answer.schema"),
            ("  ", Some(Finish::Stop), "answer.empty"),
            (r#"{"city": "Be"#, Some(Finish::ContentFilter), "answer.filtered"),
        ] {
            assert_eq!(rule(text, finish), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_model_that_wants_a_tool_run_does_not_owe_the_shape_yet() {
        let schema = json!({"type": "object"});
        let call = ToolCall { id: "c1".into(), name: "f".into(), arguments: "{}".into() };
        let answer = Answer { tool_calls: vec![call], finish: Some(Finish::ToolCalls), ..Answer::default() };
        assert_eq!(Shape::new(Some(&schema)).expect("a schema").check(&answer), Ok(None));
        assert_eq!(Shape::none().check(&answer), Ok(None));
        let thoughts = Answer { reasoning: "hm".into(), tool_calls: Vec::new(), ..answer };
        assert_eq!(Shape::none().check(&thoughts).map_err(|failure| failure.rule), Err("answer.empty".to_owned()));
    }

    #[test]
    fn without_a_schema_any_words_are_an_answer() {
        let shape = Shape::new(None).expect("no schema");
        let answer = Answer { text: "hello".into(), ..Answer::default() };
        assert_eq!(shape.check(&answer), Ok(None));
        let filtered = Answer { finish: Some(Finish::ContentFilter), ..answer };
        assert_eq!(shape.check(&filtered).map_err(|failure| failure.class), Err(Class::ContentPolicy));
    }
}
