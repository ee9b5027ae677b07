//! Edits as users write them.

use super::host_code::HostCode;
use super::model::{Model, gpus};
use crate::execute::named_times::NamedTimes;
use crate::execute::native::gpu::answers::Answers;
use crate::execute::native::gpu::idle::without_version;
use crate::execute::refusal;
use foldhash::HashSet;
use nsq_sweep::classify::{Activity, simple_name};
use nsq_sweep::occupancy::{Level, NONE};
use nsq_sweep::projection::OpKind;
use nsq_sweep::replay::{Edits, GpuTimes, IntervalsByGpu};
use nsq_sweep::steps::Kind;
use nsq_value::error::Result;
use nsq_value::glob::Glob;
use std::sync::Arc;

/// The most by which an edit makes something longer.
const MOST: f64 = 1e3;

/// The message about a change without a meaning.
pub(super) fn invalid(reason: &str) -> String {
    refusal::message(reason, "`nsq show what_if` describes the changes")
}

/// A change of the program.
#[derive(Debug)]
pub(super) enum Edit {
    /// Operations take a part of their time.
    Faster(What, f64),
    /// So many operations run as one, which takes as long as one of them.
    Fused(What, f64),
    /// Operations, and the calls that only launch them, are left out.
    Without(What),
    /// Host code takes a part of its time.
    Host(HostCode, f64),
    /// What is launched in a row is one graph, and this code does not prepare launches any more.
    Graph(Option<HostCode>),
    /// Launches take no time of the host.
    FreeLaunches,
    /// All ranks arrive at collectives with as much work done.
    Balance,
    /// Operations run beside all others.
    Overlap(What),
    /// What holds up GPUs at these times takes none.
    Idle(Arc<IntervalsByGpu>),
    /// Operations other than collectives take no time at these times.
    Work(Arc<IntervalsByGpu>),
    /// Calls that wait at these times do not.
    Wait(Arc<IntervalsByGpu>),
}

/// Which operations an edit is about.
#[derive(Debug)]
pub(super) struct What {
    kind: Ops,
    /// Only those that run at these times.
    at: Option<Arc<IntervalsByGpu>>,
}

#[derive(Debug)]
enum Ops {
    All,
    Copies,
    Fills,
    Communication,
    /// Kernels that are no collectives.
    Compute,
    /// By the name of a kernel, whole or simple, or of the launching call.
    Named(Glob),
}

impl What {
    fn parse(text: &str, named: &NamedTimes) -> std::result::Result<Self, String> {
        // A kernel's name has no `@`.
        let (text, at) = match text.split_once('@') {
            Some((text, at)) => (text, Some(named.read(at)?)),
            None => (text, None),
        };
        let kind = match text {
            "" => Ops::All,
            "memcpy" | "copies" => Ops::Copies,
            "memset" => Ops::Fills,
            "communication" => Ops::Communication,
            "compute" => Ops::Compute,
            glob => Ops::Named(Glob::new(glob).map_err(|error| error.to_string())?),
        };
        Ok(Self { kind, at })
    }

    fn name(&self) -> Option<&Glob> {
        match &self.kind {
            Ops::Named(glob) => Some(glob),
            _ => None,
        }
    }
}

