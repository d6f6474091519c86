//! The words, read aloud.

use jiff::Timestamp;
use serde_json::Value;

use super::*;
use crate::domain::{AttemptKind, AttemptRecord, Deployment, Dimension, Execution, RequestId, Scope, Target, Usage};
use crate::ladder::{Skip, SkipReason};
use crate::policy::{
    Alarm, AlarmEvent, Circuit, CircuitState, Cooldown, Family, HoldRecord, LetterEnd, Quarantine, Sink, Telling,
    Versioned,
};
use crate::route::{Died, StepLook};

fn now() -> Timestamp {
    "2026-08-23T03:00:00Z".parse().expect("a time")
}

fn at(second: i64) -> Timestamp {
    now() + jiff::SignedDuration::from_secs(second)
}

fn target(text: &str) -> Target {
    let deployment: Deployment = text.parse().expect("a deployment");
    Target { account: "acme".into(), region: None, deployment }
}

fn circuit(who: &str, class: Class, family: Family, retry: i64) -> HoldRecord {
    HoldRecord::Circuit(Circuit {
        scope: Scope::account(&target(who)),
        family,
        state: CircuitState::Open,
        class,
        consecutive: 1,
        recent: Vec::new(),
        opened_at: Some(at(-60)),
        retry_at: Some(at(retry)),
        opens: 1,
        lease: None,
        provenance: Provenance::Guess,
        fingerprint: None,
        last_failure: at(-60),
        evidence: "You exceeded your current quota; see $(billing)".to_owned(),
        request_id: None,
    })
}

fn quarantine(who: &str) -> HoldRecord {
    HoldRecord::Quarantine(Quarantine {
        scope: Scope::account_model(&target(who)),
        dimension: Dimension::Tpd,
        since: at(-60),
        until: at(14_580),
        provenance: Provenance::Documented,
        probe_at: None,
        streak: 0,
        lease: None,
        evidence: "Limit 100000, Used 99990".to_owned(),
        request_id: None,
    })
}

fn cooldown(who: &str) -> HoldRecord {
    HoldRecord::Cooldown(Cooldown {
        scope: Scope::account_model(&target(who)),
        dimension: Dimension::Rpm,
        class: Class::RateLimit,
        since: at(-1),
        until: at(720),
        provenance: Provenance::Fact,
        streak: 0,
        obeyed: 0,
        obeyed_since: None,
        evidence: String::new(),
        request_id: None,
    })
}

fn step(who: &str, died: Died) -> StepLook {
    StepLook { target: target(who), died }
}

fn night() -> LadderLook {
    let skip = Skip {
        step: 4,
        deployment: "mistral/small@own".parse().expect("a deployment"),
        reason: SkipReason::NoKey("environment variable MISTRAL_API_KEY is not set".to_owned()),
        until: None,
        provenance: None,
    };
    LadderLook {
        ladder: "main".into(),
        steps: vec![
            step("groq/llama@team", Died::Held(quarantine("groq/llama@team"))),
            step("openai/gpt@own", Died::Held(circuit("openai/gpt@own", Class::Billing, Family::Billing, 21_600))),
            step("xai/grok@own", Died::Held(circuit("xai/grok@own", Class::Auth, Family::Auth, 60))),
            step("gemini/flash@own", Died::Held(cooldown("gemini/flash@own"))),
            step("mistral/small@own", Died::Skipped(skip)),
            step("lab/qwen", Died::Free),
        ],
        standing: Standing::Bad { met: 1 },
        answered_at: None,
        within: Vec::new(),
        request_id: Some(RequestId::new("req_1")),
    }
}

