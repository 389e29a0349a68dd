//! Several threads do everything at once to some lineages; nothing is lost, doubled or left.
#![cfg(feature = "std")]

use std::{
    sync::{
        Barrier, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use thread_aware::{
    Arc, PerCore, ThreadAware, Weak,
    affinity::{Affinity, pinned_affinities},
};

const THREADS: usize = 4;
const STEPS: usize = if cfg!(miri) {
    100
} else if cfg!(debug_assertions) {
    3_000
} else {
    100_000
};
/// Handles that lie between the threads at once.
const SHARED_MAX: usize = 8;

/// Counts how many of its kind live, and holds what only whole values hold.
struct Value {
    living: std::sync::Arc<AtomicUsize>,
    text: String,
}

impl Value {
    fn new(living: &std::sync::Arc<AtomicUsize>) -> Self {
        living.fetch_add(1, Relaxed);
        Self {
            living: living.clone(),
            text: "whole".repeat(3),
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.text.clear();
        self.living.fetch_sub(1, Relaxed);
    }
}

type Handle = Arc<Value, PerCore>;

/// Handles that any thread may take and leave.
#[derive(Default)]
struct Shared {
    handles: Mutex<Vec<Handle>>,
    weaks: Mutex<Vec<Weak<Value, PerCore>>>,
}

impl Shared {
    fn give(&self, handle: Handle) {
        let mut handles = self.handles.lock().expect("no thread panics with it");
        if handles.len() < SHARED_MAX {
            handles.push(handle);
        }
    }

    fn take(&self, at: usize) -> Option<Handle> {
        let mut handles = self.handles.lock().expect("no thread panics with it");
        let at = at.checked_rem(handles.len())?;
        Some(handles.swap_remove(at))
    }

    fn weak(&self, at: usize) -> Option<Weak<Value, PerCore>> {
        let weaks = self.weaks.lock().expect("no thread panics with it");
        weaks.get(at.checked_rem(weaks.len())?).cloned()
    }

    fn remember(&self, at: usize, weak: Weak<Value, PerCore>) {
        let mut weaks = self.weaks.lock().expect("no thread panics with it");
        if weaks.len() < SHARED_MAX {
            weaks.push(weak);
        } else {
            weaks[at % SHARED_MAX] = weak;
        }
    }
}

/// One thread's steps.
fn churn(
    thread: usize,
    shared: &Shared,
    places: &[Affinity],
    living: &std::sync::Arc<AtomicUsize>,
) {
    let mut random = thread as u64;
    for _ in 0..STEPS {
        // Knuth's linear congruential generator (MMIX); its high bits are random enough.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mut choices = random >> 20;
        let mut below = |bound: usize| {
            let choice = choices as usize % bound;
            choices /= bound as u64;
            choice
        };
        let (action, at) = (below(8), below(SHARED_MAX));
        let (from, to) = (places[below(places.len())], places[below(places.len())]);
        let counted = living.clone();
        let Some(mut handle) = shared.take(at) else {
            shared.give(Handle::new_fn(move || Value::new(&counted)));
            continue;
        };
        assert_eq!(handle.text, "wholewholewhole");
        match action {
            0..=2 => handle.relocate(Some(from), to),
            3 => shared.give(handle.clone()),
            4 => shared.remember(at, Arc::downgrade(&handle)),
            5 => {
                if let Some(mut weak) = shared.weak(at) {
                    weak.relocate(None, to);
                    weak.upgrade()
                        .into_iter()
                        .for_each(|handle| shared.give(handle));
                }
            }
            6 => {
                let storage = Arc::storage(&handle);
                drop(handle);
                match Arc::try_from_storage(storage, to) {
                    Ok(other) => shared.give(other),
                    Err(_) => continue,
                }
                continue;
            }
            _ => continue, // dropped
        }
        assert_eq!(handle.text, "wholewholewhole");
        shared.give(handle);
    }
}

// proves: TA-13
#[test]
fn threads_do_everything_at_once() {
    let places = [&[3][..], &[2, 2]].map(pinned_affinities).concat();
    let living = std::sync::Arc::new(AtomicUsize::new(0));
    let shared = Shared::default();
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (shared, places, living, barrier) = (&shared, &places, &living, &barrier);
            scope.spawn(move || {
                barrier.wait();
                churn(thread, shared, places, living);
            });
        }
    });
    let Shared { handles, weaks } = shared;
    drop(handles);
    assert_eq!(living.load(Relaxed), 0);
    let weaks = weaks.into_inner().expect("no thread panics with it");
    assert!(!weaks.is_empty() && weaks.iter().all(|weak| weak.upgrade().is_none()));
}

/// Handles of values that threads may share go to other threads.
#[test]
fn handles_are_sent_and_shared() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Handle>();
    is_send_and_sync::<Weak<Value, PerCore>>();
    is_send_and_sync::<thread_aware::storage::Storage<Value, PerCore>>();
}
