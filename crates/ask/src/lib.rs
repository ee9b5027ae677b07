//! Asks reports: one question, a page, or an answer from a playbook.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod door;
pub mod materialize;
pub mod open_report;
pub mod page;
