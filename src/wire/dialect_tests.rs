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

/// The schema with this in its description.
fn telling(mut schema: Value, lost: &Value) -> Value {
    schema["description"] = json!(format!("Must also satisfy this JSON Schema: {lost}"));
    schema
}

#[test]
fn each_dialect_gets_what_it_knows_and_is_told_the_rest() {
    let openai = openai_strict(&rich()).expect("it can be said");
    let point = json!({"anyOf": [{"$ref": "#/$defs/point"}, {"type": "null"}]});
    assert_eq!(
        openai["properties"]["name"],
        telling(json!({"type": "string", "pattern": "^[A-Z]", "format": "hostname"}), &json!({"minLength": 1}))
    );
    assert_eq!(openai["properties"]["kind"], json!({"type": "string", "enum": ["city"]}));
    assert_eq!(
        openai["properties"]["size"],
        json!({"type": ["integer", "null"], "minimum": 0, "exclusiveMaximum": 10})
    );
    assert_eq!(openai["properties"]["where"], point);
    let anthropic = anthropic(&rich()).expect("it can be said");
    assert_eq!(
        anthropic["properties"]["name"],
        telling(json!({"type": "string", "format": "hostname"}), &json!({"minLength": 1, "pattern": "^[A-Z]"}))
    );
    assert_eq!(
        anthropic["properties"]["size"],
        telling(
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            &json!({"minimum": 0, "exclusiveMaximum": 10})
        )
    );
    assert_eq!(
        anthropic["properties"]["tags"],
        telling(
            json!({"type": "array", "items": {"type": "string"}}),
            &json!({"minItems": 2, "maxItems": 5, "uniqueItems": true})
        )
    );
    assert_eq!(
        (&anthropic["properties"]["where"], anthropic["$defs"]["point"]["type"].as_str()),
        (&point, Some("object"))
    );
    let gemini = gemini(&rich()).expect("it can be said");
    assert_eq!(
        gemini["properties"]["tags"],
        telling(
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 5}),
            &json!({"uniqueItems": true})
        )
    );
    assert_eq!(
        gemini["properties"]["size"],
        telling(json!({"type": ["integer", "null"], "minimum": 0}), &json!({"exclusiveMaximum": 10}))
    );
}

