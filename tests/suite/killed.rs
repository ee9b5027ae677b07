//! Killed runs, full disks, links and foreign cache folders: the next run is correct and no file is
//! left.
#![cfg(unix)]

use crate::support::{Fixtures, depth_of, interruptible, project};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder with a trace, a folder for results, and a cache.
struct Bench {
    fixtures: Fixtures,
}

impl Bench {
    fn new() -> Self {
        let fixtures = Fixtures::new();
        for folder in ["tmp", "out"] {
            fs::create_dir(fixtures.path().join(folder)).unwrap();
        }
        Self { fixtures }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.fixtures.path().join(name)
    }

    fn nsq(&self, arguments: &[&str]) -> Command {
        let mut command = interruptible();
        for variable in ["NSQ_PATH", "NSQ_CACHE_SIZE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "COLUMNS"] {
            command.env_remove(variable);
        }
        command
            .args(arguments)
            .env("HOME", "/nonexistent")
            .env("NSQ_CACHE", self.path("cache"))
            .env("NSQ_NSYS", project("tests/nsys/fake.sh"))
            .env("FAKE_LOG", self.path("log"))
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn ask(&self, report: &Path) -> Command {
        self.nsq(&["run", report.to_str().unwrap(), "-q", "top_kernels", "-f", "csv"])
    }

    /// A trace that takes a while to import. Each length of `name` gives a different cache key.
    fn trace(&self, name: &str, events: usize) -> PathBuf {
        let mut text = "{\"schemaVersion\": 1, \"traceEvents\": [".to_owned();
        for event in 0..events {
            let (start, comma) = (1_000_000 + event * 20, if event == 0 { "" } else { "," });
            writeln!(
                text,
                "{comma}{{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 7, \
                 \"tid\": 7, \"ts\": {start}.125, \"dur\": 4.5, \"args\": {{\"correlation\": {event}}}}},\
                 {{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"kernel_{}<float>\", \"pid\": 0, \"tid\": 7, \
                 \"ts\": {}.250, \"dur\": 9.{:03}, \"args\": {{\"device\": 0, \"context\": 1, \"stream\": 7, \
                 \"correlation\": {event}}}}}",
                event % 50,
                start + 6,
                event % 1000,
            )
            .unwrap();
        }
        text.push_str("]}\n");
        // Trailing spaces change the cache key but not the events.
        text.push_str(&" ".repeat(name.len()));
        let path = self.path(&format!("{name}.json"));
        fs::write(&path, text).unwrap();
        path
    }

    fn names(&self, folder: &str) -> Vec<String> {
        names(&self.path(folder))
    }

    /// The cache holds whole entries. A run that was killed at its very end may have left its lock and its
    /// work folder beside its entry, until something else is made.
    fn assert_cache_is_whole(&self) {
        let names = self.names("cache/traces");
        let has = |name: String| names.contains(&name);
        for name in &names {
            let stem = name.split('.').next().unwrap();
            let is_whole = has(format!("{stem}.sqlite")) && has(format!("{stem}.json"));
            assert!(is_whole, "{name} belongs to no whole entry: {names:?}");
        }
    }

    /// The cache holds whole entries and nothing else.
    fn assert_cache_is_clean(&self) {
        self.assert_cache_is_whole();
        let names = self.names("cache/traces");
        let is_part = |name: &&String| !name.ends_with(".sqlite") && !name.ends_with(".json");
        assert_eq!(names.iter().find(is_part), None, "{names:?}");
    }
}

/// The names in a folder, sorted. Empty if there is no folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn answer(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Exit code and standard error.
fn failure(output: &Output) -> (i32, String) {
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Kills runs at random moments, and calls `check` after each.
fn kill_at_random(run: impl Fn(usize) -> Child, check: impl Fn(usize)) {
    let kills = depth_of(10);
    let begin = Instant::now();
    run(0).wait_with_output().unwrap();
    let micros = begin.elapsed().as_micros() as u64;
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    for round in 1..=kills {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let mut run = run(round);
        std::thread::sleep(Duration::from_micros(seed % (micros + micros / 20)));
        run.kill().unwrap();
        run.wait().unwrap();
        check(round);
    }
}

#[test]
fn a_killed_import_into_the_cache_is_repeated() {
    let bench = Bench::new();
    let truth = answer(&bench.ask(&bench.trace("truth", 5_000)).output().unwrap());
    let traces = |round: usize| bench.path(&format!("{}.json", "x".repeat(round + 6)));
    kill_at_random(
        |round| bench.ask(&bench.trace(&"x".repeat(round + 6), 5_000)).spawn().unwrap(),
        |round| {
            let trace = traces(round);
            assert_eq!(answer(&bench.ask(&trace).output().unwrap()), truth, "round {round}");
            bench.assert_cache_is_whole();
            fs::remove_file(trace).unwrap();
        },
    );
    assert_eq!(answer(&bench.ask(&bench.trace("last", 5_000)).output().unwrap()), truth);
    bench.assert_cache_is_clean();
    assert!(bench.names("tmp").is_empty());
}

#[test]
fn a_killed_import_leaves_its_output_complete_or_absent() {
    let bench = Bench::new();
    let trace = bench.trace("run", 5_000);
    let (trace, target) = (trace.to_str().unwrap(), bench.path("out/run.sqlite"));
    let import = || bench.nsq(&["import", trace, "--force", "-o", target.to_str().unwrap()]);
    answer(&import().output().unwrap());
    let truth = fs::read(&target).unwrap();
    kill_at_random(
        |round| {
            // In odd rounds the old file exists, and must stay until the new one is complete.
            if round % 2 == 0 {
                let _ = fs::remove_file(&target);
            }
            import().spawn().unwrap()
        },
        |round| {
            let left = fs::read(&target);
            assert!(round % 2 == 0 || left.is_ok(), "round {round}: the old file is gone");
            assert!(
                left.is_err() || left.is_ok_and(|left| left == truth),
                "round {round}: the file is incomplete"
            );
            answer(&import().output().unwrap());
            assert!(fs::read(&target).unwrap() == truth, "round {round}");
            assert_eq!(bench.names("out"), ["run.sqlite"], "round {round}");
        },
    );
}

#[test]
fn every_command_writes_its_output_whole_or_not_at_all() {
    let bench = Bench::new();
    let report = bench.path("report.sqlite");
    let trace = bench.trace("run", 5_000);
    answer(
        &bench
            .nsq(&["import", trace.to_str().unwrap(), "-o", report.to_str().unwrap()])
            .output()
            .unwrap(),
    );
    let report = report.to_str().unwrap();
    for arguments in [
        vec!["run", report, "-q", "cuda_gpu_trace", "-f", "csv", "-o"],
        vec!["materialize", report, "--force", "-o"],
        vec!["sql", report, "SELECT * FROM kernel", "-f", "ndjson", "-o"],
    ] {
        let target = bench.path("out/result");
        let mut arguments = arguments.clone();
        arguments.push(target.to_str().unwrap());
        answer(&bench.nsq(&arguments).output().unwrap());
        let truth = fs::read(&target).unwrap();
        kill_at_random(
            |_| bench.nsq(&arguments).spawn().unwrap(),
            |round| {
                assert!(fs::read(&target).unwrap() == truth, "{arguments:?}, round {round}");
                answer(&bench.nsq(&arguments).output().unwrap());
                assert_eq!(bench.names("out"), ["result"], "{arguments:?}, round {round}");
            },
        );
        fs::remove_file(&target).unwrap();
    }
}

#[test]
fn the_next_run_removes_a_killed_export_but_not_a_live_one() {
    let bench = Bench::new();
    let export = bench.fixtures.trace("two_streams_overlap");
    let capture = bench.path("run.nsys-rep");
    fs::write(&capture, "NVIDIA Tegra Profiler Report 2023@4@4@54-1v0.\ndo: sleep\n").unwrap();
    let target = bench.path("out/run.sqlite");
    let pid_file = bench.path("log.pid");
    let begin = || {
        let arguments = ["export", capture.to_str().unwrap(), "-o", target.to_str().unwrap()];
        let run = bench.nsq(&arguments).env("FAKE_EXPORT", &export).spawn().unwrap();
        let begin = Instant::now();
        while !pid_file.exists() {
            assert!(begin.elapsed() < Duration::from_secs(20), "timed out waiting for nsys to sleep");
            std::thread::sleep(Duration::from_millis(5));
        }
        fs::remove_file(&pid_file).unwrap();
        run
    };
    let (mut killed, mut alive) = (begin(), begin());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(bench.names("out").len(), 2);
    let result = bench.path("out/top.csv");
    let ask = || answer(&bench.ask(&export).arg("-o").arg(&result).output().unwrap());
    ask();
    assert_eq!(bench.names("out").len(), 2, "the live run's file and the result must be left");
    alive.kill().unwrap();
    alive.wait().unwrap();
    ask();
    assert_eq!(bench.names("out"), ["top.csv"]);
}

#[test]
fn a_signal_ends_a_write_with_one_sentence_and_nothing_left() {
    use rustix::process::{Pid, Signal, kill_process};
    let bench = Bench::new();
    let trace = bench.trace("run", 150_000);
    let target = bench.path("out/run.sqlite");
    let import = || bench.nsq(&["import", trace.to_str().unwrap(), "-o", target.to_str().unwrap()]);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let run = import().spawn().unwrap();
        let begin = Instant::now();
        while bench.names("out").is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(20), "timed out waiting for the import");
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_process(Pid::from_child(&run), signal).unwrap();
        let ended = failure(&run.wait_with_output().unwrap());
        assert_eq!(ended, (130, "error: interrupted\n".to_owned()), "{signal:?}");
        assert!(bench.names("out").is_empty(), "{signal:?}");
    }
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    use rustix::process::{Pid, Signal, kill_process};
    let bench = Bench::new();
    let trace = bench.trace("run", 150_000);
    let target = bench.path("out/run.sqlite");
    let import = bench.nsq(&["import", trace.to_str().unwrap(), "-o", target.to_str().unwrap()]);
    // As `nohup` starts a program.
    let mut run = Command::new("sh");
    run.args(["-c", "trap '' HUP INT TERM; exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_nsq"));
    run.args(import.get_args().skip_while(|word| *word != "import"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    run.envs(import.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let run = run.spawn().unwrap();
    let begin = Instant::now();
    while bench.names("out").is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(20), "timed out waiting for the import");
        std::thread::sleep(Duration::from_millis(1));
    }
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        kill_process(Pid::from_child(&run), signal).unwrap();
    }
    answer(&run.wait_with_output().unwrap());
    assert_eq!(bench.names("out"), ["run.sqlite"]);
}

