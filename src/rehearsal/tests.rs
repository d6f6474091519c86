//! The rehearsal played against the real wire and transport: what is written for a provider is understood by it, and
//! what it says is understood by us.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::render::{Rendered, Said};
use super::*;
use crate::catalog::{AuthStyle, ProviderInfo, Wire};
use crate::domain::{
    Answer, ChatRequest, Finish, Message, ModelName, Role, Secret, Timeouts, ToolCall, TransportFault, Usage,
};
use crate::transport::{Fault, Limit, PLAIN_BODY, Transport, TransportOptions};
use crate::wire::{Assembled, Assembler, Decoded, Endpoint, StreamDecoder, decode, encode};

const WIRES: [Wire; 3] = [Wire::OpenAi, Wire::Anthropic, Wire::Gemini];
const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(150);

fn info(wire: Wire) -> ProviderInfo {
    ProviderInfo { wire: Some(wire), auth: AuthStyle::usual(wire), ..ProviderInfo::blank("scripted".into()) }
}

/// One exchange as the driver makes it: status, then what became of the body.
#[derive(Debug, PartialEq)]
enum Outcome {
    Fault(TransportFault),
    Status(u16, String),
    Whole(Decoded),
    Streamed(Assembled, Option<TransportFault>),
}

fn ask(provider: &Provider, model: &str, key: &str, stream: bool) -> Outcome {
    ask_within(LONG, provider, model, key, stream)
}

fn ask_within(patience: Duration, provider: &Provider, model: &str, key: &str, stream: bool) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let outcome = runtime.block_on(exchange(patience, provider, model, key, stream));
    outcome.unwrap_or_else(|fault| Outcome::Fault(fault.kind))
}

async fn exchange(
    patience: Duration,
    provider: &Provider,
    model: &str,
    key: &str,
    stream: bool,
) -> Result<Outcome, Fault> {
    let (wire, model, key, base_url) = (provider.wire(), ModelName::new(model), Secret::new(key), provider.base_url());
    let info = info(wire);
    let endpoint = Endpoint { provider: &info, model: &model, base_url: &base_url, key: Some(&key), ids: None };
    let request =
        ChatRequest { messages: vec![Message::text(Role::User, "Say hello.")], stream, ..ChatRequest::default() };
    let http = encode(&endpoint, &request).expect("a request");
    let transport = Transport::new(&TransportOptions::default()).expect("a transport");
    let timeouts = Timeouts { connect: LONG, first: patience, idle: patience, total: LONG, ..Timeouts::default() };
    let reply = transport.send(&http, &timeouts).await?;
    if reply.status != 200 {
        let (body, _) = reply.body.evidence(Limit::total(LONG)).await;
        return Ok(Outcome::Status(reply.status, String::from_utf8_lossy(&body).into_owned()));
    }
    if !stream {
        return Ok(Outcome::Whole(decode(wire, &reply.body.whole(PLAIN_BODY, Limit::idle(patience)).await?)));
    }
    let (mut body, mut decoder, mut assembler) = (reply.body, StreamDecoder::new(wire), Assembler::default());
    let mut fault = None;
    loop {
        match body.chunk(Limit::idle(patience)).await {
            Ok(Some(bytes)) => decoder.push(&bytes).iter().for_each(|event| assembler.push(event)),
            Ok(None) => break,
            Err(error) => {
                fault = Some(error.kind);
                break;
            }
        }
    }
    decoder.finish().iter().for_each(|event| assembler.push(event));
    Ok(Outcome::Streamed(assembler.finish(), fault))
}

fn play(wire: Wire, reply: Reply, stream: bool) -> Outcome {
    ask(&Provider::start(wire, reply).expect("a provider"), "m-1", "a-key", stream)
}

