//! Conversations and tools as a user of the crate has them.
#![cfg(test)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmr::rehearsal::{Case, Provider, Reply, Script};
use llmr::words::{CallEnd, Effect, Part, ToolCall, ToolChoice};
use llmr::{Ending, Error, Invocation, Request, Router, Session, Settlement, Tool, ToolRun, Watcher, Wire};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::api::{over, text};
use crate::by_hand::ByHand;
use crate::stage::{Stage, openai};

fn wants(tool: &str, arguments: &Value) -> Reply {
    Reply::tool_calls(vec![ToolCall { id: "c1".to_owned(), name: tool.to_owned(), arguments: arguments.to_string() }])
}

/// Wants a note, and once there is a result says or does something else.
fn after_note(then: Reply) -> Script {
    let when =
        |contains: &str, reply| Case { contains: Some(contains.to_owned()), replies: vec![reply], ..Case::default() };
    let cases = vec![when("noted", then), when("does not want", Reply::answer("Then not."))];
    Script { cases, replies: vec![wants("note", &json!({"n": 7}))] }
}

/// A tool that notes with which arguments and under which key it was run, and its count.
fn note(notes: &Arc<Mutex<Vec<Invocation>>>) -> Tool {
    let notes = Arc::clone(notes);
    Tool::new("note")
        .description("Notes a number")
        .schema(json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]}))
        .run(move |call| {
            notes.lock().expect("no panic").push(call.clone());
            async move { Ok(format!("noted {}", call.arguments["n"])) }
        })
}

/// A router over the stage's config and state.
fn router(stage: &Stage) -> Router {
    let builder = Router::builder().config_file(stage.path("llmr.toml")).state_file(stage.state());
    builder.env(|_| None).clock(ByHand::default()).build().expect("a router")
}

async fn named(router: &Router, manner: Request) -> Session {
    router.session_named("s").await.expect("a session").asking_like(manner)
}

fn words(session: &Session) -> Vec<String> {
    session.turns().iter().map(|turn| turn.message.words()).collect()
}

#[tokio::test]
async fn a_kept_conversation_goes_on_in_another_router_and_in_the_program() {
    let lab = openai(vec![Reply::answer("one"), Reply::answer("two"), Reply::answer("three")]);
    let stage = Stage::with(&text(&[("lab", &lab)]));
    let first = router(&stage);
    let mut session = named(&first, Request::default().system("Count.")).await;
    assert_eq!(session.ask("1").await.expect("an answer").text, "one");
    drop((session, first));

    let second = router(&stage);
    let mut session = named(&second, Request::default()).await;
    assert_eq!(words(&session), ["1", "one"]);
    assert_eq!(session.turns()[1].from.as_ref().map(ToString::to_string).as_deref(), Some("lab/m"));
    assert!(session.go_on().await.expect("no trouble").is_none(), "nothing is under way");
    let id = session.ask("2").await.expect("an answer").request_id.to_string();
    let sent = lab.requests().pop().expect("a request").body;
    assert_eq!((&sent["messages"][0]["content"], &sent["messages"][2]["content"]), (&json!("Count."), &json!("one")));
    // The process died before the answer arrived: the same words bring it, and nobody is asked.
    stage.sql().execute("UPDATE sessions SET told = 2", []).expect("as it was then");
    let lost = named(&second, Request::default()).await.ask("2").await.expect("an answer");
    assert_eq!((lost.text.as_str(), lost.request_id.to_string(), lab.hits()), ("two", id, 2));

    stage.run(&["chat", "--session", "s", "3"]).exits(0).prints("three\n");
    assert_eq!(words(&named(&second, Request::default()).await), ["1", "one", "2", "two", "3", "three"]);
    session.forget().await.expect("forgotten");
    stage.run(&["session", "show", "s"]).exits(2);
    assert!(session.turns().is_empty() && named(&second, Request::default()).await.turns().is_empty());
    assert!(matches!(second.session_named("a/b").await, Err(Error::Unknown { .. })));
}

