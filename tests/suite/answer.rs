//! `nsq answer`: playbooks, the questions of CS336, and the six errors of its published answers.

use crate::support::{Fixtures, nsq, outcome, project, shared, stdout};
use rusqlite::Connection;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// The JSON document of an answer, whatever its exit code.
fn answer(arguments: &[&str]) -> (i32, Json) {
    let mut all = vec!["answer", "--format", "json"];
    all.extend(arguments);
    let (code, out, error) = outcome(&all);
    let json = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {error}\n{out}"));
    (code, json)
}

/// A piece of a part, by place.
fn piece<'j>(document: &'j Json, part: &str, place: usize) -> &'j Json {
    let parts = document["parts"].as_array().unwrap();
    &parts.iter().find(|p| p["part"] == part).unwrap()["answers"][place]
}

/// The rows that a piece calls `name`.
fn rows<'j>(piece: &'j Json, name: &str) -> &'j Vec<Json> {
    let results = piece["results"].as_array().unwrap();
    results.iter().find(|r| r["as"] == name).unwrap()["rows"].as_array().unwrap()
}

fn is_near(value: &Json, wanted: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - wanted).abs() <= 1e-9 * wanted.abs().max(1.0))
}

struct Steps {
    fixtures: Fixtures,
}

impl Steps {
    fn new() -> Self {
        Self { fixtures: Fixtures::new() }
    }

    fn path(&self) -> String {
        self.fixtures.trace("training_steps").to_str().unwrap().to_owned()
    }

