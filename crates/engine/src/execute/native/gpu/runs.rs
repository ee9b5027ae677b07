//! Orders and marks of the parts of gaps, runs of short kernels, and leads of threads.

use super::answers::{Answers, COMPUTE_GAP_PART, IDLE_PART, ROW, SHIFT};
use crate::execute::native::asked::Asked;
use nsq_sweep::calls::Call;
use nsq_sweep::occupancy::{Gap, IdleKind, Lead, LeadOf, Runs, largest_of_gaps, leads};
use std::ops::Range;

impl Answers {
    /// Whether a row of `idle_part` or `compute_gap_part` stands for its gap.
    pub(super) fn is_largest(&self, index: usize) -> bool {
        let parts = &self.idle().parts[index >> SHIFT];
        self.largest[index >> SHIFT].get_or_init(|| largest_of_gaps(parts))[index & ROW]
    }

    /// The parts of gaps, sorted by GPU, by the words for what they are, and by time.
    pub(super) fn by_word(&self, gaps_of: usize) -> &[u32] {
        self.by_word[gaps_of].get_or_init(|| {
            let (parts, gaps) = (&self.idle().parts[gaps_of], self.gaps_of_gpus(gaps_of));
            let rank = |kind: IdleKind| {
                IdleKind::ALL.iter().filter(|other| other.as_str() < kind.as_str()).count()
            };
            let ranks = IdleKind::ALL.map(rank);
            let mut order: Vec<u32> = (0..parts.len() as u32).collect();
            // The parts come in order of time.
            order.sort_by_key(|&place| {
                let part = &parts[place as usize];
                (gaps[part.gap as usize].lane, ranks[part.kind as usize])
            });
            order
        })
    }

    /// The runs of short kernels with these limits, and their place among those that were asked for.
    pub(super) fn runs(&self, longest: i64, below: i64) -> (usize, &Runs) {
        let make = || self.occupancy.runs(self.gaps_of_gpus(IDLE_PART), longest, below);
        self.runs.find(&[longest, below], make)
    }

    /// A row of `kernel_run`: the runs with their limits, and the row's place among their gaps.
    pub(super) fn run(&self, index: usize) -> Option<(&Asked<Runs>, usize)> {
        Some((self.runs.at(index >> SHIFT)?, index & ROW))
    }

    /// The rows of `thread_lead` of a GPU.
    pub(super) fn leads_of(&self, gpu_id: i64, starts_ahead: i64) -> Range<usize> {
        let make = || {
            let (calls, idle) = (&self.launches().calls, self.idle());
            let waits = idle.functions.iter().map(|function| function.contains("Synchronize"));
            let gaps = (self.gaps_of_gpus(COMPUTE_GAP_PART), &idle.parts[COMPUTE_GAP_PART][..]);
            leads(gaps, calls, &waits.collect::<Vec<_>>(), starts_ahead != 0)
        };
        let (place, leads) = self.leads.find(&[starts_ahead], make);
        let gpu = |lead: &Lead| self.gpu(lead.lane as usize).gpu_id;
        // They come lane by lane, and lanes by GPU.
        let from = leads.partition_point(|lead| gpu(lead) < gpu_id);
        let to = leads.partition_point(|lead| gpu(lead) <= gpu_id);
        place << SHIFT | from..place << SHIFT | to
    }

    /// A row of `thread_lead`.
    pub(super) fn lead(&self, index: usize) -> Option<&Lead> {
        self.leads.at(index >> SHIFT)?.answer.get(index & ROW)
    }

    /// Its thread.
    pub(super) fn thread_of(&self, lead: &Lead) -> Option<i64> {
        self.idle().threads.get(lead.thread as usize).copied()
    }

    /// The gap that it is.
    pub(super) fn gap_of(&self, lead: &Lead) -> Option<&Gap> {
        match lead.of {
            LeadOf::Gap { gap, .. } => self.gaps_of_gpus(COMPUTE_GAP_PART).get(gap as usize),
            LeadOf::Wait(_) => None,
        }
    }

    /// The call that it is.
    pub(super) fn wait_of(&self, lead: &Lead) -> Option<Call> {
        match lead.of {
            LeadOf::Gap { .. } => None,
            LeadOf::Wait(call) => self.launches().calls.get(call),
        }
    }

    /// The gap of a row of `kernel_run`.
    pub(super) fn gap_of_run(&self, index: usize) -> Option<&Gap> {
        let (asked, row) = self.run(index)?;
        self.gaps_of_gpus(IDLE_PART).get(asked.answer.gaps[row].0 as usize)
    }
}
