//! Where reports are opened: nsq's engine answers, and what a report contributes is kept in the scratch folder, so
//! that every query computes it once, however often a statement reads it.

use crate::asked::{Ask, Failure, Source, text_path};
use crate::contributions::{Part, contribute};
use crate::place::{Place, Stamp};
use crate::roots::Roots;
use nsq::whole_file::WorkFolder;
use nsq::{Cancel, Error, Library};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// How long a contribution is kept that nobody reads.
const IDLE: Duration = Duration::from_secs(600);

/// The contribution of a report to one query, or why it has none.
pub(crate) type Contribution = Result<Part, Failure>;

/// A library, the folders that may be read, and a scratch folder.
#[derive(Debug)]
pub(crate) struct Workshop {
    /// Its name among the executors; empty if there are none.
    pub(crate) executor: String,
    library: Library,
    roots: Option<Roots>,
    scratch: WorkFolder,
    /// Most bytes of contributions; the oldest go first.
    most_bytes: u64,
    known: Mutex<Known>,
    /// So many reports are open at the same time.
    pub(crate) open: Semaphore,
}

#[derive(Debug, Default)]
struct Known {
    slots: HashMap<Key, Arc<Slot>>,
    made: u64,
}

/// A report as it was, and what it was asked.
type Key = (PathBuf, Stamp, Ask);

#[derive(Debug)]
struct Slot {
    file: PathBuf,
    /// Held while it is computed: others wait instead of computing it again.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    part: Option<Part>,
    used: Instant,
}

impl Workshop {
    /// One that reads everything, for the user's own command.
    pub(crate) fn own(library: Library, scratch: WorkFolder, open: usize) -> Self {
        let (executor, known, most_bytes) = (String::new(), Mutex::default(), u64::MAX);
        Self { executor, library, roots: None, scratch, most_bytes, known, open: Semaphore::new(open) }
    }

    /// One that reads these folders, for others.
    #[cfg(feature = "cluster")]
    pub(crate) fn of_executor(
        executor: String,
        library: Library,
        roots: Roots,
        (scratch, most_bytes): (WorkFolder, u64),
        open: usize,
    ) -> Self {
        let own = Self::own(library, scratch, open);
        Self { executor, roots: Some(roots), most_bytes, ..own }
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// What the report contributes to each query. A query whose data it lacks is no failure of the report.
    pub(crate) fn contributions(
        &self,
        source: &Source,
        asks: &[Ask],
        cancel: &Cancel,
    ) -> Result<Vec<Contribution>, Failure> {
        let place = self.allowed(source)?;
        let stamp = place.stamp(cancel)?;
        self.contributions_of((&place, stamp), asks, cancel)
    }

    /// As [`Workshop::contributions`]. A store was asked about the report once, for its stamp.
    fn contributions_of(
        &self,
        (place, stamp): (&Place, Stamp),
        asks: &[Ask],
        cancel: &Cancel,
    ) -> Result<Vec<Contribution>, Failure> {
        let mut report = None;
        let mut found = Vec::new();
        for ask in asks {
            let key = (place.path().to_owned(), stamp, ask.clone());
            let slot = self.slot(&key);
            let mut state = slot.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(part) = &state.part {
                found.push(Ok(part.clone()));
                state.used = Instant::now();
                continue;
            }
            if report.is_none() {
                ask.must_fit(&self.library)?;
                report = Some(place.open(&self.library, self.scratch.path(), cancel)?);
            }
            let Some(open) = &report else { continue };
            match contribute(&open.report, ask, &slot.file, cancel) {
                Ok(part) => {
                    *state = State { part: Some(part.clone()), used: Instant::now() };
                    drop(state);
                    self.make_room(Some(&key));
                    found.push(Ok(part));
                }
                Err(lacks @ Error::LacksData { .. }) => found.push(Err(open.failed(lacks))),
                Err(error) => return Err(open.failed(error)),
            }
        }
        Ok(found)
    }

    /// The file with what the report contributes; its reader can finish even if the file is removed meanwhile.
    pub(crate) fn file<T>(
        &self,
        source: &Source,
        ask: &Ask,
        cancel: &Cancel,
        open: impl Fn(&Path) -> std::io::Result<T>,
    ) -> Result<T, Failure> {
        // Once more, if it was removed between the two steps.
        for _ in 0..2 {
            let place = self.allowed(source)?;
            let stamp = place.stamp(cancel)?;
            let found = self.contributions_of((&place, stamp), std::slice::from_ref(ask), cancel)?;
            found.into_iter().try_for_each(|part| part.map(drop))?;
            let slot = self.slot(&(place.path().to_owned(), stamp, ask.clone()));
            match open(&slot.file) {
                Ok(opened) => return Ok(opened),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    let mut state = slot.state.lock().unwrap_or_else(PoisonError::into_inner);
                    state.part = None;
                }
                Err(error) => return Err(Error::io(&slot.file, error).into()),
            }
        }
        Err(Failure::new(
            format!("{}: its contribution does not stay in the scratch folder", source.name),
            "start the executor with a larger --keep",
        ))
    }

    fn allowed(&self, source: &Source) -> Result<Place, Failure> {
        match &self.roots {
            Some(roots) => roots.allow(&source.path),
            None => Ok(Place::of(text_path(&source.path))?),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self, key: &Key) -> Arc<Slot> {
        let mut known = self.known();
        if let Some(slot) = known.slots.get(key) {
            return Arc::clone(slot);
        }
        known.made += 1;
        let file = self.scratch.path().join(format!("{}.arrows", known.made));
        let state = Mutex::new(State { part: None, used: Instant::now() });
        let slot = Arc::new(Slot { file, state });
        known.slots.insert(key.clone(), Arc::clone(&slot));
        slot
    }

    /// Removes contributions that nobody read for long, and the oldest while there are too many bytes; never
    /// that of `but`.
    pub(crate) fn make_room(&self, but: Option<&Key>) {
        let mut known = self.known();
        // Nobody else can take one while this is held.
        known.slots.retain(|_, slot| {
            let is_empty = slot.state.try_lock().is_ok_and(|state| state.part.is_none());
            Arc::strong_count(slot) > 1 || !is_empty
        });
        let mut kept = Vec::new();
        for (key, slot) in &known.slots {
            // Those at work stay.
            let Ok(state) = slot.state.try_lock() else { continue };
            if let Some(part) = state.part.as_ref().filter(|_| Some(key) != but) {
                kept.push((state.used, part.bytes, key.clone()));
            }
        }
        kept.sort_by_key(|(used, ..)| *used);
        let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        for (used, size, key) in kept {
            if used.elapsed() < IDLE && bytes <= self.most_bytes {
                continue;
            }
            bytes -= size;
            if let Some(slot) = known.slots.remove(&key) {
                let _ = std::fs::remove_file(&slot.file);
            }
        }
    }
}
