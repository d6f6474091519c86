//! The driver against kills at any step: a store that stops at a given moment, a desk that does, and a world that counts
//! what really happened.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::clock::Clock;
use crate::config::{KeyTemplate, ToolConfig};
use crate::domain::{
    LadderName, Outcome as RequestOutcome, Part, Redactor, RequestRecord, Role, Session, SessionName, ToolCall, Usage,
};
use crate::store::{MemoryStore, SessionStore};

/// How much longer a process lives, in steps that somebody outside could see.
#[derive(Default)]
struct Life {
    left: Cell<Option<u32>>,
}

impl Life {
    /// Whether it is still there after one more step.
    fn step(&self) -> bool {
        match self.left.get() {
            None => true,
            Some(0) => false,
            Some(left) => {
                self.left.set(Some(left - 1));
                true
            }
        }
    }

    fn is_over(&self) -> bool {
        self.left.get() == Some(0)
    }
}

/// A store in which each write is a step, and which may be left before or after it.
struct Mortal<'a> {
    store: &'a MemoryStore,
    life: &'a Life,
}

impl SessionStore for Mortal<'_> {
    fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        self.store.sessions()
    }

    fn talk(&self, name: &SessionName) -> Result<Option<Talk>, StoreError> {
        self.store.talk(name)
    }

    fn take_session(&self, name: &SessionName, holder: &str, now: Timestamp) -> Result<Talk, StoreError> {
        self.store.take_session(name, holder, now)
    }

    fn write_session(&self, name: &SessionName, batch: &SessionBatch) -> Result<(), StoreError> {
        let dead = || StoreError::Contended { tries: 0 };
        if !self.life.step() {
            return Err(dead());
        }
        self.store.write_session(name, batch)?;
        if self.life.step() { Ok(()) } else { Err(dead()) }
    }

    fn remove_session(&self, name: &SessionName) -> Result<bool, StoreError> {
        self.store.remove_session(name)
    }
}

/// What outlives every process: what the model says, and what was done.
#[derive(Default)]
struct World {
    /// What the model says, turn by turn.
    script: Vec<Vec<Part>>,
    /// How often each call's command did its work.
    done: RefCell<BTreeMap<String, u32>>,
    /// How often each call's command was begun.
    begun: RefCell<BTreeMap<String, u32>>,
    /// How often a person said that it may run once more.
    again: RefCell<BTreeMap<String, u32>>,
    asked: Cell<u32>,
}

struct Hands<'a> {
    world: &'a World,
    life: &'a Life,
    consent: Consent,
    outcome: Option<Outcome>,
    told: Vec<ToolRun>,
}

fn tools() -> BTreeMap<String, ToolConfig> {
    let tool = |name: &str, effect| ToolConfig {
        name: name.to_owned(),
        description: "d".to_owned(),
        schema: json!({"type": "object"}),
        command: vec!["true".to_owned()],
        timeout: Duration::from_secs(1),
        effect,
        idempotency_key: KeyTemplate::default(),
    };
    let both = [tool("get", Effect::Pure), tool("put", Effect::SideEffecting)];
    both.into_iter().map(|tool| (tool.name.clone(), tool)).collect()
}

fn report(parts: &[Part], number: u32) -> Report {
    let record = RequestRecord {
        id: format!("r-{number}").as_str().into(),
        ladder: LadderName::from("main"),
        started_at: Timestamp::UNIX_EPOCH,
        latency: Duration::ZERO,
        outcome: RequestOutcome::Answered,
        deployment: Some(format!("p{number}/m").parse().expect("a deployment")),
        step: Some(0),
        usage: Usage::default(),
        cost_usd: None,
        retry_at: None,
        error: None,
        retries_denied: 0,
        attempts: Vec::new(),
    };
    Report {
        record,
        end: End::Answered { step: 0 },
        text: String::new(),
        parsed: None,
        reasoning: String::new(),
        tool_calls: Vec::new(),
        message: Some(Message { role: Role::Assistant, parts: parts.to_vec() }),
        finish: None,
        ttft: None,
        skipped: Vec::new(),
        turned_away: false,
        consumer_gone: false,
        trouble: None,
    }
}

fn dead() -> StoreError {
    StoreError::Contended { tries: 0 }
}

impl Desk for Hands<'_> {
    type Error = StoreError;

    async fn ask(&mut self, messages: Vec<Message>) -> Result<Report, StoreError> {
        let calls = messages.iter().flat_map(|m| &m.parts).filter(|part| matches!(part, Part::ToolCall(_))).count();
        let results =
            messages.iter().flat_map(|m| &m.parts).filter(|part| matches!(part, Part::ToolResult { .. })).count();
        assert_eq!(calls, results, "a model sees the result of every call: {messages:?}");
        let turn = messages.iter().filter(|message| message.role == Role::Assistant).count();
        if !self.life.step() {
            return Err(dead());
        }
        self.world.asked.set(self.world.asked.get() + 1);
        let done = vec![Part::Text("done".to_owned())];
        let said = self.world.script.get(turn).unwrap_or(&done);
        if self.life.step() { Ok(report(said, self.world.asked.get())) } else { Err(dead()) }
    }

    async fn run(&mut self, _: &ToolConfig, order: &Order) -> Outcome {
        let count =
            |of: &RefCell<BTreeMap<String, u32>>| *of.borrow_mut().entry(order.fingerprint.clone()).or_default() += 1;
        // Dead before the command was begun, after it was, or after it did its work.
        if self.life.step() {
            count(&self.world.begun);
            if self.life.step() {
                count(&self.world.done);
                self.life.step();
            }
        }
        self.outcome.clone().unwrap_or(Outcome::Known { end: CallEnd::Ok, text: format!("did {}", order.call.id) })
    }

    fn consent(&mut self, _: &Order) -> Result<Consent, StoreError> {
        Ok(self.consent)
    }

    fn settlement(&mut self, _: &Order, _: &JournalEntry) -> Result<Option<Settlement>, StoreError> {
        Ok(None)
    }

    fn told(&mut self, run: &ToolRun) {
        self.told.push(run.clone());
    }
}

