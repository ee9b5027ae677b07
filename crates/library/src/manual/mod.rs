//! The documentation of the library: lists of what there is, the search for words, and a page about each.
//!
//! It reads the catalogue, and neither reports nor the command line.

mod list;
mod pages;
mod sheet;

pub use list::{classes, pages, playbooks, queries, relations, search, table, words_of};
pub use pages::manual;
pub use sheet::Form;
