//! `[providers.*]`: what is added to the catalogue or changed in it, and where keys are kept.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{AuthStyle, Catalog, ModelInfo, Price, ProviderInfo, ToolIds, Wire, nearest_word};
use crate::domain::{AccountName, CredentialName, ModelName, ProviderName};

use super::headers::{id_header, plain_headers};
use super::key::read_source;
use super::reader::{Node, Section};
use super::types::{CredentialConfig, KeySource, ProviderSettings};
use super::url::check_base_url;

const PROVIDER_KEYS: &[&str] = &[
    "base_url",
    "wire",
    "credentials",
    "models",
    "ca_file",
    "backend",
    "region",
    "network",
    "aggregator",
    "capabilities",
    "headers",
    "query",
    "auth",
    "default_model",
    "max_tokens_field",
    "precharges",
    "tool_ids",
    "idempotency_header",
    "request_id_header",
    "developer_role",
    "forces_tools",
    "parallel_tools",
    "tools_with_schema",
    "thoughts_back",
    "alternates",
    "no_temperature",
    "hosts",
];

/// The alias of a key that no file names but the usual environment variable may hold.
pub(super) const FROM_ENVIRONMENT: &str = "env";

/// What a request can ask for.
const CAPABILITIES: &[&str] = &["tools", "json_schema", "json_object", "images"];

/// What the sections say together.
#[derive(Default)]
pub(super) struct Providers {
    pub(super) settings: BTreeMap<ProviderName, ProviderSettings>,
    pub(super) credentials: Vec<CredentialConfig>,
    /// Those that only the file knows and whose models it lists: no other model can be meant.
    pub(super) listed: BTreeSet<ProviderName>,
    /// Those whose address or wire format is missing or wrong, which has been told already.
    pub(super) broken: BTreeSet<ProviderName>,
}

/// Reads all sections into the catalogue.
pub(super) fn providers(root: &Section<'_, '_>, catalog: &mut Catalog) -> Providers {
    let mut all = Providers::default();
    let mut elsewhere = BTreeSet::new();
    let builtin: BTreeSet<ProviderName> = catalog.providers.keys().cloned().collect();
    let sections = root.section("providers").map(|section| section.entries()).unwrap_or_default();
    for (name, node) in sections {
        let Some(section) = node.section() else { continue };
        if !good_name(name) {
            node.reader.error(&node.place, "a provider's name has no white space, `/` or `@`", None);
            continue;
        }
        let name = ProviderName::new(name);
        if provider(&section, &name, (&builtin, catalog), &mut all) {
            elsewhere.insert(name);
        }
    }
    all.credentials.extend(implied(catalog, &all.credentials, &elsewhere));
    all
}

/// Whether a name can stand in `provider/model@credential`.
pub(super) fn good_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '/' || c == '@')
}

/// A credential for each provider that has none but whose key the environment usually holds. A provider that was given
/// another base URL has none: a key must not go where its owner did not send it.
pub(super) fn implied(
    catalog: &Catalog,
    named: &[CredentialConfig],
    elsewhere: &BTreeSet<ProviderName>,
) -> Vec<CredentialConfig> {
    let wants = |info: &&ProviderInfo| {
        info.wire.is_some()
            && info.auth != AuthStyle::None
            && !info.env.is_empty()
            && !elsewhere.contains(&info.name)
            && !named.iter().any(|credential| credential.provider == info.name)
    };
    let credential = |info: &ProviderInfo| CredentialConfig {
        provider: info.name.clone(),
        name: FROM_ENVIRONMENT.into(),
        account: AccountName::new(FROM_ENVIRONMENT),
        key: match info.env.as_slice() {
            [only] => KeySource::Env(only.clone()),
            several => KeySource::AnyEnv(several.to_vec()),
        },
    };
    catalog.providers.values().filter(wants).map(credential).collect()
}

