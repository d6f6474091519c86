//! Every fault on real sockets of this machine. The servers are plain threads; nothing sleeps, the few timers that must
//! pass are some milliseconds long.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use rustls::pki_types::PrivateKeyDer;

use super::*;
use crate::domain::{Secret, TransportFault};

const KEY: &str = "llmr-test-0123456789abcdef";
const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(20);

fn long() -> Timeouts {
    Timeouts { connect: LONG, first: LONG, idle: LONG, total: LONG, ..Timeouts::default() }
}

fn request(url: &str) -> HttpRequest {
    let key = HeaderText::Secret(Secret::new(&format!("Bearer {KEY}")));
    let headers = vec![
        ("content-type".to_owned(), HeaderText::Plain("application/json".to_owned())),
        ("authorization".to_owned(), key),
    ];
    HttpRequest { method: "POST", url: format!("{url}?query=hidden"), headers, body: b"{}".to_vec() }
}

/// Reads one request to the end of its body, which is `{}`.
fn read_request(stream: &mut impl Read) -> String {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n{}") && stream.read(&mut byte).is_ok_and(|count| count > 0) {
        seen.extend_from_slice(&byte);
    }
    String::from_utf8_lossy(&seen).into_owned()
}

/// Serves one connection with `script`.
fn serve(script: impl FnOnce(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        if let Ok((stream, _)) = listener.accept() {
            script(stream);
        }
    });
    address
}

/// Serves one request with these bytes and closes.
fn answer(bytes: impl Into<Vec<u8>>) -> SocketAddr {
    let bytes = bytes.into();
    serve(move |mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(&bytes);
    })
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

fn try_send(url: &str, timeouts: &Timeouts, options: &TransportOptions) -> Result<(u16, Vec<u8>), Fault> {
    let transport = Transport::new(options).expect("a transport");
    block_on(async {
        let reply = transport.send(&request(url), timeouts).await?;
        Ok((reply.status, reply.body.whole(1000, Limit::idle(timeouts.idle)).await?))
    })
}

fn fault(url: &str, timeouts: &Timeouts) -> Fault {
    let fault = try_send(url, timeouts, &TransportOptions::default()).expect_err("a fault");
    for hidden in ["hidden", url, "0123456789ab"] {
        assert!(!fault.detail.contains(hidden), "{hidden} in {fault:?}");
    }
    fault
}

fn kind(address: SocketAddr) -> (TransportFault, bool) {
    let fault = fault(&format!("http://{address}/v1"), &long());
    (fault.kind, fault.sent)
}

#[test]
fn a_reply_comes_whole() {
    let (sender, receiver) = mpsc::channel();
    let address = serve(move |mut stream| {
        sender.send(read_request(&mut stream)).expect("a receiver");
        let _ = stream
            .write_all(b"HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nX-Odd: \xff\r\nContent-Length: 4\r\n\r\nbusy");
    });
    let transport = Transport::new(&TransportOptions::default()).expect("a transport");
    let (status, headers, body) = block_on(async {
        let reply = transport.send(&request(&format!("http://{address}/v1")), &long()).await.expect("a reply");
        (reply.status, reply.headers, reply.body.whole(4, Limit::idle(LONG)).await.expect("a body"))
    });
    assert_eq!((status, body.as_slice()), (429, b"busy".as_slice()));
    assert!(headers.contains(&("retry-after".to_owned(), "7".to_owned())), "{headers:?}");
    assert!(headers.contains(&("x-odd".to_owned(), "\u{fffd}".to_owned())), "{headers:?}");
    let seen = receiver.recv().expect("a request").to_ascii_lowercase();
    assert!(seen.starts_with("post /v1?query=hidden http/1.1\r\n"), "{seen}");
    for line in ["accept-encoding: identity", "content-type: application/json", &format!("authorization: bearer {KEY}")]
    {
        assert!(seen.contains(&format!("\r\n{line}\r\n")), "{line} in {seen}");
    }
}

