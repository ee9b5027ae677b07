//! Real exports, if they are beside the checkout: every query answers or says what is missing.

use crate::support::{
    depth_of, nsq, outcome, project, queries, shared, shared_exports, sqlite3, stdout, turn,
};
use nsq::Value;
use nsq::catalog::Catalog;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn every_query_answers_every_export_or_says_what_is_missing() {
    let mut tally: BTreeMap<u8, usize> = BTreeMap::new();
    let step = 8 / depth_of(8).min(8);
    for (nth, export) in shared_exports().iter().enumerate() {
        let report = nsq::open(export).unwrap();
        // `catalog` runs every query on each of them, within one session; here each query has its own, on some.
        for query in queries().into_iter().skip((nth + turn()) % step).step_by(step) {
            let code = match report.query(&query).run() {
                Ok(_) => 0,
                Err(error) => {
                    let (code, text) = (error.exit_code(), error.to_string());
                    assert!(code == 3, "{query} on {}: {text}", export.display());
                    assert!(text.contains("is missing") && error.help().is_some(), "{text}");
                    code
                }
            };
            *tally.entry(code).or_default() += 1;
        }
    }
    eprintln!("exit codes: {tally:?}");
}

#[test]
fn nothing_appears_beside_an_export() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.sqlite");
    std::fs::copy(shared.join("data/exports/rtx3080_mock.sqlite"), &copy).unwrap();
    let before = std::fs::read(&copy).unwrap();
    stdout(&["run", copy.to_str().unwrap(), "--query", "launch_latency"]);
    stdout(&["schema", copy.to_str().unwrap()]);
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["copy.sqlite"]);
    assert_eq!(std::fs::read(&copy).unwrap(), before);
}

/// NVIDIA's tool stops on these exports because a helper table is missing, so compare with handwritten
/// SQL.
#[test]
fn exports_that_nvidia_cannot_read_match_handwritten_sql() {
    let Some(shared) = shared() else { return };
    let export = |name: &str| shared.join(format!("data/exports/{name}.sqlite"));
    // No ENUM tables: use NVIDIA's labels for 1, 2 and 8.
    let labels = "CASE copyKind WHEN 1 THEN 'Host-to-Device' WHEN 2 THEN 'Device-to-Host' WHEN 8 THEN 'Device-to-Device' END";
    let copies = format!(
        "SELECT sum(end - start), count(*), min(end - start), max(end - start), '[CUDA memcpy ' || {labels} || ']' AS op
         FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY copyKind"
    );
    for name in ["a100_mpi_2pids", "perlmutter_mpi_saxpy"] {
        let all = match name {
            "a100_mpi_2pids" => format!(
                "{copies} UNION ALL SELECT sum(end - start), count(*), min(end - start), max(end - start), '[CUDA memset]'
                 FROM CUPTI_ACTIVITY_KIND_MEMSET HAVING count(*) > 0 ORDER BY 1 DESC, 5"
            ),
            _ => format!("{copies} ORDER BY 1 DESC, 5"),
        };
        let wanted = ["total_ns", "calls", "min_ns", "max_ns", "op_name"];
        assert_same(&export(name), "cuda_gpu_mem_time_sum", &wanted, &all);
    }
    // No TARGET_INFO_GPU, or no greenContextId: compare the trace itself.
    let trace = "SELECT start, end - start, streamId, correlationId FROM (
           SELECT start, end, streamId, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL
           UNION ALL SELECT start, end, streamId, correlationId FROM CUPTI_ACTIVITY_KIND_MEMCPY
           UNION ALL SELECT start, end, streamId, correlationId FROM CUPTI_ACTIVITY_KIND_MEMSET) ORDER BY 1, 2, 3, 4";
    for name in ["h100_2gpu_1s", "rtx3060_23k"] {
        assert_same(
            &export(name),
            "cuda_gpu_trace",
            &["start_ns", "dur_ns", "stream_id", "correlation_id"],
            trace,
        );
    }
    // A rule on exports without greenContextId: process and correlation id identify the call.
    let blocking = "SELECT c.end - c.start, c.start, c.bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY AS c
         WHERE EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN StringIds AS s ON s.id = r.nameId
                       WHERE r.correlationId = c.correlationId AND (r.globalTid >> 24) = (c.globalPid >> 24)
                         AND s.value GLOB 'cudaMemcpy*' AND NOT s.value GLOB '*Async*')
           AND NOT (c.copyKind = 1 AND c.bytes <= 64000)
           AND (c.srcDeviceId IS NULL OR c.dstDeviceId IS NULL OR c.srcDeviceId <> c.dstDeviceId)
         ORDER BY 2, 1, 3";
    for name in ["rtx3060_23k", "rtx3090x7_rodinia_8190"] {
        assert_same(
            &export(name),
            "cuda_memcpy_sync:rows=-1",
            &["dur_ns", "start_ns", "size_bytes"],
            blocking,
        );
    }
}

