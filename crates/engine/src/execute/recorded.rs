//! The session of NVIDIA's reports on a capture with times that cannot be true, with two rows of a call, or with ranges
//! without an end.

use super::begin::Known;
use super::relation_store::Stored;
use super::session::Session;
use crate::normalize::{Installation, SUSPECTS};
use nsq_report::report::reopen;
use nsq_value::error::Result;
use std::sync::Arc;

/// Whether the report has second rows of calls.
const REPEATS: &str = "EXISTS (SELECT 1 FROM src_cuda_api WHERE eventClass = 67)";
/// Whether the report has ranges without an end. In NVIDIA's reports they last until the last range.
const OPEN: &str =
    "EXISTS (SELECT 1 FROM src_nvtx_event WHERE \"end\" IS NULL AND eventType IN (59, 60, 70, 71))";

impl Session {
    /// The session of plans that see the rows as recorded; `None` if they see the same rows in this one.
    pub(super) fn recorded(&self) -> Result<Option<&Self>> {
        if let Some(known) = self.recorded.get() {
            return Ok(known.as_deref());
        }
        let begun = self.begin_recorded()?.map(Box::new);
        Ok(self.recorded.get_or_init(|| begun).as_deref())
    }

    fn begin_recorded(&self) -> Result<Option<Self>> {
        let Some(recorded) = &self.installation.as_recorded else { return Ok(None) };
        // A database in memory cannot be opened again.
        if self.database.as_os_str().is_empty() {
            return Ok(None);
        }
        self.check_times()?;
        let connection = reopen(&self.database, &self.limits.cancel)?;
        let failed = |error| self.explain(&self.limits, error);
        let suspects = recorded.times.iter().filter_map(|times| times.may_be_suspect.as_deref());
        let mut may_have = false;
        for check in suspects {
            may_have |= connection.query_row(check, [], |row| row.get::<_, bool>(0)).map_err(failed)?;
        }
        if !may_have {
            return Ok(None);
        }
        let classes = self.installation.classes.clone();
        let installation = Arc::new(Installation { classes, ..Installation::clone(recorded) });
        let known = Known::Shared(self.shared());
        let stored = Arc::new(Stored::new(&installation, Arc::clone(&self.stored.times)));
        let session = Self::connect(connection, installation, known, stored, &self.limits)?;
        let is_needed =
            session.holds(&format!("EXISTS (SELECT 1 FROM {SUSPECTS}) OR {REPEATS} OR {OPEN}"))?;
        Ok(is_needed.then_some(session))
    }
}
