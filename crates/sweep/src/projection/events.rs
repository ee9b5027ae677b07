//! The rows of a capture: operations, calls, launches and ranges.

/// The index that means "none".
pub const NONE: u32 = u32::MAX;

/// Why a projection could not be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// [`super::stop_check::Stop`] returned `true`.
    Stopped,
    /// The sum of the durations exceeds 64 bits.
    Overflow,
}

/// The kind of a GPU operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpKind {
    /// A kernel.
    Kernel,
    /// A memory copy.
    Memcpy,
    /// A memory fill.
    Memset,
    /// A CUDA graph that was traced as a whole.
    Graph,
}

impl OpKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Kernel, Self::Memcpy, Self::Memset, Self::Graph];

    /// The kind with this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The word for this kind in relations.
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
    /// Start on the GPU.
    pub start: i64,
    /// End on the GPU.
    pub end: i64,
    /// Row of the raw table that `kind` names.
    pub id: i64,
    /// Correlation id of the launching call, unique within its process; 0 if none.
    pub correlation: i64,
    /// Index into [`super::Capture::processes`].
    pub process: u32,
    /// Index into the launches, or [`NONE`].
    pub launch: u32,
    /// Index into [`super::Capture::kernels`], or [`NONE`].
    pub kernel: u32,
    /// What kind of operation it is.
    pub kind: OpKind,
}

impl Op {
    /// The duration in ns.
    pub fn dur(&self) -> i64 {
        self.end - self.start
    }
}

/// A launch: the time on a thread by which operations are attributed to ranges, and the call behind it.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Index into [`super::Capture::threads`].
    pub thread: u32,
    /// The call: its row of the raw table.
    pub call: i64,
}

/// When and where a call ran.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    /// Start of the call.
    pub start: i64,
    /// Return from the call.
    pub end: i64,
    /// Index into [`super::Capture::threads`].
    pub thread: u32,
}

/// An NVTX range.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// Start on the CPU.
    pub start: i64,
    /// End on the CPU.
    pub end: i64,
    /// Row of the raw table.
    pub id: i64,
    /// Index into [`super::Capture::threads`].
    pub thread: u32,
    /// Index into the range names, which the maker of the capture keeps.
    pub name: u32,
    /// A push/pop range; otherwise a start/end range.
    pub is_push_pop: bool,
    /// Ended by another thread than the one that started it.
    pub is_cross_thread: bool,
}

/// A thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// Index into [`super::Capture::processes`].
    pub process: u32,
    /// Thread id, unique across hosts and VMs.
    pub global_tid: i64,
}

/// The three names of a kernel, as string ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kernel {
    /// Demangled name.
    pub name: i64,
    /// Function name alone.
    pub short: i64,
    /// Mangled name.
    pub mangled: i64,
}
