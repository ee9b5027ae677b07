//! Reads the tables of a report with queries of the library.

use super::super::opened::Opened;
use super::{Args, Loaded};
use crate::catalog::Catalog;
use crate::class_summary::{KernelSum, Measured, MemorySum, RangeSpan, Tables, Tag, TagMatch};
use crate::compile::{Invocation, Layout, Plan};
use crate::error::{Error, Result};
use crate::execute::Limits;
use crate::normalize::{Attribute, Presence, Scope, Selector};
use crate::table::{ResultTable, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

const KERNELS: &str = "cuda_gpu_kern_sum";
const MEMORY: &str = "cuda_gpu_mem_time_sum";
const RANGES: &str = "nvtx_gpu_proj_trace";
const NAMES: &str = "range_names";
const WINDOWS: &str = "gpu_time_by_range";
const WHOLE: &str = "gpu_time";

/// The number of GPUs that ran kernels, and the kernels' count and time. No query returns these.
const EXTENT: &str = "\
SELECT
  (SELECT count(DISTINCT gpu_id) FROM gpu_busy WHERE level = 'gpu' AND activity IN ('compute', 'communication')) AS gpus,
  count(*) AS calls,
  coalesce(sum(dur_ns), 0) AS total_ns
FROM kernel";

/// The text and the domain of each range that launched GPU work.
const PARTS: &str = "\
SELECT projection.range_id, name.range_text, name.domain_name
FROM nvtx_projection AS projection
JOIN nvtx_name AS name ON name.name_id = projection.name_id";

/// Reads the tables of a report.
///
/// With a tag the tables cover only work launched in the tagged ranges. With --seed-compat they cover the
/// whole capture, like in the original tool.
pub(super) fn load(
    args: &Args,
    catalog: &Catalog,
    path: &Path,
    tag: Option<Tag>,
    with_nvtx: bool,
    with_mem: bool,
) -> Result<Loaded> {
    let opened = Opened::open(path, &args.open)?;
    let report = Report { opened: &opened, catalog, limits: args.limits.limits() };
    let mut scope = args.scope.resolve(&opened.schema)?;
    let tag = match (tag, scope.iterations.first()) {
        (None, Some(selector)) => Some(Tag::new(&selector.name)?),
        (tag, _) => tag,
    };
    let mut notes = Vec::new();
    let mut tag = tag.filter(|_| with_nvtx);
    let presence = Presence::new(&opened.schema, catalog);
    let mut plans = vec![plan(catalog, KERNELS, &[])?];
    plans[0].check_presence(&presence, path)?;
    if tag.is_some() {
        let ranges = plan(catalog, RANGES, &[])?;
        match ranges.check_presence(&presence, path) {
            Ok(()) => plans.push(ranges),
            // The original tool goes on without ranges. So does nsq, with a note.
            Err(error) if args.seed_compat.is_some() => {
                notes.push(format!("NVTX ranges are left out: {}", first_line(&error)));
                tag = None;
            }
            Err(error) => return Err(error),
        }
    }
    let memory = plan(catalog, MEMORY, &[])?;
    let has_ranges = with_nvtx && plan(catalog, NAMES, &[])?.check_presence(&presence, path).is_ok();
    let has_memory = with_mem && memory.check_presence(&presence, path).is_ok();
    plans.extend(has_memory.then_some(memory));
    plans.push(Plan::ad_hoc(EXTENT, ("the extent of the report".to_owned(), 1), catalog));
    let only_tagged = tag.is_some() && args.seed_compat.is_none();
    let outer = Scope { iterations: Vec::new(), ..scope.clone() };
    if let (Some(tag), true, true) = (&tag, only_tagged, scope.iterations.is_empty()) {
        scope.iterations.push(selector(tag));
    }
    if only_tagged {
        plans.push(Plan::ad_hoc(PARTS, ("the names of the ranges".to_owned(), 1), catalog));
    }
    let mut answers = report.ask(&scope, &plans)?;
    let parts = if only_tagged { answers.pop() } else { None };
    let [kernels, rest @ .., extent] = answers.as_slice() else { return Err(lacks(KERNELS)) };
    let (ranges, memory) = match rest {
        [ranges, memory] => (Some(ranges), Some(memory)),
        [one] if has_memory => (None, Some(one)),
        [one] => (Some(one), None),
        _ => (None, None),
    };
    let mut tables = Tables {
        kernels: kernel_sums(kernels)?,
        ranges: ranges.map(range_spans).transpose()?,
        memory: memory.map(memory_sums).transpose()?,
    };
    if let (Some(parts), Some(ranges), Some(selector)) =
        (&parts, &mut tables.ranges, scope.iterations.first())
    {
        add_parts(ranges, parts)?;
        tag = Some(tag_of(selector, ranges)?);
    }
    let extent = Extent::of(extent)?;
    let measured = match (&tag, &tables.ranges) {
        (Some(tag), Some(ranges)) if only_tagged => {
            let found = tag.find(ranges).1;
            let (all, measured) = report.measure(&outer, &found)?;
            let by_thread = scope.attribute == Attribute::Thread;
            notes.extend(all.launched_outside(&extent, by_thread));
            measured
        }
        _ if args.seed_compat.is_some() => Vec::new(),
        // The scope options may exclude everything, so there may be no row.
        _ => report
            .ask(&outer, &[plan(catalog, WHOLE, &[])?])?
            .first()
            .map(windows_of)
            .transpose()?
            .unwrap_or_default(),
    };
    let gpus = match measured.iter().map(|window| window.gpu_id).collect::<BTreeSet<i64>>().len() {
        0 => Some(extent.gpus).filter(|gpus| *gpus > 0),
        gpus => i64::try_from(gpus).ok(),
    };
    let with_ranges = has_ranges.then(|| path.to_owned());
    Ok(Loaded { tables, tag, gpus, only_tagged, measured, with_ranges, notes })
}

/// A report, and the options to query it with.
struct Report<'a> {
    opened: &'a Opened,
    catalog: &'a Catalog,
    limits: Limits,
}

