//! When it heals, as the payload says it.
//!
//! Providers say it in headers, fields and words, often in several at once and not always the same. The figure that was
//! made for this failure is believed before a header that every answer carries: fields of the body, then the words of
//! the message, then `retry-after`, then the reset of the bucket that is empty.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::domain::{Evidence, ResetSource};

use super::duration::{self, Hint};
use super::signals::Signals;
use super::times::{Times, zone_of};

/// One time that the payload states.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stated {
    /// How long from the failure on; none when only a moment is stated and the failure's own time is not known.
    pub(crate) after: Option<Duration>,
    /// When.
    pub(crate) at: Timestamp,
    /// Where it stands.
    pub(crate) source: ResetSource,
}

/// What is read, and what its times are read against.
struct Reading<'a> {
    signals: &'a Signals,
    times: Times,
}

/// The best of what the payload says.
pub(crate) fn read(signals: &Signals, evidence: &Evidence, now: Timestamp) -> Option<Stated> {
    let zone = zone_of(signals.provider.as_deref(), &signals.raw);
    let reading = Reading { signals, times: Times::of(evidence, signals.header("date"), zone, now) };
    let fields = reading.fields();
    let found = reading
        .best_field(&fields, false)
        .or_else(|| reading.printed_delay())
        .or_else(|| reading.message())
        .or_else(|| reading.retry_after())
        .or_else(|| reading.best_field(&fields, true))
        .or_else(|| reading.buckets())?;
    // A wait counts from when it was heard, whatever the provider's clock shows; an exact moment that agrees is better.
    let at = match found.after {
        Some(after) => reading.times.after(after)?,
        None => found.at,
    };
    Some(reading.with_exact_moment(Stated { at, ..found }, &fields))
}

/// A field of the body that says when.
struct Field {
    path: String,
    hint: Hint,
}

