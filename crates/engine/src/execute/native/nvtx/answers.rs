//! The data behind the NVTX relations: a projection, and aggregates that are computed on first use.

use super::names::{Layers, NameRules, Names};
use super::scope::{self, AttributedTime, RangeScope};
use crate::execute::limits::{self, Limits};
use crate::execute::native::ids::{self, NO_ID};
use crate::execute::native::rows::Rows;
use crate::normalize::Scope;
use foldhash::HashMap;
use nsq_sweep::projection::{
    Listing, NONE, Naming, OpKind, Ops, PathKernel, Paths, Projection, RangeKernel, RangeKernels,
    Ranges, StopCheck, path_kernels,
};
use nsq_value::error::Result;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// An index of `nvtx_range_kernel` packs the naming (above these bits), the part and the row.
const NAMING_SHIFT: u32 = 60;
/// The part is above these bits, the row within the part in them.
const PART_SHIFT: u32 = 32;

/// The data behind the NVTX relations of one scope. Each part is computed once.
#[derive(Default)]
pub(in crate::execute::native) struct Answers {
    pub(super) projection: Projection,
    pub(super) names: Arc<Names>,
    kernel_names: Arc<HashMap<i64, String>>,
    scope: Scope,
    selected: RangeScope,
    limits: Limits,
    /// A computation was stopped, so some data is missing and no row may be used.
    is_stopped: AtomicBool,
    rules: Arc<NameRules>,
    layers: OnceLock<Arc<Layers>>,
    shown: OnceLock<Vec<u32>>,
    listed: OnceLock<Listed>,
    thread_ranks: OnceLock<Vec<u32>>,
    paths: OnceLock<Paths>,
    pub(super) path_marks: OnceLock<Vec<[u8; 4]>>,
    shown_paths: OnceLock<Vec<u32>>,
    path_kernels: OnceLock<Vec<PathKernel>>,
    range_kernels: [OnceLock<RangeKernels>; 3],
    push_pop: OnceLock<PushPop>,
    printed: OnceLock<Vec<u32>>,
    pub(super) range_rows: OnceLock<Rows>,
    /// For each kind of operation, the operations by row.
    op_rows: OnceLock<[(usize, Rows); OpKind::ALL.len()]>,
}

/// Range names, sorted by their printed text.
struct Listed {
    /// For each name: its rank in the order, from 1; 0 if its text is empty.
    ranks: Vec<u32>,
    /// The texts, concatenated in that order.
    texts: String,
    /// A zero, then the end of each text in `texts`.
    ends: Vec<usize>,
}

/// The nesting of push/pop ranges alone, by index of the range.
#[derive(Default)]
pub(super) struct PushPop {
    /// The ranges that have a row in the relation.
    pub(super) shown: Vec<u32>,
    pub(super) parent: Vec<u32>,
    pub(super) depth: Vec<u32>,
    pub(super) children: Vec<u32>,
    pub(super) child_ns: Vec<i64>,
}

impl Answers {
    pub(super) fn new(
        projection: Projection,
        names: Arc<Names>,
        kernel_names: Arc<HashMap<i64, String>>,
        rules: Arc<NameRules>,
        scope: Scope,
        ranges: RangeScope,
        limits: &Limits,
    ) -> Self {
        Self {
            projection,
            names,
            kernel_names,
            scope,
            selected: ranges,
            limits: limits.clone(),
            rules,
            ..Self::default()
        }
    }

    /// Those of another projection of the same ranges, for a scope that selects none.
    pub(super) fn with(&self, projection: Projection, scope: Scope, limits: &Limits) -> Self {
        let (names, kernel_names) = (Arc::clone(&self.names), Arc::clone(&self.kernel_names));
        let rules = Arc::clone(&self.rules);
        Self::new(projection, names, kernel_names, rules, scope, RangeScope::default(), limits)
    }

    pub(super) fn ranges(&self) -> &Ranges {
        &self.projection.attribution.capture.ranges
    }

    pub(super) fn ops(&self) -> &Ops {
        &self.projection.attribution.capture.ops
    }

    /// Whether the range is in the scope, or an operation in the scope was launched in it.
    pub(super) fn is_shown(&self, index: usize) -> bool {
        let range = self.ranges().at(index);
        let scope = &self.scope;
        let pid = self.tid(range.thread) >> 24 & 0xFF_FFFF;
        if !scope.processes.is_empty() && !scope.processes.contains(&pid) {
            return false;
        }
        let is_selected = scope.has_time(range.start, range.end)
            && self.selected.holds_range(&self.projection.attribution, &range);
        is_selected || self.projection.has_work(index)
    }