#[test]
fn a_good_answer_in_every_wire_whole_and_streamed() {
    let usage = Usage { input_tokens: Some(20), output_tokens: Some(6), cached_tokens: Some(16) };
    for wire in WIRES {
        let reply = Reply::Answer {
            text: "Grüße an die 世界 !".to_owned(),
            finish: Some("length".to_owned()),
            usage: Some(usage),
            headers: Default::default(),
            reasoning: None,
            tool_calls: Vec::new(),
        };
        let Outcome::Whole(Decoded::Answer(whole)) = play(wire, reply.clone(), false) else { panic!("{wire:?}") };
        assert_eq!(
            (whole.text.as_str(), &whole.finish, whole.usage),
            ("Grüße an die 世界 !", &Some(Finish::Length), usage)
        );
        let provider = Provider::start(wire, reply).expect("a provider");
        let Outcome::Streamed(Assembled::Answer(streamed), None) = ask(&provider, "m-1", "a-key", true) else {
            panic!("{wire:?}")
        };
        assert_eq!(streamed, whole);
        let seen = provider.requests().pop().expect("a request");
        assert_eq!((seen.model(), seen.key(), seen.streams()), (Some("m-1"), Some("a-key"), true), "{wire:?}");
        assert_eq!(provider.hits(), 1);
    }
}

#[test]
fn every_way_to_misbehave_is_seen_as_what_it_is() {
    let chunks = || vec!["Hello ".to_owned(), "wor".to_owned()];
    for wire in WIRES {
        let cut = || Reply::CutStream { chunks: chunks() };
        assert_eq!(play(wire, cut(), false), Outcome::Fault(TransportFault::Cut), "{wire:?}");
        let streamed = play(wire, cut(), true);
        assert!(
            matches!(&streamed, Outcome::Streamed(Assembled::Cut(a), Some(TransportFault::Cut)) if a.text == "Hello wor"),
            "{streamed:?}"
        );
        let error = |chunks| Reply::ErrorEvent { chunks, error: serde_json::Value::Null };
        assert_eq!(play(wire, error(chunks()), false), Outcome::Whole(Decoded::Failure));
        let streamed = play(wire, error(chunks()), true);
        assert!(
            matches!(&streamed, Outcome::Streamed(Assembled::Error { partial, .. }, None) if partial.text == "Hello wor"),
            "{streamed:?}"
        );
        let first = play(wire, error(Vec::new()), true);
        assert!(
            matches!(&first, Outcome::Streamed(Assembled::Error { partial, .. }, None) if partial.text.is_empty()),
            "{first:?}"
        );
        assert_eq!(play(wire, Reply::status(503, "busy"), true), Outcome::Status(503, "busy".to_owned()));
        for (reply, wanted) in [
            (Reply::Reset, TransportFault::Reset),
            (Reply::Refuse, TransportFault::Refused),
            (Reply::Raw { text: "SSH-2.0\r\n".to_owned() }, TransportFault::Other),
        ] {
            assert_eq!(play(wire, reply, false), Outcome::Fault(wanted), "{wire:?}");
        }
        let drip = Reply::SlowDrip { text: "a b c".to_owned(), every_ms: 1 };
        assert!(matches!(play(wire, drip.clone(), false), Outcome::Whole(Decoded::Answer(a)) if a.text == "a b c"));
        assert!(matches!(play(wire, drip, true), Outcome::Streamed(Assembled::Answer(a), None) if a.text == "a b c"));
    }
}

/// What the scripted provider of the next property says.
#[derive(Debug, Clone)]
struct Talk {
    chunks: Vec<String>,
    reasoning: Option<String>,
    tool_calls: Vec<ToolCall>,
}

