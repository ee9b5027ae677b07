//! Untrusted reports: every command answers, or says what is wrong and what to do, and writes nothing.
//!
//! Each case is a report that nsys would never write. `tests/random/fuzz.rs` tries random damage.

use crate::support::{Fixtures, depth_of, interruptible, outcome, queries, turn};
use flate2::Compression;
use flate2::write::GzEncoder;
use rusqlite::Connection;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The reports of one test, in a folder of their own.
struct Reports {
    fixtures: Fixtures,
    folder: tempfile::TempDir,
}

impl Reports {
    fn new() -> Self {
        Self { fixtures: Fixtures::new(), folder: tempfile::tempdir().unwrap() }
    }

    /// A fixture's trace, unchanged.
    fn plain(&self, trace: &str) -> PathBuf {
        let path = self.folder.path().join("report.sqlite");
        fs::copy(self.fixtures.trace(trace), &path).unwrap();
        path
    }

    /// A fixture's trace, changed by an SQL script.
    fn changed(&self, trace: &str, script: &str) -> PathBuf {
        let path = self.plain(trace);
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").unwrap();
        connection.execute_batch(script).unwrap_or_else(|e| panic!("{e}\n{script}"));
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Time limit of each command.
const TIMEOUT: &str = "120s";

/// Every command that takes a report; `R` stands for the report.
fn command_lines() -> Vec<Vec<String>> {
    let line = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let mut lines = Vec::new();
    const FORMATS: [&str; 7] = ["text", "csv", "tsv", "json", "ndjson", "markdown", "html"];
    // Each query in one format, and in all at full depth: it does not know its format, nor a format its query.
    let formats_of_query = depth_of(FORMATS.len());
    for (nth, format) in FORMATS.iter().enumerate() {
        let mut run = line(&format!("run R --timeout {TIMEOUT} --format {format}"));
        for (place, query) in queries().into_iter().enumerate() {
            if (place + nth + turn()) % FORMATS.len() < formats_of_query {
                run.extend(["--query".to_owned(), query]);
            }
        }
        lines.push(run);
    }
    for words in [
        "schema R",
        "schema R --format json",
        "stats R",
        "stats R --format table",
        "classes R",
        "kernels R --gaps",
        "answer R",
        "diff R R",
        "diff R R --format html",
        "run R R --query top_kernels --format markdown",
        "run R --query phases --nvtx * --attribute process",
    ] {
        lines.push(line(words));
    }
    for sql in ["SELECT * FROM kernel", "SELECT * FROM nvtx_span", "SELECT * FROM device"] {
        lines.push(vec!["sql".to_owned(), "R".to_owned(), sql.to_owned()]);
    }
    lines
}

/// Exit code, standard output and standard error.
type Output = (i32, String, String);

/// Runs one command line on a report.
///
/// Panics if it crashes, fails without a reason, or prints control characters or unescaped HTML.
fn ask(line: &[String], report: &Path) -> Output {
    let path = report.to_str().unwrap();
    let words: Vec<&str> = line.iter().map(|word| if word == "R" { path } else { word }).collect();
    let (code, out, error) = outcome(&words);
    let context = format!("nsq {}: exit {code}\n{error}", words.join(" "));
    // Of diff, 5 is a report that cannot be read, because 1 is a regression.
    let is_known = (0..=3).contains(&code) || code == 5 && words[0] == "diff";
    assert!(is_known, "{context}");
    assert!(!error.contains("panicked"), "{context}");
    assert!(
        ![1, 5].contains(&code) || error.contains("error: "),
        "a failure without a reason: {context}"
    );
    assert!(is_printable(&error), "control characters in a message: {context}");
    let format = words.windows(2).find(|pair| pair[0] == "--format").map_or("text", |pair| pair[1]);
    let is_for_people = ["text", "markdown", "html"].contains(&format) && words[0] != "stats";
    assert!(!is_for_people || is_printable(&out), "control characters in {format}: {context}\n{out}");
    if ["html", "markdown"].contains(&format) {
        assert!(!out.contains("<script>alert") && !out.contains("<img src=x"), "{context}\n{out}");
    }
    (code, out, error)
}

/// Whether the text has no control characters except newlines, and no bidirectional overrides.
fn is_printable(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c)))
}

