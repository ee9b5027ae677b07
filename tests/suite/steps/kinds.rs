//! Captures of each kind of repetition, with what is true of them.

use super::programs::{Writer, exported, main_thread, of_threads};
use super::rows;
use crate::made::program::{Action, Kernel, Stream, Thread};
use crate::support::stdout;
use rusqlite::Connection;
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

    /// The launches between ranges `graph *` become one launch of a graph, traced node by node.
    fn with_graphs(self) -> Self {
        let graphs = "
            CREATE TEMP TABLE part AS
            SELECT call.correlationId AS id, first_value(call.correlationId) OVER (PARTITION BY pass.start ORDER BY call.start) AS graph
            FROM NVTX_EVENTS AS pass
            JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call ON call.start >= pass.start AND call.end <= pass.end
            JOIN CUPTI_ACTIVITY_KIND_KERNEL AS kernel ON kernel.correlationId = call.correlationId
            WHERE pass.text GLOB 'graph *';
            CREATE INDEX temp.of_part ON part (id);
            DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId IN (SELECT id FROM part WHERE id <> graph);
            INSERT INTO StringIds (id, value) SELECT max(id) + 1, 'cudaGraphLaunch_v10000' FROM StringIds;
            UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = (SELECT max(id) FROM StringIds)
            WHERE correlationId IN (SELECT graph FROM part);
            UPDATE CUPTI_ACTIVITY_KIND_KERNEL
            SET graphNodeId = correlationId, correlationId = (SELECT graph FROM part WHERE id = correlationId)
            WHERE correlationId IN (SELECT id FROM part);
            DELETE FROM NVTX_EVENTS;";
        Connection::open(&self.report).unwrap().execute_batch(graphs).unwrap();
        self
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

#[test]
fn what_holds_less_than_half_is_judged_with_the_rest_beside() {
    let made = Made::of(|writer| {
        for _ in 0..40 {
            writer.kernels(&["advance", "reduce"], MS / 2);
            writer.read_back();
        }
        writer.kernel("compress", 1_000, 50 * MS);
    });
    assert!(is_about(made.steps(), 40, 1_000), "{:?}", made.steps());
    let screen = made.screen();
    assert!(
        screen.contains("The steps have 44.")
            && screen.contains("The rest of the GPU time: `compress` "),
        "{screen}"
    );
}

#[test]
fn two_kernels_of_a_stencil_are_a_step() {
    let made = Made::of(|writer| {
        writer.upload();
        writer.kernel("fill", 64, 5_000);
        for _ in 0..1_199 {
            writer.kernels(&["flux", "update"], 10_000);
        }
        writer.read_back();
    });
    assert!(is_about(made.steps(), 1_199, 20), "{:?}", made.steps());
    assert!(!made.screen().contains("No step repeats"), "{}", made.screen());
}

#[test]
fn equal_launches_are_steps() {
    for (count, names) in [(3_000, &["axpy"][..]), (100, &["pack", "exchange", "unpack"])] {
        let made = Made::of(|writer| (0..count).for_each(|_| writer.kernels(names, 20_000)));
        assert!(is_about(made.steps(), count, 20 * names.len() as i64), "{:?}", made.steps());
    }
}

#[test]
fn launches_of_a_graph_are_steps() {
    let made = Made::of(|writer| {
        writer.launch_all(100..130);
        for pass in 0..4 {
            writer.range(format!("graph {pass}"), |writer| {
                writer.launch_all([10]);
                writer.launch_all((0..1_565).map(|kernel| 20 + kernel % 13));
            });
        }
    });
    let made = made.with_graphs();
    assert_eq!(made.steps().map(|(count, _)| count), Some(4));
}

/// A warm-up launches the first kernel of the graph by itself, at no regular distance.
#[test]
fn a_graph_is_not_the_kernel_that_it_begins_with() {
    let made = Made::of(|writer| {
        for nth in 0..30 {
            writer.launch_all(20..21);
            writer.launch_all(30..30 + nth * nth * 13 % 61);
        }
        for pass in 0..40 {
            writer.range(format!("graph {pass}"), |writer| {
                writer.launch_all((0..46).flat_map(|_| [20, 21, 22]));
            });
        }
    });
    let made = made.with_graphs();
    assert_eq!(made.steps().map(|(count, _)| count), Some(40));
}

/// After the prefill, each token is one graph.
#[test]
fn a_decode_of_one_graph_has_a_step_for_each_token() {
    let made = Made::of(|writer| {
        writer.launch_all((0..24).flat_map(|_| [20, 21, 22, 21, 23, 24]));
        for token in 0..48 {
            writer.range(format!("graph {token}"), |writer| {
                writer.launch_all([10]);
                writer.launch_all((0..24).flat_map(|_| [30, 31, 32, 33, 34]));
            });
        }
    });
    let made = made.with_graphs();
    assert_eq!(made.steps().map(|(count, _)| count), Some(48));
}

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

/// Steady states: steps, kernel and share of the GPU's time, the judged one first.
fn states(made: &Made) -> Vec<(String, i64, String)> {
    let found = rows(
        &made.report,
        "SELECT kind, step_count, top_kernel_name FROM steady_state ORDER BY kind = 'judged' DESC, state",
    );
    found.iter().map(|row| (row[0].clone(), row[1].parse().unwrap(), row[2].clone())).collect()
}

fn state(kind: &str, steps: i64, kernel: &str) -> (String, i64, String) {
    (kind.to_owned(), steps, kernel.to_owned())
}

#[test]
fn benchmarks_one_after_the_other_are_steady_states_of_their_own() {
    let made = Made::of(|writer| {
        for (count, names, ns) in [
            (200, &["copy"][..], 30_000),
            (100, &["scale", "check"], 150_000),
            (50, &["add", "triad", "check"], 50_000),
        ] {
            for _ in 0..count {
                writer.kernels(names, ns);
                writer.read_back();
            }
            writer.work(20 * MS);
        }
    });
    assert!(is_about(made.steps(), 100, 310), "{:?}", made.steps());
    let expected =
        [state("judged", 100, "scale"), state("other", 200, "copy"), state("other", 50, "triad")];
    let found = states(&made);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[..2], expected[..2]);
    assert_eq!((found[2].0.as_str(), found[2].1), ("other", 50));
    let screen = made.screen();
    assert!(screen.contains("2 other steady states"), "{screen}");
    let other =
        stdout(&["run", made.path(), "-q", "steps", "-f", "csv", "--no-header", "--iter", "state 0"]);
    assert_eq!(other.lines().count(), 200, "{other}");
}

