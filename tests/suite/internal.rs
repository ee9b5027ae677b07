//! Internal queries and relations: lists leave them out, and their names work.

use crate::support::{Fixtures, nsq, outcome, project, stdout};
use std::fs;
use std::path::Path;

/// The names in `nsq list`.
fn listed(options: &[&str]) -> Vec<String> {
    let out = stdout(&[&["list", "--format", "csv", "--no-header"], options].concat());
    out.lines().filter_map(|line| Some(line.split(',').nth(1)?.to_owned())).collect()
}

#[test]
fn lists_leave_them_out_unless_all_is_given() {
    for (options, hidden, seen) in [
        (&[][..], ["class_figures", "diff_rows", "elapsed_bars"], ["top_kernels", "findings"]),
        (&["--relations"], ["idle_part", "marker_sum", "debug_marker"], ["kernel", "nvtx_range"]),
    ] {
        let (some, all) = (listed(options), listed(&[options, &["--all"]].concat()));
        assert!(some.len() < all.len() && some.iter().all(|name| all.contains(name)), "{some:?}");
        for name in hidden.map(str::to_owned) {
            assert!(!some.contains(&name) && all.contains(&name), "{name}");
        }
        for name in seen.map(str::to_owned) {
            assert!(some.contains(&name) && all.contains(&name), "{name}");
        }
    }
    // A search finds them only if it is asked to.
    assert!(!listed(&["class_figures"]).contains(&"class_figures".to_owned()));
    assert!(listed(&["class_figures", "--all"]).contains(&"class_figures".to_owned()));
}

#[test]
fn the_schema_of_a_report_leaves_them_out_unless_all_is_given() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let schema = |options: &[&str]| {
        stdout(&[&["schema", report.to_str().unwrap(), "--format", "csv"], options].concat())
    };
    let has = |text: &str, query: &str| text.lines().any(|line| line.starts_with(&format!("{query},")));
    assert!(has(&schema(&[]), "top_kernels") && !has(&schema(&[]), "gpu_strip"));
    assert!(has(&schema(&["--all"]), "top_kernels") && has(&schema(&["--all"]), "gpu_strip"));
}

#[test]
fn their_names_work() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let report = report.to_str().unwrap();
    assert!(stdout(&["show", "gpu_strip"]).contains("COLUMNS"));
    assert!(stdout(&["show", "idle_part"]).contains("COLUMNS"));
    assert_eq!(outcome(&["run", report, "-q", "gpu_strip"]).0, 0);
    assert_eq!(outcome(&["sql", report, "SELECT count(*) FROM idle_part"]).0, 0);
}

/// What `nsq check` says about the library with one text changed.
fn check(file: &str, from: &str, to: &str) -> String {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            let target = to.join(entry.file_name());
            match entry.file_type().unwrap().is_dir() {
                true => copy(&entry.path(), &target),
                false => drop(fs::copy(entry.path(), target).unwrap()),
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    copy(&project("queries"), folder.path());
    let file = folder.path().join(file);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(&file, text.replacen(from, to, 1)).unwrap();
    let output = nsq().arg("check").arg(folder.path()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn check_knows_which_must_be_marked() {
    let out = check("pages/overview/gpu_strip.sql", "internal: true\n", "");
    assert!(out.contains("gpu_strip.sql:2: Q20 query gpu_strip is a part of a page"), "{out}");
    let out = check("cuda/top_kernels.sql", "reads:", "internal: true\nreads:");
    assert!(out.contains("Q20 query top_kernels is internal, and is not a part of a page"), "{out}");
    // A query elsewhere leads to it, so people ask for it.
    let out = check("gpu/gpu_idle_causes.sql", "see_also: [", "see_also: [gpu_strip, ");
    assert!(out.contains("Q20 query gpu_strip is internal"), "{out}");
    let out = check("views/debug_marker.sql", "internal: true\n", "");
    assert!(out.contains("V18 relation debug_marker is a step of marker_sum alone"), "{out}");
}
