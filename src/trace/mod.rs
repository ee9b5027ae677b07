//! A PyTorch profiler trace (Chrome trace JSON, as Kineto writes it) → the tables of an nsys export.
//!
//! ```text
//! unpack ─► document ─► event ─► record ─► tables
//!  (thread 1)     (thread 2)            (thread 3)
//! ```
//!
//! For: reading a trace of any length once, from its first byte to its last, in memory that does not
//! grow with the file but for its distinct names, threads and streams, and writing what it says as rows that every query
//! can read.
//!
//! Not for: opening a report, knowing any query, or deciding where the database is kept.

mod document;
mod event;
mod facts;
mod repair;
mod record;
mod tables;
mod time;
mod unpack;

use crate::error::{Error, Result};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;

/// What an import takes besides what it always takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Python functions too (`with_stack=True`), as ranges of the domain `python_function`.
    pub python_functions: bool,
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file that have been read.
    pub read: u64,
    /// Bytes of the file.
    pub total: u64,
}

/// What an import found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Events in the file.
    pub events: u64,
    /// Events that became rows.
    pub rows: u64,
    /// Events whose text is no JSON, such as a bare `inf`, and could be read all the same.
    pub repaired: u64,
    /// Facts beside the events that are no JSON: numbers in them that are none, such as NaN, are left out.
    pub repaired_facts: u64,
    /// Events of a kind that is imported whose times make no sense: these are left out.
    pub invalid_times: u64,
    /// The same that are told as a beginning and an end, as Kineto never does: left out too.
    pub begin_end_events: u64,
}

impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} events became rows", self.rows, self.events)?;
        if self.invalid_times > 0 {
            write!(f, "; {} were left out whose times make no sense", self.invalid_times)?;
        }
        if self.begin_end_events > 0 {
            write!(
                f,
                "; {} that only begin or end something (`ph` B and E) were left out",
                self.begin_end_events
            )?;
        }
        if self.repaired > 0 {
            write!(f, "; {} were no JSON and could be read all the same", self.repaired)?;
        }
        if self.repaired_facts > 0 {
            write!(
                f,
                "; {} of the facts beside them were no JSON: numbers that are none were left out",
                self.repaired_facts
            )?;
        }
        Ok(())
    }
}

/// Changes with what an import writes: derived data of another version is not used any more.
pub const RECIPE: &str = "1";

/// The first bytes look like a trace: JSON, or gzip; or JSON as it must not be, in UTF-16.
pub fn looks_like_trace(header: &[u8]) -> bool {
    let text = header.strip_prefix(b"\xef\xbb\xbf").unwrap_or(header).trim_ascii_start();
    header.starts_with(unpack::GZIP)
        || unpack::is_utf16(header)
        || matches!(text.first(), Some(b'{' | b'['))
}

/// Batches of rows on their way to the database.
const BATCHES: usize = 4;

/// Writes what `trace` says to a new database at `database`, as the tables that nsys would have.
///
/// `go_on` is told how far it is, every megabyte or so, and ends the import by saying no.
pub fn import(
    trace: &Path,
    database: &Path,
    options: ImportOptions,
    go_on: &(dyn Fn(Progress) -> bool + Sync),
) -> Result<Imported> {
    let total = std::fs::metadata(trace).map_err(|e| Error::io(trace, e))?.len();
    let read = Arc::new(AtomicU64::new(0));
    let (chunk_sender, chunks) = sync_channel(unpack::CHUNKS);
    let (batch_sender, batches) = sync_channel(BATCHES);
    std::thread::scope(|scope| {
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let cannot_start = |e| Error::io(trace, e);
        // Nobody waits for its end: on a pipe without a writer it would not come.
        let (path, counter) = (trace.to_owned(), Arc::clone(&read));
        let unpack = move || unpack::unpack(&path, &counter, chunk_sender);
        named("unpack").spawn(unpack).map_err(cannot_start)?;
        let reading = || {
            let go_on = || {
                let read = read.load(Ordering::Relaxed);
                if go_on(Progress { read, total }) { Ok(()) } else { Err(Error::Interrupted) }
            };
            let mut recorder = record::Recorder::new(options, batch_sender);
            let facts = document::Document::new(trace, chunks, &go_on).read(&mut recorder)?;
            recorder.finish(&facts)
        };
        let reading = named("read").spawn_scoped(scope, reading).map_err(cannot_start)?;
        // An unfinished reading closes the channel, and then nothing is finished here either.
        let written = tables::Database::create(database).and_then(|mut tables| {
            tables.fill(batches)?;
            Ok(tables)
        });
        let ended = match reading.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        // A full disk stops the reading as well, which then only knows that nobody listens.
        let tables = written?;
        let (imported, closing) = ended?;
        tables.finish(closing)?;
        Ok(imported)
    })
}
