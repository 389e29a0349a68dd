//! Models of how values come to be: made, adopted, inserted, at home.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc as StdArc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use loom::thread;
use thread_aware::{
    Arc, PerCore, RelocateError, ThreadAware, affinity::pinned_affinities, storage::Storage,
};

use crate::models::{Handle, Seen, cores, explore, lineage, two_partitions};

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    ("adopted_value_is_whole", adopted_value_is_whole),
    ("racers_make_one_value", racers_make_one_value),
    (
        "panicking_constructor_gives_way",
        panicking_constructor_gives_way,
    ),
    (
        "topology_is_appended_while_others_read",
        topology_is_appended_while_others_read,
    ),
    ("storage_lends_while_it_grows", storage_lends_while_it_grows),
    ("storages_first_inserts_race", storages_first_inserts_race),
    ("eager_value_finds_one_home", eager_value_finds_one_home),
    ("crossed_constructors_end", crossed_constructors_end),
];

/// One thread makes a value, the other adopts it, or the other way round.
pub(crate) fn adopted_value_is_whole() {
    explore(|| {
        let ([here, there], drops) = two_partitions();
        let mut other = here.clone();
        let maker = thread::spawn(move || {
            let mut here = here;
            here.relocate(Some(cores()[0]), cores()[2]);
            here.look();
        });
        // Only looks: it adopts what it finds and makes nothing.
        let found = Arc::storage(&there).get(cores()[2]);
        if let Some(found) = found {
            found.look();
            other.relocate(Some(cores()[0]), cores()[2]);
            assert_eq!(Arc::as_ptr(&other), StdArc::as_ptr(&found));
            other.look();
            drop(found);
        }
        drop((other, there));
        maker.join().expect("no panic");
        assert_eq!(drops.load(Relaxed), 3);
    });
}

/// Both arrive where no value is.
pub(crate) fn racers_make_one_value() {
    explore(|| {
        let (mut mine, drops) = lineage();
        let other = mine.clone();
        let racer = thread::spawn(move || {
            let mut other = other;
            other.relocate(None, cores()[1]);
            other.look();
            other
        });
        mine.relocate(None, cores()[1]);
        mine.look();
        let other = racer.join().expect("no panic");
        assert!(Arc::ptr_eq(&mine, &other));
        assert_eq!(Arc::strong_count(&mine), 2);
        drop((mine, other));
        assert_eq!(
            drops.load(Relaxed),
            2,
            "the eager one and one that was made"
        );
    });
}

