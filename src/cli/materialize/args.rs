//! The command line of `nsq materialize`.

use crate::cli::options::{LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use std::path::PathBuf;

/// Write the normalised tables to a file, for sqlite3, DuckDB or pandas
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq materialize report.sqlite -o plain.sqlite
  nsq materialize report.sqlite -o second.sqlite --time 1s/2s
  nsq materialize job/ --parquet dataset
  sqlite3 plain.sqlite \"SELECT short_name, count(*) FROM kernel GROUP BY 1\"
  nsq run plain.sqlite --query top_kernels

The table nsq_column documents every column. Captured environments and command lines are left out.")]
pub(in crate::cli) struct Args {
    /// SQLite export, .nsys-rep or PyTorch trace; with --parquet, several, or folders.
    #[arg(required = true, value_name = "REPORT")]
    pub(super) report: Vec<PathBuf>,
    /// File to write; a failed run leaves no partial file.
    #[arg(short, long, value_name = "FILE", required_unless_present = "parquet")]
    pub(super) output: Option<PathBuf>,
    /// Write DIR/RELATION/job=…/rank=…/part.parquet instead; needs nsq-arrow.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "force"])]
    pub(super) parquet: Option<PathBuf>,
    /// Value of job=… [default: name of the folder that the report is in]
    #[arg(long, value_name = "NAME", requires = "parquet")]
    pub(super) job: Option<String>,
    /// Write internal relations too: steps from which nsq computes others.
    #[arg(long)]
    pub(super) all: bool,
    /// Replace the output file if it exists.
    #[arg(long)]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    #[command(flatten)]
    pub(super) open: OpenArgs,
    #[command(flatten)]
    pub(super) library: LibraryArgs,
}

impl Args {
    pub(in crate::cli) fn is_parquet(&self) -> bool {
        self.parquet.is_some()
    }
}
