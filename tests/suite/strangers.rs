//! Untrusted file names, files and playbooks. `hostile.rs` tests untrusted reports.

use crate::support::{Fixtures, nsq};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A fixture's trace, changed by an SQL script.
    fn report(&self, name: &str, trace: &str, script: &str) -> PathBuf {
        let path = self.put(name, "");
        fs::copy(Fixtures::new().trace(trace), &path).unwrap();
        Connection::open(&path).unwrap().execute_batch(script).unwrap();
        path
    }

    #[cfg(unix)]
    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.put(name, "");
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    /// Exit code, standard output and standard error of a run in the folder; panics if it crashes or
    /// hangs.
    fn ask(&self, words: &[&str]) -> (i32, String, String) {
        let mut command = nsq();
        command.current_dir(self.0.path()).args(words).timeout(Duration::from_secs(60));
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (out, error) = (text(output.stdout), text(output.stderr));
        let code = output.status.code();
        assert!(code.is_some() && !error.contains("panicked"), "{words:?}: {code:?}\n{error}");
        (code.unwrap(), out, error)
    }
}

/// The Markdown outside of code. By CommonMark's rule, a run of backquotes closes at a run of equal
/// length.
fn outside_of_code(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    let run = |text: &str| text.len() - text.trim_start_matches('`').len();
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            rest = &rest[1..];
            rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
        } else if c == '`' {
            let opens = run(rest);
            rest = &rest[opens..];
            let mut at = 0;
            let end = loop {
                let Some(next) = rest[at..].find('`').map(|next| at + next) else { break None };
                match run(&rest[next..]) {
                    closes if closes == opens => break Some(next + closes),
                    other => at = next + other,
                }
            };
            rest = &rest[end.unwrap_or(0)..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

#[cfg(unix)]
#[test]
fn names_cannot_break_out_of_markdown_code() {
    const NAME: &str = "```<img src=x>`";
    let folder = Folder::new();
    let script = format!("UPDATE META_DATA_EXPORT SET value = '{NAME}' WHERE name LIKE '%PRODUCT%'");
    let report = format!("{NAME}.sqlite");
    folder.report(&report, "training_steps", &script);
    for asked in [report.as_str(), "."] {
        let (_, out, error) = folder.ask(&["answer", "--details", asked, "--format", "markdown"]);
        assert!(out.contains("<img"), "the name is missing: {out}{error}");
        for line in out.lines() {
            let outside = outside_of_code(line);
            assert!(!outside.contains('<') && !outside.contains("<img"), "{line}");
        }
    }
    // A command to copy quotes the name for the shell.
    let (_, out, _) =
        folder.ask(&["answer", "--details", &report, "--format", "markdown", "--part", "b"]);
    assert!(out.contains(&format!("- ```` nsq run '{report}' ")), "{out}");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_in_folders_are_skipped() {
    let folder = Folder::new();
    folder.report("profiles/good.sqlite", "training_steps", "");
    for name in ["pipe.json", "pipe.json.gz", "pipe.sqlite", "pipe.nsys-rep"] {
        folder.pipe(&format!("profiles/{name}"));
    }
    std::os::unix::fs::symlink("/dev/zero", folder.path("profiles/zero.sqlite")).unwrap();
    let (code, out, error) = folder.ask(&["answer", "--details", "profiles", "--part", "a"]);
    assert!(code == 0 && out.contains("1 profile "), "{code}: {out}{error}");
    assert_eq!(error.matches("is not a regular file: skipped").count(), 5, "{error}");
    for name in ["q.sql", "names/layers.yml", "classes/c.json", "playbooks/p.yml", "sources/s.yml"] {
        folder.pipe(&format!("library/{name}"));
    }
    let (code, out, error) = folder.ask(&["list", "--queries", "library", "--classes"]);
    assert!(code == 0 && out.contains("default"), "{error}");
    // Files that a config names must be regular files.
    folder.pipe("k.csv");
    folder.put(
        "c.json",
        r#"{"inputs": [{"title": "t", "format": "csv", "nsys_csv_file_path": {"kernel_sum": "k.csv"},
            "analysis_args": {"num_of_iters": 1, "num_of_gpus": 1}}], "kernel_to_class_map": {"a": "b"}}"#,
    );
    let (code, _, error) = folder.ask(&["classes", "--config", "c.json"]);
    assert!(code == 1 && error.contains("k.csv: is not a regular file"), "{code}: {error}");
    folder.pipe("lock/catalog.lock");
    let (code, _, error) = folder.ask(&["check", "lock"]);
    assert!(code == 1 && error.contains("catalog.lock: is not a regular file"), "{code}: {error}");
}

