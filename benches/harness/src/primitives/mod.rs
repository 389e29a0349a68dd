//! Rows about state and messages between cores, the same lines of code for every library.
//!
//! Form A of a row is the shape of Datum's own benchmark: whole stories, some of which register no
//! live feed or never read a value. Each library writes them as its users would, and the harness
//! repeats and checks them ([`Scenarios`]). Form B has live feeds through the public API, with
//! every value read and checked: a library says in [`Latest`], [`Source`] or [`Crowd`] how values
//! go in and out, and the rounds are generic over these.

mod feeds;
mod latest;
mod overflow;
mod queues;
pub(crate) mod rows;
mod scenario;
mod stage;
#[cfg(test)]
mod tests;
mod value;
mod watching;

use std::marker::PhantomData;
use std::ops::Deref;

use crate::{AwaitQueue, BenchError, Entry, Host, Params, Sample};
use overflow::Keeps;
use rows::{Family, PRIMITIVES};

pub use queues::Fairness;
pub use scenario::{Scenarios, fold_sum};

/// Values of one story.
pub const ITEMS: u64 = 1_024;

/// A number of which the latest value counts; threads read and set it.
pub trait Latest: Clone + Send + 'static {
    /// One that has `value`.
    fn with(value: u64) -> Self;

    /// A copy of the latest value.
    fn get(&self) -> u64;

    /// Sets `value`, and says whether it was accepted.
    fn set(&self, value: u64) -> bool;

    /// Closes it, where there is such a call.
    fn close(&self) {}
}

/// The same with references that are counted.
pub trait LatestArc: Latest {
    /// What one thread reads by.
    type Reader;

    /// Called on the thread that reads.
    fn reader(self) -> Self::Reader;

    /// The latest value, which stays as it is.
    fn get_arc(reader: &mut Self::Reader) -> impl Deref<Target = u64>;
}

/// Takes what a feed gets.
pub trait Ear: Send + 'static {
    /// Its feed is there: it gets every value that is sent from now on, or a newer one.
    fn ready(&mut self);

    /// Takes the next value, and says whether it wants more.
    fn take(&mut self, value: u64) -> bool;
}

/// A source of numbers whose feeds are awaited.
pub trait Source: Clone + Send + 'static {
    /// A subscriber's end, on its host.
    type Feed: 'static;

    /// One whose feeds have room for `capacity` values, where they have any; its first value, where
    /// it has one, is zero.
    fn open(capacity: usize) -> Self;

    /// Sends `value`, and says whether it was accepted.
    fn send(&self, value: u64) -> impl Future<Output = bool>;

    /// A feed; called in a task on its host. It may yield the value zero first.
    fn feed(&self) -> Self::Feed;

    /// Waits for a value and hands it to `take`, and those behind it that one call brings.
    ///
    /// `false` when none will come, or `take` wants no more.
    fn pull(feed: &mut Self::Feed, take: impl FnMut(u64) -> bool) -> impl Future<Output = bool>;

    /// Ends it: its feeds get what was sent, and then their end.
    fn close(&self);
}

/// A source and the place where all its feeds run.
pub trait Crowd: Clone + Send + 'static {
    /// Where its writer runs.
    type Host: Host;

    /// As [`Source::open`].
    fn open(capacity: usize) -> Self;

    /// As [`Source::send`].
    fn send(&self, value: u64) -> impl Future<Output = bool>;

    /// Makes a feed for each of `ears` on the calling thread, which is pinned to `core`, and runs
    /// them until no ear wants more. `begin` is called once, before the first feed waits.
    ///
    /// # Errors
    ///
    /// What the host says that does not start.
    fn listen<E: Ear>(
        &self,
        core: usize,
        ears: Vec<E>,
        begin: impl FnOnce() + 'static,
    ) -> Result<(), BenchError>;

    /// As [`Source::close`].
    fn close(&self);
}

/// A source whose feeds are tasks of one executor.
pub struct Hosted<S, H>(S, PhantomData<fn() -> H>);

impl<S: Clone, H> Clone for Hosted<S, H> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<S: Source, H: Host> Crowd for Hosted<S, H> {
    type Host = H;

    fn open(capacity: usize) -> Self {
        Self(S::open(capacity), PhantomData)
    }

    fn send(&self, value: u64) -> impl Future<Output = bool> {
        self.0.send(value)
    }

    fn listen<E: Ear>(
        &self,
        core: usize,
        ears: Vec<E>,
        begin: impl FnOnce() + 'static,
    ) -> Result<(), BenchError> {
        let tasks = ears.into_iter().map(|ear| hear(self.0.clone(), ear));
        H::run(core, tasks.collect(), begin)
    }

    fn close(&self) {
        self.0.close();
    }
}

async fn hear<S: Source, E: Ear>(source: S, mut ear: E) {
    let mut feed = source.feed();
    ear.ready();
    while S::pull(&mut feed, |value| ear.take(value)).await {}
}