/// Runs all command lines, and panics if one of them writes to the report or its folder.
fn ask_all(reports: &Reports, report: &Path) -> Vec<Output> {
    let before = (fs::read(report).unwrap(), reports.names());
    let outputs = command_lines().iter().map(|line| ask(line, report)).collect();
    assert!(before == (fs::read(report).unwrap(), reports.names()), "a command wrote a file");
    outputs
}

fn run(report: &Path, query: &str) -> Output {
    let line = ["run", "R", "--timeout", TIMEOUT, "--format", "csv", "--query", query];
    ask(&line.map(str::to_owned), report)
}

/// Asserts that `query` rejects the changed report for this reason, and runs all other commands on it.
fn assert_rejected(script: &str, query: &str, reason: &str) {
    let reports = Reports::new();
    let report = reports.changed("nested_nvtx", script);
    let (code, _, error) = run(&report, query);
    assert!(code == 1 && error.contains(reason), "want: {reason}\nexit {code}: {error}\n{script}");
    assert!(error.contains("help: "), "no help: {error}");
    ask_all(&reports, &report);
}

/// Asserts that the script changes no answer.
fn assert_harmless(trace: &str, script: &str) {
    let reports = Reports::new();
    let all = |report: &Path| -> Output {
        let mut line =
            ["run", "R", "--timeout", TIMEOUT, "--format", "ndjson"].map(str::to_owned).to_vec();
        for query in queries().into_iter().filter(|query| query != "report_info") {
            line.extend(["--query".to_owned(), query]);
        }
        ask(&line, report)
    };
    let plain = all(&reports.plain(trace));
    let report = reports.changed(trace, script);
    assert!(plain == all(&report), "the answers differ\n{script}");
    ask_all(&reports, &report);
}

/// Asserts that all commands answer on the changed report.
fn assert_answered(script: &str) {
    let reports = Reports::new();
    let report = reports.changed("nested_nvtx", script);
    assert_all_answered(&ask_all(&reports, &report), script);
}

/// Asserts that each command answered or lacks the data; a scope may name ranges that do not exist.
fn assert_all_answered(outputs: &[Output], script: &str) {
    for (code, _, error) in outputs {
        let is_lack = *code == 3 || error.contains("unknown NVTX range");
        assert!(*code == 0 || is_lack, "exit {code}: {error}\n{script}");
    }
}

const KERNELS: &str = "CUPTI_ACTIVITY_KIND_KERNEL";

#[test]
fn views_in_place_of_tables() {
    // A view that only renames the table works where no row numbers are needed.
    let renamed = format!("ALTER TABLE {KERNELS} RENAME TO k; CREATE VIEW {KERNELS} AS SELECT * FROM k");
    let reports = Reports::new();
    let (plain, view) =
        (run(&reports.plain("nested_nvtx"), "top_kernels"), reports.changed("nested_nvtx", &renamed));
    assert_eq!(plain, run(&view, "top_kernels"));
    ask_all(&reports, &view);
    assert_rejected(&renamed, "nvtx_kern_sum", "without row numbers");
    // A view that reads the captured environment.
    assert_rejected(
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid, devStateName, name, nameEnum, value);
         INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, 'a', 'b', 1, 'secret');
         ALTER TABLE StringIds RENAME TO s;
         CREATE VIEW StringIds AS SELECT id, (SELECT value FROM TARGET_INFO_SYSTEM_ENV) AS value FROM s",
        "top_kernels",
        "TARGET_INFO_SYSTEM_ENV is not shown",
    );
    // A view that loads an extension.
    assert_rejected(
        &format!(
            "DROP TABLE {KERNELS}; CREATE VIEW {KERNELS} AS SELECT load_extension('x') AS start, 2 AS end"
        ),
        "top_kernels",
        "load_extension",
    );
}

