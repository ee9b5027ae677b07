//! Ranks together: collectives matched over ranks and reports, clocks aligned, stragglers named.

use crate::diff::program::Random;
use crate::support::{NEWEST_COMMON, drop_empty_tables, outcome, project, shared, stdout};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;

type Row = BTreeMap<String, String>;

fn ask(query: &str, reports: &[String]) -> Vec<Row> {
    let mut words = vec!["run"];
    words.extend(reports.iter().map(String::as_str));
    words.extend(["--query", query, "--format", "csv"]);
    let csv = stdout(&words);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row =
        |row: csv::StringRecord| names.iter().cloned().zip(row.iter().map(str::to_owned)).collect();
    reader.records().map(Result::unwrap).map(row).collect()
}

fn real(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// Both ranks of a training run, on one clock.
fn two_ranks() -> Option<String> {
    let path = shared()?.join("data/exports/rtx3090x2_ddp_nccl_2026.3.sqlite");
    Some(path.to_str().unwrap().to_owned())
}

/// Start and end of each collective's kernel by process and place, with a join by hand.
fn by_hand(path: &str) -> BTreeMap<(i64, i64), (i64, i64)> {
    let connection = Connection::open(path).unwrap();
    let sql = "
        WITH call AS (
          SELECT start, end, globalTid, row_number() OVER (PARTITION BY globalTid >> 24 ORDER BY start) - 1 AS n
          FROM NVTX_EVENTS AS e
          WHERE coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) IN ('ncclAllReduce', 'ncclBroadcast'))
        SELECT call.globalTid >> 24 & 0xffffff, call.n, k.start, k.end
        FROM call
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
          ON r.globalTid = call.globalTid AND r.start >= call.start AND r.end <= call.end
        JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k
          ON k.correlationId = r.correlationId AND k.globalPid = (r.globalTid & ~0xffffff)";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement
        .query_map([], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))))
        .unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn waits_are_those_of_a_join_by_hand() {
    let Some(path) = two_ranks() else { return };
    let arrivals = ask("collective_arrivals", std::slice::from_ref(&path));
    assert_eq!(arrivals.len(), 460);
    let kernels = by_hand(&path);
    let pids: Vec<i64> = kernels.keys().map(|(pid, _)| *pid).collect();
    let mut longest = 0;
    for row in &arrivals {
        assert!(row["seen_count"] == "2" && row["rank_count"] == "2" && row["agrees"] == "1", "{row:?}");
        let pid: i64 = row["pid"].parse().unwrap();
        let n: i64 = row["sequence"].parse().unwrap();
        let other = pids.iter().find(|other| **other != pid).unwrap();
        let ((start, end), (of_other, _)) = (kernels[&(pid, n)], kernels[&(*other, n)]);
        let wait = (of_other - start).clamp(0, end - start);
        assert_eq!(row["wait_ns"], wait.to_string(), "{row:?}");
        assert_eq!(row["transfer_ns"], (end - start.max(of_other)).max(0).to_string(), "{row:?}");
        longest = longest.max(wait);
    }
    assert_eq!(longest, 132_338_285);
    let stragglers = ask("stragglers", std::slice::from_ref(&path));
    assert_eq!(
        (stragglers[0]["rank"].as_str(), stragglers[0]["longest_ns"].as_str()),
        ("1", "132338285")
    );
    let caused: i64 = arrivals
        .iter()
        .filter(|row| row["rank"] == "0")
        .map(|row| row["wait_ns"].parse::<i64>().unwrap())
        .sum();
    assert_eq!(stragglers[0]["caused_ns"], caused.to_string());
    // Bus bandwidth by hand: 2 (n - 1) / n is 1 for two ranks.
    let bandwidth = ask("bus_bandwidth", std::slice::from_ref(&path));
    for row in &bandwidth {
        let bytes = real(row, "size_bytes");
        assert!(
            (real(row, "bus_bytes_per_s") - 1e9 * bytes / real(row, "transfer_ns")).abs() < 1.0,
            "{row:?}"
        );
    }
    // The first screen says the same of the collectives that take the most time.
    let first = ask("reached_bandwidth", &[path]);
    assert_eq!(first.len(), 1);
    for column in ["operation", "size_bytes", "rank_count", "seen_count", "transfer_ns"] {
        assert_eq!(first[0][column], bandwidth[0][column], "{column}");
    }
    assert!(
        (real(&first[0], "bus_bytes_per_s") / real(&bandwidth[0], "bus_bytes_per_s") - 1.0).abs() < 1e-9
    );
}

/// The same run as two reports, the second one with a clock that is hours behind and 40 ppm slow.
#[test]
fn the_page_compares_collectives_with_the_links() {
    let Some(path) = two_ranks() else { return };
    let text = stdout(&["page", "job", &path, "-p", "top=20"]);
    // 4 x 14.0625 GB/s in one direction: see the whitepaper that the page names.
    assert!(text.contains("The links of each GPU carry 56.25 GB/s in one direction"), "{text}");
    let use_of_links = ask("link_use", std::slice::from_ref(&path));
    assert!(!use_of_links.is_empty());
    for row in &use_of_links {
        assert!(row["url"].starts_with("https://www.nvidia.com/"), "{row:?}");
        let share = 100.0 * real(row, "bus_bytes_per_s") / 56.25e9;
        assert!((real(row, "link_pct") - share).abs() < 1e-9, "{row:?}");
    }
    assert!(text.contains("NVIDIA GA102 whitepaper"), "{text}");
    assert!(text.lines().any(|line| line.ends_with("9.54 GB/s        17.0 %")), "{text}");
}

#[test]
fn two_reports_with_other_clocks_give_the_same_waits() {
    let Some(path) = two_ranks() else { return };
    let folder = tempfile::tempdir().unwrap();
    let pids: Vec<i64> = by_hand(&path).keys().map(|(pid, _)| *pid).collect();
    let reports: Vec<String> = [pids[0], *pids.last().unwrap()]
        .iter()
        .enumerate()
        .map(|(place, pid)| {
            let own = folder.path().join(format!("rank{place}.sqlite"));
            std::fs::copy(&path, &own).unwrap();
            let connection = Connection::open(&own).unwrap();
            for (table, process) in [
                ("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid"),
                ("CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid"),
                ("CUPTI_ACTIVITY_KIND_MEMSET", "globalPid"),
                ("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"),
                ("NVTX_EVENTS", "globalTid"),
            ] {
                let sql = format!("DELETE FROM {table} WHERE ({process} >> 24 & 0xffffff) <> {pid}");
                connection.execute(&sql, ()).unwrap();
                if place == 1 {
                    let time =
                        |column: &str| format!("CAST({column} / 1.00004 AS INTEGER) - 7200000000000");
                    let sql =
                        format!("UPDATE {table} SET start = {}, end = {}", time("start"), time("end"));
                    connection.execute(&sql, ()).unwrap();
                }
            }
            own.to_str().unwrap().to_owned()
        })
        .collect();
    let clocks = ask("rank_clocks", &reports);
    let uncertainty = real(&clocks[1], "uncertainty_ns");
    assert!((1.0..200_000.0).contains(&uncertainty), "{clocks:?}");
    assert!((real(&clocks[1], "drift_ppm") - 40.0).abs() < 5.0, "{clocks:?}");
    let at = real(&clocks[1], "at_ns");
    let true_offset = (at + 7.2e12) * 1.00004 - at;
    assert!(
        (real(&clocks[1], "offset_ns") - true_offset).abs() <= uncertainty,
        "{clocks:?}: {true_offset}"
    );

    let key = |row: &Row| (row["sequence"].clone(), row["rank"].clone());
    let whole: BTreeMap<_, _> = ask("collective_arrivals", std::slice::from_ref(&path))
        .into_iter()
        .map(|row| (key(&row), row))
        .collect();
    let (mut known, mut unknown) = (0, 0);
    for row in ask("collective_arrivals", &reports) {
        let wanted = real(&whole[&key(&row)], "wait_ns");
        match row["wait_ns"].parse::<f64>() {
            Ok(wait) => {
                assert!((wait - wanted).abs() <= 2.0 * uncertainty, "{row:?}: {wanted}");
                known += 1;
            }
            Err(_) => {
                assert!(wanted <= 2.0 * uncertainty, "{row:?}: {wanted}");
                unknown += 1;
            }
        }
    }
    assert!(known > 20 && known + unknown == 460, "{known} {unknown}");
    let stragglers = ask("stragglers", &reports);
    assert_eq!(stragglers[0]["rank"], "1");
    assert!((real(&stragglers[0], "longest_ns") - 132_338_285.0).abs() <= 2.0 * uncertainty);
}

