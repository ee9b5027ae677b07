//! What the host did: thread states, CPU samples, and the host's side of idle time.

use crate::support::{Fixtures, build, outcome, project, shared_exports, stdout, traces};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

/// Number of random schedules.
const SCHEDULES: u64 = 25;
/// Global ID of a process.
const PROCESS: i64 = 1 << 48 | 77 << 24;

/// A small random number generator: the schedules are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as i64
    }
}

/// A context switch: time, CPU, whether the thread was put on the CPU, thread, state and what it waits for.
type Switch = (i64, i64, bool, i64, Option<i64>, Option<i64>);

/// Random switches of up to four threads. Some are lost, so that a direction may repeat.
fn schedule(random: &mut Random) -> Vec<Switch> {
    let mut switches = Vec::new();
    for thread in 1..=1 + random.below(4) {
        let (mut at, mut is_in) = (random.below(30), random.below(2) == 0);
        for _ in 0..random.below(9) {
            let code = [None, Some(0), Some(1), Some(2), Some(3), Some(5)][random.below(6) as usize];
            let reason = [None, None, Some(6), Some(44)][random.below(4) as usize];
            let (code, reason) = if is_in { (Some(0), None) } else { (code, reason) };
            if random.below(8) > 0 {
                switches.push((at, random.below(3), is_in, PROCESS | thread, code, reason));
            }
            at += random.below(12);
            is_in = !is_in;
        }
    }
    // Newer exports are not sorted by time. Switches of one thread at one time keep their order.
    switches.sort_by_key(|switch| (-switch.3, switch.0));
    switches
}

/// A report with these switches.
fn scheduled(folder: &TempDir, switches: &[Switch]) -> String {
    let path = folder.path().join("schedule.sqlite");
    let _ = std::fs::remove_file(&path);
    let connection = Connection::open(&path).unwrap();
    let schema = std::fs::read_to_string(project("fixtures/schema/3.25.0.sql")).unwrap();
    connection.execute_batch(&schema).unwrap();
    for switch in switches {
        connection
            .execute(
                "INSERT INTO SCHED_EVENTS (start, cpu, isSchedIn, globalTid, threadState, threadBlock) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                *switch,
            )
            .unwrap();
    }
    path.to_str().unwrap().to_owned()
}

