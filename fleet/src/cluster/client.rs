//! `nsq fleet run --cluster`: a census of the reports, then the question.

use super::codec::Logical;
use super::waves::Waves;
use super::{config, failed, placement};
use crate::asked::{Ask, Failure, Source};
use crate::engine::Engine;
use crate::local::{Found, Leaf, block_on};
use crate::plan::{Reports, Yield, census_schema};
use crate::progress::Progress;
use crate::question::{Question, Rows};
use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::execution_plans::DistributedQueryExec;
use ballista_core::serde::protobuf::CancelJobParams;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::error::DataFusionError;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use datafusion_proto::protobuf::LogicalPlanNode;
use nsq::{Cancel, Column, Error, Library, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Reports whose rows fit one partition between stages, and most partitions. A statement has dozens of stages, and
/// each costs a task a partition: few are faster, until an executor must hold too many rows.
const REPORTS_TOGETHER: usize = 32;
const PARTITIONS: usize = 16;
/// Waves of a census at the same time, so that no executor waits for the last report of one.
const WAVES: usize = 2;

pub(crate) fn run(question: &Question<'_>, url: &str, cancel: &Cancel) -> Result<u8> {
    let reports = question.sources.len();
    let cluster = Cluster { url: url.to_owned(), library: question.library, cancel, reports };
    cluster.scheduler()?;
    let found = block_on(2, cluster.census(question))??;
    question.answer(
        &found,
        |leaves| block_on(2, cluster.across(question.query(), leaves))?,
        |ask, columns, found| block_on(2, cluster.rows_of(ask, columns, found))?,
    )
}

pub(super) struct Cluster<'c> {
    pub(super) url: String,
    /// How many.
    pub(super) reports: usize,
    pub(super) library: &'c Library,
    pub(super) cancel: &'c Cancel,
}

/// The place of a report, and what the executor of this name found.
pub(super) type Answer = (usize, String, Found);

impl<'c> Cluster<'c> {
    /// The address of the scheduler.
    fn scheduler(&self) -> Result<String> {
        let address = self.url.strip_prefix("df://").unwrap_or(&self.url);
        let address = match address.contains(':') {
            true => address.to_owned(),
            false => format!("{address}:50050"),
        };
        super::host_port(&address, "--cluster").map(|(host, port)| format!("{host}:{port}"))
    }

