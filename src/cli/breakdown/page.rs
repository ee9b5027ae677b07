//! The content of `result.html`.

use super::class_maps::ClassMap;
use super::profile::{Bar, Device, NON_GPU, Row, sum};
use super::{Breakdown, Profile};
use crate::error::Result;
use crate::render::breakdown as html;
use std::collections::{BTreeMap, HashMap};

/// The most kernels that the page lists over all profiles and classes, to keep it small.
const MAX_KERNELS: usize = 480;
/// The kernels that the page lists for every class, even beyond that limit.
const MIN_KERNELS: usize = 3;
/// The most columns of GPUs in the tables of kernels. With more bars, only the first has a column.
const MAX_COLUMNS: usize = 9;

/// Renders the page.
pub(super) fn render(breakdown: &Breakdown) -> Result<Vec<u8>> {
    let mut classes = breakdown.classes.clone();
    classes.push(NON_GPU.to_owned());
    let groups: usize =
        breakdown.profiles.iter().filter_map(|p| p.answer.bars.first()).map(|b| b.classes().len()).sum();
    let most = (MAX_KERNELS / groups.max(1)).max(MIN_KERNELS);
    let bars = breakdown.profiles.iter().flat_map(|profile| {
        profile.answer.bars.iter().map(|bar| bar_of(profile, bar, &breakdown.classes))
    });
    let page = html::Page {
        title: breakdown.title.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        bars: bars.collect(),
        profiles: breakdown.profiles.iter().map(|p| profile_of(p, &breakdown.classes, most)).collect(),
        classes,
    };
    page.render()
}

fn bar_of(profile: &Profile, bar: &Bar, classes: &[String]) -> html::Bar {
    let sums = bar.classes();
    let mut parts: Vec<Option<i64>> =
        classes.iter().map(|class| sums.get(class.as_str()).copied()).collect();
    parts.push(Some(profile.rest_ns(bar)));
    let device = bar.device.map(|device| format!("GPU {device}")).unwrap_or_default();
    let is_all = bar.device.is_none() && profile.answer.bars.len() > 1;
    let about = if is_all { "all GPUs".to_owned() } else { String::new() };
    html::Bar { label: profile.bar_label(bar), about, device, parts }
}

fn profile_of(profile: &Profile, classes: &[String], most: usize) -> html::Profile {
    let mut facts = vec![("file".to_owned(), profile.report.clone())];
    if let Some((engine, model)) = &profile.input.engine_model {
        facts.push(("engine".to_owned(), engine.clone()));
        facts.push(("model".to_owned(), model.clone()));
    }
    facts.push(("class map".to_owned(), profile.map.name.clone()));
    facts.push(("elapsed".to_owned(), profile.elapsed_text()));
    let bars = &profile.answer.bars;
    let bars = if bars.len() <= MAX_COLUMNS { &bars[..] } else { &bars[..1] };
    let columns = bars.iter().map(|bar| match bar.device {
        Some(device) => format!("GPU {device}"),
        None if bars.len() > 1 => "all GPUs".to_owned(),
        None => "elapsed".to_owned(),
    });
    html::Profile {
        label: profile.label.clone(),
        facts,
        notes: profile.notes.clone(),
        devices: profile.answer.devices.iter().map(device_of).collect(),
        columns: columns.collect(),
        classes: classes_of(bars, &profile.map, classes, most),
    }
}

fn device_of(device: &Device) -> html::Device {
    let parts = device.decomposition.map(|parts| {
        vec![
            ("compute".to_owned(), parts.compute_ns),
            ("exposed communication".to_owned(), parts.exposed_communication_ns),
            ("exposed copies and fills".to_owned(), parts.exposed_memory_ns),
            ("idle".to_owned(), parts.idle_ns),
        ]
    });
    html::Device { title: device.title(), limit: device.limit(), parts: parts.unwrap_or_default() }
}

/// The classes of the first bar, largest first, with the elapsed time of their kernels in every bar.
fn classes_of(bars: &[Bar], map: &ClassMap, classes: &[String], most: usize) -> Vec<html::Class> {
    let Some(first) = bars.first() else { return Vec::new() };
    let busy_ns = first.busy_ns();
    let other_bars: Vec<HashMap<(&str, &str), i64>> = bars[1..]
        .iter()
        .map(|bar| bar.rows.iter().map(|row| (key(row), row.elapsed_ns)).collect())
        .collect();
    let mut members: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &first.rows {
        members.entry(&row.class).or_default().push(row);
    }
    let mut shown: Vec<html::Class> = Vec::new();
    for (index, class) in classes.iter().enumerate() {
        let Some(rows) = members.get(class.as_str()) else { continue };
        let (listed, left_out) = rows.split_at(rows.len().min(most));
        let mut rules: Vec<html::Rule> = Vec::new();
        for row in listed {
            // CUDA graphs are not classified by a map, so they have no further classes.
            let further = if row.also.is_empty() { Vec::new() } else { map.also(&row.name) };
            let elapsed = other_bars.iter().map(|bar| bar.get(&key(row)).copied());
            let kernel = html::Kernel {
                name: row.name.clone(),
                calls: row.calls,
                elapsed_ns: std::iter::once(Some(row.elapsed_ns)).chain(elapsed).collect(),
                total_ns: row.total_ns,
                also: further.join(", "),
            };
            match rules.iter_mut().find(|rule| rule.rule == row.rule) {
                Some(rule) => rule.kernels.push(kernel),
                None => rules.push(html::Rule { rule: row.rule.clone(), kernels: vec![kernel] }),
            }
        }
        shown.push(html::Class {
            index,
            elapsed_ns: sum(rows.iter().copied()),
            busy_ns,
            names: rows.len(),
            rules,
            left_out: left_out.len(),
            left_out_ns: sum(left_out.iter().copied()),
        });
    }
    shown
}

fn key(row: &Row) -> (&str, &str) {
    (&row.kind, &row.name)
}
