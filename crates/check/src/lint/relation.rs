//! Rules for relations and source specs.

use super::names::{Place, check_columns, check_doc, check_stem};
use super::query::check_body;
use super::reads::compare_reads;
use super::{EmptyReport, Finding};
use nsq_engine::compile::{Plan, relations_in};
use nsq_engine::execute::{Limits, Session};
use nsq_library::catalog::{Catalog, Relation, Source};
use nsq_report::report::plain_message;
use nsq_value::error::Error;
use std::collections::BTreeSet;

pub(super) fn check_relation(
    relation: &Relation,
    catalog: &Catalog,
    empty_report: &EmptyReport,
    findings: &mut Vec<Finding>,
) {
    let header = &relation.header;
    let place = Place { file: &relation.file, text: &relation.text };
    check_stem(&place, "V01", &header.name, findings);
    check_columns(&place, ["V07", "V08"], &header.columns, findings);
    check_doc(&place, "V08", "summary:", "the relation", &header.name, &header.summary, findings);
    if relation.has_statement() || !header.native {
        check_body(&relation.sql, relation.sql_line, &relation.file, findings);
    }
    match relations_in(&relation.sql) {
        Ok(_) if header.native && !relation.has_statement() => {}
        Ok(used) => {
            let declared: BTreeSet<String> = header.reads.iter().cloned().collect();
            compare_reads(&place, "V09", &used, &declared, findings);
        }
        Err(message) => {
            findings.push(place.finding(
                "V17",
                "---*/",
                message,
                "use only SQL that the parser supports",
            ));
        }
    }
    if header.native_reads.is_empty() == (header.native && relation.has_statement()) {
        findings.push(place.finding(
            "V09",
            "native:",
            "`native_reads` belongs to native relations with a statement, and only to these".to_owned(),
            "list there what nsq reads to compute the rows, and in `reads` what the statement reads",
        ));
    }
    if let Some(condition) = &header.rows_if {
        let used = relations_in(&format!("SELECT {condition}"));
        let is_read = used.is_ok_and(|used| used.iter().all(|name| header.reads.contains(name)));
        if !header.stored || !is_read {
            findings.push(place.finding(
                "V09",
                "rows_if:",
                "`rows_if` belongs to stored relations, and is a condition on what they read".to_owned(),
                "write it as SQL, such as EXISTS (SELECT 1 FROM kernel)",
            ));
        }
    }
    for name in &header.present_if {
        if catalog.source(name).is_none() && catalog.relation(name).is_none() {
            let message = format!("unknown relation or source '{name}' in `present_if`");
            findings.push(place.finding(
                "V10",
                "present_if:",
                message,
                "list the relations and sources that its rows come from",
            ));
        }
    }
    let is_raw = |name: &&String| catalog.source(name).is_some();
    let raw = header.present_if.iter().chain(&header.reads).find(is_raw).filter(|_| header.internal);
    if let Some(name) = raw {
        findings.push(place.finding(
            "V10",
            "internal:",
            format!("an internal relation names the raw table '{name}'"),
            "name relations in `present_if` and `reads`: files of `nsq materialize` have no raw tables",
        ));
    }
    let scope = &header.scope;
    let (start, end) = scope.time.clone().unzip();
    let (kind, op) = scope.op.clone().unzip();
    let kind = kind.filter(|kind| kind.ends_with("_kind"));
    let named = [
        &start,
        &end,
        &scope.device,
        &scope.gpu,
        &scope.stream,
        &scope.process,
        &kind,
        &op,
        &scope.thread,
    ];
    for column in named.into_iter().flatten() {
        if !header.columns.iter().any(|known| known.name == *column) {
            let message = format!("unknown column '{column}' in `scope`");
            findings.push(place.finding("V05", "scope:", message, "use columns of this relation"));
        }
    }
    match prepared(relation, catalog, empty_report) {
        Ok(returned) => {
            let documented: Vec<&str> =
                header.columns.iter().map(|column| column.name.as_str()).collect();
            if returned != documented {
                let message = format!(
                    "the statement returns {}, but {} is documented",
                    returned.join(", "),
                    documented.join(", ")
                );
                findings.push(place.finding(
                    "V06",
                    "columns:",
                    message,
                    "list in `columns` what the statement returns, in the same order",
                ));
            }
        }
        Err(message) => {
            findings.push(place.finding("V17", "---*/", message, "fix the statement"));
        }
    }
}

fn prepared(
    relation: &Relation,
    catalog: &Catalog,
    empty_report: &EmptyReport,
) -> Result<Vec<String>, String> {
    let name = relation.header.name.as_str();
    let installation =
        empty_report.installation(catalog, [name], Some(name)).map_err(|e| e.to_string())?;
    let connection = empty_report.connect().map_err(|e| e.to_string())?;
    let origin = (relation.file.clone(), relation.sql_line);
    let all = Plan::ad_hoc(&format!("SELECT * FROM {name}"), origin, catalog);
    let names = Session::begin(connection, &installation, &Limits::default())
        .and_then(|session| session.column_names(&all));
    names.map_err(|e| match e {
        Error::Sqlite(e) => plain_message(&e),
        Error::Sql { message, .. } => message,
        other => other.to_string(),
    })
}

pub(super) fn check_source(source: &Source, findings: &mut Vec<Finding>) {
    let place = Place { file: &source.file, text: "" };
    let is_capture = source.capture == "always" || source.capture.starts_with("--");
    if !source.view.starts_with("src_") || source.tables.is_empty() || !is_capture {
        findings.push(place.finding(
            "S01",
            "view:",
            format!(
                "{}: a spec needs `table`, `view: src_…`, and `capture: --flag` or `always`",
                source.view
            ),
            "see queries/README.md",
        ));
    }
    for column in &source.columns {
        check_doc(
            &place,
            "S08",
            "",
            &format!("column {}", column.name),
            &column.name,
            &column.doc,
            findings,
        );
    }
}
