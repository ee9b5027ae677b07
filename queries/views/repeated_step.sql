/*---
name: repeated_step
summary: One row per part of what a process launches again and again on a GPU, without looking at NVTX ranges.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: level, type: int, doc: "0 for what is longest. Repeats of higher levels are shorter, such as the layers of a step."}
  - {name: kind, type: text, doc: "step: the program does this again and again. other: the same in another part of the program, with less kernel time. uneven: its kernels take too different times for a step, as in a sweep over sizes. block: a part that repeats without the host, such as a layer."}
  - {name: step, type: int, doc: "Number of the part, from 0."}
  - {name: step_count, type: int, unit: count, doc: "Parts of this level."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of its first GPU operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of its last GPU operation."}
  - {name: cpu_start_ns, type: timestamp, unit: ns, doc: "Start of its first launching call; null if the capture has none."}
  - {name: cpu_end_ns, type: timestamp, unit: ns, doc: "End of its last launching call; null if the capture has none."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations."}
  - {name: launch_count, type: int, unit: count, doc: "Launches. A CUDA graph is one launch."}
  - {name: likeness_pct, type: percent, unit: percent, doc: "What this part and the usual part both launch, of what either launches."}
  - {name: first_kind, type: text, doc: "Kind of its first operation in the order of launches: kernel, memcpy, memset or graph."}
  - {name: first_id, type: id, doc: "Row ID of that operation in the raw table."}
  - {name: global_tid, type: id, doc: "Thread that launched it, unique across hosts and VMs; null if the capture does not say."}
  - {name: state, type: int, doc: "Number of its steady state, from 0 in order of time per process and GPU; null for uneven parts and blocks."}
  - {name: is_sure, type: bool, doc: "1 for steps that have an end of their own: the host takes part in each, each consists of blocks and something else, each has 100 kernels or more or is a graph of many, or there are 200 or more. Several others can be one longer step, as layers of a pass are."}
  - {name: kernel_ns, type: duration, unit: ns, doc: "GPU time of its kernels and of graphs that were traced as a whole."}
  - {name: all_kernel_ns, type: duration, unit: ns, doc: "The same of all kernels of the process on the GPU."}
  - {name: top_kernel_name, type: text, doc: "Name of its longest kernel; null without kernels."}
limits: >-
  Parts are found by names that occur equally often, each once between two occurrences of the first. At least four of
  five parts must launch nearly the same. A repeat is a step if nearly every part has kernels, where kernels run, and copies from or
  to the host or waits for the GPU; if it is all that was launched, has 90 % of the kernel time, and is long; if it consists of
  blocks and something else; if it is nearly all that runs, 16 times or more, or 200 times with 90 % of the kernel time; or if each part is a graph of 100 kernels or
  more, or of 30, 16 times or more. If the host waits after every k-th of these parts and nowhere else, for k from 2 to 8, or to 64 if the
  GPU has nothing to do after each wait for half of the time, and at least three times, and a part has 30 kernels at most and no blocks, k parts are the step, as layers of a pass without other
  kernels are; so are k iterations of a loop of this kind. Two to four parts of more than 30 kernels that come in the same order
  again and again, and differ by a twentieth of their kernels or more, are one step. Two or three parts must launch 8 kernels or more. The kernels of
  seven of ten parts must take a third to three times the median, without growing or shrinking all the time by a factor of three, collectives left out where other kernels run, and all steady states together have 30 % of the
  time of these kernels. Where nothing else
  repeats, or only parts without the host, the rounds of a server are steps: 16 or more, with two names that occur once
  in each, with the host in nearly each, half like the usual one, and 90 % of the kernel time. A round begins
  after the longest pause of the host. If no name occurs once in a step, launch shapes distinguish kernels of one name,
  and bytes distinguish copies.
  What comes before and after the steps is searched in the same way, if it has 5 % of the kernel time. Parts
  of the program that repeat without the host are steady states if there are several, and no other kernel runs. Two to four sizes, one after the other, are steady states of their own. An operation without a
  launching call counts as launched before what follows it in its stream.
---*/
