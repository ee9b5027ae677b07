//! `nsq kernels` and its queries: profiler.py's command lines and layout, and independently computed
//! figures.

use crate::support::{
    Fixtures, NEWEST_COMMON, build, nsq, outcome, project, shared, shared_exports, stdout,
};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Runs `nsq kernels` in a folder: exit code, standard output, standard error.
fn kernels(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = nsq().arg("kernels").args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, error) = (text(output.stdout), text(output.stderr));
    assert!(!error.contains("panicked"), "{arguments:?}: {error}");
    (output.status.code().unwrap_or(-1), out, error)
}

/// A folder with the fixture as trace.json. nsq detects the file type by content, not by name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    build(NEWEST_COMMON, "kernel_gaps", &folder.path().join("trace.json"));
    folder
}

/// The rows of a query, as JSON objects.
fn rows(report: &Path, arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["run", report.to_str().unwrap(), "--format", "json", "--query"];
    all.extend(arguments);
    let document: Value = serde_json::from_str(&stdout(&all)).unwrap();
    document["rows"].as_array().unwrap().clone()
}

fn sum(rows: &[Value], column: &str) -> f64 {
    rows.iter().map(|row| row[column].as_f64().unwrap()).sum()
}

// ---- layout ----

/// The expected output. The header of `fixtures/traces/kernel_gaps.sql` derives every figure.
const CONSOLE: &str = "\
=== GPU KERNEL ANALYSIS ===

Total unique kernel types found: 6
Total kernel launches: 15
Results sorted by: percentage of total duration

TOP 3 GPU KERNELS BY PERCENTAGE OF TOTAL DURATION:
{=}
Rank    Kernel Name                                       Count     Avg Duration (μs)   Total Duration (μs)   Std Dev (μs)      % Launches    % Kernel Time
{-}
1       Kernel2                                           2         0.18                0.36                  0.17              13.3          25.4
2       CatArrayBatchedCopy                               3         0.10                0.30                  0.00              20.0          21.1
3       ncclDevKernel_AllReduce_Sum_f32_RING_LL           2         0.15                0.30                  0.00              13.3          21.1

=== GPU IDLE TIME GAP ANALYSIS ===

Total gaps found: 8
Total gap time, streams added up: 1.74 μs
Average gap duration: 0.22 μs
GPU 0 idle time, all streams together: 0.38 μs of 1.40 μs (27.1%); without a kernel: 0.44 μs
GPU 1 idle time, all streams together: 0.40 μs of 0.70 μs (57.1%); without a kernel: 0.50 μs
Active streams: 4
  Process 12001, device 0, context 1, stream 7: 6 gaps, 0.64 μs gap time, 0.38 μs with an idle GPU
  Process 12001, device 0, context 1, stream 13: 1 gaps, 0.60 μs gap time, 0.18 μs with an idle GPU
  Process 12101, device 1, context 3, stream 7: 1 gaps, 0.50 μs gap time, 0.40 μs with an idle GPU
  Process 12001, device 0, context 2, stream 7: 0 gaps, 0.00 μs gap time, 0.00 μs with an idle GPU

GAP DURATION HISTOGRAM:
================================================================================
    0.05-     0.1 μs │██████████████████████████░░░░░░░░░░░░░░│    2
     0.1-     0.2 μs │████████████████████████████████████████│    3
     0.2-     0.5 μs │█████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░│    1
     0.5-       1 μs │██████████████████████████░░░░░░░░░░░░░░│    2
================================================================================
Percentiles of all gaps: 50% 0.12 μs, 90% 0.53 μs, 99% 0.59 μs, longest 0.60 μs

TOP 4 KERNEL PAIRS BY AVERAGE GAP DURATION:
{=}
Rank    Kernel Transition                                                                 Count     Avg Gap (μs)    Max Gap (μs)    Min Gap (μs)    Std Dev (μs)    Total Gap (μs)    GPU Idle (μs)
{-}
1       ncclDevKernel_AllR...e_Sum_f32_RING_LL → ncclDevKernel_AllReduce_Sum_f32_RING_LL  1         0.60            0.60            0.60            0.00            0.60              0.18
2       launch → launch                                                                   1         0.50            0.50            0.50            0.00            0.50              0.40
3       vectorized_elementwise_kernel → vectorized_elementwise_kernel                     1         0.20            0.20            0.20            0.00            0.20              0.15
4       vectorized_elementwise_kernel → Kernel2                                           2         0.12            0.14            0.10            0.03            0.24              0.14
";

