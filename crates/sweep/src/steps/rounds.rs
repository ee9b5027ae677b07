//! Rounds of a server: each ends where the host reads a result, and some do work that others do not.

use super::likeness::Likeness;
use super::markers::{Markers, Places};
use super::times::Times;
use super::{ALIKE, Kind, MANY, MORE_THAN_LAYERS, NEARLY_ALL_TIME, Repeat, Sequence};
use crate::projection::Stop;

/// The share of rounds that do the usual work: an engine adds the prompt of a request to some.
const USUAL_WORK: f32 = 0.5;
/// Numbers of occurrences that are compared, those with the most names first.
const COMPARED: usize = 4;

impl Sequence {
    /// Rounds that the host ends, from the first to the last kernel or nearly so, where nothing repeats in equal parts.
    /// Empty if there are none; `None` if it was stopped.
    pub fn rounds(&self, stop: Stop<'_>) -> Option<Vec<Repeat>> {
        let times = Times::of(self);
        let places = Places::new(&self.names);
        let mut all = Markers::all(&places);
        all.retain(|markers| markers.first.len() >= MANY && markers.names > 1);
        all.sort_by_key(|markers| (std::cmp::Reverse(markers.names), markers.first.len()));
        let mut likeness = Likeness::new(&self.names);
        for markers in all.into_iter().take(COMPARED) {
            if stop.is_over() {
                return None;
            }
            let cuts = self.cuts_of_rounds(&markers);
            let likeness = likeness.of(&cuts);
            let repeat = Repeat { kind: Kind::Step, cuts, likeness, is_sure: true };
            if self.are_rounds(&repeat, &times) {
                return Some(vec![repeat]);
            }
        }
        Some(Vec::new())
    }

    /// Whether the host takes part in few of the parts of a repeat, and these are more than any model has layers.
    pub fn runs_without_host(&self, repeat: &Repeat) -> bool {
        repeat.len() >= MORE_THAN_LAYERS && !self.meets_host(repeat)
    }

    /// Between the last marker of a round and the first of the next, the border is where the host launched nothing for
    /// longest: some rounds have more launches there.
    fn cuts_of_rounds(&self, markers: &Markers<'_>) -> Vec<u32> {
        let (first, last) = (markers.first, markers.last);
        let pause = |place: &u32| {
            let at = *place as usize;
            (self.starts[at].saturating_sub(self.starts[at - 1]), std::cmp::Reverse(*place))
        };
        let borders: Vec<u32> = (last.iter().zip(&first[1..]))
            .map(|(&last, &next)| (last + 1..=next).max_by_key(pause).unwrap_or(next))
            .collect();
        let head = borders.iter().zip(&first[1..]).map(|(border, first)| first - border).min();
        let tail = last.iter().zip(&borders).map(|(last, border)| border - last).min();
        let begin = first[0].saturating_sub(head.unwrap_or(0));
        let end = last[last.len() - 1].saturating_add(tail.unwrap_or(1)).min(self.names.len() as u32);
        std::iter::once(begin).chain(borders).chain([end]).collect()
    }

    fn are_rounds(&self, repeat: &Repeat, times: &Times) -> bool {
        let inside = times.between(repeat.cuts[0], repeat.cuts[repeat.len()]) as f64;
        let alike = repeat.likeness.iter().filter(|&&like| like >= ALIKE).count() as f32;
        self.meets_host(repeat)
            && times.has_kernels(repeat)
            && alike >= USUAL_WORK * repeat.len() as f32
            && inside >= NEARLY_ALL_TIME * times.all() as f64
            && times.is_even(repeat)
    }
}
