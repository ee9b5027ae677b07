//! The arithmetic of `nsq classes`: GPU time by kernel class, per iteration, and the time that remains.
//!
//! The inputs are sums per kernel name, projected ranges and sums per memory operation, from any source.
//! The module also reads the files of the two tools that `nsq classes` replaces,
//! GPU_kernel_info_statistic and GPU Performance Analyser ("the seed"): CSV tables of `nsys stats`, and
//! the JSON config. `--seed-compat` reproduces the seed's figures.

mod config;
mod csv_table;
mod iterations;
mod measured;
mod seed;
mod seed_map;
mod summary;
mod tables;
mod tag;

pub use config::{AnalysisArgs, ClassKeys, Config, ConfigInput, Source};
pub use csv_table::{CsvLayout, read_kernels, read_memory, read_ranges};
pub use iterations::{IterationHints, Iterations};
pub use measured::Measured;
pub use seed::{Estimate, SeedBlock, SeedRow, SeedSummary, SeedWindows};
pub use seed_map::SeedMap;
pub use summary::{Class, Row, Section, Summary, summarize};
pub use tables::{KernelSum, MemorySum, RangeSpan, Tables};
pub use tag::{Tag, TagMatch};
