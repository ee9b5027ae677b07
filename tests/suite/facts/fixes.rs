//! Which fix comes first, and what it says, in captures whose cause is known.

use super::capture::{Capture, MS, US, process};

const PID: i64 = process(100);

/// A copy of pageable memory, to the device or back, in a call that begins at `called` and waits for it.
fn blocking_copy(
    capture: &Capture,
    to_device: bool,
    called: i64,
    (start, end): (i64, i64),
    correlation: i64,
) {
    capture.call(PID | 1, "cudaMemcpy_v3020", (called, end + 5 * US), correlation, 0);
    capture.copy(PID, (start, end), correlation);
    let kinds = if to_device { "1, srcKind = 0" } else { "2, srcKind = 2, dstKind = 0" };
    capture.sql(&format!(
        "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 2000000, copyKind = {kinds} WHERE correlationId = {correlation}"
    ));
}

fn first_fixes(capture: &Capture) -> Vec<String> {
    let rows = capture.rows("findings", &["finding", "verdict"]);
    rows.into_iter().filter(|row| row[1] == "yes").map(|row| row[0].clone()).collect()
}

/// Of a step of 19.5 ms, a host needs 7 ms for what it read back, and the copies take 2 ms. Without waiting, it would run
/// ahead of the kernels, too: so copies that nobody waits for seem to gain all of it.
#[test]
fn what_the_host_makes_of_a_download_comes_before_the_copies() {
    let capture = Capture::new();
    for step in 0..40 {
        let (at, correlation) = (1_000 * MS + step * 19_500 * US, 20 * step + 1);
        for nth in 0..10 {
            let (called, start) = (at + 20 * nth * US, at + 30 * US + nth * MS);
            capture.launch(PID, called, "forces", (start, start + MS - US), correlation + nth);
        }
        let read = at + 10 * MS + 40 * US;
        blocking_copy(&capture, false, at + 210 * US, (read, read + 400 * US), correlation + 10);
        let list = read + 7_400 * US;
        blocking_copy(&capture, true, list - 10 * US, (list, list + 1_600 * US), correlation + 11);
    }
    assert_eq!(first_fixes(&capture)[..2], ["host_work", "exposed_pageable_copies"]);
    assert_eq!(capture.rows("downloaded_gaps", &["is_scalar", "size_bytes"]), [["0", "2000000"]]);
    let screen = capture.screen();
    assert!(screen.contains("\nHost-bound: the GPU idles for "), "{screen}");
    let fix = "Fix: The host works here on a download (2.00 MB) and uploads 2.00 MB after it: move this work to the GPU";
    assert!(screen.contains(fix), "{screen}");
    // An upload that is much larger is no result.
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 512 WHERE copyKind = 2");
    assert_eq!(capture.rows("downloaded_gaps", &["upload_bytes", "upload_pct"])[0][0], "2000000");
    let fix = "Fix: This code runs between the download of a result (512 B) and the upload of the next input (2.00 MB).";
    let screen = capture.screen();
    assert!(screen.contains(fix), "{screen}");
    // Without uploads, no input is prepared, and nothing comes back.
    capture.sql("DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1");
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 2000000");
    let screen = capture.screen();
    let fix = "Fix: This code follows a download (2.00 MB), and nothing is uploaded later: do it in another thread";
    assert!(screen.contains(fix), "{screen}");
}

