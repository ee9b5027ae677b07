//! Small captures whose replay is known.

use super::never;
use crate::occupancy::NONE;
use crate::replay::{
    AsRecorded, Capture, DeviceOp, Edits, Ends, GpuTimes, Graph, HostCall, IntervalsByGpu, KERNEL,
    PartKind,
};

/// Calls of one thread: start, end, function.
fn calls(of: &[(i64, i64, u32)]) -> Vec<HostCall> {
    of.iter().map(|&(start, end, function)| HostCall { start, end, thread: 0, function }).collect()
}

/// Operations: start, end, stream, launching call.
fn ops(of: &[(i64, i64, u32, u32)]) -> Vec<DeviceOp> {
    let op = |&(start, end, stream, launch)| DeviceOp { start, end, stream, family: 0, launch };
    of.iter().map(op).collect()
}

fn graph(capture: Capture) -> Graph {
    Graph::new(capture, &never).expect("nothing stops it")
}

/// A kernel of 100 µs that the host waits for, 20 µs of code, and a kernel of 50 µs.
fn waiting() -> Capture {
    Capture {
        calls: calls(&[
            (0, 4_000, 0),
            (5_000, 108_000, 1),
            (128_000, 132_000, 0),
            (133_000, 185_000, 1),
        ]),
        ops: ops(&[(5_000, 105_000, 0, 0), (133_000, 183_000, 0, 2)]),
        gpu_of_stream: vec![0],
        waits: vec![(1, 0), (3, 1)],
        ..Capture::default()
    }
}

#[test]
fn code_after_a_wait_follows_it() {
    let graph = graph(waiting());
    let mut edits = Edits::default();
    edits.scale_ops(&graph, |op| if op == 0 { 0.1 } else { 1.0 });
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    // 90 µs less for the kernel: everything after its end comes 90 µs sooner.
    assert_eq!(times.op_ends, [15_000, 93_000]);
    assert_eq!((times.call_ends[1], times.call_starts[2], times.call_ends[3]), (18_000, 38_000, 95_000));
}

/// Three kernels of 10 µs, 1 µs apart, and a copy, launched ahead of the GPU: only the kernels of the graph move together.
#[test]
fn kernels_of_a_graph_follow_each_other_at_once() {
    let launched = calls(&[(0, 2_000, 0), (2_500, 4_500, 0), (5_000, 7_000, 0), (7_500, 9_500, 1)]);
    let mut launches = ops(&[
        (4_000, 14_000, 0, 0),
        (15_000, 25_000, 0, 1),
        (26_000, 36_000, 0, 2),
        (37_000, 38_000, 0, 3),
    ]);
    launches[3].family = KERNEL + 1;
    let capture =
        Capture { calls: launched, ops: launches, gpu_of_stream: vec![0], ..Capture::default() };
    let graph = graph(capture);
    let mut edits = Edits::default();
    edits.launch_as_graphs(&graph, |_| false);
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    assert_eq!(times.op_starts, [4_000, 14_300, 24_600, 35_600]);
}

