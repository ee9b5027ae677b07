//! Steps without marks: what a program launches again and again.
//!
//! Names that occur equally often, each once between two occurrences of the first, mark the borders of a repeat. A repeat
//! is accepted if most of its parts launch nearly the same. Repeats can be nested: layers in a step. Parts of the program
//! that repeat one after the other, such as two benchmarks, have steps of their own.
//!
//! Counting costs O(n); at most 24 repeats are then compared, each in O(n). All searches together see each launch a fixed
//! number of times.

mod borders;
mod likeness;
mod markers;
mod rounds;
mod states;
mod times;

use crate::projection::Stop;
use likeness::Likeness;
use markers::{Markers, Places};
use times::Times;

/// What a process launched on a GPU, in the order of the launches. All columns have the same length.
#[derive(Debug, Default)]
pub struct Sequence {
    /// A number for what was launched.
    pub names: Vec<u32>,
    /// When, in ns.
    pub starts: Vec<i64>,
    /// Whether the host takes part: a copy from or to it, a wait of the host after the launch, a graph that was
    /// traced as a whole, or a launch by another thread than the one before.
    pub touches_host: Vec<bool>,
    /// Kernels of the launch: several for a graph, none for a copy or fill.
    pub kernels: Vec<u32>,
    /// GPU time of these kernels, in ns. Where others run, that of collectives is left out: they wait for other ranks.
    pub kernel_ns: Vec<i64>,
}

/// What a repeat is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What the program does again and again.
    Step,
    /// As a step, in a part of the program that has less GPU time.
    Other,
    /// What repeats with so different times that it is no step, as in a sweep over sizes.
    Uneven,
    /// A part that repeats without the host: in a step, or in a single pass.
    Block,
}

/// Something that repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    /// What it is.
    pub kind: Kind,
    /// Place of the first launch of each part, and the place behind the last part.
    pub cuts: Vec<u32>,
    /// How much of each part is in the usual part too, and the other way round: 0 to 1.
    pub likeness: Vec<f32>,
    /// Whether each part of a step has an end of its own: the host takes part, other work is around blocks, or it has more
    /// kernels than a layer. Of other steps, several can be one longer step, as layers of a pass are.
    pub is_sure: bool,
}

impl Repeat {
    /// The number of parts.
    pub fn len(&self) -> usize {
        self.likeness.len()
    }

    /// Whether there are no parts.
    pub fn is_empty(&self) -> bool {
        self.likeness.is_empty()
    }

    fn lengths(&self) -> impl Iterator<Item = u32> + '_ {
        self.cuts.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// The middle one of the lengths.
    pub fn usual_length(&self) -> u32 {
        let mut lengths: Vec<u32> = self.lengths().collect();
        let middle = lengths.len() / 2;
        if lengths.is_empty() { 0 } else { *lengths.select_nth_unstable(middle).1 }
    }
}

