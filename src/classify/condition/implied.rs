//! What one condition says of another: that it holds too, or that it cannot.

use std::cmp::Ordering;

use super::path::Step;
use super::{Comparison, Condition, Operand, Test, fits, steps};

const ORDERS: [Ordering; 3] = [Ordering::Less, Ordering::Equal, Ordering::Greater];

/// Whether `wanted` holds wherever `given` holds.
pub(crate) fn implies(given: &Condition, wanted: &Condition) -> bool {
    let (Some(given_test), Some(wanted_test)) = (given.test(), wanted.test()) else {
        return matches!((given, wanted), (Condition::Compare(given), Condition::Compare(wanted)) if given.implies(wanted));
    };
    match (given_test.is_absence(), wanted_test.is_absence()) {
        (false, false) => given.is_meant_by(wanted) && given_test.implies(wanted_test),
        // What is absent everywhere is absent in each place.
        (true, true) => wanted.is_meant_by(given),
        _ => false,
    }
}

/// Why both cannot hold, if so.
pub(crate) fn excludes(a: &Condition, b: &Condition) -> Option<String> {
    if let (Condition::Compare(a), Condition::Compare(b)) = (a, b) {
        return a.excludes(b).then(|| format!("`{a}` and `{b}` exclude each other"));
    }
    let absent = |given: &Condition, absent: &Condition| {
        given.test().is_some_and(|test| !test.is_absence())
            && absent.test().is_some_and(Test::is_absence)
            && given.is_meant_by(absent)
    };
    let (_, place) = [(absent(a, b), a), (absent(b, a), b)].into_iter().find(|(excluded, _)| *excluded)?;
    Some(format!("it asks for a value and for the absence of `{}`", place.place()))
}

/// Why the condition cannot hold, if so.
pub(crate) fn never(condition: &Condition) -> Option<String> {
    match condition {
        Condition::Compare(comparison) => comparison.is_empty().then(|| format!("`{comparison}` never holds")),
        Condition::Header { test, .. } | Condition::Path { test, .. } => {
            test.is_empty().then(|| format!("no value of `{}` passes all that is asked of it", condition.place()))
        }
    }
}

impl Condition {
    fn test(&self) -> Option<&Test> {
        match self {
            Self::Header { test, .. } | Self::Path { test, .. } => Some(test),
            Self::Compare(_) => None,
        }
    }

    fn place(&self) -> &str {
        match self {
            Self::Header { name, .. } => name,
            Self::Path { at, .. } => at,
            Self::Compare(_) => "",
        }
    }

    /// Whether every header or field that this one can mean is one that the other means as well.
    fn is_meant_by(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Header { name, except, .. }, Self::Header { name: wider, except: left_out, .. }) => {
                let name_fits = name == wider || (!name.contains('*') && fits(wider, name));
                let stays = match left_out {
                    None => true,
                    Some(pattern) if !name.contains('*') => !fits(pattern, name),
                    Some(_) => except == left_out,
                };
                name_fits && stays
            }
            (Self::Path { at, .. }, Self::Path { at: wider, .. }) => {
                let (Ok(at), Ok(wider)) = (steps(at), steps(wider)) else { return false };
                // A path counts from any value, so its end alone leads wherever the whole leads.
                let includes = |(wider, step): (&Step<'_>, &Step<'_>)| wider.includes(*step);
                wider.len() <= at.len() && wider.iter().rev().zip(at.iter().rev()).all(includes)
            }
            _ => false,
        }
    }
}

impl Test {
    fn is_absence(&self) -> bool {
        self.present == Some(false)
    }

