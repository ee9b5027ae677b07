//! The text of a trace → its events, one at a time, and the facts around them.

use super::event::Event;
use super::repair::{repair, repair_value};
use super::record::Recorder;
use crate::error::{Error, Result};
use serde::de::{DeserializeOwned, DeserializeSeed, IgnoredAny};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// What stands beside the events.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// Nanoseconds since 1970 (UTC) at the trace's time 0, where the trace says it.
    pub(super) base_ns: Option<i64>,
    /// Layout of the trace, as it numbers it.
    pub(super) schema_version: Option<String>,
    pub(super) devices: Vec<Device>,
    pub(super) rank: Option<i64>,
    pub(super) world_size: Option<i64>,
    pub(super) backend: Option<String>,
    /// Values beside the events that are no JSON: numbers that are none were left out of them.
    pub(super) repaired: u64,
}

/// A GPU that the trace describes.
#[derive(Debug, Clone, Default)]
pub(super) struct Device {
    pub(super) id: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) total_global_mem: Option<i64>,
    pub(super) compute_major: Option<i64>,
    pub(super) compute_minor: Option<i64>,
    pub(super) num_sms: Option<i64>,
    pub(super) warp_size: Option<i64>,
    pub(super) max_threads_per_block: Option<i64>,
    pub(super) regs_per_block: Option<i64>,
    pub(super) shared_mem_per_block: Option<i64>,
    pub(super) shared_mem_per_block_optin: Option<i64>,
    pub(super) shared_mem_per_multiprocessor: Option<i64>,
    pub(super) regs_per_multiprocessor: Option<i64>,
}

impl From<&Value> for Device {
    /// What is no whole number of 64 bits is left out, and nothing else.
    fn from(said: &Value) -> Self {
        let int = |key: &str| said[key].as_i64();
        Self {
            id: int("id"),
            name: said["name"].as_str().map(str::to_owned),
            total_global_mem: int("totalGlobalMem"),
            compute_major: int("computeMajor"),
            compute_minor: int("computeMinor"),
            num_sms: int("numSms"),
            warp_size: int("warpSize"),
            max_threads_per_block: int("maxThreadsPerBlock"),
            regs_per_block: int("regsPerBlock"),
            shared_mem_per_block: int("sharedMemPerBlock"),
            shared_mem_per_block_optin: int("sharedMemPerBlockOptin"),
            shared_mem_per_multiprocessor: int("sharedMemPerMultiprocessor"),
            regs_per_multiprocessor: int("regsPerMultiprocessor"),
        }
    }
}

/// Bytes that one event may take: none that a profiler wrote comes near.
const LONGEST: usize = 64 << 20;
/// Bytes that one fact may take, which is held as a tree of values: many times its text.
const LONGEST_FACT: usize = 1 << 20;

/// How long to wait for more before asking whether to go on.
const PATIENCE: Duration = Duration::from_millis(100);

/// Bytes in which the end of an event that is no JSON is looked for.
const REPAIRABLE: usize = 4 << 20;

/// A trace while it is read.
pub(super) struct Document<'d> {
    path: &'d Path,
    chunks: Receiver<io::Result<String>>,
    go_on: &'d dyn Fn() -> Result<()>,
    /// Text that was received and not yet let go of.
    text: String,
    /// What of it has been read.
    at: usize,
    /// Bytes that what is being read may take.
    longest: usize,
    /// Where `text` begins in the whole.
    offset: u64,
    /// Values beside the events that had to be repaired.
    repaired: u64,
}

impl<'d> Document<'d> {
    pub(super) fn new(
        path: &'d Path,
        chunks: Receiver<io::Result<String>>,
        go_on: &'d dyn Fn() -> Result<()>,
    ) -> Self {
        Self { path, chunks, go_on, text: String::new(), at: 0, longest: LONGEST, offset: 0, repaired: 0 }
    }

    /// Reads it to its end; every event goes to `recorder`.
    pub(super) fn read(mut self, recorder: &mut Recorder) -> Result<Facts> {
        let mut facts = Facts::default();
        self.skip_byte_order_mark()?;
        let mut has_events = true;
        match self.next()? {
            Some(b'[') => self.events(recorder)?,
            Some(b'{') => has_events = self.object(recorder, &mut facts)?,
            Some(_) => return Err(self.malformed("is no JSON", "an object or an array is expected")),
            None => {
                return Err(self.refuse(
                    "holds nothing but blanks".to_owned(),
                    "the profiler was stopped before it wrote anything: record again",
                ));
            }
        }
        if self.next()?.is_some() {
            return Err(self.malformed("goes on behind its end", "one trace is one JSON value"));
        }
        let reason = match has_events {
            false => "is JSON, but no trace: it has no \"traceEvents\"",
            true if recorder.saw_no_events() => {
                "is JSON, but no trace: none of its objects has a \"ph\""
            }
            true => return Ok(Facts { repaired: self.repaired, ..facts }),
        };
        let help = "give what torch.profiler's export_chrome_trace() wrote, or an nsys export";
        Err(self.refuse(reason.to_owned(), help))
    }

