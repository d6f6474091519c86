//! The driver against kills at any step.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::domain::{Part, Redactor, Role, Secret, ToolCall};
use crate::store::{MemoryStore, SessionStore};

#[path = "drive_kit.rs"]
mod kit;

use kit::*;

/// Goes on until it is answered; each process lives so long.
fn live_through(script: Vec<Vec<Part>>, lives: &[u32]) -> (World, MemoryStore) {
    let (world, store) = (World { script, ..World::default() }, MemoryStore::new());
    let mut lives = lives.iter().copied().map(Some).chain(std::iter::repeat(None));
    for _ in 0..500 {
        let process = Process { life: lives.next().expect("endless"), ..Process::of(&world, &store) };
        match process.go(Some("go")).0 {
            Ok(Ended::Answered) => return (world, store),
            Ok(Ended::NeedsWord(order, _)) => settle_truly(&world, &store, &order),
            Ok(other) => panic!("{other:?}"),
            Err(_) => {}
        }
    }
    panic!("it never ends");
}

fn check(world: &World, store: &MemoryStore, calls: usize) {
    let talk = store.talk(&name()).expect("readable").expect("there");
    assert_eq!(talk.journal.len(), calls);
    for (_, entry) in &talk.journal {
        let of =
            |counts: &RefCell<BTreeMap<String, u32>>| counts.borrow().get(&entry.fingerprint).copied().unwrap_or(0);
        assert_eq!(entry.state, CallState::Done);
        if is_effect(store, &entry.fingerprint) {
            assert_eq!(of(&world.done), 1, "exactly once: {entry:?}");
            assert!(of(&world.begun) <= 1 + of(&world.again), "begun without a word: {entry:?}");
        } else {
            assert!(of(&world.done) >= 1);
        }
    }
    let words = talk.turns.iter().filter(|turn| turn.message.to_string().contains("\"go\"")).count();
    assert_eq!(words, 1, "the user spoke once: {:?}", talk.turns);
}

fn two_rounds() -> Vec<Vec<Part>> {
    vec![vec![call("a", "put"), call("b", "get"), call("c", "put")], vec![call("a", "put")]]
}

#[test]
fn a_kill_at_every_single_step_leaves_one_effect() {
    let mut most = 0;
    for life in 0..200 {
        let (world, store) = live_through(two_rounds(), &[life]);
        check(&world, &store, 4);
        let begun: u32 = world.begun.borrow().values().sum();
        most = most.max(begun);
    }
    assert!(most > 4, "no kill ever hit a command: the walk is too short or too long");
}

fn any_script() -> impl Strategy<Value = Vec<Vec<Part>>> {
    let any_call = (0..4_u32, prop::bool::ANY)
        .prop_map(|(id, effect)| call(&format!("c{id}"), if effect { "put" } else { "get" }));
    prop::collection::vec(prop::collection::vec(any_call, 1..4), 0..4)
}

proptest! {
    #[test]
    fn any_kills_leave_one_effect_of_each_call(script in any_script(), lives in prop::collection::vec(0..40_u32, 0..12)) {
        let calls = script.iter().map(Vec::len).sum();
        let (world, store) = live_through(script, &lives);
        check(&world, &store, calls);
    }
}

#[test]
fn a_call_whose_end_was_not_seen_is_a_question_and_nothing_runs_before_it_is_answered() {
    let (world, store) = (World { script: vec![vec![call("a", "put")]], ..World::default() }, MemoryStore::new());
    let unknown = Outcome::Unknown { why: "it was stopped after 1 s".to_owned(), interrupted: false };
    let process = Process { outcome: Some(unknown), ..Process::of(&world, &store) };
    let (ended, told) = process.go(Some("go"));
    let Ok(Ended::NeedsWord(order, entry)) = ended else { panic!("{ended:?}") };
    assert_eq!((entry.state, entry.result.as_deref()), (CallState::Unknown, Some("it was stopped after 1 s")));
    assert_eq!((told.len(), told[0].state), (1, CallState::Unknown));
    for _ in 0..3 {
        let (ended, _) = Process::of(&world, &store).go(None);
        assert!(matches!(ended, Ok(Ended::NeedsWord(..))), "{ended:?}");
    }
    assert_eq!(world.begun.borrow().values().sum::<u32>(), 1);
    settle_truly(&world, &store, &order);
    let (ended, told) = Process::of(&world, &store).go(None);
    assert_eq!(ended.expect("an end"), Ended::Answered);
    assert_eq!((told[0].replayed, told[0].end), (true, Some(CallEnd::Told)), "it was not run again");
    assert_eq!(world.begun.borrow().values().sum::<u32>(), 1);
}

