//! Two reports side by side: what changed, why, and whether it is more than noise.
//!
//! For: the arithmetic of a comparison. The figures of each side are rows of the catalogue's queries,
//! which anyone can run on each report; what is made of the two rows is below, and small enough to redo
//! with a pocket calculator. It is Rust and not SQL because no query of the catalogue can see two
//! reports, because the effects must add up to the change in whole nanoseconds whatever the counts
//! (128-bit products), and because the bound needs a quantile that SQLite has not.
//!
//! Not for: reading reports, or wording.
//!
//! **What is compared.** Work is compared like with like: a kernel launched with the same grid and
//! block, a copy of the same size. Such a stratum has, on each side, calls n, a total T, a mean m = T/n
//! and a standard error e of that mean. A row (a kernel, a class, a collective) is the sum of its strata.
//!
//! **Effects.** The change of a row is the sum, over its strata, of
//!
//! - the calls effect (n_B − n_A) × m_A, rounded to a nanosecond: more calls at the cost they had in A;
//! - the cost effect, the rest of a stratum that both have, n_B × (m_B − m_A) but for the rounding:
//!   B's calls at another cost;
//! - the other effect: strata that only B has less those that only A has, where nothing says how much
//!   was calls and how much was cost.
//!
//! Per iteration, T stands for T divided by the side's iterations and rounded, and n for n divided by them.
//!
//! **Noise.** e comes from batches of consecutive calls, so that a clock that drifts within a run widens
//! it ([`crate::statistics::mean_error`]), or for kernels from five iterations or more, of which those that
//! several threads or GPUs run side by side are one; it is no less than what a clock that ticks every 32 ns
//! makes ([`TICK_NS`]). The cost effect of a sum of strata has the variance E_A² + E_B², where E of a side
//! is the sum of n_B × e over the strata. That is the most it can be: a clock that drifts moves all kernels
//! alike, and then nothing averages out. Degrees of freedom are Welch and Satterthwaite's between the sides
//! and, within one, (sum of n_B × e)² / (sum of n_B × e / √f)², which lies between those of the strata. The
//! bound is the square root times Student's two-sided quantile, by default for 99 %. A stratum with a single
//! call on a side has no spread: it is not judged, and if all are so, neither is the row. Nor is it where
//! less than half of its time, on either side, was compared: the rest may as well have gone the other way.
//!
//! **What the bound is not.** It is the spread within each run. What differs from run to run, such as
//! clocks and temperature, is in it only as far as it also changes during a run. Of a hundred rows of one
//! stratum that did not change about one is called changed, and of sums fewer.

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
