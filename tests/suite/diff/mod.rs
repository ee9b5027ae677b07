//! `nsq diff`: effects computed by hand, noise computed by brute force, pairs with a known difference, and
//! no false alarms.

mod calibration;
mod contradictions;
mod gate;
mod known;
mod machine;
mod native;
pub(crate) mod program;
mod sequence;

use crate::support::{NEWEST_COMMON, build, nsq, outcome, project, shared, shared_exports, stdout};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The two reports of `fixtures/diff`.
pub fn pair() -> (TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let build_report = |name: &str| {
        let path = folder.path().join(format!("{name}.sqlite"));
        build(NEWEST_COMMON, &format!("../diff/{name}"), &path);
        path.to_str().unwrap().to_owned()
    };
    let (before, after) = (build_report("before"), build_report("after"));
    (folder, before, after)
}

type Row = BTreeMap<String, String>;

fn rows(csv: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row =
        |row: csv::StringRecord| names.iter().cloned().zip(row.iter().map(str::to_owned)).collect();
    reader.records().map(Result::unwrap).map(row).collect()
}

fn diff(a: &str, b: &str, more: &[&str]) -> Vec<Row> {
    rows(&stdout(&[&["diff", a, b, "--format", "csv"], more].concat()))
}

fn int(row: &Row, column: &str) -> i64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

fn real(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

fn effects(row: &Row) -> [i64; 4] {
    ["change_ns", "calls_effect_ns", "cost_effect_ns", "other_effect_ns"].map(|column| int(row, column))
}

fn of<'r>(rows: &'r [Row], section: &str, name: &str) -> &'r Row {
    let is_meant = |row: &&Row| {
        row["section"] == section && (row["name_a"].starts_with(name) || row["name_b"].starts_with(name))
    };
    let found: Vec<&Row> = rows.iter().filter(is_meant).collect();
    assert_eq!(found.len(), 1, "{section} {name}: {found:?}");
    found[0]
}

/// A part of the whole.
fn whole(a: &str, b: &str, part: &str) -> Row {
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["diff", a, b, "--format", "json"])).unwrap();
    let table = json.as_array().unwrap().iter().find(|table| table["table"] == "whole").unwrap();
    let names: Vec<&str> = table["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    let text = |value: &serde_json::Value| value.as_str().map_or(value.to_string(), str::to_owned);
    let row = |row: &serde_json::Value| -> Row {
        let cells: Vec<String> = match row {
            serde_json::Value::Array(cells) => cells.iter().map(text).collect(),
            cells => names.iter().map(|name| text(&cells[*name])).collect(),
        };
        names.iter().map(|name| (*name).to_owned()).zip(cells).collect()
    };
    table["rows"].as_array().unwrap().iter().map(row).find(|row| row["part"] == part).unwrap()
}

/// Compares with the figures derived in the header of `fixtures/diff/before.sql`.
#[test]
fn effects_match_the_figures_derived_by_hand() {
    let (_folder, before, after) = pair();
    let rows = diff(&before, &after, &[]);
    let expect = |section: &str, name: &str, want: [i64; 4], verdict: &str, matched: &str| {
        let row = of(&rows, section, name);
        assert_eq!(effects(row), want, "{name}");
        assert_eq!((row["verdict"].as_str(), row["match"].as_str()), (verdict, matched), "{name}");
    };
    expect("kernels", "tiny_gemm", [2000, 0, 2000, 0], "slower", "numbers");
    expect("kernels", "softmax", [400, 400, 0, 0], "within noise", "exact");
    expect("kernels", "void demo::layer_norm", [-650, 310, -960, 0], "faster", "function");
    expect("kernels", "mixed", [-1700, 100, 0, -1800], "cannot tell", "exact");
    expect("kernels", "old_kernel", [-500, 0, 0, -500], "only in A", "none");
    expect("kernels", "new_kernel", [1400, 0, 0, 1400], "only in B", "none");
    expect("kernels", "<script>", [30, 0, 30, 0], "cannot tell", "exact");
    assert_eq!(of(&rows, "kernels", "<script>")["reason"], "one call");
    expect("memory", "[CUDA memcpy", [1100, 400, 0, 700], "within noise", "exact");
    expect("classes", "gemm", [2000, 0, 2000, 0], "slower", "sum");
    expect("classes", "others", [-770, 100, 30, -900], "cannot tell", "sum");
    let gemm = of(&rows, "kernels", "tiny_gemm");
    assert_eq!(
        (gemm["name_a"].as_str(), gemm["name_b"].as_str()),
        ("tiny_gemm_128(float *)", "tiny_gemm_256(float *)")
    );
    assert_eq!((real(gemm, "mean_b_ns"), real(gemm, "cost_change_pct")), (1500.0, 50.0));
    // The mean of a call of `mixed` falls from 475 ns to 50 ns. The shape in both reports did not
    // change, and takes only 100 of 1900 ns in A: too little to judge the kernel.
    let mixed = of(&rows, "kernels", "mixed");
    assert_eq!(mixed["reason"], "other shapes");
    assert!((real(mixed, "compared_pct") - 100.0 * 100.0 / 1900.0).abs() < 1e-9);
    assert_eq!(
        (real(mixed, "mean_a_ns"), real(mixed, "mean_b_ns"), real(mixed, "cost_change_pct")),
        (475.0, 50.0, 0.0)
    );
    let sum = |column: &str| -> i64 {
        rows.iter().filter(|row| row["section"] == "kernels").map(|row| int(row, column)).sum()
    };
    let sums = ["calls_a", "total_a_ns", "calls_b", "total_b_ns"].map(sum);
    assert_eq!(sums, [18, 8650, 22, 9630]);
    let effects = ["change_ns", "calls_effect_ns", "cost_effect_ns", "other_effect_ns"].map(sum);
    assert_eq!(effects, [980, 810, 1070, -900]);
}

