//! Native relations as SQLite virtual tables, so that SQL can join them.
//!
//! `unsafe` is needed because rusqlite's traits require that SQLite's own struct comes first in memory.
//! `repr(C)` and the first field guarantee that.
#![allow(unsafe_code)]

use super::natives::{Answered, Natives, interrupted};
use super::relation::{Cell, Key};
use rusqlite::types::Null;
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, VTab, VTabConfig, VTabConnection,
    VTabCursor, VTabKind, sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Error, Result};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// A scan of all rows.
const SCAN: c_int = 0;
/// A look-up by [`super::relation::Relation::key`].
const LOOKUP: c_int = 1;

/// Rows that the query planner assumes for a scan: the real count is not known before the data is read.
const SCAN_ROWS: i64 = 1_000_000;

/// Rows between two looks at the deadline and Ctrl-C.
const ROWS_A_CHECK: usize = 64;

/// A native relation on a connection.
#[repr(C)]
pub(super) struct NativeTable<R: Answered> {
    base: sqlite3_vtab,
    natives: Arc<Natives>,
    relation: R,
    input: usize,
    /// For each column of the relation's front matter, its place in [`super::relation::Relation::columns`].
    columns: Vec<usize>,
}

// SAFETY: `base` is the first field of a `repr(C)` struct.
unsafe impl<'vtab, R: Answered> VTab<'vtab> for NativeTable<R> {
    type Aux = Arc<Natives>;
    type Cursor = Cursor<'vtab, R>;

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
        let relation =
            R::named(&native.relation).ok_or_else(|| unknown("nsq does not know how to compute it"))?;
        let known = relation.columns();
        let place = |name: &String| {
            let place = known.iter().position(|known| known == name);
            place.ok_or_else(|| unknown(&format!("nsq does not compute a column {name}")))
        };
        let columns = native.columns.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let ddl = CString::new(format!("CREATE TABLE x({})", native.columns.join(", ")))
            .map_err(|_| unknown("a column's name holds a zero byte"))?;
        let table = Self {
            base: sqlite3_vtab::default(),
            natives: Arc::clone(natives),
            relation,
            input: native.input,
            columns,
        };
        Ok((ddl.into(), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let wanted: Vec<Option<usize>> =
            self.relation.key().iter().map(|name| self.constraint_on(info, name)).collect();
        if !wanted.is_empty()
            && let Some(found) = wanted.into_iter().collect::<Option<Vec<usize>>>()
        {
            for (argument, constraint) in (1..).zip(found) {
                let mut usage = info.constraint_usage(constraint);
                usage.set_argv_index(argument);
                usage.set_omit(self.relation.is_found_exactly());
            }
            info.set_idx_num(LOOKUP);
            info.set_order_by_consumed(self.comes_in(info));
            info.set_estimated_cost(self.relation.rows_per_key() as f64);
            info.set_estimated_rows(self.relation.rows_per_key());
            return Ok(true);
        }
        if self.relation.is_asked_by_key()
            && self.relation.key().iter().all(|name| self.is_constrained(info, name))
        {
            // In this join order the other side of the comparison comes later: reject the order.
            return Ok(false);
        }
        if !self.relation.is_ordered_by_key() {
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
            relation: self.relation,
            input: self.input,
            columns: self.columns.clone(),
            answers: None,
            is_scan: true,
            key: Key::default(),
            rows: 0..0,
            index: 0,
            row: OnceCell::new(),
            vtab: PhantomData,
        })
    }
}

impl<R: Answered> NativeTable<R> {
    /// Whether the rows come in the order that the statement asks for.
    fn comes_in(&self, info: &IndexInfo) -> bool {
        let order = self.relation.order();
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
        self.relation.columns().get(place).copied()
    }

    /// Whether there is a constraint `name = …`, usable or not.
    fn is_constrained(&self, info: &IndexInfo, name: &str) -> bool {
        info.constraints().any(|constraint| {
            constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ
                && self.name_of(constraint.column()) == Some(name)
        })
    }

    /// The place of the usable constraint `name = …`.
    fn constraint_on(&self, info: &IndexInfo, name: &str) -> Option<usize> {
        info.constraints().enumerate().position(|(place, constraint)| {
            constraint.is_usable()
                // Look-ups compare exactly; NOCASE would match more rows.
                && info.collation(place).is_ok_and(|collation| collation == "BINARY")
                && constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ
                && self.name_of(constraint.column()) == Some(name)
        })
    }
}

impl<R: Answered> CreateVTab<'_> for NativeTable<R> {
    const KIND: VTabKind = VTabKind::Default;
}

/// A cursor over a native relation.
#[repr(C)]
pub(super) struct Cursor<'vtab, R: Answered> {
    base: sqlite3_vtab_cursor,
    natives: Arc<Natives>,
    relation: R,
    input: usize,
    columns: Vec<usize>,
    answers: Option<Arc<R::Answers>>,
    /// Whether `rows` are those of a scan; otherwise a key found them.
    is_scan: bool,
    /// The key that the rows were looked up by.
    key: Key,
    rows: Range<usize>,
    /// The index of the first of `rows`.
    index: usize,
    /// What the cells of that row have in common, once one is read.
    row: OnceCell<R::Row>,
    vtab: PhantomData<&'vtab NativeTable<R>>,
}

/// Fails if a part of the data could not be read, or was stopped halfway.
fn must_be_whole<R: Answered>(answers: &R::Answers) -> Result<()> {
    match R::failure(answers) {
        Some(failure) => Err(Error::ModuleError(failure.to_owned())),
        None if R::is_stopped(answers) => Err(interrupted()),
        None => Ok(()),
    }
}

impl<R: Answered> Cursor<'_, R> {
    /// Sets `index` to that of the current row.
    fn update_index(&mut self) {
        let Some(answers) = self.answers.as_ref().filter(|_| !self.rows.is_empty()) else { return };
        let row = self.rows.start;
        self.row = OnceCell::new();
        self.index = match self.is_scan {
            true => self.relation.index(answers, row),
            false => self.relation.found(answers, row),
        };
    }
}

// SAFETY: `base` is the first field of a `repr(C)` struct.
unsafe impl<R: Answered> VTabCursor for Cursor<'_, R> {
    fn filter(&mut self, plan: c_int, _: Option<&str>, arguments: &Filters<'_>) -> Result<()> {
        let answers = match &self.answers {
            Some(answers) => Arc::clone(answers),
            None => R::answers(&self.natives, self.input)?,
        };
        self.is_scan = plan == SCAN;
        if self.is_scan {
            self.key = Key::default();
            self.rows = 0..self.relation.rows(&answers);
        } else {
            self.key.set(arguments.iter());
            self.rows = self.relation.find(&answers, &self.key);
        }
        self.natives.check_limits()?;
        // Data that could not be read has no rows, so no cell would tell.
        must_be_whole::<R>(&answers)?;
        self.answers = Some(answers);
        self.update_index();
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        // SQLite's progress handler counts its own steps; rows here can take as long as thousands.
        if self.rows.start.is_multiple_of(ROWS_A_CHECK) {
            self.natives.check_limits()?;
        }
        self.rows.start += 1;
        self.update_index();
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
        let row = self.row.get_or_init(|| self.relation.row(answers, self.index, &self.key));
        let cell = self.relation.cell(answers, place, self.index, row);
        must_be_whole::<R>(answers)?;
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
