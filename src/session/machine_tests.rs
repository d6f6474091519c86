use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::config::KeyTemplate;
use crate::domain::{CallEnd, TalkSettings};

fn tool(name: &str, effect: Effect) -> ToolConfig {
    ToolConfig {
        name: name.to_owned(),
        description: "d".to_owned(),
        schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
        command: vec!["true".to_owned()],
        timeout: Duration::from_secs(1),
        effect,
        idempotency_key: KeyTemplate::default(),
    }
}

fn session() -> Session {
    let at = Timestamp::from_millisecond(7).expect("a time");
    let settings = TalkSettings::default();
    Session { name: "s".into(), created_at: at, updated_at: at, holder: String::new(), settings, turns: 0, told: 0 }
}

fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() })
}

fn user(words: &str) -> Message {
    Message::text(Role::User, words)
}

fn model(parts: Vec<Part>) -> Message {
    Message { role: Role::Assistant, parts }
}

fn result(id: &str) -> Message {
    Message {
        role: Role::User,
        parts: vec![Part::ToolResult { id: id.into(), name: None, content: "r".into(), is_error: false }],
    }
}

struct World {
    turns: Vec<Message>,
    journal: Vec<(i64, JournalEntry)>,
    offered: Vec<String>,
    rounds: u32,
    all_allowed: bool,
    allowed: BTreeSet<String>,
}

impl World {
    fn of(turns: Vec<Message>) -> Self {
        let offered = ["get", "put"].map(str::to_owned).to_vec();
        Self { turns, journal: Vec::new(), offered, rounds: 8, all_allowed: false, allowed: BTreeSet::new() }
    }

    fn next(&self) -> Next {
        let tools = [tool("get", Effect::Pure), tool("put", Effect::SideEffecting), tool("other", Effect::Pure)];
        let tools = tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect();
        next(&Scene {
            session: &session(),
            turns: &self.turns,
            journal: &self.journal,
            tools: &tools,
            offered: &self.offered,
            rounds: self.rounds,
            allowed: &self.allowed,
            all_allowed: self.all_allowed,
        })
    }

    /// Notes the order that stands next in this state.
    fn note(&mut self, order: &Order, state: CallState) {
        let is_done = state == CallState::Done;
        let entry = JournalEntry {
            fingerprint: order.fingerprint.clone(),
            place: order.place,
            position: order.position,
            call_id: order.call.id.clone(),
            tool: order.call.name.clone(),
            arguments: order.call.arguments.clone(),
            effect: order.effect,
            idempotency_key: order.idempotency_key.clone(),
            state,
            end: is_done.then_some(CallEnd::Ok),
            result: is_done.then(|| format!("result of {}", order.call.id)),
            tries: 1,
            started_at: None,
            ended_at: None,
        };
        self.journal.retain(|(_, known)| known.fingerprint != entry.fingerprint);
        self.journal.push((3, entry));
    }
}

/// The word for what is next, with the call that it is about.
fn word(next: &Next) -> String {
    match next {
        Next::Ask => "ask".to_owned(),
        Next::Run(order) => format!("run {}", order.call.id),
        Next::Confirm(order) => format!("confirm {}", order.call.id),
        Next::Question(order) => format!("question {}", order.call.id),
        Next::Refuse(order, why) => format!("refuse {}: {why}", order.call.id),
        Next::Repeat(order, result) => format!("repeat {}: {result}", order.call.id),
        Next::Collect(_) => "collect".to_owned(),
        Next::TooManyRounds => "too many".to_owned(),
        Next::Done => "done".to_owned(),
    }
}

fn order(next: Next) -> Order {
    match next {
        Next::Run(order)
        | Next::Confirm(order)
        | Next::Question(order)
        | Next::Refuse(order, _)
        | Next::Repeat(order, _) => order,
        other => panic!("no order: {other:?}"),
    }
}

const N: &str = r#"{"n": 1}"#;

