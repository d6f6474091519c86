//! From the evidence of one failed attempt to what it means.
//!
//! The same status can be a burst, a spent day, an empty wallet, a provider short of capacity, or a request that can
//! never fit, and each wants another response. So the whole evidence is read: nested errors are unwrapped, the innermost
//! is believed first, its words before its code, its code before its type, its type before any status; `rules` holds
//! what is known of words and codes, as data. Times are read by one parser (`duration`) wherever they stand.
//!
//! Everything here is pure: evidence and a time in, a [`Failure`](crate::domain::Failure) out, for any bytes.

mod answer;
mod bare;
#[cfg(test)]
mod boundary_tests;
pub mod capture;
mod condition;
#[cfg(test)]
mod corpus;
mod custom;
#[cfg(test)]
mod custom_tests;
pub mod duration;
mod extent;
mod facts;
mod fit;
mod hints;
mod instead;
mod judging;
mod layers;
mod lenient;
mod matcher;
mod overlap;
mod provider;
mod rules;
mod several;
mod signals;
mod standin;
mod stated;
mod text;
mod times;
mod verdict;
#[cfg(test)]
mod verdict_tests;

pub use condition::{Comparison, ComparisonError, Condition, Figure, Operand, Operator, Test, check_path};
pub use custom::CustomRule;
pub use instead::{error_in_words, surely_error_in_words};
pub use judging::Classify;
pub use standin::Standins;
pub use stated::stated_limits;
pub use verdict::{Classifier, Explanation, RuleMatch};
