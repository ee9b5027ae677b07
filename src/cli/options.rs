//! Options that several verbs share.

use crate::catalog::Catalog;
use crate::compile::parse_duration;
use crate::error::{Error, Result};
use crate::execute::Limits;
use crate::normalize::Scope;
use crate::report::ExportOptions;
use crate::schema::Schema;
use std::path::PathBuf;
use std::time::Duration;

/// Where queries come from.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Library")]
pub(super) struct LibraryArgs {
    /// Folder of further queries; may be repeated, and a later one wins.
    ///
    /// Folders in NSQ_PATH and the config folder's nsq/queries are always looked at.
    #[arg(long, value_name = "DIR")]
    pub(super) queries: Vec<PathBuf>,
}

impl LibraryArgs {
    /// The library with every folder that applies.
    pub(super) fn load(&self) -> Result<Catalog> {
        let mut folders = Catalog::default_folders();
        folders.extend(self.queries.iter().cloned());
        Catalog::load(&folders)
    }
}

/// How a report is opened.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Report")]
pub(super) struct OpenArgs {
    /// The nsys that exports a .nsys-rep; default: NSQ_NSYS, else the one on PATH.
    #[arg(long, value_name = "PATH")]
    pub(super) nsys: Option<PathBuf>,
}

impl OpenArgs {
    pub(super) fn export_options(&self) -> ExportOptions {
        ExportOptions { nsys: self.nsys.clone(), again: false }
    }
}

/// Which part of a report is looked at.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Scope")]
pub(super) struct ScopeArgs {
    /// Only what overlaps this time since the start of the capture: 1.5s/2s, 12ms/, /80%.
    ///
    /// Events that reach over an end count whole in sums.
    #[arg(long, value_name = "A/B", allow_hyphen_values = true)]
    pub(super) time: Option<String>,
    /// Only GPU work on these CUDA device ordinals.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(super) device: Vec<i64>,
    /// Only GPU work on these CUDA streams.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(super) stream: Vec<i64>,
    /// Only these process ids.
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pub(super) process: Vec<i64>,
}

impl ScopeArgs {
    /// The scope on a report; percentages need to know how long its capture was.
    pub(super) fn resolve(&self, schema: &Schema) -> Result<Scope> {
        let mut scope = Scope {
            devices: self.device.clone(),
            streams: self.stream.clone(),
            processes: self.process.clone(),
            ..Scope::default()
        };
        let Some(text) = &self.time else { return Ok(scope) };
        let (from, to) = text.split_once('/').ok_or_else(|| malformed(text))?;
        scope.start_ns = instant(text, from, schema)?;
        scope.end_ns = instant(text, to, schema)?;
        match (scope.start_ns, scope.end_ns) {
            (Some(from), Some(to)) if from >= to => Err(Error::usage(
                format!("--time {text} is empty: it begins at {from} ns and ends at {to} ns"),
                "give the earlier time first",
            )),
            _ => Ok(scope),
        }
    }
}

fn malformed(text: &str) -> Error {
    Error::usage(
        format!("`{text}` is no stretch of time"),
        "write --time A/B, such as 1.5s/2s, 300ns/12ms or 10%/50%; leave out A or B for an open end",
    )
}

fn instant(whole: &str, text: &str, schema: &Schema) -> Result<Option<i64>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let Some(percent) = text.strip_suffix('%') else {
        return parse_duration(text).map(Some).ok_or_else(|| malformed(whole));
    };
    let percent: f64 = percent.trim().parse().map_err(|_| malformed(whole))?;
    let length = schema.capture_ns.ok_or_else(|| {
        Error::usage(
            "the report does not say how long its capture was, so there is no percentage of it",
            "give times instead, such as --time 1s/2s",
        )
    })?;
    Ok(Some((percent / 100.0 * length as f64).round() as i64))
}

/// How long a statement may run.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArgs {
    /// Give up after this long, such as 30s; default: never.
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    pub(super) timeout: Option<Duration>,
}

impl LimitArgs {
    pub(super) fn limits(&self) -> Limits {
        Limits::with_timeout(self.timeout)
    }
}

fn timeout(text: &str) -> Result<Duration, String> {
    let has_unit = !text.ends_with(|c: char| c.is_ascii_digit());
    let ns = parse_duration(text).filter(|_| has_unit).and_then(|ns| u64::try_from(ns).ok());
    ns.map(Duration::from_nanos)
        .ok_or_else(|| "give a time with its unit, such as 30s or 500ms".to_owned())
}
