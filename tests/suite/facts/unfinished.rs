//! Ranges and operations without an end: one treatment in all queries, and one count.

use super::capture::{Capture, MS, US, process};

const PID: i64 = process(100);

/// Six requests of 9 ms, each with three kernels. `open` have no end.
fn requests(kind: i64, open: &[i64]) -> Capture {
    let capture = Capture::new();
    for nth in 0..6 {
        let at = 1_000 * MS + nth * 10 * MS;
        capture.range(PID | 1, "request", (at, at + 9 * MS));
        for kernel in 0..3 {
            let start = at + MS + kernel * MS;
            capture.launch(
                PID,
                start,
                "gemm",
                (start + 20 * US, start + 900 * US),
                nth * 3 + kernel + 1,
            );
        }
        if open.contains(&nth) {
            capture.sql(&format!("UPDATE NVTX_EVENTS SET \"end\" = NULL WHERE start = {at}"));
        }
    }
    capture.sql(&format!("UPDATE NVTX_EVENTS SET eventType = {kind}"));
    capture
}

fn attributed(capture: &Capture) -> Vec<Vec<String>> {
    capture.rows("nvtx_coverage", &["reason", "op_count"])
}

#[test]
fn a_range_without_an_end_is_open_until_the_last_call() {
    for (kind, open) in [(60, vec![2, 3, 5]), (59, vec![5]), (60, vec![5]), (60, vec![0, 1, 2, 3, 4, 5])]
    {
        let capture = requests(kind, &open);
        assert_eq!(attributed(&capture), [["attributed", "18"]], "{kind} {open:?}");
        let words = format!("ranges without an end: {} of 6 NVTX ranges", open.len());
        assert!(
            capture.says(&[&words, &format!("{} of `request`", open.len())]),
            "{:?}",
            capture.doubts()
        );
        // Ranges of known length.
        let known = capture.rows("range_time", &["range_id"]).len();
        assert_eq!(known, 6 - open.len(), "{kind} {open:?}");
    }
    let capture = requests(60, &[]);
    assert!(!capture.says(&["ranges without an end"]));
    assert_eq!(attributed(&capture), [["attributed", "18"]]);
}

#[test]
fn reports_of_nvidia_end_it_with_the_last_range() {
    // Request 5 starts last, and has no end: NVIDIA gives it 0 ns, and none of its kernels.
    let capture = requests(60, &[2, 3, 5]);
    assert_eq!(capture.rows("nvtx_sum", &["calls", "min_ns"]), [["6", "0"]]);
    assert_eq!(capture.rows("nvtx_gpu_proj_sum", &["range_count", "op_count"]), [["5", "24"]]);
}

#[test]
fn every_query_about_ranges_has_the_same_count() {
    for open in [&[][..], &[5], &[2, 3, 5], &[0, 1, 2, 3, 4, 5]] {
        let capture = requests(60, open);
        let path = capture.path();
        let path = path.to_str().unwrap();
        for query in [
            "range_time",
            "range_time_sum",
            "nvtx_sum",
            "nvtx_startend_sum",
            "nvtx_gpu_proj_sum",
            "nvtx_kern_sum",
        ] {
            let output = crate::support::nsq().args(["run", path, "-q", query]).output().unwrap();
            let notes = String::from_utf8_lossy(&output.stderr).into_owned();
            let have = if open.len() == 1 { "has" } else { "have" };
            let note = format!(
                "note: {} of 6 NVTX ranges {have} no end, so their length is unknown: {query} ",
                open.len()
            );
            assert_eq!(notes.contains(&note), !open.is_empty(), "{query}: {notes}");
            assert!(!notes.contains("no end") || notes.contains(&note), "{query}: {notes}");
        }
    }
}

#[test]
fn the_relation_has_each_unfinished_event_once() {
    let capture = requests(60, &[1, 4]);
    capture.launch(PID, 1_062 * MS, "gemm", (1_063 * MS, 1_064 * MS), 90);
    let found = || {
        let path = capture.path();
        crate::support::stdout(&[
            "sql",
            path.to_str().unwrap(),
            "SELECT event_kind, count(*), sum(is_counted) FROM unfinished GROUP BY event_kind",
            "--format",
            "csv",
        ])
    };
    assert!(found().ends_with("range,2,2\n"), "{}", found());
}
