//! A PyTorch profiler trace (Chrome trace JSON, as Kineto writes it) → the tables of an nsys export.
//!
//! ```text
//! unpack ─► document ─► event ─► record ─► tables
//!  (thread 1)     (thread 2)            (thread 3)
//! ```
//!
//! An import reads a trace of any length once, from start to end, and writes its events as rows that
//! every query can read. Its memory grows only with the number of distinct names, threads and streams.
//!
//! This module does not open reports, does not know any query, and does not choose where the database
//! is kept.

mod category;
mod closing;
mod document;
mod event;
mod facts;
mod flows;
mod guess;
mod ids;
mod imported;
mod lenient;
mod links;
mod merged;
mod owner;
mod packing;
mod places;
mod record;
mod repair;
mod rows;
mod tables;
mod time;
mod unpack;

pub use imported::{ImportOptions, Imported};
pub(crate) use packing::{file_of, is_archive, is_tar, is_trace_text, start_of, traces_in};

use nsq_value::error::{Error, Result};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read so far.
    pub read: u64,
    /// Size of the file in bytes.
    pub total: u64,
}

/// Version of the import. Change it when an import writes other rows: older databases are then not used.
pub const RECIPE: &str = "9";

/// Whether the first bytes look like a trace: JSON or gzip. UTF-16 counts too: the import refuses it
/// with a reason.
pub fn looks_like_trace(header: &[u8]) -> bool {
    let text = header.strip_prefix(b"\xef\xbb\xbf").unwrap_or(header).trim_ascii_start();
    header.starts_with(unpack::GZIP)
        || unpack::is_utf16(header)
        || matches!(text.first(), Some(b'{' | b'['))
}

/// Maximum batches of rows that wait for the database.
const BATCHES: usize = 4;

/// Writes the events of `trace` to a new database at `database`, as tables of an nsys export.
///
/// Calls `go_on` about once per megabyte with the progress, and stops if it returns false.
pub fn import(
    trace: &Path,
    database: &Path,
    options: ImportOptions,
    go_on: &(dyn Fn(Progress) -> bool + Sync),
) -> Result<Imported> {
    let total = std::fs::metadata(file_of(trace).0).map_err(|e| Error::io(trace, e))?.len();
    let read = Arc::new(AtomicU64::new(0));
    let (chunk_sender, chunks) = sync_channel(unpack::CHUNKS);
    let (batch_sender, batches) = sync_channel(BATCHES);
    std::thread::scope(|scope| {
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let cannot_start = |e| Error::io(trace, e);
        // This thread is not joined: it never ends on a pipe without a writer.
        let (path, counter) = (trace.to_owned(), Arc::clone(&read));
        let unpack = move || unpack::unpack(&path, &counter, &chunk_sender);
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
        // A reader that fails closes the channel. Its error is returned before the tables are finished.
        let written = tables::Database::create(database).and_then(|mut tables| {
            tables.fill(batches)?;
            Ok(tables)
        });
        let ended = match reading.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        // Report a write error such as a full disk first: the reader then only saw a closed channel.
        let tables = written?;
        let (imported, closing) = ended?;
        tables.finish(closing)?;
        Ok(imported)
    })
}
