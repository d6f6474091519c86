//! `llmr log --format otlp-json`: what a reader as strict as the protocol makes of it.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::Reply;
use serde_json::{Map, Value, json};

use crate::stage::{Follower, Stage, config, declared, keys, openai};

/// A span as a collector has it after reading.
#[derive(Debug)]
struct Span {
    trace: String,
    id: String,
    parent: Option<String>,
    name: String,
    kind: u64,
    time: (u64, u64),
    failed: bool,
    attributes: BTreeMap<String, Value>,
}

impl Span {
    /// The attribute as JSON has it: text, number or nothing.
    fn get(&self, key: &str) -> &Value {
        self.attributes.get(key).unwrap_or(&Value::Null)
    }
}

/// What is wrong with a line.
type Wrong = String;

fn wrong<T>(what: &str, value: &Value) -> Result<T, Wrong> {
    Err(format!("{what}: {value}"))
}

/// The fields of a message, which may be these only.
fn fields<'a>(value: &'a Value, known: &[&str]) -> Result<&'a Map<String, Value>, Wrong> {
    let Some(fields) = value.as_object() else { return wrong("no message", value) };
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => wrong(&format!("no field `{unknown}` is known"), value),
        None => Ok(fields),
    }
}

/// The messages of a repeated field, which may not be empty here: senders should not send empty envelopes.
fn list<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a Vec<Value>, Wrong> {
    let items = fields.get(name).and_then(Value::as_array).filter(|items| !items.is_empty());
    items.ok_or_else(|| format!("`{name}` is no list or has nothing in it"))
}

fn only(items: &[Value]) -> Result<&Value, Wrong> {
    if let [one] = items { Ok(one) } else { Err(format!("{} in place of one", items.len())) }
}

fn text(value: Option<&Value>) -> Result<String, Wrong> {
    let value = value.unwrap_or(&Value::Null);
    value.as_str().filter(|text| !text.is_empty()).map_or_else(|| wrong("no text", value), |text| Ok(text.to_owned()))
}

/// So many bytes, in hexadecimal and not in base64; zeroes alone are not valid.
fn id(value: Option<&Value>, bytes: usize) -> Result<String, Wrong> {
    let id = text(value)?;
    let hex = id.len() == 2 * bytes && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if hex && id.bytes().any(|b| b != b'0') { Ok(id) } else { Err(format!("no id of {bytes} bytes: {id}")) }
}

/// A number of 64 bits: decimal text.
fn long<T: std::str::FromStr + ToString>(value: Option<&Value>) -> Result<T, Wrong> {
    let digits = text(value)?;
    let number = digits.parse::<T>().map_err(|_| format!("no number: {digits}"))?;
    if number.to_string() == digits { Ok(number) } else { Err(format!("not as it is written: {digits}")) }
}

/// The number of an enumeration, never its name.
fn number(value: Option<&Value>, known: &[u64]) -> Result<u64, Wrong> {
    let value = value.unwrap_or(&Value::Null);
    value.as_u64().filter(|number| known.contains(number)).map_or_else(|| wrong("not of the enumeration", value), Ok)
}

fn attributes(message: &Map<String, Value>) -> Result<BTreeMap<String, Value>, Wrong> {
    let mut read = BTreeMap::new();
    for attribute in list(message, "attributes")? {
        let pair = fields(attribute, &["key", "value"])?;
        let any = pair.get("value").unwrap_or(&Value::Null);
        let any = fields(any, &["stringValue", "intValue", "doubleValue", "boolValue"])?;
        let value = match any.iter().collect::<Vec<_>>()[..] {
            [(kind, value)] if kind == "stringValue" => Value::from(text(Some(value))?),
            [(kind, value)] if kind == "intValue" => Value::from(long::<i64>(Some(value))?),
            [(kind, value)] if kind == "doubleValue" && value.is_number() => value.clone(),
            [(kind, value)] if kind == "boolValue" && value.is_boolean() => value.clone(),
            _ => return wrong("not one value of its kind", attribute),
        };
        let key = text(pair.get("key"))?;
        if read.insert(key.clone(), value).is_some() {
            return Err(format!("`{key}` stands twice"));
        }
    }
    Ok(read)
}

fn span(value: &Value) -> Result<Span, Wrong> {
    let names = ["traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"];
    let span = fields(value, &[&names[..], &["attributes", "status"]].concat())?;
    let status = span.get("status").map(|status| fields(status, &["code", "message"])).transpose()?;
    let code = status.map(|status| number(status.get("code"), &[1, 2])).transpose()?;
    let time = (long(span.get("startTimeUnixNano"))?, long(span.get("endTimeUnixNano"))?);
    if time.0 > time.1 || time.0 == 0 {
        return wrong("it ends before it begins", value);
    }
    Ok(Span {
        trace: id(span.get("traceId"), 16)?,
        id: id(span.get("spanId"), 8)?,
        parent: span.get("parentSpanId").map(|parent| id(Some(parent), 8)).transpose()?,
        name: text(span.get("name"))?,
        kind: number(span.get("kind"), &[1, 2, 3, 4, 5])?,
        time,
        failed: code == Some(2),
        attributes: attributes(span)?,
    })
}

