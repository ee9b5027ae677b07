//! `nsq overview`, and `nsq REPORT`: what to look at first.

use super::first_word::must_be_reports;
use super::page::PageArgs;
use super::{note, reports};
use nsq_value::error::{Error, Result};

/// Show what a report holds, how its GPUs spent their time, and what to fix first
///
/// `nsq REPORT` is short for `nsq overview REPORT`, and `nsq REPORT -q NAME` for `nsq run REPORT -q NAME`. The page's
/// queries are listed by `nsq show overview`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq report.sqlite
  nsq overview report.sqlite -o overview.html
  nsq report.sqlite --explain 1        or by its name, such as --explain host_sync
  nsq report.sqlite --whole            with start-up and warm-up
  nsq report.sqlite --with trace.json  with the operators of a PyTorch trace of the same program
  nsq overview report.sqlite --iter step/3 -f json

A gain is what a step takes less if the capture is replayed with the fix. Fixes are replayed together, \
the best one first, so their gains add up.")]
pub(super) struct Args {
    /// Show how finding N of this page, or the finding of this name, was computed: its intervals, replay, places
    /// and SQL.
    #[arg(long, value_name = "N|NAME", value_parser = explained)]
    explain: Option<String>,
    /// Judge the whole capture, not only the steps after the warm-up.
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    must_be_reports(&args.page.reports)?;
    let page = match args.whole {
        true => &args.page.with("whole=true".to_owned()),
        false => &args.page,
    };
    match &args.explain {
        None => {
            let code = page.run("overview")?;
            if page.how.output.output.is_none() && reports::named(&page.reports)?.len() > 1 {
                note(
                    "`nsq REPORT` shows all about one of these, `nsq run REPORT… -q job` compares ranks, `nsq diff A B` versions",
                );
            }
            Ok(code)
        }
        Some(param) => {
            must_be_a_finding(param, page)?;
            page.with(param.clone()).run("finding")
        }
    }
}

/// Fails for a number or name that no finding has: each report has all findings, found or not.
fn must_be_a_finding(param: &str, page: &PageArgs) -> Result<()> {
    let help = "`nsq run REPORT -q findings` lists them with their numbers";
    let catalog = page.how.library.load()?;
    let names = || catalog.findings().map(|query| query.header.name.as_str());
    let (count, (key, asked)) = (names().count(), param.split_once('=').unwrap_or(("", param)));
    match key {
        "number" if asked.parse::<usize>().is_ok_and(|number| number > count) => Err(Error::usage(
            format!("there is no finding {asked}: they are numbered from 1 to {count}"),
            help,
        )),
        "finding" if names().all(|name| name != asked) => {
            Err(Error::unknown("finding", asked, names(), help))
        }
        _ => Ok(()),
    }
}

/// The parameter of the page that selects a finding by its number or its name.
fn explained(text: &str) -> std::result::Result<String, String> {
    let is_number = text.parse::<u32>().is_ok_and(|number| number > 0);
    let is_name = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match (is_number, is_name) {
        (true, _) => Ok(format!("number={text}")),
        (_, true) => Ok(format!("finding={text}")),
        _ => {
            Err("expected the number of a finding, such as 1, or its name, such as host_sync".to_owned())
        }
    }
}
