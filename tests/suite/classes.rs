//! `nsq classes`: the seed tools' output figure for figure, the exact figures, and invalid files.

use crate::support::{Fixtures, nsq, project, shared, stdout};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A folder to run nsq in, with files to read.
struct Folder(tempfile::TempDir);

const KERNELS: &str =
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";
const MEMORY: &str =
    "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n";
const RANGES: &str = "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),Style,PID,TID,NumGPUOps,Lvl,NumChild,RangeId,ParentId,RangeStack\n";

fn sum(total: impl std::fmt::Display, calls: impl std::fmt::Display, name: &str) -> String {
    format!("0,{total},{calls},0,0,0,0,0,\"{name}\"\n")
}

fn range(name: &str, dur: i64, pid: i64) -> String {
    format!("{name},0,{dur},0,0,PushPop,{pid},1,4,0,0,1,None,:1\n")
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.0.path().join(name), text).unwrap();
        self
    }

    /// A small case whose figures are known from the seed tool itself.
    fn micro_case() -> Self {
        let folder = Self::new();
        let kernels = [
            sum(10_000_000, 7, "My_GEMM_softmax"),
            sum(1_000_000, 3, "other"),
            sum(5_000_000, 9, "ncclDevKernel_AllReduce_Sum"),
            sum(1_000, 1, "ncclDevKernel_AllGather_RING_LL(x)"),
        ];
        let memory =
            [sum(3_000_000, 9, "[CUDA memcpy Device-to-Device]"), sum(1_000, 1, "[CUDA memcpy DtoH]")];
        let ranges = [range("it", 8_000_000, 1), range("it", 8_000_000, 1), range("it ", 1, 1)];
        folder
            .put("k.csv", KERNELS.to_owned() + &kernels.concat())
            .put("m.csv", MEMORY.to_owned() + &memory.concat())
            .put("n.csv", RANGES.to_owned() + &ranges.concat())
            .put("c.json", config("it", "\"gemm\": \"GEMM\", \"softmax\": \"Softmax\","));
        folder
    }

    /// Exit code, standard output and standard error of a run in the folder.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = nsq().arg("classes").args(arguments).current_dir(self.0.path()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (out, error) = (text(output.stdout), text(output.stderr));
        assert!(!error.contains("panicked"), "{arguments:?}: {error}");
        (output.status.code().unwrap_or(-1), out, error)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let (code, out, error) = self.run(&[arguments, &["--format", "json"]].concat());
        assert_eq!(code, 0, "{error}");
        serde_json::from_str(&out).unwrap()
    }
}

fn config(tag: &str, map: &str) -> String {
    format!(
        "{{ // comments and trailing commas\n  \"inputs\": [{{\n    \"format\": \"csv\", \"title\": \"mine\",\n    \
         \"nsys_csv_file_path\": {{\"kernel_sum\": \"k.csv\", \"nvtx_proj_trace\": \"n.csv\", \"mem_time_sum\": \"m.csv\"}},\n    \
         \"analysis_args\": {{\"num_of_iters\": 2, \"num_of_gpus\": 2, \"nvtx_tag_of_iter\": \"{tag}\",}},\n  }},],\n  \
         \"kernel_to_class_map\": {{{map}}},\n}}\n"
    )
}

fn find<'v>(document: &'v Value, section: &str, class: &str) -> &'v Value {
    let rows = document["rows"].as_array().unwrap();
    rows.iter()
        .find(|row| row["section"] == section && row["class"] == class)
        .unwrap_or_else(|| panic!("no {section} {class} in {document}"))
}

