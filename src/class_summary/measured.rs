//! GPU time as measured on the timeline, in contrast to sums of durations.

/// A time window on one GPU, in four parts that add up to the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    /// Ordinal of the GPU on its machine.
    pub gpu_id: i64,
    /// Length of the window, in ns.
    pub window_ns: i64,
    /// At least one compute kernel ran, in ns.
    pub compute_ns: i64,
    /// Communication ran without a compute kernel, in ns.
    pub exposed_communication_ns: i64,
    /// A copy or fill ran without a compute or communication kernel, in ns.
    pub exposed_memory_ns: i64,
    /// Nothing ran, in ns.
    pub idle_ns: i64,
}

/// The sum of the windows of one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OnDevice {
    pub(super) sum: Measured,
    pub(super) windows: i64,
}

/// Adds up the windows of each GPU, in order of its ordinal. Sums saturate at the largest integer.
pub(super) fn by_device(measured: &[Measured]) -> Vec<OnDevice> {
    let mut devices: std::collections::BTreeMap<i64, OnDevice> = std::collections::BTreeMap::new();
    for window in measured {
        let empty =
            OnDevice { sum: Measured { gpu_id: window.gpu_id, ..Measured::default() }, windows: 0 };
        let device = devices.entry(window.gpu_id).or_insert(empty);
        device.windows += 1;
        let sum = &mut device.sum;
        for (total, more) in [
            (&mut sum.window_ns, window.window_ns),
            (&mut sum.compute_ns, window.compute_ns),
            (&mut sum.exposed_communication_ns, window.exposed_communication_ns),
            (&mut sum.exposed_memory_ns, window.exposed_memory_ns),
            (&mut sum.idle_ns, window.idle_ns),
        ] {
            *total = total.saturating_add(more);
        }
    }
    devices.into_values().collect()
}
