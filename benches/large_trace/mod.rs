//! A generator of PyTorch traces of any size, with the mix of events of real traces.
//!
//! Of 100 events of a training run with shapes and without stacks, about 35 are operators, 21 runtime
//! calls, 31 flow events from calls to GPU work, 7 kernels, 3 copies and fills, and 3 flow events
//! between forward and backward. In a trace with stacks and memory, a quarter of the events are Python
//! functions and an eighth allocations. The generated trace mixes both kinds, and its texts are as long
//! as in real traces.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Number of distinct kernel names; a large training run has a few hundred.
const KERNELS: u64 = 300;

/// The path of a trace of at least `megabytes` MB, which is created if it is missing.
pub(crate) fn trace(megabytes: u64) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("large-trace-v1-{megabytes}.json"));
    if !path.exists() {
        let fresh = path.with_extension("part");
        let file = std::fs::File::create(&fresh).expect("the target folder can be written");
        write(BufWriter::with_capacity(1 << 20, file), megabytes * 1_000_000).expect("there is room");
        std::fs::rename(&fresh, &path).expect("the target folder can be written");
    }
    path
}

/// A writer that counts bytes.
struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write(out: impl Write, bytes: u64) -> io::Result<()> {
    let mut out = Counted { out, bytes: 0 };
    out.write_all(
        b"{\n  \"schemaVersion\": 1,\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 8},\n  \"traceEvents\": [\n",
    )?;
    out.write_all(
        b"  {\n    \"name\": \"process_name\", \"ph\": \"M\", \"ts\": 4458676416431.397, \"pid\": 4242, \"tid\": 0,\n    \"args\": {\n      \"name\": \"python3\"\n    }\n  }",
    )?;
    let mut group = 0;
    while out.bytes < bytes {
        write_group(&mut out, group)?;
        group += 1;
    }
    out.write_all(b"\n  ],\n  \"traceName\": \"trace.json\",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1712015592000000000\n}\n")
}

/// Writes one operator with its launches, about 18 events.
fn write_group(out: &mut impl Write, group: u64) -> io::Result<()> {
    // Microseconds with three decimals.
    let at = 4_458_676_500_000_000 + group * 41_237;
    let time = |ns: u64| format!("{}.{:03}", (at + ns) / 1000, (at + ns) % 1000);
    let (ev, thread) = (group * 20, if group.is_multiple_of(3) { 4301 } else { 4242 });
    const OPS: [&str; 6] =
        ["aten::linear", "aten::addmm", "aten::conv2d", "aten::copy_", "aten::add_", "aten::layer_norm"];
    for level in 0..4 {
        let name = OPS[((group + level) % 6) as usize];
        write!(
            out,
            ",\n  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{name}\", \"pid\": 4242, \"tid\": {thread},\n    \"ts\": {}, \"dur\": {}.{:03},\n    \"args\": {{\n      \"External id\": {ev},\"Record function id\": 0, \"Sequence number\": {group}, \"Fwd thread id\": 0, \"Concrete Inputs\": [\"\", \"\", \"[1, 1]\", \"[3, 3]\", \"False\"], \"Input type\": [\"float\", \"float\", \"ScalarList\", \"ScalarList\", \"Scalar\"], \"Input Strides\": [[802816, 12544, 112, 1], [576, 9, 3, 1], [], [], []], \"Input Dims\": [[32, 64, 112, 112], [64, 64, 3, 3], [], [], []], \"Ev Idx\": {ev}\n    }}\n  }}",
            time(level * 1_100),
            30 - level * 3,
            group % 1000,
        )?;
    }
    for call in 0..2 {
        let correlation = group * 2 + call + 1;
        write!(
            out,
            ",\n  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4242, \"tid\": {thread},\n    \"ts\": {}, \"dur\": 4.{:03},\n    \"args\": {{\n      \"External id\": {ev}, \"cbid\": 211, \"correlation\": {correlation}\n    }}\n  }}",
            time(5_000 + call * 6_000),
            group % 1000,
        )?;
        write!(
            out,
            ",\n  {{\n    \"ph\": \"s\", \"id\": {correlation}, \"pid\": 4242, \"tid\": {thread}, \"ts\": {},\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }}",
            time(5_000 + call * 6_000)
        )?;
        write!(
            out,
            ",\n  {{\n    \"ph\": \"f\", \"id\": {correlation}, \"pid\": 0, \"tid\": 7, \"ts\": {},\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }}",
            time(15_000 + call * 9_000)
        )?;
    }
    let kernel = group.wrapping_mul(0x9e37_79b9_7f4a_7c15) % KERNELS;
    let functor = "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, ".repeat(1 + (kernel % 5) as usize);
    write!(
        out,
        ",\n  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::elementwise_kernel_{kernel}<4, {functor}std::array<char*, 3ul> >(int, {functor}std::array<char*, 3ul>)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": {}, \"dur\": {}.{:03},\n    \"args\": {{\n      \"External id\": {ev},\n      \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, \"correlation\": {},\n      \"registers per thread\": 32,\n      \"shared memory\": 0,\n      \"blocks per SM\": 4.272727,\n      \"warps per SM\": 17.090910,\n      \"grid\": [{}, 1, 1],\n      \"block\": [128, 1, 1],\n      \"est. achieved occupancy %\": 27\n    }}\n  }}",
        time(15_000),
        3 + kernel % 17,
        group % 1000,
        group * 2 + 1,
        1 + group % 4096,
    )?;
    if group.is_multiple_of(3) {
        write!(
            out,
            ",\n  {{\n    \"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> Device)\", \"pid\": 0, \"tid\": 20,\n    \"ts\": {}, \"dur\": 2.{:03},\n    \"args\": {{\n      \"External id\": {ev},\n      \"device\": 0, \"context\": 1,\n      \"stream\": 20, \"correlation\": {},\n      \"bytes\": {}, \"memory bandwidth (GB/s)\": 12.34\n    }}\n  }}",
            time(24_000),
            group % 1000,
            group * 2 + 2,
            4096 + group % 65_536,
        )?;
    }
    for level in 0..2 {
        write!(
            out,
            ",\n  {{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"torch/nn/modules/module.py({}): _call_impl\", \"pid\": 4242, \"tid\": {thread},\n    \"ts\": {}, \"dur\": 35.{:03},\n    \"args\": {{\n      \"Python parent id\": {group}, \"Python id\": {}, \"Ev Idx\": {ev}\n    }}\n  }}",
            1700 + group % 30,
            time(level * 500),
            group % 1000,
            group * 2 + level,
        )?;
    }
    write!(
        out,
        ",\n  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\", \"pid\": 4242, \"tid\": {thread},\n    \"ts\": {},\n    \"args\": {{\n      \"Total Reserved\": 2629828608, \"Total Allocated\": 1003059712, \"Bytes\": 18317312, \"Addr\": 137877174353920, \"Device Id\": 0, \"Device Type\": 1, \"Ev Idx\": {ev}\n    }}\n  }}",
        time(3_000),
    )
}