#[test]
fn a_report_against_itself_has_no_difference() {
    let (_folder, before, _) = pair();
    let mut reports = vec![before, project("fixtures/example.sqlite").to_str().unwrap().to_owned()];
    reports.extend(shared_exports().into_iter().map(|path| path.to_str().unwrap().to_owned()));
    let mut compared = 0;
    for report in &reports {
        let (code, out, error) = outcome(&["diff", report, report, "--gate", "0"]);
        if code == 3 {
            continue;
        }
        assert!(code == 0 || code == 4, "{report}: {error}");
        // One has ranges alone.
        let is_equal = ["Nothing differs.", "Nothing that both have differs."]
            .iter()
            .any(|text| out.contains(text));
        assert!(is_equal, "{report}: {out}");
        assert!(diff(report, report, &[]).is_empty(), "{report}");
        compared += 1;
    }
    assert!(compared >= 2);
}

#[test]
fn swapping_the_sides_negates_every_change() {
    let (_folder, before, after) = pair();
    let mut reports = vec![(before, after)];
    if let Some(shared) = shared() {
        let export =
            |name: &str| shared.join(format!("data/exports/{name}.sqlite")).to_str().unwrap().to_owned();
        reports.push((export("a100_fwd_nvtx_2026.3"), export("a100_opt_nvtx_2026.3")));
        reports.push((export("h100_2gpu_1s"), export("h100_mfu_2gpu_before")));
    }
    for (a, b) in &reports {
        let (there, back) = (diff(a, b, &[]), diff(b, a, &[]));
        assert_eq!(there.len(), back.len());
        let key = |row: &Row, names: [&str; 2]| {
            ["section"].into_iter().chain(names).map(|name| row[name].clone()).collect::<Vec<_>>()
        };
        let back: BTreeMap<Vec<String>, &Row> =
            back.iter().map(|row| (key(row, ["name_b", "name_a"]), row)).collect();
        for row in &there {
            let swapped = back[&key(row, ["name_a", "name_b"])];
            assert_eq!(int(row, "change_ns"), -int(swapped, "change_ns"), "{row:?}");
            let [a, b] = ["calls_a", "calls_b"].map(|name| row[name].clone());
            assert_eq!([&a, &b], [&swapped["calls_b"], &swapped["calls_a"]]);
            for row in [row, swapped] {
                let [change, calls, cost, other] = effects(row);
                assert_eq!(change, calls + cost + other, "{row:?}");
            }
            assert_eq!(int(row, "other_effect_ns"), -int(swapped, "other_effect_ns"));
        }
    }
}

/// The effects of kernels and of classes have the same sums.
#[test]
fn classes_are_sums_of_kernels() {
    let Some(shared) = shared() else { return };
    let export =
        |name: &str| shared.join(format!("data/exports/{name}.sqlite")).to_str().unwrap().to_owned();
    let rows = diff(&export("a100_fwd_nvtx_2026.3"), &export("a100_opt_nvtx_2026.3"), &[]);
    let sums = |section: &str| {
        let rows = rows.iter().filter(|row| row["section"] == section).map(effects);
        rows.fold([0; 4], |sum, row| [0, 1, 2, 3].map(|part| sum[part] + row[part]))
    };
    assert_eq!(sums("kernels"), sums("classes"));
    assert!(sums("kernels")[0] > 0);
}

