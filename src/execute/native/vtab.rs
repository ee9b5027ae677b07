//! Native relations as SQLite's virtual tables, so that SQL joins them like any other.
//!
//! The only `unsafe` of the crate stands here: rusqlite asks implementers to promise that SQLite's
//! own part of a table or cursor comes first in memory, which `repr(C)` and the first field see to.
#![allow(unsafe_code)]

use super::Natives;
use super::answers::Answers;
use super::tables::{Cell, Table};
use rusqlite::types::{Null, ValueRef};
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, VTab, VTabConfig, VTabConnection,
    VTabCursor, VTabKind, sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Error, Result};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// A scan of all rows.
const SCAN: c_int = 0;
/// A look-up by [`Table::key`].
const LOOKUP: c_int = 1;

/// What a scan is taken to cost: the rows are not counted before they are needed.
const SCAN_ROWS: i64 = 1_000_000;

/// A native relation on a connection.
#[repr(C)]
pub(super) struct NativeTable {
    base: sqlite3_vtab,
    natives: Arc<Natives>,
    table: Table,
    input: usize,
    /// For each column of the relation's front matter, its place in [`Table::columns`].
    columns: Vec<usize>,
}

// SAFETY: `base` is the first field of a `repr(C)` struct.
unsafe impl<'vtab> VTab<'vtab> for NativeTable {
    type Aux = Arc<Natives>;
    type Cursor = Cursor<'vtab>;

    fn connect(
        db: &mut VTabConnection,
        natives: Option<&Self::Aux>,
        _module: &[u8],
        _database: &[u8],
        object: &[u8],
        _args: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        db.config(VTabConfig::Innocuous)?;
        let object = String::from_utf8_lossy(object).into_owned();
        let unknown = |what: &str| Error::ModuleError(format!("{object}: {what}"));
        let natives = natives.ok_or_else(|| unknown("made without its input"))?;
        let native = natives.native(&object).ok_or_else(|| unknown("not a native relation"))?;
        let table = Table::named(&native.relation)
            .ok_or_else(|| unknown("nsq does not know how to compute it"))?;
        let place = |name: &String| {
            let place = table.columns().iter().position(|(known, _)| known == name);
            place.ok_or_else(|| unknown(&format!("nsq does not compute a column {name}")))
        };
        let columns = native.columns.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let ddl = CString::new(format!("CREATE TABLE x({})", native.columns.join(", ")))
            .map_err(|_| unknown("a column's name holds a zero byte"))?;
        let table = Self {
            base: sqlite3_vtab::default(),
            natives: Arc::clone(natives),
            table,
            input: native.input,
            columns,
        };
        Ok((ddl.into(), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let wanted: Vec<Option<usize>> =
            self.table.key().iter().map(|name| self.constraint_on(info, name)).collect();
        if !wanted.is_empty()
            && let Some(found) = wanted.into_iter().collect::<Option<Vec<usize>>>()
        {
            for (argument, constraint) in (1..).zip(found) {
                info.constraint_usage(constraint).set_argv_index(argument);
            }
            info.set_idx_num(LOOKUP);
            // The rows of one naming come in order; of all of them, one naming after the other.
            info.set_order_by_consumed(self.comes_in(info));
            info.set_estimated_cost(1.0);
            info.set_estimated_rows(1);
            return Ok(true);
        }
        if self.table != Table::RangeKernel {
            info.set_order_by_consumed(self.comes_in(info));
        }
        info.set_idx_num(SCAN);
        info.set_estimated_cost(SCAN_ROWS as f64);
        info.set_estimated_rows(SCAN_ROWS);
        Ok(true)
    }

    fn open(&'vtab mut self) -> Result<Self::Cursor> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            natives: Arc::clone(&self.natives),
            table: self.table,
            input: self.input,
            columns: self.columns.clone(),
            answers: None,
            is_scan: true,
            rows: 0..0,
            index: 0,
            vtab: PhantomData,
        })
    }
}

