//! Ctrl-C sets one flag. Everything that may take long checks it.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Asks everything that is running to stop.
pub fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Whether Ctrl-C was pressed.
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Returns [`Error::Interrupted`] after Ctrl-C. Call it in loops that may take long.
pub fn check() -> Result<()> {
    if is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}
