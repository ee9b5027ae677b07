//! Paths of range names, from the outermost range inwards, and the totals of each path.

use super::slices::{Projection, Work};
use super::{NONE, Own};
use crate::interval::union_length;
use foldhash::HashMap;

/// A path: the folded names from the outermost range to a range.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    /// The path without its last name, or [`NONE`].
    pub parent: u32,
    /// Its last folded name.
    pub layer: u32,
    /// Number of names, minus one.
    pub depth: u32,
    /// Number of ranges with this path.
    pub ranges: u32,
    /// Sum of their durations on the CPU.
    pub cpu_ns: i64,
    /// Work that was launched directly in them.
    pub own: Own,
}

/// All paths of a projection.
#[derive(Debug, Default)]
pub struct Paths {
    /// The paths. A parent comes before its children.
    pub paths: Vec<Path>,
    /// The path of each range.
    pub of_range: Vec<u32>,
    /// Ranges sorted by path: those of path `p` are at `places[p]..places[p + 1]`.
    by_path: Vec<u32>,
    places: Vec<u32>,
}

impl Paths {
    /// Builds the paths. `layers` gives the folded form of each name; only ranges for which `is_shown` is
    /// true add to `ranges` and `cpu_ns`.
    pub fn new(projection: &Projection, layers: &[u32], is_shown: impl Fn(usize) -> bool) -> Self {
        let attribution = &projection.attribution;
        let ranges = &attribution.capture.ranges;
        let mut paths: Vec<Path> = Vec::new();
        let mut of_range = vec![NONE; ranges.len()];
        let mut known: HashMap<(u32, u32), u32> = HashMap::default();
        let mut chain = Vec::new();
        for index in 0..ranges.len() {
            // Parents mostly come first. With attribution by process, one may be on a later thread.
            let mut at = index as u32;
            while at != NONE && of_range[at as usize] == NONE {
                chain.push(at);
                at = attribution.parent[at as usize];
            }
            while let Some(range) = chain.pop() {
                let above = attribution.parent[range as usize];
                let parent = of_range.get(above as usize).copied().unwrap_or(NONE);
                let layer = layers[ranges.at(range as usize).name as usize];
                let fresh = paths.len() as u32;
                let path = *known.entry((parent, layer)).or_insert(fresh);
                if path == fresh {
                    let depth = paths.get(parent as usize).map_or(0, |above| above.depth + 1);
                    let own = Own::default();
                    paths.push(Path { parent, layer, depth, ranges: 0, cpu_ns: 0, own });
                }
                of_range[range as usize] = path;
            }
        }
        let mut places = vec![0u32; paths.len() + 1];
        for (index, &path) in of_range.iter().enumerate() {
            places[path as usize + 1] += 1;
            let path = &mut paths[path as usize];
            if is_shown(index) {
                path.ranges += 1;
                let range = ranges.at(index);
                path.cpu_ns = path.cpu_ns.saturating_add(range.end - range.start);
            }
            let own = projection.own(index);
            path.own.ops += own.ops;
            path.own.launches += own.launches;
            path.own.gpu_ns += own.gpu_ns;
        }
        for path in 0..paths.len() {
            places[path + 1] += places[path];
        }
        let mut next = places.clone();
        let mut by_path = vec![0u32; of_range.len()];
        for (index, &path) in (0u32..).zip(&of_range) {
            by_path[next[path as usize] as usize] = index;
            next[path as usize] += 1;
        }
        Self { paths, of_range, by_path, places }
    }

    fn ranges_of(&self, path: usize) -> &[u32] {
        &self.by_path[self.places[path] as usize..self.places[path + 1] as usize]
    }

    /// The launches inside the ranges of a path, as disjoint slices.
    fn stretches(&self, projection: &Projection, path: usize) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for &range in self.ranges_of(path) {
            projection.stretches_in(range as usize, &mut found);
        }
        found.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(found.len());
        for (from, to) in found {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        merged
    }

    /// The work launched inside the ranges of a path, including nested ranges.
    pub fn work(&self, projection: &Projection, path: usize) -> Work {
        let mut sum = Work::default();
        for (from, to) in self.stretches(projection, path) {
            let here = projection.work_of(from as usize, to as usize);
            sum.ops += here.ops;
            sum.launches += here.launches;
            sum.graphs += here.graphs;
            sum.gpu_ns += here.gpu_ns;
        }
        sum
    }

    /// Length of the union of the operations launched inside the ranges of a path, including nested ranges.
    pub fn busy(&self, projection: &Projection, path: usize) -> i64 {
        let mut intervals = Vec::new();
        for (from, to) in self.stretches(projection, path) {
            intervals.extend_from_slice(projection.op_times(from as usize, to as usize));
        }
        union_length(&mut intervals)
    }

    /// Length of the union of the operations launched directly in the ranges of a path.
    pub fn own_busy(&self, projection: &Projection, path: usize) -> i64 {
        let mut intervals = Vec::new();
        let innermost = projection.attribution.innermost_of();
        for (from, to) in self.stretches(projection, path) {
            let stretch = (from as usize..).zip(&innermost[from as usize..to as usize]);
            for (place, &innermost) in stretch {
                if self.of_range.get(innermost as usize) == Some(&(path as u32)) {
                    intervals.extend_from_slice(projection.op_times(place, place + 1));
                }
            }
        }
        union_length(&mut intervals)
    }
}
