//! First screens of real captures: how long they are, and that advice fits the GPU and the tool that recorded.
//!
//! A quarter of them at a time, which takes 15 s on one core.

use crate::support::{project, say, shared, turn};
use crate::terminal::run_on_terminal;
use std::path::{Path, PathBuf};

/// The reports in a folder and its folders.
fn reports(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            reports(&path, found);
        } else if [".sqlite", ".sqlite.gz", ".json", ".json.gz"].iter().any(|end| name.ends_with(end))
            && name != "truth.json"
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
    faults
}

#[test]
fn first_screens_are_short_and_their_advice_fits() {
    let mut found = Vec::new();
    reports(&project("fixtures/real"), &mut found);
    reports(&project("fixtures/pairs"), &mut found);
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
