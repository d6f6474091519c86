//! What the latest attempts at a deployment come to.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::row::{Fields, Trouble};
use crate::domain::{CredentialName, Deployment, LadderName};
use crate::policy::{Sample, TrackRecord};
use crate::store::OTHER_LADDERS;

/// Walks back over the attempts at each deployment. A log of millions is as quick as a short one: the index of
/// deployments leads to the latest attempts of one, and the walk ends at the bound.
pub(super) fn records(
    conn: &Connection,
    of: &[Deployment],
    ladder: Option<&LadderName>,
    since: Timestamp,
    most: u32,
) -> Result<Vec<TrackRecord>, Trouble> {
    let mut all = Vec::new();
    for deployment in of {
        let samples = samples(conn, deployment, ladder, since, most)?;
        all.extend(TrackRecord::of(deployment.clone(), &samples));
    }
    Ok(all)
}

/// The latest attempts at one deployment. A refusal after which the same deployment could do the request in another form is no
/// failure of it: what followed stands for both. The ladder is only looked up where one is wanted: it costs as much as the row.
const LATEST: &str = "SELECT kind, class, judged, ttft_us, latency_us, output_tokens, cost_usd, \
    ?6 IS NULL OR EXISTS (SELECT 1 FROM requests WHERE id = request_id AND ladder = ?6) \
    FROM attempts WHERE provider = ?1 AND model = ?2 AND credential = ?3 AND started_at >= ?4 \
    AND given_up IS NULL AND (class IS NULL OR NOT EXISTS (SELECT 1 FROM attempts AS next \
    WHERE next.request_id = attempts.request_id AND next.position = attempts.position + 1 AND next.kind = 'adjusted')) \
    ORDER BY started_at DESC LIMIT ?5";

fn samples(
    conn: &Connection,
    of: &Deployment,
    ladder: Option<&LadderName>,
    since: Timestamp,
    most: u32,
) -> Result<Vec<Sample>, Trouble> {
    let mut statement = conn.prepare_cached(LATEST)?;
    let credential = of.credential.as_ref().map_or("", CredentialName::as_str);
    let walked = if ladder.is_some() { most.saturating_mul(OTHER_LADDERS) } else { most };
    let (who, ladder) = ((of.provider.as_str(), of.model.as_str()), ladder.map(LadderName::as_str));
    let mut rows = statement.query(params![who.0, who.1, credential, since.as_millisecond(), walked, ladder])?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut all = Vec::new();
    // Row by row, so that the walk ends with the last one that is wanted.
    while all.len() < most
        && let Some(row) = rows.next()?
    {
        let mut f = Fields::new(row, "attempts");
        let sample = Sample {
            kind: f.word()?,
            class: f.maybe_word()?,
            judged: f.get()?,
            ttft: f.maybe_length()?,
            latency: f.length()?,
            output_tokens: f.whole()?,
            cost_usd: f.get()?,
        };
        if f.get()? {
            all.push(sample);
        }
    }
    Ok(all)
}
