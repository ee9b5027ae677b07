//! Programs made at random, and real changes of them.

/// Random numbers (splitmix64).
#[derive(Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn within(&mut self, from: i64, to: i64) -> i64 {
        from + (self.next() % (to - from + 1) as u64) as i64
    }

    /// From `from` to `to`, small ones as likely as large ones.
    pub(super) fn spread(&mut self, from: i64, to: i64) -> i64 {
        let share = (self.next() % 10_000) as f64 / 10_000.0;
        (from as f64 * (to as f64 / from as f64).powf(share)) as i64
    }

    pub(super) fn one_in(&mut self, count: u64) -> bool {
        self.next().is_multiple_of(count)
    }
}

/// What a thread does. Streams and events are numbered within their rank.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Do {
    /// Host code: ns, and whether it is the loader.
    Code(i64, bool),
    /// Launches kernel `name` on a stream: ns.
    Kernel {
        stream: usize,
        name: usize,
        dur: i64,
    },
    /// Launches several kernels as one graph.
    Graph {
        stream: usize,
        kernels: Vec<(usize, i64)>,
    },
    /// A copy; the call may wait for it.
    Copy {
        stream: usize,
        dur: i64,
        blocks: bool,
    },
    /// Ends on all ranks together, `dur` after the last one has started.
    Collective {
        stream: usize,
        number: usize,
        dur: i64,
    },
    Record {
        stream: usize,
        event: usize,
    },
    StreamWait {
        stream: usize,
        event: usize,
    },
    StreamSync(usize),
    DeviceSync,
    EventSync(usize),
    /// Hands over to another thread of the rank, and waits for one.
    Signal(usize),
    Await(usize),
}

/// What a machine costs, in ns.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) launch_call: i64,
    pub(super) graph_call: i64,
    pub(super) other_call: i64,
    pub(super) latency: i64,
    pub(super) gap: i64,
    pub(super) event: i64,
    pub(super) returning: i64,
    /// Operations of a stream that are launched and have not started.
    pub(super) queue: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) machine: Machine,
    /// For each rank, its threads.
    pub(super) ranks: Vec<Vec<Vec<Do>>>,
    pub(super) steps: usize,
}

pub(super) const STREAMS: usize = 4;
const NAMES: usize = 6;
/// Rank-local numbers: the loader is ready.
const LOADED: usize = 1 << 20;

/// What differs between kinds of programs.
struct Style {
    kernels: usize,
    durations: Vec<i64>,
    code: (i64, i64),
    collective_every: usize,
    reads_back: bool,
    blocking_copies: bool,
    loader_thread: bool,
    loader: i64,
    copy: i64,
    collective: i64,
    /// 0 none, 1 stream, 2 device, 3 event.
    sync: i64,
    overlaps_collectives: bool,
}

impl Program {
    pub(super) fn random(random: &mut Random) -> Self {
        let ranks = [1, 1, 1, 2, 2, 4, 8][random.within(0, 6) as usize];
        let kernels = random.within(10, if ranks > 2 { 40 } else { 120 }) as usize;
        let code = random.spread(500, 15_000);
        let style = Style {
            kernels,
            durations: (0..NAMES).map(|_| random.spread(2_000, 200_000)).collect(),
            code: (code / 2, code * 3 / 2),
            collective_every: if ranks > 1 {
                random.within(5, kernels.min(30) as i64) as usize
            } else {
                usize::MAX
            },
            reads_back: random.one_in(4),
            blocking_copies: random.one_in(2),
            loader_thread: random.one_in(3),
            loader: random.spread(20_000, 4_000_000),
            copy: random.spread(5_000, 1_000_000),
            collective: random.spread(10_000, 500_000),
            sync: random.within(0, 3),
            overlaps_collectives: random.one_in(2),
        };
        let machine = Machine {
            launch_call: random.within(2_000, 8_000),
            graph_call: random.within(4_000, 20_000),
            other_call: random.within(500, 2_000),
            latency: random.within(500, 3_000),
            gap: random.within(500, 1_800),
            event: random.within(800, 2_500),
            returning: random.within(1_000, 8_000),
            queue: [64, 256, 1024][random.within(0, 2) as usize],
        };
        let steps = random.within(5, 9) as usize;
        let skew: Vec<f64> = (0..ranks).map(|_| random.within(80, 130) as f64 / 100.0).collect();
        // All ranks run the same sequence.
        let seed = random.next();
        let ranks = skew.iter().map(|&skew| style.rank(&mut Random(seed), steps, skew)).collect();
        Self { machine, ranks, steps }
    }

    pub(super) fn threads_mut(&mut self) -> impl Iterator<Item = &mut Vec<Do>> {
        self.ranks.iter_mut().flatten()
    }
}