/// Drafts are 36 kernels of 4 µs, one each 13 µs, and a result that the host reads. Then 40 long kernels run.
#[test]
fn launches_between_waits_come_before_the_waits() {
    let capture = Capture::new();
    let mut correlation = 0;
    for step in 0..60 {
        let mut at = 1_000 * MS + step * 10 * MS;
        for _ in 0..4 {
            for _ in 0..36 {
                correlation += 1;
                capture.launch(PID, at, "draft", (at + 11 * US, at + 15 * US), correlation);
                at += 13 * US;
            }
            correlation += 1;
            blocking_copy(&capture, false, at, (at + 11 * US, at + 13 * US), correlation);
            at += 40 * US;
        }
        for (nth, name) in (0..40).zip(["attention", "product", "norm"].into_iter().cycle()) {
            let (called, start) = (at + 13 * nth * US, at + 12 * US + 195 * nth * US);
            correlation += 1;
            capture.launch(PID, called, name, (start, start + 194 * US), correlation);
        }
        correlation += 1;
        blocking_copy(&capture, false, at + 530 * US, (at + 7_815 * US, at + 7_817 * US), correlation);
    }
    // Both are the gaps between the kernels of a draft.
    let first = &first_fixes(&capture)[0];
    assert!(["launch_bound", "tiny_kernels"].contains(&first.as_str()), "{first}");
}

/// Each tenth step waits 100 ms for a compiler, which loads a module.
#[test]
fn gaps_of_a_compiler_ask_for_fewer_shapes() {
    let capture = Capture::new();
    let mut at = 1_000 * MS;
    for step in 0..60 {
        if step % 10 == 9 {
            capture.call(PID | 1, "cuModuleLoadData", (at + 92 * MS, at + 98 * MS), 1_000 + step, 0);
            at += 100 * MS;
        }
        capture.launch(PID, at - 20 * US, "gemm", (at, at + 5 * MS), step + 1);
        at += 5 * MS + 50 * US;
    }
    let rows = capture.rows("compile_gaps", &["gap_count", "load_count"]);
    assert_eq!(rows, [["6", "6"]]);
    let screen = capture.screen();
    assert!(screen.contains(" of this time is in 6 gaps that also load modules (6 calls)"), "{screen}");
    assert!(screen.contains("Fix: Compile less often: pad sizes"), "{screen}");
}

/// Two threads launch kernels of 10 µs, each after 25 µs with a lock that the other one waits for.
#[test]
fn threads_that_take_turns_on_a_lock_are_named() {
    let capture = Capture::new();
    let lock = capture.text("pthread_mutex_lock");
    for nth in 0..2_000 {
        let (at, thread) = (1_000 * MS + nth * 40 * US, PID | (1 + nth % 2));
        capture.call(thread, "cudaLaunchKernel_v7000", (at, at + 5 * US), nth + 1, 0);
        capture.kernel(PID, "gemm", (at + 6 * US, at + 16 * US), 7 + nth % 2, nth + 1);
        capture.sql(&format!(
            "INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId, argumentsId)
             VALUES ({}, {}, 27, {thread}, {lock}, 0, 0, 0, 0)",
            at + 10 * US,
            at + 45 * US
        ));
    }
    let rows = capture.rows("lock_turns", &["function_name", "thread_count"]);
    assert_eq!(rows, [["pthread_mutex_lock", "2"]]);
    let screen = capture.screen();
    assert!(
        screen.contains(" 2 launching threads take turns: each waits in pthread_mutex_lock"),
        "{screen}"
    );
}

/// Products in FP64, on a GPU with two units for it on a multiprocessor, and on one with many.
#[test]
fn products_in_fp64_are_slow_on_some_gpus() {
    for (name, major, minor, is_slow) in [("RTX 4090", 8, 9, true), ("H100", 9, 0, false)] {
        let capture = Capture::new();
        capture.sql(&format!(
            "INSERT INTO TARGET_INFO_GPU (vmId, id, name, smCount, cuDevice, computeMajor, computeMinor)
             VALUES (0, 0, 'NVIDIA {name}', 128, 0, {major}, {minor})"
        ));
        for nth in 0..20 {
            let at = 1_000 * MS + nth * 10 * MS;
            let kernel =
                "void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>(T1::Params)";
            capture.launch(PID, at - 20 * US, kernel, (at, at + 9_990 * US), nth + 1);
        }
        let advice = &capture.rows("kernel_families", &["advice"])[0][0];
        assert_eq!(advice.contains("computes FP64 at 1/64 of its FP32 rate"), is_slow, "{advice}");
    }
}

