//! What an import is asked for, and what it counts.

use std::fmt;

/// Optional events of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Import all calls of Python functions (`with_stack=True`), also if they are very many.
    pub python_functions: bool,
}

/// Counts of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Events in the file.
    pub events: u64,
    /// Events that became rows.
    pub rows: u64,
    /// Events that were not valid JSON, such as those with a bare `inf`, and were repaired.
    pub repaired: u64,
    /// Values outside the events that were not valid JSON. Invalid numbers in them, such as NaN, are
    /// dropped.
    pub repaired_facts: u64,
    /// Events of an imported category that were skipped because their times are invalid.
    pub invalid_times: u64,
    /// Ranges, calls and Python functions that had not ended when the profiler stopped.
    pub unfinished: u64,
    /// Skipped events of an imported category that only begin or end something. Kineto writes none.
    pub begin_end_events: u64,
    /// Events that were skipped because they are not valid JSON and could not be repaired.
    pub skipped: u64,
    /// Where the first of them is, and why.
    pub first_skipped: Option<String>,
    /// The line at which the trace ends too soon. What came before it is imported.
    pub cut_short: Option<u64>,
    /// Calls of Python functions that were left out because they are too many; 0 if they were imported.
    pub python_calls: u64,
}

impl Imported {
    /// Whether something about the trace is worth a note.
    pub fn is_odd(&self) -> bool {
        let odd = self.repaired
            + self.repaired_facts
            + self.invalid_times
            + self.unfinished
            + self.begin_end_events
            + self.skipped
            + self.python_calls;
        odd > 0 || self.cut_short.is_some()
    }
}

impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} events became rows", self.rows, self.events)?;
        if self.invalid_times > 0 {
            write!(f, "; skipped {} with invalid times", self.invalid_times)?;
        }
        if self.unfinished > 0 {
            let are = if self.unfinished == 1 { "event has" } else { "events have" };
            write!(f, "; {} {are} no end: open until the trace ends", self.unfinished)?;
        }
        if self.begin_end_events > 0 {
            write!(
                f,
                "; skipped {} that only begin or end something (`ph` B or E)",
                self.begin_end_events
            )?;
        }
        if self.repaired > 0 {
            write!(f, "; repaired {} that were not valid JSON", self.repaired)?;
        }
        if self.repaired_facts > 0 {
            write!(
                f,
                "; repaired {} values outside the events (invalid numbers were dropped)",
                self.repaired_facts
            )?;
        }
        if self.skipped > 0 {
            write!(f, "; skipped {} that are not valid JSON", self.skipped)?;
            if let Some(first) = &self.first_skipped {
                write!(f, ", the first in {first}")?;
            }
        }
        if let Some(line) = self.cut_short {
            write!(f, "; the trace is cut short in line {line}, and what would follow is missing")?;
        }
        if self.python_calls > 0 {
            write!(
                f,
                "; left out {} calls of Python functions (`nsq import --python-functions` imports them)",
                self.python_calls
            )?;
        }
        Ok(())
    }
}
