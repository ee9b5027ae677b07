/*---
name: hardware_peak
summary: One row per known GPU model, with its peak arithmetic and bandwidth.
present_if: [src_target_gpu, src_target_cuda_gpu]
reads: []
columns:
  - {name: place, type: int, doc: "Order of the patterns: the first that fits decides."}
  - {name: gpu_pattern, type: text, doc: "GLOB pattern for the name of the GPU as CUDA reports it."}
  - {name: fp64_tflop_per_s, type: real, doc: "FP64 without matrix units, in TFLOP/s."}
  - {name: fp64_matmul_tflop_per_s, type: real, doc: "FP64 of matrix products, in TFLOP/s."}
  - {name: fp32_tflop_per_s, type: real, doc: "FP32 without matrix units, in TFLOP/s."}
  - {name: tf32_tflop_per_s, type: real, doc: "FP32 products by TF32 matrix units, in TFLOP/s; the FP32 rate if there are none."}
  - {name: fp16_tflop_per_s, type: real, doc: "FP16 and BF16 products that add in FP32, without sparsity, in TFLOP/s."}
  - {name: fp8_tflop_per_s, type: real, doc: "FP8 products, without sparsity, in TFLOP/s; null if there are none."}
  - {name: int8_tflop_per_s, type: real, doc: "INT8 products, without sparsity, in 10^12 operations per second; null if unknown."}
  - {name: bandwidth_gb_per_s, type: real, doc: "Peak bandwidth of the device memory, in 10^9 bytes per second."}
  - {name: document, type: text, doc: "Vendor's document that these figures are from."}
limits: >-
  Vendors state peaks at the boost clock. A GPU below its boost clock, because of power or heat, cannot reach them. Give a
  measured peak with -p peaks=bf16=790.
---*/
SELECT
  column1 AS place,
  column2 AS gpu_pattern,
  column3 AS fp64_tflop_per_s,
  column4 AS fp64_matmul_tflop_per_s,
  column5 AS fp32_tflop_per_s,
  column6 AS tf32_tflop_per_s,
  column7 AS fp16_tflop_per_s,
  column8 AS fp8_tflop_per_s,
  column9 AS int8_tflop_per_s,
  column10 AS bandwidth_gb_per_s,
  column11 AS document
