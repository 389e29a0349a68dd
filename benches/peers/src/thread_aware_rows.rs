//! The published `thread_aware` in three forms, each with default settings, which have no others:
//! 0.9 (one lock around a value's places), 0.11 (slots that are written once), and `performables`,
//! where its `Arc` went after that. Beside them std's `Arc`, which relocates nothing, as a limit.

use std::sync::Arc as StdArc;
use std::thread::ThreadId;

use corelane_bench_harness::{Entry, Relocating, Value, relocating_entries, shared_entries};
use performables::arc::{Arc as PerformableArc, PerThread};
use thread_aware_0_9 as version_9;
use thread_aware_0_11 as version_11;
use thread_aware_0_12::ThreadBuilder;
use thread_aware_core::{Thread, ThreadAware as _};

use crate::version::named;

pub(crate) fn entries() -> Vec<Entry> {
    [
        // The lock file has more than one version of it, and the manifest says which these are.
        contending(relocating_entries::<Handle9>("thread_aware-0.9.0"), 20),
        contending(relocating_entries::<Handle11>("thread_aware-0.11.0"), 4),
        contending(
            relocating_entries::<Performable>(&named("performables")),
            20,
        ),
        shared_entries::<Shared>("control-std_arc"),
    ]
    .concat()
}

/// Has a side whose threads contend do fewer operations in the rows with several threads.
fn contending(entries: Vec<Entry>, divisor: u64) -> Vec<Entry> {
    let fewer = |entry: Entry| match entry.row {
        "all_cores" | "oversubscribed" | "clone_drop_2" | "into_one" => entry.fewer(divisor),
        _ => entry,
    };
    entries.into_iter().map(fewer).collect()
}

/// A handle of one published release: the names are the same, the types are not.
macro_rules! published {
    ($handle:ident, $version:ident) => {
        #[derive(Clone)]
        struct $handle($version::Arc<Value, $version::PerCore>);

        impl Relocating for $handle {
            type Place = $version::affinity::Affinity;
            const MAKES_ONCE: bool = true;

            fn places(count: usize) -> Vec<Self::Place> {
                $version::affinity::pinned_affinities(&[count])
            }

            fn make(make: fn() -> Value) -> Self {
                Self($version::Arc::new(make))
            }

            #[inline]
            fn relocate(&mut self, source: &Self::Place, destination: &Self::Place) {
                $version::ThreadAware::relocate(&mut self.0, Some(*source), *destination);
            }

            #[inline]
            fn value(&self) -> &Value {
                &self.0
            }

            fn strong_count(&self) -> usize {
                $version::Arc::strong_count(&self.0)
            }
        }
    };
}

published!(Handle9, version_9);
published!(Handle11, version_11);

/// A value a thread. Several places of one thread are told apart by the ids of threads that ended.
#[derive(Clone)]
struct Performable(PerformableArc<Value, PerThread>);

impl Relocating for Performable {
    type Place = Thread;
    const MAKES_ONCE: bool = false; // seen in the row first_touch: every racer makes one

    fn places(count: usize) -> Vec<Thread> {
        let host = ThreadBuilder::default();
        (0..count).map(|_| host.build(some_thread_id())).collect()
    }

    fn make(make: fn() -> Value) -> Self {
        Self(PerformableArc::new_with(make))
    }

    #[inline]
    fn relocate(&mut self, source: &Thread, destination: &Thread) {
        self.0.relocate(Some(source), destination);
    }

    #[inline]
    fn value(&self) -> &Value {
        &self.0
    }

    fn strong_count(&self) -> usize {
        PerformableArc::strong_count(&self.0)
    }
}

/// A thread id that no other call gives.
fn some_thread_id() -> ThreadId {
    std::thread::spawn(|| std::thread::current().id())
        .join()
        .expect("reading an id does not panic")
}

/// One value for all places.
#[derive(Clone)]
struct Shared(StdArc<Value>);

impl Relocating for Shared {
    type Place = usize;
    const MAKES_ONCE: bool = true;

    fn places(count: usize) -> Vec<usize> {
        (0..count).collect()
    }

    fn make(make: fn() -> Value) -> Self {
        Self(StdArc::new(make()))
    }

    #[inline]
    fn relocate(&mut self, _: &usize, _: &usize) {}

    #[inline]
    fn value(&self) -> &Value {
        &self.0
    }

    fn strong_count(&self) -> usize {
        StdArc::strong_count(&self.0)
    }
}
