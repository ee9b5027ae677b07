//! Where findings are: the range path, thread and step of their intervals, and how a finding was computed.

use crate::support::{Fixtures, NEWEST_COMMON, outcome, project, shared, stdout, traces};
use std::collections::BTreeMap;
use std::path::Path;

/// The rows of a query in JSON.
fn rows(arguments: &[&str]) -> Vec<serde_json::Value> {
    let json: serde_json::Value = serde_json::from_str(&stdout(arguments)).unwrap();
    let table = if json.is_array() { &json[0] } else { &json };
    table["rows"].as_array().unwrap().clone()
}

/// Reports that have findings.
fn reports() -> Vec<String> {
    let mut reports = vec![project("fixtures/example.sqlite").to_str().unwrap().to_owned()];
    if let Some(shared) = shared() {
        let names = ["exports/a100_opt_nvtx_2026.3.sqlite", "torch/hta_nccl.json.gz"];
        reports.extend(names.map(|name| shared.join("data").join(name).to_str().unwrap().to_owned()));
    }
    reports
}

/// `op_at` against a statement that says the same, and its thread against `launch`, at the start and end of every operation, and beside them.
#[test]
fn the_operation_at_a_time_is_the_last_that_runs_or_the_next() {
    const STATEMENT: &str = "
        WITH asked AS (
          SELECT gpu_id, start_ns + value AS at_ns
          FROM gpu_overlap CROSS JOIN json_each('[-1, 0, 1]')
          UNION SELECT gpu_id, end_ns + value FROM gpu_overlap CROSS JOIN json_each('[-1, 0, 1]')
        ),
        said AS (
          SELECT
            asked.*,
            (SELECT max(json_array(start_ns, end_ns)) FROM gpu_overlap AS op
              WHERE op.gpu_id = asked.gpu_id AND op.start_ns <= at_ns
                AND (op.start_ns, op.end_ns) = (
                  SELECT start_ns, end_ns FROM gpu_overlap AS last
                  WHERE last.gpu_id = asked.gpu_id AND last.start_ns <= asked.at_ns
                  ORDER BY start_ns DESC, end_ns DESC LIMIT 1)
                AND op.end_ns > at_ns) AS running,
            (SELECT json_array(start_ns, end_ns) FROM gpu_overlap AS op
              WHERE op.gpu_id = asked.gpu_id AND op.start_ns > at_ns
              ORDER BY start_ns, end_ns LIMIT 1) AS next
          FROM asked
        )
        SELECT
          count(*) AS asked,
          count(op_at.op_id) AS found,
          sum(
            json_array(op_at.start_ns, op_at.end_ns) IS coalesce(running, next, json_array(NULL, NULL))
            AND (op_at.op_kind = 'graph' OR op_at.tid IS
              (SELECT tid FROM launch WHERE launch.op_kind = op_at.op_kind AND launch.op_id = op_at.op_id))
          ) AS same
        FROM said
        LEFT JOIN op_at ON op_at.gpu_id = said.gpu_id AND op_at.at_ns = said.at_ns";
    let fixtures = Fixtures::new();
    let mut found = 0;
    for trace in traces() {
        let report = fixtures.trace(&trace);
        let (code, output, error) =
            outcome(&["sql", report.to_str().unwrap(), STATEMENT, "--format", "csv", "--rows", "0"]);
        if code == 3 {
            continue;
        }
        assert_eq!(code, 0, "{trace}: {error}");
        let figures: Vec<u64> = output
            .lines()
            .nth(1)
            .unwrap()
            .split(',')
            .map(|cell| cell.parse().unwrap_or_default())
            .collect();
        assert_eq!(figures[0], figures[2], "{trace}: {output}");
        found += figures[1];
    }
    assert!(found > 1000, "{found}");
}

/// The places of a finding have all of its time, largest first, and the range that holds half of it is what its rows say.
#[test]
fn places_add_up_to_the_finding() {
    for report in reports() {
        let findings = rows(&["run", &report, "-q", "findings", "-f", "json"]);
        let fixes: Vec<&str> = findings
            .iter()
            .filter(|row| row["verdict"] == "yes")
            .map(|row| row["finding"].as_str().unwrap())
            .collect();
        assert!(!fixes.is_empty(), "{report}");
        let places = rows(&["run", &report, "-q", "finding_places", "-f", "json", "--rows", "0"]);
        let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
        let mut last = (0, i64::MAX);
        for place in &places {
            let (rank, ns) = (place["rank"].as_i64().unwrap(), place["total_ns"].as_i64().unwrap());
            assert!(rank > last.0 || rank == last.0 && ns <= last.1, "{report}: {place}");
            last = (rank, ns);
            let sum = sums.entry(place["finding"].as_str().unwrap()).or_default();
            *sum = (sum.0 + ns, sum.1 + place["interval_count"].as_i64().unwrap());
        }
        assert_eq!(sums.keys().copied().collect::<Vec<_>>().len(), fixes.len(), "{report}: {sums:?}");
        for finding in fixes {
            let intervals = rows(&["run", &report, "-q", finding, "-f", "json", "--rows", "0"]);
            let length = |row: &serde_json::Value| row["dur_ns"].as_i64().unwrap();
            let said = (intervals.iter().map(length).sum(), intervals.len() as i64);
            assert_eq!(sums[finding], said, "{report}: {finding}");
            let own = || places.iter().filter(|place| place["finding"] == finding);
            let Some(path) = own().find_map(|place| place["main_path"].as_str()) else { continue };
            let below = format!("{path} / ");
            let is_in = |place: &&serde_json::Value| {
                place["range_path"].as_str().is_some_and(|of| of == path || of.starts_with(&below))
            };
            let inside: i64 = own().filter(is_in).map(|place| place["total_ns"].as_i64().unwrap()).sum();
            assert!(2 * inside >= said.0, "{report}: {finding}: {inside} of {} in {path}", said.0);
            let pct = own().next().unwrap()["main_path_pct"].as_f64().unwrap();
            assert!(
                (pct - 100.0 * inside as f64 / said.0 as f64).abs() < 1e-6,
                "{report}: {finding}: {pct}"
            );
        }
    }
}

