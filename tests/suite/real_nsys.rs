//! Exports with a real nsys, whose path is in `NSQ_TEST_NSYS`.
//!
//! The tests profile `tests/nsys/annotated.c`, export and query its report, and kill exports midway.
#![cfg(unix)]

use crate::support::{depth_of, interruptible, project, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

fn skipped(why: &str) {
    say(&format!("skipped: {why}"));
}

/// The real nsys. Without one, or without a C compiler, prints that and returns `None`.
fn real_nsys() -> Option<PathBuf> {
    let Some(nsys) = std::env::var_os("NSQ_TEST_NSYS").filter(|value| !value.is_empty()) else {
        skipped("NSQ_TEST_NSYS is not set");
        return None;
    };
    if Command::new("cc").arg("--version").output().is_err() {
        skipped("no C compiler (cc) on PATH");
        return None;
    }
    Some(PathBuf::from(nsys))
}

/// Profiles `annotated STEPS WRITES` and returns the report in `folder`, which also holds the cache.
///
/// On a busy machine, nsys now and then fails, for instance because it cannot reach its own daemon. Its
/// words are printed, and it is asked again. If it never captures, that is printed, and `None` is
/// returned: without a capture, there is nothing to ask nsq.
fn profile(nsys: &Path, folder: &Path, steps: usize, writes: usize) -> Option<PathBuf> {
    /// Captures of tests that run at the same time take turns.
    static TURN: Mutex<()> = Mutex::new(());
    let program = folder.join("annotated");
    let source = project("tests/nsys/annotated.c");
    let built = Command::new("cc").args(["-O1", "-o"]).arg(&program).arg(source).arg("-ldl").status();
    assert!(built.unwrap().success(), "the program could not be compiled");
    let report = folder.join("annotated.nsys-rep");
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for attempt in 1..=5 {
        let output = Command::new(nsys)
            .args(["profile", "-t", "nvtx,osrt", "--osrt-threshold=0", "-s", "none"])
            .args(["--cpuctxsw=none", "--force-overwrite", "true", "-o"])
            .arg(&report)
            .arg(&program)
            .args([steps.to_string(), writes.to_string()])
            .env("TMPDIR", folder)
            .output()
            .unwrap();
        if output.status.success() && report.is_file() {
            return Some(report);
        }
        say(&format!("attempt {attempt} to capture failed: {output:?}"));
        std::thread::sleep(Duration::from_secs(attempt));
    }
    skipped("nsys cannot capture here");
    None
}

fn nsq(nsys: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = interruptible();
    command
        .args(arguments)
        .env("NSQ_NSYS", nsys)
        .env("NSQ_CACHE", folder.join("cache"))
        .env_remove("NSQ_CACHE_SIZE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn answer(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The columns `range_name` and `calls` of nvtx_sum, sorted.
fn ranges(csv: &str) -> Vec<(String, u64)> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let at = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (calls, name) = (at("calls"), at("range_name"));
    let rows = reader.records().map(Result::unwrap);
    let mut ranges: Vec<_> =
        rows.map(|row| (row[name].to_owned(), row[calls].parse().unwrap())).collect();
    ranges.sort();
    ranges
}

#[test]
fn a_real_report_is_exported_and_queried() {
    let Some(nsys) = real_nsys() else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(report) = profile(&nsys, folder.path(), 3, 50) else { return };
    let path = report.to_str().unwrap();
    let ask = |more: &[&str]| {
        let arguments = [&["run", path, "-q", "nvtx_sum", "-f", "csv"], more].concat();
        answer(&nsq(&nsys, folder.path(), &arguments).output().unwrap())
    };
    // The program has three steps with two inner ranges each.
    let first = ask(&[]);
    assert_eq!(ranges(&first), [("inner".to_owned(), 6), ("step".to_owned(), 3)]);
    for option in [&[][..], &["--no-cache"], &["--verify"]] {
        assert_eq!(ask(option), first, "{option:?}");
    }
    // An export made by nsys itself gives the same answer. Without nsys, nsq uses it for the report: it
    // is beside the report, newer, and from the same session.
    let beside = report.with_extension("sqlite");
    let made = Command::new(&nsys)
        .args(["export", "--quiet", "true", "--type", "sqlite", "-o"])
        .args([&beside, &report])
        .status();
    assert!(made.unwrap().success());
    let own = ["run", beside.to_str().unwrap(), "-q", "nvtx_sum", "-f", "csv"];
    assert_eq!(answer(&nsq(&nsys, folder.path(), &own).output().unwrap()), first);
    let arguments = ["run", path, "-q", "nvtx_sum", "-f", "csv"];
    let mut without = nsq(&nsys, folder.path(), &arguments);
    without.env("NSQ_NSYS", "/no/such/nsys").env("NSQ_CACHE", folder.path().join("none"));
    assert_eq!(answer(&without.output().unwrap()), first);
    // An export of another session is not used, even under the same name.
    fs::remove_file(&beside).unwrap();
    let other = tempfile::tempdir().unwrap();
    let Some(other_report) = profile(&nsys, other.path(), 1, 0) else { return };
    let target = ["export", other_report.to_str().unwrap(), "-o", beside.to_str().unwrap()];
    answer(&nsq(&nsys, other.path(), &target).output().unwrap());
    assert!(!without.output().unwrap().status.success());
    assert_eq!(ask(&[]), first);
}

#[test]
fn errors_of_a_real_nsys_are_passed_on() {
    let Some(nsys) = real_nsys() else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(report) = profile(&nsys, folder.path(), 1, 0) else { return };
    let bytes = fs::read(&report).unwrap();
    // The version of the capturing nsys is in the first line, and again near the end.
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap();
    let line = String::from_utf8_lossy(line).into_owned();
    let year = line.split_once('@').unwrap().0.rsplit(' ').next().unwrap().to_owned();
    let newer = replace_all(&bytes, format!("{year}@").as_bytes(), b"2099@");
    let cases = [
        (&b"no capture"[..], "could not export it"),
        (&bytes[..bytes.len() / 2], "could not export it"),
        (&newer, "it was captured by nsys 2099."),
    ];
    for (bytes, expected) in cases {
        let broken = folder.path().join("broken.nsys-rep");
        fs::write(&broken, bytes).unwrap();
        let arguments = ["run", broken.to_str().unwrap(), "-q", "nvtx_sum"];
        let output = nsq(&nsys, folder.path(), &arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && error.contains(expected), "want {expected}\n{error}");
        assert!(error.contains("rror"), "nsys's own words are missing: {error}");
    }
    let left = fs::read_dir(folder.path().join("cache/exports")).unwrap().count();
    assert_eq!(left, 0);
}

fn replace_all(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = bytes.to_vec();
    let places = bytes.windows(from.len()).enumerate().filter(|(_, window)| *window == from);
    for (at, _) in places {
        replaced[at..at + to.len()].copy_from_slice(to);
    }
    replaced
}

#[test]
fn a_killed_real_export_does_not_affect_the_next_run() {
    let Some(nsys) = real_nsys() else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(report) = profile(&nsys, folder.path(), 5, 300_000) else { return };
    let path = report.to_str().unwrap();
    let arguments = ["run", path, "-q", "nvtx_sum", "-q", "osrt_sum", "-f", "json"];
    let ask = || nsq(&nsys, folder.path(), &arguments);
    let begin = Instant::now();
    let truth = answer(&ask().output().unwrap());
    let whole = begin.elapsed();
    assert!(truth.contains("\"write\"") && truth.contains("\"inner\""), "{truth}");
    let kills = depth_of(10);
    let exports = folder.path().join("cache/exports");
    let (mut seed, mut cut_short) = (0x9e37_79b9_7f4a_7c15u64, 0);
    for round in 0..kills {
        fs::remove_dir_all(&exports).unwrap();
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let mut run = ask().spawn().unwrap();
        std::thread::sleep(whole.mul_f64((seed % 1000) as f64 / 1000.0));
        cut_short += usize::from(run.try_wait().unwrap().is_none());
        run.kill().unwrap();
        run.wait().unwrap();
        assert_eq!(answer(&ask().output().unwrap()), truth, "round {round}");
        let left = fs::read_dir(&exports).unwrap().map(|entry| entry.unwrap().path());
        let mut kinds: Vec<_> = left.map(|path| path.extension().unwrap().to_owned()).collect();
        // A run killed at its very end leaves its lock and its work folder until the next export.
        kinds.retain(|kind| kind != "lock" && kind != "part");
        kinds.sort();
        assert_eq!(kinds, ["json", "sqlite"], "round {round}");
    }
    say(&format!(
        "{kills} kills within {} ms, {cut_short} of them before the answer",
        whole.as_millis()
    ));
}