/// Reads one section; true when the file itself says where the provider is.
fn provider(
    section: &Section<'_, '_>,
    name: &ProviderName,
    (builtin, catalog): (&BTreeSet<ProviderName>, &mut Catalog),
    all: &mut Providers,
) -> bool {
    section.allow(PROVIDER_KEYS);
    let known = catalog.provider(name).cloned();
    let unknown = known.is_none();
    let mut info = known.unwrap_or_else(|| ProviderInfo::blank(name.clone()));
    let elsewhere = section.get("base_url").is_some();
    if unknown && !(elsewhere && section.get("wire").is_some()) {
        missing(section, catalog.nearest(name.as_str()).filter(|near| builtin.contains(*near)));
    }
    overlay(section, &mut info);
    // Whoever passes requests on to the maker of a wire format has its models, by the same names.
    if unknown
        && section.get("no_temperature").is_none()
        && let Some(maker) = info.wire.and_then(|wire| catalog.provider(&wire.as_str().into()))
    {
        info.no_temperature.clone_from(&maker.no_temperature);
    }
    if unknown && (info.base_url.is_none() || info.wire.is_none()) {
        all.broken.insert(name.clone());
    }
    let usual = info.env.first().cloned().unwrap_or_else(|| variable_for(name));
    let found = credentials(section, name, &usual);
    if !found.is_empty() && info.auth == AuthStyle::None {
        info.auth = AuthStyle::Bearer;
    }
    all.credentials.extend(found);
    let models = section.sections("models");
    if unknown && !models.is_empty() {
        all.listed.insert(name.clone());
    }
    let mut new: Vec<ModelInfo> = Vec::new();
    for entry in models {
        let Some(model) = read_model(&entry) else { continue };
        if new.iter().any(|other| other.id == model.id) {
            let message = format!("{name} lists the model {} twice", section.reader.show(model.id.as_str()));
            entry.reader.error(&entry.place, message, Some("put all that is known of it in one place".to_owned()));
        }
        info.models.retain(|other| other.id != model.id);
        new.push(model);
    }
    info.models.extend(new);
    claim_hosts(&info, catalog);
    all.settings.insert(name.clone(), settings(section, all.listed.contains(name)));
    catalog.providers.insert(name.clone(), info);
    elsewhere
}

/// Reports that a provider which nobody knows lacks what must be known.
fn missing(section: &Section<'_, '_>, near: Option<&ProviderName>) {
    let lacks: Vec<_> = ["base_url", "wire"].into_iter().filter(|key| section.get(key).is_none()).collect();
    let lacks = lacks.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ");
    let hint = near.map(|near| format!("did you mean `{near}`?"));
    let message = format!("unknown to the catalogue, so {lacks} must be given");
    section.reader.error(&section.place, message, hint);
}

/// Puts what the section says over what is known.
fn overlay(section: &Section<'_, '_>, info: &mut ProviderInfo) {
    let text = |key: &str| section.get(key).and_then(|node| node.text());
    let texts = |key: &str| section.get(key).and_then(|node| node.texts());
    let new = info.wire.is_none();
    if let Some(node) = section.get("base_url") {
        let names: Vec<&str> = info.vars.keys().map(String::as_str).collect();
        info.base_url = check_base_url(&node, &names).or(info.base_url.take());
    }
    let words: Vec<&str> = Wire::ALL.iter().map(|wire| wire.as_str()).collect();
    if let Some(wire) = section.get("wire").and_then(|node| node.word::<Wire>("wire format", &words)) {
        if new {
            info.auth = AuthStyle::usual(wire);
        }
        if new && wire == Wire::Anthropic {
            info.headers.insert("anthropic-version".to_owned(), "2023-06-01".to_owned());
        }
        if info.wire != Some(wire) {
            info.tool_ids = ToolIds::usual(Some(wire));
        }
        info.wire = Some(wire);
    }
    if let Some(auth) = text("auth") {
        info.auth = AuthStyle::from_word(&auth);
    }
    if let Some(model) = text("default_model") {
        info.default_model = Some(ModelName::new(model));
    }
    info.capabilities = capabilities(section).or(info.capabilities.take());
    if let Some(field) = text("max_tokens_field") {
        info.max_tokens_field = field;
    }
    info.aggregator = section.get("aggregator").and_then(|node| node.truth()).unwrap_or(info.aggregator);
    habits(section, info);
    info.hosts.extend(texts("hosts").unwrap_or_default());
    info.query.extend(section.section("query").map(|query| query.strings()).unwrap_or_default());
    if let Some(headers) = section.section("headers") {
        info.headers.extend(plain_headers(&headers));
    }
    if let Some(host) = info.base_url.as_deref().and_then(host_of).filter(|host| !info.hosts.contains(host)) {
        info.hosts.push(host);
    }
}

/// What differs between providers of one wire format.
fn habits(section: &Section<'_, '_>, info: &mut ProviderInfo) {
    let forms: Vec<&str> = ToolIds::ALL.iter().map(|ids| ids.as_str()).collect();
    if let Some(ids) = section.get("tool_ids").and_then(|node| node.word("form of tool-call ids", &forms)) {
        info.tool_ids = ids;
    }
    for (name, habit) in [
        ("precharges", &mut info.precharges),
        ("developer_role", &mut info.developer_role),
        ("forces_tools", &mut info.forces_tools),
        ("parallel_tools", &mut info.parallel_tools),
        ("tools_with_schema", &mut info.tools_with_schema),
        ("thoughts_back", &mut info.thoughts_back),
        ("alternates", &mut info.alternates),
    ] {
        if let Some(yes) = section.get(name).and_then(|node| node.truth()) {
            *habit = yes;
        }
    }
    if let Some(patterns) = section.get("no_temperature").and_then(|node| node.texts()) {
        info.no_temperature = patterns;
    }
    if let Some(node) = section.get("idempotency_header") {
        info.idempotency_header = id_header(&node);
    }
    if let Some(node) = section.get("request_id_header") {
        info.request_id_header = id_header(&node);
    }
}

