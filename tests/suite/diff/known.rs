//! Pairs of reports whose difference is known: verdict, matching and exit code of each.

use super::program::{Kernel, Program, kernel};
use super::{Row, diff, of, real, rows, whole};
use crate::support::{outcome, project, shared, stdout};
use rusqlite::Connection;
use std::path::Path;

/// Two exports, their exit codes with `--gate 5` in both directions, and the verdicts on the whole.
struct Pair {
    name: &'static str,
    a: Program,
    b: Program,
    codes: [u8; 2],
    verdicts: [&'static str; 2],
}

fn one_kernel(shape: (i64, i64), mean_us: f64, count: usize, noise: f64) -> Program {
    Program {
        kernels: vec![Kernel { shape, ..kernel("add(int, float *, float *)", count, mean_us) }],
        steps: 1,
        has_ranges: false,
        copy_ns: 6e5,
        noise,
        ..Program::training(1)
    }
}

fn pairs() -> Vec<Pair> {
    let base = || Program::training(1);
    let again = || Program::training(2);
    let pair = |name, a, b, codes, verdicts| Pair { name, a, b, codes, verdicts };
    vec![
        pair("identical", base(), base(), [0, 0], ["within noise"; 2]),
        pair("same program again", base(), again(), [0, 0], ["within noise"; 2]),
        // One thread a block instead of 256: 1.26 s become 25.61 s, in one call.
        pair(
            "another block size, one call",
            one_kernel((1, 256), 1_260_000.0, 1, 0.0),
            one_kernel((1, 1), 25_610_000.0, 1, 0.0),
            [1, 0],
            ["slower", "faster"],
        ),
        // 1,201 calls each, 43.59 and 41.86 us, a spread below 1 us.
        pair(
            "another block size, many calls",
            one_kernel((4096, 256), 43.59, 1201, 0.02),
            Program { seed: 2, ..one_kernel((2048, 512), 41.86, 1201, 0.02) },
            [0, 0],
            ["faster", "slower"],
        ),
        pair(
            "one kernel 10 % slower",
            base(),
            again().with("gemm", |gemm| gemm.mean_ns *= 1.1),
            [1, 0],
            ["slower", "faster"],
        ),
        // A small part is over the limit, and the whole is not.
        pair(
            "a small kernel 10 % slower",
            base(),
            again().with("softmax", |softmax| softmax.mean_ns *= 1.1),
            [0, 0],
            ["slower", "faster"],
        ),
        // Three kernels become one, which is faster than their sum.
        pair(
            "fused kernels",
            Program {
                kernels: vec![
                    Kernel { range: "qkv", ..kernel("gemm_q_tn", 4, 50.0) },
                    Kernel { range: "qkv", ..kernel("gemm_k_tn", 4, 50.0) },
                    Kernel { range: "qkv", ..kernel("gemm_v_tn", 4, 50.0) },
                    kernel("void adam_kernel<float>(float *)", 4, 60.0),
                ],
                ..base()
            },
            Program {
                kernels: vec![
                    Kernel { range: "qkv", ..kernel("fused_projection_gemm", 4, 120.0) },
                    kernel("void adam_kernel<float>(float *)", 4, 60.0),
                ],
                ..again()
            },
            [0, 1],
            ["faster", "slower"],
        ),
        pair(
            "renamed kernels",
            base(),
            again().with("gemm", |gemm| gemm.name = "gemm_256x64_tn"),
            [0, 0],
            ["within noise"; 2],
        ),
        pair("more iterations", base(), Program { steps: 40, ..again() }, [0, 0], ["within noise"; 2]),
        // Without ranges, the steps are found by repetition.
        pair(
            "a longer capture",
            Program { has_ranges: false, ..base() },
            Program { has_ranges: false, steps: 40, ..again() },
            [0, 0],
            ["within noise"; 2],
        ),
        pair(
            "a slower kernel in a faster whole",
            base(),
            again()
                .with("gemm", |gemm| gemm.mean_ns *= 0.8)
                .with("softmax", |softmax| softmax.mean_ns *= 1.2),
            [0, 1],
            ["faster", "slower"],
        ),
        pair(
            "twice the idle time",
            base(),
            Program { gap_ns: 20e3, ..again() },
            [1, 0],
            ["slower", "faster"],
        ),
        // Another GPU runs other kernels, in other shapes.
        pair(
            "another GPU",
            Program {
                gpu: "NVIDIA A100-SXM4-80GB",
                kernels: vec![
                    Kernel { range: "forward", ..kernel("ampere_sgemm_128x64_tn", 8, 400.0) },
                    Kernel {
                        range: "forward",
                        ..kernel("void softmax_kernel<float>(float *)", 8, 30.0)
                    },
                    Kernel { range: "optimizer", ..kernel("void adam_kernel<float>(float *)", 4, 90.0) },
                ],
                ..base()
            },
            Program {
                kernels: vec![
                    Kernel { range: "forward", ..kernel("nvjet_tst_128x256_64x4_NNT", 8, 200.0) },
                    Kernel {
                        range: "forward",
                        ..kernel("void softmax_kernel<float>(float *)", 8, 20.0)
                    },
                    Kernel { range: "optimizer", ..kernel("void adam_kernel<float>(float *)", 4, 60.0) },
                ],
                ..again()
            },
            [0, 1],
            ["faster", "slower"],
        ),
        // Only a small copy is in both.
        pair(
            "other programs",
            Program { has_ranges: false, ..base() },
            Program {
                has_ranges: false,
                copy_ns: 1e3,
                kernels: vec![kernel("void sort_kernel<int>(int *)", 9, 70.0)],
                ..again()
            },
            [4, 4],
            ["cannot tell"; 2],
        ),
    ]
}

#[test]
fn gates_and_verdicts_are_as_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = String::new();
    for (place, pair) in pairs().into_iter().enumerate() {
        let (a, b) = (
            pair.a.write(folder.path(), &format!("{place}-a")),
            pair.b.write(folder.path(), &format!("{place}-b")),
        );
        for (turn, [x, y]) in [[&a, &b], [&b, &a]].into_iter().enumerate() {
            let (code, text, error) = outcome(&["diff", x, y, "--gate", "5"]);
            let verdict = whole(x, y, "time")["verdict"].clone();
            if u8::try_from(code).ok() != Some(pair.codes[turn]) || verdict != pair.verdicts[turn] {
                wrong += &format!("{}, turn {turn}: exit {code}, {verdict}\n{text}{error}\n", pair.name);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn work_is_matched_in_steps() {
    let folder = tempfile::tempdir().unwrap();
    let base = Program::training(1);
    let kernels = |change: &dyn Fn(Program) -> Program, first: &str| {
        let a = base.write(folder.path(), "a");
        let b = change(Program::training(2)).write(folder.path(), "b");
        let rows = diff(&a, &b, &["--section", "kernels"]);
        let row = of(&rows, "kernels", first).clone();
        std::fs::remove_file(a).unwrap();
        std::fs::remove_file(b).unwrap();
        row
    };
    let text = |row: &Row| [row["match"].clone(), row["reason"].clone(), row["verdict"].clone()];
    let shape = kernels(&|program| program.with("gemm", |gemm| gemm.shape = (528, 128)), "gemm");
    assert_eq!(text(&shape), ["exact", "launch shape changed", "within noise"]);
    let numbers = kernels(&|program| program.with("gemm", |gemm| gemm.name = "gemm_64x64_tn"), "gemm");
    assert_eq!(text(&numbers), ["numbers", "", "within noise"]);
    let function = kernels(
        &|program| program.with("softmax", |softmax| softmax.name = "void softmax_kernel<half>(half *)"),
        "void softmax",
    );
    assert_eq!(text(&function), ["function", "", "within noise"]);
    let class =
        kernels(&|program| program.with("gemm", |gemm| gemm.name = "cutlass_gemm_other"), "gemm");
    assert_eq!(text(&class), ["place", "replaced", "within noise"]);
    let range =
        kernels(&|program| program.with("gemm", |gemm| gemm.name = "triton_fused_thing"), "gemm");
    assert_eq!(text(&range), ["place", "replaced", "within noise"]);
    let fused = kernels(
        &|mut program| {
            program.kernels.remove(1);
            program.with("gemm", |gemm| (gemm.name, gemm.mean_ns) = ("triton_gemm_softmax", 150e3))
        },
        "gemm",
    );
    assert_eq!(fused["verdict"], "faster");
    assert_eq!(fused["match"], "place");
}

/// All GPU work of h100_mfu_2gpu starts later: what lies between two operations doubles.
fn with_twice_the_idle_time(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    let mut ops: Vec<(i64, i64, &str, i64, i64)> = Vec::new();
    for table in
        ["CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"]
    {
        let sql = format!("SELECT start, end, rowid, deviceId FROM {table}");
        let mut statement = connection.prepare(&sql)?;
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, table, row.get(2)?, row.get(3)?)))?;
        ops.extend(rows.map(Result::unwrap));
    }
    ops.sort_unstable();
    connection.execute_batch("BEGIN")?;
    for device in [0i64, 1] {
        let (mut reached, mut shift) = (None::<i64>, 0i64);
        for (start, end, table, row, _) in ops.iter().filter(|op| op.4 == device) {
            shift += reached.map_or(0, |reached| (start - reached).max(0));
            reached = Some(reached.map_or(*end, |reached| reached.max(*end)));
            let sql = format!("UPDATE {table} SET start = start + ?1, end = end + ?1 WHERE rowid = ?2");
            connection.execute(&sql, (shift, row))?;
        }
    }
    connection.execute_batch("COMMIT")
}

#[test]
fn twice_the_idle_time_of_a_real_report_is_seen() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let before = shared.join("data/exports/cestwc_9k_2025.5.sqlite");
    let after = folder.path().join("after.sqlite");
    std::fs::copy(&before, &after).unwrap();
    with_twice_the_idle_time(&after).unwrap();
    let (before, after) = (before.to_str().unwrap(), after.to_str().unwrap());
    let idle = whole(before, after, "idle");
    assert_eq!(idle["verdict"], "more", "{idle:?}");
    assert!((real(&idle, "change_pct") - 100.0).abs() < 0.1, "{idle:?}");
    assert_eq!(whole(before, after, "compute")["verdict"], "within noise");
    assert_eq!(whole(after, before, "idle")["verdict"], "less");
}

