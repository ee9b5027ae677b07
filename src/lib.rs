//! Answers questions about NVIDIA Nsight Systems profiles with versioned SQL.
//!
//! Open a report, ask a query by its name, read the rows:
//!
//! ```
//! # let path = "fixtures/example.sqlite";
//! let report = nsq::open(path)?;
//! let kernels = report.query("top_kernels").param("limit", 3).run()?;
//! for row in kernels.iter() {
//!     println!("{:?} ns in {:?}", row.int("total_ns"), row.text("kernel_name"));
//! }
//! # assert_eq!(kernels.rows().len(), 3);
//! # Ok::<(), nsq::Error>(())
//! ```
//!
//! A [`Scope`] limits a question to a part of the report, as the options of the command line do. A report
//! without the data is an error of its own, [`Error::LacksData`]:
//!
//! ```
//! # let path = "fixtures/example.sqlite";
//! use nsq::{Error, Scope};
//!
//! let report = nsq::open(path)?;
//! let third = Scope { iterations: vec!["step/3".to_owned()], ..Scope::default() };
//! match report.query("nccl_sum").scope(&third).run() {
//!     Ok(table) => println!("{} collectives in step 3", table.rows().len()),
//!     Err(Error::LacksData { needs, .. }) => println!("the report has no {needs}"),
//!     Err(error) => return Err(error),
//! }
//! # Ok::<(), nsq::Error>(())
//! ```
//!
//! Reports are read-only, and any number of threads can ask one. `nsq list` shows the queries, and
//! `nsq show NAME` their columns. [`Library::load`] adds queries of your own.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

// The stages, which nsq's own program, tests and benchmarks use. Their items may change in every release.
//
//     cli ─► report ─► schema ─► normalize ─► compile ─► execute ─► table ─► render
//                catalog ──────────┴────────────┘
//
// Data flows from left to right. A stage may use earlier stages and the types of `table`, but never a
// later stage; `tests/suite/layering.rs` checks this. The documentation of each stage starts with its
// input and output.
#[doc(hidden)]
pub mod bounded_file;
#[doc(hidden)]
pub mod cancel;
#[doc(hidden)]
pub mod catalog;
#[doc(hidden)]
pub mod classify;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod compile;
mod door;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod execute;
#[doc(hidden)]
pub mod glob;
#[doc(hidden)]
pub mod integers;
#[cfg(feature = "signals")]
#[doc(hidden)]
pub mod interrupt;
#[doc(hidden)]
pub mod interval;
#[doc(hidden)]
pub mod lint;
#[doc(hidden)]
pub mod manual;
#[doc(hidden)]
pub mod materialize;
#[cfg(feature = "signals")]
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod normalize;
#[doc(hidden)]
pub mod occupancy;
#[doc(hidden)]
pub mod open_report;
#[doc(hidden)]
pub mod page;
#[doc(hidden)]
pub mod projection;
#[doc(hidden)]
pub mod render;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod schema;
#[doc(hidden)]
pub mod scope;
#[doc(hidden)]
pub mod seed;
#[doc(hidden)]
pub mod statistics;
#[doc(hidden)]
pub mod table;
#[doc(hidden)]
pub mod threads;
#[doc(hidden)]
pub mod trace;
#[doc(hidden)]
pub mod whole_file;

/// The library of queries inside the program.
pub static LIBRARY: catalog::BuiltIn = {
    use catalog::EmbeddedFile;
    catalog::BuiltIn::new(include!(concat!(env!("OUT_DIR"), "/library.rs")))
};

pub use door::{Answer, Answers, Cancel, Failure, Library, Page, PageQuestion, PlaybookQuestion};
pub use door::{Question, Report, Scope, Table, open};
pub use error::{Error, Result};
pub use normalize::Attribute;
pub use render::visible;
pub use report::report_paths;
pub use table::{Column, Row, RowSink, Type, Unit, Value};
