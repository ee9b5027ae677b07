//! Made programs, of which is known what repeats.

use super::{Kind, Repeat, Sequence};
use crate::projection::Watch;

struct Never;

impl Watch for Never {
    fn is_over(&self) -> bool {
        false
    }
}

/// A program that is launched, and where its steps begin.
#[derive(Default)]
struct Program {
    sequence: Sequence,
    begins: Vec<u32>,
    at: i64,
}

impl Program {
    fn launch(&mut self, name: u32) {
        self.at += 10;
        self.sequence.names.push(name);
        self.sequence.starts.push(self.at);
        self.sequence.touches_host.push(false);
        self.sequence.kernels.push(1);
        self.sequence.kernel_ns.push(10);
    }

    fn launch_all(&mut self, names: impl IntoIterator<Item = u32>) {
        names.into_iter().for_each(|name| self.launch(name));
    }

    /// Marks the border of a step, after a pause of the host.
    fn begin(&mut self) {
        self.at += 1000;
        self.begins.push(self.sequence.names.len() as u32);
    }

    /// The host reads a result.
    fn read_back(&mut self) {
        self.launch(1);
        *self.sequence.touches_host.last_mut().unwrap() = true;
        *self.sequence.kernels.last_mut().unwrap() = 0;
        *self.sequence.kernel_ns.last_mut().unwrap() = 0;
    }

    /// The host waits for the last launch.
    fn wait(&mut self) {
        *self.sequence.touches_host.last_mut().unwrap() = true;
    }

    fn repeats(&self) -> Vec<Repeat> {
        self.sequence.repeats(&Never).unwrap()
    }

