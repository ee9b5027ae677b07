//! Fuzz target: statements of a stranger on a report full of secrets. No secret leaves, nothing is
//! written, and the deadline holds.
//!
//! Each statement is asked about two reports that differ only in their secrets. Equal answers show that
//! nothing depends on a secret, not even its encoding or a comparison with it.
#![no_main]

mod grammar;
#[path = "../../../tests/suite/secrets/planted.rs"]
#[allow(dead_code)]
mod planted;
#[path = "../support.rs"]
mod support;

use grammar::{Grammar, Script};
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use nsq::compile::Plan;
use nsq::execute::{Limits, Session};
use nsq::normalize::{self, Plans, Scope};
use nsq::report::{ExportOptions, Report};
use nsq::schema::Schema;
use nsq::table::ResultTable;
use planted::{SECRET, SECRET_ID, plant};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::holds;
use tempfile::TempDir;

/// How long a statement may run.
const TIMEOUT: Duration = Duration::from_millis(300);
/// How long a statement may compute beyond it, with all checks of a fuzzer.
const GRACE: Duration = Duration::from_secs(9);
const MOST_ROWS: usize = 5_000;
const MOST_TEXT: usize = 8 << 20;
/// What the second report has in place of [`SECRET`].
const OTHER_SECRET: &str = "K3YW0R";

/// Views of the report itself that would show secrets, one under the name of nsq's own view of strings.
const VIEWS: &str = "
    CREATE VIEW own_view AS SELECT * FROM META_DATA_CAPTURE;
    CREATE VIEW own_view_of_view AS SELECT value FROM own_view;
    CREATE VIEW own_strings AS SELECT id, value FROM StringIds;
    CREATE VIEW src_string_id AS SELECT rowid AS row_id, id, value FROM StringIds;
    CREATE VIEW string AS SELECT id AS string_id, value AS text FROM StringIds;";

/// An open report, and what its file held.
struct Opened {
    path: PathBuf,
    bytes: Vec<u8>,
    report: Report,
    schema: Schema,
    /// The same report, as other programs open it.
    door: nsq::Report,
}

impl Opened {
    fn new(path: PathBuf) -> Self {
        let mut options = ExportOptions::default();
        options.cache.off = true;
        let report = Report::open(&path, &options).unwrap();
        let (schema, door) = (Schema::detect(&report).unwrap(), nsq::open(&path).unwrap());
        Self { bytes: fs::read(&path).unwrap(), path, report, schema, door }
    }

    /// As `nsq sql` runs a script.
    fn run(&self, script: &Script, reveals_secrets: bool, limits: &Limits) -> nsq::Result<ResultTable> {
        let catalog = nsq::BUILT_IN.catalog()?;
        let plan = |sql: &String| Plan::ad_hoc(sql, ("SQL".to_owned(), 1), catalog);
        let preamble: Vec<Plan> = script.preamble.iter().map(plan).collect();
        let question = plan(&script.question);
        let roots =
            preamble.iter().chain([&question]).flat_map(|plan| plan.reads.iter().map(String::as_str));
        let plans = Plans { reveals_secrets, is_script: false };
        let installation = normalize::plan_with(&self.schema, catalog, &Scope::default(), roots, plans)?;
        let session = Session::begin_script(self.report.connect()?, &installation, &preamble, limits)?;
        session.table(&question, limits)
    }

