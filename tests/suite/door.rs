//! The front door of the library: its surface, its answers, and threads.

use crate::support::{Fixtures, outcome, project, stdout};
use nsq::{Attribute, Cancel, Column, Error, RowSink, Scope, Table, Value};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// What other programs can use. A change here is a change of the library's interface.
const SURFACE: &str = "\
pub use nsq_ask::door::{Answer, Answers, Cancel, Failure, Library, Page, PageQuestion};
pub use nsq_ask::door::{PlaybookQuestion, Question, Report, Scope, Table};
pub use nsq_engine::normalize::Attribute;
pub use nsq_render::render::visible;
pub use nsq_report::report::report_paths;
pub use nsq_value::error::{Error, Result};
pub use nsq_value::table::{Column, Row, RowSink, Type, Unit, Value};
pub fn library() -> Result<Library> {
pub fn library_with(folders: &[PathBuf]) -> Result<Library> {
pub fn open(path: impl AsRef<Path>) -> Result<Report> {";

#[test]
fn the_surface_is_a_screenful() {
    let text = fs::read_to_string(project("src/lib.rs")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let is_shown =
        |place: &usize| lines[*place].starts_with("pub ") && lines[place - 1] != "#[doc(hidden)]";
    let exported: Vec<&str> = (1..lines.len()).filter(is_shown).map(|place| lines[place]).collect();
    assert_eq!(exported.join("\n"), SURFACE);
}

#[test]
fn the_door_answers_as_the_program_does() {
    let fixtures = Fixtures::new();
    let path = fixtures.trace("training_steps");
    let report = nsq::open(&path).unwrap();
    for name in report.answerable().unwrap() {
        let Ok(table) = report.query(name).run() else { continue };
        let csv = stdout(&["run", path.to_str().unwrap(), "-q", name, "-f", "json"]);
        let document: serde_json::Value = serde_json::from_str(&csv).unwrap();
        let rows = document["rows"].as_array().unwrap();
        assert_eq!(table.rows().len(), rows.len(), "{name}");
        for (own, other) in table.iter().zip(rows) {
            for column in table.columns() {
                let other = &other[&column.name];
                let is_same = match own.get(&column.name).unwrap() {
                    Value::Null => other.is_null(),
                    Value::Int(int) => other.as_i64() == Some(*int),
                    // The parser of the test is not exact in the last digit.
                    Value::Real(real) => {
                        other.as_f64().is_some_and(|other| (other - real).abs() <= 1e-12 * real.abs())
                    }
                    Value::Text(text) => other.as_str() == Some(text),
                };
                assert!(is_same, "{name}.{}: {own:?} {other}", column.name);
            }
        }
    }
    let kernels = report.query("top_kernels").param("limit", 1).run().unwrap();
    assert_eq!((kernels.rows().len(), kernels.query.unwrap().0.as_str()), (1, "top_kernels"));
    let statement = report.sql("SELECT count(*) AS n FROM kernel");
    let Some(Value::Int(count)) = statement.value("n").unwrap() else { panic!("no count") };
    let first = report.query("kernel_stats").param("limit", -1).run().unwrap();
    assert_eq!(first.iter().filter_map(|row| row.int("calls")).sum::<i64>(), count);
    let page = report.page("kernels").param("gaps", true).run().unwrap();
    assert!(page.tables.iter().any(|(name, table)| name == "pairs" && !table.rows().is_empty()));
}

#[test]
fn errors_tell_missing_data_from_failure() {
    let fixtures = Fixtures::new();
    let report = nsq::open(fixtures.trace("nvtx_only")).unwrap();
    assert!(matches!(report.query("top_kernels").run(), Err(Error::LacksData { .. })));
    assert!(matches!(report.page("kernels").run(), Err(Error::LacksData { .. })));
    assert!(matches!(report.query("top_kernel").run(), Err(Error::Unknown { .. })));
    assert!(matches!(report.query("nvtx_sum").param("x", 1).run(), Err(Error::Unknown { .. })));
    assert!(matches!(report.sql("SELECT x FROM nvtx_range").run(), Err(Error::Sql { .. })));
    assert!(matches!(nsq::open("absent.sqlite"), Err(Error::Report { .. })));
    let rows = report.query("nvtx_sum").max_rows(0).run();
    assert!(matches!(rows, Err(Error::Limit { .. })), "{rows:?}");
    let report = nsq::open(fixtures.trace("training_steps")).unwrap();
    let scope = Scope { devices: vec![99], ..Scope::default() };
    assert!(matches!(report.query("gpu_time").scope(&scope).run(), Err(Error::Usage { .. })));
}

#[test]
fn scopes_and_class_maps_are_those_of_the_command_line() {
    let fixtures = Fixtures::new();
    let path = fixtures.trace("training_steps");
    let report = nsq::open(&path).unwrap();
    let scope = Scope {
        iterations: vec!["training_step_*/1".to_owned()],
        attribute: Some(Attribute::Process),
        ..Scope::default()
    };
    let own = report.query("gpu_time").scope(&scope).value("busy_ns").unwrap();
    let line = ["run", path.to_str().unwrap(), "-q", "gpu_time", "--iter", "training_step_*", "1"];
    let csv =
        stdout(&[&line[..], &["--attribute", "process", "--columns", "busy_ns", "-f", "csv"]].concat());
    assert_eq!(own, Some(Value::Int(csv.lines().nth(1).unwrap().parse().unwrap())));
    let whole = report.query("gpu_time").value("busy_ns").unwrap();
    assert_ne!(own, whole, "the scope must matter for this test to mean anything");
    let classes = |map: Option<&str>| {
        let question = report.query("class_sum");
        let question = map.map_or(question.clone(), |map| question.classes(map));
        question.run().map(|table| table.rows().to_vec())
    };
    assert_ne!(classes(None).unwrap(), classes(Some("class_summary/llama2")).unwrap());
    assert!(matches!(classes(Some("absent")), Err(Error::Unknown { .. })));
    // The choice was of one question only.
    assert_eq!(classes(None).unwrap(), classes(Some("default")).unwrap());
}

#[test]
fn several_reports_are_one_answer() {
    let fixtures = Fixtures::new();
    let library = nsq::library().unwrap();
    let reports =
        ["kernel_gaps", "training_steps"].map(|trace| library.open(fixtures.trace(trace)).unwrap());
    let all = library.query("gpu_time", &reports).run().unwrap();
    let each: usize =
        reports.iter().map(|report| report.query("gpu_time").run().unwrap().rows().len()).sum();
    assert_eq!((all.columns()[0].name.as_str(), all.rows().len()), ("report", each));
}

/// Asks eight threads at the same time, and compares with one answer.
fn eight_threads(reports: &[nsq::Report], path: impl Fn(usize) -> usize + Sync) {
    let names = ["gpu_time", "top_kernels", "nvtx_gpu_proj_sum", "stream_gaps", "iterations"];
    let answers =
        |report: &nsq::Report| names.map(|name| report.query(name).run().unwrap().rows().to_vec());
    let truth = answers(&reports[0]);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (path, truth, answers) = (&path, &truth, &answers);
            scope.spawn(move || {
                for _ in 0..3 {
                    assert_eq!(answers(&reports[path(thread)]), *truth, "thread {thread}");
                }
            });
        }
    });
}

#[test]
fn eight_threads_ask_one_report_and_eight() {
    let fixtures = Fixtures::new();
    let path = fixtures.trace("training_steps");
    eight_threads(&[nsq::open(&path).unwrap()], |_| 0);
    let folder = tempfile::tempdir().unwrap();
    let copies: Vec<nsq::Report> = (0..8)
        .map(|index| {
            let copy: PathBuf = folder.path().join(format!("{index}.sqlite"));
            fs::copy(&path, &copy).unwrap();
            nsq::open(copy).unwrap()
        })
        .collect();
    eight_threads(&copies, |thread| thread);
}

#[test]
#[cfg(unix)]
fn a_link_is_followed_once() {
    use std::os::unix::fs::symlink;
    let fixtures = Fixtures::new();
    let folder = tempfile::tempdir().unwrap();
    let (path, spare) = (folder.path().join("report.sqlite"), folder.path().join("spare"));
    let first = fixtures.trace("training_steps").canonicalize().unwrap();
    let second = fixtures.trace("kernel_gaps").canonicalize().unwrap();
    symlink(&first, &path).unwrap();
    let report = nsq::open(&path).unwrap();
    assert_eq!((report.file(), report.name().as_str()), (first.as_path(), "report.sqlite"));
    let count = || report.sql("SELECT count(*) AS n FROM kernel").value("n");
    let before = count().unwrap();
    symlink(&second, &spare).unwrap();
    fs::rename(&spare, &path).unwrap();
    // The first question took the connection that opening left; this one opens the file again.
    assert_eq!(count().unwrap(), before);
    assert_ne!(
        nsq::open(&path).unwrap().sql("SELECT count(*) AS n FROM kernel").value("n").unwrap(),
        before
    );
    // A file that becomes a link is not followed.
    let copy = folder.path().join("copy.sqlite");
    fs::copy(&first, &copy).unwrap();
    let copied = nsq::open(&copy).unwrap();
    let asked = || copied.sql("SELECT count(*) AS n FROM kernel").value("n");
    assert_eq!(asked().unwrap(), before);
    fs::remove_file(&copy).unwrap();
    symlink(&second, &copy).unwrap();
    assert!(asked().is_err());
}

#[test]
fn a_question_is_stopped_alone() {
    let fixtures = Fixtures::new();
    let report = nsq::open(fixtures.trace("training_steps")).unwrap();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let cancel = Cancel::default();
    std::thread::scope(|scope| {
        let stopped = scope.spawn(|| report.sql(endless).cancel(&cancel).run());
        std::thread::sleep(Duration::from_millis(50));
        // Another question of the same report goes on.
        assert!(report.query("gpu_time").run().is_ok());
        cancel.cancel();
        assert!(matches!(stopped.join().unwrap(), Err(Error::Interrupted)));
    });
    assert!(report.query("gpu_time").run().is_ok());
    let late = report.sql(endless).timeout(Duration::from_millis(50)).run();
    assert!(matches!(late, Err(Error::Limit { .. })), "{late:?}");
}

#[test]
fn the_examples_answer() {
    for (file, most) in [("iterations.rs", 40), ("ci_check.rs", 40)] {
        let text = fs::read_to_string(project(&format!("examples/{file}"))).unwrap();
        assert!(text.lines().count() < most, "{file} is longer than {most} lines");
    }
}

#[test]
fn the_library_is_searched_and_described() {
    let library = nsq::library().unwrap();
    let names = |words: &str| -> Vec<String> {
        let found = library.find(words).unwrap();
        found.iter().filter_map(|row| row.text("name").map(str::to_owned)).collect()
    };
    for words in ["", "bottleneck"] {
        let options = ["list", "-f", "csv", words];
        let listed = stdout(&options[..options.len() - usize::from(words.is_empty())]);
        let listed: Vec<&str> =
            listed.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
        let queries: Vec<&str> =
            listed.into_iter().filter(|name| library.queries().any(|one| one == *name)).collect();
        // A search of the list has pages, relations and chapters, too.
        assert!(
            names(words)[0] == queries[0] && (!words.is_empty() || names(words) == queries),
            "{queries:?}"
        );
    }
    // The lists leave out internal queries, whose names work.
    let all: Vec<&str> = library.queries().collect();
    assert!(all.contains(&"gpu_strip") && names("").iter().all(|name| all.contains(&name.as_str())));
    assert!(names("").len() < all.len() && !names("").contains(&"gpu_strip".to_owned()));
    for name in ["top_kernels", "kernel", "overview", "cs336", "default", "vllm/llama"] {
        assert_eq!(library.manual(name).unwrap(), stdout(&["show", name]), "{name}");
    }
    assert!(matches!(library.manual("/etc/passwd"), Err(Error::Unknown { .. })));
    let file = fs::read_to_string(project("queries/cuda/top_kernels.sql")).unwrap();
    assert!(file.contains(library.statement("top_kernels").unwrap()));
    assert!(library.relations().any(|name| name == "kernel"));
}

#[test]
fn limits_of_rows_and_bytes_are_errors() {
    let fixtures = Fixtures::new();
    let report = nsq::open(fixtures.trace("training_steps")).unwrap();
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) ";
    let texts = report.sql(&format!("{numbers} SELECT printf('%.*c', 1000, 'x') AS x FROM n"));
    assert!(matches!(texts.clone().max_bytes(999_999).run(), Err(Error::Limit { .. })));
    assert_eq!(texts.max_bytes(1_000_000).run().unwrap().rows().len(), 1000);
    let none = report
        .query("top_kernels")
        .scope(&Scope { time: Some("99s/100s".to_owned()), ..Scope::default() });
    assert!(none.run().unwrap().rows().is_empty());
}

