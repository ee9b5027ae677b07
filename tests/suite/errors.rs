//! Errors say what is wrong, where, and what to do; a failed run leaves no files behind.

use crate::support::{Fixtures, nsq, outcome, stdout};
use std::fs;
use std::path::Path;

/// Runs `nsq run FILE --query top_kernels`; the path in messages becomes FILE.
fn run_on(path: &Path) -> (i32, String) {
    let (code, out, error) = outcome(&["run", path.to_str().unwrap(), "--query", "top_kernels"]);
    assert_eq!(out, "", "an error must print nothing on standard output");
    (code, error.replace(path.to_str().unwrap(), "FILE"))
}

#[test]
fn each_kind_of_unusable_file_has_its_own_error() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Fixtures::new();
    let good = fs::read(fixtures.trace("two_streams_overlap")).unwrap();
    let file = folder.path().join("report.sqlite");
    let half = &good[..good.len() / 2];
    let zeroed = [&[0; 4096], &good[4096..]].concat();
    let foreign = {
        let path = folder.path().join("foreign.sqlite");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE users (id); CREATE TABLE orders (id);").unwrap();
        fs::read(&path).unwrap()
    };
    let cases: [(&[u8], &str); 7] = [
        (
            b"",
            "error: FILE: is empty (0 bytes)\n  help: the capture or export was interrupted: run it again\n",
        ),
        (b"{\"orders\": []}", "error: FILE: is JSON, but not a trace: it has no \"traceEvents\""),
        (
            b"\x1f\x8b\x08\x00 gzip",
            "error: FILE: is cut short: its packed data ends after byte 0 of the unpacked text",
        ),
        (b"hello", "error: FILE: is a text file, not a report"),
        (&zeroed, "error: FILE: is an unfinished export: its header is still zeros"),
        (half, "error: FILE: is cut short: "),
        (&foreign, "its tables are orders, users)"),
    ];
    for (bytes, expected) in cases {
        fs::write(&file, bytes).unwrap();
        let (code, error) = run_on(&file);
        assert!(
            code == 1 && error.contains(expected) && error.contains("  help: "),
            "want {expected}\n{error}"
        );
    }
    // A folder stands for the reports in it.
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let (code, error) = run_on(&empty);
    assert!(code == 1 && error.contains("is a directory without a report"), "{error}");
    let (code, _, error) = outcome(&["sql", empty.to_str().unwrap(), "SELECT 1"]);
    assert!(code == 1 && error.contains("is a directory without a report"), "{error}");
    let (code, error) = run_on(&folder.path().join("nothing.sqlite"));
    assert!(code == 1 && error.contains("FILE: no such file"), "{error}");
}

