//! Faults on purpose: at a system call of opening, caching, importing, exporting or writing, the answer is the same,
//! or the run ends with one error, exit code 1, and whole files only.
#![cfg(target_os = "linux")]

use crate::support::{Fixtures, depth_of, project, turn};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run does, in a folder of its own.
struct Scenario {
    name: &'static str,
    /// `@` stands for the folder.
    arguments: &'static [&'static str],
    /// Files that the run writes.
    writes: &'static [&'static str],
    /// The run before, without faults, which fills the cache.
    is_warm: bool,
}

const SCENARIOS: [Scenario; 13] = [
    scenario("run", &["run", "@/a.sqlite", "-q", "top_kernels", "-f", "csv"], &[]),
    scenario("import into the cache", &["run", "@/trace.json", "-q", "top_kernels", "-f", "csv"], &[]),
    Scenario {
        is_warm: true,
        ..scenario(
            "import from the cache",
            &["run", "@/trace.json", "-q", "top_kernels", "-f", "csv"],
            &[],
        )
    },
    scenario(
        "import without cache",
        &["run", "@/trace.json", "-q", "top_kernels", "-f", "csv", "--no-cache"],
        &[],
    ),
    scenario("export into the cache", &["run", "@/run.nsys-rep", "-q", "top_kernels", "-f", "csv"], &[]),
    scenario("nsq export", &["export", "@/run.nsys-rep", "--force", "-o", "@/out/old"], &["out/old"]),
    scenario(
        "nsq import",
        &["import", "@/trace.json", "--force", "-o", "@/out/new.sqlite"],
        &["out/new.sqlite"],
    ),
    scenario("materialize", &["materialize", "@/a.sqlite", "--force", "-o", "@/out/old"], &["out/old"]),
    scenario(
        "run -o",
        &["run", "@/a.sqlite", "-q", "cuda_gpu_trace", "-f", "csv", "-o", "@/out/old"],
        &["out/old"],
    ),
    scenario(
        "several reports",
        &["run", "@/a.sqlite", "@/b.sqlite", "@/trace.json", "-q", "top_kernels", "-f", "csv"],
        &[],
    ),
    scenario(
        "idle time",
        &["run", "@/example.sqlite", "-q", "gpu_idle_causes", "-f", "csv", "-j", "1"],
        &[],
    ),
    scenario("timeline", &["timeline", "@/a.sqlite", "-o", "@/out/page.html"], &["out/page.html"]),
    scenario(
        "stats",
        &[
            "stats",
            "-q",
            "--force-overwrite=true",
            "-r",
            "cuda_gpu_kern_sum",
            "-f",
            "csv",
            "-o",
            "@/out/s",
            "@/run.nsys-rep",
        ],
        &["out/s_cuda_gpu_kern_sum.csv"],
    ),
];

const fn scenario(
    name: &'static str,
    arguments: &'static [&'static str],
    writes: &'static [&'static str],
) -> Scenario {
    Scenario { name, arguments, writes, is_warm: false }
}

/// How a call fails: the name of the error, its number, and whether the cause stays. Number 0 is a call that does half
/// of its work.
type Failing = (&'static str, i32, bool);

/// How each kind of call can fail.
const ERRORS: [(&str, &[Failing]); 14] = [
    ("open", &[("EIO", 5, false), ("EMFILE", 24, true), ("EINTR", 4, false), ("EACCES", 13, false)]),
    ("read", &[("EIO", 5, false), ("EIO", 5, true), ("EINTR", 4, false), ("short", 0, true)]),
    (
        "write",
        &[
            ("ENOSPC", 28, true),
            ("ENOSPC", 28, false),
            ("EIO", 5, false),
            ("EDQUOT", 122, true),
            ("EINTR", 4, false),
            ("short", 0, false),
            ("short", 0, true),
        ],
    ),
    ("sync", &[("EIO", 5, false), ("ENOSPC", 28, true), ("EINTR", 4, false)]),
    ("truncate", &[("EIO", 5, false), ("ENOSPC", 28, true), ("EINTR", 4, false)]),
    ("rename", &[("EXDEV", 18, true), ("EIO", 5, false), ("ENOSPC", 28, false), ("EACCES", 13, true)]),
    ("unlink", &[("EIO", 5, false), ("EACCES", 13, true)]),
    ("mkdir", &[("ENOSPC", 28, true), ("EIO", 5, false), ("EACCES", 13, true)]),
    ("stat", &[("EIO", 5, false), ("EACCES", 13, true)]),
    ("mmap", &[("ENOMEM", 12, true)]),
    ("lock", &[("ENOLCK", 37, true), ("EIO", 5, false)]),
    ("chmod", &[("EPERM", 1, false), ("EIO", 5, false)]),
    ("list", &[("EIO", 5, false), ("EACCES", 13, true)]),
    ("copy", &[("EIO", 5, false), ("ENOSPC", 28, true), ("EXDEV", 18, false), ("short", 0, true)]),
];

/// Errors after which nothing may differ.
const INVISIBLE: [&str; 2] = ["EINTR", "short"];

/// A run that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(60);

/// What a run left.
struct Ended {
    /// `None`: a signal ended it, or it did not end.
    code: Option<i32>,
    answer: Vec<u8>,
    error: String,
    /// The calls that counted: kind and path.
    calls: Vec<(String, String)>,
}

/// A fault: the `n`th call of the kind fails.
struct Fault<'a> {
    kind: &'a str,
    error: Failing,
    n: usize,
}

