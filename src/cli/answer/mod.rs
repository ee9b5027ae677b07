//! `nsq answer`: answers the questions of a playbook in sentences, with the evidence.

mod asking;
mod folder;
mod page;
mod part;
mod settings;
mod stats_reports;

use super::note;
use super::options::{ClassArgs, Clock, LibraryArgs, LimitArgs, OpenArgs, ScopeArgs};
use super::output::{OutputArgs, must_differ};
use crate::catalog::{Catalog, Part, Playbook};
use crate::classify::OTHERS;
use crate::error::{EXIT_LACKS_DATA, Error, Result};
use crate::page::Templates;
use crate::render::{Format, visible};
use crate::table::Value;
use asking::OpenReports;
use part::{PartAnswer, Status};
use settings::Settings;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// The default playbook.
const DEFAULT_PLAYBOOK: &str = "cs336";

/// Answer the questions of a playbook for one report, two reports, or a folder of reports
///
/// A playbook is a list of questions, with the queries and the sentences that answer them. The built-in
/// playbook contains the profiling questions (a) to (e) of Stanford's CS336. You can write your own.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq answer forward.sqlite
  nsq answer forward.sqlite train.sqlite --part b,d
  nsq answer attention.sqlite --part e --model 2.7B -p context_length=1024
  nsq answer forward.sqlite --part a --timings benchmark.csv --model small
  nsq answer forward.sqlite -p forward='inference_*' --exclude 'inference_0'
  nsq answer profiles/ -o summary.md --reports stats_reports
  nsq answer run.sqlite --playbook my_course.yml

`nsq show cs336` prints its questions, the range names that it looks for, and its parameters.

Exit codes: 0 every part was answered, 1 failure, 2 usage error, 3 data missing for a part.")]
pub(super) struct Args {
    /// One report, two reports for questions that need both, or a folder of reports.
    #[arg(required = true, num_args = 1..=2, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// Answer only these parts.
    #[arg(long, value_name = "PART", value_delimiter = ',', default_value = "all")]
    part: Vec<String>,
    /// Use this playbook: a name, or the path of a file.
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_PLAYBOOK)]
    playbook: String,
    /// Set a parameter of the playbook, or name the ranges of a pattern: -p forward='my pass *'.
    ///
    /// May be repeated; a pattern given twice matches both names. A name is a glob, or a regular
    /// expression between slashes.
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// Same as -p model=NAME.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Read a CSV file that the playbook uses: NAME=FILE; may be repeated.
    #[arg(long, value_name = "NAME=FILE")]
    file: Vec<String>,
    /// Same as --file timings=FILE.
    #[arg(long, value_name = "FILE")]
    timings: Option<PathBuf>,
    /// Also write NVIDIA's reports for every profile to this folder, as DIR/PROFILE_REPORT.txt.
    ///
    /// Writes nvtx_sum, cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum
    /// as `nsq stats` prints them. If a profile lacks the data for a report, a note says so and the
    /// report is not written. Subfolders of a folder of reports are kept.
    #[arg(long = "reports", value_name = "DIR")]
    reports_to: Option<PathBuf>,
    /// Leave out work inside NVTX ranges of this name, in addition to what the playbook excludes.
    #[arg(long, value_name = "NAME", help_heading = "Scope")]
    exclude: Vec<String>,
    /// Only work in these iterations, numbered from 0 per thread: `--iter step 3`, `--iter step 2..5`.
    #[arg(long, value_name = "TAG [N|A..B]", help_heading = "Scope")]
    iter: Vec<String>,
    /// Only events that overlap this time range since the start of the capture: 1.5s/2s, 12ms/, /80%.
    #[arg(long, value_name = "A/B", allow_hyphen_values = true, help_heading = "Scope")]
    time: Option<String>,
    /// Only GPU work on these CUDA device ordinals.
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = "Scope")]
    device: Vec<i64>,
    /// Only events of these process IDs.
    #[arg(long, value_name = "PID", value_delimiter = ',', help_heading = "Scope")]
    process: Vec<i64>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    library: LibraryArgs,
    #[command(flatten)]
    classes: ClassArgs,
}

impl Args {
    /// The scope that the user set for every query.
    fn scope(&self) -> ScopeArgs {
        ScopeArgs {
            time: self.time.clone(),
            device: self.device.clone(),
            process: self.process.clone(),
            exclude: self.exclude.clone(),
            iter: self.iter.clone(),
            ..ScopeArgs::default()
        }
    }
}

impl Args {
    /// The same scope as command-line options.
    fn scope_options(&self) -> Vec<String> {
        let numbers = |ids: &[i64]| ids.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let mut options: Vec<String> = self.time.iter().map(|time| format!("--time {time}")).collect();
        for (option, ids) in [("--device", &self.device), ("--process", &self.process)] {
            if !ids.is_empty() {
                options.push(format!("{option} {}", numbers(ids)));
            }
        }
        for (option, names) in [("--iter", &self.iter), ("--exclude", &self.exclude)] {
            options.extend(names.iter().map(|name| format!("{option} {name}")));
        }
        options
    }

    /// Input files other than the reports.
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let named = self.file.iter().filter_map(|text| text.split_once('='));
        let named = named.map(|(_, path)| Path::new(path));
        self.timings.as_deref().into_iter().chain(named).chain([Path::new(&self.playbook)])
    }
}

