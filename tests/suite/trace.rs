//! Imports of PyTorch traces.
//!
//! Each imported row is compared with a second reader of the same JSON. Answers are compared with an
//! export of the same events and with another tool's figures. Files that are not traces are rejected.

mod synthetic;

use crate::support::{outcome, queries, shared, stdout, tried, turn};
use flate2::Compression;
use flate2::write::GzEncoder;
use nsq::catalog::Catalog;
use nsq::error::Error;
use nsq::trace::{ImportOptions, Imported, import};
use rusqlite::Connection;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use synthetic::SyntheticTrace;

fn import_to(trace: &Path, database: &Path) -> Result<Imported, Error> {
    import(trace, database, ImportOptions::default(), &|_| true)
}

/// A trace file with some text, in a temporary folder.
struct Text {
    folder: tempfile::TempDir,
}

impl Text {
    fn new(text: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("trace.json"), text).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("trace.json")
    }

    fn import(&self) -> Result<(Imported, Connection), Error> {
        let database = self.folder.path().join("out.sqlite");
        let _ = std::fs::remove_file(&database);
        let imported = import_to(&self.path(), &database)?;
        Ok((imported, Connection::open(&database).unwrap()))
    }
}

fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let width = statement.column_count();
    let mut found = statement.query([]).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = found.next().unwrap() {
        let cell = |place| match row.get_ref(place).unwrap() {
            rusqlite::types::ValueRef::Null => "-".to_owned(),
            rusqlite::types::ValueRef::Integer(int) => int.to_string(),
            rusqlite::types::ValueRef::Real(real) => real.to_string(),
            rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            rusqlite::types::ValueRef::Blob(_) => "blob".to_owned(),
        };
        rows.push((0..width).map(cell).collect::<Vec<_>>().join("|"));
    }
    rows
}

/// All traces of the shared folder.
fn shared_traces() -> Vec<PathBuf> {
    let Some(shared) = shared() else { return Vec::new() };
    let folder = std::fs::read_dir(shared.join("data/torch")).unwrap();
    let mut traces: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    traces.sort();
    traces
}

/// The events of a trace, read without nsq's import. Times stay text.
pub fn events_of(trace: &Path) -> Vec<Value> {
    #[derive(serde::Deserialize)]
    struct Whole {
        #[serde(rename = "traceEvents")]
        events: Vec<BTreeMap<String, Box<RawValue>>>,
    }
    let mut text = Vec::new();
    let file = std::fs::File::open(trace).unwrap();
    if trace.extension().is_some_and(|e| e == "gz") {
        flate2::read::MultiGzDecoder::new(file).read_to_end(&mut text).unwrap();
    } else {
        { file }.read_to_end(&mut text).unwrap();
    }
    let whole: Whole = serde_json::from_slice(&text).unwrap();
    let value = |(key, raw): (String, Box<RawValue>)| {
        let is_time = key == "ts" || key == "dur";
        let value: Value =
            if is_time { raw.get().into() } else { serde_json::from_str(raw.get()).unwrap() };
        (key, value)
    };
    whole.events.into_iter().map(|event| event.into_iter().map(value).collect()).collect()
}