/// Why the straggler of a job is late.
#[derive(Clone, Copy, PartialEq)]
enum Cause {
    Compute,
    Host,
}

/// A job: when each rank comes to each collective, on a true clock.
struct Job {
    ranks: usize,
    per_report: usize,
    straggler: usize,
    cause: Cause,
    /// Whether NCCL records payloads.
    has_payloads: bool,
    arrivals: Vec<Vec<i64>>,
    transfer_ns: i64,
    /// Offset in ns and drift of each report's clock.
    clocks: Vec<(i64, f64)>,
}

impl Job {
    /// Rank `straggler` comes later by `late_ns` in every third collective.
    fn random(seed: u64, ranks: usize, per_report: usize, straggler: usize, late_ns: i64) -> Self {
        let mut random = Random::new(seed);
        let (transfer_ns, mut now) = (80_000, 5_000_000i64);
        let arrivals = (0..90)
            .map(|n| {
                let here: Vec<i64> = (0..ranks)
                    .map(|rank| {
                        let late = if rank == straggler && n % 3 == 0 { late_ns } else { 0 };
                        now + late + (3000.0 * random.even()) as i64
                    })
                    .collect();
                now = here.iter().max().unwrap() + transfer_ns + 400_000;
                here
            })
            .collect();
        let clocks = (0..ranks.div_ceil(per_report))
            .map(|report| match report {
                0 => (0, 0.0),
                _ => ((1e13 * (random.even() - 0.5)) as i64, 1e-4 * (random.even() - 0.5)),
            })
            .collect();
        let cause = if seed.is_multiple_of(2) { Cause::Compute } else { Cause::Host };
        Self { ranks, per_report, straggler, cause, has_payloads: true, arrivals, transfer_ns, clocks }
    }

    /// The reports. `lost` are ranks that no report has.
    fn write(&self, folder: &Path, lost: &[usize]) -> Vec<String> {
        let mut random = Random::new(self.ranks as u64);
        let mut paths = Vec::new();
        for (report, (offset, drift)) in self.clocks.iter().enumerate() {
            let path = folder.join(format!("host{report}.sqlite"));
            let connection = Connection::open(&path).unwrap();
            connection
                .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
                .unwrap();
            let schema = project(&format!("fixtures/schema/{NEWEST_COMMON}.sql"));
            connection.execute_batch(&std::fs::read_to_string(schema).unwrap()).unwrap();
            connection
                .execute_batch(
                    "INSERT INTO StringIds (id, value) VALUES (1, 'cudaLaunchKernelExC_v11060'),
                       (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (3, 'gemm')",
                )
                .unwrap();
            let clock = |time: i64| ((time as f64) / (1.0 + drift)) as i64 - offset;
            let ranks = report * self.per_report..((report + 1) * self.per_report).min(self.ranks);
            for rank in ranks.filter(|rank| !lost.contains(rank)) {
                let process = (1i64 << 48) | ((100 + rank as i64) << 24);
                let payload =
                    |more: &str| format!("{{\"NCCL communicator ID\":17293822569102704640,{more}}}");
                let mut range = connection
                    .prepare(
                        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, jsonText)
                         VALUES (?1, ?2, 59, ?3, ?4, 1, ?5)",
                    )
                    .unwrap();
                let made = payload(&format!(
                    "\"No. of ranks\":{},\"Rank\":{rank},\"CUDA device\":0",
                    self.ranks
                ));
                if self.has_payloads {
                    range
                        .execute((clock(1000), clock(2000), "ncclCommInitRank", process | 1, made))
                        .unwrap();
                }
                let mut kernel = connection
                    .prepare(
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId,
                           correlationId, globalPid, demangledName, shortName, mangledName, gridX, gridY, gridZ,
                           blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory,
                           localMemoryPerThread, localMemoryTotal, gridId, tensorSizeMinusOneElements)
                         VALUES (?1, ?2, ?3, 1, 7, ?4, ?5, ?6, ?6, ?6, 24, 1, 1, 512, 1, 1, 96, 0, 0, 0, 0, 0, '')",
                    )
                    .unwrap();
                let device = (rank % self.per_report) as i64;
                let mut ended = 0;
                for (n, arrivals) in self.arrivals.iter().enumerate() {
                    // Ten collectives are a step, which begins with its first kernel of compute.
                    if n % 10 == 0 {
                        let from = arrivals[rank] - 160_000;
                        let to = self.arrivals[n + 9][rank] - 5_000;
                        let name = format!("step {}", n / 10);
                        range
                            .execute((clock(from), clock(to), name, process | 1, None::<String>))
                            .unwrap();
                    }
                    // The rank computes until 1 us before the collective. If its host is late, it computes for as long
                    // as the others.
                    let compute_end = arrivals[rank] - 1000;
                    let late = arrivals[rank] - arrivals[(self.straggler + 1) % self.ranks];
                    let is_late = rank == self.straggler && late > 50_000;
                    let dur = match (is_late, self.cause) {
                        (true, Cause::Compute) => 100_000 + late,
                        _ => 100_000,
                    };
                    let compute_start = (compute_end - dur).max(ended);
                    let id = 1000 + n as i64;
                    connection
                        .execute(
                            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId,
                               nameId, returnValue) VALUES (?1, ?2, 0, ?3, ?4, 1, 0)",
                            (clock(compute_end - 150_000), clock(compute_end - 145_000), process | 1, id),
                        )
                        .unwrap();
                    kernel
                        .execute((clock(compute_start), clock(compute_end), device, id, process, 3))
                        .unwrap();
                    let (start, last) = (arrivals[rank], arrivals.iter().max().unwrap());
                    let end = last + self.transfer_ns + (1000.0 * random.even()) as i64;
                    let call = start - 40_000;
                    let sent =
                        payload("\"Message size [bytes]\":1000000,\"Reduction operation\":\"Sum\"");
                    if self.has_payloads {
                        range
                            .execute((
                                clock(call),
                                clock(call + 20_000),
                                "ncclAllReduce",
                                process | 1,
                                sent,
                            ))
                            .unwrap();
                    }
                    connection
                        .execute(
                            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId,
                               nameId, returnValue) VALUES (?1, ?2, 0, ?3, ?4, 1, 0)",
                            (clock(call + 5000), clock(call + 10_000), process | 1, n as i64 + 1),
                        )
                        .unwrap();
                    kernel
                        .execute((clock(start), clock(end), device, n as i64 + 1, process, 2))
                        .unwrap();
                    ended = end;
                }
            }
            connection.execute_batch("COMMIT").unwrap();
            drop_empty_tables(&connection);
            paths.push(path.to_str().unwrap().to_owned());
        }
        paths
    }
}

