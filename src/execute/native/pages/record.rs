//! The fields of a row as SQLite stores them: <https://www.sqlite.org/fileformat2.html#record_format>.

use super::plain::{Field, Plain};
use std::cell::Cell;

/// Where a column of the relation stands among those that are decoded.
#[derive(Debug, Clone)]
enum Slot {
    RowId,
    At(usize),
    FirstOf(Vec<Slot>),
    Null,
}

/// Which columns of the table are decoded, and what they mean to the relation.
#[derive(Debug)]
pub(super) struct Places {
    /// Places in the table's rows, ascending.
    wanted: Vec<usize>,
    slots: Vec<Slot>,
    kept: Vec<(Slot, Vec<i64>)>,
}

impl Places {
    /// For columns of these names and declared types, in order.
    pub(super) fn of(plain: &Plain, columns: &[(String, String)]) -> Option<Self> {
        // `rowid` means the column of that name, where there is one.
        let is_rowid = |name: &str| {
            ["rowid", "oid", "_rowid_"].iter().any(|rowid| name.eq_ignore_ascii_case(rowid))
        };
        if columns.iter().any(|(name, _)| is_rowid(name)) {
            return None;
        }
        let mut wanted = Vec::new();
        let all = plain.fields.iter().chain(plain.kept.iter().map(|(field, _)| field));
        for field in all {
            columns_of(field, columns, &mut wanted)?;
        }
        wanted.sort_unstable();
        wanted.dedup();
        let slot = |field: &Field| slot(field, columns, &wanted);
        Some(Self {
            slots: plain.fields.iter().map(slot).collect::<Option<_>>()?,
            kept: plain
                .kept
                .iter()
                .map(|(field, numbers)| Some((slot(field)?, numbers.clone())))
                .collect::<Option<_>>()?,
            wanted,
        })
    }

    /// Room for a row.
    pub(super) fn row(&self) -> Room {
        Room { found: vec![(NULL, 0); self.wanted.len()] }
    }
}

fn place_of(name: &str, columns: &[(String, String)]) -> Option<usize> {
    columns.iter().position(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Values of other types than a column is declared with may be read as something else than was stored.
fn is_read_as_stored(declared: &str) -> bool {
    let declared = declared.to_ascii_uppercase();
    declared.contains("INT") || declared == "TEXT"
}

fn columns_of(field: &Field, columns: &[(String, String)], wanted: &mut Vec<usize>) -> Option<()> {
    match field {
        Field::RowId | Field::Null => {}
        Field::FirstOf(fields) => {
            fields.iter().try_for_each(|field| columns_of(field, columns, wanted))?;
        }
        Field::Column(name) => {
            let place = place_of(name, columns)?;
            if !is_read_as_stored(&columns[place].1) {
                return None;
            }
            wanted.push(place);
        }
    }
    Some(())
}

fn slot(field: &Field, columns: &[(String, String)], wanted: &[usize]) -> Option<Slot> {
    Some(match field {
        Field::RowId => Slot::RowId,
        Field::Null => Slot::Null,
        Field::Column(name) => Slot::At(wanted.binary_search(&place_of(name, columns)?).ok()?),
        Field::FirstOf(fields) => {
            let slots = fields.iter().map(|field| slot(field, columns, wanted));
            Slot::FirstOf(slots.collect::<Option<_>>()?)
        }
    })
}

/// The serial type of null.
const NULL: u64 = 0;

/// Serial type and first byte of each wanted column.
#[derive(Debug)]
pub(super) struct Room {
    found: Vec<(u64, usize)>,
}

impl Room {
    /// Finds the wanted columns of a row in its record.
    pub(super) fn fill<'a>(mut self, places: &'a Places, id: i64, payload: &'a [u8]) -> Option<Row<'a>> {
        let (head, at) = varint(payload, 0)?;
        let head = usize::try_from(head).ok()?;
        let mut serials = payload.get(at..head)?;
        let (mut begin, mut column) = (head, 0);
        for (&place, found) in places.wanted.iter().zip(&mut self.found) {
            // A record ends with the last column that its table had when it was written.
            *found = (NULL, 0);
            while column <= place {
                let Some(serial) = next_serial(&mut serials) else { break };
                if column == place {
                    *found = (serial, begin);
                }
                begin = begin.saturating_add(len_of(serial));
                column += 1;
            }
        }
        // Bytes that belong to no column are what SQLite calls a damaged record.
        let is_whole = match serials {
            [] => begin == payload.len(),
            _ => begin <= payload.len() && places.wanted.last().is_none_or(|&last| column > last),
        };
        is_whole.then_some(Row {
            found: self.found,
            slots: &places.slots,
            payload,
            id,
            is_odd: Cell::new(false),
        })
    }
}

/// The next serial type; `None` at the end, or where there is none.
#[inline(always)]
fn next_serial(serials: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = serials.split_first()?;
    if first < 0x80 {
        *serials = rest;
        return Some(u64::from(first));
    }
    let (serial, at) = varint(serials, 0)?;
    *serials = &serials[at..];
    Some(serial)
}

/// The wanted columns of a row.
#[derive(Debug)]
pub(in super::super) struct Row<'a> {
    found: Vec<(u64, usize)>,
    slots: &'a [Slot],
    payload: &'a [u8],
    id: i64,
    /// A value was no integer where one was asked for, or is not understood.
    is_odd: Cell<bool>,
}

impl Row<'_> {
    /// An integer of the relation; `None` for null, and for what is none, which is remembered.
    #[inline]
    pub(in super::super) fn int(&self, column: usize) -> Option<i64> {
        match self.slots.get(column)? {
            Slot::At(place) => self.int_at(*place),
            slot => self.int_of(slot),
        }
    }

    fn int_of(&self, slot: &Slot) -> Option<i64> {
        match slot {
            Slot::RowId => Some(self.id),
            Slot::Null => None,
            Slot::At(place) => self.int_at(*place),
            Slot::FirstOf(slots) => slots.iter().find_map(|slot| self.int_of(slot)),
        }
    }

    #[inline]
    fn int_at(&self, place: usize) -> Option<i64> {
        let (serial, begin) = self.found[place];
        let len = match serial {
            NULL => return None,
            1..=4 => serial as usize,
            5 => 6,
            6 => 8,
            8 => return Some(0),
            9 => return Some(1),
            _ => {
                self.is_odd.set(true);
                return None;
            }
        };
        // Eight bytes at once where they are there: the number stands in the first of them.
        if let Some(eight) = self.payload.get(begin..).and_then(|rest| rest.first_chunk::<8>()) {
            return Some(i64::from_be_bytes(*eight) >> (64 - 8 * len));
        }
        let bytes = &self.payload[begin..begin + len];
        let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        Some(bytes.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte)))
    }

    /// A text's bytes; `None` for anything else, and for a choice of texts, which is remembered.
    pub(in super::super) fn text(&self, column: usize) -> Option<&[u8]> {
        let place = match self.slots.get(column)? {
            Slot::At(place) => *place,
            Slot::RowId | Slot::Null => return None,
            Slot::FirstOf(_) => {
                self.is_odd.set(true);
                return None;
            }
        };
        let (serial, begin) = self.found[place];
        let is_text = serial >= 13 && serial % 2 == 1;
        is_text.then(|| &self.payload[begin..begin + (serial as usize - 13) / 2])
    }

    /// The row is one of those that the relation has; `None` where that is not understood.
    pub(super) fn is_kept(&self, places: &Places) -> Option<bool> {
        let is_one_of = |(slot, numbers): &(Slot, Vec<i64>)| {
            self.int_of(slot).is_some_and(|number| numbers.contains(&number))
        };
        let is_kept = places.kept.is_empty() || places.kept.iter().any(is_one_of);
        self.was_understood().map(|()| is_kept)
    }

    /// `None` where a value was no integer and one was asked for, or was not understood.
    pub(super) fn was_understood(&self) -> Option<()> {
        (!self.is_odd.get()).then_some(())
    }

    /// Room for the next row.
    pub(super) fn empty(self) -> Room {
        Room { found: self.found }
    }
}

