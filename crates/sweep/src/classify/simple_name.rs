//! The simple name of a kernel: its function name alone.

use super::function_name::FunctionName;

/// Suffixes that compilers and loaders append to the name of a function variant.
const VARIANTS: [&str; 8] =
    [".clone", ".cold", ".constprop", ".isra", ".kd", ".llvm", ".lto_priv", ".part"];

/// The function's own name, without return type, namespaces, template arguments, parameters and
/// variants.
///
/// A lambda or a call operator has the name of the enclosing function or class, and a kernel of Kokkos that of its functor,
/// because all of its kernels are few functions. Mangled names, simple
/// names and names that cannot be parsed are returned unchanged.
pub fn simple_name(name: &str) -> &str {
    if name.starts_with("_Z") || name.starts_with('?') {
        return name;
    }
    let is_plain = !name.contains(['(', '<', '[', '{']) && !name.contains("::");
    let own = if is_plain {
        name.strip_prefix("void ").filter(|rest| !rest.is_empty()).unwrap_or(name)
    } else {
        function(name)
    };
    without_variants(own)
}

fn function(name: &str) -> &str {
    if let Some(functor) = functor_of_kokkos(name) {
        return functor;
    }
    let function = FunctionName::of(name);
    match function.scopes.last() {
        Some(enclosing) if is_operator(function.own) => enclosing,
        _ => function.own,
    }
}

/// `void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<ns::Force<4>, …>>(…)` → `Force`.
fn functor_of_kokkos(name: &str) -> Option<&str> {
    let (launcher, rest) = name.split_once('<')?;
    let is_launcher = launcher.contains("Kokkos::Impl::") && launcher.contains("_parallel_launch_");
    let (driver, functor) = rest.split_once('<').filter(|_| is_launcher)?;
    driver.strip_prefix("Kokkos::Impl::Parallel")?;
    let functor = functor.strip_prefix("Kokkos::Impl::CombinedFunctorReducer<").unwrap_or(functor);
    let path = functor.split(['<', ',', '{', '(']).next()?.trim_end_matches(':');
    let path = path.strip_suffix("::operator").unwrap_or(path);
    path.rsplit("::").next().filter(|own| !own.is_empty())
}

fn is_operator(own: &str) -> bool {
    own.strip_prefix("operator")
        .is_some_and(|sign| !sign.contains(|c: char| c.is_alphanumeric() || c == '_'))
}

