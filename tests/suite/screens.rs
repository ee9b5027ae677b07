//! First screens of real captures: how long they are, that advice fits the GPU and the tool that recorded, and that their
//! sentences do not contradict each other.
//!
//! A quarter of them at a time, which takes 15 s on one core.

use crate::support::{project, say, shared, turn};
use crate::terminal::run_on_terminal;
use regex::{Captures, Regex};
use std::path::{Path, PathBuf};

/// The reports in a folder and its folders.
fn reports(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            reports(&path, found);
        } else if [".sqlite", ".sqlite.gz", ".json", ".json.gz"].iter().any(|end| name.ends_with(end))
            && !name.ends_with("truth.json")
        {
            found.push(path);
        }
    }
}

/// The first screen beside the report, on a terminal of 100 columns; `None` for a file that is no report.
fn screen(report: &Path) -> Option<String> {
    let name = report.file_name().unwrap().to_str().unwrap();
    let (code, screen) = run_on_terminal(report.parent().unwrap(), 100, &[name]);
    (code == Some(0)).then_some(screen)
}

/// What is wrong with a screen.
fn faults(name: &str, screen: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut refuse = |is_wrong: bool, fault: &str| {
        if is_wrong {
            faults.push(format!("{name}: {fault}"));
        }
    };
    refuse(screen.lines().count() > 40, "more than 40 lines");
    // Lines are broken at words.
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let (first, words) = words.split_at(words.find(" kernel").unwrap_or_default());
    let has = |word: &&str| words.contains(*word);
    if first.contains("AMD ") || first.contains("HIP ") {
        // `torch.cuda` is the name for both makers.
        let of_nvidia =
            ["DALI", "NCCL", "TF32", "cuDNN", "Nsight", "nsys", "ncu -", "CUDA graph", "nvidia.com"];
        let named = of_nvidia.iter().find(|word| has(word));
        refuse(named.is_some(), &format!("{} for a GPU of AMD", named.unwrap_or(&"")));
    }
    let before_ampere = ["P100", "V100", "Tesla T4", "TITAN V", "GTX 1", "RTX 20", "Quadro RTX"];
    if before_ampere.iter().any(|model| first.contains(model)) {
        refuse(has(&"TF32") || has(&"BF16"), "a type that the GPU does not have");
    }
    refuse(name.contains(".json") && has(&"nsys profile --py"), "options of nsys for a trace");
    if let Some((_, next)) = screen.split_once("\nNext\n") {
        let is_explained = next.contains("--explain 1");
        refuse(
            is_explained && !screen.contains("\n 1. "),
            "finding 1 is explained, and none has the number",
        );
    }
    for words in ["NaN", "inf ", "none ", " -0", "{{", "undefined"] {
        refuse(has(&words), words);
    }
    faults.extend(contradictions(screen).into_iter().map(|fault| format!("{name}: {fault}")));
    faults
}

/// A number and its unit.
const TIME: &str = r"(\d[\d,]*(?:\.\d+)?) (ns|µs|ms|s|min)\b";

fn pattern(text: &str) -> Regex {
    Regex::new(&text.replace("TIME", TIME)).unwrap()
}

/// The time in a group of a match, in ns.
fn ns(found: &Captures<'_>, group: usize) -> f64 {
    let number: f64 = found[group].replace(',', "").parse().unwrap();
    number
        * match &found[group + 1] {
            "ns" => 1.0,
            "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => 60e9,
        }
}

