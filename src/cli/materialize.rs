//! `nsq materialize`: writes the normalised tables to a plain SQLite file, or as Parquet.

mod args;
mod dataset;
mod one_file;

pub(super) use args::Args;
use nsq_render::render::encoder;
use nsq_value::error::{Error, Result};

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