#[test]
fn a_finding_is_explained_by_its_number() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let first = &rows(&["run", report, "-q", "findings", "-f", "json"])[0];
    let name = first["finding"].as_str().unwrap();
    let text = stdout(&["overview", report, "--explain", "1"]);
    for part in [
        first["claim"].as_str().unwrap(),
        &format!("-q {name} "),
        &format!("nsq show {name} "),
        "1. Its intervals",
        "2. The replay",
        "3. Where its time is",
        &format!("-q finding_places -p finding={name} "),
        first["link"].as_str().unwrap(),
    ] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
    // What it prints can be run as it stands.
    let commands = text.lines().filter_map(|line| line.strip_prefix("  nsq "));
    let commands: Vec<&str> = commands.map(|line| line.split("   ").next().unwrap()).collect();
    assert!(commands.len() >= 4, "{text}");
    for command in commands {
        let (code, _, error) = outcome(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(code, 0, "{command}: {error}");
    }
    // Each counts what the page counts: the steady state.
    let count = first["interval_count"].as_u64().unwrap();
    let all = stdout(&["run", report, "--steady", "-q", name, "-f", "ndjson"]);
    let steady = stdout(&["run", report, "--steady", "-q", "findings", "-f", "ndjson"]);
    let row = steady.lines().find(|row| row.contains(&format!("\"finding\":\"{name}\""))).unwrap();
    let row: serde_json::Value = serde_json::from_str(row).unwrap();
    assert_eq!(row["interval_count"].as_u64().unwrap(), all.lines().count() as u64);
    assert!(count >= all.lines().count() as u64);
    assert!(text.contains(&format!(" --steady -q {name} ")), "{text}");
    // Its name does as well.
    assert_eq!(stdout(&["overview", report, "--explain", name]), text);
    for (wrong, message) in [
        ("host_synk", "unknown finding 'host_synk'"),
        ("999", "there is no finding 999: they are numbered from 1 to "),
        ("0", "expected the number of a finding"),
    ] {
        let (code, out, error) = outcome(&["overview", report, "--explain", wrong]);
        assert!(code == 2 && out.is_empty() && error.contains(message), "{wrong}: {out}{error}");
    }
}

#[test]
fn colours_are_used_when_asked() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let has_escapes = |words: &[&str]| stdout(words).contains('\u{1b}');
    assert!(!has_escapes(&["overview", report]));
    assert!(has_escapes(&["overview", report, "--color", "always"]));
    assert!(has_escapes(&["run", report, "-q", "top_kernels", "--color", "always"]));
    assert!(!has_escapes(&["run", report, "-q", "top_kernels", "--color", "never"]));
    assert!(!has_escapes(&["run", report, "-q", "top_kernels", "-f", "csv", "--color", "always"]));
}

/// Adds an MPI call of thread 15001 in the first gap of both GPUs of the trace `idle_causes`.
fn with_mpi(report: &Path, as_range: bool) {
    let schema =
        std::fs::read_to_string(project(&format!("fixtures/schema/{NEWEST_COMMON}.sql"))).unwrap();
    let table = if as_range { "NVTX_EVENTS" } else { "MPI_OTHER_EVENTS" };
    let create =
        schema.split(";\n").find(|part| part.contains(&format!("CREATE TABLE {table} "))).unwrap();
    let rows = if as_range {
        "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (1, 75, 'MPI', 281726651742873, 7);
         INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)
         VALUES (800, 850, 59, 'MPI_Recv', 281726651742873, 7);"
    } else {
        "INSERT INTO StringIds (id, value) VALUES (99, 'MPI_Recv');
         INSERT INTO MPI_OTHER_EVENTS (start, end, globalTid, textId) VALUES (800, 850, 281726651742873, 99);"
    };
    let connection = rusqlite::Connection::open(report).unwrap();
    connection.execute_batch(&format!("{create};\n{rows}")).unwrap();
}

/// What a thread does in an MPI call is not its own code, however the call was recorded.
#[test]
fn mpi_calls_are_apart_from_host_code() {
    let total = |report: &Path, query: &str, words: &[&str]| -> (i64, Vec<String>) {
        let mut command = vec!["run", report.to_str().unwrap(), "-q", query, "-f", "json"];
        command.extend(words);
        let rows = rows(&command);
        let subjects = rows.iter().map(|row| row["subject"].as_str().unwrap().to_owned()).collect();
        (rows.iter().map(|row| row["dur_ns"].as_i64().unwrap()).sum(), subjects)
    };
    let all = ["-p", "least=0", "-p", "least_gap=0"];
    let before = total(&Fixtures::new().trace("idle_causes"), "host_work", &all).0;
    for as_range in [false, true] {
        let fixtures = Fixtures::new();
        let report = fixtures.trace("idle_causes");
        with_mpi(&report, as_range);
        // On each of the two GPUs, whose gaps both have the call in them.
        let (ns, subjects) = total(&report, "mpi_wait", &["-p", "least=0"]);
        assert_eq!((ns, subjects), (100, vec!["MPI_Recv".to_owned(); 2]), "range: {as_range}");
        assert_eq!(total(&report, "host_work", &all).0, before - 100, "range: {as_range}");
    }
}
