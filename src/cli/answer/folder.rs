//! Answers every profile in a folder, and writes one summary that also lists the failures.

use super::page::{Page, parts_json, playbook, preamble, put_json, report_line};
use super::part::{PartAnswer, Status};
use super::stats_reports::{self, Written};
use super::{Questions, answer};
use crate::cli::note;
use crate::cli::output::{must_differ, write_to};
use crate::error::{EXIT_FAILED, EXIT_LACKS_DATA, Error, Result};
use crate::render::{Format, Heading, Writer, quotable, visible};
use crate::report::{Profile, find};
use crate::table::{Column, ResultTable, Value as Cell};
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};

/// A profile and its answers, or why it failed.
struct Answered {
    /// Name of the profile.
    name: String,
    outcome: Result<(Vec<PartAnswer>, Vec<Json>)>,
    /// NVIDIA's reports, if `--reports` was given.
    reports: Option<Result<Written>>,
}

pub(super) fn run(questions: &Questions<'_>, format: Format) -> Result<u8> {
    let [folder] = questions.args.reports.as_slice() else {
        return Err(Error::usage(
            "a folder cannot be combined with another report",
            "give one folder, or one or two reports",
        ));
    };
    let found = find(folder)?;
    let profiles = &found.profiles;
    let failed = |(path, error): (PathBuf, Error)| failure_line(&path.display().to_string(), &error);
    let mut failures: Vec<String> = found.failures.into_iter().map(failed).collect();
    found.notes.iter().for_each(|text| note(text));
    if profiles.is_empty() && failures.is_empty() {
        return Err(Error::Report {
            path: folder.clone(),
            reason: "contains no profile".to_owned(),
            help: "put .nsys-rep, .qdrep, .sqlite, or PyTorch's .json or .json.gz files into it or its subfolders"
                .to_owned(),
        });
    }
    let output = questions.args.output.output.as_deref();
    must_differ(output, profiles.iter().flat_map(Profile::files))?;
    let mut all = Vec::new();
    for profile in profiles {
        let path = profile.path();
        let outcome = match answer(questions, &[path.to_owned()]) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            outcome => outcome,
        };
        let reports = match &questions.args.reports_to {
            Some(target) if outcome.is_ok() => {
                match stats_reports::write(questions, path, &target.join(&profile.base)) {
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    written => Some(written),
                }
            }
            _ => None,
        };
        all.push(Answered { name: profile.name(), outcome, reports });
    }
    for answered in &all {
        if let Err(error) = &answered.outcome {
            failures.push(failure_line(&answered.name, error));
        }
        if let Some(Err(error)) = &answered.reports {
            failures.push(failure_line(&format!("{}, writing its reports", answered.name), error));
        }
    }
    write_to(output, |out| match format {
        Format::Json => put_json(out, &document(questions, folder, &all, &failures)?.into()),
        _ => summary(questions, Page::new(out, questions.args, format), format, &all, &failures),
    })?;
    failures.iter().for_each(|failure| note(&format!("failed: {failure}")));
    if !failures.is_empty() {
        return Ok(EXIT_FAILED);
    }
    let is_lacking =
        |answered: &Answered| {
            let reports = answered.reports.as_ref().is_some_and(|reports| {
                reports.as_ref().is_ok_and(|written| !written.lacking.is_empty())
            });
            let parts = answered.outcome.as_ref().is_ok_and(|(answers, _)| {
                answers.iter().any(|answer| answer.status() != Status::Answered)
            });
            reports || parts
        };
    Ok(if all.iter().any(is_lacking) { EXIT_LACKS_DATA } else { 0 })
}

/// Describes a failure in one line.
fn failure_line(name: &str, error: &Error) -> String {
    let lines: Vec<String> = error.to_string().lines().map(|line| line.trim().to_owned()).collect();
    let help = error.help().map_or(String::new(), |help| format!("; {help}"));
    format!("{name}: {}{help}", lines.join(": "))
}