/// Computes cost and noise of every kernel from the raw rows with simple loops.
#[test]
fn cost_and_noise_match_the_raw_rows() {
    let (_folder, before, after) = pair();
    let mut reports = vec![(PathBuf::from(before), PathBuf::from(after))];
    if let Some(shared) = shared() {
        let export = |name: &str| shared.join(format!("data/exports/{name}.sqlite"));
        reports.push((export("a100_gpt2.7b_2024.6.2"), export("a100_gpt2.7b_nvtx")));
        reports.push((export("a100_fwd_nvtx_2026.3"), export("a100_opt_nvtx_2026.3")));
    }
    let mut judged = 0;
    for (a, b) in &reports {
        let (raw_a, raw_b) = (raw_kernels(a), raw_kernels(b));
        let rows = diff(a.to_str().unwrap(), b.to_str().unwrap(), &["--section", "kernels"]);
        // All rows of the section share the errors.
        let relevant = rows.iter().filter(|row| row["is_relevant"] == "1").count();
        let confidence = 1.0 - 0.01 / relevant.max(1) as f64;
        for row in
            rows.iter().filter(|row| row["match"] == "exact" && row["reason"] != "launch shape changed")
        {
            let name = &row["name_a"];
            let (mut judged_x, mut judged_y) = (0.0, 0.0);
            let (mut cost, mut base, mut calls) = (0.0, 0.0, 0.0);
            // The errors within each side are added linearly, because one clock causes them all.
            let mut sides = [(0.0f64, 0.0f64); 2];
            for ((_, shape), x) in raw_a.iter().filter(|((kernel, _), _)| kernel == name) {
                let Some(y) = raw_b.get(&(name.clone(), shape.clone())) else { continue };
                // The spread of a single call is not known: a quarter of its time is assumed.
                let known = |values: &[f64]| {
                    error(values).unwrap_or(((0.25 * values[0]).powi(2), f64::INFINITY))
                };
                let ((error_x, freedom_x), (error_y, freedom_y)) = (known(x), known(y));
                let n = y.len() as f64;
                cost += n * (mean(y) - mean(x));
                base += n * mean(x);
                calls += n;
                judged_x += x.iter().sum::<f64>();
                judged_y += y.iter().sum::<f64>();
                let errors = [(n * error_x.sqrt(), freedom_x), (n * error_y.sqrt(), freedom_y)];
                for ((sum, by_root), (part, freedom)) in sides.iter_mut().zip(errors) {
                    *sum += part;
                    *by_root += part / freedom.sqrt();
                }
            }
            if calls == 0.0 {
                assert_eq!(row["verdict"], "cannot tell", "{row:?}");
                continue;
            }
            let variance: f64 = sides.iter().map(|(error, _)| error * error).sum();
            let of_side = |(error, by_root): (f64, f64)| error.powi(4) / (error / by_root).powi(2);
            let by_freedom: f64 = sides.into_iter().map(of_side).sum();
            let bound = nsq::statistics::student_bound(confidence, variance * variance / by_freedom)
                * variance.sqrt();
            let bound = bound.max(0.005 * base);
            let close = |column: &str, want: f64| {
                let got = real(row, column);
                assert!(
                    (got - want).abs() <= 1e-6 * want.abs().max(1.0),
                    "{column}: {got}, by hand {want}: {row:?}"
                );
            };
            close("cost_change_pct", 100.0 * cost / base);
            close("noise_pct", 100.0 * bound / base);
            let is_most =
                2.0 * judged_x >= real(row, "total_a_ns") && 2.0 * judged_y >= real(row, "total_b_ns");
            let verdict = match cost {
                _ if !is_most => "cannot tell",
                cost if cost.abs() <= bound => {
                    if row["reason"] == "one call" {
                        "cannot tell"
                    } else {
                        "within noise"
                    }
                }
                cost if cost < 0.0 => "faster",
                _ => "slower",
            };
            assert_eq!(row["verdict"], verdict, "{row:?}");
            judged += 1;
        }
    }
    assert!(judged >= 2);
}

