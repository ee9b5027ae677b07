//! Compares one kind of work on both sides.

use super::{Match, Noise, Part, Sample, Section};
use std::collections::{BTreeMap, BTreeSet};

/// The key of comparable calls: a number for the name, and the launch shape or size.
pub(super) type Stratum = (usize, String);

/// The calls of one kind of work on both sides.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Work {
    /// Name in A, if A has it. Several names are separated by newlines.
    pub(super) name_a: Option<String>,
    /// Name in B.
    pub(super) name_b: Option<String>,
    /// Calls in A.
    pub(super) a: BTreeMap<Stratum, Sample>,
    /// Calls in B.
    pub(super) b: BTreeMap<Stratum, Sample>,
}

/// The unit that totals and effects refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// The whole report.
    Report,
    /// One iteration; the numbers of iterations in A and B, both above 0.
    Iteration(i64, i64),
}

impl Per {
    fn counts(self) -> (i64, i64) {
        match self {
            Self::Report => (1, 1),
            Self::Iteration(a, b) => (a.max(1), b.max(1)),
        }
    }

    /// The name in machine formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Iteration(..) => "iteration",
        }
    }
}

/// How the cost per call changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It decreased by more than noise.
    Faster,
    /// It increased by more than noise.
    Slower,
    /// It changed by no more than noise.
    WithinNoise,
    /// It cannot be judged.
    CannotTell(Reason),
    /// B has no such work.
    OnlyA,
    /// A has no such work.
    OnlyB,
}

/// Why the cost per call cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A side has a single call, which has no spread.
    OneCall,
    /// The sides share no launch shape or size, or the shared ones cover too little of the time.
    OtherShapes,
    /// Several names fold to the same text, so it is unknown which name became which.
    SeveralNames,
    /// Whole reports are compared, which are single windows of different lengths.
    OneWindow,
}

impl Verdict {
    /// The text in all formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::WithinNoise => "within noise",
            Self::CannotTell(_) => "cannot tell",
            Self::OnlyA => "only in A",
            Self::OnlyB => "only in B",
        }
    }

    /// Whether the change exceeds noise.
    pub fn is_real(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

impl Reason {
    /// The text in all formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OneCall => "one call",
            Self::OtherShapes => "other shapes",
            Self::SeveralNames => "several names",
            Self::OneWindow => "one window",
        }
    }
}

/// The cost per call in B compared with A, like with like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Change of the mean time per call in nanoseconds, weighted by B's mix of launch shapes.
    pub change_ns: f64,
    /// The change in percent of A's mean for the same mix; `None` if that mean is 0.
    pub change_pct: Option<f64>,
    /// The noise bound: a change of at most ± this value is within noise.
    pub noise_ns: f64,
    /// The noise bound in percent, of the same mean as `change_pct`.
    pub noise_pct: Option<f64>,
    /// Share of the time that was compared, in percent: the smaller of the shares in A and B.
    pub compared_pct: f64,
}

/// A row of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The section of the row.
    pub section: Section,
    /// Name in A. Several names that fold alike are separated by newlines.
    pub name_a: Option<String>,
    /// Name in B.
    pub name_b: Option<String>,
    /// How the names were paired.
    pub matched: Match,
    /// The part of a GPU's time; only in the section GPU time.
    pub part: Option<Part>,
    /// Calls in A, over all iterations.
    pub calls_a: i64,
    /// Calls in B, over all iterations.
    pub calls_b: i64,
    /// Sum of their times in A, over all iterations.
    pub total_a_ns: i64,
    /// Sum of their times in B, over all iterations.
    pub total_b_ns: i64,
    /// Share of the section's time in A in percent, or of the window in the section GPU time; `None` if
    /// rows overlap.
    pub share_a_pct: Option<f64>,
    /// The same share in B.
    pub share_b_pct: Option<f64>,
    /// The unit of the change and the three effects.
    pub per: Per,
    /// Change of the total.
    pub change_ns: i64,
    /// Part of the change due to the number of calls, at A's cost; `None` for a window of a whole
    /// report.
    pub calls_effect_ns: Option<i64>,
    /// Part of the change due to the cost of B's calls.
    pub cost_effect_ns: Option<i64>,
    /// Part of the change due to names or shapes that only one side has.
    pub other_effect_ns: Option<i64>,
    /// Change of the cost per call; `None` if nothing could be judged.
    pub cost: Option<Cost>,
    /// The verdict on the cost per call.
    pub verdict: Verdict,
}