#[cfg(unix)]
#[test]
fn endless_files_are_rejected_at_the_size_limit() {
    let folder = Folder::new();
    folder.report("r.sqlite", "training_steps", "");
    for name in ["z.yml", "z.sql", "z.json"] {
        std::os::unix::fs::symlink("/dev/zero", folder.path(name)).unwrap();
    }
    let lines: [&[&str]; 10] = [
        &["answer", "r.sqlite", "--timings", "/dev/zero"],
        &["answer", "r.sqlite", "--file", "timings=/dev/zero"],
        &["answer", "r.sqlite", "--playbook", "z.yml"],
        &["show", "z.yml"],
        &["run", "r.sqlite", "--query", "z.sql"],
        &["run", "r.sqlite", "--query", "top_kernels", "--classes", "z.json"],
        &["breakdown", "r.sqlite", "--classes", "z.json"],
        &["classes", "--config", "z.json"],
        &["classes", "--kernel-sum", "/dev/zero"],
        &["sql", "r.sqlite", "--file", "/dev/zero"],
    ];
    for words in lines {
        let (code, _, error) = folder.ask(words);
        assert!(code == 1 && error.contains("is larger than 64 MiB"), "{words:?}: {code} {error}");
        assert!(error.contains("help: "), "{error}");
    }
    // Endless zeros on standard input.
    let zeros = fs::File::open("/dev/zero").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_nsq"));
    let output = command.args(["sql", "r.sqlite"]).current_dir(folder.0.path()).stdin(zeros).output();
    let error = String::from_utf8_lossy(&output.unwrap().stderr).into_owned();
    assert!(error.contains("standard input: is larger than 64 MiB"), "{error}");
}

/// As with `--file <(…)` in a shell.
#[cfg(unix)]
#[test]
fn a_pipe_named_on_the_command_line_is_read() {
    let folder = Folder::new();
    folder.report("r.sqlite", "training_steps", "");
    let script = folder.pipe("question.sql");
    let writer = std::thread::spawn(move || fs::write(script, "SELECT 40 + 2 AS a"));
    let (code, out, error) =
        folder.ask(&["sql", "r.sqlite", "--file", "question.sql", "--format", "csv"]);
    writer.join().unwrap().unwrap();
    assert_eq!((code, out.as_str()), (0, "a\n42\n"), "{error}");
    let mut command = nsq();
    command.current_dir(folder.0.path()).args([
        "sql",
        "r.sqlite",
        "--format",
        "csv",
        "--file",
        "/dev/stdin",
    ]);
    let output = command.write_stdin("SELECT 1 AS b").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "b\n1\n");
}

#[cfg(target_os = "linux")]
#[test]
fn profiles_with_similar_names_keep_separate_results() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let report = folder.report("f/a.sqlite", "training_steps", "");
    let strange = |byte: u8| {
        let name = [b"n", [byte].as_slice(), b".sqlite"].concat();
        Path::new(std::ffi::OsStr::from_bytes(&name)).to_owned()
    };
    for other in [Path::new("a.SQLITE"), Path::new("sub/a.sqlite"), &strange(0xfe), &strange(0xff)] {
        let path = folder.path("f").join(other);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(&report, path).unwrap();
    }
    let words = ["answer", "f", "--part", "a", "--format", "json", "--reports", "out"];
    let (_, out, error) = folder.ask(&words);
    let document: serde_json::Value =
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}{error}"));
    let profiles = document["profiles"].as_array().unwrap();
    let names: Vec<&str> = profiles.iter().map(|p| p["profile"].as_str().unwrap()).collect();
    assert_eq!(names, ["a.SQLITE", "a.sqlite", "n\\xfe", "n\\xff", "sub/a"]);
    // Each profile has its own files. Bytes that are not UTF-8 are kept in the file names.
    for (place, file) in ["a.SQLITE_", "a.sqlite_", "n", "n", "sub/a_"].into_iter().enumerate() {
        let files = profiles[place]["written"]["files"].as_array().unwrap();
        let is_its_own =
            |name: &serde_json::Value| name.as_str().unwrap().starts_with(&format!("out/{file}"));
        assert!(!files.is_empty() && files.iter().all(is_its_own), "{}", profiles[place]);
    }
    let written = fs::read_dir(folder.path("out")).unwrap().map(|entry| entry.unwrap().file_name());
    let of = |byte: u8, name: &std::ffi::OsStr| name.as_bytes().starts_with(&[b'n', byte, b'_']);
    let names: Vec<std::ffi::OsString> = written.collect();
    assert_eq!([0xfe, 0xff].map(|byte| names.iter().filter(|name| of(byte, name)).count()), [3, 3]);
}

