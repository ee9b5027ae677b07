//! Runs the queries on one report: kernels, and the gaps between them.

use super::{Args, step};
use crate::catalog::Catalog;
use crate::cli::opened::Opened;
use crate::cli::record::{Record, records};
use crate::compile::{Invocation, Layout, Plan};
use crate::error::{Error, Result};
use crate::normalize::{Attribute, Presence};
use crate::table::ResultTable;
use std::cell::RefCell;

/// Options for the queries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub(super) sort: &'static str,
    pub(super) with_gaps: bool,
    pub(super) gap_sort: &'static str,
    /// Number of pairs to return; `None` for all.
    pub(super) pairs: Option<usize>,
    pub(super) memory: bool,
    pub(super) scale: &'static str,
    /// Shortest and longest gap in the histogram.
    pub(super) range_ns: (Option<i64>, Option<i64>),
    /// Also get the histogram for the file.
    pub(super) file_bins: bool,
}

/// The answer of a report.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// All kernels, in the chosen order; never empty.
    pub(super) kernels: Vec<Kernel>,
    pub(super) gaps: Option<Gaps>,
    /// The same rows as tables with their titles, for a terminal.
    pub(super) tables: Vec<(String, ResultTable)>,
}

/// The kernels of one simple name.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    pub(super) calls: i64,
    pub(super) calls_pct: f64,
    pub(super) time_pct: f64,
    pub(super) total_ns: i64,
    pub(super) mean_ns: f64,
    pub(super) stddev_ns: f64,
    pub(super) name_count: i64,
    pub(super) simple_name: String,
    pub(super) full_name: String,
}

/// The gaps of all streams.
#[derive(Debug, Clone, Default)]
pub(super) struct Gaps {
    pub(super) streams: Vec<Stream>,
    /// In the chosen order.
    pub(super) pairs: Vec<Pair>,
    pub(super) histogram: Vec<Bin>,
    /// The histogram with the bins of the file; the same as `histogram` if there is no file.
    pub(super) file_histogram: Vec<Bin>,
}

/// A CUDA stream that ran kernels.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    pub(super) pid: Option<i64>,
    pub(super) gpu_id: Option<i64>,
    pub(super) device_id: Option<i64>,
    pub(super) context_id: Option<i64>,
    pub(super) stream_id: Option<i64>,
    pub(super) gap_count: i64,
    pub(super) gap_ns: i64,
    pub(super) gap_idle_ns: i64,
    pub(super) gpu_window_ns: i64,
    pub(super) gpu_idle_ns: i64,
    pub(super) gpu_no_kernel_ns: i64,
}

/// The gaps between two kernels.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) count: i64,
    pub(super) mean_ns: f64,
    pub(super) max_ns: i64,
    pub(super) min_ns: i64,
    pub(super) stddev_ns: f64,
    pub(super) total_ns: i64,
    pub(super) idle_ns: i64,
    pub(super) before: String,
    pub(super) after: String,
}

/// A bin of the histogram, or the gaps out of its range.
#[derive(Debug, Clone)]
pub(super) struct Bin {
    /// `bin`, `below` or `above`.
    pub(super) part: String,
    pub(super) from_ns: Option<f64>,
    pub(super) to_ns: Option<f64>,
    pub(super) count: i64,
    /// Percentiles of all gaps, the same in every bin.
    pub(super) percentiles_ns: [f64; 3],
    pub(super) max_ns: i64,
}

impl Answer {
    /// Queries the report of the command line.
    pub(super) fn ask(args: &Args, catalog: &Catalog, question: &Question) -> Result<Self> {
        let plans = Plans::new(catalog, question)?;
        let opened = Opened::open(&args.report, &args.open)?;
        let limits = args.limits.limits();
        let path = opened.report.path.clone();
        plans.check_presence(&Presence::new(&opened.schema, catalog), &path)?;
        let mut scope = args.scope.resolve(&opened.schema)?;
        if let Some(number) = args.pstep {
            scope.iterations = step::selectors(&opened, catalog, number, &limits)?;
            if args.scope.attribute.is_none() {
                scope.attribute = Attribute::Process;
            }
        }
        let roots = plans.all().flat_map(|plan| plan.reads.iter().map(String::as_str));
        let session = opened.session(catalog, &scope, roots, &limits)?;
        let tables = RefCell::new(Vec::new());
        let ask = |plan: &Plan| {
            let mut table = ResultTable::default();
            session.run(plan, &limits, &mut table)?;
            let rows = records(&table);
            tables.borrow_mut().push((plan.title.clone(), table));
            Ok::<Vec<Record>, Error>(rows)
        };
        let kernels: Vec<Kernel> = ask(&plans.kernels)?.iter().map(Kernel::of).collect();
        if kernels.is_empty() {
            return Err(no_kernels(&path, scope.is_whole()));
        }
        let gaps = plans.gaps.as_ref().map(|plans| {
            let bins = |plan: &Plan| Ok::<Vec<Bin>, Error>(ask(plan)?.iter().map(Bin::of).collect());
            let histogram = bins(&plans.histogram)?;
            Ok::<Gaps, Error>(Gaps {
                streams: ask(&plans.streams)?.iter().map(Stream::of).collect(),
                pairs: ask(&plans.pairs)?.iter().map(Pair::of).collect(),
                file_histogram: plans
                    .file_histogram
                    .as_ref()
                    .map_or_else(|| Ok(histogram.clone()), bins)?,
                histogram,
            })
        });
        let gaps = gaps.transpose()?;
        Ok(Self { kernels, gaps, tables: tables.into_inner() })
    }
}

