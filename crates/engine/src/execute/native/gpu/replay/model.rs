//! The graph of a report, from its operations and calls.

use super::functions::FunctionKind;
use super::waits::Waits;
use crate::execute::native::gpu::answers::Answers;
use crate::execute::native::gpu::launch::Launches;
use nsq_sweep::classify::Activity;
use nsq_sweep::occupancy::{Level, NONE, Occupancy};
use nsq_sweep::projection::OpKind;
use nsq_sweep::replay::{Capture, DeviceOp, Graph, HostCall, KERNEL};
use nsq_value::error::Result;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The graph, and what its numbers stand for. Operations have the places of [`Occupancy::ops`].
#[derive(Default)]
pub(in crate::execute::native::gpu) struct Model {
    pub(super) graph: Graph,
    /// The place of each call of the graph among the calls of the report. Calls inside others are left out.
    pub(super) places: Vec<u32>,
    /// What calls of each function do.
    pub(super) functions: Vec<FunctionKind>,
    /// The name of each function.
    pub(super) function_names: Vec<String>,
    /// Whether each call of the graph launched operations.
    pub(super) launches: Vec<bool>,
    /// The first operation that each call launched, or else the next one that its thread launched; or [`NONE`].
    pub(super) leads_to: Vec<u32>,
}

impl Model {
    pub(super) fn new(answers: &Answers) -> Result<Option<Self>> {
        let (launches, occupancy) = (answers.launches(), &answers.occupancy);
        let calls = &launches.calls;
        let mut reader = answers.calls.reader(&answers.limits);
        let mut function_names = Vec::new();
        for &name in &calls.name_ids {
            let text = reader.text_of(name)?.unwrap_or_default();
            function_names.push(String::from_utf8_lossy(&text).into_owned());
        }
        let functions: Vec<_> = function_names.iter().map(|name| FunctionKind::of(name)).collect();
        let (places, outer_of) = outermost(launches);
        let mut capture = Capture { gpu_of_stream: gpus(occupancy), ..Capture::default() };
        capture.calls = places
            .iter()
            .map(|&place| {
                let (start, end) = calls.waited(place as usize);
                let (thread, function) =
                    (calls.threads()[place as usize], calls.names()[place as usize]);
                HostCall { start, end: end.max(start), thread, function }
            })
            .collect();
        let outer = |op: usize| launches.place(op).map_or(NONE, |place| outer_of[place as usize]);
        let family = |op: usize| {
            let of = &occupancy.ops[op];
            let direction = || answers.labels.values[of.name as usize].id;
            match (of.kind, of.activity) {
                (OpKind::Kernel, Activity::Communication) => 1,
                (OpKind::Kernel, _) => KERNEL,
                (OpKind::Memset, _) => 2,
                (OpKind::Graph, _) => 3,
                (OpKind::Memcpy, _) => copies(direction()),
            }
        };
        capture.ops = (occupancy.ops.iter().enumerate())
            .map(|(place, op)| DeviceOp {
                start: op.start,
                end: op.end,
                stream: op.stream,
                family: family(place),
                launch: outer(place),
            })
            .collect();
        let (launched, leads_to) = launching(&capture);
        let waits = Waits { answers, functions: &functions, places: &places, outer_of: &outer_of };
        waits.add(&mut reader, &mut capture)?;
        capture.groups = collectives(answers);
        let graph = Graph::new(capture, &answers.limits);
        Ok(graph.map(|graph| Self {
            graph,
            places,
            functions,
            function_names,
            launches: launched,
            leads_to,
        }))
    }

    /// The place of the function that launched an operation.
    pub(super) fn function(&self, answers: &Answers, op: u32) -> Option<u32> {
        let call = self.graph.launch(op)?;
        Some(answers.launches().calls.names()[self.places[call as usize] as usize])
    }
}

/// The family of copies of a kind, as CUPTI numbers it.
pub(super) const fn copies(kind: i64) -> u8 {
    match kind {
        0..=31 => 4 + kind as u8,
        ..0 => 4,
        _ => 4 + 31,
    }
}

