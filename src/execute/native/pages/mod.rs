//! Decodes the rows of a relation from the database pages of its table.
//!
//! A relation that only renames columns of one table can be read without a statement: its rows are in the
//! leaf pages of the table. Decoding the few columns that are needed takes a fraction of the time that
//! SQLite's virtual machine takes per row.
//!
//! The functions here return [`None`] for any table, page or value that is not simple. The caller then
//! reads the relation by a statement, so SQLite decides what is damaged.

mod plain;
mod record;
mod tree;

pub(super) use plain::Plain;
pub(super) use record::Row;

use record::{Places, Shapes};
use rusqlite::Connection;
use tree::File;

/// A table whose rows can be decoded from its pages.
pub(super) struct Table {
    root: u32,
    places: Places,
}

impl Table {
    /// The table behind a plain relation; `None` if a column could read differently than it is stored.
    pub(super) fn find(connection: &Connection, plain: &Plain) -> Option<Self> {
        let root = "SELECT rootpage FROM main.sqlite_master WHERE type = 'table' AND name = ?1";
        let root: u32 = connection.query_row(root, [&plain.table], |row| row.get(0)).ok()?;
        let mut columns: Vec<(String, String)> = Vec::new();
        // Defaults may be missing from the stored rows, and generated columns always are.
        let sql = "SELECT name, type, dflt_value IS NULL AND hidden = 0 AND pk = 0 \
                   FROM pragma_table_xinfo(?1, 'main') ORDER BY cid";
        let mut statement = connection.prepare(sql).ok()?;
        let mut rows = statement.query([&plain.table]).ok()?;
        while let Some(row) = rows.next().ok()? {
            if !row.get::<_, bool>(2).ok()? {
                return None;
            }
            columns.push((row.get(0).ok()?, row.get(1).ok()?));
        }
        Some(Self { root, places: Places::of(plain, &columns)? })
    }

