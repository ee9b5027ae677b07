//! Steps of inference engines, against a second reader of the traces and against names written by hand.

use crate::support::{build, shared, stdout};
use crate::trace::events_of;
use rusqlite::Connection;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Rows of a query or statement by column, as texts.
fn rows(arguments: &[&str]) -> Vec<BTreeMap<String, String>> {
    let text = stdout(&[arguments, &["--format", "csv"]].concat());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// Nanoseconds of a time in microseconds, as written.
fn nanoseconds(microseconds: &Value) -> i64 {
    let text = microseconds.as_str().unwrap();
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = format!("{part:0<3}");
    whole.parse::<i64>().unwrap() * 1000 + part[..3].parse::<i64>().unwrap()
}

/// Start and end of an event.
fn times(event: &Value) -> (i64, i64) {
    let start_ns = nanoseconds(&event["ts"]);
    (start_ns, start_ns + nanoseconds(&event["dur"]))
}

/// Length of the union of intervals.
fn union(mut intervals: Vec<(i64, i64)>) -> i64 {
    intervals.sort_unstable();
    let (mut length, mut reached) = (0, i64::MIN);
    for (start, end) in intervals {
        length += (end - start.max(reached)).max(0);
        reached = reached.max(end);
    }
    length
}

/// The columns of `serving_steps` that a trace's events tell, read without nsq: the GPU work that graph
/// launches and other calls inside the annotation launched.
fn measured(trace: &Path, annotation: &str) -> BTreeMap<&'static str, String> {
    let events = events_of(trace);
    let of = |categories: &'static [&'static str]| {
        events.iter().filter(move |event| {
            event["ph"] == "X" && event["cat"].as_str().is_some_and(|cat| categories.contains(&cat))
        })
    };
    let step = of(&["user_annotation"]).find(|event| event["name"] == annotation).unwrap();
    let (from, to) = times(step);
    let mut calls = BTreeMap::new();
    for call in of(&["cuda_runtime", "cuda_driver"]) {
        let (start, end) = times(call);
        if call["tid"] == step["tid"] && from <= start && end <= to {
            let is_graph = call["name"].as_str().unwrap().contains("GraphLaunch");
            *calls.entry(call["args"]["correlation"].as_i64()).or_insert(false) |= is_graph;
        }
    }
    let mut work = Vec::new();
    let (mut launches, mut graphs) = (BTreeSet::new(), BTreeSet::new());
    for op in of(&["kernel", "gpu_memcpy", "gpu_memset"]) {
        let correlation = op["args"]["correlation"].as_i64();
        if let Some(is_graph) = calls.get(&correlation) {
            work.push(times(op));
            launches.insert(correlation);
            if *is_graph {
                graphs.insert(correlation);
            }
        }
    }
    let first = work.iter().map(|op| op.0).min().unwrap();
    let last = work.iter().map(|op| op.1).max().unwrap();
    BTreeMap::from([
        ("op_count", work.len().to_string()),
        ("launch_count", launches.len().to_string()),
        ("graph_launch_count", graphs.len().to_string()),
        ("span_ns", (last - first).to_string()),
        ("busy_ns", union(work).to_string()),
        ("dur_ns", (to - from).to_string()),
    ])
}

