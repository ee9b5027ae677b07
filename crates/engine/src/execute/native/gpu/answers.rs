//! The data of the GPU occupancy relations.

use super::by_row::OfKind;
use super::doubts::{Doubt, doubts};
use super::idle::{Idle, Source};
use super::labels::{Label, Labels};
use super::launch::Launches;
use super::replay::Replays;
use super::steps::Steps;
use crate::execute::limits::Limits;
use crate::execute::native::asked::AskedBy;
use crate::execute::native::ids::NO_ID;
use foldhash::HashSet;
use nsq_sweep::calls::Call;
use nsq_sweep::classify::Activity;
use nsq_sweep::interval::Ruler;
use nsq_sweep::occupancy::{
    Decomposition, ExposedPart, Gap, IdleKind, IdlePart, Lead, Level, Occupancy, Op, Overlap, Runs,
    Stream, StreamGap, StreamSum, Stretch, Work,
};
use nsq_sweep::projection::{OpKind, Stop};
use nsq_value::error::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The values of column `activity` in `gpu_busy`.
pub(super) const ACTIVITIES: [(&str, Option<Activity>); 4] = [
    ("any", None),
    ("compute", Some(Activity::Compute)),
    ("communication", Some(Activity::Communication)),
    ("memory", Some(Activity::Memory)),
];

/// The activities that others can hide, in the order of the blocks of `exposed_part`.
pub(super) const HIDEABLE: [Activity; 2] = [Activity::Communication, Activity::Memory];

/// The values of column `among` in `stream_gap`.
pub(super) const AMONG: [&str; 2] = ["kernel", "op"];

/// What makes a GPU busy, so that the rest are gaps: in `idle_part` and in `compute_gap_part`.
const GAPS_OF: [Work; 2] = [Work::Any, Work::Main];
pub(super) const IDLE_PART: usize = 0;
pub(super) const COMPUTE_GAP_PART: usize = 1;

/// An index packs two numbers: the row in the low `SHIFT` bits, and the block (level and activity) above.
pub(super) const SHIFT: u32 = 40;
pub(super) const ROW: usize = (1 << SHIFT) - 1;

/// The data of the relations. Each part is computed on first use.
#[derive(Default)]
pub(in crate::execute::native) struct Answers {
    pub(super) occupancy: Occupancy,
    /// What operations are called.
    pub(super) labels: Arc<Labels>,
    pub(super) limits: Limits,
    /// A computation was stopped, so some data is missing and no row may be used.
    pub(super) is_stopped: AtomicBool,
    /// The place of [`Level::Gpu`] among all.
    level_of_gpus: usize,
    stretches: [[OnceLock<Vec<Stretch>>; ACTIVITIES.len()]; Level::ALL.len()],
    gaps: [OnceLock<Vec<Gap>>; Level::ALL.len()],
    /// Gaps of GPUs between compute kernels.
    compute_gaps: OnceLock<Vec<Gap>>,
    decompositions: OnceLock<Vec<Decomposition>>,
    exposed: [OnceLock<Vec<ExposedPart>>; HIDEABLE.len()],
    /// Gaps of streams, as in [`AMONG`].
    stream_gaps: [OnceLock<Vec<StreamGap>>; AMONG.len()],
    launches: OnceLock<Launches>,
    /// For each kind of operation, those of the kind by row.
    pub(super) by_row: OnceLock<[OfKind; OpKind::ALL.len()]>,
    /// For each GPU: the indices of its operations, by start.
    pub(super) by_gpu: OnceLock<Vec<Vec<u32>>>,
    /// The rows of `doubtful_op`.
    doubts: OnceLock<Vec<Doubt>>,
    /// Where the calls are that explain idle time.
    pub(super) calls: Source,
    /// The kind, row and green context of each operation in one, sorted.
    pub(super) green_contexts: Arc<Vec<(OpKind, i64, i64)>>,
    /// Which gaps are explained, as in [`GAPS_OF`].
    explained: [bool; GAPS_OF.len()],
    /// The parts of these gaps.
    idle: OnceLock<Idle>,
    /// Of the parts of each list of gaps: whether it stands for its gap.
    pub(super) largest: [OnceLock<Vec<bool>>; GAPS_OF.len()],
    /// The rows of the kernels that are the first of their name.
    firsts: OnceLock<HashSet<i64>>,
    /// The runs of short kernels that were asked for.
    pub(super) runs: AskedBy<Runs>,
    /// The leads of threads, with and without the last wait before the first gap.
    pub(super) leads: AskedBy<Vec<Lead>>,
    stream_sums: OnceLock<Vec<StreamSum>>,
    /// For each GPU: when the next compute kernel was late because of its thread.
    pub(super) late: OnceLock<Vec<Ruler>>,
    /// The parts of each list of gaps, sorted by GPU, word and time.
    pub(super) by_word: [OnceLock<Vec<u32>>; GAPS_OF.len()],
    pub(super) steps: Steps,
    pub(super) replays: Replays,
    /// Why the calls could not be read.
    pub(super) failure: OnceLock<String>,
}

