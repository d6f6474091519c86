//! `[[rules]]` and `[[caps]]`: what the operator knows better than we do.

use std::time::Duration;

use crate::catalog::{Cap, Catalog, ResetClock, SourceKind};
use crate::classify::CustomRule;
use crate::domain::{AccountName, Class, Dimension, ModelName, ProviderName, ScopeLevel, Unit};

use super::conditions;
use super::reader::{Node, Section};
use super::types::AccountCap;

/// Reads the classification rules.
pub(super) fn rules(root: &Section<'_, '_>, catalog: &Catalog) -> Vec<CustomRule> {
    let sections = root.sections("rules");
    let found: Vec<_> = sections.iter().filter_map(|section| Some((section, rule(section, catalog)?))).collect();
    warn_of_the_idle(&found);
    found.into_iter().map(|(_, rule)| rule).collect()
}

/// Warns of rules that can never decide: what they ask for cannot be, or an earlier rule takes all that they fit.
fn warn_of_the_idle(rules: &[(&Section<'_, '_>, CustomRule)]) {
    let mut earlier: Vec<(&Section<'_, '_>, &CustomRule)> = Vec::new();
    for (section, rule) in rules {
        let (reader, place) = (section.reader, &section.place);
        if let Some(contradiction) = rule.contradiction() {
            reader.warn(place, format!("never fits: {contradiction}"), None);
            continue;
        }
        if let Some((first, winner)) = earlier.iter().find(|(_, first)| first.covers(rule)) {
            let first = format!("{} (line {})", first.place.key, first.place.line.unwrap_or(0));
            if rule.covers(winner) {
                let message = format!("never decides: it asks for the same as {first}, which comes first");
                reader.warn(place, message, Some("remove one of them".to_owned()));
            } else {
                let message = format!("never decides: {first} comes first and fits all that this one fits");
                reader.warn(place, message, Some("put the more special rule first, or remove it".to_owned()));
            }
        }
        earlier.push((*section, rule));
    }
}

/// What a rule can ask of a failure.
const ASKS: &[&str] = &["status", "code", "type", "contains", "header", "path", "compare"];

/// What else it can say.
const SAYS: &[&str] = &["provider", "without", "class", "scope", "dimension", "retry_after"];

fn rule(section: &Section<'_, '_>, catalog: &Catalog) -> Option<CustomRule> {
    section.allow(&[ASKS, SAYS].concat());
    let provider = section.get("provider").and_then(|node| named_provider(&node, catalog));
    let class = section.need("class", "say what it is, like class = \"overloaded\"");
    let class = class.and_then(|node| node.word("class", &words(Class::ALL, Class::as_str)));
    if ASKS.iter().all(|key| section.get(key).is_none()) {
        let hint = "add `status`, `code`, `type`, `contains`, `header`, `path` or `compare`".to_owned();
        section.reader.error(&section.place, "a rule without a condition fits every failure", Some(hint));
    }
    let name = format!("config.line_{}", section.place.line.unwrap_or(0));
    // Read before it is known whether there is a class, so that all that is wrong is told.
    let rule = CustomRule {
        provider,
        statuses: conditions::statuses(section),
        codes: conditions::list(section, "code", code),
        kinds: conditions::texts(section, "type"),
        contains: conditions::texts(section, "contains"),
        without: conditions::texts(section, "without"),
        conditions: conditions::conditions(section),
        scope: scope(section),
        dimension: section.get("dimension").and_then(|node| dimension(&node)),
        retry_after: section.get("retry_after").and_then(|node| lasts(&node, class)),
        ..CustomRule::new(name, class.unwrap_or(Class::Unknown))
    };
    class.map(|_| rule)
}

/// How long it lasts; of no use for what a person must end, or what holds nothing.
fn lasts(node: &Node<'_, '_>, class: Option<Class>) -> Option<Duration> {
    let lasts = node.duration()?;
    if let Some(class) = class.filter(|class| !class.passes_by_itself()) {
        let message = format!("changes nothing: {class} is not over after a time");
        node.reader.warn(&node.place, message, None);
    }
    Some(lasts)
}

/// An error code: text, or a number that providers send as one.
fn code(node: &Node<'_, '_>) -> Option<String> {
    if node.is_integer() {
        return node.integer(0..=u64::MAX).map(|number| number.to_string());
    }
    node.text()
}

