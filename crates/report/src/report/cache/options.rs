//! How to use the cache.

use super::temporary::Temporaries;
use crate::report::notices::Listener;
use nsq_value::cancel::Cancel;

/// How to use the cache.
#[derive(Debug, Clone, Default)]
pub struct CacheOptions {
    /// Do not use the cache: make a temporary database.
    pub off: bool,
    /// Make the database again, even if it is cached.
    pub again: bool,
    /// Compare every byte of the source, not only its size, time, head and tail.
    pub verify: bool,
    /// The temporary databases, if there are any.
    pub temporaries: Temporaries,
    /// Stops the making of a database from another thread.
    pub cancel: Cancel,
    /// Receives notes and progress.
    pub listener: Listener,
}
