//! Compares the occupancy of GPUs with a naive timeline that checks every nanosecond.

use crate::support::stdout;
use nsq::classify::Activity;
use nsq::interval::TimeSet;
use nsq::occupancy::{Level, NONE, Occupancy, Op, Overlap, Shares, Stream, Window, Work};
use nsq::projection::{OpKind, Stop};
use std::collections::HashMap;

/// Times range from 0 to this.
const END: i64 = 40;
/// A stop flag that is never set.
const NEVER: Stop<'static> = &|| false;
/// Number of random captures.
const CAPTURES: u64 = 3_000;

/// A small random number generator: the captures are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as i64
    }
}

const ACTIVITIES: [Activity; 3] = [Activity::Compute, Activity::Communication, Activity::Memory];

fn streams() -> Vec<Stream> {
    let stream = |gpu_id, global_pid, device_id, stream_id| Stream {
        gpu_id,
        global_pid,
        device_id,
        context_id: Some(1),
        stream_id: Some(stream_id),
    };
    // Deliberately out of order. Two processes share GPU 0, and device 0 is a different GPU in each.
    vec![stream(1, 2, 0, 7), stream(0, 1, 0, 9), stream(0, 2, 1, 7), stream(0, 1, 0, 7)]
}

fn capture(random: &mut Random) -> (Vec<Op>, Window) {
    let count = random.below(12);
    let ops = (0..count).map(|id| {
        let start = random.below(END);
        let length = if random.below(8) == 0 { 0 } else { random.below(9) };
        Op {
            start,
            end: (start + length).min(END),
            kind: OpKind::Kernel,
            id,
            stream: random.below(4) as u32,
            name: 0,
            activity: ACTIVITIES[random.below(3) as usize],
            correlation: 0,
        }
    });
    let ops = ops.collect();
    let open = |random: &mut Random| (random.below(3) > 0).then(|| random.below(END));
    let window = match random.below(3) {
        0 => Window::Whole,
        1 => Window::Time { from: open(random), to: open(random) },
        _ => {
            let pieces = 1 + random.below(3);
            let pieces = (0..pieces).map(|_| (random.below(END), random.below(END)));
            Window::Pieces(TimeSet::union_of(pieces.collect()))
        }
    };
    (ops, window)
}

/// A naive implementation of occupancy.
struct Timeline<'a> {
    occupancy: &'a Occupancy,
}

impl Timeline<'_> {
    /// Whether the nanosecond that begins at `at` is in the window.
    fn is_in_window(&self, level: Level, lane: u32, at: i64) -> bool {
        match &self.occupancy.window {
            Window::Whole => true,
            Window::Pieces(pieces) => pieces.intervals().iter().any(|&(from, to)| from <= at && at < to),
            &Window::Time { from, to } => {
                let (first, last) = self.extent(level, lane);
                from.unwrap_or(first) <= at && at < to.unwrap_or(last)
            }
        }
    }

    /// The lane's first start and last end.
    fn extent(&self, level: Level, lane: u32) -> (i64, i64) {
        let first = self.ops(level, lane).map(|op| op.start).min();
        let last = self.ops(level, lane).map(|op| op.end).max();
        first.zip(last).unwrap_or_default()
    }

    fn ops(&self, level: Level, lane: u32) -> impl Iterator<Item = &Op> {
        self.occupancy.ops.iter().filter(move |op| self.occupancy.lane(level, op.stream) == lane)
    }

    /// The lane's operations that run in the nanosecond that begins at `at`.
    fn running(&self, level: Level, lane: u32, at: i64) -> Vec<&Op> {
        match self.is_in_window(level, lane, at) {
            true => self.ops(level, lane).filter(|op| op.start <= at && at < op.end).collect(),
            false => Vec::new(),
        }
    }

    fn shares(&self, gpu: u32, from: i64, to: i64) -> Shares {
        let mut shares = Shares::default();
        for at in from..to {
            let running = self.running(Level::Gpu, gpu, at);
            let runs = |wanted| i64::from(running.iter().any(|op| op.activity == wanted));
            let [compute, communication, memory] = ACTIVITIES.map(runs);
            shares.length += i64::from(self.is_in_window(Level::Gpu, gpu, at));
            shares.busy += i64::from(!running.is_empty());
            shares.compute += compute;
            shares.communication += communication;
            shares.memory += memory;
            shares.exposed_communication += communication * (1 - compute);
            shares.exposed_memory += memory * (1 - communication) * (1 - compute);
            shares.idle += i64::from(self.is_in_window(Level::Gpu, gpu, at) && running.is_empty());
        }
        shares
    }

    fn overlap(&self, what: Overlap, op: &Op) -> i64 {
        let gpu = self.occupancy.lane(Level::Gpu, op.stream);
        let counts = |&at: &i64| {
            let running = self.running(Level::Gpu, gpu, at);
            let runs = |wanted| running.iter().any(|op| op.activity == wanted);
            self.is_in_window(Level::Gpu, gpu, at)
                && match what {
                    Overlap::InWindow => true,
                    Overlap::Compute => runs(Activity::Compute),
                    Overlap::Communication => runs(Activity::Communication),
                    Overlap::Memory => runs(Activity::Memory),
                    Overlap::Exposed => !running.iter().any(|other| other.activity < op.activity),
                    Overlap::Concurrent => running.len() > 1,
                }
        };
        (op.start..op.end).filter(counts).count() as i64
    }
}