#[test]
fn what_is_typed_first_is_a_path() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let folder = fixtures.path().join("job");
    fs::create_dir(&folder).unwrap();
    for name in ["rank0.sqlite", "rank1.sqlite"] {
        fs::copy(&report, folder.join(name)).unwrap();
    }
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    for path in [text(&folder), text(&folder.join("rank*.sqlite"))] {
        let (code, out, error) = outcome(&[&path]);
        assert!(code == 0 && out.contains("rank0.sqlite") && out.contains("rank1.sqlite"), "{error}");
    }
    // More than two have a few lines each.
    let third = folder.join("rank2.sqlite");
    fs::copy(&report, &third).unwrap();
    let (code, out, error) = outcome(&[&text(&folder)]);
    assert!(code == 0 && out.lines().count() <= 9 && out.contains("\nrank1.sqlite: "), "{out}");
    assert!(error.contains("`nsq REPORT` shows all about one"), "{error}");
    fs::remove_file(third).unwrap();
    let missing = text(&folder.join("rank2.sqlite"));
    let (code, _, error) = outcome(&[&missing]);
    assert!(code == 1 && error.contains(&format!("error: {missing}: no such file")), "{error}");
    assert!(error.contains("did you mean") && error.contains("rank0.sqlite"), "{error}");
    for (path, said) in [
        ("missing.sqlite", "error: missing.sqlite: no such file"),
        ("nowhere/missing.nsys-rep", "error: nowhere/missing.nsys-rep: no such file"),
        ("host*.sqlite", "no file matches the pattern"),
        ("/dev/zero", "error: /dev/zero: is not a regular file"),
        ("-", "nsq reads no report from standard input: save it to a file first"),
    ] {
        let (code, _, error) = outcome(&[path]);
        assert!(code == 1 && error.contains(said), "{error}");
    }
    // A word is a verb, a name of the library, or nothing.
    for (word, help) in [
        ("absent", "`nsq help` lists the verbs; a report is given by its path"),
        // Verbs of other tools.
        ("compare", "did you mean `nsq diff`? A report is given by its path"),
        ("gate", "did you mean `nsq diff A B --gate 5`?"),
        ("ci", "`nsq show cookbook/gate` prints a chapter of the book"),
        ("gui", "did you mean `nsq timeline`? A report is given by its path"),
        ("version", "did you mean `nsq --version`?"),
        ("open", "a report is looked at with: nsq timeline REPORT"),
        ("profile", "nsys records: nsys profile"),
        ("shcema", "did you mean `nsq schema`?"),
        ("top_kernels", "it is a query: nsq run REPORT -q top_kernels"),
        ("efficiency", "it is a page: nsq run REPORT -q efficiency"),
        ("gpu_metric", "it is a relation: nsq show gpu_metric"),
    ] {
        let (code, out, error) = outcome(&[word]);
        let said = format!("error: '{word}' is neither a verb of nsq nor a file\n  help: {help}");
        assert!(code == 2 && out.is_empty() && error.starts_with(&said), "{error}");
    }
    let (code, _, error) = outcome(&["cache", "missing"]);
    assert!(code == 2 && error.contains("unrecognized subcommand 'missing'"), "{error}");
    let near = nsq().current_dir(&folder).arg("rank0").output().unwrap();
    let error = String::from_utf8(near.stderr).unwrap();
    assert!(error.contains("the file 'rank0.sqlite'"), "{error}");
    // A verb comes before a file of its name.
    fs::write(fixtures.path().join("list"), "").unwrap();
    let listed = nsq().current_dir(fixtures.path()).args(["list", "--relations"]).output().unwrap();
    assert!(listed.status.success());
}

#[test]
fn files_of_other_kinds_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let gzip = |text: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, text).unwrap();
        packed.finish().unwrap()
    };
    let tar = crate::archives::tar(&[("a.json", b"{}")]);
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("r.json", b"{\"data\":[\"[Unknown]\"],\"files\":[]}\n{\"Type\":27}\n".to_vec(), "is a JSON export of nsys"),
        ("l.json", b"{\"a\":1}\n{\"a\":2}\n".to_vec(), "is JSON lines"),
        ("i.json", b"{\"VmSystemInformation\":[]}".to_vec(), "is an info export of nsys"),
        ("e.json", b"{\"schema\":\"1.1\",\"nodes\":[]}".to_vec(), "is an execution trace of PyTorch"),
        ("f.json", b"{\"version\":\"2.5\",\"pg_config\":{},\"entries\":[]}".to_vec(), "is a flight recorder dump"),
        ("s.json", b"{\"segments\":[],\"device_traces\":[]}".to_vec(), "is a memory snapshot"),
        ("m.json", b"[[1,2],[3]]".to_vec(), "is a memory timeline"),
        (
            "j.json.gz",
            gzip(
                b"{\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:0\"}},\
                  {\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1,\"name\":\"fusion\"}]}",
            ),
            "is a trace of JAX",
        ),
        ("s.pickle.gz", gzip(b"\x80\x04}(segments]"), "is a memory snapshot"),
        ("s.pickle.zst", crate::archives::zstd(b"\x80\x04}(segments]"), "is a memory snapshot"),
        ("e.json.gz", gzip(b"{\"schema\":\"1.1\",\"nodes\":[]}"), "is an execution trace of PyTorch"),
        (
            "e.json.zst",
            crate::archives::zstd(b"{\"schema\":\"1.1\",\"nodes\":[]}"),
            "is an execution trace of PyTorch",
        ),
        ("t.tar.gz", gzip(&tar), "is an archive without a trace"),
        ("g.sqlite.gz", gzip(b"SQLite format 3\0"), "is a gzip file with a SQLite export"),
        ("t.tar", tar, "is a tar archive"),
        ("t.zip", b"PK\x03\x04....".to_vec(), "is a zip archive"),
        ("t.json.zst", b"\x28\xb5\x2f\xfd\0\0".to_vec(), "is packed with zstd"),
        ("r.h5", b"\x89HDF\r\n\x1a\n".to_vec(), "is HDF5 data"),
        ("r.arrows", b"\xff\xff\xff\xff\xc0\x01\0\0".to_vec(), "is Arrow data"),
        ("k.ncu-rep", b"NVR\0".to_vec(), "is a report of Nsight Compute"),
        ("t.pftrace", b"\n\x0c".to_vec(), "is a Perfetto trace"),
        ("h.xplane.pb", b"\n\x10".to_vec(), "is an XPlane profile"),
        ("x.qdstrm", b"raw".to_vec(), "is raw capture data"),
    ];
    for (name, bytes, said) in cases {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        let (code, out, error) = outcome(&[file.to_str().unwrap()]);
        assert!(code == 1 && out.is_empty(), "{name}: {out}{error}");
        assert!(error.contains(said) && error.contains("\n  help: "), "{name}: {error}");
    }
    let export = folder.path().join("r_pqtdir");
    fs::create_dir(&export).unwrap();
    fs::write(export.join("StringIds.parquet"), "PAR1").unwrap();
    let (code, _, error) = outcome(&[export.to_str().unwrap()]);
    assert!(
        code == 1 && error.contains("--type parquetdir") && error.contains("--type sqlite"),
        "{error}"
    );
}