/// The rows of a statement or query, as texts.
fn rows(arguments: &[&str]) -> Vec<Vec<String>> {
    let text = stdout(&[arguments, &["--format", "csv", "--no-header"]].concat());
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The state of a thread in each nanosecond of the recording, worked out switch by switch.
fn naive(switches: &[Switch]) -> BTreeMap<(i64, i64), String> {
    let first = switches.iter().map(|switch| switch.0).min().unwrap_or_default();
    let last = switches.iter().map(|switch| switch.0).max().unwrap_or_default();
    let mut threads: BTreeMap<i64, Vec<Switch>> = BTreeMap::new();
    for switch in switches {
        threads.entry(switch.3).or_default().push(*switch);
    }
    let mut states = BTreeMap::new();
    for (thread, switches) in threads {
        for at in first..last {
            let before = switches.iter().rev().find(|switch| switch.0 <= at);
            let after = switches.iter().find(|switch| switch.0 > at);
            let state = match (before, after) {
                (None, Some(after)) if after.2 => "unknown",
                (None, _) => "running",
                (Some(before), Some(after)) if before.2 == after.2 => "unknown",
                (Some(before), _) if before.2 => "running",
                (Some(&(.., Some(5), _)), _) => "ended",
                (Some(&(.., Some(1), _)), _) | (Some(&(.., Some(44))), _) => "runnable",
                (Some(&(.., Some(2 | 3), _)), _) | (Some(&(.., Some(6))), _) => "blocked",
                (Some(_), None) => "unknown",
                (Some(_), Some(_)) => "off CPU",
            };
            states.insert((thread, at), state.to_owned());
        }
    }
    states
}

#[test]
fn states_partition_the_time_of_each_thread() {
    let folder = TempDir::new().unwrap();
    let mut random = Random(7);
    let mut seen = BTreeMap::new();
    for _ in 0..SCHEDULES {
        let switches = schedule(&mut random);
        let report = scheduled(&folder, &switches);
        let sql = "SELECT global_tid, start_ns, end_ns, dur_ns, state FROM thread_state ORDER BY 1, 2";
        let mut states = BTreeMap::new();
        for row in rows(&["sql", &report, sql]) {
            let [thread, start, end, dur] = [0, 1, 2, 3].map(|place| row[place].parse::<i64>().unwrap());
            assert!(dur > 0 && end - start == dur, "{row:?}");
            *seen.entry(row[4].clone()).or_insert(0) += 1;
            for at in start..end {
                let twice = states.insert((thread, at), row[4].clone());
                assert_eq!(twice, None, "thread {thread} at {at} in {switches:?}");
            }
        }
        assert_eq!(states, naive(&switches), "{switches:?}");
        let mut totals: BTreeMap<i64, i64> = BTreeMap::new();
        for (thread, _) in states.keys() {
            *totals.entry(thread & 0xFF_FFFF).or_default() += 1;
        }
        let columns = "tid,total_ns";
        let summed = rows(&["run", &report, "--query", "thread_time", "--columns", columns]);
        let summed: BTreeMap<i64, i64> =
            summed.iter().map(|row| (row[0].parse().unwrap(), row[1].parse().unwrap())).collect();
        assert_eq!(summed, totals, "{switches:?}");
    }
    assert_eq!(seen.len(), 6, "every state occurs: {seen:?}");
}

/// Idle time by GPU: the sum of a column over the rows of a query.
fn idle(report: &Path, query: &str, column: &str) -> Option<BTreeMap<String, i64>> {
    let columns = format!("gpu_id,{column}");
    let report = report.to_str().unwrap();
    if outcome(&["run", report, "--query", query]).0 == 3 {
        return None;
    }
    let mut sums = BTreeMap::new();
    for row in rows(&["run", report, "--query", query, "--columns", &columns]) {
        *sums.entry(row[0].clone()).or_default() += row[1].parse::<i64>().unwrap();
    }
    sums.retain(|_, sum| *sum > 0);
    Some(sums)
}

#[test]
fn causes_on_the_host_add_up_to_the_idle_time() {
    let fixtures = Fixtures::new();
    let mut reports: Vec<_> = traces().iter().map(|trace| fixtures.trace(trace)).collect();
    reports.push(project("fixtures/example.sqlite"));
    reports.extend(shared_exports());
    let mut gpus = 0;
    for report in reports {
        let causes = idle(&report, "gpu_idle_host_sum", "total_ns");
        gpus += causes.as_ref().map_or(0, BTreeMap::len);
        assert_eq!(causes, idle(&report, "gpu_time", "idle_ns"), "{}", report.display());
    }
    assert!(gpus > 20, "{gpus} GPUs");
}

#[test]
fn cpu_hot_groups_by_thread_and_by_range() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("host_states");
    let ask = |param: &str, columns: &str| {
        let mut arguments = vec!["run", report.to_str().unwrap(), "--query", "cpu_hot"];
        arguments.extend(["-p", param, "--columns", columns]);
        rows(&arguments)
    };
    // The header of the trace derives these figures.
    let by_range = ask("by=range", "range_name,function_name,self_count,total_count,sample_count");
    assert_eq!(by_range[0], ["step *", "copy_words", "3", "4", "8"]);
    assert_eq!(by_range[2], ["(no NVTX range)", "load", "2", "2", "4"]);
    let by_thread = ask("by=thread", "tid,thread_name,function_name,self_count,sample_count");
    assert_eq!(by_thread[0], ["19001", "trainer", "copy_words", "3", "8"]);
    assert!(
        by_thread.contains(&["19002", "loader thread", "worker", "1", "4"].map(str::to_owned).to_vec())
    );
    let of_thread = ask("tid=19002", "function_name,self_count,total_count");
    assert_eq!(of_thread, [["load", "2", "2"], ["worker", "1", "4"], ["copy_words", "1", "1"]]);
    let selves: i64 =
        ask("limit=-1", "self_count").iter().map(|row| row[0].parse::<i64>().unwrap()).sum();
    assert_eq!(selves, 12, "each sample has one innermost function");
}

#[test]
fn stacks_begin_with_the_outermost_frame_and_show_no_folder() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("host_states");
    let report = report.to_str().unwrap();
    let sql = "SELECT depth, from_leaf, function_name, module_name, is_kernel, is_mark FROM cpu_stack \
               WHERE sample_id IN (4, 5, 8) ORDER BY sample_id, depth";
    assert_eq!(
        rows(&["sql", report, sql]),
        [
            ["0", "3", "main", "trainer", "0", "0"],
            ["1", "2", "train", "trainer", "0", "0"],
            ["2", "1", "copy_words", "libc.so.6", "0", "0"],
            ["3", "0", "do_syscall_64", "[kernel.kallsyms]", "1", "0"],
            ["0", "1", "[Broken backtraces]", "libc.so.6", "0", "1"],
            ["1", "0", "copy_words", "libc.so.6", "0", "0"],
            ["0", "1", "main", "trainer", "0", "0"],
            ["1", "0", "0x401000", "trainer", "0", "0"],
        ]
    );
    let sql = "SELECT call_id, stack_id, (SELECT function_name FROM os_stack WHERE stack_id = os_call.stack_id \
               AND from_leaf = 1) FROM os_call ORDER BY call_id LIMIT 2";
    assert_eq!(rows(&["sql", report, sql]), [["1", "1", "select_poll_poll"], ["2", "", ""]]);
}

