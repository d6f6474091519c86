//! Ids of traces and spans, made from what they are of.
//!
//! An attempt's place in its list would be no id: the oldest attempts of a request are pruned, and the others move up. Its
//! deployment and the moment when it was sent stay; attempts that have both in common are counted.

use std::collections::BTreeMap;

use crate::domain::{AttemptRecord, Deployment, RequestId};

/// How long the id of a trace is, in bytes.
const TRACE: usize = 16;

/// How long the id of a span is, in bytes.
const SPAN: usize = 8;

/// The trace of a request.
pub(super) fn trace_id(request: &RequestId) -> String {
    hashed(TRACE, &["trace", request.as_str()])
}

/// The root of the trace.
pub(super) fn root_id(request: &RequestId) -> String {
    hashed(SPAN, &["request", request.as_str()])
}

/// Gives the attempts of one request their ids.
pub(super) struct SpanIds<'a> {
    request: &'a RequestId,
    seen: BTreeMap<(&'a Deployment, i64), u32>,
}

impl<'a> SpanIds<'a> {
    pub(super) fn new(request: &'a RequestId) -> Self {
        Self { request, seen: BTreeMap::new() }
    }

    /// The id of the next attempt; they are asked for in order.
    pub(super) fn of(&mut self, attempt: &'a AttemptRecord) -> String {
        let (deployment, sent) = (&attempt.deployment, attempt.started_at.as_millisecond());
        let before = self.seen.entry((deployment, sent)).or_default();
        let parts = [deployment.to_string(), sent.to_string(), before.to_string()];
        *before += 1;
        let [deployment, sent, before] = &parts;
        hashed(SPAN, &["attempt", self.request.as_str(), deployment, sent, before])
    }
}

/// So many bytes that tell the parts from others, in hexadecimal, never all zero.
fn hashed(length: usize, parts: &[&str]) -> String {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    let digest = context.finish();
    nonzero(digest.as_ref().iter().take(length).copied().collect())
}

/// The bytes in hexadecimal. Zeroes alone are no id: the last of them becomes a one.
fn nonzero(mut bytes: Vec<u8>) -> String {
    if bytes.iter().all(|byte| *byte == 0) {
        bytes.pop();
        bytes.push(1);
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_length_and_are_never_zero() {
        assert_eq!((trace_id(&"r".into()).len(), root_id(&"r".into()).len()), (32, 16));
        assert_eq!(nonzero(vec![0; SPAN]), "0000000000000001");
        assert_eq!(nonzero(vec![0x0a, 0, 0xff, 0]), "0a00ff00");
    }

    #[test]
    fn ids_are_of_what_they_are_made_from() {
        let (a, b) = (RequestId::from("a"), RequestId::from("b"));
        assert_eq!(trace_id(&a), trace_id(&a.clone()));
        assert_ne!(trace_id(&a), trace_id(&b));
        assert_ne!(root_id(&a), root_id(&b));
        assert!(!trace_id(&a).starts_with(&root_id(&a)));
        assert_ne!(hashed(SPAN, &["ab", "c"]), hashed(SPAN, &["a", "bc"]));
    }
}
