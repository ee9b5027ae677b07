//! On damaged reports and traces, each query answers or gives a reason. None panics, hangs or exhausts
//! the memory.
//!
//! The damage is the same in every run. `NSQ_TEST_DEPTH=8` damages 40 copies of each file;
//! `NSQ_TEST_DEPTH=200 cargo test --test random fuzz -- --nocapture` damages 1000.
//! `NSQ_TEST_SEED=N` damages them in other ways. `NSQ_COPY=NAME#SEED` repeats one copy, with the same N.
//! `fuzz/` has a coverage-guided fuzzer.

mod asking;
mod damage;

use crate::support::{
    Fixtures, NEWEST_COMMON, depth_of, project, shared, shared_exports, traces, turn, versions,
};
use asking::{ALLOWED, Asker, Outcomes};
use damage::{Pages, Random, distort, distort_trace, flip, flip_database};
use flate2::read::GzDecoder;
use nsq::error::Error;
use nsq::trace::{ImportOptions, import};
use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Limit of the address space of the whole test, in bytes.
const MEMORY: u64 = 8 << 30;

/// Each copy is asked one in this many queries.
const SHARE: usize = 16;

/// Seeds of the damaged copies of the `nth` file.
///
/// A seed also selects the queries, their scope and their format. Each file gets the seeds that follow
/// those of the previous file, so that a shallow run still tries every seed on some file.
fn seeds(nth: usize) -> impl Iterator<Item = u64> {
    const ALL: usize = 40;
    /// More than any run tries, so that runs with other numbers have no seed in common.
    const RUN: u64 = 1_000_000;
    let run = std::env::var("NSQ_TEST_SEED")
        .map_or(0, |text| text.parse::<u64>().expect("NSQ_TEST_SEED must be a number"));
    let copies = depth_of(ALL);
    (0..copies).map(move |copy| {
        run.wrapping_mul(RUN).wrapping_add((((nth + turn()) * copies + copy) % copies.max(ALL)) as u64)
    })
}

/// The copy that `NSQ_COPY` selects.
fn only() -> Option<(String, u64)> {
    let text = std::env::var("NSQ_COPY").ok()?;
    let (name, seed) = text.rsplit_once('#').expect("NSQ_COPY must be NAME#SEED");
    Some((name.to_owned(), seed.parse().expect("NSQ_COPY must be NAME#SEED")))
}

/// A folder in memory, or on disk where `/dev/shm` is not writable.
fn folder() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// The outcomes for the copies of a set of files.
#[derive(Debug, Clone, Default)]
struct Tally {
    files: usize,
    copies: usize,
    outcomes: Outcomes,
    slowest: Duration,
}

/// Prints one line of the summary.
fn print(kind: &str, tally: &Tally) {
    let Outcomes { answered, lacking, refused, unopened } = &tally.outcomes;
    let refused: Vec<String> = refused.iter().map(|(about, count)| format!("{about} {count}")).collect();
    eprintln!(
        "{kind}: {} files, {} copies: {unopened} refused as a whole; queries: {answered} answered, \
         {lacking} lack data, refused: {}; slowest copy {:.1} s",
        tally.files,
        tally.copies,
        if refused.is_empty() { "none".to_owned() } else { refused.join(", ") },
        tally.slowest.as_secs_f64(),
    );
}

/// Runs a copy, and aborts the program if the copy hangs.
fn watched<T>(name: &str, run: impl FnOnce() -> T) -> T {
    let (done, ended) = mpsc::channel::<()>();
    let name = name.to_owned();
    let guard = std::thread::spawn(move || {
        if ended.recv_timeout(3 * ALLOWED) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("{name} hangs");
            std::process::abort();
        }
    });
    let result = run();
    drop(done);
    guard.join().unwrap();
    result
}

/// Tries copies of each file on two threads and adds up the outcomes.
fn try_all(
    kind: &str,
    files: &[PathBuf],
    try_one: impl Fn(&Asker, &Path, &Path, u64) -> Result<Outcomes, String> + Sync,
) {
    limit_memory();
    let tally = Mutex::new(Tally { files: files.len(), ..Tally::default() });
    let failures = Mutex::new(Vec::new());
    let work: Vec<(&PathBuf, u64)> = files
        .iter()
        .enumerate()
        .flat_map(|(nth, file)| seeds(nth).map(move |seed| (file, seed)))
        .collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = &work;
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let (asker, folder) = (Asker::new(SHARE), folder());
                loop {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some((file, seed)) = work.get(index) else { break };
                    let stem = file.file_name().unwrap().to_string_lossy().into_owned();
                    if only().is_some_and(|(name, only)| name != stem || only != *seed) {
                        continue;
                    }
                    let begin = Instant::now();
                    let name = format!("{stem}#{seed}");
                    let tried = watched(&name, || {
                        catch_unwind(AssertUnwindSafe(|| try_one(&asker, file, folder.path(), *seed)))
                    });
                    let took = begin.elapsed();
                    let mut tally = tally.lock().unwrap();
                    tally.copies += 1;
                    tally.slowest = tally.slowest.max(took);
                    match tried {
                        Ok(Ok(outcomes)) => tally.outcomes.add(&outcomes),
                        Ok(Err(what)) => failures.lock().unwrap().push(format!("{name}: {what}")),
                        Err(_) => failures.lock().unwrap().push(format!("{name}: a panic")),
                    }
                    // Print progress, so that a long run that is stopped still leaves a summary.
                    if tally.copies.is_multiple_of(1_000) {
                        print(kind, &tally);
                    }
                    if took > Duration::from_secs(5) {
                        eprintln!("{name} took {:.1} s", took.as_secs_f64());
                    }
                }
            });
        }
    });
    let (tally, failures) = (tally.into_inner().unwrap(), failures.into_inner().unwrap());
    print(kind, &tally);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(only().is_some() || tally.copies > 0, "{kind}: nothing to damage");
}

