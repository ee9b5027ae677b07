//! Why a trace cannot be read, and where.

use super::Document;
use crate::trace::packing::{MAX_RATIO, Unfit};
use nsq_value::error::Error;
use std::io;

impl Document<'_> {
    pub(super) fn place(&self) -> u64 {
        self.offset + self.at as u64
    }

    pub(super) fn refuse(&self, reason: String, help: &str) -> Error {
        Error::Report { path: self.path.to_owned(), reason, help: help.to_owned() }
    }

    pub(super) fn malformed(&self, what: &str, help: &str) -> Error {
        self.refuse(format!("{what} at byte {}", self.place()), help)
    }

    /// Byte offset of a fault from `at`: serde_json gives its line and column from there.
    pub(super) fn distance(&self, fault: &serde_json::Error) -> usize {
        let lines = self.text[self.at..].split_inclusive('\n');
        let before: usize = lines.take(fault.line().saturating_sub(1)).map(str::len).sum();
        before + fault.column().saturating_sub(1)
    }

    /// Whether the fault is at the end of the received text, and more text could cure it.
    pub(super) fn is_at_end(&self, fault: &serde_json::Error) -> bool {
        fault.is_eof() || self.at + self.distance(fault) + 1 >= self.text.len()
    }

    pub(super) fn faulty(&self, fault: &serde_json::Error) -> Error {
        let message = reason(fault);
        let place = self.place() + self.distance(fault) as u64;
        self.refuse(
            format!("is not valid JSON at byte {place}: {message}"),
            "the file is damaged, or the program that wrote it has a bug: copy it or record it again",
        )
    }

    pub(super) fn truncated(&mut self) -> Error {
        self.is_cut = true;
        let end = self.offset + self.text.len() as u64;
        self.refuse(
            format!("is cut short: it ends at byte {end}, inside the part from byte {}", self.place()),
            "the profiler or a copy was interrupted: copy the trace again, or record it again",
        )
    }

    pub(super) fn unreadable(&mut self, fault: &io::Error) -> Error {
        let end = self.offset + self.text.len() as u64;
        self.is_cut = fault.kind() == io::ErrorKind::UnexpectedEof;
        if let Some(unfit) = fault.get_ref().and_then(|fault| fault.downcast_ref::<Unfit>()) {
            return self.refuse(unfit.to_string(), unfit.help());
        }
        match fault.kind() {
            io::ErrorKind::UnexpectedEof => self.refuse(
                format!("is cut short: its packed data ends after byte {end} of the unpacked text"),
                "the profiler or a copy was interrupted: copy the trace again, or record it again",
            ),
            io::ErrorKind::FileTooLarge => self.refuse(
                format!("unpacks to more than {MAX_RATIO} times its size: {end} bytes of text so far"),
                "the file may be an archive bomb; if it is a real trace, unpack it first",
            ),
            io::ErrorKind::Unsupported => self.refuse(
                "is UTF-16 text; JSON must be UTF-8".to_owned(),
                "convert it with `iconv -f UTF-16 -t UTF-8 TRACE > trace.json`",
            ),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => self.refuse(
                format!("is damaged: its packed data cannot be unpacked after byte {end} of the text"),
                "copy the trace again, and check the copy with `gzip -t`, `zstd -t` or `unzip -t`",
            ),
            _ => Error::io(self.path, io::Error::new(fault.kind(), fault.to_string())),
        }
    }
}

/// The reason of a fault, without its place.
pub(super) fn reason(fault: &serde_json::Error) -> String {
    let message = fault.to_string();
    message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message).to_owned()
}
