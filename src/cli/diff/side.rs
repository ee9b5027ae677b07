//! The figures of one report of a comparison, section by section.

use super::asking::{InputReport, Rows};
use super::iterations::{self, Instances, Iterations};
use crate::comparison::{Named, Sample, Section, Side, Window};
use crate::error::{Error, Result};
use crate::normalize::Scope;
use std::collections::{BTreeMap, BTreeSet};

const KERNELS: &str = "kernel_costs";
const KERNELS_BY_ITERATION: &str = "kernel_iteration_costs";
const CLASSES: &str = "kernel_classes";
const COLLECTIVES: &str = "nccl_sum";
const LAYERS: &str = "nvtx_path_times";
const MEMORY: &str = "memory_op_sizes";
const API: &str = "cuda_api_costs";
const WHOLE: &str = "gpu_time";
const WINDOWS: &str = "gpu_time_by_range";
const ALL_KERNELS: &str = "cuda_gpu_kern_sum";

/// From this many iterations on, noise comes from the spread over iterations instead of over calls.
const MIN_ITERATIONS: usize = 5;

/// The queries behind a section. With `by_iteration`, kernels come with their spread over iterations.
pub(super) fn queries_of(
    section: Section,
    per_iteration: bool,
    by_iteration: bool,
) -> &'static [&'static str] {
    match section {
        Section::GpuTime if per_iteration => &[WINDOWS],
        Section::GpuTime => &[WHOLE],
        Section::Kernels if by_iteration => &[KERNELS_BY_ITERATION],
        Section::Classes if by_iteration => &[KERNELS_BY_ITERATION, CLASSES],
        Section::Nccl if by_iteration => &[KERNELS_BY_ITERATION, COLLECTIVES],
        Section::Kernels => &[KERNELS],
        Section::Classes => &[KERNELS, CLASSES],
        Section::Nccl => &[KERNELS, COLLECTIVES],
        Section::Layers => &[LAYERS],
        Section::Memory => &[MEMORY],
        Section::Api => &[API],
    }
}

/// The figures of one report.
pub(super) struct Answer {
    pub(super) side: Side,
    /// Number of iterations.
    pub(super) iterations: Option<i64>,
    /// Calls and time of all kernels, then of those in the iterations.
    pub(super) kernels: Option<[(i64, i64); 2]>,
    /// The times of layers are CPU times, because no range launched GPU work.
    pub(super) layers_on_cpu: bool,
}

