//! A collective that never ends: which one it is, who waits in it, and who did not launch it.

use super::capture::{Capture, MS, US, process};
use crate::support::stdout;

const REDUCE: &str = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

/// Processes 100, 200, …, each on a GPU of its own. Each calls ncclAllReduce as often as `counts` says. The first 11 calls run, the
/// others never do: who launched one waits from 1,116 ms until 31 s.
fn reducing(counts: &[i64]) -> Capture {
    let capture = Capture::new();
    let mut id = 0;
    for (gpu, count) in (0..).zip(counts) {
        let pid = process(100 * (gpu + 1));
        for n in 0..*count {
            let at = 1_000 * MS + n.min(11) * 10 * MS + (n - n.min(11)) * 100 * US;
            if n < 12 {
                id += 1;
                capture.launch(pid, at + 10 * US, "gemm", (at + 20 * US, at + 6_020 * US), id);
            }
            capture.range(pid | 1, "ncclAllReduce", (at + 30 * US, at + 60 * US));
            id += 1;
            capture.call(pid | 1, "cudaLaunchKernelExC_v11060", (at + 40 * US, at + 50 * US), id, 0);
            if n < 11 {
                capture.kernel(pid, REDUCE, (at + 6_020 * US, at + 8_000 * US), 20, id);
            }
        }
        if *count > 11 {
            id += 1;
            let wait = (1_112 * MS, 31_000 * MS);
            capture.call(pid | 1, "cudaStreamSynchronize_v3020", wait, id, 0);
        }
    }
    capture
        .sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = (globalPid >> 24 & 16777215) / 100 - 1");
    capture
}

fn who(capture: &Capture) -> Vec<String> {
    let columns = ["pid", "gpu_id", "range_name", "place", "start_ns", "missing", "missing_count"];
    capture.rows("after_last_operation", &columns).into_iter().map(|row| row.join(" ")).collect()
}

#[test]
fn the_process_that_did_not_launch_the_collective_is_named() {
    let capture = reducing(&[12, 12, 11, 12]);
    assert_eq!(
        who(&capture),
        [
            "100 0 ncclAllReduce 12 1116020000 300 (GPU 2) 1",
            "200 1 ncclAllReduce 12 1116020000 300 (GPU 2) 1",
            "400 3 ncclAllReduce 12 1116020000 300 (GPU 2) 1",
        ]
    );
    let verdict = "Likely a hang: process 300 (GPU 2) did not launch call 12 of ncclAllReduce. \
                   Processes 100 (GPU 0), 200 (GPU 1), 400 (GPU 3) launched it and wait in cudaStreamSynchronize for 29.88 s";
    let screen = capture.screen();
    assert!(unwrapped(&screen).contains(verdict), "{screen}");
    let page = stdout(&["page", "job", capture.path().to_str().unwrap()]);
    assert!(unwrapped(&page).contains(verdict), "{page}");
}

/// Process 100 has launched two that did not run: the first is the one that waits.
#[test]
fn the_first_collective_without_gpu_work_is_the_one_that_waits() {
    let capture = reducing(&[13, 12, 11, 11]);
    let found = who(&capture);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found.iter().all(|row| row.ends_with("12 1116020000 300 (GPU 2), 400 (GPU 3) 2")),
        "{found:?}"
    );
    let screen = capture.screen();
    assert!(
        screen.contains("processes 300 (GPU 2), 400 (GPU 3) did not launch call 12 of ncclAllReduce"),
        "{screen}"
    );
}

/// Process 200 launched too few to be in the eleven that ended, so its calls are others.
#[test]
fn nobody_is_named_without_evidence() {
    for counts in [vec![12, 12], vec![12, 5], vec![12]] {
        let capture = reducing(&counts);
        let found = who(&capture);
        assert!(found[0].ends_with("ncclAllReduce 12 1116020000 null 0"), "{counts:?}: {found:?}");
        let screen = capture.screen();
        assert!(screen.contains("Likely a hang: no GPU work is recorded"), "{counts:?}: {screen}");
        assert!(!screen.contains("did not launch"), "{counts:?}: {screen}");
    }
}

/// The first two reduce in one communicator, the others in another one, which has ended all its calls.
#[test]
fn calls_of_another_communicator_do_not_count() {
    let capture = reducing(&[12, 12, 11, 11]);
    capture.sql(
        r#"UPDATE NVTX_EVENTS SET domainId = 1, jsonText =
             '{"NCCL communicator ID":' || iif(globalTid >> 24 & 16777215 > 200, 2, 1) || ',"Message size [bytes]":4096}'"#,
    );
    let found = who(&capture);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|row| row.ends_with("ncclAllReduce 12 1116020000 null 0")), "{found:?}");
}

#[test]
fn who_did_not_come_may_be_in_another_report() {
    let (here, there) = (reducing(&[12]), reducing(&[0, 11]));
    let paths = [here.path(), there.path()];
    let [here, there] = paths.each_ref().map(|path| path.to_str().unwrap());
    let csv = stdout(&["run", here, there, "--query", "job_hang", "--format", "csv"]);
    let found: Vec<Vec<&str>> =
        csv.lines().skip(1).map(|row| row.split(',').take(9).collect()).collect();
    assert_eq!(
        found,
        [
            ["100", "0", "ncclAllReduce", "", "12", "12", "0", "cudaStreamSynchronize", "29883980000"],
            ["200", "1", "ncclAllReduce", "", "12", "11", "1", "", ""],
        ]
    );
    let page = unwrapped(&stdout(&["page", "job", here, there]));
    assert!(page.contains("did not launch call 12 of ncclAllReduce. Process 100 of"), "{page}");
}

/// Nothing says what was launched, so that the page names who waits, and who does not.
#[test]
fn without_ranges_of_nccl_the_ranks_that_wait_are_named() {
    let capture = reducing(&[12, 12, 11]);
    capture.sql("DELETE FROM NVTX_EVENTS");
    let page = unwrapped(&stdout(&["page", "job", capture.path().to_str().unwrap()]));
    let verdict = "Likely a hang: GPU 0 and GPU 1 wait in cudaStreamSynchronize for 29.88 s after their last GPU work, \
                   and GPU 2 does not: it may not have come to the next collective.";
    assert!(page.contains(verdict), "{page}");
}

/// The text in one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