/// The GPU of each stream.
pub(super) fn gpus(occupancy: &Occupancy) -> Vec<u32> {
    (0..occupancy.streams.len() as u32).map(|stream| occupancy.lane(Level::Gpu, stream)).collect()
}

/// For each call: whether it launched operations, and the operation that it leads to.
fn launching(capture: &Capture) -> (Vec<bool>, Vec<u32>) {
    let mut first = vec![NONE; capture.calls.len()];
    for (place, op) in capture.ops.iter().enumerate().rev() {
        if let Some(of) = first.get_mut(op.launch as usize) {
            *of = place as u32;
        }
    }
    let launched = first.iter().map(|&op| op != NONE).collect();
    for call in (1..first.len()).rev() {
        if first[call - 1] == NONE && capture.calls[call].thread == capture.calls[call - 1].thread {
            first[call - 1] = first[call];
        }
    }
    (launched, first)
}

/// The calls of each thread that are in no other call and no loop that polls, in order, and for each call of the report the one of
/// these that contains it.
fn outermost(launches: &Launches) -> (Vec<u32>, Vec<u32>) {
    let calls = &launches.calls;
    // Rows of a thread mostly come in order, and this sort merges what is in order.
    let mut of_threads = vec![Vec::new(); calls.global_tids.len()];
    for (place, &thread) in (0u32..).zip(calls.threads()) {
        let (start, end) = calls.times(place as usize);
        of_threads[thread as usize].push((start, Reverse(end), place));
    }
    of_threads.iter_mut().for_each(|of| of.sort());
    let order = of_threads.into_iter().flatten().map(|(.., place)| place);
    let (mut places, mut outer_of) = (Vec::new(), vec![NONE; calls.len()]);
    let (mut thread, mut reached) = (NONE, i64::MIN);
    for place in order {
        let (start, end) = calls.waited(place as usize);
        if calls.threads()[place as usize] != thread || start >= reached {
            (thread, reached) = (calls.threads()[place as usize], end.max(start));
            places.push(place);
        }
        outer_of[place as usize] = places.len() as u32 - 1;
    }
    (places, outer_of)
}

/// Kernels of one collective on several GPUs: the n-th of its name on each, if all have run as many. Sends and receives
/// are one if more than two GPUs take part in each.
fn collectives(answers: &Answers) -> Vec<Vec<u32>> {
    let occupancy = &answers.occupancy;
    // For each name: its kernels, by process and GPU.
    let mut of_names: BTreeMap<&str, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    for (place, op) in (0u32..).zip(&occupancy.ops) {
        if op.kind != OpKind::Kernel || op.activity != Activity::Communication {
            continue;
        }
        let name = &answers.labels.names[answers.label(place as usize).name as usize];
        let lane = occupancy.lane(Level::Process, op.stream);
        of_names.entry(name).or_default().entry(lane).or_default().push(place);
    }
    let mut groups = Vec::new();
    for (name, of_lanes) in of_names {
        let lanes: Vec<Vec<u32>> = of_lanes.into_values().collect();
        if lanes.len() < 2 || lanes.iter().any(|lane| lane.len() != lanes[0].len()) {
            continue;
        }
        let calls = (0..lanes[0].len()).map(|nth| lanes.iter().map(|lane| lane[nth]).collect());
        let calls: Vec<Vec<u32>> = calls.collect();
        // Pairs of ranks run these, too: where all take part, none ends long before the others.
        let end_together = |call: &Vec<u32>| {
            let ops = || call.iter().map(|&place| &occupancy.ops[place as usize]);
            let start = ops().map(|op| op.start).max().unwrap_or_default();
            let (first, last) =
                ops().fold((i64::MAX, i64::MIN), |(a, b), op| (a.min(op.end), b.max(op.end)));
            start < first && last - first <= (last - start) / 10
        };
        if !name.contains("SendRecv") || lanes.len() > 2 && calls.iter().all(end_together) {
            groups.extend(calls);
        }
    }
    groups
}
