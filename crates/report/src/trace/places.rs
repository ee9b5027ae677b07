//! Events without a category → what they are, by the process and thread that they lie in.
//!
//! JAX and TensorFlow (XLA) name a process `/device:GPU:0` and a thread `Stream #20(Compute)`; Ascend names a process
//! `Ascend Hardware`; the profiler of PyTorch before Kineto has processes `CPU functions` and `CUDA functions`.

use super::category::{Category, DRIVER, Domain, RUNTIME};
use super::event::Event;
use super::lenient::IdValue;
use foldhash::HashMap;
use std::collections::BTreeSet;

/// What a process of the trace stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Process {
    /// A GPU in a trace of XLA, by its number.
    XlaGpu(i64),
    XlaHost,
    AscendHost,
    /// CANN, the runtime of Ascend, which runs in the Python process.
    AscendRuntime,
    AscendHardware,
    /// Collectives of Ascend.
    AscendCollectives,
}

/// What wrote a trace, in the words of its users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Writer {
    #[default]
    Kineto,
    /// Kineto on a GPU of Intel.
    Xpu,
    Xla,
    Ascend,
    Legacy,
    Onnx,
}

impl Writer {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kineto => "PyTorch trace",
            Self::Xpu => "PyTorch trace (XPU)",
            Self::Xla => "XLA trace",
            Self::Ascend => "Ascend trace",
            Self::Legacy => "PyTorch trace (legacy profiler)",
            Self::Onnx => "ONNX Runtime profile",
        }
    }
}

/// Where an event lies, and what it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) category: Category,
    pub(super) device: Option<i64>,
    pub(super) stream: Option<i64>,
}

impl Place {
    fn on_host(category: Category) -> Self {
        Self { category, device: None, stream: None }
    }
}

/// The processes and streams that the trace has named.
#[derive(Debug, Default)]
pub(super) struct Places {
    processes: HashMap<i64, Process>,
    /// Process and thread of streams, and the stream's number.
    streams: HashMap<(i64, i64), i64>,
    /// The Python process of a trace of Ascend.
    python: Option<i64>,
    /// The processes of CANN, which are the Python process.
    runtimes: BTreeSet<i64>,
    pub(super) writer: Writer,
}

impl Places {
    /// Takes the name of a process.
    pub(super) fn name_process(&mut self, process: i64, name: &str) {
        let (place, writer) = match name {
            "/host:CPU" => (Process::XlaHost, Writer::Xla),
            "Python" => (Process::AscendHost, Writer::Kineto),
            "CANN" => (Process::AscendRuntime, Writer::Ascend),
            "Ascend Hardware" => (Process::AscendHardware, Writer::Ascend),
            "Communication" | "HCCL" => (Process::AscendCollectives, Writer::Kineto),
            _ => match name.strip_prefix("/device:GPU:").and_then(leading_number) {
                Some(gpu) => (Process::XlaGpu(gpu), Writer::Xla),
                None => return,
            },
        };
        match place {
            Process::AscendHost => self.python = self.python.or(Some(process)),
            Process::AscendRuntime => drop(self.runtimes.insert(process)),
            _ => {}
        }
        if writer != Writer::Kineto {
            self.writer = writer;
        }
        self.processes.insert(process, place);
    }

    /// Takes the name of a thread, which may be a stream.
    pub(super) fn name_thread(&mut self, process: i64, thread: i64, name: &str) {
        let number = name.strip_prefix("Stream").map(|rest| rest.trim_start_matches([' ', '#']));
        if let Some(stream) = number.and_then(leading_number) {
            self.streams.insert((process, thread), stream);
        }
    }

    /// The process that a process of the trace is a part of.
    pub(super) fn whole(&self, process: i64) -> i64 {
        if self.runtimes.is_empty() || !self.runtimes.contains(&process) {
            return process;
        }
        self.python.unwrap_or(process)
    }

    /// What an event without a category is. `process` and `thread` are those of the event.
    pub(super) fn of(&mut self, event: &Event<'_>, process: i64, thread: i64) -> Option<Place> {
        if let Some(IdValue::Word(word)) = &event.pid.0 {
            return self.legacy(event, word);
        }
        let stream = self.streams.get(&(process, thread)).copied();
        match *self.processes.get(&process)? {
            Process::XlaGpu(gpu) => {
                // Other threads, such as `XLA Ops`, sum up what the streams did.
                let stream = stream.or((!event.args.details.0.is_empty()).then_some(thread))?;
                let category = of_op(&event.name.0);
                Some(Place { category, device: Some(gpu), stream: Some(stream) })
            }
            Process::XlaHost => Some(Place::on_host(self.xla_host(event))),
            Process::AscendHost if self.writer == Writer::Ascend => {
                Some(Place::on_host(Category::Range(of_range(&event.name.0))))
            }
            Process::AscendRuntime => Some(Place::on_host(Category::Call { class: RUNTIME })),
            Process::AscendHardware => Some(Place {
                category: of_task(&event.args.task.0)?,
                device: event.args.device.0.or(Some(0)),
                stream: event.args.stream.0.or(stream).or(Some(thread)),
            }),
            Process::AscendCollectives if self.writer == Writer::Ascend => {
                // Its other events are the tasks of a collective, which the hardware has too.
                event.name.0.starts_with("hcom_").then_some(Place {
                    category: Category::Kernel,
                    device: event.args.device.0.or(Some(0)),
                    stream: Some(COLLECTIVES + thread),
                })
            }
            Process::AscendHost | Process::AscendCollectives => None,
        }
    }

