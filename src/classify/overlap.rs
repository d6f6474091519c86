//! Which of the operator's rules can never decide.
//!
//! Rules are tried in order and the first that fits decides, so a rule is idle when an earlier one fits everything that
//! it fits, or when what it asks for cannot be. Only what is certain is said: a rule that is called idle can be removed
//! and nothing changes, whatever a provider sends. Two parts that merely look alike are taken for different.

use super::condition::{Condition, excludes, implies, never};
use super::custom::CustomRule;
use super::text::normalise;

impl CustomRule {
    /// Whether this rule fits everything that the other one fits.
    pub fn covers(&self, other: &Self) -> bool {
        let provider = self.provider.as_ref().is_none_or(|wanted| {
            other.provider.as_ref().is_some_and(|given| given.as_str().eq_ignore_ascii_case(wanted.as_str()))
        });
        provider
            && self.covers_statuses(other)
            && covers_words(&self.codes, &other.codes)
            && covers_words(&self.kinds, &other.kinds)
            && self.contains.iter().all(|wanted| is_within(wanted, &other.contains))
            && self.without.iter().all(|wanted| other.without.iter().any(|given| holds(wanted, given)))
            && self.conditions.iter().all(|wanted| other.conditions.iter().any(|given| implies(given, wanted)))
    }

    fn covers_statuses(&self, other: &Self) -> bool {
        let fits = |status: u16| self.statuses.iter().any(|range| range.contains(&status));
        self.statuses.is_empty() || (!other.statuses.is_empty() && other.statuses.iter().cloned().flatten().all(fits))
    }

    /// Why this rule can fit nothing, if so.
    pub fn contradiction(&self) -> Option<String> {
        for phrase in &self.contains {
            if let Some(absent) = self.without.iter().find(|absent| holds(phrase, absent)) {
                return Some(format!("it asks for `{phrase}` and for the absence of `{absent}`"));
            }
        }
        if let Some(why) = self.conditions.iter().find_map(never) {
            return Some(why);
        }
        let mut rest: &[Condition] = &self.conditions;
        while let Some((first, others)) = rest.split_first() {
            if let Some(why) = others.iter().find_map(|other| excludes(first, other)) {
                return Some(why);
            }
            rest = others;
        }
        None
    }
}

/// One of `others` must be there, so one of `wanted` is.
fn covers_words(wanted: &[String], others: &[String]) -> bool {
    let is_wanted = |word: &String| wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(word));
    wanted.is_empty() || (!others.is_empty() && others.iter().all(is_wanted))
}

fn is_within(phrase: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|whole| holds(whole, phrase))
}

