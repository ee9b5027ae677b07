//! Queries, relations and lists as virtual tables that need no CREATE. A query takes its parameters as arguments.
//!
//! `unsafe` is needed because rusqlite's traits require that SQLite's own struct comes first in memory.
//! `repr(C)` and the first field guarantee that.
#![allow(unsafe_code)]

use crate::host::Host;
use crate::offer::{EVERYTHING, Kind, Offer};
use crate::plan::{Argument, Comparison, Plan, best_index};
use crate::rows::{Kept, Key, Row, Stream};
use nsq::catalog::{Catalog, ColumnSpec, Source};
use nsq::{Cancel, Column, Error, Type, Value};
use rusqlite::types::{Null, ValueRef};
use rusqlite::vtab::{
    Context, Filters, IndexInfo, Module, VTab, VTabConnection, VTabCursor, sqlite3_vtab,
    sqlite3_vtab_cursor,
};
use rusqlite::{Result, ffi};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The module of all tables.
pub(crate) const MODULE: &Module<'static, Table> = &Module::eponymous_only_module();

/// A table on a connection.
#[repr(C)]
pub(crate) struct Table {
    base: sqlite3_vtab,
    host: Host,
    shape: Arc<Shape>,
}

/// What a table is, and its columns.
#[derive(Debug)]
struct Shape {
    offer: Arc<Offer>,
    columns: Vec<Column>,
    /// The parameters of a query, which are hidden columns after the others.
    parameters: Vec<String>,
}

impl Shape {
    fn of(offer: &Arc<Offer>) -> nsq::Result<Self> {
        let catalog = offer.asked.library.catalog();
        let (columns, parameters) = match offer.kind {
            Kind::Query => {
                let header = &catalog.query(&offer.name)?.header;
                let columns = header.columns.iter().map(ColumnSpec::to_column).collect();
                (columns, header.params.iter().map(|parameter| parameter.name.clone()).collect())
            }
            Kind::Relation => (columns_of(catalog, &offer.name)?, Vec::new()),
            Kind::List(list) => (list.columns(), Vec::new()),
        };
        Ok(Self { offer: Arc::clone(offer), columns, parameters })
    }

    /// The table for SQLite. A parameter whose name is that of a column has `_param` after it.
    fn declaration(&self) -> String {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let column = |column: &Column| format!("{} {}", quoted(&column.name), affinity(column.kind));
        let parameter = |name: &String| {
            let is_taken = self.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
            format!("{} HIDDEN", quoted(&if is_taken { format!("{name}_param") } else { name.clone() }))
        };
        let columns = self.columns.iter().map(column).chain(self.parameters.iter().map(parameter));
        format!("CREATE TABLE x({})", columns.collect::<Vec<_>>().join(", "))
    }

    /// Asks for the rows that meet the plan, or for more. All are asked for where `compared` is false.
    fn ask(&self, plan: &Plan, values: &[Value], compared: bool) -> nsq::Result<Stream> {
        let asked = &self.offer.asked;
        if let Kind::List(list) = self.offer.kind {
            let rows = list.rows(asked.library.catalog())?;
            return Stream::begin(Cancel::default(), move |sink| {
                rows.into_iter().try_for_each(|row| sink.row(&row)).and_then(|()| sink.end())
            });
        }
        let (report, scope, cancel) = (asked.report()?, asked.scope(), Cancel::default());
        let stopped = cancel.clone();
        if self.offer.kind == Kind::Query {
            let mut given: Vec<(String, String)> = Vec::new();
            for (argument, value) in plan.arguments.iter().zip(values) {
                let Argument::Parameter(place) = argument else { continue };
                // NULL leaves the default, as in `top_kernels(NULL, 5)`.
                if let (Some(name), Some(text)) = (self.parameters.get(*place), text_of(value)) {
                    given.push((name.clone(), text));
                }
            }
            let name = self.offer.name.clone();
            return Stream::begin(cancel, move |sink| {
                let question = report.query(&name).scope(&scope).cancel(&stopped);
                let given = given.iter();
                let question =
                    given.fold(question, |question, (name, value)| question.param(name, value));
                question.run_into(sink).map(drop)
            });
        }
        let (statement, bound) = self.statement(plan, values, compared);
        Stream::begin(cancel, move |sink| {
            let question = report.sql(&statement).scope(&scope).cancel(&stopped);
            let bound = bound.into_iter();
            let question = bound.fold(question, |question, (name, value)| question.bind(&name, value));
            question.run_into(sink).map(drop)
        })
    }

