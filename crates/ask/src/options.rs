//! The options of the command line that say which part of a report is asked. All programs have the same.

use nsq_engine::normalize::{Attribute, Scope};
use nsq_engine::scope::ScopeText;
use nsq_report::schema::Schema;
use nsq_value::error::Result;

/// The scope: the part of a report that is analysed.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Scope")]
pub struct ScopeArgs {
    /// Only events that overlap this time range since the start of the capture: 1.5s/2s, 12ms/, /80%.
    ///
    /// In sums, an event that crosses a boundary counts in full.
    #[arg(long, value_name = "A/B", allow_hyphen_values = true)]
    pub time: Option<String>,
    /// Only steps after the warm-up, from the end of the GPU work before them to the end of the last.
    ///
    /// Steps are marked by NVTX ranges, or found by what is launched again and again: `--query steps` lists them.
    #[arg(long)]
    pub steady: bool,
    /// Only work of these GPUs, numbered as in every output.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub gpu: Vec<i64>,
    /// Only GPU work on these CUDA device ordinals, which each process may number in another way.
    #[arg(hide_short_help = true, long, value_name = "ID", value_delimiter = ',')]
    pub device: Vec<i64>,
    /// Only GPU work on these CUDA streams.
    #[arg(hide_short_help = true, long, value_name = "ID", value_delimiter = ',')]
    pub stream: Vec<i64>,
    /// Only events of these process IDs.
    #[arg(hide_short_help = true, long, value_name = "PID", value_delimiter = ',')]
    pub process: Vec<i64>,
    /// Only ranges and calls of these threads, and the GPU work that they launched; may be repeated.
    ///
    /// A glob for the name, or a thread ID: `--query scope_threads` lists both.
    #[arg(hide_short_help = true, long, value_name = "NAME|TID")]
    pub thread: Vec<String>,
    /// Only work launched or done inside NVTX ranges of this name; may be repeated.
    ///
    /// NAME is a glob that matches the range's message, with or without its domain (domain:message).
    /// INDEX selects one instance, counted from 0 in time order; A..B selects several.
    #[arg(long, value_name = "NAME[@DOMAIN][/INDEX]")]
    pub nvtx: Vec<String>,
    /// Only work in these iterations, numbered from 0 per thread: `--iter step 3`, `--iter step 2..5`.
    ///
    /// Without NVTX ranges that mark them, `step` means the repeated steps, which `--query steps` lists.
    /// Together with --nvtx, work must be inside both.
    #[arg(long, value_name = "TAG [N|A..B]")]
    pub iter: Vec<String>,
    /// Leave out work launched or done inside NVTX ranges of this name, such as a warm-up.
    #[arg(hide_short_help = true, long, value_name = "NAME[@DOMAIN][/INDEX]")]
    pub exclude: Vec<String>,
    /// Only events that overlap NVTX ranges of this name in time, on any thread or device.
    #[arg(hide_short_help = true, long, value_name = "NAME[@DOMAIN][/INDEX]")]
    pub window: Vec<String>,
    /// How launches are attributed to NVTX ranges [default: thread; process for PyTorch traces]
    ///
    /// `thread`, NVIDIA's rule: a range contains the launches of its own thread. `process`: a range
    /// contains all launches of its process while it is open; this includes the backward pass, which
    /// PyTorch's autograd launches from another thread. `capture`: like `thread`, but the nodes of a
    /// CUDA graph belong to the ranges in which they were captured.
    #[arg(hide_short_help = true, long, value_enum)]
    pub attribute: Option<AttributeArg>,
    /// Fold numbers in range names, so that the ranges of all iterations share one path.
    #[arg(hide_short_help = true, long, value_enum, default_value = "numbers")]
    pub fold: Fold,
}

/// How launches are attributed to NVTX ranges.
#[expect(missing_docs, reason = "a comment would be printed by --help")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum AttributeArg {
    Thread,
    Process,
    Capture,
}

/// What happens to numbers in range names.
#[expect(missing_docs, reason = "a comment would be printed by --help")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Fold {
    #[default]
    Numbers,
    None,
}

impl ScopeArgs {
    /// Whether no option restricts the scope.
    pub fn is_whole(&self) -> bool {
        let lists = [&self.thread, &self.nvtx, &self.iter, &self.exclude, &self.window];
        let ids = [&self.gpu, &self.device, &self.stream, &self.process];
        self.time.is_none()
            && !self.steady
            && lists.iter().all(|list| list.is_empty())
            && ids.iter().all(|ids| ids.is_empty())
    }

    /// The scope for a report. Percentages of `--time` need the length of its capture.
    pub fn resolve(&self, schema: &Schema) -> Result<Scope> {
        self.text().resolve(schema)
    }

    /// The scope as it was written.
    pub fn text(&self) -> ScopeText {
        ScopeText {
            time: self.time.clone(),
            steady: self.steady,
            gpus: self.gpu.clone(),
            devices: self.device.clone(),
            streams: self.stream.clone(),
            processes: self.process.clone(),
            threads: self.thread.clone(),
            nvtx: self.nvtx.clone(),
            iterations: self.iter.clone(),
            exclude: self.exclude.clone(),
            windows: self.window.clone(),
            attribute: self.attribute.map(|attribute| match attribute {
                AttributeArg::Thread => Attribute::Thread,
                AttributeArg::Process => Attribute::Process,
                AttributeArg::Capture => Attribute::Capture,
            }),
            keep_names: self.fold == Fold::None,
        }
    }
}
