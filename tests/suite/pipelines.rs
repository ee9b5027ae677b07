//! Jobs with tensor, data and pipeline parallelism, on communicators that nest and overlap: what is found is what a
//! simulation injected.

use crate::diff::program::Random;
use crate::support::{NEWEST_COMMON, drop_empty_tables, project, stdout};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;

type Row = BTreeMap<String, String>;

/// Rows of a query, as texts by column.
fn ask(query: &str, reports: &[String]) -> Vec<Row> {
    let words: Vec<&str> = ["run", "--query", query, "--format", "csv"]
        .into_iter()
        .chain(reports.iter().map(String::as_str))
        .collect();
    let csv = stdout(&words);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row =
        |row: csv::StringRecord| names.iter().cloned().zip(row.iter().map(str::to_owned)).collect();
    reader.records().map(Result::unwrap).map(row).collect()
}

fn int(row: &Row, column: &str) -> i64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// What a GPU ran: start and end on a true clock, its kernel, and the call of NCCL with its payload.
#[derive(Clone)]
struct Op {
    start: i64,
    end: i64,
    kernel: Kernel,
    call: Option<(&'static str, String)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kernel {
    Compute = 10,
    AllReduce = 11,
    SendRecv = 12,
}

/// Each rank is t + tensor x (d + data x s): its place in its tensor, data and pipeline parallel group.
struct Job {
    tensor: usize,
    data: usize,
    stages: usize,
    ops: Vec<Vec<Op>>,
    /// From rank, to rank, place among these: how long the sender and the receiver wait.
    waits: BTreeMap<(usize, usize, usize), (i64, i64)>,
}

const STEPS: usize = 20;
const MICROBATCHES: usize = 4;
const TRANSFER_NS: i64 = 30_000;
const SENT_BYTES: i64 = 4 << 20;

impl Job {
    fn ranks(&self) -> usize {
        self.tensor * self.data * self.stages
    }

    fn place(&self, rank: usize) -> (usize, usize, usize) {
        let pair = rank / self.tensor;
        (rank % self.tensor, pair % self.data, pair / self.data)
    }

    fn rank(&self, t: usize, d: usize, s: usize) -> usize {
        t + self.tensor * (d + self.data * s)
    }

    /// Runs the steps. Stage `slow` computes for twice as long.
    fn run(seed: u64, tensor: usize, data: usize, stages: usize, slow: usize) -> Self {
        let mut random = Random::new(seed);
        let mut job = Self { tensor, data, stages, ops: Vec::new(), waits: BTreeMap::new() };
        job.ops = vec![Vec::new(); job.ranks()];
        let mut free = vec![50_000_000i64; job.ranks()];
        let mut sent: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for _ in 0..STEPS {
            for _ in 0..MICROBATCHES {
                for stage in 0..stages {
                    let of_stage: Vec<usize> =
                        (0..job.ranks()).filter(|rank| job.place(*rank).2 == stage).collect();
                    for &rank in &of_stage {
                        let (t, d, s) = job.place(rank);
                        if stage > 0 {
                            let from = job.rank(t, d, s - 1);
                            let (send, receive) = (free[from], free[rank]);
                            let end = send.max(receive) + TRANSFER_NS;
                            let communicator = job.communicator("pipeline", rank);
                            job.pass(from, "ncclSend", send, end, &communicator, s);
                            job.pass(rank, "ncclRecv", receive, end, &communicator, s - 1);
                            let nth = sent.entry((from, rank)).or_default();
                            let waits = ((receive - send).max(0), (send - receive).max(0));
                            job.waits.insert((from, rank, *nth), waits);
                            *nth += 1;
                            (free[from], free[rank]) = (end + 500, end + 500);
                        }
                        let time = if stage == slow { 400_000 } else { 200_000 };
                        let time = time + (5000.0 * random.even()) as i64;
                        let (start, end) = (free[rank], free[rank] + time);
                        job.ops[rank].push(Op { start, end, kernel: Kernel::Compute, call: None });
                        free[rank] = end + 500;
                    }
                    job.reduce(&of_stage, "tensor", &mut free, &mut random);
                }
            }
            let all: Vec<usize> = (0..job.ranks()).collect();
            job.reduce(&all, "data", &mut free, &mut random);
            job.reduce(&all, "world", &mut free, &mut random);
            job.reduce(&all, "world", &mut free, &mut random);
        }
        job
    }