#[test]
fn truncated_reports_are_rejected_at_every_length() {
    let fixtures = Fixtures::new();
    let good = fs::read(fixtures.trace("graph_level")).unwrap();
    let file = fixtures.path().join("cut.sqlite");
    for len in (0..good.len()).step_by(997) {
        fs::write(&file, &good[..len]).unwrap();
        let (code, error) = run_on(&file);
        assert!(code == 1 && error.starts_with("error: FILE"), "{len}: {error}");
    }
}

#[test]
fn an_unmerged_write_ahead_log_is_an_error() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let wal = report.with_extension("sqlite-wal");
    fs::write(&wal, b"unmerged").unwrap();
    let (code, error) = run_on(&report);
    assert!(code == 1 && error.contains("never merged") && error.contains("wal_checkpoint"), "{error}");
    fs::write(&wal, b"").unwrap();
    let (code, _, _) = outcome(&["run", report.to_str().unwrap(), "--query", "top_kernels"]);
    assert_eq!(code, 0, "an empty log has no pages to merge");
}

#[test]
fn unknown_names_get_a_suggestion() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let report = report.to_str().unwrap();
    let relation = format!(
        "unknown query 'kernel'\n  help: kernel is a relation: `nsq sql {report} \"SELECT * FROM kernel\"`"
    );
    let cases: [(&[&str], &str); 13] = [
        (
            &["run", report, "--query", "top_kernel"],
            "unknown query 'top_kernel'\n  help: did you mean 'top_kernels'?",
        ),
        (&["run", report, "--query", "kernel"], &relation),
        (&["run", report, "--query", "top_kernels@7"], "top_kernels is at version 1, not 7"),
        (
            &["run", report, "--query", "cuda_gpu_kern_sum:bse"],
            "unknown argument 'bse' for query 'cuda_gpu_kern_sum'\n  help: available arguments: base, mangled",
        ),
        (
            &["run", report, "--query", "top_kernels", "-p", "limt=3"],
            "unknown parameter 'limt'\n  help: did you mean 'limit'?",
        ),
        (
            &["run", report, "--query", "top_kernels", "-p", "limit=many"],
            "invalid value 'many' for parameter 'limit': expected an integer",
        ),
        (
            &["run", report, "--query", "top_kernels", "-p", "name=long"],
            "invalid value 'long' for parameter 'name': expected one of demangled, short, mangled",
        ),
        (
            &["run", report, "--query", "top_kernels", "-p", "limit"],
            "invalid parameter 'limit': expected key=value",
        ),
        (
            &["run", report, "--query", "top_kernels", "--columns", "nsys"],
            "top_kernels has no NVIDIA layout",
        ),
        (
            &["show", "kernal"],
            "unknown query, relation or function 'kernal'\n  help: did you mean 'kernel'?",
        ),
        (&["show", "percentil"], "did you mean 'percentile'?"),
        (&["help", report], "is no verb of nsq\n  help: the path alone shows what to fix first: nsq "),
        (&["help", "top_kernels"], "help: nsq show top_kernels describes it"),
    ];
    for (arguments, expected) in cases {
        let (code, _, error) = outcome(arguments);
        assert!(code == 2 && error.contains(expected), "{arguments:?}: want {expected}\n{error}");
    }
}

