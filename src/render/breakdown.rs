//! The breakdown of elapsed time as a self-contained HTML page: bars, their table, and kernels by class.
//!
//! Bar widths and figures come from the same integers, which are rounded only here.

use super::visible;
use crate::error::{Error, Result};
use crate::table::{Column, Type, Unit, Value, humanize};
use minijinja::{AutoEscape, Environment, Value as Cell, context};
use std::io;

const TEMPLATE: &str = include_str!("breakdown.html.jinja");
/// Number of colours, which colour-blind readers can distinguish. Further classes reuse them with a
/// pattern.
const COLOURS: usize = 7;
const PATTERNS: usize = 3;
/// Longest kernel name on the page, in characters.
const NAME_CHARS: usize = 150;

/// The content of the page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Heading.
    pub title: String,
    /// Version of nsq.
    pub version: String,
    /// Classes in the order of their colours. The last one is the time without GPU work.
    pub classes: Vec<String>,
    /// Elapsed times, divided by class.
    pub bars: Vec<Bar>,
    /// The reports, in order.
    pub profiles: Vec<Profile>,
}

/// An elapsed time that the classes add up to.
#[derive(Debug, Clone, Default)]
pub struct Bar {
    /// Name, as in result.csv.
    pub label: String,
    /// A short description; can be empty.
    pub about: String,
    /// The GPU, if the bar is a part of the preceding one; else empty.
    pub device: String,
    /// Nanoseconds of each class, in order; `None` if the bar lacks the class.
    pub parts: Vec<Option<i64>>,
}

/// A report.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// Name, the same as of its bars.
    pub label: String,
    /// Pairs of a label and its value.
    pub facts: Vec<(String, String)>,
    /// Notes that a reader must see first.
    pub notes: Vec<String>,
    /// Its GPUs.
    pub devices: Vec<Device>,
    /// Column names for `Kernel::elapsed_ns`, one per bar.
    pub columns: Vec<String>,
    /// Its classes with their operations.
    pub classes: Vec<Class>,
}

/// A GPU.
#[derive(Debug, Clone, Default)]
pub struct Device {
    /// Name.
    pub title: String,
    /// What takes most of its time.
    pub limit: String,
    /// Names and nanoseconds of the parts that add up to its window; can be empty.
    pub parts: Vec<(String, i64)>,
}

/// A class of operations of one report.
#[derive(Debug, Clone, Default)]
pub struct Class {
    /// Index in [`Page::classes`].
    pub index: usize,
    /// Nanoseconds of the class.
    pub elapsed_ns: i64,
    /// Nanoseconds of all classes.
    pub busy_ns: i64,
    /// Number of names in the class.
    pub names: usize,
    /// The longest operations, by the rule that assigned them.
    pub rules: Vec<Rule>,
    /// Number of names that are not listed.
    pub left_out: usize,
    /// Nanoseconds of the names that are not listed.
    pub left_out_ns: i64,
}

/// Operations that one rule assigned to a class.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// The rule; empty if no rule matched.
    pub rule: String,
    /// The operations.
    pub kernels: Vec<Kernel>,
}

/// Operations with one name.
#[derive(Debug, Clone, Default)]
pub struct Kernel {
    /// Full name.
    pub name: String,
    /// Number of executions.
    pub calls: i64,
    /// Elapsed nanoseconds in each bar of the report; `None` if it did not run.
    pub elapsed_ns: Vec<Option<i64>>,
    /// Sum of durations, in nanoseconds.
    pub total_ns: i64,
    /// Classes of later rules that also match.
    pub also: String,
}

impl Page {
    /// Renders the page as HTML.
    pub fn render(&self) -> Result<Vec<u8>> {
        let failed = |e: minijinja::Error| Error::Output(io::Error::other(e));
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_template("breakdown", TEMPLATE).map_err(failed)?;
        let template = environment.get_template("breakdown").map_err(failed)?;
        let page = template.render(self.context()).map_err(failed)?;
        Ok(page.into_bytes())
    }

