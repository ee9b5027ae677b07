//! The rows of a question: as they come, from a thread that asks, or kept, for a join that looks them up.

use crate::host::Host;
use nsq::{Cancel, Column, Error, Result, RowSink, Type, Value};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Rows that are passed on together, and the most such batches that wait.
const BATCH: usize = 256;
const WAITING: usize = 4;
/// Between two looks at the host while rows are computed.
const LOOK: Duration = Duration::from_millis(20);
/// The stack of the thread that asks: views of the library are nested.
const STACK: usize = 16 << 20;

pub(crate) type Row = Vec<Value>;

/// The rows of a question, from the thread that asks it.
#[derive(Debug)]
pub(crate) struct Stream {
    rows: Option<Receiver<Vec<Row>>>,
    batch: std::vec::IntoIter<Row>,
    cancel: Cancel,
    asking: Option<JoinHandle<Result<()>>>,
}

impl Stream {
    /// Asks on a thread. `ask` must pass all rows to the sink.
    pub(crate) fn begin(
        cancel: Cancel,
        ask: impl FnOnce(&mut dyn RowSink) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let (to, rows) = sync_channel(WAITING);
        let asking = Builder::new().name("nsq".to_owned()).stack_size(STACK).spawn(move || {
            let mut sink = Sink { to, batch: Vec::new() };
            catch_unwind(AssertUnwindSafe(|| ask(&mut sink)))
                .unwrap_or_else(|_| Err(Error::usage("nsq failed to answer", "please report it")))
        });
        let asking = asking.map_err(Error::Output)?;
        Ok(Self { rows: Some(rows), batch: Vec::new().into_iter(), cancel, asking: Some(asking) })
    }

    /// The next row; `None` after the last one.
    pub(crate) fn next(&mut self, host: Host) -> Result<Option<Row>> {
        loop {
            if let Some(row) = self.batch.next() {
                return Ok(Some(row));
            }
            let Some(rows) = &self.rows else { return Ok(None) };
            match rows.recv_timeout(LOOK) {
                Ok(batch) => self.batch = batch.into_iter(),
                Err(RecvTimeoutError::Timeout) if host.is_interrupted() => {
                    self.end()?;
                    return Err(Error::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.end()?;
                    return Ok(None);
                }
            }
        }
    }

    /// Stops the thread if it still asks, and waits for it: it has closed its connections then.
    fn end(&mut self) -> Result<()> {
        self.cancel.cancel();
        // The thread may wait for room.
        self.rows = None;
        match self.asking.take().map(JoinHandle::join) {
            Some(Ok(answer)) => answer,
            _ => Ok(()),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Whoever drops it needs no more rows.
        drop(self.end());
    }
}

/// Passes rows on in batches.
struct Sink {
    to: SyncSender<Vec<Row>>,
    batch: Vec<Row>,
}

impl Sink {
    fn push(&mut self, row: Row) -> Result<()> {
        self.batch.push(row);
        // The first rows at once: a statement with a LIMIT may need no others.
        if self.batch.len() < BATCH { Ok(()) } else { self.pass() }
    }

    fn pass(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.to.send(std::mem::take(&mut self.batch)).map_err(|_| Error::Interrupted)
    }
}

impl RowSink for Sink {
    fn begin(&mut self, _: &[Column]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.push(row.to_vec())
    }

    fn take_row(&mut self, row: &mut [Value]) -> Result<()> {
        self.push(row.iter_mut().map(|cell| std::mem::replace(cell, Value::Null)).collect())
    }

    fn end(&mut self) -> Result<()> {
        self.pass()
    }
}

/// A value by which rows are found: numbers that are equal have the same key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Int(i64),
    Real(u64),
    Text(String),
}

impl Key {
    /// The key of a cell; `None` for null, which equals nothing.
    fn of_cell(cell: &Value) -> Option<Self> {
        match cell {
            Value::Null => None,
            Value::Int(int) => Some(Self::Int(*int)),
            Value::Real(real) => Some(Self::of_real(*real)),
            Value::Text(text) => Some(Self::Text(text.clone())),
        }
    }

    fn of_real(real: f64) -> Self {
        let int = real as i64;
        if int as f64 == real { Self::Int(int) } else { Self::Real(real.to_bits()) }
    }

    /// The key of what a column of this type is compared with, by SQLite's rules of affinity. `None` if they are beyond a look-up.
    pub(crate) fn of_compared(value: &Value, kind: Type) -> Option<Self> {
        match (value, kind) {
            (_, Type::Any) => None,
            (Value::Int(int), Type::Text) => Some(Self::Text(int.to_string())),
            (Value::Real(_), Type::Text) | (Value::Null, _) => None,
            (Value::Text(_), kind) if kind != Type::Text => None,
            (value, _) => Self::of_cell(value),
        }
    }
}

/// The rows that have a value in each of some columns.
#[derive(Debug)]
struct Index {
    columns: Vec<usize>,
    rows: HashMap<Vec<Key>, Vec<usize>>,
}

/// All rows of a question, for a table that a join scans again and again.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    rows: Vec<Row>,
    index: Option<Index>,
}

impl Kept {
    pub(crate) fn of(mut stream: Stream, host: Host) -> Result<Self> {
        let mut rows = Vec::new();
        while let Some(row) = stream.next(host)? {
            rows.push(row);
        }
        Ok(Self { rows, index: None })
    }

    pub(crate) fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get(place)
    }

    /// The places of the rows with these values in the columns.
    pub(crate) fn find(&mut self, columns: &[usize], keys: &[Key]) -> &[usize] {
        let rows = &self.rows;
        let index = self.index.take_if(|index| index.columns == columns).unwrap_or_else(|| {
            let mut index = Index { columns: columns.to_vec(), rows: HashMap::new() };
            for (place, row) in rows.iter().enumerate() {
                let key = |column: &usize| row.get(*column).and_then(Key::of_cell);
                if let Some(keys) = columns.iter().map(key).collect() {
                    index.rows.entry(keys).or_default().push(place);
                }
            }
            index
        });
        self.index.insert(index).rows.get(keys).map_or(&[], Vec::as_slice)
    }
}