/// The bytes that a value of a serial type takes; more than there are for types that do not exist.
#[inline(always)]
fn len_of(serial: u64) -> usize {
    const MORE: usize = usize::MAX;
    const LENGTHS: [usize; 12] = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, MORE, MORE];
    match LENGTHS.get(serial as usize) {
        Some(&len) => len,
        None => usize::try_from((serial - 12) / 2).unwrap_or(MORE),
    }
}

/// The number that begins at `at`, and where it ends.
#[inline]
pub(super) fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    if first < 0x80 {
        return Some((u64::from(first), at + 1));
    }
    let mut number = u64::from(first & 0x7f);
    for place in at + 1..at + 8 {
        let byte = *bytes.get(place)?;
        number = number << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((number, place + 1));
        }
    }
    let last = *bytes.get(at + 8)?;
    Some((number << 8 | u64::from(last), at + 9))
}

#[cfg(test)]
mod tests {
    use super::{Places, Slot, varint};

    #[test]
    fn numbers_of_any_length() {
        assert_eq!(varint(&[0x7f], 0), Some((127, 1)));
        assert_eq!(varint(&[9, 0x81, 0x00], 1), Some((128, 3)));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0xff; 8], 0), None);
        assert_eq!(varint(&[], 0), None);
    }

    #[test]
    fn a_record_ends_with_its_last_column() {
        let places = Places { wanted: vec![1], slots: vec![Slot::At(0)], kept: Vec::new() };
        let int = |payload: &[u8]| places.row().fill(&places, 1, payload).map(|row| row.int(0));
        assert_eq!(int(&[3, 1, 1, 7, 9]), Some(Some(9)));
        assert_eq!(int(&[2, 1, 7]), Some(None));
        assert_eq!(int(&[3, 1, 1, 7, 9, 0]), None, "a byte too many");
        assert_eq!(int(&[4, 1, 1, 1, 7, 9]), Some(Some(9)), "SQLite does not look at the third");
        assert_eq!(int(&[4, 1, 1, 1, 7]), None, "a byte too few");
    }
}
