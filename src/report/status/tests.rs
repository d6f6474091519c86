//! The text at the widths of a small and a large terminal, and that everything shown can be cleared.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::domain::{Class, Dimension, Provenance, Scope};
use crate::policy::{Circuit, Cooldown, Family, Lease, Quarantine};
use crate::report::selector_of;

fn now() -> Timestamp {
    "2026-08-23T03:00:00Z".parse().expect("a time")
}

fn after(minutes: u64) -> Timestamp {
    now() + Duration::from_secs(minutes * 60)
}

fn known(name: &str, ladders: &[(&str, usize)]) -> Known {
    let deployment: Deployment = name.parse().expect("a deployment");
    let account = deployment.provider.as_str().into();
    Known {
        target: Target { deployment, account, region: None },
        ladders: ladders.iter().map(|(ladder, step)| ((*ladder).into(), *step)).collect(),
        last_resort_of: Vec::new(),
        fingerprint: None,
        entry: None,
        no_key: false,
        gauges: Vec::new(),
        graded: Vec::new(),
    }
}

fn quarantine(id: i64, scope: Scope) -> Versioned {
    let record = HoldRecord::Quarantine(Quarantine {
        scope,
        dimension: Dimension::Rpd,
        since: now() - Duration::from_secs(5),
        until: after(240),
        provenance: Provenance::Documented,
        probe_at: Some(after(120)),
        streak: 0,
        lease: None,
        evidence: "You exceeded your current quota, please check your plan and billing details. 余额不足".to_owned(),
        request_id: Some("req_1a02c21ae80nfmp3y".into()),
    });
    Versioned { id, version: 1, record }
}

fn circuit(id: i64, scope: Scope, class: Class, retry_at: Timestamp) -> Versioned {
    let record = HoldRecord::Circuit(Circuit {
        scope,
        family: Family::of(class).expect("a family"),
        state: CircuitState::Open,
        class,
        consecutive: 3,
        recent: Vec::new(),
        opened_at: Some(now() - Duration::from_secs(90)),
        retry_at: Some(retry_at),
        opens: 1,
        lease: None,
        provenance: Provenance::Guess,
        fingerprint: None,
        last_failure: now(),
        evidence: String::new(),
        request_id: None,
    });
    Versioned { id, version: 1, record }
}

/// Two ladders, one of which is dead, a last resort and a deployment that only the log knows.
struct Night {
    known: Vec<Known>,
    snapshot: Snapshot,
    bounds: UsageSettings,
    health: Vec<Health>,
}

impl Night {
    fn new() -> Self {
        let mut resort = known("lab/qwen3-8b", &[]);
        resort.last_resort_of = vec!["main".into()];
        let known = vec![
            known("cloudflare/@cf/meta/llama-3.3-70b-instruct-fp8-fast@night", &[("main", 1)]),
            known("gemini/gemini-2.5-flash@first", &[("fast", 0), ("main", 2)]),
            known("groq/llama-3.3-70b-versatile@team", &[("main", 0)]),
            resort,
            known("old/model", &[]),
        ];
        let scope = |at: usize| Scope::account_model(&known[at].target);
        let holds = vec![
            quarantine(4, scope(1)),
            circuit(1, Scope::credential(&known[0].target), Class::Auth, after(360)),
            circuit(2, scope(4), Class::Overloaded, now()),
        ];
        let deployment = known[2].target.deployment.clone();
        let last_success = Some(now() - Duration::from_secs(10));
        let health = vec![Health { deployment, account: "groq".into(), last_success, last_failure: None }];
        let snapshot = Snapshot { holds, ..Snapshot::default() };
        Self { known, snapshot, bounds: UsageSettings::default(), health }
    }

    fn status<'a>(&'a self, choice: &'a Choice, only_held: bool) -> Status<'a> {
        let Self { known, snapshot, bounds, health } = self;
        Status { now: now(), known, snapshot, bounds, health, choice, only_held }
    }

    fn text(&self, words: &[&str], only_held: bool, width: u16) -> String {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let choice = Choice::read(&words, |_| false).expect("good words");
        self.status(&choice, only_held).text(width).plain()
    }
}

