//! A flag that asks work to stop. Everything that may take long checks it.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops questions from another thread. A clone stops the same questions.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Stops every question that has it, within milliseconds: they return [`Error::Interrupted`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop, for work of the caller's own between questions.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns [`Error::Interrupted`] if it was asked to stop. Call it in loops that may take long.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Takes the request to stop back.
    pub fn forget(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
