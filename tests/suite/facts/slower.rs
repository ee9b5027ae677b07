//! What makes steps slower: peers that are not ready, clocks that drop, and work that grows.

use super::capture::{Capture, MS, US, process};

/// Two GPUs take turns: the first computes and sends, the second computes and sends back. `own`: each has kernels of its own,
/// as stages of a pipeline have; else both compute at once, and exchange.
fn exchanging(own: bool) -> Capture {
    let capture = Capture::new();
    let send = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
    let mut id = 0;
    let mut launch = |gpu: i64, name: &str, (start, end): (i64, i64)| {
        id += 1;
        // The host is far ahead.
        capture.launch(process(100 + gpu), 900 * MS + id * 12 * US, name, (start, end - 2 * US), id);
    };
    for turn in 0..40 {
        let at = 1_000 * MS + turn * 4_200 * US;
        let (sent, back) = (at + 2_100 * US, at + 4_200 * US);
        if own {
            launch(0, "backward_0", (at, at + MS));
            launch(0, "forward_0", (at + MS, at + 2 * MS));
            launch(0, send, (at + 2 * MS, sent));
            launch(1, send, (at, sent));
            launch(1, "forward_1", (sent, sent + MS));
            launch(1, "backward_1", (sent + MS, sent + 2 * MS));
            launch(1, send, (sent + 2 * MS, back));
            launch(0, send, (sent, back));
        } else {
            for gpu in 0..2 {
                let late = gpu * MS;
                launch(gpu, "expert_up", (at, at + MS + late));
                launch(gpu, "expert_down", (at + MS + late, at + 2 * MS + late));
                launch(gpu, send, (at + 2 * MS + late, at + 3_100 * US));
            }
        }
    }
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = (globalPid >> 24 & 16777215) - 100");
    capture
}

#[test]
fn stages_of_a_pipeline_wait_for_each_other() {
    let capture = exchanging(true);
    let rows = capture.rows("peer_wait", &["subject", "dur_ns"]);
    for (gpu, peer) in [(0, 1), (1, 0)] {
        let subject = format!("SendRecv, GPU {gpu} waits for GPU {peer}");
        let waits: Vec<i64> =
            rows.iter().filter(|row| row[0] == subject).map(|row| row[1].parse().unwrap()).collect();
        assert_eq!(waits.len(), 40, "{subject}");
        assert!(waits.iter().all(|wait| (wait - 2 * MS).abs() <= 4 * US), "{waits:?}");
    }
    let screen = capture.screen();
    assert!(screen.contains("Peer not ready:") && screen.contains("microbatches"), "{screen}");
    assert!(screen.contains("waits for GPU 1 in SendRecv for"), "{screen}");
}

#[test]
fn an_exchange_of_all_ranks_is_no_pipeline() {
    let capture = exchanging(false);
    assert!(capture.rows("peer_wait", &["subject"]).is_empty());
    assert!(!capture.screen().contains("waits for GPU"), "{}", capture.screen());
}

#[test]
fn an_exchange_of_four_gpus_gains_what_balanced_work_does() {
    let capture = Capture::new();
    let send = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
    let mut id = 0;
    for turn in 0..40 {
        let at = 1_000 * MS + turn * 5_600 * US;
        for gpu in 0..4 {
            // 0 to 3 ms late, each GPU in turn: 1.5 ms on average.
            let ready = at + 2 * MS + (gpu + turn) % 4 * MS;
            for (name, start, end) in [
                ("expert_up", at, ready - MS),
                ("expert_down", ready - MS, ready),
                (send, ready, at + 5_500 * US),
            ] {
                id += 1;
                capture.launch(
                    process(100 + gpu),
                    900 * MS + id * 12 * US,
                    name,
                    (start, end - 2 * US),
                    id,
                );
            }
        }
    }
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = (globalPid >> 24 & 16777215) - 100");
    let rows = capture.rows("findings", &["finding", "verdict", "now_ns", "alone_ns"]);
    let row = rows.iter().find(|row| row[0] == "rank_wait").unwrap();
    let gain = row[2].parse::<i64>().unwrap() - row[3].parse::<i64>().unwrap();
    assert!(row[1] == "yes" && (gain - 1_500 * US).abs() <= 10 * US, "{row:?}");
}

/// 24 marked steps of three kernels, the times of which a function gives in microseconds.
fn steps(times: impl Fn(i64) -> [i64; 3]) -> String {
    let capture = Capture::new();
    let mut at = 1_000 * MS;
    for step in 0..24 {
        let (begin, mut start) = (at, at + 60 * US);
        for (nth, (name, time)) in ["gemm", "attention", "norm"].into_iter().zip(times(step)).enumerate()
        {
            let end = start + time * US;
            capture.launch(
                process(100),
                begin + nth as i64 * 12 * US,
                name,
                (start, end),
                10 * step + nth as i64,
            );
            start = end + US;
        }
        let wait = (begin + 40 * US, start + 5 * US);
        capture.call(process(100) | 1, "cudaStreamSynchronize_v3020", wait, 10 * step + 5, 0);
        at = start + 20 * US;
        capture.range(process(100) | 1, &format!("step {step}"), (begin, at));
    }
    capture.screen()
}

#[test]
fn a_clock_that_drops_is_seen_in_nearly_all_kernels() {
    let usual = [3_000, 2_000, 1_000];
    let slower = |step: i64| if step < 12 { usual } else { usual.map(|time| time * 13 / 10) };
    let screen = steps(slower);
    let says = "From step 12 on, nearly all kernels take 1.3 times as long (median step 6.08 ms → 7.88 ms): the GPU's clock dropped";
    assert!(screen.contains(says), "{screen}");
    let one = |step: i64| if step < 12 { usual } else { [5_000, 2_000, 1_000] };
    for screen in [steps(|_| usual), steps(one)] {
        assert!(!screen.contains("the GPU's clock dropped"), "{screen}");
    }
}

#[test]
fn a_kernel_that_takes_longer_from_step_to_step_is_named() {
    let screen = steps(|step| [3_000, 1_000 + 150 * step, 1_000]);
    assert!(screen.contains("\nSteps grow from") && screen.contains("`attention` takes"), "{screen}");
}