#[test]
fn a_page_is_told_the_names_of_iterations() {
    let report = nsq::open(project("fixtures/example.sqlite")).unwrap();
    let library = nsq::library().unwrap();
    let runs = |name: &str| {
        let page = library.page("diff", [&report, &report]).iterations(name).run().unwrap();
        let (_, runs) = page.tables.into_iter().find(|(name, _)| name == "runs").unwrap();
        let first = runs.first().unwrap();
        (first.int("iteration_count"), first.text("iteration_name").map(str::to_owned))
    };
    assert_eq!(runs("step *"), (Some(8), Some("step *".to_owned())));
    assert_eq!(runs("no such range").0, Some(0));
}

#[test]
fn rows_are_passed_on_as_they_are_kept() {
    let fixtures = Fixtures::new();
    let reports =
        ["kernel_gaps", "training_steps"].map(|trace| nsq::open(fixtures.trace(trace)).unwrap());
    let library = nsq::library().unwrap();
    for question in [
        reports[0].query("top_kernels"),
        library.query("top_kernels", &reports),
        library.sql("SELECT count(*) AS n FROM kernel", &reports),
    ] {
        let mut sink = Kept::default();
        let answer = question.run_into(&mut sink).unwrap();
        let table = question.run().unwrap();
        assert!(!sink.rows.is_empty());
        assert_eq!(Table::of(answer, sink.columns, sink.rows), table);
    }
}

