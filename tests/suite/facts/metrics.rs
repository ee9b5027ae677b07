//! What hardware metrics add to the first screen.

use super::capture::{Capture, MS, US, process};
use crate::support::stdout;

/// Names of metrics, and what a kernel that fills the GPU reaches.
const METRICS: [(&str, i64); 8] = [
    ("GPC Clock Frequency [MHz]", 1_980_000_000),
    ("GR Active [Throughput %]", 100),
    ("SMs Active [Throughput %]", 95),
    ("SM Issue [Throughput %]", 40),
    ("Tensor Active [Throughput %]", 60),
    ("DRAM Read Bandwidth [Throughput %]", 25),
    ("DRAM Write Bandwidth [Throughput %]", 12),
    ("PCIe RX Throughput [Throughput %]", 1),
];
const CLOCK: usize = 0;
const ENGINE: usize = 1;
const SMS: usize = 2;
const ISSUE: usize = 3;
const TENSOR: usize = 4;
const READ: usize = 5;
const WRITE: usize = 6;
/// The time between two samples, and the time of the first one.
const PERIOD: i64 = 100 * US;
const START: i64 = 1_000 * MS;
/// 24 steps of 3 ms.
const STEPS: i64 = 24;
const STEP: i64 = 3 * MS;

/// Marked steps in which kernels run nearly all the time, and a sample every `period`, with the values that a function
/// changes by the step.
fn sampled(period: i64, change: impl Fn(i64, &mut [i64; 8])) -> Capture {
    let capture = Capture::new();
    let tid = process(100) | 1;
    for step in 0..STEPS {
        let begin = START + step * STEP;
        for nth in 0..3 {
            let start = begin + 60 * US + nth * 970 * US;
            let times = (start, start + 968 * US);
            capture.launch(process(100), begin + nth * 12 * US, "gemm", times, 10 * step + nth);
        }
        let wait = (begin + 40 * US, begin + 2_980 * US);
        capture.call(tid, "cudaStreamSynchronize_v3020", wait, 10 * step + 5, 0);
        capture.range(tid, &format!("step {step}"), (begin, begin + STEP));
    }
    for (metric, (name, _)) in METRICS.iter().enumerate() {
        capture.sql(&format!(
            "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (1280, 5, 'made', {metric}, '{name}')"
        ));
    }
    let mut rows = Vec::new();
    let mut at = START;
    while at < START + STEPS * STEP {
        let mut values = METRICS.map(|(_, value)| value);
        change((at - START) / STEP, &mut values);
        rows.extend(
            values.iter().enumerate().map(|(metric, value)| format!("({at}, 1280, {metric}, {value})")),
        );
        at += period;
    }
    capture.sql(&format!(
        "INSERT INTO GPU_METRICS (timestamp, typeId, metricId, value) VALUES {}",
        rows.join(", ")
    ));
    capture
}

fn facts(capture: &Capture) -> Vec<String> {
    capture.rows("metric_facts", &["fact"]).concat()
}

#[test]
fn a_clock_that_falls_during_the_steps_is_named_with_its_step() {
    let capture = sampled(PERIOD, |step, values| {
        if step >= 12 {
            values[CLOCK] = 1_400_000_000;
        }
    });
    let rows = capture.rows("metric_facts", &["fact", "clock_mhz", "high_mhz", "step"]);
    assert_eq!(rows[0][0], "clock_drop");
    let number = |column: usize| rows[0][column].parse::<f64>().unwrap();
    assert!((number(1) - 1400.0).abs() < 1.0 && (number(2) - 1980.0).abs() < 1.0, "{rows:?}");
    assert!(["11", "12"].contains(&rows[0][3].as_str()), "{rows:?}");
    assert!(capture.screen().contains("\nSM clock: 1,980 MHz, from step 1"), "{}", capture.screen());
    // Before the steps only.
    let capture = sampled(PERIOD, |step, values| {
        if step > 0 {
            values[CLOCK] = 1_400_000_000;
        }
    });
    assert_eq!(facts(&capture), ["clock_low"]);
    assert!(
        capture.screen().contains("29.3 % below the highest sampled (1,980 MHz)"),
        "{}",
        capture.screen()
    );
}

#[test]
fn a_clock_that_is_low_throughout_is_compared_with_the_gpu_s_highest() {
    for (clock, fact) in [(1_580_000_000, "clock_capped"), (1_590_000_000, "clock")] {
        let low = || sampled(PERIOD, |_, values| values[CLOCK] = clock);
        assert_eq!(facts(&low()), ["clock"]);
        let capture = low();
        capture.sql(
            "INSERT INTO TARGET_INFO_GPU (vmId, id, name, smCount, clockRate, cuDevice, computeMajor, computeMinor)
             VALUES (0, 0, 'NVIDIA H100 80GB HBM3', 132, 1980000000, 0, 9, 0)",
        );
        assert_eq!(facts(&capture), [fact]);
        let says = "SM clock: 1,580 MHz on average while kernels run, below 80 % of the GPU's highest (1,980 MHz)";
        assert_eq!(capture.screen().contains(says), fact == "clock_capped", "{}", capture.screen());
    }
}

