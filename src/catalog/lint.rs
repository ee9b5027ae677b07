//! lints