#[test]
fn an_endless_view_is_stopped() {
    let reports = Reports::new();
    let report = reports.changed(
        "nested_nvtx",
        &format!(
            "DROP TABLE {KERNELS}; CREATE VIEW {KERNELS} AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
             SELECT x AS start, x + 1 AS end, 0 AS deviceId, 1 AS streamId, 1 AS shortName, 1 AS demangledName FROM n"
        ),
    );
    for query in ["top_kernels", "gpu_time", "nvtx_kern_sum"] {
        let line = ["run", "R", "--timeout", "500ms", "--query", query].map(str::to_owned);
        let (code, _, error) = ask(&line, &report);
        let is_stopped = error.contains("it ran longer than 0.5 s") && error.contains("--timeout");
        assert!(code == 1 && (is_stopped || error.contains("without row numbers")), "{query}: {error}");
    }
}

/// Single function calls that run for days. SQLite calls no progress handler inside a function.
const ENDLESS: [&str; 2] = [
    "instr(replace(hex(zeroblob(8000000)), '00', 'a'), replace(hex(zeroblob(4000000)), '00', 'a') || 'b')",
    "replace(hex(zeroblob(64000000)), '00', 'a') GLOB '*' || replace(hex(zeroblob(24000)), '00', 'a') || 'b'",
];

#[test]
fn an_endless_function_is_stopped() {
    let reports = Reports::new();
    for function in ENDLESS {
        let sql = format!("SELECT {function}");
        let line = ["sql", "R", "--timeout", "500ms", &sql].map(str::to_owned);
        let (code, out, error) = ask(&line, &reports.plain("nested_nvtx"));
        assert_eq!((code, out.as_str()), (1, ""));
        assert_eq!(error.matches("error: stopped: it ran longer than 0.5 s").count(), 1, "{error}");
        assert!(error.contains("--timeout"), "{error}");
    }
    let report = reports.changed(
        "nested_nvtx",
        &format!(
            "ALTER TABLE {KERNELS} RENAME TO k; CREATE VIEW {KERNELS} AS SELECT * FROM k WHERE NOT {}",
            ENDLESS[0]
        ),
    );
    let (before, out) = (reports.names(), reports.folder.path().join("out.csv"));
    let out = out.to_str().unwrap();
    for more in [&["--output", out][..], &["--threads", "1"], &["R", "--output", out]] {
        let line = ["run", "R", "--timeout", "500ms", "--query", "top_kernels"].iter().chain(more);
        let line: Vec<String> = line.map(|word| word.to_string()).collect();
        let (code, _, error) = ask(&line, &report);
        assert!(code == 1 && error.contains("it ran longer than 0.5 s"), "{line:?}: {code} {error}");
        assert_eq!(reports.names(), before);
    }
    // Tables that are read before the timeout is set.
    for (table, column) in [("ANALYSIS_DETAILS", "duration"), ("META_DATA_EXPORT", "value")] {
        let script = format!(
            "DROP TABLE IF EXISTS {table}; CREATE VIEW {table} AS SELECT {} AS {column}, 1 AS name",
            ENDLESS[0]
        );
        let line = ["run", "R", "--timeout", "500ms", "--query", "gpu_time"].map(str::to_owned);
        assert_eq!(ask(&line, &reports.changed("nested_nvtx", &script)).0, 0, "{table}");
    }
}

/// The first Ctrl-C also ends a statement that does not react to it.
#[cfg(unix)]
#[test]
fn an_endless_function_is_interrupted() {
    use rustix::process::{Pid, Signal, kill_process};
    let reports = Reports::new();
    let (report, out) = (reports.plain("nested_nvtx"), reports.folder.path().join("out.csv"));
    let mut child = interruptible()
        .args(["sql", report.to_str().unwrap(), "--output", out.to_str().unwrap()])
        .arg(format!("SELECT {}", ENDLESS[0]))
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Once the temporary output exists, the handler for Ctrl-C is installed.
    let begin = std::time::Instant::now();
    while reports.names().len() == 1 && begin.elapsed() < std::time::Duration::from_secs(60) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let begin = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > std::time::Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it did not stop");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "error: interrupted\n");
    assert_eq!(reports.names(), ["report.sqlite"]);
}

