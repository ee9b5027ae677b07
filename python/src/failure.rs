//! nsq's errors as the exceptions of `nsys_query._errors`.

use nsq::{Error, visible};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// The exception for an error: the same text, with its help as an attribute.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        _ if error.is_missing_file() => "ReportNotFound",
        Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
        Error::Report { .. } | Error::Export { .. } | Error::NoSpace { .. } | Error::Io { .. } => {
            "ReportError"
        }
        Error::Unknown { .. } => "UnknownName",
        Error::Usage { .. } => "UsageError",
        Error::LacksData { .. } => "LacksData",
        Error::Sql { .. } => "SqlError",
        Error::Limit { .. } => "LimitReached",
        _ => "Error",
    };
    let raised = || {
        let class = py.import("nsys_query._errors")?.getattr(class)?;
        // Names in a report are untrusted, and a traceback goes to a terminal.
        let shown = |text: &str| text.lines().map(visible).collect::<Vec<_>>().join("\n");
        let (text, help) = (shown(&error.to_string()), error.help().map(|help| shown(&help)));
        match error {
            Error::Report { path, .. } | Error::Io { path, .. } if error.is_missing_file() => {
                class.call1((text, help, path))
            }
            _ => class.call1((text, help)),
        }
    };
    raised().map_or_else(|failed| failed, PyErr::from_value)
}

/// Turns nsq's result into Python's.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for nsq::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}
