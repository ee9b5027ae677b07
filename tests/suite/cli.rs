//! The output of the commands `run`, `sql`, `schema`, `stats`, `materialize` and others.

use crate::support::{Fixtures, nsq, outcome, project, stdout, write_program};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A folder to write into, and the path of a trace in it.
fn fixture(trace: &str) -> (Fixtures, String) {
    let fixtures = Fixtures::new();
    let path = fixtures.trace(trace).to_str().unwrap().to_owned();
    (fixtures, path)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).unwrap()
}

#[test]
fn commands_to_type_quote_the_path() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let path = fixtures.path().join("it's two words.sqlite");
    fs::copy(report, &path).unwrap();
    let screen = stdout(&[path.to_str().unwrap()]);
    let quoted = format!("nsq '{}' -o overview.html", path.to_str().unwrap().replace('\'', "'\\''"));
    assert!(screen.contains(&quoted), "{screen}");
    let (code, _, error) = outcome(&["run", path.to_str().unwrap(), "-q", "mpi_event_sum"]);
    let quoted =
        quoted.replace("nsq '", "`nsq schema '").replace(" -o overview.html", "` shows what it holds");
    assert!(code == 3 && error.contains(&quoted), "{error}");
}

#[test]
fn json_has_query_parameters_and_columns() {
    let (_fixtures, report) = fixture("two_streams_overlap");
    let document =
        json(&["run", &report, "--query", "top_kernels", "-p", "limit=1", "--format", "json"]);
    assert_eq!(document["query"], "top_kernels");
    assert_eq!(document["version"], 1);
    assert_eq!(document["export_schema"], "3.25.0");
    assert_eq!(document["parameters"]["limit"], 1);
    assert_eq!(document["columns"][0]["name"], "rank");
    assert!(document["rows"][0]["total_ns"].is_i64(), "times in JSON must be integers");
    assert_eq!(document["rows"].as_array().unwrap().len(), 1);
}

#[test]
fn a_statement_takes_parameters_without_front_matter() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let path = |name: &str| fixtures.path().join(name).to_str().unwrap().to_owned();
    let sql = "SELECT count(*) AS n FROM kernel WHERE dur_ns >= :least";
    let all = stdout(&["sql", &report, sql, "-p", "least=0", "-f", "csv"]);
    let none = stdout(&["sql", &report, sql, "-p", "least=5min", "-f", "csv"]);
    assert!(all != none && none == "n\n0\n", "{all}{none}");
    let file = path("one_line.sql");
    fs::write(&file, format!("{sql};\n")).unwrap();
    let run = |more: &[&str]| outcome(&[&["run", &report, "-q", &file, "-f", "csv"], more].concat());
    assert_eq!(run(&["-p", "least=0"]), (0, all, String::new()));
    let (code, _, error) = run(&["-p", "lest=0"]);
    assert!(
        code == 2 && error.contains("unknown parameter 'lest'\n  help: did you mean 'least'?"),
        "{error}"
    );
    let (code, _, error) = run(&[]);
    assert!(code == 1 && error.contains("parameter :least has no value"), "{error}");
    assert!(error.contains("give it with -p least=VALUE"), "{error}");
    let (code, _, error) = outcome(&["sql", &report, "SELECT 1", "-p", "x=1"]);
    assert!(code == 2 && error.contains("The statement has no parameters"), "{error}");
    // Beside a query of the library, each gets its own parameters; several reports are told apart.
    let output = stdout(&[
        "run",
        &report,
        &report,
        "-q",
        &file,
        "-q",
        "top_kernels",
        "-p",
        "least=0",
        "-p",
        "limit=1",
        "-f",
        "json",
    ]);
    assert!(output.contains("\"report\""), "{output}");
    fs::write(&file, "SELECT 1; SELECT 2").unwrap();
    let (code, _, error) = run(&[]);
    assert!(
        code == 2 && error.contains("has 2 statements") && error.contains(".sqlite --file"),
        "{error}"
    );
}

#[test]
fn a_new_query_runs_and_is_never_overwritten() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let folder = fixtures.path().join("mine");
    let new = ["new", "query", "my_kernels", "--queries", folder.to_str().unwrap()];
    // The folder is made.
    assert!(stdout(&new).contains("my_kernels.sql"));
    let file = folder.join("my_kernels.sql");
    let text = fs::read_to_string(&file).unwrap();
    stdout(&["run", &report, "-q", file.to_str().unwrap(), "-p", "least=1ns"]);
    stdout(&["check", folder.to_str().unwrap(), "--report", &report]);
    let (code, _, error) = outcome(&new);
    assert!(code == 2 && error.contains("exists already"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let (code, _, error) = outcome(&["new", "query", "My-Kernels"]);
    assert!(code == 2 && error.contains("invalid name 'My-Kernels'"), "{error}");
}

#[test]
fn an_error_of_several_reports_is_printed_once() {
    let (fixtures, lacking) = fixture("nvtx_only");
    let good = fixtures.trace("two_streams_overlap").to_str().unwrap().to_owned();
    let path = |name: &str| fixtures.path().join(name).to_str().unwrap().to_owned();
    let copies = ["a", "b", "c", "d", "e"].map(|name| path(&format!("{name}.sqlite")));
    for copy in &copies {
        fs::copy(&lacking, copy).unwrap();
    }
    let gone = path("gone.sqlite");
    let reports: Vec<&str> = copies.iter().chain([&gone, &good]).map(String::as_str).collect();
    let (code, out, error) = outcome(&[&["run"], &reports[..], &["--query", "top_kernels"]].concat());
    assert!(code == 1 && out.contains("two_streams_overlap"), "{out}{error}");
    assert_eq!(error.matches("top_kernels needs CUDA kernels").count(), 1, "{error}");
    assert!(error.contains(&format!("but {} has none", copies[0])), "{error}");
    assert!(error.contains("note: a.sqlite: left out with 4 more: top_kernels needs"), "{error}");
    assert!(error.contains(&format!("error: {gone}: no such file")), "{error}");
    // `nsq classes` names reports by their paths.
    let (code, _, error) = outcome(&[&["classes"], &reports[..2], &reports[6..]].concat());
    assert_eq!((code, error.matches("needs CUDA kernels").count()), (3, 1), "{error}");
    assert!(error.contains(&format!("note: the same for {}\n", copies[1])), "{error}");
    // Notes name their report.
    let scope = ["--query", "osrt_sum", "--device", "0"];
    let (_, _, error) = outcome(&[&["run", &good, &good], &scope[..]].concat());
    let name = Path::new(&good).file_name().unwrap().to_str().unwrap();
    assert!(error.contains(&format!("note: {name}: --device does not apply to os_call")), "{error}");
}

#[test]
fn several_queries_give_several_tables() {
    let (_fixtures, report) = fixture("two_streams_overlap");
    let both = ["run", &report, "--query", "top_kernels", "--query", "osrt_sum", "--format"];
    let with = |format| [&both[..], &[format]].concat();
    let documents = json(&with("json"));
    let names: Vec<&Value> =
        documents.as_array().unwrap().iter().map(|document| &document["query"]).collect();
    assert_eq!(names, ["top_kernels", "osrt_sum"]);
    for line in stdout(&with("ndjson")).lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert!(row["query"] == "top_kernels" || row["query"] == "osrt_sum");
    }
    assert!(stdout(&with("csv")).contains("\n\n"), "an empty line must separate the tables");
}