#[test]
fn injected_stragglers_skew_and_bandwidth_are_found() {
    for (seed, (ranks, per_report)) in
        [(2, 1), (3, 2), (8, 4), (8, 8), (16, 2), (64, 8)].into_iter().enumerate()
    {
        let folder = tempfile::tempdir().unwrap();
        let (straggler, late) = ((7 * seed + 1) % ranks, 300_000);
        let job = Job::random(seed as u64, ranks, per_report, straggler, late);
        let reports = job.write(folder.path(), &[]);
        let of_rank = |rows: &[Row]| -> BTreeMap<usize, Row> {
            rows.iter().map(|row| (row["rank"].parse().unwrap(), row.clone())).collect()
        };
        let clocks = ask("rank_clocks", &reports);
        for (clock, (offset, drift)) in clocks.iter().zip(&job.clocks) {
            let (at, uncertainty) = (real(clock, "at_ns"), real(clock, "uncertainty_ns"));
            let wanted = (at + *offset as f64) * (1.0 + drift) - at;
            assert!(
                (real(clock, "offset_ns") - wanted).abs() <= uncertainty.max(2.0),
                "{clock:?}: {wanted}"
            );
            assert!(uncertainty < 3000.0, "{clock:?}");
        }
        let rows = ask("stragglers", &reports);
        assert_eq!(rows.len(), ranks);
        assert_eq!(rows[0]["rank"], straggler.to_string(), "{rows:?}");
        let by_rank = of_rank(&rows);
        // In 30 of 90 collectives, each other rank waits for it, by the injected time and the jitter.
        let wanted = 30.0 * late as f64 * (ranks - 1) as f64;
        let slack = 90.0 * 6000.0 * (ranks - 1) as f64;
        assert!(
            (real(&by_rank[&straggler], "caused_ns") - wanted).abs() < slack,
            "{:?}",
            by_rank[&straggler]
        );
        let longest = real(&by_rank[&straggler], "longest_ns");
        assert!((longest - late as f64).abs() < 6000.0, "{longest}");
        let causes = ask("straggler_causes", &reports);
        let (cause, part) = match job.cause {
            Cause::Compute => ("longer compute", "compute_ns"),
            Cause::Host => ("the host", "idle_ns"),
        };
        assert_eq!((&causes[0]["rank"], causes[0]["cause"].as_str()), (&straggler.to_string(), cause));
        assert_eq!(causes[0]["part"], "steady");
        // Nothing is known of the time before the first collective.
        let own = causes.iter().filter(|row| row["rank"] == straggler.to_string());
        let longer = own.map(|row| real(row, part)).sum::<f64>() / 29.0;
        assert!((longer - late as f64).abs() < 10_000.0, "{:?}", causes[0]);
        // Each of 9 steps has 10 collectives; the straggler is late in every third one.
        let steps = ask("rank_iterations", &reports);
        assert_eq!(steps.len(), 9 * ranks);
        for step in &steps {
            let caused = real(step, "caused_ns");
            let n = real(step, "iteration") as i64;
            let late_count = (10 * n..10 * n + 10).filter(|n| n % 3 == 0).count() as f64;
            let wanted =
                if step["rank"] == straggler.to_string() { late_count * late as f64 } else { 0.0 };
            assert!((caused - wanted).abs() < 10.0 * 6000.0, "{step:?}: {wanted}");
        }
        // Those who wait are longer in communication.
        let balance = ask("rank_balance", &reports);
        let of = |measure: &str| balance.iter().find(|row| row["measure"] == measure).unwrap();
        assert_eq!(of("exposed communication")["min_rank"], straggler.to_string());
        assert_eq!(of("window")["rank_count"], ranks.to_string());
        let bandwidth = ask("bus_bandwidth", &reports);
        assert_eq!(bandwidth.len(), 1);
        let factor = 2.0 * (ranks - 1) as f64 / ranks as f64;
        let wanted = factor * 1e6 / (job.transfer_ns as f64 * 1e-9);
        let found = real(&bandwidth[0], "bus_bytes_per_s");
        assert!((found / wanted - 1.0).abs() < 0.1, "{found} {wanted}");
    }
}

#[test]
fn missing_ranks_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let reports = Job::random(5, 4, 2, 1, 100_000).write(folder.path(), &[2]);
    let arrivals = ask("collective_arrivals", &reports);
    assert!(
        arrivals.iter().all(|row| row["seen_count"] == "3" && row["rank_count"] == "4"),
        "{arrivals:?}"
    );
    // The shortest kernel is that of the last rank.
    let bandwidth = ask("bus_bandwidth", &reports);
    assert_eq!((bandwidth[0]["seen_count"].as_str(), bandwidth[0]["rank_count"].as_str()), ("3", "4"));
    assert_eq!(ask("stragglers", &reports).len(), 3);
}

/// Places of collectives count from the start of the capture, so a part of it has those of the whole.
#[test]
fn collectives_in_a_part_have_the_places_of_the_whole() {
    let Some(folder) = shared() else { return };
    for name in ["exports/rtx3090x2_ddp_nccl_2026.3.sqlite", "torch/hta_nccl.json.gz"] {
        let path = folder.join("data").join(name);
        let places = |options: &[&str]| -> BTreeMap<i64, String> {
            let sql = "SELECT kernel_id, communicator || ' ' || sequence FROM collective_op WHERE kernel_id IS NOT NULL";
            let text = stdout(&[&["sql", path.to_str().unwrap(), sql, "-f", "tsv"], options].concat());
            let row = |row: &str| {
                row.split_once('\t').map(|(id, place)| (id.parse().unwrap(), place.to_owned()))
            };
            text.lines().skip(1).map(|line| row(line).unwrap()).collect()
        };
        let whole = places(&[]);
        let part = places(&["--time", "50%/60%"]);
        assert!(!part.is_empty() && part.len() < whole.len(), "{name}: {part:?}");
        assert!(part.iter().all(|(id, place)| whole[id] == *place), "{name}: {part:?}");
    }
}

