//! Distinct texts, each kept once.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
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
    texts: Vec<Box<[u8]>>,
    state: RandomState,
}

impl Texts {
    pub(super) fn place(&mut self, text: &[u8]) -> u32 {
        let hash = self.state.hash_one(text);
        let (texts, state) = (&self.texts, &self.state);
        let entry = self.places.entry(
            hash,
            |&place| *texts[place as usize] == *text,
            |&place| state.hash_one(&*texts[place as usize]),
        );
        match entry {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                let place = texts.len() as u32;
                free.insert(place);
                self.texts.push(text.into());
                place
            }
        }
    }

    pub(super) fn bytes(&self, place: u32) -> &[u8] {
        &self.texts[place as usize]
    }

    pub(super) fn find(&self, text: &[u8]) -> Option<u32> {
        let is_it = |&place: &u32| *self.texts[place as usize] == *text;
        self.places.find(self.state.hash_one(text), is_it).copied()
    }

    pub(super) fn text(&self, place: u32) -> Option<Cow<'_, str>> {
        self.texts.get(place as usize).map(|text| readable(text))
    }
}
