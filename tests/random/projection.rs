//! Compares the projection of NVTX ranges onto the GPU with two slow and simple implementations.
//!
//! Random captures with many coinciding times are answered three times: by nsq's relations, by loops
//! over the rows of the capture (naive.rs), and by inequality joins over the normalised views
//! (oracle.sql). The three must agree on every range and every operation. `PROJECTION_SEED=n cargo test
//! --test random projection` repeats one capture.

mod answer;
mod ask;
mod naive;
pub mod trace;

use crate::support::tried;
use answer::{RELATIONS, difference};
use ask::Asker;
use nsq::normalize::{Attribute, Scope};
use nsq::table::Value;
use std::ops::Range as Seeds;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use trace::{Call, Event, LARGE, Op, OpKind, PUSH_POP, Range, SMALL, START_END, Size, Text, Trace};

/// Which ranges a launch counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The ranges of its thread.
    Thread,
    /// The ranges of its process.
    Process,
}

impl Reach {
    fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Process => "process",
        }
    }

    fn scope(self) -> Scope {
        match self {
            Self::Thread => Scope::default(),
            Self::Process => Scope { attribute: Attribute::Process, ..Scope::default() },
        }
    }
}

#[test]
fn small_captures_match_the_oracles() {
    all_agree(0..3_000, SMALL, Reach::Thread);
}

#[test]
fn large_captures_match_the_oracles() {
    all_agree(1_000_000..1_000_024, LARGE, Reach::Thread);
}

#[test]
fn captures_attributed_by_process_match_the_oracles() {
    all_agree(2_000_000..2_001_500, SMALL, Reach::Process);
    all_agree(3_000_000..3_000_008, LARGE, Reach::Process);
}

/// Runs the captures of these seeds on all processors.
fn all_agree(seeds: Seeds<u64>, size: Size, reach: Reach) {
    let chosen: Option<u64> =
        std::env::var("PROJECTION_SEED").ok().map(|seed| seed.parse().expect("a number"));
    let all = (seeds.end - seeds.start) as usize;
    let seeds: Vec<u64> = match chosen {
        Some(seed) if seeds.contains(&seed) => vec![seed],
        Some(_) => return,
        None => tried(all).map(|nth| seeds.start + nth as u64).collect(),
    };
    let seeds = &seeds;
    let folder = tempfile::tempdir().unwrap();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let failed = std::thread::scope(|scope| {
        let run = |nth: usize| {
            let path = folder.path().join(format!("{nth}.sqlite"));
            move || {
                let asker = Asker::new(reach);
                let mut own = seeds.iter().copied().skip(nth).step_by(workers);
                own.find_map(|seed| {
                    let verdict = check(&asker, &Trace::random(seed, size), reach, &path);
                    Some((seed, verdict.err()?))
                })
            }
        };
        let workers: Vec<_> = (0..workers).map(|nth| scope.spawn(run(nth))).collect();
        workers.into_iter().filter_map(|worker| worker.join().expect("no panic")).min()
    });
    if let Some((seed, reason)) = failed {
        explain(seed, &reason, size, reach, folder.path());
    }
}

/// Compares the three answers. The error describes the first difference.
fn check(asker: &Asker, trace: &Trace, reach: Reach, path: &Path) -> Result<(), String> {
    trace.write(path);
    let naive = naive::answers(trace, reach);
    // A panic counts as a failure, so that its seed and smallest capture are reported too.
    let asked = catch_unwind(AssertUnwindSafe(|| asker.ask(path)));
    let answered =
        asked.map_err(|_| "a panic, as above".to_owned())?.map_err(|error| error.to_string())?;
    let differences = [
        difference(("naive.rs", &naive), ("oracle.sql", &answered.oracle)),
        difference(("naive.rs", &naive), ("nsq", &answered.native)),
        answered.contradiction,
    ];
    differences.into_iter().flatten().next().map_or(Ok(()), Err)
}

/// Searches for a smaller capture that also fails, keeps it as a file, and panics with the details.
fn explain(seed: u64, reason: &str, size: Size, reach: Reach, folder: &Path) -> ! {
    let (asker, path) = (Asker::new(reach), folder.join("smaller.sqlite"));
    let (mut trace, mut smaller_reason) = (Trace::random(seed, size), reason.to_owned());
    loop {
        let fails = |trace: Trace| check(&asker, &trace, reach, &path).err().map(|why| (trace, why));
        let Some(smaller) = trace.reductions().find_map(fails) else { break };
        (trace, smaller_reason) = smaller;
    }
    let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("projection-{seed}.sqlite"));
    trace.write(&kept);
    panic!(
        "PROJECTION_SEED={seed}, attribution by {}: {reason}\n\n\
         The smallest part of it that fails is in {}:\n{trace}{smaller_reason}",
        reach.name(),
        kept.display()
    );
}

// The cases below are computed by hand, to test the oracles themselves.

const MAIN: i64 = 1 << 48 | 100 << 24 | 100;
const WORKER: i64 = MAIN + 1;

