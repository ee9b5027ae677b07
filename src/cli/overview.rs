//! `nsq overview`, and `nsq REPORT`: what to look at first.

use super::page::PageArgs;
use nsq_value::error::Result;

/// Show what a report holds, how its GPUs spent their time, and what to fix first
///
/// `nsq REPORT` is short for `nsq overview REPORT`. The page's queries are listed by `nsq show overview`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq report.sqlite
  nsq overview report.sqlite -o overview.html
  nsq report.sqlite --explain 1
  nsq report.sqlite --whole            with start-up and warm-up
  nsq overview report.sqlite --iter step/3 -f json

A gain is what a step takes less if the capture is replayed with the fix. Fixes are replayed together, \
the best one first, so their gains add up.")]
pub(super) struct Args {
    /// Show how finding N of this page was computed: its intervals, replay, places and SQL.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    explain: Option<u32>,
    /// Judge the whole capture, not only the steps after the warm-up.
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let page = match args.whole {
        true => &args.page.with("whole=true".to_owned()),
        false => &args.page,
    };
    match args.explain {
        None => page.run("overview"),
        Some(number) => page.with(format!("number={number}")).run("finding"),
    }
}