/// A trace, its annotation, and what this says: kind, way of launching, sequences and new tokens, then sequences, new tokens
/// and context tokens in prefill and in decode.
type Expected = (&'static str, &'static str, [&'static str; 10]);

const TRACES: [Expected; 5] = [
    (
        "vllm_mixed_piecewise",
        "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)",
        ["mixed", "piecewise", "46", "8192", "9", "8155", "8430", "37", "37", "34489"],
    ),
    (
        "vllm_decode_graph",
        "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
        ["decode", "graph", "32", "32", "0", "0", "0", "32", "32", "55086"],
    ),
    (
        "sglang_qwen3_8b_prefill",
        "execute_15360_context_15(sq15360sk15360sqsq15728640sqsk15728640)_generation_0(sq0sk0sqsq0sqsk0)",
        ["prefill", "eager", "15", "15360", "15", "15360", "15360", "0", "0", "0"],
    ),
    (
        "sglang_qwen3_8b_decode",
        "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)",
        ["decode", "graph", "32", "32", "0", "0", "0", "32", "32", "32785"],
    ),
    (
        "b200_vllm_eager_tp8_rank0",
        "execute_context_1(888_788544)_generation_0(0)",
        ["prefill", "eager", "1", "888", "1", "888", "", "0", "0", ""],
    ),
];

const TOLD: [&str; 10] = [
    "kind",
    "replay",
    "sequences",
    "tokens",
    "prefill_sequences",
    "prefill_tokens",
    "prefill_context_tokens",
    "decode_sequences",
    "decode_tokens",
    "decode_context_tokens",
];

#[test]
fn steps_of_real_traces_are_what_a_second_reader_finds() {
    let Some(shared) = shared() else { return };
    for (name, annotation, told) in TRACES {
        let trace = shared.join(format!("data/torch/{name}.json.gz"));
        let steps = rows(&["run", trace.to_str().unwrap(), "--query", "serving_steps"]);
        assert_eq!(steps.len(), 1, "{name}: an annotation inside a step is no step of its own");
        let step = &steps[0];
        assert_eq!(step["range_name"], annotation);
        assert_eq!(TOLD.map(|column| step[column].as_str()), told, "{name}");
        for (column, value) in measured(&trace, annotation) {
            assert_eq!(step[column], value, "{column} of {name}");
        }
        let sums = rows(&["run", trace.to_str().unwrap(), "--query", "serving_sum"]);
        assert_eq!((sums.len(), &sums[0]["tokens"]), (1, &step["tokens"]));
        let rate: f64 = sums[0]["tokens_per_s"].parse().unwrap();
        let by_hand =
            step["tokens"].parse::<f64>().unwrap() * 1e9 / step["span_ns"].parse::<f64>().unwrap();
        assert!((rate / by_hand - 1.0).abs() < 1e-12, "{name}: {rate} and {by_hand}");
        let replays = rows(&["run", trace.to_str().unwrap(), "--query", "graph_replays"]);
        assert_eq!(replays.len().to_string(), step["graph_launch_count"]);
    }
}

#[test]
fn steps_whose_graphs_left_no_work_are_counted() {
    // Decode steps of 1 ms, of which those in `lost` have no kernel; the others ran for 100 µs.
    for (steps, lost) in [(10, 0..0), (10, 0..8), (50, 2..50), (20, 1..19), (6, 0..6)] {
        let mut events = Vec::new();
        for nth in 0..steps {
            let (at, id) = (1_000 + 1_000 * nth, nth + 1);
            let (start, is_lost) = (at + 50, lost.contains(&nth));
            events.push(format!(
                r#"{{"ph":"X","cat":"user_annotation","name":"execute_context_0(0)_generation_8(8)","pid":100,"tid":100,"ts":{at},"dur":900,"args":{{}}}},
                   {{"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","pid":100,"tid":100,"ts":{at},"dur":30,"args":{{"correlation":{id}}}}}"#
            ));
            if !is_lost {
                events.push(format!(
                    r#"{{"ph":"X","cat":"kernel","name":"decode","pid":0,"tid":7,"ts":{start},"dur":100,"args":{{"device":0,"context":1,"stream":7,"correlation":{id}}}}}"#
                ));
            }
        }
        // Work of no step.
        events.push(r#"{"ph":"X","cat":"kernel","name":"init","pid":0,"tid":7,"ts":5,"dur":1,"args":{"device":0,"context":1,"stream":7,"correlation":999}}"#.to_owned());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        std::fs::write(&path, format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))).unwrap();
        let sums = rows(&["run", path.to_str().unwrap(), "--query", "serving_sum"]);
        assert_eq!(sums.len(), 1);
        let unseen = lost.end - lost.start;
        // A period ends with a step, and begins with the one before if that has work.
        let seen: Vec<i64> = (0..steps).filter(|nth| !lost.contains(nth)).collect();
        let follows = |nth: i64| nth > 0 && !lost.contains(&(nth - 1));
        let period: i64 = seen.iter().map(|nth| if follows(*nth) { 1_000_000 } else { 100_000 }).sum();
        let text = |value: i64| if seen.is_empty() { String::new() } else { value.to_string() };
        for (column, value) in [
            ("steps", steps.to_string()),
            ("unseen_steps", unseen.to_string()),
            ("tokens", text(8 * (steps - unseen))),
            ("period_ns", text(period)),
            ("busy_ns", text(100_000 * (steps - unseen))),
        ] {
            assert_eq!(sums[0][column], value, "{column} of {steps} without {lost:?}");
        }
    }
}

/// A report whose main thread has these ranges, one after the other.
fn annotated(names: &[String], path: &Path) -> String {
    build("3.25.0", "serving_engine", path);
    let connection = Connection::open(path).unwrap();
    let thread: i64 =
        connection.query_row("SELECT min(globalTid) FROM NVTX_EVENTS", [], |row| row.get(0)).unwrap();
    connection.execute("DELETE FROM NVTX_EVENTS", []).unwrap();
    connection.execute("BEGIN", []).unwrap();
    for (place, name) in names.iter().enumerate() {
        let start = 10 * place as i64;
        connection
            .execute(
                "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) \
                 VALUES (?1, ?2, 59, ?3, ?4, 0)",
                (start, start + 8, name, thread),
            )
            .unwrap();
    }
    connection.execute("COMMIT", []).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn names_that_only_resemble_a_step_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        ("execute_context_(1)_generation_0(0)", None),
        ("execute_context_1(1)_generation_0(0)", Some("prefill")),
        ("execute_context_1(1x)_generation_0(0)", None),
        ("execute_context_1(1)_generation_2(2) and more", None),
        ("my execute_context_1(1)_generation_2(2)", None),
        ("execute_context_0(0)_generation_0(0)", Some("other")),
        ("execute_context_3(70)_generation_2(2)", Some("mixed")),
        ("step[DECODE bs=1]", Some("decode")),
        ("step[DECODE bs=]", None),
        ("step[EXTEND bs=2 toks=7]", Some("prefill")),
        ("step[MIXED bs=2 toks=7]", Some("mixed")),
        ("step[IDLE bs=0 toks=0]", Some("other")),
        ("step[DECODE bs=1] \"]", None),
        ("[Executor] _forward_step 3: 0 ctx reqs, 4 gen reqs", Some("decode")),
        ("[Executor] _forward_step 3: 1 ctx reqs, 9 ctx tokens, 0 gen reqs", Some("prefill")),
        ("[Executor] _forward_step 3: ctx reqs, 4 gen reqs", None),
    ];
    let all: Vec<String> = names.iter().map(|(name, _)| (*name).to_owned()).collect();
    let report = annotated(&all, &folder.path().join("names.sqlite"));
    let found: BTreeMap<String, String> = rows(&["run", &report, "--query", "serving_steps"])
        .into_iter()
        .map(|row| (row["range_name"].clone(), row["kind"].clone()))
        .collect();
    for (name, kind) in names {
        assert_eq!(found.get(name).map(String::as_str), kind, "{name}");
    }
}

/// Ten minutes of serving have some 100,000 steps.
#[test]
fn a_long_capture_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..100_000)
        .map(|place| match place % 10 {
            0 => format!("execute_context_1({})_generation_0(0)", place + 1),
            size => format!("execute_context_0(0)_generation_{size}({size})"),
        })
        .collect();
    let report = annotated(&names, &folder.path().join("long.sqlite"));
    let sql = "SELECT kind, count(*) AS steps, sum(tokens) AS tokens FROM serving_step GROUP BY kind ORDER BY kind";
    let text = stdout(&["sql", &report, sql, "--format", "csv", "--no-header"]);
    // 10,000 times 1 + … + 9 tokens; and 1 + 11 + … + 99,991.
    assert_eq!(text.trim(), "decode,90000,450000\nprefill,10000,499960000");
    assert_eq!(rows(&["run", &report, "--query", "serving_steps", "-p", "limit=3"]).len(), 3);
}

/// The header of the fixture derives these rows; the golden has all columns.
#[test]
fn gaps_before_decode_steps_name_the_schedulers_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("serving.sqlite");
    build("3.25.0", "serving_engine", &path);
    let gaps = rows(&["run", path.to_str().unwrap(), "--query", "decode_gaps", "-p", "kind=all"]);
    let columns = ["step", "dur_ns", "host_gap_ns", "call_ns", "longest_range", "longest_range_ns"];
    let gaps: Vec<String> =
        gaps.iter().map(|row| columns.map(|column| row[column].as_str()).join(" ")).collect();
    // Before step 5 and 3, nothing but CUDA calls of the steps themselves: no range in the CPU gap.
    assert_eq!(
        gaps,
        [
            "5 95 20 0  ",
            "2 80 100 45 schedule 70",
            "6 55 60 0 schedule 10",
            "1 20 50 0  ",
            "3 10 50 5  "
        ]
    );
}
