//! Compares two reports section by section.

use super::names::{Match, NameGroup, pair_names};
use super::row::{
    Compared, Cost, Judged, Per, Reason, Row, Stratum, Verdict, Work, compare_work, divided,
};
use super::{Noise, Sample};
use std::collections::{BTreeMap, BTreeSet};

/// A section of the comparison, in the order of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The parts of each GPU's time.
    GpuTime,
    /// Kernels by name.
    Kernels,
    /// Kernels by class of work.
    Classes,
    /// NVTX ranges by folded name.
    Layers,
    /// Communication kernels by collective.
    Nccl,
    /// Copies and fills.
    Memory,
    /// CUDA API calls by function.
    Api,
}

impl Section {
    /// All sections.
    pub const ALL: [Self; 7] =
        [Self::GpuTime, Self::Kernels, Self::Classes, Self::Layers, Self::Nccl, Self::Memory, Self::Api];

    /// The name in machine formats and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GpuTime => "gpu_time",
            Self::Kernels => "kernels",
            Self::Classes => "classes",
            Self::Layers => "layers",
            Self::Nccl => "nccl",
            Self::Memory => "memory",
            Self::Api => "api",
        }
    }
}

/// A part of a GPU's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The whole window: the sum of the other four parts.
    Window,
    /// A compute kernel ran.
    Compute,
    /// A communication kernel ran without a compute kernel.
    ExposedCommunication,
    /// A copy or fill ran without a kernel.
    ExposedMemory,
    /// Nothing ran.
    Idle,
}

impl Part {
    const PARTS: [Self; 4] =
        [Self::Compute, Self::ExposedCommunication, Self::ExposedMemory, Self::Idle];

    /// The text in all formats.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Compute => "compute",
            Self::ExposedCommunication => "exposed communication",
            Self::ExposedMemory => "exposed memory",
            Self::Idle => "idle",
        }
    }
}

/// Calls with one name and one launch shape or size.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Name of the kernel, layer, operation or function.
    pub name: String,
    /// Launch shape or size; empty if calls are comparable by name alone.
    pub shape: String,
    /// The calls.
    pub sample: Sample,
}

/// A kernel with its launch shape.
pub type KernelShape = Named;

/// A time window of one GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Ordinal of the GPU.
    pub gpu_id: i64,
    /// Index of the iteration within its thread. Iterations of all threads and GPUs with the same index
    /// are one measurement.
    pub iteration: usize,
    /// Nanoseconds of compute, exposed communication, exposed memory and idle, which add up to the
    /// window.
    pub parts: [i64; 4],
}

/// The figures of one report; `None` if it has no data for a section.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side {
    /// Kernels by name and launch shape.
    pub kernels: Option<Vec<KernelShape>>,
    /// The class of each kernel.
    pub classes: BTreeMap<String, String>,
    /// The collective of each communication kernel.
    pub collectives: BTreeMap<String, String>,
    /// NVTX ranges by folded name.
    pub layers: Option<Vec<Named>>,
    /// Copies and fills by direction, memory and size.
    pub memory: Option<Vec<Named>>,
    /// API calls by function.
    pub api: Option<Vec<Named>>,
    /// One window per GPU, or one per GPU and iteration.
    pub windows: Option<Vec<Window>>,
}

/// The sum of all rows of a section, including rows without a difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// The section.
    pub section: Section,
    /// Number of calls and their time in ns in A, over all iterations.
    pub a: (i64, i64),
    /// Number of calls and their time in ns in B, over all iterations.
    pub b: (i64, i64),
    /// Change, calls effect, cost effect and other effect, each summed over the rows.
    pub change_ns: [i64; 4],
    /// Change of the cost per call; `None` if nothing could be judged, and for layers, which nest.
    pub cost: Option<(Cost, Verdict)>,
    /// Time of the judged strata in A and B, in ns.
    pub compared_ns: [f64; 2],
    /// Additional cost of B's calls compared with A's mean, and their cost at A's mean, in ns.
    pub judged_ns: (f64, f64),
    /// Number of rows without a difference.
    pub same: usize,
}

