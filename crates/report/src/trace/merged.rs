//! Traces of several ranks, merged into one: SGLang writes the rank before each process and device, as in
//! `[TP00-DP01-PP00-EP00] 501`; TraceFuse adds a large number to them, and writes both as arguments. Others name
//! the rank in the names of processes.

use super::event::Event;
use super::facts::Device;
use super::ids::{ID_BITS, Ids, global_pid};
use super::lenient::IdValue;
use super::tables::SmallTable;
use foldhash::HashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The rank of an event in a merged trace, with brackets.
pub(super) fn rank_of<'e>(event: &'e Event<'_>) -> Option<Cow<'e, str>> {
    match (&event.pid.0, event.args.rank.0) {
        (Some(IdValue::Word(word)), _) => label(word).map(Cow::Borrowed),
        (Some(IdValue::Number(_)), Some(rank)) if event.args.raw_pid.0.is_some() => {
            Some(Cow::Owned(format!("[rank {rank}]")))
        }
        _ => None,
    }
}

/// The brackets at the start of a process ID.
fn label(word: &str) -> Option<&str> {
    let end = word.find("] ").filter(|_| word.starts_with('['))?;
    Some(&word[..=end])
}

/// A rank of a merged trace.
#[derive(Debug)]
struct Part {
    label: String,
    process: i64,
    /// The process as its machine numbers it.
    own: Option<i64>,
}

/// The processes of ranks, and the devices that each used. Ranks may be of several machines, so a device number alone
/// identifies no GPU, and a process ID no process.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// In the order of the trace.
    parts: Vec<Part>,
    /// Label → process.
    processes: HashMap<String, i64>,
    /// Process → its place among the parts.
    places: HashMap<i64, usize>,
    /// Process of the rank, and its CUDA device.
    pub(super) used: BTreeSet<(i64, i64)>,
}

/// Smaller numbers are devices, not processes.
const DEVICES: i64 = 64;

impl Merged {
    /// The process of a rank: that of its first event if no other rank has it; otherwise it is made up.
    pub(super) fn process(&mut self, label: &str, event: &Event<'_>, ids: &mut Ids) -> i64 {
        if let Some(process) = self.processes.get(label) {
            return *process;
        }
        let own = match &event.pid.0 {
            Some(IdValue::Word(word)) => word.rsplit(' ').next().and_then(|own| own.parse().ok()),
            _ => event.args.raw_pid.0,
        };
        let own = own.filter(|own| (DEVICES..1 << ID_BITS).contains(own));
        let is_free = |own: &i64| !self.places.contains_key(own);
        let made_up = || ids.of(&Some(IdValue::Word(label.into())));
        let process = own.filter(is_free).unwrap_or_else(made_up);
        self.processes.insert(label.to_owned(), process);
        self.places.insert(process, self.parts.len());
        self.parts.push(Part { label: label.to_owned(), process, own });
        process
    }

    /// What the merger calls a process.
    pub(super) fn name(&self, process: i64) -> Option<String> {
        let part = &self.parts[*self.places.get(&process)?];
        let own = part.own.map(|own| format!(" {own}")).unwrap_or_default();
        Some(format!("{}{own}", part.label))
    }

    /// The table of ranks, by the labels of the merger, or else by the names of processes.
    pub(super) fn ranks<'n>(&'n self, names: impl Iterator<Item = (i64, &'n str)>) -> SmallTable {
        let mut table = SmallTable::new("NSQ_RANK", &["globalPid", "rank", "label"]);
        let is_labelled = !self.parts.is_empty();
        let (processes, labels): (Vec<i64>, Vec<&str>) = if is_labelled {
            self.parts.iter().map(|part| (part.process, part.label.as_str())).unzip()
        } else {
            names.unzip()
        };
        let ranks = numbers_of(&labels, (!is_labelled).then_some("rank"));
        if is_labelled || labels.len() > 1 && ranks.iter().all(Option::is_some) {
            for ((process, label), rank) in processes.into_iter().zip(labels).zip(ranks) {
                table.add([global_pid(process).into(), rank.into(), label.to_owned().into()]);
            }
        }
        table
    }

    /// The GPU of each process and device: one of its own, with the number of the device if that is free.
    fn gpus(&self) -> BTreeMap<(i64, i64), i64> {
        let mut taken = BTreeSet::new();
        let mut gpus = BTreeMap::new();
        // Device → what is taken up to here.
        let mut passed: HashMap<i64, i64> = HashMap::default();
        for part in &self.parts {
            for &(process, device) in self.used.range((part.process, 0)..(part.process + 1, 0)) {
                let is_free = |gpu: &i64| !taken.contains(gpu);
                let from = passed.get(&device).copied().unwrap_or(device);
                let gpu = (from..).find(is_free).unwrap_or(device);
                passed.insert(device, gpu);
                taken.insert(gpu);
                gpus.insert((process, device), gpu);
            }
        }
        gpus
    }

    /// The table of each process's devices, and the GPUs behind them.
    pub(super) fn tables(&self, devices: &[Device]) -> (SmallTable, Vec<Device>) {
        let mut table = SmallTable::new("TARGET_INFO_CUDA_DEVICE", &["gpuId", "cudaId", "pid"]);
        let mut gpus = Vec::new();
        for ((process, device), gpu) in self.gpus() {
            table.add([gpu.into(), device.into(), process.into()]);
            let known = devices.iter().find(|known| known.id == Some(device)).cloned();
            gpus.push(Device { id: Some(gpu), ..known.unwrap_or_default() });
        }
        gpus.sort_by_key(|gpu| gpu.id);
        (table, gpus)
    }
}

