//! The rules, as data.
//!
//! A rule names a class and what must be seen for it. Rules are tried in tiers, the surest first, and within a tier from
//! the innermost error outwards; the first that matches decides:
//!
//! 1. facts: figures, named quotas and headers that leave no doubt;
//! 2. words: sentences whose meaning is clear wherever they stand;
//! 3. codes: the provider's own words for a cause;
//! 4. vague words ("rate limit", "not supported") and types, which say the kind of trouble but not its cause;
//! 5. the status alone.
//!
//! Within a tier the order of the tables counts: what is more special stands before what is more general, the request's
//! own faults before money, money before quotas, quotas before rate limits. A sentence has several groups of phrases;
//! one phrase of every group must be there. Phrases are matched on normalised text (lower case, single spaces, no double
//! quotes or backticks).

mod access;
mod answers;
mod codes;
mod codes_access;
mod content;
mod context;
mod facts;
mod guesses;
mod keys;
mod languages;
mod languages_access;
mod limits;
mod models;
mod money;
mod network;
mod outage;
mod plans;
mod request;
mod servers;
mod shapes;
mod sizes;
mod status;
mod types;
mod vague;

use super::condition::Condition;
use crate::domain::{Class, Dimension, ScopeLevel};

pub(crate) use models::OF_GONE_MODELS;
pub(crate) use vague::{EMPTY_OF_A_DAY, EMPTY_OF_GROQS_DAY};

/// How sure a rule is; the order of trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// The operator's own rules.
    Operator,
    /// Faults below HTTP, figures, named quotas, headers.
    Fact,
    /// Sentences.
    Words,
    /// Codes.
    Code,
    /// What a 2xx amounts to.
    Answer,
    /// Vague words and types.
    Vague,
    /// The status alone.
    Status,
}

impl Tier {
    /// The word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Fact => "fact",
            Self::Words => "words",
            Self::Code => "code",
            Self::Answer => "answer",
            Self::Vague => "vague",
            Self::Status => "status",
        }
    }
}

/// A condition that is computed over the whole evidence; what a header or the figures say is a [`Condition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    /// A quota of zero.
    LimitZero,
    /// A Google quota per day is violated.
    QuotaPerDay,
    /// Only Google quotas per minute are violated.
    QuotaPerMinute,
    /// Of several windows with their figures, only short ones are full.
    ShortWindowFull,
    /// Of several windows with their figures, one of a day or longer is full.
    LongWindowFull,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// Its stable name.
    pub(crate) name: &'static str,
    /// How sure it is.
    pub(crate) tier: Tier,
    /// What it says.
    pub(crate) class: Class,
    /// What to hold back, where it differs from the class's usual scope.
    pub(crate) scope: Option<ScopeLevel>,
    /// Which limit, where the rule itself says so.
    pub(crate) dimension: Option<Dimension>,
    /// Only for these providers; empty for all.
    pub(crate) providers: &'static [&'static str],
    /// One phrase of each group must be there.
    pub(crate) words: &'static [&'static [&'static str]],
    /// None of these may be there.
    pub(crate) without: &'static [&'static str],
    /// One of these codes must stand there.
    pub(crate) codes: &'static [&'static str],
    /// One of these types must stand there.
    pub(crate) kinds: &'static [&'static str],
    /// The status must be one of these.
    pub(crate) statuses: &'static [u16],
    /// This must hold.
    pub(crate) fact: Option<Fact>,
    /// All of these must hold.
    pub(crate) when: &'static [Condition<&'static str>],
}

impl Rule {
    const fn new(name: &'static str, tier: Tier, class: Class) -> Self {
        Self {
            name,
            tier,
            class,
            scope: None,
            dimension: None,
            providers: &[],
            words: &[],
            without: &[],
            codes: &[],
            kinds: &[],
            statuses: &[],
            fact: None,
            when: &[],
        }
    }

    const fn scope(mut self, scope: ScopeLevel) -> Self {
        self.scope = Some(scope);
        self
    }

    const fn dimension(mut self, dimension: Dimension) -> Self {
        self.dimension = Some(dimension);
        self
    }

    const fn only(mut self, providers: &'static [&'static str]) -> Self {
        self.providers = providers;
        self
    }

    const fn unless(mut self, without: &'static [&'static str]) -> Self {
        self.without = without;
        self
    }

    const fn status(mut self, statuses: &'static [u16]) -> Self {
        self.statuses = statuses;
        self
    }

    const fn code(mut self, codes: &'static [&'static str]) -> Self {
        self.codes = codes;
        self
    }

    const fn kind(mut self, kinds: &'static [&'static str]) -> Self {
        self.kinds = kinds;
        self
    }

    const fn says(mut self, words: &'static [&'static [&'static str]]) -> Self {
        self.words = words;
        self
    }

    const fn when(mut self, when: &'static [Condition<&'static str>]) -> Self {
        self.when = when;
        self
    }

    /// Whether it looks at the errors one by one, rather than at the evidence as a whole.
    pub(crate) const fn looks_at_layers(&self) -> bool {
        !self.words.is_empty() || !self.codes.is_empty() || !self.kinds.is_empty()
    }
}

/// A rule of named quotas.
const fn fact(name: &'static str, class: Class, fact: Fact) -> Rule {
    let mut rule = Rule::new(name, Tier::Fact, class);
    rule.fact = Some(fact);
    rule
}

/// A rule of headers and figures.
const fn when(name: &'static str, class: Class, when: &'static [Condition<&'static str>]) -> Rule {
    Rule::new(name, Tier::Fact, class).when(when)
}

/// A rule of sentences.
const fn words(name: &'static str, class: Class, words: &'static [&'static [&'static str]]) -> Rule {
    Rule::new(name, Tier::Words, class).says(words)
}

/// A rule of codes.
const fn code(name: &'static str, class: Class, codes: &'static [&'static str]) -> Rule {
    Rule::new(name, Tier::Code, class).code(codes)
}

/// A rule of vague words.
const fn vague(name: &'static str, class: Class, words: &'static [&'static [&'static str]]) -> Rule {
    Rule::new(name, Tier::Vague, class).says(words)
}

/// A rule of types.
const fn kind(name: &'static str, class: Class, kinds: &'static [&'static str]) -> Rule {
    Rule::new(name, Tier::Vague, class).kind(kinds)
}

/// A rule of statuses.
const fn status(name: &'static str, class: Class, statuses: &'static [u16]) -> Rule {
    Rule::new(name, Tier::Status, class).status(statuses)
}

/// All tables, in the order in which they are tried within a tier.
pub(crate) const TABLES: &[&[Rule]] = &[
    facts::RULES,
    network::PORTALS,
    request::SCHEMAS,
    context::RULES,
    sizes::RULES,
    content::RULES,
    plans::LIMITS,
    money::RULES,
    languages::RULES,
    limits::QUOTAS,
    plans::ACCESS,
    access::RULES,
    languages_access::RULES,
    keys::RULES,
    models::RULES,
    servers::RULES,
    answers::RULES,
    shapes::RULES,
    request::RULES,
    shapes::MALFORMED,
    outage::OVERLOADED,
    limits::RATES,
    network::RULES,
    outage::RULES,
    codes::RULES,
    codes_access::RULES,
    vague::RULES,
    guesses::RULES,
    types::RULES,
    shapes::TYPES,
    status::RULES,
];

/// All rules in order.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().copied().flatten()
}

#[cfg(test)]
mod tests;
