//! Writes stacks with their samples as a flame graph, or in the formats of flame graph viewers.

use crate::render::visible;
use inferno::flamegraph::{self, Options, TextTruncateDirection};
use nsq_value::error::{Error, Result};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// A file format for stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum FlameFormat {
    /// One line per stack: frames with `;` between them, a space, and the number of samples; of two
    /// reports, those of each.
    Folded,
    /// A flame graph that a browser draws, with search and zoom.
    Svg,
    /// A JSON file for speedscope.
    Speedscope,
}

impl FlameFormat {
    /// The format for a file extension.
    pub fn from_extension(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "folded" | "txt" => Self::Folded,
            "svg" => Self::Svg,
            "json" => Self::Speedscope,
            _ => return None,
        })
    }
}

/// What the number of a stack counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlameWeight {
    /// Samples of CPUs.
    CpuSamples,
    /// Nanoseconds of GPU work.
    GpuTime,
}

impl FlameWeight {
    fn title(self) -> &'static str {
        match self {
            Self::CpuSamples => "CPU samples",
            Self::GpuTime => "GPU time in ns",
        }
    }

    /// The word after a number.
    fn unit(self) -> &'static str {
        match self {
            Self::CpuSamples => "samples",
            Self::GpuTime => "ns",
        }
    }

    /// speedscope's word for it.
    fn speedscope_unit(self) -> &'static str {
        match self {
            Self::CpuSamples => "none",
            Self::GpuTime => "nanoseconds",
        }
    }
}

/// A stack and its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlameStack {
    /// Names of the functions, the outermost first.
    pub frames: Vec<String>,
    /// Number of samples, or nanoseconds.
    pub samples: i64,
    /// The same in the report to compare with; `None` without one.
    pub before: Option<i64>,
}

impl FlameStack {
    /// The line of a folded stack. A viewer splits lines at line breaks, and control characters could change
    /// a terminal.
    fn folded(&self, before: Option<i64>) -> String {
        let frames: Vec<String> = self.frames.iter().map(|frame| visible(frame)).collect();
        let before = before.map_or(String::new(), |before| format!(" {before}"));
        format!("{}{before} {}", frames.join(";"), self.samples)
    }
}

/// The stacks of two reports together, each with its samples in both, in the order of their frames.
pub fn compare_stacks(before: Vec<FlameStack>, after: Vec<FlameStack>) -> Vec<FlameStack> {
    let mut counts: BTreeMap<Vec<String>, [i64; 2]> = BTreeMap::new();
    for (place, stacks) in [before, after].into_iter().enumerate() {
        for stack in stacks {
            counts.entry(stack.frames).or_default()[place] += stack.samples;
        }
    }
    let stack = |(frames, [before, samples]): (_, [i64; 2])| FlameStack {
        frames,
        samples,
        before: Some(before),
    };
    counts.into_iter().map(stack).collect()
}

/// Writes the stacks. `title` is the name of the profile, where the format has one. speedscope shows no
/// comparison.
pub fn write_flame(
    out: &mut dyn Write,
    format: FlameFormat,
    title: &str,
    weight: FlameWeight,
    stacks: &[FlameStack],
) -> Result<()> {
    match format {
        FlameFormat::Folded => {
            stacks.iter().try_for_each(|stack| writeln!(out, "{}", stack.folded(stack.before)))
        }
        FlameFormat::Svg => svg(out, title, weight, stacks),
        FlameFormat::Speedscope => speedscope(out, title, weight, stacks),
    }
    .map_err(Error::Output)
}