#[test]
fn seed_compat_prints_the_seed_tools_block() {
    let folder = Folder::micro_case();
    let (code, out, error) = folder.run(&["--config", "c.json", "--seed-compat"]);
    let expected = "\
===== mine =====
Kernel time per iteration: 2.750 (ms)
Kernel instances per iteration: 1
Kernel total time: 11.000 (ms)
Kernel total instances: 10
Kernel Statistic:
Class            TimePerIter(ms)  InstancePerIter  TimePerIter(%)   TotalTime(ms)    TotalInstance  TotalTime(%)   
others                      0.25                0            9.09            1.00                3          9.09
gemm                        2.50                1           90.91           10.00                7         90.91
softmax                     0.00                0            0.00            0.00                0          0.00

NCCL time per iteration: 1.250 (ms)
NCCL instances per iteration: 2
NCCL total time: 5.001 (ms)
NCCL total instances: 10
NCCL Statistic:
Class            TimePerIter(ms)  InstancePerIter  TotalTime(ms)    TotalInstance  
AllReduce                   1.25                2           5.00                9
AllGather                   0.00                0           0.00                1

Mem Ops Statistic:
Class                  TimePerIter(ms)  InstancePerIter  TotalTime(ms)    TotalInstance  
[CUDA memcpy D2D]                 0.75                2           3.00                9
[CUDA memcpy DtoH]                0.00                0           0.00                1

NVTX range count: 2
NVTX average range time: 8.000 (ms)
NVTX total range time: 16.000 (ms)

Estimated non-hidden NCCL, mem ops and bubble time per range: 5.250 (ms)
Estimated non-hidden NCCL, mem ops and bubble time per range: 65.62 (%)
Estimated non-hidden NCCL, mem ops and bubble total time: 5.000 (ms)
Estimated non-hidden NCCL, mem ops and bubble total time: 31.25 (%)


";
    assert_eq!((code, out.as_str(), error.as_str()), (0, expected, ""));
    let (_, kernel_stats, _) = folder.run(&["--config", "c.json", "--seed-compat=kernel-stats"]);
    let expected = expected.trim_end().replace("bubble total time", "bubble time") + "\n";
    let expected = expected.replace(
        "[CUDA memcpy D2D]                 0.75",
        "[CUDA memcpy Device-to-Device]           0.75",
    );
    assert_eq!(kernel_stats, expected);
}

#[test]
fn options_give_the_same_output_as_a_config() {
    let folder = Folder::micro_case();
    folder.put("map.json", "{\"gemm\": \"GEMM\", \"softmax\": \"Softmax\"}");
    let (_, by_config, _) = folder.run(&["--config", "c.json", "--seed-compat"]);
    let files = ["--kernel-sum", "k.csv", "--nvtx-proj", "n.csv", "--mem-time", "m.csv"];
    let rest =
        ["--iter-tag", "it", "--iters", "2", "--gpus", "2", "--title", "mine", "--classes", "map.json"];
    let (code, by_options, error) = folder.run(&[&files[..], &rest, &["--seed-compat"]].concat());
    assert_eq!((code, by_options), (0, by_config), "{error}");
}

#[test]
fn without_seed_compat_figures_are_exact_and_shares_name_their_whole() {
    let document = Folder::micro_case().json(&["--config", "c.json"]);
    let gemm = find(&document, "kernel", "GEMM");
    assert_eq!(gemm["total_ns"], 10_000_000);
    assert_eq!(gemm["per_iteration_ns"], 2_500_000.0);
    assert_eq!((&gemm["count"], &gemm["count_per_iteration"]), (&7.into(), &1.75.into()));
    assert_eq!(
        (&gemm["share_pct"], &gemm["share_of"]),
        (&(1000.0 / 11.0).into(), &"compute kernels".into())
    );
    assert_eq!(find(&document, "communication", "AllGather")["count_per_iteration"], 0.25);
    // Two ranges of one process with two GPUs: each window counts for both GPUs.
    let rest = find(&document, "estimate", "not compute");
    assert_eq!((&rest["total_ns"], &rest["share_pct"]), (&21_000_000.into(), &65.625.into()));
    assert_eq!(rest["per_iteration_ns"], 5_250_000.0);
    let input = &document["inputs"][0];
    assert_eq!(
        (&input["iterations"], &input["gpus"], &input["windows"]),
        (&2.0.into(), &2.into(), &2.into())
    );
    let notes = input["notes"].to_string();
    assert!(notes.contains("not a multiple of 4 for GEMM, others, AllReduce, AllGather"), "{notes}");
    assert!(notes.contains("the sums cover the whole capture"), "{notes}");
}

#[test]
fn iterations_and_gpus_are_counted() {
    let folder = Folder::micro_case();
    let ranges = [range("it", 8_000_000, 1), range(":it", 8_000_000, 2), range("load", 1, 1)];
    folder.put("n.csv", RANGES.to_owned() + &ranges.concat());
    let files = ["--kernel-sum", "k.csv", "--nvtx-proj", "n.csv"];
    let counted = |tag: &str| folder.json(&[&files[..], &["--iter", tag]].concat())["inputs"][0].clone();
    let both = counted("*it");
    assert_eq!(
        (&both["iterations"], &both["gpus"], &both["processes"]),
        (&1.0.into(), &2.into(), &2.into())
    );
    let one = counted(":it");
    assert_eq!((&one["iterations"], &one["windows"]), (&1.0.into(), &1.into()));
    let none = counted("itt");
    assert_eq!(none["iterations"], Value::Null);
    assert!(
        none["notes"].to_string().contains("no projected range is named 'itt'; ranges include"),
        "{none}"
    );
}