/// What all answers of one call share.
struct Questions<'a> {
    args: &'a Args,
    catalog: &'a Catalog,
    playbook: &'a Playbook,
    parts: Vec<&'a Part>,
    settings: Settings,
    templates: Templates,
    /// The time limit for all reports of a folder together.
    clock: RefCell<Clock>,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let format = match args.output.format()? {
        format @ (Format::Text | Format::Markdown | Format::Json) => format,
        _ => {
            return Err(Error::usage(
                "`nsq answer` writes only text, markdown and json",
                "give --format text, markdown or json; `nsq run` writes the tables in every format",
            ));
        }
    };
    let mut catalog = args.library.load()?;
    let name = match Path::new(&args.playbook) {
        path if args.playbook.contains(['/', '\\']) || args.playbook.ends_with(".yml") => {
            catalog.add_playbook(path)?
        }
        _ => args.playbook.clone(),
    };
    // Whether a query uses classes is only known later, so duplicate rules are left to `nsq check`.
    if args.classes.classes.is_some() {
        args.classes.choose(&mut catalog, [])?;
    }
    let playbook = catalog.playbook(&name)?;
    let parts = parts(playbook, &args.part)?;
    let settings = Settings::new(playbook, args)?;
    must_be_classes(playbook, &settings, args, &catalog)?;
    let output = args.output.output.as_deref();
    must_differ(output, args.reports.iter().map(PathBuf::as_path))?;
    for input in args.inputs() {
        must_differ(output, [input]).map_err(|_| {
            Error::usage(
                format!("the output file is also an input: {}", input.display()),
                "give another file name: nsq never overwrites an input",
            )
        })?;
    }
    let templates = Templates::new(visible);
    let clock = RefCell::new(args.limits.start());
    let questions = Questions { args, catalog: &catalog, playbook, parts, settings, templates, clock };
    if args.reports.iter().any(|path| path.is_dir()) {
        return folder::run(&questions, format);
    }
    let (answers, reports) = answer(&questions, &args.reports)?;
    let mut written = Ok(Vec::new());
    if let Some(target) = &args.reports_to {
        written = stats_reports::write_beside(&questions, &args.reports, target);
    }
    page::write_one(&questions, format, &reports, &answers)?;
    let lacking = written?;
    for line in &lacking {
        note(line);
    }
    let unanswered = PartAnswer::unanswered(&answers);
    for line in &unanswered {
        note(&format!("not answered: {line}"));
    }
    Ok(if unanswered.is_empty() && lacking.is_empty() { 0 } else { EXIT_LACKS_DATA })
}

/// Checks that the class map has the classes in parameters. Defaults are checked only with `--classes`.
fn must_be_classes(
    playbook: &Playbook,
    settings: &Settings,
    args: &Args,
    catalog: &Catalog,
) -> Result<()> {
    for name in &playbook.classes {
        let is_chosen = settings.given.contains(name) || args.classes.classes.is_some();
        let Some(Value::Text(text)) = settings.params.get(name).filter(|_| is_chosen) else { continue };
        let map = catalog.classes().chosen_map()?;
        let mut known: Vec<&str> = map.rules.iter().map(|rule| rule.rule.class.as_str()).collect();
        known.push(OTHERS);
        known.sort_unstable();
        known.dedup();
        for class in serde_json::from_str::<Vec<String>>(text).unwrap_or_default() {
            if !known.contains(&class.as_str()) {
                let help =
                    format!("-p {name}= accepts the classes of map {}: {}.", map.name, known.join(", "));
                return Err(Error::unknown("class", &class, known, help));
            }
        }
    }
    Ok(())
}

/// The requested parts, in the playbook's order.
fn parts<'p>(playbook: &'p Playbook, wanted: &[String]) -> Result<Vec<&'p Part>> {
    for name in wanted.iter().filter(|name| *name != "all") {
        playbook.part(name)?;
    }
    let is_all = wanted.iter().any(|name| name == "all");
    Ok(playbook.parts.iter().filter(|part| is_all || wanted.contains(&part.part)).collect())
}

/// Opens the reports and answers every part. Returns the answers and the facts about the reports.
fn answer(
    questions: &Questions<'_>,
    paths: &[PathBuf],
) -> Result<(Vec<PartAnswer>, Vec<serde_json::Value>)> {
    let mut reports = OpenReports::open(questions, paths)?;
    let mut answers = Vec::new();
    for part in &questions.parts {
        answers.push(part::answer(&mut reports, part)?);
    }
    Ok((answers, reports.facts()))
}

impl PartAnswer {
    /// One line with the parts without any answer, and one per part that was partly answered.
    fn unanswered(answers: &[PartAnswer]) -> Vec<String> {
        let with = |status| answers.iter().filter(move |answer| answer.status() == status);
        let lacking: Vec<String> = with(Status::Lacking).map(PartAnswer::label).collect();
        let whole = (!lacking.is_empty()).then(|| lacking.join(", "));
        let partly = with(Status::Partly).map(|answer| {
            let lacking = answer.pieces.iter().filter(|piece| piece.lack().is_some());
            let about: Vec<&str> = lacking.map(|piece| piece.about.as_str()).collect();
            format!("{} {}", answer.label(), about.join("; "))
        });
        whole.into_iter().chain(partly).collect()
    }

    /// `(a)`
    fn label(&self) -> String {
        format!("({})", self.part)
    }
}
