use super::*;
use crate::domain::{AttemptKind, Execution, Usage};

fn at(milliseconds: u64) -> Timestamp {
    let start: Timestamp = "2026-08-23T03:00:00Z".parse().expect("a time");
    start + Duration::from_millis(milliseconds)
}

/// An attempt that was answered, sent so many milliseconds after the start.
fn answered(name: &str, sent: u64) -> AttemptRecord {
    AttemptRecord {
        deployment: name.parse().expect("a deployment"),
        account: "acme".into(),
        step: 2,
        kind: AttemptKind::First,
        class: None,
        scope: None,
        dimension: None,
        status: Some(200),
        rule: None,
        evidence: None,
        started_at: at(sent),
        ttft: Some(Duration::from_millis(250)),
        latency: Duration::from_micros(900_500),
        held_until: None,
        usage: Usage { input_tokens: Some(70), output_tokens: Some(8), cached_tokens: Some(58) },
        cost_usd: Some(0.0125),
        execution: Execution::Ran,
        given_up: None,
        extracted: None,
        judged: false,
    }
}

fn limited(name: &str, sent: u64) -> AttemptRecord {
    AttemptRecord {
        step: 0,
        class: Some(Class::RateLimit),
        scope: Some(ScopeLevel::Model),
        dimension: Some(Dimension::Tpm),
        status: Some(429),
        rule: Some("groq.tpm".to_owned()),
        evidence: Some("Rate limit reached for the zenithal prompt".to_owned()),
        ttft: None,
        latency: Duration::from_millis(7),
        held_until: Some(at(3_600_000)),
        usage: Usage::default(),
        cost_usd: None,
        execution: Execution::NotRun,
        ..answered(name, sent)
    }
}

fn outrun(name: &str, sent: u64) -> AttemptRecord {
    AttemptRecord {
        step: 1,
        kind: AttemptKind::Hedge,
        status: None,
        ttft: None,
        latency: Duration::from_millis(400),
        usage: Usage::default(),
        cost_usd: None,
        execution: Execution::MayHaveRun,
        given_up: Some(GivenUp::Outrun),
        ..answered(name, sent)
    }
}

fn request(outcome: Outcome, attempts: Vec<AttemptRecord>) -> RequestRecord {
    RequestRecord {
        id: "req_1a02c21ae80nfmp3y".into(),
        ladder: "main".into(),
        started_at: at(0),
        latency: Duration::from_secs(1),
        outcome,
        deployment: None,
        step: None,
        usage: Usage::default(),
        cost_usd: None,
        retry_at: None,
        error: None,
        retries_denied: 0,
        attempts,
    }
}

/// The spans, the request's own first.
fn spans(record: &RequestRecord) -> Vec<Value> {
    let trace = otlp_json(record);
    trace["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone()
}

fn value<'a>(span: &'a Value, key: &str) -> Option<&'a Value> {
    let attributes = span["attributes"].as_array().expect("attributes");
    attributes.iter().find(|attribute| attribute["key"] == key).map(|attribute| &attribute["value"])
}

