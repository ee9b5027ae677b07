//! Scopes that are selected by NVTX ranges and by threads: `--nvtx`, `--iter`, `--exclude`, `--window` and `--thread`.

use super::names::{NameRules, Names};
use crate::execute::native::ids::PROCESS;
use crate::normalize::{IN_WINDOW, RangePattern, SELECTS_CALL, SELECTS_OP, Scope, Selector};
use foldhash::{HashMap, HashSet};
use nsq_sweep::interval::TimeSet;
use nsq_sweep::projection::{Attribution, Instances, NONE, OpKind, Range, Reach, Selected};
use nsq_value::error::{Error, Result, nearest};
use nsq_value::glob::Glob;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use std::sync::Arc;

/// The NVTX ranges that a scope selects.
#[derive(Default)]
pub(super) struct RangeScope {
    wanted: Option<Selected>,
    iterations: Option<Selected>,
    unwanted: Selected,
    windows: Windows,
    /// The threads that count, by global ID; `None`: all.
    threads: Option<HashSet<i64>>,
    /// GPU time in the ranges of `--nvtx` and `--iter`; `None` without them, or if attribution is by process.
    pub(super) time: Option<AttributedTime>,
}

/// GPU time of the operations that are in ranges, by each rule of attribution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AttributedTime {
    /// In ns: launched inside the ranges by their own thread.
    pub thread_ns: i64,
    /// In ns: launched inside the ranges by any thread of their process.
    pub process_ns: i64,
    /// In ns: all operations.
    pub all_ns: i64,
}

impl RangeScope {
    /// Finds the ranges that the scope names. A selector without a match is an error.
    pub(super) fn new(
        attribution: &Attribution,
        names: &Names,
        rules: &NameRules,
        scope: &Scope,
    ) -> Result<Self> {
        let find = |selectors: &[Selector]| -> Result<Option<Selected>> {
            let mut all: Option<Selected> = None;
            for selector in selectors {
                let found = select(attribution, names, rules, selector)?;
                all = Some(match all {
                    Some(all) => all.join(found),
                    None => found,
                });
            }
            Ok(all)
        };
        let mut windows = Vec::new();
        for selector in &scope.windows {
            windows.extend(select(attribution, names, rules, selector)?.spans().iter().copied());
        }
        let mut found = Self {
            wanted: find(&scope.nvtx)?,
            iterations: find(&scope.iterations)?,
            unwanted: find(&scope.exclude)?.unwrap_or_default(),
            windows: Windows::new(windows),
            threads: (!scope.launchers.is_empty())
                .then(|| scope.launcher_tids.iter().copied().collect()),
            time: None,
        };
        if !found.holds_outside() {
            found.time = found.attributed_time(attribution, None);
        }
        Ok(found)
    }

    /// GPU time in the ranges of the scope and in `named`; if neither selects ranges, in any range. `None` if
    /// attribution is by process already.
    pub(super) fn attributed_time(
        &self,
        attribution: &Attribution,
        named: Option<&Selected>,
    ) -> Option<AttributedTime> {
        // With threads, work of other threads is left out on purpose.
        if attribution.reach == Reach::Process || self.threads.is_some() {
            return None;
        }
        let capture = &attribution.capture;
        let selects = named.is_some() || !self.holds_outside();
        let mut time = AttributedTime::default();
        for op in capture.ops.iter().filter(|op| self.is_in_window(op.start, op.end)) {
            let add =
                |sum: &mut i64, is_in: bool| *sum = sum.saturating_add(if is_in { op.dur() } else { 0 });
            add(&mut time.all_ns, true);
            let Some(launch) = capture.launches.get(op.launch) else { continue };
            let (start, end) = (launch.start, launch.end);
            let (by_thread, by_process) = if selects {
                let process = attribution.group_by(Reach::Process, launch.thread);
                let held = |selected: &Selected| selected.holds_in_process(process, start, end);
                (
                    self.holds_launch(attribution, Some(op.launch))
                        && named.is_none_or(|named| named.holds(launch.thread, start, end)),
                    [&self.wanted, &self.iterations].into_iter().flatten().chain(named).all(held)
                        && !held(&self.unwanted),
                )
            } else {
                let is_inside = attribution.innermost(&op) != NONE;
                (is_inside, is_inside || attribution.is_in_other_thread(op.launch))
            };
            add(&mut time.thread_ns, by_thread);
            add(&mut time.process_ns, by_process);
        }
        Some(time)
    }

