//! How a partition's value is made, and who waits for it.
#![cfg(feature = "std")]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Barrier, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use thread_aware::{
    Arc, PerCore, RelocateError, ThreadAware,
    affinity::{Affinity, pinned_affinities},
};

/// What only a hang takes: all that is watched ends within microseconds.
const HANG: Duration = Duration::from_secs(1);

/// The same where a panic shows its backtrace, which a busy machine takes its time for.
const HANG_WITH_PANIC: Duration = Duration::from_secs(30);

/// Runs `f` on a thread of its own and fails when it hangs.
fn watched<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    watched_for(HANG, f)
}

fn watched_for<R: Send + 'static>(limit: Duration, f: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, ended) = mpsc::channel();
    let thread = thread::spawn(move || done.send(f()));
    match ended.recv_timeout(limit) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().expect_err("it sent nothing");
            std::panic::resume_unwind(panic)
        }
    }
}

// proves: TA-2
#[test]
fn racers_adopt_one_value_that_is_made_once() {
    let cores = pinned_affinities(&[2]);
    for _ in 0..30 {
        let made = std::sync::Arc::new(AtomicUsize::new(0));
        let begun = std::sync::Arc::new(AtomicUsize::new(0));
        let (count, all) = (made.clone(), begun.clone());
        let handle = Arc::<_, PerCore>::new_fn(move || {
            let number = count.fetch_add(1, Relaxed);
            // It takes long enough for all others to come here too, if they could.
            while number > 0 && all.load(Relaxed) < 8 {
                thread::yield_now();
            }
            (0..number * 20).for_each(|_| thread::yield_now());
            number
        });
        let barrier = Barrier::new(8);
        let arrived: Vec<_> = thread::scope(|scope| {
            let racers = (0..8).map(|_| {
                let (mut handle, cores, barrier) = (handle.clone(), &cores, &barrier);
                let begun = begun.clone();
                scope.spawn(move || {
                    barrier.wait();
                    begun.fetch_add(1, Relaxed);
                    handle.relocate(Some(cores[0]), cores[1]);
                    handle
                })
            });
            let racers: Vec<_> = racers.collect();
            racers
                .into_iter()
                .map(|racer| racer.join().expect("no racer panics"))
                .collect()
        });
        assert!(arrived.iter().all(|other| Arc::ptr_eq(&arrived[0], other)));
        assert_eq!(
            (made.load(Relaxed), *arrived[0]),
            (2, 1),
            "one eager, one made"
        );
    }
}

// proves: TA-4
#[test]
fn opposite_moves_do_not_wait_for_each_other() {
    watched(|| {
        let cores = pinned_affinities(&[4]);
        // Each constructor ends only when the other one has begun.
        let meet = std::sync::Arc::new(Barrier::new(2));
        let first = AtomicBool::new(true);
        let waiter = meet.clone();
        let handle = Arc::<_, PerCore>::new_fn(move || {
            if !first.swap(false, Relaxed) {
                waiter.wait();
            }
        });
        // To partition 1 from 0, and to 0 from 1, neither of which has a value: the eager one is
        // at home in 3 since partition 2 was visited.
        let (mut home, meet) = (handle.clone(), meet);
        thread::scope(|scope| {
            scope.spawn(|| home.relocate(Some(cores[3]), cores[2]));
            meet.wait();
        });
        thread::scope(|scope| {
            for (from, to) in [(0, 1), (1, 0)] {
                let (mut mine, cores) = (handle.clone(), &cores);
                scope.spawn(move || mine.relocate(Some(cores[from]), cores[to]));
            }
        });
        let storage = Arc::storage(&handle);
        assert!(cores.iter().all(|&core| storage.get(core).is_some()));
    });
}

// proves: TA-5
#[test]
fn panic_of_a_constructor_leaves_the_partition_empty() {
    let cores = pinned_affinities(&[2]);
    let calls = AtomicUsize::new(0);
    let mut handle = Arc::<_, PerCore>::new_fn(move || {
        let call = calls.fetch_add(1, Relaxed);
        assert!(call != 1, "the second call");
        call
    });
    let storage = Arc::storage(&handle);
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        handle.relocate(Some(cores[0]), cores[1])
    }));
    assert!(attempt.is_err());
    assert_eq!((*handle, storage.get(cores[1])), (0, None));
    handle.relocate(Some(cores[0]), cores[1]);
    assert_eq!(*handle, 2);
    assert_eq!(Arc::strong_count(&handle), 1);
}