impl Edit {
    /// The edits of a text, one a line: `faster=gemm*:2`.
    pub(super) fn list(text: &str, named: &NamedTimes) -> std::result::Result<Vec<Self>, String> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| Self::parse(line, named)).collect()
    }

    fn parse(line: &str, named: &NamedTimes) -> std::result::Result<Self, String> {
        let invalid = |expected: &str| invalid(&format!("invalid edit '{line}': expected {expected}"));
        let (kind, value) = line.split_once('=').ok_or_else(|| invalid("KIND=VALUE"))?;
        let factor = |expected: &str| {
            let (what, factor) = value.rsplit_once(':').ok_or_else(|| invalid(expected))?;
            let number = factor.parse::<f64>().ok().filter(|number| (0.0..=1e6).contains(number));
            Ok::<_, String>((what, number.ok_or_else(|| invalid(expected))?))
        };
        match kind {
            "faster" => {
                let (what, times) = factor("faster=KERNEL:TIMES, such as faster=flash_fwd*:2")?;
                if times < 1.0 / MOST {
                    return Err(invalid("a factor of at least 0.001"));
                }
                Ok(Self::Faster(What::parse(what, named)?, times))
            }
            "fused" => {
                let (what, times) = factor("fused=KERNEL:COUNT, such as fused=elementwise*:2")?;
                if times < 1.0 {
                    return Err(invalid("a count of at least 1"));
                }
                Ok(Self::Fused(What::parse(what, named)?, times))
            }
            "without" => Ok(Self::Without(What::parse(value, named)?)),
            "host" => {
                let (what, share) = factor("host=RANGE:SHARE, such as host=dataloader:0")?;
                if share > MOST {
                    return Err(invalid("a share of at most 1000"));
                }
                Ok(Self::Host(HostCode::parse(what)?, share))
            }
            "launch" if value == "graph" => Ok(Self::Graph(None)),
            "launch" if value == "free" => Ok(Self::FreeLaunches),
            "launch" => match value.strip_prefix("graph:") {
                Some(range) => Ok(Self::Graph(Some(HostCode::parse(range)?))),
                None => Err(invalid("launch=graph, launch=graph:RANGE or launch=free")),
            },
            "balance" if value == "collectives" => Ok(Self::Balance),
            "balance" => Err(invalid("balance=collectives")),
            "overlap" => Ok(Self::Overlap(What::parse(value, named)?)),
            "idle" | "work" | "wait" => {
                let at = value.strip_prefix('@').ok_or_else(|| invalid("@ and times"))?;
                let at = named.read(at)?;
                Ok(match kind {
                    "idle" => Self::Idle(at),
                    "work" => Self::Work(at),
                    _ => Self::Wait(at),
                })
            }
            _ => Err(invalid("faster, fused, without, host, launch, balance or overlap")),
        }
    }
}

/// Adds to `edits` what a list of them does to the calls and operations of a report.
pub(super) fn edits(answers: &Answers, model: &Model, mut edits: Edits, list: &[Edit]) -> Result<Edits> {
    let graph = &model.graph;
    let gpus = gpus(&answers.occupancy);
    let mut rest = list;
    while let Some(edit) = rest.first() {
        let (row, after) = rest.split_at(row(rest));
        rest = after;
        match edit {
            Edit::Faster(..) => {
                let share = shares(answers, model, row, &gpus);
                edits.scale_ops(graph, share);
            }
            Edit::Fused(..) => edits.fuse(graph, shares(answers, model, row, &gpus)),
            Edit::Without(..) => {
                let what = row.iter().filter_map(|edit| match edit {
                    Edit::Without(what) => Some(what),
                    _ => None,
                });
                edits.remove(graph, any_meant(answers, model, what, &gpus));
            }
            Edit::Overlap(what) => edits.overlap(graph, &gpus, meant(answers, model, what, &gpus)),
            Edit::Idle(at) => edits.cut_idle(graph, &times(answers, model, at, &gpus)),
            Edit::Work(at) => {
                // What a kernel gains, a collective that runs beside it does not.
                let ops = &answers.occupancy.ops;
                let is_meant = |op: u32| ops[op as usize].activity != Activity::Communication;
                edits.cut_work(graph, &times(answers, model, at, &gpus), is_meant);
            }
            Edit::Wait(at) => edits.skip_waits(graph, &times(answers, model, at, &gpus)),
            Edit::Host(code, share) => {
                let parts = code.parts(answers, model)?;
                edits.scale_code(graph, |call| 1.0 - (1.0 - share) * parts[call as usize]);
            }
            Edit::FreeLaunches => edits.free_launches(graph),
            Edit::Graph(prepares) => {
                let begins = step_begins(answers);
                edits.launch_as_graphs(graph, |call| {
                    answers.function_kind(call).ends_graph() || begins.contains(&graph.call(call).0)
                });
                if let Some(code) = prepares {
                    let parts = code.parts(answers, model)?;
                    let part = |call: u32| if graph.prepares(call) { parts[call as usize] } else { 0.0 };
                    edits.scale_code(graph, |call| 1.0 - part(call));
                }
            }
            Edit::Balance => {
                let lane = |stream: u32| answers.occupancy.lane(Level::Process, stream);
                let of_streams: Vec<u32> =
                    (0..answers.occupancy.streams.len() as u32).map(lane).collect();
                edits.balance(graph, &of_streams, &ranks_of_threads(answers, model));
            }
        }
    }
    Ok(edits)
}

