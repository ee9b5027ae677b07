//! Reads the API calls that explain why GPUs idled.

use crate::error::Result;
use crate::execute::guard::{self, Limits};
use crate::execute::native::ids::{Numbered, PROCESS};
use crate::execute::native::reader::Reader;
use crate::normalize::{Input, Statements, UNSCOPED};
use crate::occupancy::{ApiCall, Gap, IdleKind, IdlePart, Op, idle_parts};
use crate::projection::OpKind;
use foldhash::{HashMap, HashMapExt, HashSet};
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
            read_calls(&mut reader, &wanted, &mut launches, &mut calls, &mut idle)?;
        }
        let stop = || guard::is_over(limits);
        Ok(idle_parts(gaps, &launches, calls, &stop).map(|parts| Idle { parts, ..idle }))
    }

    /// The gaps that end in an operation with a process and correlation ID.
    fn launches_of(
        &self,
        reader: &mut Reader,
        gaps: &[Gap],
        ops: &[Op],
    ) -> Result<HashMap<(i64, i64), Vec<u32>>> {
        let mut launches = HashMap::<(i64, i64), Vec<u32>>::new();
        for &(kind, relation) in &self.relations {
            let mut after = HashMap::<i64, Vec<u32>>::new();
            for (index, gap) in (0u32..).zip(gaps) {
                if let Some(op) = ops.get(gap.after as usize).filter(|op| op.kind == kind) {
                    after.entry(op.id).or_default().push(index);
                }
            }
            if after.is_empty() {
                continue;
            }
            let id = format!("{relation}_id");
            let columns = format!("{id}, global_pid, correlation_id");
            let relation = format!("{UNSCOPED}{relation}");
            let parts = reader.scan(&relation, &id, &columns, |part: &mut Vec<[i64; 3]>, cells| {
                if let (Some(id), Some(process), Some(correlation)) =
                    (cells.int(0), cells.int(1), cells.int(2))
                    && correlation != 0
                    && after.contains_key(&id)
                {
                    part.push([id, process, correlation]);
                }
                Ok(())
            })?;
            for [id, process, correlation] in parts.into_iter().flatten() {
                let gaps = after.get(&id).into_iter().flatten();
                launches.entry((process, correlation)).or_default().extend(gaps);
            }
        }
        Ok(launches)
    }
}

/// A call as read: its row, process and correlation ID are needed to find launches.
struct Found {
    call: ApiCall,
    id: i64,
    thread: i64,
    name: i64,
    correlation: i64,
}

/// Reads the calls of the threads that launched, and the launch of each gap.
fn read_calls(
    reader: &mut Reader,
    wanted: &HashMap<(i64, i64), Vec<u32>>,
    launches: &mut [Option<ApiCall>],
    calls: &mut Vec<ApiCall>,
    idle: &mut Idle,
) -> Result<()> {
    let columns = "call_id, start_ns, end_ns, global_tid, correlation_id, name_id";
    let parts = reader.scan("all_cuda_call", "call_id", columns, |part: &mut Vec<Found>, cells| {
        let (Some(id), Some(start), Some(end), Some(thread)) =
            (cells.int(0), cells.time(1)?, cells.time(2)?, cells.int(3))
        else {
            return Ok(());
        };
        let (correlation, name) = (cells.int(4).unwrap_or_default(), cells.int(5).unwrap_or_default());
        let call = ApiCall { start, end: end.max(start), thread: 0, name: 0, kind: IdleKind::OtherCall };
        part.push(Found { call, id, thread, name, correlation });
        Ok(())
    })?;
    let (mut threads, mut names) = (Numbered::<i64>::default(), Numbered::<i64>::default());
    let mut kinds = Vec::new();
    let mut first = HashMap::<u32, (i64, i64, i64)>::new();
    let mut launching = HashSet::<u32>::default();
    for Found { mut call, id, thread, name, correlation } in parts.into_iter().flatten() {
        call.thread = threads.place(thread);
        call.name = names.place(name);
        if call.name as usize == kinds.len() {
            let text = reader.text_of(name)?;
            let text = text.map_or(String::new(), |text| String::from_utf8_lossy(&text).into_owned());
            kinds.push(IdleKind::of_call(&text));
            idle.functions.push(without_version(&text).to_owned());
        }
        call.kind = kinds[call.name as usize];
        for &gap in wanted.get(&(thread & PROCESS, correlation)).into_iter().flatten() {
            // Of nested calls, the outermost is the launch.
            let rank = (call.start, -call.end, id);
            if first.get(&gap).is_none_or(|known| rank < *known) {
                first.insert(gap, rank);
                launches[gap as usize] = Some(call);
                launching.insert(call.thread);
            }
        }
        calls.push(call);
    }
    calls.retain(|call| launching.contains(&call.thread));
    idle.threads = threads.values;
    Ok(())
}

/// `cudaLaunchKernel_v7000` → `cudaLaunchKernel`.
fn without_version(symbol: &str) -> &str {
    let digits = symbol.trim_end_matches(|c: char| c.is_ascii_digit());
    match digits.strip_suffix("_v") {
        Some(name) if digits.len() < symbol.len() => name,
        _ => symbol,
    }
}
