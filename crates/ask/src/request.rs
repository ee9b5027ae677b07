//! How reports are asked, and work on all of them in parallel.

use crate::input::{Input, Source};
use crate::open_report::OpenReport;
use crate::script::Script;
use nsq_engine::execute::Limits;
use nsq_engine::normalize::Scope;
use nsq_engine::scope::ScopeText;
use nsq_library::catalog::{Catalog, ClassMaps};
use nsq_value::error::{Error, Result};
use regex::Regex;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

/// Most files open for one report: the database once for the statement and four times for a native
/// relation, the lock of a cached export, and SQLite's temporary files.
const FILES: usize = 12;
/// Most files open for other purposes.
const OTHER_FILES: usize = 16;

/// How reports are asked: in which scope, with which class map, within which limits.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The library.
    pub catalog: &'a Catalog,
    /// The class maps, with the chosen one.
    pub classes: ClassMaps,
    /// The class map, if the user named one.
    pub class_map: Option<String>,
    /// The part of each report.
    pub scope: ScopeText,
    /// Names the iterations of each report, without leaving out other work.
    pub iteration_name: Option<String>,
    /// The parameters of queries as the user gave them, `key=value`: for explanations.
    pub params: Vec<String>,
    /// Takes the ranks of reports from their names. It has one group. Without it, `rank4` and the like count.
    pub rank_pattern: Option<Regex>,
    /// The limits. The time counts from when they were made, but not while a report is opened.
    pub limits: Limits,
    /// No report is begun after one has failed.
    pub is_strict: bool,
    /// Notes explain what the rows leave out, and why there are none.
    pub explains: bool,
    /// What comes before the questions, if they are a script.
    pub script: Option<Script>,
    /// Shows how many of many reports are done.
    pub show_reports: Option<fn(u64, u64)>,
}

/// A report that failed.
#[derive(Debug)]
pub struct Failed {
    /// Its name in answers.
    pub name: String,
    /// Its path.
    pub path: std::path::PathBuf,
    /// Why.
    pub error: Error,
}

/// Names that tell the rank: `rank4.pt.trace.json`, and of SGLang `…-TP-1-DP-0-PP-0…` or `…-TP-1-DECODE.trace.json`,
/// where the rank is that of the one kind of parallelism.
const RANK_NAMES: [&str; 3] = [
    r"(?i)(?:^|[^a-z])rank[-_]?(\d{1,7})(?:\D|$)",
    r"(?i)(?:^|[^a-z])TP-?(\d{1,7})-DP-?0-PP-?0(?:\D|$)",
    r"(?i)(?:^|[^a-z])TP-?(\d{1,7})(?:-(?:EXTEND|PREFILL|DECODE))?(?:[._]|$)",
];

/// A name that PyTorch gives to traces: host, process and time.
const HOST_NAME: &str = r"^(.+)_\d{1,10}\.\d{10,}\.pt\.trace\.json(?:\.gz)?$";

/// The host in the name of a file, if PyTorch named it.
fn host_in(name: &str) -> Option<String> {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HOST_NAME).ok());
    Some(PATTERN.as_ref()?.captures(name)?.get(1)?.as_str().to_owned())
}

/// The rank in the name of a file, if it follows one of the usual patterns.
fn rank_in(name: &str) -> Option<i64> {
    static PATTERNS: LazyLock<Vec<Regex>> =
        LazyLock::new(|| RANK_NAMES.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());
    PATTERNS.iter().find_map(|pattern| pattern.captures(name)?.get(1)?.as_str().parse().ok())
}

impl<'a> Request<'a> {
    /// The whole of each report, without limits.
    pub fn new(catalog: &'a Catalog) -> Self {
        Self {
            catalog,
            classes: catalog.classes().clone(),
            class_map: None,
            scope: ScopeText::default(),
            iteration_name: None,
            params: Vec::new(),
            rank_pattern: None,
            limits: Limits::default(),
            is_strict: false,
            explains: true,
            script: None,
            show_reports: None,
        }
    }

    /// The scope of a report.
    pub(crate) fn scope_of(&self, input: &Input<'_>, open: &OpenReport) -> Result<Scope> {
        if let Some(scope) = &input.scope {
            return Ok(scope.clone());
        }
        let mut scope = self.scope.resolve(&open.schema)?;
        let name = input.path.file_name().unwrap_or_default().to_string_lossy();
        scope.rank = self.rank_of(&name)?;
        scope.host = host_in(&name);
        scope.iteration_name.clone_from(&self.iteration_name);
        Ok(scope)
    }

    /// The rank that the name of a report says.
    fn rank_of(&self, name: &str) -> Result<Option<i64>> {
        let Some(pattern) = &self.rank_pattern else { return Ok(rank_in(name)) };
        let number = pattern.captures(name).and_then(|found| found.get(1));
        match number.and_then(|number| number.as_str().parse::<u32>().ok()) {
            Some(rank) => Ok(Some(i64::from(rank))),
            None => Err(Error::usage(
                format!("--rank-pattern {pattern} finds no rank in the name '{name}'"),
                "the pattern must match the name of each report, and its group must be a number",
            )),
        }
    }

