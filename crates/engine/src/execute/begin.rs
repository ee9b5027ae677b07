//! Begins sessions.

use super::guard;
use super::limits::{self, Limits};
use super::named_times::NamedTimes;
use super::native::{self, Loads, Natives};
use super::relation_store::Stored;
use super::session::Session;
use super::{diagnose, functions};
use crate::compile::Plan;
use crate::normalize::Installation;
use nsq_report::report::path_of;
use nsq_value::error::Result;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

/// What other sessions on the report computed.
pub(super) enum Known {
    /// The native relations of a session with the same installation.
    Natives(Option<Arc<Natives>>),
    /// What sessions with other scopes read.
    Shared(Shared),
}

/// What the sessions on a report share.
#[derive(Debug, Clone, Default)]
pub struct Shared {
    /// What they read, if it is kept for the others.
    pub loads: Option<Arc<Loads>>,
    /// The relations of a session on the same scope at all times, of which a session has a part.
    pub(super) whole: Option<Arc<Natives>>,
    pub(super) times: Arc<NamedTimes>,
}

impl Shared {
    /// The same for a session on a part of the time of `whole`: it reads nothing again.
    pub fn part_of(&self, whole: &Session) -> Self {
        Self { whole: whole.natives.clone(), ..self.clone() }
    }
}

impl Session {
    /// Creates the relations, then allows reading only.
    pub fn begin(connection: Connection, installation: &Installation, limits: &Limits) -> Result<Self> {
        let session = Self::begin_sharing(connection, installation, limits, Shared::default())?;
        session.check_times()?;
        Ok(session)
    }

    /// The times that this session named, for one over its answers.
    pub(super) fn shared(&self) -> Shared {
        Shared { times: Arc::clone(&self.stored.times), ..Shared::default() }
    }

    /// As [`Session::begin`], with what the sessions on the report share. The times of the report are checked with the first
    /// statement, or beside the first ones.
    pub fn begin_sharing(
        connection: Connection,
        installation: &Installation,
        limits: &Limits,
        shared: Shared,
    ) -> Result<Self> {
        let stored = Arc::new(Stored::new(installation, Arc::clone(&shared.times)));
        let (installation, known) = (Arc::new(installation.clone()), Known::Shared(shared));
        let session = Self::connect(connection, installation, known, stored, limits)?;
        session.are_times_checked.set(false);
        Ok(session)
    }

    /// Creates the relations. The times of the report were checked.
    pub(super) fn connect(
        mut connection: Connection,
        installation: Arc<Installation>,
        known: Known,
        stored: Arc<Stored>,
        limits: &Limits,
    ) -> Result<Self> {
        // A misspelt "column" is an error, not a text.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        let times = &stored.times;
        functions::register_naming(&connection, &installation.classes, Some(Arc::clone(times)))?;
        limits::watch(&mut connection, limits)?;
        let (database, path) = (path_of(&connection), file_of(&connection));
        let natives = match known {
            Known::Natives(natives) => {
                natives.map(|natives| native::share(&connection, natives)).transpose()?
            }
            Known::Shared(shared) => native::install(&connection, &installation, limits, shared)?,
        };
        let (statements, reveals_secrets) = (&stored.statements, installation.reveals_secrets);
        let rights = guard::make(&mut connection, statements, reveals_secrets, limits, &path)?;
        let (asked, judged, has_stored) = (RefCell::default(), RefCell::default(), RefCell::default());
        Ok(Self {
            connection,
            natives,
            rights,
            installation,
            stored,
            has_stored,
            asked,
            judged,
            found: OnceCell::new(),
            recorded: OnceCell::new(),
            are_times_checked: Cell::new(true),
            limits: limits.clone(),
            database,
            path,
        })
    }

    /// Like [`Session::begin`], then runs `preamble`: the statements of a script that create TEMP objects.
    pub fn begin_script(
        connection: Connection,
        installation: &Installation,
        preamble: &[Plan],
        limits: &Limits,
    ) -> Result<Self> {
        let session = Self::begin(connection, installation, limits)?;
        for plan in preamble {
            session.copy_strings_for(plan)?;
        }
        let (connection, rights) = (&session.connection, &session.rights);
        for plan in preamble {
            // A view reads nothing yet, and the script may define what it reads later.
            if !plan.sql.split_whitespace().take(3).any(|word| word.eq_ignore_ascii_case("VIEW")) {
                session.store_for(&plan.sql)?;
            }
            rights.with_all(connection, || {
                rights.only_temp(rights.has_strings());
                connection.execute_batch(&plan.sql).map_err(|e| match e.sqlite_error_code() {
                    Some(rusqlite::ErrorCode::OperationInterrupted) => session.explain(limits, e),
                    _ => diagnose::statement_error(plan, e, connection, rights),
                })
            })?;
        }
        Ok(session)
    }
}

