//! Queries, relations and lists as virtual tables that need no CREATE. A query takes its parameters as arguments.
//!
//! `unsafe` is needed because rusqlite's traits require that SQLite's own struct comes first in memory.
//! `repr(C)` and the first field guarantee that.
#![allow(unsafe_code)]

use crate::batch::{Batch, CellRef};
use crate::host::Host;
use crate::offer::Offer;
use crate::plan::{Argument, Comparison, Plan, best_index};
use crate::rows::{Kept, Key, LookUps, Stream};
use crate::shape::Shape;
use nsq::{Error, Type, Value};
use rusqlite::types::{Null, ValueRef};
use rusqlite::vtab::{
    Context, Filters, IndexInfo, Module, VTab, VTabConnection, VTabCursor, sqlite3_vtab,
    sqlite3_vtab_cursor,
};
use rusqlite::{Result, ffi};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::ops::Range;
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
        best_index(info, self.shape.columns.len(), &self.shape.keys)
    }

    fn open(&'vtab mut self) -> Result<Self::Cursor> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            host: self.host,
            shape: Arc::clone(&self.shape),
            rows: Scan::Nothing,
            place: 0,
            is_over: true,
            number: 0,
            asked: None,
            look_ups: None,
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
    /// Rows that are kept, at these places.
    Kept(Places),
    /// The rows of a look-up, at these places.
    LookedUp(Batch, Range<usize>),
}

/// The places of rows that are kept.
enum Places {
    All(Range<usize>),
    Found(std::vec::IntoIter<usize>),
}

/// A scan of a table, which a join repeats.
#[repr(C)]
pub(crate) struct Cursor<'vtab> {
    base: sqlite3_vtab_cursor,
    host: Host,
    shape: Arc<Shape>,
    rows: Scan,
    /// The place of the row among those that are kept or looked up.
    place: usize,
    is_over: bool,
    number: i64,
    /// The parameters of the scan before, and its rows if they are kept.
    asked: Option<(Vec<Value>, Option<Kept>)>,
    /// The look-ups of a relation that must be asked with values, and their plan.
    look_ups: Option<(Plan, LookUps)>,
    table: PhantomData<&'vtab Table>,
}

impl Cursor<'_> {
    fn scan(&mut self, plan: &Plan, values: &[Value]) -> nsq::Result<()> {
        // The scan before ends first.
        (self.rows, self.is_over, self.number) = (Scan::Nothing, true, 0);
        if !self.shape.keys.is_empty() && plan.has(&self.shape.keys) {
            return self.look_up(plan, values);
        }
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
        self.rows = Scan::Kept(match is_beyond || columns.is_empty() {
            true => Places::All(0..kept.rows.len()),
            false => Places::Found(kept.find(&columns, &keys).to_vec().into_iter()),
        });
        self.step()
    }

    fn look_up(&mut self, plan: &Plan, values: &[Value]) -> nsq::Result<()> {
        // Null equals nothing.
        if values.contains(&Value::Null) {
            return Ok(());
        }
        let look_ups = match self.look_ups.take_if(|(known, _)| known == plan) {
            Some((_, look_ups)) => look_ups,
            None => self.shape.look_ups(plan)?,
        };
        let (_, look_ups) = self.look_ups.insert((plan.clone(), look_ups));
        let rows = look_ups.find(values.to_vec(), self.host)?;
        let places = 0..rows.len();
        self.rows = Scan::LookedUp(rows, places);
        self.step()
    }

    fn step(&mut self) -> nsq::Result<()> {
        let place = match &mut self.rows {
            Scan::Nothing => None,
            Scan::Asked(stream) => stream.step(self.host)?.then_some(0),
            Scan::Kept(Places::All(places)) | Scan::LookedUp(_, places) => places.next(),
            Scan::Kept(Places::Found(places)) => places.next(),
        };
        self.is_over = place.is_none();
        self.place = place.unwrap_or_default();
        self.number += 1;
        Ok(())
    }

    fn cell(&self, column: usize) -> CellRef<'_> {
        match &self.rows {
            Scan::Nothing => CellRef::Null,
            Scan::Asked(stream) => stream.cell(column),
            Scan::LookedUp(rows, _) => rows.cell(self.place, column),
            Scan::Kept(_) => {
                let kept = self.asked.as_ref().and_then(|(_, kept)| kept.as_ref());
                kept.map_or(CellRef::Null, |kept| kept.rows.cell(self.place, column))
            }
        }
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
        self.is_over
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        match usize::try_from(column).map_or(CellRef::Null, |column| self.cell(column)) {
            CellRef::Null => context.set_result(Null),
            CellRef::Int(int) => context.set_result(int),
            CellRef::Real(real) => context.set_result(real),
            CellRef::Text(text) => context.set_result(text),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.number)
    }
}
