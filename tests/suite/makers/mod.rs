//! Traces of every maker: JAX, the profiler of PyTorch before Kineto, Ascend; links, faults, Python calls, memory, and joins with nsys.

mod faults;
mod groups;
mod joined;
mod links;
mod memory;
mod modules;
mod rocm;
mod sources;

use crate::support::stdout;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A trace with these events.
fn trace(folder: &Path, events: &[Value]) -> PathBuf {
    let path = folder.join("trace.json");
    let document = json!({"schemaVersion": 1, "traceEvents": events});
    std::fs::write(&path, document.to_string()).unwrap();
    path
}

/// An event with a start and a length, in µs.
fn event(
    category: &str,
    name: &str,
    (pid, tid): (i64, i64),
    (ts, dur): (i64, i64),
    args: Value,
) -> Value {
    let mut event =
        json!({"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args});
    if !category.is_empty() {
        event["cat"] = category.into();
    }
    event
}

/// The launch of a kernel by a thread at a time, and the kernel on stream 7.
fn launched(thread: (i64, i64), at: i64, dur: i64, correlation: i64) -> [Value; 2] {
    let args = json!({"device": 0, "context": 1, "stream": 7, "correlation": correlation});
    [
        event("cuda_runtime", "cudaLaunchKernel", thread, (at, 3), json!({"correlation": correlation})),
        event("kernel", "gemm", (0, 7), (at + 10, dur), args),
    ]
}

/// The rows of a query, as CSV without its header.
fn run(path: &Path, query: &str, more: &[&str]) -> Vec<String> {
    let arguments =
        [&["run", path.to_str().unwrap(), "-q", query, "--format", "csv"][..], more].concat();
    stdout(&arguments).lines().skip(1).map(str::to_owned).collect()
}

/// The rows of a statement, as CSV without its header.
fn sql(path: &Path, statement: &str) -> Vec<String> {
    let answer = stdout(&["sql", path.to_str().unwrap(), statement, "--format", "csv"]);
    answer.lines().skip(1).map(str::to_owned).collect()
}
