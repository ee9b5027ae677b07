//! Writes stacks with their samples in the formats of flame graph viewers.

use crate::error::{Error, Result};
use crate::render::visible;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// A file format for stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum FlameFormat {
    /// One line per stack: frames with `;` between them, a space, and the number of samples.
    Folded,
    /// A JSON file for speedscope.
    Speedscope,
}

impl FlameFormat {
    /// The format for a file extension.
    pub fn from_extension(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "folded" | "txt" => Self::Folded,
            "json" => Self::Speedscope,
            _ => return None,
        })
    }
}

/// A stack and its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlameStack {
    /// Names of the functions, the outermost first.
    pub frames: Vec<String>,
    /// Number of samples.
    pub samples: i64,
}

/// Writes the stacks. `title` is the name of the profile, where the format has one.
pub fn write_flame(
    out: &mut dyn Write,
    format: FlameFormat,
    title: &str,
    stacks: &[FlameStack],
) -> Result<()> {
    match format {
        FlameFormat::Folded => folded(out, stacks),
        FlameFormat::Speedscope => speedscope(out, title, stacks),
    }
}

/// A viewer splits lines at line breaks, and control characters could change a terminal.
fn folded(out: &mut dyn Write, stacks: &[FlameStack]) -> Result<()> {
    for stack in stacks {
        let frames: Vec<String> = stack.frames.iter().map(|frame| visible(frame)).collect();
        writeln!(out, "{} {}", frames.join(";"), stack.samples).map_err(Error::Output)?;
    }
    Ok(())
}

fn speedscope(out: &mut dyn Write, title: &str, stacks: &[FlameStack]) -> Result<()> {
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
            "unit": "none",
            "startValue": 0,
            "endValue": weights.iter().sum::<i64>(),
            "samples": samples,
            "weights": weights,
        }],
    });
    serde_json::to_writer(&mut *out, &document).map_err(|e| Error::Output(e.into()))?;
    out.write_all(b"\n").map_err(Error::Output)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Vec<FlameStack> {
        let stack = |frames: &[&str], samples| FlameStack {
            frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
            samples,
        };
        vec![stack(&["main", "train", "load"], 2), stack(&["main", "a\nb"], 1)]
    }

    fn written(format: FlameFormat) -> String {
        let mut out = Vec::new();
        write_flame(&mut out, format, "report", &stacks()).unwrap();
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
}
