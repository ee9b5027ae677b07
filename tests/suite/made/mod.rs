//! Made captures: a program is written, simulated, and exported as a profiler would have seen it.

pub(crate) mod export;
pub(crate) mod program;
pub(crate) mod simulate;