#[test]
fn redirects_are_replies() {
    let address = answer("HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    let reply = try_send(&format!("http://{address}/"), &long(), &TransportOptions::default());
    assert_eq!(reply, Ok((307, Vec::new())));
}

#[test]
fn nobody_listens() {
    let address = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    assert_eq!(kind(address), (TransportFault::Refused, false));
}

#[test]
fn no_such_name() {
    // Longer than a label of a name may be, so it fails on this machine without a question to anybody.
    let fault = fault(&format!("http://{}.invalid/v1", "a".repeat(64)), &long());
    assert_eq!((fault.kind, fault.sent), (TransportFault::Dns, false), "{fault:?}");
}

#[test]
fn hung_up_before_the_reply() {
    assert_eq!(kind(answer("")), (TransportFault::Reset, true));
    // The request is left unread, so the connection is reset instead of closed.
    let unread = serve(|mut stream| {
        let _ = stream.read(&mut [0]);
    });
    assert_eq!(kind(unread), (TransportFault::Reset, true));
    assert_eq!(kind(answer("HTTP/1.1 200 OK\r\nContent-")), (TransportFault::Reset, true));
}

#[test]
fn cut_off_after_the_beginning() {
    let cut = TransportFault::Cut;
    assert_eq!(kind(answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")), (cut, true));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(kind(answer(format!("{chunked}4\r\nhalf\r\n"))), (cut, true));
    assert_eq!(kind(answer(format!("{chunked}no number\r\n"))), (cut, true));
    let whole = answer(format!("{chunked}4\r\nfull\r\n0\r\n\r\n"));
    assert_eq!(
        try_send(&format!("http://{whole}/"), &long(), &TransportOptions::default()),
        Ok((200, b"full".to_vec()))
    );
}

#[test]
fn what_is_no_http_is_a_fault() {
    let fault = fault(&format!("http://{}/", answer("SSH-2.0-x\r\n")), &long());
    assert_eq!((fault.kind, fault.sent), (TransportFault::Other, true), "{fault:?}");
}

#[test]
fn too_large() {
    let large = TransportFault::TooLarge;
    assert_eq!(kind(answer("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")), (large, true));
    assert_eq!(kind(answer(format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(1001)))), (large, true));
    let headers: String = (0..=MAX_HEADERS).map(|number| format!("x-{number}: y\r\n")).collect();
    assert_eq!(kind(answer(format!("HTTP/1.1 200 OK\r\n{headers}\r\n"))), (large, true));
}

#[test]
fn a_stream_may_be_as_long_as_it_likes() {
    let address = serve(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let block = vec![b'x'; 1024 * 1024];
        (0..=PLAIN_BODY / block.len()).for_each(|_| drop(stream.write_all(&block)));
    });
    let transport = Transport::new(&TransportOptions::default()).expect("a transport");
    let received = block_on(async {
        let mut reply = transport.send(&request(&format!("http://{address}/")), &long()).await.expect("a reply");
        let mut received = 0;
        while let Some(bytes) = reply.body.chunk(Limit::idle(LONG)).await.expect("more") {
            received += bytes.len();
        }
        received
    });
    assert_eq!(received, PLAIN_BODY + 1024 * 1024);
}

/// A server that says `bytes` and then nothing until the test is over.
fn silent_after(bytes: &'static str) -> (String, mpsc::Sender<()>) {
    let (sender, receiver) = mpsc::channel();
    let address = serve(move |mut stream| {
        if !bytes.is_empty() {
            read_request(&mut stream);
            let _ = stream.write_all(bytes.as_bytes());
        }
        let _ = receiver.recv();
    });
    (address.to_string(), sender)
}

#[test]
fn timers_are_told_apart() {
    let (address, _alive) = silent_after("");
    let connect = fault(&format!("https://{address}/"), &Timeouts { connect: SHORT, ..long() });
    assert_eq!((connect.kind, connect.sent), (TransportFault::ConnectTimeout, false), "{connect:?}");
    for (timeouts, wanted) in [
        (Timeouts { first: SHORT, ..long() }, TransportFault::FirstTimeout),
        (Timeouts { total: SHORT, ..long() }, TransportFault::TotalTimeout),
    ] {
        let (address, _alive) = silent_after("");
        let fault = fault(&format!("http://{address}/"), &timeouts);
        assert_eq!((fault.kind, fault.sent), (wanted, true));
    }
    let (address, _alive) = silent_after("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    let stalled = fault(&format!("http://{address}/"), &Timeouts { idle: SHORT, ..long() });
    assert_eq!(stalled.kind, TransportFault::IdleTimeout);
}

#[test]
fn the_body_of_an_error_is_kept_as_far_as_it_came() {
    let address = answer("HTTP/1.1 503 Busy\r\nContent-Length: 10\r\n\r\nhalf");
    let transport = Transport::new(&TransportOptions::default()).expect("a transport");
    let (body, fault) = block_on(async {
        let reply = transport.send(&request(&format!("http://{address}/")), &long()).await.expect("a reply");
        reply.body.evidence(Limit::total(LONG)).await
    });
    assert_eq!((body.as_slice(), fault.map(|fault| fault.kind)), (b"half".as_slice(), Some(TransportFault::Cut)));
}

#[test]
fn a_dropped_body_closes_the_connection() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let address = serve(move |mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        // Reads until the other side hangs up.
        let _ = sender.send(stream.read(&mut [0]).unwrap_or(0));
    });
    let transport = Transport::new(&TransportOptions::default()).expect("a transport");
    let read = block_on(async {
        let mut reply = transport.send(&request(&format!("http://{address}/")), &long()).await.expect("a reply");
        assert_eq!(reply.body.chunk(Limit::first(LONG)).await, Ok(Some(b"half".to_vec())));
        drop(reply);
        tokio::time::timeout(LONG, receiver).await.expect("in time").expect("the server's word")
    });
    assert_eq!(read, 0);
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/fixtures/tls/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a fixture")
}

