//! Posting a message to a URL, signed.
//!
//! The form is that of Standard Webhooks: an id that stays the same at each try, the time of the try, and an HMAC-SHA256
//! over `ID.TIME.BODY`, in base64 behind `v1,`. Who listens recomputes it with the shared secret, refuses what is older
//! than some minutes, and takes an id that it has seen for what it knows. A secret that begins with `whsec_` is base64,
//! as that standard writes it; any other is taken as it stands.
//!
//! A redirect is not followed, for the message would go where nobody said it should; it counts as a failure. So does
//! everything but a status of success. The URL is never told: with many services it is the secret.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

use crate::domain::{Secret, Timeouts, excerpt};
use crate::transport::{Carrier, Fault, Limit};
use crate::wire::{HeaderText, HttpRequest};

/// What a secret begins with that is base64.
const PREFIX: &str = "whsec_";

/// How much is told of what came back, in characters.
const SHOWN: usize = 160;

/// How much of it is read, in bytes.
const MOST: usize = 4096;

/// The signed request.
pub fn webhook_request(url: &str, secret: &Secret, id: &str, at: Timestamp, body: &str) -> HttpRequest {
    let time = at.as_second().to_string();
    let plain = |text: &str| HeaderText::Plain(text.to_owned());
    HttpRequest {
        method: "POST",
        url: url.to_owned(),
        headers: vec![
            ("content-type".to_owned(), plain("application/json")),
            ("user-agent".to_owned(), plain(concat!("llmr/", env!("CARGO_PKG_VERSION")))),
            ("webhook-id".to_owned(), plain(id)),
            ("webhook-timestamp".to_owned(), plain(&time)),
            ("webhook-signature".to_owned(), plain(&signature(secret, id, &time, body))),
        ],
        body: body.as_bytes().to_vec(),
    }
}

/// `v1,` and the HMAC in base64.
fn signature(secret: &Secret, id: &str, time: &str, body: &str) -> String {
    let coded = secret.expose().strip_prefix(PREFIX).and_then(|coded| STANDARD.decode(coded).ok());
    let key = coded.unwrap_or_else(|| secret.expose().as_bytes().to_vec());
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    let tag = ring::hmac::sign(&key, format!("{id}.{time}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

/// Posts it, within this time in all.
///
/// # Errors
/// Why it was not taken, in one line without the URL.
pub async fn post(by: &dyn Carrier, request: &HttpRequest, timeout: Duration) -> Result<(), String> {
    let timeouts =
        Timeouts { connect: timeout, first: timeout, idle: timeout, total: timeout, per_1k_tokens: Duration::ZERO };
    let reply = by.carry(request, &timeouts).await.map_err(|fault| told(&fault, timeout))?;
    match reply.status {
        200..=299 => Ok(()),
        status @ 300..=399 => Err(format!("status {status}: redirects are not followed")),
        status => {
            // Who refuses and then says nothing has refused all the same.
            let said = reply.body.whole(MOST, Limit::total(timeout.min(Duration::from_secs(1)))).await;
            let said = said.map(|bytes| excerpt(&String::from_utf8_lossy(&bytes), SHOWN)).unwrap_or_default();
            Err(if said.is_empty() { format!("status {status}") } else { format!("status {status}: {said}") })
        }
    }
}

fn told(fault: &Fault, timeout: Duration) -> String {
    use crate::domain::TransportFault::{ConnectTimeout, FirstTimeout, IdleTimeout, TotalTimeout};
    match fault.kind {
        ConnectTimeout | FirstTimeout | IdleTimeout | TotalTimeout => format!("no answer within {timeout:?}"),
        _ => excerpt(&fault.detail, SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header<'a>(request: &'a HttpRequest, name: &str) -> &'a str {
        request.headers.iter().find(|(known, _)| known == name).expect(name).1.expose()
    }

    #[test]
    fn it_signs_as_the_standard_does() {
        // The example of the standard's own libraries.
        let secret = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let at = Timestamp::from_second(1_614_265_330).expect("a time");
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let request = webhook_request("https://hooks.example/x", &secret, id, at, "{\"test\": 2432232314}");
        assert_eq!(header(&request, "webhook-id"), id);
        assert_eq!(header(&request, "webhook-timestamp"), "1614265330");
        assert_eq!(header(&request, "webhook-signature"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let plain = webhook_request("https://hooks.example/x", &Secret::new("hush"), id, at, "{}");
        assert_ne!(header(&plain, "webhook-signature"), header(&request, "webhook-signature"));
    }
}