fn without_variants(own: &str) -> &str {
    let mut rest = own;
    loop {
        // `.constprop.0`: the number counts variants of the same kind.
        let stem = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = stem.strip_suffix('.').filter(|_| stem.len() < rest.len()).unwrap_or(rest);
        let shorter = VARIANTS.iter().find_map(|variant| stem.strip_suffix(variant));
        match shorter.filter(|shorter| !shorter.is_empty()) {
            Some(shorter) => rest = shorter,
            None => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_were_judged_by_hand() {
        let cases = [
            // Examples of the specification.
            (
                "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<4u>, unsigned int, 4, 64, 64>(at::native::(anonymous namespace)::OpaqueType<4u>*, int)",
                "CatArrayBatchedCopy",
            ),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, 1>)",
                "vectorized_elementwise_kernel",
            ),
            (
                "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(long, at::PhiloxCudaState)",
                "distribution_elementwise_grid_stride_kernel",
            ),
            (
                "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>)",
                "indexSelectLargeIndex",
            ),
            ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_SendRecv"),
            (
                "ncclDevKernel_AllGather_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
                "ncclDevKernel_AllGather_RING_LL",
            ),
            ("nvjet_tst_256x256_64x4_2x1_2cta_v_bz_TNT", "nvjet_tst_256x256_64x4_2x1_2cta_v_bz_TNT"),
            (
                "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__tensor0000o1",
                "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__tensor0000o1",
            ),
            // Return types.
            ("int f(int)", "f"),
            ("unsigned long long ns::g<1>(int)", "g"),
            (
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, false>(cublasGemvParamsEx<int>)",
                "kernel",
            ),
            ("std::vector<int> *make<int>(int)", "make"),
            ("decltype(nullptr) ns::null(int)", "null"),
            ("auto ns::trailing<int>(int)", "trailing"),
            ("const float& ns::at(long)", "at"),
            ("void kernel", "kernel"),
            ("__global__ void first(float*)", "first"),
            // Named and anonymous namespaces.
            (
                "<unnamed>::nvfuser_pointwise_f0_c1_r0_g0(<unnamed>::Tensor<float, (int)2>)",
                "nvfuser_pointwise_f0_c1_r0_g0",
            ),
            ("(anonymous namespace)::softmax(float*)", "softmax"),
            (
                "void (anonymous namespace)::elementwise_kernel_with_index<int, f>(int, f)",
                "elementwise_kernel_with_index",
            ),
            ("a::b::c::d()", "d"),
            ("::rooted(int)", "rooted"),
            ("ns::inline_v1::kernel<>()", "kernel"),
            (
                "void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::ParallelForAgent<int>, int>(int)",
                "_kernel_agent",
            ),
            (
                "void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<LAMMPS_NS::PairComputeFunctor<LAMMPS_NS::PairLJCutKokkos<Kokkos::Cuda>, 4>, Kokkos::RangePolicy<Kokkos::Cuda>, Kokkos::Cuda> >(int)",
                "PairComputeFunctor",
            ),
            (
                "void Kokkos::Impl::cuda_parallel_launch_constant_memory<Kokkos::Impl::ParallelReduce<Kokkos::Impl::CombinedFunctorReducer<ns::Temperature, void>, Kokkos::RangePolicy<Kokkos::Cuda>, Kokkos::Cuda> >()",
                "Temperature",
            ),
            (
                "void Kokkos::Impl::hip_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<Solver::step(double)::{lambda(int)#1}, Kokkos::RangePolicy<Kokkos::HIP> > >(int)",
                "step",
            ),
            (
                "void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<(anonymous namespace)::F, int> >(int)",
                "cuda_parallel_launch_local_memory",
            ),
            (
                "void cub::CUB_200200_800_NS::DeviceRadixSortOnesweepKernel<cub::Policy800, false, int>(int*, int)",
                "DeviceRadixSortOnesweepKernel",
            ),
            // Odd template arguments.
            (
                "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4::Params)",
                "Kernel2",
            ),
            (
                "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float>>>>(T3)",
                "reduce_kernel",
            ),
            ("void f<(5 > 3), (a < 4)>(int)", "f"),
            ("void f<(unsigned char)60>(int)", "f"),
            ("void f<&X::operator->>(int)", "f"),
            ("void f<&X::operator()>(int)", "f"),
            ("void f<decltype((x) < (y))>(int)", "f"),
            ("void f<'<'>(int)", "f"),
            ("void Outer<int>::Inner<float>::run<2>(int)", "run"),
            ("kernel<int>", "kernel"),
            // Call operators, other operators, lambdas.
            ("void ns::Functor<int>::operator()<float>(float) const", "Functor"),
            ("ns::Functor::operator()(int)", "Functor"),
            ("bool ns::Less::operator<(ns::Less const&) const", "Less"),
            ("ns::Big::operator==(int)", "Big"),
            ("operator()(int)", "operator"),
            ("main::{lambda(int)#1}::operator()(int) const", "main"),
            ("main::[lambda(int) (instance 1)]::operator()(int) const", "main"),
            ("void ns::launch(int)::{lambda()#1}::operator()() const", "launch"),
            ("ns::launch<int>::{lambda()#2}::operator()() const::{lambda(float)#1}", "launch"),
            ("my_operator(int)", "my_operator"),
            ("operators::run(int)", "run"),
            // Variants and qualifiers.
            ("void work<int>(int*) [clone .constprop.0]", "work"),
            ("work.constprop.0", "work"),
            ("ns::work.isra.0.constprop.12(int)", "work"),
            ("work.cold", "work"),
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x64x32.kd", "Cijk_Ailk_Bljk_HHS_BH_MT128x64x32"),
            (".kd", ".kd"),
            ("v2.5", "v2.5"),
            ("void kernel<T>(int) [with T = ncclDevKernel_AllReduce]", "kernel"),
            ("foo[abi:cxx11](int)", "foo"),
            ("ns::f(int) const &", "f"),
            // Other languages and plain names.
            (
                "gpu_calc_volume_integral!(CompilerMetadata<StaticSize<(4,)>>, Array)",
                "gpu_calc_volume_integral!",
            ),
            ("julia_#kernel#12(Int64)", "julia_#kernel#12"),
            ("triton_poi_fused__to_copy_add_0", "triton_poi_fused__to_copy_add_0"),
            ("__amd_rocclr_fillBufferAligned", "__amd_rocclr_fillBufferAligned"),
            ("two words", "two words"),
            ("größe<int>(x)", "größe"),
            ("größe", "größe"),
            // Mangled.
            (
                "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi256EEEvPT0_",
                "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi256EEEvPT0_",
            ),
            ("_Z4gemmIfEvPKT_.kd", "_Z4gemmIfEvPKT_.kd"),
            ("?kernel@@YAXPEAM@Z", "?kernel@@YAXPEAM@Z"),
            // Names that cannot be parsed.
            ("", ""),
            ("(((", "((("),
            ("f<<<", "f"),
            (">>>", ">>>"),
            ("f(int", "f"),
            ("f)>(", "f"),
            ("::", "::"),
        ];
        for (name, expected) in cases {
            assert_eq!(simple_name(name), expected, "{name}");
        }
    }

    #[test]
    fn a_simple_name_is_its_own_simple_name() {
        let pieces = [
            "a", "::", "<", ">", "(", ")", "{", "}", "[", "]", " ", "operator", "void", ".kd", "é",
            "_Z", "-", "!",
        ];
        let mut seed = 11u64;
        for _ in 0..20_000 {
            let mut name = String::new();
            for _ in 0..(seed >> 40) % 12 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                name.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let once = simple_name(&name);
            assert_eq!(simple_name(once), once, "{name}");
            assert!(name.is_empty() || !once.is_empty(), "{name}");
        }
    }

    #[test]
    fn long_hostile_names_are_fast() {
        for piece in ["(", "<", "[(", "a::", ".kd", ".cold.0", "operator"] {
            simple_name(&piece.repeat(200_000));
        }
    }
}
