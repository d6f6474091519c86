//! Recorded-style replies of `fixtures/replies`, and the requests that are written.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::domain::{ToolCall, ToolPiece, Usage};

const WIRES: [Wire; 3] = [Wire::OpenAi, Wire::Anthropic, Wire::Gemini];

fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/replies").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every reply of one kind, so that a new file cannot be forgotten.
fn names(extension: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/replies");
    let entries = std::fs::read_dir(folder).expect("the folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let mut names: Vec<String> = names.filter(|name| name.ends_with(extension)).collect();
    names.sort();
    names
}

fn wire_of(name: &str) -> Wire {
    match name.split('-').next() {
        Some("anthropic") => Wire::Anthropic,
        Some("gemini") => Wire::Gemini,
        _ => Wire::OpenAi,
    }
}

fn usage(input: u64, output: u64, cached: Option<u64>) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(output), cached_tokens: cached }
}

/// An answer in short: words, thoughts, calls, finish, tokens, and whether there was anything else.
fn answer(
    text: &str,
    reasoning: &str,
    calls: &[[&str; 3]],
    finish: Finish,
    usage: Usage,
    other_content: bool,
) -> Answer {
    let call = |[id, name, arguments]: &[&str; 3]| ToolCall {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    let tool_calls = calls.iter().map(call).collect();
    let (text, reasoning) = (text.to_owned(), reasoning.to_owned());
    Answer { text, reasoning, tool_calls, finish: Some(finish), usage, other_content, order: Vec::new() }
}

/// The replies that are answers; all others must be failures.
fn answers() -> Vec<(&'static str, Answer)> {
    let usual = usage(12, 5, Some(8));
    let words = |text, finish| answer(text, "", &[], finish, usual, false);
    let thought = |reasoning, other| answer("42", reasoning, &[], Finish::Stop, usual, other);
    let cities = "Zwei Städte: 東京, Köln";
    let tools = |calls, other| answer("Ich schaue nach.", cities, calls, Finish::ToolCalls, usual, other);
    let gemini_id = format!("call_{}", calls::hashed(&["resp-1", "2", "wetter", r#"{"ort":"東京"}"#], 16));
    let function_id = format!("call_{}", calls::hashed(&["", "0", "f", "{}"], 16));
    vec![
        ("anthropic-answer.json", words("Grüße, 世界!", Finish::Stop)),
        ("anthropic-length.json", words("half", Finish::Length)),
        ("anthropic-thinking.json", thought("hm", true)),
        ("anthropic-tools.json", tools(&[["toolu_1", "wetter", r#"{"ort":"東京"}"#], ["toolu_2", "alle", "{}"]], true)),
        ("deepseek-answer.json", answer("deep", "", &[], Finish::Stop, usage(20, 3, Some(16)), false)),
        ("gemini-answer.json", words("Grüße, 世界!", Finish::Stop)),
        ("gemini-thinking.json", thought("hm", false)),
        ("gemini-tools.json", tools(&[[&gemini_id, "wetter", r#"{"ort":"東京"}"#], ["fc2", "alle", "{}"]], false)),
        ("openai-answer.json", words("Grüße, 世界!", Finish::Stop)),
        ("openai-function-call.json", answer("", "", &[[&function_id, "f", "{}"]], Finish::ToolCalls, usual, false)),
        ("openai-length.json", words("half an ans", Finish::Length)),
        ("openai-parts.json", answer("Hello world", "hm", &[], Finish::Stop, usual, false)),
        ("openai-reasoning.json", thought("six by nine", false)),
        ("openai-tools-two.json", {
            let [tokyo, cologne] = [r#"{"ort": "東京"}"#, r#"{"ort": "Köln"}"#];
            tools(&[["call_1", "wetter", tokyo], ["call_2", "wetter", cologne]], false)
        }),
        ("openai-tools.json", answer("", "", &[["c1", "f", "{}"]], Finish::ToolCalls, usual, false)),
        ("xai-answer.json", answer("thought", "", &[], Finish::Stop, usage(20, 40, None), false)),
    ]
}

#[test]
fn whole_replies() {
    let answers = answers();
    let mut found = 0;
    for name in names(".json") {
        let decoded = decode(wire_of(&name), &fixture(&name));
        match answers.iter().find(|(known, _)| *known == name) {
            Some((_, wanted)) => {
                found += 1;
                let Decoded::Answer(decoded) = decoded else { panic!("{name}") };
                assert_eq!(Answer { order: Vec::new(), ..decoded }, *wanted, "{name}");
            }
            None => assert_eq!(decoded, Decoded::Failure, "{name}"),
        }
    }
    assert_eq!(found, answers.len());
}

#[test]
fn what_is_no_json_is_a_failure() {
    for body in ["", "null", "[]", "\"text\"", "<html>502</html>", "{\"choices\":[{\"message\":{\"content\":\"cut"] {
        for wire in WIRES {
            assert_eq!(decode(wire, body.as_bytes()), Decoded::Failure, "{body}");
        }
    }
}

fn play(wire: Wire, chunks: &[&[u8]]) -> (Vec<StreamEvent>, String) {
    let mut decoder = StreamDecoder::new(wire);
    let mut events: Vec<StreamEvent> = chunks.iter().flat_map(|chunk| decoder.push(chunk)).collect();
    events.extend(decoder.finish());
    (events, decoder.evidence().to_owned())
}

fn assembled(wire: Wire, body: &[u8]) -> Assembled {
    let mut assembler = Assembler::default();
    play(wire, &[body]).0.iter().for_each(|event| assembler.push(event));
    assembler.finish()
}

/// What becomes of a stream, in short: the kind, the words, and the finish or a word of the error.
fn told(assembled: Assembled) -> String {
    let finish = |answer: &Answer| answer.finish.as_ref().map_or("-", Finish::as_str).to_owned();
    let calls = |answer: &Answer| {
        let call = |call: &ToolCall| format!(" {}({})", call.name, call.arguments);
        answer.tool_calls.iter().map(call).collect::<String>()
    };
    match assembled {
        Assembled::Answer(a) => {
            format!("answer {:?} {} {:?}{}", a.text, finish(&a), a.usage.output_tokens, calls(&a))
        }
        Assembled::Empty(a) => format!("empty {:?} {}", a.text, finish(&a)),
        Assembled::Cut(a) => format!("cut {:?}", a.text),
        Assembled::Error { partial, data } => format!("error {:?} {}", partial.text, data.len() > 20),
    }
}

#[test]
fn streamed_replies() {
    let table = [
        ("anthropic-stream-cut.sse", r#"cut "Hello wor""#),
        ("anthropic-stream-error-first.sse", r#"error "" true"#),
        ("anthropic-stream-error.sse", r#"error "Hello wor" true"#),
        ("anthropic-stream-refusal.sse", r#"empty "" content_filter"#),
        ("anthropic-stream-thinking.sse", r#"answer "42" stop Some(5)"#),
        (
            "anthropic-stream-tools.sse",
            r#"answer "Ich schaue nach." tool_calls Some(5) wetter({"ort":"東京"}) alle({})"#,
        ),
        ("anthropic-stream.sse", r#"answer "Grüße, 世界!" stop Some(5)"#),
        ("gemini-stream-blocked.sse", r#"error "" true"#),
        ("gemini-stream-cut.sse", r#"cut "Hello wor""#),
        ("gemini-stream-error.sse", r#"error "Hello wor" true"#),
        ("gemini-stream-safety.sse", r#"empty "" content_filter"#),
        ("gemini-stream-tools.sse", r#"answer "Ich schaue nach." tool_calls Some(5) wetter({"ort":"東京"}) alle({})"#),
        ("gemini-stream.sse", r#"answer "Grüße, 世界!" stop Some(5)"#),
        ("groq-stream.sse", r#"answer "Grüße, 世界!" stop Some(5)"#),
        ("minimax-stream-error.sse", r#"error "" true"#),
        ("openai-stream-cut.sse", r#"cut "Hello wor""#),
        ("openai-stream-error-first.sse", r#"error "" true"#),
        ("openai-stream-error.sse", r#"error "Hello wor" true"#),
        ("openai-stream-failed.sse", r#"error "" true"#),
        ("openai-stream-filtered.sse", r#"empty "" content_filter"#),
        ("openai-stream-reasoning.sse", r#"answer "42" stop None"#),
        ("openai-stream-refusal.sse", r#"error "" true"#),
        ("openai-stream-tools-cut.sse", r#"cut "Gut.""#),
        ("openai-stream-tools-half.sse", r#"empty "" tool_calls"#),
        ("openai-stream-tools-length.sse", r#"empty "Gut." length"#),
        ("openai-stream-tools-no-index.sse", r#"answer "" tool_calls None f({"n": 1}) f({"n": 2}) g({})"#),
        (
            "openai-stream-tools-two.sse",
            r#"answer "Ich schaue nach." tool_calls Some(5) wetter({"ort": "東京"}) wetter({"ort": "Köln"})"#,
        ),
        ("openai-stream-tools.sse", r#"answer "" tool_calls None f({})"#),
        ("openai-stream.sse", r#"answer "Grüße, 世界!" stop Some(5)"#),
        ("xai-stream-error.sse", r#"error "" true"#),
    ];
    assert_eq!(names(".sse"), table.map(|(name, _)| name), "the table names every file");
    for (name, wanted) in table {
        assert_eq!(told(assembled(wire_of(name), &fixture(name))), wanted, "{name}");
    }
}

#[test]
fn a_stream_and_a_whole_reply_give_the_same_answer() {
    for (whole, stream) in [
        ("openai-answer.json", "openai-stream.sse"),
        ("anthropic-answer.json", "anthropic-stream.sse"),
        ("gemini-answer.json", "gemini-stream.sse"),
        ("openai-tools-two.json", "openai-stream-tools-two.sse"),
        ("anthropic-tools.json", "anthropic-stream-tools.sse"),
    ] {
        let Decoded::Answer(wanted) = decode(wire_of(whole), &fixture(whole)) else { panic!("{whole} is no answer") };
        assert_eq!(assembled(wire_of(stream), &fixture(stream)), Assembled::Answer(wanted.clone()), "{stream}");
        // A body that comes whole although a stream was asked for says no less.
        assert_eq!(assembled(wire_of(whole), &fixture(whole)), Assembled::Answer(wanted), "{whole}");
    }
}

#[test]
fn what_is_empty_is_no_content() {
    for (wire, event) in [
        (Wire::OpenAi, r#"{"choices":[{"delta":{"content":"","reasoning_content":null,"tool_calls":[]}}]}"#),
        (Wire::OpenAi, r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":null,"function":{"arguments":""}}]}}]}"#),
        (Wire::OpenAi, r#"{"choices":[{"delta":{"reasoning":"","reasoning_details":[]}}]}"#),
        (Wire::Anthropic, r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#),
        (Wire::Anthropic, r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":""}}"#),
        (Wire::Anthropic, r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":""}}"#),
        (Wire::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"","thought":true}]}}]}"#),
        (Wire::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}]}}]}"#),
    ] {
        let events = StreamDecoder::new(wire).push(format!("data: {event}\n\n").as_bytes());
        assert!(!events.iter().any(StreamEvent::is_content), "{event}: {events:?}");
    }
}

#[test]
fn a_stream_that_is_shown_keeps_its_beginning() {
    let piece = "ß".repeat(1000);
    let (mut shown, mut whole) = (Assembler::showing(), Assembler::default());
    for assembler in [&mut shown, &mut whole] {
        for _ in 0..1000 {
            assembler.push(&StreamEvent::Text(piece.clone()));
            assembler.push(&StreamEvent::Reasoning(piece.clone()));
        }
        assembler.push(&StreamEvent::Finish(Finish::Stop));
    }
    assert_eq!((shown.so_far().text.len(), shown.so_far().reasoning.len()), (256 * 1024, 256 * 1024));
    assert_eq!((shown.kept_all(), shown.left_out()), (false, 2 * (2_000_000 - 256 * 1024)));
    assert_eq!((whole.kept_all(), whole.so_far().text.len()), (true, 2_000_000));
    assert!(matches!(shown.finish(), Assembled::Answer(_)));
    // Words that come after so much white space are words all the same.
    let mut late = Assembler::showing();
    late.push(&StreamEvent::Text(" ".repeat(300 * 1024)));
    late.push(&StreamEvent::Text("word".to_owned()));
    late.push(&StreamEvent::End);
    assert!(matches!(late.finish(), Assembled::Answer(_)));
}

#[test]
fn tool_calls_without_an_end_are_an_error() {
    let piece = |name: &str, arguments: &str| {
        StreamEvent::ToolCall(ToolPiece {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            ..ToolPiece::default()
        })
    };
    let mut assembler = Assembler::showing();
    let long = "x".repeat(1024 * 1024);
    (0..17).for_each(|_| assembler.push(&piece("f", &long)));
    assert!(matches!(assembler.finish(), Assembled::Error { .. }));
}

#[test]
fn a_decoder_keeps_nothing_that_grows() {
    let mut decoder = StreamDecoder::new(Wire::OpenAi);
    let events = ["data: {\"id\":\"x\"}\n\n", ": ping\n\n", "event: none\n\n"].concat().repeat(1000);
    for _ in 0..100 {
        decoder.push(events.as_bytes());
    }
    assert!(decoder.evidence().len() <= 2 * trouble::EVIDENCE + 1000, "{}", decoder.evidence().len());
}

#[test]
fn a_body_that_is_no_stream_is_read_whole() {
    let decode_as_stream = |name: &str| told(assembled(wire_of(name), &fixture(name)));
    assert_eq!(decode_as_stream("openai-answer.json"), r#"answer "Grüße, 世界!" stop Some(5)"#);
    assert_eq!(decode_as_stream("openai-error-in-200.json"), r#"error "" true"#);
    assert_eq!(decode_as_stream("gemini-blocked.json"), r#"error "" true"#);
    let told = |body: &str| told(assembled(Wire::OpenAi, body.as_bytes()));
    assert_eq!(told("<html><body>502 Bad Gateway</body></html>"), r#"error "" true"#);
    assert_eq!(told("upstream connect error or disconnect"), r#"error "" true"#);
    assert_eq!(told(": keep-alive\n\n: keep-alive\n\n"), r#"cut """#);
    assert_eq!(told(""), r#"cut """#);
    let answer = String::from_utf8(fixture("openai-answer.json")).expect("UTF-8");
    assert_eq!(told(&format!(": keep-alive\n\n{answer}")), r#"answer "Grüße, 世界!" stop Some(5)"#);
}

#[test]
fn a_stream_may_lack_its_last_blank_line_but_not_half_an_event() {
    let chunk = r#"data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#;
    assert_eq!(told(assembled(Wire::OpenAi, chunk.as_bytes())), r#"answer "hi" stop None"#);
    let cut = chunk.strip_suffix('}').expect("a brace");
    assert_eq!(told(assembled(Wire::OpenAi, cut.as_bytes())), r#"cut """#);
}

#[test]
fn evidence_keeps_what_was_no_word() {
    let (_, evidence) = play(Wire::Anthropic, &[&fixture("anthropic-stream-error.sse")]);
    assert!(evidence.contains("event: error\ndata: {\"type\": \"error\""), "{evidence}");
    assert!(!evidence.contains("Hello wor"), "{evidence}");
    let (_, evidence) = play(Wire::OpenAi, &[b"<html>Just a moment...</html>"]);
    assert_eq!(evidence, "<html>Just a moment...</html>");
}

#[test]
fn a_stream_that_is_too_large_ends_in_one_error() {
    let block = vec![b'x'; 1024 * 1024];
    for start in ["data: ", "{"] {
        let mut decoder = StreamDecoder::new(Wire::OpenAi);
        let mut events = decoder.push(start.as_bytes());
        (0..20).for_each(|_| events.extend(decoder.push(&block)));
        events.extend(decoder.finish());
        assert!(matches!(events.as_slice(), [StreamEvent::Error(_)]), "{start}: {} events", events.len());
    }
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(pick in any::<prop::sample::Index>(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12), ends in 0..3_usize) {
        let names = [names(".sse"), vec!["openai-answer.json".to_owned(), "flat-error.json".to_owned()]].concat();
        let name = &names[pick.index(names.len())];
        let text = String::from_utf8(fixture(name)).expect("UTF-8").replace('\n', ["\n", "\r\n", "\r"][ends]);
        let body = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).chain([0, body.len()]).collect();
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        let wire = wire_of(name);
        let whole = play(wire, &[body]);
        prop_assert_eq!(&play(wire, &chunks), &whole);
        prop_assert_eq!(&play(wire, &bytes), &whole);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(body in prop::collection::vec(any::<u8>(), 0..300), prefix in 0..4_usize) {
        let start: &[u8] = [b"".as_slice(), b"data: ", b"{", b"event: error\ndata: "][prefix];
        let body = [start, &body].concat();
        for wire in WIRES {
            let _ = decode(wire, &body);
            let _ = play(wire, &[&body]);
        }
    }

    #[test]
    fn any_json_is_read_without_a_panic(pick in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), with in prop::sample::select(vec!["null", "[]", "{}", "-1", "\"x\"", "1e999"])) {
        let names = names(".json");
        let name = &names[pick.index(names.len())];
        let text = String::from_utf8(fixture(name)).expect("UTF-8");
        // One value is put in the place of another.
        let places: Vec<usize> = text.match_indices(": ").map(|(at, _)| at + 2).collect();
        prop_assume!(!places.is_empty());
        let place = places[at.index(places.len())];
        let (before, after) = text.split_at(place);
        let (_, after) = after.split_at(after.find([',', '\n']).unwrap_or(0));
        let body = format!("{before}{with}{after}");
        for wire in WIRES {
            let _ = decode(wire, body.as_bytes());
            let _ = play(wire, &[format!("data: {}\n\n", body.replace('\n', "")).as_bytes()]);
        }
    }
}