/// The times of each kernel and launch shape, in order of start: in the steady steps, if there are any.
fn raw_kernels(path: &Path) -> BTreeMap<(String, String), Vec<f64>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let sql = "SELECT s.value, gridX || ' ' || gridY || ' ' || gridZ || ' ' || blockX || ' ' || blockY || ' ' || blockZ, k.end - k.start
         FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS s ON s.id = k.demangledName
         WHERE k.start >= ?1 AND k.start < ?2 ORDER BY k.start, k.end - k.start";
    let mut statement = connection.prepare(sql).unwrap();
    let mut kernels: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    let csv = stdout(&["run", path.to_str().unwrap(), "--query", "step_scope", "--format", "csv"]);
    let end = |name: &str, none: i64| rows(&csv)[0][name].parse().unwrap_or(none);
    let mut found = statement.query((end("start_ns", i64::MIN), end("end_ns", i64::MAX))).unwrap();
    while let Some(row) = found.next().unwrap() {
        let time: i64 = row.get(2).unwrap();
        kernels.entry((row.get(0).unwrap(), row.get(1).unwrap())).or_default().push(time as f64);
    }
    kernels
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance of the mean, and its degrees of freedom.
fn error(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len();
    let parts: Vec<f64> = match n {
        0 | 1 => return None,
        2..32 => values.to_vec(),
        _ => (0..16usize)
            .map(|batch| {
                // The first n mod 16 batches have one value more.
                let start = |batch: usize| batch * (n / 16) + batch.min(n % 16);
                mean(&values[start(batch)..start(batch + 1)])
            })
            .collect(),
    };
    let center = mean(&parts);
    let squares: f64 = parts.iter().map(|part| (part - center).powi(2)).sum();
    let count = parts.len() as f64;
    let mut variance = squares / (count - 1.0) / count;
    if parts.len() >= 8 {
        let products: f64 =
            (1..parts.len()).map(|i| (parts[i] - center) * (parts[i - 1] - center)).sum();
        let correction = (1.0 / (1.0 - 5.0 / count)).min(1.3);
        let r = ((products / squares + 1.0 / count) * correction).min(0.9);
        variance *= if r > 0.0 { (1.0 + r) / (1.0 - r) } else { 1.0 };
    }
    Some((variance.max(32.0 * 32.0 / 12.0 / n as f64), count - 1.0))
}

/// Two runs of the same program differ only by noise.
#[test]
fn two_runs_of_the_same_program_are_within_noise() {
    let Some(shared) = shared() else { return };
    let export =
        |name: &str| shared.join(format!("data/exports/{name}.sqlite")).to_str().unwrap().to_owned();
    let (a, b) = (export("a100_gpt2.7b_2024.6.2"), export("a100_gpt2.7b_nvtx"));
    let kernels = diff(&a, &b, &["--section", "kernels"]);
    assert!(kernels.len() > 20, "{}", kernels.len());
    for row in &kernels {
        // The clock has steps of 32 ns: a kernel of 2 us that takes one more is 1.5 % slower.
        let is_tick = real(row, "mean_a_ns").max(real(row, "mean_b_ns")) < 3200.0;
        assert!(row["verdict"] == "within noise" || is_tick && row["is_relevant"] == "0", "{row:?}");
        assert_eq!(row["calls_a"], row["calls_b"]);
    }
}

/// Half of a capture has fewer calls, which does not count as faster.
#[test]
fn fewer_calls_are_not_an_improvement() {
    let Some(shared) = shared() else { return };
    let whole = shared.join("data/exports/h100_mfu_2gpu_before.sqlite");
    let whole = whole.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cut = |name: &str, time: &str| {
        let path = folder.path().join(name);
        nsq().args(["materialize", whole, "--time", time, "-o"]).arg(&path).assert().success();
        path.to_str().unwrap().to_owned()
    };
    // The first kernel is late in the capture: the first half has no kernels.
    let text = stdout(&["diff", whole, &cut("none.sqlite", "0%/50%")]);
    assert!(text.contains("Cannot tell.") && !text.contains("faster."), "{text}");
    let middle = "SELECT (min(start_ns) + max(end_ns)) / 2 AS ns FROM kernel";
    let middle = stdout(&["sql", whole, middle, "--format", "csv", "--no-header"]);
    let half = cut("half.sqlite", &format!("/{}ns", middle.trim()));
    let half = half.as_str();
    let rows = diff(whole, half, &["--section", "kernels,nccl,memory"]);
    let fewer: Vec<&Row> = rows.iter().filter(|row| int(row, "calls_b") < int(row, "calls_a")).collect();
    assert!(fewer.len() > 20);
    for row in &fewer {
        if row["verdict"] == "faster" {
            // The cost of a call fell beyond noise, regardless of the number of calls.
            assert!(real(row, "cost_change_pct") < -real(row, "noise_pct"), "{row:?}");
        }
        if row["verdict"] == "within noise" {
            assert!(real(row, "cost_change_pct").abs() <= real(row, "noise_pct"), "{row:?}");
        }
    }
    let flash = of(&rows, "kernels", "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128");
    assert_ne!(flash["verdict"], "faster");
    assert!(int(flash, "change_ns") < 0 && int(flash, "calls_effect_ns") < 0);
    // Per step, half of a capture takes as long as all of it.
    let text = stdout(&["diff", whole, half]);
    assert!(text.contains("Verdict: The difference may be noise."), "{text}");
    assert!(text.contains("16 steps, found by repetition"), "{text}");
}