/// Half of the time, a kernel copies what others could have written in place; then a sixth.
#[test]
fn kernels_that_only_copy_are_a_family_where_they_take_a_fifth_of_the_time() {
    let product = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
    for (copying, family) in [
        (
            "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 4>(float*)",
            "concatenations",
        ),
        (
            "void cudnn::engines_precompiled::nchwToNhwcKernel<__half>(__half const*, __half*)",
            "changes of layout",
        ),
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)>(int)",
            "type conversions",
        ),
    ] {
        for (copy_ns, is_family) in [(5 * MS, true), (MS, false)] {
            let capture = Capture::new();
            for step in 0..20 {
                let (called, at) = (999 * MS + step * 40 * US, 1_000 * MS + step * (5 * MS + copy_ns));
                capture.launch(PID, called, product, (at, at + 5 * MS - US), 2 * step + 1);
                let copied = (at + 5 * MS, at + 5 * MS + copy_ns - US);
                capture.launch(PID, called + 20 * US, copying, copied, 2 * step + 2);
            }
            let rows = capture.rows("kernel_families", &["family", "now_ns", "then_ns"]);
            assert_eq!(rows[0][0] == family, is_family, "{rows:?}");
            if is_family {
                assert_eq!(rows[0][1..], ["10000000", "5000000"]);
                let screen = capture.screen();
                assert!(screen.contains(", without them: mean step 10.00 ms → 5.00 ms."), "{screen}");
            }
        }
    }
}

/// Weights that are dequantized before each product, and products that do it themselves; a loss over many classes, and
/// a softmax of attention.
#[test]
fn dequantization_and_the_softmax_of_a_loss_have_fixes() {
    let product = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
    for (kernel, words) in [
        (
            "void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(float*, unsigned char*, float*, __nv_bfloat16*)",
            Some(
                "- dequantization, mostly `kDequantizeBlockwise`, without it: mean step 10.00 ms → 5.00 ms. Use kernels",
            ),
        ),
        ("void dequantize_mul_mat_vec<32, 1>(void const*, float const*, float*, int)", None),
        (
            "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)",
            Some(
                "The softmax of the loss takes 50.0 % of kernel time, and other work on its logits more",
            ),
        ),
        (
            "void softmax_warp_forward<float, float, float, 10, false, false>(float*, float const*, int)",
            None,
        ),
    ] {
        let capture = Capture::new();
        for step in 0..20 {
            let (called, at) = (999 * MS + step * 40 * US, 1_000 * MS + step * 10 * MS);
            capture.launch(PID, called, product, (at, at + 5 * MS - US), 2 * step + 1);
            let times = (at + 5 * MS, at + 10 * MS - US);
            capture.launch(PID, called + 20 * US, kernel, times, 2 * step + 2);
        }
        let screen = capture.screen();
        match words {
            Some(words) => assert!(screen.contains(words), "{screen}"),
            None => assert!(
                !screen.contains("dequantization") && !screen.contains("softmax of the loss"),
                "{screen}"
            ),
        }
    }
}

/// All kernels of Kokkos are one function: their functors are what takes the time.
#[test]
fn kernels_of_kokkos_have_the_names_of_their_functors() {
    let capture = Capture::new();
    let kernel = |functor: &str| {
        format!(
            "void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<md::{functor}<4>, Kokkos::RangePolicy<Kokkos::Cuda>, Kokkos::Cuda> >(int)"
        )
    };
    for step in 0..20 {
        let (called, at) = (999 * MS + step * 40 * US, 1_000 * MS + step * 10 * MS);
        capture.launch(PID, called, &kernel("Force"), (at, at + 7 * MS - US), 2 * step + 1);
        let times = (at + 7 * MS, at + 10 * MS - US);
        capture.launch(PID, called + 20 * US, &kernel("Move"), times, 2 * step + 2);
    }
    let screen = capture.screen();
    assert!(screen.contains("; `Force` takes 70.0 %, `Move` takes 30.0 % of kernel time."), "{screen}");
    assert!(screen.contains("`ncu --kernel-name-base demangled -k regex:Force -c 5`"), "{screen}");
}

