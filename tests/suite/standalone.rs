//! `nsq show --sql`: a script gives the same rows as its query.
//!
//! A script that uses only SQLite's own functions runs in the `sqlite3` shell. Any other script says in
//! its first line that it needs nsq, and runs with `nsq sql --file`.

use crate::support::golden::Golden;
use crate::support::{Fixtures, depth_of, project, queries, sqlite3, stdout, traces, turn};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

/// The queries that `queries/README.md` promises for any SQLite tool.
fn plain_queries() -> BTreeSet<String> {
    let text = std::fs::read_to_string(project("queries/README.md")).unwrap();
    let section = text.split("\n## In any SQLite tool\n").nth(1).expect("the section");
    let list = section.split("\n\n").find(|paragraph| paragraph.starts_with('`')).expect("a list");
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn scripts_give_the_same_rows_without_nsq() {
    let fixtures = Fixtures::new();
    let (mut needing, mut anywhere) = (BTreeSet::new(), BTreeSet::new());
    let step = 16 / depth_of(16).min(16);
    for (nth, query) in queries().into_iter().enumerate() {
        let golden = Golden::read(&query);
        // Each query on a sixteenth of the fixtures that have its data, another one each day, and on all at full depth.
        let answered: Vec<String> =
            traces().into_iter().filter(|trace| golden.answer(trace).is_some()).collect();
        for trace in answered.iter().skip((nth + turn()) % step.min(answered.len().max(1))).step_by(step)
        {
            let report = fixtures.trace(trace);
            let name = report.file_name().unwrap().to_str().unwrap().to_owned();
            let report = report.to_str().unwrap();
            // The golden is what `nsq run` prints; without a section, the report lacks the data.
            let want = golden.answer(trace).unwrap();
            let script = stdout(&["show", &query, "--sql", "--report", report]);
            if script.starts_with("-- needs nsq: ") {
                needing.insert(query.clone());
                let file = fixtures.path().join("script.sql");
                std::fs::write(&file, &script).unwrap();
                let got = stdout(&["sql", report, "--file", file.to_str().unwrap(), "--format", "csv"]);
                let got = got.replace(&name, trace);
                // A script does not know what a report lacks, so it says `no` instead of `cannot tell`. The native relations
                // that it asks leave out impossible times, which NVIDIA's reports have, and end open ranges later.
                let differs = ["findings", "finding_methods"].contains(&query.as_str())
                    || trace == "impossible_times"
                    || trace == "nested_nvtx";
                assert!(differs || got == want, "{query} on {trace}:\n{got}\n{want}");
                continue;
            }
            anywhere.insert(query.clone());
            if let Some(mut shell) = sqlite3() {
                let mut child = shell
                    .args(["-batch", "-bail", "-csv", "-readonly", report])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap();
                child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
                let output = child.wait_with_output().unwrap();
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success() && error.is_empty(), "{query} on {trace}: {error}");
                let got = String::from_utf8_lossy(&output.stdout).replace(&name, trace);
                assert_eq!(parsed(got.as_bytes()), parsed(want.as_bytes())[1..], "{query} on {trace}");
            }
        }
    }
    let plain = plain_queries();
    let promised: Vec<_> = needing.intersection(&plain).collect();
    assert!(promised.is_empty(), "queries/README.md promises {promised:?} for any SQLite tool");
    let missing: Vec<_> = anywhere.difference(&plain).collect();
    assert!(missing.is_empty(), "queries/README.md, in any SQLite tool: {missing:?} are missing");
    // Less depth tries fewer.
    assert!(step > 1 || anywhere == plain, "{anywhere:?}");
}

/// Rows with real numbers rounded to eleven digits, since shells print fifteen.
fn parsed(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let field = |text: &str| match text.parse::<f64>() {
        Ok(number) if text.contains(['.', 'e']) => format!("{number:.10e}"),
        _ => text.to_owned(),
    };
    reader.records().map(|row| row.unwrap().iter().map(field).collect()).collect()
}

/// The extension and scripts run in SQLite 3.40, which refuses ORDER BY in the arguments of an aggregate.
#[test]
fn no_aggregate_orders_its_arguments() {
    let mut count = 0;
    for file in nsq::BUILT_IN.files().iter().filter(|file| file.path.ends_with(".sql")) {
        for aggregate in ["group_concat(", "json_group_array(", "json_group_object(", "string_agg("] {
            for (_, arguments) in
                file.text.match_indices(aggregate).map(|(at, _)| file.text.split_at(at))
            {
                let mut depth = 0;
                let own: String = arguments[aggregate.len() - 1..]
                    .chars()
                    .map_while(|c| {
                        depth += i32::from(c == '(') - i32::from(c == ')');
                        (depth > 0).then_some(if depth == 1 { c } else { ' ' })
                    })
                    .collect();
                assert!(!own.contains("ORDER BY"), "{}: {aggregate}{own}", file.path);
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count} aggregates");
}

#[test]
fn materialized_relations_are_ordinary_tables() {
    let Some(mut shell) = sqlite3() else { return };
    let fixtures = Fixtures::new();
    let plain = fixtures.path().join("plain.sqlite");
    let report = fixtures.trace("two_streams_overlap");
    stdout(&["materialize", report.to_str().unwrap(), "-o", plain.to_str().unwrap()]);
    let sql = "SELECT op_kind, count(*), count(call_id) FROM launch GROUP BY 1 ORDER BY 1";
    let output = shell.arg(&plain).arg(sql).output().unwrap();
    let ours = stdout(&["sql", report.to_str().unwrap(), sql, "--format", "csv", "--no-header"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap().replace('|', ","), ours);
}
