//! Which operations of an export and a trace are the same.

use super::align::align;
use super::operations::Operation;
use super::stacks::Stacks;
use foldhash::{HashMap, HashMapExt};
use std::ops::Range;

/// Percent of the operations of the shorter recording that have a pair if both are of the same program.
const LEAST: usize = 5;

/// Operations that are the same, by their places.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) by_correlation: bool,
    /// Operations of the paired process in the export.
    pub(super) export_ops: usize,
}

/// The operations of one stream.
struct Stream {
    process: i64,
    ops: Range<usize>,
    counts: HashMap<u64, usize>,
}

/// The pairs of the operations of an export and a trace; `None` if there is none.
pub(super) fn find(left: &[Operation], right: &[Operation], stacks: &Stacks) -> Option<Pairs> {
    right.first()?;
    let right_streams = streams(right, 0..right.len());
    let by_process: Vec<Range<usize>> = grouped(left, 0..left.len(), |op| op.process);
    // The process of the same ID, if its operations are those of the trace, or else the one whose operations are most like
    // those; of equal ones, the first.
    let all = counted(right);
    let id = |op: &Operation| op.process >> 24 & 0xFF_FFFF;
    let like = |ops: &Range<usize>| {
        let alike = shared(&counted(&left[ops.clone()]), &all);
        (2 * alike > right.len() && id(&left[ops.start]) == id(&right[0]), alike)
    };
    let ours = by_process.into_iter().rev().max_by_key(like)?;
    let found = |pairs: Vec<(usize, usize)>, by_correlation| {
        let enough = 100 * pairs.len() >= LEAST * right.len().min(ours.len()) && !pairs.is_empty();
        enough.then_some(Pairs { pairs, by_correlation, export_ops: ours.len() })
    };
    if let Some(pairs) = by_correlation(left, ours.clone(), right) {
        return found(pairs, true);
    }
    let mut left_streams = streams(left, ours.clone());
    let mut same = Vec::new();
    for stream in &right_streams {
        // Of streams with equal content, the first.
        let best = left_streams
            .iter()
            .enumerate()
            .map(|(place, ours)| (shared(&ours.counts, &stream.counts), std::cmp::Reverse(place)))
            .max()
            .filter(|(shared, _)| *shared > 0);
        if let Some((_, place)) = best {
            same.push((left_streams.remove(place.0).ops, stream.ops.clone()));
        }
    }
    // First by short name and shape; then whole names that ran in the same places are the same name.
    let pair = |left_key: &dyn Fn(&Operation) -> u64, right_key: &dyn Fn(&Operation) -> u64| {
        let mut pairs = Vec::new();
        for (ours, theirs) in &same {
            let left_keys: Vec<u64> = left[ours.clone()].iter().map(left_key).collect();
            let right_keys: Vec<u64> = right[theirs.clone()].iter().map(right_key).collect();
            let agree = |a: usize, b: usize| stacks.agree(theirs.start + a, theirs.start + b);
            let aligned = align(&left_keys, &right_keys, agree);
            pairs.extend(aligned.into_iter().map(|(a, b)| (ours.start + a, theirs.start + b)));
        }
        pairs
    };
    let short = |op: &Operation| op.key;
    let rough = pair(&short, &short);
    let names = names(left, right, &rough);
    let whole = |op: &Operation, name: i64| op.key ^ (name as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let translated = |op: &Operation| whole(op, names.get(&op.name).copied().unwrap_or(-1));
    let own = |op: &Operation| whole(op, op.name);
    found(pair(&translated, &own), false)
}

/// The whole name in the trace that each whole name in the export is most often paired with.
fn names(left: &[Operation], right: &[Operation], pairs: &[(usize, usize)]) -> HashMap<i64, i64> {
    let mut counts: HashMap<(i64, i64), usize> = HashMap::new();
    for (a, b) in pairs {
        *counts.entry((left[*a].name, right[*b].name)).or_default() += 1;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_unstable_by_key(|(names, count)| (std::cmp::Reverse(*count), *names));
    let mut names = HashMap::from_iter([(0, 0)]);
    for ((ours, theirs), _) in sorted {
        names.entry(ours).or_insert(theirs);
    }
    names
}

/// The pairs with equal correlation IDs, if nearly all of them are the same operation.
fn by_correlation(
    left: &[Operation],
    ours: Range<usize>,
    right: &[Operation],
) -> Option<Vec<(usize, usize)>> {
    /// Percent of the operations of the trace that must have a pair.
    const ENOUGH: usize = 90;
    let mut places: HashMap<(i64, u64), usize> = HashMap::with_capacity(ours.len());
    let mut twice = 0;
    for place in ours.clone() {
        if let Some(id) = left[place].correlation {
            twice += usize::from(places.insert((id, left[place].key), place).is_some());
        }
    }
    let mut pairs = Vec::new();
    for (place, op) in right.iter().enumerate() {
        if let Some(other) = op.correlation.and_then(|id| places.get(&(id, op.key))) {
            pairs.push((*other, place));
        }
    }
    let enough = 100 * pairs.len() >= ENOUGH * right.len().min(ours.len());
    (enough && twice == 0 && !pairs.is_empty()).then_some(pairs)
}

/// Neighbours with the same value, which are sorted by it.
fn grouped<K: PartialEq>(
    ops: &[Operation],
    range: Range<usize>,
    key: impl Fn(&Operation) -> K,
) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for place in range {
        match groups.last_mut() {
            Some(group) if key(&ops[group.start]) == key(&ops[place]) => group.end = place + 1,
            _ => groups.push(place..place + 1),
        }
    }
    groups
}

fn streams(ops: &[Operation], range: Range<usize>) -> Vec<Stream> {
    let mut streams: Vec<Stream> = grouped(ops, range, |op| (op.process, op.stream))
        .into_iter()
        .map(|group| Stream {
            process: ops[group.start].process,
            counts: counted(&ops[group.clone()]),
            ops: group,
        })
        .collect();
    // The busiest stream chooses first.
    streams
        .sort_by_key(|stream| (stream.process, std::cmp::Reverse(stream.ops.len()), stream.ops.start));
    streams
}

fn counted(ops: &[Operation]) -> HashMap<u64, usize> {
    let mut counts = HashMap::new();
    for op in ops {
        *counts.entry(op.key).or_default() += 1;
    }
    counts
}

/// How many operations two streams have in common.
fn shared(left: &HashMap<u64, usize>, right: &HashMap<u64, usize>) -> usize {
    left.iter().map(|(key, count)| (*count).min(right.get(key).copied().unwrap_or(0))).sum()
}
