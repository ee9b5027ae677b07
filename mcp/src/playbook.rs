//! Playbooks, which the program `nsq` answers: the library has no function for them. It runs as a process of
//! its own, which is killed at the deadline.

use crate::compact;
use crate::failure::Failure;
use crate::roots::quoted;
use crate::wording;
use nsq::Cancel;
use serde_json::{Map, Value as Json, json};
use std::env::{consts::EXE_SUFFIX, current_exe};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Most bytes to read from nsq.
const MOST_OUTPUT: u64 = 32 << 20;
/// How often to look whether the process has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A playbook and what it is asked about.
pub(crate) struct Asked<'a> {
    pub(crate) paths: &'a [&'a Path],
    pub(crate) playbook: &'a str,
    pub(crate) parts: &'a [String],
    pub(crate) params: &'a [(&'a str, String)],
}

/// A process that is killed if it is not waited for.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Answers the playbook: the sentences of each part, the reasons for missing ones, and the queries behind.
pub(crate) fn answer(
    asked: &Asked<'_>,
    timeout: Duration,
    bytes: usize,
    cancel: &Cancel,
) -> Result<Json, Failure> {
    // A path would read a file outside the roots.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if asked.playbook.is_empty()
        || asked.playbook.starts_with('-')
        || !asked.playbook.chars().all(is_plain)
    {
        return Err(Failure::new(
            format!("unknown playbook {}", quoted(asked.playbook)),
            "give the name of a playbook, such as cs336",
        ));
    }
    let mut command = Command::new(nsq_program());
    command.args(["answer", "--format", "json", "--playbook", asked.playbook]);
    command.arg("--timeout").arg(format!("{}s", timeout.as_secs_f64()));
    for part in asked.parts {
        command.arg(format!("--part={part}"));
    }
    for (name, value) in asked.params {
        command.arg(format!("--param={name}={value}"));
    }
    command.arg("--").args(asked.paths);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let cannot = |e: std::io::Error| {
        Failure::new(format!("cannot run nsq: {e}"), "install nsq next to nsq-mcp, or on PATH")
    };
    let mut child = Killed(command.spawn().map_err(cannot)?);
    let output = child.0.stdout.take().map(read_all);
    let errors = child.0.stderr.take().map(read_all);
    let until = Instant::now() + timeout;
    let status = loop {
        if let Some(status) = child.0.try_wait().map_err(cannot)? {
            break status;
        }
        if cancel.is_cancelled() || Instant::now() > until {
            return Err(nsq::Error::Interrupted.into());
        }
        std::thread::sleep(PAUSE);
    };
    let text = |reader: Option<std::thread::JoinHandle<Vec<u8>>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    let (output, errors) = (text(output), text(errors));
    let Ok(document) = serde_json::from_slice::<Json>(&output) else {
        let message = String::from_utf8_lossy(&errors);
        let message = message.trim().trim_start_matches("error: ");
        let (text, help) = match message.split_once("\n  help: ") {
            Some((text, help)) => (text, Some(help.to_owned())),
            None => (message, None),
        };
        return Err(Failure {
            text: match text.is_empty() {
                true => format!("nsq ended with {status} and without an answer"),
                false => text.to_owned(),
            },
            help,
        });
    };
    Ok(shortened(&document, bytes))
}

/// Reads a pipe on a thread of its own, so that a full pipe does not stop the process.
fn read_all(pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // An error ends the text: the answer then fails to parse.
        let _ = pipe.take(MOST_OUTPUT).read_to_end(&mut bytes);
        bytes
    })
}

/// The sentences and the queries, without the rows: run_query returns these.
fn shortened(document: &Json, bytes: usize) -> Json {
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let mut left = bytes;
    let mut parts = Vec::new();
    let mut left_out = Vec::new();
    for part in list(&document["parts"]) {
        let answers: Vec<Json> = list(&part["answers"])
            .iter()
            .map(|answer| {
                let mut short = Map::new();
                for key in ["about", "status", "text", "reason"] {
                    if let Some(text) = answer[key].as_str() {
                        let text = match key {
                            "reason" => wording::help(text).unwrap_or_else(|| wording::message(text)),
                            "text" => wording::message(text),
                            _ => text.to_owned(),
                        };
                        let lines: Vec<String> =
                            text.lines().map(|line| compact::text(line, true)).collect();
                        short.insert(key.to_owned(), lines.join("\n").into());
                    }
                }
                let queries: Vec<String> = list(&answer["results"])
                    .iter()
                    .filter_map(|result| result["query"].as_str().map(str::to_owned))
                    .collect();
                if !queries.is_empty() {
                    short.insert("queries".to_owned(), json!(queries));
                }
                short.into()
            })
            .collect();
        let short = json!({"part": part["part"], "status": part["status"], "question": part["question"], "answers": answers});
        let size = short.to_string().len();
        if size > left {
            left_out.push(part["part"].clone());
            continue;
        }
        left -= size;
        parts.push(short);
    }
    let mut answer = json!({"playbook": document["playbook"]["name"], "parts": parts, "untrusted_text": ["text", "reason"]});
    if !left_out.is_empty() {
        answer["left_out"] = json!({"parts": left_out, "help": "ask for these parts alone"});
    }
    answer
}

/// The program `nsq`: beside this one, else on `PATH`.
fn nsq_program() -> PathBuf {
    let name = format!("nsq{EXE_SUFFIX}");
    let beside = current_exe().ok().and_then(|own| own.parent().map(|folder| folder.join(&name)));
    beside.filter(|program| program.is_file()).unwrap_or_else(|| name.into())
}
