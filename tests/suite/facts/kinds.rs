//! Kinds of faults that users of other tools reported, each with several inputs.

use super::capture::{Capture, MS, US, process};
use super::traces::{launched, trace};
use crate::support::{nsq, outcome, stdout};
use std::path::Path;

/// A trace of a rank: ten collectives, `late` µs after those of the others.
fn rank(folder: &Path, name: &str, late: i64) {
    let events: Vec<String> = (0..10)
        .map(|nth| {
            launched("", 100, 0, 1_000 * (nth + 1) + late, 500 - late, nth + 1)
                .replace("gemm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL")
        })
        .collect();
    let inner = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(trace(inner.path(), &events)).unwrap();
    let text = text.replace(r#""distributedInfo":{"rank":0,"world_size":2},"#, "");
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn ranks_come_from_the_names_of_hosts() {
    let host = |name: &str, pid: i64| format!("{name}_{pid}.17181168216{pid:05}.pt.trace.json");
    let plain = |name: &str| format!("{name}.json");
    for (names, late, expected) in [
        (vec![host("r1t01", 49177), host("r1t03", 53384)], 1, "1,host name,10,1"),
        (vec![host("gpu-a", 7), host("gpu-b", 1_000), host("gpu-c", 90)], 2, "2,host name,10,2"),
        // Natural order: node10 comes last.
        (vec![host("node9", 500), host("node10", 20)], 1, "1,host name,10,1"),
        // Two processes of a host, and no host at all: nothing tells the rank, and a place is none.
        (vec![host("node1", 500), host("node1", 600)], 1, ",,10,"),
        (vec![plain("first"), plain("second")], 1, ",,10,"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for (nth, name) in names.iter().enumerate() {
            rank(folder.path(), name, if nth == late { 100 } else { 0 });
        }
        // In any order of the command line.
        let mut paths: Vec<String> =
            names.iter().map(|name| folder.path().join(name).display().to_string()).collect();
        for _ in 0..2 {
            let ask = |words: &[&str]| {
                let paths = paths.iter().map(String::as_str);
                stdout(
                    &["run"].into_iter().chain(paths).chain(words.iter().copied()).collect::<Vec<_>>(),
                )
            };
            let columns = "rank,rank_source,last_count,member,report";
            let rows = ask(&["-q", "stragglers", "-f", "csv", "--no-header", "--columns", columns]);
            let first = rows.lines().next().unwrap();
            assert!(first.starts_with(expected) && first.ends_with(&names[late]), "{names:?}: {rows}");
            // The page calls it by its host, or by its report if that does not tell.
            let page = ask(&["-q", "job"]);
            let host = names[late].split('_').next().unwrap();
            let who = if expected == ",,10," { names[late].clone() } else { format!("Host {host}") };
            assert!(page.contains(&format!("{who} makes")), "{who}: {page}");
            paths.reverse();
        }
    }
}

#[test]
fn a_report_without_gpu_work_does_not_keep_ranks_from_answering() {
    let cpu = r#"{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":2,"args":{}}"#;
    for (ranks, others, code) in [(2, 1, 0), (1, 2, 0), (3, 1, 0), (0, 2, 3)] {
        let folder = tempfile::tempdir().unwrap();
        for nth in 0..ranks {
            rank(folder.path(), &format!("rank{nth}.json"), 0);
        }
        let inner = tempfile::tempdir().unwrap();
        let text = std::fs::read_to_string(trace(inner.path(), &[cpu.to_owned()])).unwrap();
        for nth in 0..others {
            std::fs::write(folder.path().join(format!("host{nth}.json")), &text).unwrap();
        }
        let words =
            ["run", folder.path().to_str().unwrap(), "-q", "top_kernels", "-f", "csv", "--no-header"];
        let (found, rows, error) = outcome(&words);
        assert_eq!((found, rows.lines().count()), (code, ranks), "{error}");
        let left_out = error.matches(": top_kernels needs CUDA kernels").count();
        assert_eq!((left_out, error.contains("left out")), (1, code == 0), "{error}");
        let strict = nsq().args(words).arg("--strict").output().unwrap();
        assert_eq!(strict.status.code(), Some(3));
        // A folder is its overview.
        let folder = folder.path().to_str().unwrap();
        assert_eq!(stdout(&[folder]), stdout(&["overview", folder]));
    }
}

#[test]
fn steps_without_gpu_work_are_told() {
    for (steps, empty, is_told) in [(4, 3, true), (10, 9, true), (32, 30, true), (10, 2, false)] {
        let folder = tempfile::tempdir().unwrap();
        let events: Vec<String> = (0..steps)
            .flat_map(|nth| {
                let at = 1_000 + 500 * nth;
                let step = format!(
                    r##"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{nth}","pid":100,"tid":100,"ts":{at},"dur":400,"args":{{}}}}"##
                );
                let work = (nth < steps - empty).then(|| launched("", 100, 0, at + 10, 50, nth + 1));
                std::iter::once(step).chain(work)
            })
            .collect();
        let path = trace(folder.path(), &events);
        let doubts = stdout(&["run", path.to_str().unwrap(), "-q", "capture_trust", "-f", "csv"]);
        let words = format!("{empty} of {steps} profiler steps have no GPU work in the trace");
        assert_eq!(doubts.contains(&words), is_told, "{doubts}");
    }
}

#[test]
fn advice_on_copies_between_gpus_is_about_links() {
    // Alone, to another GPU, and beside a copy within the GPU.
    for (target, has_own) in [(1, false), (2, false), (1, true)] {
        let capture = Capture::new();
        for nth in 0..4 {
            let at = 1_000 * MS + nth * 10 * MS;
            let kind = if has_own && nth == 3 { 8 } else { 10 };
            capture.call(process(100) | 1, "cudaMemcpyPeerAsync_v4000", (at, at + 10 * US), nth + 1, 0);
            capture.copy(process(100), (at + 20 * US, at + 8 * MS), nth + 1);
            // What could run beside the copy.
            capture.launch(
                process(100),
                at + MS,
                "gemm",
                (at + 8 * MS + 10 * US, at + 9 * MS),
                100 + nth,
            );
            capture.sql(&format!(
                "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = {kind}, srcKind = 2, dstKind = 2, srcDeviceId = 0, dstDeviceId = {}
                 WHERE correlationId = {}",
                if kind == 8 { 0 } else { target },
                nth + 1
            ));
        }
        let found = capture.rows("findings", &["finding", "verdict", "remedy"]);
        let yes: Vec<_> = found.iter().filter(|row| row[1] == "yes").collect();
        let peer = yes
            .iter()
            .find(|row| row[0] == "exposed_peer_copies")
            .unwrap_or_else(|| panic!("{found:?}"));
        assert!(peer[2].contains("NVLink") && !peer[2].contains(".contiguous()"), "{yes:?}");
        assert_eq!(yes.iter().any(|row| row[0] == "device_copies"), has_own, "{yes:?}");
        assert!(!capture.screen().contains("ProfilerActivity"));
    }
}
