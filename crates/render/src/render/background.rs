//! Formats rows on a background thread while the statement computes the next rows.
//!
//! Computing a row and formatting it cost about the same, so this halves the time of a long answer.

use super::Output;
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, RowSink, Value};
use std::io::{self, Write};
use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle, scope};

/// Rows per batch. A shorter result is written on the calling thread.
const BATCH_ROWS: usize = 1_000;
/// Bytes of text that end a batch early: a cell can hold megabytes.
const BATCH_TEXT_BYTES: usize = 1 << 20;
/// Batches in the queue. If it is full, the statement waits.
const QUEUED_BATCHES: usize = 4;

/// Passes all rows to the given sink.
pub type Feed<'f> = &'f mut dyn FnMut(&mut dyn RowSink) -> Result<()>;

/// Takes the rows of `produce` with `consume`, on a background thread if there are many rows and threads are allowed.
/// `consume` calls its argument once, with the sink for the rows.
pub fn in_background<T>(
    threads: Threads,
    consume: impl FnOnce(Feed<'_>) -> Result<()> + Send,
    produce: impl FnOnce(&mut dyn RowSink) -> Result<T>,
) -> Result<T> {
    if !threads.may_share() {
        let (mut produce, mut produced) = (Some(produce), None);
        let fed = consume(&mut |sink| {
            produced = produce.take().map(|produce| produce(sink)).transpose()?;
            Ok(())
        });
        return fed.and_then(|()| produced.ok_or_else(never_fed));
    }
    scope(|scope| {
        let mut sender = RowSender {
            scope,
            columns: None,
            batch: Batch::default(),
            is_complete: false,
            write: Some(consume),
            writer: None,
        };
        let produced = produce(&mut sender);
        // Rows found before a failure are written too.
        let written = sender.finish();
        produced.and_then(|produced| written.map(|()| produced))
    })
}

/// Writes the rows of `produce` with `write`, as [`in_background`] does.
pub(super) fn write_in_background<T>(
    (out, threads): (&mut Output, Threads),
    write: impl FnOnce(&mut dyn Write, Feed<'_>) -> Result<()> + Send,
    produce: impl FnOnce(&mut dyn RowSink) -> Result<T>,
) -> Result<T> {
    let mut out = UntilFailure { out, has_failed: false };
    in_background(threads, |feed| write(&mut out, feed), produce)
}

/// Rejects all writes after a failed one. Otherwise a buffer that is flushed on drop would write after a
/// gap.
struct UntilFailure<'o> {
    out: &'o mut Output,
    has_failed: bool,
}

impl UntilFailure<'_> {
    fn unless_failed<T>(&mut self, write: impl FnOnce(&mut Output) -> io::Result<T>) -> io::Result<T> {
        if self.has_failed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let written = write(self.out);
        self.has_failed = written.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::Interrupted);
        written
    }
}

impl Write for UntilFailure<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_failed(|out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_failed(Write::flush)
    }
}

fn never_fed() -> Error {
    Error::Output(io::Error::other("the rows were not requested"))
}

/// A batch of rows.
#[derive(Default)]
struct Batch {
    /// The values, row after row. Values beyond `rows` are left over from an earlier batch.
    values: Vec<Value>,
    rows: usize,
    /// Bytes of text.
    text: usize,
}

impl Batch {
    /// Adds a row, and swaps values of an earlier batch into it, so their memory is reused.
    fn push(&mut self, row: &mut [Value]) {
        let at = self.rows * row.len();
        self.text += row.iter().map(len).sum::<usize>();
        self.rows += 1;
        let Some(above) = self.values.get_mut(at..at + row.len()) else {
            return self.values.extend(row.iter_mut().map(|value| mem::replace(value, Value::Null)));
        };
        for (above, value) in above.iter_mut().zip(row) {
            mem::swap(above, value);
            if len(value) > MAX_REUSED_BYTES {
                *value = Value::Null;
            }
        }
    }

    fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS || self.text >= BATCH_TEXT_BYTES
    }

    fn replay(&self, width: usize, sink: &mut dyn RowSink) -> Result<()> {
        (0..self.rows).try_for_each(|row| sink.row(&self.values[row * width..(row + 1) * width]))
    }
}

/// Bytes of a text; 0 for other values.
fn len(value: &Value) -> usize {
    if let Value::Text(text) = value { text.len() } else { 0 }
}

/// Longest text, in bytes, whose memory is kept for reuse.
const MAX_REUSED_BYTES: usize = 1 << 10;

/// A message to the writer thread.
enum Message {
    Rows(Batch),
    /// The result is complete. If this message does not arrive, something failed.
    End,
}

/// A handle to the writer thread.
struct WriterThread<'scope> {
    sent: SyncSender<Message>,
    /// Batches that the thread has written and returns for reuse.
    emptied: Receiver<Batch>,
    thread: ScopedJoinHandle<'scope, Result<()>>,
}

impl WriterThread<'_> {
    /// Closes the channel, which ends the thread, and waits for it.
    fn wait(self) -> Result<()> {
        drop(self.sent);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Collects rows from a statement and sends them to the writer thread.
struct RowSender<'scope, 'env, W> {
    scope: &'scope Scope<'scope, 'env>,
    /// `None` until the result begins.
    columns: Option<Vec<Column>>,
    batch: Batch,
    is_complete: bool,
    /// `None` after the writer thread has started.
    write: Option<W>,
    writer: Option<WriterThread<'scope>>,
}

impl<'scope, W> RowSender<'scope, '_, W>
where
    W: FnOnce(Feed<'_>) -> Result<()> + Send + 'scope,
{
    /// Sends the batch to the writer thread, which is started first if necessary.
    fn send_batch(&mut self) -> Result<()> {
        if self.writer.is_none() {
            self.writer = self.start();
        }
        let Some(thread) = &self.writer else { return Ok(()) };
        let empty = thread.emptied.try_recv().unwrap_or_default();
        let has_ended = thread.sent.send(Message::Rows(mem::replace(&mut self.batch, empty))).is_err();
        (self.batch.rows, self.batch.text) = (0, 0);
        // The thread ends early if a write fails.
        if has_ended { self.writer.take().map_or(Ok(()), WriterThread::wait) } else { Ok(()) }
    }

    fn start(&mut self) -> Option<WriterThread<'scope>> {
        let (write, columns) = (self.write.take()?, self.columns.clone()?);
        let (sent, received) = sync_channel(QUEUED_BATCHES);
        let (back, emptied) = channel();
        let thread = self.scope.spawn(move || {
            write(&mut |sink| {
                sink.begin(&columns)?;
                for sent in &received {
                    match sent {
                        Message::Rows(batch) => {
                            batch.replay(columns.len(), sink)?;
                            // Fails if the receiver has gone, after the last batch.
                            let _ = back.send(batch);
                        }
                        Message::End => sink.end()?,
                    }
                }
                Ok(())
            })
        });
        Some(WriterThread { sent, emptied, thread })
    }

    /// Writes the remaining rows.
    fn finish(mut self) -> Result<()> {
        if self.writer.is_some() {
            self.send_batch()?;
        }
        if let Some(thread) = self.writer {
            if self.is_complete {
                // If the thread has ended, `wait` returns its error.
                let _ = thread.sent.send(Message::End);
            }
            return thread.wait();
        }
        let (Some(write), Some(columns)) = (self.write, self.columns) else { return Ok(()) };
        write(&mut |sink| {
            sink.begin(&columns)?;
            self.batch.replay(columns.len(), sink)?;
            if self.is_complete { sink.end() } else { Ok(()) }
        })
    }
}

impl<'scope, W> RowSink for RowSender<'scope, '_, W>
where
    W: FnOnce(Feed<'_>) -> Result<()> + Send + 'scope,
{
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = Some(columns.to_vec());
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.take_row(&mut row.to_vec())
    }

    fn take_row(&mut self, row: &mut [Value]) -> Result<()> {
        self.batch.push(row);
        if self.batch.is_full() { self.send_batch() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<()> {
        self.is_complete = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Format, Heading, Style, Writer};

    fn columns() -> Vec<Column> {
        ["number", "name"].into_iter().map(Column::untyped).collect()
    }

    fn row(number: i64) -> [Value; 2] {
        let name =
            if number % 3 == 0 { Value::Null } else { Value::Text("x".repeat(number as usize % 40)) };
        [Value::Int(number), name]
    }

    /// The output for `rows` rows, and the result.
    fn written(format: Format, rows: i64, fails: bool) -> (String, Result<i64>) {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, format, Style::default(), 1);
        let ended = writer.result(&Heading::default(), |sink| {
            sink.begin(&columns())?;
            (0..rows).try_for_each(|number| sink.row(&row(number)))?;
            if fails {
                return Err(Error::Interrupted);
            }
            sink.end()?;
            Ok(rows)
        });
        (String::from_utf8(out).expect("it is text"), ended)
    }

    fn line(number: i64) -> String {
        let [_, name] = row(number);
        let name = if let Value::Text(name) = name { name } else { String::new() };
        format!("{number},{name}\n")
    }

    #[test]
    fn any_number_of_rows_is_written_in_order() {
        for rows in [0, 1, 999, 1_000, 1_001, 25_000] {
            let expected: String = (0..rows).map(line).collect();
            let (text, ended) = written(Format::Csv, rows, false);
            assert!(text == format!("number,name\n{expected}"), "{rows}");
            assert_eq!(ended.ok(), Some(rows));
            let (json, _) = written(Format::Json, rows, false);
            let document: serde_json::Value = serde_json::from_str(&json).expect("it is a document");
            assert_eq!(document["rows"].as_array().map(Vec::len), Some(rows as usize));
        }
    }

    #[test]
    fn rows_before_a_failure_are_written() {
        for rows in [5, 2_500] {
            let (text, ended) = written(Format::Csv, rows, true);
            assert_eq!(text.lines().count() as i64, rows + 1);
            assert!(matches!(ended, Err(Error::Interrupted)));
            let (json, _) = written(Format::Json, rows, true);
            assert!(
                serde_json::from_str::<serde_json::Value>(&json).is_err(),
                "half a document looks whole"
            );
        }
    }

    #[test]
    fn long_texts_are_sent_in_small_batches() {
        let mut batch = Batch::default();
        batch.push(&mut [Value::Text("x".repeat(BATCH_TEXT_BYTES / 2))]);
        assert!(!batch.is_full());
        batch.push(&mut [Value::Text("x".repeat(BATCH_TEXT_BYTES / 2))]);
        assert!(batch.is_full());
        // Later rows do not keep the memory of the long texts.
        batch.rows = 0;
        let mut row = [Value::Text("short".to_owned())];
        batch.push(&mut row);
        assert_eq!(batch.values[0], Value::Text("short".to_owned()));
        assert_eq!(row, [Value::Null]);
    }

    #[test]
    fn nothing_is_written_after_a_failed_write() {
        /// Fails on the first write only.
        struct Full(bool, Vec<u8>);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if mem::replace(&mut self.0, true) {
                    self.1.extend_from_slice(bytes);
                    Ok(bytes.len())
                } else {
                    Err(io::ErrorKind::StorageFull.into())
                }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut full = Full(false, Vec::new());
        let mut writer = Writer::new(&mut full, Format::Csv, Style::default(), 1);
        let ended = writer.result(&Heading::default(), |sink| {
            sink.begin(&columns())?;
            (0..).try_for_each(|number: i64| sink.row(&row(number)))
        });
        assert!(matches!(ended, Err(Error::Output(_))));
        assert!(full.1.is_empty());
    }

    #[test]
    fn a_closed_pipe_ends_the_output() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut closed = Closed;
        let mut writer = Writer::new(&mut closed, Format::Csv, Style::default(), 1);
        let ended = writer.result(&Heading::default(), |sink| {
            sink.begin(&columns())?;
            (0..).try_for_each(|number: i64| sink.row(&row(number)))
        });
        assert!(matches!(ended, Err(Error::Output(_))));
    }
}