/// How many edits at the beginning of a list are read together: those that change operations with certain names in the same
/// way, of which a family of kernels has hundreds.
fn row(list: &[Edit]) -> usize {
    let is_named = |what: &What| matches!(what.kind, Ops::Named(_)) && what.at.is_none();
    let count = match list.first() {
        Some(Edit::Faster(what, _)) if is_named(what) => list
            .iter()
            .take_while(|edit| matches!(edit, Edit::Faster(what, _) if is_named(what)))
            .count(),
        Some(Edit::Fused(what, _)) if is_named(what) => {
            list.iter().take_while(|edit| matches!(edit, Edit::Fused(what, _) if is_named(what))).count()
        }
        Some(Edit::Without(what)) if is_named(what) => {
            list.iter().take_while(|edit| matches!(edit, Edit::Without(what) if is_named(what))).count()
        }
        _ => 1,
    };
    count.max(1)
}

/// The part of its time that each operation takes after a row of edits: the product of those that are about it.
fn shares<'a>(
    answers: &'a Answers,
    model: &'a Model,
    row: &'a [Edit],
    gpus: &'a [u32],
) -> Box<dyn Fn(u32) -> f64 + 'a> {
    let part = |edit: &'a Edit| match edit {
        Edit::Faster(what, times) | Edit::Fused(what, times) => Some((what, 1.0 / times)),
        _ => None,
    };
    if let [edit] = row {
        let Some((what, share)) = part(edit) else { return Box::new(|_| 1.0) };
        let is_meant = meant(answers, model, what, gpus);
        return Box::new(move |op| if is_meant(op) { share } else { 1.0 });
    }
    let named = |edit| part(edit).and_then(|(what, share)| Some((what.name()?, share)));
    let row: Vec<(&Glob, f64)> = row.iter().filter_map(named).collect();
    let matches: Vec<Matches> = row.iter().map(|(glob, _)| Matches::new(answers, model, glob)).collect();
    // Most edits name kernels: functions that none of them names are alike.
    let functions = model.function_names.len();
    let is_named = |&function: &usize| matches.iter().any(|of| of.functions[function]);
    let named: Vec<usize> = (0..functions).filter(is_named).collect();
    let mut class_of = vec![0; functions];
    (1..).zip(&named).for_each(|(class, &function)| class_of[function] = class);
    let classes = named.len() + 1;
    let share = |name: usize, class: usize| {
        let function = class.checked_sub(1).map(|place| named[place]);
        let is_meant = |of: &Matches| of.names[name] || function.is_some_and(|f| of.functions[f]);
        row.iter().zip(&matches).filter(|(_, of)| is_meant(of)).map(|((_, share), _)| share).product()
    };
    let shares: Vec<f64> = (0..answers.labels.names.len())
        .flat_map(|name| (0..classes).map(move |class| (name, class)))
        .map(|(name, class)| share(name, class))
        .collect();
    Box::new(move |op| {
        let class = model.function(answers, op).map_or(0, |function| class_of[function as usize]);
        shares[answers.label(op as usize).name as usize * classes + class]
    })
}

/// The names that a pattern matches, by their places.
struct Matches {
    names: Vec<bool>,
    /// Names of API functions, of launching calls.
    functions: Vec<bool>,
}

impl Matches {
    fn new(answers: &Answers, model: &Model, glob: &Glob) -> Self {
        let is_named = |name: &str| glob.matches(name) || glob.matches(simple_name(name));
        let is_called = |name: &str| glob.matches(name) || glob.matches(without_version(name));
        Self {
            names: answers.labels.names.iter().map(|name| is_named(name)).collect(),
            functions: model.function_names.iter().map(|name| is_called(name)).collect(),
        }
    }

    /// Whether an operation has such a name, or its launching call.
    fn hold(&self, answers: &Answers, model: &Model, op: u32) -> bool {
        self.names[answers.label(op as usize).name as usize]
            || model.function(answers, op).is_some_and(|name| self.functions[name as usize])
    }
}

/// Whether one of a row of edits is about an operation.
fn any_meant<'a>(
    answers: &'a Answers,
    model: &'a Model,
    row: impl Iterator<Item = &'a What>,
    gpus: &'a [u32],
) -> Box<dyn Fn(u32) -> bool + 'a> {
    let row: Vec<&What> = row.collect();
    if let [what] = row[..] {
        return meant(answers, model, what, gpus);
    }
    let matches =
        row.iter().filter_map(|what| what.name()).map(|glob| Matches::new(answers, model, glob));
    let any = matches.reduce(|mut any, of| {
        any.names.iter_mut().zip(of.names).for_each(|(any, of)| *any |= of);
        any.functions.iter_mut().zip(of.functions).for_each(|(any, of)| *any |= of);
        any
    });
    match any {
        Some(any) => Box::new(move |op| any.hold(answers, model, op)),
        None => Box::new(|_| false),
    }
}

