//! A buffer with a limit.

use std::io;

/// Output of a template, with an error beyond `most` bytes.
pub(super) struct LimitedBuffer {
    pub(super) bytes: Vec<u8>,
    pub(super) most: usize,
}

impl io::Write for LimitedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