#[test]
fn without_payloads_the_order_of_kernels_is_a_guess() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = Job::random(7, 4, 2, 3, 300_000);
    let known = ask("stragglers", &job.write(&made(&folder, "known"), &[]));
    job.has_payloads = false;
    let reports = job.write(&made(&folder, "guessed"), &[]);
    let guessed = ask("stragglers", &reports);
    assert!(guessed.iter().all(|row| row["communicator"] == "AllReduce on stream 1"), "{guessed:?}");
    // A place is no rank.
    assert!(guessed.iter().all(|row| row["rank"].is_empty() && row["rank_source"].is_empty()));
    for column in ["member", "last_count", "caused_ns", "own_wait_ns"] {
        let of = |rows: &[Row]| rows.iter().map(|row| row[column].clone()).collect::<Vec<_>>();
        assert_eq!(of(&guessed), of(&known), "{column}");
    }
    assert!(ask("bus_bandwidth", &reports).is_empty(), "sizes are unknown");
    // If a capture lacks a collective in its middle, their order says nothing.
    let connection = Connection::open(&reports[1]).unwrap();
    let lost = "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 45";
    assert!(connection.execute(lost, ()).unwrap() > 0);
    drop(connection);
    let across = ask("collective_arrivals", &reports);
    assert!(across.iter().all(|row| row["seen_count"] == "2"), "those of one report");
    let clocks = ask("rank_clocks", &reports);
    assert_eq!((clocks[1]["offset_ns"].as_str(), clocks[1]["collective_count"].as_str()), ("", "0"));
}

/// Captures that begin at other steps, as with `--delay` on each node.
#[test]
fn captures_that_begin_at_other_collectives_are_matched() {
    const CUT: usize = 20;
    for (has_payloads, skew_ns) in [(true, 800_000), (false, -2_000_000)] {
        let folder = tempfile::tempdir().unwrap();
        let mut job = Job::random(7, 4, 2, 3, 300_000);
        job.has_payloads = has_payloads;
        let (mut random, mut later) = (Random::new(11), 0);
        for here in &mut job.arrivals {
            later += (100_000.0 * random.even()) as i64;
            here.iter_mut().for_each(|arrival| *arrival += later);
        }
        let of_place = |reports: &[String]| -> BTreeMap<(i64, String), (String, String)> {
            let rows = ask("collective_arrivals", reports).into_iter();
            let rows = rows.filter(|row| row["agrees"] == "1" && row["seen_count"] == "4");
            let row = |row: Row| {
                let place = row["sequence"].parse().unwrap();
                ((place, row["member"].clone()), (row["wait_ns"].clone(), row["own_sequence"].clone()))
            };
            rows.map(row).collect()
        };
        let whole = of_place(&job.write(&made(&folder, "whole"), &[]));
        assert_eq!(whole.len(), 4 * job.arrivals.len());
        let reports = job.write(&made(&folder, "part"), &[]);
        for (report, (offset, drift)) in reports.iter().zip(&job.clocks) {
            let connection = Connection::open(report).unwrap();
            if *offset != 0 {
                let cut = *job.arrivals[CUT].iter().min().unwrap() - 165_000;
                let cut = ((cut as f64) / (1.0 + drift)) as i64 - offset;
                for table in ["NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"]
                {
                    connection.execute(&format!("DELETE FROM {table} WHERE start < ?"), [cut]).unwrap();
                }
            }
        }
        // Without UTC, only sixteen places to both sides are tried.
        let shifts = ask("collective_shifts", &reports);
        assert!(shifts.is_empty(), "{shifts:?}");
        for (report, (offset, _)) in reports.iter().zip(&job.clocks) {
            let connection = Connection::open(report).unwrap();
            let skew_ns = if *offset == 0 { 0 } else { skew_ns };
            let utc = 1_700_000_000_000_000_000 + offset + skew_ns;
            let sql = format!(
                "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
                 INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({utc}, '', '');
                 CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER);
                 INSERT INTO ANALYSIS_DETAILS VALUES (0, 1000000000, 0, 1000000000)"
            );
            connection.execute_batch(&sql).unwrap();
        }
        let shifts = ask("collective_shifts", &reports);
        assert_eq!(shifts.len(), 1, "{shifts:?}");
        assert_eq!((shifts[0]["side"].as_str(), shifts[0]["shift"].as_str()), ("1", "20"));
        let part = of_place(&reports);
        assert_eq!(part.len(), 4 * (job.arrivals.len() - CUT));
        for ((place, member), (wait, own_place)) in &part {
            let (whole_wait, _) = &whole[&(*place, member.clone())];
            let ns = |wait: &str| wait.parse::<f64>().unwrap_or_default();
            assert!((ns(wait) - ns(whole_wait)).abs() < 4000.0, "{place} {member}: {wait} {whole_wait}");
            let begin = if member.parse::<i64>().unwrap() < 2 { 0 } else { CUT as i64 };
            assert_eq!(own_place.parse::<i64>().unwrap() + begin, *place);
        }
    }
}

#[test]
fn a_page_names_the_straggler_its_cause_and_its_iterations() {
    let folder = tempfile::tempdir().unwrap();
    let job = Job::random(9, 6, 2, 4, 300_000);
    job.write(folder.path(), &[]);
    let all = folder.path().to_str().unwrap();
    let text = stdout(&["page", "job", all]);
    assert!(text.contains("3 reports, 6 ranks"), "{text}");
    assert!(text.contains("Verdict: Rank 4 makes the others wait most. It arrived last at"), "{text}");
    let sentence = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(sentence.contains("because its GPU waits longer for its host, by"), "{text}");
    // The estimate is for the rank that the verdict names.
    assert!(
        sentence.contains("If it were as fast as the others, the mean step would take about"),
        "{text}"
    );
    assert!(text.contains("AllReduce of 1.00 MB in iteration"), "{text}");
    let heat = text.lines().filter(|line| line.starts_with("rank ") && !line.contains("GPU"));
    let loud: Vec<bool> = heat.map(|line| line.contains('▓') || line.contains('█')).collect();
    assert_eq!(loud, [false, false, false, false, true, false], "{text}");
    assert!(text.contains("host1.sqlite: ") && text.contains(" ppm, ±"), "{text}");
    let html = stdout(&["page", "job", all, "--format", "html"]);
    assert!(html.contains("Rank 4 makes the others wait most") && html.contains("<rect"), "{html}");
    // JSON has all tables, also of a program of one rank.
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["page", "job", all, "--format", "json"])).unwrap();
    let tables: Vec<&str> =
        json.as_array().unwrap().iter().map(|table| table["table"].as_str().unwrap()).collect();
    assert!(tables.contains(&"causes") && tables.contains(&"balance"), "{tables:?}");
    let one = stdout(&["page", "job", project("fixtures/trace.json.gz").to_str().unwrap()]);
    assert!(one.contains("No rank can be compared with another"), "{one}");
}

#[test]
fn a_report_that_fails_is_named_and_the_others_answer() {
    let folder = tempfile::tempdir().unwrap();
    let reports = Job::random(11, 4, 1, 2, 300_000).write(folder.path(), &[]);
    std::fs::write(folder.path().join("host9.sqlite"), "no database").unwrap();
    let pattern = folder.path().join("host?.sqlite");
    for words in [&["run", "--query", "stragglers"][..], &["page", "job"]] {
        let (code, good, _) =
            outcome(&[words, &reports.iter().map(String::as_str).collect::<Vec<_>>()].concat());
        assert_eq!(code, 0);
        let (code, out, error) = outcome(&[words, &[pattern.to_str().unwrap()]].concat());
        assert!(code == 1 && error.contains("host9.sqlite"), "{error}");
        assert!(error.contains("1 of 5 reports failed"), "{error}");
        assert_eq!(out, good);
        let (code, out, error) = outcome(&[words, &["--strict", pattern.to_str().unwrap()]].concat());
        assert!(code == 1 && out.is_empty() && error.contains("host9.sqlite"), "{out} {error}");
    }
}