#[test]
fn who_is_next_follows_from_the_last_turn() {
    let words = || Part::Text("hi".to_owned());
    for (turns, wanted) in [
        (vec![], "done"),
        (vec![user("hi")], "ask"),
        (vec![user("hi"), model(vec![words()])], "done"),
        (vec![user("hi"), model(vec![words(), call("g", "get", N)])], "run g"),
        (vec![user("hi"), model(vec![call("p", "put", N), call("g", "get", N)])], "confirm p"),
        (vec![user("hi"), model(vec![call("g", "get", N)]), result("g")], "ask"),
        (vec![user("hi"), model(vec![call("g", "get", N)]), result("g"), model(vec![words()])], "done"),
        (
            vec![user("hi"), model(vec![call("x", "nothing", N)])],
            "refuse x: there is no tool `nothing`; there are get, put",
        ),
        (
            vec![user("hi"), model(vec![call("x", "other", N)])],
            "refuse x: there is no tool `other`; there are get, put",
        ),
        (
            vec![user("hi"), model(vec![call("p", "put", r#"{"n": "one"}"#)])],
            "refuse p: the arguments are not as the tool wants them: /n: \"one\" is not of type \"integer\"",
        ),
    ] {
        assert_eq!(word(&World::of(turns.clone()).next()), wanted, "{turns:?}");
    }
    let mut none = World::of(vec![user("hi"), model(vec![call("x", "get", N)])]);
    none.offered.clear();
    assert_eq!(word(&none.next()), "refuse x: there are no tools any more");
}

#[test]
fn what_became_of_a_call_decides_what_becomes_of_it() {
    for (name, state, wanted) in [
        ("get", CallState::Started, "run c"),
        ("get", CallState::Unknown, "run c"),
        ("get", CallState::Done, "collect"),
        ("put", CallState::Started, "question c"),
        ("put", CallState::Unknown, "question c"),
        ("put", CallState::Again, "run c"),
        ("put", CallState::Done, "collect"),
    ] {
        let mut world = World::of(vec![user("hi"), model(vec![call("c", name, N)])]);
        world.note(&order(world.next()), state);
        let next = world.next();
        assert_eq!(word(&next), wanted, "{name} {state}");
        if let Next::Run(order) = next {
            assert_eq!((order.expected, order.tries), (Some(3), 1), "it must be as it was seen");
        }
    }
}

#[test]
fn calls_are_run_in_order_and_their_results_are_one_turn() {
    let mut world =
        World::of(vec![user("hi"), model(vec![call("a", "put", N), call("b", "get", N), call("c", "put", N)])]);
    world.all_allowed = true;
    let mut ran = Vec::new();
    loop {
        match world.next() {
            Next::Run(order) => {
                ran.push((order.call.id.clone(), order.fingerprint.clone()));
                world.note(&order, CallState::Done);
            }
            Next::Collect(message) => {
                let result = |part: &Part| match part {
                    Part::ToolResult { id, name, content, .. } => {
                        format!("{id} {} {content}", name.clone().unwrap_or_default())
                    }
                    other => panic!("{other:?}"),
                };
                let results: Vec<String> = message.parts.iter().map(result).collect();
                assert_eq!(results, ["a put result of a", "b get result of b", "c put result of c"]);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(ran.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_ne!(ran[0].1, ran[2].1, "alike, and yet two calls");
}

#[test]
fn a_side_effect_is_allowed_one_by_one_or_all_at_once() {
    let mut world = World::of(vec![user("hi"), model(vec![call("a", "put", N), call("b", "put", N)])]);
    let first = order(world.next());
    world.allowed.insert(first.fingerprint.clone());
    assert_eq!(word(&world.next()), "run a");
    world.note(&first, CallState::Done);
    assert_eq!(word(&world.next()), "confirm b", "the other one is another one");
    world.all_allowed = true;
    assert_eq!(word(&world.next()), "run b");
}

#[test]
fn rounds_are_counted_since_the_user_last_spoke() {
    let round = || [model(vec![call("g", "get", N)]), result("g")];
    let mut turns = vec![user("one")];
    turns.extend([round(), round()].concat());
    turns.extend([model(vec![Part::Text("so".to_owned())]), user("two")]);
    assert_eq!(rounds_of(&turns), 0);
    turns.extend(round());
    turns.push(model(vec![call("g", "get", N)]));
    assert_eq!(rounds_of(&turns), 2);
    let mut world = World::of(turns);
    world.rounds = 2;
    assert_eq!(word(&world.next()), "run g");
    world.rounds = 1;
    assert_eq!(word(&world.next()), "too many");
    // What was begun is still asked about first.
    let mut begun = World::of(vec![user("hi"), model(vec![call("p", "put", N)])]);
    begun.note(&order(begun.next()), CallState::Started);
    begun.rounds = 0;
    assert_eq!(word(&begun.next()), "question p");
}

#[test]
fn what_was_begun_with_an_effect_keeps_it_whatever_the_config_says_later() {
    let mut world = World::of(vec![user("hi"), model(vec![call("g", "get", N)])]);
    let mut begun = order(world.next());
    assert_eq!(begun.effect, Effect::Pure);
    (begun.effect, begun.idempotency_key) = (Effect::SideEffecting, "old key".to_owned());
    world.note(&begun, CallState::Started);
    let next = world.next();
    assert_eq!(word(&next), "question g");
    assert_eq!(order(next).idempotency_key, "old key");
}

/// What lost itself may have wanted thousands: the others cost no entry each.
#[test]
fn of_very_many_calls_the_first_are_run_and_the_others_refused_at_once() {
    let count = 5_000;
    let many: Vec<Part> = (0..count).map(|n| call(&format!("c{n}"), "get", &format!(r#"{{"n":{n}}}"#))).collect();
    let mut world = World::of(vec![user("go"), model(many)]);
    for (run, version) in (1..).enumerate() {
        let (order, end) = match world.next() {
            Next::Run(order) => (order, CallEnd::Ok),
            Next::Collect(results) => {
                let refused = |part: &&Part| matches!(part, Part::ToolResult { content, .. } if content.contains("only the first 128"));
                let refused = results.parts.iter().filter(refused).count();
                assert_eq!((results.parts.len(), run, refused), (count, MOST_CALLS, count - MOST_CALLS));
                return;
            }
            other => panic!("{other:?}"),
        };
        let entry = JournalEntry {
            fingerprint: order.fingerprint,
            place: order.place,
            position: order.position,
            call_id: order.call.id,
            tool: order.call.name,
            arguments: order.call.arguments,
            effect: order.effect,
            idempotency_key: order.idempotency_key,
            state: CallState::Done,
            end: Some(end),
            result: None,
            tries: 1,
            started_at: None,
            ended_at: None,
        };
        world.journal.push((version, entry));
    }
}

#[test]
fn arguments_with_a_key_taken_out_are_not_run() {
    let world = World::of(vec![user("go"), model(vec![call("a", "get", r#"{"n":1,"key":"[redacted]"}"#)])]);
    let Next::Refuse(_, why) = world.next() else { panic!("{:?}", world.next()) };
    assert!(why.contains("hold a key"), "{why}");
}

#[test]
fn of_a_call_that_came_to_nothing_the_model_is_told_so() {
    for end in CallEnd::ALL {
        let mut world = World::of(vec![user("hi"), model(vec![call("a", "get", N)])]);
        let Next::Run(order) = world.next() else { panic!("{:?}", world.next()) };
        world.note(&order, CallState::Done);
        world.journal[0].1.end = Some(*end);
        let Next::Collect(message) = world.next() else { panic!("{:?}", world.next()) };
        let wanted = !matches!(end, CallEnd::Ok | CallEnd::Told);
        assert!(matches!(message.parts[..], [Part::ToolResult { is_error, .. }] if is_error == wanted), "{end}");
    }
}
