//! `nsq import`: converts a PyTorch trace to a report file.

use super::{messages, note, output};
use nsq_files::interrupt::interrupt;
use nsq_report::report::{self, Listener};
use nsq_report::trace::ImportOptions;
use nsq_value::error::Result;
use std::path::PathBuf;

/// Convert a PyTorch trace to SQLite, with the tables of an nsys export
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq import trace.json.gz -o trace.sqlite
  nsq import trace.pt.trace.json -o trace.sqlite --python-functions
  nsq run trace.json --query top_kernels       every command also reads a trace directly

Annotations and CPU operators become NVTX ranges in the domains user_annotation and cpu_op. The table \
NSQ_IMPORT lists every category of events in the trace and how many of its events were imported.")]
pub(super) struct Args {
    /// Trace written by torch.profiler's export_chrome_trace(): .json or .json.gz.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// File to write; a failed run leaves no partial file.
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,
    /// Replace the output file if it exists.
    #[arg(long)]
    force: bool,
    /// Import all calls of Python functions (with_stack=True), also if there are more than 250,000.
    #[arg(long)]
    python_functions: bool,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    output::must_differ(Some(&args.output), [args.trace.as_path()])?;
    output::must_be_free(&args.output, args.force)?;
    let options = ImportOptions { python_functions: args.python_functions };
    output::replace(&args.output, |path| {
        let imported =
            report::import(&args.trace, path, options, (Listener(Some(messages::show)), interrupt()))?;
        note(&imported.to_string());
        Ok(())
    })?;
    Ok(0)
}
