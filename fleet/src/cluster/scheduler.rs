//! `nsq fleet scheduler`: Ballista's scheduler, which plans questions and hands reports to executors.

use super::codec::{Logical, Physical};
use super::guard::without_files;
use super::listen::Listen;
use super::placement::Placement;
use super::{MESSAGE_BYTES, config, failed, tell};
use crate::functions;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use nsq::Result;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket};

/// Distribute the work of executors
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq fleet scheduler
  nsq fleet scheduler --bind ib0 --insecure --port 50050

The scheduler opens no report. Stop it with Ctrl-C.")]
pub(crate) struct Args {
    #[command(flatten)]
    listen: Listen,
    /// Port to listen on; 0: any free one.
    #[arg(long, value_name = "PORT", default_value_t = 50050)]
    port: u16,
    /// Seconds without a sign of life after which the work of an executor is given to others.
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(8..))]
    executor_timeout: u64,
    /// Print Ballista's warnings; twice: everything it logs.
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

pub(crate) fn run(args: &Args) -> Result<u8> {
    tell::log(args.verbose);
    let runtime = super::runtime()?;
    let served = runtime.block_on(async {
        tokio::select! {
            served = serve(args) => served,
            _ = super::executor::asked_to_stop() => Ok(()),
        }
    });
    // Ballista's threads may wait for executors.
    runtime.shutdown_background();
    served.map(|()| 0)
}

/// Ballista serves what this accepts as it is. Without the option, the answers to executors that ask for work wait 40 ms
/// for the acknowledgement of what was sent before.
fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(cfg!(unix))?;
    socket.set_nodelay(true)?;
    socket.bind(address)?;
    socket.listen(1024)
}

async fn serve(args: &Args) -> Result<()> {
    let host = args.listen.address()?;
    let at = format!("{host}:{}", args.port);
    let cannot = |error: std::io::Error| failed(&format!("cannot listen on {at}"), error);
    let address = (host.as_str(), args.port).to_socket_addrs().map_err(cannot)?.next();
    let address = address.ok_or_else(|| failed("cannot listen", format!("{at} is no address")))?;
    let listener = listen(address).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let session = Arc::new(|config: SessionConfig| {
        let state = default_session_builder(config)?;
        Ok(SessionStateBuilder::new_from_existing(state)
            .with_runtime_env(without_files(None)?)
            .with_aggregate_functions(functions::with_own_aggregates())
            .build())
    });
    let settings = Arc::new(SchedulerConfig {
        external_host: host.clone(),
        bind_host: host,
        bind_port: address.port(),
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        task_distribution: TaskDistributionPolicy::Custom(Arc::new(Placement::default())),
        finished_job_data_clean_up_interval_seconds: 5,
        finished_job_state_clean_up_interval_seconds: 300,
        executor_timeout_seconds: args.executor_timeout,
        expire_dead_executor_interval_seconds: 2,
        grpc_server_max_decoding_message_size: MESSAGE_BYTES as u32,
        grpc_server_max_encoding_message_size: MESSAGE_BYTES as u32,
        grpc_client_max_message_size: MESSAGE_BYTES as u32,
        no_executors_grace_period_seconds: args.executor_timeout,
        override_config_producer: Some(Arc::new(config)),
        override_session_builder: Some(session),
        override_logical_codec: Some(Arc::new(Logical::default())),
        override_physical_codec: Some(Arc::new(Physical::default())),
        ..SchedulerConfig::default()
    });
    let wrong = |error| failed("the scheduler stopped", error);
    let cluster = BallistaCluster::new_from_config(&settings).await.map_err(wrong)?;
    let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, settings);
    let scheduler = scheduler.await.map_err(wrong)?;
    println!("nsq fleet scheduler: listening on {address}");
    start_grpc_service_with_listener(listener, scheduler).await.map_err(wrong)
}