#[test]
fn occupancy_matches_a_naive_timeline() {
    let mut random = Random(1);
    let (mut exposed, mut idle, mut moments) = (0, 0, 0);
    for seed in 0..CAPTURES {
        let (ops, window) = capture(&mut random);
        let occupancy = Occupancy::new(ops, streams(), window);
        let timeline = Timeline { occupancy: &occupancy };
        for (gpu, decomposition) in (0u32..).zip(occupancy.decompositions(NEVER).unwrap()) {
            let whole = decomposition.whole();
            let (first, last) = timeline.extent(Level::Gpu, gpu);
            let (from, to) = match &occupancy.window {
                Window::Whole => (first, last),
                Window::Pieces(pieces) => pieces.extent().unwrap_or_default(),
                Window::Time { from, to } => (from.unwrap_or(first), to.unwrap_or(last)),
            };
            assert_eq!(
                whole,
                timeline.shares(gpu, from, to),
                "capture {seed}, gpu {gpu}: {occupancy:?}"
            );
            let parts = whole.compute + whole.exposed_communication + whole.exposed_memory;
            assert_eq!(
                parts + whole.idle,
                whole.length,
                "capture {seed}: the parts must add up to the window"
            );
            assert_eq!(parts, whole.busy);
            let (from, to) = (random.below(END), random.below(END));
            let asked = decomposition.within(from, to);
            assert_eq!(asked, timeline.shares(gpu, from, to), "capture {seed}, gpu {gpu}, {from}..{to}");
            for op in timeline.ops(Level::Gpu, gpu) {
                for what in Overlap::ALL {
                    let overlap = decomposition.overlap(what, op.start, op.end, op.activity);
                    let naive = timeline.overlap(what, op);
                    assert_eq!(overlap, naive, "capture {seed}, {what:?} of {op:?} in {occupancy:?}");
                }
            }
            exposed += whole.exposed_communication + whole.exposed_memory;
            idle += whole.idle;
        }
        moments += occupancy.ops.iter().filter(|op| op.start == op.end).count();
        for level in Level::ALL {
            check_lanes(seed, level, &timeline);
        }
    }
    // The captures must exercise all parts.
    assert!(exposed > 10_000 && idle > 10_000 && moments > 1_000, "{exposed} {idle} {moments}");
}

