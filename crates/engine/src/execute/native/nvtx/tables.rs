//! The columns and rows of the NVTX relations.

use super::answers::Answers;
use super::cells::{
    call, call_id, global_pid, innermost, kernel, pid, process, range_id, range_kind, range_name, tid,
};
use crate::execute::native::ids::NO_ID;
use crate::execute::native::relation::{Access, Cell, Key, Order, Relation};
use crate::execute::native::rows::Rows;
use nsq_sweep::projection::{NONE, Naming, OpKind};
use std::borrow::Cow;
use std::ops::Range;

/// An index as a number; null for [`NONE`].
fn place<'a>(index: u32) -> Cell<'a> {
    if index == NONE { Cell::Null } else { index.into() }
}

/// An id of the export; null for [`NO_ID`].
fn given<'a>(id: i64) -> Cell<'a> {
    if id == NO_ID { Cell::Null } else { id.into() }
}

/// A row of `nvtx_range_kernel` that a look-up found packs the row in these bits and the naming above.
const ROW_BITS: u32 = 40;

/// A column: its name, and a function for its value in a row.
type Column = (&'static str, for<'a> fn(&'a Answers, usize) -> Cell<'a>);

/// A relation on the NVTX projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::execute::native) enum Table {
    Projection,
    Op,
    Path,
    PathKernel,
    RangeKernel,
    Name,
    PushPop,
}

impl Table {
    const ALL: [(&'static str, Self); 7] = [
        ("nvtx_projection", Self::Projection),
        ("nvtx_op", Self::Op),
        ("nvtx_path", Self::Path),
        ("nvtx_path_kernel", Self::PathKernel),
        ("nvtx_range_kernel", Self::RangeKernel),
        ("nvtx_name", Self::Name),
        ("nvtx_pushpop", Self::PushPop),
    ];

    fn spec(self) -> &'static [Column] {
        match self {
            Self::Projection => PROJECTION,
            Self::Op => OP,
            Self::Path => PATH,
            Self::PathKernel => PATH_KERNEL,
            Self::RangeKernel => RANGE_KERNEL,
            Self::Name => NAME,
            Self::PushPop => PUSH_POP,
        }
    }
}

