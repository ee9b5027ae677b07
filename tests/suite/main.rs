//! The main test suite: every verb, every format, every kind of report and of failure.
//!
//! All cases are in one test binary: cargo links each binary separately and runs them one after the
//! other. `goldens` compares answers byte by byte; `random` tests random captures and damaged files.

// These modules belong to a binary, so `pub` is never reachable from outside.
#![allow(unreachable_pub)]

mod answer;
mod archives;
mod breakdown;
mod catalog;
mod class_maps;
mod classes;
mod cli;
mod diff;
mod door;
mod drop_in;
mod english;
mod errors;
mod exports;
mod facts;
mod faults;
mod findings;
mod gpu_rules;
mod host;
mod hostile;
mod idle_by_hand;
#[path = "../support/in_process.rs"]
mod in_process;
mod internal;
mod json_schema;
mod kernels;
mod killed;
#[path = "../../benches/large_export/mod.rs"]
mod large_export;
mod load;
mod made;
mod makers;
mod metrics;
mod native_statements;
mod occupancy;
mod one_door;
mod payloads;
mod pipelines;
mod query_pages;
mod questions;
mod ranks;
mod readme;
mod real_capture;
mod real_nsys;
mod real_options;
mod real_reports;
mod recipes;
mod recorded;
mod replay;
mod screens;
mod secrets;
mod serving;
mod shared;
mod standalone;
mod stated;
mod steps;
mod strangers;
#[path = "../support/mod.rs"]
mod support;
mod terminal;
mod thresholds;
mod timeline;
mod trace;
mod waits;
mod work;
