//! `nsq page`, pages of a user's own, and queries over the answers of queries.

use crate::diff::pair;
use crate::support::{Fixtures, outcome, project, stdout};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// The files of "Queries over the answers of queries" and "Pages" in `queries/README.md`.
fn readmes_page(folder: &Path) {
    let text = fs::read_to_string(project("queries/README.md")).unwrap();
    let block = |language: &str, needle: &str| {
        let fence = format!("```{language}\n");
        let blocks = text.split(&fence).skip(1);
        let mut bodies = blocks.map(|rest| rest.split("```").next().unwrap());
        bodies.find(|body| body.contains(needle)).unwrap_or_else(|| panic!("no {needle}")).to_owned()
    };
    let page = folder.join("pages/first_look");
    fs::create_dir_all(&page).unwrap();
    fs::write(page.join("page.yml"), block("yaml", "name: first_look")).unwrap();
    fs::write(page.join("verdict.jinja"), block("jinja", "The GPUs idle")).unwrap();
    fs::write(page.join("picture.html.jinja"), block("jinja", "<!DOCTYPE html>")).unwrap();
    fs::write(folder.join("busiest_kernels.sql"), block("sql", "name: busiest_kernels")).unwrap();
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).unwrap()
}

#[test]
fn a_page_needs_no_program() {
    let folder = tempfile::tempdir().unwrap();
    readmes_page(folder.path());
    let queries = folder.path().to_str().unwrap();
    assert_eq!(outcome(&["check", queries]).0, 0, "{}", outcome(&["check", queries]).1);
    let fixtures = Fixtures::new();
    for trace in ["two_streams_overlap", "training_steps"] {
        let report = fixtures.trace(trace);
        let report = report.to_str().unwrap();
        let page = ["page", "first_look", report, "--queries", queries];
        let tables = json(&[&page[..], &["-f", "json", "-p", "top=2"]].concat());
        let tables = tables.as_array().unwrap();
        let own = |query: &str| json(&["run", report, "-q", query, "-f", "json"])["rows"].clone();
        assert_eq!(tables[0]["rows"], own("gpu_time"));
        assert_eq!(
            tables[1]["rows"].as_array().unwrap()[..],
            own("top_kernels").as_array().unwrap()[..2]
        );
        // The fact is computed here once more, from the rows of `nsq run`.
        let sum = |column: &str| -> f64 {
            own("gpu_time").as_array().unwrap().iter().map(|row| row[column].as_f64().unwrap()).sum()
        };
        let idle_pct = 100.0 * sum("idle_ns") / sum("window_ns");
        let fact = tables[0]["page_facts"]["idle_pct"].as_f64().unwrap();
        assert!((fact - idle_pct).abs() < 1e-9, "{fact} {idle_pct}");
        let text = stdout(&[&page[..], &["--layout", "verdict"]].concat());
        assert!(
            text.starts_with(&format!("The GPUs idle {idle_pct:.1} % of the time.\n  1  ")),
            "{text}"
        );
        assert!(stdout(&page).contains("\nTop "), "{}", stdout(&page));
        // As README says, two lines choose the layouts of the formats.
        let manifest = folder.path().join("pages/first_look/page.yml");
        let before = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, format!("{before}text: verdict\nhtml: picture.html\n")).unwrap();
        assert_eq!(stdout(&page), text);
        let html = stdout(&[&page[..], &["-f", "html"]].concat());
        assert!(html.starts_with("<!DOCTYPE html>") && html.contains("width: 100%"), "{html}");
        fs::write(&manifest, before).unwrap();
    }
    let shown = stdout(&["show", "first_look", "--queries", queries]);
    assert!(shown.contains("(a page)") && shown.contains("verdict"), "{shown}");
    assert!(stdout(&["list", "--pages", "--queries", queries]).contains("first_look"));
}