fn limit_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::As).maximum;
        let current = Some(maximum.map_or(MEMORY, |maximum| maximum.min(MEMORY)));
        setrlimit(Resource::As, Rlimit { current, maximum }).unwrap();
    }
}

/// Changes bytes in a copy of a database and queries it.
fn flipped(asker: &Asker, file: &Path, folder: &Path, seed: u64) -> Result<Outcomes, String> {
    let mut bytes = fs::read(file).unwrap();
    let pages = Pages::of(&bytes).unwrap();
    flip_database(&mut bytes, &pages, &mut Random(seed));
    let copy = folder.join("copy.sqlite");
    fs::write(&copy, &bytes).unwrap();
    asker.ask(&copy, seed)
}

/// Changes the contents of a copy of a database through SQL and queries it.
fn distorted(asker: &Asker, file: &Path, folder: &Path, seed: u64) -> Result<Outcomes, String> {
    let copy = folder.join("copy.sqlite");
    fs::write(&copy, fs::read(file).unwrap()).unwrap();
    distort(&copy, &mut Random(seed));
    asker.ask(&copy, seed)
}

/// One database per schema version and one per trace of the fixtures.
fn fixtures(fixtures: &Fixtures) -> Vec<PathBuf> {
    let of_version = versions().into_iter().map(|version| fixtures.version(&version, "nested_nvtx"));
    let of_trace = traces().into_iter().map(|trace| fixtures.version(NEWEST_COMMON, &trace));
    let mut files: Vec<PathBuf> = of_version.chain(of_trace).collect();
    files.sort();
    files.dedup();
    files
}

#[test]
fn fixtures_with_changed_bytes() {
    let made = Fixtures::new();
    try_all("fixtures, bytes", &fixtures(&made), flipped);
}

#[test]
fn fixtures_with_changed_contents() {
    let made = Fixtures::new();
    try_all("fixtures, contents", &fixtures(&made), distorted);
}

#[test]
fn exports_with_changed_bytes() {
    if shared().is_some() {
        try_all("exports, bytes", &shared_exports(), flipped);
    }
}

#[test]
fn exports_with_changed_contents() {
    if shared().is_some() {
        let mut files = shared_exports();
        files.retain(|file| file.metadata().unwrap().len() < 1_000_000);
        try_all("exports, contents", &files, distorted);
    }
}

/// Changes values of a trace, or sometimes bytes of its gzip data, and queries the import.
fn trace(asker: &Asker, file: &Path, folder: &Path, seed: u64) -> Result<Outcomes, String> {
    let mut random = Random(seed);
    let mut bytes = fs::read(file).unwrap();
    let is_packed = bytes.starts_with(&[0x1f, 0x8b]);
    if is_packed && seed % 8 == 7 {
        flip(&mut bytes, &mut random);
    } else {
        if is_packed {
            let mut text = Vec::new();
            GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).unwrap();
            bytes = text;
        }
        distort_trace(&mut bytes, &mut random);
    }
    let (copy, database) = (folder.join("copy.json"), folder.join("copy.sqlite"));
    fs::write(&copy, &bytes).unwrap();
    let _ = fs::remove_file(&database);
    match import(&copy, &database, ImportOptions::default(), &|_| true) {
        Ok(_) => asker.ask(&database, seed),
        Err(Error::Report { .. }) => Ok(Outcomes { unopened: 1, ..Outcomes::default() }),
        Err(other) => Err(format!("not imported: {other:?}")),
    }
}

#[test]
fn traces_with_changed_contents() {
    let mut files = vec![project("fixtures/trace.json.gz")];
    if let Some(shared) = shared() {
        let real = fs::read_dir(shared.join("data/torch")).unwrap().map(|entry| entry.unwrap().path());
        files.extend(real.filter(|file| file.metadata().unwrap().len() < 100_000));
    }
    files.sort();
    try_all("traces, contents", &files, trace);
}
