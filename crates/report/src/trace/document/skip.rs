//! Events that are no valid JSON and cannot be repaired, such as names with unescaped quotes, are left out and counted.

use super::fault::reason;
use super::{Document, newlines};
use crate::trace::event::Event;
use nsq_value::error::{Error, Result};
use serde::de::DeserializeSeed;

/// Maximum events that may be left out of any trace.
const FEW: u64 = 10;
/// Of more, one in so many.
const SHARE: u64 = 100;

/// The events that were left out.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    count: u64,
    /// Line of the first, and what is wrong with it.
    first: Option<String>,
    fault: Option<Error>,
}

impl Skipped {
    /// Why a trace with that many good events is refused: too many were left out, or all.
    pub(super) fn refusal(&mut self, events: u64) -> Option<Error> {
        let is_too_many =
            self.count > 0 && events == 0 || self.count > FEW && self.count * SHARE > events;
        if is_too_many { self.fault.take() } else { None }
    }

    /// How many events were left out, and the place and reason of the first.
    pub(super) fn told(&mut self) -> (u64, Option<String>) {
        (self.count, self.first.take())
    }
}

impl Document<'_> {
    /// The line of the next byte, from 1.
    pub(super) fn line(&self) -> u64 {
        1 + self.lines + newlines(&self.text[..self.at])
    }

    /// Leaves out the event at the next byte, if the received text shows where it ends.
    pub(super) fn skip(&mut self, fault: &serde_json::Error, events: u64) -> Result<bool> {
        let Some(end) = self.end_of_event() else { return Ok(false) };
        let skipped = &mut self.skipped;
        skipped.count += 1;
        if skipped.first.is_none() {
            let line = self.line() + fault.line().saturating_sub(1) as u64;
            let faulty = self.faulty(fault);
            self.skipped.first = Some(format!("line {line}: {}", reason(fault)));
            self.skipped.fault = Some(faulty);
        }
        // A file in which nothing is right is not read to its end.
        let is_hopeless = self.skipped.count > FEW * SHARE && self.skipped.count > events;
        if is_hopeless && let Some(fault) = self.skipped.fault.take() {
            return Err(fault);
        }
        self.at = end;
        Ok(true)
    }

    /// Where the comma or bracket after the event is: an event follows it, or the end of all events.
    fn end_of_event(&self) -> Option<usize> {
        let mut from = self.at + 1;
        loop {
            let brace = from + self.text.get(from..)?.find('}')?;
            from = brace + 1;
            let (at, byte) = self.mark(from)?;
            let is_end = match byte {
                b',' => {
                    self.mark(at + 1).is_some_and(|(next, byte)| byte == b'{' && self.is_event(next))
                }
                b']' => self.is_end(at + 1),
                _ => false,
            };
            if is_end {
                return Some(at);
            }
        }
    }

    /// The next byte from `from` that is not whitespace.
    fn mark(&self, from: usize) -> Option<(usize, u8)> {
        let bytes = self.text.as_bytes().get(from..)?;
        let place = bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
        Some((from + place, bytes[place]))
    }

    /// Whether an event begins here: a good one, or a bad one as Kineto writes it.
    fn is_event(&self, at: usize) -> bool {
        let text = &self.text[at..];
        if text[1..].trim_start().starts_with("\"ph\"") {
            return true;
        }
        let mut event = Event::default();
        event.deserialize(&mut serde_json::Deserializer::from_str(text)).is_ok()
            && !event.phase.0.is_empty()
    }

    /// Whether the events end before this place: the trace ends, or another member follows.
    fn is_end(&self, from: usize) -> bool {
        let Some((at, byte)) = self.mark(from) else { return true };
        match byte {
            b'}' => self.mark(at + 1).is_none(),
            b',' => {
                let mut member =
                    serde_json::Deserializer::from_str(&self.text[at + 1..]).into_iter::<&str>();
                let is_text = matches!(member.next(), Some(Ok(_)));
                let after = at + 1 + member.byte_offset();
                is_text && self.mark(after).is_some_and(|(_, byte)| byte == b':')
            }
            _ => false,
        }
    }
}
