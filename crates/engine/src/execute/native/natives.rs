//! The data of the native relations of a connection.
#![allow(unsafe_code)]

use super::nvtx::{self, AttributedTime, NameRules, Selection};
use super::relation::Relation;
use super::store::Store;
use super::{finding, gpu, slices};
use crate::execute::findings::Findings;
use crate::execute::limits::{self, Limits};
use crate::normalize::{Input, Native};
use nsq_report::report::path_of;
use nsq_value::error::{Error, Result};
use rusqlite::{Connection, ffi};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{ThreadId, current};

/// What the data of native relations is read from.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) database: &'a Path,
    pub(super) store: &'a Arc<Store>,
    /// What other sessions read.
    pub(super) loads: Option<&'a nvtx::Loads>,
    pub(super) limits: &'a Limits,
}

/// The native relations of a connection and the data that they answer from.
#[derive(Default)]
pub struct Natives {
    pub(super) database: PathBuf,
    pub(super) natives: Vec<Native>,
    pub(super) inputs: Vec<Input>,
    pub(super) rules: Arc<NameRules>,
    pub(super) store: Arc<Store>,
    pub(super) limits: Limits,
    pub(super) loads: Option<Arc<nvtx::Loads>>,
    /// The relations of the session on all times of which this one has a part.
    pub(super) whole: Option<Arc<Self>>,
    pub(super) projections: Vec<OnceLock<Arc<nvtx::Answers>>>,
    pub(super) occupancies: Vec<OnceLock<Arc<gpu::Answers>>>,
    /// The operations and calls in the selected NVTX ranges. Set if the scope selects ranges and a
    /// statement reads a GPU relation or calls a selection function.
    pub(super) selection: OnceLock<Selection>,
    /// The slices of the timeline.
    pub(super) slices: OnceLock<Arc<slices::Answers>>,
    /// The findings that the relation `finding` is over.
    pub(super) findings: Option<Arc<Findings>>,
    /// Each is held while data of its kind is computed, so that no other connection computes or reads the same.
    pub(super) projecting: Mutex<()>,
    pub(super) occupying: Mutex<()>,
    pub(super) slicing: Mutex<()>,
    /// The error of the last statement of each thread. Kept here because SQLite passes on only an error's
    /// text.
    pub(super) failures: Mutex<Vec<(ThreadId, Error)>>,
}

impl fmt::Debug for Natives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Natives").field("natives", &self.natives).finish_non_exhaustive()
    }
}

impl Natives {
    /// No relations yet.
    pub(super) fn new(connection: &Connection, limits: &Limits) -> Self {
        Self { database: path_of(connection), limits: limits.clone(), ..Self::default() }
    }

    pub(super) fn native(&self, object: &str) -> Option<&Native> {
        self.natives.iter().find(|native| native.object == object)
    }

