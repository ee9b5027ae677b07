//! GPU work whose link to its launch the recorder lost: its correlation ID is 0.

use super::tables::{Database, Table};

impl Database {
    /// Links kernels with correlation ID 0 to the launches without recorded work, in the order of their times.
    ///
    /// A process must have as many of the ones as of the others, and no kernel may begin before its launch. It is a
    /// guess, and NSQ_LINK says so.
    pub(super) fn guess_links(&self) -> rusqlite::Result<()> {
        let has = |table| self.present.contains(&table);
        if !has(Table::Kernel) || !has(Table::Call) {
            return Ok(());
        }
        self.connection.execute_batch(
            "CREATE TEMP TABLE used AS SELECT DISTINCT globalPid, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL; \
             CREATE INDEX temp.used_id ON used (globalPid, correlationId); \
             CREATE TEMP TABLE guess AS \
             WITH op AS ( \
               SELECT rowid AS op, start, globalPid, \
                 row_number() OVER (PARTITION BY globalPid ORDER BY start, rowid) AS nth, \
                 count(*) OVER (PARTITION BY globalPid) AS number \
               FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 0 AND globalPid IS NOT NULL \
             ), call AS ( \
               SELECT launch.rowid AS call, start, launch.globalTid & -16777216 AS globalPid, correlationId, \
                 row_number() OVER (PARTITION BY launch.globalTid >> 24 ORDER BY start, launch.rowid) AS nth, \
                 count(*) OVER (PARTITION BY launch.globalTid >> 24) AS number \
               FROM CUPTI_ACTIVITY_KIND_RUNTIME AS launch JOIN StringIds ON id = nameId \
               WHERE value GLOB '*Launch*' AND NOT value GLOB '*Graph*' \
                 AND (correlationId = 0 OR NOT EXISTS ( \
                   SELECT 1 FROM used WHERE used.correlationId = launch.correlationId \
                     AND used.globalPid = launch.globalTid & -16777216)) \
             ), pair AS ( \
               SELECT op, call, op.start, \
                 iif(correlationId = 0, last + op.op, correlationId) AS correlation, \
                 min(op.start >= call.start) OVER (PARTITION BY op.globalPid) AS is_possible \
               FROM op JOIN call USING (globalPid, nth, number) \
               CROSS JOIN (SELECT max(correlationId) AS last FROM CUPTI_ACTIVITY_KIND_RUNTIME) \
             ) \
             SELECT op, call, start, correlation FROM pair WHERE is_possible; \
             CREATE INDEX temp.guess_op ON guess (op); \
             CREATE INDEX temp.guess_call ON guess (call); \
             CREATE INDEX temp.guess_start ON guess (start); \
             CREATE TABLE IF NOT EXISTS NSQ_LINK (kind TEXT, operation INTEGER, rule TEXT); \
             INSERT INTO NSQ_LINK SELECT 'kernel', op, 'time and order (a guess)' FROM guess; \
             UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET correlationId = guess.correlation \
               FROM guess WHERE guess.op = CUPTI_ACTIVITY_KIND_KERNEL.rowid; \
             UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = guess.correlation \
               FROM guess WHERE guess.call = CUPTI_ACTIVITY_KIND_RUNTIME.rowid AND correlationId = 0",
        )?;
        if has(Table::Collective) {
            self.connection.execute_batch(
                "UPDATE NSQ_COLLECTIVE SET correlationId = guess.correlation \
                 FROM guess WHERE guess.start = NSQ_COLLECTIVE.start AND correlationId = 0",
            )?;
        }
        Ok(())
    }
}
