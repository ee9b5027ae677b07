//! Tables on a terminal: no line is wider, and what is left out is said.
#![cfg(unix)]

use crate::support::{Fixtures, depth_of, nsq, outcome, project, shared, stdout, turn};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use unicode_width::UnicodeWidthStr;

/// What nsq prints on a terminal of this width, without colours.
fn on_terminal(width: u16, arguments: &[&str]) -> String {
    on_terminal_in(Path::new("."), width, arguments)
}

fn on_terminal_in(folder: &Path, width: u16, arguments: &[&str]) -> String {
    let (code, screen) = run_on_terminal(folder, width, arguments);
    assert!(matches!(code, Some(0 | 3)), "{arguments:?}");
    screen
}

/// The exit code of a run on a terminal, and what is on it then.
pub fn run_on_terminal(folder: &Path, width: u16, arguments: &[&str]) -> (Option<i32>, String) {
    let mut screen = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap();
    let terminal = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let size = Winsize { ws_row: 50, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).unwrap();
    let program = nsq().get_program().to_owned();
    let mut command = Command::new(program);
    command.args(arguments).env("NO_COLOR", "1").env("HOME", "/nonexistent").env_remove("COLUMNS");
    command.stdin(Stdio::null()).stdout(Stdio::from(terminal)).stderr(Stdio::null());
    command.current_dir(folder);
    let mut child = command.spawn().unwrap();
    // The command holds the terminal's other end: reading must not wait for it.
    drop(command);
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    // At its end a pseudo-terminal fails to be read.
    while let Ok(count @ 1..) = screen.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    (child.wait().unwrap().code(), String::from_utf8(bytes).unwrap().replace("\r\n", "\n"))
}

const QUERIES: [&str; 6] =
    ["top_kernels", "gpu_time", "nvtx_tree", "launch_latency", "memory_ops", "gpu_idle_causes"];

/// The fixture, and real exports where they are.
fn reports() -> Vec<PathBuf> {
    let mut reports = vec![project("fixtures/example.sqlite")];
    if let Some(shared) = shared() {
        let names = ["rtx3090x2_ddp_nccl_2026.3", "a100_opt_nvtx_2026.3", "rtx3060_23k"];
        reports.extend(names.map(|name| shared.join(format!("data/exports/{name}.sqlite"))));
    }
    reports
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let (reports, fixtures) = (reports(), Fixtures::new());
    let mut commands: Vec<Vec<String>> = Vec::new();
    for path in &reports {
        // By its name, from its folder: a longer path, a word that no line can break, would be
        // wider than the terminal on some machines.
        let report = path.file_name().unwrap().to_str().unwrap().to_owned();
        symlink(path, fixtures.path().join(&report)).unwrap();
        let mut run = vec!["run".to_owned(), report.clone()];
        run.extend(QUERIES.iter().flat_map(|query| ["-q".to_owned(), (*query).to_owned()]));
        commands.push(run);
        commands.push(vec!["kernels".to_owned(), report.clone(), "--gaps".to_owned()]);
        let verbs = [
            &["breakdown", "--out-dir", "."][..],
            &["answer"],
            &["schema"],
            &["page", "kernels"],
            &["overview"],
        ];
        for verb in verbs {
            commands.push(verb.iter().copied().chain([report.as_str()]).map(str::to_owned).collect());
        }
        commands.push(vec!["diff".to_owned(), report, "example.sqlite".to_owned()]);
    }
    // Each command at 80 columns and at one other width, and at all at full depth.
    let others = depth_of(3);
    for (nth, command) in commands.iter().enumerate() {
        for width in
            [80].into_iter().chain([100, 120, 200].into_iter().cycle().skip(nth + turn()).take(others))
        {
            let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
            let text = on_terminal_in(fixtures.path(), width, &arguments);
            assert!(text.lines().count() > 3, "{arguments:?}: {text}");
            for line in text.lines() {
                assert!(line.width() <= width.into(), "{width}, {arguments:?}:\n{line}");
            }
        }
    }
}

