//! What native relations answer from: a projection, and what is made of it when it is first asked for.

use super::names::{Layers, LazyRules, Names};
use super::scope::RangeScope;
use crate::execute::guard::{self, Limits};
use crate::execute::native::ids::{self, UNKNOWN_THREAD};
use crate::normalize::Scope;
use crate::projection::{
    Listing, NONE, Naming, Op, OpKind, Pace, PathKernel, Paths, Projection, Range, RangeKernel,
    RangeKernels, RangeSum, path_kernels, range_sums,
};
use foldhash::HashMap;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// In an index of `nvtx_range_kernel`, a naming stands above these bits.
const NAMING_SHIFT: u32 = 60;
/// The part stands above these, and the row of the part in them.
const PART_SHIFT: u32 = 32;

/// What native relations of one scope answer from, computed once.
pub(in crate::execute::native) struct Answers {
    pub(super) projection: Projection,
    pub(super) names: Names,
    kernel_names: HashMap<i64, String>,
    scope: Scope,
    selected: RangeScope,
    limits: Limits,
    /// Something is empty because it was stopped: no row of it may be used.
    is_stopped: AtomicBool,
    rules: Arc<LazyRules>,
    layers: OnceLock<Layers>,
    shown: OnceLock<Vec<u32>>,
    range_sums: OnceLock<Vec<RangeSum>>,
    listed: OnceLock<Listed>,
    thread_ranks: OnceLock<Vec<u32>>,
    paths: OnceLock<Paths>,
    shown_paths: OnceLock<Vec<u32>>,
    path_kernels: OnceLock<Vec<PathKernel>>,
    range_kernels: [OnceLock<RangeKernels>; 3],
    push_pop: OnceLock<PushPop>,
    printed: OnceLock<Vec<u32>>,
    pub(super) place_of_range: OnceLock<HashMap<i64, u32>>,
    pub(super) place_of_op: OnceLock<HashMap<(OpKind, i64), u32>>,
}

/// Names in the order of what is printed of them.
struct Listed {
    /// Of each name, its place in the order from 1 on; 0 where nothing is printed.
    ranks: Vec<u32>,
    /// One behind the other in that order.
    texts: String,
    /// Where each of them ends, behind a zero.
    ends: Vec<usize>,
}

/// Push/pop ranges among themselves, by index.
#[derive(Default)]
pub(super) struct PushPop {
    /// The ranges that have a row.
    pub(super) shown: Vec<u32>,
    pub(super) parent: Vec<u32>,
    pub(super) depth: Vec<u32>,
    pub(super) children: Vec<u32>,
    pub(super) child_ns: Vec<i64>,
}

