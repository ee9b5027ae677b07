//! Pages: the answers of several queries, as tables and in layouts.
//!
//! In stage one, each report answers the queries of the page in its own session and scope. In stage two,
//! queries that ask other queries run over these answers, of all reports together.
//!
//! A layout never computes. The numbers that it shows are columns of rows, or facts of the manifest.

mod chart;
mod filters;
mod iterations;
mod layout;
mod partials;
mod planned;
mod request;
mod saved;
mod template;

pub use filters::FILTERS;
pub use iterations::not_comparable;
pub use partials::{Gathering, Partials, ReportAnswers};
pub use request::{NoRows, PageAnswer, PageReport, PageRequest, PageTableAnswer, ReportInput};
pub use saved::SavedReport;
pub use template::{FUNCTIONS, Templates, Trouble, rows, to_json, value};
