//! The verdict: which of the matching rules wins, and what follows from it.

use std::time::Duration;

use jiff::Timestamp;

use crate::catalog::Catalog;
use crate::domain::{
    Class, Dimension, Evidence, Failure, Provenance, ProviderName, Redactor, ResetSource, ScopeLevel, TransportFault,
    excerpt,
};

use super::answer::Answered;
use super::custom::{CustomRule, Heard};
use super::hints::{self, Stated};
use super::matcher::{self, Matched};
use super::rules::Tier;
use super::signals::Signals;
use super::{extent, fit, rules, several, text};

/// The longest wait that still is a rate limit; a longer one is a spent quota, whatever the words.
const SHORT: Duration = Duration::from_secs(3600);

/// The longest wait after which a limit of no named window is taken for a short one.
const BRIEF: Duration = Duration::from_secs(300);

/// How much of the evidence is quoted, in characters.
const QUOTE: usize = 200;

/// Says what failures are. Holds the operator's rules; everything else is shared and built at the first use.
#[derive(Debug, Clone, Default)]
pub struct Classifier {
    custom: Vec<CustomRule>,
}

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleMatch {
    /// Its name.
    pub rule: String,
    /// What it says.
    pub class: Class,
    /// How sure it is: `operator`, `fact`, `words`, `code`, `answer`, `vague` or `status`.
    pub tier: &'static str,
    /// How deep the error lay in which it matched, 0 being the outermost.
    pub depth: usize,
    /// What made it match: the phrase, code, type, status, header, field or figures; of an operator's rule all of them.
    pub by: String,
}

impl RuleMatch {
    /// What is shown of `by` comes from outside: a header can hold a key.
    fn new(rule: &str, class: Class, tier: Tier, depth: usize, by: &str) -> Self {
        let by = excerpt(&Redactor::default().redact(by), 160);
        Self { rule: rule.to_owned(), class, tier: tier.as_str(), depth, by }
    }
}

/// Every rule that matched, and why the winner won.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The verdict.
    pub failure: Failure,
    /// The provider, as given or as recognised.
    pub provider: Option<ProviderName>,
    /// The status, as given or as found in the text.
    pub status: Option<u16>,
    /// All that matched, the winner first.
    pub matches: Vec<RuleMatch>,
    /// Why the first won, in one sentence.
    pub reason: String,
}

/// What was decided before times and scopes are added.
struct Decision {
    class: Class,
    rule: String,
    matched: Option<Matched>,
    scope: Option<ScopeLevel>,
    dimension: Option<Dimension>,
    /// How long it lasts by the operator's word, when the payload does not say.
    lasts: Option<Duration>,
    quote: String,
}

impl Decision {
    fn new(class: Class, rule: &str, quote: &str) -> Self {
        let (rule, quote) = (rule.to_owned(), quote.to_owned());
        Self { class, rule, matched: None, scope: None, dimension: None, lasts: None, quote }
    }
}

impl Classifier {
    /// A classifier in which these rules come before the built-in ones, in their order.
    pub fn new(custom: Vec<CustomRule>) -> Self {
        Self { custom }
    }

    /// What the evidence means. `now` is the time of the failure where the evidence does not say it.
    pub fn classify(&self, evidence: &Evidence, catalog: &Catalog, now: Timestamp) -> Failure {
        let signals = Signals::read(evidence, catalog);
        let matches = matcher::matches(&signals);
        let heard = Heard::new(&signals);
        let custom = self.custom.iter().find(|rule| rule.seen(&heard).is_some());
        let decision = decide(custom, evidence, &signals, &matches);
        finish(decision, evidence, &signals, catalog, now)
    }