fn talk() -> impl Strategy<Value = Talk> {
    let words = "[a-zß世🏔 ]{1,12}";
    let call = ("[a-z]{1,8}", prop::collection::btree_map(words, words, 0..3));
    let calls = prop::collection::vec(call, 0..4).prop_map(|calls| {
        let call = |(at, (name, arguments)): (usize, (String, _))| ToolCall {
            id: format!("call_{at}"),
            name,
            arguments: serde_json::to_string(&arguments).expect("JSON"),
        };
        calls.into_iter().enumerate().map(call).collect::<Vec<_>>()
    });
    let parts = (prop::collection::vec(words, 0..4), prop::option::of(words), calls);
    parts.prop_map(|(chunks, reasoning, tool_calls)| Talk { chunks, reasoning, tool_calls })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Words, thoughts and tool calls of many bytes each, in every wire, however the network cuts them.
    #[test]
    fn any_split_of_a_stream_gives_the_answer_that_comes_whole(
        talk in talk(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12), wire in prop::sample::select(WIRES.to_vec()),
    ) {
        let Talk { chunks, reasoning, tool_calls } = &talk;
        let said = Said { chunks, reasoning: reasoning.as_deref(), tool_calls };
        let finish = if tool_calls.is_empty() { "stop" } else { "tool_calls" };
        let seen = Seen { method: String::new(), path: String::new(), headers: Vec::new(), body: serde_json::Value::Null };
        let usage = Usage { input_tokens: Some(3), output_tokens: Some(2), cached_tokens: Some(1) };
        let rendered = Rendered { wire, seen: &seen, said, finish, usage };
        let stream = rendered.pieces().concat() + &rendered.ending().concat();
        let body = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).chain([0, body.len()]).collect();
        cuts.sort_unstable();
        let by_cuts: Vec<&[u8]> = cuts.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
        let by_bytes: Vec<&[u8]> = body.chunks(1).collect();
        let assembled = |pieces: &[&[u8]]| {
            let (mut decoder, mut assembler) = (StreamDecoder::new(wire), Assembler::default());
            for piece in pieces {
                decoder.push(piece).iter().for_each(|event| assembler.push(event));
            }
            decoder.finish().iter().for_each(|event| assembler.push(event));
            assembler.finish()
        };
        let streamed = assembled(&by_cuts);
        prop_assert_eq!(&streamed, &assembled(&by_bytes));
        let has_words = !chunks.concat().trim().is_empty();
        match (streamed, decode(wire, rendered.whole().as_bytes())) {
            (Assembled::Answer(streamed), Decoded::Answer(whole)) => {
                prop_assert!(has_words || !tool_calls.is_empty());
                prop_assert_eq!((&whole.text, whole.reasoning.as_str()), (&chunks.concat(), reasoning.as_deref().unwrap_or_default()));
                prop_assert_eq!(&whole.tool_calls, tool_calls);
                // OpenAI counts a stream only when asked to.
                prop_assert_eq!(Answer { usage: whole.usage, ..streamed }, whole);
            }
            (Assembled::Empty(_), Decoded::Failure) => prop_assert!(!has_words && tool_calls.is_empty()),
            other => prop_assert!(false, "{other:?}"),
        }
        // Cut anywhere before its end, a tool call is nothing that anybody could run.
        for cut in cuts.iter().take(cuts.len() - 1).filter(|_| !tool_calls.is_empty()) {
            let cut_off = assembled(&[&body[..*cut]]);
            if let Assembled::Answer(answer) = cut_off {
                prop_assert_eq!(&answer.tool_calls, tool_calls);
            }
        }
    }
}

#[test]
fn half_a_tool_call_is_no_answer_in_any_wire() {
    let half = ToolCall { id: "c1".to_owned(), name: "remove".to_owned(), arguments: "{\"path\": \"/".to_owned() };
    for wire in WIRES {
        let reply = || Reply::tool_calls(vec![half.clone()]);
        assert_eq!(play(wire, reply(), false), Outcome::Whole(Decoded::Failure), "{wire:?}");
        assert!(matches!(play(wire, reply(), true), Outcome::Streamed(Assembled::Empty(_), None)), "{wire:?}");
    }
}

#[test]
fn a_reply_can_come_later() {
    let provider = Provider::start(Wire::OpenAi, Reply::answer("at last").after(60)).expect("a provider");
    let said = |outcome| matches!(outcome, Outcome::Whole(Decoded::Answer(answer)) if answer.text == "at last");
    assert!(said(ask(&provider, "m", "k", false)));
    let late = Provider::start(Wire::OpenAi, Reply::answer("too late").after(20_000)).expect("a provider");
    assert_eq!(ask_within(SHORT, &late, "m", "k", false), Outcome::Fault(TransportFault::FirstTimeout));
}

#[test]
fn silence_runs_into_a_timer() {
    let play = |reply, stream| {
        let provider = Provider::start(Wire::OpenAi, reply).expect("a provider");
        ask_within(SHORT, &provider, "m-1", "a-key", stream)
    };
    let streamed = play(Reply::Stall { chunks: vec!["Hello".to_owned()] }, true);
    assert!(
        matches!(&streamed, Outcome::Streamed(Assembled::Cut(a), Some(TransportFault::IdleTimeout)) if a.text == "Hello"),
        "{streamed:?}"
    );
    assert_eq!(play(Reply::Hang, true), Outcome::Fault(TransportFault::FirstTimeout));
    // Pings keep the line busy; the one timer over a whole body ends it all the same.
    assert_eq!(play(Reply::Pings { chunks: vec![], every_ms: 5 }, false), Outcome::Fault(TransportFault::IdleTimeout));
}

