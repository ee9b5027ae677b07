/*---
name: cuda_error
summary: One row per error that CUDA calls return, with its meaning and what to do.
present_if: [src_cuda_api]
reads: []
columns:
  - {name: return_value, type: id, doc: "Value of cudaError_t, and of CUresult, which has the same numbers from 100 on."}
  - {name: error_name, type: text, doc: "Name of the value in cudaError_t."}
  - {name: meaning, type: text, doc: "Meaning in a few words."}
  - {name: remedy, type: text, doc: "What to do if launches return it; null if that depends on the program."}
limits: >-
  The values are those of CUDA 10.1 and later. 600 (not ready) is an answer of cudaEventQuery, cudaStreamQuery and similar
  calls, and no failure; so is 34 from CUDA before 10.1. The relation failed_call leaves both out.
---*/
SELECT column1 AS return_value, column2 AS error_name, column3 AS meaning, column4 AS remedy
FROM (
  VALUES
    (1, 'cudaErrorInvalidValue', 'invalid value', NULL),
    (2, 'cudaErrorMemoryAllocation', 'out of memory',
      'Use less GPU memory: smaller batches, fewer processes per GPU, or free tensors earlier.'),
    (3, 'cudaErrorInitializationError', 'not initialised', NULL),
    (4, 'cudaErrorCudartUnloading', 'CUDA is being unloaded', NULL),
    (9, 'cudaErrorInvalidConfiguration', 'invalid launch configuration',
      'Launch at least one and at most 1024 threads per block, with a grid and shared memory within the'
        || ' limits of the GPU.'),
    (13, 'cudaErrorInvalidSymbol', 'invalid symbol', NULL),
    (21, 'cudaErrorInvalidMemcpyDirection', 'invalid copy direction', NULL),
    (35, 'cudaErrorInsufficientDriver', 'driver too old for this runtime',
      'Update the driver, or use an older CUDA toolkit.'),
    (46, 'cudaErrorDevicesUnavailable', 'all devices busy or unavailable',
      'Free the GPU: another process may hold it in exclusive mode.'),
    (98, 'cudaErrorInvalidDeviceFunction', 'invalid device function',
      'Compile the kernel for the compute capability of this GPU (nvcc -gencode, TORCH_CUDA_ARCH_LIST).'),
    (100, 'cudaErrorNoDevice', 'no CUDA device', 'Make a GPU visible: check CUDA_VISIBLE_DEVICES and nvidia-smi.'),
    (101, 'cudaErrorInvalidDevice', 'invalid device ordinal',
      'Use a device ordinal below the number of visible GPUs.'),
    (200, 'cudaErrorInvalidKernelImage', 'invalid kernel image',
      'Compile the kernel for the compute capability of this GPU (nvcc -gencode, TORCH_CUDA_ARCH_LIST).'),
    (201, 'cudaErrorDeviceUninitialized', 'invalid context', NULL),
    (209, 'cudaErrorNoKernelImageForDevice', 'no kernel image for this device',
      'Compile the kernel for the compute capability of this GPU (nvcc -gencode, TORCH_CUDA_ARCH_LIST).'),
    (214, 'cudaErrorECCUncorrectable', 'uncorrectable ECC error',
      'Replace or reset the GPU: its memory has an uncorrectable error.'),
    (217, 'cudaErrorPeerAccessUnsupported', 'no peer access between these devices', NULL),
    (218, 'cudaErrorInvalidPtx', 'invalid PTX',
      'Compile the kernel for this GPU, or with a toolkit that the driver supports.'),
    (220, 'cudaErrorNvlinkUncorrectable', 'uncorrectable NVLink error', NULL),
    (221, 'cudaErrorJitCompilerNotFound', 'no PTX compiler found',
      'Install the library of the PTX compiler that belongs to the driver, or compile the kernel for this GPU.'),
    (222, 'cudaErrorUnsupportedPtxVersion', 'PTX is newer than the driver',
      'Update the driver, or compile the kernel for this GPU (nvcc -gencode arch=compute_XX,code=sm_XX)'
        || ' or with an older toolkit.'),
    (301, 'cudaErrorFileNotFound', 'file not found', NULL),
    (304, 'cudaErrorOperatingSystem', 'operating system call failed', NULL),
    (400, 'cudaErrorInvalidResourceHandle', 'invalid handle',
      'Use the stream or function in the context in which it was made.'),
    (401, 'cudaErrorIllegalState', 'illegal state', NULL),
    (500, 'cudaErrorSymbolNotFound', 'name not found', NULL),
    (600, 'cudaErrorNotReady', 'not ready', NULL),
    (700, 'cudaErrorIllegalAddress', 'illegal memory access',
      'Find the access: compute-sanitizer PROGRAM, or CUDA_LAUNCH_BLOCKING=1. Every later call fails as well.'),
    (701, 'cudaErrorLaunchOutOfResources', 'out of resources for the launch',
      'Use fewer threads per block or fewer registers (__launch_bounds__).'),
    (702, 'cudaErrorLaunchTimeout', 'launch timed out', 'Shorten the kernel, or run it on a GPU without a display.'),
    (704, 'cudaErrorPeerAccessAlreadyEnabled', 'peer access already enabled', NULL),
    (705, 'cudaErrorPeerAccessNotEnabled', 'peer access not enabled', NULL),
    (709, 'cudaErrorContextIsDestroyed', 'context is destroyed', NULL),
    (710, 'cudaErrorAssert', 'device-side assertion',
      'Read the assertion: CUDA_LAUNCH_BLOCKING=1. Every later call fails as well.'),
    (712, 'cudaErrorHostMemoryAlreadyRegistered', 'host memory already registered', NULL),
    (713, 'cudaErrorHostMemoryNotRegistered', 'host memory not registered', NULL),
    (715, 'cudaErrorIllegalInstruction', 'illegal instruction', NULL),
    (716, 'cudaErrorMisalignedAddress', 'misaligned address', 'Find the access: compute-sanitizer PROGRAM.'),
    (718, 'cudaErrorInvalidPc', 'invalid program counter', NULL),
    (719, 'cudaErrorLaunchFailure', 'launch failed',
      'Find the fault: compute-sanitizer PROGRAM. Every later call fails as well.'),
    (720, 'cudaErrorCooperativeLaunchTooLarge', 'cooperative launch too large',
      'Launch at most as many blocks as fit on the GPU at once (cudaOccupancyMaxActiveBlocksPerMultiprocessor).'),
    (800, 'cudaErrorNotPermitted', 'not permitted', NULL),
    (801, 'cudaErrorNotSupported', 'not supported', NULL),
    (802, 'cudaErrorSystemNotReady', 'system not ready',
      'Start the fabric manager (nvidia-fabricmanager), and check nvidia-smi.'),
    (803, 'cudaErrorSystemDriverMismatch', 'driver and library versions differ',
      'Restart after the driver update, or reload its kernel module.'),
    (900, 'cudaErrorStreamCaptureUnsupported', 'not permitted while a stream is captured',
      'Move the call out of the capture of the graph.'),
    (901, 'cudaErrorStreamCaptureInvalidated', 'stream capture is broken',
      'Find the earlier call that is not permitted in a capture: api_errors lists it.'),
    (906, 'cudaErrorStreamCaptureImplicit', 'capture depends on the default stream',
      'Use a stream of its own instead of the default stream in a capture.'),
    (908, 'cudaErrorStreamCaptureWrongThread', 'capture ended on another thread', NULL),
    (910, 'cudaErrorGraphExecUpdateFailure', 'graph cannot be updated this way', NULL),
    (999, 'cudaErrorUnknown', 'unknown error', NULL)
)
