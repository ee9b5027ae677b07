//! The import of a PyTorch trace, beside Python's `json.load` and the floors of its parts.
//!
//! Run with `cargo bench --bench trace_import -- [MEGABYTES]` (1000 by default). Each figure is the best of
//! three, and the rounds go over everything in turn, so that the machine's drift is shared. Ratios are
//! to `nsq import` of the text. Beside it and the import of the same trace as gzip:
//!
//! - `json.load` and the sums of kernels by name, in Python: what people do now
//! - the floors: `gzip -dc` unpacks, Python's parser alone reads, `sqlite3` writes the same rows again

mod large_trace;
mod measured;

use measured::{Bench, keep_best, report};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 3;

/// Time and calls of each kernel: what the import makes a question of SQL.
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

/// Writes every row of the import once more, without a parser before it.
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
    println!("A PyTorch trace of {megabytes} MB");
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
    report("nsq import of the text", text, ours);
    report("nsq import of the gzip", gzip, ours);
    report("json.load and sums in Python", python, ours);
    report("floor of unpacking: gzip -dc", unpack, ours);
    report("floor of writing: sqlite3 copies the rows", write, ours);
}

/// The same trace as gzip, made now or before.
fn pack(trace: &Path) -> std::path::PathBuf {
    let packed = trace.with_extension("json.gz");
    if !packed.exists() {
        let status = Command::new("gzip").arg("-kf").arg(trace).status();
        assert!(status.is_ok_and(|status| status.success()), "gzip packs the trace");
    }
    packed
}
