//! Reads the API calls that explain why GPUs idled.

use crate::execute::limits::Limits;
use crate::execute::native::ids::{Numbered, PROCESS};
use crate::execute::native::reader::Reader;
use crate::normalize::{Input, Statements, UNSCOPED};
use foldhash::{HashMap, HashSet};
use nsq_sweep::occupancy::{ApiCall, ApiCalls, Gap, IdleKind, IdlePart, NONE, Op, idle_parts};
use nsq_sweep::projection::OpKind;
use nsq_value::error::Result;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// Where the API calls are.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) database: PathBuf,
    pub(super) statements: Statements,
    /// The relations of the operations.
    pub(super) relations: Vec<(OpKind, &'static str)>,
    pub(super) has_calls: bool,
}

/// The parts of gaps, with the names of functions and the threads that they refer to.
#[derive(Debug, Default)]
pub(super) struct Idle {
    /// For each list of gaps, their parts, sorted by what they are.
    pub(super) parts: [Vec<IdlePart>; 2],
    /// Names of functions, without their version.
    pub(super) functions: Vec<String>,
    /// Global thread IDs.
    pub(super) threads: Vec<i64>,
}

impl Source {
    pub(super) fn new(database: &Path, input: &Input) -> Self {
        let relations = [
            (OpKind::Kernel, "kernel"),
            (OpKind::Memcpy, "memcpy"),
            (OpKind::Memset, "memset"),
            (OpKind::Graph, "graph_trace"),
        ];
        Self {
            database: database.to_owned(),
            statements: input.statements.clone(),
            relations: relations.to_vec(),
            has_calls: input.reads("all_cuda_call"),
        }
    }

    /// Splits two lists of gaps, for which it reads the calls once. `None` if it was stopped.
    pub(super) fn explain(
        &self,
        lists: [&[Gap]; 2],
        ops: &[Op],
        limits: &Limits,
    ) -> Result<Option<Idle>> {
        let mut reader = Reader::new(&self.database, &self.statements, limits);
        let (mut idle, mut launches, mut read) = (Idle::default(), Launches::default(), Read::default());
        if self.has_calls {
            launches = self.launches_of(&mut reader, lists, ops)?;
            read = read_calls(&mut reader, &launches, &mut idle)?;
        }
        let calls = ApiCalls::new(read.calls);
        let parts_of = |gaps: &[Gap]| {
            let launch_of = |gap: &Gap| *read.launches.get(launches.of(gap.after)? as usize)?;
            let mut parts = idle_parts(gaps, launch_of, &calls, limits)?;
            // A stable sort would copy half of them.
            parts.sort_unstable_by_key(|part| (part.kind, part.gap, part.start));
            parts.shrink_to_fit();
            Some(parts)
        };
        let (first, second) = limits.threads.both(|| parts_of(lists[0]), || parts_of(lists[1]));
        Ok(first.zip(second).map(|(first, second)| Idle { parts: [first, second], ..idle }))
    }

    /// The launches of the operations that end gaps and have a process and correlation ID.
    fn launches_of(&self, reader: &mut Reader, lists: [&[Gap]; 2], ops: &[Op]) -> Result<Launches> {
        let mut launches = Launches { of_op: vec![NONE; ops.len()], ..Launches::default() };
        for &(kind, relation) in &self.relations {
            let after = lists.into_iter().flatten().filter_map(|gap| {
                let op = ops.get(gap.after as usize).filter(|op| op.kind == kind)?;
                Some((op.id, gap.after))
            });
            let after: HashMap<i64, u32> = after.collect();
            if after.is_empty() {
                continue;
            }
            let id = format!("{relation}_id");
            let columns = format!("{id}, global_pid, correlation_id");
            let relation = format!("{UNSCOPED}{relation}");
            type Part = Vec<(i64, i64, u32)>;
            let parts = reader.scan(&relation, &id, &columns, |part: &mut Part, cells| {
                if let (Some(id), Some(process), Some(correlation)) =
                    (cells.int(0), cells.int(1), cells.int(2))
                    && correlation != 0
                    && let Some(&op) = after.get(&id)
                {
                    part.push((process, correlation, op));
                }
                Ok(())
            })?;
            for (process, correlation, op) in parts.into_iter().flatten() {
                launches.of_op[op as usize] = launches.numbers.place((process, correlation));
            }
        }
        Ok(launches)
    }
}

