//! What the driver is tried with: a store that stops at a given moment, a desk that does, and a world that counts what
//! really happened.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::json;

use super::super::*;
use crate::clock::Clock;
use crate::config::{KeyTemplate, ToolConfig};
use crate::domain::{
    LadderName, Outcome as RequestOutcome, Part, Redactor, RequestRecord, Role, Session, SessionName, ToolCall,
};
use crate::store::{MemoryStore, SessionStore};

/// How much longer a process lives, in steps that somebody outside could see.
#[derive(Default)]
pub(super) struct Life {
    pub(super) left: Cell<Option<u32>>,
}

impl Life {
    /// Whether it is still there after one more step.
    pub(super) fn step(&self) -> bool {
        match self.left.get() {
            None => true,
            Some(0) => false,
            Some(left) => {
                self.left.set(Some(left - 1));
                true
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.left.get() == Some(0)
    }
}

/// A store in which each write is a step, and which may be left before or after it.
pub(super) struct Mortal<'a> {
    pub(super) store: &'a MemoryStore,
    pub(super) life: &'a Life,
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
pub(super) struct World {
    /// What the model says, turn by turn.
    pub(super) script: Vec<Vec<Part>>,
    /// How often each call's command did its work.
    pub(super) done: RefCell<BTreeMap<String, u32>>,
    /// How often each call's command was begun.
    pub(super) begun: RefCell<BTreeMap<String, u32>>,
    /// How often a person said that it may run once more.
    pub(super) again: RefCell<BTreeMap<String, u32>>,
    pub(super) asked: Cell<u32>,
    /// How requests end.
    pub(super) end: Option<End>,
}

pub(super) struct Hands<'a> {
    pub(super) world: &'a World,
    pub(super) life: &'a Life,
    pub(super) consent: Consent,
    pub(super) outcome: Option<Outcome>,
    pub(super) told: Vec<ToolRun>,
    /// How many calls are run before the user presses Ctrl-C.
    pub(super) patience: Option<u32>,
    /// How many more tries a result is worth.
    pub(super) tries: u32,
    pub(super) lost: Vec<JournalEntry>,
}

pub(super) fn tools() -> BTreeMap<String, ToolConfig> {
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

pub(super) fn report(parts: &[Part], number: u32) -> Report {
    let id = format!("r-{number}").as_str().into();
    let record = RequestRecord {
        outcome: RequestOutcome::Answered,
        deployment: Some(format!("p{number}/m").parse().expect("a deployment")),
        step: Some(0),
        ..RequestRecord::begun(id, LadderName::from("main"), Timestamp::UNIX_EPOCH)
    };
    let message = Message { role: Role::Assistant, parts: parts.to_vec() };
    Report { message: Some(message), ..Report::wordless(record, End::Answered { step: 0 }) }
}

pub(super) fn dead() -> StoreError {
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
        let mut report = report(said, self.world.asked.get());
        report.tool_calls =
            crate::session::machine::calls(&report.message.clone().unwrap_or_else(|| Message::text(Role::User, "")))
                .into_iter()
                .cloned()
                .collect();
        report.end = self.world.end.unwrap_or(report.end);
        if self.life.step() { Ok(report) } else { Err(dead()) }
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

    fn is_interrupted(&self) -> bool {
        self.patience.is_some_and(|most| self.world.begun.borrow().values().sum::<u32>() >= most)
    }

    async fn bide(&mut self, _: Duration) -> bool {
        self.tries = self.tries.saturating_sub(1);
        self.tries > 0
    }

    fn lost(&mut self, entry: &JournalEntry, _: &StoreError) {
        self.lost.push(entry.clone());
    }
}

pub(super) fn name() -> SessionName {
    SessionName::from("s")
}

/// What one process comes to that lives so long.
pub(super) struct Process<'a> {
    pub(super) world: &'a World,
    pub(super) store: &'a MemoryStore,
    pub(super) life: Option<u32>,
    pub(super) consent: Consent,
    pub(super) all_allowed: bool,
    pub(super) outcome: Option<Outcome>,
    pub(super) patience: Option<u32>,
}

impl<'a> Process<'a> {
    pub(super) fn of(world: &'a World, store: &'a MemoryStore) -> Self {
        Self { world, store, life: None, consent: Consent::Nobody, all_allowed: true, outcome: None, patience: None }
    }

    pub(super) fn go(&self, says: Option<&str>) -> (Result<Ended, StoreError>, Vec<ToolRun>) {
        let life = Life { left: Cell::new(self.life) };
        let mortal = Mortal { store: self.store, life: &life };
        let (tools, redactor) = (tools(), Redactor::default());
        let stage = stage(&mortal, &tools, &redactor, self.all_allowed);
        self.store.take_session(&name(), &stage.holder, stage.clock.now()).expect("taken");
        let (consent, outcome) = (self.consent, self.outcome.clone());
        let mut desk = Hands {
            world: self.world,
            life: &life,
            consent,
            outcome,
            told: Vec::new(),
            patience: self.patience,
            tries: 0,
            lost: Vec::new(),
        };
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

pub(super) fn stage<'a>(
    store: &'a dyn SessionStore,
    tools: &'a BTreeMap<String, ToolConfig>,
    redactor: &'a Redactor,
    all_allowed: bool,
) -> Stage<'a> {
    Stage {
        store,
        name: name(),
        holder: Rng::new(None).token(12),
        clock: Clock::new(Some(Timestamp::UNIX_EPOCH)),
        redactor,
        tools,
        offered: vec!["get".to_owned(), "put".to_owned()],
        rounds: 20,
        all_allowed,
    }
}

pub(super) fn call(id: &str, name: &str) -> Part {
    Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: "{}".to_owned() })
}

/// A person who looks into the world and says what is true.
pub(super) fn settle_truly(world: &World, store: &MemoryStore, order: &Order) {
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

pub(super) fn is_effect(store: &MemoryStore, fingerprint: &str) -> bool {
    let talk = store.talk(&name()).expect("readable").expect("there");
    talk.journal.iter().any(|(_, entry)| entry.fingerprint == fingerprint && entry.effect == Effect::SideEffecting)
}