    /// Whether the launch is inside a wanted range and a wanted iteration, and outside all excluded ranges.
    ///
    /// An operation without a launch counts as outside all ranges.
    pub(super) fn holds_launch(&self, attribution: &Attribution, launch: Option<u32>) -> bool {
        let launch = launch.and_then(|launch| attribution.capture.launches.get(launch));
        let Some(launch) = launch else { return self.threads.is_none() && self.holds_outside() };
        self.is_of_thread(attribution, launch.thread)
            && self.holds(attribution.group_of(launch.thread), launch.start, launch.end)
    }

    /// Whether what the thread does is in the scope.
    fn is_of_thread(&self, attribution: &Attribution, thread: u32) -> bool {
        let tid = || attribution.capture.threads.get(thread as usize).map(|thread| thread.global_tid);
        self.threads.as_ref().is_none_or(|threads| tid().is_some_and(|tid| threads.contains(&tid)))
    }

    /// Whether the scope includes what is outside all ranges.
    fn holds_outside(&self) -> bool {
        self.wanted.is_none() && self.iterations.is_none()
    }

    /// Whether the range itself is in the scope.
    pub(super) fn holds_range(&self, attribution: &Attribution, range: &Range) -> bool {
        self.is_in_window(range.start, range.end)
            && self.is_of_thread(attribution, range.thread)
            && self.holds(attribution.group_of(range.thread), range.start, range.end)
    }

    fn holds(&self, group: u32, start: i64, end: i64) -> bool {
        [&self.wanted, &self.iterations]
            .into_iter()
            .flatten()
            .all(|wanted| wanted.holds(group, start, end))
            && !self.unwanted.holds(group, start, end)
    }

    /// The operations and the windows in the scope.
    pub(super) fn select(&self, attribution: &Attribution) -> Selection {
        let ops = attribution.capture.ops.iter();
        let held = ops.filter(|op| self.holds_launch(attribution, Some(op.launch)));
        let windows = self.windows.0.iter().copied();
        Selection {
            ops: Arc::new(held.map(|op| (op.kind, op.id)).collect()),
            windows: (!self.windows.0.is_empty()).then(|| TimeSet::union_of_sorted(windows)),
            time: self.time,
        }
    }

    /// Whether the interval overlaps a window. Always true without windows.
    pub(super) fn is_in_window(&self, start: i64, end: i64) -> bool {
        self.windows.0.is_empty() || self.windows.overlap(start, end)
    }
}

/// The operations and windows that NVTX ranges select.
#[derive(Debug, Clone)]
pub(in crate::execute::native) struct Selection {
    /// Operations launched inside wanted ranges and outside excluded ones.
    pub(in crate::execute::native) ops: Arc<HashSet<(OpKind, i64)>>,
    /// The time windows; `None`: all of the time.
    pub(in crate::execute::native) windows: Option<TimeSet>,
    /// As in [`RangeScope`].
    pub(in crate::execute::native) time: Option<AttributedTime>,
}

/// Sorted intervals that do not touch. Unlike a [`TimeSet`], it keeps empty intervals.
#[derive(Debug, Clone, Default)]
struct Windows(Vec<(i64, i64)>);

impl Windows {
    fn new(mut spans: Vec<(i64, i64)>) -> Self {
        spans.sort_unstable();
        let mut windows: Vec<(i64, i64)> = Vec::new();
        for (start, end) in spans {
            match windows.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => windows.push((start, end)),
            }
        }
        Self(windows)
    }

    /// Whether `start..end` overlaps a window. An empty interval must lie inside one.
    fn overlap(&self, start: i64, end: i64) -> bool {
        let after = self.0.partition_point(|&(from, _)| from < end || (from == end && start == end));
        self.0[..after].last().is_some_and(|&(from, to)| to > start && (end > from || start >= from))
    }
}