#[test]
fn a_query_across_reports_sees_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    readmes_page(folder.path());
    let query = folder.path().join("busiest_kernels.sql");
    let (_folder, before, after) = pair();
    let fixtures = Fixtures::new();
    let gaps = fixtures.trace("kernel_gaps");
    let reports = [before.as_str(), after.as_str(), gaps.to_str().unwrap()];
    let mut arguments = vec!["run"];
    arguments.extend(reports);
    arguments.extend(["-q", query.to_str().unwrap(), "-f", "json"]);
    let rows = json(&arguments)["rows"].as_array().unwrap().clone();
    // The same figures from the answers of each report.
    let mut means = std::collections::BTreeMap::<String, Vec<f64>>::new();
    for report in reports {
        let own = json(&["run", report, "-q", "kernel_stats", "-p", "limit=-1", "-f", "json"]);
        for row in own["rows"].as_array().unwrap() {
            let name = row["simple_name"].as_str().unwrap().to_owned();
            means.entry(name).or_default().push(row["mean_ns"].as_f64().unwrap());
        }
    }
    assert!(means.values().any(|means| means.len() > 1), "no kernel is in two reports: {means:?}");
    assert_eq!(rows.len(), means.len());
    for row in rows {
        let means = &means[row["simple_name"].as_str().unwrap()];
        let (least, most) = means.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        assert_eq!(row["report_count"].as_u64().unwrap(), means.len() as u64, "{row}");
        assert_eq!([row["least_ns"].as_f64(), row["most_ns"].as_f64()], [Some(least), Some(most)]);
    }
    // One report is a side of its own.
    let alone = json(&["run", reports[0], "-q", query.to_str().unwrap(), "-f", "json"]);
    assert!(alone["rows"].as_array().unwrap().iter().all(|row| row["report_count"] == 1));
}

#[test]
fn several_reports_are_told_apart_and_each_is_cut_to_the_wanted_rows() {
    let fixtures = Fixtures::new();
    let reports = ["kernel_gaps", "training_steps"].map(|trace| fixtures.trace(trace));
    let [a, b] = reports.each_ref().map(|path| path.to_str().unwrap());
    let tables = json(&["page", "kernels", a, b, "-p", "top=2", "-p", "gaps=true", "-f", "json"]);
    let tables = tables.as_array().unwrap();
    assert_eq!(tables.len(), 5, "{tables:?}");
    let names: Vec<&str> = tables[0]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["report"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 4);
    assert!(names[0] == names[1] && names[2] == names[3] && names[1] != names[2], "{names:?}");
    // Facts and layouts of a page that compares nothing are about one report.
    assert!(tables[0]["page_facts"].as_object().unwrap().is_empty());
    let run = stdout(&["run", a, b, "-q", "kernels", "-p", "top=2", "-p", "gaps=true", "-f", "json"]);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&run).unwrap(), *tables);
    for (words, said) in [
        (&["-q", "kernels", "-q", "top_kernels"][..], "kernels is a page, and a page is asked alone"),
        (&["-q", "kernels", "--columns", "kernel"], "but kernels is a page of several tables"),
        (&["-q", "top_kernels", "--layout", "console"], "--layout needs a page"),
    ] {
        let (code, _, error) = outcome(&[&["run", a][..], words].concat());
        assert!(code == 2 && error.contains(said), "{error}");
    }
    let alone = |report| stdout(&["page", "kernels", report, "-p", "gaps=true", "--layout", "console"]);
    let both = stdout(&["page", "kernels", a, b, "-p", "gaps=true", "--layout", "console"]);
    let (code, out, error) = outcome(&["overview", a, b, "-f", "html"]);
    assert!(code == 2 && out.is_empty() && error.contains("shows one report"), "{error}");
    let name = |path: &str| Path::new(path).file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(both, format!("{}\n\n{}\n{}\n\n{}", name(a), alone(a), name(b), alone(b)));
}