    /// GPU time in the ranges that the scope selects, else in ranges with these names, by each rule of
    /// attribution. Without names: in any range.
    pub(in crate::execute::native) fn attributed_time(
        &self,
        names: &[String],
    ) -> Result<Option<AttributedTime>> {
        let attribution = &self.projection.attribution;
        if self.selected.time.is_some() || names.is_empty() {
            let of_any = || self.selected.attributed_time(attribution, None);
            return Ok(self.selected.time.or_else(of_any));
        }
        let named = scope::named(attribution, &self.names, &self.rules, names)?;
        Ok(named.and_then(|named| self.selected.attributed_time(attribution, Some(&named))))
    }

    /// Whether a computation was stopped halfway.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// The result `made`. If it was stopped (`None`): an empty one, and `is_stopped` is set.
    fn unless_stopped<T: Default>(&self, made: Option<T>) -> T {
        made.unwrap_or_else(|| {
            self.is_stopped.store(true, Ordering::Relaxed);
            T::default()
        })
    }

    fn is_over(&self) -> bool {
        limits::is_over(&self.limits)
    }

    pub(super) fn shown(&self) -> &[u32] {
        self.shown.get_or_init(|| {
            let mut check = StopCheck::new(&self.limits);
            let mut shown = Vec::new();
            for index in 0..self.ranges().len() as u32 {
                if check.must_stop() {
                    return self.unless_stopped(None);
                }
                shown.extend(self.is_shown(index as usize).then_some(index));
            }
            shown
        })
    }

    /// The place of the operation with a row of the raw table of its kind.
    pub(super) fn place_of_op(&self, kind: OpKind, id: i64) -> Option<usize> {
        let ops = self.ops();
        let of_kinds = self.op_rows.get_or_init(|| {
            let mut from = 0;
            OpKind::ALL.map(|kind| {
                // They were read kind by kind.
                let begin = from;
                from += (begin..ops.len()).take_while(|&place| ops.kind(place) == kind).count();
                (begin, Rows::new(from - begin, |place| ops.id(begin + place)))
            })
        });
        let (begin, rows) = &of_kinds[kind as usize];
        Some(begin + rows.find(id, |place| ops.id(begin + place))?)
    }

    pub(super) fn tid(&self, thread: u32) -> i64 {
        self.projection
            .attribution
            .capture
            .threads
            .get(thread as usize)
            .map_or(NO_ID, |thread| thread.global_tid)
    }

    /// Why the rules could not be compiled, once that was tried.
    pub(super) fn failure(&self) -> Option<&str> {
        self.rules.failure()
    }

    /// The folded names of ranges.
    pub(super) fn layers(&self) -> &Layers {
        self.layers.get_or_init(|| {
            self.unless_stopped(self.names.layers(&self.rules, self.scope.keep_names, &self.limits))
        })
    }

    /// The folded name at the end of a path.
    pub(super) fn layer_of_path(&self, path: u32) -> &str {
        &self.layers().layers[self.paths().paths[path as usize].layer as usize]
    }

    /// The phase of a name, and the pattern of the rule that decided it.
    pub(super) fn phase(&self, name: usize) -> Option<(&str, &str)> {
        self.names.printed(name as u32).and_then(|name| self.rules.phase(&name))
    }

    /// The work that the rules give to a name, as a JSON object.
    pub(super) fn work(&self, name: usize) -> Option<String> {
        self.names.printed(name as u32).and_then(|name| self.rules.work(&name))
    }

    pub(super) fn paths(&self) -> &Paths {
        self.paths.get_or_init(|| {
            let layers = self.layers();
            if self.is_stopped() || self.is_over() {
                return self.unless_stopped(None);
            }
            Paths::new(&self.projection, &layers.of_name, |index| self.is_shown(index))
        })
    }

    /// The paths of shown ranges, and their parent paths.
    pub(super) fn shown_paths(&self) -> &[u32] {
        self.shown_paths.get_or_init(|| {
            let paths = &self.paths().paths;
            let mut is_shown: Vec<bool> = paths.iter().map(|path| path.ranges > 0).collect();
            for (index, path) in paths.iter().enumerate().rev() {
                if is_shown[index] && path.parent != NONE {
                    is_shown[path.parent as usize] = true;
                }
            }
            (0u32..).zip(is_shown).filter(|(_, is_shown)| *is_shown).map(|(index, _)| index).collect()
        })
    }

    /// The text of a kernel's name, by string id.
    pub(super) fn kernel_name(&self, id: i64) -> Option<&str> {
        self.kernel_names.get(&id).map(String::as_str)
    }

    pub(super) fn path_kernels(&self) -> &[PathKernel] {
        self.path_kernels.get_or_init(|| match self.paths() {
            _ if self.is_stopped() => Vec::new(),
            paths => path_kernels(&self.projection, paths),
        })
    }

    pub(super) fn range_kernels(&self, naming: Naming) -> &RangeKernels {
        self.range_kernels[naming as usize].get_or_init(|| {
            let names = || self.listed().ranks.as_slice();
            let kernels =
                RangeKernels::new(&self.projection, naming, self.listing(&names), &self.limits);
            self.unless_stopped(kernels)
        })
    }

