//! The text block of the original tool, line for line.

use crate::class_summary::{SeedBlock, SeedRow, SeedSummary};
use crate::render::visible;
use std::fmt::Write;

/// The tool whose labels the block has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Labels {
    /// Labels of GPU Performance Analyser, with short names of memory operations.
    Analyzer,
    /// Labels of kernel_stats.py, its predecessor, with full names of memory operations.
    KernelStats,
}

/// The blocks of several inputs, one after the other.
pub(super) fn print<'s>(
    blocks: impl Iterator<Item = (&'s str, &'s SeedSummary)>,
    labels: Labels,
) -> String {
    let mut text = String::new();
    for (place, (title, seed)) in blocks.enumerate() {
        if labels == Labels::KernelStats && place > 0 {
            text.push_str("\n\n");
        }
        // Writing to a String cannot fail.
        let _ = block(&mut text, title, seed, labels);
        if labels == Labels::Analyzer {
            text.push_str("\n\n");
        }
    }
    text
}

fn block(out: &mut String, title: &str, seed: &SeedSummary, labels: Labels) -> std::fmt::Result {
    if let Some(warning) = &seed.warning {
        writeln!(out, "[Warning]: {warning}")?;
    }
    writeln!(out, "===== {} =====", visible(title))?;
    sums(out, "Kernel", &seed.kernels.all)?;
    writeln!(out, "Kernel Statistic:")?;
    heading(out, &KERNEL_COLUMNS)?;
    for row in &seed.kernels.rows {
        writeln!(
            out,
            "{:<17}{:>15.2}{:>17}{:>16}{:>16.2}{:>17}{:>14}",
            visible(&row.class),
            row.iteration_ms,
            row.iteration_calls,
            percent(row.iteration_pct),
            row.total_ms,
            row.total_calls,
            percent(row.total_pct)
        )?;
    }
    writeln!(out)?;
    sums(out, "NCCL", &seed.nccl.all)?;
    writeln!(out, "NCCL Statistic:")?;
    operations(out, 17, &seed.nccl, |operation| operation)?;
    if let Some(memory) = &seed.memory {
        writeln!(out, "\nMem Ops Statistic:")?;
        operations(out, 23, memory, |operation| match labels {
            Labels::Analyzer => shortened(operation),
            Labels::KernelStats => operation,
        })?;
    }
    let Some(windows) = &seed.windows else { return Ok(()) };
    writeln!(out, "\nNVTX range count: {}", windows.count)?;
    writeln!(out, "NVTX average range time: {:.3} (ms)", windows.average_ms)?;
    writeln!(out, "NVTX total range time: {:.3} (ms)", windows.total_ms)?;
    let Some(estimate) = windows.estimate else { return Ok(()) };
    let total = match labels {
        Labels::Analyzer => "total time",
        Labels::KernelStats => "time",
    };
    let rest = "Estimated non-hidden NCCL, mem ops and bubble";
    writeln!(out, "\n{rest} time per range: {:.3} (ms)", estimate.range_ms)?;
    writeln!(out, "{rest} time per range: {} (%)", percent(estimate.range_pct))?;
    writeln!(out, "{rest} {total}: {:.3} (ms)", estimate.total_ms)?;
    writeln!(out, "{rest} {total}: {} (%)", percent(estimate.total_pct))
}

fn sums(out: &mut String, what: &str, all: &SeedRow) -> std::fmt::Result {
    writeln!(out, "{what} time per iteration: {:.3} (ms)", all.iteration_ms)?;
    writeln!(out, "{what} instances per iteration: {}", all.iteration_calls)?;
    writeln!(out, "{what} total time: {:.3} (ms)", all.total_ms)?;
    writeln!(out, "{what} total instances: {}", all.total_calls)
}

/// The columns of the kernel table and their widths.
const KERNEL_COLUMNS: [(&str, usize); 7] = [
    ("Class", 17),
    ("TimePerIter(ms)", 17),
    ("InstancePerIter", 17),
    ("TimePerIter(%)", 17),
    ("TotalTime(ms)", 17),
    ("TotalInstance", 15),
    ("TotalTime(%)", 15),
];
/// The columns of the other tables, after the first.
const OPERATION_COLUMNS: [(&str, usize); 4] =
    [("TimePerIter(ms)", 17), ("InstancePerIter", 17), ("TotalTime(ms)", 17), ("TotalInstance", 15)];

fn heading(out: &mut String, columns: &[(&str, usize)]) -> std::fmt::Result {
    for (column, width) in columns {
        write!(out, "{column:<width$}")?;
    }
    writeln!(out)
}

fn operations(
    out: &mut String,
    first: usize,
    block: &SeedBlock,
    name: impl Fn(&str) -> &str,
) -> std::fmt::Result {
    heading(out, &[&[("Class", first)], &OPERATION_COLUMNS[..]].concat())?;
    for row in &block.rows {
        writeln!(
            out,
            "{:<first$}{:>15.2}{:>17}{:>15.2}{:>17}",
            visible(name(&row.class)),
            row.iteration_ms,
            row.iteration_calls,
            row.total_ms,
            row.total_calls
        )?;
    }
    Ok(())
}

/// Two decimals; `nan` if the whole is 0.
fn percent(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { "nan".to_owned() }
}

/// The short name that GPU Performance Analyser gives a memory operation.
fn shortened(operation: &str) -> &str {
    match operation {
        "[CUDA memcpy Device-to-Device]" => "[CUDA memcpy D2D]",
        "[CUDA memcpy Device-to-Host]" => "[CUDA memcpy D2H]",
        "[CUDA memcpy Host-to-Device]" => "[CUDA memcpy H2D]",
        "[CUDA memcpy Host-to-Host]" => "[CUDA memcpy H2H]",
        other => other,
    }
}
