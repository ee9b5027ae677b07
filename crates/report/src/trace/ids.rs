//! Identifiers, times and copies as an export has them.

use super::event::Event;
use super::lenient::IdValue;
use super::tables::OPEN;
use foldhash::HashMap;
use std::borrow::Cow;

/// The machine bits of a global id. nsys gives this value to the first machine.
const MACHINE: i64 = 1 << 48;

/// Bits of a process or thread id in a global id.
pub(super) const ID_BITS: u32 = 24;

/// Times at or beyond this, in ns, are invalid: it is 73 years from the clock's 0.
const FARTHEST: i64 = 1 << 61;

/// Start and end of an event; `None` if a time is missing or out of range.
pub(super) fn times(event: &Event<'_>) -> Option<(i64, i64)> {
    let start_ns = event.start.0.filter(|ns| ns.abs() < FARTHEST)?;
    let dur_ns = event.duration.0.filter(|ns| (0..FARTHEST).contains(ns))?;
    Some((start_ns, start_ns + dur_ns))
}

/// Start and end, [`OPEN`], of a range or call that had not ended when the profiler stopped. Kineto gives it a negative duration:
/// -1, or, from an end of 0, the start with its sign changed.
pub(super) fn unfinished(event: &Event<'_>) -> Option<(i64, i64)> {
    event.duration.0.filter(|ns| *ns < 0)?;
    event.start.0.filter(|ns| ns.abs() < FARTHEST).map(|start_ns| (start_ns, OPEN))
}

/// A process id as a global id of nsys, which is unique across machines.
pub(super) fn global_pid(process: i64) -> i64 {
    MACHINE | process << ID_BITS
}

/// Process and thread ids that fit into a global id.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Words and numbers that do not fit → the id made up for them.
    pub(super) made_up: HashMap<String, i64>,
    /// Made-up id → the word or number that it replaces.
    pub(super) originals: HashMap<i64, String>,
}

impl Ids {
    /// The id itself if it fits. Otherwise a made-up id: these count down from the largest that fits.
    pub(super) fn of(&mut self, id: &Option<IdValue<'_>>) -> i64 {
        let word: Cow<'_, str> = match id {
            Some(IdValue::Number(number)) if (0..1 << ID_BITS).contains(number) => return *number,
            Some(IdValue::Number(number)) => number.to_string().into(),
            Some(IdValue::Word(word)) => word.clone(),
            None => return 0,
        };
        if let Some(id) = self.made_up.get(&*word) {
            return *id;
        }
        // After 16 million made-up ids, all further ones are 1.
        let fresh = ((1 << ID_BITS) - 1 - self.made_up.len() as i64).max(1);
        self.made_up.insert(word.clone().into_owned(), fresh);
        self.originals.insert(fresh, word.into_owned());
        fresh
    }

    /// The word or number that a made-up id replaces.
    pub(super) fn original(&self, id: i64) -> Option<&str> {
        self.originals.get(&id).map(String::as_str)
    }
}

/// Direction and memory kinds of a copy, as nsys codes.
pub(super) struct Copy {
    pub(super) direction: i64,
    pub(super) from: Option<i64>,
    pub(super) to: Option<i64>,
}

impl Copy {
    /// Reads a name such as `Memcpy HtoD (Pageable -> Device)`, or the `kind` argument of AMD traces.
    pub(super) fn of(name: &str, kind: &str) -> Self {
        const DIRECTIONS: [&str; 10] =
            ["HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"];
        let words = || name.split([' ', '(', ')']).chain([kind]);
        // XLA writes MemcpyH2D.
        let is_short = |known: &str, word: &str| {
            word.strip_prefix("Memcpy")
                .is_some_and(|ends| ends.len() == 3 && ends.replace('2', "to") == known)
        };
        let place_of =
            |word| DIRECTIONS.iter().position(|known| *known == word || is_short(known, word));
        let places = words().filter_map(place_of);
        let direction = places.map(|place| place as i64 + 1).next().unwrap_or(0);
        let ends = between_parentheses(name).and_then(|between| between.split_once(" -> "));
        Self {
            direction,
            from: ends.and_then(|(from, _)| memory_kind(from)),
            to: ends.and_then(|(_, to)| memory_kind(to)),
        }
    }
}

pub(super) fn between_parentheses(name: &str) -> Option<&str> {
    name.split_once('(')?.1.strip_suffix(')')
}

/// The nsys code of a CUPTI memory kind, from Kineto's spelling.
pub(super) fn memory_kind(name: &str) -> Option<i64> {
    const KINDS: [&str; 7] =
        ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"];
    KINDS.iter().position(|kind| *kind == name).map(|place| place as i64)
}