/// Reads a line: one trace of one request, whose first span is the root.
fn read(line: &str) -> Result<Vec<Span>, Wrong> {
    let data: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let resource =
        fields(only(list(fields(&data, &["resourceSpans"])?, "resourceSpans")?)?, &["resource", "scopeSpans"])?;
    let told = attributes(fields(resource.get("resource").unwrap_or(&Value::Null), &["attributes"])?)?;
    if told.get("service.name") != Some(&json!("llmr")) || !told.contains_key("service.version") {
        return Err(format!("another service: {told:?}"));
    }
    let scope = fields(only(list(resource, "scopeSpans")?)?, &["scope", "spans", "schemaUrl"])?;
    text(fields(scope.get("scope").unwrap_or(&Value::Null), &["name", "version"])?.get("name"))?;
    text(scope.get("schemaUrl"))?;
    let spans: Vec<Span> = list(scope, "spans")?.iter().map(span).collect::<Result<_, _>>()?;
    let (root, rest) = spans.split_first().ok_or("no span")?;
    let below = |span: &Span| {
        let within = root.time.0 <= span.time.0 && span.time.1 <= root.time.1;
        span.parent.as_ref() == Some(&root.id) && span.trace == root.trace && within
    };
    let alone = |span: &Span| spans.iter().filter(|other| other.id == span.id).count() == 1;
    match root.parent.is_none() && rest.iter().all(below) && spans.iter().all(alone) {
        true => Ok(spans),
        false => Err(format!("no tree: {spans:?}")),
    }
}

fn traces(out: &str) -> Vec<Vec<Span>> {
    out.lines().map(|line| read(line).unwrap_or_else(|why| panic!("{why} in {line}"))).collect()
}

/// What must not be in a trace: the prompt, the answer, what a provider said, and the key.
const PRIVATE: &[&str] = &["tangerine", "marmalade", "zenithal", "Zq7xW2pL9vT4mR8kY3nB6cJ1hF5dS0"];

/// Four requests: `r1` answered by the second step, `r2` by none, `r3` invalid, `r4` begun and never ended.
fn four() -> Stage {
    let words = |words: &str| json!({"error": {"message": words}});
    let bad = openai(Reply::status(500, words("zenithal trouble with `tangerine`, Zq7xW2pL9vT4mR8kY3nB6cJ1hF5dS0")));
    let good = openai(Reply::answer("marmalade"));
    let picky = openai(Reply::status(400, words("zenithal: invalid value `tangerine` for messages[0]")));
    let text = config(&[("groq", &bad), ("good", &good)])
        + &keys("groq", &[("own", "{ env = \"LAB_KEY\" }")])
        + &declared("picky", &picky)
        + "[ladders.dead]\nsteps = [\"groq/m\"]\n";
    let mut stage = Stage::with(&text);
    stage.set("LAB_KEY", "Zq7xW2pL9vT4mR8kY3nB6cJ1hF5dS0");
    for (args, code) in [(&["r1"][..], 0), (&["r2", "-m", "dead"], 4), (&["r3", "-m", "picky/m"], 6)] {
        stage.run(&[&["chat", "tangerine", "--request-id"], args].concat()).exits(code);
    }
    let unfinished = "INSERT INTO requests (id, ladder, started_at, latency_us, outcome, place) VALUES ('r4', '', \
                      1787454000000, 0, 'unfinished', 100)";
    stage.sql().execute(unfinished, []).expect("written");
    stage
}

#[test]
fn a_collector_can_read_every_line() {
    let stage = four();
    let out = stage.run(&["log", "--format", "otlp-json"]).exits(0).out;
    let traces = traces(&out);
    let told: Vec<(&str, bool, &Value)> =
        traces.iter().map(|spans| (spans[0].name.as_str(), spans[0].failed, spans[0].get("error.type"))).collect();
    let (exhausted, refused) = (json!("exhausted"), json!("refused"));
    let none = &Value::Null;
    assert_eq!(told[..2], [("llmr main", false, none), ("llmr dead", true, &exhausted)]);
    assert_eq!((told[2].1, told[2].2, told[3]), (true, &refused, ("llmr", false, none)));
    let [root, failed, answered] = &traces[0][..] else { panic!("three spans: {out}") };
    assert_eq!((root.kind, failed.kind, answered.kind), (1, 3, 3));
    assert!(root.attributes.keys().all(|key| key.starts_with("llmr.")), "counted twice: {root:?}");
    assert_eq!((root.get("llmr.request_id"), root.get("llmr.outcome")), (&json!("r1"), &json!("answered")));
    for (span, key, value) in [
        (failed, "gen_ai.provider.name", json!("groq")),
        (failed, "error.type", json!("server_error")),
        (failed, "http.response.status_code", json!(500)),
        (failed, "llmr.deployment", json!("groq/m@own")),
        (answered, "gen_ai.operation.name", json!("chat")),
        (answered, "gen_ai.provider.name", json!("good")),
        (answered, "gen_ai.request.model", json!("m")),
        (answered, "error.type", Value::Null),
        (answered, "llmr.step", json!(1)),
    ] {
        assert_eq!(span.get(key), &value, "{key}");
    }
    assert!(answered.get("gen_ai.usage.input_tokens").is_u64(), "{answered:?}");
    assert_eq!((answered.name.as_str(), answered.failed, failed.failed), ("chat m", false, true));
}

