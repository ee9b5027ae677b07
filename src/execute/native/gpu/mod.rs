//! Relations that the occupancy of GPUs answers.

mod load;
mod tables;

pub(super) use load::occupy;
pub(super) use tables::{Answers, Table};