/// A timeout ends nsq even if standard output and standard error are a full pipe that nobody reads.
#[cfg(unix)]
#[test]
fn a_timeout_ends_a_run_whose_pipe_is_full() {
    let reports = Reports::new();
    let (unread, full) = std::io::pipe().unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) \
               SELECT i, 'as good as any' AS text FROM n";
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_nsq"))
        .args(["sql", reports.plain("nested_nvtx").to_str().unwrap(), sql])
        .args(["--format", "csv", "--timeout", "500ms"])
        .stdout(full.try_clone().unwrap())
        .stderr(full)
        .spawn()
        .unwrap();
    let begin = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > std::time::Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it did not stop");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    drop(unread);
}

#[test]
fn oversized_cells_are_rejected() {
    let reports = Reports::new();
    let report = reports.plain("nested_nvtx");
    let sql = |sql: &str| ask(&["sql", "R", "--format", "csv", sql].map(str::to_owned), &report);
    for (cell, reason) in [
        ("zeroblob(70000000)", "a cell holds 66 MiB"),
        ("hex(zeroblob(35000000))", "a cell holds 66 MiB"),
        ("'a' GLOB hex(zeroblob(60000))", "a LIKE or GLOB pattern"),
        ("length(zeroblob(300000000))", "exceeds 256 MiB"),
    ] {
        let (code, _, error) = sql(&format!("SELECT {cell}"));
        assert!(code == 1 && error.contains(reason) && error.contains("help: "), "{cell}: {error}");
    }
    let part = "SELECT substr(hex(zeroblob(35000000)), 1, 3) AS a, x'00ff10ab' AS b, x'' AS c";
    assert_eq!(sql(part).1, "a,b,c\n000,00ff10ab,\n");
}

#[test]
fn errors_of_sqlite_come_with_help() {
    let reports = Reports::new();
    let report = reports.plain("nested_nvtx");
    for (sql, reason, help) in [
        (format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000)), "", "several statements"),
        (format!("SELECT 1{}", " + 1".repeat(5_000)), "Expression tree", "several statements"),
        (format!("SELECT 1{}", " UNION SELECT 1".repeat(1_000)), "too many terms", "several statements"),
        ("SELECT FTS3_tokenizer('simple')".to_owned(), "", "fts3_tokenizer() does more"),
        ("SELECT load_extension('x')".to_owned(), "", "load_extension() does more"),
        ("ATTACH 'x' AS x".to_owned(), "", "reports are read-only"),
    ] {
        let line = ["sql", "R", &sql].map(str::to_owned);
        let (code, _, error) = ask(&line, &report);
        let error = error.to_lowercase();
        let is_explained = error.contains(&reason.to_lowercase()) && error.contains(help);
        assert!(matches!(code, 1 | 2) && is_explained, "{}: {error}", &sql[..30.min(sql.len())]);
    }
    assert_rejected(
        &format!(
            "ALTER TABLE {KERNELS} RENAME TO k;
             CREATE VIEW {KERNELS} AS SELECT * FROM k WHERE fts3_tokenizer('simple') IS NOT NULL"
        ),
        "top_kernels",
        "fts3_tokenizer",
    );
}

/// SQL and the native relations both open a report whose file name is not UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn a_report_whose_name_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let reports = Reports::new();
    let report = reports.plain("nested_nvtx");
    let odd = reports.folder.path().join(std::ffi::OsStr::from_bytes(b"odd\xff%.sqlite"));
    fs::copy(&report, &odd).unwrap();
    let answer = |report: &Path, query: &str| {
        let mut command = crate::support::nsq();
        command.arg("run").arg(report).args(["--format", "csv", "--query", query]);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text.replace("odd\u{fffd}%.sqlite", "report.sqlite"))
    };
    // What is asked says nothing about the name.
    for query in queries().iter().filter(|query| *query != "report_info").step_by(8) {
        assert_eq!(answer(&odd, query), answer(&report, query), "{query}");
    }
}

