//! Algorithms over intervals in time, on plain columns: projection of NVTX ranges, occupancy of GPUs, statistics,
//! classification of names. SQL cannot do these in O(n log n). Nothing here knows SQLite or a report.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod alignment;
pub mod calls;
pub mod classify;
pub mod integers;
pub mod interval;
pub mod occupancy;
pub mod projection;
pub mod replay;
pub mod slices;
pub mod statistics;
pub mod steps;
pub mod threads;
