//! Finds the columns of a CSV table, by the names in its header or by position.

use csv::ByteRecord;

/// The positions of columns, for tables without known column names.
///
/// Positions start at 0; a negative position counts from the end of the row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CsvLayout {
    /// The first row is no header.
    pub without_header: bool,
    /// Milliseconds per unit of the times. `None`: the unit of the header, else nanoseconds.
    pub time_scale_to_ms: Option<f64>,
    /// Ignore the header's unit of a column whose position is given, as the seed does.
    pub ignores_units: bool,
    /// Total time in the kernel table; default 1.
    pub kernel_time: Option<i64>,
    /// Instances in the kernel table; default 2.
    pub kernel_calls: Option<i64>,
    /// Name in the kernel table; default 8.
    pub kernel_name: Option<i64>,
    /// Name in the range table; default 0.
    pub range_name: Option<i64>,
    /// Projected duration in the range table; default 2.
    pub range_dur: Option<i64>,
    /// Operation in the memory table; default 8.
    pub memory_name: Option<i64>,
    /// Total time in the memory table; default 1.
    pub memory_time: Option<i64>,
    /// Count in the memory table; default 2.
    pub memory_calls: Option<i64>,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Time,
    Count,
    Text,
    /// The name of a range: null if it is empty or `None`.
    Range,
}

/// A column to look for.
pub(super) struct Wanted {
    /// Its name in nsq's query, by which it is also found.
    pub(super) column: &'static str,
    pub(super) kind: Kind,
    /// The column in messages.
    pub(super) what: &'static str,
    /// Names in tables of nsys, in lower case, without the unit in parentheses.
    pub(super) names: &'static [&'static str],
    /// The position that the user gave.
    pub(super) given: Option<i64>,
    /// The position in a table without known names; `None` if the column is optional.
    pub(super) usual: Option<i64>,
}

impl Wanted {
    pub(super) fn new(
        column: &'static str,
        kind: Kind,
        what: &'static str,
        names: &'static [&'static str],
        (given, usual): (Option<i64>, i64),
    ) -> Self {
        Self { column, kind, what, names, given, usual: Some(usual) }
    }

    pub(super) fn optional(column: &'static str, kind: Kind, names: &'static [&'static str]) -> Self {
        Self { column, kind, what: column, names, given: None, usual: None }
    }
}

/// The positions of the wanted columns.
pub(super) struct Columns {
    pub(super) places: Vec<Option<i64>>,
    /// Number of columns in every row; `None`: the number in the first row.
    pub(super) width: Option<usize>,
    pub(super) ns_per_unit: f64,
}

impl Columns {
    /// Finds columns by the names in a header; `None` if a required column is missing.
    pub(super) fn named(header: &ByteRecord, wanted: &[Wanted], layout: &CsvLayout) -> Option<Self> {
        let names: Vec<(String, Option<String>)> = header.iter().map(name_and_unit).collect();
        let mut places = Vec::new();
        let mut known = false;
        for column in wanted {
            let mut spelled = column.names.iter().chain([&column.column]);
            let found = spelled.find_map(|name| names.iter().position(|(known, _)| known == name));
            if column.given.is_none() && column.usual.is_some() && found.is_none() {
                return None;
            }
            known |= found.is_some();
            places.push(column.given.or(found.and_then(|place| i64::try_from(place).ok())));
        }
        let named = Self { places, width: Some(header.len()), ns_per_unit: 1.0 };
        known.then(|| named.with_units(header, wanted, layout))
    }

    /// Takes the unit of times from the header, which has it after the column name.
    pub(super) fn with_units(
        mut self,
        header: &ByteRecord,
        wanted: &[Wanted],
        layout: &CsvLayout,
    ) -> Self {
        for (column, place) in wanted.iter().zip(&self.places) {
            let is_read = column.usual.is_some() && !(column.given.is_some() && layout.ignores_units);
            let cell = place.filter(|_| is_read).and_then(|place| place_in(place, header.len()));
            let unit = cell.and_then(|cell| header.get(cell)).and_then(|cell| name_and_unit(cell).1);
            self.ns_per_unit = unit.as_deref().and_then(unit_ns).unwrap_or(self.ns_per_unit);
        }
        self
    }

    pub(super) fn usual(wanted: &[Wanted]) -> Self {
        let places = wanted.iter().map(|column| column.given.or(column.usual)).collect();
        Self { places, width: None, ns_per_unit: 1.0 }
    }

    pub(super) fn scaled(self, layout: &CsvLayout) -> Self {
        Self { ns_per_unit: layout.time_scale_to_ms.map_or(self.ns_per_unit, |ms| ms * 1e6), ..self }
    }
}

/// The index in a row of `width` cells; a negative position counts from the end.
pub(super) fn place_in(place: i64, width: usize) -> Option<usize> {
    let place = if place < 0 { i64::try_from(width).ok()?.checked_add(place)? } else { place };
    usize::try_from(place).ok()
}

/// `Total Time (ns)` → `total time` and `ns`.
fn name_and_unit(cell: &[u8]) -> (String, Option<String>) {
    let text = String::from_utf8_lossy(cell).trim().to_lowercase();
    match text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        Some((name, unit)) => (name.trim().to_owned(), Some(unit.trim().to_owned())),
        None => (text, None),
    }
}

fn unit_ns(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" | "nsec" => 1.0,
        "us" | "µs" | "usec" => 1e3,
        "ms" | "msec" => 1e6,
        "s" | "sec" => 1e9,
        _ => return None,
    })
}
