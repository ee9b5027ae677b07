//! Steps that do other work: aligned by the sequence of their launches, with an account of what the change comes from.

use super::program::{Kernel, Program, kernel};
use super::{Row, real, rows};
use crate::support::{outcome, shared, shared_exports, stdout};
use serde_json::Value;
use std::path::Path;

/// A layer: a product, three small kernels and a softmax.
fn layers(seed: u64, parts: [&'static str; 5], means_us: [f64; 5]) -> Program {
    let layer = parts.iter().zip(means_us).filter(|(name, _)| !name.is_empty());
    let layer: Vec<Kernel> = layer.map(|(name, mean)| kernel(name, 1, mean)).collect();
    Program {
        kernels: layer.iter().cycle().take(6 * layer.len()).cloned().collect(),
        ..Program::training(seed)
    }
}

fn before(folder: &Path) -> String {
    layers(
        1,
        ["gemm_tn", "add_kernel", "mul_kernel", "gelu_kernel", "softmax_kernel"],
        [90.0, 9.0, 8.0, 10.0, 30.0],
    )
    .write(folder, "before")
}

/// The rows of a table of the page.
fn table(json: &str, name: &str) -> Vec<Value> {
    let json: Value = serde_json::from_str(json).unwrap();
    let table = json.as_array().unwrap().iter().find(|table| table["table"] == name).cloned();
    table.map_or(Vec::new(), |table| table["rows"].as_array().unwrap().clone())
}

/// What differs in the launches: what, names and launches.
fn differing(json: &str) -> Vec<String> {
    let rows = table(json, "replaced").into_iter().filter(|row| row["what"] != "same");
    rows.map(|row| {
        let names = |side: &str| row[side].as_str().unwrap_or("-").replace('\n', "+");
        let (a, b) = (names("name_a"), names("name_b"));
        format!("{} {a} {b} {} {}", row["what"].as_str().unwrap(), row["launches_a"], row["launches_b"])
    })
    .collect()
}

/// The fourth of six products is a tenth slower: what the sum over all six hides.
#[test]
fn one_launch_of_several_is_found_by_its_place_in_the_step() {
    let folder = tempfile::tempdir().unwrap();
    let parts = ["gemm_tn", "add_kernel", "mul_kernel", "gelu_kernel", "softmax_kernel"];
    let of = |seed: u64, slower: f64, name: &str| {
        let mut program = layers(seed, parts, [90.0, 9.0, 8.0, 10.0, 30.0]);
        program.kernels[3 * parts.len()].mean_ns *= slower;
        program.write(folder.path(), name)
    };
    let base: Vec<String> = (0..4).map(|n| of(n, 1.0, &format!("base{n}"))).collect();
    let slow: Vec<String> = (4..8).map(|n| of(n, 1.1, &format!("slow{n}"))).collect();
    let fast: Vec<String> = (8..12).map(|n| of(n, 1.0 / 1.1, &format!("fast{n}"))).collect();
    let spots = |a: &[String], b: &[String], format: &str| {
        let mut args = vec!["diff", "--a"];
        args.extend(a.iter().map(String::as_str));
        args.push("--b");
        args.extend(b.iter().map(String::as_str));
        args.extend(["-f", format]);
        stdout(&args)
    };
    for (b, verdict, change) in [(&slow, "slower", 10.0), (&fast, "faster", -9.1)] {
        let found = table(&spots(&base, b, "json"), "spots");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&found[0]["nth"], &found[0]["nth_count"]), (&4.into(), &6.into()));
        assert_eq!(
            (found[0]["name"].as_str(), found[0]["verdict"].as_str()),
            (Some("gemm_tn"), Some(verdict))
        );
        assert!((found[0]["change_pct"].as_f64().unwrap() - change).abs() < 1.5, "{found:?}");
        for format in ["text", "markdown", "html"] {
            let page = spots(&base, b, format);
            assert!(page.contains(&format!("{verdict}: launch 4 of 6 of")), "{format}: {page}");
        }
    }
    assert_eq!(table(&spots(&base[..2], &base[2..], "json"), "spots"), [] as [Value; 0]);
}

