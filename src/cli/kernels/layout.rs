//! Lays out columns, numbers and names like profiler.py.

use crate::render::visible;
use std::path::Path;

/// Width of the horizontal rules of a table.
pub(super) const TABLE: usize = 200;

/// Microseconds to two decimals.
pub(super) fn micros(ns: f64) -> String {
    format!("{:.2}", ns / 1e3)
}

/// A horizontal rule.
pub(super) fn rule(mark: char, width: usize) -> String {
    let mut line: String = std::iter::repeat_n(mark, width).collect();
    line.push('\n');
    line
}

/// A line of cells padded to their columns. A cell wider than its column is followed by one space.
pub(super) fn row(cells: &[(&str, usize)]) -> String {
    let mut line = String::new();
    for (text, width) in cells {
        line.push_str(text);
        let pad = width.saturating_sub(text.chars().count()).max(1);
        line.extend(std::iter::repeat_n(' ', pad));
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

/// A kernel's name in at most 48 characters, cut like in profiler.py.
pub(super) fn short_name(name: &str) -> String {
    const WIDTH: usize = 48;
    let name = visible(name);
    if name.chars().count() <= WIDTH {
        return name;
    }
    name.chars().take(WIDTH - 2).chain("..".chars()).collect()
}

/// Separates the two kernels of a pair.
pub(super) const ARROW: &str = " → ";

/// A pair of kernels in at most 80 characters. Both names keep their beginning and end.
pub(super) fn short_pair(before: &str, after: &str) -> String {
    const WIDTH: usize = 80;
    let (before, after) = (visible(before), visible(after));
    let (left, right) = (before.chars().count(), after.chars().count());
    let room = WIDTH - ARROW.chars().count();
    // A short name leaves its room to the other one.
    let (for_left, for_right) = match (left, right) {
        (left, right) if left + right <= room => (left, right),
        (left, right) if left <= room / 2 => (left, (room - left).min(right)),
        (_, right) if right <= room / 2 => (room - right, right),
        _ => (room / 2, room - room / 2),
    };
    format!("{}{ARROW}{}", without_middle(&before, for_left), without_middle(&after, for_right))
}

/// Cuts the middle out of a text, so that it has at most `width` characters.
fn without_middle(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(3);
    let (head, tail) = (kept - kept / 2, kept / 2);
    text.chars().take(head).chain("...".chars()).chain(text.chars().skip(count - tail)).collect()
}

/// The line that reports a written file.
pub(super) fn wrote(path: &Path, len: usize) -> String {
    format!("\nwrote {} ({len} bytes)\n", visible(&path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_start_like_in_profiler_py() {
        let header = row(&[("Rank", 8), ("Kernel Name", 50), ("Count", 10)]);
        assert_eq!(header.find("Kernel"), Some(8));
        assert_eq!(header.find("Count"), Some(58));
        assert_eq!(row(&[("a→b", 2), ("c", 3)]), "a→b c\n");
    }

    #[test]
    fn names_are_cut_like_in_profiler_py() {
        assert_eq!(
            short_name("kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100Flash"),
            "kernel_cutlass_kernel_flash_attncuteflash_fwd_.."
        );
        let whole = "x".repeat(48);
        assert_eq!(short_name(&whole), whole);
        assert_eq!(short_name("\u{1b}[1m"), "\\u{1b}[1m");
    }

    #[test]
    fn a_pair_keeps_both_ends_of_its_names() {
        assert_eq!(short_pair("a", "b"), "a → b");
        for (left, right) in [(77, 1), (1, 77), (40, 37), (38, 39), (500, 2), (2, 500), (500, 500)] {
            let before = format!("<{}>", "x".repeat(left - 1));
            let after = format!("({})", "y".repeat(right));
            let pair = short_pair(&before, &after);
            assert!(pair.chars().count() <= 80, "{pair}");
            assert!(pair.starts_with('<') && pair.contains("> → (") && pair.ends_with(')'), "{pair}");
        }
        let long = short_pair(&"a".repeat(90), &"b".repeat(90));
        assert_eq!(
            long,
            format!("{0}...{1} → {2}...{2}", "a".repeat(18), "a".repeat(17), "b".repeat(18))
        );
    }
}
