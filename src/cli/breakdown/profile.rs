//! Runs the queries of a breakdown on one report: bars by class, and what fills each GPU's time.

use super::decomposition::{self, Decomposition};
use crate::catalog::Catalog;
use crate::cli::opened::Opened;
use crate::cli::record::{Record, rows_of};
use crate::compile::{Invocation, Layout, Plan};
use crate::error::{Error, Result};
use crate::execute::Limits;
use crate::normalize::{Presence, Scope};
use std::collections::BTreeMap;

/// Class and name of the time in which no GPU worked, as in gputrc2graph.
pub(super) const NON_GPU: &str = "CPU(non-GPU)";

/// Options for the queries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    /// Only one bar, over all GPUs.
    pub(super) merge_devices: bool,
    /// Count CUDA graphs that were traced as a whole.
    pub(super) graphs: bool,
}

/// The answer of a report.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// The bar of all GPUs together, then one bar per GPU if there are several.
    pub(super) bars: Vec<Bar>,
    pub(super) devices: Vec<Device>,
    pub(super) span: Span,
}

/// Elapsed time split among operations.
#[derive(Debug, Clone)]
pub(super) struct Bar {
    /// The GPU; `None` for all GPUs together.
    pub(super) device: Option<i64>,
    /// The device number that the process sees.
    pub(super) ordinal: Option<i64>,
    /// By elapsed time, longest first.
    pub(super) rows: Vec<Row>,
}

/// The operations of one name.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) class: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) calls: i64,
    pub(super) total_ns: i64,
    pub(super) elapsed_ns: i64,
    pub(super) size_bytes: Option<i64>,
    pub(super) rule: String,
    pub(super) also: String,
}

/// A GPU, and what fills its time.
#[derive(Debug, Clone)]
pub(super) struct Device {
    pub(super) gpu_id: Option<i64>,
    /// The device number that the process sees.
    pub(super) ordinal: Option<i64>,
    pub(super) gpu_name: Option<String>,
    /// Largest first; never empty.
    pub(super) shares: Vec<Share>,
    pub(super) decomposition: Option<Decomposition>,
}

/// A class of kernels, kind of copy or idle time, and its share of a GPU's window.
#[derive(Debug, Clone)]
pub(super) struct Share {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) busy_ns: i64,
    pub(super) window_ns: i64,
    pub(super) size_bytes: Option<i64>,
    pub(super) rate: Option<f64>,
}

/// From the first to the last CUDA activity.
#[derive(Debug, Clone, Default)]
pub(super) struct Span {
    pub(super) span_ns: i64,
    pub(super) gpu_count: i64,
    pub(super) graph_count: i64,
}

/// The elapsed time of rows. The sum saturates, because the times of a broken report can overflow.
pub(super) fn sum<'r>(rows: impl IntoIterator<Item = &'r Row>) -> i64 {
    rows.into_iter().fold(0, |sum, row| sum.saturating_add(row.elapsed_ns))
}

impl Bar {
    /// The time in which at least one GPU of the bar worked.
    pub(super) fn busy_ns(&self) -> i64 {
        sum(&self.rows)
    }

    /// Elapsed time by class.
    pub(super) fn classes(&self) -> BTreeMap<&str, i64> {
        let mut classes = BTreeMap::<&str, i64>::new();
        for row in &self.rows {
            let sum = classes.entry(row.class.as_str()).or_default();
            *sum = sum.saturating_add(row.elapsed_ns);
        }
        classes
    }
}

