//! The parts of `nsq answer` that need no report: matching a playbook's patterns with the names of
//! ranges, and rendering its templates from rows.
//!
//! Running the queries and printing the answers is up to the `cli` module.

mod ranges;
mod template;

pub use ranges::{Found, Missing, RangeName, Ranges};
pub use template::{Block, FILTERS, NO_ANSWER, Templates, Trouble, blocks, to_json};
