//! The gaps as text, for the console and for the file.

use super::Args;
use super::answer::{Gaps, Stream};
use super::histogram;
use super::layout::{ARROW, TABLE, micros, row, rule, short_pair};
use crate::render::visible;
use std::collections::{BTreeMap, BTreeSet};

/// The text for the console: totals, streams, histogram and the first pairs.
pub(super) fn console(args: &Args, gaps: &Gaps) -> String {
    let mut text = "\n=== GPU IDLE TIME GAP ANALYSIS ===\n\n".to_owned();
    text.push_str(&totals(gaps));
    text.push_str(&streams(gaps));
    if gaps.histogram.is_empty() {
        return text;
    }
    text.push_str("\nGAP DURATION HISTOGRAM:\n");
    text.push_str(&histogram::bars(&gaps.histogram, args.hist_scale));
    text.push_str(&histogram::facts(&gaps.histogram));
    let label = args.gap_sort.label().to_uppercase();
    text.push_str(&format!("\nTOP {} KERNEL PAIRS BY {label}:\n", args.gap_top));
    text.push_str(&rule('=', TABLE));
    text.push_str(&line([
        "Rank",
        "Kernel Transition",
        "Count",
        "Avg Gap (μs)",
        "Max Gap (μs)",
        "Min Gap (μs)",
        "Std Dev (μs)",
        "Total Gap (μs)",
        "GPU Idle (μs)",
    ]));
    text.push_str(&rule('-', TABLE));
    for (index, pair) in gaps.pairs.iter().take(args.gap_top).enumerate() {
        let short = short_pair(&pair.before, &pair.after);
        text.push_str(&line([
            &(index + 1).to_string(),
            &short,
            &pair.count.to_string(),
            &micros(pair.mean_ns),
            &micros(pair.max_ns as f64),
            &micros(pair.min_ns as f64),
            &micros(pair.stddev_ns),
            &micros(pair.total_ns as f64),
            &micros(pair.idle_ns as f64),
        ]));
        let whole = format!("{}{ARROW}{}", visible(&pair.before), visible(&pair.after));
        if args.verbose && whole != short {
            text.push_str(&format!("        {whole}\n"));
        }
    }
    text
}

fn line(cells: [&str; 9]) -> String {
    const WIDTHS: [usize; 9] = [8, 82, 10, 16, 16, 16, 16, 18, 0];
    let cells: Vec<(&str, usize)> = cells.into_iter().zip(WIDTHS).collect();
    row(&cells)
}

/// The text of the file: all pairs, with full names.
pub(super) fn file(args: &Args, gaps: &Gaps) -> String {
    let mut text = "DETAILED GPU GAP ANALYSIS\n".to_owned();
    text.push_str(&rule('=', 50));
    text.push('\n');
    text.push_str(&totals(gaps));
    text.push('\n');
    text.push_str(&streams(gaps));
    if gaps.file_histogram.is_empty() {
        return text;
    }
    text.push_str("\nGap Duration Histogram:\n");
    text.push_str(&rule('-', 30));
    text.push_str(&histogram::lines(&gaps.file_histogram, args.hist_scale));
    text.push_str(&histogram::facts(&gaps.file_histogram));
    text.push_str(&format!("\nKernel Pairs Ranked by {}:\n", args.gap_sort.label()));
    text.push_str(&rule('-', 50));
    for (index, pair) in gaps.pairs.iter().enumerate() {
        let (before, after) = (visible(&pair.before), visible(&pair.after));
        text.push_str(&format!("Rank {}: {before}{ARROW}{after}\n", index + 1));
        text.push_str(&format!("  Count: {}\n", pair.count));
        for (what, ns) in [
            ("Average Gap", pair.mean_ns),
            ("Max Gap", pair.max_ns as f64),
            ("Min Gap", pair.min_ns as f64),
            ("Std Dev", pair.stddev_ns),
            ("Total Gap Time", pair.total_ns as f64),
            ("GPU Idle Meanwhile", pair.idle_ns as f64),
        ] {
            text.push_str(&format!("  {what}: {} μs\n", micros(ns)));
        }
        text.push_str(&rule('-', 30));
    }
    text
}

