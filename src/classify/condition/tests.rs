//! Conditions one by one.

use super::*;
use crate::catalog::Catalog;
use crate::domain::{Evidence, LimitFacts};

fn signals(headers: &[(&str, &str)], body: &str) -> Signals {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Signals::read(&Evidence { headers, body: body.to_owned(), ..Evidence::default() }, &Catalog::default())
}

#[test]
fn names_fit_patterns() {
    for (pattern, name, expected) in [
        ("retry-after", "retry-after", true),
        ("retry-after", "retry-after-ms", false),
        ("anthropic-ratelimit-*-remaining", "anthropic-ratelimit-requests-remaining", true),
        ("anthropic-ratelimit-*-remaining", "anthropic-ratelimit-requests-limit", false),
        ("x-*token*-day", "x-ratelimit-remaining-tokens-day", true),
        ("x-*token*-day", "x-ratelimit-remaining-requests-day", false),
        ("*", "anything", true),
        ("a*a", "a", false),
        ("*day", "x-day-day", true),
        ("a*b*c", "a-c-b", false),
    ] {
        assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn a_header_is_looked_up_by_name_and_tested() {
    let signals = signals(&[("X-Left", "0"), ("x-left-day", "7%"), ("x-kind", " UserByModelByDay ")], "");
    let seen = |name, except, test| Condition::Header { name, except, test }.seen(&signals);
    let any = Test::<&str>::ANY;
    let kind = Some("header x-kind: UserByModelByDay".to_owned());
    assert_eq!(seen("x-kind", None, Test { contains: Some("byday"), ..any }), kind);
    assert_eq!(seen("x-kind", None, Test { equals: Some("USERbymodelbyday"), ..any }), kind);
    assert_eq!(seen("x-kind", None, Test { above: Some(0.0), ..any }), None, "no number");
    assert_eq!(seen("x-left*", None, Test { equals: Some("0.0"), ..any }), Some("header x-left: 0".to_owned()));
    assert_eq!(
        seen("x-left*", Some("x-left"), Test { below: Some(8.0), above: Some(6.0), ..any }).as_deref(),
        Some("header x-left-day: 7%")
    );
    assert_eq!(seen("x-left*", None, Test { below: Some(7.0), above: Some(0.0), ..any }), None, "of one header");
    assert_eq!(seen("x-none", None, Test { present: Some(false), ..any }).as_deref(), Some("no header x-none"));
    assert_eq!(seen("x-left", None, Test { present: Some(false), ..any }), None);
    assert_eq!(seen("x-none", None, Test { present: Some(true), ..any }), None);
}

#[test]
fn a_path_counts_from_every_value() {
    let body = r#"{"error":{"code":429,"param":null,"details":[{"reason":"A"},{"reason":"B"}],
        "metadata":{"raw":"{\"error\":{\"code\":\"inner\",\"deep\":{\"x\":true}}}"}}}"#;
    let signals = signals(&[], body);
    let seen = |at, test| Condition::Path { at, test }.seen(&signals);
    let any = Test::<&str>::ANY;
    let equals = |value| Test { equals: Some(value), ..any };
    for (at, value) in [
        ("error.details[0].reason", "a"),
        ("$.error.details[0].reason", "A"),
        ("error.details[*].reason", "B"),
        ("details[1].*", "B"),
        ("*.code", "429"),
        ("error.code", "429"),
        ("error.code", "inner"),
        ("deep.x", "true"),
    ] {
        assert!(seen(at, equals(value)).is_some(), "{at} {value}");
    }
    for (at, value) in [("error.details[0].reason", "B"), ("details.reason", "A"), ("[0].reason", "B"), ("code.x", "1")]
    {
        assert_eq!(seen(at, equals(value)), None, "{at} {value}");
    }
    assert_eq!(seen("error.code", Test { above: Some(428.0), ..any }).as_deref(), Some("error.code: 429"));
    assert_eq!(
        seen("error.details", Test { contains: Some("\"b\""), ..any }).as_deref(),
        Some(r#"error.details: [{"reason":"A"},{"reason":"B"}]"#)
    );
    let present = |present| Test { present: Some(present), ..any };
    assert_eq!(seen("error.param", present(true)), None, "null says nothing");
    assert_eq!(seen("error.param", present(false)).as_deref(), Some("nothing at error.param"));
    assert_eq!(seen("error.code", present(false)), None);
}

#[test]
fn paths_that_are_none_are_told_why() {
    for path in ["", "a..b", ".a", "a.", "a[0", "a[x]", "a[-1]", "a[0]b"] {
        assert!(check_path(path).is_err(), "{path}");
    }
    for path in ["a", "a.b[0][1].c", "[0].a", "*[*].x", "$.a"] {
        assert_eq!(check_path(path), Ok(()), "{path}");
    }
}

#[test]
fn wide_and_deep_values_cost_little() {
    let body = format!("{}1{}", "{\"a\":[".repeat(60), "]}".repeat(60));
    let wide = format!("[{}1]", "{\"a\":{\"b\":1}},".repeat(6000));
    for body in [body, wide] {
        let signals = signals(&[], &body);
        assert_eq!(Condition::Path { at: "*.*.*.zz", test: Test::<&str>::ANY }.seen(&signals), None);
    }
}

#[test]
fn figures_are_compared() {
    let facts = LimitFacts { limit: Some(7000.0), requested: Some(12903.0), remaining: Some(0.0), used: None };
    for (text, seen) in [
        ("requested > limit", Some("requested 12903 > limit 7000")),
        ("limit<requested", Some("limit 7000 < requested 12903")),
        ("requested >= 12_903", Some("requested 12903 >= 12903")),
        ("0 == Remaining", Some("remaining 0 == 0")),
        ("5 >= remaining", Some("remaining 0 <= 5")),
        ("remaining > 0", None),
        ("used >= 0", None),
        ("limit > limit", None),
    ] {
        let comparison: Comparison = text.parse().expect(text);
        assert_eq!(comparison.seen(&facts).as_deref(), seen, "{text}");
        assert_eq!(comparison.to_string().parse(), Ok(comparison));
    }
}

#[test]
fn what_is_no_comparison_is_told_why() {
    for (text, error) in [
        ("requested limit", ComparisonError::NoOperator),
        ("requested = limit", ComparisonError::Operator("=".to_owned())),
        ("requested => limit", ComparisonError::Operator("=>".to_owned())),
        ("used != 0", ComparisonError::Operator("!=".to_owned())),
        ("request > limit", ComparisonError::Operand("request".to_owned())),
        ("used > ", ComparisonError::Operand(String::new())),
        ("used > limit > 0", ComparisonError::Operand("limit > 0".to_owned())),
        ("used > nan", ComparisonError::Operand("nan".to_owned())),
        ("1 < 2", ComparisonError::NoFigure),
    ] {
        assert_eq!(text.parse::<Comparison>(), Err(error), "{text}");
    }
}
