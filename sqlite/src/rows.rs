//! The rows of a question: as they come, from a thread that asks, or kept, for a join that looks them up.

use crate::batch::{Batch, CellRef};
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

/// The rows of a question, from the thread that asks it.
#[derive(Debug)]
pub(crate) struct Stream {
    rows: Option<Receiver<Batch>>,
    batch: Batch,
    /// The place after the row that is read.
    next: usize,
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
        let asking = asking(move || ask(&mut Sink { to, batch: Batch::default() }))?;
        Ok(Self { rows: Some(rows), batch: Batch::default(), next: 0, cancel, asking: Some(asking) })
    }

    /// Goes to the next row. `false` after the last one.
    pub(crate) fn step(&mut self, host: Host) -> Result<bool> {
        self.next += 1;
        Ok(self.next <= self.batch.len() || self.step_batch(host)?)
    }

    /// A value of the row.
    pub(crate) fn cell(&self, column: usize) -> CellRef<'_> {
        self.batch.cell(self.next.wrapping_sub(1), column)
    }

    /// Goes to the first row of the next batch. `false` after the last one.
    fn step_batch(&mut self, host: Host) -> Result<bool> {
        loop {
            let Some(rows) = &self.rows else { return Ok(false) };
            match rows.recv_timeout(LOOK) {
                Ok(batch) => {
                    (self.batch, self.next) = (batch, 1);
                    return Ok(true);
                }
                Err(RecvTimeoutError::Timeout) if host.is_interrupted() => {
                    self.end()?;
                    return Err(Error::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.end()?;
                    return Ok(false);
                }
            }
        }
    }

    /// Stops the thread if it still asks.
    fn end(&mut self) -> Result<()> {
        self.cancel.cancel();
        // The thread may wait for room.
        self.rows = None;
        ended(&mut self.asking)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Whoever drops it needs no more rows.
        drop(self.end());
    }
}

/// A thread that answers one look-up after the other.
#[derive(Debug)]
pub(crate) struct LookUps {
    values: Option<SyncSender<Vec<Value>>>,
    answers: Receiver<Batch>,
    cancel: Cancel,
    asking: Option<JoinHandle<Result<()>>>,
}

impl LookUps {
    /// Begins the thread. `answer` must answer all values, in their order.
    pub(crate) fn begin(
        cancel: Cancel,
        answer: impl FnOnce(&Receiver<Vec<Value>>, &SyncSender<Batch>) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let (values, asked) = sync_channel(1);
        let (to, answers) = sync_channel(1);
        let asking = asking(move || answer(&asked, &to))?;
        Ok(Self { values: Some(values), answers, cancel, asking: Some(asking) })
    }

    /// The rows for these values.
    pub(crate) fn find(&mut self, values: Vec<Value>, host: Host) -> Result<Batch> {
        let Some(to) = &self.values else { return Ok(Batch::default()) };
        // Where the thread has ended, its error follows.
        drop(to.send(values));
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(rows) => return Ok(rows),
                Err(RecvTimeoutError::Timeout) if host.is_interrupted() => {
                    self.end()?;
                    return Err(Error::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.end().map(|()| Batch::default()),
            }
        }
    }

    fn end(&mut self) -> Result<()> {
        self.cancel.cancel();
        self.values = None;
        ended(&mut self.asking)
    }
}

impl Drop for LookUps {
    fn drop(&mut self) {
        // Whoever drops it needs no more rows.
        drop(self.end());
    }
}

/// Begins a thread that asks.
fn asking(ask: impl FnOnce() -> Result<()> + Send + 'static) -> Result<JoinHandle<Result<()>>> {
    let ask = move || {
        let failed = |_| Err(Error::usage("nsq failed to answer", "please report it"));
        catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(failed)
    };
    Builder::new().name("nsq".to_owned()).stack_size(STACK).spawn(ask).map_err(Error::Output)
}

/// Waits for a thread, which has closed its connections then.
fn ended(asking: &mut Option<JoinHandle<Result<()>>>) -> Result<()> {
    match asking.take().map(JoinHandle::join) {
        Some(Ok(answer)) => answer,
        _ => Ok(()),
    }
}

/// Passes rows on in batches.
struct Sink {
    to: SyncSender<Batch>,
    batch: Batch,
}

impl Sink {
    fn pass(&mut self) -> Result<()> {
        self.to.send(std::mem::take(&mut self.batch)).map_err(|_| Error::Interrupted)
    }
}

impl RowSink for Sink {
    fn begin(&mut self, _: &[Column]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.batch.push(row);
        if self.batch.len() < BATCH { Ok(()) } else { self.pass() }
    }

    fn end(&mut self) -> Result<()> {
        if self.batch.len() == 0 { Ok(()) } else { self.pass() }
    }
}

/// All rows of a question, in one batch.
#[derive(Debug, Default)]
pub(crate) struct All(pub(crate) Batch);

impl RowSink for All {
    fn begin(&mut self, _: &[Column]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.0.push(row);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
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
    fn of_cell(cell: CellRef<'_>) -> Option<Self> {
        match cell {
            CellRef::Null => None,
            CellRef::Int(int) => Some(Self::Int(int)),
            CellRef::Real(real) => Some(Self::of_real(real)),
            CellRef::Text(text) => Some(Self::Text(text.to_owned())),
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
            (Value::Text(text), Type::Text) => Some(Self::Text(text.clone())),
            (Value::Real(_), Type::Text) | (Value::Null | Value::Text(_), _) => None,
            (Value::Int(int), _) => Some(Self::Int(*int)),
            (Value::Real(real), _) => Some(Self::of_real(*real)),
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
    pub(crate) rows: Batch,
    index: Option<Index>,
}

impl Kept {
    pub(crate) fn of(mut stream: Stream, host: Host) -> Result<Self> {
        let mut rows = Batch::default();
        while stream.step_batch(host)? {
            rows.append(&stream.batch);
        }
        Ok(Self { rows, index: None })
    }

    /// The places of the rows with these values in the columns.
    pub(crate) fn find(&mut self, columns: &[usize], keys: &[Key]) -> &[usize] {
        let rows = &self.rows;
        let index = self.index.take_if(|index| index.columns == columns).unwrap_or_else(|| {
            let mut index = Index { columns: columns.to_vec(), rows: HashMap::new() };
            for place in 0..rows.len() {
                let key = |column: &usize| Key::of_cell(rows.cell(place, *column));
                if let Some(keys) = columns.iter().map(key).collect() {
                    index.rows.entry(keys).or_default().push(place);
                }
            }
            index
        });
        self.index.insert(index).rows.get(keys).map_or(&[], Vec::as_slice)
    }
}