    /// The statement for the rows of a relation, with the columns that are read, and its values.
    fn statement(
        &self,
        plan: &Plan,
        values: &[Value],
        compared: bool,
    ) -> (String, Vec<(String, Value)>) {
        let column = |(place, column): (usize, &Column)| match plan.uses(place) {
            true => format!("\"{}\"", column.name),
            false => "NULL".to_owned(),
        };
        let columns: Vec<String> = self.columns.iter().enumerate().map(column).collect();
        let mut statement = format!("SELECT {} FROM \"{}\"", columns.join(", "), self.offer.name);
        let (mut conditions, mut bound) = (Vec::new(), Vec::new());
        for (argument, value) in plan.arguments.iter().zip(values).filter(|_| compared) {
            let Argument::Compared(place, comparison) = argument else { continue };
            let Some(column) = self.columns.get(*place) else { continue };
            // Without affinity, the statement compares values of one type only. SQLite compares the others itself.
            let is_same = match value {
                Value::Int(_) | Value::Real(_) => column.kind.is_numeric(),
                Value::Text(_) => column.kind == Type::Text,
                Value::Null => false,
            };
            if is_same {
                let name = format!("value{}", bound.len());
                conditions.push(format!("\"{}\" {} :{name}", column.name, comparison.sql()));
                bound.push((name, value.clone()));
            }
        }
        if !conditions.is_empty() {
            statement = format!("{statement} WHERE {}", conditions.join(" AND "));
        }
        (statement, bound)
    }
}

/// The columns of a relation, or of the view of a raw table.
fn columns_of(catalog: &Catalog, name: &str) -> nsq::Result<Vec<Column>> {
    let known = |name: &str| match catalog.relation(name) {
        Some(relation) => Some(
            relation.map(|relation| relation.header.columns.iter().map(ColumnSpec::to_column).collect()),
        ),
        None => catalog.source(name).map(|source| source.map(Source::view_columns)),
    };
    let found = known(name).or_else(|| name.strip_prefix(EVERYTHING).and_then(known));
    found.unwrap_or_else(|| Err(Error::unknown("relation", name, [], "")))
}

fn affinity(kind: Type) -> &'static str {
    match kind {
        Type::Text => "TEXT",
        Type::Real | Type::Percent => "REAL",
        Type::Any => "",
        _ => "INTEGER",
    }
}

/// An argument as a parameter is given on the command line; `None` for null.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Int(int) => Some(int.to_string()),
        Value::Real(real) => Some(real.to_string()),
        Value::Text(text) => Some(text.clone()),
    }
}

fn value_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(int) => Value::Int(int),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

/// An error of nsq for SQLite, with what to do about it.
fn failed(error: Error) -> rusqlite::Error {
    if matches!(error, Error::Interrupted) {
        return rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None);
    }
    let help = error.help().filter(|help| !help.is_empty());
    let text = error.to_string();
    rusqlite::Error::ModuleError(match help {
        Some(help) => format!("{}\nhelp: {help}", text.trim_end()),
        None => text,
    })
}

/// Calls `work`, and makes a panic an error of the statement: one that reached SQLite would end the program.
fn without_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(rusqlite::Error::ModuleError("nsq failed. Please report it".to_owned())))
}

// SAFETY: `base` is the first field of a `repr(C)` struct.
unsafe impl<'vtab> VTab<'vtab> for Table {
    type Aux = Arc<Offer>;
    type Cursor = Cursor<'vtab>;

    fn connect(
        db: &mut VTabConnection,
        offer: Option<&Self::Aux>,
        _module: &[u8],
        _database: &[u8],
        _table: &[u8],
        _args: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let offer = offer.ok_or(rusqlite::Error::InvalidQuery)?;
        let shape = without_panic(|| Shape::of(offer).map_err(failed))?;
        let declaration = CString::new(shape.declaration())?;
        // SAFETY: SQLite disconnects the table before the connection closes, and calls it on the thread that steps.
        let host = unsafe { Host::new(db.handle()) };
        Ok((declaration.into(), Self { base: sqlite3_vtab::default(), host, shape: Arc::new(shape) }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        best_index(info, self.shape.columns.len())
    }

    fn open(&'vtab mut self) -> Result<Self::Cursor> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            host: self.host,
            shape: Arc::clone(&self.shape),
            rows: Scan::Nothing,
            row: None,
            number: 0,
            asked: None,
            table: PhantomData,
        })
    }
}