    /// What the evidence means, with all the rules that matched, and who is recognised in it.
    pub fn explain(&self, evidence: &Evidence, catalog: &Catalog, now: Timestamp) -> Explanation {
        let signals = Signals::read(evidence, catalog);
        let matches = matcher::matches(&signals);
        let heard = Heard::new(&signals);
        let custom: Vec<(&CustomRule, String)> =
            self.custom.iter().filter_map(|rule| Some((rule, rule.seen(&heard)?))).collect();
        let decision = decide(custom.first().map(|(rule, _)| *rule), evidence, &signals, &matches);
        let failure = finish(decision, evidence, &signals, catalog, now);
        let provider = evidence.provider.clone().or_else(|| signals.provider.as_deref().map(ProviderName::from));
        let status = evidence.status.or_else(|| signals.innermost_status());
        let mut listed: Vec<RuleMatch> =
            custom.iter().map(|(rule, by)| RuleMatch::new(&rule.name, rule.class, Tier::Operator, 0, by)).collect();
        listed.extend(matches.iter().map(|matched| {
            let read = matched.layer.and_then(|at| signals.layers.get(at));
            let depth = read.map_or(0, |read| read.layer.depth);
            RuleMatch::new(matched.rule.name, matched.rule.class, matched.rule.tier, depth, &matched.by)
        }));
        if listed.first().is_none_or(|first| first.rule != failure.rule) {
            let by = &failure.evidence;
            listed.insert(0, RuleMatch::new(&failure.rule, failure.class, Tier::Answer, 0, by));
        }
        let reason = reason(&listed);
        Explanation { failure, provider, status, matches: listed, reason }
    }
}

/// Which rule decides; the operator's first.
fn decide(custom: Option<&CustomRule>, evidence: &Evidence, signals: &Signals, matches: &[Matched]) -> Decision {
    if let Some(rule) = custom {
        let phrase = rule.contains.first().map(|phrase| text::normalise(phrase)).unwrap_or_default();
        let decision = Decision::new(rule.class, &rule.name, &quote(signals, None, &phrase));
        return Decision { scope: rule.scope, dimension: rule.dimension, lasts: rule.retry_after, ..decision };
    }
    if let Some(soonest) = several::soonest(signals) {
        let decision = Decision::new(soonest.class, soonest.matched.rule.name, &soonest.quote);
        return Decision { matched: Some(soonest.matched), ..decision };
    }
    let best = matches.first();
    let is_clear = best.is_some_and(|matched| matched.rule.tier < Tier::Answer);
    if let Some(fault) = evidence.transport
        && !is_clear
    {
        return transport(fault);
    }
    if !is_clear
        && let Some(decision) = signals.answered.as_ref().and_then(|answered| from_answer(answered, best.is_some()))
    {
        return decision;
    }
    match best {
        Some(matched) => Decision {
            matched: Some(matched.clone()),
            ..Decision::new(matched.rule.class, matched.rule.name, &quote(signals, matched.layer, &matched.by))
        },
        None => Decision::new(Class::Unknown, "unknown", &quote(signals, None, "")),
    }
}

fn reason(matches: &[RuleMatch]) -> String {
    let [winner, rest @ ..] = matches else { return "no rule matched".to_owned() };
    let Some(second) = rest.iter().find(|other| other.class != winner.class) else {
        return format!("`{}` is the surest of the rules that matched, and none of them says otherwise", winner.rule);
    };
    let why = if winner.tier != second.tier {
        format!("{} come before {}", winner.tier, second.tier)
    } else if winner.tier == Tier::Operator.as_str() {
        "the first of the operator's rules decides".to_owned()
    } else if winner.depth != second.depth {
        "the inner error comes before the outer".to_owned()
    } else {
        "the more special rule comes before the more general".to_owned()
    };
    format!("`{}` won over `{}` ({}): {why}", winner.rule, second.rule, second.class)
}

fn transport(fault: TransportFault) -> Decision {
    use TransportFault as Fault;
    let (class, rule) = match fault {
        Fault::Dns => (Class::Network, "transport.dns"),
        Fault::Refused => (Class::Network, "transport.refused"),
        Fault::Reset => (Class::Network, "transport.reset"),
        Fault::Tls => (Class::Network, "transport.tls"),
        Fault::ConnectTimeout => (Class::Network, "transport.connect_timeout"),
        Fault::Cut => (Class::Network, "transport.cut"),
        Fault::Other => (Class::Network, "transport.other"),
        Fault::FirstTimeout => (Class::Timeout, "transport.first_timeout"),
        Fault::IdleTimeout => (Class::Timeout, "transport.idle_timeout"),
        Fault::TotalTimeout => (Class::Timeout, "transport.total_timeout"),
        Fault::TooLarge => (Class::InvalidOutput, "transport.too_large"),
    };
    Decision::new(class, rule, fault.as_str())
}