/// The ends of both kernels after an edit at times of the GPU.
fn ends_after(at: &str, edit: impl Fn(&mut Edits, &Graph, &GpuTimes<'_>)) -> Vec<i64> {
    let graph = graph(waiting());
    let intervals: IntervalsByGpu = at.parse().expect("they are times");
    let at =
        GpuTimes { times: vec![intervals.of_gpu(0)], gpu_of_stream: &[0], leads_to: &[0, 1, 1, NONE] };
    let mut edits = Edits::default();
    edit(&mut edits, &graph, &at);
    graph.replay(&edits, &never).expect("nothing stops it").op_ends
}

#[test]
fn what_holds_up_the_gpu_at_a_time_takes_none() {
    // The code and the launching call go; the return of the wait and the launch latency, 4 µs, remain.
    assert_eq!(ends_after("0:105000+28000", Edits::cut_idle), [105_000, 159_000]);
    // Half of the code.
    assert_eq!(ends_after("0:108000+10000", Edits::cut_idle), [105_000, 173_000]);
    assert_eq!(ends_after("1:105000+28000", Edits::cut_idle), [105_000, 183_000]);
}

/// Three times a kernel of 100 µs, and a call that waits for it and then does something else for 500 µs.
#[test]
fn what_a_call_does_after_its_wait_takes_its_own_time() {
    let starts = [0, 700_000, 1_400_000];
    let of_step = |at: i64| [(at, at + 4_000, 0), (at + 4_000, at + 605_000, 1)];
    let of = |call: u32, at: i64| (at + 5_000, at + 105_000, 0, call);
    let capture = Capture {
        // The first one creates a context, and says nothing of the others.
        calls: calls(
            &[
                &[(-900_000, -100_000, 1)][..],
                &starts.iter().flat_map(|&at| of_step(at)).collect::<Vec<_>>()[..],
            ]
            .concat(),
        ),
        ops: ops(&[of(1, starts[0]), of(3, starts[1]), of(5, starts[2])]),
        gpu_of_stream: vec![0],
        waits: vec![(2, 0), (4, 1), (6, 2)],
        ..Capture::default()
    };
    let graph = graph(capture);
    assert_eq!(graph.replay(&AsRecorded, &never), Some(graph.recorded()));
    // Faster kernels leave the rest of the call as long as it was.
    let mut edits = Edits::default();
    edits.scale_ops(&graph, |_| 0.1);
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    assert_eq!(times.call_ends[2], 515_000);
    // Without this rest, a return that is usual remains: 40 µs.
    let intervals: IntervalsByGpu = "0:105000+500000".parse().expect("they are times");
    let leads_to = [0, 0, 1, 1, 2, 2, NONE];
    let at = GpuTimes { times: vec![intervals.of_gpu(0)], gpu_of_stream: &[0], leads_to: &leads_to };
    let mut edits = Edits::default();
    edits.cut_idle(&graph, &at);
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    assert_eq!(times.call_ends[2], 145_000);
    // The chain calls it a call's own time.
    let chain = graph.chain(&graph.recorded(), &AsRecorded, 1, 5_000);
    let parts: Vec<_> = chain.iter().map(|part| (part.kind, part.end - part.start)).collect();
    assert_eq!(
        parts[..3],
        [(PartKind::Op, 100_000), (PartKind::Return, 40_000), (PartKind::Call, 460_000)]
    );
}

#[test]
fn kernels_take_no_time_at_these_times() {
    assert_eq!(
        ends_after("0:55000+50000", |edits, graph, at| edits.cut_work(graph, at, |_| true)),
        [55_000, 133_000]
    );
}

#[test]
fn a_call_that_does_not_wait_lets_the_next_launch_run_ahead() {
    // The second kernel follows the first one in its stream, 1 µs later.
    assert_eq!(ends_after("0:105000+1000", Edits::skip_waits), [105_000, 156_000]);
}

/// Steps of 100 µs: a kernel, and a copy that the host waits for.
fn blocking_steps(starts: &[i64]) -> Capture {
    let of_step = |at: i64| [(at, at + 4_000, 0), (at + 10_000, at + 60_000, 1)];
    let calls = calls(&starts.iter().flat_map(|&at| of_step(at)).collect::<Vec<_>>());
    let of_step = |(call, at): (u32, i64)| {
        [(at + 5_000, at + 20_000, 0, call), (at + 21_000, at + 58_000, 0, call + 1)]
    };
    let steps = (0..).step_by(2).zip(starts.iter().copied());
    let ops = ops(&steps.flat_map(of_step).collect::<Vec<_>>());
    let waits = (0..starts.len() as u32).map(|step| (2 * step + 1, 2 * step + 1)).collect();
    Capture { calls, ops, gpu_of_stream: vec![0], waits, ..Capture::default() }
}

#[test]
fn the_wait_that_ends_the_last_step_goes_with_those_before() {
    // The copies after which the GPU idles at these times, with the next steps at these starts.
    let removed = |starts: &[i64], at: &str| {
        let graph = graph(blocking_steps(starts));
        let intervals: IntervalsByGpu = at.parse().expect("they are times");
        let leads_to: Vec<u32> = (0..2 * starts.len() as u32).collect();
        let times = vec![intervals.of_gpu(0)];
        let at = GpuTimes { times, gpu_of_stream: &[0], leads_to: &leads_to };
        let mut edits = Edits::default();
        edits.skip_waits(&graph, &at);
        let copies = edits.removed.chunks(2).map(|step| step[1]).collect::<Vec<_>>();
        assert!(edits.removed.chunks(2).all(|step| !step[0]));
        copies
    };
    let regular = [0, 100_000, 200_000, 300_000];
    assert_eq!(removed(&regular, "0:58000+47000,53000+47000"), [true, true, true, false]);
    // One wait says nothing of the next, nor do two of one that comes much later.
    assert_eq!(removed(&regular, "0:58000+47000"), [true, false, false, false]);
    // Nor does one between others, whose wait no time follows.
    assert_eq!(removed(&regular, "0:58000+47000,53000+47000,153000+47000"), [true, true, false, true]);
    let late = [0, 100_000, 900_000, 1_000_000];
    assert_eq!(removed(&late, "0:58000+47000,53000+47000"), [true, true, false, false]);
}

#[test]
fn the_host_takes_what_it_does_without_waiting() {
    let graph = graph(blocking_steps(&[0, 100_000, 200_000, 300_000]));
    // From the first launch to the last one: three times 96 µs of code and calls, and 4 µs for the launch, less the waits.
    let all = graph.host_time(6, 4_000, &AsRecorded);
    let waits: i64 = [1, 3, 5].map(|call| 50_000 - graph.work(call)).iter().sum();
    assert_eq!(all, 300_000 - waits);
    assert_eq!(graph.host_time(6, 204_000, &AsRecorded) * 3, all);
    // Code that an edit halves counts half.
    let mut edits = Edits::default();
    edits.scale_code(&graph, |_| 0.5);
    let codes: i64 = (1..=6).filter_map(|call| graph.code(call)).sum();
    assert_eq!(graph.host_time(6, 4_000, &edits), all - codes / 2);
    // What began before does not count.
    assert_eq!(graph.host_time(6, 301_000, &AsRecorded), 0);
}

#[test]
fn a_window_that_ends_with_a_removed_copy_ends_with_what_remains() {
    let graph = graph(blocking_steps(&[0, 100_000, 200_000]));
    let mut edits = Edits::default();
    edits.remove(&graph, |op| op == 3 || op == 5);
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    let remains = |op: u32| op != 3 && op != 5;
    let ops = [0, 1, 2, 3, 4, 5];
    let ends = Ends::new(&graph, &times, Some(0), &ops, remains);
    let at = |time: i64| ends.at(&graph, &times, &ops, time);
    // The first copy remains, and ends at 58 µs. After the last kernel, nothing does.
    assert_eq!(at(58_000), Some((58_000, Some(1))));
    assert_eq!(at(258_000), Some((times.op_ends[4], Some(4))));
    assert_eq!(at(260_000), Some((times.op_ends[4] + 2_000, Some(4))));
}

#[test]
fn times_are_read_as_they_are_written() {
    let mut intervals = IntervalsByGpu::default();
    for (gpu, start, end) in
        [(1, 5, 9), (0, -7, -2), (1, 8, 20), (1, 30, 31), (2, 4, 4), (0, 1 << 62, i64::MAX)]
    {
        intervals.add(gpu, start, end);
    }
    let text = intervals.to_string();
    assert_eq!(text, "0:-7+5,4611686018427387906+4611686018427387903;1:5+15,10+1");
    let read: IntervalsByGpu = text.parse().expect("it is well-formed");
    assert_eq!(read.to_string(), text);
    assert_eq!("".parse(), Ok(IntervalsByGpu::default()));
    for text in ["0", "0:5", "x:1+2", "0:1+2,3", "0:99999999999999999999+1"] {
        assert!(text.parse::<IntervalsByGpu>().is_err(), "{text}");
    }
}

#[test]
fn the_chain_goes_through_the_wait_and_the_code_after_it() {
    let graph = graph(waiting());
    let times = graph.replay(&AsRecorded, &never).expect("nothing stops it");
    let chain = graph.chain(&times, &AsRecorded, 1, 5_000);
    let parts: Vec<_> = chain.iter().map(|part| (part.kind, part.start, part.end)).collect();
    assert_eq!(
        parts,
        [
            (PartKind::Op, 5_000, 105_000),
            (PartKind::Return, 105_000, 108_000),
            (PartKind::Code, 108_000, 128_000),
            (PartKind::Call, 128_000, 132_000),
            (PartKind::Launch, 132_000, 133_000),
            (PartKind::Op, 133_000, 183_000),
        ]
    );
}

#[test]
fn a_removed_copy_holds_up_nobody() {
    let mut capture = waiting();
    // A blocking copy instead of the second kernel.
    capture.calls.pop();
    capture.calls[2].end = 185_000;
    capture.waits = vec![(1, 0), (2, 1)];
    let graph = graph(capture);
    let mut edits = Edits::default();
    edits.remove(&graph, |op| op == 1);
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    assert_eq!((times.call_starts[2], times.call_ends[2]), (128_000, 128_000));
    assert_eq!(times.op_ends[1], 105_000);
}

#[test]
fn copies_beside_kernels_still_take_their_time() {
    // A kernel, a copy, a kernel, a copy: 100 µs each on one stream, launched at once.
    let capture = Capture {
        calls: calls(&[(0, 1_000, 0), (1_000, 2_000, 0), (2_000, 3_000, 0), (3_000, 4_000, 0)]),
        ops: ops(&[
            (2_000, 102_000, 0, 0),
            (103_000, 203_000, 0, 1),
            (204_000, 304_000, 0, 2),
            (305_000, 405_000, 0, 3),
        ])
        .into_iter()
        .enumerate()
        .map(|(place, op)| DeviceOp { family: (place % 2) as u8, ..op })
        .collect(),
        gpu_of_stream: vec![0],
        ..Capture::default()
    };
    let graph = graph(capture);
    let mut edits = Edits::default();
    edits.overlap(&graph, &[0], |op| op % 2 == 1);
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    let (kernels, copies) =
        ([times.op_starts[0], times.op_starts[2]], [times.op_starts[1], times.op_starts[3]]);
    assert_eq!(kernels, [2_000, 103_000]);
    assert!((2_000..4_000).contains(&copies[0]), "{copies:?}");
    assert_eq!(copies[1], copies[0] + 101_000);
    let chain = graph.chain(&times, &edits, 3, 0);
    assert_eq!(chain.iter().map(|part| part.end - part.start).sum::<i64>(), times.op_ends[3]);
}

/// A kernel makes what a copy brings to the kernel of another GPU. Beside them, the copy holds up nobody, but what was not
/// made cannot be used.
#[test]
fn what_a_copy_beside_kernels_brings_must_have_been_made() {
    let capture = Capture {
        calls: calls(&[(0, 1_000, 0), (1_000, 2_000, 0), (2_000, 3_000, 0)]),
        ops: ops(&[(2_000, 102_000, 0, 0), (104_000, 204_000, 1, 1), (206_000, 306_000, 2, 2)]),
        gpu_of_stream: vec![0, 0, 1],
        events: vec![(1, 0), (2, 1)],
        ..Capture::default()
    };
    let graph = graph(capture);
    let mut edits = Edits::default();
    edits.overlap(&graph, &[0, 0, 1], |op| op == 1);
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    assert_eq!(times.op_starts[2], 104_000);
    assert!(times.op_starts[1] < 4_000, "{times:?}");
}

#[test]
fn delay_without_a_cause_stays() {
    // Launched at 4 µs and 8 µs: the second one begins 1 ms after the first has ended.
    let capture = Capture {
        calls: calls(&[(0, 4_000, 0), (4_000, 8_000, 0)]),
        ops: ops(&[(5_000, 105_000, 0, 0), (1_105_000, 1_106_000, 0, 1)]),
        gpu_of_stream: vec![0],
        ..Capture::default()
    };
    let graph = graph(capture);
    let mut edits = Edits::default();
    edits.scale_ops(&graph, |op| if op == 0 { 0.5 } else { 1.0 });
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    assert_eq!(times.op_starts[1], 1_055_000);
    let chain = graph.chain(&times, &edits, 1, 0);
    let unexplained: i64 = chain
        .iter()
        .filter(|part| part.kind == PartKind::Unexplained)
        .map(|part| part.end - part.start)
        .sum();
    assert!((900_000..1_000_000).contains(&unexplained), "{chain:?}");
}

#[test]
fn an_operation_that_starts_as_the_last_blocks_of_another_stream_end_waits_for_them() {
    let capture = Capture {
        calls: calls(&[(0, 4_000, 0), (4_000, 8_000, 0)]),
        ops: ops(&[(5_000, 105_000, 0, 0), (100_000, 120_000, 1, 1)]),
        gpu_of_stream: vec![0, 0],
        ..Capture::default()
    };
    super::is_as_recorded(&capture);
    let graph = graph(capture);
    let mut edits = Edits::default();
    edits.scale_ops(&graph, |op| if op == 0 { 0.5 } else { 1.0 });
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    assert_eq!((times.op_ends[0], times.op_starts[1]), (55_000, 50_000));
}

#[test]
fn a_dependent_launch_starts_with_the_last_blocks_of_the_kernel_before() {
    let capture = Capture {
        calls: calls(&[(0, 4_000, 0), (4_000, 8_000, 0), (8_000, 12_000, 0)]),
        ops: ops(&[(5_000, 50_000, 0, 0), (52_000, 152_000, 0, 1), (149_000, 160_000, 0, 2)]),
        gpu_of_stream: vec![0],
        ..Capture::default()
    };
    super::is_as_recorded(&capture);
    let graph = graph(capture);
    let mut edits = Edits::default();
    edits.scale_ops(&graph, |op| if op == 1 { 0.5 } else { 1.0 });
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    assert_eq!((times.op_ends[1], times.op_starts[2]), (102_000, 99_000));
}

#[test]
fn two_kernels_in_one_take_half_of_their_time_and_of_launching() {
    // 10 µs of code, 4 µs of launching, 3 µs until it runs: four times, of which two are fused.
    let launched = |n: i64| (14_000 * n, 14_000 * n + 4_000, 0);
    let run = |n: i64| (14_000 * n + 7_000, 14_000 * n + 12_000, 0, n as u32);
    let capture = Capture {
        calls: calls(&[0, 1, 2, 3].map(launched)),
        ops: ops(&[0, 1, 2, 3].map(run)),
        gpu_of_stream: vec![0],
        ..Capture::default()
    };
    let graph = graph(capture);
    let mut edits = Edits::default();
    edits.fuse(&graph, |op| if op == 1 || op == 2 { 0.5 } else { 1.0 });
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    // The call of 1 begins after half of the code, that of 3 after all of it.
    assert_eq!(times.call_starts, [0, 9_000, 16_000, 28_000]);
    assert_eq!(times.op_ends, [12_000, 16_500, 23_500, 40_000]);
}

#[test]
fn members_of_a_collective_end_when_the_last_has_arrived() {
    let capture = Capture {
        calls: calls(&[(0, 1_000, 0)]),
        ops: ops(&[
            (2_000, 30_000, 0, NONE),
            (2_000, 60_000, 2, NONE),
            (31_000, 80_000, 0, NONE),
            (61_000, 80_500, 2, NONE),
        ]),
        gpu_of_stream: vec![0, 0, 1],
        groups: vec![vec![2, 3]],
        ..Capture::default()
    };
    let graph = graph(capture);
    let mut edits = Edits::default();
    // The late rank becomes the early one.
    edits.scale_ops(&graph, |op| if op == 1 { 0.25 } else { 1.0 });
    let times = graph.replay(&edits, &never).expect("nothing stops it");
    assert_eq!(times.op_starts[2..], [31_000, 17_500]);
    assert_eq!(times.op_ends[2..], [50_000, 50_500]);
}

#[test]
fn an_edge_against_time_is_left_out() {
    // Kernels of one stream that overlap, a launch after its kernel, a wait that ends before its kernel.
    let capture = Capture {
        calls: calls(&[(0, 10, 0), (60, 70, 1), (80, 90, 0)]),
        ops: ops(&[(20, 100, 0, 0), (50, 75, 0, 2)]),
        gpu_of_stream: vec![0],
        waits: vec![(1, 0)],
        events: vec![(1, 0)],
        wakes: vec![(0, 2)],
        groups: vec![vec![0, 1], vec![0]],
    };
    super::is_as_recorded(&capture);
}
