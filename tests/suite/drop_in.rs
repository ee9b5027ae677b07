//! `nsq stats` and `nsq analyze`: formats with arguments, filters, folders of reports, and the texts of rules.
//!
//! `real_options` compares the same with a real nsys.

use crate::support::{Fixtures, outcome, stdout};
use rusqlite::Connection;
use std::fs;

fn path(fixtures: &Fixtures, trace: &str) -> String {
    fixtures.trace(trace).to_str().unwrap().to_owned()
}

#[test]
fn arguments_of_formats_change_the_layout() {
    let fixtures = Fixtures::new();
    let report = path(&fixtures, "two_streams_overlap");
    let ask =
        |format: &str| stdout(&["stats", "-q", "-r", "cuda_gpu_mem_size_sum", "-f", format, &report]);
    let plain = ask("csv");
    let (header, rows) = plain.split_once('\n').unwrap();
    assert_eq!(header, "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation");
    assert_eq!(ask("csv:nohdr"), rows);
    assert!(ask("csv:nohdrunit").starts_with("Total,Count,Avg,Med,Min,Max,StdDev,Operation\n"));
    assert_eq!(ask("tsv"), plain.replace(',', "\t"));
    // Bytes are exact.
    let exact = stdout(&["run", &report, "-q", "cuda_gpu_mem_size_sum", "-f", "csv"]);
    let sizes = |csv: &str, column: &str| -> Vec<String> {
        let mut reader = csv::Reader::from_reader(csv.trim_end().as_bytes());
        let at = reader.headers().unwrap().iter().position(|header| header == column).unwrap();
        reader.records().map(|row| row.unwrap()[at].to_owned()).collect()
    };
    assert_eq!(sizes(&ask("csv:mem=B"), "Total (B)"), sizes(&exact, "total_bytes"));
    assert_eq!(ask("csv:noconv:mem=KiB"), ask("csv:mem=B"));
    let hidden = ask("column:0:.:7");
    assert!(!hidden.contains("Total") && hidden.contains(" Count  Avg (M…  Med (MB)"), "{hidden}");
    let page = ask("hdoc:title=a<b:css=x.css");
    assert!(
        page.contains("<title>a&lt;b</title>\n  <link rel=\"stylesheet\" href=\"x.css\">"),
        "{page}"
    );
    for (format, named) in [("csv:bad", "'bad'"), ("json:nohdr", "'nohdr'"), ("bad", "'bad'")] {
        let (code, _, error) = outcome(&["stats", "-f", format, &report]);
        assert!(code == 2 && error.contains(named), "{error}");
    }
}

#[test]
fn help_lists_reports_rules_and_formats() {
    let rules = stdout(&["analyze", "--help-rules"]);
    assert_eq!(rules.matches(" -- ").count(), 7, "{rules}");
    assert!(rules.contains("  gpu_gaps[:rows=<value>][:gap=<value>] -- GPU Gaps\n"), "{rules}");
    let reports = stdout(&["stats", "--help-reports"]);
    assert!(
        reports.contains("  cuda_gpu_kern_sum[:base]") && !reports.contains("gpu_gaps"),
        "{reports}"
    );
    assert!(stdout(&["stats", "--help-reports", "ALL"]).contains("\num_sum[:rows=<value>] -- "));
    assert!(stdout(&["analyze", "--help-rules", "gpu_gaps"]).contains("gap - Report gaps longer"));
    assert!(stdout(&["stats", "--help-formats"]).contains("  htable "));
    assert!(stdout(&["analyze", "--help-formats", "column"]).contains("autolines=<rows>"));
    assert_eq!(outcome(&["stats", "--help-formats", "xml"]).0, 2);
    assert_eq!(outcome(&["analyze"]).0, 2);
}