/// Half of the pages make room for others, or none.
#[test]
fn pages_that_are_evicted_do_not_fit_in_memory() {
    for (cause, subject, fix) in [
        (4, "Unified Device-to-Host, evicted", "Fix: The GPU memory is too small: pages are evicted"),
        (2, "Unified Device-to-Host", "Fix: Prefetch with cudaMemPrefetchAsync"),
    ] {
        let capture = Capture::new();
        for nth in 0..20 {
            let at = 1_000 * MS + nth * 10 * MS;
            capture.launch(PID, at - 20 * US, "sweep", (at, at + 9 * MS), nth + 1);
            for page in 0..10 {
                for (direction, kind, cause) in [(0, 12, cause), (1, 11, 2)] {
                    let start = at + 100 * US + page * 800 * US + direction * 300 * US;
                    capture.sql(&format!(
                        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid,
                             bytes, copyKind, srcKind, dstKind, copyCount, migrationCause)
                         VALUES ({start}, {}, 0, 1, 0, 0, {PID}, 2097152, {kind}, 3, 3, 1, {cause})",
                        start + 250 * US
                    ));
                }
            }
        }
        let screen = capture.screen();
        assert!(screen.contains(&format!("Where: {subject} (50.0 %).")), "{screen}");
        assert!(screen.contains(fix), "{screen}");
    }
}

/// Kernels of 9.9 ms wait for ten migrations of 500 µs each, or of 100.
#[test]
fn kernels_that_wait_for_pages_are_bound_by_unified_memory() {
    let capture = Capture::new();
    for nth in 0..20 {
        let at = 1_000 * MS + nth * 10 * MS;
        capture.launch(PID, at - 20 * US, "sweep", (at, at + 9_900 * US), nth + 1);
        for page in 0..10 {
            let start = at + 100 * US + page * 900 * US;
            capture.sql(&format!(
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid,
                     bytes, copyKind, srcKind, dstKind, copyCount, migrationCause)
                 VALUES ({start}, {}, 0, 1, 0, 0, {PID}, 2097152, 11, 3, 3, 1, 2)",
                start + 500 * US
            ));
        }
    }
    let screen = capture.screen();
    assert!(screen.contains("Bound by unified memory: kernels run for 99.0 % of "), "{screen}");
    assert!(screen.contains(", and wait for its pages for 50."), "{screen}");
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = start + 100000");
    let screen = capture.screen();
    assert!(screen.contains("Compute-bound: kernels run for 99.0 % of "), "{screen}");
}

/// A step of one thread begins in the same nanosecond as one of another thread on another GPU.
#[test]
fn steps_that_begin_together_by_chance_are_those_of_one_gpu() {
    let capture = Capture::new();
    for step in 0..40 {
        for device in 0..2 {
            let at = 1_000 * MS + step * 10 * MS + if step == 20 { 0 } else { device * 3 * US };
            let correlation = 2 * step + device + 1;
            capture.call(
                PID | (1 + device),
                "cudaLaunchKernel_v7000",
                (at - 20 * US, at - 10 * US),
                correlation,
                0,
            );
            capture.kernel(PID, "gemm", (at, at + 8 * MS), 7, correlation);
            let wait = (at, at + 8 * MS + 5 * US);
            capture.call(PID | (1 + device), "cudaDeviceSynchronize_v3020", wait, 200 + correlation, 0);
            capture.sql(&format!(
                "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = {device}, contextId = {device} + 1
                 WHERE correlationId = {correlation}"
            ));
        }
    }
    let rows = capture.rows("iteration_sum", &["gpu_id", "tid"]);
    assert_eq!(rows, [["0", "1"], ["1", "2"]]);
}