/// Reports 0 and 2 have no collective in common, but both have some with report 1.
#[test]
fn clocks_are_aligned_over_reports_in_between() {
    let folder = tempfile::tempdir().unwrap();
    let job = Job::random(13, 3, 1, 1, 200_000);
    let reports = job.write(folder.path(), &[]);
    // Every other collective is on another communicator: of ranks 0 and 1, and of ranks 1 and 2.
    for (report, kept) in [(0, Some(0)), (1, None), (2, Some(1))] {
        let connection = Connection::open(&reports[report]).unwrap();
        let calls = "SELECT row_number() OVER (ORDER BY start) - 1 AS n, rowid AS id FROM NVTX_EVENTS WHERE text = 'ncclAllReduce'";
        let other = format!(
            "UPDATE NVTX_EVENTS SET jsonText = replace(jsonText, '17293822569102704640', '17')
             WHERE rowid IN (SELECT id FROM ({calls}) WHERE n % 2 = 1)"
        );
        assert_eq!(connection.execute(&other, ()).unwrap(), 45);
        if let Some(kept) = kept {
            let lost = format!(
                "DELETE FROM NVTX_EVENTS WHERE rowid IN (SELECT id FROM ({calls}) WHERE n % 2 <> {kept})"
            );
            assert_eq!(connection.execute(&lost, ()).unwrap(), 45);
            // Ids of kernels of collectives count from 1.
            let lost = format!(
                "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId < 1000 AND (correlationId - 1) % 2 <> {kept}"
            );
            assert_eq!(connection.execute(&lost, ()).unwrap(), 45);
        }
    }
    let clocks = ask("rank_clocks", &reports);
    let hops: Vec<&str> = clocks.iter().map(|clock| clock["hops"].as_str()).collect();
    assert_eq!(hops, ["0", "1", "2"]);
    for (clock, (offset, drift)) in clocks.iter().zip(&job.clocks) {
        let (at, uncertainty) = (real(clock, "at_ns"), real(clock, "uncertainty_ns"));
        let wanted = (at + *offset as f64) * (1.0 + drift) - at;
        assert!(
            (real(clock, "offset_ns") - wanted).abs() <= uncertainty.max(2.0),
            "{clock:?}: {wanted}"
        );
        assert!((real(clock, "drift_ppm") - 1e6 * drift).abs() < 20.0, "{clock:?}: {drift}");
        assert!(uncertainty < 6000.0, "{clock:?}");
    }
    let arrivals = ask("collective_arrivals", &reports);
    assert!(
        arrivals.len() == 180
            && arrivals.iter().all(|row| row["seen_count"] == "2" && row["agrees"] == "1")
    );
}

/// Names in a trace may be anything.
#[test]
fn names_of_process_groups_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..2 {
        let ops: Vec<String> = (0..3)
            .map(|n| {
                format!(
                    r#"{{"ph":"X","cat":"kernel","name":"nccl","pid":{rank},"tid":7,"ts":{},"dur":{},"args":{{"device":{rank},
                       "stream":7,"correlation":{n},"Collective name":"allreduce","In msg nelems":8,"Group size":2,
                       "dtype":"Float","Process Group Name":"<img src=x> | `a`","Process Group Ranks":"[0, 1]"}}}}"#,
                    1000 * n + 100 * rank * n,
                    500 - 100 * rank * n
                )
            })
            .collect();
        let text = format!(
            r#"{{"distributedInfo":{{"rank":{rank},"world_size":2}},"traceEvents":[{}]}}"#,
            ops.join(",")
        );
        std::fs::write(folder.path().join(format!("rank{rank}.json")), text).unwrap();
    }
    let all = folder.path().to_str().unwrap();
    assert!(
        ask("collectives", &[all.to_owned()])[0]["communicator"].starts_with("<img src=x> | `a` [0, 1]")
    );
    for format in ["html", "markdown"] {
        let page = stdout(&["page", "job", all, "--format", format]);
        assert!(!page.contains("<img"), "{page}");
    }
}

fn made(folder: &tempfile::TempDir, name: &str) -> std::path::PathBuf {
    let path = folder.path().join(name);
    std::fs::create_dir(&path).unwrap();
    path
}

/// Traces of PyTorch say what each kernel of NCCL does: two ranks, in a group of both and in one of rank 1 and another.
#[test]
fn collectives_of_pytorch_traces_are_matched_by_process_group() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = |rank: i64, n: i64, name: &str, ts: i64, dur: i64, what: &str| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":{rank},"tid":7,"ts":{ts},"dur":{dur},"args":
               {{"device":{rank},"stream":7,"correlation":{n},"grid":[1,1,1],"block":[1,1,1]{what}}}}},
               {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9{rank},"tid":9,"ts":{},"dur":1,
               "args":{{"correlation":{n}}}}}"#,
            ts - 20
        )
    };
    let says = |name: &str, group: &str, ranks: &str, size: i64, from: i64, to: i64, more: &str| {
        format!(
            r#","Collective name":"{name}","In msg nelems":{from},"Out msg nelems":{to},"Group size":{size},
               "dtype":"BFloat16","Process Group Name":"{group}","Process Group Ranks":"{ranks}"{more}"#
        )
    };
    let nccl = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)";
    let write = |rank: i64, events: &[String]| {
        let path = folder.path().join(format!("rank{rank}.json"));
        let text = format!(
            r#"{{"distributedInfo":{{"backend":"nccl","rank":{rank},"world_size":3}},"traceEvents":[{}]}}"#,
            events.join(",")
        );
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let both = |name: &str, from, to| says(name, "0", "[0, 1]", 2, from, to, "");
    let reports = [
        write(
            0,
            &[
                kernel(0, 1, nccl, 1000, 500, &both("allreduce", 1000, 1000)),
                kernel(0, 2, "gemm", 1600, 100, ""),
                kernel(0, 3, nccl, 2000, 100, &both("_allgather_base", 500, 1000)),
                kernel(0, 4, nccl, 3000, 100, &both("_reduce_scatter_base", 1000, 500)),
                kernel(0, 5, nccl, 4000, 100, &both("all_to_all", 1000, 1000)),
            ],
        ),
        write(
            1,
            &[
                kernel(1, 1, nccl, 1400, 100, &both("allreduce", 1000, 1000)),
                kernel(1, 2, nccl, 1900, 200, &both("_allgather_base", 500, 1000)),
                kernel(1, 3, nccl, 2500, 50, &says("broadcast", "1", "[1, 2]", 2, 8, 8, r#","Seq":41"#)),
                kernel(1, 4, nccl, 3000, 100, &both("_reduce_scatter_base", 1000, 500)),
                kernel(1, 5, nccl, 4000, 100, &both("all_to_all", 1000, 1000)),
            ],
        ),
    ];
    let ops = ask("collectives", &reports);
    let said = |op: &Row| {
        ["communicator", "sequence", "rank", "operation", "size_bytes"]
            .map(|column| op[column].clone())
            .join("|")
    };
    let said: Vec<String> = ops.iter().map(said).collect();
    assert_eq!(
        said,
        [
            "0 [0, 1]|0|0|AllReduce|2000",
            "0 [0, 1]|1|0|AllGather|1000",
            "0 [0, 1]|2|0|ReduceScatter|1000",
            "0 [0, 1]|3|0|AllToAll|2000",
            "0 [0, 1]|0|1|AllReduce|2000",
            "0 [0, 1]|1|1|AllGather|1000",
            "1 [1, 2]|41|0|Broadcast|16",
            "0 [0, 1]|2|1|ReduceScatter|1000",
            "0 [0, 1]|3|1|AllToAll|2000",
        ]
    );
    let arrivals = ask("collective_arrivals", &reports);
    // The clocks of both traces begin at their first events, 400 us apart.
    let first: Vec<&Row> = arrivals.iter().filter(|row| row["operation"] == "AllReduce").collect();
    assert_eq!((first[0]["rank"].as_str(), first[0]["wait_ns"].as_str()), ("0", "400000"));
    let ranks = ask("ranks", &reports);
    let known: Vec<_> =
        ranks.iter().map(|row| (row["rank"].as_str(), row["rank_count"].as_str())).collect();
    assert_eq!(known, [("0", "3"), ("1", "3")]);
}

/// Durations, counts and bytes are those of another tool's published table.
#[test]
fn collectives_of_a_real_trace_are_those_of_another_tool() {
    let Some(shared) = shared() else { return };
    let trace = shared.join("data/torch/mi300_resnet_ddp.json.gz");
    let ops = ask("collectives", &[trace.to_str().unwrap().to_owned()]);
    let table = shared.join("reference/tracelens/mi300_resnet_ddp/coll_analysis.csv");
    let mut reader = csv::Reader::from_path(table).unwrap();
    let mut seen = 0;
    for row in reader.deserialize::<BTreeMap<String, String>>().map(Result::unwrap) {
        let operation = match row["Collective name"].as_str() {
            "allreduce" => "AllReduce",
            _ => "Broadcast",
        };
        let bytes = (real(&row, "In msg size (MB)_first") * 1024.0 * 1024.0).round();
        let own: Vec<&Row> = ops
            .iter()
            .filter(|op| {
                op["operation"] == operation
                    && op["data_type"] == row["dtype"]
                    && real(op, "size_bytes") == bytes
            })
            .collect();
        assert_eq!(own.len() as f64, real(&row, "operation_count"), "{row:?}");
        let total: f64 = own.iter().map(|op| real(op, "dur_ns")).sum();
        assert!((total / 1000.0 - real(&row, "dur_sum")).abs() < 0.01, "{row:?}: {total}");
        let longest = own.iter().map(|op| real(op, "dur_ns")).fold(0.0, f64::max);
        assert!((longest / 1000.0 - real(&row, "dur_max")).abs() < 0.01, "{row:?}: {longest}");
        assert!(own.iter().all(|op| op["rank_count"] == "8" && op["rank"] == "0"), "{own:?}");
        seen += own.len();
    }
    assert_eq!(seen, ops.len());
}

/// A kernel of a PyTorch trace, and the call that launched it. Times are in µs.
fn launched(rank: i64, id: i64, name: &str, ts: i64, dur: i64, what: &str) -> String {
    format!(
        r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":{rank},"tid":7,"ts":{ts},"dur":{dur},"args":
           {{"device":{rank},"stream":7,"correlation":{id},"grid":[1,1,1],"block":[1,1,1]{what}}}}},
           {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9{rank},"tid":9,"ts":{},"dur":1,
           "args":{{"correlation":{id}}}}}"#,
        ts - 20
    )
}