#[test]
fn every_event_of_real_traces_becomes_a_row_with_its_exact_time() {
    for trace in shared_traces() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("out.sqlite");
        let imported = import_to(&trace, &database).unwrap();
        let connection = Connection::open(&database).unwrap();
        let name = trace.display();
        let events = events_of(&trace);
        assert_eq!(imported.events, events.len() as u64, "{name}");
        assert_eq!((imported.repaired, imported.invalid_times), (0, 0), "{name}");
        let ns = |event: &Value, key: &str| {
            let text = event[key].as_str().unwrap();
            let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
            format!("{whole}{decimals:0<3}").parse::<i64>().unwrap()
        };
        let of = |categories: &[&str]| -> Vec<&Value> {
            let is_wanted = |event: &&Value| {
                event["ph"] == "X" && categories.iter().any(|category| event["cat"] == *category)
            };
            events.iter().filter(is_wanted).collect()
        };
        let all = [
            "kernel",
            "gpu_memcpy",
            "gpu_memset",
            "cuda_runtime",
            "cuda_driver",
            "cuda_sync",
            "cpu_op",
            "user_annotation",
            "Trace",
        ];
        let zero = of(&all).iter().map(|event| ns(event, "ts")).min().unwrap();
        let end = of(&all).iter().map(|event| ns(event, "ts") + ns(event, "dur")).max().unwrap();
        assert_eq!(
            rows(&connection, "SELECT duration FROM ANALYSIS_DETAILS"),
            [(end - zero).to_string()],
            "{name}"
        );
        // (table, name of the event, further cells, categories, keys of args)
        type Table =
            (&'static str, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);
        let tables: [Table; 6] = [
            (
                "CUPTI_ACTIVITY_KIND_KERNEL",
                "(SELECT value FROM StringIds WHERE id = demangledName)",
                "deviceId, contextId, streamId, correlationId, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ",
                &["kernel"],
                &["device", "context", "stream", "correlation", "registers per thread", "grid", "block"],
            ),
            (
                "CUPTI_ACTIVITY_KIND_MEMCPY",
                "''",
                "deviceId, contextId, streamId, correlationId, bytes",
                &["gpu_memcpy"],
                &["device", "context", "stream", "correlation", "bytes"],
            ),
            (
                "CUPTI_ACTIVITY_KIND_MEMSET",
                "''",
                "deviceId, contextId, streamId, correlationId, bytes",
                &["gpu_memset"],
                &["device", "context", "stream", "correlation", "bytes"],
            ),
            (
                "CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 0",
                "(SELECT value FROM StringIds WHERE id = nameId)",
                "correlationId",
                &["cuda_runtime"],
                &["correlation"],
            ),
            (
                "CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 1",
                "(SELECT value FROM StringIds WHERE id = nameId)",
                "correlationId",
                &["cuda_driver"],
                &["correlation"],
            ),
            (
                "NVTX_EVENTS WHERE eventType = 59",
                "(SELECT value FROM StringIds WHERE id = textId)",
                "int64Value",
                &["cpu_op", "user_annotation"],
                &["Sequence number"],
            ),
        ];
        for (table, text, cells, categories, keys) in tables {
            let expected: Vec<String> = of(categories)
                .into_iter()
                .map(|event| {
                    let start = ns(event, "ts") - zero;
                    let name = if text == "''" { "" } else { event["name"].as_str().unwrap() };
                    let cell =
                        |value: &Value| value.as_i64().map_or("-".to_owned(), |int| int.to_string());
                    let cells = keys.iter().flat_map(|key| match &event["args"][key] {
                        Value::Array(cells) => cells.iter().map(cell).collect(),
                        Value::Null if matches!(*key, "grid" | "block") => vec!["-".to_owned(); 3],
                        value => vec![cell(value)],
                    });
                    let cells: Vec<String> = cells.collect();
                    format!("{start}|{}|{name}|{}", start + ns(event, "dur"), cells.join("|"))
                })
                .collect();
            if expected.is_empty() {
                continue;
            }
            let sql = format!("SELECT start, \"end\", {text}, {cells} FROM {table} ORDER BY rowid");
            let sql = match table.split_once(" WHERE ") {
                Some((table, condition)) => {
                    format!(
                        "SELECT start, \"end\", {text}, {cells} FROM {table} WHERE {condition} ORDER BY rowid"
                    )
                }
                None => sql,
            };
            let found = rows(&connection, &sql);
            let different = found.iter().zip(&expected).find(|(found, expected)| found != expected);
            assert!(
                different.is_none() && found.len() == expected.len(),
                "{name}: {table}: {different:?}"
            );
        }
    }
}

/// Compares with TraceLens's figures for the same trace, in floating-point milliseconds.
#[test]
fn busy_and_idle_agree_with_another_tool() {
    let Some(shared) = shared() else { return };
    let trace = shared.join("data/torch/h100_bert_small.json.gz");
    let read =
        |file: &str| csv::Reader::from_path(shared.join("reference/tracelens").join(file)).unwrap();
    let mut theirs = BTreeMap::new();
    for record in read("h100_bert_small.gpu_timeline.csv").records() {
        let record = record.unwrap();
        theirs.insert(record[0].to_owned(), record[1].parse::<f64>().unwrap() * 1e6);
    }
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("out.sqlite");
    import_to(&trace, &database).unwrap();
    let run =
        |query: &str| stdout(&["run", database.to_str().unwrap(), "--query", query, "--format", "json"]);
    let ours: Value = serde_json::from_str(&run("gpu_time")).unwrap();
    let ours = &ours["rows"][0];
    for (their_name, our_names) in [
        ("computation_time", &["compute_ns"][..]),
        ("exposed_comm_time", &["exposed_communication_ns"]),
        ("exposed_memcpy_time", &["exposed_memory_ns"]),
        ("busy_time", &["busy_ns"]),
        ("idle_time", &["idle_ns"]),
        ("total_time", &["window_ns"]),
        ("total_comm_time", &["communication_ns"]),
        ("total_memcpy_time", &["memory_ns"]),
    ] {
        let ours: i64 = our_names.iter().map(|name| ours[name].as_i64().unwrap()).sum();
        // TraceLens stores microseconds since boot as doubles, with a resolution of a quarter of a
        // nanosecond here. Sums and differences may be off by one nanosecond.
        let difference = (ours as f64 - theirs[their_name]).abs();
        assert!(difference <= 1.0, "{their_name}: {ours} ns, theirs {}", theirs[their_name]);
    }
    let connection = Connection::open(&database).unwrap();
    let mut sums: BTreeMap<String, (f64, i64)> = BTreeMap::new();
    for record in read("h100_bert_small.kernel_summary.csv").records() {
        let record = record.unwrap();
        let sum = sums.entry(record[2].to_owned()).or_default();
        sum.0 += record[4].parse::<f64>().unwrap() * 1e3;
        sum.1 += record[5].parse::<i64>().unwrap();
    }
    let sql = "SELECT sum(k.\"end\" - k.start) || '|' || count(*) || '|' || s.value FROM CUPTI_ACTIVITY_KIND_KERNEL AS k \
               JOIN StringIds AS s ON s.id = k.demangledName GROUP BY s.value";
    let ours = rows(&connection, sql);
    assert_eq!(ours.len(), sums.len());
    for row in ours {
        let mut cells = row.splitn(3, '|');
        let mut next = || cells.next().unwrap();
        let (ns, calls, name) = (next().parse::<i64>().unwrap(), next().parse::<i64>().unwrap(), next());
        let (their_ns, their_calls) = sums[name];
        assert!(
            (ns as f64 - their_ns).abs() < 0.5 && calls == their_calls,
            "{name}: {ns} ns, {their_ns}"
        );
    }
}

