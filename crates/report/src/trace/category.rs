//! The categories of events, and what becomes of each.

/// NVTX event types: a push/pop range, and the creation of a domain.
pub(super) const PUSHED: i64 = 59;

pub(super) const DOMAIN: i64 = 75;

/// Priority of a thread name given by the profiler, not by the program or the system.
pub(super) const NAMED_BY_PROFILER: i64 = 10;

/// nsys event classes: an API call of the CUDA runtime, and one of the driver.
pub(super) const RUNTIME: i64 = 0;

pub(super) const DRIVER: i64 = 1;

/// The kind of an event, from its category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    Kernel,
    Memcpy,
    Memset,
    Call {
        class: i64,
    },
    Sync,
    Overhead,
    Range(Domain),
    /// A call of a Python function.
    Frame,
    /// An allocation or release by PyTorch's allocator.
    Memory,
    /// The profiler's own span.
    Profiler,
    /// Everything that is not imported.
    Other,
}

/// The domain of a range, named after its Kineto category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Domain {
    UserAnnotation = 1,
    CpuOp = 2,
}

impl Domain {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::UserAnnotation => "user_annotation",
            Self::CpuOp => "cpu_op",
        }
    }
}

impl Category {
    /// Whether its events are operations of a GPU.
    pub(super) fn is_gpu_work(self) -> bool {
        matches!(self, Self::Kernel | Self::Memcpy | Self::Memset)
    }

    /// Whether its events may not have ended when the profiler stopped.
    pub(super) fn can_be_open(self) -> bool {
        matches!(self, Self::Range(_) | Self::Call { .. } | Self::Frame)
    }

    /// Whether its times say how long the trace is.
    pub(super) fn spans(self) -> bool {
        !matches!(self, Self::Frame | Self::Memory)
    }

    /// Maps a Kineto category. Before PyTorch 1.12, some began with a capital letter.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "kernel" | "Kernel" => Self::Kernel,
            "gpu_memcpy" | "Memcpy" => Self::Memcpy,
            "gpu_memset" | "Memset" => Self::Memset,
            "cuda_sync" => Self::Sync,
            "cpu_op" | "Operator" => Self::Range(Domain::CpuOp),
            "user_annotation" => Self::Range(Domain::UserAnnotation),
            // ONNX Runtime: a session runs nodes.
            "Session" => Self::Range(Domain::UserAnnotation),
            "Node" => Self::Range(Domain::CpuOp),
            "python_function" => Self::Frame,
            "overhead" => Self::Overhead,
            "Trace" => Self::Profiler,
            "Runtime" => Self::Call { class: RUNTIME },
            name if name.ends_with("_runtime") => Self::Call { class: RUNTIME },
            name if name.ends_with("_driver") => Self::Call { class: DRIVER },
            _ => Self::Other,
        }
    }
}
