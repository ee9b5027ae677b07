//! The text of a trace → its events, one at a time, and the facts next to them.

mod fault;
mod foreign;
mod skip;

use super::event::Event;
use super::facts::{Device, Facts};
use super::record::Recorder;
use super::repair::{repair, repair_value};
use nsq_value::error::Result;
use serde::de::{DeserializeOwned, DeserializeSeed, IgnoredAny};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Maximum bytes of one event. Events that profilers write are far smaller.
const LONGEST: usize = 64 << 20;
/// Maximum bytes of one fact. Facts are held as a tree of values, which takes many times the text.
const LONGEST_FACT: usize = 1 << 20;

/// How long to wait for more text before calling `go_on` again.
const PATIENCE: Duration = Duration::from_millis(100);

/// Maximum bytes to search for the end of an event that is not valid JSON.
const REPAIRABLE: usize = 4 << 20;

/// A trace that is being read.
pub(super) struct Document<'d> {
    path: &'d Path,
    chunks: Receiver<io::Result<String>>,
    go_on: &'d dyn Fn() -> Result<()>,
    /// Received text that has not been dropped yet.
    text: String,
    /// Bytes of `text` that have been read.
    at: usize,
    /// Maximum bytes of the current value.
    longest: usize,
    /// Offset of `text` in the whole trace.
    offset: u64,
    /// Lines before `text`.
    lines: u64,
    /// Values outside the events that had to be repaired.
    repaired: u64,
    skipped: skip::Skipped,
    /// The text ends before the trace does.
    is_cut: bool,
    /// The first members of the outermost object.
    members: Vec<String>,
}

impl<'d> Document<'d> {
    pub(super) fn new(
        path: &'d Path,
        chunks: Receiver<io::Result<String>>,
        go_on: &'d dyn Fn() -> Result<()>,
    ) -> Self {
        Self {
            path,
            chunks,
            go_on,
            text: String::new(),
            at: 0,
            longest: LONGEST,
            offset: 0,
            lines: 0,
            repaired: 0,
            skipped: skip::Skipped::default(),
            is_cut: false,
            members: Vec::new(),
        }
    }

    /// Reads the trace to its end and sends every event to `recorder`.
    pub(super) fn read(mut self, recorder: &mut Recorder) -> Result<Facts> {
        let mut facts = Facts::default();
        self.skip_byte_order_mark()?;
        let ended = match self.next()? {
            Some(b'[') => self.events(recorder).map(|()| true),
            Some(b'{') => self.object(recorder, &mut facts),
            Some(_) => return Err(self.not_json()),
            None => {
                return Err(self.refuse(
                    "contains only whitespace".to_owned(),
                    "the profiler was stopped before it wrote anything: record the trace again",
                ));
            }
        };
        let (has_events, cut_short) = match ended {
            Ok(has_events) => (has_events, None),
            // What came before the end of a trace that is cut short is true.
            Err(_) if self.is_cut && recorder.imported.rows > 0 => (true, Some(self.line())),
            Err(error) => return Err(error),
        };
        if cut_short.is_none() && self.next()?.is_some() {
            return Err(self.more_text(has_events));
        }
        if let Some(error) = self.skipped.refusal(recorder.imported.events) {
            return Err(error);
        }
        match self.foreign(has_events, recorder) {
            Some(foreign) => Err(foreign),
            None => {
                let (skipped, first_skipped) = self.skipped.told();
                Ok(Facts { repaired: self.repaired, skipped, first_skipped, cut_short, ..facts })
            }
        }
    }

