//! `nsq-mcp`, which `nsq mcp` runs: answers the questions of agents over the Model Context Protocol.
//!
//! It speaks the protocol on standard input and output, and ends when its input ends; or over HTTP.

mod arguments;
mod compact;
mod connections;
mod failure;
mod http;
mod playbook;
mod reports;
mod roots;
mod server;
mod tools;
mod wording;

use clap::Parser;
use rmcp::ServiceExt;
use rmcp::transport::io::stdio;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Lets an agent ask about the reports in some folders, over the Model Context Protocol
///
/// Only reports under the roots can be opened, and nothing is written. Captured environments, command lines
/// and program output are never shown.
#[derive(Debug, Parser)]
#[command(name = "nsq-mcp", version, max_term_width = 100)]
#[command(after_help = "\
Examples:
  nsq mcp --root ~/profiles                        what an MCP client starts
  claude mcp add nsq -- nsq mcp --root ~/profiles
  nsq mcp --root ~/profiles --http 8765 --token-file token.txt
  {\"mcpServers\": {\"nsq\": {\"command\": \"nsq\", \"args\": [\"mcp\", \"--root\", \"/profiles\"]}}}")]
struct Args {
    /// Folder whose reports may be opened; may be repeated [default: the current folder]
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Most seconds that a call may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    timeout: f64,
    /// Most bytes of an answer.
    #[arg(long, value_name = "BYTES", default_value_t = 17_000, value_parser = clap::value_parser!(u32).range(2_000..))]
    max_bytes: u32,
    /// Serve HTTP instead of standard input and output: PORT on this machine alone, or ADDRESS:PORT.
    ///
    /// Other machines must come through a proxy with TLS: the token and the answers are not encrypted.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = http::address, requires = "token_file")]
    http: Option<SocketAddr>,
    /// File with the token that requests over HTTP must show, as `Authorization: Bearer TOKEN`.
    ///
    /// Only its owner may be able to read it (chmod 600).
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Also load queries from this folder; may be repeated.
    #[arg(long, value_name = "DIR")]
    queries: Vec<PathBuf>,
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.1..=86_400.0).contains(number));
    number.ok_or_else(|| "expected seconds from 0.1 to 86400".to_owned())
}

/// Runs the program with these arguments, the first of which is its name.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let args = Args::parse_from(arguments);
    match serve(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Serves one client until its input ends.
fn serve(args: &Args) -> Result<(), String> {
    let folders = if args.root.is_empty() { vec![PathBuf::from(".")] } else { args.root.clone() };
    let roots = roots::Roots::open(&folders).map_err(|e| format!("cannot open the root {e}"))?;
    let library = match args.queries.is_empty() {
        true => nsq::library(),
        false => nsq::library_with(&args.queries),
    };
    let tools = tools::Tools {
        library: library.map_err(|e| e.to_string())?,
        reports: reports::Reports::new(roots),
        bytes: args.max_bytes as usize,
        timeout: Duration::from_secs_f64(args.timeout),
    };
    eprintln!("nsq-mcp: serving the reports under {}", tools.reports.roots.names().join(", "));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| format!("cannot start: {e}"))?;
    let server = server::Server::new(tools);
    if let (Some(address), Some(file)) = (args.http, &args.token_file) {
        let token = http::token(file)?;
        let served = runtime.block_on(http::serve(server, address, token));
        return served.map_err(|e| format!("cannot serve on {address}: {e}"));
    }
    let ended = runtime.block_on(async {
        let service = server.serve(stdio()).await;
        match service {
            Ok(service) => service.waiting().await.map(drop).map_err(|e| e.to_string()),
            // The client closed its end before it said anything.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(e) => Err(e.to_string()),
        }
    });
    // A call that ignores its deadline must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(500));
    ended
}
