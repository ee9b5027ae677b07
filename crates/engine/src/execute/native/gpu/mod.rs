//! Native relations on GPU operations: when GPUs were busy or idle (`exposed_part`, `gpu_busy`, `gpu_gap`,
//! `gpu_overlap`, `gpu_window`, `idle_part`, `op_at`, `stream_gap`), what launched them (`launch`), and
//! which of them contradict each other (`doubtful_op`).

mod answers;
mod by_row;
mod columns;
mod doubts;
mod idle;
mod labels;
mod launch;
mod load;
mod op_at;
mod replay;
mod runs;
mod steps;
mod tables;

pub(super) use answers::Answers;
pub(super) use load::{occupy, part};
pub(super) use tables::Table;
