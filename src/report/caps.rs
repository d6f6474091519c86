//! The catalogue as a person reads it: limits, when they come back, and how that is known.
//!
//! A reset clock alone is a riddle at three in the morning, so each row says the moment in UTC and how far off it is.
//! Windows and buckets have no such moment: they are back "within" their length.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::catalog::{AuthStyle, Cap, Catalog, ProviderInfo, ResetClock};
use crate::domain::{ProviderName, printable};

use super::moment::span;

/// From this width on, tier and note have columns of their own.
const WIDE: usize = 130;

/// The narrowest table that can be read.
const NARROWEST: usize = 60;

/// The limits of all providers, or of one, as a table for each, not wider than `width` characters.
pub fn caps_table(catalog: &Catalog, filter: Option<&ProviderName>, now: Timestamp, width: usize) -> String {
    let mut out = String::new();
    for info in chosen(catalog, filter) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&heading(info));
        out.push('\n');
        if info.caps.is_empty() {
            out.push_str("  no limits known\n");
        } else {
            out.push_str(&table(info, now, width.max(NARROWEST)));
        }
    }
    out
}

/// The limits of all providers, or of one: one JSON object per line.
pub fn caps_json(catalog: &Catalog, filter: Option<&ProviderName>, now: Timestamp) -> String {
    let caps = chosen(catalog, filter).flat_map(|info| info.caps.iter().map(move |cap| (info, cap)));
    caps.map(|(info, cap)| format!("{}\n", object(info, cap, now))).collect()
}

fn chosen<'a>(catalog: &'a Catalog, filter: Option<&'a ProviderName>) -> impl Iterator<Item = &'a ProviderInfo> {
    catalog.providers.values().filter(move |info| filter.is_none_or(|name| *name == info.name))
}

fn object(info: &ProviderInfo, cap: &Cap, now: Timestamp) -> Value {
    let next = cap.reset.next_reset(now);
    json!({
        "provider": info.name.as_str(),
        "model": cap.model,
        "dimension": cap.dimension.as_str(),
        "limit": cap.limit,
        "tier": cap.tier,
        "scope": cap.scope.as_str(),
        "reset": cap.reset.to_string(),
        "next_reset": next.map(|at| at.to_string()),
        "next_reset_in_s": next.map(|at| at.duration_since(now).as_secs_f64()),
        "source": cap.source.as_str(),
        "as_of": cap.as_of.map(|date| date.to_string()),
        "note": cap.note,
    })
}

/// Who it is, where it is asked and with which key.
fn heading(info: &ProviderInfo) -> String {
    let place = match (&info.wire, &info.base_url) {
        (Some(wire), Some(url)) => format!("{}, {} wire", printable(url), wire.as_str()),
        _ => "limits and signals only".to_owned(),
    };
    let key = match (&info.auth, info.env.first()) {
        (AuthStyle::None, _) | (_, None) => String::new(),
        (_, Some(variable)) => format!(", key in {}", printable(variable)),
    };
    format!("{}: {place}{key}", printable(info.name.as_str()))
}

fn table(info: &ProviderInfo, now: Timestamp, width: usize) -> String {
    let wide = width >= WIDE;
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    let mut header = vec!["limit", "", "model", "per", "resets", "next reset (UTC)", "source"];
    if wide {
        header.insert(3, "tier");
        header.push("note");
    }
    table.set_header(header);
    let mut caps: Vec<&Cap> = info.caps.iter().collect();
    caps.sort_by_key(|cap| cap.dimension);
    for cap in caps {
        table.add_row(row(cap, now, wide));
    }
    if let Some(column) = table.column_mut(0) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut out = table.trim_fmt();
    out.push('\n');
    out
}

fn row(cap: &Cap, now: Timestamp, wide: bool) -> Vec<String> {
    let model = printable(cap.model.as_deref().unwrap_or("all"));
    let tier = cap.tier.as_deref().map(printable);
    let source = match cap.as_of {
        Some(date) => format!("{} {date}", cap.source.as_str()),
        None => cap.source.as_str().to_owned(),
    };
    let mut cells = vec![
        cap.limit.map_or("?".to_owned(), grouped),
        cap.dimension.to_string(),
        model,
        cap.scope.to_string(),
        if wide { cap.reset.to_string() } else { city(&cap.reset) },
        next(&cap.reset, now),
        source,
    ];
    if wide {
        cells.insert(3, tier.unwrap_or_default());
        cells.push(cap.note.as_deref().map(printable).unwrap_or_default());
    } else if let (Some(tier), Some(model)) = (tier, cells.get_mut(2)) {
        model.push_str(&format!(" ({tier})"));
    }
    cells
}

/// The clock with its zone's city alone, which is what people say: `midnight Los Angeles`.
fn city(reset: &ResetClock) -> String {
    let text = reset.to_string();
    match text.split_once(' ').and_then(|(word, zone)| Some((word, zone.rsplit_once('/')?.1))) {
        Some((word, city)) => format!("{word} {}", city.replace('_', " ")),
        None => text,
    }
}

/// The moment and how far off it is.
fn next(reset: &ResetClock, now: Timestamp) -> String {
    match (reset, reset.next_reset(now)) {
        (ResetClock::Rolling { .. } | ResetClock::Refill { .. }, Some(at)) => {
            format!("within {}", span(at.duration_since(now).unsigned_abs()))
        }
        (_, Some(at)) => {
            format!("{}, in {}", at.strftime("%Y-%m-%d %H:%M"), span(at.duration_since(now).unsigned_abs()))
        }
        (ResetClock::Never, None) => "a person must act".to_owned(),
        (_, None) => "as the answer says".to_owned(),
    }
}

/// The number with a comma between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
#[path = "caps_tests.rs"]
mod tests;