/// Errors of a statement say what the statement has to be, and do not blame the report.
#[test]
fn a_statement_with_a_mistake_gets_the_next_command() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let report = report.to_str().unwrap();
    for (sql, said) in [
        ("SELECT * FROM top_kernels", "top_kernels is a query, not a table: `nsq run "),
        ("SELECT median(short_name) FROM kernel", "argument 1 of a function is text"),
        ("UPDATE kernel SET dur_ns = 1", "reports are read-only"),
    ] {
        let (code, _, error) = outcome(&["sql", report, sql]);
        assert!(
            code == 1 && error.contains(said) && !error.contains("export the report again"),
            "{error}"
        );
    }
}

/// Times without a unit are nanoseconds, as programs write them. People mean seconds.
#[test]
fn short_times_without_a_unit_are_noted() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let report = report.to_str().unwrap();
    for (words, said) in [
        (["--time", "0/5"], "--time 0/5 means nanoseconds; for seconds: --time 0s/5s"),
        (["-p", "longest=1"], "-p longest=1 means nanoseconds; for seconds: -p longest=1s"),
    ] {
        let (_, _, error) = outcome(&[&["run", report, "-q", "tiny_kernels"][..], &words].concat());
        assert!(error.contains(said), "{error}");
    }
    let (_, _, error) =
        outcome(&["run", report, "-q", "tiny_kernels", "--time", "0/5ms", "-p", "longest=20000"]);
    assert!(!error.contains("means nanoseconds"), "{error}");
}

