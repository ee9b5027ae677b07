//! `nsq timeline`: the lanes and slices of the page, by plain loops over the events, and the page itself.

mod bands;
mod browser;
mod colours;
mod reports;

use crate::support::{Fixtures, project, stdout};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn example() -> String {
    project("fixtures/example.sqlite").display().to_string()
}

fn rows(report: &str, query: &str, options: &[&str]) -> Vec<Value> {
    let ask = [&["run", report, "-q", query, "-f", "json"], options].concat();
    let answer: Value = serde_json::from_str(&stdout(&ask)).unwrap();
    answer["rows"].as_array().unwrap().clone()
}

fn number(row: &Value, column: &str) -> i64 {
    row[column].as_i64().unwrap_or_else(|| panic!("{column}: {row}"))
}

/// The page of a report, and the object in its data block.
fn page(report: &Path, options: &[&str]) -> (String, Value) {
    let page = stdout(&[&["timeline", report.to_str().unwrap(), "-f", "html"], options].concat());
    let begin = "<script type=\"application/json\" id=\"data\">";
    let data = page.split(begin).nth(1).unwrap().split("</script>").next().unwrap();
    let data = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"));
    (page, data)
}

/// A list of numbers that a lane of the page has as text.
fn list(lane: &Value, key: &str) -> Vec<i64> {
    serde_json::from_str(lane[key].as_str().unwrap()).unwrap()
}

/// The length of the union of intervals.
fn union(mut intervals: Vec<(i64, i64)>) -> i64 {
    intervals.sort_unstable();
    let (mut length, mut reach) = (0, i64::MIN);
    for (start, end) in intervals {
        length += (end - start.max(reach)).max(0);
        reach = reach.max(end);
    }
    length
}

#[test]
fn the_lanes_have_every_event_once() {
    for (report, sql) in [
        (example(), "SELECT count(*), sum(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME"),
        // Only threads that call CUDA or have ranges have lanes here.
        (
            example(),
            "SELECT count(*), sum(\"end\" - start) FROM OSRT_API WHERE globalTid IN (
               SELECT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME
               UNION SELECT globalTid FROM NVTX_EVENTS WHERE eventType IN (59, 60))",
        ),
    ] {
        let connection = rusqlite::Connection::open(&report).unwrap();
        let raw: (i64, i64) =
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let kind = if sql.contains("OSRT_API") { "OS calls" } else { "CUDA API" };
        let lanes = rows(&report, "timeline_lanes", &[]);
        let of_kind = lanes.iter().filter(|lane| lane["lane_kind"] == kind);
        let sums = of_kind.fold((0, 0), |sums, lane| {
            (sums.0 + number(lane, "slice_count"), sums.1 + number(lane, "busy_ns"))
        });
        assert_eq!(sums, raw, "{kind}");
    }
    let report = example();
    let connection = rusqlite::Connection::open(&report).unwrap();
    let mut raw = BTreeMap::new();
    for table in ["KERNEL", "MEMCPY", "MEMSET"] {
        let sql = format!(
            "SELECT globalPid >> 24 & 16777215, contextId, streamId, \"end\" - start FROM CUPTI_ACTIVITY_KIND_{table}"
        );
        let mut statement = connection.prepare(&sql).unwrap();
        let mut events = statement.query([]).unwrap();
        while let Some(row) = events.next().unwrap() {
            let key: (i64, i64, i64) = (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap());
            let sums: &mut (i64, i64) = raw.entry(key).or_default();
            *sums = (sums.0 + 1, sums.1 + row.get::<_, i64>(3).unwrap());
        }
    }
    let lanes = rows(&report, "timeline_lanes", &[]);
    let streams = lanes.iter().filter(|lane| lane["lane_kind"] == "stream");
    let found: BTreeMap<_, _> = streams
        .map(|lane| {
            let key = (number(lane, "pid"), number(lane, "context_id"), number(lane, "stream_id"));
            (key, (number(lane, "slice_count"), number(lane, "busy_ns")))
        })
        .collect();
    assert_eq!(found, raw);
    let idle: i64 = lanes
        .iter()
        .filter(|lane| lane["lane_kind"] == "GPU idle")
        .map(|lane| number(lane, "busy_ns"))
        .sum();
    let gpu_time: i64 = rows(&report, "gpu_time", &[]).iter().map(|row| number(row, "idle_ns")).sum();
    assert_eq!(idle, gpu_time);
}

