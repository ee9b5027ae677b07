//! Ids of an export: decoding global thread ids, and numbering distinct values.

use foldhash::HashMap;
use std::hash::Hash;

/// Mask for the process part of a global thread id.
pub(super) const PROCESS: i64 = -16_777_216;
/// Stands for an id that the export does not give, such as that of a thread or a kernel's name.
pub(super) const NO_ID: i64 = i64::MIN;

/// The process id in a global process or thread id; `None` for [`NO_ID`].
pub(super) fn pid(global: i64) -> Option<i64> {
    (global != NO_ID).then_some(global >> 24 & 0xFF_FFFF)
}

/// The thread id in a global thread id; `None` for [`NO_ID`].
pub(super) fn tid(global: i64) -> Option<i64> {
    (global != NO_ID).then_some(global & 0xFF_FFFF)
}

/// Distinct values, numbered in order of appearance.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    places: HashMap<T, u32>,
    pub(super) values: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { places: HashMap::default(), values: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> Numbered<T> {
    /// The number of a value that has one.
    pub(super) fn known(&self, value: T) -> Option<u32> {
        self.places.get(&value).copied()
    }

    pub(super) fn place(&mut self, value: T) -> u32 {
        // Not `entry()`: it reserves room for one more value on every call.
        if let Some(&place) = self.places.get(&value) {
            return place;
        }
        let fresh = self.values.len() as u32;
        self.places.insert(value, fresh);
        self.values.push(value);
        fresh
    }
}