    /// The communicator of a kind that a rank belongs to, as NCCL writes its ID.
    fn communicator(&self, kind: &str, rank: usize) -> String {
        let (t, d, s) = self.place(rank);
        match kind {
            "tensor" => format!("1{d:02}{s:02}"),
            "data" => format!("2{t:02}{s:02}"),
            "pipeline" => format!("3{t:02}{d:02}"),
            _ => "4".to_owned(),
        }
    }

    fn members(&self, kind: &str, communicator: &str) -> Vec<usize> {
        (0..self.ranks()).filter(|rank| self.communicator(kind, *rank) == communicator).collect()
    }

    fn pass(
        &mut self,
        rank: usize,
        call: &'static str,
        start: i64,
        end: i64,
        communicator: &str,
        peer: usize,
    ) {
        let payload = format!(
            "{{\"NCCL communicator ID\":{communicator},\"Message size [bytes]\":{SENT_BYTES},\"Peer rank\":{peer}}}"
        );
        self.ops[rank].push(Op { start, end, kernel: Kernel::SendRecv, call: Some((call, payload)) });
    }

    /// An all-reduce in each communicator of a kind that has more than one of these ranks.
    fn reduce(&mut self, ranks: &[usize], kind: &str, free: &mut [i64], random: &mut Random) {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for rank in ranks {
            groups.entry(self.communicator(kind, *rank)).or_default().push(*rank);
        }
        for (communicator, group) in groups.into_iter().filter(|(_, group)| group.len() > 1) {
            let last = group.iter().map(|rank| free[*rank]).max().unwrap();
            for rank in group {
                let end = last + 50_000 + (500.0 * random.even()) as i64;
                let payload = format!(
                    "{{\"NCCL communicator ID\":{communicator},\"Message size [bytes]\":1048576,\"Reduction operation\":\"Sum\"}}"
                );
                let call = Some(("ncclAllReduce", payload));
                self.ops[rank].push(Op { start: free[rank], end, kernel: Kernel::AllReduce, call });
                free[rank] = end + 500;
            }
        }
    }

    /// A report for each rank. `cut`: a rank whose capture ends early, after this number of operations.
    fn write(&self, folder: &Path, cut: Option<(usize, usize)>) -> Vec<String> {
        let schema = project(&format!("fixtures/schema/{NEWEST_COMMON}.sql"));
        let schema = std::fs::read_to_string(schema).unwrap();
        let mut paths = Vec::new();
        for rank in 0..self.ranks() {
            let path = folder.join(format!("rank{rank:02}.sqlite"));
            let connection = Connection::open(&path).unwrap();
            connection
                .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
                .unwrap();
            connection.execute_batch(&schema).unwrap();
            connection
                .execute_batch(
                    "INSERT INTO StringIds (id, value) VALUES (1, 'cudaLaunchKernelExC_v11060'), (10, 'gemm'),
                       (11, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (12, 'ncclDevKernel_SendRecv')",
                )
                .unwrap();
            let process = 1i64 << 48 | (100 + rank as i64) << 24;
            let offset = (rank as i64 * 7_919_000_000) % 60_000_000_000;
            let range = |start: i64, end: i64, name: &str, payload: &str| {
                let sql = "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, jsonText)
                           VALUES (?1, ?2, 59, ?3, ?4, 1, ?5)";
                let values = (start + offset, end + offset, name, process | 1, payload);
                connection.execute(sql, values).unwrap();
            };
            for (place, kind) in ["world", "tensor", "data", "pipeline"].iter().enumerate() {
                let communicator = self.communicator(kind, rank);
                let members = self.members(kind, &communicator);
                let own = members.iter().position(|member| *member == rank).unwrap();
                let payload = format!(
                    "{{\"NCCL communicator ID\":{communicator},\"No. of ranks\":{},\"Rank\":{own},\"CUDA device\":0}}",
                    members.len()
                );
                let at = 1000 * (place as i64 + 1);
                range(at, at + 500, "ncclCommInitRankConfig", &payload);
            }
            let kept = cut.filter(|(of, _)| *of == rank).map_or(usize::MAX, |(_, count)| count);
            for (n, op) in self.ops[rank].iter().enumerate().take(kept) {
                // All work is launched long before it runs.
                let (at, id) = (100_000 + 10_000 * n as i64, n as i64 + 1);
                if let Some((name, payload)) = &op.call {
                    range(at, at + 8000, name, payload);
                }
                connection
                    .execute(
                        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId,
                           nameId, returnValue) VALUES (?1, ?2, 0, ?3, ?4, 1, 0)",
                        (at + 2000 + offset, at + 5000 + offset, process | 1, id),
                    )
                    .unwrap();
                connection
                    .execute(
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId,
                           correlationId, globalPid, demangledName, shortName, mangledName, gridX, gridY, gridZ,
                           blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory,
                           localMemoryPerThread, localMemoryTotal, gridId, tensorSizeMinusOneElements)
                         VALUES (?1, ?2, 0, 1, 7, ?3, ?4, ?5, ?5, ?5, 24, 1, 1, 512, 1, 1, 96, 0, 0, 0, 0, 0, '')",
                        (op.start + offset, op.end + offset, id, process, op.kernel as i64),
                    )
                    .unwrap();
            }
            connection.execute_batch("COMMIT").unwrap();
            drop_empty_tables(&connection);
            paths.push(path.to_str().unwrap().to_owned());
        }
        paths
    }
}

