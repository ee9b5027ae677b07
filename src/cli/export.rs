//! `nsq export`: a capture as SQLite, in the cache or where the user wants it.

use super::options::OpenArgs;
use super::output::{must_be_free, must_differ, replace, write_to};
use crate::error::{Error, Result};
use crate::report::{Report, export_to};
use std::path::PathBuf;

/// Export a .nsys-rep or .qdrep to SQLite by your own nsys, and print where it is
///
/// Every verb exports what it needs by itself: this is for doing it ahead, or for keeping the file.
/// Without -o the export is kept in the cache, until `nsq cache clear` or until there is no room for it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq export report.nsys-rep                    into the cache
  nsq export report.nsys-rep -o report.sqlite
  sqlite3 \"$(nsq export report.nsys-rep)\" .tables

An export holds the captured environment and command lines, as the report does. The one in the cache
can be read by you alone; nsq shows neither.")]
pub(super) struct Args {
    /// A .nsys-rep or .qdrep.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// File to write; appears whole or not at all.
    #[arg(short, long, value_name = "FILE", required_if_eq("no_cache", "true"))]
    output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
    /// Export again although the cache holds an export.
    #[arg(long)]
    again: bool,
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
