//! How good the deployments of a ladder lately were at its work, and who goes last for it.

use std::time::Duration;

use jiff::Timestamp;

use crate::config::LadderConfig;
use crate::domain::{Deployment, LadderName};
use crate::policy::{Grade, Role, TrackRecord};
use crate::store::{Store, StoreError};

/// Answers count for so long: a bad patch is forgotten by the evening, and a quiet ladder has some to go by.
pub const GRADE_WINDOW: Duration = Duration::from_secs(6 * 3600);

/// So many attempts of a deployment are looked at: those that count, and as many before them, which tell where it stood.
const GRADE_ATTEMPTS: u32 = 200;

/// How good each deployment of the ladder's own steps lately was at its work; those of which nothing was judged are left
/// out.
///
/// # Errors
/// When the state cannot be read.
pub fn grades(
    store: &dyn Store,
    (name, ladder): (&LadderName, &LadderConfig),
    now: Timestamp,
) -> Result<Vec<Grade>, StoreError> {
    let of: Vec<Deployment> = ladder.steps.iter().map(|step| step.deployment.clone()).collect();
    let since = now.checked_sub(GRADE_WINDOW).unwrap_or(Timestamp::MIN);
    let own = store.track_records(&of, Some(name), since, GRADE_ATTEMPTS)?;
    let all = store.track_records(&of, None, since, GRADE_ATTEMPTS)?;
    let find =
        |records: &'_ [TrackRecord], who: &Deployment| records.iter().find(|record| record.deployment == *who).cloned();
    Ok(of.iter().filter_map(|who| Grade::of(find(&own, who).as_ref(), find(&all, who).as_ref())).collect())
}

/// Why a deployment goes last under this bar, a share of answers from 0 to 1; none when it does not.
pub fn put_last(bar: f64, deployment: &Deployment, grades: &[Grade]) -> Option<String> {
    let grade = grades.iter().find(|grade| grade.deployment == *deployment)?;
    let quality = grade.quality;
    let of = if grade.of == Role::All { " of all ladders" } else { "" };
    let (valid, judged) = (quality.valid, quality.judged);
    let told =
        || format!("{valid} of its last {judged} answers{of} were as asked at once, the bar is {} %", bar * 100.0);
    quality.is_below(bar).then(told)
}