/// Of a report whose operating system tells the state, a runnable thread is enough evidence.
#[test]
fn a_runnable_thread_waits_for_a_cpu() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("report.sqlite");
    build("3.25.0", "host_states", &path);
    let connection = Connection::open(&path).unwrap();
    // From 700 to 800 us, thread 19001 is off its CPU.
    for (code, want) in [(1, "runnable"), (2, "blocked")] {
        let sql = format!("UPDATE SCHED_EVENTS SET threadState = {code} WHERE start = 700000");
        connection.execute_batch(&sql).unwrap();
        let report = path.to_str().unwrap();
        let causes =
            rows(&["run", report, "--query", "gpu_idle_host_sum", "--columns", "gpu_id,cause,total_ns"]);
        assert!(causes.contains(&["0", want, "100000"].map(str::to_owned).to_vec()), "{causes:?}");
        let columns = "start_ns,dur_ns,subject";
        let found = rows(&["run", report, "--query", "oversubscribed", "--columns", columns]);
        match want {
            "runnable" => assert_eq!(found, [["700000", "100000", "runnable"]]),
            _ => assert_eq!(found, Vec::<Vec<String>>::new()),
        }
    }
}

/// The samples of each function and the running time of each thread, against statements over the raw tables.
#[test]
fn samples_and_switches_are_those_of_the_raw_tables() {
    let mut checked = 0;
    for export in shared_exports() {
        let connection =
            Connection::open_with_flags(&export, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let report = export.to_str().unwrap();
        let raw = |sql: &str| -> Option<Vec<(i64, i64)>> {
            let mut statement = connection.prepare(sql).ok()?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            Some(rows.map(Result::unwrap).collect())
        };
        let ours = |arguments: &[&str]| -> Vec<(i64, i64)> {
            let mut pairs: Vec<(i64, i64)> = rows(arguments)
                .iter()
                .map(|row| (row[0].parse().unwrap(), row[1].parse().unwrap()))
                .collect();
            pairs.sort_unstable();
            pairs
        };
        let selves = raw(
            "SELECT count(DISTINCT id), count(*) FROM SAMPLING_CALLCHAINS AS leaf WHERE stackDepth = 0 \
             AND EXISTS (SELECT 1 FROM COMPOSITE_EVENTS AS sample WHERE sample.id = leaf.id) \
             GROUP BY symbol, module ORDER BY 1",
        );
        if let Some(want) = selves {
            let got = ours(&[
                "run",
                report,
                "--query",
                "cpu_hot",
                "-p",
                "limit=-1",
                "--columns",
                "self_count,total_count",
            ]);
            let leaves: Vec<i64> = got.iter().map(|pair| pair.0).filter(|count| *count > 0).collect();
            assert_eq!(leaves, want.iter().map(|pair| pair.0).collect::<Vec<_>>(), "{report}");
            checked += 1;
        }
        let running = raw(
            "SELECT globalTid & 16777215, sum(next - start) FROM (SELECT *, lead(start) OVER thread AS next, \
             lead(isSchedIn) OVER thread AS next_in FROM SCHED_EVENTS \
             WINDOW thread AS (PARTITION BY globalTid ORDER BY start, rowid)) \
             WHERE isSchedIn AND next_in = 0 GROUP BY globalTid",
        );
        if let Some(want) = running {
            let sql = "SELECT tid, sum(dur_ns) FROM thread_state WHERE state = 'running' AND NOT is_border \
                       GROUP BY global_tid";
            let mut want = want;
            want.retain(|pair| pair.1 > 0);
            want.sort_unstable();
            assert_eq!(ours(&["sql", report, sql]), want, "{report}");
            checked += 1;
        }
    }
    assert!(checked >= 6 || shared_exports().is_empty(), "{checked} checks");
}

#[test]
fn flame_writes_the_stacks_of_the_samples() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("host_states");
    let report = report.to_str().unwrap();
    let folded = stdout(&["flame", report]);
    assert!(folded.starts_with("main;train;load 2\nworker;load 2\n"), "{folded}");
    assert!(folded.contains("main;train;copy_words;do_syscall_64_[k] 1\n"), "{folded}");
    let samples = |text: &str| -> i64 {
        text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap()).sum()
    };
    assert_eq!(samples(&folded), 12);
    // GPU 0 idles at all samples of thread 19001 in `step 0`, the last of which is at 1050 us.
    let idle = stdout(&["flame", report, "--idle", "--nvtx", "step 0", "--by-thread"]);
    assert_eq!(samples(&idle), 7);
    assert!(idle.starts_with("trainer (19001);main;train;load 2\n"), "{idle}");
    let file = fixtures.path().join("stacks.json");
    stdout(&["flame", report, "-o", file.to_str().unwrap()]);
    let document: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(document["profiles"][0]["endValue"], 12);
    let (code, _, error) = outcome(&["flame", report, "-o", "stacks.png"]);
    assert!(code == 2 && error.contains(".svg"), "{error}");
    let without = fixtures.trace("training_steps");
    let (code, _, error) = outcome(&["flame", without.to_str().unwrap()]);
    assert!(code == 3 && error.contains("--sample") && error.contains("--gpu-time; "), "{error}");
}

