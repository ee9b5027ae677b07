//! Random captures compared with simple reference implementations, and damaged files.
//!
//! Every run uses the same seeds. `NSQ_TEST_DEPTH` sets how many are tried; see `support::depth_of`.
//! This is a separate test binary because it limits its own memory.

// These modules belong to a binary, so `pub` is never reachable from outside.
#![allow(unreachable_pub)]

mod damaged;
mod fuzz;
mod projection;
#[path = "../support/mod.rs"]
mod support;