/// The rank in each text: the number after the first word that no two texts share with its number, as after TP in
/// `[TP01-DP00]`. `only`: after this word alone.
fn numbers_of(texts: &[&str], only: Option<&str>) -> Vec<Option<i64>> {
    let words: Vec<_> = texts.iter().map(|text| numbered_words(text)).collect();
    let number = |words: &[(String, i64)], wanted: &str| {
        words.iter().find(|(word, _)| word == wanted).map(|(_, number)| *number)
    };
    let tells = |wanted: &&String| {
        let numbers: BTreeSet<i64> = words.iter().filter_map(|words| number(words, wanted)).collect();
        only.is_none_or(|only| *wanted == only) && numbers.len() == texts.len()
    };
    let word = words.first().and_then(|words| words.iter().map(|(word, _)| word).find(tells));
    words.iter().map(|words| number(words, word?)).collect()
}

/// The words of a text that a number follows, in lower case: `tp` and 1 in `[TP01]`, `rank` and 3 in `rank 3`.
fn numbered_words(text: &str) -> Vec<(String, i64)> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let word = &rest[at..];
        let end = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
        let after = word[end..].trim_start_matches([' ', '-', '_', '=', ':']);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        if let Ok(number) = after[..digits].parse() {
            words.push((word[..end].to_ascii_lowercase(), number));
        }
        rest = &word[end..];
    }
    words
}

/// What mergers add to the processes of a rank is a multiple of this.
const ROUND: i64 = 1_000;

/// GPUs by the process and device of their rows. In a trace of one rank, both are the same number.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    gpus: BTreeMap<(i64, i64), i64>,
    taken: BTreeSet<i64>,
}

impl Numbered {
    /// The GPU of a row: one of its own for each process that was numbered anew, with the number of the device if that
    /// is free.
    pub(super) fn of(&mut self, process: i64, device: i64) -> i64 {
        // A merger adds a large round number; other differences do not come from one.
        let process = if process.wrapping_sub(device) % ROUND == 0 { process } else { device };
        if let Some(gpu) = self.gpus.get(&(process, device)) {
            return *gpu;
        }
        let gpu = (device..).find(|gpu| !self.taken.contains(gpu)).unwrap_or(device);
        self.taken.insert(gpu);
        self.gpus.insert((process, device), gpu);
        gpu
    }

    /// The GPUs that have another number than their device, as that device is described.
    pub(super) fn moved(&self, devices: &[Device]) -> Vec<Device> {
        if devices.is_empty() {
            return Vec::new();
        }
        let moved = self.gpus.iter().filter(|((_, device), gpu)| device != *gpu);
        let known = |device: &i64| devices.iter().find(|known| known.id == Some(*device)).cloned();
        moved
            .map(|((_, device), gpu)| Device { id: Some(*gpu), ..known(device).unwrap_or_default() })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_stands_in_brackets_before_a_process() {
        assert_eq!(label("[TP00-DP01-PP00-EP00] 501").unwrap(), "[TP00-DP01-PP00-EP00]");
        assert_eq!(label("[rank 3] GPU 0").unwrap(), "[rank 3]");
        for other in ["Spans", "501", "stream 7", "[0]", "GPU [0] 1"] {
            assert_eq!(label(other), None, "{other}");
        }
    }

    #[test]
    fn the_number_that_differs_is_the_rank() {
        let ranks = |texts: &[&str], only| numbers_of(texts, only);
        assert_eq!(ranks(&["[TP00-DP00]", "[TP01-DP00]"], None), [Some(0), Some(1)]);
        assert_eq!(ranks(&["[TP00-DP03]", "[TP00-DP01]"], None), [Some(3), Some(1)]);
        assert_eq!(ranks(&["[rank3]", "[rank 12]"], None), [Some(3), Some(12)]);
        assert_eq!(ranks(&["[TP0-PP0]", "[TP1-PP0]", "[TP0-PP1]", "[TP1-PP1]"], None), [None; 4]);
        assert_eq!(
            ranks(&["rank_1.json: python3", "rank_0.json: python3"], Some("rank")),
            [Some(1), Some(0)]
        );
        assert_eq!(ranks(&["worker 1", "worker 0"], Some("rank")), [None; 2]);
        assert_eq!(ranks(&["[Unknown]"], None), [None]);
    }

    #[test]
    fn each_rank_has_gpus_of_its_own() {
        let gpus = |used: &[(i64, i64)]| {
            let part =
                |&(process, _): &(i64, i64)| Part { label: process.to_string(), process, own: None };
            let merged = Merged {
                parts: used.iter().rev().map(part).collect(),
                used: used.iter().copied().collect(),
                ..Merged::default()
            };
            merged.gpus().into_values().collect::<Vec<_>>()
        };
        // In order of process. The trace has the last rank first.
        assert_eq!(gpus(&[(98, 1), (99, 0)]), [1, 0]);
        assert_eq!(gpus(&[(98, 0), (99, 0)]), [1, 0]);
        assert_eq!(gpus(&[(97, 1), (98, 0), (99, 0)]), [2, 1, 0]);
        assert_eq!(gpus(&[(98, 3), (99, 3)]), [4, 3]);
    }
}