/// Repeats that are compared part by part.
const CANDIDATES: usize = 24;
/// A part that is less like the usual part than this is another thing.
pub const ALIKE: f32 = 0.7;
/// Parts of a repeat that must be alike, and how much on average.
const MOST: f32 = 0.8;
const ON_AVERAGE: f32 = 0.85;
/// Launches that must be in a repeat.
const COVERED: f32 = 0.3;
/// What is true of this share of the parts is a property of the repeat.
const NEARLY_ALL: f32 = 0.8;
/// A repeat without the host is a step if this many of all launches are in it, with nearly all time of kernels.
const ALL: f32 = 0.99;
/// … or if nearly no other kernel runs, and it has as many parts as no model has layers with so little around them; of a
/// single kernel, more.
const ALONE: usize = 8;
const OTHER_KERNELS: f64 = 0.001;
/// … or if it has more parts than any model has layers, with nearly all time of kernels.
const MORE_THAN_LAYERS: usize = 200;
const NEARLY_ALL_TIME: f64 = 0.9;
/// … or if each part is a graph of more kernels than a layer has, or than a piece of one, and there are many parts.
const MANY: usize = 16;
const LARGE_GRAPH: u32 = 100;
const GRAPH: u32 = 30;
/// … and has at least this many launches: a few kernels in a row repeat in any loop.
const LONG: u32 = 8;
/// The host must wait after the same number of parts this many times, if these parts together are a step. Fewer waits can be
/// the end of a warm-up and of what was timed after it.
const PERIODS: usize = 3;
/// A part with more kernels than this is no layer that runs without other kernels around, but may be a small training step.
const LAYER: u32 = 30;
/// Steps in a step, and the share of its launches that is in none of them. Of layers of a pass, no more are tried: after
/// ten steps or more, programs write a log; but the host may work between calls of a function that has more parts.
const FEW: u32 = 8;
const MANY_PARTS: u32 = 64;
const OTHER_WORK: f32 = 0.05;
/// … and the share of its kernels that are in none, if the host takes part in the step and in none of these.
const OTHER_LAUNCHES: f64 = 0.2;
/// … and how short these are, as a part of the usual time.
const SHORT: f64 = 0.25;
/// Parts that take turns, as one step.
const TURNS: usize = 4;
/// A long step may hold any number of short ones if it takes more than so many times their kernel time, as where a model
/// learns after a simulation.
const SMALL: i64 = 4;
/// Two parts may be alike by chance: they must cover more.
const COVERED_BY_TWO: f32 = 0.9;
/// Fewer parts than this are steps only if they are long.
const FEW_PARTS: usize = 4;
/// Repeats whose lengths differ by less than this factor are the same one.
const SAME: f32 = 1.15;

impl Sequence {
    /// What repeats: the step, if there is one, and what repeats in it, the longest parts first, then the steps of other parts
    /// of the program. Empty if nothing repeats. `None` if it was stopped.
    pub fn repeats(&self, stop: Stop<'_>) -> Option<Vec<Repeat>> {
        states::States::of(self, stop)
    }

    /// What repeats, the longest parts first. The first is the step, if there is one. `is_whole`: these are all launches.
    fn search(&self, is_whole: bool, stop: Stop<'_>) -> Option<Vec<Repeat>> {
        let times = Times::of(self);
        let is_step = |found: &[Repeat]| found.first().is_some_and(|first| first.kind == Kind::Step);
        let places = Places::new(&self.names);
        let found = self.search_by(is_whole, false, &places, &times, stop)?;
        if is_step(&found) {
            return Some(found);
        }
        // A few launches of graphs can have most of the time.
        let by_time = self.search_by(is_whole, true, &places, &times, stop)?;
        if is_step(&by_time) {
            return Some(by_time);
        }
        // An optimizer that launches one kernel many times in a row, after several batches, ends a step.
        let runs = self.search_by(is_whole, false, &Places::of_runs(&self.names), &times, stop)?;
        Some(if is_step(&runs) { runs } else { found })
    }

    fn search_by(
        &self,
        is_whole: bool,
        by_time: bool,
        places: &Places,
        times: &Times,
        stop: Stop<'_>,
    ) -> Option<Vec<Repeat>> {
        let mut found: Vec<(Repeat, f32)> = Vec::new();
        let mut likeness = Likeness::new(&self.names);
        for markers in Markers::likeliest(places, times, by_time, CANDIDATES) {
            if stop.is_over() {
                return None;
            }
            let cuts = borders::cuts(self, &markers);
            if let Some((repeat, covered)) = self.accepted(cuts, times, by_time, &mut likeness) {
                found.push((repeat, covered));
            }
        }
        // Of the same repeat, the one that covers most comes first.
        found.sort_by(|(a, a_covers), (b, b_covers)| {
            b_covers.total_cmp(a_covers).then(a.len().cmp(&b.len())).then(a.cuts.cmp(&b.cuts))
        });
        let mut repeats: Vec<Repeat> = Vec::new();
        for (repeat, _) in found {
            let length = repeat.usual_length() as f32;
            let is_same = |known: &Repeat| {
                let other = known.usual_length() as f32;
                length.max(other) < SAME * length.min(other)
            };
            if !repeats.iter().any(is_same) {
                repeats.push(repeat);
            }
        }
        repeats.sort_by_key(|repeat| std::cmp::Reverse(repeat.usual_length()));
        Some(self.judged(repeats, times, is_whole))
    }

