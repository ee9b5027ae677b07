//! Benchmark: the import of a PyTorch trace, compared with Python's `json.load` and lower bounds.
//!
//! Run with `cargo bench --bench trace_import -- [MEGABYTES]` (1000 by default). Each figure is the best
//! of three rounds. Every round runs all commands in turn, so drift of the machine affects all of them.
//! Ratios are relative to `nsq import` of the uncompressed trace. It is compared with:
//!
//! - `nsq import` of the same trace as gzip
//! - `json.load` and sums of kernels by name in Python, the usual way to read a trace
//! - lower bounds: `gzip -dc` decompresses the trace, and `sqlite3` copies the imported rows

mod large_trace;
mod measured;

use measured::{Bench, keep_best, report};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 3;

/// Time and calls of each kernel, which is an SQL query after an import.
const PYTHON: &str = "\
import collections, json, sys
with open(sys.argv[1]) as file:
    trace = json.load(file)
total, calls = collections.Counter(), collections.Counter()
for event in trace['traceEvents']:
    if event.get('ph') == 'X' and event.get('cat') == 'kernel':
        total[event['name']] += event['dur']
        calls[event['name']] += 1
";

/// Copies every imported row, without parsing.
const REWRITE: &str = "\
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
ATTACH 'imported.sqlite' AS source; BEGIN;
CREATE TABLE a AS SELECT * FROM source.CUPTI_ACTIVITY_KIND_KERNEL;
CREATE TABLE b AS SELECT * FROM source.CUPTI_ACTIVITY_KIND_MEMCPY;
CREATE TABLE c AS SELECT * FROM source.CUPTI_ACTIVITY_KIND_RUNTIME;
CREATE TABLE d AS SELECT * FROM source.NVTX_EVENTS;
COMMIT;";

fn main() {
    let megabytes = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(1000);
    let trace = large_trace::trace(megabytes);
    let packed = pack(&trace);
    println!("Import of a PyTorch trace of {megabytes} MB, best of {ROUNDS}");
    let bench = Bench::new("trace_import", trace.clone());
    let nsq = env!("CARGO_BIN_EXE_nsq");
    let import = |trace: &Path| {
        let arguments = [
            "import".as_ref(),
            trace.as_os_str(),
            "--force".as_ref(),
            "-o".as_ref(),
            "imported.sqlite".as_ref(),
        ];
        bench.command(nsq, &arguments)
    };
    let rewrite = || {
        let _ = std::fs::remove_file(
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace_import/rewritten.sqlite"),
        );
        bench.command("sqlite3", &["rewritten.sqlite".as_ref(), REWRITE.as_ref()])
    };
    let (mut python, mut text, mut gzip, mut unpack, mut write) = (None, None, None, None, None);
    for _ in 0..ROUNDS {
        keep_best(&mut text, import(&trace));
        keep_best(&mut write, rewrite());
        keep_best(&mut gzip, import(&packed));
        keep_best(&mut unpack, bench.command("gzip", &["-dc".as_ref(), packed.as_os_str()]));
        keep_best(
            &mut python,
            bench.command("python3", &["-c".as_ref(), OsStr::new(PYTHON), trace.as_os_str()]),
        );
    }
    let ours = text.expect("nsq imports the trace");
    report("nsq import, uncompressed", text, ours);
    report("nsq import, gzip", gzip, ours);
    report("Python: json.load and sums", python, ours);
    report("lower bound: gzip -dc", unpack, ours);
    report("lower bound: sqlite3 copies the rows", write, ours);
}

/// The path of the trace as gzip, which is created if it is missing.
fn pack(trace: &Path) -> std::path::PathBuf {
    let packed = trace.with_extension("json.gz");
    if !packed.exists() {
        let status = Command::new("gzip").arg("-kf").arg(trace).status();
        assert!(status.is_ok_and(|status| status.success()), "gzip packs the trace");
    }
    packed
}
