//! `nsq run -q PAGE`: the tables of a page.

use super::Args;
use crate::cli::page::PageArgs;
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, Result};

impl Args {
    /// The page that `--query` names, if it names one. A query comes before a page of its name.
    pub(super) fn page(&self, catalog: &Catalog) -> Result<Option<&str>> {
        let is_page = |name: &&String| catalog.page(name).is_ok() && catalog.query(name).is_err();
        match (self.query.iter().find(is_page), self.query.len()) {
            (None, _) => Ok(None),
            (Some(page), 1) if self.columns.is_empty() => Ok(Some(page)),
            (Some(page), 1) => Err(Error::usage(
                format!("--columns chooses columns of a query, but {page} is a page of several tables"),
                format!("ask one of its queries: nsq show {page}"),
            )),
            (Some(page), _) => Err(Error::usage(
                format!("{page} is a page, and a page is asked alone"),
                format!("run it on its own: nsq run REPORT -q {page}"),
            )),
        }
    }
}

/// Asks the page, with the options of `nsq run`.
pub(super) fn run(args: &Args, name: &str) -> Result<u8> {
    PageArgs {
        reports: args.reports.clone(),
        param: args.param.clone(),
        layout: args.layout.clone(),
        how: args.how.clone(),
    }
    .run(name)
}