/// A sink that keeps what it is passed.
#[derive(Default)]
struct Kept {
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
    is_ended: bool,
}

impl RowSink for Kept {
    fn begin(&mut self, columns: &[Column]) -> nsq::Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }
    fn row(&mut self, row: &[Value]) -> nsq::Result<()> {
        assert!(!self.is_ended);
        self.rows.push(row.to_vec());
        Ok(())
    }
    fn end(&mut self) -> nsq::Result<()> {
        self.is_ended = true;
        Ok(())
    }
}

#[test]
fn values_are_bound_with_their_types() {
    let fixtures = Fixtures::new();
    let report = nsq::open(fixtures.trace("training_steps")).unwrap();
    let count = |sql: &str, values: &[(&str, Value)]| {
        let question = report.sql(sql);
        values
            .iter()
            .fold(question, |question, (name, value)| question.bind(name, value.clone()))
            .value("n")
    };
    let longer = "SELECT count(*) AS n FROM kernel WHERE dur_ns >= :least";
    let all = count("SELECT count(*) AS n FROM kernel", &[]).unwrap();
    assert_eq!(count(longer, &[("least", Value::Int(0))]).unwrap(), all);
    assert_eq!(count(longer, &[("least", Value::Int(i64::MAX))]).unwrap(), Some(Value::Int(0)));
    // A text is larger than every number.
    assert_eq!(count(longer, &[("least", Value::Text("0".into()))]).unwrap(), Some(Value::Int(0)));
    assert!(matches!(count(longer, &[]), Err(Error::Sql { .. })));
    let misspelt = count(longer, &[("least", Value::Int(0)), ("lest", Value::Int(0))]);
    assert!(matches!(misspelt, Err(Error::Usage { .. })));
    let query = report.query("top_kernels").bind("limit", Value::Int(1)).run();
    assert!(matches!(query, Err(Error::Usage { .. })));
}