#[test]
fn unusual_schemas() {
    assert_harmless(
        "nested_nvtx",
        &format!(
            "CREATE TRIGGER t AFTER INSERT ON {KERNELS} BEGIN DELETE FROM {KERNELS}; END;
             CREATE TABLE \"kernel\" (start, end); CREATE TABLE src_cuda_kernel (row_id, start);
             CREATE TABLE scope (start_ns); CREATE VIEW all_kernel AS SELECT 1 AS kernel_id;
             CREATE TABLE \"a \"\" ; -- [b] \u{1b}[2J\" (\"c \"\" d\", \"<script>alert(1)</script>\");
             CREATE VIRTUAL TABLE full_text USING fts5(x);
             CREATE INDEX lies ON {KERNELS} (start) WHERE start < 0"
        ),
    );
    // Generated columns.
    assert_harmless(
        "nested_nvtx",
        &format!(
            "ALTER TABLE {KERNELS} RENAME COLUMN end TO ended;
             ALTER TABLE {KERNELS} ADD COLUMN end AS (ended) VIRTUAL;
             ALTER TABLE {KERNELS} ADD COLUMN extra AS (abs(ended)) VIRTUAL"
        ),
    );
    // A generated column that fails.
    assert_rejected(
        &format!(
            "ALTER TABLE {KERNELS} RENAME COLUMN end TO ended;
             ALTER TABLE {KERNELS} ADD COLUMN end AS (abs(-9223372036854775807 - min(ended, 1))) VIRTUAL"
        ),
        "top_kernels",
        "sum exceeds 64 bits",
    );
    // Thousands of tables.
    let many: String = (0..3_000).map(|n| format!("CREATE TABLE t{n} (a, b, c);")).collect();
    assert_answered(&many);
    // A table without row numbers.
    assert_rejected(
        "CREATE TABLE n (a INTEGER PRIMARY KEY, start INT, end INT, eventType INT, text TEXT, globalTid INT) WITHOUT ROWID;
         INSERT INTO n SELECT rowid, start, end, eventType, text, globalTid FROM NVTX_EVENTS;
         DROP TABLE NVTX_EVENTS; ALTER TABLE n RENAME TO NVTX_EVENTS",
        "nvtx_tree",
        "without row numbers",
    );
}

#[test]
fn a_table_without_its_time_column_counts_as_missing() {
    let reports = Reports::new();
    let report =
        reports.changed("nested_nvtx", &format!("ALTER TABLE {KERNELS} RENAME COLUMN end TO stop"));
    let (code, _, error) = run(&report, "top_kernels");
    assert!(
        code == 3
            && error
                .contains(&format!("table {KERNELS} has no column end, which all nsys versions write")),
        "{error}"
    );
    ask_all(&reports, &report);
}

#[test]
fn files_that_falsely_claim_to_be_materialized() {
    assert_handled(
        "CREATE TABLE nsq_materialized (name, value); INSERT INTO nsq_materialized VALUES ('NSQ_SCOPE_START_NS', 'x')",
    );
    assert_handled(
        "CREATE TABLE nsq_materialized (a);
         CREATE VIEW kernel AS SELECT 'a' AS kernel_id, 'b' AS start_ns, x'00' AS dur_ns, 7 AS kernel_name",
    );
}

/// Runs all commands on the changed report. They may fail, but must not crash.
fn assert_handled(script: &str) {
    let reports = Reports::new();
    let report = reports.changed("nested_nvtx", script);
    ask_all(&reports, &report);
}

