//! Where each part of a repeat begins.

use super::Sequence;
use super::markers::Markers;

/// The first launch of each part, and the end of the last part.
///
/// What lies between the last marker of a part and the first marker of the next belongs to either. The ends of the whole
/// repeat tell: what the first part has before its first marker, and what the last part has after its last marker. If
/// they leave a choice, the border is where the host launched nothing for longest.
pub(super) fn cuts(sequence: &Sequence, markers: &Markers<'_>) -> Vec<u32> {
    let (first, last, names) = (markers.first, markers.last, &sequence.names);
    let count = first.len();
    // Launches between the markers of two parts.
    let between = |part: usize| (first[part] - last[part - 1] - 1) as usize;
    let mut all: Vec<usize> = (1..count).map(between).collect();
    let least = all.iter().copied().min().unwrap_or(0);
    let middle = all.len() / 2;
    let usual = *all.select_nth_unstable(middle).1;
    let head = (0..least)
        .take_while(|back| {
            let at =
                |part: usize| (first[part] as usize).checked_sub(back + 1).map(|place| names[place]);
            at(0).is_some() && at(0) == at(1)
        })
        .count();
    let tail = (1..=least)
        .take_while(|ahead| {
            let at = |part: usize| names.get(last[part] as usize + ahead);
            at(count - 1).is_some() && at(count - 1) == at(count - 2)
        })
        .count();
    // Of a part that lacks launches, the tail of others says nothing.
    let ahead = usual.saturating_sub(tail).min(least);
    let (fewest, most) = (head.min(ahead), head.max(ahead));
    let back = (fewest..=most)
        .max_by_key(|&back| (pause(sequence, first, back), std::cmp::Reverse(back)))
        .unwrap_or(0);
    let mut cuts: Vec<u32> = first.iter().map(|&place| place.saturating_sub(back as u32)).collect();
    let mut lengths: Vec<u32> = cuts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = lengths.len() / 2;
    let usual = *lengths.select_nth_unstable(middle).1;
    let begun = cuts[count - 1];
    let end = (begun + usual).max(last[count - 1] + 1).min(names.len() as u32);
    cuts.push(end);
    cuts
}

/// The middle one of the times without a launch before the parts, if they begin `back` launches before their first marker.
fn pause(sequence: &Sequence, first: &[u32], back: usize) -> i64 {
    let starts = &sequence.starts;
    let mut pauses: Vec<i64> = first[1..]
        .iter()
        .filter_map(|&place| (place as usize).checked_sub(back))
        .filter(|&begin| begin > 0)
        .map(|begin| starts[begin].saturating_sub(starts[begin - 1]))
        .collect();
    if pauses.is_empty() {
        return 0;
    }
    let middle = pauses.len() / 2;
    *pauses.select_nth_unstable(middle).1
}