impl Row {
    /// The name in B if there is one, else the name in A.
    pub fn name(&self) -> &str {
        self.name_b.as_deref().or(self.name_a.as_deref()).unwrap_or_default()
    }
}

/// A verdict needs at least this share of the time compared, in percent. Below it, the rest could have
/// changed in the opposite direction.
const MIN_COMPARED_PCT: f64 = 50.0;

/// Reasons why a stratum is not judged. If two have the same weight, the first one is reported.
const REASONS: [Reason; 3] = [Reason::OneCall, Reason::SeveralNames, Reason::OtherShapes];

/// The sums over judged strata, from which the cost and verdict of a row or a section follow.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Judged {
    /// Additional cost of B's calls compared with A's mean, in ns. Only strata with a spread on both
    /// sides.
    pub(super) cost_ns: f64,
    /// Cost of B's calls at A's mean, in ns.
    pub(super) base_ns: f64,
    /// Number of B's calls in these strata.
    pub(super) calls: i64,
    /// Time of the judged strata in A and B, in ns.
    pub(super) totals_ns: [f64; 2],
    /// Time of the other strata, in A and B together, by [`REASONS`], in ns.
    pub(super) unjudged_ns: [f64; 3],
    pub(super) noise: Noise,
}

impl Judged {
    pub(super) fn join(&mut self, other: &Self) {
        self.cost_ns += other.cost_ns;
        self.base_ns += other.base_ns;
        self.calls += other.calls;
        self.totals_ns = [0, 1].map(|side| self.totals_ns[side] + other.totals_ns[side]);
        for (sum, other) in self.unjudged_ns.iter_mut().zip(other.unjudged_ns) {
            *sum += other;
        }
        self.noise.join(&other.noise);
    }

    fn add_unjudged(&mut self, why: Reason, ns: f64) {
        let sums = self.unjudged_ns.iter_mut().zip(REASONS);
        for (sum, _) in sums.filter(|(_, reason)| *reason == why) {
            *sum += ns;
        }
    }

    /// The reason that accounts for most of the time that was not judged.
    fn main_reason(&self) -> Reason {
        let mut most = (0.0, Reason::OneCall);
        for (ns, reason) in self.unjudged_ns.into_iter().zip(REASONS) {
            if ns > most.0 {
                most = (ns, reason);
            }
        }
        most.1
    }

    /// Cost and verdict; `None` if nothing was judged. `totals_ns` is the whole time of the row or sum
    /// in A and B.
    pub(super) fn verdict(&self, totals_ns: [i64; 2], confidence: f64) -> Option<(Cost, Verdict)> {
        if self.calls == 0 {
            return None;
        }
        let (calls, bound) = (self.calls as f64, self.noise.bound(confidence));
        let pct = |ns: f64| (self.base_ns > 0.0).then(|| 100.0 * ns / self.base_ns);
        let share = |side: usize| match totals_ns[side] {
            ..=0 => 100.0,
            whole => 100.0 * self.totals_ns[side] / whole as f64,
        };
        let cost = Cost {
            change_ns: self.cost_ns / calls,
            change_pct: pct(self.cost_ns),
            noise_ns: bound / calls,
            noise_pct: pct(bound),
            compared_pct: share(0).min(share(1)),
        };
        let verdict = match self.cost_ns {
            _ if cost.compared_pct < MIN_COMPARED_PCT => Verdict::CannotTell(self.main_reason()),
            change if change.abs() <= bound => Verdict::WithinNoise,
            change if change < 0.0 => Verdict::Faster,
            _ => Verdict::Slower,
        };
        Some((cost, verdict))
    }
}

