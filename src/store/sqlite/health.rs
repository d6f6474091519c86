//! When each deployment last worked.

use rusqlite::{Connection, params};

use super::row::{Fields, Trouble};
use crate::domain::{AccountName, AttemptRecord, CredentialName};
use crate::store::Health;

const PUT_HEALTH: &str = "INSERT INTO deployments (provider, model, credential, account, last_success, last_failure) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET account = excluded.account, \
     last_success = max(ifnull(last_success, excluded.last_success), ifnull(excluded.last_success, last_success)), \
     last_failure = max(ifnull(last_failure, excluded.last_failure), ifnull(excluded.last_failure, last_failure))";

/// Notes when the deployment worked or failed.
pub(super) fn note(conn: &Connection, a: &AttemptRecord) -> Result<(), Trouble> {
    let started = Some(a.started_at.as_millisecond());
    let (success, failure) = match a.class {
        // One that was given up says nothing of the deployment.
        None if a.given_up.is_some() => return Ok(()),
        None => (started, None),
        Some(_) => (None, started),
    };
    let deployment = &a.deployment;
    conn.prepare_cached(PUT_HEALTH)?.execute(params![
        deployment.provider.as_str(),
        deployment.model.as_str(),
        deployment.credential.as_ref().map_or("", CredentialName::as_str),
        a.account.as_str(),
        success,
        failure,
    ])?;
    Ok(())
}

/// All deployments that were ever asked.
pub(super) fn all(conn: &Connection) -> Result<Vec<Health>, Trouble> {
    let sql = "SELECT provider, model, credential, account, last_success, last_failure FROM deployments \
               ORDER BY provider, model, credential";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "deployments");
        all.push(Health {
            deployment: f.deployment()?,
            account: AccountName::new(f.get::<String>()?),
            last_success: f.maybe_time()?,
            last_failure: f.maybe_time()?,
        });
    }
    Ok(all)
}
