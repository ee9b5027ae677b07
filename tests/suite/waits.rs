//! What a wait of the host costs later: gaps until the lead that it had is used up. And one cause is one row of the first screen.

use crate::support::{shared, stdout};
use std::path::{Path, PathBuf};

fn data(shared: &Path, name: &str) -> PathBuf {
    let folder = if name.contains(".json") { "torch" } else { "exports" };
    shared.join("data").join(folder).join(name)
}

fn screen(shared: &Path, name: &str) -> String {
    stdout(&[data(shared, name).to_str().unwrap()])
}

/// The count and the total of the rows of `host_sync` about one call on one GPU, without those of 1 ns that mark waits.
fn later_gaps(report: &Path, gpu: &str, subject: &str) -> (usize, i64) {
    let columns = "gpu_id,dur_ns,subject";
    let report = report.to_str().unwrap();
    let options = ["--query", "host_sync", "-p", "below=500us", "--columns", columns];
    let format = ["--format", "csv", "--no-header"];
    let text = stdout(&[&["run", report], &options[..], &format].concat());
    let times: Vec<i64> = text
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|row| row[0] == gpu && row[2] == subject)
        .map(|row| row[1].parse().unwrap())
        .filter(|&time| time > 1)
        .collect();
    (times.len(), times.iter().sum())
}

#[test]
fn gaps_count_until_the_lead_is_used_up() {
    let Some(shared) = shared() else { return };
    let report = data(&shared, "h100_mfu_2gpu_before.sqlite");
    // From the raw rows, by a loop: a wait adds its time to the lead, a late launch takes its own off.
    let subject = "cudaStreamSynchronize in aten::to";
    assert_eq!(later_gaps(&report, "0", subject), (174, 11_788_219));
    assert_eq!(later_gaps(&report, "1", subject), (272, 21_585_128));
    let screen = screen(&shared, "h100_mfu_2gpu_before.sqlite");
    assert!(screen.contains(" 1. Synchronization:"), "{screen}");
    assert!(screen.contains("Where: cudaStreamSynchronize in aten::to"), "{screen}");
}

#[test]
fn a_wait_before_the_judged_time_is_removed_too() {
    let Some(shared) = shared() else { return };
    let screen = screen(&shared, "h100_qwen1.5_0.5b.json.gz");
    assert!(screen.contains(" 1. Synchronization: 35.18 ms → 33.69 ms"), "{screen}");
}

#[test]
fn long_gaps_in_operators_are_late_launches() {
    let Some(shared) = shared() else { return };
    let screen = screen(&shared, "b200_vllm_eager_tp8_rank0.json.gz");
    assert!(screen.contains(" 1. Launch-bound:"), "{screen}");
    assert!(!screen.contains(". Host-bound:"), "{screen}");
    assert!(!screen.contains("DataLoader"), "{screen}");
}

#[test]
fn a_kernel_of_one_thread_is_named() {
    let Some(shared) = shared() else { return };
    let screen = screen(&shared, "cestwc_9k_2025.5.sqlite");
    assert!(screen.contains("`reset_d_changed` runs 3,170 times with 1 thread"), "{screen}");
    assert!(screen.contains("141.43 ms in calls that allocate memory"), "{screen}");
}
