//! Finds the launching call of each operation by process and correlation id.

use super::{NONE, Ops};
use crate::calls::Calls;
use foldhash::HashMap;
use std::cmp::Reverse;

/// The slots of one process. Correlation ids mostly count up from 1, so an array is usually enough.
#[derive(Debug)]
enum Table {
    Dense { first: i64, slots: Vec<u32> },
    Sparse(HashMap<i64, u32>),
}

/// One slot for each pair of process and correlation id that operations refer to.
#[derive(Debug, Default)]
pub struct Links {
    tables: Vec<Option<Table>>,
    slots: u32,
}

impl Links {
    /// Sets `launch` of each operation with a correlation id to its slot.
    pub fn of(ops: &mut Ops, processes: usize) -> Self {
        let ids = ops.iter().map(|op| (op.process, op.correlation));
        let mut links = Self::between(ids, processes);
        let slots = ops.iter().map(|op| links.slot_for(op.process, op.correlation));
        let slots: Vec<u32> = slots.collect();
        ops.launches_mut().copy_from_slice(&slots);
        links
    }

    /// Room for the launches with these processes and correlation ids, of which 0 stands for none.
    pub fn between(ids: impl Iterator<Item = (u32, i64)>, processes: usize) -> Self {
        // For each process: the smallest id, the largest id and the number of operations.
        let mut spans = vec![(i64::MAX, i64::MIN, 0i128); processes];
        for (process, correlation) in ids.filter(|&(_, correlation)| correlation != 0) {
            let span = &mut spans[process as usize];
            *span = (span.0.min(correlation), span.1.max(correlation), span.2 + 1);
        }
        let table = |&(first, last, count): &(i64, i64, i128)| {
            let width = i128::from(last) - i128::from(first) + 1;
            match count {
                0 => None,
                _ if width <= 16 * count + 1024 => {
                    Some(Table::Dense { first, slots: vec![NONE; width as usize] })
                }
                _ => Some(Table::Sparse(HashMap::default())),
            }
        };
        Self { tables: spans.iter().map(table).collect(), slots: 0 }
    }

    /// The slot of an operation: a new one for the first of its launch, [`NONE`] without a launch.
    pub fn slot_for(&mut self, process: u32, correlation: i64) -> u32 {
        if correlation == 0 {
            return NONE;
        }
        let slot = match &mut self.tables[process as usize] {
            Some(Table::Dense { first, slots }) => &mut slots[(correlation - *first) as usize],
            Some(Table::Sparse(slots)) => slots.entry(correlation).or_insert(NONE),
            None => return NONE,
        };
        if *slot == NONE {
            *slot = self.slots;
            self.slots += 1;
        }
        *slot
    }

    /// The slot of a call; `None` if no operation refers to it.
    pub fn slot(&self, process: u32, correlation: i64) -> Option<u32> {
        if correlation == 0 {
            return None;
        }
        let slot = match self.tables.get(process as usize)?.as_ref()? {
            Table::Dense { first, slots } => {
                let place = usize::try_from(correlation.checked_sub(*first)?).ok()?;
                *slots.get(place)?
            }
            Table::Sparse(slots) => *slots.get(&correlation)?,
        };
        (slot != NONE).then_some(slot)
    }

    /// For each call, whether operations have its process and correlation id.
    pub fn are_linked(&self, calls: &Calls, process_of: impl Fn(i64) -> Option<u32>) -> Vec<bool> {
        let processes: Vec<_> = calls.global_tids.iter().map(|&thread| process_of(thread)).collect();
        let is_linked = |(place, &thread): (usize, &u32)| {
            let process = processes[thread as usize];
            process.is_some_and(|process| self.slot(process, calls.correlation(place)).is_some())
        };
        calls.threads().iter().enumerate().map(is_linked).collect()
    }

    /// The calls of each slot. `process_of`: the process of each thread, if operations refer to it.
    pub fn callers(&self, calls: &Calls, process_of: impl Fn(i64) -> Option<u32>) -> Callers {
        let processes: Vec<_> = calls.global_tids.iter().map(|&thread| process_of(thread)).collect();
        let slot_of = |place: u32| {
            let process = processes[calls.threads()[place as usize] as usize];
            process.and_then(|process| self.slot(process, calls.correlation(place as usize)))
        };
        let mut outermost = vec![NONE; self.slots as usize];
        let key = |place: u32| {
            let call = calls.at(place as usize);
            (call.start, Reverse(call.end), !call.is_runtime, call.id)
        };
        let mut reused: HashMap<u32, Vec<u32>> = HashMap::default();
        let all = 0..calls.len() as u32;
        for (place, slot) in all.clone().filter_map(|place| Some((place, slot_of(place)?))) {
            let best = &mut outermost[slot as usize];
            if *best != NONE {
                let (own, known) = (calls.times(place as usize), calls.times(*best as usize));
                if own.0 > known.1 || own.1 < known.0 {
                    reused.entry(slot).or_default();
                }
            }
            if *best == NONE || key(place) < key(*best) {
                *best = place;
            }
        }
        if !reused.is_empty() {
            for (place, slot) in all.filter_map(|place| Some((place, slot_of(place)?))) {
                if let Some(of_slot) = reused.get_mut(&slot) {
                    of_slot.push(place);
                }
            }
        }
        for of_slot in reused.values_mut() {
            of_slot.sort_unstable_by_key(|&place| key(place));
            let mut reached = i64::MIN;
            of_slot.retain(|&place| {
                let (start, end) = calls.times(place as usize);
                let is_first = reached == i64::MIN;
                let is_outermost = is_first || start > reached;
                reached = reached.max(end);
                is_outermost
            });
        }
        Callers { outermost, reused }
    }
}

/// The calls that launched operations, by slot of [`Links`].
///
/// The call of an operation is the outermost one with its process and correlation id. Of calls inside each other, that is
/// the first to start; then the last to end; then a runtime call before a driver call; then the earlier row. If a process
/// uses an id again, it is the last of these that starts no later than the operation.
#[derive(Debug, Default)]
pub struct Callers {
    /// Of each slot the first one, or [`NONE`].
    outermost: Vec<u32>,
    /// Of slots whose ids were used again, all, in order.
    reused: HashMap<u32, Vec<u32>>,
}

impl Callers {
    /// The place of the call of an operation with this slot and start, or [`NONE`].
    pub fn of(&self, slot: u32, start: i64, calls: &Calls) -> u32 {
        let Some(of_slot) = self.reused.get(&slot).filter(|_| !self.reused.is_empty()) else {
            return self.outermost.get(slot as usize).copied().unwrap_or(NONE);
        };
        let later = of_slot.partition_point(|&place| calls.times(place as usize).0 <= start);
        of_slot.get(later.saturating_sub(1)).copied().unwrap_or(NONE)
    }
}