#[test]
fn notes_about_the_scope_are_those_of_the_program() {
    let fixtures = Fixtures::new();
    let paths = ["training_steps", "kernel_gaps"].map(|trace| fixtures.trace(trace));
    let paths: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let library = nsq::library().unwrap();
    let scope = Scope { devices: vec![0], ..Scope::default() };
    for some in [&paths[..1], &paths] {
        let reports: Vec<_> = some.iter().map(|path| nsq::open(path).unwrap()).collect();
        let page = library.page("overview", reports.iter()).scope(&scope).run().unwrap();
        let words = [&["page", "overview"], some, &["--device", "0"]].concat();
        let (code, _, error) = outcome(&words);
        let printed: Vec<&str> = error.lines().filter_map(|line| line.strip_prefix("note: ")).collect();
        assert!(code == 0 && printed.len() > 3, "{words:?}: {error}");
        assert_eq!(page.notes, printed, "{words:?}");
    }
}

#[test]
fn comparisons_and_layouts_are_those_of_the_program() {
    let fixtures = Fixtures::new();
    let paths = ["training_steps", "kernel_gaps"].map(|trace| fixtures.trace(trace));
    let reports = [0, 1].map(|index| nsq::open(&paths[index]).unwrap());
    let library = nsq::library().unwrap();
    let page = reports[0].page("overview").layouts().run().unwrap();
    let path = paths[0].to_str().unwrap();
    assert_eq!(page.text.unwrap(), stdout(&["overview", path]));
    assert!(page.html.unwrap().starts_with("<!DOCTYPE html>"));
    let page = library.diff([&reports[0]], [&reports[1]]).layouts().run().unwrap();
    // The reports have different iterations, and the page says so.
    assert!(page.notes[0].starts_with("iterations are not compared: "), "{:?}", page.notes);
    assert_eq!(page.text.unwrap(), stdout(&["diff", path, paths[1].to_str().unwrap()]));
    let misspelt = library.diff([&reports[0]], [&reports[1]]).iterations("absent").run();
    assert!(matches!(misspelt, Err(Error::Usage { .. })));
    let kernels = reports[0].query("top_kernels").run().unwrap();
    let text = kernels.to_text(None).unwrap();
    assert_eq!(text, stdout(&["run", path, "-q", "top_kernels", "--wide"]));
    let html = kernels.to_html().unwrap();
    assert!(html.starts_with("<section>") && html.trim_end().ends_with("</section>"), "{html}");
}