    /// Reads the members of the outermost object. Returns whether it has `traceEvents`.
    fn object(&mut self, recorder: &mut Recorder, facts: &mut Facts) -> Result<bool> {
        self.at += 1;
        let mut has_events = false;
        if self.next_or_truncated()? == b'}' {
            self.at += 1;
            return Ok(false);
        }
        loop {
            if self.next_or_truncated()? != b'"' {
                return Err(self.malformed("is not valid JSON", "expected a key in quotes"));
            }
            let key: String = self.value()?;
            if self.next_or_truncated()? != b':' {
                return Err(self.malformed("is not valid JSON", "expected a colon after the key"));
            }
            self.at += 1;
            if self.members.len() < foreign::MEMBERS {
                self.members.push(key.clone());
            }
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
                    let devices = self.fact()?;
                    facts.devices = devices.as_array().into_iter().flatten().map(Device::from).collect();
                }
                "distributedInfo" => {
                    let info = self.fact()?;
                    facts.rank = info["rank"].as_i64();
                    facts.world_size = info["world_size"].as_i64();
                    facts.backend = info["backend"].as_str().map(str::to_owned);
                }
                setting if Facts::is_setting(setting) => {
                    let value = self.fact()?;
                    facts.set(&key, &value);
                }
                // Other members may hold the environment or the command line: those are private.
                _ => drop(self.value::<IgnoredAny>()?),
            }
            match self.next_or_truncated()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(has_events);
                }
                _ => {
                    return Err(
                        self.malformed("is not valid JSON", "expected a comma or the end of the object")
                    );
                }
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
            let first = self.next_or_truncated()?;
            if first != b'{' {
                return Err(self.not_an_event(first, recorder));
            }
            self.event(recorder)?;
            match self.next_or_truncated()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => {
                    return Err(
                        self.malformed("is not valid JSON", "expected a comma or the end of the events")
                    );
                }
            }
            // Some writers leave a comma after the last event.
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
            if let Some((repaired, used)) = repair(&self.text.as_bytes()[self.at..]) {
                let mut event = Event::default();
                if event.deserialize(&mut serde_json::Deserializer::from_str(&repaired)).is_ok() {
                    recorder.take_repaired(&event)?;
                    self.at += used;
                    return Ok(());
                }
            }
            if self.skip(&fault, recorder.imported.events)? {
                return Ok(());
            }
            // More of the event may follow. If not, report the fault.
            let faulty = self.faulty(&fault);
            if self.text.len() - self.at > REPAIRABLE || !self.grow(0)? {
                return Err(faulty);
            }
        }
    }

    /// Reads one value and waits for as much text as it needs. Invalid numbers in it become null.
    fn value<T: DeserializeOwned>(&mut self) -> Result<T> {
        loop {
            let mut values = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter::<T>();
            match values.next() {
                // A number may continue in the next chunk.
                Some(Ok(value)) if self.at + values.byte_offset() < self.text.len() => {
                    self.at += values.byte_offset();
                    return Ok(value);
                }
                Some(Err(fault)) if !self.is_at_end(&fault) => {
                    let faulty = self.faulty(&fault);
                    let Some((repaired, used)) = repair_value(&self.text.as_bytes()[self.at..]) else {
                        // More of the value may follow.
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

    /// Reads one fact of any JSON type.
    fn fact(&mut self) -> Result<Value> {
        self.longest = LONGEST_FACT;
        let value = self.value();
        self.longest = LONGEST;
        value
    }

    /// The next byte that is not whitespace; `None` at the end.
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

    /// The next byte that is not whitespace. The end of the trace is an error here.
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

    /// Receives more of the current value. The text doubles, so that a long value is parsed few times.
    fn must_grow(&mut self) -> Result<()> {
        let unread = self.text.len() - self.at;
        if unread >= self.longest {
            let help = "profilers do not write values of this length: check that this file is a trace";
            let what = format!("has a value of more than {} MiB", self.longest >> 20);
            return Err(self.malformed(&what, help));
        }
        let least = unread.min(self.longest - unread);
        if self.grow(least)? { Ok(()) } else { Err(self.truncated()) }
    }

    /// Drops the text that was read, then receives at least one chunk and `least` bytes.
    ///
    /// Returns false at the end of the trace.
    fn grow(&mut self, least: usize) -> Result<bool> {
        (self.go_on)()?;
        self.lines += newlines(&self.text[..self.at]);
        self.text.drain(..self.at);
        self.offset += self.at as u64;
        self.at = 0;
        let wanted = self.text.len() + least;
        let mut has_grown = false;
        while !has_grown || self.text.len() < wanted {
            let chunk = loop {
                // The trace may be a pipe without a writer.
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
}

/// The ends of lines in a text.
fn newlines(text: &str) -> u64 {
    text.bytes().map(|byte| u64::from(byte == b'\n')).sum()
}
