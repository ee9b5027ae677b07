//! Both sides of every size at which the code takes another way.
//!
//! | threshold | what changes there | tried by |
//! |---|---|---|
//! | `execute/times.rs`: report of 16 MiB | times are checked beside the first statement | here |
//! | `execute/stored.rs`: 100,000 rows | a stored relation is computed by each connection | here |
//! | `native/reader.rs`: 20,000 rows | two connections read a relation | here |
//! | `projection/groups.rs`: 50,000 items | two threads group | here |
//! | `projection/nesting.rs`: 32 crossed ranges | a tree finds the parent | `load`, `tests/random/projection` |
//! | `native/gpu/load.rs`: 262,144 operations | lists are joined in steps | its own test |
//! | `native/nvtx/path_text.rs`: 64 names | the middle of a path is left out | here |
//! | `functions/classes.rs`: 65,536 names | answers are not cached | here |
//! | `execute/shelf.rs`: 64 MiB | rows of many reports go to a file | SQLite's own, `ranks` |
//! | `render/background.rs`: 1,000 rows, 1 MiB | rows are written on a thread | its own tests |
//! | `nsys/drawn.rs`: rows that decide widths | later rows are written as they come | its own test |
//! | `cli/output.rs`: 100 rows | text shows the first ones | `cli` |
//! | `trace/document.rs`, `trace/unpack.rs`: 4, 64, 256 MiB | what is repaired or refused | `trace` |
//! | `integers.rs`: one of 32, or 64, that are far | all take eight bytes | its own test |
//! | `nsq_arrow/spool.rs`: 8,192 rows, 4 MiB; 65,536, 16 MiB | a batch goes to a file; a row group ends | its own tests |

use crate::support::{Fixtures, depth_of, nsq, outcome, queries, stdout, turn};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A copy of a report with so many bytes more, in a table that nothing reads.
fn padded(report: &Path, bytes: u64) -> PathBuf {
    let folder = report.with_file_name(bytes.to_string());
    fs::create_dir_all(&folder).unwrap();
    // Some answers have its name.
    let copy = folder.join(report.file_name().unwrap());
    fs::copy(report, &copy).unwrap();
    let connection = Connection::open(&copy).unwrap();
    let pad = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE padding (bytes)";
    connection.execute_batch(pad).unwrap();
    connection.execute("INSERT INTO padding VALUES (zeroblob(?1))", [bytes as i64]).unwrap();
    copy
}

/// Rows, or the error, which has the path.
fn answer(report: &nsq::Report, query: &str) -> Result<Vec<Vec<nsq::Value>>, String> {
    let answer = report.query(query).run();
    answer
        .map(|answer| answer.rows().to_vec())
        .map_err(|error| error.to_string().replace("/17825792/", "/"))
}

/// A statement of a user that reads several rows, and looks others up for each.
const CORRELATED: &str = "SELECT short_name, (SELECT count(*) FROM memcpy WHERE memcpy.start_ns < kernel.start_ns) \
                          AS before FROM kernel ORDER BY kernel_id";

#[test]
fn every_query_answers_alike_on_both_sides_of_16_mib() {
    let fixtures = Fixtures::new();
    let mut with_rows = 0;
    // Each query of one of the traces, and of all at full depth.
    let some = depth_of(3).min(3);
    for (place, trace) in ["kernel_gaps", "training_steps", "nccl_two_ranks"].into_iter().enumerate() {
        let small = fixtures.trace(trace);
        let large = padded(&small, 17 << 20);
        assert!(fs::metadata(&small).unwrap().len() < 16 << 20);
        let reports = [&small, &large].map(|path| nsq::open(path).unwrap());
        let asked = |nth: usize| (nth + place + turn()) % 3 < some;
        for query in
            queries().into_iter().enumerate().filter_map(|(nth, query)| asked(nth).then_some(query))
        {
            let [small, large] = reports.each_ref().map(|report| answer(report, &query));
            // Facts of the file itself.
            let is_of_file = ["report_info", "capture_trust"].contains(&query.as_str());
            assert!(small == large || is_of_file, "{trace} {query}: {small:?} {large:?}");
            assert!(large.as_ref().err().is_none_or(|error| !error.contains("ROLLBACK")), "{query}");
            with_rows += usize::from(large.is_ok_and(|rows| rows.len() > 1));
        }
        let rows = reports.map(|report| report.sql(CORRELATED).run().unwrap().rows().to_vec());
        assert!(rows[0] == rows[1] && rows[0].len() > 1, "{trace}");
    }
    assert!(with_rows > 50, "{with_rows}");
}

#[test]
fn the_program_answers_alike_on_both_sides_of_16_mib() {
    let fixtures = Fixtures::new();
    let small = fixtures.trace("kernel_gaps");
    let large = padded(&small, 17 << 20);
    for words in [
        &["sql", "REPORT", CORRELATED, "-f", "csv"][..],
        &["run", "REPORT", "-q", "cuda_gpu_trace", "--columns", "nsys", "-f", "csv"],
        &["run", "REPORT", "-q", "gpu_gaps", "-q", "top_kernels", "-f", "csv"],
        &["stats", "-r", "cuda_gpu_trace", "-f", "csv", "--quiet", "REPORT"],
        &["analyze", "-r", "gpu_gaps", "--quiet", "REPORT"],
        &["page", "kernels", "REPORT", "-f", "json"],
        &["REPORT"],
    ] {
        let [small, large] = [&small, &large].map(|path| {
            let words =
                words.iter().map(|word| if *word == "REPORT" { path.to_str().unwrap() } else { word });
            let (code, text, error) = outcome(&words.collect::<Vec<_>>());
            let plain = |text: String| text.replace(path.to_str().unwrap(), "PATH");
            (code, plain(text), plain(error))
        });
        assert_eq!(small, large, "{words:?}");
        assert!(small.0 == 0 && small.1.lines().count() > 2, "{words:?}: {small:?}");
    }
}

