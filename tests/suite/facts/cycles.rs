//! Several reports of one rank: the profiler writes a file in each of its cycles.

use crate::support::stdout;
use std::path::{Path, PathBuf};

/// Collectives of one rank in one cycle: each 1 ms after the other. The rank comes `late` µs after the first.
struct Cycle {
    rank: usize,
    ranks: usize,
    number: usize,
    collectives: usize,
    late: usize,
    /// Whether the trace says the place of a collective in its group.
    has_sequence: bool,
}

impl Cycle {
    fn write(&self, folder: &Path) -> PathBuf {
        let Self { rank, ranks, number, collectives, late, .. } = *self;
        // A cycle of another rank has another clock.
        let base = 1_000 + 60_000_000 * number + 7_777 * rank;
        let members = (0..ranks).map(|rank| rank.to_string()).collect::<Vec<_>>().join(", ");
        let events: Vec<String> = (0..collectives)
            .map(|nth| {
                let (start, end) = (base + 1_000 * nth + late, base + 1_000 * nth + 500);
                let sequence = match self.has_sequence {
                    true => format!(r#","Seq":{}"#, number * collectives + nth),
                    false => String::new(),
                };
                format!(
                    r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":100,"ts":{},"dur":3,"args":{{"correlation":{correlation}}}}},
                       {{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL","pid":0,"tid":20,"ts":{start},"dur":{},"args":{{"device":0,"context":1,"stream":20,"correlation":{correlation},"Collective name":"allreduce","In msg nelems":1024,"Out msg nelems":1024,"Group size":{ranks},"dtype":"BFloat16","Process Group Name":"0","Process Group Ranks":"[{members}]"{sequence}}}}}"#,
                    start - 10,
                    end - start,
                    correlation = nth + 1,
                )
            })
            .collect();
        let path = folder.join(format!("worker{rank}.17{number}000.pt.trace.json"));
        let text = format!(
            r#"{{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{rank},"world_size":{ranks}}},"traceEvents":[{}]}}"#,
            events.join(",")
        );
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// Rows of `stragglers` for a job: rank, collectives, times it came last, and what the others waited, in ns.
fn stragglers(
    ranks: usize,
    cycles: usize,
    late: &dyn Fn(usize, usize) -> usize,
    has_sequence: bool,
) -> String {
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..ranks {
        for number in 0..cycles {
            let late = late(rank, number);
            Cycle { rank, ranks, number, collectives: 10, late, has_sequence }.write(folder.path());
        }
    }
    let columns = "rank,collective_count,last_count,caused_ns,report_count";
    let folder = folder.path().to_str().unwrap();
    let words = ["run", folder, "-q", "stragglers", "-f", "csv", "--no-header", "--columns", columns];
    // The first cell is the name of the report.
    stdout(&words).lines().filter_map(|line| Some(format!("{}\n", line.split_once(',')?.1))).collect()
}

#[test]
fn collectives_of_all_cycles_of_a_rank_are_found() {
    // The last rank comes 200 µs after the others in every collective.
    let last = |rank, _| if rank == 1 { 200 } else { 0 };
    assert_eq!(stragglers(2, 1, &last, true), "1,10,10,2000000,1\n0,10,0,0,1\n");
    assert_eq!(stragglers(2, 2, &last, true), "1,20,20,4000000,2\n0,20,0,0,2\n");
    let last = |rank, _| if rank == 2 { 200 } else { 0 };
    assert_eq!(stragglers(3, 3, &last, true), "2,30,30,12000000,3\n0,30,0,0,3\n1,30,0,0,3\n");
    // Another rank is late in the second cycle, by less.
    let turns = |rank: usize, number: usize| if rank == number { 200 - 100 * number } else { 0 };
    assert_eq!(stragglers(2, 2, &turns, true), "0,20,10,2000000,2\n1,20,10,1000000,2\n");
}

#[test]
fn cycles_that_count_from_0_are_not_mixed() {
    let last = |rank, _| if rank == 1 { 200 } else { 0 };
    assert_eq!(stragglers(2, 1, &last, false), "1,10,10,2000000,1\n0,10,0,0,1\n");
    // Nothing tells which cycles of two ranks belong together.
    assert_eq!(stragglers(2, 2, &last, false), "");
}
