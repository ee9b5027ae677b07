//! The reference implementation: every definition written out literally, by searching all rows.

use crate::projection::Reach;
use crate::projection::answer::{Answers, RELATIONS, Row, row, sort};
use crate::projection::trace::{Call, Op, OpKind, Range, Trace, process};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A trace with ends and names for all ranges, and launches for the operations.
struct World<'a> {
    reach: Reach,
    spans: Vec<Span<'a>>,
    works: Vec<Work<'a>>,
    /// The parent of each range, by range id.
    parents: HashMap<i64, Option<i64>>,
    /// The indices of the operations launched inside each range, by range id.
    inside: HashMap<i64, Vec<usize>>,
    /// The id of the innermost range of each operation, by index.
    innermost: Vec<Option<i64>>,
}

struct Span<'a> {
    range: &'a Range,
    end: i64,
    name: Option<String>,
}

/// An operation and the call that launched it.
struct Work<'a> {
    op: &'a Op,
    launch: Option<&'a Call>,
}

pub fn answers(trace: &Trace, reach: Reach) -> Answers {
    let world = World::new(trace, reach);
    let mut answers = vec![world.projection(), world.ops(), world.pushpop(), world.range_kernels()];
    for (rows, relation) in answers.iter_mut().zip(&RELATIONS) {
        sort(rows, relation.key);
    }
    answers
}

impl Span<'_> {
    fn contains(&self, start: i64, end: i64) -> bool {
        self.range.start <= start && self.end >= end
    }

    fn dur(&self) -> i64 {
        self.end - self.range.start
    }

    /// The nesting order of ranges with coinciding bounds: the longer one is outside, then the earlier
    /// row.
    fn place(&self) -> (i64, Reverse<i64>, i64) {
        (self.range.start, Reverse(self.end), self.range.id)
    }

    /// Whether the range counts for `thread`: the thread began it, and no other thread ended it.
    fn is_of(&self, thread: i64) -> bool {
        self.range.thread == thread && self.range.end_thread.is_none()
    }

    fn kind(&self) -> &'static str {
        if self.range.is_push_pop() { "PushPop" } else { "StartEnd" }
    }
}

impl<'a> World<'a> {
    fn new(trace: &'a Trace, reach: Reach) -> Self {
        // A range without an end lasts until the last range or call.
        let of_ranges =
            trace.ranges.iter().map(|range| range.start.max(range.end.unwrap_or(range.start)));
        let last = of_ranges.chain(trace.calls.iter().map(|call| call.end)).max();
        let spans = trace.ranges.iter().map(|range| Span {
            range,
            end: range.end.or(last).expect("there is a range"),
            name: name(trace, range),
        });
        let works = trace.ops.iter().map(|op| Work { op, launch: launch(trace, op) });
        let mut world = Self {
            reach,
            spans: spans.collect(),
            works: works.collect(),
            parents: HashMap::new(),
            inside: HashMap::new(),
            innermost: Vec::new(),
        };
        let id = |span: &Span<'_>| span.range.id;
        world.parents = world.spans.iter().map(|span| (id(span), world.parent(span).map(id))).collect();
        world.inside = world.spans.iter().map(|span| (id(span), world.launched_inside(span))).collect();
        let innermost = |work: &Work<'_>| work.launch.and_then(|call| world.innermost(call)).map(id);
        world.innermost = world.works.iter().map(innermost).collect();
        world
    }

    fn launched_inside(&self, span: &Span<'_>) -> Vec<usize> {
        let is_inside = |&nth: &usize| self.works[nth].launch.is_some_and(|call| self.holds(span, call));
        (0..self.works.len()).filter(is_inside).collect()
    }

    /// Whether the range contains the call, and the call counts for it.
    fn holds(&self, span: &Span<'_>, call: &Call) -> bool {
        span.contains(call.start, call.end)
            && match self.reach {
                Reach::Thread => span.is_of(call.thread),
                Reach::Process => process(span.range.thread) == process(call.thread),
            }
    }