// proves: TA-5
#[test]
fn panics_of_clones_and_of_nested_relocations_come_out_too() {
    /// Panics when it is cloned or relocated as often as it says.
    struct Fragile<'a>(&'a AtomicUsize);
    impl Fragile<'_> {
        fn use_up(&self) {
            assert!(self.0.fetch_sub(1, Relaxed) != 1, "used up");
        }
    }
    impl Clone for Fragile<'_> {
        fn clone(&self) -> Self {
            self.use_up();
            Self(self.0)
        }
    }
    impl ThreadAware for Fragile<'_> {
        fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {
            self.use_up();
        }
    }
    static LEFT: [AtomicUsize; 4] = [const { AtomicUsize::new(usize::MAX) }; 4];
    let cores = pinned_affinities(&[2]);
    let fails_once = |handle: &mut dyn ThreadAware, left: usize, uses: usize| {
        LEFT[left].store(uses, Relaxed);
        let mut go = || handle.relocate(Some(cores[0]), cores[1]);
        assert!(catch_unwind(AssertUnwindSafe(&mut go)).is_err());
        LEFT[left].store(usize::MAX, Relaxed);
        go();
    };
    let mut unaware = Arc::<_, PerCore>::from_unaware(Fragile(&LEFT[0]));
    fails_once(&mut unaware, 0, 1);
    let mut cloned =
        Arc::<_, PerCore>::with_clone_fn(Fragile(&LEFT[1]), |value| Box::new(value.clone()));
    fails_once(&mut cloned, 1, 1);
    let mut relocated =
        Arc::<_, PerCore>::with_clone_fn(Fragile(&LEFT[2]), |value| Box::new(value.clone()));
    fails_once(&mut relocated, 2, 2);
    let mut data = Arc::<_, PerCore>::new_with(Fragile(&LEFT[3]), |value| value);
    fails_once(&mut data, 3, 2);
}

// proves: TA-5
#[test]
fn one_of_those_who_wait_tries_after_a_panic() {
    watched_for(HANG_WITH_PANIC, || {
        let cores = pinned_affinities(&[2]);
        let begun = std::sync::Arc::new(Barrier::new(2));
        let (calls, meet) = (AtomicUsize::new(0), begun.clone());
        let handle = Arc::<_, PerCore>::new_fn(move || {
            let call = calls.fetch_add(1, Relaxed);
            if call == 1 {
                meet.wait();
                panic!("the first one to arrive");
            }
            call
        });
        thread::scope(|scope| {
            let (mut first, mut second) = (handle.clone(), handle.clone());
            let failing = scope.spawn(|| {
                let mut go = || first.relocate(Some(cores[0]), cores[1]);
                assert!(catch_unwind(AssertUnwindSafe(&mut go)).is_err());
                drop(first);
            });
            begun.wait();
            second.relocate(Some(cores[0]), cores[1]);
            assert_eq!(*second, 2);
            failing.join().expect("its panic was caught");
        });
    });
}

type Lineage = Arc<usize, PerCore>;

// proves: TA-6
#[test]
fn constructor_that_relocates_its_own_lineage_ends() {
    static HANDLE: OnceLock<Mutex<Lineage>> = OnceLock::new();
    static INSIDE: Mutex<Vec<Result<(), RelocateError>>> = Mutex::new(Vec::new());

    let cores = pinned_affinities(&[3]);
    let next = AtomicUsize::new(0);
    let handle: Lineage = Arc::new_fn(move || {
        let number = next.fetch_add(1, Relaxed);
        if let Some(own) = HANDLE.get() {
            let mut own = own.lock().expect("no panic").clone();
            let cores = pinned_affinities(&[3]);
            let result = Arc::try_relocate(&mut own, Some(cores[0]), cores[1]);
            // Only what would never end keeps the carried value.
            assert_eq!(*own, if result.is_err() { 0 } else { 2 });
            INSIDE.lock().expect("no panic").push(result);
        }
        number
    });
    HANDLE.set(Mutex::new(handle.clone())).expect("set once");
    let values = watched(move || {
        let (mut one, mut two) = (handle.clone(), handle.clone());
        two.relocate(Some(cores[0]), cores[2]); // makes 1, and inside of that partition 1's value
        one.relocate(Some(cores[0]), cores[1]);
        assert_eq!(Arc::ignored(&handle).cycles, 1);
        (*one, *two)
    });
    assert_eq!(values, (2, 1));
    let inside = INSIDE.lock().expect("no panic");
    assert_eq!(
        *inside,
        [Err(RelocateError::Cycle), Ok(())],
        "the inner one ended first"
    );
}

/// Where each constructor of a ring finds a handle of the next one's lineage.
type Slots<const N: usize> = std::sync::Arc<[OnceLock<Lineage>; N]>;