#[test]
fn what_is_missing_or_wrong_in_a_page_is_said() {
    let fixtures = Fixtures::new();
    let (full, bare) = (fixtures.trace("kernel_gaps"), fixtures.trace("nvtx_only"));
    let [full, bare] = [&full, &bare].map(|path| path.to_str().unwrap());
    for (arguments, code, expected) in [
        (&["page", "kernel", full][..], 2, "unknown page 'kernel'"),
        (&["page", "kernels", full, "-p", "tp=3"], 2, "did you mean 'top'"),
        (&["page", "kernels", full, "-p", "top=x"], 2, "expected an integer"),
        (&["page", "kernels", full, "-p", "sort=name"], 2, "expected one of count,"),
        (&["page", "kernels", full, "--layout", "consol"], 2, "unknown layout 'consol'"),
        (&["page", "kernels", bare], 3, "kernel_stats needs CUDA kernels"),
        (
            &["page", "kernels", full, "--time", "100s/"],
            3,
            "page kernels needs kernels within the scope",
        ),
        (&["page", "kernels", "absent.sqlite"], 1, "no such file"),
    ] {
        let (got, out, error) = outcome(arguments);
        assert!(
            got == code && out.is_empty() && error.contains(expected),
            "{arguments:?}: {got} {error}"
        );
    }
    // A table without data is left out, if the page does not require it.
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("pages/both");
    fs::create_dir_all(&page).unwrap();
    let manifest = "\
name: both
version: 1
title: Ranges and kernels
doc: Both.
tables:
  - {as: ranges, query: nvtx_sum}
  - {as: kernels, query: top_kernels}
";
    fs::write(page.join("page.yml"), manifest).unwrap();
    let queries = folder.path().to_str().unwrap();
    let (code, out, error) = outcome(&["page", "both", bare, "--queries", queries, "-f", "json"]);
    assert_eq!(code, 0, "{error}");
    let tables: Value = serde_json::from_str(&out).unwrap();
    assert!(
        tables[0]["query"] == "nvtx_sum" && error.contains("note: top_kernels needs CUDA kernels"),
        "{error}"
    );
    // Faults of a page are found by the check, with their line.
    for (from, to, expected) in [
        ("name: both", "name: other", "page.yml:1: G01 name 'other' must equal"),
        ("query: top_kernels", "query: top_kernel", "page.yml:7: G02 unknown or unreadable query"),
        ("query: nvtx_sum}", "query: nvtx_sum, params: {limt: 1}}", "G02 unknown parameter 'limt'"),
        ("query: nvtx_sum}", "query: nvtx_sum, when: params.x +}", "G03 invalid template"),
        ("doc: Both.", "doc: Both", "page.yml:4: G01 `doc` must end"),
        (
            "tables:",
            "facts: [{name: x, is: \"ranges.rows|map(attribute='totl_ns')|sum\"}]\ntables:",
            "page.yml:5: G03 unknown column 'totl_ns' of query 'nvtx_sum'",
        ),
    ] {
        assert!(manifest.contains(from), "{from}");
        fs::write(page.join("page.yml"), manifest.replacen(from, to, 1)).unwrap();
        let (code, out, _) = outcome(&["check", queries]);
        assert!(code == 1 && out.contains(expected), "{to}: want {expected}\n{out}");
    }
    fs::write(page.join("page.yml"), format!("{manifest}\ntext: shrt\n")).unwrap();
    let (code, out, _) = outcome(&["check", queries]);
    assert!(code == 1 && out.contains("G04 no layout 'shrt': expected shrt.jinja"), "{out}");
    fs::write(page.join("page.yml"), manifest).unwrap();
    fs::write(page.join("short.jinja"), "{{ kernel.rows }}").unwrap();
    let (code, out, _) = outcome(&["check", queries]);
    assert!(code == 1 && out.contains("short.jinja:1: G04 the layout uses 'kernel'"), "{out}");
    fs::write(page.join("short.jinja"), "{% for k in kernels.rows %}{{ k.totl_ns|tyme }}{% endfor %}")
        .unwrap();
    let (code, out, _) = outcome(&["check", queries]);
    assert!(code == 1 && out.contains("unknown filter 'tyme'"), "{out}");
    assert!(out.contains("G04 unknown column 'totl_ns' of query 'top_kernels'"), "{out}");
    assert!(out.contains("1 page and 1 layout in"), "{out}");
    // What the check cannot see is an error, and not a 0.
    let sum = "{{ kernels.rows|map(attribute='totl' ~ '_ns')|sum }}";
    fs::write(page.join("short.jinja"), sum).unwrap();
    let (code, out, error) = outcome(&["page", "both", full, "--queries", queries, "--layout", "short"]);
    assert!(code == 1 && out.is_empty() && error.contains("no column 'totl_ns'"), "{error}");
}

