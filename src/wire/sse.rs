//! Server-sent events from bytes that may be cut anywhere, also inside a character.

/// The largest event, in bytes, its line ends not counted.
pub(super) const MAX_EVENT: usize = 4 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// The `event` field; empty when there is none.
    pub(super) kind: String,
    /// The `data` fields, joined by line ends.
    pub(super) data: String,
}

/// An event or a comment is larger than we take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Collects bytes into lines and lines into events. Comments are dropped.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    kind: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
}

impl Parser {
    /// Takes more bytes; hands each finished event to `take`.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(Event)) -> Result<(), TooLarge> {
        if !bytes.is_empty() && std::mem::take(&mut self.after_cr) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(at) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (line, rest) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
            self.extend(line)?;
            self.end_line(&mut take);
            let (end, rest) = rest.split_at_checked(1).unwrap_or((&[], &[]));
            bytes = rest;
            if end == b"\r" {
                // The line feed of a pair may only come with the next bytes.
                self.after_cr = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.extend(bytes)
    }

    /// Takes what stands there although the stream ended without the blank line after it. The caller decides whether
    /// it is whole: many servers forget the blank line, and a cut leaves half an event in the same place.
    pub(super) fn finish(&mut self) -> Option<Event> {
        let mut last = None;
        if !self.line.is_empty() {
            self.end_line(&mut |event| last = Some(event));
        }
        last.or_else(|| self.take_event())
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + self.data.len() + bytes.len() > MAX_EVENT {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, take: &mut impl FnMut(Event)) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            if let Some(event) = self.take_event() {
                take(event);
            }
            return;
        }
        let colon = memchr::memchr(b':', &line).unwrap_or(line.len());
        let (field, value) = line.split_at_checked(colon).unwrap_or((&line, &[]));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.kind = value.to_vec(),
            _ => {}
        }
    }

    fn take_event(&mut self) -> Option<Event> {
        let (kind, data) = (std::mem::take(&mut self.kind), std::mem::take(&mut self.data));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        std::mem::take(&mut self.has_data).then(|| Event { kind: text(&kind), data: text(&data) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for chunk in chunks {
            parser.push(chunk, |event| events.push((event.kind, event.data))).expect("small");
        }
        events.extend(parser.finish().map(|event| (event.kind, event.data)));
        events
    }

    fn one(kind: &str, data: &str) -> (String, String) {
        (kind.to_owned(), data.to_owned())
    }

    #[test]
    fn lines_end_in_three_ways_and_chunks_anywhere() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!(": ping{end}event: a{end}data: x{end}data:y{end}id: 1{end}{end}{end}data: ß{end}{end}");
            let wanted = vec![one("a", "x\ny"), one("", "ß")];
            assert_eq!(events(&[text.as_bytes()]), wanted, "{end:?}");
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(events(&bytes), wanted, "{end:?}");
        }
    }

    #[test]
    fn an_event_without_data_is_none_and_the_last_may_lack_its_blank_line() {
        assert_eq!(events(&[b"event: ping\n\ndata: a"]), vec![one("", "a")]);
        assert_eq!(events(&[b"data: a\n"]), vec![one("", "a")]);
        assert_eq!(events(&[b"data\n\n"]), vec![one("", "")]);
        assert_eq!(events(&[b": only a comment"]), vec![]);
    }

    #[test]
    fn an_event_is_bounded() {
        let mut parser = Parser::default();
        let block = vec![b'x'; 1024 * 1024];
        let result = (0..8).try_for_each(|_| parser.push(&block, |_| {}));
        assert_eq!(result, Err(TooLarge));
    }
}
