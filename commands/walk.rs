//! Sending a job down its ladder, for requests and probes.

use std::io;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Sends the job and shows it to the observer as it happens; Ctrl-C and SIGTERM end it.
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

/// Listens for Ctrl-C and SIGTERM from now on.
pub fn listen_for_interrupt() {
    stop_on_interrupt();
}

/// How long a request may take to write down that it was interrupted: longer than it waits for a locked state file.
const GRACE: Duration = Duration::from_secs(6);

/// What the first signal of this process told, once somebody listens.
static HEARD: OnceLock<Stop> = OnceLock::new();

/// Whether that was SIGTERM.
static IS_TERMINATED: AtomicBool = AtomicBool::new(false);

/// Becomes true at the first Ctrl-C or SIGTERM: who runs us from a script, with a time limit or as a service sends that
/// one, and wants no program of ours to stay behind either.
///
/// It is heard in a thread of its own. Who is stuck in a write to a reader that does not read hears nothing, so a second
/// signal, or the end of the time of grace, ends the process whatever it does.
fn stop_on_interrupt() -> Stop {
    HEARD.get_or_init(listen).clone()
}

fn listen() -> Stop {
    let (sender, receiver) = tokio::sync::watch::channel(false);
    let listen = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let Ok(is_terminated) = signal().await else { return };
            IS_TERMINATED.store(is_terminated, Ordering::Release);
            // The request may be over already.
            let _ = sender.send(true);
            tokio::select! {
                _ = signal() => {}
                () = llmr::route::pause(GRACE) => {}
            }
            end();
        });
    };
    // Without the thread a signal ends the process in the system's own way.
    let _ = std::thread::Builder::new().name("interrupt".to_owned()).spawn(listen);
    receiver
}

/// Ends at the next signal; says whether it was SIGTERM.
#[cfg(unix)]
async fn signal() -> io::Result<bool> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        heard = tokio::signal::ctrl_c() => heard.map(|()| false),
        _ = terminate.recv() => Ok(true),
    }
}

/// Ends at the next Ctrl-C.
#[cfg(not(unix))]
async fn signal() -> io::Result<bool> {
    tokio::signal::ctrl_c().await.map(|()| false)
}

/// Whether a signal was heard. A process that sent no request does not listen; it is ended in the system's own way.
pub fn is_interrupted() -> bool {
    HEARD.get().is_some_and(|stop| *stop.borrow())
}

/// The exit code of the process, which ends with this one: after SIGTERM an interruption is told as a shell tells it.
pub fn told_by_signal(code: ExitCode) -> ExitCode {
    if code == Code::Interrupted.into() && IS_TERMINATED.load(Ordering::Acquire) {
        Code::Terminated.into()
    } else {
        code
    }
}

/// Ends when a signal is heard.
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
    let code = if IS_TERMINATED.load(Ordering::Acquire) { Code::Terminated } else { Code::Interrupted };
    std::process::exit(code as i32);
}
