//! Captures are exported once. nsys may fail in any way, and an incomplete export is never used.
#![cfg(unix)]

use crate::support::{Fixtures, depth_of, interruptible, project, write_program};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// A folder with captures, a fake nsys that they control, and a cache.
struct Bench {
    fixtures: Fixtures,
    export: PathBuf,
    nsys: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let fixtures = Fixtures::new();
        let export = fixtures.trace("two_streams_overlap");
        fs::create_dir(fixtures.path().join("tmp")).unwrap();
        let nsys = fixtures.path().join("nsys");
        write_program(&nsys, &fs::read(project("tests/nsys/fake.sh")).unwrap());
        Self { fixtures, export, nsys }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.fixtures.path().join(name)
    }

    /// A capture that makes the fake nsys do `action`. Each name gives a different capture.
    fn capture(&self, name: &str, action: &str) -> PathBuf {
        let path = self.path(&format!("{name}.nsys-rep"));
        let head = "NVIDIA Tegra Profiler Report 2023@4@4@54-1v0.";
        fs::write(&path, format!("{head}\ndo: {action}\nname: {name}\n")).unwrap();
        path
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
            .env("NSQ_NSYS", &self.nsys)
            .env("TMPDIR", self.path("tmp"))
            .env("FAKE_EXPORT", &self.export)
            .env("FAKE_LOG", self.path("log"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn ask(&self, capture: &Path) -> Command {
        self.nsq(&["run", capture.to_str().unwrap(), "-q", "top_kernels", "-f", "csv"])
    }

    /// The answer of the export itself.
    fn truth(&self) -> String {
        answer(&self.ask(&self.export).output().unwrap())
    }

    /// How often nsys was run to export.
    fn exports(&self) -> usize {
        fs::read_to_string(self.path("log")).unwrap_or_default().lines().count()
    }

    /// The names in a folder, sorted. Empty if there is no folder.
    fn names(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(folder))
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The number of cache entries. Panics if the cache contains anything else.
    fn kept(&self) -> usize {
        let names = self.names("cache/exports");
        let ends = |end: &str| names.iter().filter(|name| name.ends_with(end)).count();
        assert_eq!(ends(".sqlite"), ends(".json"), "{names:?}");
        assert_eq!(names.len(), 2 * ends(".sqlite"), "an incomplete file is left: {names:?}");
        ends(".sqlite")
    }
}

fn answer(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Exit code and standard error.
fn failure(output: &Output) -> (i32, String) {
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_there() {
        assert!(begin.elapsed() < Duration::from_secs(20), "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_capture_is_exported_once() {
    let bench = Bench::new();
    let capture = bench.capture("run", "export");
    for _ in 0..3 {
        assert_eq!(answer(&bench.ask(&capture).output().unwrap()), bench.truth());
    }
    assert_eq!((bench.exports(), bench.kept()), (1, 1));
    // The cache key does not depend on name or folder. A changed file gets a new entry.
    let moved = bench.path("moved.qdrep");
    fs::rename(&capture, &moved).unwrap();
    answer(&bench.ask(&moved).output().unwrap());
    assert_eq!(bench.exports(), 1);
    fs::OpenOptions::new().append(true).open(&moved).unwrap().write_all(b"more\n").unwrap();
    answer(&bench.ask(&moved).output().unwrap());
    assert_eq!((bench.exports(), bench.kept()), (2, 2));
    assert_eq!(
        bench.names(""),
        ["cache", "log", "moved.qdrep", "nsys", "tmp", "two_streams_overlap-3.25.0.sqlite"]
    );
    assert!(bench.names("tmp").is_empty());
}

#[test]
fn each_failure_of_nsys_is_reported_and_leaves_no_files() {
    let bench = Bench::new();
    let cases = [
        ("garbage", "is not a database (it begins with \"garbage"),
        ("half", "is cut short: 20000 bytes"),
        ("zeros", "is unfinished: its header is empty"),
        ("nothing", "is missing"),
        ("tables", "is unfinished: its header is empty"),
        ("journal", "has an unfinished transaction"),
        ("crash", "signal: 11"),
        ("shout", "no room\\u{1b}[31m"),
        ("refuse", "(2023.4.4) could not export it (exit status: 1): Exportation error: Cannot read"),
        ("full", "no space left for its export in"),
        ("hole", "but its output is damaged: "),
        ("append", "changed while it was being read"),
    ];
    for (action, expected) in cases {
        let capture = bench.capture(action, action);
        let (code, error) = failure(&bench.ask(&capture).output().unwrap());
        assert!(code == 1 && error.contains(expected), "{action}: want {expected}\n{error}");
        assert!(error.contains("  help: ") && error.len() < 20_000, "{action}: {error}");
        if action == "full" {
            let folder = bench.path("cache/exports");
            assert!(error.contains(&format!("in {}\n", folder.display())), "{error}");
        }
        assert_eq!(bench.kept(), 0, "{action}");
        let target = bench.path("out.sqlite");
        let export = ["export", capture.to_str().unwrap(), "-o", target.to_str().unwrap()];
        if action != "append" {
            assert_eq!(failure(&bench.nsq(&export).output().unwrap()).0, 1, "{action}");
            assert!(!target.exists(), "{action}");
        }
        let (code, _) = failure(&bench.ask(&capture).arg("--no-cache").output().unwrap());
        assert_eq!((code, bench.names("tmp").len()), (1, 0), "{action}");
        fs::remove_file(&capture).unwrap();
    }
    let rest = bench.names("");
    assert_eq!(rest, ["cache", "log", "nsys", "tmp", "two_streams_overlap-3.25.0.sqlite"]);
}

#[test]
fn a_newer_nsys_is_tried_after_one_that_is_too_old() {
    let bench = Bench::new();
    let capture = bench.path("run.nsys-rep");
    fs::write(&capture, "NVIDIA Tegra Profiler Report 2026@2@1@210-1v0.\ndo: new\n").unwrap();
    let folders: Vec<PathBuf> = ["2022.1.3.3-1v0", "2026.3.1.1-1v0"]
        .into_iter()
        .map(|version| {
            let folder = bench.path(version);
            fs::create_dir(&folder).unwrap();
            fs::copy(&bench.nsys, folder.join("nsys")).unwrap();
            fs::write(folder.join("version"), version).unwrap();
            folder
        })
        .collect();
    let tools = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<_>>();
    let path = std::env::join_paths(folders.iter().chain(&tools)).unwrap();
    let mut command = bench.ask(&capture);
    assert_eq!(
        answer(&command.env_remove("NSQ_NSYS").env("PATH", path).output().unwrap()),
        bench.truth()
    );
    let asked = fs::read_to_string(bench.path("log")).unwrap();
    assert_eq!(asked, "2022.1.3.3-1v0\n2026.3.1.1-1v0\n");
    // With --nsys, only that one is tried, and the error names the version needed.
    let old = folders[0].join("nsys");
    let mut command = bench.ask(&capture);
    command.args(["--no-cache", "--nsys"]).arg(&old);
    let (code, error) = failure(&command.output().unwrap());
    assert!(code == 1 && error.contains("(2022.1.3) could not export it"), "{error}");
    assert!(error.contains("help: it was captured by nsys 2026.2.1: install that version"), "{error}");
    let mut command = bench.ask(&capture);
    command.args(["--no-cache", "--nsys", "/no/such/nsys"]);
    let (code, error) = failure(&command.output().unwrap());
    assert!(code == 1 && error.contains("cannot start /no/such/nsys"), "{error}");
}

#[test]
fn without_nsys_the_error_says_how_to_export() {
    let bench = Bench::new();
    let capture = bench.capture("run", "export");
    let mut command = bench.ask(&capture);
    let (code, error) = failure(&command.env_remove("NSQ_NSYS").env("PATH", "").output().unwrap());
    if !Path::new("/opt/nvidia").exists() && !error.contains("/usr/local/") {
        assert!(code == 1 && error.contains("no `nsys` was found"), "{error}");
        assert!(error.contains("install Nsight Systems 2023.4.4 or newer"), "{error}");
        assert!(error.contains("nsys export --type sqlite -o"), "{error}");
    }
    // `nsys export` cannot read a .qdstrm file, so the error names QdstrmImporter.
    let raw = bench.path("run.qdstrm");
    fs::write(&raw, "raw").unwrap();
    let (code, error) = failure(&bench.ask(&raw).output().unwrap());
    assert!(code == 1 && error.contains("QdstrmImporter --input-file"), "{error}");
    assert_eq!(bench.exports(), 0);
}

#[test]
fn eight_concurrent_runs_export_once() {
    let bench = Bench::new();
    let capture = bench.capture("run", "slowly");
    let runs: Vec<Child> = (0..8).map(|_| bench.ask(&capture).spawn().unwrap()).collect();
    let truth = bench.truth();
    for run in runs {
        assert_eq!(answer(&run.wait_with_output().unwrap()), truth);
    }
    assert_eq!((bench.exports(), bench.kept()), (1, 1));
    // With --force-export, a run that waited may use the export that another run just made.
    let again =
        ["stats", "-q", "-r", "cuda_gpu_kern_sum", "--force-export=true", capture.to_str().unwrap()];
    let runs: Vec<Child> = (0..4).map(|_| bench.nsq(&again).spawn().unwrap()).collect();
    runs.into_iter().for_each(|run| drop(answer(&run.wait_with_output().unwrap())));
    let exports = bench.exports();
    assert!((2..=5).contains(&exports), "{exports}");
    assert_eq!(bench.kept(), 1);
}

#[test]
fn a_killed_run_does_not_affect_the_next_one() {
    let bench = Bench::new();
    let truth = bench.truth();
    let kills = depth_of(10);
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    for round in 0..kills {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let capture = bench.capture("run", "slowly");
        fs::OpenOptions::new().append(true).open(&capture).unwrap().write_all(&[round as u8]).unwrap();
        let mut run = bench.ask(&capture).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(seed % 550));
        run.kill().unwrap();
        run.wait().unwrap();
        assert_eq!(answer(&bench.ask(&capture).output().unwrap()), truth, "round {round}");
    }
    // The next export removes what the last killed run left.
    answer(&bench.ask(&bench.capture("other", "export")).output().unwrap());
    assert_eq!(bench.kept(), kills + 1);
}

#[test]
fn an_interrupt_ends_nsys_and_leaves_no_files() {
    use rustix::process::Signal;
    let bench = Bench::new();
    let capture = bench.capture("run", "hang");
    let pid_file = bench.path("log.pid");
    for (how, option) in [
        (Signal::INT, "--verify"),
        (Signal::INT, "--no-cache"),
        (Signal::TERM, "--no-cache"),
        (Signal::TERM, "--verify"),
    ] {
        let run = bench.ask(&capture).arg(option).spawn().unwrap();
        wait_for("nsys to hang", || fs::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n')));
        let nsys = fs::read_to_string(&pid_file).unwrap();
        signal(&run, how);
        let (code, error) = failure(&run.wait_with_output().unwrap());
        assert_eq!((code, error.as_str()), (130, "error: interrupted\n"), "{how:?} {option}");
        wait_for("nsys to end", || !Path::new("/proc").join(nsys.trim()).exists());
        assert_eq!((bench.kept(), bench.names("tmp").len()), (0, 0), "{how:?} {option}");
        fs::remove_file(&pid_file).unwrap();
    }
    // A run that waits for another one can also be interrupted.
    let first = bench.ask(&capture).spawn().unwrap();
    wait_for("nsys to hang", || pid_file.exists());
    let mut second = bench.ask(&capture).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(second.try_wait().unwrap().is_none());
    signal(&second, Signal::INT);
    assert_eq!(failure(&second.wait_with_output().unwrap()).0, 130);
    signal(&first, Signal::TERM);
    assert_eq!(failure(&first.wait_with_output().unwrap()).0, 130);
    assert_eq!((bench.exports(), bench.kept()), (5, 0));
}

#[cfg(target_os = "linux")]
#[test]
fn killing_nsq_ends_nsys() {
    let bench = Bench::new();
    let capture = bench.capture("run", "sleep");
    let mut run = bench.ask(&capture).spawn().unwrap();
    let pid_file = bench.path("log.pid");
    wait_for("nsys to sleep", || fs::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n')));
    let nsys = Path::new("/proc").join(fs::read_to_string(&pid_file).unwrap().trim());
    assert!(nsys.exists());
    run.kill().unwrap();
    run.wait().unwrap();
    // It may stay a zombie if no process reaps it.
    wait_for("nsys to end", || fs::read_to_string(nsys.join("cmdline")).unwrap_or_default().is_empty());
    bench.capture("run", "export");
    assert_eq!(answer(&bench.ask(&capture).output().unwrap()), bench.truth());
    answer(&bench.nsq(&["cache", "clear"]).output().unwrap());
    assert_eq!(bench.kept(), 0);
}

#[test]
fn the_cache_is_private() {
    let bench = Bench::new();
    let capture = bench.capture("run", "export");
    // A folder that another program made, readable by all.
    fs::create_dir_all(bench.path("cache/exports")).unwrap();
    fs::set_permissions(bench.path("cache/exports"), fs::Permissions::from_mode(0o755)).unwrap();
    answer(&bench.ask(&capture).output().unwrap());
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(bench.path("cache/exports")), 0o700);
    for name in bench.names("cache/exports") {
        assert_eq!(mode(bench.path(&format!("cache/exports/{name}"))), 0o600, "{name}");
    }
    fs::remove_dir_all(bench.path("cache")).unwrap();
    answer(&bench.ask(&capture).output().unwrap());
    assert_eq!(mode(bench.path("cache")), 0o700);
    assert_eq!(mode(bench.path("cache/exports")), 0o700);
    // Also while an export is running.
    fs::remove_dir_all(bench.path("cache")).unwrap();
    let capture = bench.capture("other", "hang");
    let run = bench.ask(&capture).spawn().unwrap();
    wait_for("nsys to hang", || bench.path("log.pid").exists());
    for name in bench.names("cache/exports") {
        let expected = if name.ends_with(".part") { 0o700 } else { 0o600 };
        assert_eq!(mode(bench.path(&format!("cache/exports/{name}"))), expected, "{name}");
    }
    signal(&run, rustix::process::Signal::TERM);
    run.wait_with_output().unwrap();
    fs::remove_file(bench.path("log.pid")).unwrap();
    let run = bench.ask(&capture).arg("--no-cache").spawn().unwrap();
    wait_for("nsys to hang", || bench.path("log.pid").exists());
    let [folder] = bench.names("tmp").try_into().unwrap();
    assert_eq!(mode(bench.path("tmp").join(folder)), 0o700);
    signal(&run, rustix::process::Signal::TERM);
    run.wait_with_output().unwrap();
}

#[test]
fn verify_hashes_every_byte() {
    let bench = Bench::new();
    let capture = bench.capture("run", "export");
    let mut bytes = fs::read(&capture).unwrap();
    bytes.resize(400_000, b'\n');
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let write = |bytes: &[u8]| {
        fs::write(&capture, bytes).unwrap();
        fs::OpenOptions::new().write(true).open(&capture).unwrap().set_modified(time).unwrap();
    };
    let ask = |verify: bool| {
        let mut command = bench.ask(&capture);
        if verify {
            command.arg("--verify");
        }
        answer(&command.output().unwrap());
        bench.exports()
    };
    write(&bytes);
    assert_eq!((ask(false), ask(false)), (1, 1));
    // The first export was made without --verify, so --verify does not use it.
    assert_eq!((ask(true), ask(true), ask(false)), (2, 2, 2));
    bytes[200_000] = b'x';
    write(&bytes);
    assert_eq!((ask(false), ask(true), ask(true)), (2, 3, 3));
    assert_eq!(bench.kept(), 1);
}

#[test]
fn the_cache_size_is_limited() {
    let bench = Bench::new();
    let export = fs::metadata(&bench.export).unwrap().len();
    let limit = (2 * export + export / 2).to_string();
    let ask = |name: &str| {
        let capture = bench.path(&format!("{name}.nsys-rep"));
        answer(&bench.ask(&capture).env("NSQ_CACHE_SIZE", &limit).output().unwrap());
        std::thread::sleep(Duration::from_millis(20));
        bench.exports()
    };
    for name in ["a", "b", "c", "d"] {
        bench.capture(name, "export");
    }
    assert_eq!((ask("a"), ask("b"), ask("a")), (1, 2, 2));
    assert_eq!((ask("c"), bench.kept()), (3, 2), "b, the least recently used, must be removed");
    assert_eq!((ask("a"), ask("c"), ask("b")), (3, 3, 4));
    // The newest entry stays even if it exceeds the limit.
    let mut command = bench.ask(&bench.path("d.nsys-rep"));
    answer(&command.env("NSQ_CACHE_SIZE", "1kB").output().unwrap());
    assert_eq!(bench.kept(), 1);
    let mut command = bench.ask(&bench.path("a.nsys-rep"));
    let (code, error) = failure(&command.env("NSQ_CACHE_SIZE", "huge").output().unwrap());
    assert!(code == 2 && error.contains("invalid value 'huge' for NSQ_CACHE_SIZE"), "{error}");
}

#[test]
fn the_cache_can_be_listed_and_cleared() {
    let bench = Bench::new();
    let ls = |format| answer(&bench.nsq(&["cache", "ls", "-f", format]).output().unwrap());
    assert_eq!(ls("csv"), "kind,source,size_bytes,made_utc,used_utc,database\n");
    assert_eq!(bench.names("cache"), [""; 0], "`cache ls` must not create files");
    let captures = ["a", "b"].map(|name| bench.capture(name, "export"));
    for capture in &captures {
        answer(&bench.ask(capture).output().unwrap());
    }
    let csv = ls("csv");
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 2);
    let size = fs::metadata(&bench.export).unwrap().len().to_string();
    for (row, capture) in rows.iter().zip(captures.iter().rev()) {
        assert_eq!(
            row[..3],
            ["export", capture.to_str().unwrap(), &size],
            "the most recently used entry must come first"
        );
        assert!(row[3].len() == 20 && row[3] <= row[4] && row[3].starts_with("20"), "{row:?}");
        assert!(Path::new(row[5]).is_file());
    }
    assert!(ls("json").contains("\"size_bytes\""));
    let path = answer(&bench.nsq(&["cache", "path"]).output().unwrap());
    assert_eq!(path.trim_end(), bench.path("cache").to_str().unwrap());
    // Files of other programs and entries in use stay.
    fs::write(bench.path("cache/exports/README.txt"), "mine").unwrap();
    let used = fs::File::open(rows[0][5]).unwrap();
    used.lock_shared().unwrap();
    let cleared = answer(&bench.nsq(&["cache", "clear"]).output().unwrap());
    assert!(
        cleared.starts_with("removed 1 entry, ") && cleared.ends_with("; kept 1 in use\n"),
        "{cleared}"
    );
    drop(used);
    let half_made = bench.path(&format!("cache/exports/{}.abc.part", "0".repeat(32)));
    fs::create_dir(&half_made).unwrap();
    fs::write(half_made.join("report.sqlite"), "half").unwrap();
    assert!(answer(&bench.nsq(&["cache", "clear"]).output().unwrap()).starts_with("removed 1 entry, "));
    assert_eq!(bench.names("cache/exports"), ["README.txt"]);
}

#[test]
fn without_a_cache_a_run_leaves_no_files() {
    let bench = Bench::new();
    let capture = bench.capture("run", "export");
    let assert_leaves_no_files = |command: &mut Command| {
        assert_eq!(answer(&command.output().unwrap()), bench.truth());
        assert!(bench.names("cache").is_empty() && bench.names("tmp").is_empty());
    };
    assert_leaves_no_files(bench.ask(&capture).arg("--no-cache"));
    assert_eq!(bench.exports(), 1);
    // A command that opens the report several times exports it once.
    let stats = ["stats", "-r", "cuda_gpu_kern_sum,cuda_gpu_trace,cuda_api_sum", "--no-cache"];
    answer(&bench.nsq(&stats).arg(&capture).output().unwrap());
    let classes = ["classes", capture.to_str().unwrap(), "--no-cache"];
    bench.nsq(&classes).current_dir(bench.path("tmp")).output().unwrap();
    assert_eq!(bench.exports(), 3);
    for name in bench.names("tmp") {
        assert!(!name.starts_with("nsq-run-"), "{name}");
        fs::remove_file(bench.path("tmp").join(name)).unwrap();
    }
    // Without a usable home folder, the run prints a note and still answers.
    let mut command = bench.ask(&capture);
    assert_leaves_no_files(command.env_remove("NSQ_CACHE"));
    let (_, error) = failure(&command.output().unwrap());
    assert!(error.starts_with("note: there is no cache folder"), "{error}");
    let in_the_way = bench.path("in_the_way");
    fs::write(&in_the_way, "").unwrap();
    let mut command = bench.ask(&capture);
    assert_leaves_no_files(command.env_remove("NSQ_CACHE").env("XDG_CACHE_HOME", &in_the_way));
    // If the folder in NSQ_CACHE is unusable, the run fails instead of choosing another one.
    let mut command = bench.ask(&capture);
    let (code, error) = failure(&command.env("NSQ_CACHE", &in_the_way).output().unwrap());
    assert!(code == 1 && error.contains("set NSQ_CACHE to another folder"), "{error}");
}

#[test]
fn the_next_run_removes_the_temporary_files_of_a_killed_run() {
    let bench = Bench::new();
    let capture = bench.capture("run", "sleep");
    let pid_file = bench.path("log.pid");
    let begin = || {
        let run = bench.ask(&capture).arg("--no-cache").spawn().unwrap();
        wait_for("nsys to sleep", || pid_file.exists());
        fs::remove_file(&pid_file).unwrap();
        run
    };
    let mut killed = begin();
    let mut alive = begin();
    assert_eq!(bench.names("tmp").len(), 2);
    killed.kill().unwrap();
    killed.wait().unwrap();
    // A folder of another program with a similar name.
    fs::create_dir(bench.path("tmp/nsq-run-mine")).unwrap();
    let other = bench.capture("other", "export");
    answer(&bench.ask(&other).arg("--no-cache").output().unwrap());
    assert_eq!(
        bench.names("tmp").len(),
        2,
        "the folders of the live run and the other program must stay"
    );
    alive.kill().unwrap();
    alive.wait().unwrap();
    answer(&bench.ask(&other).arg("--no-cache").output().unwrap());
    assert_eq!(bench.names("tmp"), ["nsq-run-mine"]);
}

#[test]
fn export_writes_to_the_given_file() {
    let bench = Bench::new();
    let capture = bench.capture("run", "export");
    let capture = capture.to_str().unwrap();
    let target = bench.path("out.sqlite");
    let export = |more: &[&str]| {
        let arguments = ["export", capture].iter().chain(more).copied().collect::<Vec<_>>();
        bench.nsq(&arguments).output().unwrap()
    };
    let to = ["-o", target.to_str().unwrap()];
    assert_eq!(answer(&export(&to)).trim_end(), target.to_str().unwrap());
    assert_eq!((bench.exports(), bench.kept()), (1, 0), "an export to a file is not cached as well");
    assert_eq!(fs::read(&target).unwrap(), fs::read(&bench.export).unwrap());
    let mode = fs::metadata(&target).unwrap().permissions().mode();
    fs::write(bench.path("plain"), "").unwrap();
    assert_eq!(mode, fs::metadata(bench.path("plain")).unwrap().permissions().mode());
    let (code, error) = failure(&export(&to));
    assert!(code == 2 && error.contains("exists") && error.contains("--force"), "{error}");
    let kept = answer(&export(&[]));
    assert_eq!((bench.exports(), bench.kept()), (2, 1));
    assert_eq!(fs::read(kept.trim_end()).unwrap(), fs::read(&bench.export).unwrap());
    // A copy from the cache has the permissions of an ordinary new file.
    answer(&export(&["--force", to[0], to[1]]));
    assert_eq!(bench.exports(), 2);
    assert_eq!(fs::read(&target).unwrap(), fs::read(&bench.export).unwrap());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode(), mode);
    answer(&export(&["--force", "--again", to[0], to[1]]));
    assert_eq!((bench.exports(), bench.kept()), (3, 1));
    assert_eq!(failure(&export(&["--no-cache"])).0, 2);
    let sqlite = ["export", bench.export.to_str().unwrap(), "-o", "other.sqlite"];
    let (code, error) = failure(&bench.nsq(&sqlite).output().unwrap());
    assert!(code == 2 && error.contains("is already SQLite"), "{error}");
    let onto_itself = ["export", capture, "--force", "-o", capture];
    assert_eq!(failure(&bench.nsq(&onto_itself).output().unwrap()).0, 2);
}

#[test]
fn an_export_beside_the_capture_is_used_only_if_it_matches() {
    const IDENTITY: &str = "c7a52942-0be5-49ab-9994-5aaa847e2241";
    let bench = Bench::new();
    let capture = bench.capture("run", "refuse");
    fs::OpenOptions::new().append(true).open(&capture).unwrap().write_all(IDENTITY.as_bytes()).unwrap();
    let beside = bench.path("run.sqlite");
    let write = |statement: &str, identity: &str| {
        fs::copy(&bench.export, &beside).unwrap();
        let facts = "CREATE TABLE IF NOT EXISTS META_DATA_CAPTURE (name TEXT, value TEXT);
             CREATE TABLE IF NOT EXISTS META_DATA_EXPORT (name TEXT, value TEXT);
             INSERT INTO META_DATA_EXPORT VALUES
                 ('EXPORT_PARAM_INPUT_FILE', 'run.nsys-rep'), ('EXPORT_PARAM_TABLES_TO_EXPORT', ''),
                 ('EXPORT_PARAM_TIMES_TO_EXPORT', ''), ('EXPORT_PARAM_APPEND', 'false'),
                 ('EXPORT_PARAM_TIME_NORMALIZE', 'false'), ('EXPORT_PARAM_TIME_SHIFT', '0'),
                 ('EXPORT_TIME', '0.01 sec');";
        let connection = rusqlite::Connection::open(&beside).unwrap();
        connection.execute_batch(facts).unwrap();
        let sql = "INSERT INTO META_DATA_CAPTURE VALUES ('PROFILING_SESSION_UUID', ?1)";
        connection.execute(sql, [identity]).unwrap();
        connection.execute_batch(statement).unwrap();
    };
    let is_used = || bench.ask(&capture).output().unwrap().status.success();
    write("", IDENTITY);
    assert_eq!(answer(&bench.ask(&capture).output().unwrap()), bench.truth());
    assert_eq!((bench.exports(), bench.names("cache").len()), (0, 0));
    // With --verify, only nsq's own export is used: only nsq hashed every byte.
    assert!(!bench.ask(&capture).arg("--verify").output().unwrap().status.success());
    for statement in [
        "UPDATE META_DATA_EXPORT SET value = 'other.nsys-rep' WHERE name = 'EXPORT_PARAM_INPUT_FILE'",
        "UPDATE META_DATA_EXPORT SET value = 'StringIds' WHERE name = 'EXPORT_PARAM_TABLES_TO_EXPORT'",
        "UPDATE META_DATA_EXPORT SET value = '1' WHERE name = 'EXPORT_PARAM_TIME_SHIFT'",
        "DELETE FROM META_DATA_EXPORT WHERE name = 'EXPORT_TIME'",
        "DROP TABLE META_DATA_EXPORT",
        "DROP TABLE META_DATA_CAPTURE",
    ] {
        write(statement, IDENTITY);
        assert!(!is_used(), "{statement}");
    }
    for identity in ["c7a52942-0be5-49ab-9994-5aaa847e2242", "", "do: refuse"] {
        write("", identity);
        assert!(!is_used(), "{identity}");
    }
    write("", IDENTITY);
    let whole = fs::read(&beside).unwrap();
    fs::write(&beside, &whole[..whole.len() / 2]).unwrap();
    assert!(!is_used(), "cut short");
    fs::write(&beside, &whole).unwrap();
    assert!(is_used());
    let older = fs::metadata(&capture).unwrap().modified().unwrap() - Duration::from_secs(1);
    fs::OpenOptions::new().write(true).open(&beside).unwrap().set_modified(older).unwrap();
    assert!(!is_used(), "older than the capture");
}
