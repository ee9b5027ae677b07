//! Native relations on GPU occupancy: `gpu_busy`, `gpu_gap`, `gpu_overlap` and `gpu_window`.

mod load;
mod tables;

pub(super) use load::occupy;
pub(super) use tables::{Answers, Table};
