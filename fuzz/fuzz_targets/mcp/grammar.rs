//! Calls of tools from bytes: the arguments of the tools, with values that no client gives.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use serde_json::{Map, Value as Json, json};

/// The tools, and the names of their arguments.
const TOOLS: [(&str, &[&str]); 10] = [
    ("list_reports", &["contains", "limit", "offset"]),
    ("overview", &["report", "scope", "top"]),
    ("list_queries", &["about", "report", "limit"]),
    ("describe", &["name"]),
    (
        "run_query",
        &[
            "report",
            "query",
            "params",
            "scope",
            "columns",
            "largest_by",
            "limit",
            "offset",
            "whole_text",
        ],
    ),
    ("run_sql", &["report", "sql", "scope", "limit", "offset", "whole_text"]),
    ("diff", &["before", "after", "iterations", "skip", "sections", "top"]),
    ("answer", &["report", "playbook", "parts", "params"]),
    ("explain", &["report", "query", "params", "scope", "column", "row"]),
    ("nothing", &["report"]),
];

const SCOPE: [&str; 11] = [
    "time",
    "gpus",
    "devices",
    "streams",
    "processes",
    "nvtx",
    "iterations",
    "exclude",
    "windows",
    "attribute",
    "nothing",
];

const REPORTS: [&str; 12] = [
    "report.sqlite",
    "report.sqlite",
    "report.sqlite",
    "report.sqlite",
    "below/report.sqlite",
    "link.sqlite",
    "../outside/report.sqlite",
    "/etc/passwd",
    "report.sqlite-wal",
    "file:report.sqlite?mode=rw",
    "",
    "below",
];

const NAMES: [&str; 22] = [
    "top_kernels",
    "top_kernels@1",
    "gpu_time",
    "gpu_gaps",
    "nvtx_tree",
    "findings",
    "report_info",
    "kernel_stats",
    "cuda_gpu_kern_sum:base",
    "iterations",
    "rank_wait",
    "kernel",
    "string",
    "src_capture_meta",
    "overview",
    "cs336",
    "--help",
    "../x",
    "kernels",
    "total_ns",
    "a",
    "why is the gpu idle",
];

const PARAMS: [&str; 8] = ["limit", "top", "min_gap", "by", "name", "forward", "skip", "\u{1b}[2J"];

const TEXTS: [&str; 26] = [
    "",
    "*",
    "step *",
    "step/3",
    "step/2..5",
    "step/18446744073709551616",
    "training_step_*",
    "[",
    "?",
    "a@b/1",
    "1s/2s",
    "10%/20%",
    "12ms/",
    "/",
    "-1ns/1e99s",
    "9223372036854775808ns/",
    "thread",
    "process",
    "1.5ms",
    "true",
    "1,2,3",
    "\u{0}",
    "\u{202e}\u{1b}[31m",
    "\u{10ffff}",
    "a",
    "%",
];

const STATEMENTS: [&str; 14] = [
    "SELECT * FROM kernel",
    "SELECT * FROM string",
    "SELECT * FROM StringIds",
    "SELECT * FROM META_DATA_CAPTURE",
    "SELECT value FROM src_capture_meta",
    "WITH src_string_id AS (SELECT * FROM StringIds) SELECT * FROM src_string_id",
    "SELECT * FROM nvtx_range JOIN kernel",
    "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x",
    "SELECT printf('%9999999d', 1)",
    "SELECT zeroblob(100000000)",
    "PRAGMA writable_schema = 1",
    "ATTACH 'x' AS y",
    "SELECT 1; SELECT 2",
    "",
];

/// The name of a tool and its arguments.
pub fn call(bytes: &mut Unstructured<'_>) -> Result<(&'static str, Json)> {
    let (tool, keys) = *bytes.choose(&TOOLS)?;
    let mut arguments = Map::new();
    for key in keys {
        // Most calls have what they need; others lack it.
        let is_needed = ["report", "before", "after", "query", "sql", "name"].contains(key);
        if bytes.ratio(if is_needed { 15 } else { 4 }, 16)? {
            let value = match bytes.ratio(11, 12)? {
                true => fitting(bytes, key)?,
                false => any(bytes, 4)?,
            };
            arguments.insert((*key).to_owned(), value);
        }
    }
    if !bytes.ratio(15, 16)? {
        arguments.insert(bytes.choose(&TEXTS)?.to_string(), any(bytes, 2)?);
    }
    Ok((tool, arguments.into()))
}

/// A value of the type that the argument has.
fn fitting(bytes: &mut Unstructured<'_>, key: &str) -> Result<Json> {
    Ok(match key {
        "report" | "before" | "after" => {
            let name = *bytes.choose(&REPORTS)?;
            match bytes.int_in_range(0..=7)? {
                0 => json!([name, bytes.choose(&REPORTS)?]),
                1 => json!(vec![name; bytes.int_in_range(0..=70)?]),
                _ => json!(name),
            }
        }
        "sql" => json!(bytes.choose(&STATEMENTS)?),
        "scope" => {
            let mut scope = Map::new();
            for _ in 0..bytes.int_in_range(0..=3)? {
                let key = *bytes.choose(&SCOPE)?;
                let value = match key {
                    "time" | "attribute" => json!(bytes.choose(&TEXTS)?),
                    "gpus" | "devices" | "streams" | "processes" => json!([bytes.arbitrary::<i64>()?, 0, 13001]),
                    _ => json!([bytes.choose(&TEXTS)?]),
                };
                scope.insert(key.to_owned(), value);
            }
            scope.into()
        }
        "params" => {
            let mut params = Map::new();
            for _ in 0..bytes.int_in_range(0..=3)? {
                params.insert(bytes.choose(&PARAMS)?.to_string(), any(bytes, 1)?);
            }
            params.into()
        }
        "columns" | "sections" | "parts" => json!([bytes.choose(&NAMES)?, bytes.choose(&TEXTS)?]),
        "limit" | "offset" | "top" | "skip" | "row" => match bytes.int_in_range(0..=3)? {
            0 => json!(u64::MAX),
            1 => json!(bytes.arbitrary::<i32>()?),
            _ => json!(bytes.int_in_range(0..=40)?),
        },
        "whole_text" => json!(true),
        "iterations" | "contains" => json!(bytes.choose(&TEXTS)?),
        _ => json!(bytes.choose(&NAMES)?),
    })
}

/// Any JSON.
fn any(bytes: &mut Unstructured<'_>, depth: u32) -> Result<Json> {
    Ok(match bytes.int_in_range(0..=11)? {
        0 => Json::Null,
        1 => json!(bytes.arbitrary::<bool>()?),
        2 => json!(bytes.arbitrary::<i64>()?),
        3 => json!(bytes.arbitrary::<f64>()?),
        4 => json!(*bytes.choose(&[0u64, 1, u64::MAX, 1 << 53])?),
        5 => json!(bytes.choose(&TEXTS)?),
        6 => json!(bytes.choose(&NAMES)?),
        7 => json!(String::from_utf8_lossy(bytes.bytes(12.min(bytes.len()))?)),
        8 => json!("x".repeat(bytes.int_in_range(0..=70_000)?)),
        9 if depth > 0 => json!([any(bytes, depth - 1)?, any(bytes, depth - 1)?]),
        10 if depth > 0 => json!({*bytes.choose(&PARAMS)?: any(bytes, depth - 1)?}),
        _ => json!(-1),
    })
}