#[test]
fn what_was_fused_replaced_added_or_removed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let a = before(folder.path());
    let cases: [([&str; 5], &[&str]); 4] = [
        // Three kernels became one.
        (
            ["gemm_tn", "triton_fused", "", "", "softmax_kernel"],
            &["replaced add_kernel+gelu_kernel+mul_kernel triton_fused 18 6"],
        ),
        // Another library, whose names have nothing in common.
        (
            ["nvjet_hsh", "add_kernel", "mul_kernel", "gelu_kernel", "softmax_kernel"],
            &["replaced gemm_tn nvjet_hsh 6 6"],
        ),
        (["gemm_tn", "add_kernel", "", "gelu_kernel", "softmax_kernel"], &["removed mul_kernel - 6 0"]),
        (["gemm_tn", "add_kernel", "mul_kernel", "gelu_kernel", "softmax_kernel"], &[]),
    ];
    for (place, (parts, expected)) in cases.into_iter().enumerate() {
        let b =
            layers(2, parts, [90.0, 9.0, 8.0, 10.0, 30.0]).write(folder.path(), &format!("b{place}"));
        let json = stdout(&["diff", &a, &b, "-f", "json"]);
        assert_eq!(differing(&json), expected);
        // The other way round, what was removed is added.
        let other = differing(&stdout(&["diff", &b, &a, "-f", "json"]));
        assert_eq!(other.len(), expected.len());
        assert!(place != 2 || other == ["added - mul_kernel 0 6"], "{other:?}");
        // All rows add up to the time of all operations.
        let sum: i64 =
            table(&json, "replaced").iter().map(|row| row["change_ns"].as_i64().unwrap()).sum();
        assert!(place == 3 || sum.abs() > 1000, "{sum}");
    }
}

#[test]
fn kernels_of_one_place_are_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let a = before(folder.path());
    let b =
        layers(2, ["nvjet_hsh", "triton_fused", "", "", "softmax_kernel"], [60.0, 12.0, 0.0, 0.0, 30.0])
            .write(folder.path(), "b");
    let csv = stdout(&["diff", &a, &b, "-f", "csv"]);
    let rows: Vec<Row> = rows(&csv).into_iter().filter(|row| row["section"] == "kernels").collect();
    let row =
        |name: &str| rows.iter().find(|row| row["name_b"] == name).unwrap_or_else(|| panic!("{csv}"));
    let (gemm, fused) = (row("nvjet_hsh"), row("triton_fused"));
    assert_eq!((gemm["name_a"].as_str(), gemm["match"].as_str()), ("gemm_tn", "place"));
    assert_eq!((gemm["verdict"].as_str(), gemm["reason"].as_str()), ("faster", "replaced"));
    assert_eq!(fused["name_a"], "add_kernel\ngelu_kernel\nmul_kernel");
    assert_eq!(fused["verdict"], "faster");
    assert!((real(gemm, "cost_change_pct") + 33.3).abs() < 1.5, "{gemm:?}");
}

