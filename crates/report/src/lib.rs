//! Opens a report, exports or imports it if it is no SQLite file yet, and reads its schema.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod onto;
pub mod report;
pub mod rocm;
pub mod schema;
pub mod trace;