/// The comparison of two reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The unit of totals and effects. The section GPU time counts windows instead.
    pub per: Per,
    /// Rows that differ: by section, changes beyond noise first, then by size of the change.
    pub rows: Vec<Row>,
    /// The sum of each section that both sides have.
    pub totals: Vec<Total>,
    /// Sections that only one side has, with `true` if A lacks it.
    pub lacking: Vec<(Section, bool)>,
    /// Time of all kernels, copies and fills in A and B in ns, if their sections were requested.
    pub gpu_ns: [f64; 2],
}

/// A section with less than this share of the time of kernels, copies and fills on both sides, in
/// percent, does not make a report faster or slower.
const MIN_SHARE_PCT: f64 = 1.0;

impl Comparison {
    /// Share of the time of kernels, copies and fills that was judged, in percent of both sides
    /// together. Sections without a verdict do not count as judged. `None` if there is no such time.
    pub fn judged_pct(&self) -> Option<f64> {
        let has_verdict = |total: &&Total| {
            total.cost.is_some_and(|(_, verdict)| !matches!(verdict, Verdict::CannotTell(_)))
        };
        let of_gpu = |total: &&Total| matches!(total.section, Section::Kernels | Section::Memory);
        let judged: f64 = self
            .totals
            .iter()
            .filter(of_gpu)
            .filter(has_verdict)
            .flat_map(|total| total.compared_ns)
            .sum();
        let whole: f64 = self.gpu_ns.iter().sum();
        (whole > 0.0).then(|| 100.0 * judged / whole)
    }

    /// Whether `total` is a section of GPU work that takes less than 1 % of the GPU time on both sides.
    pub fn is_negligible(&self, total: &Total) -> bool {
        let of_gpu = matches!(
            total.section,
            Section::Kernels | Section::Classes | Section::Nccl | Section::Memory
        );
        let is_small = |ns: i64, whole: f64| 100.0 * (ns as f64) < MIN_SHARE_PCT * whole;
        of_gpu && is_small(total.a.1, self.gpu_ns[0]) && is_small(total.b.1, self.gpu_ns[1])
    }
}

/// Compares the sections in `wanted`. The sides' windows are iterations or whole reports, as in `per`.
pub fn compare(a: &Side, b: &Side, per: Per, wanted: &[Section], confidence: f64) -> Comparison {
    let gpu_ns = [a, b].map(|side| {
        let of = |section: Section, rows: &Option<Vec<Named>>| -> f64 {
            let rows = rows.iter().flatten().filter(|_| wanted.contains(&section));
            rows.map(|row| row.sample.total_ns as f64).sum()
        };
        of(Section::Kernels, &side.kernels) + of(Section::Memory, &side.memory)
    });
    let mut comparison =
        Comparison { per, rows: Vec::new(), totals: Vec::new(), lacking: Vec::new(), gpu_ns };
    let kernels = Kernels::pair(a, b);
    for section in Section::ALL.into_iter().filter(|section| wanted.contains(section)) {
        let has = |side: &Side| match section {
            Section::GpuTime => side.windows.is_some(),
            Section::Kernels | Section::Classes => side.kernels.is_some(),
            Section::Nccl => !side.collectives.is_empty(),
            Section::Layers => side.layers.is_some(),
            Section::Memory => side.memory.is_some(),
            Section::Api => side.api.is_some(),
        };
        match (has(a), has(b)) {
            (true, true) => {}
            (false, false) => continue,
            (has_a, _) => {
                comparison.lacking.push((section, !has_a));
                continue;
            }
        }
        let listed = |side: &Option<Vec<Named>>| side.clone().unwrap_or_default();
        let works = match section {
            Section::GpuTime => {
                comparison.rows.extend(gpu_time(a, b, per, confidence));
                continue;
            }
            Section::Kernels => kernels.by_name(),
            Section::Classes => kernels.by(&a.classes, &b.classes),
            Section::Nccl => kernels.by(&a.collectives, &b.collectives),
            Section::Layers => by_name(&listed(&a.layers), &listed(&b.layers)),
            Section::Memory => by_name(&listed(&a.memory), &listed(&b.memory)),
            Section::Api => by_name(&listed(&a.api), &listed(&b.api)),
        };
        let compared = works
            .iter()
            .map(|(work, matched)| {
                compare_work(section, work, *matched, per, &kernels.ambiguous_in(section), confidence)
            })
            .collect();
        let (rows, total) = summed(section, compared, confidence);
        comparison.rows.extend(rows);
        comparison.totals.push(total);
    }
    comparison
}