/// What a 2xx amounts to, where no error in it was clear.
fn from_answer(answered: &Answered, something_matched: bool) -> Option<Decision> {
    let (class, rule, quote) = match answered {
        Answered::Blocked(word) => (Class::ContentPolicy, "answer.blocked", word.as_str()),
        Answered::Malformed(word) => (Class::InvalidOutput, "answer.malformed", word.as_str()),
        Answered::Failed(word) => (Class::ServerError, "answer.failed", word.as_str()),
        Answered::Nothing => (Class::InvalidOutput, "answer.nothing", "an empty body"),
        Answered::Length => (Class::InvalidOutput, "answer.cut_by_length", "the token limit ended the answer"),
        Answered::Empty if !something_matched => (Class::InvalidOutput, "answer.empty", "an answer without words"),
        Answered::NotJson if !something_matched => (Class::InvalidOutput, "answer.not_json", "the body is no JSON"),
        Answered::Cut if !something_matched => (Class::Network, "answer.cut", "the stream ended without an end"),
        Answered::Words(words) => return Some(from_words(words)),
        _ => return None,
    };
    Some(Decision::new(class, rule, quote))
}

/// Some gateways put the error into the answer's own words.
fn from_words(words: &str) -> Decision {
    const OPENINGS: &[&str] =
        &["error", "api error", "[api error", "⚠", "❌", "[error", "request failed", "sorry, ", "http 4", "http 5"];
    let plain = text::normalise(words);
    let is_error = words.len() < 2000 && OPENINGS.iter().any(|opening| plain.starts_with(opening));
    if is_error && let Some(rule) = matcher::sentence(&plain) {
        return Decision::new(rule.class, rule.name, words);
    }
    Decision::new(Class::InvalidOutput, "answer.not_as_asked", words)
}

/// The line of the text that holds what matched.
fn quote(signals: &Signals, layer: Option<usize>, by: &str) -> String {
    // A fact is read from fields, not from words: what the provider says in words is still what a person wants to read.
    let is_words = |text: &str| !text.trim_start().is_empty() && !text.trim_start().starts_with(['{', '[', '<']);
    let in_words = || signals.layers.iter().find(|read| is_words(&read.layer.text));
    let named = layer.and_then(|at| signals.layers.get(at));
    let layer = named.or_else(in_words).or_else(|| signals.layers.first());
    let source = layer.map(|read| read.layer.text.as_str()).filter(|text| !text.is_empty()).unwrap_or(&signals.raw);
    let line = source.lines().find(|line| !by.is_empty() && text::normalise(line).contains(by));
    let quote = line.unwrap_or(source);
    if quote.trim().is_empty() { by.to_owned() } else { quote.to_owned() }
}

/// Adds the time, the limit, the scope and the figures.
fn finish(
    mut decision: Decision,
    evidence: &Evidence,
    signals: &Signals,
    catalog: &Catalog,
    now: Timestamp,
) -> Failure {
    // A time beside another class means something else ("access takes up to 15 minutes").
    let stated = if decision.class.passes_by_itself() { hints::read(signals, evidence, now) } else { None };
    let stated = stated.filter(|stated| !misleads(&decision, stated));
    by_length_of_wait(&mut decision, stated.as_ref(), signals, evidence, now);
    let dimension =
        decision.dimension.or_else(|| extent::dimension(decision.class, decision.matched.as_ref(), signals));
    let dimension = match (decision.class, stated.as_ref().and_then(|stated| stated.after)) {
        (Class::QuotaExhausted, Some(after)) => extent::by_length(dimension, after),
        _ => dimension,
    };
    let scope = decision.scope.unwrap_or_else(|| extent::scope(decision.class, decision.matched.as_ref(), signals));
    let quote = Redactor::default().redact(&bounded_quote(&decision.quote)).into_owned();
    let mut failure = Failure::new(decision.class, scope, decision.rule, excerpt(&quote, QUOTE));
    failure.dimension = dimension;
    failure.limits = signals.limits;
    fit::fill(&mut failure, signals);
    failure.lasting = failure.class == Class::ModelUnavailable && is_for_good(&failure.rule, evidence.status);
    let since = evidence.at.unwrap_or(now);
    add_time(&mut failure, stated, decision.lasts, since);
    if failure.retry_at.is_none() && failure.class == Class::QuotaExhausted {
        add_documented(&mut failure, evidence, catalog, since);
    }
    failure
}

