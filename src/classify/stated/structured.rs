//! Lists of policies as values: the drafts of the IETF and what grew beside them.
//!
//! `"burst";q=100;w=60, "daily";q=1000;w=86400`, `100, 100;w=60, 1000;window=86400`, `limit=100, remaining=50, reset=5`.

/// How many items, and how many parts of each, are read.
const MOST: usize = 12;

/// One item of such a list. Figures are as they came.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Item<'t> {
    /// Its names: a policy can have more than one.
    pub(super) names: Vec<&'t str>,
    /// How much is allowed.
    pub(super) quota: Option<f64>,
    /// In which window, in seconds.
    pub(super) window: Option<f64>,
    /// How much is left.
    pub(super) remaining: Option<f64>,
    /// After how many seconds it is back.
    pub(super) reset: Option<f64>,
    /// What is counted.
    pub(super) unit: Option<&'t str>,
}

/// The items of a list; empty when there is nothing to read in it.
pub(super) fn items(text: &str) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = split(text, ',').map(item).collect();
    // `limit=100, remaining=50, reset=5` is one item that uses commas.
    if let [first, second, ..] = items.as_slice()
        && first.names.is_empty()
        && first.quota.is_some() != second.quota.is_some()
        && (second.remaining.is_some() || second.reset.is_some())
    {
        let whole = items.iter().fold(Item::default(), |whole, item| Item {
            quota: whole.quota.or(item.quota),
            window: whole.window.or(item.window),
            remaining: whole.remaining.or(item.remaining),
            reset: whole.reset.or(item.reset),
            ..whole
        });
        items = vec![whole];
    }
    items
}

fn item(text: &str) -> Item<'_> {
    let mut item = Item::default();
    for part in split(text, ';') {
        let part = part.trim();
        let Some((key, value)) = part.split_once('=') else {
            match part.parse::<f64>() {
                Ok(number) => item.quota = item.quota.or(Some(number)),
                Err(_) if !part.is_empty() => item.names.push(part.trim_matches('"')),
                Err(_) => {}
            }
            continue;
        };
        let value = value.trim().trim_matches('"');
        let number = || value.parse::<f64>().ok();
        match key.trim().to_ascii_lowercase().as_str() {
            "q" | "quota" | "limit" => item.quota = number(),
            "w" | "window" => item.window = number(),
            "r" | "remaining" => item.remaining = number(),
            "t" | "reset" => item.reset = number(),
            "qu" | "unit" => item.unit = Some(value),
            _ => {}
        }
    }
    item
}

/// Parts between separators that stand outside of quotes.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c: char| {
        quoted ^= c == '"';
        c == separator && !quoted
    })
    .take(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let told = |text| -> Vec<_> {
            items(text).into_iter().map(|item| (item.quota, item.window, item.remaining, item.reset)).collect()
        };
        let (q, w) = (Some(100.0), Some(60.0));
        assert_eq!(told("100;w=60"), [(q, w, None, None)]);
        assert_eq!(told("100, 100;window=60"), [(q, None, None, None), (q, w, None, None)]);
        assert_eq!(told("limit=100, remaining=50, reset=5"), [(q, None, Some(50.0), Some(5.0))]);
        assert_eq!(told("\"a,b;c\";r=50;t=5"), [(None, None, Some(50.0), Some(5.0))]);
        assert_eq!(
            items("\"fixed window\";\"api\";q=100;w=60").first().map(|item| item.names.clone()),
            Some(vec!["fixed window", "api"])
        );
        assert_eq!(items(&"1,".repeat(1000)).len(), MOST);
        assert_eq!(told("\";=,=;"), [(None, None, None, None)]);
    }
}
