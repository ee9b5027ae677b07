//! Native relations as SQLite virtual tables, so that SQL can join them.
//!
//! `unsafe` is needed because rusqlite's traits require that SQLite's own struct comes first in memory.
//! `repr(C)` and the first field guarantee that.
#![allow(unsafe_code)]

use super::natives::{Answered, Natives, interrupted};
use super::relation::{Access, Cell, Key};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{Null, ValueRef};
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, OrderBy, VTab, VTabConfig,
    VTabConnection, VTabCursor, VTabKind, sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Error, Result, ffi};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A scan of all rows.
const SCAN: c_int = 0;
/// A look-up by [`super::relation::Relation::key`].
const LOOKUP: c_int = 1;
/// A scan of the rows with a word in [`super::relation::Relation::filtered`].
const FILTER: c_int = 2;
/// A scan of the rows with any of several words.
const FILTER_IN: c_int = 3;
/// Added to one of these: the rows are asked for in the order on demand.
const REORDERED: c_int = 4;

/// Rows that the query planner assumes for a scan: the real count is not known before the data is read.
const SCAN_ROWS: i64 = 1_000_000;

/// Rows that the query planner assumes for the rows with a word.
const FILTERED_ROWS: i64 = 100_000;

/// Rows between two looks at the deadline and Ctrl-C.
const ROWS_A_CHECK: usize = 64;

/// A native relation on a connection.
#[repr(C)]
pub(super) struct NativeTable<R: Answered> {
    base: sqlite3_vtab,
    /// The connection that it was created on, which outlives it.
    connection: *mut ffi::sqlite3,
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
            // SAFETY: it is used for statements only, on the thread that steps those of the connection.
            connection: unsafe { db.handle() },
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
            for (argument, constraint) in (1..).zip(&found) {
                let mut usage = info.constraint_usage(*constraint);
                usage.set_argv_index(argument);
                usage.set_omit(self.relation.is_found_exactly());
            }
            let first = match info.rhs_value(found[0])? {
                Some(ValueRef::Text(text)) => str::from_utf8(text).ok().map(str::to_owned),
                _ => None,
            };
            let order = self.order(info, Access::Lookup(first.as_deref()));
            info.set_idx_num(LOOKUP | order);
            info.set_estimated_cost(self.relation.rows_per_key() as f64);
            info.set_estimated_rows(self.relation.rows_per_key());
            return Ok(true);
        }
        if let Some(name) = self.relation.filtered()
            && let Some(constraint) = self.constraint_on(info, name)
        {
            let is_list = info.set_in_constraint(constraint, true)?;
            let mut usage = info.constraint_usage(constraint);
            usage.set_argv_index(1);
            usage.set_omit(true);
            let plan = if is_list { FILTER_IN } else { FILTER };
            let order = self.order(info, Access::Scan);
            info.set_idx_num(plan | order);
            info.set_estimated_cost(FILTERED_ROWS as f64);
            info.set_estimated_rows(FILTERED_ROWS);
            return Ok(true);
        }
        if self.relation.is_asked_by_key()
            && self.relation.key().iter().all(|name| self.is_constrained(info, name))
        {
            // In this join order the other side of the comparison comes later: reject the order.
            return Ok(false);
        }
        let order = self.order(info, Access::Scan);
        info.set_idx_num(SCAN | order);
        info.set_estimated_cost(SCAN_ROWS as f64);
        info.set_estimated_rows(SCAN_ROWS);
        Ok(true)
    }

    fn open(&'vtab mut self) -> Result<Self::Cursor> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            connection: self.connection,
            natives: Arc::clone(&self.natives),
            relation: self.relation,
            input: self.input,
            columns: self.columns.clone(),
            answers: None,
            is_scan: true,
            is_reordered: false,
            bits: None,
            key: Key::default(),
            rows: 0..0,
            index: 0,
            row: OnceCell::new(),
            vtab: PhantomData,
        })
    }
}