impl InputReport<'_> {
    /// Gets the figures for the wanted sections.
    pub(super) fn answer(
        &self,
        scope: &Scope,
        found: Option<&Iterations>,
        wanted: &[Section],
    ) -> Result<Answer> {
        let outer = iterations::without_iterations(scope);
        let scope = match found {
            Some(found) => Scope { iterations: vec![found.selector.clone()], ..outer.clone() },
            None => outer.clone(),
        };
        let instances = match found {
            Some(found) => iterations::found(self, &scope, &found.selector.name)?,
            None => None,
        };
        let by_iteration =
            instances.as_ref().is_some_and(|found| found.most_per_thread >= MIN_ITERATIONS);
        let mut names: Vec<&'static str> = Vec::new();
        for section in wanted.iter().filter(|section| **section != Section::GpuTime) {
            names.extend(queries_of(*section, instances.is_some(), by_iteration));
        }
        names.sort_unstable();
        names.dedup();
        let tag = || instances.iter().map(|found| format!("tag={}", found.glob)).collect();
        let params = |name: &str| if name == KERNELS_BY_ITERATION { tag() } else { Vec::new() };
        let queries: Vec<(&'static str, Vec<String>)> =
            names.iter().map(|name| (*name, params(name))).collect();
        let mut rows: BTreeMap<&str, Rows> = names
            .iter()
            .copied()
            .zip(self.ask(&scope, &queries)?)
            .filter_map(|(name, rows)| Some((name, rows?)))
            .collect();
        let mut answer =
            Answer { side: Side::default(), iterations: None, kernels: None, layers_on_cpu: false };
        if let Some(rows) = rows.remove(KERNELS) {
            answer.side.kernels = Some(rows.kernels(None)?);
        }
        if let Some(rows) = rows.remove(KERNELS_BY_ITERATION) {
            answer.side.kernels = Some(rows.kernels(Some("iteration_count"))?);
        }
        if let Some(rows) = rows.remove(CLASSES) {
            answer.side.classes = rows.labels("class")?;
        }
        if let Some(rows) = rows.remove(COLLECTIVES) {
            answer.side.collectives = rows.labels("collective")?;
        }
        if let Some(rows) = rows.remove(LAYERS) {
            let (layers, on_cpu) = rows.layers()?;
            (answer.side.layers, answer.layers_on_cpu) = (Some(layers), on_cpu);
        }
        if let Some(rows) = rows.remove(MEMORY) {
            answer.side.memory = Some(rows.memory()?);
        }
        if let Some(rows) = rows.remove(API) {
            answer.side.api = Some(rows.api()?);
        }
        match &instances {
            Some(found) => self.add_iterations(&mut answer, &outer, found, wanted)?,
            None if wanted.contains(&Section::GpuTime) => {
                let rows = self.ask(&outer, &[(WHOLE, Vec::new())])?;
                answer.side.windows =
                    rows.into_iter().flatten().next().map(|rows| rows.windows()).transpose()?;
            }
            None => {}
        }
        let side = &mut answer.side;
        // An empty table counts as missing.
        side.kernels = side.kernels.take().filter(|rows| !rows.is_empty());
        side.layers = side.layers.take().filter(|rows| !rows.is_empty());
        side.memory = side.memory.take().filter(|rows| !rows.is_empty());
        side.api = side.api.take().filter(|rows| !rows.is_empty());
        side.windows = side.windows.take().filter(|windows| !windows.is_empty());
        Ok(answer)
    }

    /// Adds the windows of the iterations, and the kernel time outside them.
    fn add_iterations(
        &self,
        answer: &mut Answer,
        outer: &Scope,
        Instances { glob, ids, .. }: &Instances,
        wanted: &[Section],
    ) -> Result<()> {
        answer.iterations = i64::try_from(ids.len()).ok();
        let windows = vec![format!("range={glob}"), "limit=-1".to_owned()];
        let mut rows = self.ask(outer, &[(WINDOWS, windows), (ALL_KERNELS, Vec::new())])?;
        let all = rows.pop().flatten();
        if let (Some(all), Some(inside)) = (all, &answer.side.kernels) {
            let sum = |pairs: &mut dyn Iterator<Item = (i64, i64)>| {
                pairs.fold((0i64, 0i64), |sum, (n, ns)| {
                    (sum.0.saturating_add(n), sum.1.saturating_add(ns))
                })
            };
            let calls = all.ints("calls")?.into_iter().map(Option::unwrap_or_default);
            let totals = all.ints("total_ns")?.into_iter().map(Option::unwrap_or_default);
            let mut inside = inside.iter().map(|kernel| (kernel.sample.calls, kernel.sample.total_ns));
            answer.kernels = Some([sum(&mut calls.zip(totals)), sum(&mut inside)]);
        }
        if !wanted.contains(&Section::GpuTime) {
            return Ok(());
        }
        // In order of time, like the rows.
        let mut windows = Vec::new();
        for rows in rows.into_iter().flatten() {
            let threads: Vec<_> = rows.ints("pid")?.into_iter().zip(rows.ints("tid")?).collect();
            let ranges = rows.ints("range_id")?.into_iter().zip(threads);
            // Ranges of each thread in order of time. A range has one row per GPU.
            let mut in_thread: BTreeMap<_, BTreeMap<i64, usize>> = BTreeMap::new();
            for (mut window, (range_id, thread)) in rows.windows()?.into_iter().zip(ranges) {
                let Some(range_id) = range_id.filter(|id| ids.contains(id)) else { continue };
                let places = in_thread.entry(thread).or_default();
                let next = places.len();
                window.iteration = *places.entry(range_id).or_insert(next);
                windows.push(window);
            }
        }
        answer.side.windows = Some(windows);
        Ok(())
    }
}

