//! Class maps: the built-in maps on known kernel names, on real exports, and compared with the seed
//! tools.

use crate::support::{Fixtures, nsq, outcome, shared, stdout};
use nsq::catalog::{Catalog, ClassMapSource};
use nsq::classify::{ClassMap, Pattern};
use std::path::Path;
use std::process::Command;

/// The number of rules in each map taken from a seed tool, counted by hand.
const RULES: [(&str, usize); 13] = [
    ("class_summary/llama2", 6),
    ("class_summary/paxml", 17),
    ("sglang/diffusion", 10),
    ("sglang/ds", 17),
    ("sglang/gpt-oss", 17),
    ("sglang/llama", 17),
    ("sglang/zimage", 25),
    ("trtllm/ds", 17),
    ("trtllm/gpt-oss", 18),
    ("trtllm/llama", 17),
    ("vllm/ds", 19),
    ("vllm/gpt-oss", 18),
    ("vllm/llama", 16),
];

fn built_in(name: &str) -> ClassMapSource {
    Catalog::load(&nsq::BUILT_IN, &[]).unwrap().classes().map(name).unwrap()
}

fn compiled(name: &str) -> ClassMap {
    built_in(name).compile().unwrap()
}

#[test]
fn every_built_in_map_is_complete_and_compiles() {
    let names = Catalog::load(&nsq::BUILT_IN, &[]).unwrap().classes().names();
    let expected: Vec<&str> = RULES.iter().map(|(name, _)| *name).chain(["default"]).collect();
    assert_eq!(names.len(), expected.len(), "{names:?}");
    assert!(expected.iter().all(|name| names.iter().any(|known| known == name)), "{names:?}");
    for (name, rules) in RULES {
        assert_eq!(built_in(name).rules.len(), rules, "{name}");
    }
    for name in names {
        let map = built_in(&name);
        assert!(!map.doc.is_empty() && map.duplicates.is_empty(), "{name}: {:?}", map.duplicates);
        map.compile().unwrap();
    }
    let default = built_in("default");
    assert!(default.rules.len() < 100);
    for rule in &default.rules {
        assert!(rule.why.ends_with('.'), "{}:{}: {}", rule.file, rule.line, rule.rule.pattern);
    }
}

/// The pairs "`pattern`→class" of a text, in order.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for (at, _) in text.match_indices("`→") {
        let pattern = text[..at].rsplit('`').next().unwrap();
        let behind = &text[at + "`→".len()..];
        let is_class = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let class: String = behind.chars().take_while(|c| is_class(*c)).collect();
        pairs.push((pattern.to_owned(), class));
    }
    pairs
}

fn pairs_of(map: &ClassMapSource) -> Vec<(String, String)> {
    map.rules.iter().map(|rule| (rule.rule.pattern.to_string(), rule.rule.class.clone())).collect()
}

#[test]
fn the_seed_tools_maps_match_the_specification() {
    let Some(shared) = shared() else { return };
    let spec = std::fs::read_to_string(shared.join("spec/seeds.md")).unwrap();
    let section = spec.split("### Default maps").nth(1).unwrap().split("### nsq should").next().unwrap();
    let tail = pairs(section.split("(omitted below").next().unwrap());
    assert_eq!(tail.len(), 2);
    let moe_gemm = pairs_of(&built_in("vllm/gpt-oss"))[1].clone();
    let mut seen = 0;
    for line in section.lines() {
        let Some((title, rest)) = line.strip_prefix("**").and_then(|rest| rest.split_once("**")) else {
            continue;
        };
        let Some((engine, model)) = title.split_once(" / ") else { continue };
        seen += 1;
        let (head, body) = rest.split_once(':').unwrap();
        let body = body.replace("verbatim]", "]").replace(", ]", "]");
        let body = body.replace("[the vllm gpt-oss moe_gemm regex]", &format!("`{}`", moe_gemm.0));
        let body = body.replace("[vllm gpt-oss moe_gemm regex]", &format!("`{}`", moe_gemm.0));
        let mut expected = pairs(&body);
        match pairs(head) {
            own_tail if !own_tail.is_empty() => expected.extend(own_tail),
            _ => {
                if head.contains('†') {
                    expected.push(("triton".to_owned(), "triton_kernel".to_owned()));
                }
                expected.extend(tail.iter().cloned());
            }
        }
        assert_eq!(pairs_of(&built_in(&format!("{engine}/{model}"))), expected, "{title}");
    }
    assert_eq!(seen, 11);
    let llama2 = spec.lines().find(|line| line.contains("The map behind the llama2 example")).unwrap();
    let llama2: Vec<_> = pairs(&llama2.replace(", `", "`, `"));
    assert_eq!(pairs_of(&built_in("class_summary/llama2"))[1..], llama2);
}

