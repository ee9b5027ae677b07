//! Scopes that name GPUs by their numbers: `--gpu 1`.

use crate::open_report::OpenReport;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::Limits;
use nsq_engine::normalize::{ProcessDevice, Scope};
use nsq_library::catalog::Catalog;
use nsq_value::error::Result;
use nsq_value::table::{ResultTable, Row};

/// The query that knows which GPU is which device of a process.
const GPU_DEVICES: &str = "gpu_devices";

/// A device of a process, and the GPU behind it.
struct Known {
    gpu_id: i64,
    device: ProcessDevice,
}

impl OpenReport {
    /// The scope in numbers of this report: GPUs become devices of processes, names of threads become IDs, and steps become a
    /// window. Also returns notes about what they are.
    ///
    /// # Errors
    ///
    /// [`nsq_value::error::Error::Usage`] if the scope is the steady state, and the report has no steps, or if no thread has
    /// a name or ID of the scope.
    pub fn in_numbers(
        &self,
        catalog: &Catalog,
        scope: &Scope,
        limits: &Limits,
    ) -> Result<(Scope, Vec<String>)> {
        let scope = &self.of_threads(catalog, scope, limits)?;
        let (scope, mut notes) = self.of_gpus(catalog, scope, limits)?;
        let (scope, of_steps) = self.of_steps(catalog, &scope, limits)?;
        notes.extend(of_steps);
        Ok((scope, notes))
    }

    /// The scope with the devices of its GPUs, and a note for each device that has another number as a GPU.
    fn of_gpus(
        &self,
        catalog: &Catalog,
        scope: &Scope,
        limits: &Limits,
    ) -> Result<(Scope, Vec<String>)> {
        let is_known = scope.gpus.is_empty() || !scope.gpu_devices.is_empty();
        if is_known && scope.devices.is_empty() {
            return Ok((scope.clone(), Vec::new()));
        }
        let plan = Plan::new(catalog, &Invocation::parse(GPU_DEVICES), &Layout::Own)?;
        let (tables, _) = self.answers(catalog, &Scope::default(), &[plan], limits)?;
        let known: Vec<Known> = tables.iter().flat_map(devices).collect();
        let wanted = known.iter().filter(|known| scope.gpus.contains(&known.gpu_id));
        let gpu_devices = wanted.map(|known| known.device).collect();
        let notes = scope.devices.iter().filter_map(|device| note(*device, &known)).collect();
        Ok((Scope { gpu_devices, ..scope.clone() }, notes))
    }
}

/// The rows of [`GPU_DEVICES`].
fn devices(table: &ResultTable) -> Vec<Known> {
    let of = |row: Row<'_>| {
        let device = ProcessDevice { pid: row.int("pid"), device_id: row.int("device_id")? };
        Some(Known { gpu_id: row.int("gpu_id")?, device })
    };
    table.iter().filter_map(of).collect()
}

/// On which GPUs a CUDA device lies; `None` if it has the same number as its only GPU.
fn note(device: i64, known: &[Known]) -> Option<String> {
    let of_device: Vec<&Known> = known.iter().filter(|known| known.device.device_id == device).collect();
    let mut gpus: Vec<i64> = of_device.iter().map(|known| known.gpu_id).collect();
    gpus.sort_unstable();
    gpus.dedup();
    match gpus.as_slice() {
        [] => None,
        [only] if *only == device => None,
        [only] => Some(format!("CUDA device {device} is GPU {only}; --gpu takes GPU numbers")),
        _ => {
            let of_process = |known: &&Known| match known.device.pid {
                Some(pid) => format!("GPU {} in process {pid}", known.gpu_id),
                None => format!("GPU {} in other processes", known.gpu_id),
            };
            let list: Vec<String> = of_device.iter().map(of_process).collect();
            Some(format!("CUDA device {device} is {}; --gpu takes GPU numbers", list.join(", ")))
        }
    }
}