impl Report<'_> {
    /// Runs the plans and returns one table per plan.
    fn ask(&self, scope: &Scope, plans: &[Plan]) -> Result<Vec<ResultTable>> {
        self.opened.ask(self.catalog, scope, plans, &self.limits)
    }

    /// Measures how each GPU spent the windows of `ranges`, including work launched elsewhere that ran in
    /// them. Also returns the extent of the whole scope.
    fn measure(&self, scope: &Scope, ranges: &[&RangeSpan]) -> Result<(Extent, Vec<Measured>)> {
        let mut plans =
            vec![Plan::ad_hoc(EXTENT, ("the extent of the report".to_owned(), 1), self.catalog)];
        for glob in globs(ranges) {
            plans.push(plan(self.catalog, WINDOWS, &[format!("range={glob}"), "limit=-1".to_owned()])?);
        }
        let wanted: BTreeSet<i64> = ranges.iter().filter_map(|range| range.range_id).collect();
        let answers = self.ask(scope, &plans)?;
        let [extent, windows @ ..] = answers.as_slice() else { return Err(lacks(WINDOWS)) };
        // Two patterns can match the same range, because a name of one can be the text of another.
        let mut measured = BTreeMap::new();
        for table in windows {
            for (window, id) in windows_of(table)?.into_iter().zip(ints(table, "range_id")?) {
                if let Some(id) = id.filter(|id| wanted.contains(id)) {
                    measured.insert((id, window.gpu_id), window);
                }
            }
        }
        let measured = measured.into_values().collect();
        Ok((Extent::of(extent)?, measured))
    }
}