#[test]
fn the_console_has_profiler_pys_layout() {
    let folder = folder();
    let (code, out, error) = kernels(
        folder.path(),
        &["trace.json", "-g", "-t", "3", "-s", "duration-percentage", "--gap-top", "4"],
    );
    assert_eq!((code, error.as_str()), (0, ""));
    let want = CONSOLE.replace("{=}", &"=".repeat(200)).replace("{-}", &"-".repeat(200));
    assert_eq!(out, want, "{out}");
    for (header, starts) in [
        (
            "Rank    Kernel Name",
            vec![("Count", 58), ("Avg", 68), ("Total D", 88), ("Std", 110), ("% L", 128), ("% K", 142)],
        ),
        (
            "Rank    Kernel Trans",
            vec![("Count", 90), ("Avg", 100), ("Max", 116), ("Min", 132), ("Std", 148)],
        ),
    ] {
        let line = out.lines().find(|line| line.starts_with(header)).unwrap();
        for (title, start) in starts {
            let at = line.find(title).unwrap();
            assert_eq!(line[..at].chars().count(), start, "{title} in {line}");
        }
    }
}

#[test]
fn files_are_complete_and_the_linear_histogram_matches_profiler_py() {
    let folder = folder();
    let (code, out, _) = kernels(
        folder.path(),
        &[
            "trace.json",
            "--output",
            "k.txt",
            "--gap-output",
            "g.txt",
            "--gaps",
            "--hist-scale",
            "linear",
        ],
    );
    assert_eq!(code, 0);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (k, g) = (read("k.txt"), read("g.txt"));
    assert!(out.contains(&format!("wrote k.txt ({} bytes)\n", k.len())), "{out}");
    assert!(out.ends_with(&format!("wrote g.txt ({} bytes)\n", g.len())), "{out}");
    let rule = "=".repeat(50);
    let head = format!(
        "DETAILED GPU KERNEL ANALYSIS\n{rule}\nResults sorted by: count\n{rule}\n\nRank 1: vectorized_elementwise_kernel\n  \
         Count: 5 (33.3% of total launches)\n  Total Duration: 0.25 μs (17.6% of total duration)\n  \
         Average Duration: 0.05 μs\n  Standard Deviation: 0.04 μs\n  Full Names: 1\n  Example Full Name: \
         void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>>(int, T2)\n{}\nRank 2: ",
        "-".repeat(50)
    );
    assert!(k.starts_with(&head), "{k}");
    assert_eq!(k.matches("\nRank ").count(), 6, "the file must list all kernels regardless of --top");
    assert!(
        g.starts_with(&format!("DETAILED GPU GAP ANALYSIS\n{rule}\n\nTotal gaps found: 8\n")),
        "{g}"
    );
    assert_eq!(g.matches("\nRank ").count(), 7, "the file must list all pairs regardless of --gap-top");
    let pair = format!(
        "Rank 4: vectorized_elementwise_kernel → Kernel2\n  Count: 2\n  Average Gap: 0.12 μs\n  Max Gap: 0.14 μs\n  \
         Min Gap: 0.10 μs\n  Std Dev: 0.03 μs\n  Total Gap Time: 0.24 μs\n  GPU Idle Meanwhile: 0.14 μs\n{}\n",
        "-".repeat(30)
    );
    assert!(g.contains(&pair), "{g}");
    // The gaps 50 50 100 100 140 200 500 600 ns, in 15 bins of 36.67 ns and in 20 bins of 27.5 ns.
    let counts = |text: &str, after: &str, mark: &str| -> Vec<i64> {
        let text = &text[text.find(after).unwrap()..];
        text.lines()
            .filter(|line| line.contains(mark))
            .map(|line| line.rsplit(mark).next().unwrap().trim().parse().unwrap())
            .collect()
    };
    assert_eq!(counts(&out, "GAP DURATION", "│ "), [2, 2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
    let file = &g[..g.find("Percentiles").unwrap()];
    assert_eq!(
        counts(file, "Gap Duration Histogram", " μs: "),
        [2, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1]
    );
    assert!(file.contains("\n     0.1-     0.1 μs:    2\n"), "{file}");
}

// ---- options ----

/// A folder with the example trace as trace.json, unpacked.
fn folder_with_trace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let packed = std::fs::File::open(project("fixtures/trace.json.gz")).unwrap();
    let mut trace = std::fs::File::create(folder.path().join("trace.json")).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut trace).unwrap();
    folder
}

