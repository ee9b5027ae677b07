//! Names that mark the borders of what repeats.

use super::Times;

/// Where each name occurs.
pub(super) struct Places {
    /// The places of the first name, then those of the second, and so on.
    places: Vec<u32>,
    /// Where the places of each name begin, and the end.
    starts: Vec<u32>,
    /// The number of launches.
    pub(super) count: usize,
}

impl Places {
    pub(super) fn new(names: &[u32]) -> Self {
        Self::of_those(names, |_| true)
    }

    /// Where runs of each name begin: an optimizer launches the same kernel many times in a row.
    pub(super) fn of_runs(names: &[u32]) -> Self {
        Self::of_those(names, |place| place == 0 || names[place - 1] != names[place])
    }

    fn of_those(names: &[u32], counts: impl Fn(usize) -> bool) -> Self {
        let most = names.iter().max().map_or(0, |&name| name as usize + 1);
        let mut starts = vec![0u32; most + 1];
        for (_, &name) in names.iter().enumerate().filter(|&(place, _)| counts(place)) {
            starts[name as usize + 1] += 1;
        }
        for name in 0..most {
            starts[name + 1] += starts[name];
        }
        let (mut next, mut places) = (starts.clone(), vec![0u32; starts[most] as usize]);
        for (place, &name) in (0u32..).zip(names).filter(|&(place, _)| counts(place as usize)) {
            let at = &mut next[name as usize];
            places[*at as usize] = place;
            *at += 1;
        }
        Self { places, starts, count: names.len() }
    }

    fn of(&self, name: usize) -> &[u32] {
        &self.places[self.starts[name] as usize..self.starts[name + 1] as usize]
    }

    fn names(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Names that occur equally often and in turn: each once from one occurrence of the first to the next.
pub(super) struct Markers<'a> {
    /// The places of the name that comes first.
    pub(super) first: &'a [u32],
    /// The places of the name that comes last.
    pub(super) last: &'a [u32],
    /// The number of names.
    pub(super) names: usize,
}

/// Names with the same number of occurrences that are tried as the first.
const TRIED: usize = 4;
/// A distance is usual if it differs from the middle one by less than this factor.
const USUAL: u32 = 2;
/// The share of usual distances, and of launches that are in usual distances, below which nothing repeats.
const LEAST: f64 = 0.5;
const LEAST_COVERED: f64 = 0.25;
/// The share of launches of a stretch that are in usual distances, if nothing else happens in it.
const DENSE: f64 = 0.8;

impl<'a> Markers<'a> {
    /// Those that are most likely to mark a repeat, at most `most`.
    pub(super) fn likeliest(places: &'a Places, times: &Times, by_time: bool, most: usize) -> Vec<Self> {
        let mut rated: Vec<(f64, Self)> = Vec::new();
        for markers in Self::all(places) {
            let regular = markers.regular();
            let of_time = || regular.rate_by_time(times).filter(|_| by_time);
            if let Some(rate) = regular.rate(places.count).or_else(of_time) {
                rated.push((rate, markers));
            }
        }
        rated.sort_by(|(a, left), (b, right)| {
            b.total_cmp(a).then(left.first.len().cmp(&right.first.len()))
        });
        rated.truncate(most);
        rated.into_iter().map(|(_, markers)| markers).collect()
    }

    /// The stretch from the first occurrence to the end of the last part of the markers that repeat in it without much
    /// else, and with the most time of kernels.
    pub(super) fn stretch(places: &'a Places, times: &Times) -> Option<(u32, u32)> {
        let of = |markers: Self| {
            let regular = markers.regular();
            let (from, to) = (regular.from, regular.to.min(places.count as u32));
            let covered = regular.inside as f64 / f64::from(to - from).max(1.0);
            let is_dense = markers.first.len() > 2 && regular.share >= LEAST && covered >= DENSE;
            is_dense.then(|| (times.between(from, to), from, to))
        };
        let best = Self::all(places).into_iter().filter_map(of).max();
        best.map(|(_, from, to)| (from, to))
    }

    /// For each number of occurrences, the markers with the most names.
    pub(super) fn all(places: &'a Places) -> Vec<Self> {
        let mut names: Vec<usize> =
            (0..places.names()).filter(|&name| places.of(name).len() >= 2).collect();
        names.sort_by_key(|&name| (places.of(name).len(), places.of(name)[0]));
        let groups = names.chunk_by(|&a, &b| places.of(a).len() == places.of(b).len());
        let best = |group: &[usize]| {
            let tried = group.iter().take(TRIED).map(|&first| Self::after(places, first, group));
            tried.reduce(|a, b| if b.names > a.names { b } else { a })
        };
        groups.filter_map(best).collect()
    }

    /// The names of a group that occur in turn with `first`.
    fn after(places: &'a Places, first: usize, group: &[usize]) -> Self {
        let first = places.of(first);
        let is_in_turn = |of: &[u32]| {
            let nexts = first[1..].iter().copied().chain([u32::MAX]);
            first.iter().zip(nexts).zip(of).all(|((from, to), place)| from <= place && *place < to)
        };
        let (mut last, mut names) = (first, 0);
        for of in group.iter().map(|&name| places.of(name)).filter(|of| is_in_turn(of)) {
            names += 1;
            if of[0] > last[0] {
                last = of;
            }
        }
        Self { first, last, names }
    }

    /// How regular the distances are.
    fn regular(&self) -> Regular<'a> {
        let first = self.first;
        let mut distances: Vec<u32> = first.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let middle = distances.len() / 2;
        let usual = *distances.select_nth_unstable(middle).1;
        let is_usual = |distance: &&u32| is_usual(**distance, usual);
        let inside: u64 = distances.iter().filter(is_usual).map(|&distance| u64::from(distance)).sum();
        Regular {
            first,
            usual,
            share: distances.iter().filter(is_usual).count() as f64 / distances.len() as f64,
            inside: inside + u64::from(usual),
            from: first[0],
            to: first[first.len() - 1].saturating_add(usual),
        }
    }
}

fn is_usual(distance: u32, usual: u32) -> bool {
    distance <= USUAL * usual && distance * USUAL >= usual
}

/// How regular the distances of markers are.
struct Regular<'a> {
    first: &'a [u32],
    /// The middle one of the distances.
    usual: u32,
    /// The share of distances like it, and the launches in these.
    share: f64,
    inside: u64,
    from: u32,
    to: u32,
}

impl Regular<'_> {
    /// How regular the distances are and how much they cover; `None` if nothing repeats.
    fn rate(&self, count: usize) -> Option<f64> {
        let covered = self.inside as f64 / count as f64;
        (self.share >= LEAST && covered >= LEAST_COVERED).then_some(self.share * covered.min(1.0))
    }

    /// The same, with the time of kernels that they cover.
    fn rate_by_time(&self, times: &Times) -> Option<f64> {
        let pairs = self.first.windows(2).filter(|pair| is_usual(pair[1] - pair[0], self.usual));
        let inside: i64 = pairs.map(|pair| times.between(pair[0], pair[1])).sum();
        let last = self.first[self.first.len() - 1];
        let covered = (inside + times.between(last, self.to)) as f64 / (times.all() as f64).max(1.0);
        (self.share >= LEAST && covered >= LEAST_COVERED).then_some(self.share * covered)
    }
}
