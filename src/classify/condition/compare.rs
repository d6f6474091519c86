//! Comparisons of the figures that a payload states about a limit: `requested > limit`, `remaining == 0`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::domain::LimitFacts;

/// A figure of a limit. A comparison with one that the payload does not state never holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// The limit itself.
    Limit,
    /// How much was used.
    Used,
    /// How much this request asked for.
    Requested,
    /// How much is left.
    Remaining,
}

impl Figure {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Limit, Self::Used, Self::Requested, Self::Remaining];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Used => "used",
            Self::Requested => "requested",
            Self::Remaining => "remaining",
        }
    }

    fn of(self, facts: &LimitFacts) -> Option<f64> {
        match self {
            Self::Limit => facts.limit,
            Self::Used => facts.used,
            Self::Requested => facts.requested,
            Self::Remaining => facts.remaining,
        }
    }
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand {
    /// What the payload states.
    Figure(Figure),
    /// A number.
    Number(f64),
}

impl Operand {
    fn of(self, facts: &LimitFacts) -> Option<f64> {
        match self {
            Self::Figure(figure) => figure.of(facts),
            Self::Number(number) => Some(number),
        }
    }
}

/// How two sides compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
}

impl Operator {
    const ALL: &'static [Self] = &[Self::Below, Self::AtMost, Self::Above, Self::AtLeast, Self::Equal];

    /// The sign for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
        }
    }

    /// Whether it holds of two sides in this order.
    pub(crate) const fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Equal => order.is_eq(),
        }
    }

    /// The same with the sides exchanged.
    pub(crate) const fn turned(self) -> Self {
        match self {
            Self::Below => Self::Above,
            Self::AtMost => Self::AtLeast,
            Self::Above => Self::Below,
            Self::AtLeast => Self::AtMost,
            Self::Equal => Self::Equal,
        }
    }
}

/// A comparison of two sides, of which the first is a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The first side.
    pub left: Figure,
    /// How they compare.
    pub operator: Operator,
    /// The second side.
    pub right: Operand,
}

impl Comparison {
    /// The figures in place of their names, when the comparison holds.
    pub(crate) fn seen(&self, facts: &LimitFacts) -> Option<String> {
        let (left, right) = (self.left.of(facts)?, self.right.of(facts)?);
        let holds = left.partial_cmp(&right).is_some_and(|order| self.operator.allows(order));
        let named = match self.right {
            Operand::Figure(figure) => format!("{} {right}", figure.as_str()),
            Operand::Number(number) => number.to_string(),
        };
        holds.then(|| format!("{} {left} {} {named}", self.left.as_str(), self.operator.as_str()))
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.left.as_str(), self.operator.as_str())?;
        match self.right {
            Operand::Figure(figure) => f.write_str(figure.as_str()),
            Operand::Number(number) => write!(f, "{number}"),
        }
    }
}

/// Why a text is no comparison.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComparisonError {
    /// Nothing compares.
    #[error("no comparison: `<`, `<=`, `>`, `>=` or `==` is missing")]
    NoOperator,
    /// An operator that there is not.
    #[error("`{0}` does not compare; there are `<`, `<=`, `>`, `>=` and `==`")]
    Operator(String),
    /// One side is neither a figure nor a number.
    #[error("`{0}` is neither a figure nor a number")]
    Operand(String),
    /// Two numbers say nothing of the payload.
    #[error("two numbers are compared; one side must be a figure of the payload")]
    NoFigure,
}

impl FromStr for Comparison {
    type Err = ComparisonError;

    /// Reads `requested > limit`, `remaining==0`, `100 <= used`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_sign = |c: char| matches!(c, '<' | '>' | '=' | '!' | '~');
        let (left, rest) =
            text.find(is_sign).and_then(|at| text.split_at_checked(at)).ok_or(ComparisonError::NoOperator)?;
        let right = rest.trim_start_matches(is_sign);
        let sign = rest.strip_suffix(right).unwrap_or(rest);
        let operator = Operator::ALL.iter().copied().find(|operator| operator.as_str() == sign);
        let operator = operator.ok_or_else(|| ComparisonError::Operator(sign.to_owned()))?;
        match (operand(left)?, operand(right)?) {
            (Operand::Figure(left), right) => Ok(Self { left, operator, right }),
            (left, Operand::Figure(right)) => Ok(Self { left: right, operator: operator.turned(), right: left }),
            _ => Err(ComparisonError::NoFigure),
        }
    }
}

fn operand(text: &str) -> Result<Operand, ComparisonError> {
    let text = text.trim();
    let figure = Figure::ALL.iter().copied().find(|figure| figure.as_str().eq_ignore_ascii_case(text));
    let number = || text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite());
    figure
        .map(Operand::Figure)
        .or_else(|| number().map(Operand::Number))
        .ok_or_else(|| ComparisonError::Operand(text.to_owned()))
}
