//! Large reports and many reports: timeouts stop long work, and threads and open files are bounded.

use crate::support::{Fixtures, depth_of, nsq, outcome, queries, stdout};
use nsq::classify::Activity;
use nsq::occupancy;
use nsq::occupancy::{Level, Occupancy, Stream, Window, Work};
use nsq::projection::{
    Attribution, Capture, Launch, Naming, Op, OpKind, Projection, Range, Reach, Stop,
};
use nsq::projection::{Kernel, Listing, RangeKernels, Thread};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A report large enough for several threads, made once.
fn large() -> &'static str {
    static LARGE: OnceLock<PathBuf> = OnceLock::new();
    LARGE.get_or_init(|| crate::large_export::export(30_000)).to_str().unwrap()
}

#[test]
fn a_timeout_stops_every_native_relation() {
    let relations: Vec<String> = crate::support::stems("queries/views", "sql")
        .into_iter()
        .filter(|name| {
            let text =
                std::fs::read_to_string(crate::support::project(&format!("queries/views/{name}.sql")));
            text.unwrap().lines().any(|line| line == "native: true")
        })
        .collect();
    assert!(relations.len() >= 12, "{relations:?}");
    for relation in relations {
        let sql = format!("SELECT * FROM {relation}");
        let (code, _, error) = outcome(&["sql", large(), &sql, "--timeout", "1ms"]);
        assert_eq!(code, 1, "{relation}: {error}");
        assert!(error.contains("stopped: it ran longer than 0.001 s"), "{relation}: {error}");
    }
}

/// A join that compares each gap with each call would take minutes.
#[test]
fn causes_of_tens_of_thousands_of_gaps_take_seconds() {
    let count = "SELECT count(*) FROM gpu_gap WHERE level = 'gpu'";
    let gaps: usize =
        stdout(&["sql", large(), count, "-f", "csv", "--no-header"]).trim().parse().unwrap();
    assert!(gaps > 10_000, "{gaps} gaps");
    let (code, _, error) =
        outcome(&["run", large(), "-q", "gpu_idle_cause_sum", "-f", "csv", "--timeout", "8s"]);
    assert_eq!(code, 0, "{error}");
}

#[test]
fn one_timeout_covers_the_whole_command() {
    let reports = vec![large(); 3];
    for verb in [
        vec!["run", "-q", "nvtx_tree"],
        vec!["breakdown"],
        vec!["diff"],
        vec!["kernels"],
        vec!["classes"],
    ] {
        let mut arguments = verb.clone();
        let out = tempfile::tempdir().unwrap();
        let out_dir = out.path().to_str().unwrap();
        match verb[0] {
            "run" => arguments.extend(&reports),
            "diff" => arguments.extend(&reports[..2]),
            "breakdown" => {
                arguments = vec!["breakdown", "--out-dir", out_dir, "--in-file"];
                arguments.push(reports[0]);
            }
            _ => arguments.push(reports[0]),
        }
        arguments.extend(["--timeout", "1ms"]);
        let (code, _, error) = outcome(&arguments);
        let messages = error.matches("stopped: it ran longer than 0.001 s").count();
        let failed = if arguments[0] == "diff" { 5 } else { 1 };
        assert!(code == failed && messages == 1, "{arguments:?}: {code} {error}");
    }
}