fn range(id: i64, thread: i64, start: i64, end: i64) -> Range {
    Range {
        id,
        start,
        end: Some(end),
        event_type: PUSH_POP,
        thread,
        end_thread: None,
        text: Text::Inline("forward"),
        domain: None,
    }
}

fn call(id: i64, thread: i64, start: i64, end: i64, number: i64) -> Call {
    Call { id, start, end, class: 0, thread, correlation: Some(number) }
}

fn op(kind: OpKind, id: i64, start: i64, end: i64, number: i64) -> Op {
    let name = (kind == OpKind::Kernel).then_some(trace::KERNELS[0]);
    Op { kind, id, start, end, process: trace::process(MAIN), correlation: Some(number), name }
}

/// Asserts that the three answers agree and that the relation's `columns` are as expected.
fn assert_answer(trace: &Trace, relation: &str, columns: &[&str], expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("by-hand.sqlite");
    check(&Asker::new(Reach::Thread), trace, Reach::Thread, &path).unwrap_or_else(|why| panic!("{why}"));
    let nth = RELATIONS.iter().position(|known| known.name == relation).expect("a known relation");
    let index = |column: &&str| {
        RELATIONS[nth].columns.iter().position(|known| known == column).expect("a known column")
    };
    let wanted: Vec<usize> = columns.iter().map(index).collect();
    let print = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::Int(int) => int.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Text(text) => text.clone(),
    };
    let answers = naive::answers(trace, Reach::Thread);
    let rows = answers[nth]
        .iter()
        .map(|row| wanted.iter().map(|&column| print(&row[column])).collect::<Vec<_>>().join(" | "));
    assert_eq!(rows.collect::<Vec<_>>(), expected, "{relation}: {}", columns.join(" | "));
}

#[test]
fn nested_ranges_count_the_launches_inside_them() {
    let trace = Trace {
        ranges: vec![
            range(1, MAIN, 0, 100),
            range(2, MAIN, 10, 40),
            range(3, MAIN, 10, 40), // same bounds as 2: the later row is inside
            range(4, MAIN, 50, 60),
            range(5, WORKER, 0, 100),
        ],
        calls: vec![
            call(1, MAIN, 10, 40, 1), // touches both bounds of the twins
            call(2, MAIN, 50, 61, 2), // ends after range 4
            call(3, MAIN, 101, 102, 3),
        ],
        ops: vec![
            op(OpKind::Kernel, 1, 200, 210, 1),
            op(OpKind::Kernel, 2, 205, 225, 1), // a graph launch: two kernels of one call
            op(OpKind::Memcpy, 1, 300, 301, 2),
            op(OpKind::Kernel, 3, 400, 407, 3),
        ],
        ..Trace::default()
    };
    assert_answer(
        &trace,
        "nvtx_projection",
        &[
            "range_id",
            "parent_id",
            "depth",
            "range_stack",
            "child_count",
            "op_count",
            "launch_count",
            "gpu_ns",
        ],
        &[
            "1 | - | 0 | :1 | 1 | 3 | 2 | 31",
            "2 | 1 | 1 | :1:2 | 1 | 2 | 1 | 30",
            "3 | 2 | 2 | :1:2:3 | 0 | 2 | 1 | 30",
            "4 | 1 | 1 | :1:4 | 0 | 0 | 0 | 0",
            "5 | - | 0 | :5 | 0 | 0 | 0 | 0",
        ],
    );
    assert_answer(
        &trace,
        "nvtx_projection",
        &[
            "range_id",
            "self_op_count",
            "self_launch_count",
            "self_gpu_ns",
            "proj_start_ns",
            "proj_end_ns",
            "busy_ns",
        ],
        &[
            "1 | 1 | 1 | 1 | 200 | 301 | 26",
            "2 | 0 | 0 | 0 | 200 | 225 | 25",
            "3 | 2 | 1 | 30 | 200 | 225 | 25",
            "4 | 0 | 0 | 0 | - | - | -",
            "5 | 0 | 0 | 0 | - | - | -",
        ],
    );
    assert_answer(
        &trace,
        "nvtx_range_kernel",
        &[
            "global_tid",
            "range_name",
            "range_count",
            "calls",
            "total_ns",
            "median_ns",
            "min_ns",
            "max_ns",
        ],
        &[
            "281476654432356 | - | 0 | 1 | 7 | 7 | 7 | 7",
            "281476654432356 | forward | 3 | 2 | 90 | 15 | 10 | 20",
        ],
    );
}