/// A single iteration has no spread, so the noise is that of its calls.
#[test]
fn kernels_of_a_single_iteration_are_judged_by_their_calls() {
    let Some(shared) = shared() else { return };
    let export =
        |name: &str| shared.join(format!("data/exports/{name}.sqlite")).to_str().unwrap().to_owned();
    let (a, b) = (export("a100_fwd_nvtx_2026.3"), export("a100_opt_nvtx_2026.3"));
    let rows = diff(&a, &b, &["--iter", "forward pass", "--section", "kernels"]);
    let gemm = of(&rows, "kernels", "ampere_sgemm_128x128_tn");
    assert_eq!((gemm["calls_a"].as_str(), gemm["calls_b"].as_str()), ("60", "60"));
    assert_eq!(gemm["per"], "step");
    assert!(real(gemm, "noise_pct") > 0.0);
    let window = whole(&a, &b, "time");
    assert_eq!(window["per"], "window", "forward pass does not name itself: {window:?}");
}

/// The same disturbance affects all ranks of a step, so two GPUs in one iteration count as one
/// measurement.
#[test]
fn the_gpus_of_one_iteration_are_one_measurement() {
    let folder = tempfile::tempdir().unwrap();
    let example = project("fixtures/example.sqlite");
    let (a, b) = (example.to_str().unwrap(), slower_example(&folder));
    // Four steps after the first, on two GPUs: each step gives the mean over its GPUs, so each side has four values.
    let means = |report: &str| -> Vec<f64> {
        let csv = stdout(&["run", report, "--query", "steps", "--format", "csv"]);
        let mut steps: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
        for row in rows(&csv).iter().filter(|row| row["part"] != "warm-up") {
            steps.entry(int(row, "step")).or_default().push(real(row, "dur_ns"));
        }
        steps.values().map(|gpus| mean(gpus)).collect()
    };
    let (x, y) = (means(a), means(&b));
    assert_eq!((x.len(), y.len()), (4, 4));
    let ((of_x, freedom_x), (of_y, freedom_y)) = (error(&x).unwrap(), error(&y).unwrap());
    let freedom = (of_x + of_y).powi(2) / (of_x * of_x / freedom_x + of_y * of_y / freedom_y);
    // So few steps do not show how the run wanders: the bound is twice as wide.
    let bound = 2.0 * nsq::statistics::student_bound(0.99, freedom) * (of_x + of_y).sqrt();
    let all = whole(a, &b, "time");
    assert!((real(&all, "change_ns") - (mean(&y) - mean(&x))).abs() <= 1.0);
    assert!((real(&all, "noise_ns") - bound).abs() < 1e-3 * bound, "{bound}: {all:?}");
}

/// A report with two kernels that run once and take almost all of the time, and very short copies.
fn report_with_short_copies(folder: &TempDir, name: &str, kernel_ns: i64, copy_ns: i64) -> String {
    let path = folder.path().join(format!("{name}.sqlite"));
    std::fs::copy(project("fixtures/example.sqlite"), &path).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(&format!(
            "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid NOT IN
               (SELECT min(rowid) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY demangledName ORDER BY 1 LIMIT 2);
             UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + {kernel_ns};
             DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET;
             UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = start + {copy_ns};
             DELETE FROM NVTX_EVENTS;"
        ))
        .unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn single_calls_are_judged_only_beyond_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let a = report_with_short_copies(&folder, "a", 1_000_000_000, 2000);
    let b = report_with_short_copies(&folder, "b", 1_300_000_000, 1000);
    let (code, out, error) = outcome(&["diff", &a, &b, "--gate", "5"]);
    assert!(code == 4 && error.contains("gate: inconclusive"), "{out}{error}");
    assert!(out.contains("cannot tell") && out.contains("(one call)"), "{out}");
    assert_eq!(outcome(&["diff", &a, &b, "--gate", "5", "--gate-allow-inconclusive"]).0, 0);
    // Ten times as long is no noise.
    let c = report_with_short_copies(&folder, "c", 10_000_000_000, 1000);
    let (code, _, error) = outcome(&["diff", &a, &c, "--gate", "5"]);
    assert!(code == 1 && error.contains("2.00 s → 20.00 s"), "{error}");
    // Small copies that got slower do not fail a whole that may have got faster, beyond what the noise can tell.
    let (code, out, error) = outcome(&["diff", &c, &a, "--gate", "5"]);
    assert!(code == 4 && out.contains("cannot be detected"), "{out}{error}");
    // A change from 0 ns is beyond any limit.
    let none = report_with_short_copies(&folder, "none", 100, 0);
    let some = report_with_short_copies(&folder, "some", 100, 9000);
    let (code, _, error) = outcome(&["diff", &none, &some, "--gate", "5", "--gate-parts"]);
    assert!(code == 1 && error.contains("from 0 ns"), "{error}");
}

