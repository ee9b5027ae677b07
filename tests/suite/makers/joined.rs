//! An export of nsys gets the operators of a trace of the same program.

use super::{event, run, sql, trace};
use crate::support::{outcome, stdout};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Two steps of 40 operators with one or two kernels each, in a module.
fn program() -> Vec<Value> {
    let thread = (100, 100);
    let mut events = Vec::new();
    let mut correlation = 0;
    for step in 0..2 {
        let start = 1_000 + 10_000 * step;
        events.push(event("python_function", "nn.Module: Net_0", thread, (start, 9_000), json!({})));
        for place in 0..40 {
            let at = start + 100 + 200 * place;
            let inputs = json!({"Input Dims": [[place + 1, 8], [8, 4]], "Input type": ["float", "float"],
              "Sequence number": 40 * step + place});
            events.push(event("cpu_op", &format!("aten::op{}", place % 13), thread, (at, 150), inputs));
            for kernel in 0..1 + place % 2 {
                correlation += 1;
                let link = json!({"correlation": correlation});
                let launch =
                    event("cuda_runtime", "cudaLaunchKernel", thread, (at + 10 + 50 * kernel, 5), link);
                let work = json!({"correlation": correlation, "device": 0, "context": 1, "stream": 7,
                  "grid": [place % 7 + 1, 1, 1], "block": [128, 1, 1]});
                let name = format!("k{}", (place * 3 + kernel) % 11);
                events.push(launch);
                events.push(event("kernel", &name, (0, 7), (at + 30 + 50 * kernel, 8), work));
            }
        }
    }
    events
}

/// What nsys has of the program: its kernels and calls, with other correlation IDs, but not kernels of these IDs.
fn export(folder: &Path, trace: &Path, lost: &str) -> PathBuf {
    let path = folder.join("export.sqlite");
    let _ = std::fs::remove_file(&path);
    stdout(&["import", trace.to_str().unwrap(), "-o", path.to_str().unwrap()]);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(&format!(
            "DROP TABLE NVTX_EVENTS; DROP TABLE NSQ_OPERATOR_INPUT; DROP TABLE NSQ_PYTHON_FRAME;
             DELETE FROM META_DATA_EXPORT; DROP TABLE NSQ_IMPORT;
             DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId IN ({lost});
             UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET correlationId = 900 - 2 * correlationId, start = start + 7, \"end\" = \"end\" + 7;
             UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 900 - 2 * correlationId;"
        ))
        .unwrap();
    path
}

/// The join of an export and a trace.
fn joined(folder: &Path, export: &Path, trace: &Path) -> PathBuf {
    let path = folder.join("both.sqlite");
    let [export, trace, both] = [export, trace, &path].map(|path| path.to_str().unwrap());
    stdout(&["import", trace, "--onto", export, "-o", both, "--force"]);
    path
}

const OPERATORS: &str = "SELECT k.kernel_name, k.grid_x, (SELECT r.range_text FROM nvtx_range r \
  JOIN cuda_call c ON c.global_tid = r.global_tid AND r.start_ns <= c.start_ns AND c.start_ns < r.end_ns \
  JOIN launch l ON l.call_id = c.call_id WHERE l.op_kind = 'kernel' AND l.op_id = k.kernel_id LIMIT 1) \
  FROM kernel k ORDER BY k.start_ns";

#[test]
fn every_kernel_has_the_operator_that_it_has_in_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace(folder.path(), &program());
    let both = joined(folder.path(), &export(folder.path(), &trace, "0"), &trace);
    assert_eq!(sql(&both, OPERATORS), sql(&trace, OPERATORS));
    for query in ["module_time", "op_efficiency"] {
        assert_eq!(run(&both, query, &[]), run(&trace, query, &[]), "{query}");
    }
}

#[test]
fn a_trace_is_added_to_a_report_for_one_command() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace(folder.path(), &program());
    let export = export(folder.path(), &trace, "31, 77");
    let both = joined(folder.path(), &export, &trace);
    let with = ["--with", trace.to_str().unwrap()];
    // Joined now, then from the cache, then for this run only.
    for more in [&with[..], &with, &[&with[..], &["--no-cache"]].concat()] {
        assert_eq!(run(&export, "op_efficiency", more), run(&both, "op_efficiency", &[]));
    }
    let report = export.to_str().unwrap();
    let screen = stdout(&[&[report], &with[..]].concat());
    let command = format!("nsq {report} --with {} -o overview.html", with[1]);
    assert!(screen.contains(&command), "{screen}");
    let trusted = run(&export, "capture_trust", &with);
    let paired = "of 118 GPU operations";
    assert!(
        trusted.iter().any(|row| row.contains(paired) && row.contains("by name, shape")),
        "{trusted:?}"
    );
    let refused: [(&[&str], &str); 3] = [
        (&[report, report], "--with adds a trace to one report"),
        (&[with[1]], "--with adds a trace to a report of nsys"),
        (&[report, "-o", with[1]], "the output is the report itself"),
    ];
    for (words, said) in refused {
        let (code, _, errors) = outcome(&[words, &with[..]].concat());
        assert!(code == 2 && errors.contains(said), "{words:?}: {errors}");
    }
}

#[test]
fn kernels_that_one_recorder_lost_give_others_no_wrong_operator() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace(folder.path(), &program());
    let whole = sql(&trace, OPERATORS);
    let both = joined(folder.path(), &export(folder.path(), &trace, "31, 77"), &trace);
    let (mut right, mut place) = (0, 0);
    for row in sql(&both, OPERATORS) {
        // The rows in between are those of lost kernels.
        let kernel = row.rsplit_once(',').unwrap();
        place +=
            whole[place..].iter().position(|row| row.rsplit_once(',').unwrap().0 == kernel.0).unwrap();
        if !kernel.1.is_empty() {
            assert_eq!(row, whole[place]);
            right += 1;
        }
        place += 1;
    }
    assert!(right >= 100, "{right} of {}", whole.len());
}

#[test]
fn a_trace_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trace_of_it = trace(folder.path(), &program());
    let export = export(folder.path(), &trace_of_it, "0");
    let mut other = program();
    for event in &mut other {
        if event["cat"] == "kernel" {
            event["name"] = "another_kernel".into();
        }
    }
    let other = trace(folder.path(), &other);
    let output = folder.path().join("both.sqlite");
    let [other, export, both] = [&other, &export, &output].map(|path| path.to_str().unwrap());
    let (code, _, errors) = outcome(&["import", other, "--onto", export, "-o", both]);
    assert_eq!(code, 1);
    assert!(errors.contains("no GPU operations in the order"), "{errors}");
    assert!(!output.exists());
}
