//! The timeline in a real browser: no errors, a first frame, zoom, measured sums equal to SQL, search, addresses.
//!
//! Chromium is driven through a pipe (`--remote-debugging-pipe`): messages are JSON with a NUL at the end.

use super::reports::shifted;
use super::{page, rows};
use crate::breakdown::chromium;
use crate::support::{Fixtures, nsq, project, shared};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
/// The tables of GPU work.
const WORK: [&str; 4] = [
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
];

struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    sent: u64,
    session: Option<String>,
    /// Exceptions and messages of the console.
    problems: Vec<Value>,
    _folder: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Browser {
    /// A headless browser; `None`, with a note, where there is none.
    fn start() -> Option<Self> {
        let chromium = chromium()?;
        let folder = tempfile::tempdir().unwrap();
        let pipes = ["in", "out"].map(|name| folder.path().join(name));
        assert!(Command::new("mkfifo").args(&pipes).status().unwrap().success());
        let child = Command::new("sh")
            .args(["-c", r#"in=$1 out=$2; shift 2; exec "$@" 3<"$in" 4>"$out""#, "sh"])
            .args(&pipes)
            .arg(chromium)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg("--window-size=1400,900")
            .env("HOME", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The shell opens both in this order, and each waits for its other end.
        let to = File::options().write(true).open(&pipes[0]).unwrap();
        let out = File::open(&pipes[1]).unwrap();
        let (give, from) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(out);
            let mut message = Vec::new();
            while reader.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if give.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser =
            Self { child, to, from, sent: 0, session: None, problems: Vec::new(), _folder: folder };
        let target = browser.tell("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.tell("Target.attachToTarget", target);
        browser.session = Some(session["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.tell(domain, json!({}));
        }
        let size = json!({"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        browser.tell("Emulation.setDeviceMetricsOverride", size);
        Some(browser)
    }

    /// Sends a command and returns its result.
    fn tell(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let mut message = json!({"id": self.sent, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer =
                self.from.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{method}: {error}"));
            if answer["id"] == self.sent {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let event = answer["method"].as_str().unwrap_or_default();
            if ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"].contains(&event)
            {
                self.problems.push(answer);
            }
        }
    }

    /// The value of an expression in the page.
    fn value(&mut self, expression: &str) -> Value {
        let ask = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.tell("Runtime.evaluate", ask);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    fn number(&mut self, expression: &str) -> f64 {
        let value = self.value(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression}: {value}"))
    }

    fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression}: {value}")).to_owned()
    }

    /// Opens a file, waits for its first frame, and returns the milliseconds until then as the page counts them.
    fn open(&mut self, page: &Path, address: &str) -> f64 {
        // Another address of the same file would not load it again.
        self.tell("Page.navigate", json!({"url": "about:blank"}));
        let url = format!("file://{}{address}", page.display());
        self.tell("Page.navigate", json!({"url": url}));
        let begun = Instant::now();
        let is_drawn = "document.readyState === 'complete' && location.protocol === 'file:' \
                        && document.body.dataset.firstFrameMs !== undefined";
        while self.value(is_drawn) != true {
            assert!(begun.elapsed() < PATIENCE, "{url} draws nothing: {:?}", self.problems);
            std::thread::sleep(Duration::from_millis(30));
        }
        self.number("Number(document.body.dataset.firstFrameMs)")
    }

    fn mouse(&mut self, kind: &str, x: f64, y: f64, is_down: bool) {
        let button = if kind == "mouseMoved" && !is_down { "none" } else { "left" };
        let event = json!({"type": kind, "x": x, "y": y, "button": button, "buttons": i32::from(is_down), "clickCount": 1});
        self.tell("Input.dispatchMouseEvent", event);
    }

    fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from.0, from.1, false);
        self.mouse("mousePressed", from.0, from.1, true);
        for part in [0.3, 0.7, 1.0] {
            let at = |one: f64, other: f64| one + part * (other - one);
            self.mouse("mouseMoved", at(from.0, to.0), at(from.1, to.1), true);
        }
        self.mouse("mouseReleased", to.0, to.1, false);
    }

    fn key(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { key };
        self.tell("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": key, "text": text}));
        self.tell("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": key}));
    }

    fn has_no_problem(&self, about: &str) {
        assert!(self.problems.is_empty(), "{about}: {:?}", self.problems);
    }
}

/// The page of a report as a file.
fn written(report: &Path, folder: &Path) -> PathBuf {
    let name = report.file_name().unwrap().to_str().unwrap();
    let file = folder.join(format!("{name}.html"));
    let output = nsq().arg("timeline").arg(report).arg("-o").arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    file
}

fn exports(names: &[&str]) -> Vec<PathBuf> {
    let shared = shared();
    let found = names.iter().filter_map(|name| Some(shared.as_ref()?.join("data").join(name)));
    found.filter(|path| path.is_file()).collect()
}

#[test]
fn pages_draw_without_errors() {
    let Some(mut browser) = Browser::start() else { return };
    let fixtures = Fixtures::new();
    let mut reports = vec![project("fixtures/example.sqlite")];
    for trace in ["gpu_metrics", "metrics_only", "nvtx_only", "training_steps"] {
        reports.push(fixtures.trace(trace));
    }
    reports.extend(exports(&[
        "exports/h100_2gpu_1s.sqlite",
        "exports/rtx3090x2_ddp_nccl_2026.3.sqlite",
        "exports/a100_mpi_2pids.sqlite",
        "torch/hta_sampled_rank0.json.gz",
        "torch/vllm_mixed_piecewise.json.gz",
    ]));
    for report in reports {
        let file = written(&report, fixtures.path());
        let about = report.display().to_string();
        let first = browser.open(&file, "");
        eprintln!("{about}: first frame after {first} ms");
        let colours = browser.number(
            "new Set(new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size",
        );
        assert!(colours > 4.0, "{about}: {colours} colours");
        let before = browser.number("view.to - view.from");
        browser.value("canvas.focus()");
        browser.key("w");
        assert!(browser.number("view.to - view.from") < before || before <= 100.0, "{about}");
        for key in ["n", "j", "n", "f", "m", "t", "C", "C", "0", "?"] {
            browser.key(key);
        }
        assert_eq!(browser.value("helpBox.open"), true, "{about}");
        browser.has_no_problem(&about);
    }
}

/// GPU operations and API calls that overlap a time, each cut to it, from the raw tables.
fn clipped(report: &Path, tables: &[&str], from: i64, to: i64) -> Vec<(i64, i64, i64)> {
    let connection = Connection::open(report).unwrap();
    let mut found = Vec::new();
    for table in tables {
        let device = if table.ends_with("RUNTIME") { "0" } else { "deviceId" };
        let sql = format!(
            "SELECT max(start, ?1), min(\"end\", ?2), {device} FROM {table}
             WHERE start < ?2 AND \"end\" > ?1 OR start = \"end\" AND start >= ?1 AND start < ?2"
        );
        let Ok(mut statement) = connection.prepare(&sql) else { continue };
        let cells = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        found.extend(statement.query_map([from, to], cells).unwrap().map(Result::unwrap));
    }
    found
}

/// Number of slices and their sum in nanoseconds that the panel has for a kind of lane.
fn shown(browser: &mut Browser, kind: &str) -> (i64, i64) {
    let row = format!("document.querySelector('#sums .sum[data-kind=\"{kind}\"]')");
    if browser.value(&format!("{row} === null")) == true {
        return (0, 0);
    }
    let part = |browser: &mut Browser, key: &str| {
        browser.number(&format!("Number({row}.dataset.{key})")) as i64
    };
    (part(browser, "count"), part(browser, "ns"))
}

#[test]
fn measured_sums_are_those_of_sql() {
    let Some(mut browser) = Browser::start() else { return };
    let fixtures = Fixtures::new();
    let mut reports = vec![project("fixtures/example.sqlite")];
    reports.extend(exports(&[
        "exports/h100_2gpu_1s.sqlite",
        "exports/a100_opt_nvtx_2026.3.sqlite",
        "exports/rtx3090x2_ddp_nccl_2026.3.sqlite",
        "exports/a100_mpi_2pids.sqlite",
    ]));
    for report in reports {
        let file = written(&report, fixtures.path());
        browser.open(&file, "");
        let top = browser.number("canvas.getBoundingClientRect().top + AXIS / 2");
        for (from, to) in [(300.0, 1300.0), (700.0, 900.0), (1000.0, 1004.0)] {
            browser.drag((from, top), (to, top));
            let (from, to) =
                (browser.number("measured.from") as i64, browser.number("measured.to") as i64);
            let about = format!("{}: {from} to {to}", report.display());
            assert!(to > from, "{about}");
            for (kind, tables) in [("stream", &WORK[..]), ("CUDA API", &["CUPTI_ACTIVITY_KIND_RUNTIME"])]
            {
                let raw = clipped(&report, tables, from, to);
                let wanted = (raw.len() as i64, raw.iter().map(|(start, end, _)| end - start).sum());
                assert_eq!(shown(&mut browser, kind), wanted, "{about}: {kind}");
                if kind == "stream" && !raw.is_empty() {
                    let mut of_gpu: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
                    for (start, end, device) in raw {
                        of_gpu.entry(device).or_default().push((start, end));
                    }
                    let mut busy: Vec<i64> = of_gpu.into_values().map(super::union).collect();
                    let text = browser
                        .text("document.querySelector('#sums .sum[data-kind=\"stream\"]').dataset.busy");
                    let text: Vec<Value> = serde_json::from_str(&text).unwrap();
                    let mut found: Vec<i64> =
                        text.iter().map(|busy| super::number(busy, "ns")).collect();
                    busy.retain(|&ns| ns > 0);
                    found.retain(|&ns| ns > 0);
                    busy.sort_unstable();
                    found.sort_unstable();
                    assert_eq!(found, busy, "{about}");
                }
            }
        }
        browser.has_no_problem(&report.display().to_string());
    }
}

#[test]
fn a_page_opens_on_short_gpu_work_and_without_a_panel() {
    let Some(mut browser) = Browser::start() else { return };
    let fixtures = Fixtures::new();
    let mut reports = vec![project("fixtures/example.sqlite")];
    reports.extend(exports(&[
        "exports/rtx3090x2_ddp_nccl_2026.3.sqlite",
        "exports/cestwc_9k_2025.5.sqlite",
        "exports/a100_mpi_2pids.sqlite",
    ]));
    for report in reports {
        let file = written(&report, fixtures.path());
        browser.open(&file, "");
        let raw = clipped(&report, &WORK, 0, i64::MAX);
        let from = raw.iter().map(|&(start, ..)| start).min().unwrap() as f64;
        let to = raw.iter().map(|&(_, end, _)| end).max().unwrap() as f64;
        let whole = (browser.number("FROM"), browser.number("TO"));
        let margin = 0.03 * (to - from);
        let is_short = to - from + 2.0 * margin < (whole.1 - whole.0) * 2.0 / 3.0;
        let wanted = if is_short { (from - margin, to + margin) } else { whole };
        let window = (browser.number("view.from"), browser.number("view.to"));
        let about = format!("{}: {window:?}, not {wanted:?}", report.display());
        assert!((window.0 - wanted.0).abs() < 1.0 && (window.1 - wanted.1).abs() < 1.0, "{about}");
        // Lanes have the room until a slice is selected.
        let height = browser.number("view.height");
        browser.value("canvas.focus()");
        browser.key("n");
        assert!(browser.number("view.height") < height, "{about}");
        browser.value("leave()");
        assert_eq!(browser.number("view.height"), height, "{about}");
        browser.key("0");
        assert!(browser.number("view.to - view.from") >= whole.1 - whole.0, "{about}");
        // Nothing is hidden but lanes that are empty there, and no lane is empty in the whole.
        browser.key("e");
        assert_eq!(browser.number("lanes.filter(lane => lane.isHidden).length"), 0.0, "{about}");
        browser.has_no_problem(&about);
    }
}

#[test]
fn search_findings_and_addresses_lead_to_places() {
    let Some(mut browser) = Browser::start() else { return };
    let fixtures = Fixtures::new();
    let report = project("fixtures/example.sqlite");
    let file = written(&report, fixtures.path());
    browser.open(&file, "");
    // A search finds each slice whose name has the text.
    let slices = rows(report.to_str().unwrap(), "timeline_slices", &["-p", "pieces=1000"]);
    let has = |slice: &&Value| {
        slice["slice_name"].as_str().is_some_and(|name| name.to_lowercase().contains("gemm"))
    };
    let wanted = slices.iter().filter(has).count();
    assert!(wanted > 0);
    browser.value("canvas.focus()");
    browser.key("/");
    for letter in ["g", "e", "m", "m"] {
        browser.key(letter);
    }
    let found = browser.number("places.filter(([lane]) => lane.about === undefined).length");
    assert_eq!(found as usize, wanted);
    browser.key("Enter");
    browser.key("Enter");
    let name = browser.text("nameOf(selected.lane, selected.i)");
    assert!(name.to_lowercase().contains("gemm"), "{name}");
    // The address leads back to window, selection, measured time and search.
    browser.value("canvas.focus()");
    browser.key("m");
    let address = browser.text("address()");
    let sums = browser.text("sumsBox.textContent");
    let window = browser.text("Math.round(view.from) + ' ' + Math.round(view.to)");
    browser.open(&file, &address);
    assert_eq!(browser.text("sumsBox.textContent"), sums);
    assert_eq!(browser.text("Math.round(view.from) + ' ' + Math.round(view.to)"), window);
    assert_eq!(browser.text("nameOf(selected.lane, selected.i)"), name);
    assert_eq!(browser.text("searchBox.value"), "gemm");
    // So do those of earlier pages, and a finding.
    browser.open(&file, "#100000000,120000000");
    assert_eq!(browser.number("Math.round(view.from)"), 100_000_000.0);
    let (_, data) = page(&report, &[]);
    let claim = data["findings"][0]["claim"].as_str().unwrap().to_owned();
    browser.open(&file, "#finding=1");
    let facts = browser.text("factsBox.textContent");
    assert!(facts.contains(&claim) && facts.contains("--explain 1"), "{facts}");
    browser.has_no_problem("example");
}

#[test]
fn several_reports_are_on_one_clock() {
    let Some(mut browser) = Browser::start() else { return };
    let fixtures = Fixtures::new();
    let (first, second) = (project("fixtures/example.sqlite"), shifted(fixtures.path()));
    let file = fixtures.path().join("both.html");
    let ask = nsq()
        .arg("run")
        .args([&first, &second])
        .args(["-q", "timeline", "-f", "html", "-o"])
        .arg(&file)
        .output();
    let output = ask.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    browser.open(&file, "");
    // Slice by slice, both reports are the same, but for the drift that 30 collectives do not show.
    let compared = "(() => {
        const own = side => lanes.filter(lane => lane.report.side === side && ['stream', 'CUDA API', 'NVTX'].includes(lane.kind))
        const [one, two] = [own(0), own(1)]
        let apart = one.length === two.length && one.length > 0 ? 0 : Infinity
        for (let at = 0; at < one.length && apart < Infinity; at++) for (let i = 0; i < one[at].start.length; i++) {
            const isNamed = one[at].label === two[at].label && nameOf(one[at], i) === nameOf(two[at], i)
            apart = isNamed ? Math.max(apart, Math.abs(one[at].start[i] - two[at].start[i])) : Infinity
        }
        return Math.min(apart, 1e9)
    })()";
    let apart = browser.number(compared);
    assert!(apart < 3000.0, "{apart}");
    // Each report has a header, which collapses its lanes.
    let headers = "rows.filter(row => row.group && row.group.isReport).length";
    assert_eq!(browser.number(headers), 2.0);
    let lanes = browser.number("rows.filter(row => row.lane).length");
    browser.value("collapse(sections[0])");
    assert!(browser.number("rows.filter(row => row.lane).length") < lanes);
    // A search finds the same in both, and sums are those of both.
    browser.value("searchFor('allreduce')");
    let of = |side: u8| format!("places.filter(([lane]) => lane.report.side === {side}).length");
    let found = [browser.number(&of(0)), browser.number(&of(1))];
    assert!(found[0] > 0.0 && found[0] == found[1], "{found:?}");
    browser.value("measure(FROM, TO, lanes)");
    let busy = browser.text("document.querySelector('#sums .sum[data-kind=\"stream\"]').dataset.busy");
    assert!(busy.contains("example.sqlite: GPU 0") && busy.contains("shifted.sqlite: GPU 1"), "{busy}");
    // The address of a finding, and of a slice, names the second report.
    browser.open(&file, "#finding=1/1");
    assert_eq!(browser.number("selected.lane.report.side"), 1.0);
    let facts = browser.text("factsBox.textContent");
    assert!(facts.contains("shifted.sqlite") && facts.contains("in its own report"), "{facts}");
    let address = browser.text("address()");
    browser.open(&file, &address);
    assert_eq!(browser.text("factsBox.textContent"), facts);
    browser.has_no_problem("two reports");
}