#[test]
fn rules_say_what_they_found_and_what_to_do() {
    let fixtures = Fixtures::new();
    let report = path(&fixtures, "gpu_idle");
    let ask = |rule: &str| stdout(&["analyze", "-q", "-r", rule, &report]);
    // The longest gaps are worked out in the trace.
    let gaps = ask("gpu_gaps:rows=2");
    let lines: Vec<&str> = gaps.lines().collect();
    assert_eq!(lines[1], " ** GPU Gaps (gpu_gaps):");
    assert!(
        lines[3].starts_with("In these times a process gave its GPU no work for longer than 500 ms.")
    );
    assert!(gaps.contains("    1     1000000000  1900000000  12002          0           1\n"), "{gaps}");
    assert!(
        gaps.ends_with("\nOnly the top 2 results are displayed. More data may be available.\n\n\n"),
        "{gaps}"
    );
    assert!(ask("gpu_gaps:rows=1").contains("\nOnly the top result is displayed. More data"));
    assert!(!ask("gpu_gaps:rows=-1").contains("Only the top"));
    let clear = "\n ** GPU Gaps (gpu_gaps):\n\nThere were no problems detected with GPU utilization. No GPU was idle \
                 for\nlonger than 2000 ms.\n\n";
    assert_eq!(ask("gpu_gaps:gap=2000"), clear);
    assert!(ask("gpu_gaps:rows=0").ends_with("No row was asked for.\n\n"));
    // Formats for programs have the rows alone.
    let rows = stdout(&["run", &report, "-q", "gpu_gaps", "--columns", "nsys", "-f", "csv"]);
    assert_eq!(stdout(&["analyze", "-q", "-r", "gpu_gaps", "-f", "csv", &report]), format!("{rows}\n"));
}

#[test]
fn a_rule_without_data_is_skipped_in_the_words_of_nsys() {
    let fixtures = Fixtures::new();
    let report = path(&fixtures, "gpu_idle");
    let (code, out, _) = outcome(&["analyze", &report]);
    assert_eq!(code, 0, "a default rule may lack its data: {out}");
    let skipped = format!(
        "Processing [{report}] with [dx12_mem_ops]... \nSKIPPED: {report} could not be analyzed because it does not \
         contain the required DX12 data. Does the application use DX12 APIs?\n"
    );
    assert!(out.contains(&skipped), "{out}");
    assert_eq!(outcome(&["analyze", "-r", "dx12_mem_ops", &report]).0, 3);
    let (code, out, error) = outcome(&["stats", "-r", "nvtx_sum", &report]);
    let expected = format!("SKIPPED: {report} does not contain NV Tools Extension (NVTX) data.\n");
    assert!(code == 3 && out.contains(&expected) && error.contains("--trace=nvtx"), "{out}{error}");
    let (code, _, error) = outcome(&["analyze", "-r", "cuda_gpu_kern_sum", &report]);
    assert!(code == 2 && error.contains("is a report, not a rule"), "{error}");
    let rules = "`nsq analyze --help-rules` lists the rules.";
    let unknown: [(&[&str], &str); 3] = [
        (&["analyze", "-r", "nothing", &report], rules),
        (&["analyze", "--help-rules", "nothing"], rules),
        (&["stats", "-r", "nothing", &report], "`nsq stats --help-reports` lists the reports."),
    ];
    for (arguments, list) in unknown {
        let (code, _, error) = outcome(arguments);
        let expected = format!("unknown query 'nothing'\n  help: {list}");
        assert!(code == 2 && error.contains(&expected), "{error}");
    }
}

/// For a call that receives what it does not send, nsys 2023.4 writes two rows. The row of what it sends has
/// no length.
#[test]
fn a_call_of_mpi_sendrecv_counts_once() {
    let fixtures = Fixtures::new();
    let report = path(&fixtures, "mpi_two_ranks");
    Connection::open(&report)
        .unwrap()
        .execute_batch(
            "INSERT INTO StringIds (id, value) VALUES (99, 'MPI_Sendrecv');
             INSERT INTO MPI_P2P_EVENTS (start, end, globalTid, textId, tag, remoteRank, size) VALUES
                 (650, 650, 281625988440873, 99, 5, 1, 28),
                 (650, 690, 281625988440873, 99, 5, 1, 32);",
        )
        .unwrap();
    let lines = |name: &str| -> Vec<String> {
        let printed = stdout(&["stats", "-q", "-r", name, "-f", "csv", &report]);
        printed.lines().filter(|line| line.contains("MPI_Sendrecv")).map(str::to_owned).collect()
    };
    assert_eq!(lines("mpi_event_sum"), ["2.8,40,1,40.0,40.0,40,40,0.0,p2p,MPI_Sendrecv"]);
    // As in NVIDIA's report, in the order of the export.
    assert_eq!(
        lines("mpi_event_trace"),
        [
            "650,650,0,MPI_Sendrecv,9001,9001,5,0,1,,0.000,,",
            "650,690,40,MPI_Sendrecv,9001,9001,5,0,1,,0.000,,",
        ]
    );
}

