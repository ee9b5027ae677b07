//! Files that are read within bounds and written whole or not at all, and what ends a program with none left behind.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod bounded_file;
#[cfg(feature = "signals")]
pub mod interrupt;
#[cfg(feature = "signals")]
pub mod whole_file;