#[test]
fn sends_are_matched_and_bubbles_are_those_of_the_simulation() {
    for (seed, (tensor, data, stages, slow)) in
        [(2, 2, 2, 1), (1, 1, 4, 2), (1, 2, 3, 0), (2, 1, 1, 0)].into_iter().enumerate()
    {
        let job = Job::run(seed as u64, tensor, data, stages, slow);
        let folder = tempfile::tempdir().unwrap();
        let reports = job.write(folder.path(), None);
        let pairs = ask("point_to_point_waits", &reports);
        assert_eq!(pairs.len(), job.waits.len());
        for pair in &pairs {
            let [from, to, nth] =
                ["from_rank", "to_rank", "sequence"].map(|key| int(pair, key) as usize);
            let (sender, receiver) = job.waits[&(from, to, nth)];
            assert!(pair["seen"] == "both" && pair["agrees"] == "1", "{pair:?}");
            assert_eq!(int(pair, "size_bytes"), SENT_BYTES);
            let uncertainty = int(pair, "uncertainty_ns");
            assert!(uncertainty < 3000, "{pair:?}");
            for (column, wanted) in [("sender_wait_ns", sender), ("receiver_wait_ns", receiver)] {
                match pair[column].parse::<i64>() {
                    Ok(wait) => assert!((wait - wanted).abs() <= 2 * uncertainty, "{pair:?}: {wanted}"),
                    Err(_) => assert!(wanted <= 2 * uncertainty, "{pair:?}: {wanted}"),
                }
            }
            assert!((int(pair, "transfer_ns") - TRANSFER_NS).abs() <= 2 * uncertainty, "{pair:?}");
        }
        let bubbles = ask("pipeline_bubbles", &reports);
        assert_eq!(bubbles.len(), if stages > 1 { job.ranks() } else { 0 }, "{bubbles:?}");
        for row in &bubbles {
            let rank = int(row, "rank") as usize;
            let (t, d, s) = job.place(rank);
            assert_eq!(int(row, "stage"), s as i64, "{row:?}");
            assert_eq!(int(row, "stage_count"), stages as i64);
            // Kernels of a rank never overlap here.
            let ops = &job.ops[rank];
            let sum = |kernel: Kernel| -> i64 {
                ops.iter().filter(|op| op.kernel == kernel).map(|op| op.end - op.start).sum()
            };
            let window = ops.iter().map(|op| op.end).max().unwrap()
                - ops.iter().map(|op| op.start).min().unwrap();
            let idle = window - ops.iter().map(|op| op.end - op.start).sum::<i64>();
            assert_eq!(int(row, "window_ns"), window);
            assert_eq!(int(row, "compute_ns"), sum(Kernel::Compute));
            assert_eq!(int(row, "exposed_p2p_ns"), sum(Kernel::SendRecv));
            assert_eq!(int(row, "other_communication_ns"), sum(Kernel::AllReduce));
            assert_eq!(int(row, "bubble_ns"), idle + sum(Kernel::SendRecv));
            let count = |name: &str| {
                ops.iter().filter(|op| op.call.as_ref().is_some_and(|call| call.0 == name)).count()
                    as i64
            };
            assert_eq!(
                (int(row, "send_count"), int(row, "receive_count")),
                (count("ncclSend"), count("ncclRecv"))
            );
            let first = |rank: usize| job.ops[rank].iter().map(|op| op.start).min().unwrap();
            let earliest = (0..stages).map(|stage| first(job.rank(t, d, stage))).min().unwrap();
            assert!((int(row, "behind_first_ns") - (first(rank) - earliest)).abs() < 3000, "{row:?}");
        }
    }
}

