//! Moments: dates and times of day in the formats of headers, fields and messages.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan};

/// What to make of a time that names no zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZoneGuess {
    /// The provider is known to mean this zone.
    Known(TimeZone),
    /// Nobody knows: the later of the readings that are likely (UTC and China), because waiting too long costs less
    /// than asking in vain.
    Latest,
}

impl ZoneGuess {
    fn resolve(&self, civil: DateTime) -> Option<Timestamp> {
        match self {
            Self::Known(zone) => zone.to_timestamp(civil).ok(),
            Self::Latest => [TimeZone::UTC, china()].iter().filter_map(|zone| zone.to_timestamp(civil).ok()).max(),
        }
    }
}

/// China has one zone and no summer time.
pub(crate) fn china() -> TimeZone {
    TimeZone::fixed(jiff::tz::offset(8))
}

/// Reads a moment at the start of the text: RFC 3339, an HTTP date, seconds or milliseconds since 1970,
/// `2026-08-03 23:59:59 +0800 CST`, `April 20, 2026 at 2:00 AM`, `2am (Australia/Sydney)`, `10 de jul. de 2026, 11:52`.
/// `base` completes what is not said: without a year or a date it is the next such moment.
///
/// None when the text starts with something else, or the moment is before `base` or more than 366 days after it.
pub fn parse_moment(text: &str, base: Timestamp, zone: &ZoneGuess) -> Option<Timestamp> {
    let text: &str = text.trim_start();
    let text = text.get(..text.char_indices().nth(60).map_or(text.len(), |(at, _)| at))?;
    let moment = epoch(text).or_else(|| http_date(text)).or_else(|| Words::read(text).moment(base, zone))?;
    (moment >= base && moment.duration_since(base) <= super::LONGEST.try_into().ok()?).then_some(moment)
}

/// Seconds or milliseconds since 1970: ten or thirteen digits, with or without a fraction.
fn epoch(text: &str) -> Option<Timestamp> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = text.get(..digits)?.parse().ok()?;
    if text.get(digits..)?.starts_with(['-', '/', ':', 'T']) {
        return None;
    }
    match digits {
        9 | 10 => Timestamp::from_second(number).ok(),
        12 | 13 => Timestamp::from_millisecond(number).ok(),
        16 => Timestamp::from_microsecond(number).ok(),
        19 => Timestamp::from_nanosecond(i128::from(number)).ok(),
        _ => None,
    }
}

/// `Wed, 30 Apr 2025 13:31:10 GMT`.
fn http_date(text: &str) -> Option<Timestamp> {
    let (day, rest) = text.split_once(',')?;
    if day.len() != 3 {
        return None;
    }
    let end = rest.find("GMT").map(|at| at + 3)?;
    jiff::fmt::rfc2822::parse(&format!("{day},{}", rest.get(..end)?)).ok().map(|zoned| zoned.timestamp())
}

/// The pieces of a date as they turn up in a text.
#[derive(Debug, Default)]
struct Words {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    time: Option<Time>,
    afternoon: Option<bool>,
    zone: Option<TimeZone>,
}

impl Words {
    /// Reads pieces until something comes that belongs to no date.
    fn read(text: &str) -> Self {
        let mut words = Self::default();
        let mut rest = text;
        for _ in 0..24 {
            rest = rest.trim_start_matches([' ', ',', '\t', '\n', '"', '\'', '“']);
            let Some(used) = words.piece(rest).filter(|used| *used > 0) else { break };
            rest = rest.get(used..).unwrap_or("");
        }
        words
    }

    /// Takes one piece from the start of the text and says how long it is.
    fn piece(&mut self, text: &str) -> Option<usize> {
        let first = text.chars().next()?;
        if first.is_ascii_digit() {
            return self.numbers(text);
        }
        if matches!(first, '+' | '-') && self.time.is_some() {
            return self.offset(text);
        }
        if first == '(' {
            let name = text.get(1..text.find(')')?)?;
            self.set_zone(name)?;
            return Some(name.len() + 2);
        }
        if first == 'T' && text.get(1..2).is_some_and(|next| next.bytes().all(|b| b.is_ascii_digit())) {
            return Some(1);
        }
        if matches!(first, '年' | '月' | '日' | '号') {
            return Some(first.len_utf8());
        }
        self.word(text)
    }