impl Relation for Table {
    type Answers = Answers;
    type Row = ();

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, table)| *table)
    }

    fn columns(self) -> Vec<&'static str> {
        self.spec().iter().map(|(name, _)| *name).collect()
    }

    fn key(self) -> &'static [&'static str] {
        match self {
            Self::Projection => &["range_id"],
            Self::Op => &["op_kind", "op_id"],
            Self::Path => &["path_id"],
            Self::RangeKernel => &["naming"],
            Self::Name => &["name_id"],
            Self::PathKernel | Self::PushPop => &[],
        }
    }

    fn orders(self, access: Access<'_>) -> &'static [Order] {
        match (self, access) {
            // A scan returns one naming after the other.
            (Self::RangeKernel, Access::Lookup(_)) => &[Order {
                columns: &[
                    ("range_name", false),
                    ("pid", false),
                    ("tid", false),
                    ("total_ns", true),
                    ("calls", true),
                    ("range_kind", false),
                    ("global_tid", false),
                    ("range_name_id", false),
                    ("kernel_name_id", false),
                ],
                is_total: false,
                is_on_demand: false,
            }],
            _ => &[],
        }
    }

    fn is_found_exactly(self) -> bool {
        // There are only three keys with many rows each: comparing every row again would be slow.
        self == Self::RangeKernel
    }

    fn failure(answers: &Answers) -> Option<&str> {
        answers.failure()
    }

    fn is_stopped(answers: &Answers) -> bool {
        answers.is_stopped()
    }

    fn rows(self, answers: &Answers) -> usize {
        match self {
            Self::Projection => answers.shown().len(),
            Self::Op => answers.ops().len(),
            Self::Path => answers.shown_paths().len(),
            Self::PathKernel => answers.path_kernels().len(),
            Self::RangeKernel => Naming::ALL.iter().map(|&n| answers.range_kernels(n).len()).sum(),
            Self::Name => answers.printed().len(),
            Self::PushPop => answers.push_pop().shown.len(),
        }
    }

    fn index(self, answers: &Answers, row: usize) -> usize {
        match self {
            Self::Projection => answers.shown()[row] as usize,
            Self::Path => answers.shown_paths()[row] as usize,
            Self::Name => answers.printed()[row] as usize,
            Self::PushPop => answers.push_pop().shown[row] as usize,
            Self::RangeKernel => {
                let (mut naming, mut row) = (0, row);
                while row >= answers.range_kernels(Naming::ALL[naming]).len() {
                    row -= answers.range_kernels(Naming::ALL[naming]).len();
                    naming += 1;
                }
                answers.range_kernel_index(naming, row)
            }
            _ => row,
        }
    }

    fn find(self, answers: &Answers, key: &Key) -> Range<usize> {
        let one = |index: Option<usize>| index.map_or(0..0, |index| index..index + 1);
        let within = |count: usize| {
            let number = key.number(0).and_then(|number| usize::try_from(number).ok());
            number.filter(|&index| index < count)
        };
        match self {
            Self::Projection => {
                let row_at = |place: usize| answers.ranges().id(answers.shown()[place] as usize);
                let rows = answers.range_rows.get_or_init(|| Rows::new(answers.shown().len(), row_at));
                let place = key.number(0).and_then(|id| rows.find(id, row_at));
                one(place.map(|place| answers.shown()[place] as usize))
            }
            Self::Op => {
                let op = key.text(0).and_then(OpKind::named).zip(key.number(1));
                one(op.and_then(|(kind, id)| answers.place_of_op(kind, id)))
            }
            Self::Path => one(within(answers.paths().paths.len())),
            Self::Name => one(within(answers.names.len())
                .filter(|&index| answers.names.printed[index] as usize == index)),
            Self::RangeKernel => {
                let naming = Naming::ALL.into_iter().find(|naming| Some(naming.as_str()) == key.text(0));
                naming.map_or(0..0, |naming| {
                    let from = (naming as usize) << ROW_BITS;
                    from..from + answers.range_kernels(naming).len()
                })
            }
            Self::PathKernel | Self::PushPop => 0..0,
        }
    }

    fn found(self, answers: &Answers, row: usize) -> usize {
        match self {
            Self::RangeKernel => {
                answers.range_kernel_index(row >> ROW_BITS, row & ((1 << ROW_BITS) - 1))
            }
            _ => row,
        }
    }

    fn row(self, _: &Answers, _: usize, _: &Key) {}

    fn cell<'a>(self, answers: &'a Answers, column: usize, index: usize, (): &()) -> Cell<'a> {
        (self.spec()[column].1)(answers, index)
    }
}

const PROJECTION: &[Column] = &[
    ("range_id", |a, i| a.ranges().at(i).id.into()),
    ("start_ns", |a, i| a.ranges().at(i).start.into()),
    ("end_ns", |a, i| a.ranges().at(i).end.into()),
    ("dur_ns", |a, i| (a.ranges().at(i).end - a.ranges().at(i).start).into()),
    ("range_kind", |a, i| range_kind(a.ranges().at(i).is_push_pop)),
    ("name_id", |a, i| a.names.printed[a.ranges().at(i).name as usize].into()),
    ("range_name", |a, i| range_name(a, a.ranges().at(i).name)),
    ("path_id", |a, i| a.paths().of_range.get(i).map_or(Cell::Null, |&path| path.into())),
    ("parent_id", |a, i| range_id(a, a.projection.attribution.parent[i])),
    ("depth", |a, i| a.projection.attribution.depth[i].into()),
    ("range_stack", |a, i| Cell::Text(a.stack(&a.projection.attribution.parent, i as u32).into())),
    ("child_count", |a, i| a.projection.children(i).into()),
    ("op_count", |a, i| a.projection.work(i).ops.into()),
    ("launch_count", |a, i| a.projection.work(i).launches.into()),
    ("graph_count", |a, i| a.projection.work(i).graphs.into()),
    ("gpu_ns", |a, i| a.projection.work(i).gpu_ns.into()),
    ("self_op_count", |a, i| a.projection.own(i).ops.into()),
    ("self_launch_count", |a, i| a.projection.own(i).launches.into()),
    ("self_gpu_ns", |a, i| a.projection.own(i).gpu_ns.into()),
    ("proj_start_ns", |a, i| a.projection.extent(i).map(|(start, _)| start).into()),
    ("proj_end_ns", |a, i| a.projection.extent(i).map(|(_, end)| end).into()),
    ("busy_ns", |a, i| a.projection.busy(i, &mut Vec::new()).into()),
    ("pid", |a, i| pid(a.tid(a.ranges().at(i).thread))),
    ("tid", |a, i| tid(a.tid(a.ranges().at(i).thread))),
    ("global_pid", |a, i| global_pid(a.tid(a.ranges().at(i).thread))),
    ("global_tid", |a, i| given(a.tid(a.ranges().at(i).thread))),
];

