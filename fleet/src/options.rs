//! Options that `nsq run` has too: parameters and scope.

use crate::asked::attribute;
use nsq::{Error, Result, Scope};

/// The part of each report that is analysed.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Scope")]
pub(crate) struct ScopeArgs {
    /// Only events that overlap this time range since the start of the capture: 1.5s/2s, 12ms/, /80%.
    #[arg(long, value_name = "A/B", allow_hyphen_values = true)]
    time: Option<String>,
    /// Only GPU work on these CUDA device ordinals.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    device: Vec<i64>,
    /// Only GPU work on these CUDA streams.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    stream: Vec<i64>,
    /// Only events of these process IDs.
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    process: Vec<i64>,
    /// Only work launched or done inside NVTX ranges of this name; may be repeated.
    #[arg(long, value_name = "NAME[@DOMAIN][/INDEX]")]
    nvtx: Vec<String>,
    /// Only work in these iterations, numbered from 0 per thread: `--iter step 3`, `--iter step 2..5`.
    #[arg(long, value_name = "TAG [N|A..B]")]
    iter: Vec<String>,
    /// Leave out work launched or done inside NVTX ranges of this name, such as a warm-up.
    #[arg(long, value_name = "NAME[@DOMAIN][/INDEX]")]
    exclude: Vec<String>,
    /// Only events that overlap NVTX ranges of this name in time, on any thread or device.
    #[arg(long, value_name = "NAME[@DOMAIN][/INDEX]")]
    window: Vec<String>,
    /// How launches are attributed to NVTX ranges [default: thread; process for PyTorch traces]
    #[arg(long, value_parser = ["thread", "process", "capture"])]
    attribute: Option<String>,
    /// Fold numbers in range names, so that the ranges of all iterations share one path.
    #[arg(long, value_parser = ["numbers", "none"], default_value = "numbers")]
    fold: String,
}

impl ScopeArgs {
    pub(crate) fn scope(&self) -> Scope {
        Scope {
            time: self.time.clone(),
            devices: self.device.clone(),
            streams: self.stream.clone(),
            processes: self.process.clone(),
            nvtx: self.nvtx.clone(),
            iterations: self.iter.clone(),
            exclude: self.exclude.clone(),
            windows: self.window.clone(),
            attribute: self.attribute.as_deref().and_then(attribute),
            keep_names: self.fold == "none",
        }
    }
}

/// Splits `KEY=VALUE`.
pub(crate) fn params(given: &[String]) -> Result<Vec<(String, String)>> {
    let split = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.to_owned())),
        None => Err(Error::usage(
            format!("'{text}' is no parameter"),
            "write --param KEY=VALUE; `nsq show QUERY` lists the parameters",
        )),
    };
    given.iter().map(split).collect()
}
