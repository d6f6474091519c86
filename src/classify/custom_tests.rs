//! The operator's rules: what they can ask for, what they say of it, and that they come first.

use std::time::Duration;

use super::boundary_tests::{now, wire};
use super::condition::{Condition, Test};
use super::{Classifier, CustomRule};
use crate::catalog::Catalog;
use crate::domain::{
    Class::{Billing, Overloaded, RateLimit, ServerError},
    Evidence, Provenance, ScopeLevel,
};

#[test]
fn the_operators_rules_come_first() {
    let rule = |contains: Option<&str>, status: Option<u16>| CustomRule {
        provider: Some("lab".into()),
        statuses: status.map(|status| status..=status).into_iter().collect(),
        contains: contains.map(str::to_owned).into_iter().collect(),
        scope: Some(ScopeLevel::Model),
        ..CustomRule::new("mine", Overloaded)
    };
    let evidence = wire("lab", 500, r#"{"error":{"message":"KV cache  full","type":"server_error"}}"#);
    let with = |rule: CustomRule| Classifier::new(vec![rule]).classify(&evidence, &Catalog::default(), now());
    let got = with(rule(Some("kv cache full"), Some(500)));
    assert_eq!((got.class, got.scope, got.rule.as_str()), (Overloaded, ScopeLevel::Model, "mine"));
    assert_eq!(with(rule(Some("kv cache full"), Some(503))).class, ServerError, "all parts must match");
    assert_eq!(with(rule(None, None)).class, ServerError, "a rule without conditions matches nothing");
}

/// What the full rule language can say of one failure.
fn full(change: impl FnOnce(&mut CustomRule)) -> CustomRule {
    let mut rule = CustomRule::new("mine", RateLimit);
    change(&mut rule);
    rule
}

fn busy() -> Evidence {
    Evidence {
        headers: vec![("X-Load".to_owned(), "97".to_owned())],
        ..wire(
            "lab",
            503,
            r#"{"error":{"message":"Queue full: limit 4, used 4, requested 9","code":"busy","type":"capacity","retry":{"allowed":true}}}"#,
        )
    }
}

#[test]
fn every_part_of_an_operators_rule_must_match_and_is_told() {
    let header = |above| Condition::Header {
        name: "x-load".to_owned(),
        except: None,
        test: Test { above: Some(above), ..Test::ANY },
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let whole = full(|rule| {
        rule.statuses = vec![429..=429, 500..=599];
        rule.codes = words(&["slow", "BUSY"]);
        rule.kinds = words(&["capacity"]);
        rule.contains = words(&["Queue", "full"]);
        rule.without = words(&["per day"]);
        let path = Condition::Path {
            at: "retry.allowed".to_owned(),
            test: Test { equals: Some("true".to_owned()), ..Test::ANY },
        };
        rule.conditions = vec![header(90.0), Condition::Compare("requested > limit".parse().unwrap()), path];
    });
    let explain = |rule: &CustomRule| Classifier::new(vec![rule.clone()]).explain(&busy(), &Catalog::default(), now());
    let explanation = explain(&whole);
    assert_eq!((explanation.failure.rule.as_str(), explanation.matches[0].tier), ("mine", "operator"));
    assert_eq!(
        explanation.matches[0].by,
        "status 503, code busy, type capacity, `Queue`, `full`, header x-load: 97, requested 9 > limit 4, \
         retry.allowed: true, no `per day`"
    );
    let broken: [&dyn Fn(&mut CustomRule); 7] = [
        &|rule| rule.statuses = vec![400..=499],
        &|rule| rule.codes = words(&["slow"]),
        &|rule| rule.kinds = words(&["busy"]),
        &|rule| rule.contains.push("empty".to_owned()),
        &|rule| rule.without.push("queue".to_owned()),
        &|rule| rule.conditions.push(header(98.0)),
        &|rule| rule.provider = Some("groq".into()),
    ];
    for (at, change) in broken.iter().enumerate() {
        let mut rule = whole.clone();
        change(&mut rule);
        assert_ne!(explain(&rule).failure.rule, "mine", "{at}");
    }
    assert_ne!(explain(&full(|rule| rule.without = words(&["x"]))).failure.rule, "mine", "absence alone fits all");
}

#[test]
fn all_operators_rules_that_match_are_explained_in_their_order() {
    let rule =
        |name: &str, status: u16| CustomRule { statuses: vec![status..=status], ..CustomRule::new(name, Overloaded) };
    let classifier =
        Classifier::new(vec![rule("a", 500), rule("b", 503), CustomRule { class: RateLimit, ..rule("c", 503) }]);
    let explanation = classifier.explain(&busy(), &Catalog::default(), now());
    let operators: Vec<_> =
        explanation.matches.iter().filter(|one| one.tier == "operator").map(|one| one.rule.as_str()).collect();
    assert_eq!((explanation.failure.rule.as_str(), operators), ("b", vec!["b", "c"]));
    assert!(explanation.reason.contains("the first of the operator's rules decides"), "{}", explanation.reason);
}

#[test]
fn the_operators_time_counts_when_the_payload_has_none() {
    let lasting = |class| CustomRule {
        statuses: vec![500..=599],
        retry_after: Some(Duration::from_secs(300)),
        ..CustomRule::new("mine", class)
    };
    let with = |evidence: &Evidence, class| {
        Classifier::new(vec![lasting(class)]).classify(evidence, &Catalog::default(), now())
    };
    let got = with(&busy(), RateLimit);
    assert_eq!((got.provenance, got.retry_after), (Provenance::Operator, Some(Duration::from_secs(300))));
    assert_eq!(got.retry_at, Some(now() + Duration::from_secs(300)));
    let mut stated = busy();
    stated.headers.push(("retry-after".to_owned(), "20".to_owned()));
    let got = with(&stated, RateLimit);
    assert_eq!((got.provenance, got.retry_after), (Provenance::Fact, Some(Duration::from_secs(20))));
    let got = with(&busy(), Billing);
    assert_eq!((got.provenance, got.retry_after, got.retry_at), (Provenance::Guess, None, None));
}

#[test]
fn conditions_of_built_in_rules_say_what_they_saw_without_keys() {
    let by = |name: &str, value: &str| {
        let headers = vec![(name.to_owned(), value.to_owned())];
        let evidence = Evidence { headers, ..wire("github-models", 429, r#"{"error":{"message":"x"}}"#) };
        let rule = CustomRule {
            conditions: vec![Condition::Header {
                name: "x-key".into(),
                except: None,
                test: Test { present: Some(true), ..Test::ANY },
            }],
            ..CustomRule::new("mine", RateLimit)
        };
        Classifier::new(vec![rule]).explain(&evidence, &Catalog::default(), now()).matches[0].by.clone()
    };
    assert_eq!(by("x-ratelimit-type", "UserByModelByDay"), "header x-ratelimit-type: UserByModelByDay");
    let shown = by("x-key", "sk-proj-AbCdEfGhIjKlMnOpQrStUvWx");
    assert!(shown.starts_with("header x-key: ") && !shown.contains("AbCdEfGhIjKl"), "{shown}");
}
