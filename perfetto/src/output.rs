//! The trace that is written.

use flate2::Compression;
use flate2::write::GzEncoder;
use nsq::render::Output;
use std::io::{self, Write};
use std::path::Path;

/// A stream that is compressed if the name of its file says so.
pub(crate) enum Compressed<'o> {
    Plain(&'o mut Output),
    Gzip(Box<GzEncoder<&'o mut Output>>),
}

impl<'o> Compressed<'o> {
    pub(crate) fn new(out: &'o mut Output, name: &Path) -> Self {
        match name.extension().is_some_and(|extension| extension == "gz") {
            true => Self::Gzip(Box::new(GzEncoder::new(out, Compression::new(4)))),
            false => Self::Plain(out),
        }
    }

    /// Writes the end.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Gzip(encoder) => encoder.finish().map(drop),
        }
    }
}

impl Write for Compressed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(encoder) => encoder.flush(),
        }
    }
}
