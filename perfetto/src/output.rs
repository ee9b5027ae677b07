//! The file that is written.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// A file beside the output, which takes its name when it is whole.
pub(crate) fn create(output: &Path) -> io::Result<NamedTempFile> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = tempfile::Builder::new()
        .prefix(".nsq-perfetto")
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As other programs create files; a temporary file is private.
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    Ok(file)
}

/// A file that is compressed if its name says so.
pub(crate) enum Compressed {
    Plain(BufWriter<NamedTempFile>),
    Gzip(Box<GzEncoder<BufWriter<NamedTempFile>>>),
}

impl Compressed {
    pub(crate) fn new(file: NamedTempFile, name: &Path) -> Self {
        let file = BufWriter::with_capacity(1 << 20, file);
        match name.extension().is_some_and(|extension| extension == "gz") {
            true => Self::Gzip(Box::new(GzEncoder::new(file, Compression::new(4)))),
            false => Self::Plain(file),
        }
    }

    /// The whole file.
    pub(crate) fn finish(self) -> io::Result<NamedTempFile> {
        let file = match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl Write for Compressed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(encoder) => encoder.flush(),
        }
    }
}
