//! `nsq breakdown`: its figures, its page and its errors.
//!
//! The figures are compared with gputrc2graph's files, a trace computed by hand and a naive sweep.

use crate::support::{Fixtures, nsq, outcome, shared, shared_exports};
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The output of a run.
struct Written {
    csv: Vec<BTreeMap<String, String>>,
    html: String,
    out: String,
    error: String,
}

/// Runs `nsq breakdown ARGUMENTS --out_dir FOLDER` and reads both files.
fn breakdown(arguments: &[&str], folder: &Path) -> Written {
    let mut all = vec!["breakdown"];
    all.extend(arguments);
    let folder_name = folder.to_str().unwrap();
    all.extend(["--out_dir", folder_name]);
    let (code, out, error) = outcome(&all);
    assert_eq!(code, 0, "{all:?}: {error}");
    let mut reader = csv::Reader::from_path(folder.join("result.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let named = |record: csv::StringRecord| {
        header.iter().zip(record.iter()).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
    };
    let csv = reader.records().map(|record| named(record.unwrap())).collect();
    let html = std::fs::read_to_string(folder.join("result.html")).unwrap();
    Written { csv, html, out, error }
}

fn open(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// Start, end and GPU of every operation, from the raw tables.
///
/// The process's device ordinal is mapped to a GPU if the export has the mapping.
fn operations(path: &Path, tables: &[&str]) -> Vec<(i64, i64, i64)> {
    let connection = open(path);
    let ask = |sql: &str| -> Vec<[i64; 4]> {
        let Ok(mut statement) = connection.prepare(sql) else { return Vec::new() };
        let cells = |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        statement.query_map([], cells).unwrap().map(Result::unwrap).collect()
    };
    let mut gpus = ask("SELECT cudaId, pid, gpuId, 0 FROM TARGET_INFO_CUDA_DEVICE");
    if gpus.is_empty() {
        gpus = ask("SELECT cuDevice, -1, id, 0 FROM TARGET_INFO_GPU WHERE cuDevice IS NOT NULL");
    }
    let gpu = |device: i64, pid: i64| {
        let known = gpus.iter().find(|gpu| gpu[0] == device && (gpu[1] == pid || gpu[1] == -1));
        known.map_or(device, |gpu| gpu[2])
    };
    let mut all = Vec::new();
    for table in tables {
        let sql = format!(
            "SELECT start, end, deviceId, coalesce(globalPid, 0) >> 24 & 16777215 FROM CUPTI_ACTIVITY_KIND_{table}"
        );
        all.extend(ask(&sql).iter().map(|row| (row[0], row[1], gpu(row[2], row[3]))));
    }
    all
}

/// Length of the union, by counting open operations at every boundary.
fn union(operations: impl Iterator<Item = (i64, i64)>) -> i64 {
    let mut edges: BTreeMap<i64, i64> = BTreeMap::new();
    for (start, end) in operations.filter(|(start, end)| start < end) {
        *edges.entry(start).or_default() += 1;
        *edges.entry(end).or_default() -= 1;
    }
    let (mut depth, mut last, mut length) = (0, 0, 0);
    for (at, change) in edges {
        if depth > 0 {
            length += at - last;
        }
        depth += change;
        last = at;
    }
    length
}

const OPERATIONS: [&str; 4] = ["KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"];

/// Elapsed nanoseconds of a label, without `CPU(non-GPU)`.
fn busy(written: &Written, label: &str) -> i64 {
    let rows = written.csv.iter().filter(|row| row["Model_Engine"] == label);
    let rows = rows.filter(|row| row["Category"] != "CPU(non-GPU)");
    rows.map(|row| row["elapsed_ns"].parse::<i64>().unwrap()).sum()
}

#[test]
fn elapsed_times_match_the_hand_computed_trace() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("elapsed_ties");
    let word = format!("{},vllm,llama,10", report.display());
    let written = breakdown(&["--in_file", &word], fixtures.path());
    let label = format!("llama_vllm_{}", report.file_name().unwrap().to_str().unwrap());
    let of = |label: &str| -> BTreeMap<String, (i64, String, String)> {
        let rows = written.csv.iter().filter(|row| row["Model_Engine"] == label);
        rows.map(|row| {
            let elapsed = row["elapsed_ns"].parse().unwrap();
            let seconds = row["Elapsed Time (sec)"].clone();
            (row["Name"].clone(), (elapsed, seconds, row["Instances"].clone()))
        })
        .collect()
    };
    let entry = |ns: i64, seconds: &str, calls: &str| (ns, seconds.to_owned(), calls.to_owned());
    let nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";
    let all: [(&str, _); 9] = [
        ("gemm", entry(3_000_000_000, "3.0", "2")),
        (nccl, entry(0, "0.0", "1")),
        ("flash", entry(1_000_000_000, "1.0", "1")),
        ("A", entry(4_000_000, "0.004", "1")),
        ("B", entry(4_000_000, "0.004", "1")),
        ("[CUDA memcpy Host-to-Device]", entry(100_000_000, "0.1", "1")),
        ("tieA", entry(1_000_000_000, "1.0", "1")),
        ("tieB", entry(0, "0.0", "1")),
        ("CPU(non-GPU)", entry(4_892_000_000, "4.892", "1")),
    ];
    assert_eq!(of(&label), all.into_iter().map(|(name, e)| (name.to_owned(), e)).collect());
    let first = of(&format!("{label}:gpu0"));
    assert_eq!(first[nccl], entry(499_999_999, "0.499999999", "1"));
    assert_eq!(busy(&written, &format!("{label}:gpu0")), 4_607_999_999);
    assert_eq!(first["CPU(non-GPU)"].0, 10_000_000_000 - 4_607_999_999);
    assert_eq!(busy(&written, &format!("{label}:gpu1")), 3_000_000_000);
    // gemm: 3 s elapsed, and a total of 4 s in 2 calls.
    let gemm = written.csv.iter().find(|row| row["Name"] == "gemm").unwrap();
    assert_eq!(gemm["total_ns"], "4000000000");
}

#[test]
fn seed_compat_has_the_seed_tools_rounding_and_layout() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("elapsed_ties");
    let word = format!("{},vllm,llama,6.3", report.display());
    let written = breakdown(&["--infile", &word, "--seed-compat"], fixtures.path());
    let text = std::fs::read_to_string(fixtures.path().join("result.csv")).unwrap();
    assert!(text.starts_with("Model_Engine,Category,Instances,Name,Elapsed Time (sec)\n"), "{text}");
    let rest = written.csv.iter().find(|row| row["Name"] == "CPU(non-GPU)").unwrap();
    // 6.3 - 5.1 in binary floating point; the sum of elapsed times is 5.108 s.
    assert_eq!(rest["Elapsed Time (sec)"], "1.2000000000000002");
    let label = format!("llama_vllm_{}_0", report.file_name().unwrap().to_str().unwrap());
    assert!(written.csv.iter().all(|row| row["Model_Engine"] == label));
    let categories: Vec<&String> = written.csv.iter().map(|row| &row["Category"]).collect();
    assert!(categories.is_sorted());
    // 0 seconds: no time outside the GPU.
    let word = format!("{},vllm,llama,0", report.display());
    let written = breakdown(&["--infile", &word, "--seed-compat"], fixtures.path());
    let rest = written.csv.iter().find(|row| row["Name"] == "CPU(non-GPU)").unwrap();
    assert_eq!(rest["Elapsed Time (sec)"], "0.0");
}

