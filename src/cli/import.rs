//! `nsq import`: converts a PyTorch trace to a report file.

use super::{messages, note, output};
use nsq_files::interrupt::interrupt;
use nsq_report::onto;
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
  nsq import trace.json.gz --onto report.sqlite -o both.sqlite
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
    /// Write this SQLite export of nsys, with what the trace of the same program knows of its GPU operations: operators,
    /// shapes, modules and Python functions. Operations are paired by their correlation IDs, or else by name, shape and
    /// order.
    #[arg(long, value_name = "EXPORT")]
    onto: Option<PathBuf>,
    /// Import all calls of Python functions (with_stack=True), also if there are more than 250,000.
    #[arg(long)]
    python_functions: bool,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let given = [Some(args.trace.as_path()), args.onto.as_deref()];
    output::must_differ(Some(&args.output), given.into_iter().flatten())?;
    output::must_be_free(&args.output, args.force)?;
    let options = ImportOptions { python_functions: args.python_functions };
    let shown = (Listener(Some(messages::show)), interrupt());
    output::replace(&args.output, |path| {
        note(&match &args.onto {
            Some(export) => onto::join(export, &args.trace, path, options, shown)?.to_string(),
            None => report::import(&args.trace, path, options, shown)?.to_string(),
        });
        Ok(())
    })?;
    Ok(0)
}
