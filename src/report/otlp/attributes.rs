//! Attributes of a span or a resource, in the form of OTLP/JSON.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::report::moment::rfc3339;

/// Keys with their values, in order. What is not known is not there at all.
#[derive(Debug, Default)]
pub(super) struct Attributes(Vec<Value>);

impl Attributes {
    pub(super) fn text<'a>(self, key: &str, value: impl Into<Option<&'a str>>) -> Self {
        self.with(key, value.into().map(|text| json!({ "stringValue": text })))
    }

    /// A whole number: text, as all numbers of 64 bits are. One that the protocol has no room for is left out.
    pub(super) fn int(self, key: &str, value: impl Into<Option<u64>>) -> Self {
        let number = value.into().and_then(|number| i64::try_from(number).ok());
        self.with(key, number.map(|number| json!({ "intValue": number.to_string() })))
    }

    pub(super) fn double(self, key: &str, value: impl Into<Option<f64>>) -> Self {
        let number = value.into().filter(|number| number.is_finite());
        self.with(key, number.map(|number| json!({ "doubleValue": number })))
    }

    /// A moment: attributes have no type for one, so it is written as everywhere else.
    pub(super) fn time(self, key: &str, at: impl Into<Option<Timestamp>>) -> Self {
        self.text(key, at.into().map(rfc3339).as_deref())
    }

    pub(super) fn into_json(self) -> Value {
        Value::Array(self.0)
    }

    fn with(mut self, key: &str, value: Option<Value>) -> Self {
        self.0.extend(value.map(|value| json!({ "key": key, "value": value })));
        self
    }
}