#[test]
fn an_asked_query_answers_in_full_and_explains_its_absence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("longest.sql");
    let query = "\
/*---
name: longest
version: 1
title: Longest iterations
summary: Iterations with the longest GPU span.
why: To see them.
kind: sum
tags: [nvtx]
reads: []
asks: [iterations]
params:
  - {name: tag, type: text, doc: \"GLOB pattern for the range name.\"}
columns:
  - {name: range_id, type: id, priority: 0, doc: \"Row ID.\"}
limits: See iterations.
---*/
SELECT range_id FROM iterations ORDER BY range_id
";
    fs::write(&path, query).unwrap();
    let report = Fixtures::new();
    let report = report.trace("two_streams_overlap");
    let path = path.to_str().unwrap();
    let (code, _, error) = outcome(&["run", report.to_str().unwrap(), "-q", path, "-p", "tag=absent*"]);
    assert!(code == 0 || code == 3, "{error}");
    let queries = folder.path().to_str().unwrap();
    for (from, to, expected) in [
        (
            "FROM iterations",
            "FROM kernel_stats",
            "Q09 `asks` lists iterations, but the statement does not read",
        ),
        (
            "asks: [iterations]",
            "asks: [iterations, top_kernels]",
            "Q10 the answer of top_kernels ends at its",
        ),
        ("SELECT range_id", "SELECT rangeid", "did you mean 'range_id'"),
    ] {
        assert!(query.contains(from));
        fs::write(path, query.replacen(from, to, 1)).unwrap();
        let (code, out, _) = outcome(&["check", queries]);
        assert!(code == 1 && out.contains(expected), "{to}: want {expected}\n{out}");
    }
}

#[test]
fn an_optional_query_without_data_is_an_empty_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("functions_in_idle_time.sql");
    let query = "\
/*---
name: functions_in_idle_time
version: 1
title: Functions in idle time
summary: How many functions idle time is in.
why: To count them.
kind: info
tags: [gpu]
reads: []
asks: [{query: idle_functions, optional: true}]
columns:
  - {name: function_count, type: int, unit: count, priority: 0, doc: \"Functions.\"}
limits: See idle_functions.
---*/
SELECT count(*) AS function_count FROM idle_functions
";
    fs::write(&path, query).unwrap();
    let report = Fixtures::new();
    let report = report.trace("two_streams_overlap");
    let (report, path) = (report.to_str().unwrap(), path.to_str().unwrap());
    assert_eq!(stdout(&["run", report, "-q", path, "-f", "csv"]), "function_count\n0\n");
    // A script has the same empty table.
    let script = folder.path().join("script.txt");
    let queries = folder.path().to_str().unwrap();
    let show = ["show", "functions_in_idle_time", "--queries", queries, "--sql", "--report", report];
    fs::write(&script, stdout(&show)).unwrap();
    assert_eq!(
        stdout(&["sql", report, "--file", script.to_str().unwrap(), "-f", "csv"]),
        "function_count\n0\n"
    );
    // Without the word, the query lacks what it asks.
    fs::write(path, query.replace("{query: idle_functions, optional: true}", "idle_functions")).unwrap();
    let (code, out, error) = outcome(&["run", report, "-q", path, "-f", "csv"]);
    assert!(code == 3 && out.is_empty() && error.contains("needs calls of Python functions"), "{error}");
}

/// The sources of a page's policy, and its texts between `<tag>` and `</tag>`.
fn sources_and_texts<'p>(page: &'p str, tag: &str) -> (Vec<String>, Vec<&'p str>) {
    let begin = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ";
    let (_, rest) = page.split_once(begin).unwrap_or_else(|| panic!("no policy: {page}"));
    let directives = rest.split_once("\">").unwrap().0.split("; ");
    let own = directives.filter_map(|directive| directive.strip_prefix(&format!("{tag}-src ")));
    let (opens, closes) = (format!("<{tag}>"), format!("</{tag}>"));
    let texts = page.split(&opens).skip(1).map(|rest| rest.split_once(&closes).unwrap().0);
    (own.flat_map(|sources| sources.split(' ')).map(str::to_owned).collect(), texts.collect())
}

