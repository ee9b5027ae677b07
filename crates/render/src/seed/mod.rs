//! What the tools before nsq read, and the exact bytes that they wrote, for scripts that compare them.

pub mod analyzer;
mod gputrc2graph;

pub use gputrc2graph::result_csv;
