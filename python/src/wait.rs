//! Work that takes long: without the GIL, and until Ctrl-C.

use nsq::Cancel;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::Duration;

/// How often Python's signals are looked at.
const TICK: Duration = Duration::from_millis(20);
/// As large as that of a main thread: statements nest.
const STACK_BYTES: usize = 8 << 20;

/// Does the work in a thread of its own, without the GIL. A signal that raises an exception, such as Ctrl-C,
/// stops the work first.
pub(crate) fn attended<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        scope(|threads| {
            let (done, is_done) = channel();
            let worker = Builder::new().stack_size(STACK_BYTES).spawn_scoped(threads, move || {
                let result = work();
                // Fails if a signal has stopped the wait.
                let _ = done.send(());
                result
            });
            let worker = worker.map_err(PyOSError::new_err)?;
            let mut raised = Ok(());
            while raised.is_ok() && is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                raised = Python::attach(|py| py.check_signals());
            }
            if raised.is_err() {
                cancel.cancel();
            }
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            raised.map(|()| result)
        })
    })
}
