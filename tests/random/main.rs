//! Random captures against plain formulations, and damaged files: the same ones in every run.
//!
//! A program of its own, because it limits its memory. `NSQ_TEST_DEPTH` says how many are tried; see
//! `support::depth_of`.

// The parts are modules of a program, not of a library.
#![allow(unreachable_pub)]

mod fuzz;
mod projection;
#[path = "../support/mod.rs"]
mod support;