#[test]
fn every_query_answers_every_trace_or_says_what_is_missing() {
    ask_traces(|nth| nth % 2 == 0);
}

/// The other half, so that two threads share the traces.
#[test]
fn every_query_answers_every_other_trace_or_says_what_is_missing() {
    ask_traces(|nth| nth % 2 == 1);
}

fn ask_traces(is_asked: fn(usize) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut check = vec!["check".to_owned()];
    for (nth, trace) in shared_traces().iter().enumerate().filter(|(nth, _)| is_asked(*nth)) {
        let name = trace.file_name().unwrap().to_str().unwrap().to_owned();
        let database = folder.path().join(format!("{name}.sqlite"));
        import_to(trace, &database).unwrap();
        // `check` runs all queries that have their data; the others say what is missing in the same way.
        let some = queries().into_iter().skip((nth + turn()) % 8).step_by(8);
        answers(&database, &some.collect::<Vec<String>>());
        check.extend(["--report".to_owned(), database.to_str().unwrap().to_owned()]);
    }
    let (code, out, error) = outcome(&check.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(code, 0, "{out}{error}");
}

/// The answers of all queries on a report, as one text.
fn answers(report: &Path, queries: &[String]) -> String {
    // An import and an export have other defaults.
    let mut arguments =
        vec!["run", report.to_str().unwrap(), "--format", "csv", "--attribute", "thread"];
    for query in queries {
        arguments.extend(["--query", query]);
    }
    let (code, output, error) = outcome(&arguments);
    assert!(code == 0 || code == 3, "{}: exit {code}: {error}", report.display());
    let folder = report.parent().unwrap().to_str().unwrap();
    let error: Vec<&str> = error
        .lines()
        // Advice on what to record differs, because one report was made by nsys.
        .filter(|line| !line.contains("help: "))
        .collect();
    let text = output + &error.join("\n").replace(folder, "");
    // Some answers name the report.
    text.replace("import.sqlite", "").replace("export.sqlite", "")
}

#[test]
fn a_trace_and_an_export_of_the_same_events_give_equal_answers() {
    let mut all = queries();
    // Their advice names the tool that recorded, or they tell which it is.
    let of_tools = [
        "captured",
        "capture_trust",
        "nvtx_coverage",
        "findings",
        "diff_runs",
        "diff_side",
        "event_counts",
    ];
    // Only a trace tells its rank.
    let of_ranks = [
        "collective_arrivals",
        "job_differences",
        "job_experts",
        "job_gain",
        "job_members",
        "job_ranks",
        "job_transfers",
        "longest_wait",
        "rank_balance",
        "rank_heat",
        "rank_iterations",
        "rank_measures",
        "ranks",
        "straggler_causes",
        "stragglers",
    ];
    // Only a trace has the inputs of operators, see `work.rs`, and Python calls, see `makers/modules.rs`.
    let of_inputs = [
        "attention_work",
        "gemm_shapes",
        "gpu_time_by_stack",
        "idle_functions",
        "memory_bound_ops",
        "mfu",
        "module_time",
        "op_efficiency",
        "paced_idle",
        "python_line_time",
        "tensor_core_use",
        "work_coverage",
        "work_functions",
    ];
    // The payloads of a trace are PyTorch's sequence numbers, which are nothing to add up.
    let of_payloads = ["nvtx_category_sum"];
    let catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
    let mut left_out: BTreeSet<&str> =
        [&of_tools[..], &of_ranks, &of_inputs, &of_payloads].concat().into_iter().collect();
    // What a query asks is in its answer.
    loop {
        let follow =
            catalog.queries().unwrap().into_iter().map(|query| &query.header).filter(|header| {
                let mut asks = header.asks.iter();
                !left_out.contains(header.name.as_str())
                    && asks.any(|ask| left_out.contains(ask.query.as_str()))
            });
        let follow: Vec<&str> = follow.map(|header| header.name.as_str()).collect();
        if follow.is_empty() {
            break;
        }
        left_out.extend(follow);
    }
    all.retain(|query| !left_out.contains(query.as_str()));
    let (about_the_file, others): (Vec<String>, Vec<String>) =
        all.into_iter().partition(|query| query == "report_info");
    for seed in tried(12).map(|nth| nth as u64) {
        let synthetic = SyntheticTrace::random(seed);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("trace.json"), synthetic.json(seed)).unwrap();
        import_to(&path("trace.json"), &path("import.sqlite")).unwrap();
        synthetic.export(&path("export.sqlite"));
        let imported = answers(&path("import.sqlite"), &others);
        let exported = answers(&path("export.sqlite"), &others);
        if imported != exported {
            let at = imported.lines().zip(exported.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let around = |text: &str| {
                text.lines().skip(at.saturating_sub(3)).take(6).collect::<Vec<_>>().join("\n")
            };
            panic!("seed {seed}: imported\n{}\nexported\n{}", around(&imported), around(&exported));
        }
        let facts = |report: &str| {
            let text = answers(&path(report), &about_the_file);
            let is_common = |line: &&str| !line.starts_with("export,") && !line.starts_with("import,");
            text.lines().filter(is_common).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(facts("import.sqlite"), facts("export.sqlite"), "seed {seed}");
        let coverage = |report: &str| {
            let path = path(report);
            let columns = "is_attributed,reason,op_kind,op_count,gpu_ns,share_pct,op_share_pct";
            let line = ["run", path.to_str().unwrap(), "-q", "nvtx_coverage", "--columns", columns];
            let (code, out, _) = outcome(&[&line[..], &["--attribute", "thread", "-f", "csv"]].concat());
            (code, out)
        };
        assert_eq!(coverage("import.sqlite"), coverage("export.sqlite"), "seed {seed}");
    }
}

/// Events of old versions, AMD's profiler and unusual programs, with rows derived by hand.
#[test]
fn each_kind_of_event_becomes_the_row_that_nsys_would_write() {
    let text = Text::new(
        br#"{"traceEvents": [
        {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 41, "tid": 140234567890123, "ts": 11, "dur": 20, "args": {"Sequence number": 7}},
        {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 41, "tid": 140234567890123, "ts": 12.5, "dur": 1, "args": {"correlation": 5}},
        {"ph": "X", "cat": "Kernel", "name": "void ns::mm<int>(int)", "pid": 1, "tid": "stream 7", "ts": 20, "dur": 3.25, "args": {"correlation": 5, "context": 2, "grid": [4, 2], "block": "odd"}},
        {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": 41, "tid": 42, "ts": 14, "dur": 1, "args": {"correlation": "6"}},
        {"ph": "X", "cat": "hip_runtime", "name": "hipMemcpy", "pid": 41, "tid": 42, "ts": 15, "dur": 1, "args": {}},
        {"ph": "X", "cat": "gpu_memcpy", "name": "CopyDeviceToHost", "pid": 1, "tid": 7, "ts": 21, "dur": 1, "args": {"device": 1, "stream": 9, "kind": "DtoH", "bytes": 64}},
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy PtoP (Device -> Device)", "pid": 1, "tid": 7, "ts": 22, "dur": 1, "args": {"device": 1, "stream": 9, "bytes": 8, "fromDevice": 0, "toDevice": 1}},
        {"ph": "X", "cat": "gpu_memset", "name": "Memset (Managed)", "pid": 1, "tid": 7, "ts": 23, "dur": 1, "args": {"device": 1, "stream": 9, "bytes": 16}},
        {"ph": "X", "cat": "cuda_sync", "name": "Event Sync", "pid": 1, "tid": 7, "ts": 24, "dur": 1, "args": {"cuda_sync_kind": "Event Sync", "stream": -1, "wait_on_cuda_event_id": 3}},
        {"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": 41, "tid": 42, "ts": 30, "dur": 2, "args": {}},
        {"ph": "X", "cat": "python_function", "name": "train.py(3): f", "pid": 41, "tid": 42, "ts": 31, "dur": 2, "args": {}},
        {"ph": "X", "cat": "kernel", "name": "late", "pid": 1, "tid": 7, "ts": 10, "dur": -1, "args": {}},
        {"ph": "X", "cat": "kernel", "name": "timeless", "pid": 1, "tid": 7, "args": {}},
        {"ph": "X", "cat": "kernel", "name": "beyond", "pid": 1, "tid": 7, "ts": 1e30, "dur": 1, "args": {}},
        {"ph": "M", "name": "process_name", "pid": 41, "tid": 0, "args": {"name": " python3 "}},
        {"ph": "M", "name": "thread_name", "pid": 41, "tid": 42, "args": {"name": "worker"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 7, "args": {"name": "stream 7"}},
        {"ph": "i", "cat": "kernel", "name": "an instant", "pid": 1, "tid": 7, "ts": 1}
        ], "distributedInfo": {"rank": 2, "world_size": 4, "backend": "nccl"}, "baseTimeNanoseconds": 1700000000000000000,
        "deviceProperties": [{"id": 0, "name": "GPU A", "numSms": 108, "totalGlobalMem": 1024, "computeMajor": 8, "computeMinor": 0, "new": {}}]}"#,
    );
    let (imported, connection) = text.import().unwrap();
    assert_eq!((imported.events, imported.rows, imported.invalid_times), (18, 11, 3));
    let is = |sql: &str, expected: &[&str]| assert_eq!(rows(&connection, sql), expected, "{sql}");
    // Time 0 is the first start, 11 us. Process 41 is 1<<48 | 41<<24. The tid that does not fit into 24
    // bits gets the highest one.
    let pid = (1_i64 << 48) + (41 << 24);
    let (big, small) = (pid + (1 << 24) - 1, pid + 42);
    is(
        "SELECT start, \"end\", globalPid, deviceId, contextId, streamId, correlationId, gridX, gridY, gridZ, blockX, f.value, s.value \
         FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds AS f ON f.id = demangledName JOIN StringIds AS s ON s.id = shortName",
        &[&format!("9000|12250|{pid}|1|2|7|5|4|2|-|-|void ns::mm<int>(int)|mm")],
    );
    is(
        "SELECT start, \"end\", eventClass, globalTid, correlationId, value, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId ORDER BY start",
        &[
            &format!("1500|2500|0|{big}|5|cudaLaunchKernel|-"),
            &format!("3000|4000|1|{small}|6|cuLaunchKernel|-"),
            &format!("4000|5000|0|{small}|-|hipMemcpy|-"),
        ],
    );
    is(
        "SELECT start, deviceId, streamId, bytes, copyKind, srcKind, dstKind, srcDeviceId, dstDeviceId FROM CUPTI_ACTIVITY_KIND_MEMCPY",
        &["10000|1|9|64|2|-|-|-|-", "11000|1|9|8|10|2|2|0|1"],
    );
    is("SELECT start, bytes, memKind FROM CUPTI_ACTIVITY_KIND_MEMSET", &["12000|16|4"]);
    is(
        "SELECT start, syncType, streamId, eventId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        &["13000|1|4294967295|3"],
    );
    is("SELECT start, globalTid FROM PROFILER_OVERHEAD", &[&format!("19000|{small}")]);
    is(
        "SELECT start, \"end\", eventType, globalTid, domainId, int64Value, value FROM NVTX_EVENTS JOIN StringIds ON id = textId",
        &[&format!("0|20000|59|{big}|2|7|aten::mm"), &format!("0|0|75|{big}|2|-|cpu_op")],
    );
    is("SELECT * FROM PROCESSES", &[&format!("{pid}|41|python3")]);
    is(
        "SELECT value, globalTid FROM ThreadNames JOIN StringIds ON id = nameId ORDER BY 2",
        &[&format!("worker|{small}"), &format!("thread 140234567890123|{big}")],
    );
    is("SELECT id, cuDevice, name, totalMemory, smCount FROM TARGET_INFO_GPU", &["0|0|GPU A|1024|108"]);
    is("SELECT duration FROM ANALYSIS_DETAILS", &["21000"]);
    is("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", &["1700000000000011000"]);
    is(
        "SELECT value FROM META_DATA_EXPORT WHERE name GLOB 'DISTRIBUTED*' ORDER BY name",
        &["nccl", "2", "4"],
    );
    is("SELECT events, rows FROM NSQ_IMPORT WHERE category = 'kernel'", &["4|0"]);

    let database = text.folder.path().join("python.sqlite");
    let options = ImportOptions { python_functions: true };
    assert_eq!(import(&text.path(), &database, options, &|_| true).unwrap().rows, 11);
}

/// In a trace merged from several processes, GPU work belongs to the process of the call with its
/// correlation id.
#[test]
fn gpu_work_of_several_processes_is_attributed_by_its_call() {
    let call = |pid, correlation| {
        format!(
            r#"{{"ph": "X", "cat": "cuda_runtime", "name": "c", "pid": {pid}, "tid": 1, "ts": 1, "dur": 1, "args": {{"correlation": {correlation}}}}}"#
        )
    };
    let kernel = |correlation| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {{"correlation": {correlation}}}}}"#
        )
    };
    let global = |pid: i64| ((1_i64 << 48) + (pid << 24)).to_string();
    let sql = "SELECT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY rowid";
    let processes = |events: &[String]| {
        let text = Text::new(format!("[{}]", events.join(",")).as_bytes());
        rows(&text.import().unwrap().1, sql)
    };
    let of_two =
        [kernel(1), call(10, 1), call(20, 2), call(10, 3), call(20, 3), kernel(2), kernel(3), kernel(4)];
    assert_eq!(processes(&of_two), [global(10), global(20), "-".to_owned(), "-".to_owned()]);
    // The call comes after its GPU work, or the first guess of the process is wrong.
    assert_eq!(processes(&[kernel(1), kernel(9), call(10, 1)]), [global(10), global(10)]);
    let op = r#"{"ph": "X", "cat": "cpu_op", "name": "o", "pid": 99, "tid": 1, "ts": 1, "dur": 1, "args": {}}"#;
    assert_eq!(processes(&[op.to_owned(), kernel(1), call(10, 1)]), [global(10)]);
    assert_eq!(processes(&[kernel(1)]), ["-"]);
    // With two processes and no call, the process of the work is unknown, in any order.
    let other = op.replace("99", "98");
    assert_eq!(processes(&[op.to_owned(), other, kernel(1)]), ["-"]);
}

