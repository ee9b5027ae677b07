//! Interns texts: stores each distinct text once and gives it a number.

use foldhash::HashMap;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::borrow::Cow;
use std::hash::BuildHasher;

/// The bytes as text, with invalid UTF-8 replaced.
pub(in crate::execute) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    // Nearly all texts are valid UTF-8, and validating is much faster than `from_utf8_lossy`.
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Distinct texts, numbered in order of appearance.
#[derive(Debug, Default)]
pub(in crate::execute) struct Texts {
    places: HashTable<u32>,
    /// The texts, concatenated.
    texts: String,
    /// Texts that are not UTF-8, by place. They are empty in `texts`.
    others: HashMap<u32, Vec<u8>>,
    /// For each text: its hash, and its end in `texts`.
    ends: Vec<(u64, usize)>,
    state: RandomState,
    /// The text before: consecutive rows often have the same.
    last: u32,
}

impl Texts {
    /// The place of a text, which is added if it is new.
    pub(in crate::execute) fn place(&mut self, text: &[u8]) -> u32 {
        if (self.last as usize) < self.ends.len() && self.bytes(self.last) == text {
            return self.last;
        }
        self.last = self.find_or_add(text);
        self.last
    }

    fn find_or_add(&mut self, text: &[u8]) -> u32 {
        let hash = self.state.hash_one(text);
        if let Some(&known) = self.places.find(hash, |&place| self.bytes(place) == text) {
            return known;
        }
        let place = self.ends.len() as u32;
        match str::from_utf8(text) {
            Ok(text) => self.texts.push_str(text),
            Err(_) => _ = self.others.insert(place, text.to_vec()),
        }
        self.ends.push((hash, self.texts.len()));
        let ends = &self.ends;
        self.places.insert_unique(hash, place, |&place| ends[place as usize].0);
        place
    }

    pub(in crate::execute) fn bytes(&self, place: u32) -> &[u8] {
        match self.other(place) {
            Some(other) => other,
            None => self.known(place).as_bytes(),
        }
    }

    /// The text at a place; `None` if there is none.
    pub(in crate::execute) fn text(&self, place: u32) -> Option<Cow<'_, str>> {
        ((place as usize) < self.ends.len()).then(|| match self.other(place) {
            Some(other) => String::from_utf8_lossy(other),
            None => Cow::Borrowed(self.known(place)),
        })
    }

    /// All texts, by place.
    pub(in crate::execute) fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.ends.len() as u32).filter_map(|place| self.text(place))
    }

    fn known(&self, place: u32) -> &str {
        let begin = (place as usize).checked_sub(1).map_or(0, |before| self.ends[before].1);
        &self.texts[begin..self.ends[place as usize].1]
    }

    fn other(&self, place: u32) -> Option<&[u8]> {
        if self.others.is_empty() { None } else { self.others.get(&place).map(Vec::as_slice) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_stored_once_even_if_it_is_not_utf8() {
        let mut texts = Texts::default();
        let all: [&[u8]; 6] = [b"one", b"", "zwölf".as_bytes(), b"\xff", b"one\xc3", b"\xfe"];
        for _ in 0..2 {
            assert_eq!(all.map(|text| texts.place(text)), [0, 1, 2, 3, 4, 5]);
        }
        for (place, text) in (0..).zip(all) {
            assert_eq!(texts.bytes(place), text);
            assert_eq!(texts.text(place), Some(String::from_utf8_lossy(text)));
        }
        assert_eq!(texts.text(6), None);
    }
}
