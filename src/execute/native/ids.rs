//! Numbers of an export: what they hold, and places in lists for them.

use foldhash::HashMap;
use std::hash::Hash;

/// The bits of a global thread id that number its process.
pub(super) const PROCESS: i64 = -16_777_216;
/// Stands for a process or thread that the export does not name.
pub(super) const NOBODY: i64 = i64::MIN;

/// The operating system's number of a process, of its own global id or of a thread's; `None` for nobody.
pub(super) fn pid(global: i64) -> Option<i64> {
    (global != NOBODY).then_some(global >> 24 & 0xFF_FFFF)
}

/// The operating system's number of a thread; `None` for nobody.
pub(super) fn tid(global: i64) -> Option<i64> {
    (global != NOBODY).then_some(global & 0xFF_FFFF)
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
    pub(super) fn place(&mut self, value: T) -> u32 {
        // An entry would make room for one more each time.
        if let Some(&place) = self.places.get(&value) {
            return place;
        }
        let fresh = self.values.len() as u32;
        self.places.insert(value, fresh);
        self.values.push(value);
        fresh
    }
}
