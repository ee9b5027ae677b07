//! `nsq stats`: accepts the command line of `nsys stats` and prints the same reports.

use super::drop_in::{self, Command, DropInArgs, Request};
use nsq_value::error::Result;
use std::path::PathBuf;

/// Print reports as `nsys stats` does, with the same options
///
/// Column names, arithmetic, rounding, formats and file names are NVIDIA's. Exit codes are nsq's: 3 if
/// the data of a requested report is missing, 2 if a report name is unknown.
#[derive(Debug, clap::Args)]
#[command(
    infer_long_args = true,
    after_help = "\
Examples:
  nsq stats report.sqlite
  nsq stats -r cuda_gpu_kern_sum:base,cuda_api_sum -f csv -q report.sqlite
  nsq stats -r cuda_gpu_trace -f csv:time=us,json -o .,- report.nsys-rep
  nsq stats -r cuda_api_sum -o '@grep cudaFree' report.sqlite
  nsq stats -r nvtx_sum --filter-nvtx 'step@train/3' report.sqlite

The first report is written in the first format to the first output, and so on. If there are more \
reports than formats or outputs, the last one is used again."
)]
pub(super) struct Args {
    /// Reports to print, with arguments after colons [default: the default reports of nsys stats]
    #[arg(short, long, value_name = "NAME[:ARG…]", value_delimiter = ',')]
    report: Vec<String>,
    /// Also take reports from this folder of queries (*.sql); may be repeated, and the first folder decides.
    #[arg(long, value_name = "DIR")]
    report_dir: Vec<PathBuf>,
    /// List the reports, or describe one (or ALL), and exit.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    help_reports: Option<String>,
    #[command(flatten)]
    shared: DropInArgs,
}

/// The default reports of `nsys stats`.
const DEFAULT_SET: [&str; 19] = [
    "nvtx_sum",
    "osrt_sum",
    "cuda_api_sum",
    "cuda_gpu_kern_sum",
    "cuda_gpu_mem_time_sum",
    "cuda_gpu_mem_size_sum",
    "openmp_sum",
    "opengl_khr_range_sum",
    "opengl_khr_gpu_range_sum",
    "vulkan_marker_sum",
    "vulkan_gpu_marker_sum",
    "dx11_pix_sum",
    "dx12_gpu_marker_sum",
    "dx12_pix_sum",
    "wddm_queue_sum",
    "um_sum",
    "um_total_sum",
    "um_cpu_page_faults_sum",
    "openacc_sum",
];

pub(super) fn run(args: &Args) -> Result<u8> {
    drop_in::run(&Request {
        command: Command::Stats,
        reports: &args.report,
        defaults: &DEFAULT_SET,
        folders: &args.report_dir,
        help: args.help_reports.as_deref(),
        args: &args.shared,
    })
}
