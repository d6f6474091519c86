//! From a body or a log to the errors in it, innermost first.
//!
//! Gateways wrap the error of the provider in their own, some of them as escaped JSON within a message, and what the
//! outermost says ("Provider returned error", 500) is seldom the cause. So every object that has a message, a code, a
//! type or a status becomes a layer, however it is wrapped, and the deepest is believed first.

use serde_json::Value;

use super::lenient;

/// How many layers are kept of one piece of evidence.
const MAX_LAYERS: usize = 160;

/// How deep JSON within strings within JSON is followed.
const MAX_DEPTH: usize = 24;

/// What one error object, or one text, says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Layer {
    /// How many objects and strings lie around it.
    pub(crate) depth: usize,
    /// Its words, as they came.
    pub(crate) text: String,
    /// What stands in the positions of codes, in lower case.
    pub(crate) codes: Vec<String>,
    /// What stands in the positions of types and status words, in lower case.
    pub(crate) kinds: Vec<String>,
    /// HTTP statuses.
    pub(crate) statuses: Vec<u16>,
    /// Which parameter is meant.
    pub(crate) param: Option<String>,
    /// Whether it is free text (a log, HTML) rather than an object.
    pub(crate) free: bool,
}

impl Layer {
    fn says_nothing(&self) -> bool {
        self.text.is_empty() && self.codes.is_empty() && self.kinds.is_empty() && self.statuses.is_empty()
    }
}

/// What a key of an error object means.
enum Meaning {
    Message,
    Code,
    Kind,
    Status,
    Param,
    Ignored,
    Other,
}

