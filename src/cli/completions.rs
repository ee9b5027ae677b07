//! `nsq completions`: what the shell needs to complete a command line.

use super::{Cli, output};
use crate::error::{Error, Result};
use clap::CommandFactory;

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq completions bash > ~/.local/share/bash-completion/completions/nsq
  nsq completions zsh > ~/.zfunc/_nsq
  nsq completions fish > ~/.config/fish/completions/nsq.fish")]
pub(super) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    // The generator panics when its writer fails, so it does not get standard output.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "nsq", &mut script);
    output::write_to(None, |out| out.write_all(&script).map_err(Error::Output))?;
    Ok(0)
}
