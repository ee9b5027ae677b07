//! `nsq analyze`: accepts the command line of `nsys analyze` and applies the same rules.

use super::drop_in::{self, Command, DropInArgs, Request};
use nsq_value::error::Result;

/// Apply the rules of `nsys analyze`, with the same options
///
/// A rule prints what it found, worst first, and what to do about it. Column names, arithmetic, rounding,
/// formats and file names are NVIDIA's; the advice is nsq's. Exit codes are nsq's: 0 whatever the rules
/// found, 3 if the data of a requested rule is missing, 2 if a rule name is unknown.
#[derive(Debug, clap::Args)]
#[command(
    infer_long_args = true,
    after_help = "\
Examples:
  nsq analyze report.sqlite
  nsq analyze -r gpu_gaps:gap=10:rows=5,cuda_api_sync -f table report.sqlite
  nsq analyze -r gpu_time_util:chunks=100 -f csv -q report.nsys-rep
  nsq analyze --help-rules gpu_gaps

The first rule is written in the first format to the first output, and so on. If there are more \
rules than formats or outputs, the last one is used again."
)]
pub(super) struct Args {
    /// Rules to apply, with arguments after colons [default: the default rules of nsys analyze]
    #[arg(short, long, value_name = "NAME[:ARG…]", value_delimiter = ',')]
    rule: Vec<String>,
    /// List the rules, or describe one (or ALL), and exit.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    help_rules: Option<String>,
    #[command(flatten)]
    shared: DropInArgs,
}

/// The default rules of `nsys analyze`.
const DEFAULT_SET: [&str; 7] = [
    "cuda_memcpy_async",
    "cuda_memcpy_sync",
    "cuda_memset_sync",
    "cuda_api_sync",
    "gpu_gaps",
    "gpu_time_util",
    "dx12_mem_ops",
];

pub(super) fn run(args: &Args) -> Result<u8> {
    drop_in::run(&Request {
        command: Command::Analyze,
        reports: &args.rule,
        defaults: &DEFAULT_SET,
        folders: &[],
        help: args.help_rules.as_deref(),
        args: &args.shared,
    })
}