struct Bench {
    fixtures: Fixtures,
    library: PathBuf,
}

impl Bench {
    /// `None`: there is no C compiler.
    fn new() -> Option<Self> {
        let fixtures = Fixtures::new();
        let library = fixtures.path().join("inject.so");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(project("tests/faults/inject.c"))
            .arg("-ldl")
            .status();
        if !compiled.is_ok_and(|status| status.success()) {
            crate::support::say("skipped: no C compiler, or none that builds the library of faults");
            return None;
        }
        Some(Self { fixtures, library })
    }

    /// A fresh folder with the inputs of all scenarios.
    fn folder(&self) -> Place {
        let folder = tempfile::tempdir_in(self.fixtures.path()).unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["tmp", "out", "cache"] {
            fs::create_dir(at(name)).unwrap();
        }
        let report = self.fixtures.trace("two_streams_overlap");
        fs::copy(&report, at("a.sqlite")).unwrap();
        fs::copy(&report, at("b.sqlite")).unwrap();
        fs::copy(project("fixtures/example.sqlite"), at("example.sqlite")).unwrap();
        fs::write(at("trace.json"), trace()).unwrap();
        let capture = "NVIDIA Tegra Profiler Report 2023@4@4@54-1v0.\ndo: export\n";
        fs::write(at("run.nsys-rep"), capture).unwrap();
        fs::write(at("out/old"), OLD).unwrap();
        Place { folder, library: self.library.clone(), export: report }
    }
}

impl Bench {
    /// What the run gives without faults.
    fn truth(&self, scenario: &Scenario) -> Truth {
        let place = self.folder();
        if scenario.is_warm {
            place.run(scenario, None);
        }
        let ended = place.run(scenario, None);
        assert_eq!(ended.code, Some(0), "{}: {}", scenario.name, ended.error);
        let written = place.written(scenario);
        assert!(written.iter().all(Option::is_some), "{}", scenario.name);
        Truth { ended, written }
    }

    /// Runs with a fault. `Ok` says whether the answer was the same.
    fn try_fault(&self, scenario: &Scenario, truth: &Truth, fault: &Fault<'_>) -> Result<bool, String> {
        let place = self.folder();
        if scenario.is_warm {
            place.run(scenario, None);
        }
        let ended = place.run(scenario, Some(fault));
        judge(&place, scenario, truth, fault, &ended).map_err(|reason| {
            let hit = ended.calls.iter().filter(|(kind, _)| kind == fault.kind).nth(fault.n - 1);
            let (name, stays) = (fault.error.0, if fault.error.2 { ", from then on" } else { "" });
            let said = ended.error.trim_end().replace('\n', "\n  ");
            format!(
                "{}: {} {}: {name}{stays}: {reason}\n  {hit:?}\n  {said}",
                scenario.name, fault.kind, fault.n
            )
        })
    }
}

/// What a file holds before it is replaced.
const OLD: &str = "before\n";

struct Place {
    folder: tempfile::TempDir,
    library: PathBuf,
    export: PathBuf,
}

