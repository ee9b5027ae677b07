//! The reports that are open, each once.

use crate::failure::Failure;
use crate::roots::{Located, Roots, quoted};
use nsq::{Library, Report};
use std::sync::{Arc, Mutex, PoisonError};

/// Most reports that stay open. Each holds a connection and a mapping of its file.
const MOST_OPEN: usize = 16;

/// Opens reports under the roots, and keeps the ones that were asked last.
#[derive(Debug)]
pub(crate) struct Reports {
    pub(crate) roots: Roots,
    open: Mutex<Vec<(Located, Arc<Report>)>>,
}

impl Reports {
    pub(crate) fn new(roots: Roots) -> Self {
        Self { roots, open: Mutex::default() }
    }

    /// Opens a report by its name. A report that was replaced since is opened again.
    pub(crate) fn open(&self, name: &str, library: &Library) -> Result<(Located, Arc<Report>), Failure> {
        let located = self.roots.locate(name)?;
        let known = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.iter().find(|(known, _)| *known == located).map(|(_, report)| Arc::clone(report))
        };
        if let Some(report) = known {
            return Ok((located, report));
        }
        // Without the lock: an export of a capture takes minutes.
        let report = Arc::new(library.open(&located.path)?);
        // Every question reads this file, and follows no link that takes its place.
        if report.file() != located.path {
            return Err(replaced(&located));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(known, _)| known.path != located.path);
        open.push((located.clone(), Arc::clone(&report)));
        if open.len() > MOST_OPEN {
            open.remove(0);
        }
        Ok((located, report))
    }
}

/// Refuses an answer about a report that is not the one that was located.
pub(crate) fn replaced(located: &Located) -> Failure {
    let name = quoted(&located.name);
    Failure::new(format!("the report {name} was replaced while it was asked"), "ask again")
}
