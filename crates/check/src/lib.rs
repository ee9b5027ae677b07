//! Checks a SQL library: its documentation, its columns, and that it runs.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod lint;