/// What PyTorch says of a collective of ranks 0 to 3.
fn of_four(name: &str, group: &str) -> String {
    format!(
        r#","Collective name":"{name}","In msg nelems":4000,"Out msg nelems":4000,"Group size":4,"dtype":"Float",
           "Process Group Name":"{group}","Process Group Ranks":"[0, 1, 2, 3]""#
    )
}

fn write_trace(folder: &Path, rank: i64, ranks: i64, events: &[String]) -> String {
    let path = folder.join(format!("rank{rank}.json"));
    let text = format!(
        r#"{{"distributedInfo":{{"rank":{rank},"world_size":{ranks}}},"traceEvents":[{}]}}"#,
        events.join(",")
    );
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The text in one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Kernels of sends and receives without a record: an exchange of all ranks if they end it together.
#[test]
fn exchanges_are_matched_by_order_if_they_end_together() {
    for is_exchange in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let mut reports = Vec::new();
        for rank in 0..2_i64 {
            let mut events = Vec::new();
            for n in 0..12_i64 {
                let at = 20_000 * (n + 1);
                let late = if is_exchange { 100 * rank } else { 1000 * rank * (n * n * 37 % 8) };
                let dur = if is_exchange { 500 - late } else { 500 };
                events.push(launched(rank, 2 * n, "gemm", at - 2000, 1000 + 500 * rank, ""));
                let name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
                events.push(launched(rank, 2 * n + 1, name, at + late, dur, ""));
            }
            reports.push(write_trace(folder.path(), rank, 128, &events));
        }
        let stragglers = ask("stragglers", &reports);
        let mut words = vec!["page", "job"];
        words.extend(reports.iter().map(String::as_str));
        let page = unwrapped(&stdout(&words));
        assert!(page.contains("2 of 128 ranks"), "{page}");
        if is_exchange {
            let first = &stragglers[0];
            assert_eq!((first["rank"].as_str(), first["last_count"].as_str()), ("1", "12"));
            assert_eq!(
                (first["caused_ns"].as_str(), first["longest_ns"].as_str()),
                ("1200000", "100000")
            );
            assert!(
                page.contains("The ranks keep together: the slowest one costs the others up to 1.10 ms"),
                "{page}"
            );
            assert!(
                page.contains("12 SendRecvs are matched by the order of kernels on a stream"),
                "{page}"
            );
        } else {
            assert!(stragglers.is_empty(), "{stragglers:?}");
            assert!(
                page.contains("Rank 1 computes 50.0 % longer than rank 0 (1.50 ms against"),
                "{page}"
            );
            assert!(page.contains("mostly in gemm kernels"), "{page}");
            assert!(page.contains("24 SendRecv kernels of 2 ranks are not matched"), "{page}");
        }
    }
}

/// Stages of a pipeline: each has as many all-reduces, of its own, and the first and the last one exchange less than the
/// one between them.
#[test]
fn stages_of_a_pipeline_are_not_matched_by_the_order_of_their_collectives() {
    let folder = tempfile::tempdir().unwrap();
    let mut reports = Vec::new();
    for stage in 0..3_i64 {
        let (mut events, mut id) = (Vec::new(), 0);
        let mut add = |name: &str, at: i64, dur: i64| {
            id += 1;
            events.push(launched(stage, id, name, at, dur, ""));
        };
        for step in 0..12_i64 {
            // The last stage is the first one to end its step.
            let at = 20_000 * (step + 1) - 600 * stage;
            let exchanges = if stage == 1 { 2 } else { 1 };
            for part in 0..exchanges {
                let name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
                add(name, at - 9000 + 1000 * part, 100);
            }
            add("gemm", at - 5000, if stage == 1 { 3000 } else { 2000 });
            add("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", at, 250);
        }
        reports.push(write_trace(folder.path(), stage, 3, &events));
    }
    let clocks = ask("rank_clocks", &reports);
    assert!(clocks.iter().all(|row| row["collective_count"] == "0" || row["side"] == "0"), "{clocks:?}");
    assert!(ask("stragglers", &reports).is_empty());
    let mut words = vec!["page", "job"];
    words.extend(reports.iter().map(String::as_str));
    let page = unwrapped(&stdout(&words));
    assert!(page.contains("Rank 1 computes 50.0 % longer than the median"), "{page}");
    assert!(page.contains("36 AllReduce kernels of 3 ranks are not matched"), "{page}");
}

