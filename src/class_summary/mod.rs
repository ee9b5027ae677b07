//! Summed GPU time by class of kernel, per iteration, and what it leaves of the iterations.
//!
//! For: the arithmetic of `nsq classes`, from sums per kernel name, projected ranges and sums per
//! memory operation, wherever they come from; and the files of the two tools whose place it takes:
//! tables that `nsys stats` wrote as CSV, and their JSON.
//!
//! Not for: reports, SQL, what a kernel's class is, or printing.

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
pub use iterations::{Iterations, Told};
pub use measured::Measured;
pub use seed::{Estimate, SeedBlock, SeedRow, SeedSummary, SeedWindows};
pub use seed_map::SeedMap;
pub use summary::{Class, Row, Section, Summary, summarize};
pub use tables::{KernelSum, MemorySum, RangeSpan, Tables};
pub use tag::{Tag, TagMatch};
