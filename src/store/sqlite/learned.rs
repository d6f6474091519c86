//! What was learned of models, and who served which beginning of a prompt.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::row::{Fields, Trouble, count};
use crate::domain::{CredentialName, ModelName, Prefix, ProviderName, RequestId};
use crate::policy::{About, Finding};
use crate::store::Batch;

/// A beginning of a prompt is forgotten after an hour: no cache keeps it longer unless it is used.
const FORGOTTEN_MS: i64 = 3_600_000;

/// Writes what the batch says of models and prompts.
pub(super) fn write(conn: &Connection, batch: &Batch) -> Result<(), Trouble> {
    for (provider, model) in &batch.forgotten {
        let sql = "DELETE FROM findings WHERE provider = ?1 AND model = ?2";
        conn.prepare_cached(sql)?.execute([provider.as_str(), model.as_str()])?;
    }
    batch.findings.iter().try_for_each(|finding| put_finding(conn, finding))?;
    batch.prefixes.iter().try_for_each(|prefix| put_prefix(conn, prefix))?;
    if let Some(latest) = batch.prefixes.iter().map(|prefix| prefix.at).max() {
        let old = latest.as_millisecond() - FORGOTTEN_MS;
        conn.prepare_cached("DELETE FROM prefixes WHERE at < ?1")?.execute([old])?;
    }
    Ok(())
}

fn put_finding(conn: &Connection, finding: &Finding) -> Result<(), Trouble> {
    conn.prepare_cached(
        "INSERT OR REPLACE INTO findings (provider, model, what, tokens, since, until, evidence, request_id) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        finding.provider.as_str(),
        finding.model.as_str(),
        finding.about.word(),
        count(finding.about.tokens()),
        finding.since.as_millisecond(),
        finding.until.as_millisecond(),
        finding.evidence,
        finding.request_id.as_ref().map(RequestId::as_str),
    ])?;
    Ok(())
}

/// Everything that is believed at this time.
pub(super) fn findings(conn: &Connection, now: Timestamp) -> Result<Vec<Finding>, Trouble> {
    let sql = "SELECT provider, model, what, tokens, since, until, evidence, request_id FROM findings \
               WHERE until > ?1 ORDER BY provider, model, what";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([now.as_millisecond()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "findings");
        let (provider, model) = (ProviderName::new(f.get::<String>()?), ModelName::new(f.get::<String>()?));
        let (word, tokens): (_, Option<i64>) = (f.get()?, f.get()?);
        let about = About::of(word, tokens.and_then(|tokens| u64::try_from(tokens).ok()));
        let (since, until) = (f.time()?, f.time()?);
        let (evidence, request_id) = (f.get()?, f.request_id()?);
        all.push(Finding { provider, model, about, since, until, evidence, request_id });
    }
    Ok(all)
}

fn put_prefix(conn: &Connection, prefix: &Prefix) -> Result<(), Trouble> {
    let deployment = &prefix.deployment;
    conn.prepare_cached(
        "INSERT OR REPLACE INTO prefixes (prefix, provider, model, credential, at, input_tokens, cached_tokens) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        prefix.digest,
        deployment.provider.as_str(),
        deployment.model.as_str(),
        deployment.credential.as_ref().map_or("", CredentialName::as_str),
        prefix.at.as_millisecond(),
        count(prefix.input_tokens),
        count(prefix.cached_tokens),
    ])?;
    Ok(())
}

/// Who served the beginning at or after the time, the latest first.
pub(super) fn prefixes(conn: &Connection, digest: &str, since: Timestamp) -> Result<Vec<Prefix>, Trouble> {
    let sql = "SELECT provider, model, credential, at, input_tokens, cached_tokens FROM prefixes \
               WHERE prefix = ?1 AND at >= ?2 ORDER BY at DESC, provider, model, credential";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![digest, since.as_millisecond()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "prefixes");
        let (deployment, at) = (f.deployment()?, f.time()?);
        let (input_tokens, cached_tokens) = (f.whole()?, f.whole()?);
        all.push(Prefix { digest: digest.to_owned(), deployment, at, input_tokens, cached_tokens });
    }
    Ok(all)
}
