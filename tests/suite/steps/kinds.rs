//! Captures of each kind of repetition, with what is true of them.

use super::programs::{Writer, exported, main_thread, of_threads};
use super::rows;
use crate::made::program::{Action, Kernel, Stream, Thread};
use crate::support::stdout;
use std::path::PathBuf;

const MS: i64 = 1_000_000;

impl Writer {
    /// Launches a kernel of this length.
    fn kernel(&mut self, name: &'static str, grid: i64, ns: i64) {
        let ns = self.random.about(ns, 0.02);
        let kernel = Kernel { name, grid, block: 128, ns, collective: None, absent_bytes: 0 };
        self.actions.push(Action::Launch(Stream::Compute, kernel, 3_000));
    }

    fn kernels(&mut self, names: &[&'static str], ns: i64) {
        names.iter().for_each(|name| self.kernel(name, 64, ns));
    }

    fn range(&mut self, name: String, write: impl FnOnce(&mut Self)) {
        self.actions.push(Action::Push(name));
        write(self);
        self.actions.push(Action::Pop);
    }

    fn work(&mut self, ns: i64) {
        self.actions.push(Action::Work(ns));
    }

    fn synchronize(&mut self) {
        self.actions.push(Action::Synchronize(Stream::Compute));
    }
}

/// A capture in a folder of its own.
struct Made {
    report: PathBuf,
    _folder: tempfile::TempDir,
}

impl Made {
    fn of(write: impl FnOnce(&mut Writer)) -> Self {
        let mut writer = main_thread(1);
        write(&mut writer);
        writer.synchronize();
        Self::of_threads(vec![writer.thread()])
    }

    fn of_threads(threads: Vec<Thread>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { report: exported(&of_threads(threads), folder.path(), "made"), _folder: folder }
    }

    fn path(&self) -> &str {
        self.report.to_str().unwrap()
    }

    /// How many steps are judged, and the length of the median one in µs; `None` without steps.
    fn steps(&self) -> Option<(i64, i64)> {
        let found = rows(
            &self.report,
            "SELECT step_count, dur_ns / 1000 FROM step_window WHERE part = 'median' AND step_count > 1",
        );
        let int = |text: &String| text.parse().unwrap();
        found.first().map(|row| (int(&row[0]), int(&row[1])))
    }

    fn screen(&self) -> String {
        stdout(&[self.path()])
    }
}

fn is_about(found: Option<(i64, i64)>, count: i64, us: i64) -> bool {
    found.is_some_and(|(steps, median)| steps == count && (us * 9 / 10..=us * 11 / 10).contains(&median))
}

/// Uploads that repeat are no steps of a program with a kernel, wherever the kernel is.
#[test]
fn uploads_are_no_steps_where_kernels_run() {
    for before in [4, 2] {
        let made = Made::of(|writer| {
            for upload in 0..4 {
                if upload == before {
                    writer.kernel("solve", 1_000, 119 * MS);
                }
                writer.upload();
            }
            if before == 4 {
                writer.kernel("solve", 1_000, 119 * MS);
            }
        });
        assert_eq!(made.steps(), None, "{before}");
        assert!(!made.screen().contains("steady state"), "{}", made.screen());
    }
}

/// After the prefill, each token is one graph.
/// Layers of a single pass stay what they are.
#[test]
fn layers_of_one_pass_are_no_steps() {
    let made = Made::of(|writer| {
        writer.launch_all([10, 11]);
        writer.launch_all((0..48).flat_map(|_| [20, 21, 22, 21, 23, 24]));
        writer.launch_all([12, 13, 14]);
    });
    assert_eq!(made.steps(), None);
}

#[test]
fn warm_up_by_name_is_no_steady_step() {
    for word in ["Warm-up", "warmup", "Warm up"] {
        let made = Made::of(|writer| {
            for step in 0..12 {
                writer.range(format!("{word} Step {step}"), |writer| {
                    writer.kernels(&["gemm", "norm"], MS)
                });
            }
            for step in 0..10 {
                writer.range(format!("Step {step}"), |writer| writer.kernels(&["gemm", "norm"], MS));
            }
        });
        assert!(is_about(made.steps(), 10, 2_000), "{word}: {:?}", made.steps());
    }
}

/// Each size once, or a hundred times, over three orders of magnitude.
/// 1,220 kernels in 16 marked levels, each finer than the one before.
fn levels() -> Made {
    Made::of(|writer| {
        for level in 0..16 {
            writer.range(format!("Coarse Level {level}"), |writer| {
                let kernels = if level == 15 { 95 } else { 75 };
                for _ in 0..kernels {
                    writer.kernel("smooth", 64, 20_000);
                    writer.read_back();
                }
            });
        }
    })
}

#[test]
fn marked_levels_are_steps() {
    let made = levels();
    assert_eq!(made.steps().map(|(count, _)| count), Some(16));
    let steps = stdout(&[
        "run",
        made.path(),
        "-q",
        "steps",
        "-f",
        "csv",
        "--no-header",
        "--iter",
        "Coarse Level *",
    ]);
    assert_eq!(steps.lines().count(), 16, "{steps}");
}

/// `--iter` names the steps, whatever else is marked or repeats.
#[test]
fn steps_are_those_that_the_option_names() {
    let made = Made::of(|writer| {
        for cycle in 0..12 {
            writer.range(format!("step {cycle}"), |writer| {
                for stage in 0..4 {
                    writer.range(format!("stage {stage}"), |writer| {
                        writer.kernels(&["gemm", "norm"], MS / 10)
                    });
                }
                writer.read_back();
            });
        }
    });
    assert_eq!(made.steps().map(|(count, _)| count), Some(12));
    let steps =
        stdout(&["run", made.path(), "-q", "steps", "-f", "csv", "--no-header", "--iter", "stage *"]);
    assert_eq!(steps.lines().count(), 48, "{steps}");
    let screen = stdout(&["overview", made.path(), "--iter", "stage *"]);
    assert!(screen.contains("marked by `stage *`"), "{screen}");
}

/// A step that begins with its range has the time before its first operation.
#[test]
fn the_first_marked_step_begins_with_its_range() {
    let made = Made::of(|writer| {
        for step in 0..3 {
            writer.range(format!("ProfilerStep#{step}"), |writer| {
                writer.work(6 * MS);
                writer.kernels(&["gemm", "norm"], 2 * MS);
                writer.synchronize();
            });
        }
    });
    let lengths =
        rows(&made.report, "SELECT (dur_ns + 500000) / 1000000 FROM step_window ORDER BY step");
    assert_eq!(lengths, [["10"], ["10"], ["10"]]);
}

/// Where earlier work runs into a step, the step begins when that work ends.
#[test]
fn the_first_marked_step_does_not_have_the_work_before() {
    let made = Made::of(|writer| {
        writer.kernel("load", 64, 50 * MS);
        for step in 0..3 {
            writer.range(format!("step {step}"), |writer| {
                writer.kernels(&["gemm", "norm"], 2 * MS);
                writer.work(MS);
                writer.synchronize();
            });
        }
    });
    let lengths =
        rows(&made.report, "SELECT (dur_ns + 500000) / 1000000 FROM step_window ORDER BY step");
    assert_eq!(lengths[0], ["4"]);
}
