//! Asks several queries of a report at once, each on a connection of its own.

use super::begin::Known;
use super::intervals::Intervals;
use super::limits::Limits;
use super::native::Natives;
use super::relation_store::Stored;
use super::session::Session;
use crate::compile::Plan;
use crate::normalize::Installation;
use nsq_report::report::reopen;
use nsq_value::error::Result;
use nsq_value::table::ResultTable;
use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Most connections that ask at once. Each takes memory to sort and group, and reads the report.
const MOST: usize = 4;
/// A smaller report, in bytes, is asked on one connection: to make its relations on another one takes longer than to ask.
const WORTH_A_CONNECTION: u64 = 1 << 20;

/// What a session beside another one needs.
#[derive(Debug, Clone)]
struct Beside {
    database: PathBuf,
    installation: Arc<Installation>,
    natives: Option<Arc<Natives>>,
    stored: Arc<Stored>,
    limits: Limits,
}

/// A query that is asked of the report itself.
#[derive(Debug, Clone, Copy)]
struct Leaf<'a> {
    plan: &'a Plan,
    is_finding: bool,
}

/// What is kept of the answer to a query that was asked ahead.
#[derive(Debug)]
enum Answer {
    Table(ResultTable),
    /// The intervals of a finding; `None` if the report cannot tell.
    Finding(Option<Box<Intervals>>),
}

/// The end of the queue from which a connection takes its plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

impl Beside {
    fn begin(self) -> Result<Session> {
        let connection = reopen(&self.database, &self.limits.cancel)?;
        Session::connect(
            connection,
            self.installation,
            Known::Natives(self.natives),
            self.stored,
            &self.limits,
        )
    }
}

impl Session {
    /// Asks at once what the plans ask one by one: themselves, or the queries that they ask. The answers
    /// are kept for [`Session::ask`].
    ///
    /// After an error, no more are asked. Of several errors, the first in the order of the plans is returned.
    pub fn ask_ahead(&self, plans: &[&Plan], limits: &Limits) -> Result<()> {
        self.ask_ahead_while(plans, limits, || Ok(()))
    }