/// Reads the limits: those of all accounts go into the catalogue, the others are given back.
pub(super) fn caps(root: &Section<'_, '_>, catalog: &mut Catalog) -> Vec<AccountCap> {
    let mut of_accounts = Vec::new();
    for section in root.sections("caps") {
        section.allow(&[
            "provider",
            "account",
            "model",
            "dimension",
            "limit",
            "unit",
            "tier",
            "scope",
            "reset",
            "note",
        ]);
        let provider = section.need("provider", "say whose limit it is");
        let provider = provider.and_then(|node| named_provider(&node, catalog));
        let dimension = section.need("dimension", "say what is limited, like dimension = \"tpd\"");
        let dimension = dimension.and_then(|node| self::dimension(&node));
        let account = section.get("account").and_then(|node| node.text());
        if section.get("limit").is_none() && section.get("reset").is_none() {
            let hint = "give a `limit`, a `reset` or both".to_owned();
            section.reader.error(&section.place, "this changes nothing", Some(hint));
        }
        // Read in any case, so that all that is wrong is told.
        let cap = cap(&section, catalog, provider.as_ref(), dimension.unwrap_or(Dimension::Other));
        match (provider.filter(|_| dimension.is_some()), account) {
            (None, _) => {}
            (Some(provider), Some(account)) => {
                of_accounts.push(AccountCap { provider, account: AccountName::new(account), cap });
            }
            (Some(provider), None) => {
                if let Some(info) = catalog.providers.get_mut(&provider) {
                    // First, because among equals the first wins.
                    info.caps.retain(|other| other.dimension != cap.dimension || other.model != cap.model);
                    info.caps.insert(0, cap);
                }
            }
        }
    }
    of_accounts
}

/// One limit; what it does not say is as in the catalogue, or else as such limits usually are.
fn cap(section: &Section<'_, '_>, catalog: &Catalog, provider: Option<&ProviderName>, dimension: Dimension) -> Cap {
    let text = |key: &str| section.get(key).and_then(|node| node.text());
    let model = text("model");
    let name = model.as_deref().map(ModelName::new);
    let base = provider.and_then(|provider| catalog.reset_clock(provider, name.as_ref(), dimension));
    let reset = section.get("reset").and_then(|node| reset(&node));
    Cap {
        dimension,
        tier: text("tier").or_else(|| base.and_then(|cap| cap.tier.clone())),
        limit: section
            .get("limit")
            .and_then(|node| node.integer(0..=u64::MAX))
            .or_else(|| base.and_then(|cap| cap.limit)),
        unit: section
            .get("unit")
            .and_then(|node| node.word("unit", &words(Unit::ALL, Unit::as_str)))
            .or_else(|| base.and_then(|cap| cap.unit)),
        scope: scope(section).or(base.map(|cap| cap.scope)).unwrap_or(match model {
            Some(_) => ScopeLevel::Model,
            None => ScopeLevel::Account,
        }),
        reset: reset.or_else(|| base.map(|cap| cap.reset.clone())).unwrap_or_else(|| usual_clock(dimension)),
        source: SourceKind::Config,
        as_of: None,
        note: text("note"),
        model,
    }
}

/// What the name of a dimension itself says of its clock.
fn usual_clock(dimension: Dimension) -> ResetClock {
    match dimension {
        Dimension::Rpm | Dimension::Tpm | Dimension::InputTpm | Dimension::OutputTpm => {
            ResetClock::Rolling { seconds: 60 }
        }
        Dimension::Credits => ResetClock::Never,
        _ => ResetClock::Stated,
    }
}

fn reset(node: &Node<'_, '_>) -> Option<ResetClock> {
    let text = node.text()?;
    let found = text.parse().ok();
    if found.is_none() {
        let hint = "write \"rolling 1m\", \"refill 1d\", \"midnight ZONE\", \"month ZONE\", \"stated\" or \"never\"";
        let message = format!("{} is no reset clock", node.reader.show(&text));
        node.reader.error(&node.place, message, Some(hint.to_owned()));
    }
    found
}

fn scope(section: &Section<'_, '_>) -> Option<ScopeLevel> {
    section.get("scope")?.word("scope", &words(ScopeLevel::ALL, ScopeLevel::as_str))
}

fn dimension(node: &Node<'_, '_>) -> Option<Dimension> {
    node.word("dimension", &words(Dimension::ALL, Dimension::as_str))
}

fn words<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|item| word(*item)).collect()
}

/// A provider of the catalogue or the file.
fn named_provider(node: &Node<'_, '_>, catalog: &Catalog) -> Option<ProviderName> {
    let name = ProviderName::new(node.text()?);
    if catalog.provider(&name).is_none() {
        let near = catalog.nearest(name.as_str()).map(|near| format!("did you mean `{near}`?"));
        let hint = near.or_else(|| Some("add it to [providers]".to_owned()));
        node.reader.error(&node.place, format!("unknown provider {}", node.reader.show(name.as_str())), hint);
        return None;
    }
    Some(name)
}
