//! Reads and writes meters, flights and estimates.

use rusqlite::{Connection, Params, params};

use super::holds::parts;
use super::row::{Fields, Trouble, ms};
use crate::catalog::ResetClock;
use crate::domain::{AccountName, CredentialName, ModelName, ProviderName, RequestId, Target, Unit};
use crate::policy::{Demand, Estimate, Flight, Learned, Meter, MeterChange, UsageState, VersionedMeter};
use crate::store::{Accounts, Batch};

/// All that is known of the use of the wanted accounts. The caller holds a transaction.
pub(super) fn read(conn: &Connection, of: &Accounts) -> Result<UsageState, Trouble> {
    let mut usage = UsageState::default();
    match of {
        Accounts::None => {}
        Accounts::All => {
            meters(conn, "", [], &mut usage)?;
            flights(conn, "", [], &mut usage)?;
            estimates(conn, "", [], &mut usage)?;
        }
        Accounts::Of(accounts) => {
            for (provider, account) in accounts {
                let values = [provider.as_str(), account.as_str()];
                // A limit of a provider or a key has no account; it is read once.
                meters(conn, " WHERE provider = ?1 AND account = ?2", values, &mut usage)?;
                flights(conn, " WHERE provider = ?1 AND account = ?2", values, &mut usage)?;
            }
            let mut providers: Vec<&ProviderName> = accounts.iter().map(|(provider, _)| provider).collect();
            providers.sort();
            providers.dedup();
            for provider in providers {
                meters(conn, " WHERE provider = ?1 AND account = ''", [provider.as_str()], &mut usage)?;
                estimates(conn, " WHERE provider = ?1", [provider.as_str()], &mut usage)?;
            }
        }
    }
    Ok(usage)
}

fn rows(
    conn: &Connection,
    sql: &str,
    table: &'static str,
    values: impl Params,
    mut take: impl FnMut(&mut Fields<'_, '_>) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        take(&mut Fields::new(row, table))?;
    }
    Ok(())
}

fn meters(conn: &Connection, filter: &str, values: impl Params, usage: &mut UsageState) -> Result<(), Trouble> {
    let sql = format!(
        "SELECT provider, account, credential, model, region, dimension, version, unit, clock, started, used, before, \
         counted, resets_at, limit_value, limit_at, limit_source FROM meters{filter}"
    );
    rows(conn, &sql, "meters", values, |f| {
        let (scope, dimension, version) = (f.scope()?, f.word()?, f.get()?);
        let (unit, clock) = (f.maybe_word::<Unit>()?, f.word::<ResetClock>()?);
        let (started, used, before, counted) = (f.time()?, f.get()?, f.get()?, f.time()?);
        let resets_at = f.maybe_time()?;
        let (value, at, source): (Option<f64>, _, Option<String>) = (f.get()?, f.maybe_time()?, f.get()?);
        let learned = value.zip(at).map(|(value, at)| Learned { value, at, source: source.unwrap_or_default() });
        let meter = Meter { scope, dimension, unit, clock, started, counted, used, before, resets_at, learned };
        usage.meters.push(VersionedMeter { version, meter });
        Ok(())
    })
}

fn flights(conn: &Connection, filter: &str, values: impl Params, usage: &mut UsageState) -> Result<(), Trouble> {
    let sql = format!(
        "SELECT provider, model, credential, account, region, request_id, requests, input_tokens, output_tokens, usd, \
         until FROM flights{filter}"
    );
    rows(conn, &sql, "flights", values, |f| {
        let deployment = f.deployment()?;
        let account = AccountName::new(f.get::<String>()?);
        let target = Target { deployment, account, region: f.any(|region| region)? };
        let id = RequestId::new(f.get::<String>()?);
        let demand = Demand { requests: f.get()?, input: f.get()?, output: f.get()?, usd: f.get()? };
        usage.flights.push(Flight { id, target, demand, until: f.time()? });
        Ok(())
    })
}

fn estimates(conn: &Connection, filter: &str, values: impl Params, usage: &mut UsageState) -> Result<(), Trouble> {
    let sql = format!("SELECT provider, model, factor, output, samples FROM estimates{filter}");
    rows(conn, &sql, "estimates", values, |f| {
        let (provider, model) = (ProviderName::new(f.get::<String>()?), ModelName::new(f.get::<String>()?));
        usage.estimates.push(Estimate { provider, model, factor: f.get()?, output: f.get()?, samples: f.get()? });
        Ok(())
    })
}

