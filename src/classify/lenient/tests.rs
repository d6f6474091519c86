use serde_json::json;

use super::*;

fn one(text: &str) -> Value {
    let found = find_values(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found[0].value.clone()
}

#[test]
fn dumps_of_all_languages_read_the_same() {
    let wanted = json!({"error": {"message": "It's over", "code": "1113", "param": null}});
    for text in [
        r#"x {"error":{"message":"It's over","code":"1113","param":null}} y"#,
        r#"Error code: 429 - {'error': {'message': "It's over", 'code': '1113', 'param': None}}"#,
        r"b'{\'error\': {\'message\': \'It\\\'s over\', \'code\': \'1113\', \'param\': None}}'",
        r#"{ error: { message: "It's over", code: '1113', param: undefined } }"#,
        "{error: {message: \"It's\" +\n  \" over\", code: '1113',\n param: null,}}",
        r#"%Req{error: %{"message" => "It's over", "code" => "1113", "param" => nil}}"#,
    ] {
        assert_eq!(one(text), wanted, "{text}");
    }
}

#[test]
fn what_is_cut_off_still_counts() {
    assert_eq!(
        one(r#"{"error":{"message":"maximum context lengt..."#),
        json!({"error": {"message": "maximum context lengt..."}})
    );
    assert_eq!(one(r#"[{"error": {"code": 400, "mess"#), json!([{"error": {"code": 400}}]));
}

#[test]
fn strings_in_strings_come_out_unescaped() {
    let value = one(r#"{"raw":"{\"error\":{\"message\":\"a \\\"b\\\" \\u4e0a\"}}"}"#);
    let inner = value["raw"].as_str().unwrap();
    assert_eq!(one(inner)["error"]["message"], "a \"b\" 上");
}

#[test]
fn prose_holds_no_values() {
    for text in ["see [1] and (2)", "${model} {} [] {x}", "a { b", "<html>{{</html>"] {
        assert_eq!(find_values(text), [], "{text}");
    }
}

#[test]
fn braces_without_end_cost_little() {
    for text in ["{".repeat(200_000), "[{".repeat(100_000), "{'a':".repeat(50_000), "{\"a\\".repeat(50_000)] {
        assert!(find_values(&text).len() <= MAX_VALUES);
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}", soup in "[{}\\[\\]()'\"\\\\:,a1 %b<>=\n]{0,200}") {
        find_values(&text);
        find_values(&soup);
        parse_whole(&soup);
    }
}