/// The meaning of a key, whatever the style of its letters.
fn meaning(key: &str) -> Meaning {
    let plain: String = key
        .chars()
        .filter(|c| !matches!(c, '_' | '-' | '.' | ':' | '$' | '@'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    match plain.as_str() {
        "message" | "msg" | "errormessage" | "errormsg" | "detail" | "details" | "title" | "error" | "description"
        | "errordescription" | "statusmsg" | "raw" | "err" | "errors" | "errorstr" | "responsemessage"
        | "statusmessage" | "exception" | "errordetails" | "failure" | "body" => Meaning::Message,
        "code" | "errorcode" | "ecode" | "errcode" | "errno" | "providererrorcode" | "reason" | "limitsource"
        | "blockreason" | "finishreason" | "stopreason" | "ratelimittype" | "subcode" | "bizcode" | "exceptiontype"
        | "xamznerrortype" => Meaning::Code,
        "type" | "errortype" | "name" | "kind" | "class" => Meaning::Kind,
        "status" | "statuscode" | "httpstatus" | "httpstatuscode" | "httpcode" | "responsestatuscode"
        | "rawstatuscode" => Meaning::Status,
        "param" | "field" | "loc" => Meaning::Param,
        // What was asked, what it cost, and what a person could do, say nothing of what went wrong.
        "usage"
        | "request"
        | "requestbody"
        | "tools"
        | "safetyratings"
        | "contentfilterresult"
        | "contentfilterresults"
        | "logprobs"
        | "schema"
        | "parameters"
        | "remedyhint"
        | "stack"
        | "input"
        | "url"
        | "content"
        | "text"
        | "parts"
        | "arguments"
        | "thinking"
        | "reasoningcontent"
        | "reasoning"
        | "requestid"
        | "docurl"
        | "moreinfo"
        | "links"
        | "failedgeneration"
        | "userid"
        | "model"
        | "requestbodyvalues" => Meaning::Ignored,
        _ => Meaning::Other,
    }
}

/// Collects the layers of a value.
pub(crate) fn collect(value: &Value, depth: usize, out: &mut Vec<Layer>) {
    if depth > MAX_DEPTH || out.len() >= MAX_LAYERS {
        return;
    }
    match value {
        Value::Array(items) => items.iter().take(64).for_each(|item| collect(item, depth, out)),
        Value::Object(map) => {
            let mut layer = Layer { depth, ..Layer::default() };
            for (key, value) in map.iter().take(128) {
                field(&mut layer, key, value, out);
            }
            if !layer.says_nothing() {
                out.push(layer);
            }
        }
        Value::String(text) => collect_text(text, depth, out),
        _ => {}
    }
}

/// Collects the layers of values that stand within a text; the text itself is not one of them.
pub(crate) fn collect_text(text: &str, depth: usize, out: &mut Vec<Layer>) {
    if depth > MAX_DEPTH || !text.contains(['{', '[']) {
        return;
    }
    for found in lenient::find_values(text) {
        collect(&found.value, depth + 1, out);
    }
}

fn field(layer: &mut Layer, key: &str, value: &Value, out: &mut Vec<Layer>) {
    let meaning = meaning(key);
    match (&meaning, value) {
        (Meaning::Ignored, _) => {}
        (Meaning::Message, Value::String(text)) => {
            push_text(&mut layer.text, text);
            collect_text(text, layer.depth, out);
        }
        // Mistral and OpenAI have sent arrays of sentences.
        (Meaning::Message, Value::Array(items)) => {
            for text in items.iter().filter_map(Value::as_str).take(16) {
                push_text(&mut layer.text, text);
            }
            collect(value, layer.depth + 1, out);
        }
        (Meaning::Code, Value::String(text)) => layer.code(key, text),
        (Meaning::Code, Value::Number(number)) => layer.code(key, &number.to_string()),
        (Meaning::Kind, Value::String(text)) => layer.kind(text),
        (Meaning::Status, Value::String(text)) => match status(text) {
            Some(status) => layer.statuses.push(status),
            None => layer.kind(text),
        },
        // Some providers keep codes of their own in the place of the status.
        (Meaning::Status, Value::Number(number)) => layer.code(key, &number.to_string()),
        // Spring names the path that it does not know.
        (Meaning::Other, Value::String(text)) if key == "path" && text.starts_with('/') => {
            layer.codes.push("names_a_path".to_owned());
        }
        // Where in the request a framework found the fault: it names what its message does not.
        (Meaning::Param, Value::Array(path)) => {
            let names: Vec<&str> = path.iter().filter_map(Value::as_str).take(8).collect();
            push_text(&mut layer.text, &names.join("."));
        }
        (Meaning::Param, Value::String(text)) => layer.param = Some(text.to_ascii_lowercase()),
        (_, Value::String(text)) => collect_text(text, layer.depth, out),
        (_, Value::Object(_) | Value::Array(_)) => collect(value, layer.depth + 1, out),
        _ => {}
    }
}

impl Layer {
    /// Takes what stands in the position of a code: a status, a word, or a sentence (xAI).
    fn code(&mut self, key: &str, text: &str) {
        if let Some(status) = status(text) {
            self.statuses.push(status);
        } else if text.contains(' ') {
            push_text(&mut self.text, text);
        } else if !text.is_empty() {
            let lower = text.to_lowercase();
            // `ThrottlingException:http://internal…`: the name ends at the colon.
            let name = lower.split_once(":http").map_or(lower.as_str(), |(name, _)| name).to_owned();
            let reason = key.to_ascii_lowercase().replace('_', "");
            if matches!(reason.as_str(), "finishreason" | "stopreason" | "blockreason") {
                self.codes.push(format!("{reason}={name}"));
            } else {
                self.codes.push(name);
            }
        }
    }

    fn kind(&mut self, text: &str) {
        if text.contains(' ') && text.len() > 30 {
            push_text(&mut self.text, text);
        } else if !text.is_empty() {
            self.kinds.push(text.to_lowercase());
        }
    }
}

/// A number that can be an HTTP error status.
pub(crate) fn status(text: &str) -> Option<u16> {
    let number: u16 = text.trim().parse().ok()?;
    (text.trim().len() == 3 && (100..600).contains(&number)).then_some(number)
}

/// Joins sentences; the same sentence twice says no more than once.
fn push_text(out: &mut String, text: &str) {
    if text.is_empty() || out.len() > 20_000 || out.contains(text) {
        return;
    }
    if !out.is_empty() {
        out.push_str(" | ");
    }
    out.push_str(text);
}
