//! Reads the API calls that explain why GPUs idled.

use crate::error::Result;
use crate::execute::guard::{self, Limits};
use crate::execute::native::ids::{Numbered, PROCESS};
use crate::execute::native::reader::Reader;
use crate::normalize::{Input, Statements, UNSCOPED};
use crate::occupancy::{ApiCall, Gap, IdleKind, IdlePart, NONE, Op, idle_parts};
use crate::projection::OpKind;
use foldhash::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Where the API calls are.
#[derive(Debug)]
pub(super) struct Source {
    database: PathBuf,
    statements: Statements,
    relations: Vec<(OpKind, &'static str)>,
    has_calls: bool,
}

/// The parts of all gaps, with the names of functions and the threads that they refer to.
#[derive(Debug, Default)]
pub(super) struct Idle {
    pub(super) parts: Vec<IdlePart>,
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

    /// Splits the gaps. `None` if it was stopped.
    pub(super) fn explain(&self, gaps: &[Gap], ops: &[Op], limits: &Limits) -> Result<Option<Idle>> {
        let mut reader = Reader::new(&self.database, &self.statements, limits);
        let mut idle = Idle::default();
        let (mut launches, mut calls) = (vec![None; gaps.len()], Vec::new());
        if self.has_calls {
            let wanted = self.launches_of(&mut reader, gaps, ops)?;
            calls = read_calls(&mut reader, &wanted, &mut launches, &mut idle)?;
        }
        let stop = || guard::is_over(limits);
        Ok(idle_parts(gaps, &launches, calls, &stop).map(|parts| Idle { parts, ..idle }))
    }

    /// The gaps that end in an operation with a process and correlation ID.
    fn launches_of(&self, reader: &mut Reader, gaps: &[Gap], ops: &[Op]) -> Result<Launches> {
        let mut launches = Launches { of_gap: vec![NONE; gaps.len()], ..Launches::default() };
        for &(kind, relation) in &self.relations {
            // An operation ends at most one gap of its GPU.
            let after = (0u32..).zip(gaps).filter_map(|(index, gap)| {
                let op = ops.get(gap.after as usize).filter(|op| op.kind == kind)?;
                Some((op.id, index))
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
                    && let Some(&gap) = after.get(&id)
                {
                    part.push((process, correlation, gap));
                }
                Ok(())
            })?;
            for (process, correlation, gap) in parts.into_iter().flatten() {
                launches.add(process, correlation, gap);
            }
        }
        Ok(launches)
    }
}

/// The launches that end gaps, numbered by process and correlation ID.
#[derive(Default)]
struct Launches {
    numbers: Numbered<(i64, i64)>,
    /// The launch of each gap, or [`NONE`].
    of_gap: Vec<u32>,
}

impl Launches {
    fn add(&mut self, process: i64, correlation: i64, gap: u32) {
        self.of_gap[gap as usize] = self.numbers.place((process, correlation));
    }
}

/// A part of the calls, with numbers of threads and functions of its own.
#[derive(Default)]
struct Calls {
    threads: Numbered<i64>,
    names: Numbered<i64>,
    calls: Vec<Call>,
    /// Calls that may launch what ends a gap: the number of the launch, the row ID of the call, and its place.
    launches: Vec<(u32, i64, u32)>,
}

struct Call {
    start: i64,
    end: i64,
    thread: u32,
    name: u32,
}

/// Reads the calls of the threads that launched, and the launch of each gap.
fn read_calls(
    reader: &mut Reader,
    wanted: &Launches,
    launches: &mut [Option<ApiCall>],
    idle: &mut Idle,
) -> Result<Vec<ApiCall>> {
    let columns = "call_id, start_ns, end_ns, global_tid, correlation_id, name_id";
    let parts = reader.scan("all_cuda_call", "call_id", columns, |part: &mut Calls, cells| {
        let (Some(id), Some(start), Some(end), Some(thread)) =
            (cells.int(0), cells.time(1)?, cells.time(2)?, cells.int(3))
        else {
            return Ok(());
        };
        let correlation = cells.int(4).unwrap_or_default();
        let place = part.calls.len() as u32;
        let launch = wanted.numbers.known((thread & PROCESS, correlation));
        part.launches.extend(launch.map(|launch| (launch, id, place)));
        let (thread, name) =
            (part.threads.place(thread), part.names.place(cells.int(5).unwrap_or_default()));
        part.calls.push(Call { start, end: end.max(start), thread, name });
        Ok(())
    })?;
    let (mut threads, mut names) = (Numbered::<i64>::default(), Numbered::<i64>::default());
    let mut kinds = Vec::new();
    let mut found: Vec<Option<(ApiCall, i64)>> = vec![None; wanted.numbers.values.len()];
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
        for (launch, id, place) in part.launches {
            let (call, found) = (calls[begun + place as usize], &mut found[launch as usize]);
            let rank = |(call, id): (ApiCall, i64)| (call.start, -call.end, id);
            // Of nested calls, the outermost is the launch.
            if found.is_none_or(|known| rank((call, id)) < rank(known)) {
                *found = Some((call, id));
            }
        }
    }
    for (launch, number) in launches.iter_mut().zip(&wanted.of_gap) {
        *launch = found.get(*number as usize).copied().flatten().map(|(call, _)| call);
    }
    let launching: HashSet<u32> = launches.iter().flatten().map(|call| call.thread).collect();
    calls.retain(|call| launching.contains(&call.thread));
    idle.threads = threads.values;
    Ok(calls)
}

/// `cudaLaunchKernel_v7000` → `cudaLaunchKernel`.
fn without_version(symbol: &str) -> &str {
    let digits = symbol.trim_end_matches(|c: char| c.is_ascii_digit());
    match digits.strip_suffix("_v") {
        Some(name) if digits.len() < symbol.len() => name,
        _ => symbol,
    }
}
