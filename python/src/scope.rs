//! Scopes and limits, as Python passes them.

use nsq::{Attribute, Scope};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// Which part of a report is asked, and with which limits. The Python package fills all of it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct How {
    time: Option<String>,
    steady: bool,
    gpu: Vec<i64>,
    device: Vec<i64>,
    stream: Vec<i64>,
    process: Vec<i64>,
    thread: Vec<String>,
    nvtx: Vec<String>,
    iter: Vec<String>,
    exclude: Vec<String>,
    window: Vec<String>,
    attribute: Option<String>,
    keep_names: bool,
    pub(crate) classes: Option<String>,
    /// In seconds.
    timeout: Option<f64>,
    pub(crate) max_rows: Option<usize>,
}

impl How {
    pub(crate) fn timeout(&self) -> PyResult<Option<Duration>> {
        let Some(seconds) = self.timeout.filter(|seconds| *seconds != f64::INFINITY) else {
            return Ok(None);
        };
        let duration = Duration::try_from_secs_f64(seconds);
        duration
            .map(Some)
            .map_err(|_| PyValueError::new_err("timeout must be a number of seconds of 0 or more"))
    }

    pub(crate) fn scope(&self) -> PyResult<Scope> {
        let attribute = match self.attribute.as_deref() {
            None => None,
            Some("thread") => Some(Attribute::Thread),
            Some("process") => Some(Attribute::Process),
            Some("capture") => Some(Attribute::Capture),
            Some(other) => {
                let known = "give 'thread', 'process' or 'capture'";
                return Err(PyValueError::new_err(format!("unknown attribute {other:?}: {known}")));
            }
        };
        Ok(Scope {
            time: self.time.clone(),
            steady: self.steady,
            gpus: self.gpu.clone(),
            devices: self.device.clone(),
            streams: self.stream.clone(),
            processes: self.process.clone(),
            threads: self.thread.clone(),
            nvtx: self.nvtx.clone(),
            iterations: self.iter.clone(),
            exclude: self.exclude.clone(),
            windows: self.window.clone(),
            attribute,
            keep_names: self.keep_names,
        })
    }
}
