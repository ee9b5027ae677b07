//! `nsq check`: the SQL library passes all rules, and each rule finds a query that breaks it.

use crate::support::{
    Fixtures, NEED_PARAMETERS, build, every_query, nsq, outcome, project, shared_exports, stdout, traces,
};
use nsq::catalog::BuiltIn;
use std::fs;
use std::path::PathBuf;

#[test]
fn the_sql_library_passes_all_rules() {
    let folder = project("queries");
    let (code, out, error) = outcome(&["check", folder.to_str().unwrap()]);
    assert_eq!(code, 0, "{out}{error}");
}

/// The program has the files' YAML as JSON.
#[test]
fn embedded_files_are_the_same_as_those_of_the_folder() {
    let embedded = nsq::BUILT_IN.catalog().unwrap();
    let folder = BuiltIn::read(&project("queries")).unwrap();
    assert!(nsq::BUILT_IN.files().iter().filter(|file| file.json.is_some()).count() > 300);
    assert!(folder.files().iter().all(|file| file.json.is_none()));
    let folder = folder.catalog().unwrap();
    let parsed = |catalog: &nsq::catalog::Catalog| {
        let maps = catalog.classes().names().into_iter().map(|name| catalog.classes().map(&name));
        [
            format!("{:#?}", catalog.queries()),
            format!("{:#?}", catalog.relations()),
            format!("{:#?}", catalog.sources()),
            format!("{:#?}", catalog.manifests().collect::<Vec<_>>()),
            format!("{:#?}", catalog.all_rules()),
            format!("{:#?}", maps.collect::<Vec<_>>()),
        ]
    };
    for (embedded, folder) in parsed(embedded).iter().zip(&parsed(folder)) {
        assert!(embedded.len() > 1_000 && embedded == folder, "{embedded}\n{folder}");
    }
}

#[test]
fn checks_pass_and_orders_are_total_on_every_fixture() {
    let fixtures = Fixtures::new();
    check_on(&traces().iter().map(|trace| fixtures.trace(trace)).collect::<Vec<_>>());
}

#[test]
fn checks_pass_and_orders_are_total_on_real_exports() {
    check_on(&shared_exports());
}

fn check_on(reports: &[PathBuf]) {
    let options = reports.iter().flat_map(|report| ["--report", report.to_str().unwrap()]);
    let (code, out, error) = outcome(&["check"].into_iter().chain(options).collect::<Vec<_>>());
    assert_eq!(code, 0, "{out}{error}");
}

#[test]
fn every_query_has_a_page_and_a_script() {
    for query in every_query() {
        let (code, page, error) = outcome(&["show", &query]);
        assert_eq!(code, 0, "{error}");
        assert!(page.contains("COLUMNS") && page.contains("LIMITS"), "{page}");
        let (code, script, error) = outcome(&["show", &query, "--sql"]);
        assert_eq!(code, 0, "{error}");
        assert!(script.contains(&format!("-- {query}@")), "{script}");
    }
}

#[test]
fn queries_that_need_parameters_are_known() {
    let is_needy = |query: &String| stdout(&["show", query]).contains(", required]");
    let needy: Vec<String> = every_query().into_iter().filter(is_needy).collect();
    assert_eq!(needy, NEED_PARAMETERS);
}

/// Exports of 2020 have both tables of GPUs: each GPU is in both.
#[test]
fn two_tables_of_gpus_leave_no_ties() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.sqlite");
    build("pre-2.9", "two_streams_overlap", &report);
    let connection = rusqlite::Connection::open(&report).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE TARGET_INFO_GPU
               (vmId INTEGER, id INTEGER, deviceId INTEGER, name TEXT, busLocation TEXT);
             INSERT INTO TARGET_INFO_GPU SELECT vmId, deviceId, deviceId, name, pciBusId FROM TARGET_INFO_CUDA_GPU",
        )
        .unwrap();
    drop(connection);
    check_on(std::slice::from_ref(&report));
    let report = report.to_str().unwrap();
    let info = stdout(&["run", report, "-q", "report_info", "-f", "csv"]);
    assert_eq!(info.matches("GPU 0,name,").count(), 1, "{info}");
}

/// A query that passes all rules.
const GOOD: &str = r#"/*---
name: good
version: 1
title: Long kernels
summary: Kernels that ran longer than a limit.
why: To find outliers.
kind: sum
tags: [kernel]
reads: [kernel]
params:
  - {name: least_ns, type: int, default: 0, doc: "Shortest time that counts."}
