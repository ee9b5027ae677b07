//! What would the time be if …? The graph of a capture, its replay, and the chain that binds.
//!
//! A capture becomes a graph. Nodes are calls of host threads and operations of GPUs. An operation starts after its
//! launching call, after the operation before it in its stream and after those that it waits for. A call starts after
//! the host code that follows the call before it. A call that waits returns after what it waits for. Members of a
//! collective end together, after the last of them has started.
//!
//! Each edge has a latency: what is usual for edges of its kind that bind, at most the time that was recorded. An edge
//! that binds explains up to twice as much. The rest is the node's *unexplained delay*, which remains behind whatever
//! binds after an edit: so does what a call does after it has waited, such as freeing memory. An edge against the recorded
//! order of time is left out. So the replay without edits gives the capture, to the nanosecond.
//!
//! Building takes O(n log n), a replay O(n). Times are in ns.

mod capture;
mod chain;
mod edits;
mod graph;
mod latency;
mod order;
mod places;
mod replayed;
mod running;
mod times;

pub use capture::{Capture, DeviceOp, HostCall, KERNEL};
pub use chain::{Part, PartKind};
pub use edits::Edits;
pub use graph::{Edge, EdgeKind, Graph};
pub use replayed::{AsRecorded, Change, Times};
pub use running::Ends;
pub use times::{GpuTimes, IntervalsByGpu};

#[cfg(test)]
mod tests;
