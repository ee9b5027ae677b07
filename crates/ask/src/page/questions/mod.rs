//! Answers the questions of a page in sentences, with the rows behind them.
//!
//! A piece of an answer asks its queries of one of the reports, each in a scope of its own: the ranges that
//! the page's patterns find there. Each piece has a full answer, or a reason why not.

mod asking;
mod blocks;
mod command;
mod files;
mod part;
mod pattern_matches;
mod ranges;
mod reasons;
mod reply;
mod request;
mod settings;
mod stop;
mod view;

pub use part::{PartAnswer, Status};
pub use request::{Given, Questions};
pub use view::table_text;

use crate::open_report::OpenReport;
use asking::Asking;
use nsq_engine::execute::Limits;
use nsq_value::error::Result;

impl<'a> Questions<'a> {
    /// The answers for one report, or for two where a question needs both.
    pub fn answer(&self, reports: &[&OpenReport], limits: &Limits) -> Result<Vec<PartAnswer<'a>>> {
        let mut asking = Asking::new(self, reports, limits);
        self.parts.iter().map(|part| part::answer(&mut asking, part)).collect()
    }
}