impl Reading<'_> {
    fn stated(&self, hint: Hint, source: ResetSource) -> Option<Stated> {
        let at = self.times.moment(hint)?;
        let after = match hint {
            Hint::After(after) => Some(after),
            Hint::At(at) if self.times.dated => Duration::try_from(at.duration_since(self.times.base)).ok(),
            Hint::At(_) => None,
        };
        Some(Stated { after, at, source })
    }

    fn parse(&self, text: &str) -> Option<Hint> {
        self.times.parse(text)
    }

    fn fields(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        for value in &self.signals.values {
            self.walk(value, &mut Vec::new(), &mut fields);
        }
        fields
    }

    fn walk<'v>(&self, value: &'v Value, path: &mut Vec<&'v str>, out: &mut Vec<Field>) {
        if path.len() > 16 || out.len() > 32 {
            return;
        }
        match value {
            Value::Array(items) => items.iter().take(64).for_each(|item| self.walk(item, path, out)),
            Value::Object(map) => {
                for (key, value) in map {
                    path.push(key);
                    if let Some(hint) = self.field(key, value) {
                        out.push(Field { path: path.join("."), hint });
                    } else {
                        self.walk(value, path, out);
                    }
                    path.pop();
                }
            }
            Value::String(text) if text.contains('{') && text.len() < 20_000 => {
                for found in super::lenient::find_values(text) {
                    let mut inner = Vec::new();
                    self.walk(&found.value, &mut vec!["…"; path.len().min(16)], &mut inner);
                    out.extend(inner.into_iter().map(|field| Field { path: field.path.replace("….", ""), ..field }));
                }
            }
            _ => {}
        }
    }

    fn field(&self, key: &str, value: &Value) -> Option<Hint> {
        let plain: String = key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        let unit = match plain.as_str() {
            "retryafterms" | "resetms" | "resetinms" | "resetsinms" | "retryinms" => 0.001,
            "retrydelay"
            | "retryafter"
            | "retryafterseconds"
            | "retryaftersec"
            | "retryin"
            | "retryinseconds"
            | "resetseconds"
            | "resetinseconds"
            | "resetsinseconds"
            | "resetsin"
            | "resetin"
            | "resetafterseconds"
            | "resetafter"
            | "estimatedtime"
            | "quotaresetdelay"
            | "cooldownseconds"
            | "waitseconds"
            | "waittime"
            | "resettime"
            | "secondsuntilreset"
            | "resetsat"
            | "resetat"
            | "quotaresettimestamp"
            | "nextreset"
            | "retryat" => 1.0,
            _ => return None,
        };
        match value {
            Value::Number(number) => {
                let number = number.as_f64()?;
                if number >= 100_000_000.0 {
                    return self.parse(&format!("{number:.0}"));
                }
                duration::from_seconds(number * unit).map(Hint::After)
            }
            Value::String(text) => self.parse(text),
            _ => None,
        }
    }

    fn best_field(&self, fields: &[Field], moments: bool) -> Option<Stated> {
        let field = fields.iter().find(|field| matches!(field.hint, Hint::At(_)) == moments)?;
        self.stated(field.hint, ResetSource::Body(field.path.clone()))
    }

    /// A moment beside a wait is more exact than the wait, if the two agree.
    fn with_exact_moment(&self, found: Stated, fields: &[Field]) -> Stated {
        let Some(Hint::At(at)) = fields.iter().map(|field| field.hint).find(|hint| matches!(hint, Hint::At(_))) else {
            return found;
        };
        let apart = at.duration_since(found.at).unsigned_abs();
        if apart < Duration::from_secs(120) { Stated { at, ..found } } else { found }
    }

    /// Google's wait as its Python library prints it: `retry_delay { seconds: 19 }`.
    fn printed_delay(&self) -> Option<Stated> {
        let after = self.signals.raw.split("retry_delay {").nth(1)?.trim_start().strip_prefix("seconds:")?;
        let number = after.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
        let after = duration::from_seconds(number)?;
        self.stated(Hint::After(after), ResetSource::Body("retry_delay".to_owned()))
    }

    fn message(&self) -> Option<Stated> {
        let hint = self.signals.layers.iter().find_map(|read| {
            // A log repeats what its objects say, and adds what the client does.
            let text = &read.layer.text;
            let spaced = duration::find_hint(&text.replace('\n', " "), self.times.base, &self.times.zone);
            // Terminals break lines within words.
            spaced.or_else(|| {
                let broken = read.layer.free && text.contains('\n');
                broken
                    .then(|| duration::find_hint(&text.replace('\n', ""), self.times.base, &self.times.zone))
                    .flatten()
            })
        })?;
        self.stated(hint, ResetSource::Message)
    }

    fn header(&self, name: &str) -> Option<(Hint, ResetSource)> {
        let value = self.signals.header(name)?.trim();
        Some((self.parse(value)?, ResetSource::Header(name.to_owned())))
    }

    fn retry_after(&self) -> Option<Stated> {
        let milliseconds = self.signals.header("retry-after-ms").and_then(|value| value.trim().parse::<f64>().ok());
        if let Some(after) = milliseconds.and_then(|value| duration::from_seconds(value / 1000.0)) {
            return self.stated(Hint::After(after), ResetSource::Header("retry-after-ms".to_owned()));
        }
        let (hint, source) = self.header("retry-after")?;
        self.stated(hint, source)
    }

    /// The reset of the bucket that is empty; of several the latest.
    fn buckets(&self) -> Option<Stated> {
        let mut latest: Option<Stated> = None;
        for (name, _) in &self.signals.headers {
            let Some(hint) = self.bucket(name) else { continue };
            let Some(stated) = self.stated(hint, ResetSource::Header(name.clone())) else { continue };
            if latest.as_ref().is_none_or(|seen| seen.at < stated.at) {
                latest = Some(stated);
            }
        }
        latest
    }

    fn bucket(&self, name: &str) -> Option<Hint> {
        if let Some(window) = name.strip_suffix("-reset-after-seconds") {
            let used = self.signals.header(&format!("{window}-used-percent"))?.parse::<f64>().ok()?;
            return (used >= 100.0).then(|| self.header(name)).flatten().map(|(hint, _)| hint);
        }
        if let Some(window) = name.strip_suffix("-reset")
            && name.starts_with("anthropic-ratelimit-")
        {
            let status = self.signals.header(&format!("{window}-status"));
            let left = self.signals.header(&format!("{window}-remaining"));
            let spent = status.is_some_and(|status| status.eq_ignore_ascii_case("rejected")) || left == Some("0");
            return spent.then(|| self.header(name)).flatten().map(|(hint, _)| hint);
        }
        let place = name.find("ratelimit-reset")?;
        let remaining = name.replace("-reset", "-remaining");
        let spent = match self.signals.header(&remaining) {
            Some(left) => left.trim().parse::<f64>().is_ok_and(|left| left < 1.0),
            // OpenRouter and GitHub have one bucket and no suffix.
            None => name.get(place..) == Some("ratelimit-reset"),
        };
        spent.then(|| self.header(name)).flatten().map(|(hint, _)| hint)
    }
}
