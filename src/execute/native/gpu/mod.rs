//! Native relations on GPU occupancy: `exposed_part`, `gpu_busy`, `gpu_gap`, `gpu_overlap`, `gpu_window`
//! and `idle_part`.

mod answers;
mod idle;
mod load;
mod tables;

pub(super) use answers::Answers;
pub(super) use load::occupy;
pub(super) use tables::Table;
