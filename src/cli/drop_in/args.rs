//! The options that `nsys stats` and `nsys analyze` have in common.

use super::instant::time_unit;
use crate::cli::options::{LibraryArgs, OpenArgs};
use nsq_engine::compile::TimeUnit;
use nsq_value::error::{Error, Result};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DropInArgs {
    /// SQLite export, .nsys-rep or PyTorch trace.
    #[arg(value_name = "INPUT")]
    input: Option<PathBuf>,
    /// Format: column, table, csv, tsv, json, hdoc or htable, with arguments such as column:time=us:nohdr;
    /// `.` for the default of the output.
    #[arg(short, long, value_name = "FORMAT[:ARG…]", value_delimiter = ',')]
    pub(super) format: Vec<String>,
    /// Output: `-` console, `.` files next to the input, `@CMD` a process, else the base name of files.
    #[arg(short, long, value_name = "OUTPUT", value_delimiter = ',', allow_hyphen_values = true)]
    pub(super) output: Vec<String>,
    /// Unit of times: nsec, usec, msec or sec [default: nsec]
    #[arg(long, value_name = "UNIT", value_parser = time_unit)]
    pub(super) timeunit: Option<TimeUnit>,
    /// Only events that overlap this time range, such as 1s/2s or 500ms/.
    #[arg(long, value_name = "A/B", allow_hyphen_values = true)]
    pub(super) filter_time: Option<String>,
    /// Only events that overlap this NVTX range, of its thread or process, as nsys chooses them.
    #[arg(long, value_name = "NAME[@DOMAIN][/INDEX]")]
    pub(super) filter_nvtx: Option<String>,
    /// Overwrite output files.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    pub(super) force_overwrite: bool,
    /// Export a .nsys-rep again even if there is an export.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    pub(super) force_export: bool,
    /// The export of a .nsys-rep: read if the file exists, written if not.
    #[arg(long, value_name = "FILE")]
    pub(super) sqlite: Option<PathBuf>,
    /// In csv and tsv, put an apostrophe before names that a spreadsheet would run as formulas.
    #[arg(long)]
    pub(super) spreadsheet: bool,
    /// Print only reports and errors.
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// List the formats, or describe one with its arguments, and exit.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub(super) help_formats: Option<String>,
    #[command(flatten)]
    pub(super) open: OpenArgs,
    #[command(flatten)]
    pub(super) library: LibraryArgs,
}

impl DropInArgs {
    /// The input, which only the help does without.
    pub(super) fn input(&self) -> Result<&Path> {
        self.input
            .as_deref()
            .ok_or_else(|| Error::usage("no input file", "give a SQLite export, a .nsys-rep or a trace"))
    }
}