#[test]
fn a_query_that_lacks_data_does_not_hide_the_others() {
    let (_fixtures, report) = fixture("nvtx_only");
    let (code, out, error) =
        outcome(&["run", &report, "--query", "top_kernels", "--query", "nvtx_sum", "--format", "csv"]);
    assert_eq!(code, 3);
    assert!(
        out.starts_with("time_pct,") && error.contains("top_kernels needs CUDA kernels"),
        "{out}{error}"
    );
}

#[test]
fn several_reports_get_a_first_column() {
    let fixtures = Fixtures::new();
    let (one, two) = (fixtures.trace("two_streams_overlap"), fixtures.trace("two_processes_one_gpu"));
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    let ask = |reports: &[&str]| {
        stdout(&[&["run"], reports, &["--query", "cuda_api_sum", "--format", "csv"]].concat())
    };
    let (first, second) = (ask(&[one]), ask(&[two]));
    let mut expected = format!("report,{}\n", first.lines().next().unwrap());
    for (report, rows) in [(one, &first), (two, &second)] {
        for row in rows.lines().skip(1) {
            expected.push_str(&format!("{report},{row}\n"));
        }
    }
    assert_eq!(ask(&[one, two]), expected);
    let (code, out, error) =
        outcome(&["run", one, "/nowhere.sqlite", "--query", "cuda_api_sum", "--format", "csv"]);
    assert!(code == 1 && error.contains("/nowhere.sqlite: no such file"), "{error}");
    assert_eq!(out.lines().count(), first.lines().count(), "the other reports must still be answered");
}

#[test]
fn untrusted_names_are_escaped() {
    let (fixtures, report) = fixture("odd_rows");
    for format in ["text", "markdown", "html"] {
        for query in ["top_kernels", "cuda_gpu_trace", "cuda_api_trace"] {
            let out = stdout(&["run", &report, "--query", query, "--format", format]);
            let bad = out.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(bad, None, "{format} of {query} has a control character");
            let has_markup = out.contains("<script") || out.contains("<img") || out.contains("<b>");
            assert!(format == "text" || !has_markup, "{format} of {query} has unescaped markup");
        }
    }
    let out = fixtures.path().join("all.csv");
    stdout(&["run", &report, "--query", "cuda_gpu_trace", "-o", out.to_str().unwrap()]);
    let mut reader = csv::Reader::from_path(out).unwrap();
    let width = reader.headers().unwrap().len();
    assert!(reader.records().all(|record| record.unwrap().len() == width));
}

#[test]
fn the_extension_decides_the_format() {
    let (fixtures, report) = fixture("two_streams_overlap");
    for (extension, begins) in [
        ("csv", "rank,calls"),
        ("tsv", "rank\tcalls"),
        ("json", "{\n  \"nsq\""),
        ("ndjson", "{\"rank\":1"),
        ("md", "### Kernels by GPU time"),
        ("html", "<!DOCTYPE html>"),
        ("txt", "Kernels by GPU time"),
    ] {
        let path = fixtures.path().join(format!("out.{extension}"));
        let out = stdout(&["run", &report, "--query", "top_kernels", "-o", path.to_str().unwrap()]);
        assert_eq!(out, "");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(begins), "{extension}: {text}");
    }
}

#[test]
fn text_says_how_many_rows_it_leaves_out() {
    let (_fixtures, report) = fixture("two_streams_overlap");
    let out = stdout(&["run", &report, "--query", "cuda_api_trace", "--rows", "2"]);
    let all =
        stdout(&["run", &report, "--query", "cuda_api_trace", "--format", "csv"]).lines().count() - 1;
    assert!(
        out.ends_with(&format!("… {} rows of {all} not shown (--rows 0 shows all)\n", all - 2)),
        "{out}"
    );
}

