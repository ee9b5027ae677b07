//! Projects NVTX ranges onto GPU operations.
//!
//! Finds the launch of each GPU operation, the ranges around that launch, and the totals of each range:
//! operations, launches, GPU time, and extent on the GPU. Takes O(n log n) and never lists all pairs of
//! operations and ranges: launches are sorted by time, so the launches inside a range are one slice, and
//! the totals of a slice are a difference of prefix sums.
//!
//! Times are in ns on the report's clock, and both ends are inclusive: a launch is inside a range if
//! `range.start <= call.start` and `range.end >= call.end`. Reading reports happens elsewhere.

mod attribution;
mod by_name;
mod capture;
mod collector;
mod columns;
mod events;
mod extremes;
mod groups;
mod kernels;
mod link;
mod nesting;
mod open;
mod paths;
mod selection;
mod slices;
mod stop_check;

pub use attribution::{Attribution, Nesting, Reach, Unattributed};
pub use by_name::Listing;
pub use capture::Capture;
pub use collector::RangeKernel;
pub use columns::{Launches, Ops, Ranges};
pub use events::{Caller, Failure, Kernel, Launch, NONE, Op, OpKind, Range, Thread};
pub use kernels::{Naming, PathKernel, RangeKernels, path_kernels};
pub use link::Links;
pub use paths::{Path, Paths};
pub use selection::{Instances, Selected};
pub use slices::{Keep, Own, Projection, Work};
pub use stop_check::{Stop, StopCheck, Watch};
