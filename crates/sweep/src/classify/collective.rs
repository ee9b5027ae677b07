//! Recognizes communication between GPUs by a grammar of kernel names.

use super::function_name::FunctionName;

/// The kind of work that a GPU operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Activity {
    /// A kernel that computes.
    Compute,
    /// A kernel that moves data between GPUs or waits for another GPU.
    Communication,
    /// A copy or fill that needs no kernel.
    Memory,
}

impl Activity {
    /// `compute`, `communication` or `memory`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communication => "communication",
            Self::Memory => "memory",
        }
    }

    /// The inverse of [`Activity::as_str`].
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Compute, Self::Communication, Self::Memory]
            .into_iter()
            .find(|known| known.as_str() == name)
    }
}

/// The activity of a GPU operation, by its name as in the column `op_name` of the relation `gpu_op`.
pub fn activity(op_name: &str) -> Activity {
    if is_memory(op_name) {
        Activity::Memory
    } else if collective(op_name).is_some() {
        Activity::Communication
    } else {
        Activity::Compute
    }
}

/// The operation is a copy or fill: `[CUDA memcpy Host-to-Device]`, `[CUDA memset]`. No kernel name
/// starts this way.
fn is_memory(op_name: &str) -> bool {
    op_name.starts_with("[CUDA mem") || op_name.starts_with("[CUDA Unified Memory")
}

/// Collectives, with their spellings in normalized names (see [`normalized`]).
///
/// The first match wins, so `Reduce` comes after `AllReduce` and `ReduceScatter`, which contain it.
const COLLECTIVES: [(&str, &[&str]); 11] = [
    ("ReduceScatter", &["reducescatter"]),
    ("AllReduce", &["allreduce", "crossdevicereduce"]),
    ("AllGather", &["allgather", "fcollect"]),
    ("AllToAll", &["alltoall"]),
    ("SendRecv", &["sendrecv", "pushrecv", "pullsend"]),
    ("Broadcast", &["broadcast"]),
    ("Barrier", &["barrier"]),
    ("Generic", &["generic"]),
    ("Gather", &["gather"]),
    ("Scatter", &["scatter"]),
    ("Reduce", &["reduce", "rdxn"]),
];

/// A communication kernel whose collective is not known.
const UNKNOWN: &str = "unknown";

/// The collective operation that a kernel of this name performs; `None` if the kernel does not
/// communicate.
///
/// `Generic` is NCCL's kernel for operations that have no kernel of their own. Only the function's own
/// name counts: `nccl` in a parameter, a template argument or a namespace does not make it
/// communication.
pub fn collective(op_name: &str) -> Option<&'static str> {
    if is_memory(op_name) {
        return None;
    }
    let function = FunctionName::of(op_name);
    nccl(function.own).or_else(|| other_library(&function)).or_else(|| framework(function.own))
}

/// Kernels of all versions of NCCL and RCCL.
fn nccl(own: &str) -> Option<&'static str> {
    let rest = own.strip_prefix("nccl").or_else(|| own.strip_prefix("rccl"))?;
    // NCCL 2.8 and later: ncclKernel_AllReduce_…, ncclDevKernel_…, ncclDevKernelDebug_…,
    // ncclSymkDevKernel_….
    for symmetric in ["", "Symmetric", "Symk", "Sym"] {
        for device in ["Dev", ""] {
            let Some(rest) = rest.strip_prefix(symmetric).and_then(|rest| rest.strip_prefix(device))
            else {
                continue;
            };
            let Some(rest) = rest.strip_prefix("Kernel") else { continue };
            let variant =
                rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
            if let Some(operation) = rest[variant..].strip_prefix('_') {
                return Some(find_collective(&normalized(operation), true));
            }
        }
    }
    // Symmetric kernels under other names, and RCCL's generic kernel.
    if rest.starts_with("Symk") || rest.starts_with("GenericKernel") {
        return Some(find_collective(&normalized(rest), false));
    }
    // NCCL before 2.8: ncclAllReduceRingLLKernel_sum_f32.
    let (operation, _) = rest.split_once("Kernel_")?;
    let operation = normalized(operation);
    Some(find_collective(&operation, true)).filter(|name| *name != UNKNOWN)
}

