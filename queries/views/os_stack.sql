/*---
name: os_stack
summary: One row per frame of the stack of an OS runtime call.
present_if: [src_osrt_callchain]
reads: [src_osrt_callchain, src_string_id]
columns:
  - {name: stack_id, type: id, doc: "Stack of calls: stack_id of os_call. Several calls may share it."}
  - {name: depth, type: int, doc: "Distance from the outermost frame, which has 0."}
  - {name: from_leaf, type: int, doc: "Distance from the innermost frame, which has 0."}
  - {name: function_name, type: text, doc: "Function; its address, such as 0x7f12a0, if its name is unknown; [broken stack] for a mark of the profiler without a text."}
  - {name: name_id, type: id, doc: "ID of function_name; faster to group by than the text."}
  - {name: module_name, type: text, doc: "File name of the binary that contains the function, without its folder; null if unknown."}
  - {name: module_id, type: id, doc: "ID of the binary; faster to group by than the text."}
  - {name: is_kernel, type: bool, doc: "Whether the frame is inside the operating system kernel."}
  - {name: is_mark, type: bool, doc: "Whether the frame is no function but a mark of the profiler, such as [Broken backtraces]: the frames beyond it are unknown."}
  - {name: is_unresolved, type: bool, doc: "Whether the function of the address is unknown."}
  - {name: address, type: int, doc: "Instruction pointer of the frame; null if not recorded."}
limits: >-
  Calls shorter than the backtrace threshold of the capture (80 microseconds by default) have no stack. Stacks are
  native code: an interpreter shows its own functions.
---*/
SELECT
  stack_id,
  depth,
  from_leaf,
  coalesce(
    nullif((SELECT value FROM src_string_id WHERE id = name_id), ''),
    iif(is_mark, '[broken stack]', printf('0x%x', address))
  ) AS function_name,
  name_id,
  nullif(
    (SELECT replace(value, rtrim(value, replace(value, '/', '')), '') FROM src_string_id WHERE id = module_id),
    ''
  ) AS module_name,
  module_id,
  is_kernel,
  is_mark,
  is_unresolved,
  address
FROM (
  SELECT
    id AS stack_id,
    max(stackDepth) OVER (PARTITION BY id) - stackDepth AS depth,
    stackDepth AS from_leaf,
    symbol AS name_id,
    module AS module_id,
    coalesce(kernelMode, 0) <> 0 AS is_kernel,
    coalesce(specialEntry, 0) <> 0 OR originalIP IS NULL AS is_mark,
    coalesce(unresolved, 0) <> 0 AS is_unresolved,
    originalIP AS address
  FROM src_osrt_callchain
)