/// Compares with the files that gputrc2graph itself wrote for seven exports.
#[test]
fn seed_compat_matches_gputrc2graph_row_for_row() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for entry in std::fs::read_dir(shared.join("reference/gputrc2graph")).unwrap() {
        let reference = entry.unwrap().path();
        let file = reference.file_name().unwrap().to_str().unwrap();
        let Some(stem) = file.strip_suffix(".vllm-llama-20s.csv") else { continue };
        let export = shared.join(format!("data/exports/{stem}.sqlite"));
        let word = format!("{},vllm,llama,20", export.display());
        breakdown(&["--in_file", &word, "--seed-compat"], folder.path());
        let ours = rows_of(&folder.path().join("result.csv"));
        let theirs = rows_of(&reference);
        // For operations that begin together, gputrc2graph's choice is arbitrary.
        let mut starts = BTreeSet::new();
        let ties: Vec<i64> = operations(&export, &OPERATIONS)
            .into_iter()
            .filter_map(|(start, ..)| (!starts.insert(start)).then_some(start))
            .collect();
        assert!(ties.is_empty(), "{stem}: operations begin together at {ties:?}: name their rows here");
        assert_eq!(ours, theirs, "{stem}");
        compared += 1;
    }
    assert_eq!(compared, 7);
}

