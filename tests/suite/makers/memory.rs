//! Memory of PyTorch's allocators: the peak, and whose it was.

use super::{event, launched, run, sql, trace};
use serde_json::{Value, json};

const MIB: i64 = 1 << 20;

/// An allocation, or a release below 0, with what the allocator has afterwards.
fn memory(at: i64, address: i64, mib: i64, allocated: i64, device: (i64, i64)) -> Value {
    json!({
        "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 100, "ts": at,
        "args": {
            "Total Reserved": 8_000 * MIB, "Total Allocated": allocated * MIB, "Bytes": mib * MIB, "Addr": address,
            "Device Id": device.1, "Device Type": device.0,
        },
    })
}

#[test]
fn the_peak_and_whose_memory_it_was() {
    let thread = (100, 100);
    let gpu = (1, 0);
    let mut events = vec![
        event("user_annotation", "forward", thread, (900, 250), json!({})),
        event("cpu_op", "aten::empty", thread, (1_000, 20), json!({})),
        event("cpu_op", "aten::mm", thread, (1_090, 20), json!({})),
        event("python_function", "train.py(7): step", thread, (800, 1_000), json!({})),
        event("python_function", "nn.Module: Linear_0", thread, (1_080, 50), json!({})),
        event("python_function", "torch/nn/linear.py(3): forward", thread, (1_085, 40), json!({})),
        // 500 MiB were there before.
        memory(1_005, 1, 1_000, 1_500, gpu),
        memory(1_050, 2, 200, 1_700, gpu),
        memory(1_060, 2, -200, 1_500, gpu),
        memory(1_100, 3, 4_000, 5_500, gpu),
        memory(1_200, 3, -4_000, 1_500, gpu),
        memory(1_300, 3, 3_000, 4_500, gpu),
        // The host's memory is not that of GPU 0.
        memory(1_310, 9, 7_000, 7_000, (0, -1)),
    ];
    events.extend(launched(thread, 1_100, 20, 1));
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &events);
    let peaks = run(&path, "memory_peaks", &[]);
    let at = |us: i64| (us - 900) * 1_000;
    let want = |gpu: &str, kind: &str, bytes: [i64; 2], at: i64| {
        format!("{gpu},PyTorch,{kind},{},{at},{},", bytes[0] * MIB, bytes[1] * MIB)
    };
    assert!(peaks[0].starts_with(&want("0", "Device", [5_500, 8_000], at(1_100))), "{peaks:?}");
    assert!(
        peaks[0].ends_with(&format!("{},{},4,2,{}", 500 * MIB, 4_500 * MIB, 4_000 * MIB)),
        "{peaks:?}"
    );
    assert!(peaks[1].starts_with(&want("", "Host", [7_000, 8_000], at(1_310))), "{peaks:?}");
    let owners = |by: &str| {
        let rows = run(&path, "memory_at_peak", &["-p", &format!("by={by}")]);
        let of_gpu = rows.iter().filter(|row| row.starts_with('0'));
        let cells = of_gpu.map(|row| row.split(',').map(str::to_owned).collect::<Vec<_>>());
        cells.map(|row| (row[3].clone(), row[5].parse::<i64>().unwrap() / MIB)).collect::<Vec<_>>()
    };
    let row = |owner: &str, mib: i64| (owner.to_owned(), mib);
    let before = row("(before the capture)", 500);
    assert_eq!(owners("operator"), [row("aten::mm", 4_000), row("aten::empty", 1_000), before.clone()]);
    assert_eq!(owners("range"), [row("forward", 5_000), before.clone()]);
    assert_eq!(owners("module"), [row("Linear_0", 4_000), row("(none)", 1_000), before.clone()]);
    assert_eq!(owners("function"), [row("train.py(7): step", 5_000), before]);
    let over_time = run(&path, "memory_over_time", &["-p", "bins=3"]);
    let used = over_time.iter().filter(|row| row.starts_with('0'));
    let used: Vec<i64> = used.map(|row| row.split(',').nth(5).unwrap().parse().unwrap()).collect();
    assert_eq!(used.iter().max(), Some(&(5_500 * MIB)));
    // Highest level, rise, allocated, released and kept, in MiB; `aten::mm` lies in `forward`.
    let of = |range: &str| {
        let columns = "peak_bytes,rise_bytes,allocated_bytes,released_bytes,kept_bytes";
        let range = format!("range={range}");
        let rows = run(&path, "memory_by_range", &["-p", &range, "--gpu", "0", "--columns", columns]);
        let cells = rows[0].split(',').map(|cell| cell.parse::<i64>().unwrap() / MIB);
        cells.collect::<Vec<_>>()
    };
    assert_eq!(of("forward"), [5_500, 5_000, 5_200, 200, 1_000]);
    assert_eq!(of("aten::mm"), [5_500, 4_000, 4_000, 0, 0]);
    assert_eq!(of("aten::empty"), [1_500, 1_000, 1_000, 0, 1_000]);
}

/// Where no range marks the steps, those that repeat have rows.
#[test]
fn repeated_steps_have_rows() {
    let (thread, gpu) = ((100, 100), (1, 0));
    let mut events = Vec::new();
    // Each step allocates 4 MiB and 1 MiB, launches, and releases the 4 MiB: step 0 begins with its launch.
    for step in 0..300 {
        let at = 1_000 + 100 * step;
        events.push(memory(at, 2 * step, 4, 4 + step, gpu));
        events.push(memory(at + 10, 2 * step + 1, 1, 5 + step, gpu));
        events.extend(launched(thread, at + 20, 20, step + 1));
        events.push(memory(at + 60, 2 * step, -4, 1 + step, gpu));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &events);
    let columns =
        "range_name,range_count,allocations,allocated_bytes,released_bytes,kept_blocks,keeping_ranges";
    let rows = run(&path, "memory_by_range", &["--gpu", "0", "--columns", columns]);
    let (allocated, released) = (299 * 5 * MIB, 299 * 4 * MIB);
    assert_eq!(rows, [format!("step *,299,598,{allocated},{released},299,299")]);
    let more = ["-p", "by=name", "-p", "range=step 7", "--gpu", "0", "--columns", columns];
    let one = run(&path, "memory_by_range", &more);
    assert_eq!(one, [format!("step 7,1,2,{},{},1,1", 5 * MIB, 4 * MIB)]);
}

#[test]
fn memory_is_found_by_what_people_ask() {
    for words in ["peak memory", "memory leak", "oom"] {
        let found = crate::support::stdout(&["list", words]);
        assert!(found.contains("memory_peaks") || found.contains("memory_at_peak"), "{words}: {found}");
    }
    let events = launched((1, 1), 100, 10, 1);
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &events);
    assert_eq!(sql(&path, "SELECT count(*) FROM memory_event"), ["0"]);
}
