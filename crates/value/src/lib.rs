//! What all parts of nsq hand on: tables of typed values with units, errors, cancellation, and patterns of names.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod cancel;
pub mod error;
pub mod glob;
pub mod shell;
pub mod table;