#[test]
fn a_night_on_a_small_screen() {
    insta::assert_snapshot!(Night::new().text(&[], false, 80), @r"
    ladder fast: its one step can NOT be asked;
      the first returns in 4h (2026-08-23T07:00:00Z)
                                                why             back      known last
        0 held q4  gemini/gemini-…5-flash@first quota_exhausted 4h        doc.  -

    ladder main: 1 of 3 can be asked
        0 ok       groq/llama-3.3…ersatile@team                                 10s
        1 held b1  cloudflare/@cf…p8-fast@night auth            probe 6h  guess -
        2 held q4  gemini/gemini-…5-flash@first quota_exhausted 4h        doc.  -
     last ok       lab/qwen3-8b                                                 -

    on no ladder:
          probe b2 old/model                    overloaded      probe due       -

    held (`llmr reset ID` clears one, `llmr log REQUEST` shows how it came)
     q4   gemini/gemini-2.5-flash account=gemini
          quota_exhausted (quarantine, rpd);
          until 2026-08-23T07:00:00Z (in 4h), documented;
          next probe 2026-08-23T05:00:00Z (in 2h); set 5s ago;
          request req_1a02c21ae80nfmp3y
          You exceeded your current quota, please check your plan and billing detai…
     b1   cloudflare@night
          auth (circuit);
          until a person acts, next probe 2026-08-23T09:00:00Z (in 6h), guess;
          set 1m 30s ago
     b2   old/model account=old
          overloaded (circuit); a probe is due; 3 failures in a row; set 1m 30s ago
    ");
}

#[test]
fn a_night_on_a_large_screen() {
    insta::assert_snapshot!(Night::new().text(&[], false, 200), @r"
    ladder fast: its one step can NOT be asked; the first returns in 4h (2026-08-23T07:00:00Z)
                                                                                why              back         known by    last answer
        0  held q4   gemini/gemini-2.5-flash@first                              quota_exhausted  in 4h        documented  -

    ladder main: 1 of 3 can be asked
        0  ok        groq/llama-3.3-70b-versatile@team                                                                    10s ago
        1  held b1   cloudflare/@cf/meta/llama-3.3-70b-instruct-fp8-fast@night  auth             probe in 6h  guess       -
        2  held q4   gemini/gemini-2.5-flash@first                              quota_exhausted  in 4h        documented  -
     last  ok        lab/qwen3-8b                                                                                         -

    on no ladder:
           probe b2  old/model                                                  overloaded       probe due                -

    held (`llmr reset ID` clears one, `llmr log REQUEST` shows how it came)
     q4   gemini/gemini-2.5-flash account=gemini
          quota_exhausted (quarantine, rpd); until 2026-08-23T07:00:00Z (in 4h), documented; next probe 2026-08-23T05:00:00Z (in 2h); set 5s ago; request req_1a02c21ae80nfmp3y
          You exceeded your current quota, please check your plan and billing details. 余额不足
     b1   cloudflare@night
          auth (circuit); until a person acts, next probe 2026-08-23T09:00:00Z (in 6h), guess; set 1m 30s ago
     b2   old/model account=old
          overloaded (circuit); a probe is due; 3 failures in a row; set 1m 30s ago
    ");
}

#[test]
fn no_line_is_wider_than_the_screen_where_words_can_be_broken() {
    for width in 52..200_u16 {
        for line in Night::new().text(&[], false, width).lines().take_while(|line| !line.starts_with("held (")) {
            let wide = crate::report::layout::columns(line);
            assert!(wide <= usize::from(width), "{width}: {line}");
        }
    }
}

#[test]
fn a_choice_narrows_the_lines_but_not_what_is_said_of_the_ladder() {
    let night = Night::new();
    let text = night.text(&["gemini"], false, 120);
    assert!(text.contains("ladder main: 1 of 3 can be asked\n"), "{text}");
    assert!(!text.contains("groq") && !text.contains("b1"), "{text}");
    let text = night.text(&["b1"], false, 120);
    assert!(text.contains("held b1") && !text.contains("q4"), "{text}");
    let text = night.text(&[], true, 120);
    assert!(!text.contains("groq") && text.contains("probe b2"), "{text}");
    assert_eq!(night.text(&["groq"], true, 120), "nothing is held\n");
}

#[test]
fn a_probe_under_way_says_so() {
    let mut night = Night::new();
    if let HoldRecord::Circuit(circuit) = &mut night.snapshot.holds[1].record {
        circuit.state = CircuitState::HalfOpen;
        circuit.lease = Some(Lease { holder: "req_other".into(), until: after(1) });
    }
    let text = night.text(&["b1"], false, 120);
    assert!(text.contains("a probe is under way, until 2026-08-23T03:01:00Z (in 1m) at most"), "{text}");
}

#[test]
fn nothing_known_is_said_so() {
    let night = Night {
        known: Vec::new(),
        snapshot: Snapshot::default(),
        bounds: UsageSettings::default(),
        health: Vec::new(),
    };
    assert_eq!(night.text(&[], false, 80), "nothing is known and nothing is held\n");
}

/// A scope of any form, of providers that may be called as a hold is.
fn any_scope() -> impl Strategy<Value = Scope> {
    let part = |names: &'static [&'static str]| prop::option::of(prop::sample::select(names));
    let provider = prop::sample::select(vec!["groq", "gemini", "b1", "q2"]);
    let model = part(&["llama", "@cf/meta/llama", "claude-3@20241022", "a/b:free"]);
    (provider, part(&["acme", "own"]), part(&["team", "night"]), model, part(&["eu", "us"])).prop_map(
        |(provider, account, credential, model, region)| Scope {
            provider: provider.into(),
            account: account.map(Into::into),
            credential: credential.map(Into::into),
            model: model.map(Into::into),
            region: region.map(str::to_owned),
        },
    )
}

fn any_hold() -> impl Strategy<Value = HoldRecord> {
    (any_scope(), 0..4_u8, 0..100_u64).prop_map(|(scope, kind, minutes)| match kind {
        0 => HoldRecord::Cooldown(Cooldown {
            scope,
            dimension: Dimension::Tpm,
            class: Class::RateLimit,
            since: now(),
            until: after(minutes),
            provenance: Provenance::Fact,
            streak: 0,
            obeyed: 0,
            obeyed_since: None,
            evidence: String::new(),
            request_id: None,
        }),
        1 => quarantine(0, scope).record,
        2 => circuit(0, scope, Class::Billing, after(minutes)).record,
        _ => circuit(0, scope, Class::Timeout, after(minutes)).record,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_shown_can_be_cleared(
        records in prop::collection::vec(any_hold(), 1..8),
        names in prop::collection::vec(prop::sample::select(vec!["groq/llama@team", "b1/llama", "old/model"]), 0..3),
    ) {
        let holds: Vec<Versioned> =
            records.into_iter().zip(1..).map(|(record, id)| Versioned { id, version: 1, record }).collect();
        let known: Vec<Known> = names.into_iter().map(|name| known(name, &[])).collect();
        let everything = Choice::default();
        let snapshot = Snapshot { holds: holds.clone(), ..Snapshot::default() };
        let status = Status {
            now: now(),
            known: &known,
            snapshot: &snapshot,
            bounds: &UsageSettings::default(),
            health: &[],
            choice: &everything,
            only_held: false,
        };
        let (json, text) = (status.json(), status.text(80).plain());
        let providers: Vec<String> = holds.iter().map(|held| held.record.scope().provider.to_string()).collect();
        for shown in json["holds"].as_array().expect("a list") {
            let id = shown["id"].as_str().expect("an id");
            prop_assert!(text.contains(&format!("\n {id} ")) || text.starts_with(&format!(" {id} ")), "{}: {}", id, text);
            let held = holds.iter().find(|held| hold_id(held) == id).expect("a hold");
            let choice = |word: String| Choice::read(&[word], |name| providers.iter().any(|p| p == name));
            // By a selector of its scope, and by its provider.
            for word in [selector_of(held.record.scope()).to_string(), held.record.scope().provider.to_string()] {
                let choice = choice(word.clone()).expect("a selector");
                prop_assert!(choice.means_hold(held, &known), "{} of {}", word, held.record.scope());
                prop_assert_eq!(choice.misses(&holds, &known, &[]), []);
            }
            // By its id, and then it alone, unless a provider has that name.
            let by_id = choice(id.to_owned()).expect("an id");
            let meant: Vec<String> =
                holds.iter().filter(|held| by_id.means_hold(held, &known)).map(hold_id).collect();
            if providers.iter().any(|provider| provider == id) {
                prop_assert!(by_id.shadowed(&holds).contains(&held), "the person is told");
            } else {
                prop_assert_eq!(meant, [id]);
            }
        }
    }
}