    /// Whether every value that passes this one passes the other.
    fn implies(&self, wanted: &Self) -> bool {
        if let Some(value) = &self.equals {
            // The same number can be written in several ways, so a part of it proves nothing.
            let texts_agree = wanted.contains.is_none() || super::number(value).is_none();
            return texts_agree && wanted.passes(value);
        }
        let holds = |part: &String| {
            self.contains.as_ref().is_some_and(|whole| whole.to_lowercase().contains(&part.to_lowercase()))
        };
        wanted.equals.is_none()
            && wanted.contains.as_ref().is_none_or(holds)
            && wanted.below.is_none_or(|bound| self.below.is_some_and(|below| below <= bound))
            && wanted.above.is_none_or(|bound| self.above.is_some_and(|above| above >= bound))
    }

    /// Whether no value passes.
    fn is_empty(&self) -> bool {
        let rest = Self { equals: None, ..self.clone() };
        let is_text = |value: &String| super::number(value).is_none();
        let misses = |value: &String| !rest.passes(value) && (is_text(value) || rest.contains.is_none());
        self.equals.as_ref().is_some_and(misses)
            || self.above.zip(self.below).is_some_and(|(above, below)| above >= below)
    }
}

impl Comparison {
    fn implies(&self, wanted: &Self) -> bool {
        if let Some(wanted) = self.as_seen_by(wanted) {
            return ORDERS.iter().all(|order| !self.operator.allows(*order) || wanted.operator.allows(*order));
        }
        let (Some(given), Some(bound)) = (self.number(), wanted.number()) else { return false };
        self.left == wanted.left && self.samples(given, bound).all(|value| wanted.allows(value, bound))
    }

    fn excludes(&self, other: &Self) -> bool {
        if let Some(other) = self.as_seen_by(other) {
            return ORDERS.iter().all(|order| !self.operator.allows(*order) || !other.operator.allows(*order));
        }
        let (Some(given), Some(bound)) = (self.number(), other.number()) else { return false };
        self.left == other.left && self.samples(given, bound).all(|value| !other.allows(value, bound))
    }

    /// Whether it holds of no figures. No payload states figures below zero.
    fn is_empty(&self) -> bool {
        match self.right {
            Operand::Figure(figure) => figure == self.left && !self.operator.allows(Ordering::Equal),
            Operand::Number(number) => self.samples(number, 0.0).next().is_none(),
        }
    }

    /// The other comparison with the sides of this one, when it has the same sides.
    fn as_seen_by(&self, other: &Self) -> Option<Self> {
        let turned = match other.right {
            Operand::Figure(left) => {
                Some(Self { left, operator: other.operator.turned(), right: Operand::Figure(other.left) })
            }
            Operand::Number(_) => None,
        };
        let is_alike = |one: &Self| one.left == self.left && one.right == self.right;
        Some(*other).filter(is_alike).or(turned.filter(is_alike))
    }

    fn number(&self) -> Option<f64> {
        match self.right {
            Operand::Number(number) => Some(number),
            Operand::Figure(_) => None,
        }
    }

    fn allows(&self, value: f64, bound: f64) -> bool {
        value.partial_cmp(&bound).is_some_and(|order| self.operator.allows(order))
    }

    /// A figure below, at, between and above both bounds each, as far as this comparison with `own` allows it: two
    /// comparisons with numbers differ, if at all, at one of these.
    fn samples(&self, own: f64, other: f64) -> impl Iterator<Item = f64> {
        let (low, high) = (own.min(other), own.max(other));
        let all = [0.0, low / 2.0, low, f64::midpoint(low, high), high, high * 2.0 + 1.0];
        all.into_iter().filter(move |value| *value >= 0.0 && self.allows(*value, own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::condition::same;

    #[test]
    fn equal_numbers_are_written_in_several_ways() {
        let equals = Test { equals: Some("10".to_owned()), ..Test::ANY };
        let holds = Test { contains: Some("10".to_owned()), ..Test::ANY };
        assert!(same("10", "10.0") && same("1e1", "10"), "so that a header `1e1` passes the first and not the second");
        assert!(!equals.implies(&holds));
        assert!(equals.implies(&Test { above: Some(9.0), ..Test::ANY }));
    }
}
