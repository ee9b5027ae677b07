//! Aggregates of kernels by the path or range they were launched in. SQL would have to sort for these.

use super::by_name::{Listing, Named, by_name};
use super::collector::{Collector, Execution, RangeKernel, Sample};
use super::groups::{map_shared, pieces};
use super::{Kernel, NONE, OpKind, Paths, Projection, Stop, StopCheck, Unattributed};
use foldhash::HashMap;

/// A kernel launched directly under a path.
#[derive(Debug, Clone, Copy)]
pub struct PathKernel {
    /// The path of the innermost range, or [`NONE`].
    pub path: u32,
    /// Why there is no path.
    pub unattributed: Option<Unattributed>,
    /// Index into the capture's kernels.
    pub kernel: u32,
    /// Number of executions.
    pub calls: i64,
    /// Sum of their durations.
    pub total_ns: i64,
    /// The shortest duration.
    pub min_ns: i64,
    /// The longest duration.
    pub max_ns: i64,
}

/// Aggregates kernels by the path of the innermost range that they were launched in.
pub fn path_kernels(projection: &Projection, paths: &Paths) -> Vec<PathKernel> {
    let attribution = &projection.attribution;
    let mut known: HashMap<(u32, Option<Unattributed>, u32), u32> = HashMap::default();
    let mut groups: Vec<PathKernel> = Vec::new();
    for op in attribution.capture.ops.iter().filter(|op| op.kind == OpKind::Kernel) {
        let innermost = attribution.innermost(&op);
        let path = paths.of_range.get(innermost as usize).copied().unwrap_or(NONE);
        let unattributed = attribution.unattributed(&op);
        let dur = op.dur();
        let fresh = groups.len() as u32;
        let place = *known.entry((path, unattributed, op.kernel)).or_insert(fresh);
        if place == fresh {
            groups.push(PathKernel {
                path,
                unattributed,
                kernel: op.kernel,
                calls: 0,
                total_ns: 0,
                min_ns: dur,
                max_ns: dur,
            });
        }
        let group = &mut groups[place as usize];
        group.calls += 1;
        group.total_ns += dur;
        group.min_ns = group.min_ns.min(dur);
        group.max_ns = group.max_ns.max(dur);
    }
    groups.sort_unstable_by_key(|group| (group.path, group.unattributed, group.kernel));
    groups
}

/// The name that kernels are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The demangled name.
    Demangled,
    /// The function name alone.
    Short,
    /// The mangled name.
    Mangled,
}

impl Naming {
    /// All namings.
    pub const ALL: [Self; 3] = [Self::Demangled, Self::Short, Self::Mangled];

    /// The word for this naming in the relation `nvtx_range_kernel`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Demangled => "demangled",
            Self::Short => "short",
            Self::Mangled => "mangled",
        }
    }

    fn of(self, kernel: &Kernel) -> i64 {
        match self {
            Self::Demangled => kernel.name,
            Self::Short => kernel.short,
            Self::Mangled => kernel.mangled,
        }
    }
}

/// The kernels in the ranges of each name, by thread, and the kernels outside all ranges.
#[derive(Debug, Default)]
pub struct RangeKernels {
    /// The rows as they were computed. There are too many to copy.
    parts: Vec<Vec<RangeKernel>>,
    /// The part and place of each row, in the order of a [`Listing`].
    order: Vec<(u32, u32)>,
}

impl RangeKernels {
    /// Aggregates the kernels. `None` if it was stopped.
    ///
    /// Rows are sorted by name and thread, then by total time and calls, both descending.
    pub fn new(
        projection: &Projection,
        naming: Naming,
        listing: Listing<'_>,
        stop: Stop<'_>,
    ) -> Option<Self> {
        let capture = &projection.attribution.capture;
        let mut names: Vec<i64> = capture.kernels.iter().map(|kernel| naming.of(kernel)).collect();
        names.sort_unstable();
        names.dedup();
        let group_of_kernel: Vec<u32> = capture
            .kernels
            .iter()
            .map(|kernel| names.partition_point(|&name| name < naming.of(kernel)) as u32)
            .collect();
        let execution = |&op: &u32| match capture.ops.at(op as usize) {
            op if op.kind == OpKind::Kernel => {
                Execution { dur: op.dur(), name: group_of_kernel[op.kernel as usize] }
            }
            _ => Execution { dur: 0, name: NONE },
        };
        let prepare =
            || ((listing.names)(), projection.op_order().iter().map(execution).collect::<Vec<_>>());
        let ((places, executions), order) =
            stop.threads().both(prepare, || by_name(projection, listing, stop));
        let order = order?;
        let collector = || Collector {
            projection,
            names: &names,
            executions: &executions,
            times: Vec::new(),
            by_kernel: Vec::new(),
            met: Vec::new(),
            samples: vec![Sample::default(); names.len()],
            begun: 0,
            rows: Vec::new(),
        };
        let group_of = |range: &Named| (range.name, listing.threads[range.thread as usize]);
        let alike = |a: &Named, b: &Named| group_of(a) == group_of(b);
        let mut parts = map_shared(pieces(&order, alike), (order.len(), stop.threads()), |piece| {
            let mut collector = collector();
            let mut check = StopCheck::new(stop);
            for ranges in piece.chunk_by(alike) {
                if collector.inside(ranges, &mut check) {
                    break;
                }
            }
            collector.rows
        });
        if stop.is_over() {
            return None;
        }
        let mut outside = collector();
        outside.outside();
        parts.push(outside.rows);
        let order = in_order(&parts, places, listing.threads);
        Some(Self { parts, order })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The part of the row at `place` in the order, and the row's place in that part.
    pub fn place(&self, place: usize) -> (u32, u32) {
        self.order[place]
    }

    /// The row at a place in a part.
    pub fn at(&self, part: u32, row: u32) -> &RangeKernel {
        &self.parts[part as usize][row as usize]
    }
}

/// The part and place of each row, sorted. Within the parts, rows of a name and thread are consecutive and
/// sorted already.
fn in_order(parts: &[Vec<RangeKernel>], names: &[u32], threads: &[u32]) -> Vec<(u32, u32)> {
    let place_of = |row: &RangeKernel| {
        let place = |places: &[u32], index: u32| places.get(index as usize).copied().unwrap_or_default();
        (place(names, row.name), place(threads, row.thread))
    };
    let mut groups = Vec::new();
    for (part, rows) in (0u32..).zip(parts) {
        let mut first = 0;
        for group in rows.chunk_by(|a, b| (a.name, place_of(a).1) == (b.name, place_of(b).1)) {
            let end = first + group.len() as u32;
            groups.push((place_of(&group[0]), part, first..end));
            first = end;
        }
    }
    groups.sort_unstable_by_key(|(place, part, rows)| (*place, *part, rows.start));
    let mut order = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    order.extend(groups.into_iter().flat_map(|(_, part, rows)| rows.map(move |row| (part, row))));
    // Kernels outside all ranges are mixed with those in ranges without a name: sort these again.
    let row_at = |&(part, row): &(u32, u32)| &parts[part as usize][row as usize];
    let nameless = order.partition_point(|place| place_of(row_at(place)).0 == 0);
    order[..nameless].sort_unstable_by_key(|place| {
        let row = row_at(place);
        (place_of(row).1, row.rank())
    });
    order
}