/// A copy of the example in which every gemm takes 20 % longer.
fn slower_example(folder: &TempDir) -> String {
    let path = folder.path().join("slower.sqlite");
    std::fs::copy(project("fixtures/example.sqlite"), &path).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + (end - start) / 5
             WHERE demangledName IN (SELECT id FROM StringIds WHERE value GLOB 'nvjet*')",
        )
        .unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn iterations_are_found_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (example, slower) = (project("fixtures/example.sqlite"), slower_example(&folder));
    let example = example.to_str().unwrap();
    let text = stdout(&["diff", example, &slower, "--attribute", "process"]);
    assert!(text.contains("8 steps of `step *`") && text.contains("Time of a step"), "{text}");
    let rows = diff(example, &slower, &["--attribute", "process"]);
    let parts = ["compute", "exposed communication", "exposed copies", "idle"];
    let change = |part: &str| int(&whole(example, &slower, part), "change_ns");
    assert!((change("time") - parts.map(change).iter().sum::<i64>()).abs() <= 4);
    let gemms: Vec<&Row> = rows
        .iter()
        .filter(|row| row["section"] == "kernels" && row["name_a"].starts_with("nvjet"))
        .collect();
    assert!(gemms.len() >= 4);
    for gemm in gemms {
        assert_eq!(gemm["per"], "step");
        assert_eq!(int(gemm, "calls_effect_ns"), 0);
        let change = (real(gemm, "total_b_ns") - real(gemm, "total_a_ns")) / 8.0;
        // Each launch shape is rounded separately.
        assert!((real(gemm, "change_ns") - change).abs() <= 4.0, "{gemm:?}");
        assert!((real(gemm, "cost_change_pct") - 20.0).abs() < 0.01, "{gemm:?}");
        assert_eq!(gemm["verdict"], "slower", "{gemm:?}");
    }
    assert!(rows.iter().all(|row| row["section"] != "memory"), "the copies did not change");

    let named = stdout(&["diff", example, &slower, "--iter", "step", "--skip", "2"]);
    assert!(named.contains("6 steps of `step *`"), "{named}");
    let (code, _, error) = outcome(&["diff", example, &slower, "--iter", "epoch", "--gate", "5"]);
    assert!(code == 2 && error.contains("matches --iter epoch"), "{error}");
    let (code, _, error) = outcome(&["diff", example, &slower, "--iter", "step", "2..3"]);
    assert!(code == 2 && error.contains("--skip"), "{error}");
}

