//! What binds the GPU work of a report, and how long it would take after an edit.

mod columns;
mod edit;
mod functions;
mod host_code;
mod launched;
mod model;
mod waits;
mod windows;

pub(super) use columns::{CRITICAL, REPLAYED};
pub(super) use windows::WINDOWS;

use super::answers::{Answers, ROW, SHIFT};
use edit::Edit;
use foldhash::HashMap;
use functions::FunctionKind;
use host_code::KnownParts;
use model::Model;
use nsq_sweep::occupancy::{Level, NONE};
use nsq_sweep::replay::{AsRecorded, Change, Edits, Ends, Part, PartKind, Times};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use windows::Windows;

/// Replays that are kept: as recorded, and with one text of edits.
const RECENT: usize = 2;

/// The graph of the report, and what was asked about it. Each part is computed on first use.
#[derive(Default)]
pub(super) struct Replays {
    model: OnceLock<Model>,
    /// The replays asked for last: each takes 32 bytes a call and operation.
    recent: Mutex<VecDeque<Arc<Edited>>>,
    /// Those that `replayed_op` has rows of.
    shown: Mutex<Vec<Arc<Edited>>>,
    chains: Mutex<Chains>,
    windows: Windows,
    host_parts: KnownParts,
    /// The chains of whole GPUs, without edits: their places and lengths.
    whole: OnceLock<Vec<(usize, usize)>>,
}

/// The replay of one text of edits.
pub(super) struct Edited {
    pub(super) text: Arc<str>,
    edits: Option<Edits>,
    pub(super) times: Times,
    /// For each GPU, where its times come to lie.
    ends: Vec<Ends>,
}

/// The chains that were asked for.
#[derive(Default)]
struct Chains {
    /// Their places, by GPU and window: a window mostly has few texts of edits, which can be long.
    places: HashMap<(u32, (i64, i64)), Vec<usize>>,
    chains: Vec<Arc<Chain>>,
}

impl Chains {
    fn place(&self, edits: &str, gpu: u32, window: (i64, i64)) -> Option<usize> {
        let places = self.places.get(&(gpu, window))?;
        places.iter().copied().find(|&place| *self.chains[place].edits == *edits)
    }
}

/// The chain that binds a GPU's work in a window.
pub(super) struct Chain {
    pub(super) edits: Arc<str>,
    /// The lane of the GPU.
    pub(super) gpu: u32,
    /// The window, in times of the capture.
    pub(super) window: (i64, i64),
    pub(super) parts: Vec<Part>,
}

impl Edited {
    fn change(&self) -> &dyn Change {
        self.edits.as_ref().map_or(&AsRecorded, |edits| edits)
    }

    /// The edits, and the lines that a text has after theirs, if it begins with them: fixes are replayed one more at a time.
    fn begins<'a>(&self, text: &'a str) -> Option<(Edits, &'a str)> {
        let more = text.strip_prefix(&*self.text)?.strip_prefix('\n')?;
        self.edits.clone().map(|edits| (edits, more))
    }
}

impl Answers {
    pub(super) fn model(&self) -> &Model {
        self.replays.model.get_or_init(|| self.read(|| Model::new(self)))
    }

    /// The replay with these edits.
    fn edited(&self, text: &str) -> Arc<Edited> {
        let lock = || self.replays.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().iter().find(|of| *of.text == *text) {
            return Arc::clone(known);
        }
        let begun = lock().iter().find_map(|of| of.begins(text));
        // The one that goes leaves its memory to the next.
        let gone = {
            let mut recent = lock();
            if recent.len() < RECENT { None } else { recent.pop_back() }
        };
        let room = gone.and_then(Arc::into_inner).map(|gone| gone.times).unwrap_or_default();
        let fresh = Arc::new(self.replay(text, begun, room));
        let mut recent = lock();
        recent.push_front(Arc::clone(&fresh));
        recent.truncate(RECENT);
        fresh
    }

    /// Replays edits. `begun`: the edits of the first lines, and the other lines. `room`: times that nobody needs any more.
    fn replay(&self, text: &str, begun: Option<(Edits, &str)>, room: Times) -> Edited {
        let model = self.model();
        let (begun, lines) = begun.map_or((None, text), |(begun, lines)| (Some(begun), lines));
        let edits = match Edit::list(lines, &self.calls.store.times) {
            Ok(edits) if edits.is_empty() => begun,
            Ok(edits) => {
                let begun = begun.unwrap_or_default();
                Some(self.read(|| edit::edits(self, model, begun, &edits).map(Some)))
            }
            Err(reason) => {
                _ = self.failure.get_or_init(|| reason);
                None
            }
        };
        let mut edited = Edited { text: text.into(), edits, times: Times::default(), ends: Vec::new() };
        let times = match &edited.edits {
            Some(edits) => model.graph.replay_into(room, edits, &self.limits),
            None => Some(model.graph.recorded()),
        };
        edited.times = self.read(|| Ok(times));
        if edited.times.op_ends.is_empty() {
            return edited;
        }
        let remains = |op: u32| !edited.edits.as_ref().is_some_and(|edits| edits.removes(op));
        let ends = |(started, ended): (&[u32], &[u32])| {
            let first = started.iter().copied().find(|&op| remains(op));
            Ends::new(&model.graph, &edited.times, first, ended, remains)
        };
        edited.ends = self.ops_of_gpus().map(ends).collect();
        edited
    }