/// The sorted rows of a result.csv. Panics if the file is not ordered by category.
fn rows_of(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let mut rows: Vec<Vec<String>> =
        reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect();
    assert!(rows.is_sorted_by_key(|row| row[1].clone()), "{}", path.display());
    rows.sort();
    rows.insert(0, header);
    rows
}

/// On every real export, the bars add up to the union of the operations, for all GPUs and for each.
#[test]
fn bars_are_unions_on_every_export() {
    let folder = tempfile::tempdir().unwrap();
    let mut small = 0;
    for export in shared_exports() {
        let operations = operations(&export, &OPERATIONS);
        let path = export.to_str().unwrap();
        if operations.is_empty() {
            let (code, out, error) = outcome(&["breakdown", path]);
            assert_eq!((code, out.as_str()), (3, ""), "{path}: {error}");
            continue;
        }
        small += usize::from(operations.len() < 100);
        let written = breakdown(&[path], folder.path());
        let label = export.file_name().unwrap().to_str().unwrap();
        let all = operations.iter().map(|&(start, end, _)| (start, end));
        assert_eq!(busy(&written, label), union(all), "{path}");
        let devices: BTreeSet<i64> = operations.iter().map(|&(.., device)| device).collect();
        for device in devices.iter().filter(|_| devices.len() > 1) {
            let here =
                operations.iter().filter(|op| op.2 == *device).map(|&(start, end, _)| (start, end));
            assert_eq!(busy(&written, &format!("{label}:gpu{device}")), union(here), "{path} {device}");
        }
        assert!(written.html.len() < 300_000, "{path}: {} bytes", written.html.len());
        assert!(written.out.contains("what fills GPU"), "{}", written.out);
    }
    eprintln!("exports with fewer than 100 operations: {small}");
}

/// `gpu_share` and `gpu_time` give the same idle time, and the four parts of `gpu_time` add up.
#[test]
fn gpu_share_and_gpu_time_give_the_same_idle_time() {
    for export in shared_exports() {
        let path = export.to_str().unwrap();
        let ask = |query: &str, keep: &dyn Fn(&BTreeMap<String, String>) -> bool| {
            let (code, out, error) = outcome(&["run", path, "--query", query, "--format", "csv"]);
            assert!(code == 0 || code == 3, "{path}: {error}");
            let mut reader = csv::Reader::from_reader(out.as_bytes());
            let header = reader.headers().unwrap().clone();
            let rows: Vec<BTreeMap<String, String>> = reader
                .records()
                .map(|row| {
                    let row = row.unwrap();
                    header.iter().zip(row.iter()).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
                })
                .filter(|row| keep(row))
                .collect();
            rows
        };
        let shares = ask("gpu_share", &|row| row["share_kind"] == "idle");
        let parts = ask("gpu_time", &|_| true);
        let figures =
            |rows: &[BTreeMap<String, String>], idle: &str| -> BTreeSet<(String, String, String)> {
                rows.iter()
                    .map(|row| (row["gpu_id"].clone(), row["window_ns"].clone(), row[idle].clone()))
                    .collect()
            };
        assert_eq!(figures(&shares, "busy_ns"), figures(&parts, "idle_ns"), "{path}");
        for row in &parts {
            let ns = |column: &str| row[column].parse::<i64>().unwrap();
            let sum = ["compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns"];
            assert_eq!(sum.iter().map(|column| ns(column)).sum::<i64>(), ns("window_ns"), "{path}");
        }
    }
}

#[test]
fn copies_are_named_as_the_limit_rather_than_idle_time() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let export = shared.join("data/exports/h100_2gpu_1s.sqlite");
    let written = breakdown(&[export.to_str().unwrap()], folder.path());
    let sentence = "Host-to-Device copies: 920.87 ms of the 969.45 ms from first to last operation \
                    (95.0 %), 25.48 GB at 27.66 GB/s";
    assert!(written.out.contains(&format!("what fills GPU 0: {sentence}")), "{}", written.out);
    assert!(
        written.html.contains("What fills GPU 0:</b> Host-to-Device copies: 920.87 ms of the 969.45 ms")
    );
}