    /// What is shown of the statement: its rows, or its error. `None` for an answer that stopped at the
    /// deadline.
    fn shown(&self, script: &Script, reveals_secrets: bool) -> Option<String> {
        let limits = || Limits {
            max_rows: Some(MOST_ROWS),
            max_bytes: Some(MOST_TEXT),
            ..Limits::with_timeout(Some(TIMEOUT))
        };
        let begin = support::computed();
        let answered = match script.preamble.is_empty() && !reveals_secrets {
            true => {
                let question = self.door.sql(&script.question).timeout(TIMEOUT).threads(1);
                let answered = question.max_rows(MOST_ROWS).max_bytes(MOST_TEXT).run();
                answered.map(|table| format!("{:?} {:?}", table.columns(), table.rows()))
            }
            false => {
                let answered = self.run(script, reveals_secrets, &limits());
                answered.map(|table| format!("{:?} {:?}", table.columns, table.rows))
            }
        };
        let took = support::computed() - begin;
        assert!(took < TIMEOUT + GRACE, "the deadline did not hold: {took:?}");
        assert!(fs::read(&self.path).unwrap() == self.bytes, "the report was written");
        let folder = self.path.parent().unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "a file was made beside the report");
        match answered {
            Ok(rows) => Some(rows),
            Err(nsq::Error::Limit { reason, .. }) if reason.contains("it ran longer than") => None,
            Err(error) => {
                let text = format!("{error}\n{}", error.help().unwrap_or_default());
                assert!(!error.to_string().trim().is_empty(), "an error without a reason: {error:?}");
                Some(text.replace(folder.to_str().unwrap(), "FOLDER"))
            }
        }
    }
}

/// A report, and the same report with other secrets.
struct Twins([Opened; 2]);

impl Twins {
    fn new(folder: &Path, name: &str, script: &str) -> Self {
        let path = |twin: &str| {
            let folder = folder.join(format!("{name}-{twin}"));
            fs::create_dir(&folder).unwrap();
            folder.join("report.sqlite")
        };
        let (one, other) = (path("one"), path("other"));
        plant("3.25.0", "training_steps", &one);
        rusqlite::Connection::open(&one).unwrap().execute_batch(script).unwrap();
        let mut bytes = fs::read(&one).unwrap();
        let (from, to) = (SECRET.as_bytes(), OTHER_SECRET.as_bytes());
        let places: Vec<usize> =
            (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
        assert!(places.len() > 20, "{} secrets", places.len());
        places.iter().for_each(|&at| bytes[at..at + to.len()].copy_from_slice(to));
        fs::write(&other, bytes).unwrap();
        Self([Opened::new(one), Opened::new(other)])
    }
}

struct Bench {
    _folder: TempDir,
    /// A folder that must stay empty.
    out: PathBuf,
    plain: Twins,
    with_views: Twins,
}

impl Bench {
    fn new() -> Self {
        let folder = support::folder();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        let plain = Twins::new(folder.path(), "plain", "");
        let with_views = Twins::new(folder.path(), "views", VIEWS);
        Self { _folder: folder, out, plain, with_views }
    }
}

thread_local! {
    static BENCH: Bench = Bench::new();
}

/// Words that let equal statements give different answers.
const UNSTEADY: [&str; 4] = ["random", "now", "current_", "date"];

fuzz_target!(|data: &[u8]| {
    BENCH.with(|bench| {
        let mut bytes = Unstructured::new(data);
        let (Ok(kind), Ok(script)) =
            (bytes.arbitrary::<u8>(), Grammar::script(&mut bytes, bench.out.to_str().unwrap()))
        else {
            return;
        };
        let said = format!("{}\n{}", script.preamble.join(";\n"), script.question);
        if std::env::var_os("NSQ_FUZZ_SHOW").is_some() {
            println!("{said}");
        }
        let twins = if kind % 2 == 0 { &bench.plain } else { &bench.with_views };
        let reveals_secrets = kind >= 240;
        let shown = twins.0.each_ref().map(|report| report.shown(&script, reveals_secrets));
        assert_eq!(fs::read_dir(&bench.out).unwrap().count(), 0, "a file was made:\n{said}");
        if reveals_secrets {
            return;
        }
        for shown in shown.iter().flatten() {
            for token in [SECRET, OTHER_SECRET, SECRET_ID] {
                assert!(
                    holds(said.as_bytes(), token) || !holds(shown.as_bytes(), token),
                    "{token}:\n{said}\n{shown}"
                );
            }
        }
        let is_steady = !UNSTEADY.iter().any(|word| said.to_ascii_lowercase().contains(word));
        if let ([Some(one), Some(other)], true) = (&shown, is_steady) {
            assert_eq!(one, other, "the answer depends on secrets:\n{said}");
        }
    });
});