impl NativeTable {
    /// The rows come in the order that is asked for.
    fn comes_in(&self, info: &IndexInfo) -> bool {
        let order = self.table.order();
        let mut wanted = info.order_bys().enumerate();
        info.order_bys().next().is_some()
            && wanted.all(|(place, by)| {
                order.get(place).is_some_and(|&(name, is_descending)| {
                    self.name_of(by.column()) == Some(name) && by.is_order_by_desc() == is_descending
                })
            })
    }

    fn name_of(&self, column: c_int) -> Option<&'static str> {
        let place = *self.columns.get(usize::try_from(column).ok()?)?;
        Some(self.table.columns()[place].0)
    }

    /// The usable constraint `name = …`.
    fn constraint_on(&self, info: &IndexInfo, name: &str) -> Option<usize> {
        info.constraints().enumerate().position(|(place, constraint)| {
            constraint.is_usable()
                // Keys are compared as they are; NOCASE would want more rows.
                && info.collation(place).is_ok_and(|collation| collation == "BINARY")
                && constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ
                && self.name_of(constraint.column()) == Some(name)
        })
    }
}

impl CreateVTab<'_> for NativeTable {
    const KIND: VTabKind = VTabKind::Default;
}

/// A place in a native relation.
#[repr(C)]
pub(super) struct Cursor<'vtab> {
    base: sqlite3_vtab_cursor,
    natives: Arc<Natives>,
    table: Table,
    input: usize,
    columns: Vec<usize>,
    answers: Option<Arc<Answers>>,
    /// Rows lead to indices; else they are indices.
    is_scan: bool,
    rows: Range<usize>,
    /// The index of the first of `rows`.
    index: usize,
    vtab: PhantomData<&'vtab NativeTable>,
}

impl Cursor<'_> {
    fn settle(&mut self) {
        let Some(answers) = self.answers.as_ref().filter(|_| !self.rows.is_empty()) else { return };
        let row = self.rows.start;
        self.index = if self.is_scan { self.table.index(answers, row) } else { row };
    }
}

// SAFETY: `base` is the first field of a `repr(C)` struct.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(&mut self, plan: c_int, _: Option<&str>, arguments: &Filters<'_>) -> Result<()> {
        let answers = match &self.answers {
            Some(answers) => Arc::clone(answers),
            None => self.natives.answers(self.input)?,
        };
        self.is_scan = plan == SCAN;
        if !self.is_scan {
            let (mut text, mut number) = (String::new(), None);
            for argument in arguments.iter() {
                match argument {
                    ValueRef::Text(bytes) => text = String::from_utf8_lossy(bytes).into_owned(),
                    ValueRef::Integer(int) => number = Some(int),
                    ValueRef::Real(real) if real.fract() == 0.0 => number = Some(real as i64),
                    _ => {}
                }
            }
            self.rows = self.table.find(&answers, &text, number.unwrap_or(-1));
        } else {
            self.rows = 0..self.table.rows(&answers);
        }
        self.natives.go_on()?;
        self.answers = Some(answers);
        self.settle();
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        self.rows.start += 1;
        self.settle();
        Ok(())
    }

    fn eof(&self) -> bool {
        self.rows.is_empty()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let Some(answers) = &self.answers else { return context.set_result(Null) };
        let Some(&place) = usize::try_from(column).ok().and_then(|column| self.columns.get(column))
        else {
            return context.set_result(Null);
        };
        let cell = (self.table.columns()[place].1)(answers, self.index);
        if let Some(failure) = answers.failure() {
            return Err(Error::ModuleError(failure.to_owned()));
        }
        match cell {
            Cell::Null => context.set_result(Null),
            Cell::Int(int) => context.set_result(int),
            Cell::Real(real) => context.set_result(real),
            Cell::Text(text) => context.set_result(text.as_ref()),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.index as i64)
    }
}
