//! Table functions: tables whose rows follow from the arguments of a call.
//!
//! `unsafe` is needed because rusqlite's traits require that SQLite's own struct comes first in memory.
//! `repr(C)` and the first field guarantee that.
#![allow(unsafe_code)]

use rusqlite::types::ValueRef;
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection,
    VTabCursor, sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Connection, Result};
use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;

/// The rows of a table function. By default there are none.
pub(super) trait TableFunction: Default + 'static {
    /// Its columns, and after these its arguments, which are hidden.
    const TABLE: &'static CStr;
    /// The number of its columns.
    const COLUMNS: c_int;
    /// The number of its arguments.
    const ARGUMENTS: c_int;

    /// Goes to the first row for these arguments.
    fn begin<'a>(&mut self, arguments: impl Iterator<Item = ValueRef<'a>>) -> Result<()>;

    /// Goes to the next row.
    fn next(&mut self);

    /// Whether the last row was passed.
    fn is_over(&self) -> bool;

    /// The value of a column.
    fn column(&self, context: &mut Context, column: c_int) -> Result<()>;
}

pub(super) fn register<F: TableFunction>(connection: &Connection, name: &CStr) -> Result<()> {
    connection.create_module(name, const { &Module::<Table<F>>::eponymous_only_module() }, None)
}

#[repr(C)]
struct Table<F> {
    base: sqlite3_vtab,
    function: PhantomData<F>,
}

// SAFETY: `base` is the first field of a `repr(C)` struct.
unsafe impl<'vtab, F: TableFunction> VTab<'vtab> for Table<F> {
    type Aux = ();
    type Cursor = Cursor<'vtab, F>;

    fn connect(
        db: &mut VTabConnection,
        _: Option<&()>,
        _module: &[u8],
        _database: &[u8],
        _table: &[u8],
        _args: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        db.config(VTabConfig::Innocuous)?;
        let table = Self { base: sqlite3_vtab::default(), function: PhantomData };
        Ok((Cow::Borrowed(F::TABLE), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        // The places of the constraints, by argument.
        let mut given = vec![None; F::ARGUMENTS as usize];
        for (place, constraint) in info.constraints().enumerate() {
            let argument = usize::try_from(constraint.column() - F::COLUMNS);
            let is_equal = constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ;
            if let Some(argument) = argument.ok().filter(|_| is_equal) {
                if !constraint.is_usable() {
                    // In this join order the argument is not known yet.
                    return Ok(false);
                }
                given[argument] = Some(place);
            }
        }
        let mut number = 0;
        for place in given.into_iter().flatten() {
            number += 1;
            let mut usage = info.constraint_usage(place);
            usage.set_argv_index(number);
            usage.set_omit(true);
        }
        // Without all arguments there are no rows.
        info.set_idx_num(c_int::from(number == F::ARGUMENTS));
        info.set_estimated_cost(10_000.0);
        info.set_estimated_rows(10_000);
        Ok(true)
    }

    fn open(&'vtab mut self) -> Result<Self::Cursor> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            rows: F::default(),
            row: 0,
            vtab: PhantomData,
        })
    }
}

#[repr(C)]
struct Cursor<'vtab, F> {
    base: sqlite3_vtab_cursor,
    rows: F,
    row: i64,
    vtab: PhantomData<&'vtab Table<F>>,
}

// SAFETY: `base` is the first field of a `repr(C)` struct.
unsafe impl<F: TableFunction> VTabCursor for Cursor<'_, F> {
    fn filter(&mut self, has_all: c_int, _: Option<&str>, arguments: &Filters<'_>) -> Result<()> {
        (self.rows, self.row) = (F::default(), 0);
        if has_all == 1 { self.rows.begin(arguments.iter()) } else { Ok(()) }
    }

    fn next(&mut self) -> Result<()> {
        self.row += 1;
        self.rows.next();
        Ok(())
    }

    fn eof(&self) -> bool {
        self.rows.is_over()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        self.rows.column(context, column)
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.row)
    }
}