/// GPU 1 begins 30 ms later: the time of its drop counts from there.
#[test]
fn the_time_of_a_drop_is_that_of_the_gpu() {
    let capture = sampled(PERIOD, |step, values| {
        if step >= 12 {
            values[CLOCK] = 1_400_000_000;
        }
    });
    capture.sql(
        "DELETE FROM NVTX_EVENTS;
         DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId % 10 = 5;
         INSERT INTO TARGET_INFO_GPU (vmId, id, name, smCount, cuDevice, computeMajor, computeMinor)
         VALUES (0, 0, 'NVIDIA A100', 108, 0, 8, 0), (0, 1, 'NVIDIA A100', 108, 1, 8, 0);
         CREATE TEMP TABLE kernels AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;
         UPDATE kernels SET start = start + 30000000, end = end + 30000000, deviceId = 1, contextId = 2,
             correlationId = correlationId + 1000;
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM kernels;
         CREATE TEMP TABLE calls AS SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME;
         UPDATE calls SET start = start + 11000, end = end + 11000, correlationId = correlationId + 1000;
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM calls;
         CREATE TEMP TABLE samples AS SELECT * FROM GPU_METRICS;
         UPDATE samples SET timestamp = timestamp + 30000000, typeId = 1281;
         INSERT INTO GPU_METRICS SELECT * FROM samples;
         UPDATE GPU_METRICS SET value = 1980000000 WHERE typeId = 1280 AND metricId = 0;
         INSERT INTO TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId, metricName)
         SELECT 1281, sourceId, typeName, metricId, metricName FROM TARGET_INFO_GPU_METRICS",
    );
    let rows = capture.rows("metric_facts", &["gpu_id", "fact", "step"]);
    assert_eq!(rows, [["0", "clock", "null"], ["1", "clock_drop", "null"]]);
    let says = "GPU 1: SM clock: 1,980 MHz, after 35.84 ms 1,400 MHz while kernels run.";
    assert!(capture.screen().contains(says), "{}", capture.screen());
}

#[test]
fn kernels_that_use_little_of_the_gpu_are_named() {
    let few = sampled(PERIOD, |_, values| (values[SMS], values[TENSOR]) = (18, 8));
    let idle = sampled(PERIOD, |_, values| values[TENSOR] = 3);
    let stalled = sampled(PERIOD, |_, values| (values[ISSUE], values[TENSOR], values[READ]) = (8, 1, 5));
    let full = sampled(PERIOD, |_, values| (values[TENSOR], values[READ], values[WRITE]) = (2, 55, 33));
    for (capture, fact, says) in [
        (few, "few_sms", "Few SMs work: SMs are active 18.0 % of the time while kernels run."),
        (idle, "tensor_idle", "SMs are active 95.0 % of the time, tensor pipes 3.0 %"),
        (stalled, "latency_bound", "but issue instructions at 8.0 % of their rate"),
        (full, "dram_bound", "Device memory is at 80 % of its bandwidth or more for 100.0 % of"),
    ] {
        assert_eq!(facts(&capture), ["clock", fact]);
        let screen = capture.screen();
        assert!(screen.contains(says), "{screen}");
        let verdict = if fact == "dram_bound" {
            "\nMemory-bound: kernels run"
        } else {
            "\nCompute-bound: kernels run"
        };
        assert!(screen.contains(verdict), "{screen}");
    }
}

#[test]
fn metrics_that_say_nothing_new_add_no_line() {
    // A full GPU; samples that are too rare; those of another GPU, which idles.
    let full = sampled(PERIOD, |_, _| {});
    let rare = sampled(40 * PERIOD, |_, values| values[SMS] = 18);
    let other = sampled(PERIOD, |_, values| (values[SMS], values[ENGINE]) = (0, 0));
    // Nothing is known of most of the time.
    let holes = sampled(PERIOD, |_, values| values[SMS] = 18);
    holes.sql(&format!(
        "DELETE FROM GPU_METRICS WHERE (timestamp - {START}) % {} > {}",
        10 * MS,
        3 * MS
    ));
    let mut lines = Vec::new();
    for (capture, want) in [(full, &["clock"][..]), (rare, &[]), (other, &[]), (holes, &[])] {
        assert_eq!(facts(&capture), want);
        lines.push(capture.screen().lines().count());
    }
    assert!(lines.iter().all(|count| *count == lines[0]), "{lines:?}");
}

#[test]
fn a_gpu_number_narrows_samples_also_of_a_gpu_without_work() {
    let capture = sampled(PERIOD, |_, _| {});
    capture.sql(
        "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (1281, 5, 'made', 0, 'SMs Active [Throughput %]')",
    );
    capture.sql("INSERT INTO GPU_METRICS (timestamp, typeId, metricId, value) VALUES (1000, 1281, 0, 5), (2000, 1281, 0, 5)");
    let path = capture.path();
    let ask = |gpu: &str| {
        let head = ["run", path.to_str().unwrap(), "-q", "gpu_metric_sum", "-f", "csv", "--no-header"];
        stdout(&[&head[..], &["--columns", "gpu_id", "--gpu", gpu]].concat())
    };
    assert_eq!(ask("0"), "0\n".repeat(METRICS.len()));
    assert_eq!(ask("1"), "1\n");
    assert_eq!(ask("0,1"), ask("0") + "1\n");
}