    /// The borders of the step that is found; none without a step.
    fn found(&self) -> Vec<u32> {
        let repeats = self.repeats();
        match repeats.first() {
            Some(repeat) if repeat.kind == Kind::Step => repeat.cuts[..repeat.len()].to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }
}

/// The launches of a training step: an embedding, layers forward and backward, an optimizer.
fn training(layers: u32, parameters: u32) -> Vec<u32> {
    let forward = (0..layers).flat_map(|_| [20, 21, 22, 21, 23, 24]);
    let backward = (0..layers).flat_map(|_| [34, 33, 31, 32, 31, 30, 35]);
    let optimizer = (0..parameters).map(|_| 50);
    [10, 11]
        .into_iter()
        .chain(forward)
        .chain([12, 13])
        .chain(backward)
        .chain([14, 15])
        .chain(optimizer)
        .collect()
}

#[test]
fn steps_of_any_number_and_length_are_found() {
    let mut dice = Dice(1);
    for steps in [3, 4, 7, 50, 1000] {
        for layers in [1, 2, 12, 48] {
            if steps * layers > 12_000 {
                continue;
            }
            let mut program = Program::default();
            // Start-up: each name once, in any order.
            program.launch_all((0..dice.between(0, 40)).map(|name| 1000 + name as u32));
            for _ in 0..steps {
                program.begin();
                program.launch_all(training(layers, 30));
                program.read_back();
            }
            assert_eq!(program.found(), program.begins, "{steps} steps of {layers} layers");
        }
    }
}

#[test]
fn long_steps_of_many_kernels_are_found() {
    let (mut program, mut dice) = (Program::default(), Dice(5));
    let step: Vec<u32> = (0..50_000).map(|_| 100 + dice.below(613) as u32).collect();
    for _ in 0..3 {
        program.begin();
        program.launch_all(step.iter().copied());
        program.launch_all([5, 6]);
    }
    assert_eq!(program.found(), program.begins);
}

#[test]
fn variations_do_not_hide_steps() {
    let mut dice = Dice(7);
    for seed in 0..40 {
        let mut program = Program::default();
        let (steps, layers) = (dice.between(8, 60), dice.between(2, 12) as u32);
        let (log_every, evaluate_every) = (dice.between(3, 9), dice.between(10, 30));
        program.launch_all((0..dice.between(0, 200)).map(|_| 900 + dice.below(30) as u32));
        for step in 0..steps {
            program.begin();
            program.launch_all(training(layers, 20));
            // A longer batch launches other kernels for some of its work.
            if dice.below(4) == 0 {
                let last = program.sequence.names.len() - 3;
                program.sequence.names[last] = 70 + dice.below(3) as u32;
            }
            // An overflow skips a part of the optimizer.
            if dice.below(12) == 0 {
                for _ in 0..dice.between(1, 5) {
                    program.sequence.names.pop();
                    program.sequence.starts.pop();
                    program.sequence.touches_host.pop();
                    program.sequence.kernels.pop();
                    program.sequence.kernel_ns.pop();
                }
            }
            program.read_back();
            if step % log_every == 0 {
                program.launch_all([80, 81, 82]);
            }
            if step % evaluate_every == 4 {
                program.launch_all((0..layers).flat_map(|_| [20, 21, 22, 21, 23, 24]));
            }
        }
        let found = program.found();
        assert!(!found.is_empty(), "{seed}: {steps} steps of {layers} layers");
        let right = found.iter().filter(|cut| program.begins.contains(cut)).count();
        assert!(right + 1 >= found.len(), "{seed}: {found:?} {:?}", program.begins);
        assert!(found.len() + 2 >= program.begins.len(), "{seed}: {found:?} {:?}", program.begins);
    }
}

#[test]
fn layers_of_one_pass_are_blocks() {
    let mut program = Program::default();
    program.launch_all([10, 11]);
    program.launch_all((0..24).flat_map(|_| [20, 21, 22, 21, 23, 24, 25, 26, 27]));
    program.launch_all([12, 13]);
    let repeats = program.repeats();
    assert_eq!((repeats[0].kind, repeats[0].len()), (Kind::Block, 24));
}

#[test]
fn layers_that_alternate_are_no_steps() {
    let mut program = Program::default();
    program.launch_all([10, 11]);
    for layer in 0..24 {
        let attention = if layer % 2 == 0 { 30 } else { 31 };
        program.launch_all([20, 21, attention, 21, 23, 24, 25, 26, 27]);
    }
    program.launch_all([12, 13]);
    assert!(program.repeats().iter().all(|repeat| repeat.kind == Kind::Block));
}

#[test]
fn passes_without_the_host_are_steps_of_layers() {
    let mut program = Program::default();
    for _ in 0..3 {
        program.begin();
        program.launch_all([10, 11]);
        program.launch_all((0..32).flat_map(|_| [20, 21, 22, 21, 23, 24, 25, 26, 27]));
        program.launch_all([12, 13]);
    }
    program.launch_all((0..40).map(|name| 1000 + name));
    let repeats = program.repeats();
    assert_eq!((repeats[0].kind, repeats[0].len()), (Kind::Step, 3));
    assert_eq!(repeats[1].kind, Kind::Block);
    assert_eq!(program.found(), program.begins);
}

#[test]
fn parts_that_take_turns_are_one_step() {
    let turns = |sizes: &[u32]| {
        let mut program = Program::default();
        for turn in 0..40 {
            program.begin();
            program.launch_all([10, 11]);
            program.launch_all((0..sizes[turn % sizes.len()]).map(|name| 20 + name % 3));
            program.launch_all((0..100).map(|_| 30).chain([12]));
            program.wait();
        }
        program
    };
    for sizes in [vec![60, 80], vec![60, 60, 60, 80]] {
        let program = turns(&sizes);
        let begins: Vec<u32> = program.begins.iter().copied().step_by(sizes.len()).collect();
        assert_eq!(program.found(), begins, "{sizes:?}");
        assert!(program.repeats()[0].is_sure);
    }
    // One kernel more in every other step, and sizes in no such order, are no turns.
    for sizes in [vec![60, 61], (60..80).collect()] {
        let program = turns(&sizes);
        assert_eq!(program.found(), program.begins, "{sizes:?}");
    }
}

/// Parts that the host waits for after every few, with nothing else around them.
fn with_waits(part: impl Fn() -> Vec<u32>, parts: u32, every: u32) -> Program {
    let mut program = Program::default();
    for number in 0..parts {
        program.begin();
        program.launch_all(part());
        if number % every == every - 1 {
            program.wait();
        }
    }
    program
}

#[test]
fn layers_are_no_steps_if_the_host_waits_after_every_pass() {
    let layer = || vec![20, 21, 22, 21, 23, 24, 25, 26, 27];
    let every = |every: usize, program: &Program| -> Vec<u32> {
        program.begins.iter().copied().step_by(every).collect()
    };
    for (parts, layers) in [(18, 6), (40, 5), (64, 8)] {
        let program = with_waits(layer, parts, layers);
        assert_eq!(program.found(), every(layers as usize, &program), "{parts} {layers}");
        let repeats = program.repeats();
        assert!(repeats[0].is_sure && repeats[1].kind == Kind::Block, "{repeats:?}");
    }
    // Stages of a time step, too few to be steps by themselves.
    let stages = with_waits(|| vec![20, 21, 22], 12, 3);
    assert_eq!(stages.found(), every(3, &stages));
    // A capture that begins and ends inside a pass.
    let mut program = Program::default();
    for number in 0..41 {
        program.launch_all(layer());
        if number % 6 == 3 {
            program.wait();
        }
    }
    let found = program.found();
    assert!(found.len() >= 6 && found.contains(&(4 * 9)), "{found:?}");
}

/// A function of eleven parts, such as a factorization: its handle is made and destroyed in each call.
#[test]
fn many_parts_are_one_step_if_the_host_works_between_calls() {
    for (pause, is_one) in [(10_000, true), (100, false)] {
        let mut program = Program::default();
        let mut calls = Vec::new();
        for number in 0..110 {
            if number % 11 == 0 {
                program.at += pause;
                calls.push(program.sequence.names.len() as u32);
            }
            program.begins.push(program.sequence.names.len() as u32);
            program.launch_all([20, 21, 22, 23]);
            if number % 11 == 10 {
                program.wait();
            }
        }
        let expected = if is_one { calls } else { program.begins.clone() };
        assert_eq!(program.found(), expected, "{pause}");
    }
}

#[test]
fn waits_that_are_rare_or_few_make_no_longer_steps() {
    let step = || vec![20, 21, 22, 21, 23, 24, 25, 26, 27];
    // A log after ten steps, a warm-up and what is timed, and two waits in no order.
    for (parts, every) in [(40, 10), (12, 6), (24, 12)] {
        let program = with_waits(step, parts, every);
        assert_eq!(program.found(), program.begins, "{parts} {every}");
        assert!(!program.repeats()[0].is_sure);
    }
    let mut program = Program::default();
    for number in 0..40 {
        program.begin();
        program.launch_all(step());
        if [3, 9, 11, 20, 31].contains(&number) {
            program.wait();
        }
    }
    assert_eq!(program.found(), program.begins);
    // Steps that the host waits for, that have layers, or that are large graphs stay.
    let waited = with_waits(step, 40, 1);
    assert_eq!((waited.found(), waited.repeats()[0].is_sure), (waited.begins.clone(), true));
    let layered = with_waits(|| training(6, 20), 20, 4);
    assert_eq!((layered.found(), layered.repeats()[0].is_sure), (layered.begins.clone(), true));
    let small = with_waits(|| (100..136).collect(), 20, 4);
    assert_eq!((small.found(), small.repeats()[0].is_sure), (small.begins.clone(), false));
    let mut graphs = with_waits(|| vec![7, 8], 40, 4);
    graphs.sequence.kernels.fill(120);
    assert_eq!((graphs.found(), graphs.repeats()[0].is_sure), (graphs.begins.clone(), true));
    // A single launch is no layer.
    let single = with_waits(|| vec![7], 100, 5);
    assert_ne!(single.found().len(), 20);
}

#[test]
fn parts_before_a_long_kernel_are_no_steps() {
    let found = |last: i64| {
        let mut program = Program::default();
        program.launch_all((0..12).flat_map(|_| [20, 21, 22, 21, 23, 24, 25, 26, 27]));
        program.launch(28);
        *program.sequence.kernel_ns.last_mut().unwrap() = last;
        program.found().len()
    };
    assert_eq!((found(20), found(1_000)), (12, 0));
}

#[test]
fn an_optimizer_of_equal_launches_ends_a_step_of_several_batches() {
    let batch = training(12, 0);
    let mut program = Program::default();
    for _ in 0..12 {
        program.begin();
        (0..4).for_each(|_| program.launch_all(batch.iter().copied()));
        program.launch_all([50; 80]);
    }
    assert_eq!(program.found(), program.begins);
}

#[test]
fn many_small_steps_before_a_long_part_are_no_steps() {
    let program = |long_ns: i64| {
        let mut program = Program::default();
        for _ in 0..20 {
            program.begin();
            for _ in 0..64 {
                program.launch_all(10..24);
                program.read_back();
            }
            for _ in 0..12 {
                program.launch_all([30, 31]);
                *program.sequence.kernel_ns.last_mut().unwrap() = long_ns;
            }
            program.launch(40);
            program.read_back();
        }
        program
    };
    // 64 steps of a simulation take 8,960 ns, and learning takes 60,000.
    let learning = program(5_000);
    assert_eq!(learning.found(), learning.begins);
    // An end that is short is one of a log.
    let log = program(10);
    assert_ne!(log.found(), log.begins);
}

#[test]
fn levels_before_work_of_the_host_are_no_steps() {
    let program = |pause: i64| {
        let mut program = Program::default();
        for _ in 0..40 {
            program.begin();
            program.launch(9);
            for _ in 0..8 {
                program.launch_all(10..15);
                program.read_back();
            }
            program.at += pause;
        }
        program
    };
    let evaluated = program(2_000);
    assert_eq!(evaluated.found(), evaluated.begins);
    let built = program(0);
    assert_ne!(built.found(), built.begins);
}

#[test]
fn layers_without_the_host_before_an_optimizer_are_no_steps() {
    let program = |tensors: usize, ns: i64, reads: bool| {
        let mut program = Program::default();
        for _ in 0..12 {
            program.begin();
            // A layer of equal parts, with a kernel that the optimizer has, too.
            for _ in 0..64 {
                program.launch_all((0..7).flat_map(|_| [20, 21, 22, 23]).chain([24, 25, 26]));
                if reads {
                    program.read_back();
                }
            }
            program.launch(1);
            program.wait();
            for _ in 0..tensors {
                program.launch(23);
                *program.sequence.kernel_ns.last_mut().unwrap() = ns;
            }
        }
        program
    };
    assert_eq!(program(2_000, 1, false).found().len(), 12);
    // With little else, before long kernels, and where the host reads after each, these may be steps.
    assert_ne!(program(20, 1, false).found().len(), 12);
    assert_ne!(program(2_000, 10, false).found().len(), 12);
    assert_ne!(program(2_000, 1, true).found().len(), 12);
}

#[test]
fn copies_in_a_step_are_no_steps() {
    let mut program = Program::default();
    for _ in 0..20 {
        program.begin();
        (0..100).for_each(|_| program.read_back());
        program.launch(7);
        program.wait();
    }
    assert_eq!(program.found(), program.begins);
}

#[test]
fn nothing_is_found_where_nothing_repeats() {
    let mut dice = Dice(3);
    for length in [0, 1, 2, 3, 5, 100, 5000] {
        let mut program = Program::default();
        // Each once, and random ones of few names.
        program.launch_all(0..length);
        assert!(program.found().is_empty(), "{length} different ones");
        let mut program = Program::default();
        program.launch_all((0..length).map(|_| dice.below(40) as u32));
        assert!(program.found().is_empty(), "{length} random ones");
    }
}

#[test]
fn a_kernel_that_runs_a_few_times_is_no_step_unless_the_host_takes_part() {
    let mut program = Program::default();
    program.launch_all([7; 10]);
    assert!(program.found().is_empty());
    let mut program = Program::default();
    program.launch_all([7; 100]);
    assert_eq!(program.found(), (0..100).collect::<Vec<u32>>());
    let mut program = Program::default();
    for _ in 0..100 {
        program.begin();
        program.launch(7);
        program.read_back();
    }
    assert_eq!(program.found(), program.begins);
}

#[test]
fn reading_a_result_now_and_then_makes_no_longer_steps() {
    let mut program = Program::default();
    for step in 0..200 {
        program.begin();
        program.launch_all([20, 21, 22]);
        program.read_back();
        if step % 5 == 4 {
            program.launch(2);
            *program.sequence.kernels.last_mut().unwrap() = 0;
            *program.sequence.kernel_ns.last_mut().unwrap() = 0;
        }
    }
    assert_eq!(program.found().len(), 200);
}

#[test]
fn two_loops_without_the_host_are_two_states_and_two_stacks_of_layers_are_none() {
    let program = |others: u32| {
        let mut program = Program::default();
        program.launch_all(1000..1000 + others);
        // Each after a warm-up.
        program.launch_all((0..3).flat_map(|_| [20, 21, 22, 23, 24]));
        program.read_back();
        program.launch_all((0..100).flat_map(|_| [20, 21, 22, 23, 24]));
        program.launch_all((0..3).flat_map(|_| [30, 31, 32, 33, 34]));
        program.read_back();
        program.launch_all((0..100).flat_map(|_| [30, 31, 32, 33, 34]));
        program.launch_all(2000..2000 + others);
        program.repeats()
    };
    let found: Vec<(Kind, usize)> =
        program(0).iter().map(|repeat| (repeat.kind, repeat.len())).collect();
    assert!(matches!(found[..], [(Kind::Step, 100..), (Kind::Other, 100..)]), "{found:?}");
    assert!(program(5).iter().all(|repeat| repeat.kind == Kind::Block));
}

#[test]
fn many_launches_of_a_graph_are_steps_and_a_few_of_a_small_one_are_none() {
    let found = |launches: u32, kernels: u32| {
        let mut program = Program::default();
        program.launch_all(1000..1012);
        for _ in 0..launches {
            program.begin();
            program.launch(7);
            *program.sequence.kernels.last_mut().unwrap() = kernels;
            *program.sequence.kernel_ns.last_mut().unwrap() = 10 * i64::from(kernels);
        }
        program.launch_all(2000..2012);
        program.found().len()
    };
    assert_eq!(found(160, 99), 160);
    assert_eq!(found(8, 120), 8);
    assert_eq!(found(8, 40), 0);
    assert_eq!(found(40, 8), 0);
}

#[test]
fn steps_that_grow_all_the_time_are_a_sweep() {
    let kinds = |time: fn(i64) -> i64| {
        let mut program = Program::default();
        for step in 0..360 {
            program.begin();
            program.launch_all([20, 21]);
            *program.sequence.kernel_ns.last_mut().unwrap() = time(step);
            program.read_back();
        }
        program.repeats()[0].kind
    };
    assert_eq!(kinds(|step| 100 + 2 * step), Kind::Uneven);
    assert_eq!(kinds(|step| 1200 - 3 * step), Kind::Uneven);
    // A decode whose context grows, and steps of two lengths in turn.
    assert_eq!(kinds(|step| 500 + step), Kind::Step);
    assert_eq!(kinds(|step| 100 + 150 * (step % 2)), Kind::Step);
}

/// A server: each round is a graph or a few launches, and the host reads a result. Every so often it does a prompt before.
fn server(prompts: u64, dice: &mut Dice) -> Program {
    let mut program = Program::default();
    for _ in 0..80 {
        program.begin();
        program.launch_all([10, 10, 10]);
        if dice.below(100) < prompts {
            program.launch_all((0..dice.between(100, 300)).map(|at| 20 + at as u32 % 7));
        }
        program.launch_all([30, 31, 32]);
        program.sequence.kernels[program.sequence.names.len() - 3] = 200;
        program.sequence.kernel_ns[program.sequence.names.len() - 3] = 2000;
        program.read_back();
    }
    program
}

#[test]
fn rounds_of_a_server_are_found_where_nothing_repeats() {
    let mut dice = Dice(7);
    for prompts in [10, 25, 40] {
        let program = server(prompts, &mut dice);
        let rounds = program.sequence.rounds(&Never).unwrap();
        assert_eq!(rounds.len(), 1, "{prompts} % of the rounds have a prompt");
        assert_eq!(rounds[0].cuts[..80], program.begins, "{prompts} % of the rounds have a prompt");
    }
}

#[test]
fn layers_without_the_host_are_no_rounds() {
    let mut program = Program::default();
    for _ in 0..80 {
        program.launch_all([10, 11, 12]);
        program.launch_all((0..5).map(|at| 20 + at));
    }
    assert_eq!(program.sequence.rounds(&Never).unwrap(), Vec::new());
}