#[test]
fn what_is_taken_out_stands_in_the_description_of_its_place() {
    let said = |schema: &Value, place: &str, wanted: &str| {
        let told = schema.pointer(place).and_then(|place| place["description"].as_str()).unwrap_or_default();
        assert_eq!(told, wanted, "{place} of {schema}");
    };
    let schema = closed(
        json!({
            "own": {"type": "string", "description": "A word. ", "minLength": 2, "default": "ab", "title": "Own"},
            "kind": {"enum": ["a", "b", null]},
            "yes": {"const": true},
            "where": {"$ref": "#/$defs/list", "minItems": 3},
            "free": {"type": "array", "items": {"type": "number", "multipleOf": 5}},
            "none": {"not": {"const": "x"}, "type": "string"},
        }),
        json!(["own", "kind", "yes", "where", "free", "none"]),
    );
    let mut schema = schema;
    schema["$defs"] = json!({"list": {"type": "array", "items": {"type": "string"}}});
    schema["minProperties"] = json!(1);
    let also = "Must also satisfy this JSON Schema: ";
    let sent = gemini(&schema).expect("it can be said");
    said(&sent, "/properties/own", &format!("A word.\n\n{also}{{\"minLength\":2}}"));
    said(&sent, "/properties/yes", &format!("{also}{{\"enum\":[true]}}"));
    said(&sent, "/properties/free/items", &format!("{also}{{\"multipleOf\":5}}"));
    said(&sent, "/properties/none", &format!("{also}{{\"not\":{{\"const\":\"x\"}}}}"));
    let where_ = "{\"where\":{\"$ref\":\"#/$defs/list\",\"minItems\":3}}";
    said(&sent, "", &format!("{also}{{\"minProperties\":1,\"properties\":{where_}}}"));
    let either = json!({"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]});
    assert_eq!(sent["properties"]["kind"], either, "it lists texts and numbers alone");
    assert_eq!(sent["properties"]["where"], json!({"$ref": "#/$defs/list"}), "nothing stands beside a reference");
    let sent = openai_strict(&schema).expect("it can be said");
    assert_eq!(sent["properties"]["kind"], json!({"type": ["string", "null"], "enum": ["a", "b", null]}));
    said(&sent, "/properties/free/items", "");
    said(&sent, "", &format!("{also}{{\"minProperties\":1,\"properties\":{where_}}}"));
    // The arguments of tools by the same means.
    let tool = arguments(&schema, Wire::Gemini).expect("an object");
    said(&tool, "/properties/free/items", &format!("{also}{{\"multipleOf\":5}}"));
    let tool = arguments(&schema, Wire::OpenAi).expect("an object");
    assert_eq!(tool, schema, "nothing is taken out of it there");
}

#[test]
fn what_would_have_to_be_tightened_is_not_said() {
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
    let lost = json!({"additionalProperties": false, "patternProperties": {"^x": {"type": "string"}}});
    assert_eq!(gemini(&patterns), Some(telling(json!({"type": "object"}), &lost)), "it is open without the patterns");
    let list = json!({"type": "array", "items": {"type": "string"}});
    assert!(openai_strict(&list).is_none() && anthropic(&list).is_some(), "strict mode answers with objects alone");
    let tree = json!({"$defs": {"node": closed(json!({"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}), json!(["next"]))},
        "type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "required": ["root"], "additionalProperties": false});
    assert!(openai_strict(&tree).is_some() && anthropic(&tree).is_none(), "Anthropic knows no recursion");
}

#[test]
fn arguments_are_an_object_at_the_top() {
    assert_eq!(arguments(&json!({}), Wire::OpenAi), Some(json!({"type": "object", "properties": {}})));
    assert_eq!(arguments(&json!(true), Wire::Gemini), Some(json!({"type": "object", "properties": {}})));
    assert_eq!(
        arguments(&json!({"type": ["object", "null"]}), Wire::OpenAi).map(|s| s["type"].clone()),
        Some(json!("object"))
    );
    let either = json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}});
    assert_eq!(arguments(&either, Wire::OpenAi), Some(json!({"type": "object", "properties": {"a": {}, "b": {}}})));
    assert!(is_cut(&either) && !is_cut(&rich()));
    for none in [json!({"type": "string"}), json!(false), json!("object"), json!({"type": ["string"]})] {
        assert_eq!(arguments(&none, Wire::OpenAi), None, "{none}");
    }
}

fn closed(properties: Value, required: Value) -> Value {
    let mut schema = json!({"type": "object", "additionalProperties": false});
    (schema["properties"], schema["required"]) = (properties, required);
    schema
}

#[test]
fn what_the_providers_refuse_wherever_it_stands_is_not_sent() {
    let old = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "at": {"type": "array", "items": [{"type": "number"}, {"type": "number"}], "additionalItems": false},
            "any": {"type": "array"},
            "mail": {"type": "string", "pattern": "^(?!x).+@", "format": "email"},
            "n": {"type": "number", "minimum": 1, "exclusiveMinimum": true},
            "pattern": {"type": "string", "pattern": "^a"},
        },
    });
    let openai = arguments(&old, Wire::OpenAi).expect("an object");
    let places = json!({"prefixItems": [{"type": "number"}, {"type": "number"}], "items": false});
    assert_eq!(
        openai["properties"],
        json!({
            "at": telling(json!({"type": "array", "items": {}}), &places),
            "any": {"type": "array", "items": {}},
            "mail": telling(json!({"type": "string", "format": "email"}), &json!({"pattern": "^(?!x).+@"})),
            "n": {"type": "number", "exclusiveMinimum": 1},
            "pattern": {"type": "string", "pattern": "^a"},
        })
    );
    let anthropic = arguments(&old, Wire::Anthropic).expect("an object");
    assert_eq!(anthropic.get("$schema"), None);
    assert_eq!(
        anthropic["properties"]["at"],
        json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": false})
    );
    assert_eq!(anthropic["properties"]["any"], json!({"type": "array"}));
    assert_eq!(anthropic["properties"]["mail"]["pattern"], "^(?!x).+@");
    let list = closed(json!({"a": {"type": "array"}}), json!(["a"]));
    assert!(openai_strict(&list).is_none() && anthropic_takes(&list), "strict mode wants to know of what");
    assert_eq!(openai_loose(&list)["properties"]["a"]["items"], json!({}));
    let ahead = closed(json!({"a": {"type": "string", "pattern": "a(?=b)"}}), json!(["a"]));
    assert_eq!(
        openai_strict(&ahead).expect("it can be said")["properties"]["a"],
        telling(json!({"type": "string"}), &json!({"pattern": "a(?=b)"}))
    );
}

fn anthropic_takes(schema: &Value) -> bool {
    anthropic(schema).is_some()
}

#[test]
fn anthropic_is_not_asked_to_compile_more_than_it_does() {
    let many = |count: usize, one: &Value, required: bool| {
        let properties: Map<String, Value> = (0..count).map(|at| (format!("p{at}"), one.clone())).collect();
        let names: Vec<&String> = if required { properties.keys().collect() } else { Vec::new() };
        closed(json!(properties), json!(names))
    };
    let text = json!({"type": "string"});
    assert!(anthropic_takes(&many(24, &text, false)) && !anthropic_takes(&many(25, &text, false)));
    assert!(anthropic_takes(&many(100, &text, true)), "what must be there costs nothing");
    let union = json!({"type": ["string", "null"]});
    assert!(anthropic_takes(&many(16, &union, true)) && !anthropic_takes(&many(17, &union, true)));
    let parts =
        json!({"allOf": [{"$ref": "#/$defs/a"}, {"type": "object", "properties": {}, "additionalProperties": false}]});
    let mut named = closed(json!({"x": parts}), json!(["x"]));
    named["$defs"] = json!({"a": closed(json!({}), json!([]))});
    assert!(!anthropic_takes(&named), "no name among several that all hold");
}

#[test]
fn gemini_takes_what_comes_back_to_itself_where_it_may_be_missing() {
    let node = |required: Value| {
        json!({"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": required}},
            "type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "required": ["root"]})
    };
    assert!(gemini(&node(json!([]))).is_some() && gemini(&node(json!(["next"]))).is_none());
    let own = |required: Value| json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": required});
    assert!(gemini(&own(json!([]))).is_some() && gemini(&own(json!(["next"]))).is_none());
    let tool = arguments(&node(json!(["next"])), Wire::Gemini).expect("an object");
    assert!(!tool.to_string().contains("$ref"), "a tool's is written out, some rounds deep: {tool}");
    let mut end = &tool["properties"]["root"];
    for _ in 0..3 {
        end = &end["properties"]["next"];
        assert_eq!(end["type"], "object");
    }
    assert_eq!(end["properties"]["next"], json!({}));
    let gone = json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}}});
    assert_eq!(arguments(&gone, Wire::Gemini).expect("an object")["properties"]["a"], json!({}));
    let twice = json!({"$defs": {"a": {"type": "string"}}, "type": "object", "required": ["x", "y"],
        "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/a"}}});
    assert!(gemini(&twice).is_some(), "named twice is not named by itself");
}

