//! Shared by all tests: fixtures built on the fly, the program under test, and the shared data.

// Each test binary uses only part of this module.
#![allow(dead_code, unreachable_pub)]

pub mod golden;

use assert_cmd::Command;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The export version that `fixtures/traces` are written for.
pub const NEWEST_COMMON: &str = "3.25.0";

/// How many of `all` random captures, damaged copies or kills a test tries.
///
/// `NSQ_TEST_DEPTH` counts eighths. The default is 1, which is quick enough for every run. 8 tries all.
/// Higher values continue with new seeds.
pub fn depth_of(all: usize) -> usize {
    let depth = std::env::var("NSQ_TEST_DEPTH")
        .map_or(1, |text| text.parse().expect("NSQ_TEST_DEPTH must be a number of eighths"));
    (all * depth).div_ceil(8)
}

/// Which eighth a test tries: `NSQ_TEST_TURN`, by default 0. `.ci/run` takes it from the number of commits, so that eight in a row try all.
pub fn turn() -> usize {
    let text = std::env::var("NSQ_TEST_TURN");
    text.map_or(0, |text| text.parse().expect("NSQ_TEST_TURN must be a number"))
}

/// Which of `all` numbered cases a test tries: as many as `depth_of`, from the place of this turn.
pub fn tried(all: usize) -> impl Iterator<Item = usize> + Clone {
    let count = depth_of(all);
    let first = turn() * count;
    (first..first + count).map(move |nth| nth % all.max(count))
}

/// A path inside the project.
pub fn project(inside: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(inside)
}

