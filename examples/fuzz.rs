//! Throws mutated captures at all readers and looks for what must never happen: a panic, a slow input, output that a
//! terminal would obey, JSON that nobody can read.
//!
//! ```sh
//! cargo run --release --example fuzz -- 10000000        # how many inputs; a seed may follow
//! ```
//!
//! Inputs are made of the fixtures: cut, joined, repeated, sprinkled with bytes that matter to some reader, and wrapped
//! as logs, collectors, browsers and curl wrap them. Each goes through one reader and one form of output, drawn by its
//! seed; what is found says the seed and the input, and ends the run.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a program of its own that may just end")]
#![expect(clippy::disallowed_methods, reason = "it measures, and reads its arguments")]

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use llmr::catalog::Catalog;
use llmr::classify::Classifier;
use llmr::classify::capture::{Block, Format, Reading};
use llmr::report::classify::{Shape, Table, Worker};
use serde_json::{Value, json};

/// What one megabyte may take.
const PER_MEGABYTE: Duration = Duration::from_secs(1);

/// What any input may take: the machine has other things to do too.
const FLOOR: Duration = Duration::from_millis(60);

/// Bytes that mean something to some reader.
const SPICES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\\",
    "\\\"",
    "\\u0000",
    "\\ud800",
    "\n",
    "\r\n",
    "\n\n",
    "\t",
    "\0",
    "\u{1b}[31m",
    "\u{1b}]0;x\u{7}",
    "\u{9b}2J",
    "\u{202e}",
    "\u{feff}",
    ":",
    ",",
    "429",
    "HTTP/1.1 429 Too Many Requests\n",
    "< HTTP/2 503\n",
    "> POST / HTTP/2\n",
    "data: ",
    "event: error\n",
    "data: [DONE]\n",
    "retry-after: ",
    "Retry-After: -1",
    "99999999999999999999",
    "1e309",
    "0",
    "-0.0",
    "try again in ",
    "7m12.345s",
    "2026-02-30T25:61:61Z",
    "Nov 31 10:00:00 ",
    "resets 2am (Australia/Sydney)",
    "limit: 0",
    "Limit 5, Used 3, Requested 9",
    "Traceback (most recent call last):\n  File \"x\", line 1\n",
    "    at f (x.js:1:1)\n",
    "Caused by: ",
    "余额不足",
    "\u{10ffff}",
    "é",
    "%{",
    "=>",
    "`",
    "(((((((((",
    "[[[[[[[[",
    "{{{{{{{{",
    "<html>",
    "<!--",
    "</script",
    "None",
    "b'",
    "\"error\":",
    "'error': ",
    "| ",
    "[ERR] ",
];

/// A small generator: the same seed gives the same input on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % sides.max(1) as u64).expect("below the sides")
    }

    fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all.get(self.roll(all.len())).expect("not empty")
    }
}

thread_local! {
    /// What the thread works on, for the last words of a panic.
    static NOW: RefCell<(u64, Vec<u8>)> = const { RefCell::new((0, Vec::new())) };
}

fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>().expect("a number"));
    let (inputs, first) = (args.next().unwrap_or(100_000), args.next().unwrap_or(0));
    let seeds = seeds();
    std::panic::set_hook(Box::new(|what| {
        NOW.with_borrow(|(seed, input)| println!("FOUND at seed {seed}: {what}\n{}", shown(input)));
    }));
    let next = AtomicU64::new(0);
    let bytes = AtomicU64::new(0);
    let slowest = AtomicU64::new(0);
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                let stage = Stage::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= inputs {
                        return;
                    }
                    let (size, micros) = stage.play(first + number, &seeds);
                    bytes.fetch_add(size, Ordering::Relaxed);
                    slowest.fetch_max(micros, Ordering::Relaxed);
                    if number % 1_000_000 == 999_999 {
                        println!("{} inputs in {:?}", number + 1, begun.elapsed());
                    }
                }
            });
        }
    });
    let megabytes = bytes.into_inner() / 1_000_000;
    let slowest = Duration::from_micros(slowest.into_inner());
    println!("{inputs} inputs, {megabytes} MB, nothing found; slowest {slowest:?}; {:?} in all", begun.elapsed());
}

/// The start of an input, fit for a terminal.
fn shown(input: &[u8]) -> String {
    String::from_utf8_lossy(input.get(..input.len().min(1500)).unwrap_or(input)).escape_debug().to_string()
}

/// The texts that inputs are made of.
fn seeds() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let files =
        |folder: &str| fs::read_dir(root.join(folder)).expect("fixtures").map(|file| file.expect("a file").path());
    let mut seeds: Vec<String> = files("replies").filter_map(|path| fs::read_to_string(path).ok()).collect();
    for path in files("captures") {
        for line in fs::read_to_string(path).expect("text").lines() {
            let value: Value = serde_json::from_str(line).expect("JSON");
            seeds.push(line.to_owned());
            seeds.extend(
                ["body", "log"]
                    .iter()
                    .filter_map(|key| value.get(*key).and_then(Value::as_str))
                    .filter(|text| !text.is_empty())
                    .map(str::to_owned),
            );
        }
    }
    seeds.retain(|seed| seed.len() < 6000);
    seeds
}

struct Stage {
    classifier: Classifier,
    catalog: Catalog,
    reading: Reading,
}

impl Stage {
    fn new() -> Self {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().expect("a time");
        let catalog = Catalog::builtin().expect("the catalogue");
        Self { classifier: Classifier::default(), catalog, reading: Reading::at(now) }
    }

