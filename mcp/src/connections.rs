//! The connections of the server: how many there may be, and when each must end.
//!
//! Everybody on the network can connect, but only those with the token may take the server's time. So a connection is a
//! *stranger* until it has shown the token, and strangers are counted apart:
//!
//! - Every connection is accepted at once: none waits in a queue behind others.
//! - A stranger has a short time to send the head of a request with the token. A head without it ends the connection.
//! - If there are too many strangers, a new one ends the oldest stranger of the address that has the most. A
//!   client sends its head as soon as it is connected, so only the silent grow old, and a machine that opens many
//!   connections takes the places of its own.
//! - A connection that has shown the token needs a place among those. If there is none, the one that has been idle for the
//!   longest ends, or else the one that has been sending the body of its request for the longest. If all wait for answers,
//!   the request is refused.
//! - These have limits too: for the body of a request, and for the time between requests. Calls have their own.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How many connections there may be, and how long they may take.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Most connections that have not shown the token.
    pub(crate) strangers: usize,
    /// Most connections that have.
    pub(crate) known: usize,
    /// Longest time from connecting to the end of the first head.
    pub(crate) head: Duration,
    /// Longest time for the body of a request.
    pub(crate) body: Duration,
    /// Longest time for taking an answer, waiting, and sending the next head.
    pub(crate) idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Both together leave files for reports, where a process may open 1024.
            strangers: 256,
            known: 64,
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            idle: Duration::from_secs(60),
        }
    }
}

/// The open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: Limits,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// In the order in which they connected.
    by_id: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    address: IpAddr,
    state: State,
    since: Instant,
    /// When the connection must end; `None`: not while a request arrives, which has a limit of its own, or is answered.
    end: watch::Sender<Option<Instant>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Stranger,
    /// It sends the body of a request.
    Sending,
    /// Its request is answered.
    Asking,
    Idle,
}

/// A connection's place among the open ones, which it leaves when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    id: u64,
    end: watch::Receiver<Option<Instant>>,
}

impl Connections {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new connection.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Place {
        let mut open = self.open();
        if open.count(|connection| connection.state == State::Stranger) >= self.limits.strangers {
            open.end_a_stranger();
        }
        let since = Instant::now();
        let (sender, end) = watch::channel(Some(since + self.limits.head));
        let id = open.next;
        open.next += 1;
        open.by_id.insert(id, Connection { address, state: State::Stranger, since, end: sender });
        Place { connections: Arc::clone(self), id, end }
    }

    /// Ends a stranger, so that another connection can be opened.
    pub(crate) fn end_a_stranger(&self) {
        self.open().end_a_stranger();
    }
}

impl Open {
    fn count(&self, is_counted: impl Fn(&Connection) -> bool) -> usize {
        self.by_id.values().filter(|connection| is_counted(connection)).count()
    }

    fn end_a_stranger(&mut self) {
        let mut by_address = BTreeMap::<IpAddr, (usize, u64)>::new();
        // The newest first, so that the oldest of each address remains.
        for (id, connection) in self.by_id.iter().rev() {
            if connection.state == State::Stranger {
                let (count, oldest) = by_address.entry(connection.address).or_default();
                (*count, *oldest) = (*count + 1, *id);
            }
        }
        let most = by_address.into_values().max_by_key(|(count, oldest)| (*count, u64::MAX - oldest));
        most.into_iter().for_each(|(_, id)| self.end(id));
    }

    fn end(&mut self, id: u64) {
        if let Some(connection) = self.by_id.remove(&id) {
            connection.end.send_replace(Some(Instant::now()));
        }
    }
}

impl Place {
    pub(crate) fn limits(&self) -> &Limits {
        &self.connections.limits
    }

    /// The connection has shown the token with a request. `false`: there is no place for it.
    pub(crate) fn begin(&self) -> bool {
        let mut open = self.connections.open();
        let is_known = |connection: &Connection| connection.state != State::Stranger;
        let is_new = open.by_id.get(&self.id).is_some_and(|connection| !is_known(connection));
        if is_new && open.count(is_known) >= self.connections.limits.known {
            let longest = |state| {
                let those = open.by_id.iter().filter(|(_, connection)| connection.state == state);
                those.min_by_key(|(_, connection)| connection.since).map(|(id, _)| *id)
            };
            let Some(id) = longest(State::Idle).or_else(|| longest(State::Sending)) else {
                return false;
            };
            open.end(id);
        }
        self.set(&mut open, State::Sending, None);
        true
    }

    /// Its request has arrived.
    pub(crate) fn ask(&self) {
        self.set(&mut self.connections.open(), State::Asking, None);
    }

    /// Its request was answered.
    pub(crate) fn rest(&self) {
        let end = Instant::now() + self.connections.limits.idle;
        self.set(&mut self.connections.open(), State::Idle, Some(end));
    }

    fn set(&self, open: &mut Open, state: State, end: Option<Instant>) {
        // One that was ended is not there any more.
        if let Some(connection) = open.by_id.get_mut(&self.id) {
            (connection.state, connection.since) = (state, Instant::now());
            connection.end.send_replace(end);
        }
    }

    /// Returns when the connection must end.
    pub(crate) async fn over(&self) {
        let mut end = self.end.clone();
        loop {
            let at = *end.borrow_and_update();
            let has_changed = match at {
                Some(at) => timeout_at(at, end.changed()).await.is_ok_and(|changed| changed.is_ok()),
                None => end.changed().await.is_ok(),
            };
            if !has_changed {
                return;
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open().by_id.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// Whether a connection must end.
    async fn is_over(place: &Place) -> bool {
        tokio::time::timeout(Duration::from_millis(20), place.over()).await.is_ok()
    }

    #[tokio::test]
    async fn a_machine_with_many_strangers_takes_its_own_places() {
        let limits = Limits { strangers: 4, ..Limits::default() };
        let connections = Connections::new(limits);
        let admit = |last: u8| connections.admit(Ipv4Addr::new(10, 0, 0, last).into());
        let (one, many) = (admit(1), [admit(2), admit(2), admit(2)]);
        let newer = [admit(2), admit(3)];
        assert!(is_over(&many[0]).await && is_over(&many[1]).await && !is_over(&many[2]).await);
        assert!(!is_over(&one).await && !is_over(&newer[0]).await && !is_over(&newer[1]).await);
    }

    #[tokio::test]
    async fn idle_connections_give_way_first_and_those_that_wait_for_answers_never() {
        let connections = Connections::new(Limits { known: 3, ..Limits::default() });
        let places: Vec<Place> = (0..3).map(|_| connections.admit(Ipv4Addr::LOCALHOST.into())).collect();
        assert!(places.iter().all(Place::begin));
        let new = || connections.admit(Ipv4Addr::LOCALHOST.into());
        places[1].ask();
        places[2].ask();
        places[2].rest();
        let (fourth, fifth, sixth) = (new(), new(), new());
        assert!(fourth.begin() && is_over(&places[2]).await && !is_over(&places[0]).await);
        fourth.ask();
        assert!(fifth.begin() && is_over(&places[0]).await);
        fifth.ask();
        assert!(!sixth.begin() && !is_over(&fifth).await);
        // A place that is left can be taken.
        drop(fourth);
        assert!(sixth.begin());
    }
}