/// Sentences that cannot both be true, and those that cannot be true at all.
fn contradictions(screen: &str) -> Vec<String> {
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut faults = Vec::new();
    let mut refuse = |is_wrong: bool, fault: &str| {
        if is_wrong {
            faults.push(fault.to_owned());
        }
    };
    // Times are rounded to three or four digits.
    let is_more = |time: f64, than: f64| time > 1.005 * than;
    for found in pattern("TIME → TIME").captures_iter(&words) {
        refuse(is_more(ns(&found, 3), ns(&found, 1)), &format!("longer with a fix: {}", &found[0]));
    }
    for found in pattern(r"→ TIME(?: \([^)]*×\))?, at best TIME").captures_iter(&words) {
        refuse(is_more(ns(&found, 3), ns(&found, 1)), &format!("better than the best: {}", &found[0]));
    }
    if let Some(all) = pattern("With these fixes: (?:mean step )?TIME → TIME").captures(&words) {
        for one in pattern("After the fix(?:es)? above: TIME → TIME").captures_iter(&words) {
            refuse(is_more(ns(&all, 3), ns(&one, 3)), &format!("{}, but: {}", &all[0], &one[0]));
        }
        let work = pattern("With these fixes:[^.]*(?:\\.\\d[^.]*)*, TIME GPU work").captures(&words);
        let work = work.map_or(0.0, |found| ns(&found, 1));
        refuse(is_more(work, ns(&all, 3)), &format!("{}, but GPU work of {work} ns", &all[0]));
    }
    for found in pattern("Of the TIME that remain: (TIME GPU work.*?)\\.(?: |$)").captures_iter(&words) {
        // Of gaps, the length of each is told, too.
        let parts = pattern(r"\([^)]*\)").replace_all(&found[3], "").into_owned();
        let sum: f64 = pattern("TIME").captures_iter(&parts).map(|part| ns(&part, 1)).sum();
        refuse((sum / ns(&found, 1) - 1.0).abs() > 0.03, &format!("{sum} ns: {}", &found[0]));
    }
    if let Some(step) = pattern("(?:Mean|The) step: TIME →").captures(&words) {
        for place in pattern(r"% of these gaps, TIME\)").captures_iter(&words) {
            refuse(is_more(ns(&place, 1), ns(&step, 1)), &format!("{} {}", &step[0], &place[0]));
        }
    }
    let plural =
        pattern(r"(?:^|[^\d.,])1 (?:kernels|steps|GPUs|copies|ranks|processes|calls|ranges|gaps)\b");
    refuse(plural.is_match(&words), "one, and a plural");
    let has_steps =
        screen.lines().any(|line| line.starts_with("Steps") || line.starts_with("The only step"));
    refuse(screen.contains("No step repeats") && has_steps, "no step repeats, and steps");
    let of_steps = ["of the steps", "Mean step", "mean step"];
    refuse(
        !has_steps && of_steps.iter().any(|part| words.contains(part)),
        "figures of steps without steps",
    );
    // The parts of each GPU add up, and the verdict names the largest.
    let (bar, share) = (pattern(r"^GPU \d+ +[█▓▒·]{20} (.*)$"), pattern(r"([\d.]+) %"));
    let rows: Vec<Vec<f64>> = screen
        .lines()
        .filter_map(|line| Some(bar.captures(line)?[1].to_owned()))
        .filter(|shares| !shares.contains(['≥', '<', '>', 'u']))
        .map(|shares| share.captures_iter(&shares).map(|found| found[1].parse().unwrap()).collect())
        .collect();
    for shares in &rows {
        let sum: f64 = shares.iter().sum();
        refuse((sum - 100.0).abs() > 0.35, &format!("parts add up to {sum} %"));
    }
    let verdict = screen.lines().nth(1).unwrap_or_default();
    let others = ["Judged", "Not judged", "Warning", "Note", "Steps", "No step", "One step"];
    let is_missing = verdict.is_empty() || others.iter().any(|start| verdict.starts_with(start));
    refuse(!rows.is_empty() && is_missing, &format!("no verdict: {verdict}"));
    if let [shares] = &rows[..]
        && let [compute, communication, copies, idle] = shares[..]
    {
        let largest = shares.iter().copied().fold(0.0, f64::max);
        for (name, share) in [("Compute", compute), ("Communication", communication), ("Copy", copies)] {
            let is_named = verdict.starts_with(&format!("{name}-bound"));
            refuse(is_named && share < largest, &format!("{verdict} {shares:?}"));
        }
        let idles = pattern(r"GPU idles for ([\d.]+) %").captures(verdict);
        if let Some(told) = idles.map(|found| found[1].parse::<f64>().unwrap()) {
            let fits = (told - idle).abs() < 0.15 && idle >= communication.max(copies);
            refuse(!fits, &format!("{verdict} {shares:?}"));
        }
    }
    faults
}

#[test]
fn contradictions_are_found() {
    let bar = "GPU 0  ████████████▓▓▓▓▓▓··    60.0 %  30.0 %  0.0 %  10.0 %";
    let calm = format!(
        "r: 1 GPU\nCompute-bound: 2 kernels\n{bar}\nSteps\nMean step: 2 ms → 1.5 ms (1.3×), at best 1 ms."
    );
    assert_eq!(contradictions(&calm), Vec::<String>::new());
    for (right, wrong) in [
        ("2 ms → 1.5 ms", "2 µs → 1.5 ms"),
        ("best 1 ms", "best 1.6 ms"),
        (
            "best 1 ms.",
            "best 1 ms. After the fix above: 2 ms → 1.1 ms. With these fixes: 2 ms → 1.2 ms.",
        ),
        (
            "best 1 ms.",
            "best 1 ms. With these fixes: mean step 2.00 ms → 1.2 ms (1.7×), 1.5 ms GPU work.",
        ),
        ("2 kernels", "1 kernels"),
        ("Steps", "No steps"),
        ("30.0 %", "31.0 %"),
        ("Compute", "Copy"),
        ("Compute-bound:", "The GPU idles for 12.0 %,"),
        ("Compute-bound:", "Steps not detected:"),
    ] {
        let found = contradictions(&calm.replace(right, wrong));
        assert_eq!(found.len(), 1, "{wrong}: {found:?}");
    }
}

#[test]
fn first_screens_are_short_and_their_advice_fits() {
    let mut found = Vec::new();
    reports(&project("fixtures/real"), &mut found);
    reports(&project("fixtures/pairs"), &mut found);
    reports(&project("fixtures/recorded"), &mut found);
    if let Some(shared) = shared() {
        for folder in ["data/exports", "data/made", "data/torch", "gpu", "cases"] {
            reports(&shared.join(folder), &mut found);
        }
    }
    found.sort();
    let mut judged = 0;
    let mut wrong = Vec::new();
    for report in found.iter().skip(turn() % 4).step_by(4) {
        let Some(screen) = screen(report) else { continue };
        judged += 1;
        wrong.extend(faults(&report.to_string_lossy(), &screen));
    }
    say(&format!("{judged} first screens"));
    assert!(judged >= 3 && wrong.is_empty(), "{judged}: {wrong:#?}");
}