fn name() -> SessionName {
    SessionName::from("s")
}

/// What one process comes to that lives so long.
struct Process<'a> {
    world: &'a World,
    store: &'a MemoryStore,
    life: Option<u32>,
    consent: Consent,
    all_allowed: bool,
    outcome: Option<Outcome>,
}

impl<'a> Process<'a> {
    fn of(world: &'a World, store: &'a MemoryStore) -> Self {
        Self { world, store, life: None, consent: Consent::Nobody, all_allowed: true, outcome: None }
    }

    fn go(&self, says: Option<&str>) -> (Result<Ended, StoreError>, Vec<ToolRun>) {
        let life = Life { left: Cell::new(self.life) };
        let mortal = Mortal { store: self.store, life: &life };
        let (tools, redactor) = (tools(), Redactor::default());
        let stage = stage(&mortal, &tools, &redactor, self.all_allowed);
        self.store.take_session(&name(), &stage.holder, stage.clock.now()).expect("taken");
        let (consent, outcome) = (self.consent, self.outcome.clone());
        let mut desk = Hands { world: self.world, life: &life, consent, outcome, told: Vec::new() };
        let says = says.map(|words| Message::text(Role::User, words));
        let wish = Wish { says, ..Wish::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let ended = runtime.block_on(go_on(&stage, &wish, &mut desk));
        if life.is_over() {
            return (Err(dead()), desk.told);
        }
        if matches!(ended, Ok(Ended::Answered)) {
            // It is printed by now; a process that dies here is asked nothing any more.
            let _ = note_told(stage.store, &stage.name, &stage.holder, stage.clock.now());
        }
        (ended, desk.told)
    }
}

fn stage<'a>(
    store: &'a dyn SessionStore,
    tools: &'a BTreeMap<String, ToolConfig>,
    redactor: &'a Redactor,
    all_allowed: bool,
) -> Stage<'a> {
    Stage {
        store,
        name: name(),
        holder: crate::clock::Rng::new(None).token(12),
        clock: Clock::new(Some(Timestamp::UNIX_EPOCH)),
        redactor,
        tools,
        offered: vec!["get".to_owned(), "put".to_owned()],
        rounds: 20,
        all_allowed,
    }
}

fn call(id: &str, name: &str) -> Part {
    Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: "{}".to_owned() })
}

/// A person who looks into the world and says what is true.
fn settle_truly(world: &World, store: &MemoryStore, order: &Order) {
    let talk = store.talk(&name()).expect("readable").expect("there");
    let (version, entry) =
        talk.journal.iter().find(|(_, entry)| entry.fingerprint == order.fingerprint).expect("an entry");
    let was_done = world.done.borrow().contains_key(&order.fingerprint);
    let word = if was_done { Settlement::Done("it was done".to_owned()) } else { Settlement::Again };
    if !was_done {
        *world.again.borrow_mut().entry(order.fingerprint.clone()).or_default() += 1;
    }
    let by = (Timestamp::UNIX_EPOCH, &Redactor::default());
    settle(store, &name(), (*version, entry), word, by).expect("settled");
}

fn is_effect(store: &MemoryStore, fingerprint: &str) -> bool {
    let talk = store.talk(&name()).expect("readable").expect("there");
    talk.journal.iter().any(|(_, entry)| entry.fingerprint == fingerprint && entry.effect == Effect::SideEffecting)
}

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
    assert_eq!((ended.expect("an end"), told[0].end), (Ended::Answered, Some(CallEnd::TimedOut)));
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
    let result =
        Message { role: Role::User, parts: vec![Part::ToolResult { id: "a".into(), name: None, content: "r".into() }] };
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
    let redactor = Redactor::new([crate::domain::Secret::new(key)]);
    let (tools, life) = (tools(), Life::default());
    let stage = stage(&store, &tools, &redactor, true);
    let mut desk = Hands { world: &world, life: &life, consent: Consent::Yes, outcome: None, told: Vec::new() };
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
    let mut desk = Hands { world: &world, life: &life, consent: Consent::Yes, outcome: None, told: Vec::new() };
    let wish = Wish { says: Some(Message::text(Role::User, "late")), ..Wish::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let ended = runtime.block_on(go_on(&old, &wish, &mut desk));
    assert!(matches!(ended, Err(StoreError::Conflict)), "{ended:?}");
    assert_eq!(store.talk(&name()).expect("readable"), before);
}
