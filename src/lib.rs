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
//! `nsq show NAME` their columns. [`library_with`] adds queries of your own.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

// The parts of the house, each a crate of its own, for nsq's own programs, tests and benchmarks. Their items may
// change in every release.
//
//     value ─► files ─► report ─┐
//     sweep ────────────────────┼─► engine ─► ask ─► cli
//     value ─► render ─► library ┘        check ─┘
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "options")]
#[doc(hidden)]
pub use nsq_ask::options;
#[doc(hidden)]
pub use nsq_ask::{door, input, materialize, open_report, page, pages, queries, request, script};
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use nsq_check::lint;
#[doc(hidden)]
pub use nsq_engine::{compile, execute, normalize, scope};
#[cfg(feature = "signals")]
#[doc(hidden)]
pub use nsq_files::interrupt;
#[doc(hidden)]
pub use nsq_files::{bounded_file, whole_file};
#[doc(hidden)]
pub use nsq_library::{catalog, manual};
#[doc(hidden)]
pub use nsq_render::{render, seed};
#[doc(hidden)]
pub use nsq_report::{report, schema, trace};
#[doc(hidden)]
pub use nsq_sweep::{classify, integers, interval, occupancy, projection, statistics, threads};
#[doc(hidden)]
pub use nsq_value::{cancel, error, glob, table};

pub use nsq_ask::door::{Answer, Answers, Cancel, Failure, Library, Page, PageQuestion};
pub use nsq_ask::door::{PlaybookQuestion, Question, Report, Scope, Table};
pub use nsq_engine::normalize::Attribute;
pub use nsq_render::render::visible;
pub use nsq_report::report::report_paths;
pub use nsq_value::error::{Error, Result};
pub use nsq_value::table::{Column, Row, RowSink, Type, Unit, Value};

use nsq_library::catalog::{BuiltIn, EmbeddedFile};
use std::path::{Path, PathBuf};

/// The library of queries inside the program.
#[doc(hidden)]
pub static BUILT_IN: BuiltIn = BuiltIn::new(include!(concat!(env!("OUT_DIR"), "/library.rs")));

/// The chapters of the book: path, title, the other headings, and the text.
#[cfg(feature = "cli")]
static CHAPTERS: &[[&str; 4]] = include!(concat!(env!("OUT_DIR"), "/chapters.rs"));

/// The queries, relations and pages that nsq brings along.
pub fn library() -> Result<Library> {
    Library::built_in(&BUILT_IN)
}

/// The library, with the files of the user's folders: a later file replaces an earlier one of the same name.
pub fn library_with(folders: &[PathBuf]) -> Result<Library> {
    Library::load(&BUILT_IN, folders)
}

/// Opens a report with the built-in queries: a SQLite export of nsys, a `.nsys-rep`, or a PyTorch trace.
///
/// A `.nsys-rep` is exported with the user's own `nsys`, and a trace is imported. Both are kept in the
/// cache folder for the next time. See [`library_with`] for queries of your own.
///
/// # Errors
///
/// [`Error::Report`] if the file cannot be used as a report, [`Error::Export`] if `nsys` fails.
pub fn open(path: impl AsRef<Path>) -> Result<Report> {
    library()?.open(path)
}
