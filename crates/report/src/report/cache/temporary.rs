//! Temporary databases, each made once for all who share them.

use super::key::Key;
use super::{CachedFile, FRESH, Hold};
use nsq_files::whole_file::{TEMPORARY, WorkFolder};
use nsq_value::error::Result;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Temporary databases. A clone shares them, so that each file is exported only once. They are removed with
/// the last clone, and a database that an open report uses is removed with that report.
#[derive(Debug, Clone, Default)]
pub struct Temporaries(Arc<Mutex<BTreeMap<String, Slot>>>);

/// Locked while the database is being made, so that other threads wait for it.
type Slot = Arc<Mutex<Option<Arc<WorkFolder>>>>;

impl Temporaries {
    pub(super) fn derive(
        &self,
        source: &Path,
        key: &Key,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<CachedFile> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            slots.entry(key.to_string()).or_default().clone()
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = match slot.as_ref() {
            Some(folder) => folder.clone(),
            None => {
                let folder = WorkFolder::new(&std::env::temp_dir(), TEMPORARY)?;
                make(&folder.path().join(FRESH))?;
                key.check_unchanged(source)?;
                slot.insert(Arc::new(folder)).clone()
            }
        };
        let path = folder.path().join(FRESH);
        Ok(CachedFile { path, _hold: Hold::Temporary { _folder: folder } })
    }
}