#[test]
fn the_kind_of_listed_values_is_said() {
    for (schema, said) in [
        (
            json!({"type": "string", "nullable": true, "enum": ["a", null]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (json!({"enum": ["a", null]}), json!({"type": ["string", "null"], "enum": ["a", null]})),
        (json!({"enum": [1.5, 2]}), json!({"type": "number", "enum": [1.5, 2]})),
        (json!({"enum": [1, true]}), json!({"type": ["integer", "boolean"], "enum": [1, true]})),
        (json!({"const": null}), json!({"type": "null", "enum": [null]})),
    ] {
        let sent = openai_strict(&closed(json!({"a": schema}), json!(["a"]))).expect("it can be said");
        assert_eq!(sent["properties"]["a"], said, "{schema}");
    }
    let split = anthropic(&closed(
        json!({"a": {"enum": ["a", null]}, "b": {"type": ["string", "null"], "enum": ["b"]}}),
        json!(["a", "b"]),
    ));
    let split = split.expect("it can be said");
    assert_eq!(
        split["properties"],
        json!({
            "a": {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null", "enum": [null]}]},
            "b": {"type": "string", "enum": ["b"]},
        })
    );
}

#[test]
fn a_type_that_is_only_named_at_the_top_is_written_out() {
    let args = json!({"$ref": "#/definitions/Args", "title": "Args",
        "definitions": {"Args": closed(json!({"a": {"type": "string"}}), json!(["a"]))}});
    for wire in [Wire::OpenAi, Wire::Anthropic, Wire::Gemini] {
        let sent = arguments(&args, wire).expect("an object");
        assert_eq!((&sent["required"], sent.get("$ref")), (&json!(["a"]), None), "{wire:?}");
    }
    assert!(openai_strict(&args).is_some() && anthropic_takes(&args) && !is_cut(&args));
    let round = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
    assert!(
        openai_strict(&round).is_none() && !anthropic_takes(&round) && gemini(&round).is_none(),
        "it names nothing"
    );
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
        Just(json!({"type": "string", "enum": ["a", null], "nullable": true})),
        Just(json!({"enum": [1.5, 2, "abc"]})),
        Just(json!({"type": ["string", "null"], "enum": ["a"]})),
        Just(json!({"type": "string", "pattern": "^(?!b)"})),
        Just(json!({"type": "array"})),
        Just(json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}})),
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
        for wire in [Wire::OpenAi, Wire::Anthropic, Wire::Gemini] {
            if let (Some(sent), true) = (arguments(&schema, wire), value.is_object()) {
                prop_assert!(check(&sent), "{schema} became {sent}, and {value} does not fit any more");
            }
        }
    }
}