/// A playbook with one answer: a text, over one fact.
fn playbook(text: &str, fact: &str) -> String {
    format!(
        "name: p\nversion: 1\ntitle: T\ndoc: D\npatterns: []\nparts:\n  - part: '1'\n    question: Q?\n    \
         answers:\n      - about: it\n        facts:\n          - {{name: f, is: '{fact}'}}\n        text: '{text}'\n"
    )
}

#[test]
fn a_template_that_loops_too_long_is_stopped() {
    let folder = Folder::new();
    folder.report("r.sqlite", "training_steps", "");
    let loops = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}x";
    folder.put("p.yml", playbook(loops, "1"));
    let (code, _, error) = folder.ask(&["answer", "--details", "r.sqlite", "--playbook", "./p.yml"]);
    assert!(
        code == 1 && error.contains("p.yml:13: text: takes more than 20000000 steps"),
        "{code} {error}"
    );
    folder.put("p.yml", playbook("{{ f }}", "1"));
    let (code, out, error) = folder.ask(&["answer", "--details", "r.sqlite", "--playbook", "./p.yml"]);
    assert!(code == 0 && out.contains('1'), "{code} {error}");
}

/// Rust panics at a width or a precision above 65535, and a longer text fills the memory.
#[test]
fn a_template_that_asks_for_a_wide_text_is_rejected() {
    let folder = Folder::new();
    folder.report("r.sqlite", "training_steps", "");
    for text in ["{{ f|number(70000) }}", "{{ f|right(70000) }}", "{{ f|left(1000000000000000) }}"] {
        folder.put("p.yml", playbook(text, "1"));
        let (code, _, error) = folder.ask(&["answer", "--details", "r.sqlite", "--playbook", "./p.yml"]);
        assert!(code == 1 && error.contains("above 10000"), "{text}: {code} {error}");
    }
}

/// To compile each pattern alone would take minutes. `ask` waits for a minute.
#[test]
fn a_class_map_with_many_large_patterns_is_rejected_soon() {
    let folder = Folder::new();
    folder.report("r.sqlite", "training_steps", "");
    let rules = |last: &str| -> String {
        let rule = |pattern: String| format!("    - {{class: c, match: '{pattern}'}}\n");
        (0..1_999).map(|n| rule(format!("k{n}\\w{{500}}"))).chain([rule(last.to_owned())]).collect()
    };
    for (last, reason) in
        [("x", "cannot compile all rules together"), ("x(", "m.yml:2002: class map m: invalid pattern")]
    {
        folder.put("m.yml", format!("m:\n  rules:\n{}", rules(last)));
        let (code, _, error) = folder.ask(&["classes", "r.sqlite", "--classes", "m.yml"]);
        assert!(code != 0 && error.contains(reason), "{last}: {code} {error}");
    }
}

#[test]
fn a_class_map_with_too_many_entries_is_rejected() {
    let folder = Folder::new();
    folder.report("r.sqlite", "training_steps", "");
    let keys = |count: usize| -> String {
        (0..count).map(|n| format!("\"kernel_{n}\": \"class_{n}\"")).collect::<Vec<_>>().join(",\n")
    };
    folder.put("many.json", format!("{{{}}}", keys(100_000)));
    folder.put("most.json", format!("{{{}}}", keys(2_000)));
    let config = format!("{{\"inputs\": [], \"kernel_to_class_map\": {{{}}}}}", keys(2_001));
    folder.put("config.json", config);
    let ask = |map: &str| folder.ask(&["run", "r.sqlite", "--query", "class_sum", "--classes", map]);
    let (code, _, error) = ask("many.json");
    assert!(code == 1 && error.contains("too many entries: 100000 (the limit is 2000)"), "{error}");
    assert_eq!(ask("most.json").0, 0);
    let (code, _, error) = folder.ask(&["classes", "--config", "config.json"]);
    assert!(code != 0 && error.contains("has 2001 keys; the limit is 2000"), "{error}");
}