#[test]
fn two_sizes_are_two_steady_states() {
    let made = Made::of(|writer| {
        for (grid, ns, count) in [(64, 50_000, 60), (512, 400_000, 40)] {
            for _ in 0..count {
                writer.kernel("gemm", grid, ns);
                writer.kernel("norm", grid, ns / 4);
                writer.read_back();
            }
        }
    });
    assert!(is_about(made.steps(), 40, 505), "{:?}", made.steps());
    let found = states(&made);
    assert_eq!(found, [state("judged", 40, "gemm"), state("other", 60, "gemm")]);
}

#[test]
fn training_and_evaluation_are_two_steady_states() {
    let forward: Vec<u32> = (0..8).flat_map(|_| [20, 21, 22, 21, 23, 24]).collect();
    let made = Made::of(|writer| {
        for _ in 0..30 {
            writer.launch_all(
                forward.iter().copied().chain((0..8).flat_map(|_| [31, 32, 33, 34])).chain([50; 20]),
            );
            writer.read_back();
        }
        for _ in 0..40 {
            writer.launch_all(forward.iter().copied().chain([60]));
            writer.read_back();
        }
    });
    assert_eq!(made.steps().map(|(count, _)| count), Some(30));
    let counts: Vec<i64> = states(&made).iter().map(|state| state.1).collect();
    assert_eq!(counts, [30, 40]);
}