const OP: &[Column] = &[
    ("op_kind", |a, i| Some(a.ops().at(i).kind.as_str()).into()),
    ("op_id", |a, i| a.ops().at(i).id.into()),
    ("start_ns", |a, i| a.ops().at(i).start.into()),
    ("end_ns", |a, i| a.ops().at(i).end.into()),
    ("dur_ns", |a, i| a.ops().at(i).dur().into()),
    ("pid", |a, i| pid(process(a, a.ops().at(i)))),
    ("global_pid", |a, i| given(process(a, a.ops().at(i)))),
    ("correlation_id", |a, i| Some(a.ops().at(i).correlation).filter(|&number| number != 0).into()),
    ("call_id", |a, i| call_id(a, i)),
    ("call_start_ns", |a, i| call(a, i).map(|call| call.start).into()),
    ("call_end_ns", |a, i| call(a, i).map(|call| call.end).into()),
    ("tid", |a, i| call(a, i).map_or(Cell::Null, |call| tid(a.tid(call.thread)))),
    ("global_tid", |a, i| call(a, i).map_or(Cell::Null, |call| given(a.tid(call.thread)))),
    ("range_id", |a, i| range_id(a, innermost(a, i))),
    ("name_id", |a, i| {
        let range = a.ranges().get(innermost(a, i));
        range.map_or(Cell::Null, |range| a.names.printed[range.name as usize].into())
    }),
    ("range_text", |a, i| {
        let range = a.ranges().get(innermost(a, i));
        range.and_then(|range| a.names.text(range.name)).into()
    }),
    ("path_id", |a, i| {
        a.paths().of_range.get(innermost(a, i) as usize).map_or(Cell::Null, |&path| path.into())
    }),
    ("unattributed", |a, i| {
        a.projection.attribution.unattributed(&a.ops().at(i)).map(|reason| reason.as_str()).into()
    }),
];

const PATH: &[Column] = &[
    ("path_id", |_, i| (i as i64).into()),
    ("parent_path_id", |a, i| place(a.paths().paths[i].parent)),
    ("depth", |a, i| a.paths().paths[i].depth.into()),
    ("path", |a, i| Cell::Text(a.path_text(i as u32).into())),
    ("layer_name", |a, i| Some(a.layer_of_path(i as u32)).into()),
    ("range_count", |a, i| a.paths().paths[i].ranges.into()),
    ("cpu_ns", |a, i| a.paths().paths[i].cpu_ns.into()),
    ("op_count", |a, i| a.paths().work(&a.projection, i).ops.into()),
    ("launch_count", |a, i| a.paths().work(&a.projection, i).launches.into()),
    ("gpu_ns", |a, i| a.paths().work(&a.projection, i).gpu_ns.into()),
    ("busy_ns", |a, i| a.paths().busy(&a.projection, i).into()),
    ("self_op_count", |a, i| a.paths().paths[i].own.ops.into()),
    ("self_launch_count", |a, i| a.paths().paths[i].own.launches.into()),
    ("self_gpu_ns", |a, i| a.paths().paths[i].own.gpu_ns.into()),
    ("self_busy_ns", |a, i| a.paths().own_busy(&a.projection, i).into()),
];

