//! Answers questions about NVIDIA Nsight Systems profiles with versioned SQL.
//!
//! ```text
//! cli ─► report ─► schema ─► normalize ─► compile ─► execute ─► table ─► render
//!            catalog ──────────┴────────────┘
//! ```
//!
//! Each stage is named by what it turns into what; a stage knows the ones that come before it in
//! the flow of data and the vocabulary of [`table`], never one behind it, and a test keeps it so.
//! The questions themselves stand in `queries/`, one SQL file each: this crate is the thin driver
//! that makes every report look the same, runs them, and prints the rows.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod answer;
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
pub mod projection;
pub mod render;
pub mod report;
pub mod schema;
pub mod statistics;
pub mod table;
pub mod threads;
pub mod trace;
pub mod bounded_file;