    /// A copy that statements have changed.
    fn changed(&self, name: &str, sql: &str) -> String {
        let copy = self.fixtures.path().join(name);
        std::fs::copy(self.path(), &copy).unwrap();
        Connection::open(&copy).unwrap().execute_batch(sql).unwrap();
        copy.to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.fixtures.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// FLOPs of one attention for batch 4, context 512: 2·B·H·S²·d_head and 5·B·H·S².
const MODELS: [(&str, i64, i64, f64); 5] = [
    ("small", 1_610_612_736, 62_914_560, 25.6),
    ("medium", 2_147_483_648, 83_886_080, 25.6),
    ("large", 2_684_354_560, 104_857_600, 25.6),
    ("xl", 3_355_443_200, 131_072_000, 25.6),
    ("2.7B", 5_368_709_120, 167_772_160, 32.0),
];

/// The first error of the published answers: FLOPs off by a factor of two.
#[test]
fn flops_are_right_for_every_model() {
    let steps = Steps::new();
    for (model, product, softmax, ratio) in MODELS {
        let (code, document) = answer(&[&steps.path(), "--part", "e", "--model", model]);
        assert_eq!(code, 0);
        let flops = piece(&document, "e", 1);
        assert_eq!(flops["facts"]["product_flop"], product, "{model}");
        assert_eq!(flops["facts"]["softmax_flop"], softmax, "{model}");
        assert!(is_near(&flops["facts"]["flop_ratio"], 2.0 * ratio), "{model}");
        let rows = rows(flops, "flops");
        assert_eq!(rows[0]["flop_count"], product);
        assert!(is_near(&rows[0]["flop_ratio"], ratio) && is_near(&rows[2]["flop_ratio"], ratio));
    }
    // The shape by hand, and of another size.
    let shape = ["-p", "num_heads=2", "-p", "d_head=8", "-p", "batch_size=1", "-p", "context_length=16"];
    let path = steps.path();
    let mut arguments = vec![path.as_str(), "--part", "e"];
    arguments.extend(shape);
    let (_, document) = answer(&arguments);
    assert_eq!(piece(&document, "e", 1)["facts"]["product_flop"], 2 * 2 * 16 * 16 * 8);
    assert_eq!(piece(&document, "e", 1)["facts"]["softmax_flop"], 5 * 2 * 16 * 16);
}

#[test]
fn attention_is_timed_by_its_ranges_and_told_against_its_flops() {
    let steps = Steps::new();
    let (_, document) = answer(&[&steps.path(), "--part", "e", "--model", "small"]);
    let times = &piece(&document, "e", 0)["facts"];
    assert_eq!(times["attentions"], 3);
    for (fact, wanted) in [
        ("scores_mean_ns", 60.0),
        ("softmax_mean_ns", 80.0),
        ("values_mean_ns", 50.0),
        ("softmax_time_ratio", 80.0 / 110.0),
        ("values_gemm_ns", 50.0),
    ] {
        assert!(is_near(&times[fact], wanted), "{fact}: {}", times[fact]);
    }
    let flops = piece(&document, "e", 1);
    assert!(is_near(&flops["facts"]["time_ratio"], 110.0 / 80.0));
    assert!(is_near(&rows(flops, "flops")[0]["gflop_per_s"], 1_610_612_736.0 / 60.0));
    let text = flops["text"].as_str().unwrap();
    assert!(text.contains("1.61 GFLOP (1,610,612,736)") && text.contains("51.2 times"), "{text}");
    // Three attentions do not fit a model of 12 layers, and the text says so.
    assert!(text.contains("3 attentions are not a multiple of the 12 layers"), "{text}");
}

/// The second error: ranges that were never there, and an answer all the same.
#[test]
fn a_range_that_is_not_there_is_said_to_be_not_there() {
    let steps = Steps::new();
    let path = steps.changed("bare.sqlite", "DELETE FROM NVTX_EVENTS WHERE text GLOB '*attention*' OR text GLOB 'c*' OR text = 'final_matmul'");
    let (code, out, error) = outcome(&["answer", &path, "--part", "e", "--model", "small"]);
    assert_eq!(code, 3, "{error}");
    assert!(out.contains("no NVTX range matches pattern 'scores' (QK^T of attention)"), "{out}");
    assert!(out.contains("`training_step_*` (3)") && out.contains("-p scores='NAME'"), "{out}");
    assert!(!out.contains("FLOP ") && !out.contains("the GPU takes"), "{out}");
    assert!(error.contains("not answered: (e)"), "{error}");
}

/// The third error: warm-up and start-up counted.
#[test]
fn warm_up_is_left_out_and_named() {
    let steps = Steps::new();
    let (_, document) = answer(&[&steps.path(), "--part", "b"]);
    let top = &piece(&document, "b", 0)["facts"];
    assert_eq!(top["top_kernel"], "void ampere_sgemm_128x64_tn(float *, int)");
    assert_eq!((&top["top_total_ns"], &top["top_calls"]), (&Json::from(300), &Json::from(6)));
    assert_eq!(top["forward_passes"], 3);
    assert!(is_near(&top["top_calls_per_pass"], 2.0));
    assert!(is_near(&top["top_time_pct"], 40.0));
    let text = stdout(&["answer", &steps.path(), "--part", "b"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("1 range, `warmup`, excluded with everything inside"), "{text}");
    assert!(words.contains("2 times per forward pass (6 calls in 3 passes)"), "{text}");
    // Without a warm-up range, a line says so, and --exclude still applies.
    let unnamed =
        steps.changed("unnamed.sqlite", "UPDATE NVTX_EVENTS SET text = 'first' WHERE text = 'warmup'");
    let text = stdout(&["answer", &unnamed, "--part", "b"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("autotune") && words.contains("no range found, so nothing is excluded"),
        "{text}"
    );
    let text = stdout(&["answer", &unnamed, "--part", "b", "--exclude", "first"]);
    assert!(!text.contains("autotune"), "{text}");
    let text = stdout(&["answer", &unnamed, "--part", "b", "-p", "warmup=first"]);
    assert!(!text.contains("autotune") && text.contains("`first`"), "{text}");
}

/// The fourth error: sums by hand.
#[test]
fn shares_are_sums_over_kernels() {
    let steps = Steps::new();
    let (code, document) = answer(&[&steps.path(), "--part", "d"]);
    assert_eq!(code, 0);
    let shares = piece(&document, "d", 0);
    for (fact, wanted) in
        [("inference_matmul_pct", 60.0), ("training_matmul_pct", 62.5), ("matmul_change_pct", 2.5)]
    {
        assert!(is_near(&shares["facts"][fact], wanted), "{fact}: {}", shares["facts"][fact]);
    }
    let wanted = [
        ("gemm", 450, 900),
        ("softmax", 240, 240),
        ("elementwise", 60, 120),
        ("optimizer", 0, 180),
        ("total", 750, 1440),
    ];
    let rows = rows(shares, "change");
    assert_eq!(rows.len(), wanted.len());
    for (class, before, after) in wanted {
        let row = rows.iter().find(|row| row["class"] == class).unwrap();
        assert_eq!((&row["before_ns"], &row["after_ns"]), (&before.into(), &after.into()), "{class}");
        let points = 100.0 * after as f64 / 1440.0 - 100.0 * before as f64 / 750.0;
        assert!((row["change_pct"].as_f64().unwrap() - points).abs() < 1e-9, "{class}");
    }
    // Autograd's kernels are in it: by thread the training step would have none of them.
    let phases = &piece(&document, "d", 1)["facts"];
    assert_eq!((&phases["forward_gpu_ns"], &phases["backward_gpu_ns"]), (&750.into(), &510.into()));
    assert_eq!((&phases["optimizer_gpu_ns"], &phases["step_gpu_ns"]), (&180.into(), &1440.into()));
    assert!(phases["loss_gpu_ns"].is_null());
}

/// The phases of a step are those that the playbook and the user name, and no others.
#[test]
fn phases_of_a_step_are_the_ranges_that_were_named() {
    let steps = Steps::new();
    let sql = "UPDATE NVTX_EVENTS SET text = 'hin' WHERE text = 'forward';
               UPDATE NVTX_EVENTS SET text = 'AdamW' WHERE text = 'optimizer_step';
               UPDATE NVTX_EVENTS SET text = 'zurück' WHERE text = 'backward'";
    let path = steps.changed("own_phases.sqlite", sql);
    let (code, document) = answer(&[&path, "--part", "d", "-p", "forward=hin", "-p", "backward=zurück"]);
    assert_eq!(code, 0, "{document}");
    let facts = &piece(&document, "d", 1)["facts"];
    for (fact, wanted) in
        [("forward_gpu_ns", 750), ("backward_gpu_ns", 510), ("optimizer_gpu_ns", 180), ("rest_pct", 0)]
    {
        assert!(is_near(&facts[fact], wanted.into()), "{fact}: {facts}");
    }
    // Without a name for the backward pass its time is in none of the ranges.
    let (_, document) = answer(&[&path, "--part", "d", "-p", "forward=hin"]);
    let text = piece(&document, "d", 1)["text"].as_str().unwrap();
    assert!(text.contains("35.4 % is outside these ranges") && !text.contains("backward"), "{text}");
    let none = steps.changed(
        "no_phases.sqlite",
        "DELETE FROM NVTX_EVENTS WHERE text IN ('forward', 'backward', 'optimizer_step')",
    );
    let (code, document) = answer(&[&none, "--part", "d"]);
    let reason = piece(&document, "d", 1)["reason"].as_str().unwrap();
    assert!(code == 3 && reason.contains("no range within the training step"), "{reason}");
}

const TIMINGS: &str = "model_size,num_params,context_length,batch_size,warmup_steps,measure_steps,forward_mean_ms,forward_std_ms,forward_cv_percent\n\
     small,128625408,512,4,5,10,0.000300,0.00001,3.3\n\
     small,128625408,256,4,5,10,0.000100,0.00001,3.3\n\
     medium,423183360,512,4,5,10,0.000500,0.00001,2.0\n";

/// The fifth error: time on the CPU taken for time on the GPU.
#[test]
fn cpu_and_gpu_time_are_told_apart_and_held_against_a_timer() {
    let steps = Steps::new();
    let timings = steps.file("timings.csv", TIMINGS);
    let (code, document) =
        answer(&[&steps.path(), "--part", "a", "--timings", &timings, "--model", "small"]);
    assert_eq!(code, 0);
    let cpu = &piece(&document, "a", 0)["facts"];
    assert_eq!(cpu["passes"], 3);
    for (fact, wanted) in
        [("forward_cpu_mean_ns", 500.0), ("forward_cpu_stddev_ns", 100.0), ("forward_cpu_cv_pct", 20.0)]
    {
        assert!(is_near(&cpu[fact], wanted), "{fact}");
    }
    let gpu = &piece(&document, "a", 1)["facts"];
    for (fact, wanted) in [
        ("forward_span_mean_ns", 300.0),
        ("forward_busy_mean_ns", 250.0),
        ("forward_idle_mean_ns", 50.0),
        ("forward_unlaunched_mean_ns", 30.0),
        ("unlaunched_pct", 10.0),
    ] {
        assert!(is_near(&gpu[fact], wanted), "{fact}: {}", gpu[fact]);
    }
    assert_eq!(gpu["is_launch_bound"], true);
    let timer = piece(&document, "a", 2);
    assert!(is_near(&timer["facts"]["timed_ns"], 300.0));
    let text = timer["text"].as_str().unwrap();
    assert!(text.contains("they do not match") && text.contains("The GPU works only 250 ns"), "{text}");
    let (_, document) =
        answer(&[&steps.path(), "--part", "a", "--timings", &timings, "--model", "medium"]);
    let text = piece(&document, "a", 2)["text"].as_str().unwrap();
    assert!(text.contains("they match within 5 %"), "{text}");
    let (_, document) =
        answer(&[&steps.path(), "--part", "a", "-p", "launch_bound_pct=10.5", "--timings", &timings]);
    assert_eq!(piece(&document, "a", 1)["facts"]["is_launch_bound"], false);
    // What is ambiguous is no answer.
    let reason = piece(&document, "a", 2)["reason"].as_str().unwrap();
    assert!(reason.starts_with("2 rows of the timings match"), "{reason}");
}

#[test]
fn passes_that_wait_for_each_other_are_not_held_against_a_timer_by_their_end() {
    let steps = Steps::new();
    let Some(shared) = shared() else { return };
    let export = shared.join("data/exports/a100_gpt2.7b_nvtx.sqlite");
    let csv = "model_size,context_length,batch_size,forward_mean_ms,forward_std_ms\n2.7B,512,4,5.0,\n";
    let timings = steps.file("q27.csv", csv);
    let (code, document) = answer(&[
        export.to_str().unwrap(),
        "--part=a",
        "--model=2.7B",
        "-p",
        "forward=scaled dot product attention",
        "--timings",
        &timings,
    ]);
    assert_eq!(code, 0);
    let timer = piece(&document, "a", 2);
    assert_eq!(
        (&timer["facts"]["passes_overlap"], &timer["facts"]["compared"]),
        (&true.into(), &"cpu".into())
    );
    let text = timer["text"].as_str().unwrap();
    assert!(text.contains("overlap") && !text.contains("profiler") && !text.contains("84.5"), "{text}");
    // Queued, by hand: from the end of the first launching call to the first kernel, of each range.
    let kernels = launched("'scaled dot product attention'", BY_THREAD);
    let sql = format!(
        "WITH one AS (
           SELECT e.rowid AS range_id, min(k.start) - min(r.end) AS queued_ns
           FROM ({kernels}) AS inside JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.rowid = inside.id
           JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
             ON r.correlationId = k.correlationId AND (r.globalTid >> 24) = (k.globalPid >> 24)
           JOIN NVTX_EVENTS AS e ON e.globalTid = r.globalTid AND r.start >= e.start AND r.end <= e.end
           LEFT JOIN StringIds AS t ON t.id = e.textId
           WHERE e.eventType = 59 AND coalesce(e.text, t.value) = 'scaled dot product attention'
             AND e.start > (SELECT w.end FROM NVTX_EVENTS AS w LEFT JOIN StringIds AS t ON t.id = w.textId
                            WHERE coalesce(w.text, t.value) = 'warmup')
           GROUP BY e.rowid)
         SELECT count(*), avg(max(queued_ns, 0)) FROM one"
    );
    let wanted = by_hand(&export, &sql).remove(0);
    let row =
        rows(piece(&document, "a", 0), "time").iter().find(|row| row["measure"] == "queued").unwrap();
    assert_eq!(row["range_count"].to_string(), wanted[0]);
    assert!(is_near(&row["mean_ns"], wanted[1].parse().unwrap()), "{row} {wanted:?}");
}

#[test]
fn without_gpu_work_a_timer_is_held_against_the_cpu_and_that_is_told() {
    let steps = Steps::new();
    let timings = steps.file("timings.csv", TIMINGS);
    let wsl = steps.changed("wsl2.sqlite", "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL");
    for (path, extra) in [(wsl, &[][..]), (steps.path(), &["--device", "7"][..])] {
        let mut arguments = vec![path.as_str(), "--part=a", "--model=medium", "--timings", &timings];
        arguments.extend(extra);
        let (_, document) = answer(&arguments);
        let timer = piece(&document, "a", 2);
        let text = timer["text"].as_str().unwrap();
        assert!(text.contains("The GPU time is unknown here"), "{text}");
        assert!(text.contains("500 ns on the CPU") && !text.contains("until its GPU work"), "{text}");
        assert_eq!(timer["facts"]["gpu_is_known"], false);
    }
    let text = stdout(&["answer", &steps.path(), "--part", "a", "--device", "7"]);
    assert!(
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains("(within --device 7)"),
        "{text}"
    );
}

#[test]
fn timings_that_are_no_numbers_are_refused_with_their_line() {
    let steps = Steps::new();
    let head = "model_size,context_length,batch_size,forward_mean_ms,forward_std_ms";
    let refused = |csv: &str, wanted: &str| {
        let file = steps.file("bad.csv", csv);
        let (code, _, error) = outcome(&["answer", &steps.path(), "--part", "a", "--timings", &file]);
        assert!(code == 1 && error.contains(wanted) && error.contains("bad.csv"), "{csv}: {error}");
    };
    for cell in ["9.5ms", "NaN", "inf", "\"9,5\"", "n/a"] {
        refused(&format!("{head}\nsmall,512,4,1.0,\nsmall,512,4,{cell},\n"), "line 3: invalid value `");
    }
    refused(
        &format!("{head}\nsmall,512,4,1.0,n/a\n"),
        "line 2: invalid value `n/a` in column forward_std_ms",
    );
    refused(
        &format!("{head},forward_mean_ms\nsmall,512,4,1.0,,2.0\n"),
        "two columns named forward_mean_ms",
    );
    refused(&format!("{head}\n"), "has a header line but no rows");
    // An empty cell is none, and no sentence has a hole for it.
    let file = steps.file("empty.csv", &format!("{head}\n,,,0.0005,\n"));
    let (code, document) = answer(&[&steps.path(), "--part", "a", "--timings", &file]);
    let text = piece(&document, "a", 2)["text"].as_str().unwrap();
    assert!(code == 0 && text.starts_with("Python's timer measured 500 ns. In the profile,"), "{text}");
    assert!(!document.to_string().contains("None"), "{document}");
    // An input is never overwritten.
    let (code, _, error) =
        outcome(&["answer", &steps.path(), "--timings", &file, "--format", "text", "-o", &file]);
    assert!(code == 2 && error.contains("is also an input"), "{error}");
}

#[test]
fn a_figure_without_a_value_takes_its_piece_and_no_other() {
    let steps = Steps::new();
    let sql = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start;
               UPDATE NVTX_EVENTS SET end = start WHERE text = 'nothing'";
    let path = steps.changed("zero.sqlite", sql);
    let (code, document) = answer(&[&path, "--model", "small"]);
    assert_eq!(code, 3);
    assert_eq!(piece(&document, "a", 0)["facts"]["passes"], 3);
    let reason = piece(&document, "e", 0)["reason"].as_str().unwrap();
    assert!(reason.contains("is divided by 0") && reason.contains("softmax_time_ratio"), "{reason}");
}

#[test]
fn classes_are_those_of_the_class_map() {
    let steps = Steps::new();
    let (code, _, error) = outcome(&["answer", &steps.path(), "-p", "matmul=gemm,nope"]);
    assert!(code == 2 && error.contains("unknown class 'nope'"), "{error}");
    let (code, _, error) =
        outcome(&["answer", &steps.path(), "--part", "c", "-p", "matmul=gemm,attention"]);
    assert_eq!(code, 0, "{error}");
}

#[test]
fn a_timer_that_nobody_gave_is_not_missed() {
    let steps = Steps::new();
    let path = steps.changed("none.sqlite", "DELETE FROM NVTX_EVENTS WHERE text = 'forward'");
    let (code, document) = answer(&[&path, "--part", "a"]);
    assert_eq!(code, 3);
    assert_eq!(piece(&document, "a", 2)["status"], "not asked for", "{document}");
}

#[test]
fn rates_are_told_only_of_a_shape_that_was_given() {
    let steps = Steps::new();
    let path = steps.path();
    let text = |extra: &[&str]| {
        let mut arguments = vec![path.as_str(), "--part=e", "--model=small"];
        arguments.extend(extra);
        piece(&answer(&arguments).1, "e", 1)["text"].as_str().unwrap().to_owned()
    };
    assert!(!text(&[]).contains("FLOP/s"), "{}", text(&[]));
    let given = text(&["-p", "batch_size=4", "-p", "context_length=512"]);
    assert!(given.contains("PFLOP/s (QK^T)"), "{given}");
    assert!(given.contains("memory-bound operation"), "{given}");
    // A width of 1 has fewer FLOPs in the products than in softmax, and they take longer: no claim about memory.
    let other = text(&["-p", "d_head=1"]);
    assert!(other.contains("no longer than the products") && !other.contains("memory"), "{other}");
}

#[test]
fn a_range_that_never_ended_is_no_pass() {
    let steps = Steps::new();
    let sql = "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid)
               SELECT max(start) + 1, NULL, 59, 'forward', globalTid FROM NVTX_EVENTS WHERE text = 'forward'";
    let (_, document) = answer(&[&steps.changed("open.sqlite", sql), "--part", "a"]);
    assert_eq!(piece(&document, "a", 0)["facts"]["passes"], 3, "{document}");
}

/// The sixth error: cut names, so that kernels look alike and matrix products are missed.
#[test]
fn names_are_whole_and_matrix_products_are_known_without_gemm_in_their_names() {
    let steps = Steps::new();
    let prefix = "x".repeat(120);
    let sql = format!(
        "UPDATE StringIds SET value = 'void {prefix}_softmax_a(int)' WHERE id = 20;
         UPDATE StringIds SET value = 'void {prefix}_softmax_b(int)' WHERE id = 40;"
    );
    let path = steps.changed("long.sqlite", &sql);
    let (_, document) = answer(&[&path, "--part", "c"]);
    let kernels = piece(&document, "c", 0);
    let names: Vec<&str> =
        rows(kernels, "others").iter().map(|row| row["kernel_name"].as_str().unwrap()).collect();
    assert!(names.contains(&format!("void {prefix}_softmax_a(int)").as_str()), "{names:?}");
    assert!(names.contains(&format!("void {prefix}_softmax_b(int)").as_str()), "{names:?}");
    let text = stdout(&["answer", &path, "--part", "c"]);
    assert!(text.contains(&format!("{prefix}_softmax_a(int)")), "{text}");
    // Sentences do not give two kernels one name either.
    let sentences = kernels["text"].as_str().unwrap();
    let named = |letter: &str| sentences.contains(&format!("`void {prefix}_softmax_{letter}(int)`"));
    let alike = steps.changed(
        "alike.sqlite",
        "UPDATE StringIds SET value = 'void f_kernel<float>(int)' WHERE id = 20;
         UPDATE StringIds SET value = 'void f_kernel<half>(int)' WHERE id = 40;",
    );
    let (_, document) = answer(&[&alike, "--part", "c"]);
    let text = piece(&document, "c", 0)["text"].as_str().unwrap();
    assert!(
        text.contains("`void f_kernel<float>(int)`") && text.contains("`void f_kernel<half>(int)`"),
        "{text}"
    );
    assert!(!named("a") || named("b"), "{sentences}");
    // nvjet, 20 %, is a matrix product.
    assert!(is_near(&kernels["facts"]["matmul_pct"], 60.0));
}

#[test]
fn autograds_thread_counts_for_forward_and_backward() {
    let steps = Steps::new();
    let (_, document) = answer(&[&steps.path(), "--part", "b"]);
    let both = &piece(&document, "b", 1)["facts"];
    assert_eq!(both["is_same_kernel"], false);
    assert_eq!(both["both_top_kernel"], "void ampere_sgemm_128x64_nt(float *, int)");
    assert_eq!(both["both_total_ns"], 450);
    assert!(is_near(&both["both_time_pct"], 100.0 * 450.0 / 1260.0));
    let text = stdout(&["answer", &steps.path(), "--part", "b"]);
    assert!(text.contains("--attribute process"), "{text}");
}

#[test]
fn without_kernels_what_can_be_answered_is() {
    let steps = Steps::new();
    let path = steps.changed(
        "wsl.sqlite",
        "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME",
    );
    let (code, document) = answer(&[&path, "--model", "small"]);
    assert_eq!(code, 3);
    assert!(is_near(&piece(&document, "a", 0)["facts"]["forward_cpu_cv_pct"], 20.0));
    for (part, place) in [("a", 1), ("b", 0), ("c", 0), ("d", 0), ("e", 0)] {
        let reason = piece(&document, part, place)["reason"].as_str().unwrap();
        assert!(reason.contains("CUPTI_ACTIVITY_KIND_KERNEL is missing"), "{part}: {reason}");
    }
    let none = steps.changed("none.sqlite", "DROP TABLE NVTX_EVENTS");
    let (code, out, _) = outcome(&["answer", &none, "--part", "a"]);
    assert!(
        code == 3 && out.contains("NVTX_EVENTS is missing") && out.contains("--trace=nvtx"),
        "{out}"
    );
}

#[test]
fn what_a_report_hides_is_told() {
    let fixtures = Fixtures::new();
    let path = fixtures.trace("nvtx_projection");
    let (_, document) = answer(&[path.to_str().unwrap(), "--part", "a"]);
    let results = &piece(&document, "a", 0)["results"][0];
    assert!(
        results["notes"][0].as_str().unwrap().contains("CUDA graphs were traced as a whole"),
        "{results}"
    );
}

#[test]
fn a_name_of_ones_own_goes_before_the_playbooks() {
    let steps = Steps::new();
    let path = steps.changed(
        "own.sqlite",
        "UPDATE NVTX_EVENTS SET text = 'vorwärts [' || rowid || ']' WHERE text = 'forward'",
    );
    let (code, out, _) = outcome(&["answer", &path, "--part", "a"]);
    assert!(
        code == 3 && out.contains("no NVTX range matches pattern 'forward' (forward pass)"),
        "{out}"
    );
    for given in ["forward=vorwärts*", "forward=/^vorw/", "forward=/ \\[\\d+\\]$/"] {
        let (code, document) = answer(&[&path, "--part", "a", "-p", given]);
        assert_eq!(code, 0, "{given}");
        assert_eq!(piece(&document, "a", 0)["facts"]["passes"], 3, "{given}");
    }
    let (code, _, error) = outcome(&["answer", &path, "-p", "forwrd=x"]);
    assert!(code == 2 && error.contains("did you mean 'forward'"), "{error}");
    let (code, _, error) = outcome(&["answer", &path, "--part", "f"]);
    assert!(code == 2 && error.contains("Parts of cs336: a, b, c, d, e"), "{error}");
}

const THREE: &str = r#"
name: three
version: 1
title: Another course
doc: Three questions, without a line of Rust.
params:
  - {name: slow_ns, type: int, default: 100, doc: "From here on a kernel is slow."}
patterns:
  - {name: step, doc: step, any: [train_*, training_step_*]}
  - {name: opt, doc: optimizer, any: [optimizer_step]}
parts:
  - part: '1'
    question: How long is a step?
    answers:
      - about: the length of a step
        queries:
          - {as: t, query: range_time_sum, params: {ranges: '{step}'}, key: measure}
        facts:
          - {name: mean_ns, is: t.by.cpu.mean_ns}
        text: "A step takes {{ mean_ns|time }}."
  - part: '2'
    question: Which kernels are slow?
    answers:
      - about: the slow kernels
        queries:
          - {as: k, query: top_kernels, params: {name: short}, nvtx: ['{step}'], attribute: process}
        facts:
          - {name: slow, is: 'k.rows|selectattr("mean_ns", "ge", params.slow_ns)|map(attribute="kernel_name")|list'}
        text: |
          {% for name in slow %}
          - {{ name|name }}
          {% endfor %}
  - part: '3'
    question: What part of the step is the optimizer?
    answers:
      - about: the optimizer's part
        queries:
          - {as: o, query: class_sum, nvtx: ['{opt}'], iter: ['{step}']}
          - {as: all, query: class_sum, nvtx: ['{step}'], attribute: process}
        facts:
          - {name: part_pct, is: '100.0 * o.rows|sum(attribute="total_ns") / all.rows|sum(attribute="total_ns")'}
        text: "{{ part_pct|pct }}"
"#;

#[test]
fn another_course_writes_its_own_playbook() {
    let steps = Steps::new();
    let file = steps.file("three.yml", THREE);
    let (code, document) = answer(&[&steps.path(), "--playbook", &file]);
    assert_eq!(code, 0, "{document}");
    assert!(is_near(&piece(&document, "1", 0)["facts"]["mean_ns"], 940.0));
    assert_eq!(piece(&document, "2", 0)["facts"]["slow"], serde_json::json!(["ampere_sgemm_128x64_nt"]));
    assert_eq!(piece(&document, "2", 0)["text"], "- `ampere_sgemm_128x64_nt`");
    // 3 * 60 of 3 * 480.
    assert!(is_near(&piece(&document, "3", 0)["facts"]["part_pct"], 12.5));
    assert_eq!(document["playbook"]["name"], "three");
    // From a folder of one's own, by name; the check reads it, and `show` and `list` know it.
    let folder = steps.fixtures.path().join("mine/playbooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(&file, folder.join("three.yml")).unwrap();
    let mine = folder.parent().unwrap().to_str().unwrap().to_owned();
    let text =
        stdout(&["answer", &steps.path(), "--playbook", "three", "--queries", &mine, "--part", "2,1"]);
    assert!(text.find("(1) How long").unwrap() < text.find("(2) Which").unwrap(), "{text}");
    assert!(!text.contains("(3)"), "{text}");
    assert!(stdout(&["check", &mine]).contains("checked, 0 findings"));
    assert!(stdout(&["list", "--playbooks", "--queries", &mine]).contains("three"));
    assert!(stdout(&["show", &file]).contains("slow_ns"));
    assert!(stdout(&["show", "cs336"]).contains("QUESTIONS"));
}

#[test]
fn the_filters_are_documented() {
    let readme = std::fs::read_to_string(project("queries/README.md")).unwrap();
    for (name, doc) in nsq::answer::FILTERS {
        assert!(readme.contains(&format!("`{name}`")) && doc.ends_with('.'), "{name}");
    }
}

#[test]
fn a_broken_playbook_is_told_with_its_line() {
    let steps = Steps::new();
    let findings = |from: &str, to: &str| {
        assert!(THREE.contains(from), "{from}");
        let folder = steps.fixtures.path().join("broken/playbooks");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("three.yml"), THREE.replace(from, to)).unwrap();
        let (code, out, _) = outcome(&["check", folder.parent().unwrap().to_str().unwrap()]);
        assert_eq!(code, 1, "{out}");
        assert!(out.contains("three.yml:"), "{out}");
        out
    };
    for (from, to, wanted) in [
        ("query: top_kernels", "query: top_kernel", "unknown or unreadable query 'top_kernel'"),
        ("nvtx: ['{opt}']", "nvtx: ['{optim}']", "unknown pattern 'optim'"),
        ("key: measure", "key: mesure", "unknown column 'mesure'"),
        ("{{ mean_ns|time }}", "{{ men_ns|time }}", "uses 'men_ns'"),
        ("{{ mean_ns|time }}", "{{ mean_ns|time", "invalid template"),
        ("t.by.cpu.mean_ns", "u.by.cpu.mean_ns", "uses 'u'"),
        ("params: {name: short}", "params: {nam: short}", "unknown parameter 'nam'"),
        ("any: [optimizer_step]", "any: [{match: '('}]", "pattern 'opt'"),
        ("question: How long", "qestion: How long", "unknown field `qestion`"),
        ("name: three", "name: tree", "tree"),
        ("{{ mean_ns|time }}", "{{ mean_ns|tme }}", "unknown filter 'tme'"),
        ("t.by.cpu.mean_ns", "t.by.cpu.mean", "unknown column 'mean'"),
        (", key: measure}", "}", "`t.by` needs a `key`"),
        (
            "{name: short}",
            "{limit: abc}",
            "invalid value 'abc' for parameter 'limit': expected an integer",
        ),
        (
            "type: int, default: 100",
            "type: int, default: ten",
            "invalid value 'ten' for parameter 'slow_ns': expected an integer",
        ),
        ("patterns:", "classes: [slow_ns]\npatterns:", "'slow_ns' is not a parameter of type list"),
        (
            "part_pct|pct }}",
            "part_pct|pct }}{% for row in all.rows %}{{ row.totla_ns|time }}{% endfor %}",
            "unknown column 'totla_ns'",
        ),
    ] {
        let out = findings(from, to);
        assert!(out.contains(wanted), "{to}: {out}");
    }
    // A figure that is not there is no sentence with a hole.
    let file = steps.file("hole.yml", &THREE.replace("t.by.cpu.mean_ns", "t.by.cpu.mean"));
    let (code, out, error) = outcome(&["answer", &steps.path(), "--playbook", &file]);
    assert_eq!((code, out.as_str()), (1, ""), "{error}");
    assert!(error.contains("hole.yml:") && error.contains("fact mean_ns"), "{error}");
}

#[test]
fn names_from_outside_are_harmless() {
    let steps = Steps::new();
    let evil = "evil`|\u{1b}[31m\n# x<img src=x>";
    let sql = format!("UPDATE StringIds SET value = '{evil}' WHERE id IN (10, 11)");
    let path = steps.changed("evil.sqlite", &sql);
    let text = stdout(&["answer", &path, "--part", "b"]);
    assert!(!text.contains('\u{1b}') && text.contains("|\\u{1b}[31m\\n# x"), "{text}");
    // The name's own backquote ends no quotation: what is quoted comes in pairs.
    let sentences = text.split("kernels: ").next().unwrap();
    assert_eq!(sentences.matches('`').count() % 2, 0, "{sentences}");
    let markdown = stdout(&["answer", &path, "--part", "b", "--format", "markdown"]);
    assert!(!markdown.contains('\u{1b}') && !markdown.contains("\n# x"), "{markdown}");
    // Outside code it is escaped.
    for line in markdown.lines().filter(|line| line.starts_with('|')) {
        assert!(!line.contains("<img"), "{line}");
    }
    let (_, document) = answer(&[&path, "--part", "b"]);
    assert_eq!(piece(&document, "b", 0)["facts"]["top_kernel"], evil);
}

/// Files below a folder, by path.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(current) = pending.pop() {
        for entry in std::fs::read_dir(current).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { pending.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found.iter().map(|path| path.strip_prefix(folder).unwrap().to_owned()).collect()
}

#[test]
fn a_folder_is_answered_whole_and_every_failure_is_named() {
    let steps = Steps::new();
    let folder = steps.fixtures.path().join("profiles");
    std::fs::create_dir_all(folder.join("part_b")).unwrap();
    std::fs::copy(steps.path(), folder.join("part_b/good.sqlite")).unwrap();
    let bare = steps.changed("bare.sqlite", "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL");
    std::fs::copy(bare, folder.join("bare.sqlite")).unwrap();
    let (path, reports) = (folder.to_str().unwrap(), steps.fixtures.path().join("stats_reports"));
    let summary = steps.fixtures.path().join("summary.md");
    let run = |extra: &[&str]| {
        let mut all = vec!["answer", path, "--part", "a,b", "--reports", reports.to_str().unwrap()];
        all.extend(extra);
        outcome(&all)
    };
    let (code, _, error) = run(&["-o", summary.to_str().unwrap()]);
    assert_eq!(code, 3, "{error}");
    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(text.contains("| part\\_b/good | answered | answered |"), "{text}");
    assert!(text.contains("| bare | partly | no data |"), "{text}");
    assert!(text.contains("not written: cuda\\_gpu\\_kern\\_sum needs CUDA kernels"), "{text}");
    // Nothing but whole reports, and those as `nsq stats` prints them.
    let names: Vec<String> =
        files(&reports).iter().map(|path| path.display().to_string().replace('\\', "/")).collect();
    let wanted = [
        "bare_cuda_api_sum.txt",
        "bare_nvtx_sum.txt",
        "part_b/good_cuda_api_sum.txt",
        "part_b/good_cuda_gpu_kern_sum.txt",
        "part_b/good_nvtx_sum.txt",
    ];
    assert_eq!(names, wanted);
    let good = folder.join("part_b/good.sqlite");
    for report in ["nvtx_sum", "cuda_api_sum", "cuda_gpu_kern_sum"] {
        let printed = stdout(&["stats", "--report", report, good.to_str().unwrap()]);
        let written =
            std::fs::read_to_string(reports.join(format!("part_b/good_{report}.txt"))).unwrap();
        assert_eq!(printed, written, "{report}");
    }
    // A broken one is named, in the exit code too, and the others are answered all the same.
    std::fs::write(folder.join("broken.sqlite"), "junk").unwrap();
    let (code, out, error) = run(&["--format", "json"]);
    assert_eq!(code, 1);
    assert!(error.contains("failed: broken: "), "{error}");
    let document: Json = serde_json::from_str(&out).unwrap();
    assert_eq!(document["profiles"].as_array().unwrap().len(), 3);
    assert!(document["failures"][0].as_str().unwrap().contains("is not a SQLite database"));
    let error =
        document["profiles"].as_array().unwrap().iter().find(|p| p["profile"] == "broken").unwrap();
    assert!(error["error"].as_str().unwrap().contains("broken.sqlite"));
    // A profile is never written over.
    let (code, _, error) =
        run(&["--format", "text", "-o", folder.join("part_b/good.sqlite").to_str().unwrap()]);
    assert!(code == 2 && error.contains("nsq never overwrites a report"), "{error}");
    // Nothing appeared in the folder itself.
    assert_eq!(files(&folder).len(), 3);
}

/// Traces of PyTorch are profiles, other JSON is not, and an export beside a trace is its import.
#[test]
fn traces_in_a_folder_are_profiles() {
    let steps = Steps::new();
    let event = r###"{"ph": "X", "cat": "user_annotation", "name": "## forward ##", "pid": 1, "tid": 1, "ts": 10, "dur": 5}"###;
    let launch = r#"{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 11, "dur": 1, "args": {"correlation": 7}}"#;
    let kernel = r#"{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 13, "dur": 1, "args": {"correlation": 7, "stream": 7, "device": 0}}"#;
    let trace = format!("{{\"schemaVersion\": 1, \"traceEvents\": [{event}, {launch}, {kernel}]}}");
    steps.file("traces/run.pt.trace.json", &trace);
    steps.file("traces/settings.json", "{\"lr\": 0.1}");
    let folder = steps.fixtures.path().join("traces");
    let (code, document) = answer(&[folder.to_str().unwrap(), "--part", "a,b"]);
    assert_eq!(code, 3, "{document}");
    let profiles = document["profiles"].as_array().unwrap();
    let names: Vec<&str> = profiles.iter().map(|p| p["profile"].as_str().unwrap()).collect();
    assert_eq!(names, ["run.pt.trace"]);
    assert_eq!(piece(&profiles[0], "a", 0)["facts"]["forward_cpu_mean_ns"], 5000.0);
    assert_eq!(piece(&profiles[0], "b", 0)["facts"]["top_kernel"], "gemm");
    std::fs::copy(steps.path(), folder.join("run.pt.trace.sqlite")).unwrap();
    let (_, document) = answer(&[folder.to_str().unwrap(), "--part", "a"]);
    assert_eq!(document["profiles"].as_array().unwrap().len(), 1);
}

#[test]
fn a_capture_and_its_export_are_one_profile() {
    let steps = Steps::new();
    let folder = steps.fixtures.path().join("both");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("run.nsys-rep"), "a capture").unwrap();
    let export = folder.join("run.sqlite");
    std::fs::copy(steps.path(), &export).unwrap();
    let path = folder.to_str().unwrap();
    let age = |path: &Path, seconds: u64| {
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds))
            .unwrap();
    };
    age(&folder.join("run.nsys-rep"), 1_000_000);
    age(&export, 2_000_000);
    let text = stdout(&["answer", path, "--part", "a"]);
    assert!(text.contains("1 profile ") && text.contains("`run.sqlite`"), "{text}");
    // An export that is older than its capture is not what the capture says.
    age(&export, 500_000);
    let output = nsq().args(["answer", path, "--part", "a"]).env("PATH", "").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("failed: run: "));
    let empty = steps.fixtures.path().join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    let (code, _, error) = outcome(&["answer", empty.to_str().unwrap()]);
    assert!(code == 1 && error.contains("contains no profile"), "{error}");
}

