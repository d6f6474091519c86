//! Sending a job down its ladder, for requests and probes.

use std::sync::OnceLock;
use std::time::Duration;

use llmr::clock::Rng;
use llmr::config::Config;
use llmr::host::transport_options;
use llmr::route::{FallbackStore, Job, Observer, Report, Router, Stop};
use llmr::store::SqliteStore;
use llmr::transport::Transport;

use crate::context::Context;
use crate::error::{CliError, Code};

/// What sends the job; made before anything is written, for it may not be there to be had.
///
/// # Errors
/// When a certificate or the proxy is unusable.
pub fn transport(job: &Job, config: &Config, context: &Context) -> Result<Transport, CliError> {
    made(job.lanes.values().map(|lane| lane.base_url.as_str()), config, context)
}

/// What sends to this URL.
///
/// # Errors
/// When a certificate or the proxy is unusable.
pub fn transport_to(url: &str, config: &Config, context: &Context) -> Result<Transport, CliError> {
    made(std::iter::once(url), config, context)
}

fn made<'a>(urls: impl Iterator<Item = &'a str>, config: &Config, context: &Context) -> Result<Transport, CliError> {
    Transport::new(&transport_options(urls, config, context)?)
        .map_err(|error| CliError::new(Code::Config, error.to_string()))
}

/// Sends the job and shows it to the observer as it happens; Ctrl-C ends it.
pub fn walk(
    job: &Job,
    by: &Transport,
    config: &Config,
    store: &FallbackStore<SqliteStore>,
    context: &Context,
    rng: &mut Rng,
    observer: &mut dyn Observer,
) -> Result<Report, CliError> {
    context.block_on(stroll(job, by, config, store, context, rng, observer))?
}

/// The same for who is on a runtime already.
pub async fn stroll(
    job: &Job,
    by: &Transport,
    config: &Config,
    store: &FallbackStore<SqliteStore>,
    context: &Context,
    rng: &mut Rng,
    observer: &mut dyn Observer,
) -> Result<Report, CliError> {
    let classifier = context.classifier(Some(config));
    let router = Router {
        clock: context.clock,
        store,
        transport: by,
        classifier: &classifier,
        catalog: &config.catalog,
        settings: &config.policy,
        redactor: context.redactor(),
    };
    Ok(llmr::route::run(&router, job, rng, stop_on_interrupt(), observer).await?)
}

/// Listens for Ctrl-C from now on.
pub fn listen_for_interrupt() {
    stop_on_interrupt();
}

/// How long a request may take to write down that it was interrupted: longer than it waits for a locked state file.
const GRACE: Duration = Duration::from_secs(6);

/// What the first Ctrl-C of this process told, once somebody listens.
static HEARD: OnceLock<Stop> = OnceLock::new();

/// Becomes true at the first Ctrl-C.
///
/// It is heard in a thread of its own. Who is stuck in a write to a reader that does not read hears nothing, so a second
/// Ctrl-C, or the end of the time of grace, ends the process whatever it does.
fn stop_on_interrupt() -> Stop {
    HEARD.get_or_init(listen).clone()
}

fn listen() -> Stop {
    let (sender, receiver) = tokio::sync::watch::channel(false);
    let listen = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            if tokio::signal::ctrl_c().await.is_err() {
                return;
            }
            // The request may be over already.
            let _ = sender.send(true);
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                () = llmr::route::pause(GRACE) => {}
            }
            end();
        });
    };
    // Without the thread Ctrl-C ends the process in the system's own way.
    let _ = std::thread::Builder::new().name("interrupt".to_owned()).spawn(listen);
    receiver
}

/// Whether Ctrl-C was heard. A process that sent no request does not listen; it is ended in the system's own way.
pub fn is_interrupted() -> bool {
    HEARD.get().is_some_and(|stop| *stop.borrow())
}

/// Ends when Ctrl-C is heard.
pub async fn interrupted() {
    let heard = match HEARD.get() {
        Some(stop) => stop.clone().wait_for(|stop| *stop).await.is_ok(),
        None => false,
    };
    if !heard {
        std::future::pending::<()>().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "a write that nobody takes can be ended in no other way")]
fn end() {
    std::process::exit(Code::Interrupted as i32);
}
