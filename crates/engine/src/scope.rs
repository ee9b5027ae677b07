//! The part of a report to analyse, as people write it: `1s/2s`, `step 2..4`, `forward@NCCL`.

use crate::compile::parse_duration;
use crate::normalize::{Attribute, Scope, Selector};
use nsq_report::schema::Schema;
use nsq_value::error::{Error, Result};
use std::ffi::OsString;

/// The part of a report to analyse. An empty list or absent value does not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeText {
    /// Events that overlap this time since the start of the capture: `1.5s/2s`, `12ms/`, `/80%`.
    pub time: Option<String>,
    /// Only steps after the warm-up.
    pub steady: bool,
    /// GPU numbers, as every output shows them.
    pub gpus: Vec<i64>,
    /// CUDA device ordinals.
    pub devices: Vec<i64>,
    /// CUDA stream IDs.
    pub streams: Vec<i64>,
    /// Process IDs.
    pub processes: Vec<i64>,
    /// Threads whose ranges, calls and launched work count: names (GLOB patterns) or thread IDs.
    pub threads: Vec<String>,
    /// NVTX ranges whose work counts: `NAME[@DOMAIN][/INDEX]`.
    pub nvtx: Vec<String>,
    /// Iterations whose work counts: `NAME[/INDEX]`, numbered from 0 per thread.
    pub iterations: Vec<String>,
    /// NVTX ranges whose work is left out.
    pub exclude: Vec<String>,
    /// NVTX ranges that events must overlap in time.
    pub windows: Vec<String>,
    /// Which launches belong to a range. `None`: the rule that fits the report.
    pub attribute: Option<Attribute>,
    /// Keep the numbers in range names.
    pub keep_names: bool,
}

impl ScopeText {
    /// The scope as options of the command line.
    pub fn words(&self) -> Vec<String> {
        let texts = [
            ("--thread", &self.threads),
            ("--nvtx", &self.nvtx),
            ("--iter", &self.iterations),
            ("--exclude", &self.exclude),
            ("--window", &self.windows),
        ];
        let ids = [
            ("--gpu", &self.gpus),
            ("--device", &self.devices),
            ("--stream", &self.streams),
            ("--process", &self.processes),
        ];
        let texts = texts
            .into_iter()
            .flat_map(|(option, values)| values.iter().map(move |v| (option, v.clone())));
        let ids =
            ids.into_iter().flat_map(|(option, ids)| ids.iter().map(move |id| (option, id.to_string())));
        let time = self.time.iter().map(|time| ("--time", time.clone()));
        let steady = self.steady.then(|| "--steady".to_owned());
        let valued = texts.chain(ids).chain(time).flat_map(|(option, value)| [option.to_owned(), value]);
        valued.chain(steady).collect()
    }

    /// The scope for a report. Percentages of the time need the length of its capture.
    pub fn resolve(&self, schema: &Schema) -> Result<Scope> {
        let mut scope = Scope {
            steady: self.steady,
            gpus: self.gpus.clone(),
            devices: self.devices.clone(),
            streams: self.streams.clone(),
            processes: self.processes.clone(),
            launchers: self.threads.clone(),
            nvtx: selectors(&self.nvtx, false)?,
            iterations: selectors(&self.iterations, true)?,
            exclude: selectors(&self.exclude, false)?,
            windows: selectors(&self.windows, false)?,
            // PyTorch launches the backward pass from a thread without annotations.
            attribute: self.attribute.unwrap_or(match schema.is_imported {
                true => Attribute::Process,
                false => Attribute::Thread,
            }),
            keep_names: self.keep_names,
            ..Scope::default()
        };
        if let Some(text) = &self.time {
            let (from, to) = text.split_once('/').ok_or_else(|| malformed(text))?;
            scope.start_ns = instant(text, from, schema)?;
            scope.end_ns = instant(text, to, schema)?;
            if let (Some(from), Some(to)) = (scope.start_ns, scope.end_ns)
                && from >= to
            {
                return Err(Error::usage(
                    format!("--time {text} is empty: it begins at {from} ns and ends at {to} ns"),
                    "give the earlier time first",
                ));
            }
        }
        // A file materialized for a time window contains whole events that cross its ends.
        let (from, to) = schema.window_ns;
        scope.start_ns = scope.start_ns.max(from);
        scope.end_ns = [scope.end_ns, to].into_iter().flatten().min();
        Ok(scope)
    }
}