/// Rows of a statement on an export, as text.
fn by_hand(export: &Path, sql: &str) -> Vec<Vec<String>> {
    let connection =
        Connection::open_with_flags(export, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let width = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..width).map(|at| row.get::<_, rusqlite::types::Value>(at)).collect::<Result<Vec<_>, _>>()
    });
    let text = |value: rusqlite::types::Value| match value {
        rusqlite::types::Value::Integer(int) => int.to_string(),
        rusqlite::types::Value::Real(real) => real.to_string(),
        rusqlite::types::Value::Text(text) => text,
        _ => String::new(),
    };
    rows.unwrap().map(|row| row.unwrap().into_iter().map(text).collect()).collect()
}

/// Kernels whose launch lies in ranges of these names: of the ranges' thread, or of their process.
fn launched(ranges: &str, owner: &str) -> String {
    format!(
        "SELECT k.rowid AS id, k.end - k.start AS ns, n.value AS name
         FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS n ON n.id = k.demangledName
         JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
           ON r.correlationId = k.correlationId AND (r.globalTid >> 24) = (k.globalPid >> 24)
         WHERE EXISTS (SELECT 1 FROM NVTX_EVENTS AS e LEFT JOIN StringIds AS t ON t.id = e.textId
                       WHERE e.eventType = 59 AND coalesce(e.text, t.value) IN ({ranges})
                         AND {owner} AND r.start >= e.start AND r.end <= e.end)"
    )
}