#[test]
fn the_gate_fails_on_slowdowns_beyond_noise_and_limit() {
    let folder = tempfile::tempdir().unwrap();
    let (example, slower) = (project("fixtures/example.sqlite"), slower_example(&folder));
    let example = example.to_str().unwrap();
    let gate = |a: &str, b: &str, more: &[&str]| outcome(&[&["diff", a, b], more].concat());
    // Kernels are slower, and the noise of the step hides it.
    let (code, out, _) = gate(example, &slower, &["--gate", "10"]);
    assert!(code == 4 && out.contains("slower part: kernels `nvjet"), "{out}");
    let (code, out, error) = gate(example, &slower, &["--gate", "10", "--gate-parts"]);
    assert_eq!(code, 1);
    assert!(
        error.starts_with("gate: failed\n") && error.contains("nvjet") && error.contains("+20.0 %"),
        "{error}"
    );
    assert!(out.contains("Gate at 10.0 %: failed"), "{out}");
    // The noise hides changes below two thirds.
    let (code, out, error) = gate(example, &slower, &["--gate", "25%"]);
    assert!(code == 4 && out.contains("inconclusive. Changes below"), "{out}{error}");
    // One run a side passes if the change with its noise is below the limit at a hundred times the confidence.
    let (code, out, error) = gate(example, &slower, &["--gate", "80%"]);
    assert!(code == 4 && out.contains("With its noise, the change can exceed 80.0 %"), "{out}{error}");
    let (code, out, error) = gate(example, &slower, &["--gate", "200%"]);
    assert!(code == 0 && out.contains("passed"), "{out}{error}");
    assert_eq!(gate(&slower, example, &["--gate", "200"]).0, 0, "a speedup must pass the gate");
    // Its kernels are faster, but the whole may hide a slowdown.
    assert_eq!(gate(&slower, example, &["--gate", "0"]).0, 4);
    assert_eq!(gate(example, &slower, &[]).0, 0, "without --gate nothing can fail");
    let (code, out, _) = gate(example, &slower, &["--gate", "10", "--gate-parts", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(code == 1 && json[0]["page_facts"]["outcome"] == "failed");
    assert_eq!(gate(example, &slower, &["--gate", "-1"]).0, 2);
    let file = folder.path().join("diff.html");
    let (code, _, _) =
        gate(example, &slower, &["--gate", "10", "--gate-parts", "-o", file.to_str().unwrap()]);
    assert!(code == 1 && file.exists(), "the output must be written even if the gate fails");

    let (_pair, before, after) = pair();
    let (code, _, error) = gate(&before, &after, &["--gate", "49", "--gate-parts"]);
    assert!(code == 1 && error.contains("tiny_gemm_256"), "{error}");
    assert!(!error.contains("script"), "one call must not fail the gate: {error}");
    assert_ne!(gate(&before, &after, &["--gate", "51"]).0, 1);
    let junit = folder.path().join("gate.xml");
    let words = ["--gate", "10", "--gate-parts", "--github", "--junit", junit.to_str().unwrap()];
    let (code, out, error) = gate(example, &slower, &words);
    assert!(code == 1 && error.contains("::error title=nsq: slower::kernels"), "{error}");
    assert!(!out.contains("::error"), "{out}");
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(xml.contains("<failure message=") && !xml.contains("<T1"), "{xml}");
}

#[test]
fn a_baseline_answers_as_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let (example, slower) = (project("fixtures/example.sqlite"), slower_example(&folder));
    let example = example.to_str().unwrap();
    let ask = |words: &[&str]| {
        let output = nsq().env("NSQ_BASELINES", folder.path()).args(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let (code, out, _) = ask(&["baseline", "save", "main", example]);
    let file = folder.path().join("main.json");
    assert!(code == 0 && out.trim() == file.to_str().unwrap(), "{out}");
    for format in ["text", "csv"] {
        let words = ["--gate", "5", "--gate-parts", "--format", format];
        let of_report = ask(&[&["diff", example, &slower], &words[..]].concat());
        let of_baseline = ask(&[&["diff", "@main", &slower], &words[..]].concat());
        assert_eq!(of_report, of_baseline);
        assert_eq!(of_report.0, 1);
        let swapped = ask(&[&["diff", &slower, "@main"], &words[..]].concat());
        assert_eq!(swapped, ask(&[&["diff", &slower, example], &words[..]].concat()));
    }
    // Without iterations on the other side, all work is compared.
    let (_pair, before, _) = pair();
    let all = ask(&["diff", "@main", &before, "--format", "csv"]);
    assert_eq!(all, ask(&["diff", example, &before, "--format", "csv"]));
    let (code, out, _) = ask(&["baseline", "list", "--format", "csv"]);
    assert!(code == 0 && out.contains("main,example.sqlite"), "{out}");

    let (code, _, error) = ask(&["diff", "@mian", &slower]);
    assert!(code == 2 && error.contains("did you mean 'main'"), "{error}");
    let (code, _, error) = ask(&["diff", "@main", &slower, "--skip", "1"]);
    assert!(code == 2 && error.contains("was saved with classes default"), "{error}");
    assert_eq!(ask(&["baseline", "save", "../x", example]).0, 2);
    let text = std::fs::read_to_string(&file).unwrap();
    for (from, to, reason) in [
        ("\"rows\":[[", "\"rows\":[[1,", "changed after it was saved"),
        ("\"saved_version\":1", "\"saved_version\":9", "version 9 of the file"),
        ("\"version\":1", "\"version\":7", "changed after it was saved"),
        ("{", "[", "not a saved report"),
    ] {
        std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
        let (code, _, error) = ask(&["diff", "@main", &slower]);
        assert!(code == 5 && error.contains(reason), "{error}");
    }
    assert_eq!(ask(&["baseline", "remove", "main"]).0, 0);
    assert_eq!(ask(&["baseline", "remove", "main"]).0, 2);
    // A missing home folder is not created.
    let home = folder.path().join("home");
    let saved = nsq().env("HOME", &home).args(["baseline", "save", "main", example]).output().unwrap();
    let error = String::from_utf8(saved.stderr).unwrap();
    assert!(
        saved.status.code() == Some(2) && error.contains("set NSQ_BASELINES to a folder"),
        "{error}"
    );
    assert!(!home.exists());
}

#[test]
fn untrusted_names_are_escaped() {
    let (_folder, before, after) = pair();
    let html = stdout(&["diff", &before, &after, "--format", "html"]);
    assert!(!html.contains("<script") && !html.contains('\u{1b}'), "{html}");
    assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
    for format in ["text", "markdown"] {
        let out = stdout(&["diff", &before, &after, "--format", format]);
        assert!(!out.contains('\u{1b}'), "{out}");
    }
    let markdown = stdout(&["diff", &before, &after, "--format", "markdown"]);
    assert!(!markdown.contains("<script>"), "{markdown}");
    let row = diff(&before, &after, &[]);
    assert_eq!(of(&row, "kernels", "<script>")["name_a"], "<script>alert(1)</script>\u{1b}[2J(int)");
    // Names of ranges, in a table and as the iterations of one side.
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before.sqlite"), slower_example(&folder));
    std::fs::copy(project("fixtures/example.sqlite"), &before).unwrap();
    let before = before.to_str().unwrap();
    for (report, name) in [(before, "step | <img src=x> [a](b) `c 1"), (&after, "step <b> 1")] {
        let connection = Connection::open(report).unwrap();
        let marked = connection
            .execute(
                "UPDATE NVTX_EVENTS SET text = ?1, textId = NULL
                 WHERE coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) GLOB 'step *'",
                [name],
            )
            .unwrap();
        assert!(marked > 0);
    }
    let (_, markdown, _) = outcome(&["diff", before, &after, "--format", "markdown", "--gate", "0.1"]);
    assert!(markdown.contains("`step \\| <img src=x> [a](b) 'c *`"), "{markdown}");
    let outside: String = markdown.split('`').step_by(2).collect();
    assert!(!outside.contains("<img") && !outside.contains("](b)"), "{outside}");
    let widths = |line: &str| line.replace("\\|", "").matches('|').count();
    for table in markdown.split("\n\n").filter(|part| part.starts_with("| verdict")) {
        let first = widths(table.lines().next().unwrap());
        assert!(table.lines().all(|line| widths(line) == first), "{table}");
    }
}

#[test]
fn sections_and_rows_can_be_chosen() {
    let (_folder, before, after) = pair();
    let rows = diff(&before, &after, &["--section", "kernels", "--section", "memory"]);
    assert!(rows.iter().all(|row| ["kernels", "memory"].contains(&row["section"].as_str())));
    // Changes beyond noise come first, by size of their effect.
    assert!(
        rows[0]["name_a"].starts_with("tiny_gemm")
            && rows[1]["name_a"].starts_with("void demo::layer_norm")
    );
    let text = stdout(&["diff", &before, &after, "--section", "kernels", "--top", "2"]);
    assert!(
        text.contains("… and 5 more: --top 0 shows all") && !text.contains("Kernel classes"),
        "{text}"
    );
    let classes = diff(&before, &after, &["--section", "classes", "--classes", "vllm/llama"]);
    assert!(!classes.is_empty());
    let (code, _, error) = outcome(&["diff", &before, &after, "--section", "kernel"]);
    assert!(code == 2 && error.contains("kernels"), "{error}");
}

#[test]
fn sections_without_data_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (_pair, before, _) = pair();
    let build_report = |trace: &str| {
        let path = folder.path().join(format!("{trace}.sqlite"));
        build(NEWEST_COMMON, trace, &path);
        path.to_str().unwrap().to_owned()
    };
    let (code, out, error) = outcome(&["diff", &build_report("mpi_two_ranks"), &before, "--gate", "5"]);
    assert!(code == 4 && out.contains("Cannot tell."), "{out}{error}");
}

/// A report without anything that is compared has a side and a verdict, and is not "equal".
#[test]
fn a_report_with_nothing_to_compare_is_named() {
    let (_pair, before, after) = pair();
    let connection = Connection::open(&after).unwrap();
    for table in ["KERNEL", "MEMCPY", "MEMSET", "RUNTIME"] {
        connection.execute_batch(&format!("DROP TABLE IF EXISTS CUPTI_ACTIVITY_KIND_{table}")).unwrap();
    }
    connection.execute_batch("DROP TABLE IF EXISTS NVTX_EVENTS").unwrap();
    drop(connection);
    for (a, b) in [(&before, &after), (&after, &before), (&after, &after)] {
        let (code, out, error) = outcome(&["diff", a, b]);
        assert!(code == 0 && out.contains("Verdict: Cannot tell.\n"), "{out}{error}");
        assert!(out.contains("`after.sqlite` has no GPU work;"), "{out}");
        assert!(!out.contains("Nothing differs."), "{out}");
        let (code, out, error) = outcome(&["diff", a, b, "--gate", "5"]);
        assert!(code == 4 && out.contains("Gate at 5.0 %: inconclusive."), "{out}{error}");
    }
}
