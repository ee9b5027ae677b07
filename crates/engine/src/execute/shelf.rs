//! Queries over the answers of many reports, whose rows are not kept in memory.
//!
//! The rows are in TEMP tables: SQLite writes those to a file without a name when they are large, and the file is gone
//! when the program ends. What queries across reports answer becomes such a table, too, for those that ask them.

use super::Session;
use super::cells::bind;
use super::combine::{REPORT_COLUMNS, origin};
use super::insert::Insert;
use super::limits::Limits;
use crate::compile::Plan;
use crate::normalize::Installation;
use nsq_library::catalog::ClassMaps;
use nsq_report::schema::quote;
use nsq_value::error::Result;
use nsq_value::table::{ResultTable, RowSink};
use rusqlite::Connection;

/// Kibibytes of the tables that stay in memory.
const KEPT_KIB: i64 = 64 << 10;

/// Tables with the rows of reports, which [`Shelf::open`] makes readable.
#[derive(Debug)]
pub struct Shelf {
    connection: Connection,
}

impl Shelf {
    /// A shelf without tables.
    pub fn new() -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        // Nothing needs to survive a crash, or to be rolled back.
        connection.execute_batch(&format!(
            "PRAGMA temp.cache_size = -{KEPT_KIB}; PRAGMA temp.journal_mode = OFF; BEGIN"
        ))?;
        Ok(Self { connection })
    }

    /// Creates the table `name` for the answers of reports to a plan.
    pub fn create(&self, name: &str, plan: &Plan) -> Result<()> {
        let own = plan.columns.iter().map(|column| column.name.as_str());
        Insert::create_temp(&self.connection, name, REPORT_COLUMNS.into_iter().chain(own)).map(|_| ())
    }

    /// Adds the answer of a report to the table `name`.
    pub fn add(&self, name: &str, report: &str, side: usize, answer: &ResultTable) -> Result<()> {
        let origin = origin(report, side);
        let width = REPORT_COLUMNS.len() + answer.columns.len();
        let mut insert = Insert::into_temp(&self.connection, name, width)?;
        answer.rows.iter().try_for_each(|row| insert.row(origin.iter().chain(row)))
    }

    /// A session that reads the tables, and cannot do more.
    pub fn open(self, classes: &ClassMaps, limits: &Limits) -> Result<Session> {
        self.connection.execute_batch("COMMIT")?;
        let installation = Installation { classes: classes.clone(), ..Installation::default() };
        Session::begin(self.connection, &installation, limits)
    }
}

impl Session {
    /// Answers a plan across reports with the new table `name` of a shelf. `asked` has the table of the shelf for each
    /// query that the plan asks; `None`: no report has the data.
    pub fn shelve(
        &self,
        plan: &Plan,
        asked: &[Option<String>],
        name: &str,
        limits: &Limits,
    ) -> Result<()> {
        // The tables themselves, and no views: statements may read `rowid`, the order of the rows.
        let (mut make, mut undo) = (String::new(), String::new());
        for (place, (ask, table)) in plan.asks.iter().zip(asked).enumerate() {
            let wanted = quote(&ask.table);
            let first = asked.iter().position(|known| known == table).filter(|first| *first < place);
            match (table, first) {
                (Some(_), Some(first)) => {
                    let same = quote(&plan.asks[first].table);
                    make += &format!("CREATE TEMP TABLE {wanted} AS SELECT * FROM temp.{same};");
                    undo += &format!("DROP TABLE temp.{wanted};");
                }
                (Some(table), None) => {
                    let kept = quote(table);
                    make += &format!("ALTER TABLE temp.{kept} RENAME TO {wanted};");
                    undo += &format!("ALTER TABLE temp.{wanted} RENAME TO {kept};");
                }
                (None, _) => {
                    let own = ask.plan.columns.iter().map(|column| column.name.as_str());
                    let origin = REPORT_COLUMNS.into_iter().filter(|_| !ask.plan.across);
                    let columns: Vec<String> = origin.chain(own).map(quote).collect();
                    make += &format!("CREATE TEMP TABLE {wanted} ({});", columns.join(", "));
                    undo += &format!("DROP TABLE temp.{wanted};");
                }
            }
        }
        let (connection, rights) = (&self.connection, &self.rights);
        rights.with_all(connection, || Ok(connection.execute_batch(&make)?))?;
        // Checked with the right to read only, before it may write its rows.
        let width = self.prepare(plan)?.column_count();
        rights.with_all(connection, || {
            let columns = (0..width)
                .map(|place| plan.columns.get(place).map_or("", |column| column.name.as_str()));
            Insert::create_temp(connection, name, columns)?;
            rights.only_temp(rights.has_strings());
            let sql = format!("INSERT INTO temp.{} {}", quote(name), plan.sql);
            let mut insert = connection.prepare(&sql)?;
            bind(&mut insert, plan)?;
            insert.raw_execute().map_err(|e| self.explain(limits, e))?;
            rights.all();
            Ok(connection.execute_batch(&undo)?)
        })
    }

    /// Passes on the rows of the table `name` of a shelf, which a plan answered.
    pub fn shelved(
        &self,
        plan: &Plan,
        name: &str,
        limits: &Limits,
        sink: &mut dyn RowSink,
    ) -> Result<usize> {
        let sql = format!("SELECT * FROM temp.{}", quote(name));
        let plan = Plan { sql, bindings: Vec::new(), is_built_in: true, ..plan.clone() };
        self.run_statement(&plan, limits, sink)
    }
}