#[test]
fn causes_add_up_to_the_change_of_the_step() {
    let folder = tempfile::tempdir().unwrap();
    let training = |seed: u64| {
        let mut program = Program { is_ahead: true, ..Program::training(seed) };
        program.kernels.iter_mut().for_each(|kernel| kernel.range = "");
        program
    };
    let a = training(1).write(folder.path(), "a");
    let slower = training(2).with("softmax", |softmax| softmax.mean_ns *= 4.0);
    let b = Program { gap_ns: 12e3, ..slower }.write(folder.path(), "b");
    let json = stdout(&["diff", &a, &b, "-f", "json"]);
    let causes = table(&json, "causes");
    let sum: i64 = causes.iter().map(|row| row["change_ns"].as_i64().unwrap()).sum();
    let change = table(&json, "whole")[0]["change_ns"].as_i64().unwrap();
    assert_eq!(sum, change);
    let share: f64 = causes.iter().map(|row| row["change_pct"].as_f64().unwrap()).sum();
    assert!((share - 100.0).abs() < 1e-6, "{share}");
    // So do the kernels and waits behind the causes, and each row has its share.
    let explained = table(&json, "explained");
    let sum: i64 = explained.iter().map(|row| row["change_ns"].as_i64().unwrap()).sum();
    assert_eq!(sum, change);
    for row in &explained {
        let share = 100.0 * row["change_ns"].as_f64().unwrap() / change as f64;
        assert!((row["change_pct"].as_f64().unwrap() - share).abs() < 1e-9, "{row}");
    }
    let softmax = explained.iter().find(|row| row["name"] == "softmax").unwrap();
    assert_eq!(softmax["name_a"], "void softmax_kernel<float>(float *)");
    assert_eq!(softmax["name_a"], softmax["name_b"]);
    let cause = |name: &str| {
        let row = causes.iter().find(|row| row["name"] == name || row["cause"] == name);
        row.unwrap_or_else(|| panic!("{causes:?}"))["change_ns"].as_i64().unwrap()
    };
    // 8 x 60 us of softmax, and 10 us more between 21 operations.
    assert!((cause("softmax") - 480_000).abs() < 10_000, "{causes:?}");
    assert!((cause("waits") - 205_000).abs() < 10_000, "{causes:?}");
    let text = stdout(&["diff", &a, &b]);
    let line = text.lines().find(|line| line.starts_with("The step is ")).unwrap();
    assert!(
        line.contains("longer: +4") && line.contains(" in softmax, +2") && line.contains(" in waits"),
        "{line}"
    );
    assert!(text.contains("Where the change of the step comes from"), "{text}");
    // Nothing is explained where nothing changed.
    let same = training(3).write(folder.path(), "same");
    assert!(!stdout(&["diff", &a, &same]).contains("The step is "));
}

/// A kernel in the place of another is one row, also under another name; the rest of the change is that of the others.
#[test]
fn a_replaced_kernel_explains_the_change_in_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let ahead = |seed| Program { is_ahead: true, ..Program::training(seed) };
    let a = ahead(1).write(folder.path(), "a");
    let other = ahead(2).with("softmax", |softmax| {
        softmax.name = "fused_attention_fwd(float *, int)";
        softmax.mean_ns += 30e3;
    });
    let b = other.write(folder.path(), "b");
    let json = stdout(&["diff", &a, &b, "-f", "json"]);
    let explained = table(&json, "explained");
    let change = table(&json, "whole")[0]["change_ns"].as_i64().unwrap();
    let sum: i64 = explained.iter().map(|row| row["change_ns"].as_i64().unwrap()).sum();
    assert_eq!(sum, change);
    let row = &explained[0];
    assert_eq!(row["name_a"], "void softmax_kernel<float>(float *)", "{explained:?}");
    assert_eq!(row["name_b"], "fused_attention_fwd(float *, int)");
    assert!((row["change_ns"].as_i64().unwrap() - 240_000).abs() < 10_000, "{row}");
    assert!(row["change_pct"].as_f64().unwrap() > 80.0, "{row}");
    let text = stdout(&["diff", &a, &b]);
    assert!(text.contains("`softmax_kernel` → `fused_attention_fwd`"), "{text}");
}

