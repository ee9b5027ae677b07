//! The front door for other programs: open a report, ask it, read the rows.

mod answers;
mod library;
mod page;
mod question;
mod rows;

pub use answers::{Answers, Playbook, PlaybookQuestion};
pub use library::{Library, Report};
pub use page::{PageOf, PageQuestion};
pub use question::{Asking, Cancel, OfEach, Query, Question, Scope};
pub use rows::{Answer, Failure, Page, Table};