    /// Works on as many reports at once as the limits on threads and open files allow, and no more than `most`. `work` gets the position of the
    /// report, and the report, or why it cannot be opened. The results are in the order of the reports; `None`: the work did not begin, because a report failed.
    pub(crate) fn each<T: Send>(
        &self,
        inputs: &[Input<'_>],
        most: usize,
        work: impl Fn(usize, Result<Opened<'_>>, &Limits) -> Result<T> + Sync,
    ) -> Vec<Option<Result<T>>> {
        let threads = self.limits.threads;
        let files = open_files().saturating_sub(OTHER_FILES) / FILES;
        let workers = threads.allowed().min(inputs.len()).min(files).min(most).max(1);
        // Each worker gets an equal share of the threads for its own computations.
        let limits = Limits { threads: threads.shared_by(workers), ..self.limits.clone() };
        let (next, done, failed) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let answers: Vec<Mutex<Option<Result<T>>>> = inputs.iter().map(|_| None.into()).collect();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let mut limits = limits.clone();
                    if inputs.len() > workers {
                        limits.progress.show = None;
                    }
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(input) = inputs.get(index) else { break };
                        if self.is_strict && failed.load(Ordering::Relaxed) {
                            break;
                        }
                        let opened = input.opened(&mut limits);
                        let answer = work(index, opened, &limits);
                        failed.fetch_or(answer.is_err(), Ordering::Relaxed);
                        if let Ok(mut slot) = answers[index].lock() {
                            *slot = Some(answer);
                        }
                        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                        if let (Some(show), true) = (self.show_reports, inputs.len() > workers) {
                            show(done, inputs.len() as u64);
                        }
                    }
                });
            }
        });
        answers.into_iter().map(|answer| answer.into_inner().ok().flatten()).collect()
    }
}

/// A report that is open for as long as it is asked.
pub(crate) enum Opened<'a> {
    Given(&'a OpenReport),
    Own(Box<OpenReport>),
}

impl Deref for Opened<'_> {
    type Target = OpenReport;

    fn deref(&self) -> &OpenReport {
        match self {
            Self::Given(report) => report,
            Self::Own(report) => report,
        }
    }
}

impl<'a> Input<'a> {
    /// The report. The deadline is put off by the time that opening it takes.
    pub(crate) fn opened(&self, limits: &mut Limits) -> Result<Opened<'a>> {
        match self.source {
            Source::Open(report) => Ok(Opened::Given(report)),
            Source::File(opener) => {
                let begin = Instant::now();
                let opened = opener(self.path);
                if let Some((deadline, _)) = &mut limits.deadline {
                    *deadline += begin.elapsed();
                }
                Ok(Opened::Own(Box::new(opened?)))
            }
        }
    }

    /// That this report failed.
    pub(crate) fn failed(&self, error: Error) -> Failed {
        Failed { name: self.name.clone(), path: self.path.to_owned(), error }
    }
}

/// The first error of reports that failed, where none may fail.
pub(crate) fn none_failed(failures: &mut Vec<Failed>) -> Result<()> {
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures.swap_remove(0).error),
    }
}

/// The limit on open files.
fn open_files() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        let most = getrlimit(Resource::Nofile).current;
        most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
    }
    #[cfg(not(unix))]
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_tell_ranks() {
        for (name, rank) in [
            ("rank4.pt.trace.json", Some(4)),
            ("rank10.sqlite", Some(10)),
            ("rank_3_trace.json", Some(3)),
            ("dp0_pp0_tp1_dcp0_ep1_rank1.1773709679453551615.pt.trace.json", Some(1)),
            ("1769071195.66-TP-1-DP-0-PP-0-EP-0.trace.json", Some(1)),
            ("1769071195.66-TP-1-DP-2-PP-0-EP-0.trace.json", None),
            ("1769071195.66-TP-3-EXTEND.trace.json.gz", Some(3)),
            ("1769071195.66-TP-0-DECODE.trace.json.gz", Some(0)),
            ("1769071195.66-TP-2.trace.json.gz", Some(2)),
            ("1769071195.66-TP-1-PP-1-DECODE.trace.json.gz", None),
            ("frank7.sqlite", None),
            ("rank.sqlite", None),
            ("report3.sqlite", None),
        ] {
            assert_eq!(rank_in(name), rank, "{name}");
        }
    }

    #[test]
    fn names_of_traces_tell_hosts() {
        for (name, host) in [
            ("r1t01_49177.1718116821717695876.pt.trace.json", Some("r1t01")),
            ("gpu_node-a_7.1718116821717695876.pt.trace.json.gz", Some("gpu_node-a")),
            ("host_1234.async_llm.1773709679453551615.pt.trace.json", None),
            ("worker0.170000000000.pt.trace.json", None),
            ("r1t01_49177.sqlite", None),
        ] {
            assert_eq!(host_in(name).as_deref(), host, "{name}");
        }
    }
}
