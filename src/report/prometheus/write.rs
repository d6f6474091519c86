//! Writes families of samples in the text format of Prometheus or in that of OpenMetrics.
//!
//! The two differ in little: where the name of a counter ends, how a bound is written, the unit, and the last line.

use std::fmt::Write as _;

use crate::domain::printable;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposition {
    /// Text format 0.0.4, which the textfile collector of `node_exporter` reads.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

/// What a family is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
    Info,
}

/// The head of a family.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    /// Without the suffix of its kind: `llmr_requests`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The unit, if its name ends with one.
    pub(super) unit: &'static str,
    pub(super) help: &'static str,
}

/// Names of labels with their values, as they come from outside.
pub(super) type Labels<'a> = Vec<(&'static str, &'a str)>;

/// Grows as families are written.
pub(super) struct Writer {
    out: String,
    format: Exposition,
}

impl Writer {
    pub(super) const fn new(format: Exposition) -> Self {
        Self { out: String::new(), format }
    }

    pub(super) fn finish(mut self) -> String {
        if self.format == Exposition::OpenMetrics {
            self.out.push_str("# EOF\n");
        }
        self.out
    }

    pub(super) fn head(&mut self, family: &Family) {
        let Family { kind, unit, help, .. } = family;
        let (name, word) = match (self.format, kind) {
            (Exposition::Prometheus, Kind::Counter) => (format!("{}_total", family.name), "counter"),
            (Exposition::Prometheus, Kind::Info) => (format!("{}_info", family.name), "gauge"),
            (Exposition::OpenMetrics, Kind::Info) => (family.name.to_owned(), "info"),
            (Exposition::OpenMetrics, Kind::Counter) => (family.name.to_owned(), "counter"),
            (_, Kind::Gauge) => (family.name.to_owned(), "gauge"),
            (_, Kind::Histogram) => (family.name.to_owned(), "histogram"),
        };
        let help = help.replace('\\', r"\\").replace('\n', r"\n");
        let _ = writeln!(self.out, "# HELP {name} {help}\n# TYPE {name} {word}");
        if self.format == Exposition::OpenMetrics && !unit.is_empty() {
            let _ = writeln!(self.out, "# UNIT {name} {unit}");
        }
    }

    /// A sample of a counter, a gauge or an info.
    pub(super) fn sample(&mut self, family: &Family, labels: &Labels<'_>, value: f64) {
        let suffix = match family.kind {
            Kind::Counter => "_total",
            Kind::Info => "_info",
            Kind::Gauge | Kind::Histogram => "",
        };
        self.line(family.name, suffix, labels, value);
    }

    /// The samples of a histogram: how many took at most each bound, all of them, and the sum in seconds.
    pub(super) fn histogram(
        &mut self,
        family: &Family,
        labels: &Labels<'_>,
        below: &[(f64, u64)],
        count: u64,
        seconds: f64,
    ) {
        for (bound, below) in below {
            let bound = self.bound(*bound);
            let with_bound: Labels<'_> = labels.iter().copied().chain([("le", bound.as_str())]).collect();
            self.line(family.name, "_bucket", &with_bound, *below as f64);
        }
        let all: Labels<'_> = labels.iter().copied().chain([("le", "+Inf")]).collect();
        self.line(family.name, "_bucket", &all, count as f64);
        self.line(family.name, "_sum", labels, seconds);
        self.line(family.name, "_count", labels, count as f64);
    }

    /// OpenMetrics wants every bound to be seen to be no whole number.
    fn bound(&self, bound: f64) -> String {
        match self.format {
            Exposition::OpenMetrics if bound.fract() == 0.0 => format!("{bound:.1}"),
            _ => bound.to_string(),
        }
    }

    fn line(&mut self, name: &str, suffix: &str, labels: &Labels<'_>, value: f64) {
        self.out.push_str(name);
        self.out.push_str(suffix);
        for (at, (label, text)) in labels.iter().enumerate() {
            let start = if at == 0 { '{' } else { ',' };
            let _ = write!(self.out, "{start}{label}=\"{}\"", escaped(text));
        }
        if !labels.is_empty() {
            self.out.push('}');
        }
        let _ = writeln!(self.out, " {value}");
    }
}

/// A value of a label: names come from configs and from other people's servers.
fn escaped(text: &str) -> String {
    printable(text).replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}
