//! `--gate`: fails the run if something got slower by more than noise and more than a limit.

use super::words::{MIN_JUDGED_PCT, only, relative, share, short_name, times};
use crate::comparison::{Comparison, Cost, Part, Row, Section, Total, Verdict};
use std::fmt;

/// Share of its section, in percent, that a row needs to fail the gate.
const MIN_SHARE_PCT: f64 = 1.0;

/// Number of failures on the gate line; standard error lists all of them.
const MAX_SHOWN: usize = 3;

/// Result of the gate.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    /// The limit, in percent.
    pub(super) limit_pct: f64,
    /// Regressions larger than noise and larger than the limit. The gate passes if there are none.
    pub(super) failures: Vec<String>,
    /// Enough of the time is comparable to conclude that nothing is slower.
    pub(super) is_conclusive: bool,
    /// Comparable share of the time of kernels, copies and fills, in percent.
    pub(super) judged_pct: Option<f64>,
}

/// Compares rows and totals with the limit.
///
/// Some rows cannot fail the gate:
///
/// - GPU time: every part but the window. A longer idle or exposed part of a shorter window is no regression.
/// - API calls, unless the user named their section: a waiting call takes longer when the CPU gets faster.
/// - Rows with less than 1 % of their section. Layers nest, so they are measured against the kernels' time.
/// - Kernel, class, NCCL and memory sections with less than 1 % of the GPU's time.
///
/// A cost that rises from 0 exceeds any limit.
pub(super) fn judge(comparison: &Comparison, limit_pct: f64, api_was_named: bool) -> Gate {
    let negligible: Vec<Section> = comparison
        .totals
        .iter()
        .filter(|total| comparison.is_negligible(total))
        .map(|total| total.section)
        .collect();
    let [whole_a, whole_b] = layer_wholes(comparison);
    let is_regression = |verdict: Verdict, cost: &Cost| {
        verdict == Verdict::Slower && cost.change_pct.is_none_or(|change| change > limit_pct)
    };
    let counts = |row: &&Row| match row.section {
        section if negligible.contains(&section) => false,
        Section::Layers => {
            let has_share = |ns: i64, whole: i64| 100.0 * ns as f64 >= MIN_SHARE_PCT * whole as f64;
            has_share(row.total_a_ns, whole_a) || has_share(row.total_b_ns, whole_b)
        }
        Section::GpuTime => row.part == Some(Part::Window),
        Section::Api => api_was_named,
        _ => {
            let share = row
                .share_b_pct
                .into_iter()
                .chain(row.share_a_pct)
                .fold(None, |most: Option<f64>, share| Some(most.map_or(share, |most| most.max(share))));
            share.is_none_or(|share| share >= MIN_SHARE_PCT)
        }
    };
    let mut failures = Vec::new();
    let judged_pct = comparison.judged_pct();
    let mut is_conclusive = judged_pct.is_some_and(|pct| pct >= MIN_JUDGED_PCT);
    for total in comparison.totals.iter().filter(|total| !comparison.is_negligible(total)) {
        let Some((cost, verdict)) = &total.cost else { continue };
        is_conclusive |= judged_pct.is_none();
        let has_total = !matches!(total.section, Section::Classes | Section::Layers | Section::Api);
        if has_total && is_regression(*verdict, cost) {
            failures.push(format!(
                "{} in total: the same calls cost more ({})",
                total.section.as_str(),
                relative(cost)
            ));
        }
    }
    for row in comparison.rows.iter().filter(counts) {
        let Some(cost) = row.cost else { continue };
        is_conclusive |= judged_pct.is_none() || row.part.is_some();
        if is_regression(row.verdict, &cost) {
            let name = short_name(row, &comparison.rows);
            let (what, unit) = match (row.part, row.section) {
                (Some(_), _) => (row.name().to_owned(), "iteration"),
                (None, Section::Layers) => (format!("layers {name}"), "range"),
                (None, section) => (format!("{} {name}", section.as_str()), "call"),
            };
            failures.push(format!("{what}: {} per {unit} ({})", times(row), relative(&cost)));
        }
    }
    Gate { limit_pct, failures, is_conclusive, judged_pct }
}

/// The time in A and in B that layers are a share of: that of all kernels, or of the longest layer if that
/// is longer, which happens when layers are timed on the CPU.
fn layer_wholes(comparison: &Comparison) -> [i64; 2] {
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
            [] if self.is_conclusive => {
                write!(f, "passed: nothing is slower by more than noise and {limit} %")?;
                match self.judged_pct {
                    Some(judged) => write!(f, "; {} of GPU time is comparable", share(judged)),
                    None => Ok(()),
                }
            }
            [] => match self.judged_pct {
                Some(judged) if judged > 0.0 => {
                    write!(f, "inconclusive: {} of GPU time is comparable", only(judged))
                }
                _ => write!(f, "inconclusive: nothing is comparable"),
            },
            failures => {
                let shown = &failures[..failures.len().min(MAX_SHOWN)];
                write!(f, "failed at {limit} %: {}", shown.join("; "))?;
                match failures.len() - shown.len() {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more"),
                }
            }
        }
    }
}