impl Answer {
    /// Queries an open report.
    pub(super) fn ask(
        opened: &mut Opened,
        catalog: &Catalog,
        question: Question,
        limits: &Limits,
    ) -> Result<Self> {
        let plan = |name: &str, params: &[String]| {
            let invocation = Invocation::parse(name).with_params(params)?;
            Plan::new(catalog, &invocation, &Layout::Own)
        };
        let elapsed = |per_gpu: bool| {
            let params = [format!("per_gpu={per_gpu}"), format!("graphs={}", question.graphs)];
            plan("gpu_elapsed", &params)
        };
        let (merged, per_gpu) = (elapsed(false)?, elapsed(true)?);
        let (share, span) = (plan("gpu_share", &[])?, plan("gpu_span", &[])?);
        let time = decomposition::plan(catalog)?;
        let path = opened.report.path.clone();
        merged.check_presence(&Presence::new(&opened.schema, catalog), &path)?;

        let roots: Vec<&str> = [&merged, &share, &span, &time]
            .into_iter()
            .flat_map(|plan| plan.reads.iter().map(String::as_str))
            .collect();
        let session = opened.session(catalog, &Scope::default(), roots, limits)?;
        let ask = |plan: &Plan| rows_of(&session, plan, limits);

        let span = ask(&span)?.first().map(Span::of).unwrap_or_default();
        let mut bars = bars(&ask(&merged)?);
        if bars.is_empty() {
            return Err(no_operations(&path));
        }
        if span.gpu_count > 1 && !question.merge_devices {
            bars.extend(self::bars(&ask(&per_gpu)?));
        }
        let mut devices = devices(&ask(&share)?);
        for (gpu_id, parts) in decomposition::of(&ask(&time)?) {
            if let Some(device) = devices.iter_mut().find(|device| device.gpu_id == gpu_id) {
                device.decomposition = Some(parts);
            }
        }
        Ok(Self { bars, devices, span })
    }
}

fn no_operations(path: &std::path::Path) -> Error {
    Error::LacksData {
        query: "breakdown".to_owned(),
        needs: "GPU operations".to_owned(),
        report: path.to_owned(),
        detail: "  its tables of kernels, copies and fills are empty".to_owned(),
        help: "capture with `nsys profile --trace=cuda …` while the GPU works".to_owned(),
    }
}

impl Span {
    fn of(record: &Record) -> Self {
        let int = |column| record.int(column).unwrap_or_default();
        Self { span_ns: int("span_ns"), gpu_count: int("gpu_count"), graph_count: int("graph_count") }
    }
}

/// Groups rows into bars. The rows of one device are consecutive.
fn bars(records: &[Record]) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    for record in records {
        let device = record.int("gpu_id");
        if bars.last().is_none_or(|bar| bar.device != device) {
            bars.push(Bar { device, ordinal: record.int("device_id"), rows: Vec::new() });
        }
        let Some(bar) = bars.last_mut() else { continue };
        bar.rows.push(Row {
            class: record.text("class").unwrap_or_default(),
            kind: record.text("op_kind").unwrap_or_default(),
            name: record.text("op_name").unwrap_or_default(),
            calls: record.int("calls").unwrap_or_default(),
            total_ns: record.int("total_ns").unwrap_or_default(),
            elapsed_ns: record.int("elapsed_ns").unwrap_or_default(),
            size_bytes: record.int("size_bytes"),
            rule: record.text("class_rule").unwrap_or_default(),
            also: record.text("class_also").unwrap_or_default(),
        });
    }
    bars
}

fn devices(records: &[Record]) -> Vec<Device> {
    let mut devices: Vec<Device> = Vec::new();
    for record in records {
        let gpu_id = record.int("gpu_id");
        if devices.last().is_none_or(|device| device.gpu_id != gpu_id) {
            let gpu_name = record.text("gpu_name");
            let ordinal = record.int("device_id");
            devices.push(Device { gpu_id, ordinal, gpu_name, shares: Vec::new(), decomposition: None });
        }
        let Some(device) = devices.last_mut() else { continue };
        device.shares.push(Share {
            kind: record.text("share_kind").unwrap_or_default(),
            name: record.text("share_name").unwrap_or_default(),
            busy_ns: record.int("busy_ns").unwrap_or_default(),
            window_ns: record.int("window_ns").unwrap_or_default(),
            size_bytes: record.int("size_bytes"),
            rate: record.real("rate_bytes_per_s"),
        });
    }
    devices
}