#[test]
fn no_content_and_no_key_is_in_it_and_a_second_export_is_the_same() {
    let stage = four();
    let export = || stage.run(&["log", "--format", "otlp-json"]).exits(0);
    let first = export();
    let said = stage.run(&["log", "--json"]).exits(0).out;
    assert!(said.contains("zenithal") && said.contains("tangerine"), "there is something to keep back: {said}");
    for private in PRIVATE {
        assert!(!first.out.contains(private), "{private} in {}", first.out);
    }
    assert_eq!((&first.err, &first.out), (&String::new(), &export().out));
    stage
        .run(&["log", "r2", "--format", "otlp-json"])
        .exits(0)
        .prints(&format!("{}\n", first.out.lines().nth(1).expect("a second line")));
}

#[test]
fn a_follower_exports_each_request_as_it_ends() {
    let stage = four();
    let mut follower = Follower::of(&stage, &["--format", "otlp-json", "-n", "1"]);
    let mut request = || {
        let line = follower.line();
        let spans = read(&line).unwrap_or_else(|why| panic!("{why} in {line}"));
        spans[0].get("llmr.request_id").clone()
    };
    assert_eq!(request(), json!("r3"), "what has not ended waits");
    // The providers are gone by now; that is an end too.
    stage.run(&["chat", "tangerine", "--request-id", "r5"]).exits(4);
    assert_eq!(request(), json!("r5"));
    let ends = "UPDATE requests SET outcome = 'answered', place = 200 WHERE id = 'r4'";
    stage.sql().execute(ends, []).expect("written");
    assert_eq!(request(), json!("r4"));
    follower.stop().exits(130);
    assert_eq!(follower.line(), "");
}

#[test]
fn the_format_is_one_and_an_empty_log_is_empty() {
    let stage = Stage::bare();
    for both in [&["--json", "--format", "otlp-json"][..], &["--redact", "--format", "otlp-json"]] {
        stage.run(&[&["log"], both].concat()).exits(2).prints("").says(&[both[0], "--format"]);
    }
    stage.run(&["log", "--format", "otlp"]).exits(2).prints("").says(&["otlp", "otlp-json"]);
    stage.run(&["log", "--format", "otlp-json"]).exits(0).prints("");
    let stage = four();
    let json = stage.run(&["log", "--json"]).exits(0).out;
    stage.run(&["log", "--format", "json"]).exits(0).prints(&json);
    let text = stage.run(&["log"]).exits(0).out;
    stage.run(&["log", "--format", "text"]).exits(0).prints(&text);
}

#[test]
fn the_reader_refuses_what_the_protocol_does_not_allow() {
    let stage = four();
    let line = stage.run(&["log", "r1", "--format", "otlp-json"]).exits(0).out;
    let spans = read(&line).expect("as it is, it is right");
    let (trace, root, child) = (&spans[0].trace, &spans[0].id, &spans[1].id);
    let (from, to) = (spans[1].time.0.to_string(), spans[0].time.1.to_string());
    for (part, broken) in [
        ("\"resourceSpans\"".to_owned(), "\"resource_spans\"".to_owned()),
        (format!("\"{trace}\""), format!("\"{}\"", trace.to_uppercase())),
        (format!("\"{trace}\""), "\"W47/95gDgQPSabYzgT/GDA==\"".to_owned()),
        (format!("\"{child}\""), format!("\"{root}\"")),
        (format!("\"parentSpanId\":\"{root}\""), format!("\"parentSpanId\":\"{child}\"")),
        (format!("\"spanId\":\"{child}\""), "\"spanId\":\"0000000000000000\"".to_owned()),
        (format!("\"startTimeUnixNano\":\"{from}\""), format!("\"startTimeUnixNano\":{from}")),
        (format!("\"endTimeUnixNano\":\"{to}\""), "\"endTimeUnixNano\":\"1\"".to_owned()),
        ("\"kind\":3".to_owned(), "\"kind\":\"SPAN_KIND_CLIENT\"".to_owned()),
        ("\"intValue\":\"500\"".to_owned(), "\"intValue\":500".to_owned()),
        ("{\"code\":2}".to_owned(), "{\"code\":2,\"text\":\"no\"}".to_owned()),
        ("\"llmr.kind\"".to_owned(), "\"llmr.step\"".to_owned()),
    ] {
        let changed = line.replace(&part, &broken);
        assert_ne!(changed, line, "{part} is not in {line}");
        assert!(read(&changed).is_err(), "{broken} is taken");
    }
}
