//! A parser for values as they stand in logs: JSON, Python and JavaScript dumps, whole or cut off.
//!
//! What a library prints is seldom JSON: quotes are single, keys bare, `None` and `undefined` stand for null, long texts
//! are glued with `+`, one dump sits inside the quotes of another, and the end is missing. This parser takes what is
//! there and never fails: what it cannot read ends the value. It looks at each byte a bounded number of times.

use serde_json::{Map, Number, Value};

/// How deep values may nest before the rest counts as damaged.
const MAX_DEPTH: usize = 48;

/// How many values are taken out of one text.
const MAX_VALUES: usize = 200;

/// A value found in a text, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// The byte at which it starts.
    pub(crate) start: usize,
    /// The byte after its end.
    pub(crate) end: usize,
    /// The value itself.
    pub(crate) value: Value,
}

/// All objects (and arrays of objects) in the text, in order, none inside another.
pub(crate) fn find_values(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = 0;
    // Text full of braces that open nothing must not cost a parse of the whole rest for each brace.
    let mut budget = text.len().saturating_mul(6).saturating_add(4096);
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find(['{', '['])) {
        let start = at + offset;
        if let Some(end) = list_without_object(text, start) {
            at = end;
            continue;
        }
        let mut parser = Parser { text, bytes: text.as_bytes(), at: start, depth: 0 };
        let value = parser.value();
        let used = parser.at.saturating_sub(start).max(1);
        if budget < used || found.len() >= MAX_VALUES {
            break;
        }
        budget -= used;
        match value {
            Some(value) if holds_object(&value) => {
                found.push(Found { start, end: parser.at, value });
                at = parser.at.max(start + 1);
            }
            _ => at = start + 1,
        }
    }
    found
}

/// The whole text as one value, if it starts as an object, an array or a quoted string.
pub(crate) fn parse_whole(text: &str) -> Option<Value> {
    let trimmed = text.trim_start();
    let first = trimmed.chars().next()?;
    if !matches!(first, '{' | '[' | '"') {
        return None;
    }
    if let Ok(value) = serde_json::from_str(trimmed.trim_end()) {
        return Some(value);
    }
    let mut parser = Parser { text: trimmed, bytes: trimmed.as_bytes(), at: 0, depth: 0 };
    parser.value().filter(|value| first == '"' || holds_object(value))
}