    fn word(&mut self, text: &str) -> Option<usize> {
        let length = text.find(|c: char| !(c.is_alphabetic() || matches!(c, '/' | '_'))).unwrap_or(text.len());
        let word = text.get(..length)?;
        let dot = usize::from(text.get(length..)?.starts_with('.'));
        let lower = word.to_lowercase();
        match lower.as_str() {
            "am" | "a" => self.afternoon = Some(false),
            "pm" | "p" => self.afternoon = Some(true),
            "at" | "de" | "on" | "the" | "um" | "à" | "st" | "nd" | "rd" | "th" => {}
            // After an offset this is only its name; CST alone is China's or Chicago's, so it says nothing.
            "cst" | "cest" | "cet" => {}
            "z" | "utc" | "gmt" => self.zone = Some(TimeZone::UTC),
            "pt" | "pst" | "pdt" => self.set_zone("America/Los_Angeles")?,
            "et" | "est" | "edt" => self.set_zone("America/New_York")?,
            _ if word.contains('/') => self.set_zone(word)?,
            _ if is_weekday(&lower) => {}
            _ => self.month = Some(month(&lower)?),
        }
        Some(length + dot)
    }

    fn set_zone(&mut self, name: &str) -> Option<()> {
        let zone = if name.eq_ignore_ascii_case("utc") { TimeZone::UTC } else { TimeZone::get(name).ok()? };
        self.zone = Some(zone);
        Some(())
    }

    /// `2026-08-03`, `2026/8/3`, `7:49:08`, `7:49`, `2am`, `20`, `2026`.
    fn numbers(&mut self, text: &str) -> Option<usize> {
        let (first, length) = integer(text)?;
        let after = text.get(length..)?;
        if let Some(rest) = after.strip_prefix(['-', '/', '年'])
            && length == 4
            && let Some((month, m)) = integer(rest)
            && let Some(tail) = rest.get(m..)?.strip_prefix(['-', '/', '月'])
            && let Some((day, d)) = integer(tail)
        {
            self.year = i16::try_from(first).ok();
            self.month = i8::try_from(month).ok();
            self.day = i8::try_from(day).ok();
            return Some(text.len() - tail.len() + d);
        }
        if let Some(rest) = after.strip_prefix(':') {
            return self.clock(first, rest).map(|used| length + 1 + used);
        }
        let lower = after.trim_start().get(..2).map(str::to_ascii_lowercase);
        match (length, lower.as_deref()) {
            (1 | 2, Some("am" | "pm")) => self.time = Time::new(i8::try_from(first).ok()? % 24, 0, 0, 0).ok(),
            (1 | 2, _) if after.starts_with('月') => self.month = i8::try_from(first).ok(),
            (1 | 2, _) if self.day.is_none() => self.day = Some(i8::try_from(first).ok()?),
            (4, _) => self.year = Some(i16::try_from(first).ok()?),
            _ => return None,
        }
        Some(length)
    }

    /// The minutes, and perhaps seconds and a fraction, after `hours:`.
    fn clock(&mut self, hours: i64, text: &str) -> Option<usize> {
        let (minutes, m) = integer(text)?;
        let mut used = m;
        let mut seconds = 0;
        if let Some((value, s)) = text.get(used..)?.strip_prefix(':').and_then(integer) {
            seconds = value;
            used += 1 + s;
            if let Some(fraction) = text.get(used..)?.strip_prefix('.') {
                used += 1 + fraction.bytes().take_while(u8::is_ascii_digit).count();
            }
        }
        let part = |value: i64| i8::try_from(value).ok();
        self.time = Some(Time::new(part(hours)?, part(minutes)?, part(seconds)?, 0).ok()?);
        Some(used)
    }