    fn xla_host(&self, event: &Event<'_>) -> Category {
        let name = &*event.name.0;
        let is_api = |prefix: &str| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        match name {
            _ if name.starts_with('$') => Category::Frame,
            _ if is_api("cuda") || is_api("hip") => Category::Call { class: RUNTIME },
            _ if is_api("cu") => Category::Call { class: DRIVER },
            _ if event.args.step.0.is_some() => Category::Range(Domain::UserAnnotation),
            _ => Category::Range(Domain::CpuOp),
        }
    }

    /// The profiler of PyTorch before Kineto: a kernel's thread is its device, and it has no stream.
    fn legacy(&mut self, event: &Event<'_>, process: &str) -> Option<Place> {
        let place = match process {
            "CPU functions" => Place::on_host(Category::Range(of_range(&event.name.0))),
            "CUDA functions" | "GPU functions" | "XPU functions" | "PrivateUse1 functions" => {
                let device = match event.tid.0 {
                    Some(IdValue::Number(device @ 0..64)) => device,
                    _ => 0,
                };
                Place { category: of_op(&event.name.0), device: Some(device), stream: Some(0) }
            }
            _ => return None,
        };
        self.writer = Writer::Legacy;
        Some(place)
    }
}

/// Streams of Ascend's collectives are numbered from here.
const COLLECTIVES: i64 = 1 << 20;

/// The number at the start of a text.
fn leading_number(text: &str) -> Option<i64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The domain of a range without a category.
fn of_range(name: &str) -> Domain {
    if name.starts_with("ProfilerStep#") { Domain::UserAnnotation } else { Domain::CpuOp }
}

/// What an operation of a GPU is, by its name.
fn of_op(name: &str) -> Category {
    match name {
        _ if name.starts_with("Memcpy") => Category::Memcpy,
        _ if name.starts_with("Memset") => Category::Memset,
        _ => Category::Kernel,
    }
}

/// What a task of Ascend's hardware is. Waits and records of events are no work.
fn of_task(task: &str) -> Option<Category> {
    let has = |word: &str| task.contains(word);
    if has("EVENT") || has("NOTIFY") || has("PLACE_HOLDER") || has("WRITE_VALUE") {
        return None;
    }
    Some(if has("MEMCPY") || has("SDMA") { Category::Memcpy } else { Category::Kernel })
}

/// A number in XLA's details: `1` in `grid:4,1,1` for `grid` and place 1.
fn detail(details: &str, key: &str, place: usize) -> Option<i64> {
    let value = details.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix(':'))?;
    value.split(',').nth(place)?.parse().ok()
}

/// The registers, grid and block of a kernel in XLA's details.
pub(super) fn launch_shape(details: &str) -> (Option<i64>, [Option<i64>; 3], [Option<i64>; 3]) {
    let three = |key: &str| [0, 1, 2].map(|place| detail(details, key, place));
    (detail(details, "regs", 0), three("grid"), three("block"))
}

/// The bytes of a copy or fill in XLA's details.
pub(super) fn size(details: &str) -> Option<i64> {
    detail(details, "size", 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_of_xla_are_read() {
        let details = "regs:16 static_shared:0 dynamic_shared:0 grid:4,2,1 block:128,1,1 occ_pct:100";
        let (registers, grid, block) = launch_shape(details);
        assert_eq!(registers, Some(16));
        assert_eq!((grid, block), ([Some(4), Some(2), Some(1)], [Some(128), Some(1), Some(1)]));
        assert_eq!(size("kind_src:pageable kind_dst:device size:4096 dest:0 async:1"), Some(4096));
        assert_eq!(launch_shape(""), (None, [None; 3], [None; 3]));
    }

    #[test]
    fn tasks_of_ascend_are_work_or_waits() {
        assert_eq!(of_task("AI_CORE"), Some(Category::Kernel));
        assert_eq!(of_task("MEMCPY_ASYNC"), Some(Category::Memcpy));
        assert_eq!(of_task("EVENT_WAIT"), None);
        assert_eq!(leading_number("20(Compute)"), Some(20));
    }
}
