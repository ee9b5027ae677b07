//! Which process owns GPU work. GPU events do not tell.

use super::tables::Database;

/// Which process owns the GPU work. GPU events do not tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Owner {
    /// The process that the rows already have.
    #[default]
    AsWritten,
    /// This process owns all GPU work. It was not known when the rows were written.
    One(i64),
    /// The owner is unknown: there are several processes and no API calls.
    Unknown,
    /// The process whose API call has the same correlation id; unknown if several processes do.
    ByCall,
}

impl Database {
    /// Sets the process of the rows of GPU work.
    pub(super) fn assign(&self, owner: &Owner) -> rusqlite::Result<()> {
        let owned = self.present.iter().filter(|table| table.is_of_gpu());
        match owner {
            Owner::AsWritten => {}
            Owner::One(_) | Owner::Unknown => {
                let process = if let Owner::One(process) = owner { Some(process) } else { None };
                for table in owned {
                    let own = format!("UPDATE {} SET globalPid = ?1", table.name());
                    self.connection.execute(&own, [process])?;
                }
            }
            Owner::ByCall => {
                self.connection.execute_batch(
                    "CREATE TEMP TABLE caller (correlationId INTEGER PRIMARY KEY, globalPid INTEGER); \
                     INSERT INTO caller \
                     SELECT correlationId, iif(min(globalTid >> 24) = max(globalTid >> 24), min(globalTid) & -16777216, NULL) \
                     FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId IS NOT NULL GROUP BY correlationId",
                )?;
                for table in owned {
                    let name = table.name();
                    let own = format!(
                        "UPDATE {name} SET globalPid = \
                         (SELECT globalPid FROM caller WHERE caller.correlationId = {name}.correlationId)"
                    );
                    self.connection.execute(&own, [])?;
                }
            }
        }
        Ok(())
    }
}