    /// The sort order of names and threads in rows: nulls first, as in SQL.
    fn listing<'a>(&'a self, names: &'a (dyn Fn() -> &'a [u32] + Sync)) -> Listing<'a> {
        let threads = self.thread_ranks.get_or_init(|| {
            let threads = &self.projection.attribution.capture.threads;
            let shown = |tid: i64| (ids::pid(tid), ids::tid(tid));
            let mut order = vec![shown(NO_ID)];
            order.extend(threads.iter().map(|thread| shown(thread.global_tid)));
            order.sort_unstable();
            order.dedup();
            let place = |tid| order.partition_point(|&before| before < shown(tid)) as u32;
            threads.iter().map(|thread| place(thread.global_tid)).collect()
        });
        Listing { printed: &self.names.printed, names, threads }
    }

    fn listed(&self) -> &Listed {
        self.listed.get_or_init(|| {
            let mut order: Vec<(Option<Cow<'_, str>>, u32)> =
                self.printed().iter().map(|&name| (self.names.printed(name), name)).collect();
            order.sort_unstable();
            let mut listed = Listed { ranks: Vec::new(), texts: String::new(), ends: vec![0] };
            let mut ranks = vec![0; self.names.len()];
            for (text, name) in &order {
                if let Some(text) = text {
                    ranks[*name as usize] = listed.ends.len() as u32;
                    listed.texts.push_str(text);
                    listed.ends.push(listed.texts.len());
                }
            }
            listed.ranks = self.names.printed.iter().map(|&name| ranks[name as usize]).collect();
            listed
        })
    }

    /// The printed text of a name. Fast for rows in listing order, because their texts are adjacent.
    pub(super) fn listed_name(&self, name: u32) -> Option<&str> {
        let Listed { ranks, texts, ends } = self.listed();
        let rank = *ranks.get(name as usize)? as usize;
        Some(&texts[ends[rank.checked_sub(1)?]..ends[rank]])
    }

    /// The index of a row of `nvtx_range_kernel`. It holds the row's position, so that the columns need not
    /// search for it.
    pub(super) fn range_kernel_index(&self, naming: usize, row: usize) -> usize {
        let (part, place) = self.range_kernels(Naming::ALL[naming]).place(row);
        naming << NAMING_SHIFT | (part as usize) << PART_SHIFT | place as usize
    }

    /// The naming of a row of `nvtx_range_kernel`.
    pub(super) fn naming(index: usize) -> Naming {
        Naming::ALL[index >> NAMING_SHIFT]
    }

    /// The row of `nvtx_range_kernel` at an index.
    pub(super) fn range_kernel(&self, index: usize) -> &RangeKernel {
        let part = index >> PART_SHIFT & ((1 << (NAMING_SHIFT - PART_SHIFT)) - 1);
        self.range_kernels(Self::naming(index)).at(part as u32, index as u32)
    }

    /// One name for each distinct printed text.
    pub(super) fn printed(&self) -> &[u32] {
        self.printed.get_or_init(|| {
            (0u32..).zip(&self.names.printed).filter(|(a, b)| a == *b).map(|(a, _)| a).collect()
        })
    }

    pub(super) fn push_pop(&self) -> &PushPop {
        self.push_pop.get_or_init(|| {
            let nesting =
                self.projection.attribution.nesting_of(|range| range.is_push_pop, &self.limits);
            let Some(nesting) = nesting else { return self.unless_stopped(None) };
            let ranges = self.ranges();
            let mut children = vec![0; ranges.len()];
            let mut child_ns = vec![0i64; ranges.len()];
            for (range, &parent) in ranges.iter().zip(&nesting.parent) {
                if parent != NONE {
                    children[parent as usize] += 1;
                    let sum = &mut child_ns[parent as usize];
                    *sum = sum.saturating_add(range.end - range.start);
                }
            }
            let is_shown = |index: u32| {
                let range = ranges.at(index as usize);
                range.is_push_pop && !range.is_cross_thread && self.is_shown(index as usize)
            };
            PushPop {
                shown: (0..ranges.len() as u32).filter(|&index| is_shown(index)).collect(),
                parent: nesting.parent,
                depth: nesting.depth,
                children,
                child_ns,
            }
        })
    }

    /// The ids of the ranges from the outermost to this one, each after a colon.
    pub(super) fn stack(&self, parent: &[u32], index: u32) -> String {
        let mut chain = vec![index];
        while let Some(&last) = chain.last()
            && parent[last as usize] != NONE
        {
            chain.push(parent[last as usize]);
        }
        let mut stack = String::new();
        for &index in chain.iter().rev() {
            // Writing to a String cannot fail.
            let _ = write!(stack, ":{}", self.ranges().id(index as usize));
        }
        stack
    }
}
