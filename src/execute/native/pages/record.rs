//! Decodes rows in SQLite's record format: <https://www.sqlite.org/fileformat2.html#record_format>.

use super::plain::{Field, Plain};
use std::cell::Cell;

/// The source of a relation's column among the decoded columns.
#[derive(Debug, Clone)]
enum Slot {
    RowId,
    At(usize),
    FirstOf(Vec<Slot>),
    Null,
}

/// Which columns of the table are decoded, and how the relation's columns use them.
#[derive(Debug)]
pub(super) struct Places {
    /// Places of the decoded columns in the table, ascending.
    wanted: Vec<usize>,
    slots: Vec<Slot>,
    kept: Vec<(Slot, Vec<i64>)>,
}

impl Places {
    /// Looks the fields up in the table's columns, given as names and declared types in order.
    pub(super) fn of(plain: &Plain, columns: &[(String, String)]) -> Option<Self> {
        // If the table has a column called `rowid`, that name means the column, not the row number.
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

/// Whether values are read as they are stored. A column of another declared type, such as REAL, may
/// convert them.
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

/// A cache of record headers that were parsed. A table has few distinct headers.
#[derive(Debug)]
pub(super) struct Shapes<'a> {
    places: &'a Places,
    /// The latest shape for each value of the header's hash.
    known: Vec<Shape>,
}

/// Size of the cache, a power of two.
const SHAPES: usize = 256;

/// The longest header to decode, in bytes. No nsys table has a hundred columns.
const LONGEST_HEADER: usize = 1 << 10;

/// A parsed record header.
#[derive(Debug, Default)]
struct Shape {
    /// The header, including its own length; empty if the cache entry is unused.
    header: Vec<u8>,
    /// The length of a record with this header. A minimum unless `is_len_exact`.
    len: usize,
    /// All columns were parsed, so a longer record is damaged.
    is_len_exact: bool,
    /// The content of each column of the relation, then of each column that rows are filtered by.
    contents: Vec<Content>,
}

/// The content of a column, and its position in the record.
#[derive(Debug, Clone, Copy)]
enum Content {
    Null,
    RowId,
    /// 0 or 1.
    Bit(i64),
    /// An integer of `len` bytes.
    Int {
        end: usize,
        len: usize,
    },
    Text {
        begin: usize,
        len: usize,
    },
    /// Another type. Reads as null when a text is wanted; unsupported when an integer is wanted.
    Other,
    /// A text or other value from `coalesce`, which is unsupported.
    Coalesced,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(places: &'a Places) -> Self {
        let mut known = Vec::new();
        known.resize_with(SHAPES, Shape::default);
        Self { places, known }
    }

    /// Locates the columns of a row in its record; `None` if the record is damaged.
    #[inline]
    pub(super) fn row<'r>(&'r mut self, id: i64, payload: &'r [u8]) -> Option<Row<'r>> {
        // The length takes more than one byte for headers of 128 bytes or more.
        let (header_len, at) = varint(payload, 0)?;
        let header = payload.get(..usize::try_from(header_len).ok()?)?;
        let shape = &mut self.known[hash(header) & (SHAPES - 1)];
        if shape.header != header || header.is_empty() {
            shape.read(header, at, self.places)?;
        }
        let is_whole = payload.len() == shape.len || (payload.len() > shape.len && !shape.is_len_exact);
        is_whole.then_some(Row {
            contents: &shape.contents,
            payload,
            id,
            has_unsupported: Cell::new(false),
        })
    }
}

/// A fast hash of a record header.
#[inline]
fn hash(header: &[u8]) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let (words, rest) = header.as_chunks::<8>();
    let hash = words.iter().fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    // Hashing the last eight bytes again is faster than hashing the rest byte by byte.
    let hash = match header.last_chunk::<8>() {
        Some(last) => mix(hash, u64::from_le_bytes(*last)),
        None => rest.iter().fold(hash, |hash, &byte| mix(hash, byte.into())),
    };
    (hash.wrapping_mul(FACTOR) >> 40) as usize
}