    /// The repeat with these cuts, without other things at its ends, and the share of all launches in it.
    fn accepted(
        &self,
        cuts: Vec<u32>,
        times: &Times,
        by_time: bool,
        likeness: &mut Likeness<'_>,
    ) -> Option<(Repeat, f32)> {
        let mut of = likeness.of(&cuts);
        let first = of.iter().position(|&like| like >= ALIKE)?;
        let last = of.iter().rposition(|&like| like >= ALIKE)?;
        let cuts = with_fragments(&cuts[first..=last + 1], &of[first..=last]);
        of = likeness.of(&cuts);
        let count = of.len() as f32;
        let alike = of.iter().filter(|&&like| like >= ALIKE).count() as f32;
        let mean = of.iter().sum::<f32>() / count;
        let inside: u32 = (cuts.windows(2).zip(&of))
            .filter(|(_, like)| **like >= ALIKE)
            .map(|(pair, _)| pair[1] - pair[0])
            .sum();
        let covered = inside as f32 / self.names.len() as f32;
        let repeat = Repeat { kind: Kind::Block, cuts, likeness: of, is_sure: false };
        let is_large = match repeat.len() {
            2 => covered >= COVERED_BY_TWO,
            _ => covered >= COVERED || by_time && times.share_of(&repeat) >= f64::from(COVERED),
        };
        let is_accepted = repeat.len() >= 2 && alike >= MOST * count && mean >= ON_AVERAGE && is_large;
        is_accepted.then_some((repeat, covered))
    }

    /// Tells steps from blocks. What is longer than the step is left out: it repeats by chance.
    fn judged(&self, mut repeats: Vec<Repeat>, times: &Times, is_whole: bool) -> Vec<Repeat> {
        let is_sure = |place: usize| {
            let repeat = &repeats[place];
            self.meets_host(repeat)
                || is_whole && repeats[place + 1..].iter().any(|inner| is_around(repeat, inner))
        };
        let sure: Vec<usize> = (0..repeats.len()).filter(|&place| is_sure(place)).collect();
        let is_likely = |place: usize| {
            let repeat = &repeats[place];
            is_whole
                && self.covered(repeat) >= ALL
                && repeat.usual_length() >= LONG
                && (times.all() == 0 || times.share_of(repeat) >= NEARLY_ALL_TIME)
                || self.fills(repeat, times, is_whole)
        };
        // Several steps in a row, such as from one line of a log to the next, are no step.
        let is_more = |outer: usize| {
            let is_inner = |&&inner: &&usize| inner > outer && times.has_kernels(&repeats[inner]);
            let mut inner = sure.iter().filter(is_inner);
            inner.all(|&inner| {
                let (outer, inner) = (&repeats[outer], &repeats[inner]);
                is_more(outer, inner, times)
                    || self.is_apart(outer, inner, times)
                    || self.has_layers(outer, inner, times)
            })
        };
        let is_step = |&place: &usize| {
            let repeat = &repeats[place];
            let is_long = repeat.len() >= FEW_PARTS
                || (is_whole || repeat.len() > 2)
                    && repeat.usual_length().max(times.usual_kernels(repeat)) >= LONG;
            is_long
                && times.has_kernels(repeat)
                && (sure.contains(&place) || is_likely(place))
                && is_more(place)
        };
        let all: Vec<usize> = (0..repeats.len()).filter(is_step).collect();
        // If the parts take different times, a shorter repeat may be what is regular.
        let even = all.iter().find(|&&place| times.is_even(&repeats[place]));
        let step = even.or(all.first()).copied();
        // Parts with an end of their own are not put together.
        let is_clear = step.is_some_and(|step| {
            let repeat = &repeats[step];
            self.meets_host(repeat)
                || times.usual_kernels(repeat) >= LARGE_GRAPH
                || is_large_graph(repeat, times)
                || repeats[step + 1..].iter().any(|inner| is_around(repeat, inner))
        });
        let part = repeats.get(step.unwrap_or(0)).filter(|_| !is_clear);
        if let Some(pass) = part.and_then(|part| self.pass(part, times)) {
            // Where the parts alone are no steps, nothing else may be around them.
            if step.is_some() || is_whole && self.covered(&pass) >= ALL && pass.usual_length() >= LONG {
                repeats.drain(..step.unwrap_or(0));
                repeats.insert(0, pass);
                return repeats;
            }
        }
        if let Some(step) = step {
            repeats.drain(..step);
            repeats[0].kind = if even.is_some() { Kind::Step } else { Kind::Uneven };
            repeats[0].is_sure = is_clear || repeats[0].len() >= MORE_THAN_LAYERS;
            if even.is_some()
                && let Some(turn) = self.alternating(&repeats[0], times)
            {
                (repeats[0].kind, repeats[0].is_sure) = (Kind::Block, false);
                repeats.insert(0, turn);
            }
        }
        repeats
    }