#[test]
fn a_closed_pipe_is_success() {
    use std::io::Read;
    let (_fixtures, report) = fixture("two_streams_overlap");
    let program = nsq().get_program().to_owned();
    let endless =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 10000000) SELECT x FROM n";
    let mut child = std::process::Command::new(program)
        .args(["sql", &report, endless, "--format", "csv"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 4];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Runs nsq in a shell that redirects its streams, and returns the exit code and standard error.
#[cfg(unix)]
fn redirected(arguments: &[&str], how: &str) -> (Option<i32>, String) {
    let program = nsq().get_program().to_owned();
    let output = std::process::Command::new("sh")
        .args(["-c", &format!("exec \"$0\" \"$@\" {how}")])
        .arg(program)
        .args(arguments)
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(unix)]
#[test]
fn an_answer_that_standard_output_cannot_take_is_an_error() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let run: &[&str] = &["run", &report, "-q", "top_kernels"];
    let verbs: [&[&str]; 6] =
        [run, &["list"], &["--help"], &["--version"], &["show", "top_kernels"], &["stats", &report]];
    for arguments in verbs {
        for (how, reason) in [(">&-", "Bad file descriptor"), ("1</dev/null", "Bad file descriptor")] {
            // The one that reads is written with std's own stream, which counts it as written.
            if how != ">&-" && arguments[0].starts_with("--") {
                continue;
            }
            let (code, error) = redirected(arguments, how);
            let expected = format!("error: cannot write the output: {reason}");
            assert!(
                code == Some(1) && error.starts_with(&expected),
                "{arguments:?} {how}: {code:?} {error}"
            );
            assert_eq!(error.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{error}");
        }
    }
    // What prints nothing needs no standard output, and a full standard error changes no exit code.
    let file = fixtures.path().join("out.csv");
    let with_file = [run, &["-f", "csv", "-o", file.to_str().unwrap()]].concat();
    assert_eq!(redirected(&with_file, ">&-"), (Some(0), String::new()));
    assert!(file.metadata().unwrap().len() > 10);
    if Path::new("/dev/full").exists() {
        assert_eq!(redirected(&["run", &report, "-q", "nosuch"], "2>/dev/full").0, Some(2));
        let (code, error) = redirected(run, ">/dev/full");
        assert!(code == Some(1) && error.contains("No space left on device"), "{error}");
    }
}

/// Compares scopes by window, device, stream and process with a brute-force filter of the raw rows.
#[test]
fn scopes_keep_overlapping_kernels() {
    let fixtures = Fixtures::new();
    for trace in ["two_streams_overlap", "two_processes_one_gpu", "odd_rows"] {
        let report = fixtures.trace(trace);
        let raw: Vec<[i64; 5]> = {
            let connection = rusqlite::Connection::open(&report).unwrap();
            let mut statement = connection
                .prepare("SELECT start, end, deviceId, streamId, globalPid >> 24 & 16777215 FROM CUPTI_ACTIVITY_KIND_KERNEL")
                .unwrap();
            let rows = statement.query_map([], |row| {
                Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
            });
            rows.unwrap().map(Result::unwrap).collect()
        };
        let count = |options: &[&str]| -> usize {
            let report = report.to_str().unwrap();
            let sql = ["sql", report, "SELECT count(*) FROM kernel", "--format", "csv", "--no-header"];
            stdout(&[&sql[..], options].concat()).trim().parse().unwrap()
        };
        let brute = |keep: &dyn Fn(&[i64; 5]) -> bool| raw.iter().filter(|row| keep(row)).count();
        let mut edges: Vec<i64> =
            raw.iter().flat_map(|row| [row[0], row[1]]).filter(|ns| *ns >= 0).collect();
        edges.sort_unstable();
        edges.dedup();
        for (from, to) in edges
            .iter()
            .flat_map(|a| edges.iter().map(move |b| (*a, *b)))
            .filter(|(a, b)| a < b)
            .step_by(3)
        {
            let window = format!("{from}ns/{to}ns");
            let overlaps = |row: &[i64; 5]| row[0] < to && (row[1] > from || row[0] >= from);
            assert_eq!(count(&["--time", &window]), brute(&overlaps), "{trace} --time {window}");
        }
        for (option, column) in [("--device", 2), ("--stream", 3), ("--process", 4)] {
            let value = raw[0][column];
            let expected = brute(&|row: &[i64; 5]| row[column] == value);
            assert_eq!(count(&[option, &value.to_string()]), expected, "{trace} {option} {value}");
        }
    }
}

#[test]
fn threads_are_chosen_by_name_or_id() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let ask = |sql: &str, options: &[&str]| {
        let sql = ["sql", report, sql, "--format", "csv", "--no-header"];
        stdout(&[&sql[..], options].concat()).trim().to_owned()
    };
    let kernels = "SELECT count(*), sum(dur_ns) FROM kernel";
    let by_hand = |threads: &str| {
        let launched = "FROM kernel JOIN launch ON op_kind = 'kernel' AND op_id = kernel_id JOIN cuda_call USING (call_id)";
        ask(&format!("SELECT count(*), sum(kernel.dur_ns) {launched} WHERE {threads}"), &[])
    };
    let of = |name: &str| {
        by_hand(&format!(
            "cuda_call.global_tid IN (SELECT global_tid FROM thread WHERE thread_name = '{name}')"
        ))
    };
    let backward = of("pt_autograd_0");
    assert_ne!(backward, of("python"));
    assert_eq!(ask(kernels, &["--thread", "pt_autograd_0"]), backward);
    assert_eq!(ask(kernels, &["--thread", "pt_*"]), backward);
    let (one, both) = ("cuda_call.global_tid & 16777215 = 4161", ask(kernels, &[]));
    assert_eq!(ask(kernels, &["--thread", "4161"]), by_hand(one));
    assert_eq!(ask(kernels, &["--thread", "pt_*", "--thread", "python"]), both);
    // The same in the sweeps, for calls and for ranges.
    let busy = "SELECT sum(busy_ns) FROM gpu_window";
    assert_eq!(ask(busy, &["--thread", "*"]), ask(busy, &[]));
    assert_ne!(ask(busy, &["--thread", "python"]), ask(busy, &[]));
    let calls = "SELECT count(*), min(global_tid & 16777215), max(global_tid & 16777215) FROM cuda_call";
    assert_eq!(ask(calls, &["--thread", "data_loader"]), "43,4141,4142");
    assert_eq!(ask("SELECT count(*) FROM nvtx_range", &["--thread", "python"]), "352");
    assert_eq!(ask("SELECT count(*) FROM nvtx_range", &["--thread", "pt_*"]), "0");
    // Together with ranges, a launch must be in both.
    let step = ["--iter", "step/3", "--attribute", "process"];
    let sum = |options: &[&str]| -> i64 {
        ask("SELECT count(*) FROM kernel", &[&step[..], options].concat()).parse().unwrap()
    };
    assert_eq!(sum(&["--thread", "python"]) + sum(&["--thread", "pt_*"]), sum(&[]));
    assert!(sum(&["--thread", "python"]) > 0);
    let output =
        nsq().args(["run", report, "-q", "top_kernels", "--thread", "pyhton"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("unknown thread 'pyhton'") && error.contains("'python' (4101)"), "{error}");
}

#[test]
fn a_scope_that_does_not_apply_prints_a_note() {
    let (_fixtures, report) = fixture("two_streams_overlap");
    let output =
        nsq().args(["run", &report, "--query", "cuda_api_sum", "--device", "0"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("note: --device does not apply to cuda_call"), "{error}");
}

#[test]
fn no_rows_are_explained() {
    let (_fixtures, report) = fixture("gpu_idle");
    let cases: [(&[&str], &str); 4] = [
        (&["-q", "nccl_sum"], "note: nccl_sum returned no rows: no kernel is a collective\n"),
        (
            &["-q", "gpu_gaps", "-p", "gap_ms=5000"],
            "note: gpu_gaps returned no rows with -p gap_ms=5000: no gap is longer than gap_ms",
        ),
        (
            &["-q", "top_kernels", "-p", "limit=0"],
            "note: top_kernels returned no rows: the parameter limit is 0\n",
        ),
        // A parameter of another query.
        (
            &["-q", "nccl_sum", "-q", "top_kernels", "-p", "limit=1"],
            "note: nccl_sum returned no rows: no kernel is a collective\n",
        ),
    ];
    for (words, expected) in cases {
        let (code, _, error) = outcome(&[&["run", &report][..], words].concat());
        assert!(code == 0 && error.contains(expected), "want {expected}\n{error}");
    }
}

#[test]
fn advice_fits_the_tool_that_recorded() {
    let advice = |report: &Path| {
        let report = report.to_str().unwrap();
        stdout(&["run", report, "-q", "nvtx_coverage", "--columns", "advice", "-f", "csv"])
    };
    let fixtures = Fixtures::new();
    let from_nsys = advice(&fixtures.trace("kernel_gaps"));
    assert!(from_nsys.contains("capture with -t cuda"), "{from_nsys}");
    let trace = fixtures.path().join("trace.json");
    // A kernel whose call is not in the trace.
    let event = r#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1,
        "args": {"device": 0, "context": 1, "stream": 7, "correlation": 5}}"#;
    fs::write(&trace, format!("{{\"traceEvents\": [{event}]}}")).unwrap();
    let from_torch = advice(&trace);
    assert!(from_torch.contains("start the profiler a step earlier"), "{from_torch}");
    assert!(!from_torch.contains("-t cuda"), "{from_torch}");
}

#[test]
fn schema_lists_which_queries_can_run() {
    let (_fixtures, report) = fixture("nvtx_only");
    let documents = json(&["schema", &report, "--format", "json"]);
    let rows = documents[1]["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["query"] == name).unwrap();
    assert_eq!(row("nvtx_sum")["can_run"], "yes");
    assert_eq!(row("top_kernels")["can_run"], "no");
    assert_eq!(row("top_kernels")["record_with"], "--trace=cuda");
    assert!(row("top_kernels")["missing"].as_str().unwrap().contains("CUPTI_ACTIVITY_KIND_KERNEL"));
}

#[test]
fn sql_is_read_from_a_file_and_from_standard_input() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let sql = "SELECT count(*) AS n FROM kernel";
    let want = stdout(&["sql", &report, sql]);
    let file = fixtures.path().join("q.sql");
    fs::write(&file, format!("-- mine\n{sql};\n")).unwrap();
    assert_eq!(stdout(&["sql", &report, "--file", file.to_str().unwrap()]), want);
    let output = nsq().args(["sql", &report]).write_stdin(sql).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), want);
}