#[test]
fn whole_graphs_are_a_class_rather_than_idle_time() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("graph_level");
    let path = report.to_str().unwrap();
    let written = breakdown(&[path], fixtures.path());
    let graphs = operations(&report, &["GRAPH_TRACE"]).len();
    let counted: usize = written
        .csv
        .iter()
        .filter(|row| row["Category"] == "cuda_graph")
        .map(|row| row["Instances"].parse::<usize>().unwrap())
        .sum();
    assert_eq!(counted, graphs);
    let label = report.file_name().unwrap().to_str().unwrap();
    let all = operations(&report, &OPERATIONS);
    assert_eq!(busy(&written, label), union(all.iter().map(|&(start, end, _)| (start, end))));
    for text in [&written.out, &written.html] {
        assert!(text.contains("--cuda-graph-trace=node"), "{text}");
    }
    let written = breakdown(&[path, "--seed-compat"], fixtures.path());
    assert!(written.csv.iter().all(|row| row["Category"] != "cuda_graph"));
    assert!(written.out.contains("they are left out"), "{}", written.out);
}

#[test]
fn without_a_run_time_the_span_of_the_capture_is_used() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let word = format!("{},vllm,llama,0", report.display());
    let written = breakdown(&["--in-file", &word], fixtures.path());
    // API calls and operations are between 500 and 4000 ns; the GPU is busy for 2500 ns.
    let times: (i64, i64) = open(&report)
        .query_row(
            "SELECT min(start), max(end) FROM (SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME UNION ALL \
             SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL SELECT start, end FROM CUPTI_ACTIVITY_KIND_MEMCPY \
             UNION ALL SELECT start, end FROM CUPTI_ACTIVITY_KIND_MEMSET)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    let rest = written.csv.iter().find(|row| row["Category"] == "CPU(non-GPU)").unwrap();
    assert_eq!(rest["elapsed_ns"], (times.1 - times.0 - 2500).to_string());
    for text in [&written.out, &written.html] {
        assert!(text.contains("the span of the capture"), "{text}");
    }
    // A run time below the GPU's busy time: nothing is left for the CPU.
    let word = format!("{},vllm,llama,0.000001", report.display());
    let written = breakdown(&["--in-file", &word], fixtures.path());
    let rest = written.csv.iter().find(|row| row["Category"] == "CPU(non-GPU)").unwrap();
    assert_eq!(rest["elapsed_ns"], "0");
    assert!(written.out.contains("longer than the 1.00 µs given"), "{}", written.out);
}

#[test]
fn several_profiles_get_distinct_labels() {
    let fixtures = Fixtures::new();
    let one = fixtures.trace("two_streams_overlap");
    let folder = fixtures.path().join("other, folder");
    std::fs::create_dir(&folder).unwrap();
    let twin = folder.join(one.file_name().unwrap());
    std::fs::copy(&one, &twin).unwrap();
    let words = [format!("{},vllm,llama,1", one.display()), format!("{},vllm,llama,2", twin.display())];
    let out = fixtures.path().join("new/folder");
    let other = fixtures.trace("elapsed_ties");
    let written = breakdown(
        &[other.to_str().unwrap(), "--in_file", &words[0], &words[1], "--title", "T & <T>"],
        &out,
    );
    let mut labels: Vec<&str> = written.csv.iter().map(|row| row["Model_Engine"].as_str()).collect();
    labels.dedup();
    let name = one.file_name().unwrap().to_str().unwrap();
    let other = other.file_name().unwrap().to_str().unwrap();
    assert_eq!(
        labels,
        [
            format!("llama_vllm_{name}_0"),
            format!("llama_vllm_{name}_1"),
            format!("{other}_2"),
            format!("{other}_2:gpu0"),
            format!("{other}_2:gpu1")
        ]
    );
    assert!(written.html.contains("<title>T &amp; &lt;T&gt;</title>"));
    assert_eq!(written.error, "");
    // --merge_devices: one bar for all GPUs.
    let written =
        breakdown(&[fixtures.trace("elapsed_ties").to_str().unwrap(), "--merge_devices"], &out);
    assert!(written.csv.iter().all(|row| row["gpu_id"].is_empty()));
}