/// The file behind a connection, as messages show it.
fn file_of(connection: &Connection) -> String {
    match path_of(connection).to_string_lossy() {
        path if path.is_empty() => "the report".to_owned(),
        path => path.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::{self, Attribute, Scope, Selector};
    use nsq_report::schema::Schema;
    use nsq_value::table::Value;

    #[test]
    fn sessions_with_other_scopes_read_the_report_once() {
        let catalog = crate::tests::library();
        let loads: Arc<Loads> = Arc::default();
        let ask = |iteration: usize, loads: Option<&Arc<Loads>>| {
            let shared = Shared { loads: loads.cloned(), ..Shared::default() };
            let connection = Connection::open("../../fixtures/example.sqlite").unwrap();
            let schema = Schema::read(&connection).unwrap();
            let name = "forward".to_owned();
            let selector = Selector {
                spelled: name.clone(),
                name,
                domain: None,
                instances: Some((iteration, iteration)),
                by_thread: false,
            };
            let scope = Scope { nvtx: vec![selector], ..Scope::default() };
            let installation =
                normalize::plan(&schema, catalog, &scope, ["nvtx_projection", "kernel"]).unwrap();
            let limits = Limits::default();
            let session = Session::begin_sharing(connection, &installation, &limits, shared).unwrap();
            [
                "SELECT * FROM nvtx_projection ORDER BY range_id",
                "SELECT count(*), sum(dur_ns) FROM kernel",
            ]
            .map(|sql| {
                let plan = Plan::ad_hoc(sql, ("SQL".to_owned(), 1), catalog);
                session.table(&plan, &limits).unwrap().rows
            })
        };
        let alone = [ask(1, None), ask(2, None)];
        assert_ne!(alone[0], alone[1]);
        assert!(alone.iter().flatten().all(|rows| !rows.is_empty()));
        let shared = [ask(1, Some(&loads)), ask(2, Some(&loads)), ask(1, Some(&loads))];
        assert_eq!(shared, [alone[0].clone(), alone[1].clone(), alone[0].clone()]);
        // The selection and the relation of each session read the same input.
        assert_eq!(loads.count(), 1);
    }

    #[test]
    fn a_part_of_the_time_has_the_same_rows_with_and_without_its_whole() {
        const RELATIONS: [&str; 20] = [
            "all_gpu_window",
            "all_nvtx_op",
            "compute_gap_part",
            "doubtful_op",
            "exposed_part",
            "gpu_busy",
            "gpu_gap",
            "gpu_overlap",
            "gpu_stream",
            "gpu_window",
            "idle_part",
            "launch",
            "nvtx_name",
            "nvtx_op",
            "nvtx_path",
            "nvtx_path_kernel",
            "nvtx_projection",
            "nvtx_pushpop",
            "nvtx_range_kernel",
            "stream_gap",
        ];
        let catalog = crate::tests::library();
        let limits = Limits::default();
        let begin = |scope: &Scope, shared: Shared| {
            let connection = Connection::open("../../fixtures/example.sqlite").unwrap();
            let schema = Schema::read(&connection).unwrap();
            let installation = normalize::plan(&schema, catalog, scope, RELATIONS).unwrap();
            Session::begin_sharing(connection, &installation, &limits, shared).unwrap()
        };
        let rows = |session: &Session, relation: &str| {
            let sql = format!("SELECT * FROM {relation}");
            let plan = Plan::ad_hoc(&sql, ("SQL".to_owned(), 1), catalog);
            let mut rows = session.table(&plan, &limits).unwrap().rows;
            // A relation may number its kernels as they were read.
            rows.sort_by_key(|row| format!("{row:?}"));
            rows
        };
        for attribute in [Attribute::Thread, Attribute::Process, Attribute::Capture] {
            let scope = Scope { attribute, ..Scope::default() };
            let whole = begin(&scope, Shared::default());
            let all = RELATIONS.map(|relation| rows(&whole, relation));
            let extent = rows(&whole, "(SELECT min(start_ns), max(end_ns) FROM gpu_overlap)");
            let [Value::Int(first), Value::Int(last)] = extent[0][..] else { panic!("{extent:?}") };
            let at = |quarters: i64| Some(first + (last - first) / 4 * quarters);
            for (start_ns, end_ns) in [(at(1), at(3)), (None, at(2)), (at(2), None), (at(5), at(6))] {
                let part = Scope { start_ns, end_ns, ..scope.clone() };
                let alone = begin(&part, Shared::default());
                let beside = begin(&part, Shared::default().part_of(&whole));
                let alone = RELATIONS.map(|relation| rows(&alone, relation));
                assert_ne!(alone, all);
                for (relation, alone) in RELATIONS.iter().zip(alone) {
                    assert_eq!(rows(&beside, relation), alone, "{relation} {start_ns:?} {end_ns:?}");
                }
            }
        }
    }
}
