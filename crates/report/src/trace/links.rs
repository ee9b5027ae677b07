//! GPU work that names no call: the operator that both belong to (`External id`) tells, or an arrow between them.

use super::event::Event;
use super::flows::{Corner, Flows, Shown};
use super::merged::rank_of;
use super::record::Recorder;
use rusqlite::Connection;
use std::collections::{BTreeMap, HashSet};

/// What a call launches, or an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    Kernel,
    Copy,
    Fill,
}

impl Work {
    /// What a call launches, by its name.
    pub(super) fn of_call(name: &str) -> Option<Self> {
        [("Memcpy", Self::Copy), ("Memset", Self::Fill), ("Launch", Self::Kernel)]
            .into_iter()
            .find_map(|(word, work)| name.contains(word).then_some(work))
    }

    /// What an operation is, by its name.
    pub(super) fn of_op(name: &str) -> Self {
        match name {
            _ if name.starts_with("Memcpy") => Self::Copy,
            _ if name.starts_with("Memset") => Self::Fill,
            _ => Self::Kernel,
        }
    }
}

/// The rank of a merged trace, or 0; the operator; and what it launches.
type Key = (i64, i64, Work);

/// How an operation was linked to its call, if not by a correlation ID of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    ExternalId,
    Flow,
}

impl Rule {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ExternalId => "External id",
            Self::Flow => "flow",
        }
    }
}

/// A correlation ID for a provisional one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    provisional: i64,
    correlation: i64,
    rule: Rule,
}

/// Provisional IDs go down from here. Odd ones stand for no ID, even ones for 0.
const PROVISIONAL: i64 = -(1 << 62);

/// An operation that names no call.
#[derive(Debug)]
struct Waiting {
    operator: Option<Key>,
    place: Corner,
    provisional: i64,
}

/// Calls and operations of operators. Each operation gets a provisional correlation ID.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Start and correlation ID of calls.
    calls: Vec<(Key, i64, i64)>,
    ops: Vec<Waiting>,
    pub(super) flows: Flows,
}

impl Links {
    /// Takes a call that launches work for an operator.
    pub(super) fn call(&mut self, key: Key, start_ns: i64, correlation: i64) {
        self.calls.push((key, start_ns, correlation));
    }

    /// Takes an operation without a correlation ID, or with 0, and returns a provisional one.
    pub(super) fn op(&mut self, operator: Option<Key>, place: Corner, is_zero: bool) -> i64 {
        let provisional = PROVISIONAL + 2 * (self.ops.len() as i64) + i64::from(!is_zero);
        self.ops.push(Waiting { operator, place, provisional });
        provisional
    }

    /// Whether operations have 0 as their correlation ID.
    pub(super) fn has_zeros(&self) -> bool {
        self.ops.iter().any(|op| op.provisional % 2 == 0)
    }

    /// Whether operations wait for a link.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.ops.is_empty()
    }

    /// Correlation IDs for provisional ones, and the calls that only an arrow shows.
    ///
    /// The first operation of an operator belongs to its first call, if the operator has as many calls as operations;
    /// else nothing tells them apart. Then an arrow from a call to the operation tells.
    pub(super) fn resolve(self) -> (Vec<Link>, Vec<Shown>) {
        if self.ops.is_empty() {
            return Default::default();
        }
        let mut calls = by_operator(self.calls);
        let known =
            self.ops.iter().filter_map(|op| Some((op.operator?, op.place.at_ns, op.provisional)));
        let mut links = Vec::new();
        for (key, mut ops) in by_operator(known) {
            let mut calls =
                calls.remove(&key).filter(|calls| calls.len() == ops.len()).unwrap_or_default();
            calls.sort_unstable();
            ops.sort_unstable();
            let pairs = ops.into_iter().zip(calls);
            links.extend(pairs.map(|((_, provisional), (_, correlation))| Link {
                provisional,
                correlation,
                rule: Rule::ExternalId,
            }));
        }
        let linked: HashSet<i64> = links.iter().map(|link| link.provisional).collect();
        let mut shown = Vec::new();
        for op in self.ops.iter().filter(|op| !linked.contains(&op.provisional)) {
            let Some((correlation, call)) = self.flows.at_end(op.place) else { continue };
            shown.extend(call);
            links.push(Link { provisional: op.provisional, correlation, rule: Rule::Flow });
        }
        shown.sort_unstable_by_key(|call| (call.start_ns, call.correlation));
        shown.dedup();
        (links, shown)
    }
}

fn by_operator(events: impl IntoIterator<Item = (Key, i64, i64)>) -> BTreeMap<Key, Vec<(i64, i64)>> {
    let mut sorted: BTreeMap<Key, Vec<(i64, i64)>> = BTreeMap::new();
    for (key, start_ns, id) in events {
        sorted.entry(key).or_default().push((start_ns, id));
    }
    sorted
}

