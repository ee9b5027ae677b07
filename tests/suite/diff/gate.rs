//! The gate: one verdict in words, in the exit code, and in the files of CI systems.

use super::program::Program;
use crate::support::{nsq, outcome, project, shared, write_program};
use flate2::read::GzDecoder;
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// Three runs of a side, written into a folder.
fn runs(folder: &Path, side: &str, seed: u64, cost: f64) -> Vec<String> {
    let run = |place: u64| {
        let program = Program { steps: 40, ..Program::training(seed + place) };
        let program = program.with("gemm", |gemm| gemm.mean_ns *= cost);
        program.write(folder, &format!("{side}-{}", place + 1))
    };
    (0..3).map(run).collect()
}

fn compared(a: &[String], b: &[String], more: &[&str]) -> (i32, String, String) {
    let words = |runs: &[String]| runs.iter().map(String::as_str).collect::<Vec<&str>>().join("\n");
    let (a, b) = (words(a), words(b));
    let mut all = vec!["diff", "--a"];
    all.extend(a.lines());
    all.push("--b");
    all.extend(b.lines());
    all.extend(more);
    outcome(&all)
}

#[test]
fn what_noise_hides_is_inconclusive() {
    let Some(shared) = shared() else { return };
    let export = |name: &str| shared.join(format!("data/exports/{name}.sqlite")).display().to_string();
    let whole = export("h100_mfu_2gpu_before");
    let (code, out, error) =
        outcome(&["diff", &whole, &export("windows_rtx5000ada_2026.2"), "--gate", "5"]);
    assert_eq!(code, 4, "{out}");
    assert!(
        out.contains("Verdict: Cannot tell.") && out.contains("Gate at 5.0 %: inconclusive."),
        "{out}"
    );
    assert!(!out.contains("regression:") && error.contains("gate: inconclusive"), "{out}{error}");
    // Two captures of one program differ in start-up, by more than in their steps.
    let (a, b) = (export("a100_gpt2.7b_nvtx"), export("a100_gpt2.7b_2024.6.2"));
    let (code, out, _) = outcome(&["diff", &a, &b, "--gate", "5"]);
    assert!(code == 0 && out.contains("can be detected"), "{out}");
    let uploads = out.lines().find(|line| line.starts_with("uploads")).unwrap();
    assert!(uploads.ends_with("+1.30 s") && out.contains("(not judged)"), "{out}");
    let (code, out, _) = outcome(&["diff", &a, &b, "--gate", "0.3"]);
    assert!(code == 4 && out.contains("cannot be detected"), "{out}");
}