/// Whether a text that holds `whole` holds `part` as well. A part without letters is never found in any text.
fn holds(whole: &str, part: &str) -> bool {
    let part = normalise(part);
    !part.is_empty() && normalise(whole).contains(&part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::condition::Test;
    use crate::domain::Class;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn rule(change: impl FnOnce(&mut CustomRule)) -> CustomRule {
        let mut rule = CustomRule::new("a", Class::Overloaded);
        change(&mut rule);
        rule
    }

    fn header(name: &str, test: Test) -> Condition {
        Condition::Header { name: name.to_owned(), except: None, test }
    }

    fn path(at: &str, test: Test) -> Condition {
        Condition::Path { at: at.to_owned(), test }
    }

    fn compare(text: &str) -> Condition {
        Condition::Compare(text.parse().expect(text))
    }

    fn asks(condition: &Condition) -> CustomRule {
        rule(|rule| rule.conditions.push(condition.clone()))
    }

    const ANY: Test = Test::ANY;

    fn equals(text: &str) -> Test {
        Test { equals: Some(text.to_owned()), ..ANY }
    }

    fn holds(text: &str) -> Test {
        Test { contains: Some(text.to_owned()), ..ANY }
    }

    fn above(number: f64) -> Test {
        Test { above: Some(number), ..ANY }
    }

    fn present(present: bool) -> Test {
        Test { present: Some(present), ..ANY }
    }

    #[test]
    fn the_more_general_rule_covers_the_more_special() {
        let general = rule(|rule| rule.contains = words(&["cache full"]));
        for (special, covered) in [
            (rule(|rule| rule.contains = words(&["KV  cache full"])), true),
            (rule(|rule| rule.contains = words(&["x", "cache full"])), true),
            (rule(|rule| rule.contains = words(&["cache fuller"])), true),
            (rule(|rule| rule.contains = words(&["cache empty"])), false),
            (rule(|rule| rule.codes = words(&["cache full"])), false),
            (rule(|rule| (rule.contains, rule.provider) = (words(&["cache full"]), Some("lab".into()))), true),
            (rule(|rule| (rule.contains, rule.without) = (words(&["cache full"]), words(&["x"]))), true),
        ] {
            assert_eq!(general.covers(&special), covered, "{special:?}");
            assert!(!special.covers(&general), "{special:?}");
        }
    }

    #[test]
    fn one_of_several_covers_fewer_of_them() {
        let server = rule(|rule| rule.statuses = vec![500..=599, 429..=429]);
        for (statuses, covered) in
            [(vec![503..=503, 429..=429], true), (vec![503..=503, 400..=400], false), (vec![], false)]
        {
            assert_eq!(server.covers(&rule(|rule| rule.statuses = statuses.clone())), covered, "{statuses:?}");
        }
        let codes = rule(|rule| rule.codes = words(&["a", "B"]));
        for (given, covered) in [(&["b"][..], true), (&["b", "c"], false), (&[], false)] {
            assert_eq!(codes.covers(&rule(|rule| rule.codes = words(given))), covered, "{given:?}");
        }
        let absent = rule(|rule| (rule.codes, rule.without) = (words(&["a"]), words(&["per day"])));
        for (given, covered) in
            [(&["day"][..], true), (&["per day", "x"], true), (&["one per day"], false), (&[], false)]
        {
            let given = rule(|rule| (rule.codes, rule.without) = (words(&["a"]), words(given)));
            assert_eq!(absent.covers(&given), covered, "{given:?}");
        }
    }

    #[test]
    fn conditions_cover_what_implies_them() {
        for (general, special, covered) in [
            (header("x", holds("day")), header("x", equals("ByDay")), true),
            (header("x", holds("day")), header("x", holds("ByDay")), true),
            (header("x", equals("day")), header("x", holds("day")), false),
            (header("x", above(5.0)), header("x", above(6.0)), true),
            (header("x", above(5.0)), header("x", equals("6")), true),
            (header("x", above(6.0)), header("x", above(5.0)), false),
            (header("x", above(6.0)), header("y", above(6.0)), false),
            (header("x*", above(6.0)), header("x-a", above(6.0)), true),
            (header("x", present(true)), header("x", above(6.0)), true),
            (header("x", present(false)), header("x", above(6.0)), false),
            (header("x-a", present(false)), header("x*", present(false)), true),
            (header("x*", present(false)), header("x-a", present(false)), false),
            (path("code", equals("1")), path("error.code", equals("1.0")), true),
            (path("error.code", equals("1")), path("code", equals("1")), false),
            (path("a[*].b", present(true)), path("a[0].b", present(true)), true),
            (path("a[0].b", present(true)), path("a[*].b", present(true)), false),
            (path("error.code", present(false)), path("code", present(false)), true),
            (path("code", present(false)), path("error.code", present(false)), false),
            (compare("requested >= limit"), compare("requested > limit"), true),
            (compare("requested >= limit"), compare("limit == requested"), true),
            (compare("requested > limit"), compare("requested >= limit"), false),
            (compare("remaining < 5"), compare("remaining == 4"), true),
            (compare("remaining < 5"), compare("remaining <= 5"), false),
            (compare("remaining <= 5"), compare("remaining < 5"), true),
            (compare("remaining > 5"), compare("remaining >= 6"), true),
            (compare("remaining == 5"), compare("remaining >= 5"), false),
        ] {
            assert_eq!(asks(&general).covers(&asks(&special)), covered, "{general:?} {special:?}");
            assert!(asks(&general).covers(&asks(&general)));
        }
        let except = Condition::Header { name: "x*".into(), except: Some("x-a*".into()), test: above(6.0) };
        assert!(!asks(&except).covers(&asks(&header("x-ab", above(6.0)))));
        assert!(asks(&header("x*", above(6.0))).covers(&asks(&except)));
    }

    #[test]
    fn what_cannot_be_is_told() {
        let both = |a: &Condition, b: &Condition| rule(|rule| rule.conditions = vec![a.clone(), b.clone()]);
        for (idle, expected) in [
            (rule(|rule| (rule.contains, rule.without) = (words(&["a b c"]), words(&["B"]))), true),
            (rule(|rule| (rule.contains, rule.without) = (words(&["b"]), words(&["a b c"]))), false),
            (asks(&compare("limit > limit")), true),
            (asks(&compare("limit >= limit")), false),
            (asks(&compare("used < 0")), true),
            (asks(&compare("used <= 0")), false),
            (both(&compare("used > limit"), &compare("limit >= used")), true),
            (both(&compare("used >= limit"), &compare("limit >= used")), false),
            (both(&compare("used > 5"), &compare("used < 5")), true),
            (both(&compare("used >= 5"), &compare("used == 5")), false),
            (both(&compare("used == 4"), &compare("used == 5")), true),
            (asks(&header("x", Test { above: Some(5.0), below: Some(5.0), ..ANY })), true),
            (asks(&header("x", Test { above: Some(4.0), below: Some(5.0), ..ANY })), false),
            (asks(&header("x", Test { above: Some(4.0), ..equals("3") })), true),
            (asks(&header("x", Test { contains: Some("day".into()), ..equals("ByDay") })), false),
            (asks(&path("x", Test { contains: Some("day".into()), ..equals("week") })), true),
            (both(&header("x-a", equals("3")), &header("x*", present(false))), true),
            (both(&header("x*", equals("3")), &header("x-a", present(false))), false),
            (both(&path("error.code", equals("3")), &path("code", present(false))), true),
            (both(&path("code", equals("3")), &path("error.code", present(false))), false),
            (both(&path("code", equals("3")), &path("code", equals("4"))), false),
        ] {
            assert_eq!(idle.contradiction().is_some(), expected, "{idle:?}");
        }
    }
}