#[test]
fn the_earliest_event_is_time_0_at_any_position() {
    let event = |us: u64| {
        format!(
            r#"{{"ph": "X", "cat": "cpu_op", "name": "o", "pid": 9, "tid": 1, "ts": {us}, "dur": 1, "args": {{}}}}"#
        )
    };
    // More rows than the import buffers before it writes the first, and then the earliest event.
    let mut events: Vec<String> = (0..80_000).map(|place| event(1_000_000 + place)).collect();
    events.push(event(7));
    let text = Text::new(format!("{{\"traceEvents\": [{}]}}", events.join(",\n")).as_bytes());
    let (_, connection) = text.import().unwrap();
    let sql = "SELECT min(start), max(\"end\"), count(*), sum(\"end\" - start) FROM NVTX_EVENTS WHERE eventType = 59";
    assert_eq!(rows(&connection, sql), ["0|1079993000|80001|80001000"]);
    assert_eq!(rows(&connection, "SELECT duration FROM ANALYSIS_DETAILS"), ["1079993000"]);
}

const SMALL: &str = "{\"schemaVersion\": 1,\n \"traceEvents\": [\n\
  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\u{e9}\", \"pid\": 0, \"tid\": 7, \"ts\": 12.5, \"dur\": 1e1, \"args\": {\"device\": 0}},\n\
  {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"\\u0041\", \"pid\": 1, \"tid\": 2, \"ts\": 1, \"dur\": 2}\n ], \"rest\": -1.5}";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn truncated_traces_are_read_to_their_last_whole_event() {
    assert_eq!(Text::new(SMALL.as_bytes()).import().unwrap().0.rows, 2);
    // The ends of both events.
    let ends: Vec<usize> = SMALL
        .match_indices("}}")
        .map(|(at, _)| at + 2)
        .chain(SMALL.rfind("2}").map(|at| at + 2))
        .collect();
    for length in 1..SMALL.len() {
        let whole = ends.iter().filter(|end| **end <= length).count() as u64;
        let (imported, error) = match Text::new(&SMALL.as_bytes()[..length]).import() {
            Ok((imported, _)) => (imported, None),
            Err(error) => (Imported::default(), Some(error)),
        };
        assert_eq!(imported.rows, whole, "{length}");
        assert_eq!(imported.cut_short.is_some(), whole > 0, "{length}: {imported}");
        let Some(error) = error else { continue };
        let message = error.to_string();
        // A character that is cut is replaced by one of three bytes.
        let ends = [length, length + 2].map(|end| format!("ends at byte {end},"));
        assert!(ends.iter().any(|end| message.contains(end)), "{length}: {message}");
        assert_eq!(error.exit_code(), 1);
        assert!(error.help().is_some());
    }
    let packed = gzip(SMALL.as_bytes());
    assert_eq!(Text::new(&packed).import().unwrap().0.rows, 2);
    for length in 2..packed.len() {
        let message = match Text::new(&packed[..length]).import() {
            Ok((imported, _)) => imported.to_string(),
            Err(error) => error.to_string(),
        };
        let has_reason = message.contains("is cut short") || message.contains("is damaged");
        assert!(has_reason, "{length}: {message}");
    }
    // Bytes after the last gzip member are ignored, as gzip itself does.
    for rest in [&[0; 512][..], b"garbage"] {
        assert_eq!(Text::new(&[&packed, rest].concat()).import().unwrap().0.rows, 2);
    }
    // Two gzip members in a row form one text.
    let (first, second) = SMALL.split_at(70);
    let both = [gzip(first.as_bytes()), gzip(second.as_bytes())].concat();
    assert_eq!(Text::new(&both).import().unwrap().0.rows, 2);
}

