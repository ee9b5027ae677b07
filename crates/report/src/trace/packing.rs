//! What a trace is packed in: gzip, zstd, zip, tar, and these in each other.

use super::unpack::{GZIP, Members};
use flate2::bufread::MultiGzDecoder;
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipArchive};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The first bytes of a zip archive.
const ZIP: &[u8] = b"PK\x03\x04";
/// The first bytes of a zstd frame.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// Number of bytes that tell what data are.
const HEAD: u64 = 64 * 1024;
/// Maximum layers of packing, such as a `.json.gz` in a `.tar.zst`.
const LAYERS: u8 = 4;
/// Maximum bytes of text per byte of the file. Traces of profilers have about 20; deflate allows 1,000.
pub(super) const MAX_RATIO: u64 = 200;
/// Bytes of text from which the ratio is checked.
const RATIO_CHECKED_FROM: u64 = 256 << 20;
/// Bytes of a buffer for packed data.
const BUFFER: usize = 1 << 20;

/// Whether data begin like a zip, tar or zstd file. Gzip is not asked: it is what traces usually are.
pub(crate) fn is_archive(header: &[u8]) -> bool {
    header.starts_with(ZIP) || header.starts_with(ZSTD) || is_tar(header)
}

/// Whether data begin like a tar archive.
pub(crate) fn is_tar(header: &[u8]) -> bool {
    header.get(257..262) == Some(b"ustar")
}

/// Whether text begins like a trace, and not like other JSON.
pub(crate) fn is_trace_text(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    // Ascend and older PyTorch write a list of events.
    let is_list = text.trim_start().starts_with('[') && text.contains("\"ph\"");
    is_list
        || ["\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\""]
            .iter()
            .any(|key| text.contains(key))
}

/// The file that a path names, and the member in it: `ranks.zip/rank0.json` names one in `ranks.zip`.
pub(crate) fn file_of(path: &Path) -> (PathBuf, Option<String>) {
    let whole = (path.to_owned(), None);
    if path.exists() {
        return whole;
    }
    let file = path.ancestors().skip(1).find(|file| file.is_file());
    let member = file.and_then(|file| Some((file, path.strip_prefix(file).ok()?.to_str()?)));
    member.map_or(whole, |(file, member)| (file.to_owned(), Some(member.to_owned())))
}

/// The name of a member, below its archive: without a root, `.` and `..`, so that it leads to no other file.
fn name_inside(stored: &[u8]) -> String {
    let stored = String::from_utf8_lossy(stored);
    let inside = Path::new(&*stored).components().filter_map(|part| match part {
        Component::Normal(part) => part.to_str(),
        _ => None,
    });
    inside.collect::<Vec<_>>().join("/")
}

/// The start of a file's text, unpacked from the first bytes of the file if these are packed.
pub(crate) fn start_of(head: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    // The packed data are cut off, which is an error after the start.
    let _ = match () {
        () if head.starts_with(GZIP) => MultiGzDecoder::new(head).take(HEAD).read_to_end(&mut text),
        () if head.starts_with(ZSTD) => Frames::Before(head).take(HEAD).read_to_end(&mut text),
        () => head.take(HEAD).read_to_end(&mut text),
    };
    text
}

/// The names of the traces in an archive, `""` for one that is packed without a name. Empty if the file is no
/// archive, or has no trace.
///
/// # Errors
///
/// The file cannot be read, or is damaged.
pub(crate) fn traces_in(file: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    let (read, mut opened) = (AtomicU64::new(0), std::fs::File::open(file)?);
    let mut head = Vec::new();
    opened.by_ref().take(HEAD).read_to_end(&mut head)?;
    if !(is_archive(&head) || is_tar(&start_of(&head))) {
        return Ok(names);
    }
    opened.seek(SeekFrom::Start(0))?;
    each_trace(opened, &read, &mut |name, text| {
        let mut head = Vec::new();
        text.take(HEAD).read_to_end(&mut head)?;
        if is_trace_text(&head) {
            names.push(name.to_owned());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(names)
}

/// Why an archive does not have the one trace that was asked for.
#[derive(Debug)]
pub(super) enum Unfit {
    /// It has several.
    Several(Vec<String>),
    /// It has none.
    Without,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Several(names) => {
                write!(f, "is an archive of {} traces: {}", names.len(), names.join(", "))
            }
            Self::Without => f.write_str("is an archive without a trace"),
        }
    }
}

impl std::error::Error for Unfit {}

impl Unfit {
    /// What to do.
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Several(_) => "give the path of one in it, such as `ranks.zip/rank0.json`",
            Self::Without => {
                "unpack it, and give the report or the folder: archives are read for traces"
            }
        }
    }
}

/// What is done with each trace: its name in the archive, `""` outside of one, and its text.
type Take<'t> = dyn FnMut(&str, &mut dyn Read) -> io::Result<ControlFlow<()>> + 't;

/// Calls `take` for each trace in a file: for its unpacked text, or for each trace in the archive that it is.
///
/// `read` is the number of bytes of the file that were read so far, to which the length of the text is compared.
pub(super) fn each_trace(
    file: impl Read + Seek,
    read: &AtomicU64,
    take: &mut Take<'_>,
) -> io::Result<()> {
    let mut walk = Walk { read, take };
    let mut file = BufReader::with_capacity(BUFFER, file);
    if file.fill_buf()?.starts_with(ZIP) {
        return walk.zip(file).map(|_| ());
    }
    walk.packed(&mut file, None, LAYERS).map(|_| ())
}

