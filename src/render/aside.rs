//! Rows → bytes on a thread of its own, while the statement goes on to the next rows.
//!
//! To find a row and to write it as text cost about the same, so that a long answer takes half the time.

use super::Output;
use crate::error::{Error, Result};
use crate::table::{Column, RowSink, Value};
use crate::threads;
use std::io::{self, Write};
use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle, scope};

/// Rows that are handed over together; a result that is shorter is written where it was found.
const ROWS: usize = 1_000;
/// Bytes of texts after which fewer rows are handed over: a cell may hold megabytes.
const TEXT: usize = 1 << 20;
/// Batches that may wait: then the statement does.
const WAITING: usize = 4;

/// Hands rows to the sink that it is given.
pub(super) type Feed<'f> = &'f mut dyn FnMut(&mut dyn RowSink) -> Result<()>;

/// Lets `write` make bytes of the rows that `produce` finds, on another thread where there are many.
pub(super) fn aside<T>(
    out: &mut Output,
    write: impl FnOnce(&mut dyn Write, Feed<'_>) -> Result<()> + Send,
    produce: impl FnOnce(&mut dyn RowSink) -> Result<T>,
) -> Result<T> {
    let mut out = UntilFailure { out, has_failed: false };
    if !threads::may_share() {
        let (mut produce, mut produced) = (Some(produce), None);
        let fed = write(&mut out, &mut |sink| {
            produced = produce.take().map(|produce| produce(sink)).transpose()?;
            Ok(())
        });
        return fed.and_then(|()| produced.ok_or_else(never_fed));
    }
    scope(|scope| {
        let write = |feed: Feed<'_>| write(&mut out, feed);
        let mut front = Front {
            scope,
            columns: None,
            batch: Batch::default(),
            is_whole: false,
            write: Some(write),
            writer: None,
        };
        let produced = produce(&mut front);
        // What was found before something failed is shown.
        let written = front.finish();
        produced.and_then(|produced| written.map(|()| produced))
    })
}

/// Takes nothing more after a failure: what a buffer still holds when it goes would follow a gap.
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
    Error::Output(io::Error::other("nobody asked for the rows"))
}

/// Some rows.
#[derive(Default)]
struct Batch {
    /// Their values, one row behind the other; more than there are rows is left of an earlier batch.
    values: Vec<Value>,
    rows: usize,
    /// Bytes of their texts.
    text: usize,
}

impl Batch {
    /// Takes a row, and leaves the memory of an earlier one in its place.
    fn push(&mut self, row: &mut [Value]) {
        let at = self.rows * row.len();
        self.text += row.iter().map(len).sum::<usize>();
        self.rows += 1;
        let Some(above) = self.values.get_mut(at..at + row.len()) else {
            return self.values.extend(row.iter_mut().map(|value| mem::replace(value, Value::Null)));
        };
        for (above, value) in above.iter_mut().zip(row) {
            mem::swap(above, value);
            if len(value) > KEPT {
                *value = Value::Null;
            }
        }
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS || self.text >= TEXT
    }

    fn replay(&self, width: usize, sink: &mut dyn RowSink) -> Result<()> {
        (0..self.rows).try_for_each(|row| sink.row(&self.values[row * width..(row + 1) * width]))
    }
}

/// The bytes of a text.
fn len(value: &Value) -> usize {
    if let Value::Text(text) = value { text.len() } else { 0 }
}

/// Bytes of a text whose memory is kept for another one.
const KEPT: usize = 1 << 10;

/// What goes to the other thread.
enum Sent {
    Rows(Batch),
    /// There are no more; without it, something failed.
    End,
}

/// The other thread, seen from this one.
struct Aside<'scope> {
    sent: SyncSender<Sent>,
    emptied: Receiver<Batch>,
    thread: ScopedJoinHandle<'scope, Result<()>>,
}

impl Aside<'_> {
    /// Waits for it to end, which it does when nothing more can be sent.
    fn wait(self) -> Result<()> {
        drop(self.sent);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Takes rows from a statement.
struct Front<'scope, 'env, W> {
    scope: &'scope Scope<'scope, 'env>,
    /// None before the result has begun.
    columns: Option<Vec<Column>>,
    batch: Batch,
    is_whole: bool,
    /// Taken by whoever writes.
    write: Option<W>,
    writer: Option<Aside<'scope>>,
}

impl<'scope, W> Front<'scope, '_, W>
where
    W: FnOnce(Feed<'_>) -> Result<()> + Send + 'scope,
{
    /// Hands the batch over.
    fn hand_over(&mut self) -> Result<()> {
        if self.writer.is_none() {
            self.writer = self.start();
        }
        let Some(aside) = &self.writer else { return Ok(()) };
        let empty = aside.emptied.try_recv().unwrap_or_default();
        let has_ended = aside.sent.send(Sent::Rows(mem::replace(&mut self.batch, empty))).is_err();
        (self.batch.rows, self.batch.text) = (0, 0);
        // It ends before the rows do where they cannot be written.
        if has_ended { self.writer.take().map_or(Ok(()), Aside::wait) } else { Ok(()) }
    }

    fn start(&mut self) -> Option<Aside<'scope>> {
        let (write, columns) = (self.write.take()?, self.columns.clone()?);
        let (sent, received) = sync_channel(WAITING);
        let (back, emptied) = channel();
        let thread = self.scope.spawn(move || {
            write(&mut |sink| {
                sink.begin(&columns)?;
                for sent in &received {
                    match sent {
                        Sent::Rows(batch) => {
                            batch.replay(columns.len(), sink)?;
                            // Nobody takes it back once the last batch is on its way.
                            let _ = back.send(batch);
                        }
                        Sent::End => sink.end()?,
                    }
                }
                Ok(())
            })
        });
        Some(Aside { sent, emptied, thread })
    }

    /// Writes what is left.
    fn finish(mut self) -> Result<()> {
        if self.writer.is_some() {
            self.hand_over()?;
        }
        if let Some(aside) = self.writer {
            if self.is_whole {
                // A thread that has ended says why when it is waited for.
                let _ = aside.sent.send(Sent::End);
            }
            return aside.wait();
        }
        let (Some(write), Some(columns)) = (self.write, self.columns) else { return Ok(()) };
        write(&mut |sink| {
            sink.begin(&columns)?;
            self.batch.replay(columns.len(), sink)?;
            if self.is_whole { sink.end() } else { Ok(()) }
        })
    }
}

impl<'scope, W> RowSink for Front<'scope, '_, W>
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
        if self.batch.is_full() { self.hand_over() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<()> {
        self.is_whole = true;
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

    /// What is written of so many rows, and how it ended.
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
    fn what_was_found_before_a_failure_is_written() {
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
    fn long_texts_are_handed_over_in_small_batches() {
        let mut batch = Batch::default();
        batch.push(&mut [Value::Text("x".repeat(TEXT / 2))]);
        assert!(!batch.is_full());
        batch.push(&mut [Value::Text("x".repeat(TEXT / 2))]);
        assert!(batch.is_full());
        // What comes later does not keep their memory.
        batch.rows = 0;
        let mut row = [Value::Text("short".to_owned())];
        batch.push(&mut row);
        assert_eq!(batch.values[0], Value::Text("short".to_owned()));
        assert_eq!(row, [Value::Null]);
    }

    #[test]
    fn nothing_follows_what_could_not_be_written() {
        /// Takes everything but the first.
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
    fn a_reader_that_goes_ends_it() {
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