#[test]
fn files_that_are_not_traces_are_rejected_with_reason_and_help() {
    let nested =
        format!("{{\"traceEvents\": [{{\"args\": {}1{}}}]}}", "[".repeat(100_000), "]".repeat(100_000));
    let mut damaged = gzip(&vec![b' '; 100_000]);
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    for (text, expected) in [
        (&b"   \n"[..], "contains only whitespace"),
        (b"{}", "no \"traceEvents\""),
        (b"{\"a\": 1}", "no \"traceEvents\""),
        (b"{\"traceEvents\": 5}", "no \"traceEvents\""),
        (b"{\"traceEvents\": [1]}", "event that is not an object at byte 17"),
        (b"{\"traceEvents\": [{\"ph\": \"X\"} {}]}", "at byte 29"),
        (b"{\"traceEvents\": [{\"ph\" 1}]}", "at byte 23"),
        (b"{\"traceEvents\": []} x", "has more text after its end at byte 20"),
        (b"{\"traceEvents\" []}", "a colon"),
        (b"{1: 2}", "a key in quotes"),
        (b"[{\"name\": \"a row of something\"}]", "not a trace"),
        (b"hello", "is not valid JSON at byte 0"),
        (b"{\"traceEvents\": [{\"ph\": \"X, \"cat\": \"kernel\"}]}", "is not valid JSON at byte 29"),
        (nested.as_bytes(), "its objects have no \"ph\""),
        (&damaged, "is damaged"),
    ] {
        let error = Text::new(text).import().unwrap_err();
        let message = format!("{error}; {}", error.help().unwrap_or_default());
        let shown = String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
        assert!(message.contains(expected), "{shown}: {message}");
        assert!(error.help().is_some(), "{shown}: no help");
    }
    for text in [&b"[]"[..], b"{\"traceEvents\": []}", b"\xef\xbb\xbf {\"traceEvents\": [ ]}\n"] {
        assert_eq!(Text::new(text).import().unwrap().0, Imported::default());
    }
}

