//! Runs the catalogue's statements on a report: `schema ─► normalize ─► compile ─► execute ─► rows`.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod compile;
pub mod execute;
pub mod normalize;
pub mod scope;

#[cfg(test)]
mod tests {
    use nsq_library::catalog::{BuiltIn, Catalog};
    use std::path::Path;
    use std::sync::OnceLock;

    /// The catalogue of the repository.
    pub(crate) fn library() -> &'static Catalog {
        static LIBRARY: OnceLock<&BuiltIn> = OnceLock::new();
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../queries"));
        LIBRARY.get_or_init(|| BuiltIn::read(folder).unwrap()).catalog().unwrap()
    }
}
