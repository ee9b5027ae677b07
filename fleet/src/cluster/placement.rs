//! Which executor opens which report: one that may, the same one again, and after a failure another one.

use crate::asked::{Source, text_path};
use crate::plan::{OpenReports, Yield, sources_in};
use crate::roots::Roots;
use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::execution_plans::{RangeShuffleReaderExec, ShuffleReaderExec};
use ballista_core::serde::protobuf::{AvailableVcores, job_status};
use ballista_core::serde::scheduler::TaskKey;
use ballista_scheduler::cluster::{BoundTask, DistributionPolicy};
use ballista_scheduler::state::execution_graph::{TaskDescription, create_task_info};
use ballista_scheduler::state::execution_stage::RunningStage;
use ballista_scheduler::state::task_manager::JobInfoCache;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::any::Any;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An executor that has not asked for work for so long gets no more reports of its own.
const SILENT: Duration = Duration::from_secs(7);
/// How long a report waits for the executor that it belongs to, before another one opens it.
const PATIENCE: Duration = Duration::from_millis(400);
/// Most contributions that one task reads.
const READ_TOGETHER: usize = 64;
/// Separates the parts of an executor's name. No path has it.
const BETWEEN: char = '\0';

/// The name of an executor: its address, its process, and its roots.
pub(super) fn announce(address: &str, process: u32, roots: &Roots) -> String {
    let mut name = format!("{address}#{process}");
    for root in roots.folders() {
        name.push(BETWEEN);
        name.push_str(&crate::asked::path_text(root));
    }
    name
}

/// The address in an executor's name, for people.
pub(super) fn address(name: &str) -> &str {
    name.split([BETWEEN, '#']).next().unwrap_or(name)
}

fn may_read(executor: &str, source: &Source) -> bool {
    let path = text_path(&source.path);
    executor.split(BETWEEN).skip(1).any(|root| path.starts_with::<&Path>(&text_path(root)))
}

/// The rule, and what it remembers.
#[derive(Debug, Default)]
pub(super) struct Placement(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    /// When each executor last asked for work.
    seen: HashMap<String, Instant>,
    /// Who has the contributions of a report.
    owners: HashMap<String, String>,
    /// When the reports of a stage began to wait.
    waiting: HashMap<(JobId, usize), Instant>,
}

impl Memory {
    fn is_alive(&self, executor: &str) -> bool {
        self.seen.get(executor).is_some_and(|seen| seen.elapsed() < SILENT)
    }

    /// The executor that should open the report: who did before, else one by the report's name, so that the
    /// reports are spread evenly. `None`: nobody may.
    fn owner(&self, source: &Source) -> Option<&str> {
        let refused = |name: &str| source.not_on.as_deref() == Some(name);
        let alive = || self.seen.keys().map(String::as_str).filter(|name| self.is_alive(name));
        let can = |name: &&str| may_read(name, source);
        let before = self.owners.get(&source.path).map(String::as_str);
        if let Some(before) = before.filter(|name| self.is_alive(name) && can(name) && !refused(name)) {
            return Some(before);
        }
        let weight = |name: &&str| {
            let mut hasher = DefaultHasher::new();
            (name, &source.path).hash(&mut hasher);
            (!refused(name), hasher.finish())
        };
        alive().filter(can).max_by_key(weight)
    }
}

#[async_trait]
impl DistributionPolicy for Placement {
    async fn bind_tasks(
        &self,
        mut budgets: Vec<&mut AvailableVcores>,
        running: Arc<HashMap<JobId, JobInfoCache>>,
    ) -> Result<Vec<BoundTask>> {
        let mut bound = Vec::new();
        {
            let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for budget in &budgets {
                memory.seen.insert(budget.executor_id.clone(), Instant::now());
            }
            memory.seen.retain(|_, seen| seen.elapsed() < SILENT * 10);
            memory.waiting.retain(|(job, _), _| running.contains_key(job));
            // What 100,000 reports need: some ten megabytes.
            if memory.owners.len() > 100_000 {
                memory.owners.clear();
            }
        }
        for (job, info) in running.iter() {
            if !matches!(info.status, Some(job_status::Status::Running(_))) {
                continue;
            }
            let mut graph = info.execution_graph.write().await;
            let session = graph.session_id().to_owned();
            for budget in &mut budgets {
                let mut done = Vec::new();
                while budget.vcores > 0
                    && let Some(stage) = graph.fetch_running_stage(&done)
                {
                    let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                    let partitions = take(&mut memory, job, stage, budget);
                    if partitions.is_empty() {
                        done.push(stage.stage_id);
                    } else {
                        bound.push(task((&session, job), stage, budget, partitions));
                    }
                }
            }
        }
        Ok(bound)
    }

