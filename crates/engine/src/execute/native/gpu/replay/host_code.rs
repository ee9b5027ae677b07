//! Host code that an edit is about.

use super::edit::invalid;
use super::model::Model;
use crate::execute::native::gpu::answers::Answers;
use foldhash::HashMap;
use nsq_sweep::interval::{Ruler, TimeSet};
use nsq_value::error::Result;
use nsq_value::glob::Glob;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Which host code.
#[derive(Debug)]
pub(super) enum HostCode {
    All,
    /// In no NVTX range of its thread.
    Unmarked,
    /// Code between two calls that takes at least this time.
    Longer(i64),
    /// In NVTX ranges with this name: the pattern, as a text and read.
    InRange(String, Glob),
}

/// The parts that were asked for, by the text of the pattern: several fixes are about the same code. `None`: code in no range.
pub(super) type KnownParts = Mutex<BTreeMap<Option<String>, Arc<Vec<f64>>>>;

impl HostCode {
    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        if text == "*" {
            return Ok(Self::All);
        }
        if text == "-" {
            return Ok(Self::Unmarked);
        }
        if let Some(length) = text.strip_prefix('>') {
            let digits = length.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let unit = match &length[digits.len()..] {
                "ns" => Some(1.0),
                "us" => Some(1e3),
                "ms" => Some(1e6),
                "s" => Some(1e9),
                _ => None,
            };
            let time = digits.parse::<f64>().ok().zip(unit).map(|(number, unit)| number * unit);
            let time = time.filter(|time| (0.0..1e18).contains(time));
            let time = time
                .ok_or_else(|| invalid(&format!("invalid time '{length}': expected one such as 5ms")))?;
            return Ok(Self::Longer(time as i64));
        }
        Ok(Self::InRange(text.to_owned(), Glob::new(text).map_err(|error| error.to_string())?))
    }

    /// For each call, the part of the code before it that is meant, from 0 to 1.
    pub(super) fn parts(&self, answers: &Answers, model: &Model) -> Result<Arc<Vec<f64>>> {
        let graph = &model.graph;
        let calls = 0..graph.call_count() as u32;
        let (text, glob) = match self {
            Self::All => return Ok(Arc::new(calls.map(|_| 1.0).collect())),
            Self::Longer(least) => {
                let is_longer = |call| graph.code(call).is_some_and(|code| code > 0 && code >= *least);
                return Ok(Arc::new(calls.map(|call| f64::from(u8::from(is_longer(call)))).collect()));
            }
            Self::Unmarked => (None, None),
            Self::InRange(text, glob) => (Some(text.clone()), Some(glob)),
        };
        let lock = || answers.replays.host_parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&text) {
            return Ok(Arc::clone(known));
        }
        let ranges = ranges(answers, glob)?;
        let of = &answers.launches().calls;
        let part = |call: u32| {
            let thread = of.threads()[model.places[call as usize] as usize];
            let Some(code) = graph.code(call).filter(|code| *code > 0) else { return 0.0 };
            let (from, to) = (graph.call(call).0 - code, graph.call(call).0);
            let ranges = ranges.get(&of.global_tids[thread as usize]);
            let inside = ranges.map_or(0, |ranges| ranges.within(from, to)) as f64 / code as f64;
            if glob.is_some() { inside } else { 1.0 - inside }
        };
        let parts = Arc::new(calls.map(part).collect());
        lock().insert(text, Arc::clone(&parts));
        Ok(parts)
    }
}

/// The times of ranges with a name, or of all, by thread.
fn ranges(answers: &Answers, glob: Option<&Glob>) -> Result<BTreeMap<i64, Ruler>> {
    let mut reader = answers.calls.reader(&answers.limits);
    let is_meant = |text: &[u8]| glob.is_none_or(|glob| glob.matches(&String::from_utf8_lossy(text)));
    let mut of_threads: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    // Those whose name is a string of the report. Strings cannot be read between the rows.
    let mut found = Vec::new();
    let mut names: HashMap<i64, bool> = HashMap::default();
    if answers.calls.input.reads("all_nvtx_record") {
        let sql = "SELECT global_tid, start_ns, end_ns, text_id, text FROM all_nvtx_record \
                   WHERE event_type <> 75 AND end_ns > start_ns";
        reader.rows(sql, |cells| {
            if let (Some(tid), Some(start), Some(end)) = (cells.int(0), cells.time(1)?, cells.time(2)?) {
                match (cells.text(4), cells.int(3)) {
                    (Some(text), _) if is_meant(text) => {
                        of_threads.entry(tid).or_default().push((start, end))
                    }
                    (None, Some(id)) => {
                        names.insert(id, false);
                        found.push((tid, start, end, id));
                    }
                    (None, None) if glob.is_none() => {
                        of_threads.entry(tid).or_default().push((start, end))
                    }
                    _ => {}
                }
            }
            Ok(())
        })?;
    }
    for (id, is_named) in &mut names {
        *is_named = glob.is_none() || reader.text_of(*id)?.is_some_and(|text| is_meant(&text));
    }
    for (tid, start, end, id) in found {
        if names[&id] {
            of_threads.entry(tid).or_default().push((start, end));
        }
    }
    let ruler = |(tid, times)| (tid, Ruler::new(TimeSet::union_of(times)));
    Ok(of_threads.into_iter().map(ruler).collect())
}
