//! `[tools.*]`: what a model may have run, and how.
//!
//! A tool is a program of the operator's; the model gives it nothing but JSON on its standard input, so that no word of a
//! model becomes a word of a command line. What running it does to the world decides how it is treated when nobody knows
//! whether it ran: so a tool that says nothing counts as one that must not run twice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::limits::{own_program, positive};
use super::reader::{Node, Section, suggest};
use crate::domain::Effect;
use crate::validate::compiled;

const KEYS: &[&str] = &["description", "schema", "command", "timeout", "effect", "idempotency_key"];

/// How long a command may take unless the config says otherwise.
pub const TOOL_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest file with a schema, in bytes.
const LARGEST_SCHEMA: u64 = 1 << 20;

/// The longest name that all wires take, in characters.
const LONGEST_NAME: usize = 64;

/// A program that a model may have run.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolConfig {
    /// The name by which the model knows it.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments, an object's.
    pub schema: Value,
    /// The program and its arguments; it gets the model's arguments as JSON on its standard input.
    pub command: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// What running it does.
    pub effect: Effect,
    /// By which the program can see that it is run again.
    pub idempotency_key: KeyTemplate,
}

/// A text with places that a call fills: `{session}`, `{tool}`, `{fingerprint}` and `{args.FIELD}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTemplate(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Session,
    Tool,
    Fingerprint,
    Argument(String),
}

impl Default for KeyTemplate {
    /// The fingerprint alone: one key for each call.
    fn default() -> Self {
        Self(vec![Piece::Fingerprint])
    }
}

impl KeyTemplate {
    /// Reads it.
    ///
    /// # Errors
    /// The word in braces that stands for nothing.
    fn parse(text: &str) -> Result<Self, String> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let (word, after) = after.split_once('}').ok_or_else(|| "{".to_owned())?;
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(match word.split_once('.') {
                Some(("args", field)) if !field.is_empty() => Piece::Argument(field.to_owned()),
                None if word == "session" => Piece::Session,
                None if word == "tool" => Piece::Tool,
                None if word == "fingerprint" => Piece::Fingerprint,
                _ => return Err(format!("{{{word}}}")),
            });
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    /// Whether all calls have the same key.
    fn is_constant(&self) -> bool {
        !self.0.iter().any(|piece| matches!(piece, Piece::Fingerprint | Piece::Argument(_)))
    }

    /// The key of one call. An argument that is a text stands as it is, anything else as JSON. None where an argument is
    /// missing, without which calls would look the same that are not.
    pub fn fill(&self, session: &str, tool: &str, fingerprint: &str, arguments: &Value) -> Option<String> {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Session => Some(session.to_owned()),
            Piece::Tool => Some(tool.to_owned()),
            Piece::Fingerprint => Some(fingerprint.to_owned()),
            Piece::Argument(field) => match arguments.get(field)? {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            },
        };
        self.0.iter().map(piece).collect()
    }
}

/// Reads `[tools.*]`.
pub(super) fn tools(root: &Section<'_, '_>) -> BTreeMap<String, ToolConfig> {
    let entries = root.section("tools").map(|section| section.entries()).unwrap_or_default();
    let mut tools = BTreeMap::new();
    for (name, node) in entries {
        if !is_tool_name(name) {
            let hint = "use letters, digits, `_` and `-`, up to 64, the first a letter".to_owned();
            node.reader.error(&node.place, "not every provider takes this name of a tool", Some(hint));
        }
        if let Some(tool) = node.section().and_then(|section| tool(name, &section)) {
            tools.insert(name.to_owned(), tool);
        }
    }
    tools
}

