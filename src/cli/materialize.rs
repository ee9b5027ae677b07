//! `nsq materialize`: writes the normalised tables to a plain SQLite file, or as Parquet.

mod args;
mod dataset;
mod one_file;

use crate::error::{Error, Result};
use crate::render::encoder;
pub(super) use args::Args;

pub(super) fn run(args: &Args) -> Result<u8> {
    if let (Some(folder), Some(encode)) = (&args.parquet, encoder()) {
        return dataset::write(args, folder, encode);
    }
    match (&args.output, args.report.as_slice()) {
        (Some(output), [report]) => one_file::write(args, report, output),
        _ => Err(Error::usage(
            "a SQLite file holds one report",
            "give one report, or --parquet DIR for several",
        )),
    }
}
