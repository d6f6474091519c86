//! Who would be asked now, as JSON and for people.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::config::Domains;
use crate::domain::{Deployment, LadderName};
use crate::ladder::{Planned, Skip, StepSpec, Strategy};
use crate::policy::{Cascade, Grade, Tightness};

use super::chat::{skip_json, skip_line};
use super::domains::{domains_json, single_failures_text};
use super::grade::{grade_json, grade_text};
use super::ladder::{cascade_json, cascade_pieces};
use super::moment::rfc3339;
use super::rank::why;

/// What a ladder would do at one moment.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The moment.
    pub now: Timestamp,
    /// The ladder.
    pub ladder: &'a LadderName,
    /// In which order it is asked.
    pub strategy: Strategy,
    /// All steps by index.
    pub steps: &'a [StepSpec],
    /// Who would be asked, in order.
    pub order: Vec<Planned>,
    /// Who would not, and why.
    pub skipped: Vec<Skip>,
    /// What the ladder's own steps share.
    pub domains: Domains,
    /// What is remembered of requests that fell through it.
    pub cascade: Option<&'a Cascade>,
    /// How good the deployments lately were at its work.
    pub grades: &'a [Grade],
}

impl Plan<'_> {
    fn deployment(&self, planned: &Planned) -> Option<&Deployment> {
        self.steps.get(planned.step).map(|step| &step.target.deployment)
    }

    /// The number that gave the step its place.
    fn score(&self, planned: &Planned) -> Option<f64> {
        self.steps.get(planned.step)?.standing.measure?.score()
    }

    fn grade(&self, planned: &Planned) -> Option<&Grade> {
        let deployment = self.deployment(planned)?;
        self.grades.iter().find(|grade| grade.deployment == *deployment)
    }

    /// Why its answers put the step last.
    fn put_last(&self, planned: &Planned) -> Option<&str> {
        self.steps.get(planned.step)?.put_last.as_deref()
    }

    /// What gave the step its place.
    fn why(&self, planned: &Planned) -> Option<String> {
        why(&self.steps.get(planned.step)?.standing, self.now)
    }

    /// The object of `plan --json`.
    pub fn json(&self) -> Value {
        let order = self.order.iter().map(|planned| {
            json!({
                "deployment": self.deployment(planned),
                "step": planned.step,
                "score": self.score(planned),
                "why": self.why(planned),
                "probe": planned.probe,
                "quality": self.grade(planned).map(grade_json),
                "put_last": self.put_last(planned),
            })
        });
        let mut object = json!({
            "now": rfc3339(self.now),
            "ladder": self.ladder,
            "order": order.collect::<Vec<_>>(),
            "skipped": self.skipped.iter().map(skip_json).collect::<Vec<_>>(),
            "cascade": cascade_json(self.cascade),
        });
        if let Some(object) = object.as_object_mut() {
            object.extend(domains_json(&self.domains));
        }
        object
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut out = format!("ladder {} ({}) at {}\n", self.ladder, self.strategy.as_str(), rfc3339(self.now));
        let rests = self.cascade.and_then(|cascade| cascade_pieces(cascade, self.now));
        if let Some(pieces) = &rests {
            out.push_str(&format!("  {}\n", pieces.join("; ")));
        }
        for (place, planned) in self.order.iter().enumerate() {
            let Some(deployment) = self.deployment(planned) else { continue };
            let probe = if planned.probe { " (as the one probe of its hold)" } else { "" };
            let shape = self.put_last(planned).map(str::to_owned);
            let reasons = shape.into_iter().chain(planned.near.as_ref().map(Tightness::reading));
            let last: String = reasons.map(|why| format!(" (put last: {why})")).collect();
            let why = self.why(planned).map_or(String::new(), |why| format!("  {why}"));
            // That nothing was ever wrong is no news.
            let grade = self.grade(planned).filter(|grade| grade.quality.valid < grade.quality.judged);
            let grade = grade.map_or(String::new(), |grade| format!("  {}", grade_text(grade)));
            out.push_str(&format!("{:>3}. {deployment}  step {}{why}{grade}{probe}{last}\n", place + 1, planned.step));
        }
        if self.order.is_empty() && rests.is_some() {
            out.push_str("  nobody: the ladder turns requests away\n");
        } else if self.order.is_empty() {
            out.push_str("  nobody: every step is held or barred\n");
        }
        for skip in &self.skipped {
            out.push_str(&format!("  -  {}\n", skip_line(skip, self.now)));
        }
        out.push_str(&single_failures_text(&self.domains));
        let plural = if self.domains.independent == 1 { "" } else { "s" };
        out.push_str(&format!("{} independent failure domain{plural}\n", self.domains.independent));
        out
    }
}