    /// What data is read from.
    pub(super) fn sources(&self) -> Sources<'_> {
        let loads = self.loads.as_deref();
        Sources { database: &self.database, store: &self.store, loads, limits: &self.limits }
    }

    /// The session on all times and its input that reads what an input reads, and whether that has a time.
    fn whole_of(&self, input: usize) -> Option<(&Self, usize, bool)> {
        let (whole, input) = (self.whole.as_deref()?, &self.inputs[input]);
        let place = whole.inputs.iter().position(|known| known.covers(input))?;
        Some((whole, place, whole.inputs[place].scope != input.scope))
    }

    /// The NVTX projection of an input, computed on first use.
    fn projection(&self, input: usize) -> rusqlite::Result<Arc<nvtx::Answers>> {
        let known = match self.whole_of(input) {
            Some((whole, place, false)) => return whole.projection(place),
            Some((whole, place, true)) => whole.projections[place].get(),
            None => None,
        };
        let (from, of) = (self.sources(), &self.inputs[input]);
        self.once(&self.projections[input], &self.projecting, || match known {
            Some(whole) => nvtx::part(whole, &from, of),
            None => nvtx::project(&from, of, &self.rules),
        })
    }

    /// The GPU occupancy of an input, computed on first use.
    fn occupancy(&self, input: usize) -> rusqlite::Result<Arc<gpu::Answers>> {
        let tables = self.gpu_tables(input);
        let whole = self.whole_of(input).filter(|&(whole, place, _)| {
            let all = whole.gpu_tables(place);
            tables.iter().all(|table| all.contains(table))
        });
        let known = match whole {
            Some((whole, place, false)) => return whole.occupancy(place),
            Some((whole, place, true)) => whole.occupancies[place].get(),
            None => None,
        };
        let (from, of) = (self.sources(), &self.inputs[input]);
        self.once(&self.occupancies[input], &self.occupying, || match known {
            Some(whole) => Ok(gpu::part(whole, &from, of, &tables)),
            None => {
                let selection = self.selection.get().filter(|_| of.scope.selects_ranges());
                gpu::occupy(&from, of, &tables, selection)
            }
        })
    }

    /// The relations on the GPU occupancy of an input.
    fn gpu_tables(&self, input: usize) -> Vec<gpu::Table> {
        let of_input = self.natives.iter().filter(|native| native.input == input);
        of_input.filter_map(|native| gpu::Table::named(&native.relation)).collect()
    }

    /// GPU time in the ranges that the scope selects, else in ranges with these names, by each rule of
    /// attribution. `None` if no statement read the ranges.
    pub(in crate::execute) fn attributed_time(
        &self,
        names: &[String],
    ) -> Result<Option<AttributedTime>> {
        let is_scoped = |native: &&Native| native.object == native.relation;
        let mut scoped = self.natives.iter().filter(is_scoped);
        match scoped.find_map(|native| self.projections[native.input].get()) {
            Some(answers) => answers.attributed_time(names),
            None => Ok(self.selection.get().and_then(|selection| selection.time)),
        }
    }

    /// Computes the data of the relations that are named, unless another connection computes some of its kind.
    /// An error is left to the statement that reads the relation.
    pub(in crate::execute) fn make_ahead(&self, names: &BTreeSet<String>) {
        for native in self.natives.iter().filter(|native| names.contains(&native.object)) {
            let is_gpu = gpu::Table::named(&native.relation).is_some();
            let making = if is_gpu { &self.occupying } else { &self.projecting };
            let is_free = making.try_lock().is_ok();
            let made = match (is_free, is_gpu) {
                (false, _) => Ok(()),
                (true, true) => self.occupancy(native.input).map(|_| ()),
                (true, false) => self.projection(native.input).map(|_| ()),
            };
            if made.is_err() {
                self.failure();
            }
        }
    }

    /// Calls `make` once and caches its result. An error is kept for [`Natives::failure`].
    fn once<T>(
        &self,
        made: &OnceLock<Arc<T>>,
        making: &Mutex<()>,
        make: impl FnOnce() -> Result<T>,
    ) -> rusqlite::Result<Arc<T>> {
        if let Some(made) = made.get() {
            return Ok(Arc::clone(made));
        }
        let _making = making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.get() {
            return Ok(Arc::clone(made));
        }
        let fresh = make().map_err(|error| match error {
            Error::Interrupted | Error::Limit { .. } => interrupted(),
            error => {
                let message = error.to_string();
                self.failures
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((current().id(), error));
                rusqlite::Error::ModuleError(message)
            }
        })?;
        Ok(Arc::clone(made.get_or_init(|| Arc::new(fresh))))
    }

    /// Takes the error of this thread's last statement, if a native relation caused it.
    pub(in crate::execute) fn failure(&self) -> Option<Error> {
        self.own_failure().or_else(|| self.whole.as_ref()?.failure())
    }

    fn own_failure(&self) -> Option<Error> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let own = failures.iter().rposition(|(thread, _)| *thread == current().id())?;
        let (_, error) = failures.swap_remove(own);
        failures.retain(|(thread, _)| *thread != current().id());
        Some(error)
    }

    /// Returns an error after the deadline or Ctrl-C.
    pub(super) fn check_limits(&self) -> rusqlite::Result<()> {
        if limits::is_over(&self.limits) { Err(interrupted()) } else { Ok(()) }
    }
}

pub(super) fn interrupted() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None)
}

/// A native relation, and the data that it answers from.
pub(super) trait Answered: Relation {
    /// The data of an input, computed on first use.
    ///
    /// # Safety
    ///
    /// `connection` must be open, and used by no other thread.
    unsafe fn answers(
        natives: &Natives,
        input: usize,
        connection: *mut ffi::sqlite3,
    ) -> rusqlite::Result<Arc<Self::Answers>>;
}

impl Answered for nvtx::Table {
    unsafe fn answers(
        natives: &Natives,
        input: usize,
        _: *mut ffi::sqlite3,
    ) -> rusqlite::Result<Arc<nvtx::Answers>> {
        natives.projection(input)
    }
}

impl Answered for slices::Table {
    unsafe fn answers(
        natives: &Natives,
        _: usize,
        connection: *mut ffi::sqlite3,
    ) -> rusqlite::Result<Arc<slices::Answers>> {
        natives.once(&natives.slices, &natives.slicing, || {
            // SAFETY: the caller's promise.
            let read = unsafe { slices::read(connection, &natives.database, &natives.limits) };
            // A native relation behind the events knows more than SQLite's message.
            read.map_err(|error| natives.failure().unwrap_or(error))
        })
    }
}

impl Answered for finding::Table {
    unsafe fn answers(
        natives: &Natives,
        _: usize,
        _: *mut ffi::sqlite3,
    ) -> rusqlite::Result<Arc<Findings>> {
        Ok(natives.findings.as_ref().map_or_else(Arc::default, Arc::clone))
    }
}

impl Answered for gpu::Table {
    unsafe fn answers(
        natives: &Natives,
        input: usize,
        _: *mut ffi::sqlite3,
    ) -> rusqlite::Result<Arc<gpu::Answers>> {
        natives.occupancy(input)
    }
}