/// What people type who do not know nsq yet.
#[test]
fn near_misses_run_or_say_what_to_type() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nested_nvtx");
    let report = report.to_str().unwrap();
    let run = stdout(&["run", report, "-q", "top_kernels", "-f", "markdown"]);
    for words in [
        &[report, "-q", "top_kernels", "-f", "md"][..],
        &[report, "--query=top_kernels", "-f", "markdown"],
        &["-q", "top_kernels", report, "-f", "markdown"],
    ] {
        assert_eq!(stdout(words), run, "{words:?}");
    }
    let file = fixtures.path().join("question.sql");
    fs::write(&file, "SELECT count(*) AS n FROM kernel").unwrap();
    let file = file.to_str().unwrap();
    let direct = stdout(&["sql", report, "SELECT count(*) AS n FROM kernel"]);
    assert_eq!(stdout(&["sql", report, file]), direct);
    assert_eq!(stdout(&["sql", report, "--file", file]), direct);
    assert!(stdout(&["show", "cookbook/gate"]).starts_with("# Gate in CI"));
    assert!(stdout(&["show", "scripts"]).starts_with("# Tables"));
    assert!(stdout(&["show", "percentile"]).starts_with("percentile(x, p) - a function of SQL"));
    let (into_file, absent) = (format!("{report}/x.csv"), format!("{file}.csv/x.csv"));
    let errors: &[(&[&str], &str)] = &[
        (&["materialize", report, "-o", "out.duckdb"], "which DuckDB attaches"),
        (
            &["import", "trace.json", "-o", "out.csv"],
            "nsq sql REPORT \"SELECT * FROM kernel\" -o out.csv",
        ),
        (&["schema", report, "kernel"], "for the columns of a table, query or page: nsq show kernel"),
        (&["show", report], "is a report, and show describes queries, pages and tables"),
        (&["diff", report, report, "--gate", "-5"], "expected a percentage of 0 or more"),
        (&["diff", report, report, report], "is a third report, and diff compares two"),
        (&["run", report, "-q", "top_kernels", "--rows", "-1"], "expected a whole number of 0 or more"),
        (&["run", report, "-q", "top_kernels", "--timeout", "-1"], "expected a time with its unit"),
        (
            &["run", report, "top_kernel"],
            "unknown query or file 'top_kernel'\n  help: did you mean 'top_",
        ),
        (&["list", "--nosuch"], "unexpected argument '--nosuch' found\n\nUsage"),
        (&["run", report, "-q", "top_kernels", "--limit", "3"], "to see N rows: --rows N"),
        (
            &["run", report, "--report", "cuda_gpu_kern_sum"],
            "queries, pages and reports of NVIDIA: -q NAME",
        ),
        (&["run", report, "--sql", "SELECT 1"], "SQL of your own: nsq sql REPORT \"SELECT …\""),
        (&["run", report, "-q", "top_kernels", "--sql"], "nsq show QUERY --sql"),
        (&["run", report, "-q", "top_kernels", "--kernel", "x"], "with -p kernel='*gemm*'"),
        (&["run", report, "-q", "top_kernels", "-o", "out.xlsx"], "CSV: -o out.csv"),
        (&["run", report, "-q", "top_kernels", "--nvtx", "zzzz"], "help: the report has '"),
        (&[report, "--explain", "0"], "expected the number of a finding"),
        (&[report, "--csv"], "tip: --format csv"),
        (&[report, "top_kernels"], ".sqlite -q top_kernels"),
        (&[report, "SELECT 1"], ".sqlite \"SELECT"),
        // The report stands in the command to type.
        (&["top_kernels", report], ".sqlite -q top_kernels"),
        (&["run", report], ".sqlite -q gpu_time, or give a .sql file"),
        // A subject instead of a name: what `nsq list` finds first.
        (&["run", report, "-q", "gpu_idle"], "did you mean 'gpu_idle_cause_sum'"),
        (&["report", report], ".sqlite` shows what to fix first"),
        (&["top", report], ".sqlite -q top_kernels`?"),
        (&["schema", "kernel"], "it is a relation: nsq show kernel"),
        (&["answer", report, "why is it slow"], "`nsq list why is it slow` finds"),
        (&["sql", report, ".tables"], "columns: `nsq show TABLE`"),
        // What is missing has an example.
        (&["run", "-q", "top_kernels"], "such as: nsq run REPORT --query top_kernels"),
        (&["materialize", report], ".sqlite -o plain.sqlite"),
        (&["import", "trace.json"], "such as: nsq import trace.json.gz -o trace.sqlite"),
        (&["diff", report], "such as: nsq diff before.sqlite after.sqlite"),
        (&["diff", report, report, "--gate"], "such as: nsq diff main.sqlite branch.sqlite --gate 5"),
        (&["diff", "--init-ci"], "such as: nsq diff --init-ci github"),
        (&["diff", "baseline", "main"], "nsq diff baseline is followed by save, list, remove"),
        (&["new", "slow_kernels"], "such as: nsq new query long_kernels"),
        (&[report, "--explain"], ".sqlite --explain 1"),
        (&["sql", "SELECT 1", report], "the report comes first"),
    ];
    for (words, said) in errors {
        let (code, _, error) = outcome(words);
        assert!(code == 2 && error.contains(said) && !error.contains("-- --"), "{words:?}: {error}");
    }
    for (path, said) in
        [(&into_file, "is a file: give a path through folders"), (&absent, ": make it, or")]
    {
        let (code, _, error) = outcome(&["run", report, "-q", "top_kernels", "-o", path]);
        assert!(code == 1 && error.contains(said), "{error}");
    }
    // A query of one's own, without its extension.
    let here = |words: &[&str]| {
        let output = nsq().current_dir(fixtures.path()).args(words).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    for words in [&["run", report, "question"][..], &["run", report, "-q", "question"]] {
        let error = here(words);
        assert!(error.contains("a file here has this name: write -q question.sql"), "{error}");
    }
}