#[test]
fn profiler_pys_seven_command_lines_run() {
    for folder in [folder(), folder_with_trace()] {
        for line in [
            "trace.json",
            "trace.json --top 20 --sort duration-percentage",
            "trace.json --sort duration",
            "trace.json --gaps",
            "trace.json --gaps --hist-min 1 --hist-max 100",
            "trace.json --gaps --gap-sort count",
            "trace.json --output kernels.txt --gap-output gaps.txt --gaps",
        ] {
            // Without a cache folder, an import would print a note.
            let words: Vec<&str> = line.split(' ').chain(["--no-cache"]).collect();
            let (code, out, error) = kernels(folder.path(), &words);
            assert_eq!((code, error.as_str()), (0, ""), "{line}");
            assert!(out.starts_with("=== GPU KERNEL ANALYSIS ===\n"), "{line}");
            assert_eq!(
                out.contains("=== GPU IDLE TIME GAP ANALYSIS ==="),
                line.contains("--gaps"),
                "{line}"
            );
        }
        let mut files: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        assert_eq!(files, ["gaps.txt", "kernels.txt", "trace.json"], "no other file may appear");
    }
}

/// Compares with sums over the JSON of the example trace. Each of its three steps has 27 kernels, of
/// which the autograd thread launches 17. Step 4 waits 445 us longer for its batch.
#[test]
fn figures_of_a_trace_match_its_json() {
    let folder = folder_with_trace();
    let (code, out, error) =
        kernels(folder.path(), &["trace.json", "--no-cache", "--top", "3", "--gaps"]);
    assert_eq!((code, error.as_str()), (0, ""));
    let text = std::fs::read_to_string(folder.path().join("trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of_gpu = |event: &&Value| event["ph"] == "X" && event["pid"] == 0;
    let times = |event: &Value| {
        let ns = |key: &str| (event[key].as_f64().unwrap() * 1000.0).round() as i64;
        (ns("ts"), ns("ts") + ns("dur"))
    };
    let kernel_count = events.iter().filter(|event| event["cat"] == "kernel").count();
    assert!(out.contains(&format!("Total kernel launches: {kernel_count}\n")), "{out}");
    let mut work: Vec<(i64, i64)> = events.iter().filter(of_gpu).map(times).collect();
    work.sort_unstable();
    let (mut idle, mut reached) = (0, work[0].0);
    for (start, end) in &work {
        idle += (start - reached).max(0);
        reached = reached.max(*end);
    }
    let window = reached - work[0].0;
    let line = format!(
        "GPU 0 idle time, all streams together: {:.2} μs of {:.2} μs",
        idle as f64 / 1e3,
        window as f64 / 1e3
    );
    assert!(out.contains(&line), "{line}\n{out}");
    for step in ["ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#5"] {
        let (code, out, error) = kernels(folder.path(), &["trace.json", "--no-cache", "--iter", step]);
        assert_eq!((code, error.as_str()), (0, ""));
        assert!(out.contains("Total kernel launches: 27\n"), "{out}");
    }
}

#[test]
fn options_work_as_in_profiler_py() {
    let folder = folder();
    let names = |arguments: &[&str]| -> Vec<String> {
        let (code, out, error) = kernels(folder.path(), &[&["trace.json"], arguments].concat());
        assert_eq!(code, 0, "{arguments:?}: {error}");
        let table = out.lines().skip_while(|line| !line.starts_with("---")).skip(1);
        let row = |line: &str| line.chars().skip(8).take(50).collect::<String>().trim().to_owned();
        table.take_while(|line| !line.is_empty()).map(row).collect()
    };
    let first = |arguments: &[&str]| names(arguments)[0].clone();
    assert_eq!(names(&[]).len(), 6, "--top defaults to 10");
    assert_eq!(names(&["-t", "2"]), names(&["--top", "2"]));
    assert_eq!(names(&["-t", "2"]).len(), 2);
    assert_eq!(first(&[]), "vectorized_elementwise_kernel");
    assert_eq!(first(&["-s", "percentage"]), "vectorized_elementwise_kernel");
    assert_eq!(first(&["--sort", "duration"]), "Kernel2");
    assert_eq!(first(&["-s", "duration-percentage"]), "Kernel2");
    let with_full_names = names(&["-v"]);
    assert_eq!(with_full_names.len(), 12);
    assert_eq!(names(&["--verbose"]), with_full_names);
    assert!(with_full_names[1].starts_with("void at::native::vectorized_elementwise_kernel<"));
    let pair = |sort: &str| -> String {
        let (code, out, error) = kernels(folder.path(), &["trace.json", "-g", "--gap-sort", sort]);
        assert_eq!(code, 0, "{sort}: {error}");
        let table = out.lines().skip_while(|line| !line.starts_with("Rank    Kernel Trans")).nth(2);
        table.unwrap().chars().skip(8).take(82).collect::<String>().trim().to_owned()
    };
    assert_eq!(pair("count"), "vectorized_elementwise_kernel → Kernel2");
    assert_eq!(pair("stdev"), "vectorized_elementwise_kernel → Kernel2");
    for sort in ["avg", "avggap", "max", "maxgap", "total"] {
        assert!(pair(sort).starts_with("ncclDevKernel_AllR"), "{sort}");
    }
    assert_eq!(pair("idle"), "launch → launch");
    let (_, out, _) =
        kernels(folder.path(), &["trace.json", "--gaps", "--hist-min", "0.1", "--hist-max", "0.2"]);
    assert!(out.contains("Not in the histogram: 2 shorter than 0.10 μs\n"), "{out}");
    assert!(out.contains("Not in the histogram: 2 longer than 0.20 μs\n"), "{out}");
    assert!(out.contains("Total gaps found: 8\n"), "the limits must apply only to the histogram");
    let (_, out, _) = kernels(folder.path(), &["trace.json", "--gaps", "--memory"]);
    assert!(out.contains("Kernel2 → [CUDA memcpy Device-to-Device]"), "{out}");
    let (code, help, _) = kernels(folder.path(), &["-h"]);
    assert_eq!(code, 0);
    for option in ["-t, --top", "-o, --output", "-s, --sort", "-v, --verbose", "-g, --gaps"] {
        assert!(help.contains(option), "{option}");
    }
    let (_, out, _) = kernels(folder.path(), &["trace.json", "--gap-output", "-"]);
    assert!(
        out.starts_with("DETAILED GPU GAP ANALYSIS\n") && out.contains("=== GPU KERNEL ANALYSIS ===")
    );
}

#[test]
fn pstep_selects_the_launches_of_a_step_from_any_thread() {
    let folder = folder();
    let launches = |arguments: &[&str]| -> String {
        let (code, out, error) = kernels(folder.path(), &[&["trace.json"], arguments].concat());
        assert_eq!(code, 0, "{error}");
        out.lines().find_map(|line| line.strip_prefix("Total kernel launches: ")).unwrap().to_owned()
    };
    // Five kernels of A and one of B. Copies do not count.
    assert_eq!(launches(&["--pstep", "6"]), "6");
    assert_eq!(launches(&["--pstep", "7"]), "5");
    assert_eq!(launches(&["--pstep", "6", "--process", "12101"]), "1");
    assert_eq!(launches(&["--pstep", "7", "--attribute", "thread"]), "2");
    // The spelling of all verbs selects the same.
    for step in ["6", "7"] {
        let name = format!("ProfilerStep#{step}");
        assert_eq!(launches(&["--iter", &name, "--attribute", "process"]), launches(&["--pstep", step]));
    }
    let (_, _, error) = kernels(folder.path(), &["trace.json", "--pstep", "6"]);
    assert!(error.contains("now spelled `--iter 'ProfilerStep#6' --attribute process`"), "{error}");
    // By time, regardless of the launching thread: no kernel runs on a GPU in the window of step 7.
    let (code, _, error) = kernels(folder.path(), &["trace.json", "--window", "ProfilerStep#7"]);
    assert_eq!(code, 3, "{error}");
    let (code, _, error) = kernels(folder.path(), &["trace.json", "--pstep", "9"]);
    assert_eq!(code, 2);
    assert!(error.contains("there is no ProfilerStep#9; the report has 6, 7"), "{error}");
    let (code, _, error) = kernels(folder.path(), &["trace.json", "--pstep", "6", "--iter", "step"]);
    assert_eq!(code, 2, "{error}");
    let fixtures = Fixtures::new();
    for trace in ["two_streams_overlap", "nvtx_projection"] {
        let report = fixtures.trace(trace);
        let (code, _, error) = kernels(folder.path(), &[report.to_str().unwrap(), "--pstep", "6"]);
        assert_eq!(code, 3, "{error}");
        assert!(error.contains("--pstep needs ranges named ProfilerStep#N"), "{error}");
    }
}

#[test]
fn missing_kernels_and_invalid_options_are_errors() {
    let folder = folder();
    let fixtures = Fixtures::new();
    let without_kernels = fixtures.trace("nvtx_only");
    let (code, out, error) = kernels(folder.path(), &[without_kernels.to_str().unwrap(), "--gaps"]);
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(error.contains("needs CUDA kernels"), "{error}");
    let (code, out, error) = kernels(folder.path(), &["trace.json", "--device", "9", "-o", "k.txt"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(error.contains("unknown device 9: the report has no such device ID"), "{error}");
    let (code, out, error) = kernels(folder.path(), &["trace.json", "--time", "900s/", "-o", "k.txt"]);
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(error.contains("the scope options exclude all of its kernels"), "{error}");
    assert!(!folder.path().join("k.txt").exists());
    for (arguments, reason) in [
        (vec!["--hist-min", "9", "--hist-max", "1"], "--hist-min is above --hist-max"),
        (vec!["--hist-min", "x"], "expected a number of microseconds"),
        (vec!["--hist-max", "-1"], ""),
        (vec!["--hist-max", "nan"], "expected microseconds from 0"),
        (vec!["-o", "trace.json"], "the output is the report itself"),
        (vec!["--gap-output", "trace.json"], "the output is the report itself"),
        (vec!["-o", "x.txt", "--gap-output", "x.txt"], "are both x.txt"),
        (vec!["--sort", "name"], "possible values"),
    ] {
        let (code, out, error) =
            kernels(folder.path(), &[&["trace.json"], arguments.as_slice()].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {error}");
        assert!(error.contains(reason), "{arguments:?}: {error}");
    }
    let (code, _, error) = kernels(folder.path(), &["trace.json", "-o", "no/such/folder/k.txt"]);
    assert_eq!(code, 1, "{error}");
}

// ---- figures ----

/// Writes an export with kernels on one stream, given by name, start and end.
fn export(path: &Path, kernels: &[(&str, i64, i64)]) {
    let connection = Connection::open(path).unwrap();
    let schema =
        std::fs::read_to_string(project(&format!("fixtures/schema/{NEWEST_COMMON}.sql"))).unwrap();
    connection.execute_batch(&schema).unwrap();
    let table = "CUPTI_ACTIVITY_KIND_KERNEL";
    let others: Vec<String> = connection
        .prepare(&format!("SELECT name FROM pragma_table_info('{table}') WHERE \"notnull\""))
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .filter(|name: &String| {
            !["start", "end", "demangledName", "shortName", "streamId", "deviceId", "contextId"]
                .contains(&name.as_str())
        })
        .collect();
    let columns: String = others.iter().map(|name| format!(", {name}")).collect();
    let zeros = ", 0".repeat(others.len());
    for (name, start, end) in kernels {
        connection
            .execute(
                "INSERT INTO StringIds (id, value) SELECT count(*) + 1, ?1 FROM StringIds \
                 WHERE NOT EXISTS (SELECT 1 FROM StringIds WHERE value = ?1)",
                [name],
            )
            .ok();
        connection
            .execute(
                &format!(
                    "INSERT INTO {table} (start, \"end\", deviceId, contextId, streamId, demangledName, shortName{columns}) \
                     SELECT ?2, ?3, 0, 1, 7, id, id{zeros} FROM StringIds WHERE value = ?1"
                ),
                rusqlite::params![name, start, end],
            )
            .unwrap();
    }
}

/// profiler.py's README has the gaps 106269.72 and 813.82 μs, with mean 53541.77 and deviation 74568.58.
#[test]
fn gap_statistics_match_profiler_pys_readme() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("seed.sqlite");
    let (first, second) = (106_269_720, 813_820);
    let (a, b) =
        ("void at::native::reduce_kernel<512>(int)", "void ns::(anonymous namespace)::f<int>(int)");
    export(
        &report,
        &[
            (a, 0, 100),
            (b, 100 + first, 200 + first),
            (a, 200 + first, 300 + first),
            (b, 300 + first + second, 400 + first + second),
        ],
    );
    let (code, out, error) = kernels(folder.path(), &["seed.sqlite", "--gaps"]);
    assert_eq!(code, 0, "{error}");
    let row = out.lines().find(|line| line.contains("reduce_kernel → f ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().skip(4).collect();
    assert_eq!(cells[..5], ["2", "53541.77", "106269.72", "813.82", "74568.58"], "{row}");
    assert!(out.contains("Total gap time, streams added up: 107083.54 μs"), "{out}");
}

#[test]
fn linear_bins_match_profiler_pys_readme() {
    // Gaps that round to 0.5 and 8662958.4 μs, chosen so that the bins have the README's edges.
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("seed.sqlite");
    let (least, most) = (468, 8_662_958_355);
    export(
        &report,
        &[("f", 0, 100), ("f", 100 + least, 200 + least), ("f", 200 + least + most, 300 + least + most)],
    );
    let (code, out, _) = kernels(
        folder.path(),
        &["seed.sqlite", "-g", "--hist-scale", "linear", "--gap-output", "g.txt"],
    );
    assert_eq!(code, 0);
    for edges in [
        "     0.5-577531.0 μs │",
        "577531.0-1155061.5 μs │",
        "1155061.5-1732592.0 μs │",
        "8085427.8-8662958.4 μs │",
    ] {
        assert!(out.contains(edges), "{edges} in {out}");
    }
    let file = std::fs::read_to_string(folder.path().join("g.txt")).unwrap();
    for line in [
        "     0.5-433148.4 μs:    1\n",
        "433148.4-866296.3 μs:    0\n",
        "866296.3-1299444.2 μs:    0\n",
        "8229810.5-8662958.4 μs:    1\n",
    ] {
        assert!(file.contains(line), "{line} in {file}");
    }
}

#[test]
fn one_kernel_has_no_gap_and_control_characters_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("one.sqlite");
    export(&report, &[("bad\u{1b}[31m\nname(int)", 5, 5)]);
    let (code, out, error) =
        kernels(folder.path(), &["one.sqlite", "-g", "-v", "--gap-output", "g.txt"]);
    assert_eq!(code, 0, "{error}");
    assert!(!out.contains('\u{1b}') && out.contains("Total gaps found: 0\n"), "{out}");
    assert!(!out.contains("HISTOGRAM"), "{out}");
    assert_eq!(rows(&report, &["gap_histogram"]).len(), 0);
    let stats = rows(&report, &["kernel_stats"]);
    assert_eq!((stats.len(), stats[0]["stddev_ns"].as_f64()), (1, Some(0.0)));
    assert!(stats[0]["time_pct"].is_null(), "a share of 0 ns must be null");
}

/// Process, device, context and stream.
type Key = (i64, i64, i64, i64);

/// The rows of the raw tables.
struct Raw {
    /// Key, start, end, row and name of each kernel.
    kernels: Vec<(Key, i64, i64, i64, String)>,
    /// Device, start and end of all other GPU work.
    others: Vec<(i64, i64, i64)>,
}

impl Raw {
    fn read(report: &Path) -> Self {
        let connection =
            Connection::open_with_flags(report, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let kernels = connection
            .prepare(
                "SELECT globalPid, deviceId, contextId, streamId, start, \"end\", k.rowid, value \
                 FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds ON id = demangledName",
            )
            .unwrap()
            .query_map([], |row| {
                let key = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok((key, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?))
            })
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let mut others = Vec::new();
        for table in ["MEMCPY", "MEMSET", "GRAPH_TRACE"] {
            let sql = format!("SELECT deviceId, start, \"end\" FROM CUPTI_ACTIVITY_KIND_{table}");
            let Ok(mut statement) = connection.prepare(&sql) else { continue };
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
            others.extend(rows.unwrap().map(Result::unwrap));
        }
        Self { kernels, others }
    }

    /// All gaps, by searching all earlier kernels of each kernel: key, start, end, kernel before and
    /// after.
    fn gaps(&self) -> Vec<(Key, i64, i64, usize, usize)> {
        let mut gaps = Vec::new();
        for (after, kernel) in self.kernels.iter().enumerate() {
            let order = |k: &(Key, i64, i64, i64, String)| (k.1, k.2, k.3);
            let earlier = self
                .kernels
                .iter()
                .enumerate()
                .filter(|(_, other)| other.0 == kernel.0 && order(other) < order(kernel));
            let last = earlier.max_by_key(|(_, other)| (other.2, order(other)));
            if let Some((before, other)) = last.filter(|(_, other)| other.2 < kernel.1) {
                gaps.push((kernel.0, other.2, kernel.1, before, after));
            }
        }
        gaps
    }

    /// The part of a gap in which the device was idle, by removing all other work from it.
    fn idle(&self, key: Key, start: i64, end: i64) -> i64 {
        let kernels = self.kernels.iter().map(|k| (k.0.1, k.1, k.2));
        let mut free = vec![(start, end)];
        for (device, from, to) in kernels.chain(self.others.iter().copied()) {
            if device != key.1 || to <= start || from >= end {
                continue;
            }
            free = free
                .into_iter()
                .flat_map(|(a, b)| [(a, b.min(from)), (a.max(to), b)])
                .filter(|(a, b)| a < b)
                .collect();
            free.dedup();
        }
        free.iter().map(|(a, b)| b - a).sum()
    }
}

/// Exports in which all processes have the same device numbers.
const CHECKED: [&str; 4] =
    ["h100_2gpu_1s", "rtx3090x2_ddp_nccl_2026.3", "a100_opt_nvtx_2026.3", "a100_mpi_2pids"];

#[test]
fn figures_of_real_reports_match_simple_loops() {
    let Some(shared) = shared() else { return };
    let mut checked = 0;
    for name in CHECKED {
        let report = shared.join(format!("data/exports/{name}.sqlite"));
        if !report.exists() {
            continue;
        }
        checked += 1;
        let raw = Raw::read(&report);
        let simple = |row: usize| nsq::classify::simple_name(&raw.kernels[row].4).to_owned();

        let mut stats: BTreeMap<String, (Vec<i64>, BTreeSet<&str>)> = BTreeMap::new();
        for (row, kernel) in raw.kernels.iter().enumerate() {
            let entry = stats.entry(simple(row)).or_default();
            entry.0.push(kernel.2 - kernel.1);
            entry.1.insert(&kernel.4);
        }
        let total: i64 = stats.values().flat_map(|(times, _)| times).sum();
        let rows_of = rows(&report, &["kernel_stats", "-p", "limit=-1"]);
        assert_eq!(rows_of.len(), stats.len(), "{name}");
        assert_eq!(sum(&rows_of, "calls"), raw.kernels.len() as f64);
        assert!((sum(&rows_of, "calls_pct") - 100.0).abs() < 1e-6);
        assert!((sum(&rows_of, "time_pct") - 100.0).abs() < 1e-6);
        for row in &rows_of {
            let (times, names) = &stats[row["simple_name"].as_str().unwrap()];
            assert_statistics(
                row,
                times,
                ["calls", "total_ns", "mean_ns", "min_ns", "max_ns", "stddev_ns"],
            );
            assert_eq!(row["name_count"], names.len());
            assert!(names.contains(row["kernel_name"].as_str().unwrap()));
            let share = 100.0 * times.iter().sum::<i64>() as f64 / total as f64;
            assert!((row["time_pct"].as_f64().unwrap() - share).abs() < 1e-9);
        }

        let gaps = raw.gaps();
        let idle: Vec<i64> = gaps.iter().map(|gap| raw.idle(gap.0, gap.1, gap.2)).collect();
        let mut streams: BTreeMap<Key, (i64, i64, i64)> = BTreeMap::new();
        let mut pairs: BTreeMap<(String, String), (Vec<i64>, i64)> = BTreeMap::new();
        for kernel in &raw.kernels {
            streams.entry(kernel.0).or_default();
        }
        for (gap, idle) in gaps.iter().zip(&idle) {
            let stream = streams.get_mut(&gap.0).unwrap();
            *stream = (stream.0 + 1, stream.1 + gap.2 - gap.1, stream.2 + idle);
            let pair = pairs.entry((simple(gap.3), simple(gap.4))).or_default();
            pair.0.push(gap.2 - gap.1);
            pair.1 += idle;
        }
        let of_streams = rows(&report, &["stream_gaps"]);
        assert_eq!(of_streams.len(), streams.len(), "{name}");
        for row in &of_streams {
            let id = |column: &str| row[column].as_i64().unwrap();
            let key = streams.keys().find(|key| {
                (key.0 >> 24 & 0xff_ffff, key.1, key.2, key.3)
                    == (id("pid"), id("device_id"), id("context_id"), id("stream_id"))
            });
            let found = (id("gap_count"), id("gap_ns"), id("gap_idle_ns"));
            assert_eq!(found, streams[key.unwrap()], "{name}: {row}");
        }
        let of_pairs = rows(&report, &["gap_pairs", "-p", "limit=-1"]);
        assert_eq!(of_pairs.len(), pairs.len(), "{name}");
        for row in &of_pairs {
            let text = |column: &str| row[column].as_str().unwrap().to_owned();
            let (times, idle) = &pairs[&(text("before_name"), text("after_name"))];
            assert_statistics(
                row,
                times,
                ["gap_count", "total_ns", "mean_ns", "min_ns", "max_ns", "stddev_ns"],
            );
            assert_eq!(row["idle_ns"], *idle, "{name}: {row}");
        }
        for scale in ["log", "linear"] {
            let bins = rows(
                &report,
                &[
                    "gap_histogram",
                    "-p",
                    &format!("scale={scale}"),
                    "-p",
                    "at_least=900ns",
                    "-p",
                    "at_most=1ms",
                ],
            );
            assert_eq!(sum(&bins, "gap_count"), gaps.len() as f64, "{name}, {scale}");
            let last = bins.iter().rposition(|bin| bin["part"] == "bin").unwrap();
            for (place, bin) in bins.iter().enumerate() {
                let (from, to) = (bin["from_ns"].as_f64(), bin["to_ns"].as_f64());
                let is_in = |ns: i64| match bin["part"].as_str().unwrap() {
                    "below" => ns < 900,
                    "above" => ns > 1_000_000,
                    _ => {
                        let ns_real = ns as f64;
                        let at_end = place == last && scale == "linear" && ns_real <= to.unwrap() + 1e-6;
                        (900..=1_000_000).contains(&ns)
                            && ns_real >= from.unwrap() - 1e-6
                            && (ns_real < to.unwrap() - 1e-6 || at_end)
                    }
                };
                let count = gaps.iter().filter(|gap| is_in(gap.2 - gap.1)).count();
                assert_eq!(bin["gap_count"], count, "{name}, {scale}: {bin}");
            }
        }
    }
    assert!(checked >= 3, "the shared data lacks the exports in CHECKED");
}

/// Asserts count, sum, mean, minimum, maximum and sample deviation.
fn assert_statistics(row: &Value, times: &[i64], columns: [&str; 6]) {
    let [count, total, mean, min, max, stddev] = columns.map(|column| row[column].as_f64().unwrap());
    let n = times.len() as f64;
    let average = times.iter().sum::<i64>() as f64 / n;
    let squares: f64 = times.iter().map(|&time| (time as f64 - average).powi(2)).sum();
    let deviation = if times.len() < 2 { 0.0 } else { (squares / (n - 1.0)).sqrt() };
    assert_eq!((count, total), (n, times.iter().sum::<i64>() as f64), "{row}");
    assert_eq!((min, max), (*times.iter().min().unwrap() as f64, *times.iter().max().unwrap() as f64));
    assert!((mean - average).abs() <= 1e-9 * average.max(1.0), "{row}: {average}");
    assert!((stddev - deviation).abs() <= 1e-6 * deviation.max(1.0), "{row}: {deviation}");
}

#[test]
fn every_real_report_is_answered_unless_it_has_no_kernels() {
    for report in shared_exports() {
        let path = report.to_str().unwrap();
        let (code, out, error) = outcome(&["kernels", path, "--gaps", "--verbose"]);
        let has_kernels = outcome(&["run", path, "--query", "top_kernels", "--format", "csv"]).0 == 0;
        assert_eq!(code, if has_kernels { 0 } else { 3 }, "{path}: {error}");
        assert_eq!(out.is_empty(), code == 3, "{path}");
    }
}

// ---- names ----

/// The names of all kernels in the shared exports and PyTorch traces.
fn shared_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for report in shared_exports() {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(&report, flags).unwrap();
        let sql =
            "SELECT DISTINCT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName";
        let Ok(mut statement) = connection.prepare(sql) else { continue };
        names
            .extend(statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap));
    }
    let Some(shared) = shared() else { return names };
    for entry in std::fs::read_dir(shared.join("data/torch")).unwrap() {
        names.extend(torch_names(&entry.unwrap().path()).unwrap_or_default());
    }
    names
}

/// The kernel names of a PyTorch trace. If `gzip` is needed but missing, prints that and returns `None`.
fn torch_names(path: &PathBuf) -> Option<Vec<String>> {
    let text = if path.extension().is_some_and(|extension| extension == "gz") {
        match std::process::Command::new("gzip").arg("-dc").arg(path).output() {
            Ok(output) => output.stdout,
            Err(_) => {
                eprintln!("skipped: no gzip on PATH to read {}", path.display());
                return None;
            }
        }
    } else {
        std::fs::read(path).unwrap()
    };
    let trace: Value = serde_json::from_slice(&text).unwrap();
    let is_kernel = |event: &&Value| {
        event["cat"].as_str().is_some_and(|category| category.eq_ignore_ascii_case("kernel"))
    };
    let events = trace["traceEvents"].as_array().unwrap().iter().filter(is_kernel);
    Some(events.filter_map(|event| event["name"].as_str().map(str::to_owned)).collect())
}

#[test]
fn every_shared_kernel_name_has_a_simple_name() {
    let names = shared_names();
    if names.is_empty() {
        return;
    }
    let mut simple = BTreeSet::new();
    for name in &names {
        let own = nsq::classify::simple_name(name);
        assert_eq!(nsq::classify::simple_name(own), own, "{name}");
        assert!(!own.is_empty() && name.contains(own), "{name}: {own}");
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '!' | '#' | '.' | '$');
        assert!(own.chars().all(is_plain), "{name}: {own}");
        assert!(
            !["void", "operator", "lambda", "anonymous", "unnamed", "type"].contains(&own),
            "{name}: {own}"
        );
        // The name ends at the end of a word, before the arguments.
        let after = name.split(own).nth(1).and_then(|rest| rest.chars().next());
        assert!(after.is_none_or(|c| !c.is_alphanumeric()) || name.starts_with("_Z"), "{name}: {own}");
        simple.insert(own);
    }
    assert!(simple.len() < names.len());
    for known in [
        "CatArrayBatchedCopy",
        "vectorized_elementwise_kernel",
        "elementwise_kernel",
        "reduce_kernel",
        "Kernel2",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
    ] {
        assert!(simple.contains(known), "{known}");
    }
}
