//! `nsq fleet executor`: Ballista's executor, which opens reports in its roots.

use super::codec::{Logical, Physical};
use super::guard::without_files;
use super::listen::Listen;
use super::placement::announce;
use super::{MESSAGE_BYTES, config, failed, host_port, tell};
use crate::functions;
use crate::roots::Roots;
use crate::workshop::Workshop;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use nsq::whole_file::WorkFolder;
use nsq::{Error, Library, Result};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How often contributions that nobody reads are looked for.
const SWEEP: Duration = Duration::from_secs(60);

/// Open reports for a scheduler
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq fleet executor --scheduler 127.0.0.1:50050 --root /data/profiles
  nsq fleet executor --scheduler node0:50050 --bind ib0 --insecure --root /scratch/job --scratch /local/tmp

A question can read the files in the roots and no others. Stop it with Ctrl-C: the scratch folder is then removed.")]
pub(crate) struct Args {
    /// Scheduler to work for.
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: String,
    /// Folder or URL below which reports may be opened; may be repeated.
    #[arg(long = "root", required = true, value_name = "DIR")]
    roots: Vec<PathBuf>,
    #[command(flatten)]
    listen: Listen,
    /// Port at which the other executors and the clients fetch rows; 0: any free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Reports at the same time [default: one for each core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Folder for what reports contribute, and for rows between stages [default: that of temporary files]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Most megabytes of contributions to keep. The next question on the same reports uses them again.
    #[arg(long, value_name = "MB", default_value_t = 2048)]
    keep: u64,
    /// Folder with queries of your own; may be repeated.
    #[arg(long, value_name = "DIR")]
    queries: Vec<PathBuf>,
    /// Print Ballista's warnings; twice: everything it logs.
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

pub(crate) fn run(args: &Args) -> Result<u8> {
    tell::log(args.verbose);
    let (scheduler_host, scheduler_port) = host_port(&args.scheduler, "--scheduler")?;
    let roots = Roots::new(&args.roots)?;
    let library = match args.queries.as_slice() {
        [] => nsq::library()?,
        folders => nsq::library_with(folders)?,
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or(cores, usize::from);
    let (bind, port) = free_port(&args.listen.address()?, args.port)?;
    let name = announce(&format!("{bind}:{port}"), std::process::id(), &roots);
    let place = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let keep = args.keep.saturating_mul(1 << 20);
    let scratch = (WorkFolder::beside(&place)?, keep);
    let workshop = Arc::new(Workshop::of_executor(name.clone(), library, roots, scratch, jobs));
    let idle = Arc::downgrade(&workshop);
    std::thread::spawn(move || {
        while let Some(workshop) = idle.upgrade() {
            workshop.make_room(None);
            drop(workshop);
            std::thread::sleep(SWEEP);
        }
    });
    let stages = workshop.scratch().join("stages");
    std::fs::create_dir(&stages).map_err(|error| Error::io(&stages, error))?;
    let stages_text = stages.display().to_string();
    let sorts = stages.clone();
    let settings = ExecutorProcessConfig {
        executor_id: name,
        bind_host: bind.clone(),
        external_host: Some(bind.clone()),
        port,
        scheduler_host,
        scheduler_port,
        scheduler_connect_timeout_seconds: 30,
        vcores: jobs,
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: Some(stages_text),
        grpc_max_decoding_message_size: MESSAGE_BYTES as u32,
        grpc_max_encoding_message_size: MESSAGE_BYTES as u32,
        override_function_registry: Some(Arc::new(registry())),
        override_runtime_producer: Some(Arc::new(move |_| without_files(Some(&sorts)))),
        override_config_producer: Some(Arc::new(config)),
        override_logical_codec: Some(Arc::new(Logical::default())),
        override_physical_codec: Some(Arc::new(Physical {
            workshop: Some(Arc::clone(&workshop)),
            ..Physical::default()
        })),
        ..ExecutorProcessConfig::default()
    };
    let runtime = super::runtime()?;
    println!("nsq fleet executor: {bind}:{port}, for the scheduler at {}", args.scheduler);
    let done = runtime.block_on(async {
        tokio::select! {
            done = start_executor_process(Arc::new(settings)) => {
                done.map_err(|error| failed("the executor stopped", error))
            }
            // Ballista would wait for the reports at work.
            () = asked_to_stop() => Ok(()),
        }
    });
    runtime.shutdown_background();
    // Its threads may still hold the workshop, so it is not dropped.
    nsq::whole_file::remove_work_folders();
    done.map(|()| 0)
}

/// Waits for Ctrl-C or a request to end.
pub(super) async fn asked_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut end), Ok(mut hangup)) =
            (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
        {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = end.recv() => {}
                _ = hangup.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// The address, and the port or a free one if it is 0: Ballista announces both before it listens.
fn free_port(bind: &str, port: u16) -> Result<(String, u16)> {
    let listen = TcpListener::bind((bind, port)).and_then(|listener| listener.local_addr());
    let at = listen.map_err(|error| failed(&format!("cannot listen on {bind}:{port}"), error))?;
    Ok((at.ip().to_string(), at.port()))
}

fn registry() -> BallistaFunctionRegistry {
    let mut registry = BallistaFunctionRegistry::default();
    for function in functions::own() {
        registry.aggregate_functions.insert(function.name().to_owned(), Arc::new(function));
    }
    registry
}
