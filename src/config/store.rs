//! `[store]`: the state file, and how long and how large the log may grow.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use super::limits::positive;
use super::reader::{Node, Reader, Section};

/// What the section says.
#[derive(Debug, Default)]
pub(super) struct StoreConfig {
    pub(super) path: Option<PathBuf>,
    pub(super) retention: Option<Duration>,
    pub(super) max_size: Option<u64>,
    pub(super) content: bool,
    pub(super) sessions: Option<Duration>,
    pub(super) baselines: Option<Duration>,
}

/// What a size may be, in bytes and in words.
pub(super) type Sizes = (RangeInclusive<u64>, &'static str);

/// The largest file, 100 TB; more is a slip of the pen.
const LARGEST: u64 = 100_000_000_000_000;

/// Of the file: less than 1 MB would leave the log no room beside the holds.
const FILES: Sizes = (1_000_000..=LARGEST, "1MB and 100TB");

/// Of an answer that is held back: it stands in memory.
pub(super) const BUFFERS: Sizes = (1_000..=64_000_000, "1kB and 64MB");

pub(super) fn store(root: &Section<'_, '_>, reader: &Reader) -> StoreConfig {
    let Some(section) = root.section("store") else { return StoreConfig::default() };
    section.allow(&["path", "retention", "max_size", "content", "sessions", "baselines"]);
    let path = section.get("path").and_then(|node| node.text()).map(|text| reader.path(&text));
    StoreConfig {
        path,
        retention: section.get("retention").and_then(|node| positive(&node)),
        max_size: section.get("max_size").and_then(|node| size(&node, FILES)),
        content: section.get("content").and_then(|node| node.truth()).unwrap_or(false),
        sessions: section.get("sessions").and_then(|node| positive(&node)),
        baselines: section.get("baselines").and_then(|node| positive(&node)),
    }
}

pub(super) fn size(node: &Node<'_, '_>, (range, within): Sizes) -> Option<u64> {
    let hint = || Some("write \"50MB\", \"500MB\", \"2GB\" or \"1GiB\"".to_owned());
    let Some(text) = node.as_text() else {
        node.reader.error(&node.place, "a size with its unit is wanted, as text", hint());
        return None;
    };
    let Some(bytes) = parse_size(text) else {
        node.reader.error(&node.place, format!("{} is no size", node.reader.show(text)), hint());
        return None;
    };
    if !range.contains(&bytes) {
        let message = format!("{} is not within {within}", node.reader.show(text));
        node.reader.error(&node.place, message, hint());
        return None;
    }
    Some(bytes)
}

/// Reads a whole number with one unit, in any case and with or without a blank: `kB`, `MB`, `GB` and `TB` are powers of
/// 1000, `KiB`, `MiB`, `GiB` and `TiB` of 1024.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let unit = match unit.trim_start().to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file has one such line; these are the other ways to get it wrong.
    #[test]
    fn a_size_has_a_unit_and_bounds() {
        let told = |value: &str| {
            let text = format!("[ladders.main]\nsteps = [\"openai/gpt-5-mini\"]\n[store]\nmax_size = {value}\n");
            let builtin = crate::catalog::Catalog::builtin().expect("the catalogue");
            let told = super::super::parse(&text, std::path::Path::new("llmr.toml"), builtin);
            told.map(|config| config.max_size).map_err(|problems| problems[0].to_string())
        };
        assert_eq!(told("\"1MB\""), Ok(Some(1_000_000)));
        assert_eq!(told("\"100TB\""), Ok(Some(LARGEST)));
        let hint = "write \"50MB\", \"500MB\", \"2GB\" or \"1GiB\"";
        for (value, message) in [
            ("500000000", "a size with its unit is wanted, as text"),
            ("\"999kB\"", "`999kB` is not within 1MB and 100TB"),
            ("\"101TB\"", "`101TB` is not within 1MB and 100TB"),
        ] {
            assert_eq!(told(value), Err(format!("llmr.toml:4: store.max_size: {message}; {hint}")));
        }
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        let cases = [
            ("500MB", Some(500_000_000)),
            ("2 GB", Some(2_000_000_000)),
            ("1gib", Some(1 << 30)),
            (" 64KiB ", Some(64 << 10)),
            ("7B", Some(7)),
            ("1TB", Some(1_000_000_000_000)),
            ("500", None),
            ("MB", None),
            ("", None),
            ("1.5GB", None),
            ("-1GB", None),
            ("5 apples", None),
            ("99999999999999999999MB", None),
            ("99999999TiB", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), bytes, "{text}");
        }
    }
}
