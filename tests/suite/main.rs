//! What nsq does, case by case: each verb, each format, each kind of report and of failure.
//!
//! One program, because each program is linked on its own and programs run one after the other.
//! Files that are compared byte by byte are tested by `goldens`, random captures by `random`.

// The parts are modules of a program, not of a library.
#![allow(unreachable_pub)]

mod answer;
mod breakdown;
mod catalog;
mod class_maps;
mod classes;
mod cli;
mod diff;
mod errors;
mod exports;
mod gpu_rules;
mod hostile;
mod kernels;
mod killed;
#[path = "../../benches/large_export/mod.rs"]
#[allow(dead_code)]
mod large_export;
mod layering;
mod load;
mod occupancy;
mod pages;
mod readme;
mod real_capture;
mod real_nsys;
mod secrets;
mod shared;
mod standalone;
mod strangers;
#[path = "../support/mod.rs"]
mod support;
mod terminal;
mod trace;
