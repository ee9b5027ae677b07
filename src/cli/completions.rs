//! `nsq completions`: prints shell completion scripts.

use super::{Cli, output};
use crate::error::{Error, Result};
use clap::CommandFactory;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq completions bash > ~/.local/share/bash-completion/completions/nsq
  nsq completions zsh > ~/.zfunc/_nsq
  nsq completions fish > ~/.config/fish/completions/nsq.fish")]
pub(super) struct Args {
    /// Shell to print the script for.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    // The generator panics if a write fails, so it writes to memory first.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "nsq", &mut script);
    output::write_to(None, |out| out.write_all(&script).map_err(Error::Output))?;
    Ok(0)
}