#[test]
fn an_exhausted_ladder_says_who_died_of_what_who_is_back_first_and_what_can_be_done() {
    let words = exhausted::words(&night(), now());
    assert_eq!(
        words.text,
        "\
llmr: ladder main is exhausted: none of its 6 steps can answer, gemini/flash@own is back first, in 12m, at 2026-08-23T03:12:00Z

What its steps died of:
0  groq/llama@team: the quota is spent (tpd), back in 4h 3m at 2026-08-23T07:03:00Z (by its reset clock); it said: Limit 100000, Used 99990
1  openai/gpt@own: no money on the account, until a person acts; looked at again in 6h; it said: You exceeded your current quota; see $(billing)
2  xai/grok@own: the key is refused, until a person acts; looked at again in 1m; it said: You exceeded your current quota; see $(billing)
3  gemini/flash@own: too many requests at once (rpm), back in 12m at 2026-08-23T03:12:00Z (the provider says so)
4  mistral/small@own: not asked: environment variable MISTRAL_API_KEY is not set
5  lab/qwen: was not asked, and can be

Back first: gemini/flash@own, in 12m at 2026-08-23T03:12:00Z (the provider says so)

What you can do now:
- pay: top up account acme at openai, then `llmr reset openai/gpt@own`
- replace key own of xai: a new one is tried at once; for the same one `llmr reset xai/grok@own`
- raise the quota of account acme at groq, or wait; if it is back early, `llmr reset groq/llama@team`
- ask gemini less often, or raise its limit; `[[caps]]` keeps below it
- give mistral/small@own its key: environment variable MISTRAL_API_KEY is not set
- let requests wait for the first that is back: `llmr chat --wait 13m`
- add a step that shares nothing with these: another provider, or a model on your own machine as `last_resort`
- `llmr log req_1` shows all that was said, `llmr status` how things stand
"
    );
    let details: Value = serde_json::from_str(&words.details).expect("JSON");
    assert_eq!(details["retry_at"], "2026-08-23T03:12:00Z");
    assert_eq!(details["steps"][1]["class"], "billing");
    assert_eq!(details["steps"][1]["needs_a_person"], true);
    assert_eq!(details["steps"].as_array().map(Vec::len), Some(6));
}

#[test]
fn with_nobody_back_by_itself_a_person_must_act() {
    let billing = Died::Held(circuit("openai/gpt@own", Class::Billing, Family::Billing, 21_600));
    let look = LadderLook { steps: vec![step("openai/gpt@own", billing)], ..night() };
    let words = exhausted::words(&look, now());
    assert_eq!(words.summary, "llmr: ladder main is exhausted: its one step cannot answer, a person must act");
    assert!(words.text.contains("Back first: nobody by itself"), "{}", words.text);
    let many = (0..60).map(|n| step(&format!("lab/m{n}"), Died::Free)).collect();
    let words = exhausted::words(&LadderLook { steps: many, ..night() }, now());
    assert!(words.text.contains("and 20 more") && words.text.len() < 16_000, "{}", words.text);
}

/// A step that was asked just now and failed, and for which nothing is held.
fn failed(who: &str, class: Class) -> StepLook {
    let attempt = AttemptRecord {
        deployment: target(who).deployment,
        account: "acme".into(),
        step: 0,
        kind: AttemptKind::First,
        class: Some(class),
        scope: None,
        dimension: None,
        status: Some(500),
        rule: None,
        evidence: None,
        started_at: at(-1),
        ttft: None,
        latency: std::time::Duration::ZERO,
        held_until: None,
        usage: Usage::default(),
        cost_usd: None,
        execution: Execution::Ran,
        given_up: None,
        extracted: None,
        judged: false,
    };
    step(who, Died::Failed(attempt))
}

#[test]
fn steps_that_failed_and_are_not_held_may_be_asked_again() {
    let billing = || step("xai/grok@own", Died::Held(circuit("xai/grok@own", Class::Billing, Family::Billing, 21_600)));
    let (groq, openai) =
        (|| failed("groq/llama@team", Class::ServerError), || failed("openai/gpt@own", Class::Network));
    for (steps, summary) in [
        (vec![groq()], "its one step cannot answer, it may be asked again at any time"),
        (vec![groq(), openai()], "none of its 2 steps can answer, they may be asked again at any time"),
        (vec![billing(), openai()], "none of its 2 steps can answer, openai/gpt@own may be asked again at any time"),
    ] {
        let words = exhausted::words(&LadderLook { steps, ..night() }, now());
        assert_eq!(words.summary, format!("llmr: ladder main is exhausted: {summary}"));
        assert!(words.text.contains("at any time: nothing is held for it\n"), "{}", words.text);
        assert!(words.text.contains("- ask again at any time: nothing is held for "), "{}", words.text);
        assert!(!words.text.contains("llmr reset groq") && !words.text.contains("llmr reset openai"), "{}", words.text);
        assert!(words.text.contains("- look at the status page of "), "{}", words.text);
    }
    let held = circuit("groq/llama@team", Class::ServerError, Family::Transient, 720);
    let look = LadderLook { steps: vec![step("groq/llama@team", Died::Held(held))], ..night() };
    let text = exhausted::words(&look, now()).text;
    assert!(text.contains("when it is well, `llmr reset groq/llama@team` or `llmr probe groq`\n"), "{text}");
}