/// Units of the columns of a statement, in turn; `-` for a column without a meaning, `(ns)` for one with a unit by its
/// name alone.
fn units(report: &nsq::Report, sql: &str) -> String {
    let table = report.sql(&format!("SELECT * FROM ({sql}) LIMIT 1")).run().unwrap();
    let direct = report.sql(sql).max_rows(1_000_000).run().unwrap();
    let unit = |column: &Column| {
        let unit = column.unit.map_or("none", nsq::Unit::name);
        match (column.doc.is_empty(), column.unit) {
            (false, _) => unit.to_owned(),
            (true, None) => "-".to_owned(),
            (true, Some(_)) => format!("({unit})"),
        }
    };
    let said = |table: &Table| table.columns().iter().map(unit).collect::<Vec<_>>().join(" ");
    assert_eq!(said(&table), said(&direct), "{sql}");
    said(&direct)
}

#[test]
fn a_column_of_a_relation_keeps_its_meaning_and_a_computed_one_gets_none() {
    let fixtures = Fixtures::new();
    let report = nsq::open(fixtures.trace("training_steps")).unwrap();
    for (sql, wanted) in [
        ("SELECT dur_ns, stream_id FROM kernel", "ns none"),
        (
            "SELECT dur_ns AS x, sum(dur_ns) / 2 AS dur_ns, -dur_ns AS y, (dur_ns) AS z FROM kernel",
            "ns (ns) - -",
        ),
        ("SELECT K.DUR_NS, m.size_bytes AS x FROM kernel k JOIN memcpy AS m ON true", "ns bytes"),
        ("SELECT dur_ns FROM (SELECT size_bytes AS dur_ns FROM memcpy)", "bytes"),
        ("SELECT x FROM (SELECT avg(size_bytes) AS x FROM memcpy)", "-"),
        ("WITH kernel AS (SELECT 1 AS stream_id) SELECT stream_id FROM kernel", "-"),
        ("WITH a AS (SELECT x FROM b), b AS (SELECT dur_ns AS x FROM kernel) SELECT x FROM a", "-"),
        ("WITH t(a, b) AS (SELECT dur_ns, size_bytes FROM all_memcpy) SELECT b, a FROM t", "bytes ns"),
        ("SELECT stream_id AS x FROM kernel UNION SELECT size_bytes FROM memcpy", "-"),
        ("SELECT dur_ns AS x FROM kernel UNION SELECT 7", "-"),
        ("SELECT dur_ns AS x FROM kernel, CUPTI_ACTIVITY_KIND_KERNEL", "ns"),
        ("SELECT stream_id FROM kernel JOIN (SELECT 7 AS stream_id) USING (stream_id)", "-"),
        ("SELECT k.dur_ns AS x FROM kernel k NATURAL JOIN (SELECT 1 AS y)", "ns"),
        ("SELECT (SELECT dur_ns FROM kernel LIMIT 1) AS x", "-"),
        ("SELECT k.*, 1 AS x FROM (SELECT dur_ns AS y FROM kernel) AS k, memcpy", "ns -"),
        ("SELECT m.start, dur_ns AS x FROM kernel, CUPTI_ACTIVITY_KIND_KERNEL AS m", "- ns"),
        ("SELECT x FROM ((((SELECT dur_ns AS x FROM kernel))))", "ns"),
    ] {
        assert_eq!(units(&report, sql), wanted, "{sql}");
    }
    let table = report.sql("SELECT * FROM kernel").run().unwrap();
    assert!(table.columns().iter().all(|column| !column.doc.is_empty()));
}