    /// Two to four parts as one step, where these have other numbers of kernels, again and again in the same order, such as
    /// a discriminator and a generator that learn in turn.
    fn alternating(&self, repeat: &Repeat, times: &Times) -> Option<Repeat> {
        let kernels: Vec<u64> =
            repeat.cuts.windows(2).map(|pair| times.kernels_between(pair[0], pair[1])).collect();
        let mut usual = kernels.clone();
        let middle = usual.len() / 2;
        let usual = *usual.select_nth_unstable(middle).1;
        if usual <= u64::from(LAYER) {
            return None;
        }
        let is_other = |a: u64, b: u64| a.abs_diff(b) as f32 >= OTHER_WORK * a.max(b) as f32;
        // The first part may be another one.
        let (count, first) = (2..=TURNS).find_map(|count| {
            let again = kernels.iter().zip(kernels.iter().skip(count));
            let same = again.filter(|(a, b)| a == b).count();
            let is_period = same as f32 >= ALL * kernels.len().saturating_sub(count) as f32;
            if kernels.len() < FEW_PARTS * count || !is_period {
                return None;
            }
            let first = (0..count).find(|&first| {
                kernels[first..first + count] == kernels[first + count..first + 2 * count]
            })?;
            let differs =
                kernels[first..first + count].iter().any(|&part| is_other(part, kernels[first]));
            differs.then_some((count, first))
        })?;
        let cuts = repeat.cuts[first..].iter().copied().step_by(count).collect();
        let (mut turn, _) = self.accepted(cuts, times, true, &mut Likeness::new(&self.names))?;
        (turn.kind, turn.is_sure) = (Kind::Step, true);
        (times.is_even(&turn) && times.has_kernels(&turn)).then_some(turn)
    }

    /// Several parts of a repeat as one step, such as the layers of a pass: the host waits after every few parts, and
    /// nowhere else.
    fn pass(&self, repeat: &Repeat, times: &Times) -> Option<Repeat> {
        let meets = |from: u32, to: u32| self.touches_host[from as usize..to as usize].contains(&true);
        let (mut cuts, mut distances, mut last, mut others) = (vec![repeat.cuts[0]], Vec::new(), 0, 0);
        for (part, pair) in (1..).zip(repeat.cuts.windows(2)) {
            others += usize::from(meets(pair[0], pair[1] - 1));
            if meets(pair[1] - 1, pair[1]) {
                distances.push(part - last);
                last = part;
                cuts.push(pair[1]);
            }
        }
        let waits = distances.len() as f32;
        let usual = times::middle(distances.clone())?;
        let even = distances.iter().filter(|&&distance| distance == usual).count();
        // A single launch is no layer. More parts are one call of a function if the host works long after it.
        let is_count = (2..=i64::from(FEW)).contains(&usual)
            || (2..=i64::from(MANY_PARTS)).contains(&usual) && self.are_apart(&cuts);
        let is_periodic = repeat.usual_length() > 1
            && times.usual_kernels(repeat) <= LAYER
            && is_count
            && even >= PERIODS
            && even as f32 >= NEARLY_ALL * waits
            && others as f32 <= (1.0 - NEARLY_ALL) * waits;
        if !is_periodic {
            return None;
        }
        // The last part has the work after the last wait.
        cuts.extend(repeat.cuts.last().filter(|&&end| cuts.last() != Some(&end)));
        let (mut pass, _) = self.accepted(cuts, times, true, &mut Likeness::new(&self.names))?;
        (pass.kind, pass.is_sure) = (Kind::Step, true);
        (times.is_even(&pass) && times.has_kernels(&pass)).then_some(pass)
    }