#[test]
fn filters_keep_what_overlaps() {
    let fixtures = Fixtures::new();
    let report = path(&fixtures, "frames");
    let kernels = |filter: &[&str]| {
        let arguments = ["stats", "-q", "-r", "cuda_gpu_kern_sum", "-f", "csv:nohdr", &report];
        let out = stdout(&[&arguments[..], filter].concat());
        out.split(',').nth(2).map(str::to_owned)
    };
    // The kernels are 100 ms to 200 ms and 1500 ms to 1600 ms.
    assert_eq!(kernels(&[]).as_deref(), Some("2"));
    assert_eq!(kernels(&["--filter-time", "200ms/1500ms"]).as_deref(), Some("1"));
    assert_eq!(kernels(&["--filter-time", "200000001/1500ms"]), None);
    assert_eq!(kernels(&["--filter-time", "1s/"]).as_deref(), Some("1"));
    for text in ["/", "5/3", "1s", "x/"] {
        assert_eq!(outcome(&["stats", "--filter-time", text, &report]).0, 2, "{text}");
    }
    let report = path(&fixtures, "nested_nvtx");
    let ranges = |more: &[&str]| {
        outcome(&[&["stats", "-r", "nvtx_pushpop_sum", "-f", "csv:nohdr", &report], more].concat())
    };
    let (_, all, _) = ranges(&[]);
    let name = all.lines().nth(1).unwrap().rsplit(',').next().unwrap();
    let (code, some, error) = ranges(&["--filter-nvtx", name]);
    assert!(code == 0 && some.contains(&format!("](nvtx={name})... \n")), "{some}{error}");
    assert!(some.lines().count() < all.lines().count(), "{some}{all}");
    let spelled = format!("nvtx_pushpop_sum:nvtx={name}");
    let same = stdout(&["stats", "-q", "-r", &spelled, "-f", "csv:nohdr", &report]);
    assert!(some.ends_with(&same), "{some}{same}");
    let (code, out, error) = ranges(&["--filter-nvtx", "nowhere/1"]);
    assert!(code == 3 && error.contains("range_names"), "{error}");
    assert!(out.contains("SKIPPED: NVTX range 'nowhere/1' could not be found in "), "{out}");
}

#[test]
fn reports_come_from_folders_of_the_user() {
    let fixtures = Fixtures::new();
    let report = path(&fixtures, "two_streams_overlap");
    let folder = fixtures.path().join("mine");
    fs::create_dir(&folder).unwrap();
    let query = "/*---\nname: how_many\nversion: 1\ntitle: Kernels\nsummary: Number of kernels.\nwhy: For a test.\n\
                 kind: info\ntags: [kernel]\nreads: [kernel]\ncolumns:\n  - {name: kernels, type: int, unit: count, \
                 doc: \"Number of kernels.\"}\nlimits: None.\n---*/\nSELECT count(*) AS kernels FROM kernel\n";
    fs::write(folder.join("how_many.sql"), query).unwrap();
    fs::write(folder.join("theirs.py"), "").unwrap();
    let folder = folder.to_str().unwrap();
    let count = stdout(&["sql", &report, "SELECT count(*) AS kernels FROM kernel", "-f", "csv"]);
    for name in ["how_many", &format!("{folder}/how_many.sql")] {
        let own = stdout(&["stats", "-q", "--report-dir", folder, "-r", name, "-f", "csv", &report]);
        assert_eq!(own, format!("{count}\n"), "{name}");
    }
    let (code, _, error) = outcome(&["stats", "--report-dir", folder, "-r", "theirs", &report]);
    assert!(code == 2 && error.contains("theirs.py is a script for nsys"), "{error}");
    let (code, _, error) = outcome(&["stats", "--sqlite", "other.sqlite", &report]);
    assert!(code == 2 && error.contains("is an export itself"), "{error}");
}

#[test]
fn the_line_of_a_file_says_what_became_of_it() {
    let fixtures = Fixtures::new();
    let report = path(&fixtures, "two_streams_overlap");
    let base = fixtures.path().join("out");
    let ask = || outcome(&["stats", "-r", "cuda_api_sum,um_sum", "-o", base.to_str().unwrap(), &report]);
    let (code, out, _) = ask();
    let file = format!("{}_cuda_api_sum.csv", base.display());
    assert_eq!(code, 3);
    assert!(out.starts_with(&format!(
        "Processing [{report}] with [cuda_api_sum] to [{file}]... PROCESSED\n\n"
    )));
    assert!(out.contains("_um_sum.csv]... SKIPPED: "), "{out}");
    let (code, out, _) = ask();
    assert!(code == 2 && out.contains(&format!("... SKIPPED: output file {file} exists.\n")), "{out}");
    assert_eq!(fs::read_dir(fixtures.path()).unwrap().count(), 2, "one file beside the report");
}