    /// The same. This thread first does other work, the `meanwhile`, such as to ask this or another session for more. Its error
    /// comes before others.
    pub fn ask_ahead_while(
        &self,
        plans: &[&Plan],
        limits: &Limits,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut leaves: Vec<Leaf<'_>> = Vec::new();
        for plan in plans {
            self.add_leaves(plan, &mut leaves)?;
        }
        let connections = limits.threads.allowed().min(MOST).min(leaves.len());
        let is_small = fs::metadata(&self.database).is_ok_and(|file| file.len() < WORTH_A_CONNECTION);
        // Functions of a scope that selects NVTX ranges belong to one connection.
        if connections < 2 || is_small || self.installation.selecting.is_some() {
            return meanwhile();
        }
        let (queue, answers) = (Mutex::new(self.queue(&leaves)), Mutex::new(Vec::new()));
        let work = |session: &Session, end: End| {
            let take = || {
                let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                if end == End::Front { queue.pop_front() } else { queue.pop_back() }
            };
            while let Some(place) = take() {
                let answer = session.answer(&leaves[place], limits);
                if answer.is_err() {
                    queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
                }
                answers.lock().unwrap_or_else(PoisonError::into_inner).push((place, answer));
            }
        };
        let beside = Beside {
            database: self.database.clone(),
            installation: Arc::clone(&self.installation),
            natives: self.natives.clone(),
            stored: Arc::clone(&self.stored),
            limits: Limits { threads: limits.threads.shared_by(connections), ..limits.clone() },
        };
        // One of the others checks the times before its first query: at the beginning, it would mostly wait.
        let must_check = !self.are_times_checked.replace(true);
        let ask = |must_check: bool, beside: Beside| -> Result<()> {
            let session = beside.begin()?;
            session.are_times_checked.set(!must_check);
            let checked = session.check_times();
            checked.inspect_err(|_| queue.lock().unwrap_or_else(PoisonError::into_inner).clear())?;
            work(&session, End::Back);
            Ok(())
        };
        let done = thread::scope(|scope| -> Result<()> {
            let others: Vec<_> = (1..connections)
                .map(|nth| {
                    let (beside, ask) = (beside.clone(), &ask);
                    scope.spawn(move || ask(must_check && nth == 1, beside))
                })
                .collect();
            let done = meanwhile();
            if done.is_err() {
                queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
            work(self, End::Front);
            let joined = others.into_iter().try_for_each(|other| match other.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            done.and(joined)
        });
        if done.is_err() {
            self.are_times_checked.set(!must_check);
        }
        done?;
        let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        answers.sort_unstable_by_key(|(place, _)| *place);
        for (place, answer) in answers {
            let plan = leaves[place].plan.clone();
            match answer? {
                Answer::Table(table) => self.asked.borrow_mut().push((plan, Rc::new(table))),
                Answer::Finding(intervals) => {
                    self.judged.borrow_mut().push((plan, intervals.map(|intervals| *intervals)));
                }
            }
        }
        Ok(())
    }

    /// The places of plans, those that read native relations first. One connection begins there and the others
    /// at the end, so that they seldom wait for what another one computes.
    fn queue(&self, leaves: &[Leaf<'_>]) -> VecDeque<usize> {
        let is_native = |relation: &String| {
            self.installation.natives.iter().any(|native| native.relation == *relation)
        };
        let (native, plain): (Vec<usize>, Vec<usize>) =
            (0..leaves.len()).partition(|&place| leaves[place].plan.reads.iter().any(is_native));
        native.into_iter().chain(plain).collect()
    }

    /// The answer to a plan that nothing else asks any more. One that was asked ahead is handed over.
    pub fn take_answer(&self, plan: &Plan, limits: &Limits) -> Result<ResultTable> {
        let place = self.asked.borrow().iter().position(|(known, _)| known.is_same(plan));
        match place {
            Some(place) => Ok(Rc::unwrap_or_clone(self.asked.borrow_mut().swap_remove(place).1)),
            None => self.table(plan, limits),
        }
    }

    /// Adds the queries behind a plan that are asked of the report itself and that are new. A finding only if the report
    /// has the relations that it needs.
    fn add_leaves<'a>(&self, plan: &'a Plan, leaves: &mut Vec<Leaf<'a>>) -> Result<()> {
        if !plan.is_over_answers() {
            self.add_leaf(Leaf { plan, is_finding: false }, leaves);
            return Ok(());
        }
        // A query that cannot have rows asks nothing.
        if self.is_without_rows(plan)? {
            return Ok(());
        }
        // What another answer gives a parameter to is asked after it. A query that has its answer asks nothing more.
        let asks = plan.asks.iter().filter(|asked| asked.given.is_empty());
        let asks = asks.filter(|asked| !self.is_left_empty(asked) && self.known(&asked.plan).is_none());
        asks.into_iter().try_for_each(|asked| self.add_leaves(&asked.plan, leaves))?;
        // The intervals of all findings are kept once a plan has read them.
        let findings =
            plan.findings.iter().flat_map(|all| all.iter()).filter(|_| self.found.get().is_none());
        for asked in findings {
            if self.absent_of(&asked.plan).is_none() {
                self.add_leaf(Leaf { plan: &asked.plan, is_finding: true }, leaves);
            }
        }
        Ok(())
    }

    fn add_leaf<'a>(&self, leaf: Leaf<'a>, leaves: &mut Vec<Leaf<'a>>) {
        let is_added = leaves.iter().any(|known| known.plan.is_same(leaf.plan));
        let is_judged = leaf.is_finding && self.judgement(leaf.plan).is_some();
        if !is_added && !is_judged && self.known(leaf.plan).is_none() {
            leaves.push(leaf);
        }
    }

    fn answer(&self, leaf: &Leaf<'_>, limits: &Limits) -> Result<Answer> {
        Ok(match leaf.is_finding {
            false => Answer::Table(self.table(leaf.plan, limits)?),
            true if self.lack_of(leaf.plan)?.is_some() => Answer::Finding(None),
            true => Answer::Finding(Some(Box::new(self.intervals(leaf.plan, limits)?))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::Work;
    use crate::normalize;
    use nsq_report::schema::Schema;
    use nsq_sweep::threads::Threads;
    use nsq_value::table::Value;
    use rusqlite::Connection;
    use std::collections::HashSet;
    use std::num::NonZeroUsize;
    use std::sync::Barrier;
    use std::thread::ThreadId;

    /// The threads on which each of two sessions worked.
    static SEEN: [Mutex<Vec<ThreadId>>; 2] = [const { Mutex::new(Vec::new()) }; 2];

    fn see(session: usize) {
        SEEN[session].lock().unwrap().push(thread::current().id());
    }

    #[test]
    fn sessions_with_different_maximums_work_at_once() {
        let catalog = crate::tests::library();
        let show: [fn(&Work); 2] = [|_| see(0), |_| see(1)];
        // A report that is worth a connection.
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report.sqlite");
        fs::copy("../../fixtures/example.sqlite", &report).unwrap();
        let more = format!("CREATE TABLE more AS SELECT zeroblob({WORTH_A_CONNECTION}) AS bytes");
        Connection::open(&report).unwrap().execute_batch(&more).unwrap();
        let begin = Barrier::new(2);
        let ask = |session: usize| {
            let mut limits = Limits {
                threads: Threads::at_most(NonZeroUsize::new(session + 1)),
                ..Limits::default()
            };
            limits.progress.show = Some(show[session]);
            let connection = Connection::open(&report).unwrap();
            let schema = Schema::read(&connection).unwrap();
            let scope = normalize::Scope::default();
            let installation = normalize::plan(&schema, catalog, &scope, ["kernel"]).unwrap();
            let asking = Session::begin(connection, &installation, &limits).unwrap();
            let count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :most)
                SELECT count(*) FROM n";
            let plans: Vec<Plan> = (0..4)
                .map(|more| {
                    let mut plan = Plan::ad_hoc(count, ("SQL".to_owned(), 1), catalog);
                    plan.bindings = vec![("most".to_owned(), Value::Int(400_000 + more))];
                    plan
                })
                .collect();
            begin.wait();
            asking.ask_ahead(&plans.iter().collect::<Vec<_>>(), &limits).unwrap();
            for (plan, most) in plans.iter().zip(400_000..) {
                assert_eq!(asking.ask(plan, &limits).unwrap().rows, [[Value::Int(most)]]);
            }
        };
        thread::scope(|scope| {
            let other = scope.spawn(|| ask(0));
            ask(1);
            other.join().unwrap();
        });
        let threads = SEEN
            .each_ref()
            .map(|seen| seen.lock().unwrap().iter().copied().collect::<HashSet<_>>().len());
        assert_eq!(threads, [1, 2]);
    }
}