/// Two GPUs of a real report exchange data without a record of it: waits are those of a join by hand.
#[test]
fn exchanges_of_a_real_report_are_matched() {
    let Some(shared) = shared() else { return };
    let path = shared.join("data/exports/h100_mfu_2gpu_before.sqlite");
    let connection = Connection::open(&path).unwrap();
    let sql = "
        WITH exchange AS (
          SELECT k.deviceId AS gpu, k.start, k.end,
            row_number() OVER (PARTITION BY k.deviceId ORDER BY k.start) AS n
          FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
          JOIN StringIds AS s ON s.id = k.shortName
          WHERE s.value LIKE '%SendRecv%')
        SELECT count(*), sum(b.start > a.start), sum(max(b.start - a.start, 0)), max(b.start - a.start)
        FROM exchange AS a
        JOIN exchange AS b ON b.n = a.n AND a.gpu = 0 AND b.gpu = 1";
    let by_hand: (i64, i64, i64, i64) = connection
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap();
    let path = path.to_str().unwrap().to_owned();
    let stragglers = ask("stragglers", std::slice::from_ref(&path));
    let found = ["collective_count", "last_count", "caused_ns", "longest_ns"]
        .map(|column| stragglers[0][column].parse::<i64>().unwrap());
    assert_eq!(found, [by_hand.0, by_hand.1, by_hand.2, by_hand.3]);
    assert_eq!(stragglers[0]["member"], "1");
}

/// The longest wait is the same on the page and in `stragglers`, also if it is in a broadcast.
#[test]
fn there_is_one_longest_wait() {
    let Some(path) = two_ranks() else { return };
    let page = stdout(&["page", "job", &path]);
    assert!(
        page.contains("The longest wait: Broadcast of 1.18 MB, 132.34 ms until rank 1 came"),
        "{page}"
    );
    let waits = ask("longest_wait", std::slice::from_ref(&path));
    let longest = waits.iter().map(|row| real(row, "wait_ns")).fold(0.0, f64::max);
    assert_eq!(longest, 132_338_285.0);
    let places = ask("rank_wait", &[path]);
    let longest = places.iter().map(|row| real(row, "dur_ns")).fold(0.0, f64::max);
    assert_eq!(longest, 132_338_285.0);
}

/// Reports of ranks that compute for `own(rank, step)` µs in each step of 2 ms, and then wait for each other.
fn in_step(folder: &Path, ranks: &[i64], steps: i64, own: impl Fn(i64, i64) -> i64) -> Vec<String> {
    let mut reports = Vec::new();
    for &rank in ranks {
        let mut events = Vec::new();
        for n in 0..steps {
            let (at, own) = (1000 + 2000 * n, own(rank, n));
            events.push(format!(
                r##"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{n}","pid":9{rank},"tid":9,"ts":{},"dur":1900,"args":{{}}}}"##,
                at - 30
            ));
            events.push(launched(rank, 2 * n, "gemm", at, own, ""));
            let what = of_four("allreduce", "0");
            events.push(launched(
                rank,
                2 * n + 1,
                "ncclDevKernel_AllReduce",
                at + own,
                1500 - own,
                &what,
            ));
        }
        reports.push(write_trace(folder, rank, 4, &events));
    }
    reports
}

/// One rank sets the pace, or two, or another one in each step.
#[test]
fn the_verdict_says_whether_some_ranks_are_slow_or_another_one_each_time() {
    type Own = fn(i64, i64) -> i64;
    let cases: [(Own, &str, &str); 3] = [
        (
            |rank, _| if rank == 2 { 1300 } else { 1000 },
            "Rank 2 makes the others wait most.",
            "If it were as fast as the others, the mean step would take about 1.70 ms instead of 2.00 ms",
        ),
        (
            |rank, _| if rank >= 2 { 1300 + rank } else { 1000 },
            "Rank 2 makes them wait, too.",
            "If they were as fast as the others, the mean step would take about 1.70 ms instead of 2.00 ms",
        ),
        (
            |rank, n| if rank == n % 4 { 1400 } else { 1000 },
            "No rank is slow all the time: the one that the others wait for changes from step to step",
            "If all ranks took equally long in each step, the mean step would take about 1.70 ms instead of 2.00 ms",
        ),
    ];
    for (own, who, gain) in cases {
        let folder = tempfile::tempdir().unwrap();
        in_step(folder.path(), &[0, 1, 2, 3], 13, own);
        let page = stdout(&["page", "job", folder.path().to_str().unwrap()]);
        let sentence = unwrapped(&page);
        assert!(sentence.contains(who) && sentence.contains(gain), "{page}");
    }
}