/// Reads `tools = ["NAME"]` of a ladder; `known` are those that there are.
pub(super) fn of_ladder(section: &Section<'_, '_>, known: &[&str]) -> Vec<String> {
    let items = section.get("tools").and_then(|node| node.items()).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let Some(name) = item.text() else { continue };
        if !known.contains(&name.as_str()) {
            let hint = suggest(&name, known.iter().copied());
            let hint = hint.or_else(|| Some(format!("add [tools.{name}] with a `command`")));
            item.reader.error(&item.place, format!("unknown tool {}", item.reader.show(&name)), hint);
        } else if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether all wires take the name.
pub fn is_tool_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.len() <= LONGEST_NAME && name.chars().all(plain) && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn tool(name: &str, section: &Section<'_, '_>) -> Option<ToolConfig> {
    section.allow(KEYS);
    let description = section.need("description", "tell the model what it is for").and_then(|node| node.text());
    let command = section.need("command", "write [\"PROGRAM\", \"ARGUMENT\"]").and_then(|node| own_program(&node));
    let effect = section.get("effect").and_then(|node| node.word("effect", &["pure", "side_effecting"]));
    let schema = match section.get("schema") {
        Some(node) => schema(&node),
        None => Some(json!({"type": "object", "properties": {}})),
    };
    let effect = effect.unwrap_or(Effect::SideEffecting);
    let idempotency_key = section.get("idempotency_key").and_then(|node| template(&node, effect)).unwrap_or_default();
    let timeout = section.get("timeout").and_then(|node| positive(&node)).unwrap_or(TOOL_TIMEOUT);
    Some(ToolConfig {
        name: name.to_owned(),
        description: description?,
        schema: schema?,
        command: command?,
        timeout,
        effect,
        idempotency_key,
    })
}

/// The schema itself, or the name of a file that holds it.
fn schema(node: &Node<'_, '_>) -> Option<Value> {
    let wrong = |message: String, hint: &str| {
        node.reader.error(&node.place, message, Some(hint.to_owned()));
        None
    };
    let schema = match node.as_text() {
        None => node.section().map(|_| node.json())?,
        Some(text) => match read(&node.reader.path(text)) {
            Ok(schema) => schema,
            Err(why) => return wrong(why, "write the path of a file with a JSON Schema, or the schema as a table"),
        },
    };
    arguments_schema(schema).map_or_else(|(why, hint)| wrong(why, hint), Some)
}

/// The schema as all wires take it for a tool's arguments: that of an object, with its properties.
///
/// # Errors
/// Why it cannot be one, and what can be done.
pub fn arguments_schema(mut schema: Value) -> Result<Value, (String, &'static str)> {
    let Some(object) = schema.as_object_mut() else {
        let why = "the schema is no JSON object".to_owned();
        return Err((why, "write {\"type\": \"object\", \"properties\": {…}}"));
    };
    if object.entry("type").or_insert_with(|| json!("object")) != "object" {
        let why = "arguments of tools are objects".to_owned();
        return Err((why, "write type = \"object\" and name the properties"));
    }
    object.entry("properties").or_insert_with(|| json!({}));
    match compiled(&schema) {
        Ok(_) => Ok(schema),
        Err(error) => Err((format!("no JSON Schema: {error}"), "see https://json-schema.org for what may stand there")),
    }
}

fn read(path: &std::path::Path) -> Result<Value, String> {
    let size = std::fs::metadata(path).map_or(0, |found| found.len());
    if size > LARGEST_SCHEMA {
        return Err(format!("{} is larger than 1 MiB", path.display()));
    }
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read the schema {}: {error}", path.display()))?;
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("{} is no JSON: {error}", path.display()))
}

fn template(node: &Node<'_, '_>, effect: Effect) -> Option<KeyTemplate> {
    let text = node.text()?;
    match KeyTemplate::parse(&text) {
        Ok(template) => {
            if template.is_constant() && effect == Effect::SideEffecting {
                let hint = Some("add {fingerprint} or {args.FIELD}".to_owned());
                node.reader.warn(&node.place, "all calls have the same key: only the first is run", hint);
            }
            Some(template)
        }
        Err(word) => {
            let hint = "known are {session}, {tool}, {fingerprint} and {args.FIELD}".to_owned();
            node.reader.error(&node.place, format!("{} stands for nothing", node.reader.show(&word)), Some(hint));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_by_the_call() {
        let fill = |text: &str| {
            let arguments = json!({"to": "Köln", "n": 3, "deep": {"a": 1}});
            KeyTemplate::parse(text).map(|template| template.fill("night", "deploy", "f00", &arguments))
        };
        assert_eq!(fill("{tool}-{args.to}/{args.n}"), Ok(Some("deploy-Köln/3".to_owned())));
        assert_eq!(fill("{session}:{fingerprint}"), Ok(Some("night:f00".to_owned())));
        assert_eq!(fill("{args.deep}"), Ok(Some("{\"a\":1}".to_owned())));
        assert_eq!(fill("{args.deep}{args.none}"), Ok(None));
        assert_eq!(fill("plain"), Ok(Some("plain".to_owned())));
        for (text, word) in [("{sesion}", "{sesion}"), ("{args}", "{args}"), ("{args.}", "{args.}"), ("x{tool", "{")] {
            assert_eq!(fill(text), Err(word.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_schema_may_stand_in_a_file_beside_the_config() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("written");
        write("good.json", r#"{"properties": {"to": {"type": "string"}}, "required": ["to"]}"#);
        write("list.json", "[]");
        write("half.json", "{");
        let told = |name: &str| {
            let text = format!(
                "[ladders.main]\nsteps = [\"openai/gpt-5-mini\"]\n[tools.t]\ndescription = \"d\"\ncommand = [\"true\"]\n\
                 schema = \"{name}\"\n"
            );
            let builtin = crate::catalog::Catalog::builtin().expect("the catalogue");
            let told = super::super::parse(&text, &directory.path().join("llmr.toml"), builtin);
            told.map(|config| config.tools["t"].schema.clone()).map_err(|problems| problems[0].message.clone())
        };
        let wanted = json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]});
        assert_eq!(told("good.json"), Ok(wanted));
        assert_eq!(told("list.json"), Err("the schema is no JSON object".to_owned()));
        assert!(told("half.json").is_err_and(|why| why.contains("half.json is no JSON")));
        assert!(told("none.json").is_err_and(|why| why.contains("cannot read the schema")));
    }
}
