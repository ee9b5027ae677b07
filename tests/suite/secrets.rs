//! No command shows captured environments, command lines, or strings that no event refers to.
//!
//! `secrets/planted.rs` puts secret tokens wherever an export or a trace could hold a secret. The tests
//! run every command of `nsq --help` in every format, and search everything it prints and writes for
//! them. Names of kernels and ranges hold data tokens, which must be shown.

mod planted;

use crate::support::{nsq, project, queries, stdout, versions, write_program};
use planted::{COLUMNS, KERNEL, Kind, RANGE, SECRET, SECRET_ID, plant, text_columns, trace};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Export versions and traces: the oldest and the newest version, versions between them whose secret
/// tables differ, and traces with every kind of event.
const REPORTS: [(&str, &str); 7] = [
    ("pre-2.9", "training_steps"),
    ("3.0.0-2022.4.2.1", "unified_memory"),
    ("3.7.2", "mpi_two_ranks"),
    ("3.25.0", "training_steps"),
    ("3.20.3-2025.3.2.367", "two_streams_overlap"),
    ("3.24.14", "nested_nvtx"),
    ("3.28.1", "training_steps"),
];

/// A folder with planted reports and a cache, deleted on drop.
struct Bench {
    folder: tempfile::TempDir,
}

/// The exit code of a run, and everything it printed or wrote.
struct Output {
    code: i32,
    command: String,
    bytes: Vec<u8>,
}

impl Output {
    fn holds(&self, token: &str) -> bool {
        holds(&self.bytes, token)
    }

    /// Panics if the output shows a secret token or its string id.
    fn check(&self) {
        self.assert_without(&[SECRET, SECRET_ID]);
    }

    /// Panics if the output shows a secret token. The string ids may appear, since the input has them.
    fn check_texts(&self) {
        self.assert_without(&[SECRET]);
    }

    /// Panics if the output contains a token, in any case or encoding.
    fn assert_without(&self, tokens: &[&str]) {
        for token in tokens {
            if let Some(at) = find(&self.bytes, token) {
                let from = at.saturating_sub(300);
                let excerpt = String::from_utf8_lossy(&self.bytes[from..self.bytes.len().min(at + 100)]);
                panic!("{} shows {token}:\n…{excerpt}…", self.command);
            }
        }
    }
}

/// The position of a text in bytes, in any case, also as UTF-16 or hexadecimal.
fn find(bytes: &[u8], token: &str) -> Option<usize> {
    let bytes = bytes.to_ascii_lowercase();
    let plain = token.to_ascii_lowercase().into_bytes();
    let wide: Vec<u8> = plain.iter().flat_map(|byte| [*byte, 0]).collect();
    // The digits of a letter differ between upper and lower case.
    let hex = |token: &str| token.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect();
    let hexes: [Vec<u8>; 2] = [hex(token), hex(&token.to_ascii_lowercase())];
    [plain, wide].iter().chain(&hexes).find_map(|wanted| memchr::memmem::find(&bytes, wanted))
}

