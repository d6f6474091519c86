use proptest::prelude::*;
use serde_json::json;

use super::*;

fn city() -> Shape {
    let schema = json!({"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}});
    Shape::new(&schema).expect("a schema")
}

fn found(text: &str) -> Found {
    find(text, &city())
}

fn one(place: Extraction) -> Found {
    taken(json!({"city": "Bern"}), "{\"city\": \"Bern\"}", place)
}

#[test]
fn a_value_is_found_whole_fenced_and_surrounded() {
    for (text, place) in [
        (" {\"city\": \"Bern\"}\n", Extraction::Whole),
        ("```json\n{\"city\": \"Bern\"}\n```", Extraction::Fenced),
        ("```\n{\"city\": \"Bern\"}\n```\n", Extraction::Fenced),
        ("Here it is:\n\n```json\n{\"city\": \"Bern\"}\n```\nAnything else?", Extraction::Fenced),
        ("Sure! {\"city\": \"Bern\"}.", Extraction::Surrounded),
        ("Sure! {\"city\": \"Bern\"} - as you asked.", Extraction::Surrounded),
        ("It is {\"city\": \"Bern\"}. Let me know if you need more!", Extraction::Surrounded),
        ("Here you are:\n{\"city\": \"Bern\"}\nHope that helps", Extraction::Surrounded),
        ("Sure:\n**{\"city\": \"Bern\"}**\n", Extraction::Surrounded),
        ("```json {\"city\": \"Bern\"} ```", Extraction::Surrounded),
        ("{\"city\": \"Bern\"}\n\nI chose Bern because of the bear.", Extraction::Surrounded),
        ("{'city': 'x'} was wrong. So: {\"city\": \"Bern\"}", Extraction::Surrounded),
        ("So: {\"city\": \"Bern\"}\nOnce more: {\"city\": \"Bern\"}", Extraction::Surrounded),
        ("\u{feff}{\"city\": \"Bern\"}", Extraction::Whole),
        ("<think>\n{\"city\": \"Ba\n</think>\n\n```json\n{\"city\": \"Bern\"}\n```", Extraction::Fenced),
        ("Is it {\"city\": \"Basel\"}?\n</think>\n{\"city\": \"Bern\"}", Extraction::Surrounded),
        ("See [the map] (or {this}): {\"city\": \"Bern\"}", Extraction::Surrounded),
        ("As [1] says, [2, 3] of it: {\"city\": \"Bern\"}.", Extraction::Surrounded),
        ("<think>{x} or {y}?</think>{\"city\": \"Bern\"}", Extraction::Surrounded),
        ("{\"city\": \"Bern\"}{\"city\": \"Bern\"}", Extraction::Surrounded),
        ("Here is the answer in the format you asked for:\n{\"city\": \"Bern\"}", Extraction::Surrounded),
        ("The format is as you wished.\n```json\n{\"city\": \"Bern\"}\n```", Extraction::Fenced),
        ("Here is an example of a city in the requested format: {\"city\": \"Bern\"}", Extraction::Surrounded),
        ("An example of a Swiss city: {\"city\": \"Bern\"}", Extraction::Surrounded),
        ("For example: {\"city\": \"Bern\"}", Extraction::Surrounded),
        ("The JSON in the required schema:\n```json\n{\"city\": \"Bern\"}\n```", Extraction::Fenced),
        ("The format would be {\"city\": \"Bern\"}. My answer: {\"city\": \"Bern\"}", Extraction::Surrounded),
        ("I can't find it in the text, but it is surely this: {\"city\": \"Bern\"}", Extraction::Surrounded),
        ("I cannot see the map. From the words it must be: {\"city\": \"Bern\"}", Extraction::Surrounded),
    ] {
        assert_eq!(found(text), one(place), "{text}");
    }
}

#[test]
fn a_fence_wins_over_what_stands_in_prose() {
    let fenced = "```json\n{\"city\": \"Bern\"}\n```";
    for (before, after) in [
        ("I split with `s.split(\"{\")`:\n", ""),
        ("", "\nSplit with `[\"']` or {\"so"),
        (
            "You gave me {\"city\": \"INPUT\"} and {\"city\": \"B\",}:\n",
            "\nIt is {\"city\": \"Bern\"}, and not [1, 2] of {\"town\": 1}.",
        ),
        ("With this:\n```sh\necho {\"city\": \"x\"}\n```\n", "\n"),
        ("By the schema\n```json\n{\"type\": \"object\"}\n```\nit is\n", ""),
        ("```\nBern\n```\n", "\n```json\n{\"city\":   \"Bern\"}"),
    ] {
        let text = format!("{before}{fenced}{after}");
        let Found::One(Taken { value, place, .. }) = found(&text) else { panic!("{text}: {:?}", found(&text)) };
        assert_eq!((value, place), (json!({"city": "Bern"}), Extraction::Fenced), "{text}");
    }
    let none = |more: &str| !matches!(found(&format!("{fenced}\n{more}")), Found::One(..));
    for more in [
        "```json\n{\"city\": \"Basel\"}\n```",
        "```json\n{\"city\": \"Basel\",}\n```",
        "```\n{\"city\": \"Ba",
        "```json\n{\"ctiy\": \"Basel\"}\n```",
        "No: {\"city\": \"Basel\"}.",
    ] {
        assert!(none(more), "{more}");
    }
}

#[test]
fn a_value_that_is_talked_about_is_not_taken() {
    for text in [
        r#"Format: {"city":"EXAMPLE"} … {"city":"Bern",}"#,
        r#"Format: {"city":"EXAMPLE"}. Answer: {"ctiy":"Bern"}"#,
        r#"Format: {"city":"EXAMPLE"}. Answer: {'city':'Bern'}"#,
        r#"For instance {"city":"EXAMPLE"}. Answer: ["Bern"]"#,
        r#"You gave me {"city":"INPUT"} and I could not find a city."#,
        r#"{"city":"INPUT"} has no city."#,
        r#"Of {"city":"INPUT"}, which has no city, nothing can be said."#,
        "I refuse to answer. The format would be like this:\n{\"city\":\"string\"}",
        "An example of the format: ```json\n{\"city\":\"x\"}\n``` But I do not know the answer.",
        "An example of the expected format:\n\n```json\n{\"city\":\"x\"}\n```\n\nBut I do not know the answer.",
        "I don't know it. The JSON format would be:\n```json\n{\"city\":\"x\"}\n```",
        "I'm sorry, but I can't help with that. {\"city\":\"\"}",
    ] {
        assert!(!matches!(found(text), Found::One(..)), "{text}: {:?}", found(text));
    }
}

#[test]
fn without_a_schema_only_the_whole_or_a_fence_is_taken() {
    let any = |text: &str| find(text, &Shape::any());
    for text in ["As shown in [1], the capital is Bern.", "It is: [1]", "{\"a\": 1}\nis it."] {
        assert_eq!(any(text), Found::Amid, "{text}");
    }
    assert_eq!(any("As in [1]:\n```json\n7\n```\nSee {}."), taken(json!(7), "7", Extraction::Fenced));
    assert_eq!(any(" 7 "), taken(json!(7), "7", Extraction::Whole));
}

#[test]
fn a_scalar_in_a_fence_and_what_was_written_are_kept() {
    let number = Shape::new(&json!({"type": "number"})).expect("a schema");
    for written in ["7", "10.00", "12345678901234567890123"] {
        let text = format!("So:\n```\n{written}\n```");
        let Found::One(taken) = find(&text, &number) else { panic!("{text}") };
        assert_eq!((taken.written.as_str(), taken.place), (written, Extraction::Fenced));
        assert_eq!(as_written(&text, &taken.value), Some(written));
    }
    let list = Shape::new(&json!({"type": "array", "items": {"type": "number"}, "minItems": 1})).expect("a schema");
    let two = "[12345678901234567890123]\n or: [12345678901234567890124]";
    assert_eq!(find(two, &list), Found::Several(2), "they only look the same when rounded");
}

#[test]
fn what_is_not_exactly_one_value_is_none() {
    let broken = |text: &str| matches!(found(text), Found::Broken(_, false));
    let short = |text: &str| matches!(found(text), Found::Broken(_, true));
    assert_eq!(found("{\"city\": \"Bern\"} or {\"city\": \"Basel\"}"), Found::Several(2));
    assert_eq!(found("The city is Bern."), Found::None);
    assert_eq!(found("{\"town\": \"Bern\"}"), Found::Other(json!({"town": "Bern"}), true));
    assert_eq!(found("So: {\"town\": \"Bern\"}"), Found::Other(json!({"town": "Bern"}), false));
    assert!(short("{\"city\": \"Be"));
    assert!(short("It is {\"city\": \"Bern\"} and {\"city\": \"Ba"));
    assert!(broken("{'city': 'Bern'}"));
    assert!(broken("{city: \"Bern\"}"));
    assert!(broken("{\"city\": \"Bern\",}"));
    assert!(broken("{\"city\": \"Bern\", \"city\": \"Basel\"}"), "which of the two is meant?");
    assert!(broken("{\"city\": \"Bern\", \"n\": NaN}"));
    assert!(broken("{\"city\": \"Bern\", \"n\": 1e999}"));
    assert!(broken(&format!("{{\"city\": \"Bern\", \"n\": {}1{}}}", "[".repeat(500), "]".repeat(500))));
}

#[test]
fn the_inside_of_broken_json_is_no_answer() {
    for text in [
        r#"{"places": [{"city": "Bern"}], oops}"#,
        r#"{"place": {"city": "Bern"}"#,
        r#"{"place": {"city": "Bern"}, "next": "#,
        r#""place": {"city": "Bern"}}"#,
        r#"{place: {"city": "Bern"}}"#,
        r#"{'place': {"city": "Bern"}}"#,
        r#"[{"city": "Bern"}, {"city": "#,
        r#"{"place": "x"", "next": {"city": "Bern"}}"#,
    ] {
        assert!(matches!(found(text), Found::Broken(..)), "{text}: {:?}", found(text));
    }
}

#[test]
fn no_text_is_looked_at_more_than_a_few_times() {
    let shape = city();
    for piece in [
        "[",
        "{",
        "{\"",
        "[1,",
        "{\"a\":",
        "[[],",
        "{}",
        "{\"a\":{}},",
        "[\"",
        "{x",
        "]}",
        "[0)",
        "```\n{",
        "[true",
        "{a:",
    ] {
        let text = piece.repeat(20_000);
        let (_, steps) = find_counted(&text, &shape);
        assert!(steps <= 5 * text.len(), "{piece}: {steps} steps for {} bytes", text.len());
    }
}

/// Prose without JSON in it: brackets stand there, but nothing that opens like a value.
fn prose() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            "[a-zA-Zäß ,.!?]{0,12}",
            Just("[see]".to_owned()),
            Just("{x}".to_owned()),
            Just("(\"so\")".to_owned()),
            Just("\n".to_owned()),
            Just("it's".to_owned())
        ],
        0..8,
    )
    .prop_map(|words| words.concat())
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z{}\\[\\]\"\\\\ :,é]{0,8}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z\" ]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_prose_around_one_value_gives_that_value(before in prose(), after in prose(), more in tree()) {
        let value = json!({"city": "Bern", "more": more});
        let fenced = format!("{before}\n```\n{value}\n```\n{after}");
        let last = format!("{before}\n{value}\n");
        for text in [fenced, last] {
            match find(&text, &city()) {
                Found::One(taken) => prop_assert_eq!(&taken.value, &value),
                other => prop_assert!(false, "{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_was_cut_off_never_yields_a_value(more in tree(), at in any::<proptest::sample::Index>()) {
        let text = json!({"more": [more, {"city": "Bern"}, 1], "city": "Basel"}).to_string();
        let cut = text.chars().take(at.index(text.chars().count())).collect::<String>();
        prop_assert!(!matches!(find(&cut, &city()), Found::One(..)), "{cut}");
    }

    #[test]
    fn any_text_gives_an_answer_in_linear_time(text in "[\\[\\]{}\",:a1`\\\\ \n]{0,200}") {
        let (_, steps) = find_counted(&text, &Shape::any());
        prop_assert!(steps <= 5 * text.len() + 16, "{} steps", steps);
    }
}