columns:
  - {name: kernel_id, type: id, doc: "Row of the raw table."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Execution time."}
limits: None are known.
---*/
SELECT kernel_id, dur_ns
FROM kernel
WHERE dur_ns >= :least_ns
ORDER BY dur_ns DESC, kernel_id
"#;

/// Runs `nsq check` on a folder with one query.
fn check(text: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.sql"), text).unwrap();
    let output = nsq().args(["check", "--strict"]).arg(folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text.replace(folder.path().to_str().unwrap(), ""))
}

#[test]
fn style_is_advice_and_errors_fail() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        let output = nsq().arg("check").arg(folder.path()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, out) = check("good.sql", &GOOD.replace("\"Execution time.\"", "\"dur ns\""));
    assert!(code == 0 && out.contains("Q08 ") && out.contains("\n  advice: "), "{out}");
    assert!(out.ends_with("checked, 0 errors, 1 advice\n"), "{out}");
    let (code, out) = check("one_line.sql", "SELECT count(*) FROM kernel\n");
    assert!(code == 0 && out.contains("Q22 missing front matter"), "{out}");
    let (code, out) = check(
        "bad.sql",
        &GOOD.replace("name: good", "name: bad").replace("reads: [kernel]", "reads: [gpu]"),
    );
    assert!(code == 1 && out.contains("bad.sql") && out.contains("\n  help: "), "{out}");
}

#[test]
fn a_good_query_passes() {
    let (code, out) = check(GOOD);
    assert_eq!((code, out.as_str()), (0, "1 query in  checked, 0 findings\n"));
}

#[test]
fn each_broken_rule_is_reported_with_line_and_help() {
    let faults = [
        ("name: good", "name: other", "/good.sql:2: Q01 "),
        ("why: To find outliers.\n", "", "Q02 missing field 'why'"),
        (
            "kind: sum",
            "kind: summ",
            "/good.sql:7: Q02 invalid value 'summ' for 'kind': expected sum, trace,",
        ),
        ("version: 1", "version: one", "Q02 invalid value 'one' for 'version': expected a whole number"),
        ("tags: [kernel]", "tags: kernel", "Q02 invalid value 'kernel' for 'tags': expected a list"),
        ("why: To find outliers.", "why: To: find.", "/good.sql:6: Q02 invalid YAML: unexpected colon"),
        ("why: To find outliers.", "wyh: To find outliers.", "/good.sql:6: Q02 unknown field 'wyh'"),
        ("summary: Kernels that ran longer than a limit.", "summary: Kernels", "/good.sql:5: Q03 "),
        ("tags: [kernel]", "tags: [kernle]", "/good.sql:8: Q04 unknown tag 'kernle'"),
        ("kind: sum", "kind: trace", "/good.sql:7: Q04 a query of kind trace needs the column start_ns"),
        ("WHERE dur_ns >= :least_ns\n", "", "/good.sql:11: Q05 parameter least_ns is not used"),
        (":least_ns\nORDER", ":most_ns\nORDER", "Q05 parameter :most_ns is not declared"),
        (
            "default: 0,",
            "default: 0, required: true,",
            "Q05 parameter least_ns is required and has a default",
        ),
        ("limits: None", "when_empty: No kernel.\nlimits: None", "Q03 `when_empty` (10 characters)"),
        (
            "SELECT kernel_id, dur_ns",
            "SELECT kernel_id, dur_ns, start_ns",
            "Q06 column start_ns is not documented",
        ),
        (
            "SELECT kernel_id, dur_ns",
            "SELECT kernel_id",
            "Q06 column dur_ns is documented but not returned",
        ),
        ("type: duration, unit: ns, doc", "type: int, doc", "/good.sql:14: Q07 column dur_ns"),
        (
            "\"Execution time.\"",
            "\"dur ns\"",
            "/good.sql:14: Q08 the doc of column dur_ns only repeats its name",
        ),
        ("reads: [kernel]", "reads: [kernel, gpu]", "/good.sql:9: Q09 `reads` lists gpu"),
        ("FROM kernel\n", "FROM src_cuda_kernel\n", "Q10 src_cuda_kernel is a raw table"),
        (
            "FROM kernel\n",
            "FROM CUPTI_ACTIVITY_KIND_KERNEL\n",
            "Q10 unknown relation 'cupti_activity_kind_kernel'",
        ),
        ("FROM kernel\n", "FROM top_kernels\n", "top_kernels is a query"),
        (
            "ORDER BY dur_ns DESC, kernel_id",
            "ORDER BY dur_ns DESC",
            "/good.sql:20: Q11 the rows have no total order",
        ),
        ("ORDER BY dur_ns DESC, kernel_id", "", "Q11 the rows have no total order"),
        ("dur_ns >= :least_ns", "'a' LIKE :least_ns", "/good.sql:19: Q12 LIKE is not allowed"),
        ("dur_ns DESC, kernel_id", "dur_ns DESC, kernel_id;", "/good.sql:20: Q12 a semicolon"),
        ("limits: None", "see_also: [nothing_such]\nlimits: None", "Q13 unknown query 'nothing_such'"),
        (
            "type: id, doc",
            "type: id, label: dur, doc",
            "/good.sql:14: Q18 the header 'dur' of column dur_ns is the header of another column",
        ),
        (
            "type: id, doc",
            "type: id, label: the kernel that ran for so long, doc",
            "/good.sql:13: Q18 the label of column kernel_id is too long",
        ),
        (
            "type: id, doc",
            "type: id, priority: 9, doc",
            "/good.sql:13: Q18 the priority of column kernel_id is out of range",
        ),
        ("dur_ns >= :least_ns", "dur_nss >= :least_ns", "/good.sql:19: Q17 no such column: dur_nss"),
    ];
    for (from, to, expected) in faults {
        assert!(GOOD.contains(from), "{from}");
        let (code, out) = check(&GOOD.replacen(from, to, 1));
        assert!(
            code == 1
                && out.contains(expected)
                && (out.contains("  help: ") || out.contains("  advice: ")),
            "{to}: want {expected}\n{out}"
        );
    }
}