fn holds(bytes: &[u8], token: &str) -> bool {
    find(bytes, token).is_some()
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for inside in ["cache", "tmp", "out", "baselines"] {
            fs::create_dir(folder.path().join(inside)).unwrap();
        }
        fs::write(folder.path().join("trace.json"), trace()).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The path of a file, as an argument.
    fn arg(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn report(&self, version: &str, trace: &str) -> String {
        let name = format!("{trace}-{version}.sqlite");
        if !self.path(&name).exists() {
            plant(version, trace, &self.path(&name));
        }
        self.arg(&name)
    }

    /// Runs nsq in an empty folder. Collects what it prints, the files it leaves there and in TMPDIR,
    /// and the saved baselines.
    fn run(&self, arguments: &[&str]) -> Output {
        for folder in ["out", "tmp"] {
            fs::remove_dir_all(self.path(folder)).unwrap();
            fs::create_dir(self.path(folder)).unwrap();
        }
        let output = nsq()
            .args(arguments)
            .current_dir(self.path("out"))
            .env("NSQ_CACHE", self.path("cache"))
            .env("NSQ_BASELINES", self.path("baselines"))
            .env("NSQ_NSYS", self.path("nsys"))
            .env("TMPDIR", self.path("tmp"))
            .env("FAKE_EXPORT", self.path("training_steps-3.25.0.sqlite"))
            .env("FAKE_LOG", self.path("log"))
            .output()
            .unwrap();
        let mut bytes = output.stdout;
        bytes.extend(output.stderr);
        for folder in ["out", "tmp", "baselines"] {
            files(&self.path(folder)).iter().for_each(|file| bytes.extend(fs::read(file).unwrap()));
        }
        let command = format!("nsq {}", arguments.join(" "));
        Output { code: output.status.code().unwrap_or(-1), command, bytes }
    }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// The formats that `nsq run --help` names.
fn formats() -> &'static [String] {
    static FORMATS: OnceLock<Vec<String>> = OnceLock::new();
    FORMATS.get_or_init(|| {
        let help = stdout(&["run", "--help"]);
        let from = help.find("--format").unwrap();
        let to = from + help[from..].find("--output").unwrap();
        let named = help[from..to].lines().filter_map(|line| line.trim().strip_prefix("- "));
        let formats: Vec<String> =
            named.map(|line| line.split(':').next().unwrap().to_owned()).collect();
        assert!(formats.len() >= 7, "{formats:?}");
        formats
    })
}

/// All commands, also those that the help does not list.
fn verbs() -> Vec<String> {
    let verbs: Vec<String> =
        nsq::cli::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    assert!(verbs.len() >= 20, "{verbs:?}");
    verbs
}

/// The command lines to test for a command; `other` is a second report.
///
/// Panics for a command that is not listed here. Add it, with every option that prints data.
fn command_lines(verb: &str, report: &str, other: &str, bench: &Bench) -> Vec<Vec<String>> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let with_formats = |line: &str| {
        let each = formats().iter().map(|format| words(&format!("{line} --format {format}")));
        each.collect::<Vec<_>>()
    };
    let files = bench.arg("out");
    match verb {
        "run" => {
            let asked: String = queries().iter().map(|query| format!(" -q {query}")).collect();
            let mut lines = with_formats(&format!("run {report}{asked} --rows 0"));
            lines.push(words(&format!("run {report} {other} -q top_kernels -q report_info")));
            lines.push(words(&format!("run {report} -q cuda_gpu_kern_sum:base --columns nsys")));
            lines.push(words(&format!("run {report} -q nvtx_sum --nvtx nothing -o {files}/a.csv")));
            lines
        }
        "sql" => {
            let listed = stdout(&["list", "--relations", "--all", "--format", "csv", "--no-header"]);
            let relations = listed.lines().map(|line| line.split(',').next().unwrap().to_owned());
            let each: Vec<String> = relations.map(|name| format!("SELECT * FROM {name}")).collect();
            let sql = |sql: String, format: &str| {
                vec!["sql".to_owned(), report.to_owned(), sql, "--format".to_owned(), format.to_owned()]
            };
            let mut lines = vec![sql(each.join("; "), "json")];
            for format in formats() {
                lines.push(sql("SELECT * FROM string; SELECT * FROM export_fact".to_owned(), format));
            }
            lines
        }
        "list" => with_formats("list"),
        "show" => vec![
            words("show string"),
            words("show src_capture_meta"),
            words(&format!("show report_info --sql --report {report}")),
            words(&format!("show src_capture_meta --sql --report {report}")),
        ],
        "schema" => with_formats(&format!("schema {report}")),
        "materialize" => vec![
            words(&format!("materialize {report} -o {files}/whole.sqlite")),
            words(&format!("materialize {report} -o {files}/part.sqlite --time 0/50%")),
        ],
        // These may write secrets only into the file that the user asked for.
        "export" => vec![words(&format!("export {}", bench.arg("a.nsys-rep")))],
        "import" => vec![words(&format!("import {} -o {files}/trace.sqlite", bench.arg("trace.json")))],
        "stats" | "analyze" => {
            let formats = ["column", "table", "csv", "tsv", "json", "hdoc", "htable"];
            let mut lines: Vec<Vec<String>> = formats
                .iter()
                .map(|format| words(&format!("{verb} -f {format} -o - {report}")))
                .collect();
            lines.push(words(&format!("{verb} -o {files}/{verb} {report}")));
            lines.push(words(&format!("{verb} --help-formats")));
            lines
        }
        "classes" => {
            let mut lines = with_formats(&format!("classes {report} --iter-tag training_step_*"));
            lines.push(words(&format!("classes {report} {other} --seed-compat")));
            lines
        }
        "breakdown" => vec![
            words(&format!("breakdown {report} --out-dir {files}")),
            words(&format!("breakdown {report} {other} --out-dir {files} --seed-compat")),
        ],
        "kernels" => vec![
            words(&format!("kernels {report} --verbose --gaps --memory")),
            words(&format!(
                "kernels {report} -o {files}/k.txt --gaps --gap-output {files}/g.txt --pstep 3"
            )),
        ],
        "flame" => vec![
            words(&format!("flame {report} --by-thread")),
            words(&format!("flame {report} -o {files}/stacks.json")),
        ],
        "page" => {
            let mut lines = with_formats(&format!("page kernels {report} {other} -p gaps=true"));
            lines.push(words(&format!("page kernels {report} --layout console")));
            lines
        }
        "overview" => {
            let mut lines = with_formats(&format!("overview {report} {other}"));
            lines.push(words(report));
            lines
        }
        "timeline" => {
            let mut lines = with_formats(&format!("timeline {report}"));
            lines.push(words(&format!("timeline {report} -o {files}/timeline.html")));
            lines
        }
        "answer" => {
            let mut lines = with_formats(&format!("answer {report} --details"));
            lines.push(words(&format!("answer {report}")));
            lines.push(words(&format!(
                "answer {report} {other} -o {files}/a.md --reports {files}/reports"
            )));
            lines
        }
        "diff" => {
            let mut lines = with_formats(&format!("diff {report} {other} --top 0"));
            lines.push(words(&format!("diff baseline save own {report}")));
            lines
        }
        "check" => {
            let own = project("queries");
            let mut line = words(&format!("check --report {report}"));
            line.insert(1, own.to_str().unwrap().to_owned());
            vec![line]
        }
        "baseline" => {
            vec![
                words(&format!("baseline save plain {report}")),
                words("baseline list"),
                words("baseline path"),
            ]
        }
        "cache" => vec![words("cache ls"), words("cache ls --format json"), words("cache clear")],
        "new" => vec![words("new query --help")],
        "completions" => vec![words("completions bash")],
        verb => panic!("nsq {verb} has no command line here: add those that could show a secret"),
    }
}

#[test]
fn every_text_column_of_an_export_is_classified() {
    let found = text_columns();
    for (table, column) in &found {
        assert!(
            COLUMNS.iter().any(|known| (known.0, known.1) == (table, column)),
            "{table}.{column} is not in COLUMNS: classify it in tests/suite/secrets/planted.rs, and hide secrets"
        );
    }
    assert!(found.len() > 30, "{found:?}");
    // The guard denies every hidden column.
    let bench = Bench::new();
    let report = bench.report("3.25.0", "training_steps");
    for (table, column, kind, why) in COLUMNS {
        let sql = format!("SELECT \"{column}\" FROM main.\"{table}\"");
        let output = bench.run(&["sql", &report, &sql]);
        output.check();
        let is_denied =
            output.code == 1 && output.holds("is not shown") && output.holds("--allow-environment");
        let is_missing = output.holds("no such table");
        match kind {
            Kind::Hidden | Kind::Strings => assert!(is_denied || is_missing, "{sql} ({why})"),
            Kind::Data => assert!(output.code == 0 || is_missing, "{sql} ({why})"),
        }
    }
}