/// A host that the file gives to one provider is no longer another's: who knows its own servers knows best.
fn claim_hosts(info: &ProviderInfo, catalog: &mut Catalog) {
    for other in catalog.providers.values_mut().filter(|other| other.name != info.name) {
        other.hosts.retain(|host| !info.hosts.contains(host));
    }
}

/// The host of a URL with its port, where it has one, for recognition in logs.
fn host_of(url: &str) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str()?.to_ascii_lowercase();
    Some(url.port().map_or(host.clone(), |port| format!("{host}:{port}")))
}

fn settings(section: &Section<'_, '_>, lists_all_models: bool) -> ProviderSettings {
    let text = |key: &str| section.get(key).and_then(|node| node.text());
    ProviderSettings {
        region: text("region"),
        backend: text("backend"),
        network: text("network"),
        ca_file: text("ca_file").map(|path| section.reader.path(&path)),
        lists_all_models,
    }
}

/// `[[providers.NAME.credentials]]`; `usual` is the variable that a hint names.
fn credentials(section: &Section<'_, '_>, provider: &ProviderName, usual: &str) -> Vec<CredentialConfig> {
    let mut found: Vec<CredentialConfig> = Vec::new();
    for entry in section.sections("credentials") {
        entry.allow(&["name", "key", "account"]);
        let name = entry.need("name", "give the key an alias, like name = \"own\"").and_then(|node| alias(&node));
        let key = entry.need("key", &format!("say where it is: key = {{ env = {usual:?} }}"));
        let key = key.and_then(|node| read_source(&node, usual));
        let account = entry.get("account").and_then(|node| node.text());
        // A wrong key is told already; that its alias is unknown would be told wrongly.
        let (Some(name), key) = (name, key.unwrap_or(KeySource::None)) else { continue };
        if found.iter().any(|other| other.name == name) {
            let node = entry.get("name");
            let place = node.map_or(entry.place.clone(), |node| node.place);
            let message = format!("{provider} has another credential `{name}`");
            entry.reader.error(&place, message, Some("an alias must be unique within its provider".to_owned()));
            continue;
        }
        let account = AccountName::new(account.unwrap_or_else(|| name.as_str().to_owned()));
        found.push(CredentialConfig { provider: provider.clone(), name, account, key });
    }
    found
}

fn alias(node: &Node<'_, '_>) -> Option<CredentialName> {
    let name = node.text()?;
    if !good_name(&name) {
        node.reader.error(&node.place, "an alias has no white space, `/` or `@`", None);
        return None;
    }
    if node.reader.looks_secret(&name) {
        node.reader.error(&node.place, "this looks like the key itself", Some("give it an alias".to_owned()));
        return None;
    }
    Some(CredentialName::new(name))
}

fn read_model(section: &Section<'_, '_>) -> Option<ModelInfo> {
    section.allow(&["id", "context", "max_output", "capabilities", "price"]);
    let id = section.need("id", "write the provider's own id of the model")?.text()?;
    let count = |key: &str| section.get(key).and_then(|node| node.integer(1..=u64::MAX));
    let price = section.section("price").and_then(|price| {
        price.allow(&["input", "output", "cached"]);
        let amount = |key: &str| price.get(key).and_then(|node| node.amount());
        let hint = "USD per million tokens";
        price.need("input", hint)?;
        price.need("output", hint)?;
        Some(Price { input: amount("input")?, output: amount("output")?, cached: amount("cached") })
    });
    Some(ModelInfo {
        id: ModelName::new(id),
        context: count("context"),
        max_output: count("max_output"),
        capabilities: capabilities(section),
        price,
    })
}

/// The words of `capabilities`. New ones may be made up, but one that is nearly known is a slip.
fn capabilities(section: &Section<'_, '_>) -> Option<Vec<String>> {
    let items = section.get("capabilities")?.items()?;
    for item in &items {
        let Some(word) = item.as_text().filter(|word| !CAPABILITIES.contains(word)) else { continue };
        if let Some(near) = nearest_word(word, CAPABILITIES.iter().copied()) {
            let message = format!("nothing asks for the capability {}", item.reader.show(word));
            item.reader.warn(&item.place, message, Some(format!("did you mean `{near}`?")));
        }
    }
    items.iter().map(Node::text).collect()
}

/// A variable name for a hint: `LAB_API_KEY`.
fn variable_for(name: &ProviderName) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("{}_API_KEY", name.as_str().chars().map(plain).collect::<String>())
}