impl<R: Answered> NativeTable<R> {
    /// Tells SQLite whether the rows come in the order that the statement asks for. Returns [`REORDERED`] if they must be
    /// reordered for that.
    fn order(&self, info: &mut IndexInfo, access: Access<'_>) -> c_int {
        let by = |by: OrderBy<'_>| self.name_of(by.column()).map(|name| (name, by.is_order_by_desc()));
        let wanted = || info.order_bys().map(by);
        let mut orders = self.relation.orders(access).iter();
        let found = wanted().next().and_then(|_| orders.find(|order| order.satisfies(wanted())));
        let (is_found, is_on_demand) = (found.is_some(), found.is_some_and(|order| order.is_on_demand));
        info.set_order_by_consumed(is_found);
        if is_on_demand { REORDERED } else { 0 }
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
    connection: *mut ffi::sqlite3,
    natives: Arc<Natives>,
    relation: R,
    input: usize,
    columns: Vec<usize>,
    answers: Option<Arc<R::Answers>>,
    /// Whether `rows` are those of a scan; otherwise a key found them.
    is_scan: bool,
    /// Whether they come in the order on demand.
    is_reordered: bool,
    /// The words that the rows must have, if they are filtered.
    bits: Option<u32>,
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
    /// Sets `index` to that of the first of `rows`, without those that the filter does not pass.
    fn update_index(&mut self) -> Result<()> {
        let Some(answers) = &self.answers else { return Ok(()) };
        self.row = OnceCell::new();
        while let Some(row) = (!self.rows.is_empty()).then_some(self.rows.start) {
            // SQLite's progress handler counts its own steps; rows here can take as long as thousands.
            if row.is_multiple_of(ROWS_A_CHECK) {
                self.natives.check_limits()?;
            }
            self.index = match (self.is_scan, self.is_reordered) {
                (true, true) => self.relation.index(answers, self.relation.reordered(answers, row)),
                (true, false) => self.relation.index(answers, row),
                (false, _) => self.relation.found(answers, row),
            };
            if self.bits.is_none_or(|bits| bits & self.relation.bit(answers, self.index) != 0) {
                break;
            }
            self.rows.start += 1;
        }
        Ok(())
    }

    /// The bits of the words that a filter passes.
    fn bits_of(&self, plan: c_int, arguments: &Filters<'_>) -> Result<Option<u32>> {
        let bit = |value: ValueRef<'_>| match value {
            ValueRef::Text(text) => {
                str::from_utf8(text).map_or(0, |word| self.relation.bit_of_word(word))
            }
            _ => 0,
        };
        match plan {
            FILTER => Ok(Some(arguments.iter().map(bit).fold(0, |all, bit| all | bit))),
            FILTER_IN => {
                let bits = arguments.in_values(0)?.map(|value| Ok(bit(value)));
                bits.fold(0, |all, bit| Ok(all | bit)).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Calls `compute`, and makes a panic an error of the statement: one that reached SQLite would end the process.
fn without_panic<T>(compute: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(compute)).unwrap_or_else(|_| {
        Err(Error::ModuleError("nsq failed to compute a relation. Please report it".to_owned()))
    })
}

impl<R: Answered> Cursor<'_, R> {
    fn find(&mut self, plan: c_int, arguments: &Filters<'_>) -> Result<()> {
        let answers = match &self.answers {
            Some(answers) => Arc::clone(answers),
            // SAFETY: SQLite calls this on the thread that steps a statement of the connection.
            None => unsafe { R::answers(&self.natives, self.input, self.connection) }?,
        };
        self.is_reordered = plan & REORDERED != 0;
        let plan = plan & !REORDERED;
        self.is_scan = plan != LOOKUP;
        self.bits = self.bits_of(plan, arguments)?;
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
        self.update_index()
    }

    fn set_cell(&self, context: &mut Context, column: c_int) -> Result<()> {
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
}

// SAFETY: `base` is the first field of a `repr(C)` struct.
unsafe impl<R: Answered> VTabCursor for Cursor<'_, R> {
    fn filter(&mut self, plan: c_int, _: Option<&str>, arguments: &Filters<'_>) -> Result<()> {
        without_panic(|| self.find(plan, arguments))
    }

    fn next(&mut self) -> Result<()> {
        without_panic(|| {
            self.rows.start += 1;
            self.update_index()
        })
    }

    fn eof(&self) -> bool {
        self.rows.is_empty()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        without_panic(|| self.set_cell(context, column))
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.index as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_the_statement() {
        let failed: Result<()> = without_panic(|| panic!("a fault of a relation, on purpose"));
        assert!(failed.unwrap_err().to_string().contains("Please report it"));
    }
}