#[test]
fn cells_of_the_wrong_type() {
    // Text in place of a number is an error where it is printed.
    assert_rejected(
        &format!("UPDATE {KERNELS} SET registersPerThread = 'many' WHERE rowid = 2"),
        "cuda_gpu_trace",
        "holds text where a number belongs: registers_per_thread is \"many\"",
    );
    // An invalid time is an error wherever it is used, in SQL and in native relations.
    let reports = Reports::new();
    for value in ["'soon'", "x'00'", "9e999", "0.5"] {
        let script = format!("UPDATE {KERNELS} SET end = {value} WHERE rowid = 2");
        let report = reports.changed("nested_nvtx", &script);
        for query in ["top_kernels", "gpu_time", "nvtx_kern_sum", "cuda_gpu_kern_sum", "class_sum"] {
            let (code, _, error) = run(&report, query);
            let reason = "holds a time that is not an integer";
            assert!(code == 1 && error.contains(reason), "{query} where the end is {value}: {error}");
        }
    }
    assert_rejected(
        &format!("UPDATE {KERNELS} SET registersPerThread = x'0102' WHERE rowid = 2"),
        "cuda_gpu_trace",
        "holds text where a number belongs",
    );
    // NULL in every nullable cell.
    let reports = Reports::new();
    let report = reports.plain("nested_nvtx");
    let connection = Connection::open(&report).unwrap();
    let mut cells = connection
        .prepare(
            "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
             WHERE m.type = 'table' AND NOT c.pk AND NOT c.\"notnull\"",
        )
        .unwrap();
    let cells: Vec<(String, String)> =
        cells.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    for (table, column) in &cells {
        connection.execute_batch(&format!("UPDATE \"{table}\" SET \"{column}\" = NULL")).unwrap();
    }
    assert!(cells.len() > 50);
    assert_all_answered(&ask_all(&reports, &report), "every cell is null");
}

/// The times of a large report are checked beside the first statement.
#[test]
fn a_large_report_prints_nothing_before_its_times_are_checked() {
    let reports = Reports::new();
    let script = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60000)
         INSERT INTO {KERNELS} SELECT k.* FROM {KERNELS} AS k JOIN n WHERE k.rowid <= 4;
         UPDATE {KERNELS} SET end = 0.5 WHERE rowid = (SELECT max(rowid) FROM {KERNELS})"
    );
    let report = reports.changed("nested_nvtx", &script);
    assert!(fs::metadata(&report).unwrap().len() > 16 << 20);
    let path = report.to_str().unwrap();
    for words in [
        vec!["sql", path, "SELECT start_ns FROM kernel", "--format", "csv"],
        vec!["run", path, "--query", "top_kernels", "--format", "csv"],
        vec!["run", path, "--query", "gpu_time", "--format", "json"],
        vec![path],
    ] {
        let (code, output, error) = outcome(&words);
        let is_told = error.contains("holds a time that is not an integer");
        assert!(code == 1 && output.is_empty() && is_told, "{words:?}: {code} {output} {error}");
    }
}

#[test]
fn reversed_and_negative_times() {
    let swapped = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = end, end = start;
                   UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = end, end = start;
                   UPDATE NVTX_EVENTS SET start = end, end = start WHERE end IS NOT NULL;";
    assert_answered(swapped);
    let negative = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - 1000000, end = end - 1000000;
                    UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = -start, end = -end;
                    UPDATE NVTX_EVENTS SET start = -end, end = -start WHERE end IS NOT NULL;";
    assert_answered(negative);
}

#[test]
fn times_at_the_limits_of_64_bits() {
    let step = 6 / depth_of(6).min(6);
    let times = [
        (i64::MIN, i64::MAX),
        (i64::MAX, i64::MAX),
        (i64::MIN, i64::MIN),
        (0, i64::MAX),
        (i64::MIN, 0),
        (-(1 << 62), 1 << 62),
    ];
    for (nth, (start, end)) in times.into_iter().enumerate() {
        let reports = Reports::new();
        let script = format!(
            "UPDATE {KERNELS} SET start = {start}, end = {end};
             UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = {start}, end = {end};
             UPDATE NVTX_EVENTS SET start = {start}, end = {end}"
        );
        let report = reports.changed("nested_nvtx", &script);
        // Each query with some of the times in a session of its own: a failure of one would hide those after it.
        let opened = nsq::open(&report).unwrap();
        for query in queries().into_iter().skip((nth + turn()) % step).step_by(step) {
            let error = opened.query(&query).run().err().map(|error| error.to_string());
            let reasons = ["64 bits", "century", "makes no sense", "make no sense", "is missing"];
            let is_reason = |error: &String| reasons.iter().any(|reason| error.contains(reason));
            assert!(error.as_ref().is_none_or(is_reason), "{query}: {error:?}");
        }
        ask_all(&reports, &report);
    }
}