#[test]
fn invalid_json_that_profilers_write_is_repaired() {
    let text = b"{\"traceEvents\": [\
        {\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> Device)\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 0, \"args\": {\"bytes\": 4, \"memory bandwidth (GB/s)\": inf}},\
        {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"C:\\Users\\x\xff\", \"pid\": 1, \"tid\": 2, \"ts\": 1, \"dur\": 2},\
        {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\tb\", \"pid\": 1, \"tid\": 2, \"ts\": 1, \"dur\": 2, \"args\": 5},\
        ]}";
    let (imported, connection) = Text::new(text).import().unwrap();
    assert_eq!((imported.rows, imported.repaired), (3, 3));
    assert_eq!(rows(&connection, "SELECT srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY"), ["1|2"]);
    let names = "SELECT value FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType = 59";
    assert_eq!(rows(&connection, names), ["C:\\Users\\x\u{fffd}", "a\tb"]);
}

/// The profiler stops inside a range and an operator: both hold what they launched, until the trace ends.
#[test]
fn ranges_that_did_not_end_are_open() {
    let folder = tempfile::tempdir().unwrap();
    for (epoch, sum) in [("-1", "-1"), ("-5", "-3110.5")] {
        let events = format!(
            r#"{{"traceEvents": [
        {{"ph": "X", "cat": "user_annotation", "name": "epoch", "pid": 1, "tid": 1, "ts": 5, "dur": {epoch}}},
        {{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 40}},
        {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 20, "dur": 5, "args": {{"correlation": 1}}}},
        {{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 40, "dur": 300, "args": {{"device": 0, "stream": 7, "correlation": 1}}}},
        {{"ph": "X", "cat": "cpu_op", "name": "aten::sum", "pid": 1, "tid": 1, "ts": 3110.5, "dur": {sum}}},
        {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 3120, "dur": 5, "args": {{"correlation": 2}}}},
        {{"ph": "X", "cat": "kernel", "name": "reduce", "pid": 0, "tid": 7, "ts": 3140, "dur": 60, "args": {{"device": 0, "stream": 7, "correlation": 2}}}}
        ]}}"#
        );
        let (imported, connection) = Text::new(events.as_bytes()).import().unwrap();
        assert_eq!((imported.rows, imported.invalid_times, imported.unfinished), (7, 0, 2));
        assert!(imported.to_string().contains("; 2 events have no end"), "{imported}");
        let times = "SELECT start, \"end\" FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY start";
        assert_eq!(rows(&connection, times), ["0|-", "5000|45000", "3105500|-"]);
        let path = folder.path().join(format!("{}.json", epoch.len())).display().to_string();
        std::fs::write(&path, &events).unwrap();
        let work = "SELECT range_text, is_open, op_count, gpu_ns FROM nvtx_range JOIN nvtx_projection USING (range_id)
          ORDER BY nvtx_range.start_ns";
        let (code, out, error) = outcome(&["sql", &path, work, "-f", "csv"]);
        assert_eq!(code, 0, "{error}");
        let expected = ["epoch,1,2,360000", "aten::mm,0,1,300000", "aten::sum,1,1,60000"];
        assert_eq!(out.lines().skip(1).collect::<Vec<_>>(), expected);
        let (_, out, _) = outcome(&["run", &path, "-q", "capture_trust", "-f", "csv"]);
        assert!(out.contains("2 of 3 NVTX ranges have no end"), "{out}");
    }
}

