//! Alignment of two sequences of launches: which operation of one stands in the place of which of the other.
//!
//! Operations of the same name are aligned first, in order. What is left between them is aligned by class: runs of
//! operations of one class, so that three kernels stand in the place of the one that they were fused into. What is left
//! then was replaced as a whole, added or removed.

mod common;
#[cfg(test)]
mod tests;

use common::common;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// An operation of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Op {
    /// Number of its name.
    pub name: u32,
    /// Number of its class.
    pub class: u32,
}

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Operations of both sequences with the same number stand in the same place; numbers are in order.
    pub block: usize,
    /// Names that only one sequence has, with the same number, stand in each other's places.
    pub group: Option<u32>,
}

/// Names, and operations of different classes, of a block that may belong together. More say nothing about which stands for which.
const FEW: usize = 8;
/// What is common between two gaps is chance if one of these is not so many times longer.
const CHANCE: usize = 8;

/// The places of the operations of both sequences. The same, other way round, if these are exchanged.
pub fn align(a: &[Op], b: &[Op]) -> [Vec<Place>; 2] {
    if (b.len(), b) < (a.len(), a) {
        let [b, a] = align(b, a);
        return [a, b];
    }
    let blocks = blocks(a, b);
    let groups = groups(a, b, &blocks);
    let places = |ops: &[Op], count: fn(&(usize, usize)) -> usize| {
        let counts = blocks.iter().map(count).enumerate();
        let blocks = counts.flat_map(|(block, count)| std::iter::repeat_n(block, count));
        let place = |(block, op): (usize, &Op)| Place { block, group: groups.get(&op.name).copied() };
        blocks.zip(ops).map(place).collect()
    };
    [places(a, |block| block.0), places(b, |block| block.1)]
}

/// The group of each name that only one sequence has, and that mostly stands in the place of another: each such name belongs to
/// the one that it shares most places with.
fn groups(a: &[Op], b: &[Op], blocks: &[(usize, usize)]) -> BTreeMap<u32, u32> {
    let names = |ops: &[Op]| ops.iter().map(|op| op.name).collect::<BTreeSet<u32>>();
    let (of_a, of_b) = (names(a), names(b));
    // How many places a name has, and how many it shares with each of the other sequence.
    let mut places: BTreeMap<u32, (usize, BTreeMap<u32, usize>)> = BTreeMap::new();
    let (mut a, mut b) = (a, b);
    for &(m, n) in blocks {
        let classes: BTreeSet<u32> = a[..m].iter().chain(&b[..n]).map(|op| op.class).collect();
        let is_clear = m.max(n) <= FEW || classes.len() == 1;
        let (here_a, here_b) = (names(&a[..m]), names(&b[..n]));
        (a, b) = (&a[m..], &b[n..]);
        let (only_a, only_b): (Vec<u32>, Vec<u32>) =
            (here_a.difference(&of_b).copied().collect(), here_b.difference(&of_a).copied().collect());
        let is_clear = only_a.len() + only_b.len() <= FEW && is_clear;
        for (ours, theirs) in [(&only_a, &only_b), (&only_b, &only_a)] {
            for name in ours {
                let (count, shared) = places.entry(*name).or_default();
                *count += 1;
                theirs
                    .iter()
                    .filter(|_| is_clear)
                    .for_each(|other| *shared.entry(*other).or_default() += 1);
            }
        }
    }
    let mut groups = Groups::default();
    for (name, (count, shared)) in &places {
        let best = shared.iter().max_by_key(|(other, shared)| (**shared, Reverse(**other)));
        if let Some((other, _)) = best.filter(|(_, shared)| 2 * **shared >= *count) {
            groups.join(*name, *other);
        }
    }
    let names: Vec<u32> = groups.0.keys().copied().collect();
    names.into_iter().map(|name| (name, groups.of(name))).collect()
}