/// The ranges that a selector names.
fn select(
    attribution: &Attribution,
    names: &Names,
    rules: &NameRules,
    selector: &Selector,
) -> Result<Selected> {
    // A range name may itself contain `@` or `/`. If the whole text is a range name, it is taken literally.
    let whole = Selector {
        name: selector.spelled.clone(),
        spelled: selector.spelled.clone(),
        domain: None,
        instances: None,
        by_thread: selector.by_thread,
    };
    let is_split = selector.name != selector.spelled;
    let literal = if is_split { matching(names, rules, &whole, Likeness::Exact)? } else { Vec::new() };
    let (selector, named) = match literal.contains(&true) {
        true => (&whole, literal),
        false => (selector, matching(names, rules, selector, Likeness::Unnumbered)?),
    };
    let is_named = |name: u32| named[name as usize];
    let instances =
        selector.instances.map(|(first, last)| Instances { first, last, by_thread: selector.by_thread });
    let selected = Selected::new(attribution, instances, is_named);
    if selected.spans().is_empty() {
        let all = Selected::new(attribution, None, is_named);
        return Err(match selector.instances {
            Some((first, _)) if !all.spans().is_empty() => Error::usage(
                format!("no instance {first} of NVTX range '{}'", selector.name),
                match selector.by_thread {
                    true => format!("valid instances: 0 to {} per thread", all.most_on_a_thread() - 1),
                    false => format!("valid instances: 0 to {}", all.spans().len() - 1),
                },
            ),
            _ => no_such_range(names, rules, selector),
        });
    }
    Ok(selected)
}

/// The ranges that the patterns of a query's parameter match; `None` if there are none.
pub(super) fn named(
    attribution: &Attribution,
    names: &Names,
    rules: &NameRules,
    patterns: &[String],
) -> Result<Option<Selected>> {
    let mut is_named = vec![false; names.len()];
    for pattern in patterns {
        let selector = Selector {
            name: pattern.clone(),
            spelled: pattern.clone(),
            domain: None,
            instances: None,
            by_thread: false,
        };
        let found = matching(names, rules, &selector, Likeness::Displayed)?;
        is_named.iter_mut().zip(found).for_each(|(is_named, found)| *is_named |= found);
    }
    let selected = Selected::new(attribution, None, |name| is_named[name as usize]);
    Ok((!selected.spans().is_empty()).then_some(selected))
}

/// How closely a name must match, from the closest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    /// The name itself.
    Exact,
    /// Or the name as tables display it, folded or shortened.
    Displayed,
    /// Or the name without its number.
    Unnumbered,
}

/// For each name, whether the selector matches it. The closest way in which any name matches is used.
fn matching(
    names: &Names,
    rules: &NameRules,
    selector: &Selector,
    loosest: Likeness,
) -> Result<Vec<bool>> {
    let pattern = RangePattern::new(&selector.name)?;
    let domain = selector.domain.as_deref().map(Glob::new).transpose()?;
    let in_domain = |name: u32| {
        let known = names.domain(name).unwrap_or_default();
        domain.as_ref().is_none_or(|domain| domain.matches(&known))
    };
    let exact = |name: u32| pattern.fits(names.printed(name).as_deref(), names.text(name).as_deref());
    let all = 0..names.len() as u32;
    let found: Vec<bool> = all.clone().map(|name| in_domain(name) && exact(name)).collect();
    if loosest == Likeness::Exact || found.contains(&true) {
        return Ok(found);
    }
    if let Some(layers) = names.layers(rules, false, &|| false) {
        let displayed = |name: u32| {
            let printed = names.printed(name);
            pattern.fits_displayed(printed.as_deref().into_iter().chain(layers.of(name as usize)))
        };
        let found: Vec<bool> = all.clone().map(|name| in_domain(name) && displayed(name)).collect();
        if loosest == Likeness::Displayed || found.contains(&true) {
            return Ok(found);
        }
    }
    let unnumbered = |name: u32| pattern.fits_unnumbered(names.text(name).as_deref());
    Ok(all.map(|name| in_domain(name) && unnumbered(name)).collect())
}