/// Files whose names or contents are odd.
#[cfg(unix)]
#[test]
fn odd_files_are_named() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nested_nvtx");
    fs::copy(&report, fixtures.path().join("-dash.sqlite")).unwrap();
    std::os::unix::fs::symlink("nowhere.sqlite", fixtures.path().join("link.sqlite")).unwrap();
    fs::write(fixtures.path().join("begun.sqlite"), &fs::read(&report).unwrap()[..10]).unwrap();
    let inside = format!("{}/member", report.display());
    for (words, code, said) in [
        (&["-dash.sqlite"][..], 2, "for the file of this name: ./-dash.sqlite"),
        (&["--", "-dash.sqlite"], 0, ""),
        (&["link.sqlite"], 1, "it is a link to nowhere.sqlite, where nothing is"),
        (&["begun.sqlite"], 1, "is cut short: 10 bytes of a SQLite database"),
        (&[inside.as_str()], 1, "is a file, not a folder or an archive of traces"),
    ] {
        let output = nsq().current_dir(fixtures.path()).args(words).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && error.contains(said), "{words:?}: {error}");
    }
}

#[test]
fn required_parameters_are_asked_for() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nvtx_only");
    let mut line = vec!["run", report.to_str().unwrap(), "-q", "attention_flops", "-f", "csv"];
    line.extend(["-p", "batch_size=2", "-p", "context_length=8"]);
    let (code, out, error) = outcome(&line);
    assert!(code == 2 && out.is_empty(), "{out}{error}");
    let expected = "error: missing parameter 'num_heads' of query 'attention_flops': Attention heads per layer\n  \
                    help: give -p num_heads=N -p d_head=N";
    assert!(error.contains(expected), "{error}");
    // 2 * 4 heads of 8 * 8 scores: 512 values, with 2 * 16 FLOPs each in a product and 5 each in softmax.
    let rest = "num_heads=4 d_head=16 scores_ns=1000 softmax_ns=2000 values_ns=1000";
    line.extend(rest.split(' ').flat_map(|param| ["-p", param]));
    let (code, out, error) = outcome(&line);
    assert_eq!(code, 0, "{error}");
    let rows: Vec<&str> = out.lines().skip(1).collect();
    let expected = [
        "scores,16384,1000.0,16.384,6.4,0.5,,",
        "softmax,2560,2000.0,1.28,1.0,1.0,,",
        "values,16384,1000.0,16.384,6.4,0.5,,",
        "products,32768,2000.0,16.384,12.8,1.0,,",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn parameters_in_bytes_take_a_unit() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nvtx_only");
    let file = fixtures.path().join("sizes.sql");
    let query = "/*---\nname: sizes\nversion: 1\ntitle: Sizes\nsummary: The size.\nwhy: To test.\nkind: info\n\
                 tags: [memory]\nreads: []\nparams:\n  - {name: least, type: bytes, default: 4KiB, min: 0, doc: \"Size.\"}\n\
                 columns:\n  - {name: size_bytes, type: bytes, unit: bytes, doc: \"The parameter.\"}\n\
                 limits: None.\n---*/\nSELECT :least AS size_bytes";
    fs::write(&file, query).unwrap();
    let ask = |param: &[&str]| {
        let line =
            ["run", report.to_str().unwrap(), "-f", "csv", "--no-header", "-q", file.to_str().unwrap()];
        outcome(&[&line[..], param].concat())
    };
    assert_eq!(ask(&[]).1, "4096\n");
    assert_eq!(ask(&["-p", "least=1.5 kB"]).1, "1500\n");
    let (code, _, error) = ask(&["-p", "least=4K"]);
    let expected =
        "invalid value '4K' for parameter 'least': expected a whole number of bytes, such as 4096, 4KiB";
    assert!(code == 2 && error.contains(expected), "{error}");
    assert_eq!(ask(&["-p", "least=-1"]).0, 2);
}