fn check_lanes(seed: u64, level: Level, timeline: &Timeline<'_>) {
    let occupancy = timeline.occupancy;
    let gaps = occupancy.gaps(level, Work::Any, NEVER).unwrap();
    let about = || format!("capture {seed}, level {}: {occupancy:?}", level.as_str());
    for lane in 0..occupancy.lane_count(level) as u32 {
        for activity in ACTIVITIES.map(Some).into_iter().chain([None]) {
            let stretches =
                occupancy.stretches(level, activity.map_or(Work::Any, Work::Of), NEVER).unwrap();
            for at in 0..END {
                let mut here = stretches.iter().filter(|stretch| stretch.lane == lane);
                let is_busy = here.any(|stretch| stretch.start <= at && at < stretch.end);
                let mut running = timeline.running(level, lane, at).into_iter();
                let runs = running.any(|op| activity.is_none_or(|wanted| wanted == op.activity));
                assert_eq!(is_busy, runs, "at {at}, {}", about());
            }
        }
        let (first, last) = timeline.extent(level, lane);
        for at in 0..END {
            let is_asked = match &occupancy.window {
                Window::Whole => first <= at && at < last,
                _ => timeline.is_in_window(level, lane, at),
            };
            let is_gap = gaps.iter().any(|gap| gap.lane == lane && gap.start <= at && at < gap.end);
            let is_idle = is_asked && timeline.running(level, lane, at).is_empty();
            assert_eq!(is_gap, is_idle, "at {at}, {}", about());
        }
    }
    for gap in &gaps {
        assert!(gap.start < gap.end, "{}", about());
        let op = |index: u32| occupancy.ops.get(index as usize);
        assert!(
            gap.before == NONE || op(gap.before).is_some_and(|op| op.end == gap.start),
            "{}",
            about()
        );
        assert!(gap.after == NONE || op(gap.after).is_some_and(|op| op.start == gap.end), "{}", about());
        let mut of_lane = timeline.ops(level, gap.lane);
        let splits = of_lane.any(|op| op.start > gap.start && op.start < gap.end);
        assert!(!splits, "an operation begins in a gap, perhaps one of 0 ns: {}", about());
    }
}

/// What each microsecond counts for: the kernel that runs in it and started first, of those that started together the
/// longest.
#[test]
fn each_time_counts_for_the_kernel_that_started_first() {
    const LAST: i64 = 300;
    let mut random = Random(11);
    let folder = tempfile::tempdir().unwrap();
    let (mut counted, mut hidden) = (0, 0);
    for nth in 0..4 {
        // Start, length, GPU and stream of each.
        let kernels: Vec<[i64; 4]> = (0..60)
            .map(|_| {
                let start = random.below(LAST / 4) * 4;
                [start, 1 + random.below(LAST - start).min(20), random.below(2), 7 + random.below(3)]
            })
            .collect();
        let events: Vec<serde_json::Value> = kernels
            .iter()
            .enumerate()
            .map(|(id, [start, length, gpu, stream])| {
                serde_json::json!({"ph": "X", "cat": "kernel", "name": format!("kernel_{id}"), "pid": gpu,
                  "tid": stream, "ts": start, "dur": length,
                  "args": {"device": gpu, "context": 1, "stream": stream, "correlation": id + 1}})
            })
            .collect();
        let trace = folder.path().join(format!("{nth}.json"));
        std::fs::write(&trace, serde_json::json!({"traceEvents": events}).to_string()).unwrap();
        for per_gpu in [true, false] {
            let asked = format!("per_gpu={per_gpu}");
            let answer = stdout(&[
                "run",
                trace.to_str().unwrap(),
                "-q",
                "gpu_elapsed",
                "-p",
                &asked,
                "-f",
                "csv",
                "--columns",
                "op_name,elapsed_ns",
            ]);
            let elapsed: HashMap<&str, i64> = answer
                .lines()
                .skip(1)
                .map(|line| line.split_once(',').unwrap())
                .map(|(name, ns)| (name, ns.parse().unwrap()))
                .collect();
            assert_eq!(elapsed.len(), kernels.len());
            for (id, kernel) in kernels.iter().enumerate() {
                // Kernels that equal each other in all of this share their time in the order of their IDs.
                let rank = |(id, [start, length, gpu, stream]): (usize, &[i64; 4])| {
                    (*start, -length, *gpu, *stream, id)
                };
                let counts_for = |at: &i64| {
                    let runs = |(_, other): &(usize, &[i64; 4])| {
                        other[0] <= *at
                            && *at < other[0] + other[1]
                            && (!per_gpu || other[2] == kernel[2])
                    };
                    let first = kernels.iter().enumerate().filter(runs).map(rank).min();
                    first == Some(rank((id, kernel)))
                };
                let expected = 1_000 * (0..LAST + 20).filter(counts_for).count() as i64;
                assert_eq!(
                    elapsed[format!("kernel_{id}").as_str()],
                    expected,
                    "{asked}: {kernel:?} of {kernels:?}"
                );
                counted += expected;
                hidden += usize::from(expected == 0);
            }
        }
    }
    assert!(counted > 1_000_000 && hidden > 20, "{counted}, {hidden}");
}
