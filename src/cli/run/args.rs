//! The options of `nsq run`.

use crate::cli::options::{ClassArgs, LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use crate::cli::output::OutputArgs;
use crate::cli::reports::ManyArgs;
use std::path::PathBuf;

/// Run named queries on one or more reports
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq run report.sqlite --query top_kernels
  nsq run report.sqlite --query top_kernels -p limit=5 --device 0 --time 1s/2s
  nsq run rank0.sqlite rank1.sqlite --query cuda_gpu_kern_sum:base -o kernels.csv
  nsq run report.sqlite --query cuda_api_sum --query nvtx_sum --format json
  nsq run report.sqlite --query my_question.sql -p least=1ms

A .sql file is a query with front matter (`nsq new query NAME` writes one), or just a SELECT. There,
`:least` is the parameter `least`.

Add @VERSION to a query name to require that version. Add NVIDIA's arguments after colons.")]
pub(in crate::cli) struct Args {
    /// SQLite exports, .nsys-rep files or PyTorch traces, folders of them, or quoted patterns; several
    /// reports add a first column `report`.
    #[arg(required = true, value_name = "REPORT")]
    pub(super) reports: Vec<PathBuf>,
    /// Query to run: NAME[@VERSION][:ARG…], or the path of a .sql file; may be repeated.
    #[arg(short, long = "query", required = true, value_name = "QUERY")]
    pub(super) query: Vec<String>,
    /// Set a parameter of the query; may be repeated.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    pub(super) param: Vec<String>,
    /// Columns to show, in this order; `nsys`: those of nsys stats, with its names, arithmetic and rounding
    /// [default: all of the query's own]
    #[arg(long, value_name = "A,B,…|nsys", value_delimiter = ',', help_heading = "Output")]
    pub(super) columns: Vec<String>,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    #[command(flatten)]
    pub(super) many: ManyArgs,
    #[command(flatten)]
    pub(super) open: OpenArgs,
    #[command(flatten)]
    pub(super) library: LibraryArgs,
    #[command(flatten)]
    pub(super) classes: ClassArgs,
}

impl Args {
    pub(in crate::cli) fn output(&self) -> &OutputArgs {
        &self.output
    }
}
