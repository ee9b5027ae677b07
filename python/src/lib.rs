//! `nsys_query._native`: what the Python package needs of nsq's library. The package's own modules, in
//! `nsys_query/`, are what people use.

mod columns;
mod failure;
mod report;
mod rows;
mod scope;
mod wait;

use pyo3::prelude::*;

#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::report::{Library, Report, answer, ask, ask_page, report_paths, schema};
    #[pymodule_export]
    use super::rows::Rows;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python gives it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
