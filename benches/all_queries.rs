//! Benchmark: every query of the catalogue on one large export, and the pages `nsq REPORT` and `nsq diff`.
//!
//! Run with `cargo bench --bench all_queries -- [KERNELS] [--seed N] [--distinct-names N] [--distribution NAME]
//! [--export FILE] [--rounds N]`.
//! Prints a table in markdown, most CPU seconds first. Each figure is the best of the rounds. Ratios are those of CPU
//! seconds to the floor: `sqlite3` sums two columns each of kernels, API calls and NVTX rows, in every round. Queries
//! that need a parameter, or data that the export lacks, are not measured.
//!
//! The distributions are in `large_export/distributions`. What was tuned on one of them is judged by another, or by an
//! export of your own: another seed of a generator is not another distribution.
//!
//! CPU seconds and peak memory come from GNU `time` at /usr/bin/time, if it exists. Otherwise wall seconds are compared.

mod large_export;
mod measured;

use large_export::{DISTRIBUTIONS, Shape};
use measured::{Bench, Cost, keep_best, table_row};
use std::ffi::OsStr;
use std::path::PathBuf;

const FLOOR_SQL: &str = "\
    SELECT sum(end-start), sum(correlationId) FROM CUPTI_ACTIVITY_KIND_KERNEL;
    SELECT sum(end-start), sum(correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME;
    SELECT sum(end-start), total(globalTid) FROM NVTX_EVENTS;";

/// A query or page, and its best cost so far.
#[derive(Default)]
struct Line {
    name: String,
    best: Option<Cost>,
    rows: String,
}

fn main() {
    let options = Options::read();
    let shape = options.shape;
    let export = options.export.unwrap_or_else(|| large_export::export_of(&shape));
    let report = nsq::open(&export).expect("the export can be opened");
    let names = report.answerable().expect("the export can be read");
    let mut queries: Vec<Line> =
        names.iter().map(|name| Line { name: (*name).to_owned(), ..Line::default() }).collect();
    let export = export.as_os_str();
    let pages: [(&str, Vec<&OsStr>); 2] =
        [("`nsq X`", vec![export]), ("`nsq diff X X`", vec!["diff".as_ref(), export, export])];
    let mut of_pages: [Option<Cost>; 2] = [None; 2];
    let bench = Bench::new("all_queries", export.into());
    let mut floor = None;
    for round in 0..options.rounds {
        keep_best(&mut floor, bench.shell(FLOOR_SQL));
        // One that failed lacks a parameter, and fails again.
        for line in queries.iter_mut().filter(|line| round == 0 || line.best.is_some()) {
            keep_best(&mut line.best, bench.nsq(&line.name));
            if round == 0 && line.best.is_some() {
                line.rows = bench.rows().to_string();
            }
        }
        for ((_, arguments), best) in pages.iter().zip(&mut of_pages) {
            keep_best(best, bench.nsq_with(arguments));
        }
    }
    let floor = floor.expect("sqlite3 reads the export");
    println!("All queries over {}, best of {}\n", bench.export.display(), options.rounds);
    println!("| query | wall (s) | CPU (s) | peak (MB) | rows | / floor |");
    println!("|---|--:|--:|--:|--:|--:|");
    println!("{}", table_row("floor: `sqlite3` sums the columns", floor, "", floor));
    for ((name, _), best) in pages.iter().zip(of_pages) {
        match best {
            Some(cost) => println!("{}", table_row(name, cost, "", floor)),
            None => println!("| {name} | failed |  |  |  |  |"),
        }
    }
    let (measured, failed): (Vec<Line>, Vec<Line>) =
        queries.into_iter().partition(|line| line.best.is_some());
    let mut measured: Vec<(Cost, Line)> =
        measured.into_iter().filter_map(|line| Some((line.best?, line))).collect();
    measured.sort_by(|(a, _), (b, _)| b.cpu().total_cmp(&a.cpu()));
    for (cost, line) in measured {
        println!("{}", table_row(&line.name, cost, &line.rows, floor));
    }
    let failed: Vec<String> = failed.into_iter().map(|line| line.name).collect();
    if !failed.is_empty() {
        println!("\nNot measured, because they need a parameter: {}.", failed.join(", "));
    }
}

struct Options {
    shape: Shape,
    /// A file to measure instead.
    export: Option<PathBuf>,
    rounds: usize,
}

impl Options {
    /// The options on the command line. Others are Cargo's own.
    fn read() -> Self {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let mut options = Self { shape: Shape::new(1_000_000), export: None, rounds: 3 };
        let mut at = 0;
        while let Some(argument) = arguments.get(at) {
            let value = || arguments.get(at + 1).expect("the option has a value");
            let number = || value().parse::<usize>().expect("the value is a number");
            match argument.as_str() {
                "--seed" => options.shape.seed = number() as u64,
                "--distinct-names" => options.shape.distinct_names = Some(number()),
                "--distribution" => {
                    let known = DISTRIBUTIONS.iter().find(|(name, _)| name == value());
                    options.shape.distribution =
                        Some(known.expect("a file of large_export/distributions").0);
                }
                "--export" => options.export = Some(PathBuf::from(value())),
                "--rounds" => options.rounds = number(),
                kernels => {
                    if let Ok(kernels) = kernels.parse() {
                        options.shape.kernels = kernels;
                    }
                    at += 1;
                    continue;
                }
            }
            at += 2;
        }
        options
    }
}