/// A fifth of a step in a collective is sure to be lost; products that are twice as fast are an assumption. One rank alone
/// does not show who is late.
#[test]
fn what_is_certain_comes_before_faster_kernels() {
    let capture = Capture::new();
    let product = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
    let reduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)";
    for step in 0..30 {
        let (called, at) = (990 * MS + step * 60 * US, 1_000 * MS + step * 10 * MS);
        capture.launch(PID, called, product, (at, at + 7_900 * US), 2 * step + 1);
        capture.launch(PID, called + 20 * US, reduce, (at + 7_901 * US, at + 9_999 * US), 2 * step + 2);
    }
    let screen = capture.screen();
    assert!(screen.contains("What to fix first"), "{screen}");
    assert!(screen.contains("One GPU alone does not show whether AllReduce transfers"), "{screen}");
}

/// Copies that overlap perfectly would gain 5.2 ms of a step of 20 ms, memory that stays pinned 4.8 ms.
#[test]
fn what_needs_perfect_overlap_does_not_come_first_for_a_little_more() {
    let capture = Capture::new();
    for step in 0..30 {
        let (at, correlation) = (1_000 * MS + step * 20 * MS, 10 * step);
        capture.call(PID | 1, "cudaHostRegister_v4000", (at, at + 5_400 * US), correlation + 1, 0);
        let called = (at + 5_410 * US, at + 5_420 * US);
        capture.call(PID | 1, "cudaMemcpyAsync_v3020", called, correlation + 2, 0);
        capture.copy(PID, (at + 5_430 * US, at + 10_630 * US), correlation + 2);
        let transform = (at + 10_631 * US, at + 19_900 * US);
        capture.launch(PID, at + 5_430 * US, "fft", transform, correlation + 3);
        let wait = (at + 5_450 * US, at + 19_905 * US);
        capture.call(PID | 1, "cudaStreamSynchronize_v3020", wait, correlation + 4, 0);
    }
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 130000000");
    assert_eq!(first_fixes(&capture)[..2], ["allocation", "exposed_copies"]);
    assert!(capture.screen().contains("Main cause: allocation."));
}

/// A download has no next batch that could be copied ahead.
#[test]
fn a_download_is_to_be_smaller_or_later() {
    let capture = Capture::new();
    for step in 0..30 {
        let (at, correlation) = (1_000 * MS + step * 20 * MS, 10 * step);
        capture.launch(PID, at - 20 * US, "gemm", (at, at + 10 * MS), correlation + 1);
        let read = (at + 10_010 * US, at + 18_010 * US);
        blocking_copy(&capture, false, at + 10 * MS, read, correlation + 2);
    }
    assert_eq!(first_fixes(&capture)[0], "exposed_pageable_copies");
    let fix = "Fix: Copy less (reduce the result on the GPU first), or copy to pinned memory (cudaMallocHost) on";
    assert!(capture.screen().contains(fix), "{}", capture.screen());
}

/// The GPU never idles, and three short kernels wait for three long ones of another thread.
#[test]
fn steps_that_wait_for_kernels_of_another_thread_say_so() {
    let capture = Capture::new();
    for step in 0..30 {
        let at = 1_000 * MS + step * 20 * MS;
        capture.range(PID | 1, &format!("step {step}"), (at, at + 18_220 * US));
        for nth in 0..3 {
            let (called, start) = (at + (nth + 1) * 20 * US, at + 200 * US + nth * 6 * MS);
            let correlation = 10 * step + 2 * nth + 1;
            let launch = (called + 5 * US, called + 10 * US);
            capture.call(PID | 2, "cudaLaunchKernel_v7000", launch, correlation, 0);
            capture.kernel(PID, "batch", (start, start + 5_500 * US), 13, correlation);
            let answer = (start + 5_501 * US, start + 5_990 * US);
            capture.launch(PID, called, "answer", answer, correlation + 1);
        }
        let wait = (at + 100 * US, at + 18_210 * US);
        capture.call(PID | 1, "cudaStreamSynchronize_v3020", wait, 10 * step + 9, 0);
    }
    let rows = capture.rows("shared_gpu", &["tid", "own_ns", "other_ns", "kernel_name"]);
    assert_eq!(rows, [["1", "1471930", "16555460", "batch"]]);
    let screen = capture.screen();
    assert!(screen.contains("In each step of thread 1, its own kernels take 1.47 ms"), "{screen}");
    assert!(screen.contains("those of other threads 16.56 ms, mostly `batch`."), "{screen}");
}

