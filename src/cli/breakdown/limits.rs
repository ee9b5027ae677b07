//! A sentence about what fills a GPU's time.

use super::profile::{Device, Share};
use crate::render::breakdown::{percent, time};
use crate::table::{Column, Type, Unit, Value, humanize};

fn bytes(bytes: i64) -> String {
    let column = Column { kind: Type::Bytes, unit: Some(Unit::Bytes), ..Column::untyped("") };
    humanize(&Value::Int(bytes), &column)
}

fn rate(rate: f64) -> String {
    let column = Column { kind: Type::Real, unit: Some(Unit::BytesPerS), ..Column::untyped("") };
    humanize(&Value::Real(rate), &column)
}

impl Device {
    /// `GPU 0 (NVIDIA H100)`, or `GPU 1 (NVIDIA H100, CUDA device 0)` if the two numbers differ.
    pub(super) fn title(&self) -> String {
        let gpu = self.gpu_id.map_or("GPU with unknown number".to_owned(), |id| format!("GPU {id}"));
        let ordinal = self.ordinal.filter(|ordinal| Some(*ordinal) != self.gpu_id);
        let ordinal = ordinal.map(|ordinal| format!("CUDA device {ordinal}"));
        let about: Vec<String> = self.gpu_name.iter().cloned().chain(ordinal).collect();
        if about.is_empty() { gpu } else { format!("{gpu} ({})", about.join(", ")) }
    }

    /// The largest share of the window, and other large shares.
    pub(super) fn limit(&self) -> String {
        let Some((first, rest)) = self.shares.split_first() else { return "no GPU work".to_owned() };
        let is_large = |share: &&Share| {
            share.kind != IDLE && LARGE_FRACTION.saturating_mul(share.busy_ns) >= share.window_ns
        };
        let mut others: Vec<&Share> = rest.iter().filter(is_large).take(MAX_OTHERS).collect();
        if first.kind == IDLE && others.is_empty() {
            others.extend(rest.first());
        }
        let also = others.iter().map(|share| format!("; {}", share.sentence(false)));
        first.sentence(true) + &also.collect::<String>()
    }
}

/// A share is large if it is at least one fifth of the window.
const LARGE_FRACTION: i64 = 5;
/// Number of shares to name besides the largest.
const MAX_OTHERS: usize = 2;
const IDLE: &str = "idle";

impl Share {
    fn subject(&self) -> String {
        match self.kind.as_str() {
            "memcpy" => format!("{} copies", self.name),
            "memset" => "memory fills".to_owned(),
            "graph" => "CUDA graphs traced as a whole".to_owned(),
            IDLE => "idle".to_owned(),
            _ if self.name.is_empty() => "unclassified kernels".to_owned(),
            _ => format!("{} kernels", self.name),
        }
    }

    /// `Host-to-Device copies: 920.87 ms (95.0 %), 25.48 GB at 27.66 GB/s`; the first share also names its whole.
    fn sentence(&self, names_whole: bool) -> String {
        let whole = match names_whole {
            true => format!(" of the {} from first to last operation", time(self.window_ns)),
            false => String::new(),
        };
        let share = percent(self.busy_ns, self.window_ns);
        let mut text = format!("{}: {}{whole} ({share})", self.subject(), time(self.busy_ns));
        if let (Some(size), Some(speed)) = (self.size_bytes, self.rate) {
            text.push_str(&format!(", {} at {}", bytes(size), rate(speed)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(kind: &str, name: &str, busy_ns: i64, size: Option<i64>) -> Share {
        let rate = size.map(|size| 1e9 * size as f64 / busy_ns as f64);
        let (kind, name) = (kind.to_owned(), name.to_owned());
        Share { kind, name, busy_ns, window_ns: 969_447_605, size_bytes: size, rate }
    }

    #[test]
    fn copies_fill_a_busy_gpu() {
        let device = Device {
            gpu_id: Some(0),
            ordinal: Some(0),
            gpu_name: None,
            shares: vec![
                share("memcpy", "Host-to-Device", 920_872_841, Some(25_475_253_792)),
                share("idle", "idle", 6_561_904, None),
            ],
            decomposition: None,
        };
        let sentence = "Host-to-Device copies: 920.87 ms of the 969.45 ms from first to last operation \
                        (95.0 %), 25.48 GB at 27.66 GB/s";
        assert_eq!(device.limit(), sentence);
        assert_eq!(device.title(), "GPU 0");
    }

    #[test]
    fn an_idle_gpu_also_names_its_work() {
        let device = Device {
            gpu_id: Some(1),
            ordinal: Some(0),
            gpu_name: Some("NVIDIA X".to_owned()),
            shares: vec![share("idle", "idle", 969_447_604, None), share("class", "gemm", 1, None)],
            decomposition: None,
        };
        let sentence = "idle: 969.45 ms of the 969.45 ms from first to last operation (> 99.9 %); \
                        gemm kernels: 1 ns (< 0.1 %)";
        assert_eq!(device.limit(), sentence);
        assert_eq!(device.title(), "GPU 1 (NVIDIA X, CUDA device 0)");
    }
}
