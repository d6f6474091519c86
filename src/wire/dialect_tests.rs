//! What of a schema reaches each wire, and that nothing tightens on the way.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Uses what some of the dialects lack.
fn rich() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "pattern": "^[A-Z]", "format": "hostname"},
            "kind": {"const": "city"},
            "size": {"type": ["integer", "null"], "minimum": 0, "exclusiveMaximum": 10},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 5, "uniqueItems": true},
            "where": {"oneOf": [{"$ref": "#/definitions/point", "description": "there"}, {"type": "null"}]},
        },
        "required": ["name", "kind", "size", "tags", "where"],
        "additionalProperties": false,
        "definitions": {"point": {
            "type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"], "additionalProperties": false,
        }},
    })
}

#[test]
fn each_dialect_gets_what_it_knows() {
    let openai = openai_strict(&rich()).expect("it can be said");
    let point = json!({"anyOf": [{"$ref": "#/$defs/point"}, {"type": "null"}]});
    assert_eq!(openai["properties"]["name"], json!({"type": "string", "pattern": "^[A-Z]", "format": "hostname"}));
    assert_eq!(openai["properties"]["kind"], json!({"type": "string", "enum": ["city"]}));
    assert_eq!(
        openai["properties"]["size"],
        json!({"type": ["integer", "null"], "minimum": 0, "exclusiveMaximum": 10})
    );
    assert_eq!(openai["properties"]["where"], point);
    let anthropic = anthropic(&rich()).expect("it can be said");
    assert_eq!(anthropic["properties"]["name"], json!({"type": "string", "format": "hostname"}));
    assert_eq!(anthropic["properties"]["size"], json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}));
    assert_eq!(anthropic["properties"]["tags"], json!({"type": "array", "items": {"type": "string"}}));
    assert_eq!(
        (&anthropic["properties"]["where"], anthropic["$defs"]["point"]["type"].as_str()),
        (&point, Some("object"))
    );
    let gemini = gemini(&rich()).expect("it can be said");
    assert_eq!(
        gemini["properties"]["tags"],
        json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 5})
    );
    assert_eq!(gemini["properties"]["size"], json!({"type": ["integer", "null"], "minimum": 0}));
}

#[test]
fn what_would_have_to_be_tightened_is_not_said() {
    let closed = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let optional = closed(json!({"a": {"type": "string"}}), json!([]));
    assert!(openai_strict(&optional).is_none() && anthropic(&optional).is_some());
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let map = closed(json!({"a": {"type": "object", "additionalProperties": {"type": "string"}}}), json!(["a"]));
    let anything = closed(json!({"a": {}}), json!(["a"]));
    let patterns =
        json!({"type": "object", "additionalProperties": false, "patternProperties": {"^x": {"type": "string"}}});
    let elsewhere = closed(json!({"a": {"$ref": "https://example.com/schema"}}), json!(["a"]));
    for schema in [&open, &map, &anything, &patterns, &elsewhere, &json!(true), &json!({})] {
        assert!(openai_strict(schema).is_none() && anthropic(schema).is_none(), "{schema}");
    }
    assert!(gemini(&open).is_some() && gemini(&elsewhere).is_none());
    assert_eq!(gemini(&patterns), Some(json!({"type": "object"})), "it is open without the patterns");
    let list = json!({"type": "array", "items": {"type": "string"}});
    assert!(openai_strict(&list).is_none() && anthropic(&list).is_some(), "strict mode answers with objects alone");
    let tree = json!({"$defs": {"node": closed(json!({"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}), json!(["next"]))},
        "type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "required": ["root"], "additionalProperties": false});
    assert!(openai_strict(&tree).is_some() && anthropic(&tree).is_none(), "Anthropic knows no recursion");
}

#[test]
fn arguments_are_an_object_at_the_top() {
    assert_eq!(arguments(&json!({}), false), Some(json!({"type": "object", "properties": {}})));
    assert_eq!(arguments(&json!(true), true), Some(json!({"type": "object", "properties": {}})));
    assert_eq!(
        arguments(&json!({"type": ["object", "null"]}), false).map(|s| s["type"].clone()),
        Some(json!("object"))
    );
    let either = json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}});
    assert_eq!(arguments(&either, false), Some(json!({"type": "object", "properties": {"a": {}, "b": {}}})));
    assert!(is_cut(&either) && !is_cut(&rich()));
    for none in [json!({"type": "string"}), json!(false), json!("object"), json!({"type": ["string"]})] {
        assert_eq!(arguments(&none, false), None, "{none}");
    }
}

#[test]
fn a_schema_without_end_is_cut() {
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "array", "items": deep});
    }
    assert!(gemini(&deep).is_some());
    assert!(anthropic(&deep).is_none(), "below the cut stands what it would not take");
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "minLength": 2})),
        Just(json!({"type": "string", "pattern": "^a", "format": "uuid-like"})),
        Just(json!({"type": "integer", "minimum": 1, "multipleOf": 2})),
        Just(json!({"const": 3})),
        Just(json!({"enum": ["a", "b", null]})),
        Just(json!({"type": ["string", "null"], "maxLength": 1})),
        Just(json!({"type": "boolean", "nullable": true})),
        Just(json!({"not": {"type": "string"}})),
        Just(json!(true)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (prop::collection::btree_map("[ab]", inner.clone(), 0..3), any::<bool>(), any::<bool>()).prop_map(
                |(properties, closed, required)| {
                    let names: Vec<&String> = if required { properties.keys().collect() } else { Vec::new() };
                    let mut schema = json!({"type": "object", "properties": properties, "required": names});
                    if closed {
                        schema["additionalProperties"] = json!(false);
                    } else {
                        schema["patternProperties"] = json!({"^b": {"type": "string"}});
                    }
                    schema
                }
            ),
            (inner.clone(), any::<bool>()).prop_map(|(items, unique)| json!({
                "type": "array", "items": items, "uniqueItems": unique, "minItems": 1, "maxItems": 2,
            })),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({"oneOf": list})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({"allOf": list})),
            (inner.clone(), inner).prop_map(|(when, then)| json!({"if": when, "then": then})),
        ]
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(2)),
        Just(json!(3)),
        Just(json!("a")),
        Just(json!("abc")),
        Just(json!(1.5)),
        Just(json!("")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_satisfies_the_schema_satisfies_what_is_sent(schema in any_schema(), value in any_value()) {
        let check = |schema: &Value| jsonschema::is_valid(schema, &value);
        // `nullable` is no word of JSON Schema; what is sent means by it what OpenAPI does, which is looser.
        if !check(&schema) {
            return Ok(());
        }
        for sent in [openai_strict(&schema), anthropic(&schema), gemini(&schema)].into_iter().flatten() {
            prop_assert!(check(&sent), "{schema} became {sent}, and {value} does not fit any more");
        }
        if let (Some(sent), true) = (arguments(&schema, true), value.is_object()) {
            prop_assert!(check(&sent), "{schema} became {sent}, and {value} does not fit any more");
        }
    }
}
