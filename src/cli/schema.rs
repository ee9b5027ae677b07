//! `nsq schema`

use crate::error::Result;

/// pending
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> Result<u8> {
    Ok(0)
}