/// Returns the rows that differ, sorted and with their shares, and the sum of all rows.
fn summed(section: Section, compared: Vec<Compared>, confidence: f64) -> (Vec<Row>, Total) {
    let mut judged = Judged::default();
    let mut total = Total {
        section,
        a: (0, 0),
        b: (0, 0),
        change_ns: [0; 4],
        cost: None,
        judged_ns: (0.0, 0.0),
        compared_ns: [0.0; 2],
        same: 0,
    };
    for Compared { row, judged: of_row, differs } in &compared {
        judged.join(of_row);
        total.a = (total.a.0.saturating_add(row.calls_a), total.a.1.saturating_add(row.total_a_ns));
        total.b = (total.b.0.saturating_add(row.calls_b), total.b.1.saturating_add(row.total_b_ns));
        let effects =
            [Some(row.change_ns), row.calls_effect_ns, row.cost_effect_ns, row.other_effect_ns];
        for (sum, effect) in total.change_ns.iter_mut().zip(effects) {
            *sum = sum.saturating_add(effect.unwrap_or(0));
        }
        total.same += usize::from(!differs);
    }
    let is_exclusive = section != Section::Layers;
    if is_exclusive {
        total.cost = judged.verdict([total.a.1, total.b.1], confidence);
        total.judged_ns = (judged.cost_ns, judged.base_ns);
        total.compared_ns = judged.totals_ns;
    }
    let share =
        |part: i64, whole: i64| (is_exclusive && whole > 0).then(|| 100.0 * part as f64 / whole as f64);
    let mut rows: Vec<Row> = Vec::new();
    for Compared { mut row, differs, .. } in compared {
        if differs {
            (row.share_a_pct, row.share_b_pct) =
                (share(row.total_a_ns, total.a.1), share(row.total_b_ns, total.b.1));
            rows.push(row);
        }
    }
    sort(&mut rows);
    (rows, total)
}

/// Sorts rows beyond noise first, by cost effect, then the rest by change.
fn sort(rows: &mut [Row]) {
    let key = |row: &Row| {
        let size = match row.verdict.is_real() {
            true => row.cost_effect_ns.unwrap_or(0),
            false => row.change_ns,
        };
        (!row.verdict.is_real(), std::cmp::Reverse(size.unsigned_abs()))
    };
    rows.sort_by(|x, y| {
        key(x).cmp(&key(y)).then_with(|| x.name_b.cmp(&y.name_b)).then_with(|| x.name_a.cmp(&y.name_a))
    });
}

/// Kernels of both sides, paired.
struct Kernels<'s> {
    groups: Vec<NameGroup>,
    places: [BTreeMap<String, usize>; 2],
    sides: [&'s [KernelShape]; 2],
}

impl<'s> Kernels<'s> {
    fn pair(a: &'s Side, b: &'s Side) -> Self {
        let of = |side: &'s Side| side.kernels.as_deref().unwrap_or_default();
        let names = |side: &[KernelShape]| side.iter().map(|kernel| kernel.name.clone()).collect();
        let sides = [of(a), of(b)];
        let groups = pair_names(&names(sides[0]), &names(sides[1]));
        let mut places = [BTreeMap::new(), BTreeMap::new()];
        for (place, group) in groups.iter().enumerate() {
            places[0].extend(group.a.iter().map(|name| (name.clone(), place)));
            places[1].extend(group.b.iter().map(|name| (name.clone(), place)));
        }
        Self { groups, places, sides }
    }

    /// Groups in which it is unknown which kernel became which.
    fn ambiguous_in(&self, section: Section) -> BTreeSet<usize> {
        let is_of_kernels = matches!(section, Section::Kernels | Section::Classes | Section::Nccl);
        let groups =
            self.groups.iter().enumerate().filter(|(_, group)| is_of_kernels && group.is_ambiguous());
        groups.map(|(place, _)| place).collect()
    }