    fn name(&self) -> &'static str {
        "reports"
    }
}

/// Takes partitions of the stage for the executor.
fn take(
    memory: &mut Memory,
    job: &JobId,
    stage: &mut RunningStage,
    budget: &AvailableVcores,
) -> Vec<usize> {
    if is_whole(&stage.plan) {
        return stage.pending.next_slice(usize::MAX);
    }
    let Some((list, is_census)) = reports_of(&stage.plan) else {
        // Shuffled rows are few: every executor takes its share at once.
        let alive = memory.seen.keys().filter(|name| memory.is_alive(name)).count().max(1);
        let share = stage.pending.total_partitions().div_ceil(alive);
        return stage.pending.next_slice(share.max(budget.vcores as usize));
    };
    let executor = budget.executor_id.as_str();
    let most = if is_census { 1 } else { READ_TOGETHER };
    let since = *memory.waiting.entry((job.clone(), stage.stage_id)).or_insert_with(Instant::now);
    let (mut mine, mut others, mut not_for_me) = (Vec::new(), Vec::new(), Vec::new());
    for partition in stage.pending.next_slice(usize::MAX) {
        let Some(source) = list.get(partition).and_then(Option::as_ref) else {
            mine.push(partition);
            continue;
        };
        match memory.owner(source) {
            Some(owner) if owner == executor => mine.push(partition),
            // Nobody may read it: whoever is here says so.
            None => mine.push(partition),
            Some(_) if may_read(executor, source) && source.not_on.as_deref() != Some(executor) => {
                others.push(partition);
            }
            Some(_) => not_for_me.push(partition),
        }
    }
    // What is not computed yet can be computed here as well, rather than wait.
    if mine.is_empty() && is_census && since.elapsed() > PATIENCE {
        mine.append(&mut others);
    }
    let rest = mine.split_off(mine.len().min(most));
    let mut back: Vec<usize> = rest.into_iter().chain(others).chain(not_for_me).collect();
    back.sort_unstable();
    stage.pending.reschedule(back);
    for source in mine.iter().filter_map(|partition| list.get(*partition)?.as_ref()) {
        memory.owners.insert(source.path.clone(), executor.to_owned());
    }
    mine
}

/// Whether one task must take all partitions, because an operator in the stage merges them into one.
fn is_whole(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let mut next = only_child(plan);
    while let Some(node) = next {
        if node.is::<ShuffleReaderExec>() || node.is::<RangeShuffleReaderExec>() {
            return false;
        }
        if node.output_partitioning().partition_count() == 1 {
            return true;
        }
        next = only_child(&node);
    }
    false
}

fn only_child(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    match plan.children().as_slice() {
        [child] => Some(Arc::clone(child)),
        _ => None,
    }
}

/// The report of each partition, if the stage opens reports and does nothing else with its partitions; and
/// whether it is a census.
fn reports_of(plan: &Arc<dyn ExecutionPlan>) -> Option<(Vec<Option<Source>>, bool)> {
    let mut node = Arc::clone(plan);
    while !node.is::<OpenReports>() {
        node = only_child(&node)?;
    }
    let open = node.downcast_ref::<OpenReports>()?;
    let source = open.input.downcast_ref::<DataSourceExec>()?;
    let source: &dyn Any = source.data_source().as_ref();
    let lists = source.downcast_ref::<MemorySourceConfig>()?.partitions();
    let first = |list: &Vec<_>| list.first().and_then(sources_in)?.into_iter().next();
    Some((lists.iter().map(first).collect(), matches!(open.yields, Yield::Census(_))))
}

/// A task for the executor. While it runs, it holds one of the executor's places.
fn task(
    (session, job): (&str, &JobId),
    stage: &mut RunningStage,
    budget: &mut AvailableVcores,
    partitions: Vec<usize>,
) -> BoundTask {
    let task_id = stage.task_infos.len();
    let failures = partitions.iter().filter_map(|partition| stage.task_failure_numbers.get(*partition));
    let task_attempt = failures.max().copied().unwrap_or(0);
    let mut info = create_task_info(budget.executor_id.clone(), task_id);
    info.global_input_partition_ids.clone_from(&partitions);
    info.vcores_consumed = 1;
    stage.task_infos.push(info);
    budget.vcores -= 1;
    let description = TaskDescription {
        session_id: session.to_owned(),
        key: TaskKey { job_id: job.clone(), stage_id: stage.stage_id, task_id },
        stage_attempt_num: stage.stage_attempt_num,
        task_attempt,
        global_input_partition_ids: partitions,
        vcores_consumed: 1,
        plan: Arc::clone(&stage.plan),
        session_config: Arc::clone(&stage.session_config),
    };
    (budget.executor_id.clone(), description)
}