#[test]
fn prefill_and_decode_are_two_steady_states() {
    let made = Made::of(|writer| {
        for _ in 0..6 {
            writer.kernels(&["flash", "gemm", "norm", "sample"], 2 * MS);
            writer.read_back();
        }
        for _ in 0..200 {
            writer.kernels(&["paged", "gemv", "rms", "argmax"], 20_000);
            writer.read_back();
        }
    });
    let counts: Vec<i64> = states(&made).iter().map(|state| state.1).collect();
    assert_eq!(counts, [6, 200]);
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

/// The name of the warm-up may be on a range around its steps.
#[test]
fn steps_inside_a_range_of_the_warm_up_are_no_steps() {
    for around in ["warmup", "Warm-up", "warm_up phase"] {
        let made = Made::of(|writer| {
            for (name, count) in [(around, 12), ("measure", 10)] {
                writer.range(name.to_owned(), |writer| {
                    for step in 0..count {
                        writer.range(format!("step {step}"), |writer| {
                            writer.kernels(&["gemm", "norm"], MS)
                        });
                    }
                });
            }
        });
        assert!(is_about(made.steps(), 10, 2_000), "{around}: {:?}", made.steps());
        // `--iter` counts all of them.
        let numbers = rows(&made.report, "SELECT min(step), max(step) FROM step");
        assert_eq!(numbers, [["12", "21"]]);
    }
}

/// Without other ranges, those of the warm-up are the steps.
#[test]
fn a_capture_of_the_warm_up_has_its_steps() {
    let made = Made::of(|writer| {
        writer.range("warmup".to_owned(), |writer| {
            for step in 0..12 {
                writer.range(format!("step {step}"), |writer| writer.kernels(&["gemm", "norm"], MS));
            }
        });
    });
    assert_eq!(made.steps().map(|(count, _)| count), Some(12));
}

/// `OptimizerStep` is a phase of one.
#[test]
fn the_last_word_of_a_name_can_mark_steps() {
    let made = Made::of(|writer| {
        for (name, count) in [("WarmupIteration", 12), ("BenchIteration", 10)] {
            for step in 0..count {
                writer.range(format!("{name} {step}"), |writer| {
                    writer.kernels(&["gemm", "norm"], MS);
                    writer.range("OptimizerStep".to_owned(), |writer| writer.kernel("adam", 64, MS));
                });
            }
        }
    });
    assert!(is_about(made.steps(), 10, 3_000), "{:?}", made.steps());
}

/// Marked steps with a hook at their end, whose name has a word of iterations, or only the hook.
fn hooked(outer: Option<&str>, hook: &str) -> Vec<String> {
    let made = Made::of(|writer| {
        for step in 0..12 {
            let pass = |writer: &mut Writer| {
                writer.range("forward".to_owned(), |writer| writer.kernel("gemm", 64, 3 * MS));
                writer.range("backward".to_owned(), |writer| writer.kernel("dgemm", 64, 3 * MS));
                writer.synchronize();
                writer.range(hook.replace('#', &step.to_string()), |writer| {
                    writer.kernel("small", 64, MS / 2)
                });
                writer.synchronize();
            };
            match outer {
                Some(name) => writer.range(format!("{name} {step}"), pass),
                None => pass(writer),
            }
        }
    });
    rows(&made.report, "SELECT found, layer_name, count(*) FROM step GROUP BY 1, 2").remove(0)
}

/// Names that only contain a word of iterations mark no steps, whether they are a phase, an operator or a hook.
#[test]
fn ranges_of_a_part_of_each_step_are_no_steps() {
    for hook in [
        "aten::batch_norm, seq = #, op_id = #",
        "TensorIterator::copy",
        "ShuffleSplit.next",
        "Optimizer.step#AdamW.step",
        "get_batch",
        "DataLoader.next_batch",
        "get_batch #",
        "epoch_end_hook",
        "iter_params",
        "micro_step_hook",
        "load_iteration_data",
    ] {
        assert_eq!(hooked(None, hook), ["repeated", "step", "12"], "{hook}");
        assert_eq!(hooked(Some("train step"), hook), ["marked", "train step *", "12"], "{hook}");
    }
    assert_eq!(hooked(Some("epoch"), "iteration"), ["marked", "epoch *", "12"]);
}

#[test]
fn a_mark_around_several_passes_says_so() {
    for (marks, passes) in [(6, 1), (6, 3), (6, 5), (1, 20)] {
        let made = Made::of(|writer| {
            for step in 0..marks {
                writer.range(format!("step {step}"), |writer| {
                    for _ in 0..passes {
                        writer.kernels(&["embed", "gemm", "norm", "gemm", "norm", "loss"], MS);
                        writer.read_back();
                    }
                });
                writer.work(5 * MS);
            }
        });
        let counts = rows(&made.report, "SELECT DISTINCT found, repeat_count FROM step");
        let sentence = "a sequence of launches repeats";
        if counts[0][0] == "marked" {
            assert_eq!(counts, [["marked".to_owned(), passes.to_string()]], "{marks}");
            let screen = made.screen();
            let said = format!("In each, {sentence} {passes} times, such as passes or layers: -q steps");
            assert_eq!(screen.contains(&said), passes > 1, "{screen}");
        } else {
            // One mark around many passes is no step.
            assert_eq!((marks, made.steps().map(|(count, _)| count)), (1, Some(passes)));
            assert!(!made.screen().contains(sentence));
        }
    }
}

/// Short marks with all of the work are steps, however long the program pauses between them.
#[test]
fn marks_with_pauses_between_them_are_steps() {
    let made = Made::of(|writer| {
        for step in 0..12 {
            writer.range(format!("step {step}"), |writer| {
                writer.kernels(&["gemm", "norm"], MS);
                writer.synchronize();
            });
            writer.work(50 * MS);
        }
    });
    let found = rows(&made.report, "SELECT DISTINCT found, layer_name FROM step");
    assert_eq!(found, [["marked", "step *"]]);
}

#[test]
fn steps_without_the_host_may_be_layers() {
    for (waits, is_doubted) in [(true, false), (false, true)] {
        let made = Made::of(|writer| {
            for _ in 0..40 {
                writer.kernels(&["conv", "norm", "relu"], 25_000);
                if waits {
                    writer.read_back();
                }
            }
        });
        assert_eq!(made.steps().map(|(count, _)| count), Some(40));
        let doubts = stdout(&["run", made.path(), "-q", "capture_trust", "-f", "csv"]);
        assert_eq!(
            doubts.contains("The 40 steps may be layers of longer steps"),
            is_doubted,
            "{doubts}"
        );
    }
}

/// In any language, numbered ranges with the same work in each are steps, also where regular ranges launch none.
#[test]
fn numbered_ranges_of_equal_work_are_steps() {
    let marked = |name: &str, growth: i64| {
        let made = Made::of(|writer| {
            for step in 0..10_i64 {
                writer.range(format!("_prepare_and_schedule_batch {step}"), |_| {});
                writer.range(format!("{name} {step}"), |writer| {
                    writer.kernel("gemm", 64, MS + growth * step)
                });
            }
        });
        rows(&made.report, "SELECT count(*) FROM iteration WHERE op_count > 0")[0][0].clone()
    };
    for name in ["_forward_step", "Schritt", "步骤", "frame", "token"] {
        assert_eq!(marked(name, 0), "10", "{name}");
    }
    // Layers are parts of a step, and a sweep is none.
    assert_eq!((marked("layer", 0).as_str(), marked("frame", 2 * MS).as_str()), ("0", "0"));
}

/// Each size once, or a hundred times, over three orders of magnitude.
#[test]
fn a_sweep_over_sizes_has_no_steps() {
    for each in [1, 100] {
        let made = Made::of(|writer| {
            for size in 0..24 {
                for _ in 0..each {
                    writer.kernel("gemm", 1 << (size / 2), 5_000 << (size / 3));
                    writer.kernel("norm", 1 << (size / 2), 1_000 << (size / 3));
                    writer.read_back();
                }
            }
        });
        assert_eq!(made.steps(), None, "{each}");
        let screen = made.screen();
        assert!(screen.contains("too uneven to be steps"), "{screen}");
    }
}

#[test]
fn uneven_rounds_are_no_steps() {
    let made = Made::of(|writer| {
        for insert in 0..61u32 {
            let ns = [10_000, 400_000, 60_000, 2_000_000, 15_000][insert as usize % 5];
            writer.kernel("insert", 64, ns);
            writer.read_back();
        }
    });
    assert_eq!(made.steps(), None);
    let screen = made.screen();
    assert!(screen.contains("too uneven"), "{screen}");
    assert!(!screen.contains("No step repeats"), "{screen}");
}

#[test]
fn two_pairs_are_no_steps() {
    let made = Made::of(|writer| {
        for _ in 0..2 {
            writer.kernels(&["build", "probe"], MS);
            writer.read_back();
        }
    });
    assert_eq!(made.steps(), None);
}

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

/// Levels inside one range are steps; inside a cycle that repeats they are a part of it, and the cycles are steps.
#[test]
fn levels_are_steps_where_nothing_around_them_repeats() {
    for cycles in [1, 6] {
        let made = Made::of(|writer| {
            writer.range("Multigrid solve".to_owned(), |writer| {
                for cycle in 0..cycles {
                    writer.range(format!("V-cycle {cycle}"), |writer| {
                        for level in 0..16 {
                            writer.range(format!("Level {level}"), |writer| {
                                (0..10)
                                    .for_each(|_| writer.kernel("smooth", 64, 20_000 + 5_000 * level));
                            });
                        }
                    });
                }
            });
        });
        let names = rows(&made.report, "SELECT DISTINCT layer_name FROM iteration");
        assert_eq!(names, [[if cycles == 1 { "Level *" } else { "V-cycle *" }]]);
    }
}

/// A number that is a part of a word is not folded, so the pattern names the steps.
#[test]
fn a_pattern_of_several_names_is_the_name_of_the_steps() {
    let made = Made::of(|writer| {
        for level in 0..7 {
            writer.range(format!("refine_L{level}"), |writer| writer.kernels(&["gemm", "norm"], MS));
        }
    });
    let screen = stdout(&["overview", made.path(), "--iter", "refine_L*"]);
    assert!(screen.contains("marked by `refine_L*`"), "{screen}");
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

/// What follows the last GPU operation is the conclusion, if it is most of the capture.
#[test]
fn a_wait_after_the_last_operation_is_the_verdict() {
    let made = Made::of(|writer| {
        for _ in 0..11 {
            writer.kernels(&["gemm", "norm"], 2 * MS);
            writer.read_back();
        }
    });
    assert!(!made.screen().contains("hang:"), "{}", made.screen());
    let hang = "
        UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = end + 30000000000
        WHERE start = (SELECT max(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME);";
    Connection::open(&made.report).unwrap().execute_batch(hang).unwrap();
    let screen = made.screen();
    assert!(screen.contains("Likely a hang: no GPU work is recorded for 30.0"), "{screen}");
    assert!(screen.contains("waits in cudaStreamSynchronize"), "{screen}");
}

/// Eleven steps of the same work, with a pause before each, and what follows.
fn paused(pause: i64, end: impl FnOnce(&mut Writer)) -> Made {
    Made::of(|writer| {
        for _ in 0..11 {
            writer.work(pause);
            writer.kernels(&["gemm", "norm"], 2 * MS);
            writer.kernel(ALL_REDUCE, 16, MS / 50);
            writer.read_back();
        }
        end(writer);
    })
}

const ALL_REDUCE: &str =
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)";

impl Made {
    fn with(self, statements: &str) -> Self {
        Connection::open(&self.report).unwrap().execute_batch(statements).unwrap();
        self
    }

    /// The last CUDA call takes so much longer.
    fn waits(self, ns: i64) -> Self {
        self.with(&format!(
            "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = end + {ns}
             WHERE start = (SELECT max(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME);"
        ))
    }
}

/// A wait until the end is a hang if all waits before it are short, whatever its share of the capture.
#[test]
fn a_wait_until_the_end_is_a_hang_in_a_long_capture() {
    let screen = paused(400 * MS, |_| ()).waits(3_000 * MS).screen();
    assert!(screen.contains("Likely a hang: no GPU work is recorded for 3.0"), "{screen}");
    let screen = paused(400 * MS, |_| ()).waits(900 * MS).screen();
    assert!(!screen.contains("Likely a hang"), "{screen}");
}

/// What waits need not be a call that synchronizes or copies.
#[test]
fn any_call_that_waits_and_polling_is_a_hang() {
    let lost = |writer: &mut Writer| writer.kernel("lost", 64, MS);
    let lose = "
        DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL
        WHERE start = (SELECT max(start) FROM CUPTI_ACTIVITY_KIND_KERNEL);";
    let rename = "
        INSERT INTO StringIds (id, value) SELECT max(id) + 1, 'cudaFree_v3020' FROM StringIds;
        UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = (SELECT max(id) FROM StringIds)
        WHERE start = (SELECT max(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME);";
    let screen = paused(MS, lost).waits(20_000 * MS).with(rename).with(lose).screen();
    assert!(screen.contains("waits in cudaFree."), "{screen}");
    // When a program ends, memory takes long to free.
    let screen = paused(MS, lost).waits(20_000 * MS).with(rename).screen();
    assert!(!screen.contains("Likely a hang"), "{screen}");

    let poll = "
        INSERT INTO StringIds (id, value) SELECT max(id) + 1, 'cudaEventQuery_v3020' FROM StringIds;
        WITH RECURSIVE
        poll (nth) AS (SELECT 1 UNION ALL SELECT nth + 1 FROM poll WHERE nth < 500)
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
          (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
        SELECT end + 20000000 * nth, end + 20000000 * nth + 3000, 0, globalTid, correlationId + nth,
          (SELECT max(id) FROM StringIds), 600
        FROM poll
        CROSS JOIN (SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start DESC LIMIT 1);";
    let screen = paused(MS, |_| ()).with(poll).screen();
    assert!(screen.contains("Likely a hang"), "{screen}");
    assert!(screen.contains("polls with cudaEventQuery."), "{screen}");
    // The work that is asked for is done.
    let done = "
        UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = 0
        WHERE start > (SELECT min(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE returnValue = 600);";
    let screen = paused(MS, |_| ()).with(poll).with(done).screen();
    assert!(!screen.contains("Likely a hang"), "{screen}");
}

#[test]
fn a_collective_until_the_end_is_a_hang() {
    let screen = paused(MS, |writer| writer.kernel(ALL_REDUCE, 16, 30_000 * MS)).screen();
    assert!(screen.contains("Likely a hang, or a very late rank: one AllReduce of"), "{screen}");
    assert!(!screen.contains("Warning: One execution"), "{screen}");
}

/// Before each step, the main thread waits for a thread that reads.
#[test]
fn what_a_loader_reads_is_said() {
    let calls = |function: &str, thread: i64, share: i64| {
        format!(
            "CREATE TABLE IF NOT EXISTS OSRT_API (
               start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER,
               returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER, argumentsId INTEGER
             );
             INSERT INTO StringIds (id, value) SELECT max(id) + 1, '{function}' FROM StringIds;
             INSERT INTO OSRT_API
             SELECT end + 1000, end + (next_start - end) * {share} / 100, 27, globalTid + {thread},
               (SELECT max(id) FROM StringIds), 0, 0, 0, 0
             FROM (
               SELECT end, globalTid, lead(start) OVER (ORDER BY start) AS next_start
               FROM CUPTI_ACTIVITY_KIND_RUNTIME
             )
             WHERE next_start - end > 10000000;"
        )
    };
    let waits = calls("pthread_cond_wait", 0, 99);
    let made = paused(20 * MS, |_| ()).with(&waits).with(&calls("pread64", 7, 60));
    let screen = made.screen();
    assert!(screen.contains("Meanwhile another thread is in pread64 for 60"), "{screen}");
    assert!(screen.contains("Fix: Prepare data in more threads or processes"), "{screen}");
    // A wait without a reader.
    let screen = paused(20 * MS, |_| ()).with(&waits).screen();
    assert!(screen.contains("The launching thread is in pthread_cond_wait"), "{screen}");
    assert!(
        screen.contains("the GPU idles while the launching thread is in pthread_cond_wait."),
        "{screen}"
    );
    assert!(!screen.contains("Meanwhile another thread"), "{screen}");
}

/// After the last CUDA call, the main thread waits for a lock, or writes a file.
#[test]
fn what_follows_the_last_cuda_call_is_said() {
    let calls = |function: &str, count: i64, ns: i64| {
        format!(
            "CREATE TABLE IF NOT EXISTS OSRT_API (
               start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER,
               returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER, argumentsId INTEGER
             );
             INSERT INTO StringIds (id, value) SELECT max(id) + 1, '{function}' FROM StringIds;
             WITH RECURSIVE
             call (nth) AS (SELECT 0 UNION ALL SELECT nth + 1 FROM call WHERE nth + 1 < {count})
             INSERT INTO OSRT_API
             SELECT end + {ns} / {count} * nth, end + {ns} / {count} * (nth + 1), 27, globalTid,
               (SELECT max(id) FROM StringIds), 0, 0, 0, 0
             FROM call
             CROSS JOIN (SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start DESC LIMIT 1);
             UPDATE ANALYSIS_DETAILS SET duration = duration + {ns}, stopTime = stopTime + {ns};"
        )
    };
    for (function, count, said) in [
        ("pthread_mutex_lock", 1, "Likely a hang: process 4100 is in pthread_mutex_lock for 10.0"),
        ("pthread_cond_wait", 1, "The program waits: process 4100 is in pthread_cond_wait for 10.0"),
        ("write", 100, "after the last CUDA call, of which the main thread spends 10.0"),
    ] {
        let screen = paused(MS, |_| ()).with(&calls(function, count, 10_000 * MS)).screen();
        assert!(screen.contains(said), "{screen}");
        assert_eq!(
            screen.contains("figures below are for the time before"),
            function != "write",
            "{screen}"
        );
    }
    // What takes less is the end of the profiler, unless it writes.
    for (function, said) in [
        (
            "write",
            Some("spends 400.00 ms in write. If that is a checkpoint, write it in another thread"),
        ),
        ("read", None),
    ] {
        let screen = paused(MS, |_| ()).with(&calls(function, 100, 400 * MS)).screen();
        assert_eq!(screen.contains("after the last CUDA call"), said.is_some(), "{screen}");
        assert!(screen.contains(said.unwrap_or_default()), "{screen}");
    }
    // Launches that never run.
    for (count, is_hang) in [(3, false), (12, true)] {
        let queued = format!(
            "WITH RECURSIVE
             call (nth) AS (SELECT 1 UNION ALL SELECT nth + 1 FROM call WHERE nth < {count})
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
               (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
             SELECT at + 10000 * nth, at + 10000 * nth + 5000, eventClass, globalTid, 900000 + nth, nameId, 0
             FROM call
             CROSS JOIN (SELECT max(end) AS at FROM CUPTI_ACTIVITY_KIND_RUNTIME)
             CROSS JOIN (
               SELECT *
               FROM CUPTI_ACTIVITY_KIND_RUNTIME
               WHERE correlationId IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL)
               ORDER BY start DESC
               LIMIT 1
             );"
        );
        let screen = paused(MS, |_| ()).with(&queued).with(&calls("read", 1, 10_000 * MS)).screen();
        let said =
            format!("Likely a hang: {count} launches of 1 process had not run when the capture ended");
        assert_eq!(screen.contains(&said), is_hang, "{screen}");
    }
}