/// Compares with the categories that gputrc2graph itself wrote for real exports.
#[test]
fn categories_match_gputrc2graph() {
    let Some(shared) = shared() else { return };
    let map = compiled("vllm/llama");
    let mut compared = 0;
    for entry in std::fs::read_dir(shared.join("reference/gputrc2graph")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "csv") {
            continue;
        }
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let headers = reader.headers().unwrap().clone();
        let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
        let (category, name) = (column("Category"), column("Name"));
        for row in reader.records() {
            let row = row.unwrap();
            if &row[name] == "CPU(non-GPU)" {
                continue;
            }
            assert_eq!(map.classify(&row[name]).class, &row[category], "{}", &row[name]);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// Common kernel names and their classes, assigned by hand for every rule.
const KNOWN: &[(&str, &str)] = &[
    (
        "gemm",
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, cutlass::gemm::collective::CollectiveMma<int>>>(T1::Params)",
    ),
    (
        "gemm",
        "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_tn_align8>(T1::Params)",
    ),
    ("gemm", "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn"),
    ("gemm", "volta_sgemm_128x64_nn"),
    ("gemm", "turing_h1688gemm_256x64_ldg8_nn"),
    ("gemm", "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64"),
    ("gemm", "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT"),
    ("gemm", "nvjet_sm100_tst_256x128_64x6_2x1_2cta_v_bz_TNT"),
    (
        "gemm",
        "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false>(int)",
    ),
    ("gemm", "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true>(int)"),
    (
        "gemm",
        "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, float>(int)",
    ),
    ("gemm", "void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, __half, true>(int)"),
    (
        "moe",
        "bmm_E4m3_E2m1E2m1_Fp32_t128x8x512u2_s6_et128x8_m128x8x64_cga1x1x1_16dp256b_rM_TN_transOut_noShflA_dsFp8_schPd2x1x2x3_bN_ldgsts_tmaOpt_clmp_swiGlu_dynBatch_sm100f",
    ),
    ("gemm", "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u, 2048u>(float*)"),
    ("gemm", "_w8a8_block_fp8_matmul"),
    ("gemm", "matmul_kernel"),
    ("gemm", "void marlin::Marlin<__half, 256, 1, 8, 8>(int4 const*)"),
    ("gemm", "void vllm::awq_dequantize_gemm_forward_4bit_cuda_m16nXk32<128>(int)"),
    ("gemm", "Cijk_Ailk_Bjlk_HHS_BH_MT128x128x32_MI32x32x8x1"),
    ("gemm", "void kgemm_4bit_inference_naive<__half, 128, 16>(int)"),
    ("gemm", "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl>(int)"),
    (
        "convolution",
        "sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32",
    ),
    ("convolution", "cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1"),
    ("convolution", "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(int)"),
    ("convolution", "void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, float>(int)"),
    (
        "convolution",
        "void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<1, float, int>(int)",
    ),
    ("convolution", "void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, false>(int)"),
    ("convolution", "void explicit_convolve_sgemm<float, int, 128, 5>(int)"),
    ("convolution", "void im2col4d_kernel<float, long>(int)"),
    (
        "attention",
        "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 64, 4>>(Flash_fwd_params)",
    ),
    (
        "attention",
        "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2>>>>(int)",
    ),
    ("attention", "void flash::prepare_varlen_num_blocks_kernel<1, false>(int)"),
    (
        "attention",
        "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<int>::Params)",
    ),
    ("attention", "void fmha_v2_flash_attention_bf16_64_32_S_q_paged_kv_128_causal_sm80_kernel_nl(int)"),
    (
        "attention",
        "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64VarSeqQ128Kv128PersistentContext",
    ),
    (
        "attention",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0",
    ),
    (
        "attention",
        "void attention_kernel_batched_impl<AttentionKernel<float, cutlass::arch::Sm80, true, 64, 64, 128, true, true>>(int)",
    ),
    (
        "attention",
        "void vllm::paged_attention_v2_kernel<unsigned short, unsigned char, 128, 16, 128, (vllm::Fp8KVCacheDataType)1, false, 512>(int)",
    ),
    (
        "attention",
        "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 4u>(int)",
    ),
    ("attention", "void flashinfer::PrefillWithKVCacheKernel<flashinfer::CollectiveMainloop<int>>(int)"),
    (
        "attention",
        "void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u, 8u, 4u, __nv_bfloat16>(int)",
    ),
    ("attention", "void mmha::masked_multihead_attention_kernel<unsigned short, 128>(int)"),
    ("attention", "kernel_unified_attention_2d"),
    ("attention", "_fwd_grouped_kernel_stage1"),
    ("attention", "_attn_fwd"),
    ("attention", "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<int>(Flash_bwd_params)"),
    ("attention", "void sm90::flash_fwd_splitkv_mla_kernel<int>(int)"),
    (
        "kv_cache",
        "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(int)",
    ),
    ("kv_cache", "void vllm::concat_and_cache_mla_kernel<__nv_bfloat16>(int)"),
    ("kv_cache", "void flashinfer::AppendPagedKVCacheKernel<128u, 8u>(int)"),
    ("rope", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(int)"),
    ("rope", "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<true, 128u>(int)"),
    ("rope", "void transformer_engine::fused_rope_forward_kernel<float>(int)"),
    ("moe", "fused_moe_kernel"),
    ("moe", "void vllm::moe::topkGatingSoftmax<4, 64, 4, 16>(int)"),
    ("moe", "void vllm::moe::moe_align_block_size_kernel<int, int>(int)"),
    ("moe", "void tensorrt_llm::kernels::fusedBuildExpertMapsSortFirstTokenKernel<256>(int)"),
    ("moe", "void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<__half>(int)"),
    ("moe", "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x256x64x1_swiglu"),
    ("norm", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)"),
    ("norm", "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(int)"),
    ("norm", "void vllm::rms_norm_static_fp8_quant_kernel<c10::BFloat16>(int)"),
    ("norm", "void transformer_engine::normalization::ln_fwd_tuned_kernel<int>(int)"),
    ("norm", "void transformer_engine::normalization::rmsnorm_bwd_finalize_tuned_kernel<int>(int)"),
    ("norm", "void at::native::batch_norm_collect_statistics_kernel<int>(int)"),
    ("norm", "_layer_norm_fwd_1pass_kernel"),
    ("norm", "void cuApplyLayerNorm<float, float, float>(int)"),
    ("norm", "void cudnn::batchnorm_fwtr_nhwc_semiPersist<__half2, 512>(int)"),
    ("norm", "void at::native::(anonymous namespace)::cuComputePartGradGammaBeta<float>(int)"),
    (
        "softmax",
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, true>(int)",
    ),
    (
        "loss",
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(int)",
    ),
    (
        "loss",
        "void <unnamed>::softmax_warp_backward<float, float, float, (int)6, (bool)1, (bool)0>(int)",
    ),
    (
        "loss",
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(int)",
    ),
    ("softmax", "void scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, 11>(int)"),
    ("softmax", "void cudnn::ops::softmax_fw_kernel<2, float, float>(int)"),
    (
        "loss",
        "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(int)",
    ),
    ("loss", "liger_cross_entropy_kernel"),
    (
        "loss",
        "void at::native::vectorized_elementwise_kernel<4, at::native::mse_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}>(int)",
    ),
    (
        "optimizer",
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>>(int)",
    ),
    (
        "optimizer",
        "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, float, int>, float, float>(int)",
    ),
    (
        "optimizer",
        "void multi_tensor_apply_kernel<TensorListMetadata<1>, L2NormFunctor<float>, float*>(int)",
    ),
    ("optimizer", "void kOptimizerStatic8bit2StateBlockwise<__half, 0, 256, 1>(int)"),
    ("optimizer", "void adam_cuda_kernel<float, float>(int)"),
    ("optimizer", "void cuda_lamb_step_kernel<float>(int)"),
    (
        "embedding",
        "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, long>(int)",
    ),
    (
        "embedding",
        "void at::native::(anonymous namespace)::EmbeddingBag_updateOutputKernel_sum_mean<float, long>(int)",
    ),
    (
        "embedding",
        "void at::native::(anonymous namespace)::indexSelectSmallIndex<float, long, unsigned int, 2, 2, -2>(int)",
    ),
    (
        "embedding",
        "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(int)",
    ),
    (
        "index",
        "void at::native::(anonymous namespace)::indexSelectLargeIndex<long, long, unsigned int, 1, 1, -2, true>(int)",
    ),
    (
        "index",
        "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_put_kernel_impl<at::native::OpaqueType<2>>>>(int)",
    ),
    ("index", "void at::native::vectorized_gather_kernel<16, long>(int)"),
    ("quantization", "void vllm::scaled_fp8_quant_kernel_strided_dynamic<c10::BFloat16>(int)"),
    ("quantization", "void per_token_group_quant_8bit_kernel<c10::BFloat16, c10::Float8_e4m3fn>(int)"),
    ("quantization", "void transformer_engine::detail::cast_transpose_fused_kernel<true, false>(int)"),
    (
        "quantization",
        "void tensorrt_llm::kernels::quantize_with_block_size<(tensorrt_llm::BlockScaleQuantizationType)0, __nv_bfloat16>(int)",
    ),
    ("quantization", "void vllm::cvt_fp16_to_fp4<__nv_bfloat16, false>(int)"),
    (
        "activation",
        "void vllm::act_and_mul_kernel<c10::BFloat16, &(vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(int)",
    ),
    (
        "activation",
        "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}>(int)",
    ),
    (
        "activation",
        "void at::native::elementwise_kernel<128, 4, at::native::leaky_relu_kernel(at::TensorIteratorBase&, c10::Scalar const&)::{lambda()#1}>(int)",
    ),
    ("activation", "_swiglu_fwd_kernel"),
    (
        "sampling",
        "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, (cub::BlockScanAlgorithm)1>(int)",
    ),
    ("sampling", "void vllm::apply_repetition_penalties_kernel<float>(int)"),
    ("sort", "void at::native::sbtopk::gatherTopK<float, unsigned int, 1, false>(int)"),
    (
        "sort",
        "void at::native::mbtopk::radixFindKthValues<float, unsigned int, unsigned int, 4, 1>(int)",
    ),
    (
        "sort",
        "void at::native::bitonicSortKVInPlace<2, -1, 16, 16, float, long, at::native::GTOp<float, true>, unsigned int>(int)",
    ),
    ("sort", "void cub::DeviceSelectSweepKernel<int>(int)"),
    ("scan", "void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float>>(int)"),
    (
        "random",
        "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, int>(int)",
    ),
    (
        "random",
        "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, bool>(int)",
    ),
    ("pooling", "void at::native::(anonymous namespace)::avg_pool2d_out_cuda_frame<float, float>(int)"),
    ("resample", "void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<float>(int)"),
    ("copy", "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<int>(int)"),
    (
        "copy",
        "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>(int)",
    ),
    (
        "copy",
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, int>(int)",
    ),
    ("copy", "void at::native::triu_tril_kernel<float, int, true, 1, false>(int)"),
    ("copy", "__amd_rocclr_copyBuffer"),
    (
        "reduction",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4>>(int)",
    ),
    ("reduction", "void cub::DeviceReduceSingleTileKernel<int>(int)"),
    (
        "elementwise",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, int>(int)",
    ),
    (
        "elementwise",
        "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)#2}>(int)",
    ),
    (
        "elementwise",
        "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<bool, bool, bool, at::native::binary_internal::logical_or>>>(int)",
    ),
    ("elementwise", "add_kernel"),
    ("triton", "triton_poi_fused__softmax_add_native_layer_norm_3"),
    ("triton", "triton_red_fused__to_copy_cross_entropy_mm_12"),
    ("triton", "triton_per_fused_all_reduce_add_rms_norm_0"),
    ("softmax", "triton_per_fused__softmax_7"),
    ("softmax", "triton_red_fused__softmax_backward_data__to_copy_add_div_mul_12"),
    ("norm", "triton_red_fused_native_layer_norm_5"),
    ("norm", "triton_per_fused_add_native_layer_norm_native_layer_norm_backward_3"),
    ("norm", "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_4"),
    ("triton", "triton_per_fused_mean_pow_sub_4"),
    (
        "gemm",
        "bmm_Bfloat16_E4m3E4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_transOut_bN_tmaOpt_clmp_sm100f",
    ),
    ("gemm", "triton_tem_fused_addmm_relu_5"),
    ("attention", "triton_tem_fused_flex_attention_2"),
    ("xla", "loop_add_fusion_12"),
    ("xla", "fusion_7"),
    ("xla", "input_multiply_reduce_fusion"),
    ("xla", "wrapped_convert"),
    ("gemm", "gemm_fusion_dot_12_0"),
    ("nvfuser", "void (anonymous namespace)::nvfuser_inner_persistent_f0_c1_r0_g0(int)"),
    (
        "ssm",
        "void selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits<32, 4, 1, true>>(SSMParamsBase)",
    ),
    ("ssm", "_chunk_scan_fwd_kernel"),
    ("attention", "chunk_gated_delta_rule_fwd_kernel_h_blockdim64"),
    ("fft", "void regular_fft<1024u, EPT<8u>, 16u, 8u>(int)"),
    ("fft", "void vector_fft<128u, 8u, 8u>(int)"),
    ("memcpy", "[CUDA memcpy Host-to-Device]"),
    ("memset", "[CUDA memset]"),
    ("cuda_graph", "[CUDA graph]"),
    ("others", "my_stencil(double*, int)"),
    ("others", "void jacobi_kernel<double>(double*)"),
    ("others", "lbm_collide(float*)"),
    ("others", "void europe_update(float*)"),
    ("others", "normalize_rows(float*)"),
    ("others", "computeForces(float4*)"),
    ("others", "bfs_kernel(Node*, int*)"),
    ("others", "nbody_integrate(float4*)"),
    ("others", "hotspot_step(float*)"),
    ("others", "void spmv_csr<float>(int*)"),
    ("others", "calculate_temp(int, float*)"),
    ("others", "md5_hash(unsigned char*)"),
    ("others", "gaussian_blur(float*)"),
    ("others", "madam_step(int)"),
    ("others", "lambda_update(int)"),
    ("others", "raytrace_scene(Scene)"),
];

#[test]
fn known_names_get_their_class() {
    let map = compiled("default");
    for (class, name) in KNOWN {
        let found = map.classify(name);
        assert_eq!(found.class, *class, "{name} by {:?}", found.rule.map(|rule| &rule.pattern));
    }
    // Every class of the map has a name in KNOWN.
    for rule in built_in("default").rules.iter().map(|rule| &rule.rule) {
        let is_known = KNOWN.iter().any(|(class, _)| *class == rule.class);
        assert!(is_known || rule.class == "communication" || rule.class == "batching", "{}", rule.class);
        assert!(!matches!(rule.pattern, Pattern::Substring(_)));
    }
}

/// Whether an export is of a deep learning program. For the rest, class `others` is correct.
fn is_deep_learning(stem: &str) -> bool {
    let families = ["a100_", "h100", "h200_", "rtx3090x2_", "windows_", "rtx3080_mock"];
    families.iter().any(|family| stem.starts_with(family)) && stem != "a100_mpi_2pids"
}

fn share_of_others(total: f64, others: f64) -> f64 {
    if total > 0.0 { 100.0 * others / total } else { 0.0 }
}

#[test]
fn little_time_is_unclassified_on_real_exports() {
    let Some(shared) = shared() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(shared.join("data/exports")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let report = path.to_str().unwrap();
        let (code, csv, _) =
            outcome(&["run", report, "--query", "class_sum", "--format", "csv", "--no-header"]);
        if code != 0 {
            assert_eq!(code, 3, "{stem}");
            continue;
        }
        let (mut total, mut others) = (0.0, 0.0);
        for row in csv.lines() {
            let cells: Vec<&str> = row.split(',').collect();
            let time: f64 = cells[3].parse().unwrap();
            total += time;
            if cells[0] == "others" {
                others += time;
            }
        }
        let share = share_of_others(total, others);
        eprintln!("{stem}: {share:.3} % of kernel time in others");
        if is_deep_learning(&stem) {
            seen += 1;
            assert!(share < 3.0, "{stem}: {share:.2} %");
        }
    }
    assert_eq!(seen, 12, "exports of deep learning");
}

#[test]
fn little_time_is_unclassified_on_pytorch_traces() {
    let Some(shared) = shared() else { return };
    let map = compiled("default");
    let mut seen = 0;
    for entry in std::fs::read_dir(shared.join("data/torch")).unwrap() {
        let path = entry.unwrap().path();
        let Some(text) = unpacked(&path) else { continue };
        let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
        let events = trace.get("traceEvents").unwrap_or(&trace).as_array().unwrap();
        let (mut total, mut others) = (0.0, 0.0);
        for event in events {
            let is_kernel = event["cat"].as_str().is_some_and(|cat| cat.eq_ignore_ascii_case("kernel"));
            let (Some(name), Some(time)) = (event["name"].as_str(), event["dur"].as_f64()) else {
                continue;
            };
            if is_kernel {
                total += time;
                others += if map.classify(name).rule.is_none() { time } else { 0.0 };
            }
        }
        let share = share_of_others(total, others);
        eprintln!("{}: {share:.3} % of kernel time in others", path.display());
        seen += usize::from(total > 0.0);
        assert!(share < 3.0, "{}: {share:.2} %", path.display());
    }
    assert!(seen == 0 || seen >= 8, "{seen}");
}

/// The text of a file, unpacked by `gzip` if necessary. `None` if it cannot be read.
fn unpacked(path: &Path) -> Option<String> {
    if path.extension().is_some_and(|extension| extension == "json") {
        return std::fs::read_to_string(path).ok();
    }
    let output = Command::new("gzip").arg("-dc").arg(path).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

const ASK: &str = "SELECT op_class(kernel_name) AS c, op_class_rule(kernel_name) AS r, sum(dur_ns) AS t \
                   FROM kernel GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2";

#[test]
fn a_map_is_chosen_by_name_or_file() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let report = report.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let ask = |classes: &str| {
        let arguments = ["sql", report, ASK, "--format", "csv", "--no-header", "--classes", classes];
        stdout(&arguments).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        ask("default"),
        [
            "communication,activity: communication,1000",
            "gemm,(?i)gemm|gemv|matmul|mul_mat_|nvjet|xmma|Cijk_|wvSplitK|wgmma|addmm|(^|[^a-z])b?mm_,900",
            "others,,300",
        ]
    );
    assert_eq!(ask("class_summary/llama2"), ["others,,1200", "nccl,nccl,1000"]);
    // A settings file as in the READMEs of the first two seed tools.
    let settings = "{\n  // what to read\n  \"inputs\": [],\n  \"kernel_to_class_map\": {\"GEMM\": \"dot\", \"relu\": \"act\",},\n}";
    assert_eq!(
        ask(&write("settings.json", settings)),
        ["nccl,nccl,1000", "dot,gemm,900", "act,relu,300"]
    );
    let flat = write("flat.yml", "relu: act\n");
    assert_eq!(ask(&flat), ["nccl,nccl,1000", "others,,900", "act,relu,300"]);
    let third =
        write("third.json", r#"{"mine": {"a": {"^void": "x", ".*": "misc"}, "b": {"gemm": "y"}}}"#);
    assert_eq!(ask(&format!("{third}#mine/a")), ["misc,.*,1300", "x,^void,900"]);
    assert_eq!(ask(&format!("{third}#mine/b")), ["others,,1300", "y,gemm,900"]);
    // A map with the name of a built-in one takes precedence.
    let more = write("more.yml", "default:\n  rules:\n    - {class: mine, match: '^relu'}\n");
    assert_eq!(ask(&more)[2], "mine,^relu,300");
    assert!(ask(&more)[0].starts_with("communication,"));
}

#[test]
fn a_map_in_a_query_folder_is_merged_and_listed() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let report = report.to_str().unwrap();
    let home = tempfile::tempdir().unwrap();
    for (folder, file, text) in [
        (
            "nsq/queries/classes",
            "mine.yml",
            "default:\n  rules:\n    - {class: first, match: '^relu'}\n    - {class: x, match: xyz}\n",
        ),
        (
            "nsq/classes",
            "theirs.json",
            r#"{"default": {"rules": [{"class": "second", "match": "^relu"}]}}"#,
        ),
    ] {
        let folder = home.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(file), text).unwrap();
    }
    let run = |arguments: &[&str]| {
        let output = nsq().env("XDG_CONFIG_HOME", home.path()).args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let (code, out, error) = run(&["sql", report, ASK, "--format", "csv", "--no-header"]);
    assert_eq!((code, out.lines().last().unwrap()), (0, "second,^relu,300"), "{error}");
    assert!(
        error.contains("pattern '^relu' has class second here, which applies, and class first in "),
        "{error}"
    );
    // A query that uses no classes prints no note.
    let (_, _, error) = run(&["run", report, "--query", "top_kernels"]);
    assert_eq!(error, "");
    let (_, out, _) = run(&["list", "--classes", "--format", "csv"]);
    assert!(out.contains("theirs.json") && out.contains("mine.yml"), "{out}");
    let (code, out, _) = run(&["check"]);
    assert!(
        code == 1 && out.contains("C01 class map default: pattern '^relu' has class second here"),
        "{out}"
    );
}

#[test]
fn class_map_errors_come_before_the_report_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("map.yml");
    let path = file.to_str().unwrap();
    let ask = |classes: &str| {
        let (code, out, error) = outcome(&["sql", "nowhere.sqlite", "SELECT 1", "--classes", classes]);
        assert_eq!(out, "");
        (code, error.replace(path, "FILE"))
    };
    std::fs::write(&file, "m:\n  doc: x\n  rules:\n    - {class: a, match: 'gemm(' }\n").unwrap();
    let (code, error) = ask(path);
    assert_eq!(code, 1);
    assert!(
        error.contains("FILE:4: class map m: invalid pattern 'gemm(': unclosed group\n  help: "),
        "{error}"
    );
    let json = folder.path().join("map.json");
    std::fs::write(&json, r#"{"rules": [{"class": "a", "match": "b"}]}"#).unwrap();
    let (code, error) = ask(json.to_str().unwrap());
    assert!(code == 1 && error.contains("json:1: the class map has no name"), "{error}");
    assert!(error.contains(r#"write {"my_map": {"doc": "#), "{error}");
    std::fs::write(&file, "a: {doc: x, rules: []}\nb: {doc: x, rules: []}\n").unwrap();
    let (code, error) = ask(path);
    assert_eq!(code, 2);
    assert!(
        error.contains("FILE has 2 class maps: a, b\n  help: choose one: --classes FILE#NAME"),
        "{error}"
    );
    let (code, error) = ask(&format!("{path}#c"));
    assert!(code == 2 && error.contains("unknown class map 'c'"), "{error}");
    let (code, error) = ask("vlm/llama");
    assert!(
        code == 2 && error.contains("did you mean 'vllm/llama'?") && error.contains("sglang/ds"),
        "{error}"
    );
    let (code, error) = ask("nowhere.json");
    assert!(code == 1 && error.contains("nowhere.json"), "{error}");
}
