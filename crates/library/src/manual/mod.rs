//! Lists of what the library has, and the search for words.
//!
//! It reads the catalogue, and neither reports nor the command line.

mod list;
mod search;
mod words;

pub use list::{ASKED_FIRST, classes, library_items, pages, playbooks, queries, relations, table};
pub use search::{Found, Search, search};
pub use words::words_of;
