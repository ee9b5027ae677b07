//! Many reports: those that a command line names, and work on all of them in parallel.

use super::failures::{Failure, complain_of_all};
use super::options::{Clock, LimitArgs, ManyArgs};
use super::profiles::{Profile, find};
use super::{note, progress};
use crate::error::{Error, Result};
use crate::threads;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Most files open for one report: the database once for the statement and four times for a native
/// relation, the lock of a cached export, and SQLite's temporary files.
const FILES: usize = 12;
/// Most files open for other purposes.
const OTHER_FILES: usize = 16;

/// The reports that the arguments name: files, folders with all reports in them, and patterns such as
/// `'rank*.sqlite'`. Those of a folder or pattern are in the order of the numbers in their names.
pub(super) fn named(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut reports = Vec::new();
    for path in given {
        let mut found = if path.is_dir() {
            in_folder(path)?
        } else if path.exists() {
            vec![path.clone()]
        } else {
            matching(path)?
        };
        found.sort_by_cached_key(|path| numbers_apart(&path.to_string_lossy()));
        reports.extend(found);
    }
    Ok(reports)
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let found = find(folder)?;
    found.notes.iter().for_each(|text| note(text));
    if let Some((_, error)) = found.failures.into_iter().next() {
        return Err(error);
    }
    if found.profiles.is_empty() {
        return Err(Error::Report {
            path: folder.to_owned(),
            reason: "is a directory without a report".to_owned(),
            help: "give .sqlite, .nsys-rep or .qdrep files, or PyTorch's .json or .json.gz".to_owned(),
        });
    }
    Ok(found.profiles.iter().map(|profile: &Profile| profile.path().to_owned()).collect())
}

/// The files that a pattern matches; the path itself if it is none, or matches nothing.
fn matching(path: &Path) -> Result<Vec<PathBuf>> {
    let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']));
    let Some(files) = pattern.and_then(|pattern| glob::glob(pattern).ok()) else {
        return Ok(vec![path.to_owned()]);
    };
    let mut found = Vec::new();
    for file in files {
        found.push(file.map_err(|unreadable| {
            let path = unreadable.path().to_owned();
            Error::io(&path, unreadable.into())
        })?);
    }
    Ok(if found.is_empty() { vec![path.to_owned()] } else { found })
}

/// Texts and numbers in turn, so that `rank2` comes before `rank10`. Ties are in the order of the text.
fn numbers_apart(text: &str) -> (Vec<(String, u128)>, String) {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let number_at = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (name, from_number) = rest.split_at(number_at);
        let number_end = from_number.find(|c: char| !c.is_ascii_digit()).unwrap_or(from_number.len());
        let (number, after) = from_number.split_at(number_end);
        parts.push((name.to_owned(), number.parse().unwrap_or(0)));
        rest = after;
    }
    (parts, text.to_owned())
}

/// Works on as many reports at once as the limits on threads and open files allow, and shows how many are
/// done. The results are in the order of the paths; `None`: the work did not begin. With `--strict`, no
/// work begins after a failure.
pub(super) fn each<T: Send>(
    paths: &[PathBuf],
    ManyArgs { threads, strict }: &ManyArgs,
    limits: &LimitArgs,
    work: impl Fn(&Path, &mut Clock) -> Result<T> + Sync,
) -> (Vec<Option<Result<T>>>, Clock) {
    let allowed = threads.allow();
    let workers = allowed.min(paths.len()).min(open_files().saturating_sub(OTHER_FILES) / FILES).max(1);
    // Each worker gets an equal share of the threads for its own computations.
    threads::allow((allowed / workers).max(1));
    let clock = limits.start();
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
                    let answer = work(path, &mut clock);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns_name_reports_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["rank10.sqlite", "rank2.sqlite", "rank2b.sqlite", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let names = |given: &str| -> Vec<String> {
            let found = named(&[folder.path().join(given)]).unwrap();
            found.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(""), ["rank2.sqlite", "rank2b.sqlite", "rank10.sqlite"]);
        assert_eq!(names("rank*.sqlite"), ["rank2.sqlite", "rank2b.sqlite", "rank10.sqlite"]);
        assert_eq!(names("rank[0-9].sqlite"), ["rank2.sqlite"]);
        // What matches nothing is left to the error about the missing file.
        assert_eq!(names("host*.sqlite"), ["host*.sqlite"]);
        let empty = tempfile::tempdir().unwrap();
        assert!(named(&[empty.path().to_owned()]).is_err());
    }
}