#[test]
fn a_pure_command_that_was_stopped_tells_the_model_so() {
    let (world, store) = (World { script: vec![vec![call("a", "get")]], ..World::default() }, MemoryStore::new());
    let stopped = |interrupted| Some(Outcome::Unknown { why: "stopped".to_owned(), interrupted });
    let process = Process { outcome: stopped(true), ..Process::of(&world, &store) };
    assert_eq!(process.go(Some("go")).0.expect("an end"), Ended::Interrupted);
    let process = Process { outcome: stopped(false), ..Process::of(&world, &store) };
    let (ended, told) = process.go(None);
    assert_eq!(
        (ended.expect("an end"), told[0].end),
        (Ended::Answered, Some(CallEnd::Failed)),
        "its time was not over"
    );
    assert_eq!(world.begun.borrow().values().sum::<u32>(), 2, "it may run again at any time");
}

#[test]
fn without_a_yes_nothing_has_an_effect_and_a_no_is_told_to_the_model() {
    let script = || vec![vec![call("a", "put")]];
    let (world, store) = (World { script: script(), ..World::default() }, MemoryStore::new());
    let asks = |consent| Process { all_allowed: false, consent, ..Process::of(&world, &store) };
    assert!(matches!(asks(Consent::Nobody).go(Some("go")).0, Ok(Ended::NeedsConsent(_))));
    assert!(matches!(asks(Consent::Nobody).go(None).0, Ok(Ended::NeedsConsent(_))));
    assert_eq!(world.begun.borrow().len(), 0);
    let (ended, told) = asks(Consent::No).go(None);
    assert_eq!((ended.expect("an end"), told[0].end), (Ended::Answered, Some(CallEnd::Declined)));
    assert_eq!((world.begun.borrow().len(), world.asked.get()), (0, 2));
    let (world, store) = (World { script: script(), ..World::default() }, MemoryStore::new());
    let yes = Process { all_allowed: false, consent: Consent::Yes, ..Process::of(&world, &store) };
    assert_eq!(yes.go(Some("go")).0.expect("an end"), Ended::Answered);
    assert_eq!(world.begun.borrow().values().sum::<u32>(), 1);
}

#[test]
fn what_is_said_goes_where_it_belongs() {
    let user = |words: &str| Message::text(Role::User, words);
    let model = |part: Part| Message { role: Role::Assistant, parts: vec![part] };
    let words = || Part::Text("so".to_owned());
    let result = Message {
        role: Role::User,
        parts: vec![Part::ToolResult { id: "a".into(), name: None, content: "r".into(), is_error: false }],
    };
    let (hi, other) = (user("hi"), user("other"));
    let answered = [hi.clone(), model(words())];
    assert_eq!(resume_from(&answered, 1, Some(&hi)), Resume::Tell, "the answer was never printed");
    assert_eq!(resume_from(&answered, 1, Some(&other)), Resume::Append);
    for (turns, says, wanted) in [
        (vec![], None, Resume::Nothing),
        (vec![], Some(&hi), Resume::Append),
        (vec![hi.clone()], None, Resume::GoOn),
        (vec![hi.clone()], Some(&hi), Resume::GoOn),
        (vec![hi.clone()], Some(&other), Resume::Replace(0)),
        (vec![hi.clone(), model(words())], None, Resume::Nothing),
        (vec![hi.clone(), model(words())], Some(&hi), Resume::Append),
        (vec![hi.clone(), model(words()), other.clone()], Some(&hi), Resume::Replace(2)),
        (vec![hi.clone(), model(call("a", "put"))], None, Resume::GoOn),
        (vec![hi.clone(), model(call("a", "put"))], Some(&hi), Resume::GoOn),
        (vec![hi.clone(), model(call("a", "put"))], Some(&other), Resume::Busy),
        (vec![hi.clone(), model(call("a", "put")), result.clone()], Some(&other), Resume::Busy),
        (vec![hi.clone(), model(call("a", "put")), result], Some(&hi), Resume::GoOn),
    ] {
        assert_eq!(resume_from(&turns, 9, says), wanted, "{turns:?} {says:?}");
    }
}

