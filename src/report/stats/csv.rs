//! The figures for a spreadsheet: RFC 4180, one row for each group and bucket.

use super::json::{exhaustion, round};
use super::{Grouping, Part, Stats, failed, name};
use crate::domain::{Class, Defect, Extraction, printable};
use crate::metrics::{Figures, Percentiles};
use crate::report::moment::rfc3339;

/// What stands above the columns of figures; the classes follow.
const COLUMNS: [&str; 34] = [
    "requests",
    "answered",
    "success_rate",
    "exhausted",
    "exhaustion_rate",
    "depth_mean",
    "attempts",
    "attempts_failed",
    "attempts_given_up",
    "attempt_success_rate",
    "retries",
    "retries_denied",
    "repairs",
    "hedges",
    "probes",
    "schema_failure_rate",
    "ttft_p50_s",
    "ttft_p95_s",
    "ttft_p99_s",
    "attempt_latency_p50_s",
    "attempt_latency_p95_s",
    "attempt_latency_p99_s",
    "latency_p50_s",
    "latency_p95_s",
    "latency_p99_s",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "input_tokens_per_request",
    "output_tokens_per_request",
    "input_tokens_per_success",
    "output_tokens_per_success",
    "cost_usd",
    "cost_usd_per_request",
];

/// What stands after the classes; the rules that find answers wrong follow.
const OF_ANSWERS: [&str; 8] = [
    "transport_successes",
    "transport_success_rate",
    "application_success_rate",
    "valid_at_once_rate",
    "repairs_helped",
    "repair_cost_usd",
    "judged",
    "adjusted",
];

impl Stats<'_> {
    /// The text of `stats --format csv`.
    pub fn csv(&self) -> String {
        let classes = Class::ALL.iter().map(|class| class.as_str());
        let rules = Defect::ALL.iter().map(|defect| defect.rule());
        let columns = COLUMNS.into_iter().chain(["cost_usd_per_success"]).chain(classes).chain(OF_ANSWERS);
        let places = Extraction::ALL.iter().map(|place| format!("json_{place}"));
        let columns = columns.map(str::to_owned).chain(rules).chain(places);
        let key =
            if matches!(self.grouping, Grouping::Time | Grouping::None) { None } else { Some(self.grouping.as_str()) };
        let mut out = line(key.into_iter().chain(["from", "until"]).map(str::to_owned).chain(columns));
        let mut put = |key: Option<String>, part: &Part| {
            let span = [rfc3339(part.from), rfc3339(part.until)];
            out.push_str(&line(key.map(safe).into_iter().chain(span).chain(cells(&part.figures))));
        };
        let all = std::slice::from_ref(self.all);
        for row in if self.grouping == Grouping::None { all } else { self.rows } {
            let key = || key.map(|_| name(&row.key));
            match self.bucket.filter(|_| self.grouping != Grouping::Time) {
                Some(_) => row.parts.iter().for_each(|part| put(key(), part)),
                None => put(key(), &row.whole),
            }
        }
        out
    }
}

fn cells(figures: &Figures) -> impl Iterator<Item = String> {
    let Figures { tokens, money, .. } = figures;
    let share = |share: Option<f64>| share.map_or(String::new(), |share| round(share).to_string());
    let first = [
        figures.requests.to_string(),
        figures.answered.to_string(),
        share(figures.success),
        figures.exhausted.to_string(),
        share(exhaustion(figures)),
        share(figures.depth.mean),
        figures.attempts.to_string(),
        failed(figures).to_string(),
        figures.given_up.to_string(),
        share(figures.attempt_success),
        figures.retries.to_string(),
        figures.retries_denied.to_string(),
        figures.repairs.to_string(),
        figures.hedges.to_string(),
        figures.probes.to_string(),
        share(figures.schema_failures),
    ];
    let times = [figures.ttft, figures.attempt_latency, figures.latency].into_iter().flat_map(percentiles);
    let (request, success) = (figures.tokens_per_request, figures.tokens_per_success);
    let used = [
        tokens.input.to_string(),
        tokens.output.to_string(),
        tokens.cached.to_string(),
        share(request.map(|per| per.input)),
        share(request.map(|per| per.output)),
        share(success.map(|per| per.input)),
        share(success.map(|per| per.output)),
        money.total.to_string(),
        money.per_request.map_or(String::new(), |usd| usd.to_string()),
        money.per_success.map_or(String::new(), |usd| usd.to_string()),
    ];
    let classes: Vec<String> = figures.classes.iter().map(|(_, count)| count.to_string()).collect();
    // Figures of nothing know no class.
    let missing = Class::ALL.len().saturating_sub(classes.len());
    let answers = [
        figures.whole.to_string(),
        share(figures.transport),
        share(figures.attempt_success),
        share(figures.valid),
        figures.repaired.to_string(),
        figures.repairs_usd.to_string(),
        figures.judged.to_string(),
        figures.adjusted.to_string(),
    ];
    let defect = |defect: &Defect| figures.defects.iter().find(|(of, _)| of == defect).map_or(0, |(_, count)| *count);
    let defects: Vec<String> = Defect::ALL.iter().map(|of| defect(of).to_string()).collect();
    let place =
        |place: &Extraction| figures.extracted.iter().find(|(of, _)| of == place).map_or(0, |(_, count)| *count);
    let places: Vec<String> = Extraction::ALL.iter().map(|of| place(of).to_string()).collect();
    let classes = classes.into_iter().chain(vec!["0".to_owned(); missing]);
    first.into_iter().chain(times).chain(used).chain(classes).chain(answers).chain(defects).chain(places)
}

fn percentiles(times: Option<Percentiles>) -> [String; 3] {
    let none = [String::new(), String::new(), String::new()];
    times.map_or(none, |times| [times.p50, times.p95, times.p99].map(|time| round(time.as_secs_f64()).to_string()))
}

/// A name that no spreadsheet takes for a formula.
fn safe(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let quoted = |cell: String| match printable(&cell) {
        cell if cell.contains([',', '"', '\n', '\r']) => format!("\"{}\"", cell.replace('"', "\"\"")),
        cell => cell,
    };
    format!("{}\r\n", cells.map(quoted).collect::<Vec<_>>().join(","))
}
