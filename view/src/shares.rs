//! How busy a lane is: in each column of the screen, and in a selection.

use crate::lanes::{Lane, Span, Timeline};
use std::collections::HashMap;

/// What a column of the screen shows of a lane.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Share {
    /// Part of the time in which something runs, from 0 to 1.
    pub(crate) busy: f64,
    /// The category that runs longest.
    pub(crate) category: u32,
}

/// The shares of a lane in `columns` equal parts of a window.
pub(crate) fn shares(timeline: &Timeline, lane: &Lane, window: Span, columns: u16) -> Vec<Share> {
    let parts = usize::from(columns.max(1));
    let mut times: Vec<HashMap<u32, f64>> = vec![HashMap::new(); parts];
    let width = window.length().max(1) as f64 / parts as f64;
    let mut add = |span: Span, category: u32, density: f64| {
        let from = (span.start.max(window.start) - window.start) as f64 / width;
        let to = (span.end.min(window.end) - window.start) as f64 / width;
        let last = parts - 1;
        let mut part = (from as usize).min(last);
        loop {
            let inside = (to.min(part as f64 + 1.0) - from.max(part as f64)).max(0.0);
            *times[part].entry(category).or_default() += inside * density;
            part += 1;
            if part > last || part as f64 >= to {
                break;
            }
        }
    };
    // Far out, pieces have the shares of all events; near, slices have their exact places.
    let is_far =
        width >= timeline.piece as f64 || !lane.is_whole() && width * 4.0 >= timeline.piece as f64;
    if is_far {
        for piece in lane.pieces_within(window) {
            let density = piece.busy as f64 / piece.span.length().max(1) as f64;
            add(piece.span, piece.category, density);
        }
    } else {
        lane.within(window).iter().for_each(|slice| add(slice.span, slice.category, 1.0));
    }
    let share = |times: HashMap<u32, f64>| {
        let busy = times.values().sum::<f64>().min(1.0);
        let longest = times.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        Share { busy, category: longest.map_or(0, |(category, _)| category) }
    };
    times.into_iter().map(share).collect()
}

/// The sums of the slices of a lane in a span.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sums {
    /// Time in which at least one runs.
    pub(crate) busy: i64,
    /// Slices that overlap the span.
    pub(crate) count: usize,
    /// Time and number of slices by name, the longest first. Parts outside of the span do not count.
    pub(crate) by_name: Vec<(u32, i64, usize)>,
}

pub(crate) fn sums(lane: &Lane, span: Span) -> Sums {
    let (mut sums, mut by_name, mut reached) =
        (Sums::default(), HashMap::<u32, (i64, usize)>::new(), span.start);
    for slice in lane.within(span) {
        let (start, end) = (slice.span.start.max(span.start), slice.span.end.min(span.end));
        // Slices without length that lie in the span count as slices.
        if slice.span.end < span.start {
            continue;
        }
        let inside = (end - start).max(0);
        sums.count += 1;
        sums.busy += (end - start.max(reached)).max(0);
        reached = reached.max(end);
        let of_name = by_name.entry(slice.name).or_default();
        *of_name = (of_name.0 + inside, of_name.1 + 1);
    }
    sums.by_name = by_name.into_iter().map(|(name, (time, count))| (name, time, count)).collect();
    sums.by_name.sort_by_key(|(name, time, _)| (-time, *name));
    sums
}