#[test]
fn nothing_that_is_kept_holds_a_secret() {
    let key = "not-a-real-key-number-nine";
    let script = vec![vec![Part::ToolCall(ToolCall {
        id: "a".into(),
        name: "put".into(),
        arguments: json!({"token": key}).to_string(),
    })]];
    let (world, store) = (World { script, ..World::default() }, MemoryStore::new());
    let redactor = Redactor::new([Secret::new(key)]);
    let (tools, life) = (tools(), Life::default());
    let stage = stage(&store, &tools, &redactor, true);
    let mut desk = Hands {
        world: &world,
        life: &life,
        consent: Consent::Yes,
        outcome: None,
        told: Vec::new(),
        patience: None,
        tries: 0,
        lost: Vec::new(),
    };
    let wish = Wish { says: Some(Message::text(Role::User, format!("use {key}"))), ..Wish::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    for _ in 0..2 {
        store.take_session(&name(), &stage.holder, stage.clock.now()).expect("taken");
        assert_eq!(runtime.block_on(go_on(&stage, &wish, &mut desk)).expect("an end"), Ended::Answered);
    }
    let kept = format!("{:?}", store.talk(&name()).expect("readable"));
    assert!(!kept.contains(key) && kept.contains("[redacted]"), "{kept}");
}

#[test]
fn who_lost_the_conversation_to_another_process_writes_nothing() {
    let (world, store) = (World { script: two_rounds(), ..World::default() }, MemoryStore::new());
    let (tools, redactor, life) = (tools(), Redactor::default(), Life::default());
    let old = stage(&store, &tools, &redactor, true);
    store.take_session(&name(), &old.holder, old.clock.now()).expect("taken");
    assert_eq!(Process::of(&world, &store).go(Some("go")).0.expect("an end"), Ended::Answered);
    let before = store.talk(&name()).expect("readable");
    let mut desk = Hands {
        world: &world,
        life: &life,
        consent: Consent::Yes,
        outcome: None,
        told: Vec::new(),
        patience: None,
        tries: 0,
        lost: Vec::new(),
    };
    let wish = Wish { says: Some(Message::text(Role::User, "late")), ..Wish::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let ended = runtime.block_on(go_on(&old, &wish, &mut desk));
    assert!(matches!(ended, Err(StoreError::Conflict)), "{ended:?}");
    assert_eq!(store.talk(&name()).expect("readable"), before);
}

#[test]
fn after_ctrl_c_nothing_more_is_begun() {
    let script = vec![vec![call("a", "put"), call("b", "put"), call("c", "put")]];
    let (world, store) = (World { script, ..World::default() }, MemoryStore::new());
    for patience in [1, 2] {
        let process = Process { patience: Some(patience), ..Process::of(&world, &store) };
        assert_eq!(process.go(Some("go")).0.expect("an end"), Ended::Interrupted);
        assert_eq!(world.begun.borrow().values().sum::<u32>(), patience, "the next one was not begun");
    }
    assert_eq!(Process::of(&world, &store).go(Some("go")).0.expect("an end"), Ended::Answered);
    assert_eq!(world.begun.borrow().values().copied().collect::<Vec<_>>(), [1, 1, 1]);
}

/// A store with no room for results for a while.
struct FullOfResults<'a>(&'a MemoryStore, std::cell::Cell<u32>);

impl SessionStore for FullOfResults<'_> {
    fn sessions(&self) -> Result<Vec<crate::domain::Session>, StoreError> {
        self.0.sessions()
    }

    fn talk(&self, name: &SessionName) -> Result<Option<Talk>, StoreError> {
        self.0.talk(name)
    }

    fn take_session(&self, name: &SessionName, holder: &str, now: Timestamp) -> Result<Talk, StoreError> {
        self.0.take_session(name, holder, now)
    }

    fn write_session(&self, name: &SessionName, batch: &SessionBatch) -> Result<(), StoreError> {
        let has_result = batch.calls.iter().any(|change| change.entry.state == CallState::Done);
        if has_result && self.1.get() > 0 {
            self.1.set(self.1.get() - 1);
            return Err(StoreError::Full { path: "state.db".into() });
        }
        self.0.write_session(name, batch)
    }

    fn remove_session(&self, name: &SessionName) -> Result<bool, StoreError> {
        self.0.remove_session(name)
    }
}

