//! `nsq export`: exports a capture to SQLite, in the cache or in a file, or reports to a Perfetto trace.

use super::options::OpenArgs;
use super::output::{must_be_free, must_differ, replace, write_to};
use nsq_report::report::{Report, export_to};
use nsq_value::error::{Error, Result};
use std::path::PathBuf;

/// Export a .nsys-rep to SQLite, or any report to a Perfetto trace
///
/// Prints the path of the export.
///
/// Every command exports a capture when it needs to. Use `nsq export` to do it ahead of time, or to keep
/// the file. Without -o the export stays in the cache until `nsq cache clear` or until the cache is full.
/// With --perfetto, it writes reports of any kind as one trace for ui.perfetto.dev.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq export report.nsys-rep                    export into the cache
  nsq export report.nsys-rep -o report.sqlite
  sqlite3 \"$(nsq export report.nsys-rep)\" .tables
  nsq export --perfetto -o job.pftrace.gz rank*.sqlite       its options: nsq export --perfetto --help

An export contains the captured environment and command lines, as the capture does. nsq hides both, \
and only you can read an export in the cache.")]
pub(super) struct Args {
    /// A .nsys-rep or .qdrep capture.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// File to write; a failed run leaves no partial file.
    #[arg(short, long, value_name = "FILE", required_if_eq("no_cache", "true"))]
    output: Option<PathBuf>,
    /// Replace the output file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
    /// Export again even if the cache has an export.
    #[arg(long)]
    again: bool,
    /// Write a trace for ui.perfetto.dev: the program nsq-perfetto runs, with all other arguments.
    // `external` runs it before the command line is parsed.
    #[arg(long = "perfetto")]
    _perfetto: bool,
    #[command(flatten)]
    open: OpenArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let mut options = args.open.export_options();
    options.cache.again = args.again;
    let path = match &args.output {
        Some(output) => {
            must_differ(Some(output.as_path()), [args.report.as_path()])?;
            must_be_free(output, args.force)?;
            replace(output, |fresh| export_to(&args.report, fresh, &options))?;
            output.clone()
        }
        None => Report::open(&args.report, &options)?.database,
    };
    write_to(None, |out| {
        out.write_all(path.as_os_str().as_encoded_bytes())
            .and_then(|()| out.write_all(b"\n"))
            .map_err(Error::Output)
    })?;
    Ok(0)
}