    /// `+0800`, `-07:00`, `+8`.
    fn offset(&mut self, text: &str) -> Option<usize> {
        let sign = if text.starts_with('-') { -1 } else { 1 };
        let (number, length) = integer(text.get(1..)?)?;
        let mut used = 1 + length;
        let minutes = match length {
            1 | 2 => match text.get(used..)?.strip_prefix(':').and_then(integer) {
                Some((minutes, m)) => {
                    used += 1 + m;
                    number * 60 + minutes
                }
                None => number * 60,
            },
            4 => (number / 100) * 60 + number % 100,
            _ => return None,
        };
        let offset = Offset::from_seconds(i32::try_from(sign * minutes * 60).ok()?).ok()?;
        self.zone = Some(TimeZone::fixed(offset));
        Some(used)
    }

    fn time_of_day(&self) -> Option<Time> {
        let time = self.time?;
        let hour = match (self.afternoon, time.hour()) {
            (Some(true), hour @ 0..=11) => hour + 12,
            (Some(false), 12) => 0,
            (_, hour) => hour,
        };
        Time::new(hour, time.minute(), time.second(), 0).ok()
    }

    fn moment(&self, base: Timestamp, guess: &ZoneGuess) -> Option<Timestamp> {
        let guess = self.zone.clone().map_or_else(|| guess.clone(), ZoneGuess::Known);
        let today = match &guess {
            ZoneGuess::Known(zone) => base.to_zoned_datetime(zone.clone()).date(),
            ZoneGuess::Latest => base.to_zoned_datetime(TimeZone::UTC).date(),
        };
        let midnight = Time::midnight();
        match (self.year, self.month, self.day, self.time_of_day()) {
            (Some(year), Some(month), Some(day), time) => {
                guess.resolve(Date::new(year, month, day).ok()?.to_datetime(time.unwrap_or(midnight)))
            }
            (None, Some(month), Some(day), time) => {
                let at =
                    |year: i16| guess.resolve(Date::new(year, month, day).ok()?.to_datetime(time.unwrap_or(midnight)));
                at(today.year()).filter(|moment| *moment >= base).or_else(|| at(today.year() + 1))
            }
            (None, None, None, Some(time)) => {
                let at = |date: Date| guess.resolve(date.to_datetime(time));
                at(today).filter(|moment| *moment >= base).or_else(|| at(today.checked_add(1.day()).ok()?))
            }
            _ => None,
        }
    }
}

fn integer(text: &str) -> Option<(i64, usize)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 || length > 6 {
        return None;
    }
    Some((text.get(..length)?.parse().ok()?, length))
}

fn is_weekday(word: &str) -> bool {
    ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].iter().any(|day| word.starts_with(day)) && !word.contains("month")
}

/// The month of a name in English, Spanish, French, Portuguese or German, short or long.
fn month(word: &str) -> Option<i8> {
    const NAMES: &[(&str, i8)] = &[
        ("jan", 1),
        ("ene", 1),
        ("feb", 2),
        ("fév", 2),
        ("fev", 2),
        ("mar", 3),
        ("mär", 3),
        ("apr", 4),
        ("abr", 4),
        ("avr", 4),
        ("may", 5),
        ("mai", 5),
        ("jun", 6),
        ("juin", 6),
        ("jul", 7),
        ("juil", 7),
        ("aug", 8),
        ("ago", 8),
        ("aoû", 8),
        ("sep", 9),
        ("set", 9),
        ("oct", 10),
        ("okt", 10),
        ("out", 10),
        ("nov", 11),
        ("dec", 12),
        ("dez", 12),
        ("dic", 12),
        ("déc", 12),
    ];
    // The longest name is twelve letters; longer words are no months.
    if word.chars().count() > 12 {
        return None;
    }
    NAMES.iter().find(|(name, _)| word.starts_with(name)).map(|(_, month)| *month)
}