impl Answers {
    pub(super) fn new(
        projection: Projection,
        names: Names,
        kernel_names: HashMap<i64, String>,
        rules: Arc<LazyRules>,
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
            is_stopped: AtomicBool::new(false),
            rules,
            layers: OnceLock::new(),
            shown: OnceLock::new(),
            range_sums: OnceLock::new(),
            listed: OnceLock::new(),
            thread_ranks: OnceLock::new(),
            paths: OnceLock::new(),
            shown_paths: OnceLock::new(),
            path_kernels: OnceLock::new(),
            range_kernels: Default::default(),
            push_pop: OnceLock::new(),
            printed: OnceLock::new(),
            place_of_range: OnceLock::new(),
            place_of_op: OnceLock::new(),
        }
    }

    pub(super) fn ranges(&self) -> &[Range] {
        &self.projection.attribution.capture.ranges
    }

    pub(super) fn ops(&self) -> &[Op] {
        &self.projection.attribution.capture.ops
    }

    /// A range is shown when it is in the scope itself, or launched something that is.
    pub(super) fn is_shown(&self, index: usize) -> bool {
        let range = &self.ranges()[index];
        let scope = &self.scope;
        let pid = self.tid(range.thread) >> 24 & 0xFF_FFFF;
        if !scope.processes.is_empty() && !scope.processes.contains(&pid) {
            return false;
        }
        let is_in_time = scope.start_ns.is_none_or(|from| range.end > from || range.start >= from)
            && scope.end_ns.is_none_or(|to| range.start < to);
        let is_selected = is_in_time && self.selected.holds_range(&self.projection.attribution, range);
        is_selected || self.projection.has_work(index)
    }

    /// Something was stopped before it was whole.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// What was made; nothing, and that is remembered, where it was stopped.
    fn unless_stopped<T: Default>(&self, made: Option<T>) -> T {
        made.unwrap_or_else(|| {
            self.is_stopped.store(true, Ordering::Relaxed);
            T::default()
        })
    }

    fn is_over(&self) -> bool {
        guard::is_over(&self.limits)
    }

    pub(super) fn shown(&self) -> &[u32] {
        self.shown.get_or_init(|| {
            let stop = || self.is_over();
            let mut pace = Pace::new(&stop);
            let mut shown = Vec::new();
            for index in 0..self.ranges().len() as u32 {
                if pace.is_over() {
                    return self.unless_stopped(None);
                }
                shown.extend(self.is_shown(index as usize).then_some(index));
            }
            shown
        })
    }

    pub(super) fn range_sums(&self) -> &[RangeSum] {
        self.range_sums.get_or_init(|| {
            let is_shown = |index| self.is_shown(index);
            let stop = || self.is_over();
            let names = || self.listed().ranks.as_slice();
            self.unless_stopped(range_sums(&self.projection, self.listing(&names), is_shown, &stop))
        })
    }

    pub(super) fn tid(&self, thread: u32) -> i64 {
        self.projection
            .attribution
            .capture
            .threads
            .get(thread as usize)
            .map_or(UNKNOWN_THREAD, |thread| thread.global_tid)
    }

    /// Why names cannot be held against the rules, once that is known.
    pub(super) fn failure(&self) -> Option<&str> {
        self.rules.failure()
    }

    /// The folded names of ranges.
    pub(super) fn layers(&self) -> &Layers {
        self.layers.get_or_init(|| {
            let stop = || self.is_over();
            self.unless_stopped(self.names.fold(self.rules.get(), self.scope.keep_names, &stop))
        })
    }

    /// The folded name that a path ends with.
    pub(super) fn layer_of_path(&self, path: u32) -> &str {
        &self.layers().layers[self.paths().paths[path as usize].layer as usize]
    }

    /// The phase that a name means, and the rule that says so.
    pub(super) fn phase(&self, name: usize) -> Option<(&str, &str)> {
        self.names.printed(name as u32).and_then(|name| self.rules.get().phase(&name))
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

    /// The paths of ranges that are shown, and those above them.
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

    /// The text that the number of a kernel's name stands for.
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
        let stop = || self.is_over();
        self.range_kernels[naming as usize].get_or_init(|| {
            let names = || self.listed().ranks.as_slice();
            let kernels = RangeKernels::new(&self.projection, naming, self.listing(&names), &stop);
            self.unless_stopped(kernels)
        })
    }

    /// The order of names and threads in rows: nulls first, as in SQL.
    fn listing<'a>(&'a self, names: &'a (dyn Fn() -> &'a [u32] + Sync)) -> Listing<'a> {
        let threads = self.thread_ranks.get_or_init(|| {
            let threads = &self.projection.attribution.capture.threads;
            let shown = |tid: i64| (ids::pid(tid), ids::tid(tid));
            let mut order = vec![shown(UNKNOWN_THREAD)];
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

    /// What is printed of a name, for whoever asks in the order of a listing: then neighbours are read.
    pub(super) fn listed_name(&self, name: u32) -> Option<&str> {
        let Listed { ranks, texts, ends } = self.listed();
        let rank = *ranks.get(name as usize)? as usize;
        Some(&texts[ends[rank.checked_sub(1)?]..ends[rank]])
    }

    /// Where a row of `nvtx_range_kernel` stands, so that each of its columns need not look for it.
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

    /// Distinct names as readers see them.
    pub(super) fn printed(&self) -> &[u32] {
        self.printed.get_or_init(|| {
            (0u32..).zip(&self.names.printed).filter(|(a, b)| a == *b).map(|(a, _)| a).collect()
        })
    }

    pub(super) fn push_pop(&self) -> &PushPop {
        self.push_pop.get_or_init(|| {
            let stop = || self.is_over();
            let nesting = self.projection.attribution.nesting_of(|range| range.is_push_pop, &stop);
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
                let range = &ranges[index as usize];
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

    /// The ids from the top down to a range, each behind a colon.
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
            let _ = write!(stack, ":{}", self.ranges()[index as usize].id);
        }
        stack
    }

    /// The names that lead to a path, joined.
    pub(super) fn path_text(&self, path: u32) -> String {
        let mut chain = Vec::new();
        let mut at = path;
        while let Some(path) = self.paths().paths.get(at as usize) {
            chain.push(self.layers().layers[path.layer as usize].as_str());
            at = path.parent;
        }
        chain.reverse();
        chain.join(" / ")
    }
}
