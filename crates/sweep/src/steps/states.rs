//! Steady states: parts of a program, one after the other, that have steps of their own.

use super::markers::{Markers, Places};
use super::times::{Times, drifts, middle};
use super::{FEW_PARTS, Kind, Repeat, Sequence, are_few};
use crate::projection::Stop;
use foldhash::HashSet;
use std::ops::Range;

/// A part of the program with a smaller share of the time of kernels, and one with fewer launches, is not searched.
const LEAST_TIME: f64 = 0.05;
const LEAST_LAUNCHES: usize = 4;
/// All searches together see each launch this many times at most.
const SEARCHES: usize = 6;
/// A stretch that has more of the launches is nothing new.
const NEW: f64 = 0.9;
/// Steps of two sizes differ by at least this factor.
const OTHER_SIZE: f64 = 1.4;
/// More sizes than this are a sweep.
const SIZES: usize = 4;
/// Parts with another time, one after the other, that end a run of equal ones.
const OUTLIERS: usize = 3;
/// Parts before, whose middle one tells what is equal.
const LAST: usize = 5;
/// The share of parts in long runs, if a repeat consists of these.
const IN_RUNS: f64 = 0.9;

/// The steady states of a sequence.
pub(super) struct States<'a> {
    sequence: &'a Sequence,
    times: Times,
    /// What repeats in each, the step first.
    found: Vec<Vec<Repeat>>,
}

impl<'a> States<'a> {
    /// The repeats of the state with the most time of kernels, then the steps of the others in order of time.
    pub(super) fn of(sequence: &'a Sequence, stop: Stop<'_>) -> Option<Vec<Repeat>> {
        let count = sequence.names.len();
        let mut states = Self { sequence, times: Times::of(sequence), found: Vec::new() };
        let (mut blocks, mut likely) = (Vec::new(), Vec::new());
        let mut left: Vec<Range<u32>> = std::iter::once(0..count as u32).collect();
        let mut seen = 0;
        while let Some(part) = left.pop() {
            let is_whole = seen == 0;
            if !is_whole && !states.is_worth(&part, seen) {
                continue;
            }
            seen += part.len();
            let own = sequence.part(&part);
            let mut repeats = own.search(is_whole, stop)?;
            let own_times = Times::of(&own);
            let fills = repeats.first().is_some_and(|first| own.fills(first, &own_times, true));
            repeats.iter_mut().for_each(|repeat| repeat.move_by(part.start));
            let inside = match repeats.first() {
                Some(step) if matches!(step.kind, Kind::Step | Kind::Uneven) => {
                    let inside = step.cuts[0]..step.cuts[step.len()];
                    states.add(repeats);
                    inside
                }
                _ => {
                    if is_whole {
                        blocks = repeats;
                    } else if fills {
                        likely.push(repeats);
                    }
                    let places = Places::new(&own.names);
                    let Some((from, to)) = Markers::stretch(&places, &own_times) else { continue };
                    if f64::from(to - from) >= NEW * part.len() as f64 {
                        continue;
                    }
                    let inside = part.start + from..part.start + to;
                    left.push(inside.clone());
                    inside
                }
            };
            left.extend([part.start..inside.start, inside.end..part.end]);
        }
        states.add_likely(likely);
        Some(states.in_order(blocks))
    }

    /// Adds what repeats in parts of the program without the host, if there are several such parts, and no other kernel
    /// runs: the layers of a pass have others before and after them.
    fn add_likely(&mut self, likely: Vec<Vec<Repeat>>) {
        let are_even = likely.iter().all(|repeats| self.times.is_even(&repeats[0]));
        if !self.found.is_empty() || likely.len() < 2 || !are_even {
            return;
        }
        let launches = &self.sequence;
        let within = |repeats: &Vec<Repeat>| repeats[0].cuts[0]..repeats[0].cuts[repeats[0].len()];
        let known: HashSet<u32> =
            (likely.iter().flat_map(within)).map(|place| launches.names[place as usize]).collect();
        let others =
            launches.names.iter().zip(&launches.kernels).filter(|(name, _)| !known.contains(name));
        let others: u64 = others.map(|(_, &kernels)| u64::from(kernels)).sum();
        if are_few(others, self.times.all_kernels()) {
            for mut repeats in likely {
                repeats[0].kind = Kind::Step;
                self.add(repeats);
            }
        }
    }

