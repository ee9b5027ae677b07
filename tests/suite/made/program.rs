//! A program: what its host threads do, and what they launch. All times are in nanoseconds.

/// A random sequence that is the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..4).for_each(|_| _ = random.part());
        random
    }

    /// A number from 0 to 1, without 1.
    fn part(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number between these, each as likely as the others.
    pub(crate) fn between(&mut self, from: f64, to: f64) -> f64 {
        from + self.part() * (to - from)
    }

    /// A time that differs from `ns` by up to `share` of it.
    pub(crate) fn about(&mut self, ns: i64, share: f64) -> i64 {
        (ns as f64 * self.between(1.0 - share, 1.0 + share)) as i64
    }
}

/// A stream of a GPU. Only one thread uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stream {
    Compute,
    Collective,
    /// Copies the batches.
    Load,
}

impl Stream {
    pub(crate) const ALL: [Self; 3] = [Self::Compute, Self::Collective, Self::Load];

    /// The number of the stream in its context.
    pub(crate) fn id(self) -> i64 {
        [7, 21, 13][self as usize]
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    /// Blocks, and threads in each.
    pub(crate) grid: i64,
    pub(crate) block: i64,
    pub(crate) ns: i64,
    /// Which collective of the program it is: it ends on all GPUs `ns` after the last GPU began it.
    pub(crate) collective: Option<u32>,
    /// Bytes of unified memory that the kernel needs and that are not on the GPU.
    pub(crate) absent_bytes: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToDevice,
    ToHost,
    OnDevice,
}

#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) direction: Direction,
    pub(crate) bytes: i64,
    pub(crate) ns: i64,
    /// Whether the host memory is pageable. Its copies hold the host until they are done.
    pub(crate) pageable: bool,
    /// `cudaMemcpy` instead of `cudaMemcpyAsync`.
    pub(crate) blocking: bool,
}

/// What a thread does next.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Begins an NVTX range.
    Push(String),
    /// Ends the innermost open range.
    Pop,
    /// Runs its own code for this time.
    Work(i64),
    /// Launches a kernel with a call of this length.
    Launch(Stream, Kernel, i64),
    Copy(Stream, Copy),
    /// Fills this many bytes, in this time.
    Fill(Stream, i64, i64),
    /// Launches a host function of this length: the stream waits for it.
    HostFunction(Stream, i64),
    /// Records the event after the work that the stream has.
    Record(Stream, u32),
    /// Makes later work of the stream wait for the event.
    WaitEvent(Stream, u32),
    /// Waits until the stream has finished.
    Synchronize(Stream),
    /// Allocates memory with a call of this length.
    Allocate(i64),
    /// Waits until kernels and collectives have finished, and frees memory in this time.
    Free(i64),
    /// Loads code with a call of this length.
    LoadModule(i64),
    /// The profiler holds up the thread for this time.
    Profiler(i64),
    /// Reads this many bytes of unified memory that are on the GPU: they move to the host in this time.
    ReadManaged(i64, i64),
    /// Lets the threads of this process pass `Await` of the same number.
    Signal(u32),
    Await(u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) name: &'static str,
    pub(crate) actions: Vec<Action>,
}

/// A process that uses one GPU.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    /// The GPU, counted from 0, and how many the program has.
    pub(crate) gpu: usize,
    pub(crate) gpus: usize,
    pub(crate) threads: Vec<Thread>,
}

/// One process for each GPU.
pub(crate) type Program = Vec<Process>;

/// Where an action is.
pub(crate) struct Place<'a> {
    pub(crate) thread: &'static str,
    /// Names of the open ranges, the outermost first. `Push` and `Pop` are inside their range.
    pub(crate) ranges: &'a [String],
}

impl Place<'_> {
    /// Whether the thread that launches kernels is in this range, or in one whose name begins so.
    pub(crate) fn is_in(&self, range: &str) -> bool {
        self.thread == MAIN && self.ranges.iter().any(|open| open.starts_with(range))
    }

    /// Whether this is the innermost range.
    pub(crate) fn is_directly_in(&self, range: &str) -> bool {
        self.thread == MAIN && self.ranges.last().is_some_and(|open| open.starts_with(range))
    }

    /// The number of the step; those before the first have none.
    pub(crate) fn step(&self) -> Option<usize> {
        self.ranges.first()?.strip_prefix("step ")?.parse().ok()
    }
}

pub(crate) const MAIN: &str = "python";
pub(crate) const LOADER: &str = "pin_memory";

impl Process {
    /// Replaces each action by those that `rewrite` adds for it.
    pub(crate) fn rewrite(&mut self, mut rewrite: impl FnMut(&Place<'_>, Action, &mut Vec<Action>)) {
        for thread in &mut self.threads {
            let (mut ranges, mut actions) = (Vec::new(), Vec::new());
            for action in std::mem::take(&mut thread.actions) {
                if let Action::Push(name) = &action {
                    ranges.push(name.clone());
                }
                let ends = matches!(action, Action::Pop);
                rewrite(&Place { thread: thread.name, ranges: &ranges }, action, &mut actions);
                if ends {
                    ranges.pop();
                }
            }
            thread.actions = actions;
        }
    }

    /// Adds actions before each range of the main thread whose name begins so.
    pub(crate) fn before(&mut self, range: &str, mut add: impl FnMut(&mut Vec<Action>)) {
        self.rewrite(|place, action, actions| {
            if matches!(action, Action::Push(_)) && place.is_directly_in(range) {
                add(actions);
            }
            actions.push(action);
        });
    }

    /// Adds actions after each range of the main thread whose name begins so.
    pub(crate) fn after(&mut self, range: &str, mut add: impl FnMut(&Place<'_>, &mut Vec<Action>)) {
        self.rewrite(|place, action, actions| {
            let ends = matches!(action, Action::Pop) && place.is_directly_in(range);
            actions.push(action);
            if ends {
                add(place, actions);
            }
        });
    }

    /// Changes the compute kernels.
    pub(crate) fn change_kernels(&mut self, mut change: impl FnMut(&Place<'_>, &mut Kernel)) {
        self.rewrite(|place, mut action, actions| {
            if let Action::Launch(Stream::Compute, kernel, _) = &mut action {
                change(place, kernel);
            }
            actions.push(action);
        });
    }
}
