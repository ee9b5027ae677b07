//! The front door for other programs: open a report, ask it, read the rows.

mod library;
mod question;
mod rows;

pub use library::{Library, Report, open};
pub use question::{Cancel, PageQuestion, Question, Scope};
pub use rows::{Page, Table};