#[test]
fn pieces_add_up_to_the_union_of_the_slices() {
    for pieces in ["pieces=1", "pieces=7", "pieces=1000"] {
        let slices = rows(&example(), "timeline_slices", &["-p", pieces]);
        let mut of_lane: BTreeMap<(i64, String), Vec<(i64, i64)>> = BTreeMap::new();
        for slice in &slices {
            let key = (number(slice, "lane_id"), slice["category"].as_str().unwrap().to_owned());
            let start = number(slice, "start_ns");
            of_lane.entry(key).or_default().push((start, start + number(slice, "dur_ns")));
        }
        let mut sums: BTreeMap<(i64, String), (i64, i64)> = BTreeMap::new();
        for piece in rows(&example(), "timeline_pieces", &["-p", pieces]) {
            let key = (number(&piece, "lane_id"), piece["category"].as_str().unwrap().to_owned());
            let sum = sums.entry(key).or_default();
            *sum = (sum.0 + number(&piece, "busy_ns"), sum.1 + number(&piece, "slice_count"));
        }
        let plain = of_lane.into_iter().map(|(key, slices)| {
            let count = slices.len() as i64;
            (key, (union(slices), count))
        });
        assert_eq!(sums, plain.collect(), "{pieces}");
    }
}

/// A call without length at the very end lies in a piece of its own, behind the last one.
#[test]
fn a_slice_at_the_end_keeps_its_lane_and_piece() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("training_steps");
    let calls = "CUPTI_ACTIVITY_KIND_RUNTIME";
    let report_path = report.to_str().unwrap();
    let first = &rows(report_path, "timeline_slices", &[])[0];
    let (from, window) = (number(first, "window_start_ns"), number(first, "window_ns"));
    for pieces in [1, 2, 7, 20] {
        let connection = rusqlite::Connection::open(&report).unwrap();
        // The window is a whole number of pieces long.
        let end = from + (window / pieces + 1000) * pieces;
        let add = format!(
            "INSERT INTO {calls} (start, end, eventClass, globalTid, nameId, returnValue)
             SELECT {end}, {end}, eventClass, globalTid, nameId, returnValue FROM {calls} LIMIT 1"
        );
        connection.execute(&add, []).unwrap();
        let slices = rows(report_path, "timeline_slices", &["-p", &format!("pieces={pieces}")]);
        assert!(slices.iter().any(|slice| number(slice, "start_ns") == end), "{pieces}");
        for slice in &slices {
            let piece = (number(slice, "start_ns") - from).max(0) / number(slice, "piece_ns");
            assert_eq!(number(slice, "piece_id"), piece, "{pieces}: {slice}");
        }
        connection.execute(&format!("DELETE FROM {calls} WHERE start = {end}"), []).unwrap();
    }
}

/// The longest slices of each lane and piece, with the largest number that fits in half the budget.
#[test]
fn the_longest_slices_of_each_piece_are_kept() {
    let all = rows(&example(), "timeline_slices", &["-p", "pieces=50"]);
    assert!(all.iter().all(|slice| slice["per_piece"].is_null()));
    let is_gpu = |slice: &Value| !slice["gpu_id"].is_null();
    for budget in [1, 600, 2000, 4000] {
        let kept =
            rows(&example(), "timeline_slices", &["-p", "pieces=50", "-p", &format!("slices={budget}")]);
        for half in [true, false] {
            let mut cells: BTreeMap<(i64, i64), Vec<i64>> = BTreeMap::new();
            for slice in all.iter().filter(|slice| is_gpu(slice) == half) {
                let cell = (number(slice, "lane_id"), number(slice, "piece_id"));
                cells.entry(cell).or_default().push(number(slice, "dur_ns"));
            }
            let count_for = |n: usize| cells.values().map(|cell| cell.len().min(n)).sum::<usize>();
            let most = cells.values().map(Vec::len).max().unwrap();
            let per_piece = (1..=most).rev().find(|&n| count_for(n) <= budget / 2).unwrap_or(1);
            let mut wanted: BTreeMap<(i64, i64), Vec<i64>> = cells.clone();
            for cell in wanted.values_mut() {
                cell.sort_unstable_by(|one, other| other.cmp(one));
                cell.truncate(per_piece);
            }
            let mut found: BTreeMap<(i64, i64), Vec<i64>> = BTreeMap::new();
            for slice in kept.iter().filter(|slice| is_gpu(slice) == half) {
                let said = slice["per_piece"].as_i64();
                assert_eq!(said, (per_piece < most).then_some(per_piece as i64), "{budget} {half}");
                let cell = (number(slice, "lane_id"), number(slice, "piece_id"));
                found.entry(cell).or_default().push(number(slice, "dur_ns"));
            }
            found.values_mut().for_each(|cell| cell.sort_unstable_by(|one, other| other.cmp(one)));
            assert_eq!(found, wanted, "{budget} {half}");
        }
    }
}