/// The figures in the page's table equal those of result.csv.
#[test]
fn the_page_and_the_csv_have_the_same_figures() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let written = breakdown(&[report.to_str().unwrap()], fixtures.path());
    let mut classes: BTreeMap<&str, i64> = BTreeMap::new();
    for row in &written.csv {
        *classes.entry(&row["Category"]).or_default() += row["elapsed_ns"].parse::<i64>().unwrap();
    }
    for (class, ns) in &classes {
        let cell = format!("{class}</th><td class=\"n\">0.{:06}</td>", (ns + 500) / 1000);
        assert!(written.html.contains(&cell), "{cell}");
    }
    let total: i64 = classes.values().sum();
    let width = format!("{:.4}", 100.0 * classes["CPU(non-GPU)"] as f64 / total as f64);
    let width = width.trim_end_matches('0').trim_end_matches('.');
    assert!(written.html.contains(&format!("width:{width}%")), "{width}");
}

/// Compares random operations, with ties and nesting, with an owner computed for every nanosecond.
#[test]
fn each_nanosecond_belongs_to_the_operation_that_began_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut seed = 7u64;
    let mut random = move |below: i64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((seed >> 33) % below as u64) as i64
    };
    for round in 0..12 {
        let report = folder.path().join(format!("{round}.sqlite"));
        report_of(&[], &report);
        let connection = Connection::open(&report).unwrap();
        connection
            .execute_batch(
                "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY",
            )
            .unwrap();
        // The order (start, longer first, GPU, stream, kind, row), then end and name.
        let mut ops = Vec::new();
        for _ in 0..60 {
            let start = random(80);
            let (end, gpu, stream, correlation) = (start + random(15), random(2), random(3), random(4));
            let is_copy = random(4) == 0;
            let name = [11, 13, 14, 15][random(4) as usize];
            let (table, more, values) = match is_copy {
                true => ("MEMCPY", "bytes, copyKind, srcKind, dstKind", "1, 1, 1, 2".to_owned()),
                false => (
                    "KERNEL",
                    "demangledName, shortName, mangledName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, \
                     blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, \
                     tensorSizeMinusOneElements",
                    format!("{name}, {name}, {name}, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, '[]'"),
                ),
            };
            let sql = format!(
                "INSERT INTO CUPTI_ACTIVITY_KIND_{table} (start, end, deviceId, contextId, streamId, correlationId, globalPid, \
                 {more}) VALUES ({start}, {end}, {gpu}, 1, {stream}, {correlation}, 281476268556288, {values})"
            );
            connection.execute_batch(&sql).unwrap();
            let (kind, name) = if is_copy { ("memcpy", 0) } else { ("kernel", name) };
            let order = (start, start - end, gpu, stream, kind, connection.last_insert_rowid());
            ops.push((order, end, name));
        }
        ops.sort();
        for gpu in [None, Some(0), Some(1)] {
            let mut owned: BTreeMap<i64, i64> = BTreeMap::new();
            for (_, _, name) in ops.iter().filter(|op| gpu.is_none_or(|gpu| op.0.2 == gpu)) {
                owned.entry(*name).or_default();
            }
            for at in 0..100 {
                let owner = ops.iter().find(|(order, end, _)| {
                    order.0 <= at && at < *end && gpu.is_none_or(|gpu| order.2 == gpu)
                });
                if let Some((_, _, name)) = owner {
                    *owned.entry(*name).or_default() += 1;
                }
            }
            let per_gpu = format!("per_gpu={}", gpu.is_some());
            let out = crate::support::stdout(&[
                "run",
                report.to_str().unwrap(),
                "--query",
                "gpu_elapsed",
                "-p",
                &per_gpu,
                "--format",
                "csv",
            ]);
            let mut reader = csv::Reader::from_reader(out.as_bytes());
            let header = reader.headers().unwrap().clone();
            let at = |name: &str| header.iter().position(|column| column == name).unwrap();
            let mut ours: BTreeMap<i64, i64> = BTreeMap::new();
            for row in reader.records().map(Result::unwrap) {
                if gpu.is_some_and(|gpu| row[at("gpu_id")] != gpu.to_string()) {
                    continue;
                }
                let name = match &row[at("op_name")] {
                    "gemm" => 11,
                    "flash" => 13,
                    "A" => 14,
                    "B" => 15,
                    _ => 0,
                };
                ours.insert(name, row[at("elapsed_ns")].parse().unwrap());
            }
            assert_eq!(ours, owned, "round {round}, GPU {gpu:?}");
        }
    }
}

