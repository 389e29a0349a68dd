//! Signals: a number in place, and one of any type behind a pointer.

use std::ops::Deref;

use corelane_bench_harness::{Latest, LatestArc, Source};
use corelane_primitives::{Changes, PlainSignal, Replica, Signal};

/// What keeps a number in place.
pub(super) type Plain = State<PlainSignal<u64>>;
/// What keeps any type, here a number.
pub(super) type Shared = State<Signal<u64>>;

/// A signal.
#[derive(Clone)]
pub(super) struct State<S>(S);

/// A signal of which each reader has a replica.
#[derive(Clone)]
pub(super) struct Replicas<S>(State<S>);

impl<S: Clone + Send + 'static> Latest for Replicas<S>
where
    State<S>: Latest,
{
    fn with(value: u64) -> Self {
        Self(State::with(value))
    }

    #[inline]
    fn get(&self) -> u64 {
        self.0.get()
    }

    #[inline]
    fn set(&self, value: u64) -> bool {
        self.0.set(value)
    }
}

macro_rules! state {
    ($signal:ty, $make:expr, $feed:ty) => {
        impl Latest for State<$signal> {
            fn with(value: u64) -> Self {
                Self($make(value))
            }

            #[inline]
            fn get(&self) -> u64 {
                self.0.get_cloned()
            }

            #[inline]
            fn set(&self, value: u64) -> bool {
                self.0.set(value).is_ok()
            }

            fn close(&self) {
                self.0.close();
            }
        }

        impl LatestArc for State<$signal> {
            type Reader = $signal;

            fn reader(self) -> $signal {
                self.0
            }

            #[inline]
            fn get_arc(signal: &mut $signal) -> impl Deref<Target = u64> {
                signal.get()
            }
        }

        impl LatestArc for Replicas<$signal> {
            type Reader = Replica<$signal>;

            fn reader(self) -> Replica<$signal> {
                self.0.0.replica()
            }

            #[inline]
            fn get_arc(replica: &mut Replica<$signal>) -> impl Deref<Target = u64> {
                replica.get()
            }
        }

        impl Source for State<$signal> {
            type Feed = $feed;

            fn open(_has_no_queue: usize) -> Self {
                Self($make(0))
            }

            async fn send(&self, value: u64) -> bool {
                self.0.set(value).is_ok()
            }

            fn feed(&self) -> Self::Feed {
                self.0.changes()
            }

            async fn pull(feed: &mut Self::Feed, mut take: impl FnMut(u64) -> bool) -> bool {
                feed.next().await.is_some_and(&mut take)
            }

            fn close(&self) {
                self.0.close();
            }
        }
    };
}

state!(
    PlainSignal<u64>,
    Signal::plain,
    Changes<u64, corelane_primitives::Plain<u64>>
);
state!(Signal<u64>, Signal::new, Changes<u64>);