#[test]
fn the_lists_of_the_page_are_the_slices() {
    let (_, data) = page(&project("fixtures/example.sqlite"), &[]);
    let names = data["names"].as_array().unwrap();
    let slices = rows(&example(), "timeline_slices", &[]);
    let wanted: BTreeSet<String> = slices
        .iter()
        .map(|slice| {
            let call = slice["call_start_ns"].as_i64().map(|start| {
                (start, number(slice, "call_dur_ns"), slice["call_lane_id"].as_i64().unwrap_or(0))
            });
            let (lane, start) = (number(slice, "lane_id"), number(slice, "start_ns"));
            format!("{lane} {start} {} {} {call:?}", number(slice, "dur_ns"), slice["slice_name"])
        })
        .collect();
    let mut found = BTreeSet::new();
    for lane in data["lanes"].as_array().unwrap() {
        let (durs, of_names) = (list(lane, "durs"), list(lane, "names"));
        let calls = list(lane, "calls");
        let mut start = number(lane, "from");
        for (at, step) in list(lane, "starts").into_iter().enumerate() {
            start += step;
            let call = calls.get(6 * at..6 * at + 6).filter(|call| call[1] >= 0);
            let call = call.map(|call| (start - call[0], call[1], call[3]));
            let name = &names[usize::try_from(of_names[at]).unwrap()];
            found.insert(format!("{} {start} {} {name} {call:?}", number(lane, "id"), durs[at]));
        }
    }
    assert_eq!(found, wanted);
    assert!(found.iter().any(|slice| slice.contains("Some(")), "{found:?}");
}

#[test]
fn scope_options_limit_the_page() {
    let report = example();
    let slices = rows(&report, "timeline_slices", &["--time", "100ms/120ms"]);
    assert!(slices.len() > 100, "{}", slices.len());
    for slice in &slices {
        let start = number(slice, "start_ns");
        assert!(start < 120_000_000 && start + number(slice, "dur_ns") > 100_000_000, "{slice}");
        assert_eq!(number(slice, "window_start_ns"), 100_000_000);
        assert_eq!(number(slice, "window_ns"), 20_000_000);
    }
    let pieces = rows(&report, "timeline_pieces", &["--time", "100ms/120ms"]);
    assert!(
        pieces.iter().all(|piece| {
            let start = number(piece, "start_ns");
            start >= 100_000_000 && start + number(piece, "dur_ns") <= 120_000_000
        }),
        "{pieces:?}"
    );
    let one = rows(&report, "timeline_lanes", &["--device", "1"]);
    let gpus: BTreeSet<String> = one.iter().map(|lane| lane["gpu_id"].to_string()).collect();
    assert_eq!(gpus, BTreeSet::from(["1".to_owned(), "null".to_owned()]));
}