impl Place {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, scenario: &Scenario, fault: Option<&Fault<'_>>) -> Ended {
        let root = self.folder.path().to_str().unwrap();
        let log = self.folder.path().with_extension("log");
        let _ = fs::remove_file(&log);
        let answer = self.path("answer");
        let mut command = Command::new(env!("CARGO_BIN_EXE_nsq"));
        for variable in ["NSQ_PATH", "NSQ_CACHE", "NSQ_CACHE_SIZE", "XDG_CONFIG_HOME", "COLUMNS"] {
            command.env_remove(variable);
        }
        command
            .args(scenario.arguments.iter().map(|argument| argument.replace('@', root)))
            .env("HOME", "/nonexistent")
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("TMPDIR", self.path("tmp"))
            .env("NSQ_NSYS", project("tests/nsys/fake.sh"))
            .env("FAKE_LOG", "/dev/null")
            .env("FAKE_EXPORT", &self.export)
            .env("LD_PRELOAD", &self.library)
            .env("FAULT_ROOT", root)
            .env("FAULT_LOG", &log)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&answer).unwrap())
            .stderr(Stdio::piped());
        if let Some(Fault { kind, error: (_, number, stays), n }) = fault {
            command.env("FAULT_AT", format!("{kind} {n} {number}"));
            if *stays {
                command.env("FAULT_STAYS", "1");
            }
        }
        let mut run = command.spawn().unwrap();
        let mut error = String::new();
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = run.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > LONGEST {
                run.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        run.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        let calls = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        let calls = calls.lines().filter_map(|line| {
            let mut words = line.trim_start_matches('!').splitn(3, ' ');
            Some((words.next()?.to_owned(), words.nth(1)?.to_owned()))
        });
        let answer = self.without_place(fs::read(&answer).unwrap());
        Ended { code: status.code(), answer, error, calls: calls.collect() }
    }

    /// What the run wrote; `None` for a file that does not exist.
    fn written(&self, scenario: &Scenario) -> Vec<Option<Vec<u8>>> {
        let read = |name: &&str| fs::read(self.path(name)).ok().map(|bytes| self.without_place(bytes));
        scenario.writes.iter().map(read).collect()
    }

    /// The same bytes for all folders: an answer may name its report.
    fn without_place(&self, bytes: Vec<u8>) -> Vec<u8> {
        match String::from_utf8(bytes) {
            Ok(text) => text.replace(self.folder.path().to_str().unwrap(), "@").into_bytes(),
            Err(binary) => binary.into_bytes(),
        }
    }

    /// Unfinished files that are left.
    fn leftovers(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.path("out"), self.path("tmp"), self.path("cache")];
        let mut left = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                if name.ends_with(".part") || path.parent().is_some_and(|parent| parent.ends_with("tmp"))
                {
                    left.push(path);
                } else if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        left
    }
}

/// A trace of a few kernels.
fn trace() -> String {
    let mut text = "{\"schemaVersion\": 1, \"traceEvents\": [".to_owned();
    for event in 0..300 {
        let (start, comma) = (1_000_000 + event * 20, if event == 0 { "" } else { "," });
        writeln!(
            text,
            "{comma}{{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 7, \"tid\": 7, \
             \"ts\": {start}.125, \"dur\": 4.5, \"args\": {{\"correlation\": {event}}}}},\
             {{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"kernel_{}<float>\", \"pid\": 0, \"tid\": 7, \
             \"ts\": {}.250, \"dur\": 9.5, \"args\": {{\"device\": 0, \"context\": 1, \"stream\": 7, \
             \"correlation\": {event}}}}}",
            event % 5,
            start + 6,
        )
        .unwrap();
    }
    text + "]}\n"
}

/// The truth about a scenario.
struct Truth {
    ended: Ended,
    written: Vec<Option<Vec<u8>>>,
}

