//! The catalogue of SQL: queries, relations, source specs, name rules, class maps and pages. Its files are given by
//! the program that uses it.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod catalog;
pub mod manual;
