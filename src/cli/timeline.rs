//! `nsq timeline`: a page to look at a capture over time.

use super::page::PageArgs;
use nsq_value::error::Result;

/// Write an HTML page that shows a capture over time, to zoom and search
///
/// The page needs no network and no server: any browser opens the file. It has a lane for the idle time and each
/// stream of a GPU, for NVTX ranges on the GPU and on the CPU by depth, and for the CUDA calls, OS calls and states
/// of each thread.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq timeline report.sqlite -o timeline.html
  nsq timeline report.sqlite --time 1.2s/1.3s -o timeline.html     every slice of a tenth of a second
  nsq timeline report.sqlite --iter step/3 -o timeline.html
  nsq timeline report.sqlite -p slices=100000 -o small.html

A large capture has more slices than a page can hold. Each lane is split into equal pieces of time, and the
page keeps the longest slices of each piece. The page says how many it leaves out. Busy shares count them.")]
pub(super) struct Args {
    #[command(flatten)]
    page: PageArgs,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    args.page.run_for_one("timeline")
}
