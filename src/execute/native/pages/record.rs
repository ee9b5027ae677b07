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

/// The shapes of records that were met. Rows of a table take few: their heads are read once.
#[derive(Debug)]
pub(super) struct Shapes<'a> {
    places: &'a Places,
    /// The latest of each remainder of their heads' hashes.
    known: Vec<Shape>,
}

/// A power of two.
const SHAPES: usize = 256;

/// Heads that are kept: no table of nsys has a hundred columns.
const LONGEST_HEAD: usize = 1 << 10;

/// What the head of a record says.
#[derive(Debug, Default)]
struct Shape {
    /// The head, its own length included; empty before one is known.
    head: Vec<u8>,
    /// The length of a record with this head, or the least.
    len: usize,
    /// A longer record is damaged.
    is_len_exact: bool,
    /// Of each column of the relation, what it holds; then the same of those that rows are kept by.
    held: Vec<Held>,
}

/// What a column holds, and where it ends in the record.
#[derive(Debug, Clone, Copy)]
enum Held {
    Null,
    RowId,
    /// 0 or 1.
    Bit(i64),
    /// An integer of so many bytes.
    Int {
        end: usize,
        len: usize,
    },
    Text {
        begin: usize,
        len: usize,
    },
    /// Something else: null where a text is asked for, and not understood as an integer.
    Odd,
    /// A choice of texts, which is not understood.
    Choice,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(places: &'a Places) -> Self {
        let mut known = Vec::new();
        known.resize_with(SHAPES, Shape::default);
        Self { places, known }
    }

    /// Finds the columns of a row in its record; `None` where it is damaged.
    #[inline]
    pub(super) fn row<'r>(&'r mut self, id: i64, payload: &'r [u8]) -> Option<Row<'r>> {
        // Heads of 128 bytes or more have lengths of more than one.
        let (head_len, at) = varint(payload, 0)?;
        let head = payload.get(..usize::try_from(head_len).ok()?)?;
        let shape = &mut self.known[hash(head) & (SHAPES - 1)];
        if shape.head != head || head.is_empty() {
            shape.read(head, at, self.places)?;
        }
        let is_whole = payload.len() == shape.len || (payload.len() > shape.len && !shape.is_len_exact);
        is_whole.then_some(Row { held: &shape.held, payload, id, is_odd: Cell::new(false) })
    }
}

/// Differs mostly where heads differ.
#[inline]
fn hash(head: &[u8]) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let (words, rest) = head.as_chunks::<8>();
    let hash = words.iter().fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    // The last eight bytes once more are quicker than each of the rest.
    let hash = match head.last_chunk::<8>() {
        Some(last) => mix(hash, u64::from_le_bytes(*last)),
        None => rest.iter().fold(hash, |hash, &byte| mix(hash, byte.into())),
    };
    (hash.wrapping_mul(FACTOR) >> 40) as usize
}

impl Shape {
    /// Takes in a head whose serial types begin at `at`.
    #[cold]
    fn read(&mut self, head: &[u8], at: usize, places: &Places) -> Option<()> {
        self.head.clear();
        if head.len() > LONGEST_HEAD {
            return None;
        }
        let mut serials = head.get(at..)?;
        let (mut begin, mut column) = (head.len(), 0);
        let mut found = vec![(NULL, 0); places.wanted.len()];
        for (&place, found) in places.wanted.iter().zip(&mut found) {
            // A record ends with the last column that its table had when it was written.
            while column <= place {
                let Some(serial) = next_serial(&mut serials) else { break };
                if column == place {
                    *found = (serial, begin);
                }
                begin = begin.checked_add(len_of(serial)?)?;
                column += 1;
            }
        }
        if places.wanted.last().is_some_and(|&last| column <= last) && !serials.is_empty() {
            return None;
        }
        self.len = begin;
        // Bytes that belong to no column are what SQLite calls a damaged record.
        self.is_len_exact = serials.is_empty();
        let columns = places.slots.iter().chain(places.kept.iter().map(|(slot, _)| slot));
        self.held.clear();
        self.held.extend(columns.map(|slot| held(slot, &found)));
        self.head.extend_from_slice(head);
        Some(())
    }
}

/// What a column of the relation holds, by serial type and first byte of the wanted columns.
fn held(slot: &Slot, found: &[(u64, usize)]) -> Held {
    match slot {
        Slot::RowId => Held::RowId,
        Slot::Null => Held::Null,
        Slot::At(place) => match found[*place] {
            (NULL, _) => Held::Null,
            (8, _) => Held::Bit(0),
            (9, _) => Held::Bit(1),
            (serial @ (1..=6), begin) => {
                let len = [1, 2, 3, 4, 6, 8][serial as usize - 1];
                Held::Int { end: begin + len, len }
            }
            (serial, begin) if serial >= 13 && serial % 2 == 1 => {
                Held::Text { begin, len: (serial as usize - 13) / 2 }
            }
            _ => Held::Odd,
        },
        Slot::FirstOf(slots) => {
            let first =
                slots.iter().map(|slot| held(slot, found)).find(|held| !matches!(held, Held::Null));
            match first {
                Some(Held::Text { .. } | Held::Odd) => Held::Choice,
                held => held.unwrap_or(Held::Null),
            }
        }
    }
}

