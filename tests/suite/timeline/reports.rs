//! Several reports on one page: their times are on the clock of the first one, and each keeps its lanes, names and bands.

use super::{example, list, number, page, rows};
use crate::support::{Fixtures, project, stdout};
use rusqlite::Connection;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A copy of the example whose clock is 7 ms ahead at 0 and gains 10 ns in each millisecond.
pub(super) fn shifted(folder: &Path) -> PathBuf {
    let copy = folder.join("shifted.sqlite");
    std::fs::copy(project("fixtures/example.sqlite"), &copy).unwrap();
    let connection = Connection::open(&copy).unwrap();
    let sql = "SELECT m.name, c.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
               WHERE m.type = 'table' AND c.name IN ('start', 'end', 'timestamp', 'rawTimestamp')
               AND m.name NOT GLOB 'TARGET_INFO*' AND m.name <> 'ANALYSIS_DETAILS'";
    let mut statement = connection.prepare(sql).unwrap();
    let cells = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let columns: Vec<(String, String)> = cells.map(Result::unwrap).collect();
    assert!(!columns.is_empty());
    for (table, column) in columns {
        let update = format!(
            "UPDATE \"{table}\" SET \"{column}\" = CAST(round(\"{column}\" * 1.00001) AS INTEGER) + 7000000
             WHERE typeof(\"{column}\") = 'integer'"
        );
        connection.execute(&update, []).unwrap();
    }
    copy
}

/// The page of several reports, and the object in its data block.
fn page_of(reports: &[&str]) -> (String, Value) {
    let page = stdout(&[&["run"][..], reports, &["-q", "timeline", "-f", "html"][..]].concat());
    let begin = "<script type=\"application/json\" id=\"data\">";
    let data = page.split(begin).nth(1).unwrap().split("</script>").next().unwrap();
    let data = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"));
    (page, data)
}

/// The ends of the kernels of collectives, in the order of their rows.
fn ends(report: &Path) -> Vec<i64> {
    let connection = Connection::open(report).unwrap();
    let sql = "SELECT k.\"end\" FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS s ON s.id = k.demangledName
               WHERE s.value GLOB '*AllReduce*' ORDER BY k.rowid";
    let mut statement = connection.prepare(sql).unwrap();
    let ends = statement.query_map([], |row| row.get(0)).unwrap();
    ends.map(Result::unwrap).collect()
}

#[test]
fn matched_collectives_end_together_on_one_clock() {
    let fixtures = Fixtures::new();
    let other = shifted(fixtures.path());
    let clocks = rows(&example(), "timeline_clocks", &[other.to_str().unwrap()]);
    assert_eq!(clocks.len(), 2, "{clocks:?}");
    assert_eq!(clocks[0]["placed_by"], "first");
    assert_eq!(number(&clocks[0], "offset_ns"), 0);
    let clock = &clocks[1];
    assert_eq!((number(clock, "clock_side"), number(clock, "hops")), (0, 1), "{clock}");
    assert_eq!(number(clock, "collective_count"), 30, "{clock}");
    let (at, offset) = (number(clock, "at_ns"), number(clock, "offset_ns"));
    let (drift, uncertainty) = (clock["drift"].as_f64().unwrap(), number(clock, "uncertainty_ns"));
    // Both GPUs of the example take part in each collective.
    let (first, second) = (ends(&project("fixtures/example.sqlite")), ends(&other));
    assert_eq!((first.len(), second.len()), (60, 60));
    let on_page = |t: i64| t + offset + (drift * (t - at) as f64).round() as i64;
    let apart: Vec<i64> =
        first.iter().zip(&second).map(|(one, two)| (on_page(*two) - one).abs()).collect();
    let near = apart.iter().filter(|&&ns| ns <= uncertainty).count();
    assert!(near >= 54 && uncertainty < 2000, "{near} of 60 within {uncertainty}: {apart:?}");
}

/// The lanes of a report: their places, and the times and names of their slices.
fn lanes_of(data: &Value, side: Option<i64>) -> Vec<String> {
    let names = data["names"].as_array().unwrap();
    let lanes = data["lanes"].as_array().unwrap().iter();
    let own = lanes.filter(|lane| lane["report"].as_i64() == side);
    let text = |lane: &Value| {
        let of_names = list(lane, "names");
        let named: Vec<&Value> =
            of_names.iter().map(|&at| &names[usize::try_from(at).unwrap()]).collect();
        let place =
            format!("{} {} {} {} {}", lane["id"], lane["kind"], lane["gpu"], lane["tid"], lane["from"]);
        format!("{place} {} {} {named:?}", lane["starts"], lane["durs"])
    };
    own.map(text).collect()
}

/// The rows of a band of a report, without its name.
fn band_of(data: &Value, key: &str, name: Option<&str>) -> Vec<Value> {
    let mut own = data[key].as_array().unwrap().clone();
    own.retain(|row| row["report"].as_str() == name);
    for row in &mut own {
        row.as_object_mut().unwrap().remove("report");
    }
    own
}

#[test]
fn each_report_keeps_its_lanes_names_and_bands() {
    let fixtures = Fixtures::new();
    let other = shifted(fixtures.path());
    let steps = fixtures.trace("training_steps");
    let paths = [PathBuf::from(example()), other, steps];
    let words: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let (text, data) = page_of(&words);
    let reports = data["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 3);
    for (side, (path, about)) in paths.iter().zip(reports).enumerate() {
        let (_, alone) = page(path, &[]);
        assert!(alone["reports"].is_null());
        let side = i64::try_from(side).unwrap();
        assert_eq!(lanes_of(&data, Some(side)), lanes_of(&alone, None), "{about}");
        let name = about["name"].as_str().unwrap();
        for key in ["phases", "steps", "findings", "path", "metrics", "memory"] {
            assert_eq!(band_of(&data, key, Some(name)), band_of(&alone, key, None), "{about}: {key}");
        }
        assert_eq!(about["given"], path.to_str().unwrap());
    }
    for wanted in
        ["is the first report", "by 30 matched collectives, ± ", "is not aligned: no common collective"]
    {
        assert!(text.contains(wanted), "{wanted}");
    }
    let console = stdout(&[&["run"][..], &words[..], &["-q", "timeline"][..]].concat());
    assert!(
        console.starts_with("3 reports: ") && console.contains("by 30 matched collectives"),
        "{console}"
    );
}

#[test]
fn reports_share_the_slices_of_a_page() {
    let fixtures = Fixtures::new();
    let other = shifted(fixtures.path());
    let count = |data: &Value| {
        let lanes = data["lanes"].as_array().unwrap().iter();
        lanes.map(|lane| number(lane, "count") - number(lane, "left")).sum::<i64>()
    };
    let one = example();
    let (_, both) =
        page_of(&[one.as_str(), other.to_str().unwrap(), "-p", "slices=2000", "-p", "lanes=20"]);
    let (_, alone) = page(&project("fixtures/example.sqlite"), &["-p", "slices=1000", "-p", "lanes=10"]);
    assert_eq!(both["lanes"].as_array().unwrap().len(), 20);
    assert_eq!(lanes_of(&both, Some(0)), lanes_of(&alone, None));
    assert!(count(&both) <= 2 * count(&alone) + 20, "{} {}", count(&both), count(&alone));
}