#[test]
fn no_command_shows_a_secret() {
    let bench = Bench::new();
    write_program(&bench.path("nsys"), &fs::read(project("tests/nsys/fake.sh")).unwrap());
    let other = bench.report("3.25.0", "training_steps");
    fs::write(bench.path("a.nsys-rep"), "NVIDIA Tegra Profiler Report 2023@4@4@54-1v0.\ndo: export\n")
        .unwrap();
    let mut answered = BTreeSet::new();
    let formats = formats();
    for (version, trace) in REPORTS {
        let report = bench.report(version, trace);
        for verb in verbs() {
            let (mut codes, mut data) = (Vec::new(), false);
            let mut lines = command_lines(&verb, &report, &other, &bench);
            // One version is enough for all formats, since all print the same rows.
            if version != crate::support::NEWEST_COMMON {
                // Six seconds, for what `run` prints.
                if verb == "check" {
                    continue;
                }
                let is_other = |word: &String| word != "csv" && formats.contains(word);
                lines.retain(|line| !line.iter().any(is_other));
            }
            for line in lines {
                let output = bench.run(&line.iter().map(String::as_str).collect::<Vec<_>>());
                output.check();
                codes.push(output.code);
                data |= output.holds(KERNEL) || output.holds(RANGE);
            }
            // Exit code 3: some question of a playbook lacks its data; the others are answered.
            let is_answered = codes.iter().any(|code| [0, 3].contains(code));
            assert!(is_answered || trace != "training_steps", "{verb} on {trace} {version}: {codes:?}");
            if data {
                answered.insert(verb);
            }
        }
    }
    let expected = ["answer", "diff", "kernels", "materialize", "run", "sql", "stats"];
    let missing: Vec<_> = expected.iter().filter(|verb| !answered.contains(**verb)).collect();
    assert!(
        missing.is_empty(),
        "these commands do not show the names of kernels or ranges: {missing:?}"
    );
}

#[test]
fn imported_traces_keep_names_but_no_secrets() {
    let bench = Bench::new();
    let trace = bench.arg("trace.json");
    for verb in verbs() {
        if verb == "export" {
            continue;
        }
        for line in command_lines(&verb, &trace, &trace, &bench) {
            let output = bench.run(&line.iter().map(String::as_str).collect::<Vec<_>>());
            output.check();
        }
    }
    let output = bench.run(&["run", &trace, "-q", "top_kernels", "-q", "nvtx_sum", "-f", "csv"]);
    assert!(output.holds(KERNEL) && output.holds(RANGE));
    // The cache is readable only by the user, and still has no secrets.
    let cached = files(&bench.path("cache"));
    assert!(cached.len() > 1, "{cached:?}");
    for file in cached {
        let bytes = fs::read(&file).unwrap();
        assert!(!holds(&bytes, SECRET), "{}", file.display());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(
                fs::metadata(&file).unwrap().permissions().mode() & 0o077,
                0,
                "{}",
                file.display()
            );
        }
    }
}

/// The expected outcome of a user's statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The error that says what is hidden and how to show it.
    Denied,
    /// Another error: SQLite does not know the name, or the operation is not allowed.
    Error,
    /// An answer without secrets but with names of kernels.
    Names,
    /// An answer without secrets.
    Rows,
}
use Outcome::{Denied, Error, Names, Rows};