#[test]
fn a_share_names_its_whole() {
    let share = "  - {name: share_pct, type: percent, unit: percent, doc: \"Share of it all.\"}\nlimits";
    let with_share = GOOD
        .replace("SELECT kernel_id, dur_ns\n", "SELECT kernel_id, dur_ns, 100.0 AS share_pct\n")
        .replace("limits", share);
    let (code, out) = check(&with_share);
    assert!(code == 1 && out.contains("Q18 column share_pct does not name the whole"), "{out}");
    let labelled = with_share.replace("unit: percent, doc", "unit: percent, label: share of all, doc");
    assert_eq!(check(&labelled).0, 0, "{}", check(&labelled).1);
}

#[test]
fn an_order_by_position_is_an_order() {
    let grouped = |order: &str| {
        GOOD.replace("SELECT kernel_id, dur_ns\n", "SELECT min(kernel_id) AS kernel_id, dur_ns\n")
            .replace("ORDER BY dur_ns DESC, kernel_id", &format!("GROUP BY 2 ORDER BY {order}"))
    };
    let (code, out) = check(&grouped("2"));
    assert_eq!(code, 0, "{out}");
    let by_value = GOOD
        .replace("SELECT kernel_id, dur_ns\n", "SELECT count(*) AS kernel_id, dur_ns\n")
        .replace("ORDER BY dur_ns DESC, kernel_id", "GROUP BY 2 ORDER BY 3 - 1");
    let (code, out) = check(&by_value);
    assert!(code == 1 && out.contains("Q11"), "{out}");
}

#[test]
fn a_failing_check_on_a_report_is_reported() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let folder = tempfile::tempdir().unwrap();
    let with_check = GOOD.replace("limits:", "checks:\n  - dur_ns < 0\nlimits:");
    fs::write(folder.path().join("good.sql"), with_check).unwrap();
    let output = nsq().arg("check").arg(folder.path()).arg("--report").arg(&report).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("R16") && text.contains("the check `dur_ns < 0` fails"), "{text}");
}

#[test]
fn a_condition_that_hides_rows_is_reported() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let folder = tempfile::tempdir().unwrap();
    let check = |condition: &str| {
        let with = GOOD.replace("limits:", &format!("rows_if: EXISTS ({condition})\nlimits:"));
        fs::write(folder.path().join("good.sql"), with).unwrap();
        let output =
            nsq().arg("check").arg(folder.path()).arg("--report").arg(&report).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = check("SELECT 1 FROM kernel WHERE dur_ns < 0");
    assert!(code == Some(1) && text.contains("R18"), "{text}");
    let (code, text) = check("SELECT 1 FROM kernel");
    assert_eq!(code, Some(0), "{text}");
    // It must be declared what the condition reads.
    let (code, text) = check("SELECT 1 FROM memset");
    assert!(code == Some(1) && text.contains("Q09"), "{text}");
}

#[test]
fn the_lock_requires_a_new_version_for_changed_columns() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("good.sql");
    let run = |bless: bool| {
        let mut command = nsq();
        command.arg("check").arg(folder.path());
        if bless {
            command.arg("--bless");
        }
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    fs::write(&file, GOOD).unwrap();
    assert_eq!(run(true).0, 0);
    assert_eq!(run(false).0, 0);
    fs::write(&file, GOOD.replace("dur_ns DESC,", "dur_ns,")).unwrap();
    let (code, out) = run(false);
    assert!(code == 1 && out.contains("Q14 changed since the lock was written"), "{out}");
    assert_eq!(run(true).0, 0, "the columns are the same, so --bless updates the lock");
    let renamed = GOOD.replace("{name: kernel_id, type: id", "{name: kernel_id, type: int");
    fs::write(&file, &renamed).unwrap();
    let (code, out) = run(true);
    assert!(code == 1 && out.contains("the version is still 1"), "{out}");
    fs::write(&file, renamed.replace("version: 1", "version: 2")).unwrap();
    assert_eq!(run(true).0, 0);
}