/// The stems of the files in a project folder with this extension, sorted.
pub fn stems(folder: &str, extension: &str) -> Vec<String> {
    let mut stems: Vec<String> = std::fs::read_dir(project(folder))
        .unwrap_or_else(|e| panic!("{folder}: {e}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    stems.sort();
    stems
}

/// The names of all traces in `fixtures/traces`.
pub fn traces() -> Vec<String> {
    stems("fixtures/traces", "sql")
}

/// The export versions in `fixtures/schema`.
pub fn versions() -> Vec<String> {
    stems("fixtures/schema", "sql")
}

fn read(inside: &str) -> String {
    let path = project(inside);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Builds `trace` as an export of `version` at `path`.
///
/// The trace is loaded into the newest common schema. For another version, the columns that both
/// versions have are copied, as an exporter of that version would have written them. Other columns that
/// must have a value get 0.
pub fn build(version: &str, trace: &str, path: &Path) {
    let schema = |version: &str| read(&format!("fixtures/schema/{version}.sql"));
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").unwrap();
    connection.execute_batch(&schema(version)).unwrap();
    let events = read(&format!("fixtures/traces/{trace}.sql"));
    if version == NEWEST_COMMON {
        connection.execute_batch(&events).unwrap();
    } else {
        let common = tempfile::NamedTempFile::new().unwrap();
        build(NEWEST_COMMON, trace, common.path());
        copy_common(&connection, common.path());
    }
    drop_empty_tables(&connection);
}

fn names(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn copy_common(connection: &Connection, from: &Path) {
    connection.execute("ATTACH ?1 AS common", [from.to_str().unwrap()]).unwrap();
    let tables = "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT GLOB 'ENUM_*' AND name NOT GLOB '*META_DATA*' \
                  INTERSECT SELECT name FROM common.sqlite_master";
    for table in names(connection, tables) {
        let shared = format!(
            "FROM pragma_table_info('{table}', 'main') AS target \
             LEFT JOIN pragma_table_info('{table}', 'common') AS source ON source.name = target.name \
             WHERE source.name IS NOT NULL OR target.\"notnull\" AND NOT target.pk ORDER BY target.cid"
        );
        let columns =
            names(connection, &format!("SELECT '\"' || target.name || '\"' {shared}")).join(", ");
        let values =
            format!("SELECT iif(source.name IS NULL, '0', '\"' || source.name || '\"') {shared}");
        let values = names(connection, &values).join(", ");
        let copy = format!(
            "INSERT INTO main.{table} ({columns}) SELECT {values} FROM common.{table} ORDER BY rowid"
        );
        connection.execute_batch(&copy).unwrap_or_else(|e| panic!("{table}: {e}"));
    }
    translate_gpus(connection);
    connection.execute_batch("DETACH common").unwrap();
}

/// Before 2022.2, exports listed GPUs in another table, once per process, with other column names.
fn translate_gpus(connection: &Connection) {
    const NAMES: [(&str, &str); 14] = [
        ("vmId", "vmId"),
        ("deviceId", "id"),
        ("pid", "process.pid"),
        ("name", "gpu.name"),
        ("pciBusId", "busLocation"),
        ("globalMemorySize", "totalMemory"),
        ("globalMemoryBandwidth", "memoryBandwidth"),
        ("numMultiprocessors", "smCount"),
        ("computeCapabilityMajor", "computeMajor"),
        ("computeCapabilityMinor", "computeMinor"),
        ("maxWarpsPerMultiprocessor", "coalesce(maxWarpsPerSm, 0)"),
        ("maxBlocksPerMultiprocessor", "coalesce(maxBlocksPerSm, 0)"),
        ("maxRegistersPerMultiprocessor", "maxRegistersPerSm"),
        ("maxSharedMemoryPerMultiprocessor", "maxShmemPerSm"),
    ];
    let has = |schema: &str, table: &str| {
        !names(connection, &format!("SELECT name FROM {schema}.sqlite_master WHERE name = '{table}'"))
            .is_empty()
    };
    if !has("main", "TARGET_INFO_CUDA_GPU") || !has("common", "TARGET_INFO_GPU") {
        return;
    }
    let columns =
        names(connection, "SELECT name FROM pragma_table_info('TARGET_INFO_CUDA_GPU', 'main')");
    let values: Vec<&str> = columns
        .iter()
        .map(|column| NAMES.iter().find(|(old, _)| old == column).map_or("0", |(_, new)| new))
        .collect();
    connection
        .execute_batch(&format!(
            "INSERT INTO main.TARGET_INFO_CUDA_GPU ({}) SELECT {} FROM common.TARGET_INFO_GPU AS gpu, \
             common.PROCESSES AS process",
            columns.join(", "),
            values.join(", ")
        ))
        .unwrap();
}

/// Returns whether the export version has a table for every kind of event in the trace.
pub fn can_express(version: &str, trace: &str) -> bool {
    let schema = read(&format!("fixtures/schema/{version}.sql"));
    tables_of(trace)
        .iter()
        .filter(|table| !table.starts_with("TARGET_INFO_"))
        .all(|table| schema.contains(&format!("CREATE TABLE {table} ")))
}

/// The tables that the trace has rows for.
fn tables_of(trace: &str) -> BTreeSet<String> {
    let events = read(&format!("fixtures/traces/{trace}.sql"));
    let inserts = events.split("INSERT INTO ").skip(1);
    inserts.filter_map(|rest| rest.split_whitespace().next()).map(str::to_owned).collect()
}

/// What the export version says of the tables that the trace has rows for, and of the tables that every
/// export has: their columns and their rows. Its own number and build are left out.
pub fn schema_of(version: &str, trace: &str) -> String {
    let tables = tables_of(trace);
    let schema = read(&format!("fixtures/schema/{version}.sql"));
    let code: Vec<&str> = schema.lines().filter(|line| !line.starts_with("--")).collect();
    let code = code.join("\n");
    let statements = code.split(";\n").map(str::trim).filter(|statement| {
        let words = statement.strip_prefix("CREATE TABLE ").or(statement.strip_prefix("INSERT INTO "));
        let table = words.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
        !table.contains("META_DATA")
            && (tables.contains(table)
                || table.starts_with("ENUM_")
                || table.starts_with("TARGET_INFO_"))
    });
    statements.collect::<Vec<_>>().join(";\n")
}

/// Drops tables without rows, as a lazy export does not create them.
pub fn drop_empty_tables(connection: &Connection) {
    for table in names(connection, "SELECT name FROM sqlite_master WHERE type = 'table'") {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM \"{table}\")");
        let has_rows: bool = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        if !has_rows {
            connection.execute_batch(&format!("DROP TABLE \"{table}\"")).unwrap();
        }
    }
}

/// A folder of built fixtures, deleted on drop.
pub struct Fixtures {
    folder: tempfile::TempDir,
}

impl Fixtures {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The path of `trace` as an export of the newest common version.
    pub fn trace(&self, trace: &str) -> PathBuf {
        self.version(NEWEST_COMMON, trace)
    }

    /// The path of `trace` as an export of `version`.
    pub fn version(&self, version: &str, trace: &str) -> PathBuf {
        let path = self.folder.path().join(format!("{trace}-{version}.sqlite"));
        if !path.exists() {
            build(version, trace, &path);
        }
        path
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// The program, isolated from the user's folders, cache and terminal.
pub fn nsq() -> Command {
    let mut command = Command::cargo_bin("nsq").unwrap();
    for variable in ["NSQ_PATH", "NSQ_NSYS", "NSQ_CACHE", "NSQ_BASELINES", "COLUMNS"] {
        command.env_remove(variable);
    }
    for variable in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    command.env("HOME", "/nonexistent").env("NO_COLOR", "1");
    command
}

/// The program with the default action of signals, also where who started the tests ignores them, as a shell does for what it
/// starts with `&`.
pub fn interruptible() -> std::process::Command {
    let program = env!("CARGO_BIN_EXE_nsq");
    if !cfg!(target_os = "linux") {
        return std::process::Command::new(program);
    }
    let mut command = std::process::Command::new("/usr/bin/env");
    command.args(["--default-signal=HUP,INT,TERM", program]);
    command
}

/// Writes a program that a test runs. A shell writes it: what this process has open for writing, a child that another test
/// starts at that time has open, too, for a moment, and Linux runs no such file ("text file busy").
pub fn write_program(path: &Path, bytes: &[u8]) {
    let mut shell = std::process::Command::new("/bin/sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(bytes).unwrap();
    assert!(shell.wait().unwrap().success(), "{}", path.display());
}

/// Standard output of a run; panics if the run fails.
pub fn stdout(arguments: &[&str]) -> String {
    let output = nsq().args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "nsq {}: {error}", arguments.join(" "));
    String::from_utf8(output.stdout).unwrap()
}

/// Exit code, standard output and standard error of a run.
pub fn outcome(arguments: &[&str]) -> (i32, String, String) {
    let output = nsq().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// Queries that do not run without parameters. They have no golden: `tests/suite/errors.rs` tries them.
pub const NEED_PARAMETERS: [&str; 1] = ["attention_flops"];

/// Names of all queries.
pub fn every_query() -> Vec<String> {
    let listed = stdout(&["list", "--all", "--format", "csv", "--no-header"]);
    listed.lines().map(|line| line.split(',').nth(1).unwrap().to_owned()).collect()
}

/// Names of all queries that run without parameters.
pub fn queries() -> Vec<String> {
    let mut queries = every_query();
    queries.retain(|query| !NEED_PARAMETERS.contains(&query.as_str()));
    queries
}

/// Writes to standard error directly: the test harness captures what passing tests print.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The shared folder of real exports beside the checkout. Where it is missing, prints that and returns
/// `None`.
pub fn shared() -> Option<PathBuf> {
    let folder = project("../shared");
    if folder.join("data").is_dir() {
        return Some(folder);
    }
    say("skipped: no shared data beside the checkout");
    None
}

/// All real exports of the shared folder.
pub fn shared_exports() -> Vec<PathBuf> {
    let Some(shared) = shared() else { return Vec::new() };
    let mut exports = Vec::new();
    for folder in ["data/exports", "data/made"] {
        for entry in std::fs::read_dir(shared.join(folder)).unwrap() {
            exports.push(entry.unwrap().path());
        }
    }
    exports.retain(|path| path.extension().is_some_and(|e| e == "sqlite"));
    exports.sort();
    exports
}

/// The `sqlite3` shell. Where it is not installed, prints that and returns `None`.
pub fn sqlite3() -> Option<std::process::Command> {
    let found = std::process::Command::new("sqlite3").arg("--version").output().is_ok();
    if !found {
        say("skipped: no sqlite3 shell on PATH");
    }
    found.then(|| std::process::Command::new("sqlite3"))
}