impl Answers {
    /// `explained`: which gaps are, as in [`GAPS_OF`].
    pub(super) fn new(
        (occupancy, labels): (Occupancy, Arc<Labels>),
        green_contexts: Arc<Vec<(OpKind, i64, i64)>>,
        calls: Source,
        explained: [bool; GAPS_OF.len()],
        limits: &Limits,
    ) -> Self {
        Self {
            occupancy,
            labels,
            limits: limits.clone(),
            level_of_gpus: Level::ALL.iter().position(|level| *level == Level::Gpu).unwrap_or_default(),
            calls,
            green_contexts,
            explained,
            ..Self::default()
        }
    }

    /// The parts of the gaps that are explained.
    pub(super) fn idle(&self) -> &Idle {
        self.idle.get_or_init(|| {
            let gaps = |of: usize| if self.explained[of] { self.gaps_of_gpus(of) } else { &[] };
            let lists = [gaps(IDLE_PART), gaps(COMPUTE_GAP_PART)];
            self.read(|| self.calls.explain(lists, self.launches(), &self.limits))
        })
    }

    /// The calls that launched the operations.
    pub(super) fn launches(&self) -> &Launches {
        self.launches.get_or_init(|| {
            let launches = |calls| Some(Launches::new(&self.occupancy, calls));
            self.read(|| self.calls.calls(&self.limits).map(launches))
        })
    }

    /// The operations whose times contradict those of others.
    pub(super) fn doubts(&self) -> &[Doubt] {
        self.doubts.get_or_init(|| {
            let launches = self.launches();
            let launch = |op: u32| self.correlation(op as usize).filter(|id| *id != 0);
            let overlaps = self.make(|stop| self.occupancy.stream_overlaps(launch, stop));
            doubts(&self.occupancy.ops, launches, &overlaps)
        })
    }

    /// The correlation ID of an operation, as the export gives it.
    pub(super) fn correlation(&self, op: usize) -> Option<i64> {
        Some(self.occupancy.ops[op].correlation).filter(|id| *id != NO_ID)
    }

    /// The green context that an operation ran in.
    pub(super) fn green_context(&self, op: usize) -> Option<i64> {
        let Op { kind, id, .. } = self.occupancy.ops[op];
        let place = self.green_contexts.binary_search_by_key(&(kind, id), |&(kind, id, _)| (kind, id));
        place.ok().map(|place| self.green_contexts[place].2)
    }