#[test]
fn a_result_that_cannot_be_written_is_tried_again_and_then_told() {
    for (times, tries, lost) in [(3, 5, 0), (9, 5, 1)] {
        let (world, memory) = (World { script: vec![vec![call("a", "put")]], ..World::default() }, MemoryStore::new());
        let full = FullOfResults(&memory, std::cell::Cell::new(times));
        let (tools, redactor, life) = (tools(), Redactor::default(), Life::default());
        let stage = stage(&full, &tools, &redactor, true);
        memory.take_session(&name(), &stage.holder, stage.clock.now()).expect("taken");
        let mut desk = Hands {
            world: &world,
            life: &life,
            consent: Consent::Nobody,
            outcome: None,
            told: Vec::new(),
            patience: None,
            tries,
            lost: Vec::new(),
        };
        let wish = Wish { says: Some(Message::text(Role::User, "go")), ..Wish::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let ended = runtime.block_on(go_on(&stage, &wish, &mut desk));
        assert_eq!((ended.is_ok(), desk.lost.len()), (lost == 0, lost), "{ended:?}");
        assert!(desk.lost.iter().all(|entry| entry.result.as_deref() == Some("did a")), "{:?}", desk.lost);
        assert_eq!(world.done.borrow().values().sum::<u32>(), 1);
    }
}

#[test]
fn an_answer_that_is_handed_out_as_it_is_is_kept() {
    let (world, store) = (World { end: Some(End::AsItIs), ..World::default() }, MemoryStore::new());
    assert_eq!(Process::of(&world, &store).go(Some("go")).0.expect("an end"), Ended::Answered);
    assert_eq!(store.talk(&name()).expect("readable").expect("there").turns.len(), 2);
    let script = vec![vec![call("a", "put")]];
    let (world, store) = (World { script, end: Some(End::AsItIs), ..World::default() }, MemoryStore::new());
    assert_eq!(Process::of(&world, &store).go(Some("go")).0.expect("an end"), Ended::Unanswered);
    assert!(world.begun.borrow().is_empty(), "nothing is run for what is not as asked");
}

#[test]
fn standing_instructions_are_kept_without_secrets() {
    let (store, tools) = (MemoryStore::new(), tools());
    let redactor = Redactor::new([Secret::new("not-a-real-key-0123")]);
    let stage = stage(&store, &tools, &redactor, true);
    store.take_session(&name(), &stage.holder, stage.clock.now()).expect("taken");
    let settings = TalkSettings { system: Some("use not-a-real-key-0123 well".to_owned()), ..TalkSettings::default() };
    Walk { stage: &stage, allowed: BTreeSet::new(), run_now: BTreeSet::new() }
        .begin(&Wish { settings, ..Wish::default() })
        .expect("begun");
    let kept = store.talk(&name()).expect("readable").expect("there").session.settings.system;
    assert_eq!(kept.as_deref(), Some("use [redacted] well"));
}
