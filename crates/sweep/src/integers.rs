//! A column of integers: four bytes for each while most of them lie close together, and eight otherwise.

use foldhash::HashMap;

/// Integers in the order in which they were added.
#[derive(Debug, Clone)]
pub struct Integers(Width);

#[derive(Debug, Clone)]
enum Width {
    /// Most are `base` and an offset. The offset [`FAR`] stands for a value in `far`, by its place.
    Near { base: i64, offsets: Vec<u32>, far: HashMap<u32, i64> },
    /// Many are too far from the first.
    Wide(Vec<i64>),
}

impl Default for Integers {
    fn default() -> Self {
        Self(Width::Near { base: 0, offsets: Vec::new(), far: HashMap::default() })
    }
}

/// Half of what an offset reaches: values on both sides of the first one are near it.
const HALF: i64 = 1 << 31;
/// The offset of a value that is too far.
const FAR: u32 = u32::MAX;
/// Of so many values, one may be far. It takes as much memory as a dozen near ones.
const ONE_IN: usize = 32;
/// So many may be far in any case.
const FEW: usize = 64;

/// The offset of a value, if it has one.
#[inline]
fn offset_of(value: i64, base: i64) -> Option<u32> {
    value.checked_sub(base).and_then(|offset| u32::try_from(offset).ok()).filter(|&offset| offset != FAR)
}

impl Integers {
    /// The number of integers.
    pub fn len(&self) -> usize {
        match &self.0 {
            Width::Near { offsets, .. } => offsets.len(),
            Width::Wide(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The integer at a place.
    #[inline]
    pub fn at(&self, place: usize) -> i64 {
        match &self.0 {
            Width::Near { base, offsets, far } => match offsets[place] {
                FAR => far.get(&(place as u32)).copied().unwrap_or_default(),
                offset => base + i64::from(offset),
            },
            Width::Wide(values) => values[place],
        }
    }

    /// Adds an integer.
    #[inline]
    pub fn push(&mut self, value: i64) {
        match &mut self.0 {
            Width::Wide(values) => values.push(value),
            Width::Near { base, offsets, .. } => {
                if offsets.is_empty() {
                    // Durations and IDs mostly count from 0.
                    *base = if (0..HALF).contains(&value) { 0 } else { value.saturating_sub(HALF) };
                }
                match offset_of(value, *base) {
                    Some(offset) => offsets.push(offset),
                    None => self.push_far(value),
                }
            }
        }
    }

    #[cold]
    fn push_far(&mut self, value: i64) {
        match &mut self.0 {
            Width::Near { offsets, far, .. } if far.len() < FEW.max(offsets.len() / ONE_IN) => {
                far.insert(offsets.len() as u32, value);
                offsets.push(FAR);
            }
            Width::Near { .. } => {
                let mut values: Vec<i64> = (0..self.len()).map(|place| self.at(place)).collect();
                values.push(value);
                self.0 = Width::Wide(values);
            }
            Width::Wide(values) => values.push(value),
        }
    }

    /// Makes room for more integers.
    pub fn reserve(&mut self, more: usize) {
        match &mut self.0 {
            Width::Near { offsets, .. } => offsets.reserve_exact(more),
            Width::Wide(values) => values.reserve_exact(more),
        }
    }

    /// Adds those of another column.
    pub fn append(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.reserve(other.len());
        (0..other.len()).for_each(|place| self.push(other.at(place)));
    }

    /// The integers at these places.
    pub fn gather(&self, places: &[u32]) -> Self {
        if let Width::Wide(values) = &self.0 {
            return Self(Width::Wide(places.iter().map(|&place| values[place as usize]).collect()));
        }
        let mut gathered = Self::default();
        gathered.reserve(places.len());
        places.iter().for_each(|&place| gathered.push(self.at(place as usize)));
        gathered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back_as_they_were_added() {
        let near = [5, 0, 7, i64::from(u32::MAX), 1];
        let around = [1 << 40, (1 << 40) - 9, (1 << 40) + 9];
        let far = [3, -1, i64::MIN, i64::MAX, 1 << 32, 0];
        let from_an_end = [i64::MIN, i64::MAX];
        for values in [&near[..], &around, &far, &from_an_end, &[i64::MAX], &[]] {
            for cut in 0..=values.len() {
                let (mut column, mut second) = (Integers::default(), Integers::default());
                values[..cut].iter().for_each(|&value| column.push(value));
                values[cut..].iter().for_each(|&value| second.push(value));
                column.append(second);
                assert_eq!(column.len(), values.len());
                assert!((0..values.len()).all(|place| column.at(place) == values[place]), "{values:?}");
                let places: Vec<u32> = (0..values.len() as u32).rev().collect();
                let turned = column.gather(&places);
                assert!(
                    (0..values.len()).rev().map(|place| turned.at(place)).eq(values.iter().copied())
                );
            }
        }
        let width_of = |values: &[i64]| {
            let mut column = Integers::default();
            values.iter().for_each(|&value| column.push(value));
            assert!((0..values.len()).all(|place| column.at(place) == values[place]));
            match column.0 {
                Width::Near { far, .. } => Some(far.len()),
                Width::Wide(_) => None,
            }
        };
        assert_eq!(width_of(&near), Some(1), "the largest offset is a mark");
        assert_eq!(width_of(&around), Some(0));
        // Few that are far do not make the others wide.
        let mostly_near = |period: i64| -> Vec<i64> {
            (0..100_000).map(|n| if n % period == period - 1 { i64::MAX - n } else { n }).collect()
        };
        assert_eq!(width_of(&mostly_near(100)), Some(1_000));
        assert_eq!(width_of(&mostly_near(20)), None);
    }
}