    fn innermost(&self, call: &Call) -> Option<&Span<'a>> {
        let around: Vec<&Span<'_>> = self.spans.iter().filter(|span| self.holds(span, call)).collect();
        let own = around.iter().filter(|span| span.is_of(call.thread)).max_by_key(|span| span.place());
        own.or(around.iter().max_by_key(|span| span.place())).copied()
    }

    /// The shortest range that contains `span` and precedes it in nesting order; among equals, the last.
    fn shortest_around<'s>(
        &'s self,
        span: &Span<'_>,
        takes_part: impl Fn(&Span<'_>) -> bool,
    ) -> Option<&'s Span<'a>> {
        self.spans
            .iter()
            .filter(|above| above.contains(span.range.start, span.end) && above.place() < span.place())
            .filter(|above| takes_part(above))
            .min_by_key(|above| (above.dur(), Reverse(above.place())))
    }

    fn parent(&self, span: &Span<'_>) -> Option<&Span<'a>> {
        let thread = span.range.thread;
        let own = if span.is_of(thread) {
            self.shortest_around(span, |above| above.is_of(thread))
        } else {
            None
        };
        match self.reach {
            Reach::Thread => own,
            Reach::Process => own.or_else(|| {
                self.shortest_around(span, |above| process(above.range.thread) == process(thread))
            }),
        }
    }

    fn span(&self, id: Option<i64>) -> Option<&Span<'a>> {
        self.spans.iter().find(|span| Some(span.range.id) == id)
    }

    fn pushpop_parent(&self, span: &Span<'_>) -> Option<&Span<'a>> {
        let thread = span.range.thread;
        self.shortest_around(span, |above| above.is_of(thread) && above.range.is_push_pop())
    }

    fn projection(&self) -> Vec<Row> {
        let works = |indices: &[usize]| -> Vec<&Work<'_>> {
            indices.iter().map(|&index| &self.works[index]).collect()
        };
        let row_of = |span: &Span<'a>| {
            let id = span.range.id;
            let is_own = |&index: &usize| self.innermost[index] == Some(id);
            let inside = works(&self.inside[&id]);
            let own = works(&self.inside[&id].iter().copied().filter(is_own).collect::<Vec<_>>());
            let is_child = |child: &&Span<'_>| self.parents[&child.range.id] == Some(id);
            let is_used = |child: &&Span<'_>| !self.inside[&child.range.id].is_empty();
            let children = self.spans.iter().filter(is_child).filter(is_used);
            let ancestors = ancestors(span, |span| self.span(self.parents[&span.range.id]));
            row![
                id,
                span.range.start,
                span.end,
                span.dur(),
                span.kind(),
                span.name.clone(),
                self.parents[&id],
                ancestors.len(),
                stack(&ancestors, span),
                children.count(),
                inside.len(),
                launches(&inside),
                inside.iter().filter(|work| work.op.kind == OpKind::Graph).count(),
                gpu_ns(&inside),
                own.len(),
                launches(&own),
                gpu_ns(&own),
                inside.iter().map(|work| work.op.start).min(),
                inside.iter().map(|work| work.op.end).max(),
                busy_ns(&inside),
                pid(span.range.thread),
                tid(span.range.thread),
                process(span.range.thread),
                span.range.thread,
            ]
        };
        self.spans.iter().map(row_of).collect()
    }

    fn ops(&self) -> Vec<Row> {
        let row_of = |(Work { op, launch }, &innermost): (&Work<'_>, &Option<i64>)| {
            let unattributed = match (innermost, launch) {
                (Some(_), _) => None,
                (None, _) if op.kind == OpKind::Graph => Some("graph-level trace"),
                (None, None) => Some("no API row"),
                (None, Some(call)) if self.is_open_elsewhere(call) => Some("other thread"),
                (None, Some(_)) => Some("no open range"),
            };
            row![
                op.kind.as_str(),
                op.id,
                op.start,
                op.end,
                op.end - op.start,
                pid(op.process),
                op.process,
                op.correlation.filter(|&number| number != 0),
                launch.map(|call| call.id),
                launch.map(|call| call.start),
                launch.map(|call| call.end),
                launch.map(|call| tid(call.thread)),
                launch.map(|call| call.thread),
                innermost,
                unattributed,
            ]
        };
        self.works.iter().zip(&self.innermost).map(row_of).collect()
    }

    /// Whether any range of the process contains the call, in whichever thread it began or ended.
    fn is_open_elsewhere(&self, call: &Call) -> bool {
        self.spans.iter().any(|span| {
            process(span.range.thread) == process(call.thread) && span.contains(call.start, call.end)
        })
    }

    fn pushpop(&self) -> Vec<Row> {
        let spans: Vec<&Span<'_>> = self.spans.iter().filter(|span| span.range.is_push_pop()).collect();
        let parents: HashMap<i64, Option<i64>> = spans
            .iter()
            .map(|span| (span.range.id, self.pushpop_parent(span).map(|parent| parent.range.id)))
            .collect();
        let row_of = |span: &&Span<'a>| {
            let id = span.range.id;
            let is_child = |child: &&&Span<'_>| parents[&child.range.id] == Some(id);
            let children: Vec<_> = spans.iter().filter(is_child).collect();
            let ancestors = ancestors(span, |span| self.span(parents[&span.range.id]));
            row![
                id,
                span.range.start,
                span.end,
                span.dur(),
                span.name.clone(),
                parents[&id],
                ancestors.len(),
                stack(&ancestors, span),
                children.len(),
                children.iter().map(|child| child.dur()).sum::<i64>(),
                pid(span.range.thread),
                tid(span.range.thread),
                process(span.range.thread),
                span.range.thread,
            ]
        };
        spans.iter().map(row_of).collect()
    }

    fn range_kernels(&self) -> Vec<Row> {
        type Key = (Option<i64>, Option<String>, Option<&'static str>, Option<i64>);
        #[derive(Default)]
        struct Group {
            ranges: BTreeSet<i64>,
            kernels: BTreeSet<i64>,
            durs: Vec<i64>,
        }
        let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
        for Work { op, launch } in self.works.iter().filter(|work| work.op.kind == OpKind::Kernel) {
            let holds = |span: &&Span<'_>| launch.is_some_and(|call| self.holds(span, call));
            let around: Vec<&Span<'_>> = self.spans.iter().filter(holds).collect();
            let mut add = |key: Key, range: Option<i64>| {
                let group = groups.entry(key).or_default();
                group.ranges.extend(range);
                group.kernels.insert(op.id);
                group.durs.push(op.end - op.start);
            };
            if around.is_empty() {
                add((launch.map(|call| call.thread), None, None, op.name), None);
            }
            for span in around {
                let name = span.name.clone();
                add((Some(span.range.thread), name, Some(span.kind()), op.name), Some(span.range.id));
            }
        }
        let row_of = |(key, group): (Key, Group)| {
            let mut durs = group.durs;
            durs.sort_unstable();
            let count = durs.len();
            let mean = durs.iter().sum::<i64>() as f64 / count as f64;
            let squares: f64 = durs.iter().map(|&dur| (dur as f64 - mean).powi(2)).sum();
            row![
                key.0,
                key.1,
                key.2,
                key.3,
                group.ranges.len(),
                group.kernels.len(),
                durs.iter().sum::<i64>(),
                mean,
                (durs[(count - 1) / 2] + durs[count / 2]) as f64 / 2.0,
                durs[0],
                durs[count - 1],
                if count == 1 { 0.0 } else { squares / (count - 1) as f64 },
            ]
        };
        groups.into_iter().map(row_of).collect()
    }
}