/// The gaps of all streams added up, and the idle time of each GPU.
fn totals(gaps: &Gaps) -> String {
    let sum = |of: fn(&Stream) -> i64| gaps.streams.iter().map(of).fold(0i64, i64::saturating_add);
    let (count, gap_ns) = (sum(|stream| stream.gap_count), sum(|stream| stream.gap_ns));
    let mean = if count > 0 { gap_ns as f64 / count as f64 } else { 0.0 };
    let mut text = format!("Total gaps found: {count}\n");
    text.push_str(&format!("Total gap time, streams added up: {} μs\n", micros(gap_ns as f64)));
    text.push_str(&format!("Average gap duration: {} μs\n", micros(mean)));
    let gpus: BTreeMap<Option<i64>, &Stream> =
        gaps.streams.iter().map(|stream| (stream.gpu_id, stream)).collect();
    for (gpu, stream) in gpus {
        let name = match (gpu, stream.device_id) {
            (Some(gpu), Some(device)) if gpu != device => format!("GPU {gpu} (device {device})"),
            (Some(gpu), _) => format!("GPU {gpu}"),
            (None, _) => "GPU".to_owned(),
        };
        let [idle, quiet, window] = [stream.gpu_idle_ns, stream.gpu_no_kernel_ns, stream.gpu_window_ns]
            .map(|ns| micros(ns as f64));
        let share = match stream.gpu_window_ns {
            0 => 0.0,
            window => 100.0 * stream.gpu_idle_ns as f64 / window as f64,
        };
        text.push_str(&format!(
            "{name} idle time, all streams together: {idle} μs of {window} μs ({share:.1}%); without a kernel: {quiet} μs\n"
        ));
    }
    text
}

fn streams(gaps: &Gaps) -> String {
    let mut text = format!("Active streams: {}\n", gaps.streams.len());
    let labels = StreamLabels::of(&gaps.streams);
    for stream in &gaps.streams {
        text.push_str(&format!(
            "  {}: {} gaps, {} μs gap time, {} μs of it with an idle GPU\n",
            labels.label(stream),
            stream.gap_count,
            micros(stream.gap_ns as f64),
            micros(stream.gap_idle_ns as f64)
        ));
    }
    text
}

/// The parts of a stream's label that differ between streams.
struct StreamLabels {
    process: bool,
    device: bool,
    context: bool,
}

impl StreamLabels {
    fn of(streams: &[Stream]) -> Self {
        let several = |of: fn(&Stream) -> Option<i64>| {
            streams.iter().map(of).collect::<BTreeSet<Option<i64>>>().len() > 1
        };
        let place = |stream: &Stream| (stream.pid, stream.device_id, stream.stream_id);
        let places: BTreeSet<_> = streams.iter().map(place).collect();
        // Show process and device together: a device alone does not tell which process a stream belongs to.
        let are_several = several(|stream| stream.pid) || several(|stream| stream.device_id);
        Self { process: are_several, device: are_several, context: places.len() < streams.len() }
    }

    fn label(&self, stream: &Stream) -> String {
        let number = |id: Option<i64>| id.map_or_else(|| "unknown".to_owned(), |id| id.to_string());
        let mut parts = Vec::new();
        if self.process {
            parts.push(format!("process {}", number(stream.pid)));
        }
        if self.device {
            parts.push(format!("device {}", number(stream.device_id)));
        }
        if self.context {
            parts.push(format!("context {}", number(stream.context_id)));
        }
        parts.push(format!("stream {}", number(stream.stream_id)));
        let label = parts.join(", ");
        label[..1].to_uppercase() + &label[1..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(pid: i64, device: i64, context: i64, stream: i64) -> Stream {
        Stream {
            pid: Some(pid),
            device_id: Some(device),
            context_id: Some(context),
            stream_id: Some(stream),
            ..Stream::default()
        }
    }

    #[test]
    fn labels_show_only_what_differs() {
        let label = |streams: &[Stream]| StreamLabels::of(streams).label(&streams[0]);
        assert_eq!(label(&[stream(1, 0, 1, 7), stream(1, 0, 1, 8)]), "Stream 7");
        assert_eq!(label(&[stream(1, 0, 1, 7), stream(1, 1, 2, 7)]), "Process 1, device 0, stream 7");
        assert_eq!(label(&[stream(1, 0, 1, 7), stream(2, 0, 1, 7)]), "Process 1, device 0, stream 7");
        assert_eq!(label(&[stream(1, 0, 1, 7), stream(1, 0, 2, 7)]), "Context 1, stream 7");
    }
}