#[test]
fn replies_come_in_order_and_by_model_and_key() {
    let script: Script = toml::from_str(
        r#"
        replies = [
            { status = { status = 429, headers = { retry-after = "5" }, body = { error = { message = "slow down" } } } },
            { answer = { text = "at last" } },
        ]
        [[cases]]
        model = "gone"
        replies = [{ status = { status = 404, body = "no such model" } }]
        [[cases]]
        key = "bad"
        replies = ["reset", { status = { status = 401 } }]
        "#,
    )
    .expect("a script");
    let provider = Provider::start(Wire::OpenAi, script).expect("a provider");
    let status = |outcome: Outcome| match outcome {
        Outcome::Status(status, body) => format!("{status} {body}"),
        Outcome::Whole(Decoded::Answer(answer)) => answer.text,
        other => format!("{other:?}"),
    };
    let ask = |model, key| status(ask(&provider, model, key, false));
    assert_eq!(ask("m", "good"), r#"429 {"error":{"message":"slow down"}}"#);
    assert_eq!(ask("gone", "good"), "404 no such model");
    assert_eq!(ask("m", "bad"), "Fault(Reset)");
    assert_eq!(ask("m", "bad"), "401 ");
    assert_eq!(ask("m", "good"), "at last");
    assert_eq!(ask("m", "good"), "at last");
    assert_eq!(provider.hits(), 6);
}

#[test]
fn an_unknown_word_in_a_script_is_an_error() {
    for text in ["replies = [\"hangg\"]", "reply = []", "replies = [{ answer = { txt = \"a\" } }]"] {
        assert!(toml::from_str::<Script>(text).is_err(), "{text}");
    }
}

#[test]
fn a_provider_that_is_dropped_hangs_up_on_everybody() {
    use std::io::{Read, Write};
    let provider = Provider::start(Wire::OpenAi, Reply::Hang).expect("a provider");
    let address = provider.base_url().replace("http://", "").replace("/v1", "");
    let mut asking = std::net::TcpStream::connect(&address).expect("a connection");
    asking.write_all(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}").expect("sent");
    let mut silent = std::net::TcpStream::connect(&address).expect("a connection");
    drop(provider);
    for stream in [&mut asking, &mut silent] {
        stream.set_read_timeout(Some(LONG)).expect("a timeout");
        let ended = stream.read(&mut [0]);
        assert!(!matches!(&ended, Ok(1..)), "{ended:?}");
        let kind = ended.err().map(|error| error.kind());
        assert_ne!(kind, Some(std::io::ErrorKind::WouldBlock));
    }
    assert!(std::net::TcpStream::connect(&address).is_err(), "nobody listens any more");
}

#[test]
fn the_night_is_as_it_was() {
    let night = night::start().expect("a night");
    let told: Vec<String> = night
        .parts
        .iter()
        .map(|part| {
            let outcome = match ask(&part.provider, &part.model, "a-key", false) {
                Outcome::Status(status, body) => {
                    serde_json::from_str::<serde_json::Value>(&body).expect("JSON");
                    status.to_string()
                }
                Outcome::Whole(Decoded::Answer(answer)) => {
                    let parsed = serde_json::from_str::<serde_json::Value>(&answer.text);
                    let valid = parsed.is_ok_and(|value| jsonschema::is_valid(&night::schema(), &value));
                    format!("{} {valid}", answer.finish.as_ref().map_or("-", Finish::as_str))
                }
                other => format!("{other:?}"),
            };
            format!("{} {} {outcome}", part.name, part.credentials.len())
        })
        .collect();
    let wanted = [
        "cerebras 1 402",
        "cloudflare 1 401",
        "groq 1 429",
        "mistral 1 length false",
        "openrouter 1 stop false",
        "gemini 3 429",
        "local 0 stop true",
    ];
    assert_eq!(told, wanted);
}

/// Not a clock test of the code under load, but a guard against a start that sleeps or polls.
#[test]
#[expect(clippy::disallowed_methods, reason = "the stopwatch of a test")]
fn starting_and_stopping_is_quick() {
    let started = Instant::now();
    for _ in 0..50 {
        drop(Provider::start(Wire::OpenAi, Reply::Hang).expect("a provider"));
    }
    let each = started.elapsed() / 50;
    println!("start and stop: {each:?}");
    assert!(each < Duration::from_millis(20), "{each:?}");
}