#[test]
fn what_a_report_lacks_is_listed_in_full() {
    let fixtures = Fixtures::new();
    let path = fixtures.trace("nvtx_only");
    let report = path.to_str().unwrap();
    let narrow = on_terminal(80, &["schema", report]);
    let text = narrow.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("can run ") && text.contains(" attention_work, "), "{narrow}");
    assert!(text.contains("no data table ") && !text.contains('…'), "{narrow}");
    let lack = "table CUPTI_ACTIVITY_KIND_KERNEL is missing; record with --trace=cuda: ";
    assert!(text.contains(lack), "{narrow}");
    let rows = stdout(&["schema", report, "-f", "csv"]);
    let queries = rows.split("\n\n").nth(1).unwrap().lines().skip(1);
    for query in queries.filter_map(|line| line.split(',').next()) {
        assert!(text.contains(query), "{query}: {narrow}");
    }
    assert!(on_terminal(80, &["schema", report, "--wide"]).contains("record_with"));
}

#[test]
fn commands_that_wrap_can_be_copied() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let commands = |text: &str| -> Vec<String> {
        let text = text.replace(" \\\n", " ");
        let lines = text.lines().filter(|line| line.trim_start().starts_with("- nsq run"));
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let wide = stdout(&["answer", "--details", report, "--part", "d"]);
    assert!(!commands(&wide).is_empty() && !wide.contains(" \\\n"), "{wide}");
    assert_eq!(
        commands(&on_terminal(80, &["answer", "--details", report, "--part", "d"])),
        commands(&wide)
    );
}

#[test]
fn what_is_left_out_is_said_and_wide_shows_it() {
    let report = project("fixtures/example.sqlite");
    let ask = ["run", report.to_str().unwrap(), "-q", "top_kernels"];
    let narrow = on_terminal(80, &ask);
    let last = narrow.lines().rev().take(3).collect::<Vec<_>>().join(" ");
    assert!(last.contains("not shown: ") && last.contains("(--wide shows all"), "{narrow}");
    let wide = on_terminal(80, &[&ask[..], &["--wide"]].concat());
    assert!(!wide.contains("not shown: ") && wide.contains("stddev"), "{wide}");
}

#[test]
fn headers_are_the_same_in_text_html_markdown_and_show() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    for query in QUERIES {
        let html = stdout(&["run", report, "-q", query, "-f", "html"]);
        let headers: Vec<String> = html
            .split("<th")
            .skip(1)
            .filter_map(|rest| rest.split_once("</th>")?.0.rsplit_once('>'))
            .map(|(_, header)| header.to_owned())
            .filter(|header| !header.is_empty())
            .collect();
        assert!(headers.len() > 4, "{html}");
        let unique: std::collections::BTreeSet<&String> = headers.iter().collect();
        assert_eq!(unique.len(), headers.len(), "{query}: {headers:?}");
        let markdown = stdout(&["run", report, "-q", query, "-f", "markdown"]);
        let row = markdown.lines().find(|line| line.starts_with('|')).unwrap().replace('\\', "");
        assert_eq!(row.trim_matches(['|', ' ']).split(" | ").collect::<Vec<_>>(), headers, "{query}");
        let text = stdout(&["run", report, "-q", query]);
        let table: Vec<&str> = text.lines().skip(2).collect();
        let page = stdout(&["show", query]);
        for header in &headers {
            let is_named = |line: &&str| header.split(' ').any(|word| line.contains(word));
            assert!(table.iter().take(3).any(is_named), "{query}, {header}: {text}");
            let shown = page.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains(&format!("\"{header}\"")) || shown.contains(&format!(" {header} ")));
        }
    }
}

#[test]
fn columns_are_chosen_by_name_or_header_in_every_format() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let ask = |columns: &str, format: &str| {
        stdout(&[
            "run",
            report,
            "-q",
            "top_kernels",
            "-p",
            "limit=1",
            "--columns",
            columns,
            "-f",
            format,
        ])
    };
    assert_eq!(ask("total_ns,calls", "csv"), "total_ns,calls\n71904926,170\n");
    assert!(
        ask("calls,kernel", "markdown").starts_with("### Kernels by GPU time\n\n| calls | kernel |")
    );
    let (code, _, error) = outcome(&["run", report, "-q", "top_kernels", "--columns", "total_n"]);
    assert!(code == 2 && error.contains("unknown column 'total_n'"), "{error}");
    assert!(error.contains("did you mean 'total_ns'?"), "{error}");
}