/// The launches of operations that end gaps, numbered by process and correlation ID.
#[derive(Default)]
struct Launches {
    numbers: Numbered<(i64, i64)>,
    /// The launch of each operation, or [`NONE`].
    of_op: Vec<u32>,
}

impl Launches {
    fn of(&self, op: u32) -> Option<u32> {
        self.of_op.get(op as usize).copied().filter(|launch| *launch != NONE)
    }
}

/// The calls of the threads that launched.
#[derive(Default)]
struct Read {
    calls: Vec<ApiCall>,
    /// The call of each launch, by its number.
    launches: Vec<Option<ApiCall>>,
}

/// A part of the calls, with numbers of threads and functions of its own.
#[derive(Default)]
struct Calls {
    threads: Numbered<i64>,
    names: Numbered<i64>,
    calls: Vec<Call>,
    /// Calls that may launch what ends a gap: the number of the launch, and the place of the call.
    launches: Vec<(u32, u32)>,
}

struct Call {
    start: i64,
    end: i64,
    thread: u32,
    name: u32,
}

/// Reads the calls of the threads that launched.
fn read_calls(reader: &mut Reader, wanted: &Launches, idle: &mut Idle) -> Result<Read> {
    let columns = "start_ns, end_ns, global_tid, correlation_id, name_id";
    let parts = reader.scan("all_cuda_call", "call_id", columns, |part: &mut Calls, cells| {
        let (Some(start), Some(end), Some(thread)) = (cells.time(0)?, cells.time(1)?, cells.int(2))
        else {
            return Ok(());
        };
        let correlation = cells.int(3).unwrap_or_default();
        let place = part.calls.len() as u32;
        let launch = wanted.numbers.known((thread & PROCESS, correlation));
        part.launches.extend(launch.map(|launch| (launch, place)));
        let (thread, name) =
            (part.threads.place(thread), part.names.place(cells.int(4).unwrap_or_default()));
        part.calls.push(Call { start, end: end.max(start), thread, name });
        Ok(())
    })?;
    let (mut threads, mut names) = (Numbered::<i64>::default(), Numbered::<i64>::default());
    let mut kinds = Vec::new();
    let mut found = vec![NONE; wanted.numbers.values.len()];
    let mut calls = Vec::new();
    for part in parts {
        let of_thread: Vec<u32> = part.threads.values.iter().map(|&id| threads.place(id)).collect();
        let of_name: Vec<u32> = part.names.values.iter().map(|&id| names.place(id)).collect();
        for &name in &names.values[kinds.len()..] {
            let text = reader.text_of(name)?;
            let text = text.map_or(String::new(), |text| String::from_utf8_lossy(&text).into_owned());
            kinds.push(IdleKind::of_call(&text));
            idle.functions.push(without_version(&text).to_owned());
        }
        let begun = calls.len();
        calls.extend(part.calls.into_iter().map(|Call { start, end, thread, name }| {
            let (thread, name) = (of_thread[thread as usize], of_name[name as usize]);
            ApiCall { start, end, thread, name, kind: kinds[name as usize] }
        }));
        for (launch, place) in part.launches {
            let (call, known) = (begun as u32 + place, &mut found[launch as usize]);
            let rank = |call: u32| {
                let of = &calls[call as usize];
                (of.start, Reverse(of.end), call)
            };
            // Of nested calls, the outermost is the launch.
            if *known == NONE || rank(call) < rank(*known) {
                *known = call;
            }
        }
    }
    let launches: Vec<_> = found.into_iter().map(|call| calls.get(call as usize).copied()).collect();
    let launching: HashSet<u32> = launches.iter().flatten().map(|call| call.thread).collect();
    calls.retain(|call| launching.contains(&call.thread));
    idle.threads = threads.values;
    Ok(Read { calls, launches })
}

/// `cudaLaunchKernel_v7000` → `cudaLaunchKernel`.
fn without_version(symbol: &str) -> &str {
    let digits = symbol.trim_end_matches(|c: char| c.is_ascii_digit());
    match digits.strip_suffix("_v") {
        Some(name) if digits.len() < symbol.len() => name,
        _ => symbol,
    }
}
