//! Distinct texts, each kept once.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::borrow::Cow;
use std::hash::BuildHasher;

/// A text's bytes as text: what is not UTF-8 in them is replaced.
pub(in crate::execute) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    // Nearly all of them are, and finding that out takes a fraction of looking for what to replace.
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Distinct texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    places: HashTable<u32>,
    /// One behind the other.
    bytes: Vec<u8>,
    /// Of each text its hash, and where it ends.
    ends: Vec<(u64, usize)>,
    state: RandomState,
}

impl Texts {
    pub(super) fn place(&mut self, text: &[u8]) -> u32 {
        let hash = self.state.hash_one(text);
        if let Some(&known) = self.places.find(hash, |&place| self.bytes(place) == text) {
            return known;
        }
        let place = self.ends.len() as u32;
        self.bytes.extend_from_slice(text);
        self.ends.push((hash, self.bytes.len()));
        let ends = &self.ends;
        self.places.insert_unique(hash, place, |&place| ends[place as usize].0);
        place
    }

    pub(super) fn bytes(&self, place: u32) -> &[u8] {
        let begin = (place as usize).checked_sub(1).map_or(0, |before| self.ends[before].1);
        &self.bytes[begin..self.ends[place as usize].1]
    }

    pub(super) fn text(&self, place: u32) -> Option<Cow<'_, str>> {
        ((place as usize) < self.ends.len()).then(|| readable(self.bytes(place)))
    }
}