/// Why a run with a fault is wrong; `Ok` says whether it gave the same answer.
fn judge(
    place: &Place,
    scenario: &Scenario,
    truth: &Truth,
    fault: &Fault<'_>,
    ended: &Ended,
) -> Result<bool, String> {
    let written = place.written(scenario);
    let errors = ended.error.lines().filter(|line| line.starts_with("error: ")).count();
    if ended.error.contains("panicked") || ended.code.is_none_or(|code| code > 1) {
        return Err(format!("it ended with {:?}", ended.code));
    }
    // What cannot be removed stays for the next run.
    let hit = ended.calls.iter().filter(|(kind, _)| kind == fault.kind).nth(fault.n - 1);
    let is_removal = hit.is_none_or(|(kind, path)| kind == "open" && path.ends_with(".part"));
    let can_remove = !fault.error.2 && !is_removal && !matches!(fault.kind, "unlink" | "list");
    if can_remove && let [first, ..] = place.leftovers().as_slice() {
        return Err(format!("{} is left", first.display()));
    }
    if ended.code == Some(0) {
        if ended.answer != truth.ended.answer || written != truth.written {
            return Err("another answer, and no error".to_owned());
        }
    } else {
        if INVISIBLE.contains(&fault.error.0) {
            return Err("it failed".to_owned());
        }
        // If the fault stays, several reports can fail, and then the answer of the others, each in its own way.
        let most = if scenario.name == "several reports" && fault.error.2 { 4 } else { 1 };
        if !(1..=most).contains(&errors) {
            return Err(format!("{errors} errors"));
        }
        for ((name, now), whole) in scenario.writes.iter().zip(&written).zip(&truth.written) {
            let before = (*name == "out/old").then(|| OLD.as_bytes().to_owned());
            if *now != before && now != whole {
                return Err(format!("{name} is not whole"));
            }
        }
    }
    // Nothing wrong may stay in the cache.
    let next = place.run(scenario, None);
    if next.code != Some(0)
        || next.answer != truth.ended.answer
        || place.written(scenario) != truth.written
    {
        return Err(format!("the next run ended with {:?}: {}", next.code, next.error));
    }
    // If no file can be opened or looked at, there is no record of a folder that only this run used.
    if !(fault.error.2 && matches!(fault.kind, "open" | "stat"))
        && let [first, ..] = place.leftovers().as_slice()
    {
        return Err(format!("{} is left after the next run", first.display()));
    }
    Ok(ended.code == Some(0))
}

/// A random number below `most`.
fn below(most: usize, seed: &mut u64) -> usize {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed % most as u64) as usize
}

#[test]
fn a_fault_of_the_system_gives_the_same_answer_or_one_error() {
    let Some(bench) = Bench::new() else { return };
    let truths: Vec<Truth> = SCENARIOS.iter().map(|scenario| bench.truth(scenario)).collect();
    let mut points = Vec::new();
    for (scenario, truth) in SCENARIOS.iter().zip(&truths) {
        let mut counts = BTreeMap::<&str, usize>::new();
        for (kind, _) in &truth.ended.calls {
            *counts.entry(kind).or_default() += 1;
        }
        let name = scenario.name;
        assert!(counts.contains_key("open") && counts.contains_key("write"), "{name}: {counts:?}");
        for (kind, errors) in &ERRORS {
            let Some(count) = counts.get(kind) else { continue };
            points.extend(errors.iter().map(|error| (scenario, truth, *kind, *error, *count)));
        }
    }
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    for last in (1..points.len()).rev() {
        points.swap(last, below(last + 1, &mut seed));
    }
    // Scenario, kind and error, and how many points ended with the same answer, an error, or a violation.
    let mut table = BTreeMap::<(&str, &str, &str, bool), [usize; 3]>::new();
    let mut violations = Vec::new();
    for &(scenario, truth, kind, error, count) in
        points.iter().cycle().skip(turn() * depth_of(320)).take(depth_of(320))
    {
        let fault = Fault { kind, error, n: 1 + below(count, &mut seed) };
        let column = match bench.try_fault(scenario, truth, &fault) {
            Ok(is_same) => usize::from(!is_same),
            Err(violation) => {
                violations.push(violation);
                2
            }
        };
        table.entry((scenario.name, kind, error.0, error.2)).or_default()[column] += 1;
    }
    if std::env::var_os("NSQ_TEST_DEPTH").is_some() {
        println!("scenario\tcall\terror\tstays\tsame answer\terror\tviolation");
        for ((scenario, kind, error, stays), [same, clean, wrong]) in &table {
            println!("{scenario}\t{kind}\t{error}\t{stays}\t{same}\t{clean}\t{wrong}");
        }
    }
    assert!(violations.is_empty(), "{} violations:\n{}", violations.len(), violations.join("\n"));
}

/// A relation whose calls could not be read had no rows, and the first read of a trace was not tried again.
#[test]
fn calls_that_once_gave_a_wrong_answer_give_none() {
    let Some(bench) = Bench::new() else { return };
    for (name, kind, error) in
        [("idle time", "open", ("EIO", 5, false)), ("nsq import", "read", ("EINTR", 4, false))]
    {
        let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name).unwrap();
        let truth = bench.truth(scenario);
        let calls = truth.ended.calls.iter().filter(|(called, _)| called == kind).count();
        assert!(calls > 2 && (kind == "read" || truth.ended.answer.len() > 1000), "{name}: {calls}");
        for n in 1..=calls {
            bench.try_fault(scenario, &truth, &Fault { kind, error, n }).unwrap();
        }
    }
}