#[test]
fn sql_asks_each_report_of_a_folder_or_a_pattern() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let sql = "SELECT count(*) AS n FROM kernel";
    let one = stdout(&["sql", &report, sql, "-f", "csv", "--no-header"]);
    let folder = fixtures.path().join("run");
    fs::create_dir(&folder).unwrap();
    for name in ["rank0.sqlite", "rank1.sqlite"] {
        fs::copy(&report, folder.join(name)).unwrap();
    }
    let folder = folder.to_str().unwrap();
    for several in [folder.to_owned(), format!("{folder}/rank*.sqlite")] {
        let text = stdout(&["sql", &several, sql, "-f", "csv"]);
        let want = format!("report,n\n{folder}/rank0.sqlite,{one}{folder}/rank1.sqlite,{one}");
        assert_eq!(text, want);
        let (code, out, error) = outcome(&["sql", &several, "SELECT 1 FROM kernle"]);
        assert!(code == 1 && out.is_empty() && error.contains("no such table: kernle"), "{error}");
    }
    let (code, _, error) = outcome(&["sql", &report, &report, sql]);
    assert!(code == 2 && error.contains("tip: for several reports, give a folder"), "{error}");
}

#[test]
fn user_queries_replace_built_in_ones() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let text = stdout(&["show", "top_kernels"]);
    assert!(text.contains("queries/cuda/top_kernels.sql"));
    let original = fs::read_to_string(project("queries/cuda/top_kernels.sql")).unwrap();
    let folder = fixtures.path().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("top_kernels.sql"), original.replace("version: 1", "version: 9")).unwrap();
    let folder = folder.to_str().unwrap();
    stdout(&["run", &report, "--query", "top_kernels@9", "--queries", folder]);
    let by_path = format!("{folder}/top_kernels.sql");
    stdout(&["run", &report, "--query", &by_path]);
    let output = nsq().args(["list", "--format", "csv"]).env("NSQ_PATH", folder).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("user,top_kernels"));
}

