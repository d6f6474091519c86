//! Asking for a shape: by the wire's own means where the provider is declared to have them, else in words.
//!
//! The means are tried from the surest: the schema itself, in the wire's dialect; JSON of any shape, with the schema in
//! words; words alone. A provider that declares nothing is asked in words: a field that it does not know would be refused,
//! while words never are. Whichever it is, the answer is checked against the whole schema afterwards.

use serde_json::Value;

use crate::catalog::Wire;
use crate::domain::ChatRequest;

use super::dialect;
use super::request::Endpoint;
use super::tools;

/// How the shape is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// None is wanted.
    Any,
    /// By the schema, in the wire's dialect; whether it holds to the letter, where the wire can say so.
    Schema(Value, bool),
    /// By the mode for JSON of any shape, and in words.
    JsonMode,
    /// In words.
    Words,
}

/// How the endpoint is asked for the shape of the request.
pub(super) fn shape(endpoint: &Endpoint<'_>, wire: Wire, request: &ChatRequest) -> Shape {
    let Some(wanted) = &request.schema else { return Shape::Any };
    let offers = !request.tools.is_empty() || request.options.contains_key("tools");
    if offers && !takes_both(endpoint, wire, request) {
        return Shape::Words;
    }
    if can(endpoint, "json_schema")
        && let Some(shape) = in_dialect(wire, wanted)
    {
        return shape;
    }
    // It gives objects and nothing else.
    if wire != Wire::Anthropic && can(endpoint, "json_object") && is_object(wanted) {
        Shape::JsonMode
    } else {
        Shape::Words
    }
}

impl Shape {
    /// The sentence that asks for the shape, where the wire's own means do not say all of it.
    pub(super) fn instruction(&self, request: &ChatRequest) -> Option<String> {
        match self {
            Self::Any | Self::Schema(..) => None,
            Self::JsonMode | Self::Words => request.schema.as_ref().map(instruction),
        }
    }
}

fn in_dialect(wire: Wire, wanted: &Value) -> Option<Shape> {
    match wire {
        Wire::OpenAi => match dialect::openai_strict(wanted) {
            Some(strict) => Some(Shape::Schema(strict, true)),
            // Without the strict mark any object goes, but nothing else.
            None => Some(dialect::openai_loose(wanted)).filter(is_object).map(|schema| Shape::Schema(schema, false)),
        },
        Wire::Anthropic => dialect::anthropic(wanted).map(|schema| Shape::Schema(schema, true)),
        Wire::Gemini => dialect::gemini(wanted).map(|schema| Shape::Schema(schema, true)),
    }
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// Whether tools and a shape go into one request. Gemini refuses both at once before its third generation, and where a
/// call is forced still (python-genai issue 867, vercel/ai pull request 16540; read 2026-11-30).
fn takes_both(endpoint: &Endpoint<'_>, wire: Wire, request: &ChatRequest) -> bool {
    let by_wire = wire != Wire::Gemini || (is_third_generation(endpoint.model.as_str()) && !tools::is_forced(request));
    by_wire && endpoint.provider.tools_with_schema
}

/// Whether it is a Gemini of the third generation or a later one.
pub(super) fn is_third_generation(model: &str) -> bool {
    let rest = model.rsplit('/').next().and_then(|id| id.strip_prefix("gemini-"));
    let generation = rest.and_then(|rest| rest.split(['.', '-']).next()).and_then(|number| number.parse::<u32>().ok());
    generation.is_some_and(|generation| generation >= 3)
}

/// Whether the model is declared to have the capability.
fn can(endpoint: &Endpoint<'_>, capability: &str) -> bool {
    let model = endpoint.model_info();
    let declared = model.and_then(|info| info.capabilities.as_ref()).or(endpoint.provider.capabilities.as_ref());
    declared.is_some_and(|list| list.iter().any(|known| known == capability))
}

/// The same request with its shape asked for in words: for a provider that refused the schema.
#[must_use]
pub fn shape_in_words(mut request: ChatRequest) -> ChatRequest {
    if let Some(schema) = request.schema.take() {
        let own = request.system.take().filter(|text| !text.trim().is_empty());
        let asked = instruction(&schema);
        request.system = Some(own.map_or(asked.clone(), |own| format!("{own}\n\n{asked}")));
    }
    request
}

/// The sentence that asks for the shape.
pub(super) fn instruction(schema: &Value) -> String {
    format!(
        "Answer with a single JSON value that satisfies the JSON Schema below. \
         Write nothing else: no prose, no code fence.\n\n{schema}"
    )
}
