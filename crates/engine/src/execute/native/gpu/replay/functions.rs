//! What calls of a function do, by its name.

use nsq_sweep::occupancy::IdleKind;

/// What a call does, as far as others wait for it or it for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::execute::native::gpu) enum FunctionKind {
    /// Waits for all that was launched.
    Device,
    /// Waits for a stream.
    Stream,
    /// Waits for an event.
    Event,
    /// Lets a stream wait for an event.
    StreamWait,
    /// Records an event.
    Record,
    /// Copies or fills, and waits for that.
    Blocking,
    /// Frees memory that the GPU may use, so it waits for all that was launched.
    Free,
    /// Allocates, maps or pins.
    Allocation,
    #[default]
    Other,
}

impl FunctionKind {
    /// By the name of the function.
    pub(super) fn of(function: &str) -> Self {
        let has = |word: &str| function.contains(word);
        let waits = has("Synchronize");
        match IdleKind::of_call(function) {
            IdleKind::Sync if waits && has("Stream") => Self::Stream,
            IdleKind::Sync if waits && has("Event") => Self::Event,
            IdleKind::Sync if waits => Self::Device,
            IdleKind::Sync => Self::Blocking,
            _ if has("StreamWaitEvent") => Self::StreamWait,
            _ if has("EventRecord") => Self::Record,
            IdleKind::Allocation if has("Free") && !has("Async") && !has("Host") => Self::Free,
            IdleKind::Allocation => Self::Allocation,
            // HIP has the same names with another prefix.
            _ => match function.strip_prefix("hip") {
                Some(rest) => Self::of(&format!("cuda{rest}")),
                None => Self::Other,
            },
        }
    }

    /// Whether what a graph launches cannot go on over such a call.
    pub(super) fn ends_graph(self) -> bool {
        !matches!(self, Self::Other | Self::Record | Self::StreamWait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_by_their_names() {
        for (name, kind) in [
            ("cudaDeviceSynchronize_v3020", FunctionKind::Device),
            ("cuCtxSynchronize", FunctionKind::Device),
            ("hipStreamSynchronize", FunctionKind::Stream),
            ("cudaEventSynchronize", FunctionKind::Event),
            ("cudaStreamWaitEvent", FunctionKind::StreamWait),
            ("cudaEventRecordWithFlags", FunctionKind::Record),
            ("cudaMemcpyFromSymbol_v3020", FunctionKind::Blocking),
            ("cudaMemcpyAsync", FunctionKind::Other),
            ("cudaFree", FunctionKind::Free),
            ("cudaFreeAsync_v11020", FunctionKind::Allocation),
            ("cudaFreeHost", FunctionKind::Allocation),
            ("cudaLaunchKernel", FunctionKind::Other),
            ("hipLaunchKernel", FunctionKind::Other),
        ] {
            assert_eq!(FunctionKind::of(name), kind, "{name}");
        }
    }
}