    fn context(&self) -> Cell {
        let rest = self.classes.len().saturating_sub(1);
        let longest = self.bars.iter().map(Bar::total_ns).max().unwrap_or_default();
        let bars: Vec<Cell> = self.bars.iter().map(|bar| self.bar(bar, longest, rest)).collect();
        let legend: Vec<Cell> = (0..self.classes.len())
            .map(|index| context! { name => shown(&self.classes[index]), colour => self.colour(index) })
            .collect();
        let rows: Vec<Cell> = (0..self.classes.len()).map(|index| self.table_row(index, rest)).collect();
        let totals: Vec<String> = self.bars.iter().map(|bar| seconds(bar.total_ns())).collect();
        let profiles: Vec<Cell> = self.profiles.iter().map(|profile| self.profile(profile)).collect();
        context! {
            title => visible(&self.title),
            title_pieces => pieces(&self.title),
            version => visible(&self.version),
            bars, legend, rows, totals, profiles,
            ticks => ticks(longest),
            shares => self.bars.len() <= MAX_SHARE_COLUMNS,
        }
    }

    /// A bar with its segments, once as parts of the elapsed time and once as parts of the GPU time.
    fn bar(&self, bar: &Bar, longest: i64, rest: usize) -> Cell {
        let (total, busy) = (bar.total_ns(), bar.busy_ns(rest));
        let segments = |of: i64, of_gpu: bool| -> Vec<Cell> {
            (0..if of_gpu { rest } else { rest + 1 })
                .filter_map(|index| {
                    let ns = bar.parts.get(index).copied().flatten().filter(|ns| *ns > 0)?;
                    let name = shown(&self.classes[index]);
                    let share = if index == rest {
                        format!("{} of elapsed", percent(ns, total))
                    } else {
                        format!("{} of GPU time, {} of elapsed", percent(ns, busy), percent(ns, total))
                    };
                    Some(context! {
                        colour => self.colour(index),
                        width => width(ns, of),
                        apart => ns > of / 200,
                        tip => format!("{name}: {} ({share})", time(ns)),
                        name => name,
                        figure => if of_gpu { percent(ns, busy) } else { time(ns) },
                    })
                })
                .collect()
        };
        context! {
            label => visible(&bar.label),
            pieces => pieces(&bar.label),
            about => visible(&bar.about),
            device => visible(&bar.device),
            total => time(total),
            busy => time(busy),
            share => percent(busy, total),
            whole => segments(longest, false),
            gpu => segments(busy, true),
        }
    }

    fn table_row(&self, index: usize, rest: usize) -> Cell {
        let cells: Vec<Cell> = self
            .bars
            .iter()
            .map(|bar| {
                let ns = bar.parts.get(index).copied().flatten();
                context! {
                    seconds => ns.map(seconds),
                    share => ns.map(|ns| bare_percent(ns, bar.total_ns())),
                }
            })
            .collect();
        context! {
            name => shown(&self.classes[index]),
            colour => self.colour(index),
            quiet => index == rest,
            cells,
        }
    }

    fn profile(&self, profile: &Profile) -> Cell {
        let facts: Vec<(String, String)> =
            profile.facts.iter().map(|(key, value)| (visible(key), visible(value))).collect();
        let devices: Vec<Cell> = profile.devices.iter().map(device).collect();
        let classes: Vec<Cell> = profile.classes.iter().map(|class| self.class(class)).collect();
        context! {
            label => visible(&profile.label),
            notes => profile.notes.iter().map(|note| visible(note)).collect::<Vec<_>>(),
            columns => profile.columns.iter().map(|name| visible(name)).collect::<Vec<_>>(),
            facts, devices, classes,
        }
    }

