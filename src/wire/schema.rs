//! Asking for a shape: by the wire's own means where the provider is declared to have them, else in words.

use serde_json::Value;

use super::request::Endpoint;

/// Whether the model is declared to take a JSON Schema. A provider that declares nothing is asked in words: a field
/// that it does not know would be refused, while words never are.
pub(super) fn is_native(endpoint: &Endpoint<'_>) -> bool {
    let provider = endpoint.provider;
    let model = provider.models.iter().find(|info| info.id == *endpoint.model);
    let declared = model.and_then(|info| info.capabilities.as_ref()).or(provider.capabilities.as_ref());
    declared.is_some_and(|list| list.iter().any(|capability| capability == "json_schema"))
}

/// The sentence that asks for the shape.
pub(super) fn instruction(schema: &Value) -> String {
    format!(
        "Answer with a single JSON value that satisfies the JSON Schema below. \
         Write nothing else: no prose, no code fence.\n\n{schema}"
    )
}

/// Whether OpenAI's strict mode takes the schema: every object closed, every property required. Anything looser would
/// be refused as a malformed request, so it is sent without the strict mark.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let closed = match fields.get("properties").and_then(Value::as_object) {
                Some(properties) => {
                    let required = fields.get("required").and_then(Value::as_array);
                    let named = |name: &String| required.is_some_and(|list| list.iter().any(|v| v == name.as_str()));
                    fields.get("additionalProperties") == Some(&Value::Bool(false)) && properties.keys().all(named)
                }
                None => fields.get("type").and_then(Value::as_str) != Some("object"),
            };
            closed && fields.values().all(is_strict)
        }
        Value::Array(list) => list.iter().all(is_strict),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strict_schemas_are_closed_all_the_way_down() {
        let inner =
            json!({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false});
        assert!(is_strict(&inner));
        let outer = |inner: &Value| json!({"type":"object","properties":{"list":{"type":"array","items":inner}},"required":["list"],"additionalProperties":false});
        assert!(is_strict(&outer(&inner)));
        let mut open = inner.clone();
        open["additionalProperties"] = json!(true);
        assert!(!is_strict(&outer(&open)));
        let mut optional = inner;
        optional["required"] = json!([]);
        assert!(!is_strict(&optional));
        assert!(!is_strict(&json!({"type":"object"})));
        assert!(is_strict(&json!({"type":"string"})));
    }
}