/// The error for a report or scope without kernels.
fn no_kernels(path: &std::path::Path, is_whole: bool) -> Error {
    let detail = match is_whole {
        true => "  its table of kernels is empty",
        false => "  the scope options exclude all of its kernels",
    };
    let help = match is_whole {
        true => "capture with `nsys profile --trace=cuda …` while the GPU works",
        false => {
            "leave out some of --pstep, --device, --stream, --process, --time, --nvtx or other scope options"
        }
    };
    Error::LacksData {
        query: "nsq kernels".to_owned(),
        needs: if is_whole { "kernels" } else { "kernels within the scope" }.to_owned(),
        report: path.to_owned(),
        detail: detail.to_owned(),
        help: help.to_owned(),
    }
}

/// The queries, planned with their parameters.
struct Plans {
    kernels: Plan,
    gaps: Option<GapPlans>,
}

struct GapPlans {
    streams: Plan,
    pairs: Plan,
    histogram: Plan,
    file_histogram: Option<Plan>,
}

impl Plans {
    fn new(catalog: &Catalog, question: &Question) -> Result<Self> {
        let plan = |name: &str, params: &[String]| {
            let invocation = Invocation::parse(name).with_params(params)?;
            Plan::new(catalog.query(name)?, &invocation, &Layout::Own)
        };
        let memory = format!("memory={}", question.memory);
        let histogram = |bins: usize| {
            let mut params =
                vec![memory.clone(), format!("scale={}", question.scale), format!("bins={bins}")];
            let (least, most) = question.range_ns;
            params.extend(least.map(|ns| format!("at_least={ns}ns")));
            params.extend(most.map(|ns| format!("at_most={ns}ns")));
            plan("gap_histogram", &params)
        };
        let pairs = question.pairs.and_then(|pairs| i64::try_from(pairs).ok()).unwrap_or(-1);
        let gaps = || {
            Ok::<GapPlans, Error>(GapPlans {
                streams: plan("stream_gaps", std::slice::from_ref(&memory))?,
                pairs: plan(
                    "gap_pairs",
                    &[memory.clone(), format!("sort={}", question.gap_sort), format!("limit={pairs}")],
                )?,
                histogram: histogram(CONSOLE_BINS)?,
                file_histogram: question.file_bins.then(|| histogram(FILE_BINS)).transpose()?,
            })
        };
        Ok(Self {
            kernels: plan("kernel_stats", &[format!("sort={}", question.sort), "limit=-1".to_owned()])?,
            gaps: question.with_gaps.then(gaps).transpose()?,
        })
    }

    fn all(&self) -> impl Iterator<Item = &Plan> {
        let gaps = self.gaps.iter().flat_map(|gaps| [&gaps.streams, &gaps.pairs, &gaps.histogram]);
        std::iter::once(&self.kernels).chain(gaps)
    }

    fn check_presence(&self, presence: &Presence<'_>, path: &std::path::Path) -> Result<()> {
        self.all().try_for_each(|plan| plan.check_presence(presence, path))
    }
}

/// Bins of the linear histogram, as in profiler.py.
const CONSOLE_BINS: usize = 15;
const FILE_BINS: usize = 20;

impl Kernel {
    fn of(record: &Record) -> Self {
        let simple_name = record.text("simple_name").unwrap_or_default();
        Self {
            calls: record.int("calls").unwrap_or_default(),
            calls_pct: record.real("calls_pct").unwrap_or_default(),
            time_pct: record.real("time_pct").unwrap_or_default(),
            total_ns: record.int("total_ns").unwrap_or_default(),
            mean_ns: record.real("mean_ns").unwrap_or_default(),
            stddev_ns: record.real("stddev_ns").unwrap_or_default(),
            name_count: record.int("name_count").unwrap_or_default(),
            full_name: record.text("kernel_name").unwrap_or_else(|| simple_name.clone()),
            simple_name,
        }
    }
}

impl Stream {
    fn of(record: &Record) -> Self {
        let int = |column| record.int(column).unwrap_or_default();
        Self {
            pid: record.int("pid"),
            gpu_id: record.int("gpu_id"),
            device_id: record.int("device_id"),
            context_id: record.int("context_id"),
            stream_id: record.int("stream_id"),
            gap_count: int("gap_count"),
            gap_ns: int("gap_ns"),
            gap_idle_ns: int("gap_idle_ns"),
            gpu_window_ns: int("gpu_window_ns"),
            gpu_idle_ns: int("gpu_idle_ns"),
            gpu_no_kernel_ns: int("gpu_no_kernel_ns"),
        }
    }
}

impl Pair {
    fn of(record: &Record) -> Self {
        let int = |column| record.int(column).unwrap_or_default();
        let real = |column| record.real(column).unwrap_or_default();
        let text = |column| record.text(column).unwrap_or_default();
        Self {
            count: int("gap_count"),
            mean_ns: real("mean_ns"),
            max_ns: int("max_ns"),
            min_ns: int("min_ns"),
            stddev_ns: real("stddev_ns"),
            total_ns: int("total_ns"),
            idle_ns: int("idle_ns"),
            before: text("before_name"),
            after: text("after_name"),
        }
    }
}

impl Bin {
    fn of(record: &Record) -> Self {
        Self {
            part: record.text("part").unwrap_or_default(),
            from_ns: record.real("from_ns"),
            to_ns: record.real("to_ns"),
            count: record.int("gap_count").unwrap_or_default(),
            percentiles_ns: ["p50_ns", "p90_ns", "p99_ns"]
                .map(|column| record.real(column).unwrap_or_default()),
            max_ns: record.int("max_ns").unwrap_or_default(),
        }
    }
}