const TLS_ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A TLS server with the certificate of the fixtures.
fn tls_server(answer: &'static str) -> String {
    let chain = CertificateDer::pem_slice_iter(&fixture("server.pem")).collect::<Result<_, _>>().expect("a chain");
    let key = PrivateKeyDer::from_pem_slice(&fixture("server.key")).expect("a key");
    let config = rustls::ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a configuration");
    let address = serve(move |stream| {
        let connection = rustls::ServerConnection::new(Arc::new(config)).expect("a connection");
        let mut stream = rustls::StreamOwned::new(connection, stream);
        if read_request(&mut stream).ends_with("{}") {
            let _ = stream.write_all(answer.as_bytes());
            let _ = stream.flush();
        }
    });
    format!("https://localhost:{}/v1", address.port())
}

#[test]
fn a_certificate_is_believed_only_if_its_root_is() {
    let fault = fault(&tls_server(TLS_ANSWER), &long());
    assert_eq!((fault.kind, fault.sent), (TransportFault::Tls, false), "{fault:?}");
    let options = TransportOptions { ca_pems: vec![fixture("ca.pem")], proxy: None };
    assert_eq!(try_send(&tls_server(TLS_ANSWER), &long(), &options), Ok((200, b"ok".to_vec())));
    // TLS has its own word for an end; a server that leaves without it has cut the line.
    for (answer, wanted) in [("", TransportFault::Reset), ("HTTP/1.1 200 OK\r\n\r\nhalf", TransportFault::Cut)] {
        let fault = try_send(&tls_server(answer), &long(), &options).expect_err("a fault");
        assert_eq!((fault.kind, fault.sent), (wanted, true), "{fault:?}");
    }
}

#[test]
fn a_server_that_speaks_no_tls_is_a_tls_fault() {
    for bytes in ["HTTP/1.1 400 Bad\r\n\r\n", ""] {
        let address = serve(move |mut stream| {
            let _ = stream.read(&mut [0; 2000]);
            let _ = stream.write_all(bytes.as_bytes());
        });
        let fault = fault(&format!("https://{address}/"), &long());
        assert_eq!((fault.kind, fault.sent), (TransportFault::Tls, false), "{fault:?}");
    }
}

#[test]
fn a_proxy_gets_all_but_what_is_local() {
    let answer = |text: &'static str| answer(format!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{text}"));
    let options = TransportOptions { proxy: Some(format!("http://{}", answer("proxy"))), ..Default::default() };
    let local = format!("http://{}/", answer("local"));
    assert_eq!(try_send(&local, &long(), &options), Ok((200, b"local".to_vec())));
    assert_eq!(try_send("http://llm.invalid/", &long(), &options), Ok((200, b"proxy".to_vec())));
}

#[test]
fn a_bad_root_is_our_own_error() {
    for pem in ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let options = TransportOptions { ca_pems: vec![fixture("ca.pem"), pem.into()], proxy: None };
        assert!(matches!(Transport::new(&options), Err(TransportError::Certificate { at: 1, .. })), "{pem:?}");
    }
    let options = TransportOptions { proxy: Some("http://user:secret@:bad".to_owned()), ..Default::default() };
    let error = Transport::new(&options).expect_err("refused");
    let options = TransportOptions { proxy: Some("http://user:secret@localhost".to_owned()), ..options };
    let shown = format!("{error} {error:?} {options:?} {:?}", Transport::new(&options).expect("a transport"));
    assert!(!shown.contains("secret"), "{shown}");
}
