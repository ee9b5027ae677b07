//! File → chunks of unpacked text, on its own thread.

use super::packing::{self, Unfit};
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

/// The first bytes of a gzip file.
pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];
/// Whether the text has a UTF-16 byte order mark. Some shells write UTF-16.
pub(super) fn is_utf16(text: &[u8]) -> bool {
    text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff])
}

/// Bytes in a chunk.
const CHUNK: usize = 1 << 20;
/// Maximum chunks that wait to be read.
pub(super) const CHUNKS: usize = 4;

/// A file that counts the bytes read from it.
struct Counted<'c> {
    file: File,
    read: &'c AtomicU64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buffer) {
                // Not every caller tries again.
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Ok(read) => {
                    self.read.fetch_add(read as u64, Ordering::Relaxed);
                    return Ok(read);
                }
                failed => return failed,
            }
        }
    }
}

impl Seek for Counted<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The members of a gzip file, one after another. Other data after them is ignored, as gzip does: some
/// tools pad with zeros.
pub(super) struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Members<R> {
    pub(super) fn new(packed: R) -> Self {
        Self(Some(GzDecoder::new(packed)))
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(mut packed) = self.0.take().map(GzDecoder::into_inner) else { break };
            if packed.fill_buf()?.first() == GZIP.first() {
                self.0 = Some(GzDecoder::new(packed));
            }
        }
        Ok(0)
    }
}

/// Sends the text of a trace in order, unpacked. Stops when the receiver is gone.
///
/// A path inside an archive, such as `ranks.zip/rank0.json`, names one trace in it; the path of the archive names
/// the only one. Invalid UTF-8 becomes U+FFFD: one bad name must not make the trace unreadable.
pub(super) fn unpack(path: &Path, read: &AtomicU64, chunks: &SyncSender<io::Result<String>>) {
    let (file, member) = packing::file_of(path);
    let mut names = Vec::new();
    let mut take = |name: &str, text: &mut dyn Read| {
        let is_wanted = member.as_deref().is_none_or(|member| member == name);
        if is_wanted {
            names.push(name.to_owned());
        }
        match names.len() {
            1 if is_wanted => send(text, chunks),
            _ => Ok(ControlFlow::Continue(())),
        }
    };
    let opened = File::open(&file).map(|file| Counted { file, read });
    let fault = match opened.and_then(|file| packing::each_trace(file, read, &mut take)) {
        Err(fault) => fault,
        Ok(()) if names.is_empty() => io::Error::other(Unfit::Without),
        Ok(()) if names.len() > 1 && member.is_none() => io::Error::other(Unfit::Several(names)),
        Ok(()) => return,
    };
    // Without a receiver, nobody waits for it.
    let _ = chunks.send(Err(fault));
}

/// Sends text. Breaks off when the receiver is gone.
fn send(text: &mut dyn Read, chunks: &SyncSender<io::Result<String>>) -> io::Result<ControlFlow<()>> {
    let mut cut = Vec::new();
    let mut is_first = true;
    loop {
        let mut chunk = Vec::with_capacity(CHUNK + cut.len());
        chunk.append(&mut cut);
        let whole = chunk.len() + CHUNK;
        let ended = (&mut *text).take(CHUNK as u64).read_to_end(&mut chunk);
        let is_last = chunk.len() < whole;
        if is_first && is_utf16(&chunk) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        is_first = false;
        if !is_last {
            cut = chunk.split_off(whole_characters(&chunk));
        }
        let text = String::from_utf8(chunk)
            .unwrap_or_else(|fault| String::from_utf8_lossy(fault.as_bytes()).into_owned());
        // Send the unpacked text before the error, so that the error can name its place in the text.
        if !text.is_empty() && chunks.send(Ok(text)).is_err() {
            return Ok(ControlFlow::Break(()));
        }
        ended?;
        if is_last {
            return Ok(ControlFlow::Continue(()));
        }
    }
}

/// The length of `bytes` without an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    let is_inside = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let inside = bytes.iter().rev().take(3).take_while(is_inside).count();
    let start = bytes.len() - inside;
    // A character that starts here goes into the next chunk, together with the bytes that follow.
    if bytes.get(start.wrapping_sub(1)).is_some_and(|byte| *byte >= 0b1100_0000) {
        start - 1
    } else {
        start
    }
}

#[cfg(test)]
mod tests {
    use super::whole_characters;

    #[test]
    fn characters_are_not_cut() {
        let text = "aé€😀b".as_bytes();
        let boundaries = [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11];
        for (length, expected) in boundaries.into_iter().enumerate() {
            let whole = whole_characters(&text[..length]);
            assert!(std::str::from_utf8(&text[..whole]).is_ok(), "{length}");
            assert!(whole <= expected, "{length}: {whole}");
        }
        // Bytes that are not text are passed on too, except the last few.
        assert!(whole_characters(&[0x80; 100]) >= 97);
    }
}