/// 12 ms of code in no range, then 250 kernels of 4 µs, one each 40 µs: the code is the larger fix, and nothing that launches
/// need takes so long.
#[test]
fn code_that_takes_ten_milliseconds_comes_before_launches_without_ranges() {
    let capture = Capture::new();
    let (mut at, mut correlation) = (1_000 * MS, 0);
    for _ in 0..40 {
        at += 12 * MS;
        for _ in 0..250 {
            correlation += 1;
            capture.launch(PID, at, "small", (at + 15 * US, at + 19 * US), correlation);
            at += 40 * US;
        }
        correlation += 2;
        let end = at + 8 * MS;
        capture.launch(PID, at, "large", (at + 15 * US, end), correlation - 1);
        let wait = (at + 20 * US, end + 5 * US);
        capture.call(PID | 1, "cudaStreamSynchronize_v3020", wait, correlation, 0);
        at = end + 10 * US;
    }
    assert_eq!(first_fixes(&capture)[..2], ["host_work", "launch_bound"]);
    assert!(capture.screen().contains("\nHost-bound: the GPU idles for "));
}

/// A step waits 8 ms before a batch is uploaded. In poll, PyTorch waits for the workers of its data loader.
#[test]
fn a_program_of_pytorch_that_polls_before_uploads_may_wait_for_a_data_loader() {
    let kernel = "void at::native::add(int)";
    for (function, name, is_loader) in
        [("poll", kernel, true), ("poll", "add", false), ("epoll_wait", kernel, false)]
    {
        let capture = Capture::new();
        let (mut at, mut correlation) = (1_000 * MS, 0);
        let waits = capture.text(function);
        for _ in 0..40 {
            capture.sql(&format!(
                "INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId, argumentsId)
                 VALUES ({at}, {}, 27, {}, {waits}, 0, 0, 0, 0)",
                at + 8 * MS,
                PID | 1
            ));
            at += 8 * MS + 50 * US;
            correlation += 3;
            capture.call(PID | 1, "cudaMemcpyAsync_v3020", (at, at + 5 * US), correlation, 0);
            capture.copy(PID, (at + 10 * US, at + 200 * US), correlation);
            capture.sql(&format!(
                "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 4000000, copyKind = 1, srcKind = 1, dstKind = 2
                 WHERE correlationId = {correlation}"
            ));
            let end = at + 6 * MS;
            capture.launch(PID, at + 6 * US, name, (at + 201 * US, end), correlation + 1);
            let wait = (at + 20 * US, end + 5 * US);
            capture.call(PID | 1, "cudaStreamSynchronize_v3020", wait, correlation + 2, 0);
            at = end + 10 * US;
        }
        let screen = capture.screen();
        assert_ne!(screen.contains("Paced from outside: "), is_loader, "{screen}");
        let words = "waits in poll, as a DataLoader of PyTorch does for its workers";
        assert_eq!(screen.contains(words), is_loader, "{screen}");
    }
}