    fn class(&self, class: &Class) -> Cell {
        let rules: Vec<Cell> = class
            .rules
            .iter()
            .map(|rule| {
                let kernels: Vec<Cell> = rule
                    .kernels
                    .iter()
                    .map(|kernel| {
                        let first = kernel.elapsed_ns.first().copied().flatten().unwrap_or_default();
                        context! {
                            name => name(&kernel.name),
                            calls => kernel.calls,
                            elapsed => kernel.elapsed_ns.iter().map(|ns| ns.map(seconds)).collect::<Vec<_>>(),
                            share => bare_percent(first, class.busy_ns),
                            total => seconds(kernel.total_ns),
                            also => visible(&kernel.also),
                        }
                    })
                    .collect();
                context! { rule => visible(&rule.rule), kernels }
            })
            .collect();
        context! {
            name => shown(&self.classes[class.index]),
            colour => self.colour(class.index),
            time => time(class.elapsed_ns),
            share => percent(class.elapsed_ns, class.busy_ns),
            names => class.names,
            left_out => class.left_out,
            left_out_time => time(class.left_out_ns),
            rules,
        }
    }

    /// The CSS classes of a kernel class: a colour, and a pattern if colours repeat.
    fn colour(&self, index: usize) -> String {
        if index + 1 == self.classes.len() {
            return "rest".to_owned();
        }
        match (index / COLOURS, index % COLOURS) {
            (0, colour) => format!("c{colour}"),
            (pattern, colour) if pattern < PATTERNS => format!("c{colour} p{pattern}"),
            _ => "many".to_owned(),
        }
    }
}

/// Most bars for which the table shows a column of shares per bar.
const MAX_SHARE_COLUMNS: usize = 3;

impl Bar {
    fn total_ns(&self) -> i64 {
        sum(self.parts.iter().flatten())
    }

    fn busy_ns(&self, rest: usize) -> i64 {
        sum(self.parts.iter().take(rest).flatten())
    }
}

/// Adds times. The times of a report are untrusted, so the sum saturates.
fn sum<'t>(times: impl Iterator<Item = &'t i64>) -> i64 {
    times.fold(0, |sum, ns| sum.saturating_add(*ns))
}

/// A GPU with the parts of its window.
fn device(device: &Device) -> Cell {
    const COLOUR: [&str; 4] = ["c2", "c5", "c1", "rest"];
    let window = sum(device.parts.iter().map(|(_, ns)| ns));
    let parts: Vec<Cell> = device
        .parts
        .iter()
        .enumerate()
        .map(|(index, (word, ns))| {
            context! {
                colour => COLOUR.get(index).copied().unwrap_or("many"),
                width => width(*ns, window),
                apart => *ns > window / 200,
                name => word,
                figure => percent(*ns, window),
                tip => format!("{word}: {} ({})", time(*ns), percent(*ns, window)),
            }
        })
        .collect();
    context! {
        title => visible(&device.title),
        limit => visible(&device.limit),
        window => time(window),
        parts,
    }
}

/// Splits a text where a line may break.
fn pieces(text: &str) -> Vec<String> {
    visible(text).split_inclusive(['_', '.', ':', '/']).map(str::to_owned).collect()
}

/// The display name of a class.
fn shown(class: &str) -> String {
    if class.is_empty() { "(no class)".to_owned() } else { visible(class) }
}

/// Shortens a long name in the middle, since both ends distinguish kernels.
fn name(full: &str) -> String {
    if full.is_empty() {
        return "(no name)".to_owned();
    }
    let shown = visible(full);
    let count = shown.chars().count();
    if count <= NAME_CHARS {
        return shown;
    }
    let tail = NAME_CHARS / 3;
    let head: String = shown.chars().take(NAME_CHARS - tail - 1).collect();
    let tail: String = shown.chars().skip(count - tail).collect();
    format!("{head}…{tail}")
}

