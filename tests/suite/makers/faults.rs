//! Events that are not valid are left out and counted, and a trace that is cut short is read to its end.

use super::{run, sql};
use crate::support::outcome;
use nsq::trace::{ImportOptions, Imported, import};
use std::path::{Path, PathBuf};

const BAD: &str = "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"_lib = Library(\"_inductor_test\", \"IMPL\")\n\
                   (1): <module>\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":0,\n\"args\":{\"Ev Idx\":1}}";

fn kernel(at: usize) -> String {
    format!(
        r#"{{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{at}.5,"dur":3.25,"args":{{"stream":7,"device":0,"more":[{{"a":1}},{{"b":2}}]}}}}"#
    )
}

fn written(folder: &Path, events: &[String], after: &str) -> PathBuf {
    let path = folder.join("trace.json");
    std::fs::write(&path, format!("{{\"traceEvents\":[\n{}\n]{after}}}", events.join(",\n"))).unwrap();
    path
}

fn imported(path: &Path) -> Result<Imported, nsq::error::Error> {
    let database = path.with_extension("sqlite");
    let _ = std::fs::remove_file(&database);
    import(path, &database, ImportOptions::default(), &|_| true)
}

#[test]
fn an_event_with_unescaped_quotes_is_left_out() {
    for (places, after) in [
        (vec![0], ""),
        (vec![1], ""),
        (vec![2], ""),
        (vec![2], ",\"traceName\":\"a\""),
        (vec![0, 2, 4], ",\"world\":{\"a\":[1]}"),
    ] {
        let good = 3;
        let mut events: Vec<String> = (0..good).map(|nth| kernel(10 * nth + 5)).collect();
        for &place in &places {
            events.insert(place.min(events.len()), BAD.to_owned());
        }
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), &events, after);
        let counts = imported(&path).unwrap();
        assert_eq!((counts.rows, counts.skipped), (good as u64, places.len() as u64), "{places:?}");
        let line = 2 + places[0];
        let told =
            format!("skipped {} that are not valid JSON, the first in line {line}: ", places.len());
        assert!(counts.to_string().contains(&told), "{counts}");
        assert_eq!(sql(&path, "SELECT count(*), sum(dur_ns) FROM kernel"), ["3,9750"]);
        let doubts = run(&path, "capture_trust", &[]).join("\n");
        assert!(
            doubts.contains("not valid JSON") && doubts.contains(&format!("line {line}")),
            "{doubts}"
        );
    }
}

#[test]
fn a_trace_with_many_faults_is_refused() {
    for (good, bad, is_read) in
        [(0, 1, false), (1, 1, true), (1, 10, true), (200, 11, false), (1200, 11, true)]
    {
        let mut events: Vec<String> = (0..good).map(|nth| kernel(10 * nth)).collect();
        events.extend(vec![BAD.to_owned(); bad]);
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), &events, "");
        match imported(&path) {
            Ok(counts) => assert!(is_read && counts.skipped == bad as u64, "{good} {bad}: {counts}"),
            Err(error) => {
                assert!(!is_read, "{good} {bad}: {error}");
                assert!(error.to_string().contains("is not valid JSON at byte"), "{error}");
            }
        }
    }
}

#[test]
fn a_trace_that_is_cut_short_is_read_to_its_end() {
    let events: Vec<String> = (0..20).map(|nth| kernel(10 * nth)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &events, "");
    let whole = std::fs::read(&path).unwrap();
    for length in (1..whole.len() - 1).step_by(37) {
        std::fs::write(&path, &whole[..length]).unwrap();
        // Nested objects end with a brace, too.
        let complete = whole[..length].split(|byte| *byte == b'\n').skip(1);
        let complete = complete.filter(|line| line.ends_with(b"}}") || line.ends_with(b"}},")).count();
        match imported(&path) {
            Ok(counts) => {
                assert_eq!(counts.rows, complete as u64, "{length}");
                assert!(counts.cut_short.is_some(), "{length}");
            }
            Err(error) => {
                assert_eq!(complete, 0, "{length}");
                assert!(error.to_string().contains("is cut short"), "{error}");
            }
        }
    }
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let (code, _, told) = outcome(&["run", path.to_str().unwrap(), "-q", "top_kernels"]);
    assert!(code == 0 && told.contains("cut short in line"), "{told}");
    let doubts = run(&path, "capture_trust", &[]).join("\n");
    assert!(doubts.contains("The trace ends too soon, in line 11"), "{doubts}");
}
