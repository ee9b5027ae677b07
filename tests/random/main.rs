//! Random captures compared with simple reference implementations, and damaged files.
//!
//! `NSQ_TEST_DEPTH` sets how many seeds are tried, and `NSQ_TEST_TURN` which: see `support::tried`. Without them, every run tries the same.
//! This is a separate test binary because it limits its own memory.

// These modules belong to a binary, so `pub` is never reachable from outside.
#![allow(unreachable_pub)]

mod damaged;
mod fuzz;
mod projection;
#[path = "../support/mod.rs"]
mod support;