#[test]
fn several_reports_have_short_names_for_people_and_paths_for_programs() {
    let fixtures = Fixtures::new();
    let [a, b] = ["nested_nvtx", "two_streams_overlap"].map(|trace| fixtures.trace(trace));
    let ask = |format: &str| {
        stdout(&["run", a.to_str().unwrap(), b.to_str().unwrap(), "-q", "gpu_span", "-f", format])
    };
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let text = ask("text");
    assert!(text.contains(&name(&a)) && !text.contains(a.to_str().unwrap()), "{text}");
    assert!(ask("csv").contains(a.to_str().unwrap()));
}

#[test]
fn empty_results_say_why() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let ask = |arguments: &[&str]| outcome(&[&["run", report], arguments].concat());
    let (code, _, error) = ask(&["-q", "top_kernels", "--time", "500s/600s"]);
    assert!(code == 0 && error.contains("--time 500s/600s leaves none of the"), "{error}");
    assert!(error.contains("rows of `kernel` in the report, from 0."), "{error}");
    let (code, _, error) = ask(&["-q", "top_kernels", "--device", "7"]);
    assert!(code == 2 && error.contains("unknown device 7"), "{error}");
    assert!(error.contains("device IDs in the report: 0, 1"), "{error}");
    let (code, _, error) = ask(&["-q", "top_kernels", "--stream", "99"]);
    assert!(code == 2 && error.contains("unknown stream 99"), "{error}");
    let (code, _, error) = ask(&["-q", "gpu_gaps"]);
    assert!(code == 0 && error.contains("note: gpu_gaps returned no rows: "), "{error}");
}

#[test]
fn figures_that_leave_out_other_threads_say_how_much() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let (_, _, error) = outcome(&["run", report, "-q", "iterations"]);
    // The ranges that the query chose.
    assert!(error.contains("the threads of 'step *' launched 139.56 ms of GPU time"), "{error}");
    assert!(error.contains("`--attribute process` adds 256.05 ms"), "{error}");
    let (_, _, error) = outcome(&["run", report, "-q", "iterations", "--attribute", "process"]);
    assert!(!error.contains("--attribute"), "{error}");
    let (_, _, error) = outcome(&["run", report, "-q", "range_names"]);
    assert!(error.contains("61.8 % of GPU time is in no range of range_names"), "{error}");
    let (_, _, error) = outcome(&["run", report, "-q", "range_time", "-p", "ranges=forward"]);
    assert!(!error.contains("--attribute"), "{error}");
    let trace = project("fixtures/trace.json.gz");
    let asked = ["run", trace.to_str().unwrap(), "-q", "iterations", "--no-cache", "-f", "csv"];
    let by_default = stdout(&asked);
    assert_eq!(by_default, stdout(&[&asked[..], &["--attribute", "process"]].concat()));
    assert_ne!(by_default, stdout(&[&asked[..], &["--attribute", "thread"]].concat()));
}