/// The printed name: the domain's name, a colon and the message; without a domain event, the message
/// alone.
///
/// As in NVIDIA's reports, a domain is identified by the operating system's pid and keeps its first
/// name. If the domain's name or the message is missing, there is no printed name.
fn name(trace: &Trace, range: &Range) -> Option<String> {
    let text = range.text.get();
    let is_its_domain = |event: &&crate::projection::trace::Event| {
        event.makes_domain() && event.domain == range.domain && pid(event.thread) == pid(range.thread)
    };
    match trace.events.iter().filter(is_its_domain).min_by_key(|event| event.id) {
        None => text.map(str::to_owned),
        Some(domain) => Some(format!("{}:{}", domain.text.get()?, text?)),
    }
}

/// The outermost of the calls with the operation's correlation id. If a process uses the id again, the last of these that
/// began no later than the operation, else the first.
fn launch<'a>(trace: &'a Trace, op: &Op) -> Option<&'a Call> {
    let number = op.correlation.filter(|&number| number != 0)?;
    let is_of = |call: &&Call| process(call.thread) == op.process && call.correlation == Some(number);
    let place = |call: &Call| (call.start, Reverse(call.end), call.class, call.id);
    let calls: Vec<&Call> = trace.calls.iter().filter(is_of).collect();
    let is_outermost = |call: &&&Call| {
        let before = calls.iter().filter(|other| place(other) < place(call));
        before.map(|other| other.end).max().is_none_or(|reached| call.start > reached)
    };
    let outermost: Vec<&Call> = calls.iter().filter(is_outermost).copied().collect();
    let last = outermost.iter().filter(|call| call.start <= op.start).max_by_key(|call| call.start);
    last.or(outermost.iter().min_by_key(|call| call.start)).copied()
}

/// The ancestors of a range, from the parent up.
fn ancestors<'s, 'a: 's>(
    span: &Span<'a>,
    parent: impl Fn(&Span<'a>) -> Option<&'s Span<'a>>,
) -> Vec<&'s Span<'a>> {
    std::iter::successors(parent(span), |above| parent(above)).collect()
}

fn stack(ancestors: &[&Span<'_>], span: &Span<'_>) -> String {
    let down = ancestors.iter().rev().copied().chain([span]);
    down.map(|span| format!(":{}", span.range.id)).collect()
}

/// The number of distinct launches.
fn launches(works: &[&Work<'_>]) -> usize {
    let calls: BTreeSet<_> = works.iter().filter_map(|work| Some(work.launch?.id)).collect();
    calls.len()
}

fn gpu_ns(works: &[&Work<'_>]) -> i64 {
    works.iter().map(|work| work.op.end - work.op.start).sum()
}

/// Length of the union: the sum of the stretches between neighbouring bounds that an operation covers.
fn busy_ns(works: &[&Work<'_>]) -> Option<i64> {
    let bounds: BTreeSet<i64> = works.iter().flat_map(|work| [work.op.start, work.op.end]).collect();
    let stretches = bounds.iter().zip(bounds.iter().skip(1));
    let covered = stretches
        .filter(|&(from, to)| works.iter().any(|work| work.op.start <= *from && *to <= work.op.end))
        .map(|(from, to)| to - from);
    (!works.is_empty()).then(|| covered.sum())
}

fn pid(global_tid: i64) -> i64 {
    global_tid >> 24 & 0xFF_FFFF
}

fn tid(global_tid: i64) -> i64 {
    global_tid & 0xFF_FFFF
}
