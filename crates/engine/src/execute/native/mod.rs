//! Native relations: nsq computes their rows, and SQL joins them like tables. Also evaluates scopes that
//! are selected by NVTX ranges.
//!
//! Data is read when a statement asks for the first row. A scope selected by NVTX ranges is read at once.

mod asked;
mod finding;
mod gpu;
mod ids;
mod natives;
mod nvtx;
mod reader;
mod relation;
mod rows;
mod slices;
mod store;
pub(super) mod texts;
mod vtab;

use super::begin::Shared;
use super::findings::Findings;
use super::limits::Limits;
use crate::normalize::{IN_WINDOW, Installation, Native, SELECTS_CALL, SELECTS_OP};
pub use natives::Natives;
use nsq_library::catalog::Rules;
use nsq_report::schema::quote;
use nsq_value::error::Result;
use nvtx::NameRules;
pub use nvtx::{AttributedTime, Loads};
use relation::Relation;
use rusqlite::Connection;
use rusqlite::vtab::Module;
use std::sync::{Arc, OnceLock};
use store::Store;

/// Checks that the rules of a file compile: `layers`, `phases` or `work`.
pub fn check_rules(rules: &Rules) -> Result<()> {
    let mut files = [const { Vec::new() }; 3];
    let place = match rules.name.as_str() {
        "layers" => 0,
        "phases" => 1,
        _ => 2,
    };
    files[place].push(rules.clone());
    NameRules::new(files).check()
}

/// The columns whose values a native relation must be asked with: without all of them, it has no rows. None for others.
pub fn asked_with(relation: &str) -> &'static [&'static str] {
    fn key<R: Relation>(relation: Option<R>) -> &'static [&'static str] {
        relation.filter(|relation| relation.is_asked_by_key()).map_or(&[], R::key)
    }
    match key(gpu::Table::named(relation)) {
        [] => key(slices::Table::named(relation)),
        columns => columns,
    }
}

/// Creates the native relations, and the SQL functions of a scope that is selected by NVTX ranges.
pub(super) fn install(
    connection: &Connection,
    installation: &Installation,
    limits: &Limits,
    Shared { loads, whole, times }: Shared,
) -> Result<Option<Arc<Natives>>> {
    if installation.inputs.is_empty() {
        return Ok(None);
    }
    let rules = match (&whole, &loads) {
        (Some(whole), _) => Arc::clone(&whole.rules),
        (None, Some(loads)) => loads.rules(&installation.rules),
        (None, None) => Arc::new(NameRules::new(installation.rules.clone())),
    };
    let store = match &whole {
        Some(whole) => Arc::clone(&whole.store),
        None => Arc::new(Store::knowing(times)),
    };
    let natives = Arc::new(Natives {
        natives: installation.natives.clone(),
        inputs: installation.inputs.clone(),
        rules,
        store,
        loads,
        whole,
        projections: installation.inputs.iter().map(|_| OnceLock::new()).collect(),
        occupancies: installation.inputs.iter().map(|_| OnceLock::new()).collect(),
        ..Natives::new(connection, limits)
    });
    create(connection, &natives)?;
    let is_called = |statement: &String| {
        [SELECTS_OP, SELECTS_CALL, IN_WINDOW].iter().any(|name| statement.contains(name))
    };
    let needs_functions = installation.statements.iter().any(is_called);
    let needs_gpu = installation.natives.iter().any(is_gpu);
    if let (Some(input), Some(scope)) = (installation.selecting, &installation.scope)
        && (needs_functions || needs_gpu)
    {
        let (input, rules) = (&natives.inputs[input], &natives.rules);
        let functions_on = needs_functions.then_some(connection);
        let from = natives.sources();
        let selection = nvtx::select(&from, input, scope, rules, functions_on)?;
        natives.selection.get_or_init(|| selection);
    }
    Ok(Some(natives))
}

/// Creates the native relations on another connection to the report, with the same data. Without the SQL
/// functions of a scope that is selected by NVTX ranges.
pub(super) fn share(connection: &Connection, natives: Arc<Natives>) -> Result<Arc<Natives>> {
    create(connection, &natives)?;
    Ok(natives)
}

fn create(connection: &Connection, natives: &Arc<Natives>) -> Result<()> {
    const NVTX: Module<'_, vtab::NativeTable<nvtx::Table>> = Module::read_only_module();
    const GPU: Module<'_, vtab::NativeTable<gpu::Table>> = Module::read_only_module();
    const SLICES: Module<'_, vtab::NativeTable<slices::Table>> = Module::read_only_module();
    connection.create_module(c"nsq_nvtx", &NVTX, Some(Arc::clone(natives)))?;
    connection.create_module(c"nsq_gpu", &GPU, Some(Arc::clone(natives)))?;
    connection.create_module(c"nsq_slices", &SLICES, Some(Arc::clone(natives)))?;
    for native in &natives.natives {
        let module = match native {
            native if is_gpu(native) => "nsq_gpu",
            native if slices::Table::named(&native.relation).is_some() => "nsq_slices",
            _ => "nsq_nvtx",
        };
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE temp.{} USING {module}",
            quote(&native.object)
        ))?;
    }
    Ok(())
}

/// Creates the relation `name` over the intervals of findings.
pub(super) fn install_findings(
    connection: &Connection,
    name: &str,
    findings: Arc<Findings>,
    limits: &Limits,
) -> Result<()> {
    const FINDING: Module<'_, vtab::NativeTable<finding::Table>> = Module::read_only_module();
    let columns = finding::Table.columns().into_iter().map(str::to_owned).collect();
    let (object, relation) = (name.to_owned(), name.to_owned());
    let natives = Natives {
        natives: vec![Native { object, relation, columns, reads: Vec::new(), input: 0 }],
        findings: Some(findings),
        ..Natives::new(connection, limits)
    };
    connection.create_module(c"nsq_finding", &FINDING, Some(Arc::new(natives)))?;
    let table = quote(name);
    Ok(connection.execute_batch(&format!("CREATE VIRTUAL TABLE temp.{table} USING nsq_finding"))?)
}

fn is_gpu(native: &Native) -> bool {
    gpu::Table::named(&native.relation).is_some()
}