#[test]
fn the_policy_of_a_page_allows_the_texts_in_it_and_no_others() {
    let report = project("fixtures/example.sqlite").display().to_string();
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    stdout(&["breakdown", &report, "--out-dir", folder]);
    let (_folder, before, after) = pair();
    let html = |arguments: &[&str]| stdout(&[arguments, &["-f", "html"]].concat());
    let page = |name| html(&["page", name, &report]);
    let own = |text: &&str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    let tables = html(&["run", &report, "-q", "gpu_time", "-q", "top_kernels"]);
    let breakdown = fs::read_to_string(out.path().join("result.html")).unwrap();
    for (name, page, has_widths) in [
        ("breakdown", breakdown, true),
        ("diff", html(&["diff", &before, &after]), true),
        ("efficiency", page("efficiency"), false),
        ("job", page("job"), true),
        ("overview", page("overview"), true),
        ("tables", tables, false),
        ("timeline", page("timeline"), false),
    ] {
        let (sources, texts) = sources_and_texts(&page, "style");
        assert_eq!(texts.len(), 1, "{name}");
        // Widths of bars are attributes, which no hash allows.
        let allowed = if has_widths { "'unsafe-inline'".to_owned() } else { own(&texts[0]) };
        assert_eq!(sources, [allowed], "{name}");
        let (sources, texts) = sources_and_texts(&page, "script");
        assert_eq!(sources, texts.iter().map(own).collect::<Vec<_>>(), "{name}");
        assert_eq!(texts.len(), usize::from(["overview", "timeline"].contains(&name)), "{name}");
    }
}

#[test]
fn a_page_of_a_users_own_takes_assets() {
    let folder = tempfile::tempdir().unwrap();
    readmes_page(folder.path());
    let page = folder.path().join("pages/first_look");
    let write = |file: &str, text: &str| fs::write(page.join(file), text).unwrap();
    write("own.js", "let a = '{{ 1 }} <&>'\n");
    write("own.html.jinja", "{{ asset('own.js', 'base.css') }}{{ 'x'|csp_source }}");
    write("lacks.html.jinja", "{{ asset('other.js') }}");
    let queries = folder.path().to_str().unwrap();
    assert_eq!(outcome(&["check", queries]).0, 0, "{}", outcome(&["check", queries]).1);
    let fixtures = Fixtures::new();
    let report = fixtures.trace("kernel_gaps");
    let layout = |name| {
        let page = ["page", "first_look", report.to_str().unwrap(), "--queries", queries];
        outcome(&[&page[..], &["--layout", name]].concat())
    };
    let shared = fs::read_to_string(project("queries/pages/assets/base.css")).unwrap();
    let hash = "'sha256-LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE='";
    assert_eq!(layout("own.html").1, format!("let a = '{{{{ 1 }}}} <&>'\n{shared}{hash}"));
    let (code, _, error) = layout("lacks.html");
    assert!(code == 1 && error.contains("no asset 'other.js': there are base.css,"), "{error}");
}
