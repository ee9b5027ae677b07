//! Native relations on GPU occupancy: `exposed_part`, `gpu_busy`, `gpu_gap`, `gpu_overlap`, `gpu_window`
//! and `idle_part`.

mod idle;
mod load;
mod tables;

pub(super) use load::occupy;
pub(super) use tables::{Answers, Table};