impl<S: Latest, H: 'static> Latest for Hosted<S, H> {
    fn with(value: u64) -> Self {
        Self(S::with(value), PhantomData)
    }

    #[inline]
    fn get(&self) -> u64 {
        self.0.get()
    }

    #[inline]
    fn set(&self, value: u64) -> bool {
        self.0.set(value)
    }

    fn close(&self) {
        Latest::close(&self.0);
    }
}

/// What a round of a row with a number does.
type Count = fn(&Params, usize) -> Result<Sample, BenchError>;

fn entries(family: Family, who: &str, round: Count) -> Vec<Entry> {
    let entry =
        |(row, count)| Entry::round((PRIMITIVES, row), who, move |params| round(params, count));
    family.rows().map(entry).collect()
}

/// Reads of a number that nobody changes.
pub fn get_entries<L: Latest>(who: &str) -> Vec<Entry> {
    entries(rows::GET_A, who, latest::reads::<L>)
}

/// The same through references that are counted.
pub fn get_arc_entries<L: LatestArc>(who: &str) -> Vec<Entry> {
    entries(rows::GET_ARC, who, latest::arc_reads::<L>)
}

/// Sets beside reads, and beside a feed whose reader is busy or awake.
pub fn set_entries<C: Crowd + Latest>(who: &str) -> Vec<Entry> {
    let sets: Count = |params, feeds| match feeds {
        0 => latest::sets::<C>(params),
        _ => watching::sets_past_a_busy_feed::<C>(params),
    };
    [
        entries(rows::SET_A, who, sets),
        entries(rows::SET_0_B, who, |params, _| {
            latest::sets_read_back::<C>(params)
        }),
        entries(rows::SET_1_B, who, |params, _| feeds::sets::<C>(params)),
    ]
    .concat()
}

/// Reads beside a writer and a live feed.
pub fn live_entries<C: Crowd + Latest>(who: &str) -> Vec<Entry> {
    entries(rows::GET_B, who, watching::live_reads::<C>)
}

/// Many feeds of the latest value, awake and asleep.
pub fn watch_entries<C: Crowd>(who: &str) -> Vec<Entry> {
    [
        entries(rows::PROPAGATION_B, who, feeds::propagation::<C>),
        entries(rows::OBSERVE, who, |params, _| {
            watching::observe::<C>(params)
        }),
        entries(rows::IDLE, who, watching::idle::<C>),
    ]
    .concat()
}

/// Many feeds that get every change.
pub fn lossless_entries<C: Crowd>(who: &str) -> Vec<Entry> {
    entries(rows::LOSSLESS_B, who, feeds::lossless::<C>)
}

/// Many feeds that get every message.
pub fn topic_entries<C: Crowd>(who: &str) -> Vec<Entry> {
    entries(rows::TOPIC_B, who, feeds::topic::<C>)
}

/// Many producers and one consumer: rate and fairness.
pub fn queue_entries<Q: AwaitQueue, H: Host>(who: &str) -> Vec<Entry> {
    [
        entries(rows::MPSC_B, who, queues::mpsc::<Q, H>),
        entries(rows::FAIRNESS, who, queues::fairness::<Q, H>),
    ]
    .concat()
}

/// Full feeds that keep the newest messages.
pub fn overflow_oldest_entries<S: Source, H: Host>(who: &str) -> Vec<Entry> {
    entries(rows::OVERFLOW_OLDEST, who, |params, feeds| {
        overflow::overflow::<S, H>(params, feeds, Keeps::Newest)
    })
}

/// Full feeds that keep the oldest messages.
pub fn overflow_new_entries<S: Source, H: Host>(who: &str) -> Vec<Entry> {
    entries(rows::OVERFLOW_NEW, who, |params, feeds| {
        overflow::overflow::<S, H>(params, feeds, Keeps::Oldest)
    })
}

macro_rules! form_a {
    ($($(#[$doc:meta])* $name:ident: $family:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// `round` gets the number of feeds or producers.
            pub fn $name(
                who: &str,
                round: fn(&Params, usize) -> Result<Sample, BenchError>,
            ) -> Vec<Entry> {
                entries(rows::$family, who, round)
            }
        )*
    };
}

form_a! {
    /// Form A of the rows `propagation`.
    form_a_propagation: PROPAGATION_A;
    /// Form A of the rows `lossless`.
    form_a_lossless: LOSSLESS_A;
    /// Form A of the rows `mpsc`.
    form_a_mpsc: MPSC_A;
    /// Form A of the rows `topic`.
    form_a_topic: TOPIC_A;
    /// Form B of the rows `mpsc`, for a library whose consumer is not awaited.
    live_mpsc_entries: MPSC_B;
    /// The row about fairness, likewise.
    fairness_entries: FAIRNESS;
    /// The rows about full feeds that keep the newest messages, written by the library.
    story_overflow_oldest: OVERFLOW_OLDEST;
    /// The rows about full feeds that keep the oldest messages, likewise.
    story_overflow_new: OVERFLOW_NEW;
    /// The row about actors.
    actor_entries: ACTOR;
}