impl Shape {
    /// Parses a header whose serial types start at `at`.
    #[cold]
    fn read(&mut self, header: &[u8], at: usize, places: &Places) -> Option<()> {
        self.header.clear();
        if header.len() > LONGEST_HEADER {
            return None;
        }
        let mut serials = header.get(at..)?;
        let (mut begin, mut column) = (header.len(), 0);
        let mut found = vec![(NULL, 0); places.wanted.len()];
        for (&place, found) in places.wanted.iter().zip(&mut found) {
            // Columns that were added to the table later are missing from older records.
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
        // SQLite treats a record with extra bytes as damaged.
        self.is_len_exact = serials.is_empty();
        let columns = places.slots.iter().chain(places.kept.iter().map(|(slot, _)| slot));
        self.contents.clear();
        self.contents.extend(columns.map(|slot| content(slot, &found)));
        self.header.extend_from_slice(header);
        Some(())
    }
}

/// The content of a relation's column. `found` has the serial type and first byte of each decoded column.
fn content(slot: &Slot, found: &[(u64, usize)]) -> Content {
    match slot {
        Slot::RowId => Content::RowId,
        Slot::Null => Content::Null,
        Slot::At(place) => match found[*place] {
            (NULL, _) => Content::Null,
            (8, _) => Content::Bit(0),
            (9, _) => Content::Bit(1),
            (serial @ (1..=6), begin) => {
                let len = [1, 2, 3, 4, 6, 8][serial as usize - 1];
                Content::Int { end: begin + len, len }
            }
            (serial, begin) if serial >= 13 && serial % 2 == 1 => {
                Content::Text { begin, len: (serial as usize - 13) / 2 }
            }
            _ => Content::Other,
        },
        Slot::FirstOf(slots) => {
            let first = slots
                .iter()
                .map(|slot| content(slot, found))
                .find(|held| !matches!(held, Content::Null));
            match first {
                Some(Content::Text { .. } | Content::Other) => Content::Coalesced,
                held => held.unwrap_or(Content::Null),
            }
        }
    }
}

/// The next serial type; `None` at the end or if it is invalid.
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

/// A decoded row of the relation.
#[derive(Debug)]
pub(in super::super) struct Row<'a> {
    contents: &'a [Content],
    payload: &'a [u8],
    id: i64,
    /// A value was read that is unsupported, or is not an integer where one was wanted.
    has_unsupported: Cell<bool>,
}

impl Row<'_> {
    /// The integer in a column; `None` for null. Any other value also sets `has_unsupported`.
    #[inline]
    pub(in super::super) fn int(&self, column: usize) -> Option<i64> {
        match *self.contents.get(column)? {
            Content::Int { end, len } => Some(self.int_before(end, len)),
            Content::Null => None,
            Content::RowId => Some(self.id),
            Content::Bit(bit) => Some(bit),
            Content::Text { .. } | Content::Other | Content::Coalesced => {
                self.has_unsupported.set(true);
                None
            }
        }
    }

    #[inline]
    fn int_before(&self, end: usize, len: usize) -> i64 {
        let bytes = &self.payload[..end];
        // Fast path: read the eight bytes that end here, and shift out those before the integer.
        if let Some(eight) = bytes.last_chunk::<8>() {
            let spare = 64 - 8 * len;
            return i64::from_be_bytes(*eight) << spare >> spare;
        }
        let bytes = &bytes[end - len..];
        let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        bytes.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte))
    }

    /// The bytes of a text; `None` for anything else. A coalesced value also sets `has_unsupported`.
    pub(in super::super) fn text(&self, column: usize) -> Option<&[u8]> {
        match *self.contents.get(column)? {
            Content::Text { begin, len } => Some(&self.payload[begin..begin + len]),
            Content::Coalesced => {
                self.has_unsupported.set(true);
                None
            }
            _ => None,
        }
    }

    /// Whether the relation keeps this row; `None` if a filter column has an unsupported value.
    pub(super) fn is_kept(&self, places: &Places) -> Option<bool> {
        let columns = places.slots.len()..;
        let is_one_of = |(column, (_, numbers)): (usize, &(Slot, Vec<i64>))| {
            self.int(column).is_some_and(|number| numbers.contains(&number))
        };
        let is_kept = places.kept.is_empty() || columns.zip(&places.kept).any(is_one_of);
        self.is_understood().map(|()| is_kept)
    }

    /// `None` if an unsupported value was read.
    pub(super) fn is_understood(&self) -> Option<()> {
        (!self.has_unsupported.get()).then_some(())
    }
}

/// The number of bytes of a value of a serial type; `None` for an invalid type.
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

/// Decodes the varint at `at`. Returns the number and the position after it.
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
        // Twice: a cached shape must give the same results.
        for _ in 0..2 {
            assert_eq!(int(&[3, 1, 1, 7, 9]), Some(Some(9)));
            assert_eq!(int(&[2, 1, 7]), Some(None));
            assert_eq!(int(&[3, 1, 1, 7, 9, 0]), None, "a byte too many");
            assert_eq!(int(&[3, 1, 1, 7]), None, "a byte too few");
            assert_eq!(int(&[4, 1, 1, 1, 7, 9]), Some(Some(9)), "SQLite does not read the third column");
            assert_eq!(int(&[4, 1, 1, 1, 7]), None, "a byte too few");
            assert_eq!(int(&[4, 1, 10, 1, 7, 9]), None, "an invalid serial type");
            assert_eq!(int(&[0]), None, "no header");
            assert_eq!(int(&[9, 1]), None, "half a header");
        }
    }

    #[test]
    fn shapes_that_share_a_cache_entry_are_not_confused() {
        let places = Places { wanted: vec![0, 1], slots: vec![Slot::At(1)], kept: Vec::new() };
        let mut shapes = Shapes::new(&places);
        // Texts of many lengths before the wanted number: more shapes than the cache holds.
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