#[test]
fn a_run_without_a_query_says_where_the_names_are() {
    let (code, _, error) = outcome(&["run", "report.sqlite"]);
    assert!(
        code == 2
            && error.contains("no query is given")
            && error.contains("`nsq list` shows the queries"),
        "{error}"
    );
    let (_, _, error) = outcome(&["run", "--query", "gpu_time"]);
    assert!(!error.contains("nsq list"), "{error}");
    let (code, _, error) = outcome(&["run", "report.sqlite", "top_kernels"]);
    assert!(code == 2 && error.contains("help: write -q top_kernels"), "{error}");
    let (code, _, error) = outcome(&["run", "one_line.sql"]);
    assert!(code == 2 && error.contains("no report is given"), "{error}");
}

#[test]
fn a_question_in_one_line_is_asked_without_front_matter() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let report = report.to_str().unwrap();
    let file = fixtures.path().join("one_line.sql");
    fs::write(&file, "SELECT count(*) AS n FROM kernel WHERE dur_ns > :least\n").unwrap();
    let file = file.to_str().unwrap();
    let run = |words: &[&str]| stdout(&[&["run"], words, &["-p", "least=100ns", "-f", "csv"]].concat());
    assert_eq!(run(&[report, file]), run(&[report, "-q", file]));
    assert_eq!(run(&[file, report]), run(&[report, "-q", file]));
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(run(&[report, file]), stdout(&["sql", report, &text, "-p", "least=100ns", "-f", "csv"]));
}

#[test]
fn invalid_time_ranges_are_rejected() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    for time in ["1s", "2s/1s", "a/b", "1x/2x", "1s/1s", "//", "10%%/20%"] {
        let (code, _, error) =
            outcome(&["run", report.to_str().unwrap(), "--query", "top_kernels", "--time", time]);
        assert!(code == 2 && error.contains("help: "), "{time}: {error}");
    }
}

#[test]
fn missing_data_names_the_flag_that_records_it() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nvtx_only");
    // A trace has allocations in a table of nsq's own, which no option of nsys records.
    let (code, _, error) = outcome(&["run", report.to_str().unwrap(), "-q", "memory_peaks"]);
    assert!(code == 3 && error.contains("`nsys profile --cuda-memory-usage=true …`"), "{error}");
    let (code, error) = run_on(&report);
    assert_eq!(code, 3);
    assert_eq!(
        error,
        "error: top_kernels needs CUDA kernels, but FILE has none\n  \
         table CUPTI_ACTIVITY_KIND_KERNEL is missing\n  \
         help: capture with `nsys profile --trace=cuda …`; `nsq schema FILE` shows what it holds\n"
    );
}

#[test]
fn statements_can_only_read() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let before = fs::read(&report).unwrap();
    for sql in [
        "DELETE FROM kernel",
        "UPDATE main.StringIds SET value = ''",
        "INSERT INTO main.StringIds VALUES (9999, 'x')",
        "CREATE TABLE t (a)",
        "DROP TABLE main.StringIds",
        "ATTACH 'other.sqlite' AS other",
        "PRAGMA writable_schema = 1",
        "VACUUM INTO 'copy.sqlite'",
        "SELECT load_extension('x')",
        "CREATE TEMP TABLE t (a); ATTACH 'other.sqlite' AS other; SELECT 1",
        "CREATE TEMP TRIGGER t INSERT ON kernel BEGIN SELECT 1; END",
    ] {
        let (code, out, error) = outcome(&["sql", report.to_str().unwrap(), sql]);
        assert!(code == 1 || code == 2, "{sql}: exit {code}, {out}{error}");
    }
    assert_eq!(fs::read(&report).unwrap(), before);
    let (code, out, error) = outcome(&[
        "sql",
        report.to_str().unwrap(),
        "CREATE TEMP TABLE long AS SELECT dur_ns FROM kernel WHERE dur_ns >= 300; SELECT count(*) AS n FROM long",
        "--format",
        "csv",
    ]);
    assert_eq!((code, out.as_str()), (0, "n\n4\n"), "{error}");
}

