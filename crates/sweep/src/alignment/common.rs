//! A longest common subsequence of two sequences: Myers' algorithm in linear space (Algorithmica 1986).
//!
//! O((n + m) d) for d differences. Beyond [`MOST`] differences, a part is split where the search has come farthest: what is
//! found is then common to both, but may not be the longest. So the work is bounded by O((n + m) `MOST`).

/// Differences up to which the search of a part is exact.
const MOST: isize = 512;
/// A diagonal that the search has not reached.
const UNREACHED: isize = isize::MIN / 4;

/// A part of both sequences.
#[derive(Clone, Copy)]
struct Part {
    a: (usize, usize),
    b: (usize, usize),
}

/// The places of what is common to both, in order.
pub(super) fn common<T: Eq>(a: &[T], b: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut parts = vec![Part { a: (0, a.len()), b: (0, b.len()) }];
    let mut search = Search::default();
    while let Some(mut part) = parts.pop() {
        while part.a.0 < part.a.1 && part.b.0 < part.b.1 && a[part.a.0] == b[part.b.0] {
            pairs.push((part.a.0, part.b.0));
            part.a.0 += 1;
            part.b.0 += 1;
        }
        while part.a.0 < part.a.1 && part.b.0 < part.b.1 && a[part.a.1 - 1] == b[part.b.1 - 1] {
            part.a.1 -= 1;
            part.b.1 -= 1;
            pairs.push((part.a.1, part.b.1));
        }
        if part.a.0 == part.a.1 || part.b.0 == part.b.1 {
            continue;
        }
        let (x, y) = search.middle(&a[part.a.0..part.a.1], &b[part.b.0..part.b.1]);
        let (x, y) = (part.a.0 + x, part.b.0 + y);
        parts.push(Part { a: (part.a.0, x), b: (part.b.0, y) });
        parts.push(Part { a: (x, part.a.1), b: (y, part.b.1) });
    }
    pairs.sort_unstable();
    pairs
}

/// How far the search has come on each diagonal, from both ends.
#[derive(Default)]
struct Search {
    forward: Vec<isize>,
    backward: Vec<isize>,
}

impl Search {
    /// A point on a shortest way from the start of both to their ends, other than these. Neither is empty, and they differ
    /// at both ends.
    fn middle<T: Eq>(&mut self, a: &[T], b: &[T]) -> (usize, usize) {
        let (n, m) = (a.len() as isize, b.len() as isize);
        let (delta, is_odd) = (n - m, (n - m) % 2 != 0);
        let most = ((n + m + 1) / 2 + 1).min(MOST);
        let place = |diagonal: isize| (diagonal + most + 1) as usize;
        for reached in [&mut self.forward, &mut self.backward] {
            reached.clear();
            reached.resize(2 * most as usize + 3, UNREACHED);
            reached[place(1)] = 0;
        }
        let is_same = |x: isize, y: isize| a[x as usize] == b[y as usize];
        for d in 0..most {
            for k in (-d..=d).step_by(2) {
                let Some((x0, x)) = step(&self.forward, place(k), k, (n, m), is_same) else {
                    self.forward[place(k)] = UNREACHED;
                    continue;
                };
                self.forward[place(k)] = x;
                let meets = is_odd && (k - delta).abs() < d;
                if meets && x + self.backward[place(delta - k)] >= n {
                    return (x0 as usize, (x0 - k) as usize);
                }
            }
            for k in (-d..=d).step_by(2) {
                let is_same = |x: isize, y: isize| is_same(n - 1 - x, m - 1 - y);
                let Some((_, x)) = step(&self.backward, place(k), k, (n, m), is_same) else {
                    self.backward[place(k)] = UNREACHED;
                    continue;
                };
                self.backward[place(k)] = x;
                let meets = !is_odd && (k - delta).abs() <= d;
                if meets && x + self.forward[place(delta - k)] >= n {
                    return ((n - x) as usize, (m - (x - k)) as usize);
                }
            }
        }
        let farthest = (1 - most..most).step_by(2).map(|k| (2 * self.forward[place(k)] - k, k)).max();
        match farthest {
            Some((sum, k)) if sum > 0 => (((sum + k) / 2) as usize, ((sum - k) / 2) as usize),
            _ => (a.len(), 0),
        }
    }
}

/// Where the next step onto a diagonal begins and how far it comes; `None` outside both sequences.
fn step(
    reached: &[isize],
    place: usize,
    diagonal: isize,
    (n, m): (isize, isize),
    is_same: impl Fn(isize, isize) -> bool,
) -> Option<(isize, isize)> {
    let start = reached[place + 1].max(reached[place - 1] + 1);
    if start < 0 || start > n || !(0..=m).contains(&(start - diagonal)) {
        return None;
    }
    let mut x = start;
    while x < n && x - diagonal < m && is_same(x, x - diagonal) {
        x += 1;
    }
    Some((start, x))
}