impl Rows {
    /// Samples by name and shape: rows with the same name and shape become one sample.
    ///
    /// `parts` is the column that counts the values behind the error, if that is not `calls`.
    fn named(
        &self,
        names: Vec<String>,
        shapes: Vec<String>,
        [calls, total, error]: [&str; 3],
        parts: Option<&str>,
    ) -> Result<Vec<Named>> {
        let parts = self.ints(parts.unwrap_or(calls))?;
        let (calls, totals, errors) = (self.ints(calls)?, self.ints(total)?, self.reals(error)?);
        let figures = calls.into_iter().zip(totals).zip(parts.into_iter().zip(errors));
        let samples = figures.map(|((calls, total), (parts, error))| {
            let [parts, calls, total] = [parts, calls, total].map(Option::unwrap_or_default);
            Sample::over(parts, calls, total, error)
        });
        let mut sums: BTreeMap<(String, String), Sample> = BTreeMap::new();
        for (key, sample) in names.into_iter().zip(shapes).zip(samples) {
            let sum = sums.entry(key).or_default();
            *sum = sum.merged(&sample);
        }
        let rows = sums.into_iter().filter(|(_, sample)| sample.calls > 0);
        Ok(rows.map(|((name, shape), sample)| Named { name, shape, sample }).collect())
    }

    fn names(&self, name: &str) -> Result<Vec<String>> {
        Ok(self.texts(name)?.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn kernels(&self, parts: Option<&str>) -> Result<Vec<Named>> {
        let mut shapes = vec![String::new(); self.len()];
        for (column, before) in ["grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"]
            .into_iter()
            .zip(["", "x", "x", " / ", "x", "x"])
        {
            for (shape, size) in shapes.iter_mut().zip(self.ints(column)?) {
                shape.push_str(before);
                shape.push_str(&size.unwrap_or_default().to_string());
            }
        }
        self.named(self.names("kernel_name")?, shapes, ["calls", "total_ns", "mean_error_ns"], parts)
    }

    /// The value of `column` for each kernel.
    fn labels(&self, column: &str) -> Result<BTreeMap<String, String>> {
        Ok(self.names("kernel_name")?.into_iter().zip(self.names(column)?).collect())
    }

    /// Layers with GPU work and their GPU time. If no layer has any, all layers and their CPU time.
    fn layers(&self) -> Result<(Vec<Named>, bool)> {
        let worked: Vec<bool> = self.ints("op_count")?.iter().map(|count| *count > Some(0)).collect();
        let on_cpu = !worked.contains(&true);
        let columns = match on_cpu {
            true => ["range_count", "cpu_ns", "cpu_mean_error_ns"],
            false => ["range_count", "gpu_ns", "gpu_mean_error_ns"],
        };
        let (names, paths) = (self.names("layer_name")?, self.names("path")?);
        let places = names.iter().cloned().zip(paths.iter().cloned());
        let with_work: BTreeSet<(String, String)> =
            places.zip(&worked).filter(|(_, worked)| **worked).map(|(place, _)| place).collect();
        let mut layers = self.named(names, paths, columns, None)?;
        layers.retain(|layer| on_cpu || with_work.contains(&(layer.name.clone(), layer.shape.clone())));
        Ok((layers, on_cpu))
    }

    fn memory(&self) -> Result<Vec<Named>> {
        let ways = self.texts("src_memory")?.into_iter().zip(self.texts("dst_memory")?);
        let names = self.names("op_name")?.into_iter().zip(ways).map(|(name, way)| match way {
            (Some(from), Some(to)) => format!("{name}, {from} to {to}"),
            (None, Some(only)) | (Some(only), None) => format!("{name}, {only}"),
            (None, None) => name,
        });
        let sizes = self.ints("size_bytes")?.into_iter().map(|size| match size {
            Some(size) => format!("{size} B"),
            None => String::new(),
        });
        self.named(names.collect(), sizes.collect(), ["calls", "total_ns", "mean_error_ns"], None)
    }

    fn api(&self) -> Result<Vec<Named>> {
        let shapes = vec![String::new(); self.len()];
        self.named(self.names("api_name")?, shapes, ["calls", "total_ns", "mean_error_ns"], None)
    }

    fn windows(&self) -> Result<Vec<Window>> {
        let column = |name: &str| {
            Ok::<Vec<i64>, Error>(self.ints(name)?.into_iter().map(Option::unwrap_or_default).collect())
        };
        let gpus = column("gpu_id")?;
        let parts = [
            column("compute_ns")?,
            column("exposed_communication_ns")?,
            column("exposed_memory_ns")?,
            column("idle_ns")?,
        ];
        let window = |(row, gpu_id)| Window {
            gpu_id,
            iteration: row,
            parts: [0, 1, 2, 3].map(|part: usize| parts[part][row]),
        };
        Ok(gpus.into_iter().enumerate().map(window).collect())
    }
}