const PATH_KERNEL: &[Column] = &[
    ("path_id", |a, i| place(a.path_kernels()[i].path)),
    ("unattributed", |a, i| a.path_kernels()[i].unattributed.map(|reason| reason.as_str()).into()),
    ("name_id", |a, i| given(kernel(a, i).name)),
    ("short_name_id", |a, i| given(kernel(a, i).short)),
    ("mangled_name_id", |a, i| given(kernel(a, i).mangled)),
    ("calls", |a, i| a.path_kernels()[i].calls.into()),
    ("total_ns", |a, i| a.path_kernels()[i].total_ns.into()),
    ("min_ns", |a, i| a.path_kernels()[i].min_ns.into()),
    ("max_ns", |a, i| a.path_kernels()[i].max_ns.into()),
];

const RANGE_KERNEL: &[Column] = &[
    ("naming", |_, i| Answers::naming(i).as_str().into()),
    ("global_tid", |a, i| given(a.tid(a.range_kernel(i).thread))),
    ("pid", |a, i| pid(a.tid(a.range_kernel(i).thread))),
    ("tid", |a, i| tid(a.tid(a.range_kernel(i).thread))),
    ("range_name_id", |a, i| place(a.range_kernel(i).name)),
    ("range_name", |a, i| a.listed_name(a.range_kernel(i).name).into()),
    ("range_kind", |a, i| match a.range_kernel(i).name {
        NONE => Cell::Null,
        _ => range_kind(a.range_kernel(i).is_push_pop),
    }),
    ("kernel_name_id", |a, i| given(a.range_kernel(i).kernel_name)),
    ("kernel_name", |a, i| a.kernel_name(a.range_kernel(i).kernel_name).into()),
    ("range_count", |a, i| a.range_kernel(i).ranges.into()),
    ("calls", |a, i| a.range_kernel(i).calls.into()),
    ("total_ns", |a, i| a.range_kernel(i).total_ns.into()),
    ("mean_ns", |a, i| Cell::Real(a.range_kernel(i).mean_ns)),
    ("median_ns", |a, i| Cell::Real(a.range_kernel(i).median_ns)),
    ("min_ns", |a, i| a.range_kernel(i).min_ns.into()),
    ("max_ns", |a, i| a.range_kernel(i).max_ns.into()),
    ("stddev_ns", |a, i| Cell::Real(a.range_kernel(i).stddev_ns)),
];

const NAME: &[Column] = &[
    ("name_id", |_, i| (i as i64).into()),
    ("range_name", |a, i| range_name(a, i as u32)),
    ("range_text", |a, i| a.names.text(i as u32).into()),
    ("domain_name", |a, i| a.names.domain(i as u32).into()),
    ("layer_name", |a, i| a.layers().of(i).into()),
    ("phase", |a, i| a.phase(i).map(|(phase, _)| phase).into()),
    ("phase_rule", |a, i| a.phase(i).map(|(_, rule)| rule).into()),
    ("work", |a, i| a.work(i).map(Cow::Owned).into()),
];

const PUSH_POP: &[Column] = &[
    ("range_id", |a, i| a.ranges().at(i).id.into()),
    ("start_ns", |a, i| a.ranges().at(i).start.into()),
    ("end_ns", |a, i| a.ranges().at(i).end.into()),
    ("dur_ns", |a, i| (a.ranges().at(i).end - a.ranges().at(i).start).into()),
    ("range_name", |a, i| range_name(a, a.ranges().at(i).name)),
    ("parent_id", |a, i| range_id(a, a.push_pop().parent[i])),
    ("depth", |a, i| a.push_pop().depth[i].into()),
    ("range_stack", |a, i| Cell::Text(a.stack(&a.push_pop().parent, i as u32).into())),
    ("child_count", |a, i| a.push_pop().children[i].into()),
    ("child_ns", |a, i| a.push_pop().child_ns[i].into()),
    ("pid", |a, i| pid(a.tid(a.ranges().at(i).thread))),
    ("tid", |a, i| tid(a.tid(a.ranges().at(i).thread))),
    ("global_pid", |a, i| global_pid(a.tid(a.ranges().at(i).thread))),
    ("global_tid", |a, i| given(a.tid(a.ranges().at(i).thread))),
];
