//! Ids of an export: decoding global thread ids, and numbering distinct values.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};

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

/// Distinct values, numbered in order of appearance. Each is kept once.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    places: HashTable<u32>,
    pub(super) values: Vec<T>,
    state: RandomState,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { places: HashTable::new(), values: Vec::new(), state: RandomState::default() }
    }
}

impl<T: Copy + Eq + Hash> Numbered<T> {
    /// The number of a value that has one.
    pub(super) fn known(&self, value: T) -> Option<u32> {
        let is_it = |&place: &u32| self.values[place as usize] == value;
        self.places.find(self.state.hash_one(value), is_it).copied()
    }

    /// Frees what only finds values by themselves.
    pub(super) fn forget_places(&mut self) {
        self.places = HashTable::new();
    }

    pub(super) fn place(&mut self, value: T) -> u32 {
        let Self { places, values, state } = self;
        let hash = state.hash_one(value);
        if let Some(&place) = places.find(hash, |&place| values[place as usize] == value) {
            return place;
        }
        let fresh = values.len() as u32;
        values.push(value);
        places.insert_unique(hash, fresh, |&place| state.hash_one(values[place as usize]));
        fresh
    }
}