/// Whether an edit is about an operation.
fn meant<'a>(
    answers: &'a Answers,
    model: &'a Model,
    what: &'a What,
    gpus: &'a [u32],
) -> Box<dyn Fn(u32) -> bool + 'a> {
    let ops = &answers.occupancy.ops;
    let is_meant: Box<dyn Fn(u32) -> bool + 'a> = match &what.kind {
        Ops::All => Box::new(|_| true),
        Ops::Copies => Box::new(move |op| ops[op as usize].kind == OpKind::Memcpy),
        Ops::Fills => Box::new(move |op| ops[op as usize].kind == OpKind::Memset),
        Ops::Communication => Box::new(move |op| ops[op as usize].activity == Activity::Communication),
        Ops::Compute => Box::new(move |op| ops[op as usize].activity == Activity::Compute),
        Ops::Named(glob) => {
            let matches = Matches::new(answers, model, glob);
            Box::new(move |op| matches.hold(answers, model, op))
        }
    };
    let Some(at) = &what.at else { return is_meant };
    let times = times(answers, model, at, gpus);
    Box::new(move |op| is_meant(op) && times.hold(&model.graph, op))
}

/// The times of each GPU.
fn times<'a>(answers: &Answers, model: &'a Model, at: &IntervalsByGpu, gpus: &'a [u32]) -> GpuTimes<'a> {
    let lanes = 0..answers.occupancy.lane_count(Level::Gpu) as u32;
    let of_lane = |lane| at.of_gpu(answers.occupancy.first_stream(Level::Gpu, lane).gpu_id);
    let times = lanes.map(of_lane).collect();
    GpuTimes { times, gpu_of_stream: gpus, leads_to: &model.leads_to }
}

/// Starts of the first launching calls of repeated steps.
fn step_begins(answers: &Answers) -> HashSet<i64> {
    let steps = answers.steps().iter().filter(|part| part.kind == Kind::Step);
    steps.filter_map(|part| part.host.map(|host| host.0)).collect()
}

/// For each thread of the graph, in order: the process and GPU to which it launches first.
fn ranks_of_threads(answers: &Answers, model: &Model) -> Vec<u32> {
    let (calls, graph) = (&answers.launches().calls, &model.graph);
    let thread = |call: u32| calls.threads()[model.places[call as usize] as usize];
    let mut ranks = vec![NONE; calls.global_tids.len()];
    for op in 0..graph.op_count() as u32 {
        if let Some(call) = graph.launch(op) {
            let of = &mut ranks[thread(call) as usize];
            if *of == NONE {
                *of = answers.occupancy.lane(Level::Process, graph.stream(op));
            }
        }
    }
    let mut threads: Vec<u32> = (0..graph.call_count() as u32).map(thread).collect();
    threads.dedup();
    threads.into_iter().map(|thread| ranks[thread as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_read_line_by_line() {
        let edits = Edit::list(
            "faster=gemm<a:b>*:2\nwithout=memcpy\n\nlaunch=graph\nhost=>5ms:0.5\nlaunch=graph:aten::*\nfaster=memcpy@0:5+7:2.5",
            &NamedTimes::default(),
        );
        let edits = edits.expect("they are valid");
        assert_eq!(edits.len(), 6);
        assert!(matches!(edits[2], Edit::Graph(None)));
        assert!(matches!(&edits[4], Edit::Graph(Some(HostCode::InRange(text, _))) if text == "aten::*"));
        assert!(matches!(edits[5], Edit::Faster(What { kind: Ops::Copies, at: Some(_) }, 2.5)));
        assert!(
            matches!(&edits[0], Edit::Faster(What { kind: Ops::Named(glob), .. }, 2.0) if glob.matches("gemm<a:b>(int)"))
        );
        assert!(matches!(edits[1], Edit::Without(What { kind: Ops::Copies, .. })));
        assert!(matches!(edits[3], Edit::Host(HostCode::Longer(5_000_000), 0.5)));
    }

    #[test]
    fn what_is_no_edit_is_told() {
        for text in [
            "faster=gemm",
            "faster=a:0",
            "faster=a:-1",
            "fused=a:0.5",
            "host=a:x",
            "launch=now",
            "balance=x",
            "slower=a:2",
            "x",
        ] {
            let error = Edit::list(text, &NamedTimes::default()).expect_err(text);
            assert!(error.starts_with(&format!("invalid edit '{text}'")), "{error}");
        }
    }
}
