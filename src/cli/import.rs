//! `nsq import`: a PyTorch trace as a report that stays.

use super::{note, output, progress};
use crate::error::Result;
use crate::report::{self, Listener};
use crate::trace::ImportOptions;
use std::path::PathBuf;

/// Turn a PyTorch profiler trace into a report that is kept: a SQLite file with the tables of an nsys export
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq import trace.json.gz -o trace.sqlite
  nsq import trace.pt.trace.json -o trace.sqlite --python-functions
  nsq run trace.json --query top_kernels       every verb takes a trace as it is, too

Annotations and CPU operators become NVTX ranges of the domains user_annotation and cpu_op. What the
trace holds besides, and how much of it was taken, stands in the table NSQ_IMPORT.")]
pub(super) struct Args {
    /// What torch.profiler's export_chrome_trace() wrote: .json or .json.gz.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// File to write; appears whole or not at all.
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
    /// Python functions (with_stack=True) too, as ranges of the domain python_function.
    #[arg(long)]
    python_functions: bool,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    output::must_differ(Some(&args.output), [args.trace.as_path()])?;
    output::must_be_free(&args.output, args.force)?;
    let options = ImportOptions { python_functions: args.python_functions };
    output::replace(&args.output, |path| {
        let imported = report::import(&args.trace, path, options, Listener(Some(progress::show)))?;
        note(&imported.to_string());
        Ok(())
    })?;
    Ok(0)
}
