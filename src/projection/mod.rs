//! Which NVTX ranges the GPU worked for.
//!
//! For: finding the launch of each GPU operation, the ranges around that launch, and what each range
//! amounts to: operations, launches, time, extent on the GPU. All in O(n log n), without ever listing
//! the pairs of operations and ranges: launches are kept in order of time, so that those inside a range
//! are one slice of them, and what a slice amounts to is a difference of running sums.
//!
//! Not for: reading a report, or knowing SQLite. Times are in ns on the report's clock, ends included:
//! a range holds a launch when `range.start <= call.start` and `range.end >= call.end`.

mod attribution;
mod by_name;
mod extremes;
mod groups;
mod kernels;
mod link;
mod nesting;
mod open;
mod pace;
mod paths;
mod range_sums;
mod selection;
mod slices;

pub use attribution::{Attribution, Nesting, Reach, Unattributed};
pub use by_name::Listing;
pub use kernels::{Naming, PathKernel, RangeKernel, RangeKernels, path_kernels};
pub use link::Links;
pub use pace::{Pace, Stop};
pub use paths::{Path, Paths};
pub use range_sums::{RangeSum, range_sums};
pub use selection::{Instances, Selected};
pub use slices::{Keep, Own, Projection, Work};

/// The index that stands for nothing.
pub const NONE: u32 = u32::MAX;

/// Why there is no projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// [`Stop`] said so.
    Stopped,
    /// The durations add up to more than 64 bits hold.
    Overflow,
}

/// What a GPU operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpKind {
    /// A kernel.
    Kernel,
    /// A copy.
    Memcpy,
    /// A fill.
    Memset,
    /// A CUDA graph that was traced as a whole.
    Graph,
}

impl OpKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Kernel, Self::Memcpy, Self::Memset, Self::Graph];

    /// The kind that has this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The word for it in relations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Memcpy => "memcpy",
            Self::Memset => "memset",
            Self::Graph => "graph",
        }
    }
}

/// A GPU operation.
#[derive(Debug, Clone, Copy)]
pub struct Op {
    /// Began on the GPU.
    pub start: i64,
    /// Ended on the GPU.
    pub end: i64,
    /// Row of the raw table that `kind` names.
    pub id: i64,
    /// Number of the launching call within its process; 0 if none.
    pub correlation: i64,
    /// Index into [`Capture::processes`].
    pub process: u32,
    /// Index into the launches, or [`NONE`].
    pub launch: u32,
    /// Index into [`Capture::kernels`], or [`NONE`].
    pub kernel: u32,
    /// What it is.
    pub kind: OpKind,
}

impl Op {
    /// How long it took.
    pub fn dur(&self) -> i64 {
        self.end - self.start
    }
}

/// An API call.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Began.
    pub start: i64,
    /// Returned.
    pub end: i64,
    /// Row of the raw table.
    pub id: i64,
    /// Index into [`Capture::threads`].
    pub thread: u32,
    /// A call of the runtime API, not of the driver's.
    pub is_runtime: bool,
}

/// What attributes operations to ranges: a place in the time of a thread.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    /// Began.
    pub start: i64,
    /// Ended.
    pub end: i64,
    /// Index into [`Capture::threads`].
    pub thread: u32,
    /// The call behind it: index into [`Capture::calls`].
    pub call: u32,
    /// The innermost range around it, or [`NONE`].
    pub innermost: u32,
    /// Without a range of its own: another thread of its process had one open.
    pub is_elsewhere: bool,
}

/// An NVTX range.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// Began on the CPU.
    pub start: i64,
    /// Ended on the CPU.
    pub end: i64,
    /// Row of the raw table.
    pub id: i64,
    /// Index into [`Capture::threads`].
    pub thread: u32,
    /// Index into the names of whoever made the capture.
    pub name: u32,
    /// Pushed and popped, not started and ended.
    pub is_push_pop: bool,
    /// Ended by another thread than started it.
    pub is_cross_thread: bool,
}

/// A thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// Index into [`Capture::processes`].
    pub process: u32,
    /// Number across hosts and VMs.
    pub global_tid: i64,
}

/// The three names of a kernel, as numbers of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kernel {
    /// Demangled name.
    pub name: i64,
    /// Function alone.
    pub short: i64,
    /// Mangled name.
    pub mangled: i64,
}

/// What a report holds of ranges, calls and operations.
#[derive(Debug, Default)]
pub struct Capture {
    /// Processes across hosts and VMs, ascending.
    pub processes: Vec<i64>,
    /// Threads, ascending: those of a process stand together.
    pub threads: Vec<Thread>,
    /// Distinct names of kernels.
    pub kernels: Vec<Kernel>,
    /// GPU operations.
    pub ops: Vec<Op>,
    /// The calls that launched them.
    pub calls: Vec<Call>,
    /// One for each call, or for each place that takes a call's part.
    pub launches: Vec<Launch>,
    /// NVTX ranges.
    pub ranges: Vec<Range>,
}

impl Capture {
    /// Leaves out the launches that no operation points to any more: every launch launched something.
    pub fn drop_idle_launches(&mut self) {
        let mut is_used = vec![false; self.launches.len()];
        for op in self.ops.iter().filter(|op| op.launch != NONE) {
            is_used[op.launch as usize] = true;
        }
        let mut places = vec![NONE; is_used.len()];
        let used = places.iter_mut().zip(&is_used).filter(|(_, is_used)| **is_used);
        used.zip(0u32..).for_each(|((place, _), count)| *place = count);
        for op in self.ops.iter_mut().filter(|op| op.launch != NONE) {
            op.launch = places[op.launch as usize];
        }
        let mut is_used = is_used.into_iter();
        self.launches.retain(|_| is_used.next() == Some(true));
    }
}