/// The autograd thread of the trace has ranges of its own, so its launches are in a range: only not in those of
/// the main thread. By process, `backward` holds launches 3, 4, 5, 8 and g: 200 + 20 + 100 + 150 + 200 ns.
#[test]
fn selected_ranges_say_what_other_threads_launched_in_them() {
    let fixtures = Fixtures::new();
    let (report, other) = (fixtures.trace("nvtx_projection"), fixtures.trace("gpu_idle"));
    let (report, other) = (report.to_str().unwrap(), other.to_str().unwrap());
    let notes = |words: &[&str]| outcome(&[&["run", report], words].concat()).2;
    let launched = |ranges: &str, own: &str, more: &str| {
        format!("the threads of {ranges} launched {own} of GPU time; `--attribute process` adds {more} ")
    };
    let cases: [(&[&str], String); 7] = [
        (&["-q", "range_time", "-p", "ranges=backward"], launched("'backward'", "0 ns", "670 ns")),
        (&["-q", "gpu_time_by_range", "-p", "range=step ?"], launched("'step ?'", "950 ns", "670 ns")),
        (&["-q", "top_kernels", "--nvtx", "backward"], launched("--nvtx 'backward'", "0 ns", "670 ns")),
        (&["-q", "nvtx_tree", "--nvtx", "backward"], launched("--nvtx 'backward'", "0 ns", "670 ns")),
        // Launch 8 only.
        (
            &["-q", "top_kernels", "--iter", "backward", "1"],
            launched("--iter 'backward/1'", "0 ns", "150 ns"),
        ),
        // The operations of that time: only launch 3 has run.
        (
            &["-q", "top_kernels", "--nvtx", "backward", "--time", "1400ns/1600ns"],
            launched("--nvtx 'backward'", "0 ns", "200 ns"),
        ),
        (
            &["-q", "range_time", "-p", "ranges=backward", "--exclude", "step 1"],
            launched("'backward'", "0 ns", "520 ns"),
        ),
    ];
    for (words, expected) in cases {
        let error = notes(words);
        assert!(error.contains(&expected), "want {expected}\n{error}");
        let by_process = notes(&[words, &["--attribute", "process"]].concat());
        assert!(!by_process.contains("`--attribute process`"), "{by_process}");
        assert!(!notes(&[words, &["-f", "csv"]].concat()).contains("--attribute"));
    }
    // With several reports, each has its notes.
    let query = ["-q", "range_time", "-p", "ranges=backward"];
    let (_, _, error) = outcome(&[&["run", report, report, other], &query[..]].concat());
    assert_eq!(error.matches(&launched("'backward'", "0 ns", "670 ns")).count(), 2, "{error}");
    let (_, _, error) = outcome(&["run", report, other, "-q", "nccl_sum"]);
    let name = Path::new(other).file_name().unwrap().to_str().unwrap();
    assert!(error.contains(&format!("note: {name}: nccl_sum returned no rows: ")), "{error}");
}

#[test]
fn instances_in_the_wrong_place_are_explained() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let cases: [(&[&str], &str); 12] = [
        (&["iterations", "-p", "tag=step[2..4]"], "tag takes a name only; `--iter 'step' 2..4` selects"),
        (&["range_time", "-p", "ranges=step/3"], "ranges takes a name only; `--iter 'step' 3` selects"),
        (&["iterations", "-p", "tag=step 2..4"], "tag takes a name only; `--iter 'step' 2..4` selects"),
        (&["iterations", "-p", "tag=sum@NCCL"], "tag takes no @DOMAIN; write tag='NCCL:sum'"),
        (&["iterations", "--iter", "step", "4..2"], "invalid instances 4..2 of NVTX range 'step'"),
        (&["iterations", "--iter", "step", "4..2"], "help: write --iter 'step' 2..4"),
        (&["iterations", "--nvtx", "step/4..2"], "help: write 'step/2..4'"),
        (
            &["iterations", "--nvtx", "step", "3"],
            "3: no such file\n  help: instances follow the name of their range",
        ),
        (
            &["profiler_steps", "--iter", "forward"],
            "no range inside --iter forward matches the default tag=ProfilerStep#*; name the ranges with -p tag='forward*'",
        ),
        (&["iterations", "-p", "range=step"], "unknown parameter 'range'\n  help: did you mean 'tag'?"),
        (&["range_time", "-p", "tag=step"], "unknown parameter 'tag'\n  help: did you mean 'ranges'?"),
        (&["nvtx_kernels", "-p", "iter-tag=step"], "help: did you mean 'range'?"),
    ];
    for (words, expected) in cases {
        let (_, _, error) = outcome(&[&["run", report, "-q"], words].concat());
        assert!(error.contains(expected), "want {expected}\n{error}");
    }
}