    /// The calls of a side, each with its stratum. The index of the name group stands for the name.
    fn strata(&self, side: usize) -> impl Iterator<Item = (&'s KernelShape, Stratum)> + '_ {
        let place = move |kernel: &KernelShape| self.places[side].get(&kernel.name).copied();
        self.sides[side]
            .iter()
            .filter_map(move |kernel| Some((kernel, (place(kernel)?, kernel.shape.clone()))))
    }

    fn by_name(&self) -> Vec<(Work, Match)> {
        let name = |names: &[String]| (!names.is_empty()).then(|| names.join("\n"));
        let mut works: Vec<(Work, Match)> = self
            .groups
            .iter()
            .map(|group| {
                let work = Work { name_a: name(&group.a), name_b: name(&group.b), ..Work::default() };
                (work, group.matched)
            })
            .collect();
        for side in 0..2 {
            for (kernel, stratum) in self.strata(side) {
                let Some((work, _)) = works.get_mut(stratum.0) else { continue };
                add(if side == 0 { &mut work.a } else { &mut work.b }, stratum, &kernel.sample);
            }
        }
        works
    }

    /// Groups the kernels of each side by their label. Kernels without a label are left out.
    fn by(&self, a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<(Work, Match)> {
        let mut works: BTreeMap<String, Work> = BTreeMap::new();
        for (side, labels) in [a, b].into_iter().enumerate() {
            for (kernel, stratum) in self.strata(side) {
                let Some(label) = labels.get(&kernel.name) else { continue };
                let work = works.entry(label.clone()).or_default();
                let (name, strata) = if side == 0 {
                    (&mut work.name_a, &mut work.a)
                } else {
                    (&mut work.name_b, &mut work.b)
                };
                *name = Some(label.clone());
                add(strata, stratum, &kernel.sample);
            }
        }
        with_match(works)
    }
}

fn by_name(a: &[Named], b: &[Named]) -> Vec<(Work, Match)> {
    let mut works: BTreeMap<String, Work> = BTreeMap::new();
    for (side, rows) in [a, b].into_iter().enumerate() {
        for row in rows {
            let work = works.entry(row.name.clone()).or_default();
            let (name, strata) = if side == 0 {
                (&mut work.name_a, &mut work.a)
            } else {
                (&mut work.name_b, &mut work.b)
            };
            *name = Some(row.name.clone());
            add(strata, (0, row.shape.clone()), &row.sample);
        }
    }
    with_match(works)
}

fn add(strata: &mut BTreeMap<Stratum, Sample>, stratum: Stratum, sample: &Sample) {
    let sum = strata.entry(stratum).or_default();
    *sum = sum.merged(sample);
}

fn with_match(works: BTreeMap<String, Work>) -> Vec<(Work, Match)> {
    let matched = |work: &Work| match (&work.name_a, &work.name_b) {
        (Some(_), Some(_)) => Match::Exact,
        _ => Match::None,
    };
    works
        .into_values()
        .map(|work| (matched(&work), work))
        .map(|(matched, work)| (work, matched))
        .collect()
}

/// The rows of GPU time: one set per GPU, and one for all GPUs if there are several.
fn gpu_time(a: &Side, b: &Side, per: Per, confidence: f64) -> Vec<Row> {
    let of = |side: &Side| side.windows.clone().unwrap_or_default();
    let (a, b) = (of(a), of(b));
    let ids = |windows: &[Window]| windows.iter().map(|window| window.gpu_id).collect::<BTreeSet<i64>>();
    let (ids_a, ids_b) = (ids(&a), ids(&b));
    let mut pairs: Vec<(Option<i64>, Option<i64>)> =
        ids_a.intersection(&ids_b).map(|&id| (Some(id), Some(id))).collect();
    // A run may use another GPU of the same machine: pair the remaining GPUs in order.
    let mut left = ids_a.difference(&ids_b).copied();
    let mut right = ids_b.difference(&ids_a).copied();
    loop {
        match (left.next(), right.next()) {
            (None, None) => break,
            pair => pairs.push(pair),
        }
    }
    let mut rows = Vec::new();
    let of_gpu = |windows: &[Window], gpu: Option<i64>| -> Vec<Window> {
        windows.iter().filter(|window| Some(window.gpu_id) == gpu).cloned().collect()
    };
    let name = |gpu: Option<i64>| gpu.map(|gpu| format!("GPU {gpu}"));
    if pairs.len() > 1 {
        let name = Some("all GPUs".to_owned());
        rows.extend(window_rows((name.clone(), a.clone()), (name, b.clone()), per, confidence));
    }
    for (gpu_a, gpu_b) in pairs {
        let (a, b) = (of_gpu(&a, gpu_a), of_gpu(&b, gpu_b));
        rows.extend(window_rows((name(gpu_a), a), (name(gpu_b), b), per, confidence));
    }
    rows
}

/// The rows of one GPU; empty if nothing differs.
fn window_rows(
    (name_a, a): (Option<String>, Vec<Window>),
    (name_b, b): (Option<String>, Vec<Window>),
    per: Per,
    confidence: f64,
) -> Vec<Row> {
    let whole = |parts: &[i64; 4]| parts.iter().fold(0i64, |sum, part| sum.saturating_add(*part));
    let count = |windows: &[Window]| i64::try_from(windows.len()).unwrap_or(i64::MAX);
    let of = match per {
        Per::Report => (1, 1),
        Per::Iteration(..) => (count(&a).max(1), count(&b).max(1)),
    };
    let sample = |windows: &[Window], part: Part| {
        let value = |window: &Window| match part {
            Part::Window => whole(&window.parts),
            Part::Compute => window.parts[0],
            Part::ExposedCommunication => window.parts[1],
            Part::ExposedMemory => window.parts[2],
            Part::Idle => window.parts[3],
        };
        let iterations: Vec<usize> = windows.iter().map(|window| window.iteration).collect();
        Sample::of_parts(&windows.iter().map(value).collect::<Vec<i64>>(), &iterations)
    };
    let totals = |windows: &[Window]| sample(windows, Part::Window).total_ns;
    let (window_a, window_b) = (totals(&a), totals(&b));
    let share = |part: i64, whole: i64| (whole > 0).then(|| 100.0 * part as f64 / whole as f64);
    let row = |part: Part, change_ns: i64| {
        let (from, to) = (sample(&a, part), sample(&b, part));
        let mut noise = Noise::default();
        let is_judged = matches!(per, Per::Iteration(..)) && noise.add(1.0, &from, &to);
        let judged = Judged {
            cost_ns: to.mean_ns() - from.mean_ns(),
            base_ns: from.mean_ns(),
            calls: i64::from(is_judged),
            totals_ns: [from.total_ns as f64, to.total_ns as f64],
            unjudged_ns: [0.0; 3],
            noise,
        };
        let (cost, verdict) = match judged.verdict([from.total_ns, to.total_ns], confidence) {
            Some((cost, verdict)) => (Some(cost), verdict),
            None if b.is_empty() => (None, Verdict::OnlyA),
            None if a.is_empty() => (None, Verdict::OnlyB),
            None if per == Per::Report => (None, Verdict::CannotTell(Reason::OneWindow)),
            None => (None, Verdict::CannotTell(Reason::OneCall)),
        };
        let is_per_iteration = per != Per::Report;
        Row {
            section: Section::GpuTime,
            name_a: name_a.clone(),
            name_b: name_b.clone(),
            matched: match (&name_a, &name_b) {
                (Some(a), Some(b)) if a == b => Match::Exact,
                (Some(_), Some(_)) => Match::Numbers,
                _ => Match::None,
            },
            part: Some(part),
            calls_a: from.calls,
            calls_b: to.calls,
            total_a_ns: from.total_ns,
            total_b_ns: to.total_ns,
            share_a_pct: share(from.total_ns, window_a),
            share_b_pct: share(to.total_ns, window_b),
            per: if is_per_iteration { Per::Iteration(of.0, of.1) } else { Per::Report },
            change_ns,
            calls_effect_ns: is_per_iteration.then_some(0),
            cost_effect_ns: is_per_iteration.then_some(change_ns),
            other_effect_ns: is_per_iteration.then_some(0),
            cost,
            verdict,
        }
    };
    // The window is the sum of the rounded parts, so the changes add up in whole nanoseconds.
    let changes = Part::PARTS.map(|part| {
        let (from, to) = (sample(&a, part), sample(&b, part));
        divided(to.total_ns, of.1).saturating_sub(divided(from.total_ns, of.0))
    });
    let change = changes.iter().fold(0i64, |sum, change| sum.saturating_add(*change));
    if changes == [0; 4] && of.0 == of.1 {
        return Vec::new();
    }
    let mut rows = vec![row(Part::Window, change)];
    rows.extend(Part::PARTS.into_iter().zip(changes).map(|(part, change)| row(part, change)));
    rows
}