const BY_THREAD: &str = "e.globalTid = r.globalTid";
const BY_PROCESS: &str = "(e.globalTid >> 24) = (r.globalTid >> 24)";

#[test]
fn parts_b_and_d_stand_against_sql_by_hand() {
    let Some(shared) = shared() else { return };
    let export = |name: &str| shared.join(format!("data/exports/{name}.sqlite"));
    let (forward, training) = (export("a100_fwd_nvtx_2026.3"), export("a100_opt_nvtx_2026.3"));
    let (code, document) =
        answer(&[forward.to_str().unwrap(), training.to_str().unwrap(), "--model", "small"]);
    assert_eq!(code, 0);
    let top = |export: &Path, kernels: &str| {
        let sql = format!(
            "WITH k AS ({kernels}) SELECT name, sum(ns), count(*), 100.0 * sum(ns) / (SELECT sum(ns) FROM k)
             FROM k GROUP BY name ORDER BY 2 DESC LIMIT 1"
        );
        by_hand(export, &sql).remove(0)
    };
    let check = |facts: &Json, prefix: &str, name: &str, row: &[String]| {
        assert_eq!(facts[name], row[0].as_str());
        assert_eq!(facts[format!("{prefix}total_ns")].to_string(), row[1]);
        assert_eq!(facts[format!("{prefix}calls")].to_string(), row[2]);
        assert!(is_near(&facts[format!("{prefix}time_pct")], row[3].parse().unwrap()));
    };
    let inside = launched("'forward pass'", BY_THREAD);
    check(&piece(&document, "b", 0)["facts"], "top_", "top_kernel", &top(&forward, &inside));
    assert!(is_near(&piece(&document, "b", 0)["facts"]["top_calls_per_pass"], 24.0));
    let both = launched("'forward pass', 'backward pass'", BY_PROCESS);
    check(&piece(&document, "b", 1)["facts"], "both_", "both_top_kernel", &top(&training, &both));

    // In these captures every matrix product is one of cuBLAS, with gemm in its name.
    let share = |export: &Path, kernels: &str| -> f64 {
        let sql =
            format!("SELECT 100.0 * sum(iif(name GLOB '*gemm*', ns, 0)) / sum(ns) FROM ({kernels})");
        by_hand(export, &sql)[0][0].parse().unwrap()
    };
    let step = launched("'forward pass', 'loss', 'backward pass', 'optimizer step'", BY_PROCESS);
    let (before, after) = (share(&forward, &inside), share(&training, &step));
    let facts = &piece(&document, "d", 0)["facts"];
    assert!(is_near(&facts["inference_matmul_pct"], before), "{facts}");
    assert!(is_near(&facts["training_matmul_pct"], after), "{facts}");
    assert!((facts["matmul_change_pct"].as_f64().unwrap() - (after - before)).abs() < 1e-9);
    // (a): the range, and its kernels and copies, by hand.
    let cpu = by_hand(
        &forward,
        "SELECT e.end - e.start FROM NVTX_EVENTS AS e LEFT JOIN StringIds AS t ON t.id = e.textId
         WHERE coalesce(e.text, t.value) = 'forward pass'",
    );
    assert!(is_near(
        &piece(&document, "a", 0)["facts"]["forward_cpu_mean_ns"],
        cpu[0][0].parse().unwrap()
    ));
}