/// Suggests folded names, so that one name stands for all its numbers. Names that begin alike come first.
fn no_such_range(names: &Names, rules: &NameRules, selector: &Selector) -> Error {
    let folded = names.layers(rules, false, &|| false).unwrap_or_default();
    let layers = &folded.layers;
    let typed = selector.name.to_lowercase();
    let begins_alike = |layer: &&String| !typed.is_empty() && layer.to_lowercase().starts_with(&typed);
    let mut near: Vec<String> = layers.iter().filter(begins_alike).cloned().collect();
    near.sort_by_key(|layer| (layer.len(), layer.clone()));
    if near.len() > 1 {
        near.insert(0, format!("{}*", selector.name));
    }
    let alike = nearest(&selector.name, layers.iter().map(String::as_str));
    near.extend(alike.into_iter().filter(|layer| !begins_alike(&layer)));
    near.truncate(MOST_SUGGESTED);
    let name = match &selector.domain {
        Some(domain) => format!("{}@{domain}", selector.name),
        None => selector.name.clone(),
    };
    // Without a similar name, some that exist: people often name ranges in other words.
    let some: Vec<String> = match near.is_empty() {
        true => layers.iter().take(SOME_NAMES).map(|layer| format!("'{layer}'")).collect(),
        false => Vec::new(),
    };
    let some = match (some.is_empty(), layers.len() > some.len()) {
        (true, _) => String::new(),
        (_, more) => {
            format!("the report has {}{}. ", some.join(", "), if more { " and others" } else { "" })
        }
    };
    // Iterations need not be marked.
    let steps = match selector.by_thread {
        true => "; `nsq run REPORT --query steps` lists steps, also those without ranges",
        false => "",
    };
    let help = format!(
        "{some}`nsq run REPORT --query range_names` lists all ranges; `*` and `?` are wildcards{steps}"
    );
    Error::Unknown { what: "NVTX range", name, near, help }
}

/// Names to show where none is similar.
const SOME_NAMES: usize = 5;

/// Most names to suggest.
const MOST_SUGGESTED: usize = 3;

/// A numeric argument; `None` for other types.
fn number(context: &Context<'_>, index: usize) -> Option<i64> {
    match context.get_raw(index) {
        ValueRef::Integer(int) => Some(int),
        ValueRef::Real(real) => Some(real as i64),
        _ => None,
    }
}

/// Registers the SQL functions that the conditions of the scope call.
pub(super) fn register(
    connection: &Connection,
    ranges: RangeScope,
    selection: Selection,
    attribution: &Attribution,
) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    let capture = &attribution.capture;
    let ops = selection.ops;
    connection.create_scalar_function(SELECTS_OP, 2, flags, move |context| {
        let kind = context.get_raw(0).as_str_or_null()?.and_then(OpKind::named);
        Ok(kind.zip(number(context, 1)).is_some_and(|op| ops.contains(&op)))
    })?;
    let windows = ranges.windows.clone();
    let by_process = attribution.reach == Reach::Process;
    let groups: HashMap<i64, u32> = if by_process {
        (0u32..).zip(&capture.processes).map(|(index, &process)| (process, index)).collect()
    } else {
        (0u32..).zip(&capture.threads).map(|(index, thread)| (thread.global_tid, index)).collect()
    };
    connection.create_scalar_function(SELECTS_CALL, 3, flags, move |context| {
        let tid = number(context, 0);
        if ranges.threads.as_ref().is_some_and(|threads| !tid.is_some_and(|tid| threads.contains(&tid)))
        {
            return Ok(false);
        }
        let thread = tid.map(|tid| if by_process { tid & PROCESS } else { tid });
        // A thread without ranges is outside all ranges.
        let Some(&group) = thread.and_then(|thread| groups.get(&thread)) else {
            return Ok(ranges.holds_outside());
        };
        let times = number(context, 1).zip(number(context, 2));
        Ok(times.is_some_and(|(start, end)| ranges.holds(group, start, end)))
    })?;
    connection.create_scalar_function(IN_WINDOW, 2, flags, move |context| {
        let (start, end) = (number(context, 0), number(context, 1));
        Ok(start.zip(end).is_some_and(|(start, end)| windows.overlap(start, end)))
    })?;
    Ok(())
}