    /// Whether each range between cuts ends with a pause in which its kernels are done, of half of the time or more in all.
    fn are_apart(&self, cuts: &[u32]) -> bool {
        let (mut apart, mut all) = (0_i64, 0_i64);
        for pair in cuts.windows(2) {
            let (from, to) = (pair[0] as usize, pair[1] as usize);
            let Some(next) = self.starts.get(to) else { continue };
            let busy: i64 = self.kernel_ns[from..to].iter().sum();
            apart += next.saturating_sub(self.starts[to - 1]).saturating_sub(busy).max(0);
            all += next.saturating_sub(self.starts[from]).max(0);
        }
        all > 0 && apart.saturating_mul(2) >= all
    }

    /// Whether there are too many parts of a repeat, with too little else, to be layers of a pass.
    fn fills(&self, repeat: &Repeat, times: &Times, is_whole: bool) -> bool {
        let share = times.share_of(repeat);
        let (all, inside) = (times.all_kernels(), times.kernels_of(repeat));
        let is_alone = are_few(all - inside, all);
        // Fewer than many must be all that runs, without a pause after several: these would be the step.
        let is_enough = repeat.len() >= MANY
            || repeat.len() >= ALONE
                && times.usual_kernels(repeat) > 1
                && share >= NEARLY_ALL_TIME
                && self.paced(repeat) == 1.0;
        is_whole && is_alone && is_enough && share >= 0.5 && self.is_paced(repeat)
            || repeat.len() >= MORE_THAN_LAYERS && share >= NEARLY_ALL_TIME
            || is_large_graph(repeat, times)
    }

    /// Whether a single launch comes again and again at about the same distance. Where it comes in bursts, a burst may be the
    /// step. True of longer parts.
    fn is_paced(&self, repeat: &Repeat) -> bool {
        repeat.usual_length() > 1 || self.paced(repeat) >= NEARLY_ALL
    }

    /// The share of parts that begin about as soon after the one before as is usual.
    fn paced(&self, repeat: &Repeat) -> f32 {
        let start = |cut: &u32| self.starts[*cut as usize];
        let pauses: Vec<i64> = repeat.cuts[..repeat.len()]
            .windows(2)
            .map(|pair| start(&pair[1]).saturating_sub(start(&pair[0])))
            .collect();
        let usual = times::middle(pauses.clone()).unwrap_or_default();
        let even = pauses.iter().filter(|pause| **pause <= times::USUAL.saturating_mul(usual)).count();
        even as f32 / pauses.len().max(1) as f32
    }

    /// Whether the host takes part in nearly every part.
    fn meets_host(&self, repeat: &Repeat) -> bool {
        let meets = |pair: &[u32]| self.touches_host[pair[0] as usize..pair[1] as usize].contains(&true);
        let met = repeat.cuts.windows(2).filter(|pair| meets(pair)).count();
        met as f32 >= NEARLY_ALL * repeat.len() as f32
    }

    /// Whether few parts of `inner` follow each other before the host works for longer than all of these take, as it evaluates
    /// after the levels of a tree.
    fn is_apart(&self, outer: &Repeat, inner: &Repeat, times: &Times) -> bool {
        let count = times.usual_kernels(outer) / times.usual_kernels(inner).max(1);
        outer.len() >= MANY && (2..=FEW).contains(&count) && self.are_apart(&outer.cuts)
    }

