//! Sending a job down its ladder, for requests and probes.

use llmr::clock::Rng;
use llmr::config::Config;
use llmr::route::{FallbackStore, Job, Lane, Observer, Report, Router, Stop};
use llmr::store::SqliteStore;
use llmr::transport::{Transport, TransportOptions};

use crate::context::Context;
use crate::error::{CliError, Code};

/// Sends the job and shows it to the observer as it happens; Ctrl-C ends it.
pub fn walk(
    job: &Job,
    config: &Config,
    store: &FallbackStore<SqliteStore>,
    context: &Context,
    rng: &mut Rng,
    observer: &mut dyn Observer,
) -> Result<Report, CliError> {
    let transport = Transport::new(&transport_options(job.lanes.values(), config, context)?)
        .map_err(|error| CliError::new(Code::Config, error.to_string()))?;
    let classifier = context.classifier(Some(config));
    let router = Router {
        clock: context.clock,
        store,
        transport: &transport,
        classifier: &classifier,
        catalog: &config.catalog,
        settings: &config.policy,
        redactor: context.redactor(),
    };
    let report =
        context.block_on(async { llmr::route::run(&router, job, rng, stop_on_interrupt(), observer).await })??;
    Ok(report)
}

/// Becomes true at the first Ctrl-C.
fn stop_on_interrupt() -> Stop {
    let (sender, receiver) = tokio::sync::watch::channel(false);
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            // The request may be over already.
            let _ = sender.send(true);
        } else {
            std::future::pending::<()>().await;
        }
    });
    receiver
}

/// Further root certificates from the config and the environment, and the proxy. Without TLS none is read: a bundle of
/// a system's roots costs as much as the rest of a short request.
fn transport_options<'a>(
    mut lanes: impl Iterator<Item = &'a Lane>,
    config: &Config,
    context: &Context,
) -> Result<TransportOptions, CliError> {
    if !lanes.any(|lane| lane.base_url.starts_with("https:")) {
        return Ok(TransportOptions::default());
    }
    let files = config.providers.values().filter_map(|settings| settings.ca_file.clone());
    let usual = context.env("SSL_CERT_FILE").filter(|path| !path.is_empty()).map(Into::into);
    let read = |path: std::path::PathBuf| {
        std::fs::read(&path).map_err(|error| {
            CliError::new(Code::Config, format!("cannot read the certificates in {}: {error}", path.display()))
        })
    };
    let proxy = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].iter().find_map(|name| context.env(name));
    Ok(TransportOptions {
        ca_pems: files.chain(usual).map(read).collect::<Result<_, _>>()?,
        proxy: proxy.filter(|proxy| !proxy.is_empty()),
    })
}