/// Kernels of other communication libraries. Their function names are common words, so the namespace or
/// a prefix identifies the library.
fn other_library(function: &FunctionName<'_>) -> Option<&'static str> {
    let own = normalized(function.own);
    if function.is_in("deep_ep") {
        let moves = ["dispatch", "combine", "notify", "cachednotify", "cleanlowlatency", "barrier"];
        // `get_dispatch_layout` is absent: it computes the layout before any data moves.
        return moves.iter().any(|begin| own.starts_with(begin)).then_some(match own.as_str() {
            "barrier" => "Barrier",
            _ => "AllToAll",
        });
    }
    let is_library = function.is_in("mscclpp")
        || own.starts_with("msccl")
        || own.starts_with("nvshmem")
        || own.starts_with("userbuffers")
        || own.starts_with("kuserbuffers");
    // MORI's kernels: EpDispatchInterNodeV1Kernel.
    let moves_experts = own.starts_with("epdispatch") || own.starts_with("epcombine");
    if moves_experts && own.contains("node") && own.contains("kernel") {
        return Some("AllToAll");
    }
    // Collectives of NVSHMEM that run on a stream.
    let is_on_stream = own.contains("onstreamkernel");
    match find_collective(&own, false) {
        UNKNOWN if own.starts_with("userbuffers") && own.contains("sum") => Some("AllReduce"),
        name if is_library || (is_on_stream && name != UNKNOWN) => Some(name),
        _ => None,
    }
}

/// Collectives that frameworks implement themselves, recognized by the function name alone.
fn framework(own: &str) -> Option<&'static str> {
    // Inductor names a fused kernel after all operations of the surrounding graph, collectives too.
    if own.starts_with("triton_") {
        return None;
    }
    let own = normalized(own);
    let is_within_gpu =
        |prefix: &str| own.contains(&format!("{prefix}all")) || own.contains(&format!("{prefix}reduce"));
    if ["block", "warp", "cta", "thread", "wave"].into_iter().any(is_within_gpu) {
        return None;
    }
    let name = find_collective(&own, false);
    let is_distinct = matches!(name, "ReduceScatter" | "AllReduce" | "AllGather" | "AllToAll");
    // Symmetric memory of PyTorch, and the exchange of tokens between experts in TensorRT-LLM.
    let is_multimem = own.starts_with("multimem");
    let is_exchange = own.starts_with("moea2a") || own.starts_with("moealltoall");
    match name {
        _ if is_exchange => Some("AllToAll"),
        name if is_distinct || is_multimem => Some(name),
        _ => None,
    }
}

/// The collective that a normalized name contains, or starts with if `at_start`.
fn find_collective(name: &str, at_start: bool) -> &'static str {
    let is_named = |spelling: &&str| match at_start {
        true => name.starts_with(*spelling),
        false => name.contains(*spelling),
    };
    COLLECTIVES
        .into_iter()
        .find(|(_, spellings)| spellings.iter().any(is_named))
        .map_or(UNKNOWN, |(name, _)| name)
}