fn first_line(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

fn plan(catalog: &Catalog, name: &str, params: &[String]) -> Result<Plan> {
    Plan::new(catalog, &Invocation::parse(name).with_params(params)?, &Layout::Own)
}

fn selector(tag: &Tag) -> Selector {
    let name = tag.spelled().to_owned();
    Selector { spelled: name.clone(), name, domain: None, instances: None, by_thread: true }
}

/// The tag that finds the ranges of the selector.
///
/// If the whole text matches range names, it is a name, even if part of it looks like a domain or an index.
fn tag_of(selector: &Selector, ranges: &[RangeSpan]) -> Result<Tag> {
    if selector.name != selector.spelled {
        let whole = Tag::of_scope(&selector.spelled, None)?;
        if whole.find(ranges).0 == TagMatch::Alike {
            return Ok(whole);
        }
    }
    Tag::of_scope(&selector.name, selector.domain.as_deref())
}

/// Sets the text and the domain of each range.
fn add_parts(ranges: &mut [RangeSpan], parts: &ResultTable) -> Result<()> {
    let (ids, names) = (ints(parts, "range_id")?, texts(parts, "range_text")?);
    let parts = names.into_iter().zip(texts(parts, "domain_name")?);
    let mut known: HashMap<i64, (Option<String>, Option<String>)> =
        ids.into_iter().zip(parts).filter_map(|(id, parts)| Some((id?, parts))).collect();
    for range in ranges {
        if let Some((text, domain)) = range.range_id.and_then(|id| known.remove(&id)) {
            (range.text, range.domain) = (text, domain);
        }
    }
    Ok(())
}

/// Up to this many range names get a pattern each. More names share one pattern, their common prefix.
const MAX_PATTERNS: usize = 16;

/// GLOB patterns that together match the names of all ranges.
fn globs(ranges: &[&RangeSpan]) -> Vec<String> {
    let names: BTreeSet<&str> = ranges.iter().filter_map(|range| range.name.as_deref()).collect();
    let literal = |name: &str| -> String {
        let escaped = name.chars().map(|c| match c {
            '*' | '?' | '[' => format!("[{c}]"),
            c => c.to_string(),
        });
        escaped.collect()
    };
    if names.len() <= MAX_PATTERNS {
        return names.into_iter().map(literal).collect();
    }
    // The names are sorted, so a prefix of the first and the last is a prefix of all.
    let (first, last) = (names.first().copied().unwrap_or(""), names.last().copied().unwrap_or(""));
    let shared = first.chars().zip(last.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c);
    vec![literal(&shared.collect::<String>()) + "*"]
}

/// The number of GPUs that ran kernels, and the kernels' count and time.
struct Extent {
    gpus: i64,
    calls: i64,
    total_ns: i64,
}

impl Extent {
    fn of(table: &ResultTable) -> Result<Self> {
        let first =
            |name: &str| Ok::<i64, Error>(ints(table, name)?.first().copied().flatten().unwrap_or(0));
        Ok(Self { gpus: first("gpus")?, calls: first("calls")?, total_ns: first("total_ns")? })
    }

    /// A note on the kernels outside `part`, if there are any.
    fn launched_outside(&self, part: &Self, by_thread: bool) -> Option<String> {
        let calls = self.calls.saturating_sub(part.calls);
        (calls > 0).then(|| {
            format!(
                "{calls} of {} kernels ({:.3} of {:.3} ms) were launched outside the tagged ranges and are left out{}",
                self.calls,
                self.total_ns.saturating_sub(part.total_ns) as f64 / 1e6,
                self.total_ns as f64 / 1e6,
                if by_thread {
                    "; --attribute process includes launches from other threads, such as PyTorch's backward pass"
                } else {
                    ""
                }
            )
        })
    }
}

fn kernel_sums(table: &ResultTable) -> Result<Vec<KernelSum>> {
    let sums = named_sums(table, "kernel_name")?;
    Ok(sums.map(|(name, total_ns, calls)| KernelSum { name, total_ns, calls }).collect())
}

fn memory_sums(table: &ResultTable) -> Result<Vec<MemorySum>> {
    let sums = named_sums(table, "op_name")?;
    Ok(sums.map(|(operation, total_ns, calls)| MemorySum { operation, total_ns, calls }).collect())
}

fn named_sums(table: &ResultTable, name: &str) -> Result<impl Iterator<Item = (String, i64, i64)>> {
    let (names, totals, calls) = (texts(table, name)?, ints(table, "total_ns")?, ints(table, "calls")?);
    let sums = names.into_iter().zip(totals).zip(calls);
    Ok(sums.map(|((name, ns), calls)| (name.unwrap_or_default(), ns.unwrap_or(0), calls.unwrap_or(0))))
}

fn range_spans(table: &ResultTable) -> Result<Vec<RangeSpan>> {
    let (names, lengths, ids) =
        (texts(table, "range_name")?, ints(table, "dur_ns")?, ints(table, "range_id")?);
    let (pids, launches) = (ints(table, "pid")?, ints(table, "launch_count")?);
    let starts = ints(table, "start_ns")?;
    let spans = names.into_iter().zip(lengths).zip(ids).zip(pids.into_iter().zip(launches)).zip(starts);
    let span = |((((name, dur_ns), range_id), (pid, launches)), start_ns)| RangeSpan {
        name,
        start_ns,
        dur_ns: Option::unwrap_or(dur_ns, 0),
        pid,
        launches,
        range_id,
        ..RangeSpan::default()
    };
    Ok(spans.map(span).collect())
}

fn windows_of(table: &ResultTable) -> Result<Vec<Measured>> {
    let column = |name: &str| {
        Ok::<Vec<i64>, Error>(ints(table, name)?.into_iter().map(|ns| ns.unwrap_or(0)).collect())
    };
    let (gpus, windows, compute) = (column("gpu_id")?, column("window_ns")?, column("compute_ns")?);
    let (communication, memory) = (column("exposed_communication_ns")?, column("exposed_memory_ns")?);
    let idle = column("idle_ns")?;
    let window = |row: usize| Measured {
        gpu_id: gpus[row],
        window_ns: windows[row],
        compute_ns: compute[row],
        exposed_communication_ns: communication[row],
        exposed_memory_ns: memory[row],
        idle_ns: idle[row],
    };
    Ok((0..table.rows.len()).map(window).collect())
}

/// The values of a column. A query of the user that replaces a built-in one may lack it.
fn column<T>(table: &ResultTable, name: &str, value: impl Fn(&Value) -> T) -> Result<Vec<T>> {
    let place =
        table.columns.iter().position(|column| column.name == name).ok_or_else(|| lacks(name))?;
    Ok(table.rows.iter().map(|row| value(&row[place])).collect())
}

fn lacks(what: &str) -> Error {
    Error::usage(
        format!("a query of yours replaces a built-in one and lacks the column {what}"),
        format!(
            "leave out --queries and NSQ_PATH, or check your {KERNELS}, {MEMORY}, {RANGES}, {WINDOWS} and {WHOLE}"
        ),
    )
}

fn ints(table: &ResultTable, name: &str) -> Result<Vec<Option<i64>>> {
    column(table, name, |value| match value {
        Value::Int(int) => Some(*int),
        _ => None,
    })
}

fn texts(table: &ResultTable, name: &str) -> Result<Vec<Option<String>>> {
    column(table, name, |value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_become_their_common_prefix() {
        let range = |name: String| RangeSpan { name: Some(name), ..RangeSpan::default() };
        let ask = |names: &[RangeSpan]| globs(&names.iter().collect::<Vec<_>>());
        let of = |count: usize| -> Vec<RangeSpan> {
            (0..count).map(|n| range(format!("[é] stép {n}"))).collect()
        };
        assert_eq!(ask(&of(2)), ["[[]é] stép 0", "[[]é] stép 1"]);
        assert_eq!(ask(&of(MAX_PATTERNS + 1)), ["[[]é] stép *"]);
        let mixed = [of(MAX_PATTERNS), vec![range("other".to_owned())]].concat();
        assert_eq!(ask(&mixed), ["*"]);
    }
}
