//! The kernels as text, for the console and for the file.

use super::Args;
use super::answer::Answer;
use super::layout::{TABLE, micros, row, rule, short_name};
use crate::render::visible;

/// The text for the console: the first kernels as a table.
pub(super) fn console(args: &Args, answer: &Answer) -> String {
    let launches = answer.kernels.iter().fold(0i64, |sum, kernel| sum.saturating_add(kernel.calls));
    let label = args.sort.label();
    let mut text = "=== GPU KERNEL ANALYSIS ===\n\n".to_owned();
    if let Some(step) = args.pstep {
        text.push_str(&format!("Only what ProfilerStep#{step} launched\n"));
    }
    text.push_str(&format!("Total unique kernel types found: {}\n", answer.kernels.len()));
    text.push_str(&format!("Total kernel launches: {launches}\n"));
    text.push_str(&format!("Results sorted by: {label}\n\n"));
    text.push_str(&format!("TOP {} GPU KERNELS BY {}:\n", args.top, label.to_uppercase()));
    text.push_str(&rule('=', TABLE));
    text.push_str(&line([
        "Rank",
        "Kernel Name",
        "Count",
        "Avg Duration (μs)",
        "Total Duration (μs)",
        "Std Dev (μs)",
        "% Launches",
        "% Kernel Time",
    ]));
    text.push_str(&rule('-', TABLE));
    for (index, kernel) in answer.kernels.iter().take(args.top).enumerate() {
        text.push_str(&line([
            &(index + 1).to_string(),
            &short_name(&kernel.simple_name),
            &kernel.calls.to_string(),
            &micros(kernel.mean_ns),
            &micros(kernel.total_ns as f64),
            &micros(kernel.stddev_ns),
            &format!("{:.1}", kernel.calls_pct),
            &format!("{:.1}", kernel.time_pct),
        ]));
        if args.verbose {
            let more = match kernel.name_count {
                ..=1 => String::new(),
                count => format!(" (one of {count} full names)"),
            };
            text.push_str(&format!("        {}{more}\n", visible(&kernel.full_name)));
        }
    }
    text
}

fn line(cells: [&str; 8]) -> String {
    const WIDTHS: [usize; 8] = [8, 50, 10, 20, 22, 18, 14, 0];
    let cells: Vec<(&str, usize)> = cells.into_iter().zip(WIDTHS).collect();
    row(&cells)
}

/// The text of the file: all kernels, each with one of its full names.
pub(super) fn file(args: &Args, answer: &Answer) -> String {
    let mut text = "DETAILED GPU KERNEL ANALYSIS\n".to_owned();
    text.push_str(&rule('=', 50));
    if let Some(step) = args.pstep {
        text.push_str(&format!("Only what ProfilerStep#{step} launched\n"));
    }
    text.push_str(&format!("Results sorted by: {}\n", args.sort.label()));
    text.push_str(&rule('=', 50));
    text.push('\n');
    for (index, kernel) in answer.kernels.iter().enumerate() {
        let total = micros(kernel.total_ns as f64);
        text.push_str(&format!("Rank {}: {}\n", index + 1, visible(&kernel.simple_name)));
        text.push_str(&format!(
            "  Count: {} ({:.1}% of total launches)\n",
            kernel.calls, kernel.calls_pct
        ));
        text.push_str(&format!(
            "  Total Duration: {total} μs ({:.1}% of total duration)\n",
            kernel.time_pct
        ));
        text.push_str(&format!("  Average Duration: {} μs\n", micros(kernel.mean_ns)));
        text.push_str(&format!("  Standard Deviation: {} μs\n", micros(kernel.stddev_ns)));
        text.push_str(&format!("  Full Names: {}\n", kernel.name_count));
        text.push_str(&format!("  Example Full Name: {}\n", visible(&kernel.full_name)));
        text.push_str(&rule('-', 50));
    }
    text
}