#[test]
fn a_process_without_gpu_work_is_named_as_the_reason() {
    let fixtures = Fixtures::new();
    let path = fixtures.trace("two_processes_one_gpu");
    let report = path.to_str().unwrap();
    let idle = "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (77 << 24, 77, 'sleeper')";
    rusqlite::Connection::open(&path).unwrap().execute(idle, []).unwrap();
    let (code, _, error) = outcome(&["run", report, "-q", "top_kernels", "--process", "77"]);
    let reason = "top_kernels returned no rows: process 77 (sleeper) has no GPU work and no CUDA calls in the report";
    assert!(code == 0 && error.contains(reason), "{error}");
}

#[test]
fn displayed_names_are_accepted() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let ask = |name: &str| stdout(&["run", report, "-q", "top_kernels", "-f", "csv", "--nvtx", name]);
    assert_eq!(ask("att…tion"), ask("attention"));
    assert_eq!(ask("layer *"), ask("layer ?"));
}

#[test]
fn the_list_is_searched_by_words_and_synonyms() {
    let list = |words: &[&str]| stdout(&[&["list"], words].concat());
    assert!(list(&["bottleneck"]).contains("gpu_idle_causes"));
    assert!(list(&["slow", "copy"]).contains("cuda_memcpy_async"));
    let (_, out, error) = outcome(&["list", "kernal"]);
    assert!(out.contains("(no match)") && error.contains("did you mean 'kernel'"), "{error}");
}

#[test]
fn a_question_finds_its_queries_best_first() {
    let names = |words: &[&str]| -> Vec<String> {
        let (code, out, error) = outcome(&[&["list", "--format", "csv", "--no-header"], words].concat());
        assert_eq!((code, error.as_str()), (0, ""), "{words:?}");
        out.lines().map(|line| line.split(',').nth(1).unwrap().to_owned()).collect()
    };
    let idle = names(&["why is my gpu idle?"]);
    assert_eq!(idle[..2], ["gpu_idle_cause_sum", "gpu_idle_causes"]);
    assert_eq!(idle, names(&["gpu", "idle"]), "filler words and quotes do not count");
    assert_eq!(names(&["which kernels take the most time"])[0], "top_kernels");
    assert_eq!(names(&["launched", "overheads"])[0], "launch_latency");
    // `use` is a filler word, and no part of `cause`.
    assert!(!names(&["how much gpu time does nccl use"]).contains(&"gpu_idle_causes".to_owned()));
    // A filler word alone is searched for.
    assert!(!names(&["data"]).is_empty());
    let (_, out, error) = outcome(&["list", "gpu idle frobnicate"]);
    assert!(out.starts_with("gpu_idle_cause_sum "), "{out}");
    assert!(
        error.contains("no answer about 'frobnicate'; the nearest is gpu_idle_cause_sum"),
        "{error}"
    );
}

#[test]
fn lists_begin_with_what_people_ask() {
    use nsq::manual::ASKED_FIRST;
    let listed = stdout(&["list"]);
    assert!(listed.starts_with("questions\n  overview "), "{listed}");
    let report = project("fixtures/example.sqlite");
    let schema = stdout(&["schema", report.to_str().unwrap()]);
    assert!(schema.contains("What people ask first\n"), "{schema}");
    assert!(schema.contains("`.load nsq` makes each query a table"), "{schema}");
    for (question, name) in ASKED_FIRST {
        let line = |text: &str| text.lines().any(|line| line.contains(question) && line.contains(name));
        assert!(line(&listed), "{name}: {listed}");
        // Pages and verbs are no queries.
        assert_eq!(line(&schema), !["overview", "nsq diff"].contains(&name), "{name}: {schema}");
        let found = stdout(&["list", "-f", "tsv", "--no-header", question]);
        let found: Vec<&str> = found.lines().take(2).filter_map(|row| row.split('\t').nth(1)).collect();
        assert!(found.contains(&name), "{question}: {found:?}");
    }
    // Programs get the queries alone.
    assert!(!stdout(&["list", "-f", "csv"]).contains("questions,"));
}

#[test]
fn a_statement_is_blamed_for_its_own_faults() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let tables = stdout(&["sql", report, "SELECT name FROM pragma_table_list WHERE name = 'StringIds'"]);
    assert!(tables.contains("StringIds"), "{tables}");
    let (code, _, error) = outcome(&["sql", report, "SELECT * FROM pragma_database_list"]);
    assert!(code == 1 && error.contains("reports are read-only"), "{error}");
    assert!(!error.contains("export the report again"), "{error}");
}