#[test]
fn one_name_stands_for_one_query() {
    let fixtures = Fixtures::new();
    let query = |folder: &str, name: &str, number: i64| {
        let folder = fixtures.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{name}.sql"));
        let header = "version: 1\ntitle: T\nsummary: S.\nwhy: W.\nkind: sum\ntags: [cuda]\nreads: []\nrequires: []\n\
                      columns:\n  - {name: n, type: int, doc: \"N.\"}\nlimits: None are known.";
        let text = format!("/*---\nname: {name}\n{header}\n---*/\nSELECT {number} AS n ORDER BY 1\n");
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let files = [query("a", "q", 1), query("b", "q", 2), query("c", "top_kernels", 3)];
    let [first, second, other] = files.each_ref().map(String::as_str);
    let ask = |queries: [&str; 2]| {
        outcome(&["run", "fixtures/example.sqlite", "-q", queries[0], "-q", queries[1], "-f", "csv"])
    };
    for queries in [[first, second], [other, "top_kernels"], ["top_kernels", other]] {
        let (code, text, error) = ask(queries);
        assert!(code == 2 && text.is_empty(), "{queries:?}: {text}");
        assert!(error.contains("have the same name") && error.contains(queries[0]), "{error}");
    }
    for queries in [[first, other], [first, first], [first, "q"]] {
        let (code, text, error) = ask(queries);
        assert!(code == 0 && text.lines().count() >= 3, "{queries:?}: {text} {error}");
    }
}

#[test]
fn materialize_overwrites_only_with_force() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let plain = fixtures.path().join("plain.sqlite");
    let arguments = ["materialize", &report, "-o", plain.to_str().unwrap()];
    assert_eq!(outcome(&arguments).0, 0);
    let (code, _, error) = outcome(&arguments);
    assert!(code == 2 && error.contains("exists") && error.contains("--force"), "{error}");
    assert_eq!(outcome(&[&arguments[..], &["--force"]].concat()).0, 0);
    let (code, _, error) = outcome(&["materialize", &report, "-o", &report, "--force"]);
    assert!(code == 2 && error.contains("the report itself"), "{error}");
    let documented = stdout(&[
        "sql",
        plain.to_str().unwrap(),
        "SELECT count(*) FROM main.nsq_column",
        "--format",
        "csv",
    ]);
    assert!(documented.lines().nth(1).unwrap().parse::<usize>().unwrap() > 50);
}

#[test]
fn stats_takes_the_command_line_of_nsys() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let folder = fixtures.path();
    let base = folder.join("out");
    let base = base.to_str().unwrap();
    let arguments = [
        "stats",
        "-q",
        "-r",
        "cuda_gpu_kern_sum:base,cuda_api_sum",
        "-f",
        "csv,json",
        "-o",
        base,
        &report,
    ];
    let (code, _, error) = outcome(&arguments);
    assert_eq!(code, 0, "{error}");
    let kernels = fs::read_to_string(folder.join("out_cuda_gpu_kern_sum_base.csv")).unwrap();
    assert!(kernels.starts_with("Time (%),Total Time (ns),Instances,Avg (ns),"), "{kernels}");
    let calls: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("out_cuda_api_sum.json")).unwrap())
            .unwrap();
    assert!(calls[0]["Total Time (ns)"].is_i64());
    let (code, _, error) = outcome(&arguments);
    assert!(code == 2 && error.contains("--force-overwrite"), "{error}");
    assert_eq!(outcome(&[&["stats", "--force-overwrite=true"], &arguments[1..]].concat()).0, 0);
    let (code, out, _) = outcome(&["stats", "-r", "mpi_event_trace", &report]);
    assert!(code == 3 && out.contains("SKIPPED: "), "{out}");
    let (code, _, error) = outcome(&["stats", "-r", "nothing", &report]);
    assert!(code == 2 && error.contains("unknown query 'nothing'"), "{error}");
    let milliseconds =
        stdout(&["stats", "-q", "-r", "cuda_gpu_kern_sum", "-f", "csv", "--timeunit", "msec", &report]);
    assert!(milliseconds.starts_with("Time (%),Total Time (ms),"), "{milliseconds}");
    let names = |folder: &Path| fs::read_dir(folder).unwrap().count();
    assert_eq!(names(folder), 3, "the folder must have two outputs and the report");
}