/// The profiler stops while the program waits for its GPU: the call lasts until the trace ends, as Python's function does.
#[test]
fn calls_that_did_not_end_last_until_the_trace_ends() {
    for dur in ["-1", "-60"] {
        let events = format!(
            r#"{{"traceEvents": [
        {{"ph": "X", "cat": "python_function", "name": "train.py(1): main", "pid": 1, "tid": 1, "ts": 15, "dur": -1}},
        {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 20, "dur": 5, "args": {{"correlation": 1}}}},
        {{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 40, "dur": 300, "args": {{"device": 0, "stream": 7, "correlation": 1}}}},
        {{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1, "ts": 60, "dur": {dur}, "args": {{"correlation": 2}}}}
        ]}}"#
        );
        let (imported, connection) = Text::new(events.as_bytes()).import().unwrap();
        assert_eq!((imported.rows, imported.invalid_times, imported.unfinished), (4, 0, 2));
        // The trace begins with the launch and ends with the kernel.
        let times = "SELECT start, \"end\" FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start";
        assert_eq!(rows(&connection, times), ["0|5000", "40000|320000"]);
        assert_eq!(rows(&connection, "SELECT start, \"end\" FROM NSQ_PYTHON_FRAME"), ["-5000|320000"]);
    }
}

/// An invalid number loses only its own fact.
#[test]
fn facts_with_invalid_numbers_are_left_out() {
    let text = br#"{"baseTimeNanoseconds": NaN, "memory": {"peak": [Infinity, 1e400]}, "traceName": "C:\Users\x\q",
        "deviceProperties": [{"id": 0, "name": "A", "totalGlobalMem": 1e400, "numSms": NaN, "warpSize": 32},
                             {"id": 1, "name": "B", "totalGlobalMem": 1e30, "numSms": "8", "warpSize": 32}],
        "distributedInfo": {"rank": -Infinity, "world_size": 4, "backend": "nccl"}, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "o", "pid": 1, "tid": 2, "ts": 1, "dur": 2}], "end": nan}"#;
    let (imported, connection) = Text::new(text).import().unwrap();
    assert_eq!((imported.rows, imported.repaired, imported.repaired_facts), (1, 0, 6));
    assert!(imported.to_string().contains("repaired 6 values outside the events"), "{imported}");
    let gpus = "SELECT id, name, totalMemory, smCount, threadsPerWarp FROM TARGET_INFO_GPU ORDER BY 1";
    assert_eq!(rows(&connection, gpus), ["0|A|-|-|32", "1|B|-|-|32"]);
    let facts = "SELECT name, value FROM META_DATA_EXPORT WHERE name GLOB 'DISTR*' ORDER BY 1";
    assert_eq!(rows(&connection, facts), ["DISTRIBUTED_BACKEND|nccl", "DISTRIBUTED_WORLD_SIZE|4"]);
}