/// Builds a report with one kernel for each of these names.
fn report_of(names: &[String], path: &Path) {
    crate::support::build(crate::support::NEWEST_COMMON, "elapsed_ties", path);
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid > 1; BEGIN").unwrap();
    for (index, name) in names.iter().enumerate() {
        let id = 1000 + index as i64;
        connection
            .execute("INSERT INTO StringIds (id, value) VALUES (?1, ?2)", rusqlite::params![id, name])
            .unwrap();
        connection
            .execute(
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, \
                 demangledName, shortName, mangledName, launchType, registersPerThread, gridX, gridY, gridZ, blockX, blockY, \
                 blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, \
                 tensorSizeMinusOneElements) SELECT start + 1000 * ?1, end + 1000 * ?1, deviceId, contextId, streamId, ?1, \
                 globalPid, ?1, ?1, ?1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, '[]' FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = 1",
                [id],
            )
            .unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
}

#[test]
fn a_thousand_kernels_with_long_names_make_a_small_page() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("many.sqlite");
    let words =
        ["gemm", "flash", "elementwise", "reduce_kernel", "_norm_", "nvjet", "Rotary", "SoftMax"];
    let names: Vec<String> = (0..1000)
        .map(|n| {
            format!(
                "void {}<{n}, {}>(T1, T2)",
                words[n % words.len()],
                "std::array<char *, 3>, ".repeat(30)
            )
        })
        .collect();
    report_of(&names, &report);
    let words: Vec<String> = ["vllm,llama", "sglang,llama", "trtllm,llama"]
        .iter()
        .map(|map| format!("{},{map},30", report.display()))
        .collect();
    let one = breakdown(&["--in_file", &words[0]], folder.path());
    let three = breakdown(&["--in_file", &words[0], &words[1], &words[2]], folder.path());
    eprintln!(
        "page of a thousand kernels: {} bytes; page of three such reports: {} bytes",
        one.html.len(),
        three.html.len()
    );
    assert!(one.html.len() < 250_000 && three.html.len() < 300_000);
    assert!(one.csv.len() > 1000 && one.html.contains(" more, "));
}

#[test]
fn untrusted_names_are_escaped_in_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("<b onmouseover=alert(1)>\u{1b}[31m.sqlite");
    let evil = [
        "</script><script>alert(1)</script>",
        "\" onmouseover=\"alert(1)",
        "'><img src=x onerror=alert(1)>",
        "{{ 7 * 7 }}{% raw %}",
        "a,b;\"quoted\"\nnew line\r\ttab",
        "\u{1b}[2J\u{202e}gnp.exe\u{0}",
        "größe_内核_🚀<T>",
        "",
    ];
    let names: Vec<String> = evil.iter().map(|name| (*name).to_owned()).collect();
    report_of(&names, &report);
    let written = breakdown(
        &[report.to_str().unwrap(), "--title", "</title><script>alert(2)</script>"],
        folder.path(),
    );
    let html = &written.html;
    for tag in ["<script", "<img", "<b onmouseover", "\" onmouseover"] {
        assert!(!html.contains(tag), "{tag}");
    }
    assert!(!html.contains(['\u{1b}', '\u{202e}', '\u{0}']) && !written.out.contains('\u{1b}'));
    assert!(
        html.contains("größe_内核_🚀&lt;T&gt;")
            && !html.contains("4949")
            && html.contains("{{ 7 * 7 }}")
    );
    // The CSV has the names unchanged.
    let names: BTreeSet<&str> = written.csv.iter().map(|row| row["Name"].as_str()).collect();
    assert!(names.contains(evil[0]) && names.contains(evil[4]) && names.contains(evil[6]), "{names:?}");
}

#[test]
fn reports_without_gpu_work_lack_the_data() {
    let fixtures = Fixtures::new();
    let out = fixtures.path().join("out");
    let folder = out.to_str().unwrap();
    let nothing = fixtures.trace("nvtx_only");
    let (code, printed, error) = outcome(&["breakdown", nothing.to_str().unwrap(), "--out-dir", folder]);
    assert_eq!((code, printed.as_str()), (3, ""), "{error}");
    assert!(error.contains("help: "), "{error}");
    // Tables that exist but are empty.
    let empty = fixtures.path().join("empty.sqlite");
    std::fs::copy(fixtures.trace("two_streams_overlap"), &empty).unwrap();
    let tables = ["KERNEL", "MEMCPY", "MEMSET"].map(|t| format!("DELETE FROM CUPTI_ACTIVITY_KIND_{t};"));
    Connection::open(&empty).unwrap().execute_batch(&tables.concat()).unwrap();
    let (code, _, error) = outcome(&["breakdown", empty.to_str().unwrap(), "--out-dir", folder]);
    assert_eq!(code, 3, "{error}");
    // If one of two reports lacks the data, nothing is written.
    let good = fixtures.trace("two_streams_overlap");
    let words = ["breakdown", good.to_str().unwrap(), empty.to_str().unwrap(), "--out-dir", folder];
    assert_eq!(outcome(&words).0, 3);
    assert!(!out.exists(), "no file may be written");
}