#[test]
fn causes_of_real_captures_add_up() {
    let mut compared = 0;
    let Some(shared) = shared() else { return };
    let export = |name: &str| shared.join(format!("data/exports/{name}.sqlite")).display().to_string();
    let (eager, other) = (export("a100_gpt2.7b_nvtx"), export("a100_gpt2.7b_2024.6.2"));
    let graph = export("a100_cudagraph_graphtrace");
    let torch = |name: &str| shared.join(format!("data/torch/{name}.json.gz")).display().to_string();
    let pairs = [
        (eager.clone(), other),
        (eager, graph),
        (export("h100_2gpu_1s"), export("h100_mfu_2gpu_before")),
        (torch("hta_diff_control"), torch("hta_diff_test")),
    ];
    for (a, b) in &pairs {
        let json = stdout(&["diff", a, b, "-f", "json"]);
        let sum: i64 = table(&json, "causes").iter().map(|row| row["change_ns"].as_i64().unwrap()).sum();
        let whole = table(&json, "whole");
        assert_eq!(sum, whole[0]["change_ns"].as_i64().unwrap(), "{a} {b}");
        let explained = table(&json, "explained");
        let rows: i64 = explained.iter().map(|row| row["change_ns"].as_i64().unwrap()).sum();
        assert_eq!(rows, sum, "{a} {b}");
        let rest = explained.iter().filter(|row| row["cause"] == "unexplained");
        let rest: i64 = rest.map(|row| row["change_ns"].as_i64().unwrap().abs()).sum();
        println!("{a} {b}: {rest} ns of {sum} ns unexplained");
        let parts: i64 = whole[1..].iter().map(|row| row["change_ns"].as_i64().unwrap()).sum();
        assert!((parts - sum).abs() <= 2, "{a} {b}: {parts} and {sum}");
        compared += 1;
    }
    assert!(compared > 0 || shared_exports().is_empty());
}

#[test]
fn a_slower_clock_explains_a_slower_step() {
    let folder = tempfile::tempdir().unwrap();
    let clocked = |seed: u64, clock: f64| Program { has_clocks: true, clock, ..Program::training(seed) };
    let a = clocked(1, 1.0).write(folder.path(), "a");
    let b = clocked(2, 1.2).write(folder.path(), "b");
    let json = stdout(&["diff", &a, &b, "-f", "json"]);
    let clocks = table(&json, "clocks");
    let value = |column: &str| clocks[0][column].as_f64().unwrap();
    assert!((value("a_hz") - 1.98e9).abs() < 1e6 && (value("b_hz") - 1.65e9).abs() < 1e6, "{clocks:?}");
    // All of the longer compute time is explained.
    assert!((value("effect_ns") / value("compute_change_ns") - 1.0).abs() < 0.05, "{clocks:?}");
    let text = stdout(&["diff", &a, &b]);
    assert!(text.contains("the GPU clock was 1,980 MHz in A and 1,650 MHz in B (-16.7 %)"), "{text}");
    // Equal clocks are no news, and runs of one side that differ are.
    let same = clocked(3, 1.0).write(folder.path(), "same");
    assert!(!stdout(&["diff", &a, &same]).contains("clock was"));
    let (_, text, _) =
        outcome(&["diff", "--a", &a, &b, "--b", &same, &clocked(4, 1.0).write(folder.path(), "d")]);
    assert!(text.contains("the runs of A had different GPU clocks, by up to 20.0 %"), "{text}");
}

#[test]
fn runs_of_a_side_with_other_batches_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let batch = |seed: u64, blocks: i64| {
        let program = Program::training(seed).with("gemm", |gemm| gemm.shape.0 = blocks);
        program.write(folder.path(), &format!("run{seed}"))
    };
    let runs = [batch(1, 264), batch(2, 528), batch(3, 264), batch(4, 264)];
    let (_, text, _) = outcome(&["diff", "--a", &runs[0], &runs[1], "--b", &runs[2], &runs[3]]);
    assert!(
        text.contains("Note: the runs of A do different work: 5,280 to 7,392 thread blocks a step."),
        "{text}"
    );
    assert!(!text.contains("the runs of B do"), "{text}");
    // So are those of two sides, if they launch the same kernels.
    let of_two = |b: &str| outcome(&["diff", &runs[0], b]).1;
    let other = of_two(&runs[1]);
    assert!(
        other.contains(
            "the same kernels with 5,280 thread blocks in A and 7,392 in B. Was the batch the same?"
        ),
        "{other}"
    );
    assert!(!of_two(&runs[2]).contains("Was the batch"));
}
