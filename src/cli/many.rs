//! Many reports: those that a command line names, and work on all of them in parallel.

use super::failures::{Failure, complain_of_all};
use super::options::{Clock, LimitArgs, ThreadArgs};
use super::{note, progress};
use nsq_report::report::report_paths;
use nsq_value::error::{Error, Result};
use regex::Regex;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Most files open for one report: the database once for the statement and four times for a native
/// relation, the lock of a cached export, and SQLite's temporary files.
const FILES: usize = 12;
/// Most files open for other purposes.
const OTHER_FILES: usize = 16;

/// How many reports are worked on.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct ManyArgs {
    #[command(flatten)]
    pub(super) threads: ThreadArgs,
    /// Stop at the first of several reports that fails, and print nothing.
    ///
    /// Without it, the failed reports are named, the others answer, and the exit code is 1.
    #[arg(long)]
    pub(super) strict: bool,
    /// Take ranks from file names where the reports do not tell, such as 'rank(\d+)'
    ///
    /// A regular expression whose one group is the number. It must match the name of each report.
    #[arg(long, value_name = "REGEX", value_parser = rank_pattern)]
    rank_pattern: Option<Regex>,
}

fn rank_pattern(text: &str) -> std::result::Result<Regex, String> {
    let pattern = Regex::new(text).map_err(|e| e.to_string())?;
    match pattern.captures_len() {
        2 => Ok(pattern),
        _ => Err("expected one group for the number, such as 'rank(\\d+)'".to_owned()),
    }
}

impl ManyArgs {
    /// The rank that the name of a report says; `None` without `--rank-pattern`.
    pub(super) fn rank_of(&self, path: &Path) -> Result<Option<i64>> {
        let Some(pattern) = &self.rank_pattern else { return Ok(None) };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number = pattern.captures(&name).and_then(|found| found.get(1));
        match number.and_then(|number| number.as_str().parse::<u32>().ok()) {
            Some(rank) => Ok(Some(i64::from(rank))),
            None => Err(Error::usage(
                format!("--rank-pattern {pattern} finds no rank in the name '{name}'"),
                "the pattern must match the name of each report, and its group must be a number",
            )),
        }
    }
}

/// The reports that the arguments name, as [`report_paths`] finds them. Skipped files are noted.
pub(super) fn named(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let (paths, notes) = report_paths(given)?;
    notes.iter().for_each(|text| note(text));
    Ok(paths)
}

/// Works on as many reports at once as the limits on threads and open files allow, and shows how many are
/// done. `work` gets the position of the path, and the path. The results are in the order of the paths; `None`: the work did not begin. With `--strict`, no
/// work begins after a failure.
pub(super) fn each<T: Send>(
    paths: &[PathBuf],
    ManyArgs { threads, strict, .. }: &ManyArgs,
    limits: &LimitArgs,
    work: impl Fn(usize, &Path, &mut Clock) -> Result<T> + Sync,
) -> (Vec<Option<Result<T>>>, Clock) {
    let threads = threads.most();
    let workers =
        threads.allowed().min(paths.len()).min(open_files().saturating_sub(OTHER_FILES) / FILES).max(1);
    // Each worker gets an equal share of the threads for its own computations.
    let clock = limits.start(threads.shared_by(workers));
    let (next, done, failed) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let answers: Vec<Mutex<Option<Result<T>>>> = paths.iter().map(|_| None.into()).collect();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut clock = clock.clone();
                if paths.len() > workers {
                    clock.show_no_progress();
                }
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(index) else { break };
                    if *strict && failed.load(Ordering::Relaxed) {
                        break;
                    }
                    let answer = work(index, path, &mut clock);
                    failed.fetch_or(answer.is_err(), Ordering::Relaxed);
                    if let Ok(mut slot) = answers[index].lock() {
                        *slot = Some(answer);
                    }
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if paths.len() > workers {
                        progress::show_reports(done, paths.len() as u64);
                    }
                }
            });
        }
    });
    progress::clear();
    (answers.into_iter().map(|answer| answer.into_inner().ok().flatten()).collect(), clock)
}

/// Prints why reports failed. Returns the most severe exit code, and whether the answers of the others are to be
/// printed: to standard output, but not to a file that would be incomplete.
pub(super) fn complain(
    failures: &[Failure<'_>],
    (answered, all): (usize, usize),
    many: &ManyArgs,
    output: Option<&Path>,
) -> (u8, bool) {
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