#[test]
fn cyclic_copies_of_graph_nodes() {
    let reports = Reports::new();
    let report = reports.changed(
        "nvtx_projection",
        "DROP TABLE IF EXISTS CUDA_GRAPH_NODE_EVENTS;
         CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start, end, nameId, eventClass, globalTid, graphNodeId, originalGraphNodeId);
         INSERT INTO CUDA_GRAPH_NODE_EVENTS
         SELECT start, end, 1, 1, globalTid, value, 1 + value % 7 FROM CUPTI_ACTIVITY_KIND_RUNTIME, json_each('[1,2,3,4,5,6,7]');
         UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 1 + rowid % 7",
    );
    let line = ["run", "R", "--query", "nvtx_tree", "--attribute", "capture"].map(str::to_owned);
    assert_eq!(ask(&line, &report).0, 0);
    ask_all(&reports, &report);
}

#[test]
fn a_hundred_thousand_kernels_each_on_its_own_stream() {
    let reports = Reports::new();
    let report = reports.changed(
        "nested_nvtx",
        &format!(
            "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100000)
             INSERT INTO {KERNELS} SELECT k.* FROM n, (SELECT * FROM {KERNELS} LIMIT 1) AS k;
             UPDATE {KERNELS} SET start = 5000 + rowid, end = 900000 - rowid, streamId = rowid,
               deviceId = rowid % 3, contextId = rowid % 7, correlationId = rowid,
               globalPid = globalPid + rowid % 1000 * 16777216"
        ),
    );
    for query in ["gpu_time", "stream_concurrency", "gpu_overlap", "comm_overlap", "nvtx_coverage"] {
        let (code, _, error) = run(&report, query);
        assert!(
            code == 0 || error.contains("it ran longer than") || code == 2,
            "{query}: {code} {error}"
        );
    }
}

#[test]
fn huge_names_and_names_with_control_characters_or_markup() {
    let reports = Reports::new();
    let name = "replace(hex(zeroblob(2500000)), '00', 'name')";
    let report = reports.changed(
        "nested_nvtx",
        &format!(
            "UPDATE StringIds SET value = {name} WHERE id = (SELECT shortName FROM {KERNELS} LIMIT 1);
             UPDATE StringIds SET value = {name} WHERE id = (SELECT demangledName FROM {KERNELS} LIMIT 1);
             UPDATE NVTX_EVENTS SET text = {name}, textId = NULL WHERE rowid = 4"
        ),
    );
    let (code, out, error) = run(&report, "top_kernels");
    assert!(code == 0 && out.len() > 10_000_000, "{error}");
    assert_eq!(run(&report, "nvtx_tree").0, 0);
    for name in [
        "'a' || char(27) || ']0;owned' || char(7) || char(27) || '[2J' || char(13, 10, 9, 8238, 0, 155) || 'b'",
        "CAST(x'41fffe80c328eda08042' AS TEXT)",
        "'<script>alert(1)</script><img src=x onerror=alert(2)>\"''&amp;{{7*7}}'",
        "'| a | `b` | [c](javascript:alert(1)) ![d](x) <!-- | \\| ``` ~~~ # h'",
        "'=HYPERLINK(\"http://example.org\",\"x\")'",
        "'{{ report }} {% for x in y %}'",
        "''",
        "'forward' || char(0) || 'hidden'",
    ] {
        let report = reports.changed(
            "nested_nvtx",
            &format!(
                "UPDATE StringIds SET value = {name};
                 UPDATE NVTX_EVENTS SET text = {name} WHERE textId IS NULL;
                 UPDATE PROCESSES SET name = {name}; UPDATE TARGET_INFO_GPU SET name = {name};
                 UPDATE META_DATA_EXPORT SET value = {name}"
            ),
        );
        ask_all(&reports, &report);
    }
}

