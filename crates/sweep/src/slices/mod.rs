//! Slices of a timeline: events on lanes, how they fill pieces of the time, and the longest of each piece.
//!
//! There are millions of slices. They are kept lane by lane in order of their starts, so that the slices that start in
//! one piece of a lane follow each other.

mod longest;
mod pieces;

pub use pieces::{Cell, Pieces};

use crate::integers::Integers;
use foldhash::HashMap;

/// What tells lanes apart: numbers whose meaning the caller knows.
pub type LaneKey = [Option<i64>; 5];

/// The place that means "no text".
pub const NO_TEXT: u32 = u32::MAX;

/// A slice of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// Index into [`Slices::lanes`].
    pub lane: u32,
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Index into [`Slices::texts`]: what is drawn in one colour.
    pub category: u32,
    /// Index into [`Slices::texts`]: what `event` identifies, or [`NO_TEXT`].
    pub source: u32,
    /// Row of the source; without a source, one more than the name's index into [`Slices::texts`], or 0.
    pub event: i64,
}

/// All slices of a lane together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// What tells it apart.
    pub key: LaneKey,
    /// Number of slices.
    pub slices: u64,
    /// The sum of their lengths.
    pub busy: i128,
    /// The first start.
    pub start: i64,
    /// The last end.
    pub end: i64,
}

/// Slices by lane and start.
#[derive(Debug, Default)]
pub struct Slices {
    /// The lanes, in the order in which they were seen.
    pub lanes: Vec<Lane>,
    /// Distinct texts.
    pub texts: Vec<String>,
    starts: Vec<i64>,
    durations: Integers,
    categories: Vec<u32>,
    sources: Vec<u32>,
    events: Integers,
    /// Where the slices of each lane begin; then where the last ones end.
    bounds: Vec<usize>,
}

/// Slices in any order, from which [`Slices`] are made.
#[derive(Debug, Default)]
pub struct SlicesBuilder {
    slices: Slices,
    of_lane: Vec<u32>,
    places: HashMap<LaneKey, u32>,
    /// The lane before: consecutive slices often have the same.
    last: Option<(LaneKey, u32)>,
    text_places: HashMap<String, u32>,
    last_texts: Vec<u32>,
}

/// Texts that were seen last, in which a text is looked for first.
const LAST_TEXTS: usize = 4;

impl SlicesBuilder {
    /// The number of a lane.
    pub fn lane(&mut self, key: LaneKey) -> u32 {
        if let Some((last, lane)) = self.last
            && last == key
        {
            return lane;
        }
        let fresh = self.slices.lanes.len() as u32;
        let lane = *self.places.entry(key).or_insert(fresh);
        if lane == fresh {
            let (start, end) = (i64::MAX, i64::MIN);
            self.slices.lanes.push(Lane { key, slices: 0, busy: 0, start, end });
        }
        self.last = Some((key, lane));
        lane
    }

    /// The number of a text.
    pub fn text(&mut self, text: &str) -> u32 {
        let texts = &mut self.slices.texts;
        if let Some(&last) = self.last_texts.iter().find(|&&last| texts[last as usize] == text) {
            return last;
        }
        let place = match self.text_places.get(text) {
            Some(&place) => place,
            None => {
                let place = texts.len() as u32;
                texts.push(text.to_owned());
                self.text_places.insert(text.to_owned(), place);
                place
            }
        };
        if self.last_texts.len() == LAST_TEXTS {
            self.last_texts.remove(0);
        }
        self.last_texts.push(place);
        place
    }

    /// Adds a slice.
    pub fn push(&mut self, slice: Slice) {
        let lane = &mut self.slices.lanes[slice.lane as usize];
        lane.slices += 1;
        lane.busy += i128::from(slice.end) - i128::from(slice.start);
        (lane.start, lane.end) = (lane.start.min(slice.start), lane.end.max(slice.end));
        self.of_lane.push(slice.lane);
        self.slices.starts.push(slice.start);
        self.slices.durations.push(slice.end.saturating_sub(slice.start));
        self.slices.categories.push(slice.category);
        self.slices.sources.push(slice.source);
        self.slices.events.push(slice.event);
    }

