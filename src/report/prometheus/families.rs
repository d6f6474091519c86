//! The families: names, kinds and what they mean. The names are an interface; dashboards and alerts stand on them.

use super::write::{Family, Kind};

const fn counter(name: &'static str, unit: &'static str, help: &'static str) -> Family {
    Family { name, kind: Kind::Counter, unit, help }
}

const fn gauge(name: &'static str, unit: &'static str, help: &'static str) -> Family {
    Family { name, kind: Kind::Gauge, unit, help }
}

const fn histogram(name: &'static str, help: &'static str) -> Family {
    Family { name, kind: Kind::Histogram, unit: "seconds", help }
}

pub(super) const BUILD: Family =
    Family { name: "llmr_build", kind: Kind::Info, unit: "", help: "The program that wrote this." };

pub(super) const READABLE: Family =
    gauge("llmr_state_readable", "", "Whether the state file could be read; without a file yet it can, and is empty.");

pub(super) const WRITTEN: Family =
    gauge("llmr_exposition_timestamp_seconds", "seconds", "When this was written, in seconds since 1970.");

pub(super) const REQUESTS: Family =
    counter("llmr_requests", "", "Requests that ended, by ladder and by how: `answered` is answered as asked.");

pub(super) const STEP_ANSWERS: Family =
    counter("llmr_step_answers", "", "Answered requests by the index of the step that answered; 0 is the primary.");

pub(super) const EXHAUSTIONS: Family =
    counter("llmr_exhaustions", "", "Requests that fell through the ladder: no step answered.");

pub(super) const REQUEST_TIMES: Family =
    histogram("llmr_request_duration_seconds", "How long whole requests took that were answered as asked.");

pub(super) const ATTEMPTS: Family = counter(
    "llmr_attempts",
    "",
    "Exchanges on the wire by who was asked and why: first, retry, repair, adjusted, probe or hedge.",
);

pub(super) const ANSWERS: Family = counter("llmr_attempt_answers", "", "Exchanges that were answered as asked.");

pub(super) const FAILURES: Family =
    counter("llmr_attempt_failures", "", "Exchanges that failed, by the deployment that failed and the class.");

pub(super) const GIVEN_UP: Family =
    counter("llmr_attempts_given_up", "", "Exchanges that were given up before their end, which is nobody's failure.");

pub(super) const SCHEMA: Family = counter(
    "llmr_schema_failures",
    "",
    "Answers that were cut off, empty or not in the asked shape: the failures of class invalid_output.",
);

pub(super) const WHOLE: Family = counter(
    "llmr_transport_successes",
    "",
    "Exchanges that came back whole with a status of success, whatever was in them; as asked are llmr_attempt_answers.",
);

pub(super) const INVALID: Family = counter(
    "llmr_invalid_answers",
    "",
    "Answers that were not as asked, by the rule that found it: answer.empty, answer.truncated, answer.schema, ...",
);

pub(super) const EXTRACTED: Family = counter(
    "llmr_json_answers",
    "",
    "Good answers of which JSON was wanted, by where it stood: the whole text, a fence, or surrounded by prose.",
);

pub(super) const JUDGED: Family = counter(
    "llmr_judged_answers",
    "",
    "Answers of which something was asked (a schema, a check, a demand): one for each request and deployment.",
);

pub(super) const VALID: Family =
    counter("llmr_valid_answers", "", "Answers that were as asked at once; part of llmr_judged_answers.");

pub(super) const REPAIRED: Family = counter(
    "llmr_repairs_helped",
    "",
    "Repairs that gave an answer as asked; those that were tried are llmr_attempts of the kind repair.",
);

pub(super) const REPAIR_COST: Family = counter(
    "llmr_repair_cost_usd",
    "usd",
    "What repairs cost in USD, where the price is known; part of llmr_cost_usd.",
);

pub(super) const TTFT: Family = histogram(
    "llmr_time_to_first_token_seconds",
    "From sending to the first content, of exchanges that were answered.",
);

pub(super) const ATTEMPT_TIMES: Family =
    histogram("llmr_attempt_duration_seconds", "From sending to the end, of exchanges that were answered.");

pub(super) const TOKENS: Family = counter(
    "llmr_tokens",
    "",
    "Tokens of all exchanges: input, output, and cached, which is the part of input that came from a cache.",
);

pub(super) const COST: Family =
    counter("llmr_cost_usd", "usd", "What exchanges cost in USD, where the price is known; failed ones included.");

pub(super) const GRANTED: Family =
    counter("llmr_retries_granted", "", "Retries that the budget which all processes share granted.");

pub(super) const DENIED: Family =
    counter("llmr_retries_denied", "", "Retries that the budget which all processes share denied.");

pub(super) const BUDGET_USED: Family =
    gauge("llmr_retry_budget_used", "", "Retries that were granted within the last minute.");

pub(super) const BUDGET_LIMIT: Family =
    gauge("llmr_retry_budget_limit", "", "How many retries within a minute a request on the ladder may be one of.");

pub(super) const ELIGIBLE: Family = gauge("llmr_eligible", "", "Whether the deployment may be asked now.");

pub(super) const HOLD: Family =
    gauge("llmr_hold", "", "1 while a hold covers the deployment: a cooldown, a quarantine or an open circuit.");

pub(super) const HOLD_UNTIL: Family = gauge(
    "llmr_hold_until_timestamp_seconds",
    "seconds",
    "When the hold ends or is probed, in seconds since 1970; absent while only a person can end it.",
);

pub(super) const QUOTA_USED: Family =
    gauge("llmr_quota_used", "", "What is used of an allowance, in the unit of its dimension.");

pub(super) const QUOTA_LIMIT: Family = gauge("llmr_quota_limit", "", "How high the allowance is, where that is known.");

pub(super) const STEPS: Family = gauge("llmr_ladder_steps", "", "Steps of the ladder.");

pub(super) const AVAILABLE: Family =
    gauge("llmr_ladder_available_steps", "", "Steps of the ladder, its last resort included, that may be asked now.");

pub(super) const LAST_SUCCESS: Family = gauge(
    "llmr_last_success_timestamp_seconds",
    "seconds",
    "Start of the latest exchange that the deployment answered, in seconds since 1970.",
);

pub(super) const LAST_FAILURE: Family = gauge(
    "llmr_last_failure_timestamp_seconds",
    "seconds",
    "Start of the latest exchange that failed, in seconds since 1970.",
);