#[test]
fn completions_and_version() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(stdout(&["completions", shell]).contains("nsq"));
    }
    assert_eq!(stdout(&["--version"]), format!("nsq {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(outcome(&[]).0, 2);
    assert_eq!(outcome(&["nonsense"]).0, 2);
}

#[test]
fn a_materialized_window_gives_the_same_answers() {
    let (fixtures, report) = fixture("two_streams_overlap");
    // Some answers name the report.
    let plain = fixtures.path().join("plain").join(Path::new(&report).file_name().unwrap());
    fs::create_dir(plain.parent().unwrap()).unwrap();
    let plain = plain.to_str().unwrap();
    let window = ["--time", "1600ns/2600ns"];
    stdout(&[&["materialize", &report, "-o", plain][..], &window].concat());
    let mut queries = crate::support::queries();
    queries.retain(|query| query != "report_info");
    let asked: Vec<&str> = queries.iter().flat_map(|query| ["--query", query]).collect();
    let want = outcome(&[&["run", &report, "--format", "json"][..], &asked, &window].concat());
    let got = outcome(&[&["run", plain, "--format", "json"][..], &asked].concat());
    // Each query answers, or lacks the data, on both sides. The facts beside the rows may differ.
    let answers = |text: &str| -> BTreeMap<String, (Value, Value)> {
        let documents: Vec<Value> = serde_json::from_str(text).unwrap();
        let answer = |of: Value| {
            (of["query"].as_str().unwrap().to_owned(), (of["columns"].clone(), of["rows"].clone()))
        };
        documents.into_iter().map(answer).collect()
    };
    let (got_rows, want_rows) = (answers(&got.1), answers(&want.1));
    assert!(got_rows.keys().eq(want_rows.keys()) && got.0 == want.0, "{}{}", got.2, want.2);
    assert!(got_rows.len() > 100, "{} answers", got_rows.len());
    for (query, rows) in &want_rows {
        assert_eq!(&got_rows[query], rows, "{query}");
    }
}

#[test]
fn parameters_go_to_the_queries_that_take_them() {
    let (_fixtures, report) = fixture("two_streams_overlap");
    let both =
        ["run", &report, "--query", "top_kernels", "--query", "osrt_sum", "--format", "json", "-p"];
    let documents = json(&[&both[..], &["limit=1"]].concat());
    assert_eq!(documents[0]["rows"].as_array().unwrap().len(), 1);
    assert!(documents[1]["rows"].as_array().unwrap().len() > 1);
    let (code, _, error) = outcome(&[&both[..], &["nobody=1"]].concat());
    assert!(code == 2 && error.contains("unknown parameter 'nobody'"), "{error}");
}

#[cfg(unix)]
#[test]
fn output_devices_and_links_keep_their_type() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let (fixtures, report) = fixture("two_streams_overlap");
    let write = |path: &Path| {
        stdout(&["run", &report, "--query", "top_kernels", "-f", "csv", "-o", path.to_str().unwrap()])
    };
    write(Path::new("/dev/null"));
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let (target, link) = (fixtures.path().join("target.csv"), fixtures.path().join("link.csv"));
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&target, &link).unwrap();
    write(&link);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().starts_with("rank,"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    // The target of a link may not exist yet; a new file has the permissions that the user asked for.
    let (target, link) = (fixtures.path().join("new.csv"), fixtures.path().join("far.csv"));
    symlink("new.csv", &link).unwrap();
    let arguments = ["run", &report, "-q", "top_kernels", "-o", link.to_str().unwrap()];
    let program = nsq().get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "umask 027; exec \"$0\" \"$@\""]).arg(program).args(arguments);
    assert!(command.env("HOME", "/nonexistent").status().unwrap().success());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_failed_run_does_not_replace_the_output_file() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let file = fixtures.path().join("out.csv");
    fs::write(&file, "old").unwrap();
    let arguments =
        ["run", &report, "/nowhere.sqlite", "-q", "top_kernels", "-o", file.to_str().unwrap()];
    assert_eq!(outcome(&arguments).0, 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
}

#[test]
fn columns_with_the_same_name_are_numbered_in_json() {
    let (_fixtures, report) = fixture("two_streams_overlap");
    let document = json(&["sql", &report, "SELECT 1 AS a, 2 AS a", "--format", "json"]);
    assert_eq!(document["rows"][0]["a"], 1);
    assert_eq!(document["rows"][0]["a:2"], 2);
}

#[test]
fn the_output_cannot_be_the_report() {
    let (_fixtures, report) = fixture("two_streams_overlap");
    let before = fs::read(&report).unwrap();
    let outputs: [&[&str]; 4] = [
        &["run", &report, "--query", "top_kernels", "-f", "csv", "-o", &report],
        &["sql", &report, "SELECT 1", "-f", "csv", "-o", &report],
        &["schema", &report, "-f", "csv", "-o", &report],
        &["materialize", &report, "-o", &report, "--force"],
    ];
    for arguments in outputs {
        let (code, _, error) = outcome(arguments);
        assert!(
            code == 2 && error.contains("the output is the report itself"),
            "{arguments:?}: {error}"
        );
    }
    assert_eq!(fs::read(&report).unwrap(), before);
}

#[test]
fn a_query_by_path_is_read_from_that_file() {
    let (fixtures, report) = fixture("two_streams_overlap");
    let query = "/*---\nname: top_kernels\nversion: 7\ntitle: Mine\nsummary: Mine.\nwhy: To test.\nkind: sum\n\
                 tags: [kernel]\nreads: [all_kernel, scope]\ncolumns:\n  - {name: n, type: int, unit: count, doc: \"Kernels.\"}\n\
                 limits: None.\n---*/\nSELECT count(*) AS n FROM all_kernel JOIN scope ON true";
    for name in ["mine.sql", "top_kernels.txt"] {
        let path = fixtures.path().join(name);
        fs::write(&path, query).unwrap();
        let document = json(&["run", &report, "--query", path.to_str().unwrap(), "--format", "json"]);
        assert_eq!((&document["version"], &document["rows"][0]["n"]), (&7.into(), &7.into()), "{name}");
    }
}

#[test]
fn nvtx_scopes_select_operations() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nvtx_projection");
    let report = report.to_str().unwrap();
    let ops = |options: &[&str]| {
        let mut all = vec![
            "sql",
            report,
            "SELECT count(*), sum(dur_ns) FROM gpu_op",
            "--format",
            "csv",
            "--no-header",
        ];
        all.extend(options);
        stdout(&all).trim_end().to_owned()
    };
    // From the header of the trace: launches 1, 2 and 6, and o1 and o2 (gpu_op has no whole graphs).
    assert_eq!(ops(&["--nvtx", "step 0"]), "4,290");
    assert_eq!(ops(&["--iter", "step", "0", "--process", "12001"]), "3,190");
    assert_eq!(ops(&["--iter", "step 0", "--process", "12001"]), "3,190");
    // Only launch 1 is in the addmm of step 0.
    assert_eq!(ops(&["--nvtx", "aten::addmm*", "--iter", "step", "0"]), "1,100");
    assert_eq!(ops(&["--nvtx", "aten::addmm*/1"]), "1,100");
    // The autograd thread's launches 3, 4 and 5 are in step 0 by process.
    assert_eq!(ops(&["--nvtx", "step 0", "--process", "12001", "--attribute", "process"]), "6,510");
    // Operations without an API row are in no range, so --exclude keeps them.
    let (all, without) = (ops(&[]), ops(&["--exclude", "step *"]));
    assert_ne!(all, without);
    let early = "SELECT count(*) FROM kernel WHERE short_name = 'early'";
    let (_, rows, _) =
        outcome(&["sql", report, early, "--exclude", "step *", "--format", "csv", "--no-header"]);
    assert_eq!(rows.trim_end(), "1");
}