#[tokio::test]
async fn a_question_outlives_who_asked_and_has_one_writer() {
    let lab = openai(vec![Reply::Hang, Reply::answer("one")]);
    let stage = Stage::with(&text(&[("lab", &lab)]));
    let (first, second) = (router(&stage), router(&stage));
    let mut other = named(&second, Request::default()).await;
    {
        let mut session = named(&first, Request::default()).await;
        let mut hangs = std::pin::pin!(session.ask("1"));
        while lab.hits() == 0 {
            tokio::select! {
                biased;
                ended = &mut hangs => panic!("{ended:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
        let taken = other.ask("2").await;
        assert!(matches!(&taken, Err(Error::SessionTaken { name }) if name == "s"), "{taken:?}");
        assert!(matches!(other.forget().await, Err(Error::SessionTaken { .. })));
    }
    drop(first);
    let answered = other.go_on().await.expect("no trouble").expect("an answer");
    assert_eq!((answered.text.as_str(), words(&other)), ("one", vec!["1".to_owned(), "one".to_owned()]));
}

#[tokio::test]
async fn a_tool_runs_once_although_the_provider_dies_between_its_result_and_the_answer() {
    let overloaded = Reply::status(503, r#"{"error": {"message": "The model is overloaded."}}"#);
    let first = Provider::start(Wire::OpenAi, after_note(overloaded)).expect("a provider");
    let second = Provider::start(Wire::Gemini, after_note(Reply::answer("All noted."))).expect("a provider");
    let stage = Stage::with(&text(&[("first", &first), ("second", &second)]));
    let notes = Arc::default();
    let router = router(&stage);
    let mut session = named(&router, Request::default().tool(note(&notes))).await;
    let answered = session.ask("note 7").await.expect("an answer");
    assert_eq!((answered.text.as_str(), answered.deployment.to_string().as_str()), ("All noted.", "second/m"));
    assert_eq!((first.hits(), second.hits(), answered.attempts.len()), (2, 1, 3));
    let run = &answered.tools[0];
    assert_eq!((run.tool.as_str(), run.end, run.replayed), ("note", Some(CallEnd::Ok), false));
    assert_eq!((answered.tools.len(), notes.lock().expect("no panic").len()), (1, 1));
    assert!(second.requests()[0].body.to_string().contains("noted 7"));
    let parts: Vec<&Part> = session.turns().iter().flat_map(|turn| &turn.message.parts).collect();
    assert!(matches!(parts[..], [Part::Text(_), Part::ToolCall(_), Part::ToolResult { .. }, Part::Text(_)]));
}

/// The process died before it arrived.
#[tokio::test]
async fn an_answer_that_is_not_as_asked_is_told_again_as_such() {
    let lab = openai(vec![Reply::answer("prose"), Reply::answer("still"), Reply::answer("{\"n\": 1}")]);
    let stage = Stage::with(&format!("{}on_invalid = \"return\"\n", text(&[("lab", &lab)])));
    let router = router(&stage);
    let manner = || Request::default().schema(json!({"type": "object"}));
    let lost = || stage.sql().execute("UPDATE sessions SET told = 0", []).expect("as it was then");
    let is_wrong = |ended: Result<_, Error>| match ended {
        Err(Error::Unanswered(why)) => (why.ending == Ending::WrongShape).then_some(why.text),
        _ => None,
    };
    let first = named(&router, manner()).await.ask("list").await;
    assert_eq!(is_wrong(first).as_deref(), Some("still"));
    lost();
    // It says nothing of a shape, and gets what was asked for.
    let again = named(&router, Request::default()).await.ask("list").await;
    assert_eq!(is_wrong(again).as_deref(), Some("still"));
    assert_eq!(named(&router, manner()).await.ask("again").await.expect("an answer").text, "{\"n\": 1}");
    lost();
    let told = named(&router, Request::default()).await.ask("again").await.expect("an answer");
    assert_eq!((told.parsed, lab.hits()), (Some(json!({"n": 1})), 3));
}

/// Lets every exchange take this long.
struct Takes(Arc<ByHand>, Duration);

impl Watcher for Takes {
    fn asked(&mut self, _: &llmr::Attempt) {
        self.0.pass(self.1);
    }
}

#[tokio::test]
async fn the_deadline_is_over_all_rounds() {
    let lab = openai(vec![wants("slow", &json!({})), Reply::answer("too late")]);
    let stage = Stage::with(&text(&[("lab", &lab)]));
    let time = Arc::new(ByHand::default());
    let builder = Router::builder().config_file(stage.path("llmr.toml")).state_file(stage.state());
    let router = builder.env(|_| None).clock(Arc::clone(&time)).build().expect("a router");
    let slow = |length: u64| {
        let time = Arc::clone(&time);
        Tool::new("slow").run(move |_| {
            time.pass(Duration::from_secs(length));
            async { Ok("done".to_owned()) }
        })
    };
    let manner = |tool| Request::default().tool(tool).deadline(Duration::from_secs(20));
    let mut session = named(&router, manner(slow(0))).await;
    let ended = session.ask_with("go", Takes(Arc::clone(&time), Duration::from_secs(30))).await;
    let Err(Error::Unanswered(unanswered)) = ended else { panic!("answered") };
    assert_eq!((unanswered.ending, lab.hits()), (Ending::Deadline, 1));
    assert_eq!(unanswered.tools.len(), 1, "what was done is told all the same: {unanswered:?}");

    // What a tool takes is its own affair.
    lab.play(Script::from(vec![wants("slow", &json!({"n": 2})), Reply::answer("in time")]));
    session.forget().await.expect("forgotten");
    let mut session = named(&router, manner(slow(30))).await;
    let answered = session.ask_with("go", Takes(Arc::clone(&time), Duration::from_secs(9))).await.expect("an answer");
    assert_eq!(answered.text, "in time");
}

/// A tool that panics the first time.
fn shaky(effect: Effect, tries: &Arc<Mutex<Vec<Invocation>>>) -> Tool {
    let tries = Arc::clone(tries);
    Tool::new("note").effect(effect).run(move |call| {
        tries.lock().expect("no panic").push(call.clone());
        async move {
            assert!(call.number > 1, "it stumbles");
            Ok("noted at last".to_owned())
        }
    })
}

#[tokio::test]
async fn of_an_effect_that_nobody_knows_a_word_is_needed() {
    for again in [false, true] {
        let lab = Provider::start(Wire::OpenAi, after_note(Reply::answer("All noted."))).expect("a provider");
        let stage = Stage::with(&text(&[("lab", &lab)]));
        let tries = Arc::default();
        let manner = || Request::default().tool(shaky(Effect::SideEffecting, &tries));
        let Err(Error::NeedsWord(open)) = named(&router(&stage), manner()).await.ask("note 7").await else {
            panic!("it was answered")
        };
        assert_eq!((open.tool.as_str(), &open.arguments), ("note", &json!({"n": 7})));
        assert!(open.why.as_deref().is_some_and(|why| why.contains("panicked")), "{open:?}");

        // Another process, to which the same is said.
        let router = router(&stage);
        let mut session = named(&router, manner()).await;
        assert!(matches!(session.go_on().await, Err(Error::NeedsWord(_))));
        assert!(matches!(session.ask("other").await, Err(Error::SessionUnderWay { .. })));
        let word = if again { Settlement::Again } else { Settlement::Done("noted by hand".to_owned()) };
        session.settle(open.call.as_str(), word.clone()).await.expect("settled");
        assert!(again || matches!(session.settle(open.call.as_str(), word).await, Err(Error::Unknown { .. })));
        let answered = session.go_on().await.expect("no trouble").expect("an answer");
        assert_eq!(answered.text, "All noted.");
        let tries = tries.lock().expect("no panic");
        assert_eq!(tries.len(), if again { 2 } else { 1 });
        assert!(tries.iter().all(|call| call.idempotency_key == open.idempotency_key), "{tries:?}");
    }
}

#[tokio::test]
async fn a_call_that_was_given_up_is_asked_about() {
    let lab = Provider::start(Wire::OpenAi, after_note(Reply::answer("All noted."))).expect("a provider");
    let stage = Stage::with(&text(&[("lab", &lab)]));
    let router = router(&stage);
    let begun = Arc::new(Notify::new());
    let tell = Arc::clone(&begun);
    let endless = Tool::new("note").run(move |_| {
        tell.notify_one();
        std::future::pending()
    });
    for mut session in [router.session(), named(&router, Request::default()).await] {
        session = session.asking_like(Request::default().tool(endless.clone()));
        tokio::select! {
            biased;
            ended = session.ask("note 7") => panic!("{ended:?}"),
            () = begun.notified() => {}
        }
        // At once, while what was given up may still be written down.
        let Err(Error::NeedsWord(call)) = session.go_on().await else { panic!("it ran twice") };
        assert!(call.why.as_deref().is_some_and(|why| why.contains("given up")), "{call:?}");
        session.settle(call.call, Settlement::Done("noted".to_owned())).await.expect("settled");
        let answered = session.go_on().await.expect("no trouble").expect("an answer");
        assert_eq!((answered.text.as_str(), answered.tools[0].replayed), ("All noted.", true));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_that_was_given_up_is_over_before_its_handle_does_anything_else() {
    let lab = Provider::start(Wire::OpenAi, after_note(Reply::answer("All noted."))).expect("a provider");
    let stage = Stage::with("");
    let begun = stage.path("begun");
    let tool = format!("command = [\"sh\", \"-c\", ': > {}; exec tail -f /dev/null']\n", begun.display());
    let config = format!("{}[tools.note]\ndescription = \"d\"\n{tool}", text(&[("lab", &lab)]));
    std::fs::write(stage.path("llmr.toml"), config).expect("written");
    let router = router(&stage);
    let mut session = named(&router, Request::default().config_tool("note").allow_tools()).await;
    tokio::select! {
        biased;
        ended = session.ask("note 7") => panic!("{ended:?}"),
        () = async { while !begun.exists() { tokio::task::yield_now().await } } => {}
    }
    let error = session.go_on().await;
    assert!(matches!(error, Err(Error::NeedsWord(_))), "{error:?}");
}

#[tokio::test]
async fn without_a_file_conversations_and_tools_live_in_memory() {
    let lab = Provider::start(Wire::Anthropic, after_note(Reply::answer("All noted."))).expect("a provider");
    let router = over(&[("lab", &lab)]).build().expect("a router");
    let notes = Arc::default();
    let manner = || Request::new("note 7").tool(note(&notes)).tool_choice(ToolChoice::Required);
    let answered = router.chat(manner()).await.expect("an answer");
    assert_eq!((answered.text.as_str(), answered.tools.len(), answered.attempts.len()), ("All noted.", 1, 2));
    let mut session = router.session().asking_like(Request::default().tool(note(&notes)));
    session.ask("note 7").await.expect("an answer");
    let hits = lab.hits();
    session.ask("note 7").await.expect("an answer");
    assert_eq!((lab.hits(), session.turns().len()), (hits + 1, 6), "what was answered may be asked again");
    let mut kept = named(&router, Request::default().tool(note(&notes))).await;
    kept.ask("note 7").await.expect("an answer");
    assert_eq!(named(&router, Request::default()).await.turns().len(), 4);
    let keys: Vec<String> =
        notes.lock().expect("no panic").iter().map(|call: &Invocation| call.idempotency_key.clone()).collect();
    assert!(keys.len() == 3 && keys[0] != keys[1] && keys[1] != keys[2], "{keys:?}");
    let plan = router.plan(manner()).await.expect("a plan");
    assert_eq!(plan.order.len(), 1);
}

/// Counts the runs that it is told of.
#[derive(Clone, Default)]
struct Runs(Arc<AtomicU32>);

impl Watcher for Runs {
    fn ran(&mut self, _: &ToolRun) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn commands_of_the_config_need_to_be_allowed_where_they_have_an_effect() {
    let lab = Provider::start(Wire::OpenAi, after_note(Reply::answer("All noted."))).expect("a provider");
    let tools = "[tools.note]\ndescription = \"d\"\ncommand = [\"sh\", \"-c\", \
                 'echo noted; echo \"$LLMR_IDEMPOTENCY_KEY\" >> NOTES']\n";
    let config = text(&[("lab", &lab)]).replace("[ladders.main]\n", "[ladders.main]\ntools = [\"note\"]\n");
    let stage = Stage::with("");
    let notes = stage.path("notes");
    let config = format!("{config}{tools}").replace("NOTES", &notes.display().to_string());
    std::fs::write(stage.path("llmr.toml"), config).expect("written");
    let router = router(&stage);
    let mut session = named(&router, Request::default()).await;
    let Err(Error::NeedsConsent(call)) = session.ask("note 7").await else { panic!("it ran") };
    assert!(call.tool == "note" && !notes.exists());
    let watcher = Runs::default();
    let mut session = session.asking_like(Request::default().allow_tools_if(|call| call.tool == "note"));
    let answered = session.ask_with("note 7", watcher.clone()).await.expect("an answer");
    assert_eq!((answered.text.as_str(), watcher.0.load(Ordering::Relaxed)), ("All noted.", 1));
    let noted = std::fs::read_to_string(&notes).expect("the notes");
    assert_eq!(noted.trim(), call.idempotency_key);

    let declined = router.chat(Request::new("note 7").allow_tools_if(|_| false)).await.expect("an answer");
    assert_eq!((declined.text.as_str(), declined.tools[0].end), ("Then not.", Some(CallEnd::Declined)));
    let bare = router.chat(Request::new("?").no_tools()).await.expect("an answer");
    assert!(bare.tools.is_empty() && bare.tool_calls.len() == 1, "nobody runs what was not offered");
    assert_eq!(std::fs::read_to_string(&notes).expect("the notes").lines().count(), 1);
}

#[tokio::test]
async fn a_tool_that_cannot_be_used_is_told_before_anything_is_sent() {
    let lab = Provider::start(Wire::OpenAi, after_note(wants("note", &json!({})))).expect("a provider");
    let router = over(&[("lab", &lab)]).build().expect("a router");
    let run = |tool: Tool| tool.run(|_| async { Ok(String::new()) });
    let twice = Request::new("?").tool(run(Tool::new("a"))).tool(run(Tool::new("a")));
    let wrong = [
        (Request::new("?").tool(Tool::new("note")), "nothing to run"),
        (Request::new("?").tool(run(Tool::new("no te"))), "its name"),
        (Request::new("?").tool(run(Tool::new("note").schema(json!([])))), "no JSON object"),
        (Request::new("?").config_tool("note"), "no tool `note`"),
        (Request::new("?").tool_choice(ToolChoice::Named("note".to_owned())), "`note`"),
        (twice, "two tools `a`"),
    ];
    for (request, why) in wrong {
        let error = router.chat(request).await.expect_err("trouble");
        assert!(matches!(&error, Error::Tool { message } if message.contains(why)), "{error}: {why}");
    }
    let gone = "\n[tools.gone]\ndescription = \"d\"\ncommand = [\"/nowhere/at-all\"]\n";
    let config = format!("{}{gone}", text(&[("lab", &lab)]));
    let other = Router::builder().config_text(config).state_in_memory().env(|_| None).build().expect("a router");
    let error = other.chat(Request::new("?").config_tool("gone")).await.expect_err("trouble");
    assert!(matches!(&error, Error::Tool { message } if message.contains("`/nowhere/at-all`, which is not here")));
    assert_eq!(lab.hits(), 0);

    // One that answers too late is asked no second time, and one that never ends has an end.
    let slow = Tool::new("note").timeout(Duration::ZERO).run(|_| std::future::pending());
    assert!(matches!(router.chat(Request::new("?").tool(slow)).await, Err(Error::NeedsWord(_))));
    let endless = note(&Arc::default()).effect(Effect::Pure).run(|_| async { Ok("noted".to_owned()) });
    let endless = endless.schema(json!({}));
    let error = router.chat(Request::new("?").tool(endless).max_tool_rounds(2)).await;
    assert!(matches!(error, Err(Error::TooManyRounds { rounds: 2 })), "{error:?}");
}