    /// Calls `take` for each row with `from <= rowid <= to`, until it returns [`None`].
    ///
    /// `goes_on` is called for every decoded row, even if the relation does not keep it.
    /// A statement on `connection` must have been started: it locks the file against changes.
    pub(super) fn scan(
        &self,
        connection: &Connection,
        (from, to): (i64, i64),
        mut goes_on: impl FnMut() -> bool,
        mut take: impl FnMut(&Row<'_>) -> Option<()>,
    ) -> Option<()> {
        let mut shapes = Shapes::new(&self.places);
        let mut last = None;
        File::of(connection)?.leaves(self.root, (from, to), |id, payload| {
            if last.is_some_and(|last| last >= id) || !goes_on() {
                return None;
            }
            last = Some(id);
            if id < from || id > to {
                return Some(());
            }
            let row = shapes.row(id, payload)?;
            if row.is_kept(&self.places)? {
                take(&row)?;
                row.is_understood()?;
            }
            Some(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::Statements;
    use rusqlite::types::Value;
    use tempfile::TempDir;

    /// A pseudo-random number generator, small enough to need no crate.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 =
                self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }

        /// Integers of every length, nulls, and texts that overflow their page.
        fn value(&mut self, is_text: bool) -> Value {
            match self.below(8) {
                0 => Value::Null,
                _ if is_text => {
                    let len = [0, 3, 40, 700, 9_000][self.below(5) as usize];
                    Value::Text("ö".repeat(self.below(len + 1) as usize))
                }
                _ => {
                    let bits = self.below(64) as u32;
                    let number = i64::MAX.cast_unsigned() >> bits;
                    let number = (number - self.below(3).min(number)).cast_signed();
                    Value::Integer(if self.below(2) == 0 { number } else { -number - 1 })
                }
            }
        }
    }

    const COLUMNS: &str = "id, a, text, b, first";
    const VIEW: &str = "CREATE TEMP VIEW thing AS\nSELECT rowid AS id, a, text, b, coalesce(c, a) AS first \
                        FROM main.THING WHERE kind IN (0, -1) OR kind IN (1)";
    const TABLE: &str =
        "CREATE TABLE THING (a INTEGER, text TEXT, kind INT, other BLOB, b BIGINT, c INTEGER)";

    type Found = (i64, Option<i64>, Option<Vec<u8>>, Option<i64>, Option<i64>);

    fn table(connection: &Connection) -> Option<Table> {
        let statements = Statements { others: vec![VIEW.to_owned()], ..Statements::default() };
        let columns: Vec<&str> = COLUMNS.split(", ").collect();
        let plain = Plain::of(&statements, "thing", "id", &columns).unwrap();
        Table::find(connection, &plain)
    }

    fn by_pages(connection: &Connection, range: (i64, i64)) -> Option<Vec<Found>> {
        let table = table(connection)?;
        let mut found = Vec::new();
        table.scan(
            connection,
            range,
            || true,
            |row| {
                found.push((
                    row.int(0)?,
                    row.int(1),
                    row.text(2).map(<[u8]>::to_vec),
                    row.int(3),
                    row.int(4),
                ));
                Some(())
            },
        )?;
        Some(found)
    }

    fn by_statement(connection: &Connection, (from, to): (i64, i64)) -> Vec<Found> {
        let sql = format!("SELECT {COLUMNS} FROM thing WHERE id BETWEEN ?1 AND ?2");
        let mut statement = connection.prepare(&sql).unwrap();
        let rows = statement.query_map([from, to], |row| {
            let text: Option<String> = row.get(2)?;
            Ok((row.get(0)?, row.get(1)?, text.map(String::into_bytes), row.get(3)?, row.get(4)?))
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// A file that `fill` wrote, reopened.
    fn made(folder: &TempDir, page: i64, fill: impl FnOnce(&Connection)) -> Connection {
        let path = folder.path().join("made.sqlite");
        let _ = std::fs::remove_file(&path);
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "page_size", page).unwrap();
        fill(&connection);
        drop(connection);
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(VIEW).unwrap();
        connection
    }

    fn fill(connection: &Connection, random: &mut Random, rows: u64) {
        connection.execute_batch(TABLE).unwrap();
        connection.execute_batch("BEGIN").unwrap();
        let mut insert = connection
            .prepare("INSERT OR REPLACE INTO THING (rowid, a, text, kind, other, b, c) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
            .unwrap();
        let wide = random.below(3) == 0;
        for row in 0..rows {
            let id = if wide { random.value(false) } else { Value::Integer(row as i64 - 50) };
            let kind = Value::Integer(random.below(5) as i64 - 2);
            let [a, other, b, c] = [(); 4].map(|()| random.value(false));
            insert.execute((id, a, random.value(true), kind, other, b, c)).unwrap();
        }
        drop(insert);
        connection.execute("DELETE FROM THING WHERE rowid % 7 = ?1", [random.below(7) as i64]).unwrap();
        connection.execute_batch("COMMIT").unwrap();
    }

    #[test]
    fn pages_hold_what_a_statement_reads() {
        let (folder, mut random) = (TempDir::new().unwrap(), Random(7));
        for round in 0..60 {
            let page = 512 << random.below(8);
            let rows = [0, 1, 5, 300, 2_000][random.below(5) as usize];
            let connection = made(&folder, page, |connection| {
                if round % 3 == 0 {
                    connection.pragma_update(None, "auto_vacuum", "FULL").unwrap();
                }
                fill(connection, &mut random, rows);
            });
            let cut = random.below(rows + 100) as i64 - 50;
            for range in [(i64::MIN, i64::MAX), (cut, cut), (i64::MIN, cut), (cut + 1, i64::MAX), (5, 4)]
            {
                let expected = by_statement(&connection, range);
                let found = by_pages(&connection, range).unwrap();
                assert!(found == expected, "round {round}, {page} bytes, {rows} rows, {range:?}");
            }
        }
    }

    #[test]
    fn columns_that_came_later_are_null_in_older_rows() {
        let folder = TempDir::new().unwrap();
        let connection = made(&folder, 4096, |connection| {
            let first = "CREATE TABLE THING (a INTEGER, text TEXT, kind INT, other BLOB);
                         INSERT INTO THING VALUES (1, 'x', 0, NULL);
                         ALTER TABLE THING ADD COLUMN b BIGINT; ALTER TABLE THING ADD COLUMN c INTEGER;
                         INSERT INTO THING VALUES (2, 'y', 1, NULL, 3, 4)";
            connection.execute_batch(first).unwrap();
        });
        let all = (i64::MIN, i64::MAX);
        let found = by_pages(&connection, all).unwrap();
        assert_eq!(found, by_statement(&connection, all));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn tables_that_are_not_plain_are_left_to_sqlite() {
        let folder = TempDir::new().unwrap();
        let good = "INSERT INTO THING (a, text, kind, b, c) VALUES (1, 'x', 0, 2, 3)";
        for (what, sql) in [
            (
                "a named row number",
                "CREATE TABLE THING (a INTEGER PRIMARY KEY, text TEXT, kind INT, b INT, c INT)",
            ),
            (
                "no row numbers",
                "CREATE TABLE THING (a INT PRIMARY KEY, text TEXT, kind INT, b INT, c INT) WITHOUT ROWID",
            ),
            ("a default", "CREATE TABLE THING (a INT, text TEXT, kind INT, b INT, c INT DEFAULT 5)"),
            (
                "a generated column",
                "CREATE TABLE THING (a INT, text TEXT, kind INT, b INT, c INT, d INT AS (a + 1))",
            ),
            (
                "a column called rowid",
                "CREATE TABLE THING (a INT, text TEXT, kind INT, b INT, c INT, RowId INT)",
            ),
            (
                "a column that converts its values",
                "CREATE TABLE THING (a INT, text TEXT, kind INT, b REAL, c INT)",
            ),
            ("a missing column", "CREATE TABLE THING (a INT, text TEXT, kind INT, b INT)"),
            (
                "a view",
                "CREATE TABLE X (a INT, text TEXT, kind INT, b INT, c INT); CREATE VIEW THING AS SELECT * FROM X",
            ),
            ("UTF-16", &format!("PRAGMA encoding = 'UTF-16le'; {TABLE}; {good}")),
            ("a write-ahead log", &format!("PRAGMA journal_mode = WAL; {TABLE}; {good}")),
            (
                "a text in an integer column",
                &format!("{TABLE}; INSERT INTO THING (a, kind) VALUES ('x', 0)"),
            ),
            ("a fraction", &format!("{TABLE}; INSERT INTO THING (a, kind) VALUES (1.5, 0)")),
        ] {
            let connection = made(&folder, 4096, |connection| connection.execute_batch(sql).unwrap());
            assert_eq!(by_pages(&connection, (i64::MIN, i64::MAX)), None, "{what}");
        }
        let connection = made(&folder, 4096, |connection| {
            connection.execute_batch(&format!("{TABLE}; {good}")).unwrap();
        });
        assert_eq!(by_pages(&connection, (i64::MIN, i64::MAX)).map(|rows| rows.len()), Some(1));
    }

    #[test]
    fn coalesce_of_texts_is_left_to_sqlite() {
        let folder = TempDir::new().unwrap();
        let connection = made(&folder, 4096, |connection| {
            connection.execute_batch(TABLE).unwrap();
        });
        let table = table(&connection).unwrap();
        let all = (i64::MIN, i64::MAX);
        for (value, is_understood) in [("2", true), ("NULL", true), ("'x'", false), ("1.5", false)] {
            let row =
                format!("DELETE FROM main.THING; INSERT INTO main.THING (kind, c) VALUES (0, {value})");
            connection.execute_batch(&row).unwrap();
            let text = |row: &Row<'_>| row.text(4).map_or(Some(()), |_| None);
            let found = table.scan(&connection, all, || true, text);
            assert_eq!(found.is_some(), is_understood, "{value}");
        }
    }

    #[test]
    fn goes_on_is_called_for_rows_that_are_not_kept() {
        let folder = TempDir::new().unwrap();
        let connection = made(&folder, 4096, |connection| {
            let rows = "INSERT INTO THING (kind) VALUES (7), (7), (7)";
            connection.execute_batch(&format!("{TABLE}; {rows}")).unwrap();
        });
        let (mut met, mut taken) = (0, 0);
        let goes_on = || {
            met += 1;
            met < 3
        };
        let take = |_: &Row<'_>| {
            taken += 1;
            Some(())
        };
        let all = (i64::MIN, i64::MAX);
        assert_eq!(table(&connection).unwrap().scan(&connection, all, goes_on, take), None);
        assert_eq!((met, taken), (3, 0));
    }

    /// SQLite reads an existing write-ahead log even if the file's header does not announce one.
    #[test]
    fn a_write_ahead_log_that_the_header_does_not_announce() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("made.sqlite");
        let writer = made(&folder, 4096, |connection| connection.execute_batch(TABLE).unwrap());
        writer.pragma_update(None, "journal_mode", "WAL").unwrap();
        writer.execute_batch("INSERT INTO main.THING (kind) VALUES (0), (0)").unwrap();
        let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(18)).unwrap();
        std::io::Write::write_all(&mut file, &[1, 1]).unwrap();
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch(VIEW).unwrap();
        let all = (i64::MIN, i64::MAX);
        assert_eq!(by_statement(&reader, all).len(), 2);
        assert_eq!(by_pages(&reader, all), None);
    }

    /// SQLite ignores a wrong key in an inner page, because it walks from leaf to leaf.
    #[test]
    fn a_tree_out_of_order_is_left_to_sqlite() {
        let folder = TempDir::new().unwrap();
        drop(made(&folder, 4096, |connection| {
            let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) \
                        INSERT INTO THING (a, kind) SELECT i, 0 FROM n";
            connection.execute_batch(&format!("{TABLE}; {rows}")).unwrap();
        }));
        let path = folder.path().join("made.sqlite");
        let mut bytes = std::fs::read(&path).unwrap();
        // The root is on the second page. Its third cell is a four-byte page number and a two-byte key.
        let root = &mut bytes[4096..8192];
        assert_eq!(root[0], 5);
        let cell = usize::from(u16::from_be_bytes([root[16], root[17]]));
        root[cell + 4..cell + 6].copy_from_slice(&[0x80, 100]);
        std::fs::write(&path, &bytes).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(VIEW).unwrap();
        assert_eq!(by_statement(&connection, (1, 3_000)).len(), 3_000);
        assert_eq!(by_pages(&connection, (1, 3_000)), None);
    }

    /// Decoding ends for any bytes, with rows or with `None`.
    #[test]
    fn decoding_damaged_pages_ends() {
        let (folder, mut random) = (TempDir::new().unwrap(), Random(11));
        drop(made(&folder, 1024, |connection| fill(connection, &mut random, 2_000)));
        let path = folder.path().join("made.sqlite");
        let whole = std::fs::read(&path).unwrap();
        let (mut answered, mut refused) = (0, 0);
        for _ in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(8) {
                let at = random.below(bytes.len() as u64) as usize;
                // Mostly in the header of a page: elsewhere it only changes a value.
                let at = if random.below(3) == 0 { at } else { at / 1024 * 1024 + at % 16 };
                bytes[at] = random.below(256) as u8;
            }
            bytes.truncate(
                bytes.len() - if random.below(4) == 0 { random.below(5_000) as usize } else { 0 },
            );
            std::fs::write(&path, &bytes).unwrap();
            let connection = Connection::open(&path).unwrap();
            match by_pages(&connection, (i64::MIN, i64::MAX)) {
                Some(_) => answered += 1,
                None => refused += 1,
            }
        }
        assert!(answered > 20 && refused > 20, "{answered} answered, {refused} refused");
    }
}
