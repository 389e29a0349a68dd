//! The rounds on a source behind a lock, and on faulty ones: every fault is no figure.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use super::*;
use crate::rings::tests::Turns;
use crate::{Cores, Work};

/// What a faulty source does with a value for one feed.
trait Fault: Send + 'static {
    fn deliver(queue: &mut VecDeque<u64>, value: u64, sent: u64);
}

struct Faultless;
impl Fault for Faultless {
    fn deliver(queue: &mut VecDeque<u64>, value: u64, _: u64) {
        queue.push_back(value);
    }
}

/// Gives one value in ten in another's place.
struct Doubles;
impl Fault for Doubles {
    fn deliver(queue: &mut VecDeque<u64>, value: u64, sent: u64) {
        let value = match queue.back() {
            Some(last) if sent % 10 == 9 => *last,
            _ => value,
        };
        queue.push_back(value);
    }
}

/// Mixes two values.
struct Tears;
impl Fault for Tears {
    fn deliver(queue: &mut VecDeque<u64>, value: u64, sent: u64) {
        queue.push_back(value ^ u64::from(sent % 10 == 9) << 40);
    }
}

struct Locked<F>(Arc<Mutex<State>>, PhantomData<fn() -> F>);

#[derive(Default)]
struct State {
    latest: u64,
    sent: u64,
    is_closed: bool,
    feeds: Vec<Arc<Mutex<VecDeque<u64>>>>,
}

struct LockedFeed {
    state: Arc<Mutex<State>>,
    queue: Arc<Mutex<VecDeque<u64>>>,
}

impl<F> Clone for Locked<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), PhantomData)
    }
}

impl<F: Fault> Latest for Locked<F> {
    fn with(value: u64) -> Self {
        let state = State {
            latest: value,
            ..State::default()
        };
        Self(Arc::new(Mutex::new(state)), PhantomData)
    }

    fn get(&self) -> u64 {
        self.0.lock().unwrap().latest
    }

    fn set(&self, value: u64) -> bool {
        let mut state = self.0.lock().unwrap();
        let State { sent, feeds, .. } = &mut *state;
        *sent += 1;
        for feed in feeds {
            F::deliver(&mut feed.lock().unwrap(), value, *sent);
        }
        let mut latest = VecDeque::from([state.latest]);
        F::deliver(&mut latest, value, state.sent);
        state.latest = latest[1];
        true
    }
}

impl<F: Fault> LatestArc for Locked<F> {
    type Reader = Self;

    fn reader(self) -> Self {
        self
    }

    fn get_arc(reader: &mut Self) -> impl Deref<Target = u64> {
        Arc::new(reader.get())
    }
}

impl<F: Fault> Source for Locked<F> {
    type Feed = LockedFeed;

    fn open(_: usize) -> Self {
        Self::with(0)
    }

    async fn send(&self, value: u64) -> bool {
        self.set(value)
    }

    fn feed(&self) -> LockedFeed {
        let queue = Arc::new(Mutex::new(VecDeque::from([0])));
        self.0.lock().unwrap().feeds.push(Arc::clone(&queue));
        LockedFeed {
            state: Arc::clone(&self.0),
            queue,
        }
    }

    async fn pull(feed: &mut LockedFeed, mut take: impl FnMut(u64) -> bool) -> bool {
        loop {
            let value = feed.queue.lock().unwrap().pop_front();
            match value {
                Some(value) => return take(value),
                None if feed.state.lock().unwrap().is_closed => return false,
                None => Turns::yield_now().await,
            }
        }
    }

    fn close(&self) {
        self.0.lock().unwrap().is_closed = true;
    }
}

/// What the rows say whose names are `wanted`: a feed that waits for a last value which a fault has
/// replaced would wait for ever, so a fault is shown only to the rows that meet it before.
fn outcomes<F: Fault>(wanted: fn(&str) -> bool) -> Vec<(&'static str, Result<Sample, BenchError>)> {
    type Here<F> = Hosted<Locked<F>, Turns>;
    let entries = [
        get_entries::<Locked<F>>("test"),
        get_arc_entries::<Locked<F>>("test"),
        set_entries::<Here<F>>("test"),
        live_entries::<Here<F>>("test"),
        watch_entries::<Here<F>>("test"),
        lossless_entries::<Here<F>>("test"),
        topic_entries::<Here<F>>("test"),
    ];
    let outcome = |entry: Entry| {
        let ops = match entry.row {
            row if row.starts_with("signal_get") => 1 << 17,
            row if row.starts_with("signal_set") => 2_000,
            "observe_p99" | "idle_1000" => 3,
            _ => 1,
        };
        let params = Params {
            ops,
            shards: 2,
            cores: Cores::allowed_or_one().unwrap(),
        };
        match entry.work {
            Work::Round(round) => (entry.row, round(&params)),
            Work::Serve(_) => panic!("{} serves a client", entry.row),
        }
    };
    let few = |entry: &Entry| !entry.row.contains("1024") && wanted(entry.row);
    let entries = entries.concat().into_iter().filter(few);
    entries.map(outcome).collect()
}

#[test]
fn every_row_gives_a_figure_of_a_faultless_source() {
    for (row, outcome) in outcomes::<Faultless>(|_| true) {
        outcome.unwrap_or_else(|error| panic!("{row}: {error}"));
    }
}

#[test]
fn doubled_values_are_no_figure_where_each_one_counts() {
    let each = outcomes::<Doubles>(|row| row.starts_with("lossless") || row.starts_with("topic"));
    let failed: Vec<_> = each.iter().map(|(_, outcome)| outcome.is_err()).collect();
    assert!(failed.len() >= 4 && failed.iter().all(|failed| *failed));
}

#[test]
fn torn_values_are_no_figure_where_feeds_follow() {
    let live = |row: &str| row == "signal_set_1_b" || row.starts_with("propagation");
    let live = outcomes::<Tears>(live);
    let failed: Vec<_> = live.iter().map(|(_, outcome)| outcome.is_err()).collect();
    assert!(failed.len() >= 2 && failed.iter().all(|failed| *failed));
}