/// Asserts that `make` gives up soon after its stop flag is set, at whichever poll of the flag that
/// happens.
///
/// `make` returns whether it finished.
fn assert_stops_at_every_poll(what: &str, make: impl Fn(Stop<'_>) -> bool) {
    let stop_at_poll = |limit: usize| {
        let polls = AtomicUsize::new(0);
        let finished = make(&|| polls.fetch_add(1, Ordering::Relaxed) >= limit);
        (finished, polls.into_inner())
    };
    let (finished, all) = stop_at_poll(usize::MAX);
    assert!(finished && all >= 2, "{what} polls the flag {all} times");
    for limit in 0..all {
        let (finished, polls) = stop_at_poll(limit);
        assert!(!finished, "{what}: finished although the flag was set at poll {limit}");
        assert!(
            polls <= limit + 64,
            "{what}: polled {polls} times although the flag was set at {limit}"
        );
    }
}

const RANGES: i64 = 20_000;

/// Ranges nested in pairs, with one kernel launch each. Every hundredth call overlaps the calls after
/// it.
fn capture() -> Capture {
    let thread = Thread { process: 0, global_tid: 1 };
    let range = |index: i64| Range {
        start: index / 2 * 100 + index % 2,
        end: index / 2 * 100 + 90 - index % 2,
        id: index,
        thread: 0,
        name: (index % 7) as u32,
        is_push_pop: true,
        is_cross_thread: false,
    };
    let launch = |index: i64| Launch {
        start: index * 50 + 10,
        end: index * 50 + if index % 100 == 0 { 5_000 } else { 20 },
        thread: 0,
        call: index,
    };
    let op = |index: i64| Op {
        start: index * 50 + 30,
        end: index * 50 + 45,
        id: index,
        correlation: index + 1,
        process: 0,
        launch: index as u32,
        kernel: 0,
        kind: OpKind::Kernel,
    };
    Capture {
        processes: vec![1],
        threads: vec![thread],
        kernels: vec![Kernel { name: 1, short: 2, mangled: 3 }],
        ops: (0..RANGES).map(op).collect(),
        launches: (0..RANGES).map(launch).collect(),
        ranges: Arc::new((0..RANGES).map(range).collect()),
    }
}

#[test]
fn stopped_computations_return_nothing() {
    let never: Stop<'_> = &|| false;
    for reach in [Reach::Thread, Reach::Process] {
        assert_stops_at_every_poll("attribution", |stop| {
            Attribution::new(capture(), reach, stop).is_some()
        });
        let attribution = || Attribution::new(capture(), reach, never).unwrap();
        assert_stops_at_every_poll("projection", |stop| {
            Projection::new(attribution(), None, stop).is_ok()
        });
    }
    let attribution = Attribution::new(capture(), Reach::Thread, never).unwrap();
    assert_stops_at_every_poll("nesting", |stop| attribution.nesting_of(|_| true, stop).is_some());
    let projection = Projection::new(attribution, None, never).unwrap();
    let printed: Vec<u32> = (0..7).collect();
    let listing = Listing { printed: &printed, names: &|| &printed, threads: &[0] };
    assert_stops_at_every_poll("kernels", |stop| {
        RangeKernels::new(&projection, Naming::Demangled, listing, stop).is_some()
    });
    let stream = |stream_id| Stream {
        gpu_id: 0,
        global_pid: 1,
        device_id: 0,
        context_id: Some(1),
        stream_id: Some(stream_id),
    };
    let op = |index: i64| occupancy::Op {
        start: index * 10,
        end: index * 10 + 7,
        kind: OpKind::Kernel,
        id: index,
        stream: (index % 2) as u32,
        name: 0,
        activity: if index % 3 == 0 { Activity::Memory } else { Activity::Compute },
        correlation: 0,
    };
    let ops = (0..RANGES).map(op).collect();
    let occupancy =
        Occupancy::new(ops, vec![stream(1), stream(2)], Window::Time { from: Some(5), to: None });
    assert_stops_at_every_poll("stretches", |stop| {
        occupancy.stretches(Level::Gpu, Work::Any, stop).is_some()
    });
    assert_stops_at_every_poll("gaps", |stop| occupancy.gaps(Level::Stream, Work::Any, stop).is_some());
    assert_stops_at_every_poll("decompositions", |stop| occupancy.decompositions(stop).is_some());
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let fixtures = Fixtures::new();
    let reports: Vec<PathBuf> = ["training_steps", "two_processes_one_gpu", "nested_nvtx"]
        .map(|trace| fixtures.trace(trace))
        .into_iter()
        .chain([PathBuf::from(large())])
        .collect();
    let mut arguments = vec!["run".to_owned()];
    arguments.extend(reports.iter().map(|path| path.to_str().unwrap().to_owned()));
    for query in queries() {
        arguments.extend(["-q".to_owned(), query]);
    }
    arguments.extend(["-f".to_owned(), "json".to_owned(), "-j".to_owned()]);
    let ask = |threads: &str| {
        let output = nsq().args(&arguments).arg(threads).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 3)), "{error}");
        (output.stdout, error)
    };
    let (one, error) = ask("1");
    assert!(one.len() > 100_000);
    // With nine threads, each of the four reports is processed by two; at full depth, also with two threads.
    for threads in ["9", "2"].into_iter().take(1 + depth_of(2) / 2) {
        assert!(
            ask(threads) == (one.clone(), error.clone()),
            "the answers of {threads} threads differ from those of one"
        );
    }
    let (code, _, error) = outcome(&["run", large(), "-q", "top_kernels", "-j", "0"]);
    assert!(code == 2 && error.contains("--threads"), "{error}");
}

#[cfg(unix)]
#[test]
fn five_hundred_reports_need_few_files() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("training_steps");
    let folder = fixtures.path().join("many");
    std::fs::create_dir(&folder).unwrap();
    let paths: Vec<PathBuf> = (0..500).map(|rank| folder.join(format!("rank{rank}.sqlite"))).collect();
    paths.iter().for_each(|path| std::fs::hard_link(&report, path).unwrap());
    let query = ["-q", "top_kernels", "-q", "nvtx_tree", "-q", "gpu_time", "-f", "csv", "--no-header"];
    let one = stdout(&[&["run", report.to_str().unwrap()], &query[..]].concat());
    let shell = "ulimit -n 64; exec \"$0\" \"$@\" -j 64";
    let output = std::process::Command::new("sh")
        .args(["-c", shell, env!("CARGO_BIN_EXE_nsq"), "run"])
        .args(&paths)
        .args(query)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // For each query, the rows of all reports in the order of the command line.
    let text = String::from_utf8(output.stdout).unwrap();
    let mut expected = String::new();
    for result in one.split("\n\n") {
        for path in &paths {
            for line in result.trim_end().lines() {
                expected.push_str(&format!("{},{line}\n", path.display()));
            }
        }
        expected.push('\n');
    }
    assert!(
        text.trim_end() == expected.trim_end(),
        "the rows of 500 reports must be the rows of one report, 500 times"
    );
}
