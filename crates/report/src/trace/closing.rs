//! What an import writes after its last event.

use super::category::{Category, DOMAIN, NAMED_BY_PROFILER};
use super::facts::{self, Facts};
use super::ids::global_pid;
use super::imported::Imported;
use super::owner::Owner;
use super::record::Recorder;
use super::tables::{Closing, Row, SmallTable, Table};
use nsq_value::error::Result;

impl Recorder {
    /// Sends the last rows, and returns what must be written after them.
    pub(super) fn finish(mut self, trace_facts: &Facts) -> Result<(Imported, Closing)> {
        let (start_ns, end_ns) = self.span_ns.unwrap_or_default();
        for ((_, domain), thread) in std::mem::take(&mut self.domains) {
            let name = self.text(domain.name());
            let cells = [Some(thread), Some(DOMAIN), Some(name), Some(domain as i64)];
            self.batch.rows.push(Row::new(Table::Range, (start_ns, start_ns), cells));
        }
        let links = std::mem::take(&mut self.links);
        let (has_waited, has_zeros) = (links.is_waited_for(), links.has_zeros());
        let (links, shown) = links.resolve();
        self.show_launches(shown);
        let dropped = self.drop_frames();
        let (owner, process) = self.owner();
        let mut tables = self.name_tables();
        self.imported.repaired_facts = trace_facts.repaired;
        self.imported.skipped = trace_facts.skipped;
        self.imported.first_skipped = trace_facts.first_skipped.clone();
        self.imported.cut_short = trace_facts.cut_short;
        self.send()?;
        // The rank in the facts of a merged trace is that of its first part.
        let ranks = self.ranks();
        let rank = trace_facts.rank.filter(|_| ranks.is_empty());
        tables.push(ranks);
        let trace_facts = &Facts { rank, ..trace_facts.clone() };
        tables.push(facts::export(trace_facts, self.writer().name()));
        tables.push(self.counted());
        if self.merged.used.is_empty() {
            let mut gpus = trace_facts.devices.clone();
            gpus.extend(self.numbered.moved(&trace_facts.devices));
            tables.push(facts::gpus(&gpus));
        } else {
            let (devices, gpus) = self.merged.tables(&trace_facts.devices);
            tables.extend([devices, facts::gpus(&gpus)]);
        }
        tables.push(facts::streams(&self.streams, process));
        if self.span_ns.is_some() {
            tables.push(facts::extent(end_ns - start_ns));
            tables.push(facts::session(trace_facts.base_ns, start_ns));
        }
        let open_until_ns = (self.imported.unfinished > 0).then_some(end_ns - start_ns);
        let zero_ns = start_ns;
        let closing =
            Closing { zero_ns, tables, owner, links, has_waited, has_zeros, dropped, open_until_ns };
        Ok((self.imported, closing))
    }

    /// Forgets Python calls that are too many. Returns their table.
    fn drop_frames(&mut self) -> Vec<Table> {
        if self.keeps_frames() {
            return Vec::new();
        }
        let mut lost = 0;
        for (category, count) in &mut self.counts {
            if Category::of(category) == Category::Frame {
                lost += std::mem::take(&mut count.rows);
            }
        }
        self.imported.rows -= lost;
        self.imported.python_calls = self.frames;
        vec![Table::Frame]
    }

    /// The owner of the GPU work, and its process if there is only one.
    fn owner(&self) -> (Owner, Option<i64>) {
        if !self.merged.used.is_empty() {
            return (Owner::AsWritten, None);
        }
        let callers = self.processes.iter().filter(|(_, has_calls)| **has_calls);
        let callers: Vec<i64> = callers.map(|(process, _)| *process).collect();
        let only = match (callers.as_slice(), self.processes.len()) {
            ([caller], _) => Some(*caller),
            ([], 1) => self.processes.keys().next().copied(),
            ([], 0) => None,
            ([], _) => return (Owner::Unknown, None),
            _ => return (Owner::ByCall, None),
        };
        let owner = match only {
            Some(process) if only != self.owner || self.has_unowned => Owner::One(global_pid(process)),
            _ => Owner::AsWritten,
        };
        (owner, only)
    }

    /// The ranks of the processes with CPU events.
    fn ranks(&self) -> SmallTable {
        let named =
            self.process_names.iter().filter(|(process, _)| self.processes.contains_key(process));
        self.merged.ranks(named.map(|(process, name)| (*process, name.as_str())))
    }

    /// The tables of process and thread names. Only processes with CPU events are in them, not GPUs.
    fn name_tables(&mut self) -> Vec<SmallTable> {
        let mut processes = SmallTable::new("PROCESSES", &["globalPid", "pid", "name"]);
        for process in self.processes.keys() {
            let given = || {
                let merged = self.merged.name(*process);
                let word = merged.or_else(|| self.ids.original(*process).map(str::to_owned))?;
                Some(format!("process {word}"))
            };
            let name = self.process_names.get(process).cloned().or_else(given);
            processes.add([global_pid(*process).into(), (*process).into(), name.into()]);
        }
        let mut threads = SmallTable::new("ThreadNames", &["nameId", "priority", "globalTid"]);
        for ((process, thread), name) in std::mem::take(&mut self.thread_names) {
            if self.processes.contains_key(&process) {
                let name = self.text(&name);
                threads.add([
                    name.into(),
                    NAMED_BY_PROFILER.into(),
                    (global_pid(process) | thread).into(),
                ]);
            }
        }
        vec![processes, threads]
    }
}

impl Recorder {
    /// Events and rows by category.
    fn counted(&self) -> SmallTable {
        let mut counted = SmallTable::new("NSQ_IMPORT", &["category", "events", "rows"]);
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_by_key(|(category, _)| *category);
        for (category, count) in counts {
            let events = [count.events as i64, count.rows as i64];
            counted.add([category.to_string().into(), events[0].into(), events[1].into()]);
        }
        counted
    }
}