/// The two traces of Holistic Trace Analysis's own diff example.
#[test]
fn unlike_sides_are_compared_and_named() {
    let Some(shared) = shared() else { return };
    let torch =
        |name: &str| shared.join(format!("data/torch/{name}.json.gz")).to_str().unwrap().to_owned();
    let text = stdout(&["diff", &torch("hta_diff_control"), &torch("hta_diff_test")]);
    assert!(text.contains("Verdict:") && text.contains("PyTorch trace"), "{text}");
    let example = project("fixtures/example.sqlite");
    let text = stdout(&["diff", &torch("hta_diff_control"), example.to_str().unwrap()]);
    assert!(text.contains("one report is a PyTorch trace, the other an nsys export"), "{text}");
    assert!(text.contains("the reports ran on different GPUs"), "{text}");
}

#[test]
fn several_runs_a_side_show_the_spread_between_runs() {
    let folder = tempfile::tempdir().unwrap();
    // The clocks of the runs differ by 3 %, far more than the noise within a run.
    let side = |name: &str, clocks: [f64; 3], seed: u64| -> Vec<String> {
        let run = |(place, clock): (usize, f64)| {
            let program = Program { clock, ..Program::training(seed + place as u64) };
            program.write(folder.path(), &format!("{name}{place}"))
        };
        clocks.into_iter().enumerate().map(run).collect()
    };
    let a = side("a", [0.97, 1.0, 1.03], 10);
    let b = side("b", [0.98, 1.01, 1.03], 20);
    assert_eq!(
        outcome(&["diff", &a[0], &b[2], "--gate", "1"]).0,
        1,
        "one run each knows nothing of clocks"
    );
    let both = |a: &[String], b: &[String], more: &[&str]| {
        let a = a.iter().map(String::as_str);
        let words =
            ["diff", "--a"].into_iter().chain(a).chain(["--b"]).chain(b.iter().map(String::as_str));
        words.chain(more.iter().copied()).map(str::to_owned).collect::<Vec<_>>()
    };
    let ask = |words: &[String]| outcome(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let (code, text, _) = ask(&both(&a, &b, &["--gate", "1"]));
    assert!(code == 4 && text.contains("No difference beyond noise"), "{text}");
    assert!(text.contains("runs a side would be enough"), "{text}");
    // Quoted patterns stand for the files that they match.
    let pattern = |name: &str| folder.path().join(format!("{name}[0-2].sqlite")).display().to_string();
    let by_pattern = ask(&both(&[pattern("a")], &[pattern("b")], &["--gate", "1"]));
    assert_eq!((by_pattern.0, by_pattern.1), (code, text));
    let slower = side("slower", [1.27, 1.30, 1.33], 30);
    let (code, text, _) = ask(&both(&a, &slower, &["--gate", "5"]));
    assert!(code == 1 && text.contains("B is slower"), "{text}");
    // Welch's test by hand, on the means of the runs.
    let (_, csv, _) = ask(&both(&a, &slower, &["--section", "kernels", "--format", "csv"]));
    let rows = rows(&csv);
    let gemm = of(&rows, "kernels", "gemm");
    let mean = |path: &String| {
        let csv = stdout(&["run", path, "-q", "kernel_stats", "--steady", "--format", "csv"]);
        real(of_name(&super::rows(&csv), "gemm_128x128_tn"), "mean_ns")
    };
    let (x, y) = (a.iter().map(mean).collect::<Vec<_>>(), slower.iter().map(mean).collect::<Vec<_>>());
    let moments = |values: &[f64]| {
        let center = super::mean(values);
        let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
        (center, squares / 2.0 / 3.0)
    };
    let ((mean_a, of_a), (mean_b, of_b)) = (moments(&x), moments(&y));
    let freedom = (of_a + of_b).powi(2) / (of_a * of_a / 2.0 + of_b * of_b / 2.0);
    // Three kernels share the 1 % of errors.
    let bound = nsq::statistics::student_bound(1.0 - 0.01 / 3.0, freedom) * (of_a + of_b).sqrt();
    assert!(
        (real(gemm, "cost_change_pct") - 100.0 * (mean_b - mean_a) / mean_a).abs() < 1e-6,
        "{gemm:?}"
    );
    assert!(
        (real(gemm, "noise_pct") - 100.0 * bound / mean_a).abs() < 1e-6,
        "{gemm:?}, by hand {bound}"
    );
}

fn of_name<'r>(rows: &'r [Row], name: &str) -> &'r Row {
    rows.iter().find(|row| row.values().any(|value| value == name)).unwrap()
}