FROM (
  VALUES
  (10, '*B200*', 37, 37, 75, 1125, 2250, 4500, 4500, 8000, 'NVIDIA DGX B200 datasheet'),
  (20, '*H200 NVL*', 30, 60, 60, 417.5, 835.5, 1670.5, 1670.5, 4800, 'NVIDIA H200 datasheet'),
  (21, '*H200*', 33.5, 66.9, 66.9, 494.7, 989.4, 1978.9, 1978.9, 4800, 'NVIDIA H200 datasheet'),
  (30, '*H100 PCIe*', 25.6, 51.2, 51.2, 378, 756.4, 1513, 1513, 2039, 'NVIDIA H100 architecture whitepaper'),
  (31, '*H100 NVL*', 30, 60, 60, 417.5, 835.5, 1670.5, 1670.5, 3938, 'NVIDIA H100 NVL product brief'),
  (32, '*H100*', 33.5, 66.9, 66.9, 494.7, 989.4, 1978.9, 1978.9, 3352, 'NVIDIA H100 architecture whitepaper'),
  (33, '*GH200*', 33.5, 66.9, 66.9, 494.7, 989.4, 1978.9, 1978.9, 4000, 'NVIDIA GH200 datasheet'),
  (40, '*A100[- ]*80GB*', 9.7, 19.5, 19.5, 156, 312, NULL, 624, 2039, 'NVIDIA A100 datasheet'),
  (41, '*A100[- ]*', 9.7, 19.5, 19.5, 156, 312, NULL, 624, 1555, 'NVIDIA A100 datasheet'),
  (42, '*A30*', 5.2, 10.3, 10.3, 82, 165, NULL, 330, 933, 'NVIDIA A30 datasheet'),
  (43, '*A40*', 0.58, 0.58, 37.4, 74.8, 149.7, NULL, 299.3, 696, 'NVIDIA A40 datasheet'),
  (44, '*RTX A6000*', 0.6, 0.6, 38.7, 77.4, 154.8, NULL, 309.7, 768, 'NVIDIA RTX A6000 datasheet'),
  (45, '*A10G*', 0.55, 0.55, 35, 35, 70, NULL, 140, 600, 'NVIDIA A10G datasheet'),
  (46, '*A10', 0.49, 0.49, 31.2, 62.5, 125, NULL, 250, 600, 'NVIDIA A10 datasheet'),
  (50, '*L40S*', 1.4, 1.4, 91.6, 183, 366, 733, 733, 864, 'NVIDIA L40S datasheet'),
  (51, '*L40*', 1.4, 1.4, 90.5, 90.5, 181, 362, 362, 864, 'NVIDIA L40 datasheet'),
  (52, '*L4', 0.49, 0.49, 30.3, 60, 121, 242.5, 242.5, 300, 'NVIDIA L4 datasheet'),
  (53, '*RTX 6000 Ada*', 1.4, 1.4, 91.1, 182.1, 364.2, 728.5, 728.5, 960, 'NVIDIA RTX 6000 Ada datasheet'),
  (60, '*V100S*', 8.2, 8.2, 16.4, 16.4, 130, NULL, NULL, 1134, 'NVIDIA V100 datasheet'),
  (61, '*V100-SXM*', 7.8, 7.8, 15.7, 15.7, 125, NULL, NULL, 900, 'NVIDIA V100 datasheet'),
  (62, '*V100*', 7, 7, 14, 14, 112, NULL, NULL, 900, 'NVIDIA V100 datasheet'),
  (63, '*T4', 0.25, 0.25, 8.1, 8.1, 65, NULL, 130, 320, 'NVIDIA T4 datasheet'),
  (64, '*P100*', 5.3, 5.3, 10.6, 10.6, 21.2, NULL, NULL, 732, 'NVIDIA P100 datasheet'),
  (70, '*RTX 5090*', 1.6, 1.6, 104.8, 104.8, 209.5, 419, 838, 1792, 'NVIDIA RTX Blackwell whitepaper'),
  (71, '*RTX 4090*', 1.3, 1.3, 82.6, 82.6, 165.2, 330.3, 660.6, 1008, 'NVIDIA Ada whitepaper'),
  (72, '*RTX 4080*', 0.8, 0.8, 48.7, 48.7, 97.5, 194.9, 389.9, 717, 'NVIDIA Ada whitepaper'),
  (73, '*RTX 3090 Ti*', 0.6, 0.6, 40, 40, 80, NULL, 320, 1008, 'NVIDIA GA102 whitepaper'),
  (74, '*RTX 3090*', 0.6, 0.6, 35.6, 35.6, 71, NULL, 284, 936, 'NVIDIA GA102 whitepaper'),
  (75, '*RTX 3080*', 0.5, 0.5, 29.8, 29.8, 59.5, NULL, 238, 760, 'NVIDIA GA102 whitepaper'),
  (76, '*RTX 3070*', 0.3, 0.3, 20.3, 20.3, 40.6, NULL, 162.6, 448, 'NVIDIA GA102 whitepaper'),
  (77, '*RTX 3060', 0.2, 0.2, 12.7, 12.7, 25.4, NULL, 102, 360, 'NVIDIA GeForce RTX 3060 specifications'),
  (80, '*MI325X*', 81.7, 163.4, 163.4, 653.7, 1307.4, 2614.9, 2614.9, 6000, 'AMD Instinct MI325X datasheet'),
  (81, '*MI300X*', 81.7, 163.4, 163.4, 653.7, 1307.4, 2614.9, 2614.9, 5325, 'AMD Instinct MI300X datasheet'),
  (82, '*MI250X*', 23.95, 47.9, 23.95, 47.9, 191.5, NULL, 191.5, 1638, 'AMD Instinct MI250X datasheet, of one die'),
  (83, '*MI210*', 22.6, 45.3, 22.6, 45.3, 181, NULL, 181, 1638, 'AMD Instinct MI210 datasheet')
)
