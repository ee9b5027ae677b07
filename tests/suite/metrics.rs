//! Hardware metrics: what queries say of made captures, against a loop over all samples.

use crate::support::{Fixtures, NEWEST_COMMON, outcome, project, stdout};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

/// Number of random captures.
const CAPTURES: usize = 12;
/// Global ID of a process.
const PROCESS: i64 = 1 << 48 | 77 << 24;
/// Names of kernels and ranges.
const KERNELS: [&str; 2] = ["short", "long"];
const RANGES: [&str; 2] = ["outer", "inner"];
/// The metrics, and their names in three generations of nsys.
const METRICS: [&str; 3] = ["GPC Clock Frequency", "SMs Active", "DRAM Read Bandwidth"];
const GENERATIONS: [[&str; 3]; 3] = [
    ["GPC Clock Frequency [MHz]", "SMs Active [Throughput %]", "DRAM Read Bandwidth [Throughput %]"],
    ["GPC Clock Frequency [MHz]", "SM Active [Throughput %]", "DRAM Read Throughput [Throughput %]"],
    ["GPC Clock Frequency", "SM Active %", "DRAM Read"],
];

/// A small random number generator: the captures are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as i64
    }
}

/// A sample: its time and value. Clocks are in Hz.
type Sample = (i64, i64);
/// Something that runs: its name, GPU, start and end.
type Run = (usize, i64, i64, i64);

/// A made capture.
struct Capture {
    /// By GPU and metric.
    samples: BTreeMap<(i64, usize), Vec<Sample>>,
    kernels: Vec<Run>,
    /// Ranges have no GPU of their own.
    ranges: Vec<(usize, i64, i64)>,
}

impl Capture {
    fn random(random: &mut Random) -> Self {
        let mut samples: BTreeMap<(i64, usize), Vec<Sample>> = BTreeMap::new();
        for gpu in 0..2 {
            let period = 100 + 7 * gpu;
            // Metrics of one GPU are sampled together, except in odd captures.
            let apart = random.below(3) == 0;
            let count = 3 + random.below(40);
            let first = random.below(200) - 100;
            let mut now = [first; 3];
            for _ in 0..count {
                let step = match random.below(10) {
                    0 => period * (2 + random.below(4)),
                    _ => period + random.below(5) - 2,
                };
                for (metric, at) in now.iter_mut().enumerate() {
                    *at += if apart { step + random.below(3) } else { step };
                    let value = match metric {
                        0 => 1_300_000_000 + random.below(1_200_000_000),
                        _ => random.below(101),
                    };
                    samples.entry((gpu, metric)).or_default().push((*at, value));
                }
            }
        }
        let kernels = (0..40)
            .map(|_| {
                let name = random.below(2) as usize;
                let start = random.below(4000);
                let length = 1 + random.below(if name == 0 { 36 } else { 400 });
                (name, random.below(2), start, start + length)
            })
            .collect();
        let ranges = (0..12)
            .map(|_| {
                let start = random.below(4000);
                (random.below(2) as usize, start, start + 1 + random.below(1500))
            })
            .collect();
        Self { samples, kernels, ranges }
    }

    /// The capture as an export. Values are signed numbers of 32 bits.
    fn written(&self, folder: &TempDir, generation: usize) -> String {
        let path = folder.path().join("metrics.sqlite");
        let _ = std::fs::remove_file(&path);
        let connection = Connection::open(&path).unwrap();
        let schema = project(&format!("fixtures/schema/{NEWEST_COMMON}.sql"));
        connection.execute_batch(&std::fs::read_to_string(schema).unwrap()).unwrap();
        for (id, name) in KERNELS.iter().enumerate() {
            connection
                .execute("INSERT INTO StringIds (id, value) VALUES (?1, ?2)", (id as i64 + 1, *name))
                .unwrap();
        }
        for (name, gpu, start, end) in &self.kernels {
            connection
                .execute(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,
                       globalPid, demangledName, shortName, mangledName, launchType, registersPerThread, gridX, gridY,
                       gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread,
                       localMemoryTotal, gridId, tensorSizeMinusOneElements)
                     VALUES (?1, ?2, ?3, 1, 7, NULL, ?4, ?5, ?5, ?5, 2, 32, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1, '[]')",
                    (*start, *end, *gpu, PROCESS, *name as i64 + 1),
                )
                .unwrap();
        }
        for (name, start, end) in &self.ranges {
            connection
                .execute(
                    "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)
                     VALUES (?1, ?2, 60, ?3, ?4, 0)",
                    (*start, *end, RANGES[*name], PROCESS | 1),
                )
                .unwrap();
        }
        for ((gpu, metric), samples) in &self.samples {
            let name = GENERATIONS[(generation + *gpu as usize) % 3][*metric];
            connection
                .execute(
                    "INSERT INTO TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId, metricName)
                     VALUES (?1, 5, 'made', ?2, ?3)",
                    (1280 + *gpu, *metric as i64 + 10 * *gpu, name),
                )
                .unwrap();
            // Newer exports are not sorted by time.
            for (at, value) in samples.iter().rev() {
                let wrapped = if *value >= 1 << 31 { *value - (1 << 32) } else { *value };
                connection
                    .execute(
                        "INSERT INTO GPU_METRICS (timestamp, typeId, metricId, value) VALUES (?1, ?2, ?3, ?4)",
                        (*at, 1280 + *gpu, *metric as i64 + 10 * *gpu, wrapped),
                    )
                    .unwrap();
            }
        }
        path.to_str().unwrap().to_owned()
    }
}