/// Replaces the provisional correlation IDs in these tables of GPU work, and writes by which rule.
pub(super) fn write<'t>(
    connection: &Connection,
    links: &[Link],
    tables: impl Iterator<Item = &'t str> + Clone,
) -> rusqlite::Result<()> {
    if !links.is_empty() {
        connection.execute_batch(
            "CREATE TEMP TABLE link (provisional INTEGER PRIMARY KEY, correlationId INTEGER NOT NULL, rule TEXT); \
             CREATE TABLE NSQ_LINK (kind TEXT, operation INTEGER, rule TEXT)",
        )?;
        let mut insert = connection.prepare("INSERT INTO link VALUES (?1, ?2, ?3)")?;
        for link in links {
            insert.execute((link.provisional, link.correlation, link.rule.name()))?;
        }
        for table in tables.clone() {
            let Some(kind) = kind_of(table) else { continue };
            if kind != COLLECTIVE {
                connection.execute_batch(&format!(
                    "INSERT INTO NSQ_LINK SELECT '{kind}', op.rowid, link.rule \
                     FROM {table} AS op JOIN link ON link.provisional = op.correlationId"
                ))?;
            }
            connection.execute_batch(&format!(
                "UPDATE {table} SET correlationId = link.correlationId \
                 FROM link WHERE link.provisional = {table}.correlationId"
            ))?;
        }
    }
    for table in tables.filter(|table| kind_of(table).is_some()) {
        connection.execute_batch(&format!(
            "UPDATE {table} SET correlationId = iif(correlationId % 2, NULL, 0) WHERE correlationId < {}",
            PROVISIONAL / 2
        ))?;
    }
    Ok(())
}

/// Rows about kernels, which are no operations themselves.
const COLLECTIVE: &str = "collective";

/// The kind of the operations in a table; `None` if they are not launched.
fn kind_of(table: &str) -> Option<&'static str> {
    Some(match table {
        "CUPTI_ACTIVITY_KIND_KERNEL" => "kernel",
        "CUPTI_ACTIVITY_KIND_MEMCPY" => "memcpy",
        "CUPTI_ACTIVITY_KIND_MEMSET" => "memset",
        "NSQ_COLLECTIVE" => COLLECTIVE,
        _ => return None,
    })
}

impl Recorder {
    /// The operator of an event: its rank, and its ID if that is not 0.
    fn operator(&mut self, event: &Event<'_>) -> Option<(i64, i64)> {
        let operator = event.args.external.0.filter(|operator| *operator > 0)?;
        let rank = rank_of(event).is_some().then(|| self.process(event));
        Some((rank.unwrap_or_default(), operator))
    }

    /// The correlation ID of GPU work; a provisional one if it has none.
    pub(super) fn correlation(&mut self, event: &Event<'_>) -> Option<i64> {
        let own = event.args.correlation.0;
        // Waits belong to no launch.
        if own.is_some_and(|id| id != 0) || event.category.0 == "cuda_sync" {
            return own;
        }
        let Some(at_ns) = event.start.0 else { return own };
        let work = Work::of_op(&event.name.0);
        let operator = self.operator(event).map(|(rank, operator)| (rank, operator, work));
        let place = self.corner(event, at_ns);
        Some(self.links.op(operator, place, own.is_some()))
    }

    /// Keeps a call that launches work for an operator.
    pub(super) fn link_call(&mut self, event: &Event<'_>) {
        if let Some(id) = event.args.correlation.0.filter(|id| *id > 0)
            && let Some(work) = Work::of_call(&event.name.0)
            && let Some(start_ns) = event.start.0
            && let Some((rank, operator)) = self.operator(event)
        {
            self.links.call((rank, operator, work), start_ns, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_belong_to_the_calls_of_their_operator_in_turn() {
        let mut links = Links::default();
        let key = |operator| (0, operator, Work::Kernel);
        for (operator, start_ns, id) in [(1, 10, 101), (2, 30, 103), (1, 20, 102), (3, 40, 104)] {
            links.call(key(operator), start_ns, id);
        }
        links.call((0, 1, Work::Copy), 15, 105);
        let ops = [(1, 200), (1, 100), (2, 300), (3, 400), (3, 500), (9, 600)];
        let place = |at_ns| Corner { process: 0, thread: 7, at_ns };
        let ids = ops.map(|(operator, at_ns)| links.op(Some(key(operator)), place(at_ns), true));
        let (found, _) = links.resolve();
        let found: BTreeMap<i64, i64> =
            found.into_iter().map(|link| (link.provisional, link.correlation)).collect();
        // Operator 3 has one call and two operations; operator 9 has no call.
        let found = ids.map(|id| found.get(&id).copied());
        assert_eq!(found, [Some(102), Some(101), Some(103), None, None, None]);
    }

    #[test]
    fn an_arrow_links_what_names_nothing() {
        let mut links = Links::default();
        let corner = |thread, at_ns| Corner { process: 1, thread, at_ns };
        let [first, second] = [200, 300].map(|at_ns| links.op(None, corner(7, at_ns), false));
        links.flows.begin(5, corner(2, 20), false);
        links.flows.end(5, corner(7, 300));
        links.flows.end(6, corner(7, 200));
        let (found, shown) = links.resolve();
        assert_eq!(found, [Link { provisional: second, correlation: 5, rule: Rule::Flow }]);
        assert!(shown.is_empty() && first % 2 != 0);
    }
}
