//! A profile and its answers, or why it failed.

use super::Args;
use super::stats_reports::{self, Written};
use crate::cli::options::Clock;
use crate::cli::reports;
use nsq_ask::open_report::OpenReport;
use nsq_ask::page::{PartAnswer, Questions, Status};
use nsq_engine::normalize::Scope;
use nsq_library::catalog::Catalog;
use nsq_render::render::{Format, Style};
use nsq_report::report::Profile as Found;
use nsq_value::error::{Error, Result};
use serde_json::{Map, Value as Json, json};
use std::path::PathBuf;

/// Facts about the reports, and the answers of all parts.
type Answers<'a> = (Vec<Json>, Vec<PartAnswer<'a>>);

/// A profile and its answers, or why it failed.
pub(super) struct Profile<'a> {
    /// Its name in a folder.
    pub(super) name: String,
    pub(super) outcome: Result<Answers<'a>>,
    /// NVIDIA's reports, if they were asked for.
    pub(super) written: Option<Result<Written>>,
}

/// Opens the reports of a profile and answers every part.
pub(super) fn answer<'a>(
    args: &Args,
    questions: &Questions<'a>,
    paths: &[PathBuf],
    clock: &mut Clock,
) -> Result<Answers<'a>> {
    let open = |path: &PathBuf| {
        clock.pause(|| reports::open(path, &args.open.export_options())).map(OpenReport::sharing)
    };
    let opened = paths.iter().map(open).collect::<Result<Vec<_>>>()?;
    let facts = opened.iter().map(|opened| {
        let mut facts = opened.heading(&Scope::default()).facts;
        facts.shift_remove("nsq");
        facts.into()
    });
    Ok((facts.collect(), questions.answer(&opened.iter().collect::<Vec<_>>(), &clock.limits())?))
}

impl<'a> Profile<'a> {
    /// Answers a profile of a folder. Fails only if nsq was interrupted.
    pub(super) fn of(
        found: &Found,
        args: &Args,
        catalog: &Catalog,
        questions: &Questions<'a>,
        clock: &mut Clock,
    ) -> Result<Self> {
        let path = found.path();
        let outcome = going_on(answer(args, questions, &[path.to_owned()], clock))?;
        let written = match &args.reports_to {
            Some(target) if outcome.is_ok() => {
                let written = stats_reports::write(args, catalog, path, &target.join(&found.base));
                Some(going_on(written)?)
            }
            _ => None,
        };
        Ok(Self { name: found.name(), outcome, written })
    }

    /// What failed, in a line each.
    pub(super) fn failures(&self) -> impl Iterator<Item = String> {
        let answers = self.outcome.as_ref().err().map(|error| failure_line(&self.name, error));
        let written = match &self.written {
            Some(Err(error)) => {
                Some(failure_line(&format!("{}, writing its reports", self.name), error))
            }
            _ => None,
        };
        answers.into_iter().chain(written)
    }

    /// Whether data is missing for a part, or for one of NVIDIA's reports.
    pub(super) fn is_lacking(&self) -> bool {
        let written = matches!(&self.written, Some(Ok(written)) if !written.lacking.is_empty());
        let is_partial = |answer: &PartAnswer<'_>| answer.status() != Status::Answered;
        written || self.outcome.as_ref().is_ok_and(|(_, answers)| answers.iter().any(is_partial))
    }

    /// The profile with every row.
    pub(super) fn to_json(&self, args: &Args) -> Result<Map<String, Json>> {
        let mut profile = Map::new();
        let mut put = |key: &str, value: Json| profile.insert(key.to_owned(), value);
        put("profile", self.name.as_str().into());
        match &self.outcome {
            Ok((facts, answers)) => {
                let style = args.output.style(Format::Json);
                let parts = answers.iter().map(|answer| answer.to_json(&style));
                put("reports", facts.clone().into());
                put("parts", parts.collect::<Result<Vec<Json>>>()?.into());
            }
            Err(error) => {
                put("error", error.to_string().into());
                put("help", error.help().into());
            }
        }
        match &self.written {
            Some(Ok(Written { files, lacking })) => {
                put("written", json!({ "files": shown(files), "lacking": lacking }));
            }
            Some(Err(error)) => {
                put("written", json!({ "error": error.to_string() }));
            }
            None => {}
        }
        Ok(profile)
    }

    /// The profile as the layout shows it.
    pub(super) fn view(&self, args: &Args, format: Format, style: &Style) -> Result<Json> {
        let none = (Vec::new(), Vec::new());
        let (facts, answers) = self.outcome.as_ref().unwrap_or(&none);
        let (files, lacking) = match &self.written {
            Some(Ok(written)) => (written.files.as_slice(), written.lacking.as_slice()),
            _ => (&[][..], &[][..]),
        };
        let rows = args.output.rows.is_some();
        let mut view = PartAnswer::profile(&self.name, facts, answers, format, style, rows)?;
        view.insert("files".to_owned(), shown(files).into());
        view.insert("lacking".to_owned(), lacking.into());
        Ok(view.into())
    }
}

/// The paths as texts: JSON has no other.
fn shown(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|file| file.display().to_string()).collect()
}

/// A failure of one profile does not end the others, but an interruption does.
fn going_on<T>(outcome: Result<T>) -> Result<Result<T>> {
    match outcome {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        outcome => Ok(outcome),
    }
}

/// Describes a failure in one line.
pub(super) fn failure_line(name: &str, error: &Error) -> String {
    let lines: Vec<String> = error.to_string().lines().map(|line| line.trim().to_owned()).collect();
    let help = error.help().map_or(String::new(), |help| format!("; {help}"));
    format!("{name}: {}{help}", lines.join(": "))
}