/// Whether the provider itself calls the model gone, in words or by the one status that means it; that it does not find
/// the model may be a slip of ours.
fn is_for_good(rule: &str, status: Option<u16>) -> bool {
    status == Some(410) || rules::OF_GONE_MODELS.contains(&rule)
}

/// Adds the time that the payload states, or else the operator.
fn add_time(failure: &mut Failure, stated: Option<Stated>, lasts: Option<Duration>, since: Timestamp) {
    if let Some(stated) = stated {
        failure.retry_after = stated.after;
        failure.retry_at = Some(stated.at);
        failure.reset_source = Some(stated.source);
        failure.provenance = Provenance::Fact;
    } else if let Some(lasts) = lasts.filter(|_| failure.class.passes_by_itself()) {
        failure.retry_at = since.checked_add(lasts).ok();
        failure.retry_after = Some(lasts);
        failure.provenance = Provenance::Operator;
    }
}

/// Adds the time at which the catalogue's clock resets the quota.
fn add_documented(failure: &mut Failure, evidence: &Evidence, catalog: &Catalog, since: Timestamp) {
    let limit = evidence.provider.as_ref().zip(failure.dimension);
    let reset =
        limit.and_then(|(provider, dimension)| catalog.next_reset(provider, evidence.model.as_ref(), dimension, since));
    if reset.is_some() {
        failure.retry_at = reset;
        failure.reset_source = Some(ResetSource::Catalogue);
        failure.provenance = Provenance::Documented;
    }
}

/// A key may stand at the cut: what is redacted is longer than what is quoted.
fn bounded_quote(quote: &str) -> String {
    quote.chars().take(QUOTE * 8).collect()
}

/// Google adds a wait of seconds to a quota of a day.
fn misleads(decision: &Decision, stated: &Stated) -> bool {
    decision.rule == "gemini.quota_per_day" && stated.after.is_some_and(|after| after <= SHORT)
}

/// Plans end their windows at a reset, and they too can be minutes away from it.
fn says_no_window(decision: &Decision) -> bool {
    let quote = text::normalise(&decision.quote);
    !["reset", "plan", "upgrade", "session", "subscription", "credits", "capacity"]
        .iter()
        .any(|word| quote.contains(word))
}

/// A stated wait tells a short window from a long one, whatever the words.
fn by_length_of_wait(
    decision: &mut Decision,
    stated: Option<&Stated>,
    signals: &Signals,
    evidence: &Evidence,
    now: Timestamp,
) {
    let Some(stated) = stated else { return };
    // A limit whose window nobody names, and that is over within minutes, was a short one.
    let is_short = |after: Duration| after <= BRIEF && !after.is_zero();
    if decision.rule == "words.usage_limit_reached" && says_no_window(decision) && stated.after.is_some_and(is_short) {
        decision.class = Class::RateLimit;
        "wait.within_minutes".clone_into(&mut decision.rule);
        return;
    }
    let is_bare_429 = decision.class == Class::Unknown && signals.innermost_status() == Some(429);
    if decision.class != Class::RateLimit && !is_bare_429 {
        return;
    }
    let wait = stated.after.or_else(|| Duration::try_from(stated.at.duration_since(evidence.at.unwrap_or(now))).ok());
    let (class, rule) = if wait.is_some_and(|wait| wait > SHORT) {
        (Class::QuotaExhausted, "wait.over_an_hour")
    } else if is_bare_429 {
        (Class::RateLimit, "wait.within_an_hour")
    } else {
        return;
    };
    decision.class = class;
    rule.clone_into(&mut decision.rule);
}
