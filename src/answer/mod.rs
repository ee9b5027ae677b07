//! The parts of `nsq answer` that need no report: matching a playbook's patterns with the names of
//! ranges, and taking its texts apart.
//!
//! Running the queries and printing the answers is up to the `cli` module.

mod blocks;
mod ranges;

pub use blocks::{Block, blocks};
pub use ranges::{Found, Missing, RangeName, Ranges};
