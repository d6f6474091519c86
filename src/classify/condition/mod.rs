//! What a rule can ask of the evidence beyond words and codes: a header, a field of the body, the figures of a limit.
//!
//! The built-in tables and the operator's rules say these things in the same terms, so each of them is looked up in one
//! place. A condition that holds says what it saw, in words that a person can check against the payload. Text is
//! compared in any case; what looks like a number equals every other notation of that number.

mod compare;
mod implied;
mod path;

use serde_json::Value;

use super::signals::Signals;

pub use compare::{Comparison, ComparisonError, Figure, Operand, Operator};
pub(crate) use implied::{excludes, implies, never};
pub use path::check_path;
pub(crate) use path::{leads_to, steps};

/// One condition of a rule. `T` is the text: borrowed in the built-in tables, owned in what an operator wrote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition<T = String> {
    /// A header passes the test; one of them, where several have a name that fits.
    Header {
        /// Its name in lower case; `*` stands for any letters.
        name: T,
        /// Names that are not meant although they fit.
        except: Option<T>,
        /// What must hold of its value.
        test: Test<T>,
    },
    /// A field of any value in the evidence, however deep that value lies, passes the test; see [`check_path`].
    Path {
        /// Where it stands: `error.details[0].reason`.
        at: T,
        /// What must hold of it.
        test: Test<T>,
    },
    /// The figures of the limit compare like this.
    Compare(Comparison),
}

/// What must hold of one value; all the parts that are set must.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test<T = String> {
    /// Whether it must be there at all; `false` excludes the other parts.
    pub present: Option<bool>,
    /// It is this text or number.
    pub equals: Option<T>,
    /// It holds this text.
    pub contains: Option<T>,
    /// It is a number below this one.
    pub below: Option<f64>,
    /// It is a number above this one.
    pub above: Option<f64>,
}

impl<T> Test<T> {
    /// Asks for nothing.
    pub const ANY: Self = Self { present: None, equals: None, contains: None, below: None, above: None };
}

impl<T: AsRef<str>> Test<T> {
    /// Whether the value passes. Whether it should be there at all is not asked here.
    pub(crate) fn passes(&self, value: &str) -> bool {
        let holds = |part: &T| value.to_lowercase().contains(&part.as_ref().to_lowercase());
        let than =
            |order: fn(&f64, &f64) -> bool, bound: f64| number(value).is_some_and(|number| order(&number, &bound));
        self.equals.as_ref().is_none_or(|wanted| same(value, wanted.as_ref()))
            && self.contains.as_ref().is_none_or(holds)
            && self.below.is_none_or(|bound| than(f64::lt, bound))
            && self.above.is_none_or(|bound| than(f64::gt, bound))
    }
}

/// Whether two values are the same text in any case, or the same number.
pub(crate) fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim(), b.trim());
    a.to_lowercase() == b.to_lowercase() || number(a).is_some_and(|number_a| number(b) == Some(number_a))
}

/// A value as a number; a per cent sign after it does not matter.
fn number(value: &str) -> Option<f64> {
    value.trim().trim_end_matches('%').trim_end().parse().ok().filter(|number: &f64| number.is_finite())
}

impl Condition<&'static str> {
    /// A header whose value equals this.
    pub(crate) const fn header_is(name: &'static str, value: &'static str) -> Self {
        Self::Header { name, except: None, test: Test { equals: Some(value), ..Test::ANY } }
    }

    /// A header whose value holds this.
    pub(crate) const fn header_holds(name: &'static str, part: &'static str) -> Self {
        Self::Header { name, except: None, test: Test { contains: Some(part), ..Test::ANY } }
    }

    /// The same without these names.
    pub(crate) const fn but_not(self, except: &'static str) -> Self {
        match self {
            Self::Header { name, test, .. } => Self::Header { name, except: Some(except), test },
            other => other,
        }
    }
}

impl<T: AsRef<str>> Condition<T> {
    /// What was seen, when the condition holds.
    pub(crate) fn seen(&self, signals: &Signals) -> Option<String> {
        match self {
            Self::Header { name, test, .. } if test.present == Some(false) => {
                self.header(signals).is_none().then(|| format!("no header {}", name.as_ref()))
            }
            Self::Header { .. } => self.header(signals).map(|(name, value)| format!("header {name}: {}", value.trim())),
            Self::Path { at, test } => seen_at(at.as_ref(), test, signals),
            Self::Compare(comparison) => comparison.seen(&signals.limits),
        }
    }

    /// The header that passes the test; of `present = false` the one that should not be there.
    pub(crate) fn header<'s>(&self, signals: &'s Signals) -> Option<(&'s str, &'s str)> {
        let Self::Header { name, except, test } = self else { return None };
        let meant =
            |key: &str| fits(name.as_ref(), key) && !except.as_ref().is_some_and(|except| fits(except.as_ref(), key));
        let found = signals.headers.iter().find(|(key, value)| meant(key) && test.passes(value));
        found.map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

fn seen_at<T: AsRef<str>>(at: &str, test: &Test<T>, signals: &Signals) -> Option<String> {
    let steps = steps(at).ok()?;
    let mut seen = None;
    leads_to(&signals.values, &steps, &mut |value| {
        seen = as_text(value).filter(|text| test.passes(text));
        seen.is_some()
    });
    match (test.present, seen) {
        (Some(false), None) => Some(format!("nothing at {at}")),
        (Some(false), Some(_)) => None,
        (_, seen) => seen.map(|text| format!("{at}: {text}")),
    }
}

/// A field as text; none for null, which says nothing.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Whether the name is one that the pattern means; `*` stands for any letters, also none.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|head| name.strip_prefix(head)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests;