/// Each tenth of 60 marked steps begins 40 ms late.
#[test]
fn slow_steps_that_come_regularly_are_counted() {
    let capture = Capture::new();
    let mut at = 1_000 * MS;
    for step in 0..60 {
        let start = at;
        if step % 10 == 9 {
            at += 40 * MS;
        }
        capture.launch(PID, at, "gemm", (at + 20 * US, at + 4 * MS), 2 * step + 1);
        at += 4 * MS + 100 * US;
        capture.call(
            PID | 1,
            "cudaDeviceSynchronize_v3020",
            (at - 4 * MS, at - 20 * US),
            2 * step + 2,
            0,
        );
        capture.range(PID | 1, &format!("step {step}"), (start - 10 * US, at - 15 * US));
    }
    let rows = capture.rows("slow_steps", &["slow_count", "every"]);
    assert_eq!(rows, [["6", "10"]]);
}

/// A checkpoint runs its forward kernel again, then its backward pass.
#[test]
fn forward_work_that_a_checkpoint_repeats_is_found() {
    let capture = Capture::new();
    for step in 0..4 {
        let (at, correlation) = (1_000 * MS + step * 20 * MS, 10 * step + 1);
        capture.launch(PID, at, "forward", (at + 20 * US, at + 4 * MS), correlation);
        capture.launch(PID, at + 200 * US, "forward", (at + 4 * MS, at + 8 * MS), correlation + 1);
        capture.launch(PID, at + 400 * US, "backward", (at + 8 * MS, at + 16 * MS), correlation + 2);
        capture.range(PID | 1, "CheckpointFunctionBackward", (at + 150 * US, at + 500 * US));
        let node = "autograd::engine::evaluate_function: AddmmBackward0";
        capture.range(PID | 1, node, (at + 350 * US, at + 450 * US));
    }
    let rows = capture.rows("recomputation", &["subject", "dur_ns"]);
    assert_eq!(rows, vec![["forward".to_owned(), (4 * MS).to_string()]; 4]);
}

/// Of three all-reduces of a step, only the last runs when no other kernel does.
#[test]
fn the_last_collective_of_a_step_is_named() {
    let capture = Capture::new();
    for step in 0..6 {
        let (at, correlation) = (1_000 * MS + step * 20 * MS, 10 * step + 1);
        capture.launch(PID, at, "backward", (at + 20 * US, at + 10 * MS), correlation);
        let times = [(2 * MS, 3 * MS), (5 * MS, 6 * MS), (10 * MS, 15 * MS)];
        for (nth, (start, end)) in (1..).zip(times) {
            let called = (at + 30 * nth * US, at + 30 * nth * US + 10 * US);
            capture.call(PID | 1, "cudaLaunchKernelExC_v11060", called, correlation + nth, 0);
            let name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)";
            capture.kernel(PID, name, (at + start, at + end), 20, correlation + nth);
        }
        capture.range(PID | 1, &format!("step {step}"), (at - 10 * US, at + 200 * US));
    }
    let rows = capture.rows("main_collective", &["operation", "place", "op_count", "dur_ns"]);
    assert_eq!(rows, [["AllReduce", "3", "3", "5000000"]]);
}

/// A step reads back twelve values, each after a short kernel, so that the host never launches ahead.
#[test]
fn values_that_a_step_reads_back_one_by_one_are_counted() {
    let capture = Capture::new();
    let mut correlation = 0;
    for step in 0..30 {
        let mut at = 1_000 * MS + step * 2_800 * US;
        for nth in 0..20 {
            correlation += 1;
            let start = at + 30 * US + 100 * nth * US;
            let name = ["product", "embed"][usize::from(nth == 0)];
            capture.launch(PID, at + 15 * nth * US, name, (start, start + 99 * US), correlation);
        }
        at += 2_050 * US;
        for _ in 0..12 {
            correlation += 2;
            capture.launch(PID, at, "norm", (at + 30 * US, at + 40 * US), correlation);
            blocking_copy(&capture, false, at + 20 * US, (at + 42 * US, at + 44 * US), correlation + 1);
            at += 60 * US;
        }
        correlation += 1;
    }
    capture.sql("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 4");
    let rows = capture.rows("held_copies", &["direction", "copy_count", "kernel_count", "size_bytes"]);
    assert_eq!(rows, [["Device-to-Host", "360", "960", "4"]]);
    let screen = capture.screen();
    assert!(
        screen.contains("Fix: Each step reads back 12 values of 4 B, and the GPU idles after each"),
        "{screen}"
    );
}

