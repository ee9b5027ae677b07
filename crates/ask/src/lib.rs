//! Asks reports: queries, a page, or the questions of a playbook.
//!
//! Every program asks here: the command line, the library for Rust and Python, the servers. [`request::Request`] says how:
//! scope, class map, limits. [`request::Request::queries`] asks queries of one or several reports, and
//! [`request::Request::page`] asks a page. Both tell what reports lack, which failed, and what a user must know.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod door;
mod evidence;
mod explain;
mod gpus;
pub mod input;
mod launchers;
pub mod manual;
pub mod materialize;
pub mod open_report;
#[cfg(feature = "cli")]
pub mod options;
pub mod page;
pub mod pages;
mod partials;
pub mod queries;
pub mod request;
pub mod script;
mod steps;
mod unread;