/// How many operations of each sequence stand in the same place, from first to last.
fn blocks(a: &[Op], b: &[Op]) -> Vec<(usize, usize)> {
    let names = |ops: &[Op]| ops.iter().map(|op| op.name).collect::<Vec<u32>>();
    let mut blocks = Vec::new();
    let pairs = without_chance(common(&names(a), &names(b)), (a.len(), b.len()), |_| 1);
    between(&pairs, (a.len(), b.len()), |a_part, b_part, is_pair| {
        if is_pair {
            blocks.push((1, 1));
        } else {
            by_class(&a[a_part], &b[b_part], &mut blocks);
        }
    });
    blocks
}

/// Aligns runs of operations of one class.
fn by_class(a: &[Op], b: &[Op], blocks: &mut Vec<(usize, usize)>) {
    let runs = |ops: &[Op]| -> Vec<(u32, usize)> {
        ops.chunk_by(|op, next| op.class == next.class).map(|run| (run[0].class, run.len())).collect()
    };
    let classes = |runs: &[(u32, usize)]| runs.iter().map(|(class, _)| *class).collect::<Vec<u32>>();
    let length = |runs: &[(u32, usize)]| runs.iter().map(|(_, length)| length).sum::<usize>();
    let (a, b) = (runs(a), runs(b));
    let pairs = common(&classes(&a), &classes(&b));
    let pairs = without_chance(pairs, (a.len(), b.len()), |(x, y)| a[x].1.min(b[y].1));
    between(&pairs, (a.len(), b.len()), |a_part, b_part, is_pair| {
        let lengths = (length(&a[a_part]), length(&b[b_part]));
        if is_pair && lengths.0 == lengths.1 {
            blocks.extend(std::iter::repeat_n((1, 1), lengths.0));
        } else {
            blocks.push(lengths);
        }
    });
}

/// Calls for each pair, and for what is between two of them.
fn between(
    pairs: &[(usize, usize)],
    lengths: (usize, usize),
    mut call: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>, bool),
) {
    let mut reached = (0, 0);
    for &(x, y) in pairs.iter().chain([&lengths]) {
        if reached.0 < x || reached.1 < y {
            call(reached.0..x, reached.1..y, false);
        }
        if x < lengths.0 && y < lengths.1 {
            call(x..x + 1, y..y + 1, true);
        }
        reached = (x + 1, y + 1);
    }
}

/// Leaves out what is common by chance: short beside what differs before and after it.
fn without_chance(
    pairs: Vec<(usize, usize)>,
    lengths: (usize, usize),
    weight: impl Fn((usize, usize)) -> usize,
) -> Vec<(usize, usize)> {
    let gap = |from: (usize, usize), to: (usize, usize)| (to.0 - from.0).max(to.1 - from.1);
    let mut kept: Vec<(usize, usize)> = Vec::new();
    let mut rest = pairs.as_slice();
    while let Some(&first) = rest.first() {
        let follows = |two: &&[(usize, usize)]| two[1] == (two[0].0 + 1, two[0].1 + 1);
        let run = 1 + rest.windows(2).take_while(follows).count();
        let before = gap(kept.last().map_or((0, 0), |last| (last.0 + 1, last.1 + 1)), first);
        let next = rest.get(run).copied().unwrap_or(lengths);
        let after = gap((rest[run - 1].0 + 1, rest[run - 1].1 + 1), next);
        let length: usize = rest[..run].iter().map(|pair| weight(*pair)).sum();
        if CHANCE * length > before.min(after) {
            kept.extend(&rest[..run]);
        }
        rest = &rest[run..];
    }
    kept
}

/// Names that belong together: each knows one that is smaller, or is the smallest.
#[derive(Default)]
struct Groups(BTreeMap<u32, u32>);

impl Groups {
    fn join(&mut self, name: u32, other: u32) {
        let (x, y) = (self.of(name), self.of(other));
        for name in [x, y, name, other] {
            self.0.insert(name, x.min(y));
        }
    }

    /// The smallest name of the group.
    fn of(&self, mut name: u32) -> u32 {
        while let Some(&smaller) = self.0.get(&name).filter(|smaller| **smaller < name) {
            name = smaller;
        }
        name
    }
}
