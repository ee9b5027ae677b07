//! Compares two reports: what changed, why, and whether the change exceeds noise.
//!
//! The figures of each side are rows of catalogue queries, which anyone can run on each report. This
//! module does the arithmetic on the two sides, which is simple enough to check with a pocket
//! calculator. It is Rust and not SQL for three reasons: a catalogue query sees only one report, the
//! effects must add up to the change in whole nanoseconds for all counts (128-bit products), and the
//! noise bound needs a quantile that SQLite does not have.
//!
//! **What is compared.** Like is compared with like: a kernel launched with the same grid and block, or
//! a copy of the same size. Such a group is a *stratum*. On each side it has n calls, a total T, a mean
//! m = T/n and a standard error e of that mean. A row (a kernel, a class, a collective) is the sum of
//! its strata.
//!
//! **Effects.** The change of a row is the sum of three effects over its strata:
//!
//! - Calls effect: (n_B − n_A) × m_A, rounded to a nanosecond. The additional calls, at their cost in A.
//! - Cost effect: the rest of a stratum that both sides have, which is n_B × (m_B − m_A) except for
//!   rounding. The calls of B, at their changed cost.
//! - Other effect: strata that only B has, minus strata that only A has. It cannot be split into calls
//!   and cost.
//!
//! Per iteration, T is divided by the side's iterations and rounded, and n is divided by them.
//!
//! **Noise.** e is computed from batches of consecutive calls, so clock drift within a run increases it
//! ([`crate::statistics::mean_error`]). For kernels with at least five iterations, e is computed from
//! the iterations; iterations that several threads or GPUs run at the same time count as one. e is at
//! least the error of a clock that ticks every 32 ns ([`TICK_NS`]).
//!
//! The cost effect of a sum of strata has the variance E_A² + E_B², where E of a side is the sum of n_B
//! × e over the strata. This is the upper limit: clock drift changes all kernels in the same direction,
//! so errors do not average out. Degrees of freedom follow Welch and Satterthwaite between the sides.
//! Within a side they are (sum of n_B × e)² / (sum of n_B × e / √f)², which lies between the values of
//! the strata. The bound is the square root of the variance times Student's two-sided quantile, for 99 %
//! by default.
//!
//! **Rows without a verdict.** A stratum with a single call on a side has no spread and is not judged. A
//! row is not judged if none of its strata is, or if less than half of its time on either side was
//! compared: the rest could have changed in the opposite direction.
//!
//! **Limits of the bound.** The bound is the spread within each run. It covers differences between runs,
//! such as clocks and temperature, only to the extent that they also change during a run. At 99 %, about
//! one in a hundred unchanged rows with one stratum is reported as changed, and fewer among sums.

mod names;
mod noise;
mod row;
mod sample;
mod sections;

pub use names::{Match, NameGroup, pair_names};
pub use noise::{Noise, TICK_NS};
pub use row::{Cost, Per, Reason, Row, Verdict};
pub use sample::Sample;
pub use sections::{Comparison, KernelShape, Named, Part, Section, Side, Total, Window, compare};