#[test]
fn a_hold_and_a_forecast_say_what_they_are() {
    let held =
        Versioned { id: 7, version: 1, record: circuit("openai/gpt@own", Class::Billing, Family::Billing, 21_600) };
    let hold = HoldLook { held, ladders: vec!["main".into(), "fast".into()] };
    let words = hold::words(&hold, now());
    assert_eq!(words.summary, "llmr: openai account=acme is held: no money on the account, a person must act");
    assert!(words.text.contains("it has steps on main, fast") && words.text.contains("looked at again in 6h"));
    let limit = crate::policy::Limit { value: 1000.0, source: crate::policy::LimitSource::Config };
    let forecast = Forecast {
        scope: Scope::account(&target("groq/llama@team")),
        dimension: Dimension::Tpd,
        used: 500.4,
        limit,
        resets_at: Some(at(43_200)),
        runs_out: Some(at(14_400)),
        share_at_reset: 1.5,
    };
    let sighting = of_forecast(&forecast, &AlarmSettings::default(), now()).expect("it rings");
    assert_eq!(
        sighting.words.summary,
        "llmr: groq account=acme tpd runs out in 4h at 2026-08-23T07:00:00Z, 500 of 1000 are used and it is back in 12h"
    );
    assert_eq!(sighting.standing, Standing::Bad { met: 0 });
    let catalogue = crate::policy::Limit { value: 1000.0, source: crate::policy::LimitSource::Catalogue };
    let plan = Forecast { limit: catalogue, ..forecast };
    assert_eq!(of_forecast(&plan, &AlarmSettings::default(), now()), None, "that plan may be another one");
}

fn alarm() -> Alarm {
    Alarm {
        kind: AlarmKind::Exhausted,
        subject: "main".to_owned(),
        raised_at: at(-720),
        seen_at: at(-60),
        count: 3,
        calm_since: None,
        healed_at: None,
        flaps: 0,
        told_at: Some(at(-720)),
        told_over_at: None,
        part_of: None,
        until: None,
        words: exhausted::words(&night(), now()),
    }
}

/// The alarm of a hold.
fn of(record: HoldRecord) -> Alarm {
    let subject = hold_subject(&record);
    let held = Versioned { id: 7, version: 1, record };
    let words = hold::words(&HoldLook { held, ladders: vec!["main".into()] }, now());
    Alarm { kind: AlarmKind::Hold, subject, words, ..alarm() }
}

fn by_hand(who: &str) -> HoldRecord {
    let HoldRecord::Circuit(circuit) = circuit(who, Class::Unknown, Family::Operator, 21_600) else {
        panic!("it is a circuit");
    };
    HoldRecord::Circuit(Circuit { scope: Scope::provider(target(who).deployment.provider), ..circuit })
}

fn told(event: AlarmEvent, alarm: Alarm) -> (String, String) {
    let parts = vec![
        of(circuit("openai/gpt@own", Class::Billing, Family::Billing, 21_600)),
        Alarm { subject: "fast".to_owned(), ..self::alarm() },
    ];
    let telling = Telling { event, alarm, is_current: false, parts };
    let body = alarm_body(&telling, "alarm_1", now());
    let text = |name: &str| body[name].as_str().expect(name).to_owned();
    assert_eq!((text("type"), text("ladder")), (format!("alarm.{event}"), "main".to_owned()));
    (text("summary"), text("text"))
}

#[test]
fn every_event_has_its_own_first_line() {
    let healed = || Alarm { healed_at: Some(now()), ..alarm() };
    let fresh = Alarm { raised_at: now(), told_at: None, ..alarm() };
    let head = "ladder main is exhausted: none of its 6 steps can answer, gemini/flash@own is back first, in 12m, at 2026-08-23T03:12:00Z";
    assert_eq!(told(AlarmEvent::Raised, fresh).0, format!("llmr: {head}"));
    let (late, text) = told(AlarmEvent::Raised, alarm());
    assert_eq!(late, format!("llmr: {head}, since 2026-08-23T02:48:00Z"));
    assert!(text.contains("in a quiet time and still is"), "{text}");
    assert_eq!(told(AlarmEvent::Reminder, alarm()).0, format!("llmr: still so after 12m: {head}"));
    let (over, text) = told(AlarmEvent::Healed, healed());
    assert_eq!(over, "llmr: over: ladder main is exhausted no more, after 12m");
    assert!(text.contains("from 2026-08-23T02:48:00Z to 2026-08-23T03:00:00Z; it was met 3 times"), "{text}");
    let still = "Of what it died of this still is so:\n- openai account=acme is held, no money on the account\n\
                 - ladder fast is exhausted\n";
    assert!(text.ends_with(still), "{text}");
    assert_eq!(told(AlarmEvent::Passed, healed()).0, "llmr: came and went: ladder main was exhausted, for 12m");
}