#[test]
fn inputs_that_crash_the_seed_tool_give_a_block_and_a_reason() {
    let folder = Folder::micro_case();
    folder
        .put("c.json", config("it*s", "\"gemm\": \"gemm\""))
        .put("k.csv", KERNELS.to_owned() + &sum(7, 1, "void ncclFoo<int>(x)"));
    let (code, out, error) = folder.run(&["--config", "c.json", "--seed-compat"]);
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("[Warning]: "), "{out}");
    assert!(
        out.contains(
            "unknown                     0.00                0           0.00                1\n"
        ),
        "{out}"
    );
    assert!(out.contains("NVTX range count: 0\n") && !out.contains("Estimated"), "{out}");
    assert!(out.contains("             nan"), "{out}");
    for reason in [
        "its operation is unknown",
        "not a number",
        "no tagged range",
        "is named 'it*s'; ranges include",
    ] {
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

#[test]
fn keys_inside_other_keys_are_errors_only_with_seed_compat_or_strict() {
    let folder = Folder::micro_case();
    folder.put("c.json", config("it", "\"my_gemm\": \"a\", \"gemm\": \"b\""));
    for strict in ["--seed-compat", "--strict"] {
        let (code, _, error) = folder.run(&["--config", "c.json", strict]);
        assert!(code == 2 && error.contains("key 'gemm' is part of key 'my_gemm'"), "{error}");
    }
    let document = folder.json(&["--config", "c.json"]);
    assert_eq!(find(&document, "kernel", "a")["count"], 7);
    let notes = document["inputs"][0]["notes"].to_string();
    assert!(notes.contains("`My_GEMM_softmax` is a and also matches b"), "{notes}");
}

#[test]
fn a_kernel_with_nccl_only_in_its_parameters_is_not_communication() {
    let folder = Folder::micro_case();
    let kernels = [
        sum(3, 1, "void my_gemm<ncclFoo_x>(ncclComm*)"),
        sum(5, 1, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
        sum(7, 1, "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)"),
    ];
    folder.put("k.csv", KERNELS.to_owned() + &kernels.concat());
    let document = folder.json(&["--config", "c.json"]);
    assert_eq!(find(&document, "kernel", "GEMM")["total_ns"], 3);
    assert_eq!(find(&document, "communication", "ReduceScatter")["total_ns"], 5);
    assert_eq!(find(&document, "communication", "AllReduce")["total_ns"], 7);
}

#[test]
fn several_inputs_are_compared_and_a_failing_one_does_not_hide_the_others() {
    let folder = Folder::micro_case();
    let two = config("it", "\"gemm\": \"g\"").replace("},],", "}, {\"format\": \"sqlite\", \"title\": \"gone\", \"nsys_report\": {\"path\": \"gone.sqlite\"}}],");
    folder.put("c.json", &two);
    let (code, out, error) = folder.run(&["--config", "c.json"]);
    assert!(code == 1 && out.contains("mine: 2 iterations of `it` on 2 GPUs"), "{out}{error}");
    assert!(
        error.contains("note: gone failed:\nerror: ")
            && error.contains("relative to the working directory"),
        "{error}"
    );
    let (code, _, _) = folder.run(&["--config", "c.json", "-o", "out.csv"]);
    assert!(
        code == 1 && !folder.0.path().join("out.csv").exists(),
        "a failed run must not write the output file"
    );
    folder.put("c.json", two.replace("\"format\": \"sqlite\", \"title\": \"gone\", \"nsys_report\": {\"path\": \"gone.sqlite\"}", "\"format\": \"csv\", \"title\": \"again\", \"nsys_csv_file_path\": {\"kernel_sum\": \"k.csv\"}, \"analysis_args\": {\"num_of_iters\": 1}"));
    let (code, out, error) = folder.run(&["--config", "c.json"]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("Side by side: time per iteration and GPU") && out.contains("again"), "{out}");
    let (_, blocks, _) = folder.run(&["--config", "c.json", "--seed-compat"]);
    assert!(blocks.contains("31.25 (%)\n\n\n===== again ====="), "{blocks}");
}

#[test]
fn a_missing_path_that_exists_beside_the_config_is_suggested() {
    let folder = Folder::micro_case();
    std::fs::create_dir(folder.0.path().join("in")).unwrap();
    for file in ["k.csv", "c.json"] {
        std::fs::rename(folder.0.path().join(file), folder.0.path().join("in").join(file)).unwrap();
    }
    let (code, _, error) = folder.run(&["--config", "in/c.json"]);
    assert!(code == 1 && error.contains("k.csv: no such file in the working directory"), "{error}");
    assert!(error.contains("next to the config, in/k.csv"), "{error}");
}

#[test]
fn invalid_tables_are_errors_and_never_panics() {
    let folder = Folder::micro_case();
    let header = KERNELS.to_owned();
    let (huge, nearly) = (i64::MAX.to_string(), (i64::MAX - 1_000_000_000).to_string());
    let cases: Vec<(Vec<u8>, i32, &str)> = vec![
        (Vec::new(), 1, "the file is empty"),
        (header.clone().into_bytes(), 0, ""),
        ((header.clone() + "1,2,3\n").into(), 1, "line 2: expected 9 columns, found 3"),
        ((header.clone() + &sum(-5, 1, "k")).into(), 1, "line 2: negative total time"),
        ((header.clone() + &sum("1e309", 1, "k")).into(), 1, "line 2: invalid total time '1e309'"),
        (
            (header.clone() + &sum(&huge, 1, "a") + &sum(1, 1, "b")).into(),
            1,
            "add up to more than 64 bits hold",
        ),
        (
            (header.clone() + &sum(1, &huge, "a") + &sum(1, &huge, "b")).into(),
            1,
            "add up to more than 64 bits hold",
        ),
        ((header.clone() + &sum(&nearly, &nearly, "a")).into(), 0, ""),
        (b"a\nb\n".to_vec(), 1, "total time"),
        ([header.as_bytes(), b"0,5,1,0,0,0,0,0,k\xff\xfe\n"].concat(), 0, ""),
        (b"\xff\xfek\0".to_vec(), 1, "UTF-16"),
    ];
    for (table, wanted, message) in cases {
        folder.put("k.csv", &table);
        for compat in [&["--seed-compat"][..], &[]] {
            let (code, _, error) = folder.run(&[&["--config", "c.json"], compat].concat());
            assert_eq!(code, wanted, "{}: {error}", String::from_utf8_lossy(&table));
            assert!(error.contains(message), "{message}: {error}");
        }
    }
    let folder = Folder::micro_case();
    for (tag, map) in [("it", "\"\": \"all\""), ("", "\"gemm\": \"\""), ("[", "\"(\": \"x\"")] {
        folder.put("c.json", config(tag, map));
        for compat in [&["--seed-compat"][..], &[]] {
            let (code, _, error) = folder.run(&[&["--config", "c.json"], compat].concat());
            assert_eq!(code, 0, "{tag} {map}: {error}");
        }
    }
    for broken in ["", "{", "[1]", "{\"inputs\": 1, \"kernel_to_class_map\": {}}", "\u{feff}null"] {
        let (code, _, error) = folder.put("c.json", broken).run(&["--config", "c.json"]);
        assert!(code == 1 && error.contains("c.json:1: "), "{broken}: {error}");
    }
}

#[test]
fn untrusted_names_are_escaped() {
    let folder = Folder::micro_case();
    let evil = "ncclX_<script>\u{1b}[31m|\n=====_y";
    folder.put("k.csv", KERNELS.to_owned() + &sum(5, 1, evil));
    folder.put("c.json", config("it", "\"gemm\": \"<b>|\\u001b\"").replace("mine", "<i>\\u001b"));
    for format in ["text", "markdown", "html"] {
        let (_, out, _) = folder.run(&["--config", "c.json", "--format", format]);
        assert!(out.chars().all(|c| !c.is_control() || c == '\n'), "{format}");
        assert!(
            format == "text" || !out.contains("<script") && !out.contains("<b>") && !out.contains("<i>"),
            "{format}: {out}"
        );
    }
    let (_, block, _) = folder.run(&["--config", "c.json", "--seed-compat"]);
    assert!(block.chars().all(|c| !c.is_control() || c == '\n'), "{block}");
    let headings = block.lines().filter(|line| line.starts_with("=====")).count();
    assert_eq!(headings, 1, "a name must not look like a heading: {block}");
}

#[test]
fn user_rules_apply_to_any_pattern() {
    let folder = Folder::micro_case();
    folder.put("k.csv", KERNELS.to_owned() + &sum(3, 1, "void mine<ncclFoo>(x)"));
    let map = "mine:\n  rules:\n    - {class: comm, substring: nccl, why: mine}\n";
    let document = folder.put("map.yml", map).json(&["--kernel-sum", "k.csv", "--classes", "map.yml"]);
    assert_eq!(find(&document, "kernel", "comm")["total_ns"], 3);
    // The NCCL rule that files in the seed tool's format imply is not a user rule.
    let document = folder.put("map.json", "{\"zz\": \"y\"}").json(&[
        "--kernel-sum",
        "k.csv",
        "--classes",
        "map.json",
    ]);
    assert_eq!(find(&document, "kernel", "others")["total_ns"], 3);
    let broken = "mine:\n  rules:\n    - {class: a, match: b}\n    - {class: a, match: '('}\n";
    let (_, _, error) =
        folder.put("map.yml", broken).run(&["--kernel-sum", "k.csv", "--classes", "map.yml"]);
    assert!(error.contains("map.yml:4: class map mine: invalid pattern '(': unclosed group"), "{error}");
}

#[test]
fn class_maps_are_found_in_subfolders() {
    let folder = Folder::micro_case();
    std::fs::create_dir_all(folder.0.path().join("own/classes/sub")).unwrap();
    folder.put("own/classes/sub/mine.yml", "mine:\n  rules:\n    - {class: all, match: other}\n");
    let document = folder.json(&["--kernel-sum", "k.csv", "--queries", "own", "--classes", "mine"]);
    assert_eq!(find(&document, "kernel", "all")["total_ns"], 1_000_000);
}

#[test]
fn invalid_options_give_advice() {
    let folder = Folder::micro_case();
    let cases: [(&[&str], &str); 7] = [
        (&[], "no input is given"),
        (&["--config", "c.json", "--seed-compat", "--format", "json"], "--seed-compat prints text only"),
        (&["--config", "c.json", "--iters", "3"], "cannot be used with"),
        (&["--kernel-sum", "k.csv", "--iter", "it"], "--iter needs NVTX ranges"),
        (&["--kernel-sum", "k.csv", "--iters", "0"], "0 is not in 1.."),
        (&["--kernel-sum", "k.csv", "--device", "0"], "scope options need a report"),
        (&["--kernel-sum", "k.csv", "--seed-compat"], "substring"),
    ];
    for (arguments, message) in cases {
        let (code, _, error) = folder.run(arguments);
        assert!(code == 2 && error.contains(message), "{arguments:?}: {code} {error}");
    }
    let misspelled = config("it", "").replace("nvtx_tag_of_iter", "nvtx_tag_iter");
    let (code, _, error) = folder.put("c.json", misspelled).run(&["--config", "c.json"]);
    assert!(code == 1 && error.contains("did you mean 'nvtx_tag_of_iter'?"), "{error}");
}

/// Compares the kernels launched by the tagged ranges with a nested loop over the raw rows.
#[test]
fn only_kernels_of_the_tagged_ranges_count() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nested_nvtx");
    let connection = rusqlite::Connection::open(&report).unwrap();
    let (tag, wanted, total): (String, i64, i64) = connection
        .query_row(
            "SELECT r.text, count(*), sum(k.end - k.start) FROM NVTX_EVENTS AS r
             JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS c ON c.globalTid = r.globalTid AND r.start <= c.start AND r.end >= c.end
             JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.correlationId = c.correlationId AND c.globalTid & -16777216 = k.globalPid
             WHERE r.eventType = 59 AND r.text <> '' AND (SELECT count(*) FROM NVTX_EVENTS AS o WHERE o.text = r.text) = 1
               AND coalesce(r.domainId, 0) = 0
             GROUP BY r.rowid ORDER BY 2 DESC, 1 LIMIT 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    let folder = Folder::new();
    let document = folder.json(&[report.to_str().unwrap(), "--iter-tag", &tag]);
    let of = |column: &str| -> i64 {
        let rows = document["rows"].as_array().unwrap().iter();
        rows.filter(|row| row["section"] == "total" && row["class"] != "memory")
            .map(|row| row[column].as_i64().unwrap())
            .sum()
    };
    assert_eq!((of("count"), of("total_ns")), (wanted, total), "{tag}");
    assert_eq!(document["inputs"][0]["windows"], 1);
}

/// The tags `attention` and `app:attention` select the same ranges for sums and windows.
#[test]
fn a_tag_means_the_same_ranges_in_sums_and_windows() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nested_nvtx");
    let connection = rusqlite::Connection::open(&report).unwrap();
    connection.execute("UPDATE NVTX_EVENTS SET text = 'attention' WHERE text = 'backward'", []).unwrap();
    let path = report.to_str().unwrap();
    let folder = Folder::new();
    // Kernels 1 (200 ns) and 5 (250 ns), in windows of exactly these lengths.
    for (arguments, kernels_ns, windows) in [
        (["--iter-tag", "attention"], 450, 2),
        (["--iter", "attention"], 450, 2),
        (["--iter-tag", "app:attention"], 200, 1),
        (["--iter", "attention@app"], 200, 1),
        (["--iter", "app:attention"], 200, 1),
    ] {
        let document = folder.json(&[&[path], &arguments[..]].concat());
        let total = |section, class| find(&document, section, class)["total_ns"].clone();
        let window = find(&document, "measured", "window");
        assert_eq!(document["inputs"][0]["windows"], windows, "{arguments:?}");
        assert_eq!(window["count"], windows, "{arguments:?}");
        assert_eq!(total("total", "compute"), kernels_ns, "{arguments:?}");
        assert_eq!(total("estimate", "window"), kernels_ns, "{arguments:?}");
        assert_eq!(window["total_ns"], kernels_ns, "{arguments:?}");
    }
    for (arguments, message) in [
        (["--iter", "step", "--iter", "mlp"], "--iter is given several times"),
        (["--iter", "step", "--iter-tag", "step"], "both name the iterations"),
    ] {
        let (code, _, error) = folder.run(&[&[path], &arguments[..]].concat());
        assert!(code == 2 && error.contains(message), "{code} {error}");
    }
}

#[test]
fn advice_about_iterations_fits_the_report() {
    let (fixtures, folder) = (Fixtures::new(), Folder::micro_case());
    let report = fixtures.trace("nested_nvtx");
    let report = report.to_str().unwrap();
    let (_, _, error) = folder.run(&[report]);
    let command = format!("`nsq run {report} --query range_names`");
    assert!(
        error.contains("give --iters N, or --iter with a name") && error.contains(&command),
        "{error}"
    );
    let without = fixtures.trace("two_streams_overlap");
    for input in [&[without.to_str().unwrap()][..], &["--kernel-sum", "k.csv"]] {
        let (_, _, error) = folder.run(input);
        assert!(error.contains("not detected: give --iters N\n"), "{error}");
    }
}

#[test]
fn a_report_without_the_data_says_what_is_missing() {
    let fixtures = Fixtures::new();
    let (folder, report) = (Folder::new(), fixtures.trace("nvtx_only"));
    let (code, _, error) = folder.run(&[report.to_str().unwrap()]);
    assert!(code == 3 && error.contains("needs CUDA kernels"), "{code} {error}");
    let report = fixtures.trace("nested_nvtx");
    let (code, _, error) = folder.run(&[report.to_str().unwrap(), "--iter-tag", "no such range"]);
    assert!(code == 2 && error.contains("unknown NVTX range 'no such range'"), "{code} {error}");
}

/// The block in a seed tool's README that starts with `from`.
fn readme_block(shared: &Path, readme: &str, from: &str) -> String {
    let text = std::fs::read_to_string(shared.join("spec/seeds").join(readme)).unwrap();
    let start = text.find(from).unwrap_or_else(|| panic!("no {from} in {readme}"));
    let rest = &text[start..];
    rest[..rest.find("```").unwrap()].to_owned()
}

fn csv(shared: &Path, name: &str) -> PathBuf {
    shared.join("data/nsys-csv").join(name)
}

fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

#[test]
fn kernel_stats_compat_matches_the_seed_tools_readme() {
    let Some(shared) = shared() else { return };
    let readme = "000-kernel-info-statistic.md";
    let map = readme_block(&shared, readme, "StatisticClassifier({");
    let map = map.strip_prefix("StatisticClassifier(").unwrap().trim_end().strip_suffix(')').unwrap();
    let path = |name: &str| csv(&shared, name).canonicalize().unwrap().display().to_string();
    let config = format!(
        "{{\"inputs\": [{{\"format\": \"csv\", \"title\": \"Paxml/GPT5B/FP8/R/142\", \"nsys_csv_file_path\": {{\
         \"kernel_sum\": \"{}\", \"nvtx_proj_trace\": \"{}\", \"mem_time_sum\": \"{}\"}}, \"analysis_args\": \
         {{\"num_of_iters\": 5, \"nvtx_tag_of_iter\": \"Train_step\"}}}}], \"kernel_to_class_map\": {map}}}",
        path("demo_cuda_gpu_kern_sum.csv"),
        path("demo_nvtx_gpu_proj_trace.csv"),
        path("demo_cuda_gpu_mem_time_sum.csv")
    );
    let folder = Folder::new();
    let (code, out, error) =
        folder.put("c.json", config).run(&["--config", "c.json", "--seed-compat=kernel-stats"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(out, readme_block(&shared, readme, "===== Paxml"));
    let document = folder.json(&["--config", "c.json"]);
    let total = |class: &str| find(&document, "total", class)["total_ns"].as_i64().unwrap();
    assert_eq!(
        ((total("compute") + 500) / 1000, (total("communication") + 500) / 1000),
        (1_538_100, 588_258)
    );
    let rest = find(&document, "estimate", "not compute");
    assert!((rest["per_iteration_ns"].as_f64().unwrap() - 97.020e6).abs() < 1e3, "{rest}");
    assert!(document["inputs"][0]["notes"].to_string().contains("315 launches"), "{document}");
}

#[test]
fn seed_compat_matches_the_seed_tools_readme() {
    let Some(shared) = shared() else { return };
    let readme = "001-gpu-perf-analyzer.md";
    // The config from the README, with the map that produced its example.
    let config = readme_block(&shared, readme, "{\n    \"inputs\"");
    let map = "\"xmma_gemm\": \"gemm\", \"fmha_\": \"fmha\", \"compute_dot_do_o\": \"fmha\", \
               \"convert_dq_to_16bits\": \"fmha\", \"fusion\": \"fusion\"";
    let config = config.replace("\"part_of_kernel_name\": \"corresponding_class\"", map);
    let folder = Folder::new();
    std::fs::create_dir(folder.0.path().join("example")).unwrap();
    for table in ["kern_sum", "mem_time_sum"] {
        let name = format!("llama2-70B-GBS512-FSDP256_cuda_gpu_{table}.csv");
        std::fs::copy(csv(&shared, &name), folder.0.path().join("example").join(&name)).unwrap();
    }
    let (code, out, error) = folder.put("c.json", config).run(&["--config", "c.json", "--seed-compat"]);
    assert_eq!(code, 1, "the second input is a missing report: {error}");
    let example = readme_block(&shared, readme, "===== Llama2-70B-From-CSV =====");
    let (sums, _) = example.split_once("\nNVTX range count").unwrap();
    assert_eq!(lines(&out), lines(sums));
}

#[test]
fn every_export_is_summarized_or_says_what_is_missing() {
    let folder = Folder::new();
    for export in crate::support::shared_exports() {
        let path = export.to_str().unwrap();
        let (code, out, error) = folder.run(&[path, "--format", "json"]);
        assert!(code == 0 || code == 3, "{path}: {error}");
        if code == 0 {
            let document: Value = serde_json::from_str(&out).unwrap();
            let rows = document["rows"].as_array().unwrap();
            let add = |sections: &[&str]| -> i64 {
                let of = rows.iter().filter(|row| sections.contains(&row["section"].as_str().unwrap()));
                of.map(|row| row["total_ns"].as_i64().unwrap()).sum()
            };
            assert_eq!(add(&["total"]), add(&["kernel", "communication", "memory"]), "{path}");
            let of_window = |is_window: bool| -> i64 {
                let of = rows.iter().filter(|row| row["section"] == "measured");
                let of = of.filter(|row| (row["class"] == "window") == is_window);
                of.map(|row| row["total_ns"].as_i64().unwrap()).sum()
            };
            assert_eq!(
                of_window(true),
                of_window(false),
                "{path}: the parts must add up to the windows"
            );
        }
    }
}

/// Compares with figures computed outside nsq, by nested loops over the raw rows: kernels and their
/// time, windows and their time, and compute, communication, copies and idle time in the windows.
#[test]
fn iterations_of_real_exports_match_independent_figures() {
    let Some(shared) = shared() else { return };
    let folder = Folder::new();
    for (export, tag, counted) in [
        (
            "a100_opt_nvtx_2026.3",
            "forward pass",
            [632, 43_591_993, 1, 65_319_318, 43_591_993, 0, 64_608, 21_662_717],
        ),
        (
            "rtx3090x2_ddp_nccl_2026.3",
            "distributed_training",
            [1_708, 197_307_117, 2, 2_827_767_019, 5_444_563, 191_862_554, 44_662_496, 2_585_797_406],
        ),
        (
            "a100_gpt2.7b_nvtx",
            "computing softmax",
            [640, 94_015_966, 128, 103_851_543, 94_015_966, 0, 0, 9_835_577],
        ),
    ] {
        let export = shared.join(format!("data/exports/{export}.sqlite"));
        let document = folder.json(&[export.to_str().unwrap(), "--iter-tag", tag]);
        let rows = document["rows"].as_array().unwrap();
        let add = |section: &str, classes: &[&str], column: &str| -> i64 {
            let of = rows.iter().filter(|row| row["section"] == section);
            let of = of.filter(|row| classes.contains(&row["class"].as_str().unwrap()));
            of.map(|row| row[column].as_i64().unwrap()).sum()
        };
        let kernels = ["compute", "communication"];
        let found = [
            add("total", &kernels, "count"),
            add("total", &kernels, "total_ns"),
            add("measured", &["window"], "count"),
            add("measured", &["window"], "total_ns"),
            add("measured", &["compute"], "total_ns"),
            add("measured", &["exposed communication"], "total_ns"),
            add("measured", &["exposed memory"], "total_ns"),
            add("measured", &["idle"], "total_ns"),
        ];
        assert_eq!(found, counted, "{}", export.display());
    }
}

#[test]
fn the_example_gives_the_same_output_each_time() {
    let example = project("fixtures/example.sqlite");
    let folder = Folder::new();
    let ask =
        || folder.run(&[example.to_str().unwrap(), "--iter-tag", "step", "--attribute", "process"]);
    assert_eq!(ask(), ask());
}

/// `nsq page classes` finds the iterations by itself, and measures them like `gpu_time_by_range`.
#[test]
fn the_page_measures_the_ranges_of_a_pattern() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nested_nvtx");
    let report = report.to_str().unwrap();
    let rows = |query: &str, param: &str| -> Vec<Value> {
        let arguments = ["run", report, "--query", query, "-p", param, "--format", "json"];
        let document: Value = serde_json::from_str(&stdout(&arguments)).unwrap();
        document["rows"].as_array().unwrap().clone()
    };
    let sum = |rows: &[Value], column: &str| -> i64 {
        rows.iter().map(|row| row[column].as_i64().unwrap()).sum()
    };
    let wanted = rows("gpu_time_by_range", "range=attention");
    let windows = rows("class_windows", "tag=attention");
    assert!(!windows.is_empty());
    for column in ["window_ns", "compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns"]
    {
        assert_eq!(sum(&windows, column), sum(&wanted, column), "{column}");
    }
    let ranges = rows("iteration_ranges", "tag=attention");
    let [counted] = rows("class_iterations", "tag=attention").try_into().unwrap();
    assert_eq!(counted["window_count"], ranges.len());
    assert_eq!(counted["windows_ns"], sum(&ranges, "dur_ns"));
    let figures = rows("class_figures", "tag=attention");
    let part = |section: &str, class: &str| {
        let of = figures.iter().filter(|row| row["section"] == section && row["class"] == class);
        of.map(|row| row["total_ns"].as_i64().unwrap()).sum::<i64>()
    };
    assert_eq!(part("estimate", "window"), sum(&ranges, "dur_ns"));
    assert_eq!(
        part("estimate", "not compute"),
        part("estimate", "window") - part("estimate", "compute, summed")
    );
    let page = stdout(&["page", "classes", report, "-p", "tag=attention"]);
    assert!(page.contains("Notes on the figures by class"), "{page}");
}