/// Attempts to read hidden values.
const ATTACKS: &[(Outcome, &str)] = &[
    // Directly, with any quoting and in any case.
    (Denied, "SELECT * FROM META_DATA_CAPTURE"),
    (Denied, "SELECT * FROM \"main\".\"meta_data_capture\""),
    (Denied, "SELECT count(*) FROM main.META_DATA_CAPTURE"),
    (Denied, "SELECT 1 FROM META_DATA_CAPTURE LIMIT 1"),
    (Denied, "SELECT upper(hex(value)) FROM TARGET_INFO_SYSTEM_ENV"),
    (Denied, "SELECT * FROM ProcessStreams"),
    (Denied, "SELECT max(contentId) FROM ANALYSIS_FILE"),
    (Denied, "SELECT text FROM DIAGNOSTIC_EVENT"),
    (Denied, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_USER'"),
    (Denied, "SELECT * FROM StringIds"),
    (Denied, "SELECT value FROM main.StringIds WHERE id = 987654320"),
    (Denied, "SELECT count(*) FROM [stringids]"),
    (Denied, "SELECT EXISTS (SELECT 1 FROM META_DATA_CAPTURE WHERE value GLOB 'KEY=S*')"),
    (
        Denied,
        "SELECT k.kernel_name FROM kernel AS k JOIN main.META_DATA_CAPTURE AS m ON m.name GLOB 'P*'",
    ),
    (Denied, "SELECT kernel_name FROM kernel WHERE (SELECT min(value) FROM META_DATA_CAPTURE) > 'K'"),
    (Denied, "SELECT kernel_name FROM kernel UNION ALL SELECT value FROM main.StringIds"),
    (Denied, "SELECT rowid FROM META_DATA_CAPTURE INDEXED BY values_of_capture WHERE value > 'A'"),
    // Under a trusted name.
    (Denied, "WITH x AS (SELECT * FROM main.TARGET_INFO_SYSTEM_ENV) SELECT * FROM x"),
    (
        Denied,
        "WITH src_capture_meta AS (SELECT * FROM main.META_DATA_CAPTURE) SELECT * FROM src_capture_meta",
    ),
    (Denied, "WITH src_string_id AS (SELECT * FROM main.StringIds) SELECT * FROM src_string_id"),
    (Denied, "WITH \"src_string_id\" AS (SELECT * FROM main.StringIds) SELECT * FROM \"src_string_id\""),
    (Denied, "WITH SRC_STRING_ID AS (SELECT value FROM StringIds) SELECT * FROM Src_String_Id"),
    (Denied, "WITH string AS (SELECT * FROM main.StringIds) SELECT * FROM string"),
    (Denied, "WITH kernel AS (SELECT * FROM main.StringIds) SELECT * FROM kernel"),
    (Denied, "SELECT * FROM (SELECT * FROM main.StringIds) AS src_string_id"),
    (
        Denied,
        "SELECT * FROM (WITH src_string_id AS (SELECT * FROM main.StringIds) SELECT * FROM src_string_id)",
    ),
    (
        Denied,
        "WITH RECURSIVE src_string_id AS (SELECT 1 AS id, '' AS value UNION SELECT id, value FROM main.StringIds) \
              SELECT * FROM src_string_id",
    ),
    (Denied, "CREATE TEMP VIEW src_mine AS SELECT * FROM META_DATA_CAPTURE; SELECT * FROM src_mine"),
    (Denied, "CREATE TEMP TABLE t AS SELECT * FROM META_DATA_CAPTURE; SELECT * FROM t"),
    (Denied, "CREATE TEMP TABLE t AS SELECT * FROM main.StringIds; SELECT * FROM t"),
    (Denied, "CREATE TEMP TABLE t (a); INSERT INTO t SELECT value FROM main.StringIds; SELECT * FROM t"),
    (
        Error,
        "CREATE TEMP VIEW src_string_id AS SELECT * FROM main.StringIds; SELECT * FROM src_string_id",
    ),
    (Denied, "CREATE TEMP VIEW v AS SELECT 1; SELECT 2; SELECT * FROM v, META_DATA_CAPTURE"),
    (Denied, "SELECT * FROM sqlite_stat4"),
    // Through the relations and views that hold names.
    (Names, "SELECT * FROM string"),
    (Names, "SELECT text FROM all_string"),
    (Names, "SELECT * FROM \"STRING\""),
    (Names, "SELECT value FROM src_string_id"),
    (Names, "SELECT/**/text/**/FROM/**/temp.string--"),
    (Rows, "SELECT * FROM string WHERE string_id BETWEEN 987654320 AND 987654329"),
    (Rows, "SELECT count(*) FROM string WHERE string_id > 1000000"),
    (
        Names,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
             SELECT text FROM n JOIN string ON string_id = i",
    ),
    (
        Rows,
        "WITH RECURSIVE n(i) AS (SELECT 987654320 UNION ALL SELECT i + 1 FROM n WHERE i < 987654329) \
            SELECT (SELECT text FROM string WHERE string_id = i) AS text FROM n",
    ),
    (
        Rows,
        "WITH RECURSIVE n(i) AS (SELECT 987654320 UNION ALL SELECT i + 1 FROM n WHERE i < 987654329) \
            SELECT (SELECT value FROM src_string_id WHERE id = i) AS text FROM n",
    ),
    (Names, "CREATE TEMP VIEW v AS SELECT * FROM string; SELECT * FROM v"),
    (Names, "CREATE TEMP TABLE t AS SELECT * FROM src_string_id; SELECT value FROM t"),
    (
        Names,
        "SELECT 1; SELECT kernel_name FROM kernel; SELECT * FROM string; SELECT kernel_name FROM kernel",
    ),
    (Rows, "SELECT * FROM src_capture_meta"),
    (Rows, "SELECT * FROM src_export_meta"),
    (Rows, "SELECT * FROM src_system_env"),
    (Rows, "SELECT * FROM src_process_stream"),
    (Rows, "SELECT * FROM src_diagnostic_event"),
    (Rows, "SELECT * FROM export_fact"),
    // With forged string ids in place of those of the events.
    (
        Names,
        "WITH src_cuda_kernel AS (SELECT 987654320 AS demangledName) SELECT kernel_name FROM kernel",
    ),
    (Names, "WITH src_string_id AS (SELECT 987654320 AS id) SELECT kernel_name FROM kernel"),
    (
        Error,
        "CREATE TEMP TABLE src_cuda_kernel AS SELECT 987654320 AS demangledName; SELECT kernel_name FROM kernel",
    ),
    (
        Error,
        "INSERT INTO temp.src_enum_launch_type VALUES (1, 'x', 'x'); UPDATE kernel SET name_id = 987654320; SELECT 1",
    ),
    // Through SQLite's own features.
    (Rows, "SELECT * FROM sqlite_master"),
    (Rows, "SELECT * FROM temp.sqlite_master"),
    (Rows, "EXPLAIN SELECT short_name FROM kernel WHERE kernel_id = 1"),
    (Rows, "SELECT sum(pgsize) FROM dbstat"),
    (Error, "SELECT * FROM sqlite_dbpage"),
    (Rows, "SELECT * FROM pragma_table_info('META_DATA_CAPTURE')"),
    (Rows, "PRAGMA table_info(META_DATA_CAPTURE)"),
    (Error, "PRAGMA writable_schema = 1"),
    (Error, "ATTACH 'copy.sqlite' AS copy"),
    (Error, "VACUUM INTO 'copy.sqlite'"),
    (Error, "SELECT readfile('report.sqlite')"),
    (Error, "SELECT load_extension('x')"),
    (
        Error,
        "CREATE VIRTUAL TABLE temp.f USING fts5(value, content = 'META_DATA_CAPTURE'); SELECT * FROM f",
    ),
    (Error, "CREATE TEMP TRIGGER t INSERT ON kernel BEGIN SELECT value FROM main.StringIds; END"),
    (Error, "DETACH main; SELECT 1"),
    (Error, "DROP VIEW temp.src_string_id; SELECT 1"),
    (Error, "ALTER TABLE temp.src_enum_launch_type RENAME TO t; SELECT 1"),
    // Errors whose messages could quote a value.
    (Error, "SELECT valu FROM META_DATA_CAPTURE"),
    (Error, "SELECT abs(-9223372036854775808), kernel_name FROM kernel"),
    (Error, "SELECT json(text) FROM string"),
];

#[test]
fn user_statements_cannot_read_secrets() {
    let bench = Bench::new();
    let report = bench.report("3.25.0", "training_steps");
    for (wanted, sql) in ATTACKS {
        let output = bench.run(&["sql", &report, sql]);
        output.check();
        let is_denied = output.code == 1
            && output.holds("is not shown: it holds")
            && output.holds("--allow-environment");
        let met = match wanted {
            Denied => is_denied,
            Error => matches!(output.code, 1 | 2) && output.holds("error: ") && !is_denied,
            Names => output.code == 0 && output.holds(KERNEL),
            Rows => output.code == 0,
        };
        assert!(
            met,
            "{sql}\n  expected {wanted:?}: {} {}",
            output.code,
            String::from_utf8_lossy(&output.bytes)
        );
    }
}

#[test]
fn the_string_relation_has_exactly_the_names_of_events() {
    let bench = Bench::new();
    let report = bench.report("3.25.0", "training_steps");
    // Count in the database itself, independently of the specs.
    let connection = Connection::open(&report).unwrap();
    let named: i64 = connection
        .query_row(
            "SELECT count(*) FROM StringIds WHERE id IN (
               SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL UNION SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL
               UNION SELECT mangledName FROM CUPTI_ACTIVITY_KIND_KERNEL
               UNION SELECT nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME UNION SELECT textId FROM NVTX_EVENTS
               UNION SELECT nameId FROM ThreadNames)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let output = bench.run(&["sql", &report, "SELECT count(*) AS texts FROM string", "-f", "csv"]);
    assert_eq!(String::from_utf8_lossy(&output.bytes), format!("texts\n{named}\n"));
    let all: i64 = connection.query_row("SELECT count(*) FROM StringIds", [], |row| row.get(0)).unwrap();
    assert!(all >= named + 4, "the report must have strings that no event refers to");
}

/// Untrusted queries: file, relations read, and statement.
const FOLDERS: &[(&str, &str, &str)] = &[
    ("mine.sql", "[string]", "SELECT text AS name FROM string ORDER BY string_id"),
    ("mine.sql", "[src_string_id]", "SELECT value AS name FROM src_string_id ORDER BY id"),
    ("mine.sql", "[kernel]", "SELECT value AS name FROM main.META_DATA_CAPTURE ORDER BY 1"),
    (
        "mine.sql",
        "[kernel]",
        "WITH src_string_id AS (SELECT * FROM main.StringIds) SELECT value AS name FROM src_string_id ORDER BY 1",
    ),
];

#[test]
fn untrusted_query_folders_cannot_read_secrets() {
    let bench = Bench::new();
    let report = bench.report("3.25.0", "training_steps");
    let front = |name: &str, reads: &str| {
        format!(
            "/*---\nname: {name}\nversion: 1\ntitle: Mine\nsummary: One row per name.\nwhy: To see it.\nkind: info\ntags: [kernel]\n\
             reads: {reads}\ncolumns:\n  - {{name: name, type: text, doc: \"Name.\"}}\nlimits: None.\n---*/\n"
        )
    };
    let folder = bench.path("mine");
    // A folder named like the library in messages is not trusted like the library.
    for place in ["mine", "out/built-in:queries"] {
        for (file, reads, sql) in FOLDERS {
            let query = format!("{}{sql}\n", front("mine", reads));
            bench.run(&["completions", "bash"]);
            let place = bench.path(place);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join(file), &query).unwrap();
            let relative = place.file_name().unwrap().to_str().unwrap();
            let output = nsq()
                .args(["run", &report, "-q", "mine", "--queries", relative])
                .current_dir(place.parent().unwrap())
                .output()
                .unwrap();
            let bytes = [output.stdout, output.stderr].concat();
            Output { code: 0, command: format!("{relative}: {sql}"), bytes }.check();
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    // Relations and specs that replace nsq's own, which its queries and native relations read.
    let relation = |name: &str, more: &str, columns: &[&str], sql: &str| {
        let listed: String = columns
            .iter()
            .map(|column| format!("  - {{name: {column}, type: id, doc: \"It.\"}}\n"))
            .collect();
        format!(
            "/*---\nname: {name}\nsummary: One row per thing.\npresent_if: [src_cuda_kernel]\n{more}reads: []\ncolumns:\n{listed}\
             limits: None.\n---*/\n{sql}\n"
        )
    };
    let kernel_columns = relation_columns("kernel");
    let fake = |name: &str| -> String {
        let cells: Vec<String> = kernel_columns
            .iter()
            .map(|column| match column.as_str() {
                column if column.ends_with("name_id") => format!("i AS {column}"),
                column if column.ends_with("_name") => format!("{name} AS {column}"),
                "kernel_id" => "i AS kernel_id".to_owned(),
                "start_ns" => "i AS start_ns".to_owned(),
                "end_ns" | "dur_ns" => format!("i + 1 AS {column}"),
                "pid" | "global_pid" => format!("281546145660928 AS {column}"),
                column => format!("1 AS {column}"),
            })
            .collect();
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 987654320 UNION ALL SELECT i + 1 FROM n WHERE i < 987654329) SELECT {} FROM n",
            cells.join(", ")
        )
    };
    let columns: Vec<&str> = kernel_columns.iter().map(String::as_str).collect();
    let secret_text = "(SELECT group_concat(value) FROM main.META_DATA_CAPTURE)";
    let strings = "(SELECT value FROM main.StringIds WHERE id = i)";
    let index = "materialize: {index: [name_id]}\n";
    let spec = |name: &str, more: &str, table: &str| {
        format!(
            "table: {table}\nview: src_{name}\ntitle: Mine\ndoc: Mine.\ncapture: always\n{more}columns:\n  - {{name: name, type: text, doc: \"It.\"}}\n  \
             - {{name: value, type: text, doc: \"It.\"}}\n"
        )
    };
    let string_spec = "table: StringIds\nview: src_string_id\ntitle: Mine\ndoc: Mine.\ncapture: always\nsecret: true\nkeep: ['*']\ncolumns:\n  \
                       - {name: id, type: int, doc: \"It.\"}\n  - {name: value, type: text, doc: \"It.\"}\n";
    let messages = |secret: &str, keep: &str| {
        format!(
            "table: DIAGNOSTIC_EVENT\nview: src_diagnostic_event\ntitle: Mine\ndoc: Mine.\ncapture: always\n{secret}columns:\n  \
             - {{name: severity, type: int, keep: ['1'], doc: \"It.\"}}\n  - {{name: text, type: text, {keep}doc: \"It.\"}}\n"
        )
    };
    let attach = "SELECT 1 AS kernel_id; ATTACH 'stolen.sqlite' AS stolen; CREATE TABLE stolen.t AS SELECT * FROM main.META_DATA_CAPTURE";
    let cases = [
        ("views/kernel.sql", relation("kernel", "", &columns, &fake("'x'"))),
        ("views/kernel.sql", relation("kernel", index, &columns, &fake("'x'"))),
        ("views/kernel.sql", relation("kernel", "", &columns, &fake(secret_text))),
        ("views/kernel.sql", relation("kernel", index, &columns, &fake(secret_text))),
        ("views/kernel.sql", relation("kernel", index, &columns, &fake(strings))),
        ("views/kernel.sql", relation("kernel", "", &["kernel_id"], attach)),
        ("sources/capture_meta.yml", spec("capture_meta", "", "META_DATA_CAPTURE")),
        (
            "sources/capture_meta.yml",
            spec("capture_meta", "secret: true\nkeep: ['*']\n", "META_DATA_CAPTURE"),
        ),
        (
            "sources/export_meta.yml",
            spec("export_meta", "secret: true\nkeep: ['*']\n", "TARGET_INFO_SYSTEM_ENV"),
        ),
        ("sources/string_id.yml", string_spec.to_owned()),
        ("sources/diagnostic_event.yml", messages("", "")),
        ("sources/diagnostic_event.yml", messages("secret: true\n", "")),
        ("sources/diagnostic_event.yml", messages("secret: true\n", "keep: ['*'], ")),
        ("sources/diagnostic_event.yml", messages("secret: true\nkeep: ['*']\n", "")),
        (
            "sources/diagnostic_event.yml",
            messages("secret: true\n", "keep: ['*'], ").replace("name: text", "name: TEXT"),
        ),
        (
            "sources/rank_variable.yml",
            spec(
                "rank_variable",
                "secret: true\nkeep: ['PROCESS_[0-9]*:ENVIRONMENT_VARIABLE']\n",
                "META_DATA_CAPTURE",
            ),
        ),
        (
            "sources/rank_variable.yml",
            spec(
                "rank_variable",
                "secret: true\nkeep: ['PROCESS_[0-9]*:ENVIRONMENT_VARIABLE']\n",
                "META_DATA_CAPTURE",
            )
            .replace(
                "value, type: text, doc",
                "value, type: text, keep: ['*'], keep_numbers: [RANK], doc",
            ),
        ),
        (
            "sources/rank_variable.yml",
            spec("rank_variable", "secret: true\nkeep: ['*']\n", "META_DATA_CAPTURE")
                .replace("value, type: text, doc", "value, type: text, keep_numbers: [RANK], doc"),
        ),
        // All rows of a table of which only some are public.
        (
            "sources/capture_meta.yml",
            spec("capture_meta", "secret: true\n", "META_DATA_CAPTURE")
                .replace("text, doc", "text, keep: ['*'], doc"),
        ),
    ];
    for (file, text) in cases {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
        let mine = bench.arg("mine");
        let asked: Vec<String> =
            queries().into_iter().flat_map(|query| ["-q".to_owned(), query]).collect();
        let mut all = vec!["run", &report, "--queries", &mine, "--format", "json"];
        all.extend(asked.iter().map(String::as_str));
        let whole = bench.arg("out/whole.sqlite");
        // One broken relation fails a run of all queries, so some queries are also run alone.
        let mut lines = vec![
            all,
            vec!["materialize", &report, "--queries", &mine, "-o", &whole],
            vec!["sql", &report, "--queries", &mine, "SELECT * FROM export_fact"],
            vec!["sql", &report, "--queries", &mine, "SELECT * FROM src_diagnostic_event"],
            vec!["sql", &report, "--queries", &mine, "SELECT * FROM src_rank_variable"],
            vec!["sql", &report, "--queries", &mine, "SELECT * FROM kernel"],
            vec!["sql", &report, "--queries", &mine, "SELECT * FROM string"],
            vec!["kernels", &report, "--queries", &mine],
            vec!["check", &mine],
        ];
        for query in ["top_kernels", "nvtx_kernels", "kernel_stats", "cuda_gpu_trace", "report_info"] {
            lines.push(vec!["run", &report, "--queries", &mine, "-q", query]);
        }
        for line in lines {
            bench.run(&line).check_texts();
            assert!(!bench.path("out/stolen.sqlite").exists(), "{file}: {line:?} wrote a database");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// A copy of a library file is not trusted under another name, and neither are views in the report.
#[test]
fn copied_library_files_and_views_in_the_report_are_not_trusted() {
    let bench = Bench::new();
    let report = bench.report("3.25.0", "training_steps");
    for (file, copy) in
        [("views/string.sql", "mine/views/foo.sql"), ("sources/string_id.yml", "mine/sources/foo.yml")]
    {
        fs::create_dir_all(bench.path(copy).parent().unwrap()).unwrap();
        fs::copy(project("queries").join(file), bench.path(copy)).unwrap();
    }
    let folder = bench.arg("mine");
    for sql in ["SELECT * FROM foo", "SELECT * FROM all_foo", "SELECT * FROM src_foo"] {
        bench.run(&["sql", &report, "--queries", &folder, sql]).check();
    }
    Connection::open(&report)
        .unwrap()
        .execute_batch(
            "CREATE VIEW all_of_it AS WITH src_string_id AS (SELECT * FROM StringIds) SELECT * FROM src_string_id;
             DROP TABLE IF EXISTS ThreadNames;
             CREATE VIEW ThreadNames AS SELECT id AS nameId, 1 AS globalTid, 0 AS priority FROM StringIds;",
        )
        .unwrap();
    for sql in ["SELECT * FROM all_of_it", "SELECT * FROM string", "SELECT text FROM all_string"] {
        bench.run(&["sql", &report, sql]).check();
    }
}

/// The columns of a relation, in order.
fn relation_columns(relation: &str) -> Vec<String> {
    let text = fs::read_to_string(project(&format!("queries/views/{relation}.sql"))).unwrap();
    let named = text.lines().filter_map(|line| line.trim().strip_prefix("- {name: "));
    named.map(|rest| rest.split(',').next().unwrap().to_owned()).collect()
}

#[test]
fn forged_scripts_cannot_read_secrets() {
    let bench = Bench::new();
    let report = bench.report("3.25.0", "training_steps");
    for name in ["kernel", "top_kernels", "string", "src_string_id", "report_info", "nvtx_kernels"] {
        let script = stdout(&["show", name, "--sql", "--report", &report]);
        assert!(!holds(script.as_bytes(), SECRET));
        let file = bench.arg("script.sql");
        fs::write(&file, &script).unwrap();
        let output = bench.run(&["sql", &report, "--file", &file]);
        output.check();
        assert_eq!(output.code, 0, "{name}: {}", String::from_utf8_lossy(&output.bytes));
        // Replace a view of the script by one with forged string ids.
        let columns: Vec<String> = script_columns(&script, "src_cuda_kernel");
        if columns.is_empty() {
            continue;
        }
        let cells: Vec<String> = columns.iter().map(|column| format!("987654320 AS {column}")).collect();
        for fake in [
            format!("CREATE TEMP VIEW src_cuda_kernel AS SELECT {}", cells.join(", ")),
            format!("CREATE/**/TEMP/**/TABLE src_cuda_kernel AS SELECT {}", cells.join(", ")),
        ] {
            let forged: Vec<String> = script
                .split(";\n")
                .map(|part| match part.contains("VIEW src_cuda_kernel AS") {
                    true => fake.clone(),
                    false => part.to_owned(),
                })
                .collect();
            fs::write(&file, forged.join(";\n")).unwrap();
            bench.run(&["sql", &report, "--file", &file]).check_texts();
            let asked =
                format!("{};\nSELECT kernel_name FROM kernel", forged[..forged.len() - 1].join(";\n"));
            let parts: Vec<&str> = asked.split(";\n").filter(|part| part.contains("CREATE")).collect();
            fs::write(&file, format!("{};\nSELECT kernel_name FROM kernel", parts.join(";\n"))).unwrap();
            let output = bench.run(&["sql", &report, "--file", &file]);
            output.check_texts();
            assert!(!output.holds(KERNEL), "{name}: the forged view must be read instead");
        }
    }
}

/// The columns of a view in a script.
fn script_columns(script: &str, view: &str) -> Vec<String> {
    let Some(from) = script.find(&format!("VIEW {view} AS SELECT")) else { return Vec::new() };
    let body = &script[from..from + script[from..].find("\nFROM").unwrap()];
    let names = body.lines().skip(1).map(|line| line.trim().trim_end_matches(','));
    names.map(|name| name.rsplit(" AS ").next().unwrap().to_owned()).collect()
}

#[test]
fn allow_environment_shows_hidden_values() {
    let bench = Bench::new();
    let report = bench.report("3.25.0", "training_steps");
    for (sql, token) in [
        ("SELECT * FROM META_DATA_CAPTURE", "S3CRET_process_0:environment_variable"),
        ("SELECT * FROM src_capture_meta", "S3CRET_process_0:command"),
        ("SELECT * FROM TARGET_INFO_SYSTEM_ENV", "S3CRET_host"),
        ("SELECT * FROM StringIds", "S3CRET_unreferenced"),
        ("SELECT * FROM string", "S3CRET_unreferenced"),
        (
            "SELECT text FROM ProcessStreams JOIN string ON string_id = contentId",
            "S3CRET_stream_content",
        ),
        ("CREATE TEMP VIEW v AS SELECT * FROM string; SELECT * FROM v", "S3CRET_unreferenced"),
        ("SELECT filename FROM ANALYSIS_FILE", "S3CRET_file"),
        ("SELECT text FROM DIAGNOSTIC_EVENT", "S3CRET_command"),
        ("SELECT * FROM src_export_meta", "S3CRET_export_user"),
    ] {
        let output = bench.run(&["sql", &report, "--allow-environment", sql, "-f", "csv"]);
        assert!(
            output.code == 0 && output.holds(token),
            "{sql}: {}",
            String::from_utf8_lossy(&output.bytes)
        );
        // The flag applies only to its own run.
        bench.run(&["sql", &report, sql, "-f", "csv"]).check();
    }
    for sql in ["DELETE FROM META_DATA_CAPTURE", "ATTACH 'x.sqlite' AS x", "PRAGMA writable_schema = 1"]
    {
        let output = bench.run(&["sql", &report, "--allow-environment", sql]);
        assert!(matches!(output.code, 1 | 2), "{sql}");
    }
    for verb in verbs().into_iter().filter(|verb| verb != "sql") {
        let help = stdout(&[&verb, "--help"]);
        assert!(!help.contains("--allow-environment"), "{verb} must not have --allow-environment");
    }
}

#[test]
fn errors_on_damaged_reports_quote_no_secrets() {
    let bench = Bench::new();
    let good = fs::read(bench.report("3.25.0", "training_steps")).unwrap();
    let file = bench.arg("damaged.sqlite");
    let pages = good.len() / 4096;
    for page in 1..pages {
        let mut bytes = good.clone();
        // Change the type of the page and its cell pointers.
        bytes[page * 4096] ^= 0x08;
        bytes[page * 4096 + 8..page * 4096 + 24].fill(0xff);
        fs::write(&file, &bytes).unwrap();
        for line in [
            vec!["run", &file, "-q", "top_kernels", "-q", "report_info"],
            vec!["schema", &file],
            vec!["sql", &file, "SELECT * FROM string"],
        ] {
            bench.run(&line).check();
        }
    }
    // Schemas that nsys never writes.
    for change in [
        "ALTER TABLE META_DATA_CAPTURE RENAME COLUMN value TO val",
        "ALTER TABLE StringIds RENAME COLUMN value TO val",
        "CREATE TABLE S (id, value); INSERT INTO S SELECT * FROM StringIds; DROP TABLE StringIds; ALTER TABLE S RENAME TO STRINGIDS",
        "ALTER TABLE StringIds RENAME TO s; CREATE VIEW StringIds AS SELECT * FROM s",
        "CREATE VIEW src_string_id AS SELECT * FROM StringIds; CREATE VIEW string AS SELECT id AS string_id, value AS text FROM StringIds",
        "CREATE VIEW kernel AS SELECT value AS kernel_name FROM META_DATA_CAPTURE",
    ] {
        fs::write(&file, &good).unwrap();
        Connection::open(&file).unwrap().execute_batch(change).unwrap();
        let mut statements = vec![
            "SELECT * FROM string",
            "SELECT * FROM kernel",
            "SELECT * FROM main.kernel",
            "SELECT * FROM main.string",
            "SELECT * FROM main.src_string_id",
            "SELECT * FROM src_capture_meta",
            "SELECT * FROM StringIds",
        ];
        // nsq does not know the renamed table `s`, and unknown tables are not hidden.
        if change.contains("TO s;") {
            statements.retain(|sql| !sql.contains("main."));
        }
        for sql in statements {
            bench.run(&["sql", &file, sql]).check();
        }
        bench.run(&["run", &file, "-q", "top_kernels", "-q", "report_info"]).check();
    }
}

#[test]
fn errors_on_broken_traces_quote_no_secrets() {
    let bench = Bench::new();
    let whole = trace();
    let file = bench.arg("broken.json");
    let database = bench.arg("out/broken.sqlite");
    for at in (0..whole.len()).step_by(97) {
        if !whole.is_char_boundary(at) {
            continue;
        }
        for text in [whole[..at].to_owned(), format!("{}\u{1}{}", &whole[..at], &whole[at..])] {
            fs::write(&file, text).unwrap();
            bench.run(&["import", &file, "-o", &database]).check();
        }
    }
}

#[test]
fn an_export_is_an_exact_private_copy() {
    let bench = Bench::new();
    write_program(&bench.path("nsys"), &fs::read(project("tests/nsys/fake.sh")).unwrap());
    let export = bench.report("3.25.0", "training_steps");
    fs::write(bench.path("a.nsys-rep"), "NVIDIA Tegra Profiler Report 2023@4@4@54-1v0.\ndo: export\n")
        .unwrap();
    let capture = bench.arg("a.nsys-rep");
    let copy = bench.arg("copy.sqlite");
    let output = bench.run(&["export", &capture, "-o", &copy]);
    output.check();
    assert_eq!(output.code, 0);
    assert_eq!(
        fs::read(&copy).unwrap(),
        fs::read(&export).unwrap(),
        "the export must be a copy of what nsys wrote"
    );
    bench.run(&["run", &capture, "-q", "top_kernels"]).check();
    bench.run(&["cache", "ls", "--format", "json"]).check();
    #[cfg(unix)]
    for file in files(&bench.path("cache")) {
        use std::os::unix::fs::PermissionsExt;
        for path in [file.as_path(), file.parent().unwrap()] {
            assert_eq!(
                fs::metadata(path).unwrap().permissions().mode() & 0o077,
                0,
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn every_version_with_strings_hides_those_without_events() {
    let bench = Bench::new();
    for version in versions() {
        let report = bench.report(&version, "training_steps");
        let output = bench.run(&["sql", &report, "SELECT * FROM string", "-f", "csv"]);
        output.check();
        assert!(output.code == 0 && output.holds(KERNEL), "{version}");
        // Look-ups and the relation `string` agree.
        let sql = "SELECT count(*) AS n FROM kernel WHERE kernel_name <> coalesce((SELECT text FROM string WHERE string_id = name_id), '')";
        let output = bench.run(&["sql", &report, sql, "-f", "csv"]);
        assert_eq!(String::from_utf8_lossy(&output.bytes), "n\n0\n", "{version}");
    }
}