#[test]
fn a_page_loads_nothing() {
    let (page, _) = page(&project("fixtures/example.sqlite"), &[]);
    for loads in ["src=", "href=", "http:", "https:", "url(", "innerHTML", "eval("] {
        assert!(!page.contains(loads), "{loads}");
    }
    for part in ["aria-live", "tabindex=\"0\"", "prefers-color-scheme:dark", "<caption", "aria-label"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn names_from_a_report_are_text() {
    let fixtures = Fixtures::new();
    let evil = "</script><img src=x onerror=alert(1)><!--<script>\u{1b}[31m\u{202e}";
    for trace in ["kernel_gaps", "nvtx_only", "training_steps"] {
        let report = fixtures.trace(trace);
        let connection = rusqlite::Connection::open(&report).unwrap();
        connection.execute("UPDATE StringIds SET value = ?1 || value", [evil]).unwrap();
        connection.execute("UPDATE NVTX_EVENTS SET text = ?1 || text", [evil]).ok();
        drop(connection);
        let (page, data) = page(&report, &[]);
        assert_eq!(page.matches("<script").count(), 2, "{trace}");
        assert_eq!(page.matches("</script").count(), 2, "{trace}");
        assert!(!page.contains("<img") && !page.contains("<!--"), "{trace}");
        assert!(!page.contains(['\u{1b}', '\u{202e}']), "{trace}");
        let names = data["names"].as_array().unwrap();
        let is_whole =
            |name: &Value| name.as_str().is_some_and(|name| name.contains("<img src=x onerror"));
        assert!(names.iter().any(is_whole), "{trace}: {names:?}");
    }
}

#[test]
fn a_report_without_gpu_work_has_a_timeline() {
    let fixtures = Fixtures::new();
    let (page_of_ranges, data) = page(&fixtures.trace("nvtx_only"), &[]);
    assert!(page_of_ranges.contains("The page has all "), "{page_of_ranges}");
    let lanes = data["lanes"].as_array().unwrap();
    assert!(lanes.iter().any(|lane| lane["kind"] == "NVTX"), "{lanes:?}");
    assert!(!lanes.is_empty() && lanes.iter().all(|lane| lane["gpu"].is_null()), "{lanes:?}");
    let (nothing, data) = page(&fixtures.trace("nvtx_only"), &["--time", "900s/901s"]);
    assert!(nothing.contains("There is nothing to show"), "{nothing}");
    assert_eq!(data["lanes"], Value::Array(Vec::new()));
}

#[test]
fn the_text_of_a_timeline_says_how_to_write_the_page() {
    let text = stdout(&["timeline", &example()]);
    assert!(text.contains("slices on ") && text.contains("-o timeline.html"), "{text}");
}

#[test]
fn streams_have_the_names_that_the_program_gave_them() {
    let (fixtures, folder) = (Fixtures::new(), tempfile::tempdir().unwrap());
    let report = folder.path().join("r.sqlite");
    std::fs::copy(fixtures.trace("two_streams_overlap"), &report).unwrap();
    // The second name of a stream counts; a stream of another context with the same number is another stream.
    rusqlite::Connection::open(&report)
        .unwrap()
        .execute_batch(
            "DROP TABLE IF EXISTS TARGET_INFO_NVTX_CUDA_STREAM;
             CREATE TABLE TARGET_INFO_NVTX_CUDA_STREAM (name, hwId, vmId, processId, deviceId, contextId, streamId);
             INSERT INTO TARGET_INFO_NVTX_CUDA_STREAM VALUES
               ('old', 0, 1, 4242, 0, 1, 13), ('copies', 0, 1, 4242, 0, 1, 13), ('other', 0, 1, 4242, 0, 2, 7);",
        )
        .unwrap();
    let path = report.to_str().unwrap();
    let named = |query: &str| -> BTreeSet<(i64, Option<String>)> {
        let rows = rows(path, query, &[]);
        let streams = rows.iter().filter(|row| !row["stream_id"].is_null());
        streams
            .map(|row| (number(row, "stream_id"), row["stream_name"].as_str().map(str::to_owned)))
            .collect()
    };
    for query in ["timeline_lanes", "timeline_slices"] {
        let names = named(query);
        assert!(
            names.contains(&(13, Some("copies".to_owned()))) && names.contains(&(7, None)),
            "{query}"
        );
        assert_eq!(names.iter().filter(|(_, name)| name.is_some()).count(), 1, "{query}");
    }
    let gaps = named("stream_gaps");
    assert!(gaps.contains(&(7, None)) && !gaps.contains(&(13, None)), "{gaps:?}");
    let (page, data) = page(&report, &[]);
    let lanes = data["lanes"].as_array().unwrap();
    assert!(lanes.iter().any(|lane| lane["stream"] == 13 && lane["streamName"] == "copies"));
    assert!(lanes.iter().all(|lane| lane["stream"] == 13 || lane.get("streamName").is_none()));
    assert!(page.contains("stream 13 (copies) of process 4242"));
}