#[test]
fn utf16_traces_are_rejected_with_advice() {
    for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let utf16: Vec<u8> = "\u{feff}{\"traceEvents\": []}".encode_utf16().flat_map(to_bytes).collect();
        for text in [gzip(&utf16), utf16] {
            let text = Text::new(&text);
            let error = text.import().unwrap_err();
            assert!(error.to_string().contains("UTF-16") && error.help().unwrap().contains("iconv"));
            let path = text.path();
            let (code, _, error) =
                outcome(&["run", "--no-cache", path.to_str().unwrap(), "-q", "gpu_time"]);
            assert!(code == 1 && error.contains("UTF-16") && error.contains("iconv"), "{error}");
        }
    }
}

/// Invalid process and thread ids stay distinct and are shown as names. B and E events are counted.
#[test]
fn invalid_ids_become_names_and_begin_end_events_are_counted() {
    let text = Text::new(
        br#"[{"ph": "X", "cat": "cpu_op", "name": "o", "pid": "rank0", "tid": 1.5, "ts": 1, "dur": 1, "args": {}},
            {"ph": "X", "cat": "cpu_op", "name": "o", "pid": -5, "tid": 7, "ts": 1, "dur": 1, "args": {"Sequence number": 4}, "args": {}},
            {"ph": "B", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1}]"#,
    );
    let (imported, connection) = text.import().unwrap();
    assert_eq!((imported.rows, imported.begin_end_events), (2, 1));
    assert!(imported.to_string().contains("skipped 1 that only begin or end"), "{imported}");
    assert_eq!(
        rows(&connection, "SELECT name FROM PROCESSES ORDER BY 1"),
        ["process -5", "process rank0"]
    );
    let threads = "SELECT value FROM ThreadNames JOIN StringIds ON id = nameId";
    assert_eq!(rows(&connection, threads), ["thread 1.5"]);
    assert_eq!(rows(&connection, "SELECT DISTINCT int64Value FROM NVTX_EVENTS"), ["-"]);
}

#[test]
fn a_stopped_or_failed_import_leaves_no_file() {
    let text = Text::new(SMALL.as_bytes());
    let database = text.folder.path().join("out.sqlite");
    let stopped = import(&text.path(), &database, ImportOptions::default(), &|_| false);
    assert!(matches!(stopped, Err(Error::Interrupted)));
    let folder = text.folder.path().to_str().unwrap();
    let trace = text.path();
    std::fs::write(&trace, &SMALL[..100]).unwrap();
    let out = format!("{folder}/kept.sqlite");
    let (code, _, error) = outcome(&["import", trace.to_str().unwrap(), "-o", &out]);
    assert_eq!(code, 1, "{error}");
    assert!(!Path::new(&out).exists());
    std::fs::write(&trace, SMALL).unwrap();
    let (code, _, error) = outcome(&["import", trace.to_str().unwrap(), "-o", &out]);
    assert_eq!(code, 0, "{error}");
    let (code, _, _) = outcome(&["import", trace.to_str().unwrap(), "-o", &out]);
    assert_eq!(code, 2, "an existing file must not be replaced");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["kept.sqlite", "out.sqlite", "trace.json"]);
}

#[test]
fn traces_are_queried_like_reports_and_cached() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let synthetic = SyntheticTrace::random(3);
    std::fs::write(path("a.json"), synthetic.json(3)).unwrap();
    std::fs::write(path("a.pt.trace.json.gz"), gzip(synthetic.json(3).as_bytes())).unwrap();
    let arguments =
        |trace: &str| ["run".to_owned(), path(trace), "--query".into(), "top_kernels".into()];
    let run = |trace: &str| {
        let mut command = crate::support::nsq();
        let output = command.args(arguments(trace)).env("NSQ_CACHE", path("cache")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    assert!(!run("a.json").is_empty());
    assert_eq!(run("a.json"), run("a.json"));
    assert_eq!(run("a.json"), run("a.pt.trace.json.gz"));
    let kept = std::fs::read_dir(path("cache/traces")).unwrap();
    let kept =
        kept.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "sqlite"));
    assert_eq!(kept.count(), 2);
}
