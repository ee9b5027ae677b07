//! Runs a [`crate::compile::Plan`] and yields its rows. Every statement runs here.
//!
//! Creates the relations that the plan needs, locks the connection down, binds parameters, steps through
//! the rows, and locates errors in the SQL file. Formatting and the meaning of columns live elsewhere.

mod begin;
mod cells;
mod combine;
mod diagnose;
mod finding_intervals;
mod findings;
mod functions;
mod guard;
mod insert;
mod intervals;
mod limits;
mod materialization;
mod named_times;
mod native;
mod parallel;
mod partial;
mod progress;
mod recorded;
mod refusal;
mod relation_store;
mod session;
mod shelf;
mod table_writer;
mod times;

pub use begin::Shared;
pub use functions::{Function, functions, register as register_functions};
pub use limits::Limits;
pub use native::{AttributedTime, Loads, Natives, asked_with, check_rules};
pub use partial::Partial;
pub use progress::{Progress, Work};
pub use session::Session;
pub use shelf::Shelf;
pub use table_writer::TableWriter;
