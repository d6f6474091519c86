//! What the latest attempts at a deployment come to.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::row::{Fields, Trouble};
use crate::domain::{CredentialName, Deployment};
use crate::policy::{Sample, TrackRecord};

/// Walks back over the attempts at each deployment. A log of millions is as quick as a short one: the index of
/// deployments leads to the latest attempts of one, and the walk ends at the bound.
pub(super) fn records(
    conn: &Connection,
    of: &[Deployment],
    since: Timestamp,
    most: u32,
) -> Result<Vec<TrackRecord>, Trouble> {
    let mut all = Vec::new();
    for deployment in of {
        let samples = samples(conn, deployment, since, most)?;
        all.extend(TrackRecord::of(deployment.clone(), &samples));
    }
    Ok(all)
}

fn samples(conn: &Connection, of: &Deployment, since: Timestamp, most: u32) -> Result<Vec<Sample>, Trouble> {
    let sql = "SELECT kind, class, ttft_us, latency_us, output_tokens, cost_usd \
               FROM attempts WHERE provider = ?1 AND model = ?2 AND credential = ?3 AND started_at >= ?4 \
               AND given_up IS NULL ORDER BY started_at DESC LIMIT ?5";
    let mut statement = conn.prepare_cached(sql)?;
    let credential = of.credential.as_ref().map_or("", CredentialName::as_str);
    let values = params![of.provider.as_str(), of.model.as_str(), credential, since.as_millisecond(), most];
    let mut rows = statement.query(values)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "attempts");
        all.push(Sample {
            kind: f.word()?,
            class: f.maybe_word()?,
            ttft: f.maybe_length()?,
            latency: f.length()?,
            output_tokens: f.whole()?,
            cost_usd: f.get()?,
        });
    }
    Ok(all)
}
