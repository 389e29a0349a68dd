//! The logs of a topic: one for all publishers, or several, of which each shard has its own.
//!
//! With [`Order::PerPublisher`](super::Order::PerPublisher) a topic has 16 logs, made with it. A
//! publishing shard always appends to the same one, so its values keep their order, and no other
//! shard's append meets it there unless more than 16 publish; then several share a log, its room
//! and one order. A feed has a seat on each log and takes from them in turn; the logs share their
//! bells, so a shard whose feeds sleep is woken once whichever log has news.

use super::cursors::Cursors;
use super::log::{Log, Refusal};
use super::pool::Spare;
use super::settings::TopicOverflow;
use crate::feed::OnShard;
use crate::panics::Panics;
use crate::park::Bells;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use thread_aware::affinity;

/// Logs of a topic without one order.
const STRIPES: usize = 16;

/// A log, and the node that its publishers keep for their next value.
struct Stripe<T> {
    log: Arc<Log<T>>,
    spare: Spare,
}

pub(super) struct Stripes<T> {
    all: Box<[Stripe<T>]>,
    bells: Arc<Bells>,
}

impl<T> Stripes<T> {
    /// One log for all publishers.
    pub(super) fn one(capacity: usize) -> Self {
        Self::new(1, capacity)
    }

    /// A log for each publishing shard.
    pub(super) fn many(capacity: usize) -> Self {
        Self::new(STRIPES, capacity)
    }

    fn new(count: usize, capacity: usize) -> Self {
        let bells = Arc::new(Bells::new());
        let stripe = |_| Stripe {
            log: Arc::new(Log::new(capacity, Arc::clone(&bells))),
            spare: Spare::new(),
        };
        let all = (0..count).map(stripe).collect();
        Self { all, bells }
    }

    /// What the calling shard appends to; `own` is its handle's spare node, for the one log.
    pub(super) fn writer<'a>(&'a self, own: &'a Spare) -> Writer<'a, T> {
        match &*self.all {
            [only] => Writer {
                log: &only.log,
                spare: own,
            },
            stripes => {
                let stripe = &stripes[shard_number() % stripes.len()];
                Writer {
                    log: &stripe.log,
                    spare: &stripe.spare,
                }
            }
        }
    }

    pub(super) fn bells(&self) -> &Bells {
        &self.bells
    }

    pub(super) fn logs(&self) -> impl Iterator<Item = &Arc<Log<T>>> {
        self.all.iter().map(|stripe| &stripe.log)
    }

    /// Ends all logs, one after the other.
    pub(super) fn close(&self) {
        let mut panics = Panics::default();
        for log in self.logs() {
            panics.run(|| log.close());
        }
        panics.resume();
    }

    /// Whether the last log has ended, which comes after all others.
    pub(super) fn is_closed(&self) -> bool {
        self.all.last().is_some_and(|stripe| stripe.log.is_closed())
    }

    /// Takes back what a publisher kept of the one log.
    pub(super) fn end_publisher(&self, own: &Spare) {
        if let [only] = &*self.all {
            only.log.end_publisher(own);
        }
    }
}

impl<T: Clone + Send + Sync> Stripes<T> {
    /// A seat on each log for the calling thread.
    pub(super) fn subscribe(
        &self,
        capacity: usize,
        overflow: TopicOverflow,
    ) -> Cursors<T, OnShard> {
        Cursors::subscribe(self.logs(), &self.bells, capacity, overflow)
    }
}

/// A number for the calling shard, or for its thread: neighbours have different ones.
fn shard_number() -> usize {
    /// Keeps the number that it is given: a thread's, which counts up.
    struct Number(u64);
    impl Hasher for Number {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.write_u64(u64::from(*byte));
            }
        }
        fn write_u64(&mut self, number: u64) {
            self.0 = self.0.wrapping_mul(31).wrapping_add(number);
        }
    }
    let here = affinity::current();
    if !here.is_anonymous() {
        return here.processor_index();
    }
    let mut number = Number(0);
    here.topology().hash(&mut number);
    number.finish() as usize
}

/// Where one publish goes.
pub(super) struct Writer<'a, T> {
    pub(super) log: &'a Log<T>,
    spare: &'a Spare,
}

impl<T> Clone for Writer<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Writer<'_, T> {}

impl<T> Writer<'_, T> {
    /// Appends; the caller holds the bell.
    pub(super) fn append(self, value: T, attempts_max: u32) -> Result<(), (T, Refusal)> {
        self.log.append(value, self.spare, attempts_max)
    }
}