#[test]
fn unknown_ranges_get_a_suggestion() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nvtx_projection");
    let report = report.to_str().unwrap();
    let (code, _, error) = outcome(&["run", report, "--query", "nvtx_tree", "--nvtx", "forwrd"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("did you mean 'forward'"), "{error}");
    let (_, _, error) = outcome(&["run", report, "--query", "nvtx_tree", "--nvtx", "stepp"]);
    assert!(error.contains("did you mean 'step *'?"), "{error}");
    let (_, _, error) = outcome(&["run", report, "--query", "nvtx_tree", "--nvtx", "aten"]);
    assert!(error.contains("did you mean 'aten::addmm'?"), "{error}");
    let (code, _, error) = outcome(&["run", report, "--query", "nvtx_tree", "--iter", "step", "9"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("no instance 9 of NVTX range 'step'"), "{error}");
    let (code, _, error) = outcome(&["run", report, "--query", "nvtx_tree", "--nvtx", ""]);
    assert_eq!(code, 2, "{error}");
}

#[test]
fn user_rules_come_first_and_invalid_ones_are_errors() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nvtx_projection");
    let names = fixtures.path().join("names");
    fs::create_dir(&names).unwrap();
    let rules = names.join("phases.yml");
    let write = |pattern: &str| {
        let text = format!(
            "name: phases\ndoc: Ours.\nrules:\n  - {{match: '{pattern}', phase: communication, why: A test.}}\n"
        );
        fs::write(&rules, text).unwrap();
    };
    let run = || {
        let (report, folder) = (report.to_str().unwrap(), fixtures.path().to_str().unwrap());
        outcome(&["run", report, "--query", "phases", "--queries", folder, "--format", "csv"])
    };
    write("^forward$");
    let (code, rows, error) = run();
    assert_eq!(code, 0, "{error}");
    assert!(rows.contains("communication"), "{rows}");
    write("(");
    let (code, _, error) = run();
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("phases.yml") && error.contains("rule `(`"), "{error}");
}

/// The forward and backward passes of a pipeline have the same phases under each of their usual names.
#[test]
fn passes_of_pipelines_are_phases() {
    let fixtures = Fixtures::new();
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("r.sqlite");
    let phases = |forward: &str, backward: &str| -> Vec<(String, String)> {
        fs::copy(fixtures.trace("nested_nvtx"), &report).unwrap();
        let connection = rusqlite::Connection::open(&report).unwrap();
        for (old, new) in [("forward", forward), ("backward", backward)] {
            connection.execute("UPDATE NVTX_EVENTS SET text = ? WHERE text = ?", [new, old]).unwrap();
        }
        drop(connection);
        let report = report.to_str().unwrap();
        let answer = stdout(&["run", report, "-q", "phases", "-f", "csv", "--columns", "phase,gpu_ns"]);
        let rows = answer.lines().skip(1).filter_map(|line| line.split_once(','));
        rows.filter(|(phase, _)| matches!(*phase, "forward" | "backward"))
            .map(|(phase, ns)| (phase.to_owned(), ns.to_owned()))
            .collect()
    };
    let usual = phases("forward", "backward");
    assert_eq!(
        usual,
        [("forward".to_owned(), "300".to_owned()), ("backward".to_owned(), "250".to_owned())]
    );
    for (forward, backward) in [("F0.0", "B0.0"), ("F3.1", "W3.1"), ("F", "B"), ("F7", "B7")] {
        assert_eq!(phases(forward, backward), usual, "{forward} {backward}");
    }
    // One letter alone may be anything.
    assert!(phases("x", "B").iter().all(|(_, ns)| ns == "0"));
    assert!(phases("F16", "y").iter().all(|(_, ns)| ns == "0"));
}

