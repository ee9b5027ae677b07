//! On this machine: the reports are opened by threads of the program itself.

use crate::asked::{Ask, Failure, Source};
use crate::engine::Engine;
use crate::plan::Reports;
use crate::progress::Progress;
use crate::workshop::{Contribution, Workshop};
use datafusion::arrow::array::RecordBatch;
use datafusion::error::DataFusionError;
use nsq::{Cancel, Column, Error, Library, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Times that a report is tried.
const TRIES: usize = 2;

/// What a report contributes to each query, or why it failed.
pub(crate) type Found = std::result::Result<Vec<Contribution>, Failure>;

/// Asks every report, as many at a time as there are threads. With `is_strict`, the first failure stops all.
/// `None`: the report was not asked.
pub(crate) fn census(
    workshop: &Workshop,
    sources: &[Source],
    asks: &[Ask],
    threads: usize,
    is_strict: bool,
    cancel: &Cancel,
) -> Vec<Option<Found>> {
    let next = AtomicUsize::new(0);
    let progress = Progress::of(sources.len());
    let results: Mutex<Vec<Option<Found>>> = Mutex::new(sources.iter().map(|_| None).collect());
    let work = || {
        while !cancel.is_cancelled() {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(source) = sources.get(place) else { break };
            let mut found = workshop.contributions(source, asks, cancel);
            for _ in 1..TRIES {
                if found.is_err() && !cancel.is_cancelled() {
                    found = workshop.contributions(source, asks, cancel);
                }
            }
            if found.is_err() && is_strict {
                next.store(sources.len(), Ordering::Relaxed);
            }
            progress.add(found.is_err());
            results.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(found);
        }
    };
    std::thread::scope(|scope| (0..threads.min(sources.len())).for_each(|_| drop(scope.spawn(work))));
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A query about one report, its columns, and what each report contributes to it.
pub(crate) type Leaf<'f> = (&'f Ask, Vec<Column>, Vec<(Source, &'f Contribution)>);

/// The rows of a query about one report, of every report in turn.
pub(crate) fn rows_of(
    workshop: &Arc<Workshop>,
    library: &Library,
    ask: &Ask,
    columns: &[Column],
    found: &[(Source, &Contribution)],
    threads: usize,
) -> Result<Vec<RecordBatch>> {
    let table = Reports::rows(ask, columns, found).opened_in(workshop);
    let mut engine = Engine::embedded(library, threads);
    let failed = |error| failed(&ask.query, &error);
    engine.add(&ask.query, table).map_err(failed)?;
    block_on(threads, engine.rows_of(&ask.query, |_| ()))?.map_err(failed)
}

fn failed(query: &str, error: &DataFusionError) -> Error {
    Error::Usage {
        reason: format!("{query} cannot run on DataFusion: {error}"),
        help: "ask it with `nsq run`, or report this if the query is nsq's own".to_owned(),
    }
}

pub(crate) fn block_on<T>(threads: usize, work: impl Future<Output = T>) -> Result<T> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder
        .worker_threads(threads)
        .enable_all()
        .thread_stack_size(64 << 20)
        .build()
        .map_err(Error::Output)?;
    Ok(runtime.block_on(work))
}

/// Asks a query across reports.
pub(crate) fn across(
    workshop: &Arc<Workshop>,
    library: &Library,
    query: &str,
    leaves: &[Leaf<'_>],
    threads: usize,
) -> Result<Vec<RecordBatch>> {
    let failed = |error| failed(query, &error);
    let mut engine = Engine::embedded(library, threads);
    for (ask, columns, found) in leaves {
        let table = Reports::rows(ask, columns, found).opened_in(workshop);
        engine.add(&ask.query, table).map_err(failed)?;
    }
    block_on(threads, engine.ask(query, &|_: &_| ()))?.map_err(failed)
}
