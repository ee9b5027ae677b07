//! Ctrl-C: one flag, which everything that may take long looks at.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Asks everything that runs to stop.
pub fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Ctrl-C was pressed.
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// [`Error::Interrupted`] once Ctrl-C was pressed: for loops that may take long.
pub fn check() -> Result<()> {
    if is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}
