//! `nsq timeline`: a page to look at a capture over time.

use super::page::PageArgs;
use nsq_value::error::Result;
use std::io::{self, IsTerminal};

/// Look at captures over time, in the terminal or in a browser
///
/// In a terminal, lanes can be zoomed, searched and measured; ? shows the keys. The page needs no network and no
/// server: any browser opens the file. Both have a lane for the idle time and each
/// stream of a GPU, for NVTX ranges on the GPU and on the CPU by depth, and for the CUDA calls, OS calls and states
/// of each thread. The page shows several reports on one clock, aligned by their collectives.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq timeline report.sqlite                                       in the terminal
  nsq timeline report.sqlite -o timeline.html
  nsq timeline rank*.sqlite -o timeline.html                       all ranks on one clock
  nsq timeline report.sqlite --time 1.2s/1.3s -o timeline.html     every slice of a tenth of a second
  nsq timeline report.sqlite --iter step/3 -o timeline.html
  nsq timeline report.sqlite -p slices=100000 -o small.html

A large capture has more slices than a page can hold. Each lane is split into equal pieces of time, and the \
page keeps the longest slices of each piece. The page says how many it leaves out. Busy shares count them.")]
pub(super) struct Args {
    #[command(flatten)]
    page: PageArgs,
}

impl Args {
    /// Whether it is to be looked at in the terminal: one report, and nothing asks for text or a file.
    pub(super) fn is_to_be_viewed(&self) -> bool {
        let PageArgs { reports, how, layout, param } = &self.page;
        let output = &how.output;
        let asks_for_text = output.output.is_some() || output.format.is_some() || layout.is_some();
        let is_plain =
            reports.len() == 1 && param.is_empty() && how.open.trace().is_none() && !asks_for_text;
        is_plain && io::stdin().is_terminal() && io::stdout().is_terminal()
    }
}

pub(super) fn run(args: &Args) -> Result<u8> {
    args.page.run("timeline")
}
