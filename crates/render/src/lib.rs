//! Writes tables: for people, for machines, and as the tools before nsq do.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod render;
pub mod seed;