impl Style {
    fn rank(&self, random: &mut Random, steps: usize, skew: f64) -> Vec<Vec<Do>> {
        let (mut main, mut loader) = (Vec::new(), Vec::new());
        let mut next_collective = 0;
        for step in 0..steps {
            let copy = Do::Copy { stream: 1, dur: self.copy, blocks: self.blocking_copies };
            let load = |into: &mut Vec<Do>| {
                into.extend([
                    Do::Code(self.loader, true),
                    copy.clone(),
                    Do::Record { stream: 1, event: 0 },
                ]);
            };
            if self.loader_thread {
                if step > 0 {
                    loader.push(Do::Await(step - 1));
                }
                load(&mut loader);
                loader.push(Do::Signal(LOADED + step));
                main.push(Do::Await(LOADED + step));
            } else {
                load(&mut main);
            }
            main.push(Do::StreamWait { stream: 0, event: 0 });
            if self.loader_thread {
                main.push(Do::Signal(step));
            }
            for kernel in 0..self.kernels {
                main.push(Do::Code(random.within(self.code.0, self.code.1), false));
                let name = random.within(0, NAMES as i64 - 1) as usize;
                let dur =
                    (self.durations[name] as f64 * random.within(90, 110) as f64 / 100.0 * skew) as i64;
                main.push(Do::Kernel { stream: 0, name, dur });
                if self.reads_back && kernel % 16 == 15 {
                    main.push(Do::Copy { stream: 0, dur: 1_500, blocks: true });
                }
                if kernel % self.collective_every == self.collective_every - 1 {
                    main.push(Do::Record { stream: 0, event: 1 });
                    main.push(Do::StreamWait { stream: 2, event: 1 });
                    let number = next_collective;
                    next_collective += 1;
                    main.push(Do::Collective { stream: 2, number, dur: self.collective });
                    main.push(Do::Record { stream: 2, event: 2 });
                    if !self.overlaps_collectives {
                        main.push(Do::StreamWait { stream: 0, event: 2 });
                    }
                }
            }
            if self.collective_every < self.kernels {
                main.push(Do::StreamWait { stream: 0, event: 2 });
            }
            main.push(Do::Kernel { stream: 0, name: 0, dur: self.durations[0] / 2 });
            match self.sync {
                1 => main.push(Do::StreamSync(0)),
                2 => main.push(Do::DeviceSync),
                3 => main.extend([Do::Record { stream: 0, event: 3 }, Do::EventSync(3)]),
                _ => {}
            }
        }
        if self.loader_thread { vec![main, loader] } else { vec![main] }
    }
}

/// A change of a program.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    Faster {
        name: usize,
        by: f64,
    },
    WithoutCopies,
    /// The loader takes 1/n of its time; 0 for none of it.
    Loader(i64),
    Balance,
    /// Copies run on a stream of their own, and nothing waits for them.
    Overlap,
    Graphs,
}

impl Edit {
    pub(super) fn random(random: &mut Random) -> Self {
        match random.within(0, 5) {
            0 => Self::Faster {
                name: random.within(0, NAMES as i64 - 1) as usize,
                by: random.within(12, 60) as f64 / 10.0,
            },
            1 => Self::WithoutCopies,
            2 => Self::Loader(random.within(0, 3)),
            3 => Self::Balance,
            4 => Self::Overlap,
            _ => Self::Graphs,
        }
    }

    /// The program as it would be written with the change.
    pub(super) fn apply(&self, program: &mut Program) {
        match *self {
            Self::Faster { name: faster, by } => {
                for step in program.threads_mut().flatten() {
                    if let Do::Kernel { name, dur, .. } = step
                        && *name == faster
                    {
                        *dur = (*dur as f64 / by) as i64;
                    }
                    if let Do::Graph { kernels, .. } = step {
                        for (_, dur) in kernels.iter_mut().filter(|(name, _)| *name == faster) {
                            *dur = (*dur as f64 / by) as i64;
                        }
                    }
                }
            }
            Self::WithoutCopies => {
                for thread in program.threads_mut() {
                    thread.retain(|step| !matches!(step, Do::Copy { .. }));
                }
            }
            Self::Loader(divisor) => {
                for step in program.threads_mut().flatten() {
                    if let Do::Code(dur, true) = step {
                        *dur = if divisor == 0 { 0 } else { *dur / divisor };
                    }
                }
            }
            Self::Balance => balance(program),
            Self::Overlap => {
                for step in program.threads_mut().flatten() {
                    if let Do::Copy { stream, blocks, .. } = step {
                        (*stream, *blocks) = (STREAMS - 1, false);
                    }
                }
            }
            Self::Graphs => program.threads_mut().for_each(|thread| *thread = as_graphs(thread)),
        }
    }
}

/// Each kernel takes the mean of all ranks.
fn balance(program: &mut Program) {
    let count = program.ranks.len() as i64;
    for place in 0..program.ranks[0][0].len() {
        let of = |rank: &Vec<Vec<Do>>| match &rank[0][place] {
            Do::Kernel { dur, .. } => *dur,
            _ => 0,
        };
        let mean = program.ranks.iter().map(of).sum::<i64>() / count;
        for rank in &mut program.ranks {
            if let Do::Kernel { dur, .. } = &mut rank[0][place] {
                *dur = mean;
            }
        }
    }
}

/// Kernels with nothing but short code between them become one graph.
fn as_graphs(thread: &[Do]) -> Vec<Do> {
    let mut out: Vec<Do> = Vec::new();
    // The graph that is being built, and code that is left out if a kernel follows.
    let (mut open, mut code) = (None, None);
    for step in thread {
        match (step, open) {
            (Do::Code(_, false), Some(_)) => code = Some(step.clone()),
            (Do::Kernel { name, dur, .. }, Some(place)) => {
                code = None;
                if let Some(Do::Graph { kernels, .. }) = out.get_mut::<usize>(place) {
                    kernels.push((*name, *dur));
                }
            }
            (Do::Kernel { stream, name, dur }, None) => {
                open = Some(out.len());
                out.push(Do::Graph { stream: *stream, kernels: vec![(*name, *dur)] });
            }
            (step, _) => {
                open = None;
                out.extend(code.take());
                out.push(step.clone());
            }
        }
    }
    out
}