/// `[` is common in logs; only one that is followed by an object can hold an error. For another the end of it and of
/// all that open right after it, for none of which it is otherwise.
fn list_without_object(text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?.strip_prefix('[')?;
    let inside = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(' || c == '[');
    (!inside.starts_with('{')).then(|| text.len() - inside.len())
}

fn holds_object(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => items.iter().any(holds_object),
        _ => false,
    }
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.skip_space();
        let slashes = self.count_slashes();
        match self.bytes.get(self.at + slashes).copied()? {
            b'"' | b'\'' | b'`' => self.string(slashes).map(Value::String),
            b'{' if slashes == 0 => self.nested(Self::object),
            b'%' if self.rest().starts_with("%{") => {
                self.at += 1;
                self.nested(Self::object)
            }
            b'[' | b'(' if slashes == 0 => self.nested(Self::array),
            b'<' => {
                self.at += self.rest().find('>').map_or(self.rest().len(), |end| end + 1);
                Some(Value::Null)
            }
            b'b' | b'u' | b'r' | b'f' if self.prefixed_string() => {
                self.at += 1;
                let slashes = self.count_slashes();
                self.string(slashes).map(Value::String)
            }
            _ => self.bare(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Value) -> Option<Value> {
        if self.depth >= MAX_DEPTH {
            self.at = self.bytes.len();
            return None;
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        Some(value)
    }

    /// Backslashes before a quote: one dump within the quotes of another.
    fn count_slashes(&self) -> usize {
        self.bytes.iter().skip(self.at).take_while(|byte| **byte == b'\\').count()
    }

    /// Whether a letter is the prefix of a Python string.
    fn prefixed_string(&self) -> bool {
        let after = self.bytes.iter().skip(self.at + 1).find(|byte| **byte != b'\\');
        matches!(after, Some(b'\'' | b'"'))
    }

    fn object(&mut self) -> Value {
        self.at += 1;
        let mut map = Map::new();
        loop {
            self.skip_separators();
            match self.peek() {
                None => break,
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b']' | b')') => break,
                Some(_) => {}
            }
            let Some(key) = self.key() else { break };
            if !self.skip_colon() {
                break;
            }
            self.skip_space();
            if self.peek() == Some(b'}') {
                continue;
            }
            let Some(value) = self.value() else { break };
            map.insert(key, value);
        }
        Value::Object(map)
    }

    fn array(&mut self) -> Value {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_separators();
            match self.peek() {
                None => break,
                Some(b']' | b')') => {
                    self.at += 1;
                    break;
                }
                Some(b'}') => break,
                Some(_) => {}
            }
            let before = self.at;
            let Some(value) = self.value() else { break };
            items.push(value);
            if self.at == before {
                break;
            }
        }
        Value::Array(items)
    }

    /// White space, commas, and line ends that a dump within quotes spells as `\n`.
    fn skip_separators(&mut self) {
        loop {
            self.skip_space();
            match self.peek() {
                Some(b',' | b';') => self.at += 1,
                Some(b'\\') if matches!(self.bytes.get(self.at + 1), Some(b'n' | b't' | b'r')) => self.at += 2,
                _ => return,
            }
        }
    }

    fn key(&mut self) -> Option<String> {
        let slashes = self.count_slashes();
        if matches!(self.bytes.get(self.at + slashes), Some(b'"' | b'\'')) {
            return self.string(slashes);
        }
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.' | '@'))).unwrap_or(0);
        let key = rest.get(..end)?.to_owned();
        self.at += end;
        (!key.is_empty()).then_some(key)
    }

    fn skip_colon(&mut self) -> bool {
        self.skip_space();
        let rest = self.rest();
        let length = if rest.starts_with("=>") {
            2
        } else if rest.starts_with([':', '=']) {
            1
        } else {
            return false;
        };
        self.at += length;
        true
    }

    /// A string whose quotes carry `slashes` backslashes; its end is the next quote of the same kind with as many.
    fn string(&mut self, slashes: usize) -> Option<String> {
        self.at += slashes;
        let quote = self.peek()?;
        self.at += 1;
        let mut out = String::new();
        loop {
            let run_start = self.at;
            while self.peek().is_some_and(|byte| byte != quote && byte != b'\\') {
                self.at += 1;
            }
            out.push_str(self.text.get(run_start..self.at).unwrap_or(""));
            let count = self.count_slashes();
            match self.bytes.get(self.at + count).copied() {
                None => {
                    self.at = self.bytes.len();
                    return Some(out);
                }
                Some(byte) if byte == quote && closes(count, slashes) => {
                    out.extend(std::iter::repeat_n('\\', if slashes == 0 { count / 2 } else { 0 }));
                    self.at += count + 1;
                    if !self.glued(quote) {
                        return Some(out);
                    }
                }
                Some(byte) => self.escape(count, slashes, byte, quote, &mut out),
            }
        }
    }

    /// Reads `count` backslashes and the character after them, in a string whose quotes carry `slashes`.
    fn escape(&mut self, count: usize, slashes: usize, next: u8, quote: u8, out: &mut String) {
        self.at += count;
        if next == quote {
            // Each level of quoting doubles the backslashes and adds one.
            let own = 2 * slashes + 1;
            out.extend(std::iter::repeat_n('\\', count.saturating_sub(own) / (own + 1)));
            out.push(char::from(quote));
            self.at += 1;
            return;
        }
        // Of an odd run the last backslash escapes; deeper levels of quoting are read as if they were one level.
        if count.is_multiple_of(2) {
            out.extend(std::iter::repeat_n('\\', count / 2));
            return;
        }
        out.extend(std::iter::repeat_n('\\', count / 2));
        match next {
            b'n' | b'r' => out.push('\n'),
            b't' => out.push('\t'),
            b'u' => {
                self.unicode(out);
                return;
            }
            b'/' | b'"' | b'\'' | b'`' => out.push(char::from(next)),
            _ => {
                out.push('\\');
                return;
            }
        }
        self.at += 1;
    }

    /// `uXXXX`, with a second half where there is one.
    fn unicode(&mut self, out: &mut String) {
        let read = |at: usize| u32::from_str_radix(self.text.get(at..at + 4)?, 16).ok();
        let Some(first) = read(self.at + 1) else {
            out.push('u');
            self.at += 1;
            return;
        };
        let pair = self.text.get(self.at + 5..self.at + 7) == Some("\\u");
        let second = if pair { read(self.at + 7) } else { None };
        let joined = match (first, second) {
            (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
                self.at += 6;
                0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)
            }
            _ => first,
        };
        out.push(char::from_u32(joined).unwrap_or('\u{fffd}'));
        self.at += 5;
    }

    /// JavaScript prints long strings in pieces: `'a' + 'b'`.
    fn glued(&mut self, quote: u8) -> bool {
        let after = self.rest().trim_start();
        let Some(piece) = after.strip_prefix('+').map(str::trim_start) else { return false };
        if piece.as_bytes().first() != Some(&quote) {
            return false;
        }
        self.at = self.bytes.len() - piece.len() + 1;
        true
    }

    /// A number, a word of a language, or words up to the next separator.
    fn bare(&mut self) -> Option<Value> {
        let rest = self.rest();
        let end = rest.find([',', '}', ']', ')', '\n', '(', '{', '"']).unwrap_or(rest.len());
        let word = rest.get(..end)?.trim();
        if rest.get(end..).is_some_and(|after| after.starts_with(['(', '{'])) && !word.is_empty() && !word.contains(' ')
        {
            self.at += end;
            return self.value();
        }
        if word.is_empty() && end == 0 {
            return None;
        }
        let value = match word {
            "null" | "None" | "nil" | "undefined" | "NULL" => Value::Null,
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            _ => number(word).map_or_else(|| Value::String(word.to_owned()), Value::Number),
        };
        self.at += end;
        Some(value)
    }
}

/// Whether a quote after `count` backslashes ends a string that was opened with `slashes` of them.
fn closes(count: usize, slashes: usize) -> bool {
    if slashes == 0 { count.is_multiple_of(2) } else { count <= slashes }
}

fn number(word: &str) -> Option<Number> {
    if word.len() > 30 || !word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return None;
    }
    word.parse::<i64>().map(Number::from).ok().or_else(|| Number::from_f64(word.parse().ok()?))
}

#[cfg(test)]
mod tests;