/// Where only names of files say which rank it is, nothing says that the first one is 0, nor which is the last.
#[test]
fn a_rank_between_others_that_has_no_report_is_named() {
    for (ranks, absent) in
        [([0, 1, 3], Some("Rank 2 is not")), ([2, 3, 5], Some("Rank 4 is not")), ([1, 2, 3], None)]
    {
        let folder = tempfile::tempdir().unwrap();
        for rank in ranks {
            let events: Vec<_> =
                (0..9).map(|n| launched(rank, n, "gemm", 1000 + 2000 * n, 900 + rank, "")).collect();
            let text = format!(r#"{{"traceEvents":[{}]}}"#, events.join(","));
            std::fs::write(folder.path().join(format!("rank{rank}.json")), text).unwrap();
        }
        let page = unwrapped(&stdout(&["page", "job", folder.path().to_str().unwrap()]));
        let named = absent.is_some_and(|absent| page.contains(&format!("{absent} among the reports")));
        assert_eq!(
            (named, page.contains("among the reports")),
            (absent.is_some(), absent.is_some()),
            "{page}"
        );
    }
}

/// In every fourth step the collective takes three times as long, for all ranks.
#[test]
fn a_slow_network_is_told_from_a_slow_rank() {
    let folder = tempfile::tempdir().unwrap();
    let reports = in_step(folder.path(), &[0, 1, 2, 3], 13, |_, n| if n % 4 == 3 { 200 } else { 1000 });
    let rows = ask("job_transfers", &reports);
    let columns = ["operation", "collective_count", "slow_count", "median_ns", "slow_ns"];
    let found = columns.map(|column| rows[0][column].as_str());
    assert_eq!(found, ["AllReduce", "13", "3", "500000", "1300000"]);
    assert_eq!(rows[0]["excess_ns"], "2400000");
    let page = unwrapped(&stdout(&["page", "job", folder.path().to_str().unwrap()]));
    let note = "3 of 13 AllReduces transfer for 1.30 ms, where 500.00 µs is usual at their place in the step: \
                2.40 ms more in all, on all ranks together.";
    assert!(page.contains(note), "{page}");
}

/// Rank 2 computes 300 µs longer in each step of 2 ms, so that all others wait for it.
#[test]
fn the_step_without_the_slowest_rank_is_known_where_steps_and_collectives_are() {
    let folder = tempfile::tempdir().unwrap();
    let reports =
        in_step(folder.path(), &[0, 1, 2, 3], 6, |rank, _| if rank == 2 { 1300 } else { 1000 });
    let gain = ask("job_gain", &reports);
    let found = ["name", "seen_count", "step_ns", "without_ns"].map(|column| gain[0][column].as_str());
    assert_eq!(found, ["rank 2", "4", "2000000", "1700000"]);
    let ranks = ask("job_ranks", &reports);
    assert_eq!((ranks[2]["worst"].as_str(), ranks[2]["longer_pct"].as_str()), ("0", "30.0"));
    let all = folder.path().to_str().unwrap();
    let page = stdout(&["page", "job", all]);
    let sentence = unwrapped(&page);
    assert!(sentence.contains("Rank 2 makes the others wait most. It arrived last at 5 of 5"), "{page}");
    let step = "the mean step would take about 1.70 ms instead of 2.00 ms (1.18 times faster)";
    assert!(sentence.contains(step), "{page}");
    assert!(
        page.lines().count() <= 40 && page.lines().all(|line| line.chars().count() <= 100),
        "{page}"
    );
    for format in ["html", "markdown"] {
        assert!(
            unwrapped(&stdout(&["page", "job", all, "--format", format])).contains(step),
            "{format}"
        );
    }
    // Without the record of the collectives the same, by their order.
    for report in &reports {
        let text = std::fs::read_to_string(report).unwrap();
        std::fs::write(report, text.replace("Collective name", "Other name")).unwrap();
    }
    assert_eq!(ask("job_gain", &reports)[0]["without_ns"], "1700000");
    assert_eq!(ask("job_matches", &reports)[0]["source"], "guess");
}

/// What PyTorch records of a collective of ranks 0 to 3 to which a rank contributes this many elements of 4 bytes.
fn of_four_with(name: &str, elements: i64, place: i64) -> String {
    format!(
        r#","Collective name":"{name}","In msg nelems":{elements},"Out msg nelems":4000,"Group size":4,
           "dtype":"Float","Process Group Name":"ep","Process Group Ranks":"[0, 1, 2, 3]","Seq":{place}"#
    )
}

/// Rank 2 computes 50 µs longer. The sizes change neither the match nor the waits, only the bandwidth.
#[test]
fn ranks_may_contribute_different_sizes() {
    let uneven = [1000, 1200, 900, 1100];
    for (name, operation) in [("all_to_allv", "AllToAll"), ("all_gather", "AllGather")] {
        for elements in [[1000; 4], uneven] {
            let folder = tempfile::tempdir().unwrap();
            let mut reports = Vec::new();
            for (rank, elements) in (0..4_i64).zip(elements) {
                let own = if rank == 2 { 250 } else { 200 };
                let mut events = Vec::new();
                for n in 0..10_i64 {
                    let at = 1000 + 1000 * n;
                    let what = of_four_with(name, elements, n);
                    events.push(launched(rank, 2 * n, "gemm", at, own, ""));
                    events.push(launched(
                        rank,
                        2 * n + 1,
                        "ncclDevKernel_SendRecv",
                        at + own,
                        500 - own,
                        &what,
                    ));
                }
                reports.push(write_trace(folder.path(), rank, 4, &events));
            }
            let stragglers = ask("stragglers", &reports);
            let of = |row: &Row| {
                ["rank", "last_count", "own_wait_ns"].map(|column| row[column].clone()).join(" ")
            };
            let mut found: Vec<String> = stragglers.iter().map(of).collect();
            found.sort();
            assert_eq!(found, ["0 0 500000", "1 0 500000", "2 10 0", "3 0 500000"], "{name}");
            let sizes: Vec<String> = ask("collective_arrivals", &reports)
                .iter()
                .take(4)
                .map(|row| format!("{} {} {}", row["member"], row["size_bytes"], row["agrees"]))
                .collect();
            let wanted: Vec<String> = (0..4)
                .zip(elements)
                .map(|(rank, elements)| format!("{rank} {} 1", 4 * elements))
                .collect();
            assert_eq!(sizes, wanted, "{name}");
            // 250 µs for the mean of the sizes.
            let mean = elements.iter().sum::<i64>();
            let bandwidth = ask("bus_bandwidth", &reports);
            assert_eq!(bandwidth.len(), 1, "{bandwidth:?}");
            let found = ["operation", "size_bytes", "is_uneven", "collective_count", "transfer_ns"]
                .map(|column| bandwidth[0][column].as_str());
            let is_uneven = if elements == uneven { "1" } else { "0" };
            assert_eq!(found, [operation, mean.to_string().as_str(), is_uneven, "10", "250000.0"]);
            let data = mean as f64 * if operation == "AllGather" { 4.0 } else { 1.0 };
            let wanted = data * 0.75 / 250e-6;
            let found = real(&bandwidth[0], "bus_bytes_per_s");
            assert!((found / wanted - 1.0).abs() < 1e-9, "{name}: {found} {wanted}");
            let page = unwrapped(&stdout(&["page", "job", folder.path().to_str().unwrap()]));
            assert!(page.contains("It arrived last at 9 of 9 collectives"), "{page}");
            assert_eq!(page.contains(&format!("{operation} uneven")), elements == uneven, "{page}");
            assert_eq!(page.contains(" of 3.60 kB to 4.80 kB in"), elements == uneven, "{page}");
            assert!(!page.contains("cannot be matched"), "{page}");
        }
    }
}

/// Reductions of different sizes are not the same collective.
#[test]
fn reductions_must_have_one_size() {
    let folder = tempfile::tempdir().unwrap();
    let mut reports = Vec::new();
    for rank in 0..2_i64 {
        let what = of_four_with("allreduce", 1000 + rank, 0);
        let events = [launched(rank, 1, "ncclDevKernel_AllReduce", 1000, 100, &what)];
        reports.push(write_trace(folder.path(), rank, 4, &events));
    }
    let arrivals = ask("collective_arrivals", &reports);
    assert!(arrivals.len() == 2 && arrivals.iter().all(|row| row["agrees"] == "0"), "{arrivals:?}");
}

/// Rank 1 computes 800 µs between two all-to-alls, the others 400 µs.
#[test]
fn experts_are_compared_between_all_to_alls() {
    let folder = tempfile::tempdir().unwrap();
    let mut reports = Vec::new();
    for rank in 0..4_i64 {
        let own = if rank == 1 { 800 } else { 400 };
        let mut events = Vec::new();
        for n in 0..8_i64 {
            let at = 2000 + 4000 * n;
            let what = of_four("all_to_allv", "ep");
            events.push(launched(rank, 4 * n, "attention", at, 300, ""));
            events.push(launched(rank, 4 * n + 1, "ncclDevKernel_SendRecv", at + 300, 100, &what));
            events.push(launched(rank, 4 * n + 2, "grouped_gemm", at + 400, own, ""));
            let ends = at + 400 + own;
            events.push(launched(rank, 4 * n + 3, "ncclDevKernel_SendRecv", ends, 900 - own, &what));
        }
        reports.push(write_trace(folder.path(), rank, 4, &events));
    }
    let experts = ask("job_experts", &reports);
    let found = ["name", "most_ns", "median_ns", "ratio"].map(|column| experts[0][column].as_str());
    assert_eq!(found, ["rank 1", "800000", "400000", "2.0"]);
    let roles = ask("job_roles", &reports);
    let found = ["role", "evidence"].map(|column| roles[0][column].as_str());
    assert_eq!(found, ["expert", "the name of the process group"]);
}
