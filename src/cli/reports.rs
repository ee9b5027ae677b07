//! The reports that a command line names, how they are asked, and the errors of those that fail.

use super::failures::complain_of_all;
use super::options::{
    ClassArgs, LibraryArgs, LimitArgs, OpenWithArgs, ScopeArgs, ThreadArgs, no_instances, without_unit,
};
use super::output::OutputArgs;
use super::{note, progress};
use nsq_ask::input::{Input, Opener};
use nsq_ask::open_report::OpenReport;
use nsq_ask::queries::About;
use nsq_ask::request::{Failed, Request};
use nsq_files::interrupt;
use nsq_library::catalog::Catalog;
use nsq_report::report::{ExportOptions, report_paths};
use nsq_value::error::Result;
use regex::Regex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How many reports are worked on.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct ManyArgs {
    #[command(flatten)]
    pub(super) threads: ThreadArgs,
    /// Stop at the first of several reports that fails, and print nothing.
    ///
    /// Without it, the failed reports are named, the others answer, and the exit code is 1.
    #[arg(hide_short_help = true, long)]
    pub(super) strict: bool,
    /// Read the rank from the file name if the report does not record it, such as 'rank(\d+)'
    ///
    /// A regular expression whose one group is the number. It must match the name of each report. Without it, names such
    /// as rank4.sqlite and …-TP-1-DECODE.trace.json contain the rank.
    #[arg(hide_short_help = true, long, value_name = "REGEX", value_parser = rank_pattern)]
    rank_pattern: Option<Regex>,
}

fn rank_pattern(text: &str) -> std::result::Result<Regex, String> {
    let pattern = Regex::new(text).map_err(|e| e.to_string())?;
    match pattern.captures_len() {
        2 => Ok(pattern),
        _ => Err("expected one group for the number, such as 'rank(\\d+)'".to_owned()),
    }
}

/// How reports are asked, and where the answers go.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct AskArgs {
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    #[command(flatten)]
    pub(super) many: ManyArgs,
    #[command(flatten)]
    pub(super) open: OpenWithArgs,
    #[command(flatten)]
    pub(super) library: LibraryArgs,
    #[command(flatten)]
    pub(super) classes: ClassArgs,
}

impl AskArgs {
    /// How the reports are asked.
    pub(super) fn request<'c>(&self, catalog: &'c Catalog) -> Request<'c> {
        let of_seconds =
            self.scope.time.iter().filter_map(|time| without_unit("--time ", time, 1_000_000));
        of_seconds.for_each(|text| note(&text));
        Request {
            class_map: self.classes.classes.clone(),
            scope: self.scope.text(),
            rank_pattern: self.many.rank_pattern.clone(),
            limits: self.limits.limits(self.many.threads.most()),
            is_strict: self.many.strict,
            show_reports: Some(progress::show_reports),
            ..Request::new(catalog)
        }
    }
}

/// Reports with their names in answers, opened one after the other.
pub(super) fn inputs<'p>(
    paths: &'p [PathBuf],
    names: Vec<String>,
    opener: &'p Opener<'p>,
) -> Vec<Input<'p>> {
    paths.iter().zip(names).map(|(path, name)| Input::file(name, path, opener)).collect()
}

/// Opens a report with the options of the command line. Time spent exporting it does not count.
pub(super) fn open(path: &Path, options: &ExportOptions) -> Result<OpenReport> {
    interrupt::pause(|| OpenReport::new(path, options)).map_err(no_instances)
}

/// Prints the notes that come with an answer, and returns it.
pub(super) fn noted<T>((answer, notes): (T, Vec<String>)) -> T {
    notes.iter().for_each(|text| note(text));
    answer
}

/// Prints the notes about reports, from the one at the position `from` in the notes of each. Names the reports if there
/// are several. What is noted about three or more is printed once.
pub(super) fn tell(reports: &[About], from: usize, are_several: bool) {
    let notes = || {
        reports.iter().flat_map(move |of| of.notes.iter().skip(from).map(move |text| (&of.name, text)))
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    notes().for_each(|(_, text)| *counts.entry(text).or_default() += 1);
    for (name, text) in notes() {
        match counts.get(text.as_str()).copied() {
            _ if !are_several => note(text),
            None => {}
            Some(count) if count > 2 => {
                note(&format!("{name} and {} more: {text}", count - 1));
                counts.remove(text.as_str());
            }
            Some(_) => note(&format!("{name}: {text}")),
        }
    }
}

/// The reports that the arguments name, as [`report_paths`] finds them. Skipped files are noted.
pub(super) fn named(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let (paths, notes) = report_paths(given)?;
    notes.iter().for_each(|text| note(text));
    Ok(paths)
}

/// Prints why reports failed. Returns the most severe exit code, and whether the answers of the others are to be
/// printed: to standard output, but not to a file that would be incomplete.
pub(super) fn complain(
    failures: &[Failed],
    (answered, all): (usize, usize),
    many: &ManyArgs,
    output: Option<&Path>,
) -> (u8, bool) {
    progress::clear();
    let code = complain_of_all(failures);
    if answered == 0 || answered == all {
        return (code, answered > 0);
    }
    let failed = all - answered;
    if output.is_some() {
        note("no output file was written, because a report failed; without -o, the others answer");
    } else if !many.strict {
        note(&format!("{failed} of {all} reports failed: the results are those of the others"));
    }
    (code, output.is_none() && !many.strict)
}