    /// When everything on a GPU has ended after edits that had ended at a time, and the last operation of it. `None` for a
    /// replay that was stopped, or whose edits are refused.
    fn ended_at(&self, edited: &Edited, gpu: u32, time: i64) -> Option<(i64, Option<u32>)> {
        let (_, ended) = self.ops_of_gpus().nth(gpu as usize)?;
        edited.ends.get(gpu as usize)?.at(&self.model().graph, &edited.times, ended, time)
    }

    /// The place of the chain of a GPU in a window.
    fn chain_place(&self, text: &str, gpu: u32, window: (i64, i64)) -> usize {
        let lock = || self.replays.chains.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = lock().place(text, gpu, window) {
            return place;
        }
        let edited = self.edited(text);
        let parts = self.parts(&edited, gpu, window);
        let mut chains = lock();
        // Another connection may have asked the same.
        if let Some(place) = chains.place(text, gpu, window) {
            return place;
        }
        let place = chains.chains.len();
        chains.places.entry((gpu, window)).or_default().push(place);
        chains.chains.push(Arc::new(Chain { edits: Arc::clone(&edited.text), gpu, window, parts }));
        place
    }

    /// What binds from the end of the window back to its start.
    fn parts(&self, edited: &Edited, gpu: u32, (from, to): (i64, i64)) -> Vec<Part> {
        let at = |time: i64| self.ended_at(edited, gpu, time);
        let (Some((from, _)), Some((to, Some(op)))) = (at(from), at(to)) else {
            return Vec::new();
        };
        let mut parts = self.model().graph.chain(&edited.times, edited.change(), op, from);
        let start = edited.times.op_ends[op as usize].max(from);
        if start < to {
            parts.push(Part { kind: PartKind::After, call: NONE, op: NONE, start, end: to });
        }
        parts
    }

    /// A row of `critical_part`.
    pub(super) fn critical(&self, index: usize) -> (Arc<Chain>, usize) {
        let chains = self.replays.chains.lock().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&chains.chains[index >> SHIFT]), index & ROW)
    }

    fn whole_chains(&self) -> &[(usize, usize)] {
        self.replays.whole.get_or_init(|| {
            let lanes = 0..self.occupancy.lane_count(Level::Gpu) as u32;
            let mut extents = vec![(i64::MAX, i64::MIN); lanes.len()];
            for op in &self.occupancy.ops {
                let extent = &mut extents[self.occupancy.lane(Level::Gpu, op.stream) as usize];
                *extent = (extent.0.min(op.start), extent.1.max(op.end));
            }
            let chain = |lane: u32| {
                let place = self.chain_place("", lane, extents[lane as usize]);
                (place, self.chain_length(place))
            };
            let has_ops = |&lane: &u32| extents[lane as usize].0 <= extents[lane as usize].1;
            lanes.filter(has_ops).map(chain).collect()
        })
    }

    fn chain_length(&self, place: usize) -> usize {
        self.critical(place << SHIFT).0.parts.len()
    }

    /// The numbers of rows of a scan of `critical_part`, GPU by GPU.
    pub(super) fn critical_rows(&self) -> usize {
        self.whole_chains().iter().map(|(_, length)| length).sum()
    }

    /// The index of a row of a scan.
    pub(super) fn critical_index(&self, mut row: usize) -> usize {
        for &(place, length) in self.whole_chains() {
            if row < length {
                return place << SHIFT | row;
            }
            row -= length;
        }
        row
    }

    /// The indices of the rows of a window of a GPU.
    pub(super) fn find_critical(
        &self,
        edits: &str,
        gpu_id: i64,
        window: (i64, i64),
    ) -> std::ops::Range<usize> {
        self.gpu_lane(gpu_id).map_or(0..0, |lane| {
            let place = self.chain_place(edits, lane, window);
            place << SHIFT..(place << SHIFT) + self.chain_length(place)
        })
    }

    fn gpu_lane(&self, gpu_id: i64) -> Option<u32> {
        let mut lanes = 0..self.occupancy.lane_count(Level::Gpu) as u32;
        lanes.find(|&lane| self.occupancy.first_stream(Level::Gpu, lane).gpu_id == gpu_id)
    }

    /// The indices of the rows of `replayed_op` with these edits.
    pub(super) fn find_replayed(&self, edits: &str) -> std::ops::Range<usize> {
        let shown = || self.replays.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shown().iter().position(|of| *of.text == *edits);
        let place = known.unwrap_or_else(|| {
            let edited = self.edited(edits);
            let mut shown = shown();
            shown.push(edited);
            shown.len() - 1
        });
        place << SHIFT..(place << SHIFT) + self.replayed(place << SHIFT).0.times.op_ends.len()
    }

    /// A row of `replayed_op`.
    pub(super) fn replayed(&self, index: usize) -> (Arc<Edited>, usize) {
        let shown = self.replays.shown.lock().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&shown[index >> SHIFT]), index & ROW)
    }

    /// What calls of the function of a call do.
    pub(super) fn function_kind(&self, call: u32) -> FunctionKind {
        let (model, calls) = (self.model(), &self.launches().calls);
        let place = model.places[call as usize];
        if calls.is_poll(place) {
            return FunctionKind::Event;
        }
        let name = calls.names()[place as usize];
        model.functions.get(name as usize).copied().unwrap_or_default()
    }
}
