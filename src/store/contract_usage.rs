//! What every backend must tell the same of usage.

use super::contract::{at, on_both};
use super::{Accounts, Batch, Store, StoreError};
use crate::catalog::ResetClock;
use crate::domain::{Dimension, RequestId, Scope, Target, Unit};
use crate::policy::{Demand, Estimate, Flight, Learned, Meter, MeterChange, UsageState};

fn target(deployment: &str, account: &str) -> Target {
    Target { deployment: deployment.parse().expect("a deployment"), account: account.into(), region: None }
}

fn meter(scope: Scope, used: f64) -> Meter {
    Meter {
        scope,
        dimension: Dimension::Tpd,
        unit: Some(Unit::Tokens),
        clock: "midnight America/Los_Angeles".parse().expect("a clock"),
        started: at(0),
        counted: at(2),
        used,
        before: 1.5,
        resets_at: Some(at(60)),
        learned: Some(Learned { value: 100_000.0, at: at(1), source: "header x".to_owned() }),
    }
}

fn counts(expected: Option<i64>, meter: Meter) -> Batch {
    let key = (meter.scope.clone(), meter.dimension);
    Batch { meters: vec![MeterChange { key, expected, meter: Some(meter) }], ..Batch::default() }
}

fn usage(store: &dyn Store, of: &Accounts) -> UsageState {
    store.snapshot(of).expect("a snapshot").usage
}

fn conflicts(store: &dyn Store, batch: &Batch) {
    assert!(matches!(store.commit(batch), Err(StoreError::Conflict)));
}

#[test]
fn a_meter_is_written_only_over_what_was_seen() {
    on_both(|store| {
        let scope = Scope::account_model(&target("groq/llama@team", "acme"));
        let (first, second) = (meter(scope.clone(), 10.0), meter(scope, 20.25));
        store.commit(&counts(None, first.clone())).expect("new");
        conflicts(store, &counts(None, second.clone()));
        conflicts(store, &counts(Some(7), second.clone()));
        store.commit(&counts(Some(1), second.clone())).expect("changed");
        let found = usage(store, &Accounts::All).meters;
        assert_eq!(found.iter().map(|held| (held.version, &held.meter)).collect::<Vec<_>>(), [(2, &second)]);
        let key = (first.scope.clone(), first.dimension);
        let removal = |expected| Batch {
            meters: vec![MeterChange { key: key.clone(), expected, meter: None }],
            ..Batch::default()
        };
        conflicts(store, &removal(Some(1)));
        store.commit(&removal(Some(2))).expect("removed");
        assert_eq!(usage(store, &Accounts::All), UsageState::default());
    });
}

#[test]
fn every_clock_and_a_meter_without_a_limit_survive() {
    on_both(|store| {
        for clock in ["rolling 1m", "refill 1d", "midnight UTC", "month Asia/Shanghai", "stated", "never"] {
            let scope = Scope::provider(clock.into());
            let clock: ResetClock = clock.parse().expect("a clock");
            let plain = Meter { clock, unit: None, resets_at: None, learned: None, ..meter(scope.clone(), 0.1) };
            store.commit(&counts(None, plain.clone())).expect("new");
            let held = usage(store, &Accounts::All);
            assert_eq!(held.meter(&scope, Dimension::Tpd).map(|held| &held.meter), Some(&plain));
        }
    });
}

#[test]
fn only_the_wanted_accounts_are_read_with_what_has_no_account() {
    on_both(|store| {
        let (own, other) = (target("groq/llama@team", "acme"), target("groq/llama@own", "own"));
        let scopes = [
            Scope::account_model(&own),
            Scope::account_model(&other),
            Scope::provider("groq".into()),
            Scope::credential(&own),
            Scope::provider("lab".into()),
        ];
        for scope in &scopes {
            store.commit(&counts(None, meter(scope.clone(), 1.0))).expect("new");
        }
        let mut read: Vec<Scope> =
            usage(store, &Accounts::of([&own, &own])).meters.into_iter().map(|held| held.meter.scope).collect();
        read.sort();
        let mut wanted = vec![scopes[0].clone(), scopes[2].clone(), scopes[3].clone()];
        wanted.sort();
        assert_eq!(read, wanted);
        assert_eq!(usage(store, &Accounts::None), UsageState::default());
    });
}

#[test]
fn flights_take_off_and_land_and_estimates_replace_each_other() {
    on_both(|store| {
        let own = target("groq/llama@team", "acme");
        let demand = Demand { requests: 1.0, input: 12.0, output: 400.0, usd: 0.25 };
        let flight = |id: &str, seconds| Flight { id: id.into(), target: own.clone(), demand, until: at(seconds) };
        let flights = |flights: Vec<Flight>| Batch { flights, ..Batch::default() };
        store.commit(&flights(vec![flight("r-1", 1), flight("r-2", 2)])).expect("off");
        store.commit(&flights(vec![flight("r-1", 9)])).expect("again");
        let seen = usage(store, &Accounts::of([&own]));
        assert_eq!(seen.flights, [flight("r-1", 9), flight("r-2", 2)]);
        assert_eq!(seen.landed(&"r-1".into(), at(2)), ["r-1", "r-2"].map(RequestId::from));
        store.commit(&Batch { landed: vec!["r-2".into(), "r-3".into()], ..Batch::default() }).expect("landed");
        assert_eq!(usage(store, &Accounts::All).flights, [flight("r-1", 9)]);

        let estimate = |samples| Estimate { samples, ..Estimate::new("groq".into(), "llama".into()) };
        for samples in [1, 2] {
            store.commit(&Batch { estimates: vec![estimate(samples)], ..Batch::default() }).expect("learned");
        }
        assert_eq!(usage(store, &Accounts::of([&own])).estimates, [estimate(2)]);
    });
}