#[test]
fn one_operation_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("one.sqlite");
    report_of(&[], &report);
    Connection::open(&report).unwrap().execute_batch("DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY").unwrap();
    let written = breakdown(&[&format!("{},vllm,llama,3", report.display())], folder.path());
    let cells: Vec<(&str, &str)> = written
        .csv
        .iter()
        .map(|row| (row["Name"].as_str(), row["Elapsed Time (sec)"].as_str()))
        .collect();
    assert_eq!(cells, [("gemm", "2.0"), ("CPU(non-GPU)", "1.0")]);
}

#[test]
fn invalid_command_lines_are_usage_errors() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let path = report.to_str().unwrap();
    let out = fixtures.path().join("out");
    for tail in
        [",vllm,llama,-1", ",vllm,llama,nan", ",vllm,llama,soon", ",vllm,llama,", ",vllm,llama,inf"]
    {
        let word = format!("{path}{tail}");
        let (code, printed, error) =
            outcome(&["breakdown", "--in_file", &word, "--out_dir", out.to_str().unwrap()]);
        assert_eq!((code, printed.as_str()), (2, ""), "{tail}: {error}");
        assert!(error.contains("help: give the run's time in seconds"), "{error}");
    }
    for words in [vec!["breakdown"], vec!["breakdown", "a.sqlite,vllm"], vec!["breakdown", "--in_file"]]
    {
        assert_eq!(outcome(&words).0, 2, "{words:?}");
    }
    let word = format!("{path},vlm,lama,1");
    let (code, _, error) = outcome(&["breakdown", &word, "--out_dir", out.to_str().unwrap()]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("vllm/llama"), "the error must suggest the nearest map: {error}");
    assert!(!out.exists());
}

/// The JSON of Example 3 in gputrc2graph's README, and a map without a catch-all rule.
#[test]
fn class_maps_can_be_files_in_gputrc2graphs_format() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("elapsed_ties");
    let path = report.to_str().unwrap();
    let file = fixtures.path().join("engine_DEF.json");
    let map = r#"{"DEF": {"ABC": {"gemm|flash": "gemm", "J|K": "attn", "CUDA mem": "non-gpu-H_D_memops", ".*": "misc"},
                          "few": {"gemm": "gemm", "^flash$": "attn"}}}"#;
    std::fs::write(&file, map).unwrap();
    let file = file.to_str().unwrap();
    let categories = |written: &Written| -> BTreeMap<String, String> {
        let rows = written.csv.iter().filter(|row| !row["Model_Engine"].contains(":gpu"));
        rows.map(|row| (row["Name"].clone(), row["Category"].clone())).collect()
    };
    let (abc, few) = (format!("{path},DEF,ABC,10"), format!("{path},DEF,few,10"));
    let written = breakdown(&["--in_file", &abc, "--classes", file], fixtures.path());
    let found = categories(&written);
    assert_eq!((found["flash"].as_str(), found["tieA"].as_str()), ("gemm", "misc"));
    assert_eq!(found["[CUDA memcpy Host-to-Device]"], "non-gpu-H_D_memops");
    // Two profiles of one report, each by its own map.
    let both = breakdown(&["--in_file", &abc, &few, "--classes", file], fixtures.path());
    let of = |label: &str, name: &str| {
        let mut rows = both.csv.iter().filter(|row| row["Model_Engine"].starts_with(label));
        rows.find(|row| row["Name"] == name).unwrap()["Category"].clone()
    };
    assert_eq!((of("ABC", "flash").as_str(), of("few", "flash").as_str()), ("gemm", "attn"));
    // A name without a matching rule: nsq's class `others`; gputrc2graph leaves the category empty.
    assert_eq!(of("few", "tieA"), "others");
    let seed = breakdown(&["--in_file", &few, "--classes", file, "--seed-compat"], fixtures.path());
    assert_eq!(categories(&seed)["tieA"], "");
    // A file with several maps needs a name, which --classes can give for all reports.
    let named = format!("{file}#DEF/few");
    let alone = breakdown(&[path, "--classes", &named], fixtures.path());
    assert_eq!(categories(&alone)["flash"], "attn");
    let broken = fixtures.path().join("broken.json");
    std::fs::write(&broken, r#"{"DEF": {"ABC": {"(": "x"}}}"#).unwrap();
    let words = ["breakdown", &abc, "--classes", broken.to_str().unwrap(), "--out_dir", "unused"];
    let (code, _, error) = outcome(&words);
    assert!(code != 0 && error.contains("broken.json"), "{error}");
}

