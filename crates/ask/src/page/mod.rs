//! Pages: the answers of several queries, as tables and in layouts.
//!
//! In stage one, each report answers the queries of the page in its own session and scope. In stage two,
//! queries that ask other queries run over these answers, of all reports together.
//!
//! A layout never computes. The numbers that it shows are columns of rows, or facts of the manifest.

mod assets;
mod bounds;
mod chart;
mod filters;
mod iterations;
mod layout;
mod limited_buffer;
mod no_rows;
mod page_answer;
mod page_report;
mod planned;
mod prose;
mod questions;
mod request;
mod saved;
mod template;
mod values;

pub use crate::partials::{Gathering, Partials, ReportAnswers};
pub use assets::ASSET;
pub use filters::FILTERS;
pub use iterations::not_comparable;
pub use no_rows::NoRows;
pub use page_answer::{PageAnswer, PageTableAnswer};
pub use page_report::{PageReport, ReportInput};
pub use prose::{TERMINAL, Terminal};
pub use questions::{Given, PartAnswer, Questions, Status, table_text};
pub use request::PageRequest;
pub use saved::SavedReport;
pub use template::{FUNCTIONS, Templates, Trouble};
pub use values::{rows, to_json, value};