/// CSV and TSV keep names unchanged, with a note about spreadsheets. `--spreadsheet` escapes formulas.
#[test]
fn names_that_are_spreadsheet_formulas() {
    let reports = Reports::new();
    let report =
        reports.changed("nested_nvtx", "UPDATE StringIds SET value = '=HYPERLINK(\"http://x\")'");
    let ask_for = |more: &[&str]| {
        let line =
            ["run", "R", "--query", "top_kernels"].iter().chain(more).map(|word| word.to_string());
        ask(&line.collect::<Vec<String>>(), &report)
    };
    for format in ["csv", "tsv"] {
        let (_, out, error) = ask_for(&["--format", format]);
        assert!(out.contains("\"=HYPERLINK(") && error.contains("--spreadsheet"), "{out}{error}");
        let (_, out, error) = ask_for(&["--format", format, "--spreadsheet"]);
        assert!(out.contains("\"'=HYPERLINK(") && error.is_empty(), "{out}{error}");
    }
    assert_eq!(ask_for(&["--format", "json"]).2, "");
    assert_eq!(ask_for(&[]).2, "");
}

/// A truncated database is rejected at every length, even if its header has a stale page count.
#[test]
fn truncation_at_every_length() {
    use nsq::report::{ExportOptions, Report};
    use nsq::schema::Schema;
    let reports = Reports::new();
    let report = reports.plain("graph_level");
    let whole = fs::read(&report).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&report).unwrap();
    for length in (1..whole.len()).rev() {
        file.set_len(length as u64).unwrap();
        let opened = Report::open(&report, &ExportOptions::default());
        let refusal = opened.and_then(|report| Schema::detect(&report)).unwrap_err();
        assert!(refusal.help().is_some(), "{length}: {refusal}");
    }
    // With a stale page count, SQLite goes by the file's length, and finds missing pages only when it
    // reads them.
    let mut stale = whole.clone();
    stale[27] = stale[27].wrapping_add(1);
    let page = usize::from(u16::from_be_bytes([whole[16], whole[17]]));
    for pages in 1..whole.len() / page {
        for length in [pages * page - 1, pages * page, pages * page + 1] {
            fs::write(&report, &stale[..length]).unwrap();
            let (code, _, error) = run(&report, "gpu_time");
            let has_reason = error.contains("error: ") && error.contains("help: ");
            assert!(matches!(code, 0 | 1 | 3) && has_reason == (code != 0), "{length}: {error}");
        }
    }
}

#[test]
fn a_gzip_bomb_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.json.gz");
    let mut bomb = GzEncoder::new(fs::File::create(&path).unwrap(), Compression::best());
    bomb.write_all(b"{\"traceEvents\": [").unwrap();
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..300 {
        bomb.write_all(&blanks).unwrap();
    }
    bomb.finish().unwrap();
    let (code, _, error) =
        outcome(&["run", "--no-cache", path.to_str().unwrap(), "--query", "top_kernels"]);
    assert!(code == 1 && error.contains("unpacks to more than 200 times its size"), "{error}");
    assert!(error.contains("unpack it first"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn links_are_followed_and_link_loops_are_rejected() {
    #[cfg(unix)]
    {
        let reports = Reports::new();
        let report = reports.plain("nested_nvtx");
        let link = reports.folder.path().join("link.sqlite");
        std::os::unix::fs::symlink(&report, &link).unwrap();
        assert_eq!(run(&report, "top_kernels"), run(&link, "top_kernels"));
        let circle = reports.folder.path().join("circle.sqlite");
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        let (code, _, error) = run(&circle, "top_kernels");
        assert!(code == 1 && error.contains("circle.sqlite"), "{error}");
        let dangling = reports.folder.path().join("dangling.sqlite");
        std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
        let (code, _, error) = run(&dangling, "top_kernels");
        assert!(code == 1 && error.contains("no such file"), "{error}");
    }
}
