//! The files that GPU_kernel_info_statistic and GPU Performance Analyser read: CSV tables of `nsys stats`,
//! and a JSON config.

mod class_keys;
mod config;
mod csv_columns;
mod csv_table;
mod json;

pub use class_keys::SeedMap;
pub use config::{ClassKeys, Config, ConfigInput, Source, WITH_COMMENTS};
pub use csv_columns::CsvLayout;
pub use csv_table::{read_kernels, read_memory, read_ranges};