/// A row, and its contribution to the sum of the section.
pub(super) struct Compared {
    pub(super) row: Row,
    pub(super) judged: Judged,
    /// Whether anything differs between the sides.
    pub(super) differs: bool,
}

/// Compares one kind of work. Strata whose name is in `ambiguous` are not judged.
pub(super) fn compare_work(
    section: Section,
    work: &Work,
    matched: Match,
    per: Per,
    ambiguous: &BTreeSet<usize>,
    confidence: f64,
) -> Compared {
    let (iterations_a, iterations_b) = per.counts();
    let keys: BTreeSet<&Stratum> = work.a.keys().chain(work.b.keys()).collect();
    let (mut change, mut by_calls, mut by_other) = (0i64, 0i64, 0i64);
    let (mut whole_a, mut whole_b) = (Sample::default(), Sample::default());
    let mut judged = Judged::default();
    let mut differs = iterations_a != iterations_b;
    for key in keys {
        let (a, b) = (work.a.get(key), work.b.get(key));
        whole_a = a.map_or(whole_a, |a| whole_a.merged(a));
        whole_b = b.map_or(whole_b, |b| whole_b.merged(b));
        let total_a = a.map_or(0, |a| divided(a.total_ns, iterations_a));
        let total_b = b.map_or(0, |b| divided(b.total_ns, iterations_b));
        let here = total_b.saturating_sub(total_a);
        change = change.saturating_add(here);
        let (Some(a), Some(b)) = (a, b) else {
            differs = true;
            let only = a.or(b).map_or(0, |sample| sample.total_ns);
            judged.add_unjudged(Reason::OtherShapes, only as f64);
            by_other = by_other.saturating_add(here);
            continue;
        };
        let both = a.total_ns as f64 + b.total_ns as f64;
        differs |= (a.calls, a.total_ns) != (b.calls, b.total_ns);
        by_calls = by_calls.saturating_add(calls_effect(a, b, iterations_a, iterations_b));
        if ambiguous.contains(&key.0) {
            judged.add_unjudged(Reason::SeveralNames, both);
            continue;
        }
        let calls = b.calls as f64;
        if judged.noise.add(calls, a, b) {
            judged.cost_ns += b.total_ns as f64 - calls * a.mean_ns();
            judged.base_ns += calls * a.mean_ns();
            judged.calls += b.calls;
            judged.totals_ns[0] += a.total_ns as f64;
            judged.totals_ns[1] += b.total_ns as f64;
        } else {
            judged.add_unjudged(Reason::OneCall, both);
        }
    }
    let (cost, verdict) = match judged.verdict([whole_a.total_ns, whole_b.total_ns], confidence) {
        Some((cost, verdict)) => (Some(cost), verdict),
        None if work.b.is_empty() => (None, Verdict::OnlyA),
        None if work.a.is_empty() => (None, Verdict::OnlyB),
        None => (None, Verdict::CannotTell(judged.main_reason())),
    };
    let row = Row {
        section,
        name_a: work.name_a.clone(),
        name_b: work.name_b.clone(),
        matched,
        part: None,
        calls_a: whole_a.calls,
        calls_b: whole_b.calls,
        total_a_ns: whole_a.total_ns,
        total_b_ns: whole_b.total_ns,
        share_a_pct: None,
        share_b_pct: None,
        per,
        change_ns: change,
        calls_effect_ns: Some(by_calls),
        cost_effect_ns: Some(change.saturating_sub(by_calls).saturating_sub(by_other)),
        other_effect_ns: Some(by_other),
        cost,
        verdict,
    };
    Compared { row, judged, differs }
}

/// `total / count`, rounded to the nearest integer, halves away from zero.
pub(super) fn divided(total: i64, count: i64) -> i64 {
    rounded(i128::from(total), i128::from(count))
}