/// The first one to make the value panics; the other one, waiting or not, makes it.
pub(crate) fn panicking_constructor_gives_way() {
    explore(|| {
        let calls = StdArc::new(AtomicUsize::new(0));
        let drops = StdArc::new(AtomicUsize::new(0));
        let (counted, called) = (drops.clone(), calls.clone());
        let mut mine = Handle::new_fn(move || {
            // Resumed, since a message for each execution helps nobody.
            if called.fetch_add(1, Relaxed) == 1 {
                std::panic::resume_unwind(Box::new("the first attempt"));
            }
            Seen::new(&counted)
        });
        fn attempt(handle: &mut Handle) -> usize {
            let go = || handle.relocate(None, cores()[1]);
            usize::from(catch_unwind(AssertUnwindSafe(go)).is_err())
        }
        let mut other = mine.clone();
        let racer = thread::spawn(move || {
            let panics = attempt(&mut other);
            other.look();
            panics
        });
        let panics = attempt(&mut mine);
        mine.look();
        assert_eq!(panics + racer.join().expect("the panic was caught"), 1);
        assert_eq!(calls.load(Relaxed), 3);
        drop(mine);
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// Two topologies are met at once, one of them by both threads.
pub(crate) fn topology_is_appended_while_others_read() {
    explore(|| {
        let (mut mine, drops) = lineage();
        let mut other = mine.clone();
        let appender = thread::spawn(move || {
            other.relocate(None, pinned_affinities(&[2])[1]);
            other.look();
            other
        });
        let found = Arc::storage(&mine).get(pinned_affinities(&[2])[1]);
        if let Some(found) = found {
            found.look();
        }
        mine.relocate(None, pinned_affinities(&[3])[1]);
        mine.look();
        let other = appender.join().expect("no panic");
        assert!(!Arc::ptr_eq(&mine, &other));
        drop((mine, other));
        assert_eq!(drops.load(Relaxed), 3);
    });
}

/// A handle is made from a storage, which gets another value meanwhile. The storage itself ends
/// last, since loom does not see what std's `Arc` orders.
pub(crate) fn storage_lends_while_it_grows() {
    explore(|| {
        let drops = StdArc::new(AtomicUsize::new(0));
        let storage = StdArc::new(Storage::<Seen, PerCore>::new());
        let value = StdArc::new(Seen::new(&drops));
        assert!(storage.insert(cores()[0], value).is_ok());
        let (shared, counted) = (storage.clone(), drops.clone());
        let inserter = thread::spawn(move || {
            // Refused when the other thread's handle was there first.
            let value = StdArc::new(Seen::new(&counted));
            usize::from(shared.insert(cores()[1], value).is_err())
        });
        let mut handle = Arc::from_storage(storage.clone(), cores()[0]);
        let first = Arc::as_ptr(&handle);
        handle.relocate(Some(cores()[0]), cores()[1]);
        handle.look();
        let kept = usize::from(Arc::as_ptr(&handle) == first);
        assert_eq!(inserter.join().expect("no panic"), kept);
        drop((handle, storage));
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// Both threads give a storage its first value, and both read.
pub(crate) fn storages_first_inserts_race() {
    explore(|| {
        let drops = StdArc::new(AtomicUsize::new(0));
        let storage = StdArc::new(Storage::<Seen, PerCore>::new());
        let (shared, counted) = (storage.clone(), drops.clone());
        let inserter = thread::spawn(move || {
            let inserted = shared.insert(cores()[1], StdArc::new(Seen::new(&counted)));
            assert!(inserted.is_ok());
        });
        if let Some(value) = storage.get(cores()[1]) {
            value.look();
        }
        assert!(
            storage
                .insert(cores()[0], StdArc::new(Seen::new(&drops)))
                .is_ok()
        );
        inserter.join().expect("no panic");
        let values = [0, 1].map(|core| storage.get(cores()[core]).expect("both are there"));
        values.iter().for_each(|value| value.look());
        drop((values, storage));
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// Two handles of the first value name different sources, and one goes to the other's.
pub(crate) fn eager_value_finds_one_home() {
    explore(|| {
        let (mut mine, drops) = lineage();
        let first = Arc::as_ptr(&mine).addr();
        let mut other = mine.clone();
        let mover = thread::spawn(move || {
            other.relocate(Some(cores()[0]), cores()[2]);
            other.look();
            other
        });
        mine.relocate(Some(cores()[1]), cores()[0]);
        mine.look();
        let other = mover.join().expect("no panic");
        let storage = Arc::storage(&mine);
        let at = |core: usize| {
            storage
                .get(cores()[core])
                .map(|it| StdArc::as_ptr(&it).addr())
        };
        let homes = (0..4).filter(|core| at(*core) == Some(first)).count();
        assert_eq!(homes, 1, "there is one home");
        // Either that of the other handle, which is where this one goes, or this one's own.
        let made = 1 + usize::from(Arc::as_ptr(&mine).addr() != first);
        drop((mine, other, storage));
        assert_eq!(drops.load(Relaxed), 1 + made);
    });
}

/// Executions of `crossed_constructors_end` in which one constructor had to give way.
static CYCLES: AtomicUsize = AtomicUsize::new(0);

/// Constructors of two lineages each relocate a handle of the other one, on two threads.
pub(crate) fn crossed_constructors_end() {
    explore(|| {
        type Number = Arc<usize, PerCore>;
        let slots: StdArc<[OnceLock<Number>; 2]> = StdArc::default();
        let cycles = StdArc::new(Mutex::new(0_usize));
        let make = |own: usize| {
            let (weak, cycles) = (StdArc::downgrade(&slots), cycles.clone());
            Number::with_value(own, move || {
                let slots = weak.upgrade().expect("the model has them");
                let mut other = slots[1 - own].get().expect("both are set").clone();
                match Arc::try_relocate(&mut other, None, cores()[1]) {
                    Ok(()) => assert_eq!(*other, 11 - own),
                    Err(error) => {
                        assert_eq!(error, RelocateError::Cycle);
                        *cycles.lock().expect("no panic") += 1;
                    }
                }
                own + 10
            })
        };
        let handles = [make(0), make(1)];
        for (slot, handle) in slots.iter().zip(&handles) {
            assert!(slot.set(handle.clone()).is_ok());
        }
        let [mut mine, mut other] = handles;
        let crossing = thread::spawn(move || {
            other.relocate(None, cores()[1]);
            assert_eq!(*other, 11);
        });
        mine.relocate(None, cores()[1]);
        assert_eq!(*mine, 10);
        crossing.join().expect("no panic");
        let cycles = *cycles.lock().expect("no panic");
        assert!(cycles <= 1);
        CYCLES.fetch_add(cycles, Relaxed);
    });
    assert!(
        CYCLES.load(Relaxed) > 0,
        "both were inside at once at least once"
    );
}