/// A report with more rows than each of the thresholds, made once.
fn large() -> &'static str {
    static LARGE: OnceLock<PathBuf> = OnceLock::new();
    LARGE.get_or_init(|| crate::large_export::export(60_000)).to_str().unwrap()
}

#[test]
fn one_thread_and_two_answer_alike_above_every_number_of_rows() {
    let count = |relation: &str| -> i64 {
        let count = format!("SELECT count(*) FROM {relation}");
        stdout(&["sql", large(), &count, "-f", "csv", "--no-header"]).trim().parse().unwrap()
    };
    assert!(count("kernel") > 50_000 && count("nvtx_range") > 50_000);
    assert!(count("timeline_event") > 100_000, "more than a stored relation keeps");
    for queries in [&["timeline_pieces", "timeline_lanes"][..], &["nvtx_kern_sum"], &["findings"]] {
        let ask = |threads: &str| {
            let mut words = vec!["run", large(), "-f", "ndjson", "--threads", threads];
            words.extend(queries.iter().flat_map(|query| ["-q", query]));
            stdout(&words)
        };
        let (one, two) = (ask("1"), ask("2"));
        assert!(one == two && one.lines().count() > 2, "{queries:?}");
    }
}

#[test]
fn names_beyond_those_that_are_cached_get_their_class() {
    const NAMES: usize = 70_000;
    let fixtures = Fixtures::new();
    let report = fixtures.trace("kernel_gaps");
    let sum = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {NAMES}),
         named(name) AS (SELECT printf('%s_%d', iif(i % 2, 'flash_fwd_kernel', 'ampere_sgemm_128x64'), i) FROM n)
         SELECT op_class(name) AS class, count(*) AS n FROM named GROUP BY 1 ORDER BY 1"
    );
    let rows = stdout(&["sql", report.to_str().unwrap(), &sum, "-f", "csv", "--no-header"]);
    let counts: Vec<usize> =
        rows.lines().map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(counts, [NAMES / 2; 2], "{rows}");
}

/// A report with ranges that are nested so deeply, and a kernel in the innermost one.
fn nested(fixtures: &Fixtures, levels: usize) -> PathBuf {
    let report = fixtures.trace("nested_nvtx").with_extension(format!("{levels}.sqlite"));
    fs::copy(fixtures.trace("nested_nvtx"), &report).unwrap();
    let connection = Connection::open(&report).unwrap();
    let script = format!(
        "DELETE FROM NVTX_EVENTS WHERE rowid > (SELECT min(rowid) FROM NVTX_EVENTS WHERE eventType = 59);
         CREATE TEMP TABLE outer_range AS
             SELECT * FROM NVTX_EVENTS WHERE eventType = 59 LIMIT 1;
         DELETE FROM NVTX_EVENTS;
         UPDATE outer_range SET textId = NULL, start = 0, end = (SELECT max(end) + {levels} + 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME);
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {levels})
         INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)
         SELECT i - {levels}, outer_range.end - i, 59,
                'level ' || char(97 + i % 26, 97 + i / 26 % 26, 97 + i / 676 % 26), globalTid, domainId
         FROM n, outer_range"
    );
    connection.execute_batch(&script).unwrap();
    report
}

#[test]
fn a_deep_path_is_shortened_and_its_sums_are_exact() {
    let fixtures = Fixtures::new();
    for levels in [64, 65, 3_000] {
        let report = nested(&fixtures, levels);
        let report = report.to_str().unwrap();
        let columns = "SELECT depth, path, gpu_ns, layer_name FROM nvtx_path ORDER BY depth";
        let text = stdout(&["sql", report, columns, "-f", "json"]);
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let rows = document["rows"].as_array().unwrap();
        assert_eq!(rows.len(), levels);
        let names: Vec<&str> = rows.iter().map(|row| row["layer_name"].as_str().unwrap()).collect();
        let mut paths = std::collections::BTreeSet::new();
        for (depth, row) in rows.iter().enumerate() {
            let path = row["path"].as_str().unwrap();
            assert!(paths.insert(path.to_owned()), "{path} stands for two paths");
            let shown: Vec<&str> = path.split(" / ").collect();
            if depth < 64 {
                assert_eq!(shown, &names[..=depth]);
            } else {
                assert_eq!(
                    (shown.len(), &shown[..32], &shown[33..]),
                    (65, &names[..32], &names[depth - 31..=depth])
                );
                assert!(shown[32].starts_with(&format!("… {} names, ", depth - 63)), "{}", shown[32]);
            }
            // All work is launched in the innermost range.
            assert_eq!(row["gpu_ns"], rows[0]["gpu_ns"]);
        }
        let tree = nsq().args(["run", report, "-q", "nvtx_tree", "-f", "csv"]).output().unwrap();
        let tree = String::from_utf8(tree.stdout).unwrap();
        assert_eq!(tree.lines().filter(|line| line.contains("level ")).count(), levels);
        // A row has some hundred bytes, however deep its path is.
        assert!(tree.len() < levels * 2_500, "{levels} levels: {} bytes", tree.len());
    }
}
