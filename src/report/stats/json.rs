//! The figures for a program: times in seconds, counts as whole numbers, null where there is nothing to divide by.

use serde_json::{Map, Value, json};

use super::{Grouping, Part, Row, Stats, failed, name};
use crate::domain::Outcome;
use crate::metrics::{Figures, Key, Percentiles, TokensPer};
use crate::report::moment::{rfc3339, seconds};
use crate::report::status::hold_json;

impl Stats<'_> {
    /// The object of `stats --json`.
    pub fn json(&self) -> Value {
        let slice = self.slice;
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| drop(object.insert(key.to_owned(), value));
        put("now", json!(rfc3339(self.now)));
        put("since", json!(rfc3339(slice.since)));
        put("until", json!(rfc3339(slice.until)));
        put("ladder", json!(slice.ladder));
        put("deployments", json!(slice.asked.iter().map(ToString::to_string).collect::<Vec<_>>()));
        put("classes", json!(slice.classes));
        put("figures", figures_json(&self.all.whole.figures));
        put("week_before", self.week_before.map_or(Value::Null, figures_json));
        put("depth_drift", json!(self.drift().map(round)));
        put("retry_budget", self.budget_json());
        put("holds", self.holds.iter().map(|held| hold_json(held)).collect());
        if self.grouping != Grouping::None {
            put("by", json!(self.grouping.as_str()));
            put("groups", self.rows.iter().map(|row| self.group_json(row)).collect());
        }
        if self.bucket.is_some() || self.grouping == Grouping::Time {
            put("bucket_s", json!(self.bucket.map(seconds)));
            if self.grouping == Grouping::None {
                put("buckets", self.all.parts.iter().map(part_json).collect());
            }
        }
        Value::Object(object)
    }

    fn budget_json(&self) -> Value {
        json!({
            "granted": self.retries.map(|retries| retries.granted),
            "denied": self.retries.map(|retries| retries.denied),
            "known_since": self.retries.and_then(|retries| retries.known_since).map(rfc3339),
            "used_this_minute": self.retries_used,
            "limits": self.budgets.iter().map(|budget| {
                json!({"ladder": budget.ladder, "per_minute": budget.limit})
            }).collect::<Vec<_>>(),
        })
    }

    fn group_json(&self, row: &Row) -> Value {
        if self.grouping == Grouping::Time {
            return part_json(&row.whole);
        }
        let mut object = Map::new();
        object.insert(self.grouping.as_str().to_owned(), json!(name(&row.key)));
        object.insert("figures".to_owned(), figures_json(&row.whole.figures));
        if self.grouping == Grouping::Deployment {
            let its = self.put_last.iter().filter(|last| Key::Deployment(last.deployment.clone()) == row.key);
            let last = its.map(|last| json!({"ladder": last.ladder, "why": last.why}));
            object.insert("put_last".to_owned(), last.collect());
        }
        if self.bucket.is_some() {
            object.insert("buckets".to_owned(), row.parts.iter().map(part_json).collect());
        }
        Value::Object(object)
    }
}

fn part_json(part: &Part) -> Value {
    json!({"from": rfc3339(part.from), "until": rfc3339(part.until), "figures": figures_json(&part.figures)})
}

fn figures_json(figures: &Figures) -> Value {
    let counted = |pairs: Vec<(&str, u64)>| -> Map<String, Value> {
        pairs.into_iter().map(|(word, count)| (word.to_owned(), json!(count))).collect()
    };
    json!({
        "requests": figures.requests,
        "answered": figures.answered,
        "success_rate": figures.success.map(round),
        "exhausted": figures.exhausted,
        "exhaustion_rate": exhaustion(figures).map(round),
        "outcomes": counted(figures.outcomes.iter().map(|(of, count)| (of.as_str(), *count)).collect()),
        "depth": {"mean": figures.depth.mean.map(round), "steps": figures.depth.at},
        "attempts": figures.attempts,
        "attempts_failed": failed(figures),
        "attempts_given_up": figures.given_up,
        "attempt_success_rate": figures.attempt_success.map(round),
        "retries": figures.retries,
        "retries_denied": figures.retries_denied,
        "repairs": figures.repairs,
        "hedges": figures.hedges,
        "probes": figures.probes,
        "classes": counted(figures.classes.iter().map(|(class, count)| (class.as_str(), *count)).collect()),
        "schema_failure_rate": figures.schema_failures.map(round),
        "ttft": percentiles(figures.ttft),
        "attempt_latency": percentiles(figures.attempt_latency),
        "latency": percentiles(figures.latency),
        "tokens": {
            "input": figures.tokens.input,
            "output": figures.tokens.output,
            "cached": figures.tokens.cached,
            "per_request": per(figures.tokens_per_request),
            "per_success": per(figures.tokens_per_success),
        },
        "cost_usd": {
            "total": figures.money.total,
            "per_request": figures.money.per_request,
            "per_success": figures.money.per_success,
        },
        "transport_successes": figures.whole,
        "transport_success_rate": figures.transport.map(round),
        "application_success_rate": figures.attempt_success.map(round),
        "valid_at_once_rate": figures.valid.map(round),
        "invalid": figures.defects.iter().map(|(of, count)| (of.rule(), json!(count))).collect::<Map<_, _>>(),
        "extracted": counted(figures.extracted.iter().map(|(place, count)| (place.as_str(), *count)).collect()),
        "repairs_helped": figures.repaired,
        "repair_cost_usd": figures.repairs_usd,
        "judged": figures.judged,
        "adjusted": figures.adjusted,
    })
}

fn percentiles(times: Option<Percentiles>) -> Value {
    times.map_or(Value::Null, |times| {
        json!({
            "p50_s": seconds(times.p50),
            "p95_s": seconds(times.p95),
            "p99_s": seconds(times.p99),
            "samples": times.samples,
        })
    })
}

fn per(tokens: Option<TokensPer>) -> Value {
    tokens.map_or(Value::Null, |tokens| json!({"input": round(tokens.input), "output": round(tokens.output)}))
}

/// The share of requests that fell through, of those that a person did not break off.
pub(super) fn exhaustion(figures: &Figures) -> Option<f64> {
    let broken_off = figures.outcomes.iter().filter(|(outcome, _)| *outcome == Outcome::Interrupted);
    let of_fate = figures.requests - broken_off.map(|(_, count)| count).sum::<u64>();
    (of_fate > 0).then(|| figures.exhausted as f64 / of_fate as f64)
}

/// Six digits say enough.
pub(super) fn round(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