#[test]
fn what_would_be_silently_wrong_is_refused_or_noted() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let (code, _, error) = outcome(&["sql", report, "SELECT dur_ns FROM kernel WHERE dur_ns > :x"]);
    assert!(code == 1 && error.contains("parameter :x has no value"), "{error}");
    let (code, _, error) = outcome(&["sql", report, "SELECT \"short_nam\" FROM kernel"]);
    assert!(code == 1 && error.contains("no such column"), "{error}");
    let cut = ["run", report, "-q", "gpu_idle_causes", "-f", "csv"];
    assert!(
        outcome(&cut)
            .2
            .contains("gpu_idle_causes stopped at its limit of 20 rows; -p limit=-1 returns all")
    );
    assert_eq!(outcome(&[&cut[..], &["-p", "limit=20"]].concat()).2, "");
    let (code, _, error) = outcome(&["check", report]);
    assert!(code == 2 && error.contains("is not a folder"), "{error}");
}

#[test]
fn what_is_written_is_noted() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("plain.sqlite");
    let (code, _, error) = outcome(&["materialize", report, "-o", out.to_str().unwrap()]);
    assert!(
        code == 0 && error.contains("plain.sqlite: 3.") && error.contains("from a report of"),
        "{error}"
    );
    assert!(error.contains("names are repeated in every row"), "{error}");
    let all = ["materialize", report, "--all", "--force", "-o", out.to_str().unwrap()];
    let (code, _, error) = outcome(&all);
    assert!(code == 0 && error.contains("plain.sqlite: 5.9"), "{error}");
    let breakdown = ["breakdown", report, "--out-dir", folder.path().to_str().unwrap()];
    assert_eq!(outcome(&breakdown).2, "");
    let (_, _, error) = outcome(&breakdown);
    assert!(error.contains("note: replaced ") && error.contains("result.html"), "{error}");
}

#[test]
fn a_class_map_that_matches_nothing_is_noted() {
    let report = project("fixtures/example.sqlite");
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("flat.json");
    let ask = |text: &str| {
        std::fs::write(&map, text).unwrap();
        let map = map.to_str().unwrap();
        outcome(&["run", report.to_str().unwrap(), "-q", "class_sum", "--classes", map]).2
    };
    let error = ask("{\"(?i)flash\": \"X\"}");
    assert!(error.contains("'(?i)flash' is matched as plain text"), "{error}");
    let error = ask("{\"m\": {\"n\": {\"nothing_such\": \"X\"}}}");
    assert!(error.contains("matches none of the"), "{error}");
    assert_eq!(ask("{\"nvjet\": \"X\"}"), "");
}

/// A screen that people read at a glance. Only commands may be longer than a line, so that they can be copied.
#[test]
fn the_first_screen_fits_a_terminal() {
    let Some(shared) = shared() else { return };
    let names = [
        "exports/a100_fwd_nvtx_2026.3.sqlite",
        "exports/h100_mfu_2gpu_before.sqlite",
        "exports/perlmutter_mpi_saxpy.sqlite",
        "exports/rtx3090x2_ddp_nccl_2026.3.sqlite",
        "exports/windows_rtx5000ada_2026.2.sqlite",
        "exports/wsl_like_memcpy_no_kernel.sqlite",
        "torch/mi300_resnet_ddp.json.gz",
        "torch/vllm_decode_graph.json.gz",
    ];
    for name in names {
        let path = shared.join("data").join(name);
        let (folder, file) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
        for width in [80, 100, 120] {
            let screen = on_terminal_in(folder, width, &[file]);
            for line in screen.lines().filter(|line| line.width() > usize::from(width)) {
                assert!(line.starts_with("  nsq "), "{name} at {width}: {line}");
            }
            let lines = screen.lines().count();
            assert!(width != 100 || lines <= 40, "{name}: {lines} lines\n{screen}");
        }
    }
}
