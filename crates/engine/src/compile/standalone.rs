//! `nsq show NAME --sql`: a script that runs in any SQLite shell.

use super::{Asked, AskedFinding, FINDING_ABOUT, Plan};
use crate::normalize::Installation;
use nsq_library::catalog::{FINDING_COLUMNS, FINDING_PARTS, FINDING_TABLES, FINDING_WINDOWS};
use nsq_value::table::Value;
use std::collections::BTreeMap;

/// The plan and its TEMP objects as one script. `native` lists the functions and relations of nsq that
/// it needs. `report` is the name of the report, for the answers of queries that the plan asks.
pub fn script(plan: &Plan, installation: &Installation, native: &[String], report: &str) -> String {
    let mut script = String::new();
    if !native.is_empty() {
        script.push_str(&format!("-- needs nsq: {}\n", native.join(", ")));
        if let Some((name, _)) = &plan.query {
            script.push_str(&format!(
                "-- in SQLite with its extension: .load nsq, then SELECT * FROM {name};\n"
            ));
        }
    }
    if let Some((name, version)) = &plan.query {
        script.push_str(&format!("-- {name}@{version}: {}\n", plan.title));
    }
    for native in &installation.natives {
        // Outside nsq this table stays empty. The first line of the script says what needs nsq.
        let columns = native.columns.join(", ");
        script.push_str(&format!("CREATE TEMP TABLE IF NOT EXISTS {} ({columns});\n\n", native.object));
    }
    for statement in installation.statements.iter() {
        script.push_str(statement);
        script.push_str(";\n\n");
    }
    let report = literal(&Value::Text(report.to_owned()));
    if let Some(findings) = findings_of(plan) {
        push_findings(&mut script, findings);
    }
    push_asked(&mut script, plan, installation, &report, &mut BTreeMap::new());
    script.push_str(&with_literals(&plan.sql, &plan.bindings));
    script.push_str(";\n");
    script
}

/// The findings that a plan asks, or one that it asks.
fn findings_of(plan: &Plan) -> Option<&Vec<AskedFinding>> {
    let asked = || plan.asks.iter().find_map(|asked| findings_of(&asked.plan));
    plan.findings.as_deref().or_else(asked)
}

/// The tables of the queries that a plan asks, after those that these ask.
fn push_asked<'p>(
    script: &mut String,
    plan: &'p Plan,
    installation: &Installation,
    report: &str,
    known: &mut BTreeMap<&'p str, String>,
) {
    for Asked { table, plan, given, is_optional } in &plan.asks {
        let is_empty = *is_optional && installation.lack_of(plan).is_some();
        if !is_empty {
            push_asked(script, plan, installation, report, known);
        }
        let origin =
            if plan.across { String::new() } else { format!("{report} AS report, 0 AS side, ") };
        let is_own = |(bound, _): &&(String, Value)| !given.iter().any(|(param, _)| param == bound);
        let bindings: Vec<_> = plan.bindings.iter().filter(is_own).cloned().collect();
        let mut sql = with_literals(&plan.sql, &bindings);
        for (param, of) in given {
            let values = format!("(SELECT json_group_array({param}) FROM temp.{of})");
            sql = sql.replace(&format!(":{param}"), &values);
        }
        if is_empty {
            let own: Vec<&str> = plan.columns.iter().map(|column| column.name.as_str()).collect();
            sql = format!("SELECT {} WHERE 0", nulls(&own));
        }
        match known.insert(table, sql.clone()) {
            Some(before) if before == sql => continue,
            Some(_) => script.push_str(&format!("DROP TABLE temp.{table};\n")),
            None => {}
        }
        script.push_str(&format!("CREATE TEMP TABLE {table} AS SELECT {origin}* FROM (\n{sql}\n);\n\n"));
    }
}

/// The tables of the findings that a plan reads. A script cannot tell what a report lacks.
fn push_findings(script: &mut String, findings: &[AskedFinding]) {
    let name = |finding: &AskedFinding| {
        literal(&Value::Text(
            finding.plan.query.as_ref().map_or(String::new(), |(name, _)| name.clone()),
        ))
    };
    let [intervals, about] = FINDING_TABLES;
    let (columns, parts) = (FINDING_COLUMNS.join(", "), FINDING_PARTS.join(", "));
    let own = FINDING_COLUMNS.map(|column| format!("own.{column}")).join(", ");
    // A statement for each finding: SQLite allows 1000 cursors in one.
    script.push_str(&format!("CREATE TEMP TABLE {intervals} (query, {columns}, {parts});\n\n"));
    for finding in findings {
        let sql = with_literals(&finding.plan.sql, &finding.plan.bindings);
        let name = name(finding);
        // Not a join: SQLite would drop the order of the statement.
        let part = |time: &str| {
            format!(
                "(SELECT {time} FROM {FINDING_WINDOWS} AS gpu WHERE gpu.gpu_id = own.gpu_id \
                 AND own.start_ns < gpu.end_ns AND own.start_ns + own.dur_ns > gpu.start_ns)"
            )
        };
        let from = part("max(own.start_ns, gpu.start_ns)");
        let to = part("min(own.start_ns + own.dur_ns, gpu.end_ns)");
        script.push_str(&format!(
            "INSERT INTO {intervals}\nSELECT {name}, {own},\n  {from},\n  {to}\nFROM (\n{sql}\n) AS own;\n\n"
        ));
    }
    let mut rows = vec![format!("SELECT {} WHERE 0", nulls(&FINDING_ABOUT))];
    rows.extend(findings.iter().map(|finding| {
        let texts = finding.texts().map(|text| literal(&Value::Text(text)));
        format!("SELECT {}, {}, NULL, NULL", name(finding), texts.join(", "))
    }));
    script.push_str(&format!("CREATE TEMP TABLE {about} AS {};\n\n", rows.join("\nUNION ALL ")));
}

fn nulls(columns: &[&str]) -> String {
    columns.iter().map(|column| format!("NULL AS {column}")).collect::<Vec<_>>().join(", ")
}

/// Replaces each `:name` by its value, except in quotes and comments.
fn with_literals(sql: &str, bindings: &[(String, Value)]) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '\'' | '"' => rest[1..].find(c).map_or(rest.len(), |end| end + 2),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            ':' => {
                let name_len = rest[1..]
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len() - 1);
                let name = &rest[1..=name_len];
                if let Some((_, value)) = bindings.iter().find(|(bound, _)| bound == name) {
                    out.push_str(&literal(value));
                    rest = &rest[1 + name_len..];
                    continue;
                }
                1 + name_len
            }
            c => c.len_utf8(),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(int) => int.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_literals_outside_quotes() {
        let bindings = vec![
            ("name".to_owned(), Value::Text("it's".to_owned())),
            ("limit".to_owned(), Value::Int(5)),
        ];
        assert_eq!(
            with_literals("SELECT ':name', :name -- :limit\nLIMIT :limit", &bindings),
            "SELECT ':name', 'it''s' -- :limit\nLIMIT 5"
        );
    }
}
