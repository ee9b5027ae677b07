//! Explains why GPUs idled, by the API calls of the threads that launched what came next.

use super::answers::{Answers, COMPUTE_GAP_PART};
use super::launch::Launches;
use crate::execute::limits::Limits;
use crate::execute::native::reader::Reader;
use crate::execute::native::store::Store;
use crate::normalize::Input;
use nsq_sweep::calls::Calls;
use nsq_sweep::interval::{Ruler, TimeSet};
use nsq_sweep::occupancy::{Gap, IdleKind, IdlePart, Level, ThreadCalls, idle_parts};
use nsq_value::error::Result;
use std::hash::BuildHasher;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the API calls are.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) database: PathBuf,
    pub(super) input: Input,
    pub(super) store: Arc<Store>,
}

/// The parts of gaps, and the names of functions that they refer to.
#[derive(Debug, Default)]
pub(super) struct Idle {
    /// For each list of gaps, their parts, sorted by gap and start.
    pub(super) parts: [Vec<IdlePart>; 2],
    /// Names of functions, without their version.
    pub(super) functions: Vec<String>,
    /// Global thread IDs.
    pub(super) threads: Vec<i64>,
}

impl Source {
    pub(super) fn reader(&self, limits: &Limits) -> Reader {
        Reader::new(&self.database, &self.input.statements, &self.store.free, limits)
    }

    /// The API calls of the report.
    pub(super) fn calls(&self, limits: &Limits) -> Result<Arc<Calls>> {
        self.store.calls(&mut self.reader(limits), &self.input)
    }

    /// The row and the launch shape, hashed, of each kernel, sorted by row.
    pub(super) fn shapes(&self, limits: &Limits) -> Result<Vec<(i64, u64)>> {
        self.hashed(
            "all_kernel",
            "kernel_id",
            "grid_x, grid_y, grid_z, block_x, block_y, block_z",
            limits,
        )
    }

    /// The row and the bytes, hashed, of each copy, sorted by row.
    pub(super) fn sizes(&self, limits: &Limits) -> Result<Vec<(i64, u64)>> {
        self.hashed("all_memcpy", "memcpy_id", "size_bytes", limits)
    }

    /// The row and a hash of some columns, sorted by row.
    fn hashed(
        &self,
        relation: &'static str,
        id: &'static str,
        columns: &'static str,
        limits: &Limits,
    ) -> Result<Vec<(i64, u64)>> {
        let hasher = foldhash::fast::FixedState::default();
        let count = columns.split(',').count();
        let parts = self.reader(limits).scan(
            relation,
            id,
            &format!("{id}, {columns}"),
            |part: &mut Vec<(i64, u64)>, cells| {
                let values: Vec<Option<i64>> = (1..=count).map(|column| cells.int(column)).collect();
                part.extend(cells.int(0).map(|id| (id, hasher.hash_one(values))));
                Ok(())
            },
        )?;
        let mut hashes: Vec<(i64, u64)> = parts.into_iter().flatten().collect();
        hashes.sort_unstable();
        Ok(hashes)
    }

    /// For each function of the calls, whether the host waits in it for a GPU.
    pub(super) fn waits(&self, launches: &Launches, limits: &Limits) -> Result<Vec<bool>> {
        let mut reader = self.reader(limits);
        let is_wait = |name: &i64| {
            let text = reader.text_of(*name)?;
            let text = text.map_or(String::new(), |text| String::from_utf8_lossy(&text).into_owned());
            Ok(IdleKind::of_call(&text) == IdleKind::Sync)
        };
        launches.calls.name_ids.iter().map(is_wait).collect()
    }

    /// Splits two lists of gaps by the calls. `None` if it was stopped.
    pub(super) fn explain(
        &self,
        lists: [&[Gap]; 2],
        launches: &Launches,
        limits: &Limits,
    ) -> Result<Option<Idle>> {
        let (mut reader, calls) = (self.reader(limits), &launches.calls);
        let (mut functions, mut kinds) = (Vec::new(), Vec::new());
        for &name in &calls.name_ids {
            let text = reader.text_of(name)?;
            let text = text.map_or(String::new(), |text| String::from_utf8_lossy(&text).into_owned());
            kinds.push(IdleKind::of_call(&text));
            functions.push(without_version(&text).to_owned());
        }
        let launch_of = |gap: &Gap| launches.place(gap.after as usize);
        let mut has_launched = vec![false; calls.global_tids.len()];
        for launch in lists.into_iter().flatten().filter_map(launch_of) {
            has_launched[calls.threads()[launch as usize] as usize] = true;
        }
        let of_threads = ThreadCalls::new(calls, &kinds, &has_launched);
        let parts_of = |gaps| {
            let mut parts = idle_parts(gaps, launch_of, &of_threads, limits)?;
            parts.shrink_to_fit();
            Some(parts)
        };
        let (first, second) = limits.threads.both(|| parts_of(lists[0]), || parts_of(lists[1]));
        let threads = calls.global_tids.clone();
        Ok(first.zip(second).map(|(first, second)| Idle { parts: [first, second], functions, threads }))
    }
}

impl Answers {
    /// The time of an exposed part in which the thread that launched the next compute kernel neither waited for the GPU
    /// nor had launched it.
    pub(super) fn late(&self, index: usize) -> i64 {
        let late = self.late.get_or_init(|| {
            let mut of_gpus = vec![Vec::new(); self.occupancy.lane_count(Level::Gpu)];
            let idle = self.idle();
            // A call that copies waits for its copy.
            let copies = |part: &IdlePart| {
                self.function(part).is_some_and(|function| function.contains("Memcpy"))
            };
            let is_late = |part: &&IdlePart| match part.kind {
                IdleKind::Sync | IdleKind::Queued | IdleKind::Unknown => false,
                IdleKind::OtherCall | IdleKind::LaunchCall => !copies(part),
                IdleKind::Allocation | IdleKind::OutsideApi => true,
            };
            for part in idle.parts[COMPUTE_GAP_PART].iter().filter(is_late) {
                let gap = &self.gaps_of_gpus(COMPUTE_GAP_PART)[part.gap as usize];
                of_gpus[gap.lane as usize].push((part.start, part.end));
            }
            of_gpus.into_iter().map(|times| Ruler::new(TimeSet::union_of(times))).collect()
        });
        let part = self.exposed_part(index).1;
        let lane = self.occupancy.lane(Level::Gpu, self.occupancy.ops[part.op as usize].stream);
        late.get(lane as usize).map_or(0, |late| late.within(part.start, part.end))
    }
}

/// `cudaLaunchKernel_v7000` → `cudaLaunchKernel`.
pub(super) fn without_version(symbol: &str) -> &str {
    let digits = symbol.trim_end_matches(|c: char| c.is_ascii_digit());
    match digits.strip_suffix("_v") {
        Some(name) if digits.len() < symbol.len() => name,
        _ => symbol,
    }
}
