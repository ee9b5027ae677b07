//! Fuzz target: what a client sends to the MCP server, as lines of JSON. Each call has an answer or a reason
//! in time, none shows a secret, and none reads outside of the root.
#![no_main]

#[path = "../../../mcp/src/arguments.rs"]
#[allow(dead_code)]
mod arguments;
#[path = "../../../mcp/src/compact.rs"]
mod compact;
#[path = "../../../mcp/src/failure.rs"]
mod failure;
mod grammar;
#[path = "../../../tests/suite/secrets/planted.rs"]
#[allow(dead_code)]
mod planted;
#[path = "../../../mcp/src/playbook.rs"]
mod playbook;
#[path = "../../../mcp/src/reports.rs"]
mod reports;
#[path = "../../../mcp/src/roots.rs"]
#[allow(dead_code)]
mod roots;
#[path = "../../../mcp/src/server.rs"]
mod server;
#[path = "../support.rs"]
mod support;
#[path = "../../../mcp/src/tools.rs"]
mod tools;
#[path = "../../../mcp/src/wording.rs"]
mod wording;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use planted::{SECRET, SECRET_ID, plant};
use rmcp::ServiceExt;
use serde_json::{Value as Json, json};
use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use support::holds;
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// How long a call may take.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How long an answer may take beyond it, on a machine that does other work.
const GRACE: Duration = Duration::from_secs(10);
/// Most bytes of an answer, as by default.
const BYTES: usize = 16_000;
/// Most bytes of the text of an answer or an error.
const LONGEST: usize = 20_000;

/// A server with one client, which sends lines and reads the answers.
struct Bench {
    _folder: TempDir,
    root: PathBuf,
    runtime: Runtime,
    to: WriteHalf<DuplexStream>,
    from: BufReader<ReadHalf<DuplexStream>>,
    calls: u64,
}

impl Bench {
    fn new() -> Self {
        let folder = support::folder();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        for folder in [&root.join("below"), &outside] {
            fs::create_dir_all(folder).unwrap();
        }
        plant("3.25.0", "training_steps", &root.join("report.sqlite"));
        fs::copy(root.join("report.sqlite"), root.join("below/report.sqlite")).unwrap();
        // Outside, the names of kernels are secrets too.
        let report = outside.join("report.sqlite");
        fs::copy(root.join("report.sqlite"), &report).unwrap();
        let names = format!("UPDATE StringIds SET value = '{SECRET}_outside_' || id");
        rusqlite::Connection::open(&report).unwrap().execute_batch(&names).unwrap();
        std::os::unix::fs::symlink("../outside/report.sqlite", root.join("link.sqlite")).unwrap();
        let tools = tools::Tools {
            library: nsq::library().unwrap(),
            reports: reports::Reports::new(roots::Roots::open(&[root.clone()]).unwrap()),
            bytes: BYTES,
            timeout: TIMEOUT,
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (ours, theirs) = duplex(1 << 20);
        runtime.spawn(async move {
            let service = server::Server::new(tools).serve(split(theirs)).await.unwrap();
            panic!("the server ended: {:?}", service.waiting().await);
        });
        let (from, to) = split(ours);
        let mut bench =
            Self { _folder: folder, root, runtime, to, from: BufReader::new(from), calls: 0 };
        let client = json!({"name": "fuzz", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        bench.ask("initialize", &hello);
        bench.send(
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string().as_bytes(),
        );
        bench
    }

    fn send(&mut self, line: &[u8]) {
        let whole = [line, b"\n"].concat();
        self.runtime.block_on(self.to.write_all(&whole)).unwrap();
    }

    /// Sends a request, and waits for its answer.
    fn ask(&mut self, method: &str, params: &Json) -> Json {
        self.calls += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params});
        self.send(request.to_string().as_bytes());
        loop {
            let mut line = String::new();
            let read = self
                .runtime
                .block_on(async { timeout(TIMEOUT + GRACE, self.from.read_line(&mut line)).await });
            let read = read.unwrap_or_else(|_| panic!("no answer to {request}"));
            assert!(read.unwrap() > 0, "the server closed the connection after {request}");
            let answer: Json = serde_json::from_str(&line).unwrap();
            if answer["id"] == json!(self.calls) {
                return answer;
            }
        }
    }
}

thread_local! {
    static BENCH: RefCell<Bench> = RefCell::new(Bench::new());
}

/// Panics for an answer that shows a secret, is too long, or fails without a reason.
fn check(asked: &str, answer: &Json) {
    let shown = answer.to_string();
    for token in [SECRET, SECRET_ID] {
        assert!(
            holds(asked.as_bytes(), token) || !holds(shown.as_bytes(), token),
            "{token}:\n{asked}\n{shown}"
        );
    }
    if let Some(text) = answer["result"]["content"][0]["text"].as_str() {
        assert!(text.len() <= LONGEST, "{} bytes:\n{asked}", text.len());
        assert!(!text.starts_with("error: internal error"), "{asked}\n{text}");
        let is_error = answer["result"]["isError"] == json!(true);
        assert!(!is_error || text.len() > "error: ".len(), "an error without a reason:\n{asked}");
        assert!(
            text.chars().all(|c| c == '\n' || !c.is_control()),
            "a control character:\n{asked}\n{text}"
        );
    } else {
        assert!(
            answer["error"]["message"].as_str().is_some_and(|text| !text.is_empty())
                || answer["result"].is_object()
        );
    }
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Unstructured::new(data);
    let Ok(kind) = bytes.arbitrary::<u8>() else { return };
    let show = std::env::var_os("NSQ_FUZZ_SHOW").is_some();
    BENCH.with_borrow_mut(|bench| {
        if kind % 8 == 0 {
            // The bytes as they are, then a question that must still be answered.
            let line: Vec<u8> =
                bytes.take_rest().iter().copied().filter(|byte| *byte != b'\n').collect();
            bench.send(&line);
            let answer = bench.ask("ping", &json!({}));
            return check("ping", &answer);
        }
        let (method, params) = match kind % 8 {
            1 => {
                let Ok((_, params)) = grammar::call(&mut bytes) else { return };
                let uri = params["name"]
                    .as_str()
                    .map_or("nsq://guide".to_owned(), |name| format!("nsq://manual/{name}"));
                ("resources/read", json!({"uri": uri}))
            }
            _ => {
                let Ok((tool, arguments)) = grammar::call(&mut bytes) else { return };
                ("tools/call", json!({"name": tool, "arguments": arguments}))
            }
        };
        if show {
            println!("{method} {params}");
        }
        let answer = bench.ask(method, &params);
        check(&params.to_string(), &answer);
        if bench.calls % 64 == 0 {
            let files = fs::read_dir(&bench.root).unwrap().count();
            assert_eq!(files, 3, "a file was made");
        }
    });
});
