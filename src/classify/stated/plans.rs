//! Windows of subscriptions: they state which share is used, not how much.

use std::time::Duration;

use crate::classify::extent;
use crate::domain::{Dimension, ResetSource, StatedLimit};

use super::unit::Unit;
use super::{Context, Found};

/// The windows of Claude's plans. Those of one family of models (`7d_opus`) bind that family alone and are left out.
const CLAUDE: &[(&str, &str, Dimension, u64)] =
    &[("5h", "five_hour", Dimension::Requests5h, 5 * 3600), ("7d", "seven_day", Dimension::Weekly, 7 * 86_400)];

/// Reads the windows of Claude's and ChatGPT's plans among headers with names in lower case.
pub(super) fn read(headers: &[(String, &str)], context: &Context<'_>, found: &mut Vec<Found>) {
    let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim());
    if headers.iter().any(|(name, _)| name.starts_with("anthropic-ratelimit-unified-")) {
        found.extend(CLAUDE.iter().filter_map(|window| claude(window, &header, context)));
    }
    if headers.iter().any(|(name, _)| name.starts_with("x-codex-")) {
        found.extend(["primary", "secondary"].iter().filter_map(|which| codex(which, &header, context)));
    }
}

fn claude<'h>(
    (short, claim, dimension, seconds): &(&str, &str, Dimension, u64),
    header: &dyn Fn(&str) -> Option<&'h str>,
    context: &Context<'_>,
) -> Option<Found> {
    let part = |what: &str| format!("anthropic-ratelimit-unified-{short}-{what}");
    let rejected = |name: &str| header(name).is_some_and(|status| status.eq_ignore_ascii_case("rejected"));
    let used = header(&part("utilization")).and_then(|used| used.parse::<f64>().ok());
    // A share of five wholes is no share.
    let used = used.filter(|used| (0.0..=5.0).contains(used));
    let (left, reset, source) = if rejected(&part("status")) {
        (0.0, header(&part("reset")), part("status"))
    } else if let Some(used) = used {
        (percent(used * 100.0), header(&part("reset")), part("utilization"))
    } else {
        // Where only the whole is stated, the claim says which window decides.
        let whole = header("anthropic-ratelimit-unified-representative-claim").is_some_and(|name| name == *claim)
            && rejected("anthropic-ratelimit-unified-status");
        let (reset, source) = (header("anthropic-ratelimit-unified-reset"), "anthropic-ratelimit-unified-status");
        whole.then(|| (0.0, reset, source.to_owned()))?
    };
    Some(share(*dimension, left, reset, *seconds, source, context))
}

fn codex<'h>(which: &&str, header: &dyn Fn(&str) -> Option<&'h str>, context: &Context<'_>) -> Option<Found> {
    let part = |what: &str| format!("x-codex-{which}-{what}");
    let used: f64 = header(&part("used-percent"))?.parse().ok()?;
    let minutes: u32 = header(&part("window-minutes"))?.parse().ok().filter(|minutes| *minutes > 0)?;
    let used = (0.0..=500.0).contains(&used).then_some(used)?;
    let reset = header(&part("reset-at")).or_else(|| header(&part("reset-after-seconds")));
    let dimension = extent::plan_window(minutes);
    Some(share(dimension, percent(used), reset, u64::from(minutes) * 60, part("used-percent"), context))
}

/// What is left of a whole of which so many percent are used.
fn percent(used: f64) -> f64 {
    // Shares come as binary fractions: 0.12 of a whole leaves 88 percent, not 87.99999999999999.
    ((100.0 - used).max(0.0) * 1e6).round() / 1e6
}

fn share(
    dimension: Dimension,
    left: f64,
    reset: Option<&str>,
    seconds: u64,
    source: String,
    context: &Context<'_>,
) -> Found {
    let resets_at = reset.and_then(|reset| context.times.parse(reset)).and_then(|hint| context.times.moment(hint));
    let stated = StatedLimit {
        dimension,
        limit: Some(100.0),
        remaining: Some(left),
        resets_at,
        window: Some(Duration::from_secs(seconds)),
        source: ResetSource::Header(source),
    };
    Found { unit: Unit::Share, stated }
}