#[test]
fn any_later_run_removes_what_a_killed_one_left() {
    let bench = Bench::new();
    let trace = bench.trace("run", 150_000);
    let target = bench.path("out/run.sqlite");
    let mut run =
        bench.nsq(&["import", trace.to_str().unwrap(), "-o", target.to_str().unwrap()]).spawn().unwrap();
    let begin = Instant::now();
    while names(&bench.path("out"))
        .first()
        .is_none_or(|folder| bench.names(&format!("out/{folder}")).len() < 2)
    {
        assert!(begin.elapsed() < Duration::from_secs(20), "timed out waiting for the import");
        std::thread::sleep(Duration::from_millis(1));
    }
    // It writes elsewhere, and the other run still lives.
    answer(&bench.nsq(&["list"]).output().unwrap());
    assert_eq!(bench.names("out").len(), 1);
    run.kill().unwrap();
    run.wait().unwrap();
    answer(&bench.nsq(&["list"]).output().unwrap());
    assert!(bench.names("out").is_empty() && bench.names("cache").is_empty());
}

/// A small tmpfs, mounted if this user may do so.
struct Disk(PathBuf);

impl Disk {
    fn new(at: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(&at)
            .stderr(Stdio::null())
            .status();
        let is_mounted = mount.is_ok_and(|status| status.success());
        if !is_mounted {
            eprintln!("skipped: cannot mount a tmpfs");
        }
        is_mounted.then_some(Self(at))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_reported_and_no_file_is_left() {
    let bench = Bench::new();
    let Some(disk) = Disk::new(bench.path("disk"), "256k") else { return };
    let trace = bench.trace("run", 5_000);
    let report = bench.path("report.sqlite");
    answer(
        &bench
            .nsq(&["import", trace.to_str().unwrap(), "-o", report.to_str().unwrap()])
            .output()
            .unwrap(),
    );
    let capture = bench.path("run.nsys-rep");
    fs::write(&capture, "NVIDIA Tegra Profiler Report 2023@4@4@54-1v0.\ndo: export\n").unwrap();
    let (trace, report, capture) =
        (trace.to_str().unwrap(), report.to_str().unwrap(), capture.to_str().unwrap());
    let target = disk.0.join("result");
    for arguments in [
        vec!["run", report, "-q", "cuda_gpu_trace", "-f", "csv", "-o"],
        vec!["materialize", report, "-o"],
        vec!["import", trace, "-o"],
        vec!["export", capture, "-o"],
    ] {
        let mut command = bench.nsq(&arguments);
        let (code, error) = failure(&command.arg(&target).env("FAKE_EXPORT", report).output().unwrap());
        assert_eq!(code, 1, "{arguments:?}: {error}");
        assert!(error.contains("/disk") || error.contains("run.nsys-rep"), "{arguments:?}: {error}");
        assert!(error.contains("  help: "), "{arguments:?}: {error}");
        assert!(names(&disk.0).is_empty(), "{arguments:?}: {:?}", names(&disk.0));
    }
    // The cache folder and the temporary folder.
    for (variable, option) in [("NSQ_CACHE", "--verify"), ("TMPDIR", "--no-cache")] {
        for input in [trace, capture] {
            let mut command = bench.ask(Path::new(input));
            command.arg(option).env(variable, &disk.0).env("FAKE_EXPORT", report);
            let (code, error) = failure(&command.output().unwrap());
            assert_eq!(code, 1, "{variable}: {error}");
            assert!(error.contains("  help: "), "{variable} {input}: {error}");
            let left: Vec<String> = ["", "traces", "exports"]
                .iter()
                .flat_map(|folder| names(&disk.0.join(folder)))
                .filter(|name| !["traces", "exports"].contains(&name.as_str()))
                .collect();
            assert!(left.is_empty(), "{variable} {input}: {left:?}");
        }
    }
    // A device is written to directly.
    if fs::metadata("/dev/full").is_ok_and(|metadata| metadata.file_type().is_char_device()) {
        let mut command = bench.ask(Path::new(report));
        let (code, error) = failure(&command.args(["-o", "/dev/full"]).output().unwrap());
        assert!(code == 1 && error.contains("/dev/full: No space left"), "{error}");
    }
}

#[test]
fn a_full_cache_disk_does_not_fail_a_run() {
    let bench = Bench::new();
    let Some(disk) = Disk::new(bench.path("disk"), "256k") else { return };
    let trace = bench.trace("run", 5_000);
    let capture = bench.path("run.nsys-rep");
    fs::write(&capture, "NVIDIA Tegra Profiler Report 2023@4@4@54-1v0.\ndo: export\n").unwrap();
    let report = bench.path("report.sqlite");
    let import = ["import", trace.to_str().unwrap(), "-o", report.to_str().unwrap()];
    answer(&bench.nsq(&import).output().unwrap());
    let truth = answer(&bench.ask(&report).output().unwrap());
    let ask = |input: &Path| {
        let mut command = bench.ask(input);
        command.env_remove("NSQ_CACHE").env("XDG_CACHE_HOME", &disk.0).env("FAKE_EXPORT", &report);
        let output = command.output().unwrap();
        assert_eq!(answer(&output), truth);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("note: the cache folder ") && said.contains("kept for this run only"),
            "{said}"
        );
        assert_eq!(said.lines().filter(|line| line.contains("cache")).count(), 1, "{said}");
        assert!(bench.names("tmp").is_empty() && bench.names("disk/nsq/traces").is_empty());
        assert!(bench.names("disk/nsq/exports").is_empty());
    };
    ask(&trace);
    ask(&capture);
}

#[test]
fn a_full_scratch_disk_is_one_error_for_all_reports() {
    let bench = Bench::new();
    let Some(disk) = Disk::new(bench.path("disk"), "256k") else { return };
    let traces = ["a", "bb", "ccc", "dddd"].map(|name| bench.trace(name, 5_000));
    // First the disk gets full on the way, then it is full.
    for fill in [0, 256 << 10] {
        let _ = fs::write(disk.0.join("all"), vec![1; fill]);
        let mut command = bench.nsq(&["run"]);
        command
            .args(&traces)
            .args(["-q", "top_kernels", "-f", "csv", "--no-cache"])
            .env("TMPDIR", &disk.0);
        let (code, error) = failure(&command.output().unwrap());
        assert_eq!(code, 1, "{error}");
        assert_eq!(error.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{error}");
        assert!(
            error.contains(disk.0.to_str().unwrap()) && error.contains("help: free space there"),
            "{error}"
        );
        assert!(error.lines().count() <= 4, "{error}");
        assert_eq!(bench.names("disk"), ["all"]);
    }
}

#[test]
fn links_are_followed_and_loops_are_rejected() {
    let bench = Bench::new();
    let report = bench.fixtures.trace("two_streams_overlap");
    let truth = answer(&bench.ask(&report).output().unwrap());
    let (link, from, to) = (bench.path("link.sqlite"), bench.path("a.sqlite"), bench.path("b.sqlite"));
    symlink(&report, &link).unwrap();
    symlink(&from, &to).unwrap();
    symlink(&to, &from).unwrap();
    assert_eq!(answer(&bench.ask(&link).output().unwrap()), truth);
    let (code, error) = failure(&bench.ask(&from).output().unwrap());
    assert!(code == 1 && error.contains("a.sqlite: ") && error.contains("symbolic links"), "{error}");
    // A loop is also rejected as output. An output through a link replaces the link's target.
    let (code, error) = failure(&bench.ask(&report).arg("-o").arg(&from).output().unwrap());
    assert!(code == 1 && error.contains("symbolic links"), "{error}");
    let (target, link) = (bench.path("out/result.csv"), bench.path("result.csv"));
    fs::write(&target, "old").unwrap();
    symlink(&target, &link).unwrap();
    answer(&bench.ask(&report).arg("-o").arg(&link).output().unwrap());
    assert_eq!(fs::read_to_string(&target).unwrap(), truth);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn the_cache_must_belong_to_the_user() {
    let bench = Bench::new();
    let trace = bench.trace("run", 10);
    let truth = answer(&bench.ask(&trace).output().unwrap());
    // A link to the user's own folder is accepted.
    fs::rename(bench.path("cache"), bench.path("elsewhere")).unwrap();
    symlink(bench.path("elsewhere"), bench.path("cache")).unwrap();
    assert_eq!(answer(&bench.ask(&trace).output().unwrap()), truth);
    assert_eq!(bench.names("elsewhere/traces").len(), 2);
    // A folder open to all is made private before it is used.
    let traces = bench.path("elsewhere/traces");
    fs::set_permissions(&traces, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(answer(&bench.ask(&trace).output().unwrap()), truth);
    assert_eq!(fs::metadata(&traces).unwrap().mode() & 0o777, 0o700);
    // Files and folders of another user are not trusted. Only root can set that up.
    let planted = names(&traces).into_iter().find(|name| name.ends_with(".sqlite")).unwrap();
    if std::os::unix::fs::chown(traces.join(&planted), Some(12_345), None).is_err() {
        eprintln!("skipped: only root can make another user's file");
        return;
    }
    let inode = fs::metadata(traces.join(&planted)).unwrap().ino();
    assert_eq!(answer(&bench.ask(&trace).output().unwrap()), truth);
    let now = fs::metadata(traces.join(&planted)).unwrap();
    assert!(now.ino() != inode && now.uid() != 12_345, "the entry must be made again");
    std::os::unix::fs::chown(&traces, Some(12_345), None).unwrap();
    let (code, error) = failure(&bench.ask(&trace).output().unwrap());
    assert!(code == 1 && error.contains("belongs to another user"), "{error}");
}