#[test]
fn a_request_is_a_trace_to_the_letter() {
    let attempts = vec![limited("groq/llama@team", 0), outrun("lab/qwen3-8b", 10), answered("mistral/small@own", 20)];
    let record = RequestRecord {
        deployment: Some("mistral/small@own".parse().expect("a deployment")),
        step: Some(2),
        usage: Usage { input_tokens: Some(70), output_tokens: Some(8), cached_tokens: Some(58) },
        cost_usd: Some(0.0125),
        retries_denied: 1,
        error: Some("not the zenithal prompt".to_owned()),
        ..request(Outcome::Answered, attempts)
    };
    let line = otlp_json(&record).to_string();
    assert!(!line.contains('\n') && !line.contains("zenithal"), "{line}");
    // As it is, but for the line ends.
    let shown = line.replace(r#"{"traceId""#, "\n{\"traceId\"").replace(r#"{"key""#, "\n  {\"key\"");
    let shown = shown.replace(r#""scopeSpans""#, "\n\"scopeSpans\"").replace(r#","name":"#, ",\n \"name\":");
    let shown = shown.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    insta::assert_snapshot!(shown, @r#"
    {"resourceSpans":[{"resource":{"attributes":[
      {"key":"service.name","value":{"stringValue":"llmr"}},
      {"key":"service.version","value":{"stringValue":"VERSION"}}]},
    "scopeSpans":[{"scope":{"name":"llmr","version":"VERSION"},"spans":[
    {"traceId":"1519f051a390ef0b783562ff1268344b","spanId":"675b6363215665a4",
     "name":"llmr main","kind":1,"startTimeUnixNano":"1787454000000000000","endTimeUnixNano":"1787454001000000000","attributes":[
      {"key":"llmr.request_id","value":{"stringValue":"req_1a02c21ae80nfmp3y"}},
      {"key":"llmr.ladder","value":{"stringValue":"main"}},
      {"key":"llmr.outcome","value":{"stringValue":"answered"}},
      {"key":"llmr.deployment","value":{"stringValue":"mistral/small@own"}},
      {"key":"llmr.step","value":{"intValue":"2"}},
      {"key":"llmr.input_tokens","value":{"intValue":"70"}},
      {"key":"llmr.output_tokens","value":{"intValue":"8"}},
      {"key":"llmr.cached_tokens","value":{"intValue":"58"}},
      {"key":"llmr.cost_usd","value":{"doubleValue":0.0125}},
      {"key":"llmr.retries_denied","value":{"intValue":"1"}}]},
    {"traceId":"1519f051a390ef0b783562ff1268344b","spanId":"ed8991689cf44218","parentSpanId":"675b6363215665a4",
     "name":"chat llama","kind":3,"startTimeUnixNano":"1787454000000000000","endTimeUnixNano":"1787454000007000000","attributes":[
      {"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},
      {"key":"gen_ai.provider.name","value":{"stringValue":"groq"}},
      {"key":"gen_ai.request.model","value":{"stringValue":"llama"}},
      {"key":"error.type","value":{"stringValue":"rate_limit"}},
      {"key":"http.response.status_code","value":{"intValue":"429"}},
      {"key":"llmr.deployment","value":{"stringValue":"groq/llama@team"}},
      {"key":"llmr.step","value":{"intValue":"0"}},
      {"key":"llmr.kind","value":{"stringValue":"first"}},
      {"key":"llmr.scope","value":{"stringValue":"model"}},
      {"key":"llmr.dimension","value":{"stringValue":"tpm"}},
      {"key":"llmr.rule","value":{"stringValue":"groq.tpm"}},
      {"key":"llmr.held_until","value":{"stringValue":"2026-08-23T04:00:00Z"}},
      {"key":"llmr.execution","value":{"stringValue":"not_run"}}],"status":{"code":2}},
    {"traceId":"1519f051a390ef0b783562ff1268344b","spanId":"f5f334014448bbc2","parentSpanId":"675b6363215665a4",
     "name":"chat qwen3-8b","kind":3,"startTimeUnixNano":"1787454000010000000","endTimeUnixNano":"1787454000410000000","attributes":[
      {"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},
      {"key":"gen_ai.provider.name","value":{"stringValue":"lab"}},
      {"key":"gen_ai.request.model","value":{"stringValue":"qwen3-8b"}},
      {"key":"llmr.deployment","value":{"stringValue":"lab/qwen3-8b"}},
      {"key":"llmr.step","value":{"intValue":"1"}},
      {"key":"llmr.kind","value":{"stringValue":"hedge"}},
      {"key":"llmr.execution","value":{"stringValue":"may_have_run"}},
      {"key":"llmr.given_up","value":{"stringValue":"outrun"}}]},
    {"traceId":"1519f051a390ef0b783562ff1268344b","spanId":"b8c1c9ffaed7a4e0","parentSpanId":"675b6363215665a4",
     "name":"chat small","kind":3,"startTimeUnixNano":"1787454000020000000","endTimeUnixNano":"1787454000920500000","attributes":[
      {"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},
      {"key":"gen_ai.provider.name","value":{"stringValue":"mistral_ai"}},
      {"key":"gen_ai.request.model","value":{"stringValue":"small"}},
      {"key":"http.response.status_code","value":{"intValue":"200"}},
      {"key":"gen_ai.usage.input_tokens","value":{"intValue":"70"}},
      {"key":"gen_ai.usage.output_tokens","value":{"intValue":"8"}},
      {"key":"gen_ai.usage.cache_read.input_tokens","value":{"intValue":"58"}},
      {"key":"llmr.deployment","value":{"stringValue":"mistral/small@own"}},
      {"key":"llmr.step","value":{"intValue":"2"}},
      {"key":"llmr.kind","value":{"stringValue":"first"}},
      {"key":"llmr.execution","value":{"stringValue":"ran"}},
      {"key":"llmr.ttft_s","value":{"doubleValue":0.25}},
      {"key":"llmr.cost_usd","value":{"doubleValue":0.0125}}]}],"schemaUrl":"https://opentelemetry.io/schemas/1.41.0"}]}]}
    "#);
}

#[test]
fn only_what_nobody_made_good_is_an_error() {
    for outcome in Outcome::ALL.iter().copied() {
        let fine = [Outcome::Answered, Outcome::Interrupted, Outcome::Unfinished].contains(&outcome);
        let spans = spans(&request(outcome, vec![limited("a/m", 0), outrun("b/m", 1), answered("c/m", 2)]));
        let error = value(&spans[0], "error.type").map(|error| error["stringValue"].clone());
        let wanted = (!fine).then(|| outcome.as_str());
        assert_eq!(error, wanted.map(Value::from), "{outcome}");
        let status: Vec<&Value> = spans.iter().map(|span| &span["status"]["code"]).collect();
        let own = if fine { Value::Null } else { json!(2) };
        assert_eq!(status, [&own, &json!(2), &Value::Null, &Value::Null], "{outcome}");
    }
}

#[test]
fn every_class_is_the_type_of_its_error() {
    for class in Class::ALL.iter().copied() {
        let failed = AttemptRecord { class: Some(class), ..limited("a/m", 0) };
        let spans = spans(&request(Outcome::Exhausted, vec![failed]));
        assert_eq!(value(&spans[1], "error.type"), Some(&json!({ "stringValue": class.as_str() })));
    }
    let spans = spans(&request(Outcome::Answered, vec![outrun("a/m", 0), answered("b/m", 0)]));
    assert_eq!((value(&spans[1], "error.type"), value(&spans[2], "error.type")), (None, None));
    assert_eq!(value(&spans[1], "llmr.given_up"), Some(&json!({ "stringValue": "outrun" })));
}

#[test]
fn an_attempt_keeps_its_id_whatever_becomes_of_the_others() {
    let ids = |attempts: Vec<AttemptRecord>| -> Vec<Value> {
        spans(&request(Outcome::Answered, attempts)).iter().map(|span| span["spanId"].clone()).collect()
    };
    // Three in the same millisecond, two of them to the same deployment.
    let attempts = vec![limited("a/m", 0), limited("b/m", 5), limited("b/m", 5), answered("c/m", 5)];
    let all = ids(attempts.clone());
    assert_eq!(all, ids(attempts.clone()));
    let mut unlike = all.clone();
    unlike.sort_by_key(Value::to_string);
    unlike.dedup();
    assert_eq!(unlike.len(), 5, "{all:?}");
    assert_eq!(ids(attempts[1..].to_vec()), [&all[..1], &all[2..]].concat(), "the first one was pruned");
    let ended = AttemptRecord { class: None, given_up: Some(GivenUp::Deadline), ..attempts[3].clone() };
    assert_eq!(ids([&attempts[..3], &[ended]].concat()), all, "what is learned later is no part of it");
}

#[test]
fn the_request_reaches_over_all_that_is_known_of_it() {
    let reach = |record: &RequestRecord| {
        let root = &spans(record)[0];
        let time = |name: &str| root[name].as_str().expect("text").parse::<u64>().expect("a number") - nanos(at(0));
        (time("startTimeUnixNano"), time("endTimeUnixNano"))
    };
    let ended = request(Outcome::Answered, vec![answered("a/m", 20)]);
    assert_eq!(reach(&ended), (0, 1_000_000_000));
    let died = RequestRecord { latency: Duration::ZERO, ..request(Outcome::Unfinished, vec![answered("a/m", 20)]) };
    assert_eq!(reach(&died), (0, 920_500_000));
    assert_eq!(reach(&RequestRecord { attempts: Vec::new(), ..died }), (0, 0));
    let again = RequestRecord { started_at: at(5_000), ..ended };
    assert_eq!(reach(&again), (20_000_000, 6_000_000_000), "an earlier run made the attempt");
}

#[test]
fn what_the_form_has_no_room_for_is_left_out() {
    let odd = AttemptRecord {
        usage: Usage { input_tokens: Some(u64::MAX), output_tokens: Some(0), cached_tokens: None },
        cost_usd: Some(f64::NAN),
        started_at: Timestamp::MIN,
        latency: Duration::MAX,
        ..answered("a/m", 0)
    };
    let record = RequestRecord {
        ladder: "".into(),
        started_at: Timestamp::MAX,
        cost_usd: Some(f64::INFINITY),
        ..request(Outcome::Answered, vec![odd])
    };
    let [root, attempt] = &spans(&record)[..] else { panic!("two spans") };
    assert_eq!((&root["name"], value(root, "llmr.ladder")), (&json!("llmr"), None));
    for (span, key) in [
        (root, "llmr.cost_usd"),
        (attempt, "llmr.cost_usd"),
        (attempt, "gen_ai.usage.input_tokens"),
        (attempt, "gen_ai.usage.cache_read.input_tokens"),
    ] {
        assert_eq!(value(span, key), None, "{key}");
    }
    assert_eq!(value(attempt, "gen_ai.usage.output_tokens"), Some(&json!({ "intValue": "0" })));
    assert_eq!(
        (&attempt["startTimeUnixNano"], &attempt["endTimeUnixNano"]),
        (&json!("0"), &json!(u64::MAX.to_string()))
    );
}

#[test]
fn providers_have_the_names_of_the_conventions() {
    let catalog = crate::catalog::Catalog::builtin().expect("whole");
    for (ours, theirs) in [
        ("anthropic", "anthropic"),
        ("azure", "azure.ai.openai"),
        ("bedrock", "aws.bedrock"),
        ("cohere", "cohere"),
        ("deepseek", "deepseek"),
        ("gemini", "gcp.gemini"),
        ("groq", "groq"),
        ("mistral", "mistral_ai"),
        ("moonshot", "moonshot_ai"),
        ("openai", "openai"),
        ("perplexity", "perplexity"),
        ("vertex", "gcp.vertex_ai"),
        ("xai", "x_ai"),
    ] {
        assert_eq!(well_known(&ours.into()), theirs);
        assert!(catalog.provider(&ours.into()).is_some(), "the catalogue calls it so: {ours}");
    }
    assert_eq!(well_known(&"lab".into()), "lab");
}
