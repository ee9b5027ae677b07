//! Traces of several ranks, merged into one: SGLang writes the rank before each process and device, as in
//! `[TP00-DP01-PP00-EP00] 501`; TraceFuse adds a large number to them.

use super::facts::Device;
use super::lenient::IdValue;
use super::tables::SmallTable;
use std::collections::{BTreeMap, BTreeSet};

/// The rank in a process ID, with its brackets.
pub(super) fn rank_of<'e>(id: &'e Option<IdValue<'_>>) -> Option<&'e str> {
    let Some(IdValue::Word(word)) = id else { return None };
    let end = word.find("] ").filter(|_| word.starts_with('['))?;
    Some(&word[..=end])
}

/// The devices that each rank used. Ranks may be of several machines, so a device number alone identifies no GPU.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// Process of the rank, and its CUDA device.
    pub(super) used: BTreeSet<(i64, i64)>,
}

impl Merged {
    /// The GPU of each process and device: one of its own, with the number of the device if that is free.
    fn gpus(&self) -> BTreeMap<(i64, i64), i64> {
        let mut taken = BTreeSet::new();
        let mut gpus = BTreeMap::new();
        // Made-up process IDs count down, so the first rank of the trace comes last.
        for &(process, device) in self.used.iter().rev() {
            let is_free = |gpu: &i64| !taken.contains(gpu);
            let gpu = (device..).find(is_free).unwrap_or(device);
            taken.insert(gpu);
            gpus.insert((process, device), gpu);
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

    fn rank(word: &str) -> Option<String> {
        rank_of(&Some(IdValue::Word(word.into()))).map(str::to_owned)
    }

    #[test]
    fn a_rank_stands_in_brackets_before_a_process() {
        assert_eq!(rank("[TP00-DP01-PP00-EP00] 501").unwrap(), "[TP00-DP01-PP00-EP00]");
        assert_eq!(rank("[rank 3] GPU 0").unwrap(), "[rank 3]");
        for other in ["Spans", "501", "stream 7", "[0]", "GPU [0] 1"] {
            assert_eq!(rank(other), None, "{other}");
        }
        assert_eq!(rank_of(&Some(IdValue::Number(7))), None);
    }

    #[test]
    fn each_rank_has_gpus_of_its_own() {
        let gpus = |used: &[(i64, i64)]| {
            let merged = Merged { used: used.iter().copied().collect() };
            merged.gpus().into_values().collect::<Vec<_>>()
        };
        // In order of process: the later rank has the smaller made-up number.
        assert_eq!(gpus(&[(99, 0), (98, 1)]), [1, 0]);
        assert_eq!(gpus(&[(99, 0), (98, 0)]), [1, 0]);
        assert_eq!(gpus(&[(99, 0), (98, 0), (97, 1)]), [2, 1, 0]);
        assert_eq!(gpus(&[(99, 3), (98, 3)]), [4, 3]);
    }
}