/// The titles of a flame graph's frames: function, samples and, of a comparison, the change in points.
fn frames_of(svg: &str) -> Vec<String> {
    let titles = svg.split("<title>").skip(1).filter_map(|text| text.split_once("</title>"));
    let mut frames: Vec<String> = titles.map(|(title, _)| title.to_owned()).collect();
    frames.sort_unstable();
    frames
}

#[test]
fn flame_draws_graphs_and_compares_reports() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("host_states");
    let report = report.to_str().unwrap();
    let svg = stdout(&["flame", report, "--format", "svg"]);
    assert_eq!(svg, stdout(&["flame", report, "--format", "svg"]));
    let frames = frames_of(&svg);
    assert!(frames.contains(&"all (12 samples, 100%)".to_owned()), "{frames:#?}");
    // 7 of 12 samples are those of thread 19001 while a GPU idled, by the test above.
    let folded = stdout(&["flame", report]);
    let of_main: i64 = folded
        .lines()
        .filter(|line| line.starts_with("main;"))
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap())
        .sum();
    let main = format!("main ({of_main} samples, ");
    assert!(frames.iter().any(|frame| frame.starts_with(&main)), "{main} {frames:#?}");

    // A copy whose samples of `copy_words` are those of `load`: only the stacks with one of them change.
    let changed = fixtures.path().join("changed.sqlite");
    std::fs::copy(report, &changed).unwrap();
    let connection = Connection::open(&changed).unwrap();
    let rename = "UPDATE StringIds SET value = 'load' WHERE value = 'copy_words'";
    assert_eq!(connection.execute(rename, []).unwrap(), 1);
    drop(connection);
    let changed = changed.to_str().unwrap();
    let both = stdout(&["flame", report, changed]);
    assert!(both.contains("main;train;copy_words;do_syscall_64_[k] 1 0\n"), "{both}");
    assert!(both.contains("main;train;load;do_syscall_64_[k] 0 1\n"), "{both}");
    assert!(both.contains("worker 1 1\n") && both.contains("worker;load 2 3\n"), "{both}");
    let frames = frames_of(&stdout(&["flame", report, changed, "--format", "svg"]));
    let unchanged: Vec<&String> = frames.iter().filter(|frame| frame.starts_with("worker (")).collect();
    assert!(
        unchanged.iter().all(|frame| frame.contains("; 0.00%") || !frame.contains(';')),
        "{unchanged:?}"
    );
    let (code, _, error) = outcome(&["flame", report, changed, "--format", "speedscope"]);
    assert!(code == 2 && error.contains("one report"), "{error}");
}

#[test]
fn python_functions_of_a_trace_are_frames() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace.json");
    let event = |name: &str, ts: i64, dur: i64| {
        serde_json::json!({
            "ph": "X", "cat": "python_function", "name": name, "pid": 11, "tid": 12, "ts": ts, "dur": dur,
        })
    };
    let events = [
        event("lib/train (1).py(12): <module>", 100, 50),
        event("nn.Module: Linear_0", 110, 20),
        event("<built-in method f(3): of type>", 112, 5),
    ];
    std::fs::write(&trace, serde_json::json!({ "traceEvents": events }).to_string()).unwrap();
    let report = folder.path().join("trace.sqlite");
    let (trace, report) = (trace.to_str().unwrap(), report.to_str().unwrap());
    stdout(&["import", trace, "--python-functions", "-o", report]);
    let sql = "SELECT function_name, file_name, line, dur_ns, tid FROM python_frame ORDER BY frame_id";
    assert_eq!(
        rows(&["sql", report, sql]),
        [
            ["<module>", "lib/train (1).py", "12", "50000", "12"],
            ["nn.Module: Linear_0", "", "", "20000", "12"],
            ["<built-in method f(3): of type>", "", "", "5000", "12"],
        ]
    );
}