    /// Whether `inner` has layers of a step: some dozens of kernels without the host, while each part of `outer` has the
    /// host, and short kernels, too, as an optimizer launches for each tensor. Those of an evaluation are not short.
    fn has_layers(&self, outer: &Repeat, inner: &Repeat, times: &Times) -> bool {
        let share = |all: f64, inside: f64| (all - inside).max(0.0) / all.max(1.0);
        let others = share(times.kernels_of(outer) as f64, times.kernels_of(inner) as f64);
        let of_time = share(times.time_of(outer) as f64, times.time_of(inner) as f64);
        let meets =
            |pair: &&[u32]| self.touches_host[pair[0] as usize..pair[1] as usize].contains(&true);
        let met = inner.cuts.windows(2).filter(meets).count();
        outer.len() > 2
            && times.usual_kernels(inner) <= LARGE_GRAPH
            && others >= OTHER_LAUNCHES
            && of_time <= SHORT * others
            && met as f32 <= OTHER_WORK * inner.len() as f32
            && self.meets_host(outer)
    }

    fn covered(&self, repeat: &Repeat) -> f32 {
        let ends = repeat.cuts.first().zip(repeat.cuts.last());
        ends.map_or(0.0, |(first, last)| (last - first) as f32 / self.names.len() as f32)
    }
}

/// Whether each part is a graph of more kernels than a layer has, and there are many parts.
fn is_large_graph(repeat: &Repeat, times: &Times) -> bool {
    let is_graph_of = |kernels: u32| times.usual_kernels(repeat) >= kernels * repeat.usual_length();
    is_graph_of(LARGE_GRAPH) && repeat.len() > 2 || is_graph_of(GRAPH) && repeat.len() >= MANY
}

/// Whether so many kernels are nothing beside all.
fn are_few(others: u64, all: u64) -> bool {
    others as f64 <= (OTHER_KERNELS * all as f64).max(1.0)
}

/// The cuts without those before fragments: parts that are too short for what repeats, such as an evaluation that begins as
/// a step does. A fragment belongs to the part before it.
fn with_fragments(cuts: &[u32], likeness: &[f32]) -> Vec<u32> {
    let mut lengths: Vec<u32> = cuts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = lengths.len() / 2;
    let usual = *lengths.select_nth_unstable(middle).1;
    let is_fragment = |part: usize| {
        likeness[part] < ALIKE && ((cuts[part + 1] - cuts[part]) as f32) < ALIKE * usual as f32
    };
    let keeps = |&place: &usize| place == 0 || place == likeness.len() || !is_fragment(place);
    (0..cuts.len()).filter(keeps).map(|place| cuts[place]).collect()
}

/// Whether parts of `outer` are more than several parts of `inner`: few of them, and other work, as an optimizer has after
/// several batches, or nearly all the time in it. To read a result for a log is none.
fn is_more(outer: &Repeat, inner: &Repeat, times: &Times) -> bool {
    let (length, usual) = match (times.usual_kernels(outer), times.usual_kernels(inner)) {
        (_, 0) => (outer.usual_length(), inner.usual_length().max(1)),
        kernels => kernels,
    };
    let count = length / usual;
    let has_more = count <= FEW && (length - count * usual) as f32 >= OTHER_WORK * length as f32;
    outer.len() > 2 && (has_more || times.time_of(inner).saturating_mul(SMALL) < times.time_of(outer))
}

/// Whether parts of `outer` consist of several parts of `inner` and of something else between them, as a step does of
/// layers, and of what comes before and after them. Two layers that alternate have nothing else.
fn is_around(outer: &Repeat, inner: &Repeat) -> bool {
    let usual = inner.usual_length();
    let place = |cut: u32| inner.cuts.partition_point(|&of| of <= cut);
    let parts = outer.cuts.windows(2);
    let consists = parts.filter(|part| place(part[1]).saturating_sub(place(part[0])) >= 2).count();
    // An inner part over the border of two outer parts contains what is between their inner parts.
    let borders = &outer.cuts[1..outer.len()];
    let is_longer = |border: &&u32| match place(**border) {
        0 => false,
        after => inner.cuts.get(after).is_some_and(|cut| cut - inner.cuts[after - 1] > usual),
    };
    let longer = borders.iter().filter(is_longer).count();
    consists as f32 >= NEARLY_ALL * outer.len() as f32
        && longer as f32 >= NEARLY_ALL * borders.len() as f32
}

#[cfg(test)]
mod tests;