/// Of 40 steps of 7 ms, with 3 ms of the host in each, one has a pause of two seconds.
#[test]
fn one_pause_is_the_main_cause_and_no_work_for_threads() {
    let capture = Capture::new();
    let mut at = 1_000 * MS;
    for step in 0..40 {
        at += if step == 20 { 2_000 * MS } else { 3 * MS };
        for (nth, name) in (0..4).zip(["embed", "attention", "product", "norm"]) {
            let start = at + 30 * US + nth * MS;
            capture.launch(PID, at + 20 * nth * US, name, (start, start + MS - US), 20 * step + nth + 1);
        }
        let read = at + 4_032 * US;
        blocking_copy(&capture, false, at + 100 * US, (read, read + 2 * US), 20 * step + 10);
        at = read + 10 * US;
    }
    let screen = capture.screen();
    assert!(screen.contains(" Main cause: one pause of 2.00 s in "), "{screen}");
    assert!(screen.contains(" without the pause alone. Where: "), "{screen}");
    assert!(screen.contains("Fix: See what the host does in this pause"), "{screen}");
    assert!(!screen.contains(" threads share this work"), "{screen}");
}

/// Two ranks exchange after each step; the kernel of one takes 6 ms, that of the other 3 ms.
#[test]
fn ranks_with_unequal_work_are_the_main_cause() {
    let capture = Capture::new();
    let exchange = capture.text("MPI_Allreduce");
    for step in 0..40 {
        let at = 1_000 * MS + step * 6_200 * US;
        for (rank, own) in [3 * MS, 6 * MS].into_iter().enumerate() {
            let pid = process(100 + rank as i64);
            let correlation = 4 * step + 1;
            capture.launch(pid, at, "cells", (at + 20 * US, at + 20 * US + own), correlation);
            let waited = (at + 12 * US, at + own + 30 * US);
            capture.call(pid | 1, "cudaDeviceSynchronize_v3020", waited, correlation + 1, 0);
            capture.sql(&format!(
                "INSERT INTO MPI_COLLECTIVES_EVENTS (start, end, globalTid, textId, commHandle, rootRank, size, recvSize)
                 VALUES ({}, {}, {}, {exchange}, 1, -1, 8, 8);
                 UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = {rank} WHERE globalPid = {pid}",
                at + own + 35 * US,
                at + 6_150 * US,
                pid | 1
            ));
        }
    }
    let screen = capture.screen();
    assert!(
        screen.contains("Main cause: unequal work. GPU 0 waits in MPI for GPU 1, which works for "),
        "{screen}"
    );
    assert!(screen.contains(" With equal shares of work: mean step 6.20 ms → 4.70 ms."), "{screen}");
}

/// The batches of a server differ, and only their ranges show where one begins.
#[test]
fn ranges_without_a_number_are_steps_where_launches_do_not_repeat() {
    let capture = Capture::new();
    let (mut at, mut correlation, mut random) = (1_000 * MS, 0, 7_u32);
    for _ in 0..40 {
        let start = at;
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let count = if random >> 24 < 64 { 45 } else { 20 };
        for _ in 0..count {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let name = ["gemm", "norm", "silu", "rope"][(random >> 24) as usize % 4];
            correlation += 1;
            capture.launch(PID, at, name, (at + 20 * US, at + 40 * US), correlation);
            at += 45 * US;
        }
        capture.range(PID | 1, "execute_model", (start - US, at));
        at += 400 * US;
    }
    let screen = capture.screen();
    assert!(screen.contains("\nSteps, marked by `execute_model`: "), "{screen}");
}
