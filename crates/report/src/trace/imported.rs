//! What an import is asked for, and what it counts.

use std::fmt;

/// Optional events of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Also import Python functions (`with_stack=True`), as ranges of the domain `python_function`.
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
    /// Skipped events of an imported category that only begin or end something. Kineto writes none.
    pub begin_end_events: u64,
}

impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} events became rows", self.rows, self.events)?;
        if self.invalid_times > 0 {
            write!(f, "; skipped {} with invalid times", self.invalid_times)?;
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
        Ok(())
    }
}
