//! Nothing: this crate is its list of dependencies, whose features `Cargo.toml` explains.