#[test]
fn roles_follow_from_how_communicators_cross() {
    let job = Job::run(11, 2, 2, 2, 0);
    let folder = tempfile::tempdir().unwrap();
    let reports = job.write(folder.path(), None);
    let roles = ask("communicator_roles", &reports);
    let of = |kind: char| -> Vec<(&str, &str, &str)> {
        let rows = roles.iter().filter(|row| row["communicator"].starts_with(kind));
        rows.map(|row| (row["role"].as_str(), row["stride"].as_str(), row["rank_count"].as_str()))
            .collect()
    };
    assert_eq!(of('1'), [("tensor", "1", "2"); 4], "{roles:?}");
    assert_eq!(of('2'), [("data", "2", "2"); 4], "{roles:?}");
    assert_eq!(of('3'), [("pipeline", "4", "2"); 4], "{roles:?}");
    assert_eq!(of('4'), [("", "1", "8")], "{roles:?}");
    let world = roles.iter().find(|row| row["communicator"] == "4").unwrap();
    assert!(world["evidence"].starts_with("cannot tell"), "{world:?}");
    // The page shows them, and the pipelines.
    let all = folder.path().to_str().unwrap();
    let text = stdout(&["page", "job", all, "-p", "top=20"]);
    for (role, ranks) in [("tensor", "0 to 1"), ("data", "0 to 2 by 2"), ("pipeline", "0 to 4 by 4")] {
        let shows = |line: &str| line.starts_with(role) && line.contains(ranks);
        assert!(text.lines().any(shows), "{role}: {text}");
    }
    let bubbles = ask("pipeline_bubbles", &reports);
    for pipeline in 0..4 {
        let stages = || bubbles.iter().filter(|row| int(row, "pipeline") == pipeline);
        let least = stages().min_by_key(|row| int(row, "bubble_ns")).unwrap();
        let line = format!(
            "Pipeline {pipeline}: 2 of 2 stages. Stage {} (rank {}) has the least bubbles",
            least["stage"], least["rank"]
        );
        assert!(text.contains(&line), "{line}: {text}");
    }
    let html = stdout(&["page", "job", all, "--format", "html"]);
    assert!(html.contains("<h2>Bubbles of pipelines</h2>"), "{html}");
    assert!(html.contains("<td>pipeline</td>") && html.contains("<td>tensor</td>"), "{html}");
    // One communicator alone says nothing.
    let job = Job::run(12, 1, 2, 1, 0);
    let folder = tempfile::tempdir().unwrap();
    let roles = ask("communicator_roles", &job.write(folder.path(), None));
    assert!(roles.iter().all(|row| row["role"].is_empty()), "{roles:?}");
}

/// What a truncated capture has is matched; the rest is seen on one side only.
#[test]
fn truncated_captures_are_told() {
    let job = Job::run(5, 1, 2, 3, 1);
    let folder = tempfile::tempdir().unwrap();
    let cut = job.rank(0, 0, 1);
    let kept = job.ops[cut].len() / 2;
    let reports = job.write(folder.path(), Some((cut, kept)));
    let count = |name: &str, from: usize| {
        let ops = job.ops[cut].iter().skip(from);
        ops.filter(|op| op.call.as_ref().is_some_and(|call| call.0 == name)).count()
    };
    let pairs = ask("point_to_point_waits", &reports);
    assert_eq!(pairs.len(), job.waits.len());
    let seen = |what: &str| pairs.iter().filter(|pair| pair["seen"] == what).count();
    assert_eq!(seen("receive only"), count("ncclSend", kept));
    assert_eq!(seen("send only"), count("ncclRecv", kept));
    assert!(
        pairs.iter().filter(|pair| pair["seen"] != "both").all(|pair| pair["sender_wait_ns"].is_empty())
    );
    // Collectives of the lost half are seen on one rank less.
    let arrivals = ask("collective_arrivals", &reports);
    let world = |count: &str| {
        arrivals.iter().filter(|row| row["communicator"] == "4" && row["seen_count"] == count).count()
    };
    let lost = job.ops[cut][kept..]
        .iter()
        .filter(|op| op.call.as_ref().is_some_and(|call| call.1.contains("ID\":4,")))
        .count();
    assert!(lost > 5);
    assert_eq!((world("6"), world("5")), (6 * (2 * STEPS - lost), 5 * lost));
}