    fn is_worth(&self, part: &Range<u32>, seen: usize) -> bool {
        let time = self.times.between(part.start, part.end) as f64;
        part.len() >= LEAST_LAUNCHES
            && time >= LEAST_TIME * self.times.all() as f64
            && time > 0.0
            && seen + part.len() <= SEARCHES * self.sequence.names.len()
    }

    /// Adds a state, or one for each of its sizes.
    fn add(&mut self, mut repeats: Vec<Repeat>) {
        let step = repeats.remove(0);
        match self.sizes(&step) {
            Some(sizes) => self.found.extend(sizes.into_iter().map(|size| vec![step.parts(size)])),
            None => {
                repeats.insert(0, step);
                self.found.push(repeats);
            }
        }
    }

    /// The parts of each size, if a repeat consists of a few runs of parts that take equally long.
    fn sizes(&self, repeat: &Repeat) -> Option<Vec<Range<usize>>> {
        let times: Vec<i64> =
            repeat.cuts.windows(2).map(|pair| self.times.between(pair[0], pair[1])).collect();
        let differ = |a: i64, b: i64| a.max(b) as f64 >= OTHER_SIZE * a.min(b) as f64;
        let (mut runs, mut from, mut others) = (Vec::new(), 0, 0);
        // The last parts tell what comes next: times that drift are of one size.
        let mut last: Vec<i64> = times.iter().copied().take(LAST).collect();
        last.resize(LAST, *last.first()?);
        let mut usual = middle(last.clone())?;
        for (place, &time) in times.iter().enumerate() {
            if !differ(time, usual) {
                others = 0;
                last[place % LAST] = time;
                usual = middle(last.clone())?;
                continue;
            }
            others += 1;
            if others == OUTLIERS {
                let end = place + 1 - OUTLIERS;
                runs.push(from..end);
                usual = middle(times[end..=place].to_vec())?;
                last.fill(usual);
                (from, others) = (end, 0);
            }
        }
        runs.push(from..times.len());
        let long: Vec<Range<usize>> = runs.into_iter().filter(|run| run.len() >= FEW_PARTS).collect();
        let inside: usize = long.iter().map(ExactSizeIterator::len).sum();
        // A run that drifts has the sizes of a sweep.
        let is_split = (2..=SIZES).contains(&long.len())
            && inside as f64 >= IN_RUNS * times.len() as f64
            && !long.iter().any(|run| drifts(&times[run.clone()]));
        is_split.then_some(long)
    }

    /// The state with the most time first, whose steps are judged, then the others.
    fn in_order(mut self, blocks: Vec<Repeat>) -> Vec<Repeat> {
        let is_even = |state: &[Repeat]| state[0].kind == Kind::Step;
        let time = |state: &[Repeat]| (is_even(state), self.times.time_of(&state[0]));
        let judged =
            (0..self.found.len()).max_by_key(|&at| (time(&self.found[at]), std::cmp::Reverse(at)));
        let Some(judged) = judged else { return blocks };
        let mut repeats = self.found.swap_remove(judged);
        let mut others: Vec<Repeat> =
            self.found.into_iter().filter_map(|state| state.into_iter().next()).collect();
        others.sort_by_key(|other| other.cuts[0]);
        for other in &mut others {
            other.kind = if other.kind == Kind::Step { Kind::Other } else { Kind::Uneven };
        }
        repeats.extend(others);
        repeats
    }
}

impl Repeat {
    fn move_by(&mut self, launches: u32) {
        self.cuts.iter_mut().for_each(|cut| *cut += launches);
    }

    /// Some of the parts.
    fn parts(&self, parts: Range<usize>) -> Self {
        Self {
            kind: Kind::Step,
            cuts: self.cuts[parts.start..=parts.end].to_vec(),
            likeness: self.likeness[parts].to_vec(),
            is_sure: self.is_sure,
        }
    }
}

impl Sequence {
    /// A part of the launches, with names numbered anew so that a search costs what the part has.
    fn part(&self, part: &Range<u32>) -> Self {
        let range = part.start as usize..part.end as usize;
        let mut known: Vec<u32> = self.names[range.clone()].to_vec();
        known.sort_unstable();
        known.dedup();
        let number = |name: &u32| known.partition_point(|of| of < name) as u32;
        Self {
            names: self.names[range.clone()].iter().map(number).collect(),
            starts: self.starts[range.clone()].to_vec(),
            touches_host: self.touches_host[range.clone()].to_vec(),
            kernels: self.kernels[range.clone()].to_vec(),
            kernel_ns: self.kernel_ns[range].to_vec(),
        }
    }
}