    async fn engine(&self) -> Result<Engine<'c>> {
        let address = self.scheduler()?;
        let config = config()
            .with_target_partitions(self.reports.div_ceil(REPORTS_TOGETHER).min(PARTITIONS))
            // Planning again after every stage takes the scheduler longer than the stages take.
            .with_ballista_adaptive_query_planner(false)
            .with_ballista_logical_extension_codec(Arc::new(Logical::default()));
        let state = SessionStateBuilder::new().with_default_features().with_config(config).build();
        let context = SessionContext::remote_with_state(&format!("df://{address}"), state).await;
        Ok(Engine::far(self.library, context.map_err(|error| self.cannot(&error))?))
    }

    /// Asks every report, twice if it fails the first time. `None`: with --strict, another one failed before.
    async fn census(&self, question: &Question<'_>) -> Result<Vec<Option<Found>>> {
        let mut found: Vec<Option<Found>> = question.sources.iter().map(|_| None).collect();
        let progress = Progress::of(question.sources.len());
        let mut again = Vec::new();
        let mut waiting: VecDeque<Source> = question.sources.iter().cloned().collect();
        let mut waves = Waves::new();
        let mut at_work = futures::stream::FuturesUnordered::new();
        loop {
            while at_work.len() < WAVES && !waiting.is_empty() {
                let wave: Vec<Source> = waiting.drain(..waves.size().min(waiting.len())).collect();
                at_work.push(self.wave(wave, question.asks));
            }
            let Some(answers) = futures::StreamExt::next(&mut at_work).await else { break };
            let (answers, took) = answers?;
            waves.learn(answers.len(), took);
            for (place, executor, answer) in answers {
                if answer.is_err() && question.sources[place].not_on.is_none() {
                    again.push(Source { not_on: Some(executor), ..question.sources[place].clone() });
                } else {
                    progress.add(false);
                }
                found[place] = Some(answer);
            }
            if question.is_strict() && !again.is_empty() {
                waiting.clear();
            }
        }
        if !again.is_empty() {
            for (place, executor, answer) in self.wave(again, question.asks).await?.0 {
                progress.add(answer.is_err());
                let name = |failure: Failure| Failure {
                    message: format!(
                        "{} (last tried by {})",
                        failure.message,
                        placement::address(&executor)
                    ),
                    ..failure
                };
                found[place] = Some(answer.map_err(name));
            }
        }
        progress.say("all reports are done; the question runs");
        Ok(found)
    }

    /// Asks some reports at the same time.
    pub(super) async fn wave(
        &self,
        sources: Vec<Source>,
        asks: &[Ask],
    ) -> Result<(Vec<Answer>, Duration)> {
        let started = Instant::now();
        let known = sources.into_iter().map(|source| (source, Default::default())).collect();
        let yields = Yield::Census(asks.to_vec());
        let schema = census_schema();
        let mut engine = self.engine().await?;
        engine
            .add("census", Reports { yields, known, schema, workshop: None })
            .map_err(|e| self.cannot(&e))?;
        let job = Job::default();
        let rows = self.watched(&job, engine.rows_of("census", |plan| job.watch(plan))).await?;
        let mut answers = Vec::new();
        for batch in &rows {
            let sides = batch.column(0).as_primitive::<Int64Type>();
            for row in 0..batch.num_rows() {
                let text = |column: usize| batch.column(column).as_string::<i32>().value(row);
                let found = serde_json::from_str(text(2))
                    .map_err(|error| failed("cannot read a census", error))?;
                let place = usize::try_from(sides.value(row)).unwrap_or(usize::MAX);
                answers.push((place, text(1).to_owned(), found));
            }
        }
        Ok((answers, started.elapsed()))
    }

    async fn across(&self, query: &str, leaves: &[Leaf<'_>]) -> Result<Rows> {
        let mut engine = self.engine().await?;
        for (ask, columns, found) in leaves {
            engine.add(&ask.query, Reports::rows(ask, columns, found)).map_err(|e| self.cannot(&e))?;
        }
        let job = Job::default();
        self.watched(&job, engine.ask(query, &|plan: &_| job.watch(plan))).await
    }

    pub(super) async fn rows_of(
        &self,
        ask: &Ask,
        columns: &[Column],
        found: &[(Source, &crate::workshop::Contribution)],
    ) -> Result<Rows> {
        let mut engine = self.engine().await?;
        engine.add(&ask.query, Reports::rows(ask, columns, found)).map_err(|e| self.cannot(&e))?;
        let job = Job::default();
        self.watched(&job, engine.rows_of(&ask.query, |plan| job.watch(plan))).await
    }

    /// Waits for rows. If the user cancels, the scheduler is told.
    async fn watched(
        &self,
        job: &Job,
        rows: impl Future<Output = datafusion::error::Result<Vec<RecordBatch>>>,
    ) -> Result<Vec<RecordBatch>> {
        let cancelled = async {
            while !self.cancel.is_cancelled() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            rows = rows => rows.map_err(|error| self.cannot(&error)),
            () = cancelled => {
                // Best effort: without it, the executors finish for nobody.
                let _ = tokio::time::timeout(Duration::from_secs(3), self.cancel_job(job)).await;
                Err(Error::Interrupted)
            }
        }
    }

    async fn cancel_job(&self, job: &Job) -> Option<()> {
        let job_id = job.id()?;
        let scheduler = format!("http://{}", self.scheduler().ok()?);
        let mut scheduler = SchedulerGrpcClient::connect(scheduler).await.ok()?;
        scheduler.cancel_job(CancelJobParams { job_id }).await.ok().map(drop)
    }

    fn cannot(&self, error: &DataFusionError) -> Error {
        let text = error.to_string();
        let failed = |reason, help: &str| Error::Report {
            path: (&self.url).into(),
            reason,
            help: help.to_owned(),
        };
        if let Some(Failure { message, help, .. }) = Failure::within(&text) {
            return failed(message, &help.unwrap_or_default());
        }
        match text.contains("transport::Error") {
            true => failed(
                "the scheduler cannot be reached".to_owned(),
                "start it with `nsq fleet scheduler`, and check the address",
            ),
            false => failed(
                format!("the cluster cannot answer: {text}"),
                "ask without --cluster, and start its parts with --verbose to see more",
            ),
        }
    }
}

/// The job of a plan that runs.
#[derive(Default)]
struct Job(Mutex<Option<Arc<dyn ExecutionPlan>>>);

impl Job {
    fn watch(&self, plan: &Arc<dyn ExecutionPlan>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(plan));
    }

    fn id(&self) -> Option<String> {
        let plan = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let mut node = &plan;
        loop {
            if let Some(query) = node.downcast_ref::<DistributedQueryExec<LogicalPlanNode>>() {
                return query.job_id().map(|id| id.to_string());
            }
            node = node.children().first().copied()?;
        }
    }
}
