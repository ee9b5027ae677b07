//! The options of `nsys stats` and `nsys analyze`, against a real nsys, whose path is in `NSQ_TEST_NSYS`.
//!
//! The output on the console is the same, byte for byte, but for the paths of NVIDIA's scripts and the advice of
//! rules. docs/src/nsys.md lists what differs on purpose.

use crate::support::Fixtures;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The export version of nsys 2023.4.4.
const VERSION: &str = "3.7.2";

/// Command lines whose output is the same, each on a trace.
const SAME: [(&str, &str); 38] = [
    ("two_streams_overlap", "stats -r cuda_gpu_kern_sum,cuda_api_sum,osrt_sum,nvtx_sum,um_sum"),
    ("two_streams_overlap", "stats -r cuda_gpu_kern_sum -r cuda_gpu_mem_time_sum -f csv -f table"),
    ("two_streams_overlap", "stats -r cuda_gpu_kern_sum,cuda_api_sum -f column,json -q"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum -f hdoc"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum -f hdoc:title=T:css=x.css"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum -f htable"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum -f tsv"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum -f csv:nohdr"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum -f csv:nohdrunit"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum -f csv:noconv"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum -f csv:time=us:mem=B"),
    (
        "two_streams_overlap",
        "stats -r cuda_gpu_mem_size_sum,cuda_gpu_mem_size_sum -f csv:mem=KB,csv:mem=KiB",
    ),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_size_sum -f csv:bytes=MiB"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_size_sum -f csv:mem=GB"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_size_sum -f csv:mem=GiB"),
    ("two_streams_overlap", "stats -r osrt_sum,cuda_api_sum -f column:dur=ms,json:dur=sec"),
    ("two_streams_overlap", "stats -r cuda_api_trace -f csv:ts=ms:dur=us"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum --timeunit usec"),
    ("two_streams_overlap", "stats -r cuda_gpu_mem_time_sum --timeunit milli -f csv:time=us"),
    ("two_streams_overlap", "stats -r cuda_gpu_kern_sum -f column:nohdr"),
    ("two_streams_overlap", "stats -r cuda_gpu_kern_sum -f table:nohdr:nofmt"),
    ("two_streams_overlap", "stats -r cuda_gpu_kern_sum -f column:colmax=12:autolines=1"),
    ("two_streams_overlap", "stats -r cuda_gpu_kern_sum -f table:10:0:20"),
    ("two_streams_overlap", "stats -r cuda_gpu_kern_sum -f column:4:0:3:.:5"),
    ("two_streams_overlap", "stats -r gpukernsum"),
    ("two_streams_overlap", "stats --forma csv --timeu usec -r cuda_api_sum"),
    ("frames", "stats -r cuda_gpu_kern_sum --filter-time 200ms/1500ms"),
    ("frames", "stats -r cuda_gpu_kern_sum --filter-time 200000001/1500ms -f json"),
    ("frames", "stats -r cuda_gpu_kern_sum --filter-time 1s200ms/"),
    ("frames", "stats -r cuda_gpu_kern_sum:start=200000000:end=1500000000 -f csv"),
    ("nvtx_only", "stats -r cuda_gpu_kern_sum,cuda_api_sum,um_sum -f csv"),
    ("two_streams_overlap", "analyze -r cuda_memcpy_async,cuda_memcpy_sync,cuda_api_sync -f csv"),
    ("gpu_idle", "analyze -r cuda_memset_sync,cuda_memcpy_sync:rows=1 -f tsv"),
    ("two_streams_overlap", "analyze -r gpu_gaps,dx12_mem_ops -f json"),
    ("two_streams_overlap", "analyze -r cuda_api_sync -f htable -q"),
    ("two_streams_overlap", "analyze -r cuda_api_sync:rows=1 --timeunit us -f csv"),
    ("frames", "analyze -r gpu_gaps:gap=100:rows=3 -f csv --filter-time 50ms/2s"),
    ("nvtx_only", "analyze"),
];

/// Rules whose tables are the same, but whose advice is nsq's own: a trace and the arguments.
const ADVICE: [(&str, &str); 4] = [
    ("two_streams_overlap", "analyze -r cuda_api_sync,cuda_api_sync:rows=1"),
    ("two_streams_overlap", "analyze -r cuda_api_sync -f table"),
    ("frames", "analyze -r gpu_gaps:gap=0:rows=2"),
    ("frames", "analyze -r gpu_gaps -f table"),
];

fn ask(program: &mut Command, line: &str, folder: &Path) -> String {
    let output = program
        .args(line.split(' '))
        .arg("report.sqlite")
        .current_dir(folder)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // NVIDIA names the path of a script, nsq the report.
    let script = regex::Regex::new(r"with \[[^\]]*/(?:reports|rules)/([a-z0-9_-]+)\.py\]").unwrap();
    script.replace_all(&text, "with [$1]").into_owned()
}

/// Asks both for each line, and returns the pairs of outputs: nsq's, nsys's.
fn pairs(lines: &[(&'static str, &'static str)]) -> Vec<(&'static str, String, String)> {
    let Some(nsys) = std::env::var_os("NSQ_TEST_NSYS").filter(|value| !value.is_empty()) else {
        drop(writeln!(std::io::stderr(), "skipped: NSQ_TEST_NSYS is not set"));
        return Vec::new();
    };
    let fixtures = Fixtures::new();
    let folder = tempfile::tempdir().unwrap();
    let pair = |(trace, line): &(&str, &'static str)| {
        std::fs::copy(fixtures.version(VERSION, trace), folder.path().join("report.sqlite")).unwrap();
        let own = ask(&mut Command::new(env!("CARGO_BIN_EXE_nsq")), line, folder.path());
        (*line, own, ask(&mut Command::new(&nsys), line, folder.path()))
    };
    lines.iter().map(pair).collect()
}

#[test]
fn options_give_the_output_of_a_real_nsys() {
    let pairs = pairs(&SAME);
    for (line, _, theirs) in &pairs {
        assert!(theirs.contains("Processing [") || line.contains("-q"), "{line}: {theirs}");
    }
    let differing: Vec<_> = pairs.iter().filter(|(_, own, theirs)| own != theirs).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

#[test]
fn rules_differ_only_in_their_advice() {
    let without_prose = |text: &str| -> Vec<String> {
        let kept = |line: &&str| {
            line.is_empty()
                || line.starts_with([' ', '|', '+', 'P', 'S'])
                || line.starts_with("Only the top")
        };
        let mut lines: Vec<String> = text.lines().filter(kept).map(str::to_owned).collect();
        lines.dedup();
        lines
    };
    let item = regex::Regex::new(r"^   \d\. ").unwrap();
    for (line, own, theirs) in pairs(&ADVICE) {
        // A suggestion of NVIDIA is indented as a list.
        let theirs: String = theirs
            .lines()
            .filter(|line| !item.is_match(line) && *line != "Suggestions:")
            .fold(String::new(), |text, line| text + line + "\n");
        assert_eq!(without_prose(&own), without_prose(&theirs), "{line}");
    }
}