/// `nsq NAME` runs `nsq-NAME`, as git does.
#[cfg(unix)]
#[test]
fn an_unknown_verb_runs_the_program_of_its_name() {
    use std::os::unix::process::ExitStatusExt;
    let folder = tempfile::tempdir().unwrap();
    let program = |name: &str, script: &str| {
        write_program(&folder.path().join(name), format!("#!/bin/sh\n{script}\n").as_bytes());
    };
    program("nsq-shout", r#"for word; do echo "[$word]"; done; exit 7"#);
    program("nsq-fall", "kill -TERM $$");
    program("nsq-list", "echo wrong");
    fs::write(folder.path().join("nsq-data"), "no program").unwrap();
    let path =
        std::env::join_paths([folder.path().to_owned(), "/usr/bin".into(), "/bin".into()]).unwrap();
    let run = |arguments: &[&str]| nsq().args(arguments).env("PATH", &path).output().unwrap();
    let output = run(&["shout", "--iter", "step", "3", "a b", "", "--help"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"[--iter]\n[step]\n[3]\n[a b]\n[]\n[--help]\n");
    assert_eq!(run(&["help", "shout"]).stdout, b"[--help]\n");
    assert_eq!(run(&["fall"]).status.signal(), Some(15));
    // A verb of nsq is never looked for.
    assert_ne!(run(&["list"]).stdout, b"wrong\n");
    for name in ["data", "absent", "mpc"] {
        let output = run(&[name]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(
            error.starts_with(&format!("error: '{name}' is neither a verb of nsq nor a file")),
            "{error}"
        );
    }
    // The current folder is not searched, and neither are names that are paths.
    for (name, path, code) in [("shout", ".", 2), ("./shout", "/bin", 1), ("../shout", "/bin", 1)] {
        let output = nsq().arg(name).env("PATH", path).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}");
    }
    assert!(stdout(&["--help"]).contains("`nsq NAME` runs the program nsq-NAME"));
    // One option of a verb is a program of its own.
    let own = folder.path().join("nsq");
    write_program(&own, &fs::read(env!("CARGO_BIN_EXE_nsq")).unwrap());
    let export = |words: &[&str]| {
        let mut command = std::process::Command::new(&own);
        command.arg("export").args(words).env("PATH", "/usr/bin:/bin").output().unwrap()
    };
    let absent = export(&["--perfetto", "a.sqlite", "b.sqlite"]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&absent.stderr).contains("no program nsq-perfetto"), "{absent:?}");
    program("nsq-perfetto", r#"for word; do echo "[$word]"; done"#);
    let output = export(&["-o", "t.pftrace.gz", "--perfetto", "a.sqlite", "b.sqlite"]);
    assert_eq!(output.stdout, b"[-o]\n[t.pftrace.gz]\n[a.sqlite]\n[b.sqlite]\n", "{output:?}");
    let file = export(&["--", "--perfetto"]);
    assert_eq!(file.status.code(), Some(1), "a file of this name: {file:?}");
}

/// What a shell offers for a command line that ends with an unfinished word. `None`: the shell is not here.
fn offered(shell: &str, words: &[&str]) -> Option<Vec<String>> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let (quoted, last) = (quoted.join(" "), words.len() - 1);
    let script = match shell {
        "bash" => format!(
            "source <(nsq completions bash); COMP_WORDS=({quoted}); COMP_CWORD={last}; COMP_TYPE=9
             _clap_complete_nsq nsq \"${{COMP_WORDS[$COMP_CWORD]}}\" x; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        ),
        // Outside a completion, zsh has neither of the two functions.
        "zsh" => format!(
            "compdef() {{ : }}; _describe() {{ print -l -- ${{(P)3}} }}
             source <(nsq completions zsh); words=({quoted}); CURRENT={}; _clap_dynamic_completer_nsq",
            words.len()
        ),
        _ => format!("nsq completions fish | source; complete -C {:?}", words.join(" ")),
    };
    let program = nsq().get_program().to_owned();
    let folder = Path::new(&program).parent().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = std::process::Command::new(shell)
        .args(["-c", &script])
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("HOME", std::env::temp_dir())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // zsh and fish print what a name means after it.
    let name = |line: &str| line.split([':', '\t']).next().unwrap_or_default().to_owned();
    Some(text.lines().map(name).filter(|line| !line.is_empty()).collect())
}

#[cfg(unix)]
#[test]
fn completions_know_names() {
    let report = project("fixtures/example.sqlite").to_str().unwrap().to_owned();
    for shell in ["bash", "zsh", "fish"] {
        let Some(queries) = offered(shell, &["nsq", "run", &report, "--query", "gpu_idle_cause"]) else {
            println!("skipped: no {shell} here");
            continue;
        };
        assert_eq!(queries, ["gpu_idle_cause_sum", "gpu_idle_causes"], "{shell}");
        let offered = |words: &[&str]| offered(shell, &[&["nsq"], words].concat()).unwrap();
        assert_eq!(offered(&["page", "ov"]), ["overview"], "{shell}");
        assert!(offered(&["show", "kern"]).contains(&"kernel".to_owned()), "{shell}");
        assert_eq!(offered(&["run", &report, "-q", "top_kernels", "-p", "li"]), ["limit="], "{shell}");
        let steps = offered(&["run", &report, "--iter", "st"]);
        let all = if shell == "bash" { "step\\ \\*" } else { "step *" };
        assert!(steps.len() == 6 && steps[0] == all, "{shell}: {steps:?}");
        assert_eq!(offered(&["run", "/no/such/report.sqlite", "--iter", "st"]), [""; 0], "{shell}");
    }
}

#[test]
fn help_is_short_first_and_wraps_once() {
    let help = stdout(&["--help"]);
    let first = help.split("\n\n").find(|part| part.starts_with("  nsq REPORT")).unwrap();
    let verbs: Vec<&str> = first.lines().map(|line| line[2..15].trim_end()).collect();
    assert_eq!(
        verbs,
        ["nsq REPORT", "run", "list", "show", "sql", "diff", "timeline", "schema"],
        "{help}"
    );
    assert!(help.lines().count() <= 55 && stdout(&["-h"]).lines().count() <= 16, "{help}");
    for hidden in ["page", "overview", "baseline"] {
        assert!(!help.contains(&format!("\n  {hidden} ")), "{help}");
    }
    let width = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
    for verb in nsq::cli::command().get_subcommands() {
        let name = verb.get_name();
        if !verb.is_hide_set() {
            let line = format!("\n  {name:12} {}\n", verb.get_about().unwrap());
            assert!(help.contains(&line) && line.len() <= 85, "{line}");
        }
        let (short, long) = (stdout(&[name, "-h"]), stdout(&[name, "--help"]));
        assert!(short.lines().count() <= 60, "{short}");
        assert!(width(&short) <= 100 && width(&long) <= 100, "{long}");
        // Text that was broken into lines before would be broken twice.
        let prose = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let lines: Vec<&str> = prose.lines().collect();
        let broken = lines.windows(2).find(|pair| is_prose(pair[0]) && is_prose(pair[1]));
        assert!(broken.is_none(), "nsq {name} --help: {broken:?}");
    }
}