/// Ranks of reports that do not tell them: from the environment, else from the name of the file.
#[test]
fn ranks_come_from_the_environment_or_the_file_name() {
    let job = Job::run(3, 1, 2, 1, 0);
    let folder = tempfile::tempdir().unwrap();
    let reports = job.write(folder.path(), None);
    let variables = |report: &str, variables: &[&str]| {
        let connection = Connection::open(report).unwrap();
        connection
            .execute_batch(
                "DELETE FROM NVTX_EVENTS WHERE text = 'ncclCommInitRankConfig';
                 CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT)",
            )
            .unwrap();
        for variable in variables {
            let sql = "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?1)";
            connection.execute(sql, [variable]).unwrap();
        }
    };
    variables(&reports[0], &["SLURM_PROCID=\"9\"", "RANK=\"3\"", "WORLD_SIZE=\"4\"", "TOKEN=\"12\""]);
    variables(&reports[1], &["RANK=\"3 or 4\"", "WORLD_SIZE=8", "LOCAL_RANK=1"]);
    let ranks = |options: &[&str]| -> Vec<[String; 3]> {
        let words =
            [&["run", "-q", "ranks", "-f", "csv", "--columns", "rank,rank_count,source"], options]
                .concat();
        let words: Vec<&str> = words.into_iter().chain(reports.iter().map(String::as_str)).collect();
        let text = stdout(&words);
        let rows = text
            .lines()
            .skip(1)
            .map(|line| line.split(',').skip(1).map(str::to_owned).collect::<Vec<_>>());
        rows.map(|row| row.try_into().unwrap()).collect()
    };
    let row = |rank: &str, count: &str, source: &str| [rank, count, source].map(str::to_owned);
    assert_eq!(ranks(&[]), [row("3", "4", "environment"), row("1", "", "file name")]);
    let named = ["--rank-pattern", "rank([0-9]+)"];
    assert_eq!(ranks(&named), [row("3", "4", "environment"), row("1", "", "file name")]);
    // Nothing else of the environment is shown.
    let all =
        stdout(&["sql", &reports[0], "SELECT value FROM src_rank_variable ORDER BY 1", "-f", "csv"]);
    assert!(!all.contains("TOKEN") && all.lines().count() == 4, "{all}");
    let all = stdout(&["sql", &reports[1], "SELECT value FROM src_rank_variable", "-f", "csv"]);
    assert_eq!(all, "value\nWORLD_SIZE=8\n");
}

/// One process with both GPUs: its collectives are those of two ranks.
#[test]
fn a_process_can_have_several_ranks() {
    let job = Job::run(7, 1, 2, 1, 0);
    let folder = tempfile::tempdir().unwrap();
    let reports = job.write(folder.path(), None);
    let apart = ask("collective_arrivals", &reports);
    // Rank 1's rows move to the process of rank 0, on device 1, to the clock of its report.
    let connection = Connection::open(&reports[0]).unwrap();
    let (own, other) = (1i64 << 48 | 100 << 24, 1i64 << 48 | 101 << 24);
    connection
        .execute_batch(&format!(
            "ATTACH '{}' AS other;
             INSERT INTO NVTX_EVENTS SELECT * FROM other.NVTX_EVENTS;
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM other.CUPTI_ACTIVITY_KIND_RUNTIME;
             INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM other.CUPTI_ACTIVITY_KIND_KERNEL;
             UPDATE NVTX_EVENTS SET start = start - 7919000000, end = end - 7919000000, globalTid = {own} | 2,
               jsonText = replace(jsonText, '\"CUDA device\":0', '\"CUDA device\":1')
             WHERE globalTid = {other} | 1;
             UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = start - 7919000000, end = end - 7919000000,
               globalTid = {own} | 2, correlationId = correlationId + 100000 WHERE globalTid = {other} | 1;
             UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - 7919000000, end = end - 7919000000, deviceId = 1,
               globalPid = {own}, correlationId = correlationId + 100000 WHERE globalPid = {other};",
            reports[1]
        ))
        .unwrap();
    let together = ask("collective_arrivals", &reports[..1]);
    assert_eq!(together.len(), apart.len());
    let of = |rows: &[Row]| -> BTreeMap<(String, i64, i64), i64> {
        let key = |row: &Row| (row["communicator"].clone(), int(row, "sequence"), int(row, "rank"));
        rows.iter().map(|row| (key(row), row["wait_ns"].parse().unwrap_or(-1))).collect()
    };
    let (apart, together) = (of(&apart), of(&together));
    assert!(apart.keys().eq(together.keys()), "{apart:?} {together:?}");
    for (key, wait) in &apart {
        // Two reports cannot tell waits below the uncertainty of their clocks.
        assert!(*wait < 0 || (wait - together[key]).abs() < 3000, "{key:?}: {wait} {}", together[key]);
    }
}