    /// What `read` returns. If it failed or was stopped, nothing, and no row may be used.
    pub(super) fn read<T: Default>(&self, read: impl FnOnce() -> Result<Option<T>>) -> T {
        match read() {
            Ok(Some(found)) => return found,
            Ok(None) | Err(Error::Interrupted | Error::Limit { .. }) => {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
            Err(error) => _ = self.failure.get_or_init(|| error.to_string()),
        }
        T::default()
    }

    pub(super) fn gaps_of_gpus(&self, gaps_of: usize) -> &[Gap] {
        match gaps_of {
            IDLE_PART => self.gaps(self.level_of_gpus),
            _ => self.compute_gaps.get_or_init(|| {
                self.make(|stop| self.occupancy.gaps(Level::Gpu, GAPS_OF[gaps_of], stop))
            }),
        }
    }

    /// A row of `idle_part` or `compute_gap_part`: the part and its gap.
    pub(super) fn part(&self, index: usize) -> (&IdlePart, &Gap) {
        let part = &self.idle().parts[index >> SHIFT][index & ROW];
        (part, &self.gaps_of_gpus(index >> SHIFT)[part.gap as usize])
    }

    /// What a row of `idle_part` or `compute_gap_part` is.
    pub(super) fn kind_of_part(&self, index: usize) -> IdleKind {
        self.idle().parts[index >> SHIFT][index & ROW].kind
    }

    /// The function that the thread was in during a part.
    pub(super) fn function(&self, part: &IdlePart) -> Option<&str> {
        let name = *self.launches().calls.names().get(part.call as usize)?;
        self.idle().functions.get(name as usize).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The call that the thread was in during a row of `idle_part` or `compute_gap_part`.
    pub(super) fn call_of_part(&self, index: usize) -> Option<Call> {
        self.launches().calls.get(self.part(index).0.call)
    }

    pub(super) fn stream_sums(&self) -> &[StreamSum] {
        self.stream_sums.get_or_init(|| self.occupancy.stream_sums())
    }

    /// Whether an operation is the first kernel of its name in its process and context; `None` for other operations.
    pub(super) fn is_first(&self, op: u32) -> Option<bool> {
        let of = self.op(op).filter(|op| op.kind == OpKind::Kernel)?;
        let first = self.firsts.get_or_init(|| {
            let context = |op: &&Op| {
                let stream = &self.occupancy.streams[op.stream as usize];
                (stream.global_pid, stream.context_id, op.name)
            };
            let mut seen = HashSet::default();
            let kernels = self.occupancy.ops.iter().filter(|op| op.kind == OpKind::Kernel);
            kernels.filter(|op| seen.insert(context(op))).map(|op| op.id).collect()
        });
        Some(first.contains(&of.id))
    }

    pub(super) fn thread(&self, index: usize) -> Option<i64> {
        self.idle().threads.get(self.part(index).0.thread as usize).copied()
    }

    pub(super) fn stretches(&self, level: usize, activity: usize) -> &[Stretch] {
        self.stretches[level][activity].get_or_init(|| {
            let work = ACTIVITIES[activity].1.map_or(Work::Any, Work::Of);
            self.make(|stop| self.occupancy.stretches(Level::ALL[level], work, stop))
        })
    }

    pub(super) fn gaps(&self, level: usize) -> &[Gap] {
        self.gaps[level]
            .get_or_init(|| self.make(|stop| self.occupancy.gaps(Level::ALL[level], Work::Any, stop)))
    }

    pub(super) fn decompositions(&self) -> &[Decomposition] {
        self.decompositions.get_or_init(|| self.make(|stop| self.occupancy.decompositions(stop)))
    }

    pub(super) fn decomposition(&self, gpu: usize) -> &Decomposition {
        &self.decompositions()[gpu]
    }

    pub(super) fn exposed(&self, activity: usize) -> &[ExposedPart] {
        self.exposed[activity].get_or_init(|| {
            let of_gpus = self.decompositions();
            self.make(|stop| self.occupancy.exposed_parts(of_gpus, HIDEABLE[activity], stop))
        })
    }

    /// The result of `make`. If it was stopped: an empty list, and `is_stopped` is set.
    pub(super) fn make<T>(&self, make: impl FnOnce(Stop<'_>) -> Option<Vec<T>>) -> Vec<T> {
        make(&self.limits).unwrap_or_else(|| {
            self.is_stopped.store(true, Ordering::Relaxed);
            Vec::new()
        })
    }

    pub(super) fn op(&self, index: u32) -> Option<&Op> {
        self.occupancy.ops.get(index as usize)
    }

    /// A row of `gpu_busy`: its level, activity and stretch.
    pub(super) fn busy(&self, index: usize) -> (Level, &'static str, &Stretch) {
        let asked = index >> SHIFT;
        let (level, activity) = (asked / ACTIVITIES.len(), asked % ACTIVITIES.len());
        let stretch = &self.stretches(level, activity)[index & ROW];
        (Level::ALL[level], ACTIVITIES[activity].0, stretch)
    }

    /// A row of `gpu_gap`: its level and gap.
    pub(super) fn gap(&self, index: usize) -> (Level, &Gap) {
        (Level::ALL[index >> SHIFT], &self.gaps(index >> SHIFT)[index & ROW])
    }

    /// A row of `exposed_part`: its activity and part.
    pub(super) fn exposed_part(&self, index: usize) -> (Activity, &ExposedPart) {
        (HIDEABLE[index >> SHIFT], &self.exposed(index >> SHIFT)[index & ROW])
    }

    pub(super) fn exposed_op(&self, index: usize) -> usize {
        self.exposed_part(index).1.op as usize
    }

    pub(super) fn stream_of(&self, op: usize) -> &Stream {
        &self.occupancy.streams[self.occupancy.ops[op].stream as usize]
    }

    /// The time in ns that an operation overlaps with other work.
    pub(super) fn overlap(&self, overlap: Overlap, op: usize) -> i64 {
        let op = &self.occupancy.ops[op];
        let gpu = self.occupancy.lane(Level::Gpu, op.stream);
        let decomposition = self.decompositions().get(gpu as usize);
        decomposition.map_or(0, |of| of.overlap(overlap, op.start, op.end, op.activity))
    }

    /// What an operation is called.
    pub(super) fn label(&self, op: usize) -> &Label {
        &self.labels.values[self.occupancy.ops[op].name as usize]
    }

    pub(super) fn stream_gaps(&self, among: usize) -> &[StreamGap] {
        self.stream_gaps[among]
            .get_or_init(|| self.make(|stop| self.occupancy.stream_gaps(AMONG[among] == "kernel", stop)))
    }

    /// The operation before a row of `stream_gap`.
    pub(super) fn before(&self, index: usize) -> usize {
        self.stream_gaps(index >> SHIFT)[index & ROW].before as usize
    }

    /// The operation after a row of `stream_gap`.
    pub(super) fn after(&self, index: usize) -> usize {
        self.stream_gaps(index >> SHIFT)[index & ROW].after as usize
    }

    /// The GPU of a row of `gpu_window`.
    pub(super) fn gpu(&self, index: usize) -> &Stream {
        self.occupancy.first_stream(Level::Gpu, index as u32)
    }
}
