//! Computes stored relations for the statements that read them.

use super::Session;
use super::relation_store::{Relation, Rows, computed, table_of};
use crate::normalize::StoredView;
use nsq_report::schema::quote;
use nsq_value::error::Result;
use std::collections::BTreeSet;
use std::sync::{PoisonError, TryLockError};

impl Session {
    /// Computes the stored relations that a statement reads, unless the connection has them.
    pub(super) fn store_for(&self, sql: &str) -> Result<()> {
        if self.stored.relations.is_empty() {
            return Ok(());
        }
        let names = self.stored.names_behind(sql, &self.has_stored.borrow());
        let read = self.stored.named(&names, &self.has_stored.borrow());
        read.into_iter().try_for_each(|relation| {
            self.store(relation, &names)?;
            self.has_stored.borrow_mut().insert(relation.view.name.clone());
            Ok(())
        })
    }

    fn store(&self, relation: &Relation, names: &BTreeSet<String>) -> Result<()> {
        let (connection, rights) = (&self.connection, &self.rights);
        let table = table_of(&relation.view.name);
        let failed = |e| self.explain(&self.limits, e);
        // Whoever comes second computes what the first one will need next, and then finds the rows.
        let mut kept = match relation.kept.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                if let Some(natives) = &self.natives {
                    natives.make_ahead(names);
                }
                relation.kept.lock().unwrap_or_else(PoisonError::into_inner)
            }
        };
        rights.with_all(connection, || {
            // Rolls back on failure, so that the next statement computes it.
            let whole = connection.unchecked_transaction()?;
            if let Some(rows) = &*kept {
                rows.write(connection, &table).map_err(failed)?;
            } else {
                // The view may come from a user's library.
                rights.only_temp(rights.has_strings());
                let created = self.create(&relation.view);
                // Also on failure: a rollback is denied otherwise, and the transaction would stay open.
                rights.all();
                created.map_err(failed)?;
                *kept = Rows::read(connection, &table).map_err(failed)?;
            }
            Ok(whole.commit()?)
        })
    }

    /// Creates the table of a relation; an empty one if the relation cannot have rows.
    fn create(&self, StoredView { name, columns, rows_if }: &StoredView) -> rusqlite::Result<()> {
        let has_rows = rows_if.as_ref().map_or(Ok(true), |condition| {
            self.connection.query_row(&format!("SELECT {condition}"), [], |row| row.get(0))
        });
        let table = quote(&table_of(name));
        let create = if has_rows? {
            format!("CREATE TEMP TABLE {table} AS SELECT * FROM {}", quote(&computed(name)))
        } else {
            let columns: Vec<String> = columns.iter().map(|column| quote(column)).collect();
            format!("CREATE TEMP TABLE {table} ({})", columns.join(", "))
        };
        self.connection.execute_batch(&create)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Plan;
    use crate::execute::Limits;
    use crate::execute::begin::Known;
    use crate::normalize;
    use nsq_report::schema::Schema;
    use nsq_value::table::ResultTable;
    use rusqlite::Connection;
    use std::sync::Arc;

    const REPORT: &str = "../../fixtures/example.sqlite";
    const ITERATIONS: &str = "SELECT * FROM step_window ORDER BY gpu_id, global_tid, step";

    fn session(limits: &Limits) -> Session {
        session_with(&["step_window", "kernel"], limits)
    }

    fn session_with(roots: &[&str], limits: &Limits) -> Session {
        let connection = Connection::open(REPORT).unwrap();
        let (schema, catalog) = (Schema::read(&connection).unwrap(), crate::tests::library());
        let scope = normalize::Scope::default();
        let installation = normalize::plan(&schema, catalog, &scope, roots.iter().copied()).unwrap();
        Session::begin(connection, &installation, limits).unwrap()
    }

    fn ask(session: &Session, sql: &str, limits: &Limits) -> Result<ResultTable> {
        let plan = Plan::ad_hoc(sql, ("SQL".to_owned(), 1), crate::tests::library());
        session.table(&plan, limits)
    }

    fn stored(session: &Session) -> Vec<String> {
        session.has_stored.borrow().iter().cloned().collect()
    }

    #[test]
    fn a_statement_stores_what_it_reads_and_no_more() {
        let limits = Limits::default();
        let session = session(&limits);
        ask(&session, "SELECT count(*) FROM kernel", &limits).unwrap();
        assert!(stored(&session).is_empty());
        ask(&session, "SELECT * FROM iteration", &limits).unwrap();
        assert_eq!(stored(&session), ["iteration", "iteration_word"]);
        let first = ask(&session, ITERATIONS, &limits).unwrap();
        assert_eq!(stored(&session), ["iteration", "iteration_word", "step", "step_window"]);
        assert!(first.rows.len() > 1);
        assert_eq!(ask(&session, ITERATIONS, &limits).unwrap().rows, first.rows);
        // Another connection takes the rows.
        let beside = Session::connect(
            Connection::open(REPORT).unwrap(),
            Arc::clone(&session.installation),
            Known::Natives(session.natives.clone()),
            Arc::clone(&session.stored),
            &limits,
        );
        let beside = beside.unwrap();
        assert_eq!(ask(&beside, ITERATIONS, &limits).unwrap().rows, first.rows);
        assert_eq!(stored(&beside), ["iteration", "iteration_word", "step", "step_window"]);
    }

    #[test]
    fn a_relation_that_the_scope_does_not_filter_is_stored_once() {
        let limits = Limits::default();
        for roots in [["all_step_window", "step_window"], ["step_window", "all_step_window"]] {
            let session = session_with(&roots, &limits);
            let whole = ITERATIONS.replace("step_window", "all_step_window");
            let whole = ask(&session, &whole, &limits).unwrap();
            assert!(whole.rows.len() > 1);
            assert_eq!(ask(&session, ITERATIONS, &limits).unwrap().rows, whole.rows);
            assert_eq!(stored(&session), ["iteration", "iteration_word", "step", "step_window"]);
        }
    }

    #[test]
    fn what_was_stopped_is_computed_again() {
        let limits = Limits::default();
        let session = session(&limits);
        limits.cancel.cancel();
        ask(&session, ITERATIONS, &limits).unwrap_err();
        assert!(stored(&session).is_empty());
        limits.cancel.forget();
        assert!(ask(&session, ITERATIONS, &limits).unwrap().rows.len() > 1);
        // It may still read only.
        ask(&session, "SELECT * FROM \"stored iteration\"", &limits).unwrap();
        ask(&session, "DELETE FROM \"stored iteration\" RETURNING 1", &limits).unwrap_err();
    }

    #[test]
    fn after_a_failure_no_transaction_is_open() {
        let limits = Limits::default();
        let session = session(&limits);
        let view = quote(&computed("iteration"));
        let fails = format!(
            "DROP VIEW temp.{view}; CREATE TEMP VIEW {view} AS SELECT abs(-9223372036854775807 - 1)"
        );
        session
            .rights
            .with_all(&session.connection, || Ok(session.connection.execute_batch(&fails)?))
            .unwrap();
        for _ in 0..2 {
            let error = ask(&session, "SELECT * FROM iteration", &limits).unwrap_err().to_string();
            assert!(error.contains("exceeds 64 bits"), "{error}");
            assert!(session.connection.is_autocommit());
        }
        assert_eq!(ask(&session, "SELECT count(*) FROM kernel", &limits).unwrap().rows.len(), 1);
    }
}
