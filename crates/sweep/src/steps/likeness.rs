//! How much the parts of a repeat are alike.

/// Counts what parts launch.
pub(super) struct Likeness<'a> {
    names: &'a [u32],
    /// How often each name occurs in the usual part and in the part that is compared.
    usual: Vec<u32>,
    counts: Vec<u32>,
}

impl<'a> Likeness<'a> {
    pub(super) fn new(names: &'a [u32]) -> Self {
        let most = names.iter().max().map_or(0, |&name| name as usize + 1);
        Self { names, usual: vec![0; most], counts: vec![0; most] }
    }

    /// How much each part between two cuts is like the usual one: what both launch, of what either does.
    pub(super) fn of(&mut self, cuts: &[u32]) -> Vec<f32> {
        let count = cuts.len() - 1;
        let mut by_length: Vec<usize> = (0..count).collect();
        by_length.sort_by_key(|&part| (cuts[part + 1] - cuts[part], part));
        // One part of the middle length can be an odd one.
        let same = |part: &usize| {
            let length = |part: usize| cuts[part + 1] - cuts[part];
            length(*part) == length(by_length[count / 2])
        };
        let mut tried = vec![by_length[count / 2]];
        tried.extend(by_length.iter().copied().rfind(same));
        tried.push(by_length[count / 3]);
        tried.dedup();
        let all = tried.into_iter().map(|usual| self.to(usual, cuts));
        let sum = |of: &Vec<f32>| of.iter().sum::<f32>();
        all.reduce(|a, b| if sum(&b) > sum(&a) { b } else { a }).unwrap_or_default()
    }

    /// How much each part is like the one at place `usual`.
    fn to(&mut self, usual: usize, cuts: &[u32]) -> Vec<f32> {
        let part = |place: usize| &self.names[cuts[place] as usize..cuts[place + 1] as usize];
        let of_usual = part(usual);
        for &name in of_usual {
            self.usual[name as usize] += 1;
        }
        let mut likeness = Vec::with_capacity(cuts.len() - 1);
        for place in 0..cuts.len() - 1 {
            let names = part(place);
            let mut both = 0;
            for &name in names {
                let count = &mut self.counts[name as usize];
                *count += 1;
                both += usize::from(*count <= self.usual[name as usize]);
            }
            for &name in names {
                self.counts[name as usize] = 0;
            }
            likeness.push(both as f32 / (names.len() + of_usual.len() - both).max(1) as f32);
        }
        for &name in of_usual {
            self.usual[name as usize] = 0;
        }
        likeness
    }
}
