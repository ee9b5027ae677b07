//! What was asked for with some numbers: each answer is computed once, and has a place.

use std::sync::OnceLock;

/// The answers to what was asked for, in the order in which it was.
pub(super) struct AskedBy<T>(OnceLock<Box<Asked<T>>>);

/// An answer, and the numbers that it was asked for with.
pub(super) struct Asked<T> {
    pub(super) by: Vec<i64>,
    pub(super) answer: T,
    next: AskedBy<T>,
}

impl<T> Default for AskedBy<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> AskedBy<T> {
    /// The place of the answer for these numbers, and the answer.
    pub(super) fn find(&self, by: &[i64], make: impl Fn() -> T) -> (usize, &T) {
        let (mut place, mut at) = (0, self);
        loop {
            let fresh = || Box::new(Asked { by: by.to_vec(), answer: make(), next: Self::default() });
            let asked = at.0.get_or_init(fresh);
            if asked.by == by {
                return (place, &asked.answer);
            }
            (place, at) = (place + 1, &asked.next);
        }
    }

    /// What was asked for at a place.
    pub(super) fn at(&self, place: usize) -> Option<&Asked<T>> {
        let mut asked = self.0.get()?;
        for _ in 0..place {
            asked = asked.next.0.get()?;
        }
        Some(asked)
    }
}
