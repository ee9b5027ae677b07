//! What the host did in the longest gaps of real captures, worked out segment by segment from the raw tables.

use crate::support::{project, shared, stdout};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;

type Interval = (i64, i64);

/// What the raw tables say of one capture with context switches.
struct Capture {
    connection: Connection,
    report: String,
}

impl Capture {
    fn open(name: &str) -> Option<Self> {
        let path = shared()?.join(format!("data/exports/{name}.sqlite"));
        let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        Some(Self { connection, report: path.to_str().unwrap().to_owned() })
    }

    /// Rows of two numbers; none if the export lacks the table.
    fn pairs(&self, sql: &str) -> Vec<Interval> {
        let Ok(mut statement) = self.connection.prepare(sql) else { return Vec::new() };
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// All operations on the GPU, by start.
    fn operations(&self) -> Vec<Interval> {
        let mut operations = Vec::new();
        for table in ["KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"] {
            operations
                .extend(self.pairs(&format!("SELECT start, end FROM CUPTI_ACTIVITY_KIND_{table}")));
        }
        operations.sort_unstable();
        operations
    }

    /// The gaps between operations, the longest first.
    fn gaps(&self) -> Vec<Interval> {
        let (mut gaps, mut reach) = (Vec::new(), i64::MAX);
        for (start, end) in self.operations() {
            if start > reach {
                gaps.push((reach, start));
            }
            reach = if reach == i64::MAX { end } else { reach.max(end) };
        }
        gaps.sort_by_key(|(start, end)| (start - end, *start));
        gaps
    }

    /// The call that launched the operation at a time, and its thread.
    fn launch(&self, at: i64) -> Option<(Interval, i64)> {
        let sql = |table: &str| {
            format!(
                "SELECT r.start, r.end, r.globalTid FROM CUPTI_ACTIVITY_KIND_{table} AS o
                 JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
                   ON r.correlationId = o.correlationId AND r.globalTid >> 24 = o.globalPid >> 24
                 WHERE o.start = {at} ORDER BY r.start LIMIT 1"
            )
        };
        let row = |row: &rusqlite::Row<'_>| Ok(((row.get(0)?, row.get(1)?), row.get(2)?));
        ["KERNEL", "MEMCPY", "MEMSET"]
            .iter()
            .find_map(|table| self.connection.query_row(&sql(table), [], row).ok())
    }

    /// The switches of a thread: time, CPU and whether it got the CPU.
    fn switches(&self, thread: i64) -> Vec<(i64, i64, bool)> {
        let sql =
            "SELECT start, cpu, isSchedIn FROM SCHED_EVENTS WHERE globalTid = ?1 ORDER BY start, rowid";
        let mut statement = self.connection.prepare(sql).unwrap();
        let rows = statement.query_map([thread], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }
}

/// The state of a thread between two switches, and the CPU that it has or left.
fn state(switches: &[(i64, i64, bool)], at: i64) -> (&'static str, Option<i64>) {
    let after = switches.iter().position(|switch| switch.0 > at).unwrap_or(switches.len());
    let before = after.checked_sub(1).map(|place| switches[place]);
    match (before, switches.get(after)) {
        (None, Some(&(_, cpu, false))) => ("running", Some(cpu)),
        (None, _) => ("unknown", None),
        (Some((_, cpu, is_in)), Some(&(.., next_is_in))) if is_in != next_is_in => {
            (if is_in { "running" } else { "off CPU" }, Some(cpu))
        }
        (Some((_, cpu, true)), None) => ("running", Some(cpu)),
        _ => ("unknown", None),
    }
}

fn covers(intervals: &[Interval], at: i64) -> bool {
    intervals.iter().any(|(start, end)| *start <= at && at < *end)
}

/// Rows of a query, as JSON.
fn rows(report: &str, query: &str) -> Vec<serde_json::Value> {
    let text = stdout(&["run", report, "-q", query, "-f", "json", "-p", "limit=3"]);
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    answer["rows"].as_array().unwrap().clone()
}

#[test]
fn the_longest_gaps_are_those_of_a_walk_by_hand() {
    let mut causes_seen: BTreeMap<&str, i64> = BTreeMap::new();
    for name in ["cestwc_9k_2025.5", "h200_nvfuser_13k_nvtx", "rtx3060_23k", "perlmutter_mpi_saxpy"] {
        let Some(capture) = Capture::open(name) else { return };
        let gaps = capture.gaps();
        for (row, (from, to)) in rows(&capture.report, "gpu_idle_host").iter().zip(gaps) {
            assert_eq!(
                (row["start_ns"].as_i64(), row["dur_ns"].as_i64()),
                (Some(from), Some(to - from)),
                "{name}"
            );
            let mut wanted: BTreeMap<&str, i64> = BTreeMap::new();
            match capture.launch(to) {
                None => *wanted.entry("unknown").or_default() += to - from,
                Some((launch, thread)) => {
                    // Event class 67 is a second row of a call.
                    let calls = capture.pairs(&format!(
                        "SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME
                         WHERE globalTid = {thread} AND start < {to} AND end > {from} AND eventClass <> 67"
                    ));
                    let os_calls = capture.pairs(&format!(
                        "SELECT start, end FROM OSRT_API
                         WHERE globalTid = {thread} AND start < {to} AND end > {from} AND eventClass = 27"
                    ));
                    let switches = capture.switches(thread);
                    let mut borders: Vec<i64> = [from, to, launch.1]
                        .into_iter()
                        .chain(calls.iter().chain(&os_calls).flat_map(|(start, end)| [*start, *end]))
                        .chain(switches.iter().map(|switch| switch.0))
                        .filter(|at| (from..=to).contains(at))
                        .collect();
                    borders.sort_unstable();
                    for pair in borders.windows(2) {
                        let at = pair[0];
                        let cause = if at >= launch.1 {
                            "queued"
                        } else if covers(&calls, at) {
                            "CUDA call"
                        } else if covers(&os_calls, at) {
                            "OS call"
                        } else {
                            state(&switches, at).0
                        };
                        *wanted.entry(cause).or_default() += pair[1] - at;
                    }
                }
            }
            for (cause, column) in [
                ("CUDA call", "cuda_call_ns"),
                ("OS call", "os_call_ns"),
                ("running", "running_ns"),
                ("off CPU", "off_cpu_ns"),
                ("queued", "queued_ns"),
                ("unknown", "unknown_ns"),
            ] {
                let want = wanted.get(cause).copied().unwrap_or(0);
                assert_eq!(row[column].as_i64(), Some(want), "{name}: {cause} of {row}");
                *causes_seen.entry(cause).or_default() += want;
            }
        }
    }
    for cause in ["CUDA call", "OS call", "running", "off CPU"] {
        assert!(causes_seen[cause] > 0, "{causes_seen:?}");
    }
}

/// Who ran on the CPU that the launching thread left, in the whole capture.
#[test]
fn the_thread_that_has_the_cpu_is_the_one_of_a_walk_by_hand() {
    let Some(capture) = Capture::open("h200_nvfuser_13k_nvtx") else { return };
    let mut threads: BTreeMap<i64, Vec<(i64, i64, bool)>> = BTreeMap::new();
    for (thread, _) in capture.pairs("SELECT DISTINCT globalTid, 0 FROM SCHED_EVENTS") {
        threads.insert(thread, capture.switches(thread));
    }
    // When each CPU ran which thread.
    let mut runs: BTreeMap<i64, Vec<(i64, i64, i64)>> = BTreeMap::new();
    for (thread, switches) in &threads {
        for pair in switches.windows(2) {
            if let [(start, cpu, true), (end, _, false)] = pair {
                runs.entry(*cpu).or_default().push((*start, *end, *thread));
            }
        }
    }
    let sql = "SELECT start_ns, end_ns, global_tid FROM host_part WHERE cause = 'off CPU'";
    let off: serde_json::Value = serde_json::from_str(&stdout(&[
        "sql",
        &capture.report,
        sql,
        "-f",
        "json",
        "--max-rows",
        "100000",
    ]))
    .unwrap();
    let mut wanted: BTreeMap<Option<i64>, i64> = BTreeMap::new();
    for part in off["rows"].as_array().unwrap() {
        let [from, to, thread] =
            ["start_ns", "end_ns", "global_tid"].map(|key| part[key].as_i64().unwrap());
        let (state, cpu) = state(&threads[&thread], from);
        assert_eq!(state, "off CPU");
        let mut free = to - from;
        for (start, end, other) in runs.get(&cpu.unwrap()).into_iter().flatten() {
            let both = (*end).min(to) - (*start).max(from);
            if both > 0 {
                *wanted.entry(Some(*other & 0xff_ffff)).or_default() += both;
                free -= both;
            }
        }
        *wanted.entry(None).or_default() += free;
    }
    wanted.retain(|_, ns| *ns > 0);
    let found = stdout(&["run", &capture.report, "-q", "gpu_idle_cpu", "-f", "json"]);
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let found: BTreeMap<Option<i64>, i64> = found["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["taker_tid"].as_i64(), row["total_ns"].as_i64().unwrap()))
        .collect();
    assert!(found.len() > 2, "{found:?}");
    assert_eq!(found, wanted);
}

#[test]
fn the_numbers_of_parts_are_unique_and_join_the_relations() {
    let report = project("fixtures/example.sqlite").display().to_string();
    let ask = |sql: &str| stdout(&["sql", &report, sql, "-f", "csv"]).trim().to_owned();
    for relation in ["idle_part", "compute_gap_part"] {
        let numbers = format!(
            "SELECT count(*) > 9 AND count(*) = count(DISTINCT part_id) AND min(part_id) = 1 AND max(part_id) = count(*) AS x
             FROM {relation}"
        );
        assert_eq!(ask(&numbers), "x\n1", "{relation}");
        // The relation finds its rows by `part`, and numbers them as when it lists them all.
        let by_key = format!(
            "SELECT count(*) AS x FROM {relation} AS one JOIN {relation} AS other ON other.part = 'queued'
             AND other.part_id = one.part_id WHERE one.part <> 'queued' OR other.start_ns <> one.start_ns
             OR other.gpu_id <> one.gpu_id"
        );
        assert_eq!(ask(&by_key), "x\n0", "{relation}");
    }
    let lengths = "SELECT count(*) AS x FROM (SELECT sum(host.dur_ns) <> max(idle.dur_ns) OR min(host.start_ns) <> max(idle.start_ns) AS bad
                   FROM idle_part AS idle LEFT JOIN host_part AS host ON host.part_id = idle.part_id GROUP BY idle.part_id)
                   WHERE bad OR bad IS NULL";
    assert_eq!(ask(lengths), "x\n0");
}