struct Walk<'w, 't> {
    read: &'w AtomicU64,
    take: &'w mut Take<'t>,
}

impl<'w> Walk<'w, '_> {
    /// Unpacks data, which are the member `name` of an archive, or the file.
    fn packed(
        &mut self,
        data: &mut dyn Read,
        name: Option<&str>,
        layers: u8,
    ) -> io::Result<ControlFlow<()>> {
        let mut head = Vec::new();
        let failure = data.take(HEAD).read_to_end(&mut head).err();
        // Text before a fault is read, so that the fault has a place.
        let rest: &mut dyn Read = if failure.is_some() { &mut Failing(failure) } else { data };
        let mut whole = head.as_slice().chain(rest);
        let buffered = |whole| BufReader::with_capacity(BUFFER, whole);
        if layers > 0 && head.starts_with(GZIP) {
            let text = Members::new(buffered(&mut whole));
            return self.packed(&mut self.bounded(text), name, layers - 1);
        }
        if layers > 0 && head.starts_with(ZSTD) {
            let text = Frames::Before(buffered(&mut whole));
            return self.packed(&mut self.bounded(text), name, layers - 1);
        }
        if layers > 0 && is_tar(&head) {
            return self.tar(&mut whole, layers - 1);
        }
        if name.is_some() && !is_trace_text(&head) {
            return Ok(ControlFlow::Continue(()));
        }
        (self.take)(name.unwrap_or_default(), &mut whole)
    }

    fn tar(&mut self, data: &mut dyn Read, layers: u8) -> io::Result<ControlFlow<()>> {
        let damaged = |fault: io::Error| match fault.kind() {
            io::ErrorKind::Other => io::Error::new(io::ErrorKind::InvalidData, fault),
            _ => fault,
        };
        let mut archive = tar::Archive::new(data);
        for entry in archive.entries().map_err(damaged)? {
            let mut entry = entry.map_err(damaged)?;
            if entry.header().entry_type().is_file() {
                let name = name_inside(&entry.path_bytes());
                if self.packed(&mut entry, Some(&name), layers)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn zip(&mut self, file: impl Read + Seek) -> io::Result<ControlFlow<()>> {
        let damaged = |fault| io::Error::new(io::ErrorKind::InvalidData, fault);
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let archive = ZipArchive::from_seekable(file, &mut buffer).map_err(damaged)?;
        let mut entries = archive.entries(&mut buffer);
        while let Some(entry) = entries.next_entry().map_err(damaged)? {
            if entry.is_dir() || entry.flags().is_encrypted() {
                continue;
            }
            let name = name_inside(entry.file_path().as_ref());
            let member = archive.get_entry(entry.wayfinder()).map_err(damaged)?;
            let packed = BufReader::with_capacity(BUFFER, member.reader());
            let text: Box<dyn Read> = match entry.compression_method() {
                CompressionMethod::STORE => Box::new(packed),
                CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(packed)),
                CompressionMethod::ZSTD => Box::new(Frames::Before(packed)),
                _ => continue,
            };
            let mut text = self.bounded(member.verifying_reader(text));
            if self.packed(&mut text, Some(&name), LAYERS - 1)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn bounded<R: Read>(&self, text: R) -> Bounded<'w, R> {
        Bounded { text, unpacked: 0, read: self.read }
    }
}

/// Unpacked data that may not be too long for the file that they come from.
struct Bounded<'r, R> {
    text: R,
    unpacked: u64,
    read: &'r AtomicU64,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        self.unpacked += read as u64;
        if self.unpacked > RATIO_CHECKED_FROM
            && self.unpacked / MAX_RATIO > self.read.load(Ordering::Relaxed)
        {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(read)
    }
}

/// Data that end with a fault.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The frames of zstd data, one after another.
enum Frames<R: BufRead> {
    Before(R),
    Inside(Box<StreamingDecoder<R, FrameDecoder>>),
    Ended,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::Ended) {
                Self::Ended => return Ok(0),
                Self::Inside(mut frame) => {
                    let read = frame.read(buffer).map_err(|fault| unpacking(&fault))?;
                    if read > 0 || buffer.is_empty() {
                        *self = Self::Inside(frame);
                        return Ok(read);
                    }
                    *self = Self::Before(frame.into_inner());
                }
                Self::Before(mut packed) => {
                    if packed.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    match StreamingDecoder::new(packed) {
                        Ok(frame) => *self = Self::Inside(Box::new(frame)),
                        // Frames without data, such as an index at the end.
                        Err(FrameDecoderError::ReadFrameHeaderError(
                            ReadFrameHeaderError::SkipFrame { .. },
                        )) => return Ok(0),
                        Err(fault) => return Err(unpacking(&fault)),
                    }
                }
            }
        }
    }
}

/// A fault of zstd data: cut short, or damaged.
fn unpacking(fault: &(dyn std::error::Error + 'static)) -> io::Error {
    let mut cause = Some(fault);
    while let Some(error) = cause {
        let is_end = |e: &io::Error| e.kind() == io::ErrorKind::UnexpectedEof;
        if error.downcast_ref::<io::Error>().is_some_and(is_end) {
            return io::ErrorKind::UnexpectedEof.into();
        }
        cause = error.source();
    }
    io::Error::new(io::ErrorKind::InvalidData, fault.to_string())
}
