//! `nsq answer`: answers the questions of a playbook, a page with questions, for reports and folders of reports.

mod profile;
mod stats_reports;

use super::note;
use super::opened::nsq_heading;
use super::options::{ClassArgs, LibraryArgs, LimitArgs, OpenArgs};
use super::output::{OutputArgs, must_differ, write_to};
use crate::catalog::Catalog;
use crate::error::{EXIT_FAILED, EXIT_LACKS_DATA, Error, Result};
use crate::page::{Given, PartAnswer, Questions, Status, table_text};
use crate::render::{Format, Heading, Style};
use crate::report::{Profile as Found, find};
use crate::scope::ScopeText;
use crate::table::{Column, ResultTable, Value as Cell};
use profile::{Profile, failure_line};
use serde_json::{Map, Value as Json, json};
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
    fn scope(&self) -> ScopeText {
        ScopeText {
            time: self.time.clone(),
            devices: self.device.clone(),
            processes: self.process.clone(),
            exclude: self.exclude.clone(),
            iterations: self.iter.clone(),
            ..ScopeText::default()
        }
    }

    /// The parameters, with those that have an option of their own.
    fn params(&self) -> Vec<String> {
        let model = self.model.iter().map(|model| format!("model={model}"));
        self.param.iter().cloned().chain(model).collect()
    }

    /// The CSV files, by name.
    fn files(&self) -> Result<Vec<(String, PathBuf)>> {
        let named = self.file.iter().map(|text| {
            text.split_once('=').map(|(name, path)| (name.to_owned(), path.into())).ok_or_else(|| {
                Error::usage(format!("`{text}` is not NAME=FILE"), "write it as --file NAME=FILE")
            })
        });
        let timings = self.timings.iter().map(|path| Ok(("timings".to_owned(), path.clone())));
        named.chain(timings).collect()
    }

    /// The format, and whether it is for people.
    fn format(&self) -> Result<Format> {
        match self.output.format()? {
            format @ (Format::Text | Format::Markdown | Format::Json) => Ok(format),
            _ => Err(Error::usage(
                "`nsq answer` writes only text, markdown and json",
                "give --format text, markdown or json; `nsq run` writes the tables in every format",
            )),
        }
    }

    /// Refuses to overwrite an input.
    fn check_output(&self, files: &[(String, PathBuf)]) -> Result<()> {
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

pub(super) fn run(args: &Args) -> Result<u8> {
    let format = args.format()?;
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
    let (params, files) = (args.params(), args.files()?);
    let given = Given {
        parts: &args.part,
        params: &params,
        files: &files,
        scope: args.scope(),
        classes: args.classes.classes.as_deref(),
    };
    let questions = Questions::new(&catalog, &name, given)?;
    args.check_output(&files)?;
    match args.reports.iter().any(|path| path.is_dir()) {
        true => folder(args, &catalog, &questions, format),
        false => reports(args, &catalog, &questions, format),
    }
}

/// Answers one report, or two together.
fn reports(args: &Args, catalog: &Catalog, questions: &Questions<'_>, format: Format) -> Result<u8> {
    let mut clock = args.limits.start();
    let (facts, answers) = profile::answer(args, questions, &args.reports, &mut clock)?;
    let written = match &args.reports_to {
        Some(target) => stats_reports::write_beside(args, catalog, target),
        None => Ok(Vec::new()),
    };
    let unanswered = unanswered(&answers);
    let profile = Profile { name: String::new(), outcome: Ok((facts, answers)), written: None };
    let mut document = profile.to_json(args)?;
    document.shift_remove("profile");
    write(args, questions, format, &[profile], document, None)?;
    let lacking = written?;
    lacking.iter().for_each(|line| note(line));
    unanswered.iter().for_each(|line| note(&format!("not answered: {line}")));
    Ok(if unanswered.is_empty() && lacking.is_empty() { 0 } else { EXIT_LACKS_DATA })
}

/// Answers every profile in a folder, and writes one summary that also lists the failures.
fn folder(args: &Args, catalog: &Catalog, questions: &Questions<'_>, format: Format) -> Result<u8> {
    let [folder] = args.reports.as_slice() else {
        return Err(Error::usage(
            "a folder cannot be combined with another report",
            "give one folder, or one or two reports",
        ));
    };
    let found = find(folder)?;
    let failed = |(path, error): (PathBuf, Error)| failure_line(&path.display().to_string(), &error);
    let mut failures: Vec<String> = found.failures.into_iter().map(failed).collect();
    found.notes.iter().for_each(|text| note(text));
    if found.profiles.is_empty() && failures.is_empty() {
        return Err(Error::Report {
            path: folder.clone(),
            reason: "contains no profile".to_owned(),
            help: "put .nsys-rep, .qdrep, .sqlite, or PyTorch's .json or .json.gz files into it or its subfolders"
                .to_owned(),
        });
    }
    must_differ(args.output.output.as_deref(), found.profiles.iter().flat_map(Found::files))?;
    let mut clock = args.limits.start();
    let all =
        found.profiles.iter().map(|found| Profile::of(found, args, catalog, questions, &mut clock));
    let all = all.collect::<Result<Vec<Profile<'_>>>>()?;
    failures.extend(all.iter().flat_map(Profile::failures));
    let mut document = Map::new();
    document.insert("folder".to_owned(), folder.display().to_string().into());
    document.insert("failures".to_owned(), failures.clone().into());
    let profiles = all.iter().map(|profile| Ok(profile.to_json(args)?.into()));
    document.insert("profiles".to_owned(), profiles.collect::<Result<Vec<Json>>>()?.into());
    write(args, questions, format, &all, document, Some(&failures))?;
    failures.iter().for_each(|failure| note(&format!("failed: {failure}")));
    Ok(match failures.is_empty() {
        false => EXIT_FAILED,
        true if all.iter().any(Profile::is_lacking) => EXIT_LACKS_DATA,
        true => 0,
    })
}

/// Writes the answers. `failures`: those of a folder.
fn write(
    args: &Args,
    questions: &Questions<'_>,
    format: Format,
    profiles: &[Profile<'_>],
    document: Map<String, Json>,
    failures: Option<&[String]>,
) -> Result<()> {
    let page = questions.page();
    let text = if format == Format::Json {
        let mut whole = nsq_heading().facts;
        whole.insert("playbook".to_owned(), json!({ "name": page.name, "version": page.version }));
        whole.extend(document);
        serde_json::to_string_pretty(&whole).map_err(|e| Error::Output(e.into()))? + "\n"
    } else {
        let mut style = args.output.style(format);
        let width = style.width;
        // Tables stand below a question, indented by four.
        style.width = width.map(|width| width.saturating_sub(4));
        let views = profiles.iter().map(|profile| profile.view(args, format, &style));
        questions.layout(json!({
            "title": page.title,
            "name": page.name,
            "version": page.version,
            "markdown": format == Format::Markdown,
            "width": width,
            "bold": style.color,
            "overview": failures.map(|_| overview(questions, profiles, format, &style)).transpose()?,
            "failures": failures,
            "profiles": views.collect::<Result<Vec<Json>>>()?,
        }))?
    };
    write_to(args.output.output.as_deref(), |out| out.write_all(text.as_bytes()).map_err(Error::Output))
}

/// A table with one row per profile and one column per part.
fn overview(
    questions: &Questions<'_>,
    profiles: &[Profile<'_>],
    format: Format,
    style: &Style,
) -> Result<String> {
    let parts = questions.parts();
    let labels = parts.iter().map(|part| Column::untyped(&format!("({})", part.part)));
    let columns = [Column::untyped("profile")].into_iter().chain(labels).collect();
    let rows = profiles.iter().map(|profile| {
        let words: Vec<&str> = match &profile.outcome {
            Ok((_, answers)) => answers.iter().map(|answer| word(answer.status())).collect(),
            Err(_) => parts.iter().map(|_| "failed").collect(),
        };
        let words = words.into_iter().map(|word| Cell::Text(word.to_owned()));
        [Cell::Text(profile.name.clone())].into_iter().chain(words).collect()
    });
    let table = ResultTable { rows: rows.collect(), columns };
    table_text(&table, &Heading::default(), format, style.clone())
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Answered => "answered",
        Status::Partly => "partly",
        Status::Lacking => "no data",
    }
}

/// One line with the parts without any answer, and one per part that was partly answered.
fn unanswered(answers: &[PartAnswer<'_>]) -> Vec<String> {
    let with = |status| answers.iter().filter(move |answer| answer.status() == status);
    let lacking: Vec<String> = with(Status::Lacking).map(PartAnswer::label).collect();
    let whole = (!lacking.is_empty()).then(|| lacking.join(", "));
    let partly = with(Status::Partly).map(|answer| format!("{} {}", answer.label(), answer.lacking()));
    whole.into_iter().chain(partly).collect()
}
