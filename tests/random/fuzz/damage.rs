//! Reproducible damage to a database or a trace: equal seeds give equal damage.

use rusqlite::Connection;
use std::path::Path;

/// A small random number generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// The pages of a database. Damage is aimed at the bytes that SQLite reads first.
pub struct Pages {
    size: usize,
    /// Numbers of the interior B-tree pages, from 0.
    interior: Vec<usize>,
    count: usize,
}

impl Pages {
    /// The pages of a database, or `None` if its header has no valid page size.
    pub fn of(database: &[u8]) -> Option<Self> {
        let size = match u16::from_be_bytes([*database.get(16)?, *database.get(17)?]) {
            1 => 65_536,
            size => usize::from(size),
        };
        if !size.is_power_of_two() || !(512..=database.len()).contains(&size) {
            return None;
        }
        let kind = |page: usize| database[if page == 0 { 100 } else { page * size }];
        let count = database.len() / size;
        let interior = (0..count).filter(|&page| matches!(kind(page), 2 | 5)).collect();
        Some(Self { size, interior, count })
    }

    /// An offset in the schema page, in an interior page, in the head of a page, or anywhere.
    fn place(&self, random: &mut Random) -> usize {
        match random.below(4) {
            0 => random.below(self.size),
            1 if !self.interior.is_empty() => {
                random.pick(&self.interior) * self.size + random.below(self.size)
            }
            2 => random.below(self.count) * self.size + random.below(64),
            _ => random.below(self.count * self.size),
        }
    }
}

/// Changes one to eight bytes of a database.
pub fn flip_database(database: &mut [u8], pages: &Pages, random: &mut Random) {
    for _ in 0..=random.below(8) {
        let place = pages.place(random);
        change(&mut database[place], random);
    }
}

/// Changes one to eight bytes of anything.
pub fn flip(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..=random.below(8) {
        let place = random.below(bytes.len());
        change(&mut bytes[place], random);
    }
}

fn change(byte: &mut u8, random: &mut Random) {
    *byte = match random.below(4) {
        0 => *byte ^ 1 << random.below(8),
        1 => *random.pick(&[0, 1, 0x7f, 0x80, 0xff]),
        2 => byte.wrapping_add(1),
        _ => random.next() as u8,
    };
}

/// SQL values that nsys never writes into a cell.
const VALUES: [&str; 24] = [
    "NULL",
    "''",
    "'no number'",
    "'12'",
    "x'00ff80'",
    "CAST(x'fffe41' AS TEXT)",
    "char(27) || '[2J' || char(10, 13, 8238)",
    "'<script>alert(1)</script>|`*_'",
    "'=HYPERLINK(\"http://example.org\")'",
    "replace(hex(zeroblob(50000)), '00', 'name')",
    "0",
    "-1",
    "1",
    "9223372036854775807",
    "-9223372036854775808",
    "4611686018427387904",
    "-4611686018427387905",
    "1e308",
    "-1e308",
    "0.5",
    "rowid",
    "-rowid",
    "9223372036854775807 - rowid",
    "random()",
];

/// Makes one to four changes to the contents of a database that SQLite itself accepts.
pub fn distort(database: &Path, random: &mut Random) {
    let connection = Connection::open(database).unwrap();
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").unwrap();
    for _ in 0..=random.below(4) {
        let tables = names(&connection, "SELECT name FROM sqlite_master WHERE type = 'table'");
        if tables.is_empty() {
            return;
        }
        let table: &String = random.pick(&tables);
        let table = quote(table);
        let columns =
            names(&connection, &format!("SELECT name FROM pragma_table_info({})", literal(&table)));
        let (Some(column), Some(other)) = (
            columns.get(random.below(columns.len())).map(|name| quote(name)),
            columns.get(random.below(columns.len())).map(|name| quote(name)),
        ) else {
            continue;
        };
        let (value, every) = (*random.pick(&VALUES), [1, 1, 2, 7][random.below(4)]);
        let some = format!("WHERE rowid % {every} = {}", random.below(every));
        let moved = quote(&format!("{}_", table.trim_matches('"')));
        let statement = match random.below(16) {
            0..8 => format!("UPDATE {table} SET {column} = {value} {some}"),
            8 => format!("UPDATE {table} SET {column} = {other} {some}"),
            9 => format!("DELETE FROM {table} {some}"),
            10 => format!("INSERT OR IGNORE INTO {table} SELECT * FROM {table}"),
            11 => format!("ALTER TABLE {table} DROP COLUMN {column}"),
            12 => format!("ALTER TABLE {table} RENAME COLUMN {column} TO \"is gone\""),
            13 => format!(
                "ALTER TABLE {table} RENAME TO {moved}; \
                 CREATE VIEW {table} AS SELECT * FROM {moved}"
            ),
            14 => format!(
                "ALTER TABLE {table} DROP COLUMN {column}; \
                 ALTER TABLE {table} ADD COLUMN {column} AS ({value}) VIRTUAL"
            ),
            _ => format!("DROP TABLE {table}"),
        };
        // A change that this table does not allow (its key cannot be dropped, say) is skipped.
        let _ = connection.execute_batch(&statement);
    }
}

/// JSON values that no profiler writes into a trace.
const JSON: [&str; 16] = [
    "null",
    "true",
    "\"\"",
    "\"no number\"",
    "\"\\u001b[2J\\ud800<b>\"",
    "-1",
    "0",
    "1e400",
    "-0.0000000001",
    "9223372036854775807",
    "-9223372036854775808",
    "184467440737095516160.5",
    "[]",
    "{\"a\": [1, {}]}",
    "[[[[[[[[1]]]]]]]]",
    "NaN",
];

/// Changes one to eight values of a trace, or sometimes bytes of its text.
pub fn distort_trace(text: &mut Vec<u8>, random: &mut Random) {
    if random.below(8) == 0 {
        return flip(text, random);
    }
    for _ in 0..=random.below(8) {
        let from = random.below(text.len());
        let is_key = |pair: &[u8]| pair == b"\":";
        let Some(colon) = text[from..].windows(2).position(is_key).map(|at| from + at + 1) else {
            continue;
        };
        let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'\n');
        let end = text[colon..].iter().position(ends).map_or(text.len(), |length| colon + length);
        let value = random.pick(&JSON).bytes();
        text.splice(colon + 1..end, value);
    }
}

fn names(connection: &Connection, sql: &str) -> Vec<String> {
    let Ok(mut statement) = connection.prepare(sql) else { return Vec::new() };
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    names.filter_map(Result::ok).collect()
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The string literal of a quoted name.
fn literal(quoted: &str) -> String {
    format!("'{}'", quoted.trim_matches('"').replace('\'', "''"))
}