#[test]
fn captured_environments_are_never_printed() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    rusqlite::Connection::open(&report)
        .unwrap()
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS META_DATA_CAPTURE (name TEXT, value TEXT);
             CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid, devStateName, name, nameEnum, value);
             INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE:0', 'TOKEN=s3cret');
             INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', 's3cret');
             INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'TOKEN', 0, 's3cret');
             INSERT INTO StringIds VALUES (987654, 's3cret')",
        )
        .unwrap();
    let report = report.to_str().unwrap();
    for sql in [
        "SELECT * FROM META_DATA_CAPTURE",
        "SELECT value FROM main.TARGET_INFO_SYSTEM_ENV",
        "SELECT group_concat(value) FROM src_capture_meta",
        "SELECT group_concat(value) FROM src_system_env",
        "SELECT group_concat(value) FROM export_fact",
        "CREATE TEMP TABLE t AS SELECT * FROM META_DATA_CAPTURE; SELECT * FROM t",
        "WITH src_capture_meta AS (SELECT * FROM main.META_DATA_CAPTURE) SELECT * FROM src_capture_meta",
        "WITH x AS (SELECT * FROM main.TARGET_INFO_SYSTEM_ENV) SELECT * FROM x",
        "CREATE TEMP VIEW src_mine AS SELECT * FROM META_DATA_CAPTURE; SELECT * FROM src_mine",
    ] {
        let (_, out, error) = outcome(&["sql", report, sql]);
        assert!(!out.contains("s3cret") && !error.contains("s3cret"), "{sql}: {out}{error}");
    }
    let plain = fixtures.path().join("plain.sqlite");
    nsq().args(["materialize", report, "-o"]).arg(&plain).assert().success();
    let bytes = fs::read(&plain).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"s3cret"), "materialize leaks");
}

#[test]
fn sql_errors_show_line_and_column() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let (code, _, error) = outcome(&["sql", report.to_str().unwrap(), "SELECT dur_n\nFROM kernel"]);
    assert_eq!(code, 1);
    assert_eq!(
        error,
        "error: no such column: dur_n\n --> SQL:1:8\n  |\n1 | SELECT dur_n\n  |        ^\n  help: did you mean 'dur_ns'?\n"
    );
    let (_, _, error) = outcome(&["sql", report.to_str().unwrap(), "SELECT * FROM kernl"]);
    assert!(error.contains("did you mean 'kernel'? `nsq list --relations`"), "{error}");
    let file = fixtures.path().join("mine.sql");
    fs::write(&file, "-- a comment\nSELECT 1;\nSELECT start_ns,\n  no_such()\nFROM kernel").unwrap();
    let (_, _, error) = outcome(&["sql", report.to_str().unwrap(), "--file", file.to_str().unwrap()]);
    assert!(error.contains("mine.sql:4:3") && error.contains("no such function: no_such"), "{error}");
}

#[test]
fn limits_stop_a_statement_with_a_reason() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let endless =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let (code, _, error) = outcome(&["sql", report.to_str().unwrap(), endless, "--timeout", "50ms"]);
    assert!(code == 1 && error.contains("ran longer than 0.05 s"), "{error}");
    let (code, _, error) = outcome(&[
        "sql",
        report.to_str().unwrap(),
        "SELECT * FROM kernel",
        "--max-rows",
        "2",
        "--format",
        "csv",
    ]);
    assert!(code == 1 && error.contains("stopped after 2 rows"), "{error}");
}

#[test]
fn an_output_file_appears_whole_or_not_at_all() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.csv");
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
    let arguments =
        ["sql", report.to_str().unwrap(), endless, "--max-rows", "10", "-o", target.to_str().unwrap()];
    assert_eq!(outcome(&arguments).0, 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the failed run must leave no file");
    let missing = folder.path().join("no/such/out.csv");
    let arguments =
        ["run", report.to_str().unwrap(), "-q", "top_kernels", "-o", missing.to_str().unwrap()];
    let (code, _, error) = outcome(&arguments);
    assert!(code == 1 && error.contains("out.csv"), "{error}");
    let odd = folder.path().join("out.xyz");
    let arguments = ["run", report.to_str().unwrap(), "-q", "top_kernels", "-o", odd.to_str().unwrap()];
    let (code, _, error) = outcome(&arguments);
    assert!(code == 2 && error.contains("no output format has this extension"), "{error}");
}