#[test]
fn an_unwritable_folder_is_an_error_and_no_file_is_left() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let path = report.to_str().unwrap();
    let file = fixtures.path().join("a file");
    std::fs::write(&file, "x").unwrap();
    for folder in [file.clone(), file.join("below")] {
        let (code, printed, error) =
            outcome(&["breakdown", path, "--out_dir", folder.to_str().unwrap()]);
        assert_eq!((code, printed.as_str()), (1, ""), "{error}");
        assert!(error.contains("a file"), "{error}");
    }
    // If one of the two files cannot be put in place, neither is.
    let folder = fixtures.path().join("half");
    std::fs::create_dir_all(folder.join("result.html")).unwrap();
    assert_ne!(outcome(&["breakdown", path, "--out_dir", folder.to_str().unwrap()]).0, 0);
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["result.html"]);
    // The report itself is never overwritten.
    let folder = fixtures.path().join("own");
    std::fs::create_dir_all(&folder).unwrap();
    let own = folder.join("result.csv");
    std::fs::copy(&report, &own).unwrap();
    let before = std::fs::read(&own).unwrap();
    let words = ["breakdown", own.to_str().unwrap(), "--out_dir", folder.to_str().unwrap()];
    assert_eq!(outcome(&words).0, 2);
    assert_eq!(std::fs::read(&own).unwrap(), before);
}

/// A Chromium on this machine. Where there is none, prints that and returns `None`.
pub fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|candidate| candidate.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium on PATH");
    }
    found
}

/// A real browser renders the page without errors and shows the figures.
#[test]
fn a_browser_shows_the_page() {
    let Some(chromium) = chromium() else { return };
    let fixtures = Fixtures::new();
    let report = fixtures.trace("elapsed_ties");
    let word = format!("{},vllm,llama,10", report.display());
    breakdown(&["--in_file", &word, "--title", "In a browser"], fixtures.path());
    let page = format!("file://{}", fixtures.path().join("result.html").display());
    let run = |arguments: &[&str]| {
        let profile = format!("--user-data-dir={}", fixtures.path().join("browser").display());
        let mut command = std::process::Command::new(&chromium);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            &profile,
        ]);
        command.env("HOME", fixtures.path());
        command.args(arguments).arg(&page).output().unwrap()
    };
    let dumped = run(&["--dump-dom"]);
    let dom = String::from_utf8_lossy(&dumped.stdout);
    let log = String::from_utf8_lossy(&dumped.stderr);
    assert!(dumped.status.success(), "{log}");
    for figure in ["<title>In a browser</title>", "3.00 s", "4.892000", "10.000000", "What fills GPU 0"]
    {
        assert!(dom.contains(figure), "{figure} is missing in the browser's page");
    }
    assert!(!log.contains("CONSOLE"), "{log}");
    for (name, size, extra) in [
        ("light", "1280,1600", "--hide-scrollbars"),
        ("dark", "1280,1600", "--blink-settings=preferredColorScheme=0"),
        ("phone", "390,1600", "--hide-scrollbars"),
    ] {
        let picture = fixtures.path().join(format!("{name}.png"));
        let shot = format!("--screenshot={}", picture.display());
        let output = run(&[&shot, &format!("--window-size={size}"), extra]);
        assert!(output.status.success(), "{name}");
        let bytes = std::fs::read(&picture).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{name}: {} bytes", bytes.len());
    }
}

#[test]
fn help_lists_every_spelling_of_the_options() {
    let output = nsq().args(["breakdown", "--help"]).output().unwrap();
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    for word in ["--in_file", "--infile", "--out_dir", "--nsys_cmd", "--merge-devices", "--seed-compat"]
    {
        assert!(help.contains(word), "{word}");
    }
}
