use serde_json::json;

use super::*;

fn ask(source: &str) -> Result<(), Unmet> {
    let answer = json!({
        "score": 1, "part": 1.0, "broken": 0.5, "big": u64::MAX, "huge": 1e300, "least": i64::MIN, "none": null,
        "count": 4, "net": 10, "tax": 2.5, "total": 12.5, "kind": "a", "from": 3, "to": 7,
        "quotes": ["the bird", "sings"], "items": [{"n": 1}, {"n": 2.5}],
    });
    let rule = Rule::new(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    rule.holds(&About::new(Some(&answer), "{…}", "At dawn the bird sings."))
}

#[test]
fn rules_speak_of_the_answer_its_text_and_the_input() {
    for source in [
        "answer.score >= 1",
        "answer.score == 1.0 && answer.part == 1 && answer.part >= 1",
        "answer.big > 1 && answer.huge > 1 && answer.least < 0",
        "answer.score + 1 == 2",
        "answer.net + answer.tax == answer.total",
        "answer.part + 1 == 2",
        "answer.count % 2 == 0 && answer.net + answer.tax == answer.total",
        "int(answer.tax) + 1 == 3 && answer.net + answer.tax == answer.total",
        "answer.to / 2 == 3 && answer.net + answer.tax == answer.total",
        "answer.net / answer.tax == 4.0 && answer.tax / 2 == 1.25",
        "answer.quotes[answer.score] + '!' == 'sings!' && answer.net + answer.tax > 12",
        "[answer.net, answer.tax].map(n, n + answer.tax)[0] == 12.5",
        "answer.big + 1 > 1 && answer.net - 1 == 9 && -answer.tax < 0",
        "(0.1 + 0.2) - 0.3 < 0.000001 && 0.1 + 0.2 != 0.3",
        "answer.broken * 2 <= answer.score",
        "answer.kind in ['a', 'b']",
        "answer.from <= answer.to",
        "answer.quotes.all(quote, input.contains(quote))",
        "answer.items.exists(item, item.n > 2)",
        "answer.items.exists_one(item, item.n + 0.5 == 3)",
        "size(answer.quotes) + 0.5 < 3.0",
        "answer.items.map(i, i.n)[1] == 2.5",
        "has(answer.kind) && !has(answer.nothing)",
        "answer.none == null",
        "text.size() < 10 && text.startsWith('{')",
        "answer.kind.matches('^[ab]$')",
        "type(answer.kind) == string",
    ] {
        assert_eq!(ask(source), Ok(()), "{source}");
    }
}

#[test]
fn what_is_not_true_says_why() {
    for (source, why) in [
        ("answer.score > 1", "is not true"),
        ("answer.nothing == 1", "could not be evaluated: No such key: nothing"),
        ("answer.kind > 1", "could not be evaluated"),
        ("answer.score", "is Int(1) and not true or false"),
        ("answer.quotes[7] == ''", "Index out of bounds"),
        ("1 / 0 == 1", "Division by zero"),
        ("9223372036854775807 + answer.score > 0", "Overflow"),
        ("answer.least - 1 < 0", "Overflow"),
        ("-answer.least > 0", "Overflow"),
        ("answer.least / -1 > 0", "could not be evaluated"),
        ("answer.least % -1 == 0", "could not be evaluated"),
        ("int(answer.huge) > 0", "overflow"),
        ("answer.kind.matches('(')", "not a valid regex"),
    ] {
        let Err(Unmet::Untrue(said)) = ask(source) else { panic!("{source}") };
        assert!(said.contains(why), "{source}: {said}");
    }
}

#[test]
fn what_cannot_be_read_is_told_before_anything_is_sent() {
    let nested = |open: &str, close: &str| format!("{}true{}", open.repeat(90), close.repeat(90));
    for (source, why) in [
        ("", "empty"),
        ("answer.score >=", "1:16"),
        ("score >= 1", "unknown variable `score`; known are answer, text, input"),
        ("answer.all(x, y)", "unknown variable `y`"),
        ("sizes(answer) > 1", "unknown function `sizes`; did you mean `size`?"),
        ("answer.lower() == ''", "unknown function `lower`"),
        ("Message{a: 1} == 1", "unknown type"),
        (&"true && ".repeat(400), "longer than 2000"),
        (&nested("[", "]"), "64 deep"),
        (&nested("!(", ")"), "64 deep"),
        (&format!("{}1 > 0", "1+".repeat(900)), "64 deep"),
        (&format!("true{}", "?true:true".repeat(190)), "64 deep"),
        ("answer.all(a, a.all(b, b.all(c, c)))", "more than 2 loops"),
    ] {
        let said = Rule::new(source).expect_err(source);
        assert!(said.contains(why), "{source:.60}: {said}");
    }
    assert!(Rule::new("answer.a.all(x, x) && answer.b.all(x, x) && answer.c.all(x, x) && answer.d.all(x, x)").is_ok());
}

fn long(source: &str, about: &About, meter: &Meter) -> String {
    let rule = Rule::new(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    decide(&rule.source, about, meter).expect_err(source)
}

#[test]
fn what_would_take_too_long_is_an_error_and_ends_by_itself() {
    let numbers = About::new(Some(&json!((0..101).collect::<Vec<u32>>())), &"ab".repeat(800), "");
    let doubled = format!("[text]{}.size() > 0", ".map(s, s + s + s + s)".repeat(20));
    for source in [
        "answer.map(a, answer.map(b, a + b)).size() > 0",
        "answer.all(a, answer.all(b, a + b >= 0))",
        "answer.map(a, answer).map(a, a).size() > 0",
        "answer.exists(a, answer.exists_one(b, a + b > 900))",
        "answer.filter(a, answer.filter(b, b > 0).size() > 0).size() > 0",
        "answer.map(a, text + text).map(a, a + text).size() > 0",
        "answer.map(a, answer + answer).size() > 0",
        "answer.map(a, {'a': answer, 'b': answer}).size() > 0",
        &doubled,
    ] {
        let meter = Meter::of(10_000);
        let said = long(source, &numbers, &meter);
        assert_eq!(said, "could not be evaluated: its loops run over more than 10000 values", "{source}");
        assert!(meter.used() < 100_000, "{source}: {}", meter.used());
    }
    assert_eq!(ask("[1, 2].all(a, [3, 4].all(b, a < b)) && answer.items.map(i, [i, i]).size() == 2"), Ok(()));
}

#[test]
fn an_evaluation_that_nobody_waits_for_ends_at_its_next_step() {
    let numbers = About::new(Some(&json!([1, 2, 3])), "", "");
    for source in ["answer.all(a, a > 0)", "answer.map(a, a).size() > 0", "text + text == ''"] {
        let meter = Meter::of(10_000);
        meter.stop();
        assert_eq!(long(source, &numbers, &meter), "could not be evaluated: it takes too long", "{source}");
    }
    let rule = Rule::new("answer.all(a, answer.all(b, a + b > 0))").expect("a rule");
    let many = About::new(Some(&json!(vec![1; 900])), "", "");
    let late = rule.holds_within(Room { time: Duration::ZERO, ..ROOM }, &many);
    assert_eq!(late, Err(Unmet::Undecided("it takes longer than 0ns".to_owned())));
}

#[test]
fn a_rule_for_which_there_is_no_thread_is_not_decided() {
    let rule = Rule::new("true").expect("a rule");
    let about = About::new(None, "", "");
    // More than there are addresses.
    let said = rule.holds_within(Room { stack: 1 << 52, ..ROOM }, &about);
    assert!(matches!(&said, Err(Unmet::Undecided(why)) if why.starts_with("no thread can be started")), "{said:?}");
    assert_eq!(rule.holds(&about), Ok(()));
}

#[test]
fn only_what_names_the_answer_wants_it_parsed() {
    for (source, names) in
        [("answer == null", true), ("text.contains('answer')", false), ("size([1].map(answer, answer)) == 1", false)]
    {
        assert_eq!(Rule::new(source).map(|rule| rule.names_answer()), Ok(names), "{source}");
    }
}
