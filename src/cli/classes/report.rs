//! Asks a report for the answers that the page `classes` is made of.

use super::loaded::{CAPTURE, KERNELS, Loaded, MEMORY, RANGES};
use super::{Args, tagged};
use crate::cli::reports::noted;
use crate::cli::{note, reports};
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::normalize::{Presence, Scope, Selector};
use nsq_library::catalog::Catalog;
use nsq_sweep::threads::Threads;
use nsq_value::error::Result;
use nsq_value::table::ResultTable;
use std::path::Path;

const WINDOWS: &str = "class_windows";
/// The queries that name what was not recorded.
const PROJECTION: &str = "nvtx_gpu_proj_trace";
const NAMES: &str = "range_names";

/// What a report is asked for.
pub(super) struct Wanted<'a> {
    pub(super) path: &'a Path,
    pub(super) tag: Option<&'a str>,
    pub(super) iterations: Option<i64>,
    pub(super) gpus: Option<i64>,
    pub(super) with_nvtx: bool,
    pub(super) with_mem: bool,
}

/// Asks a report.
///
/// With a tag the sums cover only work launched in the tagged ranges, and each GPU is measured in these
/// ranges, including work launched elsewhere. With --seed-compat the sums cover the whole capture, like in
/// the original tool.
pub(super) fn load(args: &Args, catalog: &Catalog, wanted: &Wanted<'_>) -> Result<Loaded> {
    let path = wanted.path;
    let opened = reports::open(path, &args.open.export_options())?;
    let (limits, compat) = (args.limits.limits(Threads::default()), args.seed_compat.is_some());
    let ask = |scope: &Scope, plans: &[Plan]| opened.answers(catalog, scope, plans, &limits).map(noted);
    let (mut scope, of_steps) =
        opened.of_steps(catalog, &args.scope.resolve(&opened.schema)?, &limits)?;
    of_steps.iter().for_each(|text| note(text));
    let outer = Scope { iterations: Vec::new(), ..scope.clone() };
    let presence = Presence::new(&opened.schema, catalog);
    let present = |query: &str| plan(catalog, query, &[])?.check_presence(&presence, path);
    present(KERNELS)?;
    let mut loaded = Loaded::default();
    let of_scope = scope.iterations.first().map(|selector| selector.name.clone());
    let mut tag = wanted.tag.map(str::to_owned).or(of_scope).filter(|_| wanted.with_nvtx);
    if tag.is_some()
        && let Err(error) = present(PROJECTION)
    {
        if !compat {
            return Err(error);
        }
        // The original tool goes on without ranges. So does nsq, with a note.
        let reason = error.to_string().lines().next().unwrap_or_default().to_owned();
        loaded.notes.push(format!("NVTX ranges are left out: {reason}"));
        tag = None;
    }
    let tagged_only = tag.is_some() && !compat;
    if let (Some(tag), true, true) = (&tag, tagged_only, scope.iterations.is_empty()) {
        scope.iterations.push(selector(tag));
    }
    let has_memory = wanted.with_mem && present(MEMORY).is_ok();
    let mut plans = vec![plan(catalog, KERNELS, &[])?];
    if has_memory {
        plans.push(plan(catalog, MEMORY, &[])?);
    }
    if tag.is_some() {
        plans.push(plan(catalog, RANGES, &["tag=*".to_owned()])?);
    }
    let mut answers: Vec<(&str, ResultTable)> = Vec::new();
    let names = [Some(KERNELS), has_memory.then_some(MEMORY), tag.is_some().then_some(RANGES)];
    answers.extend(names.into_iter().flatten().zip(ask(&scope, &plans)?));
    loaded.tables.extend(answers);
    if let (Some(tag), Some(ranges)) = (&tag, loaded.tables.remove(RANGES)) {
        let found = match scope.iterations.first() {
            Some(selector) if tagged_only => tagged::of_scope(&ranges, selector)?,
            _ => tagged::of_tag(&ranges, tag)?,
        };
        loaded.keep_tagged(found, &ranges);
    }
    if compat {
        return Ok(loaded);
    }
    let mut given = vec![format!("tagged_only={tagged_only}"), format!("memory={has_memory}")];
    given.extend(loaded.tag.as_ref().map(|tag| format!("tag={tag}")));
    given.extend(wanted.iterations.map(|count| format!("iterations={count}")));
    given.extend(wanted.gpus.map(|count| format!("gpus={count}")));
    let mut windows = Vec::new();
    if tagged_only {
        let ranges = loaded.tables.get(RANGES).into_iter().flat_map(ResultTable::iter);
        let ids: Vec<String> =
            ranges.filter_map(|range| Some(range.int("range_id")?.to_string())).collect();
        windows = vec!["tag=*".to_owned(), format!("ranges={}", ids.join(","))];
    }
    let plans = [plan(catalog, CAPTURE, &given)?, plan(catalog, WINDOWS, &windows)?];
    loaded.tables.extend([CAPTURE, WINDOWS].into_iter().zip(ask(&outer, &plans)?));
    let has_ranges = wanted.with_nvtx && present(NAMES).is_ok();
    loaded.with_ranges = has_ranges.then(|| path.to_owned());
    Ok(loaded)
}

fn plan(catalog: &Catalog, name: &str, params: &[String]) -> Result<Plan> {
    Plan::new(catalog, &Invocation::parse(name).with_params(params)?, &Layout::Own)
}

fn selector(tag: &str) -> Selector {
    let name = tag.to_owned();
    Selector { spelled: name.clone(), name, domain: None, instances: None, by_thread: true }
}
