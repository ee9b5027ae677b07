//! Names that mark the borders of what repeats.

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
        let most = names.iter().max().map_or(0, |&name| name as usize + 1);
        let mut starts = vec![0u32; most + 1];
        for &name in names {
            starts[name as usize + 1] += 1;
        }
        for name in 0..most {
            starts[name + 1] += starts[name];
        }
        let (mut next, mut places) = (starts.clone(), vec![0u32; names.len()]);
        for (place, &name) in (0u32..).zip(names) {
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

impl<'a> Markers<'a> {
    /// Those that are most likely to mark a repeat, at most `most`.
    pub(super) fn likeliest(places: &'a Places, most: usize) -> Vec<Self> {
        let mut names: Vec<usize> =
            (0..places.names()).filter(|&name| places.of(name).len() >= 2).collect();
        names.sort_by_key(|&name| (places.of(name).len(), places.of(name)[0]));
        let mut rated: Vec<(f64, Self)> = Vec::new();
        for group in names.chunk_by(|&a, &b| places.of(a).len() == places.of(b).len()) {
            let tried = group.iter().take(TRIED).map(|&first| Self::after(places, first, group));
            let best = tried.reduce(|a, b| if b.names > a.names { b } else { a });
            let Some(markers) = best else { continue };
            if let Some(rate) = markers.rate(places.count) {
                rated.push((rate, markers));
            }
        }
        rated.sort_by(|(a, left), (b, right)| {
            b.total_cmp(a).then(left.first.len().cmp(&right.first.len()))
        });
        rated.truncate(most);
        rated.into_iter().map(|(_, markers)| markers).collect()
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

    /// How regular the distances are and how much they cover; `None` if nothing repeats.
    fn rate(&self, count: usize) -> Option<f64> {
        let mut distances: Vec<u32> = self.first.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let middle = distances.len() / 2;
        let usual = *distances.select_nth_unstable(middle).1;
        let is_usual = |distance: &&u32| **distance <= USUAL * usual && **distance * USUAL >= usual;
        let regular = distances.iter().filter(is_usual).count() as f64 / distances.len() as f64;
        let inside: u64 = distances.iter().filter(is_usual).map(|&distance| u64::from(distance)).sum();
        let covered = (inside + u64::from(usual)) as f64 / count as f64;
        (regular >= LEAST && covered >= LEAST_COVERED).then_some(regular * covered.min(1.0))
    }
}
