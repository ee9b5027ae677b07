//! The exact bytes that the tools before nsq wrote, for scripts that compare them.

mod gputrc2graph;

pub use gputrc2graph::result_csv;
