//! Answers questions about NVIDIA Nsight Systems profiles with versioned SQL.
//!
//! ```text
//! cli ─► report ─► schema ─► normalize ─► compile ─► execute ─► table ─► render
//!            catalog ──────────┴────────────┘
//! ```
//!
//! Data flows from left to right. A stage may use earlier stages and the types of [`table`], but never
//! a later stage; `tests/suite/layering.rs` checks this. The documentation of each stage starts with its input
//! and output. The questions are in `queries/`, one SQL file each. This crate only makes all reports
//! look the same, runs the questions, and prints the rows.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod answer;
pub mod bounded_file;
pub mod catalog;
pub mod class_summary;
pub mod classify;
pub mod cli;
pub mod comparison;
pub mod compile;
pub mod error;
pub mod execute;
pub mod glob;
pub mod interrupt;
pub mod interval;
pub mod lint;
pub mod normalize;
pub mod occupancy;
pub mod page;
pub mod projection;
pub mod render;
pub mod report;
pub mod schema;
pub mod statistics;
pub mod table;
pub mod threads;
pub mod trace;