#[test]
fn spreadsheet_escapes_formulas_in_every_csv_and_tsv() {
    let folder = Folder::new();
    folder.report("r.sqlite", "nested_nvtx", "UPDATE StringIds SET value = '=HYPERLINK(\"http://x\")'");
    let stats =
        |more: &[&str]| folder.ask(&[&["stats", "-r", "cuda_gpu_kern_sum", "r.sqlite"], more].concat());
    // As in nsys, fields of TSV are never quoted.
    for (format, before) in [("csv", '"'), ("tsv", '\t')] {
        let (code, out, error) = stats(&["-f", format]);
        let formula = format!("{before}=HYPERLINK(");
        assert!(code == 0 && out.contains(&formula) && error.contains("--spreadsheet"), "{out}{error}");
        assert_eq!(stats(&["-f", format, "-q"]).2, "");
        let (code, out, error) = stats(&["-f", format, "--spreadsheet"]);
        let escaped = format!("{before}'=HYPERLINK(");
        assert!(code == 0 && out.contains(&escaped) && error.is_empty(), "{out}{error}");
    }
    for formats in ["json", "column", "table", "hdoc", ".", "csv,json"] {
        let words = ["-r", "cuda_api_sum", "-f", formats, "--spreadsheet"];
        let (code, out, error) = stats(&words);
        assert!(
            code == 2 && error.contains("--spreadsheet applies only to csv and tsv"),
            "{formats}: {out}{error}"
        );
    }
    for format in ["text", "json", "ndjson", "markdown", "html"] {
        let words = ["run", "r.sqlite", "--query", "top_kernels", "--spreadsheet", "--format", format];
        let (code, out, error) = folder.ask(&words);
        assert!(code == 2 && error.contains("add --format csv or tsv"), "{format}: {out}{error}");
    }
    for seed in [&[] as &[&str], &["--seed-compat"]] {
        let breakdown = |more: &[&str]| {
            let (code, _, error) = folder.ask(&[&["breakdown", "r.sqlite"], seed, more].concat());
            assert_eq!(code, 0, "{error}");
            (fs::read_to_string(folder.path("result.csv")).unwrap(), error)
        };
        let (table, error) = breakdown(&[]);
        assert!(table.contains("\"=HYPERLINK(") && error.contains("--spreadsheet"), "{table}{error}");
        let (harmless, error) = breakdown(&["--spreadsheet"]);
        assert!(error.lines().all(|line| line.starts_with("note: replaced ./result.")), "{error}");
        assert_eq!(harmless, table.replace("\"=HYPERLINK(", "\"'=HYPERLINK("));
    }
}

#[test]
fn errors_shorten_long_arguments() {
    let folder = Folder::new();
    folder.report("r.sqlite", "nested_nvtx", "");
    let long = "x".repeat(100_000);
    let lines: [&[&str]; 7] = [
        &["run", "r.sqlite", "--query", "top_kernels", "--nvtx", &long],
        &["run", "r.sqlite", "--query", &long],
        &["run", "r.sqlite", "--query", "top_kernels", "-p", &long],
        &["run", "r.sqlite", "--query", "top_kernels", "--time", &long],
        &["run", "r.sqlite", "--query", "top_kernels", "--rows", &long],
        &["sql", "r.sqlite", &long],
        &["answer", "--details", "r.sqlite", "--part", &long],
    ];
    for words in lines {
        let (code, _, error) = folder.ask(words);
        assert!(code != 0 && error.contains('x'), "{:?}: {code}", &words[..3]);
        assert!(error.len() < 10_000, "{:?}: {} bytes", &words[..3], error.len());
    }
    let (_, _, error) = folder.ask(&["run", "r.sqlite", "--query", &long]);
    let wanted = format!("unknown query '{}…{}'", "x".repeat(149), "x".repeat(50));
    assert!(error.contains(&wanted), "{error}");
}