/// (n_B − n_A) × m_A, with each n divided by the iterations of its side.
fn calls_effect(a: &Sample, b: &Sample, iterations_a: i64, iterations_b: i64) -> i64 {
    let [n_a, n_b, iterations_a, iterations_b] =
        [a.calls, b.calls, iterations_a, iterations_b].map(i128::from);
    let more = n_b * iterations_a - n_a * iterations_b;
    match (more.checked_mul(i128::from(a.total_ns)), (iterations_a * iterations_b).checked_mul(n_a)) {
        (Some(above), Some(below)) => rounded(above, below),
        _ => (more as f64 / (iterations_a as f64 * iterations_b as f64) * a.mean_ns()) as i64,
    }
}

fn rounded(above: i128, below: i128) -> i64 {
    if below == 0 {
        return 0;
    }
    let (sign, above) = (if (above < 0) != (below < 0) { -1 } else { 1 }, above.unsigned_abs());
    let below = below.unsigned_abs();
    let whole = above / below + u128::from(above % below >= below.div_ceil(2));
    i64::try_from(whole).unwrap_or(i64::MAX).saturating_mul(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(a: &[(&str, Sample)], b: &[(&str, Sample)]) -> Work {
        let strata =
            |side: &[(&str, Sample)]| side.iter().map(|(s, x)| ((0, (*s).to_owned()), *x)).collect();
        Work { name_a: Some("k".into()), name_b: Some("k".into()), a: strata(a), b: strata(b) }
    }

    fn row(work: &Work, per: Per) -> Option<Row> {
        let none = BTreeSet::new();
        let compared = compare_work(Section::Kernels, work, Match::Exact, per, &none, 0.99);
        compared.differs.then_some(compared.row)
    }

    fn effects(row: &Row) -> [i64; 4] {
        let of = |effect: Option<i64>| effect.unwrap_or(i64::MIN);
        [row.change_ns, of(row.calls_effect_ns), of(row.cost_effect_ns), of(row.other_effect_ns)]
    }

    #[test]
    fn a_change_is_split_as_computed_by_hand() {
        // 10 calls of 100 ns become 13 of 110 ns: 3 × 100 by calls, 13 × 10 by cost.
        let pair =
            work(&[("", Sample::new(10, 1000, Some(1.0)))], &[("", Sample::new(13, 1430, Some(1.0)))]);
        assert_eq!(effects(&row(&pair, Per::Report).unwrap()), [430, 300, 130, 0]);
        // In 2 and 4 iterations: 500 and 358 (357.5) per iteration; 3.25 - 5 calls at 100.
        let each = row(&pair, Per::Iteration(2, 4)).unwrap();
        assert_eq!(effects(&each), [-142, -175, 33, 0]);
        assert_eq!(each.verdict, Verdict::WithinNoise, "10 ns is within a tick of 32");
        // A shape that only B has is neither calls nor cost.
        let shapes = work(
            &[("8", Sample::of(&[100, 100]))],
            &[("8", Sample::of(&[100, 100, 100])), ("16", Sample::of(&[900]))],
        );
        assert_eq!(effects(&row(&shapes, Per::Report).unwrap()), [1000, 100, 0, 900]);
    }

    #[test]
    fn verdicts_need_a_spread_and_a_common_shape() {
        let verdict = |a: &[(&str, Sample)], b: &[(&str, Sample)]| {
            row(&work(a, b), Per::Report).map(|r| r.verdict)
        };
        let steady = |mean: i64, calls: i64| {
            ("", Sample::new(calls, mean * calls, Some(10.0 / (calls as f64).sqrt())))
        };
        assert_eq!(verdict(&[steady(1000, 20)], &[steady(1100, 20)]), Some(Verdict::Slower));
        assert_eq!(verdict(&[steady(1100, 20)], &[steady(1000, 20)]), Some(Verdict::Faster));
        assert_eq!(verdict(&[steady(1000, 20)], &[steady(1005, 20)]), Some(Verdict::WithinNoise));
        assert_eq!(verdict(&[steady(1000, 20)], &[steady(1000, 15)]), Some(Verdict::WithinNoise));
        assert_eq!(verdict(&[steady(1000, 20)], &[steady(1000, 20)]), None);
        let one = Verdict::CannotTell(Reason::OneCall);
        assert_eq!(verdict(&[steady(1000, 1)], &[steady(9000, 50)]), Some(one));
        assert_eq!(verdict(&[], &[steady(9000, 50)]), Some(Verdict::OnlyB));
        assert_eq!(verdict(&[steady(9000, 50)], &[]), Some(Verdict::OnlyA));
        let other = Verdict::CannotTell(Reason::OtherShapes);
        assert_eq!(verdict(&[("8", Sample::of(&[1, 2]))], &[("9", Sample::of(&[1, 2]))]), Some(other));
        // The shapes are equal, but the one with nearly all of the time has a single launch.
        let (a, b) = (Sample::of(&[90_000]), Sample::of(&[91_000]));
        assert_eq!(verdict(&[("8", a), steady(100, 9)], &[("8", b), steady(100, 9)]), Some(one));
    }

    /// For random figures, the effects add up to the change, and swapping the sides negates the change.
    #[test]
    fn effects_add_up_and_swapping_sides_negates_them() {
        let mut seed = 11u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((seed >> 33) % below) as i64
        };
        for _ in 0..2000 {
            let mut side = || -> BTreeMap<Stratum, Sample> {
                let strata = 1 + random(3);
                let mut one = || {
                    let calls = 1 + random(9);
                    let big = [50, 1_000_000, 1 << 40][random(3) as usize];
                    (
                        (0, random(3).to_string()),
                        Sample::of(&(0..calls).map(|_| random(big)).collect::<Vec<_>>()),
                    )
                };
                (0..strata).map(|_| one()).collect()
            };
            let there = Work { a: side(), b: side(), ..Work::default() };
            let back = Work { a: there.b.clone(), b: there.a.clone(), ..Work::default() };
            let (iterations_a, iterations_b) = (1 + random(7), 1 + random(7));
            for (per, turned) in [
                (Per::Report, Per::Report),
                (Per::Iteration(iterations_a, iterations_b), Per::Iteration(iterations_b, iterations_a)),
            ] {
                let (there, back) = match (row(&there, per), row(&back, turned)) {
                    (Some(there), Some(back)) => (there, back),
                    (None, None) => continue,
                    other => panic!("{other:?}"),
                };
                for row in [&there, &back] {
                    let [change, calls, cost, other] = effects(row);
                    assert_eq!(change, calls + cost + other);
                }
                assert_eq!(there.change_ns, -back.change_ns);
                assert_eq!(there.other_effect_ns, back.other_effect_ns.map(|ns| -ns));
                if per == Per::Report {
                    assert_eq!(there.change_ns, there.total_b_ns - there.total_a_ns);
                }
                let turned = match there.verdict {
                    Verdict::OnlyA => Verdict::OnlyB,
                    Verdict::OnlyB => Verdict::OnlyA,
                    verdict => verdict,
                };
                if !there.verdict.is_real() && !back.verdict.is_real() {
                    assert_eq!(turned, back.verdict);
                }
            }
        }
    }

    #[test]
    fn swapping_sides_reverses_the_verdict_on_one_shape() {
        let mut seed = 5u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((seed >> 33) % below) as i64
        };
        let mut real = 0;
        for _ in 0..500 {
            let mut side = |shift: i64| {
                let calls = 2 + random(20);
                Sample::of(&(0..calls).map(|_| 1000 + shift + random(200)).collect::<Vec<_>>())
            };
            let (a, b) = (side(0), side(60));
            let (Some(there), Some(back)) = (
                row(&work(&[("", a)], &[("", b)]), Per::Report),
                row(&work(&[("", b)], &[("", a)]), Per::Report),
            ) else {
                continue;
            };
            let (cost, turned) = (there.cost.unwrap(), back.cost.unwrap());
            assert!((cost.change_ns + turned.change_ns).abs() < 1e-6);
            assert!((cost.noise_ns - turned.noise_ns).abs() < 1e-6);
            let expected = match there.verdict {
                Verdict::Slower => Verdict::Faster,
                Verdict::Faster => Verdict::Slower,
                verdict => verdict,
            };
            assert_eq!(back.verdict, expected);
            real += usize::from(there.verdict.is_real());
        }
        assert!(real > 50 && real < 450, "{real}");
    }
}