fn svg(out: &mut dyn Write, title: &str, weight: FlameWeight, stacks: &[FlameStack]) -> io::Result<()> {
    let total: i64 = stacks.iter().map(|stack| stack.samples).sum();
    let before: Option<i64> = stacks.iter().map(|stack| stack.before).sum();
    // Captures differ in length, so shares are compared: both have the same total.
    let scaled = |count: i64| {
        (i128::from(count) * i128::from(total) / i128::from(before?.max(1))).try_into().ok()
    };
    let lines: Vec<String> =
        stacks.iter().map(|stack| stack.folded(stack.before.and_then(scaled))).collect();
    let mut options = Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(match before.filter(|_| !stacks.is_empty()) {
        None => format!("{}: {total}", weight.title()),
        Some(before) => format!(
            "Width: {} after ({total}). Red: a larger share than before ({before}), blue: a smaller one",
            weight.title()
        ),
    });
    options.count_name = weight.unit().to_owned();
    options.text_truncate_direction = TextTruncateDirection::Right;
    // The same report gives the same bytes, and a function the same colour in every graph.
    options.deterministic = true;
    options.hash = true;
    options.notes = format!("nsq {}", env!("CARGO_PKG_VERSION"));
    let lines = lines.iter().map(String::as_str);
    flamegraph::from_lines(&mut options, lines, out)
}

fn speedscope(
    out: &mut dyn Write,
    title: &str,
    weight: FlameWeight,
    stacks: &[FlameStack],
) -> io::Result<()> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut frames: Vec<Json> = Vec::new();
    let mut samples: Vec<Vec<usize>> = Vec::with_capacity(stacks.len());
    for stack in stacks {
        let places = stack.frames.iter().map(|name| {
            *places.entry(name).or_insert_with(|| {
                frames.push(json!({ "name": name }));
                frames.len() - 1
            })
        });
        samples.push(places.collect());
    }
    let weights: Vec<i64> = stacks.iter().map(|stack| stack.samples).collect();
    let document = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": format!("nsq {}", env!("CARGO_PKG_VERSION")),
        "name": title,
        "shared": { "frames": frames },
        "profiles": [{
            "type": "sampled",
            "name": title,
            "unit": weight.speedscope_unit(),
            "startValue": 0,
            "endValue": weights.iter().sum::<i64>(),
            "samples": samples,
            "weights": weights,
        }],
    });
    serde_json::to_writer(&mut *out, &document)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Vec<FlameStack> {
        let stack = |frames: &[&str], samples| FlameStack {
            frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
            samples,
            before: None,
        };
        vec![stack(&["main", "train", "load"], 2), stack(&["main", "a\nb"], 1)]
    }

    fn written(format: FlameFormat) -> String {
        let mut out = Vec::new();
        write_flame(&mut out, format, "report", FlameWeight::CpuSamples, &stacks()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_name_never_breaks_a_folded_line() {
        assert_eq!(written(FlameFormat::Folded), "main;train;load 2\nmain;a\\nb 1\n");
    }

    #[test]
    fn speedscope_lists_each_frame_once() {
        let document: Json = serde_json::from_str(&written(FlameFormat::Speedscope)).unwrap();
        let frames = document["shared"]["frames"].as_array().unwrap();
        assert_eq!(frames.len(), 4);
        let profile = &document["profiles"][0];
        assert_eq!(profile["samples"], json!([[0, 1, 2], [0, 3]]));
        assert_eq!((&profile["weights"], &profile["endValue"]), (&json!([2, 1]), &json!(3)));
    }

    #[test]
    fn the_graph_says_what_it_counts() {
        let drawn = |weight| {
            let mut out = Vec::new();
            write_flame(&mut out, FlameFormat::Svg, "report", weight, &stacks()).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(drawn(FlameWeight::CpuSamples).contains("CPU samples: 3"));
        assert!(drawn(FlameWeight::GpuTime).contains("GPU time in ns: 3"));
    }

    #[test]
    fn a_comparison_has_the_stacks_of_both() {
        let mut after = stacks();
        after[1].frames = vec!["main".to_owned(), "new".to_owned()];
        let both = compare_stacks(stacks(), after);
        let lines: Vec<String> = both.iter().map(|stack| stack.folded(stack.before)).collect();
        assert_eq!(lines, ["main;a\\nb 1 0", "main;new 0 1", "main;train;load 2 2"]);
        let mut out = Vec::new();
        write_flame(&mut out, FlameFormat::Svg, "a & <b>", FlameWeight::CpuSamples, &both).unwrap();
        let svg = String::from_utf8(out).unwrap();
        assert!(
            svg.contains("a &amp; &lt;b&gt;") && svg.contains("Red: a larger share than before (3)"),
            "{svg}"
        );
    }
}
