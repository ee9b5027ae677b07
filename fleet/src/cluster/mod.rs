//! Several machines: Ballista's scheduler and executors, with nsq's tables and operators in their plans.
//!
//! A client asks the executors in two steps. A census opens each report once: the executor keeps what the report
//! contributes, and says what it found or why it failed. The question then runs over the contributions, on
//! whichever executors have them.

pub(crate) mod client;
mod codec;
#[cfg(test)]
mod escapes;
pub(crate) mod executor;
mod guard;
mod listen;
mod placement;
pub(crate) mod scheduler;
mod tell;
mod waves;

use ballista_core::extension::SessionConfigExt;
use datafusion::prelude::SessionConfig;
use nsq::{Error, Result};

/// The longest message: the list of 10,000 reports has some megabytes.
const MESSAGE_BYTES: usize = 256 * 1024 * 1024;

/// How every part of the cluster is set up.
fn config() -> SessionConfig {
    let config = SessionConfig::new_with_ballista();
    crate::engine::as_sqlite(config).with_ballista_grpc_client_max_message_size(MESSAGE_BYTES)
}

/// What runs a part of the cluster. Plans are read recursively, level by level.
fn runtime() -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_stack_size(64 << 20).build().map_err(Error::Output)
}

/// Splits HOST:PORT.
fn host_port(text: &str, option: &str) -> Result<(String, u16)> {
    let parts = text.rsplit_once(':');
    let parsed = parts.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    match parsed {
        Some((host, port)) if !host.is_empty() => Ok((host.to_owned(), port)),
        _ => Err(Error::usage(
            format!("'{text}' is no HOST:PORT for {option}"),
            "such as 127.0.0.1:50050",
        )),
    }
}

/// What Ballista reports, as an error.
fn failed(what: &str, error: impl std::fmt::Display) -> Error {
    Error::Report { path: what.into(), reason: error.to_string(), help: String::new() }
}
