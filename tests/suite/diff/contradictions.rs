//! What a gate must not say, each with its output and its exit code.
//!
//! Copies of a report as runs (`gate::copies_are_no_runs`), a missing file with the code of a regression
//! (`gate::a_report_that_cannot_be_read_is_no_regression`), annotations after the JSON
//! (`gate::machine_formats_stay_clean_under_github`), templates as names in JUnit
//! (`gate::names_of_junit_are_short_and_different`) and graphs as another GPU
//! (`gate::an_eager_program_is_compared_with_its_graph`) are there. Here are a slowdown below the noise that passes, a heading
//! that denies the gate below it, and regressions that read backwards.

use super::program::Program;
use crate::support::{nsq, outcome, shared};
use serde_json::Value;
use std::path::Path;

fn table(json: &str, name: &str) -> Vec<Value> {
    let json: Value = serde_json::from_str(json).unwrap();
    let table = json.as_array().unwrap().iter().find(|table| table["table"] == name).unwrap();
    table["rows"].as_array().unwrap().clone()
}

/// Everything that says whether B may pass: the exit code, and the words of the heading, the gate, JSON, JUnit and GitHub.
fn said(folder: &Path, a: &str, b: &str, more: &[&str]) -> (i32, String) {
    let (junit, outputs) = (folder.join("gate.xml"), folder.join("outputs"));
    let _ = std::fs::remove_file(&outputs);
    let words = [&["diff", a, b, "--github", "--junit", junit.to_str().unwrap()], more].concat();
    let output = nsq().args(&words).env("GITHUB_OUTPUT", &outputs).output().unwrap();
    let code = output.status.code().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let word = match code {
        0 => "passed",
        1 => "failed",
        4 => "inconclusive",
        _ => panic!("{error}"),
    };
    let all = format!("{text}{error}");
    let gate = text.lines().find(|line| line.starts_with("Gate at ")).unwrap();
    assert!(gate.contains(&format!(": {word}.")), "{all}");
    let heading = text.lines().find(|line| line.starts_with("Verdict: ")).unwrap();
    let denies =
        ["No difference", "B is faster", "may be noise"].iter().any(|words| heading.contains(words));
    assert!(code != 1 || !denies, "{all}");
    assert_eq!(text.contains("regression: "), code == 1, "{all}");
    let (_, json, _) = outcome(&[&["diff", a, b, "-f", "json"], more].concat());
    assert_eq!(table(&json, "verdict")[0]["outcome"], word, "{all}");
    let xml = std::fs::read_to_string(&junit).unwrap();
    assert_eq!((xml.contains("<failure "), xml.contains("<skipped ")), (code == 1, code == 4), "{xml}");
    let outputs = std::fs::read_to_string(&outputs).unwrap();
    assert!(outputs.contains(&format!("outcome={word}\n")), "{outputs}");
    assert_eq!(error.contains("::error "), code == 1, "{all}");
    assert_eq!(error.contains("::warning title=nsq: inconclusive"), code == 4, "{all}");
    (code, all)
}

/// A run whose steps vary by so much that a tenth cannot be seen.
fn noisy(seed: u64) -> Program {
    Program { steps: 12, drift: (0.15, 1.0), ..Program::training(seed) }
}

#[test]
fn a_slowdown_below_its_noise_does_not_pass() {
    let folder = tempfile::tempdir().unwrap();
    let a = noisy(1).write(folder.path(), "a");
    let b = noisy(2).slower(0.15).write(folder.path(), "b");
    let (code, all) = said(folder.path(), &a, &b, &["--gate", "5"]);
    assert!(code == 4 && all.contains("inconclusive. Changes below "), "{all}");
    assert!(
        all.contains(" steps would be enough") || all.contains("give more runs with --a and --b"),
        "{all}"
    );
    // The pair in which it was seen: its steps differ by less than a percent, its start-up does not count.
    let Some(shared) = shared() else { return };
    let export = |name: &str| shared.join(format!("data/exports/{name}.sqlite")).display().to_string();
    let (a, b) = (export("a100_gpt2.7b_nvtx"), export("a100_gpt2.7b_2024.6.2"));
    let (code, all) = said(folder.path(), &a, &b, &["--gate", "5"]);
    assert!(code == 0 && all.contains("can be detected."), "{all}");
    assert_eq!(said(folder.path(), &a, &b, &["--gate", "0.3"]).0, 4);
}

#[test]
fn no_heading_denies_its_gate() {
    let folder = tempfile::tempdir().unwrap();
    let a = noisy(1).write(folder.path(), "a");
    let softmax = |seed: u64| noisy(seed).with("softmax", |softmax| softmax.mean_ns *= 3.0);
    let b = softmax(2).slower(-0.15).write(folder.path(), "b");
    let long = |seed: u64| Program { steps: 40, ..noisy(seed) };
    let quick = long(4).write(folder.path(), "quick");
    let slow = long(3).slower(2.0).write(folder.path(), "slow");
    // The whole is within noise, and a part is slower beyond doubt.
    let (code, all) = said(folder.path(), &a, &b, &["--gate", "5", "--gate-parts"]);
    assert!(code == 1 && all.contains("Verdict: Parts of B are slower, and the whole is "), "{all}");
    assert_eq!(said(folder.path(), &quick, &slow, &["--gate", "5"]).0, 1);
    assert_eq!(said(folder.path(), &slow, &quick, &["--gate", "5"]).0, 0);
    assert_eq!(said(folder.path(), &quick, &slow, &["--gate", "500"]).0, 0);
}

/// More calls that are each shorter: their means fall, and what the verdict compares rises. The line shows the latter.
#[test]
fn regressions_read_forwards() {
    let folder = tempfile::tempdir().unwrap();
    let a = Program::training(1).write(folder.path(), "a");
    let more = Program::training(2).with("gemm", |gemm| {
        (gemm.count, gemm.mean_ns, gemm.shape) = (24, 100e3, (132, 256));
    });
    let b = more.write(folder.path(), "b");
    let words = ["diff", &a, &b, "--gate", "5", "--gate-parts", "-f", "json"];
    let (code, json, error) = outcome(&words);
    assert_eq!(code, 1, "{error}");
    let regressions = table(&json, "regressions");
    assert!(regressions.iter().any(|row| row["what"] == "kernels"), "{json}");
    for row in &regressions {
        let number = |column: &str| row[column].as_f64().unwrap();
        let change = 100.0 * (number("b_ns") - number("a_ns")) / number("a_ns");
        assert!(
            number("b_ns") > number("a_ns") && (change - number("change_pct")).abs() < 0.01,
            "{row}"
        );
    }
    let (_, text, _) = outcome(&words[..6]);
    let line = text.lines().find(|line| line.contains("regression: kernels")).unwrap();
    assert!(line.contains("1.60 ms → 2.40 ms (+49.9 %"), "{line}");
}
