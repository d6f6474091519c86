//! What is used of the limits that are known, each once.

use super::Status;
use crate::domain::Scope;
use crate::policy::{LimitSource, Reading};
use crate::report::layout::flowed;
use crate::report::moment::distance;
use crate::report::tone::{Tone, Toned};

impl Status<'_> {
    /// The limits of config and of answers of which something is used. The catalogue's are those of a plan that the
    /// account may not have; JSON has them all.
    pub(super) fn write_usage(&self, out: &mut Toned, width: usize) {
        let mut shown: Vec<(Scope, crate::domain::Dimension)> = Vec::new();
        for known in self.shown() {
            for reading in self.readings(known) {
                let key = (reading.scope.clone(), reading.dimension);
                let Some(line) = self.line(&reading).filter(|_| !shown.contains(&key)) else { continue };
                if shown.is_empty() {
                    out.line(Tone::Plain, "");
                    out.line(Tone::Strong, "limits");
                }
                shown.push(key);
                for (nth, part) in flowed(&line, ";", width.saturating_sub(3)).into_iter().enumerate() {
                    out.line(Tone::Plain, format!("{}{part}", if nth > 0 { "   " } else { " " }));
                }
            }
        }
    }

    fn line(&self, reading: &Reading) -> Option<Vec<String>> {
        let Reading { scope, dimension, used, limit, resets_at } = reading;
        let limit = limit.as_ref().filter(|limit| limit.source != LimitSource::Catalogue && *used > 0.0)?;
        let percent = if limit.value > 0.0 { format!(" ({:.0} %)", used / limit.value * 100.0) } else { String::new() };
        let mut facts = vec![format!("{scope}: {used:.0} of {:.0} {dimension}{percent}", limit.value)];
        facts.extend(resets_at.map(|at| format!("all back {}", distance(at, self.now))));
        facts.push(match &limit.source {
            LimitSource::Stated(place) => format!("stated in {place}"),
            LimitSource::Config | LimitSource::Catalogue => "by config".to_owned(),
        });
        Some(facts)
    }
}