/// Asserts that these columns of a query have the same rows as `sql` in the `sqlite3` shell, in any
/// order.
fn assert_same(export: &Path, query: &str, columns: &[&str], sql: &str) {
    let Some(mut shell) = sqlite3() else { return };
    let uri = format!("file:{}?immutable=1", export.display());
    let output = shell.args(["-readonly", "-csv", "-nullvalue", "", &uri, sql]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = |bytes: &[u8], header: bool| -> Vec<csv::StringRecord> {
        let mut reader = csv::ReaderBuilder::new().has_headers(header).from_reader(bytes);
        reader.records().map(Result::unwrap).collect()
    };
    let by_hand: Vec<Vec<String>> =
        rows(&output.stdout, false).iter().map(|row| row.iter().map(str::to_owned).collect()).collect();
    let out = stdout(&["run", export.to_str().unwrap(), "--query", query, "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let header = reader.headers().unwrap().clone();
    let index = |name: &str| {
        header
            .iter()
            .position(|h| h == name)
            .unwrap_or_else(|| panic!("{query}: no {name} in {header:?}"))
    };
    let wanted: Vec<usize> = columns.iter().map(|name| index(name)).collect();
    let ours: Vec<Vec<String>> = rows(out.as_bytes(), true)
        .iter()
        .map(|row| wanted.iter().map(|&i| row[i].to_owned()).collect())
        .collect();
    let sorted = |mut rows: Vec<Vec<String>>| {
        rows.sort();
        rows
    };
    assert!(!by_hand.is_empty(), "{query} on {}: nothing to compare", export.display());
    assert_eq!(sorted(ours), sorted(by_hand), "{query} on {}", export.display());
}

#[test]
fn a_materialized_report_gives_the_same_answers() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut exports: Vec<PathBuf> = shared_exports();
    exports.retain(|path| path.metadata().is_ok_and(|m| m.len() < 2_000_000));
    assert!(!exports.is_empty(), "{}", shared.display());
    let catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
    let step = 8 / depth_of(8).min(8);
    for (nth, export) in exports.into_iter().enumerate() {
        // NVIDIA's reports count second rows of calls, which relations and thus materialized files leave out.
        let repeats = has_second_rows(&export);
        let is_nvidias = |name: &str| catalog.query(name).unwrap().header.nsys.is_some();
        // Some answers name the report.
        let plain = folder.path().join(export.file_name().unwrap());
        nsq().arg("materialize").arg(&export).arg("--force").arg("-o").arg(&plain).assert().success();
        let (plain, export) = (nsq::open(&plain).unwrap(), nsq::open(&export).unwrap());
        // Each query on some of them, and on all at full depth.
        let asked = queries().into_iter().filter(|query| query != "report_info");
        for query in &asked.skip((nth + turn()) % step).step_by(step).collect::<Vec<String>>() {
            if repeats && is_nvidias(query) {
                continue;
            }
            let ask = |report: &nsq::Report| match report.query(query).run() {
                Ok(table) => {
                    // What to record follows from the raw tables, which a materialized file lacks.
                    let is_compared = |name: &str| query != "findings" || FOUND.contains(&name);
                    let columns = table.columns().iter().map(|column| is_compared(&column.name));
                    let columns: Vec<bool> = columns.collect();
                    let row = |row: &Vec<Value>| {
                        let compared = row.iter().zip(&columns).filter(|(_, is_compared)| **is_compared);
                        compared.map(|(value, _)| value.clone()).collect()
                    };
                    Ok(table.rows().iter().map(row).collect::<Vec<Vec<Value>>>())
                }
                Err(error) => Err(error.exit_code()),
            };
            assert_eq!(ask(&plain), ask(&export), "{query} on {}", export.name());
        }
    }
}

fn has_second_rows(export: &Path) -> bool {
    let connection = rusqlite::Connection::open(export).unwrap();
    let sql = "SELECT EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 67)";
    // An export without calls has no such table.
    connection.query_row(sql, [], |row| row.get(0)).unwrap_or(false)
}

/// The columns of `findings` that do not say what to record.
const FOUND: [&str; 5] = ["rank", "verdict", "finding", "adds_ns", "ceiling_ns"];

/// Every operation is in one row of `nvtx_coverage`, and the rows add up to the totals of the tables.
#[test]
fn coverage_adds_up_on_every_export() {
    let tables = [
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    ];
    for export in shared_exports() {
        let path = export.to_str().unwrap();
        let connection =
            rusqlite::Connection::open_with_flags(&export, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
                .unwrap();
        let (mut count, mut time) = (0i64, 0i64);
        for table in tables {
            let sql = format!("SELECT count(*), coalesce(sum(end - start), 0) FROM {table}");
            let Ok((rows, ns)) =
                connection.query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
            else {
                continue;
            };
            (count, time) = (count + rows, time + ns);
        }
        for attribute in ["thread", "process", "capture"] {
            let (code, rows, error) = outcome(&[
                "run",
                path,
                "--query",
                "nvtx_coverage",
                "--attribute",
                attribute,
                "--format",
                "csv",
                "--no-header",
            ]);
            if code == 3 {
                assert_eq!(count, 0, "{path}: {error}");
                continue;
            }
            let cells: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
            // `reason` may contain a comma, so find the columns relative to op_kind.
            let sums = |offset: usize| -> i64 {
                let kinds = ["kernel", "memcpy", "memset", "graph"];
                let at =
                    |row: &[&str]| row.iter().position(|cell| kinds.contains(cell)).unwrap() + offset;
                cells.iter().map(|row| row[at(row)].parse::<i64>().unwrap()).sum()
            };
            assert_eq!((sums(1), sums(2)), (count, time), "{path} by {attribute}");
        }
    }
}

/// Two captures that other tools get wrong.
#[test]
fn work_without_a_launch_and_graph_level_work_have_their_own_buckets() {
    let Some(shared) = shared() else { return };
    let export =
        |name: &str| shared.join(format!("data/exports/{name}.sqlite")).to_str().unwrap().to_owned();
    let ask = |export: &str, sql: &str| stdout(&["sql", export, sql, "--format", "csv", "--no-header"]);
    let before = export("h100_mfu_2gpu_before");
    let nccl = "SELECT unattributed IS NULL, count(*), sum(dur_ns) FROM nvtx_op \
                WHERE op_kind = 'kernel' AND op_id IN (SELECT kernel_id FROM kernel WHERE short_name GLOB '*nccl*') \
                GROUP BY call_id IS NULL ORDER BY 1 DESC";
    assert_eq!(ask(&before, nccl).trim_end(), "1,64,25179513\n0,2,222239");
    let lost = "SELECT count(*), sum(dur_ns) FROM nvtx_op WHERE op_kind = 'kernel' AND unattributed = 'no API row'";
    assert_eq!(ask(&before, lost).trim_end(), "24,18511301");
    let graphs = "SELECT op_kind, count(*), sum(dur_ns) FROM nvtx_op WHERE unattributed = 'graph-level trace' GROUP BY 1";
    assert_eq!(ask(&export("a100_cudagraph_graphtrace"), graphs).trim_end(), "graph,10,7811141695");
}

/// Compares `--nvtx` with a nested loop over the raw rows.
#[test]
fn a_range_scope_keeps_the_kernels_launched_in_the_ranges() {
    let Some(shared) = shared() else { return };
    for (name, range) in
        [("a100_opt_nvtx_2026.3", "forward pass"), ("a100_gpt2.7b_nvtx", "computing softmax")]
    {
        let export = shared.join(format!("data/exports/{name}.sqlite"));
        let connection =
            rusqlite::Connection::open_with_flags(&export, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
                .unwrap();
        let sql =
            "SELECT count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k WHERE EXISTS (
                     SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME AS c JOIN NVTX_EVENTS AS r
                       ON r.globalTid = c.globalTid AND r.start <= c.start AND r.end >= c.end
                     WHERE c.correlationId = k.correlationId AND c.globalTid & -16777216 = k.globalPid
                       AND r.eventType = 59
                       AND coalesce(r.text, (SELECT value FROM StringIds WHERE id = r.textId)) = ?1)";
        let wanted: (i64, i64) =
            connection.query_row(sql, [range], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let export = export.to_str().unwrap();
        let sum = "SELECT count(*), sum(dur_ns) FROM kernel";
        let ours = |options: &[&str]| {
            let mut all = vec!["sql", export, sum, "--format", "csv", "--no-header"];
            all.extend(options);
            let line = stdout(&all);
            let (count, ns) = line.trim_end().split_once(',').unwrap();
            (count.parse::<i64>().unwrap(), ns.parse::<i64>().unwrap())
        };
        let (all, inside, outside) = (ours(&[]), ours(&["--nvtx", range]), ours(&["--exclude", range]));
        assert!(wanted.0 > 0);
        assert_eq!(inside, wanted, "{name}");
        assert_eq!((inside.0 + outside.0, inside.1 + outside.1), all, "{name}");
    }
}

/// The causes of idle time, which nsq computes natively, against a statement that computes them in SQL.
#[test]
fn causes_of_idle_time_are_those_of_a_statement_in_plain_sql() {
    let oracle = project("tests/suite/oracle/idle_cause_sum.sql");
    for export in shared_exports() {
        let ask = |query: &str| csv_of(&["run", export.to_str().unwrap(), "--query", query]);
        let want = ask(oracle.to_str().unwrap());
        assert_eq!(ask("gpu_idle_cause_sum"), want, "{}", export.display());
    }
}

/// The exposed parts, which nsq computes natively, against a statement that sweeps them in SQL.
#[test]
fn exposed_parts_are_those_of_a_statement_in_plain_sql() {
    let oracle = project("tests/suite/oracle/exposed_part.sql");
    let own = "SELECT gpu_id, activity, op_kind, op_id, start_ns, end_ns FROM exposed_part
               ORDER BY gpu_id, activity, start_ns, op_kind, op_id";
    let mut parts = 0;
    for export in shared_exports() {
        let export = export.to_str().unwrap();
        for scope in [&[][..], &["--time", "10%/60%"], &["--device", "0"]] {
            let (code, want) =
                csv_of(&[&["run", export, "--query", oracle.to_str().unwrap()], scope].concat());
            if code != 0 {
                continue;
            }
            let (_, rows) = csv_of(&[&["sql", export, own], scope].concat());
            parts += rows.lines().count() - 1;
            assert_eq!(rows, want, "{export} {scope:?}");
        }
    }
    assert!(parts > 1_000 || shared_exports().is_empty(), "{parts} parts");
}

/// The exit code and the rows of a command.
fn csv_of(arguments: &[&str]) -> (i32, String) {
    let (code, out, _) = outcome(&[arguments, &["--format", "csv"]].concat());
    (code, out)
}