    /// Sorts the slices.
    pub fn finish(self) -> Slices {
        let Self { mut slices, of_lane, .. } = self;
        let mut bounds = vec![0usize; slices.lanes.len() + 1];
        of_lane.iter().for_each(|&lane| bounds[lane as usize + 1] += 1);
        for lane in 0..slices.lanes.len() {
            bounds[lane + 1] += bounds[lane];
        }
        let mut next = bounds.clone();
        let mut order = vec![0u32; of_lane.len()];
        for (place, &lane) in (0u32..).zip(&of_lane) {
            order[next[lane as usize]] = place;
            next[lane as usize] += 1;
        }
        drop(of_lane);
        for lane in bounds.windows(2) {
            // Most tables are nearly in order of time, which the sort notices.
            order[lane[0]..lane[1]].sort_by_key(|&place| slices.starts[place as usize]);
        }
        slices.starts = order.iter().map(|&place| slices.starts[place as usize]).collect();
        slices.durations = slices.durations.gather(&order);
        slices.categories = order.iter().map(|&place| slices.categories[place as usize]).collect();
        slices.sources = order.iter().map(|&place| slices.sources[place as usize]).collect();
        slices.events = slices.events.gather(&order);
        slices.bounds = bounds;
        slices
    }
}

impl Slices {
    /// The number of slices.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Start and end of the slice at a place.
    #[inline]
    pub fn times(&self, place: usize) -> (i64, i64) {
        (self.starts[place], self.starts[place].saturating_add(self.durations.at(place)))
    }

    /// The text at a place; `None` for [`NO_TEXT`].
    pub fn text(&self, place: u32) -> Option<&str> {
        self.texts.get(place as usize).map(String::as_str)
    }

    /// The category of the slice at a place.
    pub fn category(&self, place: usize) -> &str {
        self.text(self.categories[place]).unwrap_or_default()
    }

    /// What the event of the slice at a place identifies.
    pub fn source(&self, place: usize) -> Option<&str> {
        self.text(self.sources[place])
    }

    /// The row of the source of the slice at a place.
    pub fn event(&self, place: usize) -> Option<i64> {
        (self.sources[place] != NO_TEXT).then(|| self.events.at(place))
    }

    /// The name of the slice at a place, if it has no source.
    pub fn name(&self, place: usize) -> Option<&str> {
        match self.sources[place] {
            NO_TEXT => {
                let name = self.events.at(place).checked_sub(1);
                name.and_then(|text| u32::try_from(text).ok()).and_then(|text| self.text(text))
            }
            _ => None,
        }
    }

    /// The places of the slices of a lane.
    fn of_lane(&self, lane: usize) -> std::ops::Range<usize> {
        self.bounds[lane]..self.bounds[lane + 1]
    }

    /// The lane of the slice at a place.
    pub fn lane_of(&self, place: usize) -> usize {
        self.bounds.partition_point(|&bound| bound <= place).saturating_sub(1)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Slices of lanes that are told apart by one number: lane, start, end, category, event.
    pub(crate) fn slices(of: &[(i64, i64, i64, &str, i64)]) -> Slices {
        let mut builder = SlicesBuilder::default();
        let source = builder.text("source");
        for &(lane, start, end, category, event) in of {
            let lane = builder.lane([Some(lane), None, None, None, None]);
            let category = builder.text(category);
            builder.push(Slice { lane, start, end, category, source, event });
        }
        builder.finish()
    }

    #[test]
    fn slices_come_lane_by_lane_in_order_of_time() {
        let of = slices(&[(7, 5, 9, "a", 1), (3, 4, 6, "b", 2), (7, 1, 2, "b", 3), (3, 8, 8, "a", 4)]);
        let seen: Vec<_> = (0..of.len())
            .map(|place| {
                (
                    of.lanes[of.lane_of(place)].key[0],
                    of.times(place),
                    of.category(place),
                    of.event(place),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                (Some(7), (1, 2), "b", Some(3)),
                (Some(7), (5, 9), "a", Some(1)),
                (Some(3), (4, 6), "b", Some(2)),
                (Some(3), (8, 8), "a", Some(4)),
            ]
        );
        assert_eq!(
            (of.lanes[0].slices, of.lanes[0].busy, of.lanes[0].start, of.lanes[0].end),
            (2, 5, 1, 9)
        );
        assert!(of.name(0).is_none() && Slices::default().is_empty());
    }

    #[test]
    fn without_a_source_a_slice_has_a_name() {
        let mut builder = SlicesBuilder::default();
        let lane = builder.lane([None; 5]);
        let (category, name) = (builder.text("idle"), builder.text("cudaMalloc"));
        for event in [i64::from(name) + 1, 0] {
            builder.push(Slice { lane, start: 0, end: 1, category, source: NO_TEXT, event });
        }
        let of = builder.finish();
        assert_eq!((of.name(0), of.event(0), of.source(0)), (Some("cudaMalloc"), None, None));
        assert_eq!(of.name(1), None);
    }
}