/// Seconds with six decimals, which a spreadsheet reads as a number.
fn seconds(ns: i64) -> String {
    let us = ns / 1000 + i64::from(ns % 1000 >= 500);
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// Formats a time for people.
pub fn time(ns: i64) -> String {
    let column = Column { kind: Type::Duration, unit: Some(Unit::Ns), ..Column::untyped("") };
    humanize(&Value::Int(ns), &column)
}

/// Formats a percentage for people. A small part is not shown as 0, and not nearly all as 100.
pub fn percent(part: i64, whole: i64) -> String {
    if whole <= 0 {
        return "0 %".to_owned();
    }
    let share = 100.0 * part as f64 / whole as f64;
    if part > 0 && share < 0.05 {
        "< 0.1 %".to_owned()
    } else if part < whole && share >= 99.95 {
        "> 99.9 %".to_owned()
    } else {
        format!("{share:.1} %")
    }
}

/// Formats a percentage without the sign.
fn bare_percent(part: i64, whole: i64) -> String {
    format!("{:.2}", 100.0 * part as f64 / (whole as f64).max(1.0))
}

/// The width of a part, in percent of the whole.
fn width(part: i64, whole: i64) -> String {
    let share = 100.0 * part as f64 / (whole as f64).max(1.0);
    let text = format!("{share:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Round times along the longest bar, with their positions.
fn ticks(longest: i64) -> Vec<Cell> {
    let mut step = 1i64;
    // Of the steps 1, 2, 5, 10, …, take the first that gives at most five ticks after 0.
    for factor in [2, 5, 10].iter().cycle() {
        if longest / step <= 5 {
            break;
        }
        let decade = 10i64.pow(step.ilog10());
        let Some(next) = decade.checked_mul(*factor) else { break };
        step = next;
    }
    (0..=longest / step)
        .map(|n| context! { at => width(n * step, longest), text => tick(n * step) })
        .collect()
}

/// Formats a round time without trailing zeros.
fn tick(ns: i64) -> String {
    let text = time(ns);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ if ns == 0 => "0".to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(class: &str, kernel: &str) -> String {
        let page = Page {
            title: class.to_owned(),
            classes: vec![class.to_owned(), "CPU(non-GPU)".to_owned()],
            bars: vec![Bar {
                label: kernel.to_owned(),
                parts: vec![Some(250_000_000), Some(750_000_000)],
                ..Bar::default()
            }],
            profiles: vec![Profile {
                classes: vec![Class {
                    names: 1,
                    elapsed_ns: 250_000_000,
                    busy_ns: 250_000_000,
                    rules: vec![Rule {
                        rule: class.to_owned(),
                        kernels: vec![Kernel { name: kernel.to_owned(), ..Kernel::default() }],
                    }],
                    ..Class::default()
                }],
                ..Profile::default()
            }],
            ..Page::default()
        };
        String::from_utf8(page.render().unwrap()).unwrap()
    }

    #[test]
    fn bar_widths_match_the_table() {
        let page = page("gemm", "k");
        assert!(page.contains("width:25%") && page.contains("width:75%"), "{page}");
        assert!(page.contains("<td class=\"n\">0.250000</td>"), "{page}");
        assert!(page.contains("<td class=\"n\">1.000000</td>"), "{page}");
    }

    #[test]
    fn hostile_names_are_harmless() {
        let evil = "</script><script>alert(1)</script>\"'><img src=x onerror=a>\u{1b}[31m\u{202e}";
        let page = page(evil, evil);
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
        assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    }

    #[test]
    fn long_names_keep_both_ends() {
        let long = format!("{}middle{}", "a".repeat(400), "z".repeat(400));
        let short = name(&long);
        assert_eq!(short.chars().count(), NAME_CHARS);
        assert!(short.starts_with('a') && short.ends_with('z') && short.contains('…'));
        assert_eq!(name("größe<T>"), "größe<T>");
    }

    #[test]
    fn ticks_are_round_and_few() {
        for (longest, wanted) in [
            (20_000_000_000, vec!["0", "5 s", "10 s", "15 s", "20 s"]),
            (969_447_605, vec!["0", "200 ms", "400 ms", "600 ms", "800 ms"]),
            (7, vec!["0", "2 ns", "4 ns", "6 ns"]),
            (0, vec!["0"]),
        ] {
            let texts: Vec<String> =
                ticks(longest).iter().map(|tick| tick.get_attr("text").unwrap().to_string()).collect();
            assert_eq!(texts, wanted, "{longest}");
        }
    }
}