    /// The members of the outermost object; whether events were among them.
    fn object(&mut self, recorder: &mut Recorder, facts: &mut Facts) -> Result<bool> {
        self.at += 1;
        let mut has_events = false;
        if self.next_or_truncated()? == b'}' {
            self.at += 1;
            return Ok(false);
        }
        loop {
            if self.next_or_truncated()? != b'"' {
                return Err(self.malformed("is no JSON", "a key in quotes is expected"));
            }
            let key: String = self.value()?;
            if self.next_or_truncated()? != b':' {
                return Err(self.malformed("is no JSON", "a colon is expected behind a key"));
            }
            self.at += 1;
            let first = self.next_or_truncated()?;
            match key.as_str() {
                "traceEvents" if first == b'[' => {
                    has_events = true;
                    self.events(recorder)?;
                }
                "baseTimeNanoseconds" => facts.base_ns = self.fact()?.as_i64(),
                "schemaVersion" => {
                    facts.schema_version = match self.fact()? {
                        Value::Null => None,
                        Value::String(version) => Some(version),
                        version => Some(version.to_string()),
                    };
                }
                "deviceProperties" => {
                    let said = self.fact()?;
                    facts.devices = said.as_array().into_iter().flatten().map(Device::from).collect();
                }
                "distributedInfo" => {
                    let said = self.fact()?;
                    facts.rank = said["rank"].as_i64();
                    facts.world_size = said["world_size"].as_i64();
                    facts.backend = said["backend"].as_str().map(str::to_owned);
                }
                // Among the rest are the environment and the command line: nobody's business.
                _ => drop(self.value::<IgnoredAny>()?),
            }
            match self.next_or_truncated()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(has_events);
                }
                _ => return Err(self.malformed("is no JSON", "a comma or the object's end is expected")),
            }
        }
    }

    fn events(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.at += 1;
        if self.next_or_truncated()? == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.next_or_truncated()? != b'{' {
                return Err(self.malformed("holds an event that is no object", "`{` is expected"));
            }
            self.event(recorder)?;
            match self.next_or_truncated()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.malformed("is no JSON", "a comma or the events' end is expected")),
            }
            // A comma behind the last event: some writers leave one.
            if self.next_or_truncated()? == b']' {
                self.at += 1;
                return Ok(());
            }
        }
    }

    fn event(&mut self, recorder: &mut Recorder) -> Result<()> {
        loop {
            let mut text = serde_json::Deserializer::from_str(&self.text[self.at..]);
            let mut event = Event::default();
            let Err(fault) = event.deserialize(&mut text) else {
                let used = text.into_iter::<IgnoredAny>().byte_offset();
                recorder.take(&event)?;
                self.at += used;
                return Ok(());
            };
            if self.is_at_end(&fault) {
                self.must_grow()?;
                continue;
            }
            let Some((repaired, used)) = repair(&self.text.as_bytes()[self.at..]) else {
                // The event may go on; if not, the fault is what is wrong with it.
                let faulty = self.faulty(&fault);
                if self.text.len() - self.at > REPAIRABLE || !self.grow(0)? {
                    return Err(faulty);
                }
                continue;
            };
            let mut event = Event::default();
            if event.deserialize(&mut serde_json::Deserializer::from_str(&repaired)).is_err() {
                return Err(self.faulty(&fault));
            }
            recorder.take_repaired(&event)?;
            self.at += used;
            return Ok(());
        }
    }

    /// A value, whatever it takes; numbers in it that are none are null.
    fn value<T: DeserializeOwned>(&mut self) -> Result<T> {
        loop {
            let mut values = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter::<T>();
            match values.next() {
                // A number could go on in the next chunk.
                Some(Ok(value)) if self.at + values.byte_offset() < self.text.len() => {
                    self.at += values.byte_offset();
                    return Ok(value);
                }
                Some(Err(fault)) if !self.is_at_end(&fault) => {
                    let faulty = self.faulty(&fault);
                    let Some((repaired, used)) = repair_value(&self.text.as_bytes()[self.at..]) else {
                        // It may go on, as an event may.
                        if self.text.len() - self.at > REPAIRABLE.min(self.longest) || !self.grow(0)? {
                            return Err(faulty);
                        }
                        continue;
                    };
                    let value = serde_json::from_str(&repaired).map_err(|_| faulty)?;
                    self.repaired += 1;
                    self.at += used;
                    return Ok(value);
                }
                _ => self.must_grow()?,
            }
        }
    }

    /// A fact, of whatever shape.
    fn fact(&mut self) -> Result<Value> {
        self.longest = LONGEST_FACT;
        let value = self.value();
        self.longest = LONGEST;
        value
    }

    /// The next byte that is no blank; `None` at the end.
    fn next(&mut self) -> Result<Option<u8>> {
        loop {
            while let Some(byte) = self.text.as_bytes().get(self.at) {
                if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                    return Ok(Some(*byte));
                }
                self.at += 1;
            }
            if !self.grow(0)? {
                return Ok(None);
            }
        }
    }

    /// The next byte that is no blank, where the trace cannot be over yet.
    fn next_or_truncated(&mut self) -> Result<u8> {
        let next = self.next()?;
        next.ok_or_else(|| self.truncated())
    }

    fn skip_byte_order_mark(&mut self) -> Result<()> {
        self.grow(0)?;
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        Ok(())
    }

    /// Waits for more of what is being read; it doubles, so that nothing long is read over and over.
    fn must_grow(&mut self) -> Result<()> {
        let unread = self.text.len() - self.at;
        if unread >= self.longest {
            let help = "a value of this length is nothing that a profiler writes: is it a trace?";
            let what = format!("holds a value of more than {} MiB", self.longest >> 20);
            return Err(self.malformed(&what, help));
        }
        let least = unread.min(self.longest - unread);
        if self.grow(least)? { Ok(()) } else { Err(self.truncated()) }
    }

    /// Lets go of what was read, and receives at least a chunk, or `least` bytes; false at the end.
    fn grow(&mut self, least: usize) -> Result<bool> {
        (self.go_on)()?;
        self.text.drain(..self.at);
        self.offset += self.at as u64;
        self.at = 0;
        let wanted = self.text.len() + least;
        let mut has_grown = false;
        while !has_grown || self.text.len() < wanted {
            let chunk = loop {
                // What is read may be a pipe that nobody writes to.
                match self.chunks.recv_timeout(PATIENCE) {
                    Err(RecvTimeoutError::Timeout) => (self.go_on)()?,
                    chunk => break chunk,
                }
            };
            match chunk {
                Ok(Ok(chunk)) if self.text.is_empty() => self.text = chunk,
                Ok(Ok(chunk)) => self.text.push_str(&chunk),
                Ok(Err(fault)) => return Err(self.unreadable(&fault)),
                Err(_) => break,
            }
            has_grown = true;
        }
        Ok(has_grown)
    }

    fn place(&self) -> u64 {
        self.offset + self.at as u64
    }

    fn refuse(&self, reason: String, help: &str) -> Error {
        Error::Report { path: self.path.to_owned(), reason, help: help.to_owned() }
    }

    fn malformed(&self, what: &str, help: &str) -> Error {
        self.refuse(format!("{what}, at byte {}", self.place()), help)
    }

    /// How far into what is being read a fault lies: serde_json counts lines and columns of that.
    fn distance(&self, fault: &serde_json::Error) -> usize {
        let lines = self.text[self.at..].split_inclusive('\n');
        let before: usize = lines.take(fault.line().saturating_sub(1)).map(str::len).sum();
        before + fault.column().saturating_sub(1)
    }

    /// The fault may be that the rest has not been received: half a number is none.
    fn is_at_end(&self, fault: &serde_json::Error) -> bool {
        fault.is_eof() || self.at + self.distance(fault) + 1 >= self.text.len()
    }

    fn faulty(&self, fault: &serde_json::Error) -> Error {
        let said = fault.to_string();
        let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
        let place = self.place() + self.distance(fault) as u64;
        self.refuse(
            format!("is no JSON at byte {place}: {said}"),
            "the file was damaged, or written by a program with a fault: record or copy it again",
        )
    }

    fn truncated(&self) -> Error {
        let end = self.offset + self.text.len() as u64;
        self.refuse(
            format!("is cut short: it ends at byte {end}, within what begins at byte {}", self.place()),
            "the profiler or a copy was interrupted: copy the trace again, or record it again",
        )
    }

    fn unreadable(&self, fault: &io::Error) -> Error {
        let end = self.offset + self.text.len() as u64;
        match fault.kind() {
            io::ErrorKind::UnexpectedEof => self.refuse(
                format!("is cut short: its gzip data ends behind byte {end} of the text"),
                "the profiler or a copy was interrupted: copy the trace again, or record it again",
            ),
            io::ErrorKind::FileTooLarge => self.refuse(
                format!("unpacks to far more than a trace does: {end} bytes of text, and on it goes"),
                "it may be made to fill memory and disks; if it is a trace, unpack it with gunzip first",
            ),
            io::ErrorKind::Unsupported => self.refuse(
                "is text in UTF-16, and JSON is UTF-8".to_owned(),
                "convert it, as by `iconv -f UTF-16 -t UTF-8 TRACE > trace.json`",
            ),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => self.refuse(
                format!("is damaged: its gzip data cannot be unpacked behind byte {end} of the text"),
                "copy the trace again; `gzip -t` tells whether a copy is whole",
            ),
            _ => Error::io(self.path, io::Error::new(fault.kind(), fault.to_string())),
        }
    }
}
