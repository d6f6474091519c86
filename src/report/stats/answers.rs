//! Success of the transport and of the application, side by side.

use super::Stats;
use super::page::Page;
use super::spark::spark;
use super::words::{percent, usd, whole};
use crate::metrics::Figures;
use crate::report::tone::Tone;

impl Stats<'_> {
    /// Whether exchanges came back, and whether what came was as asked: the two are not the same.
    pub(super) fn answers(&self, page: &mut Page, figures: &Figures) {
        let (Some(transport), Some(asked)) = (figures.transport, figures.attempt_success) else { return };
        let text =
            format!("{} came back whole with a status of success ({})", percent(transport), whole(figures.whole));
        page.say(Tone::Plain, "transport", text, &spark(&self.values(|f| f.transport), 1.0, page.marks));
        let text = format!("{} were answered as asked", percent(asked));
        page.say(Tone::Plain, "application", text, &spark(&self.values(|f| f.attempt_success), 1.0, page.marks));
        if let Some(valid) = figures.valid {
            let text = format!("{} of {} judged answers", percent(valid), whole(figures.judged));
            page.say(Tone::Plain, "valid", text, &spark(&self.values(|f| f.valid), 1.0, page.marks));
        }
        let wrong = figures.defects.iter().filter(|(_, count)| *count > 0);
        let mut wrong: Vec<String> = wrong.map(|(of, count)| format!("{} {}", of.rule(), whole(*count))).collect();
        if let Some(first) = wrong.first_mut() {
            first.insert_str(0, "not as asked: ");
            page.put(Tone::Warning, "", (&wrong, ","), "");
        }
        let json = figures.extracted.iter().filter(|(_, count)| *count > 0);
        let mut json: Vec<String> = json.map(|(place, count)| format!("{place} {}", whole(*count))).collect();
        if let Some(first) = json.first_mut() {
            first.insert_str(0, "answers in JSON: ");
            page.put(Tone::Plain, "", (&json, ","), "");
        }
        if figures.repairs > 0 {
            let helped = format!("{} tried, {} helped", whole(figures.repairs), whole(figures.repaired));
            let cost = (figures.repairs_usd > 0.0).then(|| format!("{} for them", usd(figures.repairs_usd)));
            let pieces: Vec<String> = std::iter::once(helped).chain(cost).collect();
            page.put(Tone::Plain, "repairs", (&pieces, ";"), &self.graph(page, |f| Some(f.repairs as f64)));
        }
    }
}
