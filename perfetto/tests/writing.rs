//! What a run leaves: a whole file with the permissions of any other, or nothing.
#![cfg(unix)]

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A report with kernels, ranges and calls.
const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/example.sqlite");

/// Runs the program with this mask of permissions.
fn write(reports: usize, output: &Path, umask: &str) -> Command {
    let mut command = Command::new("sh");
    // A shell ignores signals for what it starts with `&`, such as these tests.
    let signals = if cfg!(target_os = "linux") { "env --default-signal=HUP,INT,TERM" } else { "" };
    let mask = format!("umask {umask}; exec {signals} \"$0\" \"$@\"");
    command.args(["-c", &mask, env!("CARGO_BIN_EXE_nsq-perfetto")]);
    command.args(std::iter::repeat_n(REPORT, reports)).arg("-o").arg(output);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn succeed(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_trace_has_the_permissions_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("trace.pftrace");
    for (umask, expected) in [("077", 0o600), ("022", 0o644)] {
        succeed(&write(1, &output, umask).output().unwrap());
        assert_eq!(mode(&output), expected);
        fs::remove_file(&output).unwrap();
    }
    // A replaced file keeps its own, and a link stays a link.
    fs::write(&output, "before").unwrap();
    fs::set_permissions(&output, PermissionsExt::from_mode(0o640)).unwrap();
    let (link, far) = (folder.path().join("link.pftrace"), folder.path().join("far.pftrace"));
    symlink(&output, &link).unwrap();
    symlink("new.pftrace", &far).unwrap();
    succeed(&write(1, &link, "022").output().unwrap());
    succeed(&write(1, &far, "022").output().unwrap());
    assert_eq!(mode(&output), 0o640);
    for (link, target) in [(link, output), (far, folder.path().join("new.pftrace"))] {
        assert!(fs::symlink_metadata(link).unwrap().is_symlink());
        assert!(fs::metadata(target).unwrap().len() > 1000);
    }
    assert_eq!(names(folder.path()).len(), 4);
}

/// A run that has begun to write.
fn begin(folder: &Path) -> Child {
    let mut run = write(127, &folder.join("trace.pftrace"), "022").spawn().unwrap();
    let begin = Instant::now();
    while names(folder).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60) && run.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    run
}

#[test]
fn a_signal_ends_a_run_with_one_sentence_and_nothing_left() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = tempfile::tempdir().unwrap();
        let run = begin(folder.path());
        kill_process(Pid::from_child(&run), signal).unwrap();
        let ended = run.wait_with_output().unwrap();
        let error = String::from_utf8(ended.stderr).unwrap();
        let said = error.lines().filter(|line| !line.starts_with("note: ")).collect::<Vec<_>>();
        assert_eq!((ended.status.code(), said), (Some(130), vec!["error: interrupted"]), "{signal:?}");
        assert!(names(folder.path()).is_empty(), "{signal:?}: {:?}", names(folder.path()));
    }
}

#[test]
fn the_next_run_removes_what_a_killed_run_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = begin(folder.path());
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(names(folder.path()).len(), 1);
    let output = folder.path().join("other.pftrace");
    succeed(&write(1, &output, "022").output().unwrap());
    assert_eq!(names(folder.path()), [output]);
}