/// The next serial type; `None` at the end, or where there is none.
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

/// The columns of a row.
#[derive(Debug)]
pub(in super::super) struct Row<'a> {
    held: &'a [Held],
    payload: &'a [u8],
    id: i64,
    /// A value was no integer where one was asked for, or is not understood.
    is_odd: Cell<bool>,
}

impl Row<'_> {
    /// An integer of the relation; `None` for null, and for what is none, which is remembered.
    #[inline]
    pub(in super::super) fn int(&self, column: usize) -> Option<i64> {
        match *self.held.get(column)? {
            Held::Int { end, len } => Some(self.int_before(end, len)),
            Held::Null => None,
            Held::RowId => Some(self.id),
            Held::Bit(bit) => Some(bit),
            Held::Text { .. } | Held::Odd | Held::Choice => {
                self.is_odd.set(true);
                None
            }
        }
    }

    #[inline]
    fn int_before(&self, end: usize, len: usize) -> i64 {
        let bytes = &self.payload[..end];
        // Eight bytes at once where they are there: the number stands in the last of them.
        if let Some(eight) = bytes.last_chunk::<8>() {
            let spare = 64 - 8 * len;
            return i64::from_be_bytes(*eight) << spare >> spare;
        }
        let bytes = &bytes[end - len..];
        let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        bytes.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte))
    }

    /// A text's bytes; `None` for anything else, and for a choice of texts, which is remembered.
    pub(in super::super) fn text(&self, column: usize) -> Option<&[u8]> {
        match *self.held.get(column)? {
            Held::Text { begin, len } => Some(&self.payload[begin..begin + len]),
            Held::Choice => {
                self.is_odd.set(true);
                None
            }
            _ => None,
        }
    }

    /// The row is one of those that the relation has; `None` where that is not understood.
    pub(super) fn is_kept(&self, places: &Places) -> Option<bool> {
        let columns = places.slots.len()..;
        let is_one_of = |(column, (_, numbers)): (usize, &(Slot, Vec<i64>))| {
            self.int(column).is_some_and(|number| numbers.contains(&number))
        };
        let is_kept = places.kept.is_empty() || columns.zip(&places.kept).any(is_one_of);
        self.was_understood().map(|()| is_kept)
    }

    /// `None` where a value was no integer and one was asked for, or was not understood.
    pub(super) fn was_understood(&self) -> Option<()> {
        (!self.is_odd.get()).then_some(())
    }
}

/// The bytes that a value of a serial type takes; `None` for types that do not exist.
fn len_of(serial: u64) -> Option<usize> {
    const LENGTHS: [Option<usize>; 12] = [
        Some(0),
        Some(1),
        Some(2),
        Some(3),
        Some(4),
        Some(6),
        Some(8),
        Some(8),
        Some(0),
        Some(0),
        None,
        None,
    ];
    match LENGTHS.get(usize::try_from(serial).ok()?) {
        Some(&len) => len,
        None => usize::try_from((serial - 12) / 2).ok(),
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
    use super::{Places, SHAPES, Shapes, Slot, varint};

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
        let mut shapes = Shapes::new(&places);
        let mut int = |payload: &[u8]| shapes.row(1, payload).map(|row| row.int(0));
        // Twice: a shape that is known is held to the same.
        for _ in 0..2 {
            assert_eq!(int(&[3, 1, 1, 7, 9]), Some(Some(9)));
            assert_eq!(int(&[2, 1, 7]), Some(None));
            assert_eq!(int(&[3, 1, 1, 7, 9, 0]), None, "a byte too many");
            assert_eq!(int(&[3, 1, 1, 7]), None, "a byte too few");
            assert_eq!(int(&[4, 1, 1, 1, 7, 9]), Some(Some(9)), "SQLite does not look at the third");
            assert_eq!(int(&[4, 1, 1, 1, 7]), None, "a byte too few");
            assert_eq!(int(&[4, 1, 10, 1, 7, 9]), None, "a type that does not exist");
            assert_eq!(int(&[0]), None, "no head");
            assert_eq!(int(&[9, 1]), None, "half a head");
        }
    }

    #[test]
    fn shapes_that_share_a_place_are_told_apart() {
        let places = Places { wanted: vec![0, 1], slots: vec![Slot::At(1)], kept: Vec::new() };
        let mut shapes = Shapes::new(&places);
        // Texts of any length before the number that is wanted: more shapes than there is room for.
        for round in 0..3 {
            for len in 0..4 * SHAPES {
                let serial = 13 + 2 * len as u64;
                let mut payload = vec![0];
                payload.extend(varint_of(serial));
                payload.push(1);
                payload[0] = payload.len() as u8;
                payload.extend(std::iter::repeat_n(7, len));
                payload.push(round + 40);
                let number = shapes.row(1, &payload).map(|row| row.int(0));
                assert_eq!(number, Some(Some(i64::from(round) + 40)), "a text of {len}");
            }
        }
    }

    fn varint_of(number: u64) -> Vec<u8> {
        match number {
            0..0x80 => vec![number as u8],
            _ => vec![0x80 | (number >> 7) as u8, number as u8 & 0x7f],
        }
    }
}
