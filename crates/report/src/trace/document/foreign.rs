//! Names text that is not a trace: other JSON of profilers, and files in a gzip file.

use super::Document;
use crate::report::{FLIGHT_RECORDER, MEMORY_SNAPSHOT};
use crate::trace::record::Recorder;
use nsq_value::error::Error;
use std::fs::File;
use std::io::Read;

/// Maximum members of an object that are kept to name it.
pub(super) const MEMBERS: usize = 32;

/// How a SQLite database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";
const GIVE: &str = "give a file written by torch.profiler's export_chrome_trace(), or an nsys export";
const EXPORT: &str =
    "nsq reads SQLite: `nsys export --type sqlite REPORT.nsys-rep`, or give nsq the .nsys-rep";

impl Document<'_> {
    /// The error for a document without events of a profiler. `None`: it is a trace.
    pub(super) fn foreign(&self, has_events: bool, recorder: &Recorder) -> Option<Error> {
        let is_jax = || recorder.process_names.values().any(|name| name.starts_with("/device:"));
        let (reason, help) = if !has_events {
            self.of_members().unwrap_or(("is JSON, but not a trace: it has no \"traceEvents\"", GIVE))
        } else if recorder.saw_no_events() {
            ("is JSON, but not a trace: its objects have no \"ph\"", GIVE)
        } else if recorder.imported.rows == 0 && is_jax() {
            (
                "is a trace of JAX or TensorFlow (XLA) whose device is not a GPU",
                "nsq reads the streams of GPUs: processes `/device:GPU:0` with threads `Stream #7`",
            )
        } else {
            return None;
        };
        Some(self.refuse(reason.to_owned(), help))
    }

    /// What the members of the outermost object say that it is.
    fn of_members(&self) -> Option<(&'static str, &'static str)> {
        let has = |name: &str| self.members.iter().any(|member| member == name);
        Some(if has("nodes") && has("schema") {
            (
                "is an execution trace of PyTorch, which has no GPU times",
                "record GPU times with torch.profiler and export_chrome_trace()",
            )
        } else if has("pg_config") || has("entries") && has("version") {
            ("is a flight recorder dump of PyTorch", FLIGHT_RECORDER)
        } else if has("device_traces") || has("segments") {
            ("is a memory snapshot of PyTorch", MEMORY_SNAPSHOT)
        } else if has("VmSystemInformation") {
            ("is an info export of nsys, which has no events", EXPORT)
        } else {
            return None;
        })
    }

    /// The error for text after the outermost value.
    pub(super) fn more_text(&self, has_events: bool) -> Error {
        let is_line = self.text.as_bytes().get(self.at) == Some(&b'{') && !has_events;
        match self.members.as_slice() {
            [first, ..] if is_line && first == "data" => {
                self.refuse("is a JSON export of nsys (`nsys export --type json`)".to_owned(), EXPORT)
            }
            [_, ..] if is_line => self.refuse("is JSON lines, not a trace".to_owned(), GIVE),
            _ => self.malformed("has more text after its end", "a trace is one JSON value"),
        }
    }

    /// The error for an item of the events that is not an object.
    pub(super) fn not_an_event(&self, first: u8, recorder: &Recorder) -> Error {
        if first == b'[' && recorder.imported.events == 0 {
            let help = "record GPU times with torch.profiler and export_chrome_trace()";
            return self.refuse("is a memory timeline of PyTorch".to_owned(), help);
        }
        self.malformed("has an event that is not an object", "expected `{`")
    }

    /// Whether the file begins with these bytes, as it is.
    fn begins_with(&self, bytes: &[u8]) -> bool {
        let mut first = vec![0; bytes.len()];
        File::open(self.path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == bytes
    }

    /// The error for text that does not begin like JSON.
    pub(super) fn not_json(&self) -> Error {
        let text = self.text.as_bytes();
        let (reason, help) = if self.begins_with(SQLITE) {
            ("is a SQLite database, which needs no import", "give the file to nsq itself: `nsq FILE`")
        } else if text.starts_with(SQLITE) {
            (
                "is a gzip file with a SQLite export in it",
                "unpack it with `gunzip --keep FILE`, and give the .sqlite file",
            )
        } else if text.starts_with(b"NVIDIA Tegra Profiler Report") {
            (
                "is a gzip file with a capture in it",
                "unpack it with `gunzip`, and give the .nsys-rep file",
            )
        } else {
            return self.malformed("is not valid JSON", "expected an object or an array");
        };
        self.refuse(reason.to_owned(), help)
    }
}
