//! The runs that are compared.

use super::{SETTINGS, baselines, reports, settings, tell_notes};
use nsq_ask::input::Input;
use nsq_ask::open_report::OpenReport;
use nsq_ask::page::{PageReport, PageRequest, ReportInput, SavedReport};
use nsq_ask::request::Request;
use nsq_engine::normalize::{Presence, Scope};
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, NO_FILE, Result};
use nsq_value::table::ResultTable;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// One report of a comparison.
pub(super) enum Side {
    Report { name: String, opened: Box<OpenReport>, scope: Box<Scope> },
    Baseline(SavedReport, PathBuf),
}

impl Side {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Report { name, .. } => name.clone(),
            Self::Baseline(saved, _) => saved.report.clone(),
        }
    }

    /// Whether only a part of the report is compared, if it is one.
    pub(super) fn is_part_of_report(&self) -> Option<bool> {
        let Self::Report { scope, .. } = self else { return None };
        Some(is_part_of(settings(scope, None, "").get("scope").map(String::as_str)))
    }

    /// Whether it has samples for `nsq flame` to compare.
    pub(super) fn has_samples(&self, catalog: &Catalog) -> bool {
        match self {
            Self::Report { opened, .. } => {
                let lack = Presence::new(&opened.schema, catalog).lack("cpu_sample");
                matches!(lack, Ok(None))
            }
            Self::Baseline(..) => false,
        }
    }
}

/// What the sides answer to the page, in their order. Reports are asked at once.
pub(super) fn answers(
    sides: &[Side],
    request: &PageRequest<'_>,
    asking: &Request<'_>,
    is_per_iteration: bool,
) -> Result<Vec<PageReport>> {
    let inputs = sides.iter().filter_map(|side| match side {
        Side::Report { name, opened, scope } => {
            Some(Input { scope: Some(scope.as_ref().clone()), ..Input::open(name.clone(), opened) })
        }
        Side::Baseline(..) => None,
    });
    let inputs: Vec<Input<'_>> = inputs.collect();
    let mut answered = asking.page_reports(request, &inputs)?.into_iter();
    let setting = SETTINGS.iter().find(|(_, setting)| *setting == is_per_iteration);
    let setting = setting.map_or("", |(name, _)| *name);
    let mut reports = Vec::new();
    for side in sides {
        reports.push(match side {
            Side::Report { .. } => {
                let Some((report, about)) = answered.next() else { break };
                tell_notes(&[about], 0, true);
                report
            }
            Side::Baseline(saved, path) => {
                let tables = saved.tables(setting, request.partials(), path)?;
                let about = ReportInput { name: side.name(), ..ReportInput::default() };
                request.given(about, &tables)
            }
        });
    }
    Ok(reports)
}

/// The parts of a scope that leave out no work, or the warm-up only, which is not compared.
const UNNARROWED: [&str; 5] = ["steady", "rank", "host", "attribute", "keep_names"];

/// Whether a scope, as it is saved, leaves out work that is compared, or names the steps.
pub(super) fn is_part_of(scope: Option<&str>) -> bool {
    parts(scope).keys().any(|key| !UNNARROWED.contains(&key.as_str()))
}

/// Whether a scope, as it is saved, has this part.
pub(super) fn has_part(scope: Option<&str>, part: &str) -> bool {
    parts(scope).contains_key(part)
}

/// The parts of a scope, as it is saved. What is as usual is left out.
fn parts(scope: Option<&str>) -> BTreeMap<String, serde_json::Value> {
    scope.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The error of a report that cannot be opened. If there is a baseline of its name, that is likely what is meant.
pub(super) fn or_baseline(path: &Path, error: Error) -> Error {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    match error {
        Error::Report { path, reason, .. } if reason == NO_FILE && baselines::has(&name) => {
            Error::Report {
                path,
                reason,
                help: format!("there is a baseline of this name: give @{name}"),
            }
        }
        error => error,
    }
}

/// The reports of a side. In a list of runs, folders and patterns stand for the reports in them.
pub(super) fn named(one: &Option<PathBuf>, runs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> = one.iter().cloned().collect();
    for run in runs {
        match run.is_file() || baselines::named(run).is_some() {
            true => all.push(run.clone()),
            false => all.extend(reports::named(std::slice::from_ref(run))?),
        }
    }
    Ok(all)
}

/// Refuses copies of a report as several runs of a side: they differ by nothing, as if there were no noise.
pub(super) fn must_be_others(runs: &[PathBuf]) -> Result<()> {
    for (place, run) in runs.iter().enumerate() {
        for other in &runs[..place] {
            if run == other || has_same_bytes(run, other) {
                return Err(is_copy(other, run, "report"));
            }
        }
    }
    Ok(())
}

/// Refuses several runs of a side with the same times, such as another export or a baseline of one run.
pub(super) fn must_be_other_runs(runs: Option<&ResultTable>, paths: &[PathBuf]) -> Result<()> {
    let Some(runs) = runs else { return Ok(()) };
    let is_b: Vec<Option<i64>> = runs.iter().map(|run| run.int("is_b")).collect();
    for (place, run) in runs.iter().enumerate() {
        let same = run.int("same_as").and_then(|same| usize::try_from(same).ok());
        let Some(same) = same.filter(|same| is_b.get(*same) == is_b.get(place)) else { continue };
        let (Some(other), Some(path)) = (paths.get(same), paths.get(place)) else { continue };
        return Err(is_copy(other, path, "run"));
    }
    Ok(())
}

fn is_copy(other: &Path, path: &Path, what: &str) -> Error {
    Error::usage(
        format!("{} and {} are the same {what}", other.display(), path.display()),
        "give other runs of the program: a copy says nothing about noise",
    )
}

/// Whether both are files with the same bytes. What cannot be read is an error when it is opened.
fn has_same_bytes(a: &Path, b: &Path) -> bool {
    let length =
        |path: &Path| path.metadata().ok().filter(|about| about.is_file()).map(|about| about.len());
    if length(a).is_none() || length(a) != length(b) {
        return false;
    }
    let (Ok(a), Ok(b)) = (File::open(a), File::open(b)) else { return false };
    // Reports of different runs differ within the first pages.
    let mut bytes =
        BufReader::with_capacity(1 << 16, a).bytes().zip(BufReader::with_capacity(1 << 16, b).bytes());
    bytes.all(|pair| matches!(pair, (Ok(x), Ok(y)) if x == y))
}
