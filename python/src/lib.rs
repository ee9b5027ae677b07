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
    use super::report::{Library, Report, ask, ask_page, report_paths};
    #[pymodule_export]
    use super::rows::Rows;
}
