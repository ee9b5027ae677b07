//! The documentation of the library: lists of what there is, the search for words, and a page about each.
//!
//! It reads the catalogue, and neither reports nor the command line.

mod list;
mod pages;
mod search;
mod sheet;
mod words;

pub use list::{classes, library_items, pages, playbooks, queries, relations, table};
pub use pages::manual;
pub use search::{Found, Search, search};
pub use sheet::Form;
pub use words::words_of;