    /// Plays one input; how long it was, and how long it took in microseconds.
    fn play(&self, seed: u64, seeds: &[String]) -> (u64, u64) {
        let mut dice = Dice(seed);
        let input = input(&mut dice, seeds);
        let format = *dice.pick(&[&Format::Auto, &Format::Auto, &Format::Jsonl, &Format::Text, &Format::Har]);
        let shape =
            *dice.pick(&[&Shape::Json, &Shape::ExplainedJson, &Shape::ExplainedText, &Shape::Table, &Shape::Totals]);
        NOW.with_borrow_mut(|now| *now = (seed, input.clone()));
        let size = input.len();
        #[expect(clippy::cast_precision_loss, reason = "a bound need not be exact")]
        let bound = PER_MEGABYTE.mul_f64(size as f64 / 1e6).max(FLOOR);
        let (mut text, mut complaints, mut took) = self.once(input.clone(), format, shape);
        // The machine has other things to do too: what is slow is slow again.
        for _ in 0..5 {
            if took > bound {
                (text, complaints, took) = self.once(input.clone(), format, shape);
            }
        }
        let fail = |why: &str| -> ! { panic!("{why} ({format:?}, {shape:?}, {size} bytes)") };
        if took > bound {
            fail(&format!("took {took:?}"));
        }
        if text.chars().chain(complaints.chars()).any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            fail("a control character in the output");
        }
        if matches!(shape, Shape::Json | Shape::ExplainedJson)
            && text.lines().any(|line| serde_json::from_str::<Value>(line).is_err())
        {
            fail("the output is no JSON");
        }
        (size as u64, u64::try_from(took.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Stage {
    /// Reads, classifies and renders the input: the text, the complaints, and how long it took.
    fn once(&self, input: Vec<u8>, format: Format, shape: Shape) -> (String, String, Duration) {
        let begun = Instant::now();
        let mut worker = Worker::new(&self.classifier, &self.catalog, None, shape);
        let output = worker.read(&Block::whole(input), format, &self.reading, "", Vec::new());
        let complaints = output.complaints.clone();
        let text = output.rendered(&mut Table::new(100), true);
        (text, complaints, begun.elapsed())
    }
}

/// One input: one to four texts, mutated and perhaps wrapped.
fn input(dice: &mut Dice, seeds: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..=dice.roll(3) {
        let text = seeds.get(dice.roll(seeds.len())).expect("a seed");
        let text = if dice.roll(3) == 0 { wrapped(dice, text) } else { text.clone() };
        let mut bytes = text.into_bytes();
        for _ in 0..dice.roll(6) {
            mutate(dice, &mut bytes);
        }
        out.extend_from_slice(&bytes);
        if dice.roll(5) > 0 {
            out.push(b'\n');
        }
    }
    // Once in a while something long, since what is slow is so in length.
    if dice.roll(4000) == 0 {
        out = out.repeat(1 + 300_000 / out.len().max(1));
    }
    out
}

fn wrapped(dice: &mut Dice, text: &str) -> String {
    match dice.roll(12) {
        0 => json!({"log": format!("{text}\n"), "stream": "stderr", "time": "2026-11-15T10:00:00.000000001Z"}).to_string(),
        1 => json!({"level": 50, "time": 1_794_736_800_000_u64, "msg": "failed", "err": {"message": text, "stack": text}}).to_string(),
        2 => json!({"log": {"version": "1.2", "creator": {}, "entries": [{"request": {"url": "https://api.groq.com/v1"},
                    "response": {"status": 429, "headers": [{"name": "retry-after", "value": "3"}], "content": {"text": text}}}]}}).to_string(),
        3 => format!("HTTP/1.1 429 Too Many Requests\nretry-after: 3\ndate: Sun, 15 Nov 2026 10:00:00 GMT\n\n{text}"),
        4 => format!("* Connected to api.openai.com (1.2.3.4) port 443\n> POST /v1 HTTP/2\n> \n< HTTP/2 503 \n< x: y\n< \n{text}\n* Connection #0 to host x left intact"),
        5 => format!("event: error\ndata: {}\n\n", text.replace('\n', " ")),
        6 => json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "1794736800000000000", "severityText": "ERROR",
                    "body": {"stringValue": text}, "attributes": [{"key": "exception.message", "value": {"stringValue": text}}]}]}]}]}).to_string(),
        7 => text.lines().map(|line| format!("2026-11-15T10:00:00.1Z stderr F {line}\n")).collect(),
        8 => format!("2026-11-15 10:00:00,123 ERROR app: {text}"),
        9 => json!({"error": {"message": text, "code": 500, "metadata": {"raw": text}}}).to_string(),
        10 => format!("Error code: 429 - {{'error': {{'message': '{text}'}}}}"),
        _ => Value::from(Value::from(text).to_string()).to_string(),
    }
}

fn mutate(dice: &mut Dice, bytes: &mut Vec<u8>) {
    let at = dice.roll(bytes.len() + 1);
    match dice.roll(7) {
        0 => bytes.truncate(at),
        1 if at < bytes.len() => drop(bytes.drain(..at)),
        2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u8::try_from(dice.roll(256)).expect("a byte");
            }
        }
        3 => {
            let end = (at + dice.roll(40)).min(bytes.len());
            let piece: Vec<u8> = bytes.get(at..end).unwrap_or(&[]).repeat(1 + dice.roll(8));
            bytes.splice(at..at, piece);
        }
        _ => {
            let spice = dice.pick(SPICES).as_bytes().repeat(1 + dice.roll(2) * dice.roll(20));
            bytes.splice(at..at, spice);
        }
    }
}