#[test]
fn attention_is_answered_where_no_forward_range_is() {
    let Some(shared) = shared() else { return };
    let export = shared.join("data/exports/a100_gpt2.7b_nvtx.sqlite");
    let (code, document) = answer(&[export.to_str().unwrap(), "--model", "2.7B"]);
    assert_eq!(code, 3);
    for (part, place) in [("a", 0), ("b", 0), ("c", 0), ("d", 0)] {
        let reason = piece(&document, part, place)["reason"].as_str().unwrap();
        assert!(reason.contains("no NVTX range matches pattern 'forward' (forward pass)"), "{reason}");
        assert!(reason.contains("`benchmark_loop` (1)"), "{reason}");
    }
    let times = &piece(&document, "e", 0)["facts"];
    assert_eq!(times["attentions"], 96);
    // Not in the warm-up: 96 of 128. Kernels by their launch, between the warm-up's end and the capture's.
    for (fact, range) in [
        ("scores_mean_ns", "computing attention scores"),
        ("softmax_mean_ns", "computing softmax"),
        ("values_mean_ns", "final matmul"),
    ] {
        let kernels = launched(&format!("'{range}'"), BY_THREAD);
        let sql = format!(
            "SELECT sum(ns) / 96.0 FROM ({kernels}) WHERE id IN (
               SELECT k.rowid FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
                 ON r.correlationId = k.correlationId AND (r.globalTid >> 24) = (k.globalPid >> 24)
               WHERE r.start > (SELECT e.end FROM NVTX_EVENTS AS e LEFT JOIN StringIds AS t ON t.id = e.textId
                                WHERE coalesce(e.text, t.value) = 'warmup'))"
        );
        let wanted: f64 = by_hand(&export, &sql)[0][0].parse().unwrap();
        assert!(is_near(&times[fact], wanted), "{fact}: {} {wanted}", times[fact]);
    }
    assert_eq!(piece(&document, "e", 1)["facts"]["product_flop"], 5_368_709_120_i64);
    // Named by the user, the loop is the forward pass.
    let (code, _, _) =
        outcome(&["answer", export.to_str().unwrap(), "--part", "a,c", "-p", "forward=benchmark_loop"]);
    assert_eq!(code, 0);
}

#[test]
fn the_shipped_playbook_says_of_every_export_what_it_can() {
    for export in crate::support::shared_exports() {
        let (code, out, error) = outcome(&["answer", export.to_str().unwrap(), "--model", "small"]);
        assert!(code == 0 || code == 3, "{}: exit {code}: {error}", export.display());
        assert!(out.contains("(e) ") && !error.contains("panicked"), "{error}");
    }
    assert!(project("queries/playbooks/cs336.yml").exists());
}
