//! The options of `nsq classes`.

use crate::cli::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use crate::cli::output::OutputArgs;
use nsq_engine::scope::split_instances;
use std::path::PathBuf;

/// Sum GPU time by class of kernel, per iteration
///
/// Exposed and idle time are measured, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq classes report.sqlite --iter step
  nsq classes before.sqlite after.sqlite --iter 'step *' --classes vllm/llama
  nsq classes --kernel-sum kern.csv --nvtx-proj nvtx.csv --mem-time mem.csv --iter step
  nsq classes --config config.json
  nsq classes --config config.json --seed-compat

With --iter the sums cover only work launched in the tagged ranges. nsq counts iterations and GPUs \
in the data, and also shows every sum per iteration and GPU. CSV tables always cover the whole capture; \
notes explain how that affects the figures.

A config is JSON, with comments and trailing commas allowed. Paths are relative to the working \
directory:
  {\"inputs\": [
     {\"format\": \"csv\", \"title\": \"before\",
      \"nsys_csv_file_path\": {\"kernel_sum\": \"k.csv\", \"nvtx_proj_trace\": \"n.csv\",
                             \"mem_time_sum\": null},
      \"analysis_args\": {\"num_of_iters\": 5, \"num_of_gpus\": 1, \"nvtx_tag_of_iter\": \"step\"}},
     {\"format\": \"nsys-rep\", \"title\": \"after\",  // or sqlite
      \"nsys_report\": {\"path\": \"r.nsys-rep\", \"with_nvtx\": true, \"with_mem\": true},
      \"analysis_args\": {\"num_of_iters\": 5, \"nvtx_tag_of_iter\": \"step\"}}],
   \"kernel_to_class_map\": {\"gemm\": \"gemm\", \"fmha_\": \"attention\"}}")]
pub(in crate::cli) struct Args {
    /// SQLite exports, .nsys-rep files or PyTorch traces.
    #[arg(value_name = "REPORT")]
    pub(super) reports: Vec<PathBuf>,
    /// JSON file that lists the inputs and the classes.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["reports", "kernel_sum", "iter_tag", "iters", "gpus", "title"]
    )]
    pub(super) config: Option<PathBuf>,
    /// CSV of kernels from `nsys stats -r cuda_gpu_kern_sum --format csv`, instead of a report.
    #[arg(long, value_name = "FILE", conflicts_with = "reports")]
    pub(super) kernel_sum: Option<PathBuf>,
    /// CSV of NVTX ranges from nvtx_gpu_proj_trace, for --kernel-sum.
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "kernel_sum")]
    pub(super) nvtx_proj: Option<PathBuf>,
    /// CSV of memory operations from cuda_gpu_mem_time_sum, for --kernel-sum.
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "kernel_sum")]
    pub(super) mem_time: Option<PathBuf>,
    /// Name of the NVTX ranges that are iterations; now spelled --iter.
    #[arg(long, hide = true, value_name = "TAG")]
    pub(super) iter_tag: Option<String>,
    /// Iterations in the capture; default: the number of tagged ranges per process.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub(super) iters: Option<i64>,
    /// GPUs in the capture; default: the GPUs with work, or one per process for CSV tables.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub(super) gpus: Option<i64>,
    /// Class map: NAME, FILE or FILE#NAME; default: the config's map, else `default`.
    ///
    /// A file is JSON or YAML; a config works too. `nsq list --classes` lists the available maps.
    #[arg(long, value_name = "MAP")]
    pub(super) classes: Option<String>,
    /// Refuse a map in which one key is part of another, instead of using the first match.
    #[arg(hide_short_help = true, long)]
    pub(super) strict: bool,
    /// Print the text block of the original tool, number for number.
    ///
    /// Counts per iteration are rounded down for each kernel, shares are of all kernels except NCCL's, and
    /// sums cover the whole capture.
    #[arg(
        long,
        alias = "seed_compat",
        value_name = "LABELS",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "analyzer"
    )]
    pub(super) seed_compat: Option<Labels>,
    /// Heading; default: the file name.
    #[arg(hide_short_help = true, long, value_name = "TEXT", help_heading = "Output")]
    pub(super) title: Option<String>,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    #[command(flatten)]
    pub(super) open: OpenArgs,
    #[command(flatten)]
    pub(super) library: LibraryArgs,
}

/// The tool whose labels the block of --seed-compat has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Labels {
    /// Labels of GPU Performance Analyser, with short names of memory operations.
    Analyzer,
    /// Labels of kernel_stats.py, its predecessor, with full names of memory operations.
    KernelStats,
}

impl Labels {
    /// Its name as a parameter of the page.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Analyzer => "analyzer",
            Self::KernelStats => "kernel_stats",
        }
    }
}

impl Args {
    /// The name in `--iter NAME`, where tables of CSV are read: there it names the ranges of the iterations.
    pub(super) fn of_csv(&self) -> Option<&str> {
        self.kernel_sum.as_ref()?;
        self.scope.iter.first().map(String::as_str).filter(|name| split_instances(name).is_none())
    }
}
