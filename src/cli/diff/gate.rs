//! `--gate`: whether a regression is large enough to fail on.

use super::words::{relative, share, short_name, times};
use crate::comparison::{Comparison, Cost, Part, Row, Section, Total, Verdict};
use std::fmt;

/// Rows with a smaller share of their section, in hundredths, do not fail the gate.
const LEAST_SHARE_PCT: f64 = 1.0;

/// Where less of the time than this, in hundredths, could be judged, nothing slower means nothing.
pub(super) const LEAST_JUDGED_PCT: f64 = 50.0;

/// Failures that a line names; standard error names all.
const SHOWN: usize = 3;

/// What became of the gate.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    /// The limit, in hundredths.
    pub(super) limit_pct: f64,
    /// Regressions beyond noise and beyond the limit; empty: passed.
    pub(super) failures: Vec<String>,
    /// Enough could be judged to say that nothing is slower.
    pub(super) has_judged: bool,
    /// Of the time of kernels, copies and fills, how much could be judged, in hundredths.
    pub(super) judged_pct: Option<f64>,
}

/// Holds every row that counts against the limit.
///
/// Not every row does: of a GPU's time only the window, since a longer idle or exposed part of a shorter
/// window is no regression; API calls only if their section was asked for by name, since a call that
/// waits takes longer whenever the CPU got faster; nothing that is less than a hundredth of its section, of
/// which layers, which nest, have that of kernels; and no section of the GPU's work that is less than a
/// hundredth of its time. What rises from nothing is beyond any limit.
pub(super) fn judge(comparison: &Comparison, limit_pct: f64, api_was_named: bool) -> Gate {
    let trifles: Vec<Section> = comparison
        .totals
        .iter()
        .filter(|total| comparison.is_negligible(total))
        .map(|total| total.section)
        .collect();
    let wholes = layers_in(comparison);
    let is_beyond = |verdict: Verdict, cost: &Cost| {
        verdict == Verdict::Slower && cost.change_pct.is_none_or(|change| change > limit_pct)
    };
    let counts = |row: &&Row| match row.section {
        section if trifles.contains(&section) => false,
        Section::Layers => {
            let share = |ns: i64, whole: i64| 100.0 * ns as f64 >= LEAST_SHARE_PCT * whole as f64;
            share(row.total_a_ns, wholes[0]) || share(row.total_b_ns, wholes[1])
        }
        Section::GpuTime => row.part == Some(Part::Window),
        Section::Api => api_was_named,
        _ => {
            let share = row
                .share_b_pct
                .into_iter()
                .chain(row.share_a_pct)
                .fold(None, |most: Option<f64>, share| Some(most.map_or(share, |most| most.max(share))));
            share.is_none_or(|share| share >= LEAST_SHARE_PCT)
        }
    };
    let mut failures = Vec::new();
    let judged_pct = comparison.judged_pct();
    let mut has_judged = judged_pct.is_some_and(|pct| pct >= LEAST_JUDGED_PCT);
    for total in comparison.totals.iter().filter(|total| !comparison.is_negligible(total)) {
        let Some((cost, verdict)) = &total.cost else { continue };
        has_judged |= judged_pct.is_none();
        let is_summed = !matches!(total.section, Section::Classes | Section::Layers | Section::Api);
        if is_summed && is_beyond(*verdict, cost) {
            failures.push(format!(
                "{} together cost more for the same calls ({})",
                total.section.as_str(),
                relative(cost)
            ));
        }
    }
    for row in comparison.rows.iter().filter(counts) {
        let Some(cost) = row.cost else { continue };
        has_judged |= judged_pct.is_none() || row.part.is_some();
        if is_beyond(row.verdict, &cost) {
            let what = match row.part {
                Some(_) => format!("{}: an iteration takes", row.name()),
                None => {
                    format!("{} {}: costs", row.section.as_str(), short_name(row, &comparison.rows))
                }
            };
            failures.push(format!("{what} {} ({})", times(row), relative(&cost)));
        }
    }
    Gate { limit_pct, failures, has_judged, judged_pct }
}

/// What layers are held against in A and in B: all kernels, or the longest layer if that is longer, as where
/// layers are timed on the CPU.
fn layers_in(comparison: &Comparison) -> [i64; 2] {
    let layers = comparison.rows.iter().filter(|row| row.section == Section::Layers);
    let longest =
        layers.fold([0i64; 2], |most, row| [most[0].max(row.total_a_ns), most[1].max(row.total_b_ns)]);
    let kernels = comparison.totals.iter().find(|total| total.section == Section::Kernels);
    match kernels {
        Some(Total { a, b, .. }) => [a.1.max(longest[0]), b.1.max(longest[1])],
        None => longest,
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit_pct;
        match self.failures.as_slice() {
            [] if self.has_judged => {
                write!(f, "passed: nothing is slower beyond noise and beyond {limit} %")?;
                match self.judged_pct {
                    Some(judged) => write!(f, "; {} of the time could be judged", share(judged)),
                    None => Ok(()),
                }
            }
            [] => match self.judged_pct {
                Some(judged) if judged > 0.0 => {
                    write!(f, "passed, and says nothing: {} of the time could be judged", share(judged))
                }
                _ => write!(f, "passed, and says nothing: nothing could be judged"),
            },
            failures => {
                let shown = &failures[..failures.len().min(SHOWN)];
                write!(f, "failed at {limit} %: {}", shown.join("; "))?;
                match failures.len() - shown.len() {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more"),
                }
            }
        }
    }
}
