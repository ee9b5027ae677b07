//! What a graph is made from.

/// A call of a host thread. Calls inside another call are part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCall {
    /// Start.
    pub start: i64,
    /// Return, not before `start`.
    pub end: i64,
    /// Number of the thread.
    pub thread: u32,
    /// Number of the function: calls of one function have the same usual times.
    pub function: u32,
}

/// The [`DeviceOp::family`] of kernels that are no communication.
pub const KERNEL: u8 = 0;

/// An operation of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceOp {
    /// Start.
    pub start: i64,
    /// End, not before `start`.
    pub end: i64,
    /// Number of the stream.
    pub stream: u32,
    /// Number of the kind: operations of one kind have the same usual latencies. [`KERNEL`] is that of kernels.
    pub family: u8,
    /// Place of the launching call in [`Capture::calls`], or [`crate::occupancy::NONE`].
    pub launch: u32,
}

/// What was recorded. Calls and operations are named by their places in the lists.
#[derive(Debug, Clone, Default)]
pub struct Capture {
    /// The calls, sorted by thread and start. Calls of a thread do not overlap.
    pub calls: Vec<HostCall>,
    /// The operations, sorted by start.
    pub ops: Vec<DeviceOp>,
    /// The GPU of each stream.
    pub gpu_of_stream: Vec<u32>,
    /// A call and an operation that has ended, or of which nothing is left to launch, when the call returns.
    pub waits: Vec<(u32, u32)>,
    /// An operation and another one that ends before it starts.
    pub events: Vec<(u32, u32)>,
    /// A call and one of another thread that returns before it starts, and for which its thread waits.
    pub wakes: Vec<(u32, u32)>,
    /// Operations that end together: the members of each collective.
    pub groups: Vec<Vec<u32>>,
}
