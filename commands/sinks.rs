//! Where messages of the alarm go: a program and a URL.

use std::time::Duration;

use llmr::config::{Alarm, Config, KeySource, Webhook, resolve_key};
use llmr::domain::{Secret, excerpt};
use llmr::policy::Sink;
use llmr::process::{self, Bounds, Program, Ran};
use llmr::route::{post, webhook_request};
use serde_json::Value;

use crate::context::Context;

/// How much of a complaint is told, in characters.
const SHOWN: usize = 160;

/// What is said of a delivery that the user did not want to wait for.
const INTERRUPTED: &str = "it was interrupted";

/// Delivers one message within this time.
///
/// # Errors
/// Why it was not taken, in one line without secrets.
pub fn send(
    sink: Sink,
    id: &str,
    body: &str,
    timeout: Duration,
    config: &Config,
    context: &mut Context,
) -> Result<(), String> {
    let Some(alarm) = &config.alarm else { return Err("there is no [alarm] section".to_owned()) };
    let sent = match (sink, &alarm.webhook) {
        (Sink::Command, _) => command(alarm, body, timeout),
        (Sink::Webhook, Some(webhook)) => post_to(webhook, id, body, timeout, config, context),
        (Sink::Webhook, None) => Err("no webhook is configured".to_owned()),
    };
    sent.map_err(|error| excerpt(&context.redactor().redact(&error), SHOWN * 2))
}

/// Runs the program, with the message on its standard input.
fn command(alarm: &Alarm, body: &str, timeout: Duration) -> Result<(), String> {
    let message: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    let words: Vec<String> = alarm.command.iter().map(|word| filled(word, &message)).collect();
    let input = format!("{body}\n");
    let ran = bounded(&words, input.as_bytes(), timeout).map_err(|error| {
        format!("`{}` cannot be run: {error}", excerpt(words.first().map_or("", String::as_str), SHOWN))
    })?;
    outcome(&ran, timeout)
}

/// Runs a program until its time is over or Ctrl-C is heard.
fn bounded(words: &[String], input: &[u8], time: Duration) -> std::io::Result<Ran> {
    let bounds = Bounds { time, output: process::MOST, is_interrupted: &crate::walk::is_interrupted };
    process::run(&Program { words, input, env: &[] }, &bounds)
}

fn outcome(ran: &Ran, timeout: Duration) -> Result<(), String> {
    let Some(status) = ran.status else { return Err(killed(timeout)) };
    if status.success() {
        return Ok(());
    }
    let said = excerpt(&ran.err, SHOWN);
    Err(if said.is_empty() { status.to_string() } else { format!("{status}: {said}") })
}

/// Why a program was killed.
fn killed(timeout: Duration) -> String {
    match crate::walk::is_interrupted() {
        true => INTERRUPTED.to_owned(),
        false => format!("it was killed, for it took longer than {timeout:?}"),
    }
}

/// The word with what stands for its placeholders. What is filled in is not looked at again.
fn filled(word: &str, message: &Value) -> String {
    let text = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut out = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let found = ["summary", "text", "kind", "ladder"].iter().find_map(|name| {
            let tail = after.strip_prefix(name)?.strip_prefix('}')?;
            Some((text(name), tail))
        });
        match found {
            Some((value, tail)) => {
                out.push_str(&value);
                rest = tail;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Posts the message, signed.
fn post_to(
    webhook: &Webhook,
    id: &str,
    body: &str,
    timeout: Duration,
    config: &Config,
    context: &mut Context,
) -> Result<(), String> {
    let watch = context.clock.stopwatch();
    let secret = secret(&webhook.secret, timeout, context)?;
    context.learn_secret(&secret);
    let transport =
        crate::walk::transport_to(&webhook.url, config, context).map_err(|error| error.message().to_owned())?;
    let request = webhook_request(&webhook.url, &secret, id, context.clock.now(), body);
    let left = timeout.saturating_sub(watch.elapsed());
    // A secret is mostly read in no time, and a figure that is short by that would only look odd.
    let left = if left >= timeout / 10 * 9 { timeout } else { left };
    let sent = context.block_on(async {
        tokio::select! {
            sent = post(&transport, &request, left) => sent,
            () = crate::walk::interrupted() => Err(INTERRUPTED.to_owned()),
        }
    });
    sent.map_err(|error| error.message().to_owned())?
}

/// What signs messages. A program that gives it may not hang either.
fn secret(source: &KeySource, timeout: Duration, context: &Context) -> Result<Secret, String> {
    let run = |words: &[String]| {
        let ran = bounded(words, b"", timeout)?;
        match ran.status {
            Some(status) if status.success() => Ok(ran.out),
            Some(status) => Err(std::io::Error::other(status.to_string())),
            None => Err(std::io::Error::other(killed(timeout))),
        }
    };
    let read = |path: &std::path::Path| std::fs::read_to_string(path);
    resolve_key(source, &|name| context.env(name), &read, &run).map_err(|error| format!("webhook secret: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once() {
        let message = serde_json::json!({"summary": "a {kind} b", "text": "t", "kind": "hold", "ladder": "main"});
        for (word, full) in [
            ("{summary}", "a {kind} b"),
            ("x{kind}y{ladder}{", "xholdymain{"),
            ("{{text}} {other} {", "{t} {other} {"),
            ("plain", "plain"),
        ] {
            assert_eq!(filled(word, &message), full);
        }
    }
}