#[test]
fn heading_gate_and_code_are_one_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let a = runs(folder.path(), "a", 10, 1.0);
    let b = runs(folder.path(), "b", 20, 1.1);
    // (limit, more options, exit code, words of the heading, word of the gate)
    let cases: [(&str, &[&str], i32, &str, &str); 4] = [
        ("5", &[], 1, "B is slower.", "failed"),
        ("15", &[], 0, "B is slower.", "passed"),
        ("0.01", &[], 1, "B is slower.", "failed"),
        ("9.5", &["--gate-parts"], 1, "B is slower.", "failed"),
    ];
    for (limit, more, code, heading, gate) in cases {
        let more = [&["--gate", limit], more].concat();
        let (got, out, error) = compared(&a, &b, &more);
        assert_eq!(got, code, "{limit}: {out}");
        assert!(out.contains(heading) && out.contains(&format!(": {gate}.")), "{limit}: {out}");
        assert_eq!(error.contains("gate: failed"), code == 1, "{limit}: {error}");
        let (_, json, _) = compared(&a, &b, &[&more[..], &["-f", "json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json[0]["page_facts"]["outcome"], gate, "{limit}");
    }
    // A part that is slower is told, and does not contradict the whole.
    // No runs show that nothing is slower, and any slowdown beyond noise fails.
    let same = runs(folder.path(), "same", 30, 1.0);
    let (code, out, error) = compared(&a, &same, &["--gate", "0"]);
    assert!(code == 4 && out.contains("inconclusive. No runs can show"), "{out}{error}");
    assert_eq!((compared(&a, &b, &["--gate", "0"]).0, compared(&b, &a, &["--gate", "0"]).0), (1, 0));
    let parts = compared(&a, &b, &["--gate", "9.5"]);
    assert!(parts.0 == 0 && parts.1.contains("slower part: kernels `gemm_128x128_tn`"), "{}", parts.1);
}

/// A capture of the project, unpacked into a folder.
fn unpacked(group: &str, name: &str, into: &Path) -> String {
    let path = into.join(format!("{name}.sqlite"));
    let packed = File::open(project(&format!("fixtures/{group}/{name}.sqlite.gz"))).unwrap();
    std::io::copy(&mut GzDecoder::new(packed), &mut File::create(&path).unwrap()).unwrap();
    path.display().to_string()
}

/// What happens once does not decide, and what happens in most runs does.
#[test]
fn a_stall_decides_if_it_comes_again() {
    let folder = tempfile::tempdir().unwrap();
    let runs = |side: &str, seed: u64, stalls: [usize; 3]| -> Vec<String> {
        let run = |(place, stalls_at): (usize, usize)| {
            let program = Program { steps: 40, stalls_at, ..Program::training(seed + place as u64) };
            program.write(folder.path(), &format!("{side}-{place}"))
        };
        stalls.into_iter().enumerate().map(run).collect()
    };
    let a = runs("a", 10, [0, 0, 0]);
    let (code, out, error) = compared(&a, &runs("once", 20, [0, 20, 0]), &["--gate", "5"]);
    assert!(code == 0 && out.contains("without 7 in a stall (up to "), "{out}{error}");
    // Of most runs they count, and then these are too few to tell.
    for (name, stalls) in [("twice", [12, 20, 0]), ("always", [12, 20, 28])] {
        let b = runs(name, 20, stalls);
        let (code, out, error) = compared(&a, &b, &["--gate", "5"]);
        assert!(code == 4 && !out.contains("in a stall"), "{out}{error}");
        let (_, json, _) = compared(&a, &b, &["-f", "json"]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let causes = json.as_array().unwrap().iter().find(|table| table["table"] == "causes").unwrap();
        let first = &causes["rows"][0];
        assert!(first["cause"] == "stalls" && first["change_pct"].as_f64() > Some(90.0), "{causes}");
    }
}

/// One of these processes of the same program stalled: steps of up to 9 ms instead of 1.4.
#[test]
fn a_stall_of_a_real_machine_does_not_decide() {
    let folder = tempfile::tempdir().unwrap();
    let unpack = |name: &&str| unpacked("noise", name, folder.path());
    let sides = [["base.1", "base.12", "base.2"], ["base.3", "base.range.1", "base.range.2"]];
    let [a, b] = sides.map(|names| names.iter().map(unpack).collect::<Vec<_>>());
    let (code, out, error) = compared(&a, &b, &["--gate", "5"]);
    assert!(code == 0 && out.contains("without 14 in a stall (up to 9.12 ms)"), "{out}{error}");
}

/// The same upload from pinned memory, ahead of its step: 8.43 ms became 2.07 by the program's clock.
#[test]
fn a_copy_from_other_memory_is_the_same_work() {
    let folder = tempfile::tempdir().unwrap();
    let unpack = |name: &str| unpacked("pairs", name, folder.path());
    let (code, out, error) = outcome(&["diff", &unpack("2.before"), &unpack("2.after"), "--gate", "5"]);
    assert!(code == 0 && out.contains("B is faster. A step takes 2.26 ms in B"), "{out}{error}");
    let copies = out.lines().find(|line| line.contains("memcpy Host-to-Device],…able")).unwrap();
    assert!(copies.starts_with("faster") && copies.contains(" → `[CUDA memcpy"), "{copies}");
}

#[test]
fn copies_are_no_runs() {
    let folder = tempfile::tempdir().unwrap();
    let a = runs(folder.path(), "a", 10, 1.0);
    let copy = folder.path().join("copy.sqlite").display().to_string();
    std::fs::copy(&a[0], &copy).unwrap();
    let (code, _, error) = compared(&[a[0].clone(), copy.clone()], &a[1..], &["--gate", "5"]);
    assert!(code == 2 && error.contains("are the same report"), "{error}");
    let (code, _, error) = compared(&a[..1], &[a[1].clone(), a[1].clone()], &[]);
    assert!(code == 2 && error.contains("are the same report"), "{error}");
    // Another export of the same run, and its baseline, are copies too.
    let other = folder.path().join("other.sqlite").display().to_string();
    rusqlite::Connection::open(&a[0]).unwrap().execute("VACUUM INTO ?1", [&other]).unwrap();
    assert_ne!(std::fs::read(&a[0]).unwrap(), std::fs::read(&other).unwrap());
    let (code, _, error) = compared(&[a[0].clone(), other.clone()], &a[1..], &["--gate", "5"]);
    assert!(code == 2 && error.contains("are the same run"), "{error}");
    let with_baseline = |words: &[&str]| {
        let output = nsq().env("NSQ_BASELINES", folder.path()).args(words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(with_baseline(&["diff", "baseline", "save", "main", &a[0]]).0, Some(0));
    let (code, error) = with_baseline(&["diff", "--a", "@main", &a[0], "--b", &a[1], &a[2]]);
    assert!(code == Some(2) && error.contains("are the same run"), "{error}");
    // A run of both sides is no copy, and hides a change.
    let (code, out, _) = compared(&a[..2], &[other.clone(), a[2].clone()], &[]);
    assert!(
        code == 0 && out.contains("`other.sqlite` of B is the same run as `a-1.sqlite` of A"),
        "{out}"
    );
    // A report with itself passes, and is asked about.
    let (code, out, _) = outcome(&["diff", &a[0], &copy, "--gate", "1"]);
    assert!(code == 0 && out.contains("is it one run, given twice?"), "{out}");
    // What the noise would hide is not said to be found.
    let (_, out, _) = outcome(&["diff", &a[0], &copy, "--gate", "0.001"]);
    assert!(out.contains("passed.") && !out.contains("can be detected"), "{out}");
}

#[test]
fn rows_show_what_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let a = runs(folder.path(), "a", 10, 1.0);
    let b = runs(folder.path(), "b", 20, 1.1);
    let (_, csv, _) = compared(&a, &b, &["-f", "csv"]);
    let rows = super::rows(&csv);
    let kernels: Vec<_> = rows.iter().filter(|row| row["section"] == "kernels").collect();
    for row in &kernels {
        let (a, b) = (super::real(row, "cost_a_ns"), super::real(row, "cost_b_ns"));
        let change = 100.0 * (b - a) / a;
        assert!((change - super::real(row, "cost_change_pct")).abs() < 0.01, "{row:?}");
    }
    // Kernels that run one after the other add up to the change of the step, but for the copies and gaps.
    let sum: f64 = kernels.iter().map(|row| super::real(row, "step_pct")).sum();
    let (_, json, _) = compared(&a, &b, &["-f", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let tables = json.as_array().unwrap();
    let whole = tables.iter().find(|table| table["query"] == "diff_whole").unwrap();
    let change = whole["rows"][0]["change_pct"].as_f64().unwrap();
    assert!((sum - change).abs() < 0.5, "{sum} and {change}");
}

#[test]
fn a_report_that_cannot_be_read_is_no_regression() {
    let folder = tempfile::tempdir().unwrap();
    let a = runs(folder.path(), "a", 10, 1.0);
    let broken = folder.path().join("broken.sqlite");
    std::fs::write(&broken, "SQLite format 3\0 and nothing else").unwrap();
    for other in ["missing.sqlite", broken.to_str().unwrap()] {
        let (code, _, error) = outcome(&["diff", &a[0], other, "--gate", "5"]);
        assert!(code == 5 && error.starts_with("error: "), "{code} {error}");
        // An outcome of before does not stay where a CI looks for it.
        let (junit, outputs) = (folder.path().join("gate.xml"), folder.path().join("outputs"));
        std::fs::write(&junit, "<testsuites/>").unwrap();
        let asked = Command::new(env!("CARGO_BIN_EXE_nsq"))
            .args(["diff", &a[0], other, "--gate", "5", "--github", "--junit", junit.to_str().unwrap()])
            .env("GITHUB_OUTPUT", &outputs)
            .env_remove("GITHUB_STEP_SUMMARY")
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&asked.stderr).into_owned();
        assert_eq!(asked.status.code(), Some(5), "{error}");
        assert!(error.contains("::error title=nsq: not compared::"), "{error}");
        super::machine::junit(&std::fs::read_to_string(&junit).unwrap());
        assert!(std::fs::read_to_string(&junit).unwrap().contains("<error message="));
        assert_eq!(std::fs::read_to_string(&outputs).unwrap(), "outcome=error\n");
        std::fs::remove_file(&outputs).unwrap();
    }
    assert_eq!(outcome(&["diff", &a[0], &a[1], "--gate", "minus"]).0, 2);
}

#[test]
fn machine_formats_stay_clean_under_github() {
    let folder = tempfile::tempdir().unwrap();
    let a = runs(folder.path(), "a", 10, 1.0);
    for (cost, outcome, code) in [(1.1, "failed", 1), (1.0, "passed", 0)] {
        let b = runs(folder.path(), "b", 20, cost);
        let (summary, outputs) = (folder.path().join("summary"), folder.path().join("outputs"));
        std::fs::write(&outputs, "before=1\n").unwrap();
        let mut command = nsq();
        command.args(["diff", "--a"]).args(&a).arg("--b").args(&b);
        command.args(["--gate", "5", "--github", "-f", "json"]);
        command.env("GITHUB_STEP_SUMMARY", &summary).env("GITHUB_OUTPUT", &outputs);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(
            serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok(),
            "JSON, and nothing else"
        );
        let error = String::from_utf8(output.stderr).unwrap();
        let annotation =
            if code == 1 { "::error title=nsq: slower::step" } else { "::notice title=nsq: passed::" };
        assert!(error.contains(annotation), "{error}");
        let outputs = std::fs::read_to_string(&outputs).unwrap();
        assert!(outputs.starts_with(&format!("before=1\noutcome={outcome}\n")), "{outputs}");
        assert!(std::fs::read_to_string(&summary).unwrap().contains("**"), "the comparison as Markdown");
        std::fs::remove_file(&summary).unwrap();
        b.iter().for_each(|run| std::fs::remove_file(run).unwrap());
    }
}

#[test]
fn names_of_junit_are_short_and_different() {
    let folder = tempfile::tempdir().unwrap();
    let junit = folder.path().join("gate.xml");
    let program = |seed: u64, cost: f64| {
        let mut program = Program::training(seed);
        let long = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, \
             std::array<char *, (unsigned long)3>>(int, T2, T3)";
        let other = "void at::native::vectorized_elementwise_kernel<(int)8, at::native::CUDAFunctor_add<float>, \
             std::array<char *, (unsigned long)3>>(int, T2, T3)";
        for name in [long, other] {
            program.kernels.push(super::program::Kernel {
                range: "forward",
                ..super::program::kernel(name, 4, 80.0 * cost)
            });
        }
        program.write(folder.path(), &format!("p{seed}"))
    };
    let (a, b) = (program(1, 1.0), program(2, 1.5));
    let words = ["diff", &a, &b, "--gate", "3", "--gate-parts", "--junit", junit.to_str().unwrap()];
    assert_eq!(outcome(&words).0, 1);
    let xml = std::fs::read_to_string(&junit).unwrap();
    let names: Vec<&str> =
        xml.split(" name=\"").skip(2).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(names.len() >= 3, "{xml}");
    let different: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!(different.len(), names.len(), "{xml}");
    assert!(names.iter().all(|name| name.chars().count() <= 120 && !name.contains("&#10;")), "{xml}");
    let count = |what: &str| xml.matches(what).count().to_string();
    assert!(xml.contains(&format!("failures=\"{}\"", count("<failure "))), "{xml}");
    assert!(xml.contains(&format!("tests=\"{}\"", count("<testcase "))), "{xml}");
}

#[test]
fn an_eager_program_is_compared_with_its_graph() {
    let Some(shared) = shared() else { return };
    let export = |name: &str| shared.join(format!("data/exports/{name}.sqlite")).display().to_string();
    let (eager, graph) = (export("a100_gpt2.7b_nvtx"), export("a100_cudagraph_graphtrace"));
    let (code, out, _) = outcome(&["diff", &eager, &graph, "--gate", "5"]);
    assert!(
        code == 0 && out.contains("B is faster. A step takes 781.08 ms in B and 841.52 ms in A"),
        "{out}"
    );
    assert!(out.contains("those of B are in CUDA graphs") && !out.contains("different GPUs"), "{out}");
    assert_eq!(outcome(&["diff", &graph, &eager, "--gate", "5"]).0, 1);
    // Kernels that one side does not show are no slower part, and fail no gate.
    let (code, out, _) = outcome(&["diff", &graph, &eager, "--gate", "50", "--gate-parts"]);
    assert!(code == 0 && !out.contains("slower part") && !out.contains("regression"), "{out}");
    let (_, csv, _) = outcome(&["diff", &graph, &eager, "--section", "kernels", "-f", "csv"]);
    let rows = super::rows(&csv);
    let in_graphs = |row: &super::Row| row["verdict"] == "cannot tell" && row["reason"] == "in graphs";
    assert!(!rows.is_empty() && rows.iter().all(in_graphs), "{csv}");
}

#[test]
fn a_baseline_is_known_by_its_file_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let a = runs(folder.path(), "a", 10, 1.0);
    let ask = |words: &[&str]| {
        let output = nsq().env("NSQ_BASELINES", folder.path()).args(words).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(ask(&["baseline", "save", "main", &a[0]]).0, 0);
    let (code, error) = ask(&["baseline", "save", "main", &a[1]]);
    assert!(code == 2 && error.contains("--force"), "{error}");
    assert_eq!(ask(&["baseline", "save", "main", &a[1], "--force"]).0, 0);
    let file = folder.path().join("main.json");
    assert_eq!(outcome(&["diff", file.to_str().unwrap(), &a[2], "--gate", "20"]).0, 0);
    // The name of its file names it in any folder.
    for name in ["main", "ci/main.json"] {
        let (code, error) = ask(&["diff", name, &a[2], "--gate", "20"]);
        assert!(code == 5 && error.contains("give @main"), "{error}");
    }
    // A part of a report is no match for the whole, nor are steps of another name; the warm-up is not compared.
    for more in [&["--nvtx", "forward"][..], &["--iter", "stpe"], &["--stream", "7"]] {
        let (code, error) = ask(&[&["diff", "@main", &a[2], "--gate", "20"], more].concat());
        assert!(code == 2 && error.contains("without options that narrow"), "{error}");
    }
    let said = "@main was saved without --steady: steps are compared";
    let (code, error) = ask(&["diff", "@main", &a[2], "--gate", "20", "--steady"]);
    assert!(code == 0 && error.contains(said), "{error}");
    assert!(!ask(&["diff", "@main", &a[2]]).1.contains("--steady"));
    assert_eq!(ask(&["baseline", "save", "forward", &a[1], "--nvtx", "forward"]).0, 0);
    assert_eq!(ask(&["diff", "@forward", &a[2]]).0, 2);
    assert_eq!(ask(&["diff", "@forward", &a[2], "--nvtx", "forward"]).0, 0);
}

/// A folder with a git repository of two branches, and an `nsys` that writes the prepared captures of each.
fn runner(folder: &Path, cost: f64) -> std::path::PathBuf {
    let prepared = folder.join("prepared");
    std::fs::create_dir(&prepared).unwrap();
    runs(&prepared, "base", 10, 1.0);
    runs(&prepared, "new", 20, cost);
    let tools = folder.join("tools");
    std::fs::create_dir(&tools).unwrap();
    let script = format!(
        "#!/bin/sh\nwhile [ \"$1\" != --output ]; do shift; done\ncp '{}'/$(basename \"$2\").sqlite \"$2.nsys-rep\"\n",
        prepared.display()
    );
    write_program(&tools.join("nsys"), script.as_bytes());
    write_program(&tools.join("gh"), b"#!/bin/sh\ncat \"$5\" > ../comment\n");
    std::os::unix::fs::symlink(assert_cmd::cargo::cargo_bin("nsq"), tools.join("nsq")).unwrap();
    let made = Command::new("bash")
        .args(["-ec", "git init -q -b main origin; cd origin; git config user.name n; git config user.email e; \
                       git commit -q --allow-empty -m a; git checkout -q -b change; git commit -q --allow-empty -m b; cd ..; \
                       git clone -q origin work"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    folder.join("work")
}

/// The lines of all blocks that a runner hands to a shell.
fn scripts(file: &str) -> String {
    let (mut scripts, mut inside) = (String::new(), None);
    for line in file.lines() {
        let indent = line.len() - line.trim_start().len();
        if inside.is_some_and(|outer| indent <= outer && !line.trim().is_empty()) {
            inside = None;
        }
        if inside.is_some() && line.trim() != "'''" {
            scripts += line.trim_start();
            scripts += "\n";
        }
        if line.trim() == "- |" || line.trim() == "run: |" || line.trim() == "sh '''" {
            inside = Some(indent);
        }
    }
    scripts
}

#[test]
fn files_of_ci_systems_pass_and_fail() {
    for system in ["github", "gitlab", "jenkins"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/folder/of.ci");
        assert_eq!(outcome(&["diff", "--init-ci", system, "-o", file.to_str().unwrap()]).0, 0);
        // What is there may hold other jobs.
        assert_eq!(outcome(&["diff", "--init-ci", system, "-o", file.to_str().unwrap()]).0, 2);
        let (code, file, _) = outcome(&["diff", "--init-ci", system, "--gate", "2.5"]);
        assert!(file.contains("2.5") && !file.contains("@LIMIT@"), "{file}");
        assert!(code == 0 && file.contains("nsq diff --a"), "{file}");
        for (cost, wanted) in [(1.1, 1), (1.0, 0)] {
            let folder = tempfile::tempdir().unwrap();
            let work = runner(folder.path(), cost);
            let path =
                format!("{}:{}", folder.path().join("tools").display(), std::env::var("PATH").unwrap());
            let ran = Command::new("bash")
                .args(["-e", "-c", &scripts(&file)])
                .current_dir(&work)
                .env("PATH", path)
                .envs([("SETUP", "true"), ("PROGRAM", "python train.py"), ("LIMIT", "5"), ("PULL", "7")])
                .envs([("GITHUB_BASE_REF", "main"), ("CHANGE_TARGET", "main")])
                .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", "origin/main")
                .envs(["GITHUB_WORKSPACE", "CI_PROJECT_DIR", "WORKSPACE"].map(|name| (name, &work)))
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert_eq!(ran.status.code(), Some(wanted), "{system}: {error}");
            let written = |name: &str| std::fs::read_to_string(work.join("gate").join(name)).unwrap();
            let verdict = if wanted == 1 { "B is slower." } else { "No difference beyond noise." };
            assert!(written("gate.md").contains(verdict), "{system}: {}", written("gate.md"));
            assert_eq!(written("gate.xml").contains("<failure "), wanted == 1, "{system}");
        }
    }
}
