//! From a playbook and the names of ranges to what is asked and said: no report is opened here.
//!
//! For: which ranges a pattern means, and templates over rows.
//!
//! Not for: running queries, or printing.

mod ranges;
mod template;

pub use ranges::{Found, Missing, RangeName, Ranges};
pub use template::{Block, FILTERS, NO_ANSWER, Templates, Trouble, blocks, to_json};