#[test]
fn a_report_that_fails_does_not_stop_others() {
    let fixtures = Fixtures::new();
    let (good, bad) = (fixtures.trace("training_steps"), fixtures.path().join("bad.sqlite"));
    let connection = rusqlite::Connection::open(&good).unwrap();
    let page: i64 = connection
        .query_row(
            "SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let size: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    let mut bytes = fs::read(&good).unwrap();
    let start = usize::try_from((page - 1) * size).unwrap();
    bytes[start..start + 64].fill(0xee);
    fs::write(&bad, bytes).unwrap();
    let library = nsq::library().unwrap();
    let reports = [&bad, &good, &bad].map(|path| library.open(path).unwrap());
    let ask = |reports: &[nsq::Report]| library.query("top_kernels", reports).go_on().run();
    let table = ask(&reports).unwrap();
    let alone = reports[1].query("top_kernels").run().unwrap();
    assert_eq!(table.rows().len(), alone.rows().len());
    assert_eq!(table.failures.iter().map(|failure| &failure.report).collect::<Vec<_>>(), [&bad, &bad]);
    assert!(table.failures[0].message.contains("bad.sqlite") && table.failures[0].help.is_some());
    library.query("top_kernels", &reports).run().unwrap_err();
    ask(&reports[..1]).unwrap_err();
    assert!(ask(&[library.open(&bad).unwrap(), library.open(&bad).unwrap()]).is_err());
}

#[test]
fn a_playbook_and_a_file_are_those_of_the_program() {
    let fixtures = Fixtures::new();
    let path = fixtures.trace("training_steps");
    let library = nsq::library().unwrap();
    let report = library.open(&path).unwrap();
    let answers = library.answer("cs336", [&report]).run().unwrap();
    // A part needs what only the user knows.
    let (code, printed, _) = outcome(&["answer", "--details", path.to_str().unwrap()]);
    assert_eq!((code, answers.text), (3, printed));
    let (own, other) = (fixtures.path().join("own.sqlite"), fixtures.path().join("other.sqlite"));
    report.materialize(&own, &Scope::default(), &Cancel::default()).unwrap();
    stdout(&["materialize", path.to_str().unwrap(), "-o", other.to_str().unwrap()]);
    assert_eq!(fs::read(&own).unwrap(), fs::read(&other).unwrap());
    let refused = report.materialize(&path, &Scope::default(), &Cancel::default()).unwrap_err();
    assert!(refused.to_string().contains("the output is the report itself"), "{refused}");
    let stopped = Cancel::default();
    stopped.cancel();
    let trace = library.clone().cancelled_by(&stopped).open(project("fixtures/trace.json.gz"));
    assert!(matches!(trace, Err(Error::Interrupted)), "{trace:?}");
}