/// Lineages whose constructors each relocate a handle of the next one, to partition 1.
struct Ring<const N: usize> {
    handles: [Lineage; N],
    slots: Slots<N>,
    results: mpsc::Receiver<(usize, Result<(), RelocateError>, usize)>,
}

/// `meet` is called inside of each constructor, before it goes on to the next lineage.
fn ring<const N: usize>(meet: impl Fn() + Send + Sync + Clone + 'static) -> Ring<N> {
    let (sender, results) = mpsc::channel();
    let slots: Slots<N> = std::sync::Arc::new([const { OnceLock::new() }; N]);
    let handles = std::array::from_fn(|own| {
        // Weak, or the lineages would keep each other alive for ever.
        let (slots, meet) = (std::sync::Arc::downgrade(&slots), meet.clone());
        let sender = Mutex::new(sender.clone());
        Lineage::with_value(own, move || {
            meet();
            let cores = pinned_affinities(&[2]);
            let slots = slots.upgrade().expect("the test keeps them");
            let mut next = slots[(own + 1) % N].get().expect("all are set").clone();
            let result = Arc::try_relocate(&mut next, Some(cores[0]), cores[1]);
            let sent = sender.lock().expect("no panic").send((own, result, *next));
            sent.expect("the test listens");
            own + 10
        })
    });
    for (slot, handle) in slots.iter().zip(&handles) {
        slot.set(handle.clone()).expect("set once");
    }
    Ring {
        handles,
        slots,
        results,
    }
}

// proves: TA-6
#[test]
fn crossed_constructors_end_on_one_thread() {
    let Ring {
        handles,
        slots: _slots,
        results,
    } = ring::<2>(|| {});
    let values = watched(move || {
        let cores = pinned_affinities(&[2]);
        handles.map(|mut handle| {
            handle.relocate(Some(cores[0]), cores[1]);
            *handle
        })
    });
    assert_eq!(values, [10, 11]);
    let results: Vec<_> = results.try_iter().collect();
    assert_eq!(
        results,
        [(1, Err(RelocateError::Cycle), 0), (0, Ok(()), 11)]
    );
}

/// Each lineage's value is made by a thread of its own, and all have begun before any goes on, so
/// one of them has to give way.
fn ring_ends_on_threads_of_its_own<const N: usize>() {
    let all = std::sync::Arc::new(Barrier::new(N));
    let Ring {
        handles,
        slots: _slots,
        results,
    } = ring::<N>(move || {
        all.wait();
    });
    let values = watched(move || {
        thread::scope(|scope| {
            let threads = handles.map(|mut handle| {
                scope.spawn(move || {
                    let cores = pinned_affinities(&[2]);
                    handle.relocate(Some(cores[0]), cores[1]);
                    *handle
                })
            });
            threads.map(|thread| thread.join().expect("no panic"))
        })
    });
    assert_eq!(values, std::array::from_fn(|own| own + 10));
    let results: Vec<_> = results.try_iter().collect();
    assert_eq!(results.len(), N);
    let cycles = results.iter().filter(|(own, result, value)| {
        let next = (own + 1) % N;
        match result {
            Ok(()) => assert_eq!(*value, next + 10, "it waited for the next one's value"),
            Err(error) => assert_eq!((*error, *value), (RelocateError::Cycle, next)),
        }
        result.is_err()
    });
    assert_eq!(cycles.count(), 1);
}

// proves: TA-6
#[test]
fn crossed_constructors_end_on_two_threads() {
    (0..50).for_each(|_| ring_ends_on_threads_of_its_own::<2>());
}

// proves: TA-6
#[test]
fn ring_of_constructors_ends_on_five_threads() {
    (0..20).for_each(|_| ring_ends_on_threads_of_its_own::<5>());
}

// proves: TA-6
#[test]
fn who_waits_for_a_maker_outside_a_cycle_gets_the_value() {
    watched(|| {
        let cores = pinned_affinities(&[2]);
        let begun = std::sync::Arc::new(Barrier::new(2));
        let (first, meet) = (AtomicBool::new(true), begun.clone());
        let handle = Arc::<_, PerCore>::new_fn(move || {
            if !first.swap(false, Relaxed) {
                meet.wait(); // begun
                meet.wait(); // may end
                return 1;
            }
            0
        });
        thread::scope(|scope| {
            let (mut maker, mut waiter) = (handle.clone(), handle.clone());
            let cores = &cores;
            scope.spawn(move || maker.relocate(Some(cores[0]), cores[1]));
            begun.wait();
            let waiting = scope.spawn(move || {
                Arc::try_relocate(&mut waiter, Some(cores[0]), cores[1]).map(|()| *waiter)
            });
            begun.wait();
            assert_eq!(waiting.join().expect("no panic"), Ok(1));
        });
    });
}
