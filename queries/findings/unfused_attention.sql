/*---
name: unfused_attention
version: 1
title: Attention that is no fused kernel
summary: Time of the kernels and copies between the two matrix products of attention.
why: To see what a fused attention kernel could save.
kind: finding
tags: [cuda, gpu, kernel]
reads: [all_kernel, all_memcpy, all_memset, gpu_overlap, string]
requires: [gpu_overlap, all_kernel]
rows_if: "EXISTS (SELECT 1 FROM string WHERE lower(text) GLOB '*softmax*' OR text GLOB '*exp_kernel*')"
finding:
  claim: "Unfused attention: scale, mask and softmax run between two matrix products."
  ceiling: The time of what runs between the products and includes a softmax. Time in which another compute kernel ran does not count.
  remedy: >-
    Use a fused attention kernel, such as FlashAttention. The products gain, too.
  in_pytorch: >-
    torch.nn.functional.scaled_dot_product_attention.
  link: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
  confidence: medium
  edit: work=@
  frees: kernels
params:
  - {name: least, type: duration, default: 1us, min: 0, doc: "Shortest interval to return."}
  - {name: products, type: int, default: 40, min: 1, doc: "Most matrix products of a stream for one softmax between two products. With more, it is not attention, which every layer has, but a loss, which a step has once."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the kernel or copy, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Its time in the window, without that of other compute kernels."}
  - {name: subject, type: text, label: "kernel or copy", priority: 0, doc: "Function name of the kernel, or name of the copy or fill."}
  - {name: op_kind, type: text, priority: 2, doc: "kernel, memcpy or memset."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the operation in the raw table of its kind."}
checks:
  - dur_ns > 0
when_empty: "no softmax runs between two matrix products with only elementwise kernels, copies and fills around it"
limits: >-
  By the names of kernels, in the order of a stream. Between two matrix products, a softmax must run, or exponentials and a
  reduction to the largest value, and else only elementwise kernels, activations, reductions, random numbers, copies on
  the device and fills. Logarithms do not count, nor does a softmax with its own gradient: they belong to losses. The name
  of a softmax that a compiler has fused with other work does not show it, nor do the names in the backward pass of one
  that is written out.
see_also: [kernel_classes, device_copies, memory_bound_ops]
---*/
WITH
named AS MATERIALIZED (
  SELECT
    string_id AS name_id,
    CASE
      WHEN class = 'gemm' THEN 'product'
      WHEN class = 'softmax'
        AND NOT (
          lower(text) GLOB '*log*softmax*'
          -- Its fifth argument says that it computes logarithms.
          OR text GLOB '*softmax_warp_*, true, *'
          OR text GLOB '*softmax_warp_*(bool)1, *'
        )
        THEN
          iif(
            lower(text) GLOB '*backward*' OR lower(text) GLOB '*bwd*' OR lower(text) GLOB '*grad*',
            'gradient',
            'softmax'
          )
      -- A softmax that is written out takes the largest score and exponentials.
      WHEN class = 'elementwise' AND text GLOB '*exp_kernel*' THEN 'exponential'
      WHEN class = 'reduction' AND text GLOB '*MaxOps*' THEN 'largest'
      WHEN text GLOB '*log_kernel*' THEN NULL
      WHEN class IN ('activation', 'copy', 'elementwise', 'random', 'reduction') THEN 'other work'
    END AS part
  FROM (
    SELECT string_id, text, op_class(text) AS class
    -- Nothing is read without a softmax.
    FROM (SELECT 1 FROM string WHERE lower(text) GLOB '*softmax*' OR text GLOB '*exp_kernel*' LIMIT 1)
    CROSS JOIN string
    WHERE string_id IN (SELECT name_id FROM all_kernel)
  )
),
op AS (
  SELECT pid, device_id, context_id, stream_id, start_ns, 'kernel' AS op_kind, kernel_id AS op_id, part
  FROM (SELECT 1 FROM named WHERE part IN ('softmax', 'exponential') LIMIT 1)
  CROSS JOIN all_kernel
  LEFT JOIN named
    ON named.name_id = all_kernel.name_id
  UNION ALL
  SELECT pid, device_id, context_id, stream_id, start_ns, 'memcpy', memcpy_id, iif(copy_kind = 8, 'other work', NULL)
  FROM (SELECT 1 FROM named WHERE part IN ('softmax', 'exponential') LIMIT 1)
  CROSS JOIN all_memcpy
  UNION ALL
  SELECT pid, device_id, context_id, stream_id, start_ns, 'memset', memset_id, 'other work'
  FROM (SELECT 1 FROM named WHERE part IN ('softmax', 'exponential') LIMIT 1)
  CROSS JOIN all_memset
),
-- The number of the last product of the stream, from 1.
in_order AS MATERIALIZED (
  SELECT
    coalesce(pid, -1) AS pid,
    device_id,
    coalesce(context_id, -1) AS context_id,
    coalesce(stream_id, -1) AS stream_id,
    sum(coalesce(part, '') = 'product') OVER (
      PARTITION BY pid, device_id, context_id, stream_id
      ORDER BY start_ns, op_kind, op_id
      ROWS UNBOUNDED PRECEDING
    ) AS product,
    op_kind,
    op_id,
    part
  FROM op
),
-- What runs from one product to the next.
between_products AS (
  SELECT
    pid,
    device_id,
    context_id,
    stream_id,
    product,
    NOT max(part IS NULL)
      -- The softmax of a loss and its gradient have no product between them.
      AND (
        max(coalesce(part, '') = 'softmax') + max(coalesce(part, '') = 'gradient') = 1
        OR max(coalesce(part, '') = 'exponential')
          AND max(coalesce(part, '') = 'largest')
          AND NOT max(coalesce(part, '') = 'gradient')
      ) AS is_attention
  FROM in_order
  WHERE product > 0
  GROUP BY pid, device_id, context_id, stream_id, product
),
attention AS MATERIALIZED (
  SELECT pid, device_id, context_id, stream_id, product
  FROM (
    SELECT
      *,
      sum(is_attention) OVER in_stream AS attention_count,
      max(product) OVER in_stream AS last_product
    FROM between_products
    WINDOW in_stream AS (PARTITION BY pid, device_id, context_id, stream_id)
  )
  WHERE is_attention
    AND product < last_product
    AND attention_count * :products >= last_product
),
timed AS (
  SELECT
    overlap.gpu_id,
    overlap.start_ns,
    overlap.in_window_ns
      - max(overlap.concurrent_ns - overlap.communication_ns - overlap.memory_ns, 0) * (overlap.activity = 'compute')
      - (overlap.in_window_ns - overlap.exposed_ns) * (overlap.activity <> 'compute') AS dur_ns,
    overlap.op_name,
    overlap.op_kind,
    overlap.op_id
  FROM in_order
  CROSS JOIN attention
  JOIN gpu_overlap AS overlap
    ON overlap.op_kind = in_order.op_kind
    AND overlap.op_id = in_order.op_id
  WHERE in_order.part <> 'product'
    AND attention.product = in_order.product
    AND attention.stream_id = in_order.stream_id
    AND attention.context_id = in_order.context_id
    AND attention.device_id = in_order.device_id
    AND attention.pid = in_order.pid
)
SELECT gpu_id, start_ns, dur_ns, simple_name(op_name) AS subject, op_kind, op_id
FROM timed
WHERE dur_ns >= max(:least, 1)
ORDER BY gpu_id, start_ns, op_kind, op_id
