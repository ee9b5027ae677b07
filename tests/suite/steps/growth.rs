//! The work for twice as many steps is about twice the work. Counted are looks at the limits, which SQLite takes once in so
//! many of its instructions and native loops once in so many rounds: time would depend on the machine.

use crate::made::export;
use crate::made::program::{Action, Copy, Direction, Kernel, Process, Random, Stream, Thread};
use crate::made::simulate::simulate;
use nsq::catalog::Catalog;
use nsq::execute::Limits;
use nsq::input::Input;
use nsq::open_report::OpenReport;
use nsq::page::PageRequest;
use nsq::report::ExportOptions;
use nsq::request::Request;
use nsq::threads::Threads;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A program that uploads, and launches five kernels, in each step.
fn report(folder: &Path, steps: usize, is_marked: bool) -> PathBuf {
    let mut random = Random::new(7);
    let mut actions = Vec::new();
    for step in 0..steps {
        actions.push(Action::Work(random.about(9_000, 0.3)));
        if is_marked {
            actions.push(Action::Push(format!("step {step}")));
        }
        let copy = Copy {
            direction: Direction::ToDevice,
            bytes: 4_096,
            ns: 1_500,
            pageable: true,
            blocking: true,
        };
        actions.push(Action::Copy(Stream::Compute, copy));
        for name in ["scale", "add", "reduce", "norm", "store"] {
            let ns = random.about(5_000, 0.1);
            let kernel = Kernel { name, grid: 64, block: 128, ns, collective: None, absent_bytes: 0 };
            actions.push(Action::Launch(Stream::Compute, kernel, random.about(3_000, 0.3)));
        }
        if is_marked {
            actions.push(Action::Pop);
        }
    }
    let program = vec![Process { gpu: 0, gpus: 1, threads: vec![Thread { name: "python", actions }] }];
    let path = folder.join(format!("{steps}-{is_marked}.sqlite"));
    export::write(&program, &mut simulate(&program), &path);
    path
}

/// How often a page looks at its limits.
fn looks(page: &str, report: &Path) -> u64 {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    let catalog = Catalog::load(&nsq::BUILT_IN, &[]).unwrap();
    let mut limits = Limits { threads: Threads::at_most(NonZeroUsize::new(1)), ..Limits::default() };
    limits.progress.show = Some(|_| _ = LOOKS.fetch_add(1, Ordering::Relaxed));
    let request = Request { limits, ..Request::new(&catalog) };
    let page = PageRequest::new(&catalog, page, &[], nsq::visible).unwrap();
    let open = OpenReport::new(report, &ExportOptions::default()).unwrap();
    let before = LOOKS.load(Ordering::Relaxed);
    request.page(&page, &[Input::open("report".to_owned(), &open)]).unwrap();
    LOOKS.load(Ordering::Relaxed) - before
}

/// In one test, as all count together. Takes 5 s.
#[test]
fn twice_the_steps_take_twice_the_work() {
    let folder = tempfile::tempdir().unwrap();
    for is_marked in [false, true] {
        let [first, second, third] = [1_500, 3_000, 6_000].map(|steps| {
            let report = report(folder.path(), steps, is_marked);
            looks("overview", &report)
        });
        // Without what any report costs. A sort adds a little to twice; what compares each step with each other makes it four
        // times.
        let (once, twice) = (second - first, third - second);
        assert!(once > 1_000, "{once} looks");
        eprintln!("{first} {second} {third}");
        assert!(
            10 * twice < 22 * once,
            "marked: {is_marked}, looks: {first}, {second}, {third}: {:.2} times as many more",
            twice as f64 / once as f64
        );
    }
}