#[test]
fn holds_are_told_in_words_and_not_by_what_tells_them_apart() {
    let healed = |record| Alarm { healed_at: Some(now()), ..of(record) };
    let billing = || circuit("openai/gpt@own", Class::Billing, Family::Billing, 21_600);
    for (event, record, line) in [
        (AlarmEvent::Healed, by_hand("groq/llama@team"), "over: groq is free again after 12m: it was held by hand"),
        (AlarmEvent::Passed, by_hand("groq/llama@team"), "came and went: groq was held by hand, for 12m"),
        (
            AlarmEvent::Healed,
            billing(),
            "over: openai account=acme is free again after 12m: it was held, no money on the account",
        ),
        (
            AlarmEvent::Passed,
            billing(),
            "came and went: openai account=acme was held, no money on the account, for 12m",
        ),
    ] {
        assert_eq!(told(event, healed(record)).0, format!("llmr: {line}"));
    }
    let bare = Alarm { words: Words::default(), ..of(billing()) };
    assert_eq!(alarm_name(&bare), "circuit openai account=acme billing is held");
}

#[test]
fn what_is_told_late_says_of_when_its_words_are() {
    for (is_current, says) in [
        (true, "This is how it stands now:\n\nllmr: ladder main"),
        (false, "When it was last met, at 2026-08-23T02:59:00Z:\n\nllmr: ladder main"),
    ] {
        for event in [AlarmEvent::Raised, AlarmEvent::Reminder] {
            let telling = Telling { event, alarm: alarm(), is_current, parts: Vec::new() };
            let body = alarm_body(&telling, "alarm_1", now());
            assert!(body["text"].as_str().is_some_and(|text| text.contains(says)), "{body:#}");
        }
    }
}

#[test]
fn no_first_line_means_anything_to_a_shell() {
    let hostile = LadderLook { ladder: "m$(rm -rf ~);`id`|&<>'\"*?\u{1b}[31m\n#".into(), ..night() };
    let summary = exhausted::words(&hostile, now()).summary;
    assert!(!summary.contains(['$', '(', ')', ';', '`', '|', '&', '<', '>', '\'', '"', '*', '?', '\n', '\u{1b}', '#']));
}

#[test]
fn the_list_says_who_was_told_and_what_waits() {
    let telling = Telling { event: AlarmEvent::Raised, alarm: alarm(), is_current: true, parts: Vec::new() };
    let mut letters = alarm_letters(&telling, &[Sink::Command, Sink::Webhook], "alarm_1", at(-720));
    letters[0].end = Some((LetterEnd::Delivered, at(-719)));
    letters[1].tries = 2;
    letters[1].due_at = at(30);
    letters[1].error = Some("status 500".to_owned());
    let old =
        Alarm { subject: "old".to_owned(), healed_at: Some(at(-90_000)), told_over_at: Some(at(-90_000)), ..alarm() };
    let hold = Alarm { kind: AlarmKind::Hold, part_of: Some("main".to_owned()), told_at: None, ..alarm() };
    let (alarms, settings) = ([alarm(), old, hold], AlarmSettings::default());
    let list = AlarmList {
        now: now(),
        alarms: &alarms,
        letters: &letters,
        settings: Some(&settings),
        sinks: Sink::ALL,
        all: false,
    };
    let text = alarms_text(&list);
    assert!(
        text.starts_with("exhausted main: RAISED 2026-08-23T02:48:00Z (12m ago), met 3 times\n  llmr: ladder"),
        "{text}"
    );
    for part in [
        "  raised by command: delivered 11m ago\n",
        "  raised by webhook: try 2 of 8 failed: status 500; next in 30s\n",
        "  told with ladder main\n",
    ] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    assert!(!text.contains("exhausted old"), "{text}");
    assert!(alarms_text(&AlarmList { all: true, ..list }).contains("exhausted old: over since"));
    let json = alarms_json(&list);
    assert_eq!(json["alarms"][0]["letters"][1]["state"], "waiting");
    assert_eq!(json["alarms"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["sinks"], serde_json::json!(["command", "webhook"]));
    assert_eq!(alarms_text(&AlarmList { alarms: &[], ..list }), "nothing is raised\n");
    let silent = alarms_text(&AlarmList { sinks: &[], ..list });
    assert!(silent.starts_with(&text) && silent.contains("\nnobody is told: the config has no [alarm]"), "{silent}");
}