/// Where the rows of a scan come from.
enum Scan {
    /// No scan yet.
    Nothing,
    /// The question that is asked.
    Asked(Stream),
    /// All rows that are kept, from a place on, or those at some places.
    All(usize),
    Found(std::vec::IntoIter<usize>),
}

/// A scan of a table, which a join repeats.
#[repr(C)]
pub(crate) struct Cursor<'vtab> {
    base: sqlite3_vtab_cursor,
    host: Host,
    shape: Arc<Shape>,
    rows: Scan,
    row: Option<Row>,
    number: i64,
    /// The parameters of the scan before, and its rows if they are kept.
    asked: Option<(Vec<Value>, Option<Kept>)>,
    table: PhantomData<&'vtab Table>,
}

impl Cursor<'_> {
    fn scan(&mut self, plan: &Plan, values: &[Value]) -> nsq::Result<()> {
        // The scan before ends first.
        (self.rows, self.row, self.number) = (Scan::Nothing, None, 0);
        let arguments = || plan.arguments.iter().zip(values);
        let parameters: Vec<Value> = arguments()
            .filter(|(argument, _)| matches!(argument, Argument::Parameter(_)))
            .map(|(_, value)| value.clone())
            .collect();
        let is_again = self.asked.as_ref().is_some_and(|(before, _)| *before == parameters);
        if !is_again {
            self.asked = Some((parameters, None));
        }
        if !is_again && !plan.is_joined {
            self.rows = Scan::Asked(self.shape.ask(plan, values, true)?);
            return self.step();
        }
        let Some((_, kept)) = &mut self.asked else { return Ok(()) };
        let kept = match kept {
            Some(kept) => kept,
            None => kept.insert(Kept::of(self.shape.ask(plan, values, false)?, self.host)?),
        };
        let (mut columns, mut keys, mut is_beyond) = (Vec::new(), Vec::new(), false);
        for (argument, value) in arguments() {
            let Argument::Compared(place, Comparison::Equal) = argument else { continue };
            let kind = self.shape.columns.get(*place).map_or(Type::Any, |column| column.kind);
            match Key::of_compared(value, kind) {
                Some(key) => {
                    columns.push(*place);
                    keys.push(key);
                }
                None => is_beyond = true,
            }
        }
        self.rows = match is_beyond || columns.is_empty() {
            true => Scan::All(0),
            false => Scan::Found(kept.find(&columns, &keys).to_vec().into_iter()),
        };
        self.step()
    }

    fn step(&mut self) -> nsq::Result<()> {
        let kept = self.asked.as_ref().and_then(|(_, kept)| kept.as_ref());
        let at = |place: usize| kept.and_then(|kept| kept.row(place)).cloned();
        self.row = match &mut self.rows {
            Scan::Nothing => None,
            Scan::Asked(stream) => stream.next(self.host)?,
            Scan::All(place) => {
                *place += 1;
                at(*place - 1)
            }
            Scan::Found(places) => places.next().and_then(at),
        };
        self.number += 1;
        Ok(())
    }
}

// SAFETY: `base` is the first field of a `repr(C)` struct.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(&mut self, _: c_int, plan: Option<&str>, arguments: &Filters<'_>) -> Result<()> {
        without_panic(|| {
            let plan =
                plan.and_then(|plan| plan.parse::<Plan>().ok()).ok_or(rusqlite::Error::InvalidQuery)?;
            let values: Vec<Value> = arguments.iter().map(value_of).collect();
            self.scan(&plan, &values).map_err(failed)
        })
    }

    fn next(&mut self) -> Result<()> {
        without_panic(|| self.step().map_err(failed))
    }

    fn eof(&self) -> bool {
        self.row.is_none()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let cell = usize::try_from(column).ok().and_then(|column| self.row.as_ref()?.get(column));
        match cell {
            // A parameter, or after the last row.
            None | Some(Value::Null) => context.set_result(Null),
            Some(Value::Int(int)) => context.set_result(*int),
            Some(Value::Real(real)) => context.set_result(*real),
            Some(Value::Text(text)) => context.set_result(text.as_str()),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.number)
    }
}
