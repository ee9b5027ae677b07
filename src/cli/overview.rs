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
  nsq overview report.sqlite --iter step/3 -f json

A ceiling is the GPU time that a perfect fix would free. Each nanosecond counts once, for the finding that
is ranked first, so all ceilings together never exceed the time of the GPUs.")]
pub(super) struct Args {
    #[command(flatten)]
    page: PageArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    args.page.run("overview")
}
