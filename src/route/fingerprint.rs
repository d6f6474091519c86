//! Whether a key is still the one that failed, without keeping the key.

use crate::domain::{ChatRequest, Secret};

/// A salted fingerprint of the key: sixty-four bits in hexadecimal, of no use without the store that the salt is in.
pub fn fingerprint(salt: &[u8], key: &Secret) -> String {
    digest(salt, key.expose().as_bytes())
}

/// A salted digest of what a request asks, without keeping it.
pub fn asked(salt: &[u8], request: &ChatRequest) -> String {
    // The form that `Debug` gives changes with the program; an update then takes an old id for another request.
    digest(salt, format!("{request:?}").as_bytes())
}

/// Sixty-four bits that tell the bytes from others, in hexadecimal.
pub(super) fn digest(salt: &[u8], bytes: &[u8]) -> String {
    let salted = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, salt);
    let tag = ring::hmac::sign(&salted, bytes);
    tag.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_keys_and_salts_apart_and_shows_neither() {
        let (a, b) = (Secret::new("llmr-test-key-a"), Secret::new("llmr-test-key-b"));
        let print = fingerprint(b"salt", &a);
        assert_eq!(print.len(), 16);
        assert_eq!(print, fingerprint(b"salt", &a));
        assert_ne!(print, fingerprint(b"salt", &b));
        assert_ne!(print, fingerprint(b"pepper", &a));
        assert!(!print.contains("llmr"));
    }
}