const INSERT_METER: &str = "INSERT INTO meters (unit, clock, started, used, before, resets_at, limit_value, limit_at, \
     limit_source, counted, version, provider, account, credential, model, region, dimension) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1 + ?11, ?12, ?13, ?14, ?15, ?16, ?17) ON CONFLICT DO NOTHING";

const UPDATE_METER: &str = "UPDATE meters SET unit = ?1, clock = ?2, started = ?3, used = ?4, before = ?5, \
     resets_at = ?6, limit_value = ?7, limit_at = ?8, limit_source = ?9, counted = ?10, version = version + 1 \
     WHERE version = ?11 AND provider = ?12 AND account = ?13 AND credential = ?14 AND model = ?15 AND region = ?16 \
     AND dimension = ?17";

const DELETE_METER: &str = "DELETE FROM meters WHERE version = ?1 AND provider = ?2 AND account = ?3 \
     AND credential = ?4 AND model = ?5 AND region = ?6 AND dimension = ?7";

/// Writes what the batch says of usage. The caller holds the write transaction and rolls it back when this fails.
pub(super) fn write(conn: &Connection, batch: &Batch) -> Result<(), Trouble> {
    for change in &batch.meters {
        if change_meter(conn, change)? != 1 {
            return Err(Trouble::Conflict);
        }
    }
    for id in &batch.landed {
        conn.prepare_cached("DELETE FROM flights WHERE request_id = ?1")?.execute([id.as_str()])?;
    }
    for flight in &batch.flights {
        put_flight(conn, flight)?;
    }
    for estimate in &batch.estimates {
        put_estimate(conn, estimate)?;
    }
    Ok(())
}

fn change_meter(conn: &Connection, change: &MeterChange) -> Result<usize, Trouble> {
    let (scope, dimension) = &change.key;
    let [provider, account, credential, model, region] = parts(scope);
    let version = change.expected.unwrap_or(0);
    let Some(meter) = &change.meter else {
        let values = params![version, provider, account, credential, model, region, dimension.as_str()];
        return Ok(conn.prepare_cached(DELETE_METER)?.execute(values)?);
    };
    let learned = meter.learned.as_ref();
    let sql = if change.expected.is_some() { UPDATE_METER } else { INSERT_METER };
    Ok(conn.prepare_cached(sql)?.execute(params![
        meter.unit.map(Unit::as_str),
        meter.clock.to_string(),
        meter.started.as_millisecond(),
        meter.used,
        meter.before,
        ms(meter.resets_at),
        learned.map(|learned| learned.value),
        ms(learned.map(|learned| learned.at)),
        learned.map(|learned| learned.source.as_str()),
        meter.counted.as_millisecond(),
        version,
        provider,
        account,
        credential,
        model,
        region,
        dimension.as_str(),
    ])?)
}

fn put_flight(conn: &Connection, flight: &Flight) -> Result<(), Trouble> {
    let sql = "INSERT OR REPLACE INTO flights (request_id, provider, account, credential, model, region, requests, \
               input_tokens, output_tokens, usd, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let Target { deployment, account, region } = &flight.target;
    conn.prepare_cached(sql)?.execute(params![
        flight.id.as_str(),
        deployment.provider.as_str(),
        account.as_str(),
        deployment.credential.as_ref().map_or("", CredentialName::as_str),
        deployment.model.as_str(),
        region.as_deref().unwrap_or(""),
        flight.demand.requests,
        flight.demand.input,
        flight.demand.output,
        flight.demand.usd,
        flight.until.as_millisecond(),
    ])?;
    Ok(())
}

fn put_estimate(conn: &Connection, estimate: &Estimate) -> Result<(), Trouble> {
    let sql = "INSERT OR REPLACE INTO estimates (provider, model, factor, output, samples) VALUES (?1, ?2, ?3, ?4, ?5)";
    let Estimate { provider, model, factor, output, samples } = estimate;
    conn.prepare_cached(sql)?.execute(params![provider.as_str(), model.as_str(), factor, output, samples])?;
    Ok(())
}
