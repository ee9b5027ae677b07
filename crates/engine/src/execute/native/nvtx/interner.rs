//! Numbers for identifiers, in the order in which they are seen.

use crate::execute::native::ids::Numbered;
use foldhash::HashMap;
use nsq_sweep::projection::Kernel;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Numbers distinct values in order of appearance. Shared by readers that run in parallel.
#[derive(Debug)]
pub(super) struct Interner<T> {
    shared: Mutex<Numbered<T>>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { shared: Mutex::default() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    fn shared(&self) -> MutexGuard<'_, Numbered<T>> {
        // Ignoring the poison is fine: a panic in one reader ends the whole run.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn place(&self, value: T) -> u32 {
        self.shared().place(value)
    }

    pub(super) fn find(&self, value: T) -> Option<u32> {
        self.shared().known(value)
    }

    pub(super) fn len(&self) -> usize {
        self.shared().values.len()
    }

    /// The values in the order of their numbers.
    pub(super) fn values(&self) -> Vec<T> {
        self.shared().values.clone()
    }
}

/// One reader's local cache of an [`Interner`].
#[derive(Debug)]
pub(super) struct Known<T> {
    pub(super) places: HashMap<T, u32>,
    /// The value before: consecutive rows often have the same.
    pub(super) last: Option<(T, u32)>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { places: HashMap::default(), last: None }
    }
}

impl<T: Copy + Eq + Hash> Known<T> {
    pub(super) fn place(&mut self, value: T, shared: &Interner<T>) -> u32 {
        match self.last {
            Some((last, place)) if last == value => return place,
            _ => {}
        }
        let place = match self.places.get(&value) {
            Some(&place) => place,
            None => {
                let place = shared.place(value);
                self.places.insert(value, place);
                place
            }
        };
        self.last = Some((value, place));
        place
    }
}

/// The processes, threads and kernels of a report.
#[derive(Debug, Default)]
pub(super) struct Interners {
    pub(super) processes: Interner<i64>,
    pub(super) threads: Interner<i64>,
    pub(super) kernels: Interner<Kernel>,
}