/// Joins the two words of `--iter TAG N` into `TAG/N`.
///
/// Only a number or `A..B` is joined, so a report path after `--iter TAG` stays a report.
pub fn join_iterations(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for word in words {
        let is_instance = word.to_str().is_some_and(|word| instances(word).is_some());
        match joined.as_mut_slice() {
            [.., option, tag] if option == "--iter" && is_instance => {
                tag.push("/");
                tag.push(word);
            }
            [.., option] if is_instance && option.to_string_lossy().starts_with("--iter=") => {
                option.push("/");
                option.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

/// Parses `N` or `A..B` into the first and the last instance, which may be in the wrong order.
pub fn instances(text: &str) -> Option<(usize, usize)> {
    match text.split_once("..") {
        Some((first, last)) => Some((first.parse().ok()?, last.parse().ok()?)),
        None => text.parse().ok().map(|instance| (instance, instance)),
    }
}

/// Splits a name from the instances that are written after it as in `--iter`, or as people write them:
/// `step/3`, `step 2..4`, `step[2..4]`.
pub fn split_instances(text: &str) -> Option<(&str, &str)> {
    let bracketed = text.strip_suffix(']').and_then(|open| open.rsplit_once('['));
    // A single number after a space is a part of the name.
    let spaced = || text.rsplit_once(' ').filter(|(_, index)| index.contains(".."));
    let (name, index) = bracketed.or_else(|| text.rsplit_once('/')).or_else(spaced)?;
    (instances(index).is_some() && !name.trim().is_empty()).then_some((name.trim(), index))
}

/// Parses `NAME[@DOMAIN][/INDEX]`.
fn selector(text: &str, by_thread: bool) -> Result<Selector> {
    let (rest, instances) = match text.rsplit_once('/') {
        Some((rest, index)) if instances(index).is_some() => (rest, instances(index)),
        _ => (text, None),
    };
    if let Some((first, last)) = instances.filter(|(first, last)| first > last) {
        let right = match by_thread {
            true => format!("--iter '{rest}' {last}..{first}"),
            false => format!("'{rest}/{last}..{first}'"),
        };
        return Err(Error::usage(
            format!(
                "invalid instances {first}..{last} of NVTX range '{rest}': the first is after the last"
            ),
            format!("write {right}"),
        ));
    }
    let (name, domain) = match rest.rsplit_once('@') {
        Some((name, domain)) => (name, Some(domain.to_owned())),
        None => (rest, None),
    };
    if name.is_empty() {
        return Err(Error::usage(
            format!("invalid NVTX range `{text}`: the name is empty"),
            "write NAME, NAME@DOMAIN or NAME/INDEX, such as `forward`, `ncclAllReduce@NCCL` or `step/3`",
        ));
    }
    Ok(Selector { name: name.to_owned(), spelled: text.to_owned(), domain, instances, by_thread })
}

fn selectors(texts: &[String], by_thread: bool) -> Result<Vec<Selector>> {
    texts.iter().map(|text| selector(text, by_thread)).collect()
}

fn malformed(text: &str) -> Error {
    Error::usage(
        format!("invalid time range `{text}`"),
        "write --time A/B, such as 1.5s/2s, 300ns/12ms or 10%/50%; leave out A or B for an open end",
    )
}

fn instant(whole: &str, text: &str, schema: &Schema) -> Result<Option<i64>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let Some(percent) = text.strip_suffix('%') else {
        return parse_duration(text).map(Some).ok_or_else(|| malformed(whole));
    };
    let percent: f64 = percent.trim().parse().map_err(|_| malformed(whole))?;
    let length = schema.capture_ns.ok_or_else(|| {
        Error::usage(
            "--time cannot be a percentage: the length of the capture is not in the report",
            "give times, such as --time 1s/2s",
        )
    })?;
    Ok(Some((percent / 100.0 * length as f64).round() as i64))
}
