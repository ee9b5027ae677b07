//! The program and the library answer alike: the same rows, the same notes, the same failures. The Python package and
//! the MCP server ask the library; `python/tests/test_doors.py` asks all of them.

use crate::support::{Fixtures, outcome};
use nsq::{Failure, Page, Report, Scope, Table};
use std::fs;
use std::path::{Path, PathBuf};

/// What somebody is told.
#[derive(Debug, Default, PartialEq)]
struct Told {
    rows: Vec<serde_json::Value>,
    notes: Vec<String>,
    failures: Vec<String>,
}

/// What the program tells: rows as JSON; notes and errors from its text, which is for people.
fn program(words: &[&str]) -> Told {
    let (_, json, _) = outcome(&[words, &["-f", "json"]].concat());
    let (_, _, said) = outcome(words);
    let lines = |start: &str| {
        let lines = said.lines().filter_map(|line| line.strip_prefix(start));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let document = serde_json::from_str::<serde_json::Value>(&json).unwrap_or_default();
    // One result is an object, several are a list.
    let results = document.as_array().cloned().unwrap_or_else(|| vec![document]);
    let rows = |result: &serde_json::Value| result["rows"].as_array().cloned().unwrap_or_default();
    Told {
        rows: results.iter().flat_map(rows).collect(),
        notes: lines("note: "),
        failures: lines("error: "),
    }
}

fn json_rows(table: &Table) -> Vec<serde_json::Value> {
    let cell = |value: &nsq::Value| match value {
        nsq::Value::Null => serde_json::Value::Null,
        nsq::Value::Int(int) => (*int).into(),
        nsq::Value::Real(real) => (*real).into(),
        nsq::Value::Text(text) => text.as_str().into(),
    };
    let names: Vec<&String> = table.columns().iter().map(|column| &column.name).collect();
    let row = |row: &Vec<nsq::Value>| {
        names.iter().zip(row).map(|(name, value)| ((*name).clone(), cell(value))).collect()
    };
    table.rows().iter().map(row).collect()
}

/// The first line of each failure: the program prints the rest below it.
fn first_lines(failures: &[Failure]) -> Vec<String> {
    failures.iter().filter_map(|failure| failure.message.lines().next().map(str::to_owned)).collect()
}

fn library(answer: nsq::Result<Table>) -> Told {
    match answer {
        Ok(table) => Told {
            rows: json_rows(&table),
            notes: table.notes.clone(),
            failures: first_lines(&table.failures),
        },
        Err(error) => refused(&error),
    }
}

fn library_page(answer: nsq::Result<Page>) -> Told {
    match answer {
        Ok(page) => Told {
            rows: page.tables.iter().flat_map(|(_, table)| json_rows(table)).collect(),
            notes: page.notes.clone(),
            failures: first_lines(&page.failures),
        },
        Err(error) => refused(&error),
    }
}

fn refused(error: &nsq::Error) -> Told {
    let first = error.to_string().lines().next().unwrap_or_default().to_owned();
    Told { failures: vec![first], ..Told::default() }
}

/// Reports of two traces, and a copy of the first that opens and fails when it is read.
struct Reports {
    steps: PathBuf,
    empty: PathBuf,
    damaged: PathBuf,
}

impl Reports {
    fn new(fixtures: &Fixtures) -> Self {
        let steps = fixtures.trace("training_steps");
        let damaged = steps.with_file_name("damaged.sqlite");
        fs::copy(&steps, &damaged).unwrap();
        let connection = rusqlite::Connection::open(&damaged).unwrap();
        // A time that is no integer is found when the table is read.
        connection.execute_batch("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 'late'").unwrap();
        Self { steps, empty: fixtures.trace("nvtx_only"), damaged }
    }
}

/// Whether a note of the program says which reports failed, which the library lists.
fn is_about_failures(note: &str) -> bool {
    note.ends_with(" failed:") || note.contains(" reports failed") || note.starts_with("the same for ")
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn one_report_answers_alike_through_the_program_and_the_library() {
    let fixtures = Fixtures::new();
    let reports = Reports::new(&fixtures);
    let (path, report) = (text(&reports.steps), nsq::open(&reports.steps).unwrap());
    let scope = |devices: &[i64], nvtx: &[&str], time: Option<&str>| Scope {
        devices: devices.to_vec(),
        nvtx: nvtx.iter().map(|name| (*name).to_owned()).collect(),
        time: time.map(str::to_owned),
        ..Scope::default()
    };
    let alike = |words: &[&str], told: Told, notes: usize, failures: usize| {
        let program = program(&[&["run", path], words].concat());
        assert_eq!(told, program, "{words:?}");
        assert_eq!((told.notes.len(), told.failures.len()), (notes, failures), "{words:?} {told:?}");
    };
    // A note of a scope that a relation cannot apply.
    let device = scope(&[0], &[], None);
    let words = ["-q", "nvtx_sum", "--device", "0"];
    alike(&words, library(report.query("nvtx_sum").scope(&device).run()), 1, 0);
    // Why there are no rows: what the scope leaves out, and what the query says itself.
    let late = scope(&[], &[], Some("90s/"));
    let words = ["-q", "top_kernels", "--time", "90s/"];
    alike(&words, library(report.query("top_kernels").scope(&late).run()), 1, 0);
    let words = ["-q", "top_kernels", "-p", "limit=0"];
    alike(&words, library(report.query("top_kernels").param("limit", 0).run()), 1, 0);
    // Lacking data, and names and values that do not exist.
    alike(&["-q", "gpu_metric_sum"], library(report.query("gpu_metric_sum").run()), 0, 1);
    alike(&["-q", "topkernels"], library(report.query("topkernels").run()), 0, 1);
    let words = ["-q", "top_kernels", "-p", "limit=many"];
    alike(&words, library(report.query("top_kernels").param("limit", "many").run()), 0, 1);
    let nowhere = scope(&[9], &[], None);
    let words = ["-q", "top_kernels", "--device", "9"];
    alike(&words, library(report.query("top_kernels").scope(&nowhere).run()), 0, 1);
}

#[test]
fn several_reports_answer_alike_through_the_program_and_the_library() {
    let fixtures = Fixtures::new();
    let Reports { steps, empty, damaged } = Reports::new(&fixtures);
    let library_ = nsq::library().unwrap();
    let alike = |paths: &[&PathBuf], query: &str, is_strict: bool, answered: bool, failures: usize| {
        let opened: Vec<Report> = paths.iter().map(|path| nsq::open(path).unwrap()).collect();
        let question = library_.query(query, &opened);
        let mut told = library(if is_strict { question.run() } else { question.go_on().run() });
        // The program prints an error of several reports once, and notes the others.
        told.failures.dedup();
        let mut words = vec!["run"];
        words.extend(paths.iter().map(|path| text(path)));
        words.extend(["-q", query]);
        words.extend(is_strict.then_some("--strict"));
        let mut program = program(&words);
        // The program names reports by their paths for programs, and says in a note how many failed and which.
        for row in &mut program.rows {
            let name = row["report"].as_str().map(|path| path.rsplit('/').next().unwrap().to_owned());
            row["report"] = name.into();
        }
        program.notes.retain(|note| !is_about_failures(note));
        assert_eq!(told, program, "{query}");
        assert_eq!((!told.rows.is_empty(), told.failures.len()), (answered, failures), "{told:?}");
    };
    alike(&[&steps, &steps], "top_kernels", false, true, 0);
    // One lacks the data, or fails; or none may.
    alike(&[&steps, &empty], "top_kernels", false, true, 0);
    alike(&[&steps, &damaged], "top_kernels", false, true, 1);
    alike(&[&steps, &damaged], "top_kernels", true, false, 1);
    alike(&[&empty, &empty], "nccl_sum", false, false, 1);
}

#[test]
fn pages_answer_alike_through_the_program_and_the_library() {
    let fixtures = Fixtures::new();
    let Reports { steps, empty, damaged } = Reports::new(&fixtures);
    let library_ = nsq::library().unwrap();
    let device = Scope { devices: vec![0], ..Scope::default() };
    let alike = |page: &str, paths: &[&PathBuf], scope: &Scope, notes: bool, failures: usize| {
        let opened: Vec<Report> = paths.iter().map(|path| nsq::open(path).unwrap()).collect();
        let told = library_page(library_.page(page, &opened).scope(scope).go_on().run());
        let mut words = vec!["page", page];
        words.extend(paths.iter().map(|path| text(path)));
        if scope.devices == [0] {
            words.extend(["--device", "0"]);
        }
        let mut program = program(&words);
        program.notes.retain(|note| !is_about_failures(note));
        // The program leaves hidden tables out.
        assert!(told.rows.len() >= program.rows.len(), "{page}");
        assert!(program.rows.iter().all(|row| told.rows.contains(row)), "{page}");
        assert_eq!((&told.notes, &told.failures), (&program.notes, &program.failures), "{page}");
        assert_eq!((!told.notes.is_empty(), told.failures.len()), (notes, failures), "{told:?}");
    };
    alike("overview", &[&steps], &device, true, 0);
    alike("job", &[&steps, &steps], &Scope::default(), false, 0);
    alike("job", &[&steps, &damaged, &steps], &Scope::default(), false, 1);
    alike("kernels", &[&empty], &Scope::default(), false, 1);
    alike("overvue", &[&steps], &Scope::default(), false, 1);
}