fn document(
    questions: &Questions<'_>,
    folder: &Path,
    all: &[Answered],
    failures: &[String],
) -> Result<Map<String, Json>> {
    let mut document = preamble(questions);
    document.insert("folder".to_owned(), folder.display().to_string().into());
    document.insert("failures".to_owned(), failures.to_vec().into());
    let mut profiles = Vec::new();
    for answered in all {
        let mut profile = Map::new();
        profile.insert("profile".to_owned(), answered.name.as_str().into());
        match &answered.outcome {
            Ok((answers, facts)) => {
                profile.insert("reports".to_owned(), facts.clone().into());
                profile.insert("parts".to_owned(), parts_json(questions.args, answers)?);
            }
            Err(error) => {
                profile.insert("error".to_owned(), error.to_string().into());
                profile.insert("help".to_owned(), error.help().into());
            }
        }
        match &answered.reports {
            Some(Ok(written)) => {
                let files: Vec<String> = written.files.iter().map(|f| f.display().to_string()).collect();
                profile
                    .insert("written".to_owned(), json!({ "files": files, "lacking": written.lacking }));
            }
            Some(Err(error)) => {
                profile.insert("written".to_owned(), json!({ "error": error.to_string() }));
            }
            None => {}
        }
        profiles.push(Json::from(profile));
    }
    document.insert("profiles".to_owned(), profiles.into());
    Ok(document)
}

fn summary(
    questions: &Questions<'_>,
    mut page: Page<'_>,
    format: Format,
    all: &[Answered],
    failures: &[String],
) -> Result<()> {
    let count = all.len();
    let profiles = if count == 1 { "profile" } else { "profiles" };
    page.heading(
        1,
        &format!("{}: {count} {profiles} ({})", questions.playbook.title, playbook(questions)),
    )?;
    page.table(&overview(questions, all), format)?;
    for failure in failures {
        page.line(&format!("failed: {}", visible(failure)))?;
    }
    for answered in all {
        let Ok((answers, facts)) = &answered.outcome else { continue };
        page.gap()?;
        let mark = if format == Format::Markdown { "" } else { "=== " };
        page.heading(1, &format!("{mark}{}", quotable(&answered.name)))?;
        for report in facts {
            page.line(&format!("report {}", report_line(report)))?;
        }
        if let Some(Ok(written)) = &answered.reports {
            for file in &written.files {
                page.line(&format!("wrote {}", visible(&file.display().to_string())))?;
            }
            for lacking in &written.lacking {
                page.line(&format!("not written: {}", visible(lacking)))?;
            }
        }
        page.gap()?;
        page.parts(answers)?;
    }
    Ok(())
}

/// A table with one row per profile and one column per part.
fn overview(questions: &Questions<'_>, all: &[Answered]) -> ResultTable {
    let mut columns = vec![Column::untyped("profile")];
    columns.extend(questions.parts.iter().map(|part| Column::untyped(&format!("({})", part.part))));
    let rows = all.iter().map(|answered| {
        let mut row = vec![Cell::Text(answered.name.clone())];
        match &answered.outcome {
            Ok((answers, _)) => row.extend(answers.iter().map(|answer| {
                Cell::Text(match answer.status() {
                    Status::Answered => "answered".to_owned(),
                    Status::Partly => "partly".to_owned(),
                    Status::Lacking => "no data".to_owned(),
                })
            })),
            Err(_) => row.extend(questions.parts.iter().map(|_| Cell::Text("failed".to_owned()))),
        }
        row
    });
    ResultTable { rows: rows.collect(), columns }
}

impl Page<'_> {
    /// Writes a table without a title.
    fn table(&mut self, table: &ResultTable, format: Format) -> Result<()> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, format, self.style(), 1);
        writer.result(&Heading::default(), |sink| table.replay(sink))?;
        writer.finish()?;
        self.put(&format!("\n{}\n", String::from_utf8_lossy(&bytes)))
    }
}