/// The name in lower case without underscores, so `all_reduce`, `AllReduce` and `allreduce` are equal.
fn normalized(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_own_name_decides_what_is_communication() {
        let cases = [
            // NCCL, oldest version first.
            ("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", Some("AllReduce")),
            ("ncclReduceScatterTreeLLKernel_sum_f16(ncclColl)", Some("ReduceScatter")),
            ("ncclSendRecvKernel_copy_i8(ncclColl)", Some("SendRecv")),
            (
                "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
                Some("SendRecv"),
            ),
            (
                "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
                Some("AllReduce"),
            ),
            ("ncclKernel_Reduce_RING_LL_Sum_float(ncclDevComm*)", Some("Reduce")),
            (
                "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                Some("AllGather"),
            ),
            (
                "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                Some("ReduceScatter"),
            ),
            ("ncclDevKernel_Broadcast_RING_LL", Some("Broadcast")),
            ("ncclDevKernel_SendRecv", Some("SendRecv")),
            ("ncclDevKernel_AlltoAll_PIVOT(x)", Some("AllToAll")),
            ("ncclDevKernel_Nop(x)", Some("unknown")),
            ("ncclSymDevKernel_AllReduce_AGxLL_R_sum_f32(ncclSymDevArgs)", Some("AllReduce")),
            (
                "ncclSymkDevKernel_ReduceScatter_LDMC_sum_bf16(ncclSymkDevWorkArgs4K)",
                Some("ReduceScatter"),
            ),
            ("ncclSymkKernel_AllGather_STMC(x)", Some("AllGather")),
            ("ncclSymmetricKernel_AllGather_ST(x)", Some("AllGather")),
            ("ncclSymkSomething_AllGather_LL(x)", Some("AllGather")),
            (
                "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
                Some("AllReduce"),
            ),
            ("void ncclDevKernel_AllReduce_Sum_f32_RING_LL<float>(int, float *)", Some("AllReduce")),
            // RCCL.
            ("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", Some("Generic")),
            ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", Some("Generic")),
            ("ncclDevKernelDebug_Generic(ncclDevKernelArgsStorage<4096ul>)", Some("Generic")),
            ("rcclGenericKernel_4(x)", Some("Generic")),
            ("mscclKernel_Sum_half_LL_false(x)", Some("unknown")),
            // Other libraries and frameworks.
            (
                "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
                Some("AllReduce"),
            ),
            ("void sglang::cross_device_reduce_2stage<__half, 4>(sglang::RankData*)", Some("AllReduce")),
            (
                "void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8>(AllReduceParams)",
                Some("AllReduce"),
            ),
            (
                "void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_oneshot_lamport<1>(x)",
                Some("AllReduce"),
            ),
            (
                "void flashinfer::trtllm_allreduce::one_shot_all_reduce_norm_kernel<half>(x)",
                Some("AllReduce"),
            ),
            ("void userbuffers_fp16_sum_inplace_gpu_mc<8>(int)", Some("AllReduce")),
            ("kuserbuffers_pushrecv(int, int)", Some("SendRecv")),
            (
                "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16>(c10::BFloat16**)",
                Some("AllReduce"),
            ),
            ("void (anonymous namespace)::multimem_all_gather_kernel<16>(char*)", Some("AllGather")),
            ("void multimem_one_shot_reduce_kernel<float>(float*)", Some("Reduce")),
            ("void mscclpp::executionKernel<__half, mscclpp::LL8Packet>(int)", Some("unknown")),
            ("void mscclpp::allreduce7<float>(float*)", Some("AllReduce")),
            ("void deep_ep::internode_ll::dispatch<true, 3>(void*)", Some("AllToAll")),
            ("void deep_ep::intranode::combine<float, 8>(float*)", Some("AllToAll")),
            ("void deep_ep::intranode::barrier<8>(int**)", Some("Barrier")),
            ("nvshmemi_proxy_quiet_entrypoint()", Some("unknown")),
            ("barrier_all_on_stream_kernel(int)", Some("Barrier")),
            ("barrier_on_stream_kernel_threadgroup(nvshmemi_team_t *)", Some("Barrier")),
            ("EpDispatchInterNodeV1Kernel_bf16", Some("AllToAll")),
            ("void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<8>(x)", Some("AllToAll")),
            // Compute kernels whose names mention communication.
            ("void my_kernel<ncclDevKernel_AllReduce>(ncclComm*)", None),
            ("void ncclFoo<int>(x)", None),
            ("my_ns::ncclThing_x(x)", None),
            ("void nccl_tests::initData<float>(float*)", None),
            ("check_buffers(ncclDevKernelArgsStorage<(unsigned long)4096>)", None),
            ("ncclKernelTimer(int)", None),
            ("void deep_ep::layout::get_dispatch_layout<256>(x)", None),
            ("void dispatch<int>(int*)", None),
            ("EpDispatchKernel(int)", None),
            ("void moe::combine(int*)", None),
            ("void BlockAllReduceKernel<float>(float*)", None),
            ("warp_all_reduce_sum(float*)", None),
            ("triton_poi_fused_all_gather_into_tensor_wait_tensor_0", None),
            ("triton_red_fused_all_reduce_sum_2", None),
            ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(T3)", None),
            ("void at::native::vectorized_gather_kernel<16, long>(char*)", None),
            ("void cub::DeviceReduceKernel<AllReducePolicy>(int)", None),
            ("[CUDA memcpy Peer-to-Peer]", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(collective(name), expected, "{name}");
            let expected = if expected.is_some() { Activity::Communication } else { activity(name) };
            assert_eq!(activity(name), expected, "{name}");
        }
    }

    #[test]
    fn copies_and_fills_are_memory() {
        for name in ["[CUDA memcpy Host-to-Device]", "[CUDA memcpy DtoD]", "[CUDA memset]"] {
            assert_eq!(activity(name), Activity::Memory);
        }
        assert_eq!(activity("memcpy_kernel(int*)"), Activity::Compute);
        assert_eq!(Activity::from_name("memory"), Some(Activity::Memory));
        assert_eq!(Activity::from_name("idle"), None);
    }
}
