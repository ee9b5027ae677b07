use super::*;
use program::{Edit, Program, Random};
use simulator::{COPY, Run, run};

mod by_hand;
mod program;
mod simulator;

fn never() -> bool {
    false
}

fn graph_of(run: &Run) -> Graph {
    Graph::new(run.capture.clone(), &never).expect("nothing stops it")
}

fn is_as_recorded(capture: &Capture) {
    let graph = Graph::new(capture.clone(), &never).expect("nothing stops it");
    let times = graph.replay(&AsRecorded, &never).expect("nothing stops it");
    for (call, of) in capture.calls.iter().enumerate() {
        assert_eq!((times.call_starts[call], times.call_ends[call]), (of.start, of.end), "call {call}");
    }
    for (op, of) in capture.ops.iter().enumerate() {
        assert_eq!((times.op_starts[op], times.op_ends[op]), (of.start, of.end), "operation {op}");
    }
}

/// The edits as the replay knows them.
fn edits(graph: &Graph, run: &Run, changes: &[Edit]) -> Edits {
    let mut edits = Edits::default();
    for change in changes {
        match *change {
            Edit::Faster { name, by } => {
                edits.scale_ops(graph, |op| if run.names[op as usize] == name { 1.0 / by } else { 1.0 })
            }
            Edit::WithoutCopies => edits.remove(graph, |op| run.names[op as usize] == COPY),
            Edit::Loader(divisor) => edits.scale_code(graph, |call| {
                let loader = run.loader[call as usize] as f64;
                let code = graph.code(call).unwrap_or_default() as f64;
                let kept = if divisor == 0 { 0.0 } else { 1.0 / divisor as f64 };
                if code > 0.0 { ((code - loader) + loader * kept) / code } else { 1.0 }
            }),
            Edit::Overlap => {
                let gpus = &run.capture.gpu_of_stream;
                edits.overlap(graph, gpus, |op| run.names[op as usize] == COPY);
            }
            Edit::Balance => edits.balance(graph, &run.rank_of_stream, &run.rank_of_thread),
            Edit::Graphs => {
                // Calls that are no kernel launches end a graph.
                edits.launch_as_graphs(graph, |call| run.capture.calls[call as usize].function >= 2);
            }
        }
    }
    edits
}

/// A change of a program, and how well the replay predicts it.
struct Prediction {
    before: f64,
    made: f64,
    predicted: f64,
    what: String,
}

impl Prediction {
    fn of(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut program = Program::random(&mut random);
        let mut before = run(&program, &mut Random(seed ^ 1));
        // Many exports lack the tables that tell what a stream waits for.
        let lacks_events = random.one_in(3);
        if lacks_events {
            before.capture.events.clear();
        }
        let mut changes = vec![Edit::random(&mut random)];
        if random.one_in(3) {
            let other = Edit::random(&mut random);
            let is_same = std::mem::discriminant(&other) == std::mem::discriminant(&changes[0]);
            changes.extend(Some(other).filter(|_| !is_same));
        }
        // A graph has no copies or collectives that could still be changed, so it is made last.
        changes.sort_by_key(|change| matches!(change, Edit::Graphs));
        for change in &changes {
            change.apply(&mut program);
        }
        // Another run: only the program is the same, not the noise.
        let after = run(&program, &mut Random(seed ^ 2));
        let graph = graph_of(&before);
        let edits = edits(&graph, &before, &changes);
        let times = graph.replay(&edits, &never).expect("nothing stops it");
        let kernels = (0..graph.op_count() as u32)
            .filter(|&op| graph.stream(op) == 0 && before.names[op as usize] != COPY);
        let mut ended: Vec<u32> = kernels.clone().collect();
        ended.sort_by_key(|&op| graph.op(op).1);
        let ends = Ends::new(&graph, &times, kernels.clone().next(), &ended, |_| true);
        let at = |time: i64| ends.at(&graph, &times, &ended, time).expect("operations ended").0;
        let last = before.step_ends.len() - 1;
        let predicted = (at(before.step_ends[last]) - at(before.step_ends[0])) as f64 / last as f64;
        Self {
            before: before.step,
            made: after.step,
            predicted,
            what: format!(
                "{changes:?}, lacks events: {lacks_events}, queue {}, seed {seed}",
                program.machine.queue
            ),
        }
    }

    fn error(&self) -> f64 {
        (self.predicted - self.made).abs() / self.made
    }
}

/// The median of the errors, and what 95 % of them are below.
fn errors<'a>(of: impl Iterator<Item = &'a Prediction>) -> (usize, f64, f64) {
    let mut errors: Vec<f64> = of.map(Prediction::error).collect();
    errors.sort_by(f64::total_cmp);
    let at = |percent: usize| errors[(errors.len() - 1) * percent / 100];
    (errors.len(), at(50), at(95))
}

#[test]
fn the_replay_without_edits_is_the_capture() {
    for seed in 0..60 {
        let program = Program::random(&mut Random(seed));
        is_as_recorded(&run(&program, &mut Random(seed)).capture);
    }
}

/// Changes that are tried; all 2,000 take seconds with optimisation.
const CHANGES: u64 = if cfg!(debug_assertions) { 200 } else { 2_000 };

#[test]
fn the_chain_covers_the_time_to_its_end() {
    for seed in 0..40 {
        let run = run(&Program::random(&mut Random(seed)), &mut Random(seed));
        let graph = graph_of(&run);
        let changes = [Edit::random(&mut Random(seed + 1))];
        let edits = edits(&graph, &run, &changes);
        let times = graph.replay(&edits, &never).expect("nothing stops it");
        let op = graph.op_count() as u32 - 1;
        let (from, to) = (run.step_ends[0], times.op_ends[op as usize]);
        let chain = graph.chain(&times, &edits, op, from);
        let mut at = from.min(to);
        for part in &chain {
            assert_eq!(part.start, at, "seed {seed}: {part:?}");
            assert!(part.start < part.end, "seed {seed}: {part:?}");
            at = part.end;
        }
        assert_eq!(at, to, "seed {seed}");
    }
}

#[test]
fn real_changes_are_predicted() {
    let mut predictions: Vec<Prediction> =
        (0..CHANGES).map(|seed| Prediction::of(seed * 7919 + 13)).collect();
    predictions.sort_by(|a, b| b.error().total_cmp(&a.error()));
    for of in &predictions[..8] {
        let Prediction { before, made, predicted, what } = of;
        println!("{before:.0} to {made:.0} ns, predicted {predicted:.0}: {what}");
    }
    let has_effect = |of: &&Prediction| (of.made - of.before).abs() > 0.05 * of.before;
    let all = errors(predictions.iter());
    let effective = errors(predictions.iter().filter(has_effect));
    println!("all, and those with an effect of over 5 %: {all:?}, {effective:?}");
    assert!(effective.0 > CHANGES as usize / 4);
    for (_, median, most) in [all, effective] {
        assert!(median <= 0.02 && most <= 0.05, "median {median}, 95 % within {most}");
    }
}