/// What samples describe: start, end and value of each, and the holes between them.
fn described(samples: &[Sample]) -> (Vec<(i64, i64, i64)>, Vec<i64>) {
    let gaps: Vec<i64> = samples.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let mut sorted = gaps.clone();
    sorted.sort_unstable();
    let period = (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2;
    let (mut intervals, mut holes) = (Vec::new(), Vec::new());
    for (place, (at, value)) in samples.iter().enumerate() {
        let mut length = period;
        if place > 0 {
            let gap = gaps[place - 1];
            let before = (place > 1).then(|| gaps[place - 2]);
            let after = gaps.get(place).copied();
            let around = match (before, after) {
                (Some(before), Some(after)) => before.min(after),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => 0,
            };
            let usual = period.max(around);
            length = if 2 * gap > 3 * usual { usual } else { gap };
            if gap > length {
                holes.push(gap - length);
            }
        }
        intervals.push((at - length, *at, *value));
    }
    (intervals, holes)
}

/// The integral of a metric over a time, and how much of the time samples describe.
fn integral(samples: &[Sample], start: i64, end: i64) -> (i128, i64) {
    let (mut sum, mut covered) = (0, 0);
    for (from, until, value) in described(samples).0 {
        let shared = until.min(end) - from.max(start);
        if shared > 0 {
            sum += i128::from(shared) * i128::from(value);
            covered += shared;
        }
    }
    (sum, covered)
}

/// Whether a mean is this integral, divided by this time.
fn is_mean(text: &str, metric: usize, sum: i128, covered: i64) -> bool {
    if covered == 0 {
        return text.is_empty();
    }
    let scale = if metric == 0 { 1e6 } else { 1.0 };
    let want = sum as f64 / covered as f64 / scale;
    let got: f64 = text.parse().unwrap();
    (got - want).abs() <= 1e-12 * want.abs()
}

/// The rows of a query, by column.
fn rows(report: &str, query: &str, params: &[&str]) -> Vec<BTreeMap<String, String>> {
    let mut arguments = vec!["run", report, "--query", query, "--format", "csv"];
    for param in params {
        arguments.extend(["-p", *param]);
    }
    let text = stdout(&arguments);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    reader
        .records()
        .map(|row| header.iter().cloned().zip(row.unwrap().iter().map(str::to_owned)).collect())
        .collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> i64 {
    row[column].parse().unwrap()
}

fn metric_of(row: &BTreeMap<String, String>) -> usize {
    METRICS.iter().position(|metric| *metric == row["metric"]).unwrap()
}

#[test]
fn means_are_those_of_a_loop_over_all_samples() {
    let folder = TempDir::new().unwrap();
    let mut random = Random(49);
    let (mut mended, mut holes) = (0, 0);
    for generation in 0..CAPTURES {
        let capture = Capture::random(&mut random);
        let report = capture.written(&folder, generation);
        let of_all = rows(&report, "gpu_metric_sum", &[]);
        assert_eq!(of_all.len(), 6);
        for row in &of_all {
            let (gpu, metric) = (number(row, "gpu_id"), metric_of(row));
            let samples = &capture.samples[&(gpu, metric)];
            let (sum, covered) = integral(samples, i64::MIN / 2, i64::MAX / 2);
            assert!(is_mean(&row["mean"], metric, sum, covered), "{row:?} {samples:?}");
            assert_eq!(number(row, "covered_ns"), covered, "{row:?} {samples:?}");
            let between = described(samples).1;
            assert_eq!(number(row, "hole_count"), between.len() as i64, "{row:?} {samples:?}");
            assert_eq!(number(row, "hole_ns"), between.iter().sum::<i64>(), "{row:?} {samples:?}");
            let overflowed = samples.iter().filter(|(_, value)| *value >= 1 << 31).count();
            assert_eq!(number(row, "mended_count"), overflowed as i64, "{row:?} {samples:?}");
            assert_eq!(row["unit"], if metric == 0 { "MHz" } else { "percent" });
            mended += overflowed;
            holes += between.len();
        }
        let pieces = rows(&report, "gpu_metric_map", &["pieces=7"]);
        assert_eq!(pieces.len(), 42);
        for row in &pieces {
            let (metric, start) = (metric_of(row), number(row, "start_ns"));
            let samples = &capture.samples[&(number(row, "gpu_id"), metric)];
            let (sum, covered) = integral(samples, start, start + number(row, "dur_ns"));
            assert!(is_mean(&row["mean"], metric, sum, covered), "{row:?} {samples:?}");
        }
        let by_kernel = rows(&report, "gpu_metric_by_kernel", &["per_gpu=true", "top=-1"]);
        let by_range =
            rows(&report, "gpu_metric_by_range", &["per_gpu=true", "top=-1", "span=cpu", "by=name"]);
        let ranges = capture.ranges.iter();
        let ranges: Vec<Run> = ranges
            .flat_map(|(name, start, end)| (0..2).map(move |gpu| (*name, gpu, *start, *end)))
            .collect();
        for (rows, names, column, runs) in [
            (by_kernel, KERNELS, "kernel_name", &capture.kernels),
            (by_range, RANGES, "range_name", &ranges),
        ] {
            let mut groups: Vec<(usize, i64)> = runs.iter().map(|run| (run.0, run.1)).collect();
            groups.sort_unstable();
            groups.dedup();
            assert_eq!(rows.len(), 3 * groups.len());
            for row in &rows {
                let (gpu, metric) = (number(row, "gpu_id"), metric_of(row));
                let samples = &capture.samples[&(gpu, metric)];
                let (mut sum, mut covered, mut total) = (0, 0, 0);
                for (name, on, start, end) in runs {
                    if *on == gpu && names[*name] == row[column] {
                        let (of_run, described) = integral(samples, *start, *end);
                        sum += of_run;
                        covered += described;
                        total += end - start;
                    }
                }
                assert!(is_mean(&row["mean"], metric, sum, covered), "{row:?} {samples:?}");
                assert_eq!(number(row, "total_ns"), total, "{row:?}");
                let share: f64 = row["covered_pct"].parse().unwrap();
                assert!((share - 100.0 * covered as f64 / total as f64).abs() < 1e-9, "{row:?}");
            }
        }
    }
    assert!(mended > 20 && holes > 20, "{mended} {holes}");
}

/// A kernel of 36 ns in each period of 110 ns uses all SMs while it runs. Its samples say 33 %.
#[test]
fn short_kernels_read_a_mixture_and_say_so() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("gpu_metrics");
    let report = report.to_str().unwrap();
    let by_kernel = rows(report, "gpu_metric_by_kernel", &["metric=SMs*"]);
    let told: Vec<[&str; 4]> = by_kernel
        .iter()
        .map(|row| ["kernel_name", "mean", "covered_pct", "short_pct"].map(|name| row[name].as_str()))
        .collect();
    let mean = (10_400.0 / 350.0).to_string();
    let covered = (100.0 * 350.0 / 600.0).to_string();
    assert_eq!(
        told,
        [["long", mean.as_str(), covered.as_str(), "0.0"], ["short", "33.0", "100.0", "100.0"]]
    );
    let by_range = rows(report, "gpu_metric_by_range", &["metric=SMs*"]);
    assert_eq!(by_range.len(), 1);
    assert_eq!(by_range[0]["mean"], ((704.0 * 33.0 + 11_960.0) / 1106.0).to_string());
    let by_step = rows(report, "gpu_metric_by_step", &["metric=GPC*"]);
    let means: Vec<&str> = by_step.iter().map(|row| row["mean"].as_str()).collect();
    assert_eq!(means.len(), 4, "GPU 1 has no clock");
    assert!(means[0] == "1980.0" && means[3] == "1980.0", "{means:?}");
}

fn first_screen(report: &Path) -> String {
    let (code, out, error) = outcome(&[report.to_str().unwrap()]);
    assert_eq!(code, 0, "{error}");
    out
}

#[test]
fn a_capture_of_metrics_alone_is_a_report() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("metrics_only");
    let screen = first_screen(&report);
    for said in [
        "Only hardware metrics of the GPUs were recorded.",
        "13 GPU metric samples",
        "SMs Active",
        "DRAM Read Bandwidth",
        "-q gpu_metric_sum",
    ] {
        assert!(screen.contains(said), "{said}\n{screen}");
    }
    let report = report.to_str().unwrap();
    let schema = stdout(&["schema", report]);
    assert!(schema.contains("gpu_metric_sum") && schema.contains("gpu_metric "), "{schema}");
    let found = stdout(&["list", "metric"]);
    assert!(found.contains("gpu_metric_sum") && found.contains("gpu_metric_map"), "{found}");
    // One sample describes no time.
    let rows = rows(report, "gpu_metric_sum", &["gpu=1"]);
    assert_eq!(rows.len(), 1);
    assert!(rows[0]["mean"].is_empty() && rows[0]["max"] == "1410.0", "{rows:?}");
}