#[test]
fn crossing_ranges_each_count_the_launches_inside_them() {
    let started = |id, start, end| Range { event_type: START_END, ..range(id, MAIN, start, end) };
    let trace = Trace {
        // Ranges 1 and 2 both contain 3; its parent is 1, the shorter one.
        ranges: vec![started(1, 0, 50), started(2, 20, 80), range(3, MAIN, 30, 40)],
        calls: vec![
            call(1, MAIN, 5, 6, 1),
            call(2, MAIN, 21, 22, 2),
            call(3, MAIN, 49, 51, 3), // only range 2 contains it
            call(4, MAIN, 33, 34, 4),
            Call { class: 1, ..call(5, MAIN, 33, 34, 5) }, // inside call 4, with its own launch
        ],
        ops: (1..=5).map(|nth| op(OpKind::Kernel, nth, 10 * nth, 10 * nth + nth, nth)).collect(),
        ..Trace::default()
    };
    assert_answer(
        &trace,
        "nvtx_projection",
        &["range_id", "parent_id", "child_count", "op_count", "gpu_ns", "self_op_count", "self_gpu_ns"],
        &["1 | - | 1 | 4 | 12 | 1 | 1", "2 | - | 0 | 4 | 14 | 2 | 5", "3 | 1 | 0 | 2 | 9 | 2 | 9"],
    );
}

#[test]
fn an_operation_without_a_range_has_a_reason() {
    let elsewhere = trace::process(2 << 48 | 100 << 24);
    let trace = Trace {
        ranges: vec![
            range(1, WORKER, 0, 20),
            // Another thread ended it, so it counts for no thread.
            Range { event_type: START_END, end_thread: Some(WORKER), ..range(2, MAIN, 30, 50) },
        ],
        calls: vec![
            call(1, MAIN, 10, 11, 1),
            call(2, MAIN, 40, 41, 2),
            call(3, MAIN, 60, 61, 3),
            call(4, WORKER, 20, 20, 4),
            call(5, MAIN, 5, 6, 0),
        ],
        ops: vec![
            op(OpKind::Kernel, 1, 0, 1, 1),
            op(OpKind::Kernel, 2, 0, 1, 2),
            op(OpKind::Kernel, 3, 0, 1, 3),
            op(OpKind::Kernel, 4, 0, 1, 4),
            op(OpKind::Kernel, 5, 0, 1, 0),
            Op { process: elsewhere, ..op(OpKind::Kernel, 6, 0, 1, 4) },
            Op { correlation: None, ..op(OpKind::Memset, 1, 0, 1, 4) },
            op(OpKind::Graph, 1, 0, 1, 1),
            op(OpKind::Graph, 2, 0, 1, 4),
        ],
        ..Trace::default()
    };
    assert_answer(
        &trace,
        "nvtx_op",
        &["op_kind", "op_id", "call_id", "range_id", "unattributed"],
        &[
            "graph | 1 | 1 | - | graph-level trace",
            "graph | 2 | 4 | 1 | -",
            "kernel | 1 | 1 | - | other thread",
            "kernel | 2 | 2 | - | other thread",
            "kernel | 3 | 3 | - | no open range",
            "kernel | 4 | 4 | 1 | -",
            "kernel | 5 | - | - | no API row",
            "kernel | 6 | - | - | no API row",
            "memset | 1 | - | - | no API row",
        ],
    );
}

#[test]
fn range_names_and_missing_ends_follow_nvidia() {
    let domain = |id, thread, domain, text| Event {
        id,
        start: 0,
        event_type: 75,
        thread,
        text,
        domain: Some(domain),
    };
    let named = |id, text, domain| Range { text, domain, ..range(id, MAIN, id, 50) };
    let trace = Trace {
        events: vec![
            domain(1, 2 << 48 | MAIN, 1, Text::Inline("lib")), // another process with the same pid
            domain(2, MAIN, 1, Text::Inline("other")),         // created again: the first name counts
            domain(3, MAIN, 2, Text::Empty),
            Event { event_type: 34, start: 999, ..domain(4, MAIN, 0, Text::Empty) },
        ],
        ranges: vec![
            named(11, Text::Registered("forward"), Some(1)),
            named(12, Text::Inline("forward"), Some(2)),
            named(13, Text::Inline("forward"), Some(3)), // a domain without a row
            named(14, Text::Empty, Some(1)),
            Range { end: None, event_type: START_END, ..named(15, Text::Inline("step 1"), Some(0)) },
            Range { end: None, ..named(70, Text::Registered("step 1"), None) },
        ],
        ..Trace::default()
    };
    assert_answer(
        &trace,
        "nvtx_projection",
        &["range_id", "range_name", "range_kind", "end_ns", "range_stack"],
        &[
            "11 | lib:forward | PushPop | 50 | :11",
            "12 | - | PushPop | 50 | :11:12",
            "13 | forward | PushPop | 50 | :11:12:13",
            "14 | - | PushPop | 50 | :11:12:13:14",
            "15 | step 1 | StartEnd | 70 | :15",
            "70 | step 1 | PushPop | 70 | :15:70",
        ],
    );
    assert_answer(
        &trace,
        "nvtx_pushpop",
        &["range_id", "parent_id", "depth", "child_count", "child_ns"],
        &[
            "11 | - | 0 | 1 | 38",
            "12 | 11 | 1 | 1 | 37",
            "13 | 12 | 2 | 1 | 36",
            "14 | 13 | 3 | 0 | 0",
            "70 | - | 0 | 0 | 0",
        ],
    );
}
