//! The options of `nsq answer`.

use crate::cli::options::{ClassArgs, LibraryArgs, LimitArgs, OpenArgs};
use crate::cli::output::{OutputArgs, must_differ};
use nsq_engine::scope::ScopeText;
use nsq_render::render::Format;
use nsq_value::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The default playbook.
const DEFAULT_PLAYBOOK: &str = "cs336";

/// Answer a prepared list of questions (default: CS336) in sentences
///
/// A playbook is a list of questions, with the queries and the sentences that answer them. The built-in
/// playbook contains the profiling questions (a) to (e) of Stanford's CS336. You can write your own.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq answer forward.sqlite
  nsq answer forward.sqlite --details
  nsq answer forward.sqlite train.sqlite --part b,d
  nsq answer attention.sqlite --part e --model 2.7B -p context_length=1024
  nsq answer forward.sqlite --part a --timings benchmark.csv --model small
  nsq answer forward.sqlite -p forward='inference_*' --exclude 'inference_0'
  nsq answer profiles/ -o summary.md --reports stats_reports
  nsq answer run.sqlite --playbook my_course.yml

`nsq show cs336` prints its questions, the range names that it looks for, and its parameters.

Exit codes: 0 every part was answered, 1 failure, 2 usage error, 3 data missing for a part.")]
pub(in crate::cli) struct Args {
    /// One report, two reports for questions that need both, or a folder of reports.
    #[arg(required = true, num_args = 1..=2, value_name = "REPORT")]
    pub(super) reports: Vec<PathBuf>,
    /// Answer only these parts.
    #[arg(long, value_name = "PART", value_delimiter = ',', default_value = "all")]
    pub(super) part: Vec<String>,
    /// Use this playbook: a name, or the path of a file.
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_PLAYBOOK)]
    pub(super) playbook: String,
    /// Print all sentences, the tables, and the commands behind them.
    ///
    /// Without it, an answer is the first sentence of each paragraph. JSON always has everything.
    #[arg(long)]
    pub(super) details: bool,
    /// Set a parameter of the playbook, or name the ranges of a pattern: -p forward='my pass *'.
    ///
    /// May be repeated; a pattern given twice matches both names. A name is a glob, or a regular
    /// expression between slashes.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    pub(super) param: Vec<String>,
    /// Same as -p model=NAME.
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Read a CSV file that the playbook uses: NAME=FILE; may be repeated.
    #[arg(long, value_name = "NAME=FILE")]
    pub(super) file: Vec<String>,
    /// Same as --file timings=FILE.
    #[arg(long, value_name = "FILE")]
    pub(super) timings: Option<PathBuf>,
    /// Also write NVIDIA's reports for every profile to this folder, as DIR/PROFILE_REPORT.txt.
    ///
    /// Writes nvtx_sum, cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum
    /// as `nsq stats` prints them. If a profile lacks the data for a report, a note says so and the
    /// report is not written. Subfolders of a folder of reports are kept.
    #[arg(long = "reports", value_name = "DIR")]
    pub(super) reports_to: Option<PathBuf>,
    /// Leave out work inside NVTX ranges of this name, in addition to what the playbook excludes.
    #[arg(hide_short_help = true, long, value_name = "NAME", help_heading = "Scope")]
    pub(super) exclude: Vec<String>,
    /// Only work in these iterations, numbered from 0 per thread: `--iter step 3`, `--iter step 2..5`.
    #[arg(long, value_name = "TAG [N|A..B]", help_heading = "Scope")]
    pub(super) iter: Vec<String>,
    /// Only events that overlap this time range since the start of the capture: 1.5s/2s, 12ms/, /80%.
    #[arg(long, value_name = "A/B", allow_hyphen_values = true, help_heading = "Scope")]
    pub(super) time: Option<String>,
    /// Only work of these GPUs, numbered as in every output.
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Scope")]
    pub(super) gpu: Vec<i64>,
    /// Only GPU work on these CUDA device ordinals, which each process may number in another way.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "ID",
        value_delimiter = ',',
        help_heading = "Scope"
    )]
    pub(super) device: Vec<i64>,
    /// Only events of these process IDs.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "PID",
        value_delimiter = ',',
        help_heading = "Scope"
    )]
    pub(super) process: Vec<i64>,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    #[command(flatten)]
    pub(super) open: OpenArgs,
    #[command(flatten)]
    pub(super) library: LibraryArgs,
    #[command(flatten)]
    pub(super) classes: ClassArgs,
}

impl Args {
    /// The scope that the user set for every query.
    pub(super) fn scope(&self) -> ScopeText {
        ScopeText {
            time: self.time.clone(),
            gpus: self.gpu.clone(),
            devices: self.device.clone(),
            processes: self.process.clone(),
            exclude: self.exclude.clone(),
            iterations: self.iter.clone(),
            ..ScopeText::default()
        }
    }

    /// The parameters, with those that have an option of their own.
    pub(super) fn params(&self) -> Vec<String> {
        let model = self.model.iter().map(|model| format!("model={model}"));
        self.param.iter().cloned().chain(model).collect()
    }

    /// The CSV files, by name.
    pub(super) fn files(&self) -> Result<Vec<(String, PathBuf)>> {
        let named = self.file.iter().map(|text| {
            text.split_once('=').map(|(name, path)| (name.to_owned(), path.into())).ok_or_else(|| {
                Error::usage(format!("`{text}` is not NAME=FILE"), "write it as --file NAME=FILE")
            })
        });
        let timings = self.timings.iter().map(|path| Ok(("timings".to_owned(), path.clone())));
        named.chain(timings).collect()
    }

    /// The format, and whether it is for people.
    pub(super) fn format(&self) -> Result<Format> {
        match self.output.format()? {
            format @ (Format::Text | Format::Markdown | Format::Json) => Ok(format),
            _ => Err(Error::usage(
                "`nsq answer` writes only text, markdown and json",
                "give --format text, markdown or json; `nsq run` writes the tables in every format",
            )),
        }
    }

    /// Refuses to overwrite an input.
    pub(super) fn check_output(&self, files: &[(String, PathBuf)]) -> Result<()> {
        let output = self.output.output.as_deref();
        must_differ(output, self.reports.iter().map(PathBuf::as_path))?;
        let named = files.iter().map(|(_, path)| path.as_path());
        for input in named.chain([Path::new(&self.playbook)]) {
            must_differ(output, [input]).map_err(|_| {
                Error::usage(
                    format!("the output file is also an input: {}", input.display()),
                    "give another file name: nsq never overwrites an input",
                )
            })?;
        }
        Ok(())
    }
}
